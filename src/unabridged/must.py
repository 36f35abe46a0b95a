"""
What may not leave a view, whatever a strategy wants.

Pins, calls that wait for a result, the newest block, the newest user message,
and the user messages that opened the rounds of these.
"""

from typing import Literal, TypeAlias

from attrs import frozen

from unabridged.states import PINNED_ROLES
from unabridged.views import View

__all__ = [
    "COMPACTION",
    "CutRules",
    "Must",
    "Opening",
    "block_of_opener",
    "bring",
    "brings",
    "must_stay",
    "opener_of",
]

COMPACTION = "a provider's compaction item"
_PINNED = {
    "hand": "pinned by hand",
    "role": "pinned by role",
    "spared": "spared by `Sparing`",
    "compaction": COMPACTION,
}

Opening: TypeAlias = Literal["question", "next", "anywhere"]


@frozen
class CutRules:
    """
    What a cut respects, and how.

    *opening* says what a view opens on after a cut ("covered": on a stand-in
    for all that is cut, so no opener is brought along), *by* what is cut ("blocks"
    or "rounds"), *straddle* whether a block in which the cut falls is dropped
    or kept, *newest* whether a newest round that does not fit is cut by blocks
    or kept whole, *down_to* is the low mark, *start* the entry of the cut before.
    What leaves is *folded* into a summary, or else the summaries that there are
    leave last. *beside* is what the summary takes beside the cut before, and an
    *aligned* one moves on to a message that a transcript may open on.
    """

    opening: Opening | Literal["covered"] = "question"
    by: Literal["blocks", "rounds"] = "blocks"
    straddle: Literal["drop", "keep"] = "drop"
    newest: Literal["blocks", "whole"] = "blocks"
    pin_system: bool = True
    count_pins: bool = False
    down_to: int | None = None
    start: int = 0
    folded: bool = False
    aligned: bool = False
    beside: int = 0


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
    key = rules.opening, rules.pin_system
    known: Must | None = view.worked_out.get(key)
    if known is None:
        known = view.worked_out[key] = _still_there(view, key) or _must_stay(view, rules)

    return known


def _still_there(view: View, key: object) -> Must | None:
    """
    What had to stay in the view before, if all of it is here: the steps of a chain look once.
    """
    before = view.before()
    if before is None:
        return None
    worked_out, items, size = before
    known: Must | None = worked_out.get(key)
    if known is None:
        return None
    shift = size - view.size
    moved: dict[int, int] = {}
    for place in known.places:
        item = items[place]
        here = place - shift  # right for all after what left
        if here < 0 or view.at(here) is not item:
            here = view.after(item.first) - 1 if item.first else place
            if not 0 <= here < view.size or view.at(here) is not item:
                return None
        moved[place] = here

    return Must(
        {moved[place]: why for place, why in known.places.items()},
        frozenset([moved[place] for place in known.pinned]),
    )


def _must_stay(view: View, rules: CutRules) -> Must:
    places: dict[int, str] = {}
    links = view.log.links
    asked = -1
    if rules.opening == "anywhere":
        pass
    elif (newest := _just_asked(view, links.asked)) >= 0:
        places[asked := newest] = "the newest user message"
    elif (asked := _standing_at(view, links.asked)) >= 0:
        _put(places, view.block_at(asked), "the newest user message")
        if rules.opening != "covered":
            bring(view, view.block_at(asked).start, places)
    pinned = _put_pins(view, rules, places)
    if links.calls and links.pending and (place := _standing_at(view, links.pending)) >= 0:
        block = view.block_at(place)
        _put(places, block, "a call that waits for its result")
        bring(view, block.start, places)
    stop = view.size
    if 0 <= asked == stop - 1 and asked not in pinned and rules.opening != "covered":
        return Must(places, frozenset(pinned))  # the newest block is in already, and its opener
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
    if view.size and view.at(0).after == 0:
        for place, item in enumerate(view.between(0, 8)):
            if item.after != 0 or item.sources:
                break
            places[place] = "put in at the head"
            pinned.add(place)
    for seq in view.pins if view.pins.ranges else ():
        place = view.find(seq)
        if place < 0 or place in pinned:
            continue
        item = view.at(place)
        if not item.pin or (item.pin == "role" and not rules.pin_system):
            continue
        block = view.block_at(place)
        pinned.update(block)
        _put(places, block, _PINNED.get(item.pin, item.pin))
        bring(view, block.start, places)

    return pinned


def _just_asked(view: View, seq: int) -> int:
    """
    The last place, if entry *seq* stands there alone and opens a round; else -1.
    """
    place = view.size - 1
    if place < 0:
        return -1
    item = view.at(place)
    alone = item.first == seq and item.opens and not item.wide

    return place if alone and view.start_from(place) == place else -1


def _standing_at(view: View, seq: int) -> int:
    """
    The place of an entry that stands for itself; -1 if it left or is part of a stand-in.
    """
    place = view.find(seq)
    return -1 if place < 0 or view.at(place).wide else place


def opener_of(view: View, start: int) -> int:
    """
    The place of the user message that opened the round of the block at *start*; -1 if none.

    Where that was retracted, the block fell to the round before.
    """
    item = view.at(start)
    opener = item.opener
    if not opener or opener == item.head == item.first:
        return -1
    place = view.find(opener)
    while place < 0 < opener and (before := view.sources.before(opener)):
        item = view.at(view.find(before.last))
        opener = item.opener
        place = view.find(opener) if opener else -1

    return place


def bring(view: View, start: int, places: dict[int, str]) -> None:
    """
    Put in the opener that the block at *start* brings along, if it brings one.
    """
    if not brings(view, start):
        return
    opener = opener_of(view, start)
    if opener >= 0 and opener not in places:
        _put(places, block_of_opener(view, opener), "opened the round of what stays")


def brings(view: View, start: int) -> bool:
    """
    Whether the block at *start* is one that brings its opener along.

    Instructions do not, nor what a compaction item begins: it stands for the
    question too, as for all before it, and its provider reads nothing before it.
    """
    item = view.at(start)

    return item.pin != "compaction" and item.message.role not in PINNED_ROLES


def block_of_opener(view: View, opener: int) -> range:
    """
    The block of an opener: it alone, unless a late result tied it to something.

    Where not all is loaded, that is looked up only then.
    """
    if view.hidden and not view.log.late:
        return range(opener, opener + 1)

    return view.block_at(opener)


def _put(places: dict[int, str], block: range, why: str) -> None:
    for place in block:
        places.setdefault(place, why)
