"""
What may not leave a view, whatever a strategy wants.

Pins, calls that wait for a result, the newest block, the newest user message,
and the user messages that opened the rounds of these.
"""

from typing import Literal, TypeAlias

from attrs import frozen

from unabridged.states import PINNED_ROLES
from unabridged.views import View

__all__ = ["CutRules", "Must", "Opening", "bring", "must_stay", "opener_of"]

Opening: TypeAlias = Literal["question", "next", "anywhere"]


@frozen
class CutRules:
    """
    What a cut respects, and how.

    *opening* says what a view opens on after a cut ("covered": on a stand-in
    for all that is cut, so no opener is brought along), *by* what is cut ("blocks"
    or "rounds"), *straddle* whether a block in which the cut falls is dropped
    or kept, *down_to* is the low mark, *start* the entry of the cut before.
    """

    opening: Opening | Literal["covered"] = "question"
    by: Literal["blocks", "rounds"] = "blocks"
    straddle: Literal["drop", "keep"] = "drop"
    pin_system: bool = True
    count_pins: bool = False
    down_to: int | None = None
    start: int = 0


@frozen
class Must:
    """
    The loaded places that may not leave, with the reason of each, and which of them are pinned.
    """

    places: dict[int, str]
    pinned: frozenset[int]


def must_stay(view: View, rules: CutRules) -> Must:
    """
    What may not leave: pins, pending calls, the newest block, the newest user message.
    """
    places: dict[int, str] = {}
    links = view.log.links
    asked = -1
    if rules.opening != "anywhere" and (asked := _standing_at(view, links.asked)) >= 0:
        _put(places, view.block_at(asked), "the newest user message")
        if rules.opening != "covered":
            bring(view, view.block_at(asked).start, places)
    pinned = _put_pins(view, rules, places)
    if links.pending and (place := _standing_at(view, links.pending)) >= 0:
        block = view.block_at(place)
        _put(places, block, "a call that waits for its result")
        bring(view, block.start, places)
    stop = view.size
    for start in view.starts():
        block = range(start, stop)
        if pinned.isdisjoint(block):
            _put(places, block, "the newest block")
            # under "next" the newest user message opens the view, unless it comes later
            if rules.opening == "question" or (rules.opening == "next" and start < asked):
                bring(view, start, places)
            break
        stop = start

    return Must(places, frozenset(pinned))


def _put_pins(view: View, rules: CutRules, places: dict[int, str]) -> set[int]:
    """
    Put in what was put in at the head, the pinned blocks and their openers; give the pinned.
    """
    pinned: set[int] = set()
    for place, item in enumerate(view.between(0, 8)):
        if item.after != 0 or item.sources:
            break
        places[place] = "put in at the head"
        pinned.add(place)
    for seq in view.pins:
        place = view.find(seq)
        if place < 0 or place in pinned:
            continue
        item = view.at(place)
        if not item.pin or (item.pin == "role" and not rules.pin_system):
            continue
        block = view.block_at(place)
        pinned.update(block)
        _put(places, block, "held" if item.pin == "held" else f"pinned by {item.pin}")
        bring(view, block.start, places)

    return pinned


def _standing_at(view: View, seq: int) -> int:
    """
    The place of an entry that stands for itself; -1 if it left or is part of a stand-in.
    """
    place = view.find(seq)
    return -1 if place < 0 or view.at(place).wide else place


def opener_of(view: View, start: int) -> int:
    """
    The place of the user message that opened the round of the block at *start*; -1 if none.
    """
    item = view.at(start)
    if not item.opener or item.opens:
        return -1

    return view.find(item.opener)


def bring(view: View, start: int, places: dict[int, str]) -> None:
    """
    Put in the opener that the block at *start* brings along, if it brings one.
    """
    if view.at(start).message.role in PINNED_ROLES:
        return
    opener = opener_of(view, start)
    if opener >= 0 and opener not in places:
        # an opener is a block of its own, unless a late result tied it to something: where not
        # all is loaded, that is looked up only then
        alone = view.hidden and not view.log.late
        block = range(opener, opener + 1) if alone else view.block_at(opener)
        _put(places, block, "opened the round of what stays")


def _put(places: dict[int, str], block: range, why: str) -> None:
    for place in block:
        places.setdefault(place, why)
