"""
Memories that live long: late results, pins and marks, answers of several.
"""

import pytest
from attrs import evolve

from unabridged import Memory, Summarize, Window, assistant, tokens, user
from unabridged.messages import ToolResult
from unabridged.records import Appended, Compacted, Drop, Noted
from unabridged.spans import Span
from unabridged.stores import InMemoryStore
from unabridged.testing import call, replies, result, talk, texts

LABEL = "Summary of the earlier conversation:\n"


def heads(memory):
    return [(item.first, item.head, item.opener) for item in memory.view()]


def living(*, keep=4):
    """
    A memory that holds some of a thread of which the call in entry 2 left.
    """
    store = InMemoryStore()
    memory = Memory(store)
    memory.append(user("q"), call("c1"), user("x"), assistant("so"))
    memory.context()
    store.append("default", [Compacted((Drop(Span.of([1, 2]), step="s"),), 4)])
    memory.context()

    return store, memory


class TestLateResults:
    @pytest.mark.parametrize("by_itself", [True, False])
    def test_stand_as_in_a_fresh_memory(self, by_itself):
        """
        One with words stays and is tied to nothing; who appended it makes no difference.
        """
        store, memory = living()
        late = user([ToolResult("c1"), "and go on"])
        if by_itself:
            memory.append(late)
        else:
            store.append("default", [Appended(0, late)])

        assert [(3, 3, 3), (4, 4, 3), (5, 5, 5)] == heads(Memory(store)) == heads(memory)
        assert texts(Memory(store).context(Window(1))) == texts(memory.context(Window(1)))

    def test_that_are_bare_leave_as_in_a_fresh_memory(self):
        """
        Such a result goes where its call went.
        """
        store, memory = living()
        memory.append(result("c1"), user("y"))

        assert [(3, 3, 3), (4, 4, 3), (6, 6, 6)] == heads(Memory(store)) == heads(memory)


class TestAnswersOfTheSame:
    """
    Two that were asked at the same time answered for the same entries.
    """

    @pytest.mark.parametrize("tree", [None, 2])
    @pytest.mark.parametrize("rounds", [2, 3])
    def test_newer_one_counts(self, tree, rounds):
        """
        In contexts and as the summary, in whoever's memory.
        """
        step = Summarize(2, tree=tree)
        store = InMemoryStore()
        memory = Memory(store, strategy=step, ask=replies("one"))
        memory.append(*talk(rounds))
        memory.context()
        note = store.state("default").notes[-1]
        other = evolve(note, value={**note.value.value, "text": "two"})
        store.append("default", [Noted((other,))])
        for each in (memory, Memory(store, strategy=step, ask=replies("?"))):
            assert (f"{LABEL}two", "two") == (each.context().messages[0].text, each.summary())

    @pytest.mark.parametrize("tree", [None, 2])
    @pytest.mark.parametrize("keep", [2, 3])
    def test_one_that_is_written_stays(self, tree, keep):
        """
        The view shows it, so the summary is that one, also of a single entry.
        """
        step = Summarize(keep, tree=tree, replace=True)
        store = InMemoryStore()
        memory = Memory(store, strategy=step, ask=replies("one"), count=tokens.words)
        memory.append(*talk(2))
        memory.context()
        note = store.state("default").notes[-1]
        other = evolve(note, value={**note.value.value, "text": "two"})
        store.append("default", [Noted((other,))])
        for each in (memory, Memory(store, strategy=step, ask=replies("?"))):
            assert (f"{LABEL}one", "one") == (each.context().messages[0].text, each.summary())
        assert ([], 5) == (list(memory.context().changes), memory.view().log.decided)


class TestStandingCuts:
    def test_count_no_pin_at_their_first_block(self):
        """
        A pin made since weighs nothing there either, so the cut stands as long as it may.
        """
        store = InMemoryStore()
        memory = Memory(store, strategy=Window(4, down_to=2))
        memory.append(*[user(f"u{n}") for n in range(1, 6)])
        assert ["u4", "u5"] == texts(memory.context())
        memory.pin(4)
        memory.append(*[user(f"u{n}") for n in range(6, 9)])
        stands = ["u4", "u5", "u6", "u7", "u8"]
        assert stands == texts(Memory(store).context(memory.strategy)) == texts(memory.context())
        memory.append(user("u9"))
        moved = ["u4", "u8", "u9"]
        assert moved == texts(Memory(store).context(memory.strategy)) == texts(memory.context())
