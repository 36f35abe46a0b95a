"""
Messages that a function listed where it dropped entries: each stands in for some of these.

What one message stands for is what was dropped between its neighbours in the
list. Several in one gap share it by whole blocks, in order: the later ones
stand for a block each, the first for all before that. What is put back inside
a gap (a pin, say) parts it from nothing.
"""

from collections.abc import Iterator

from attrs import evolve, frozen

from unabridged.errors import OutcomeError
from unabridged.items import Item
from unabridged.messages import Message
from unabridged.records import Fold, Insert
from unabridged.spans import NOTHING, Span
from unabridged.steps.listing import Listed
from unabridged.text import short
from unabridged.views import View

__all__ = ["StandIns", "stand_ins"]


@frozen
class StandIns:
    """
    The *folds* and *inserts* that the listed messages come to, and *warnings*.
    """

    folds: tuple[Fold, ...] = ()
    inserts: tuple[Insert, ...] = ()
    warnings: tuple[str, ...] = ()


def stand_ins(view: View, found: Listed, dropped: Span, step: str, *, replace: bool) -> StandIns:
    """
    What becomes of the messages that were listed, where these entries are *dropped*.

    Raises:
        OutcomeError: under *replace*, one could not be written: there is nothing that it
            could stand for, or it holds tool calls or results.
    """
    folds: list[Fold] = []
    inserts: list[Insert] = []
    warnings: list[str] = []
    for after, messages in _by_gap(found).items():
        before = min((place for place in found.kept if place > after), default=view.size)
        gap = _gap(view, after, before, dropped)
        wording = [message for message in messages if not _has_ties(message)]
        spans = iter(_shared(view, gap, after, before, len(wording)))
        anchor = view.at(after).first if after >= 0 else 0
        for message in messages:
            span = NOTHING if _has_ties(message) else next(spans, NOTHING)
            if span:
                folds.append(
                    Fold(span, message, replace=replace, summary=_tells(view, span, message))
                )
                anchor = span.first
                continue
            if replace:
                raise OutcomeError(_refusal(step, message, anchor, gap))
            if gap and not wording:
                warnings.append(_only_projects(step, message, gap))
            inserts.append(Insert(message, anchor))
    taken = Span.union(fold.sources for fold in folds)
    folds += _grown(view, found, dropped - taken, step, replace=replace)

    return StandIns(tuple(folds), tuple(inserts), tuple(warnings))


def _tells(view: View, span: Span, message: Message) -> bool | None:
    """
    Whether it is a summary: of several entries by itself, of one if somebody else says it.
    """
    if len(span) > 1:
        return None

    return message.role != view.at(view.find(span.first)).message.role or None


def _by_gap(found: Listed) -> dict[int, list[Message]]:
    gaps: dict[int, list[Message]] = {}
    for put in found.put_in:
        gaps.setdefault(put.after, []).append(put.message)

    return gaps


def _gap(view: View, after: int, before: int, dropped: Span) -> Span:
    """
    The dropped entries between two places; a stand-in is where its first entry is.
    """
    if not dropped:
        return NOTHING
    low = view.at(after).first + 1 if after >= 0 else 1
    high = view.at(before).first - 1 if before < view.size else view.sources.last
    gap = dropped & Span.between(low, high) if low <= high else NOTHING
    for item in view.wide:
        if item.sources.isdisjoint(dropped):
            continue
        gap = gap | item.sources if low <= item.first <= high else gap - item.sources

    return gap


def _shared(view: View, gap: Span, after: int, before: int, count: int) -> list[Span]:
    """
    The gap in at most *count* parts of whole blocks, in order; the first is the largest.
    """
    if not gap or not count:
        return []
    parts: list[Span] = []
    left = gap
    starts = iter(()) if count == 1 else view.starts(before=before)
    for start in starts:
        if start <= after or len(parts) == count - 1:
            break
        entries = Span.union(view.at(place).sources for place in view.block_at(start)) & left
        if entries == left:
            break
        if entries:
            parts.append(entries)
            left = left - entries

    return [left, *reversed(parts)]


def _grown(view: View, found: Listed, dropped: Span, step: str, *, replace: bool) -> Iterator[Fold]:
    """
    The stand-ins that this very step wrote and lists again, with what it drops behind them.
    """
    for place in sorted(found.told) if dropped else ():
        item = view.at(place)
        if not _wrote(view, item, step):
            continue
        before = min((other for other in found.kept if other > place), default=view.size)
        if gap := _gap(view, place, before, dropped):
            yield Fold(item.sources | gap, item.message, replace=replace)


def _wrote(view: View, item: Item, step: str) -> bool:
    return any(fold.step == step and fold.sources == item.sources for fold in view.log.folds)


def _has_ties(message: Message) -> bool:
    return bool(message.tool_calls or message.tool_results)


def _shown(message: Message) -> str:
    text = " ".join(str(evolve(message, name=None)).split())
    return repr(text if len(text) <= 60 else f"{text[:59]}…")  # noqa: PLR2004  a line's width


def _refusal(step: str, message: Message, anchor: int, gap: Span) -> str:
    where = f"after entry {anchor}" if anchor else "at the head"
    if _has_ties(message):
        return (
            f"step {short(step)}: {_shown(message)}, put in {where}, holds tool calls or results, "
            "and a stand-in, as of results.fold, holds none; word them as text, or use custom(…) "
            "without replace=True, which puts it in at each run"
        )

    why = (
        f"and others stand for all that is dropped there ({gap})"
        if gap
        else "where nothing is dropped that may leave"
    )

    return (
        f"step {short(step)}: {_shown(message)} is put in {where}, {why}, so there is "
        "nothing to write it back for; give results.fold the items that it stands for, or use "
        "custom(…) without replace=True, which puts it in at each run"
    )


def _only_projects(step: str, message: Message, gap: Span) -> str:
    return (
        f"step {short(step)}: {_shown(message)} holds tool calls or results, so it does not "
        f"stand in for entries {gap}, which are dropped there; it is put in and never written back"
    )
