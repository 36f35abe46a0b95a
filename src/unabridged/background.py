"""
Work in the background: in a thread, or as a task.

Nothing of it holds the interpreter up: a process that ends while a model
answers ends, and the log is as it was.
"""

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from unabridged.telling import as_told

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["failed", "in_background"]

T = TypeVar("T")
logger = logging.getLogger("unabridged")


def in_background(work: Callable[[], T], thread: str) -> "Future[T]":
    """
    What *work* comes to, once a thread of its own has done it.

    >>> in_background(lambda: 1, "chat").result()
    1
    """
    from concurrent.futures import Future  # noqa: PLC0415  it loads when it is used

    future: Future[T] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  whoever waits for it gets it
            failed(thread, error)
            future.set_exception(error)

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
