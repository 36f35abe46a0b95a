"""
The parts of a Gemini content, but for calls and results, read and written.

```
text                     Text; with `thought`, Reasoning
inlineData, fileData     Image, Audio, Document by media type
anything else            Opaque, in place
```

A signature on words or a call stays in that part's extra, where `is_signed`
finds it; on a thought it is the signature of the Reasoning.
"""

from typing import Any, TypeAlias, assert_never

from attrs import evolve

from unabridged.formats.extras import Keys
from unabridged.formats.gemini_keys import (
    NAME,
    SIGNATURES,
    kept,
    opaque,
    own,
    put_bytes,
    spelled,
    take,
    take_bytes,
    whole,
)
from unabridged.formats.gemini_media import Media, media_left_out, read_media, write_media
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
from unabridged.parts import quick_text
from unabridged.text import word

__all__ = [
    "NAME",
    "Words",
    "is_signed",
    "kind_of",
    "left_out",
    "read",
    "read_text",
    "with_dummy_signature",
    "write",
]

Words: TypeAlias = Text | Reasoning | Media | Opaque

# a signature that Gemini 3 takes for a call which it did not make itself, as base64:
# https://ai.google.dev/gemini-api/docs/thought-signatures
_DUMMY = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="  # skip_thought_signature_validator

_KINDS = {
    "text": "text",
    "inlineData": "inlineData",
    "inline_data": "inlineData",
    "fileData": "fileData",
    "file_data": "fileData",
    "functionCall": "functionCall",
    "function_call": "functionCall",
    "functionResponse": "functionResponse",
    "function_response": "functionResponse",
    "executableCode": "other",
    "executable_code": "other",
    "codeExecutionResult": "other",
    "code_execution_result": "other",
    "toolCall": "other",
    "tool_call": "other",
    "toolResponse": "other",
    "tool_response": "other",
}


def kind_of(part: Keys) -> str:
    """
    What the part holds, "other" for what we do not know or several things at once.

    >>> kind_of({"function_call": {"name": "now"}, "text": None})
    'functionCall'
    """
    kinds = [_KINDS[key] for key in part if key in _KINDS and part[key] is not None]
    if not kinds and part.get("thought") is True:
        return "text"

    return kinds[0] if len(kinds) == 1 else "other"


def left_out(part: Part, role: str) -> str:  # noqa: ARG001  the mender asks every format alike
    """
    Why `dump` leaves a part out; empty if it writes it.

    >>> left_out(Reasoning("hm", signature="c2ln"), "assistant")
    'reasoning of another provider'
    >>> left_out(Text("hi"), "user")
    ''
    """
    match part:
        case Text() | ToolCall() | ToolResult():
            return ""
        case Reasoning():
            return "" if "as" in own(part.extra) else "reasoning of another provider"
        case Opaque():
            return (
                ""
                if part.provider == NAME
                else f"a part that only {word(part.provider)} understands"
            )
        case Image() | Audio() | Document():
            return media_left_out(part)
        case never:
            assert_never(never)


def is_signed(call: ToolCall) -> bool:
    """
    Whether the call carries a thought signature, which Gemini 3 asks for.

    >>> is_signed(ToolCall("c1", "now"))
    False
    """
    if not call.extra:
        return False
    keys = own(call.extra).get("keys", {})

    return any(keys.get(name) for name in SIGNATURES)


def with_dummy_signature(call: ToolCall) -> ToolCall:
    """
    The call with the signature that Gemini takes for a call of another model.

    >>> is_signed(with_dummy_signature(ToolCall("c1", "now")))
    True
    """
    if is_signed(call):
        return call
    shape = own(call.extra)
    name = SIGNATURES[spelled("functionCall", shape) == "function_call"]
    keys = {**shape.get("keys", {}), name: _DUMMY}
    extra = call.extra.value
    others = extra if isinstance(extra, dict) else {}

    return evolve(call, extra=json_of({**others, NAME: {**shape, "keys": keys}}))


def read(part: Keys, kind: str, where: str) -> Words:
    """
    The part, whose *kind* is no call and no result.

    >>> read({"text": "hi", "thought": True}, "text", "part").text
    'hi'
    >>> read({"toolCall": {"id": "c1"}}, "other", "part")
    Opaque(provider='gemini', data=Json(text='{"toolCall":{"id":"c1"}}'))
    """
    found: Words | None = None
    if kind == "text":
        found = read_text(part, where)
    elif kind != "other":
        found = read_media(part, kind, where)

    return opaque(part, where) if found is None else found


def read_text(part: Keys, where: str) -> Text | Reasoning | None:
    """
    Words or a thought; None when the text is none.

    >>> read_text({"text": "hi"}, "part")
    Text(text='hi')
    """
    keys, shape = part.copy(), dict[str, Any]()
    text = keys.pop("text", None)
    if "text" in part and not isinstance(text, str):
        return None
    take_bytes(keys, shape, *SIGNATURES)
    if keys.get("thought") is not True:
        return quick_text(text or "", kept(keys, shape, where))

    del keys["thought"]
    shape["as"] = "thought" if "text" in part else "bare"
    signature = ""
    if any(isinstance(keys.get(name), str) and keys[name] for name in SIGNATURES):
        found = take(keys, "thoughtSignature", shape)
        if not isinstance(found, str) or not found:
            return None
        signature = found

    return Reasoning(text or "", signature=signature, extra=kept(keys, shape, where))


def write(part: Words) -> Any:
    """
    The part as Gemini takes it, a fresh value.

    >>> write(Text("hi"))
    {'text': 'hi'}
    """
    match part:
        case Text():
            return _text(part) if part.extra else {"text": part.text}
        case Reasoning():
            return _thought(part)
        case Opaque():
            return whole(part)
        case Image() | Audio() | Document():
            return write_media(part)
        case never:
            assert_never(never)


def _text(part: Text) -> Any:
    shape = own(part.extra)
    if shape.get("as") == "string":
        return part.text

    return {"text": part.text, **put_bytes(dict(shape.get("keys", {})), shape)}


def _thought(part: Reasoning) -> dict[str, Any]:
    shape = own(part.extra)
    form: dict[str, Any] = {"thought": True, **shape.get("keys", {})}
    if part.text or shape.get("as") != "bare":
        form["text"] = part.text
    if part.signature:
        form[spelled("thoughtSignature", shape)] = part.signature

    return put_bytes(form, shape)
