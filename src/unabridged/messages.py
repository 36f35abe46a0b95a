"""
Messages: a role, parts, and what a caller wants to keep beside them.

A part that this library does not know is kept whole as `Opaque`; keys of a
provider's form that have no field here are kept in `extra`, under the name of
the format that read them. Nothing is dropped because it was not understood.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from attrs import field, frozen

from unabridged.errors import ConfigError
from unabridged.json_values import Json, json_of, sound_text

__all__ = [
    "Audio",
    "Document",
    "Image",
    "Json",
    "Message",
    "Opaque",
    "Part",
    "Reasoning",
    "Text",
    "ToolCall",
    "ToolResult",
    "assistant",
    "system",
    "tool",
    "user",
]

NO_JSON = Json()


def _text(value: object, where: Any = None) -> str:
    return sound_text(value, getattr(where, "name", "text"))


def _label(value: object) -> str:
    return sound_text(value, "name, id or label of a part")


def _maybe_text(value: object) -> str | None:
    return None if value is None else sound_text(value, "name or id")


def _extra(value: object) -> Json:
    if type(value) is Json:
        return value

    return NO_JSON if value is None else json_of(value, "extra")


def _metadata(value: object) -> Json:
    if type(value) is Json:
        return value
    if value is None or value == {}:
        return NO_JSON
    if not isinstance(value, Mapping):
        msg = f"metadata: expected a dict, got {type(value).__name__}"
        raise ConfigError(msg)

    return json_of(dict(value), "metadata")


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
    extra: Json = field(default=NO_JSON, converter=_extra, kw_only=True, repr=False)


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
    extra: Json = field(default=NO_JSON, converter=_extra, kw_only=True, repr=False)


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
    extra: Json = field(default=NO_JSON, converter=_extra, kw_only=True, repr=False)


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
    extra: Json = field(default=NO_JSON, converter=_extra, kw_only=True, repr=False)


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
    extra: Json = field(default=NO_JSON, converter=_extra, kw_only=True, repr=False)


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
    extra: Json = field(default=NO_JSON, converter=_extra, kw_only=True, repr=False)


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
    parts = _as_parts(value, "a tool result's content")
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
    extra: Json = field(default=NO_JSON, converter=_extra, kw_only=True, repr=False)

    @property
    def text(self) -> str:
        """
        The words of the result.
        """
        return "".join(part.text for part in self.content if isinstance(part, Text))


Part: TypeAlias = Text | Image | Document | Audio | Reasoning | ToolCall | ToolResult | Opaque
_PARTS = (Text, Image, Document, Audio, Reasoning, ToolCall, ToolResult, Opaque)


def _as_parts(value: object, where: str) -> tuple[Part, ...]:
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


def _message_parts(value: object) -> tuple[Part, ...]:
    return _as_parts(value, "a message's content")


def _role(value: object) -> str:
    role = sound_text(value, "role")
    if not role.strip():
        msg = f"role: expected a word such as 'user', got {value!r}"
        raise ConfigError(msg)

    return role


@frozen(cache_hash=True)
class Message:
    """
    One message of a conversation.

    The *role* is any word; system, developer, user, assistant and tool have a
    meaning. An *id* makes a retry safe: the same message is kept once.
    *metadata* is yours: kept, never sent, never counted.

    Raises:
        ConfigError: a field holds what JSON cannot; the text names its path.

    >>> str(Message("assistant", (Text("Looking."), ToolCall("c1", "find", '{"q": 1}'))))
    'assistant: Looking. [tool calls: find({"q": 1})]'
    """

    role: str = field(converter=_role)
    parts: tuple[Part, ...] = field(default=(), converter=_message_parts)
    name: str | None = field(default=None, converter=_maybe_text, kw_only=True)
    id: str | None = field(default=None, converter=_maybe_text, kw_only=True)
    metadata: Json = field(default=NO_JSON, converter=_metadata, kw_only=True)
    extra: Json = field(default=NO_JSON, converter=_extra, kw_only=True, repr=False)

    @property
    def text(self) -> str:
        """
        The words of the message and of the tool results in it.
        """
        return "".join(part.text for part in self.parts if isinstance(part, Text | ToolResult))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """
        The calls in it.
        """
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """
        The results in it.
        """
        return tuple(part for part in self.parts if isinstance(part, ToolResult))

    @property
    def reasoning(self) -> tuple[Reasoning, ...]:
        """
        The reasoning in it.
        """
        return tuple(part for part in self.parts if isinstance(part, Reasoning))

    def counted_text(self) -> str:
        """
        What a counter of text counts.

        Words and reasoning, then each call as `name(arguments)`, then the ids of
        the calls that are answered; one a line, empty ones left out.

        >>> print(tool("sunny", call_id="c1").counted_text())
        sunny
        c1
        """
        lines = [
            self.text,
            *(thought.text for thought in self.reasoning),
            *(f"{call.name}({call.arguments})" for call in self.tool_calls),
            *(result.call_id for result in self.tool_results),
        ]
        return "\n".join(line for line in lines if line)

    def __str__(self) -> str:
        calls = ", ".join(f"{call.name}({call.arguments})" for call in self.tool_calls)
        return f"{self.role}: {self.text}" + (f" [tool calls: {calls}]" if calls else "")


def system(
    content: str | Part | Iterable[str | Part],
    *,
    name: str | None = None,
    id: str | None = None,  # noqa: A002  the field's name
    metadata: Mapping[str, Any] | Json | None = None,
) -> Message:
    """
    A system message: pinned when it is appended.

    >>> str(system("Be brief."))
    'system: Be brief.'
    """
    return Message("system", content, name=name, id=id, metadata=metadata)


def user(
    content: str | Part | Iterable[str | Part],
    *,
    name: str | None = None,
    id: str | None = None,  # noqa: A002  the field's name
    metadata: Mapping[str, Any] | Json | None = None,
) -> Message:
    """
    A user's message: words, pictures, documents.

    >>> user(["What is this?", Image(url="https://example.org/cat.png")]).text
    'What is this?'
    """
    return Message("user", content, name=name, id=id, metadata=metadata)


def assistant(
    content: str | Part | Iterable[str | Part] = (),
    *,
    calls: Iterable[ToolCall] = (),
    name: str | None = None,
    id: str | None = None,  # noqa: A002  the field's name
    metadata: Mapping[str, Any] | Json | None = None,
) -> Message:
    """
    A model's answer, with the *calls* it makes.

    >>> str(assistant(calls=[ToolCall("c1", "weather", {"city": "Lima"})]))
    'assistant:  [tool calls: weather({"city":"Lima"})]'
    """
    parts = (*_message_parts(content), *calls)
    return Message("assistant", parts, name=name, id=id, metadata=metadata)


def tool(  # noqa: PLR0913  every one but the first is a keyword
    content: str | Text | Image | Document | Audio | Opaque | Iterable[Any] = (),
    *,
    call_id: str,
    is_error: bool = False,
    name: str | None = None,
    id: str | None = None,  # noqa: A002  the field's name
    metadata: Mapping[str, Any] | Json | None = None,
) -> Message:
    """
    A tool's answer to the call *call_id*.

    >>> tool("sunny", call_id="c1").tool_results[0].call_id
    'c1'
    """
    result = ToolResult(call_id, content, is_error=is_error)
    return Message("tool", result, name=name, id=id, metadata=metadata)
