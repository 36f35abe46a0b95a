"""
Looking through a store for damage, and reading what is damaged.
"""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from unabridged import AsyncMemory, Memory, Window, assistant, system, user
from unabridged.errors import CorruptLogError
from unabridged.records import Appended, Forked
from unabridged.spans import Span
from unabridged.stores import InMemoryStore, InThread, SqliteStore, Verified, Verifying
from unabridged.testing.store_samples import eventful, said

VERSION_1 = Path(__file__).parent.parent / "data" / "sqlite_v1.sql"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "talk.db"


def changed(path, statement, *values):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement, values)
    connection.close()


def filled(path, *texts):
    with SqliteStore(path, synchronous="OFF") as store:
        store.append("a", said(*texts))
    return path


class TestChecksum:
    @pytest.mark.parametrize(
        "change",
        [
            "body = replace(body, '2nd', '3nd')",
            "at = at + 1",
            "kind = 'appendee'",
            "seq = 7",
            "message_id = 'm2'",
            "pinned = 1",
            "head = 1",
            "opener = 1",
            "asked = 1",
        ],
    )
    def test_covers_all_of_a_row(self, path, change):
        """
        Whatever of a record's row is changed, reading it names the record; the others are read.
        """
        filled(path, "1st", "2nd", "3rd")
        changed(path, f"UPDATE records SET {change} WHERE rec = 2")  # noqa: S608

        with SqliteStore(path) as store:
            with pytest.raises(CorruptLogError, match=r"thread 'a', record 2: .*checksum is"):
                store.read("a")
            assert [1] == [record.rec for record in store.read("a", before=2)]
            assert [3] == [record.rec for record in store.read("a", after=2)]
            assert not store.verify().sound

    def test_every_bit_of_a_record(self, path):
        """
        A flipped bit anywhere in a row of the file: the record is named.
        """
        filled(path, "0", "the second", "2")
        changed(path, "PRAGMA journal_mode = DELETE")
        data = path.read_bytes()
        body = data.index(b'{"v":4,"rec":2')
        start = data.rindex(b"appended", 0, body)
        end = data.index(b"}", data.index(b'"sum"', body)) + 1
        noticed = 0
        for place in range(start, end):
            damaged = bytearray(data)
            damaged[place] ^= 1 << place % 8
            path.write_bytes(damaged)
            with SqliteStore(path) as store:
                with pytest.raises(CorruptLogError, match="thread 'a', record 2"):
                    store.read("a")
                noticed += not store.verify().sound
            changed(path, "PRAGMA journal_mode = DELETE")

        assert end - start == noticed

    def test_of_a_memory(self, path):
        """
        Whoever reads it through a memory gets the same error.
        """
        filled(path, "1", "2", "3")
        changed(path, "UPDATE records SET body = replace(body, '\"2\"', '\"4\"')")
        with Memory.open(path, thread="a") as memory:
            for read in (memory.context, memory.entries, memory.to_dict):
                with pytest.raises(CorruptLogError, match="thread 'a', record 2: damaged record"):
                    read()
            assert ["3"] == [item.message.text for item in memory.entries(last=1)]

    def test_earlier_versions_had_none(self, path):
        """
        Their records are read as before, and those that come after have one.
        """
        connection = sqlite3.connect(path)
        connection.executescript(VERSION_1.read_text("utf-8"))
        connection.close()

        with SqliteStore(path) as store:
            records = store.read("a")
            before = store.verify()
            store.append("a", said("new"))
            after = store.verify()
            assert records == store.read("a")[:-1]
        assert (True, before.records) == (before.sound, before.unsummed)
        assert (True, before.records + 1, before.records) == (
            after.sound,
            after.records,
            after.unsummed,
        )
        assert f"({before.records} without a checksum): sound" in str(before)

    def test_records_that_are_missing(self, path):
        """
        A gap that no deletion explains is damage.
        """
        filled(path, "1", "2", "3")
        changed(path, "DELETE FROM records WHERE rec = 2")

        with SqliteStore(path) as store:
            with pytest.raises(CorruptLogError, match="thread 'a', record 2: missing"):
                store.read("a")
            assert ("thread 'a': of the records 2 some are missing",) == store.verify().damage

    @pytest.mark.parametrize(
        ("low", "high", "missing"), [(4, 4, "4"), (1, 1, "1"), (3, 4, "3-4"), (1, 4, "1-4")]
    )
    def test_records_that_an_index_hides(self, path, low, high, missing):
        """
        Nobody gets the first or the last of a thread left out, as of one that never had them.
        """
        filled(path, "1", "2", "3", "4")
        changed(path, "DELETE FROM records WHERE rec BETWEEN ? AND ?", low, high)

        with Memory.open(path, "a") as memory:
            for read in (memory.to_dict, lambda: memory.view(at=4), lambda: memory.diff(4)):
                with pytest.raises(CorruptLogError, match=f"the records {missing}, which"):
                    read()


@pytest.fixture(params=["memory", "file"])
def store(request, path):
    made = InMemoryStore() if request.param == "memory" else SqliteStore(path, synchronous="OFF")
    yield made
    made.close()


class TestVerify:
    def test_says_how_far_it_is(self, store):
        """
        After each few hundred records, thread by thread.
        """
        store.append("a", said(*map(str, range(600))))
        store.append("b", said("1"))
        steps = []

        assert Verified(2, 601) == store.verify(steps.append)
        assert [
            Verifying("a", 256, 601),
            Verifying("a", 512, 601),
            Verifying("a", 600, 601),
            Verifying("b", 601, 601),
        ] == steps

    def test_by_a_memory(self, store):
        """
        It is reached from a memory, an asynchronous one too.
        """
        memory = Memory(store, strategy=Window(1))
        memory.append(system("Be brief."), user("a"), assistant("b"))
        memory.compact()
        memory.fork("other")

        async def asynchronously():
            steps = []
            found = await AsyncMemory(InThread(store)).store.verify(steps.append)
            return found, len(steps)

        found = memory.store.verify()
        assert found.sound
        assert (found, 2) == asyncio.run(asynchronously())

    def test_leaves_others_room(self, path):
        """
        What is asked of an asynchronous store meanwhile is done between two steps.
        """

        async def both():
            store = InThread(SqliteStore(path, synchronous="OFF"))
            await store.append("a", said(*map(str, range(2_000))))
            order = []

            async def append():
                await store.append("b", said("1"))
                order.append("appended")

            found, _ = await asyncio.gather(
                store.verify(lambda step: order.append(step.done)), append()
            )
            await store.close()
            return order.index("appended") < len(order) - 1, found.sound

        assert (True, True) == asyncio.run(both())

    def test_while_others_write(self, store):
        """
        Appends, prunes and deletions meanwhile are no damage.
        """
        store.append("a", said(*map(str, range(600))))
        deeds = [
            lambda: store.append("a", said("more")),
            lambda: (store.delete("a"), store.append("a", said("anew"))),
            lambda: store.delete("a"),
        ]

        found = store.verify(lambda _: deeds and deeds.pop(0)())

        assert () == found.damage

    def test_finds_every_damaged_record(self, path):
        """
        It goes on after each, and names them all.
        """
        filled(path, *map(str, range(300)))
        changed(path, "UPDATE records SET body = body || ' ' WHERE rec IN (7, 280)")

        with SqliteStore(path) as store:
            found = store.verify()
        assert [7, 280] == [int(line.split("record ")[1].split(":")[0]) for line in found.damage]
        assert str(found).startswith("1 threads, 300 records: damaged\n")

    @pytest.mark.parametrize(
        ("statement", "why"),
        [
            (
                "UPDATE states SET body = '{\"hand\":[2]}' WHERE part = 'pins'",
                "is not what the rec",
            ),
            ("UPDATE states SET body = 'x'", "the state kept beside record"),
            ("UPDATE threads SET rec = rec + 1", "some are missing"),
            ("UPDATE threads SET name = NULL", "constraint"),
            ("DELETE FROM records WHERE rec = 3", "some are missing"),
        ],
    )
    def test_what_is_kept_beside(self, path, statement, why):
        """
        States that are not what their records come to.
        """
        with SqliteStore(path, synchronous="OFF") as store:
            for bodies in eventful():
                store.append("a", bodies)
        if why == "constraint":
            with pytest.raises(sqlite3.IntegrityError):
                changed(path, statement)
            return
        changed(path, statement)

        with SqliteStore(path) as store:
            found = store.verify()
        assert any(why in line for line in found.damage)

    def test_marks_of_earlier_records(self, path):
        """
        Of a record without a checksum, marks that do not fit are found.
        """
        connection = sqlite3.connect(path)
        connection.executescript(VERSION_1.read_text("utf-8"))
        connection.close()
        changed(path, "UPDATE records SET opener = 0 WHERE thread = 1 AND seq = 4")

        with SqliteStore(path) as store:
            (line,) = store.verify().damage
        assert "what is kept beside entry 4 is wrong" in line

    def test_a_damaged_page(self, path):
        """
        What SQLite cannot read is named, as far as it can be.
        """
        filled(path, *["word " * 300] * 40)
        data = bytearray(path.read_bytes())
        page = next(
            place
            for place in range(4_096, len(data), 4_096)
            if data[place] == 13 and b'"rec":20,' in data[place : place + 4_096]
        )
        data[page] = 0xFF
        path.write_bytes(data)

        with SqliteStore(path) as store:
            with pytest.raises(CorruptLogError, match=r"damaged .*thread 'a', record \d+"):
                store.read("a")
            with pytest.raises(CorruptLogError, match=r"damaged .*thread 'a', entry \d+"):
                store.entries("a", Span.between(1, 40))
            assert any("record 20" in line for line in store.verify().damage)

    def test_forks(self, store):
        """
        What a fork inherits is read with it.
        """
        store.append("a", said("1", "2"))
        store.append("b", [Forked("a", 2)])
        store.append("b", [Appended(0, user("3"))])

        assert Verified(2, 6) == store.verify()
