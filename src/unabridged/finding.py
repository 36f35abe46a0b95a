"""
Finding words in a text: where they stand, and the text around them.

Case is no matter, nor how words are spaced; words without spaces between them,
as in Chinese, are found as they stand. Places are those in the text as it is.
"""

import re

from unabridged.graphemes import cut_after, cut_before

__all__ = ["around", "occurrences", "pattern_of", "words_of"]


def words_of(query: str) -> tuple[str, ...]:
    """
    The words that are looked for, each once.

    >>> words_of("time  out time")
    ('time', 'out')
    """
    return tuple(dict.fromkeys(query.split()))


def pattern_of(*words: str) -> re.Pattern[str]:
    r"""
    What finds these words one after the other.

    >>> bool(pattern_of("time", "out").search("TIME\nout"))
    True
    """
    return re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)


def occurrences(
    text: str, query: str, start: int = 0, stop: int | None = None, *, most: int = 100
) -> tuple[list[range], int]:
    """
    Where the words of *query* stand together in a text, or, where they nowhere do, any of them.

    The first *most* places, and how many there are.

    >>> occurrences("You go, then we GO on.", "go on"), occurrences("You go.", "go on")
    (([range(16, 21)], 1), ([range(4, 6)], 1))
    """
    stop = len(text) if stop is None else stop
    words = words_of(query)
    longest = sorted(words, key=len, reverse=True)  # so that "out" does not hide "outside"
    either = re.compile("|".join(map(re.escape, longest)), re.IGNORECASE)
    for pattern in (pattern_of(*query.split()), either):
        places: list[range] = []
        count = 0
        for found in pattern.finditer(text, start, stop):
            count += 1
            if count <= most:
                places.append(range(*found.span()))
        if count:
            return places, count

    return [], 0


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
