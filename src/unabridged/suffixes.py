"""
Suffixes: how many of the newest blocks fit a limit, beside what must stay.

The scan of each cut, and so of each turn: it reads what it keeps, and where
messages are counted it need not even do that.
"""

from collections.abc import Callable, Collection, Container
from typing import TypeAlias

from attrs import evolve

from unabridged.messages import Message
from unabridged.must import CutRules, Must, opener_of
from unabridged.views import View

__all__ = ["Scales", "Weigh", "suffix"]

Weigh: TypeAlias = Callable[[Message], int]


class Scales:
    """
    What the loaded item at a place weighs; those that do not count weigh nothing.
    """

    def __init__(self, view: View, weigh: Weigh | None, weightless: frozenset[int]) -> None:
        self._at = view.at
        self.weigh = weigh
        self._weightless = weightless

    def __call__(self, place: int) -> int:
        """
        What the item at *place* weighs.
        """
        if place in self._weightless:
            return 0

        return 1 if self.weigh is None else self.weigh(self._at(place).message)

    def block(self, start: int, stop: int, but: Container[int]) -> int:
        """
        What the items from *start* to *stop* weigh together, *but* for these places.
        """
        if stop > start + 1:
            return sum([self(place) for place in range(start, stop) if place not in but])
        if start in but:
            return 0

        return self(start)


def suffix(  # noqa: PLR0913  the one place that scans
    view: View, limit: int, base: int, scales: Scales, must: Must, rules: CutRules
) -> tuple[int, tuple[int, ...], bool] | None:
    """
    Where the longest suffix that fits starts, and what it was widened by; None if all fits.

    Blocks are taken from the end while they fit; then, as the opener of the
    first one has to fit too, they are given back until it does. The last of the
    three says that the suffix is known to bring no opener along.
    """
    if rules.by == "rounds" and view.find(view.log.links.asked) >= 0:
        return _suffix_of_rounds(view, limit, base, scales, must, rules)
    stay, weight, weigh = must.places, scales.block, scales.weigh
    items = view.items
    stop, total = view.size, base
    lowest = -1, base
    if weigh is None and limit > base:
        stop, total, lowest = _skipped(view, limit - base, base, stay)
    for start in view.starts(before=stop):
        if start not in stay:
            if stop > start + 1:
                new = weight(start, stop, stay)
            else:  # as `weight`, without the calls: this is each turn's way
                new = 1 if weigh is None else weigh(items[start].message)
            if new and total + new > limit:
                break
            total += new
            lowest = start, total
        stop = start
    else:
        return None
    failed, alone = range(start, stop), False
    if rules.opening == "question" and lowest[0] >= 0:
        found, alone = _given_back(view, lowest, limit, scales, must)
        stop, total, failed = found or (stop, total, failed)
    if rules.straddle == "keep" and len(failed) > 1 and 0 < scales(failed[-1]) <= limit - total:
        return failed.start, tuple(failed), False

    return stop, (), alone


def _skipped(
    view: View, room: int, base: int, stay: Collection[int]
) -> tuple[int, int, tuple[int, int]]:
    """
    Where `suffix` is once it has taken the blocks that hold *room* messages at most: no scan.
    """
    place = view.size - room
    for other in sorted(stay, reverse=True):
        if other < place - 1:
            break
        place -= 1
    start = view.start_from(place)
    if start < 0:
        return view.size, base, (-1, base)
    first = start
    while first in stay:
        first += 1
    taken = base + view.size - start - sum(1 for other in stay if other >= start)

    return start, taken, (first, taken) if first < view.size else (-1, base)


def _given_back(
    view: View, lowest: tuple[int, int], limit: int, scales: Scales, must: Must
) -> tuple[tuple[int, int, range] | None, bool]:
    """
    The suffix less its first blocks, until the opener that it brings along fits.

    Where it starts then, its weight, the last block that went; None if none had
    to. And whether it is known to bring none along.
    """
    start, total = lowest
    found: tuple[int, int, range] | None = None
    while start < view.size:
        if start in must.places:
            start = view.block_at(start).stop
            continue
        opener = opener_of(view, start)
        if opener < 0 or opener in must.places:
            return found, True
        if scales(opener) <= limit - total:
            return found, False
        block = view.block_at(start)
        start = block.stop
        total -= scales.block(block.start, start, must.places)
        found = start, total, block

    return found, True


def _suffix_of_rounds(  # noqa: PLR0913  as the one above
    view: View, limit: int, total: int, scales: Scales, must: Must, rules: CutRules
) -> tuple[int, tuple[int, ...], bool] | None:
    """
    As `suffix`, by whole rounds; a newest round that does not fit is cut by blocks.
    """
    whole = stop = view.size
    waiting = 0
    for start in view.starts():
        waiting += scales.block(start, stop, must.places)
        if total + waiting > limit:
            if whole < view.size:
                return whole, (), False
            return suffix(view, limit, total, scales, must, evolve(rules, by="blocks"))
        if view.at(start).opens:
            total, waiting, whole = total + waiting, 0, start
        stop = start

    return None
