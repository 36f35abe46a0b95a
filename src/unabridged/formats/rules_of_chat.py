"""
Rules of a chat's message: keys that may not be empty, and content that has to be there.

Each rule is one function over a conversation as a provider sees it.
"""

from collections.abc import Iterator, Sequence

from unabridged.formats.chat_parts import own
from unabridged.formats.chat_write import write_message
from unabridged.formats.provider import Provider
from unabridged.formats.turns import Problem, Seen
from unabridged.messages import Message

__all__ = ["CONTENT_FORMS", "calls_nothing", "content_is_there", "keys_are_filled"]

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
        if not _says_how(turn.message):
            continue
        for written in write_message(turn.message):
            content = written.get("content")
            instead = any(written.get(key) for key in _INSTEAD)
            if content in (None, []) and not instead and "type" not in written:
                yield Problem("no content", turn.seq, "the content is null, or an empty list")
                break


def _says_how(message: Message) -> bool:
    """
    Whether the message, or a result in it, was loaded with content of a form of its own.
    """
    if message.extra and own(message.extra).get("content") in CONTENT_FORMS:
        return True
    results = message.tool_results

    return any(own(one.extra).get("content") in CONTENT_FORMS for one in results if one.extra)
