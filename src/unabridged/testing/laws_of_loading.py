"""
The law of views that are loaded little by little: they give what the whole ones give.
"""

from collections.abc import Sequence

from attrs import evolve

from unabridged.contract import StrategyLike, TrimContext
from unabridged.errors import UnabridgedError
from unabridged.memory import Memory
from unabridged.messages import Message
from unabridged.records import Appended, Body, Compacted, Forked, Reverted
from unabridged.results import TrimResult
from unabridged.running import AskFunction, run
from unabridged.stores.in_memory import InMemoryStore
from unabridged.testing.log import THREAD, Log, whole_view
from unabridged.testing.trial import CONTEXT, must, short
from unabridged.viewing import Loaded
from unabridged.views import View

__all__ = ["memory_equals_pure"]


def memory_equals_pure(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    A memory that has loaded only a little gives what the strategy makes of the whole view.

    The log is told to it record by record, with a context after every few.

    >>> from unabridged import Window
    >>> from unabridged.testing import talk
    >>> memory_equals_pure(Window(2), Log.of(talk(9)))
    """
    store, thread = InMemoryStore(), THREAD
    memory = Memory(store, thread, count=context.count, budget=context.budget, ask=ask)
    numbers: dict[int, int] = {0: 0}
    for rec, body in enumerate(log.bodies, start=1):
        if isinstance(body, Appended) and rec % 2:
            memory.append(body.message, pin=body.pinned)
        elif isinstance(body, Forked):
            thread = f"{THREAD} +{rec}"
            memory = memory.fork(thread)
        else:
            store.append(thread, [_renumbered(body, numbers)], at=0.0)
        numbers[rec] = store.state(thread).rec
        if rec % 4 == 1 or rec > len(log.bodies) - 2:
            _loads_little(memory, store, thread, fresh=rec % 8 == 1)
            _compare(memory, whole_view(store, thread), strategy, context, ask)
    _compare(memory, whole_view(store, thread), strategy, context, ask)


def _renumbered(body: Body, numbers: dict[int, int]) -> Body:
    """
    The body, with the numbers that its records have in a log that holds more notes.
    """
    match body:
        case Reverted(rec):
            return Reverted(numbers[rec])
        case Compacted(_, upto):
            return evolve(body, upto=numbers.get(upto, upto))
        case _:
            return body


def _loads_little(memory: Memory, store: InMemoryStore, thread: str, *, fresh: bool) -> None:
    """
    Let the memory hold two messages and what every cut needs, as it does on a thread of thousands.
    """
    keeper = memory._keeper  # noqa: SLF001  there is no other way to a short tail in a short log
    if keeper._loaded is None or fresh:  # noqa: SLF001
        loaded = Loaded(store.state(thread), 2)
        loaded.take(store.entries(thread, loaded.wanted_first()))
        keeper._loaded = loaded  # noqa: SLF001


def _compare(
    memory: Memory,
    whole: View,
    strategy: StrategyLike,
    context: TrimContext,
    ask: AskFunction,
) -> None:
    try:
        pure: TrimResult | UnabridgedError = run(strategy, whole, context, ask)
    except UnabridgedError as error:
        pure = error
    try:
        lazy: TrimResult | UnabridgedError = memory.context(strategy, replace=False)
    except UnabridgedError as error:
        lazy = error
    if isinstance(pure, UnabridgedError) or isinstance(lazy, UnabridgedError):
        must(str(pure) == str(lazy), "run: {!r}; the memory: {!r}", pure, lazy)
        return
    at = f"at record {whole.head}"
    must(
        pure.messages == lazy.messages, "{}: {}, whole: {}", at, _words(lazy.messages), pure.text()
    )
    must(pure.changes == lazy.changes, "{}: {}, whole: {}", at, lazy.changes, pure.changes)
    must(pure.over == lazy.over, "{}: over {}, whole: {}", at, lazy.over, pure.over)
    must(pure.notes == lazy.notes, "{}: notes {}, whole: {}", at, lazy.notes, pure.notes)
    must(set(pure.warnings) <= set(lazy.warnings), "{}: warnings {}", at, lazy.warnings)


def _words(messages: Sequence[Message]) -> str:
    return "\n".join(map(str, messages))
