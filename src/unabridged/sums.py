"""
Running sums: what the newest items weigh together, found without a look at each.

A view that a memory shows grows at its end, turn by turn. So what its items weigh
together is kept beside them, from the oldest that was ever weighed on; then the
place up to which a budget reaches is looked up, however many messages it holds.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from unabridged.items import Item
from unabridged.messages import Message

__all__ = ["Sums", "Tail", "Tally"]

Count: TypeAlias = Callable[[Message], int]

COUNTERS = 4  # a calibrated counter is a new one after each report


class Sums:
    """
    What the items of a list weigh together by one counter, from a place on; new ones join it.

    >>> from unabridged.testing import user, view_of
    >>> items = view_of([user("a"), user("bcd"), user("ef")]).loaded
    >>> sums = Sums(items, lambda message: len(message.text))
    >>> sums.begin(1, 2)
    >>> sums.known(3)
    (1, [0, 3, 5])
    """

    __slots__ = ("_count", "_items", "_known")

    def __init__(self, items: Sequence[Item], count: Count) -> None:
        self._items = items
        self._count = count
        self._known: tuple[int, list[int]] | None = None

    def known(self, size: int) -> tuple[int, list[int]] | None:
        """
        A place, and what the items from there on weigh together: none, one, two of them, and so on.

        The newest of *size* items are added. None until `begin` said where to begin.
        """
        if self._known is not None:
            first, sums = self._known
            for place in range(first + len(sums) - 1, size):
                at = place - first
                # as a slice: two threads that add at once add the same, and only once
                sums[at + 1 : at + 2] = [sums[at] + self._count(self._items[place].message)]

        return self._known

    def begin(self, place: int, size: int) -> None:
        """
        Know the sums from *place* on, up to *size* items.
        """
        weights = [self._count(item.message) for item in self._items[place:size]]
        self._known = place, list(accumulate(weights, initial=0))


class Tally:
    """
    The sums of a list of items, for each counter.
    """

    __slots__ = ("_by_count", "_items")

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._by_count: dict[Count, Sums] = {}

    def sums(self, count: Count, weigh: Count) -> Sums:
        """
        Those of a counter; *weigh* counts as it does.
        """
        sums = self._by_count.get(count)
        if sums is None:
            if len(self._by_count) >= COUNTERS:
                self._by_count.clear()
            sums = self._by_count.setdefault(count, Sums(self._items, weigh))

        return sums


class Tail(NamedTuple):
    """
    The last places of a view, from *low* on: *shift* below those of the list with the sums.
    """

    tally: Tally
    shift: int = 0
    low: int = 0

    def after(self, run: tuple[int, int], gone: int) -> "Tail":
        """
        The tail of a view in which the last places, of this *run*, stand *gone* places lower.
        """
        return Tail(self.tally, self.shift + gone, max(self.low, run[0]) - gone)
