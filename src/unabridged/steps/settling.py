"""
What a function gave becomes changes: what it must not leave out is put back or refused.
"""

from collections.abc import Iterable, Iterator

from attrs import evolve

from unabridged.errors import OutcomeError, PairingError
from unabridged.log.compactions import is_compaction
from unabridged.must import COMPACTION, CutRules, must_stay
from unabridged.records import Change, Drop, Fold, Hold, Insert
from unabridged.results import TrimResult
from unabridged.spans import Span
from unabridged.steps.listing import listed
from unabridged.steps.stand_ins import stand_ins
from unabridged.text import short
from unabridged.views import View

__all__ = ["settled", "taken"]


def taken(result: TrimResult, step: str, *, replace: bool) -> TrimResult:
    """
    A function's own result: under *replace* its drops and folds are marked to be written.
    """
    told = tuple(_lost_compaction(result.before, result.changes, step))
    result = evolve(result, warnings=(*result.warnings, *told)) if told else result
    if not replace:
        return result
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
        text = f"step {short(step)}: {why}, entry {view.at(place).sources}"
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
    for place, message in found.reworded.items():
        item = view.at(place)
        told = item.summary or None  # what rewords a summary is one
        changes.append(Fold(item.sources, message, replace=replace, summary=told))
    changes += [*made.folds, *made.inserts]
    warnings += [*made.warnings, *_lost_compaction(view, changes, step)]

    return TrimResult(view, tuple(changes), warnings=tuple(warnings))


def _lost_compaction(view: View, changes: Iterable[Change], step: str) -> Iterator[str]:
    """
    Word that a provider's compaction item left: only a function of a user's own may let it go.
    """
    seq = view.log.compaction
    for change in changes if seq and view.find(seq) >= 0 else ():
        if isinstance(change, Insert | Hold) or seq not in change.sources:
            continue
        if isinstance(change, Drop) or not is_compaction(change.into):
            yield (
                f"step {step}: {COMPACTION} left, entry {seq}; the model sees nothing more of "
                "what it stands for"
            )
            return


def _forgotten(view: View, kept: set[int]) -> list[tuple[int, str]]:
    """
    The places that have to be kept too, and why.
    """
    if len(kept) == view.size and not view.hidden:
        return []
    forgotten: list[tuple[int, str]] = []
    must = must_stay(view, CutRules(opening="next"))
    for place, why in must.places.items():
        if place in kept or not view.at(place).sources or why == COMPACTION:
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
