"""
The laws that join a strategy with a store and a memory: writing back, undoing, failing.
"""

from unabridged.contract import Ask, StrategyLike, TrimContext
from unabridged.errors import UnabridgedError
from unabridged.memory import Memory
from unabridged.messages import Message
from unabridged.pipeline import Custom
from unabridged.records import Appended, Body, Compacted, Drop, Fold, Insert, Noted, Reverted
from unabridged.results import TrimResult
from unabridged.running import AskFunction
from unabridged.spans import Span
from unabridged.states import rebuilt
from unabridged.strategies.window import Window
from unabridged.testing.log import THREAD, Log, whole_view
from unabridged.testing.trial import CONTEXT, must, outcome, short, steps_of
from unabridged.views import View

__all__ = [
    "failure_changes_nothing",
    "revert_restores",
    "state_equals_rebuilt",
    "write_back_shows_projection",
]

Shown = list[tuple[Message, Span]]


def write_back_shows_projection(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    Once all drops and folds are written, the log's own view is what was projected.

    Holds and inserts aside, but not what a function puts in the place of what it drops;
    and where none of it was written before and reverted.

    >>> from unabridged.testing import talk
    >>> write_back_shows_projection(Window(2), Log.of(talk(3)))
    """
    store = log.store()
    before = whole_view(store)
    result = outcome(strategy, before, context, ask)
    if _meets_undone(before, result):
        return
    _stands_for_what_left(strategy, result)
    record = result.record(replace=True)
    due = any(isinstance(change, Drop | Fold) for change in result.changes)
    must((record is not None) == due, "{} changes, and to write: {}", len(result.changes), record)
    if record is None:
        return
    store.append(THREAD, [record], at=0.0)
    _same(_shown(whole_view(store)), _shown(result.view), "written back", "projected")
    again = outcome(strategy, whole_view(store), context, ask)
    if again.messages != result.messages and _settles(strategy):
        _same(_shown(again.view), _shown(result.view), "once it is written", "before")


def _stands_for_what_left(strategy: StrategyLike, result: TrimResult) -> None:
    """
    What a function lists where it drops entries is a fold of these, so that it can be written.

    A message with calls or results cannot be, and is put in.
    """
    steps = steps_of(strategy)
    if len(steps) != 1 or not isinstance(steps[0], Custom):
        return
    left = Span.union(c.sources for c in result.changes if isinstance(c, Drop))
    here = result.view.sources
    for change in result.changes:
        if not isinstance(change, Insert) or change.into.tool_calls or change.into.tool_results:
            continue
        after = result.view.find(change.after) if change.after else -1
        end = result.view.block_at(after).stop if after >= 0 else 0
        low = result.view.at(end - 1).sources.last if end else 0
        behind = here - here.before(low + 1)
        high = behind.first - 1 if behind else result.before.sources.last
        gap = left & Span.between(low + 1, high) if low < high else Span()
        must(not gap, "{} left, and what was put in their place cannot be written", gap)


def _settles(strategy: StrategyLike) -> bool:
    steps = steps_of(strategy)
    return len(steps) == 1 and isinstance(steps[0], Window)


def _meets_undone(view: View, result: TrimResult) -> bool:
    return any(
        undone.step == change.step and not undone.sources.isdisjoint(change.sources)
        for undone in view.log.undone
        for change in result.changes
        if isinstance(change, Drop | Fold)
    )


def _shown(view: View) -> Shown:
    return [(item.message, item.sources) for item in view if item.sources]


def _same(left: Shown, right: Shown, one: str, other: str) -> None:
    if left != right:
        must(left == right, "{}: {}; {}: {}", one, _told(left), other, _told(right))


def _told(shown: Shown) -> str:
    return " | ".join(f"({sources}) {message}" for message, sources in shown) or "nothing"


def revert_restores(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    Reverting a write-back gives the log without it, also under a later one.

    Reverting the revert gives it again. What is reverted is projected by the same
    step from then on, and not written once more.

    >>> from unabridged.testing import talk
    >>> revert_restores(Window(2), Log.of(talk(3)))
    """
    record = outcome(strategy, log.view(), context, ask).record(replace=True)
    if record is None:
        return
    rec = len(log.bodies) + 1
    written = Log([*log.bodies, record])
    later = outcome(Window(1), written.view(), context).record(replace=True)
    for mine in (written, Log([*written.bodies, *([later] if later else ())])):
        undone = Log([*mine.bodies, Reverted(rec)])
        expected = _shown(mine.but(rec).view())
        _same(_shown(undone.view()), expected, "reverted", "without the record")
        redone = Log([*undone.bodies, Reverted(len(undone.bodies))])
        if mine is written:
            _same(_shown(redone.view()), _shown(written.view()), "redone", "written")
        _not_again(strategy, undone, record, context, ask)


def _not_again(
    strategy: StrategyLike, undone: Log, record: Compacted, context: TrimContext, ask: AskFunction
) -> None:
    result = outcome(strategy, undone.view(), context, ask)
    again = result.record(replace=True)
    for change in again.changes if again else ():
        for old in record.changes:
            sources = getattr(old, "sources", Span()) & getattr(change, "sources", Span())
            must(
                old.step != change.step or not sources,
                "{} would write {} back again, which was reverted",
                change.step,
                sources,
            )


def failure_changes_nothing(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, _ask: AskFunction = short
) -> None:
    """
    A model that fails, says nothing or too much changes no message, no view and no summary.

    >>> from unabridged import Summarize
    >>> from unabridged.testing import talk
    >>> failure_changes_nothing(Summarize(keep_last=2), Log.of(talk(3)))
    """
    steps = steps_of(strategy)
    if len(steps) != 1 or not getattr(steps[0], "asks", False):
        return
    guarded = getattr(steps[0], "guard_size", True)
    for model in (_fails, _says_nothing, *([_says_too_much] if guarded else [])):
        store = log.store()
        memory = Memory(store, THREAD, count=context.count, budget=context.budget, ask=model)
        view, summary = whole_view(store), memory.summary()
        result = None
        try:
            result = memory.context(strategy)
        except UnabridgedError as error:
            must(getattr(steps[0], "on_failure", "") == "raise", "it raised {!r}", error)
        name = model.__name__.strip("_")
        decided = store.state(THREAD).decided
        if result is None or decided == view.log.decided:
            _same(_shown(whole_view(store)), _shown(view), f"after it {name}", "before")
            must(memory.summary() == summary, "after it {}, the summary is another", name)
        if result is not None and not any(note.kind == "summary" for note in view.notes):
            must(not result.notes, "it {}, and an answer is kept: {}", name, result.notes)
            must(result.messages == view.messages, "it {}, and messages changed", name)
            must(decided == view.log.decided, "it {}, and something was written", name)


def _fails(_ask: Ask) -> str:
    msg = "the model is down"
    raise TimeoutError(msg)


def _says_nothing(_ask: Ask) -> str:
    return " \n"


def _says_too_much(_ask: Ask) -> str:
    return "much " * 1_000


def state_equals_rebuilt(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    A store's state is the one that its records come to, also after the strategy wrote back.

    >>> from unabridged.testing import talk
    >>> state_equals_rebuilt(Window(2), Log.of(talk(3)))
    """
    store = log.store()
    result = outcome(strategy, whole_view(store), context, ask)
    record = result.record(replace=True)
    bodies: list[Body] = [*([record] if record else ()), Noted(result.notes)]
    store.append(THREAD, bodies, at=0.0)
    for body in (Appended(0, Message("user", "and then")), Reverted(len(log.bodies) + 1)):
        kept, again = store.state(THREAD), rebuilt(store.read(THREAD))
        must(kept == again, "the store says {}, its records {}", kept, again)
        if isinstance(body, Appended) or record is not None:
            store.append(THREAD, [body], at=0.0)
    kept, again = store.state(THREAD), rebuilt(store.read(THREAD))
    must(kept == again, "the store says {}, its records {}", kept, again)
