"""
Which call each result answers, and which calls none does, within a block.

The links of the log say which entries hang together, and a block is what they
tie; inside it their own rule is walked once more, call by call. A call and its
results are always in one block, so a block is all that has to be looked at.
"""

from collections.abc import Iterable
from typing import NamedTuple

from unabridged.items import Item
from unabridged.links import calls_of
from unabridged.messages import Message, ToolCall

__all__ = ["MADE_UP", "Answers", "Doubled", "answers", "doubled", "is_made_up"]

MADE_UP = "made_up"  # in the metadata of a result that nobody gave


class Answers(NamedTuple):
    """
    *given* are the items with results, each with the call of every result, None for an orphan.

    *unanswered* are the calls without a result, each with its item. A result
    that was put in is no item of *given*, and answers a call like any other.

    >>> Answers().unanswered
    ()
    """

    given: tuple[tuple[Item, tuple[ToolCall | None, ...]], ...] = ()
    unanswered: tuple[tuple[Item, ToolCall], ...] = ()


def answers(block: Iterable[Item]) -> Answers:
    """
    Which calls of the block its results answer.

    >>> from unabridged.testing import call, result, view_of
    >>> [block] = view_of([call("c1", "c2"), result("c2")]).blocks
    >>> found = answers(block)
    >>> [made.id for _, made in found.unanswered], [made.id for _, (made,) in found.given]
    (['c1'], ['c2'])
    """
    given: list[tuple[Item, tuple[ToolCall | None, ...]]] = []
    waiting: dict[str, list[tuple[Item, ToolCall]]] = {}
    unanswered: list[tuple[Item, ToolCall]] = []
    put_in: list[str] = []
    for item in block:
        ids = [result.call_id for result in item.message.tool_results]
        if not item.sources:
            put_in += ids
            continue
        if ids:
            given.append((item, tuple(_taken(waiting, id_) for id_ in ids)))
        calls = calls_of(item.message)
        for id_ in {call.id for call in calls}:  # a reused id is from here on the newer one
            unanswered += waiting.pop(id_, [])
        for call in calls:
            waiting.setdefault(call.id, []).append((item, call))
    unanswered += [pair for pairs in waiting.values() for pair in pairs]
    in_order = sorted(unanswered, key=lambda pair: pair[0].first)

    return Answers(tuple(given), tuple(_left(in_order, put_in)))


class Doubled(NamedTuple):
    """
    A result that answers a call, and the *newer* ones of that call, oldest first.

    Each result is its item and which of the item's results it is.

    >>> Doubled._fields
    ('call_id', 'first', 'newer')
    """

    call_id: str
    first: tuple[Item, int]
    newer: tuple[tuple[Item, int], ...]


def doubled(items: Iterable[Item]) -> tuple[Doubled, ...]:
    """
    The calls that were answered more than once, as a slow tool that says "pending" first does.

    A result is a newer one if the newest message before it that calls with its id
    has an answer for each of these calls already.

    >>> from unabridged.testing import call, result, user, view_of
    >>> view = view_of([call("c1"), result("c1", "wait"), user("?"), result("c1", "done")])
    >>> [(again.first[0].first, again.newer[0][0].first) for again in doubled(view)]
    [(2, 4)]
    """
    called: dict[str, _Answered] = {}
    found: list[_Answered] = []
    for item in items:
        if not item.sources:
            continue
        for number, result in enumerate(item.message.tool_results):
            if (answered := called.get(result.call_id)) is not None:
                answered.take(item, number)
        for call in calls_of(item.message):
            known = called.get(call.id)
            if known is None or known.item is not item:
                known = called[call.id] = _Answered(call.id, item)
                found.append(known)
            known.calls += 1

    return tuple([again for answered in found for again in answered.doubled()])


class _Answered:
    """
    The calls of one id in one message, and their results in the order in which they came.
    """

    def __init__(self, call_id: str, item: Item) -> None:
        self.call_id, self.item, self.calls = call_id, item, 0
        self._results: list[tuple[Item, int]] = []

    def take(self, item: Item, number: int) -> None:
        self._results.append((item, number))

    def doubled(self) -> list[Doubled]:
        firsts = self._results[: self.calls]
        rounds = [self._results[place + self.calls :: self.calls] for place in range(len(firsts))]

        return [
            Doubled(self.call_id, first, tuple(newer))
            for first, newer in zip(firsts, rounds, strict=True)
            if newer
        ]


def is_made_up(message: Message) -> bool:
    """
    Whether `Repair` put the message in, as the result that a call never got.

    >>> from unabridged.messages import tool
    >>> is_made_up(tool("", call_id="c1", metadata={"made_up": True}))
    True
    """
    return MADE_UP in message.metadata.text and bool(message.metadata.value.get(MADE_UP))


def _taken(waiting: dict[str, list[tuple[Item, ToolCall]]], id_: str) -> ToolCall | None:
    pairs = waiting.get(id_)
    return pairs.pop(0)[1] if pairs else None


def _left(calls: Iterable[tuple[Item, ToolCall]], put_in: list[str]) -> list[tuple[Item, ToolCall]]:
    """
    The calls less those that a result which was put in answers.
    """
    left: list[tuple[Item, ToolCall]] = []
    for item, call in calls:
        if call.id in put_in:
            put_in.remove(call.id)
        else:
            left.append((item, call))

    return left
