"""
Pictures and documents as blocks of the Messages API, read and written.

Each has a `source`: base64, a URL, a file of the Files API, and for a document
plain text too. What a part says is turned into the source that carries it; a
part for which there is none is left out, with the reason.
"""

import base64
from typing import Any

from unabridged.formats.anthropic_keys import NAME, is_foreign, kept, named, own
from unabridged.formats.document_context import beside
from unabridged.formats.extras import FILE, FOREIGN_FILE, refuse
from unabridged.formats.media import from_data_url, out_of_reach
from unabridged.messages import Document, Image
from unabridged.text import word

__all__ = ["read_media", "source_of", "write_media"]

_PLAIN = "text/plain"
_ALIASES = {"image/jpg": "image/jpeg"}
_PICTURE = (
    "image",
    "JPEG, PNG, GIF and WebP",
    ("image/png", "image/jpeg", "image/gif", "image/webp"),
)
_DOCUMENT = ("document", "PDF and plain text", ("application/pdf",))


def source_of(part: Image | Document) -> dict[str, Any] | str:
    """
    The part's source as the API takes it, or in words why there is none.

    >>> source_of(Image(url="https://example.org/cat.png"))
    {'type': 'url', 'url': 'https://example.org/cat.png'}
    >>> source_of(Image("aGk=", media_type="image/bmp"))
    'image: Anthropic takes JPEG, PNG, GIF and WebP, not image/bmp'
    """
    words = _words(part) if isinstance(part, Document) else ""
    if words:
        return {"type": "text", "media_type": _PLAIN, "data": words}
    kind, wish, taken = _PICTURE if isinstance(part, Image) else _DOCUMENT
    data, url, media_type = _given(part)
    if (data or url) and media_type not in ("", *taken):
        return f"{kind}: Anthropic takes {wish}, not {word(media_type)}"
    if data:
        return {"type": "base64", "media_type": media_type or taken[0], "data": data}
    reason = out_of_reach(url, NAME)
    if url.startswith(("https://", "http://")) and not reason:
        return {"type": "url", "url": url}
    if part.file and not is_foreign(part.extra):
        return {"type": "file", "file_id": part.file}
    if part.file and not url:
        reason = FOREIGN_FILE
    wish = "Anthropic takes data, an https URL or a file id, and it has none"

    return f"{kind}: {reason or wish}"


def read_media(block: dict[str, Any], where: str) -> Image | Document | None:
    """
    The part in a block of the type image or document; None for one that `write_media` cannot give.

    Raises:
        FormatError: its source is no object.

    >>> read_media({"type": "image", "source": {"type": "file", "file_id": "f1"}}, "block").file
    'f1'
    """
    keys = block.copy()
    kind, source = keys.pop("type"), keys.pop("source", ...)
    if not isinstance(source, dict):
        refuse(f"{where}.source", "an object", source)
    shape: dict[str, Any] = {}
    fields: dict[str, Any]
    match source:
        case {"type": "base64", "data": str(data), "media_type": str(media_type), **inner}:
            fields = {"data": data, "media_type": media_type}
        case {"type": "url", "url": str(url), **inner}:
            fields = {"url": url}
        case {"type": "file", "file_id": str(file), **inner}:
            fields, shape = {"file": file}, FILE
        case {"type": "text", "data": str(text), "media_type": "text/plain", **inner} if (
            kind == "document"
        ):
            fields = {"text": text, "media_type": _PLAIN}
        case _:
            return None
    if kind == "document" and isinstance(keys.get("title"), str) and keys["title"]:
        fields["name"] = keys.pop("title")

    extra = kept(keys, shape | {"inner": inner} if inner else shape, where)
    part = Image(**fields, extra=extra) if kind == "image" else Document(**fields, extra=extra)

    return part if write_media(part) == block else None


def write_media(part: Image | Document) -> dict[str, Any] | None:
    """
    The part as a block, a fresh dict; None for one that the API has no source for.

    >>> write_media(Document(text="Be kind.", name="Rules"))["title"]
    'Rules'
    """
    source = source_of(part)
    if isinstance(source, str):
        return None
    shape = own(part.extra) if part.extra else {}
    block: dict[str, Any] = {
        "type": "image" if isinstance(part, Image) else "document",
        "source": {**named(shape, "inner"), **source},
    }
    if isinstance(part, Image):
        return {**named(shape, "keys"), **block}
    if part.name:
        block["title"] = part.name

    return {**beside(part, NAME), **named(shape, "keys"), **block}


def _given(part: Image | Document) -> tuple[str, str, str]:
    """
    Its data, URL and media type; those inside a data URL count as given.
    """
    data, url, media_type = part.data, part.url, part.media_type
    if not data and url.startswith("data:"):
        media_type, data = from_data_url(url)
        url = ""

    return data, url, _ALIASES.get(media_type, media_type)


def _words(part: Document) -> str:
    """
    The plain text that a document is; "" for any other.
    """
    data, _, media_type = _given(part)
    if part.text or not data or not media_type.startswith("text/"):
        return part.text
    try:
        return base64.b64decode(data, validate=True).decode()
    except ValueError:
        return ""
