"""
Clipping what tools gave back.
"""

from collections.abc import Hashable
from typing import Any, cast

from attrs import evolve, field, frozen

from unabridged.clipping import Clipping, Limits, clip
from unabridged.clips import CLEARED, Clip, Known, words_clipped
from unabridged.errors import ConfigError
from unabridged.handles import handle_at
from unabridged.items import Item
from unabridged.messages import Content, Message, Text, ToolResult
from unabridged.options import as_names, flag, function, ge, names_only
from unabridged.tokens import TokenCounter
from unabridged.tool_loops import answers
from unabridged.views import View

__all__ = ["ClipToolResults"]


@frozen(repr=False)
class ClipToolResults(Clip):
    """
    Clip each tool result of more than *tokens* tokens: its head and tail stay, with a marker.

    The marker says how much is left out and which entry holds the whole. Images
    and documents stay, an error keeps its first line before all else, and a
    message with reasoning or a signature is left alone. A result is as large as
    a message of its words alone. It reads the whole view: put it after a cut, or
    into `TokenBudget(clip=…)`.

    Args:
        tokens: the most a result may have, marker included; the marker stays, also
            where it alone (of about 15 tokens) is more.
        head: tokens of its beginning to keep; by default what *tail* leaves, or half.
        tail: tokens of its end to keep; by default what *head* leaves, or half. Where
            the marker leaves no room for both, they share it.
        exclude: names of tools whose results stay whole.
        pins: whether pinned messages are clipped too.
        count: a counter of its own; the memory's by default.
        replace: write what is clipped back to the log's view.

    Raises:
        ConfigError: a number is too small, or *head* and *tail* are more than *tokens*.

    >>> from unabridged import run, tokens
    >>> from unabridged.testing import call, result, user, view_of
    >>> rows = " ".join(f"row{n}" for n in range(500))
    >>> view = view_of([user("q"), call("c1"), result("c1", rows)])
    >>> print(run(ClipToolResults(18, count=tokens.words), view).messages[2].text)
    row0 row1 row2
    [… 494 tokens left out; the whole is entry 3 …]
    row497 row498 row499
    """

    tokens: int = field(validator=ge(1, optional=False))
    head: int | None = field(default=None, kw_only=True, validator=ge(0))
    tail: int | None = field(default=None, kw_only=True, validator=ge(0))
    exclude: tuple[str, ...] = field(
        default=(), kw_only=True, converter=as_names, validator=names_only
    )
    pins: bool = flag(default=False)
    count: TokenCounter | None = field(default=None, kw_only=True, validator=function)
    replace: bool = flag(default=False)

    def __attrs_post_init__(self) -> None:
        if (self.head or 0) + (self.tail or 0) > self.tokens:
            msg = (
                f"ClipToolResults: `head` ({self.head or 0:_}) and `tail` ({self.tail or 0:_}) "
                f"must fit in `tokens` ({self.tokens:_}) together"
            )
            raise ConfigError(msg)

    def leans_on(self, view: View, item: Item) -> Hashable:
        """
        Which results stay whole.
        """
        return frozenset(_spared(view, item, self.exclude))

    def shortened(
        self, view: View, item: Item, count: TokenCounter, known: Known
    ) -> tuple[Message, dict[str, Any]]:
        """
        The message with its results clipped.
        """
        spared = _spared(view, item, self.exclude)
        parts = list(item.message.parts)
        how: dict[str, Any] = {}
        held = [(n, part) for n, part in enumerate(parts) if isinstance(part, ToolResult)]
        for number, (place, given) in enumerate(held):
            key = f"result.{number}"
            if number in spared or known.get(key) == CLEARED:
                continue
            handle = handle_at(item.message, item.first, place)
            found = self._clipped(item.message, given, handle, count, known.get(key))
            if found is not None:
                parts[place], how[key] = found

        return evolve(item.message, parts=parts), how

    def _clipped(
        self, message: Message, result: ToolResult, handle: str, count: TokenCounter, before: Any
    ) -> tuple[ToolResult, list[int]] | None:
        def size(text: str) -> int:
            alone = evolve(result, content=(Text(text),))
            return count(evolve(message, parts=(alone,)))

        def shorter(text: str) -> tuple[str, Clipping] | None:
            least = len(text.partition("\n")[0]) if result.is_error else 0
            limits = Limits(self.tokens, self.head, self.tail, least=least)
            return clip(text, limits, size, handle, Clipping.of(before))

        found = words_clipped(result.content, shorter)
        if found is None:
            return None
        content, done = found

        return evolve(result, content=cast("list[Content]", content)), done.numbers


def _spared(view: View, item: Item, exclude: tuple[str, ...]) -> set[int]:
    """
    Which of the results of an item stay whole, by the names of their tools.
    """
    if not exclude:
        return set()
    block = (view.at(place) for place in view.block_at(view.find(item.first)))
    calls = next((calls for mate, calls in answers(block).given if mate.first == item.first), ())
    spared = {n for n, made in enumerate(calls) if made is not None and made.name in exclude}
    if item.message.name in exclude:
        spared.update(range(len(calls)))

    return spared
