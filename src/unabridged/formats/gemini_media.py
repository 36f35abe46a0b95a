"""
Pictures, sound and documents of Gemini: `inlineData` and `fileData`.

What is read here is what Gemini takes; a video, or a type that it refuses, is
kept whole as `Opaque`. Data that came in the URL-safe alphabet is held in the
ordinary one, as other APIs want it, and given back as it came.
"""

import base64
import re
from typing import Any, TypeAlias

from unabridged.formats.extras import Keys
from unabridged.formats.gemini_keys import (
    NAME,
    SIGNATURES,
    kept,
    own,
    put_bytes,
    spelled,
    take,
    take_bytes,
)
from unabridged.formats.media import from_data_url, media_type_of, out_of_reach
from unabridged.messages import Audio, Document, Image
from unabridged.text import word

__all__ = ["Media", "media_left_out", "read_media", "spoken", "write_media"]

Media: TypeAlias = Image | Audio | Document

_WORDS = {Image: "an image", Audio: "audio", Document: "a document"}
_DEFAULTS = {Image: "image/png", Audio: "audio/wav", Document: "application/pdf"}
# https://ai.google.dev/gemini-api/docs/image-understanding and …/document-processing
_IMAGES = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "jpg", "webp", "heic", "heif"))
_DOCUMENTS = frozenset(
    f"application/{kind}"
    for kind in ("pdf", "json", "xml", "rtf", "javascript", "x-javascript", "x-python")
)
_VIDEO_KEYS = ("videoMetadata", "video_metadata")


def media_left_out(part: Media) -> str:
    """
    Why Gemini takes no such part; empty if it does.

    >>> media_left_out(Image(file="file_1"))
    'an image by file id: Gemini takes data or a URI'
    >>> media_left_out(Document(url="https://example.org/a.pdf"))
    ''
    """
    return "" if spoken(part) else _fault(part)


def spoken(part: Media) -> str:
    """
    The transcript of sound that Gemini cannot get, written in its place.

    >>> spoken(Audio(file="audio_1", transcript="Good morning"))
    'Good morning'
    """
    return part.transcript if isinstance(part, Audio) and _fault(part) else ""


def _fault(part: Media) -> str:
    what = _WORDS[type(part)]
    media_type, data, url = _source(part)
    if not (data or url):
        return f"{what} by file id: Gemini takes data or a URI" if part.file else f"{what}, empty"
    if url.startswith("data:"):
        return f"{what} in a data URL without base64"
    reason = out_of_reach(url, NAME)
    if reason:
        return f"{what}: {reason}"
    if media_type and _kind(media_type) is not type(part):
        return f"{what} of the type {word(media_type)}: Gemini takes none"

    return ""


def read_media(part: Keys, key: str, where: str) -> Media | None:
    """
    The picture, sound or document in a part; None for what else it may hold.

    >>> part = {"fileData": {"fileUri": "gs://b/a.pdf", "mimeType": "application/pdf"}}
    >>> read_media(part, "fileData", "part").url
    'gs://b/a.pdf'
    """
    keys, shape = part.copy(), dict[str, Any]()
    blob = take(keys, key, shape)
    if not isinstance(blob, dict) or keys.get("thought"):
        return None
    if any(keys.get(name) is not None for name in _VIDEO_KEYS):
        return None
    inner = blob.copy()
    media_type = take(inner, "mimeType", shape)
    kind = _kind(media_type) if isinstance(media_type, str) else None
    take_bytes(inner, shape, "data")
    take_bytes(keys, shape, *SIGNATURES)
    source = inner.pop("data", None) if key == "inlineData" else take(inner, "fileUri", shape)
    if kind is None or not isinstance(source, str) or not source or source.startswith("data:"):
        return None
    if key == "fileData" and out_of_reach(source, NAME):
        return None
    if key == "inlineData":
        source, alphabet = _ordinary(source)
        shape |= alphabet
    name = inner.get("displayName", inner.get("display_name"))
    extra = kept(keys, shape | ({"inner": inner} if inner else {}), where)
    data, url = (source, "") if key == "inlineData" else ("", source)
    if kind is Document and isinstance(name, str):
        return Document(data, url, media_type=media_type, name=name, extra=extra)

    return kind(data, url, media_type=media_type, extra=extra)


def write_media(part: Media) -> dict[str, Any]:
    """
    The part as Gemini takes it, a fresh dict.

    A document of plain *text* goes as inline data of the type `text/plain`;
    the transcript of sound that Gemini cannot get, as a text part.

    >>> write_media(Image("aGk="))
    {'inlineData': {'mimeType': 'image/png', 'data': 'aGk='}}
    """
    transcript = spoken(part)
    if transcript:
        return {"text": transcript}
    shape = own(part.extra) if part.extra else {}
    media_type, data, url = _source(part)
    inner = {spelled("mimeType", shape): media_type} if media_type else {}
    if data:
        if shape.get("alphabet") == "urlsafe":
            data = data.replace("+", "-").replace("/", "_")
        key, inner["data"] = spelled("inlineData", shape), data
    else:
        key, inner[spelled("fileUri", shape)] = spelled("fileData", shape), url
    form = {key: put_bytes({**inner, **shape.get("inner", {})}, shape)}

    return form | put_bytes(dict(shape.get("keys", {})), shape)


def _source(part: Media) -> tuple[str, str, str]:
    """
    The media type, and either base64 data or a URL.
    """
    if part.data:
        return part.media_type or _DEFAULTS[type(part)], part.data, ""
    if isinstance(part, Document) and part.text:
        kind = part.media_type if part.media_type.startswith("text/") else "text/plain"
        return kind, base64.b64encode(part.text.encode("utf-8", "replace")).decode(), ""
    media_type, data = from_data_url(part.url)
    if data:
        return media_type, data, ""

    return part.media_type or _guessed(part.url), "", part.url


def _guessed(url: str) -> str:
    path = re.split(r"[?#]", url, maxsplit=1)[0]
    media_type = media_type_of(path.rpartition("/")[2].rpartition(".")[2].lower(), "")

    return "" if media_type.startswith("/") else media_type


def _kind(media_type: str) -> type[Media] | None:
    if media_type in _IMAGES:
        return Image
    if media_type.startswith("audio/"):
        return Audio
    if media_type.startswith("text/") or media_type in _DOCUMENTS:
        return Document

    return None


def _ordinary(data: str) -> tuple[str, Keys]:
    if not ("-" in data or "_" in data) or "+" in data or "/" in data:
        return data, {}

    return data.replace("-", "+").replace("_", "/"), {"alphabet": "urlsafe"}
