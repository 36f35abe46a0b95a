"""
The SQLite store: reopening, damage, waiting for others, forks.
"""

import os
import sqlite3
import threading
from pathlib import Path

import pytest

from unabridged.errors import ConfigError, CorruptLogError, StoreError
from unabridged.messages import system
from unabridged.records import Appended, Compacted, Forked
from unabridged.spans import Span
from unabridged.states import ThreadState, rebuilt
from unabridged.stores import SqliteStore
from unabridged.stores.sqlite_schema import prepare
from unabridged.testing.store_samples import eventful, said

VERSION_1 = Path(__file__).parent.parent / "data" / "sqlite_v1.sql"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "talk.db"


def filled(path, *texts):
    """
    A file with these messages in thread "a".
    """
    with SqliteStore(path, synchronous="OFF") as store:
        store.append("a", said(*texts))
    return path


def changed(path, statement, *values):
    """
    Change the file behind the store's back.
    """
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement, values)
    connection.close()


class TestSqliteStore:
    def test_repr(self, path):
        """
        It says which file.
        """
        with SqliteStore(path) as store:
            assert f"SqliteStore({str(path)!r})" == repr(store)

    @pytest.mark.parametrize(
        ("keys", "why"),
        [
            ({"synchronous": "sometimes"}, "synchronous= must be one of OFF, NORMAL, FULL, EXTRA"),
            ({"timeout": -1}, "timeout= must be a number of seconds from 0"),
            ({"timeout": "long"}, "timeout= must be a number of seconds from 0"),
            ({"retain": 0}, "retain= must be an int of 1"),
        ],
    )
    def test_refuses_wrong_arguments(self, path, keys, why):
        """
        Arguments out of range are refused before a file is made.
        """
        with pytest.raises(ConfigError, match=why):
            SqliteStore(path, **keys)

        assert not path.exists()

    def test_levels(self, path):
        """
        The file is in WAL, at the level that was asked for.
        """
        with SqliteStore(path, synchronous="NORMAL") as store:
            assert [("wal",)] == store._file.rows("PRAGMA journal_mode")
            assert [(1,)] == store._file.rows("PRAGMA synchronous")

    def test_missing_directory(self, path):
        """
        A directory that is missing is named, and not made.
        """
        with pytest.raises(StoreError, match="its directory does not exist; create it first"):
            SqliteStore(path.parent / "none" / "talk.db")

    def test_a_directory(self, path):
        """
        A path that cannot be opened is a `StoreError`.
        """
        with pytest.raises(StoreError, match="this is a directory; give the path of a file in it"):
            SqliteStore(path.parent)

    def test_not_a_database(self, path):
        """
        A file of another kind is left as it is.
        """
        path.write_text("Dear diary, " * 500)

        with pytest.raises(StoreError, match="not an SQLite database"):
            SqliteStore(path)
        assert path.read_text() == "Dear diary, " * 500

    def test_another_programs_database(self, path):
        """
        A database with tables of the same names is left as it is.
        """
        changed(path, "CREATE TABLE records (song TEXT)")

        with pytest.raises(StoreError, match="a table 'records' of another program"):
            SqliteStore(path)

    def test_newer_schema(self, path):
        """
        A file written by a later version is refused.
        """
        filled(path, "hi")
        changed(path, "UPDATE unabridged SET version = 4")

        with pytest.raises(StoreError, match=r"schema 4, this one knows 3\); upgrade"):
            SqliteStore(path)

    def test_closed(self, path):
        """
        Whatever is asked of a closed store is a `StoreError`; closing it again is not.
        """
        store = SqliteStore(path)
        store.append("a", said("hi"))
        store.close()
        store.close()

        for use in (
            lambda: store.state("a"),
            lambda: store.append("a", said("again")),
            lambda: store.read("a"),
            lambda: store.entries("a", Span.one(1)),
            store.threads,
        ):
            with pytest.raises(StoreError, match="is closed; open a new SqliteStore"):
                use()

    def test_any_error_of_sqlite(self, path):
        """
        What SQLite raises is a `StoreError` that names the file.
        """
        with SqliteStore(path) as store:
            changed(path, "DROP TABLE records")

            with pytest.raises(StoreError, match=r"talk.db: no such table: records"):
                store.append("a", said("hi"))
            with pytest.raises(StoreError, match=r"talk.db: no such table: records"):
                store.entries("a", Span.one(1))
            assert store.threads() == ()


class TestReopening:
    def test_everything_is_there(self, path):
        """
        After each append of an eventful log, a new store sees what the old one did.
        """
        for bodies in eventful():
            with SqliteStore(path, synchronous="OFF") as store:
                state = store.append("a", bodies).state
                records = store.read("a")
            with SqliteStore(path, synchronous="OFF") as store:
                assert state == store.state("a")
                assert state == rebuilt(records)
                assert records == store.read("a")

    def test_reads_no_history(self, path):
        """
        The state is read from the thread's own row: history that is gone does not matter.
        """
        with SqliteStore(path, synchronous="OFF") as store:
            state = store.append("a", said(*"abc")).state
        changed(path, "DELETE FROM records WHERE rec < 3")

        with SqliteStore(path, synchronous="OFF") as store:
            assert state == store.state("a")
            assert 4 == store.append("a", said("d")).entries[0].seq

    def test_many_threads(self, path):
        """
        More threads than are kept in the process are all right.
        """
        with SqliteStore(path, synchronous="OFF") as store:
            store.append_many([(str(n), said(str(n)), 0, None) for n in range(600)])
            store.append_many([(str(n), said("again"), 1, None) for n in range(600)])

            assert 600 == len(store.threads())
            assert {2} == {store.state(str(n)).seq for n in range(600)}
            assert len(store._threads._kept) <= 512

    def test_indexes_are_used(self, path):
        """
        Decisions, entries and message ids are found by index, however long the thread is.
        """
        with SqliteStore(path) as store:
            plans = [
                store._file.rows(f"EXPLAIN QUERY PLAN SELECT * FROM records {query}")[0][-1]  # noqa: S608
                for query in (
                    "WHERE thread = 1 AND kind = 'decided' AND kind <> 'appended' AND rec > 5",
                    "WHERE thread = 1 AND seq >= 5 AND seq <= 9 ORDER BY seq",
                    "WHERE thread = 1 AND head < seq AND seq > 5 ORDER BY seq",
                    "WHERE thread = 1 AND message_id = 'm' ORDER BY seq DESC",
                )
            ]

        assert ["decisions", "entries", "joins", "message_ids"] == [
            plan.split()[4] for plan in plans
        ]


def busy():
    """
    What SQLite raises when somebody else holds a lock.
    """
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    raise error


class Meeting(sqlite3.Connection):
    """
    A connection to which something happens just before a statement is run the first time.
    """

    def __init__(self, path, statement, happens):
        super().__init__(path, isolation_level=None)
        self.statement = statement
        self.happens = happens

    def execute(self, statement, *values):
        if statement == self.statement and self.happens:
            happens, self.happens = self.happens, None
            happens()
        return super().execute(statement, *values)


class TestEarlierFiles:
    def test_a_file_of_the_first_schema(self, path):
        """
        It opens, holds what it held, goes on, and can be forked.
        """
        made_by_version_1(path)
        with opened(path) as store:
            records = store.read("a")

        with opened(path) as store:
            assert ("a", "b") == store.threads()
            assert rebuilt(records) == store.state("a")
            assert "hi" == store.find("b", "m1").message.text
            assert 2 == store.append("b", said("on")).entries[0].seq
            forked = store.append("c", [Forked("a", 9)]).state
        with opened(path) as store:
            assert forked == store.state("c") == rebuilt(store.read("c"))
            assert records[:9] == store.read("c")[:9]
            assert [(1,), (2,), (3,)] == store._file.rows("SELECT version FROM unabridged")

    def test_is_upgraded_once(self, path):
        """
        When two open it at the same moment, the second one finds it upgraded.
        """
        made_by_version_1(path)
        connection = Meeting(path, "BEGIN IMMEDIATE", lambda: opened(path).close())
        prepare(connection, str(path), 10.0, "OFF")
        connection.close()

        with opened(path) as store:
            assert [(1,), (2,), (3,)] == store._file.rows("SELECT version FROM unabridged")

    def test_one_who_has_it_open_goes_on(self, path):
        """
        An upgrade behind its back changes nothing that it knows.
        """
        made_by_version_1(path)
        other = sqlite3.connect(path, isolation_level=None)
        assert [(2,)] == other.execute("SELECT count(*) FROM threads").fetchall()
        with opened(path) as store:
            store.append("c", [Forked("b", 1)])
        assert [(3,)] == other.execute("SELECT count(*) FROM threads").fetchall()
        other.close()


def made_by_version_1(path):
    """
    A file as version 1 of the schema made it, from its own dump.
    """
    connection = sqlite3.connect(path)
    connection.executescript(VERSION_1.read_text("utf-8"))
    connection.close()


def opened(path):
    return SqliteStore(path, synchronous="OFF")


class TestForks:
    def test_are_there_after_reopening(self, path):
        """
        Forks of forks too, from wherever they were made.
        """
        with opened(path) as store:
            store.append("a", said("1", "2"))
            store.append("b", [Forked("a", 1)])
            store.append("b", said("b"))
            store.append("c", [Forked("b", 3)])
            states = [store.append(name, said("on")).state for name in "abc"]
        with opened(path) as store:
            assert states == [store.state(name) for name in "abc"]
            read = [[e.message.text for e in store.entries(n, Span.between(1, 9))] for n in "abc"]
            assert [["1", "2", "on"], ["1", "b", "on"], ["1", "b", "on"]] == read

    def test_read_no_history(self, path):
        """
        Forking at the newest record, and opening the fork, reads the state alone.
        """
        with SqliteStore(path, synchronous="OFF") as store:
            state = store.append("a", said(*"abc")).state
        changed(path, "DELETE FROM records WHERE rec < 4")

        with opened(path) as store:
            assert state.live == store.append("b", [Forked("a", 3)]).state.live
        with opened(path) as store:
            assert 4 == store.append("b", said("d")).entries[0].seq

    def test_several_at_once(self, path):
        """
        In one transaction: one that fails leaves the others be.
        """
        with opened(path) as store:
            store.append("a", said("1", "2"))
            forks = [("b", 1), ("c", 9), ("b", 2), ("d", 2)]
            done = store.append_many([(n, [Forked("a", rec)], None, 1.0) for n, rec in forks])

            assert ["Receipt", "StoreError", "StoreError", "Receipt"] == [
                type(outcome).__name__ for outcome in done
            ]
            assert ("a", "b", "d") == store.threads()
            assert [1, 2] == [store.state(name).seq for name in "bd"]

    def test_a_thread_that_is_made_anew_meanwhile(self, path):
        """
        Between working out what it came to and the write: what is written is the new one's.
        """
        with opened(path) as store:
            store.append("a", said("old", "older", "oldest"))

            class Slow(SqliteStore):
                def read(self, thread, **keys):
                    records = super().read(thread, **keys)
                    if store.threads() == ("a",):
                        store.delete("a")
                        store.append("a", [Appended(0, system("new")), *said("newer")])
                        store.append("z", said("."))
                    return records

            with Slow(path) as slow:
                made = slow.append("b", [Forked("a", 1)]).state
                assert (1, Span.one(1)) == (made.seq, made.role)
                assert made == rebuilt(slow.read("b"))

    def test_an_earlier_version_destroys_nothing_that_is_shared(self, path):
        """
        One that has the file open while it is upgraded knows nothing of forks.
        """
        with SqliteStore(path, synchronous="OFF") as store:
            store.append("a", said("1", "2", "3"))
            store.append("b", [Forked("a", 2)])
            for deletes in ("thread = 1", "thread = 1 AND seq >= 1 AND seq <= 1"):
                with pytest.raises(sqlite3.IntegrityError, match="share its entries; upgrade"):
                    changed(path, f"DELETE FROM records WHERE {deletes}")  # noqa: S608  constants
            changed(path, "DELETE FROM records WHERE thread = 1 AND seq >= 3 AND seq <= 3")

            assert ["1", "2"] == [e.message.text for e in store.entries("b", Span.between(1, 2))]

    def test_indexes_are_used(self, path):
        """
        The forks of a thread are found by index.
        """
        with opened(path) as store:
            plan = store._file.rows(
                "EXPLAIN QUERY PLAN SELECT max(seq) FROM forks WHERE thread = 1 OR parent = 1"
            )
            assert any("forks_of" in row[-1] for row in plan)


class TestOtherWriters:
    def test_state_is_seen(self, path):
        """
        What another connection writes is in the next answer, threads deleted and made anew too.
        """
        with SqliteStore(path) as here, SqliteStore(path) as there:
            here.append("a", said("1"))
            assert 1 == there.state("a").seq
            here.append("a", said("2"))
            assert 2 == there.state("a").seq
            assert 3 == there.append("a", said("3")).entries[0].seq
            here.append("b", said("other"))
            assert 3 == there.state("a").seq
            here.delete("a")
            here.append("a", said("x", "y", "z"))
            assert here.state("a") == there.state("a")
            assert ["x", "y", "z"] == [
                entry.message.text for entry in there.entries("a", Span.between(1, 9))
            ]
            there.delete("a")
            assert ThreadState() == here.state("a")

    def test_a_lock_only_delays(self, path):
        """
        An append waits for another writer to finish.
        """
        with SqliteStore(filled(path, "1")) as store:
            other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            other.execute("BEGIN IMMEDIATE")
            letting_go = threading.Timer(1.0, other.execute, ["COMMIT"])
            letting_go.start()

            assert 2 == store.append("a", said("2")).entries[0].seq
            letting_go.join()
            other.close()

    def test_past_the_time_out(self, path):
        """
        A writer that never finishes is a `StoreError`; nothing is written, reading goes on.
        """
        with SqliteStore(filled(path, "1"), timeout=0.05) as store:
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")

            with pytest.raises(StoreError, match=r"held it for more than 0.05 s .* raise timeout="):
                store.append("a", said("2"))
            with pytest.raises(StoreError, match="nothing was written"):
                store.delete("a")
            assert 1 == store.state("a").seq

            other.execute("ROLLBACK")
            other.close()
            assert 2 == store.append("a", said("2")).entries[0].seq

    def test_opening_past_the_time_out(self, path):
        """
        A new file that somebody else locks for good cannot be opened.
        """
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        other.execute("CREATE TABLE other (x)")

        with pytest.raises(StoreError, match="another writer held it"):
            SqliteStore(path, timeout=0.05)
        other.close()

    def test_the_first_switch_to_wal_is_tried_again(self, path):
        """
        A lock met at the first switch, which does not wait, is met again after a pause.
        """
        connection = Meeting(path, "PRAGMA journal_mode = WAL", busy)
        prepare(connection, str(path), 10.0, "OFF")
        connection.close()

        with SqliteStore(path) as store:
            assert [("wal",)] == store._file.rows("PRAGMA journal_mode")

    def test_the_tables_are_made_once(self, path):
        """
        When two make the tables of a new file, the second one finds them.
        """
        connection = Meeting(path, "BEGIN IMMEDIATE", lambda: filled(path, "hi"))
        prepare(connection, str(path), 10.0, "OFF")
        connection.close()

        with SqliteStore(path) as store:
            assert ("a",) == store.threads()

    def test_threads_of_one_process(self, path):
        """
        Threads that share a store lose nothing and leave no gap.
        """
        with SqliteStore(path, synchronous="OFF") as store:
            writers = [
                threading.Thread(
                    target=lambda name: [store.append("a", said(f"{name}{n}")) for n in range(50)],
                    args=(name,),
                )
                for name in "abcd"
            ]
            for writer in writers:
                writer.start()
            for writer in writers:
                writer.join()
            entries = store.entries("a", Span.between(1, 999))

        assert list(range(1, 201)) == [entry.seq for entry in entries]
        assert {f"{name}{n}" for name in "abcd" for n in range(50)} == {
            entry.message.text for entry in entries
        }


class TestFailures:
    def test_a_batch_that_fails_writes_nothing(self, path):
        """
        Whatever breaks in the middle of an append, the thread is as it was.
        """
        with SqliteStore(filled(path, "1")) as store, SqliteStore(path) as other:
            before = store.state("a"), store.read("a")

            with pytest.raises(AssertionError):
                store.append("a", [*said("2"), "no body"])
            assert before == (store.state("a"), store.read("a"))
            assert before == (other.state("a"), other.read("a"))

    def test_a_new_thread_that_fails_is_not_made(self, path):
        """
        An append that fails makes no thread, and the next one does.
        """
        with SqliteStore(path) as store:
            with pytest.raises(AssertionError):
                store.append("a", [*said("1"), "no body"])

            assert () == store.threads()
            assert 1 == store.append("a", said("1")).entries[0].seq


class TestAppendMany:
    def test_each_is_all_or_none(self, path):
        """
        An append that fails leaves the others be, on its own thread too.
        """
        with SqliteStore(path) as store:
            done = store.append_many(
                [
                    ("a", said("1"), 0, 1.5),
                    ("a", [*said("no"), Compacted((), -1)], 7, None),
                    ("a", said("2"), 1, 2.5),
                    ("new", [*said("no"), "no body"], None, None),
                    ("new", said("3"), 0, 3.5),
                ]
            )
            kinds = [type(outcome).__name__ for outcome in done]
            expected = ["Receipt", "LogConflictError", "Receipt", "AssertionError", "Receipt"]
            assert expected == kinds
            assert ["1", "2"] == [
                entry.message.text for entry in store.entries("a", Span.between(1, 9))
            ]
            assert (2, 1) == (store.state("a").seq, store.state("new").seq)
        with SqliteStore(path) as store:
            assert ((1.5, 2.5), (3.5,)) == tuple(
                tuple(record.at for record in store.read(thread)) for thread in ("a", "new")
            )


class TestDamage:
    @pytest.mark.parametrize(
        ("body", "why"),
        [
            ('{"v":1,"rec":2', "not JSON"),
            ("", "not JSON"),
            (b"\xff\xfe\x00", "not JSON"),
            (7, "an object is expected, not a int"),
            ('{"v":9}', "format version 9"),
            ('{"v":1,"rec":1,"at":1,"kind":"reverted","of":1}', "says that it is record 1"),
        ],
    )
    def test_a_damaged_record(self, path, body, why):
        """
        It is named with its thread, and the others can still be read.
        """
        filled(path, "1", "2", "3")
        changed(path, "UPDATE records SET body = ? WHERE rec = 2", body)

        with SqliteStore(path) as store:
            for use in (
                lambda: store.read("a"),
                lambda: store.entries("a", Span.between(1, 3)),
                lambda: store.entries("a", Span.one(2)),
            ):
                with pytest.raises(CorruptLogError, match=f"thread 'a', record 2: .*{why}"):
                    use()
            assert [1, 3] == [entry.seq for entry in store.entries("a", Span.of([1, 3]))]
            assert [3] == [record.rec for record in store.read("a", after=2)]
            assert 4 == store.append("a", said("4")).entries[0].seq

    def test_bytes_that_are_no_text(self, path):
        """
        So is a record whose text is not UTF-8.
        """
        filled(path, "1", "2", "3")
        changed(path, "UPDATE records SET body = CAST(X'7BFF7D' AS TEXT) WHERE rec = 2")

        with SqliteStore(path) as store:
            with pytest.raises(CorruptLogError, match="thread 'a', record 2: damaged record: not"):
                store.read("a")
            assert [3] == [entry.seq for entry in store.entries("a", Span.one(3))]

    def test_a_record_of_another_kind(self, path):
        """
        A row that should append an entry and does not is named.
        """
        filled(path, "1", "2")
        reverted = '{"v":1,"rec":2,"at":1,"kind":"reverted","of":1}'
        changed(path, "UPDATE records SET body = ? WHERE rec = 2", reverted)

        with (
            SqliteStore(path) as store,
            pytest.raises(CorruptLogError, match=r"record 2: .* does not append entry 2"),
        ):
            store.entries("a", Span.between(1, 2))

    @pytest.mark.parametrize(
        "damage",
        [
            "UPDATE threads SET links = '[1'",
            "UPDATE threads SET links = NULL WHERE 0; UPDATE threads SET links = '[]'",
            "UPDATE states SET body = '[]'",
            "UPDATE states SET body = 'x'",
            "UPDATE states SET body = '{\"hand\":5}'",
            "UPDATE states SET body = '{\"smell\":5}'",
        ],
    )
    def test_a_damaged_state(self, path, damage):
        """
        A damaged state is named; the records can still be read, and come to the state.
        """
        with SqliteStore(path) as store:
            state = store.append("a", [Appended(0, system("Be brief.")), *said("1")]).state
        connection = sqlite3.connect(path, isolation_level=None)
        connection.executescript(damage)
        connection.close()

        with SqliteStore(path) as store:
            with pytest.raises(CorruptLogError, match="thread 'a', the state kept beside record 2"):
                store.state("a")
            with pytest.raises(CorruptLogError, match="thread 'a'"):
                store.append("a", said("2"))
            assert state == rebuilt(store.read("a"))


def exit_with(work):
    """
    Leave a forked child at once, whatever happens, with what *work* gives.
    """
    code = 255
    try:
        code = work()
    finally:
        os._exit(code)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
class TestFork:
    def test_both_sides_go_on(self, path):
        """
        A store that was open before a fork works on both sides, on connections of their own.
        """
        store = SqliteStore(path, synchronous="OFF")
        store.append("a", said("before"))
        child = os.fork()
        if not child:
            exit_with(lambda: store.append("a", said("child")).state.seq)
        _, status = os.waitpid(child, 0)
        store.append("a", said("parent"))

        assert 2 == os.waitstatus_to_exitcode(status)
        assert ["before", "child", "parent"] == [
            entry.message.text for entry in store.entries("a", Span.between(1, 9))
        ]
        assert [("ok",)] == store._file.rows("PRAGMA integrity_check")
        store.close()

    def test_a_store_in_memory(self):
        """
        A store in memory is copied: each side has its own from then on.
        """
        store = SqliteStore(":memory:")
        store.append("a", said("before"))
        child = os.fork()
        if not child:
            exit_with(lambda: store.append("a", said("child")).state.seq)
        _, status = os.waitpid(child, 0)

        assert 2 == os.waitstatus_to_exitcode(status)
        assert 1 == store.state("a").seq
        store.close()

    def test_a_fork_that_python_is_not_told_of(self, path, monkeypatch):
        """
        A process of another number opens a connection of its own.
        """
        store = SqliteStore(path, synchronous="OFF")
        store.append("a", said("before"))
        old = store._file._connection
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            assert 2 == store.append("a", said("child")).entries[0].seq
            assert old is not store._file._connection
        store.close()
        old.close()
