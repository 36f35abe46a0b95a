"""
Both stores keep the contract, and agree on logs in which anything happens.
"""

from functools import partial
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unabridged.codec_states import state_from_json, state_to_json
from unabridged.errors import LogConflictError, StoreError
from unabridged.memory import Memory
from unabridged.messages import Message, Reasoning, ToolCall, assistant, system, tool, user
from unabridged.records import (
    Appended,
    Compacted,
    Drop,
    Fold,
    Forked,
    Hold,
    Insert,
    Note,
    Noted,
    Pinned,
    Reverted,
)
from unabridged.spans import Span
from unabridged.states import ThreadState, rebuilt
from unabridged.stores import InMemoryStore, SqliteStore
from unabridged.testing import logs
from unabridged.testing.stores import check_store


class TestCheckStore:
    def test_in_memory_store(self):
        """
        `InMemoryStore` keeps the contract.
        """
        check_store(InMemoryStore)
        check_store(InMemoryStore, retaining=InMemoryStore)

    def test_sqlite_store(self, tmp_path):
        """
        `SqliteStore` keeps the contract in a file.
        """
        paths = (tmp_path / f"{number}.db" for number in range(100))

        check_store(
            lambda: SqliteStore(next(paths), synchronous="OFF"),
            retaining=lambda retain: SqliteStore(next(paths), retain, synchronous="OFF"),
        )

    def test_sqlite_store_in_memory(self):
        """
        And it does without one.
        """
        make = partial(SqliteStore, ":memory:")

        check_store(make, retaining=make)

    @pytest.mark.parametrize(
        ("broken", "claim"),
        [
            ("Numbering", "entries are numbered from 1"),
            ("Forgetful", "what was written is read"),
            ("Trusting", "expected a LogConflictError"),
            ("Stale", "the state is that of the records"),
            ("Careless", "deleting what forks share: expected a StoreError"),
            ("Hasty", "a fork has the records up to there"),
            ("Leaking", "the newest across the fork"),
        ],
    )
    def test_names_what_is_broken(self, broken, claim):
        """
        A store that breaks a claim is told which.
        """
        with pytest.raises(AssertionError, match=f"{broken}: .*{claim}"):
            check_store(BROKEN[broken])

    def test_names_broken_bounds(self):
        """
        A store that should be bounded and is not is told so.
        """
        with pytest.raises(AssertionError, match="older whole blocks go, pins stay"):
            check_store(InMemoryStore, retaining=lambda _: InMemoryStore())


class Numbering(InMemoryStore):
    def append(self, thread, bodies, *, expect=None, at=None):
        receipt = super().append(thread, bodies, expect=expect, at=at)
        return evolve(
            receipt, entries=tuple(evolve(one, seq=one.seq - 1) for one in receipt.entries)
        )


class Forgetful(InMemoryStore):
    def read(self, thread, **keys):
        return tuple(one for one in super().read(thread, **keys) if not isinstance(one.body, Noted))


class Trusting(InMemoryStore):
    def append(self, thread, bodies, *, expect=None, at=None):
        return super().append(thread, bodies, at=at)


class Stale(InMemoryStore):
    def append(self, thread, bodies, *, expect=None, at=None):
        receipt = super().append(thread, bodies, expect=expect, at=at)
        if receipt.state.folds:
            return evolve(receipt, state=ThreadState())
        return receipt


class Careless(InMemoryStore):
    def delete(self, thread):
        self._threads.pop(thread, None)


class Hasty(InMemoryStore):
    def append(self, thread, bodies, *, expect=None, at=None):
        if bodies and isinstance(bodies[0], Forked) and bodies[0].rec > 3:
            newest = self.state(bodies[0].thread).rec
            bodies = [Forked(bodies[0].thread, min(newest, max(bodies[0].rec, 20)))]
        return super().append(thread, bodies, expect=expect, at=at)


class Leaking(InMemoryStore):
    def read(self, thread, **keys):
        records = super().read(thread, **keys)
        return super().read("a", **keys) if thread == "b" and keys.get("last") else records


BROKEN: dict[str, Any] = {
    "Numbering": Numbering,
    "Forgetful": Forgetful,
    "Trusting": Trusting,
    "Stale": Stale,
    "Careless": Careless,
    "Hasty": Hasty,
    "Leaking": Leaking,
}

IDS = ["c1", "c2", "c3"]
words = st.sampled_from(["hi", "é\ud800\x00", ""])
new_messages = st.one_of(
    st.builds(user, words, id=st.none() | st.sampled_from(["m1", "m2", "m3"])),
    st.builds(system, words),
    st.builds(assistant, words),
    st.builds(
        lambda ids: assistant(calls=[ToolCall(id_, "f") for id_ in ids]),
        st.lists(st.sampled_from(IDS), min_size=1, max_size=3),
    ),
    st.builds(lambda id_: tool("x", call_id=id_), st.sampled_from(IDS)),
    st.builds(lambda: Message("assistant", Reasoning("hm"))),
)


@st.composite
def some_appends(draw: Any, store: InMemoryStore, thread: str = "a") -> list[Any]:
    """
    The bodies of one append that suits the thread as it is.
    """
    state = store.state(thread)
    spans = st.builds(
        Span.of,
        st.lists(st.integers(1, max(state.seq, 1)), min_size=1, max_size=3),
    )
    bodies: list[Any] = [
        Appended(0, message, draw(st.booleans()) and draw(st.booleans()))
        for message in draw(st.lists(new_messages, max_size=3))
    ]
    if not state.seq:
        return bodies
    records = store.read(thread, marks=("decided",))
    decided = [one.rec for one in records if isinstance(one.body, Compacted | Reverted)]
    steps = st.sampled_from(["Window(2)", "memory.retract", ""])
    changes = st.one_of(
        st.builds(Drop, spans, step=steps),
        st.builds(Fold, spans, st.builds(system, words), step=steps),
        st.builds(Insert, st.builds(system, words), st.integers(0, state.seq)),
        st.builds(Hold, spans),
    )
    upto = st.integers(max(state.rec - 2, 0), state.rec)
    decisions = [
        st.builds(Compacted, st.lists(changes, max_size=3).map(tuple), upto),
        st.builds(Pinned, spans, st.booleans()),
        st.builds(
            Noted,
            st.tuples(st.builds(Note, st.sampled_from(["cut", "answer"]), words, st.integers())),
        ),
    ]
    if decided:
        decisions.append(st.builds(Reverted, st.sampled_from(decided)))

    return [*bodies, *draw(st.lists(st.one_of(decisions), max_size=1))]


def outcome(store: Any, bodies: list[Any], expect: int | None, thread: str = "a") -> Any:
    try:
        return store.append(thread, bodies, expect=expect, at=1.5)
    except (LogConflictError, StoreError) as error:
        return str(error)


def everything_of(store: Any, thread: str = "a") -> Any:
    state = store.state(thread)
    span = Span.between(1, state.seq)
    return (
        state,
        store.read(thread),
        store.read(thread, marks=("decided",), last=2),
        store.entries(thread, span),
        [list(store.links(thread, after=after)) for after in (0, 3)],
        [store.find(thread, id_) for id_ in ("m1", "m2", "m3")],
        [store.note(thread, kind, "hi") for kind in ("cut", "answer")],
        store.threads(),
    )


class TestBothStores:
    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(st.data(), st.sampled_from([None, None, 1, 3, 6]))
    def test_agree(self, tmp_path_factory, data, retain):
        """
        On any log they have the same outcomes, states, records and entries.

        So it is when the file is opened anew; without a bound the state is that of the records.
        """
        path = tmp_path_factory.mktemp("agree") / "a.db"
        memory = InMemoryStore(retain)
        sqlite = SqliteStore(path, retain, synchronous="OFF")
        for _ in range(data.draw(st.integers(1, 10))):
            bodies = data.draw(some_appends(memory))
            expect = data.draw(st.sampled_from([None, None, None, memory.state("a").rec, 2]))

            assert outcome(memory, bodies, expect) == outcome(sqlite, bodies, expect)

            if data.draw(st.booleans()):
                sqlite.close()
                sqlite = SqliteStore(path, retain, synchronous="OFF")

            assert everything_of(memory) == everything_of(sqlite)
            if retain is None:
                assert memory.state("a") == rebuilt(sqlite.read("a"))
        sqlite.close()

    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(st.data(), st.sampled_from([None, None, None, 1, 4]))
    def test_agree_on_forks(self, tmp_path_factory, data, retain):
        """
        On any log of threads that fork and go on they have the same outcomes, states and records.

        Nothing that is shared is ever destroyed, and nothing of another thread is seen.
        """
        path = tmp_path_factory.mktemp("forks") / "a.db"
        memory = InMemoryStore(retain)
        sqlite = SqliteStore(path, retain, synchronous="OFF")
        names = st.sampled_from(["a", "b", "c"])
        for _ in range(data.draw(st.integers(3, 12))):
            thread, parent = data.draw(names), data.draw(names)
            move = data.draw(st.sampled_from(["append", "append", "fork", "delete", "reopen"]))
            if move == "delete":
                assert deleted(memory, thread) == deleted(sqlite, thread)
            elif move == "fork":
                rec = data.draw(st.integers(0, memory.state(parent).rec + 1))
                fork = [Forked(parent, rec)]
                assert outcome(memory, fork, None, thread) == outcome(sqlite, fork, None, thread)
            elif move == "reopen":
                sqlite.close()
                sqlite = SqliteStore(path, retain, synchronous="OFF")
            else:
                bodies = data.draw(some_appends(memory, thread))
                assert outcome(memory, bodies, None, thread) == outcome(
                    sqlite, bodies, None, thread
                )
            for name in memory.threads():
                assert everything_of(memory, name) == everything_of(sqlite, name)
                if not memory.state(name).lost:
                    assert memory.state(name) == rebuilt(sqlite.read(name))
                there = Span.of(entry.seq for entry in memory.entries(name, EVER))
                assert there == Span.between(1, memory.state(name).seq) - memory.state(name).lost
        sqlite.close()


EVER = Span.between(1, 10_000)


def deleted(store: Any, thread: str) -> str:
    try:
        store.delete(thread)
    except StoreError as error:
        return str(error)
    return ""


class TestRetain:
    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(logs(), st.sampled_from([1, 2, 4]), st.booleans())
    def test_a_memory_reads_on_whatever_is_destroyed(self, log, retain, in_a_file):
        """
        Its view holds only entries that are there, also where they were reworded or came back.
        """
        store = SqliteStore(":memory:", retain) if in_a_file else InMemoryStore(retain)
        memory = Memory(store)
        for body in log.bodies:
            if not isinstance(body, Forked):
                outcome(store, [body], None, "default")
            there = Span.of(entry.seq for entry in memory.entries())
            alone = Span.of(item.first for item in memory.view() if not item.wide)

            assert alone <= there
            assert Memory(store).view().messages == memory.view().messages
        store.close()

    @pytest.mark.parametrize("kind", ["in memory", "in a file"])
    def test_a_rewording_goes_with_its_entry(self, kind, tmp_path):
        """
        Also where an earlier version kept it; a stand-in for several entries stays.
        """
        path = tmp_path / "a.db"
        store = InMemoryStore(4) if kind == "in memory" else SqliteStore(path, 4)
        store.append("a", [Appended(0, user(text)) for text in ("1", "2", "3", "4")])
        folds = [Fold(Span.of([1, 2]), system("told")), Fold(Span.one(3), user("three"))]
        store.append("a", [Compacted(folds, 4)])
        store.append("a", [Appended(0, user(text)) for text in ("5", "6", "7")])
        left, state = (folds[0],), store.state("a")
        old = evolve(state, folds=tuple(folds))
        store.close()

        assert left == state.folds
        assert left == state_from_json(state_to_json(old)).folds
