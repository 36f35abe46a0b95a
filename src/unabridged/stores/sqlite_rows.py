"""
The rows of an SQLite store: what is written of a record, and how it is read again.

A row's body is the record as `codec.record_text` writes it, whole; the other
columns are what rows are found by and the marks of an entry.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from unabridged.codec import record_of_text, record_text
from unabridged.errors import CorruptLogError
from unabridged.links import Marks
from unabridged.records import Appended, Entry, Record
from unabridged.spans import Span
from unabridged.stores.sqlite_file import Row, SqliteFile
from unabridged.stores.writing import entry_of, mark_of

__all__ = ["Lines", "Pending", "stored", "unstored"]

_LARGEST = 2**63 - 1
_OF_THREAD = "thread = (SELECT id FROM threads WHERE name = ?)"
_ENTRIES = f"SELECT rec, body, seq, head, opener, asked FROM records WHERE {_OF_THREAD}"  # noqa: S608
_ONE_ENTRY = f"{_ENTRIES} AND seq = ?"
_SOME_ENTRIES = f"{_ENTRIES} AND seq >= ? AND seq <= ? ORDER BY seq"
_FOUND = f"{_ENTRIES} AND message_id = ? ORDER BY seq DESC LIMIT 1"
_JOINED = (
    f"SELECT seq, head FROM records INDEXED BY joins WHERE {_OF_THREAD} "  # noqa: S608
    "AND head < seq AND seq > ? ORDER BY seq"
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


class Lines:
    """
    Reads the records and entries of one thread.
    """

    def __init__(self, file: SqliteFile, thread: str) -> None:
        self._file = file
        self._thread = thread
        self._name = stored(thread)

    def entries(self, span: Span) -> Iterator[Entry]:
        """
        The entries of the span that there are, in order.
        """
        for first, last in span.ranges:
            if first == last:
                rows = self._file.rows(_ONE_ENTRY, (self._name, min(first, _LARGEST)))
            else:
                bounds = (min(first, _LARGEST), min(last, _LARGEST))
                rows = self._file.rows(_SOME_ENTRIES, (self._name, *bounds))
            for row in rows:
                yield self._entry(row)

    def links(self, after: int) -> list[Row]:
        """
        As `Store.links`.
        """
        return self._file.rows(_JOINED, (self._name, after))

    def find(self, message_id: str) -> Entry | None:
        """
        The newest entry with this message id.
        """
        rows = self._file.rows(_FOUND, (self._name, stored(message_id)))
        return self._entry(rows[0]) if rows else None

    def records(
        self, after: int, before: int | None, last: int | None, marks: Sequence[str]
    ) -> list[Record]:
        """
        As `Store.read`.
        """
        bounds = (after, _LARGEST if before is None else before)
        limit = -1 if last is None else max(last, 0)
        if not marks:
            rows = self._rows("", "", (*bounds, limit))
        else:
            rows = []
            for mark in set(marks):
                index, also = ("", "") if mark == "appended" else _BY_KIND
                rows += self._rows(index, f"AND kind = ? {also}", (*bounds, mark, limit))
            rows.sort(key=lambda row: -row[0])
        chosen = rows if last is None else rows[:limit]

        return [self._record(row) for row in reversed(chosen)]

    def _rows(self, index: str, where: str, values: Sequence[Any]) -> list[Row]:
        query = (
            f"SELECT rec, body FROM records {index} WHERE {_OF_THREAD} "  # noqa: S608
            f"AND rec > ? AND rec < ? {where} ORDER BY rec DESC LIMIT ?"
        )
        return self._file.rows(query, (self._name, *values))

    def _record(self, row: Row) -> Record:
        rec, text = row[0], row[1]
        try:
            record = record_of_text(text)
        except CorruptLogError as error:
            raise self._corrupt(rec, str(error)) from error
        if record.rec != rec:
            raise self._corrupt(rec, f"damaged record: it says that it is record {record.rec}")

        return record

    def _entry(self, row: Row) -> Entry:
        record = self._record(row)
        if not isinstance(record.body, Appended) or record.body.seq != row[2]:
            raise self._corrupt(row[0], f"damaged record: it does not append entry {row[2]}")

        return entry_of(record, Marks(row[3], row[4], row[5]))

    def _corrupt(self, rec: int, why: str) -> CorruptLogError:
        return CorruptLogError(f"{self._file.path}: thread {self._thread!r}, record {rec}: {why}")


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
        text = record_text(record)
        row: Row = (mark_of(body), None, None, None, None, None, None)
        if isinstance(body, Appended) and marks is not None:
            message_id = None if body.message.id is None else stored(body.message.id)
            row = ("appended", body.seq, message_id, body.pinned, *marks)
        self._waiting.append((self.number, record.rec, *row, record.at, text))

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
        rows = self._file.rows(
            "SELECT head, opener, asked FROM records WHERE thread = ? AND seq = ?",
            (self.number, seq),
        )
        return Marks(*rows[0])

    def crossed(self, seq: int) -> bool:
        """
        As `states.Log.crossed`.
        """
        self.flush()
        rows = self._file.rows(
            "SELECT 1 FROM records WHERE thread = ? AND seq > ? AND head <= ? AND head < seq"
            " LIMIT 1",
            (self.number, seq, seq),
        )
        return bool(rows)

    def decisions(self) -> Iterable[Record]:
        """
        As `states.Log.decisions`.
        """
        self.flush()
        return self.records(0, None, None, ("decided",))
