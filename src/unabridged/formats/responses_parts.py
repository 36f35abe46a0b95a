"""
What a part of the Responses API keeps in its `extra`, and which parts that API can carry.

```
as      the form it came in, such as "easy", "output_text", "custom", "reasoning", "item"
item    "same": it stands in the message item of the part before it
led     "yes": its item has an id, and came after a reasoning item of its response
inner   the keys of the message item that its words stood in
keys    its own keys
```

An opaque part has no `extra`; the ids of those that reasoning led to stand in
their message's, under "inner".
"""

from typing import Any

from attrs import evolve

from unabridged.formats.extras import FOREIGN_FILE, Extras
from unabridged.formats.json_texts import loaded_json
from unabridged.formats.media import out_of_reach
from unabridged.json_values import json_of, json_text
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
from unabridged.parts import NO_JSON
from unabridged.text import word

__all__ = [
    "NAME",
    "is_item",
    "item_id",
    "kept",
    "left_out",
    "own",
    "was_led",
    "without_id",
]

NAME = "openai_responses"

_ours = Extras(NAME)
kept, own = _ours.kept, _ours.own

_CONTENT = frozenset({"text", "refusal", "reasoning_text", "summary_text", "computer_screenshot"})
_API = "OpenAI Responses"


def is_item(data: dict[str, Any]) -> bool:
    """
    Whether *data* looks like an item of the input, and not like a part of a message's content.

    >>> is_item({"type": "web_search_call"}), is_item({"type": "refusal", "refusal": "No."})
    (True, False)
    """
    kind = data.get("type")
    if not isinstance(kind, str):
        return True

    is_content = kind in _CONTENT or kind.startswith(("input_", "output_"))

    return not is_content or kind.endswith(("_call", "_output"))


def left_out(part: Part, role: str) -> str:
    """
    Why this API cannot carry *part* in a message of this role; empty if it can.

    >>> left_out(Image(file="f1"), "user")
    ''
    >>> left_out(Image(file="f1"), "assistant")
    'an image: OpenAI Responses takes none from an assistant'
    """
    match part:
        case Opaque() if part.provider != NAME:
            return f"what only {word(part.provider)} understands"
        case Opaque() if not part.data.text.startswith("{"):
            return "an opaque part that is no object"
        case Reasoning() if own(part.extra).get("as") != "reasoning":
            return "reasoning of another provider"
        case Audio() if own(part.extra).get("as") != "input_audio" or role == "assistant":
            return f"audio: {_API} takes none"
        case Image() | Document():
            return _left_media(part, role)

    return ""


def _left_media(part: Image | Document, role: str) -> str:
    name = "an image" if isinstance(part, Image) else "a document"
    if isinstance(part, Document) and part.text:
        return ""
    if not (part.data or part.url or part.file):
        return f"{name} without data, url or file id"
    if not part.data:
        reason = out_of_reach(part.url, NAME)
        if part.file and not part.url and _ours.is_foreign(part.extra):
            reason = FOREIGN_FILE
        if reason:
            return f"{name}: {reason}"

    return f"{name}: {_API} takes none from an assistant" if role == "assistant" else ""


def item_id(part: Part) -> str:
    """
    The id of the item that *part* came from, empty if it has none or is not its first part.

    >>> item_id(Opaque(NAME, {"type": "web_search_call", "id": "ws_1"}))
    'ws_1'
    """
    match part:
        case Opaque(provider=provider, data=data):
            keys = data.value if provider == NAME and data.text.startswith("{") else {}
            found = keys.get("id") if is_item(keys) else None
        case ToolCall() if own(part.extra).get("as") == "item":
            found = loaded_json(part.arguments)
            found = found.get("id") if isinstance(found, dict) else None
        case Text():
            found = own(part.extra).get("inner", {}).get("id")
        case ToolCall() | ToolResult() | Reasoning():
            found = own(part.extra).get("keys", {}).get("id")
        case _:
            return ""

    return found if isinstance(found, str) else ""


def was_led(part: Part, message: Message | None = None) -> bool:
    """
    Whether the item of *part* has an id that it got after a reasoning item of its response.

    The API refuses such an item without its reasoning: "Item 'ws_…' of type
    'web_search_call' was provided without its required 'reasoning' item". An
    opaque part needs its *message*, which knows the ids of those.

    >>> was_led(ToolCall("c1", "now"))
    False
    """
    if isinstance(part, Opaque):
        led = own(message.extra).get("inner", {}).get("led", ()) if message is not None else ()

        return item_id(part) in led

    return own(part.extra).get("led") == "yes"


def without_id(part: Part) -> Part:
    """
    The part without its item's id, which the API takes as a fresh item.

    It is refused with the id where the reasoning is gone that it came after. A
    reference and a request for approval keep theirs: it is all they are.

    >>> call = ToolCall("c1", "now", extra={NAME: {"led": "yes", "keys": {"id": "fc_1"}}})
    >>> without_id(call) == ToolCall("c1", "now")
    True
    """
    if isinstance(part, Opaque):
        value = part.data.value if item_id(part) else {}
        is_reference = value.get("type") in (None, "item_reference") and "role" not in value
        if is_reference:
            return part
        return evolve(part, data=json_of(_without(value, "id")))

    extra = part.extra.value if own(part.extra) else {}
    if not extra:
        return part
    ours = _without(extra[NAME], "led")
    if isinstance(part, ToolCall) and ours.get("as") == "item":
        part = _fresh_call(part)
    for place in ("keys", "inner") if isinstance(part, Text) else ("keys",):
        if place in ours:
            ours[place] = _without(ours[place], "id")
            if not ours[place]:
                del ours[place]
    extra = {**extra, NAME: ours} if ours else _without(extra, NAME)

    return evolve(part, extra=json_of(extra) if extra else NO_JSON)


def _fresh_call(call: ToolCall) -> ToolCall:
    whole = loaded_json(call.arguments)
    if not isinstance(whole, dict) or whole.get("type") == "mcp_approval_request":
        return call

    return evolve(call, arguments=json_text(_without(whole, "id")))


def _without(keys: dict[str, Any], key: str) -> dict[str, Any]:
    return {other: value for other, value in keys.items() if other != key}
