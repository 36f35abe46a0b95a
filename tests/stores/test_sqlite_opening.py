"""
Opening an SQLite file: what is not ours stays as it was, what cannot be written is read.
"""

import os
import shutil
import sqlite3
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from unabridged import Memory, Summarize, TokenBudget, Window, assistant, system, user
from unabridged.errors import ConfigError, ReadOnlyError, StoreError
from unabridged.records import Appended
from unabridged.stores import SqliteStore
from unabridged.stores.sqlite_schema import SCHEMA_VERSION

VERSION_1 = Path(__file__).parent.parent / "data" / "sqlite_v1.sql"
NOBODY = 65_534


@pytest.fixture
def path(tmp_path):
    return tmp_path / "the talk #1 100%?.db"


def application(path, *, wal=False, statements="CREATE TABLE songs (name)"):
    """
    A connection of another program.
    """
    connection = sqlite3.connect(path, isolation_level=None)
    if wal:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(statements)

    return connection


def everything(folder):
    """
    All files with what is in them, when they were written, and who may read them.
    """
    return {
        one.name: (one.read_bytes(), one.stat().st_mtime_ns, one.stat().st_mode)
        for one in folder.iterdir()
    }


def left_behind(path):
    """
    Make of an open WAL database what a process that is killed leaves: no index of the log.
    """
    aside = path.with_name("aside")
    for end in ("", "-wal"):
        shutil.copy(f"{path}{end}", f"{aside}{end}")

    def take_its_place():
        for end in ("", "-wal"):
            shutil.move(f"{aside}{end}", f"{path}{end}")

    return take_its_place


class TestForeignFiles:
    @pytest.mark.parametrize("wal", [False, True])
    @pytest.mark.parametrize("live", [False, True])
    @pytest.mark.parametrize(
        "statements",
        [
            "CREATE TABLE songs (name)",
            "CREATE TABLE records (song)",
            "CREATE TABLE unabridged (pages)",
            "CREATE TABLE unabridged (version); CREATE TABLE songs (name)",
            "CREATE VIEW songs AS SELECT 1",
        ],
    )
    def test_nothing_of_them_changes(self, path, statements, wal, live):
        """
        Whatever the other program made, in either mode, whether it has the file open or not.
        """
        other = application(path, wal=wal, statements=statements)
        if not live:
            other.close()
        before = everything(path.parent)

        with pytest.raises(StoreError, match=r"of another program; give unabridged a file of its"):
            SqliteStore(path)
        assert before == everything(path.parent)
        other.close()

    @pytest.mark.parametrize("mark", ["application_id", "user_version"])
    def test_a_mark_without_tables(self, path, mark):
        """
        A program that has made no table yet, but has marked the file, keeps it.
        """
        statements = f"PRAGMA {mark} = 7; CREATE TABLE a (b); DROP TABLE a"
        application(path, statements=statements).close()
        before = everything(path.parent)

        with pytest.raises(StoreError, match=f"holds no table, but the `{mark}` of another prog"):
            SqliteStore(path)
        assert before == everything(path.parent)

    def test_left_by_a_process_that_was_killed(self, path):
        """
        Tables of others that stand in the write-ahead log alone are found there.
        """
        other = application(path, wal=True)
        take_its_place = left_behind(path)
        other.close()
        take_its_place()
        before = everything(path.parent)

        with pytest.raises(StoreError, match="tables, in its write-ahead log, of another program"):
            SqliteStore(path)
        assert before == everything(path.parent)

    def test_while_it_is_locked(self, path):
        """
        No lock is needed to see whose it is.
        """
        other = application(path)
        other.execute("BEGIN EXCLUSIVE")

        with pytest.raises(StoreError, match="a table 'songs' of another program"):
            SqliteStore(path)
        other.close()

    @pytest.mark.parametrize("data", [b"Dear diary", bytes(4_096), b"SQLite format 3\0"])
    def test_no_database(self, path, data):
        """
        A file of any other kind stays as it is.
        """
        path.write_bytes(data)
        before = everything(path.parent)

        with pytest.raises(StoreError, match=r"not an SQLite database .*path of another file"):
            SqliteStore(path)
        assert before == everything(path.parent)

    @pytest.mark.parametrize(
        ("version", "why"),
        [
            (SCHEMA_VERSION + 1, rf"later version of .*this one knows {SCHEMA_VERSION}\); upgrade"),
            (0, f"its schema version is 0, not 1 to {SCHEMA_VERSION}; restore it from a copy"),
            (-5, f"its schema version is -5, not 1 to {SCHEMA_VERSION}"),
            ("x", f"its schema version is 'x', not 1 to {SCHEMA_VERSION}"),
        ],
    )
    def test_versions_that_are_not_known(self, path, version, why):
        """
        Ours of a later version, or damaged, is refused as it is.
        """
        SqliteStore(path).close()
        other = application(path, statements="PRAGMA journal_mode = DELETE")
        other.execute("UPDATE unabridged SET version = ?", [version])
        other.close()
        before = everything(path.parent)

        with pytest.raises(StoreError, match=why):
            SqliteStore(path)
        assert before == everything(path.parent)

    def test_a_table_that_is_missing(self, path):
        """
        Ours without all of its tables is damaged.
        """
        SqliteStore(path).close()
        application(path, statements="DROP TABLE states").close()

        with pytest.raises(StoreError, match="damaged, the table 'states' is missing"):
            SqliteStore(path)

    def test_ours_among_others(self, path):
        """
        A file that holds ours may hold other tables too.
        """
        SqliteStore(path).close()
        application(path).close()

        with SqliteStore(path) as store:
            assert 1 == store.append("a", [Appended(0, user("hi"))]).state.seq

    def test_ours_left_by_a_process_that_was_killed(self, path):
        """
        What stands in the write-ahead log alone is ours too.
        """
        store = SqliteStore(path)
        store.append("a", [Appended(0, user("hi"))])
        take_its_place = left_behind(path)
        store.close()
        take_its_place()

        with SqliteStore(path) as store:
            assert 1 == store.state("a").seq

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("x" * 300, "File name too long"),
            ("fifo", "not a file"),
        ],
    )
    def test_no_file_at_all(self, path, name, why):
        """
        A path that no file can have is a `StoreError`; one that is no text, a `ConfigError`.
        """
        os.mkfifo(path.with_name("fifo"))

        with pytest.raises(StoreError, match=why):
            SqliteStore(f"{path.parent}/{name}")
        with pytest.raises(ConfigError, match="holds a NUL character"):
            SqliteStore(f"{path.parent}/a\0b")


class TestNewFiles:
    @pytest.mark.parametrize("umask", [0, 0o022, 0o077, 0o777])
    def test_are_readable_by_their_owner_only(self, path, umask):
        """
        The files beside it too, whatever the umask.
        """
        before = os.umask(umask)
        try:
            with SqliteStore(path) as store:
                store.append("a", [Appended(0, user("hi"))])
                modes = {
                    one.name[len(path.name) :]: one.stat().st_mode & 0o777 for one in files(path)
                }
        finally:
            os.umask(before)

        assert {"": 0o600, "-wal": 0o600, "-shm": 0o600} == modes

    def test_through_a_link(self, path):
        """
        A link to nowhere yet: what it leads to is made.
        """
        link = path.with_name("link.db")
        link.symlink_to(path)
        SqliteStore(link).close()

        assert 0o600 == path.stat().st_mode & 0o777

    def test_those_that_exist_stay_as_they_are(self, path):
        """
        An empty file of another mode keeps it.
        """
        path.touch(0o640)
        path.chmod(0o640)
        SqliteStore(path).close()

        assert 0o640 == path.stat().st_mode & 0o777


def files(path):
    return [one for one in path.parent.iterdir() if one.name.startswith(path.name)]


def talk(path):
    """
    A thread with a write-back.
    """
    memory = Memory.open(path, strategy=Window(2))
    memory.append(system("Be brief."), user("a"), assistant("b"), user("c", id="m1"))
    memory.compact()
    memory.append(assistant("d"), user("e"))

    return memory


def told(memory):
    """
    All that can be asked of a memory.
    """
    return (
        memory.entries(),
        memory.view(),
        memory.context().messages,
        memory.context(TokenBudget(9)).messages,
        memory.context(Window(3, down_to=2)).messages,
        memory.history(),
        memory.threads(),
        memory.store.find("default", "m1"),
        memory.to_dict(),
    )


def as_nobody(work):
    """
    What *work* gives as a user without rights: 0 if all is well.
    """
    child = os.fork()
    if not child:
        code = 1
        try:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            work()
            code = 0
        except BaseException as error:  # noqa: BLE001  the parent says that it failed
            sys.stderr.write(f"{error!r}\n")
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(
    not hasattr(os, "fork") or os.getuid() != 0, reason="only root can be somebody else"
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
class TestReadOnly:
    @pytest.fixture
    def path(self):
        with TemporaryDirectory() as above:  # pytest's own is closed to others
            Path(above).chmod(0o755)
            folder = Path(above, "folder")
            folder.mkdir()
            yield folder / "talk.db"

    @pytest.mark.parametrize("kind", ["closed", "killed", "journal"])
    @pytest.mark.parametrize("what", ["file", "folder", "both"])
    def test_everything_can_be_read(self, path, kind, what):
        """
        Without rights on the file, the folder or both, of a file that was closed or not.
        """
        memory = talk(path)
        expected = told(memory.thread("default"))
        take_its_place = left_behind(path)
        memory.close()
        if kind == "killed":
            take_its_place()
        if kind == "journal":
            application(path, statements="PRAGMA journal_mode = DELETE").close()
        for one in path.parent.iterdir():
            one.chmod(0o666 if what == "folder" else 0o444)
        path.parent.chmod(0o777 if what == "file" else 0o555)
        before = everything(path.parent)

        def read():
            memory = Memory.open(path, strategy=Window(2))
            assert expected[:-4] == told(memory)[:-4]
            assert expected[-3:-1] == told(memory)[-3:-1]
            for write in (
                lambda: memory.append(user("x")),
                lambda: memory.pin(2),
                memory.compact,
                lambda: memory.store.delete("default"),
                memory.store.vacuum,
            ):
                with pytest.raises(ReadOnlyError, match="Let this user write the file and its fo"):
                    write()
            memory.close()

        assert 0 == as_nobody(read)
        assert before == everything(path.parent)

    def test_of_an_earlier_version(self, path):
        """
        What it lacks is not written into it.
        """
        application(path, statements=VERSION_1.read_text("utf-8")).close()
        with SqliteStore(shutil.copy(path, path.with_name("copy.db"))) as store:
            expected = store.read("a"), store.state("b")
        path.chmod(0o444)
        before = everything(path.parent)

        def read():
            with SqliteStore(path) as store:
                assert expected == (store.read("a"), store.state("b"))

        assert 0 == as_nobody(read)
        assert before == everything(path.parent)

    def test_what_a_writer_adds_is_seen(self, path):
        """
        One who reads sees what another user writes meanwhile, and may write once it is let.
        """
        talk(path).close()
        path.chmod(0o644)
        path.parent.chmod(0o777)
        asks, answers = os.pipe(), os.pipe()

        def read():
            with SqliteStore(path) as store:
                for seq in (6, 7, 8):
                    assert seq == store.state("default").seq
                    os.write(answers[1], b".")
                    os.read(asks[0], 1)
                assert 9 == store.append("default", [Appended(0, user("mine"))]).state.seq

        child = os.fork()
        if not child:
            os._exit(as_nobody(read))
        for _ in range(2):
            os.read(answers[0], 1)
            memory = Memory.open(path)
            memory.append(user("more"))
            memory.close()
            os.write(asks[1], b".")
        os.read(answers[0], 1)
        for one in path.parent.iterdir():
            one.chmod(0o666)
        os.write(asks[1], b".")

        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def test_what_cannot_be_read(self, path):
        """
        A file of another user, in a folder that may be listed or not, or a new one: say so.
        """
        talk(path).close()
        path.parent.chmod(0o755)

        def refused(path, why):
            with pytest.raises(StoreError, match=why):
                SqliteStore(path)

        assert 0 == as_nobody(lambda: refused(path, "cannot be read by this user"))
        new = path.with_name("new.db")
        assert 0 == as_nobody(lambda: refused(new, r"opened or made \(Permission denied\)"))
        path.parent.chmod(0o700)
        assert 0 == as_nobody(lambda: refused(path, r"opened or made \(Permission denied\)"))

    def test_an_empty_file(self, path):
        """
        Nothing can be read of it, nor written to it.
        """
        path.touch()
        path.chmod(0o444)

        def refused():
            with pytest.raises(StoreError, match="holds nothing yet, and cannot be written"):
                SqliteStore(path)

        assert 0 == as_nobody(refused)

    def test_an_answer_that_cannot_be_kept(self, path):
        """
        The context is made all the same, and warns.
        """
        talk(path).close()
        path.chmod(0o444)

        def read():
            memory = Memory.open(path, strategy=Summarize(keep_last=1), ask=lambda _: "short")
            result = memory.context()
            assert "short" in result.text()
            assert any("is not kept in the log: " in warning for warning in result.warnings)

        assert 0 == as_nobody(read)
