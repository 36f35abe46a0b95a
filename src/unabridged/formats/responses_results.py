"""
The answers to calls as the Responses API writes them, read and written.

An answer to a function's or a custom call has text or a list of parts. The
answer to any other call (a screenshot, a shell's output, an approval) is kept
whole. One made by hand takes the form that its call wants.
"""

from collections.abc import Mapping
from typing import Any

from unabridged.formats.extras import Keys, item_json, read_id, write_id
from unabridged.formats.json_texts import loaded_json
from unabridged.formats.responses_content import read_all, write, write_all
from unabridged.formats.responses_parts import NAME, kept, left_out, own
from unabridged.messages import Image, Opaque, ToolResult
from unabridged.parts import quick_opaque, quick_result, quick_text

__all__ = ["is_answer", "read_common_result", "read_result", "result_key", "write_result"]

_PLAIN = ("function_call_output", "custom_tool_call_output")
_APPROVED = "mcp_approval_response"
_SHELL = "local_shell_call_output"


def is_answer(kind: str) -> bool:
    """
    Whether items of this type answer a call.

    >>> is_answer("computer_call_output"), is_answer("program_output")
    (True, False)
    """
    return kind.endswith("_call_output") or kind in ("tool_search_output", _APPROVED)


def result_key(item: Keys) -> str:
    """
    The key with the id of the call that is answered, empty if it has none.

    >>> result_key({"type": "mcp_approval_response", "approval_request_id": "a1"})
    'approval_request_id'
    """
    keys = ["approval_request_id" if item.get("type") == _APPROVED else "call_id"]
    if item.get("type") == _SHELL:
        keys.append("id")

    return next((key for key in keys if isinstance(item.get(key), str)), "")


def read_common_result(item: Keys) -> ToolResult | None:
    """
    The commonest of all answers, a function's text; None for any other.

    >>> item = {"type": "function_call_output", "call_id": "c1", "output": "noon"}
    >>> read_common_result(item) == ToolResult("c1", "noon")
    True
    """
    call_id, output = item.get("call_id"), item.get("output")
    if type(call_id) is not str or type(output) is not str or len(item) != 3:  # noqa: PLR2004
        return None

    return quick_result(call_id, (quick_text(output),))


def read_result(item: Keys, where: str, wanted: Mapping[str, str]) -> ToolResult | Opaque:
    """
    The item as a result; *wanted* are the types of answer that the calls before it want.

    One that names no call is an orphan; where only its whole says what it is, it is opaque.

    >>> item = {"type": "function_call_output", "call_id": "c1", "output": "noon"}
    >>> read_result(item, "input[1]", {}) == ToolResult("c1", "noon")
    True
    """
    kind, key = item["type"], result_key(item)
    if not key and (kind not in _PLAIN or not isinstance(item.get("call_id"), str | None)):
        return quick_opaque(NAME, item_json(item, where))
    if kind not in _PLAIN:
        whole = quick_opaque(NAME, item_json(item, where))
        return quick_result(item[key], (whole,), False, kept({}, {"as": kind}, where))  # noqa: FBT003

    shape: dict[str, Any] = {}
    keys, call_id = item.copy(), read_id(item, "call_id", where, shape)
    keys.pop("call_id", None)
    output = keys.pop("output", ...)
    del keys["type"]
    content, form = read_all(output, f"{where}.output")
    if form:
        shape["output"] = form
    if kind != _PLAIN[0] or wanted.get(call_id, kind) != kind:
        shape["as"] = kind
    if not keys and not shape:
        return quick_result(call_id, content)

    return quick_result(call_id, content, False, kept(keys, shape, where))  # noqa: FBT003


def write_result(result: ToolResult, wanted: Mapping[str, str]) -> dict[str, Any]:
    """
    The result as an item, a fresh dict, in the form that its call wants.

    >>> write_result(ToolResult("c1", "noon"), {})
    {'type': 'function_call_output', 'call_id': 'c1', 'output': 'noon'}
    >>> write_result(ToolResult("c1", "noon"), {"c1": "local_shell_call_output"})
    {'output': 'noon', 'type': 'local_shell_call_output', 'id': 'c1', 'call_id': 'c1'}
    """
    shape = own(result.extra) if result.extra else {}
    kind = shape.get("as") or wanted.get(result.call_id, _PLAIN[0])
    if kind not in _PLAIN:
        return _whole(result, kind)

    form = shape.get("output", "")
    words = [part for part in result.content if not left_out(part, "tool")]
    item = {**shape.get("keys", {}), "type": kind}
    write_id(item, "call_id", result.call_id, shape)
    if words or form not in ("null", "missing"):
        item["output"] = write_all(words, form)
    elif form == "null":
        item["output"] = None

    return item


def _whole(result: ToolResult, kind: str) -> dict[str, Any]:
    for part in result.content:
        if isinstance(part, Opaque) and not left_out(part, "tool"):
            item: dict[str, Any] = part.data.value
            if item.get("type") == kind:
                return {**item, result_key(item) or "call_id": result.call_id}

    return _made(result, kind)


def _made(result: ToolResult, kind: str) -> dict[str, Any]:
    """
    An answer made by hand: a JSON object is taken as the keys of the item.
    """
    key = "approval_request_id" if kind == _APPROVED else "call_id"
    # the reference names it `id`, the guide `call_id`
    both = {"id": result.call_id} if kind == _SHELL else {}
    given = loaded_json(result.text)
    keys = given if isinstance(given, dict) else _said(result, kind, given)

    return {**keys, "type": kind, **both, key: result.call_id}


def _said(result: ToolResult, kind: str, given: object) -> dict[str, Any]:
    match kind:
        case "mcp_approval_response":
            # only a plain yes is one
            return {"approve": True} if given is True else {"approve": False, "reason": result.text}
        case "tool_search_output":
            tools = given if isinstance(given, list) else []
            return {"execution": "client", "status": "completed", "tools": tools}
        case "shell_call_output":
            outcome = {"type": "exit", "exit_code": int(result.is_error)}
            return {"output": [{"stdout": result.text, "stderr": "", "outcome": outcome}]}
        case "apply_patch_call_output":
            status = "failed" if result.is_error else "completed"
            return {"status": status, "output": result.text}
        case "computer_call_output":
            return {"output": {"type": "computer_screenshot", **_screen(result)}}
        case _:
            return {"output": result.text}


def _screen(result: ToolResult) -> dict[str, Any]:
    for part in result.content:
        if isinstance(part, Image) and not left_out(part, "tool"):
            form = write(part)
            return {key: form[key] for key in ("image_url", "file_id") if key in form}

    return {}
