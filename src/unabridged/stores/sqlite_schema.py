"""
The tables of an SQLite store, made when a file is first opened.

A file of an earlier version is given what it lacks; what it holds is left as it is.
"""

import sqlite3
import time
from typing import Any

from unabridged.errors import StoreError
from unabridged.text import brief

__all__ = ["SCHEMA_VERSION", "is_lock", "prepare"]

SCHEMA_VERSION = 2
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
CREATE INDEX joins ON records (thread, seq, head) WHERE head < seq;
CREATE INDEX decisions ON records (thread, kind, rec) WHERE kind <> 'appended';
"""
_FORKS = """
CREATE TABLE forks (
  thread INTEGER PRIMARY KEY,
  parent INTEGER NOT NULL,
  rec INTEGER NOT NULL,
  seq INTEGER NOT NULL
);
CREATE INDEX forks_of ON forks (parent, seq);
CREATE TRIGGER shared BEFORE DELETE ON records
WHEN EXISTS (SELECT 1 FROM forks WHERE parent = OLD.thread AND seq >= OLD.seq)
BEGIN SELECT RAISE(ABORT, 'forks of this thread share its entries; upgrade unabridged'); END;
"""
# a process of an earlier version that has the file open still knows nothing of forks: the trigger
# is for it
_UPGRADES = {2: _FORKS}
_PAUSE = 0.01


def prepare(connection: sqlite3.Connection, path: str, timeout: float, synchronous: str) -> None:
    """
    Switch the file to WAL, make the tables it lacks, and check that they are ours.
    """
    _use_wal(connection, timeout)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    if _is_behind(connection):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _version(connection) is None:  # nobody made it meanwhile
                _create(connection, path)
            if _is_behind(connection):
                _upgrade(connection)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.rollback()
    version = _version(connection)
    if not isinstance(version, int) or version < 1:
        msg = (
            f"{path}: its schema is {brief(version)}, which no version of unabridged wrote; "
            "the file is damaged, or another program's"
        )
        raise StoreError(msg)
    if version > SCHEMA_VERSION:
        msg = (
            f"{path}: written by a later version of unabridged (schema {version}, this one "
            f"knows {SCHEMA_VERSION}); upgrade unabridged"
        )
        raise StoreError(msg)


def _use_wal(connection: sqlite3.Connection, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except sqlite3.OperationalError as error:
            # the first switch does not wait for others, so it is tried again
            if not is_lock(error) or time.monotonic() >= deadline:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _version(connection: sqlite3.Connection) -> Any:
    tables = connection.execute("SELECT name FROM sqlite_master WHERE name = 'unabridged'")
    if tables.fetchone() is None:
        return None
    (version,) = connection.execute("SELECT max(version) FROM unabridged").fetchone()

    return version


def _is_behind(connection: sqlite3.Connection) -> bool:
    version = _version(connection)
    return version is None or (isinstance(version, int) and 1 <= version < SCHEMA_VERSION)


def _upgrade(connection: sqlite3.Connection) -> None:
    for version in range(_version(connection) + 1, SCHEMA_VERSION + 1):
        _run(connection, _UPGRADES[version])
        connection.execute("INSERT INTO unabridged VALUES (?)", (version,))


def _create(connection: sqlite3.Connection, path: str) -> None:
    taken = connection.execute(
        "SELECT name FROM sqlite_master WHERE name IN ('threads', 'states', 'records', 'forks')"
    ).fetchone()
    if taken is not None:
        msg = (
            f"{path}: holds a table {brief(taken[0])} of another program; give unabridged a file "
            "of its own"
        )
        raise StoreError(msg)
    _run(connection, _SCHEMA)
    connection.execute("INSERT INTO unabridged VALUES (1)")


def _run(connection: sqlite3.Connection, script: str) -> None:
    for statement in script.split(";\n"):
        connection.execute(statement)


def is_lock(error: sqlite3.Error) -> bool:
    """
    Whether somebody else holds what was asked for.
    """
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
