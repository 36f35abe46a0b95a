"""
Counts that are kept: each message is counted once a process, not once a turn.
"""

import os
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

from unabridged.errors import ConfigError, CountError
from unabridged.messages import Message
from unabridged.text import brief, short
from unabridged.tokens.counters import TokenCounter, rough
from unabridged.tokens.digests import digest, made
from unabridged.tokens.from_client import FromClient

__all__ = ["Kept", "kept"]

MESSAGES = 262_144
LEAST = 4_096
COUNTERS = 64
SHOWN = 40

_KEPT: dict[TokenCounter, "Kept"] = {}
_LOCKS: dict[int, Any] = {}  # by process: a fork may leave one held


class Kept:
    """
    A counter that counts each message once, and checks what comes back.

    The counts are kept by content, for the newest 262,144 messages; beyond
    that (*limit*) the older half is forgotten, and counted again when it is
    met. The messages themselves are not kept: a count takes 130 bytes, whatever
    the length of its message. `kept(counter)` gives the one that this process
    shares; two are equal if their counters are. All that are shared keep no more
    together than one alone.

    What a `from_client` counts is told by `learn`; a message that was not
    counts roughly, and that is not kept.

    Raises:
        ConfigError: *counter* is not a function, or *limit* is below 1.
        CountError: from a call: the counter raised, or returned something
            other than an int of 0 or more.

    >>> from unabridged.messages import user
    >>> from unabridged.tokens import words
    >>> count = Kept(words)
    >>> count(user("the cat sat")), count(user("the cat sat")), len(count)
    (3, 3, 1)
    >>> count
    Kept(tokens.words)
    """

    __slots__ = ("_counts", "count_of", "counter")

    def __init__(self, counter: TokenCounter, *, limit: int = MESSAGES) -> None:
        if not callable(counter):
            msg = f"Kept: expected a function from message to int, got {brief(counter)}"
            raise ConfigError(msg)
        if limit < 1:
            msg = f"Kept: `limit` must be 1 message or more, got {brief(limit)}"
            raise ConfigError(msg)
        self.counter = counter
        self._counts = _Counts(counter, limit)
        self.count_of: TokenCounter = _counting(self._counts)
        """As a call, for those who go through many messages."""

    def __call__(self, message: Message, /) -> int:
        """
        The tokens of the message, counted now or before.
        """
        return self.count_of(message)

    def total(self, messages: Iterable[Message]) -> int:
        """
        The tokens of messages together.

        >>> from unabridged.messages import user
        >>> from unabridged.tokens import words
        >>> Kept(words).total([user("the cat"), user("sat")])
        3
        """
        return sum(map(self.count_of, messages))

    def knows(self, message: Message) -> bool:
        """
        Whether the count of the message is kept.
        """
        return digest(message) in self._counts

    def learn(self, message: Message, count: int) -> None:
        """
        Keep a count that was worked out elsewhere, as by an endpoint.

        >>> from unabridged.messages import user
        >>> from unabridged.tokens import words
        >>> count = Kept(words)
        >>> count.learn(user("hi"), 7)
        >>> count(user("hi"))
        7
        """
        self._counts.learn(message, count)

    def share(self, limit: int) -> None:
        """
        Keep no more than the newest *limit* counts from now on.

        >>> from unabridged.messages import user
        >>> from unabridged.tokens import words
        >>> count = Kept(words)
        >>> count.total([user("a"), user("b"), user("c")])
        3
        >>> count.share(2)
        >>> len(count)
        2
        """
        self._counts.share(limit)

    def __eq__(self, other: object) -> bool:
        return self.counter == other.counter if isinstance(other, Kept) else NotImplemented

    def __hash__(self) -> int:
        return hash((Kept, self.counter))

    def __len__(self) -> int:
        return len(self._counts)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"Kept({self.counter!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return kept, (self.counter,)


class _Counts(dict[bytes, int]):
    """
    The counts by the digests of messages; one that is missing is counted when it is asked for.
    """

    __slots__ = ("_counter", "_limit")

    def __init__(self, counter: TokenCounter, limit: int) -> None:
        super().__init__()
        self._counter = counter
        self._limit = limit

    def share(self, limit: int) -> None:
        self._limit = limit
        self._forget(len(self) - limit)

    def _forget(self, number: int) -> None:
        for old in tuple(self)[: max(number, 0)]:
            self.pop(old, None)

    def learn(self, message: Message, count: int) -> None:
        if len(self) >= self._limit:
            self._forget(len(self) - self._limit // 2)
        self[digest(message)] = count

    def counted(self, message: Message) -> int:
        if isinstance(self._counter, FromClient):
            return kept(rough)(message)
        try:
            count = self._counter(message)
        except Exception as error:
            msg = f"counter {brief(self._counter)} raised {brief(error)} for {_described(message)}"
            raise CountError(msg) from error
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            msg = (
                f"counter {brief(self._counter)} returned {brief(count)} for "
                f"{_described(message)}; "
                "a counter returns an int of tokens, 0 or more"
            )
            raise CountError(msg)
        self.learn(message, count)

        return count


def _counting(counts: _Counts) -> Callable[[Message], int]:
    """
    What gives the count of a message: nearly always one that is kept, by the digest it has.
    """
    find, counted = counts.get, counts.counted

    def count_of(message: Message, /) -> int:
        try:
            count = find(message._digest)  # noqa: SLF001  as `digest` does, without a call
        except AttributeError:
            count = find(made(message))

        return counted(message) if count is None else count

    return count_of


def kept(counter: TokenCounter) -> Kept:
    """
    The one `Kept` of *counter* in this process, so that all share its counts.

    A counter that is not hashable gets a new one each time; a `Kept` is
    returned as it is, and a calibrated counter gives those that it corrects.
    The newest 64 counters are remembered.

    >>> from unabridged.tokens import exact
    >>> kept(exact()) is kept(exact("o200k_base"))
    True
    """
    if isinstance(counter, Kept):
        return counter
    if isinstance(own := getattr(counter, "counts", None), Kept):
        return own
    try:
        known = _KEPT.get(counter)
    except TypeError:
        return Kept(counter)
    if known is not None:
        return known

    with _LOCKS.setdefault(os.getpid(), Lock()):
        if len(_KEPT) >= COUNTERS:
            _KEPT.pop(next(iter(_KEPT)))
        known = _KEPT.setdefault(counter, Kept(counter))
        for one in _KEPT.values():
            one.share(max(MESSAGES // len(_KEPT), LEAST))

    return known


def _described(message: Message) -> str:
    return f"the {short(message.role, 60)} message {brief(message.text[:SHOWN])}"
