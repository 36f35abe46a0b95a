"""
Keeping one of several equal texts, results and files: the newest.
"""

from collections.abc import Hashable, Iterator
from typing import Any, TypeAlias, TypeGuard

from attrs import evolve, field, frozen

from unabridged.clearing import marked_result, media_in, said
from unabridged.clips import CLEARED, free_blocks, may_change, noted
from unabridged.contract import TrimContext
from unabridged.handles import handle_at
from unabridged.hosted.table import answer_in
from unabridged.items import Item
from unabridged.json_values import Json, json_of
from unabridged.messages import (
    Audio,
    Document,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from unabridged.options import flag, function, ge
from unabridged.parts import Content
from unabridged.pipeline import Strategy
from unabridged.results import TrimResult, rewrite
from unabridged.tokens import TokenCounter, kept
from unabridged.views import View

__all__ = ["Deduplicate"]

MARK = "cache_control"

_Told: TypeAlias = Text | Image | Document | Audio | Opaque | ToolResult


@frozen(repr=False)
class Deduplicate(Strategy):
    """
    Keep of equal tool results, texts and files, as one that is read again and again, the newest.

    Images, documents, sounds and search results count too, in results and beside
    them: those of the same data, URL or file id, whatever cache marks stand on them.

    Each earlier one becomes a marker that says so, with the handle of its own
    entry: it never changes again, and is good also once the newest was retracted
    or deleted. Pins, calls that wait, the newest block, the newest user message,
    and messages with reasoning or a signature stay as they are. It reads the
    whole view once: put it after a cut, and before what clips.

    What it costs: whenever a text comes again, the prefix that a provider has
    cached ends at the copy before. `When(Over(tokens=…), Deduplicate())` waits
    with all of them until there is little room.

    Args:
        min_tokens: what has fewer tokens stays.
        count: a counter of its own; the memory's by default.
        replace: write the markers back to the log's view; entries stay whole. Where
            a later step writes back what it makes of the newest and this one does
            not, the earlier ones come back: it is the newest no more.

    Raises:
        ConfigError: *min_tokens* is below 1.

    >>> from unabridged import run, tokens
    >>> from unabridged.testing import call, result, user, view_of
    >>> page = " ".join(f"line{n}" for n in range(90))
    >>> said = [user("q"), call("c1"), result("c1", page), call("c2"), result("c2", page)]
    >>> print(run(Deduplicate(count=tokens.words), view_of(said)).messages[2].text)
    [the same 90 tokens again further down; the whole is entry 3]
    """

    min_tokens: int = field(default=64, kw_only=True, validator=ge(1, optional=False))
    count: TokenCounter | None = field(default=None, kw_only=True, validator=function)
    replace: bool = flag(default=False)

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        count = ctx.count if self.count is None else kept(self.count)
        made: dict[Item, Message] = {}
        for item, place, part, handle in _repeated(view):
            message = made.get(item, item.message)
            if (marked := self._marked(message, part, handle, count)) is not None:
                parts = (*message.parts[:place], marked, *message.parts[place + 1 :])
                made[item] = _without_words(evolve(message, parts=parts), place)
        in_order = dict(reversed(made.items()))  # `apply` makes all of it in one go then

        return rewrite(
            view, in_order, reason="the same stands again further down", replace=self.replace
        )

    def _marked(
        self, message: Message, part: _Told, handle: str, count: TokenCounter
    ) -> Text | ToolResult | None:
        """
        The part with a marker for what it holds; None if it is short, or that would gain nothing.
        """

        def size(part: _Told) -> int:
            return count(evolve(message, parts=(part,)))

        bare = _holding(part, "")
        if bare is None:
            return None
        tokens = size(part) - size(bare)
        content = part.content if isinstance(part, ToolResult) else (part,)
        what = ", ".join([said(tokens), *media_in(content)])
        text = f"[the same {what} again further down; the whole is entry {handle}]"
        made = _holding(part, text)
        if made is None:
            return None

        return made if tokens >= self.min_tokens and size(made) < size(part) else None


def _repeated(view: View) -> Iterator[tuple[Item, int, _Told, str]]:
    """
    The parts that may leave for the next copy of their text, each with its handle.
    """
    free = {
        item.first
        for block, limit in free_blocks(view)
        for item in block
        if not limit or item.first < limit
    }
    asked = view.log.links.asked
    later: dict[Hashable, str] = {}
    for item in reversed(view):
        if not item.sources or item.wide:
            continue
        may = item.first in free and item.first != asked and may_change(item)
        for place in reversed(range(len(item.message.parts))):
            part = item.message.parts[place]
            if not _is_told(part) or not (same := _same(part)):
                continue
            handle = handle_at(item.message, item.first, place)
            if may and later.get(same, handle) != handle:
                yield item, place, part, handle
            later[same] = handle


def _without_words(message: Message, place: int) -> Message:
    """
    The message, which says of the result at *place* that it is cleared, so it is not again.
    """
    if not isinstance(message.parts[place], ToolResult):
        return message
    number = sum(isinstance(part, ToolResult) for part in message.parts[:place])

    return noted(message, {f"result.{number}": CLEARED})


def _is_told(part: Part) -> TypeGuard[_Told]:
    """
    Whether the part is told to the model, and is no half of a pair that it would leave alone.
    """
    if not isinstance(part, Opaque):
        return not isinstance(part, Reasoning | ToolCall)
    data = part.data.value

    return isinstance(data, dict) and not any(key.lower().endswith("id") for key in data)


def _same(part: _Told) -> Hashable:
    """
    What is equal for parts that tell the same; nothing for one that tells nothing.
    """
    match part:
        case Text():
            return part.text
        case ToolResult() if all(isinstance(held, Text) for held in part.content):
            return part.text
        case ToolResult():
            first, *more = [_same(_without_ids(each)) for each in part.content]
            return (first, *more) if more else first
        case Opaque():
            return evolve(part, data=_unmarked(part.data))
        case _:
            return evolve(part, extra=_unmarked(part.extra)) if part.extra else part


def _without_ids(part: Content) -> Content:
    """
    An item that answers a call, less the ids that tell it from others.
    """
    if not isinstance(part, Opaque) or not answer_in(part):
        return part
    left = {key: value for key, value in part.data.value.items() if not key.endswith("id")}

    return evolve(part, data=json_of(left))


def _unmarked(given: Json) -> Json:
    """
    The JSON without marks of what a provider is to cache.
    """
    return json_of(_less(given.value)) if MARK in given.text else given


def _less(value: Any) -> Any:
    match value:
        case dict():
            left = {key: _less(inner) for key, inner in value.items() if key != MARK}
            return {key: inner for key, inner in left.items() if inner or inner == value[key]}
        case list():
            return [_less(inner) for inner in value]
        case _:
            return value


def _holding(part: _Told, text: str) -> Text | ToolResult | None:
    """
    The part with a text in it in place of what it holds; what is neither becomes a text.

    None of a hosted tool's item in which there is no place for one.
    """
    match part:
        case Text():
            return evolve(part, text=text)
        case ToolResult():
            return marked_result(part, text)
        case _:
            return Text(text)
