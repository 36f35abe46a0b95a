"""
Memory: one thread of a store, and the strategy that makes contexts of it.

The operations themselves stand in `keeping`; here they are driven, and told
to users: most of the length of this module is that telling.
"""

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

from attrs import evolve

from unabridged.asked import Asked
from unabridged.background import in_background
from unabridged.contract import StrategyLike, Yielded
from unabridged.differences import Diff, Seen
from unabridged.endpoints import Count, counted
from unabridged.errors import ConfigError
from unabridged.fetching import Excerpt, Findings
from unabridged.history import Event
from unabridged.items import Item
from unabridged.keeping import Appends, Keeper
from unabridged.messages import Message
from unabridged.records import Entry, Record
from unabridged.results import TrimResult
from unabridged.running import (
    AskFunction,
    SearchFunction,
    answering,
    drive,
    settled_answer,
)
from unabridged.settings import CALLED_ITSELF, Settings, checked_path, checked_store
from unabridged.snapshots import restored
from unabridged.stores.in_memory import InMemoryStore
from unabridged.stores.incarnations import takes_incarnation
from unabridged.stores.protocol import Store
from unabridged.strategies.no_compaction import NoCompaction
from unabridged.text.names import with_named_methods
from unabridged.tokens import Budget, TokenCounter
from unabridged.usage import Usage
from unabridged.views import View
from unabridged.work import Do, Locked, Work

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["Memory"]

T = TypeVar("T")


@with_named_methods
class Memory(Settings):
    """
    A conversation that is kept whole, and contexts made of it.

    Args:
        store: where the records are; a new `InMemoryStore` by default.
        thread: the name of the conversation; a store holds many.
        strategy: what makes a context: a strategy, function, list or chain.
        budget: a model's window in tokens, or a `Budget`, for the strategies that
            hold it: `TokenBudget(share=…)` and `Sections`. By itself it cuts nothing.
        count: the counter of tokens; `tokens.exact()` by default. One of
            `tokens.from_client` is asked for what is new before the strategy runs.
        ask: answers a strategy's questions: a function from `Ask` to text.
        search: answers a strategy's searches.
        retry_after: for so many retrievals after a model failed, or gave an answer
            that was refused, nobody asks it again; 0 asks at the very next one. By
            default an error is asked again at the next one, while a request whose
            answer was refused rests: for ten retrievals in which it stays the same,
            or until what is to be told has grown by half.

    Raises:
        NeedsAnswerError: the strategy asks a model and *ask* is missing.
        NeedsAsyncError: *ask* is async, or the client of a counter is.

    >>> from unabridged import Window, assistant, user
    >>> memory = Memory(strategy=Window(2))
    >>> _ = memory.append(user("a"), assistant("b"), user("c"), assistant("d"))
    >>> print(memory.context().text())
    user: c
    assistant: d
    >>> len(memory.entries())
    4
    """

    def __init__(  # noqa: PLR0913  what a memory is made of
        self,
        store: Store | None = None,
        thread: str = "default",
        strategy: "StrategyLike" = NoCompaction(),  # noqa: B008  a frozen value
        *,
        budget: Budget | int | None = None,
        count: TokenCounter | None = None,
        ask: AskFunction | None = None,
        search: SearchFunction | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(thread, strategy, budget, count, ask, search, retry_after, sync=True)
        self._store: Store = InMemoryStore() if store is None else store
        checked_store(self._store)
        self._keeper = Keeper(thread)
        self._closes = store is None  # what was handed over is closed by whoever opened it
        self._lock = threading.Lock()
        self._asking = threading.Lock()  # held while an endpoint counts
        self._asked = Asked()
        self._running: set[int] = set()  # the threads that run an operation
        self._process = os.getpid()
        self._guards = takes_incarnation(self._store)

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
        A memory in a SQLite file, which is made if it is not there.

        >>> import tempfile, os
        >>> from unabridged import user
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with Memory.open(os.path.join(folder, "chat.db")) as memory:
        ...         len(memory.append(user("hi")).entries)
        1
        """
        from unabridged.stores.sqlite import SqliteStore  # noqa: PLC0415  sqlite3 when it is used

        checked_path(path)
        store = SqliteStore(path)
        try:
            memory = cls(
                store,
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

    # -- messages

    def append(self, *messages: Message, pin: bool = False, expect: int | None = None) -> Appends:
        """
        Keep messages, all or none.

        A message with an *id* that is there already is not kept twice: the entry
        comes back in `known` instead of `entries`; `all` has the entry of each
        message, in their order. *pin* keeps their blocks from being dropped or
        folded. *expect* refuses if the log's last record is another.

        Raises:
            LogConflictError: an id belongs to another message, or *expect* failed.

        >>> from unabridged import user
        >>> Memory().append(user("hi")).entries[0].seq
        1
        """
        return self._drive(self._keeper.append(messages, pin=pin, expect=expect))

    def entries(
        self, *, before: int | None = None, last: int | None = None, retracted: bool = True
    ) -> tuple[Entry, ...]:
        """
        The transcript as it was appended, for screens: nothing ever leaves it.

        *last* gives the newest so many, *before* those before an entry;
        `retracted=False` leaves out what was retracted, rewound or cleared.

        >>> from unabridged import user
        >>> memory = Memory()
        >>> _ = memory.append(user("a"), user("b"), user("c"))
        >>> [entry.message.text for entry in memory.entries(before=3, last=1)]
        ['b']
        """
        return self._drive(self._keeper.entries(before, last, retracted=retracted))

    def sources(self, item: Item) -> tuple[Entry, ...]:
        """
        The entries that an item stands for, as they were appended.

        >>> from unabridged import user
        >>> memory = Memory()
        >>> _ = memory.append(user("a"))
        >>> memory.sources(memory.view()[0])[0].message.text
        'a'
        """
        return self._drive(self._keeper.sources(item))

    def fetch(
        self,
        handle: str | int,
        *,
        start: int = 0,
        length: int | None = None,
        find: str | None = None,
        retracted: bool = False,
    ) -> Excerpt:
        """
        What a marker's handle stands for, as it was appended, whole or in part.

        Images and files are named, what a model thought is left out. It reads the
        log, so what was cleared, clipped, folded or dropped is all there.

        Args:
            handle: the number of an entry, "12", or "12.2" for the second call or
                result where it holds several.
            start: the first character.
            length: the most characters; None: all to the end.
            find: words; where they stand in that part is in `found`. Of a part of
                millions of characters the beginning is searched, and `more` is where
                to go on.
            retracted: give also what was retracted, rewound or cleared by hand.

        Raises:
            ConfigError: there is no such entry or part, or it was taken out by
                hand, or *start* is beyond its end.

        >>> from unabridged import tool, user
        >>> memory = Memory()
        >>> _ = memory.append(user("q"), tool("All 40 rows are fine.", call_id="c1"))
        >>> memory.fetch("2").text
        'All 40 rows are fine.'
        >>> memory.fetch("2", find="rows").found[0].start
        0
        """
        return self._drive(self._keeper.fetch(handle, start, length, find, retracted=retracted))

    def find(  # noqa: PLR0913  what is wanted of it
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
        The newest entries that hold all of these words, each with the text around them.

        Case is no matter. Where no entry holds all of the words, those that hold
        some come, and `every` is False. The log is read in slices, from the end, a
        few million characters a call: `more` says where to go on.

        Args:
            query: up to 32 words, with spaces between them.
            last: the most entries, up to 100.
            before: only entries before this one, such as `more`.
            exclude: names of tools whose calls and results are passed over.
            left_out: pass over what this memory's last context holds as it was appended.
            retracted: find also what was retracted, rewound or cleared by hand.

        Raises:
            ConfigError: there are no words or too many, or a number is wrong.

        >>> from unabridged import user
        >>> memory = Memory()
        >>> _ = memory.append(user("My name is Ana."), user("Hello?"))
        >>> [(hit.handle, hit.text) for hit in memory.find("ana NAME").found]
        [('1', 'My name is Ana.')]
        """
        return self._drive(
            self._keeper.find(query, last, before, exclude, left_out=left_out, retracted=retracted)
        )

    # -- views

    def view(self, *, at: int | None = None) -> View:
        """
        The log's own view, before any strategy; *at* a record, the view as it was then.

        *at* 0 it is empty, and at a record that is not there yet it is the view now.

        >>> from unabridged import user
        >>> memory = Memory()
        >>> _ = memory.append(user("a"), user("b"))
        >>> len(memory.view()), len(memory.view(at=1))
        (2, 1)
        """
        return self._drive(self._keeper.view(at))

    def diff(self, a: Seen, b: Seen | None = None) -> Diff:
        """
        Two views side by side: what only one shows, and what is worded or folded differently.

        Each is the number of a record (the view as it was then), a view or a
        result; *b* is by default the view now. It costs what the two views cost.

        Raises:
            ConfigError: it is something else, or a view that is not loaded whole.

        >>> from unabridged import user
        >>> memory = Memory()
        >>> _ = memory.append(user("a"), user("b"), user("c"))
        >>> _ = memory.retract(2)
        >>> print(memory.diff(2))
        a: record 2, 2 messages
        b: record 4, 2 messages
        - entry 2: user: b
        + entry 3: user: c
        """
        return self._drive(self._keeper.diff(a, b))

    def context(  # noqa: PLR0913  how a context is wanted
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
        What goes to the model now.

        Args:
            strategy: for this once, instead of the memory's own.
            query: what the user asks, for strategies that recall.
            replace: None writes back what strategies mark, True all that can be
                written, False nothing.
            system: a system prompt that is not in the log; it counts.
            hide_system: leave system and developer messages out at the end, for
                APIs that take the prompt apart; stand-ins stay.
            previous: the `prefix` of the result that was sent last, where another
                memory object made that: then `kept` says how much of it is still
                the beginning.

        >>> from unabridged import Window, user
        >>> memory = Memory()
        >>> _ = memory.append(user("a"), user("b"))
        >>> print(memory.context(Window(1), system="Be brief.").text())
        system: Be brief.
        user: b
        """
        wish = self._wish(
            strategy, query, replace, system, hide_system=hide_system, previous=previous
        )
        return self._drive(self._keeper.context(wish))

    @overload
    def report_usage(self, result: TrimResult, usage: Usage) -> TrimResult: ...

    @overload
    def report_usage(
        self, result: TrimResult, *, input_tokens: int, cached_tokens: int | None = None
    ) -> TrimResult: ...

    def report_usage(
        self,
        result: TrimResult,
        usage: Usage | None = None,
        *,
        input_tokens: int | None = None,
        cached_tokens: int | None = None,
    ) -> TrimResult:
        """
        Tell what the provider billed for the request that sent exactly *result*.

        Comes back with its `usage`, which `explain()` prints. A counter made by
        `tokens.calibrated` is corrected from the next context on, by a note in
        the log; messages are never touched.

        Args:
            result: what `context()` gave, of this thread.
            usage: what `formats.usage(response)` read from the response; or else
                give the numbers yourself:
            input_tokens: all tokens of the input, cached ones too. OpenAI's and
                Gemini's number has these in it; for Anthropic add the cache's
                reads and writes to it.
            cached_tokens: those of them that came from the provider's cache.

        Raises:
            ConfigError: a number cannot be, or the result is of another thread.

        >>> from unabridged import tokens, user
        >>> memory = Memory(count=tokens.words)
        >>> _ = memory.append(user("hello there"))
        >>> print(memory.report_usage(memory.context(), input_tokens=4, cached_tokens=1).usage)
        4 input tokens reported, 2 estimated (50.0% too low), 25% of them cached
        """
        told = self._usage(result, usage, input_tokens, cached_tokens)
        return self._drive(self._keeper.report(result, told, self._calibrated))

    @overload
    def compact(
        self, strategy: "StrategyLike | None" = None, *, wait: Literal[True] = True
    ) -> TrimResult: ...

    @overload
    def compact(
        self, strategy: "StrategyLike | None" = None, *, wait: Literal[False]
    ) -> "Future[TrimResult]": ...

    def compact(
        self, strategy: "StrategyLike | None" = None, *, wait: bool = True
    ) -> "TrimResult | Future[TrimResult]":
        """
        Make a context and write all of it back that can be written.

        With `wait=False` a thread does it in the background, and the result
        comes in a future. Meanwhile all goes on as before: appends are kept,
        contexts are made without asking the model that the background asks, and
        once its write-back is there they use it. A model that fails is told in the
        result's warnings, as ever; what is raised is in the future and on the
        logger, and changes nothing. Wait for the future before `close()`.

        >>> from unabridged import Window, user
        >>> memory = Memory(strategy=Window(1))
        >>> _ = memory.append(user("a"), user("b"))
        >>> _ = memory.compact()
        >>> len(memory.view()), len(memory.entries())
        (1, 2)
        >>> _ = memory.append(user("c"))
        >>> memory.compact(wait=False).result().text()
        'user: c'
        """
        if wait:
            return self.context(strategy, replace=True)
        wish = evolve(self._wish(strategy, replace=True), background=True)
        return in_background(lambda: self._drive(self._keeper.context(wish)), self._thread)

    def summary(self) -> str:
        """
        The summary that counts now, of a tree all of them, without the label; "" if there is none.

        It is the newest one that was answered for or written back, also where an
        older strategy or another process asked for it; nobody is asked.

        >>> from unabridged import Summarize, user
        >>> memory = Memory(strategy=Summarize(keep_last=1), ask=lambda ask: "Ana flies to Lima.")
        >>> _ = memory.append(user("I am Ana. To Lima, please."), user("When?"))
        >>> _ = memory.context()
        >>> memory.summary()
        'Ana flies to Lima.'
        """
        return self._drive(self._keeper.summary())

    # -- decisions

    def revert(self, rec: int | None = None) -> Record:
        """
        Undo a write-back, a retraction or a revert: the log goes on without that record.

        *rec* is its number, as in `context().rec`; by default the newest write-back or
        retraction that counts. Reverting the revert redoes it.

        Raises:
            ConfigError: it is no such record, or is reverted already.

        >>> from unabridged import Window, user
        >>> memory = Memory(strategy=Window(1, replace=True))
        >>> _ = memory.append(user("a"), user("b"))
        >>> memory.context().rec
        3
        >>> undone = memory.revert(3)
        >>> len(memory.view())
        2
        >>> _ = memory.revert(undone.rec)
        >>> len(memory.view())
        1
        """
        return self._drive(self._keeper.revert(rec))

    def retract(self, seq: int) -> Record | None:
        """
        Take entry *seq*, with its block, out of every view. None if it is in none.

        >>> from unabridged import user
        >>> memory = Memory()
        >>> _ = memory.append(user("a"), user("oops"))
        >>> _ = memory.retract(2)
        >>> print(memory.context().text())
        user: a
        """
        return self._drive(self._keeper.take_out("retract", seq))

    def rewind(self, seq: int) -> Record | None:
        """
        Take entry *seq*, with its block, and all after it out of every view.

        >>> from unabridged import assistant, user
        >>> memory = Memory()
        >>> _ = memory.append(user("a"), assistant("b"), user("c"))
        >>> _ = memory.rewind(2)
        >>> print(memory.context().text())
        user: a
        """
        return self._drive(self._keeper.take_out("rewind", seq))

    def clear(self) -> Record | None:
        """
        Take everything out of every view, pins too; the transcript stays. None if all was out.

        >>> from unabridged import user
        >>> memory = Memory()
        >>> _ = memory.append(user("a"))
        >>> _ = memory.clear()
        >>> len(memory.view()), len(memory.entries())
        (0, 1)
        """
        return self._drive(self._keeper.take_out("clear"))

    def history(self, *, last: int | None = None, before: int | None = None) -> tuple[Event, ...]:
        """
        What happened, for people: runs of appends, write-backs, reverts, pins, forks; no notes.

        *last* gives the newest so many events, *before* those of records before
        one; what comes after it still says what counts. Without *last* all that
        was ever decided is read, but no more than a message for each run of them.

        >>> from unabridged import Window, user
        >>> memory = Memory(strategy=Window(1))
        >>> _ = memory.append(user("a"), user("b"))
        >>> _ = memory.compact()
        >>> _ = memory.revert()
        >>> for event in memory.history():
        ...     print(event)
        record 2: 2 entries (1-2) appended, the last is user: b
        record 3: Window(1): entry 1 left: before the last 1 message (reverted)
        record 4: reverted record 3 (Window(1))
        """
        return self._drive(self._keeper.history(last, before))

    def pin(self, seq: int) -> Record:
        """
        Keep the block of entry *seq* from being dropped or folded.

        >>> from unabridged import Window, user
        >>> memory = Memory(strategy=Window(1))
        >>> _ = memory.append(user("a"), user("b"), user("c"))
        >>> _ = memory.pin(1)
        >>> print(memory.context().text())
        user: a
        user: c
        """
        return self._drive(self._keeper.pin(seq, on=True))

    def unpin(self, seq: int) -> Record:
        """
        Let go of the block of entry *seq*, also one pinned by its role.

        >>> from unabridged import Window, user
        >>> memory = Memory(strategy=Window(1))
        >>> _ = memory.append(user("a"), pin=True)
        >>> _ = memory.append(user("b"))
        >>> _ = memory.unpin(1)
        >>> print(memory.context().text())
        user: b
        """
        return self._drive(self._keeper.pin(seq, on=False))

    def fork(self, thread: str, *, at: int | None = None) -> "Memory":
        """
        A memory of a new *thread* that goes on from this one, as it was *at* a record.

        All records up to there (by default all there are) are shared, not copied:
        entries, views, pins, answers that were paid for. Either thread goes on by
        itself and never sees the other; write-backs from before may be reverted in
        each. Entries and records of the fork are numbered on. The settings are
        those of this memory.

        Forking at the newest record costs the same however long the thread is;
        at an earlier one the records up to there are read once.

        Raises:
            ConfigError: there is no such record, or there is such a thread already.
            StoreError: the store deleted entries of this thread (`retain=`).

        >>> from unabridged import assistant, user
        >>> memory = Memory()
        >>> _ = memory.append(user("Red or blue?"), assistant("Red."))
        >>> other = memory.fork("if blue", at=1)
        >>> _ = other.append(assistant("Blue."))
        >>> print(other.context().text())
        user: Red or blue?
        assistant: Blue.
        >>> len(memory.view()), memory.threads()
        (2, ('default', 'if blue'))
        """
        other = self.thread(thread)
        receipt = self._drive(self._keeper.fork(thread, at))
        other._keeper.seen = receipt.state.incarnation  # noqa: SLF001  its own kind

        return other

    # -- the memory itself

    def thread(self, name: str) -> "Memory":
        """
        A memory of another thread, in the same store and with the same settings.

        >>> from unabridged import user
        >>> memory = Memory()
        >>> _ = memory.thread("other").append(user("hi"))
        >>> memory.threads()
        ('other',)
        """
        other = Memory(
            self._store,
            name,
            self._strategy,
            budget=self._budget,
            count=self._calibrated or self._count,
            ask=self._ask,
            search=self._search,
            retry_after=self._retry_after,
        )
        other._keeper = Keeper(name, self._keeper.breakers)

        return other

    @property
    def store(self) -> Store:
        """
        The store that holds the thread; `store.delete(thread)` destroys one.
        """
        return self._store

    def threads(self) -> tuple[str, ...]:
        """
        The names of the threads in the store, sorted.
        """
        return self._store.threads()

    def to_dict(self) -> dict[str, Any]:
        """
        All records of the thread as data that JSON can hold; functions are not in it.

        Of a fork also those it shares, so that the data needs no other thread.

        >>> from unabridged import user
        >>> memory = Memory()
        >>> _ = memory.append(user("hi"))
        >>> print(Memory.from_dict(memory.to_dict()).context().text())
        user: hi
        """
        return self._drive(self._keeper.to_dict())

    @classmethod
    def from_dict(  # noqa: PLR0913  what a memory is made of
        cls,
        data: Mapping[str, Any],
        store: Store | None = None,
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
        A memory with the records of `to_dict`, in a thread that held none.

        Raises:
            CorruptLogError: *data* is not what `to_dict` gave.
            ConfigError: the thread holds records already.
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
        memory._drive(memory._keeper.restore(data))

        return memory

    def close(self) -> None:
        """
        Close what this memory opened: the file of `Memory.open`.

        A store that was handed over stays open; whoever made it closes it.

        >>> from unabridged import user
        >>> from unabridged.stores import InMemoryStore
        >>> store = InMemoryStore()
        >>> with Memory(store) as memory:
        ...     _ = memory.append(user("hi"))
        >>> len(Memory(store).entries())
        1
        """
        self._keeper.let_go()
        if self._closes:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory(thread={self._thread!r}, strategy={self._strategy!r})"

    def _drive(self, work: Work[T]) -> T:
        """
        Run an operation; only what is `Locked` of it runs under the lock.
        """
        if self._process != os.getpid():  # a child's copy of the lock may be held for ever
            self._process, self._lock, self._running = os.getpid(), threading.Lock(), set()
            self._asking, self._asked = threading.Lock(), Asked()
            self._keeper.renew()
        me = threading.get_ident()
        if me in self._running:
            raise ConfigError(CALLED_ITSELF)
        self._running.add(me)
        try:
            return drive(self._guarded(work), self._done)
        finally:
            self._running.discard(me)

    def _done(self, request: Do | Locked | Count | Yielded) -> Any:
        if isinstance(request, Locked):
            with self._lock:
                return drive(self._guarded(request.work), self._called)
        if isinstance(request, Do):
            return self._called(request)

        return self._asked_of(request)

    def _called(self, request: Do) -> Any:
        return getattr(self._store, request.method)(*request.args, **request.options)

    def _asked_of(self, request: Count | Yielded) -> Any:
        """
        Ask an endpoint or a model, which may call this memory; of counts one waits for the other.
        """
        call: Callable[[], Any] = int  # nothing is called for counts
        if isinstance(request, Count):
            self._asked.refuse_a_call_back()
        else:
            call = answering(request, self._ask, self._search, sync=True)
        me = threading.get_ident()
        self._running.discard(me)
        try:
            if isinstance(request, Count):
                with self._asking, self._asked.now():  # who waits finds the counts kept
                    return counted(request)
            return settled_answer(request, call())
        finally:
            self._running.add(me)
