"""
Sets of entry numbers, kept as ranges.

A write-back on a thread of a million entries names one range, not a million
numbers; so does the reason why they left.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from attrs import field, frozen

from unabridged.errors import ConfigError

__all__ = ["Span"]

# Ranges are looked up as `bisect_left(ranges, (number,))`: a tuple of one sorts before all pairs
# that start with it, so this is how many ranges start below the number.
Ranges = tuple[tuple[int, int], ...]


def _ranges(value: Iterable[tuple[int, int]]) -> Ranges:
    ranges = tuple((first, last) for first, last in value)
    floor = 0
    for first, last in ranges:
        if not floor < first <= last:
            msg = f"Span: ranges must be positive, ordered and apart, got {ranges[:8]}"
            raise ConfigError(msg)
        floor = last + 1

    return ranges


@frozen(repr=False)
class Span:
    """
    An immutable set of entry numbers, as inclusive ranges.

    >>> Span.of([1, 2, 3, 7])
    Span.of([(1, 3), 7])
    >>> str(Span.of([1, 2, 3, 7]))
    '1-3, 7'
    >>> Span.between(1, 9) - Span.one(5)
    Span.of([(1, 4), (6, 9)])
    >>> 3 in Span.between(1, 9), len(Span.between(1, 9))
    (True, 9)
    """

    ranges: Ranges = field(default=(), converter=_ranges)

    @classmethod
    def one(cls, number: int) -> "Span":
        """
        The set of one number.
        """
        return _made(((number, number),))

    @classmethod
    def between(cls, first: int, last: int) -> "Span":
        """
        All numbers from *first* to *last*, both included; empty if there are none.
        """
        return _made(((first, last),)) if first <= last else NOTHING

    @classmethod
    def of(cls, numbers: "Iterable[int | tuple[int, int]]") -> "Span":
        """
        The set of these numbers and inclusive ranges, in any order.
        """
        pairs = sorted((n, n) if isinstance(n, int) else n for n in numbers)
        if pairs and pairs[0][0] < 1:
            msg = f"Span: entries are numbered from 1, got {pairs[0][0]}"
            raise ConfigError(msg)

        return _made(_joined(pairs))

    @classmethod
    def union(cls, spans: "Iterable[Span]") -> "Span":
        """
        The numbers in any of these sets.
        """
        return _made(_joined(sorted(pair for span in spans for pair in span.ranges)))

    @property
    def first(self) -> int:
        """
        The smallest number; 0 if there is none.
        """
        return self.ranges[0][0] if self.ranges else 0

    @property
    def last(self) -> int:
        """
        The largest number; 0 if there is none.
        """
        return self.ranges[-1][1] if self.ranges else 0

    def tail(self, count: int, before: int | None = None) -> "Span":
        """
        The *count* largest numbers, of those below *before* if it is given.
        """
        found: list[tuple[int, int]] = []
        ranges = self.ranges if before is None else self.before(before).ranges
        for first, top in reversed(ranges):
            if count <= 0:
                break
            low = max(first, top - count + 1)
            found.append((low, top))
            count -= top - low + 1

        return _made(tuple(reversed(found)))

    def before(self, number: int) -> "Span":
        """
        The numbers below *number*.
        """
        count = bisect_left(self.ranges, (number,))
        if not count:
            return NOTHING
        first, last = self.ranges[count - 1]

        return _made((*self.ranges[: count - 1], (first, min(last, number - 1))))

    def extended(self, number: int) -> "Span":
        """
        With *number*, which is above all others, added.
        """
        if self.ranges and self.ranges[-1][1] == number - 1:
            return _made((*self.ranges[:-1], (self.ranges[-1][0], number)))

        return _made((*self.ranges, (number, number)))

    def isdisjoint(self, other: "Span") -> bool:
        """
        Whether the two share no number.
        """
        if len(self.ranges) > len(other.ranges):
            self, other = other, self  # noqa: PLW0642  the shorter one is walked
        return not any(other._meets(first, last) for first, last in self.ranges)

    def _meets(self, first: int, last: int) -> bool:
        place = bisect_left(self.ranges, (last + 1,))
        return place > 0 and self.ranges[place - 1][1] >= first

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self._meets(number, number)

    def __iter__(self) -> Iterator[int]:
        for first, last in self.ranges:
            yield from range(first, last + 1)

    def __reversed__(self) -> Iterator[int]:
        for first, last in reversed(self.ranges):
            yield from range(last, first - 1, -1)

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __le__(self, other: "Span") -> bool:
        return all(
            (place := bisect_left(other.ranges, (first + 1,))) > 0
            and other.ranges[place - 1][1] >= last
            for first, last in self.ranges
        )

    def __or__(self, other: "Span") -> "Span":
        if not other.ranges or not self.ranges:
            return self if self.ranges else other
        if self.ranges[-1][1] < other.ranges[0][0] - 1:
            return _made(self.ranges + other.ranges)

        return _made(_joined(sorted((*self.ranges, *other.ranges))))

    def __and__(self, other: "Span") -> "Span":
        return self - (self - other)

    def __sub__(self, other: "Span") -> "Span":
        mine, theirs = self.ranges, other.ranges
        if not mine or not theirs:
            return self
        if len(theirs) == 1:
            return self._without(*theirs[0])
        same, most = 0, min(len(mine), len(theirs))
        while same < most and mine[same] is theirs[same]:
            same += 1  # one was made from the other, as when a cut takes all that is old
        if same:
            mine, theirs = mine[same:], theirs[same:]
        if not mine or not theirs:
            return _made(mine)
        # only what lies where the other does is looked at one by one
        start = bisect_left(mine, (theirs[0][0] + 1,))
        start -= start > 0 and mine[start - 1][1] >= theirs[0][0]
        stop = bisect_left(mine, (theirs[-1][1] + 1,))

        return _made((*mine[:start], *_apart(mine[start:stop], theirs), *mine[stop:]))

    def _without(self, low: int, high: int) -> "Span":
        """
        The set without one range: what a cut takes nearly always is one.
        """
        ranges = self.ranges
        stop = bisect_left(ranges, (high + 1,))
        start = bisect_left(ranges, (low,), 0, stop)
        if start and ranges[start - 1][1] >= low:
            start -= 1
        if start == stop:
            return self
        first, last = ranges[start][0], ranges[stop - 1][1]
        left = ((first, low - 1),) if first < low else ()
        right = ((high + 1, last),) if last > high else ()

        return _made(ranges[:start] + left + right + ranges[stop:])

    def __str__(self) -> str:
        return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in self.ranges)

    def __repr__(self) -> str:
        if not self.ranges:
            return "Span()"
        inside = ", ".join(str(a) if a == b else f"({a}, {b})" for a, b in self.ranges)
        return f"Span.of([{inside}])"


def _apart(ranges: Ranges, cuts: Ranges) -> list[tuple[int, int]]:
    """
    What is left of *ranges* without *cuts*.
    """
    left: list[tuple[int, int]] = []
    place = max(0, bisect_left(cuts, (ranges[0][0] + 1,)) - 1) if ranges else 0
    for whole in ranges:
        first, end = whole
        while place < len(cuts) and cuts[place][1] < first:
            place += 1
        here = place
        while here < len(cuts) and cuts[here][0] <= end:
            if cuts[here][0] > first:
                left.append((first, cuts[here][0] - 1))
            first = max(first, cuts[here][1] + 1)
            here += 1
        if first <= end:
            left.append(whole if first == whole[0] else (first, end))

    return left


def _joined(pairs: Iterable[tuple[int, int]]) -> Ranges:
    joined: list[tuple[int, int]] = []
    for first, last in pairs:
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        elif first <= last:
            joined.append((first, last))

    return tuple(joined)


def _made(ranges: Ranges) -> Span:
    span = Span.__new__(Span)
    object.__setattr__(span, "ranges", ranges)
    return span


NOTHING = _made(())
