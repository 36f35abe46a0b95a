"""
Asking an endpoint for counts: what is sent for a message, and what its answer means.

A `FromClient` says whom to ask; a memory asks here, sync or async, before its
strategies run. The walk over what is to be asked is written once, and two
short drivers make the calls.
"""

import inspect
from collections.abc import Generator, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from attrs import frozen

from unabridged.asked import CALLED_BACK
from unabridged.errors import ConfigError, FormatError, NeedsAsyncError, OutcomeError
from unabridged.framing import ONE, TOOLS, Framed, Request, framed, needed
from unabridged.messages import Message
from unabridged.text import brief
from unabridged.tokens.from_client import FromClient
from unabridged.tokens.kept import Kept

__all__ = ["AT_ONCE", "Count", "Counted", "acounted", "counted"]

AT_ONCE = 4
SHOWN = 200
_REFUSED = frozenset({400, 413, 422})  # HTTP: this request is at fault, another may pass
Answer: TypeAlias = int | Exception
Walk: TypeAlias = Generator[Sequence[Request], Sequence[Answer], "Counted"]


@frozen
class Count:
    """
    Something a memory has to have done: *messages* counted by *endpoint*, and kept in *count*.

    The answer is a `Counted`.
    """

    endpoint: FromClient
    count: Kept
    messages: tuple[Message, ...]


class Counted(NamedTuple):
    """
    What came of it: a *warning* about what could not be had, and whether the endpoint is *down*.
    """

    warning: str = ""
    down: bool = False


def counted(asked: Count) -> Counted:
    """
    Ask for the counts that are not kept yet, and keep them.
    """
    endpoint = asked.endpoint
    walk = _walk(asked, endpoint, at_once=1)
    answers: Sequence[Answer] | None = None
    while True:
        try:
            requests = next(walk) if answers is None else walk.send(answers)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        answers = [_asked(endpoint, request) for request in requests]


async def acounted(asked: Count) -> Counted:
    """
    As `counted`, a few at once; a sync client is asked from threads.
    """
    import asyncio  # noqa: PLC0415  importing the library loads no event loop

    endpoint = asked.endpoint
    walk = _walk(asked, endpoint, at_once=AT_ONCE)
    answers: Sequence[Answer] | None = None
    while True:
        try:
            requests = next(walk) if answers is None else walk.send(answers)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        answers = await asyncio.gather(*(_aasked(endpoint, request) for request in requests))


def _walk(asked: Count, endpoint: FromClient, *, at_once: int) -> Walk:
    """
    What to ask, a batch at a time, and what comes of the answers.

    A failure that is not about the one message ends it: an endpoint that is
    down is not asked a hundred times.
    """
    count = asked.count
    waiting = [message for message in dict.fromkeys(asked.messages) if not count.knows(message)]
    if not waiting:
        return Counted()
    sent = {message: framed(message, endpoint.api) for message in waiting}
    trouble = yield from _frames(endpoint, sent.values(), at_once)
    if trouble is not None:
        return Counted(_warning(endpoint, len(waiting), trouble), down=True)
    missed = done = 0
    for batch in _batches(waiting, at_once):
        answers = yield [sent[message].request for message in batch]
        down = False
        for message, answer in zip(batch, answers, strict=True):
            found = _own(endpoint, sent[message], answer)
            if isinstance(found, int):
                count.learn(message, found)
                continue
            missed, trouble = missed + 1, trouble or found
            down = down or not _is_about_one(found)
        done += len(batch)
        if down:
            return Counted(_warning(endpoint, missed + len(waiting) - done, trouble), down=True)

    return Counted(_warning(endpoint, missed, trouble))


def _frames(
    endpoint: FromClient, sent: Iterable[Framed], at_once: int
) -> Generator[Sequence[Request], Sequence[Answer], Exception | None]:
    """
    Count the requests without a message of ours that are needed and not counted yet.
    """
    missing = [frame for frame in needed(sent) if frame not in endpoint.frames]
    for batch in _batches(missing, at_once):
        answers = yield batch
        for frame, answer in zip(batch, answers, strict=True):
            found = _framing(endpoint, frame, answer)
            if not isinstance(found, int):
                return found
            endpoint.frames[frame] = found

    return None


def _batches(things: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    return (things[start : start + size] for start in range(0, len(things), size))


def _asked(endpoint: FromClient, request: Request) -> Answer:
    try:
        given = endpoint.call(**_arguments(endpoint, request))
        if inspect.isawaitable(given):
            if inspect.iscoroutine(given):
                given.close()
            msg = (
                f"{brief(endpoint)}: the answer is awaitable; use AsyncMemory, or give a sync "
                "client"
            )
            return NeedsAsyncError(msg)
        return _tokens(endpoint, given)
    except Exception as error:  # noqa: BLE001  whatever it is, the rough count stands in
        return error


def _called(endpoint: FromClient, arguments: dict[str, Any]) -> Any:
    try:
        return endpoint.call(**arguments)
    except StopIteration as error:  # which no future can carry
        msg = "the client raised StopIteration"
        raise RuntimeError(msg) from error


async def _aasked(endpoint: FromClient, request: Request) -> Answer:
    import asyncio  # noqa: PLC0415  as above

    try:
        arguments = _arguments(endpoint, request)
        if endpoint.is_async:
            given = endpoint.call(**arguments)
        else:
            given = await asyncio.to_thread(_called, endpoint, arguments)
        return _tokens(endpoint, await given if inspect.isawaitable(given) else given)
    except Exception as error:  # noqa: BLE001  whatever it is, the rough count stands in
        return error


def _arguments(endpoint: FromClient, request: Request) -> dict[str, Any]:
    from unabridged.formats import anthropic, gemini  # noqa: PLC0415  they load when they are used

    if endpoint.api == "gemini":
        return {"model": endpoint.model, **gemini.request(request.messages)}
    tools = {"tools": list(TOOLS)} if request.tools else {}

    return {"model": endpoint.model, **anthropic.request(request.messages), **tools}


def _tokens(endpoint: FromClient, response: Any) -> int:
    name = "input_tokens" if endpoint.api == "anthropic" else "total_tokens"
    tokens = getattr(response, name, None)
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 1:
        shown = f"{name}={brief(tokens)} in {type(response).__name__}"
        msg = f"the answer is no number of tokens, 1 or more: {shown}"
        raise OutcomeError(msg)

    return tokens


def _framing(endpoint: FromClient, frame: Request, answer: Answer) -> Answer:
    """
    What a request without a message of ours costs, if that can be.
    """
    one = endpoint.frames.get(ONE, 0)
    turns = len(frame.messages)
    if isinstance(answer, int) and answer < one + (turns > 1):
        return OutcomeError(f"counted {answer} for {turns} turns and {one} for one of them")

    return answer


def _own(endpoint: FromClient, sent: Framed, answer: Answer) -> Answer:
    """
    The tokens of a message by the count of its request.
    """
    if not isinstance(answer, int):
        return answer
    one = endpoint.frames[ONE]
    if answer < one:
        return OutcomeError(f"counted {answer} for a message and {one} for a single point")

    return max(0, answer - sent.rest(endpoint.frames))


def _is_about_one(error: Exception) -> bool:
    """
    Whether it says nothing of the next message: the API refused this one, or it has no form there.
    """
    if str(error) == CALLED_BACK:
        return False
    status = getattr(error, "status_code", None) or getattr(error, "code", None)

    return status in _REFUSED or isinstance(error, FormatError | ConfigError)


def _warning(endpoint: FromClient, missed: int, error: Exception | None) -> str:
    if error is None:
        return ""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    shown = said if len(said) <= SHOWN else f"{said[: SHOWN - 1]}…"
    messages = "1 message counts" if missed == 1 else f"{missed:,} messages count"

    return (
        f"count {brief(endpoint)}: {messages} roughly, as the endpoint gave no number ({shown}); "
        "the next context asks again"
    )
