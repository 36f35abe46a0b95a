"""
Items, blocks and rounds: what a view is made of.
"""

from collections.abc import Sequence

from attrs import field, frozen

from unabridged.messages import Message
from unabridged.spans import NOTHING, Span

__all__ = ["Block", "Item", "Round", "Unloaded", "add_start", "block_starts"]


@frozen
class Item:
    """
    A *message* as it stands in a view, with the entries it stands for, its *sources*.

    *pin* is "" or why it stays: "role", "hand", "held", "spared" (by `Sparing`), or
    "compaction" (the newest one that a provider made of all before it). An item that was put
    in has no sources and stands after the block of entry *after*. *stands_in*
    says that a change made it, in place of what was appended, *summary* that it tells
    of what it stands for, and leaves last, and *score* how well it matched where it
    was recalled. *head* is the first entry of its block, *opener* the entry that
    opened its round; 0 is none.

    >>> from unabridged.testing import user, view_of
    >>> view_of([user("hi")])[0].sources
    Span.of([1])
    """

    message: Message
    sources: Span
    after: int | None = None
    pin: str = ""
    stands_in: bool = False
    score: float | None = None
    head: int = field(default=0, eq=False, repr=False, kw_only=True)
    opener: int = field(default=0, eq=False, repr=False, kw_only=True)
    summary: bool = field(default=False, eq=False, repr=False, kw_only=True)

    @property
    def first(self) -> int:
        """
        The first entry it stands for; 0 for an item that was put in.
        """
        ranges = self.sources.ranges
        return ranges[0][0] if ranges else 0

    @property
    def wide(self) -> bool:
        """
        Whether it stands for several entries.
        """
        ranges = self.sources.ranges
        return len(ranges) > 1 or (len(ranges) == 1 and ranges[0][0] != ranges[0][1])

    @property
    def opens(self) -> bool:
        """
        Whether a round starts here.
        """
        return self.opener > 0 and self.opener == self.first == self.head


class Block(tuple[Item, ...]):
    """
    Items that may not be parted: a call, its results and what came between.

    >>> from unabridged.testing import call, result, user, view_of
    >>> view = view_of([user("hi"), call("c1"), result("c1")])
    >>> [len(block) for block in view.blocks]
    [1, 2]
    """

    __slots__ = ()


class Round(tuple[Block, ...]):
    """
    Whole blocks, opened by a user's message, or what stands before the first of these.

    >>> from unabridged.testing import assistant, user, view_of
    >>> [r.opened for r in view_of([assistant("Hello."), user("hi"), assistant("yes")]).rounds]
    [False, True]
    """

    __slots__ = ()

    @property
    def items(self) -> tuple[Item, ...]:
        """
        The items of its blocks.
        """
        return tuple(item for block in self for item in block)

    @property
    def opened(self) -> bool:
        """
        Whether a user's message opens it.
        """
        return self[0][0].opens


class Unloaded(BaseException):
    """
    The private signal of a view that is read past what is loaded of it.

    *wanted* entries are to be loaded, or *everything*, or else simply more.
    """

    def __init__(self, wanted: Span = NOTHING, *, everything: bool = False) -> None:
        super().__init__(wanted, everything)
        self.wanted = wanted
        self.everything = everything


def block_starts(items: Sequence[Item]) -> list[int]:
    """
    The places at which blocks start, in order.
    """
    starts: list[int] = []
    for place, item in enumerate(items):
        ranges = item.sources.ranges
        if ranges and item.head == ranges[0][0]:  # tied to nothing, as most are
            starts.append(place)
        else:
            starts = add_start(starts, items, place)

    return starts


def add_start(starts: list[int], items: Sequence[Item], place: int) -> list[int]:
    """
    The block starts once the item at *place* has come after all before it.

    An item starts a block unless it is tied to an earlier one, and then all
    between the two is one block. The list given is only ever added to: views
    of before hold it; where starts go away a new list is made.
    """
    item = items[place]
    ranges = item.sources.ranges
    if not ranges:
        if item.after == 0:
            starts.append(place)
        return starts
    head = item.head
    if not 0 < head < ranges[0][0]:
        starts.append(place)
        return starts
    count = len(starts)
    while count and items[starts[count - 1]].first >= head:
        count -= 1
    end = (starts[count] if count < len(starts) else place) - 1
    while end >= 0 and not items[end].sources.ranges:
        end -= 1
    if count and items[end].first >= head:  # the block before reaches beyond what this is tied to
        return starts[:count]
    if count == len(starts):
        starts.append(place)
        return starts

    return starts if count + 1 == len(starts) else starts[: count + 1]
