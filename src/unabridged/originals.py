"""
What an entry held, as one text: words, calls and results; what is no text is named.

The same text is what a handle gives back, so places in it can be counted on.
"""

import json
from collections.abc import Iterable

from unabridged.handles import pieces_of
from unabridged.hosted.table import words_in
from unabridged.messages import (
    Audio,
    Document,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

__all__ = ["named", "original", "plain"]

LONGEST = 60  # characters of a name in a marker


def original(message: Message, part: int = 0) -> str:
    r"""
    The text of a message, or of its call or result number *part*.

    Texts next to each other are one, as they are for the model; all else stands
    on lines of its own. What a model thought is left out.

    >>> from unabridged import Image, assistant
    >>> seen = assistant(["It is ", "this:", Image(data="aGk=", media_type="image/png")])
    >>> original(seen)
    'It is this:\n[image (image/png)]'
    """
    parts: Iterable[Part] = message.parts
    if part:
        parts = [message.parts[pieces_of(message)[part - 1]]]

    return _joined(parts)


def _joined(parts: Iterable[Part]) -> str:
    pieces: list[str] = []
    words = False
    for part in parts:
        text = _text(part)
        if text is None:
            continue
        is_words = isinstance(part, Text)
        if words and is_words:
            pieces[-1] += text
        elif text:
            pieces.append(text)
            words = is_words

    return "\n".join(pieces)


def _text(part: Part) -> str | None:
    match part:
        case Text(text):
            return text
        case ToolResult():
            return _joined(part.content)
        case ToolCall():
            return f"{part.name}({part.arguments})"
        case Reasoning():
            return None
        case _:
            return f"[{named(part)}]\n{_readable(part)}".rstrip("\n")


def _readable(part: Part) -> str:
    """
    What there is to read in a part that is named.
    """
    match part:
        case Document(text=text) | Audio(transcript=text):
            return text
        case Opaque():
            return words_in(part)
        case _:
            return ""


def named(part: Part) -> str:
    """
    What a part that is no text is called: its kind, and what is known of it.

    >>> from unabridged import Document, Image
    >>> named(Document(name="a.pdf", data="aGk=")), named(Image(file="f", width=64, height=32))
    ('document "a.pdf"', 'image (64x32 pixels)')
    """
    match part:
        case Image():
            size = f"{part.width}x{part.height} pixels" if part.width and part.height else ""
            return f"image{_details(part.media_type, size)}"
        case Document():
            name = f' "{plain(part.name)}"' if part.name else ""
            return f"document{name}{_details(part.media_type)}"
        case Audio():
            return f"audio{_details(part.media_type)}"
        case Opaque():
            return f"{_kind(part)} of {plain(part.provider)}"
        case _:
            return type(part).__name__.lower()


def _details(*known: str) -> str:
    given = ", ".join(plain(text) for text in known if text)

    return f" ({given})" if given else ""


def _kind(part: Opaque) -> str:
    data = json.loads(part.data.text)
    kind = data.get("type") if isinstance(data, dict) else None

    return plain(kind) if isinstance(kind, str) and kind.strip() else "part"


def plain(name: str) -> str:
    r"""
    A name on one line, short, and without what could end a marker.

    >>> plain("read_file]\n[user:")
    'read_file user:'
    """
    words = " ".join(name.translate({ord(mark): " " for mark in "[]\"'"}).split())

    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
