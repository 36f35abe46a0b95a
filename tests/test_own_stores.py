"""
What a memory closes, what it hands back, and what a memory for each request may know.
"""

import asyncio
import json
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unabridged import AsyncMemory, Memory, Summarize, Window, system, tokens, user
from unabridged.errors import ConfigError, StoreError
from unabridged.results import TrimResult
from unabridged.stores import InMemoryStore, SqliteStore
from unabridged.stores.in_thread import InThread
from unabridged.testing import replies, talk, texts
from unabridged.testing.generators import messages
from unabridged.trim_result import Prefix


@pytest.fixture
def store(tmp_path):
    """
    A file that the test opened, and closes.
    """
    made = SqliteStore(tmp_path / "a.db")
    yield made
    made.close()


class TestMemory:
    def test_leaves_open_what_was_handed_over(self, store):
        """
        Other requests use it; so after `with`, `close`, and in a memory of another thread.
        """
        with Memory(store) as memory:
            memory.append(user("a"))
            memory.thread("b").close()
            memory.fork("c").close()
        memory.close()
        with Memory.from_dict(memory.to_dict(), store, "d") as copy:
            copy.append(user("b"))

        assert ["a"] == texts(Memory(store).view())
        assert ("c", "d", "default") == store.threads()

    def test_leaves_it_open_when_it_fails(self, store):
        """
        An error inside `with` is no reason to close it.
        """
        with pytest.raises(ZeroDivisionError), Memory(store) as memory:
            memory.append(user(str(1 // 0)))

        assert () == Memory(store).entries()

    def test_closes_what_it_opened(self, tmp_path):
        """
        The file of `Memory.open`, and no other memory does it for it.
        """
        with Memory.open(tmp_path / "b.db") as memory:
            with memory.thread("other") as other:
                other.append(user("a"))
            memory.append(user("b"))
        for late in (memory, other):
            with pytest.raises(StoreError):
                late.append(user("c"))

    def test_hands_back_what_was_handed_over(self, store):
        """
        The very object, in every memory of it.
        """
        memory = Memory(store)

        assert store is memory.store is memory.thread("b").store


class TestAsyncMemory:
    def test_leaves_open_what_was_handed_over(self, store):
        """
        A sync store goes on being used as one; its own thread ends with the memory.
        """
        before = threading.active_count()

        async def main():
            async with AsyncMemory(store) as memory:
                await memory.append(user("a"))
                async with memory.thread("b") as other:
                    await other.append(user("b"))
                await memory.append(user("c"))
            await memory.append(user("d"))  # it is not closed, and neither is the store
            await memory.close()

        asyncio.run(main())
        for thread in threading.enumerate():
            if thread.name.startswith("unabridged"):
                thread.join(5)

        assert ["a", "c", "d"] == texts(Memory(store).view())
        assert before == threading.active_count()

    def test_writes_what_waits_before_its_thread_ends(self, store):
        """
        Also what others appended meanwhile.
        """

        async def main():
            memory = AsyncMemory(store)
            waiting = [asyncio.ensure_future(memory.append(user(str(n)))) for n in range(20)]
            await asyncio.sleep(0)
            await memory.close()
            await asyncio.gather(*waiting)
            await memory.close()

        asyncio.run(main())

        assert 20 == len(Memory(store).entries())

    def test_leaves_an_async_store_open(self, store):
        """
        As a sync one.
        """

        async def main():
            awaited = InThread(store)
            async with AsyncMemory(awaited) as memory:
                await memory.append(user("a"))
            found = await AsyncMemory(awaited).entries()
            is_same = awaited is memory.store
            await awaited.close()
            return len(found), is_same

        assert (1, True) == asyncio.run(main())

    def test_hands_back_what_was_handed_over(self, store):
        """
        Not what it made of it.
        """

        async def main():
            memory = AsyncMemory(store)
            memory.store.delete("default")  # a sync one: not awaited
            copy = await AsyncMemory.from_dict(await memory.to_dict(), store, "b")
            return {memory.store, memory.thread("b").store, copy.store}

        held = InMemoryStore()

        assert {store} == asyncio.run(main())
        assert held is AsyncMemory(held).store

    def test_closes_what_it_opened(self, tmp_path):
        """
        Whose store is awaited, since nobody handed one over.
        """

        async def main():
            async with AsyncMemory.open(tmp_path / "b.db") as memory:
                await memory.append(user("a"))
                await memory.thread("b").append(user("b"))
                await memory.thread("b").close()
                await memory.store.delete("default")
                threads = await memory.threads()
            with pytest.raises(StoreError):
                await memory.append(user("c"))
            return threads

        assert ("b",) == asyncio.run(main())


class TestPrefix:
    @given(st.lists(messages(), max_size=3), st.integers(1, 9))
    @settings(max_examples=50)
    def test_says_in_another_memory_what_one_would_know(self, batches, last):
        """
        `kept` is the same whether a memory lived on or each request made its own.
        """
        store, living = InMemoryStore(), InMemoryStore()
        memory = Memory(living, strategy=Window(last), count=tokens.words)
        prefix = None
        for batch in batches:
            memory.append(*batch)
            request = Memory(store, strategy=Window(last), count=tokens.words)
            request.append(*batch)
            result = request.context(previous=prefix, system="Be brief.")

            assert memory.context(system="Be brief.").kept == result.kept
            prefix = json.loads(json.dumps(result.prefix))

    def test_goes_over_processes_and_into_files(self, tmp_path):
        """
        What a store gave back is the message that was sent.
        """
        path = tmp_path / "a.db"
        with Memory.open(path) as memory:
            memory.append(user("a", metadata={"n": 1.50}), user("\ud83d lone"), *talk(2))
            prefix = memory.context().prefix
        with Memory.open(path) as memory:
            memory.append(user("more"))
            kept = memory.context(previous=prefix).kept

        assert (6, 6) == (kept.messages, kept.out_of)

    def test_is_small_and_tells_no_words(self):
        """
        Eight letters a message, of any length.
        """
        memory = Memory()
        memory.append(*[user("secret " * 1_000) for _ in range(10)])

        assert 82 == len(memory.context().prefix)
        assert "secret" not in memory.context().prefix
        assert 2 == len(memory.thread("empty").context().prefix)

    def test_of_nothing_is_a_prefix_too(self):
        """
        Before the first message nothing was sent.
        """
        memory = Memory()
        prefix = memory.context().prefix
        memory.append(user("a"))

        assert Prefix(0, 0, 0) == memory.context(previous=prefix).kept

    def test_counts_before_what_the_memory_itself_sent(self):
        """
        Another worker may have sent the last one.
        """
        memory = Memory(count=tokens.words)
        memory.append(user("a"), user("b"))
        prefix = memory.context().prefix
        memory.append(user("c"))
        memory.context()

        assert Prefix(2, 2, 2) == memory.context(previous=prefix).kept
        assert Prefix(3, 3, 3) == memory.context().kept

    def test_holds_what_is_sent(self):
        """
        A prompt that is not in the log, and none that is hidden.
        """
        memory = Memory()
        memory.append(system("Log."), user("a"))
        shown = memory.context(system="Beside.")
        hidden = memory.context(hide_system=True)

        assert 3 == memory.context(previous=shown.prefix, system="Beside.").kept.messages
        assert 0 == memory.context(previous=shown.prefix, system="Other.").kept.messages
        assert 1 == memory.context(previous=hidden.prefix, hide_system=True).kept.messages

    def test_names_what_broke_it(self):
        """
        As of a memory that lived on.
        """
        store = InMemoryStore()
        memory = Memory(store, strategy=Window(4))
        memory.append(*talk(2))
        prefix = memory.context().prefix
        memory.append(*talk(1))
        living = memory.context().explain()
        fresh = Memory(store, strategy=Window(4)).context(previous=prefix).explain()

        assert "prefix broken from entry 3 on, by Window(4) (before the last 4 messages)" in fresh
        assert living == fresh

    def test_is_not_kept_in_the_log(self):
        """
        Nothing is written for it.
        """
        memory = Memory(strategy=Summarize(2), ask=replies("so far"))
        memory.append(*talk(3))
        result = memory.context()
        head = memory.view().head
        again = memory.context(previous=result.prefix)

        assert head == memory.view().head
        assert result.prefix not in json.dumps(memory.to_dict())
        assert again.kept.messages == len(again.messages)

    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    @pytest.mark.parametrize(
        "previous",
        ["", "1", "1:abc", "2:", "1:abcdefg!", 5, b"1:", [], ["1:"], {}, True, "x" * 100_000],
        ids=lambda value: repr(value)[:20],
    )
    def test_is_all_that_is_taken(self, kind, previous):
        """
        And what else comes is named, in short.
        """

        async def later():
            await kind().context(previous=previous)

        with pytest.raises(ConfigError) as caught:
            kind().context(previous=previous) if kind is Memory else asyncio.run(later())

        assert str(caught.value).startswith(
            "context: `previous` takes the `prefix` of a result, or None, got "
        )
        assert len(str(caught.value)) < 200

    def test_of_a_result_itself_is_refused(self):
        """
        A result is no prefix; it has one.
        """
        with pytest.raises(ConfigError, match="got TrimResult"):
            Memory().context(previous=Memory().context())

        assert isinstance(Memory().context(), TrimResult)
