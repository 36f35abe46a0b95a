"""
A process that is forked while its threads are at work: the child goes on, and so does the parent.
"""

import asyncio
import os
import signal
import threading

import pytest

from unabridged import AsyncMemory, Memory, Summarize, user
from unabridged.errors import StoreError
from unabridged.stores import InMemoryStore, InThread, SqliteStore
from unabridged.testing.store_samples import said
from unabridged.tokens import vocabulary, words

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]
PATIENCE = 30  # seconds; a child that hangs is ended


def in_a_child(work):
    """
    What *work* gives in a forked child, a number below 100; 255 if it raises, less if it hangs.
    """
    child = os.fork()
    if not child:
        code = 255
        try:
            signal.alarm(PATIENCE)
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Holding(list):
    """
    Bodies that are looked at, under the store's lock, until they are let go.
    """

    def __init__(self, bodies):
        super().__init__(bodies)
        self.reached = threading.Event()
        self.may = threading.Event()

    def __iter__(self):
        self.reached.set()
        assert self.may.wait(PATIENCE)
        return super().__iter__()


@pytest.fixture(params=["memory", "file", "file in memory"])
def store(request, tmp_path):
    if request.param == "memory":
        made = InMemoryStore()
    else:
        path = tmp_path / "talk.db" if request.param == "file" else ":memory:"
        made = SqliteStore(path, synchronous="OFF")
    yield made
    made.close()


class TestStores:
    def test_while_a_thread_holds_the_lock(self, store):
        """
        The child is not left with a lock that nobody gives back; the parent's append is made.
        """
        store.append("a", said("1"))
        slow = Holding(said("2"))
        thread = threading.Thread(target=store.append, args=("b", slow))
        thread.start()
        assert slow.reached.wait(PATIENCE)
        if isinstance(store, SqliteStore) and store._file.path != ":memory:":
            expected = 1  # the thread is writing; reading does not wait for that
            seen = in_a_child(lambda: store.state("a").seq)
        else:
            expected = 2
            seen = in_a_child(lambda: store.append("a", said("2")).state.seq)
        slow.may.set()
        thread.join()

        assert expected == seen
        assert 1 == store.state("b").seq
        assert 2 == store.append("a", said("2")).state.seq

    def test_while_threads_append(self, store):
        """
        What a child sees is never the half of an append.
        """
        stop = threading.Event()

        def busy(name):
            while not stop.is_set():
                store.append(name, said("1", "2", "3"))

        threads = [threading.Thread(target=busy, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()

        def whole():
            seen = [store.state(name).seq for name in "abc"]
            seen += [record.rec for name in "abc" for record in store.read(name, last=1)]
            fine = all(number % 3 == 0 for number in seen)
            return 7 if fine and store.append("mine", said("x")).state.seq else 8

        try:
            for _ in range(20):
                assert 7 == in_a_child(whole)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_from_a_child_of_a_child(self, store):
        """
        A fork of a fork works too, and each has a connection of its own.
        """
        store.append("a", said("1"))

        def fork():
            return in_a_child(lambda: store.append("a", said("2")).state.seq)

        assert 2 == in_a_child(fork)


class TestMemories:
    def test_while_a_model_is_asked_in_the_background(self):
        """
        In the child the future fails at once, and the child asks for itself.
        """
        asked, may = threading.Event(), threading.Event()
        parent = os.getpid()

        def answer(_):
            if os.getpid() == parent:
                asked.set()
                assert may.wait(PATIENCE)
            return "short"

        memory = Memory(strategy=Summarize(1), ask=answer, count=words)
        memory.append(*(user("one two three four five six") for _ in range(4)))
        future = memory.compact(wait=False)
        assert asked.wait(PATIENCE)

        def both():
            with pytest.raises(StoreError, match="goes on in the process that began it"):
                future.result()
            return len(memory.context().messages)

        seen = in_a_child(both)
        may.set()
        assert 2 == seen
        assert 2 == len(future.result().messages)

    def test_while_a_thread_counts(self):
        """
        A memory whose lock another thread holds is free in the child.
        """
        counting, may = threading.Event(), threading.Event()
        parent = os.getpid()

        def slow(message):
            if os.getpid() == parent:
                counting.set()
                assert may.wait(PATIENCE)
            return len(message.text)

        memory = Memory(count=slow)
        memory.append(user("hello"))
        thread = threading.Thread(target=lambda: memory.context().tokens)
        thread.start()
        assert counting.wait(PATIENCE)
        seen = in_a_child(lambda: memory.context().tokens)
        may.set()
        thread.join()

        assert 5 == seen

    def test_asynchronous(self, store):
        """
        A memory, and the thread in which its store works, in a loop of the child's own.
        """
        memory = AsyncMemory(InThread(store), "a")

        async def append():
            await memory.append(user("hi"))
            return len(await memory.entries())

        assert 1 == asyncio.run(append())
        assert 2 == in_a_child(lambda: asyncio.run(append()))


class TestCounters:
    def test_while_a_thread_builds_a_vocabulary(self):
        """
        The child builds its own.
        """
        lock = vocabulary._LOCKS.setdefault(os.getpid(), threading.Lock())
        with lock:
            assert 2 == in_a_child(
                lambda: len(vocabulary.encoding("o200k_base").encode("hello world"))
            )
