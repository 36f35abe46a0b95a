"""
What a message costs, given a way to count a text: one formula for all counters.

OpenAI's for chats (cookbook, "How to count tokens with tiktoken"), with the
provider's own for what is not text. `exact` says what is counted and what not.
"""

import re
from typing import assert_never

from attrs import frozen

from unabridged.errors import ConfigError
from unabridged.json_values import Json
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
from unabridged.tokens.headers import decoded, look
from unabridged.tokens.media import MEDIA, Media
from unabridged.tokens.pdf import pages_by_size
from unabridged.tokens.texts import Measure

__all__ = ["Costs", "total"]

NAME_TOKENS = 1

# A string in JSON text that is a payload: long, in the alphabet of base64, with
# the line ends and slashes that JSON escapes. Possessive, so that a string of a
# megabyte is read once.
_PAYLOAD = re.compile(r'"(?:data:[^"\\,]{1,100}+,)?(?:[A-Za-z0-9+/=_-]|\\[nr/]){1001,}+"')
_PLAIN = re.compile(r"text/|application/(?:json|xml|x?-?javascript|x-python)\b")


@frozen(eq=False)
class Costs:
    """
    What a model charges: for a text, for a role or a name, for media, and for each *message*.

    *label* counts as *text* does; apart, since the same few come again and
    again. *function* is OpenAI's figure for a tool; 0 if tools count as JSON.

    >>> Costs(len, len).message
    3
    """

    text: Measure
    label: Measure
    media: Media = MEDIA["gpt-4o"]
    message: int = 3
    function: int = 7


def total(message: Message, costs: Costs) -> int:
    """
    The tokens of a message.

    >>> from unabridged.messages import user
    >>> total(user("hello"), Costs(len, len))
    12
    """
    if not isinstance(message, Message):
        msg = (
            f"a counter takes a message, got {type(message).__name__}; "
            "build one, as in user('hello'), or load a provider's dicts with formats"
        )
        raise ConfigError(msg)
    tokens = costs.message + costs.label(message.role)
    if message.name is not None:
        tokens += NAME_TOKENS + costs.label(message.name)
    for part in message.parts:
        tokens += _part(part, costs)

    return tokens


def _part(part: Part, costs: Costs) -> int:  # noqa: PLR0911  one a kind
    match part:
        case Text() | Reasoning():
            return costs.text(part.text)
        case ToolCall():
            return costs.text(part.id) + costs.label(part.name) + costs.text(part.arguments)
        case ToolResult():
            inner = sum([_part(held, costs) for held in part.content])
            return costs.text(part.call_id) + inner
        case Image():
            return _image(part, costs.media)
        case Document():
            return _document(part, costs)
        case Audio():
            heard = look(_inline(part)).seconds
            sound = costs.media.audio_tokens(heard) if _elsewhere(part) else 0
            return costs.text(part.transcript) + sound
        case Opaque():
            return _opaque(part, costs)
        case _:
            assert_never(part)


def _image(part: Image, media: Media) -> int:
    if part.width and part.height:
        return media.picture(part.width, part.height, part.detail)
    seen = look(_inline(part))

    return media.picture(seen.width, seen.height, part.detail)


def _document(part: Document, costs: Costs) -> int:
    """
    Plain text by its tokens, also where it stands in base64; all else by its pages.

    Those of what is neither text nor PDF are estimated by the size of the file.
    """
    named = costs.text(part.name) if part.text else 0
    tokens = named + costs.text(part.text)
    if part.extra and '"context"' in part.extra.text:
        tokens += sum([costs.text(text) for text in _contexts(part.extra)])
    if not _elsewhere(part):
        return tokens
    inline = _inline(part)
    if inline and _PLAIN.match(_media_type(part, inline)):
        words = decoded(inline)
        return tokens + costs.text(inline if words is None else words.decode("utf-8", "replace"))
    seen = look(inline)
    if seen.kind:
        return tokens + costs.media.of(seen)

    return tokens + costs.media.document(pages_by_size(len(inline) * 3 // 4))


def _contexts(extra: Json) -> list[str]:
    """
    What a provider's form tells the model about a document, beside the document.
    """
    value = extra.value if isinstance(extra.value, dict) else {}
    shapes = [shape for shape in value.values() if isinstance(shape, dict)]
    kept = [shape.get(held) for shape in shapes for held in ("keys", "inner")]
    found = [keys.get("context") for keys in kept if isinstance(keys, dict)]

    return [text for text in found if isinstance(text, str)]


def _media_type(part: Document, inline: str) -> str:
    if part.media_type or not inline.startswith("data:"):
        return part.media_type

    return inline[5:105].partition(",")[0].strip().lower()


def _opaque(part: Opaque, costs: Costs) -> int:
    """
    The words of the JSON, and each payload by what its header says; unknown ones as pictures.
    """
    text = part.data.text
    if len(text) <= 1_000:  # noqa: PLR2004  no shorter one holds a payload
        return costs.text(text)
    payloads = [costs.media.of(look(found[0][1:-1])) for found in _PAYLOAD.finditer(text)]

    return costs.text(_PAYLOAD.sub('""', text)) + sum(payloads)


def _inline(part: Image | Document | Audio) -> str:
    return part.data or (part.url if part.url.startswith("data:") else "")


def _elsewhere(part: Document | Audio) -> bool:
    return bool(part.data or part.url or part.file)
