"""
The laws that every strategy keeps, as functions: each raises `AssertionError` where one is broken.

A law takes the strategy, a `Log`, the context and who answers its questions.
`check_strategy` holds a strategy to all of them on generated logs; these here
hold it to one, on a log of your choice. What only cuts keep stands in
`laws_of_cuts`, what may not leave in `laws_of_staying`, what concerns a store
and a memory in `laws_of_memory`.
"""

import asyncio
from collections.abc import Sequence

from attrs import evolve

from unabridged.contract import Ask, StrategyLike, TrimContext
from unabridged.errors import BudgetError
from unabridged.items import Block, Item
from unabridged.pipeline import chain
from unabridged.records import Change, Drop, Fold, Insert
from unabridged.results import TrimResult
from unabridged.running import AskFunction, arun, run
from unabridged.spans import Span
from unabridged.testing.log import Log
from unabridged.testing.trial import CONTEXT, must, outcome, short

__all__ = [
    "algebra",
    "conservation",
    "input_untouched",
    "order",
    "same_result",
    "sync_equals_async",
]


def conservation(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    Every entry of the view before is after in one untouched item, in one stand-in, or dropped.

    The last change that names it says which, and `why` tells of each change.

    >>> from unabridged import Window
    >>> from unabridged.testing import Log, talk
    >>> conservation(Window(2), Log.of(talk(3)))
    """
    before = log.view()
    result = outcome(strategy, before, context, ask)
    then = {seq: item for item in before for seq in item.sources}
    after: dict[int, Item] = {}
    for item in result.view:
        for seq in item.sources:
            must(seq not in after, "entry {} is in two items of the view", seq)
            after[seq] = item
    must(after.keys() <= then.keys(), "entries {} came from nowhere", after.keys() - then.keys())
    for seq, item in then.items():
        named = [change for change in result.changes if seq in _sources(change)]
        _owned(seq, item, after.get(seq), [c for c in named if isinstance(c, Drop | Fold)])
        told = result.why(seq)
        places = [told.find(change.step) for change in named]
        must(places == sorted(places), "why({}) tells its changes out of order: {}", seq, told)
        must(-1 not in places, "why({}) leaves out a change: {}", seq, told)
    for change in result.changes:
        lost = _sources(change) - before.sources
        must(not lost, "a change names {}, which the view does not hold: {}", lost, change)


def _sources(change: Change) -> Span:
    return Span() if isinstance(change, Insert) else change.sources


def _owned(seq: int, then: Item, now: Item | None, named: list[Drop | Fold]) -> None:
    last = named[-1] if named else None
    if isinstance(last, Drop):
        must(now is None, "entry {} was dropped and is in the view", seq)
    elif now is None:
        must(now, "entry {} left, and what names it last is {}", seq, last or "nothing")
    elif isinstance(last, Fold):
        must(now.stands_in, "entry {} was folded; its item is no stand-in", seq)
        must(now.message == last.into, "entry {}: another stands in: {}", seq, now.message)
    else:
        must(now.message == then.message, "entry {} is reworded and no change names it", seq)


def order(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    A view is ordered by the first entry of each item; what was put in follows its anchor's block.

    >>> from unabridged import Window
    >>> from unabridged.testing import Log, talk
    >>> order(Window(2), Log.of(talk(3)))
    """
    before = log.view()
    for view in (before, outcome(strategy, before, context, ask).view):
        firsts = [item.first for item in view if item.sources]
        must(firsts == sorted(firsts), "the items stand in the order {}", firsts)
        seen = Span()
        for place, item in enumerate(view):
            if not item.sources and item.after:
                must(item.after in seen, "put in at {}, before its anchor {}", place, item.after)
            elif not item.sources:
                must(not seen, "put in at the head, and stands at {}", place)
            seen = seen | item.sources
        for block in before.blocks:
            mates = [place for place, item in enumerate(view) if _meet(item, block)]
            between = view[mates[0] : mates[-1]] if mates else ()
            parted = [item.message for item in between if not item.sources]
            must(not parted, "put into the block of entry {}: {}", block[0].sources, parted)


def _meet(item: Item, block: Block) -> bool:
    return any(not item.sources.isdisjoint(mate.sources) for mate in block)


def input_untouched(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    A strategy changes nothing that it is given.

    >>> from unabridged import Window
    >>> from unabridged.testing import Log, talk
    >>> input_untouched(Window(2), Log.of(talk(3)))
    """
    before, twin = log.view(), log.view()
    items, notes, state = tuple(before), before.notes, before.log
    result = outcome(strategy, before, context, ask)
    must(items == tuple(before) == tuple(twin), "the items of the view were changed")
    must([repr(i) for i in items] == [repr(i) for i in twin], "a message was changed in place")
    must((notes, state) == (before.notes, before.log), "the log's state was changed")
    must(result.before == twin, "the result is of another view than the one that was given")


def same_result(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    The same view and context give the same result.

    >>> from unabridged import Window
    >>> from unabridged.testing import Log, talk
    >>> same_result(Window(2), Log.of(talk(3)))
    """
    first = outcome(strategy, log.view(), context, ask)
    for _ in range(2):
        again = outcome(strategy, log.view(), context, ask)
        must(first == again, "it gave {}, then {}", _changes(first), _changes(again))
        must(first.messages == again.messages, "the same changes give other messages")


def _changes(result: TrimResult) -> str:
    return "; ".join(map(repr, result.changes)) or "no change"


def sync_equals_async(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    `run` and `arun` give the same result.

    >>> from unabridged import Window
    >>> from unabridged.testing import Log, talk
    >>> sync_equals_async(Window(2), Log.of(talk(3)))
    """

    async def answer(question: Ask) -> str:
        return str(ask(question))

    sync = outcome(strategy, log.view(), context, ask)
    try:
        other = asyncio.run(arun(strategy, log.view(), context, answer))
    except BudgetError:
        return
    must(sync == other, "run gave {}, arun {}", _changes(sync), _changes(other))


def algebra(
    strategies: Sequence[StrategyLike],
    log: Log,
    context: TrimContext = CONTEXT,
    ask: AskFunction = short,
) -> None:
    """
    However a chain is written it is one value, and it does what its steps do one after the other.

    >>> from unabridged import MaxRounds, TokenBudget, Window
    >>> from unabridged.testing import Log, talk
    >>> algebra([MaxRounds(3), Window(3), TokenBudget(30)], Log.of(talk(5)))
    """
    a, b, c = (chain(each) for each in (*strategies, *strategies)[:3])
    whole = chain(*strategies[:3]) if len(strategies) >= 3 else chain(a, b, c)  # noqa: PLR2004
    for other in ((a | b) | c, a | (b | c), chain([a, b, c]), chain([a, [b, [c]]])):
        must(whole == other, "{!r} is not {!r}", whole, other)
        must(repr(whole) == repr(other), "{!r} does not print as {!r}", whole, other)
    try:
        first = run(a, log.view(), context, ask)
        parts = first.then(run(b, first.view, context, ask))
        both = run(a | b, log.view(), context, ask)
    except BudgetError:
        return
    must(parts == both, "one by one: {}; as a chain: {}", _changes(parts), _changes(both))
    must(parts.messages == both.messages, "the chain's messages are others")
    must(evolve(parts, warnings=()) == evolve(both, warnings=()), "only the warnings differ")
