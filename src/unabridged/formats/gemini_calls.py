"""
The calls of a Gemini content, read and written.

Where the API gave no id, `gemini_names` makes one, which is not sent.
"""

from typing import Any

from unabridged.formats.extras import Keys, refuse
from unabridged.formats.gemini_functions import closed, hints_of, opened, taken_text
from unabridged.formats.gemini_keys import kept, own
from unabridged.formats.gemini_names import Names, is_made
from unabridged.formats.json_texts import object_in
from unabridged.json_values import json_of, sound_json
from unabridged.messages import ToolCall
from unabridged.parts import quick_call

__all__ = ["read_call", "read_common_call", "write_call"]

_CAMEL: dict[str, tuple[str]] = {}
_SNAKE = {"snake": ("function_call",)}


def read_common_call(part: Keys, names: Names) -> ToolCall | None:
    """
    The commonest of all calls: id, name and args, signed or not; None for any other part.

    >>> call = {"id": "c1", "name": "now", "args": {}}
    >>> read_common_call({"functionCall": call, "thoughtSignature": "c2ln"}, Names()).name
    'now'
    >>> read_common_call({"functionCall": call, "thought": True}, Names())
    """
    form, sign, shape = part.get("functionCall"), "thoughtSignature", _CAMEL
    if form is None:
        form, sign, shape = part.get("function_call"), "thought_signature", _SNAKE
    if type(form) is not dict or len(form) != 3:  # noqa: PLR2004  id, name and args
        return None
    id_, name, args = form.get("id"), form.get("name"), form.get("args")
    if not (type(id_) is str is type(name) and id_ and name and type(args) is dict):
        return None
    arguments = sound_json(args)
    if arguments is None:
        return None
    keys: Keys = {}
    if len(part) > 1:
        if len(part) > 2 or type(part.get(sign)) is not str:  # noqa: PLR2004  the call and this
            return None
        keys = {sign: part[sign]}
    names[id_] = name
    names.made.discard(id_)

    return quick_call(id_, name, arguments, kept(keys, shape, ""))


def read_call(part: Keys, names: Names, where: str) -> ToolCall:
    """
    The call in a `functionCall` part; *names* learns its name.

    >>> read_call({"functionCall": {"id": "c1", "name": "now", "args": {}}}, Names(), "part").id
    'c1'
    """
    keys, shape, inner = opened(part, "functionCall", where)
    where = f"{where}.functionCall"
    lacks: list[str] = []
    name = taken_text(inner, "name", lacks, where)
    id_ = taken_text(inner, "id", lacks, where)
    args = inner.get("args")
    if args is None:
        lacks.append("args")
        arguments = "{}"
    elif isinstance(args, dict):
        arguments = json_of(inner.pop("args"), f"{where}.args").text
    else:
        refuse(f"{where}.args", "an object", args)
    hints = shape | hints_of(lacks, inner)
    if id_:
        names[id_] = name
        names.made.discard(id_)

    return quick_call(id_ or names.id_of_call(name), name, arguments, kept(keys, hints, where))


def write_call(call: ToolCall) -> dict[str, Any]:
    """
    The call as Gemini takes it, a fresh dict.

    Arguments that are no JSON object go under the key `arguments`.

    >>> write_call(ToolCall("c1", "now"))
    {'functionCall': {'id': 'c1', 'name': 'now', 'args': {}}}
    """
    args = object_in(call.arguments)
    if args is None:
        args = {"arguments": call.arguments} if call.arguments.strip() else {}
    shape = own(call.extra) if call.extra else {}
    lacks = shape.get("lacks", ())
    form: dict[str, Any] = {}
    if call.id and not ("id" in lacks and is_made(call.id, call.name)):
        form["id"] = call.id
    if call.name or "name" not in lacks:
        form["name"] = call.name
    if args or "args" not in lacks:
        form["args"] = args
    if not shape:
        return {"functionCall": form}

    return closed("functionCall", form, shape)
