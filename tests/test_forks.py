"""
Forks: threads that go on from another one, in memory and in a file.
"""

import asyncio
import re
import threading

import pytest

from unabridged import (
    AsyncMemory,
    Memory,
    Summarize,
    Window,
    assistant,
    system,
    user,
)
from unabridged.errors import ConfigError, CorruptLogError, LogConflictError, StoreError
from unabridged.records import Forked, Noted
from unabridged.states import rebuilt
from unabridged.stores import InMemoryStore, SqliteStore
from unabridged.testing import call, failing, replies, result, talk, texts


@pytest.fixture(params=["in memory", "sqlite"])
def store(request, tmp_path):
    """
    A store of either kind.
    """
    if request.param == "in memory":
        yield InMemoryStore()
        return
    with SqliteStore(tmp_path / "talk.db", synchronous="OFF") as made:
        yield made


def memory_of(store, *messages, **options):
    """
    A memory in the store that holds these messages.
    """
    memory = Memory(store, **options)
    memory.append(*messages)

    return memory


class TestFork:
    def test_goes_on_from_all_there_is(self, store):
        """
        With the settings of the memory, and numbers that go on.
        """
        memory = memory_of(store, *talk(2), strategy=Window(3))
        fork = memory.fork("other")
        entry = fork.append(user("q3")).entries[0]

        assert (5, 6) == (entry.seq, entry.rec)
        assert ["q1", "a1", "q2", "a2", "q3"] == texts(fork.view())
        assert fork.strategy == memory.strategy
        assert ["q1", "a1", "q2", "a2"] == texts(memory.view())
        assert ("default", "other") == memory.threads()

    def test_goes_on_from_any_record(self, store):
        """
        As the thread was there, with what was folded then and not since.
        """
        memory = memory_of(store, *talk(3))
        memory.compact(Window(4))
        memory.append(*talk(1))
        memory.compact(Window(2))

        for rec in range(1, 11):
            fork = memory.fork(f"from {rec}", at=rec)
            assert memory.view(at=rec) == fork.view()

    def test_sees_nothing_that_came_later(self, store):
        """
        Neither messages, nor notes, ids, pins, decisions.
        """
        memory = memory_of(store, *talk(2), strategy=Summarize(2), ask=replies("short"))
        fork = memory.fork("other", at=3)
        memory.append(user("later", id="m1"))
        memory.context()
        memory.pin(1)
        memory.retract(2)

        assert ["q1", "a1", "q2"] == texts(fork.view())
        assert () == fork.view().notes
        assert "m1" == fork.append(user("another", id="m1")).entries[0].message.id
        assert not [item for item in fork.view() if item.pin]

    def test_changes_nothing_of_its_parent(self, store):
        """
        Whatever is done in it; a write-back of before is reverted in the fork alone.
        """
        memory = memory_of(store, *talk(3))
        rec = memory.compact(Window(2)).rec
        records, state = store.read("default"), store.state("default")
        fork = memory.fork("other")
        fork.revert(rec)
        assert 6 == len(fork.view())
        fork.retract(1)
        fork.pin(3)
        fork.append(*talk(1))
        fork.rewind(5)

        assert (records, state) == (store.read("default"), store.state("default"))
        assert 2 == len(memory.view())
        assert rebuilt(store.read("other")) == store.state("other")

    def test_keeps_a_call_whose_result_comes_in_it(self, store):
        """
        In both threads, each with its own result.
        """
        memory = memory_of(store, user("q"), call("c1"))
        fork = memory.fork("other")
        memory.append(result("c1", "sunny"))
        fork.append(result("c1", "rainy"), assistant("Take an umbrella."))

        assert [1, 2] == [len(block) for block in memory.view().blocks]
        assert [1, 2, 1] == [len(block) for block in fork.view().blocks]
        assert "rainy" == fork.view()[2].message.tool_results[0].text

    def test_knows_the_messages_that_are_known(self, store):
        """
        An id of before is not appended again, and belongs to its message.
        """
        memory = memory_of(store, user("a", id="m1"))
        fork = memory.fork("other")

        assert [1] == [entry.seq for entry in fork.append(user("a", id="m1")).known]
        with pytest.raises(LogConflictError, match="'m1' belongs to entry 1"):
            fork.append(user("b", id="m1"))

    def test_keeps_answers_that_were_paid_for(self, store):
        """
        A summary of before the fork is not asked for again.
        """
        memory = memory_of(store, *talk(4), strategy=Summarize(2), ask=replies("short"))
        memory.context()
        fork = memory.fork("other")
        again = Memory(store, "other", Summarize(2), ask=failing())

        assert "short" == fork.summary() == again.summary()
        assert memory.context().messages == again.context().messages

    def test_of_a_fork(self, store):
        """
        To any depth, also from before the first fork.
        """
        memory = memory_of(store, *talk(1))
        for depth in range(60):
            memory = memory.fork(f"fork {depth}")
            memory.append(user(f"in {depth}"))
        early = memory.fork("early", at=2)

        assert ["q1", "a1", *(f"in {depth}" for depth in range(60))] == texts(memory.view())
        assert ["q1", "a1"] == texts(early.view())
        assert [30, 31] == [entry.seq for entry in memory.entries(before=32, last=2)]
        assert rebuilt(store.read("fork 59")) == store.state("fork 59")

    def test_copies_nothing(self, store):
        """
        A fork is one record; what it shares is read where it stands.
        """
        memory = memory_of(store, *talk(500))
        memory.fork("other")
        memory.thread("other").append(user("on"))

        own = {"in memory": _held, "sqlite": _rows}["sqlite" if _is_sqlite(store) else "in memory"]
        assert 2 == own(store, "other")

    @pytest.mark.parametrize(
        ("thread", "at", "why"),
        [
            ("taken", None, "fork: there is a thread 'taken' already; give another name or delete"),
            ("default", None, "fork: thread 'default' cannot be a fork of itself; give another"),
            (
                "other",
                0,
                (
                    "fork: thread 'default' has no record 0; it holds the records 1-4; "
                    "`thread('other')` begins one that shares nothing"
                ),
            ),
            ("other", -1, "fork: thread 'default' has no record -1; it holds the records 1-4"),
            ("other", 5, "fork: thread 'default' has no record 5; it holds the records 1-4"),
            ("other", "3", "at: expected the number of an entry or record"),
            ("other", True, "at: expected the number of an entry or record"),
            ("", None, "thread= must be a name"),
        ],
    )
    def test_refuses_what_it_cannot_make(self, store, thread, at, why):
        """
        And makes no thread.
        """
        memory = memory_of(store, *talk(2))
        memory.thread("taken").append(user("mine"))

        with pytest.raises(ConfigError, match=re.escape(why)):
            memory.fork(thread, at=at)
        assert ("default", "taken") == memory.threads()

    def test_refuses_an_empty_thread(self, store):
        """
        There is nothing to go on from.
        """
        with pytest.raises(ConfigError, match="has no record 0; it holds none"):
            Memory(store).fork("other")

    def test_refuses_a_store_that_knows_nothing_of_forks(self):
        """
        As one that was written before there were any; it takes it for any other record.
        """

        class Older(InMemoryStore):
            def append(self, thread, bodies, **options):
                taken = [Noted(()) if isinstance(body, Forked) else body for body in bodies]
                return super().append(thread, taken, **options)

        memory = memory_of(Older(), *talk(2))

        with pytest.raises(StoreError, match="the store of thread 'default' cannot make forks"):
            memory.fork("other")
        assert ("default",) == memory.threads()

    def test_refuses_a_name_that_somebody_takes_meanwhile(self):
        """
        Between the look and the append.
        """

        class Quick(InMemoryStore):
            def state(self, thread):
                state = super().state(thread)
                if thread == "other" and not state.rec:
                    self.append("other", [Forked("third", 1)])
                return state

        store = Quick()
        memory_of(store, *talk(1))
        memory_of(store, *talk(1), thread="third")

        with pytest.raises(ConfigError, match="there is a thread 'other' already"):
            Memory(store).fork("other")

    def test_a_thread_with_forks_is_not_deleted(self, store):
        """
        Until they are; the error names them.
        """
        memory = memory_of(store, *talk(1))
        memory.fork("one")
        memory.fork("two")

        with pytest.raises(
            StoreError, match=r"'default' cannot be deleted: forked from it are 'one', 'two'"
        ):
            store.delete("default")
        store.delete("one")
        store.delete("two")
        store.delete("default")
        assert () == store.threads()

    def test_a_deleted_fork_leaves_its_name(self, store):
        """
        What is made under it then inherits nothing.
        """
        memory = memory_of(store, *talk(1))
        memory.fork("other").append(user("on"))
        store.delete("other")
        again = memory_of(store, user("new"), thread="other")

        assert ["new"] == texts(again.view())
        assert ["q1", "a1"] == texts(memory.view())

    def test_many_at_once(self, store):
        """
        Threads that fork and append at the same time do not disturb each other.
        """
        memory = memory_of(store, *talk(2))

        def go(number):
            fork = memory.fork(f"fork {number}", at=4)
            for turn in range(5):
                fork.append(user(f"{number}: {turn}"))
                memory.append(user(f"on {number}: {turn}"))

        workers = [threading.Thread(target=go, args=(number,)) for number in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

        assert 44 == len(memory.entries())
        for number in range(8):
            said = texts(memory.thread(f"fork {number}").view())
            assert ["q1", "a1", "q2", "a2", *(f"{number}: {turn}" for turn in range(5))] == said


def _is_sqlite(store):
    return isinstance(store, SqliteStore)


def _held(store, thread):
    return len(store._threads[thread]._lines)


def _rows(store, thread):
    query = "SELECT count(*) FROM records JOIN threads ON id = thread WHERE name = ?"
    return store._file.rows(query, (thread,))[0][0]


class TestAsyncFork:
    @pytest.mark.parametrize("kind", ["in memory", "sqlite"])
    def test_does_what_it_does_in_a_memory(self, kind, tmp_path):
        """
        Awaited, also while others append.
        """

        async def main():
            store = InMemoryStore() if kind == "in memory" else SqliteStore(tmp_path / "talk.db")
            async with AsyncMemory(store) as memory:
                await memory.append(*talk(2))
                forks = await asyncio.gather(
                    memory.fork("one"),
                    memory.append(user("on")),
                    memory.fork("two", at=1),
                    AsyncMemory(memory.store).fork("three", at=3),
                )
                await forks[0].append(user("in one"))
                await forks[0].revert((await forks[0].retract(1)).rec)
                with pytest.raises(ConfigError, match="there is a thread 'one' already"):
                    await memory.fork("one")

                return [texts(await m.view()) for m in (memory, forks[2], forks[3])], await forks[
                    0
                ].history()

        views, history = asyncio.run(main())
        assert [["q1", "a1", "q2", "a2", "on"], ["q1"], ["q1", "a1", "q2"]] == views
        assert "forked" in [event.kind for event in history]


class TestRetain:
    def test_a_pruned_thread_is_not_forked(self, tmp_path):
        """
        Its log is not whole.
        """
        for store in (InMemoryStore(3), SqliteStore(tmp_path / "talk.db", 3)):
            memory = memory_of(store, *talk(3))
            with pytest.raises(StoreError, match=r"deleted the entries 1-3 \(retain=\)"):
                memory.fork("other")
            with pytest.raises(StoreError, match=r"deleted its entries 1-3 \(retain=\)"):
                store.append("other", [Forked("default", 6)])
            store.close()

    def test_destroys_nothing_that_is_shared(self, tmp_path):
        """
        What a fork shares stays while it does, and either thread keeps so many beyond it.
        """
        for store in (InMemoryStore(3), SqliteStore(tmp_path / "talk.db", 3)):
            memory = memory_of(store, user("q1"), call("c1"), system("rule"))
            fork = memory.fork("other")
            fork.append(result("c1"), assistant("a1"))
            for number in range(9):
                memory.append(user(f"m{number}"))
                fork.append(user(f"f{number}"))

            assert ["q1", "", "rule", "m6", "m7", "m8"] == texts(memory.view())
            assert ["q1", "", "rule", "found", "f7", "f8"] == texts(fork.view())
            assert [2, 4] == [item.first for item in fork.view() if item.head == 2]
            store.close()


class TestData:
    def test_a_fork_goes_out_whole(self, store):
        """
        With what it inherited, so that it comes back without the other thread.
        """
        memory = memory_of(store, *talk(3))
        memory.compact(Window(4))
        fork = memory.fork("other")
        fork.append(*talk(1))
        fork.revert(7)
        copy = Memory.from_dict(fork.to_dict(), InMemoryStore())

        assert fork.view().messages == copy.view().messages
        assert fork.entries() == copy.entries()
        assert fork.to_dict() == copy.to_dict()
        assert ("other",) == copy.threads()
        assert Noted(()) == copy.store.read("other")[7].body

    def test_time_travel_in_a_fork(self, store):
        """
        Also to before it.
        """
        memory = memory_of(store, *talk(2))
        fork = memory.fork("other", at=3)
        memory.append(user("later"))
        fork.append(user("on"))

        assert ["q1", "a1"] == texts(fork.view(at=2))
        assert ["q1", "a1", "q2"] == texts(fork.view(at=4))
        assert ["q1", "a1", "q2", "on"] == texts(fork.view(at=5))

    def test_damage_before_the_fork_is_told(self, tmp_path):
        """
        The message names the record.
        """
        with SqliteStore(tmp_path / "talk.db") as store:
            fork = memory_of(store, *talk(2)).fork("other")
            store._file.rows("UPDATE records SET body = 'x' WHERE rec = 2")

            with pytest.raises(CorruptLogError, match="thread 'other', record 2"):
                fork.view()
