"""
A chat message, read: from a turn of the API to a `Message`.
"""

from typing import Any

from unabridged.formats.chat_calls import read_calls
from unabridged.formats.chat_functions import Functions, function_result_extra, read_function_call
from unabridged.formats.chat_parts import (
    DETAILS,
    NAME,
    THOUGHTS,
    Words,
    is_plain,
    kept,
    read,
    write,
)
from unabridged.formats.chat_thoughts import read_details
from unabridged.formats.extras import FILE, Keys, read_id, refuse
from unabridged.formats.foreign import refuse_elsewhere
from unabridged.json_values import json_of
from unabridged.messages import Audio, Message, Opaque, Part, Reasoning, Text, quick_message
from unabridged.parts import NO_JSON, ToolResult, quick_result, quick_text

__all__ = ["read_spoken", "read_turn"]

_SPEAKERS = ("user", "assistant", "system", "developer")
_SILENT = frozenset({"system", "developer", "user"})  # calls of theirs are no calls
_THOUGHTS = {key: kept({}, {"as": key}, key) for key in THOUGHTS}
_ENTRY = kept({}, {"as": "entry"}, "entry")
_REFUSED = kept({}, {"as": "refused"}, "refused")
_BESIDE = frozenset({"tool_calls", "function_call", "refusal", "audio", DETAILS, *THOUGHTS})
_HEARD = ("data", "transcript")


def read_spoken(turn: object) -> Message | None:
    """
    The commonest of all messages, a role and words; None for any other.

    >>> read_spoken({"role": "user", "content": "hi"}).text
    'hi'
    >>> read_spoken({"role": "user", "content": "hi", "name": "ann"})
    """
    if type(turn) is not dict or len(turn) != 2:  # noqa: PLR2004  role and content
        return None
    try:
        role, content = turn["role"], turn["content"]
    except KeyError:
        return None
    if type(content) is not str or role not in _SPEAKERS:
        return None

    return quick_message(role, (quick_text(content),))


def read_turn(turn: object, where: str, functions: Functions) -> Message:
    """
    The message that a turn of the API is; *functions* learns its legacy calls and results.

    Raises:
        FormatError: it has another form; the text names the place.
        ConfigError: a key holds what JSON cannot; the text names its path.

    >>> turn = {"role": "tool", "tool_call_id": "c1", "content": "sunny"}
    >>> read_turn(turn, "messages[0]", Functions()).text
    'sunny'
    """
    if not isinstance(turn, dict):
        refuse(where, "an object", turn)
    keys: dict[str, Any] = turn.copy()
    role = keys.pop("role", ...)
    if role not in _SPEAKERS and not (isinstance(role, str) and role.strip()):
        refuse(f"{where}.role", "a word such as 'user'", role)
    shape: dict[str, Any] = {}
    parts: tuple[Part, ...]
    if "type" in keys and keys["type"] == "reasoning":
        parts = (_entry(keys, shape),)
    elif role == "tool":
        parts = (_result(keys, where),)
    elif role == "function":
        role, parts = "tool", (_function_result(keys, where, functions),)
    elif type(keys.get("content")) is str and (role in _SILENT or _BESIDE.isdisjoint(keys)):
        parts = (quick_text(keys.pop("content")),)
    else:
        parts = _parts(role, keys, shape, where, functions)
    if not keys and not shape:
        return quick_message(role, parts)

    return _with_keys(role, parts, keys, shape, where)


def _with_keys(
    role: str, parts: tuple[Part, ...], keys: Keys, shape: dict[str, Any], where: str
) -> Message:
    name, id_, metadata = keys.get("name"), keys.get("id"), NO_JSON
    if name is not None:
        if not isinstance(name, str):
            refuse(f"{where}.name", "text", name)
        del keys["name"]
        if not keys and not shape:
            return quick_message(role, parts, name)
    if isinstance(id_, str):
        del keys["id"]
        shape["sent"] = ("id",)
    else:
        id_ = None
    if "metadata" in keys and isinstance(keys["metadata"], dict):
        metadata = json_of(keys.pop("metadata"), f"{where}.metadata")
        shape["sent"] = (*shape.get("sent", ()), "metadata")

    return quick_message(role, parts, name, id_, metadata, kept(keys, shape, where))


def _parts(
    role: str, keys: dict[str, Any], shape: dict[str, Any], where: str, functions: Functions
) -> tuple[Part, ...]:
    words, form = _content(keys.pop("content", ...), where, role)
    if form == "missing":
        refuse_elsewhere(keys, f"{where}.content", "text or a list of parts")
    calls = () if role in _SILENT else read_calls(keys, where)
    functions.given(calls)
    if "function_call" in keys and role not in _SILENT:
        calls = (*calls, *read_function_call(keys, calls, functions, where))
    if role == "assistant":
        refused, sound = _refused(keys), _sound(keys, where)
        if form == "null" and (refused or sound):
            form = ""
        words = (*_thoughts(keys, where), *words, *refused, *sound)
    if form and (form != "null" or not calls):
        shape["content"] = form

    return (*words, *calls) if calls else words


def _content(content: object, where: str, role: str) -> tuple[tuple[Words, ...], str]:
    """
    The parts, and their form where it is not the one that writing chooses by itself.
    """
    if isinstance(content, str):
        return (quick_text(content),), ""
    if content is None:
        return (), "null"
    if content is ...:
        return (), "missing"
    if not isinstance(content, list):
        refuse(f"{where}.content", "text, a list of parts or null", content)
    parts = tuple(
        [
            quick_text(part["text"])
            if is_plain(part)
            else read(part, f"{where}.content[{at}]", role)
            for at, part in enumerate(content)
        ]
    )
    is_short = not parts or (len(parts) == 1 and is_plain(content[0]))

    return parts, "list" if is_short else ""


def _thoughts(keys: dict[str, Any], where: str) -> tuple[Reasoning, ...]:
    listed = read_details(keys, where, THOUGHTS) if DETAILS in keys else None
    found = [key for key in THOUGHTS if key in keys and _is_filled(keys[key])]
    told = [Reasoning(keys.pop(key), extra=_THOUGHTS[key]) for key in found]

    return tuple(told if listed is None else [*told, listed])


def _refused(keys: dict[str, Any]) -> tuple[Text, ...]:
    return (quick_text(keys.pop("refusal"), _REFUSED),) if _is_filled(keys.get("refusal")) else ()


def _sound(keys: dict[str, Any], where: str) -> tuple[Audio, ...]:
    match keys.get("audio"):
        case {"id": str(file), **inner} if file:
            del keys["audio"]
            fields: dict[str, Any] = {
                key: inner.pop(key) for key in _HEARD if _is_filled(inner.get(key))
            }
            shape = FILE | ({"sent": tuple(fields)} if fields else {})
            extra = kept(inner, shape, f"{where}.audio")
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
    shape: dict[str, Any] = {}
    call_id = read_id(keys, "tool_call_id", where, shape)
    keys.pop("tool_call_id", None)
    content, form = _told(keys, where)
    shape |= form
    is_error = False
    if isinstance(keys.get("is_error"), bool):
        is_error = keys.pop("is_error")
        shape["sent"] = ("is_error",)

    return quick_result(call_id, content, is_error, kept({}, shape, where) if shape else NO_JSON)


def _function_result(keys: dict[str, Any], where: str, functions: Functions) -> ToolResult:
    content, shape = _told(keys, where)
    name, given = keys.get("name"), keys.get("tool_call_id")
    if isinstance(given, str):  # a server that calls its tools functions
        del keys["tool_call_id"]
        return ToolResult(given, content, extra=function_result_extra(shape, sent=True))
    call_id = functions.id_of_result(name if isinstance(name, str) else "")

    return ToolResult(call_id, content, extra=function_result_extra(shape))


def _told(keys: dict[str, Any], where: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """
    What a result says, and the shape of its content.
    """
    words, form = _content(keys.pop("content", ...), where, "tool")
    content = tuple(
        [Opaque(NAME, write(part)) if isinstance(part, Reasoning) else part for part in words]
    )

    return content, {"content": form} if form else {}


def _is_filled(value: object) -> bool:
    return isinstance(value, str) and value != ""
