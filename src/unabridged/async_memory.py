"""
AsyncMemory: as `Memory`, awaited.

What both do stands once, in `keeping`; the length of this module is that of
the list of names, each with its arguments and their types once more.
"""

import asyncio
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, Literal, Self, TypeVar, cast, overload

from attrs import evolve

from unabridged.asked import Asked
from unabridged.background import failed
from unabridged.contract import StrategyLike, Yielded
from unabridged.differences import Diff, Seen
from unabridged.endpoints import Count, acounted
from unabridged.errors import ConfigError
from unabridged.fetching import Excerpt, Findings
from unabridged.history import Event
from unabridged.items import Item
from unabridged.keeping import Appends, Keeper
from unabridged.messages import Message
from unabridged.records import Entry, Record
from unabridged.results import TrimResult
from unabridged.running import AskFunction, SearchFunction, adrive, answering, checked
from unabridged.settings import CALLED_ITSELF, Settings, checked_path, checked_store
from unabridged.snapshots import restored
from unabridged.steps import is_async
from unabridged.stores.in_memory import InMemoryStore
from unabridged.stores.in_thread import InThread
from unabridged.stores.incarnations import takes_incarnation
from unabridged.stores.protocol import AsyncStore, Store
from unabridged.strategies.no_compaction import NoCompaction
from unabridged.text.names import with_named_methods
from unabridged.tokens import Budget, TokenCounter
from unabridged.usage import Usage
from unabridged.views import View
from unabridged.work import Do, Locked, Work

__all__ = ["AsyncMemory"]

T = TypeVar("T")


@with_named_methods
class AsyncMemory(Settings):
    """
    As `Memory`, awaited: the same arguments, methods and results.

    The *store* may be a sync one, which is then used from a thread of its own;
    *ask*, *search* and steps may be functions or `async def` functions.

    Raises:
        NeedsAnswerError: the strategy asks a model and *ask* is missing.

    >>> import asyncio
    >>> from unabridged import Window, user
    >>> async def main():
    ...     memory = AsyncMemory(strategy=Window(1))
    ...     await memory.append(user("a"), user("b"))
    ...     return (await memory.context()).text()
    >>> asyncio.run(main())
    'user: b'
    """

    def __init__(  # noqa: PLR0913  what a memory is made of
        self,
        store: AsyncStore | Store | None = None,
        thread: str = "default",
        strategy: "StrategyLike" = NoCompaction(),  # noqa: B008  a frozen value
        *,
        budget: Budget | int | None = None,
        count: TokenCounter | None = None,
        ask: AskFunction | None = None,
        search: SearchFunction | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(thread, strategy, budget, count, ask, search, retry_after, sync=False)
        given, store = store, InMemoryStore() if store is None else store
        checked_store(store)
        self._store = _awaited(store)
        self._given = self._store if given is None else given
        self._guards = takes_incarnation(self._store)
        self._keeper = Keeper(thread)
        self._closes = given is None  # what was handed over is closed by whoever opened it
        self._process = os.getpid()
        self._lock = asyncio.Lock()
        self._asking = asyncio.Lock()  # held while an endpoint counts
        self._asked = Asked()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: set[asyncio.Task[Any] | None] = set()  # the tasks that run an operation
        self._tasks: set[asyncio.Task[TrimResult]] = set()  # a loop itself holds none

    @classmethod
    def open(  # noqa: PLR0913  what a memory is made of
        cls,
        path: str | PathLike[str],
        thread: str = "default",
        strategy: "StrategyLike" = NoCompaction(),  # noqa: B008  a frozen value
        *,
        budget: Budget | int | None = None,
        count: TokenCounter | None = None,
        ask: AskFunction | None = None,
        search: SearchFunction | None = None,
        retry_after: int | None = None,
    ) -> Self:
        """
        As `Memory.open`; not awaited, and an async context manager.
        """
        from unabridged.stores.sqlite import SqliteStore  # noqa: PLC0415  sqlite3 when it is used

        checked_path(path)
        store = SqliteStore(path)
        try:
            memory = cls(
                InThread(store),
                thread,
                strategy,
                budget=budget,
                count=count,
                ask=ask,
                search=search,
                retry_after=retry_after,
            )
        except BaseException:
            store.close()
            raise
        memory._closes = True

        return memory

    async def append(
        self, *messages: Message, pin: bool = False, expect: int | None = None
    ) -> Appends:
        """
        As `Memory.append`.
        """
        return await self._drive(self._keeper.append(messages, pin=pin, expect=expect))

    async def entries(
        self, *, before: int | None = None, last: int | None = None, retracted: bool = True
    ) -> tuple[Entry, ...]:
        """
        As `Memory.entries`.
        """
        return await self._drive(self._keeper.entries(before, last, retracted=retracted))

    async def sources(self, item: Item) -> tuple[Entry, ...]:
        """
        As `Memory.sources`.
        """
        return await self._drive(self._keeper.sources(item))

    async def fetch(
        self,
        handle: str | int,
        *,
        start: int = 0,
        length: int | None = None,
        find: str | None = None,
        retracted: bool = False,
    ) -> Excerpt:
        """
        As `Memory.fetch`.
        """
        return await self._drive(
            self._keeper.fetch(handle, start, length, find, retracted=retracted)
        )

    async def find(  # noqa: PLR0913  what is wanted of it
        self,
        query: str,
        *,
        last: int = 10,
        before: int | None = None,
        exclude: str | Iterable[str] = (),
        left_out: bool = False,
        retracted: bool = False,
    ) -> Findings:
        """
        As `Memory.find`.
        """
        return await self._drive(
            self._keeper.find(query, last, before, exclude, left_out=left_out, retracted=retracted)
        )

    async def view(self, *, at: int | None = None) -> View:
        """
        As `Memory.view`.
        """
        return await self._drive(self._keeper.view(at))

    async def diff(self, a: Seen, b: Seen | None = None) -> Diff:
        """
        As `Memory.diff`.
        """
        return await self._drive(self._keeper.diff(a, b))

    async def context(  # noqa: PLR0913  how a context is wanted
        self,
        strategy: "StrategyLike | None" = None,
        *,
        query: str | None = None,
        replace: bool | None = None,
        system: str | Message | None = None,
        hide_system: bool = False,
        previous: str | None = None,
    ) -> TrimResult:
        """
        As `Memory.context`.
        """
        wish = self._wish(
            strategy, query, replace, system, hide_system=hide_system, previous=previous
        )
        return await self._drive(self._keeper.context(wish))

    @overload
    async def report_usage(self, result: TrimResult, usage: Usage) -> TrimResult: ...

    @overload
    async def report_usage(
        self, result: TrimResult, *, input_tokens: int, cached_tokens: int | None = None
    ) -> TrimResult: ...

    async def report_usage(
        self,
        result: TrimResult,
        usage: Usage | None = None,
        *,
        input_tokens: int | None = None,
        cached_tokens: int | None = None,
    ) -> TrimResult:
        """
        As `Memory.report_usage`.
        """
        told = self._usage(result, usage, input_tokens, cached_tokens)
        return await self._drive(self._keeper.report(result, told, self._calibrated))

    @overload
    async def compact(
        self, strategy: "StrategyLike | None" = None, *, wait: Literal[True] = True
    ) -> TrimResult: ...

    @overload
    async def compact(
        self, strategy: "StrategyLike | None" = None, *, wait: Literal[False]
    ) -> asyncio.Task[TrimResult]: ...

    async def compact(
        self, strategy: "StrategyLike | None" = None, *, wait: bool = True
    ) -> TrimResult | asyncio.Task[TrimResult]:
        """
        As `Memory.compact`; with `wait=False` it gives a task.
        """
        if wait:
            return await self.context(strategy, replace=True)
        wish = evolve(self._wish(strategy, replace=True), background=True)
        task = asyncio.ensure_future(self._drive(self._keeper.context(wish)))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

        return task

    def _ended(self, task: asyncio.Task[TrimResult]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            failed(self._thread, error)

    async def summary(self) -> str:
        """
        As `Memory.summary`.
        """
        return await self._drive(self._keeper.summary())

    async def revert(self, rec: int | None = None) -> Record:
        """
        As `Memory.revert`.
        """
        return await self._drive(self._keeper.revert(rec))

    async def retract(self, seq: int) -> Record | None:
        """
        As `Memory.retract`.
        """
        return await self._drive(self._keeper.take_out("retract", seq))

    async def rewind(self, seq: int) -> Record | None:
        """
        As `Memory.rewind`.
        """
        return await self._drive(self._keeper.take_out("rewind", seq))

    async def clear(self) -> Record | None:
        """
        As `Memory.clear`.
        """
        return await self._drive(self._keeper.take_out("clear"))

    async def history(
        self, *, last: int | None = None, before: int | None = None
    ) -> tuple[Event, ...]:
        """
        As `Memory.history`.
        """
        return await self._drive(self._keeper.history(last, before))

    async def pin(self, seq: int) -> Record:
        """
        As `Memory.pin`.
        """
        return await self._drive(self._keeper.pin(seq, on=True))

    async def unpin(self, seq: int) -> Record:
        """
        As `Memory.unpin`.
        """
        return await self._drive(self._keeper.pin(seq, on=False))

    async def fork(self, thread: str, *, at: int | None = None) -> "AsyncMemory":
        """
        As `Memory.fork`.
        """
        other = self.thread(thread)
        receipt = await self._drive(self._keeper.fork(thread, at))
        other._keeper.seen = receipt.state.incarnation  # noqa: SLF001  its own kind

        return other

    def thread(self, name: str) -> "AsyncMemory":
        """
        As `Memory.thread`; not awaited.
        """
        other = AsyncMemory(
            self._store,
            name,
            self._strategy,
            budget=self._budget,
            count=self._calibrated or self._count,
            ask=self._ask,
            search=self._search,
            retry_after=self._retry_after,
        )
        other._given = self._given
        other._keeper = Keeper(name, self._keeper.breakers)

        return other

    @property
    def store(self) -> AsyncStore | Store:
        """
        The store that was handed over, sync or async; of a memory that opened one itself, awaited.
        """
        return self._given

    async def threads(self) -> tuple[str, ...]:
        """
        As `Memory.threads`.
        """
        return await self._store.threads()

    async def to_dict(self) -> dict[str, Any]:
        """
        As `Memory.to_dict`.
        """
        return await self._drive(self._keeper.to_dict())

    @classmethod
    async def from_dict(  # noqa: PLR0913  what a memory is made of
        cls,
        data: Mapping[str, Any],
        store: AsyncStore | Store | None = None,
        thread: str | None = None,
        strategy: "StrategyLike" = NoCompaction(),  # noqa: B008  a frozen value
        *,
        budget: Budget | int | None = None,
        count: TokenCounter | None = None,
        ask: AskFunction | None = None,
        search: SearchFunction | None = None,
        retry_after: int | None = None,
    ) -> Self:
        """
        As `Memory.from_dict`.
        """
        restored(data)
        name = thread or str(data.get("thread") or "default")
        memory = cls(
            store,
            name,
            strategy,
            budget=budget,
            count=count,
            ask=ask,
            search=search,
            retry_after=retry_after,
        )
        await memory._drive(memory._keeper.restore(data))

        return memory

    async def close(self) -> None:
        """
        As `Memory.close`.
        """
        self._keeper.let_go()
        if self._closes:
            await self._store.close()
        elif isinstance(self._store, InThread) and self._store is not self._given:
            await self._store.rest()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncMemory(thread={self._thread!r}, strategy={self._strategy!r})"

    async def _drive(self, work: Work[T]) -> T:
        """
        Run an operation; only what is `Locked` of it runs under the lock.
        """
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # a lock is bound to its loop; scripts run one after another
            self._loop, self._lock, self._running = loop, asyncio.Lock(), set()
            self._asking, self._asked = asyncio.Lock(), Asked()
        if self._process != os.getpid():
            self._process = os.getpid()
            self._keeper.renew()
        me = asyncio.current_task()
        if me in self._running:
            raise ConfigError(CALLED_ITSELF)
        self._running.add(me)
        try:
            return await adrive(self._guarded(work), self._done)
        finally:
            self._running.discard(me)

    async def _done(self, request: Do | Locked | Count | Yielded) -> Any:
        if isinstance(request, Locked):
            async with self._lock:
                return await adrive(self._guarded(request.work), self._called)
        if isinstance(request, Do):
            return await self._called(request)

        return await self._asked_of(request)

    async def _called(self, request: Do) -> Any:
        return await getattr(self._store, request.method)(*request.args, **request.options)

    async def _asked_of(self, request: Count | Yielded) -> Any:
        """
        As `Memory._asked_of`.
        """
        call: Callable[[], Any] = int  # nothing is called for counts
        if isinstance(request, Count):
            self._asked.refuse_a_call_back()
        else:
            call = answering(request, self._ask, self._search, sync=False)
        me = asyncio.current_task()
        self._running.discard(me)
        try:
            if isinstance(request, Count):
                async with self._asking:
                    with self._asked.now():
                        return await acounted(request)
            answer = call()
            return checked(request, await answer if inspect.isawaitable(answer) else answer)
        finally:
            self._running.add(me)


def _awaited(store: AsyncStore | Store) -> AsyncStore:
    return cast("AsyncStore", store) if is_async(store.append) else InThread(cast("Store", store))
