"""
The view: what a strategy gets and what the model sees.

An ordered, immutable sequence of items. A view of a long thread holds its
pins, its stand-ins and a loaded tail; reading further raises a private signal,
on which whoever drives the strategy loads more and calls it again.
"""

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Self, overload

from unabridged.items import Block, Item, Round, Unloaded, block_starts
from unabridged.messages import Message
from unabridged.records import Note
from unabridged.spans import NOTHING, Span
from unabridged.states import ThreadState
from unabridged.units import Blocks, Rounds, from_the_end

__all__ = ["View"]

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
            return from_the_end(self, place)  # type: ignore[no-any-return]

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
        return Blocks(self)

    @property
    def rounds(self) -> Sequence[Round]:
        """
        The rounds: a user's message and all up to the next one.
        """
        return Rounds(self)

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
    def items(self) -> Sequence[Item]:
        """
        What holds the loaded items, from place 0 on, and perhaps newer ones after them.
        """
        return self._items

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
            if place <= edge and self.hidden and (place < edge or not self._whole_at_the_edge()):
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
            if start < self._edge or (start == self._edge and not self._whole_at_the_edge()):
                raise Unloaded
            return range(start, stop)
        block = range(start, min(stop, self._edge))
        if not self._is_whole(self._items[place], block):
            raise Unloaded(everything=True)

        return block

    def starts_of(self, runs: Sequence[tuple[int, int]]) -> list[int] | None:
        """
        The block starts of a view of these runs of places alone; None if a run parts a block.
        """
        known, count = self._known_starts(), self._blocks
        found: list[int] = []
        shift = 0
        for start, stop in runs:
            low, high = bisect_left(known, start, 0, count), bisect_left(known, stop, 0, count)
            parted = low == count or known[low] != start
            if parted or (stop < self._size and (high == count or known[high] != stop)):
                return None
            shift = shift + start  # what was left out before this run
            found += [place - shift for place in known[low:high]]
            shift -= stop

        return found

    def _known_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = block_starts(self.loaded)
            self._blocks = len(self._starts)
        return self._starts

    def _whole_at_the_edge(self) -> bool:
        """
        Whether nothing ties what is loaded from the edge on to what is not.
        """
        edge = self._edge
        known, count = self._known_starts(), self._blocks
        number = bisect_right(known, edge, 0, count)
        stop = known[number] if number < count else self._size

        return not any(item.head in self.hidden for item in self._items[edge:stop])

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
        if len(block) == 1:
            return known and item.head not in self.hidden
        items = self._items[block.start : block.stop]
        entries = Span.union(mate.sources for mate in items)

        return (
            known
            and len(entries.ranges) == 1
            and not any(mate.head in self.hidden for mate in items)
        )

    def find(self, seq: int) -> int:
        """
        The place, among the loaded items, of the item that stands for entry *seq*; -1 if none does.
        """
        anchored = self.anchored
        place = -1 if anchored else self.after(seq) - 1
        if place >= 0 and self._items[place].first == seq:
            return place
        if seq not in self.sources:
            return -1
        if seq in self.hidden:
            raise Unloaded(Span.one(seq))
        if anchored:
            return next(i for i in range(self._size) if seq in self._items[i].sources)
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

    def replaced(  # noqa: PLR0913  what makers know spares looking it up
        self,
        items: Sequence[Item],
        *,
        hidden: Span = NOTHING,
        sources: Span | None = None,
        wide: tuple[Item, ...] | None = None,
        anchored: bool | None = None,
        starts: list[int] | None = None,
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
            starts=starts,
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
