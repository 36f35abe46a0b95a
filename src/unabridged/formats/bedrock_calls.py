"""
A model's calls in the blocks of Bedrock Converse, read and written.

The API's `input` is an object, a call's arguments are JSON text. What another
provider's model wrote and is no object is sent inside of one.
"""

from typing import Any

from unabridged.formats.bedrock_bytes import kept, own
from unabridged.formats.extras import Keys, read_id, refuse, write_id
from unabridged.formats.json_texts import strict_value
from unabridged.json_values import json_of, sound_json
from unabridged.messages import ToolCall
from unabridged.parts import quick_call

__all__ = ["read_call", "write_call"]


def read_call(block: Keys, where: str) -> ToolCall | None:
    """
    The call in a block that holds a `toolUse`; None for one that a server ran.

    >>> read_call({"toolUse": {"toolUseId": "c1", "name": "now", "input": {}}}, "block")
    ToolCall(id='c1', name='now', arguments='{}')
    """
    common = _common_call(block)
    if common is not None:
        return common
    keys = block.copy()
    use = keys.pop("toolUse")
    shape: dict[str, Any] = {}
    match use:
        case {"type": "server_tool_use"}:
            return None
        case {"name": str(name), **inner}:
            id_ = read_id(use, "toolUseId", f"{where}.toolUse", shape)
            inner.pop("toolUseId", None)
            given = inner.pop("input", ...)
        case dict():
            refuse(f"{where}.toolUse.name", "text", use.get("name", ...))
        case _:
            refuse(f"{where}.toolUse", "an object", use)
    if inner:
        shape["inner"] = inner
    if not isinstance(given, dict):
        shape["input"] = "missing" if given is ... else "any"
    arguments = "{}" if given is ... else json_of(given, f"{where}.toolUse.input").text

    return quick_call(id_, name, arguments, kept(keys, shape, where))


def _common_call(block: Keys) -> ToolCall | None:
    """
    The commonest of all calls, of an id, a name and an input; None for any other.
    """
    use = block["toolUse"]
    if len(block) != 1 or type(use) is not dict or len(use) != 3:  # noqa: PLR2004  the three
        return None
    id_, name, given = use.get("toolUseId"), use.get("name"), use.get("input")
    if type(id_) is not str or type(name) is not str or type(given) is not dict:
        return None
    arguments = sound_json(given)

    return None if arguments is None else quick_call(id_, name, arguments)


def write_call(call: ToolCall) -> dict[str, Any]:
    """
    The call as a block, a fresh dict.

    >>> write_call(ToolCall("c1", "now"))
    {'toolUse': {'toolUseId': 'c1', 'name': 'now', 'input': {}}}
    """
    shape = own(call.extra) if call.extra else {}
    use: dict[str, Any] = {"toolUseId": "", "name": call.name}
    write_id(use, "toolUseId", call.id, shape)
    form = shape.get("input")
    if form != "missing" or call.arguments != "{}":
        use["input"] = _input(call.arguments, is_any=form == "any")

    return {"toolUse": use | shape.get("inner", {}), **shape.get("keys", {})}


def _input(arguments: str, *, is_any: bool) -> Any:
    found = strict_value(arguments)
    if found is ... or not (is_any or isinstance(found, dict)):
        # the API takes an object
        return {"arguments": arguments} if arguments.strip() else {}

    return found
