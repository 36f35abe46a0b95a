"""
The parts inside the content of a chat message, read and written.

A part is read into a typed one only when it can be given back exactly; any
other is kept whole as `Opaque`. Keys without a field, and the shape a part
came in, are kept in its `extra`. What came in a form that the API itself would
refuse has the hint "given", and is given back; other parts that the API has
no form for are left out, and `left_out` says why.
"""

from typing import Any, TypeAlias, assert_never

from unabridged.formats.extras import FILE, FOREIGN_FILE, Extras, Keys, refuse, taken
from unabridged.formats.listed_thoughts import parted, restored
from unabridged.formats.media import data_url, from_data_url, out_of_reach
from unabridged.json_values import json_of
from unabridged.messages import (
    Audio,
    Document,
    Image,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from unabridged.parts import quick_text
from unabridged.text import word

__all__ = [
    "DETAILS",
    "NAME",
    "THOUGHTS",
    "Words",
    "is_plain",
    "kept",
    "left_out",
    "own",
    "read",
    "write",
]

NAME = "openai_chat"
THOUGHTS = ("reasoning_content", "reasoning")  # keys of a message that hold reasoning as text
DETAILS = "reasoning_details"  # the key that holds it as a list

_ours = Extras(NAME)
kept, own, is_foreign = _ours.kept, _ours.own, _ours.is_foreign

Words: TypeAlias = Text | Image | Document | Audio | Reasoning | Opaque

_API = "the Chat API"
_GIVEN = {"given": "so"}
_NEVER_CALL = frozenset({"system", "developer", "user", "tool"})
_MEDIA_TYPES = {"mp3": "audio/mpeg"}
_AUDIO_FORMATS = {
    "": "wav",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/mpeg": "mp3",
}
_URLS = ("https://", "http://", "data:")


def is_plain(part: object) -> bool:
    """
    Whether *part* is a dict of words alone, which a string says as well.

    >>> is_plain({"type": "text", "text": "hi"})
    True
    """
    return (
        type(part) is dict
        and len(part) == 2  # noqa: PLR2004  type and text
        and part.get("type") == "text"
        and type(part.get("text")) is str
    )


def left_out(part: Part, role: str) -> str:
    """
    Why a message of this role cannot carry *part* here; "" if it can.

    For the content of a tool result the role is "tool".

    >>> left_out(Image(file="f1"), "user")
    'an image by file id: the Chat API takes it by data or URL'
    >>> left_out(Image(url="https://example.org/cat.png"), "tool")
    'an image: the Chat API takes them from users alone'
    >>> left_out(Text("hi"), "user")
    ''
    """
    match part:
        case Text() | ToolResult():
            return ""
        case ToolCall():
            return f"a call: {_API} takes them from assistants" if role in _NEVER_CALL else ""
        case Opaque():
            return _opaque_left_out(part)
        case Reasoning():
            return "" if "as" in own(part.extra) else "reasoning of another provider"
        case Image() | Document() | Audio():
            hints = own(part.extra) if part.extra else {}
            is_given = "given" in hints or hints.get("as") == "document_url"
            return "" if is_given else _media_left_out(part, role)
        case never:
            assert_never(never)


def _opaque_left_out(part: Opaque) -> str:
    if part.provider != NAME:
        return f"a part that only {word(part.provider)} understands"

    return "" if part.data.text.startswith("{") else "an opaque part that is no object"


def _media_left_out(part: Image | Document | Audio, role: str) -> str:
    match part:
        case Document() if part.text:
            return ""
        case Audio() if part.file and role == "assistant" and not is_foreign(part.extra):
            return ""
        case Image():
            what, wish = "an image", _image_wish(part)
        case Document():
            what, wish = "a document", "" if part.data or part.file else "by data or file id"
        case Audio():
            what, wish = "audio", _audio_wish(part)
    reason = "" if part.data else _reason_of_source(part)
    if reason:
        return f"{what}: {reason}"
    if wish:
        by = "URL" if part.url else "file id" if part.file else ""
        found = f"{what} by {by}" if by and not part.data else what
        return f"{found}: {_API} takes it {wish}"

    return "" if role == "user" else f"{what}: {_API} takes them from users alone"


def _reason_of_source(part: Image | Document | Audio) -> str:
    if part.file and is_foreign(part.extra):
        return FOREIGN_FILE

    return out_of_reach(part.url, NAME)


def _image_wish(part: Image) -> str:
    return "" if part.data or part.url.startswith(_URLS) else "by data or URL"


def _audio_wish(part: Audio) -> str:
    if not part.data:
        return "by data"

    return "" if part.media_type in _AUDIO_FORMATS else "as wav or mp3"


def read(part: Any, where: str, role: str = "user") -> Words:
    """
    The part in the content list of a message of this role.

    >>> read({"type": "thinking", "thinking": "first, look", "signature": "c2ln"}, "part").text
    'first, look'
    >>> read({"type": "video_url"}, "part")
    Opaque(provider='openai_chat', data=Json(text='{"type":"video_url"}'))
    """
    if isinstance(part, str):
        return quick_text(part, kept({}, {"as": "string"}, where))
    if not isinstance(part, dict):
        refuse(where, "an object", part)
    if part.get("type") == "text" and isinstance(part.get("text"), str):
        keys = part.copy()
        del keys["type"]
        return quick_text(keys.pop("text"), kept(keys, {}, where))
    found = _known(part, where, {})
    if found is not None and left_out(found, role):
        found = _known(part, where, _GIVEN)
    if found is not None and write(found) == part:
        return found

    return Opaque(NAME, json_of(part, where))


def _known(part: dict[str, Any], where: str, shape: dict[str, Any]) -> Words | None:
    match part:
        case {"type": "image_url", "image_url": {"url": str(url), **inner}, **keys} if url:
            detail = taken(inner, "detail")
            media_type, data = from_data_url(url)
            extra = kept(keys, _with(shape, inner), where)
            url = "" if data else url
            return Image(data, url, media_type=media_type, detail=detail, extra=extra)
        case {"type": "input_audio", "input_audio": {"data": str(data), **inner}, **keys} if data:
            form = taken(inner, "format")
            media_type = _MEDIA_TYPES.get(form, f"audio/{form}")
            return Audio(data, media_type=media_type, extra=kept(keys, _with(shape, inner), where))
        case {"type": "file", "file": {**inner}, **keys}:
            return _document(inner, keys, where, shape)
        case {"type": "document_url", "document_url": str(url), **keys} if url:
            media_type, data = from_data_url(url)
            name = taken(keys, "document_name")
            extra = kept(keys, {"as": "document_url"}, where)
            url = "" if data else url
            return Document(data, url, name=name, media_type=media_type, extra=extra)
        case _:
            return _own_words(part, where)


def _own_words(part: dict[str, Any], where: str) -> Text | Reasoning | None:
    match part:
        case {"type": "refusal", "refusal": str(text), **keys}:
            return Text(text, extra=kept(keys, {"as": "refusal"}, where))
        case {"type": "thinking", "thinking": str(text), **keys}:
            signature = taken(keys, "signature")
            return Reasoning(text, signature=signature, extra=kept(keys, {"as": "thinking"}, where))
        case {"type": "thinking", "thinking": list(chunks), **keys} if chunks:
            return _chunks(chunks, keys, where)
        case {"type": "redacted_thinking", "data": str(data), **keys}:
            return Reasoning(encrypted=data, extra=kept(keys, {"as": "redacted_thinking"}, where))
    return None


def _chunks(chunks: list[Any], keys: Keys, where: str) -> Reasoning | None:
    """
    Thinking in chunks, as Mistral sends it.
    """
    found = parted(chunks)
    if found is None or "signature" in keys:
        return None
    extra = kept(keys, {"as": "thinking", "inner": {"thinking": found[0]}}, where)

    return Reasoning(**found[1], extra=extra)


def _document(inner: Keys, keys: Keys, where: str, shape: dict[str, Any]) -> Document | None:
    file, name, text = (taken(inner, key) for key in ("file_id", "filename", "file_data"))
    if not file and not text:
        return None
    media_type, data = from_data_url(text)
    url = text if not data and text.startswith(("http://", "https://")) else ""
    if not data and not url:
        data, shape = text, shape | ({"data": "bare"} if text else {})
    shape = shape | FILE if file else shape
    extra = kept(keys, _with(shape, inner), where)

    return Document(data, url, file=file, name=name, media_type=media_type, extra=extra)


def _with(shape: dict[str, Any], inner: Keys) -> dict[str, Any]:
    return shape | {"inner": inner} if inner else shape


def write(part: Words) -> Any:
    """
    The part as a chat API takes it, a fresh dict; it is one that is not `left_out`.

    >>> write(Text("hi"))
    {'type': 'text', 'text': 'hi'}
    """
    if isinstance(part, Opaque):
        return part.data.value
    shape = own(part.extra) if part.extra else {}
    match part:
        case Text() if shape.get("as") == "string":
            return part.text
        case Text():
            kind = "refusal" if shape.get("as") == "refusal" else "text"
            form: dict[str, Any] = {"type": kind, kind: part.text}
        case Image():
            url = data_url(part.media_type or "image/png", part.data) if part.data else part.url
            detail = {"detail": part.detail} if part.detail else {}
            inner = {"url": url, **detail, **shape.get("inner", {})}
            form = {"type": "image_url", "image_url": inner}
        case Document():
            form = _file(part, shape)
        case Audio():
            form = _audio(part, shape.get("inner", {}))
        case Reasoning():
            form = _thought(part, shape)
        case never:
            assert_never(never)

    return form | shape.get("keys", {})


def _thought(part: Reasoning, shape: dict[str, Any]) -> dict[str, Any]:
    if shape.get("as") == "redacted_thinking":
        return {"type": "redacted_thinking", "data": part.encrypted}
    if (chunks := shape.get("inner", {}).get("thinking")) is not None:
        return {"type": "thinking", "thinking": restored(chunks, part, "text")}
    signed = {"signature": part.signature} if part.signature else {}

    return {"type": "thinking", "thinking": part.text, **signed}


def _audio(part: Audio, inner: dict[str, Any]) -> dict[str, Any]:
    media_type = part.media_type
    form = _AUDIO_FORMATS.get(media_type, media_type.removeprefix("audio/"))
    form_key = {"format": form} if form else {}

    return {"type": "input_audio", "input_audio": {"data": part.data, **form_key, **inner}}


def _file(part: Document, shape: dict[str, Any]) -> dict[str, Any]:
    if part.text:
        return {"type": "text", "text": part.text}
    if shape.get("as") == "document_url":
        url = data_url(part.media_type, part.data) if part.data else part.url
        named = {"document_name": part.name} if part.name else {}
        return {"type": "document_url", "document_url": url, **named}
    data = part.url
    if part.data:
        is_bare = shape.get("data") == "bare"
        data = part.data if is_bare else data_url(part.media_type or "application/pdf", part.data)
    file = "" if is_foreign(part.extra) else part.file
    fields = {"file_id": file, "filename": part.name, "file_data": data}

    return {
        "type": "file",
        "file": {key: value for key, value in fields.items() if value} | shape.get("inner", {}),
    }
