"""
The parts inside a message's content or a call's output, read and written.

A part is read into a typed one only when it can be given back exactly; any
other is kept whole as `Opaque`.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias, assert_never

from unabridged.formats.extras import FILE, Keys, item_json, refuse, taken
from unabridged.formats.media import data_url, extension, from_data_url, media_type_of
from unabridged.formats.responses_parts import NAME, kept, left_out, own
from unabridged.messages import Audio, Document, Image, Opaque, Text
from unabridged.parts import quick_opaque, quick_text

__all__ = ["Words", "read_all", "write", "write_all"]

Words: TypeAlias = Text | Image | Document | Audio | Opaque


def read_all(content: object, where: str) -> tuple[tuple[Words, ...], str]:
    """
    The parts of a content or output, and its form where `write_all` would choose another.

    Raises:
        FormatError: it is no text, list of objects, or null.

    >>> read_all("hi", "input[0].content")
    ((Text(text='hi'),), '')
    >>> read_all([{"type": "input_text", "text": "hi"}], "input[0].content")
    ((Text(text='hi'),), 'list')
    """
    if isinstance(content, str):
        return (quick_text(content),), ""
    if content is None or content is ...:
        return (), "missing" if content is ... else "null"
    if not isinstance(content, list):
        refuse(where, "text or a list of parts", content)
    parts = tuple(_read(part, f"{where}[{at}]") for at, part in enumerate(content))
    is_short = not parts or (len(parts) == 1 and isinstance(parts[0], Text) and not parts[0].extra)

    return parts, "list" if is_short else ""


def write_all(words: Sequence[Words], form: str) -> str | list[Any]:
    """
    Words as a content or output: text where that says it all, else a list.

    >>> write_all([Text("a"), Text("b")], "")
    [{'type': 'input_text', 'text': 'a'}, {'type': 'input_text', 'text': 'b'}]
    """
    match words:
        case [Text(text=text, extra=extra)] if form != "list" and not (extra and _keys(own(extra))):
            return text
        case [Document(text=text)] if form != "list" and text:
            return text
        case [] if form != "list":
            return ""

    return [write(part) for part in words]


def _read(part: object, where: str) -> Words:
    if not isinstance(part, dict):
        refuse(where, "an object", part)
    match part:
        case {"type": "input_text", "text": str(text), **keys}:
            return quick_text(text, kept(keys, {}, where))
    found = _media(part, where)
    if found is not None and not left_out(found, "user") and write(found) == part:
        return found

    return quick_opaque(NAME, item_json(part, where))


def _media(part: Keys, where: str) -> Words | None:
    match part:
        case {"type": "input_image", **keys}:
            url, file, detail = (taken(keys, key) for key in ("image_url", "file_id", "detail"))
            media_type, data = from_data_url(url)
            lacks = {} if detail or "detail" in keys else {"detail": "missing"}
            extra = kept(keys, FILE | lacks if file else lacks, where)
            url = "" if data else url
            return Image(data, url, file=file, media_type=media_type, detail=detail, extra=extra)
        case {"type": "input_file", **keys}:
            return _document(keys, where)
        case {"type": "input_audio", "input_audio": {"data": str(data), **inner}, **keys} if data:
            form = taken(inner, "format")
            shape = {"as": "input_audio", "inner": inner} if inner else {"as": "input_audio"}
            media_type = media_type_of(form, "audio") if form else ""
            return Audio(data, media_type=media_type, extra=kept(keys, shape, where))
    return None


def _document(keys: Keys, where: str) -> Document:
    text, url, file = (taken(keys, key) for key in ("file_data", "file_url", "file_id"))
    name = taken(keys, "filename")
    media_type, data = from_data_url(text)
    shape: dict[str, Any] = FILE.copy() if file else {}
    if text and not data:
        data, shape["data"] = text, "bare"
    if bool(name) != bool(data) and "filename" not in keys:
        shape["filename"] = "sent" if name else "missing"
    extra = kept(keys, shape, where)

    return Document(data, url, file=file, media_type=media_type, name=name, extra=extra)


def write(part: Words) -> dict[str, Any]:
    """
    The part as a user's message has it, a fresh dict.

    >>> write(Image(url="https://example.org/cat.png"))
    {'type': 'input_image', 'image_url': 'https://example.org/cat.png', 'detail': 'auto'}
    """
    shape = own(part.extra) if not isinstance(part, Opaque) and part.extra else {}
    match part:
        case Opaque():
            form: dict[str, Any] = part.data.value
        case Text():
            form = {"type": "input_text", "text": part.text}
        case Image():
            form = _image(part, shape)
        case Document() if part.text:
            form = {"type": "input_text", "text": part.text}
        case Document():
            form = _file(part, shape)
        case Audio():
            named = {"format": extension(part.media_type)} if part.media_type else {}
            inner = {"data": part.data, **named, **shape.get("inner", {})}
            form = {"type": "input_audio", "input_audio": inner}
        case never:
            assert_never(never)

    return {**form, **_keys(shape)}


def _keys(shape: Keys) -> Keys:
    # what the model's own words had with them is nothing for a user's
    return shape.get("keys", {}) if shape.get("as") in (None, "input_audio") else {}


def _image(part: Image, shape: dict[str, Any]) -> dict[str, Any]:
    form: dict[str, Any] = {"type": "input_image"}
    if part.data:
        form["image_url"] = data_url(part.media_type or "image/png", part.data)
    elif part.url:
        form["image_url"] = part.url
    else:
        form["file_id"] = part.file
    if part.detail or shape.get("detail") != "missing":
        form["detail"] = part.detail or "auto"

    return form


def _file(part: Document, shape: dict[str, Any]) -> dict[str, Any]:
    # the API knows a file's kind by its name, and wants none beside a url or an id
    form: dict[str, Any] = {"type": "input_file"}
    named = shape.get("filename")
    if part.data:
        media_type = part.media_type or "application/pdf"
        is_bare = shape.get("data") == "bare"
        form["file_data"] = part.data if is_bare else data_url(media_type, part.data)
        if part.name or named != "missing":
            form["filename"] = part.name or f"document.{extension(media_type, 'pdf')}"
        return form
    form |= {"file_url": part.url} if part.url else {"file_id": part.file}
    if part.name and named == "sent":
        form["filename"] = part.name

    return form
