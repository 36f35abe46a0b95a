"""
Two views side by side.
"""

import asyncio

import pytest
from attrs import evolve
from hypothesis import given

from unabridged import AsyncMemory, Memory, Window, assistant, run, system, user
from unabridged.differences import Diff, Difference, difference
from unabridged.errors import ConfigError
from unabridged.records import Compacted, Drop, Fold, Insert
from unabridged.results import TrimResult
from unabridged.spans import NOTHING, Span
from unabridged.testing import logs, talk, view_of
from unabridged.testing.log import THREAD


def memory_of(*messages, **options):
    """
    A memory that holds these messages.
    """
    memory = Memory(**options)
    memory.append(*messages)

    return memory


def changed(view, *changes):
    """
    The result of these changes.
    """
    return TrimResult(view, changes)


def fold(first, last, text="in short"):
    return Fold(Span.between(first, last), system(text))


def told(diff):
    """
    The differences, without the title.
    """
    return str(diff).split("\n")[2:]


VIEW = view_of(talk(3))


class TestDifference:
    def test_none(self):
        """
        A view and itself.
        """
        diff = difference(VIEW, changed(VIEW))

        assert () == diff.differences
        assert ["no difference"] == told(diff)

    def test_only_in_one(self):
        """
        What left, and, the other way round, what came.
        """
        result = changed(VIEW, Drop(Span.between(1, 2)))

        assert ["- entry 1: user: q1", "- entry 2: assistant: a1"] == told(difference(VIEW, result))
        assert ["+ entry 1: user: q1", "+ entry 2: assistant: a1"] == told(difference(result, VIEW))
        assert Span.between(1, 2) == difference(VIEW, result).only_in_a
        assert Span.between(1, 2) == difference(result, VIEW).only_in_b

    def test_reworded(self):
        """
        In one, or in both to other words; in both to the same words is no difference.
        """
        one = changed(VIEW, fold(1, 1, "x"))
        other = changed(VIEW, fold(1, 1, "y"))

        assert [
            "~ entry 1: reworded",
            "    - entry 1: user: q1",
            "    + entry 1: system: x",
        ] == told(difference(VIEW, one))
        assert Span.one(1) == difference(one, other).reworded
        assert () == difference(one, changed(VIEW, fold(1, 1, "x"))).differences

    def test_folded(self):
        """
        One message for several, against these several.
        """
        result = changed(VIEW, fold(1, 3))

        assert [
            "~ entries 1-3: folded",
            "    - entry 1: user: q1",
            "    - entry 2: assistant: a1",
            "    - entry 3: user: q2",
            "    + entries 1-3: system: in short",
        ] == told(difference(VIEW, result))
        assert Span.between(1, 3) == difference(result, VIEW).folded

    def test_folded_differently(self):
        """
        Stand-ins that overlap hang together; what only one of them tells is only there.
        """
        a = changed(VIEW, fold(1, 3), Drop(Span.one(6)))
        b = changed(VIEW, Drop(Span.one(1)), fold(3, 4, "later"))

        assert [
            "- entry 1: system: in short",
            "~ entries 2-4: folded",
            "    - entries 1-3: system: in short",
            "    - entry 4: assistant: a2",
            "    + entry 2: assistant: a1",
            "    + entries 3-4: system: later",
            "+ entry 6: assistant: a3",
        ] == told(difference(a, b))
        assert () == difference(a, a).differences
        other_words = changed(VIEW, fold(1, 3, "so"), Drop(Span.one(6)))
        assert Span.between(1, 3) == difference(a, other_words).folded

    def test_put_in(self):
        """
        Messages that stand for no entry, as often as one has them more.
        """
        monday = Insert(system("It is Monday."), 2)
        one, two = changed(VIEW, monday), changed(VIEW, monday, monday)

        assert ["+ put in: system: It is Monday."] == told(difference(VIEW, one))
        assert ["- put in: system: It is Monday."] == told(difference(two, one))
        assert (Difference("only in b", NOTHING, (), (one.view[2],)),) == difference(
            VIEW, one
        ).differences

    def test_what_is_hidden_is_not_shown(self):
        """
        Of a result, what is sent counts.
        """
        view = view_of([system("rule"), user("hi")])

        assert ["- entry 1: system: rule"] == told(
            difference(view, evolve(changed(view), hide_system=True))
        )

    def test_threads_that_went_different_ways(self):
        """
        The same number, another message.
        """
        memory = memory_of(*talk(1))
        fork = memory.fork("other", at=1)
        fork.append(assistant("b1"))

        assert ["- entry 2: assistant: a1", "+ entry 2: assistant: b1"] == told(
            memory.diff(memory.view(), fork.view())
        )

    @given(logs())
    def test_each_entry_is_told_once(self, one):
        """
        Of two views of one log, each entry is the same in both or in one difference.
        """
        store = one.store()
        record = run(Window(2), one.view()).record(replace=True)
        if record:
            store.append(THREAD, [record])
        memory = Memory(store, THREAD)
        now = memory.view()
        for rec in range(0, len(one.bodies) + 1, 3):
            then = memory.view(at=rec)
            diff = difference(then, now)
            parts = [each.entries for each in diff.differences]
            named = Span.union(parts)
            assert sum(map(len, parts)) == len(named)
            assert diff.only_in_a == then.sources - now.sources
            assert diff.only_in_b == now.sources - then.sources
            assert named <= then.sources | now.sources
            same = [shown(view, named) for view in (then, now)]
            assert same[0] == same[1]
            assert {each.kind for each in difference(now, then).differences} == {
                SWAPPED.get(each.kind, each.kind) for each in diff.differences
            }

    def test_is_linear(self):
        """
        A stand-in for very many against another one is a few ranges.
        """
        many = 1_000_000_000
        spans = (Span.between(1, many - 1), Span.between(1, many))
        items = [evolve(VIEW[0], sources=span, stands_in=True) for span in spans]
        wide = [VIEW.replaced([item], hidden=NOTHING, sources=None, pins=NOTHING) for item in items]

        assert Span.one(many) == difference(*wide).only_in_b


SWAPPED = {"only in a": "only in b", "only in b": "only in a"}


def shown(view, but):
    return [(item.message, item.sources) for item in view if not item.sources & but]


class TestDiff:
    def test_of_records(self):
        """
        By their numbers; the second is by default what is now.
        """
        memory = memory_of(*talk(2))
        memory.compact(Window(2))
        memory.append(user("q3"))

        assert (
            "a: record 4, 4 messages\n"
            "b: record 6, 3 messages\n"
            "- entry 1: user: q1\n"
            "- entry 2: assistant: a1\n"
            "+ entry 5: user: q3"
        ) == str(memory.diff(4))
        assert memory.diff(4, 6) == memory.diff(4)
        assert ["+ entry 4: assistant: a2"] == told(memory.diff(3, 4))

    def test_of_a_context(self):
        """
        Against the log's own view.
        """
        memory = memory_of(*talk(2))

        assert (
            "a: record 4, 4 messages\n"
            "b: a context of record 4, 1 message\n"
            "- entry 1: user: q1\n"
            "- entry 2: assistant: a1\n"
            "- entry 4: assistant: a2"
        ) == str(memory.diff(memory.view(), memory.context(lambda view, _: [view[2]])))

    def test_is_a_value(self):
        """
        Equal and hashable.
        """
        memory = memory_of(*talk(2))
        memory.retract(1)

        assert {memory.diff(4)} == {memory.diff(4)}
        assert Diff("x", "y") == Diff("x", "y", ())

    @pytest.mark.parametrize(
        ("a", "why"),
        [
            ("3", "diff: a: expected the number of an entry or record"),
            ([], "diff: a: expected the number of an entry or record"),
        ],
    )
    def test_refuses_what_is_no_view(self, a, why):
        """
        A text, a list.
        """
        with pytest.raises(ConfigError, match=why):
            memory_of(*talk(1)).diff(a)

    def test_refuses_what_is_no_view_by_itself(self):
        """
        As the function does too.
        """
        with pytest.raises(
            ConfigError, match="b must be a record's number, a View or a TrimResult"
        ):
            difference(VIEW, 3)

    def test_refuses_a_view_that_is_not_loaded(self):
        """
        The message says what to give instead.
        """
        memory = memory_of(*talk(200), strategy=Window(2))
        part = memory.context().before

        with pytest.raises(ConfigError, match=r"a is a view of which the entries 1-\d+ are not lo"):
            memory.diff(part)

    def test_awaited(self):
        """
        The same.
        """
        memory = memory_of(*talk(2))
        memory.retract(1)

        async def main():
            return await AsyncMemory(memory.store).diff(2, memory.view())

        assert memory.diff(2) == asyncio.run(main())

    def test_what_a_write_back_did(self):
        """
        Before it against after it.
        """
        memory = memory_of(*talk(2))
        memory.store.append("default", [Compacted((fold(1, 2), fold(3, 3)), 4)])

        assert (Span.between(1, 2), Span.one(3)) == (memory.diff(4).folded, memory.diff(4).reworded)
