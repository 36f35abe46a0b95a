"""
Counters: functions from a message to its number of tokens.

Every counter here is a value: equal to another that counts alike, hashable,
and to be pickled. A counter is additive: a conversation costs the sum of its
messages, so a message is counted once and never again; what a request costs
once, whatever its messages, belongs to the `Budget`. Those of this module need
no vocabulary; `unabridged.tokens.offline` has the others.
"""

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

from attrs import field, frozen

from unabridged.errors import ConfigError
from unabridged.messages import Message
from unabridged.text import brief
from unabridged.tokens.estimate import estimate
from unabridged.tokens.formula import Costs, total
from unabridged.tokens.texts import Measure

__all__ = [
    "Bound",
    "Counter",
    "TokenCounter",
    "costs_of",
    "of_text",
    "quarter",
    "rough",
    "words",
]

Bound: TypeAlias = Literal["exact", "upper", "estimate"]
"""
What a count of text promises: the true number, no less than it, or about it.
"""


class TokenCounter(Protocol):
    """
    What counts the tokens of a message: any function from a message to an int.

    It should depend on the message alone and be hashable, so that its counts
    can be kept.

    >>> def flat(message: Message) -> int:
    ...     return 100
    >>> counter: TokenCounter = flat
    """

    def __call__(self, message: Message, /) -> int:
        """
        The tokens of the message, 0 or more.
        """
        ...


class Counter(TokenCounter, Protocol):
    """
    A counter that says what its counts promise.

    `bound` speaks of text. What is not text goes by the provider's formula: an
    estimate, by a flat figure or by the bytes of the file where its size cannot
    be read from it.

    >>> rough.bound
    'estimate'
    """

    @property
    def bound(self) -> Bound:
        """
        Whether a count of text is exact, an upper bound, or an estimate.
        """
        ...


def of_text(measure: Callable[[str], int]) -> Counter:
    """
    Count with any function of text, over the message's `counted_text()`.

    That text holds words, reasoning, calls and the ids of results; it holds
    neither the role nor images, documents and audio, which cost nothing here.

    Raises:
        ConfigError: *measure* is not a function.

    >>> from unabridged.messages import user
    >>> of_text(len)(user("hello"))
    5
    >>> of_text(len) == of_text(len)
    True
    """
    return _OfText(measure)


def _function(_instance: object, _attribute: object, value: Measure) -> None:
    if not callable(value):
        msg = f"of_text: expected a function from text to int, got {brief(value)}"
        raise ConfigError(msg)


@frozen(repr=False)
class _Rough:
    """
    Estimate the tokens of `exact()` without a vocabulary, from the script of each character.

    For counting before anything is loaded, or where 100 ms are too long.
    `unabridged.tokens.estimate` says how far off it is.

    >>> from unabridged.messages import user
    >>> rough(user("The weather in Lima is mild all year round."))
    13
    >>> from unabridged.tokens import exact
    >>> exact()(user("The weather in Lima is mild all year round."))
    14
    """

    @property
    def bound(self) -> Bound:
        return "estimate"

    @property
    def costs(self) -> Costs:
        return _ROUGH

    def __call__(self, message: Message, /) -> int:
        return total(message, _ROUGH)

    def __repr__(self) -> str:
        return "tokens.rough"


@frozen(repr=False)
class _OfText:
    """
    Count a message by a function of its `counted_text()`.

    `tokens.words` counts words, for examples and for limits a person can check;
    `tokens.quarter` a token for every four characters begun, at least 1, the
    habit of many libraries; `tokens.of_text` makes one of your function. Roles,
    pictures and documents cost nothing here.

    >>> from unabridged.messages import user
    >>> words(user("the cat sat")), quarter(user("the cat sat"))
    (3, 3)
    """

    measure: Measure = field(validator=_function)
    label: str = field(default="", eq=False)

    @property
    def bound(self) -> Bound:
        return "estimate"

    def __call__(self, message: Message, /) -> int:
        return self.measure(message.counted_text())

    def __repr__(self) -> str:
        name: str = getattr(self.measure, "__qualname__", "") or repr(self.measure)
        return self.label or f"of_text({name})"


def _words(text: str) -> int:
    """
    The words of a text, for examples and for limits a person can check.

    >>> from unabridged.messages import user
    >>> words(user("the cat sat"))
    3
    """
    return len(text.split())


def _quarter(text: str) -> int:
    """
    A token for every four characters begun, at least 1: the habit of many libraries.

    Of what o200k_base counts it finds 0.96 in English prose, 0.72 in JSON and
    0.58 in Chinese, Japanese and Korean.

    >>> from unabridged.messages import user
    >>> quarter(user("hello"))
    2
    """
    return max(1, (len(text) + 3) // 4)


rough: Counter = _Rough()
words: Counter = _OfText(_words, "tokens.words")
quarter: Counter = _OfText(_quarter, "tokens.quarter")

_ROUGH = Costs(estimate, estimate)


def costs_of(counter: TokenCounter) -> Costs | None:
    """
    How a counter counts texts and media; None for any function but those of this package.

    >>> costs_of(rough).text("hello world")
    2
    >>> costs_of(words)
    """
    costs = getattr(counter, "costs", None)

    return costs if isinstance(costs, Costs) else None
