"""
Pairing of calls and results, worked out a second time: what the laws hold the library to.

`pairs` reads a whole log by the rule that a result belongs to the newest
message that calls with its id. It does not lean on `unabridged.links`.
"""

from collections import Counter
from collections.abc import Sequence

from unabridged.messages import Message, Opaque, Part, Reasoning, ToolResult

__all__ = ["opens_on", "pairs", "speaks", "with_words"]

_ASKS_NOTHING = frozenset({"user", "system", "developer", "tool"})


def _calls(message: Message) -> list[str]:
    if message.role in _ASKS_NOTHING:
        return []

    return [call.id for call in message.tool_calls]


def opens_on(messages: Sequence[Message]) -> str:
    """
    The role of the first message that instructs nobody; "" if there is none.

    >>> from unabridged.testing import assistant, system
    >>> opens_on([system("Be brief."), assistant("Hello.")])
    'assistant'
    """
    roles = (message.role for message in messages)
    return next((role for role in roles if role not in {"system", "developer"}), "")


def with_words(message: Message) -> bool:
    """
    Whether a user says something in it, beside results.

    >>> from unabridged.testing import user
    >>> with_words(user("hi"))
    True
    """
    bare = bool(message.parts) and all(isinstance(part, ToolResult) for part in message.parts)
    return message.role == "user" and not bare


def speaks(message: Message) -> bool:
    """
    Whether it is an assistant's, whatever its role is called.

    >>> from unabridged.testing import call
    >>> speaks(call("c1"))
    True
    """
    return message.role == "assistant" or bool(_calls(message))


def pairs(messages: Sequence[Message]) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """
    Which entries are tied (as numbers from 1), and the entries with calls that are unanswered.

    >>> from unabridged.testing import call, result
    >>> pairs([call("c1"), result("c1"), call("c1")])
    (((1, 2),), (3,))
    """
    tied: set[tuple[int, int]] = set()
    waiting: dict[int, Counter[str]] = {}
    for seq, message in enumerate(messages, start=1):
        for result in message.tool_results:
            callers = [
                earlier
                for earlier in range(1, seq)
                if result.call_id in _calls(messages[earlier - 1])
            ]
            if callers and waiting[callers[-1]][result.call_id] > 0:
                waiting[callers[-1]][result.call_id] -= 1
                tied.add((callers[-1], seq))
        if calls := _calls(message):
            waiting[seq] = Counter(calls)
        before = messages[seq - 2] if seq > 1 else None
        both = before is not None and speaks(before) and speaks(message)
        if both and (_at(before, -1, Reasoning) or _at(message, 0, Opaque)):
            tied.add((seq - 1, seq))
        thinker = _thinker(messages[: seq - 1]) if _calls(message) else 0
        if thinker and not _at(message, 0, Reasoning):
            tied.add((thinker, seq))
    unanswered = [seq for seq, calls in waiting.items() if +calls]

    return tuple(sorted(tied)), tuple(unanswered)


def _at(message: Message | None, place: int, kind: type[Part]) -> bool:
    parts = message.parts if message else ()

    return bool(parts) and isinstance(parts[place], kind)


def _thinker(messages: Sequence[Message]) -> int:
    """
    The newest entry whose signed thinking binds the tool loop that runs; 0 if there is none.
    """
    for seq in range(len(messages), 0, -1):
        message = messages[seq - 1]
        if speaks(message) and _at(message, 0, Reasoning):
            thought = message.reasoning[0]
            item = '"openai_responses"' in thought.extra.text
            if thought.signature or (thought.encrypted and not item):
                return seq
        if with_words(message):
            return 0

    return 0
