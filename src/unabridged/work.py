"""
Work: an operation as a generator of what it needs done.

A `Do` is a call of the store, a `Count` a question for an endpoint that counts,
`Locked` a work of its own that is done under the memory's lock; anything else is
a question for a model. Nothing but what is `Locked` runs under the lock: calls of
the store, and what keeps in step with it what is loaded. So strategies, searches
and counting hold up nobody.
"""

from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

from unabridged.contract import Yielded
from unabridged.endpoints import Count
from unabridged.errors import ConfigError
from unabridged.text import TOO_LARGE, got
from unabridged.trim_result import TrimResult

__all__ = ["Calls", "Do", "Locked", "Outcome", "Work", "replayed", "whole"]


class Do(NamedTuple):
    """
    A call of the store: its method and arguments.
    """

    method: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = {}


class Locked(NamedTuple):
    """
    A work during which nobody else changes what is loaded of the thread; it only calls the store.
    """

    work: "Generator[Do, Any, Any]"


class Outcome(NamedTuple):
    """
    What came of a question: a reply or a failure.
    """

    reply: Any = None
    failure: Exception | None = None


T = TypeVar("T")
Work: TypeAlias = Generator[Do | Locked | Count | Yielded, Any, T]
Calls: TypeAlias = Generator[Do, Any, T]


def replayed(
    walk: Work[TrimResult],
    answers: list[tuple[Any, Outcome]],
    known_of: Callable[[object], Outcome | None],
) -> Work[TrimResult]:
    """
    The flow's result; a question whose outcome is known gets it again, others join *answers*.
    """
    outcome = Outcome()
    while True:
        try:
            if outcome.failure is None:
                request = walk.send(outcome.reply)
            else:
                request = walk.throw(outcome.failure)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        known = known_of(request)
        if known is None:
            try:
                known = Outcome((yield request))
            except Exception as error:  # noqa: BLE001  the step decides what a failure means
                known = Outcome(failure=error)
            answers.append((request, known))
        outcome = known


def whole(number: object, name: str, *, needed: bool = False) -> None:
    """
    Refuse what is no number of an entry or record; None passes unless it is *needed*.
    """
    if number is None and not needed:
        return
    if not isinstance(number, int) or isinstance(number, bool) or abs(number) >= TOO_LARGE:
        msg = f"{name}: expected the number of an entry or record (int), {got(number)}"
        raise ConfigError(msg)
