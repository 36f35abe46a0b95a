"""
Pictures, documents and sound that hold nothing, or what no API can read.

A typed part without a source is not sent at all; one that was loaded with an
empty source is given back, and refused.
"""

import string
from collections.abc import Callable, Mapping
from typing import Any

from unabridged.formats.bedrock_bytes import write_opaque
from unabridged.formats.gemini_keys import whole
from unabridged.messages import Audio, Document, Image, Opaque, Part
from unabridged.text import word

__all__ = ["fault_of"]

_BASE64 = f"{string.ascii_letters}{string.digits}+/=-_{string.whitespace}".encode()
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_NOTHING = "holds no data"


def fault_of(part: Part, provider: str) -> str:
    """
    Why the *provider* refuses the data of this part; empty for a sound one, and all others.

    >>> fault_of(Image("no base64!", media_type="image/png"), "gemini")
    'an image holds what is no base64'
    >>> empty = Opaque("openai_chat", {"type": "image_url", "image_url": {"url": ""}})
    >>> fault_of(empty, "openai_chat")
    'an image_url holds no data'
    """
    if isinstance(part, Image | Document | Audio):
        what = f"a{'' if isinstance(part, Document) else 'n'} {type(part).__name__.lower()}"
        if (
            _is_bare_url(part.url)
            or _is_bare_url(part.data)
            or not (_has(part.data) or _has(part.url) or part.file or getattr(part, "text", ""))
        ):
            return f"{what} {_NOTHING}"
        return f"{what} holds what is no base64" if part.data and _is_no_base64(part.data) else ""
    if not isinstance(part, Opaque) or part.provider != provider:
        return ""
    text = part.data.text
    is_short = len(text) <= 1_000 or (provider == "anthropic" and '"base64"' in text)  # noqa: PLR2004
    if not is_short and '""' not in text and 'base64,"' not in text:
        return ""  # it holds something, and need not be read
    found = _WRITTEN[provider](part) if provider in _WRITTEN else part.data.value
    if not isinstance(found, dict):
        return ""
    kind = _FAULTS[provider](found)

    return f"a{'n' if kind[0] in 'aeiou' else ''} {kind}" if kind else ""


def _is_bare_url(url: object) -> bool:
    return isinstance(url, str) and url.startswith("data:") and not url.partition(",")[2]


def _has(data: object) -> bool:
    return bool(data) and not (isinstance(data, str) and data.isspace())


def _is_no_base64(data: str) -> bool:
    return not data.isascii() or bool(data.encode().translate(None, _BASE64))


def _chat(part: Mapping[str, Any]) -> str:
    match part:
        case {"type": "image_url" | "document_url" as kind}:
            inner = part.get(kind)
            url = inner.get("url") if isinstance(inner, dict) else inner
            return "" if _has(url) and not _is_bare_url(url) else f"{kind} {_NOTHING}"
        case {"type": "input_audio"}:
            return "" if _of(part, "input_audio", "data") else f"input_audio {_NOTHING}"
        case {"type": "file"}:
            return "" if _of(part, "file", "file_data", "file_id") else f"file {_NOTHING}"
    return ""


def _of(part: Mapping[str, Any], key: str, *sources: str) -> bool:
    inner = part.get(key)
    if not isinstance(inner, dict):
        return bool(inner)

    return any(_has(inner.get(source)) and not _is_bare_url(inner[source]) for source in sources)


def _responses(part: Mapping[str, Any]) -> str:
    kind = part.get("type")
    match kind:
        case "input_image":
            has = _of({"it": part}, "it", "image_url", "file_id")
        case "input_file":
            has = _of({"it": part}, "it", "file_data", "file_url", "file_id")
        case "input_audio":
            has = _of(part, "input_audio", "data")
        case _:
            return ""

    return "" if has else f"{kind} {_NOTHING}"


def _anthropic(block: Mapping[str, Any]) -> str:
    if block.get("type") not in ("image", "document"):
        return ""
    kind, source = block["type"], block.get("source")
    if not _of(block, "source", "data", "url", "file_id", "content"):
        return f"{kind} {_NOTHING}"
    match source:
        case {"type": "base64", "media_type": str(media_type)} if (
            kind == "image" and media_type not in _PICTURES
        ):
            return f"{kind} of the type {word(media_type)}: Anthropic takes JPEG, PNG, GIF and WebP"
    return ""


def _gemini(part: Mapping[str, Any]) -> str:
    if not any(value is not None for value in part.values()):
        return f"empty part {_NOTHING}"
    for key, sources in _GEMINI.items():
        if part.get(key) is not None and not _of(part, key, *sources):
            return f"{key} {_NOTHING}"

    return ""


_GEMINI = {
    "inlineData": ("data",),
    "inline_data": ("data",),
    "fileData": ("fileUri", "file_uri"),
    "file_data": ("fileUri", "file_uri"),
}


def _bedrock(block: Mapping[str, Any]) -> str:
    for kind in ("image", "document", "video", "audio"):
        inner = block.get(kind)
        if not isinstance(inner, dict):
            continue
        place = {"it": (inner.get("source") or {})}
        stored = _of(place["it"], "s3Location", "uri") if isinstance(place["it"], dict) else False
        if not (stored or _of(place, "it", "bytes", "text", "content")):
            return f"{kind} {_NOTHING}"

    return ""


_FAULTS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "openai_chat": _chat,
    "openai_responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
}
_WRITTEN: dict[str, Callable[[Opaque], Any]] = {"gemini": whole, "bedrock": write_opaque}
