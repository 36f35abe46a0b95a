"""
Making one message of neighbours of one role.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import frozen

from unabridged.contract import TrimContext
from unabridged.items import Block, Item
from unabridged.links import has_words
from unabridged.messages import (
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from unabridged.options import flag
from unabridged.pipeline import Strategy
from unabridged.records import Fold
from unabridged.results import TrimResult
from unabridged.spans import Span
from unabridged.views import View

__all__ = ["MergeRuns"]

_APART = (ToolCall, ToolResult, Reasoning, Opaque)
_SHAPES = frozenset({"content", "sent"})  # hints of a format that a message can do without


@frozen(repr=False)
class MergeRuns(Strategy):
    r"""
    Make one message of neighbours of one role and name.

    Messages with calls, results, reasoning or what only a provider understands
    stay as they are, and so do pins, summaries, what was put in, and the newest
    user message. The log keeps the originals. What was merged opens no round:
    put it after the cuts.

    Args:
        replace: write what is merged back to the log.

    >>> from unabridged import assistant, run, user
    >>> from unabridged.testing import view_of
    >>> view = view_of([user("Hi."), user("It is me."), assistant("Hello."), user("Bye.")])
    >>> [message.text for message in run(MergeRuns(), view).messages]
    ['Hi.\n\nIt is me.', 'Hello.', 'Bye.']
    """

    replace: bool = flag(default=False)

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        changes = [
            Fold(
                sources,
                _merged(run, sources),
                reason="neighbours of one role",
                replace=self.replace,
            )
            for run in _runs(view)
            if (sources := Span.union(item.sources for item in run))
        ]

        return TrimResult(view, tuple(changes))


def _runs(view: View) -> Iterator[list[Item]]:
    """
    The runs of two and more items that become one.
    """
    newest = next((item for item in reversed(view) if _asks(item)), None)
    run: list[Item] = []
    for block in view.blocks:
        item = block[0]
        merges = _merges(block) and item is not newest
        if run and not (merges and _alike(run[-1].message, item.message)):
            if len(run) > 1:
                yield run
            run = []
        if merges:
            run.append(item)
    if len(run) > 1:
        yield run


def _asks(item: Item) -> bool:
    return bool(item.sources) and not item.wide and has_words(item.message)


def _alike(one: Message, other: Message) -> bool:
    return (one.role, one.name) == (other.role, other.name)


def _merges(block: Block) -> bool:
    """
    Whether it is one message of words and media alone, which nothing holds where it is.
    """
    item, message = block[0], block[0].message
    if len(block) > 1 or not item.sources or item.pin:
        return False
    if item.summary or (item.wide and "merged" not in message.metadata.value):
        return False

    return not any(isinstance(part, _APART) for part in message.parts) and not _unknown(message)


def _unknown(message: Message) -> bool:
    """
    Whether a format keeps more beside it than the shape it came in and empty keys.
    """
    formats: dict[str, Any] = message.extra.value if message.extra else {}
    return any(
        name not in _SHAPES and not (name == "keys" and not any(value.values()))
        for hints in formats.values()
        for name, value in hints.items()
    )


def _merged(run: Sequence[Item], sources: Span) -> Message:
    first = run[0].message
    parts: list[Part] = []
    for item in run:
        parts = _joined(parts, item.message.parts)

    return Message(
        first.role, parts, name=first.name, metadata={"merged": {"entries": str(sources)}}
    )


def _joined(parts: list[Part], more: Sequence[Part]) -> list[Part]:
    """
    All parts in order; where text meets text, one text with a blank line between.
    """
    match (parts[-1:], more[:1]):
        case ([Text() as last], (Text() as first,)) if not (last.extra or first.extra):
            text = "\n\n".join(part.text for part in (last, first) if part.text)
            return [*parts[:-1], Text(text), *more[1:]]
        case _:
            return [*parts, *more]
