"""
A store in this process's memory: for tests, for short-lived chats.
"""

import threading
import time
from collections.abc import Sequence

from unabridged.links import Marks
from unabridged.records import (
    Appended,
    Body,
    Compacted,
    Entry,
    Note,
    Noted,
    Pinned,
    Record,
    Reverted,
)
from unabridged.spans import Span
from unabridged.states import ThreadState
from unabridged.stores.protocol import Receipt
from unabridged.stores.writing import (
    admitted,
    advancing,
    checked_retain,
    entry_of,
    expired,
    mark_of,
    without,
)

__all__ = ["InMemoryStore"]

_EMPTY = ThreadState()


class InMemoryStore:
    """
    Threads in memory, safe to share between threads of a process.

    *retain* bounds each thread to so many entries: older whole blocks are
    destroyed, never pins, never the newest user message.

    Raises:
        ConfigError: *retain* is below 1.

    >>> from unabridged import Memory, user
    >>> store = InMemoryStore()
    >>> _ = Memory(store, "a").append(user("hi"))
    >>> store.threads()
    ('a',)
    """

    blocking = False  # `InThread` need not take it to a thread

    def __init__(self, retain: int | None = None) -> None:
        self._retain = checked_retain(retain)
        self._threads: dict[str, _Thread] = {}
        self._lock = threading.RLock()

    def append(
        self,
        thread: str,
        bodies: Sequence[Body],
        *,
        expect: int | None = None,
        at: float | None = None,
    ) -> Receipt:
        """
        As `Store.append`.
        """
        with self._lock:
            kept = self._threads.get(thread) or _Thread()
            fresh, known = admitted(thread, kept.state, bodies, expect, kept.find, kept.decisions)
            if not fresh:
                return Receipt((), (), known, kept.state)
            records, entries = kept.take(fresh, time.time() if at is None else at)
            self._threads[thread] = kept
            if self._retain is not None:
                kept.prune(self._retain)

            return Receipt(records, entries, known, kept.state)

    def state(self, thread: str) -> ThreadState:
        """
        As `Store.state`.
        """
        kept = self._threads.get(thread)
        return kept.state if kept else _EMPTY

    def read(
        self,
        thread: str,
        *,
        after: int = 0,
        before: int | None = None,
        last: int | None = None,
        marks: Sequence[str] = (),
    ) -> tuple[Record, ...]:
        """
        As `Store.read`.
        """
        with self._lock:
            kept = self._threads.get(thread)
            if kept is None:
                return ()
            stop = kept.state.rec + 1 if before is None else min(before, kept.state.rec + 1)
            found: list[Record] = []
            for rec in range(stop - 1, after, -1):
                if last is not None and len(found) >= last:
                    break
                if rec in kept.lines and (not marks or mark_of(kept.lines[rec].body) in marks):
                    found.append(kept.lines[rec])

            return tuple(reversed(found))

    def entries(self, thread: str, span: Span) -> tuple[Entry, ...]:
        """
        As `Store.entries`.
        """
        with self._lock:
            kept = self._threads.get(thread)
            if kept is None:
                return ()

            return tuple([kept.entries[seq] for seq in span if seq in kept.entries])

    def links(self, thread: str, *, after: int = 0) -> Sequence[tuple[int, int]]:
        """
        As `Store.links`.
        """
        with self._lock:
            kept = self._threads.get(thread)
            if kept is None:
                return ()
            seqs = range(after + 1, kept.state.seq + 1)
            entries = (kept.entries[seq] for seq in seqs if seq in kept.entries)

            return [(entry.seq, entry.head) for entry in entries if entry.head < entry.seq]

    def find(self, thread: str, message_id: str) -> Entry | None:
        """
        As `Store.find`.
        """
        with self._lock:
            kept = self._threads.get(thread)
            return kept.find(message_id) if kept else None

    def note(self, thread: str, kind: str, key: str) -> Note | None:
        """
        As `Store.note`.
        """
        with self._lock:
            kept = self._threads.get(thread)
            return kept.notes.get((kind, key)) if kept else None

    def threads(self) -> tuple[str, ...]:
        """
        As `Store.threads`.
        """
        with self._lock:
            return tuple(sorted(self._threads))

    def delete(self, thread: str) -> None:
        """
        As `Store.delete`.
        """
        with self._lock:
            self._threads.pop(thread, None)

    def close(self) -> None:
        """
        As `Store.close`; what it holds stays until it is garbage.
        """


class _Thread:
    """
    One thread: its lines by record number, its entries by entry number, its state.
    """

    def __init__(self) -> None:
        self.state = _EMPTY
        self.lines: dict[int, Record] = {}
        self.entries: dict[int, Entry] = {}
        self.ids: dict[str, int] = {}
        self.notes: dict[tuple[str, str], Note] = {}
        self._decided: list[Record] = []

    def take(
        self, bodies: Sequence[Body], at: float
    ) -> tuple[tuple[Record, ...], tuple[Entry, ...]]:
        records: list[Record] = []
        entries: list[Entry] = []
        state = self.state
        for record, marks, after in advancing(state, bodies, at, self):
            self.lines[record.rec] = record
            match record.body:
                case Appended(seq, message) if marks is not None:
                    entry = self.entries[seq] = entry_of(record, marks)
                    entries.append(entry)
                    if message.id is not None:
                        self.ids[message.id] = seq
                case Noted(notes):
                    self.notes |= {(note.kind, note.key): note for note in notes}
                case Compacted() | Reverted() | Pinned():
                    self._decided.append(record)
                case _:
                    pass
            records.append(record)
            self.state = after

        return tuple(records), tuple(entries)

    def find(self, message_id: str) -> Entry | None:
        seq = self.ids.get(message_id)
        return self.entries.get(seq) if seq else None

    def prune(self, retain: int) -> None:
        gone = expired(self.state, retain, lambda seq: self.entries[seq].head)
        if not gone:
            return
        for seq in gone:
            entry = self.entries.pop(seq)
            del self.lines[entry.rec]
            if entry.message.id is not None and self.ids.get(entry.message.id) == seq:
                del self.ids[entry.message.id]
        self.state = without(self.state, gone)

    def marks(self, seq: int) -> Marks:
        entry = self.entries[seq]
        return Marks(entry.head, entry.opener, entry.asked)

    def crossed(self, seq: int) -> bool:
        later = (self.entries.get(number) for number in range(seq + 1, self.state.seq + 1))
        return any(entry is not None and entry.head <= seq for entry in later)

    def decisions(self) -> Sequence[Record]:
        return self._decided
