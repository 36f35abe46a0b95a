"""
Rules of OpenAI's messages and items: keys that may not be empty, content that has to be there.

Each rule is one function over a conversation as a provider sees it.
"""

import re
from collections.abc import Iterator, Sequence

from unabridged.formats.chat_parts import own
from unabridged.formats.chat_write import write_message
from unabridged.formats.provider import Provider
from unabridged.formats.responses_parts import item_id
from unabridged.formats.responses_parts import own as own_of_items
from unabridged.formats.turns import Problem, Seen
from unabridged.messages import Message, Part, ToolResult
from unabridged.text import brief

__all__ = [
    "CONTENT_FORMS",
    "calls_nothing",
    "content_is_there",
    "has_no_output",
    "ids_of_items_fit",
    "is_item_id",
    "keys_are_filled",
    "outputs_are_there",
    "says_how",
]

CONTENT_FORMS = ("null", "missing", "list")
_INSTEAD = ("tool_calls", "function_call", "audio", "refusal")


def keys_are_filled(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    `tool_calls` holds a call.

    "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum
    length 1, but got an empty array instead", says OpenAI's API
    (https://github.com/openai/openai-python/issues/2061).

    >>> from unabridged.formats import openai_chat, problems
    >>> turns = [{"role": "assistant", "content": "Hello!", "tool_calls": []}]
    >>> [(p.rule, p.seq) for p in problems(openai_chat.load(turns), "openai_chat")]
    [('empty key', 1)]
    """
    for turn in seen:
        if calls_nothing(turn.message):
            yield Problem("empty key", turn.seq, "`tool_calls` is there and holds nothing")


def calls_nothing(message: Message) -> bool:
    """
    Whether the message was loaded with an empty list of calls.

    >>> calls_nothing(Message("assistant", "hi"))
    False
    """
    return bool(message.extra) and own(message.extra).get("keys", {}).get("tool_calls") == []


def content_is_there(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    A message has content, unless it calls: neither null nor an empty list.

    "Invalid value for 'content': expected a string, got null", "Invalid
    'messages[0].content': empty array", says OpenAI's API; content is "required
    unless `tool_calls` or `function_call` is specified"
    (https://platform.openai.com/docs/api-reference/chat/create).

    >>> from unabridged.formats import openai_chat, problems
    >>> turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": None}]
    >>> [(p.rule, p.seq) for p in problems(openai_chat.load(turns), "openai_chat")]
    [('no content', 2)]
    """
    for turn in seen:
        if not says_how(turn.message):
            continue
        for written in write_message(turn.message):
            content = written.get("content")
            instead = any(written.get(key) for key in _INSTEAD)
            if content in (None, []) and not instead and "type" not in written:
                yield Problem("no content", turn.seq, "the content is null, or an empty list")
                break


def says_how(message: Message) -> bool:
    """
    Whether the message, or a result in it, was loaded with content of a form of its own.

    >>> from unabridged.formats import openai_chat
    >>> [says_how(one) for one in openai_chat.load([{"role": "user", "content": []}])]
    [True]
    """
    if message.extra and own(message.extra).get("content") in CONTENT_FORMS:
        return True

    return any(
        own(part.extra).get("content") in CONTENT_FORMS
        for part in message.parts
        if isinstance(part, ToolResult) and part.extra
    )


def outputs_are_there(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    The output of a call is text or a list, no null.

    `output` is required in a `FunctionCallOutput`, a string or an array
    (https://platform.openai.com/docs/api-reference/responses/create).

    >>> from unabridged.formats import openai_responses, problems
    >>> call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    >>> output = {"type": "function_call_output", "call_id": "c1", "output": None}
    >>> turns = openai_responses.load([call, output])
    >>> [(p.rule, p.seq) for p in problems(turns, "openai_responses")]
    [('no content', 2)]
    """
    for turn in seen:
        for part, seq in zip(turn.parts, turn.seqs, strict=True):
            if has_no_output(part):
                yield Problem("no content", seq, "the output of a call is null or not there")


def has_no_output(part: Part) -> bool:
    """
    Whether it is a result that was loaded without an output, and still has none.

    >>> has_no_output(ToolResult("c1", ""))
    False
    """
    if not isinstance(part, ToolResult) or part.content or not part.extra:
        return False

    return own_of_items(part.extra).get("output") in ("null", "missing")


def ids_of_items_fit(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    The id of an item has at most 64 letters, digits, underscores or dashes.

    "Invalid 'input[1].id': string too long. Expected a string with maximum length
    64", "Expected an ID that contains letters, numbers, underscores, or dashes, but
    this value contained additional characters", says OpenAI's API.

    >>> from unabridged.formats import openai_responses, problems
    >>> item = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    >>> output = {"type": "function_call_output", "call_id": "c1", "output": "noon"}
    >>> turns = openai_responses.load([item | {"id": "fc_" + "1" * 64}, output])
    >>> [(p.rule, p.seq) for p in problems(turns, "openai_responses")]
    [('bad item id', 1)]
    """
    for turn in seen:
        for part, seq in zip(turn.parts, turn.seqs, strict=True):
            id_ = item_id(part)
            if id_ and not is_item_id(id_):
                yield Problem("bad item id", seq, f"the id {brief(id_)} of an item is not taken")


def is_item_id(id_: str) -> bool:
    """
    Whether an item may have this id.

    >>> is_item_id("msg_1"), is_item_id("msg 1")
    (True, False)
    """
    return re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", id_) is not None
