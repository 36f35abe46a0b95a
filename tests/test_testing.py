"""
The kit itself: the generators make every shape, and the laws find planted faults.
"""

import itertools
import subprocess
import sys
from collections import Counter

import pytest
from attrs import evolve, frozen
from hypothesis import given, settings

from unabridged import Summarize, TokenBudget, Window, assistant, system, user
from unabridged.errors import ConfigError
from unabridged.pipeline import Strategy
from unabridged.records import Drop
from unabridged.results import TrimResult, drop
from unabridged.spans import Span
from unabridged.testing import (
    SHAPES,
    Log,
    call,
    check_strategy,
    logs,
    result,
    shapes,
    view_of,
)


class TestViewOf:
    def test_refuses_what_is_no_message(self):
        """
        A text, or a provider's dict.
        """
        with pytest.raises(
            ConfigError, match=r"view_of: expected messages, as of user\(…\), got str"
        ):
            view_of(["hello"])


class TestLogs:
    def test_each_shape_is_in_one_of_a_hundred(self):
        """
        The generators make every shape of real logs, and often enough.
        """
        seen = Counter()

        @settings(max_examples=500, derandomize=True, database=None, deadline=None)
        @given(logs())
        def count(log):
            seen.update(["logs", *shapes(log)])

        count()

        rare = {shape: seen[shape] for shape in SHAPES if seen[shape] * 100 < seen["logs"]}
        assert {} == rare
        assert seen.keys() <= SHAPES | {"logs"}

    @given(logs())
    def test_is_a_value(self, log):
        """
        A log gives the same view each time, and prints a line for each record.
        """
        assert log.view() == log.view() == log.memory().view()
        assert len(log.bodies) <= len(str(log).splitlines() if log.bodies else [])

    @given(logs(decided=False))
    def test_may_be_undecided(self, log):
        """
        Without decisions the view is the messages.
        """
        assert log.messages == log.view().messages


class TestShapes:
    def test_reads_the_log_and_not_the_generator(self):
        """
        A log built by hand shows its shapes too.
        """
        log = Log.of(
            [
                *(assistant("Hello."), user("hi"), call("c1", "c2"), user("Wait."), result("c2")),
                *(result("c1"), result("c1"), system("Be brief."), assistant("ok"), call("c1")),
            ]
        )

        assert {
            "a doubled result",
            "a parallel batch",
            "a pending call",
            "a preamble",
            "a reused id",
            "a system message in the middle",
            "a user between call and result",
            "pinned by role",
            "results out of order",
        } == shapes(log)


def parts_a_pair(view, _):
    gone = [item.sources for item in view if item.message.tool_results]
    return TrimResult(view, (Drop(Span.union(gone)),)) if gone else TrimResult(view)


def forgets_a_pin(view, _):
    alone = [block[0] for block in view.blocks if len(block) == 1]
    gone = [item.sources for item in alone if item.pin]
    return TrimResult(view, (Drop(gone[0]),)) if gone else TrimResult(view)


def mutates(view, _):
    loaded = view._items
    if isinstance(loaded, list) and loaded:
        loaded[0] = evolve(loaded[0], message=user("I was here"))
    return TrimResult(view)


def mutates_a_message(view, _):
    for item in view:
        object.__setattr__(item, "score", 1.0)
    return TrimResult(view)


turn = itertools.count()


def is_random(view, _):
    return list(view)[next(turn) % 2 :]


def drops_the_newest_user(view, _):
    asked = [i.sources for b in view.blocks for i in b if len(b) == 1 and i.message.role == "user"]
    return TrimResult(view, (Drop(asked[-1]),)) if asked else TrimResult(view)


def returns_nothing(view, _):
    asked = any(item.message.role == "user" or item.pin for item in view)
    free = len(view) and not asked and not view.log.links.pending
    return TrimResult(view, (Drop(view.sources),)) if free else TrimResult(view)


def names_what_is_not_there(view, _):
    return TrimResult(view, (Drop(Span.between(1, 99)),)) if len(view) else TrimResult(view)


def raises(view, _):
    return view[3]


@frozen(repr=False)
class NeverSettles(Strategy):
    def __call__(self, view, ctx, /):
        return drop(view, view.rounds[0].items if len(view) else (), reason="one a turn")


def never_settles(view, ctx):
    return NeverSettles()(view, ctx)


@frozen(repr=False)
class StartsAnywhere(Strategy):
    def __call__(self, view, ctx, /):
        (first, second, *_) = (*view.blocks, (), ())
        answered = len(second) == 1 and second[0].message.role == "assistant"
        free = len(first) == 1 and first[0].opens and not first[0].pin and len(view.rounds) > 1

        return TrimResult(view, (Drop(first[0].sources),) if free and answered else ())


def starts_anywhere(view, ctx):
    return StartsAnywhere()(view, ctx)


@frozen(repr=False)
class KeepsAnswers(Strategy):
    def __call__(self, view, ctx, /):
        return [item for item in view if item.message.role != "user"]


def keeps_answers(view, ctx):
    return KeepsAnswers()(view, ctx)


def questions(view):
    return [item for item in view if item.message.role == "user"]


def without_questions(opening):
    return lambda view, ctx: drop(view, questions(view), reason="a question", opening=opening)


@frozen(repr=False)
class WithoutQuestions(Strategy):
    opening: str

    def __call__(self, view, ctx, /):
        return without_questions(self.opening)(view, ctx)


class TestCheckStrategy:
    @pytest.mark.parametrize(
        ("strategy", "law"),
        [
            (parts_a_pair, "pairs_stay_whole"),
            (forgets_a_pin, "hand_pins_stay"),
            (mutates, "input_untouched"),
            (mutates_a_message, "input_untouched"),
            (is_random, "same_result"),
            (drops_the_newest_user, "newest_user_stays"),
            (returns_nothing, "never_empty"),
            (names_what_is_not_there, "conservation"),
            (raises, "input_untouched"),
        ],
    )
    def test_finds_planted_faults(self, strategy, law):
        """
        A fault is found, the law that it breaks is named, and the log is shown.
        """
        with pytest.raises(AssertionError, match=r"breaks the law of") as failed:
            check_strategy(strategy)

        assert f"the law of {law}: " in str(failed.value)
        assert "\nthe log:\n" in str(failed.value)

    @pytest.mark.parametrize("make", [NeverSettles, lambda: never_settles])
    def test_holds_what_gives_a_result_to_idempotence(self, make):
        """
        A class and a function of the same effect are judged alike.
        """
        with pytest.raises(AssertionError, match="the law of idempotence"):
            check_strategy(make())

    @pytest.mark.parametrize("make", [StartsAnywhere, lambda: starts_anywhere])
    def test_finds_a_view_that_starts_on_an_assistant(self, make):
        """
        Of a class and of a function, where each gives a result.
        """
        with pytest.raises(AssertionError, match="the law of valid: the view starts on entry"):
            check_strategy(make())

    @pytest.mark.parametrize("make", [KeepsAnswers, lambda: keeps_answers])
    def test_leaves_the_items_to_what_lists_them(self, make):
        """
        A class that lists items is as free as a function.
        """
        check_strategy(make(), examples=60)

    @pytest.mark.parametrize("opening", ["question", "next"])
    @pytest.mark.parametrize("make", [without_questions, WithoutQuestions])
    def test_passes_what_drops_by_the_results_of_ours(self, make, opening):
        """
        `results.drop` leaves no assistant first, whoever calls it.
        """
        check_strategy(make(opening), examples=60)

    @pytest.mark.parametrize(
        "strategy",
        [
            Window(3),
            Window(4, down_to=2, replace=True) | TokenBudget(20),
            Summarize(keep_last=3, replace=True),
            lambda view, _: view.tail(2),
            [Window(5), lambda view, _: list(view)],
        ],
    )
    def test_passes_what_is_right(self, strategy):
        """
        Strategies, chains and functions that keep the laws pass.
        """
        check_strategy(strategy, examples=30)

    def test_asks_who_is_given(self):
        """
        A model of one's own answers.
        """
        asked = []

        def model(ask):
            asked.append(ask)
            return "brief"

        check_strategy(Summarize(keep_last=1), ask=model, examples=20)

        assert asked


def test_importing_the_kit_does_not_import_hypothesis():
    """
    Whoever only builds views needs no extra.
    """
    code = "import sys, unabridged.testing; print('hypothesis' in sys.modules)"

    assert "False" == subprocess.check_output([sys.executable, "-c", code], text=True).strip()  # noqa: S603


def test_help_of_the_kit_can_be_read_without_hypothesis():
    """
    What needs the extra is not listed then, and says so where it is imported.
    """
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import pydoc, unabridged.testing\n"
        "page = pydoc.plain(pydoc.render_doc(unabridged.testing))\n"
        "print('view_of(' in page, 'check_strategy(strategy' in page)\n"
        "try: from unabridged.testing import check_strategy\n"
        "except ImportError as error: print(error)"
    )

    assert subprocess.check_output([sys.executable, "-c", code], text=True).splitlines() == [  # noqa: S603
        "True False",
        "unabridged.testing.checking generates with hypothesis; pip install 'unabridged[test]'",
    ]
