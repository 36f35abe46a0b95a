"""
What is known of blocks without a look at all items: after a cut, and where not all is loaded.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TypeAlias

from unabridged.items import Item
from unabridged.spans import Span
from unabridged.states import ThreadState

__all__ = ["Starts", "is_whole", "starts_of_runs"]

Starts: TypeAlias = list[int] | Callable[[], list[int] | None]
"""The places where blocks start, or what works them out: None if a block was parted."""


def starts_of_runs(
    known: list[int], count: int, size: int, runs: Sequence[tuple[int, int]]
) -> list[int] | None:
    """
    The block starts where only these runs of places are left; None if a run parts a block.
    """
    found: list[int] = []
    shift = 0
    for start, stop in runs:
        low, high = bisect_left(known, start, 0, count), bisect_left(known, stop, 0, count)
        parted = low == count or known[low] != start
        if parted or (stop < size and (high == count or known[high] != stop)):
            return None
        shift = shift + start  # what was left out before this run
        found += [place - shift for place in known[low:high]]
        shift -= stop

    return found


def is_whole(
    items: Sequence[Item], place: int, block: range, hidden: Span, log: ThreadState
) -> bool:
    """
    Whether the block of an item below the loaded tail is known to be loaded as a whole.
    """
    item = items[place]
    if item.wide:
        return len(block) == 1
    seq, links = item.first, log.links
    known = (
        seq in log.guarded
        or links.asked_block[0] <= seq <= links.asked_block[1]
        or links.spoke_block[0] <= seq <= links.spoke_block[1]
    )
    if len(block) == 1:
        return known and (item.head == seq or item.head not in hidden)
    mates = items[block.start : block.stop]
    entries = Span.union(mate.sources for mate in mates)

    return known and len(entries.ranges) == 1 and not any(mate.head in hidden for mate in mates)
