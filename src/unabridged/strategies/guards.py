"""
Guards: when a strategy acts at all, and what it may not touch.
"""

import itertools
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from unabridged.contract import TrimContext
from unabridged.errors import ConfigError
from unabridged.items import Item
from unabridged.options import function, ge
from unabridged.pipeline import Strategy, performed, step_of
from unabridged.records import Change, Insert
from unabridged.results import TrimResult, unchanged
from unabridged.spans import Span
from unabridged.views import View

__all__ = ["Over", "Sparing", "When"]

Condition: TypeAlias = Callable[[View, TrimContext], bool]


@frozen
class Over:
    """
    Whether a view has more than so many *tokens*, *messages* or *rounds* (any of those given).

    A condition for `When`.

    Raises:
        ConfigError: a number is below 1, or none is given.

    >>> from unabridged.contract import TrimContext
    >>> from unabridged.testing import user, view_of
    >>> Over(messages=1)(view_of([user("a"), user("b")]), TrimContext())
    True
    """

    tokens: int | None = field(default=None, kw_only=True, validator=ge(1))
    messages: int | None = field(default=None, kw_only=True, validator=ge(1))
    rounds: int | None = field(default=None, kw_only=True, validator=ge(1))

    def __attrs_post_init__(self) -> None:
        if self.tokens is None and self.messages is None and self.rounds is None:
            msg = "Over: give at least one of `tokens`, `messages`, `rounds`"
            raise ConfigError(msg)

    def __call__(self, view: View, ctx: TrimContext, /) -> bool:
        if self.messages is not None and len(view) > self.messages:
            return True
        if self.rounds is not None and _more_than(self.rounds, reversed(view.rounds)):
            return True
        if self.tokens is None:
            return False
        total = 0
        for item in reversed(view):
            total += ctx.count(item.message)
            if total > self.tokens:
                return True

        return False

    def __repr__(self) -> str:
        given = [f"{k}={v:_}" for k in ("tokens", "messages", "rounds") if (v := getattr(self, k))]
        return f"Over({', '.join(given)})"


def _more_than(count: int, units: Iterable[object]) -> bool:
    return sum(1 for _ in itertools.islice(units, count + 1)) > count


@frozen(repr=False)
class When(Strategy):
    """
    Run *strategy* only where *condition* holds: `When(Over(tokens=8_000), Summarize(...))`.

    Args:
        condition: `Over(...)`, or a function `(view, context) -> bool`.
        strategy: whatever may be a step of a chain.

    >>> from unabridged import MaxRounds, run
    >>> from unabridged.testing import talk, view_of
    >>> seldom = When(Over(messages=6), MaxRounds(1))
    >>> len(run(seldom, view_of(talk(3))).messages), len(run(seldom, view_of(talk(4))).messages)
    (6, 2)
    """

    condition: Condition = field(validator=function)  # type: ignore[assignment]
    strategy: Strategy = field(converter=step_of)

    @property
    def asks(self) -> bool:  # type: ignore[override]  # of the strategy it holds
        """
        Whether the strategy asks a model.
        """
        return self.strategy.asks

    def __call__(self, view: View, ctx: TrimContext, /) -> Generator[Any, Any, TrimResult]:
        if not self.condition(view, ctx):
            return unchanged(view)
        result = yield from performed(self.strategy, view, ctx)

        return result


@frozen(repr=False)
class Sparing(Strategy):
    """
    Run *strategy* without letting it touch some items.

    The spared ones are pinned for it, so their questions stay too, and they are
    not reworded either. It reads the whole view: on long threads, `pin` them or
    put a cut before it.

    Args:
        strategy: whatever may be a step of a chain.
        first: how many messages at the head to spare.
        where: which items to spare, a function `item -> bool`.

    Raises:
        ConfigError: *first* is below 1, or neither is given.

    >>> from unabridged import Window, run
    >>> from unabridged.testing import talk, view_of
    >>> [m.text for m in run(Sparing(Window(2), first=1), view_of(talk(3))).messages]
    ['q1', 'q3', 'a3']
    """

    strategy: Strategy = field(converter=step_of)
    first: int | None = field(default=None, kw_only=True, validator=ge(1))
    where: Callable[[Item], bool] | None = field(default=None, kw_only=True, validator=function)

    def __attrs_post_init__(self) -> None:
        if self.first is None and self.where is None:
            msg = "Sparing: give `first`, `where`, or both"
            raise ConfigError(msg)

    @property
    def asks(self) -> bool:  # type: ignore[override]  # of the strategy it holds
        """
        Whether the strategy asks a model.
        """
        return self.strategy.asks

    def __call__(self, view: View, ctx: TrimContext, /) -> Generator[Any, Any, TrimResult]:
        spared = Span.union(
            item.sources
            for place, item in enumerate(view)
            if place < (self.first or 0) or (self.where is not None and self.where(item))
        )
        held = _held(view, spared) if spared else view
        result = yield from performed(self.strategy, held, ctx)
        changes = (_less(change, spared) for change in result.changes)

        return evolve(
            result, before=view, changes=tuple(change for change in changes if change is not None)
        )


def _held(view: View, spared: Span) -> View:
    """
    The view with the spared items pinned, more firmly than by a `Hold` or by their role.

    `Sections` takes what is held for a wish, and `pin_system=False` lets go of prompts.
    """
    items = [
        item
        if item.pin == "hand" or item.sources.isdisjoint(spared)
        else evolve(item, pin="spared")
        for item in view
    ]

    return view.replaced(items, sources=view.sources, pins=view.pins | spared)


def _less(change: Change, spared: Span) -> Change | None:
    """
    The change without the spared entries; None if that leaves nothing of it.
    """
    if isinstance(change, Insert) or change.sources.isdisjoint(spared):
        return change
    left = change.sources - spared

    return evolve(change, sources=left) if left else None
