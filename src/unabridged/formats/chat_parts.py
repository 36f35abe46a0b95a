"""
The parts inside the content of a chat message, read and written.

A part is read into a typed one only when it can be given back exactly; any
other is kept whole as `Opaque`. Keys without a field, and the shape a part
came in, are kept in its `extra`.
"""

from typing import Any, TypeAlias, assert_never

from unabridged.errors import FormatError
from unabridged.formats.extras import Extras, Keys, refuse
from unabridged.json_values import json_of
from unabridged.messages import Audio, Document, Image, Opaque, Reasoning, Text

__all__ = [
    "NAME",
    "Words",
    "is_foreign",
    "is_plain",
    "kept",
    "own",
    "read",
    "write",
]

NAME = "openai_chat"

_ours = Extras(NAME)
kept, own = _ours.kept, _ours.own

Words: TypeAlias = Text | Image | Document | Audio | Reasoning | Opaque

_MEDIA_TYPES = {"mp3": "audio/mpeg"}
_AUDIO_FORMATS = {"audio/mpeg": "mp3", "audio/x-wav": "wav", "audio/wave": "wav"}


def is_plain(part: object) -> bool:
    """
    Whether *part* is a dict of words alone, which a string says as well.

    >>> is_plain({"type": "text", "text": "hi"})
    True
    """
    return (
        isinstance(part, dict)
        and len(part) == 2  # noqa: PLR2004  type and text
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
    )


def is_foreign(part: Words) -> bool:
    """
    Whether only another provider understands *part*.

    >>> is_foreign(Opaque("anthropic", {"type": "server_tool_use"}))
    True
    """
    if isinstance(part, Opaque):
        return part.provider != NAME

    return isinstance(part, Reasoning) and "as" not in own(part.extra)


def read(part: Any, where: str) -> Words:
    """
    The part in a chat API's content list.

    >>> read({"type": "thinking", "thinking": "first, look", "signature": "c2ln"}, "part").text
    'first, look'
    >>> read({"type": "video_url"}, "part")
    Opaque(provider='openai_chat', data=Json(text='{"type":"video_url"}'))
    """
    if isinstance(part, str):
        return Text(part, extra=kept({}, {"as": "string"}, where))
    if not isinstance(part, dict):
        refuse(where, "an object", part)
    match part:
        case {"type": "text", "text": str(text), **keys}:
            return Text(text, extra=kept(keys, {}, where))
    found = _known(part, where)
    if found is not None and write(found, where) == part:
        return found

    return Opaque(NAME, json_of(part, where))


def _known(part: dict[str, Any], where: str) -> Words | None:
    match part:
        case {"type": "image_url", "image_url": {"url": str(url), **inner}, **keys} if url:
            detail = _taken(inner, "detail")
            media_type, data = _data_url(url)
            extra = kept(keys, {"inner": inner} if inner else {}, where)
            url = "" if data else url
            return Image(data, url, media_type=media_type, detail=detail, extra=extra)
        case {"type": "input_audio", "input_audio": {"data": str(data), **inner}, **keys} if data:
            form = _taken(inner, "format")
            media_type = _MEDIA_TYPES.get(form, f"audio/{form}")
            extra = kept(keys, {"inner": inner} if inner else {}, where)
            return Audio(data, media_type=media_type, extra=extra)
        case {"type": "file", "file": {**inner}, **keys}:
            return _document(inner, keys, where)
        case {"type": "thinking", "thinking": str(text), **keys}:
            signature = _taken(keys, "signature")
            return Reasoning(text, signature=signature, extra=kept(keys, {"as": "thinking"}, where))
        case {"type": "redacted_thinking", "data": str(data), **keys}:
            return Reasoning(encrypted=data, extra=kept(keys, {"as": "redacted_thinking"}, where))
    return None


def _document(inner: Keys, keys: Keys, where: str) -> Document | None:
    file, name, text = (_taken(inner, key) for key in ("file_id", "filename", "file_data"))
    if not file and not text:
        return None
    media_type, data = _data_url(text)
    url = text if not data and text.startswith(("http://", "https://")) else ""
    shape: dict[str, Any] = {"inner": inner} if inner else {}
    if not data and not url:
        data, shape = text, shape | ({"data": "bare"} if text else {})

    return Document(
        data, url, file=file, name=name, media_type=media_type, extra=kept(keys, shape, where)
    )


def write(part: Words, where: str) -> Any:
    """
    The part as a chat API takes it, a fresh dict.

    >>> write(Text("hi"), "part")
    {'type': 'text', 'text': 'hi'}
    """
    if isinstance(part, Opaque):
        return part.data.value
    shape = own(part.extra) if part.extra else {}
    if isinstance(part, Text) and shape.get("as") == "string":
        return part.text
    match part:
        case Text():
            form: dict[str, Any] = {"type": "text", "text": part.text}
        case Image():
            form = _image(part, shape.get("inner", {}), where)
        case Document():
            form = _file(part, shape, where)
        case Audio():
            form = _audio(part, shape.get("inner", {}), where)
        case Reasoning():
            form = _thought(part, shape.get("as"))
        case never:
            assert_never(never)

    return form | shape.get("keys", {})


def _thought(part: Reasoning, form: object) -> dict[str, Any]:
    if form == "redacted_thinking":
        return {"type": "redacted_thinking", "data": part.encrypted}
    signed = {"signature": part.signature} if part.signature else {}

    return {"type": "thinking", "thinking": part.text, **signed}


def _image(part: Image, inner: dict[str, Any], where: str) -> dict[str, Any]:
    url = part.url
    if part.data:
        url = f"data:{part.media_type or 'image/png'};base64,{part.data}"
    if not url:
        msg = f"{where}: the Chat API takes an Image by data or url, this has neither"
        raise FormatError(msg)
    detail = {"detail": part.detail} if part.detail else {}

    return {"type": "image_url", "image_url": {"url": url, **detail, **inner}}


def _audio(part: Audio, inner: dict[str, Any], where: str) -> dict[str, Any]:
    if not part.data:
        msg = f"{where}: the Chat API takes Audio by data only, this has none"
        raise FormatError(msg)
    media_type = part.media_type or "audio/wav"
    form = _AUDIO_FORMATS.get(media_type, media_type.removeprefix("audio/"))
    form_key = {"format": form} if form else {}

    return {"type": "input_audio", "input_audio": {"data": part.data, **form_key, **inner}}


def _file(part: Document, shape: dict[str, Any], where: str) -> dict[str, Any]:
    if part.text:
        return {"type": "text", "text": part.text}
    data = part.url
    if part.data:
        head = f"data:{part.media_type or 'application/pdf'};base64,"
        data = part.data if shape.get("data") == "bare" else head + part.data
    fields = {"file_id": part.file, "filename": part.name, "file_data": data}
    if not part.file and not data:
        msg = f"{where}: a Document without text, data, url or file id"
        raise FormatError(msg)

    return {
        "type": "file",
        "file": {key: value for key, value in fields.items() if value} | shape.get("inner", {}),
    }


def _taken(keys: Keys, key: str) -> str:
    return keys.pop(key) if isinstance(keys.get(key), str) and keys[key] else ""


def _data_url(url: str) -> tuple[str, str]:
    head, _, data = url.partition(";base64,")
    media_type = head.removeprefix("data:")
    if not data or media_type in ("", head) or ";" in media_type or "," in media_type:
        return "", ""

    return media_type, data
