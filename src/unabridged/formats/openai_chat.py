"""
OpenAI Chat Completions: the `messages` of a request, and the message of a response.

```
role, name           Message.role, Message.name
content              Text, Image, Audio, Document, Reasoning; a tool message's in a ToolResult
tool_calls           ToolCall
reasoning_content    Reasoning, before the words; so is `reasoning`, when it is text
audio                Audio(file=…), when an assistant said it
id, metadata         Message.id, Message.metadata; dumped only if they were loaded
anything else        extra, under "openai_chat"
```
"""

from collections.abc import Iterable, Sequence
from typing import Any

from unabridged.errors import FormatError
from unabridged.formats.chat_calls import read_calls, write_call
from unabridged.formats.chat_parts import (
    NAME,
    Words,
    is_foreign,
    is_plain,
    kept,
    own,
    read,
    write,
)
from unabridged.formats.extras import refuse
from unabridged.json_values import json_of
from unabridged.messages import (
    Audio,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

__all__ = ["dump", "load"]

_THOUGHTS = {key: kept({}, {"as": key}, key) for key in ("reasoning_content", "reasoning")}
_ENTRY = kept({}, {"as": "entry"}, "entry")
_SENT = (("id", str), ("metadata", dict))
_HEARD = ("data", "transcript")


def load(
    turns: Sequence[object], system: str | Sequence[object] | None = None
) -> tuple[Message, ...]:
    """
    The messages of a Chat Completions request.

    Nothing is lost: `dump` gives back what was loaded, key for key, also keys
    that no documentation knows. A *system* text, or list of parts, goes first
    as a system message.

    Raises:
        FormatError: a message has another form than the API's; the text names the place.
        ConfigError: a key holds what JSON cannot; the text names its path.

    >>> from unabridged.messages import user
    >>> load([{"role": "user", "content": "hi"}]) == (user("hi"),)
    True
    >>> load([{"role": "assistant", "tool_calls": {}}])
    Traceback (most recent call last):
    unabridged.errors.FormatError: messages[0].tool_calls: expected a list, got an object
    """
    if not isinstance(turns, list | tuple):
        refuse("messages", "a list", turns)
    messages = tuple(_message(turn, f"messages[{at}]") for at, turn in enumerate(turns))
    if system is None:
        return messages
    if not isinstance(system, str | list | tuple):
        refuse("system", "text or a list of parts", system)
    content = system if isinstance(system, str) else list(system)

    return (_message({"role": "system", "content": content}, "system"), *messages)


def dump(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """
    The messages as dicts for a Chat Completions request, fresh ones each time.

    A message with several tool results becomes one dict for each, and one for
    the rest. Reasoning and opaque parts of other providers are left out, and a
    message that holds nothing else with them.

    Raises:
        FormatError: a part that the API has no form for, such as an image by file id.

    >>> from unabridged.messages import ToolCall, assistant
    >>> dump([assistant(calls=[ToolCall("c1", "now")])])[0]["tool_calls"]
    [{'id': 'c1', 'type': 'function', 'function': {'name': 'now', 'arguments': '{}'}}]
    """
    turns: list[dict[str, Any]] = []
    for at, message in enumerate(messages):
        if not isinstance(message, Message):
            refuse(f"messages[{at}]", "a Message", message)
        match message.parts:
            case (Text() as part,) if not (part.extra or message.extra):
                named = {} if message.name is None else {"name": message.name}
                turns.append({"role": message.role, "content": part.text, **named})
            case _:
                turns.extend(_turns(message, f"messages[{at}]"))

    return turns


def _message(turn: object, where: str) -> Message:
    if not isinstance(turn, dict):
        refuse(where, "an object", turn)
    keys: dict[str, Any] = turn.copy()
    role = keys.pop("role", ...)
    if not isinstance(role, str) or not role.strip():
        refuse(f"{where}.role", "a word such as 'user'", role)
    shape: dict[str, Any] = {}
    parts: tuple[Part, ...]
    if keys.get("type") == "reasoning":
        parts = (_entry(keys, shape),)
    elif role == "tool":
        parts = (_result(keys, where),)
    else:
        parts = _parts(role, keys, shape, where)
    if not keys and not shape:
        return Message(role, parts)

    name = keys.pop("name") if isinstance(keys.get("name"), str) else None
    if keys.get("name") is not None:
        refuse(f"{where}.name", "text", keys["name"])
    fields = {key: keys.pop(key) for key, kind in _SENT if isinstance(keys.get(key), kind)}
    if fields:
        shape["sent"] = tuple(fields)
    metadata = json_of(fields["metadata"], f"{where}.metadata") if "metadata" in fields else None
    extra = kept(keys, shape, where)

    return Message(role, parts, name=name, id=fields.get("id"), metadata=metadata, extra=extra)


def _parts(role: str, keys: dict[str, Any], shape: dict[str, Any], where: str) -> tuple[Part, ...]:
    content = keys.pop("content", ...)
    if not keys and isinstance(content, str):
        return (Text(content),)
    words, form = _content(content, where)
    thoughts = _thoughts(keys) if role == "assistant" else ()
    sound = _sound(keys, where) if role == "assistant" else ()
    calls = read_calls(keys, where)
    if form and (form != "null" or not (calls or sound)):
        shape["content"] = form

    return (*thoughts, *words, *sound, *calls)


def _content(content: object, where: str) -> tuple[tuple[Words, ...], str]:
    """
    The parts, and their form where it is not the one that `_written` chooses by itself.
    """
    if isinstance(content, str):
        return (Text(content),), ""
    if content is None:
        return (), "null"
    if content is ...:
        return (), "missing"
    if not isinstance(content, list):
        refuse(f"{where}.content", "text, a list of parts or null", content)
    parts = tuple(read(part, f"{where}.content[{at}]") for at, part in enumerate(content))
    is_short = not parts or (len(parts) == 1 and is_plain(content[0]))

    return parts, "list" if is_short else ""


def _thoughts(keys: dict[str, Any]) -> tuple[Reasoning, ...]:
    found = [key for key in _THOUGHTS if _is_filled(keys.get(key))]

    return tuple(Reasoning(keys.pop(key), extra=_THOUGHTS[key]) for key in found)


def _sound(keys: dict[str, Any], where: str) -> tuple[Audio, ...]:
    match keys.get("audio"):
        case {"id": str(file), **inner} if file:
            del keys["audio"]
            fields = {key: inner.pop(key) for key in _HEARD if _is_filled(inner.get(key))}
            extra = kept(inner, {}, f"{where}.audio")
            return (Audio(**fields, file=file, extra=extra),)
    return ()


def _entry(keys: dict[str, Any], shape: dict[str, Any]) -> Reasoning:
    text = ""
    if isinstance(keys.get("content"), str):
        text = keys.pop("content")
    else:
        shape["content"] = "none"
    encrypted = keys.pop("encrypted_content") if _is_filled(keys.get("encrypted_content")) else ""

    return Reasoning(text, encrypted=encrypted, extra=_ENTRY)


def _result(keys: dict[str, Any], where: str) -> ToolResult:
    call_id = keys.pop("tool_call_id", ...)
    if not isinstance(call_id, str):
        refuse(f"{where}.tool_call_id", "text", call_id)
    words, form = _content(keys.pop("content", ...), where)
    content = tuple(
        Opaque(NAME, write(part, where)) if isinstance(part, Reasoning) else part for part in words
    )
    shape: dict[str, Any] = {"content": form} if form else {}
    is_error = False
    if isinstance(keys.get("is_error"), bool):
        is_error = keys.pop("is_error")
        shape["sent"] = ("is_error",)

    return ToolResult(call_id, content, is_error=is_error, extra=kept({}, shape, where))


def _is_filled(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _turns(message: Message, where: str) -> list[dict[str, Any]]:
    """
    One dict for each result, and one for all the rest if there is any.
    """
    hints = own(message.extra) if message.extra else {}
    if hints.get("keys", {}).get("type") == "reasoning" and _is_entry(message):
        return _entry_turns(message, hints)

    parts = message.parts
    results = [_result_turn(part, where) for part in parts if isinstance(part, ToolResult)]
    calls = [write_call(part) for part in parts if isinstance(part, ToolCall)]
    words, aside = _words(message, where)
    if not (words or calls or aside):
        if results and message.role == "tool":
            _put_beside(results[0], message, hints)
        if results or (parts and not hints):
            return results

    form = hints.get("content", "")
    turn: dict[str, Any] = {"role": message.role}
    if words or form != "missing":
        nothing = None if calls or form == "null" or "audio" in aside else ""
        turn["content"] = _written(words, form, nothing, where)
    turn |= aside
    if calls:
        turn["tool_calls"] = calls
    _put_beside(turn, message, hints)

    return [turn, *results] if calls else [*results, turn]


def _words(message: Message, where: str) -> tuple[list[Words], dict[str, Any]]:
    """
    What belongs into the content, and what beside it.
    """
    words: list[Words] = []
    aside: dict[str, Any] = {}
    for part in message.parts:
        match part:
            case Text():
                words.append(part)
            case ToolCall() | ToolResult():
                continue
            case _ if not is_foreign(part) and not _put_aside(part, aside, message.role, where):
                words.append(part)

    return words, aside


def _result_turn(result: ToolResult, where: str) -> dict[str, Any]:
    hints = own(result.extra) if result.extra else {}
    form = hints.get("content", "")
    words = [part for part in result.content if not is_foreign(part)]
    turn: dict[str, Any] = {"role": "tool", "tool_call_id": result.call_id}
    if words or form != "missing":
        turn["content"] = _written(words, form, None if form == "null" else "", where)
    if "is_error" in hints.get("sent", ()):
        turn["is_error"] = result.is_error

    return turn


def _written(
    words: Sequence[Words], form: str, nothing: str | None, where: str
) -> str | list[Any] | None:
    match words:
        case [Text(text=text, extra=extra)] if form != "list" and not extra:
            return text
        case []:
            return [] if form == "list" else nothing
    parts = [write(part, where) for part in words]

    return parts[0]["text"] if len(parts) == 1 and form != "list" and is_plain(parts[0]) else parts


def _put_aside(part: Part, aside: dict[str, Any], role: str, where: str) -> bool:
    """
    Put what stands beside the content in *aside*; whether *part* does.
    """
    match part:
        case Reasoning() if (key := own(part.extra).get("as")) in _THOUGHTS:
            aside[key] = aside.get(key, "") + part.text
        case Audio() if part.file and role == "assistant":
            if "audio" in aside:
                msg = f"{where}: the Chat API takes one Audio in a message"
                raise FormatError(msg)
            heard = {key: getattr(part, key) for key in _HEARD if getattr(part, key)}
            aside["audio"] = {"id": part.file, **heard, **own(part.extra).get("keys", {})}
        case _:
            return False
    return True


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
    thoughts = [part for part in message.reasoning if not is_foreign(part)]
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
