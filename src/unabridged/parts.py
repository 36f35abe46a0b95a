"""
Parts: what a message is made of.

A part that this library does not know is kept whole as `Opaque`; keys of a
provider's form that have no field here are kept in `extra`, under the name of
the format that read them. Nothing is dropped because it was not understood.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from attrs import field, frozen

from unabridged.errors import ConfigError
from unabridged.json_values import Json, json_of, sound_text

__all__ = [
    "NO_JSON",
    "Audio",
    "Document",
    "Image",
    "Opaque",
    "Part",
    "Reasoning",
    "Text",
    "ToolCall",
    "ToolResult",
    "as_parts",
    "kept_extra",
]

NO_JSON = Json()


def _label(value: object) -> str:
    return sound_text(value, "name, id or label of a part")


def kept_extra(value: object) -> Json:
    """
    The keys of a provider's form, as they are kept.
    """
    if type(value) is Json:
        return value

    return NO_JSON if value is None else json_of(value, "extra")


def _pixels(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        msg = f"width or height: expected pixels, an int of 0 (unknown) or more, got {value!r}"
        raise ConfigError(msg)

    return value


def _yes_or_no(value: object) -> bool:
    if not isinstance(value, bool):
        msg = f"is_error: expected True or False, got {value!r}"
        raise ConfigError(msg)

    return value


def _arguments(value: object) -> str:
    if isinstance(value, Mapping):
        return json_of(dict(value), "arguments").text

    return sound_text(value, "arguments")


@frozen
class Text:
    """
    Words.

    >>> Text("hello").text
    'hello'
    """

    text: str = field(converter=_label)
    extra: Json = field(default=NO_JSON, converter=kept_extra, kw_only=True, repr=False, hash=False)


@frozen
class Image:
    """
    A picture, as base64 *data*, a *url*, or a provider's *file* id.

    *width* and *height* are pixels; a counter needs them for an exact figure.

    >>> Image(url="https://example.org/cat.png", detail="low").detail
    'low'
    """

    data: str = field(default="", converter=_label, repr=lambda data: f"<{len(data)} characters>")
    url: str = field(default="", converter=_label)
    file: str = field(default="", converter=_label, kw_only=True)
    media_type: str = field(default="", converter=_label, kw_only=True)
    detail: str = field(default="", converter=_label, kw_only=True)
    width: int = field(default=0, converter=_pixels, kw_only=True)
    height: int = field(default=0, converter=_pixels, kw_only=True)
    extra: Json = field(default=NO_JSON, converter=kept_extra, kw_only=True, repr=False, hash=False)


@frozen
class Document:
    """
    A file, such as a PDF, as base64 *data*, plain *text*, a *url*, or a provider's *file* id.

    >>> Document(url="https://example.org/a.pdf", name="a.pdf").name
    'a.pdf'
    """

    data: str = field(default="", converter=_label, repr=lambda data: f"<{len(data)} characters>")
    url: str = field(default="", converter=_label)
    file: str = field(default="", converter=_label, kw_only=True)
    text: str = field(default="", converter=_label, kw_only=True)
    media_type: str = field(default="", converter=_label, kw_only=True)
    name: str = field(default="", converter=_label, kw_only=True)
    extra: Json = field(default=NO_JSON, converter=kept_extra, kw_only=True, repr=False, hash=False)


@frozen
class Audio:
    """
    Sound, as base64 *data*, a *url*, or a provider's *file* id.

    >>> Audio(file="audio_1", transcript="Good morning").transcript
    'Good morning'
    """

    data: str = field(default="", converter=_label, repr=lambda data: f"<{len(data)} characters>")
    url: str = field(default="", converter=_label)
    file: str = field(default="", converter=_label, kw_only=True)
    media_type: str = field(default="", converter=_label, kw_only=True)
    transcript: str = field(default="", converter=_label, kw_only=True)
    extra: Json = field(default=NO_JSON, converter=kept_extra, kw_only=True, repr=False, hash=False)


@frozen
class Reasoning:
    """
    What a model thought before it answered.

    A *signature* or an *encrypted* payload is kept byte for byte, since the
    provider refuses it altered.

    >>> Reasoning("first, look", signature="c2ln==").signature
    'c2ln=='
    """

    text: str = field(default="", converter=_label)
    signature: str = field(default="", converter=_label, kw_only=True)
    encrypted: str = field(default="", converter=_label, kw_only=True)
    extra: Json = field(default=NO_JSON, converter=kept_extra, kw_only=True, repr=False, hash=False)


@frozen
class ToolCall:
    """
    A model's wish to run a tool; *arguments* stay the provider's JSON text.

    >>> ToolCall("c1", "weather", {"city": "Lima"}).arguments
    '{"city":"Lima"}'
    """

    id: str = field(converter=_label)
    name: str = field(converter=_label)
    arguments: str = field(default="{}", converter=_arguments)
    extra: Json = field(default=NO_JSON, converter=kept_extra, kw_only=True, repr=False, hash=False)


@frozen
class Opaque:
    """
    A part that only its *provider* understands, kept whole and given back.

    >>> Opaque("anthropic", {"type": "server_tool_use"}).data.value
    {'type': 'server_tool_use'}
    """

    provider: str = field(converter=_label)
    data: Json = field(converter=json_of)


def _result_parts(value: object) -> "tuple[Text | Image | Document | Audio | Opaque, ...]":
    parts = as_parts(value, "a tool result's content")
    for part in parts:
        if not isinstance(part, Text | Image | Document | Audio | Opaque):
            msg = f"a tool result cannot hold a {type(part).__name__}"
            raise ConfigError(msg)

    return parts  # type: ignore[return-value]


@frozen
class ToolResult:
    """
    What a tool gave back for the call *call_id*.

    >>> ToolResult("c1", "sunny").text
    'sunny'
    """

    call_id: str = field(converter=_label)
    content: "tuple[Text | Image | Document | Audio | Opaque, ...]" = field(
        default=(), converter=_result_parts
    )
    is_error: bool = field(default=False, converter=_yes_or_no, kw_only=True)
    extra: Json = field(default=NO_JSON, converter=kept_extra, kw_only=True, repr=False, hash=False)

    @property
    def text(self) -> str:
        """
        The words of the result.
        """
        return "".join(part.text for part in self.content if isinstance(part, Text))


Part: TypeAlias = Text | Image | Document | Audio | Reasoning | ToolCall | ToolResult | Opaque
_PARTS = (Text, Image, Document, Audio, Reasoning, ToolCall, ToolResult, Opaque)


def as_parts(value: object, where: str) -> tuple[Part, ...]:
    """
    Parts of whatever may stand for them: text, a part, several of these.
    """
    match value:
        case str():
            return (Text(value),)
        case tuple() if all(isinstance(part, _PARTS) for part in value):
            return value
        case part if isinstance(part, _PARTS):
            return (part,)
        case Iterable() if not isinstance(value, bytes | Mapping):
            parts = tuple(Text(part) if isinstance(part, str) else part for part in value)
            wrong = next((part for part in parts if not isinstance(part, _PARTS)), None)
            if wrong is None:
                return parts
            value = wrong
    msg = (
        f"{where}: expected text or parts (Text, Image, ToolCall, …), "
        f"got {type(value).__name__}; formats.*.load reads a provider's dicts"
    )
    raise ConfigError(msg)
