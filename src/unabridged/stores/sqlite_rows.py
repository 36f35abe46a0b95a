"""
The rows of an SQLite store: what is written of a record, and how it is read again.

A row's body is the record as `codec.record_text` writes it, whole; the other
columns are what rows are found by and the marks of an entry. The checksum in
the body covers them too, so all of a row is read even where its body would do.
The rows of a
fork are its own; what came before is read, up to there, in the rows of the
thread it was forked from.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from unabridged.codec import record_of_text, record_text
from unabridged.errors import CorruptLogError
from unabridged.links import Marks
from unabridged.records import Appended, Entry, Record
from unabridged.spans import Span
from unabridged.stores.sqlite_file import Row, SqliteFile
from unabridged.stores.writing import entry_of, mark_of
from unabridged.text import brief

__all__ = ["Lines", "Pending", "stored", "unstored"]

_LARGEST = 2**63 - 1
_COLUMNS = "thread, rec, kind, seq, message_id, pinned, head, opener, asked, at, body"
_ENTRIES = f"SELECT {_COLUMNS} FROM records WHERE thread = "  # noqa: S608
_OWN = "(SELECT id FROM threads WHERE name = ?)"
_REC, _SEQ, _MARKED, _BODY = 1, 3, slice(6, 9), 10
_ONE_ENTRY = "AND seq = ?"
_SOME_ENTRIES = "AND seq >= ? AND seq <= ? ORDER BY seq"
_FOUND = "AND message_id = ? AND seq <= ? ORDER BY seq DESC LIMIT 1"
_JOINED = (
    "SELECT seq, head FROM records INDEXED BY joins WHERE thread = ? "
    "AND head < seq AND seq > ? AND seq <= ? ORDER BY seq"
)
_RUNS = """
WITH RECURSIVE runs (thread, rec, seq, depth) AS (
  SELECT id, ?, ?, 0 FROM threads WHERE name = ?
  UNION ALL
  SELECT forks.parent, min(forks.rec, runs.rec), min(forks.seq, runs.seq), depth + 1
  FROM runs JOIN forks ON forks.thread = runs.thread
)
SELECT thread, rec, seq FROM runs ORDER BY depth
"""
_ENTRY, _RECORD = "entry", "record"
_KNOWN = "SELECT max(rec) FROM threads WHERE id = ? OR name = ?"
_MARKS = "SELECT head, opener, asked FROM records WHERE thread = ? AND seq = ?"
_CROSSED = (
    "SELECT 1 FROM records "
    "WHERE thread = ? AND seq > ? AND seq <= ? AND head <= ? AND head < seq LIMIT 1"
)
_INSERT = "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def stored(text: str) -> str | bytes:
    r"""
    The text as SQLite takes it: as bytes if it holds a lone surrogate.

    >>> stored("a"), stored(chr(0xD800))
    ('a', b'\xed\xa0\x80')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")

    return text


def unstored(value: str | bytes) -> str:
    """
    The text that was `stored`.

    >>> unstored(stored(chr(0xD800))) == chr(0xD800)
    True
    """
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


class Run(NamedTuple):
    """
    The rows of one thread that another reads: from entry *first* on, up to *rec* and *seq*.
    """

    thread: int
    rec: int
    first: int
    seq: int


class Lines:
    """
    Reads the records and entries of one thread.
    """

    def __init__(self, file: SqliteFile, thread: str) -> None:
        self._file = file
        self._thread = thread
        self._name = stored(thread)
        self._known: tuple[Run, ...] = ()

    def entries(self, span: Span) -> Iterator[Entry]:
        """
        The entries of the span that there are, in order.
        """
        own = self._rows_of(_OWN, self._name, span)
        if len(own) < len(span):
            for run in reversed(self._inherited()):
                part = span & Span.between(run.first, run.seq)
                yield from map(self._entry, self._rows_of("?", run.thread, part))
        yield from map(self._entry, own)

    def _rows_of(self, which: str, thread: object, span: Span) -> list[Row]:
        found: list[Row] = []
        for first, last in span.ranges:
            low, high = min(first, _LARGEST), min(last, _LARGEST)
            if low == high:
                bounds: Row = (thread, low)
                query = f"{_ENTRIES}{which} {_ONE_ENTRY}"
            else:
                query, bounds = f"{_ENTRIES}{which} {_SOME_ENTRIES}", (thread, low, high)
            try:
                found += self._file.rows(query, bounds)
            except CorruptLogError as error:
                one = f"{_ENTRIES}{which} {_ONE_ENTRY}"
                raise self._unreadable(_ENTRY, one, bounds, error) from error

        return found

    def links(self, after: int) -> list[Row]:
        """
        As `Store.links`.
        """
        return [
            row
            for run in reversed(self._runs())
            if run.seq > after
            for row in self._file.rows(_JOINED, (run.thread, after, run.seq))
        ]

    def find(self, message_id: str) -> Entry | None:
        """
        The newest entry with this message id.
        """
        id_ = stored(message_id)
        rows = self._file.rows(f"{_ENTRIES}{_OWN} {_FOUND}", (self._name, id_, _LARGEST))
        for run in () if rows else self._inherited():
            rows = self._file.rows(f"{_ENTRIES}? {_FOUND}", (run.thread, id_, run.seq))
            if rows:
                break

        return self._entry(rows[0]) if rows else None

    def records(
        self, after: int, before: int | None, last: int | None, marks: Sequence[str]
    ) -> list[Record]:
        """
        As `Store.read`.
        """
        stop = _LARGEST if before is None else before
        chosen: list[Row] = []
        for run in self._runs():
            limit = -1 if last is None else max(last - len(chosen), 0)
            bounds = (run.thread, after, min(stop, run.rec + 1))
            if limit and bounds[1] + 1 < bounds[2]:
                chosen += self._newest(bounds, limit, marks)

        return [self._record(row) for row in reversed(chosen)]

    def _newest(self, bounds: Row, limit: int, marks: Sequence[str]) -> list[Row]:
        if not marks:
            return self._rows("", "", (*bounds, limit))
        rows: list[Row] = []
        for mark in set(marks):
            index, also = ("", "") if mark == "appended" else _BY_KIND
            rows += self._rows(index, f"AND kind = ? {also}", (*bounds, mark, limit))
        rows.sort(key=lambda row: -row[1])

        return rows if limit < 0 else rows[:limit]

    def _rows(self, index: str, where: str, values: Sequence[Any]) -> list[Row]:
        query = (
            f"SELECT {_COLUMNS} FROM records {index} WHERE thread = ? "  # noqa: S608
            f"AND rec > ? AND rec < ? {where} ORDER BY rec DESC LIMIT ?"
        )
        try:
            return self._file.rows(query, values)
        except CorruptLogError as error:
            one = f"SELECT {_COLUMNS} FROM records WHERE thread = ? AND rec = ?"  # noqa: S608
            bounds = (values[0], values[1] + 1, values[2] - 1)
            raise self._unreadable(_RECORD, one, bounds, error) from error

    def _unreadable(
        self, what: str, query: str, bounds: Row, error: CorruptLogError
    ) -> CorruptLogError:
        """
        The error of a file in which SQLite cannot read these rows, with the number of the first.
        """
        thread, *numbers = bounds
        known = [number for number in self._file.rows(_KNOWN, (thread, thread))[0] if number]
        for number in range(max(numbers[0], 1), min([numbers[-1], *known]) + 1):
            try:
                self._file.rows(query, (thread, number))
            except CorruptLogError:
                return CorruptLogError(f"{error}; thread {self._thread!r}, {what} {number}")

        return CorruptLogError(f"{error}; thread {self._thread!r}")

    def _runs(self) -> tuple[Run, ...]:
        """
        Where its rows are, its own first; none if there is no such thread.
        """
        if not self._known:
            rows = self._file.rows(_RUNS, (_LARGEST - 1, _LARGEST, self._name))
            firsts = (*(seq + 1 for _, _, seq in rows[1:]), 1)
            self._known = tuple(
                Run(thread, rec, first, seq)
                for (thread, rec, seq), first in zip(rows, firsts, strict=False)
            )

        return self._known

    def _inherited(self) -> tuple[Run, ...]:
        return self._runs()[1:]

    def _record(self, row: Row) -> Record:
        rec = row[_REC]
        try:
            record = record_of_text(row[_BODY], _beside(row))
        except CorruptLogError as error:
            raise self._corrupt(rec, str(error)) from error
        if record.rec != rec:
            raise self._corrupt(rec, f"damaged record: it says that it is record {record.rec}")

        return record

    def _entry(self, row: Row) -> Entry:
        record = self._record(row)
        if not isinstance(record.body, Appended) or record.body.seq != row[_SEQ]:
            raise self._corrupt(row[_REC], f"damaged record: it does not append entry {row[_SEQ]}")

        return entry_of(record, Marks(*row[_MARKED]))

    def _corrupt(self, rec: int, why: str) -> CorruptLogError:
        return CorruptLogError(
            f"{self._file.path}: thread {brief(self._thread)}, record {rec}: {why}"
        )


def _beside(row: Row) -> bytes:
    """
    What stands beside the body of a row, in a form that every version of Python gives it.
    """
    return ascii(row[:_BODY]).encode()


_BY_KIND = ("INDEXED BY decisions", "AND kind <> 'appended'")


class Pending(Lines):
    """
    The log of a thread while an append is at work; rows are written in one go.
    """

    def __init__(self, file: SqliteFile, thread: str, number: int) -> None:
        super().__init__(file, thread)
        self.number = number
        self._waiting: list[Row] = []

    def take(self, record: Record, marks: Marks | None) -> None:
        """
        Write the record, now or when anybody asks for it.
        """
        body = record.body
        row: Row = (mark_of(body), None, None, None, None, None, None)
        if isinstance(body, Appended) and marks is not None:
            message_id = None if body.message.id is None else stored(body.message.id)
            row = ("appended", body.seq, message_id, int(body.pinned), *marks)
        row = (self.number, record.rec, *row, float(record.at))
        self._waiting.append((*row, record_text(record, _beside(row))))

    def flush(self) -> None:
        """
        Write what is waiting.
        """
        if self._waiting:
            self._file.many(_INSERT, self._waiting)
            self._waiting = []

    def marks(self, seq: int) -> Marks:
        """
        As `states.Log.marks`.
        """
        self.flush()
        rows = self._file.rows(_MARKS, (self.number, seq))
        if not rows:
            holder = next(run for run in self._inherited() if run.first <= seq <= run.seq)
            rows = self._file.rows(_MARKS, (holder.thread, seq))

        return Marks(*rows[0])

    def crossed(self, seq: int) -> bool:
        """
        As `states.Log.crossed`.
        """
        self.flush()
        return any(
            self._file.rows(_CROSSED, (run.thread, seq, run.seq, seq))
            for run in self._runs()
            if run.seq > seq
        )

    def decisions(self) -> Iterable[Record]:
        """
        As `states.Log.decisions`.
        """
        self.flush()
        return self.records(0, None, None, ("decided",))
