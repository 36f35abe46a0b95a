"""
Where a context stopped beginning like the one before, and what did it.

A provider's cache holds a request's beginning; from the first message that
differs on it bills all anew.
"""

from operator import attrgetter
from typing import TYPE_CHECKING

from unabridged.items import Item
from unabridged.records import Change, Hold, Insert
from unabridged.spans import Span

if TYPE_CHECKING:
    from unabridged.trim_result import TrimResult

__all__ = ["broken"]


def broken(result: "TrimResult") -> str:
    """
    What broke the prefix, from which entry on, and what is read anew; "" if nothing did.

    A context that only goes on from the one before, or stops short of its end,
    breaks nothing.
    """
    kept = result.kept
    sent = result.sent
    if not (kept.messages < kept.out_of and kept.messages < len(sent)):
        return ""
    anew = result.tokens - kept.tokens
    here = _called(sent[kept.messages])

    return (
        f"prefix broken from {here} on, by {_culprit(result, sent)}: "
        f"{anew:_} tokens are no longer the beginning of what was sent before"
    )


def _culprit(result: "TrimResult", sent: tuple[Item, ...]) -> str:
    """
    Whoever put what now stands at the break there, or took what stood there before.
    """
    place = result.kept.messages
    now = sent[place]
    if not now.sources:
        put_in = [c for c in result.changes if isinstance(c, Insert) and c.into == now.message]
        return _step(put_in[-1]) if put_in else "another system prompt"
    if now.stands_in and (folds := _naming(result, now.first)):
        return _step(folds[-1])
    since = sent[place - 1].first if place else 0
    seq = _entry_of(result, place, since)
    if seq and (changes := _naming(result, seq)):
        return _step(changes[-1])
    if now.pin == "held" and (holds := _naming(result, now.first, holds=True)):
        return _step(holds[-1])
    return _in_the_log(result, since, now)


def _in_the_log(result: "TrimResult", since: int, now: Item) -> str:
    """
    What the log says of the entries up to the item that now follows entry *since*.
    """
    log = result.before.log
    if folds := [fold for fold in log.folds if fold.sources == now.sources]:
        return f"{_step(folds[-1])}, written back"
    gap = Span.between(since + 1, now.first - 1)
    if gone := [each for each in log.gone if not each.sources.isdisjoint(gap)]:
        last = max(gone, key=attrgetter("rec"))
        return f"{last.step or 'a write-back'} (record {last.rec})"

    return "another strategy, pin or record of the log than before"


def _naming(result: "TrimResult", seq: int, *, holds: bool = False) -> list[Change]:
    return [
        change
        for change in result.changes
        if not isinstance(change, Insert)
        and isinstance(change, Hold) == holds
        and seq in change.sources
    ]


def _entry_of(result: "TrimResult", place: int, since: int) -> int:
    """
    The entry that stood at that place before, the first after entry *since*; 0 if it was none.
    """
    for item in result.before.loaded:
        if item.first > since and result.stood_before(place, item.message):
            return item.first

    return 0


def _step(change: Change) -> str:
    reason = f" ({change.reason})" if change.reason else ""

    return f"{change.step or 'a step'}{reason}"


def _called(item: Item) -> str:
    if not item.sources:
        return "a message put in"

    return f"entr{'ies' if item.wide else 'y'} {item.sources}"
