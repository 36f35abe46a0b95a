"""
Suffixes: how many of the newest blocks fit a limit, beside what must stay.

The scan of each cut, and so of each turn: it reads what it keeps, and where
messages are counted it need not even do that.
"""

from collections.abc import Callable, Collection, Container
from typing import NamedTuple, TypeAlias

from attrs import evolve

from unabridged.messages import Message
from unabridged.must import CutRules, Must, brings, opener_of
from unabridged.tokens import Kept
from unabridged.views import View

__all__ = ["Scales", "Suffix", "Weigh", "suffix"]

Weigh: TypeAlias = Callable[[Message], int]


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

    def __init__(self, view: View, weigh: Weigh | None, weightless: frozenset[int]) -> None:
        self.alike = weigh is None  # each weighs one
        self.weigh = _one if weigh is None else weigh.count_of if isinstance(weigh, Kept) else weigh
        self._items = view.items
        self._weightless = weightless

    def __call__(self, place: int) -> int:
        """
        What the item at *place* weighs.
        """
        if place in self._weightless:
            return 0

        return self.weigh(self._items[place].message)

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
    if scales.alike and limit > base:
        stop, total, lowest = _skipped(view, limit - base, base, stay)
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
        return None
    failed, opener = range(start, stop), None
    if rules.opening == "question" and lowest >= 0:
        found, opener = _given_back(view, lowest, total, limit, scales, must)
        stop, total, failed = found or (stop, total, failed)
    if rules.straddle == "keep" and len(failed) > 1 and 0 < scales(failed[-1]) <= limit - total:
        return Suffix(failed.start, tuple(failed))

    return Suffix(stop, opener=opener)


def _skipped(
    view: View, room: int, base: int, stay: Collection[int]
) -> tuple[int, int, int]:
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
        return view.size, base, -1
    first = start
    while first in stay:
        first += 1
    taken = base + view.size - start - sum([other >= start for other in stay])

    return start, taken, first if first < view.size else -1


def _given_back(
    view: View, start: int, total: int, limit: int, scales: Scales, must: Must
) -> tuple[tuple[int, int, range] | None, int]:
    """
    The suffix from *start* less its first blocks, until the opener that it brings along fits.

    Where it starts then, its weight, the last block that went; None if none had
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
        if scales(opener) <= limit - total:
            return found, opener if brings(view, start) else -1
        block = view.block_at(start)
        start = block.stop
        total -= scales.block(block.start, start, must.places)
        found = start, total, block

    return found, -1


def _suffix_of_rounds(  # noqa: PLR0913  as the one above
    view: View, limit: int, total: int, scales: Scales, must: Must, rules: CutRules
) -> Suffix | None:
    """
    As `suffix`, by whole rounds; a newest round that does not fit is cut by blocks.
    """
    whole = stop = view.size
    waiting = 0
    for start in view.starts():
        waiting += scales.block(start, stop, must.places)
        if total + waiting > limit:
            if whole < view.size:
                return Suffix(whole)
            return suffix(view, limit, total, scales, must, evolve(rules, by="blocks"))
        if view.at(start).opens:
            total, waiting, whole = total + waiting, 0, start
        stop = start

    return None
