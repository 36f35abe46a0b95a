"""
A store that answers at once, awaited: its work runs in one thread of its own.

Appends that come while another one is being written are written together, in
one transaction, if the store offers that. A task that is cancelled while it
waits leaves the log as it is or with all of its append, never in between.
"""

import os
from asyncio import sleep, wrap_future
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

from unabridged.errors import StoreError
from unabridged.records import Body, Entry, Note, Record
from unabridged.spans import Span
from unabridged.states import ThreadState
from unabridged.stores.incarnations import takes_incarnation
from unabridged.stores.protocol import Receipt, Store
from unabridged.stores.verifying import Progress, Verified, Verifying, verifying
from unabridged.text import brief

__all__ = ["InThread"]

_MOST_AT_ONCE = 256

T = TypeVar("T")


class _Append(NamedTuple):
    thread: str
    bodies: Sequence[Body]
    expect: int | None
    at: float | None
    incarnation: str | None


@runtime_checkable
class _Grouping(Protocol):
    def append_many(self, appends: Sequence[Any]) -> Sequence[Receipt | Exception]: ...


class InThread:
    """
    An `AsyncStore` over *store*.

    A store whose attribute `blocking` is false is asked directly, without a
    thread. One with a method `append_many` writes waiting appends together.
    *guards* says whether the store can be told an incarnation.

    >>> import asyncio
    >>> from unabridged import user
    >>> from unabridged.records import Appended
    >>> from unabridged.stores import InMemoryStore
    >>> async def main():
    ...     store = InThread(InMemoryStore())
    ...     await store.append("a", [Appended(0, user("hi"))])
    ...     return (await store.state("a")).seq
    >>> asyncio.run(main())
    1
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.guards = takes_incarnation(store)
        self._direct = not getattr(store, "blocking", True)
        self._waiting: deque[tuple[_Append, Future[Receipt]]] = deque()
        self._worker = _worker()
        self._pid = os.getpid()
        self._closed = False

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

        Raises:
            StoreError: also where the store cannot be told an *incarnation*.
        """
        append = _Append(thread, tuple(bodies), expect, at, self._known(incarnation))
        if self._direct:
            return self._appended(append)
        worker = self._ready()
        outcome: Future[Receipt] = Future()
        self._waiting.append((append, outcome))
        worker.submit(self._drain)

        return await wrap_future(outcome)

    async def state(self, thread: str) -> ThreadState:
        """
        As `Store.state`.
        """
        return await self._call(self._store.state, thread)

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
        read = partial(self._store.read, thread, after=after, before=before, last=last, marks=marks)
        return await self._call(read)

    async def entries(self, thread: str, span: Span) -> tuple[Entry, ...]:
        """
        As `Store.entries`.
        """
        return await self._call(self._store.entries, thread, span)

    async def links(self, thread: str, *, after: int = 0) -> Sequence[tuple[int, int]]:
        """
        As `Store.links`.
        """
        return await self._call(partial(self._store.links, thread, after=after))

    async def find(self, thread: str, message_id: str) -> Entry | None:
        """
        As `Store.find`.
        """
        return await self._call(self._store.find, thread, message_id)

    async def note(self, thread: str, kind: str, key: str) -> Note | None:
        """
        As `Store.note`.
        """
        return await self._call(self._store.note, thread, kind, key)

    async def threads(self) -> tuple[str, ...]:
        """
        As `Store.threads`.
        """
        return await self._call(self._store.threads)

    async def delete(self, thread: str, *, incarnation: str | None = None) -> None:
        """
        As `Store.delete`.
        """
        if self._known(incarnation) is None:
            await self._call(self._store.delete, thread)
        else:
            await self._call(partial(self._store.delete, thread, incarnation=incarnation))

    async def verify(self, progress: Progress | None = None) -> Verified:
        """
        As `Store.verify`; what else is asked of the store meanwhile is done in between.
        """
        walk = verifying(self._store)
        found: list[Verified] = []

        def step() -> Verifying | None:
            try:
                return next(walk)
            except StopIteration as done:
                found.append(done.value)
                return None

        while (come := await self._call(step)) is not None:
            if progress is not None:
                progress(come)
            await sleep(0)

        return found[0]

    async def close(self) -> None:
        """
        As `Store.close`: what is waiting is written first.
        """
        if self._closed:
            return
        try:
            await self._call(self._store.close)
        finally:
            self._closed = True
            self._worker.shutdown(wait=False)

    async def rest(self) -> None:
        """
        Let go of the thread once what is waiting is written; the store stays open.

        The next call takes another thread.
        """
        if self._direct or self._closed:
            return
        await self._call(int)  # behind all that is waiting
        self._worker.shutdown(wait=False)
        self._worker = _worker()  # which starts no thread before it has to do

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"InThread({self._store!r})"

    def _known(self, incarnation: str | None) -> str | None:
        if incarnation is not None and not self.guards:
            msg = (
                f"{self!r}: its store cannot be told which incarnation of a thread is meant; "
                "`Store.append` and `Store.delete` say what `incarnation` asks of it"
            )
            raise StoreError(msg)

        return incarnation

    def _appended(self, append: _Append) -> Receipt:
        thread, bodies, expect, at, incarnation = append
        if incarnation is None:  # also of a store that cannot be told one
            return self._store.append(thread, bodies, expect=expect, at=at)

        return self._store.append(thread, bodies, expect=expect, at=at, incarnation=incarnation)

    async def _call(self, ask: Callable[..., T], *values: Any) -> T:
        if self._direct:
            return ask(*values)

        return await wrap_future(self._ready().submit(ask, *values))

    def _ready(self) -> ThreadPoolExecutor:
        if self._closed:
            msg = f"{brief(self)} is closed; open a new one"
            raise StoreError(msg)
        if self._pid != os.getpid():  # the thread, and whoever waited, stayed behind
            self._waiting.clear()
            self._worker, self._pid = _worker(), os.getpid()

        return self._worker

    def _drain(self) -> None:
        """
        Write all appends that wait by now.
        """
        group: list[tuple[_Append, Future[Receipt]]] = []
        while self._waiting and len(group) < _MOST_AT_ONCE:
            append, outcome = self._waiting.popleft()
            if outcome.set_running_or_notify_cancel():
                group.append((append, outcome))
        if len(group) > 1 and isinstance(self._store, _Grouping):
            self._write_together(self._store, group)
        else:
            for append, outcome in group:
                self._write(append, outcome)

    def _write(self, append: _Append, outcome: "Future[Receipt]") -> None:
        try:
            receipt = self._appended(append)
        except BaseException as error:  # noqa: BLE001  it is given to the one who waits
            outcome.set_exception(error)
        else:
            outcome.set_result(receipt)

    def _write_together(
        self, store: _Grouping, group: list[tuple[_Append, "Future[Receipt]"]]
    ) -> None:
        try:
            told = [append for append, _ in group]
            done = store.append_many(
                [each[:4] if each.incarnation is None else each for each in told]
            )
        except BaseException as error:  # noqa: BLE001  it is given to all who wait
            done = [_copied(error) for _ in group]
        for (_, outcome), found in zip(group, done, strict=True):
            if isinstance(found, BaseException):
                outcome.set_exception(found)
            else:
                outcome.set_result(found)


def _worker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="unabridged")


def _copied(error: BaseException) -> Exception:
    """
    The error for one of several waiters: a traceback belongs to one raise.
    """
    if not isinstance(error, StoreError):
        return StoreError(f"nothing of this append was written: {brief(error)}")
    copy = StoreError(str(error))
    copy.__cause__ = error.__cause__

    return copy
