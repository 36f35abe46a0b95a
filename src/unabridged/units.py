"""
Blocks and rounds as sequences that are read from the end.

Only `len` walks them all; indices and slices from the tail touch what they
give, so that a cut of a long thread costs what it keeps.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from unabridged.items import Block, Item, Round

__all__ = ["Blocks", "Rounds", "Walked", "from_the_end"]


class Walked(Protocol):
    """
    A view, as far as blocks and rounds are concerned.
    """

    @property
    def size(self) -> int:
        """
        How many items are loaded.
        """
        ...

    @property
    def blocks(self) -> Sequence[Block]:
        """
        The blocks.
        """
        ...

    def starts(self) -> Iterator[int]:
        """
        Where blocks start, from the end.
        """
        ...

    def between(self, start: int, stop: int) -> Sequence[Item]:
        """
        The items of these places.
        """
        ...


class Blocks(Sequence[Block]):
    """
    The blocks of a view, oldest first.
    """

    def __init__(self, view: Walked) -> None:
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
        return from_the_end(self, place)

    def __repr__(self) -> str:
        return repr(list(self))


class Rounds(Sequence[Round]):
    """
    The rounds of a view, oldest first.
    """

    def __init__(self, view: Walked) -> None:
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
        return from_the_end(self, place)

    def __repr__(self) -> str:
        return repr(list(self))


def from_the_end(units: Sequence[Any], place: int | slice) -> Any:
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
        to_the_end = place.stop is None or place.stop < 0
        if to_the_end:
            newest = tuple(itertools.islice(reversed(units), -place.start))[::-1]
            return newest[: place.stop]

    return tuple(units)[place]
