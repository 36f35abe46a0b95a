"""
Words and thoughts, as blocks of the types text, thinking and redacted_thinking.

Reasoning always has a hint of its form; one without it was thought elsewhere.
"""

from typing import Any

from unabridged.formats.anthropic_keys import kept, named, own, without
from unabridged.messages import Reasoning, Text
from unabridged.parts import quick_reasoning, quick_text

__all__ = [
    "is_ours",
    "read_plain",
    "read_redacted",
    "read_text",
    "read_thinking",
    "write_text",
    "write_thought",
]

_FORMS = ("thinking", "redacted_thinking")


def is_ours(part: Reasoning) -> bool:
    """
    Whether an Anthropic model thought it.

    >>> is_ours(Reasoning("hm", signature="c2ln"))
    False
    """
    return own(part.extra).get("as") in _FORMS


def read_plain(block: object) -> Text | None:
    """
    The commonest of all blocks, a text and nothing beside it; None for any other.

    >>> read_plain({"type": "text", "text": "hi"})
    Text(text='hi')
    """
    if type(block) is dict and len(block) == 2 and block.get("type") == "text":  # noqa: PLR2004
        text = block.get("text")
        if type(text) is str:
            return quick_text(text)

    return None


def read_text(block: dict[str, Any], where: str) -> Text | None:
    """
    The words in a block; None if there is no text in it.

    >>> read_text({"type": "text", "text": "hi", "citations": None}, "block").text
    'hi'
    """
    text = block.get("text")
    if not isinstance(text, str):
        return None

    return quick_text(text, kept(without(block, ("type", "text")), {}, where))


def write_text(part: Text) -> dict[str, Any]:
    """
    The words as a block, a fresh dict.

    >>> write_text(Text("hi"))
    {'type': 'text', 'text': 'hi'}
    """
    block: dict[str, Any] = {"type": "text", "text": part.text}

    return {**named(own(part.extra), "keys"), **block} if part.extra else block


def read_thinking(block: dict[str, Any], where: str) -> Reasoning | None:
    """
    The thought in a block, with its signature; None if there is no text in it.

    >>> read_thinking({"type": "thinking", "thinking": "hm", "signature": "c2ln"}, "block")
    Reasoning(text='hm', signature='c2ln', encrypted='')
    """
    text, signature = block.get("thinking"), block.get("signature")
    if not isinstance(text, str):
        return None
    known = ["type", "thinking"]
    if isinstance(signature, str) and signature:
        known.append("signature")
    else:
        signature = ""
    extra = kept(without(block, known), {"as": "thinking"}, where)

    return quick_reasoning(text, signature, "", extra)


def read_redacted(block: dict[str, Any], where: str) -> Reasoning | None:
    """
    The hidden thought in a block; None if there is none in it.

    >>> read_redacted({"type": "redacted_thinking", "data": "c2ln"}, "block").encrypted
    'c2ln'
    """
    data = block.get("data")
    if not isinstance(data, str):
        return None
    extra = kept(without(block, ("type", "data")), {"as": "redacted_thinking"}, where)

    return quick_reasoning("", "", data, extra)


def write_thought(part: Reasoning) -> dict[str, Any]:
    """
    A thought that `is_ours` as a block, a fresh dict.

    >>> write_thought(Reasoning("hm", signature="c2ln", extra={"anthropic": {"as": "thinking"}}))
    {'type': 'thinking', 'thinking': 'hm', 'signature': 'c2ln'}
    """
    shape = own(part.extra)
    if shape["as"] == "redacted_thinking":
        block: dict[str, Any] = {"type": "redacted_thinking", "data": part.encrypted}
    else:
        block = {"type": "thinking", "thinking": part.text}
        if part.signature:
            block["signature"] = part.signature

    return {**named(shape, "keys"), **block}
