"""
Results in words: what left, by which step, and why.
"""

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from unabridged.broken import broken
from unabridged.errors import ConfigError
from unabridged.records import Change, Drop, Fold, Hold, Insert
from unabridged.spans import Span
from unabridged.text import TOO_LARGE, got
from unabridged.views import View
from unabridged.writable import written

if TYPE_CHECKING:
    from unabridged.trim_result import TrimResult

__all__ = ["explanation", "one_line", "reason_lines", "some_entries"]


def reason_lines(before: View, changes: Iterable[Change], after: View, seq: int) -> Iterator[str]:
    """
    Why entry *seq* is or is not in the view *after*: the log's reasons, then each change's.
    """
    if not isinstance(seq, int) or isinstance(seq, bool) or abs(seq) >= TOO_LARGE:
        msg = f"why: expected the number of an entry (int), {got(seq)}"
        raise ConfigError(msg)
    if not 0 < seq <= before.log.seq:
        yield f"entry {seq}: the log has no such entry, it ends at {before.log.seq}"
        return
    told = False
    for line in _in_the_log(before, seq):
        told = True
        yield line
    for change in changes:
        if isinstance(change, Insert) or seq not in change.sources:
            continue
        told = True
        yield f"entry {seq} {_verb(change)}{_by(change)}"
    place = after.find(seq)
    if place >= 0 and (item := after.at(place)).pin:
        told = True
        yield f"entry {seq} stays: {_pinned(item.pin)}"
    if not told:
        yield f"entry {seq} is in the view as it was appended"


def _pinned(pin: str) -> str:
    if pin == "compaction":
        return "it holds a provider's compaction item, which stands for what came before it"

    return "pinned" if pin == "held" else f"pinned by {pin}"


def _in_the_log(before: View, seq: int) -> Iterator[str]:
    for gone in before.log.gone:
        if seq in gone.sources:
            step = f" by {gone.step}" if gone.step else ""
            reason = f": {gone.reason}" if gone.reason else ""
            yield f"entry {seq} left the log's view{step} (record {gone.rec}){reason}"
    for fold in before.log.folds:
        if seq in fold.sources:
            yield f"entry {seq} {_verb(fold)}{_by(fold)}, written back"
    if seq in before.log.lost:
        yield f"entry {seq} was deleted: the store keeps a limited number (retain=)"


def _verb(change: Change) -> str:
    match change:
        case Fold(sources) if len(sources) == 1:
            return "is reworded"
        case Fold(sources):
            return f"is folded into one message with {sources}"
        case Hold():
            return "is held"
        case _:
            return "left"


def _by(change: Change) -> str:
    step = f" by {change.step}" if change.step else ""
    return step + (f": {change.reason}" if change.reason else "")


def explanation(result: "TrimResult") -> str:
    """
    The result as lines: what is in the context, what each step did, what went otherwise.
    """
    before, after = result.before, result.view
    beside = result.estimated - result.tokens
    also = f", and {beside:_} billed each time beside them" if beside else ""
    lines = [f"{len(after)} of {len(before)} messages, {result.tokens:_} tokens{also}"]
    lines += _steps(result)
    pins = [str(item.sources) for item in after if item.pin and item.sources]
    if pins:
        lines.append(f"pinned: {', '.join(pins)}")
    if (kept := result.kept).out_of:
        lines.append(
            f"prefix: {kept.messages} of the {kept.out_of} messages sent before are its "
            f"beginning ({kept.tokens:_} tokens)"
        )
    if result.over is not None:
        lines.append(f"over: {result.over}")
    if result.usage is not None:
        lines.append(f"usage: {result.usage}")
    if what := broken(result):
        lines.append(f"warning: {what}")
    lines += [f"warning: {warning}" for warning in result.warnings]

    return "\n".join(lines)


def _steps(result: "TrimResult") -> Iterator[str]:
    """
    What each change did; what a step reworded for one reason is told at once.
    """
    writes, _ = written(result.before, result.changes)
    not_said = ", only projected (what this step wrote of it before was reverted)"
    said = f", written back (record {result.rec})" if result.rec else ", to be written back"

    def line(change: Change) -> tuple[Change | None, str, str, str]:
        mark = said if change in writes else not_said if change.replace else ""
        alone = None if _rewords(change) else change

        return alone, change.step or "a step", mark, change.reason

    for (change, step, mark, why), alike in itertools.groupby(result.changes, line):
        reason = f": {why}" if why else ""
        match change:
            case None:
                reworded = Span.union(fold.sources for fold in alike if isinstance(fold, Fold))
                yield f"{step}: {some_entries(reworded)} reworded{mark}{reason}"
            case Insert(into, anchor):
                where = f"after entry {anchor}" if anchor else "at the head"
                yield f"{step}: put in {where}: {one_line(str(into))}{reason}"
            case Drop(sources):
                yield f"{step}: {some_entries(sources)} left{mark}{reason}"
            case Fold(sources, into):
                text = one_line(into.text)
                yield f"{step}: {some_entries(sources)} folded into {text!r}{mark}{reason}"
            case Hold(sources):
                yield f"{step}: {some_entries(sources)} held{reason}"


def _rewords(change: Change) -> bool:
    return isinstance(change, Fold) and len(change.sources) == 1


def some_entries(sources: Span) -> str:
    """
    The entries in words: how many, and which; of many runs the first ones and the last.
    """
    count = len(sources)
    runs = str(sources).split(", ")
    if len(runs) > 12:  # noqa: PLR2004  what a line holds
        runs[9:-1] = ["…"]

    return f"entry {sources}" if count == 1 else f"{count} entries ({', '.join(runs)})"


def one_line(text: str) -> str:
    """
    The beginning of the text.
    """
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"  # noqa: PLR2004  a line's width
