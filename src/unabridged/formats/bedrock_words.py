"""
Words and reasoning in the blocks of Bedrock Converse, read and written.

Words inside a block of their own kind (guarded, cited, found by a search) are
`Text` as well, so that every provider can read them.
"""

from base64 import b64encode
from typing import Any

from unabridged.formats.bedrock_bytes import as_bytes, kept, own
from unabridged.messages import Reasoning, Text

__all__ = ["read_text", "read_thought", "write_text", "write_thought"]


def read_text(block: dict[str, Any], where: str) -> Text | None:
    """
    The words of a block; None if it is of another kind.

    >>> read_text({"guardContent": {"text": {"text": "hi"}}}, "block").text
    'hi'
    """
    match block:
        case {"text": str(text), **keys}:
            return Text(text, extra=kept(keys, {}, where)) if keys else Text(text)
    words = _inside(block)

    return Text(words, extra=kept({}, {"as": "block", "inner": block}, where)) if words else None


def _inside(block: object) -> str:
    """
    The words in a block of their own kind.
    """
    match block:
        case {"guardContent": {"text": {"text": str(text)}}}:
            return text
        case {"citationsContent": {"content": [*pieces]}} | {
            "searchResult": {"content": [*pieces]}
        }:
            found = [piece.get("text") for piece in pieces if isinstance(piece, dict)]
            return "".join(text for text in found if isinstance(text, str))
    return ""


def write_text(part: Text) -> dict[str, Any]:
    """
    The block of the words, a fresh dict; changed words are plain ones.

    >>> write_text(Text("hi"))
    {'text': 'hi'}
    """
    if not part.extra:
        return {"text": part.text}
    shape = own(part.extra)
    if shape.get("as") == "block" and _inside(shape.get("inner")) == part.text:
        block: dict[str, Any] = shape["inner"]
        return block

    return {"text": part.text, **shape.get("keys", {})}


def read_thought(block: dict[str, Any], where: str) -> Reasoning | None:
    """
    The reasoning in a block; None if it holds none, or none that we know.

    >>> read_thought({"reasoningContent": {"reasoningText": {"text": "look"}}}, "block").text
    'look'
    """
    match block:
        case {"reasoningContent": {"reasoningText": {"text": str(text), **inner}}}:
            signature = inner.get("signature")
            if isinstance(signature, str) and signature:
                del inner["signature"]
            else:
                signature = ""
            shape = {"as": "text"} | ({"inner": inner} if inner else {})
            found = Reasoning(text, signature=signature, extra=kept({}, shape, where))
        case {"reasoningContent": {"redactedContent": str(data)}}:
            found = Reasoning(encrypted=data, extra=kept({}, {"as": "redacted"}, where))
        case {"reasoningContent": {"redactedContent": bytes() | bytearray() as raw}}:
            shape = {"as": "redacted", "bytes": "raw"}
            found = Reasoning(encrypted=b64encode(raw).decode(), extra=kept({}, shape, where))
        case _:
            return None

    return found if write_thought(found) == block else None


def write_thought(part: Reasoning) -> dict[str, Any]:
    """
    The block of the API's own reasoning, a fresh dict.

    >>> write_thought(Reasoning("look", signature="c2ln"))
    {'reasoningContent': {'reasoningText': {'text': 'look', 'signature': 'c2ln'}}}
    """
    shape = own(part.extra)
    if shape.get("as") == "redacted":
        is_raw = shape.get("bytes") == "raw"
        inside: Any = {"redactedContent": as_bytes(part.encrypted) if is_raw else part.encrypted}
    else:
        signed = {"signature": part.signature} if part.signature else {}
        inside = {"reasoningText": {"text": part.text, **signed, **shape.get("inner", {})}}

    return {"reasoningContent": inside}
