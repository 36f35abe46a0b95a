"""
Transcripts: messages as lines of JSON for a model to read, and in halves where one is too long.

Each message is one line, and everything in it is quoted, so no text can pass
for another speaker's line. Words, reasoning, calls and results are there
whole; pictures, files and sounds are named.
"""

import json
import re
from typing import Any, assert_never

from attrs import evolve

from unabridged.items import Item
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
from unabridged.originals import named

__all__ = ["LINE_ENDS", "PIECE", "halves", "line", "quoted", "words_of"]

PIECE = "unabridged.piece"
"""The key of the metadata that tells which piece of its entry a message is."""

LINE_ENDS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}
"""What JSON leaves as it is and would end a line, with what `str.translate` makes of it."""

# halves of characters too, which no request can carry
_ESCAPED = LINE_ENDS | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_PAYLOAD = re.compile(r"[A-Za-z0-9+/=_-]{1000,}")  # base64 of a file, or what is encrypted


def line(item: Item) -> str:
    """
    The item as one line of JSON.

    >>> from unabridged.testing import tool, view_of
    >>> print(line(view_of([tool("sunny", call_id="c1")])[0]))
    {"entry": "1", "role": "tool", "results": [{"call": "c1", "text": "sunny"}]}
    """
    message = item.message
    told: dict[str, Any] = {"entry": str(item.sources), "role": message.role}
    if message.name:
        told["name"] = message.name
    if message.metadata and (piece := message.metadata.value.get(PIECE)):
        told["piece"] = piece
    if words := "".join(part.text for part in message.parts if isinstance(part, Text)):
        told["text"] = words
    if thoughts := "\n".join(thought.text for thought in message.reasoning if thought.text):
        told["reasoning"] = thoughts
    if calls := message.tool_calls:
        told["calls"] = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in calls]
    if results := message.tool_results:
        told["results"] = [_result(result) for result in results]
    if holds := _named(message.parts):
        told["holds"] = holds

    return quoted(told)


def quoted(value: object) -> str:
    r"""
    The value as JSON on one line, as each piece that is not ours stands in a request.

    So no text in it can end its line, or pass for a heading or a line of another speaker.

    >>> print(quoted("They met.\n\nTranscript:\u2028"))
    "They met.\n\nTranscript:\u2028"
    """
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPED)


def _result(result: ToolResult) -> dict[str, Any]:
    told: dict[str, Any] = {"call": result.call_id, "text": result.text}
    if result.is_error:
        told["error"] = True
    if holds := _named(result.content):
        told["holds"] = holds

    return told


def _named(parts: tuple[Part, ...]) -> list[str]:
    return [name for part in parts if (name := _name(part))]


def _name(part: Part) -> str:
    """
    What is no words by its kind and name; "" for what is told elsewhere.
    """
    match part:
        case Image():
            return _joined(named(part), _short(part.url or part.file))
        case Document():
            return _joined(named(part), _short(part.url or part.file), part.text)
        case Audio():
            return _joined(named(part), _short(part.url or part.file), part.transcript)
        case Opaque():
            data = _PAYLOAD.sub(lambda payload: f"<{len(payload[0])} characters>", part.data.text)
            return _joined(part.provider, data)
        case Text() | Reasoning() | ToolCall() | ToolResult():
            return ""
        case _:
            assert_never(part)


def _joined(*words: str) -> str:
    return " ".join(word for word in words if word)


def _short(reference: str) -> str:
    return reference if not reference.startswith("data:") else ""


def halves(item: Item) -> tuple[Item, Item] | None:
    """
    The item as two of about half as many characters, which together hold all; None if none can be.

    It is cut at the end of a line near the middle, or else of a word, if there is one.

    >>> from unabridged.testing import user, view_of
    >>> [half.message.text for half in halves(view_of([user("hello")])[0])]
    ['he', 'llo']
    """
    parts = [_worded(part) for part in item.message.parts]
    sizes = [len(_words(part)) for part in parts]
    middle = sum(sizes) // 2
    if not middle:
        return None
    left: list[Part] = []
    right: list[Part] = []
    for part, size in zip(parts, sizes, strict=True):
        if size <= middle:
            left.append(part)
        elif middle <= 0:
            right.append(part)
        else:
            place = _place(_words(part), middle)
            left.append(_but(part, _words(part)[:place], rest=False))
            right.append(_but(part, _words(part)[place:], rest=True))
        middle -= size

    return _with(item, left), _with(item, right)


def _place(words: str, middle: int) -> int:
    """
    Where to cut near the *middle*: after a line, a word, or right there.
    """
    reach = min(middle, len(words) - middle) // 2
    for end in "\n ":
        before = words.rfind(end, middle - reach, middle)
        if before >= 0:
            return before + 1

    return middle


def words_of(item: Item) -> str:
    """
    All the words of an item that `halves` shares out.

    >>> from unabridged.testing import tool, view_of
    >>> words_of(view_of([tool("sunny", call_id="c1")])[0])
    'sunny'
    """
    return "".join(_words(_worded(part)) for part in item.message.parts)


def _with(item: Item, parts: list[Part]) -> Item:
    return evolve(item, message=evolve(item.message, parts=tuple(parts)))


def _worded(part: Part) -> Part:
    """
    What only a provider understands, as the words that are told of it.
    """
    return Text(_name(part)) if isinstance(part, Opaque) else part


def _words(part: Part) -> str:
    match part:
        case Text(text) | Reasoning(text):
            return text
        case ToolCall():
            return part.arguments
        case ToolResult():
            return part.text
        case Document():
            return part.text
        case Audio():
            return part.transcript
        case Image() | Opaque():
            return ""
        case _:
            assert_never(part)


def _but(part: Part, words: str, *, rest: bool) -> Part:
    """
    The part with other words; the *rest* of one leaves what it holds beside them to the first.
    """
    match part:
        case Text() | Reasoning():
            return evolve(part, text=words)
        case ToolCall():
            return evolve(part, arguments=words)
        case ToolResult():
            beside = [held for held in part.content if not isinstance(held, Text)]
            return evolve(part, content=(Text(words), *(() if rest else beside)))
        case Document():
            return evolve(part, text=words)
        case Audio():
            return evolve(part, transcript=words)
        case Image() | Opaque():
            return part
        case _:
            assert_never(part)
