"""
OpenAI Responses: the `input` of a request, and the `output` of a response.

```
message of a user, system, developer     a Message of that role, its parts
neighbouring items of the model          one assistant Message, a part for each item:
  message                                Text for each output_text or refusal
  reasoning                              Reasoning
  function_call, custom_tool_call        ToolCall
  other calls that the client answers    ToolCall, the whole item as its arguments
  what the server does, and the unknown  Opaque
…_output, mcp_approval_response          a tool Message with a ToolResult
item_reference                           an assistant Message of its own, Opaque
instructions                             a system Message, which `request` gives back
```

A message or a reasoning item right after a message item starts a new Message:
it belongs to another response.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from unabridged.errors import FormatError
from unabridged.formats.extras import checked, reading, refuse
from unabridged.formats.foreign import native
from unabridged.formats.mending import sendable
from unabridged.formats.provider import Mend
from unabridged.formats.replies import plain, plain_events, unique_id
from unabridged.formats.requests import ResponsesRequest
from unabridged.formats.responses_items import CLIENT, write_message
from unabridged.formats.responses_parts import NAME, kept, own
from unabridged.formats.responses_reading import answered, read
from unabridged.formats.responses_stream import assembled, fault
from unabridged.items import Item
from unabridged.messages import Message, Text
from unabridged.text import said

__all__ = ["dump", "load", "reply", "request"]

_INSTRUCTIONS = kept({}, {"as": "instructions"}, "instructions")
_SPOKEN = frozenset({*CLIENT, "assistant"})
_UNFINISHED = ("failed", "cancelled", "queued", "in_progress")


def load(turns: str | Sequence[object], system: str | None = None) -> tuple[Message, ...]:
    """
    The messages of a Responses request.

    Nothing is lost: `dump` gives back what was loaded, key for key, also keys
    and items that no documentation knows. A text is the API's short form of one
    user message, which `dump` gives back as a list of one. *system* is the
    request's `instructions`, and goes first.

    Raises:
        FormatError: an item has another form than the API's; the text names the place.
        ConfigError: a key holds what JSON cannot; the text names its path.

    >>> from unabridged.messages import user
    >>> load([{"role": "user", "content": "hi"}]) == (user("hi"),)
    True
    >>> load([{"type": "function_call", "call_id": "c1", "name": "now", "arguments": {}}])
    Traceback (most recent call last):
    unabridged.errors.FormatError: input[0].arguments: expected text, got an object
    """
    if isinstance(turns, str):
        turns = ({"role": "user", "content": turns},)
    if not isinstance(turns, list | tuple):
        refuse("input", "text or a list of items", turns)
    native(turns, "input")
    try:
        messages = read(turns, is_placed=False)
    except Exception:  # noqa: BLE001  whatever it is
        with reading("input"):  # only what is wrong needs its place, to be refused with it
            messages = read(turns)
    if system is None:
        return messages
    if not isinstance(system, str):
        refuse("system", "text", system)

    return (Message("system", Text(system), extra=_INSTRUCTIONS), *messages)


def dump(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """
    The messages as items for the `input` of a request, fresh ones each time.

    Instructions are left out, since `request` gives them apart; and so is what
    the API has no form for, such as another provider's reasoning, or sound.

    Raises:
        FormatError: something in *messages* is no Message.

    >>> from unabridged.messages import ToolCall, assistant
    >>> dump([assistant(calls=[ToolCall("c1", "now")])])
    [{'type': 'function_call', 'call_id': 'c1', 'name': 'now', 'arguments': '{}'}]
    """
    items: list[dict[str, Any]] = []
    wanted: dict[str, str] = {}
    for message in checked(messages):
        role = message.role
        match message.parts:
            case (Text(extra=extra) as part,) if not (extra or message.extra) and role in _SPOKEN:
                items.append({"role": role, "content": part.text})
            case _:
                items.extend(write_message(message, wanted))

    return items


def request(
    messages: Iterable[Message | Item], report: list[Mend] | None = None
) -> ResponsesRequest:
    """
    The keyword arguments `input`, and `instructions` if there are any, for the client.

    The messages, or a view, are mended first; what that did goes into *report*.

    >>> from unabridged.messages import user
    >>> request([user("hi")])
    {'input': [{'role': 'user', 'content': 'hi'}]}
    """
    ready = sendable(messages, NAME, report)
    told = [message.text for message in ready if message.extra and _is_told(message)]
    body: dict[str, Any] = {"input": dump(ready)}
    if told:
        body["instructions"] = "\n\n".join(told)

    return cast("ResponsesRequest", body)


def reply(response: object) -> tuple[Message, ...]:
    """
    The message in a response: the client's object, its dict, or a stream's events.

    All items of the output make one assistant message, whose id is the response's.

    Raises:
        FormatError: the response failed, is not complete, or has no output.

    >>> said = {"type": "output_text", "text": "Hello.", "annotations": []}
    >>> item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [said]}
    >>> reply({"id": "resp_1", "output": [item]})[0].text
    'Hello.'
    """
    found = plain(response)
    if found is None:
        found = assembled(plain_events(response))
    elif "output" not in found and isinstance(found.get("type"), str):
        found = assembled((found,))
    _refuse_fault(found)
    output = found.get("output", ...)
    if not isinstance(output, list):
        refuse("response.output", "a list", output)

    return (answered(output, unique_id(found.get("id"))),)


def _is_told(message: Message) -> bool:
    return own(message.extra).get("as") == "instructions"


def _refuse_fault(response: dict[str, Any]) -> None:
    error, status = response.get("error"), response.get("status")
    if isinstance(error, dict):
        msg = f"response: the API says: {fault(error)}"
        raise FormatError(msg)
    if status in _UNFINISHED:
        msg = f"response: expected one that is complete, this one is {said(status)}"
        raise FormatError(msg)
    if status == "incomplete" and not response.get("output"):
        details = response.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        msg = f"response: it is incomplete ({said(reason or 'no reason')}), and empty"
        raise FormatError(msg)
