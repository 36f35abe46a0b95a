"""
Threads and tasks on one memory: nobody waits while another searches, counts, or runs a strategy.

A gate stands where the work is done; the second thread goes through it all while the
first is held there. Nothing here asks for the time: what waits for ever fails.
"""

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from unabridged import (
    AsyncMemory,
    Memory,
    TokenBudget,
    Window,
    assistant,
    chain,
    run,
    user,
)
from unabridged.stores import InMemoryStore, SqliteStore
from unabridged.testing import talk, texts
from unabridged.tokens import words
from unabridged.tools import recall

PATIENCE = 30  # seconds after which a thread that waits is taken to wait for ever


class Gate:
    """
    Where the thread that is named stops, until it is let through; others pass.
    """

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()
        self.held: threading.Thread | None = None

    def __call__(self) -> None:
        if threading.current_thread() is self.held and not self.opened.is_set():
            self.reached.set()
            assert self.opened.wait(PATIENCE)


class Gated(InMemoryStore):
    """
    A store with a gate before each of its readings.
    """

    def __init__(self, gate: Gate) -> None:
        super().__init__()
        self.gate = gate

    def entries(self, *args: Any, **options: Any) -> Any:
        self.gate()
        return super().entries(*args, **options)

    def read(self, *args: Any, **options: Any) -> Any:
        self.gate()
        return super().read(*args, **options)


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.opened.set()


def beside(gate: Gate, first: Callable[[], Any], then: Callable[[], Any]) -> tuple[Any, Any]:
    """
    What *first* gives, held at the gate, and what *then* gives meanwhile.
    """
    given: list[Any] = []
    gate.held = threading.Thread(target=lambda: given.append(first()))
    gate.held.start()
    assert gate.reached.wait(PATIENCE)
    meanwhile: list[Any] = []
    second = threading.Thread(target=lambda: meanwhile.append(then()), daemon=True)
    second.start()
    second.join(PATIENCE)
    assert meanwhile
    gate.opened.set()
    gate.held.join(PATIENCE)

    return given[0], meanwhile[0]


class TestMemory:
    @pytest.mark.parametrize(
        "reading",
        [
            lambda memory: memory.find("q1"),
            lambda memory: memory.fetch("1"),
            lambda memory: memory.fetch("1", find="q1"),
            lambda memory: recall(memory)(query="q1"),
            lambda memory: recall(memory)(handle="1"),
            lambda memory: memory.entries(),
            lambda memory: memory.history(),
            lambda memory: memory.view(at=3),
            lambda memory: memory.diff(1, 3),
            lambda memory: memory.to_dict(),
            lambda memory: memory.sources(memory.view()[0]),
        ],
        ids=[
            *("find", "fetch", "fetch words", "recall words", "recall", "entries", "history"),
            *("view at", "diff", "to_dict", "sources"),
        ],
    )
    def test_is_free_while_another_thread_reads_the_log(self, gate: Gate, reading: Any):
        """
        All goes on: appends, contexts, pins, compactions, other searches.
        """
        memory = Memory(Gated(gate), strategy=Window(3))
        memory.append(*talk(3))
        memory.view()

        def everything() -> list[Any]:
            return [
                memory.append(user("more")),
                memory.context(),
                memory.pin(2),
                memory.compact(),
                memory.find("q2"),
                memory.retract(7),
            ]

        done, meanwhile = beside(gate, lambda: reading(memory), everything)

        assert done is not None
        assert None not in meanwhile
        assert 7 == len(memory.entries())

    def test_is_free_while_a_strategy_works(self, gate: Gate):
        """
        It saw the log as it was when it began.
        """
        memory = Memory(strategy=lambda view, ctx: (gate(), view.tail(2))[1])
        memory.append(*talk(2))
        done, _ = beside(gate, memory.context, lambda: memory.append(user("more")))

        assert ["q2", "a2"] == texts(done)
        assert ["a2", "more"] == texts(memory.context())

    def test_is_free_while_a_counter_counts(self, gate: Gate):
        """
        As slow as a counter of one's own may be.
        """

        def count(message: Any) -> int:
            gate()
            return words(message)

        memory = Memory(strategy=TokenBudget(3), count=count)
        memory.append(*talk(2))
        done, other = beside(gate, memory.context, lambda: memory.append(user("more")).entries)

        assert (["q2", "a2"], 1) == (texts(done), len(other))

    def test_is_free_while_a_compaction_is_worked_out(self, gate: Gate):
        """
        Its write-back folds what it saw, and what came meanwhile stays.
        """

        def old(view: Any, ctx: Any) -> Any:
            gate()
            return view.tail(2)

        memory = Memory(strategy=old)
        memory.append(*talk(3))
        done, _ = beside(gate, memory.compact, lambda: memory.append(user("q4"), assistant("a4")))

        assert ["q3", "a3"] == texts(done)
        assert ["q3", "a3", "q4", "a4"] == texts(run(Window(9), memory.view()))

    def test_runs_a_strategy_again_where_another_wrote_back_meanwhile(self, gate: Gate):
        """
        Both compactions are in the log, and neither is lost.
        """
        memory = Memory(strategy=lambda view, ctx: (gate(), view.tail(4))[1])
        memory.append(*talk(4))
        done, other = beside(gate, memory.compact, lambda: memory.compact(Window(2)))

        assert ["q4", "a4"] == texts(other)
        assert ["q4", "a4"] == texts(done) == texts(run(Window(9), memory.view()))

    def test_reads_anew_what_another_thread_loaded_meanwhile(self, gate: Gate):
        """
        A strategy that reads past what is loaded, of a view that is not the newest.
        """
        store = InMemoryStore()
        Memory(store).append(*talk(200))

        def whole(view: Any, ctx: Any) -> Any:
            gate()
            return list(view)

        memory = Memory(store, strategy=whole)
        done, view = beside(gate, memory.context, lambda: len(memory.view()))

        assert (400, 400) == (len(done.messages), view)

    def test_refuses_a_step_that_calls_it(self):
        """
        As ever, though it would wait for nobody.
        """
        memory = Memory()
        memory.append(*talk(1))

        with pytest.raises(Exception, match="called its own memory"):
            memory.context(lambda view, ctx: memory.context() and list(view))
        assert 2 == len(memory.context().messages)


class TestManyThreads:
    @pytest.mark.parametrize("kind", ["memory", "file"])
    def test_lose_nothing_and_show_what_a_fresh_memory_shows(self, kind: str, tmp_path: Any):
        """
        Appends, contexts, write-backs, pins, searches and notes of eight threads at once.
        """
        store: Any = InMemoryStore() if kind == "memory" else SqliteStore(tmp_path / "chat.db")
        memory = Memory(
            store, strategy=chain(Window(30, down_to=10), TokenBudget(200)), count=words
        )
        memory.append(user("begin"))
        failed: list[BaseException] = []
        begin = threading.Barrier(8)

        def works(name: int) -> None:
            try:
                begin.wait(PATIENCE)
                for turn in range(12):
                    memory.append(user(f"q {name} {turn}"), assistant(f"a {name} {turn}"))
                    assert memory.context().messages
                    assert memory.find(f"{name} {turn}").found
                    if turn % 4 == name % 4:
                        memory.compact(Window(20))
                        memory.pin(memory.entries(last=1)[0].seq)
            except BaseException as error:  # noqa: BLE001  told below
                failed.append(error)

        switch = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            threads = [threading.Thread(target=works, args=(name,)) for name in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(switch)
        fresh = Memory(store, strategy=memory.strategy, count=words)

        assert [] == failed
        assert 8 * 12 * 2 + 1 == len(memory.entries())
        assert list(fresh.view()) == list(memory.view())
        assert fresh.context().messages == memory.context().messages
        store.close()


class TestAsyncMemory:
    def test_is_free_while_another_task_searches(self):
        """
        And while an asynchronous step works.
        """

        async def main() -> Any:
            reached, opened = asyncio.Event(), asyncio.Event()

            async def step(view: Any, ctx: Any) -> Any:
                reached.set()
                await opened.wait()
                return list(view)

            memory = AsyncMemory(strategy=step)
            await memory.append(*talk(2))
            context = asyncio.create_task(memory.context())
            await reached.wait()
            await memory.append(user("more"))
            found = await memory.find("more")
            opened.set()

            return len((await context).messages), found.found[0].handle, len(await memory.view())

        assert (4, "5", 5) == asyncio.run(main())

    def test_is_free_while_its_store_reads(self):
        """
        Of a store that awaits.
        """

        async def main() -> Any:
            reached, opened = asyncio.Event(), asyncio.Event()
            memory = AsyncMemory()
            await memory.append(*talk(2))
            inner = memory.store

            class Slow:
                def __getattr__(self, name: str) -> Any:
                    return getattr(inner, name)

                async def append(self, *args: Any, **options: Any) -> Any:
                    return await inner.append(*args, **options)

                async def entries(self, *args: Any, **options: Any) -> Any:
                    reached.set()
                    await opened.wait()
                    return await inner.entries(*args, **options)

            slow = AsyncMemory(Slow())  # type: ignore[arg-type]  # the rest is the inner's
            search = asyncio.create_task(slow.find("q1"))
            await reached.wait()
            appended = await slow.append(user("more"))
            opened.set()

            return len(appended.entries), len((await search).found)

        assert (1, 1) == asyncio.run(main())
