"""
Which changes of a result are written back, when some are marked and some only project.
"""

from collections.abc import Iterable, Sequence
from typing import TypeGuard

from attrs import evolve

from unabridged.records import Change, Drop, Fold, Note
from unabridged.views import View

__all__ = ["fresh_notes", "marked", "written"]


def written(
    view: View, changes: tuple[Change, ...], *, everything: bool = False
) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """
    The changes to write, each marked, and warnings about those that cannot be.

    A marked change is written with the drops that steps before it made. A fold
    over a stand-in that only projects is not written: the log would hold a
    summary of a summary that nobody can read.
    """
    warnings: list[str] = []
    marked: set[int] = set()
    for place, change in enumerate(changes):
        if not _writes(change) or not (everything or change.replace) or _undone(view, change):
            continue
        if isinstance(change, Fold) and _over_projection(changes[:place], change, marked):
            warnings.append(
                f"{change.step or 'a step'}: not written, it folds a stand-in that only projects "
                f"(entries {change.sources}); give the step before it replace=True too"
            )
            continue
        marked.add(place)
    last = max(marked, default=-1)

    return (
        tuple(
            change if change.replace else evolve(change, replace=True)
            for place, change in enumerate(changes)
            if place in marked
            or (place < last and isinstance(change, Drop) and not _undone(view, change))
        ),
        tuple(warnings),
    )


def marked(view: View, changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """
    The changes, those marked that are written when all are that can be.
    """
    writes, _ = written(view, changes, everything=True)
    asked = [change if change.replace else evolve(change, replace=True) for change in changes]

    return tuple(
        made if made in writes else change for change, made in zip(changes, asked, strict=True)
    )


def _writes(change: Change) -> TypeGuard[Drop | Fold]:
    return isinstance(change, Drop | Fold)


def _undone(view: View, change: Drop | Fold) -> bool:
    """
    Whether this was written before and reverted: then its step projects from then on.
    """
    return any(
        undone.step == change.step and not undone.sources.isdisjoint(change.sources)
        for undone in view.log.undone
    )


def _over_projection(earlier: Iterable[Change], fold: Fold, marked: set[int]) -> bool:
    return any(
        isinstance(change, Fold)
        and place not in marked
        and len(change.sources) > 1
        and not change.sources.isdisjoint(fold.sources)
        for place, change in enumerate(earlier)
    )


def fresh_notes(old: Iterable[Note], new: Sequence[Note]) -> tuple[Note, ...]:
    """
    The new notes that are not among the old, each once.
    """
    if not new:
        return ()
    known = set(old)

    return tuple(note for note in dict.fromkeys(new) if note not in known)
