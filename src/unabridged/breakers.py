"""
Breakers: who failed is left alone for a while, and who is being asked is not asked twice.
"""

from attrs import define

from unabridged.contract import Ask, Refused
from unabridged.errors import NeedsAnswerError, NeedsAsyncError, OutcomeError
from unabridged.summary.refused import RefusedAnswers
from unabridged.telling import as_told
from unabridged.trim_result import TrimResult
from unabridged.work import Work

__all__ = ["Breaker", "Breakers"]

_THREADS = 1_024
_Key = tuple[str, str]


@define
class _Failure:
    """
    What went wrong, and for how many retrievals more nobody is asked.
    """

    error: Exception
    left: int


class Breaker:
    """
    Who failed lately, and who is being asked in the background; models are told apart by purpose.
    """

    def __init__(self) -> None:
        self._refused = RefusedAnswers()
        self._failed: dict[_Key, _Failure] = {}
        self._busy: list[_Key] = []  # a step of its own to add or take: threads ask at once

    @property
    def busy(self) -> bool:
        """
        Whether anybody is being asked in the background.
        """
        return bool(self._busy)

    def watched(
        self, work: Work[TrimResult], retry_after: int | None, *, background: bool
    ) -> Work[TrimResult]:
        """
        One retrieval, in which no model is asked that failed in the last *retry_after*.

        If that is None, only what it was asked rests where the answer was refused. Nor
        is one asked that another retrieval asks in the *background*.
        """
        shut = self._shut()
        reply: object = None
        failure: Exception | None = None
        asked: list[_Key] = []
        try:
            while True:
                try:
                    request = work.send(reply) if failure is None else work.throw(failure)
                except StopIteration as done:
                    return done.value  # type: ignore[no-any-return]
                reply, failure = None, None
                match request:
                    case Refused(ask, why):
                        self._fail(ask, OutcomeError(why), retry_after, answered=True)
                        continue
                    case Ask() if error := self._refusal(request, shut, asked, retry_after):
                        failure = error
                        continue
                    case Ask() if background and _key(request) not in asked:
                        asked.append(_key(request))
                        self._busy.append(_key(request))
                    case _:
                        pass
                try:
                    reply = yield request
                except Exception as error:  # noqa: BLE001  the flow decides what a failure means
                    failure = error
                    if isinstance(request, Ask):
                        answered = isinstance(error, OutcomeError) and error.answered
                        self._fail(request, error, retry_after, answered=answered)
        finally:
            for key in asked:
                self._busy.remove(key)

    def _shut(self) -> dict[_Key, _Failure]:
        """
        The failures that count for one retrieval more.
        """
        self._failed = {key: known for key, known in [*self._failed.items()] if known.left}
        for known in self._failed.values():
            known.left -= 1

        return dict(self._failed)

    def _refusal(
        self, ask: Ask, shut: dict[_Key, _Failure], mine: list[_Key], retry_after: int | None
    ) -> Exception | None:
        """
        Why *ask* is not passed on; None if it is.
        """
        if known := shut.get(_key(ask)):
            more = f"after {known.left} retrieval{'' if known.left == 1 else 's'} more"
            when = more if known.left else "at the next retrieval"
            told = OutcomeError(
                f"not asked, the last time it failed ({as_told(known.error)}); tried again {when}"
            )
            told.__cause__ = known.error
            return told
        if _key(ask) in self._busy and _key(ask) not in mine:
            return OutcomeError("not asked, it is being answered in the background")

        return self._refused.why(ask) if retry_after is None else None

    def _fail(self, ask: Ask, error: Exception, retry_after: int | None, *, answered: bool) -> None:
        if retry_after is None:
            if answered:
                self._refused.add(ask, error)
        elif retry_after and not isinstance(error, NeedsAnswerError | NeedsAsyncError):
            self._failed[_key(ask)] = _Failure(error, retry_after)


class Breakers:
    """
    The breakers of the threads of one memory, and of those that its `thread` gives.

    >>> breakers = Breakers()
    >>> breakers.of("ana") is breakers.of("ana")
    True
    """

    def __init__(self) -> None:
        self._known: dict[str, Breaker] = {}

    def of(self, thread: str) -> Breaker:
        """
        The breaker of a thread; of very many threads those used last are kept.
        """
        breaker = self._known.pop(thread, None) or Breaker()
        self._known[thread] = breaker
        if len(self._known) > _THREADS:
            self._known.pop(next(iter(self._known)), None)

        return breaker


def _key(ask: Ask) -> _Key:
    return ask.purpose, ask.model
