"""
Views: what a strategy gets and what the model sees.

A view is an ordered, immutable sequence of items. `apply(view, changes)` is the
only way from one view to another. A view of a long thread holds its pins, its
stand-ins and a loaded tail; reading further raises a private signal, on which
whoever drives the strategy loads more and calls it again.
"""

import itertools
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Self, assert_never, overload

from attrs import evolve

from unabridged.items import Block, Item, Round, Unloaded, block_starts
from unabridged.messages import Message
from unabridged.records import Change, Drop, Fold, Hold, Insert, Note
from unabridged.spans import NOTHING, Span
from unabridged.states import ThreadState

__all__ = ["View", "apply"]

EMPTY = ThreadState()
_first = attrgetter("first")


class View(Sequence[Item]):
    """
    An ordered, immutable sequence of items.

    `blocks` and `rounds` are sequences too; reading them from the end touches
    only what is read. *log* is the state of the thread that it shows.

    >>> from unabridged.testing import user, view_of
    >>> view = view_of([user("a"), user("b"), user("c")])
    >>> [item.message.text for item in view.tail(2)]
    ['b', 'c']
    """

    __slots__ = (
        "_anchored",
        "_blocks",
        "_edge",
        "_items",
        "_size",
        "_sources",
        "_starts",
        "_wide",
        "hidden",
        "log",
        "pins",
    )

    def __init__(  # noqa: PLR0913  a value with many fields, made in two places
        self,
        items: Iterable[Item] = (),
        *,
        size: int | None = None,
        hidden: Span = NOTHING,
        sources: Span | None = None,
        wide: tuple[Item, ...] | None = None,
        anchored: bool | None = None,
        starts: list[int] | None = None,
        pins: Span = NOTHING,
        log: ThreadState = EMPTY,
    ) -> None:
        self._items: Sequence[Item] = items if isinstance(items, list | tuple) else tuple(items)
        self._size = len(self._items) if size is None else size
        self._sources = sources
        self._wide = wide
        self._anchored = anchored
        self._starts = starts
        self._blocks = 0 if starts is None else len(starts)
        self.hidden = hidden
        self.pins = pins
        self.log = log
        self._edge = self.after(hidden.last) if hidden else 0

    # -- as a sequence

    def __len__(self) -> int:
        return self._size + len(self.hidden)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, place: int | slice) -> Item | tuple[Item, ...]:
        if self.hidden:
            return _from_the_end(self, place)  # type: ignore[no-any-return]

        return self.loaded[place]

    def __iter__(self) -> Iterator[Item]:
        if self.hidden:
            raise Unloaded(everything=True)

        return itertools.islice(iter(self._items), self._size)

    def __reversed__(self) -> Iterator[Item]:
        for place in range(self._size - 1, self._edge - 1, -1):
            yield self._items[place]
        if self.hidden:
            raise Unloaded

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, View):
            return NotImplemented

        return (self.hidden, self.notes, self.loaded) == (other.hidden, other.notes, other.loaded)

    def __hash__(self) -> int:
        return hash((self.hidden, self.loaded))

    def __repr__(self) -> str:
        more = f", {len(self.hidden)} not loaded" if self.hidden else ""
        return f"View({list(self.loaded)!r}{more})"

    # -- what strategies read

    @property
    def messages(self) -> tuple[Message, ...]:
        """
        The messages, in order.
        """
        return tuple([item.message for item in self])

    @property
    def sources(self) -> Span:
        """
        All entries that the items stand for.
        """
        if self._sources is None:
            self._sources = Span.union(item.sources for item in self.loaded) | self.hidden
        return self._sources

    @property
    def notes(self) -> tuple[Note, ...]:
        """
        The notes kept in the log: answers of models, places of cuts.
        """
        return self.log.notes

    @property
    def head(self) -> int:
        """
        The record up to which the log was read.
        """
        return self.log.rec

    @property
    def blocks(self) -> Sequence[Block]:
        """
        The blocks: items that may not be parted.
        """
        return _Blocks(self)

    @property
    def rounds(self) -> Sequence[Round]:
        """
        The rounds: a user's message and all up to the next one.
        """
        return _Rounds(self)

    def tail(self, count: int) -> tuple[Item, ...]:
        """
        The newest whole blocks of at most *count* items together; at least the newest block.
        """
        start = self._size
        for place in self.starts():
            if self._size - place > count and start < self._size:
                break
            start = place

        return tuple(self._items[start : self._size])

    # -- what the machinery reads

    @property
    def loaded(self) -> tuple[Item, ...]:
        """
        The items that are loaded, in order.
        """
        if isinstance(self._items, list) or len(self._items) != self._size:
            return tuple(self._items[: self._size])

        return self._items  # type: ignore[return-value]  # a list or a tuple

    @property
    def edge(self) -> int:
        """
        The place from which on all items are loaded; below it stand those loaded for a reason.
        """
        return self._edge

    @property
    def size(self) -> int:
        """
        How many items are loaded.
        """
        return self._size

    def at(self, place: int) -> Item:
        """
        The loaded item at *place*.
        """
        return self._items[place]

    def between(self, start: int, stop: int) -> Sequence[Item]:
        """
        The loaded items of these places.
        """
        return self._items[start : min(stop, self._size)]

    def starts(self) -> Iterator[int]:
        """
        Where blocks start, as places among the loaded items, from the end.
        """
        known, edge = self._known_starts(), self._edge
        for number in range(self._blocks - 1, -1, -1):
            place = known[number]
            if place < edge:
                break
            yield place
        if self.hidden:
            raise Unloaded

    def block_at(self, place: int) -> range:
        """
        The places of the block that holds the loaded item at *place*.
        """
        known, count = self._known_starts(), self._blocks
        number = bisect_right(known, place, 0, count) - 1
        start = known[number]
        stop = known[number + 1] if number + 1 < count else self._size
        if not self.hidden:
            return range(start, stop)
        if place >= self._edge:
            if start < self._edge:
                raise Unloaded
            return range(start, stop)
        block = range(start, min(stop, self._edge))
        if not self._is_whole(self._items[place], block):
            raise Unloaded(everything=True)

        return block

    def _known_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = block_starts(self.loaded)
            self._blocks = len(self._starts)
        return self._starts

    def _is_whole(self, item: Item, block: range) -> bool:
        """
        Whether the block of an item below the edge is known to be loaded as a whole.
        """
        if item.wide:
            return len(block) == 1
        seq, links = item.first, self.log.links
        known = (
            seq in self.log.guarded
            or links.asked_block[0] <= seq <= links.asked_block[1]
            or links.spoke_block[0] <= seq <= links.spoke_block[1]
        )
        entries = Span.union(self._items[place].sources for place in block)

        return known and len(entries.ranges) == 1

    def find(self, seq: int) -> int:
        """
        The place, among the loaded items, of the item that stands for entry *seq*; -1 if none does.
        """
        if seq not in self.sources:
            return -1
        if seq in self.hidden:
            raise Unloaded(Span.one(seq))
        if self.anchored:
            return next(i for i in range(self._size) if seq in self._items[i].sources)
        place = self.after(seq) - 1
        if seq in self._items[place].sources:
            return place
        holder = next(item for item in self.wide if seq in item.sources)

        return self.after(holder.first) - 1

    @property
    def wide(self) -> tuple[Item, ...]:
        """
        The items that stand for several entries.
        """
        if self._wide is None:
            self._wide = tuple(item for item in self.loaded if item.wide)
        return self._wide

    @property
    def anchored(self) -> bool:
        """
        Whether an item was put in after an entry.
        """
        if self._anchored is None:
            self._anchored = any(item.after and not item.sources for item in self.loaded)
        return self._anchored

    def replaced(
        self,
        items: Sequence[Item],
        *,
        hidden: Span = NOTHING,
        sources: Span | None = None,
        wide: tuple[Item, ...] | None = None,
        anchored: bool | None = None,
        pins: Span | None = None,
    ) -> Self:
        """
        A view of the same log with other items.
        """
        return type(self)(
            items,
            hidden=hidden,
            sources=sources,
            wide=wide,
            anchored=anchored,
            pins=self.pins if pins is None else pins,
            log=self.log,
        )

    def after(self, seq: int) -> int:
        """
        The place after the last item whose first entry is *seq* or below.
        """
        items, size = self._items, self._size
        if size:
            guess = size - items[size - 1].first + seq  # right where no entry is missing
            if 0 < guess <= size and items[guess - 1].first == seq:
                return guess

        return bisect_right(items, seq, 0, size, key=_first)


class _Blocks(Sequence[Block]):
    def __init__(self, view: View) -> None:
        self._view = view

    def __reversed__(self) -> Iterator[Block]:
        stop = self._view.size
        for start in self._view.starts():
            yield Block(self._view.between(start, stop))
            stop = start

    def __iter__(self) -> Iterator[Block]:
        return iter(list(reversed(self))[::-1])

    def __len__(self) -> int:
        return sum(1 for _ in self._view.starts())

    def __getitem__(self, place: int | slice) -> Any:
        return _from_the_end(self, place)

    def __repr__(self) -> str:
        return repr(list(self))


class _Rounds(Sequence[Round]):
    def __init__(self, view: View) -> None:
        self._view = view

    def __reversed__(self) -> Iterator[Round]:
        blocks: list[Block] = []
        for block in reversed(self._view.blocks):
            blocks.append(block)
            if block[0].opens:
                yield Round(reversed(blocks))
                blocks = []
        if blocks:
            yield Round(reversed(blocks))

    def __iter__(self) -> Iterator[Round]:
        return iter(list(reversed(self))[::-1])

    def __len__(self) -> int:
        return sum(1 for _ in reversed(self))

    def __getitem__(self, place: int | slice) -> Any:
        return _from_the_end(self, place)

    def __repr__(self) -> str:
        return repr(list(self))


def _from_the_end(units: Sequence[Any], place: int | slice) -> Any:
    """
    Index or slice *units*, reading no more of them, from the end, than that takes.
    """
    if isinstance(place, int) and place < 0:
        newest = tuple(itertools.islice(reversed(units), -place))
        if len(newest) < -place:
            msg = f"index {place} out of range: there are {len(newest)}"
            raise IndexError(msg)
        return newest[-1]
    if isinstance(place, slice) and place.step in {None, 1} and (place.start or 0) < 0:
        if place.stop is None or place.stop < 0:
            newest = tuple(itertools.islice(reversed(units), -place.start))[::-1]
            return newest[: place.stop]

    return tuple(units)[place]


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
    items = _outside(view, dropped)
    met = [item for item in view.wide if not item.sources.isdisjoint(dropped)]
    if not met:
        return view.replaced(items, hidden=hidden, sources=sources, wide=view.wide, anchored=False)
    left = [left for item in met if (left := _rest(item, dropped))]
    items = sorted([*(item for item in items if item not in met), *left], key=_first)

    return view.replaced(items, hidden=hidden, sources=sources, anchored=False)


def _outside(view: View, dropped: Span) -> list[Item]:
    """
    The items whose first entry is not among the dropped.
    """
    items: list[Item] = []
    loaded, place = view._items, 0  # noqa: SLF001  a copy would touch them all
    for first, last in dropped.ranges:
        low = view.after(first - 1)
        items += loaded[place:low]
        place = view.after(last)
    items += loaded[place : view.size]

    return items


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
