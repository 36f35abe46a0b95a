"""
The blocks in a Bedrock Converse message, read and written.

A block is read into a typed part only when it can be given back exactly; any
other is kept whole as `Opaque`.
"""

from collections.abc import Sequence
from typing import Any

from unabridged.formats.bedrock_bytes import NAME, kept, own, read_opaque, write_opaque
from unabridged.formats.bedrock_calls import read_call, write_call
from unabridged.formats.bedrock_media import Names, media_left_out, read_media, write_media
from unabridged.formats.bedrock_words import (
    read_text,
    read_thought,
    write_text,
    write_thought,
)
from unabridged.formats.extras import Keys, read_id, refuse, write_id
from unabridged.formats.json_texts import strict_value
from unabridged.json_values import json_of
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
from unabridged.parts import NO_JSON, quick_result, quick_text

__all__ = ["NAME", "PROMPT", "left_out", "read", "read_all", "write"]

PROMPT = frozenset({"system", "developer"})  # roles whose words stand in the system prompt


def read_all(blocks: Sequence[object], role: str, where: str) -> tuple[Part, ...]:
    """
    The parts for the blocks that stand in a message of the *role*.

    >>> read_all([{"text": "a"}, {"text": "b"}], "user", "messages[0].content")
    (Text(text='a'), Text(text='b'))
    """
    return tuple(
        [
            quick_text(block["text"])
            if isinstance(block, dict) and len(block) == 1 and type(block.get("text")) is str
            else read(block, role, where and f"{where}[{at}]")
            for at, block in enumerate(blocks)
        ]
    )


def read(block: Any, role: str, where: str) -> Part:
    """
    The part for a block that stands in a message of the *role*.

    >>> read({"toolUse": {"toolUseId": "c1", "name": "now", "input": {}}}, "assistant", "block")
    ToolCall(id='c1', name='now', arguments='{}')
    >>> read({"cachePoint": {"type": "default"}}, "user", "block")
    Opaque(provider='bedrock', data=Json(text='{"cachePoint":{"type":"default"}}'))
    """
    if not isinstance(block, dict):
        refuse(where, "an object", block)
    if role in PROMPT:
        return read_text(block, where) or read_opaque(block, where)
    if "toolUse" in block:
        return read_call(block, where) or read_opaque(block, where)
    if "toolResult" in block and role != "assistant":
        return _result(block, where)

    return (
        read_text(block, where)
        or read_thought(block, where)
        or read_media(block, role, where)
        or read_opaque(block, where)
    )


def left_out(part: Part, role: str) -> str:
    """
    Why `dump` leaves *part* out of a message of the *role*, "" if it does not.

    The role "tool" stands for the content of a tool's result.

    >>> left_out(Reasoning("first, look"), "assistant")
    'reasoning of another provider'
    """
    if role in PROMPT and not isinstance(part, Text | Opaque):
        return f"{_KINDS[type(part)]} in a system prompt: Bedrock takes text"
    match part:
        case Opaque():
            is_ours = part.provider == NAME and part.data.text.startswith("{")
            return "" if is_ours else "a part that only another provider takes"
        case Reasoning():
            return "" if "as" in own(part.extra) else "reasoning of another provider"
        case Text() | ToolCall() | ToolResult():
            return ""
        case _:
            return media_left_out(part, role)


_PLAIN = frozenset({"toolUseId", "content"})
_KNOWN = _PLAIN | {"status"}
_KINDS = {
    Image: "an image",
    Document: "a document",
    Audio: "audio",
    Reasoning: "reasoning",
    ToolCall: "a call",
    ToolResult: "a result",
}


def write(part: Part, names: Names) -> dict[str, Any]:
    """
    The block for a part that is not `left_out`, a fresh dict.

    >>> write(Text("hi"), Names([]))
    {'text': 'hi'}
    """
    match part:
        case Text():
            return write_text(part)
        case ToolCall():
            return write_call(part)
        case ToolResult():
            return _write_result(part, names)
        case Reasoning():
            return write_thought(part)
        case Opaque():
            return write_opaque(part)
        case _:
            return write_media(part, names)


def _result(block: Keys, where: str) -> ToolResult:
    keys = block.copy()
    result = keys.pop("toolResult")
    where = f"{where}.toolResult"
    if not isinstance(result, dict):
        refuse(where, "an object", result)
    shape: dict[str, Any] = {}
    call_id, content = read_id(result, "toolUseId", where, shape), result.get("content", ...)
    if content is ...:
        content, shape["content"] = [], "missing"
    if not isinstance(content, list):
        refuse(f"{where}.content", "a list", content)
    status = result.get("status")
    if status == "success":
        shape["status"] = "success"
    known = _KNOWN if status in ("success", "error") else _PLAIN
    if not result.keys() <= known:
        shape["inner"] = {key: value for key, value in result.items() if key not in known}
    words = tuple([_found(block, f"{where}.content[{at}]") for at, block in enumerate(content)])
    extra = kept(keys, shape, where) if keys or shape else NO_JSON

    return quick_result(call_id, words, status == "error", extra)


def _found(block: object, where: str) -> Text | Image | Document | Opaque:
    """
    The part for a block inside a result.
    """
    if not isinstance(block, dict):
        refuse(where, "an object", block)
    words = block.get("text")
    if len(block) == 1 and isinstance(words, str):
        return quick_text(words)
    match block:
        case {"json": value, **keys} if "text" not in keys:
            text = json_of(value, f"{where}.json").text
            return Text(text, extra=kept(keys, {"as": "json"}, where))
    media = read_media(block, "user", where)
    if isinstance(media, Audio):  # the API has none here
        media = None

    return read_text(block, where) or media or read_opaque(block, where)


def _write_result(result: ToolResult, names: Names) -> dict[str, Any]:
    shape = own(result.extra) if result.extra else {}
    form: dict[str, Any] = {}
    write_id(form, "toolUseId", result.call_id, shape)
    content = [_written(part, names) for part in result.content if not left_out(part, "tool")]
    if content or shape.get("content") != "missing":
        form["content"] = content
    if result.is_error:
        form["status"] = "error"
    elif "status" in shape:
        form["status"] = shape["status"]

    return {"toolResult": shape.get("inner", {}) | form, **shape.get("keys", {})}


def _written(part: Part, names: Names) -> dict[str, Any]:
    shape = own(part.extra) if isinstance(part, Text) and part.extra else {}
    if isinstance(part, Text) and shape.get("as") == "json":
        value = strict_value(part.text)
        if value is not ...:
            return {"json": value, **shape.get("keys", {})}

    return write(part, names)
