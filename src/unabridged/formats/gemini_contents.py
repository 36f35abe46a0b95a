"""
One content of Gemini, a role and parts, read and written.
"""

from typing import Any

from unabridged.errors import FormatError
from unabridged.formats.extras import Keys, refuse
from unabridged.formats.foreign import refuse_elsewhere
from unabridged.formats.gemini_calls import read_call, read_common_call, write_call
from unabridged.formats.gemini_keys import kept, own
from unabridged.formats.gemini_names import Names, is_made
from unabridged.formats.gemini_parts import kind_of, left_out, read, write
from unabridged.formats.gemini_results import read_common_result, read_result, write_result
from unabridged.messages import Message, Part, Text, ToolCall, ToolResult, quick_message
from unabridged.parts import NO_JSON, quick_text

__all__ = ["put_parts", "read_content", "read_part", "read_parts", "write_content", "write_parts"]

_MEANINGS = {"model": "assistant", "function": "tool"}
_MADE = ("user", "model")  # what dump writes of itself
_STRING = kept({}, {"as": "string"}, "part")


def read_content(turn: object, names: Names, where: str) -> Message:
    """
    The message in a content; *names* are those of the calls before it, and learn its calls.

    >>> read_content({"parts": [{"text": "hi"}]}, Names(), "contents[0]").role
    'user'
    """
    if not isinstance(turn, dict):
        refuse(where, "an object", turn)
    if len(turn) == 2:  # noqa: PLR2004  the commonest of all: a role and parts
        role, parts = turn.get("role"), turn.get("parts")
        if type(parts) is list and (role == "user" or role == "model"):  # noqa: PLR1714  faster
            found = _read_list(parts, names, where)
            return quick_message("user" if role == "user" else "assistant", found)

    keys, shape = turn.copy(), dict[str, Any]()
    meaning = _read_role(keys, shape, where)
    found = read_parts(keys, names, shape, where)

    return quick_message(meaning, found, None, None, NO_JSON, kept(keys, shape, where))


def read_parts(keys: Keys, names: Names, shape: Keys, where: str) -> tuple[Part, ...]:
    """
    The parts that *keys* hold, taken out; their form goes into *shape*.

    >>> read_parts({"parts": [{"text": "hi"}]}, Names(), {}, "contents[0]")
    (Text(text='hi'),)
    """
    parts = keys.pop("parts", ...)
    if isinstance(parts, list):
        return _read_list(parts, names, where)
    if isinstance(parts, str):
        shape["parts"] = "string"
        return (quick_text(parts),)
    if parts is not None and parts is not ...:
        refuse(f"{where}.parts", "a list", parts)
    if "content" in keys:
        msg = (
            f"{where}.parts: expected a list, got nothing; with `content` it is another API's form"
        )
        raise FormatError(msg)
    if parts is ...:
        refuse_elsewhere(keys, f"{where}.parts", "a list", nameless="role" in shape)
    shape["parts"] = "missing" if parts is ... else "null"

    return ()


def read_part(part: Any, names: Names, where: str) -> Part:
    """
    One part of any kind.

    >>> read_part({"functionCall": {"id": "c1", "name": "now"}}, Names(), "part").name
    'now'
    """
    if not isinstance(part, dict):
        if isinstance(part, str):  # as the library before google-genai took it
            return quick_text(part, _STRING)
        refuse(where, "an object", part)
    if len(part) == 1:
        text = part.get("text")
        if type(text) is str:
            return quick_text(text)
    common: Part | None = None
    if "functionCall" in part or "function_call" in part:
        common = read_common_call(part, names)
    elif "functionResponse" in part or "function_response" in part:
        common = read_common_result(part, names)
    if common is not None:
        return common
    kind = kind_of(part)
    if kind == "functionCall":
        return read_call(part, names, where)
    if kind == "functionResponse":
        return read_result(part, names, where)

    return read(part, kind, where)


def _read_list(parts: list[Any], names: Names, where: str) -> tuple[Part, ...]:
    found: list[Part] = []
    place = ""
    names.start()
    for at, part in enumerate(parts):
        if where:
            place = f"{where}.parts[{at}]"
        found.append(read_part(part, names, place))

    return tuple(found)


def write_content(message: Message, names: Names) -> dict[str, Any] | None:
    """
    The message as a content, a fresh dict; None when all of it is left out.

    >>> write_content(Message("assistant", "Hello!"), Names())
    {'role': 'model', 'parts': [{'text': 'Hello!'}]}
    """
    parts = write_parts(message, names)
    if message.parts and not parts:
        return None
    hints = own(message.extra) if message.extra else {}
    turn: dict[str, Any] = {}
    if hints.get("role") != "missing" or message.role != "user":
        turn["role"] = _role(message, hints.get("keys", {}))
    put_parts(turn, message, parts)
    for key, value in hints.get("keys", {}).items():
        turn.setdefault(key, value)

    return turn


def write_parts(message: Message, names: Names) -> list[Any]:
    """
    The parts of a message, but for those that are left out.

    >>> write_parts(Message("user", "hi"), Names())
    [{'text': 'hi'}]
    """
    parts: list[Any] = []
    for part in message.parts:
        match part:
            case ToolCall():
                names[part.id] = part.name
                lacks = own(part.extra).get("lacks", ()) if part.extra else ()
                names.sent(part.id, on="id" not in lacks or not is_made(part.id, part.name))
                parts.append(write_call(part))
            case ToolResult():
                parts.append(write_result(part, names, message.name))
            case _ if not left_out(part, message.role):
                parts.append(write(part))

    return parts


def put_parts(turn: Keys, message: Message, parts: list[Any]) -> None:
    """
    Put the written *parts* into *turn*, in the form that those of the *message* came in.

    >>> turn = {}
    >>> put_parts(turn, Message("user", "hi"), [{"text": "hi"}])
    >>> turn
    {'parts': [{'text': 'hi'}]}
    """
    form = own(message.extra).get("parts") if message.extra else None
    match message.parts:
        case () if form == "missing":
            return
        case () if form == "null":
            turn["parts"] = None
        case (Text(text=text, extra=extra),) if form == "string" and not extra:
            turn["parts"] = text
        case _:
            turn["parts"] = parts


def _read_role(keys: Keys, shape: Keys, where: str) -> str:
    """
    The role of a content; one that dump would not write by itself goes in front of *keys*.
    """
    role = keys.pop("role", ...)
    if role is ...:
        shape["role"] = "missing"
        return "user"
    if role is not None and (not isinstance(role, str) or not role.strip()):
        refuse(f"{where}.role", "a word such as 'user'", role)
    if role not in _MADE:
        others = keys.copy()
        keys.clear()
        keys |= {"role": role, **others}
    if role in {"system", "developer"}:
        shape["as"] = "turn"

    return _MEANINGS.get(role, role) if isinstance(role, str) else "user"


def _role(message: Message, keys: Keys) -> str | None:
    hinted: object = keys.get("role", ...)
    if hinted is None and message.role == "user":
        return None
    if isinstance(hinted, str) and _MEANINGS.get(hinted, hinted) == message.role:
        return hinted
    match message.role:
        case "user" | "tool" | "system" | "developer":
            return "user"
        case "assistant":
            return "model"
        case _:
            return "model" if message.tool_calls else "user"
