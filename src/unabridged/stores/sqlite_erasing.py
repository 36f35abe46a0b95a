"""
How what was deleted leaves the files of an SQLite store.

SQLite overwrites deleted rows (`secure_delete`), but that leaves two kinds of
copies. Older pages stand in the write-ahead log until it is emptied, and rows
that were once moved from page to page leave pieces in pages that are still in
use, which go only when the file is written anew. Both are done at once as
long as they take a tenth of the time, and else together for several writes.
While others are reading or writing, they are put off to the next write, or to
the closing of the file.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from unabridged.stores.sqlite_schema import is_lock

__all__ = ["Eraser", "Pace", "rewrite", "truncated", "waiting"]

_AT_ONCE, _SHARE = 32.0, 0.1
_BATCH = 64  # rows that are cleared away together whatever it takes
_WAIT = 1.0  # seconds, for others who read while a thread is deleted
_SMALL = 64 * 2**20  # bytes: larger files are written anew once a quarter of them is free
_FAULTS = (sqlite3.Error, UnicodeDecodeError)

# The `user_version` of a file: whether pieces of what was deleted may be in it, and by whom.
_BY_EARLIER_VERSIONS, _NONE, _BY_US = range(3)


class Pace:
    """
    Says whether something may be done again without taking more than a tenth of the time.

    The first 32 times it may, one after another.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._credit = _AT_ONCE
        self._since = clock()
        self._took = 1e-3

    def allows(self) -> bool:
        """
        Whether it may be done now.
        """
        now = self.clock()
        earned = (now - self._since) * _SHARE / self._took
        self._credit, self._since = min(self._credit + earned, _AT_ONCE), now

        return self._credit >= 1.0

    def done(self, start: float) -> None:
        """
        It was done, from *start* to now.
        """
        self._credit = max(self._credit - 1.0, 0.0)
        self._since = self.clock()
        self._took = max(self._since - start, 1e-6)


class Eraser:
    """
    What is still to be cleared away after the writes of one open file.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._rows = 0  # deleted, and maybe still in the write-ahead log
        self._pieces = False  # whether there may be some in pages that are in use
        self._patience = 0.0
        self._emptying = Pace()
        self._rewriting = Pace()

    def begin(self, connection: sqlite3.Connection) -> None:
        """
        Look whether a process left pieces behind when it ended.
        """
        self._pieces = self._pieces or _marked(connection) == _BY_US

    def removed(self, rows: int) -> None:
        """
        Say how many rows a write deleted.
        """
        self._rows += rows

    def removed_thread(self, connection: sqlite3.Connection) -> None:
        """
        Say in a write that it deleted a thread.
        """
        self._rows, self._pieces, self._patience = self._rows + 1, True, _WAIT
        if _marked(connection) == _NONE:
            connection.execute(f"PRAGMA user_version = {_BY_US}")

    def after_write(self, connection: sqlite3.Connection) -> None:
        """
        Clear away what is due; what cannot be done now is tried after the next write.
        """
        if self._pieces and self._rewriting.allows():
            self._rewrite(connection)
        if self._rows and (self._patience or self._rows >= _BATCH or self._emptying.allows()):
            self._empty(connection)

    def before_close(self, connection: sqlite3.Connection) -> None:
        """
        Clear away all that was put off.
        """
        self._patience = _WAIT
        if self._pieces:
            self._rewrite(connection)
        if self._rows:
            self._empty(connection)

    def _empty(self, connection: sqlite3.Connection) -> None:
        start = self._emptying.clock()
        try:
            with waiting(connection, self._patience, self._timeout):
                if truncated(connection):
                    self._rows = 0
        except _FAULTS:  # what was asked for is written
            pass
        self._patience = 0.0
        self._emptying.done(start)

    def _rewrite(self, connection: sqlite3.Connection) -> None:
        start = self._rewriting.clock()
        try:
            if _is_worth_it(connection):
                with waiting(connection, _WAIT, self._timeout):
                    rewrite(connection)
                self._rows += 1
            self._pieces = False
        except _FAULTS:  # no room on the disk, or others at work
            pass
        self._rewriting.done(start)


def _marked(connection: sqlite3.Connection) -> int:
    ((marked,),) = connection.execute("PRAGMA user_version").fetchall()

    return int(marked)


def _is_worth_it(connection: sqlite3.Connection) -> bool:
    ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
    ((size,),) = connection.execute("PRAGMA page_size").fetchall()
    ((free,),) = connection.execute("PRAGMA freelist_count").fetchall()

    marked = _marked(connection)

    return marked == _BY_EARLIER_VERSIONS or pages * size <= _SMALL or free * 4 >= pages


def rewrite(connection: sqlite3.Connection) -> None:
    """
    Write the file anew, with nothing in it but what is there.

    Its `user_version` says so.
    """
    connection.execute("PRAGMA temp_store = FILE")  # it may be too large for memory
    try:
        connection.execute("VACUUM")
        connection.execute(f"PRAGMA user_version = {_NONE}")
    finally:
        connection.execute("PRAGMA temp_store = MEMORY")


@contextmanager
def waiting(connection: sqlite3.Connection, seconds: float, otherwise: float) -> Iterator[None]:
    """
    Wait for others *seconds*, and *otherwise* afterwards.
    """
    connection.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}").fetchall()
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {otherwise * 1000:.0f}").fetchall()


def truncated(connection: sqlite3.Connection) -> bool:
    """
    Move all that is in the write-ahead log to the file, and empty the log, if nobody reads it.
    """
    try:
        ((busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.OperationalError as error:
        if not is_lock(error):
            raise
        return False

    return not busy
