"""
Several processes on one SQLite file, and processes that are killed.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import unabridged
from unabridged.messages import user
from unabridged.records import Appended
from unabridged.spans import Span
from unabridged.states import rebuilt
from unabridged.stores import SqliteStore

START = """
import sys
from unabridged.messages import user
from unabridged.records import Appended
from unabridged.stores import SqliteStore

path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
store = SqliteStore(path)
for number in range(count):
    message_id = f"{name}{number}"
    store.append("a", [Appended(0, user(f"{message_id} says hi", id=message_id))])
    print(message_id, flush=True)
"""


@contextmanager
def writer(
    path: Path, name: str, count: int, script: str = START
) -> Iterator[subprocess.Popen[str]]:
    """
    A process that appends *count* messages once it is told to go, and prints each id after it.
    """
    source = str(Path(unabridged.__file__).parents[1])
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", script, str(path), name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    try:
        assert "ready\n" == process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def go(processes):
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()


def written(path):
    """
    The ids in the file, in order, after a look at everything that must hold.
    """
    with SqliteStore(path) as store:
        records = store.read("a")
        entries = store.entries("a", Span.between(1, len(records) + 1))
        assert list(range(1, len(records) + 1)) == [record.rec for record in records]
        assert list(range(1, len(records) + 1)) == [entry.seq for entry in entries]
        assert rebuilt(records) == store.state("a")
        assert [("ok",)] == store._file.rows("PRAGMA integrity_check")

    return [entry.message.id for entry in entries]


FORK = """
import sys
from unabridged import Memory, user
from unabridged.stores import SqliteStore

memory = Memory(SqliteStore(sys.argv[1]), "a")
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    fork = memory.fork(f"{sys.argv[2]}{number}")
    fork.append(user(f"in {sys.argv[2]}{number}"))
    memory.append(user(f"{sys.argv[2]} goes on"))
print([len(fork.entries()), fork.entries()[-1].message.text, len(fork.view())])
"""


class TestProcesses:
    def test_two_fork_one_thread(self, tmp_path):
        """
        Two processes fork a thread that both append to; a third sees all of it.
        """
        path = tmp_path / "talk.db"
        with SqliteStore(path) as store:
            store.append("a", [Appended(0, user("hi"))])
        with ExitStack() as stack:
            processes = [stack.enter_context(writer(path, name, 25, FORK)) for name in "xy"]
            go(processes)
            results = [process.communicate() for process in processes]

        assert [""] * 2 == [errors for _, errors in results]
        with SqliteStore(path) as store:
            assert 51 == store.state("a").seq
            assert rebuilt(store.read("a")) == store.state("a")
            for name in store.threads()[1:]:
                state, entries = store.state(name), store.entries(name, Span.between(1, 99))
                assert rebuilt(store.read(name)) == state
                assert state.seq == len(entries)
                shared = Span.between(1, state.seq - 1)
                assert entries[:-1] == store.entries("a", shared)
                assert f"in {name}" == entries[-1].message.text

    def test_four_writers(self, tmp_path):
        """
        Four processes that append at once lose nothing, leave no gap and meet no error.
        """
        path = tmp_path / "talk.db"
        with ExitStack() as stack:
            processes = [stack.enter_context(writer(path, name, 200)) for name in "abcd"]
            go(processes)
            results = [process.communicate() for process in processes]

        assert [""] * 4 == [errors for _, errors in results]
        ids = written(path)
        for name in "abcd":
            own = [id_ for id_ in ids if id_.startswith(name)]
            assert [f"{name}{n}" for n in range(200)] == own

    def test_eight_open_a_new_file(self, tmp_path):
        """
        Eight processes that open a file that is not there yet, at the same moment, all succeed.
        """
        path = tmp_path / "talk.db"
        with ExitStack() as stack:
            processes = [stack.enter_context(writer(path, name, 1)) for name in "abcdefgh"]
            go(processes)
            results = [process.communicate() for process in processes]

        assert [(f"{name}0\n", "") for name in "abcdefgh"] == results
        assert {f"{name}0" for name in "abcdefgh"} == set(written(path))

    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
    def test_kill_9(self, tmp_path):
        """
        What was acknowledged before a kill is there, and a retry by message id is a no-op.
        """
        path = tmp_path / "talk.db"
        acknowledged: list[str] = []
        for name, count in (("a", 1), ("b", 17), ("c", 60), ("d", 133)):
            with writer(path, name, 100_000) as process:
                go([process])
                acknowledged += [process.stdout.readline().strip() for _ in range(count)]
                process.send_signal(signal.SIGKILL)
                rest, _ = process.communicate()
            acknowledged += [line for line in rest.split("\n")[:-1] if line]

        ids = written(path)
        assert set(acknowledged) <= set(ids)
        assert len(ids) <= len(acknowledged) + 4

        with SqliteStore(path) as store:
            again = [Appended(0, user(f"{id_} says hi", id=id_)) for id_ in ids]
            receipt = store.append("a", again)
        assert ((), ids) == (receipt.records, [entry.message.id for entry in receipt.known])
        assert ids == written(path)
