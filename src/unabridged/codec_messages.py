"""
Messages and their parts to JSON and back; `codec` is the door to it.

Defaults are left out and plain words are bare strings, so that rows are short.
`Json` is written as a string of its text: key order and the spelling of
numbers survive any store. A key that is not known is damage, never dropped.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from unabridged.damage import DAMAGE, damage
from unabridged.errors import ConfigError, CorruptLogError
from unabridged.json_values import Json
from unabridged.messages import (
    Audio,
    Document,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from unabridged.text import brief

__all__ = ["Data", "message_data", "message_from_json", "message_of", "message_to_json"]

Data: TypeAlias = dict[str, Any]

_TYPES: dict[type[Part], tuple[str, tuple[str, ...]]] = {
    Image: ("image", ("data", "url", "file", "media_type", "detail", "width", "height")),
    Document: ("document", ("data", "url", "file", "text", "media_type", "name")),
    Audio: ("audio", ("data", "url", "file", "media_type", "transcript")),
    Reasoning: ("reasoning", ("text", "signature", "encrypted")),
}


def message_to_json(message: Message) -> Data:
    """
    The message as a dict that `json.dumps` takes.

    >>> from unabridged import user
    >>> message_to_json(user("hi", metadata={"page": 3}))
    {'role': 'user', 'parts': ['hi'], 'metadata': '{"page":3}'}
    """
    return message_data(message)


def message_from_json(data: Mapping[str, Any]) -> Message:
    """
    The message that `message_to_json` gave.

    Raises:
        CorruptLogError: it is damaged.

    >>> message_from_json({"role": "user", "parts": ["hi"]}).text
    'hi'
    """
    try:
        return message_of(data)
    except DAMAGE as error:
        msg = f"message: {damage(error)}"
        raise CorruptLogError(msg) from error


def message_data(message: Message) -> Data:
    """
    As `message_to_json`.
    """
    data: Data = {"role": message.role}
    if message.parts:
        data["parts"] = [
            part.text if type(part) is Text and not part.extra else _part_data(part)
            for part in message.parts
        ]
    if message.name is not None:
        data["name"] = message.name
    if message.id is not None:
        data["id"] = message.id
    if message.metadata:
        data["metadata"] = message.metadata.text
    if message.extra:
        data["extra"] = message.extra.text

    return data


def _part_data(part: Part) -> Data | str:
    match part:
        case Text():
            if not part.extra:
                return part.text
            data: Data = {"type": "text", "text": part.text}
        case ToolCall():
            data = {"type": "call", "id": part.id, "name": part.name}
            if part.arguments != "{}":
                data["arguments"] = part.arguments
        case ToolResult():
            data = {"type": "result", "call_id": part.call_id}
            if part.content:
                data["content"] = [_part_data(inner) for inner in part.content]
            if part.is_error:
                data["is_error"] = True
        case Opaque():
            return {"type": "opaque", "provider": part.provider, "data": part.data.text}
        case _:
            kind, names = _TYPES[type(part)]
            data = {"type": kind}
            data |= {name: value for name in names if (value := getattr(part, name))}
    if part.extra:
        data["extra"] = part.extra.text

    return data


def message_of(data: Mapping[str, Any]) -> Message:
    """
    As `message_from_json`; damage raises whatever it leads to.
    """
    keys = {**data}
    role = keys.pop("role")
    parts = tuple(
        [
            Text(part) if type(part) is str else _part_of(part)
            for part in _listed(keys.pop("parts", ()))
        ]
    )
    if not keys:
        return Message(role, parts)
    for name in ("metadata", "extra"):
        if name in keys:
            keys[name] = Json(keys[name])

    return Message(role, parts, **keys)


def _part_of(data: Any) -> Any:
    if type(data) is str:
        return Text(data)
    keys = {**data}
    kind = keys.pop("type")
    make = _MAKERS.get(kind)
    if make is None:
        msg = f"a part is of the unknown type {brief(kind)}"
        raise ConfigError(msg)
    if "extra" in keys:
        keys["extra"] = Json(keys["extra"])

    return make(**keys)


def _opaque(*, provider: str, data: str) -> Opaque:
    return Opaque(provider, Json(data))


def _image(*, width: int = 0, height: int = 0, **keys: Any) -> Image:
    if type(width) is not int or type(height) is not int:
        msg = (
            f"an image's width and height are whole numbers, not {brief(width)} and {brief(height)}"
        )
        raise ConfigError(msg)

    return Image(width=width, height=height, **keys)


def _result(*, call_id: str, content: Any = (), is_error: bool = False, **keys: Any) -> ToolResult:
    parts = tuple(_part_of(part) for part in _listed(content))
    return ToolResult(call_id, parts, is_error=is_error is True, **keys)


def _listed(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return value
    msg = f"a list of parts is a {type(value).__name__}"
    raise ConfigError(msg)


_MAKERS: dict[str, Callable[..., Part]] = {
    "text": Text,
    "image": _image,
    "document": Document,
    "audio": Audio,
    "reasoning": Reasoning,
    "call": ToolCall,
    "result": _result,
    "opaque": _opaque,
}
