"""
The laws of what may not leave a view, and of what may not be parted in it.
"""

from unabridged.contract import StrategyLike, TrimContext
from unabridged.items import Item
from unabridged.pipeline import Custom
from unabridged.running import AskFunction
from unabridged.testing.log import Log
from unabridged.testing.pairing import opens_on, pairing_problems, pairs, speaks, with_words
from unabridged.testing.trial import CONTEXT, must, outcome, short, steps_of
from unabridged.views import View

__all__ = [
    "hand_pins_stay",
    "never_empty",
    "newest_user_stays",
    "pairs_stay_whole",
    "pending_calls_stay",
    "valid",
]


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
        late = before.log.decided and not same and own.get(caller) != "kept"
        must(same or late, "the log's own view parts {} from {}", caller, seq)
    after = _fates(before, outcome(strategy, before, context, ask).view)
    for caller, seq in tied:
        if own.get(caller) == own.get(seq) == "kept":
            must(
                after[caller] == after[seq],
                "entry {} is {} and what it is tied to, {}, {}",
                caller,
                after[caller],
                seq,
                after[seq],
            )
    for block in before.blocks:
        seqs = [item.first for item in block if item.sources]
        # a stand-in that a late result left inside the block is kept where it is as it was
        fates = {"kept" if after[seq] == own[seq] else after[seq] for seq in seqs}
        must(len(fates) < 2, "the block of entry {} is parted: {}", block[0].sources, fates)  # noqa: PLR2004


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
            must(whole, "entry {} is pinned ({}) and {}", item.sources, ", ".join(pins), fate)


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
        must(
            fate == own.get(item.first, "kept"),
            "entry {} is {}, and a call in its block is pending",
            item.sources,
            fate,
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
    must(fate == "kept", "entry {}, the newest user message, is {}", newest.sources, fate)


def _asks(log: Log, item: Item) -> bool:
    return with_words(log.messages[item.first - 1])


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
    must(
        len(after) or not len(before), "the view is empty, and {} messages were there", len(before)
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
    new = _problems(after, log, before) - _problems(before, log, before)
    must(not new, "new problems: {}", sorted(new))
    steps = steps_of(strategy)
    free = any(
        isinstance(step, Custom) or getattr(step, "opening", "") == "anywhere" for step in steps
    )
    if free or opens_on(before.messages) != "user":
        return
    heads = (item for item in after if item.stands_in or opens_on([item.message]))
    head = next(heads, None)
    starts = head is None or head.stands_in or head.message.role not in {"assistant", "tool"}
    must(starts, "the view starts on entry {}, an assistant's or a tool's", head and head.sources)


def _problems(view: View, log: Log, own: View) -> set[tuple[str, str, str]]:
    """
    What a provider would refuse in the view, less what mending words as text or answers.

    That is a result whose call has left the log's own view, and a call that has no
    result in it; ids are reused, so by position either may seem to have found another.
    """
    there = _fates(own, own)
    tied, unanswered = pairs(log.messages)
    linked = [pair for pair in tied if there.get(pair[0]) == there.get(pair[1]) == "kept"]
    parted = {caller for caller, seq in tied if there.get(seq) != "kept"}
    sound = {caller for caller, _ in linked} - {*unanswered} - parted
    sound |= {seq for _, seq in linked}

    return {
        (problem.rule, str(item.sources), problem.id)
        for problem in pairing_problems(view.messages)
        if (item := view[problem.place]).first in sound
    }
