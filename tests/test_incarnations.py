"""
Incarnations: what is worked out from a thread that is deleted meanwhile never reaches another one.
"""

import asyncio
import contextlib
import functools
import inspect
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve

import unabridged
from unabridged import (
    AsyncMemory,
    Memory,
    Summarize,
    Window,
    assistant,
    custom,
    tokens,
    user,
)
from unabridged.contract import Ask, Search
from unabridged.errors import (
    ConfigError,
    LogConflictError,
    StepError,
    StoreError,
    UnabridgedError,
)
from unabridged.records import Appended, Compacted, Drop, Forked, Note, Noted, Reverted
from unabridged.results import keep, unchanged
from unabridged.spans import Span
from unabridged.states import ThreadState, rebuilt
from unabridged.stores import InMemoryStore, InThread, SqliteStore
from unabridged.testing import check_store, texts

OLD = [user(f"old {n}") if n % 2 else assistant(f"old {n}") for n in range(1, 9)]
NEW = [user(f"new {n}") if n % 2 else assistant(f"new {n}") for n in range(1, 9)]
MORE = [*NEW, *[user(f"new {n}") for n in range(9, 21)]]
DATA_FILES = Path(__file__).parent / "data"


def said(*messages):
    return [Appended(0, message) for message in messages]


def begin(store, *messages):
    """
    The thread "t" with these messages, two write-backs and a revert, always at the same time.
    """
    store.append("t", said(*messages), at=1.0)
    rec = store.state("t").rec
    dropped = 2 if messages[0].text.startswith("old") else 5
    store.append("t", [Compacted((Drop(Span.one(dropped), step="s"),), rec)], at=1.0)
    store.append("t", [Compacted((Drop(Span.one(3), step="s"),), rec + 1)], at=1.0)
    store.append("t", [Reverted(rec + 2)], at=1.0)


class Meddled:
    """
    A store to which somebody else does something right before its nth call.
    """

    blocking = False

    def __init__(self, store, deed, nth):
        self.store = store
        self.deed = deed
        self.nth = nth
        self.calls = 0
        self.met = False
        # a store that cannot be told is asked right before it is written to: that moment is left
        self.never = ("append", "delete") if isinstance(store, Older) else ()

    def __getattr__(self, name):
        method = getattr(self.store, name)

        @functools.wraps(method)
        def call(*args, **options):
            self.calls += 1
            if self.calls == self.nth and name not in self.never:
                self.met = True
                self.deed()
            return method(*args, **options)

        return call


class Older(InMemoryStore):
    """
    A store that was written before there were incarnations.
    """

    def append(self, thread, bodies, *, expect=None, at=None):
        return super().append(thread, bodies, expect=expect, at=at)

    def delete(self, thread):
        super().delete(thread)


@pytest.fixture(params=["in memory", "in a file", "older"])
def stores(request, tmp_path):
    """
    A store, and what another process that uses it has.
    """
    if request.param == "in a file":
        path = tmp_path / "a.db"
        with (
            SqliteStore(path, synchronous="OFF") as one,
            SqliteStore(path, synchronous="OFF") as other,
        ):
            yield one, other
        return
    store = InMemoryStore() if request.param == "in memory" else Older()
    yield store, store


SUMMARY = Summarize(keep_last=2)
BILLED = tokens.calibrated(tokens.words)
NUMBERED = Window(4, down_to=2)


def noting(view, _context):
    return evolve(unchanged(view), notes=(Note("fact", "k", len(view)),))


def failing(view, _context):
    msg = "no"
    raise ValueError(msg)


OPERATIONS = {
    "summary": lambda memory: memory.context(SUMMARY),
    "summary, written": lambda memory: memory.context(evolve(SUMMARY, replace=True)),
    "cut": lambda memory: memory.context(NUMBERED),
    "cut, written": lambda memory: memory.context(NUMBERED, replace=True),
    "note": lambda memory: memory.context(noting),
    "failure after an answer": lambda memory: memory.context(SUMMARY | custom(failing)),
    "compact": lambda memory: memory.compact(SUMMARY | Window(3)),
    "revert": lambda memory: memory.revert(),
    "revert one": lambda memory: memory.revert(9),
    "pin": lambda memory: memory.pin(1),
    "unpin": lambda memory: memory.unpin(1),
    "retract": lambda memory: memory.retract(1),
    "rewind": lambda memory: memory.rewind(1),
    "clear": lambda memory: memory.clear(),
    "fork": lambda memory: memory.fork("f"),
    "fork at": lambda memory: memory.fork("f", at=3),
}
READS = {
    "entries": (lambda memory: memory.entries(), str),
    "view": (lambda memory: memory.view(), lambda view: str(texts(view))),
    "view at": (lambda memory: memory.view(at=8), lambda view: str(texts(view))),
    "context": (lambda memory: memory.context(), lambda result: result.text()),
    "window": (lambda memory: memory.context(Window(3)), lambda result: result.text()),
    "diff": (lambda memory: memory.diff(8), str),
    "history": (lambda memory: memory.history(), str),
    "newest of history": (lambda memory: memory.history(last=1), str),
    "to_dict": (lambda memory: memory.to_dict(), str),
    "fetch": (lambda memory: memory.fetch(4), str),
    "find": (lambda memory: memory.find("old new"), str),
    "summary": (lambda memory: memory.summary(), str),
}


def done(memory, operation):
    """
    What comes of it, one of our errors too.
    """
    try:
        outcome = operation(memory)
        if inspect.isawaitable(outcome):

            async def awaited():
                return await outcome

            outcome = asyncio.run(awaited())
    except UnabridgedError as error:
        return error
    return outcome


def all_of(store):
    return {name: store.read(name) for name in store.threads()}


def deeds(other):
    """
    What somebody else does to the thread meanwhile.
    """

    def anew(messages):
        other.delete("t")
        begin(other, *messages)

    return {
        "deleted": lambda: other.delete("t"),
        "begun anew": lambda: anew(NEW),
        "begun anew, longer": lambda: anew(MORE),
        "begun anew, shorter": lambda: (other.delete("t"), other.append("t", said(NEW[0]), at=1.0)),
        "twice": lambda: (anew(MORE), anew(NEW)),
    }


@pytest.mark.parametrize("kind", [Memory, AsyncMemory])
@pytest.mark.parametrize("deed", deeds(None))
@pytest.mark.parametrize("operation", OPERATIONS)
class TestOperations:
    def test_write_nothing_to_another_incarnation(self, stores, kind, deed, operation):
        """
        Wherever between two calls of the store the thread is deleted, and whatever is begun anew.
        """
        store, other = stores
        elsewhere = InMemoryStore()
        begin(elsewhere, *OLD)
        deeds(elsewhere)[deed]()
        nth, calls = 2, 3
        while nth <= calls:
            begin(other, *OLD)
            meddled = Meddled(store, deeds(other)[deed], 0)
            if deed not in {"begun anew", "twice"} and "fork" not in operation:
                meddled.never = ()  # there the last record tells
            memory = kind(meddled, "t", ask=lambda _: "sum")
            done(memory, lambda memory: memory.view())
            meddled.calls, meddled.nth = 0, nth
            outcome = done(memory, OPERATIONS[operation])
            calls = meddled.calls

            assert not meddled.met or all_of(elsewhere) == all_of(other), (nth, outcome)

            for name in ("f", "t"):
                other.delete(name)
            nth += 1

        assert calls >= 2


@pytest.mark.parametrize("kind", [Memory, AsyncMemory])
@pytest.mark.parametrize("deed", ["deleted", "begun anew", "begun anew, longer"])
@pytest.mark.parametrize("read", READS)
class TestReads:
    def test_show_one_incarnation(self, stores, kind, deed, read):
        """
        What was there before or what is there now, never some of each.
        """
        store, other = stores
        call, words = READS[read]

        def told_of(memory):
            outcome = done(memory, call)
            return str(outcome) if isinstance(outcome, UnabridgedError) else words(outcome)

        elsewhere = InMemoryStore()
        begin(elsewhere, *OLD)
        before = told_of(Memory(elsewhere, "t"))
        deeds(elsewhere)[deed]()
        after = told_of(Memory(elsewhere, "t"))
        nth, calls = 2, 3
        while nth <= calls:
            begin(other, *OLD)
            meddled = Meddled(store, deeds(other)[deed], nth)
            told = told_of(kind(meddled, "t"))
            calls = meddled.calls

            assert told in {before, after}, nth

            other.delete("t")
            nth += 1


DISCARDED = "the thread was deleted while this context was made"


def deleting(other, *messages):
    """
    A model that answers once the thread was deleted, and begun anew with these messages.
    """
    asked = []

    def ask(_):
        asked.append(True)
        other.delete("t")
        if messages:
            begin(other, *messages)
        return "The old summary."

    ask.asked = asked
    return ask


class TestContext:
    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    @pytest.mark.parametrize("replace", [None, True])
    def test_says_that_the_thread_is_gone(self, stores, kind, replace, caplog):
        """
        The answer is discarded, no thread is made, and it shows what is there: nothing.
        """
        store, other = stores
        begin(other, *OLD)
        memory = kind(store, "t", SUMMARY, ask=deleting(other))
        result = done(memory, lambda memory: memory.context(replace=replace))

        assert () == result.messages
        assert (0, 1) == (result.rec, sum(DISCARDED in told for told in result.warnings))
        assert DISCARDED in caplog.text
        assert () == other.threads()
        assert "" == done(memory, lambda memory: memory.summary())

    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    @pytest.mark.parametrize("new", [NEW, MORE, OLD], ids=["as long", "longer", "the same"])
    def test_says_that_it_was_begun_anew(self, stores, kind, new):
        """
        It shows the new thread without any summary, asks nobody more, and the next one asks.
        """
        store, other = stores
        begin(other, *OLD)
        ask = deleting(other, *new)
        memory = kind(store, "t", SUMMARY, ask=ask)
        result = done(memory, lambda memory: memory.context())
        elsewhere = InMemoryStore()
        begin(elsewhere, *new)

        assert texts(Memory(elsewhere, "t").view()) == texts(result)
        assert 1 == sum(DISCARDED in told for told in result.warnings)
        assert 1 == sum("not asked, thread 't' was deleted" in told for told in result.warnings)
        assert all_of(elsewhere) == all_of(other)
        assert [True] == ask.asked

        memory = kind(store, "t", SUMMARY, ask=lambda _: "A new summary.")
        again = done(memory, lambda memory: memory.context())

        assert ("A new summary.", ()) == (again.messages[0].text.split("\n")[-1], again.warnings)

    def test_warns_of_nothing_where_the_thread_was_deleted_before(self, stores):
        """
        It is made of what is there when it begins.
        """
        store, other = stores
        begin(other, *OLD)
        memory = Memory(store, "t", Window(2))
        memory.context()
        other.delete("t")
        begin(other, *NEW)

        assert ((), ["new 7", "new 8"]) == (memory.context().warnings, texts(memory.context()))

    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    def test_shows_what_is_there_also_where_it_writes_nothing(self, stores, kind):
        """
        What a search found in the deleted thread is forgotten too, and looked for again.
        """
        store, other = stores
        begin(other, *OLD)
        queries = []

        def search(request):
            if not queries:
                other.delete("t")
                begin(other, *NEW)
            queries.append(request.query)
            return ((len(queries), 1.0),)

        def found(view, _context):
            ((seq, _),) = yield Search("x", 1)
            return keep(view, [item for item in view if item.first == seq], reason="found")

        memory = kind(store, "t", found, search=search)
        result = done(memory, lambda memory: memory.context())

        assert (["x", "x"], ["new 1", "new 2", "new 7", "new 8"]) == (queries, texts(result))
        assert DISCARDED in result.warnings[0]

    def test_forgets_the_prefix_of_a_deleted_thread(self):
        """
        Nothing is kept of what was sent before.
        """
        store = InMemoryStore()
        begin(store, *OLD)
        memory = Memory(store, "t")
        memory.context()
        store.delete("t")
        begin(store, *OLD)

        assert Memory(store, "t").context().kept == memory.context().kept

    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    def test_with_a_note_begins_no_thread(self, stores, kind):
        """
        An empty thread stays without a record, also when a model was asked or all is written.
        """
        store, other = stores

        def asking(view, _context):
            yield Ask(())
            return noting(view, _context)

        memory = kind(store, "t", ask=lambda _: "sum")
        for strategy in (noting, asking):
            for replace in (None, True, False):
                operation = functools.partial(
                    lambda memory, **options: memory.context(**options),
                    strategy=strategy,
                    replace=replace,
                )
                result = done(memory, operation)

                assert ("notes are kept beside messages" in result.warnings[-1]) is True
                assert () == other.threads()

    def test_keeps_an_answer_for_a_thread_that_others_append_to(self, stores):
        """
        It is the same incarnation, whoever goes on with it.
        """
        store, other = stores
        begin(other, *OLD)

        def ask(_):
            other.append("t", said(user("meanwhile")))
            return "A summary."

        memory = Memory(store, "t", SUMMARY, ask=ask)

        assert () == memory.context().warnings
        assert "A summary." == memory.summary()

    def test_in_the_background_writes_nothing(self, stores):
        """
        The result in the future says so, and the new thread is untouched.
        """
        store, other = stores
        begin(other, *OLD)
        memory = Memory(store, "t", SUMMARY, ask=deleting(other, *NEW))
        result = memory.compact(wait=False).result(30)
        elsewhere = InMemoryStore()
        begin(elsewhere, *NEW)

        assert all_of(elsewhere) == all_of(other)
        assert 1 == sum(DISCARDED in told for told in result.warnings)

    def test_in_the_background_of_a_task(self, stores):
        """
        As of a thread.
        """
        store, other = stores
        begin(other, *OLD)

        async def main():
            memory = AsyncMemory(store, "t", SUMMARY, ask=deleting(other))
            task = await memory.compact(wait=False)
            return await task

        assert 1 == sum(DISCARDED in told for told in asyncio.run(main()).warnings)
        assert () == other.threads()

    def test_that_fails_says_that_no_answer_is_kept(self, stores):
        """
        What was answered before a step failed belongs to the deleted thread.
        """
        store, other = stores
        begin(other, *OLD)

        def stopped(_view, _context):
            other.delete("t")
            begin(other, *NEW)
            msg = "no"
            raise ValueError(msg)

        memory = Memory(store, "t", SUMMARY | custom(stopped), ask=lambda _: "sum")
        with pytest.raises(StepError) as caught:
            memory.context()

        assert ["what was answered before it is not kept"] == [
            note.split(":")[0] for note in caught.value.__notes__
        ]
        assert () == other.state("t").notes


NUMBERED_BY = {
    "pin": lambda memory: memory.pin(1),
    "unpin": lambda memory: memory.unpin(1),
    "retract": lambda memory: memory.retract(1),
    "rewind": lambda memory: memory.rewind(1),
    "revert": lambda memory: memory.revert(9),
    "fork": lambda memory: memory.fork("f", at=3),
    "expect": lambda memory: memory.append(user("x"), expect=11),
}


class TestNumbers:
    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    @pytest.mark.parametrize("decide", NUMBERED_BY)
    def test_of_a_deleted_thread_are_refused(self, stores, kind, decide):
        """
        They were read in another conversation; once this one is read they are its own.
        """
        store, other = stores
        begin(other, *OLD)
        memory = kind(store, "t")
        done(memory, lambda memory: memory.entries())
        other.delete("t")
        begin(other, *NEW)
        before = all_of(other)

        assert isinstance(done(memory, NUMBERED_BY[decide]), LogConflictError)
        assert before == all_of(other)

        done(memory, lambda memory: memory.history())

        assert not isinstance(done(memory, NUMBERED_BY[decide]), UnabridgedError)

    def test_of_a_deleted_fork_are_refused(self, stores):
        """
        A fork is known from when it is made.
        """
        store, other = stores
        begin(other, *OLD)
        fork = Memory(store, "t").fork("f")
        other.delete("f")
        other.append("f", said(*NEW))

        with pytest.raises(LogConflictError, match="pin: thread 'f' was deleted and begun anew"):
            fork.pin(1)

    def test_are_taken_where_nothing_was_read(self, stores):
        """
        Of a memory that is new, or whose thread was empty.
        """
        store, other = stores
        memory = Memory(store, "t")
        assert () == memory.entries()
        begin(other, *OLD)

        assert 12 == memory.pin(1).rec

    def test_say_that_there_is_none_where_the_thread_is_gone(self, stores):
        """
        As in a thread that never was.
        """
        store, other = stores
        begin(other, *OLD)
        memory = Memory(store, "t")
        memory.view()
        other.delete("t")

        with pytest.raises(ConfigError, match="thread 't' has no entry 1; it holds none"):
            memory.pin(1)
        with pytest.raises(ConfigError, match="has no write-back or retraction in force"):
            memory.revert()
        assert None is memory.clear()
        assert () == other.threads()


class TestMessageIds:
    def test_of_a_deleted_thread_are_not_known(self, stores):
        """
        Neither equal messages nor others; whoever deleted it.
        """
        store, other = stores
        memory = Memory(store, "t")
        memory.append(user("hi", id="m1"), user("there", id="m2"))
        other.delete("t")
        appended = memory.append(user("hi", id="m1"), user("something else", id="m2"))

        assert (2, ()) == (len(appended.entries), appended.known)
        assert ["hi", "something else"] == texts(memory.view())


class TestAppend:
    def test_goes_on_from_the_new_thread(self, stores):
        """
        What was loaded of the old one is let go of, also where the numbers would go on.
        """
        store, other = stores
        memory = Memory(store, "t")
        memory.append(*OLD)
        memory.view()
        other.delete("t")
        other.append("t", said(*NEW))
        memory.append(user("new 9"))

        assert [f"new {n}" for n in range(1, 10)] == texts(memory.view())


class TestReportUsage:
    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    def test_notes_nothing_in_another_incarnation(self, stores, kind):
        """
        Deleted before, or between its look and its note; the same time tells nothing.
        """
        store, other = stores
        begin(other, *OLD)
        for nth in (1, 2):
            meddled = Meddled(store, deeds(other)["begun anew"], 0)
            memory = kind(meddled, "t", count=BILLED)
            result = done(memory, lambda memory: memory.context())
            meddled.calls, meddled.nth = 0, nth
            report = functools.partial(kind.report_usage, result=result, input_tokens=9)
            told = done(memory, report)

            assert not meddled.met or "or that was deleted since" in str(told)
            assert () == other.state("t").notes

    def test_of_an_empty_thread_begins_none(self, stores):
        """
        A prompt that is not in the log was sent alone.
        """
        store, other = stores
        memory = Memory(store, "t", count=BILLED)
        result = memory.context(system="Be brief.")

        assert 9 == memory.report_usage(result, input_tokens=9).usage.input_tokens
        assert () == other.threads()


class TestFromDict:
    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    @pytest.mark.parametrize("deed", deeds(None))
    def test_writes_all_or_leaves_what_others_began(self, stores, kind, deed):
        """
        Half of a log is never put into a thread that was begun anew.
        """
        store, other = stores
        begin(other, *OLD)
        data = Memory(other, "t").to_dict()
        other.delete("t")
        elsewhere = InMemoryStore()
        begin(elsewhere, *OLD)
        whole = all_of(elsewhere)
        deeds(elsewhere)[deed]()
        left = all_of(elsewhere)
        for nth in range(3, 12):
            meddled = Meddled(store, deeds(other)[deed], nth)
            read = functools.partial(kind.from_dict, data, meddled, "t")
            told = done(None, lambda _, read=read: read())

            assert not meddled.met or isinstance(told, LogConflictError)
            assert all_of(other) == (left if meddled.met else whole)

            other.delete("t")

    def test_leaves_what_others_append(self, stores):
        """
        It stops, and destroys nothing that was acknowledged.
        """
        store, other = stores
        begin(other, *OLD)
        data = Memory(other, "t").to_dict()
        other.delete("t")
        meddled = Meddled(store, lambda: other.append("t", said(user("mine"))), 5)
        meddled.never = ()

        with pytest.raises(LogConflictError, match="somebody else wrote to thread 't'"):
            Memory.from_dict(data, meddled, "t")
        assert "mine" == Memory(other, "t").entries()[-1].message.text

    def test_deletes_what_it_began(self, stores):
        """
        A log that cannot be, from its middle on, leaves nothing.
        """
        store, other = stores
        begin(other, *OLD)
        data = Memory(other, "t").to_dict()
        data["records"][9]["changes"][0]["sources"] = [99]

        with pytest.raises(UnabridgedError, match="names the entries 99"):
            Memory.from_dict(data, store, "u")
        assert ("t",) == other.threads()

    def test_deletes_nothing_that_was_begun_anew(self, stores):
        """
        Between its failure and the deletion.
        """
        store, other = stores
        begin(other, *OLD)
        data = Memory(other, "t").to_dict()
        data["records"][9]["changes"][0]["sources"] = [99]
        other.delete("t")
        meddled = Meddled(store, deeds(other)["begun anew"], 0)
        elsewhere = InMemoryStore()
        begin(elsewhere, *NEW)
        done(None, lambda _: Memory.from_dict(data, meddled, "t"))
        meddled.calls, meddled.nth = 0, meddled.calls - len(meddled.never) // 2
        done(None, lambda _: Memory.from_dict(data, meddled, "t"))

        assert all_of(elsewhere) == all_of(other)


class TestFork:
    def test_deletes_nothing_that_was_begun_anew(self):
        """
        Where the store cannot make forks, and what it began is deleted.
        """

        class Forkless(InMemoryStore):
            def append(self, thread, bodies, *, incarnation=None, **options):
                taken = [Noted(()) if isinstance(body, Forked) else body for body in bodies]
                return super().append(thread, taken, **options)

        store = Forkless()
        begin(store, *OLD)

        def meddle():
            store.delete("f")
            store.append("f", said(user("mine")))

        with pytest.raises(StoreError, match="cannot make forks"):
            Memory(Meddled(store, meddle, 4), "t").fork("f")
        assert ["mine"] == texts(Memory(store, "f").view())


class TestStates:
    def test_of_equal_logs_are_equal(self):
        """
        The id is no part of what the records come to, and is in no record.
        """
        one, other = InMemoryStore(), InMemoryStore()
        begin(one, *OLD)
        begin(other, *OLD)

        assert one.state("t") == other.state("t") == rebuilt(one.read("t"))
        assert one.state("t").id != other.state("t").id

    def test_without_an_id_go_by_their_first_record(self):
        """
        The same in all processes, and none where there is no record.
        """
        assert "born 1.5" == ThreadState(rec=3, born=1.5).incarnation
        assert "4f2a" == ThreadState(rec=3, born=1.5, id="4f2a").incarnation
        assert "" == ThreadState().incarnation


class TestFiles:
    def test_keep_it(self, tmp_path):
        """
        A store that opens the file later reads the same, and another after a deletion.
        """
        path = tmp_path / "a.db"
        with SqliteStore(path) as store:
            begin(store, *OLD)
            store.append("f", [Forked("t", 3)])
            first = [store.state(name).incarnation for name in "tf"]
        with SqliteStore(path) as store:
            store.append("t", said(user("on")))
            assert first == [store.state(name).incarnation for name in "tf"]
            store.delete("f")
            store.delete("t")
            begin(store, *OLD)
            assert 3 == len({*first, store.state("t").incarnation})

    def test_of_before_have_one_for_each_thread(self, tmp_path):
        """
        It is the same for all who open the file, and what was begun with it goes on.
        """
        path = tmp_path / "a.db"
        with contextlib.closing(sqlite3.connect(path)) as file:
            file.executescript((DATA_FILES / "sqlite_v1.sql").read_text("utf-8"))
        with SqliteStore(path) as one, SqliteStore(path) as other:
            known = [one.state(name).incarnation for name in "ab"]
            assert known == [other.state(name).incarnation for name in "ab"]
            assert 2 == len({"", *known}) - 1
            one.append("a", said(user("on")), incarnation=known[0])
            assert known[0] == other.state("a").incarnation
            one.delete("b")
            other.append("b", said(user("anew")), at=99.0)
            with pytest.raises(LogConflictError, match="deleted and begun anew since"):
                one.append("b", said(user("x")), incarnation=known[1])
        with contextlib.closing(sqlite3.connect(path)) as file, file:
            file.execute("UPDATE threads SET incarnation = NULL")  # as an earlier version begins it
        with SqliteStore(path) as store:
            assert 3 == len({*known, store.state("b").incarnation})


OTHER_PROCESS = """
import sys
from unabridged import Memory, user
from unabridged.stores import SqliteStore

store = SqliteStore(sys.argv[1])
store.delete("t")
if sys.argv[2] == "anew":
    Memory(store, "t").append(*[user(f"new {n}") for n in range(1, 9)])
"""


class TestProcesses:
    @pytest.mark.parametrize("what", ["deleted", "anew"])
    def test_one_deletes_what_another_summarizes(self, tmp_path, what):
        """
        While the model answers, and while a thread compacts in the background.
        """
        path = tmp_path / "a.db"
        source = str(Path(unabridged.__file__).parents[1])

        def ask(_):
            subprocess.run(  # noqa: S603
                [sys.executable, "-c", OTHER_PROCESS, str(path), what],
                check=True,
                env={**os.environ, "PYTHONPATH": source},
            )
            return "The old summary."

        for compact in (False, True):
            with Memory.open(path, "t", SUMMARY, ask=ask) as memory:
                memory.append(*OLD)
                result = memory.compact(wait=False).result(60) if compact else memory.context()
                new = [f"new {n}" for n in range(1, 9)] if what == "anew" else []

                assert (new, "") == (texts(result), memory.summary())
                assert 1 == sum(DISCARDED in told for told in result.warnings)
                assert (("t",) if new else ()) == memory.threads()
                memory.store.delete("t")


class Deaf(InMemoryStore):
    def append(self, thread, bodies, *, incarnation=None, **options):
        return super().append(thread, bodies, **options)


class Nameless(InMemoryStore):
    def append(self, thread, bodies, **options):
        receipt = super().append(thread, bodies, **options)
        kept = self._threads.get(thread)
        if kept:
            kept.state = evolve(kept.state, id=thread)
        return evolve(receipt, state=self.state(thread))


class Heir(InMemoryStore):
    def append(self, thread, bodies, **options):
        receipt = super().append(thread, bodies, **options)
        for body in bodies:
            if isinstance(body, Forked):
                kept = self._threads[thread]
                kept.state = evolve(kept.state, id=self.state(body.thread).id)
        return evolve(receipt, state=self.state(thread))


class Eager(InMemoryStore):
    def delete(self, thread, *, incarnation=None):
        super().delete(thread)


class TestCheckStore:
    @pytest.mark.parametrize(
        ("store", "claim"),
        [
            (Older, "what takes `incarnation=`"),
            (Deaf, "Appended for incarnation '': expected a LogConflictError"),
            (Nameless, "begun anew it is another"),
            (Heir, "each fork has its own"),
            (Eager, "deleting another leaves it"),
        ],
    )
    def test_names_what_is_broken(self, store, claim):
        """
        A store that does not tell incarnations apart is told where.
        """
        with pytest.raises(AssertionError, match=claim):
            check_store(store)


class TestInThread:
    def test_passes_the_incarnation_on(self, tmp_path):
        """
        Also where several appends are written together.
        """

        async def main():
            async with InThread(SqliteStore(tmp_path / "a.db", synchronous="OFF")) as store:
                await store.append("t", said(user("1")))
                mine = (await store.state("t")).incarnation
                meant = [mine, "another", None, mine, ""]
                found = await asyncio.gather(
                    *(store.append("t", said(user("on")), incarnation=each) for each in meant),
                    return_exceptions=True,
                )
                await store.delete("t", incarnation="another")
                left = await store.threads()
                await store.delete("t", incarnation=mine)
                return [type(one).__name__ for one in found], left, await store.threads()

        kinds, left, after = asyncio.run(main())

        assert ["Receipt", "LogConflictError", "Receipt", "Receipt", "LogConflictError"] == kinds
        assert (("t",), ()) == (left, after)

    def test_says_that_its_store_cannot_be_told(self):
        """
        Before anything is written or deleted.
        """

        async def main():
            store = InThread(Older())
            for call in (
                functools.partial(store.append, "t", said(user("1"))),
                functools.partial(store.delete, "t"),
            ):
                with pytest.raises(UnabridgedError, match="cannot be told which incarnation"):
                    await call(incarnation="x")
            return await store.threads()

        assert () == asyncio.run(main())
