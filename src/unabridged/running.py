"""
Running a strategy: sync or async, the flow is the same.

Only how a question is answered differs, so there is one of each strategy and
of each chain, and two short drivers.
"""

import inspect
from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeAlias, TypeVar

from attrs import evolve

from unabridged.contract import (
    Ask,
    Await,
    Refused,
    Search,
    StrategyLike,
    TrimContext,
    Yielded,
)
from unabridged.errors import ConfigError, NeedsAnswerError, NeedsAsyncError, OutcomeError
from unabridged.pipeline import Pipeline, chain
from unabridged.results import TrimResult
from unabridged.steps import is_async
from unabridged.text import brief
from unabridged.text.names import named
from unabridged.views import View

__all__ = [
    "Answer",
    "AskFunction",
    "Request",
    "SearchFunction",
    "adrive",
    "answering",
    "arun",
    "checked",
    "drive",
    "flow",
    "run",
    "settled_answer",
    "window_of",
]

AskFunction: TypeAlias = Callable[[Ask], Any]
SearchFunction: TypeAlias = Callable[[Search], Any]
Answer: TypeAlias = Any
Request = TypeVar("Request")
Result = TypeVar("Result")


@named
def run(
    strategy: "StrategyLike",
    view: View,
    context: TrimContext = TrimContext(),  # noqa: B008  a frozen value
    ask: AskFunction | None = None,
    search: SearchFunction | None = None,
) -> TrimResult:
    """
    What *strategy* makes of *view*. *ask* answers its questions, *search* its searches.

    Raises:
        NeedsAnswerError: a step asks and nobody answers.
        NeedsAsyncError: a step, or an answer, is async; use `arun`.

    >>> from unabridged import Window
    >>> from unabridged.testing import user, view_of
    >>> run(Window(1), view_of([user("a"), user("b")])).text()
    'user: b'
    """

    def answer(request: Yielded) -> Answer:
        return settled_answer(request, answering(request, ask, search, sync=True)())

    return drive(flow(strategy, view, _told(view, context, ask)), answer)


@named
async def arun(
    strategy: "StrategyLike",
    view: View,
    context: TrimContext = TrimContext(),  # noqa: B008  a frozen value
    ask: AskFunction | None = None,
    search: SearchFunction | None = None,
) -> TrimResult:
    """
    As `run`, awaiting async steps and answers; *ask* and *search* may be either.

    >>> import asyncio
    >>> from unabridged import Window
    >>> from unabridged.testing import user, view_of
    >>> asyncio.run(arun(Window(1), view_of([user("a"), user("b")]))).text()
    'user: b'
    """

    async def answer(request: Yielded) -> Answer:
        given = answering(request, ask, search, sync=False)()
        return checked(request, await given if inspect.isawaitable(given) else given)

    return await adrive(flow(strategy, view, _told(view, context, ask)), answer)


def window_of(ask: AskFunction | None) -> int:
    """
    What whoever answers takes in one request, in tokens, as its attribute `window` says; 0 if none.
    """
    window = getattr(ask, "window", 0)
    return window if isinstance(window, int) and window > 0 else 0


def _told(view: object, context: TrimContext, ask: AskFunction | None) -> TrimContext:
    """
    The context of a run, with what whoever answers says of itself; what is given is looked at.
    """
    if not isinstance(view, View):
        msg = (
            f"run: expected a View, got {type(view).__name__}; testing.view_of(messages) makes one"
        )
        raise ConfigError(msg)
    if ask is not None and not callable(ask):
        msg = f"run: ask= must be a function from an Ask to text, got {type(ask).__name__}"
        raise ConfigError(msg)
    window = 0 if context.window else window_of(ask)
    return evolve(context, window=window) if window else context


def drive(walk: Generator[Request, Any, Result], answer: Callable[[Request], Any]) -> Result:
    """
    Walk a flow to its end; *answer* gives what each request is sent, or raises what it is thrown.
    """
    reply: Answer = None
    failure: Exception | None = None
    while True:
        try:
            request = walk.send(reply) if failure is None else walk.throw(failure)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        reply, failure = None, None
        try:
            reply = answer(request)
        except Exception as error:  # noqa: BLE001  the flow decides what a failure means
            failure = error
        except BaseException:  # interrupted: what the flow holds is let go of now
            walk.close()
            raise


async def adrive(
    walk: Generator[Request, Any, Result], answer: Callable[[Request], Awaitable[Any]]
) -> Result:
    """
    As `drive`, awaiting each answer.
    """
    reply: Answer = None
    failure: Exception | None = None
    while True:
        try:
            request = walk.send(reply) if failure is None else walk.throw(failure)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        reply, failure = None, None
        try:
            reply = await answer(request)
        except Exception as error:  # noqa: BLE001  the flow decides what a failure means
            failure = error
        except BaseException:  # cancelled: what the flow holds is let go of now
            walk.close()
            raise


def flow(
    strategy: "StrategyLike", view: View, context: TrimContext
) -> Generator[Yielded, Any, TrimResult]:
    """
    The run as a flow, for who drives it: `run`, `arun`, a memory.
    """
    return (strategy if isinstance(strategy, Pipeline) else chain(strategy))(view, context)


def answering(
    request: Yielded,
    ask: AskFunction | None,
    search: SearchFunction | None,
    *,
    sync: bool,
) -> Callable[[], Any]:
    """
    How to answer *request*.
    """
    match request:
        case Ask():
            if ask is None:
                msg = (
                    f"a step asks a model ({request.purpose}) and nobody answers; "
                    "pass ask=, a function from Ask to text"
                )
                raise NeedsAnswerError(msg)
            if sync and is_async(ask):
                msg = "ask= is async and the run is not; use arun or AsyncMemory"
                raise NeedsAsyncError(msg)
            return lambda: ask(request)
        case Search():
            if search is None:
                msg = f"a step searches for {brief(request.query)} and nobody answers; pass search="
                raise NeedsAnswerError(msg)
            if sync and is_async(search):
                msg = "search= is async and the run is not; use arun or AsyncMemory"
                raise NeedsAsyncError(msg)
            return lambda: search(request)
        case Await():
            if sync:
                msg = "a step is async and the run is not; use arun or AsyncMemory"
                raise NeedsAsyncError(msg)
            return request.call
        case Refused():
            return lambda: None


def checked(request: Yielded, answer: Answer) -> Answer:
    """
    The answer, if it is one that the request can have.
    """
    if isinstance(request, Ask) and not isinstance(answer, str):
        msg = f"an answer must be text, got {type(answer).__name__}; return the reply's text"
        raise OutcomeError.of_answer(msg)

    return answer


def settled_answer(request: Yielded, answer: Answer) -> Answer:
    """
    The answer of a sync run, which may not be awaitable.
    """
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        msg = "the answer is awaitable and the run is not async; use arun or AsyncMemory"
        raise NeedsAsyncError(msg)

    return checked(request, answer)
