"""
The tables of an SQLite store, made when a file is first opened.

A file of an earlier version is given what it lacks; what it holds is left as it is.
"""

import sqlite3
import time
from typing import NoReturn

from unabridged.errors import StoreError
from unabridged.text import short

__all__ = [
    "MARK",
    "SCHEMA_VERSION",
    "is_lock",
    "prepare",
    "prepare_to_read",
    "refuse",
    "version_of",
]

SCHEMA_VERSION = 3
MARK = "CREATE TABLE unabridged (version INTEGER NOT NULL)"
_SCHEMA = f"""
{MARK};
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
PRAGMA user_version = 1;
"""
_FORKS_TABLE = """
CREATE TABLE forks (
  thread INTEGER PRIMARY KEY,
  parent INTEGER NOT NULL,
  rec INTEGER NOT NULL,
  seq INTEGER NOT NULL
)"""
_FORKS_ASIDE = _FORKS_TABLE.replace("CREATE", "CREATE TEMP")
_FORKS = """;
CREATE INDEX forks_of ON forks (parent, seq);
CREATE TRIGGER shared BEFORE DELETE ON records
WHEN EXISTS (SELECT 1 FROM forks WHERE parent = OLD.thread AND seq >= OLD.seq)
BEGIN SELECT RAISE(ABORT, 'forks of this thread share its entries; upgrade unabridged'); END;
"""
# a process of an earlier version that has the file open still knows nothing of forks: the trigger
# is for it; threads that it makes, and those from before version 3, have no id: their number
# stands for it
_INCARNATIONS = "ALTER TABLE threads ADD COLUMN incarnation TEXT"
_INCARNATIONS_ASIDE = "CREATE TEMP VIEW threads AS SELECT *, NULL AS incarnation FROM main.threads"
_UPGRADES = {2: _FORKS_TABLE + _FORKS, 3: _INCARNATIONS}
_NEEDED = ("threads", "states", "records")
_OURS = frozenset({"unabridged", "forks", *_NEEDED})
_PAUSE = 0.01


def prepare(connection: sqlite3.Connection, path: str, timeout: float, synchronous: str) -> None:
    """
    Switch the file to WAL, make the tables it lacks, and check that they are ours.
    """
    version = version_of(connection, path)
    _use_wal(connection, timeout)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    # what is deleted is overwritten, and what SQLite puts aside for a while stays off the disk
    connection.execute("PRAGMA secure_delete = ON").fetchall()
    connection.execute("PRAGMA temp_store = MEMORY")
    if version is None or version < SCHEMA_VERSION:
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = version_of(connection, path)
            if version is None:  # nobody made it meanwhile
                _run(connection, _SCHEMA)
                connection.execute("INSERT INTO unabridged VALUES (1)")
                version = 1
            for missing in range(version + 1, SCHEMA_VERSION + 1):
                _run(connection, _UPGRADES[missing])
                connection.execute("INSERT INTO unabridged VALUES (?)", (missing,))
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.rollback()


def prepare_to_read(connection: sqlite3.Connection, path: str) -> None:
    """
    Check that the file is ours; what an earlier version lacks is made beside it, in memory.
    """
    connection.execute("PRAGMA temp_store = MEMORY")
    version = version_of(connection, path)
    if version is None:
        msg = f"{short(path)}: holds nothing yet, and cannot be written; give a file that can be"
        raise StoreError(msg)
    if version < 2:  # noqa: PLR2004  the schema that has it
        connection.execute(_FORKS_ASIDE)
    if version < 3:  # noqa: PLR2004
        connection.execute(_INCARNATIONS_ASIDE)


def version_of(connection: sqlite3.Connection, path: str) -> int | None:
    """
    The version of the tables in the file; None if it holds none at all.

    Raises:
        StoreError: it holds tables of another program and none of ours, or ours
            were written by a later version.
    """
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
        r"AND name NOT LIKE 'sqlite\_%' ESCAPE '\'"
    )
    names = [name for (name,) in found]
    if not names:
        for mark in ("application_id", "user_version"):
            if connection.execute(f"PRAGMA {mark}").fetchone() != (0,):
                refuse(path, f"no table, but the `{mark}`")
        return None
    others = [name for name in names if name not in _OURS]
    missing = [name for name in _NEEDED if name not in names]
    if "unabridged" not in names or (others and missing):
        refuse(path, f"a table {(others or names)[0]!r}")
    columns = [row[1] for row in connection.execute("PRAGMA table_info(unabridged)")]
    if "version" not in columns:
        refuse(path, "a table 'unabridged'")
    if missing:
        msg = f"{short(path)}: damaged, the table {missing[0]!r} is missing; restore it from a copy"
        raise StoreError(msg)
    (version,) = connection.execute("SELECT max(version) FROM unabridged").fetchone()
    if not isinstance(version, int) or version < 1:
        msg = (
            f"{short(path)}: damaged, its schema version is {version!r:.40}, not 1 to "
            f"{SCHEMA_VERSION}; restore it from a copy"
        )
        raise StoreError(msg)
    if version > SCHEMA_VERSION:
        msg = (
            f"{short(path)}: written by a later version of unabridged (schema {version}, this one "
            f"knows {SCHEMA_VERSION}); upgrade unabridged"
        )
        raise StoreError(msg)

    return version


def refuse(path: str, what: str) -> NoReturn:
    """
    Raise the error of a file that belongs to another program.
    """
    msg = f"{short(path)}: holds {what} of another program; give unabridged a file of its own"
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


def _run(connection: sqlite3.Connection, script: str) -> None:
    for statement in script.split(";\n"):
        connection.execute(statement)


def is_lock(error: sqlite3.Error) -> bool:
    """
    Whether somebody else holds what was asked for.
    """
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
