"""
An SQLite file: how it is shared, written to, and what its errors mean.

One connection and one lock for all threads of a process. Writes begin as
writers (`BEGIN IMMEDIATE`), since one that begins as a reader cannot wait its
turn. No connection lives across a fork: it is closed before, and each side
opens its own when it needs one.
"""

import os
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from unabridged.errors import CorruptLogError, LogError, ReadOnlyError, StoreError
from unabridged.stores.forking import Forkable
from unabridged.stores.sqlite_erasing import Eraser, rewrite
from unabridged.stores.sqlite_opening import Opened, opened, seen, unwritable
from unabridged.stores.sqlite_schema import is_lock
from unabridged.stores.verifying import Integrity
from unabridged.text import cause, short

__all__ = ["Row", "SqliteFile"]

Row: TypeAlias = tuple[Any, ...]
T = TypeVar("T")

# sqlite3 cannot always decode what SQLite says of a damaged file
_FAULTS = (sqlite3.Error, UnicodeDecodeError)
_UNSUMMED = """SELECT count(*) FROM records WHERE substr(body, 1, 6) IN ('{"v":1', '{"v":2')"""
_ABANDONED: list[sqlite3.Connection] = []


class SqliteFile(Forkable):
    """
    One open database, shared by the threads of this process.

    >>> file = SqliteFile(":memory:", timeout=10.0, synchronous="FULL")
    >>> file.rows("SELECT max(version) FROM unabridged")
    [(3,)]
    """

    def __init__(self, path: str, *, timeout: float, synchronous: str) -> None:
        self.path = path
        self._timeout = timeout
        self._synchronous = synchronous
        self._connection: sqlite3.Connection | None = None
        self._how: Opened | None = None
        self._pid = os.getpid()
        self._closed = False
        self._opened = 0
        self.eraser = Eraser(timeout)
        super().__init__()
        self.version()

    @property
    def lock(self) -> Any:
        """
        Held by the thread that uses the connection.
        """
        return self._lock

    def version(self) -> tuple[int, int]:
        """
        Changes when another connection has written, or when this one is a new one.
        """
        with self.lock:
            try:
                (version,) = self._live().execute("PRAGMA data_version").fetchone()
            except _FAULTS as error:
                raise self._meant(error) from error
            return self._opened, version

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        """
        What the query finds. Text that is not UTF-8 comes as bytes.
        """
        with self.lock:
            try:
                connection = self._live()
                try:
                    return connection.execute(query, values).fetchall()
                except sqlite3.OperationalError as error:
                    if "decode" not in str(error):
                        raise
                connection.text_factory = _text_or_bytes
                try:
                    return connection.execute(query, values).fetchall()
                finally:
                    connection.text_factory = str
            except _FAULTS as error:
                raise self._meant(error) from error

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        """
        Run a statement of a `write`; the number of the row it inserted.
        """
        return self._live().execute(statement, values).lastrowid or 0

    def many(self, statement: str, rows: Sequence[Row]) -> None:
        """
        Run a statement of a `write` for each row.
        """
        self._live().executemany(statement, rows)

    def write(self, work: Callable[[], T], undo: Callable[[], None]) -> T:
        """
        Do *work* in one transaction: all of it is written, or nothing and *undo* is called.
        """
        with self.lock:
            connection = None
            try:
                connection = self._writable()
                connection.execute("BEGIN IMMEDIATE")
                done = work()
                connection.execute("COMMIT")
            except BaseException as error:
                undo()
                if connection is not None and connection.in_transaction:
                    connection.rollback()
                if isinstance(error, _FAULTS):
                    raise self._meant(error) from error
                raise
            self.eraser.after_write(connection)

            return done

    def deleted_thread(self) -> None:
        """
        Say in a `write` that it deleted a thread.
        """
        self.eraser.removed_thread(self._live())

    def integrity(self) -> Integrity:
        """
        What SQLite finds wrong with the file, and how many records have no checksum.
        """
        try:
            found = [str(line) for (line,) in self.rows("PRAGMA integrity_check")]
            ((unsummed,),) = self.rows(_UNSUMMED)
        except LogError as error:
            return Integrity((str(error),), 0)
        damage = tuple(f"{short(self.path)}: {line}" for line in found if line != "ok")

        return Integrity(damage, unsummed)

    def rewrite(self) -> None:
        """
        Write the file anew, with nothing in it but what is there.
        """
        with self.lock:
            try:
                rewrite(connection := self._writable())
            except _FAULTS as error:
                raise self._meant(error) from error
            self.eraser.removed(1)
            self.eraser.after_write(connection)

    def close(self) -> None:
        """
        Close it for good.
        """
        with self.lock:
            self._closed = True
            if self._connection is not None and self._pid == os.getpid():
                self.eraser.before_close(self._connection)
            self._let_go()

    def __del__(self) -> None:
        # a store that nobody closed; newer Pythons complain of a connection that is only dropped
        connection = getattr(self, "_connection", None)
        if connection is not None and self._pid == os.getpid():
            connection.close()

    def _live(self) -> sqlite3.Connection:
        if self._connection is not None and self._pid == os.getpid():
            if self._how is None or not self._how.seen or self._how.seen == seen(self.path):
                return self._connection
            self._let_go()  # it was opened for reading, and somebody wrote since
        if self._closed:
            msg = f"{short(self.path)}: this store is closed; open a new SqliteStore"
            raise StoreError(msg)
        if self._connection is not None:  # a fork that Python was not told of
            self._abandon()
        self._how = opened(self.path, self._timeout, self._synchronous)
        self._connection, self._pid = self._how.connection, os.getpid()
        self._opened += 1
        if not self._how.why:
            self.eraser.begin(self._connection)

        return self._connection

    def _writable(self) -> sqlite3.Connection:
        connection = self._live()
        if self._how is None or not self._how.why:
            return connection
        if not unwritable(self.path):  # it may be by now
            self._let_go()
            connection = self._live()
        if self._how.why:
            raise ReadOnlyError(_read_only(self.path, self._how.why))

        return connection

    def _meant(self, error: Exception) -> LogError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if isinstance(error, sqlite3.Error) and is_lock(error):
            return StoreError(
                f"{short(self.path)}: another writer held it for more than {self._timeout:g} s "
                f"({cause(error)}); nothing was written, try again or raise timeout="
            )
        if code == sqlite3.SQLITE_READONLY:
            return ReadOnlyError(_read_only(self.path, str(error)))
        if "not a database" in str(error):
            return StoreError(
                f"{short(self.path)}: not an SQLite database ({cause(error)}); "
                "give the path of another file"
            )
        if code == sqlite3.SQLITE_CORRUPT:
            return CorruptLogError(
                f"{short(self.path)}: the file is damaged ({cause(error)}); "
                "`verify()` says which records are"
            )

        return StoreError(f"{short(self.path)}: {cause(error)}")

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _abandon(self) -> None:
        """
        Leave the connection to the process that opened it: to close it here would harm that one.
        """
        if self._connection is not None:
            _ABANDONED.append(self._connection)
            self._connection = None

    def before_fork(self, patience: float) -> None:
        """
        Wait for the threads that use it, and close the file until it is needed again.
        """
        super().before_fork(patience)
        if self._taken and self.path != ":memory:":
            self._let_go()

    def after_fork(self, *, child: bool) -> None:
        """
        Let the threads of this side go on.
        """
        if child:
            if not self._taken and self.path != ":memory:":
                self._abandon()
            self._pid = os.getpid()
        super().after_fork(child=child)


def _read_only(path: str, why: str) -> str:
    return (
        f"{short(path)}: opened for reading only, {why}; nothing was written. Let this user "
        "write the file and its folder, or open a copy of it elsewhere"
    )


def _text_or_bytes(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
