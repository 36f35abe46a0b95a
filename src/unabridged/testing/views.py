"""
Views and messages to call a strategy on.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from unabridged.contract import Ask
from unabridged.errors import ConfigError
from unabridged.messages import Message, ToolCall, assistant, tool, user
from unabridged.records import Appended, Body, Entry
from unabridged.results import TrimResult
from unabridged.stores.in_memory import InMemoryStore
from unabridged.viewing import Loaded
from unabridged.views import View

__all__ = ["call", "failing", "replies", "result", "talk", "texts", "view_of"]


def view_of(
    messages: Iterable[Message],
    *,
    pinned: Iterable[int] = (),
    decisions: Sequence[Body] = (),
) -> View:
    """
    The view of a log that holds these messages; the entries *pinned* are pinned by hand.

    *decisions* are records written after them: `Compacted`, `Reverted`, `Noted`.

    >>> view = view_of([user("a"), user("b")], pinned=[1])
    >>> [(item.message.text, item.pin) for item in view]
    [('a', 'hand'), ('b', '')]
    """
    messages = tuple(messages)
    wrong = [message for message in messages if not isinstance(message, Message)]
    if wrong:
        msg = f"view_of: expected messages, as of user(…), got {type(wrong[0]).__name__}"
        raise ConfigError(msg)
    held = frozenset(pinned)
    store = InMemoryStore()
    bodies: list[Body] = [
        Appended(0, message, number in held) for number, message in enumerate(messages, start=1)
    ]
    if bodies:
        store.append("thread", bodies)
    for body in decisions:
        store.append("thread", [body])
    loaded = Loaded(store.state("thread"))
    loaded.take(store.entries("thread", loaded.state.standing))

    return loaded.view()


def call(*ids: str, text: str = "", name: str = "look") -> Message:
    """
    An assistant's message that calls a tool once for each id.

    >>> str(call("c1"))
    'assistant:  [tool calls: look({})]'
    """
    return assistant(text or (), calls=[ToolCall(id_, name) for id_ in ids])


def result(call_id: str, text: str = "found") -> Message:
    """
    A tool's message that answers the call.

    >>> str(result("c1"))
    'tool: found'
    """
    return tool(text, call_id=call_id)


def talk(rounds: int, first: int = 1) -> list[Message]:
    """
    So many rounds of a question and an answer.

    >>> texts(view_of(talk(2)))
    ['q1', 'a1', 'q2', 'a2']
    """
    return [
        message
        for n in range(first, first + rounds)
        for message in (user(f"q{n}"), assistant(f"a{n}"))
    ]


def texts(seen: View | TrimResult | Iterable[Message | Entry]) -> list[str]:
    """
    The words of each message.

    >>> texts([user("a"), assistant("b")])
    ['a', 'b']
    """
    if isinstance(seen, TrimResult):
        return [message.text for message in seen.messages]

    return [each.text if isinstance(each, Message) else each.message.text for each in seen]


def replies(*answers: str) -> Callable[[Ask], str]:
    """
    A model that gives these answers in order, and then the last one again and again.

    >>> model = replies("first", "second")
    >>> model(Ask(())), model(Ask(())), model(Ask(()))
    ('first', 'second', 'second')
    """
    given = _in_order(answers)
    return lambda _: next(given)


def failing(error: Exception | None = None) -> Callable[[Ask], str]:
    """
    A model that fails each time.

    >>> failing(TimeoutError("too slow"))(Ask(()))
    Traceback (most recent call last):
    TimeoutError: too slow
    """

    def fail(_: Ask) -> Any:
        raise error or RuntimeError("the model is down")

    return fail


def _in_order(answers: Sequence[str]) -> Iterator[str]:
    yield from answers
    while True:
        yield answers[-1]
