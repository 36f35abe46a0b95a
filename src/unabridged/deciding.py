"""
Decisions about a thread: taking back, taking out, pinning, going on from it in another.

Each leans on the whole log so far; if somebody wrote meanwhile it is worked
out anew.
"""

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from unabridged.errors import ConfigError, LogConflictError, StoreError
from unabridged.ledger import in_force
from unabridged.records import Body, Compacted, Drop, Forked, Pinned, Record, Reverted
from unabridged.spans import NOTHING, Span
from unabridged.states import ThreadState
from unabridged.stores.protocol import Receipt
from unabridged.text import brief
from unabridged.thread.deletions import TRIES, begun_anew
from unabridged.work import Calls, Do, whole

__all__ = ["How", "fork", "not_given", "not_whole", "pin", "revert", "take_out"]

How: TypeAlias = Literal["retract", "rewind", "clear"]

_REASONS = {"retract": "retracted", "rewind": "rewound", "clear": "cleared"}


class _NothingThere(Exception):  # noqa: N818  a signal, not an error
    """
    What was to be taken out is in no view.
    """


def revert(thread: str, rec: int | None, seen: str = "") -> Calls[Receipt]:
    """
    Let record *rec*, or the newest write-back that counts, no longer count.

    Raises:
        ConfigError: it is no write-back or revert, or is reverted already.
        LogConflictError: the thread was deleted, as it is of all that follow.
    """
    whole(rec, "revert: rec")

    def body(_: ThreadState) -> Calls[Body]:
        decisions = yield Do("read", (thread,), {"marks": ("decided",)})
        if rec is None:
            return Reverted(_newest(thread, decisions))
        known = {record.rec: record.body for record in decisions}
        if not isinstance(known.get(rec), Compacted | Reverted):
            could = [number for number, made in known.items() if not isinstance(made, Pinned)]
            msg = (
                f"revert: record {rec} of thread {brief(thread)} is no write-back, retraction or "
                f"revert; those are {could or 'none'}"
            )
            raise ConfigError(msg)
        if rec not in in_force(decisions):
            by = max(number for number, made in known.items() if made == Reverted(rec))
            msg = f"revert: record {rec} is reverted already; revert({by}) brings it back"
            raise ConfigError(msg)

        return Reverted(rec)

    return (yield from _insist(thread, body, "revert", seen if rec is not None else ""))


def _newest(thread: str, decisions: Sequence[Record]) -> int:
    counting = in_force(decisions)
    for record in reversed(decisions):
        if isinstance(record.body, Compacted) and record.rec in counting:
            return record.rec
    msg = f"revert: thread {brief(thread)} has no write-back or retraction in force"
    raise ConfigError(msg)


def pin(thread: str, seq: int, seen: str = "", *, on: bool) -> Calls[Receipt]:
    """
    Pin the block of entry *seq*, or let go of it.

    Raises:
        ConfigError: there is no such entry.
    """
    what = "pin" if on else "unpin"

    def body(_: ThreadState) -> Calls[Body]:
        return Pinned((yield from _block(thread, seq, what)), on)

    return (yield from _insist(thread, body, what, seen))


def take_out(thread: str, how: How, seq: int, seen: str = "") -> Calls[Receipt | None]:
    """
    Take the block of entry *seq*, or all from it on, or all, out of the view.

    None if nothing of it is in the view.

    Raises:
        ConfigError: there is no such entry.
    """
    whole(seq, f"{how}: seq", needed=True)
    name = "clear()" if how == "clear" else f"{how}({seq})"

    def body(state: ThreadState) -> Calls[Body]:
        span = Span.between(1, state.seq)
        if how != "clear":
            block = yield from _block(thread, seq, how)
            span = block if how == "retract" else Span.between(block.first, state.seq)
        if span.isdisjoint(state.in_view):
            raise _NothingThere
        change = Drop(span, reason=_REASONS[how], step=f"memory.{name}", replace=True)

        return Compacted((change,), state.rec)

    try:
        return (yield from _insist(thread, body, how, "" if how == "clear" else seen))
    except _NothingThere:
        return None


def fork(thread: str, name: str, at: int | None, seen: str = "") -> Calls[Receipt]:
    """
    Begin the thread *name* with all records of this one up to *at*, or to its newest.

    Raises:
        ConfigError: there is no such record, or there is such a thread already.
        StoreError: the store deleted entries of this one, or knows nothing of forks.
    """
    whole(at, "fork: at")
    if name == thread:
        msg = f"fork: thread {brief(thread)} cannot be a fork of itself; give another name"
        raise ConfigError(msg)
    state: ThreadState = yield Do("state", (thread,))
    if at is not None:
        _still(thread, state, "fork", seen)
    rec = state.rec if at is None else at
    if not 0 < rec <= state.rec:
        holds = f"it holds the records 1-{state.rec}" if state.rec else "it holds none"
        empty = "" if rec else f"; `thread({brief(name)})` begins one that shares nothing"
        msg = f"fork: thread {brief(thread)} has no record {rec}; {holds}{empty}"
        raise ConfigError(msg)
    if state.lost:
        raise StoreError(not_whole(thread, state.lost))
    taken = f"fork: there is a thread {brief(name)} already; give another name or delete it first"
    if (yield Do("state", (name,))).rec:
        raise ConfigError(taken)
    unable = StoreError(
        f"fork: the store of thread {brief(thread)} cannot make forks: it began thread "
        f"{brief(name)} without what that goes on from; `Store.append` says what it has to do "
        "with a Forked"
    )
    only = {"expect": 0, "incarnation": state.incarnation}
    try:
        receipt: Receipt = yield Do("append", (name, [Forked(thread, rec)]), only)
    except LogConflictError as error:
        if (yield Do("state", (name,))).rec:  # somebody made it meanwhile
            raise ConfigError(taken) from error
        if (yield Do("state", (thread,))).incarnation == state.incarnation:
            raise unable from error  # the store took the parent's for that of the fork
        raise
    if [record.rec for record in receipt.records] != [rec + 1]:  # written before there were forks
        yield Do("delete", (name,), {"incarnation": receipt.state.incarnation})
        raise unable

    return receipt


def not_whole(thread: str, lost: Span) -> str:
    """
    Why the records of a thread of which the store deleted entries cannot be replayed.
    """
    return (
        f"thread {brief(thread)}: the store deleted the entries {lost} (retain=), "
        "so its records cannot be replayed; keep all, or copy the messages"
    )


def not_given(thread: str, records: Span) -> str:
    """
    That records which a thread must have are hidden by damage.
    """
    return (
        f"thread {brief(thread)}: the store does not give the records {records}, which its state "
        "says are there; `store.verify()` says more"
    )


def _still(thread: str, state: ThreadState, what: str, seen: str) -> None:
    """
    Refuse numbers that were *seen* in another incarnation.
    """
    if seen and state.rec and seen != state.incarnation:
        raise begun_anew(thread, what)


def _insist(
    thread: str, body: Callable[[ThreadState], Calls[Body]], what: str, seen: str
) -> Calls[Receipt]:
    """
    Write a decision that leans on the whole log so far, anew if somebody wrote meanwhile.

    Numbers in it are those of the incarnation that was *seen*, if one was.
    """
    tries = TRIES
    state = yield Do("state", (thread,))
    _still(thread, state, what, seen)
    incarnation = state.incarnation
    while True:
        made = yield from body(state)
        tries -= 1
        only = {"expect": state.rec, "incarnation": incarnation}
        try:
            receipt: Receipt = yield Do("append", (thread, [made]), only)
        except LogConflictError:
            state = yield Do("state", (thread,))
            if not tries or state.incarnation != incarnation:
                raise
        else:
            return receipt


def _block(thread: str, seq: int, what: str) -> Calls[Span]:
    """
    The entries of the block that entry *seq* is part of, as the log has it.
    """
    whole(seq, f"{what}: seq", needed=True)
    found = yield Do("entries", (thread, Span.one(seq) if seq > 0 else NOTHING))
    if not found:
        state = yield Do("state", (thread,))
        there = f"its last one is {state.seq}" if state.seq else "it holds none"
        msg = f"{what}: thread {brief(thread)} has no entry {seq}; {there}"
        raise ConfigError(msg)
    first, last = found[0].head, seq
    for later, head in (yield Do("links", (thread,), {"after": seq})):
        if head <= last:
            first, last = min(first, head), later

    return Span.between(first, last)
