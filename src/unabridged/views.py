"""
Views and changes: `apply(view, changes)` is the only way from one view to another.
"""

import itertools
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from attrs import evolve

from unabridged.items import Block, Item, Round, Unloaded
from unabridged.records import Change, Drop, Fold, Insert
from unabridged.spans import NOTHING, Span
from unabridged.view import View

__all__ = ["Block", "Item", "Round", "View", "apply", "stand_in"]

_first = attrgetter("first")


def apply(view: View, changes: Iterable[Change]) -> View:
    """
    The view after *changes*, in order: the last change that names an entry owns it.

    An item keeps what no change names. A fold stands where its oldest source
    stood; what was put in stands after the block of its anchor.

    >>> from unabridged.testing import user, view_of
    >>> view = view_of([user("a"), user("b")])
    >>> [item.message.text for item in apply(view, [Drop(Span.one(1))])]
    ['b']
    """
    changes = tuple(changes)
    if len(changes) == 1 and isinstance(changes[0], Drop):  # all that a cut wants
        return _without(view, changes[0].sources)
    for kind, group in itertools.groupby(changes, type):
        run: list[Any] = list(group)
        if kind is Fold:
            for folds in _apart(view, run):
                view = _folded(view, folds)
        elif kind is Insert:
            view = _inserted(view, [Item(put.into, NOTHING, put.after) for put in run])
        elif kind is Drop:
            for change in run:
                view = _without(view, change.sources)
        else:
            for change in run:
                view = _held(view, change.sources)

    return view


def _apart(view: View, folds: Sequence[Fold]) -> Iterator[list[Fold]]:
    """
    The folds in runs that can be made at once: each takes only what comes after the one before.

    Where no two meet, and none a stand-in that is there, their order is of no account.
    """
    ordered = [] if view.wide else sorted(folds, key=lambda fold: fold.sources.first)
    if ordered and all(
        one.sources.last < next_.sources.first for one, next_ in itertools.pairwise(ordered)
    ):
        yield ordered
        return
    run: list[Fold] = []
    for fold in folds:
        if run and fold.sources.first <= run[-1].sources.last:
            yield run
            run = []
        run.append(fold)
    yield run


def _without(view: View, dropped: Span) -> View:
    """
    The commonest change, so it touches only what stays.
    """
    hidden, sources = view.hidden - dropped, view.sources - dropped
    if view.anchored:
        rest = [_rest(item, dropped) for item in view.loaded]
        items = _with_anchors([item for item in rest if item is not None])
        return view.replaced(_ordered(items), hidden=hidden, sources=sources)
    runs = _runs_outside(view, dropped)
    items = []
    for start, stop in runs:
        items += view.items[start:stop]
    met = [item for item in view.wide if not item.sources.isdisjoint(dropped)]
    if not met:
        sums = view.tail_sums
        if sums is not None:
            last = runs[-1] if runs and runs[-1][1] == view.size else None
            sums = sums.after(last, view.size - len(items)) if last else None
        return view.replaced(
            items,
            hidden=hidden,
            sources=sources,
            wide=view.wide,
            summaries=tuple([item for item in view.summaries if item.first not in dropped]),
            anchored=False,
            starts=view.starts_of(runs),
            tail_sums=sums,
        )
    left = [left for item in met if (left := _rest(item, dropped))]
    items = sorted([*(item for item in items if item not in met), *left], key=_first)

    return view.replaced(items, hidden=hidden, sources=sources, anchored=False)


def _runs_outside(view: View, dropped: Span) -> list[tuple[int, int]]:
    """
    The runs of places whose items' first entries are not among the dropped.
    """
    if len(dropped.ranges) > view.size:
        return _runs_kept(view, dropped)
    runs: list[tuple[int, int]] = []
    place = 0
    for first, last in dropped.ranges:
        low = view.after(first - 1)
        if low > place:
            runs.append((place, low))
        place = view.after(last)
    if place < view.size:
        runs.append((place, view.size))

    return runs


def _runs_kept(view: View, dropped: Span) -> list[tuple[int, int]]:
    """
    The same, by a look at each loaded item: what is dropped has more pieces than there are items.
    """
    runs: list[tuple[int, int]] = []
    for place in range(view.size):
        if view.at(place).first in dropped:
            continue
        if runs and runs[-1][1] == place:
            runs[-1] = (runs[-1][0], place + 1)
        else:
            runs.append((place, place + 1))

    return runs


def _rest(item: Item, dropped: Span) -> Item | None:
    """
    What is left of an item when *dropped* entries leave it.
    """
    if item.sources.isdisjoint(dropped):
        return item
    left = item.sources - dropped

    return evolve(item, sources=left, head=left.first) if left else None


def _ordered(items: list[Item]) -> list[Item]:
    """
    The items in order again, where what is left of a stand-in starts later than it did.

    What was put in stays behind what it stands behind.
    """
    firsts = [item.first for item in items if item.sources]
    if all(a < b for a, b in itertools.pairwise(firsts)):
        return items
    groups: list[list[Item]] = [[]]
    for item in items:
        if item.sources:
            groups.append([])
        groups[-1].append(item)
    head, *rest = groups

    return [*head, *itertools.chain(*sorted(rest, key=lambda group: group[0].first))]


def _folded(view: View, folds: Sequence[Fold]) -> View:
    """
    The view after folds that take nothing of each other.
    """
    if len(folds) > 1 and _parts_a_stand_in(view, folds):
        for fold in folds:  # what is left of it may be a message of its own
            view = _folded(view, [fold])
        return view
    items = list(view.loaded)
    find = _finder(view)
    many: list[Fold] = []
    for fold in folds:
        place = find(fold.sources.first) if len(fold.sources) == 1 else -1
        if place >= 0 and not items[place].wide:
            item = items[place]
            summary = item.summary or fold.summarizes
            items[place] = evolve(item, message=fold.into, stands_in=True, summary=summary)
        else:
            many.append(fold)
    if not many:
        return view.replaced(items, hidden=view.hidden, sources=view.sources)
    taken = Span.union(fold.sources for fold in many)
    rest = [_rest(item, taken) for item in items]
    kept = _ordered(_with_anchors([item for item in rest if item is not None]))
    kept = [item for item in kept if item.sources.ranges or (item.after or 0) not in taken]
    made = [stand_in(fold) for fold in many]

    return view.replaced(
        _in_place(kept, made), hidden=view.hidden - taken, sources=view.sources | taken
    )


def stand_in(fold: Fold) -> Item:
    """
    The item that a fold of several entries makes.

    >>> from unabridged import system
    >>> stand_in(Fold(Span.between(1, 4), system("They said hello."))).summary
    True
    """
    sources = fold.sources
    summary = fold.summarizes

    return Item(fold.into, sources, stands_in=True, head=sources.first, summary=summary)


def _parts_a_stand_in(view: View, folds: Sequence[Fold]) -> bool:
    firsts = [fold.sources.first for fold in folds]
    taken = Span.union(fold.sources for fold in folds)
    for item in view.wide:
        if not item.sources.isdisjoint(taken):
            place = bisect_right(firsts, item.first) - 1
            if place < 0 or not item.sources <= folds[place].sources:
                return True

    return False


def _in_place(items: Iterable[Item], made: Sequence[Item]) -> list[Item]:
    """
    The items with stand-ins, each before the first item that stands for later entries.
    """
    left = sorted(made, key=_first, reverse=True)
    placed: list[Item] = []
    for item in items:
        while left and item.first > left[-1].first:
            placed.append(left.pop())
        placed.append(item)

    return [*placed, *reversed(left)]


def _finder(view: View) -> Callable[[int], int]:
    """
    As `view.find`, which looks at every item of a view into which messages were put.
    """
    if not view.anchored:
        return view.find
    known = {item.first: place for place, item in enumerate(view.loaded) if item.sources}
    return lambda seq: known[seq] if seq in known else view.find(seq)


def _inserted(view: View, put: Sequence[Item]) -> View:
    """
    The view with messages put in, those after one block in their order.
    """
    items, find = view.loaded, _finder(view)
    head = next((i for i, other in enumerate(items) if other.after != 0), len(items))
    after: dict[int, list[Item]] = {}
    for item in put:
        place = head
        if item.after != 0:
            anchor = find(item.after or 0)
            if anchor < 0:
                continue
            place = view.block_at(anchor).stop
        after.setdefault(place, []).append(item)
    if not after:
        return view
    placed: list[Item] = []
    for place in range(len(items) + 1):
        placed += after.get(place, ())
        placed += items[place : place + 1]

    return view.replaced(placed, hidden=view.hidden, sources=view.sources)


def _held(view: View, sources: Span) -> View:
    items = [
        evolve(item, pin="held") if not item.pin and not item.sources.isdisjoint(sources) else item
        for item in view.loaded
    ]
    held = sources & view.sources
    if wanted := held & view.hidden:
        raise Unloaded(wanted)

    return view.replaced(items, hidden=view.hidden, sources=view.sources, pins=view.pins | held)


def _with_anchors(items: list[Item]) -> list[Item]:
    """
    The items, less those that were put in after an entry that has left.
    """
    if all(item.sources.ranges or item.after == 0 for item in items):
        return items
    there = Span.union(item.sources for item in items)

    return [item for item in items if item.sources.ranges or not item.after or item.after in there]
