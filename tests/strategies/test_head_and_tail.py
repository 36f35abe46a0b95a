"""
Keeping how a conversation began, and its newest messages.
"""

import pytest

from unabridged import HeadAndTail, assistant, run, system, user
from unabridged.declared import from_data, to_data
from unabridged.errors import BudgetError, ConfigError
from unabridged.records import Drop
from unabridged.results import TrimResult, unchanged
from unabridged.spans import Span
from unabridged.testing import call, result, talk, texts, view_of


def seen(strategy, messages, **options):
    """
    The words that are left of these messages.
    """
    return texts(run(strategy, view_of(messages, **options)))


class TestHeadAndTail:
    def test_has_nothing_to_do_where_all_fits(self):
        """
        Head and tail meet or overlap, the view is empty, or there is no limit.
        """
        for strategy, messages in (
            (HeadAndTail(2, 2), talk(2)),
            (HeadAndTail(3, 3), talk(2)),
            (HeadAndTail(1, 1), []),
            (HeadAndTail(1, None), talk(9)),
        ):
            view = view_of(messages)

            assert unchanged(view) == run(strategy, view)

    def test_keeps_the_beginning_and_the_newest(self):
        """
        One drop of what lies between, with a reason that holds both numbers.
        """
        view = view_of(talk(4))

        assert TrimResult(
            view,
            (
                Drop(
                    Span.between(2, 6),
                    reason="between the first 1 message and the last 2 messages",
                    step="HeadAndTail(1, 2, replace=True)",
                    replace=True,
                ),
            ),
        ) == run(HeadAndTail(1, 2, replace=True), view)

    def test_drops_one_where_one_is_too_many(self):
        """
        The edge: five messages, two and two.
        """
        messages = [*talk(1), assistant("b1"), *talk(1, 2)]

        assert ["q1", "a1", "q2", "a2"] == seen(HeadAndTail(2, 2), messages)

    def test_keeps_whole_blocks_of_the_head(self):
        """
        A call that would be parted from its result is not in the head.
        """
        messages = [user("q1"), call("c1"), result("c1"), assistant("a1"), *talk(1, 2)]

        assert ["q1", "q2", "a2"] == seen(HeadAndTail(2, 2), messages)
        assert ["q1", "", "found", "q2", "a2"] == seen(HeadAndTail(3, 2), messages)

    def test_brings_the_question_of_the_tail(self):
        """
        And counts it there.
        """
        loop = [user("q"), *[assistant(f"a{n}") for n in range(1, 6)]]

        assert ["q", "a1", "a5"] == seen(HeadAndTail(2, 2), loop)
        assert ["q", "a1", "a4", "a5"] == seen(HeadAndTail(2, 3), loop)

    def test_opens_elsewhere_where_that_is_asked_for(self):
        """
        The options of a window.
        """
        assert ["q1", "a3", "q4", "a4"] == seen(HeadAndTail(1, 3, opening="anywhere"), talk(4))
        assert ["q1", "q4", "a4"] == seen(HeadAndTail(1, 3, opening="next"), talk(4))

    def test_does_not_count_pins(self):
        """
        They stay beside head and tail; `count_pins` counts them, `pin_system` lets go of some.
        """
        messages = [system("s"), *talk(4)]

        assert ["s", "q1", "a1", "q4", "a4"] == seen(HeadAndTail(2, 2), messages)
        assert ["s", "q1", "q4", "a4"] == seen(HeadAndTail(2, 3, count_pins=True), messages)
        assert ["s", "q1", "q4", "a4"] == seen(HeadAndTail(2, 2, pin_system=False), messages)
        assert ["q1", "a1", "q2", "a2", "q4", "a4"] == seen(HeadAndTail(2, 2), talk(4), pinned=[4])

    def test_refuses_what_is_over_under_strict(self):
        """
        As a window.
        """
        with pytest.raises(BudgetError) as caught:
            run(HeadAndTail(1, 1, strict=True), view_of(talk(3)))

        assert str(caught.value) == (
            "step HeadAndTail(1, 1, strict=True): 2 messages must stay, 1 over the limit of 1: "
            "entry 6 (1): the newest block; entry 5 (1): the newest user message; "
            "raise the limit, unpin, or clip what is long"
        )


class TestAsAValue:
    def test_shows_itself_and_goes_to_data(self):
        """
        With every option, and with none.
        """
        strategy = HeadAndTail(
            2,
            20,
            opening="next",
            pin_system=False,
            count_pins=True,
            strict=True,
            replace=True,
        )

        assert repr(strategy) == (
            "HeadAndTail(2, 20, opening='next', pin_system=False, count_pins=True, strict=True, "
            "replace=True)"
        )
        assert strategy == from_data(to_data(strategy))
        assert {"use": "HeadAndTail", "first": 2, "last": 4} == to_data(HeadAndTail(2, 4))
        assert "HeadAndTail(2, 4)" == repr(HeadAndTail(2, 4))

    @pytest.mark.parametrize(
        ("first", "last", "problem"),
        [
            (0, 1, "`first` must be an int of 1 or more, got 0"),
            (None, 1, "`first` must be an int of 1 or more, got None"),
            (1, 0, "`last` must be an int of 1 or more, or None for no limit, got 0"),
        ],
    )
    def test_refuses_a_number_that_is_none(self, first, last, problem):
        """
        The message names the option.
        """
        with pytest.raises(ConfigError) as caught:
            HeadAndTail(first, last)

        assert f"HeadAndTail: {problem}" == str(caught.value)
