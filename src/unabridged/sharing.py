"""
Sharing one budget among the sections of a view.

A section is filled with whole blocks: the recalled best score first, system
messages newest first, the recent rest as any cut keeps it. First each gets its
floor, then each in turn what is left, until nobody can take more.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from attrs import evolve

from unabridged.cuts import Cut, cut
from unabridged.items import Item
from unabridged.messages import Message
from unabridged.must import CutRules, bring, must_stay, opener_of
from unabridged.records import Drop
from unabridged.spans import NOTHING, Span
from unabridged.views import View, apply

__all__ = ["RECALLED", "RECENT", "SYSTEM", "Sharing"]

SYSTEM, RECALLED, RECENT = "system", "recalled", "recent"

Weigh: TypeAlias = Callable[[Message], int]


class Sharing:
    """
    A view, and what of it is kept so far.

    *loose* are, for each section, the blocks that may leave though they are
    pinned or held, best first; what is neither is cut as in any view.
    """

    def __init__(self, view: View, limit: int, count: Weigh, *, pin_system: bool) -> None:
        self.loose = _loose(view, pin_system=pin_system)
        self._view = view
        self._limit = limit
        self._count = count
        self._all = Span.union(span for spans in self.loose.values() for span in spans)
        self._chosen = NOTHING
        self._kept = NOTHING
        self._total = 0
        self._used = {SYSTEM: 0, RECALLED: 0}

    def cut(self, order: Iterable[str], floors: Mapping[str, int]) -> Cut:
        """
        What leaves when the sections are filled in this *order*, to their *floors* first.
        """
        if (most := self._cut(self._limit)).over is not None:
            return most
        order = tuple(order)
        self._keep(self._view.sources - self._cut(0).dropped)
        pins = must_stay(self._view, CutRules()).pinned
        fixed = (item for item in map(self._view.at, pins) if item.sources <= self._kept)
        self._used[SYSTEM] = sum(self._count(item.message) for item in fixed)
        for name in order:
            self._fill(name, floors[name])
        before = -1
        while before < self._total:
            before = self._total
            for name in order:
                self._fill(name, self._limit)

        return Cut(self._view.sources - self._kept, untold=most.untold)

    def _fill(self, name: str, share: int) -> None:
        """
        Let a section have up to *share* tokens, as far as there is room.
        """
        if name == RECENT:
            done = self._cut(min(self._limit, sum(self._used.values()) + share))
            if done.over is None:
                self._keep(self._view.sources - done.dropped)
            return
        for block in self.loose[name]:
            if block <= self._chosen:
                continue
            kept = self._kept | self._with_question(block)
            more = self._weight(kept) - self._total
            if self._used[name] + more <= share and self._total + more <= self._limit:
                self._chosen |= kept & self._all
                self._used[name] += more
                self._keep(kept)

    def _with_question(self, block: Span) -> Span:
        view = self._view
        places = view.block_at(view.find(block.first))
        brought: dict[int, str] = {}
        bring(view, places.start, brought)

        return block | Span.union(view.at(place).sources for place in brought)

    def _keep(self, entries: Span) -> None:
        self._kept = entries
        self._total = self._weight(entries)

    def _weight(self, entries: Span) -> int:
        left = self._view.sources - entries
        view = apply(self._view, [Drop(left)]) if left else self._view

        return sum(self._count(item.message) for item in view)

    def _cut(self, limit: int) -> Cut:
        """
        The cut of the view without what may leave and was not chosen.
        """
        out = self._all - self._chosen
        view = apply(self._view, [Drop(out)]) if out else self._view
        rules = CutRules(count_pins=True)
        done = cut(view, limit, self._count, "tokens", rules, room=self._limit)

        return evolve(done, dropped=done.dropped | out)


def _loose(view: View, *, pin_system: bool) -> dict[str, Sequence[Span]]:
    """
    The blocks that are pinned or held and may leave all the same: never the newest one.
    """
    links = view.log.links
    newest = next(view.starts(), 0)
    blocks: dict[int, range] = {}
    for seq in view.pins:
        place = view.find(seq)
        if place >= 0 and view.at(place).pin:
            block = view.block_at(place)
            blocks[block.start] = block
    stay = {"", "held"} if pin_system else {"", "held", "role"}
    free: dict[int, range] = {}
    for start, block in blocks.items():
        items = [view.at(place) for place in block]
        waits = any(seq in item.sources for item in items for seq in (links.asked, links.pending))
        told = any(item.summary for item in items)
        if start < newest and not (waits or told) and all(item.pin in stay for item in items):
            free[start] = block
    loose = {place for block in free.values() for place in block}
    for place in must_stay(view, CutRules()).places:
        if place not in loose and (opener := opener_of(view, view.block_at(place).start)) >= 0:
            free.pop(view.block_at(opener).start, None)
    held: list[list[Item]] = []
    roles: list[list[Item]] = []
    for block in free.values():
        items = [view.at(place) for place in block if view.at(place).sources]
        (held if any(item.pin == "held" for item in items) else roles).append(items)

    return {SYSTEM: _spans(roles), RECALLED: _spans(held)}


def _spans(blocks: list[list[Item]]) -> list[Span]:
    def rank(items: list[Item]) -> tuple[float, int]:
        return -max(item.score or 0 for item in items), -items[0].first

    return [Span.union(item.sources for item in items) for items in sorted(blocks, key=rank)]
