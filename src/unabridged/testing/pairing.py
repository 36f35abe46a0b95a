"""
Pairing of calls and results, worked out a second time: what the laws hold the library to.

`pairing_problems` reads a list of messages by position, as a provider does;
`pairs` reads a whole log by the rule that a result belongs to the newest
message that calls with its id. Neither leans on `unabridged.links`.
"""

from collections import Counter
from collections.abc import Sequence

from attrs import frozen

from unabridged.messages import Message, Reasoning, ToolResult

__all__ = ["Problem", "opens_on", "pairing_problems", "pairs", "speaks", "with_words"]

_ASKS_NOTHING = frozenset({"user", "system", "developer", "tool"})


@frozen
class Problem:
    """
    What a provider would refuse: the *rule*, the *place* in the list, the id of the call.

    >>> Problem("orphan result", 0, "c1").rule
    'orphan result'
    """

    rule: str
    place: int
    id: str = ""


def pairing_problems(messages: Sequence[Message]) -> tuple[Problem, ...]:
    """
    The results that follow no call of theirs, and the calls that their results do not follow.

    By position: right after a message that calls, messages with its results
    must come, in any order, before anything else.

    >>> from unabridged.testing import call, result, user
    >>> pairing_problems([user("hi"), call("c1"), result("c1")])
    ()
    >>> [p.rule for p in pairing_problems([call("c1"), user("wait"), result("c1")])]
    ['unanswered call', 'orphan result']
    """
    found: list[Problem] = []
    asked, caller = Counter[str](), 0
    for place, message in enumerate(messages):
        if not message.tool_results:
            found += _open(asked, caller)
            asked = Counter()
        for result in message.tool_results:
            if asked[result.call_id] > 0:
                asked[result.call_id] -= 1
            else:
                found.append(Problem("orphan result", place, result.call_id))
        calls = _calls(message)
        if calls or with_words(message):
            found += _open(asked, caller)
            asked, caller = Counter(calls), place
    found += _open(asked, caller)

    return tuple(sorted(found, key=lambda problem: (problem.place, problem.rule, problem.id)))


def _open(asked: Counter[str], caller: int) -> list[Problem]:
    return [Problem("unanswered call", caller, id_) for id_ in (+asked).elements()]


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
        if before is not None and speaks(before) and speaks(message) and _thinks_last(before):
            tied.add((seq - 1, seq))
    unanswered = [seq for seq, calls in waiting.items() if +calls]

    return tuple(sorted(tied)), tuple(unanswered)


def _thinks_last(message: Message) -> bool:
    return bool(message.parts) and isinstance(message.parts[-1], Reasoning)
