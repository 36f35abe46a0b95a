"""
Anthropic Messages: the `messages` and `system` of a request, and the message of a response.

```
role                       Message.role; a role "tool" is sent as a user's turn
content                    text, or a list of blocks
  text, image, document    Text, Image, Document (its title is the name)
  thinking                 Reasoning, with its signature; so is redacted_thinking, as encrypted
  tool_use, tool_result    ToolCall, ToolResult
  any other block          Opaque, in its place
system                     leading messages of the role system
anything else              extra, under "anthropic"; of a response under "received", not sent
```
"""

from collections.abc import Iterable, Sequence
from itertools import dropwhile, takewhile
from typing import Any, cast

from unabridged.errors import FormatError
from unabridged.formats.anthropic_blocks import joined, read_content, write
from unabridged.formats.anthropic_keys import NAME, kept, named, own, without
from unabridged.formats.anthropic_stream import assembled, failure
from unabridged.formats.extras import checked, reading, refuse
from unabridged.formats.foreign import native, refuse_elsewhere
from unabridged.formats.mending import sendable
from unabridged.formats.provider import Mend
from unabridged.formats.replies import plain, plain_events, unique_id
from unabridged.formats.requests import AnthropicRequest
from unabridged.items import Item
from unabridged.messages import Message, Text, quick_message
from unabridged.parts import NO_JSON, quick_text
from unabridged.text import said

__all__ = ["dump", "load", "reply", "request"]

_SPEAKERS = ("user", "assistant")
_SYSTEM = ("system", "developer")
_ROLES = {"tool": "user", "developer": "system"}
_LISTED = kept({}, {"content": "list"}, "content")
_CLIENT_ONLY = ("parsed", "parsed_output")


def load(
    turns: Sequence[object], system: str | Sequence[object] | None = None
) -> tuple[Message, ...]:
    """
    The messages of a Messages request.

    Nothing is lost: `dump` gives back what was loaded, key for key, also keys
    and blocks that no documentation knows. A *system* text, or list of blocks,
    goes first as a system message.

    Raises:
        FormatError: a message has another form than the API's; the text names the place.
        ConfigError: a key holds what JSON cannot; the text names its path.

    >>> from unabridged.messages import user
    >>> load([{"role": "user", "content": "hi"}]) == (user("hi"),)
    True
    >>> load([{"role": "user", "content": [{"type": "image", "source": "cat.png"}]}])
    Traceback (most recent call last):
    unabridged.errors.FormatError: messages[0].content[0].source: expected an object, got text
    """
    if not isinstance(turns, list | tuple):
        refuse("messages", "a list", turns)
    native(turns, "messages")
    try:
        messages = tuple([_message(turn, "") for turn in turns])
    except Exception:  # noqa: BLE001  whatever it is
        # only what is wrong needs its place, so it is read again to be refused with it
        with reading("messages"):
            messages = tuple([_message(turn, f"messages[{at}]") for at, turn in enumerate(turns)])

    if system is None:
        return messages
    with reading("system"):
        return (_prompt(system), *messages)


def dump(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """
    The messages as dicts for a Messages request, fresh ones each time.

    The system messages before all others are not in it: `request` has them.
    What the API cannot carry is left out (`left_out` says why), and a message
    that holds nothing else with it.

    Raises:
        FormatError: something in *messages* is no `Message`.

    >>> from unabridged.messages import ToolCall, assistant, tool
    >>> dump([assistant(calls=[ToolCall("c1", "now")]), tool("noon", call_id="c1")])[1]["content"]
    [{'type': 'tool_result', 'tool_use_id': 'c1', 'content': 'noon'}]
    """
    turns: list[dict[str, Any]] = []
    for message in dropwhile(_is_prompt, checked(messages)):
        match message.parts:
            case (Text() as part,) if message.role in _SPEAKERS and not (
                part.extra or message.extra
            ):
                turns.append({"role": message.role, "content": part.text})
            case _:
                turns.extend(_turn(message))

    return turns


def request(
    messages: Iterable[Message | Item], report: list[Mend] | None = None
) -> AnthropicRequest:
    """
    Arguments for `client.messages.create`, mended so that the API accepts them.

    The messages before all others that are a system's go into `system`. What was
    mended, and what the API cannot carry, is added to *report*.

    >>> from unabridged.messages import system, user
    >>> request([system("Be brief."), user("hi")])
    {'system': 'Be brief.', 'messages': [{'role': 'user', 'content': 'hi'}]}
    """
    ready = sendable(messages, NAME, report)

    return cast("AnthropicRequest", {**_system(ready), "messages": dump(ready)})


def reply(response: object) -> tuple[Message, ...]:
    """
    The assistant's message in a response, with the response's id.

    *response* is what the client gave back, its dict, or the events of a stream
    that has ended. What a request does not take back (the usage, the reason it
    stopped) is kept under "received".

    Raises:
        FormatError: there is no message in it: an error, or nothing but a refusal.

    >>> str(reply({"id": "msg_1", "content": [{"type": "text", "text": "Hello!"}]})[0])
    'assistant: Hello!'
    """
    found = plain(response)
    if found is None:
        found = assembled(plain_events(response))
    if found.get("type") == "error":
        raise failure(found)
    content = found.pop("content", ...)
    if not isinstance(content, list):
        refuse("response.content", "a list of blocks", content)
    if found.get("stop_reason") == "refusal" and not content:
        msg = f"response: no message, the model refused: {said(found.get('stop_details'))}"
        raise FormatError(msg)

    blocks = [_sent(block) for block in content]
    parts, form = read_content(blocks, "response.content", "assistant")
    id_ = unique_id(found.get("id"))
    if id_:
        del found["id"]
    found.pop("role", None)
    shape = {"content": form} if form == "list" else {}
    inner = {"inner": {"received": found}} if found else {}
    extra = kept({}, shape | inner, "response")

    return (Message("assistant", parts, id=id_, extra=extra),)


def _message(turn: object, where: str) -> Message:
    if not isinstance(turn, dict):
        refuse(where, "an object", turn)
    role, content = turn.get("role", ...), turn.get("content", ...)
    if len(turn) == 2 and role in _SPEAKERS:  # noqa: PLR2004  the commonest of all: these two
        if type(content) is str:
            return quick_message(role, (quick_text(content),))
        if type(content) is list and content:
            parts, form = read_content(content, where and f"{where}.content", role)
            extra = _LISTED if form else NO_JSON
            return quick_message(role, parts, None, None, NO_JSON, extra)
    if not isinstance(role, str) or not role.strip():
        refuse(f"{where}.role", "a word such as 'user'", role)
    parts, form = read_content(content, f"{where}.content", role)
    if form == "missing":
        refuse_elsewhere(turn, f"{where}.content", "text or a list of blocks")
    shape = {} if role in _SPEAKERS else {"as": "turn"}
    if form not in ("", "empty"):
        shape["content"] = form
    keys = without(turn, ("role", "content")) if len(turn) > 1 + (form != "missing") else {}
    if not keys and not shape:
        return quick_message(role, parts)

    return quick_message(role, parts, None, None, NO_JSON, kept(keys, shape, where))


def _prompt(system: object) -> Message:
    if not isinstance(system, str | list | tuple):
        refuse("system", "text or a list of blocks", system)
    content = system if isinstance(system, str) else list(system)
    parts, form = read_content(content, "system", "system")

    return Message("system", parts, extra=kept({}, {"content": form} if form else {}, "system"))


def _is_prompt(message: Message) -> bool:
    """
    Whether it is a system's, and did not stand among the turns when it was loaded.
    """
    return message.role in _SYSTEM and own(message.extra).get("as") != "turn"


def _turn(message: Message) -> tuple[dict[str, Any], ...]:
    blocks = _blocks(message)
    if message.parts and not blocks:
        return ()
    hints = own(message.extra) if message.extra else {}
    form = hints.get("content", "")
    turn: dict[str, Any] = {**named(hints, "keys"), "role": _role(message, hints)}
    if blocks or form not in ("null", "missing"):
        turn["content"] = joined(blocks, form)
    elif form == "null":
        turn["content"] = None

    return (turn,)


def _blocks(message: Message) -> list[dict[str, Any]]:
    written = (write(part, message.role) for part in message.parts)

    return [block for block in written if block is not None]


def _role(message: Message, hints: dict[str, Any]) -> str:
    role = message.role
    if role in ("user", "assistant", "system") or hints.get("as") == "turn":
        return role

    return _ROLES.get(role) or ("assistant" if message.tool_calls else "user")


def _system(messages: Sequence[Message]) -> dict[str, Any]:
    prompt = tuple(takewhile(_is_prompt, messages))
    blocks = [block for message in prompt for block in _blocks(message)]
    form = own(prompt[0].extra).get("content", "") if len(prompt) == 1 else ""
    if blocks or form == "empty":
        return {"system": joined(blocks, form)}

    return {}


def _sent(block: Any) -> Any:
    return without(block, _CLIENT_ONLY) if isinstance(block, dict) else block
