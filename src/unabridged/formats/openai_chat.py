"""
OpenAI Chat Completions: the `messages` of a request, and the message of a response.

```
role, name           Message.role, Message.name
content              Text, Image, Audio, Document, Reasoning; a tool message's in a ToolResult
tool_calls           ToolCall
function_call        ToolCall; its result, of role "function", a ToolResult (both legacy, no ids)
refusal              Text, after the words
reasoning_content    Reasoning, before the words; so is `reasoning`, when it is text
reasoning_details    Reasoning, all of the list in one
audio                Audio(file=…), when an assistant said it
id, metadata         Message.id, Message.metadata; dumped only if they were loaded
anything else        extra, under "openai_chat"; of a response under "received", not sent
```
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from attrs import evolve

from unabridged.errors import FormatError
from unabridged.formats.chat_functions import Functions
from unabridged.formats.chat_parts import NAME, kept, own
from unabridged.formats.chat_read import read_spoken, read_turn
from unabridged.formats.chat_stream import assembled
from unabridged.formats.chat_write import write_message
from unabridged.formats.extras import checked, reading, refuse
from unabridged.formats.foreign import native
from unabridged.formats.mending import sendable
from unabridged.formats.provider import Mend
from unabridged.formats.replies import plain, plain_events, unique_id
from unabridged.formats.requests import ChatRequest
from unabridged.items import Item
from unabridged.messages import Audio, Message, Part, Text
from unabridged.text import said

__all__ = ["dump", "load", "reply", "request"]

_WHERE = "response.choices[0].message"
_NOT_TAKEN = ("annotations", "id", "metadata", "parsed")
_HEARD = ("data", "transcript")
_NOT_TAKEN_OF_CALLS = ("index", "parsed_arguments")


def load(
    turns: Sequence[object], system: str | Sequence[object] | None = None
) -> tuple[Message, ...]:
    """
    The messages of a Chat Completions request.

    Nothing is lost: `dump` gives back what was loaded, key for key, also keys
    that no documentation knows. A *system* text, or list of parts, goes first
    as a system message.

    Raises:
        FormatError: a message has another form than the API's; the text names the place.
        ConfigError: a key holds what JSON cannot; the text names its path.

    >>> from unabridged.messages import user
    >>> load([{"role": "user", "content": "hi"}]) == (user("hi"),)
    True
    >>> load([{"role": "assistant", "tool_calls": {}}])
    Traceback (most recent call last):
    unabridged.errors.FormatError: messages[0].tool_calls: expected a list, got an object
    """
    if not isinstance(turns, list | tuple):
        refuse("messages", "a list", turns)
    native(turns, "messages")
    try:
        functions = Functions()
        messages = tuple([read_spoken(turn) or read_turn(turn, "", functions) for turn in turns])
    except Exception:  # noqa: BLE001  whatever it is
        # only what is wrong needs its place, so it is read again to be refused with it
        functions = Functions()
        with reading("messages"):
            messages = tuple(
                [read_turn(turn, f"messages[{at}]", functions) for at, turn in enumerate(turns)]
            )
    if system is None:
        return messages
    if not isinstance(system, str | list | tuple):
        refuse("system", "text or a list of parts", system)
    content = system if isinstance(system, str) else list(system)

    with reading("system"):
        prompt = read_turn({"role": "system", "content": content}, "system", Functions())

    return (prompt, *messages)


def dump(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """
    The messages as dicts for a Chat Completions request, fresh ones each time.

    A message with several tool results becomes one dict for each, and one for
    the rest. What the API has no form for, such as the reasoning of another
    provider or an image by file id, is left out, and a message that holds
    nothing else with it.

    Raises:
        FormatError: something in *messages* is no `Message`.

    >>> from unabridged.messages import ToolCall, assistant
    >>> dump([assistant(calls=[ToolCall("c1", "now")])])[0]["tool_calls"]
    [{'id': 'c1', 'type': 'function', 'function': {'name': 'now', 'arguments': '{}'}}]
    """
    turns: list[dict[str, Any]] = []
    for message in checked(messages):
        match message.parts:
            case (Text() as part,) if not (part.extra or message.extra or message.role == "tool"):
                named = {} if message.name is None else {"name": message.name}
                turns.append({"role": message.role, "content": part.text, **named})
            case _:
                turns.extend(write_message(message))

    return turns


def request(messages: Iterable[Message | Item], report: list[Mend] | None = None) -> ChatRequest:
    """
    Arguments for `client.chat.completions.create`, mended so that the API accepts them.

    What was mended, and what the API cannot carry, is added to *report*.

    >>> from unabridged.messages import system, user
    >>> request([system("Be brief."), user("hi")])["messages"]
    [{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'hi'}]
    """
    ready = sendable(messages, NAME, report)

    return cast("ChatRequest", {"messages": dump(ready)})


def reply(response: object) -> tuple[Message, ...]:
    """
    The assistant's message in a response, with the completion's id.

    *response* is what the client gave back, its dict, or the chunks of a stream
    that has ended. Of several choices it is the first. What a request does not
    take back (the usage, annotations, keys that are null) is kept under
    "received", and not sent.

    Raises:
        FormatError: there is no message in it: an error, or what a filter stopped.

    >>> answer = {"id": "chatcmpl-9RlLmZ1u", "choices": [{"message": {"content": "Hello!"}}]}
    >>> str(reply(answer)[0])
    'assistant: Hello!'
    """
    found = plain(response)
    if found is None:
        found = assembled(plain_events(response))
    choice, others = _first_choice(found)
    id_ = unique_id(found.get("id"))
    if id_:
        del found["id"]
    given = choice.pop("message")
    turn, aside = _parted(given)
    message = read_turn(turn, _WHERE, Functions())
    hints = dict(own(message.extra))
    keys = hints.pop("keys", {})
    if hints.get("content") in ("null", "missing"):
        del hints["content"]
    parts = tuple([_heard(part, given) for part in message.parts])
    is_silent = not (keys or any(not isinstance(part, Text) or part.text for part in parts))
    if is_silent and choice.get("finish_reason") == "content_filter":
        msg = "response: no message, the content filter stopped it"
        raise FormatError(msg)

    received = found | {"choice": choice} | ({"choices": others} if others else {})
    if aside:
        received["message"] = aside
    extra = kept(keys, hints | {"inner": {"received": received}}, "response")

    return (evolve(message, parts=parts, id=id_, extra=extra),)


def _first_choice(found: dict[str, Any]) -> tuple[dict[str, Any], list[object]]:
    choices = found.pop("choices", ...)
    if found.get("error"):
        msg = f"response: no message, but an error: {said(found['error'])}"
        raise FormatError(msg)
    if not isinstance(choices, list):
        refuse("response.choices", "a list", choices)
    first = choices[0] if choices else ...
    if not isinstance(first, dict):
        refuse("response.choices[0]", "an object", first)
    if not isinstance(first.get("message"), dict):
        refuse(_WHERE, "an object", first.get("message", ...))

    return dict(first), choices[1:]


def _parted(message: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """
    What of a response's message a request takes back, and what it does not.
    """
    turn: dict[str, Any] = {"role": "assistant", "content": None}
    aside: dict[str, Any] = {}
    for key, value in message.items():
        match key, value:
            case (("role" | "content"), _):
                turn[key] = value
            case _, None | []:
                aside[key] = value
            case "tool_calls", [*calls]:
                turn[key] = [_call(call) for call in calls]
            case "audio", {"id": str(file)}:
                turn[key] = {"id": file}
                aside[key] = {k: v for k, v in value.items() if k not in ("id", *_HEARD)}
            case _ if key in _NOT_TAKEN:
                aside[key] = value
            case _:
                turn[key] = value

    return turn, aside


def _call(call: object) -> object:
    if not isinstance(call, dict):
        return call
    taken = {key: value for key, value in call.items() if key not in _NOT_TAKEN_OF_CALLS}
    if isinstance(form := taken.get("function"), dict):
        taken["function"] = {k: v for k, v in form.items() if k not in _NOT_TAKEN_OF_CALLS}

    return taken


def _heard(part: Part, message: dict[str, Any]) -> Part:
    # the sound of an answer is known by its id in a request, so it is no key of the turn
    if not isinstance(part, Audio) or not isinstance(message.get("audio"), dict):
        return part
    heard = {key: message["audio"].get(key) for key in _HEARD}
    texts: dict[str, Any] = {k: text for k, text in heard.items() if isinstance(text, str)}

    return evolve(part, **texts)
