"""
How an SQLite file is opened: it is looked at first, and nothing of a stranger's is changed.

The first look is SQLite's own on a file that is said never to change: no lock
is taken, and no `-wal` or `-shm` file is made. (Python must not open the file
itself: when it closed it, the locks of this process on it would be gone.) A
new file is made readable by its owner only; SQLite gives the files beside it
the same permissions. A file, folder or disk that cannot be written is opened
for reading.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from unabridged.errors import StoreError
from unabridged.stores.sqlite_erasing import truncated, waiting
from unabridged.stores.sqlite_schema import MARK, prepare, prepare_to_read, refuse, version_of
from unabridged.text import cause, short

__all__ = ["Opened", "Seen", "opened", "seen", "unwritable"]

_OWNER = 0o600
_LONG = 200
_FRAME, _SALT = 24, slice(16, 24)
_NOT_WRITABLE = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM})
_LOCKS: dict[int, Any] = {}  # by process: a fork may leave one held
_WITHOUT_LOCKS = "unix-none" if os.name == "posix" else "win32-none"
_EFFECTIVE = os.access in os.supports_effective_ids

Seen = tuple[tuple[int, int, int] | None, ...]


class Opened(NamedTuple):
    """
    A connection, and for one that only reads: why, and what the files were like.
    """

    connection: sqlite3.Connection
    why: str = ""
    seen: Seen = ()


def opened(path: str, timeout: float, synchronous: str) -> Opened:
    """
    Open the file, made if it is missing; for reading if it cannot be written.

    Raises:
        StoreError: it is not ours, comes from a later version, or cannot be opened.
    """
    if path == ":memory:":
        connection = _connected(path, timeout)
        prepare(connection, path, timeout, synchronous)
        return Opened(connection)
    file = _found(path)
    _look(file, path)
    why = unwritable(file)
    if not why:
        connection = _connected(f"{_uri(file)}?mode=rw", timeout)
        try:
            left = _size(f"{file}-wal")
            prepare(connection, path, timeout, synchronous)
            if left:  # somebody may have deleted something just before the process ended
                with waiting(connection, 0.0, timeout):
                    truncated(connection)
        except sqlite3.OperationalError as error:
            connection.close()
            if _primary(error) not in _NOT_WRITABLE:
                raise
            why = f"it cannot be written ({cause(error)})"
        except BaseException:
            connection.close()
            raise
        else:
            return Opened(connection)

    return _reading(file, path, timeout, why)


def seen(path: str) -> Seen:
    """
    What tells whether anybody wrote to the file since.
    """
    file = os.path.realpath(path)
    return tuple(map(_stat, (file, f"{file}-wal", f"{file}-journal")))


def unwritable(path: str) -> str:
    """
    Why the file cannot be written; "" if it can.
    """
    file = os.path.realpath(path)
    if not os.access(file, os.W_OK, effective_ids=_EFFECTIVE):
        return "the file cannot be written by this user"
    if not os.access(Path(file).parent, os.W_OK | os.X_OK, effective_ids=_EFFECTIVE):
        return "its folder cannot be written by this user"

    return ""


def _found(path: str) -> str:
    """
    The real path of the file, made if there was none.
    """
    try:
        file = os.path.realpath(path)
        if not Path(file).parent.is_dir():
            msg = f"{short(path)}: its directory does not exist; create it first"
            raise StoreError(msg)
        if Path(file).is_dir():
            msg = f"{short(path)}: this is a directory; give the path of a file in it"
            raise StoreError(msg)
        with _LOCKS.setdefault(os.getpid(), Lock()):  # nobody here opens it before it is closed
            if not Path(file).exists():
                _make(file)
        if not Path(file).is_file():
            msg = f"{short(path)}: not a file; give the path of one"
            raise StoreError(msg)
        if not os.access(file, os.R_OK, effective_ids=_EFFECTIVE):
            msg = f"{short(path)}: cannot be read by this user; give the user the right to read it"
            raise StoreError(msg)
    except (OSError, ValueError) as error:
        shown = path if len(path) < _LONG else f"{path[:_LONG]}…"
        why = error.strerror if isinstance(error, OSError) else str(error)
        msg = f"{shown!r}: cannot be opened or made ({why}); give a path that this user can use"
        raise StoreError(msg) from error

    return file


def _make(file: str) -> None:
    try:
        made = os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, _OWNER)
    except FileExistsError:  # another process was faster
        return
    try:
        if hasattr(os, "fchmod"):  # pragma: no branch
            os.fchmod(made, _OWNER)  # whatever the umask left
    finally:
        os.close(made)


def _look(file: str, path: str) -> None:
    """
    Refuse a file that is not ours, and leave it and all beside it as it was.
    """
    if _has_ours(file, path, ask_others=True):
        return
    committed = _committed(f"{file}-wal")
    if MARK.encode() in committed or _has_ours(file, path, ask_others=False):
        return
    if b"CREATE " in committed:
        refuse(path, "tables, in its write-ahead log,")


def _has_ours(file: str, path: str, *, ask_others: bool) -> bool:
    with closing(_connected(f"{_uri(file)}?mode=ro&immutable=1", 0.0)) as connection:
        try:
            return version_of(connection, path) is not None
        except StoreError:
            if ask_others and _size(f"{file}-wal"):
                return False
            raise
        except sqlite3.DatabaseError as error:
            if _primary(error) == sqlite3.SQLITE_NOTADB:
                raise
            return False  # somebody is writing it; it is looked at again under a lock


def _committed(wal: str) -> bytes:
    """
    The pages in a write-ahead log that belong to finished transactions.
    """
    try:
        data = Path(wal).read_bytes()
    except OSError:
        return b""
    frame = _FRAME + int.from_bytes(data[8:12], "big")
    stop = first = 32
    for start in range(first, len(data) - frame + 1, frame):
        if data[start + 8 : start + 16] != data[_SALT]:
            break
        if any(data[start + 4 : start + 8]):  # the last frame of a transaction
            stop = start + frame

    return data[first:stop]


def _reading(file: str, path: str, timeout: float, why: str) -> Opened:
    """
    Open for reading, by the first of these ways that SQLite can go.
    """
    state = seen(file)
    log, index = _size(f"{file}-wal"), Path(f"{file}-shm").exists()
    # without an index of the log nobody has it open: it is made in memory, as SQLite's own way
    # would leave files behind
    aside = f"mode=ro&vfs={_WITHOUT_LOCKS}" if log else "mode=ro&immutable=1"
    ways = ["mode=ro", aside] if index else [aside, "mode=ro"]
    if _size(f"{file}-journal"):  # a change that was not finished, which nobody can take back here
        ways = ["mode=ro"]
    for way in ways:
        connection = _connected(f"{_uri(file)}?{way}", timeout)
        try:
            if _WITHOUT_LOCKS in way:
                connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            prepare_to_read(connection, path)
        except BaseException as error:
            connection.close()
            if way == ways[-1] or _primary(error) not in _NOT_WRITABLE:
                raise
        else:
            return Opened(connection, why, state)
    raise AssertionError  # pragma: no cover  the last way returned or raised


def _connected(target: str, timeout: float) -> sqlite3.Connection:
    return sqlite3.connect(
        target, timeout=timeout, isolation_level=None, check_same_thread=False, uri=True
    )


def _uri(file: str) -> str:
    return Path(file).absolute().as_uri()


def _primary(error: BaseException) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _stat(file: str) -> tuple[int, int, int] | None:
    try:
        found = Path(file).stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _size(file: str) -> int:
    found = _stat(file)
    return found[1] if found else 0
