"""
The blocks inside a message of the Messages API, read and written.

A block is read into a typed part only when it can be given back exactly; any
other is kept whole as `Opaque`, also all that the server ran by itself. Keys
without a field, and the shape a block came in, are kept in the part's `extra`.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias, assert_never

from unabridged.formats.anthropic_calls import read_call, write_call
from unabridged.formats.anthropic_keys import NAME, kept, named, own, without
from unabridged.formats.anthropic_media import read_media, source_of, write_media
from unabridged.formats.anthropic_words import (
    is_ours,
    read_plain,
    read_redacted,
    read_text,
    read_thinking,
    write_text,
    write_thought,
)
from unabridged.formats.extras import item_json, read_id, refuse, write_id
from unabridged.json_values import Json
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
from unabridged.parts import quick_opaque, quick_result, quick_text
from unabridged.text import word

__all__ = ["joined", "left_out", "read_content", "write"]

Block: TypeAlias = dict[str, Any]
Readers: TypeAlias = dict[str, Callable[[Block, str], Part | None]]

_SYSTEM = ("system", "developer")
_NEVER_CALL = (*_SYSTEM, "user", "tool")
_RESULT = ("type", "tool_use_id", "content")
_TOLD_RESULT = (*_RESULT, "is_error")
_AT_HOME = {"user": (Text, ToolResult), "assistant": (Text, ToolCall, Reasoning)}


def left_out(part: Part, role: str) -> str:
    """
    Why a message of this role cannot carry *part* here; "" if it can.

    >>> left_out(Text("hi"), "user")
    ''
    >>> left_out(Audio("aGk="), "user")
    'audio: Anthropic takes none'
    """
    match part:
        case Text():
            return ""
        case Opaque():
            return _opaque_left_out(part)
        case Audio():
            return "audio: Anthropic takes none"
        case _ if role in _SYSTEM:
            return f"{_kind(part)}: Anthropic takes only text in a system message"
        case Image() | Document():
            return _left_media(part, role)
        case ToolCall() | ToolResult() | Reasoning():
            return _misplaced(part, role)
        case never:
            assert_never(never)


def _left_media(part: Image | Document, role: str) -> str:
    if role == "assistant":
        return f"{_kind(part)}: Anthropic takes none from an assistant"
    source = source_of(part)

    return source if isinstance(source, str) else ""


def read_content(
    content: object, where: str, role: str, *, inside: bool = False
) -> tuple[tuple[Part, ...], str]:
    """
    The parts of a content, and a word for its form where it is not the simplest one.

    *inside* a tool result only words, pictures and documents are read into parts.

    >>> read_content("hi", "messages[0].content", "user")
    ((Text(text='hi'),), '')
    """
    if isinstance(content, str):
        return (quick_text(content),), ""
    if content is None:
        return (), "null"
    if content is ...:
        return (), "missing"
    if not isinstance(content, list):
        refuse(where, "text or a list of blocks", content)
    if not content:
        return (), "empty"
    readers = _READERS_INSIDE if inside else _READERS
    parts: list[Part] = []
    for at, block in enumerate(content):
        part: Part | None = read_plain(block)
        if part is None:
            part = _read(block, where and f"{where}[{at}]", role, readers)
        parts.append(part)

    return tuple(parts), "list" if len(parts) == 1 and _is_plain(content[0]) else ""


def write(part: Part, role: str) -> Block | None:
    """
    The part as a block, a fresh dict; None if `left_out` says why.

    >>> write(ToolCall("c1", "now"), "assistant")
    {'type': 'tool_use', 'id': 'c1', 'name': 'now', 'input': {}}
    >>> write(Reasoning("hm"), "assistant") is None
    True
    """
    if isinstance(part, Text):
        return write_text(part)
    if isinstance(part, Audio) or left_out(part, role):
        return None
    match part:
        case ToolCall():
            block: Block | None = write_call(part)
        case ToolResult():
            block = _tool_result(part)
        case Reasoning():
            block = write_thought(part)
        case Image() | Document():
            block = write_media(part)
        case Opaque():
            block = part.data.value
        case never:
            assert_never(never)

    return block


def joined(blocks: list[Block], form: str) -> str | list[Block]:
    """
    The content of these blocks: words alone as text, unless they came as a list.

    >>> joined([{"type": "text", "text": "hi"}], "")
    'hi'
    """
    if len(blocks) == 1 and form != "list" and _is_plain(blocks[0]):
        return str(blocks[0]["text"])

    return blocks


def _is_plain(block: Block) -> bool:
    return len(block) == 2 and block.get("type") == "text"  # noqa: PLR2004  type and text


def _read(block: Any, where: str, role: str, readers: Readers) -> Part:
    if not isinstance(block, dict):
        refuse(where, "an object", block)
    kind = block.get("type")
    reader = readers.get(kind) if isinstance(kind, str) else None
    part = reader(block, where) if reader else None
    if part is None or (type(part) not in _AT_HOME.get(role, ()) and left_out(part, role)):
        return quick_opaque(NAME, item_json(block, where))

    return part


def _kind(part: Part) -> str:
    match part:
        case ToolCall():
            return "tool call"
        case ToolResult():
            return "tool result"
        case _:
            return type(part).__name__.lower()


def _misplaced(part: ToolCall | ToolResult | Reasoning, role: str) -> str:
    match part:
        case ToolCall() if role in _NEVER_CALL:
            return "tool call: only an assistant calls"
        case Reasoning() if not is_ours(part):
            return "reasoning of another provider"
        case Reasoning() if role != "assistant":
            return "reasoning: only an assistant thinks"
        case _:
            return ""


def _opaque_left_out(part: Opaque) -> str:
    if part.provider != NAME:
        return f"a part that only {word(part.provider)} understands"

    return "" if part.data.text.startswith("{") else "an opaque part that is no object"


def _result(block: Block, where: str) -> ToolResult:
    lack: dict[str, Any] = {}
    call_id, content = read_id(block, "tool_use_id", where, lack), block.get("content", ...)
    words, form = read_content(content, where and f"{where}.content", "tool", inside=True)
    is_error = block.get("is_error")
    is_told = is_error is True or is_error is False
    form = "" if form == "missing" else form
    if len(block) == 3 + is_told and content is not ... and not lack:
        extra = _result_shape(form, is_told and not is_error)
    else:
        keys = without(block, _TOLD_RESULT if is_told else _RESULT)
        hints = own(_result_shape(form, is_told and not is_error)) | lack
        extra = kept(keys, hints, where)

    return quick_result(call_id, words, is_error is True, extra)  # type: ignore[arg-type]


@cache
def _result_shape(form: str, is_told_fine: bool) -> Json:
    """
    The extra of a result that has no keys but the API's.
    """
    shape = {"content": form} if form else {}

    return kept({}, shape | ({"is_error": "false"} if is_told_fine else {}), "")


def _tool_result(result: ToolResult) -> Block:
    block: Block = {"type": "tool_result"}
    shape = own(result.extra) if result.extra else {}
    write_id(block, "tool_use_id", result.call_id, shape)
    form = shape.get("content", "")
    written = (write(part, "tool") for part in result.content)
    blocks = [inner for inner in written if inner is not None]
    if blocks:
        block["content"] = joined(blocks, form)
    elif form in ("null", "empty"):
        block["content"] = None if form == "null" else []
    if result.is_error or shape.get("is_error") == "false":
        block["is_error"] = result.is_error

    return {**named(shape, "keys"), **block} if shape else block


_READERS_INSIDE: Readers = {"text": read_text, "image": read_media, "document": read_media}
_READERS: Readers = {
    **_READERS_INSIDE,
    "thinking": read_thinking,
    "redacted_thinking": read_redacted,
    "tool_use": read_call,
    "tool_result": _result,
}
