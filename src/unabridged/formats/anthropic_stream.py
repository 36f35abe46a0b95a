"""
The events of a streamed response, put together to the response.

Both the raw events and those that the client's stream helper adds to them are
taken; events that say nothing new (pings, the helper's own) are passed over.
"""

from collections.abc import Callable, Iterable
from typing import Any

from attrs import Factory, define

from unabridged.errors import FormatError
from unabridged.formats.anthropic_calls import as_input
from unabridged.formats.extras import refuse
from unabridged.text import brief, said

__all__ = ["assembled", "failure"]

_PIECES = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": ("partial_json", "input"),
}


@define
class _Answer:
    message: dict[str, Any] = Factory(dict[str, Any])
    blocks: dict[int, dict[str, Any]] = Factory(dict[int, dict[str, Any]])
    pieces: dict[tuple[int, str], list[str]] = Factory(dict[tuple[int, str], list[str]])
    is_whole: bool = False


def assembled(events: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """
    The response that a stream's events make.

    A call's input that is no JSON object, as when the answer was cut short,
    becomes an object that holds its text.

    Raises:
        FormatError: the stream broke off, reports an error, or an event has another form.

    >>> assembled([
    ...     {"type": "message_start", "message": {"id": "msg_1", "content": []}},
    ...     {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
    ...     {"type": "content_block_delta", "index": 0,
    ...      "delta": {"type": "text_delta", "text": "Hello!"}},
    ...     {"type": "message_stop"},
    ... ])
    {'id': 'msg_1', 'content': [{'type': 'text', 'text': 'Hello!'}]}
    """
    answer = _Answer()
    count = 0
    for at, event in enumerate(events):
        count += 1
        step = _STEPS.get(kind) if isinstance(kind := event.get("type"), str) else None
        if step is not None:
            step(answer, event, f"response[{at}]")
    if not answer.message or not answer.is_whole:
        missing = "message_stop" if answer.message else "message_start"
        msg = (
            f"response: the stream has no {missing} among its {count} events; "
            "pass every event once it has ended, or stream.get_final_message()"
        )
        raise FormatError(msg)

    return {**answer.message, "content": _content(answer)}


def failure(found: dict[str, Any]) -> FormatError:
    """
    The error to raise for what the API sent instead of a message.

    >>> failure({"error": {"type": "overloaded_error", "message": "Overloaded"}})
    FormatError('response: no message, but overloaded_error: Overloaded')
    """
    match found.get("error"):
        case {"type": kind, "message": text}:
            told = f"{said(kind)}: {said(text)}"
        case error:
            told = f"an error: {said(error)}"

    return FormatError(f"response: no message, but {told}")


def _start(answer: _Answer, event: dict[str, Any], where: str) -> None:
    if answer.message:
        msg = f"{where}: a second message_start; pass the events of one response"
        raise FormatError(msg)
    answer.message = dict(_object(event, "message", where))


def _open(answer: _Answer, event: dict[str, Any], where: str) -> None:
    answer.blocks[_index(event, where)] = dict(_object(event, "content_block", where))


def _add(answer: _Answer, event: dict[str, Any], where: str) -> None:
    index, delta = _index(event, where), _object(event, "delta", where)
    block = answer.blocks.get(index)
    if block is None:
        msg = f"{where}.index: expected a block that has started, got {brief(index)}"
        raise FormatError(msg)
    kind = delta.get("type")
    if isinstance(kind, str) and kind in _PIECES:
        name, key = _PIECES[kind]
        piece = delta.get(name, ...)
        if not isinstance(piece, str):
            refuse(f"{where}.delta.{name}", "text", piece)
        answer.pieces.setdefault((index, key), []).append(piece)
        return
    match delta:
        case {"type": "signature_delta", "signature": str(signature)}:
            block["signature"] = signature
        case {"type": "citations_delta", "citation": citation}:
            before = block.get("citations")
            block["citations"] = [*(before if isinstance(before, list) else ()), citation]
        case {"type": "compaction_delta", **said_of_it}:
            block |= said_of_it
        case _:
            msg = (
                f"{where}.delta: {brief(kind)} is a delta not known here; "
                "pass stream.get_final_message() instead of the events"
            )
            raise FormatError(msg)


def _end(answer: _Answer, event: dict[str, Any], where: str) -> None:
    # counts are totals so far; a null says nothing new
    delta, usage = _object(event, "delta", where), event.get("usage")
    beside = {key: value for key, value in event.items() if key not in ("type", "delta", "usage")}
    _update(answer.message, {**beside, **delta})
    if isinstance(usage, dict):
        before = answer.message.get("usage")
        answer.message["usage"] = dict(before) if isinstance(before, dict) else {}
        _update(answer.message["usage"], usage)
    answer.is_whole = answer.is_whole or bool(delta.get("stop_reason"))


def _stop(answer: _Answer, _event: dict[str, Any], _where: str) -> None:
    answer.is_whole = True


def _fail(_answer: _Answer, event: dict[str, Any], _where: str) -> None:
    raise failure(event)


_STEPS: dict[str, Callable[[_Answer, dict[str, Any], str], None]] = {
    "message_start": _start,
    "content_block_start": _open,
    "content_block_delta": _add,
    "message_delta": _end,
    "message_stop": _stop,
    "error": _fail,
}


def _update(before: dict[str, Any], after: dict[str, Any]) -> None:
    before |= {key: value for key, value in after.items() if value is not None or key not in before}


def _content(answer: _Answer) -> list[dict[str, Any]]:
    for (index, key), pieces in answer.pieces.items():
        block, text = answer.blocks[index], "".join(pieces)
        if key != "input":
            before = block.get(key)
            block[key] = (before if isinstance(before, str) else "") + text
        elif text:
            block[key] = as_input(text)

    return [answer.blocks[index] for index in sorted(answer.blocks)]


def _object(event: dict[str, Any], key: str, where: str) -> dict[str, Any]:
    found = event.get(key, ...)
    if not isinstance(found, dict):
        refuse(f"{where}.{key}", "an object", found)

    return found


def _index(event: dict[str, Any], where: str) -> int:
    index = event.get("index", ...)
    if not isinstance(index, int):
        refuse(f"{where}.index", "a number", index)

    return index
