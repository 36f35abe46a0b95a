"""
A chat message, written: from a `Message` to the turns of the API that it makes.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from unabridged.formats.chat_calls import write_call
from unabridged.formats.chat_functions import (
    is_function,
    name_of_result,
    sends_id,
    write_function_call,
)
from unabridged.formats.chat_parts import DETAILS, THOUGHTS, Words, is_plain, left_out, own, write
from unabridged.formats.chat_thoughts import write_details
from unabridged.formats.extras import write_id
from unabridged.messages import (
    Audio,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

__all__ = ["write_message"]

_HEARD = ("data", "transcript")


class _Sorted(NamedTuple):
    """
    The parts of a message by where they go: the content, keys beside it, or turns of their own.
    """

    words: list[Words]
    aside: dict[str, Any]
    calls: list[dict[str, Any]]
    functions: list[dict[str, Any]]
    results: list[dict[str, Any]]
    spoken: list[dict[str, Any]]


def write_message(message: Message) -> list[dict[str, Any]]:
    """
    One dict for each result, and one for all the rest if there is any.

    What the API has no form for is left out, and a message of nothing else.

    >>> write_message(Message("tool", ToolResult("c1", "sunny")))
    [{'role': 'tool', 'tool_call_id': 'c1', 'content': 'sunny'}]
    """
    hints = own(message.extra) if message.extra else {}
    if hints.get("keys", {}).get("type") == "reasoning" and _is_entry(message):
        return _entry_turns(message, hints)

    role, form = message.role, hints.get("content", "")
    match message.parts:
        case (Text(extra=extra) as part,) if not extra and form != "list" and role != "tool":
            turn: dict[str, Any] = {"role": role, "content": part.text}
            _put_beside(turn, message, hints)
            return [turn]

    words, aside, calls, functions, results, spoken = _sorted(message)
    is_tools = role == "tool" and len(results) > 0
    if is_tools:
        _put_beside(results[0], message, hints)
    called = calls or functions
    if not (words or aside or called) and (results or message.parts):
        return results

    turn = {"role": "user" if role == "tool" else role}
    if words or form != "missing":
        is_null = called or form == "null" or "audio" in aside or "refusal" in aside
        turn["content"] = _written(words, form, None if is_null else "")
    turn |= aside
    if calls:
        turn["tool_calls"] = calls
    if functions:  # a message has room for one
        turn["function_call"] = functions[0]
        spoken += [{"role": role, "content": None, "function_call": one} for one in functions[1:]]
    if not is_tools:
        _put_beside(turn, message, hints)

    return [*spoken, turn, *results] if called else [*results, *spoken, turn]


def _sorted(message: Message) -> _Sorted:
    found = _Sorted([], {}, [], [], [], [])
    words, aside, calls, functions, results, spoken = found
    role = message.role
    for part in message.parts:
        match part:
            case Text() if not part.extra:
                words.append(part)
            case ToolResult():
                results.append(_result_turn(part))
            case _ if left_out(part, role):
                continue
            case ToolCall():
                if is_function(part):
                    functions.append(write_function_call(part))
                else:
                    calls.append(write_call(part))
            case Audio() if part.file and role == "assistant" and "audio" in aside:
                spoken.append({"role": role, "content": None, "audio": _audio(part)})
            case _ if not _put_aside(part, aside, role):
                words.append(part)

    return found


def _result_turn(result: ToolResult) -> dict[str, Any]:
    hints = own(result.extra) if result.extra else {}
    form = hints.get("content", "")
    words = [part for part in result.content if not left_out(part, "tool")]
    turn: dict[str, Any] = {"role": "tool"}
    if is_function(result):
        turn = {"role": "function", **name_of_result(result)}
        if sends_id(result):
            turn["tool_call_id"] = result.call_id
    else:
        write_id(turn, "tool_call_id", result.call_id, hints)
    if words or form != "missing":
        turn["content"] = _written(words, form, None if form == "null" else "")
    if "is_error" in hints.get("sent", ()):
        turn["is_error"] = result.is_error

    return turn


def _written(words: Sequence[Words], form: str, nothing: str | None) -> str | list[Any] | None:
    match words:
        case [Text(text=text, extra=extra)] if form != "list" and not extra:
            return text
        case []:
            return [] if form == "list" else nothing
    parts = [write(part) for part in words]

    return parts[0]["text"] if len(parts) == 1 and form != "list" and is_plain(parts[0]) else parts


def _put_aside(part: Part, aside: dict[str, Any], role: str) -> bool:
    """
    Put what stands beside the content in *aside*; whether *part* does.
    """
    match part:
        case Reasoning() if (key := own(part.extra).get("as")) in THOUGHTS:
            aside[key] = aside.get(key, "") + part.text
        case Reasoning() if own(part.extra).get("as") == DETAILS:
            for key, value in write_details(part).items():
                aside[key] = aside[key] + value if key in aside else value
        case Text() if part.extra and own(part.extra).get("as") == "refused":
            aside["refusal"] = aside.get("refusal", "") + part.text
        case Audio() if part.file and role == "assistant":
            aside["audio"] = _audio(part)
        case _:
            return False
    return True


def _audio(part: Audio) -> dict[str, Any]:
    # an answer is known by its id; what was heard is not sent again unless it was
    hints = own(part.extra)
    heard = {key: getattr(part, key) for key in _HEARD if key in hints.get("sent", ())}

    return {"id": part.file, **heard, **hints.get("keys", {})}


def _put_beside(turn: dict[str, Any], message: Message, hints: dict[str, Any]) -> None:
    if message.name is not None:
        turn["name"] = message.name
    if not hints:
        return
    sent = hints.get("sent", ())
    if "id" in sent and message.id is not None:
        turn["id"] = message.id
    if "metadata" in sent:
        turn["metadata"] = message.metadata.value
    for key, value in hints.get("keys", {}).items():
        turn.setdefault(key, value)


def _is_entry(message: Message) -> bool:
    return all(isinstance(part, Reasoning) for part in message.parts)


def _entry_turns(message: Message, hints: dict[str, Any]) -> list[dict[str, Any]]:
    thoughts = [part for part in message.reasoning if not left_out(part, message.role)]
    if not thoughts:
        return []
    turn: dict[str, Any] = {"role": message.role}
    text = "".join(part.text for part in thoughts)
    encrypted = "".join(part.encrypted for part in thoughts)
    if text or hints.get("content") != "none":
        turn["content"] = text
    if encrypted:
        turn["encrypted_content"] = encrypted
    _put_beside(turn, message, hints)

    return [turn]
