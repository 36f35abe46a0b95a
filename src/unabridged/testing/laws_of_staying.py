"""
The laws of what may not leave a view, and of what may not be parted in it.
"""

from unabridged.contract import StrategyLike, TrimContext
from unabridged.formats.mending import mend
from unabridged.formats.providers import PROVIDERS
from unabridged.formats.refusals import problems
from unabridged.items import Item
from unabridged.links import is_bare_result
from unabridged.log.compactions import is_compaction
from unabridged.messages import Message, Part, Reasoning, ToolResult
from unabridged.pipeline import Custom
from unabridged.running import AskFunction
from unabridged.strategies.drop_reasoning import DropReasoning
from unabridged.strategies.repair import Repair
from unabridged.testing.log import Log
from unabridged.testing.pairing import opens_on, pairs, speaks, with_words
from unabridged.testing.trial import CONTEXT, lists_items, must, outcome, short, steps_of
from unabridged.views import View

__all__ = [
    "compactions_stay",
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

    What a strategy is there to take out may leave alone: reasoning (`DropReasoning`),
    results that answer no call (`Repair`).

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
    thoughts, orphans = (
        {seq for seq in entries if after.get(seq) == "dropped"}
        for entries in _may_go_alone(strategy, log, before)
    )
    for caller, seq in tied:
        if caller in thoughts or seq in orphans:
            continue
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
        seqs = [
            item.first for item in block if item.sources and item.first not in thoughts | orphans
        ]
        # a stand-in that a late result left inside the block is kept where it is as it was
        fates = {"kept" if after[seq] == own[seq] else after[seq] for seq in seqs}
        must(len(fates) < 2, "the block of entry {} is parted: {}", block[0].sources, fates)  # noqa: PLR2004


def _may_go_alone(strategy: StrategyLike, log: Log, view: View) -> tuple[set[int], set[int]]:
    """
    What the steps of the strategy may take out of a block: thoughts, and results of no call.
    """
    steps, messages = steps_of(strategy), log.messages
    thoughts: set[int] = set()
    orphans: set[int] = set()
    if any(isinstance(step, DropReasoning) for step in steps):
        thoughts = {seq for seq, each in enumerate(messages, start=1) if _only(each, Reasoning)}
    if any(isinstance(step, Repair) for step in steps):
        calls = {item.first for item in view if item.message.tool_calls}
        answers = {seq for caller, seq in pairs(messages)[0] if caller in calls}
        results = {seq for seq, each in enumerate(messages, start=1) if _only(each, ToolResult)}
        orphans = results - answers

    return thoughts, orphans


def _only(message: Message, kind: type[Part]) -> bool:
    return bool(message.parts) and all(isinstance(part, kind) for part in message.parts)


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

    A provider's newest compaction item does too, unless a function leaves it out.

    >>> from unabridged import Window
    >>> from unabridged.testing import Log, talk
    >>> hand_pins_stay(Window(2), Log.of(talk(3), pinned=[1]))
    """
    before = log.view()
    lax = any(getattr(step, "pin_system", True) is False for step in steps_of(strategy))
    free = {"", *(["role"] if lax else ())}
    if any(isinstance(step, Custom) for step in steps_of(strategy)):
        free.add("compaction")
    after = _fates(before, outcome(strategy, before, context, ask).view)
    for block in before.blocks:
        pins = {item.pin for item in block} - free
        for item in block if pins else ():
            fate = after[item.first] if item.sources else "kept"
            whole = fate == "kept" or (item.wide and fate.endswith(f" {item.sources}"))
            must(whole, "entry {} is pinned ({}) and {}", item.sources, ", ".join(pins), fate)


def compactions_stay(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    The newest compaction item of a provider stays as it is, unless a function leaves it out.

    >>> from unabridged import Opaque, Window
    >>> from unabridged.testing import Log, assistant, talk
    >>> item = Opaque("anthropic", {"type": "compaction", "content": "So far."})
    >>> compactions_stay(Window(2), Log.of([*talk(1), assistant(item), *talk(2)]))
    """
    if any(isinstance(step, Custom) for step in steps_of(strategy)):
        return
    before = log.view()
    after = {item.first: item for item in outcome(strategy, before, context, ask).view}
    found = [item for item in before if item.first > 1 and _compacts(log, item)]
    for item in found[-1:]:
        now = after.get(item.first)
        kept = now is not None and is_compaction(now.message)
        must(kept, "entry {}, the newest compaction item, left or was reworded", item.first)


def _compacts(log: Log, item: Item) -> bool:
    return len(item.sources) == 1 and is_compaction(log.messages[item.first - 1])


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
    _, orphans = _may_go_alone(strategy, log, before)
    for item in block:
        if item.first in orphans:
            continue
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
    Trimming adds no problem: what a provider refuses in the mended view, it refuses in the log.

    Nor does a view start on an assistant or a tool where the log's own starts on a
    user, except under `opening="anywhere"` and where a step listed the items it keeps.

    >>> from unabridged import Window
    >>> from unabridged.testing import Log, call, result, user
    >>> valid(Window(1), Log.of([user("a"), call("c1"), result("c1")]))
    """
    before = log.view()
    after = outcome(strategy, before, context, ask).view
    for provider in PROVIDERS:
        known = _refused(before, provider)
        # a call without a result is told once more where a response of another follows it
        known |= {("response count", seq) for rule, seq in known if rule == "unanswered call"}
        new = _refused(after, provider) - known
        if _lost_an_orphan(before, after):  # mending had made a user's words of it
            new -= {("last message", 0), ("thinking missing", 0)}
        must(not new, "{} refuses what it did not before: {}", provider, sorted(new))
    free = any(getattr(step, "opening", "") == "anywhere" for step in steps_of(strategy))
    own = _head(before)
    if free or own is None or own.stands_in or own.message.role != "user":
        return
    head = _head(after)
    starts = head is None or head.stands_in or head.message.role not in {"assistant", "tool"}
    starts = starts or lists_items(strategy, before, context, ask)
    must(starts, "the view starts on entry {}, an assistant's or a tool's", head and head.sources)


def _lost_an_orphan(before: View, after: View) -> bool:
    there = after.sources
    return any(
        is_bare_result(item.message) and item.first == item.head and item.first not in there
        for item in before
        if item.sources
    )


def _head(view: View) -> Item | None:
    """
    The first item that stands for others, or instructs nobody.
    """
    return next((item for item in view if item.stands_in or opens_on([item.message])), None)


def _refused(view: View, provider: str) -> set[tuple[str, int]]:
    return {(found.rule, found.seq) for found in problems(mend(view, provider), provider)}
