"""
A blocking store, awaited.
"""

import asyncio
import os
import threading

import pytest

from unabridged.errors import LogConflictError, StoreError
from unabridged.records import Note, Noted
from unabridged.spans import Span
from unabridged.stores import InMemoryStore, InThread, SqliteStore
from unabridged.testing.store_samples import said


class Slow(InMemoryStore):
    """
    A store whose appends wait until they may go on.
    """

    blocking = True

    def __init__(self):
        super().__init__()
        self.started = threading.Event()
        self.go = threading.Event()
        self.threads_seen = set()

    def append(self, thread, bodies, *, expect=None, at=None):
        self.started.set()
        self.go.wait(10)
        self.threads_seen.add(threading.current_thread().name)
        return super().append(thread, bodies, expect=expect, at=at)


class Grouping(Slow):
    """
    One that takes several appends at once, and counts them.
    """

    def __init__(self, error=None):
        super().__init__()
        self.groups = []
        self.error = error

    def append_many(self, appends):
        self.groups.append(len(appends))
        if self.error is not None:
            raise self.error
        outcomes = []
        for thread, bodies, expect, at in appends:
            try:
                outcomes.append(self.append(thread, bodies, expect=expect, at=at))
            except LogConflictError as error:
                outcomes.append(error)
        return outcomes


async def queued(store, *texts, expect=None):
    """
    Tasks that append these texts while the store is busy with another append, "first".
    """
    awaited = InThread(store)
    first = asyncio.create_task(awaited.append("a", said("first")))
    await asyncio.to_thread(store.started.wait, 10)
    tasks = [asyncio.create_task(awaited.append("a", said(text), expect=expect)) for text in texts]
    await asyncio.sleep(0)
    return awaited, first, tasks


def texts_of(store):
    return [entry.message.text for entry in store.entries("a", Span.between(1, 99))]


class TestInThread:
    @pytest.mark.parametrize("make", [InMemoryStore, lambda: SqliteStore(":memory:")])
    def test_each_method(self, make):
        """
        Each method gives what the store gives.
        """
        store = make()

        async def main():
            async with InThread(store) as awaited:
                receipt = await awaited.append(
                    "a", [*said("hi"), Noted((Note("k", "k", 1),))], at=1
                )
                assert (await awaited.state("a")) == receipt.state == store.state("a")
                assert (await awaited.read("a", last=1, marks=["noted"])) == receipt.records[1:]
                assert (await awaited.entries("a", Span.one(1))) == receipt.entries
                assert list(await awaited.links("a", after=0)) == []
                assert (await awaited.find("a", "m1")) is None
                assert (await awaited.note("a", "k", "k")) == Note("k", "k", 1)
                assert (await awaited.threads()) == ("a",)
                with pytest.raises(LogConflictError):
                    await awaited.append("a", said("no"), expect=7)
                await awaited.delete("a")
                assert (await awaited.threads()) == ()

        asyncio.run(main())

    def test_repr(self):
        """
        It says over which store.
        """
        assert "InThread(SqliteStore(':memory:'))" == repr(InThread(SqliteStore(":memory:")))

    def test_a_store_that_does_not_block_needs_no_thread(self):
        """
        A store in memory is asked directly.
        """
        before = set(threading.enumerate())

        async def main():
            awaited = InThread(InMemoryStore())
            await awaited.append("a", said("hi"))
            assert set(threading.enumerate()) <= before  # another test's may be ending
            await awaited.close()

        asyncio.run(main())

    def test_one_thread_does_all(self):
        """
        However many tasks append, one thread writes, and the loop is not blocked meanwhile.
        """
        store = Slow()

        async def main():
            awaited, first, tasks = await queued(store, "1", "2", "3")
            assert not first.done()
            store.go.set()
            await asyncio.gather(first, *tasks)
            await awaited.close()

        asyncio.run(main())

        assert 1 == len(store.threads_seen)
        assert ["first", "1", "2", "3"] == texts_of(store)

    def test_waiting_appends_go_together(self):
        """
        Appends that come while one is written are written in one go.
        """
        store = Grouping()

        async def main():
            awaited, first, tasks = await queued(store, "1", "2", "3")
            store.go.set()
            await asyncio.gather(first, *tasks)
            await awaited.close()

        asyncio.run(main())

        assert [3] == store.groups
        assert ["first", "1", "2", "3"] == texts_of(store)

    def test_one_of_a_group_fails(self):
        """
        Each task has its own outcome.
        """
        store = Grouping()

        async def main():
            awaited, first, tasks = await queued(store, "1", "2", expect=1)
            store.go.set()
            await first
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            await awaited.close()
            return outcomes

        done, failed = asyncio.run(main())

        assert 2 == done.state.seq
        assert isinstance(failed, LogConflictError)

    @pytest.mark.parametrize("error", [StoreError("disk full"), ValueError("disk full")])
    def test_a_group_fails(self, error):
        """
        When the transaction fails, each task is told so.
        """
        store = Grouping(error)

        async def main():
            awaited, first, tasks = await queued(store, "1", "2")
            store.go.set()
            await first
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            await awaited.close()
            return outcomes

        for outcome in asyncio.run(main()):
            assert isinstance(outcome, StoreError)
            assert "disk full" in str(outcome)
        assert ["first"] == texts_of(store)

    def test_cancelled_while_waiting(self):
        """
        An append that is cancelled before its turn is not written; the others are.
        """
        store = Grouping()

        async def main():
            awaited, first, (one, two, three) = await queued(store, "1", "2", "3")
            two.cancel()
            await asyncio.wait([two])
            store.go.set()
            await asyncio.gather(first, one, three)
            await awaited.close()
            return two.cancelled()

        assert asyncio.run(main())
        assert ["first", "1", "3"] == texts_of(store)

    def test_cancelled_while_written(self):
        """
        An append that is cancelled while it is written is written whole.
        """
        store = Slow()

        async def main():
            awaited, first, _ = await queued(store)
            first.cancel()
            await asyncio.wait([first])
            store.go.set()
            state = await awaited.state("a")
            await awaited.close()
            return state

        assert 1 == asyncio.run(main()).seq
        assert ["first"] == texts_of(store)

    def test_closed(self, tmp_path):
        """
        Closing writes what is waiting; whatever is asked afterwards is a `StoreError`.
        """
        path = tmp_path / "a.db"

        async def main():
            awaited = InThread(SqliteStore(path))
            waiting = asyncio.create_task(awaited.append("a", said("hi")))
            await asyncio.sleep(0)
            await awaited.close()
            await awaited.close()
            await waiting
            with pytest.raises(StoreError, match="is closed; open a new one"):
                await awaited.append("a", said("again"))
            with pytest.raises(StoreError, match="is closed; open a new one"):
                await awaited.state("a")

        asyncio.run(main())

        with SqliteStore(path) as store:
            assert ["hi"] == texts_of(store)

    def test_many_tasks_on_a_file(self, tmp_path):
        """
        Many tasks on one file lose nothing and leave no gap.
        """
        path = tmp_path / "a.db"

        async def main():
            async with InThread(SqliteStore(path, synchronous="OFF")) as awaited:
                tasks = [awaited.append("a", said(str(n))) for n in range(300)]
                receipts = await asyncio.gather(*tasks)
                return [receipt.entries[0].seq for receipt in receipts]

        assert list(range(1, 301)) == asyncio.run(main())
        with SqliteStore(path) as store:
            assert 300 == len(store.entries("a", Span.between(1, 999)))

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_fork(self, tmp_path):
        """
        A store that had a thread before a fork gets another one after it.
        """
        awaited = InThread(SqliteStore(tmp_path / "a.db", synchronous="OFF"))
        asyncio.run(awaited.append("a", said("before")))
        child = os.fork()
        if not child:
            code = 255
            try:
                code = asyncio.run(awaited.append("a", said("child"))).state.seq
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)

        assert 2 == os.waitstatus_to_exitcode(status)
        assert 3 == asyncio.run(awaited.append("a", said("parent"))).state.seq
        asyncio.run(awaited.close())

    def test_what_waited_before_a_fork_stays_behind(self, monkeypatch):
        """
        A process of another number writes nothing that the first one was asked to.
        """
        store = Slow()

        async def main():
            awaited, first, tasks = await queued(store, "1", "2")
            with monkeypatch.context() as patch:
                patch.setattr(os, "getpid", lambda: -1)
                child = asyncio.create_task(awaited.append("a", said("child")))
                await asyncio.sleep(0)
            store.go.set()
            await asyncio.gather(first, child)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await awaited.close()

        asyncio.run(main())

        assert {"first", "child"} == set(texts_of(store))
