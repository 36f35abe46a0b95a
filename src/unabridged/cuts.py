"""
Cuts: which suffix of blocks stays, and what must stay beside it.

Every strategy that cuts (by messages, rounds or tokens) asks `cut`; every
other one that drops asks `closed`. So pins, pending calls, the newest user
message and the user message that opened a round are treated alike everywhere.
"""

from collections.abc import Iterable

from attrs import evolve, field, frozen

from unabridged.cutting.summaries_stay import Untold, with_all_summaries, with_summaries
from unabridged.items import Item, Unloaded
from unabridged.links import is_bare_result
from unabridged.must import CutRules, Must, Opening, block_of_opener, bring, brings, must_stay
from unabridged.overrun import Overrun
from unabridged.spans import NOTHING, Span
from unabridged.states import PINNED_ROLES
from unabridged.suffixes import Scales, Weigh, suffix
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

_RESPONDS = frozenset({"assistant", "tool"})


@frozen
class Cut:
    """
    A cut of a view: the entries that leave, the first one kept of the suffix, what is over.

    *moved* says that the cut is new and not the one of the note, *untold* which
    summaries had to leave.
    """

    dropped: Span
    first: int = 0
    moved: bool = field(default=False)
    over: Overrun | None = None
    untold: Untold | None = None


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
            opened = brings(view, block.start)  # instructions open nothing
        kept.update(block)

    return kept


def cut(  # noqa: PLR0913  the one cut that weighs
    view: View,
    limit: int,
    weigh: Weigh | None,
    unit: str,
    rules: CutRules,
    *,
    room: int | None = None,
) -> Cut:
    """
    The cut of *view* that keeps at most *limit*, each message weighing what *weigh* says (or 1).

    Summaries stay where they and what must stay fit *room*, by default the limit.
    """
    must = must_stay(view, rules)
    scales = Scales(view, weigh, frozenset() if rules.count_pins else must.pinned)
    if not view.summaries or rules.folded:
        return _cut(view, limit, scales, must, unit, rules)
    room = limit if room is None else room
    must, untold = with_summaries(view, must, room, scales, unit)
    done = _cut(view, limit, scales, must, unit, rules)
    if untold is None or untold.entries.isdisjoint(done.dropped):
        return done

    return evolve(done, untold=evolve(untold, entries=untold.entries & done.dropped))


def _cut(  # noqa: PLR0913  the cut above, once it is known what must stay
    view: View, limit: int, scales: Scales, must: Must, unit: str, rules: CutRules
) -> Cut:
    base = sum(map(scales, must.places))
    if rules.start and (standing := _standing(view, limit, scales, must, rules)):
        return standing
    high = suffix(view, limit, base, scales, must, rules)
    if high is None:
        return Cut(NOTHING, over=_overrun(view, limit, base, scales, must, unit, ()))
    low = high
    if rules.down_to is not None and rules.down_to < limit:
        low = suffix(view, rules.down_to, base, scales, must, rules) or high
    start, widened, opener = low
    if rules.opening == "next" or rules.aligned:
        start = _next_head(view, start)
    if opener is None:
        below = _below(view, start, must, rules)
    else:
        below = _early(must, start)
        if 0 <= opener < start:
            below.update(block_of_opener(view, opener))
    if widened:
        base = sum(map(scales, (*below, *range(start, view.size))))
    whole = rules.by == "rounds" and rules.newest == "whole"
    why = "of the newest round" if whole else "the cut falls into its block"
    over = _overrun(view, limit, base, scales, must, unit, widened, why)
    first = _first_from(view, start)

    return Cut(_left(view, start, below, first), first, moved=True, over=over)


def cut_rounds(view: View, last: int, rules: CutRules) -> Cut:
    """
    The cut of *view* that keeps the last rounds, *last* of them.

    A round of pins or summaries alone counts as none; a preamble counts as one.
    Without a user's message in the view, blocks are counted.
    """
    must = must_stay(view, rules)
    free = frozenset() if rules.count_pins else must.pinned
    if view.summaries and not rules.folded:
        must, told = with_all_summaries(view, must)
        free |= told
    if rules.start and (place := view.find(rules.start)) >= 0:
        start = view.block_at(place).start
        if _rounds_from(view, start, last, free) is None:
            return Cut(_left(view, start, _early(must, start)), rules.start)
    high = _rounds_from(view, 0, last, free)
    if high is None:
        return Cut(NOTHING)
    low = last if rules.down_to is None else rules.down_to
    start = high if low >= last else _rounds_from(view, 0, low, free) or high
    if rules.aligned:
        start = _next_head(view, start)
    below = _early(must, start)
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


def _rounds_from(view: View, floor: int, last: int, free: frozenset[int]) -> int | None:
    """
    Where the last *last* rounds start; None if there are no more of them from *floor* on.

    Rounds of places that are *free* count as none.
    """
    by_blocks = view.find(view.log.links.asked) < 0
    stop, count, counts = view.size, 0, False
    for start in view.starts():
        if start < floor:
            return None
        counted = not free.issuperset(range(start, stop))
        if count == last and counted:
            return stop
        counts = counts or counted
        if by_blocks or view.at(start).opens:
            count, counts = count + counts, False
        stop = start

    return None


def _early(must: Must, start: int) -> set[int]:
    return {place for place in must.places if place < start}


def _standing(view: View, limit: int, scales: Scales, must: Must, rules: CutRules) -> Cut | None:
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
    limit -= rules.beside
    if sum(map(scales, below)) + scales.all_from(start, limit) > limit:
        return None

    return Cut(_left(view, start, below), rules.start)


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
    if rules.opening != "question":
        return below
    for place in range(start, view.size):
        if place not in must.places:
            brought: dict[int, str] = {}
            bring(view, place, brought)  # it starts a block: what must stay is whole blocks
            below.update([place for place in brought if place < start])
            break

    return below


def _left(view: View, start: int, below: set[int], first: int | None = None) -> Span:
    """
    The entries that leave when the suffix from *start* and the places *below* it stay.
    """
    if view.wide or view.anchored:
        kept = [*(view.at(place).sources for place in below)]
        kept += [item.sources for item in view.between(start, view.size)]
        return view.sources - Span.union(kept)
    if first is None:
        first = _first_from(view, start)
    gone = view.sources.before(first) if first else view.sources
    if not below:
        return gone
    ranges = list(gone.ranges)
    for place in sorted(below):  # nearly always what stays is the oldest of what is there
        stays = view.at(place).sources.ranges
        if not ranges or len(stays) != 1 or stays[0][0] != ranges[0][0]:
            break
        low, high = stays[0][1] + 1, ranges[0][1]
        ranges[:1] = [(low, high)] if low <= high else []
    else:
        if len(ranges) == 1:
            return Span.between(*ranges[0])

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
    scales: Scales,
    must: Must,
    unit: str,
    widened: tuple[int, ...],
    why: str = "",
) -> Overrun | None:
    if needed <= limit:
        return None
    reasons = {**dict.fromkeys(widened, why), **must.places}
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
