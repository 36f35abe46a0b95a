"""
Bedrock Converse: the `messages` and `system` of a request, and its response.

```
role, content        Message.role; Text, Image, Document, Audio, Reasoning, ToolCall, ToolResult
system               the system messages that come first
text                 Text; so are the words of guardContent, citationsContent and searchResult
toolUse, toolResult  ToolCall, ToolResult; those of server tools are Opaque
reasoningContent     Reasoning: text and signature, or encrypted
image, document …    base64 text in JSON, `bytes` in boto3's dicts; s3Location is a url
anything else        Opaque, or extra, under "bedrock"
```
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from attrs import evolve

from unabridged.errors import FormatError
from unabridged.formats.bedrock_blocks import NAME, PROMPT, left_out, read_all, write
from unabridged.formats.bedrock_bytes import kept, own, to_bytes
from unabridged.formats.bedrock_media import Names
from unabridged.formats.bedrock_stream import assembled
from unabridged.formats.extras import checked, reading, refuse
from unabridged.formats.foreign import native
from unabridged.formats.mending import sendable
from unabridged.formats.provider import Mend
from unabridged.formats.replies import plain, plain_events, unique_id
from unabridged.formats.requests import BedrockRequest
from unabridged.items import Item
from unabridged.messages import Message, Text, quick_message
from unabridged.parts import NO_JSON
from unabridged.text import brief

__all__ = ["dump", "load", "reply", "request"]

_SPEAKERS = ("user", "assistant")
_LISTENERS = PROMPT | {"tool"}
_LONGEST = 300


def load(
    turns: Sequence[object], system: str | Sequence[object] | None = None
) -> tuple[Message, ...]:
    """
    The messages of a Converse request.

    Nothing is lost: `dump` gives back what was loaded, key for key, also keys
    that no documentation knows, and `bytes` where there were `bytes`. A *system*
    list of blocks, or a text, goes first as a system message.

    Raises:
        FormatError: a message has another form than the API's; the text names the place.
        ConfigError: a key holds what JSON cannot; the text names its path.

    >>> from unabridged.messages import user
    >>> load([{"role": "user", "content": [{"text": "hi"}]}]) == (user("hi"),)
    True
    >>> load([{"role": "user", "content": "hi"}])
    Traceback (most recent call last):
    unabridged.errors.FormatError: messages[0].content: expected a list of blocks, got text
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
    if isinstance(system, str):
        return (Message("system", system), *messages)
    if not isinstance(system, list | tuple):
        refuse("system", "text or a list of blocks", system)

    with reading("system"):
        return (Message("system", read_all(system, "system", "system")), *messages)


def dump(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """
    The messages as dicts for a Converse request, fresh ones each time.

    The system messages that come first are left out: they are the `system` of
    the `request`. Left out is too what the API cannot carry, such as reasoning
    of other providers, and a message that holds nothing else with it.

    Raises:
        FormatError: something in *messages* is no Message.

    >>> from unabridged.messages import ToolCall, assistant, system
    >>> dump([system("Be brief."), assistant(calls=[ToolCall("c1", "now")])])[0]["content"]
    [{'toolUse': {'toolUseId': 'c1', 'name': 'now', 'input': {}}}]
    """
    given = tuple(checked(messages))
    names = Names(given)
    turns = (_turn(message, names) for message in given[_opening(given) :])

    return [turn for turn in turns if turn]


def request(messages: Iterable[Message | Item], report: list[Mend] | None = None) -> BedrockRequest:
    """
    The messages, mended, as arguments for boto3's `client.converse(modelId=…, **request(…))`.

    Data of pictures and the like are `bytes`, as boto3 wants them. What was
    mended, and what the API cannot carry, is added to the *report*.

    >>> from unabridged.messages import system, user
    >>> request([system("Be brief."), user("hi")])["system"]
    [{'text': 'Be brief.'}]
    """
    ready = sendable(messages, NAME, report)
    opening = ready[: _opening(ready)]
    turns = dump(ready)
    for turn in turns:
        for block in turn["content"]:
            to_bytes(block)
    if not opening:
        return cast("BedrockRequest", {"messages": turns})

    prompt = [
        write(part, Names(()))
        for message in opening
        for part in message.parts
        if not left_out(part, "system")
    ]
    for block in prompt:
        to_bytes(block)

    return cast("BedrockRequest", {"system": prompt, "messages": turns})


def reply(response: object) -> tuple[Message, ...]:
    """
    The message in a Converse response, with the request's id.

    *response* is the dict of `converse` or `converse_stream`, or the events of a
    stream. What a request does not take back (the usage, the reason it stopped)
    is kept under "received".

    Raises:
        FormatError: there is no message in it; the text says what there is.

    >>> said = {"role": "assistant", "content": [{"text": "Hello."}]}
    >>> reply({"output": {"message": said}, "ResponseMetadata": {"RequestId": "b1f3a7c2"}})[0].id
    'b1f3a7c2'
    """
    whole = plain(response)
    if whole is None:
        whole = assembled(plain_events(response))
    elif "stream" in whole:
        whole |= assembled(plain_events(whole.pop("stream")))
    metadata = whole.pop("ResponseMetadata", None)
    match whole.pop("output", None):
        case {"message": {**turn}}:
            message = _message(turn, "response.output.message")
        case _:
            msg = f"response: no message in it, but {brief(whole, _LONGEST)}"
            raise FormatError(msg)
    match metadata:
        case {"RequestId": str(id_)}:
            message = evolve(message, id=unique_id(id_))
    if not whole:
        return (message,)
    keys, shape = own(message.extra).get("keys", {}), {"inner": {"received": whole}}

    return (evolve(message, extra=kept(keys, shape, "response")),)


def _message(turn: object, where: str) -> Message:
    if not isinstance(turn, dict):
        refuse(where, "an object", turn)
    role, content = turn.get("role", ...), turn.get("content", ...)
    if not isinstance(role, str) or not role.strip():
        refuse(f"{where}.role", "a word such as 'user'", role)
    if not isinstance(content, list):
        refuse(f"{where}.content", "a list of blocks", content)
    parts = read_all(content, role, f"{where}.content")
    if len(turn) == 2 and role in _SPEAKERS:  # noqa: PLR2004  role and content
        return quick_message(role, parts)

    keys = {key: value for key, value in turn.items() if key not in ("role", "content")}
    shape = {} if role in _SPEAKERS else {"as": "turn"}

    return quick_message(role, parts, None, None, NO_JSON, kept(keys, shape, where))


def _opening(messages: Sequence[Message]) -> int:
    """
    How many messages, from the first on, are the system prompt.
    """
    for at, message in enumerate(messages):
        if message.role not in PROMPT or (message.extra and own(message.extra).get("as")):
            return at

    return len(messages)


def _turn(message: Message, names: Names) -> dict[str, Any] | None:
    role, parts = message.role, message.parts
    match parts:
        case (Text() as part,) if role in _SPEAKERS and not (part.extra or message.extra):
            return {"role": role, "content": [{"text": part.text}]}
    shape = own(message.extra) if message.extra else {}
    if role not in _SPEAKERS and shape.get("as") != "turn":
        is_model = role not in _LISTENERS and bool(message.tool_calls)
        role = "assistant" if is_model else "user"
    content = [write(part, names) for part in parts if not left_out(part, message.role)]
    if parts and not content:
        return None

    return {**shape.get("keys", {}), "role": role, "content": content}
