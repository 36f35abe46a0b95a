"""
The shapes that real logs have and simple ones lack, and which of them a log shows.

The generators have to make each of them; `shapes` finds them in the records,
whoever made these, so that a test can count.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from unabridged.formats.chat_functions import is_function
from unabridged.formats.marks import marks_of
from unabridged.formats.media_data import fault_of
from unabridged.log.compactions import is_compaction
from unabridged.messages import Message, Opaque
from unabridged.records import (
    Appended,
    Change,
    Compacted,
    Fold,
    Forked,
    Noted,
    Pinned,
    Reverted,
)
from unabridged.testing.log import Log
from unabridged.testing.pairing import opens_on, pairs, speaks, with_words

__all__ = ["SHAPES", "shapes"]

_BEYOND_BMP = 0x1_0000
_HAN = range(0x4E00, 0xA000)
_BY_HAND = {
    "memory.clear": "cleared",
    "memory.retract": "retracted",
    "memory.rewind": "rewound",
}

SHAPES = frozenset(
    {
        "a blank system message",
        "a cache mark",
        "a call in the middle that dangles",
        "a doubled result",
        "a late result",
        "a legacy call",
        "a log without a user",
        "a parallel batch",
        "a paused turn",
        "a pending call",
        "a provider's compaction item",
        "a preamble",
        "a result after a decision on its call",
        "a result of no call",
        "a reused id",
        "a system message in the middle",
        "a tool loop bound by its thinking",
        "a user between call and result",
        "bare reasoning",
        "Chinese",
        "cleared",
        "emoji",
        "empty text",
        "forked",
        "media without data",
        "pinned by hand",
        "pinned by role",
        "pinned later",
        "reasoning",
        "redone",
        "results and words in one message",
        "results in a user's message",
        "results out of order",
        "retracted",
        "reverted",
        "rewound",
        "unpinned",
        "unsigned thinking",
        "written back: a drop",
        "written back: a rewording",
        "written back: a stand-in",
        "a kept answer of a model",
    }
)


def shapes(log: Log) -> frozenset[str]:
    """
    Which of `SHAPES` the log shows.

    >>> from unabridged.testing import call, system, user
    >>> sorted(shapes(Log.of([system("Be brief."), user(""), call("c1")])))
    ['a pending call', 'empty text', 'pinned by role']
    """
    return frozenset([*_linked(log.messages), *_said(log.messages), *_decided(log)])


def _said(messages: Sequence[Message]) -> Iterator[str]:
    spoke = any(map(with_words, messages))
    if messages and not spoke:
        yield "a log without a user"
    elif messages and opens_on(messages) != "user":
        yield "a preamble"
    instructs = [n for n, each in enumerate(messages) if each.role in {"system", "developer"}]
    if instructs:
        yield "pinned by role"
        if any(map(with_words, messages[: instructs[-1]])):
            yield "a system message in the middle"
    for message in messages:
        yield from _told_by(message)


def _told_by(message: Message) -> Iterator[str]:
    if message.reasoning:
        bare = len(message.reasoning) == len(message.parts)
        yield "bare reasoning" if bare else "reasoning"
    elif not message.text and not message.tool_calls:
        yield "empty text"
    if any(ord(letter) in _HAN for letter in message.text):
        yield "Chinese"
    if any(ord(letter) >= _BEYOND_BMP for letter in message.text):
        yield "emoji"
    if message.role == "user" and message.tool_results:
        both = len(message.tool_results) < len(message.parts)
        yield "results and words in one message" if both else "results in a user's message"
    if len(message.tool_calls) > 1:
        yield "a parallel batch"
    yield from _refused_of(message)


def _refused_of(message: Message) -> Iterator[str]:
    """
    What the message holds that one provider or another refuses.
    """
    if message.role in {"system", "developer"} and not message.text.strip():
        yield "a blank system message"
    if any(map(is_function, message.tool_calls)):
        yield "a legacy call"
    for thought in message.reasoning:
        if thought.extra and not (thought.signature or thought.encrypted):
            yield "unsigned thinking"
    for part in message.parts:
        for provider in ("anthropic", "bedrock"):
            if marks_of(part, provider):
                yield "a cache mark"
            if fault_of(part, provider):
                yield "media without data"


def _linked(messages: Sequence[Message]) -> Iterator[str]:
    tied, unanswered = pairs(messages)
    results = [(caller, seq) for caller, seq in tied if messages[seq - 1].tool_results]
    for caller, seq in set(tied) - set(results):
        if messages[seq - 1].tool_calls and messages[caller - 1].tool_calls:
            yield "a tool loop bound by its thinking"
        if messages[seq - 1].parts and isinstance(messages[seq - 1].parts[0], Opaque):
            yield "a paused turn"
    for caller, seq in results:
        between = messages[caller : seq - 1]
        if any(map(with_words, between)):
            yield "a user between call and result"
        if any(map(speaks, between)):
            yield "a late result"
    for caller in {caller for caller, _ in results}:
        asked = [call.id for call in messages[caller - 1].tool_calls]
        answers = (messages[seq - 1].tool_results for other, seq in results if other == caller)
        came = [each.call_id for answer in answers for each in answer if each.call_id in asked]
        if came != sorted(came, key=asked.index):
            yield "results out of order"
    spoken = [seq for seq, message in enumerate(messages, start=1) if speaks(message)]
    for seq in unanswered:
        yield "a pending call" if seq == spoken[-1] else "a call in the middle that dangles"
    yield from _named(messages)
    yield from _compacted(messages)


def _compacted(messages: Sequence[Message]) -> Iterator[str]:
    if any(map(is_compaction, messages[1:])):
        yield "a provider's compaction item"


def _named(messages: Sequence[Message]) -> Iterator[str]:
    """
    What the ids alone tell.
    """
    called, answered = Counter[str](), Counter[str]()
    for message in messages:
        for result in message.tool_results:
            answered[result.call_id] += 1
            if not called[result.call_id]:
                yield "a result of no call"
            elif answered[result.call_id] > called[result.call_id]:
                yield "a doubled result"
        ids = [call.id for call in message.tool_calls]
        if any(called[id_] for id_ in ids):
            yield "a reused id"
        called.update(ids)


def _decided(log: Log) -> Iterator[str]:  # noqa: C901  one case for each kind
    tied = {seq: caller for caller, seq in pairs(log.messages)[0]}
    seq, named = 0, set[int]()
    for body in log.bodies:
        match body:
            case Appended(_, _, pinned):
                seq += 1
                if pinned:
                    yield "pinned by hand"
                if tied.get(seq) in named:
                    yield "a result after a decision on its call"
            case Compacted(changes):
                for change in changes:
                    named.update(getattr(change, "sources", ()))
                    yield _written(change)
            case Reverted(rec):
                yield "redone" if isinstance(log.bodies[rec - 1], Reverted) else "reverted"
            case Forked():
                yield "forked"
            case Pinned(_, on):
                yield "pinned later" if on else "unpinned"
            case Noted(notes):
                yield from ("a kept answer of a model" for n in notes if n.kind == "summary")


def _written(change: Change) -> str:
    if change.step.startswith("memory."):
        return _BY_HAND[change.step.split("(")[0]]
    if isinstance(change, Fold):
        return f"written back: a {'stand-in' if len(change.sources) > 1 else 'rewording'}"

    return "written back: a drop"
