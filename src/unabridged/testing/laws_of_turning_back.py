"""
The laws of time: views of before, undoing at any depth, forks.

Each starts from a log in which anything happened, and what the strategy writes
back at its end.
"""

from attrs import evolve

from unabridged.contract import StrategyLike, TrimContext
from unabridged.ledger import in_force
from unabridged.memory import Memory
from unabridged.messages import Message
from unabridged.records import Appended, Compacted, Forked, Pinned, Record, Reverted
from unabridged.running import AskFunction
from unabridged.spans import Span
from unabridged.states import rebuilt
from unabridged.stores.in_memory import InMemoryStore
from unabridged.testing.log import THREAD, Log, whole_view
from unabridged.testing.trial import CONTEXT, must, outcome, short
from unabridged.views import View

__all__ = ["forks_share_and_stay_apart", "undo_takes_back", "view_at_is_as_it_was"]


def view_at_is_as_it_was(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    The view at each record is, later, what it was then; and it never shows an entry twice.

    >>> from unabridged import Window
    >>> from unabridged.testing import talk
    >>> view_at_is_as_it_was(Window(2), Log.of(talk(3)))
    """
    log = _written(strategy, log, context, ask)
    store, views = InMemoryStore(), list[View]()
    for thread in log.told(store):
        state = store.state(thread)
        view = whole_view(store, thread)
        _shows_once(view)
        again = rebuilt(store.read(thread))
        must(state == again, "the store says {}, its records {}", state, again)
        views.append(view)
    memory = Memory(store, THREAD)
    for rec, view in enumerate(views, start=1):
        then = memory.view(at=rec)
        must(then == view, "record {}: it was {}, and is told as {}", rec, view, then)


def undo_takes_back(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    Reverting any decision that counts gives the log without it; reverting that gives it again.

    Also under later write-backs, retractions, rewinds and forks. Only what a redo
    has to leave out, and says, or no longer has to, makes a difference.

    >>> from unabridged import Window
    >>> from unabridged.testing import talk
    >>> undo_takes_back(Window(2), Log.of(talk(3)))
    """
    log = _unnamed(_written(strategy, log, context, ask))
    store = log.store()
    decisions = store.read(THREAD, marks=("decided",))
    before = whole_view(store)
    for record in decisions:
        if record.rec not in in_force(decisions) or isinstance(record.body, Pinned):
            continue
        fork = f"without {record.rec}"
        store.append(fork, [Forked(THREAD, before.head)], at=0.0)
        undone = _after(store, fork, record.rec)
        if isinstance(record.body, Compacted) and _never_undone(record, decisions):
            without = log.but(record.rec).view()
            told = "reverting {}: {}, and without it {}"
            must(_same(undone, without), told, record.rec, undone, without)
        redone = _after(store, fork, undone.head)
        told = "reverting {} and that: {}, before {}"
        another = redone.log.skipped != before.log.skipped  # pins came or went since
        must(another or _same(redone, before), told, record.rec, redone, before)


def _after(store: InMemoryStore, thread: str, rec: int) -> View:
    state = store.append(thread, [Reverted(rec)], at=0.0).state
    again = rebuilt(store.read(thread))
    must(state == again, "the store says {}, its records {}", state, again)
    view = whole_view(store, thread)
    _shows_once(view)

    return view


def _unnamed(log: Log) -> Log:
    """
    The log without message ids: one that is used again once it is retracted would be known else.
    """
    return Log(
        evolve(body, message=evolve(body.message, id=None)) if isinstance(body, Appended) else body
        for body in log.bodies
    )


def _never_undone(record: Record, decisions: tuple[Record, ...]) -> bool:
    return all(other.body != Reverted(record.rec) for other in decisions)


def forks_share_and_stay_apart(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    A fork at any record shows what the view was there, and neither thread sees what comes later.

    >>> from unabridged import Window
    >>> from unabridged.testing import talk
    >>> forks_share_and_stay_apart(Window(2), Log.of(talk(3)))
    """
    log = _written(strategy, log, context, ask)
    store = log.store()
    memory = Memory(store, THREAD)
    records, state = store.read(THREAD), store.state(THREAD)
    for rec in range(1, len(log.bodies) + 1):
        fork = memory.fork(f"from {rec}", at=rec)
        view, then = fork.view(), memory.view(at=rec)
        must(view == then, "a fork at {} shows {}, the view was {}", rec, view, then)
        tied, were = list(map(len, view.blocks)), list(map(len, then.blocks))
        must(tied == were, "a fork at {} has blocks of {}, they were {}", rec, tied, were)
        fork.append(Message("user", "elsewhere"))
        counting = in_force(store.read(THREAD, before=rec + 1, marks=("decided",)))
        undone = [n for n in counting if not isinstance(log.bodies[n - 1], Pinned)]
        if undone:
            fork.revert(max(undone))
        else:
            fork.clear()
        kept, again = store.state(f"from {rec}"), rebuilt(store.read(f"from {rec}"))
        must(kept == again, "the store says {} of a fork, its records {}", kept, again)
        now = store.read(THREAD), store.state(THREAD)
        must(now == (records, state), "a fork at {} changed its parent", rec)


def _written(strategy: StrategyLike, log: Log, context: TrimContext, ask: AskFunction) -> Log:
    """
    The log, with what the strategy writes back at its end.
    """
    record = outcome(strategy, log.view(), context, ask).record(replace=True)

    return Log([*log.bodies, *([record] if record else ())])


def _shows_once(view: View) -> None:
    seen = Span()
    for item in view:
        twice = seen & item.sources
        must(not twice, "the view shows the entries {} twice: {}", twice, view)
        seen = seen | item.sources


def _same(one: View, other: View) -> bool:
    return [(item.message, item.sources) for item in one] == [
        (item.message, item.sources) for item in other
    ]
