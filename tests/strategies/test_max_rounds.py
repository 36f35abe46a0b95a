"""
Keeping the newest rounds.
"""

import pytest

from unabridged import MaxRounds, assistant, run, system, user
from unabridged.contract import TrimContext
from unabridged.declared import from_data, to_data
from unabridged.errors import BudgetError, ConfigError
from unabridged.overrun import Overrun
from unabridged.records import Compacted, Drop, Fold, Note, Noted
from unabridged.results import TrimResult, unchanged
from unabridged.spans import Span
from unabridged.testing import call, result, talk, texts, view_of
from unabridged.tokens import words


def seen(strategy, messages, **options):
    """
    The words that are left of these messages.
    """
    return texts(run(strategy, view_of(messages, **options)))


class TestMaxRounds:
    def test_has_nothing_to_do_where_all_fits(self):
        """
        Exactly as many rounds as the limit, fewer, none, or no limit.
        """
        for strategy, messages in (
            (MaxRounds(2), talk(2)),
            (MaxRounds(3), talk(2)),
            (MaxRounds(1), []),
            (MaxRounds(None), talk(9)),
        ):
            view = view_of(messages)

            assert unchanged(view) == run(strategy, view)

    def test_keeps_the_newest(self):
        """
        One drop, with a reason that holds the number.
        """
        view = view_of(talk(3))

        assert TrimResult(
            view,
            (
                Drop(
                    Span.between(1, 4),
                    reason="before the last 1 round",
                    step="MaxRounds(1, replace=True)",
                    replace=True,
                ),
            ),
        ) == run(MaxRounds(1, replace=True), view)
        assert ["q2", "a2", "q3", "a3"] == seen(MaxRounds(2), talk(3))

    def test_keeps_a_round_whole_however_long(self):
        """
        Calls, results and a user who speaks between them.
        """
        long = [user("q2"), call("c1"), user("wait"), result("c1"), call("c2"), result("c2")]

        assert ["q2", "", "wait", "found", "", "found"] == seen(MaxRounds(1), [*talk(1), *long])

    def test_counts_a_preamble_as_a_round(self):
        """
        The edge: what stands before the first user message.
        """
        messages = [assistant("Hello."), *talk(2)]

        assert ["Hello.", "q1", "a1", "q2", "a2"] == seen(MaxRounds(3), messages)
        assert ["q1", "a1", "q2", "a2"] == seen(MaxRounds(2), messages)

    def test_counts_a_round_of_pins_alone_as_none(self):
        """
        Unless that is asked for.
        """
        messages = [*talk(1), user("rule"), *talk(2, 2)]
        kept = ["q1", "a1", "rule", "q2", "a2", "q3", "a3"]

        assert kept == seen(MaxRounds(3), messages, pinned=[3])
        assert kept[2:] == seen(MaxRounds(2), messages, pinned=[3])
        assert kept[2:] == seen(MaxRounds(3, count_pins=True), messages, pinned=[3])

    def test_counts_blocks_in_a_view_without_user(self):
        """
        A log of one voice; a call and its result are one.
        """
        messages = [assistant("a1"), call("c1"), result("c1"), assistant("a2")]

        assert ["", "found", "a2"] == seen(MaxRounds(2), messages)

    def test_keeps_pins(self):
        """
        System messages, and pins by hand with their question; `pin_system` lets go of the former.
        """
        messages = [system("s"), *talk(3)]

        assert ["s", "q1", "a1", "q3", "a3"] == seen(MaxRounds(1), messages, pinned=[3])
        assert ["q3", "a3"] == seen(MaxRounds(1, pin_system=False), messages)

    def test_keeps_what_waits_for_its_result_and_says_what_is_over(self):
        """
        The user goes on while a call of the round before is pending.
        """
        done = run(MaxRounds(1), view_of([*talk(1), user("q2"), call("c1"), user("q3")]))

        assert ["q2", "", "q3"] == texts(done)
        assert (
            Overrun(
                1,
                2,
                "rounds",
                (
                    "entry 3: opened the round of what stays",
                    "entry 4: a call that waits for its result",
                ),
            )
            == done.over
        )

    def test_refuses_what_is_over_under_strict(self):
        """
        The message holds every number.
        """
        view = view_of([*talk(1), user("q2"), call("c1"), user("q3")])
        with pytest.raises(BudgetError) as caught:
            run(MaxRounds(1, strict=True), view)

        assert str(caught.value) == (
            "step MaxRounds(1, strict=True): 2 rounds must stay, 1 over the limit of 1: "
            "entry 3: opened the round of what stays; entry 4: a call that waits for its result; "
            "raise the limit, unpin, or clip what is long"
        )

    def test_counts_no_summary(self):
        """
        A summary opens no round and is none, so it stays.
        """
        folded = Compacted((Fold(Span.between(1, 4), user("summary")),), 99)
        view = view_of(talk(4), decisions=[folded])

        assert ["summary", "q3", "a3", "q4", "a4"] == texts(run(MaxRounds(2), view))
        assert ["summary", "q4", "a4"] == texts(run(MaxRounds(1), view))
        assert ["summary", "q4", "a4"] == texts(run(MaxRounds(1, count_pins=True), view))

    def test_counts_a_stand_in_that_is_no_summary_with_the_round_before_it(self):
        """
        It opens no round of its own; at the head it is a preamble.
        """
        joined = Fold(Span.between(1, 4), user("joined"), summary=False)
        view = view_of(talk(4), decisions=[Compacted((joined,), 99)])

        assert ["joined", "q3", "a3", "q4", "a4"] == texts(run(MaxRounds(3), view))
        assert ["q3", "a3", "q4", "a4"] == texts(run(MaxRounds(2), view))


class TestDownTo:
    STEP = MaxRounds(3, down_to=1)

    def test_cuts_to_the_low_mark_and_notes_it(self):
        """
        Once the high mark is passed.
        """
        done = run(self.STEP, view_of(talk(4)))

        assert ["q4", "a4"] == texts(done)
        assert "before the last 1 round" == done.changes[0].reason
        assert (Note("cut", repr(self.STEP), {"first": 7}),) == done.notes
        assert unchanged(view_of(talk(3))) == run(self.STEP, view_of(talk(3)))

    def test_stands_at_its_cut_until_the_high_mark_is_passed(self):
        """
        The same first message for three rounds.
        """
        note = Noted((Note("cut", repr(self.STEP), {"first": 7}),))
        stands = run(self.STEP, view_of(talk(6), decisions=[note]))
        moves = run(self.STEP, view_of(talk(7), decisions=[note]))

        assert (["q4", "a4", "q5", "a5", "q6", "a6"], ()) == (texts(stands), stands.notes)
        assert ["q7", "a7"] == texts(moves)

    def test_passes_over_a_cut_whose_entry_has_left(self):
        """
        As if there were none.
        """
        note = Noted((Note("cut", repr(self.STEP), {"first": 99}),))

        assert ["q4", "a4"] == texts(run(self.STEP, view_of(talk(4), decisions=[note])))

    def test_must_be_below_the_limit(self):
        """
        The message explains what it is for.
        """
        with pytest.raises(ConfigError) as caught:
            MaxRounds(2, down_to=2)

        assert str(caught.value) == (
            "MaxRounds: `down_to` (2) must be below `last` (2): "
            "it is what a cut cuts down to once `last` is passed"
        )


class TestAtLeast:
    def test_makes_no_cut_that_gains_less(self):
        """
        In tokens; `over` counts rounds.
        """
        context = TrimContext(count=words)
        done = run(MaxRounds(2, at_least=3), view_of(talk(3)), context)

        assert (6, ()) == (len(done.messages), done.changes)
        assert done.over == Overrun(2, 3, "rounds", ("a cut would gain 2 tokens, at_least is 3",))
        assert ["q3", "a3", "q4", "a4"] == texts(
            run(MaxRounds(2, at_least=3), view_of(talk(4)), context)
        )

    def test_counts_rounds_as_a_cut_does(self):
        """
        A preamble is one, a round of pins none; without users blocks are counted.
        """
        context = TrimContext(count=words)
        pinned = [system("be brief"), *talk(3)]
        preamble = [assistant("hello"), *talk(2)]
        alone = [assistant("a"), assistant("b"), assistant("c")]

        for messages, needed in ((pinned, 3), (preamble, 3), (alone, 3)):
            done = run(MaxRounds(2, at_least=9), view_of(messages), context)
            assert (needed, ()) == (done.over.needed, done.changes)

    def test_weighs_a_cut_against_the_one_that_stands(self):
        """
        Its note says where it was.
        """
        context = TrimContext(count=words)
        step = MaxRounds(2, at_least=4)
        noted = Noted(run(step, view_of(talk(4)), context).notes)

        assert 6 == len(run(step, view_of(talk(5), decisions=[noted]), context).messages)
        assert 4 == len(run(step, view_of(talk(6), decisions=[noted]), context).messages)


class TestAsAValue:
    def test_shows_itself_and_goes_to_data(self):
        """
        With every option, and with none.
        """
        strategy = MaxRounds(
            4, down_to=2, at_least=9, pin_system=False, count_pins=True, strict=True, replace=True
        )
        shown = (
            "MaxRounds(4, down_to=2, at_least=9, pin_system=False, count_pins=True, "
            "strict=True, replace=True)"
        )

        assert (shown, "MaxRounds(4)") == (repr(strategy), repr(MaxRounds(4)))
        assert {"use": "MaxRounds", "last": 4} == to_data(MaxRounds(4))
        assert strategy == from_data(to_data(strategy))

    @pytest.mark.parametrize("last", [0, 1.5, False])
    def test_refuses_a_limit_that_is_none(self, last):
        """
        A limit is an int of 1 or more.
        """
        with pytest.raises(ConfigError) as caught:
            MaxRounds(last)

        assert str(caught.value) == (
            f"MaxRounds: `last` must be an int of 1 or more, or None for no limit, got {last!r}"
        )
