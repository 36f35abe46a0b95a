"""
Clipping what users and models said.
"""

from collections.abc import Hashable
from typing import Any

from attrs import evolve, field, frozen

from unabridged.clipping import Clipping, Limits, clip
from unabridged.clips import Clip, Known, words_clipped
from unabridged.handles import Handle
from unabridged.items import Item
from unabridged.messages import Message, Text
from unabridged.options import flag, function, ge
from unabridged.tokens import TokenCounter
from unabridged.views import View

__all__ = ["ClipMessages"]

_SPEAK = frozenset({"user", "assistant"})
_KEY = "text"


@frozen(repr=False)
class ClipMessages(Clip):
    """
    Clip the words of each user's or assistant's message of more than *tokens* tokens.

    Head and tail stay, with a marker between that says how much is left out and
    which entry holds the whole. The newest user message stays as it is, unless
    *newest* says otherwise, and so does a message with reasoning or a
    signature. Calls, results, images and documents are left alone. It reads the
    whole view: put it after a cut, or into `TokenBudget(clip=…)`.

    Args:
        tokens: the most the words of a message may have, marker included; the marker
            stays, also where it alone (of about 15 tokens) is more.
        newest: whether the newest user message is clipped too.
        pins: whether pinned messages are clipped too.
        count: a counter of its own; the memory's by default.
        replace: write what is clipped back to the log's view.

    Raises:
        ConfigError: *tokens* is below 1.

    >>> from unabridged import run, tokens, user
    >>> from unabridged.testing import view_of
    >>> story = " ".join(f"line{n}" for n in range(50))
    >>> view = view_of([user(story), user("Go on.")])
    >>> print(run(ClipMessages(17, count=tokens.words), view).messages[0].text)
    line0 line1 line2
    [… 44 tokens left out; the whole is entry 1 …]
    line47 line48 line49
    """

    tokens: int = field(validator=ge(1, optional=False))
    newest: bool = flag(default=False)
    pins: bool = flag(default=False)
    count: TokenCounter | None = field(default=None, kw_only=True, validator=function)
    replace: bool = flag(default=False)

    def leans_on(self, view: View, item: Item) -> Hashable:
        """
        Whether it is the newest user message.
        """
        return item.first == view.log.links.asked

    def shortened(
        self, view: View, item: Item, count: TokenCounter, known: Known
    ) -> tuple[Message, dict[str, Any]]:
        """
        The message with its words clipped.
        """
        message = item.message
        is_newest = item.first == view.log.links.asked
        if message.role not in _SPEAK or (is_newest and not self.newest):
            return message, {}

        def size(text: str) -> int:
            return count(evolve(message, parts=(Text(text),)))

        def shorter(text: str) -> tuple[str, Clipping] | None:
            before = Clipping.of(known.get(_KEY))
            return clip(text, Limits(self.tokens), size, str(Handle(item.first)), before)

        found = words_clipped(message.parts, shorter)
        if found is None:
            return message, {}
        parts, how = found

        return evolve(message, parts=parts), {_KEY: how.numbers}
