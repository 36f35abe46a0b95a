"""
Finding words in a text: where they stand, and the text around them.

Case is no matter, nor how words are spaced; words without spaces between them,
as in Chinese, are found as they stand. Places are those in the text as it is.

Texts and words may be made to be slow to search. Each word is looked for by
`str.find`, which is linear whatever they are, and a search that has taken
enough effort says where it goes on.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from unabridged.graphemes import cut_after, cut_before

__all__ = ["EFFORT", "Found", "around", "folded", "occurrences", "words_of"]

EFFORT = 4_000_000  # characters that one call reads, each as often as it looks for words in it
STEP = 16  # characters that are read while one place is looked at
# one letter in two forms, as `re.IGNORECASE` has it; lower case alone keeps them apart
_SAME = (
    *(("\u0131", "i"), ("\u017f", "s"), ("\u00b5", "\u03bc"), ("\u0345", "\u03b9")),
    *(("\u1fbe", "\u03b9"), ("\u1fd3", "\u0390"), ("\u1fe3", "\u03b0"), ("\u03c2", "\u03c3")),
    *(("\u03d0", "\u03b2"), ("\u03d1", "\u03b8"), ("\u03d5", "\u03c6"), ("\u03d6", "\u03c0")),
    *(("\u03f0", "\u03ba"), ("\u03f1", "\u03c1"), ("\u03f5", "\u03b5"), ("\u1e9b", "\u1e61")),
    *(("\u1c80", "\u0432"), ("\u1c81", "\u0434"), ("\u1c82", "\u043e"), ("\u1c83", "\u0441")),
    *(("\u1c84", "\u0442"), ("\u1c85", "\u0442"), ("\u1c86", "\u044a"), ("\u1c87", "\u0463")),
    *(("\u1c88", "\ua64b"), ("\ufb05", "\ufb06")),
)
_ODD_SPACE = re.compile(r"[^\S ]")
_SPACES = re.compile(" {2,}")


class Found(NamedTuple):
    """
    The first *places* of words in a text, how many *hits* there are, and the *effort* it took.

    *stop* is the end of what was searched.

    >>> Found([range(2)], 1, 9, 18).stop
    9
    """

    places: list[range]
    hits: int
    stop: int
    effort: int


def words_of(query: str) -> tuple[str, ...]:
    """
    The words that are looked for, each once.

    >>> words_of("time  out time")
    ('time', 'out')
    """
    return tuple(dict.fromkeys(query.split()))


def folded(text: str) -> str:
    """
    The text without its case, each character in its place.

    >>> folded("CAF\u00c9 \u0130")
    'café i'
    """
    if text.isascii():
        return text.lower()
    text = text.replace("\u0130", "i").lower()  # no other letter becomes two
    for odd, plain in _SAME:
        if odd in text:
            text = text.replace(odd, plain)

    return text


def occurrences(  # noqa: PLR0913  where to look, and how long
    text: str,
    query: str,
    start: int = 0,
    stop: int | None = None,
    *,
    most: int = 100,
    effort: int = EFFORT,
) -> Found:
    """
    Where the words of *query* stand together in a text, or, where they nowhere do, any of them.

    The first *most* places, and how many there are. Once it has taken the *effort*,
    it stops, and says where.

    >>> occurrences("You go, then we GO on.", "go on").places
    [range(16, 21)]
    >>> occurrences("You go.", "go on").places
    [range(4, 6)]
    """
    end = len(text) if stop is None else stop
    words = [folded(word) for word in query.split()]
    each = sorted({*words}, key=len, reverse=True)  # so that "out" does not hide "outside"
    last = min(end, start + max(1, effort // (len(each) + 1)))
    # a place begins before *last*, and may go on behind it
    part = folded(text[start : min(end, last + 2 * len(query))])
    flat, origin = _flat(part) if len(words) > 1 else (part, int)
    for searched, sought, place in ((flat, [" ".join(words)], origin), (part, each, int)):
        found = _places(searched, sought, place, last - start, most, effort)
        if found.hits:
            break
    places = [range(start + at.start, start + at.stop) for at in found.places]

    return Found(places, found.hits, start + found.stop, found.effort + len(part))


def _flat(text: str) -> tuple[str, Callable[[int], int]]:
    """
    The text with one blank for each white space in it, and what tells where a place of it was.
    """
    text = _ODD_SPACE.sub(" ", text)
    runs = [run.span() for run in _SPACES.finditer(text)]
    if not runs:
        return text, int
    gone = [0, *accumulate(last - first - 1 for first, last in runs)]
    after = [last - gone[at + 1] for at, (_, last) in enumerate(runs)]

    return _SPACES.sub(" ", text), lambda place: place + gone[bisect_right(after, place)]


def _places(  # noqa: PLR0913  what a search is told
    text: str,
    words: Sequence[str],
    origin: Callable[[int], int],
    last: int,
    most: int,
    effort: int,
) -> Found:
    """
    Where any of the *words* begin before *last*, which is a place of the *origin*.
    """
    end = bisect_left(range(len(text)), last, key=origin)
    ahead = {word: at for word in words if 0 <= (at := text.find(word)) < end}
    places: list[range] = []
    hits = 0
    used = len(text) * len(words)
    while ahead:
        word = min(ahead, key=lambda each: (ahead[each], -len(each)))
        first = ahead[word]
        at = first + len(word)
        if len(words) == 1 and hits == most:
            hits += text.count(word, first, end + len(word) - 1)
            break
        if used > effort and hits:
            return Found(places, hits, origin(first), used)
        hits += 1
        if hits <= most:
            places.append(range(origin(first), origin(at - 1) + 1))
        for each in [each for each, found in ahead.items() if found < at]:
            ahead[each] = text.find(each, at)
            if not 0 <= ahead[each] < end:
                del ahead[each]
            used += len(each)
        used += STEP + len(ahead)

    return Found(places, hits, last, used)


def around(text: str, place: range, characters: int) -> range:
    """
    The part of a text around a place: so many *characters* more on each side, none of them parted.

    Of a place that is longer than that on both sides together, the beginning.

    >>> around("one two three", range(4, 7), 2)
    range(2, 9)
    """
    first = max(0, place.start - characters)
    last = min(len(text), min(place.stop, place.start + 2 * characters) + characters)

    return range(cut_before(text, first), cut_after(text, last))
