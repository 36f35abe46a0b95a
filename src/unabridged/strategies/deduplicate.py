"""
Keeping one of several equal texts: the newest.
"""

from collections.abc import Iterator

from attrs import evolve, field, frozen

from unabridged.clearing import said
from unabridged.clips import free_blocks, may_change
from unabridged.contract import TrimContext
from unabridged.handles import handle_at
from unabridged.items import Item
from unabridged.messages import Message, Part, Text, ToolResult
from unabridged.options import flag, function, ge
from unabridged.pipeline import Strategy
from unabridged.results import TrimResult, rewrite
from unabridged.tokens import TokenCounter, kept
from unabridged.views import View

__all__ = ["Deduplicate"]


@frozen(repr=False)
class Deduplicate(Strategy):
    """
    Keep of equal tool results and texts, as a file that is read again and again, the newest.

    Each earlier one becomes a marker that points to the next by its handle, so
    a marker never changes again. Pins, calls that wait, the newest block, the
    newest user message, and messages with reasoning or a signature stay as they
    are. It reads the whole view once: put it after a cut, and before what clips.

    What it costs: whenever a text comes again, the prefix that a provider has
    cached ends at the copy before. `When(Over(tokens=…), Deduplicate())` waits
    with all of them until there is little room.

    Args:
        min_tokens: texts of fewer tokens stay.
        count: a counter of its own; the memory's by default.
        replace: write the markers back to the log's view; entries stay whole.

    Raises:
        ConfigError: *min_tokens* is below 1.

    >>> from unabridged import run, tokens
    >>> from unabridged.testing import call, result, user, view_of
    >>> page = " ".join(f"line{n}" for n in range(90))
    >>> said = [user("q"), call("c1"), result("c1", page), call("c2"), result("c2", page)]
    >>> print(run(Deduplicate(count=tokens.words), view_of(said)).messages[2].text)
    [the same 90 tokens again further down: entry 5]
    """

    min_tokens: int = field(default=64, kw_only=True, validator=ge(1, optional=False))
    count: TokenCounter | None = field(default=None, kw_only=True, validator=function)
    replace: bool = flag(default=False)

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        count = ctx.count if self.count is None else kept(self.count)
        made: dict[Item, Message] = {}
        for item, place, handle in _repeated(view):
            message = item.message
            marked = self._marked(message, message.parts[place], handle, count)
            if marked is not None:
                parts = list(made.get(item, message).parts)
                parts[place] = marked
                made[item] = evolve(message, parts=parts)

        in_order = dict(reversed(made.items()))  # `apply` makes all of it in one go then

        return rewrite(
            view, in_order, reason="the same text stands again further down", replace=self.replace
        )

    def _marked(
        self, message: Message, part: Part, handle: str, count: TokenCounter
    ) -> Part | None:
        """
        The part with a marker for its text; None if it is short, or that would gain nothing.
        """

        def size(part: Part) -> int:
            return count(evolve(message, parts=(part,)))

        tokens = size(part) - size(_holding(part, ""))
        text = f"[the same {said(tokens)} again further down: entry {handle}]"
        made = _holding(part, text)

        return made if tokens >= self.min_tokens and size(made) < size(part) else None


def _repeated(view: View) -> Iterator[tuple[Item, int, str]]:
    """
    The parts that may leave for the next copy of their text, each with the handle of that.
    """
    free = {
        item.first
        for block, limit in free_blocks(view)
        for item in block
        if not limit or item.first < limit
    }
    asked = view.log.links.asked
    later: dict[str, str] = {}
    for item in reversed(view):
        if not item.sources or item.wide:
            continue
        may = item.first in free and item.first != asked and may_change(item)
        for place in reversed(range(len(item.message.parts))):
            text = _text(item.message.parts[place])
            if not text:
                continue
            handle = handle_at(item.message, item.first, place)
            copy = later.get(text, handle)
            if may and copy != handle:
                yield item, place, copy
            later[text] = handle


def _text(part: Part) -> str:
    """
    The text of a part that is nothing but text; "" of any other.
    """
    if isinstance(part, Text):
        return part.text
    if isinstance(part, ToolResult) and all(isinstance(held, Text) for held in part.content):
        return part.text

    return ""


def _holding(part: Part, text: str) -> Part:
    """
    The part with another text in it.
    """
    match part:
        case Text():
            return evolve(part, text=text)
        case ToolResult():
            return evolve(part, content=(Text(text),))
        case _:
            return part
