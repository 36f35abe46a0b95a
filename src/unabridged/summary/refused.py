"""
Refused answers: the same request is not repeated for a while, nor one that is hardly another.

A model that gave an empty answer, or one that is too long, mostly gives it
again. So a request that was refused rests, for `RESTS` retrievals in which it
stays the same, or until what it shows has grown by half.
"""

from attrs import define

from unabridged.contract import Ask
from unabridged.errors import OutcomeError
from unabridged.options import plural
from unabridged.spans import Span
from unabridged.telling import as_told

__all__ = ["RESTS", "RefusedAnswers"]

RESTS = 10
_KEPT = 64  # refused requests of one thread

_Key = tuple[str, str, str, int]


@define
class _Resting:
    """
    A request that was refused: who was asked how, what it showed, and for how long it rests.
    """

    key: _Key
    shown: Span
    request: int
    error: Exception
    left: int = RESTS

    @property
    def enough(self) -> int:
        """
        The entries with which a request has grown by half.
        """
        size = len(self.shown)

        return size + (size + 1) // 2


class RefusedAnswers:
    """
    The requests of a thread whose answers were refused lately.

    >>> from unabridged.testing import talk, view_of
    >>> refused = RefusedAnswers()
    >>> short, long = (Ask(tuple(view_of(talk(rounds)))) for rounds in (2, 3))
    >>> refused.add(short, OutcomeError("the answer is empty"))
    >>> print(refused.why(short))
    not asked, the last answer was refused (the answer is empty); tried again after 9 retrievals \
more of the same, or once it is to tell of 6 entries (4 now)
    >>> print(refused.why(long))
    None
    """

    def __init__(self) -> None:
        self._resting: list[_Resting] = []

    def add(self, ask: Ask, error: Exception) -> None:
        """
        Let *ask* rest: its answer was refused.
        """
        self._resting.append(_Resting(_key(ask), _shown(ask), hash(ask), error))
        del self._resting[:-_KEPT]

    def why(self, ask: Ask) -> OutcomeError | None:
        """
        Why *ask* is not passed on in this retrieval; None if it is.
        """
        shown, request = _shown(ask), hash(ask)
        known = self._like(_key(ask), shown, request)
        if known is None:
            return None
        if known.request != request:
            known.request, known.left = request, RESTS
        if len(shown) >= known.enough or not known.left:
            self._resting = [each for each in self._resting if each is not known]
            return None
        known.left -= 1
        when = f"after {plural(known.left, 'retrieval')} more of the same"
        told = OutcomeError(
            f"not asked, the last answer was refused ({as_told(known.error)}); tried again "
            f"{when if known.left else 'at the next retrieval'}, or once it is to tell of "
            f"{plural(known.enough, 'entry', 'entries')} ({len(shown)} now)"
        )
        told.__cause__ = known.error

        return told

    def _like(self, key: _Key, shown: Span, request: int) -> _Resting | None:
        """
        The same request, or else, of those that show some of it, the one nearest in size.
        """
        like = [
            known
            for known in [*self._resting]
            if known.key == key and not known.shown.isdisjoint(shown)
        ]

        return min(
            like,
            key=lambda known: (known.request != request, abs(len(known.shown) - len(shown))),
            default=None,
        )


def _key(ask: Ask) -> _Key:
    return ask.purpose, ask.model, ask.prompt, ask.max_tokens


def _shown(ask: Ask) -> Span:
    return Span.union(item.sources for item in ask.items)
