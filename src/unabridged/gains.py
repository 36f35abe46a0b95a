"""
What a cut gains, and whether that is worth breaking the prefix that stood.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from attrs import evolve

from unabridged.cuts import Cut, CutRules, Overrun, must_stay
from unabridged.items import Item
from unabridged.messages import Message
from unabridged.must import bring
from unabridged.records import Drop, Fold
from unabridged.spans import NOTHING, Span
from unabridged.views import View, apply

__all__ = ["gained", "worth"]

Weigh: TypeAlias = Callable[[Message], int]


def worth(  # noqa: PLR0913  the cut, and all it was made by
    view: View,
    done: Cut,
    at_least: int | None,
    count: Weigh,
    rules: CutRules,
    limit: int,
    unit: str,
    gain: int = 0,
) -> Cut:
    """
    The cut *done*, or, where it gains less than *at_least* tokens, the one that stood before.

    What it gains is weighed against what the cut of the note keeps, or all
    without one; *gain* is what was gained beside it. What is then over the
    limit, `over` says.
    """
    if at_least is None or not (done.moved or gain) or not (done.dropped or gain):
        return done
    before = _standing(view, rules, done)
    leaves = done.dropped - before.dropped
    back = before.dropped - done.dropped
    gain -= sum(count(view.at(place).message) for place in {view.find(seq) for seq in back})
    if gain >= at_least:
        return done
    first, last = leaves.first, leaves.last
    for item in reversed(view) if leaves else ():
        if item.first > last:
            continue
        if 0 < item.first < first:
            break
        left = (item.after or 0) in leaves if not item.sources else item.sources <= leaves
        gain += count(item.message) if left else 0
        if gain >= at_least:
            return done
    needed = _weight(view, before, count, rules, unit)
    what = f"a cut would gain {gain} tokens, at_least is {at_least}"
    over = Overrun(limit, needed, unit, (what,)) if needed > limit else None

    return evolve(before, over=over)


def gained(view: View, folds: Iterable[Fold], count: Weigh) -> int:
    """
    The tokens that rewordings gain; the last one of an entry counts.
    """
    last = {fold.sources.first: count(fold.into) for fold in folds}

    return sum(count(view.at(view.find(seq)).message) - size for seq, size in last.items())


def _standing(view: View, rules: CutRules, done: Cut) -> Cut:
    """
    The cut that was noted before, whatever it keeps; without one nothing leaves.

    It keeps the summaries that the cut *done* keeps.
    """
    place = view.find(rules.start) if rules.start else -1
    if place < 0:
        return Cut(NOTHING)
    start = view.block_at(place).start
    must = {**must_stay(view, rules).places}
    for item in view.summaries:
        if not item.sources <= done.dropped:
            must[view.find(item.first)] = "a summary"
    kept = {place for place in must if place < start}
    if rules.opening == "question":
        opens = next((place for place in range(start, view.size) if place not in must), None)
        brought: dict[int, str] = {}
        if opens is not None:
            bring(view, view.block_at(opens).start, brought)
        kept.update(brought)
    kept.update(range(start, view.size))

    dropped = view.sources - Span.union(view.at(place).sources for place in kept)
    untold = done.untold if done.untold and done.untold.entries <= dropped else None

    return Cut(dropped, rules.start, untold=untold)


def _weight(view: View, done: Cut, count: Weigh, rules: CutRules, unit: str) -> int:
    """
    What a cut keeps, in tokens, in messages or in rounds that count.
    """
    after = apply(view, [Drop(done.dropped)]) if done.dropped else view
    if unit == "tokens":
        return sum(count(item.message) for item in after)
    pins = () if rules.count_pins else must_stay(view, rules).pinned
    pinned = {_called(view.at(place)) for place in pins}
    if unit == "rounds":
        pinned |= {_called(item) for item in view.summaries}
    free = [_called(item) not in pinned for item in after]
    if unit == "messages":
        return sum(free)
    by_blocks = view.find(view.log.links.asked) < 0
    rounds, counts, stop = 0, False, len(free)
    for start in after.starts():
        counts = counts or any(free[start:stop])
        stop = start
        if by_blocks or after.at(start).opens:
            rounds, counts = rounds + counts, False

    return rounds + counts


def _called(item: Item) -> tuple[int, int | None]:
    return item.first, item.after
