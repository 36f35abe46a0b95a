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

__all__ = ["MADE_UP", "Answers", "answers", "is_made_up"]

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
