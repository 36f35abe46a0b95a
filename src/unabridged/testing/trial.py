"""
What every law needs: a context, a model, what a strategy makes of a view, and a way to object.
"""

from collections.abc import Generator, Iterator
from typing import Any

from unabridged.contract import Ask, StrategyLike, TrimContext
from unabridged.errors import BudgetError
from unabridged.pipeline import Pipeline, chain, outcome_of
from unabridged.results import TrimResult
from unabridged.running import AskFunction, run
from unabridged.tokens import Budget, words
from unabridged.views import View

__all__ = ["CONTEXT", "lists_items", "must", "outcome", "short", "steps_of"]

CONTEXT = TrimContext(Budget(40), words)
"""What laws run in unless told otherwise: 40 words for the history."""


def must(claim: object, told: str, *given: object) -> None:
    """
    Object, in words, where a claim does not hold; unlike `assert`, under `python -O` too.

    >>> must(1 > 2, "{} is not above {}", 1, 2)
    Traceback (most recent call last):
    AssertionError: 1 is not above 2
    """
    if not claim:
        raise AssertionError(told.format(*given))


def short(ask: Ask) -> str:
    """
    A model for laws: its answer is one word, and tells what it was asked.

    >>> short(Ask(()))
    '0'
    """
    return f"{len(ask.items)}{'+' if ask.previous else ''}"


def outcome(
    strategy: StrategyLike,
    view: View,
    context: TrimContext = CONTEXT,
    ask: AskFunction = short,
) -> TrimResult:
    r"""
    What the strategy makes of the view; where it is strict and over its limit, nothing.

    >>> from unabridged import Window
    >>> from unabridged.testing import talk, view_of
    >>> outcome(Window(2), view_of(talk(2))).text()
    'user: q2\nassistant: a2'
    """
    try:
        return run(strategy, view, context, ask)
    except BudgetError:
        return TrimResult(view, count=context.count)


def lists_items(
    strategy: StrategyLike,
    view: View,
    context: TrimContext = CONTEXT,
    ask: AskFunction = short,
) -> bool:
    """
    Whether a step, a function or of a class, lists the items to keep and so chose each of them.

    One that gives a result is held to what our own strategies are.

    >>> from unabridged import Window
    >>> from unabridged.testing import talk, view_of
    >>> view = view_of(talk(2))
    >>> lists_items(lambda view, ctx: view.tail(2), view), lists_items(Window(2), view)
    (True, False)
    """
    listing: list[bool] = []

    def heard(step: Any) -> Any:
        def flow(view: View, context: TrimContext) -> Generator[Any, Any, Any]:
            given = yield from outcome_of(step, view, context)
            listing.append(not isinstance(given, TrimResult))
            return given

        return flow

    steps = [heard(getattr(step, "function", step)) for step in chain(strategy).steps]
    outcome(steps, view, context, ask)

    return any(listing)


def steps_of(strategy: StrategyLike) -> tuple[object, ...]:
    """
    The steps of a strategy, also those that stand in a step, such as a guard's.

    >>> from unabridged import MaxRounds, Sparing, Window
    >>> steps_of(Window(4) | Sparing(MaxRounds(1), first=1))
    (Window(4), Sparing(MaxRounds(1), first=1), MaxRounds(1))
    """
    return tuple(_steps(chain(strategy)))


def _steps(strategy: object) -> Iterator[object]:
    if isinstance(strategy, Pipeline):
        for step in strategy.steps:
            yield from _steps(step)
        return
    yield strategy
    inner = getattr(strategy, "strategy", None)
    if inner is not None:
        yield from _steps(inner)
