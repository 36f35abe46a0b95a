"""
Clipping text: its head and its tail stay, and a marker says what is left out.

A text is cut by characters, by the ratio of characters to tokens that was
measured once over the whole; the pieces are counted and the cut is moved a few
times at most, so the work is linear in the text. What is clipped once can be
clipped shorter: what stood at its head and tail then is known.
"""

import itertools
from collections.abc import Callable
from typing import TypeAlias

from attrs import field, frozen

from unabridged.graphemes import cut_after, cut_before

__all__ = ["Clipping", "Limits", "Size", "clip", "mark", "middle"]

Size: TypeAlias = Callable[[str], int]

TRIES = 4
WORD = 32  # characters within which the end of a word is looked for
CLOSE = 16  # a piece is long enough when a 16th of its tokens or less is free


@frozen
class Clipping:
    """
    Where a text was clipped: characters kept of its *head* and *tail*, tokens *left* out.

    >>> Clipping(120, 80, 4_310).left
    4310
    """

    head: int
    tail: int
    left: int

    @property
    def numbers(self) -> list[int]:
        """
        The three, as JSON holds them.
        """
        return [self.head, self.tail, self.left]

    @classmethod
    def of(cls, numbers: object) -> "Clipping | None":
        """
        The clipping of these three numbers; None of anything else.

        >>> Clipping.of([120, 80, 4310]) == Clipping(120, 80, 4310), Clipping.of("all")
        (True, None)
        """
        if not isinstance(numbers, list) or len(numbers) != 3:  # noqa: PLR2004  its fields
            return None
        sound = all(type(number) is int and number >= 0 for number in numbers)

        return cls(*numbers) if sound else None


@frozen
class Limits:
    """
    What a clipped text may have, in tokens: *tokens* in all, *head* and *tail* of it.

    Where *head* or *tail* is None it gets what the other leaves; both None, half each; both
    given and no room for both, beside the marker, each gets its part of what there is. *least*
    are characters at the start that go before the tail.

    >>> Limits(200).shares(180)
    (90, 90)
    >>> Limits(200, head=150).shares(180), Limits(200, head=150, tail=50).shares(180)
    ((150, 30), (135, 45))
    """

    tokens: int
    head: int | None = None
    tail: int | None = None
    least: int = field(default=0, kw_only=True)

    def shares(self, room: int, needed: int = 0) -> tuple[int, int]:
        """
        How many of *room* tokens the head and the tail get; the head at least *needed*.
        """
        if room <= 0:
            return 0, 0
        if self.head is not None:
            wanted = self.head + (self.tail or 0)
            head = self.head if wanted <= room else self.head * room // wanted
        else:
            head = room - (room // 2 if self.tail is None else min(self.tail, room))
        head = min(room, max(head, needed))

        return head, min(room - head, room if self.tail is None else self.tail)


def mark(left: int, handle: str) -> str:
    """
    The marker: how many tokens are left out, and the handle under which the whole is fetched.

    >>> mark(4310, "12")
    '[… 4,310 tokens left out; the whole is entry 12 …]'
    """
    return f"[… {left:,} token{'' if left == 1 else 's'} left out; the whole is entry {handle} …]"


def clip(  # noqa: PLR0913  the text, what it may have, what is known of it
    text: str,
    limits: Limits,
    size: Size,
    handle: str,
    before: Clipping | None = None,
    glue: str = "\n",
) -> tuple[str, Clipping] | None:
    r"""
    The text clipped so that its *size*, in tokens, fits; None where that gains nothing.

    *handle* names the whole in the marker, *before* is how it was clipped
    already, *glue* stands around the marker. Where
    not even the marker fits, the marker alone is left.

    >>> text, how = clip("w" * 100, Limits(60), len, "12")
    >>> text.replace("\n", " "), len(text), how.left
    ('wwwww [… 90 tokens left out; the whole is entry 12 …] wwwww', 59, 90)
    """
    whole = size(text)
    if whole <= limits.tokens:
        return None
    old = before if before is not None and _holds(text, before, handle, glue) else None
    opening = text if old is None else text[: old.head]
    closing = text if old is None else text[len(text) - old.tail :]
    bare = size("")

    def measure(piece: str) -> int:
        return max(0, size(piece) - bare) if piece else 0

    gone = whole - bare if old is None else old.left + measure(opening) + measure(closing)
    room = limits.tokens - size(f"{glue}{mark(gone, handle)}{glue}")
    needed = measure(opening[: limits.least]) if limits.least and room > 0 else 0
    first, last = limits.shares(room, needed)
    ratio = len(text) / max(1, whole - bare)
    head = _fit(opening, first, ratio, measure, _head)
    tail = _fit(closing, last, ratio, measure, _tail)
    for turn in itertools.count():
        if old is None and len(head) + len(tail) >= len(text):
            return None  # the counter does not go by the text
        if old is not None and (head, tail) == (opening, closing):
            return None
        left = max(1, gone - measure(head) - measure(tail))
        made = _around(head, mark(left, handle), tail, glue)
        now = size(made)
        if now <= limits.tokens or not (head or tail):
            return (made, Clipping(len(head), len(tail), left)) if now < whole else None
        less = int((now - limits.tokens) * ratio) + 1 if turn < TRIES else 0
        head, tail = _less(head, tail, less)

    raise AssertionError  # pragma: no cover  the pieces get shorter at each turn


def middle(clipped: str, how: Clipping) -> str:
    """
    What stands in a clipped text between its head and its tail: the marker and the glue.

    >>> middle("one [… 9 tokens left out; the whole is entry 3 …] two", Clipping(3, 3, 9))
    ' [… 9 tokens left out; the whole is entry 3 …] '
    """
    return clipped[how.head : len(clipped) - how.tail]


def _holds(text: str, how: Clipping, handle: str, glue: str) -> bool:
    """
    Whether the text is clipped as *how* says, and nobody reworded it since.
    """
    if how.head + how.tail > len(text):
        return False
    head, tail = text[: how.head], text[len(text) - how.tail :]

    return text == _around(head, mark(how.left, handle), tail, glue)


def _around(head: str, marker: str, tail: str, glue: str) -> str:
    return f"{head}{glue if head else ''}{marker}{glue if tail else ''}{tail}"


def _head(text: str, length: int) -> str:
    """
    The first *length* characters or a few less: no character, and where one is near no word, parts.
    """
    length = min(length, len(text))
    if length == len(text):
        return text
    near = range(length, max(0, length - WORD), -1)
    length = next((place for place in near if text[place].isspace()), length)

    return text[: cut_before(text, length)]


def _tail(text: str, length: int) -> str:
    """
    The last *length* characters or a few less, as `_head`.
    """
    start = max(0, len(text) - length)
    if start == 0 or start == len(text):
        return text[start:]
    near = range(start, min(len(text), start + WORD))
    start = next((place for place in near if text[place - 1].isspace()), start)

    return text[cut_after(text, start) :]


def _fit(
    text: str, room: int, ratio: float, measure: Size, piece: Callable[[str, int], str]
) -> str:
    """
    A long piece of the text that has at most *room* tokens.
    """
    if room <= 0:
        return ""
    best, fits, fails = "", 0, len(text) + 1
    length = min(len(text), int(room * ratio) + 1)
    for _ in range(TRIES):
        found = piece(text, length)
        used = measure(found)
        if used <= room:
            best, fits = found, length
            if length == len(text) or room - used <= room // CLOSE:
                break
            wish = int(length * room / max(1, used))
        else:
            fails = length
            wish = int(length * room / used) - 1
        length = min(max(wish, fits + 1), fails - 1)
        if not fits < length < fails:
            break
    length = min(fails, len(text))
    while not best and length > 1:
        length //= 2
        found = piece(text, length)
        best = found if measure(found) <= room else ""

    return best


def _less(head: str, tail: str, count: int) -> tuple[str, str]:
    """
    The pieces with *count* characters less of the longer, or with half of both.
    """
    if not count:
        return _head(head, len(head) // 2), _tail(tail, len(tail) // 2)
    if len(head) >= len(tail):
        return _head(head, max(0, len(head) - count)), tail

    return head, _tail(tail, max(0, len(tail) - count))
