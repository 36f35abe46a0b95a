"""
Items of the Responses API grouped into messages.

The items that a model gave back in one response belong together, so that its
parallel calls stay one batch. Nothing in an input says where a response ends: a
group ends where somebody else speaks or answers, and before a message or a
reasoning item that comes right after a message item.
"""

from collections.abc import Sequence
from typing import Any

from unabridged.formats.extras import Keys, item_json, refuse
from unabridged.formats.responses_calls import (
    answer_to,
    call_key,
    is_call,
    is_run_by_server,
    read_function_call,
)
from unabridged.formats.responses_items import CLIENT, read_client, read_model
from unabridged.formats.responses_parts import NAME, is_item, kept
from unabridged.formats.responses_results import (
    is_answer,
    read_common_result,
    read_result,
    result_key,
)
from unabridged.messages import Message, Opaque, Part, Text, quick_message
from unabridged.parts import quick_opaque, quick_text

__all__ = ["answered", "read"]

_ALONE = ("item_reference", "compaction_trigger", "configuration_update")  # never the model's


def read(items: Sequence[object], *, is_placed: bool = True) -> tuple[Message, ...]:
    """
    The messages of an input; errors name the place if *is_placed*, which takes longer.

    >>> call = {"type": "function_call", "name": "now", "arguments": "{}"}
    >>> found = read([call | {"call_id": "c1"}, call | {"call_id": "c2"}])
    >>> [len(message.tool_calls) for message in found]
    [2]
    """
    reading = _Reading()
    for at, item in enumerate(items):
        if not isinstance(item, dict):
            refuse(f"input[{at}]", "an object", item)
        content = item.get("content")
        if len(item) == 2 and isinstance(content, str):  # noqa: PLR2004  with a role, that is all
            role = item.get("role")
            if role == "assistant":
                reading.say(quick_text(content))
                continue
            if role in CLIENT:
                reading.add(quick_message(role, (quick_text(content),)))
                continue
        kind = item.get("type")
        where = f"input[{at}]" if is_placed else ""
        if kind == "function_call":
            reading.take_call(item, where)
        elif kind == "reasoning" and "role" not in item:
            reading.take_model(item, where, kind)
        elif kind != "function_call_output" or not reading.take_output(item):
            reading.take(item, where, _kind(item, where))

    return reading.ended()


def answered(output: Sequence[object], id: str | None) -> Message:  # noqa: A002  the field's name
    """
    The one message of a response, without what the client alone put into its items.

    >>> answered([{"type": "web_search_call", "id": "ws_1"}], "resp_12345678").id
    'resp_12345678'
    """
    places = [f"response.output[{at}]" for at in range(len(output))]
    for item, where in zip(output, places, strict=True):
        if not isinstance(item, dict):
            refuse(where, "an object", item)
        if _kind(item, where) == "alone" and item.get("type") is None:
            refuse(f"{where}.type", "text", item.get("type", ...))
    items = [_as_sent(item) for item in output if isinstance(item, dict)]
    # what comes with its answer was run by the server
    closed = {item.get(result_key(item)) for item in items if is_answer(str(item.get("type")))}
    group = _Group()
    for item, where in zip(items, places, strict=True):
        is_closed = is_call(item) and item.get(call_key(item)) in closed
        is_models = item.get("role", "assistant") == "assistant"
        group.add(item, where, whole=is_closed or not is_models or is_answer(str(item.get("type"))))

    return group.message(id)


class _Group:
    """
    The parts of one response on their way, and what reasoning led to.
    """

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.last = ""
        self.reasoned = False
        self._led: list[str] = []

    def add(self, item: Keys, where: str, *, whole: bool = False) -> None:
        follows = self.reasoned
        parts: tuple[Part, ...]
        if whole:
            parts = (quick_opaque(NAME, item_json(item, where)),)
        else:
            parts = read_model(item, where, follows=follows)
        if follows and isinstance(parts[0], Opaque) and isinstance(item.get("id"), str):
            self._led.append(item["id"])
        self.parts += parts
        kind = item.get("type")
        self.last = "message" if kind in (None, "message") else str(kind)
        self.reasoned = follows or kind == "reasoning"

    def message(self, id: str | None = None) -> Message:  # noqa: A002
        parts = tuple(self.parts)
        if not self._led:
            return quick_message("assistant", parts, None, id)

        return Message("assistant", parts, id=id, extra=kept({}, {"inner": {"led": self._led}}, ""))


class _Reading:
    """
    Messages on their way, the open group, and the calls that wait for an answer.
    """

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._group = _Group()
        self._wanted: dict[str, str] = {}
        self._server: set[str] = set()

    def add(self, message: Message) -> None:
        if self._group.parts:
            self._end_group()
        self._messages.append(message)

    def say(self, words: Text) -> None:
        if self._group.last == "message":
            self._end_group()
        self._group.parts.append(words)
        self._group.last = "message"

    def take_call(self, item: Keys, where: str) -> None:
        """
        Take a call of the commonest kind, a function's.
        """
        group = self._group
        group.parts.append(read_function_call(item, where, follows=group.reasoned))
        group.last = "function_call"
        self._wanted.pop(item.get("call_id") or "", None)

    def take_output(self, item: Keys) -> bool:
        """
        Take an answer of the commonest kind; False for any other.
        """
        result = read_common_result(item)
        if result is None or item["call_id"] in self._wanted or item["call_id"] in self._server:
            return False
        self.add(quick_message("tool", (result,)))

        return True

    def take(self, item: Keys, where: str, kind: str) -> None:
        match kind:
            case "client":
                self.add(read_client(item, where))
            case "answer" if not self._is_of_server(item):
                self.add(quick_message("tool", (read_result(item, where, self._wanted),)))
            case "alone":
                shape = {} if is_item(item) else {"opaque": "item"}
                whole = quick_opaque(NAME, item_json(item, where))
                self.add(Message("assistant", (whole,), extra=kept({}, shape, where)))
            case _:
                self.take_model(item, where, kind)

    def take_model(self, item: Keys, where: str, kind: str) -> None:
        if self._group.last == "message" and kind in ("message", "reasoning"):
            self._end_group()
        self._group.add(item, where, whole=kind == "answer")
        if kind == "call":
            id_, answer = answer_to(item)
            self._wanted[id_] = answer
        elif (
            kind in ("answer", "other")
            and is_run_by_server(item)
            and isinstance(item.get("call_id"), str)
        ):
            self._server.add(item["call_id"])

    def ended(self) -> tuple[Message, ...]:
        if self._group.parts:
            self._end_group()

        return tuple(self._messages)

    def _end_group(self) -> None:
        self._messages.append(self._group.message())
        self._group = _Group()

    def _is_of_server(self, item: Keys) -> bool:
        if isinstance(item.get("execution"), str):
            return is_run_by_server(item)
        id_ = item.get("call_id")

        return isinstance(id_, str) and id_ in self._server


def _kind(item: Keys, where: str) -> str:
    """
    What an item is: of a client, an answer, alone; the model's message, reasoning, or other.
    """
    kind, role = item.get("type"), item.get("role")
    if kind is not None and not isinstance(kind, str):
        refuse(f"{where}.type", "text", kind)
    if kind is not None and is_answer(kind):
        return "answer"
    if role is not None and not (isinstance(role, str) and role.strip()):
        refuse(f"{where}.role", "a word such as 'user'", role)
    if kind in (None, "message"):
        if role is None and (kind or not isinstance(item.get("id"), str)):
            refuse(f"{where}.role", "a word such as 'user'", item.get("role", ...))
        return "alone" if role is None else "message" if role == "assistant" else "client"
    if kind == "reasoning":
        return kind
    if is_call(item):
        return "call"
    if role is not None and role != "assistant":
        return "client"

    return "alone" if kind in _ALONE or not is_item(item) else "other"


def _as_sent(item: Keys) -> dict[str, Any]:
    if item.get("type") == "function_call":
        return {key: value for key, value in item.items() if key != "parsed_arguments"}
    if item.get("type") != "message" or not isinstance(item.get("content"), list):
        return dict(item)
    content = [
        {key: value for key, value in part.items() if key != "parsed"}
        if isinstance(part, dict)
        else part
        for part in item["content"]
    ]

    return {**item, "content": content}
