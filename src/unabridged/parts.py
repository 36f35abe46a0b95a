"""
Parts: what a message is made of.

A part that this library does not know is kept whole as `Opaque`; keys of a
provider's form that have no field here are kept in `extra`, under the name of
the format that read them. Nothing is dropped because it was not understood.

Eight values, and a quick builder for most of them, make the length of this module.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from attrs import field, frozen

from unabridged.errors import ConfigError, FormatError, UnabridgedError
from unabridged.json_values import (
    Json,
    JsonValue,
    joined,
    json_object,
    json_of,
    object_in,
    sound_text,
)
from unabridged.text import brief, cause
from unabridged.text.names import with_named_init

__all__ = [
    "NO_JSON",
    "Audio",
    "Content",
    "Document",
    "Image",
    "Opaque",
    "Part",
    "Reasoning",
    "Text",
    "ToolCall",
    "ToolResult",
    "as_parts",
    "blank",
    "kept_extra",
    "quick_call",
    "quick_opaque",
    "quick_reasoning",
    "quick_result",
    "quick_text",
]

NO_JSON = Json()
_NO_OBJECT = (
    "call `{0.id:.80}` of `{0.name:.80}`: its arguments are not a JSON object, but "
    "{0.arguments!r:.80}; `arguments` has the text"
)


def _label(value: str) -> str:
    if type(value) is str and value.isascii():
        return value

    return sound_text(value, "name, id or label of a part")


def kept_extra(value: Mapping[str, Any] | Json | None) -> Json:
    """
    The keys of a provider's form, as they are kept.
    """
    if type(value) is Json:
        return value

    return NO_JSON if value is None else json_of(value, "extra")


def _pixels(value: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        msg = f"width or height: expected pixels, an int of 0 (unknown) or more, got {brief(value)}"
        raise ConfigError(msg)

    return value


def _yes_or_no(value: bool) -> bool:
    if not isinstance(value, bool):
        msg = f"is_error: expected True or False, got {brief(value)}"
        raise ConfigError(msg)

    return value


def _arguments(value: str | Mapping[str, Any]) -> str:
    if isinstance(value, Mapping):
        return json_object(value, "arguments").text

    return sound_text(value, "arguments")


def _data(value: JsonValue | Json) -> Json:
    return json_of(value)


@with_named_init
@frozen(weakref_slot=False)
class Text:
    """
    Words, the *text*; as in every part, *extra* holds a provider's own keys.

    >>> Text("hello").text
    'hello'
    """

    text: str = field(converter=_label)
    extra: Json = field(default=NO_JSON, converter=kept_extra, kw_only=True, repr=False, hash=False)


@with_named_init
@frozen(weakref_slot=False)
class Image:
    """
    A picture, as base64 *data*, a *url*, or a provider's *file* id.

    *media_type* is as in "image/png". *width* and *height* are pixels; a counter
    needs them for an exact figure. *extra* holds a provider's own keys.

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


@with_named_init
@frozen(weakref_slot=False)
class Document:
    """
    A file, such as a PDF, as base64 *data*, plain *text*, a *url*, or a provider's *file* id.

    *media_type* is as in "application/pdf"; *extra* holds a provider's own keys.

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


@with_named_init
@frozen(weakref_slot=False)
class Audio:
    """
    Sound, as base64 *data*, a *url*, or a provider's *file* id.

    *media_type* is as in "audio/wav"; *extra* holds a provider's own keys.

    >>> Audio(file="audio_1", transcript="Good morning").transcript
    'Good morning'
    """

    data: str = field(default="", converter=_label, repr=lambda data: f"<{len(data)} characters>")
    url: str = field(default="", converter=_label)
    file: str = field(default="", converter=_label, kw_only=True)
    media_type: str = field(default="", converter=_label, kw_only=True)
    transcript: str = field(default="", converter=_label, kw_only=True)
    extra: Json = field(default=NO_JSON, converter=kept_extra, kw_only=True, repr=False, hash=False)


@with_named_init
@frozen(weakref_slot=False)
class Reasoning:
    """
    What a model thought before it answered, as far as its *text* was told.

    A *signature* or an *encrypted* payload is kept byte for byte, since the
    provider refuses it altered. *extra* holds a provider's own keys.

    >>> Reasoning("first, look", signature="c2ln==").signature
    'c2ln=='
    """

    text: str = field(default="", converter=_label)
    signature: str = field(default="", converter=_label, kw_only=True)
    encrypted: str = field(default="", converter=_label, kw_only=True)
    extra: Json = field(default=NO_JSON, converter=kept_extra, kw_only=True, repr=False, hash=False)


@with_named_init
@frozen(weakref_slot=False)
class ToolCall:
    """
    A model's wish to run the tool *name*; *id* is what its result names.

    *arguments* stay the provider's JSON text, which `args` parses; *extra* holds
    a provider's own keys.

    >>> ToolCall("c1", "weather", {"city": "Lima"}).arguments
    '{"city":"Lima"}'
    """

    id: str = field(converter=_label)
    name: str = field(converter=_label)
    arguments: str = field(default="{}", converter=_arguments)
    extra: Json = field(default=NO_JSON, converter=kept_extra, kw_only=True, repr=False, hash=False)

    @property
    def args(self) -> dict[str, Any]:
        """
        The arguments, parsed: keyword arguments for the tool, a fresh dict each time.

        Some models write nothing where a tool takes none: then it is empty.

        Raises:
            FormatError: they are not a JSON object; the text names the call.

        >>> ToolCall("c1", "weather", '{"city": "Lima"}').args
        {'city': 'Lima'}
        >>> ToolCall("c1", "weather", '{"city": ').args
        Traceback (most recent call last):
        unabridged.errors.FormatError: call `c1` of `weather`: its arguments are not a JSON \
object, but '{"city": '; `arguments` has the text
        """
        found = object_in(self.arguments) if self.arguments.strip() else {}
        if found is None:
            raise FormatError(_NO_OBJECT.format(self))

        return found


@with_named_init
@frozen(weakref_slot=False)
class Opaque:
    """
    A part that only its *provider* understands: its *data* is kept whole and given back.

    >>> Opaque("anthropic", {"type": "server_tool_use"}).data.value
    {'type': 'server_tool_use'}
    """

    provider: str = field(converter=_label)
    data: Json = field(converter=_data)


Content: TypeAlias = Text | Image | Document | Audio | Opaque
_CONTENT = (Text, Image, Document, Audio, Opaque)


def _result_parts(value: "str | Content | Iterable[str | Content]") -> tuple[Content, ...]:
    parts = as_parts(value, "a tool result's content")
    for part in parts:
        if not isinstance(part, _CONTENT):
            msg = f"a tool result cannot hold a {type(part).__name__}"
            raise ConfigError(msg)

    return parts  # type: ignore[return-value]


@with_named_init
@frozen(weakref_slot=False)
class ToolResult:
    """
    What a tool gave back for the call *call_id*: its *content*, or what went wrong (*is_error*).

    *extra* holds a provider's own keys.

    >>> ToolResult("c1", "sunny").text
    'sunny'
    """

    call_id: str = field(converter=_label)
    content: tuple[Content, ...] = field(default=(), converter=_result_parts)
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
_KINDS = frozenset(_PARTS)


def as_parts(value: object, where: str) -> tuple[Part, ...]:
    """
    Parts of whatever may stand for them: text, a part, several of these.
    """
    match value:
        case str():
            return (Text(value),)
        case tuple() if {*map(type, value)} <= _KINDS:
            return value
        case part if isinstance(part, _PARTS):
            return (part,)
        case Iterable() if not isinstance(value, bytes | Mapping):
            parts, wrong = _parts_until_wrong(value, where)
            if wrong is ...:
                return parts
            value = wrong
    msg = (
        f"{where}: expected text or parts (Text, Image, ToolCall, …), "
        f"got {type(value).__name__}; formats.*.load reads a provider's dicts"
    )
    raise ConfigError(msg)


def _parts_until_wrong(value: Iterable[Any], where: str) -> tuple[tuple[Part, ...], object]:
    """
    The parts in *value* up to the first that is none, and that one; `...` where all are.
    """
    parts: list[Part] = []
    try:
        for part in value:
            if not isinstance(part, (str, *_PARTS)):
                return (), part
            parts.append(Text(part) if isinstance(part, str) else part)
    except UnabridgedError:
        raise
    except Exception as error:
        msg = f"{where}: reading it raised {type(error).__name__}: {cause(error)}"
        raise ConfigError(msg) from error

    return tuple(parts), ...


def blank(kind: type) -> Callable[[], Any]:
    """
    What makes an object that is laid out as the frozen *kind*, and can still be filled in.

    Once filled in it is made one of the kind by setting its `__class__`, which
    Python allows between classes of the same slots. A frozen class sets each
    field a slow way round, which takes three times as long.

    >>> text = blank(Text)()
    >>> text.text, text.extra, text.__class__ = "hi", NO_JSON, Text
    >>> text == Text("hi")
    True
    """
    return type(f"Blank{kind.__name__}", kind.__bases__, {"__slots__": vars(kind)["__slots__"]})


_blank_text, _blank_call, _blank_result = blank(Text), blank(ToolCall), blank(ToolResult)
_blank_reasoning, _blank_opaque = blank(Reasoning), blank(Opaque)


def quick_text(text: str, extra: Json = NO_JSON, /) -> Text:
    """
    `Text(text, extra=extra)`, at a third of the cost.

    Each field is set as it comes. That is safe where a reader has looked at
    the types already; surrogates, which a `str` may always hold, are joined
    here too. So the value is equal in every way to what the class builds.

    >>> quick_text("hi") == Text("hi")
    True
    """
    if not text.isascii():
        try:
            text.encode()  # as `joined` does, without a call of it for every word of Chinese
        except UnicodeEncodeError:
            text = joined(text)
    part = _blank_text()
    part.text = text
    part.extra = extra
    part.__class__ = Text

    return part  # type: ignore[no-any-return]


def quick_reasoning(
    text: str, signature: str, encrypted: str, extra: Json = NO_JSON, /
) -> Reasoning:
    """
    `Reasoning(text, signature=…, encrypted=…, extra=extra)`, as `quick_text` builds a text.

    >>> quick_reasoning("hm", "c2ln", "") == Reasoning("hm", signature="c2ln")
    True
    """
    part = _blank_reasoning()
    part.text = text if text.isascii() else joined(text)
    part.signature = signature if signature.isascii() else joined(signature)
    part.encrypted = encrypted if encrypted.isascii() else joined(encrypted)
    part.extra = extra
    part.__class__ = Reasoning

    return part  # type: ignore[no-any-return]


def quick_call(id_: str, name: str, arguments: str, extra: Json = NO_JSON, /) -> ToolCall:
    """
    `ToolCall(id_, name, arguments, extra=extra)`, as `quick_text` builds a text.

    >>> quick_call("c1", "now", "{}") == ToolCall("c1", "now")
    True
    """
    part = _blank_call()
    part.id = id_ if id_.isascii() else joined(id_)
    part.name = name if name.isascii() else joined(name)
    part.arguments = arguments if arguments.isascii() else joined(arguments)
    part.extra = extra
    part.__class__ = ToolCall

    return part  # type: ignore[no-any-return]


def quick_opaque(provider: str, data: Json, /) -> Opaque:
    """
    `Opaque(provider, data)`, as `quick_text` builds a text.

    >>> quick_opaque("gemini", Json("{}")) == Opaque("gemini", {})
    True
    """
    part = _blank_opaque()
    part.provider = provider if provider.isascii() else joined(provider)
    part.data = data
    part.__class__ = Opaque

    return part  # type: ignore[no-any-return]


def quick_result(
    call_id: str,
    content: tuple[Content, ...],
    is_error: bool = False,  # noqa: FBT002  positional alone, as all of them
    extra: Json = NO_JSON,
    /,
) -> ToolResult:
    """
    `ToolResult(call_id, content, is_error=is_error, extra=extra)`, as `quick_text` builds a text.

    >>> quick_result("c1", (quick_text("sunny"),)) == ToolResult("c1", "sunny")
    True
    """
    part = _blank_result()
    part.call_id = call_id if call_id.isascii() else joined(call_id)
    part.content = content
    part.is_error = is_error
    part.extra = extra
    part.__class__ = ToolResult

    return part  # type: ignore[no-any-return]
