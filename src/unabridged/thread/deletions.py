"""
What a thread's deletion does to what is under way.

Anybody may delete a thread, and begin another of its name, between two calls of
the store. Whatever was worked out from a thread belongs to that incarnation of
it: on another one it is let go of.
"""

from collections.abc import Callable, Generator
from typing import Any, cast

from unabridged.contract import Ask
from unabridged.errors import LogConflictError, OutcomeError
from unabridged.records import Forked
from unabridged.running import Request
from unabridged.states import ThreadState
from unabridged.stores.writing import meant
from unabridged.trim_result import TrimResult
from unabridged.work import Calls, Do, Outcome, T, Work

__all__ = ["TRIES", "Attempt", "begun_anew", "steadily", "unguarded"]

TRIES = 16
_DELETED = (
    "the thread was deleted while this context was made; what was worked out from it is "
    "discarded, nothing is written, and the context shows what is there now"
)
_NO_THREAD = "notes are kept beside messages, and the thread holds none; nothing is written"


class Attempt:
    """
    The incarnation that a context is made of, and the *answers* that were had for it.

    Once that is *deleted*, what was answered is forgotten. From then on the
    context only shows what there is: no model is asked, nothing is written.
    """

    def __init__(self, thread: str) -> None:
        self.thread = thread
        self.deleted = False
        self.answers: list[tuple[Any, Outcome]] = []
        self._incarnation = ""

    def look(self, state: ThreadState) -> None:
        """
        Take note of the thread as it is now.
        """
        if self._incarnation and self._incarnation != state.incarnation:
            self.deleted = True
            self.answers.clear()
        self._incarnation = state.incarnation

    @staticmethod
    def left(then: ThreadState, now: ThreadState) -> bool:
        """
        Whether the thread that was there is deleted by now.
        """
        return then.rec > 0 and then.incarnation != now.incarnation

    def known(self, request: object) -> Outcome | None:
        """
        What came of the request before; once the thread is deleted, that a model is not asked.
        """
        if self.deleted and isinstance(request, Ask):
            msg = f"not asked, thread {self.thread!r} was deleted meanwhile; the next context may"
            return Outcome(failure=OutcomeError(msg))

        return next((given for asked, given in self.answers if asked == request), None)

    def may_write(self, result: TrimResult) -> bool:
        """
        Whether there is a thread that the result may be written to.
        """
        return result.before.log.rec > 0 and not self.deleted

    def warnings(self, result: TrimResult) -> tuple[str, ...]:
        """
        Why nothing of the result is written, if that is so.
        """
        if self.deleted:
            return (_DELETED,)

        return (_NO_THREAD,) if result.notes and not result.before.log.rec else ()


def begun_anew(thread: str, what: str) -> LogConflictError:
    """
    That numbers which were read in a deleted thread mean nothing in the one begun since.

    >>> print(begun_anew("ana", "pin"))
    pin: thread 'ana' was deleted and begun anew since it was last read here; read it again first
    """
    return LogConflictError(
        f"{what}: thread {thread!r} was deleted and begun anew since it was last read here; "
        "read it again first"
    )


def unguarded(work: Generator[Request, Any, T]) -> Generator[Request | Do, Any, T]:
    """
    The work on a store whose calls cannot be told an incarnation: it is looked up right before.

    What is appended then leans on the last record too, so that only a thread begun
    anew within that moment, with as many records, could be taken for the deleted one.
    """
    reply: Any = None
    failure: Exception | None = None
    while True:
        try:
            request = work.send(reply) if failure is None else work.throw(failure)
        except StopIteration as done:
            return cast("T", done.value)
        reply, failure = None, None
        try:
            if isinstance(request, Do) and "incarnation" in request.options:
                reply = yield from _looked_up(request)
            else:
                reply = yield request
        except Exception as error:  # noqa: BLE001  the work decides what a failure means
            failure = error


def _looked_up(request: Do) -> Calls[Any]:
    thread, options = request.args[0], dict(request.options)
    incarnation: str = options.pop("incarnation")
    if request.method == "delete":
        state: ThreadState = yield Do("state", (thread,))
        if state.incarnation == incarnation:
            yield Do("delete", request.args, options)
        return None
    fork = next((body for body in request.args[1] if isinstance(body, Forked)), None)
    read = thread if fork is None else fork.thread
    before: tuple[str, int] | None = None
    for _ in range(TRIES):
        state = yield Do("state", (read,))
        meant(read, state, incarnation)
        last = {"expect": state.rec} if options.get("expect") is None else {}
        try:
            return (yield Do("append", request.args, options | last))
        except LogConflictError:
            if not last or before == (state.incarnation, state.rec):
                raise  # nobody wrote meanwhile: it is the bodies that conflict
            before = state.incarnation, state.rec
    msg = f"thread {thread!r}: others wrote to it at each of {TRIES} attempts; try again"
    raise LogConflictError(msg)


def steadily(look: Callable[[], Work[ThreadState]], reads: Callable[[], Work[T]]) -> Work[T]:
    """
    What the *reads* come to, all of one incarnation: if it is deleted meanwhile they begin again.

    Raises:
        LogConflictError: it was deleted at each of 16 attempts.
    """
    for _ in range(TRIES):
        before = yield from look()
        try:
            done = yield from reads()
        except Exception:
            if (yield from look()).incarnation == before.incarnation:
                raise
        else:
            if (yield from look()).incarnation == before.incarnation:
                return done
    msg = f"the thread was deleted while it was read, at each of {TRIES} attempts; try again"
    raise LogConflictError(msg)
