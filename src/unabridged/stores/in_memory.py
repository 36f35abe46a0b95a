"""
A store in this process's memory: for tests, for short-lived chats.
"""

import time
from collections.abc import Sequence

from unabridged.errors import StoreError
from unabridged.records import Body, Entry, Forked, Note, Record
from unabridged.spans import Span
from unabridged.states import ThreadState, rebuilt
from unabridged.stores.forking import Forkable
from unabridged.stores.held import Held
from unabridged.stores.protocol import Receipt
from unabridged.stores.verifying import Progress, Verified, verified
from unabridged.stores.writing import (
    admitted,
    checked_retain,
    forking,
    inheriting,
    mark_of,
    undeletable,
)

__all__ = ["InMemoryStore"]

_EMPTY = ThreadState()


class InMemoryStore(Forkable):
    """
    Threads in memory, safe to share between threads of a process.

    *retain* bounds each thread to so many entries: older whole blocks are
    destroyed, never pins, never the newest user message. What forks share is
    neither destroyed nor counted.

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
        self._threads: dict[str, Held] = {}
        super().__init__()

    def append(
        self,
        thread: str,
        bodies: Sequence[Body],
        *,
        expect: int | None = None,
        at: float | None = None,
        incarnation: str | None = None,
    ) -> Receipt:
        """
        As `Store.append`.
        """
        with self._lock:
            kept = self._threads.get(thread) or Held()
            at = time.time() if at is None else at
            fork = forking(thread, kept.state, bodies, expect)
            if fork is not None:
                return self._forked(thread, fork, at, incarnation)
            fresh, known = admitted(
                thread, kept.state, bodies, expect, incarnation, kept.find, kept.decisions
            )
            if not fresh:
                return Receipt((), (), known, kept.state)
            records, entries = kept.take(fresh, at)
            self._threads[thread] = kept
            if self._retain is not None:
                kept.prune(self._retain, shared=max((kept.seq, *kept.forks.values())))

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
                line = kept.line(rec)
                if line is not None and (not marks or mark_of(line.body) in marks):
                    found.append(line)

            return tuple(reversed(found))

    def entries(self, thread: str, span: Span) -> tuple[Entry, ...]:
        """
        As `Store.entries`.
        """
        with self._lock:
            kept = self._threads.get(thread)
            if kept is None:
                return ()

            found = map(kept.entry, span & Span.between(1, kept.state.seq))

            return tuple([entry for entry in found if entry is not None])

    def links(self, thread: str, *, after: int = 0) -> Sequence[tuple[int, int]]:
        """
        As `Store.links`.
        """
        with self._lock:
            kept = self._threads.get(thread)
            if kept is None:
                return ()
            entries = map(kept.entry, range(after + 1, kept.state.seq + 1))

            return [
                (entry.seq, entry.head)
                for entry in entries
                if entry is not None and entry.head < entry.seq
            ]

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
        notes = self.state(thread).notes
        return next(
            (note for note in reversed(notes) if (note.kind, note.key) == (kind, key)), None
        )

    def threads(self) -> tuple[str, ...]:
        """
        As `Store.threads`.
        """
        with self._lock:
            return tuple(sorted(self._threads))

    def delete(self, thread: str, *, incarnation: str | None = None) -> None:
        """
        As `Store.delete`.
        """
        with self._lock:
            kept = self._threads.get(thread)
            if kept is None or incarnation not in {None, kept.state.incarnation}:
                return
            if kept.forks:
                raise StoreError(undeletable(thread, kept.forks))
            if kept.parent is not None:
                del kept.parent.forks[thread]
            del self._threads[thread]

    def verify(self, progress: Progress | None = None) -> Verified:
        """
        As `Store.verify`.
        """
        return verified(self, progress)

    def close(self) -> None:
        """
        As `Store.close`; what it holds stays until it is garbage.
        """

    def _forked(self, thread: str, fork: Forked, at: float, incarnation: str | None) -> Receipt:
        parent = self._threads.get(fork.thread) or Held()
        inheriting(thread, fork, parent.state, incarnation)
        state = parent.state
        if fork.rec < state.rec:
            state = rebuilt(self.read(fork.thread, before=fork.rec + 1))
        kept = self._threads[thread] = Held(parent, state)
        parent.forks[thread] = kept.seq
        records, entries = kept.take([fork], at)

        return Receipt(records, entries, (), kept.state)
