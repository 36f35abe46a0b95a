"""
An SQLite file: how it is opened, shared, written to, and what its errors mean.

One connection and one lock for all threads of a process. Writes begin as
writers (`BEGIN IMMEDIATE`), since one that begins as a reader cannot wait its
turn. No connection lives across a fork: it is closed before, and each side
opens its own when it needs one.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from weakref import WeakSet

from unabridged.errors import StoreError
from unabridged.stores.sqlite_schema import is_lock, prepare
from unabridged.text import cause, short

__all__ = ["Row", "SqliteFile"]

Row: TypeAlias = tuple[Any, ...]
T = TypeVar("T")


# sqlite3 cannot always decode what SQLite says of a damaged file
_FAULTS = (sqlite3.Error, UnicodeDecodeError)


class SqliteFile:
    """
    One open database, shared by the threads of this process.

    >>> file = SqliteFile(":memory:", timeout=10.0, synchronous="FULL")
    >>> file.rows("SELECT max(version) FROM unabridged")
    [(2,)]
    """

    def __init__(self, path: str, *, timeout: float, synchronous: str) -> None:
        self.path = path
        self.lock = threading.RLock()
        self._timeout = timeout
        self._synchronous = synchronous
        self._connection: sqlite3.Connection | None = None
        self._pid = os.getpid()
        self._closed = False
        self._opened = 0
        self.version()
        _OPEN.add(self)

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
                connection = self._live()
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

            return done

    def close(self) -> None:
        """
        Close it for good.
        """
        with self.lock:
            self._closed = True
            self._let_go()

    def __del__(self) -> None:
        # a store that nobody closed; newer Pythons complain of a connection that is only dropped
        connection = getattr(self, "_connection", None)
        if connection is not None and self._pid == os.getpid():
            connection.close()

    def _live(self) -> sqlite3.Connection:
        if self._connection is not None and self._pid == os.getpid():
            return self._connection
        if self._closed:
            msg = f"{self.path}: this store is closed; open a new SqliteStore"
            raise StoreError(msg)
        if self._connection is not None:  # a fork that Python was not told of
            _ABANDONED.append(self._connection)
            self._connection = None
        if self.path != ":memory:":
            self._refuse_a_folder()
        connection = sqlite3.connect(
            self.path, timeout=self._timeout, isolation_level=None, check_same_thread=False
        )
        try:
            prepare(connection, short(self.path), self._timeout, self._synchronous)
        except BaseException:
            connection.close()
            raise
        self._connection, self._pid = connection, os.getpid()
        self._opened += 1

        return connection

    def _refuse_a_folder(self) -> None:
        name, path = short(self.path), Path(self.path)
        try:
            has_folder, is_folder = path.absolute().parent.is_dir(), path.is_dir()
        except OSError as error:  # a folder that cannot be entered, a name that is too long
            msg = f"{name}: cannot be opened ({cause(error)}); give a path that this user may read"
            raise StoreError(msg) from error
        if not has_folder:
            msg = f"{name}: its directory does not exist; create it first"
            raise StoreError(msg)
        if is_folder:
            msg = f"{name}: this is a directory; give the path of a file in it"
            raise StoreError(msg)

    def _meant(self, error: Exception) -> StoreError:
        if isinstance(error, sqlite3.Error) and is_lock(error):
            return StoreError(
                f"{self.path}: another writer held it for more than {self._timeout:g} s "
                f"({error}); nothing was written, try again or raise timeout="
            )
        if "not a database" in str(error):
            return StoreError(
                f"{self.path}: not an SQLite database ({error}); give the path of another file"
            )

        return StoreError(f"{short(self.path)}: {cause(error)}")

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def before_fork(self) -> None:
        """
        Wait for the threads that use it, and close the file until it is needed again.
        """
        self.lock.acquire()
        if self.path != ":memory:":
            self._let_go()

    def after_fork(self) -> None:
        """
        Let the threads of this side go on.
        """
        self._pid = os.getpid()
        self.lock.release()


_OPEN: WeakSet[SqliteFile] = WeakSet()
_FORKING: list[SqliteFile] = []
_ABANDONED: list[sqlite3.Connection] = []


def _before_fork() -> None:
    for file in list(_OPEN):
        file.before_fork()
        _FORKING.append(file)


def _after_fork() -> None:
    while _FORKING:
        _FORKING.pop().after_fork()


if hasattr(os, "register_at_fork"):  # pragma: no branch
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


def _text_or_bytes(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
