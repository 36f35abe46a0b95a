"""
The view: what a strategy gets and what the model sees.

An ordered, immutable sequence of items. A view of a long thread holds its
pins, its stand-ins and a loaded tail; reading further raises a private signal,
on which whoever drives the strategy loads more and calls it again. What is read
and what is loaded know of each other, and that makes the length of this module.
"""

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Self, overload

from unabridged.items import Block, Item, Round, Unloaded, block_starts
from unabridged.messages import Message
from unabridged.records import Note
from unabridged.spans import NOTHING, Span
from unabridged.starts import Starts, is_whole, starts_of_runs
from unabridged.states import ThreadState
from unabridged.sums import Tail
from unabridged.units import Blocks, Rounds, from_the_end

__all__ = ["View"]

EMPTY = ThreadState()
_first = attrgetter("first")
_HELD = list, tuple


class View(Sequence[Item]):
    """
    An ordered, immutable sequence of items.

    `blocks` and `rounds` are sequences too; reading them from the end touches
    only what is read. *log* is the state of the thread that it shows, *pins* are
    the entries that stay, *hidden* those that are not loaded. *size* is how many
    items are; *items* holds these from place 0 on, and perhaps newer ones after
    them. *tail_sums*, *worked_out* and *handed_on* are what is known from before.

    >>> from unabridged.testing import user, view_of
    >>> view = view_of([user("a"), user("b"), user("c")])
    >>> [item.message.text for item in view.tail(2)]
    ['b', 'c']
    """

    __slots__ = (
        "_anchored",
        "_blocks",
        "_edge",
        "_sources",
        "_starts",
        "_summaries",
        "_wide",
        "handed_on",
        "hidden",
        "items",
        "log",
        "pins",
        "size",
        "tail_sums",
        "worked_out",
    )

    def __init__(  # noqa: PLR0913  a value with many fields, made in two places
        self,
        items: Iterable[Item] = (),
        *,
        size: int | None = None,
        hidden: Span = NOTHING,
        sources: Span | None = None,
        wide: tuple[Item, ...] | None = None,
        summaries: tuple[Item, ...] | None = None,
        anchored: bool | None = None,
        starts: Starts | None = None,
        pins: Span = NOTHING,
        log: ThreadState = EMPTY,
        tail_sums: Tail | None = None,
        edge: int | None = None,
    ) -> None:
        self.items: Sequence[Item] = items if isinstance(items, _HELD) else tuple(items)
        self.size = len(self.items) if size is None else size
        self._sources = sources
        self._wide = wide
        self._summaries = summaries
        self._anchored = anchored
        self._starts = starts
        self._blocks = len(starts) if isinstance(starts, list) else 0
        self.hidden = hidden
        self.pins = pins
        self.log = log
        self.tail_sums = tail_sums
        self.handed_on: tuple[dict[object, Any], Sequence[Item], int] | None = None
        self.worked_out: dict[object, Any] = {}
        if edge is None:
            edge = self.after(hidden.last) if hidden else 0
        self._edge = edge

    # -- as a sequence

    def __len__(self) -> int:
        return self.size + len(self.hidden)

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

        return itertools.islice(iter(self.items), self.size)

    def __reversed__(self) -> Iterator[Item]:
        for place in range(self.size - 1, self._edge - 1, -1):
            yield self.items[place]
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
        start = self.size
        for place in self.starts():
            if self.size - place > count and start < self.size:
                break
            start = place

        return tuple(self.items[start : self.size])

    # -- what the machinery reads

    @property
    def loaded(self) -> tuple[Item, ...]:
        """
        The items that are loaded, in order.
        """
        if isinstance(self.items, list) or len(self.items) != self.size:
            return tuple(self.items[: self.size])

        return self.items  # type: ignore[return-value]  # a list or a tuple

    def at(self, place: int) -> Item:
        """
        The loaded item at *place*.
        """
        return self.items[place]

    def between(self, start: int, stop: int) -> Sequence[Item]:
        """
        The loaded items of these places.
        """
        return self.items[start : min(stop, self.size)]

    def starts(self, before: int | None = None) -> Iterator[int]:
        """
        Where blocks start, as places among the loaded items, from the end or from *before* on.
        """
        known, count = self._known_starts(), self._blocks
        if before is not None:
            count = bisect_left(known, before, 0, count)
        low = bisect_right(known, self._edge, 0, count) if self.hidden else 0
        loaded = map(known.__getitem__, range(count - 1, low - 1, -1))

        return itertools.chain(loaded, self._starts_at_the_edge(low)) if self.hidden else loaded

    def _starts_at_the_edge(self, low: int) -> Iterator[int]:
        """
        The edge, if a block is known to start there; then comes what is not loaded.
        """
        if low and self._known_starts()[low - 1] == self._edge and self._whole_at_the_edge():
            yield self._edge
        raise Unloaded

    def start_from(self, place: int) -> int:
        """
        Where the first block at *place* or after it starts; -1 if not all from there on is loaded.
        """
        known, count = self._known_starts(), self._blocks
        number = bisect_left(known, place, 0, count)
        start = known[number] if number < count else self.size

        return -1 if self.hidden and start <= self._edge else start

    def block_at(self, place: int) -> range:
        """
        The places of the block that holds the loaded item at *place*.
        """
        known, count = self._known_starts(), self._blocks
        number = bisect_right(known, place, 0, count) - 1
        start = known[number]
        stop = known[number + 1] if number + 1 < count else self.size
        if not self.hidden:
            return range(start, stop)
        if place >= self._edge:
            if start < self._edge or (start == self._edge and not self._whole_at_the_edge()):
                raise Unloaded
            return range(start, stop)
        block = range(start, min(stop, self._edge))
        if not is_whole(self.items, place, block, self.hidden, self.log):
            raise Unloaded(everything=True)

        return block

    def starts_of(self, runs: Sequence[tuple[int, int]]) -> Starts:
        """
        The block starts of a view of these runs of places alone, worked out when they are read.
        """
        return partial(starts_of_runs, self._known_starts(), self._blocks, self.size, runs)

    def _known_starts(self) -> list[int]:
        known = self._starts
        if isinstance(known, list):
            return known
        found = None if known is None else known()
        if found is None:  # a block was parted, so no block is what it was
            self.handed_on = None
            found = block_starts(self.loaded)
        self._starts, self._blocks = found, len(found)

        return found

    def before(self) -> tuple[dict[object, Any], Sequence[Item], int] | None:
        """
        What was worked out of the view that this was cut from, its items and how many there were.

        None if it was not made by taking whole blocks away.
        """
        self._known_starts()

        return self.handed_on

    def _whole_at_the_edge(self) -> bool:
        """
        Whether nothing ties what is loaded from the edge on to what is not.
        """
        edge = self._edge
        known, count = self._known_starts(), self._blocks
        number = bisect_right(known, edge, 0, count)
        stop = known[number] if number < count else self.size

        return not any(item.head in self.hidden for item in self.items[edge:stop])

    def find(self, seq: int) -> int:
        """
        The place, among the loaded items, of the item that stands for entry *seq*; -1 if none does.
        """
        anchored = self.anchored
        place = -1 if anchored else self.after(seq) - 1
        if place >= 0 and self.items[place].first == seq:
            return place
        if seq not in self.sources:
            return -1
        if seq in self.hidden:
            raise Unloaded(Span.one(seq))
        if anchored:
            return next(i for i in range(self.size) if seq in self.items[i].sources)
        if seq in self.items[place].sources:
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
    def summaries(self) -> tuple[Item, ...]:
        """
        The items that are summaries, in order.
        """
        if self._summaries is None:
            self._summaries = tuple([item for item in self.loaded if item.summary])
        return self._summaries

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
        summaries: tuple[Item, ...] | None = None,
        anchored: bool | None = None,
        starts: Starts | None = None,
        pins: Span | None = None,
        tail_sums: Tail | None = None,
    ) -> Self:
        """
        A view of the same log with other items; *starts* are given if nothing but items left.
        """
        view = type(self)(
            items,
            hidden=hidden,
            sources=sources,
            wide=wide,
            summaries=summaries,
            anchored=anchored,
            starts=starts,
            pins=self.pins if pins is None else pins,
            log=self.log,
            tail_sums=tail_sums,
        )
        if starts is not None:
            view.handed_on = self.worked_out, self.items, self.size

        return view

    def after(self, seq: int) -> int:
        """
        The place after the last item whose first entry is *seq* or below.
        """
        items, size = self.items, self.size
        if size:
            guess = size - items[size - 1].first + seq  # right where no entry is missing
            if guess < 1:
                oldest = items[0].first
                if oldest > seq or oldest == seq > 0:
                    return int(oldest == seq)
            elif guess <= size and (
                (known := items[guess - 1].first) == seq
                or (known < seq and guess < size and items[guess].first > seq)
            ):
                return guess

        return bisect_right(items, seq, 0, size, key=_first)
