"""
Where a text may be cut: between characters as people see them.

An emoji of several code points, a letter with its accents, a flag, a syllable
of Hangul or Devanagari stay whole. The rules are those of Unicode's extended
grapheme clusters (UAX 29), from what `unicodedata` knows of each code point.
"""

import unicodedata

__all__ = ["cut_after", "cut_before"]

LONGEST = 1_000  # code points of one character; a longer one is cut
_JOINER = "\u200d"
_VIRAMA = 9  # the combining class of signs that tie the next consonant to the one before
_MARKS = frozenset({"Mn", "Me", "Mc"})
_SYLLABLE = (0xAC00, 0xD7A3)
_EXTENDS = (
    (0x200C, 0x200D),  # joiners
    (0xFF9E, 0xFF9F),  # voicing marks of half-width kana
    (0x1F3FB, 0x1F3FF),  # skin tones
    (0xE0020, 0xE007F),  # tags, as in the flag of Scotland
    (0x1160, 0x11FF),  # vowels and finals of Hangul
    (0xD7B0, 0xD7FB),
    (0xDC00, 0xDFFF),  # the second half of a pair of surrogates
)
_LEADS = ((0x1100, 0x115F), (0xA960, 0xA97C))  # initials of Hangul
_FLAGS = ((0x1F1E6, 0x1F1FF),)  # letters that make a flag, two by two


def cut_before(text: str, place: int) -> int:
    r"""
    The last place at or before *place*, in characters, where *text* may be cut.

    >>> cut_before("cafe\u0301s", 4), cut_before("cafe\u0301s", 5)
    (3, 5)
    """
    first = place - LONGEST
    while max(0, first) < place < len(text) and _tied(text, place):
        place -= 1

    return place


def cut_after(text: str, place: int) -> int:
    r"""
    The first place at or after *place*, in characters, where *text* may be cut.

    >>> cut_after("cafe\u0301s", 4)
    5
    """
    last = place + LONGEST
    while 0 < place < min(len(text), last) and _tied(text, place):
        place += 1

    return place


def _tied(text: str, place: int) -> bool:
    """
    Whether what stands before *place* and after it are one.
    """
    left, right = text[place - 1], text[place]
    if left.isascii() and right.isascii():
        return left == "\r" and right == "\n"
    if unicodedata.category(right) in _MARKS or _within(right, _EXTENDS):
        return left not in "\r\n"
    if left == _JOINER or unicodedata.combining(left) == _VIRAMA:
        return True
    if _within(left, _LEADS):
        return _within(right, (*_LEADS, _SYLLABLE))
    if not (_within(left, _FLAGS) and _within(right, _FLAGS)):
        return False
    start = place
    while start > place - 2 * LONGEST and start and _within(text[start - 1], _FLAGS):
        start -= 1

    return (place - start) % 2 == 1


def _within(letter: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= ord(letter) <= last for first, last in ranges)
