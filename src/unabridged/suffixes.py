"""
Suffixes: how many of the newest blocks fit a limit, beside what must stay.

The scan of each cut, and so of each turn: it reads what it keeps, and where
messages are counted it need not even do that.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Container, Sequence
from typing import NamedTuple, TypeAlias

from attrs import evolve

from unabridged.messages import Message
from unabridged.must import CutRules, Must, brings, opener_of
from unabridged.sums import Sums
from unabridged.tokens import Kept
from unabridged.tokens.from_client import FromClient
from unabridged.views import View

__all__ = ["Scales", "Suffix", "Weigh", "suffix"]

Weigh: TypeAlias = Callable[[Message], int]

FEW = 48  # as many items are scanned in the time that looking them up takes


class Suffix(NamedTuple):
    """
    Where a suffix starts, the places it was *widened* by, and the *opener* it brings along.

    The opener is a place, -1 if there is none to bring, None if nobody looked.
    """

    start: int
    widened: tuple[int, ...] = ()
    opener: int | None = None


class Scales:
    """
    What the loaded item at a place weighs; those that do not count weigh nothing.
    """

    __slots__ = (
        "_items",
        "_low",
        "_shift",
        "_size",
        "_summed",
        "_sums",
        "_tail",
        "_weightless",
        "known",
        "weigh",
    )

    def __init__(self, view: View, weigh: Weigh | None, weightless: frozenset[int]) -> None:
        self._items = view.items
        self._size = view.size
        self._tail = view.tail_sums
        self._weightless = weightless
        # running sums of the places from `low` on; None where each weighs one
        self._sums: Sequence[int] | None = None
        self._summed: Sums | None = None
        self.known = weigh is None
        """Whether there are sums to look at."""
        if weigh is None:
            self.weigh: Weigh = _one
            return
        self.weigh = weigh.count_of if isinstance(weigh, Kept) else weigh
        self._low, self._shift, self._sums = self._size, -self._size, (0,)
        if self._size > FEW:
            self._take_sums(weigh)

    def _take_sums(self, weigh: Weigh) -> None:
        """
        Take what is known of the view's last items.
        """
        tail = self._tail
        # what an endpoint has not counted yet counts roughly, and may be another number tomorrow
        if tail is None or not isinstance(weigh, Kept) or isinstance(weigh.counter, FromClient):
            return
        size = self._size + tail.shift
        self._summed = tail.tally.sums(weigh, self.weigh)
        known = self._summed.known(size)
        if known is not None and known[0] <= size:
            self._sums, self._shift = known[1], tail.shift - known[0]
            self._low = max(tail.low, -self._shift)
            self.known = True

    def __call__(self, place: int) -> int:
        """
        What the item at *place* weighs.
        """
        if place in self._weightless:
            return 0

        return self.weigh(self._items[place].message)

    def reached(self, room: int) -> int:
        """
        Where the longest run of the newest items starts that weigh *room*, as far as is known.
        """
        sums = self._sums
        if sums is None:
            return self._size - room
        shift = self._shift
        stop = self._size + shift

        return bisect_left(sums, sums[stop] - room, self._low + shift, stop) - shift

    def last(self, start: int) -> int:
        """
        What the items from *start* on weigh together, where `reached` came so far.
        """
        sums, size = self._sums, self._size
        if sums is None:
            return size - start

        return sums[size + self._shift] - sums[start + self._shift]

    def all_from(self, start: int, limit: int) -> int:
        """
        What the items from *start* on that count weigh together, or more than *limit*.
        """
        if self._sums is None or start >= self._low:
            return self.last(start) - sum(
                [self.weigh(self._items[p].message) for p in self._weightless if p >= start]
            )
        total = 0
        for place in range(self._size - 1, start - 1, -1):
            total += self(place)
            if total > limit:
                return total
        self.went(start)

        return total

    def went(self, start: int) -> None:
        """
        Keep what was weighed from *start* on, if it is more than was known.
        """
        tail = self._tail
        if self._summed is not None and tail is not None and tail.low <= start < self._low:
            self._summed.begin(start + tail.shift, self._size + tail.shift)

    def block(self, start: int, stop: int, but: Container[int]) -> int:
        """
        What the items from *start* to *stop* weigh together, *but* for these places.
        """
        if stop > start + 1:
            return sum([self(place) for place in range(start, stop) if place not in but])
        if start in but:
            return 0

        return self(start)


def _one(_message: Message) -> int:
    return 1


def suffix(  # noqa: PLR0913  the one place that scans
    view: View, limit: int, base: int, scales: Scales, must: Must, rules: CutRules
) -> Suffix | None:
    """
    The longest suffix that fits; None if all does.

    Blocks are taken from the end while they fit; then, as the opener of the
    first one has to fit too, they are given back until it does.
    """
    if rules.by == "rounds" and view.find(view.log.links.asked) >= 0:
        return _suffix_of_rounds(view, limit, base, scales, must, rules)
    stay, weigh, items = must.places, scales.weigh, view.items
    stop, total, lowest = view.size, base, -1
    if scales.known and limit > base:
        stop, total, lowest = _skipped(view, limit - base, base, scales, stay)
    start = stop
    for start in view.starts(before=stop):
        if start not in stay:
            if stop == start + 1:  # as `block`, without the calls: this is each turn's way
                new = weigh(items[start].message)
            else:
                new = scales.block(start, stop, stay)
            if new and total + new > limit:
                break
            total += new
            lowest = start
        stop = start
    else:
        scales.went(start)
        return None
    scales.went(start)
    failed, room, opener = range(start, stop), limit - total, None
    if rules.opening == "question" and lowest >= 0:
        found, opener = _given_back(view, lowest, room, scales, must)
        stop, room, failed = found or (stop, room, failed)
    if rules.straddle == "keep" and len(failed) > 1 and 0 < scales(failed[-1]) <= room:
        return Suffix(failed.start, tuple(failed))

    return Suffix(stop, opener=opener)


def _skipped(
    view: View, room: int, base: int, scales: Scales, stay: Collection[int]
) -> tuple[int, int, int]:
    """
    Where `suffix` is once it has taken the blocks that are known to fit in *room*: no scan.
    """
    place, free, weighed = scales.reached(room), 0, view.size
    for other in sorted(stay, reverse=True):  # these are in *base* already
        if other < place - 1:
            break
        weighed = other
        free += scales.weigh(view.items[other].message)
        place = scales.reached(room + free)
    start = view.start_from(place)
    if start < 0:
        return view.size, base, -1
    if weighed < start:  # it is next to what was taken, and not in it
        free = sum([scales.weigh(view.items[other].message) for other in stay if other >= start])
    taken = base + scales.last(start) - free
    first = start
    while first in stay:
        first += 1

    return start, taken, first if first < view.size else -1


def _given_back(
    view: View, start: int, room: int, scales: Scales, must: Must
) -> tuple[tuple[int, int, range] | None, int]:
    """
    The suffix from *start* less its first blocks, until its opener fits in the *room* left.

    Where it starts then, the room, the last block that went; None if none had
    to. And the place of the opener, -1 if it brings none that is not there.
    """
    found: tuple[int, int, range] | None = None
    while start < view.size:
        if start in must.places:
            start = view.block_at(start).stop
            continue
        opener = opener_of(view, start)
        if opener < 0 or opener in must.places:
            return found, -1
        if scales(opener) <= room:
            return found, opener if brings(view, start) else -1
        block = view.block_at(start)
        start = block.stop
        room += scales.block(block.start, start, must.places)
        found = start, room, block

    return found, -1


def _suffix_of_rounds(  # noqa: PLR0913  as the one above
    view: View, limit: int, total: int, scales: Scales, must: Must, rules: CutRules
) -> Suffix | None:
    """
    As `suffix`, by whole rounds; a newest round that does not fit is cut by blocks, or kept whole.
    """
    whole = stop = view.size
    waiting = 0
    for start in view.starts():
        waiting += scales.block(start, stop, must.places)
        if total + waiting > limit:
            if whole < view.size:
                return Suffix(whole)
            if rules.newest == "whole":
                return _newest_round(view, start)
            return suffix(view, limit, total, scales, must, evolve(rules, by="blocks"))
        if view.at(start).opens:
            total, waiting, whole = total + waiting, 0, start
        stop = start

    return None


def _newest_round(view: View, place: int) -> Suffix:
    """
    The newest round, which does not fit, from where it starts: at *place* or before.
    """
    for start in view.starts(before=place + 1):
        place = start
        if view.at(start).opens:
            break

    return Suffix(place, tuple(range(place, view.size)))
