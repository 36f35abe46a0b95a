"""
Media types, file extensions and data URLs, as the APIs spell them.
"""

__all__ = ["data_url", "extension", "from_data_url", "media_type_of", "out_of_reach"]

_EXTENSIONS = {
    "image/jpeg": "jpeg",
    "image/png": "png",
    "image/gif": "gif",
    "image/webp": "webp",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/ogg": "ogg",
    "audio/flac": "flac",
    "audio/aac": "aac",
    "audio/opus": "opus",
    "audio/mp4": "m4a",
    "audio/webm": "webm",
    "application/pdf": "pdf",
    "text/csv": "csv",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}
_MEDIA_TYPES = {short: long for long, short in reversed(_EXTENSIONS.items())} | {
    "jpg": "image/jpeg"
}


_OWNERS = {
    "gs://": "gemini",
    "https://generativelanguage.googleapis.com/": "gemini",  # of its Files API
    "s3://": "bedrock",
}
_LONGEST = max(map(len, _OWNERS))


def extension(media_type: str, default: str = "") -> str:
    """
    The short name of a media type, *default* where there is none.

    >>> extension("audio/mpeg")
    'mp3'
    """
    return _EXTENSIONS.get(media_type, default)


def media_type_of(extension: str, family: str = "application") -> str:
    """
    The media type of a short name; an unknown one is put into the *family*.

    >>> media_type_of("jpeg"), media_type_of("avif", "image")
    ('image/jpeg', 'image/avif')
    """
    return _MEDIA_TYPES.get(extension, f"{family}/{extension}")


def out_of_reach(url: str, api: str) -> str:
    """
    Why the *api* cannot fetch a *url* that only another one can; empty for any other.

    >>> out_of_reach("gs://cats/1.png", "anthropic")
    'a URL that only Gemini can fetch'
    >>> out_of_reach("gs://cats/1.png", "gemini")
    ''
    """
    start = url[:_LONGEST].lower()
    owner = next((_OWNERS[known] for known in _OWNERS if start.startswith(known)), api)

    return "" if owner == api else f"a URL that only {owner.title()} can fetch"


def data_url(media_type: str, data: str) -> str:
    """
    A data URL of base64 *data*.

    >>> data_url("image/png", "aGk=")
    'data:image/png;base64,aGk='
    """
    return f"data:{media_type};base64,{data}"


def from_data_url(url: str) -> tuple[str, str]:
    """
    The media type and base64 data in a data URL; two empty texts for another URL.

    Only a URL that `data_url` would write the same way is taken apart.

    >>> from_data_url("data:image/png;base64,aGk=")
    ('image/png', 'aGk=')
    >>> from_data_url("https://example.org/cat.png")
    ('', '')
    """
    head, _, data = url.partition(";base64,")
    media_type = head.removeprefix("data:")
    if not data or media_type in ("", head) or ";" in media_type or "," in media_type:
        return "", ""

    return media_type, data
