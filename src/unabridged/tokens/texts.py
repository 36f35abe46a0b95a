"""
How many tokens a text has: what tiktoken counts, in time linear in the text.

Where the extra `fast` is installed, toktok-rs counts, ten times as fast and
without tiktoken's vocabulary in memory; a test holds its numbers to tiktoken's.
"""

import importlib
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TypeAlias

from unabridged.tokens.vocabulary import KNOWN, encoding

__all__ = ["Measure", "fast", "measure_of", "pieces", "plain"]

Measure: TypeAlias = Callable[[str], int]

# tiktoken's pattern steps back over white space one character at a time, and
# panics after a million of them. A longer run than this is counted in blocks.
RUN = 100_000
# The longest tokens of white space have 128 characters, so the tokens of a run
# of spaces end where its blocks end.
BLOCK = RUN - RUN % 128

_SPACES = re.compile(r"\s*+")
# Where toktok-rs 0.3 and tiktoken 0.14 part, tiktoken is asked. The long s is
# an s when case is ignored, so tiktoken takes it for the end of a contraction,
# as in `it's`; and characters that came with Unicode 17 are letters, marks and
# digits to toktok-rs alone. A test looks for others among all characters.
_LONG_S = "'\u017f"
_NEWER = re.compile("[\u088f\u0c5c\u0cdc\u1acf-\u1add\u1ae0-\u1aeb\ua7ce\ua7cf\ua7d2\ua7d4\ua7f1]")
# beyond the first plane, which is looked at only if the text goes there
_NEWER_BEYOND = re.compile(
    "[\U00010940-\U00010959\U00010ec5-\U00010ec7\U00010efa\U00010efb\U00011b60-\U00011b67"
    "\U00011db0-\U00011ddb\U00011de0-\U00011de9\U00016ea0-\U00016eb8\U00016ebb-\U00016ed3"
    "\U00016ff2-\U00016ff6\U000187f8-\U000187ff\U00018d09-\U00018d1e\U00018d80-\U00018df2"
    "\U0001e6c0-\U0001e6ff\U0002b73a-\U0002b73f\U0002cea2-\U0002cead\U000323b0-\U00033479]"
)
_BEYOND = re.compile("[\U00010000-\U0010ffff]")


@cache
def measure_of(name: str) -> Measure:
    """
    What counts the tokens of a text in the vocabulary *name*.

    Text of special tokens is text, and a lone surrogate counts as U+FFFD. The
    count is tiktoken's for every text without a run of more than 100,000 white
    space characters, on which tiktoken may panic. Such a run is counted in
    blocks of that size, within 4 tokens for each.

    >>> measure_of("o200k_base")("hello <|endoftext|>")
    8
    """
    count = fast(name) or plain(name)

    def measure(text: str) -> int:
        return count(text) if len(text) <= RUN else sum(map(count, pieces(text)))

    return measure


def plain(name: str) -> Measure:
    """
    Tiktoken's own count, which loads the vocabulary: 100 to 300 ms, once a process.

    >>> plain("cl100k_base")("hello world")
    2
    """
    encode = encoding(name).encode_ordinary

    return lambda text: len(encode(text))


def fast(name: str) -> Measure | None:
    """
    The count of toktok-rs; None where the extra `fast` is not installed.

    Its public call counts a batch on several threads, which takes 60 µs for
    one message; the tokenizer behind it takes 1. A version without that one
    is not used, nor is the other package that calls its module `toktok`.
    """
    if name not in KNOWN:
        return None
    try:
        count: Measure = importlib.import_module("toktok")._encoding(name).count  # noqa: SLF001
    except (ImportError, AttributeError, LookupError):
        return None

    def measure(text: str) -> int:
        if not text.isascii() and _parted(text):
            return plain(name)(text)
        try:
            return count(text)
        except UnicodeEncodeError:  # a lone surrogate, which goes to the provider as U+FFFD
            return count(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))

    return measure


def _parted(text: str) -> bool:
    newer = _NEWER.search(text) or (_BEYOND.search(text) and _NEWER_BEYOND.search(text))
    return newer is not None or _LONG_S in text


def pieces(text: str) -> Iterator[str]:
    """
    The text, cut where it must be: within runs of more than 100,000 white space characters.

    >>> [len(piece) for piece in pieces("a" * 300_000)]
    [300000]
    >>> [len(piece) for piece in pieces("a" + " " * 250_000)]
    [99969, 99968, 50064]
    """
    start = place = 0
    while place < len(text):
        if text[place].isspace():
            before = max(start, place - RUN)
            first = before + len(text[before:place].rstrip())
            place = _end(text, place)
            cuts = range(first + BLOCK, place, BLOCK) if place - first > RUN else ()
            for cut in cuts:
                yield text[start:cut]
                start = cut
        place += RUN  # no longer run can begin and end between two places
    yield text[start:]


def _end(text: str, place: int) -> int:
    found = _SPACES.match(text, place)
    return found.end() if found else place
