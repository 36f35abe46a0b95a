"""
Menders of limits: cache marks that are too many, media that hold nothing.

A mender is one function: turns in, turns out, and a line in the report for
each thing it did. None of them drops a message.
"""

from attrs import evolve

from unabridged.formats.marks import marks_of, may_be_marked, with_marks
from unabridged.formats.media_data import fault_of
from unabridged.formats.provider import Mend, Provider
from unabridged.formats.rules_of_limits import marks_that_stay
from unabridged.formats.rules_of_media import FORMS
from unabridged.formats.turns import Turn, sent
from unabridged.messages import Part, Reasoning, Text, ToolCall, ToolResult

__all__ = ["few_marks", "sound_media"]

_TOLD = (Text, ToolCall, Reasoning)


def few_marks(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Take off the oldest cache marks beyond the four that a request may have.

    >>> from unabridged.formats import anthropic
    >>> block = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    >>> messages = anthropic.load([{"role": "user", "content": [block] * 5}])
    >>> sorted(anthropic.request(messages)["messages"][0]["content"][0])
    ['text', 'type']
    """
    found = [
        (mark, part, turn.seqs[place])
        for turn in turns
        for place, part in enumerate(turn.message.parts)
        for mark in marks_of(part, api.name)
        if not api.left_out(part, turn.message.role)
    ]
    stay = marks_that_stay([(mark, may_be_marked(part)) for mark, part, _ in found])
    if stay == [mark for mark, _, _ in found]:
        return turns
    for (mark, _, seq), kept in zip(found, stay, strict=True):
        if kept != mark:
            text = "a cache mark is for five minutes now" if kept else "a cache mark is taken off"
            report.append(Mend("unmarked", seq, text))

    mended: list[Turn] = []
    for turn in turns:
        here = set(sent(turn, api.left_out))
        parts = [
            with_marks(part, api.name, stay) if place in here else part
            for place, part in enumerate(turn.message.parts)
        ]
        mended.append(_but(turn, parts))

    return mended


def _but(turn: Turn, parts: list[Part | None]) -> Turn:
    """
    The turn with these parts; those that are None are gone.
    """
    if all(part is was for part, was in zip(parts, turn.message.parts, strict=True)):
        return turn
    both = [(part, seq) for part, seq in zip(parts, turn.seqs, strict=True) if part is not None]
    message = evolve(turn.message, parts=tuple([part for part, _ in both]))

    return Turn(message, turn.seq, tuple([seq for _, seq in both]))


def sound_media(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Leave out pictures, documents and sound that hold nothing, or what is no base64.

    >>> from unabridged import Image, user
    >>> from unabridged.formats import mend
    >>> mended = mend([user(["Look:", Image("not base64!")])], "anthropic")
    >>> len(mended.messages[0].parts), mended.report[0].what
    (1, 'left out')
    """
    return [
        turn if all(map(_is_told, turn.message.parts)) else _sound(turn, api, report)
        for turn in turns
    ]


def _is_told(part: Part) -> bool:
    """
    Whether it holds words, thoughts and calls alone, as most parts do.
    """
    if type(part) is ToolResult:
        return all(type(inner) is Text for inner in part.content)

    return type(part) in _TOLD


def _sound(turn: Turn, api: Provider, report: list[Mend]) -> Turn:
    name, role = FORMS.get(api.name, api.name), turn.message.role
    parts: list[Part | None] = []
    for part, seq in zip(turn.message.parts, turn.seqs, strict=True):
        if isinstance(part, ToolResult):
            faults = [_fault(inner, "tool", name, api) for inner in part.content]
            kept = [one for one, fault in zip(part.content, faults, strict=True) if not fault]
            same = len(kept) == len(faults)
            parts.append(part if same else evolve(part, content=tuple(kept)))
        else:
            faults = [_fault(part, role, name, api)]
            parts.append(None if faults[0] else part)
        report.extend(Mend("left out", seq, fault) for fault in faults if fault)

    return _but(turn, parts)


def _fault(part: Part, role: str, name: str, api: Provider) -> str:
    return "" if api.left_out(part, role) else fault_of(part, name)
