"""
The calls of a model as the Responses API writes them, read and written.

A call of a function is a `ToolCall` without `extra`, unless its item has keys
of its own. A custom call's input becomes JSON text. Any other call that the
client answers (a computer's, a shell's, a request for approval) keeps its whole
item as its arguments, so that its answer finds it and the two are never parted.
What the server runs itself is no call here.
"""

from typing import Any

from unabridged.formats.extras import Extras, Keys, read_id, refuse, write_id
from unabridged.formats.json_texts import loaded_json
from unabridged.formats.responses_parts import kept, own
from unabridged.json_values import json_of, json_text
from unabridged.messages import ToolCall
from unabridged.parts import quick_call

__all__ = [
    "CALLS",
    "answer_to",
    "call_key",
    "is_call",
    "is_run_by_server",
    "read_call",
    "read_function_call",
    "write_call",
]

CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_APPROVAL = "mcp_approval_request"
_ANSWERS = {_APPROVAL: "mcp_approval_response", "tool_search_call": "tool_search_output"}
_LED = {"led": "yes"}
_chat = Extras("openai_chat")


def is_run_by_server(item: Keys) -> bool:
    """
    Whether the API runs the call itself, so that nobody else answers it.

    >>> is_run_by_server({"type": "tool_search_call", "execution": "server", "call_id": "c1"})
    True
    """
    where = item.get("environment")
    is_hosted = isinstance(where, dict) and where.get("type", "local") != "local"

    return item.get("execution") == "server" or is_hosted


def call_key(item: Keys) -> str:
    """
    The key with the id that an answer names, empty for what nobody answers.

    >>> call_key({"type": "computer_call", "id": "cu_1", "call_id": "c1"})
    'call_id'
    >>> call_key({"type": "web_search_call", "id": "ws_1"})
    ''
    """
    kind = item.get("type")
    if not isinstance(kind, str):
        return ""
    key = "id" if kind == _APPROVAL else "call_id" if kind.endswith("_call") else ""

    return key if isinstance(item.get(key), str) and not is_run_by_server(item) else ""


def is_call(item: Keys) -> bool:
    """
    Whether the item is a call that a client answers.

    >>> is_call({"type": "function_call"})
    True
    """
    return item.get("type") in CALLS or call_key(item) != ""


def answer_to(item: Keys) -> tuple[str, str]:
    """
    The id that an answer to this call names, and the type of the item it is.

    >>> answer_to({"type": "shell_call", "call_id": "c1"})
    ('c1', 'shell_call_output')
    """
    kind = str(item.get("type"))

    return str(item.get(call_key(item), "")), _ANSWERS.get(kind, f"{kind}_output")


def read_call(item: Keys, where: str, *, follows: bool) -> ToolCall:
    """
    The item as a call; *follows* says that reasoning came before it.

    Raises:
        FormatError: its name or its input is no text, or its id is another value.

    >>> item = {"type": "function_call", "call_id": "c1", "name": "now", "arguments": "{}"}
    >>> read_call(item, "input[0]", follows=False) == ToolCall("c1", "now")
    True
    """
    kind = item["type"]
    if kind == "function_call":
        return read_function_call(item, where, follows=follows)
    led = _LED if follows and isinstance(item.get("id"), str) else {}
    if kind != "custom_tool_call":
        extra = kept({}, {"as": "item", **led}, where)
        whole = json_of(item, where).text
        return quick_call(item[call_key(item)], kind.removesuffix("_call"), whole, extra)

    shape: dict[str, Any] = {"as": "custom", **led}
    keys, id_ = item.copy(), read_id(item, "call_id", where, shape)
    keys.pop("call_id", None)
    del keys["type"]
    name, text = (_text(keys, key, where) for key in ("name", "input"))
    extra = kept(keys, shape, where)

    return quick_call(id_, name, json_text(text), extra)


def read_function_call(item: Keys, where: str, *, follows: bool) -> ToolCall:
    """
    The commonest of all calls, of the type `function_call`.

    >>> item = {"type": "function_call", "call_id": "c1", "name": "now", "arguments": "{}"}
    >>> read_function_call(item | {"id": "fc_1"}, "input[0]", follows=False).extra.text
    '{"openai_responses":{"keys":{"id":"fc_1"}}}'
    """
    id_, name, text = item.get("call_id"), item.get("name"), item.get("arguments")
    if isinstance(id_, str) and isinstance(name, str) and isinstance(text, str) and len(item) == 4:  # noqa: PLR2004
        return quick_call(id_, name, text)
    shape: dict[str, Any] = {}
    keys, id_ = item.copy(), read_id(item, "call_id", where, shape)
    keys.pop("call_id", None)
    del keys["type"]
    name, text = (_text(keys, key, where) for key in ("name", "arguments"))
    if follows and isinstance(keys.get("id"), str):
        shape |= _LED

    return quick_call(id_, name, text, kept(keys, shape, where))


def write_call(call: ToolCall) -> dict[str, Any]:
    """
    The call as an item, a fresh dict.

    >>> write_call(ToolCall("c1", "now"))
    {'type': 'function_call', 'call_id': 'c1', 'name': 'now', 'arguments': '{}'}
    """
    if not call.extra:
        return _item(call, "function_call", call.arguments)
    shape = own(call.extra)
    if shape.get("as") == "item":
        return _whole(call)
    # a custom call of the Chat API is one here too
    if "custom" in (shape.get("as"), _chat.own(call.extra).get("as")):
        text = loaded_json(call.arguments)
        item = _item(call, "custom_tool_call", text if isinstance(text, str) else call.arguments)
    else:
        item = _item(call, "function_call", call.arguments)
    write_id(item, "call_id", call.id, shape)

    return {**shape.get("keys", {}), **item}


def _item(call: ToolCall, kind: str, text: str) -> dict[str, Any]:
    return {"type": kind, "call_id": call.id, "name": call.name, CALLS[kind]: text}


def _whole(call: ToolCall) -> dict[str, Any]:
    kind = call.name if call.name == _APPROVAL else f"{call.name}_call"
    whole = loaded_json(call.arguments)
    item: dict[str, Any] = whole if isinstance(whole, dict) else {}
    item.setdefault("type", kind)
    item["id" if kind == _APPROVAL else "call_id"] = call.id

    return item


def _text(keys: dict[str, Any], key: str, where: str) -> str:
    found = keys.pop(key, ...)
    if not isinstance(found, str):
        refuse(f"{where}.{key}", "text", found)

    return found
