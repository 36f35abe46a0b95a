"""
The laws of strategies that cut: what they keep, in which order of limits, and within which.

Cuts are `Window`, `MaxRounds` and `TokenBudget`, and chains of them.
"""

from typing import Any, TypeGuard

from attrs import evolve

from unabridged.contract import Ask, StrategyLike, TrimContext
from unabridged.items import Block
from unabridged.records import Drop
from unabridged.running import AskFunction
from unabridged.spans import Span
from unabridged.strategies.guards import Sparing, When
from unabridged.strategies.head_and_tail import HeadAndTail
from unabridged.strategies.max_rounds import MaxRounds
from unabridged.strategies.sections import Sections
from unabridged.strategies.token_budget import TokenBudget
from unabridged.strategies.window import Window
from unabridged.testing.log import Log
from unabridged.testing.trial import CONTEXT, lists_items, must, outcome, short, steps_of
from unabridged.views import View, apply

__all__ = [
    "Cutting",
    "idempotence",
    "is_cut",
    "monotone",
    "openers_stay",
    "summaries_leave_last",
    "within_the_limit_or_over_says",
]

Cutting = Window | MaxRounds | TokenBudget
_ALSO = (HeadAndTail, Sections)


def is_cut(step: object) -> TypeGuard[Cutting]:
    """
    Whether the laws of cuts are its laws.

    >>> is_cut(Window(3))
    True
    """
    return isinstance(step, Window | MaxRounds | TokenBudget)


def idempotence(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    A second run changes nothing: for single strategies that ask and insert nothing, and for cuts.

    A step that lists the items it keeps is free to keep others of those the next time.

    >>> from unabridged.testing import talk
    >>> idempotence(Window(2), Log.of(talk(3)))
    """
    steps = steps_of(strategy)
    if any(getattr(step, "asks", False) for step in steps):
        return
    if len(steps) > 1 and not all(map(is_cut, steps)):
        return
    asked: list[Ask] = []

    def heard(question: Ask) -> str:
        asked.append(question)
        return str(ask(question))

    first = outcome(strategy, log.view(), context, heard)
    if asked or lists_items(strategy, log.view(), context, ask):
        return
    if len(first.view) > len(first.view.sources) and any(not item.sources for item in first.view):
        return
    again = outcome(strategy, first.view, context, ask)
    gone = first.view.sources - again.view.sources
    must(not gone, "run again, it lets go of {} too", gone)
    must(first.messages == again.messages, "run again, it gives other messages")


def monotone(
    strategy: StrategyLike,
    log: Log,
    context: TrimContext = CONTEXT,
    ask: AskFunction = short,
    *,
    more: int = 1,
) -> None:
    """
    A cut without a low mark or clips keeps, with a limit *more* above its own, all that it kept.

    All summaries; and where it keeps no further summary for it, all messages.

    >>> from unabridged.testing import talk
    >>> monotone(Window(2), Log.of(talk(3)))
    """
    larger = _larger(strategy, more)
    if larger is None:
        return
    view = log.view()
    fewer = outcome(strategy, view, context, ask).view
    wider = outcome(larger, view, context, ask).view
    told, also = _summaries(fewer), _summaries(wider)
    lost = (fewer.sources if told == also else told) - wider.sources
    must(not lost, "{!r} lets go of {}, which {!r} keeps", larger, lost, strategy)


def _summaries(view: View) -> Span:
    return Span.union(item.sources for item in view if item.summary)


def summaries_leave_last(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    A cut keeps a summary where it fits beside what must stay; where it leaves, a warning names it.

    >>> from unabridged.testing import talk
    >>> summaries_leave_last(Window(2), Log.of(talk(3)))
    """
    if not is_cut(strategy) or strategy.strict or strategy.at_least or strategy.down_to:
        return
    before = log.view()
    result = outcome(strategy, before, context, ask)
    left = [item for item in before if item.summary and item.first not in result.view.sources]
    for item in left:
        named = any(str(item.sources.last) in warning for warning in result.warnings)
        must(named, "the summary of entries {} left, and no warning says so", item.sources)
    if not left:
        return
    loose: Any
    match strategy:
        case MaxRounds():
            must(False, "a summary is no round, and left: {}", left[-1])  # noqa: FBT003  it is a law
            return
        case Window():
            loose = evolve(strategy, last=1)
        case TokenBudget():
            if strategy.clip:
                return
            loose = evolve(strategy, limit=1, share=None)
    stays = outcome(loose, before, context, ask).view.sources
    stays |= _summaries(result.view) | left[-1].sources
    limit, size = _measured(
        strategy, before, apply(before, [Drop(before.sources - stays)]), context
    )
    must(limit is None or size > limit, "{} would fit, and left", left[-1])


def _larger(strategy: object, more: int) -> Any:
    if not is_cut(strategy) or strategy.down_to is not None or strategy.strict:
        return None
    if getattr(strategy, "clip", ()):  # with less room it clips, and then has more for old messages
        return None
    match strategy:
        case Window(last) | MaxRounds(last):
            return None if last is None else evolve(strategy, last=last + more)
        case TokenBudget(limit):
            return None if limit is None else evolve(strategy, limit=limit + more)


def within_the_limit_or_over_says(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    What a cut leaves is within its limit, or `over` says by how much it is not.

    >>> from unabridged.testing import talk
    >>> within_the_limit_or_over_says(TokenBudget(1), Log.of(talk(3)))
    """
    if not is_cut(strategy) or strategy.strict:
        return
    before = log.view()
    result = outcome(strategy, before, context, ask)
    limit, size = _measured(strategy, before, result.view, context)
    if limit is None:
        return
    over = result.over
    if over is None:
        must(size <= limit, "{} are left, the limit is {}, and nothing says so", size, limit)
        return
    must(size > limit, "{} are left, within {}, and it says: {}", size, limit, over)
    must(
        (over.limit, over.needed) == (limit, size),
        "{} are left of a limit of {}, and it says: {}",
        size,
        limit,
        over,
    )
    must(over.what, "it is over and does not say what could not go")


def _measured(
    cut: Cutting, before: View, after: View, context: TrimContext
) -> tuple[int | None, int]:
    if isinstance(cut, TokenBudget):
        weigh = cut.count or context.count
        history = context.budget.history if context.budget else 0
        limit = cut.limit if cut.share is None else max(1, int(cut.share * history))
        return limit, sum(weigh(item.message) for item in after)
    free = _without_pins(cut, before)
    if isinstance(cut, Window):
        return cut.last, sum(item.first in free or not item.sources for item in after)
    free -= {item.first for item in before.summaries}
    openers = before.log.links.asked in before.sources
    count, counts = 0, False
    for block in reversed(after.blocks):
        counts = counts or any(item.first in free for item in block)
        if not openers or block[0].opens:
            count, counts = count + counts, False

    return cut.last, count + counts


def _without_pins(cut: Window | MaxRounds, view: View) -> set[int]:
    """
    The first entries of the items that count.
    """
    kinds = {"hand", "held", "compaction"} | ({"role"} if cut.pin_system else set())
    pinned = set() if cut.count_pins else kinds
    return {
        item.first
        for block in view.blocks
        if not any(item.pin in pinned for item in block)
        for item in block
    }


def openers_stay(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    After a cut, what is kept brings the user message that opened its round.

    So it is for cuts, for `Sections` and `HeadAndTail`, also in a guard. So it is under
    `opening="question"`; under the others only pins and pending calls do.
    Where that message was taken out, the one that opened the round before stands for it.
    What a provider's compaction item begins brings none: the item stands for it.

    >>> from unabridged.testing import assistant, user
    >>> openers_stay(Window(1), Log.of([user("a"), assistant("b"), assistant("c")]))
    """
    steps = [step for step in steps_of(strategy) if not isinstance(step, Sparing | When)]
    if not steps or not all(is_cut(step) or isinstance(step, _ALSO) for step in steps):
        return
    asked = all(getattr(step, "opening", "question") == "question" for step in steps)
    lax = any(getattr(step, "pin_system", True) is False for step in steps)
    before = log.view()
    after = outcome(strategy, before, context, ask).view
    for block in before.blocks:
        head = block[0]
        opener = _opener(before, head.opener)
        if not opener or not block[-1].sources or head.pin == "compaction":
            continue
        pins = {item.pin for item in block} - ({"", "role"} if lax else {""})
        brings = asked or pins or _waits(before, block)
        if brings and head.message.role not in {"system", "developer"} and _there(after, block):
            must(
                opener in after.sources,
                "entry {} stays, and entry {}, which opened its round, left",
                head.sources,
                opener,
            )


def _opener(view: View, opener: int) -> int:
    """
    The entry that opens a round in the view: *opener*, or the newest one before it; 0 for none.
    """
    if opener in view.sources:
        return opener

    return max((item.first for item in view if item.opens and item.first < opener), default=0)


def _waits(view: View, block: Block) -> bool:
    return any(view.log.links.pending in item.sources for item in block)


def _there(view: View, block: Block) -> bool:
    return any(item.sources and item.first in view.sources for item in block)
