"""
What a function gave becomes changes: what it must not leave out is put back or refused.
"""

from collections.abc import Iterable

from attrs import evolve

from unabridged.errors import OutcomeError, PairingError
from unabridged.must import CutRules, must_stay
from unabridged.records import Change, Drop, Fold
from unabridged.results import TrimResult
from unabridged.spans import Span
from unabridged.steps.listing import listed
from unabridged.steps.stand_ins import stand_ins
from unabridged.views import View

__all__ = ["all_marked", "settled"]


def all_marked(result: TrimResult) -> TrimResult:
    """
    The result, its drops and folds marked to be written.
    """
    writes = [isinstance(change, Drop | Fold) for change in result.changes]
    changes = tuple(
        evolve(change, replace=True) if marked and not change.replace else change
        for change, marked in zip(result.changes, writes, strict=True)
    )

    return result if changes == result.changes else evolve(result, changes=changes)


def settled(
    view: View, outcome: Iterable[object], step: str, *, replace: bool, strict: bool
) -> TrimResult:
    """
    The result of a function that gave *outcome*: the items to keep, and messages to put in.

    Raises:
        OutcomeError: it gave what never was in the view or is no item or message, under
            *strict* left out what must stay, or under *replace* put in a message that
            stands for nothing.
        PairingError: under *strict*, it parted a call from its result.
    """
    found = listed(view, outcome, step)
    warnings: list[str] = []
    kept = set(found.kept)
    for place, why in _forgotten(view, kept):
        error = PairingError if why.startswith("parted") else OutcomeError
        text = f"step {step}: {why}, entry {view.at(place).sources}"
        if strict:
            msg = f"{text}; keep it, or leave strict=True out and it is put back"
            raise error(msg)
        warnings.append(f"{text}, is put back")
        kept.add(place)
    dropped = view.sources - Span.union(view.at(place).sources for place in kept)
    made = stand_ins(view, found, dropped, step, replace=replace)
    changes: list[Change] = []
    if dropped := dropped - Span.union(fold.sources for fold in made.folds):
        changes.append(Drop(dropped, replace=replace))
    changes += [
        Fold(view.at(place).sources, message, replace=replace)
        for place, message in found.reworded.items()
    ]
    changes += [*made.folds, *made.inserts]

    return TrimResult(view, tuple(changes), warnings=(*warnings, *made.warnings))


def _forgotten(view: View, kept: set[int]) -> list[tuple[int, str]]:
    """
    The places that have to be kept too, and why.
    """
    if len(kept) == view.size and not view.hidden:
        return []
    forgotten: list[tuple[int, str]] = []
    must = must_stay(view, CutRules(opening="next"))
    for place, why in must.places.items():
        if place in kept or not view.at(place).sources:
            continue
        if place in must.pinned or _matters(view, why, kept):
            forgotten.append((place, f"left out {why}"))
    have = kept | {place for place, _ in forgotten}
    for place in sorted(have):
        for mate in view.block_at(place):
            if mate not in have and view.at(mate).sources:
                forgotten.append((mate, "parted a block: left out its mate"))
                have.add(mate)

    return forgotten


def _matters(view: View, why: str, kept: set[int]) -> bool:
    """
    Whether what must stay under a cut must stay under a function too, which may drop the rest.
    """
    if why.startswith("opened"):
        return False
    if why == "the newest block":
        return not any(not view.at(other).pin for other in kept)

    return True
