"""
What a function listed, found in the view: the items it keeps, rewords and puts messages beside.

A message is the item that it equals: the newest such item that the list does
not hold already, and each item once. One that keeps the calls and results of
an item is that item, reworded; so are messages that stand where the list leaves
out as many items of the same roles, and none of these is pinned.
"""

from collections.abc import Iterable, Sequence

from attrs import field, frozen

from unabridged.errors import OutcomeError
from unabridged.items import Item, Unloaded
from unabridged.messages import Message
from unabridged.results import same_ties
from unabridged.states import PINNED_ROLES
from unabridged.text import short
from unabridged.views import View

__all__ = ["Listed", "PutIn", "listed"]


@frozen
class PutIn:
    """
    A message of no item, and the place of the item before it in the list (-1: none).
    """

    message: Message
    after: int


@frozen
class Listed:
    """
    The places *kept*, those *reworded*, the messages *put_in*.

    *told* are the places of stand-ins that were listed as messages, not as items.
    """

    kept: set[int] = field(factory=set)
    reworded: dict[int, Message] = field(factory=dict)
    put_in: list[PutIn] = field(factory=list)
    told: set[int] = field(factory=set)


def listed(view: View, outcome: Iterable[object], step: str) -> Listed:
    """
    What a function that gave *outcome* wants of the view.

    Raises:
        OutcomeError: it gave what never was in the view, what is neither item nor
            message, or a rewording that parts calls from results.
    """
    found = Listed()
    given = [_placed(view, each, step) for each in outcome]
    if any(isinstance(each, Message) for each in given):
        given = _mapped(view, given, found)
    anchor = -1
    for each in given:
        match each:
            case Message():
                found.put_in.append(PutIn(each, anchor))
            case place, message:
                if place < 0 or not (item := view.at(place)).sources:
                    continue
                if place not in found.kept and message != item.message:
                    same_ties(item, message, f"step {short(step)}")
                    found.reworded[place] = message
                found.kept.add(place)
                anchor = place

    return found


Placed = tuple[int, Message] | Message


def _placed(view: View, given: object, step: str) -> Placed:
    """
    The place of an item, and its message as it is given; a message as it is.
    """
    if isinstance(given, Message):
        return given
    if not isinstance(given, Item):
        msg = (
            f"step {short(step)}: expected items of the view or messages, got "
            f"{type(given).__name__}; return [item for item in view if …]"
        )
        raise OutcomeError(msg)
    if not given.sources:  # put in by a step before: it stays where its anchor does
        return _put_in_before(view, given)
    place = view.find(given.first)
    if place < 0 or view.at(place).sources != given.sources:
        msg = f"step {short(step)}: entry {given.sources} was never in the view; return its items"
        raise OutcomeError(msg)

    return place, given.message


def _put_in_before(view: View, given: Item) -> Placed:
    for place, item in enumerate(view.loaded):
        if item is given or item == given:
            return place, given.message

    return -1, given.message


def _mapped(view: View, given: Sequence[Placed], found: Listed) -> list[Placed]:
    """
    The list with the places of items for the messages that are theirs.
    """
    taken = {each[0] for each in given if not isinstance(each, Message)}
    free: dict[Message, list[int]] = {}
    for place, item in enumerate(view.loaded):
        if place not in taken:
            free.setdefault(item.message, []).append(place)
    alike: dict[Message, list[int]] = {}
    for number, each in enumerate(given):
        if isinstance(each, Message):
            alike.setdefault(each, []).append(number)
    mapped = list(given)
    for message, numbers in alike.items():
        places = free.get(message, [])[-len(numbers) :]  # the newest; what goes beyond is put in
        if view.hidden and len(places) < len(numbers) and _may_be_hidden(view, message):
            raise Unloaded(everything=True)
        free[message] = free.get(message, [])[: -len(places) or None]
        found.told.update(place for place in places if view.at(place).stands_in)
        for number, place in zip(numbers, places, strict=False):
            mapped[number] = place, message
    left = [place for places in free.values() for place in places]
    _map_by_ties(view, mapped, left)
    _map_by_roles(view, mapped)

    return mapped


def _map_by_ties(view: View, mapped: list[Placed], free: list[int]) -> None:
    """
    Find the items of messages that keep the calls and results of one, newest first.
    """
    left = {number for number, each in enumerate(mapped) if isinstance(each, Message)}
    for number in sorted(left, reverse=True):
        message = mapped[number]
        if not isinstance(message, Message) or not (ties := _ties(message)):
            continue
        place = max((place for place in free if _ties(view.at(place).message) == ties), default=-1)
        if place >= 0 and view.at(place).message.role == message.role:
            mapped[number] = place, message
            free.remove(place)


def _map_by_roles(view: View, mapped: list[Placed]) -> None:
    """
    Find the items of messages that stand, one for one, where items of their roles were left out.
    """
    low = -1
    waiting: list[tuple[int, Message]] = []
    for number, each in enumerate([*mapped, None]):
        if isinstance(each, Message):
            waiting.append((number, each))
            continue
        high = view.size if each is None else each[0]
        gap = range(low + 1, high)
        whole = len(gap) == len(waiting) and not (view.hidden and low < 0)
        if whole and all(_rewords(view.at(p), m) for p, (_, m) in zip(gap, waiting, strict=True)):
            for place, (at, message) in zip(gap, waiting, strict=True):
                mapped[at] = place, message
        low, waiting = max(low, high), []


def _rewords(item: Item, message: Message) -> bool:
    plain = not (item.pin or item.wide or _ties(item.message) or _ties(message))

    return bool(plain and item.sources) and item.message.role == message.role


def _ties(message: Message) -> tuple[object, ...]:
    """
    The ids of its calls and results.
    """
    calls = [(call.id, call.name) for call in message.tool_calls]

    return (*calls, *(result.call_id for result in message.tool_results))


def _may_be_hidden(view: View, message: Message) -> bool:
    """
    Whether an item that is not loaded may have this message; pins and wide stand-ins are loaded.
    """
    return (
        bool(_ties(message))
        or message.role not in PINNED_ROLES
        or any(fold.into == message for fold in view.log.folds if len(fold.sources) == 1)
    )
