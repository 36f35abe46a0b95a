"""
Guards: when a strategy acts at all, and what it may not touch.
"""

import asyncio

import pytest
from attrs import evolve

from unabridged import (
    Filter,
    HeadAndTail,
    MaxRounds,
    Memory,
    Over,
    Sections,
    Sparing,
    Summarize,
    TokenBudget,
    When,
    Window,
    arun,
    assistant,
    chain,
    run,
    system,
    user,
    written_back,
)
from unabridged.contract import TrimContext
from unabridged.declared import from_data, to_data
from unabridged.errors import ConfigError, NeedsAnswerError
from unabridged.records import Drop, Fold, Insert
from unabridged.results import TrimResult, hold, unchanged
from unabridged.spans import Span
from unabridged.testing import call, replies, result, talk, texts, view_of
from unabridged.tokens import words

WORDS = TrimContext(count=words)


def always(view, ctx):
    return True


def asked(item):
    return item.message.role == "user"


class TestOver:
    @pytest.mark.parametrize(
        ("condition", "expected"),
        [
            (Over(messages=3), True),
            (Over(messages=4), False),
            (Over(rounds=1), True),
            (Over(rounds=2), False),
            (Over(tokens=4), True),
            (Over(tokens=5), False),
            (Over(tokens=5, messages=4, rounds=2), False),
            (Over(tokens=5, messages=4, rounds=1), True),
            (Over(tokens=4, messages=4), True),
        ],
        ids=repr,
    )
    def test_holds_above_each_limit(self, condition, expected):
        """
        The edge is exact; one limit of several is enough.
        """
        view = view_of([user("one two"), *talk(2)[1:]])

        assert expected == condition(view, WORDS)

    def test_needs_a_limit(self):
        """
        None would never hold.
        """
        with pytest.raises(ConfigError) as caught:
            Over()

        assert "Over: give at least one of `tokens`, `messages`, `rounds`" == str(caught.value)

    def test_refuses_a_limit_that_is_none(self):
        """
        The message names it.
        """
        with pytest.raises(ConfigError) as caught:
            Over(rounds=0)

        assert str(caught.value) == (
            "Over: `rounds` must be an int of 1 or more, or None for no limit, got 0"
        )

    def test_shows_what_was_asked_for(self):
        """
        And evaluates back.
        """
        over = Over(tokens=8_000, rounds=3)

        assert "Over(tokens=8_000, rounds=3)" == repr(over)
        assert over == eval(repr(over), {"Over": Over})  # noqa: S307  our own repr


class TestWhen:
    def test_has_nothing_to_do_where_the_condition_does_not_hold(self):
        """
        The strategy is not run at all.
        """
        view = view_of(talk(2))

        assert unchanged(view) == run(When(Over(messages=4), Window(1)), view)
        assert unchanged(view_of([])) == run(When(Over(messages=4), Window(1)), view_of([]))

    def test_runs_the_strategy_where_it_holds(self):
        """
        What it does bears the guard's name.
        """
        step = When(Over(messages=3), Window(2))
        done = run(step, view_of(talk(2)))

        assert (
            Drop(Span.of([1, 2]), reason="before the last 2 messages", step=repr(step)),
        ) == done.changes

    def test_keeps_a_call_with_its_result(self):
        """
        As the strategy does.
        """
        messages = [user("q"), call("c1"), result("c1"), assistant("a")]

        assert ["q", "a"] == texts(run(When(always, Window(3)), view_of(messages)))

    def test_takes_whatever_may_be_a_step(self):
        """
        A function, a list, a chain; each part of a chain keeps its own name.
        """
        view = view_of(talk(3))

        assert ["a3"] == texts(
            run(When(always, [Window(4, opening="anywhere"), lambda v, c: v.tail(1)]), view)
        )[1:]
        done = run(When(always, Window(4) | Window(2)), view)

        assert ["Window(4)", "Window(2)"] == [change.step for change in done.changes]

    def test_asks_where_the_strategy_does(self):
        """
        So a memory refuses it without `ask`, and an answer reaches it.
        """
        step = When(Over(messages=4), Summarize(keep_last=2))

        assert "short" in run(step, view_of(talk(3)), ask=replies("short")).text()
        assert (True, False) == (step.asks, When(always, Window(2)).asks)
        with pytest.raises(NeedsAnswerError):
            Memory(strategy=step)

    def test_refuses_a_condition_that_is_no_function(self):
        """
        None above all.
        """
        with pytest.raises(ConfigError) as caught:
            When(None, Window(2))

        assert "When: `condition` must be a function, got NoneType None" == str(caught.value)

    def test_shows_itself_and_goes_to_data(self):
        """
        With a condition that has a name.
        """
        step = When(Over(tokens=8_000), MaxRounds(4) | TokenBudget(2_000))

        assert "When(Over(tokens=8_000), MaxRounds(4) | TokenBudget(2_000))" == repr(step)
        assert to_data(step) == {
            "use": "When",
            "condition": {"use": "Over", "tokens": 8_000},
            "strategy": [
                {"use": "MaxRounds", "last": 4},
                {"use": "TokenBudget", "limit": 2_000},
            ],
        }
        assert step == from_data(to_data(step))
        assert "When(always, Window(2))" == repr(When(always, Window(2)))


class TestSparing:
    def test_has_nothing_to_do_where_the_strategy_has_not(self):
        """
        Nothing leaves, nothing is held in the result.
        """
        for messages in ([], talk(2)):
            view = view_of(messages)

            assert unchanged(view) == run(Sparing(Window(4), first=1), view)

    def test_spares_the_first_messages(self):
        """
        They stay as if pinned, and are not marked.
        """
        step = Sparing(Window(2), first=2)
        done = run(step, view_of(talk(4)))

        assert ["q1", "a1", "q4", "a4"] == texts(done)
        assert (
            Drop(Span.between(3, 6), reason="before the last 2 messages", step=repr(step)),
        ) == done.changes
        assert ["", "", "", ""] == [item.pin for item in done.view]

    def test_spares_what_a_function_chooses(self):
        """
        With the others of its block; alone or beside the first.
        """
        messages = [*talk(1), user("q2"), call("c1"), result("c1", "rate"), *talk(2, 3)]

        def rate(item):
            return item.message.text == "rate"

        assert ["q2", "", "rate", "q4", "a4"] == texts(
            run(Sparing(Window(2), where=rate), view_of(messages))
        )
        assert ["q1", "q2", "", "rate", "q4", "a4"] == texts(
            run(Sparing(Window(2), first=1, where=rate), view_of(messages))
        )

    def test_spares_from_rewording(self):
        """
        What is held for the strategy is not reworded either, and a fold goes around it.
        """

        def loud(view, ctx):
            return [
                evolve(i, message=evolve(i.message, parts=i.message.text.upper())) for i in view
            ]

        def one(view, ctx):
            return TrimResult(view, (Fold(Span.of([1, 2, 3]), system("s")), Insert(user("x"), 1)))

        assert ["q1", "A1", "q2", "A2"] == texts(run(Sparing(loud, where=asked), view_of(talk(2))))
        assert ["q1", "x", "s", "a2"] == texts(run(Sparing(one, first=1), view_of(talk(2))))

    def test_passes_on_what_the_strategy_says(self):
        """
        Notes, warnings, what is over.
        """
        done = run(Sparing(Window(1), first=1), view_of(talk(2)))

        assert 1 == done.over.by
        done = run(Sparing(Window(4, down_to=2), first=1), view_of(talk(4)))
        assert ["q1", "q4", "a4"] == texts(done)
        assert 1 == len(done.notes)

    def test_marks_what_the_strategy_marks(self):
        """
        A write-back spares too.
        """
        done = run(Sparing(written_back(lambda v, c: v.tail(1)), first=1), view_of(talk(3)))

        assert ["q1", "q3", "a3"] == texts(done)
        assert done.replace

    def test_asks_where_the_strategy_does(self):
        """
        Sparing from a summary.
        """
        step = Sparing(Summarize(keep_last=2), first=1)
        done = run(step, view_of(talk(3)), ask=replies("short"))

        assert ["q1", "Summary of the earlier conversation:\nshort", "q3", "a3"] == texts(done)
        assert (True, False) == (step.asks, Sparing(Window(2), first=1).asks)

    def test_needs_something_to_spare(self):
        """
        The message names both options.
        """
        with pytest.raises(ConfigError) as caught:
            Sparing(Window(2))

        assert "Sparing: give `first`, `where`, or both" == str(caught.value)
        with pytest.raises(ConfigError, match="`first` must be an int of 1 or more"):
            Sparing(Window(2), first=0)

    def test_shows_itself_and_goes_to_data(self):
        """
        With a strategy or a chain in it.
        """
        step = Sparing(Window(40), first=2)

        assert "Sparing(Window(40), first=2)" == repr(step)
        assert {
            "use": "Sparing",
            "strategy": {"use": "Window", "last": 40},
            "first": 2,
        } == to_data(step)
        assert step == from_data(to_data(step))
        assert "Sparing(chain(Window(2)), where=asked)" == repr(
            Sparing(chain(Window(2)), where=asked)
        )

    def test_works_awaited(self):
        """
        An async step inside a guard.
        """

        async def newest(view, ctx):
            await asyncio.sleep(0)

            return view.tail(1)

        for step in (Sparing(newest, first=1), When(always, Sparing(newest, first=1))):
            assert ["q1", "q3", "a3"] == texts(asyncio.run(arun(step, view_of(talk(3)))))


class TestSparedItemsStayWithTheirQuestions:
    LONG = assistant("a long answer " * 9)

    @pytest.mark.parametrize(
        "inner",
        [
            Sections(1, count=words),
            Sections(1, count=words, pin_system=False),
            Window(1),
            Window(1, opening="next"),
            Window(1, opening="anywhere"),
            TokenBudget(1, count=words),
            MaxRounds(1),
            HeadAndTail(1, 1),
            Filter(role="user"),
        ],
        ids=repr,
    )
    def test_whatever_cuts(self, inner):
        """
        A view starts on no answer, and no call is without its result.
        """
        messages = [user("q1"), self.LONG, user("q2"), call("c1"), result("c1"), *talk(2, first=3)]
        view = view_of(messages)
        answer = run(Sparing(inner, where=lambda item: item.message == self.LONG), view)
        called = run(Sparing(inner, where=lambda item: item.message.tool_calls), view)

        assert [1, 2] == [item.first for item in answer.view][:2]
        assert {3, 4, 5} <= {item.first for item in called.view}

    def test_also_prompts_that_a_cut_lets_go(self):
        """
        And items that a step before holds: `Sections` takes those for a wish.
        """
        view = view_of([system("rule"), *talk(3)])
        prompts = Sparing(Window(2, pin_system=False), where=lambda item: item.pin == "role")
        wished = [
            lambda view, ctx: hold(view, view[1:3], reason="recalled"),
            Sparing(Sections(1, count=words), where=lambda item: item.pin == "held"),
        ]

        assert ["rule", "q3", "a3"] == texts(run(prompts, view))
        assert ["rule", "q1", "a1", "q3"] == texts(run(wished, view))[:4]
