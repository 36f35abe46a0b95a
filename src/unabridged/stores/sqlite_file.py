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
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from weakref import WeakSet

from unabridged.errors import StoreError

__all__ = ["Row", "SqliteFile"]

SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE unabridged (version INTEGER NOT NULL);
CREATE TABLE threads (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name NOT NULL UNIQUE,
  rec INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  links TEXT NOT NULL
);
CREATE TABLE states (
  thread INTEGER NOT NULL,
  part TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (thread, part)
);
CREATE TABLE records (
  thread INTEGER NOT NULL,
  rec INTEGER NOT NULL,
  kind TEXT NOT NULL,
  seq INTEGER,
  message_id,
  pinned INTEGER,
  head INTEGER,
  opener INTEGER,
  asked INTEGER,
  at REAL NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (thread, rec)
);
CREATE UNIQUE INDEX entries ON records (thread, seq) WHERE seq IS NOT NULL;
CREATE INDEX message_ids ON records (thread, message_id, seq) WHERE message_id IS NOT NULL;
CREATE INDEX decisions ON records (thread, kind, rec) WHERE kind <> 'appended';
"""
_TRIES_PAUSE = 0.01

Row: TypeAlias = tuple[Any, ...]
T = TypeVar("T")


class SqliteFile:
    """
    One open database, shared by the threads of this process.

    >>> file = SqliteFile(":memory:", timeout=10.0, synchronous="FULL")
    >>> file.rows("SELECT version FROM unabridged")
    [(1,)]
    """

    def __init__(self, path: str, *, timeout: float, synchronous: str) -> None:
        self.path = path
        self.lock = threading.RLock()
        self._timeout = timeout
        self._synchronous = synchronous
        self._connection: sqlite3.Connection | None = None
        self._pid = os.getpid()
        self._closed = False
        with self.reading():
            _OPEN.add(self)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """
        The connection, for this thread alone; what SQLite raises becomes a `StoreError`.
        """
        with self.lock:
            try:
                yield self._live()
            except sqlite3.Error as error:
                raise self._meant(error) from error

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
            except sqlite3.Error as error:
                raise self._meant(error) from error

    def write(self, work: Callable[[sqlite3.Connection], T], undo: Callable[[], None]) -> T:
        """
        Do *work* in one transaction: all of it is written, or nothing and *undo* is called.
        """
        with self.lock:
            connection = None
            try:
                connection = self._live()
                connection.execute("BEGIN IMMEDIATE")
                done = work(connection)
                connection.execute("COMMIT")
            except BaseException as error:
                undo()
                if connection is not None and connection.in_transaction:
                    connection.rollback()
                if isinstance(error, sqlite3.Error):
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

    def _live(self) -> sqlite3.Connection:
        if self._connection is not None and self._pid == os.getpid():
            return self._connection
        if self._closed:
            msg = f"{self.path}: this store is closed; open a new SqliteStore"
            raise StoreError(msg)
        if self._connection is not None:  # a fork that Python was not told of
            _ABANDONED.append(self._connection)
            self._connection = None
        if self.path != ":memory:" and not Path(self.path).absolute().parent.is_dir():
            msg = f"{self.path}: its directory does not exist; create it first"
            raise StoreError(msg)
        connection = sqlite3.connect(
            self.path, timeout=self._timeout, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._connection, self._pid = connection, os.getpid()

        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        deadline = time.monotonic() + self._timeout
        while True:
            try:  # the first switch to WAL does not wait for others, so it is tried again
                connection.execute("PRAGMA journal_mode = WAL").fetchall()
                break
            except sqlite3.OperationalError as error:
                if not _is_lock(error) or time.monotonic() >= deadline:
                    raise
                time.sleep(_TRIES_PAUSE)
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        if self._version(connection) is None:
            connection.execute("BEGIN IMMEDIATE")
            try:
                if self._version(connection) is None:
                    self._create(connection)
            finally:
                connection.execute("COMMIT" if connection.in_transaction else "SELECT 1")
        version = self._version(connection)
        if not isinstance(version, int) or version > SCHEMA_VERSION:
            msg = (
                f"{self.path}: written by a later version of unabridged (schema {version}, "
                f"this one knows {SCHEMA_VERSION}); upgrade unabridged"
            )
            raise StoreError(msg)

    def _version(self, connection: sqlite3.Connection) -> Any:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE name = 'unabridged'")
        if tables.fetchone() is None:
            return None
        row = connection.execute("SELECT max(version) FROM unabridged").fetchone()

        return row[0]

    def _create(self, connection: sqlite3.Connection) -> None:
        taken = connection.execute(
            "SELECT name FROM sqlite_master WHERE name IN ('threads', 'states', 'records')"
        ).fetchone()
        if taken is not None:
            msg = (
                f"{self.path}: holds a table {taken[0]!r} of another program; give unabridged a "
                "file of its own"
            )
            raise StoreError(msg)
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute("INSERT INTO unabridged VALUES (?)", (SCHEMA_VERSION,))

    def _meant(self, error: sqlite3.Error) -> StoreError:
        if _is_lock(error):
            return StoreError(
                f"{self.path}: another writer held it for more than {self._timeout:g} s "
                f"({error}); nothing was written, try again or raise timeout="
            )
        if "not a database" in str(error):
            return StoreError(
                f"{self.path}: not an SQLite database ({error}); give the path of another file"
            )

        return StoreError(f"{self.path}: {error}; nothing was written")

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


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


def _is_lock(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _text_or_bytes(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
