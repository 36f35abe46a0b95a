"""
A memory's budget, and the steps that hold it or cannot do without it.
"""

import asyncio
import logging

import pytest
from attrs import frozen

from unabridged import (
    AsyncMemory,
    Budget,
    ClearToolResults,
    MaxRounds,
    Memory,
    NoCompaction,
    Over,
    Repair,
    Sections,
    Share,
    Sparing,
    Strategy,
    Summarize,
    TokenBudget,
    When,
    Window,
    chain,
    custom,
    run,
    user,
)
from unabridged.contract import TrimContext
from unabridged.errors import ConfigError
from unabridged.testing import view_of

BUDGET = Budget(8_003)
HALF = TokenBudget(share=0.5)


def newest(view, ctx):
    """
    A trimmer that might look at the budget.
    """
    return view.tail(1)


def often(view, ctx):
    """
    A condition that does look at it.
    """
    return ctx.budget is not None


@frozen(repr=False)
class Own(Strategy):
    inner: Strategy = Window(2)

    def __call__(self, view, ctx, /):
        return view.tail(1)


def warned(memory, *args):
    """
    The warnings of a context of one message that speak of the budget.
    """
    return [told for told in memory.context(*args).warnings if told.startswith("budget=")]


def told_of(steps):
    """
    The warning of a memory with such a strategy.
    """
    return (
        f"budget= leaves 8_000 tokens for the history, and no step of {chain(steps)!r} holds it, "
        "so nothing is cut to fit: add TokenBudget(share=1.0) to the strategy"
    )


class TestUnheld:
    @pytest.mark.parametrize(
        "steps",
        [
            NoCompaction(),
            Window(40),
            Window(40) | MaxRounds(4) | Repair(),
            Summarize(keep_tokens=4_000),
            ClearToolResults(3),
            When(Over(tokens=100), Window(4)),
            Sparing(Window(4), first=1),
            TokenBudget(None),
            TokenBudget(8_001),
            Sections(9_000),
        ],
    )
    def test_is_told_once(self, steps, caplog):
        """
        In the first result and on the logger, with the step that would hold it.
        """
        memory = Memory(strategy=steps, budget=BUDGET, ask=lambda ask: "a summary")
        memory.append(user("hi"))
        with caplog.at_level(logging.WARNING, "unabridged"):
            first, second = memory.context(), memory.context()

        assert (told_of(steps),) == first.warnings
        assert () == second.warnings
        assert [f"thread 'default': {told_of(steps)}"] == caplog.messages

    @pytest.mark.parametrize(
        "steps",
        [
            HALF,
            Window(40) | HALF,
            Sections(),
            Sections(recent=Share(100)),
            When(Over(tokens=100), HALF),
            Sparing(chain(Window(4), HALF), first=1),
            TokenBudget(8_000),
            TokenBudget(100),
            Window(40) | Sections(8_000),
            newest,
            custom(newest),
            [Window(40), newest],
            When(often, Window(4)),
            Own(),
            Sparing(Own(), first=1),
        ],
    )
    def test_is_not_told_where_a_step_holds_it_or_may(self, steps):
        """
        What a function of yours does with it cannot be known.
        """
        memory = Memory(strategy=steps, budget=BUDGET)
        memory.append(user("hi"))

        assert () == memory.context().warnings

    def test_is_not_told_without_a_budget(self):
        """
        There is nothing to hold.
        """
        memory = Memory(strategy=Window(40))
        memory.append(user("hi"))

        assert () == memory.context().warnings

    def test_goes_by_the_strategy_that_ran(self):
        """
        One for this once that holds it says nothing, and the next result does.

        A memory whose own strategy holds it is left in peace.
        """
        memory = Memory(budget=BUDGET)
        memory.append(user("hi"))

        assert [] == warned(memory, HALF)
        assert [told_of(NoCompaction())] == warned(memory)
        assert [] == warned(memory, Window(3))

        memory = Memory(strategy=HALF, budget=BUDGET)
        memory.append(user("hi"))

        assert [] == warned(memory, Window(3)) + warned(memory)

    def test_is_told_of_another_strategy_again(self):
        """
        It is another mistake.
        """
        memory = Memory(strategy=Window(4), budget=BUDGET)
        memory.append(user("hi"))
        warned(memory)
        memory.strategy = Window(5)

        assert [told_of(Window(5))] == warned(memory)
        memory.strategy = HALF
        assert [] == warned(memory)

    def test_is_told_by_compact_and_by_the_async_memory(self):
        """
        They make results, too.
        """
        memory = Memory(budget=8_003)
        memory.append(user("hi"))

        async def first():
            later = AsyncMemory(budget=8_003)
            await later.append(user("hi"))
            return (await later.context()).warnings

        assert (told_of(NoCompaction()),) == memory.compact().warnings
        assert (told_of(NoCompaction()),) == asyncio.run(first())


NEEDY = [
    HALF,
    TokenBudget(share=1.0, down_to=40),
    Window(4) | HALF,
    [Window(4), [HALF]],
    Sections(),
    Sections(system=Share(10), recent=Share(20)),
    When(Over(tokens=4), HALF),
    When(often, [Window(4), HALF]),
    Sparing(HALF, first=1),
    When(Over(tokens=4), Sparing(When(Over(rounds=2), Window(4) | HALF), first=1)),
]


class TestShares:
    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    @pytest.mark.parametrize("steps", NEEDY)
    def test_without_a_budget_are_refused_when_a_memory_is_made(self, kind, steps):
        """
        Not at the first turn in production; nor when it is assigned.
        """
        told = r"^step (TokenBudget\(share=|Sections\().*pass budget=, as in Memory\("
        with pytest.raises(ConfigError, match=told):
            kind(strategy=steps)
        memory = kind(strategy=Window(4))
        with pytest.raises(ConfigError, match=told):
            memory.strategy = steps

        assert chain(Window(4)) == memory.strategy
        assert chain(steps) == kind(strategy=steps, budget=9_000).strategy

    @pytest.mark.parametrize("steps", NEEDY)
    def test_without_a_budget_are_refused_for_once(self, steps):
        """
        By `context` and `compact`, before anything is asked or written.
        """
        memory = Memory()
        memory.append(user("hi"))
        head = memory.view().head
        for make in (memory.context, memory.compact, lambda s: memory.compact(s, wait=False)):
            with pytest.raises(ConfigError, match="pass budget=, as in Memory"):
                make(steps)

        assert head == memory.view().head

    @pytest.mark.parametrize(
        "steps", [HALF, Sections(), Window(4) | HALF], ids=lambda steps: repr(chain(steps))
    )
    def test_without_a_budget_are_refused_at_a_run(self, steps):
        """
        A run has its budget in the context.
        """
        with pytest.raises(ConfigError, match="budget"):
            run(steps, view_of([user("hi")]))

        assert 1 == len(run(steps, view_of([user("hi")]), TrimContext(BUDGET)).messages)

    def test_inside_a_strategy_of_your_own_are_its_own_affair(self):
        """
        It may give them a budget.
        """
        memory = Memory(strategy=Own(HALF))
        memory.append(user("hi"))

        assert 1 == len(memory.context().messages)
