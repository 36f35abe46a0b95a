"""
The ledger: which entries stand for themselves, which have a stand-in, which are gone.

Write-backs are entered one after the other. A revert folds them anew without
the one that was taken back; nothing in the log is ever undone by hand.
"""

from collections.abc import Sequence
from typing import NamedTuple, assert_never

from attrs import evolve, frozen

from unabridged.records import (
    Appended,
    Change,
    Compacted,
    Drop,
    Fold,
    Forked,
    Hold,
    Insert,
    Noted,
    Pinned,
    Record,
    Reverted,
)
from unabridged.spans import NOTHING, Span

__all__ = ["BY_HAND", "Gone", "Late", "Ledger", "Undone", "counting", "folded", "in_force"]

BY_HAND = "memory."


class Late(NamedTuple):
    """
    Entry *seq* answered *calls* after something had been decided since.

    It is *bare* if it holds nothing but results.
    """

    seq: int
    calls: Span
    bare: bool


class Undone(NamedTuple):
    """
    A change that was written and then reverted: its step projects from then on.
    """

    step: str
    sources: Span


@frozen
class Gone:
    """
    Entries that record *rec* took out of the view, and why.
    """

    sources: Span
    rec: int
    step: str = ""
    reason: str = ""


class Ledger:
    """
    Which entries stand for themselves, which have a stand-in, which are gone.
    """

    def __init__(self, live: Span, folds: list[Fold], gone: list[Gone]) -> None:
        self.live = live
        self.folds = folds
        self.gone = gone

    def apply(self, rec: int, changes: tuple[Change, ...]) -> None:
        """
        Enter the changes of record *rec*, in order: the last one that names an entry owns it.
        """
        for change in changes:
            match change:
                case Drop(sources):
                    if change.step.startswith(BY_HAND):
                        self._unfold(sources)
                    self._clear(sources)
                    self._drop(sources, rec, change.step, change.reason)
                case Fold(sources):
                    self._clear(sources)
                    self.gone = [
                        evolve(gone, sources=gone.sources - sources)
                        for gone in self.gone
                        if not gone.sources <= sources
                    ]
                    self.folds.append(change)
                case Insert() | Hold():
                    pass
                case _:
                    assert_never(change)

    def take_late(self, late: Late, rec: int) -> None:
        """
        A bare result goes where the calls it answers went.
        """
        if not late.bare or late.seq not in self.live:
            return
        if not late.calls.isdisjoint(self.live):
            return
        taken: Fold | None = None
        for fold in self.folds:
            if fold.sources.isdisjoint(late.calls):
                continue
            if len(fold.sources) == 1:
                return
            taken = fold
        here = Span.one(late.seq)
        self.live = self.live - here
        if taken is not None:
            place = self.folds.index(taken)
            self.folds[place] = evolve(taken, sources=taken.sources | here)
        else:
            took = next(
                (gone for gone in self.gone if not gone.sources.isdisjoint(late.calls)), None
            )
            step = took.step if took else ""
            self._drop(here, took.rec if took else rec, step, "answers a call that left")

    def ordered(self) -> tuple[Fold, ...]:
        """
        The stand-ins in force, in the order of the view.
        """
        return tuple(sorted(self.folds, key=lambda fold: fold.sources.first))

    def _unfold(self, sources: Span) -> None:
        """
        Let go of stand-ins for several entries that tell of *sources*: the rest stands again.

        A summary made from what a person takes out would go on telling it.
        """
        told = [f for f in self.folds if len(f.sources) > 1 and not f.sources.isdisjoint(sources)]
        self.folds = [fold for fold in self.folds if fold not in told]
        self.live = self.live | Span.union(fold.sources for fold in told)

    def _clear(self, sources: Span) -> None:
        self.live = self.live - sources
        if any(not fold.sources.isdisjoint(sources) for fold in self.folds):
            rest = [_without(fold, sources) for fold in self.folds]
            self.folds = [fold for fold in rest if fold.sources]

    def _drop(self, sources: Span, rec: int, step: str, reason: str) -> None:
        for place, gone in enumerate(self.gone):
            if (gone.step, gone.reason) == (step, reason):
                self.gone[place] = evolve(gone, sources=gone.sources | sources, rec=rec)
                return
        self.gone.append(Gone(sources, rec, step, reason))


def _without(fold: Fold, sources: Span) -> Fold:
    """
    What is left of a stand-in; what is left of a summary is one.
    """
    if fold.sources.isdisjoint(sources):
        return fold
    left = fold.sources - sources
    # one that stands for a single entry now is no longer taken for a summary by default
    summary = True if fold.summarizes and len(left) == 1 else fold.summary

    return evolve(fold, sources=left, summary=summary)


def folded(seq: int, active: dict[int, tuple[Change, ...]]) -> Ledger:
    """
    The ledger of *seq* entries after the changes that count, by record.
    """
    ledger = Ledger(Span.between(1, seq), [], [])
    for rec in sorted(active):
        ledger.apply(rec, active[rec])

    return ledger


def counting(
    decisions: Sequence[Record], seq: int
) -> tuple[dict[int, tuple[Change, ...]], tuple[Undone, ...], tuple[str, ...]]:
    """
    The changes that count, the ones that were undone, and what a redo had to leave out.

    A redo leaves out nothing for the sake of a stand-in that was taken back since.
    """
    there = in_force(decisions)
    bodies: dict[int, Compacted | Reverted] = {}
    active: dict[int, tuple[Change, ...]] = {}
    pins: list[tuple[int, Span, bool]] = []
    undone: dict[int, tuple[Change, ...]] = {}
    skipped: dict[int, list[str]] = {}
    for record in decisions:
        match record.body:
            case Pinned(span, on):
                pins.append((record.rec, span, on))
            case Compacted(changes):
                bodies[record.rec] = record.body
                active[record.rec] = changes
            case Reverted(rec):
                bodies[record.rec] = record.body
                root = rec
                while isinstance(body := bodies[root], Reverted):
                    root = body.rec
                if root in active:
                    undone[root] = active.pop(root)
                    skipped.pop(root, None)
                else:
                    undone.pop(root, None)
                    standing = {later: active[later] for later in active if later in there}
                    active[root], skipped[root] = _redone(root, body, standing, pins, seq)
            case Appended() | Noted() | Forked():
                pass  # no decision
            case _:
                assert_never(record.body)

    return (
        active,
        tuple(
            Undone(change.step, change.sources)
            for changes in undone.values()
            for change in changes
            if isinstance(change, Drop | Fold)
        ),
        tuple(text for texts in skipped.values() for text in texts),
    )


def _redone(
    rec: int,
    body: Compacted,
    active: dict[int, tuple[Change, ...]],
    pins: list[tuple[int, Span, bool]],
    seq: int,
) -> tuple[tuple[Change, ...], list[str]]:
    pinned = NOTHING
    for at, span, on in pins:
        if at > rec:
            pinned = pinned | span if on else pinned - span
    since = {later: changes for later, changes in active.items() if later > rec}
    elsewhere = Span.union(
        fold.sources for fold in folded(seq, since).folds if len(fold.sources) > 1
    )
    kept: list[Change] = []
    skipped: list[str] = []
    for change in body.changes:
        sources = NOTHING if isinstance(change, Insert) else change.sources
        if held := sources & pinned:
            why = f"entry {held.first} is pinned since"
        elif held := sources & elsewhere:
            why = f"entry {held.first} is part of another stand-in"
        else:
            kept.append(change)
            continue
        skipped.append(f"redoing record {rec} left out {type(change).__name__} of {sources}: {why}")

    return tuple(kept), skipped


def in_force(decisions: Sequence[Record]) -> frozenset[int]:
    """
    The records, of these decisions, that no `Reverted` in force undoes.
    """
    dead: set[int] = set()
    for record in reversed(decisions):
        if isinstance(record.body, Reverted) and record.rec not in dead:
            dead.add(record.body.rec)

    return frozenset(record.rec for record in decisions if record.rec not in dead)
