"""
Growing a tree of summaries: messages are told apart, and every so many of a level together.
"""

from collections.abc import Callable, Generator, Iterable
from typing import NamedTuple

from attrs import frozen

from unabridged.contract import Ask, Refused
from unabridged.items import Item
from unabridged.log.kept_notes import KEPT_NOTES
from unabridged.messages import Message
from unabridged.spans import NOTHING, Span
from unabridged.telling import Blocks, Teller
from unabridged.trees import Node, due, standing

__all__ = ["Growing", "Grown"]


class Grown(NamedTuple):
    """
    The summaries that were *made*, and, where something failed, why, and what was not told.
    """

    made: tuple[Node, ...] = ()
    failure: Exception | None = None
    untold: Span = NOTHING


@frozen
class Growing:
    """
    How a tree grows: by which *teller*, and how many summaries, *width*, get one of their own.

    >>> from unabridged.testing import talk, view_of
    >>> from unabridged.tokens import words
    >>> view = view_of(talk(1))
    >>> growing = Growing(Teller(words, "Sum up."), 2)
    >>> walk = growing.grown([], view.sources, lambda rest: [tuple(view)] if rest else [])
    >>> _ = next(walk)
    >>> try:
    ...     walk.send("They met.")
    ... except StopIteration as done:
    ...     print(done.value.made[0].covers)
    1-2
    """

    teller: Teller
    width: int

    def grown(
        self, known: Iterable[Node], old: Span, blocks: Callable[[Span], Blocks]
    ) -> Generator[Ask | Refused, str, Grown]:
        """
        What is made beside the *known* summaries until all that is *old* is told.

        *blocks* gives the items of entries that no summary tells of; none are
        told if it gives none.
        """
        known, made = list(known), list[Node]()
        failure: Exception | None = None
        untold = NOTHING
        while failure is None:
            stands = standing([*known, *made], old)
            group = due(stands, self.width)
            rest = old - Span.union(node.covers for node in stands)
            # of what the log forgets of one level, messages would have to be told again
            room = KEPT_NOTES - sum(not (node.level or node.written) for node in stands)
            parts = blocks(rest) if room > 0 or not group else ()
            if parts:
                told, failure = yield from self.teller.told(parts, apart=True, most=max(1, room))
                made += [Node(0, each.text, each.covers) for each in told]
                untold = rest - Span.union(each.covers for each in told)
            elif group:
                told, failure = yield from self.teller.told(self._items(group))
                untold = Span.union(node.covers for node in group)
                if failure is None:
                    made.append(Node(group[0].level + 1, told[-1].text, told[-1].covers))
            else:
                break

        return Grown(tuple(made), failure, untold)

    def _items(self, group: Iterable[Node]) -> Blocks:
        """
        Summaries as what is to be told.
        """
        role = self.teller.role

        return [(Item(Message(role, node.text), node.covers),) for node in group]
