"""
What is deleted from an SQLite store is in none of its files.
"""

import random
import sqlite3
import threading
from pathlib import Path

import pytest

from unabridged.messages import system, user
from unabridged.records import Appended, Compacted, Fold, Forked, Note, Noted
from unabridged.spans import Span
from unabridged.stores import SqliteStore
from unabridged.stores import sqlite_erasing as erasing
from unabridged.testing.store_samples import said


@pytest.fixture
def path(tmp_path):
    return tmp_path / "talk.db"


def found(path, *texts):
    """
    Those of the texts that stand in the file or in one beside it.
    """
    files = [one.read_bytes() for one in path.parent.glob(f"{path.name}*")]

    return [text for text in texts if any(text.encode() in data for data in files)]


def opened(path, **keys):
    return SqliteStore(path, synchronous="OFF", **keys)


class Never(erasing.Pace):
    """
    A pace at which nothing is done before it must be.
    """

    def allows(self):
        return False


class TestDelete:
    def test_the_texts_leave_an_open_file(self, path):
        """
        Words, ids, summaries, notes, pins and the name, short and long ones, of an open store.
        """
        with opened(path) as store:
            store.append("other", said("something else"))
            for number in range(40):
                long = "secret " * (9_000 if number % 7 == 0 else 3)
                store.append("secret thread", [Appended(0, user(long, id=f"secret{number}"))])
            store.append("secret thread", [Appended(0, system("secret rule"))])
            store.append("secret thread", [Noted((Note("cut", "secret", "secret"),))])
            fold = Fold(Span.between(1, 30), user("secret summary"), reason="secret reason")
            store.append("secret thread", [Compacted((fold,), 42)])
            assert ["secret"] == found(path, "secret")

            store.delete("secret thread")

            assert ["something else"] == found(path, "secret", "something else")

    def test_one_thread_of_many(self, path):
        """
        Rows that were moved from page to page when others left leave no piece of themselves.
        """
        chance = random.Random(1)  # the same each time
        with opened(path) as store:
            names = [f"t{number}" for number in range(30)]
            for number in range(1_500):
                name = chance.choice(names)
                text = f"SECRET-{name}-" * chance.choice([1, 5, 50, 100, 300, 500, 2_000])
                message = user(text, id=f"SECRET-{name}-{number}")
                store.append(name, [Appended(0, message)])
            chance.shuffle(names)
            for name in names[:20]:
                store.delete(name)
                assert [] == found(path, f"SECRET-{name}-")
            assert names[20:] == [name for name in names if found(path, f"SECRET-{name}-")]

    def test_while_another_has_it_open(self, path):
        """
        Another connection that is not reading is no hindrance.
        """
        with opened(path) as store, opened(path) as other:
            store.append("a", said("secret"))
            assert 1 == other.state("a").seq
            store.delete("a")

            assert [] == found(path, "secret")
            assert 0 == other.state("a").seq

    @pytest.mark.parametrize("how", ["write", "close"])
    def test_while_another_reads(self, path, how, monkeypatch):
        """
        It is put off: the next write, or closing the file, clears it away.
        """
        monkeypatch.setattr(erasing, "_WAIT", 0.0)
        store = opened(path)
        store.append("a", said("secret"))
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM records").fetchall()
        store.delete("a")
        assert ["secret"] == found(path, "secret")

        reader.execute("COMMIT")
        if how == "write":
            store.append("b", said("hi"))
            assert [] == found(path, "secret")
        store.close()
        reader.close()
        assert [] == found(path, "secret")

    def test_a_short_read_is_waited_for(self, path):
        """
        A deletion waits for one who is reading, for a moment.
        """
        with opened(path) as store:
            store.append("a", said("secret"))
            reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM records").fetchall()
            ending = threading.Timer(0.2, reader.execute, ["COMMIT"])
            ending.start()
            store.delete("a")
            ending.join()
            reader.close()

            assert [] == found(path, "secret")

    def test_a_fork_and_its_parent(self, path):
        """
        Deleting a fork takes its own texts, and its parent then the rest.
        """
        with opened(path) as store:
            store.append("a", said("common"))
            store.append("b", [Forked("a", 1)])
            store.append("b", said("forked"))
            store.delete("b")
            assert ["common"] == found(path, "common", "forked")
            store.delete("a")
            assert [] == found(path, "common", "forked")

    def test_what_an_earlier_version_deleted(self, path):
        """
        It left texts behind in free pages: the first deletion takes these along.
        """
        with opened(path) as store:
            store.append("old", said(*["ancient " * 900] * 20))
            store.append("a", said("secret"))
        earlier = sqlite3.connect(path, isolation_level=None)
        earlier.execute("PRAGMA secure_delete = OFF")
        earlier.execute("PRAGMA user_version = 0")
        earlier.execute("DELETE FROM records WHERE thread = 1")
        earlier.execute("DELETE FROM threads WHERE id = 1")
        earlier.close()
        with opened(path) as store:
            assert ["ancient"] == found(path, "ancient")
            store.delete("a")
            assert [] == found(path, "ancient", "secret")
            assert [(1,)] == store._file.rows("PRAGMA user_version")

    def test_a_process_that_ended_before_it_cleared_away(self, path, tmp_path):
        """
        Whoever opens the file next does it.
        """
        left = tmp_path / "left.db"
        store = opened(path)
        store.append("a", said("secret"))
        store._file.eraser._emptying = store._file.eraser._rewriting = Never()
        store._file.write(lambda: store._file.run("DELETE FROM records"), lambda: None)
        for end in ("", "-wal"):  # as a process that is killed leaves them
            Path(f"{left}{end}").write_bytes(Path(f"{path}{end}").read_bytes())
        assert ["secret"] == found(left, "secret")
        store.close()

        with opened(left):
            assert [] == found(left, "secret")

    def test_pieces_left_by_a_process_that_ended(self, path):
        """
        They leave when somebody else has written to the file.
        """
        store = opened(path)
        store.append("a", said("secret"))
        store._file.eraser._rewriting = Never()
        store.delete("a")
        left = path.with_name("left.db")
        left.write_bytes(path.read_bytes())
        store.close()

        with opened(left) as store:
            assert [(2,)] == store._file.rows("PRAGMA user_version")
            store.append("b", said("hi"))
            assert [(1,)] == store._file.rows("PRAGMA user_version")

    def test_large_files(self, path, monkeypatch):
        """
        A large file is not written anew until a quarter of it is free; `vacuum` does it at once.
        """
        monkeypatch.setattr(erasing, "_SMALL", 0)
        with opened(path) as store:
            store.append("a", said(*["word " * 900] * 50))
            store.append("b", said("secret"))
            store.delete("b")
            assert [] == found(path, "secret")
            before = path.stat().st_size
            store._file.write(
                lambda: store._file.run("DELETE FROM records WHERE rec <= 5"), lambda: None
            )
            store.vacuum()
            assert path.stat().st_size < before
            assert 45 == len(store.entries("a", Span.between(1, 50)))
            less = path.stat().st_size
            store.append("c", said("hi"))
            store.delete("a")
            assert path.stat().st_size < less / 2

    def test_every_connection_overwrites(self, path):
        """
        Whatever SQLite was built to do by default.
        """
        with opened(path) as store:
            assert [(1,)] == store._file.rows("PRAGMA secure_delete")


class TestRetain:
    def test_what_it_removes_leaves_the_files(self, path):
        """
        At once, as long as that does not slow appends down.
        """
        with opened(path, retain=5) as store:
            for number in range(20):
                store.append("a", said(f"text{number}."))

            assert [f"text{number}." for number in range(15, 20)] == found(
                path, *(f"text{number}." for number in range(20))
            )

    def test_in_batches(self, path):
        """
        Under load it is done for 64 entries together, and for the rest when the file is closed.
        """
        texts = [f"text{number}." for number in range(200)]
        store = opened(path, retain=5)
        store._file.eraser._emptying = Never()
        for text in texts:
            store.append("a", said(text))
        kept = found(path, *texts)
        assert 5 <= len(kept) < 5 + 64
        assert kept == texts[-len(kept) :]

        store.close()
        assert texts[-5:] == found(path, *texts)


class TestPace:
    def test_a_tenth_of_the_time(self):
        """
        What takes a second may be done 32 times, and then every ten seconds.
        """
        now = [100.0]
        pace, done = erasing.Pace(lambda: now[0]), 0
        while pace.allows():
            start, now[0] = now[0], now[0] + 1.0
            pace.done(start)
            done += 1
        assert 32 == done
        now[0] += 9.0
        assert not pace.allows()
        now[0] += 1.0
        assert pace.allows()
