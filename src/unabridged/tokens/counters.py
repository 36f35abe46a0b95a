"""
Counters: functions from a message to its number of tokens.

Every counter here is a value: equal to another that counts alike, hashable,
and to be pickled. A counter is additive: a conversation costs the sum of its
messages, so a message is counted once and never again.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Protocol

from attrs import field, frozen

from unabridged.errors import ConfigError
from unabridged.messages import Message
from unabridged.tokens.estimate import estimate
from unabridged.tokens.formula import Measure, total
from unabridged.tokens.vocabulary import KNOWN, encoding

__all__ = ["TokenCounter", "exact", "of_text", "quarter", "rough", "words"]

# tiktoken panics on a million spaces; slices this long cost 0.004% at most.
SLICE = 100_000


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


def exact(encoding: str = "o200k_base") -> TokenCounter:
    """
    Count in tokens of tiktoken's `o200k_base` or `cl100k_base`, without a network.

    The vocabulary ships with the package; the first count of a process loads
    it, in 100 to 300 ms. Text of special tokens is text, and a lone surrogate
    counts as U+FFFD.

    A message costs 3, the tokens of each of its values, and 1 if it has a
    name. That is OpenAI's formula for chats (cookbook, "How to count tokens
    with tiktoken"); the 3 tokens that open the reply come once a request and
    are in no message. Its values are the role, the name, text, reasoning, the
    id, name and arguments of each call, the id each result answers, the text
    and name of a plain text document, and the transcript of audio. Ids are in
    because a count too high is safer than one too low.

    Other parts have a flat figure, never the length of their base64: an image
    765 (85 in low detail), a document 2,000, audio 960. An opaque part counts
    its JSON text, where a string of more than 1,000 characters without a
    space is taken for a payload of 765. Signatures, encrypted reasoning,
    metadata and `extra` are not counted.

    Raises:
        ConfigError: the encoding is not one of the two.

    >>> from unabridged.messages import user
    >>> exact()(user("hello world"))
    6
    >>> exact("cl100k_base")
    exact('cl100k_base')
    """
    return _Exact(encoding)


def of_text(measure: Callable[[str], int]) -> TokenCounter:
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


def _known(_instance: object, _attribute: object, value: str) -> None:
    if value not in KNOWN:
        msg = f"exact: encoding {value!r} is unknown; there are {', '.join(map(repr, KNOWN))}"
        raise ConfigError(msg)


def _function(_instance: object, _attribute: object, value: Measure) -> None:
    if not callable(value):
        msg = f"of_text: expected a function from text to int, got {value!r}"
        raise ConfigError(msg)


@frozen(repr=False)
class _Exact:
    encoding: str = field(validator=_known)

    def __call__(self, message: Message, /) -> int:
        measure, label = _measures(self.encoding)
        return total(message, measure, label)

    def __repr__(self) -> str:
        return f"exact({self.encoding!r})"


@frozen(repr=False)
class _Rough:
    """
    Estimate the tokens of `exact()` without a vocabulary, from the script of each character.

    For counting before anything is loaded, or where 100 ms are too long.
    `unabridged.tokens.estimate` says how far off it is.

    >>> from unabridged.messages import user
    >>> rough(user("The weather in Lima is mild all year round."))
    13
    >>> exact()(user("The weather in Lima is mild all year round."))
    14
    """

    def __call__(self, message: Message, /) -> int:
        return total(message, estimate, estimate)

    def __repr__(self) -> str:
        return "tokens.rough"


@frozen(repr=False)
class _OfText:
    measure: Measure = field(validator=_function)
    label: str = field(default="", eq=False)

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


rough: TokenCounter = _Rough()
words: TokenCounter = _OfText(_words, "tokens.words")
quarter: TokenCounter = _OfText(_quarter, "tokens.quarter")


@cache
def _measures(name: str) -> tuple[Measure, Measure]:
    """
    The tokens of a text, and the same with a memory, for roles and names.
    """
    encode = encoding(name).encode_ordinary

    def measure(text: str) -> int:
        if len(text) <= SLICE:
            return len(encode(text))

        starts = range(0, len(text), SLICE)
        return sum(len(encode(text[start : start + SLICE])) for start in starts)

    return measure, lru_cache(maxsize=1_024)(measure)
