"""
Looking through all that a store holds, for damage.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from attrs import frozen

from unabridged.errors import CorruptLogError
from unabridged.records import Appended, Entry, Record
from unabridged.spans import NOTHING, Span
from unabridged.states import Replay, ThreadState

__all__ = ["Integrity", "Verified", "Verifying", "verified", "verifying"]

_BATCH = 256
_TRIES = 3
_MISFITS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@frozen
class Verifying:
    """
    How far a look through a store has come: *done* of *records*, and the *thread* it is in.

    >>> str(Verifying("ana", 512, 1_000))
    "thread 'ana': 512 of 1,000 records"
    """

    thread: str
    done: int
    records: int

    def __str__(self) -> str:
        return f"thread {self.thread!r}: {self.done:,} of {self.records:,} records"


@frozen
class Verified:
    """
    What a look through a store found: a line for each *damage*, none if all is *sound*.

    *unsummed* of the *records* were written by a version that kept no checksums:
    of these only what cannot be read, or does not fit, is noticed.

    >>> print(Verified(threads=2, records=40))
    2 threads, 40 records: sound
    >>> print(Verified(2, 40, damage=("thread 'a', record 7: damaged record: not JSON",)))
    2 threads, 40 records: damaged
    thread 'a', record 7: damaged record: not JSON
    """

    threads: int
    records: int
    unsummed: int = 0
    damage: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """
        Whether there is no damage.
        """
        return not self.damage

    def __str__(self) -> str:
        head = f"{self.threads:,} threads, {self.records:,} records"
        if self.unsummed:
            head += f" ({self.unsummed:,} without a checksum)"

        return "\n".join([f"{head}: {'sound' if self.sound else 'damaged'}", *self.damage])


class Integrity(NamedTuple):
    """
    What a store says of its own file: damage, and how many records have no checksum.

    >>> Integrity(("page 7 is never used",), 0).damage
    ('page 7 is never used',)
    """

    damage: tuple[str, ...]
    unsummed: int


class _Read(Protocol):
    """
    The part of a store that is needed here.
    """

    def threads(self) -> tuple[str, ...]: ...

    def state(self, thread: str) -> ThreadState: ...

    def read(
        self,
        thread: str,
        *,
        after: int = 0,
        before: int | None = None,
        last: int | None = None,
    ) -> tuple[Record, ...]: ...

    def entries(self, thread: str, span: Span) -> tuple[Entry, ...]: ...


@runtime_checkable
class _Whole(Protocol):
    def integrity(self) -> Integrity: ...


Progress: TypeAlias = Callable[[Verifying], object]


def verified(store: _Read, progress: Progress | None = None) -> Verified:
    """
    Look through all of *store*: what `Store.verify` does, for any store.

    A store with a method `integrity` is asked first what is wrong with its file.

    >>> from unabridged.stores import InMemoryStore
    >>> verified(InMemoryStore()).sound
    True
    """
    walk = verifying(store)
    while True:
        try:
            step = next(walk)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        if progress is not None:
            progress(step)


def verifying(store: _Read) -> Generator[Verifying, None, Verified]:
    """
    As `verified`, in steps of at most 256 records.

    >>> from unabridged import Memory, user
    >>> memory = Memory()
    >>> _ = memory.append(user("a"), user("b"))
    >>> [step.done for step in verifying(memory.store)]
    [2]
    """
    whole = store.integrity() if isinstance(store, _Whole) else Integrity((), 0)
    damage = [*whole.damage]
    try:
        newest = {name: _newest(store, name) for name in store.threads()}
    except CorruptLogError as error:
        return Verified(0, 0, whole.unsummed, (*damage, str(error)))
    records, before = sum(newest.values()), 0
    for name, last in newest.items():
        for done in _looked_through(store, name, damage):
            yield Verifying(name, before + min(done, last), records)
        before += last

    return Verified(len(newest), records, whole.unsummed, tuple(dict.fromkeys(damage)))


def _newest(store: _Read, name: str) -> int:
    """
    The number of the newest record that is not damaged.
    """
    try:
        return store.state(name).rec
    except CorruptLogError:
        pass
    try:
        return max((record.rec for record in store.read(name, last=1)), default=0)
    except CorruptLogError:
        return 0


def _looked_through(store: _Read, name: str, damage: list[str]) -> Iterator[int]:
    """
    Add what is wrong with one thread, and say how far that is after each step.

    A thread that is made anew or pruned meanwhile is looked through again.
    """
    found: list[str] = []
    for _ in range(_TRIES):
        found.clear()
        try:
            state = store.state(name)
        except CorruptLogError as error:
            found.append(str(error))
            yield from _compared(store, name, None, found)
            break
        yield from _compared(store, name, state, found)
        if (now := _state(store, name)) is None or (now.born, now.lost) == (state.born, state.lost):
            break
    damage += found


def _state(store: _Read, name: str) -> ThreadState | None:
    try:
        return store.state(name)
    except CorruptLogError:
        return None


def _compared(
    store: _Read, name: str, state: ThreadState | None, found: list[str]
) -> Iterator[int]:
    """
    Read all records, and compare what they come to with what is kept beside them.
    """
    replay: Replay | None = Replay()
    last = _newest(store, name) if state is None else state.rec
    gaps = NOTHING
    for first in range(1, last + 1, _BATCH):
        numbers = Span.between(first, min(first + _BATCH - 1, last))
        damaged = len(found)
        records = _records(store, name, numbers, found)
        if len(found) == damaged:
            gaps = gaps | (numbers - Span.of(record.rec for record in records))
        if len(found) > damaged or gaps:
            replay = None
        elif replay is not None and (why := _replayed(store, name, records, replay)):
            found.append(why)
            replay = None
        yield numbers.last
    if state is None:
        return
    if len(gaps) > len(state.lost):
        found.append(f"thread {name!r}: of the records {gaps} some are missing")
    elif replay is not None and replay.state != state:
        found.append(
            f"thread {name!r}: the state kept beside record {state.rec} is not what the records "
            "come to"
        )


def _records(store: _Read, name: str, numbers: Span, found: list[str]) -> Sequence[Record]:
    """
    The records of these numbers that can be read; of the others it is said why not.
    """
    try:
        return store.read(name, after=numbers.first - 1, before=numbers.last + 1)
    except CorruptLogError:
        pass
    records: list[Record] = []
    for number in numbers:
        try:
            records += store.read(name, after=number - 1, before=number + 1)
        except CorruptLogError as error:
            found.append(str(error))

    return records


def _replayed(store: _Read, name: str, records: Iterable[Record], replay: Replay) -> str:
    """
    What does not fit, of these records or of the marks kept beside their entries; "" if all does.
    """
    seqs: dict[int, int] = {}
    for record in records:
        try:
            replay.push(record)
        except _MISFITS as error:
            why = f"does not fit those before it ({error!r:.80})"
            return f"thread {name!r}, record {record.rec}: {why}"
        if isinstance(record.body, Appended):
            seqs[record.body.seq] = record.rec
    try:
        entries = store.entries(name, Span.of(seqs))
    except CorruptLogError as error:
        return str(error)
    for entry in entries:
        if (entry.head, entry.opener, entry.asked) != replay.marks(entry.seq):
            why = f"what is kept beside entry {entry.seq} is wrong"
            return f"thread {name!r}, record {entry.rec}: {why}"
        seqs.pop(entry.seq)
    for seq, rec in seqs.items():
        return f"thread {name!r}, record {rec}: entry {seq} is not found by its number"

    return ""
