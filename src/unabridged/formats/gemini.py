"""
Gemini: the `contents` of a request, and the content of a response.

```
role                 Message.role; "model" is an assistant, no role a user
parts                Text, Reasoning, Image, Audio, Document, ToolCall, ToolResult, Opaque
system instruction   a system message in front
anything else        extra, under "gemini"
```

Read as REST writes it and as the Python client does; written as it was read,
and by default as REST writes it, which the client takes as well.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import dropwhile, takewhile
from typing import Any, cast

from attrs import evolve

from unabridged.formats.extras import checked, reading, refuse
from unabridged.formats.foreign import native
from unabridged.formats.gemini_contents import (
    put_parts,
    read_content,
    read_part,
    read_parts,
    write_content,
    write_parts,
)
from unabridged.formats.gemini_keys import NAME, kept, own
from unabridged.formats.gemini_names import Names
from unabridged.formats.gemini_reply import answered
from unabridged.formats.mending import sendable
from unabridged.formats.provider import Mend
from unabridged.formats.requests import GeminiRequest
from unabridged.items import Item
from unabridged.json_values import json_of
from unabridged.messages import Message, Text

__all__ = ["dump", "load", "reply", "request"]

_PROMPTS = frozenset({"system", "developer"})


def load(
    turns: Sequence[object], system: str | Mapping[str, Any] | Sequence[object] | None = None
) -> tuple[Message, ...]:
    """
    The messages of a Gemini request's contents.

    Nothing is lost: `dump` gives back what was loaded, key for key, also keys
    that no documentation knows. A *system* instruction (text, a content, a part
    or a list of parts) goes first as a system message.

    Raises:
        FormatError: a content has another form than the API's; the text names the place.
        ConfigError: a key holds what JSON cannot; the text names its path.

    >>> from unabridged.messages import user
    >>> load([{"role": "user", "parts": [{"text": "hi"}]}]) == (user("hi"),)
    True
    >>> load([{"role": "model", "parts": {}}])
    Traceback (most recent call last):
    unabridged.errors.FormatError: contents[0].parts: expected a list, got an object
    """
    if not isinstance(turns, list | tuple):
        refuse("contents", "a list", turns)
    native(turns, "contents")
    with reading("system"):
        prompt = () if system is None else (_prompt(system),)
    names = Names()
    try:
        messages = [read_content(turn, names, "") for turn in turns]
    except Exception:  # noqa: BLE001  whatever it is
        # only what is wrong needs its place, so it is read again to be refused with it
        names, places = Names(), [f"contents[{at}]" for at in range(len(turns))]
        with reading("contents"):
            messages = [
                read_content(turn, names, at) for turn, at in zip(turns, places, strict=True)
            ]

    return (*prompt, *messages)


def dump(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """
    The messages as contents of a Gemini request, fresh dicts each time.

    System messages in front are left out, since `request` sends them apart; a
    later one becomes a user's turn. Reasoning and opaque parts of other
    providers are left out, and a message that holds nothing else with them.

    >>> from unabridged.messages import assistant, user
    >>> dump([user("hi"), assistant("Hello!")])[1]
    {'role': 'model', 'parts': [{'text': 'Hello!'}]}
    """
    turns: list[dict[str, Any]] = []
    names = Names()
    for message in dropwhile(_is_prompt, checked(messages)):
        turn = write_content(message, names)
        if turn is not None:
            turns.append(turn)

    return turns


def request(messages: Iterable[Message | Item], report: list[Mend] | None = None) -> GeminiRequest:
    """
    The messages as keyword arguments of `client.models.generate_content`, mended.

    What was mended, and what Gemini cannot carry, is added to the *report*.

    >>> from unabridged.messages import system, user
    >>> request([system("Be brief."), user("hi")])["config"]
    {'system_instruction': 'Be brief.'}
    """
    ready = sendable(messages, NAME, report)
    # the API has no system turn: one that stood in front goes where it belongs
    prompts = tuple(takewhile(lambda message: message.role in _PROMPTS, ready))
    contents = [_sendable(turn) for turn in dump(ready[len(prompts) :])]
    prompt = _instruction(prompts)

    body: dict[str, Any] = {"contents": contents}
    if prompt is not None:
        body["config"] = {"system_instruction": prompt}

    return cast("GeminiRequest", body)


def reply(response: object) -> tuple[Message, ...]:
    """
    The answer in a response of Gemini's client, its dict, or the chunks of a stream.

    What came beside it (usage, the finish reason, grounding) is kept in the
    extra and never sent.

    Raises:
        FormatError: there is no answer; the text says why.

    >>> content = {"role": "model", "parts": [{"text": "Hello!"}]}
    >>> str(reply({"responseId": "r1", "candidates": [{"content": content}]})[0])
    'assistant: Hello!'
    """
    content, received, id_ = answered(response)
    message = read_content({"role": "model", **content}, Names(), "response.candidates[0].content")
    extra = json_of({NAME: {**own(message.extra), "inner": {"received": received}}}, "response")

    return (evolve(message, id=id_, extra=extra),)


def _is_prompt(message: Message) -> bool:
    if message.role not in _PROMPTS:
        return False

    return not message.extra or own(message.extra).get("as") != "turn"


def _prompt(system: object) -> Message:
    """
    The system message of an instruction, with a hint of its form.
    """
    where = "system"
    if isinstance(system, str):
        return Message("system", system)
    if isinstance(system, list | tuple):
        parts = tuple(read_part(part, Names(), f"{where}[{at}]") for at, part in enumerate(system))
        return Message("system", parts, extra=kept({}, {"system": "list"}, where))
    if not isinstance(system, dict):
        refuse(where, "text, a content or a list of parts", system)
    if system and not ("parts" in system or "role" in system):
        return Message(
            "system", read_part(system, Names(), where), extra=kept({}, {"system": "part"}, where)
        )
    keys = system.copy()
    shape: dict[str, Any] = {"system": "content"}
    found = read_parts(keys, Names(), shape, where)

    return Message("system", found, extra=kept(keys, shape, where))


def _instruction(prompts: tuple[Message, ...]) -> Any:
    """
    The system prompt in the form it came in; None for none.
    """
    parts = [part for message in prompts for part in write_parts(message, Names())]
    if len(prompts) != 1:
        return parts or None
    (message,) = prompts
    hints = own(message.extra) if message.extra else {}
    form = hints.get("system")
    if form == "content":
        content = dict(hints.get("keys", {}))
        put_parts(content, message, parts)
        return content
    if form == "part" and len(parts) == 1:
        return parts[0]
    if form == "list":
        return parts
    match message.parts:
        case (Text(text=text, extra=extra),) if "keys" not in own(extra):
            return text

    return parts or None


def _sendable(turn: dict[str, Any]) -> dict[str, Any]:
    """
    The turn in the form that today's API takes: two roles, and parts that are objects.
    """
    parts = turn.get("parts")
    listed = [parts] if isinstance(parts, str) else parts or []
    role = "model" if turn.get("role") in ("model", "assistant") else "user"

    return {
        **turn,
        "role": role,
        "parts": [{"text": part} if isinstance(part, str) else part for part in listed],
    }
