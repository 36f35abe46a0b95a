"""
The law of those that ask a model: nothing is told that was not shown, and nothing is lost.
"""

from collections.abc import Iterable, Iterator, Mapping

from unabridged.contract import Ask, StrategyLike, TrimContext
from unabridged.items import Item
from unabridged.links import is_bare_result
from unabridged.messages import Message
from unabridged.records import Drop, Fold
from unabridged.results import TrimResult
from unabridged.running import AskFunction
from unabridged.spans import Span
from unabridged.strategies.summarize import Summarize
from unabridged.testing.log import Log
from unabridged.testing.trial import CONTEXT, must, outcome, short, steps_of
from unabridged.transcripts import PIECE, words_of
from unabridged.views import View

__all__ = ["coverage", "covered_once", "opens_on_next", "within_or_over_says"]


def coverage(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    Each message is kept, or told after it was shown whole once, or named as dropped.

    What an answer in the notes, or a summary in the log, tells of was shown before.

    >>> from unabridged import Summarize
    >>> from unabridged.testing import talk
    >>> coverage(Summarize(2), Log.of(talk(3)))
    """
    asked: list[Ask] = []

    def recording(request: Ask) -> object:
        asked.append(request)
        return ask(request)

    before = log.view()
    result = outcome(strategy, before, context, recording)
    after = {seq: item for item in result.view for seq in item.sources}
    known = Span.union(note.sources for note in before.notes if note.kind == "summary")
    # what one step failed to tell is shown by the next that asks
    most = max(1, sum(_asks(step) for step in steps_of(strategy)))
    stood = {item.sources: item.message for item in before}
    told: list[Item] = []
    for item in before:
        for seq in item.sources:
            now = after.get(seq)
            if now is None:
                dropped = any(isinstance(c, Drop) and seq in c.sources for c in result.changes)
                must(dropped, "entry {} left, and no change says that it was dropped", seq)
            elif _tells(result, now, seq):
                told.append(item)
                shown = _showings(asked, seq, stood)
                earlier = seq in known or item.wide
                once = shown <= most if shown else earlier
                must(once, "entry {} was shown {} times", seq, shown)
    covered_once(asked, told)  # what a failure kept from being told may be shown in part


def within_or_over_says(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    `Summarize(within=…)` leaves no more than that, pins and summary included, or `over` says so.

    >>> from unabridged import Summarize
    >>> from unabridged.testing import talk
    >>> within_or_over_says(Summarize(within=4), Log.of(talk(3)))
    """
    if not isinstance(strategy, Summarize) or strategy.within is None:
        return
    count = strategy.count or context.count
    result = outcome(strategy, log.view(), context, ask)
    size = sum(count(item.message) for item in result.view)
    said = None if result.over is None else (result.over.limit, result.over.needed)
    expected = (strategy.within, size) if size > strategy.within else None
    must(said == expected, "{} are left of {}, and it says {}", size, strategy.within, result.over)


def opens_on_next(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    Under `Summarize(opening="next")` no answer or result comes first after a summary just made.

    Where there is a message that may: else the plain cut stands. Pins may come first.

    >>> from unabridged import Summarize
    >>> from unabridged.testing import talk
    >>> opens_on_next(Summarize(1, opening="next"), Log.of(talk(3)))
    """
    if not isinstance(strategy, Summarize) or strategy.opening != "next":
        return
    before = log.view()
    result = outcome(strategy, before, context, ask)
    if not result.changes or result.warnings or not result.notes:
        return
    told = Span.union(note.sources for note in result.notes)
    kept = [block for block in result.view.blocks if not all(item.wide for item in block)]
    after = [block for block in kept if block[0].first > told.last]
    if not after or any(item.pin for item in after[0]) or _waits(before, after[0]):
        return
    heads = [_responds(block[0]) for block in after]
    must(not heads[0] or all(heads), "entry {} comes first after it", after[0][0].first)


def _responds(item: Item) -> bool:
    """
    Whether a transcript may not open on it; instructions open nothing either.
    """
    role = item.message.role
    if not item.stands_in and role in {"system", "developer"}:
        return True

    return role in {"assistant", "tool"} or is_bare_result(item.message)


def _waits(view: View, block: Iterable[Item]) -> bool:
    return any(view.log.links.pending in item.sources for item in block)


def covered_once(asked: Iterable[Ask], items: Iterable[Item]) -> None:
    """
    What was shown of each of the *items* in pieces is, joined, all of its words.

    >>> from unabridged.testing import user, view_of
    >>> view = view_of([user("hi")])
    >>> covered_once([Ask(tuple(view))], view)
    """
    pieces: dict[Span, list[str]] = {}
    for request in asked:
        for item in request.items:
            if _is_piece(item):
                pieces.setdefault(item.sources, []).append(words_of(item))
    for item in items:
        if item.sources in pieces:
            whole, told = words_of(item), "".join(pieces[item.sources])
            must(whole == told, "entry {} was shown as {!r}, it is {!r}", item.sources, told, whole)


def _asks(step: object) -> bool:
    return bool(getattr(step, "asks", False)) and not hasattr(step, "strategy")


def _tells(result: TrimResult, item: Item, seq: int) -> bool:
    """
    Whether the item is a summary that this result made.
    """
    return (
        item.wide
        and "summary" in item.message.metadata.value
        and any(
            isinstance(change, Fold) and seq in change.sources and change.into == item.message
            for change in result.changes
        )
    )


def _showings(asked: Iterable[Ask], seq: int, stood: Mapping[Span, Message]) -> int:
    """
    How often an entry was shown as itself, or as it *stood* before; pieces of it count once.
    """
    return len(set(_places(asked, seq, stood)))


def _places(asked: Iterable[Ask], seq: int, stood: Mapping[Span, Message]) -> Iterator[object]:
    for number, request in enumerate(asked):
        for item in request.items:
            if seq in item.sources and not _is_retold(item, stood):
                yield "in pieces" if _is_piece(item) else number


def _is_piece(item: Item) -> bool:
    return PIECE in item.message.metadata.value


def _is_retold(item: Item, stood: Mapping[Span, Message]) -> bool:
    """
    Whether it is a text made of entries meanwhile: by a model, or a summary of an earlier step.
    """
    known = stood.get(item.sources)
    if _is_piece(item):
        return item.wide and known is None
    if item.stands_in and "summary" not in item.message.metadata.value:
        return False  # as an earlier step words it

    return item.message != known
