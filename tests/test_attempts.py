"""
Attempts to break it: odd logs, other writers, failing models and stores, killed processes.
"""

import asyncio
import os
import random
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from attrs import evolve

import unabridged
from unabridged import (
    AsyncMemory,
    HeadAndTail,
    MaxRounds,
    Memory,
    Message,
    NoCompaction,
    Over,
    Reasoning,
    Sparing,
    Summarize,
    Text,
    TokenBudget,
    ToolCall,
    ToolResult,
    When,
    Window,
    assistant,
    chain,
    run,
    system,
    tokens,
    tool,
    user,
    written_back,
)
from unabridged.contract import TrimContext
from unabridged.errors import ConfigError, CorruptLogError, LogConflictError, StoreError
from unabridged.records import Appended, Compacted, Drop
from unabridged.spans import Span
from unabridged.states import rebuilt
from unabridged.stores import InMemoryStore, SqliteStore
from unabridged.testing import failing, talk

THREAD = "default"


def short(view, context):
    """
    Reword what an assistant said at length.
    """
    for item in view:
        message = item.message
        wordy = message.role == "assistant" and not message.tool_calls and len(message.text) > 3
        if wordy and not item.wide:
            yield evolve(item, message=assistant(message.text[:3]))
        else:
            yield item


PROJECTING = (
    Window(1),
    Window(3),
    Window(6, opening="next"),
    Window(5, opening="anywhere"),
    Window(10, down_to=4),
    Window(8, by="rounds"),
    Window(8, straddle="keep"),
    Window(6, pin_system=False),
    Window(6, count_pins=True),
    MaxRounds(1),
    MaxRounds(4, down_to=2),
    TokenBudget(1),
    TokenBudget(30, down_to=10),
    TokenBudget(20, by="rounds"),
    TokenBudget(15, straddle="keep"),
    HeadAndTail(2, 5),
    Summarize(4),
    Summarize(keep_rounds=2, every=3),
    Summarize(keep_tokens=12, down_to=5),
    Sparing(Window(3), first=2),
    When(Over(messages=8), Window(4)),
    Window(9) | TokenBudget(14),
    Window(8) | Summarize(4),
    Summarize(4) | TokenBudget(15),
    chain(short) | Window(6),
    Window(7) | chain(short),
)
WRITING = (
    Window(4, replace=True),
    Window(8, down_to=4, replace=True),
    TokenBudget(14, replace=True),
    MaxRounds(2, replace=True),
    HeadAndTail(2, 3, replace=True),
    Summarize(4, replace=True),
    Summarize(3, every=2, replace=True, down_to=2),
    Window(9) | Summarize(4, replace=True),
    written_back(short),
    written_back(short) | Summarize(5, replace=True),
)


def brief(ask):
    return "sum"


def odd(rng, number):  # noqa: PLR0911  a shape each
    """
    A message of an odd log: ids come again, results come late, doubled or for nothing.
    """
    ids = [f"c{rng.randint(0, 3)}" for _ in range(rng.randint(1, 3))]
    match rng.choice("seaauuuUCTRccccttttt"):
        case "s":
            return system(f"s{number}")
        case "e":
            return rng.choice([user(""), assistant("")])
        case "a":
            return assistant(f"a{number} at length")
        case "u":
            return user(f"u{number} " + "w " * rng.randint(0, 4))
        case "U":
            return Message("user", [Text(f"w{number}"), ToolResult(ids[0], (Text("r"),))])
        case "C":
            return Message("user", [ToolCall(ids[0], "f"), Text("what a user calls, calls nobody")])
        case "T":
            return Message("assistant", [Reasoning("hm")])
        case "R":
            return Message("user", [ToolResult(id_, (Text("r"),)) for id_ in ids])
        case "c":
            return assistant(calls=[ToolCall(id_, "f") for id_ in ids])
    return tool(f"r{number}", call_id=ids[0])


def shown(result):
    """
    All that a result shows and says.
    """
    items = [(item.sources, item.message, item.pin, item.stands_in) for item in result.view]
    return items, result.over, [(c.step, c.sources) for c in result.changes], result.notes


def attempt(memory, rng, number):
    """
    Do something at random; give how many messages that appended.
    """
    seq = rng.randint(1, max(number, 1))
    with suppress(ConfigError):  # nothing to revert, no such entry
        match rng.choice("aaaaaaawwwcrrtppWu"):
            case "a":
                fresh = [odd(rng, number + n) for n in range(rng.randint(1, 6))]
                memory.append(*fresh, pin=rng.random() < 0.06)
                return len(fresh)
            case "w":
                memory.context(rng.choice(WRITING))
            case "c":
                memory.compact(rng.choice(PROJECTING))
            case "r":
                memory.revert()
            case "t":
                memory.retract(seq)
            case "p":
                memory.pin(seq)
            case "u":
                memory.unpin(seq)
            case "W":
                memory.rewind(max(seq, number - 5))

    return 0


def holds(store):
    """
    Nothing is lost, numbers have no gaps, and the state is what the records come to.
    """
    records, state = store.read(THREAD), store.state(THREAD)
    assert [record.rec for record in records] == list(range(1, len(records) + 1))
    assert state == rebuilt(records)
    entries = Memory(store).entries()
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    view = Memory(store).view()
    gone = [took.sources for took in state.gone]
    assert Span.union([view.sources, *gone]) == Span.between(1, len(entries))
    assert all(span.isdisjoint(view.sources) for span in gone)
    assert sum(len(item.sources) for item in view) == len(view.sources)


class TestOddLogs:
    @pytest.mark.parametrize("seed", range(40))
    def test_come_out_alike_however_little_is_loaded(self, seed, monkeypatch):
        """
        Whatever two memories did to a log, a context is what `run` makes of the whole view.
        """
        monkeypatch.setattr("unabridged.viewing.FIRST", 3)
        monkeypatch.setattr("unabridged.viewing.ROOM", 4)
        rng = random.Random(seed)
        store = SqliteStore(":memory:") if seed % 4 == 0 else InMemoryStore()

        def opened():
            return Memory(store, count=tokens.words, ask=brief)

        memories, number = [opened(), opened()], 0
        for _ in range(30):
            memory = rng.choice(memories)
            number += attempt(memory, rng, number)
            strategy = rng.choice(PROJECTING)
            context = TrimContext(count=tokens.words)
            pure = run(strategy, opened().view(), context, ask=brief)
            assert shown(pure) == shown(memory.context(strategy, replace=False))
            if rng.random() < 0.1:
                memories[0] = opened()
        holds(store)
        assert opened().view() == memories[0].view() == memories[1].view()

    @pytest.mark.parametrize("text", ["", "\0", "\ud800", "\udfff\ud800", "\u2028", "w" * 2**20])
    def test_with_odd_texts_go_in_and_come_out(self, text, tmp_path):
        """
        Any text is a text, also as a name, an id or a thread's name.
        """
        message = user(text, id=f"{text[:9]}!", name=f"{text[:9]}!")
        memory = Memory(SqliteStore(tmp_path / "log.db"), f"{text[:9]}!")
        memory.append(message)
        again = Memory(SqliteStore(tmp_path / "log.db"), f"{text[:9]}!")

        assert (message,) == again.view().messages
        assert 1 == len(again.append(message).known)
        assert (message,) == Memory.from_dict(memory.to_dict()).view().messages

    def test_of_many_parallel_calls_stay_whole(self):
        """
        A thousand calls of one message and their results are one block.
        """
        ids = [f"c{number}" for number in range(1_000)]
        memory = Memory(strategy=Window(1), count=tokens.words)
        memory.append(user("go"), assistant(calls=[ToolCall(id_, "f") for id_ in ids]))
        memory.append(*[tool("r", call_id=id_) for id_ in reversed(ids)])

        assert 1_002 == len(memory.context().messages)

    @pytest.mark.parametrize("role", ["system", "user"])
    def test_of_many_pins_keep_them_all(self, role):
        """
        Two hundred pins in a row before the tail stay, also once a memory has let go of the rest.
        """
        memory = Memory(count=tokens.words)
        memory.context()
        for _ in range(988):
            memory.append(user("u"))
        memory.append(*[Message(role, "pinned") for _ in range(200)], pin=True)
        for _ in range(64):
            memory.append(user("u"))

        assert 200 + 200 == len(memory.context(Window(200)).messages)
        assert Memory(memory._store).context(Window(200)).view == memory.context(Window(200)).view


def break_off(ask):
    raise KeyboardInterrupt


def leave(ask):
    raise SystemExit(3)


def endless(ask):
    return endless(ask)


def stop(ask):
    raise StopIteration


def talks(ask):
    return "much too much " * 10_000


def saying(answer):
    return lambda ask: answer


MODELS = {
    "raises": failing(),
    "is out of memory": failing(MemoryError()),
    "is endless": endless,
    "stops": stop,
    "talks": talks,
    "says nothing": saying(""),
    "says blanks": saying(" \n"),
    "gives None": saying(None),
    "gives a number": saying(5),
    "gives bytes": saying(b"text"),
    "gives a list": saying(["text"]),
    "gives a message": saying(assistant("text")),
}


ACTS = {
    "append": lambda memory: memory.append(*talk(600)),
    "context": lambda memory: memory.context(),
    "retract": lambda memory: memory.retract(1),
    "pin": lambda memory: memory.pin(1),
    "clear": lambda memory: memory.clear(),
}


class TestModels:
    @pytest.mark.parametrize("ask", MODELS.values(), ids=MODELS)
    def test_that_fail_change_nothing(self, ask):
        """
        Empty, huge, no text, raised: nothing is written, and the result says so.
        """
        memory = Memory(strategy=Summarize(2, replace=True), ask=ask)
        memory.append(*talk(3))
        result = memory.context()

        assert 6 == len(result.messages) == memory._store.state(THREAD).rec
        assert 1 == len(result.warnings)

    @pytest.mark.parametrize("ask", [break_off, leave])
    def test_that_break_off_leave_the_memory_usable(self, ask):
        """
        Ctrl-C while a model answers writes nothing and holds no lock.
        """
        memory = Memory(strategy=Summarize(2, replace=True), ask=ask)
        memory.append(*talk(3))
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            memory.context()

        assert 6 == memory._store.state(THREAD).rec
        memory.append(user("goes on"))
        assert 7 == len(memory.entries())

    @pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
    def test_may_use_the_memory_that_asks(self, act):
        """
        An answer may come from something that appends to, or decides about, the same thread.
        """
        done = []

        def ask(_):
            if not done:
                done.append(act)
                act(memory)
            return "s"

        memory = Memory(strategy=Summarize(2, replace=True), ask=ask)
        memory.append(*talk(3))
        memory.context()

        holds(memory._store)
        assert Memory(memory._store).view() == memory.view()


class Flaky(InMemoryStore):
    """
    A store that fails once, at a call of its choice, before or after it did what was asked.
    """

    calls = 0
    fails_at = 0

    def _call(self):
        self.calls += 1
        if self.calls == self.fails_at:
            msg = "gone for a moment"
            raise StoreError(msg)

    def append(self, *args, **options):
        self._call()
        receipt = super().append(*args, **options)
        self._call()
        return receipt

    def state(self, thread):
        self._call()
        return super().state(thread)

    def entries(self, thread, span):
        self._call()
        return super().entries(thread, span)

    def read(self, thread, **options):
        self._call()
        return super().read(thread, **options)


DEEDS = {
    "append": lambda memory: memory.append(user("n"), user("m")),
    "context": lambda memory: memory.context(),
    "revert": lambda memory: memory.revert(),
    "retract": lambda memory: memory.retract(2),
    "pin": lambda memory: memory.pin(1),
    "clear": lambda memory: memory.clear(),
    "view": lambda memory: memory.view(),
}


class TestStores:
    @pytest.mark.parametrize("deed", DEEDS)
    def test_that_fail_leave_the_old_or_the_new(self, deed):
        """
        Wherever a store fails, the memory is in step with it afterwards.
        """
        for call in range(1, 10):
            store = Flaky()
            memory = Memory(store, strategy=Window(6) | Summarize(2, replace=True), ask=brief)
            memory.append(*talk(4))
            memory.context(Window(4), replace=True)
            store.calls, store.fails_at = 0, call
            with suppress(StoreError):
                DEEDS[deed](memory)
            store.fails_at = 0

            memory.append(user("goes on"))
            memory.context()
            holds(store)
            assert Memory(store).view() == memory.view()

    def test_that_run_full_keep_what_was_acknowledged(self, tmp_path):
        """
        No room on the disk is a StoreError; nothing is lost, and with room again it goes on.
        """
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        store = SqliteStore(tmp_path / "log.db", synchronous="NORMAL")
        memory, kept = Memory(store), 0
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, hard))
        try:
            for number in range(60):
                with suppress(StoreError):
                    memory.append(user(f"{number} " + "y" * 2_000))
                    kept += 1
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, before)

        assert 0 < kept < 60
        memory.append(user("goes on"))
        assert kept + 1 == len(Memory(SqliteStore(tmp_path / "log.db")).entries())
        holds(store)

    def test_with_a_damaged_file_raise_or_read(self, tmp_path):
        """
        A file with flipped bits is read, or refused as a store or log that is damaged.
        """
        path = tmp_path / "log.db"
        with SqliteStore(path) as store:
            store.append(THREAD, [Appended(0, message) for message in talk(100)], at=0.5)
            left = Drop(Span.between(1, 190), step="before", replace=True)
            store.append(THREAD, [Compacted((left,), 200)], at=0.5)
        whole = path.read_bytes()
        refused = 0
        for seed in range(40):
            rng = random.Random(seed)
            damaged = bytearray(whole)
            for _ in range(3):
                damaged[rng.randrange(100, len(damaged))] ^= 1 << rng.randrange(8)
            copy = tmp_path / f"{seed}.db"
            copy.write_bytes(damaged)
            try:
                with SqliteStore(copy, synchronous="OFF") as store:
                    memory = Memory(store)
                    memory.append(user("new"))
                    memory.context(Window(5))
                    memory.to_dict()
            except (StoreError, CorruptLogError):
                refused += 1

        assert 0 < refused < 40


class TestThreads:
    @pytest.mark.parametrize("kind", ["memory", "sqlite"])
    def test_hammer_one_memory(self, kind, tmp_path):
        """
        Six threads that append, write back and revert in one memory lose nothing.
        """
        store = InMemoryStore()
        if kind == "sqlite":
            store = SqliteStore(tmp_path / "log.db", synchronous="OFF")
        memory = Memory(store, count=tokens.words, ask=brief, strategy=Window(5))
        said, failed = [], []

        def work(name):
            rng = random.Random(name)
            for number in range(60):
                try:
                    done = memory.append(user(f"{name} {number}"), assistant("x"))
                    said.append(done.entries[0])
                    with suppress(LogConflictError):
                        memory.context(rng.choice(WRITING[:6]))
                    with suppress(ConfigError, LogConflictError):  # another thread was quicker
                        rng.choice([memory.revert, memory.context, memory.view])()
                except BaseException as error:  # noqa: BLE001  whatever it is, it is told
                    failed.append(error)

        threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert [] == failed
        assert 360 == len(said)
        entries = memory.entries()
        assert all(entries[entry.seq - 1].message == entry.message for entry in said)
        holds(store)
        assert Memory(store).view() == memory.view()


class Slow:
    """
    An async store that lets others run before and after each of its calls.
    """

    def __init__(self, store):
        self.store = store

    async def append(self, *args, **options):
        await asyncio.sleep(0)
        receipt = self.store.append(*args, **options)
        await asyncio.sleep(0)
        return receipt

    def __getattr__(self, name):
        async def called(*args, **options):
            await asyncio.sleep(0)
            return getattr(self.store, name)(*args, **options)

        return called


async def slowly(ask):
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return "s"


class TestCancelled:
    @pytest.mark.parametrize("deed", [name for name in DEEDS if name != "view"])
    def test_at_every_await_it_was_done_or_it_was_not(self, deed):
        """
        A cancelled operation leaves the old or the new log, no lock, and a memory in step.
        """

        async def main(steps):
            store = InMemoryStore()
            strategy = Window(8) | Summarize(2, replace=True)
            memory = AsyncMemory(Slow(store), strategy=strategy, ask=slowly)
            await memory.append(*talk(3))
            await memory.context(Window(4), replace=True)
            before = store.state(THREAD).rec
            task = asyncio.ensure_future(DEEDS[deed](memory))
            other = asyncio.ensure_future(memory.append(user("another task")))
            for _ in range(steps):
                await asyncio.sleep(0)
            ended = not task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await other
            holds(store)
            assert store.state(THREAD).rec - before in {1, 2, 3}
            assert await memory.view() == Memory(store).view()
            await memory.append(user("goes on"))
            await memory.context()
            assert await memory.view() == Memory(store).view()
            return ended

        ended = [asyncio.run(main(steps)) for steps in range(25)]
        assert not ended[0]
        assert ended[-1]


START = """
import random, sys
from unabridged import MaxRounds, Memory, Summarize, TokenBudget, ToolCall, Window
from unabridged import assistant, tokens, tool, user
from unabridged.errors import ConfigError, LogConflictError
from unabridged.stores import SqliteStore

path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
steps = (Window(6), Summarize(5), TokenBudget(20), MaxRounds(3))
store = SqliteStore(path, synchronous="NORMAL")
memory = Memory(store, count=tokens.words, ask=lambda ask: "s")
rng = random.Random(name)
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    said = f"{name} {number}"
    id = f"c{rng.randint(0, 3)}"
    message = rng.choice(
        [user(said), assistant(said, calls=[ToolCall(id, "f")]), tool(said, call_id=id)]
    )
    (entry,) = memory.append(message, assistant("ok")).entries[:1]
    print(entry.seq, said, sep=";", flush=True)
    try:
        memory.compact(rng.choice(steps))
        rng.choice([memory.revert, memory.view, lambda: memory.retract(entry.seq)])()
    except (ConfigError, LogConflictError):  # somebody else was quicker
        pass
"""


@contextmanager
def worker(path: Path, name: str, count: int) -> Iterator[subprocess.Popen[str]]:
    """
    A process that appends, writes back and reverts once it is told to go.
    """
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", START, str(path), name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(unabridged.__file__).parents[1])},
    )
    try:
        assert "ready\n" == process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def go(process):
    process.stdin.write("go\n")
    process.stdin.flush()


def acknowledged(lines):
    return [line.strip().split(";") for line in lines]


class TestProcesses:
    def test_write_back_and_revert_on_one_file(self, tmp_path):
        """
        Two processes and this one: no entry is lost, no number has a gap, and all see one view.
        """
        path = tmp_path / "log.db"
        store = SqliteStore(path, synchronous="NORMAL")
        memory = Memory(store, count=tokens.words, ask=brief)
        with worker(path, "one", 60) as one, worker(path, "two", 60) as two:
            go(one)
            go(two)
            for number in range(40):
                memory.append(user(f"here {number}"))
                with suppress(LogConflictError):
                    memory.context(WRITING[number % 6])
                with suppress(ConfigError, LogConflictError):
                    memory.revert()
            said = acknowledged(one.stdout) + acknowledged(two.stdout)
            assert 0 == one.wait() == two.wait()

        assert 120 == len(said)
        entries = memory.entries()
        assert 2 * 120 + 40 == len(entries)
        assert all(entries[int(seq) - 1].message.text == text for seq, text in said)
        holds(store)
        assert memory.view() == Memory(SqliteStore(path)).view()

    @pytest.mark.parametrize("lines", [1, 7, 20])
    def test_that_are_killed_leave_the_old_or_the_new(self, lines, tmp_path):
        """
        Killed (-9) amid write-backs: what was acknowledged is there, nothing by halves.
        """
        path = tmp_path / "log.db"
        with worker(path, f"killed {lines}", 10**6) as process:
            go(process)
            said = acknowledged([process.stdout.readline() for _ in range(lines)])
            process.send_signal(signal.SIGKILL)
            said += acknowledged(line for line in process.stdout if line.endswith("\n"))
            process.wait()

        store = SqliteStore(path)
        memory = Memory(store)
        entries = memory.entries()
        assert 0 == len(entries) % 2
        assert all(entries[int(seq) - 1].message.text == text for seq, text in said)
        holds(store)
        memory.append(user("goes on"))
        memory.context(Window(2, replace=True))
        holds(store)


class TestLongThreads:
    @pytest.mark.parametrize("kind", ["memory", "sqlite"])
    def test_are_read_from_their_tail(self, kind):
        """
        Of fifty thousand entries a context loads some hundred, also after every decision.
        """
        read = []

        class Counting(InMemoryStore if kind == "memory" else SqliteStore):
            def entries(self, thread, span):
                read.append(len(span))
                return super().entries(thread, span)

        store = Counting() if kind == "memory" else Counting(":memory:")
        for _ in range(10):
            Memory(store).append(*talk(2_500))
        decisions = (
            lambda memory: memory.context(Window(40, replace=True)),
            lambda memory: memory.revert(),
            lambda memory: memory.pin(1),
            lambda memory: memory.retract(25_000),
            lambda memory: memory.rewind(49_900),
            lambda memory: memory.context(NoCompaction() | Window(20) | TokenBudget(500)),
        )
        for decide in decisions:
            memory = Memory(store, count=tokens.words)
            decide(memory)
            memory.append(user("x"), assistant("y"))
            assert memory.context(Window(40)).messages

        assert sum(read) < 2_000
