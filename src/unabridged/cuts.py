"""
Cuts: which suffix of blocks stays, and what must stay beside it.

Every strategy that cuts (by messages, rounds or tokens) asks `cut`; every
other one that drops asks `closed`. So pins, pending calls, the newest user
message and the user message that opened a round are treated alike everywhere.
"""

from collections.abc import Callable, Container, Iterable
from typing import TypeAlias

from attrs import evolve, field, frozen

from unabridged.items import Item, Unloaded
from unabridged.links import is_bare_result
from unabridged.messages import Message
from unabridged.must import CutRules, Must, Opening, bring, must_stay, opener_of
from unabridged.overrun import Overrun
from unabridged.spans import NOTHING, Span
from unabridged.states import PINNED_ROLES
from unabridged.views import View

__all__ = [
    "Cut",
    "CutRules",
    "Must",
    "Opening",
    "Overrun",
    "closed",
    "cut",
    "cut_rounds",
    "must_stay",
]

Weigh: TypeAlias = Callable[[Message], int]

_RESPONDS = frozenset({"assistant", "tool"})


@frozen
class Cut:
    """
    A cut of a view: the entries that leave, the first one kept of the suffix, what is over.

    *moved* says that the cut is new and not the one of the note.
    """

    dropped: Span
    first: int = 0
    moved: bool = field(default=False)
    over: Overrun | None = None


def closed(view: View, chosen: Iterable[int], rules: CutRules) -> set[int]:
    """
    The *chosen* places with what must stay, in whole blocks, and the opener of the first of them.
    """
    wanted = sorted(set(chosen))
    must = must_stay(view, rules).places
    kept = set(must)
    opened = rules.opening != "question"
    for place in wanted:
        if place in kept and place not in must:
            continue
        block = view.block_at(place)
        if not opened and place not in must:
            brought: dict[int, str] = {}
            bring(view, block.start, brought)
            kept.update(brought)
            opened = True
        kept.update(block)

    return kept


def cut(view: View, limit: int, weigh: Weigh | None, unit: str, rules: CutRules) -> Cut:
    """
    The cut of *view* that keeps at most *limit*, each message weighing what *weigh* says (or 1).
    """
    must = must_stay(view, rules)
    scales = _Scales(view, weigh, frozenset() if rules.count_pins else must.pinned)
    base = sum(map(scales, must.places))
    if rules.start and (standing := _standing(view, limit, scales, must, rules)):
        return standing
    high = _suffix(view, limit, base, scales, must, rules)
    if high is None:
        return Cut(NOTHING, over=_overrun(view, limit, base, scales, must, unit, ()))
    low = high
    if rules.down_to is not None and rules.down_to < limit:
        low = _suffix(view, rules.down_to, base, scales, must, rules) or high
    start, widened = low
    if rules.opening == "next":
        start = _next_head(view, start)
    below = _below(view, start, must, rules)
    if widened:
        base = sum(map(scales, (*below, *range(start, view.size))))
    over = _overrun(view, limit, base, scales, must, unit, widened)

    return Cut(_left(view, start, below), _first_from(view, start), moved=True, over=over)


class _Scales:
    """
    What the loaded item at a place weighs; those that do not count weigh nothing.
    """

    def __init__(self, view: View, weigh: Weigh | None, weightless: frozenset[int]) -> None:
        self._at = view.at
        self.weigh = weigh
        self._weightless = weightless

    def __call__(self, place: int) -> int:
        if place in self._weightless:
            return 0

        return 1 if self.weigh is None else self.weigh(self._at(place).message)

    def block(self, start: int, stop: int, but: Container[int]) -> int:
        """
        What the items from *start* to *stop* weigh together, *but* for these places.
        """
        if stop > start + 1:
            return sum(self(place) for place in range(start, stop) if place not in but)
        if start in but:
            return 0

        return self(start)


def cut_rounds(view: View, last: int, rules: CutRules) -> Cut:
    """
    The cut of *view* that keeps the last rounds, *last* of them.

    A round of pins alone counts as none; a preamble counts as one. Without a
    user's message in the view, blocks are counted.
    """
    must = must_stay(view, rules)
    if rules.start and (place := view.find(rules.start)) >= 0:
        start = view.block_at(place).start
        if _rounds_from(view, start, last, must, rules) is None:
            return Cut(_left(view, start, _early(must, start)), rules.start)
    high = _rounds_from(view, 0, last, must, rules)
    if high is None:
        return Cut(NOTHING)
    low = last if rules.down_to is None else rules.down_to
    start = high if low >= last else _rounds_from(view, 0, low, must, rules) or high
    below = _early(must, start)
    free = () if rules.count_pins else must.pinned
    by_blocks = view.find(view.log.links.asked) < 0
    extra = {
        view.block_at(place).start if by_blocks else view.at(place).opener
        for place in below
        if place not in free
    }
    over = None
    if (needed := min(low, last) + len(extra)) > last:
        what = tuple(f"entry {view.at(p).sources}: {must.places[p]}" for p in sorted(below))
        over = Overrun(last, needed, "rounds", what)

    return Cut(_left(view, start, below), _first_from(view, start), moved=True, over=over)


def _rounds_from(view: View, floor: int, last: int, must: Must, rules: CutRules) -> int | None:
    """
    Where the last *last* rounds start; None if there are no more of them from *floor* on.
    """
    by_blocks = view.find(view.log.links.asked) < 0
    stop, count, counts = view.size, 0, False
    for start in view.starts():
        if start < floor:
            return None
        pinned = not rules.count_pins and must.pinned.issuperset(range(start, stop))
        if count == last and not pinned:
            return stop
        counts = counts or not pinned
        if by_blocks or view.at(start).opens:
            count, counts = count + counts, False
        stop = start

    return None


def _early(must: Must, start: int) -> set[int]:
    return {place for place in must.places if place < start}


def _standing(view: View, limit: int, scales: _Scales, must: Must, rules: CutRules) -> Cut | None:
    """
    The cut that was noted before, as long as what it keeps is within the limit.
    """
    place = view.find(rules.start)
    if place < 0:
        return None
    if view.hidden.last > rules.start:
        raise Unloaded  # all from the cut on is weighed
    start = view.block_at(place).start
    below = _below(view, start, must, rules)
    total = sum(map(scales, below))
    for place in range(view.size - 1, start - 1, -1):
        total += scales(place)
        if total > limit:
            return None

    return Cut(_left(view, start, below), rules.start)


def _suffix(  # noqa: PLR0913  the one place that scans
    view: View, limit: int, base: int, scales: _Scales, must: Must, rules: CutRules
) -> tuple[int, tuple[int, ...]] | None:
    """
    Where the longest suffix that fits starts, and what it was widened by; None if all fits.

    Blocks are taken from the end while they fit; then, as the opener of the
    first one has to fit too, they are given back until it does.
    """
    if rules.by == "rounds" and view.find(view.log.links.asked) >= 0:
        return _suffix_of_rounds(view, limit, base, scales, must, rules)
    stay, weight, weigh = must.places, scales.block, scales.weigh
    items = view.items
    stop, total = view.size, base
    lowest = -1, base
    for start in view.starts():
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
    failed = range(start, stop)
    if rules.opening == "question" and lowest[0] >= 0:
        found = _given_back(view, lowest, limit, scales, must)
        stop, total, failed = found or (stop, total, failed)
    if rules.straddle == "keep" and len(failed) > 1 and 0 < scales(failed[-1]) <= limit - total:
        return failed.start, tuple(failed)

    return stop, ()


def _given_back(
    view: View, lowest: tuple[int, int], limit: int, scales: _Scales, must: Must
) -> tuple[int, int, range] | None:
    """
    The suffix less its first blocks, until the opener that it brings along fits.

    Where it starts then, its weight, the last block that went; None if none had to.
    """
    start, total = lowest
    found: tuple[int, int, range] | None = None
    while start < view.size:
        block = view.block_at(start)
        if start not in must.places:
            if _opener_fits(view, start, limit - total, scales, must):
                break
            total -= scales.block(start, block.stop, must.places)
            found = block.stop, total, block
        start = block.stop

    return found


def _opener_fits(view: View, start: int, room: int, scales: _Scales, must: Must) -> bool:
    """
    Whether the opener that the block at *start* brings along has room, if it brings one.
    """
    opener = opener_of(view, start)

    return opener < 0 or opener in must.places or scales(opener) <= room


def _suffix_of_rounds(  # noqa: PLR0913  as the one above
    view: View, limit: int, total: int, scales: _Scales, must: Must, rules: CutRules
) -> tuple[int, tuple[int, ...]] | None:
    """
    As `_suffix`, by whole rounds; a newest round that does not fit is cut by blocks.
    """
    whole = stop = view.size
    waiting = 0
    for start in view.starts():
        waiting += scales.block(start, stop, must.places)
        if total + waiting > limit:
            if whole < view.size:
                return whole, ()
            return _suffix(view, limit, total, scales, must, evolve(rules, by="blocks"))
        if view.at(start).opens:
            total, waiting, whole = total + waiting, 0, start
        stop = start

    return None


def _next_head(view: View, start: int) -> int:
    """
    The next block that a transcript may open on; *start* if there is none.

    Instructions open nothing: after them comes what a transcript may open on.
    """
    found, opens = start, True
    for place in view.starts():
        if place < start:
            break
        item = view.at(place)
        role = item.message.role
        if item.stands_in or role not in PINNED_ROLES:
            opens = role not in _RESPONDS and not is_bare_result(item.message)
        if opens:
            found = place

    return found


def _below(view: View, start: int, must: Must, rules: CutRules) -> set[int]:
    """
    The places before the suffix from *start* that stay: what must, and the opener it brings.
    """
    below = {place for place in must.places if place < start}
    if rules.opening != "question" or start >= view.size:
        return below
    brought: dict[int, str] = {}
    for place in range(start, view.size):
        if place not in must.places:
            bring(view, view.block_at(place).start, brought)
            break
    below.update(place for place in brought if place < start)

    return below


def _left(view: View, start: int, below: set[int]) -> Span:
    """
    The entries that leave when the suffix from *start* and the places *below* it stay.
    """
    if view.wide or view.anchored:
        kept = [*(view.at(place).sources for place in below)]
        kept += [item.sources for item in view.between(start, view.size)]
        return view.sources - Span.union(kept)
    first = _first_from(view, start)
    gone = view.sources.before(first) if first else view.sources
    if not below:
        return gone

    return gone - Span.union(view.at(place).sources for place in below)


def _first_from(view: View, start: int) -> int:
    """
    The first entry of the suffix from *start*; what was put in stands for none.
    """
    while start < view.size:
        if first := view.at(start).first:
            return first
        start += 1

    return 0


def _overrun(  # noqa: PLR0913  every number that the message names
    view: View,
    limit: int,
    needed: int,
    scales: _Scales,
    must: Must,
    unit: str,
    widened: tuple[int, ...],
) -> Overrun | None:
    if needed <= limit:
        return None
    reasons = {**dict.fromkeys(widened, "the cut falls into its block"), **must.places}
    sizes = sorted(((scales(place), place) for place in reasons), reverse=True)

    return Overrun(
        limit,
        needed,
        unit,
        tuple(
            f"{_called(view.at(place))} ({size}): {reasons[place]}" for size, place in sizes if size
        ),
    )


def _called(item: Item) -> str:
    if not item.sources:
        return "a message put in"

    return f"entr{'ies' if item.wide else 'y'} {item.sources}"
