"""
What a view opens on, where a strategy chose the items that leave it.

Under "question" the first block that is left brings the user message that
opened its round; under "next" more leaves, up to the next block that a
transcript may open on.
"""

from collections.abc import Container, Iterable

from unabridged.items import Item, Unloaded
from unabridged.links import is_bare_result
from unabridged.must import Opening, bring, brings
from unabridged.states import PINNED_ROLES
from unabridged.views import View

__all__ = ["opened"]

_RESPONDS = frozenset({"assistant", "tool"})


def opened(view: View, gone: set[int], must: Container[int], opening: Opening) -> set[int]:
    """
    The places that leave where *gone* are to, so that the view opens as it should.

    Where what comes first stays as it was, that is these.
    """
    if not gone or opening == "anywhere":
        return gone
    if view.hidden:
        if view.at(min(gone)).first < view.hidden.last:
            raise Unloaded(everything=True)
        return gone  # what is not loaded stays, and comes first
    left = [place for place in range(view.size) if place not in gone and place not in must]
    if not left or left[0] < min(gone):
        return gone
    if opening == "next":
        return gone | _lead(view, left[0], gone, must)

    return gone - _question(view, left)


def _question(view: View, places: Iterable[int]) -> set[int]:
    """
    What the first of these places that brings its question brings along.

    Instructions bring none: the view still opens on what comes after them.
    """
    brought: dict[int, str] = {}
    for place in places:
        start = view.block_at(place).start
        if brings(view, start):
            bring(view, start, brought)
            break

    return set(brought)


def _lead(view: View, start: int, gone: Container[int], must: Container[int]) -> set[int]:
    """
    The places from *start* on that leave too, so that no assistant or tool opens the view.

    None where nothing comes that it could open on.
    """
    leaves: set[int] = set()
    instructions: set[int] = set()
    place = start
    while place < view.size:
        block = view.block_at(place)
        place = block.stop
        if block.start in gone:
            continue
        item = view.at(block.start)
        free = {each for each in block if each not in must}
        if _instructs(item):
            instructions |= free
        elif _responds(item):
            leaves |= instructions | free
            instructions = set()
        else:
            return leaves

    return set()


def _responds(item: Item) -> bool:
    if item.stands_in:
        return False

    return item.message.role in _RESPONDS or is_bare_result(item.message)


def _instructs(item: Item) -> bool:
    return item.message.role in PINNED_ROLES and not item.stands_in
