"""
What a memory does, without doing it: each operation as a generator of requests.

`Memory` and `AsyncMemory` drive these: a `Do` is a call of the store, a `Count`
a question for an endpoint, anything else one for a model. So the logic stands
here once, for sync and async; what is `Locked` is guarded by the memory's lock.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from unabridged import deciding
from unabridged.differences import Diff, Seen, difference
from unabridged.errors import (
    ConfigError,
    CorruptLogError,
    LogConflictError,
    StoreError,
    UnabridgedError,
)
from unabridged.fetching import Excerpt, Findings, fetch, find
from unabridged.history import Event, history
from unabridged.items import Item, Unloaded
from unabridged.messages import Message
from unabridged.reading import Moved
from unabridged.records import (
    Appended,
    Entry,
    Record,
)
from unabridged.results import TrimResult
from unabridged.retrieving import Retriever
from unabridged.snapshots import restored, snapshot
from unabridged.spans import Span
from unabridged.states import ThreadState, rebuilt
from unabridged.stores.protocol import Receipt
from unabridged.text import brief
from unabridged.trees import newest_text
from unabridged.viewing import Loaded
from unabridged.views import View
from unabridged.work import Do, Locked, Work, whole

__all__ = ["Appends", "Keeper"]

_BUILD = "build one with user(…), or load a provider's dicts"
logger = logging.getLogger("unabridged")


@frozen
class Appends:
    """
    What an append did: the *entries* written, and those *known* before by their message ids.

    *all* has one for each message of the call, in its order, written or known.

    >>> from unabridged import Memory, user
    >>> memory = Memory()
    >>> done = [memory.append(user("hi", id="m1")) for _ in range(2)]
    >>> [(len(each.entries), len(each.known)) for each in done]
    [(1, 0), (0, 1)]
    >>> [entry.seq for entry in memory.append(user("new"), user("hi", id="m1")).all]
    [2, 1]
    """

    entries: tuple[Entry, ...] = ()
    known: tuple[Entry, ...] = ()
    all: tuple[Entry, ...] = ()


def _in_order(messages: Sequence[Message], receipt: Receipt) -> tuple[Entry, ...]:
    """
    The entry of each message: one with an id may be known, or have come twice.
    """
    if len(receipt.entries) == len(messages):
        return receipt.entries
    by_id = {entry.message.id: entry for entry in (*receipt.known, *receipt.entries)}
    others = (entry for entry in receipt.entries if entry.message.id is None)

    return tuple([next(others) if m.id is None else by_id[m.id] for m in messages])


class Keeper(Retriever):
    """
    The operations on one thread, and what is loaded of it.
    """

    # -- messages

    def append(
        self, messages: Sequence[Message], *, pin: bool, expect: int | None
    ) -> Work[Appends]:
        """
        Append messages in one piece.
        """
        for message in messages:
            if not isinstance(message, Message):
                many = isinstance(message, list | tuple)
                do = "give them one by one, as in append(*messages)" if many else _BUILD
                msg = f"append: expected messages, got {type(message).__name__}; {do}"
                raise ConfigError(msg)
        if not isinstance(pin, bool):
            msg = f"append: `pin` must be True or False, got {brief(pin)}"
            raise ConfigError(msg)
        whole(expect, "append: expect")
        if not messages:
            return Appends()
        bodies = [Appended(0, message, pin) for message in messages]
        # a record of the thread that was read, not of one begun since
        seen = self.seen if expect and self.seen else None
        receipt = yield from self._append(bodies, expect, seen)
        if receipt.state.late:
            self._tell_of_late(receipt)

        return Appends(receipt.entries, receipt.known, _in_order(messages, receipt))

    def _tell_of_late(self, receipt: Receipt) -> None:
        here = receipt.state.live | receipt.state.lost
        for entry in receipt.entries:
            if entry.seq not in here:
                logger.warning(
                    "thread %r: entry %d answers a call that left the view, and went with it; "
                    "revert what took the call to see both",
                    self.thread,
                    entry.seq,
                )

    def entries(
        self, before: int | None, last: int | None, *, retracted: bool
    ) -> Work[tuple[Entry, ...]]:
        """
        The entries as they were appended, with or without those that a person took out.
        """
        whole(before, "entries: before")
        whole(last, "entries: last")
        while True:
            state = yield from self._state()
            stop = state.seq if before is None else min(state.seq, before - 1)
            span = Span.between(1, stop) - state.lost
            if not retracted:
                span = span - state.retracted
            try:
                return (yield from self._fetched(state, span if last is None else span.tail(last)))
            except Moved:
                continue

    # -- views

    def view(self, at: int | None, what: str = "view: at") -> Work[View]:
        """
        The log's own view, whole; *at* a record, as it was then.
        """
        while at is None:
            try:
                loaded, own = yield from self._current()
                if not own.hidden:
                    return own
                yield from self._load(loaded, own, Unloaded(everything=True))
            except Moved:
                continue
        whole(at, what)

        return (yield from self._of_one(lambda: self._view_at(at)))

    def _view_at(self, at: int) -> Work[View]:
        state = yield from self._whole()
        upto = min(at, state.rec)
        records = yield from self._records(upto, before=upto + 1)
        loaded = Loaded(evolve(rebuilt(records), id=state.incarnation))
        loaded.take((yield Do("entries", (self.thread, loaded.state.standing))))

        return loaded.view()

    def diff(self, a: Seen, b: Seen | None) -> Work[Diff]:
        """
        Two views side by side.
        """
        return (yield from self._of_one(lambda: self._diff(a, b)))

    def _diff(self, a: Seen, b: Seen | None) -> Work[Diff]:
        first = a if isinstance(a, View | TrimResult) else (yield from self.view(a, "diff: a"))
        second = b if isinstance(b, View | TrimResult) else (yield from self.view(b, "diff: b"))

        return difference(first, second)

    # -- decisions

    def revert(self, rec: int | None) -> Work[Record]:
        """
        Let record *rec*, or the newest write-back that counts, no longer count.
        """
        work = deciding.revert(self.thread, rec, self.seen)
        receipt: Receipt = yield Locked(self._taking(work))
        for skipped in receipt.state.skipped:
            logger.warning("thread %r: %s", self.thread, skipped)

        return receipt.records[0]

    def pin(self, seq: int, *, on: bool) -> Work[Record]:
        """
        Pin the block of entry *seq*, or let go of it.
        """
        work = deciding.pin(self.thread, seq, self.seen, on=on)
        receipt: Receipt = yield Locked(self._taking(work))

        return receipt.records[0]

    def take_out(self, how: deciding.How, seq: int = 1) -> Work[Record | None]:
        """
        Take entries out of the view: the block of *seq*, all from it on, or all.
        """
        work = deciding.take_out(self.thread, how, seq, self.seen)
        receipt: Receipt | None = yield Locked(self._taking(work))

        return None if receipt is None else receipt.records[0]

    def fork(self, name: str, at: int | None) -> Work[Receipt]:
        """
        Begin the thread *name* with all records of this one up to *at*, or to its newest.
        """
        return (yield from deciding.fork(self.thread, name, at, self.seen))

    # -- read

    def history(self, last: int | None, before: int | None) -> Work[tuple[Event, ...]]:
        """
        The newest *last* events of the records before the record *before*.
        """
        return (yield from self._of_one(lambda: history(self.thread, last, before)))

    def fetch(
        self,
        handle: str | int,
        start: int,
        length: int | None,
        find: str | None,
        *,
        retracted: bool,
    ) -> Work[Excerpt]:
        """
        What the handle stands for, from character *start* on.
        """
        return (
            yield from self._of_one(
                lambda: fetch(self.thread, handle, start, length, find, retracted=retracted)
            )
        )

    def find(  # noqa: PLR0913  what is wanted of it
        self,
        query: str,
        last: int,
        before: int | None,
        exclude: str | Iterable[str],
        *,
        left_out: bool,
        retracted: bool,
    ) -> Work[Findings]:
        """
        The newest *last* entries before *before* that hold all words of *query*.
        """
        seen = self.shown if left_out else frozenset[Message]()
        passed = tuple(exclude) if isinstance(exclude, Iterator) else exclude  # read once more

        return (
            yield from self._of_one(
                lambda: find(self.thread, query, last, before, seen, passed, retracted=retracted)
            )
        )

    # -- derived

    def summary(self) -> Work[str]:
        """
        The text of the newest summary that counts; "" if there is none.
        """
        state = yield from self._state()
        if text := newest_text(state.notes, state.in_view, state.folds):
            return text
        wide = [fold for fold in state.folds if len(fold.sources) > 1]

        return wide[-1].into.text if wide else ""

    def sources(self, item: Item) -> Work[tuple[Entry, ...]]:
        """
        The entries that an item stands for.
        """
        if not isinstance(item, Item):
            msg = f"sources: expected an item of a view, got {type(item).__name__}"
            raise ConfigError(msg)
        entries: tuple[Entry, ...] = yield Do("entries", (self.thread, item.sources))

        return entries

    def to_dict(self) -> Work[dict[str, Any]]:
        """
        All records as data.

        Raises:
            StoreError: the store has deleted entries, so the records are not whole.
            CorruptLogError: the store does not give all of them.
        """
        return (yield from self._of_one(self._to_dict))

    def _to_dict(self) -> Work[dict[str, Any]]:
        state = yield from self._whole()
        records = yield from self._records(state.rec)

        return snapshot(self.thread, records)

    def _records(self, upto: int, *, before: int | None = None) -> Work[Sequence[Record]]:
        """
        The records 1 to *upto*, and those after them that come before the record *before*.

        A damaged index can hide some without a word; what is made of the rest would be
        another conversation.
        """
        records: Sequence[Record] = yield Do("read", (self.thread,), {"before": before})
        missing = Span.between(1, upto) - Span.of(record.rec for record in records)
        if missing:
            yield from self._whole()  # deleted meanwhile, not damaged
            raise CorruptLogError(deciding.not_given(self.thread, missing))

        return records

    def _whole(self) -> Work[ThreadState]:
        state = yield from self._state()
        if state.lost:
            raise StoreError(deciding.not_whole(self.thread, state.lost))

        return state

    def restore(self, data: Mapping[str, Any]) -> Work[None]:
        """
        Append the records of `to_dict`, into a thread that has none.
        """
        records = restored(data)
        state = yield from self._state()
        if state.rec:
            msg = (
                f"from_dict: thread {brief(self.thread)} holds {state.rec} records already; "
                "give another thread= or delete it first"
            )
            raise ConfigError(msg)
        try:
            for record in records:
                only = {"expect": state.rec, "incarnation": state.incarnation, "at": record.at}
                receipt = yield Do("append", (self.thread, [record.body]), only)
                state = receipt.state
            self.seen = state.incarnation
        except LogConflictError as error:
            now = yield from self._state()
            if (now.incarnation, now.rec) == (state.incarnation, state.rec):
                yield from self._undo(state)  # the record itself conflicts
                raise
            msg = (
                f"from_dict: somebody else wrote to thread {self.thread!r}, or deleted it, after "
                f"{state.rec} records; nothing more is written, give another thread="
            )
            raise LogConflictError(msg) from error
        except UnabridgedError:
            yield from self._undo(state)
            raise

    def _undo(self, state: ThreadState) -> Work[None]:
        """
        Delete what was begun: all of it or nothing.
        """
        if state.rec:
            yield Do("delete", (self.thread,), {"incarnation": state.incarnation})
