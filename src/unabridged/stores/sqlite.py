"""
A store in one SQLite file: the embedded default.

Beside its records a thread keeps its state, written in the same transaction:
opening a thread of a million entries reads the state and the tail. A store is one
class with all of the protocol, which makes the length of this module.
"""

import os
import time
from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple, Self

from unabridged.errors import ConfigError, CorruptLogError, StoreError
from unabridged.records import Body, Entry, Forked, Note, Record
from unabridged.spans import Span
from unabridged.states import ThreadState, rebuilt
from unabridged.stores.paths import path_of
from unabridged.stores.protocol import Receipt
from unabridged.stores.sqlite_file import SqliteFile
from unabridged.stores.sqlite_rows import Lines, Pending, unstored
from unabridged.stores.sqlite_threads import Kept, KeptThreads
from unabridged.stores.verifying import Integrity, Progress, Verified, verified
from unabridged.stores.writing import (
    admitted,
    advancing,
    checked_retain,
    entry_of,
    expired,
    forking,
    inheriting,
    undeletable,
    without,
)
from unabridged.text import brief

__all__ = ["SqliteStore"]

LONGEST = 1_000_000  # seconds to wait for another writer
_LEVELS = ("OFF", "NORMAL", "FULL", "EXTRA")


class _Past(NamedTuple):
    """
    A thread's number, and what it came to at some record.
    """

    parent: int
    state: ThreadState


class SqliteStore:
    """
    Threads in the SQLite file *path*, made if it is missing; ":memory:" keeps them in memory.

    Threads of a process may share a store, processes may share a file: each
    write waits for its turn, up to *timeout* seconds. With *synchronous* "FULL"
    an append that returned survives a crash of the machine, with "NORMAL" one of
    the process only. *retain* bounds each thread to so many entries: older whole
    blocks are destroyed, never pins, never the newest user message. What forks
    share is neither destroyed nor counted.

    Raises:
        ConfigError: an argument is out of its range.
        StoreError: the file cannot be opened, is none of ours, or comes from a
            later version.

    >>> from unabridged import Memory, user
    >>> with SqliteStore(":memory:") as store:
    ...     _ = Memory(store, "a").append(user("hi"))
    ...     store.threads()
    ('a',)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        retain: int | None = None,
        *,
        timeout: float = 10.0,
        synchronous: str = "FULL",
    ) -> None:
        if synchronous not in _LEVELS:
            msg = f"synchronous= must be one of {', '.join(_LEVELS)}, got {brief(synchronous)}"
            raise ConfigError(msg)
        if not isinstance(timeout, int | float) or not 0 <= timeout <= LONGEST:
            msg = (
                f"timeout= must be a number of seconds from 0 to {LONGEST:_}, got {brief(timeout)}"
            )
            raise ConfigError(msg)
        self._retain = checked_retain(retain)
        self._file = SqliteFile(
            path_of(path, "SqliteStore"), timeout=timeout, synchronous=synchronous
        )
        self._threads = KeptThreads(self._file)

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
        fork = next((body for body in bodies if isinstance(body, Forked)), None)
        past = None if fork is None else self._past(fork)
        return self._file.write(
            lambda: self._append(thread, bodies, expect, at, incarnation, past),
            self._threads.forget,
        )

    def append_many(
        self,
        appends: Sequence[
            tuple[str, Sequence[Body], int | None, float | None]
            | tuple[str, Sequence[Body], int | None, float | None, str | None]
        ],
    ) -> list[Receipt | Exception]:
        """
        Several appends in one transaction, each all or none.

        Each is (thread, bodies, expect, at) and, if it is given, the incarnation.

        One that fails leaves the others be: its error stands in its place. This is
        what makes many tasks that append at once cheap.

        >>> from unabridged import user
        >>> from unabridged.records import Appended
        >>> store = SqliteStore(":memory:")
        >>> hello = [Appended(0, user("hi"))]
        >>> done = store.append_many([("a", hello, 0, None), ("a", hello, 0, None)])
        >>> [type(outcome).__name__ for outcome in done]
        ['Receipt', 'LogConflictError']
        """
        return self._file.write(
            lambda: [
                self._append_apart(append[:4], append[4] if len(append) > 4 else None)  # noqa: PLR2004
                for append in appends
            ],
            self._threads.forget,
        )

    def state(self, thread: str) -> ThreadState:
        """
        As `Store.state`.
        """
        with self._file.lock:
            return self._threads.load(thread).state

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

        Raises:
            CorruptLogError: one of these records is damaged.
        """
        records = tuple(Lines(self._file, thread).records(after, before, last, marks))
        if not marks and records and records[-1].rec - records[0].rec >= len(records):
            self._explained(thread, records)

        return records

    def entries(self, thread: str, span: Span) -> tuple[Entry, ...]:
        """
        As `Store.entries`.

        Raises:
            CorruptLogError: one of these records is damaged.
        """
        return tuple(Lines(self._file, thread).entries(span))

    def links(self, thread: str, *, after: int = 0) -> Sequence[tuple[int, int]]:
        """
        As `Store.links`.
        """
        return [(seq, head) for seq, head in Lines(self._file, thread).links(after)]

    def find(self, thread: str, message_id: str) -> Entry | None:
        """
        As `Store.find`.
        """
        return Lines(self._file, thread).find(message_id)

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
        found = self._file.rows("SELECT name FROM threads")
        try:
            return tuple(sorted(unstored(name) for (name,) in found))
        except (AttributeError, UnicodeDecodeError) as error:
            msg = f"{self._file.path}: damaged, a thread's name is no text ({error})"
            raise CorruptLogError(msg) from error

    def delete(self, thread: str, *, incarnation: str | None = None) -> None:
        """
        As `Store.delete`. Its texts leave the files too, those beside the database among them.

        Where others read or write meanwhile, that is put off to the next write, or
        to `close`. In a file of more than 64 MB pieces of texts may stay between
        those of other threads until a quarter of it is free, or `vacuum` is called.
        """
        self._file.write(lambda: self._delete(thread, incarnation), self._threads.forget)

    def verify(self, progress: Progress | None = None) -> Verified:
        """
        As `Store.verify`.

        >>> from unabridged import Memory, user
        >>> memory = Memory(SqliteStore(":memory:"))
        >>> _ = memory.append(user("hi"))
        >>> print(memory.store.verify())
        1 threads, 1 records: sound
        """
        return verified(self, progress)

    def integrity(self) -> Integrity:
        """
        What SQLite finds wrong with the file, and how many records have no checksum.
        """
        return self._file.integrity()

    def vacuum(self) -> None:
        """
        Write the file anew, with nothing in it but what is there; other writers wait meanwhile.

        Raises:
            StoreError: others are at work for too long, or the disk is full.
        """
        self._file.rewrite()

    def close(self) -> None:
        """
        As `Store.close`. Using the store afterwards is a `StoreError`.
        """
        self._file.close()
        self._threads.forget()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SqliteStore({self._file.path!r})"

    def _explained(self, thread: str, records: Sequence[Record]) -> None:
        """
        Raise CorruptLogError unless entries were destroyed, whose records are then missing.
        """
        if not self.state(thread).lost:
            numbers = Span.between(records[0].rec, records[-1].rec)
            missing = numbers - Span.of(record.rec for record in records)
            where = f"{self._file.path}: thread {thread!r}, record {missing}"
            msg = f"{where}: missing; `verify()` says more"
            raise CorruptLogError(msg)

    def _append_apart(
        self,
        append: tuple[str, Sequence[Body], int | None, float | None],
        incarnation: str | None,
    ) -> Receipt | Exception:
        self._file.run("SAVEPOINT one")
        try:
            receipt = self._append(*append, incarnation)
        except Exception as error:  # noqa: BLE001  it is given to the one who appended
            self._threads.forget()
            self._file.run("ROLLBACK TO one")
            self._file.run("RELEASE one")
            return error
        self._file.run("RELEASE one")

        return receipt

    def _append(  # noqa: PLR0913  what an append is told, and what was worked out before it
        self,
        thread: str,
        bodies: Sequence[Body],
        expect: int | None,
        at: float | None,
        incarnation: str | None,
        past: _Past | None = None,
    ) -> Receipt:
        kept = self._threads.load(thread)
        at = time.time() if at is None else at
        if (fork := forking(thread, kept.state, bodies, expect)) is not None:
            return self._forked(thread, fork, at, incarnation, past)
        lines = Pending(self._file, thread, kept.number)
        fresh, known = admitted(
            thread, kept.state, bodies, expect, incarnation, lines.find, lines.decisions
        )
        if not fresh:
            return Receipt((), (), known, kept.state)
        if not kept.number:
            kept.number = lines.number = self._threads.add(thread)
        records: list[Record] = []
        entries: list[Entry] = []
        state = kept.state
        for record, marks, after in advancing(state, fresh, at, lines):
            lines.take(record, marks)
            records.append(record)
            if marks is not None:
                entries.append(entry_of(record, marks))
            state = after
        lines.flush()
        if self._retain is not None:
            state = self._pruned(kept, state, entries, self._retain)
        self._threads.save(thread, kept, state)

        return Receipt(tuple(records), tuple(entries), known, state)

    def _past(self, fork: Forked) -> _Past:
        """
        What the fork inherits; for an append of its own, worked out before anybody waits for it.
        """
        with self._file.lock:
            parent = self._threads.load(fork.thread)
        state = parent.state
        if 0 < fork.rec < state.rec and not state.lost:
            state = rebuilt(self.read(fork.thread, before=fork.rec + 1))

        return _Past(parent.number, state)

    def _forked(
        self, thread: str, fork: Forked, at: float, incarnation: str | None, past: _Past | None
    ) -> Receipt:
        parent = self._threads.load(fork.thread)
        inheriting(thread, fork, parent.state, incarnation)
        if past is None or (past.parent, past.state.rec) != (parent.number, fork.rec):
            past = self._past(fork)  # somebody made the thread anew meanwhile
        state = past.state
        number = self._threads.add(thread, (parent.number, state.rec, state.seq))
        lines = Pending(self._file, thread, number)
        ((record, marks, after),) = advancing(state, [fork], at, lines)
        lines.take(record, marks)
        lines.flush()
        self._threads.save(thread, Kept(number, ThreadState(), self._file.version()), after)

        return Receipt((record,), (), (), after)

    def _pruned(
        self, kept: Kept, state: ThreadState, entries: Sequence[Entry], retain: int
    ) -> ThreadState:
        if kept.heads is None:
            query = "SELECT seq, head FROM records WHERE thread = ? AND seq IS NOT NULL"
            kept.heads = dict(self._file.rows(query, (kept.number,)))
        kept.heads |= {entry.seq: entry.head for entry in entries}
        query = "SELECT max(seq) FROM forks WHERE thread = ? OR parent = ?"
        ((shared,),) = self._file.rows(query, (kept.number, kept.number))
        gone = expired(state, retain, kept.heads.__getitem__, shared=shared or 0)
        for first, last in gone.ranges:
            query = "DELETE FROM records WHERE thread = ? AND seq >= ? AND seq <= ?"
            self._file.run(query, (kept.number, first, last))
        self._file.eraser.removed(len(gone))
        for seq in gone:
            del kept.heads[seq]

        return without(state, gone) if gone else state

    def _delete(self, thread: str, incarnation: str | None) -> None:
        kept = self._threads.load(thread)
        number = kept.number
        if not number or incarnation not in {None, kept.state.incarnation}:
            return
        query = "SELECT name FROM forks JOIN threads ON id = forks.thread WHERE parent = ?"
        if forks := [unstored(name) for (name,) in self._file.rows(query, (number,))]:
            raise StoreError(undeletable(thread, forks))
        self._threads.forget()
        self._file.run("DELETE FROM forks WHERE thread = ?", (number,))
        self._file.run("DELETE FROM records WHERE thread = ?", (number,))
        self._file.run("DELETE FROM states WHERE thread = ?", (number,))
        self._file.run("DELETE FROM threads WHERE id = ?", (number,))
        self._file.deleted_thread()
