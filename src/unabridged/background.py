"""
Work in the background: in a thread, or as a task.

Nothing of it holds the interpreter up: a process that ends while a model
answers ends, and the log is as it was.
"""

import logging
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from unabridged.errors import StoreError
from unabridged.telling import as_told

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["failed", "in_background"]

T = TypeVar("T")
logger = logging.getLogger("unabridged")
_UNFINISHED: WeakSet[Any] = WeakSet()


def in_background(work: Callable[[], T], thread: str) -> "Future[T]":
    """
    What *work* comes to, once a thread of its own has done it.

    >>> in_background(lambda: 1, "chat").result()
    1
    """
    from concurrent.futures import Future  # noqa: PLC0415  it loads when it is used

    future: Future[T] = Future()
    _UNFINISHED.add(future)
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  whoever waits for it gets it
            failed(thread, error)
            future.set_exception(error)
        finally:
            _UNFINISHED.discard(future)

    threading.Thread(target=run, name=f"unabridged {thread}", daemon=True).start()

    return future


def failed(thread: str, error: BaseException) -> None:
    """
    Say on the logger that a compaction in the background failed.
    """
    logger.warning(
        "thread %r: the compaction in the background failed, and changed nothing: %s",
        thread,
        as_told(error),
    )


def _in_a_child() -> None:
    """
    Nobody here finishes what another thread began: whoever waits for it is told.
    """
    for future in list(_UNFINISHED):
        if not future.done():
            future.set_exception(
                StoreError(
                    "this work goes on in the process that began it, not in a fork of that; wait "
                    "for it there"
                )
            )
    _UNFINISHED.clear()


if hasattr(os, "register_at_fork"):  # pragma: no branch
    os.register_at_fork(after_in_child=_in_a_child)
