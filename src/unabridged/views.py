"""
Views and changes: `apply(view, changes)` is the only way from one view to another.
"""

from collections.abc import Iterable
from operator import attrgetter
from typing import assert_never

from attrs import evolve

from unabridged.items import Block, Item, Round, Unloaded
from unabridged.records import Change, Drop, Fold, Hold, Insert
from unabridged.spans import NOTHING, Span
from unabridged.view import View

__all__ = ["Block", "Item", "Round", "View", "apply"]

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
    for change in changes:
        match change:
            case Drop(sources):
                view = _without(view, sources)
            case Fold(sources):
                view = _folded(view, change)
            case Insert(into, after):
                view = _inserted(view, Item(into, NOTHING, after))
            case Hold(sources):
                view = _held(view, sources)
            case _:
                assert_never(change)

    return view


def _without(view: View, dropped: Span) -> View:
    """
    The commonest change, so it touches only what stays.
    """
    hidden, sources = view.hidden - dropped, view.sources - dropped
    if view.anchored:
        rest = [_rest(item, dropped) for item in view.loaded]
        items = _with_anchors([item for item in rest if item is not None])
        return view.replaced(items, hidden=hidden, sources=sources)
    runs = _runs_outside(view, dropped)
    items = [item for start, stop in runs for item in view.items[start:stop]]
    met = [item for item in view.wide if not item.sources.isdisjoint(dropped)]
    if not met:
        starts = view.starts_of(runs)
        return view.replaced(
            items, hidden=hidden, sources=sources, wide=view.wide, anchored=False, starts=starts
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


def _folded(view: View, change: Fold) -> View:
    sources = change.sources
    if len(sources) == 1:
        place = view.find(sources.first)
        if place >= 0 and not view.at(place).wide:
            items = list(view.loaded)
            items[place] = evolve(items[place], message=change.into, stands_in=True)
            return view.replaced(items, hidden=view.hidden, sources=view.sources)
    rest = [_rest(item, sources) for item in view.loaded]
    kept = _with_anchors([item for item in rest if item is not None])
    kept = [item for item in kept if item.sources.ranges or (item.after or 0) not in sources]
    stand_in = Item(change.into, sources, stands_in=True, head=sources.first)
    place = next((i for i, item in enumerate(kept) if item.first > sources.first), len(kept))
    kept.insert(place, stand_in)

    return view.replaced(kept, hidden=view.hidden - sources, sources=view.sources | sources)


def _inserted(view: View, item: Item) -> View:
    items = list(view.loaded)
    if item.after == 0:
        place = next((i for i, other in enumerate(items) if other.after != 0), len(items))
    else:
        anchor = view.find(item.after or 0)
        if anchor < 0:
            return view
        place = view.block_at(anchor).stop
    items.insert(place, item)

    return view.replaced(items, hidden=view.hidden, sources=view.sources)


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
