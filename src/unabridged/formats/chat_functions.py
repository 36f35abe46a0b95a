"""
The legacy calls of a chat: `function_call`, and the result in a message of role "function".

They have no ids: a result names the function, and answers the newest call of
that name which has no result yet. Here every call has an id for its result to
find, so one is made of the function's name, and of a number where an older call
of it still waits. Such an id is not sent.
"""

from collections.abc import Iterable
from typing import Any

from attrs import evolve

from unabridged.formats.chat_calls import function_form, written_form
from unabridged.formats.chat_parts import kept, own
from unabridged.formats.extras import Keys
from unabridged.formats.gemini_names import made_id
from unabridged.json_values import Json
from unabridged.messages import Part, ToolCall, ToolResult
from unabridged.parts import NO_JSON

__all__ = [
    "Functions",
    "as_function_result",
    "as_tool",
    "function_result_extra",
    "is_function",
    "name_of_result",
    "read_function_call",
    "sends_id",
    "write_function_call",
]

_CALL, _RESULT = "function_call", "function"


class Functions:
    """
    The legacy calls that wait for their results, while a conversation is read.

    >>> functions = Functions()
    >>> functions.id_of_call("now"), functions.id_of_call("now")
    ('now', 'now-2')
    >>> functions.id_of_result("now"), functions.id_of_result("now"), functions.id_of_call("now")
    ('now-2', 'now', 'now')
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[str]] = {}
        self._given: set[str] = set()

    def given(self, calls: Iterable[ToolCall]) -> None:
        """
        Note the ids that the API gave to other calls: none of them is made again.
        """
        self._given.update([call.id for call in calls])

    def id_of_call(self, name: str) -> str:
        """
        The id for the next call of this function.
        """
        waiting = self._waiting.setdefault(name, [])
        number = len(waiting) + 1
        while made_id(name, number) in self._given or made_id(name, number) in waiting:
            number += 1
        waiting.append(made_id(name, number))

        return waiting[-1]

    def id_of_result(self, name: str) -> str:
        """
        The id of the newest call of this function that waits, or would, if none was read.
        """
        waiting = self._waiting.get(name)

        return waiting.pop() if waiting else name


def read_function_call(
    keys: Keys, calls: Iterable[ToolCall], functions: Functions, where: str
) -> tuple[ToolCall, ...]:
    """
    Take the legacy call out of *keys*; null, and what names no function, stays there.

    So does a call that is among the *calls* of the message too, as some servers say it twice.

    >>> keys = {"function_call": {"name": "now", "arguments": "{}"}}
    >>> read_function_call(keys, (), Functions(), "messages[0]"), keys
    ((ToolCall(id='now', name='now', arguments='{}'),), {})
    """
    match keys["function_call"]:
        case {"name": str(), "arguments": str() | dict() | None}:
            pass
        case {"name": str(), **others} if "arguments" not in others:
            pass
        case _:
            return ()
    name, arguments, shape = function_form(keys["function_call"], f"{where}.function_call")
    if any(call.name == name and call.arguments == arguments for call in calls):
        return ()
    del keys["function_call"]
    extra = kept({}, {"as": _CALL, **shape}, where)

    return (ToolCall(functions.id_of_call(name), name, arguments, extra=extra),)


def write_function_call(call: ToolCall) -> dict[str, Any]:
    """
    The value of `function_call` for a legacy call, a fresh dict.

    >>> keys = {"function_call": {"name": "now"}}
    >>> [call] = read_function_call(keys, (), Functions(), "messages[0]")
    >>> write_function_call(call)
    {'name': 'now'}
    """
    return written_form({"name": call.name, "arguments": call.arguments}, own(call.extra))


def as_function_result(result: ToolResult, name: str) -> ToolResult:
    """
    The *result* as one of a legacy call of the function *name*.

    >>> name_of_result(as_function_result(ToolResult("c1", "noon"), "now"))
    {'name': 'now'}
    """
    shape = {hint: word for hint, word in own(result.extra).items() if hint == "content"}
    extra = kept({}, {"as": _RESULT, **shape, "inner": {"name": name}}, "")

    return evolve(result, extra=extra)


def function_result_extra(shape: Keys, *, sent: bool = False) -> Json:
    """
    The `extra` of a legacy result; *sent* if its message has an id all the same.

    >>> is_function(ToolResult("now", "noon", extra=function_result_extra({})))
    True
    """
    return kept({}, {"as": _RESULT, **shape, **({"id": "sent"} if sent else {})}, "")


def is_function(part: ToolCall | ToolResult) -> bool:
    """
    Whether it is a legacy call, or the result of one.

    >>> is_function(ToolCall("c1", "now"))
    False
    """
    return bool(part.extra) and own(part.extra).get("as") in (_CALL, _RESULT)


def sends_id(part: ToolCall | ToolResult) -> bool:
    """
    Whether the API has its id, or gets it: that of a legacy call was made here.

    >>> sends_id(ToolCall("c1", "now"))
    True
    """
    return not is_function(part) or own(part.extra).get("id") == "sent"


def name_of_result(result: ToolResult) -> dict[str, str]:
    """
    The function's name as a key, for a legacy result whose message says none.

    >>> name_of_result(ToolResult("now-2", "noon"))
    {'name': 'now'}
    """
    shape = own(result.extra) if result.extra else {}
    if "inner" in shape:
        return {"name": shape["inner"]["name"]}
    if shape.get("id") == "sent":
        return {}
    base, _, number = result.call_id.rpartition("-")
    name = base if base and number.isdecimal() else result.call_id

    return {"name": name} if name else {}


def as_tool(part: Part) -> Part:
    """
    A legacy call or result as one of today's, for a server that knows no other.

    >>> keys = {"function_call": {"name": "now"}}
    >>> [call] = read_function_call(keys, (), Functions(), "messages[0]")
    >>> is_function(as_tool(call))
    False
    """
    if isinstance(part, ToolCall | ToolResult) and is_function(part):
        return evolve(part, extra=NO_JSON)

    return part
