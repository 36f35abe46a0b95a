"""
A generated log as a value: its records, and the view, store or memory that holds them.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from attrs import evolve, field, frozen

from unabridged.contract import StrategyLike
from unabridged.memory import Memory
from unabridged.messages import Message
from unabridged.records import (
    Appended,
    Body,
    Compacted,
    Drop,
    Forked,
    Noted,
    Pinned,
    Reverted,
)
from unabridged.spans import Span
from unabridged.stores.in_memory import InMemoryStore
from unabridged.stores.protocol import Store
from unabridged.strategies.no_compaction import NoCompaction
from unabridged.viewing import Loaded
from unabridged.views import View

__all__ = ["THREAD", "Log", "whole_view"]

THREAD = "log"


def _bodies(value: Iterable[Body]) -> tuple[Body, ...]:
    return tuple(value)


@frozen(repr=False)
class Log:
    """
    The records of one thread, as a value that every law starts from.

    `logs()` generates them; `Log.of` makes one of messages. It prints one
    record a line, so that a failing one can be read.

    >>> from unabridged.testing import assistant, user
    >>> log = Log.of([user("hi"), assistant("Hello.")], pinned=[1])
    >>> print(log)
    1 user: hi (entry 1, pinned)
    2 assistant: Hello. (entry 2)
    >>> len(log.view()), len(log.memory().entries())
    (2, 2)
    """

    bodies: tuple[Body, ...] = field(default=(), converter=_bodies)

    @classmethod
    def of(
        cls,
        messages: Iterable[Message],
        *,
        pinned: Iterable[int] = (),
        decisions: Iterable[Body] = (),
    ) -> "Log":
        """
        The log of these messages, some *pinned* by hand, then these *decisions*.
        """
        held = frozenset(pinned)
        said = [Appended(n, each, n in held) for n, each in enumerate(messages, start=1)]

        return cls([*said, *decisions])

    @property
    def messages(self) -> tuple[Message, ...]:
        """
        Every message that was appended, in order.
        """
        return tuple(body.message for body in self.bodies if isinstance(body, Appended))

    def store(self) -> InMemoryStore:
        """
        A new store whose thread "log" holds the records.

        Where the log was forked, "log" is a fork there too, and what it was forked
        from goes on in its own way.
        """
        store = InMemoryStore()
        for _ in self.told(store):
            pass

        return store

    def told(self, store: InMemoryStore) -> Iterator[str]:
        """
        The thread that the log is in after each record, while the store is told one by one.
        """
        forks = sum(isinstance(body, Forked) for body in self.bodies)
        for body in self.bodies:
            thread = f"{THREAD} -{forks}" if forks else THREAD
            if isinstance(body, Forked):
                forks -= 1
                rec, parent = store.state(thread).rec, thread
                thread = f"{THREAD} -{forks}" if forks else THREAD
                store.append(thread, [Forked(parent, rec)], at=0.0)
                _go_on(store, parent)
            else:
                store.append(thread, [body], at=0.0)
            yield thread

    def view(self) -> View:
        """
        The log's own view, all of it loaded.
        """
        return whole_view(self.store())

    def memory(self, strategy: StrategyLike = NoCompaction(), **settings: Any) -> Memory:  # noqa: B008  a frozen value
        """
        A memory of the log in a new store; *settings* are those of `Memory`.
        """
        return Memory(self.store(), THREAD, strategy, **settings)

    def but(self, rec: int) -> "Log":
        """
        The log without what record *rec* says; the others keep their numbers.
        """
        bodies = list(self.bodies)
        bodies[rec - 1] = Noted(())

        return evolve(self, bodies=bodies)

    def __str__(self) -> str:
        lines: list[str] = []
        seq = 0
        for rec, body in enumerate(self.bodies, start=1):
            if isinstance(body, Appended):
                seq += 1
            lines.append(f"{rec} {_line(body, seq)}")

        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Log\n{self}\n>"


def _go_on(store: InMemoryStore, thread: str) -> None:
    """
    Let something happen that no fork may see.
    """
    rec = store.append(thread, [Appended(0, Message("user", "elsewhere"))], at=0.0).state.rec
    drop = Drop(Span.between(1, store.state(thread).seq), reason="cleared", step="memory.clear()")
    store.append(thread, [Compacted((drop,), rec)], at=0.0)


def whole_view(store: Store, thread: str = THREAD) -> View:
    """
    The view of a thread as its records have it, with nothing left to load.

    >>> from unabridged.testing import user
    >>> len(whole_view(Log.of([user("hi")]).store()))
    1
    """
    loaded = Loaded(store.state(thread))
    loaded.take(store.entries(thread, loaded.state.standing))

    return loaded.view()


def _line(body: Body, seq: int) -> str:  # noqa: PLR0911  one for each kind
    match body:
        case Appended(_, message, pinned):
            return f"{_told(message)} (entry {seq}{', pinned' if pinned else ''})"
        case Compacted(changes):
            told = [f"{type(c).__name__} {_named(c)} by {c.step or 'a step'}" for c in changes]
            return f"written back: {'; '.join(told)}"
        case Noted(notes):
            told = [f"{note.kind} {note.value.value} of {note.sources}" for note in notes]
            return f"noted: {'; '.join(told) or 'nothing'}"
        case Pinned(span, on):
            return f"{'pinned' if on else 'unpinned'}: {span}"
        case Reverted(rec):
            return f"reverted: {rec}"
        case Forked(_, rec):
            return f"forked at {rec}"
        case _:
            return repr(body)


def _told(message: Message) -> str:
    """
    The message as it prints, with the ids that link it.
    """
    calls = " ".join(call.id for call in message.tool_calls)
    results = " ".join(result.call_id for result in message.tool_results)
    more = [
        f"calls {calls}" if calls else "",
        f"answers {results}" if results else "",
        "thinks" if message.reasoning else "",
    ]
    named = ", ".join(part for part in more if part)

    return f"{message.role}: {message.text}" + (f" [{named}]" if named else "")


def _named(change: Any) -> str:
    return str(getattr(change, "sources", "")) or f"after {change.after}"
