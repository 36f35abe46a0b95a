"""
Who is being asked for counts, so that one who calls back is refused and not waited for.

A context that wants counts waits while another asks an endpoint for them. An
endpoint's client that makes such a context itself would wait for its own end.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from unabridged.errors import ConfigError

__all__ = ["CALLED_BACK", "Asked"]

CALLED_BACK = (
    "the client of a counter called the memory that asked it for counts, which would wait "
    "for ever; let count_tokens answer without that memory's contexts"
)
_BY: ContextVar[tuple[object, ...]] = ContextVar("unabridged_asked_by", default=())


class Asked:
    """
    What one memory asks now, known again in the thread or task of the client, and in its tasks.

    >>> asked = Asked()
    >>> with asked.now():
    ...     asked.refuse_a_call_back()
    Traceback (most recent call last):
    unabridged.errors.ConfigError: the client of a counter called the memory that asked it for \
counts, which would wait for ever; let count_tokens answer without that memory's contexts
    >>> asked.refuse_a_call_back()
    """

    __slots__ = ("_question",)

    def __init__(self) -> None:
        self._question: object = None

    def refuse_a_call_back(self) -> None:
        """
        Raise ConfigError if the client that is asked now calls.
        """
        if self._question is not None and any(each is self._question for each in _BY.get()):
            raise ConfigError(CALLED_BACK)

    @contextmanager
    def now(self) -> Iterator[None]:
        """
        While the client is asked.
        """
        self._question = object()
        before = _BY.set((*_BY.get(), self._question))
        try:
            yield
        finally:
            self._question = None
            _BY.reset(before)
