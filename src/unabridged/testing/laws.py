"""
The laws that every strategy keeps, as functions: each raises `AssertionError` where one is broken.

A law takes the strategy, a `Log`, the context and who answers its questions.
`check_strategy` holds a strategy to all of them on generated logs; these here
hold it to one, on a log of your choice. What only cuts keep stands in
`laws_of_cuts`, what concerns a store and a memory in `laws_of_memory`.
"""

import asyncio
from collections.abc import Iterator, Sequence

from attrs import evolve

from unabridged.contract import Ask, StrategyLike, TrimContext
from unabridged.errors import BudgetError
from unabridged.items import Item
from unabridged.pipeline import Custom, Pipeline, chain
from unabridged.records import Change, Drop, Fold, Insert
from unabridged.results import TrimResult
from unabridged.running import AskFunction, arun, run
from unabridged.spans import Span
from unabridged.testing.log import Log
from unabridged.testing.pairing import opens_on, pairing_problems, pairs, speaks, with_words
from unabridged.tokens import Budget, words
from unabridged.views import View

__all__ = [
    "CONTEXT",
    "algebra",
    "conservation",
    "hand_pins_stay",
    "input_untouched",
    "never_empty",
    "newest_user_stays",
    "order",
    "outcome",
    "pairs_stay_whole",
    "pending_calls_stay",
    "same_result",
    "short",
    "steps_of",
    "sync_equals_async",
    "valid",
]

CONTEXT = TrimContext(Budget(40), words)
"""What laws run in unless told otherwise: 40 words for the history."""


def short(ask: Ask) -> str:
    """
    A model for laws: its answer is one word, and tells what it was asked.

    >>> short(Ask(()))
    '0'
    """
    return f"{len(ask.items)}{'+' if ask.previous else ''}"


def outcome(
    strategy: StrategyLike,
    view: View,
    context: TrimContext = CONTEXT,
    ask: AskFunction = short,
) -> TrimResult:
    """
    What the strategy makes of the view; where it is strict and over its limit, nothing.

    >>> from unabridged import Window
    >>> from unabridged.testing import talk, view_of
    >>> outcome(Window(2), view_of(talk(2))).text()
    'user: q2\\nassistant: a2'
    """
    try:
        return run(strategy, view, context, ask)
    except BudgetError:
        return TrimResult(view, count=context.count)


def steps_of(strategy: StrategyLike) -> tuple[object, ...]:
    """
    The steps of a strategy, also those that stand in a step, such as a guard's.

    >>> from unabridged import MaxRounds, Sparing, Window
    >>> steps_of(Window(4) | Sparing(MaxRounds(1), first=1))
    (Window(4), Sparing(MaxRounds(1), first=1), MaxRounds(1))
    """
    return tuple(_steps(chain(strategy)))


def _steps(strategy: object) -> Iterator[object]:
    if isinstance(strategy, Pipeline):
        for step in strategy.steps:
            yield from _steps(step)
        return
    yield strategy
    inner = getattr(strategy, "strategy", None)
    if inner is not None:
        yield from _steps(inner)


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
            assert seq not in after, f"entry {seq} is in two items of the view"
            after[seq] = item
    assert after.keys() <= then.keys(), f"entries {after.keys() - then.keys()} came from nowhere"
    for seq, item in then.items():
        named = [change for change in result.changes if seq in _sources(change)]
        _owned(seq, item, after.get(seq), [c for c in named if isinstance(c, Drop | Fold)])
        told = result.why(seq)
        places = [told.find(change.step) for change in named]
        assert places == sorted(places), f"why({seq}) tells its changes out of order: {told}"
        assert -1 not in places, f"why({seq}) leaves out a change: {told}"
    for change in result.changes:
        lost = _sources(change) - before.sources
        assert not lost, f"a change names {lost}, which the view does not hold: {change}"


def _sources(change: Change) -> Span:
    return Span() if isinstance(change, Insert) else change.sources


def _owned(seq: int, then: Item, now: Item | None, named: list[Drop | Fold]) -> None:
    match named[-1] if named else None:
        case Drop():
            assert now is None, f"entry {seq} was dropped and is in the view"
        case Fold(_, into):
            assert now is not None, f"entry {seq} was folded and is not in the view"
            assert now.stands_in, f"entry {seq} was folded; its item is no stand-in"
            assert now.message == into, f"entry {seq}: another message stands in: {now.message}"
        case _:
            assert now is not None, f"entry {seq} left and no change names it"
            assert now.message == then.message, f"entry {seq} is reworded and no change names it"


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
        assert firsts == sorted(firsts), f"the items stand in the order {firsts}"
        seen = Span()
        for place, item in enumerate(view):
            if not item.sources and item.after:
                assert item.after in seen, f"put in at {place}, before its anchor {item.after}"
            elif not item.sources:
                assert not seen, f"put in at the head, and stands at {place}"
            seen = seen | item.sources


def pairs_stay_whole(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    Calls and their results, and whole blocks, stay together, leave together, or fold together.

    >>> from unabridged import Window
    >>> from unabridged.testing import Log, call, result, user
    >>> pairs_stay_whole(Window(1), Log.of([user("a"), call("c1"), result("c1")]))
    """
    before = log.view()
    tied, _ = pairs(log.messages)
    own = _fates(before, before)
    for caller, seq in tied:
        same = own.get(caller) == own.get(seq)
        late = before.log.decided and not same and not own.get(caller) == "kept"
        assert same or late, f"the log's own view parts {caller} from {seq}"
    after = _fates(before, outcome(strategy, before, context, ask).view)
    for caller, seq in tied:
        if own.get(caller) == own.get(seq) == "kept":
            assert after[caller] == after[seq], (
                f"entry {caller} is {after[caller]} and what it is tied to, {seq}, {after[seq]}"
            )
    for block in before.blocks:
        fates = {after[item.first] for item in block if item.sources}
        assert len(fates) < 2, f"the block of entry {block[0].sources} is parted: {fates}"  # noqa: PLR2004


def _fates(before: View, after: View) -> dict[int, str]:
    """
    What became of each entry of the view before: kept, dropped, or part of which stand-in.
    """
    fates = {seq: "dropped" for item in before for seq in item.sources}
    for item in after:
        fate = f"in the stand-in of {item.sources}" if item.wide else "kept"
        fates.update(dict.fromkeys(item.sources, fate))

    return fates


def hand_pins_stay(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    What is pinned stays, with its block: by hand always, by its role unless `pin_system=False`.

    >>> from unabridged import Window
    >>> from unabridged.testing import Log, talk
    >>> hand_pins_stay(Window(2), Log.of(talk(3), pinned=[1]))
    """
    before = log.view()
    lax = any(getattr(step, "pin_system", True) is False for step in steps_of(strategy))
    after = _fates(before, outcome(strategy, before, context, ask).view)
    for block in before.blocks:
        pins = {item.pin for item in block} - ({"", "role"} if lax else {""})
        for item in block if pins else ():
            fate = after[item.first] if item.sources else "kept"
            whole = fate == "kept" or (item.wide and fate.endswith(f" {item.sources}"))
            assert whole, f"entry {item.sources} is pinned ({', '.join(pins)}) and {fate}"


def pending_calls_stay(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    A call that waits for its result stays, with its block.

    >>> from unabridged import Window
    >>> from unabridged.testing import Log, call, user
    >>> pending_calls_stay(Window(1), Log.of([user("a"), call("c1"), user("b"), user("c")]))
    """
    _, unanswered = pairs(log.messages)
    spoken = [seq for seq, message in enumerate(log.messages, start=1) if speaks(message)]
    pending = spoken[-1] if spoken and spoken[-1] in unanswered else 0
    before = log.view()
    own = _fates(before, before)
    if own.get(pending) != "kept":
        return
    after = _fates(before, outcome(strategy, before, context, ask).view)
    block = next(block for block in before.blocks if any(pending in i.sources for i in block))
    for item in block:
        fate = after[item.first] if item.sources else "kept"
        assert fate == own.get(item.first, "kept"), (
            f"entry {item.sources} is {fate}, and a call in its block is pending"
        )


def newest_user_stays(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    The newest user message stays, with its block, except under `opening="anywhere"`.

    >>> from unabridged import Window
    >>> from unabridged.testing import Log, assistant, user
    >>> newest_user_stays(Window(1), Log.of([user("a"), assistant("b"), assistant("c")]))
    """
    if any(getattr(step, "opening", "") == "anywhere" for step in steps_of(strategy)):
        return
    before = log.view()
    said = [item for item in before if len(item.sources) == 1 and _asks(log, item)]
    if not said:
        return
    newest = said[-1]
    after = _fates(before, outcome(strategy, before, context, ask).view)
    fate = after[newest.first]
    assert fate == "kept", f"entry {newest.sources}, the newest user message, is {fate}"


def _asks(log: Log, item: Item) -> bool:
    return with_words(log.messages[item.first - 1])


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
    assert items == tuple(before) == tuple(twin), "the items of the view were changed"
    assert [repr(i) for i in items] == [repr(i) for i in twin], "a message was changed in place"
    assert (notes, state) == (before.notes, before.log), "the log's state was changed"
    assert result.before == twin, "the result is of another view than the one that was given"


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
        assert first == again, f"it gave {_changes(first)}, then {_changes(again)}"
        assert first.messages == again.messages, "the same changes give other messages"


def _changes(result: TrimResult) -> str:
    return "; ".join(map(repr, result.changes)) or "no change"


def never_empty(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    A result is never empty while the view has a message that is not pinned: one of those stays.

    >>> from unabridged import Window
    >>> from unabridged.testing import Log, talk
    >>> never_empty(Window(1), Log.of(talk(3)))
    """
    before = log.view()
    after = outcome(strategy, before, context, ask).view
    assert len(after) or not len(before), (
        f"the view is empty, and {len(before)} messages were there"
    )


def valid(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    Trimming adds no problem: no result without its call, no call without its result.

    Nor does a view start on an assistant or a tool where the log's own starts on a
    user, except under `opening="anywhere"` and where a function chose the items.

    >>> from unabridged import Window
    >>> from unabridged.testing import Log, call, result, user
    >>> valid(Window(1), Log.of([user("a"), call("c1"), result("c1")]))
    """
    before = log.view()
    after = outcome(strategy, before, context, ask).view
    new = _problems(after) - _problems(before)
    assert not new, f"new problems: {sorted(new)}"
    steps = steps_of(strategy)
    free = any(
        isinstance(step, Custom) or getattr(step, "opening", "") == "anywhere" for step in steps
    )
    if free or opens_on(before.messages) in {"assistant", "tool"}:
        return
    heads = (item for item in after if item.stands_in or opens_on([item.message]))
    head = next(heads, None)
    starts = head is None or head.stands_in or head.message.role not in {"assistant", "tool"}
    assert starts, f"the view starts on entry {head and head.sources}, an assistant's or a tool's"


def _problems(view: View) -> set[tuple[str, str, str]]:
    return {
        (problem.rule, str(view[problem.place].sources), problem.id)
        for problem in pairing_problems(view.messages)
    }


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
    assert sync == other, f"run gave {_changes(sync)}, arun {_changes(other)}"


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
        assert whole == other, f"{whole!r} is not {other!r}"
        assert repr(whole) == repr(other), f"{whole!r} does not print as {other!r}"
    try:
        first = run(a, log.view(), context, ask)
        parts = first.then(run(b, first.view, context, ask))
        both = run(a | b, log.view(), context, ask)
    except BudgetError:
        return
    assert parts == both, f"one by one: {_changes(parts)}; as a chain: {_changes(both)}"
    assert parts.messages == both.messages, "the chain's messages are others"
    assert evolve(parts, warnings=()) == evolve(both, warnings=()), "only the warnings differ"
