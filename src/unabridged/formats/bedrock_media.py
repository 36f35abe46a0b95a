"""
Pictures, documents and sound in the blocks of Bedrock Converse, read and written.
"""

import base64
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from unabridged.formats.bedrock_bytes import as_bytes, kept, own
from unabridged.formats.document_context import beside, is_cited
from unabridged.formats.media import extension, from_data_url, media_type_of
from unabridged.messages import Audio, Document, Image, Message, Part, ToolResult
from unabridged.text import word

__all__ = [
    "Media",
    "Names",
    "media_left_out",
    "read_media",
    "write_media",
]

Media: TypeAlias = Image | Document | Audio

_KINDS: dict[str, type[Media]] = {"image": Image, "document": Document, "audio": Audio}
_TITLES = {Image: "an image", Document: "a document", Audio: "audio"}
_FAMILIES = {Image: "image", Document: "application", Audio: "audio"}
_DEFAULTS = {Image: "png", Document: "pdf", Audio: "wav"}
_FORMATS: dict[type, tuple[str, ...]] = {
    Image: ("png", "jpeg", "gif", "webp"),
    Document: ("pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"),
    Audio: (
        *("mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "mkv"),
        *("mka", "x-aac", "m4a", "mpeg", "mpga", "pcm", "webm"),
    ),
}
_NAME = re.compile(r"[A-Za-z0-9()\[\]-]+(?:\s[A-Za-z0-9()\[\]-]+)*")
_LONGEST = 200
_STORED = "s3://"


class Names:
    """
    Names for documents: the API wants one for each, and no two alike in a request.

    A neutral one is made where a document has none or one that the API refuses,
    as its documentation recommends: a model may read a name as an instruction.

    >>> names = Names([])
    >>> [names.of(Document("aGk=", name=name)) for name in ("Report (2)", "a.pdf", "")]
    ['Report (2)', 'document', 'document-2']
    """

    def __init__(self, messages: Iterable[Message]) -> None:
        self._messages = messages
        self._taken: set[str] | None = None
        self._made = 0

    def of(self, document: Document) -> str:
        """
        The name for a document that was not loaded from this API.

        >>> Names([]).of(Document("aGk="))
        'document'
        """
        if self._taken is None:
            self._taken = set(map(str.casefold, _loaded_names(self._messages)))
        name = document.name
        is_fine = len(name) <= _LONGEST and _NAME.fullmatch(name) is not None
        while not is_fine or name.casefold() in self._taken:
            self._made += 1
            name = "document" if self._made == 1 else f"document-{self._made}"
            is_fine = True
        self._taken.add(name.casefold())

        return name


def _loaded_names(messages: Iterable[Message]) -> Iterable[str]:
    for message in messages:
        for part in message.parts:
            inside: tuple[Part, ...] = part.content if isinstance(part, ToolResult) else (part,)
            for found in inside:
                if isinstance(found, Document) and own(found.extra).get("as"):
                    yield found.name


def read_media(block: dict[str, Any], role: str, where: str) -> Media | None:
    """
    The picture, document or sound in a block of the *role*; None for any other block.

    >>> block = {"image": {"format": "png", "source": {"bytes": "aGk="}}}
    >>> read_media(block, "user", "block") == Image("aGk=", media_type="image/png")
    True
    """
    key = next(iter(block), "")
    kind, inner = _KINDS.get(key), block.get(key)
    if kind is None or len(block) > 1 or not isinstance(inner, dict):
        return None
    inner = inner.copy()
    fields: dict[str, Any] = {}
    shape: dict[str, Any] = {}
    if kind is Document or role != "user":
        shape["as"] = key
    if not _read_source(inner.pop("source", None), kind, fields, shape):
        return None
    if kind is Document:
        fields["name"] = inner.pop("name", None)
    form = inner.pop("format", "missing" if kind is Document else None)
    if not all(isinstance(value, str) for value in (form, *fields.values())):
        return None

    if "format" in block[key]:
        fields["media_type"] = media_type_of(form, _FAMILIES[kind])
    if _format(kind(**fields), {}) != form:
        shape["format"] = form
    place = shape.pop("place", None)
    if inner or place:
        shape["inner"] = {**inner, "source": {"s3Location": place}} if place else inner
    found = kind(**fields, extra=kept({}, shape, f"{where}.{key}"))

    if media_left_out(found, role):  # such as a format that is no word of the API's
        return None

    return found if write_media(found, Names([])) == block else None


def _read_source(
    source: object, kind: type[Media], fields: dict[str, Any], shape: dict[str, Any]
) -> bool:
    match source:
        case {"bytes": bytes() | bytearray() as raw}:
            fields["data"] = base64.b64encode(raw).decode()
            shape["bytes"] = "raw"
        case {"bytes": str(data)} if data:
            fields["data"] = data
        case {"s3Location": {"uri": str(url), **place}} if url.startswith(_STORED):
            fields["url"] = url
            shape["place"] = place
        case {"text": str(text)} if text and kind is Document:
            fields["text"] = text
            shape["source"] = "text"
        case _:
            return False
    return True


def write_media(part: Media, names: Names) -> dict[str, Any]:
    """
    The block for a part that is not `media_left_out`, a fresh dict.

    >>> write_media(Image("aGk=", media_type="image/png"), Names([]))
    {'image': {'format': 'png', 'source': {'bytes': 'aGk='}}}
    """
    shape = own(part.extra) if part.extra else {}
    inner = {**shape.get("inner", {})}
    place = inner.pop("source", {}).get("s3Location", {})
    form = _format(part, shape)
    block: dict[str, Any] = {"format": form} if form != "missing" or part.media_type else {}
    if isinstance(part, Document):
        name = part.name if shape.get("as") else names.of(part)
        block |= {"name": name} if name else {}
        inner = {**beside(part, "bedrock"), **inner}
        if part.text and not shape.get("as") and is_cited(part):
            shape = {**shape, "source": "text"}
    block["source"] = _source(part, shape, place)
    kind = next(key for key, kind in _KINDS.items() if isinstance(part, kind))

    return {kind: block | inner}


def _source(part: Media, shape: dict[str, Any], place: dict[str, Any]) -> dict[str, Any]:
    data = part.data or from_data_url(part.url)[1]
    if data:
        return {"bytes": as_bytes(data) if shape.get("bytes") == "raw" else data}
    if part.url.startswith(_STORED):
        return {"s3Location": {"uri": part.url, **place}}
    text = _words(part)
    # the API takes a source of text only where citations are asked for
    if shape.get("source") == "text":
        return {"text": text}

    return {"bytes": base64.b64encode(text.encode("utf-8", "replace")).decode()}


def _format(part: Media, shape: dict[str, Any]) -> str:
    """
    The API's word for the media type, "" if it has none.
    """
    kind = type(part)
    given = shape.get("format", "")
    media_type = part.media_type or from_data_url(part.url)[0]
    if given and part.media_type in ("", media_type_of(given, _FAMILIES[kind])):
        return str(given)
    if media_type:
        bare = media_type.partition(";")[0].strip().lower()
        form = extension(bare) or bare.partition("/")[2]
        return form if form in _FORMATS[kind] else ""
    if _words(part) and not part.data and not part.url.startswith(_STORED):
        return "txt"
    label = part.url or (part.name if isinstance(part, Document) else "")
    ending = extension(media_type_of(label.rpartition(".")[2].lower()))

    return ending if ending in _FORMATS[kind] else _DEFAULTS[kind]


def media_left_out(part: Media, role: str) -> str:
    """
    Why a message of the *role* cannot hold *part*, "" if it can; "tool" means inside a result.

    >>> media_left_out(Image(url="https://example.org/cat.png"), "user")
    'an image by url: Bedrock takes data or an s3:// url'
    """
    shape = own(part.extra) if part.extra else {}
    kind = _TITLES[type(part)]
    if not shape.get("as"):
        if role == "assistant":
            return f"{kind} of an assistant: Bedrock takes none"
        if role == "tool" and isinstance(part, Audio):
            return "audio in a tool's result: Bedrock takes none"
    is_stored = part.url.startswith(_STORED)
    if not (part.data or is_stored or from_data_url(part.url)[1] or _words(part)):
        way = "by url" if part.url else "by file id" if part.file else "without data"
        return f"{kind} {way}: Bedrock takes data or an s3:// url"
    if not _format(part, shape):
        return f"{word(part.media_type)}: Bedrock takes {', '.join(_FORMATS[type(part)])}"

    return ""


def _words(part: Media) -> str:
    return part.text if isinstance(part, Document) else ""
