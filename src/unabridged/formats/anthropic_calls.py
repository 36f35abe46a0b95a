"""
A model's calls, as blocks of the type tool_use.

The API's `input` is an object, a call's arguments are JSON text. What another
provider's model wrote and is no object is sent inside of one.
"""

from typing import Any

from unabridged.formats.anthropic_keys import kept, named, own, required, without
from unabridged.formats.extras import read_id, write_id
from unabridged.formats.json_texts import strict_value
from unabridged.json_values import json_of, sound_json
from unabridged.messages import ToolCall
from unabridged.parts import quick_call

__all__ = ["as_input", "read_call", "write_call"]


def read_call(block: dict[str, Any], where: str) -> ToolCall:
    """
    The call in a block.

    Raises:
        FormatError: it has no name, or an id that is no text.

    >>> read_call({"type": "tool_use", "id": "c1", "name": "now", "input": {}}, "block")
    ToolCall(id='c1', name='now', arguments='{}')
    """
    shape: dict[str, Any] = {}
    id_, name = read_id(block, "id", where, shape), required(block, "name", where)
    given = block.get("input", ...)
    if len(block) == 4 and type(given) is dict and not shape:  # noqa: PLR2004  these and the type
        text = sound_json(given)
        if text is not None:
            return quick_call(id_, name, text)
    if not isinstance(given, dict):
        shape["input"] = "missing" if given is ... else "bare"
    arguments = "{}" if given is ... else json_of(given, f"{where}.input").text
    extra = kept(without(block, ("type", "id", "name", "input")), shape, where)

    return quick_call(id_, name, arguments, extra)


def write_call(call: ToolCall) -> dict[str, Any]:
    """
    The call as a block, a fresh dict.

    >>> write_call(ToolCall("c1", "now", "noon"))["input"]
    {'arguments': 'noon'}
    """
    block: dict[str, Any] = {"type": "tool_use", "id": "", "name": call.name}
    shape = own(call.extra) if call.extra else {}
    write_id(block, "id", call.id, shape)
    match shape.get("input"):
        case "missing" if call.arguments == "{}":
            pass
        case "bare" if (found := strict_value(call.arguments)) is not ...:
            block["input"] = found
        case _:
            block["input"] = as_input(call.arguments)

    return {**named(shape, "keys"), **block} if shape else block


def as_input(arguments: str) -> dict[str, Any]:
    """
    The object for these arguments: what they say, or one that holds their text.

    >>> as_input('{"city": "Lima"}'), as_input(""), as_input('{"city": "Li')
    ({'city': 'Lima'}, {}, {'arguments': '{"city": "Li'})
    """
    found = strict_value(arguments)
    if isinstance(found, dict):
        return found

    return {"arguments": arguments} if arguments.strip() else {}
