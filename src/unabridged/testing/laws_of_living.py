"""
The law of memories that live long: they show what one that is new shows.
"""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from attrs import evolve

from unabridged.async_memory import AsyncMemory
from unabridged.contract import StrategyLike, TrimContext
from unabridged.errors import UnabridgedError
from unabridged.items import Item
from unabridged.memory import Memory
from unabridged.records import Appended, Body, Compacted, Forked, Noted, Reverted
from unabridged.results import TrimResult
from unabridged.running import AskFunction
from unabridged.spans import Span
from unabridged.states import ThreadState
from unabridged.stores.in_memory import InMemoryStore
from unabridged.stores.protocol import Receipt
from unabridged.strategies.summarize import Summarize
from unabridged.telling import without_label
from unabridged.testing.log import THREAD, Log
from unabridged.testing.trial import CONTEXT, must, short, steps_of
from unabridged.views import View

__all__ = ["lives_as_fresh"]


class _Dry(InMemoryStore):
    """
    The threads of another store, to look at: what a context would note is not kept.
    """

    def __init__(self, store: InMemoryStore) -> None:
        super().__init__()
        self._threads = store._threads  # noqa: SLF001  its own kind

    def append(self, thread: str, bodies: Sequence[Body], **_options: Any) -> Receipt:
        """
        Nothing.
        """
        state = self.state(thread)
        records = [record for record in self.read(thread, last=1) for _ in bodies[:1]]

        return Receipt(tuple(records) if isinstance(bodies[0], Compacted) else (), (), (), state)


def lives_as_fresh(
    strategy: StrategyLike, log: Log, context: TrimContext = CONTEXT, ask: AskFunction = short
) -> None:
    """
    A memory that lived through everything shows what a fresh one shows.

    The log is told to two memories record by record, a sync and an async one, each
    in its own store; what one of them does not write itself, others write beside
    it. After each record both make a context, and what that notes and writes back
    is part of the life. Views, contexts, tokens and summaries are those
    of a memory made at that moment (`problems` follow from the messages); and the
    summary is the one in the context.

    >>> from unabridged import Window
    >>> from unabridged.testing import talk
    >>> lives_as_fresh(Window(4, down_to=2), Log.of(talk(5)))
    """
    # a memory that lives leaves a model alone that answers with nothing
    settings = {"count": context.count, "budget": context.budget, "ask": ask, "retry_after": 0}
    for kind in (Memory, AsyncMemory):
        asyncio.run(_live(kind, strategy, log, settings))


async def _live(
    kind: type[Memory] | type[AsyncMemory],
    strategy: StrategyLike,
    log: Log,
    settings: dict[str, Any],
) -> None:
    store, thread = InMemoryStore(), THREAD
    lived: Any = kind(store, thread, strategy, **settings)
    numbers = {0: 0}
    for rec, body in enumerate(log.bodies, start=1):
        if isinstance(body, Forked):
            thread = f"{THREAD} +{rec}"
            lived = await _settled(lived.fork(thread))
        elif isinstance(body, Appended) and rec % 3:
            await _settled(lived.append(body.message, pin=body.pinned))
        else:
            store.append(thread, [_renumbered(body, numbers, store.state(thread).rec)], at=0.0)
        numbers[rec] = store.state(thread).rec
        if isinstance(body, Compacted) and any(isinstance(b, Noted) for b in log.bodies[rec:][:1]):
            continue  # an answer is noted in the append that writes its summary
        at = f"{kind.__name__}, at record {rec}"
        _compare_views(at, await _settled(lived.view()), Memory(store, thread).view())
        new = await _told(Memory(_Dry(store), thread, strategy, **settings).context)
        old = await _told(lived.context)
        _compare(at, old, new)
        summary = await _settled(lived.summary())
        must(summary == Memory(store, thread).summary(), "{}: the summary is {!r}", at, summary)
        if isinstance(old, TrimResult):
            _is_shown(at, strategy, old.view, store.state(thread), summary)
        if rec % 4 == 0:
            _answer_as_well(store, thread)


def _answer_as_well(store: InMemoryStore, thread: str) -> None:
    """
    Somebody else was asked at the same time, and got another answer.
    """
    notes = [note for note in store.state(thread).notes if note.kind == "summary"]
    if notes:
        value = {**notes[-1].value.value, "text": f"other {len(notes)}"}
        store.append(thread, [Noted((evolve(notes[-1], value=value),))], at=0.0)


async def _settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _told(act: Callable[[], Any]) -> TrimResult | UnabridgedError:
    try:
        result: TrimResult = await _settled(act())
    except UnabridgedError as error:
        return error

    return result


def _renumbered(body: Body, numbers: dict[int, int], last: int) -> Body:
    """
    The body as others write it now, with the numbers of a log that holds more.
    """
    match body:
        case Reverted(rec):
            return Reverted(numbers[rec])
        case Compacted():
            return evolve(body, upto=last)
        case _:
            return body


def _compare_views(at: str, old: View, new: View) -> None:
    for name, look in (("items", _items), ("blocks", _blocks), ("rounds", _rounds)):
        mine, theirs = look(old), look(new)
        must(mine == theirs, "{}: the {} are {}, a fresh one has {}", at, name, mine, theirs)
    must(
        old.sources == new.sources,
        "{}: it shows the entries {}, a fresh one {}",
        at,
        *(view.sources for view in (old, new)),
    )


def _items(view: View) -> list[tuple[Any, ...]]:
    return [
        (str(item.message), item.sources, item.pin, item.head, item.opener, item.stands_in)
        for item in view
    ]


def _blocks(view: View) -> list[Span]:
    return [Span.union(item.sources for item in block) for block in view.blocks]


def _rounds(view: View) -> list[Span]:
    return [Span.union(item.sources for item in each.items) for each in view.rounds]


def _compare(at: str, old: TrimResult | UnabridgedError, new: TrimResult | UnabridgedError) -> None:
    if isinstance(old, UnabridgedError) or isinstance(new, UnabridgedError):
        must(repr(old) == repr(new), "{}: it gives {!r}, a fresh one {!r}", at, old, new)
        return
    for name in ("messages", "changes", "notes", "over", "tokens"):
        mine, theirs = getattr(old, name), getattr(new, name)
        must(mine == theirs, "{}: its {} are {}, those of a fresh one {}", at, name, mine, theirs)
    mine, theirs = _warnings(old), _warnings(new)
    must(mine == theirs, "{}: its warnings are {}, those of a fresh one {}", at, mine, theirs)


def _warnings(result: TrimResult) -> list[str]:
    """
    The warnings, less the one of a budget that no step holds: a memory says it once.
    """
    return [told for told in result.warnings if not told.startswith("budget= leaves ")]


def _is_shown(at: str, strategy: StrategyLike, view: View, state: ThreadState, said: str) -> None:
    """
    Where one step summarizes, no other text is shown for the entries that the summary tells of.
    """
    steps = steps_of(strategy)
    if len(steps) != 1 or not isinstance(step := steps[0], Summarize) or step.tree is not None:
        return
    told = [note.sources for note in state.notes if note.kind == "summary"]
    newest = next((span for span in reversed(told) if span <= state.in_view), None)
    for item in view:
        if item.stands_in and item.sources == newest and _is_summary(item):
            shown = without_label(item.message.text, step.label).strip()
            must(shown == said, "{}: the context shows {!r}, the summary is {!r}", at, shown, said)


def _is_summary(item: Item) -> bool:
    return "summary" in item.message.metadata.value
