"""
What happened in a thread, for people: appends, write-backs, reverts, pins, forks.

A long thread is read from its newest records on, so `last=` bounds what it
costs: one record for each event, however many messages an event stands for.
"""

from collections.abc import Iterator, Mapping
from typing import assert_never

from attrs import field, frozen

from unabridged.explained import one_line, some_entries
from unabridged.ledger import in_force
from unabridged.records import (
    Appended,
    Body,
    Compacted,
    Drop,
    Fold,
    Forked,
    Insert,
    Noted,
    Pinned,
    Record,
    Reverted,
)
from unabridged.spans import NOTHING, Span
from unabridged.states import ThreadState
from unabridged.work import Do, Work, whole

__all__ = ["Event", "history"]

_BY_HAND = {
    "memory.clear": "cleared",
    "memory.retract": "retracted",
    "memory.rewind": "rewound",
}


@frozen
class Event:
    """
    One thing that happened, by record *rec* at time *at* (seconds since 1970).

    *kind* is "appended" (a run of messages, of which *rec* is the last),
    "compacted" (a write-back), "retracted", "rewound", "cleared", "reverted",
    "redone", "pinned", "unpinned" or "forked". *entries* are those it is about.
    *of* is the write-back that a revert takes back or a redo brings back, or the
    record that a fork goes on from. *counts* is false once a revert took it back.

    `memory.view(at=event.rec)` is the view after it.

    >>> from unabridged import Memory, user
    >>> memory = Memory()
    >>> _ = memory.append(user("a"), user("b"))
    >>> memory.history()[0].kind
    'appended'
    >>> print(memory.history()[0])
    record 2: 2 entries (1-2) appended, the last is user: b
    """

    rec: int
    at: float
    kind: str
    text: str
    entries: Span = NOTHING
    of: int = 0
    counts: bool = field(default=True, kw_only=True)

    def __str__(self) -> str:
        return f"record {self.rec}: {self.text}{'' if self.counts else ' (reverted)'}"


def history(thread: str, last: int | None, before: int | None) -> Work[tuple[Event, ...]]:
    """
    The newest *last* events, in order, of the records before the record *before*.
    """
    whole(last, "history: last")
    whole(before, "history: before")
    state: ThreadState = yield Do("state", (thread,))
    stop = state.rec + 1 if before is None else min(before, state.rec + 1)
    if last is not None and last < 1:
        return ()
    bounds = {"before": stop, "last": last, "marks": ("decided", "forked")}
    chosen: tuple[Record, ...] = yield Do("read", (thread,), bounds)
    later = ()
    if stop <= state.rec:
        later = yield Do("read", (thread,), {"after": stop - 1, "marks": ("decided",)})
    counting = in_force([*chosen, *later])
    known: dict[int, Body] = {record.rec: record.body for record in chosen}
    events: list[Event] = []
    newest = yield from _newest_append(thread, stop)
    for record in reversed(chosen):
        earlier = newest
        if newest is not None and newest.rec > record.rec:
            earlier = yield from _newest_append(thread, record.rec)
            events.append(_appended(newest, earlier, state.lost))
        newest = earlier
        yield from _learn(thread, record, known)
        events.append(_decided(record, known, counts=record.rec in counting))
    if newest is not None and (last is None or len(events) < last):
        events.append(_appended(newest, None, state.lost))
    events.reverse()

    return tuple(events if last is None else events[-last:])


def _newest_append(thread: str, before: int) -> Work[Record | None]:
    bounds = {"before": before, "last": 1, "marks": ("appended",)}
    found: tuple[Record, ...] = yield Do("read", (thread,), bounds)

    return found[0] if found else None


def _learn(thread: str, record: Record, known: dict[int, Body]) -> Work[None]:
    """
    Read what a revert takes back, if it is not among what is shown.
    """
    body = record.body
    while isinstance(body, Reverted):
        if body.rec not in known:
            bounds = {"after": body.rec - 1, "before": body.rec + 1}
            (found,) = yield Do("read", (thread,), bounds)
            known[body.rec] = found.body
        body = known[body.rec]


def _appended(newest: Record, earlier: Record | None, lost: Span) -> Event:
    """
    The run of appends from the one after *earlier* to *newest*.
    """
    entries = Span.between(_seq(earlier) + 1 if earlier else 1, _seq(newest)) - lost
    message = newest.body.message if isinstance(newest.body, Appended) else ""
    told = one_line(str(message))
    said = f"appended: {told}" if len(entries) == 1 else f"appended, the last is {told}"

    return Event(newest.rec, newest.at, "appended", f"{some_entries(entries)} {said}", entries)


def _seq(record: Record) -> int:
    return record.body.seq if isinstance(record.body, Appended) else 0


def _decided(record: Record, known: Mapping[int, Body], *, counts: bool) -> Event:
    rec, at = record.rec, record.at
    match record.body:
        case Compacted() as made:
            kind = _BY_HAND.get(_steps(made).split("(")[0], "compacted")
            text = "; ".join(_told(made)) or "nothing left"
            return Event(rec, at, kind, text, _sources(made), counts=counts)
        case Reverted(root):
            place = 0
            while isinstance(body := known[root], Reverted):
                root, place = body.rec, 1 - place
            named = f"record {root} ({_steps(body)})" if isinstance(body, Compacted) else ""
            sources = _sources(body) if isinstance(body, Compacted) else NOTHING
            text = f"{('reverted', 'redid')[place]} {named}"
            return Event(rec, at, ("reverted", "redone")[place], text, sources, root, counts=counts)
        case Pinned(span, on):
            kind = "pinned" if on else "unpinned"
            return Event(rec, at, kind, f"{some_entries(span)} {kind}", span)
        case Forked(thread, origin):
            text = f"forked from thread {thread!r} at record {origin}"
            return Event(rec, at, "forked", text, of=origin)
        case Appended() | Noted():  # pragma: no cover  not among what is read
            msg = f"record {rec} decides nothing"
            raise TypeError(msg)
        case _:
            assert_never(record.body)


def _steps(body: Compacted) -> str:
    """
    The names of the steps that made the changes.
    """
    steps = (change.step or "a step" for change in body.changes)
    return " | ".join(dict.fromkeys(steps)) or "no change"


def _sources(body: Compacted) -> Span:
    return Span.union(change.sources for change in body.changes if isinstance(change, Drop | Fold))


def _told(body: Compacted) -> Iterator[str]:
    """
    The changes in words; drops of one step for one reason together, and so its rewordings.
    """
    runs: dict[tuple[str, str, str], Span] = {}
    for change in body.changes:
        if isinstance(change, Insert) or not change.sources:
            continue
        what = "left"
        if isinstance(change, Fold):
            wide = len(change.sources) > 1
            what = f"folded into {one_line(change.into.text)!r}" if wide else "reworded"
        elif not isinstance(change, Drop):
            what = "held"
        key = (change.step or "a step", what, change.reason)
        runs[key] = runs.get(key, NOTHING) | change.sources
    for (step, what, reason), sources in runs.items():
        by_hand = _BY_HAND.get(step.split("(")[0])
        if by_hand:
            yield f"{some_entries(sources)} {by_hand}"
        else:
            yield f"{step}: {some_entries(sources)} {what}" + (f": {reason}" if reason else "")
