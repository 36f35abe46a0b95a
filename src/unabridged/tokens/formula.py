"""
What a message costs, given a way to count a text: one formula for all counters.

OpenAI's for chats (cookbook, "How to count tokens with tiktoken"), with a
flat figure for what is not text. `exact` says what is counted and what is not.
"""

import re
from collections.abc import Callable
from typing import TypeAlias, assert_never

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

__all__ = ["Measure", "total"]

Measure: TypeAlias = Callable[[str], int]

# What a message costs beside its values.
MESSAGE_TOKENS = 3
NAME_TOKENS = 1

# A part that is not text, in tokens, whatever its size. These are deliberately
# flat: the length of base64 says nothing about its price.
IMAGE_TOKENS = 765  # OpenAI gpt-4o, 1024 x 1024 in high detail: 85 + 4 tiles of 170
LOW_DETAIL_TOKENS = 85  # OpenAI gpt-4o, low detail: the base alone
DOCUMENT_TOKENS = 2_000  # a page of a PDF with Anthropic, which bills 1,500 to 3,000
AUDIO_TOKENS = 960  # half a minute with Gemini, at 32 a second
PAYLOAD_TOKENS = 765  # a long unbroken string in an opaque part, taken for an image

# A string in JSON text that is a payload, such as base64: long, without a
# space. Possessive, so that a string of a megabyte is read once.
_PAYLOAD = re.compile(r'"[^"\\\s]{1001,}+"')


def total(message: Message, measure: Measure, label: Measure) -> int:
    """
    The tokens of a message: *measure* counts its texts, *label* its role and names.

    >>> from unabridged.messages import user
    >>> total(user("hello"), len, len)
    12
    """
    tokens = MESSAGE_TOKENS + label(message.role)
    if message.name is not None:
        tokens += NAME_TOKENS + label(message.name)
    for part in message.parts:
        tokens += _part(part, measure, label)

    return tokens


def _part(part: Part, measure: Measure, label: Measure) -> int:  # noqa: PLR0911  one a kind
    match part:
        case Text() | Reasoning():
            return measure(part.text)
        case ToolCall():
            return measure(part.id) + label(part.name) + measure(part.arguments)
        case ToolResult():
            inner = sum([_part(held, measure, label) for held in part.content])
            return measure(part.call_id) + inner
        case Image():
            return LOW_DETAIL_TOKENS if part.detail == "low" else IMAGE_TOKENS
        case Document():
            plain = measure(part.name) + measure(part.text) if part.text else 0
            return plain + (DOCUMENT_TOKENS if _elsewhere(part) else 0)
        case Audio():
            return measure(part.transcript) + (AUDIO_TOKENS if _elsewhere(part) else 0)
        case Opaque():
            text, payloads = _PAYLOAD.subn('""', part.data.text)
            return measure(text) + PAYLOAD_TOKENS * payloads
        case _:
            assert_never(part)


def _elsewhere(part: Document | Audio) -> bool:
    return bool(part.data or part.url or part.file)
