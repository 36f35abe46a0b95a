"""
The calls of a chat message, read and written.

An ordinary call is a `ToolCall` without `extra`. A custom call's input becomes
JSON text; a call of a kind that is not known here keeps all of itself as its
arguments. So every call has an id for its result to find, and arguments that
can be counted.
"""

from typing import Any

from unabridged.formats.chat_parts import kept, own
from unabridged.formats.extras import Keys, refuse
from unabridged.formats.json_texts import loaded_json
from unabridged.json_values import json_of, json_text
from unabridged.messages import ToolCall
from unabridged.parts import quick_call

__all__ = ["function_form", "read_calls", "write_call", "written_form"]


def read_calls(keys: dict[str, Any], where: str) -> tuple[ToolCall, ...]:
    """
    Take the calls out of *keys*; null and an empty list stay there.

    >>> call = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    >>> read_calls({"tool_calls": [call]}, "messages[0]") == (ToolCall("c1", "now"),)
    True
    """
    calls = keys.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        refuse(f"{where}.tool_calls", "a list", calls)
    if not calls:
        return ()
    del keys["tool_calls"]

    return tuple(
        [
            _ordinary(call) or _call(call, f"{where}.tool_calls[{at}]")
            for at, call in enumerate(calls)
        ]
    )


def write_call(call: ToolCall) -> dict[str, Any]:
    """
    The call as a chat API takes it, a fresh dict.

    >>> write_call(ToolCall("c1", "now"))
    {'id': 'c1', 'type': 'function', 'function': {'name': 'now', 'arguments': '{}'}}
    """
    if not call.extra:
        form: dict[str, Any] = {"name": call.name, "arguments": call.arguments}
        return {"id": call.id, "type": "function", "function": form}
    shape = own(call.extra)
    match shape.get("as"):
        case "custom":
            form = {"name": call.name, "input": _spoken(call.arguments)}
            kind = "custom"
        case "other":
            whole = _object(call.arguments) or {"type": call.name}
            return whole | {"id": call.id} if call.id else whole
        case _:
            form = {"name": call.name, "arguments": call.arguments}
            kind = "function"

    return _shaped({"id": call.id, "type": kind, kind: form}, kind, shape)


def _shaped(out: dict[str, Any], kind: str, shape: dict[str, Any]) -> dict[str, Any]:
    lacks = shape.get("lacks", ())
    if "id" in lacks and not out["id"]:
        del out["id"]
    if "type" in lacks:
        del out["type"]
    out[kind] = written_form(out[kind], shape)

    return {**shape.get("keys", {}), **out}


def written_form(form: dict[str, Any], shape: dict[str, Any]) -> dict[str, Any]:
    """
    The name and arguments of a function in the shape that they came in.

    >>> written_form({"name": "now", "arguments": "{}"}, {"arguments": "object"})
    {'name': 'now', 'arguments': {}}
    """
    form = dict(form)
    if "arguments" in shape.get("lacks", ()) and form["arguments"] == "{}":
        del form["arguments"]
    if shape.get("arguments") == "object":
        form["arguments"] = _object(form["arguments"])

    return {**shape.get("inner", {}), **form}


def _ordinary(call: object) -> ToolCall | None:
    """
    A call with no key but those that every API sends; None for any other.
    """
    if type(call) is not dict or len(call) != 3:  # noqa: PLR2004  id, type and function
        return None
    id_, form = call.get("id"), call.get("function")
    if type(id_) is not str or type(form) is not dict or call.get("type") != "function":
        return None
    name, arguments = form.get("name"), form.get("arguments")
    if type(name) is not str or type(arguments) is not str or len(form) != 2:  # noqa: PLR2004
        return None

    return quick_call(id_, name, arguments)


def _call(call: object, where: str) -> ToolCall:
    if not isinstance(call, dict):
        refuse(where, "an object", call)
    match call:
        case {
            "id": str(id_),
            "type": "function",
            "function": {"name": str(name), "arguments": str(arguments), **inner},
            **keys,
        }:
            return ToolCall(id_, name, arguments, extra=kept(keys, _inner(inner), where))
        case {
            "id": str(id_),
            "type": "custom",
            "custom": {"name": str(name), "input": str(text), **inner},
            **keys,
        }:
            extra = kept(keys, {"as": "custom", **_inner(inner)}, where)
            return ToolCall(id_, name, json_text(text), extra=extra)
        case _ if call.get("type", "function") == "function":
            return _loose_call(dict(call), where)
        case _:
            return ToolCall(
                call["id"] if isinstance(call.get("id"), str) else "",
                call["type"] if isinstance(call.get("type"), str) else "",
                json_of(call, where).text,
                extra=kept({}, {"as": "other"}, where),
            )


def _loose_call(keys: dict[str, Any], where: str) -> ToolCall:
    # as local servers write it: without id or type, with arguments as an object or without any
    lacks = [] if "type" in keys else ["type"]
    keys.pop("type", None)
    name, arguments, shape = function_form(keys.pop("function", ...), f"{where}.function")

    id_ = keys.get("id")
    if id_ is None:
        lacks.append("id")
    elif isinstance(id_, str):
        del keys["id"]
    else:
        refuse(f"{where}.id", "text", id_)
    lacks += shape.pop("lacks", ())
    if lacks:
        shape["lacks"] = tuple(lacks)

    return ToolCall(id_ or "", name, arguments, extra=kept(keys, shape, where))


def function_form(function: object, where: str) -> tuple[str, str, dict[str, Any]]:
    """
    The name and arguments that a *function* says, and the shape that it says them in.

    >>> function_form({"name": "now", "arguments": {}}, "function_call")
    ('now', '{}', {'arguments': 'object'})
    """
    if not isinstance(function, dict):
        refuse(where, "an object", function)
    shape: dict[str, Any] = {}
    inner = dict(function)
    name = inner.pop("name", ...)
    if not isinstance(name, str):
        refuse(f"{where}.name", "text", name)
    match inner.get("arguments"):
        case None:
            shape["lacks"] = ("arguments",)
            arguments = "{}"
        case str(arguments):
            del inner["arguments"]
        case dict() as given:
            shape["arguments"] = "object"
            arguments = json_of(given, f"{where}.arguments").text
            del inner["arguments"]
        case wrong:
            refuse(f"{where}.arguments", "text", wrong)

    return name, arguments, shape | _inner(inner)


def _inner(inner: Keys) -> dict[str, Any]:
    return {"inner": inner} if inner else {}


def _object(arguments: str) -> dict[str, Any]:
    found = loaded_json(arguments)

    return found if isinstance(found, dict) else {}


def _spoken(arguments: str) -> str:
    found = loaded_json(arguments)

    return found if isinstance(found, str) else arguments
