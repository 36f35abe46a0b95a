"""
What a store is: threads of records, and the state that each comes to.

Any class with these methods is a store; none need be inherited. A store
numbers records and entries, keeps the marks of each entry beside it, and runs
`states.advance` inside the transaction of each append.

A thread may be a fork: its first record is a `Forked`, and everything up to
there is read in another thread, which is never copied and never changed by
it. Each method below sees the inherited records and entries as the thread's
own, and none that came to the other thread later. A store keeps the state of
the fork like any other's, so that opening it reads no history.
`unabridged.testing.check_store` holds one to all of it.
"""

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen

from unabridged.records import Body, Entry, Note, Record
from unabridged.spans import Span
from unabridged.states import ThreadState
from unabridged.stores.verifying import Progress, Verified

__all__ = ["AsyncStore", "Receipt", "Store"]


@frozen
class Receipt:
    """
    What an append did: the *records* written, the *entries* among them, and those *known* before.

    *state* is the thread's after it.

    >>> from unabridged import user
    >>> from unabridged.records import Appended
    >>> from unabridged.stores import InMemoryStore
    >>> receipt = InMemoryStore().append("ana", [Appended(0, user("hi"))])
    >>> receipt.entries[0].seq, receipt.known, receipt.state.rec
    (1, (), 1)
    """

    records: tuple[Record, ...]
    entries: tuple[Entry, ...]
    known: tuple[Entry, ...]
    state: ThreadState


class Store(Protocol):
    """
    A store that answers at once.
    """

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
        Append records, all or none.

        The `seq` of an `Appended` body is given by the store. A message whose id
        the thread already holds, in an entry that is not retracted, is not
        appended again if it is equal: its entry is `known`.

        A `Forked` is appended alone, to a thread that holds no record. It and what
        follows are numbered on from the record that it names; the state begins as
        the other thread's was there, which is the kept one if that is its last
        record and is worked out from the records before it if not.

        The first record of a thread gives it a new random `ThreadState.id`, a
        `Forked` too. *incarnation* is the `ThreadState.incarnation` of the thread
        that the bodies were worked out from ("": there was none), of a `Forked` that
        of the thread it names. If the thread was deleted since, nothing is written,
        whether one of its name was begun anew or not.

        Raises:
            StoreError: a body names an entry or record that is not there, or a
                fork is none that can be made: the thread holds records, the other
                one has no such record, or entries of it were deleted (`retain=`).
                Nothing is written.
            LogConflictError: *expect* is given and is not the thread's last
                record; or *incarnation* is, and the thread is another one; or a
                `Compacted` leans on a log (`upto`) after which a `Compacted` or
                `Reverted` was written; or a message has the id of another one.
                Nothing is written.
        """
        ...

    def state(self, thread: str) -> ThreadState:
        """
        The state of the thread; an empty one if there is no such thread.
        """
        ...

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
        The records numbered above *after* and below *before*, in order; the newest *last* of them.

        *marks* chooses kinds: "appended", "decided" (`Compacted`, `Reverted`,
        `Pinned`), "noted", "forked"; all of them by default.
        """
        ...

    def entries(self, thread: str, span: Span) -> tuple[Entry, ...]:
        """
        These entries, in order; those that were never there, or were deleted, are left out.
        """
        ...

    def links(self, thread: str, *, after: int = 0) -> Sequence[tuple[int, int]]:
        """
        The entries above *after* that joined an earlier block, each with that block's first entry.
        """
        ...

    def find(self, thread: str, message_id: str) -> Entry | None:
        """
        The newest entry whose message has this id.
        """
        ...

    def note(self, thread: str, kind: str, key: str) -> Note | None:
        """
        The newest note of this kind and key.
        """
        ...

    def threads(self) -> tuple[str, ...]:
        """
        The names of the threads that hold a record, sorted.
        """
        ...

    def delete(self, thread: str, *, incarnation: str | None = None) -> None:
        """
        Destroy the thread. The one thing here that cannot be undone.

        Given an *incarnation*, only if the thread is that one.

        Raises:
            StoreError: forks read on in it; the message names them. Nothing is
                destroyed.
        """
        ...

    def verify(self, progress: Progress | None = None) -> Verified:
        """
        Look through all records, for damage: what can be read, fits, and has its checksum.

        It changes nothing and holds no lock for long, so the store can be used
        meanwhile; what is damaged is in the answer, not raised. *progress* is
        called after every few hundred records. Of a fork what it inherited is read too.

        >>> from unabridged.stores import InMemoryStore
        >>> InMemoryStore().verify(print).sound
        True
        """
        ...

    def close(self) -> None:
        """
        Give back what the store holds open.
        """
        ...


class AsyncStore(Protocol):
    """
    The same store, awaited.
    """

    async def append(
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
        ...

    async def state(self, thread: str) -> ThreadState:
        """
        As `Store.state`.
        """
        ...

    async def read(
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
        ...

    async def entries(self, thread: str, span: Span) -> tuple[Entry, ...]:
        """
        As `Store.entries`.
        """
        ...

    async def links(self, thread: str, *, after: int = 0) -> Sequence[tuple[int, int]]:
        """
        As `Store.links`.
        """
        ...

    async def find(self, thread: str, message_id: str) -> Entry | None:
        """
        As `Store.find`.
        """
        ...

    async def note(self, thread: str, kind: str, key: str) -> Note | None:
        """
        As `Store.note`.
        """
        ...

    async def threads(self) -> tuple[str, ...]:
        """
        As `Store.threads`.
        """
        ...

    async def delete(self, thread: str, *, incarnation: str | None = None) -> None:
        """
        As `Store.delete`.
        """
        ...

    async def verify(self, progress: Progress | None = None) -> Verified:
        """
        As `Store.verify`.
        """
        ...

    async def close(self) -> None:
        """
        As `Store.close`.
        """
        ...
