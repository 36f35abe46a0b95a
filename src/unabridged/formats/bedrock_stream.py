"""
The events of a Bedrock `converse_stream`, put together to the response that `converse` gives.
"""

from collections.abc import Iterable
from typing import Any

from unabridged.errors import FormatError
from unabridged.formats.extras import refuse
from unabridged.formats.json_texts import strict_value
from unabridged.text import said

__all__ = ["assembled"]

_INDEX = "contentBlockIndex"


def assembled(events: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """
    The response that the events of a finished stream add up to.

    Raises:
        FormatError: the stream ended early, with an error or without a message.

    >>> assembled([
    ...     {"messageStart": {"role": "assistant"}},
    ...     {"contentBlockDelta": {"delta": {"text": "Hel"}, "contentBlockIndex": 0}},
    ...     {"contentBlockDelta": {"delta": {"text": "lo."}, "contentBlockIndex": 0}},
    ...     {"messageStop": {"stopReason": "end_turn"}},
    ... ])["output"]["message"]
    {'role': 'assistant', 'content': [{'text': 'Hello.'}]}
    """
    start: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    rest: dict[str, Any] = {}
    for at, event in enumerate(events):
        for kind, body in event.items():
            where = f"response[{at}].{kind}"
            if not isinstance(body, dict):
                refuse(where, "an object", body)
            if kind.endswith("Exception"):
                msg = f"{where}: the stream broke off: {said(body.get('message', body))}"
                raise FormatError(msg)
            match kind:
                case "messageStart":
                    start |= body
                case "contentBlockStart":
                    _gather(_block(blocks, body, where), body.get("start"), f"{where}.start")
                case "contentBlockDelta":
                    _gather(_block(blocks, body, where), body.get("delta"), f"{where}.delta")
                case "messageStop" | "metadata":
                    rest |= body
    if "role" not in start or "stopReason" not in rest:
        missing = "messageStop" if "role" in start else "messageStart"
        msg = f"response: the stream holds no whole message, {missing} is missing"
        raise FormatError(msg)
    content = [_finished(_joined(blocks[at])) for at in sorted(blocks)]

    return {"output": {"message": {**start, "content": content}}, **rest}


def _block(blocks: dict[int, dict[str, Any]], body: dict[str, Any], where: str) -> dict[str, Any]:
    index = body.get(_INDEX, ...)
    if not isinstance(index, int):
        refuse(f"{where}.{_INDEX}", "a number", index)

    return blocks.setdefault(index, {})


def _gather(into: dict[str, Any], piece: object, where: str) -> None:
    """
    Put each leaf of the *piece* at the end of the list of such leaves.
    """
    if not isinstance(piece, dict):
        refuse(where, "an object", piece)
    for key, value in piece.items():
        match key, value:
            case "toolResult", [*found]:
                _gather(into, {key: {"content": found}}, where)
            case "citation", _:
                into.setdefault(key, []).append([value])
            case _, dict():
                inner = into.setdefault(key, {})
                if not isinstance(inner, dict):
                    refuse(f"{where}.{key}", "more of the same", value)
                _gather(inner, value, f"{where}.{key}")
            case _:
                pieces = into.setdefault(key, [])
                if not isinstance(pieces, list):
                    refuse(f"{where}.{key}", "more of the same", value)
                pieces.append(value)


def _joined(tree: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _joined(found) if isinstance(found, dict) else _sum(found)
        for key, found in tree.items()
    }


def _sum(pieces: list[Any]) -> Any:
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    if all(isinstance(piece, bytes) for piece in pieces):
        return b"".join(pieces)
    if all(isinstance(piece, list) for piece in pieces):
        return [each for piece in pieces for each in piece]

    return pieces[-1]


def _finished(block: dict[str, Any]) -> dict[str, Any]:
    match block:
        case {"toolUse": {**use}}:
            return block | {"toolUse": use | {"input": _input(use.get("input"))}}
        case {"reasoningContent": {"redactedContent": _}}:
            return block
        case {"reasoningContent": {**thought}}:
            return {"reasoningContent": {"reasoningText": {"text": "", **thought}}}
        case {"toolResult": {**result}}:
            return block | {"toolResult": {"content": [], **result}}
        case {"citation": found, **rest}:
            words = {"text": rest.get("text", "")}
            return {"citationsContent": {"content": [words], "citations": found}}
    return block


def _input(text: object) -> Any:
    """
    The input of a call; what an answer cut short left of it stays as text.
    """
    if not isinstance(text, str) or not text:
        return {}
    found = strict_value(text)

    return {"arguments": text} if found is ... else found
