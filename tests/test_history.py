"""
History: what happened in a thread, for people.
"""

import asyncio

import pytest

from unabridged import AsyncMemory, Memory, Summarize, Window, assistant, system, user
from unabridged.errors import ConfigError
from unabridged.history import Event
from unabridged.records import Compacted, Drop, Fold, Forked, Hold, Insert
from unabridged.spans import Span
from unabridged.stores import InMemoryStore, SqliteStore
from unabridged.testing import replies, talk, texts


def memory_of(*messages, **options):
    """
    A memory that holds these messages.
    """
    memory = Memory(**options)
    memory.append(*messages)

    return memory


def eventful(store=None):
    """
    A memory in which one of everything happened.
    """
    memory = memory_of(*talk(3), store=store)
    memory.compact(Window(4))  # 7
    memory.pin(3)  # 8
    memory.append(user("slip"))  # 9
    memory.retract(7)  # 10
    memory.revert(7)  # 11
    memory.revert(11)  # 12
    memory.unpin(3)  # 13
    memory.append(*talk(1))  # 14, 15
    memory.rewind(8)  # 16
    memory.clear()  # 17

    return memory


TOLD = """\
record 6: 6 entries (1-6) appended, the last is assistant: a3
record 7: Window(4): 2 entries (1-2) left: before the last 4 messages
record 8: entry 3 pinned
record 9: entry 7 appended: user: slip
record 10: entry 7 retracted
record 11: reverted record 7 (Window(4)) (reverted)
record 12: redid record 7 (Window(4))
record 13: entry 3 unpinned
record 15: 2 entries (8-9) appended, the last is assistant: a1
record 16: 2 entries (8-9) rewound
record 17: 9 entries (1-9) cleared"""


class TestHistory:
    def test_tells_all_that_happened(self):
        """
        Appends in runs, decisions one by one; what was taken back says so.
        """
        memory = eventful()

        assert TOLD == "\n".join(map(str, memory.history()))
        kinds = (
            "appended compacted pinned appended retracted reverted redone unpinned appended "
            "rewound cleared"
        )
        assert kinds.split() == [event.kind for event in memory.history()]

    def test_is_empty_at_first(self):
        """
        Nothing happened yet.
        """
        assert () == Memory().history()

    def test_values(self):
        """
        For programs: the numbers, the time, the entries, what it is about.
        """
        memory = memory_of(*talk(2))
        memory.compact(Window(2))
        memory.revert()
        appended, compacted, reverted = memory.history()
        records = memory.store.read("default")

        assert (4, records[3].at, Span.between(1, 4)) == (
            appended.rec,
            appended.at,
            appended.entries,
        )
        assert (5, Span.between(1, 2), False, 0) == (
            compacted.rec,
            compacted.entries,
            compacted.counts,
            compacted.of,
        )
        assert (6, Span.between(1, 2), True, 5) == (
            reverted.rec,
            reverted.entries,
            reverted.counts,
            reverted.of,
        )

    def test_an_event_can_be_looked_at(self):
        """
        Its record is the one after which the view shows what it did.
        """
        memory = eventful()
        views = {event.kind: texts(memory.view(at=event.rec)) for event in memory.history()}

        assert ["q1", "a1", "q2", "a2", "q3", "a3"] == views["reverted"]
        assert [] == views["cleared"]

    def test_notes_are_not_shown_and_part_no_run(self):
        """
        A context between two messages is nothing that happened to the log.
        """
        memory = memory_of(*talk(4), strategy=Summarize(2), ask=replies("short"))
        memory.context()
        memory.append(*talk(1))

        assert ["record 11: 10 entries (1-10) appended, the last is assistant: a1"] == [
            str(event) for event in memory.history()
        ]

    def test_a_summary(self):
        """
        What it folded, and into which words.
        """
        memory = memory_of(*talk(4), strategy=Summarize(2, label=""), ask=replies("They talked."))
        memory.compact()

        assert (
            "record 9: Summarize(2, label=''): 6 entries (1-6) folded into 'They talked.': "
            "before the last 2 messages"
        ) == str(memory.history()[1])

    def test_a_write_back_of_many_changes(self):
        """
        Drops of one reason together, and so rewordings; stand-ins one by one.
        """
        changes = (
            Drop(Span.one(1), reason="old", step="s"),
            Drop(Span.one(3), reason="old", step="s"),
            Fold(Span.one(4), assistant("…"), step="t"),
            Fold(Span.one(5), user("…"), step="t"),
            Fold(Span.between(6, 7), system("In short " * 20)),
            Hold(Span.one(8), step="u"),
            Insert(system("It is Monday."), step="u"),
        )
        memory = memory_of(*talk(4))
        memory.store.append("default", [Compacted(changes, 8), Compacted((), 9)])
        told = [event.text for event in memory.history()[1:]]

        into = f"{('In short ' * 20)[:59]}…"
        assert [
            "s: 2 entries (1, 3) left: old",
            "t: 2 entries (4-5) reworded",
            f"a step: 2 entries (6-7) folded into {into!r}",
            "u: entry 8 held",
        ] == told[0].split("; ")
        assert "nothing left" == told[1]

    def test_reverts_of_reverts(self):
        """
        Each says what it does to the write-back, and whether it counts.
        """
        memory = memory_of(*talk(2))
        memory.compact(Window(2))
        for rec in (5, 6, 7, 8):
            memory.revert(rec)

        assert [
            ("compacted", True, 0),
            ("reverted", False, 5),
            ("redone", True, 5),
            ("reverted", False, 5),
            ("redone", True, 5),
        ] == [(event.kind, event.counts, event.of) for event in memory.history()[1:]]

    def test_a_fork(self):
        """
        Tells what was before it too, and where it began; the parent tells nothing of it.
        """
        memory = memory_of(*talk(2))
        memory.compact(Window(2))
        fork = memory.fork("other")
        fork.revert(5)

        assert [
            "record 4: 4 entries (1-4) appended, the last is assistant: a2",
            "record 5: Window(2): 2 entries (1-2) left: before the last 2 messages (reverted)",
            "record 6: forked from thread 'default' at record 5",
            "record 7: reverted record 5 (Window(2))",
        ] == list(map(str, fork.history()))
        assert [True, True] == [event.counts for event in memory.history()]
        assert [5] == [event.of for event in fork.history(before=7, last=1)]

    def test_what_was_deleted_is_not_told(self):
        """
        A store with a bound tells of the messages that are left.
        """
        memory = memory_of(*talk(4), store=InMemoryStore(3))
        memory.pin(8)

        assert [Span.between(6, 8), Span.one(8)] == [event.entries for event in memory.history()]

    def test_refuses_what_is_no_number(self):
        """
        A text, a float.
        """
        with pytest.raises(ConfigError, match="last: expected the number"):
            Memory().history(last="3")
        with pytest.raises(ConfigError, match="before: expected the number"):
            Memory().history(before=1.5)

    def test_awaited(self):
        """
        The same.
        """
        memory = eventful()

        async def main():
            return await AsyncMemory(memory.store).history(last=3)

        assert memory.history(last=3) == asyncio.run(main())


class TestBounds:
    @pytest.mark.parametrize("kind", ["in memory", "sqlite"])
    def test_are_parts_of_the_whole(self, kind, tmp_path):
        """
        The newest so many of those before a record: the same events, flags and all.
        """
        store = InMemoryStore() if kind == "in memory" else SqliteStore(tmp_path / "talk.db")
        memory = eventful(store)
        whole = memory.history()
        for before in [None, *range(-1, 20)]:
            stop = 18 if before is None else before
            cut = memory.history(before=before)
            firm = [event for event in whole if event.rec < stop]
            assert firm == [event for event in cut if event in firm]
            assert len(cut) - len(firm) <= 1  # a run of appends may be cut short
            for last in range(14):
                assert cut[max(len(cut) - last, 0) :] == memory.history(last=last, before=before)
        assert () == memory.history(last=-1)
        store.close()

    def test_cut_a_run(self):
        """
        What is left of it is told.
        """
        memory = memory_of(*talk(3))

        assert ["record 3: 3 entries (1-3) appended, the last is user: q2"] == [
            str(event) for event in memory.history(before=4)
        ]

    def test_read_no_more_than_they_tell(self):
        """
        Of a long thread, a record for each event and one for what came before.
        """

        class Counting(InMemoryStore):
            read_so_far = 0

            def read(self, thread, **keys):
                records = super().read(thread, **keys)
                self.read_so_far += len(records)
                return records

        store = Counting()
        memory = memory_of(store=store)
        for _ in range(200):
            memory.append(*talk(5))
            memory.retract(1 if memory.view().sources.first == 1 else memory.view()[0].first)
        store.read_so_far = 0
        assert 4 == len(memory.history(last=4))
        assert store.read_so_far <= 8
        store.read_so_far = 0
        assert 400 == len(memory.history())
        assert store.read_so_far <= 401

    def test_say_what_a_later_revert_took_back(self):
        """
        Though the revert itself is beyond the bounds.
        """
        memory = memory_of(*talk(2))
        memory.compact(Window(2))
        memory.revert()

        assert [False] == [event.counts for event in memory.history(before=6, last=1)]

    def test_say_of_what_an_earlier_write_back(self):
        """
        Though that is before the bounds.
        """
        memory = memory_of(*talk(2))
        memory.compact(Window(2))
        memory.revert()
        memory.revert(6)

        assert ["record 7: redid record 5 (Window(2))"] == [
            str(event) for event in memory.history(last=1)
        ]


class TestEvent:
    def test_is_a_value(self):
        """
        Equal, hashable; it prints as a line.
        """
        event = Event(3, 1.5, "pinned", "entry 2 pinned", Span.one(2))

        assert {event} == {Event(3, 1.5, "pinned", "entry 2 pinned", Span.one(2))}
        assert "record 3: entry 2 pinned" == str(event)

    def test_of_a_fork_at_the_start(self):
        """
        A thread that is nothing but a fork tells what it shares.
        """
        store = InMemoryStore()
        memory_of(*talk(1), store=store)
        store.append("other", [Forked("default", 1)])

        assert ["appended", "forked"] == [e.kind for e in Memory(store, "other").history()]
