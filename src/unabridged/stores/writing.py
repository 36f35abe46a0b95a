"""
What every store does the same way: who may append, how records are numbered, what expires.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import assert_never

from attrs import evolve

from unabridged.errors import ConfigError, LogConflictError, StoreError
from unabridged.links import Marks
from unabridged.records import (
    Appended,
    Body,
    Compacted,
    Entry,
    Forked,
    Insert,
    Noted,
    Pinned,
    Record,
    Reverted,
)
from unabridged.spans import NOTHING, Span
from unabridged.states import Log, ThreadState, advance, lasting
from unabridged.stores.incarnations import new_id
from unabridged.text import brief

__all__ = [
    "admitted",
    "advancing",
    "checked_retain",
    "entry_of",
    "expired",
    "forking",
    "inheriting",
    "mark_of",
    "meant",
    "undeletable",
    "without",
]


def admitted(  # noqa: PLR0913  what it looks at is the store's
    thread: str,
    state: ThreadState,
    bodies: Sequence[Body],
    expect: int | None,
    incarnation: str | None,
    find: Callable[[str], Entry | None],
    decisions: Callable[[], Iterable[Record]],
) -> tuple[list[Body], tuple[Entry, ...]]:
    """
    The bodies to write, and the entries that are known already.

    Raises:
        LogConflictError: as `Store.append` says; nothing may be written then.
        StoreError: a body names an entry or record that is not there.
    """
    meant(thread, state, incarnation)
    _expected(thread, state, expect)
    fresh: list[Body] = []
    known: list[Entry] = []
    batch: dict[str, Appended] = {}
    for body in bodies:
        if not isinstance(body, Appended):
            seq = state.seq + sum(isinstance(earlier, Appended) for earlier in fresh)
            _sound(thread, body, seq, decisions)
        match body:
            case Compacted(_, upto) if state.decided > upto:
                msg = (
                    f"thread {brief(thread)}: the changes lean on record {upto}, but record "
                    f"{state.decided} changed the view since; read again and work them out anew"
                )
                raise LogConflictError(msg)
            case Appended(message=message) if message.id is not None:
                entry = find(message.id)
                if entry is not None and entry.seq in state.retracted:
                    entry = None
                twin = batch.get(message.id)
                same = entry.message if entry else twin.message if twin else message
                if same != message:
                    where = f"entry {entry.seq}" if entry else "another message of this append"
                    msg = (
                        f"thread {brief(thread)}: message id {brief(message.id)} belongs to "
                        f"{where}, which says something else; give the new message an id of its "
                        "own, or none"
                    )
                    raise LogConflictError(msg)
                if entry is not None:
                    known.append(entry)
                elif twin is None:
                    batch[message.id] = body
                    fresh.append(body)
            case _:
                fresh.append(body)

    return fresh, tuple(known)


def _sound(thread: str, body: Body, seq: int, decisions: Callable[[], Iterable[Record]]) -> None:
    """
    Refuse a body that names what is not there.
    """
    match body:
        case Compacted(changes):
            spans = [change.sources for change in changes if not isinstance(change, Insert)]
        case Pinned(span):
            spans = [span]
        case Reverted(rec):
            spans = []
            known = {record.rec: record.body for record in decisions()}
            if not isinstance(known.get(rec), Compacted | Reverted):
                msg = f"thread {brief(thread)}: record {rec} is no write-back or revert; give one"
                raise StoreError(msg)
        case _:
            return
    for span in spans:
        if not span or span.last > seq:
            msg = (
                f"thread {brief(thread)}: a {type(body).__name__} names the entries "
                f"{span or 'none'}; "
                f"the thread holds 1-{seq}"
            )
            raise StoreError(msg)


def forking(
    thread: str, state: ThreadState, bodies: Sequence[Body], expect: int | None
) -> Forked | None:
    """
    The fork that this append makes, if it makes one.

    Raises:
        StoreError: a fork is appended with something else, to itself, or to a
            thread that holds records.
        LogConflictError: as `Store.append` says of *expect*.
    """
    fork = next((body for body in bodies if isinstance(body, Forked)), None)
    if fork is None:
        return None
    _expected(thread, state, expect)
    if len(bodies) > 1 or state.rec or fork.thread == thread:
        why = (
            f"it holds {state.rec} records already"
            if state.rec
            else "it is a thread's first record, alone in its append, and names another thread"
        )
        msg = f"thread {brief(thread)}: cannot be forked from {brief(fork.thread)}: {why}"
        raise StoreError(msg)

    return fork


def inheriting(
    thread: str, fork: Forked, parent: ThreadState, incarnation: str | None = None
) -> None:
    """
    Refuse a fork of what is not there, or no longer.
    """
    meant(fork.thread, parent, incarnation)
    told = f"thread {brief(thread)}: cannot be forked from {brief(fork.thread)}"
    if not 0 < fork.rec <= parent.rec:
        msg = (
            f"{told} at record {fork.rec}: that thread holds the records 1-{parent.rec}"
            if parent.rec
            else f"{told}: no such thread"
        )
        raise StoreError(msg)
    if parent.lost:
        msg = (
            f"{told}: the store deleted its entries {parent.lost} (retain=), so there is no "
            "whole log to share"
        )
        raise StoreError(msg)


def undeletable(thread: str, forks: Iterable[str]) -> str:
    """
    Why a thread with forks is not deleted.
    """
    names = ", ".join(map(repr, sorted(forks)))
    return (
        f"thread {brief(thread)} cannot be deleted: forked from it are {names}; delete these first"
    )


def meant(thread: str, state: ThreadState, incarnation: str | None) -> None:
    """
    Refuse to write to another incarnation of the thread than the one that is meant.

    Raises:
        LogConflictError: it was deleted, begun anew, or begun for the first time since.
    """
    if incarnation is None or incarnation == state.incarnation:
        return
    since = "begun" if not incarnation else "deleted" if not state.rec else "deleted and begun anew"
    msg = f"thread {thread!r}: it was {since} since this was worked out; nothing is written"
    raise LogConflictError(msg)


def _expected(thread: str, state: ThreadState, expect: int | None) -> None:
    if expect is not None and expect != state.rec:
        msg = (
            f"thread {brief(thread)}: expected record {expect} to be the last, it is {state.rec}; "
            "read again, then append"
        )
        raise LogConflictError(msg)


def advancing(
    state: ThreadState, bodies: Sequence[Body], at: float, log: Log
) -> Iterator[tuple[Record, Marks | None, ThreadState]]:
    """
    Each body as a numbered record, with the marks of its entry and the state after it.

    Whoever iterates stores each record before taking the next: *log* must know it by then.
    """
    for body in bodies:
        if isinstance(body, Appended):
            body = Appended(state.seq + 1, body.message, body.pinned)  # noqa: PLW2901  numbered here
        record = Record(state.rec + 1, at, body)
        state, marks = advance(state, record, log)
        if record.rec == 1 or isinstance(body, Forked):
            state = evolve(state, id=new_id())
        yield record, marks, state


def entry_of(record: Record, marks: Marks) -> Entry:
    """
    The entry that an `Appended` record makes.
    """
    body = record.body
    if not isinstance(body, Appended):
        msg = f"record {record.rec} appends no message"
        raise TypeError(msg)

    return Entry(
        body.seq,
        record.rec,
        record.at,
        body.message,
        body.pinned,
        head=marks.head,
        opener=marks.opener,
        asked=marks.asked,
    )


def checked_retain(retain: int | None) -> int | None:
    """
    The bound, if it is one.
    """
    if retain is not None and (not isinstance(retain, int) or retain < 1):
        msg = f"retain= must be an int of 1 entry or more, or None to keep all, got {brief(retain)}"
        raise ConfigError(msg)

    return retain


def expired(
    state: ThreadState, retain: int, head: Callable[[int], int], *, shared: int = 0
) -> Span:
    """
    The oldest whole blocks that have to go so that *retain* entries are held.

    Pins and the newest user message stay, and so does the newest block. The
    entries up to *shared* belong to forks too: they stay, and are not counted.
    """
    held = Span.between(shared + 1, state.seq) - state.lost
    over = len(held) - retain
    if over <= 0:
        return NOTHING
    links = state.links
    tied = max((seq for seq in held if head(seq) <= shared), default=0) if shared else 0
    spared = state.guarded | Span.between(shared + 1, tied)
    if links.asked:
        spared = spared | Span.between(*links.asked_block) | Span.one(links.asked)
    if links.pending:
        spared = spared | Span.between(*links.spoke_block)
    free = held - spared
    low, cuts = state.seq + 1, list[int]()
    for seq in reversed(held):
        low = min(low, head(seq))
        if low >= seq:
            cuts.append(seq)
    for place in reversed(cuts):
        older = free - Span.between(place, state.seq)
        if len(older) >= over:
            return older

    return free - Span.between(cuts[0], state.seq) if cuts else NOTHING


def without(state: ThreadState, lost: Span) -> ThreadState:
    """
    The state once these entries are destroyed: they are no longer in any view.

    A result that comes for one of them has no call, and their rewordings go with them.
    """
    folds = lasting(state.folds, lost)
    calls = tuple(call for call in state.links.calls if call.seq not in lost)
    links = evolve(state.links, calls=calls) if calls != state.links.calls else state.links

    return evolve(state, live=state.live - lost, folds=folds, lost=state.lost | lost, links=links)


def mark_of(body: Body) -> str:
    """
    The kind of record that `Store.read` calls by this name.
    """
    match body:
        case Appended():
            return "appended"
        case Noted():
            return "noted"
        case Compacted() | Reverted() | Pinned():
            return "decided"
        case Forked():
            return "forked"
        case _:
            assert_never(body)
