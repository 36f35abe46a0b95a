"""
Asking one after the other until somebody answers.

Which failure goes on to whom is written once; two short drivers call the
members.
"""

import functools
import inspect
import logging
import re
from collections.abc import Generator
from typing import Any

from attrs import field, frozen

from unabridged.contract import Ask
from unabridged.errors import (
    ConfigError,
    FormatError,
    NeedsAnswerError,
    NeedsAsyncError,
    OutcomeError,
)
from unabridged.running import AskFunction, adrive, checked, drive, settled_answer
from unabridged.steps import is_async

__all__ = ["AsyncFallback", "Fallback", "fallback"]

_CODE = re.compile(r"[A-Za-z0-9_.-]{1,40}")
_TOLD_WHOLE = (OutcomeError, FormatError, ConfigError)
logger = logging.getLogger("unabridged")


def fallback(*members: AskFunction) -> "Fallback | AsyncFallback":
    """
    Ask the first; where it fails or its answer is empty, the next, and so on.

    Members are what this module makes, or any functions from an `Ask` to text.
    If one of them is async, so is this, and the others are called in threads
    meanwhile. A line on the logger `unabridged` says who failed and why, with
    nothing of what was sent. A name in `Summarize(model=…)` goes to every
    member, so leave it out where they are of different providers.

    Raises:
        ConfigError: there are no members, or one is no function.

    >>> from unabridged import asking
    >>> from unabridged.testing import failing, user, view_of
    >>> ask = Ask(tuple(view_of([user("My name is Ana.")])))
    >>> print(fallback(failing(TimeoutError()), asking.offline())(ask))
    My name is Ana.
    >>> fallback(failing(TimeoutError()))(ask)
    Traceback (most recent call last):
    unabridged.errors.OutcomeError: fallback: nobody of 1 answered: fail: TimeoutError
    """
    return AsyncFallback(members) if any(map(is_async, members)) else Fallback(members)


def _members(_instance: object, _attribute: object, value: tuple[object, ...]) -> None:
    if not value:
        msg = "asking.fallback: give the functions to ask, the best first"
        raise ConfigError(msg)
    for member in value:
        if not callable(member):
            msg = f"asking.fallback: expected functions, got {type(member).__name__}"
            raise ConfigError(msg)


@frozen(repr=False)
class Fallback:
    """
    What `fallback` makes of sync members.

    >>> from unabridged import asking
    >>> fallback(asking.offline())
    asking.fallback(asking.offline())
    """

    members: tuple[AskFunction, ...] = field(validator=_members)

    @property
    def window(self) -> int:
        """
        The smallest window of the members that is known, in tokens; else 0.
        """
        return _smallest(self.members)

    def __call__(self, ask: Ask, /) -> str:
        """
        The first answer.

        Raises:
            OutcomeError: nobody answered; the text tells of all.
        """
        return drive(_tried(self.members), lambda member: settled_answer(ask, _called(member, ask)))

    def __repr__(self) -> str:
        return f"asking.fallback({', '.join(map(_name, self.members))})"


@frozen(repr=False)
class AsyncFallback:
    """
    What `fallback` makes when a member is async; it needs an `AsyncMemory`, or `arun`.

    >>> async def model(ask): ...
    >>> fallback(model)
    asking.fallback(model)
    """

    members: tuple[AskFunction, ...] = field(validator=_members)

    @property
    def window(self) -> int:
        """
        The smallest window of the members that is known, in tokens; else 0.
        """
        return _smallest(self.members)

    async def __call__(self, ask: Ask, /) -> str:
        """
        The first answer; what is raised is as for `Fallback`.
        """
        import asyncio  # noqa: PLC0415  importing the library loads no event loop

        async def answer(member: AskFunction) -> str:
            if is_async(member):
                given = member(ask)
            else:  # it may take long, and the loop has others to serve
                given = await asyncio.to_thread(_called, member, ask)
            text: str = checked(ask, await given if inspect.isawaitable(given) else given)
            return text

        return await adrive(_tried(self.members), answer)

    def __repr__(self) -> str:
        return f"asking.fallback({', '.join(map(_name, self.members))})"


def _tried(members: tuple[AskFunction, ...]) -> Generator[AskFunction, Any, str]:
    """
    The members in order, each answered by its text or thrown its failure.
    """
    failures: list[Exception] = []
    told: list[str] = []
    for place, member in enumerate(members, start=1):
        try:
            text: str = yield member
            if not text.strip():
                _refuse_empty()
        except (NeedsAnswerError, NeedsAsyncError):
            raise  # nobody was asked
        except Exception as error:  # noqa: BLE001  whatever it is, the next may answer
            failures.append(error)
            told.append(f"{_name(member)}: {_why(error)}")
            after = f"asking {_name(members[place])}" if place < len(members) else "nobody is left"
            logger.warning("fallback: no answer of %s; %s", told[-1], after)
        else:
            return text
    msg = f"fallback: nobody of {len(members)} answered: {'; '.join(told)}"
    nobody = OutcomeError(msg)
    nobody.answered = all(isinstance(each, OutcomeError) and each.answered for each in failures)
    raise nobody from ExceptionGroup("nobody answered", failures)


def _refuse_empty() -> None:
    msg = "the answer is empty"
    raise OutcomeError.of_answer(msg)


def _called(member: AskFunction, ask: Ask) -> Any:
    try:
        return member(ask)
    except StopIteration as error:  # which neither a generator nor a future can carry
        msg = "a function to ask raised StopIteration"
        raise RuntimeError(msg) from error


def _why(error: Exception) -> str:
    """
    What went wrong, without what a server or a function may repeat of the request.
    """
    if isinstance(error, _TOLD_WHOLE):
        return str(error)
    given = (getattr(error, name, None) for name in ("status_code", "code", "type"))
    codes = [str(value) for value in given if isinstance(value, str | int)]
    cause = error.__cause__
    if not codes and cause is not None:
        codes = [type(cause).__name__]
    shown = ", ".join(dict.fromkeys(code for code in codes if _CODE.fullmatch(code)))

    return f"{type(error).__name__} ({shown})" if shown else type(error).__name__


def _name(member: object) -> str:
    """
    What a member is called: never what a repr of somebody else's might show.
    """
    while isinstance(member, functools.partial):
        member = member.func
    if type(member).__module__.startswith("unabridged.asking."):
        return repr(member)

    return str(getattr(member, "__name__", type(member).__name__))


def _smallest(members: tuple[AskFunction, ...]) -> int:
    windows = (getattr(member, "window", 0) for member in members)

    return min((window for window in windows if isinstance(window, int) and window), default=0)
