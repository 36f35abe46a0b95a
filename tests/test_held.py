"""
What a process goes on holding of messages that are gone: nothing.
"""

import gc
import tracemalloc
import weakref

import pytest

from unabridged import (
    ClearToolResults,
    ClipArguments,
    ClipMessages,
    ClipToolResults,
    Deduplicate,
    DropReasoning,
    Memory,
    MergeRuns,
    Message,
    Reasoning,
    Repair,
    Summarize,
    Text,
    TokenBudget,
    ToolCall,
    Window,
    assistant,
    tool,
    user,
)
from unabridged.records import Note, Noted
from unabridged.stores import InMemoryStore, SqliteStore
from unabridged.tokens import calibrated, exact, words

MEGABYTE = 2**20
LONG = 50_000


def turn(number):
    """
    A question, a call and its result, all long, and unlike those of other turns.
    """
    words = f"word{number} " * (LONG // 8)
    call = ToolCall(f"c{number}", "look", {"for": words})
    return [
        user(f"q {words}", id=f"m{number}"),
        assistant([Reasoning(f"t {words}"), Text(f"a {words}")], calls=call),
        tool(f"r {words}", call_id=f"c{number}"),
        assistant(f"b {words}"),
    ]


CHAINS = {
    "cut": Window(40) | TokenBudget(20_000),
    "clips": (
        ClipToolResults(50, count=words)
        | ClipArguments(50, count=words)
        | ClipMessages(50, count=words)
    ),
    "reworded": Repair() | DropReasoning() | ClearToolResults() | Deduplicate() | MergeRuns(),
    "summary": Summarize(keep_last=2),
}


def alive():
    """
    The messages in this process.
    """
    gc.collect()
    return [thing for thing in gc.get_objects() if type(thing) is Message]


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path):
    if request.param == "memory":
        return InMemoryStore()
    return SqliteStore(tmp_path / "talk.db", synchronous="OFF")


class TestMessages:
    @pytest.mark.parametrize("chain", CHAINS)
    @pytest.mark.parametrize("count", [words, calibrated(words)], ids=["words", "calibrated"])
    def test_nothing_is_left_of_a_deleted_thread(self, store, chain, count):
        """
        Not by counts, by what was clipped or reworded, by states: whatever the chain.
        """
        memory = Memory(store, strategy=CHAINS[chain], count=count, ask=lambda _: "short")
        for number in range(4):
            memory.append(*turn(number))
            result = memory.context()
        seen = [weakref.ref(message) for message in (*result.messages, *memory.view().messages)]
        memory.report_usage(result, input_tokens=100)
        store.delete("default")
        del memory, result
        gc.collect()

        assert [None] * len(seen) == [one() for one in seen]
        store.close()

    def test_a_closed_memory(self, tmp_path):
        """
        A memory that was closed, and is still there, holds no messages.
        """
        memory = Memory.open(tmp_path / "talk.db", strategy=Window(10), count=words)
        memory.append(*turn(1))
        seen = [weakref.ref(message) for message in memory.context().messages]
        memory.close()
        gc.collect()

        assert [None] * len(seen) == [one() for one in seen]

    def test_a_store_that_destroys(self, store):
        """
        With `retain=` no more than what is retained is held, in megabytes.
        """
        retaining = type(store)
        kept = (
            retaining(5)
            if retaining is InMemoryStore
            else SqliteStore(store._file.path, 5, synchronous="OFF")
        )
        memory = Memory(kept, strategy=TokenBudget(100_000), count=exact())
        tracemalloc.start()
        try:
            for number in range(100):
                memory.append(user(f"{number} " * 40_000))
                memory.context()
            gc.collect()
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        kept.close()
        store.close()

        assert held < 5 * MEGABYTE

    def test_states_of_many_threads(self, tmp_path):
        """
        The states that a file's store keeps are bounded by what is in them.
        """
        with SqliteStore(tmp_path / "talk.db", synchronous="OFF") as store:
            tracemalloc.start()
            try:
                for number in range(60):
                    note = Note("summary", "k", "n" * MEGABYTE)
                    store.append(str(number), [Noted((note,))])
                gc.collect()
                held, _ = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert held < 50 * MEGABYTE
            assert 1 == len(store.state("0").notes)
            assert len(store._threads._kept) < 40

    def test_no_message_is_held_at_all(self):
        """
        Of messages that were counted in passing, too.
        """
        before = len(alive())
        memory = Memory(strategy=CHAINS["clips"], count=words)
        memory.append(*turn(7))
        assert memory.context().tokens
        assert len(alive()) > before
        del memory

        assert before == len(alive())
