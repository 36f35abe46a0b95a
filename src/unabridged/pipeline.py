"""
Chains of steps, and the two ways to run them.

`a | b`, `[a, b]` and `chain(a, b)` are the same value. A step is a strategy,
a function, an `async def` function, or a chain. `run` and `arun` walk the same
flow; only how they answer a question differs.

What all strategies share and what walks them lean on each other, which makes
the length of this module.
"""

import functools
import inspect
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, cast

import attrs
from attrs import field, frozen

from unabridged.contract import Await, StrategyLike, TrimContext, Trimmer, Yielded
from unabridged.errors import (
    ConfigError,
    OutcomeError,
    StepError,
    StrategyError,
    UnabridgedError,
)
from unabridged.items import Item
from unabridged.messages import Message
from unabridged.overrun import Overrun
from unabridged.records import Change, Note, stepped
from unabridged.results import TrimResult
from unabridged.steps import is_async, label, settled, taken
from unabridged.text import bounded, brief, cause, short
from unabridged.text.names import named, with_named_fields
from unabridged.views import View

__all__ = [
    "Custom",
    "Pipeline",
    "Strategy",
    "chain",
    "custom",
    "outcome_of",
    "performed",
    "step_of",
    "written_back",
]

STEPS = 10_000  # in lists of steps, and lists in these


class Strategy:
    """
    What built-in strategies share: `|`, and a repr that shows only what was asked for.

    A class of your own may inherit it; a plain function needs no base class.

    >>> from attrs import frozen
    >>> from unabridged import Strategy, Window
    >>> from unabridged.results import keep
    >>> @frozen(repr=False)
    ... class Newest(Strategy):
    ...     count: int
    ...     def __call__(self, view, ctx, /):
    ...         return keep(view, view.tail(self.count), reason=f"not of the {self.count} newest")
    >>> Window(40) | Newest(4)
    Window(40) | Newest(4)
    """

    __slots__ = ()

    asks: ClassVar[bool] = False
    """Whether it asks a model, so that a memory without `ask=` can be refused early."""
    needs_budget: ClassVar[bool] = False
    """Whether its limit comes from the memory's budget: a memory without one is refused early."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        with_named_fields(cls)

    if TYPE_CHECKING:  # so that one whose class is not known is a step, too

        def __call__(self, view: View, ctx: TrimContext, /) -> Any: ...  # noqa: D102

    def __or__(self, other: "StrategyLike") -> "Pipeline":
        return chain(self, other)

    def __ror__(self, other: "StrategyLike") -> "Pipeline":
        return chain(other, self)

    def __repr__(self) -> str:
        try:
            return _written_out(self)
        except TypeError:  # an option that cannot be hashed
            return _written_out.__wrapped__(self)


@functools.lru_cache(maxsize=1_024)
def _written_out(strategy: Strategy) -> str:
    if not attrs.has(type(strategy)):
        return f"{type(strategy).__name__}()"
    given: list[str] = []
    named = False
    for known in attrs.fields(type(strategy)):  # type: ignore[arg-type]  # subclasses are attrs
        value = getattr(strategy, known.name)
        if value == known.default and type(value) is type(known.default):
            named = True
            continue
        shown = _shown(value)
        given.append(f"{known.name}={shown}" if named or known.kw_only else shown)

    return f"{type(strategy).__name__}({', '.join(given)})"


def _shown(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:_}"
    if callable(value) and not isinstance(value, Strategy):
        return label(value)

    return repr(value)


def _a_function(_instance: object, _attribute: object, value: Any) -> None:
    if not callable(value):
        msg = f"custom: expected a function of a view and a context, got {brief(value)}"
        raise ConfigError(msg)


@frozen(repr=False)
class Custom(Strategy):
    """
    A function as a step; `custom` and `written_back` make one, and a chain does by itself.

    >>> def newest(view, ctx):
    ...     return view.tail(1)
    >>> chain(newest) == chain(Custom(newest))
    True
    """

    function: Trimmer = field(validator=_a_function)
    replace: bool = field(default=False, kw_only=True)
    strict: bool = field(default=False, kw_only=True)

    def __call__(self, view: View, ctx: TrimContext, /) -> Generator[Any, Any, TrimResult]:
        """
        Call the function, and check what it gives.
        """
        outcome = yield from outcome_of(self.function, view, ctx)
        if isinstance(outcome, TrimResult):
            return taken(outcome, label(self), replace=self.replace)
        return settled(view, outcome, label(self), replace=self.replace, strict=self.strict)

    def __repr__(self) -> str:
        name = label(self.function)
        match (self.replace, self.strict):
            case (False, False):
                return name
            case (True, False):
                return f"written_back({name})"
            case _:
                given = "replace=True, strict=True" if self.replace else "strict=True"
                return f"custom({name}, {given})"


@named
def custom(function: "Trimmer", *, replace: bool = False, strict: bool = False) -> Custom:
    """
    A function as a step, with options.

    With *replace* its changes are written back; with *strict* it is refused where
    it parts a call from its result or leaves out what must stay.

    A message that it lists is the item it equals, if the view has one; where
    entries are dropped, it stands in for these and is written with them; else it
    is put in, for this run alone.

    Raises:
        OutcomeError: at a run, under *replace*, a listed message stands for nothing or
            holds tool calls or results.

    >>> from unabridged import run
    >>> from unabridged.testing import user, view_of
    >>> def newest(view, ctx):
    ...     return view.tail(1)
    >>> run(custom(newest), view_of([user("a"), user("b")])).text()
    'user: b'
    """
    return Custom(function, replace=replace, strict=strict)


@named
def written_back(function: "Trimmer") -> Custom:
    """
    A function as a step whose changes are written back to the log.

    >>> def newest(view, ctx):
    ...     return view.tail(1)
    >>> written_back(newest)
    written_back(newest)
    """
    return Custom(function, replace=True)


@frozen(repr=False)
class Pipeline(Strategy):
    """
    Steps, one after the other; each gets the view that the one before left.

    >>> from unabridged import TokenBudget, Window, chain
    >>> Window(40) | TokenBudget(8_000)
    Window(40) | TokenBudget(8_000)
    """

    steps: tuple[Any, ...] = ()

    @property
    def asks(self) -> bool:  # type: ignore[override]  # of the steps it holds
        """
        Whether a step asks a model.
        """
        return any(getattr(step, "asks", False) for step in self.steps)

    @property
    def may_ask(self) -> bool:
        """
        Whether a step may ask a model: a function may, and whatever holds another strategy.

        >>> chain(lambda view, ctx: list(view)).may_ask, chain().may_ask
        (True, False)
        """
        return self._may_ask

    @functools.cached_property
    def _may_ask(self) -> bool:
        return self.asks or any(
            isinstance(step, Custom) or hasattr(step, "strategy") for step in self.steps
        )

    @functools.cached_property
    def _names(self) -> tuple[str, ...]:
        """
        What the steps are called in results and errors.
        """
        return tuple(map(repr, self.steps))

    def __call__(self, view: View, ctx: TrimContext, /) -> Generator[Any, Any, TrimResult]:
        """
        Walk the steps.
        """
        changes: list[Change] = []
        notes: tuple[Note, ...] = ()
        warnings: tuple[str, ...] = ()
        over: Overrun | None = None
        last: TrimResult | None = None
        for step, name in zip(self.steps, self._names, strict=True):
            here = view if last is None else last.view
            try:
                last = yield from _named(step, name, here, ctx)
            except UnabridgedError as error:
                error.notes = (*notes, *error.notes)
                raise
            changes += [c if c.step else stepped(c, name) for c in last.changes]
            notes += last.notes
            warnings += last.warnings
            over = last.over or over
        made = tuple(changes)

        return TrimResult(
            view,
            made,
            notes,
            over,
            warnings,
            count=ctx.count,
            previous=ctx.previous,
            ended=None if last is None else (view, made, last),
        )

    def __repr__(self) -> str:
        if not self.steps:
            return "chain()"
        if len(self.steps) == 1 or all(isinstance(step, Custom) for step in self.steps[:2]):
            return f"chain({', '.join(map(repr, self.steps))})"

        return " | ".join(map(repr, self.steps))


@named
def chain(*steps: "StrategyLike") -> Pipeline:
    """
    The steps as one strategy; chains and lists in it are flattened.

    Raises:
        ConfigError: one of them is no step, or a list contains itself.

    >>> from unabridged import TokenBudget, Window, chain
    >>> chain(Window(40), TokenBudget(8_000)) == Window(40) | TokenBudget(8_000)
    True
    >>> chain([Window(40), [TokenBudget(8_000)]]) == chain(Window(40), TokenBudget(8_000))
    True
    """
    for step in steps:
        if isinstance(step, list | tuple):
            bounded(step, "chain", STEPS)

    return Pipeline(tuple(_flattened(steps)))


def _flattened(steps: Iterable[Any]) -> Iterable[Any]:
    for step in steps:
        match step:
            case Pipeline():
                yield from step.steps
            case str() | bytes():
                msg = f"a chain takes strategies and functions, got the text {brief(step)}"
                raise ConfigError(msg)
            case type():
                msg = f"a chain takes strategies, got the class {step.__name__}; call it first"
                raise ConfigError(msg)
            case Strategy():
                yield step
            case list() | tuple():
                yield from _flattened(step)
            case _ if callable(step):
                yield Custom(cast("Trimmer", step))
            case _:
                msg = f"a chain takes strategies and functions, got {type(step).__name__}"
                raise ConfigError(msg)


def step_of(strategy: "StrategyLike") -> Strategy:
    """
    One strategy of whatever may be a step: itself, or a chain.
    """
    return strategy if isinstance(strategy, Strategy) else chain(strategy)


def performed(strategy: Any, view: View, ctx: TrimContext) -> Generator[Any, Any, TrimResult]:
    """
    The result of a strategy inside another one, which answers for it under its own name.
    """
    outcome = yield from outcome_of(strategy, view, ctx)
    if isinstance(outcome, TrimResult):
        return outcome

    return settled(view, outcome, label(strategy), replace=False, strict=False)


def outcome_of(step: Any, view: View, ctx: TrimContext) -> Generator[Any, Any, Any]:
    """
    What a step gives, whatever way it has to give it: a result, or the list of items to keep.
    """
    given = None if is_async(step) else step(view, ctx)
    return (yield from _outcome(step, given, view, ctx))


def _named(step: Any, name: str, view: View, ctx: TrimContext) -> Generator[Any, Any, TrimResult]:
    """
    The result of one step; what it raises names it.
    """
    try:
        outcome = None if is_async(step) else step(view, ctx)
        if not isinstance(outcome, TrimResult):  # it nearly always is, and then no flow is needed
            outcome = yield from _outcome(step, outcome, view, ctx)
    except StrategyError as error:
        if str(error).startswith("step "):
            raise
        told = type(error)(f"step {short(name)}: {error}")
        told.notes = error.notes
        raise told from error
    except UnabridgedError:
        raise
    except Exception as error:
        msg = f"step {short(name)}: raised {type(error).__name__}: {cause(error, empty='')}"
        raise StepError(msg) from error
    if not isinstance(outcome, TrimResult):
        return settled(view, outcome, name, replace=False, strict=False)
    if outcome.before is not view and outcome.before != view:
        msg = (
            f"step {short(name)}: the result is of another view; work it out from the view it was "
            "given"
        )
        raise OutcomeError(msg)

    return outcome


def _outcome(
    step: Any, given: Any, view: View, ctx: TrimContext
) -> Generator[Any, Any, TrimResult | list[Any]]:
    """
    What a step that gave *given* comes to, whatever way it has to give it.
    """
    if is_async(step):
        given = yield Await(lambda: step(view, ctx))
    elif inspect.isgenerator(given):
        given = yield from _walked(given, label(step))
    elif inspect.isawaitable(given):
        try:
            given = yield Await(lambda: given)
        finally:
            if inspect.iscoroutine(given):
                given.close()
    if isinstance(given, TrimResult):
        return given
    if isinstance(given, str | bytes | Message) or not isinstance(given, Iterable):
        msg = (
            f"step {short(label(step))}: expected items to keep or a TrimResult, "
            f"got {type(given).__name__}; return [item for item in view if …]"
        )
        raise OutcomeError(msg)

    return list(given)


def _walked(steps: Generator[Any, Any, Any], step: str) -> Generator[Any, Any, Any]:
    """
    A generator's outcome: what it returns, or the items it yields.
    """
    items: list[Item | Message] = []
    reply: Any = None
    failure: Exception | None = None
    while True:
        try:
            given = steps.send(reply) if failure is None else steps.throw(failure)
        except StopIteration as done:
            if done.value is None:
                return items
            if items:
                msg = (
                    f"step {short(step)}: yielded {type(items[0]).__name__} and returned "
                    f"{type(done.value).__name__}; yield the items to keep, or return them, not "
                    "both"
                )
                raise OutcomeError(msg) from None
            return done.value
        reply, failure = None, None
        if isinstance(given, Yielded):
            try:
                reply = yield given
            except Exception as error:  # noqa: BLE001  passed on to the step
                failure = error
        else:
            items.append(given)
