"""
Making what must stay fit a budget: clips, one after the other, and the note of them.

What was clipped once stays so: else it would come back whole as soon as it need
not stay any more, be too long, and leave, and the prefix with it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from attrs import evolve, field, frozen

from unabridged.clips import Clip
from unabridged.cuts import Cut
from unabridged.gains import gained
from unabridged.items import Item
from unabridged.json_values import json_of
from unabridged.messages import Message
from unabridged.records import Drop, Fold, Note
from unabridged.results import rewrite
from unabridged.spans import NOTHING, Span
from unabridged.views import View, apply

__all__ = ["Clips", "Fitted", "fit"]

KIND = "clip"

Weigh: TypeAlias = Callable[[Message], int]


@frozen
class Clips:
    """
    The clips of a *step*, what counts for them, and what their changes say.
    """

    step: str
    steps: Sequence[Clip]
    count: Weigh = field(eq=False, repr=False)
    reason: str
    replace: bool

    def changes(self, number: int, view: View, items: Iterable[Item]) -> tuple[Fold, ...]:
        """
        What the clip of this number makes of the items.
        """
        step = self.steps[number]
        made = rewrite(
            view,
            step.clipped(view, items, self.count),
            reason=f"clipped by {step!r}, {self.reason}",
            replace=self.replace or step.replace,
        )

        return tuple(change for change in made.changes if isinstance(change, Fold))


@frozen
class Fitted:
    """
    The cut of a view, the rewordings made for it, and the note of these.
    """

    done: Cut
    folds: tuple[Fold, ...] = ()
    notes: tuple[Note, ...] = ()


def fit(
    view: View, clips: Clips, cut: Callable[[View], Cut], accept: Callable[[View, Cut, int], Cut]
) -> Fitted:
    """
    The cut of the view with what was clipped before, and what is to be clipped now.

    *accept* gets the view, the cut and the tokens that clips gain beside it, and
    gives that cut, or the one that stands instead: then nothing new is clipped.
    """
    before = _clipped_before(view, clips)
    short = apply(view, before) if before else view
    fitted = _fitted(short, cut(short), clips, cut)
    done = accept(short, fitted.done, gained(short, fitted.folds, clips.count))
    if done is not fitted.done:
        fitted = Fitted(done)
    folds = (fold for fold in (*before, *fitted.folds) if not fold.sources <= done.dropped)

    return evolve(fitted, folds=tuple(folds))


def _clipped_before(view: View, clips: Clips) -> tuple[Fold, ...]:
    """
    The rewordings that the notes tell of, made again.
    """
    known: dict[int, int] = {}
    for note in view.notes:
        if (note.kind, note.key) == (KIND, clips.step):
            used = int(note.value.value["clips"])
            known.update({seq: max(used, known.get(seq, 0)) for seq in note.sources})
    there = sorted(seq for seq in known if seq in view.sources and seq not in view.hidden)
    folds: list[Fold] = []
    for number in range(len(clips.steps) if there else 0):
        items = [view.at(view.find(seq)) for seq in there if known[seq] > number]
        made = clips.changes(number, view, items)
        view = apply(view, made)
        folds += made

    return tuple(folds)


def _fitted(view: View, done: Cut, clips: Clips, cut: Callable[[View], Cut]) -> Fitted:
    """
    The cut once what must stay is clipped, by one clip after the other until it fits.

    So too where a summary would have to leave, if clips can make room for it.
    """
    first, folds = done, list[Fold]()
    used = 0
    while (done.over or done.untold) and used < len(clips.steps):
        made = clips.changes(used, view, apply(view, [Drop(done.dropped)]))
        view = apply(view, made)
        folds += made
        done = cut(view)
        used += 1
    if done.untold is not None and first.over is None and done.untold.entries == _untold(first):
        return Fitted(first)
    sources = Span.union(fold.sources for fold in folds) - done.dropped
    notes = (Note(KIND, clips.step, json_of({"clips": used}), sources),) if sources else ()

    return Fitted(done, tuple(folds), notes)


def _untold(done: Cut) -> Span:
    return NOTHING if done.untold is None else done.untold.entries
