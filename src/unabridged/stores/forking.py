"""
Locks that a fork does not leave held.

A child process is a copy of the one thread that forked. A lock that another
thread held at that moment would stay held in the child for ever.
"""

import os
import threading
import time
from weakref import WeakSet

__all__ = ["Forkable", "process_lock"]

_PATIENCE = 1.0


class Forkable:
    """
    Something with a lock of its own, usable on both sides of a fork.

    Before a fork its lock is taken, so that no other thread is in the middle of
    a change. One that holds the lock longer than a second is not waited for;
    the child then gets a new lock.

    >>> with Forkable()._lock:
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._taken = False
        _LIVE.add(self)

    def before_fork(self, patience: float) -> None:
        """
        Take the lock if that needs no more than *patience* seconds.
        """
        self._taken = self._lock.acquire(timeout=max(patience, 0.0))

    def after_fork(self, *, child: bool) -> None:
        """
        Let the threads of this side go on.
        """
        if self._taken:
            self._taken = False
            self._lock.release()
        elif child:
            self._lock = threading.RLock()


_LIVE: WeakSet[Forkable] = WeakSet()
_FORKING: list[Forkable] = []
_LOCKS: dict[tuple[str, int], threading.Lock] = {}


def process_lock(name: str) -> threading.Lock:
    """
    The lock called *name* of this process; a forked child has its own.

    >>> process_lock("docs") is process_lock("docs")
    True
    """
    return _LOCKS.setdefault((name, os.getpid()), threading.Lock())


def _before() -> None:
    deadline = time.monotonic() + _PATIENCE
    for one in list(_LIVE):
        one.before_fork(deadline - time.monotonic())
        _FORKING.append(one)


def _after(*, child: bool) -> None:
    while _FORKING:
        _FORKING.pop().after_fork(child=child)


def _after_in_parent() -> None:
    _after(child=False)


def _after_in_child() -> None:
    _after(child=True)


if hasattr(os, "register_at_fork"):  # pragma: no branch
    os.register_at_fork(
        before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )
