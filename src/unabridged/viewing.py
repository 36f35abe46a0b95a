"""
The log's own view, kept between turns: what is loaded of it, and what to load next.

A `Loaded` holds a tail of live items, the pins and other entries that every
cut needs, and the stand-ins in force. It does no I/O: it says which entries it
wants, and is given them.
"""

from bisect import bisect_right
from collections.abc import Iterable
from operator import attrgetter

from attrs import evolve

from unabridged.items import Item, Unloaded, add_start, block_starts
from unabridged.links import has_words
from unabridged.messages import Message
from unabridged.messages import system as system_message
from unabridged.records import Entry
from unabridged.spans import NOTHING, Span
from unabridged.states import ThreadState
from unabridged.sums import Tail, Tally
from unabridged.views import View, stand_in

__all__ = ["Loaded", "headed"]

FIRST = 64
ROOM = 1_024
_first = attrgetter("first")


class Loaded:
    """
    The items of a thread that are loaded, as of *state*.

    >>> from unabridged.states import ThreadState
    >>> len(Loaded(ThreadState()).view())
    0
    """

    def __init__(self, state: ThreadState, depth: int | None = None) -> None:
        self.state = state
        self.depth = FIRST if depth is None else depth
        self._islands: dict[int, Item] = {}
        self._tail: list[Item] = []
        self._items: list[Item] = []
        self._starts: list[int] = []
        self._wide: tuple[Item, ...] = ()
        self._summaries: tuple[Item, ...] = ()
        self._standing = state.standing
        self._sources = state.in_view
        self._hidden = self._standing
        self._compaction = state.compaction
        self._loose = _loose(state)
        self._told = Span.of(
            fold.sources.first for fold in state.folds if len(fold.sources) == 1 and fold.summarizes
        )
        self._arrange()

    @property
    def hidden(self) -> Span:
        """
        The entries of the view that are not loaded.
        """
        return self._hidden

    # -- what to load

    def wanted_first(self) -> Span:
        """
        The entries to load before the first view: a tail, the pins, the newest words and calls.
        """
        links = self.state.links
        tail = self._standing.tail(self.depth)
        also = [self.state.guarded, self.state.hand, self.state.role, self._told]
        also += [
            Span.between(*block) for block in (links.asked_block, links.spoke_block) if block[0]
        ]
        also += [Span.one(seq) for seq in (links.asked, links.opener) if seq]

        return self._fresh(tail | Span.union(also))

    def wanted_next(self, signal: Unloaded) -> Span:
        """
        The entries to load when a view was read past what is loaded.
        """
        if signal.everything:
            return self._hidden
        if signal.wanted:
            return signal.wanted & self._hidden
        wanted = NOTHING
        while self._hidden and not wanted:
            self.depth = 2 * max(self.depth, len(self._tail))
            wanted = self._fresh(self._standing.tail(self.depth))

        return wanted

    def _fresh(self, span: Span) -> Span:
        return (span & self._standing) - Span.union(
            item.sources for item in self._items if len(item.sources) == 1
        )

    # -- what came

    def take(self, entries: Iterable[Entry]) -> None:
        """
        Entries that were loaded.
        """
        reworded = {
            fold.sources.first: fold.into for fold in self.state.folds if len(fold.sources) == 1
        }
        for entry in entries:
            item = self._item(entry)
            if entry.seq in reworded:
                told = entry.seq in self._told
                item = evolve(item, message=reworded[entry.seq], stands_in=True, summary=told)
            self._islands[entry.seq] = item
        self._settle()

    def append(self, entries: Iterable[Entry], state: ThreadState) -> bool:
        """
        Go on to *state*, which only *entries* lead to. False if more than those changed.
        """
        if not _only_appended(self.state, state):
            return False
        self.state = state
        if state.folds:
            new = Span.of(entry.seq for entry in entries)
            self._standing, self._sources = self._standing | new, self._sources | new
        else:
            self._standing = self._sources = state.live
        for entry in entries:
            item = self._item(entry)
            self._tail.append(item)
            self._items.append(item)
            self._starts = add_start(self._starts, self._items, len(self._items) - 1)
        if len(self._tail) > 2 * self.depth + ROOM:
            self._shrink()

        return True

    def _shrink(self) -> None:
        """
        Let go of the older part of a tail that grew by appends, so that memory stays bounded.
        """
        older, self._tail = self._tail[: -self.depth], self._tail[-self.depth :]
        links = self.state.links
        needed = self.state.guarded | Span.of(
            [seq for seq in (links.asked, links.opener) if seq]
            + [block for block in (links.asked_block, links.spoke_block) if block[0]]
        )
        for item in older:
            if item.first in needed or item.stands_in:
                self._islands[item.first] = item
        self._settle()

    def _settle(self) -> None:
        """
        Work out what is hidden; what stands right before the tail is part of it.
        """
        self._hidden = self._standing - Span.of(
            [*self._islands, *(item.first for item in self._tail)]
        )
        edge = self._hidden.last
        moved = [self._islands.pop(seq) for seq in sorted(self._islands) if seq > edge]
        self._tail = sorted([*moved, *self._tail], key=_first)
        self._arrange()

    # -- what it makes

    def view(self) -> View:
        """
        The log's own view, as far as it is loaded.
        """
        state = self.state
        pins = state.hand | state.role if state.hand else state.role
        return View(
            self._items,
            size=len(self._items),
            hidden=self._hidden,
            sources=self._sources,
            wide=self._wide,
            summaries=self._summaries,
            anchored=False,
            starts=self._starts,
            pins=pins | Span.one(self._compaction) if self._compaction else pins,
            log=state,
            tail_sums=self._sums,
            edge=self._edge,
        )

    def _arrange(self) -> None:
        self._wide = tuple(stand_in(fold) for fold in self.state.folds if len(fold.sources) > 1)
        self._items = sorted([*self._islands.values(), *self._wide, *self._tail], key=_first)
        wide = () if self._told else self._wide  # nearly always, and then no look at each
        self._summaries = tuple(item for item in wide or self._items if item.summary)
        self._starts = block_starts(self._items)
        self._sums = Tail(Tally(self._items))
        self._edge = bisect_right(self._items, self._hidden.last, key=_first)

    def _item(self, entry: Entry) -> Item:
        seq, state = entry.seq, self.state
        pin = ""
        if state.hand.last >= seq and seq in state.hand:
            pin = "hand"
        elif state.role.last >= seq and seq in state.role:
            pin = "role"
        elif seq == self._compaction:
            pin = "compaction"
        head, opener = entry.head, entry.opener
        for last, known in state.reopened:
            if last < seq and known > opener and known in self._standing:
                opener = known
        if seq in self._loose:
            head = seq
            opener = seq if has_words(entry.message) else opener

        return Item(entry.message, Span.one(seq), pin=pin, head=head, opener=opener)


def _loose(state: ThreadState) -> frozenset[int]:
    """
    The late entries whose calls have all left: nothing ties them any more.
    """
    standing = state.standing
    return frozenset(late.seq for late in state.late if late.calls.isdisjoint(standing))


def _only_appended(old: ThreadState, new: ThreadState) -> bool:
    """
    Whether nothing but appends lead from one state to the other.
    """
    if (old.decided, old.late, old.lost) != (new.decided, new.late, new.lost):
        return False
    if new.compactions is not old.compactions and new.compaction != old.compaction:
        return False
    if new.hand is old.hand and new.role is old.role:
        return True
    since = Span.between(old.seq + 1, new.seq)

    return (new.hand is old.hand or new.hand - since == old.hand) and (
        new.role is old.role or new.role - since == old.role
    )


def headed(view: View, prompt: str | Message | None) -> View:
    """
    The view with a system prompt that is not in the log at its head.
    """
    if prompt is None:
        return view
    message = prompt if isinstance(prompt, Message) else system_message(prompt)
    item = Item(message, NOTHING, after=0, pin="hand")

    return view.replaced(
        [item, *view.loaded], hidden=view.hidden, sources=view.sources, pins=view.pins
    )
