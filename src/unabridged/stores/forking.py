"""
Locks that a fork does not leave held.

A child process is a copy of the one thread that forked. A lock that another
thread held at that moment would stay held in the child for ever.
"""

import os
import threading
import time
from weakref import WeakSet

__all__ = ["ForkLock", "Forkable"]

_PATIENCE = 1.0
_PAUSE = 0.0005


class ForkLock:
    """
    A lock that the thread which holds it may take again; nobody else takes it before a fork.

    >>> lock = ForkLock()
    >>> with lock, lock:
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._owner = 0
        self._depth = 0

    def acquire(self, *, patience: float = -1) -> bool:
        """
        Take it, waiting no longer than *patience* seconds if that is not negative.
        """
        me = threading.get_ident()
        if self._owner != me and patience < 0:
            while _Fork.is_due:  # or threads that are never done would keep it from whoever forks
                time.sleep(_PAUSE)
        if not self._lock.acquire(timeout=patience):
            return False
        self._owner = me
        self._depth += 1

        return True

    def release(self) -> None:
        """
        Give it back.
        """
        self._depth -= 1
        if not self._depth:
            self._owner = 0
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()


class Forkable:
    """
    Something with a lock of its own, usable on both sides of a fork.

    Before a fork its lock is taken, so that no other thread is in the middle of
    a change. One that holds the lock longer than a second is not waited for;
    the child then gets a new lock.
    """

    def __init__(self) -> None:
        self._lock = ForkLock()
        self._taken = False
        _LIVE.add(self)

    def before_fork(self, patience: float) -> None:
        """
        Take the lock if that needs no more than *patience* seconds.
        """
        self._taken = self._lock.acquire(patience=max(patience, 0.0))

    def after_fork(self, *, child: bool) -> None:
        """
        Let the threads of this side go on.
        """
        if self._taken:
            self._taken = False
            self._lock.release()
        elif child:
            self._lock = ForkLock()


class _Fork:
    """
    The fork that is about to happen in this process: one at a time.
    """

    is_due = False
    lock = threading.Lock()
    taken: tuple[Forkable, ...] = ()


_LIVE: WeakSet[Forkable] = WeakSet()


def _before() -> None:
    _Fork.lock.acquire()
    _Fork.is_due = True
    _Fork.taken = _all()
    deadline = time.monotonic() + _PATIENCE
    for one in _Fork.taken:
        one.before_fork(deadline - time.monotonic())


def _all() -> tuple[Forkable, ...]:
    while True:
        try:
            return tuple(_LIVE)
        except RuntimeError:  # another thread made one meanwhile
            continue


def _after_in_parent() -> None:
    _after(child=False)


def _after_in_child() -> None:
    _after(child=True)


def _after(*, child: bool) -> None:
    for one in _Fork.taken:
        one.after_fork(child=child)
    _Fork.taken = ()
    _Fork.is_due = False
    _Fork.lock.release()


if hasattr(os, "register_at_fork"):  # pragma: no branch
    os.register_at_fork(
        before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )
