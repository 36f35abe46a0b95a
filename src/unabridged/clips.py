"""
What strategies that clip share: which messages they may touch, and how they note it.

A clipped message says in its metadata where it was clipped. With that, and as
it stands in for its entry, it is known again, and can be clipped shorter.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

from attrs import evolve

from unabridged.clipping import Clipping, middle
from unabridged.contract import TrimContext
from unabridged.errors import ConfigError
from unabridged.hosted.table import free_texts, with_texts
from unabridged.items import Block, Item
from unabridged.links import calls_of
from unabridged.messages import Message, Opaque, Part, Reasoning, Text
from unabridged.options import plural
from unabridged.pipeline import Pipeline, Strategy
from unabridged.results import TrimResult, rewrite
from unabridged.text import brief
from unabridged.tokens import TokenCounter, kept
from unabridged.tokens.digests import digest
from unabridged.tokens.from_client import FromClient
from unabridged.views import View

__all__ = [
    "CLEARED",
    "Clip",
    "Known",
    "as_clips",
    "clips_only",
    "free_blocks",
    "known_of",
    "may_change",
    "noted",
    "words_clipped",
]

KEY = "unabridged.clipped"
MADE = 16

# What became of messages that were clipped, by all that it follows from: a text is cut and counted
# once, not on each turn. It is kept with the message, for as long as anybody has that, and is
# found here for an equal one as long as anybody has what was made.
_MADE: WeakValueDictionary[Hashable, Message] = WeakValueDictionary()
CLEARED = "cleared"  # how a piece of which nothing is left was clipped

Known = Mapping[str, Any]


class Clip(Strategy, ABC):
    """
    A strategy that shortens messages one by one: what `TokenBudget(clip=…)` takes.

    One of your own is a frozen attrs class with the fields below, and a method
    `shortened` from an item to a message with the same calls, results and ids. With
    a method `leans_on` it is asked once for each message, not on each turn.

    >>> from unabridged import ClipToolResults
    >>> isinstance(ClipToolResults(2_000), Clip)
    True
    """

    __slots__ = ()

    tokens: int
    pins: bool
    count: TokenCounter | None
    replace: bool

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        """
        Clip what is too long in the whole view.
        """
        return rewrite(
            view,
            self.clipped(view, view, ctx.count),
            reason=f"clipped to {plural(self.tokens, 'token')}",
            replace=self.replace,
        )

    def clipped(
        self, view: View, items: Iterable[Item], count: TokenCounter
    ) -> dict[Item, Message]:
        """
        Those of the *items* that are too long, each with what it becomes.
        """
        weigh = count if self.count is None else kept(self.count)
        found: dict[Item, Message] = {}
        for item in items:
            if weigh(item.message) <= self.tokens or not may_change(item):
                continue
            if not self.pins and any(mate.pin for mate in _block(view, item)):
                continue
            message = self._once_shortened(view, item, weigh)
            if message != item.message:
                found[item] = message

        return found

    def _once_shortened(self, view: View, item: Item, count: TokenCounter) -> Message:
        """
        What the item's message becomes, worked out now or on an earlier turn.
        """
        leans_on = self.leans_on(view, item)
        # what an endpoint has not counted yet counts roughly, and is clipped better tomorrow
        if leans_on is None or isinstance(getattr(count, "counter", None), FromClient):
            return self._shortened(view, item, count)
        key = self, item.first, item.stands_in, count, leans_on
        made: dict[Hashable, Message | None]
        try:
            made = item.message._made  # noqa: SLF001  a place of ours
        except AttributeError:
            made = {}
            object.__setattr__(item.message, "_made", made)
        try:
            if key in made:
                return made[key] or item.message
        except TypeError:  # an option that cannot be hashed
            return self._shortened(view, item, count)
        anywhere = digest(item.message), *key
        known = _MADE.get(anywhere)
        if known is None:
            known = self._shortened(view, item, count)
            if known is not item.message:
                _MADE[anywhere] = known
        if len(made) >= MADE:
            made.pop(next(iter(made)), None)
        made[key] = None if known is item.message else known  # nothing that refers to itself

        return known

    def _shortened(self, view: View, item: Item, count: TokenCounter) -> Message:
        message, how = self.shortened(view, item, count, known_of(item))

        return item.message if message == item.message else noted(message, how)

    def leans_on(self, view: View, item: Item) -> Hashable:
        """
        What `shortened` takes from the view, beside the item; None if it is worked out each turn.

        With a value here, what became of a message is remembered for the turns to come.
        """
        return None

    @abstractmethod
    def shortened(
        self, view: View, item: Item, count: TokenCounter, known: Known
    ) -> tuple[Message, dict[str, Any]]:
        """
        The item's message as it is to be, and how it was clipped; *known* is how it was before.
        """


def may_change(item: Item) -> bool:
    """
    Whether the item stands for one entry, and no provider wants it back byte for byte.
    """
    return bool(item.sources) and not item.wide and not any(map(_is_sealed, item.message.parts))


def _is_sealed(part: Part) -> bool:
    """
    Whether the part thinks, or is signed: then its message comes back as it was or not at all.
    """
    if isinstance(part, Opaque):
        return "hinking" in part.data.text or "ignature" in part.data.text

    return isinstance(part, Reasoning) or "ignature" in part.extra.text


def free_blocks(view: View) -> Iterator[tuple[Block, int]]:
    """
    The blocks without a pin, each with the entry from which on nothing of it may be shortened.

    That is 0 for no such entry; in the newest block, and in the one of a call
    that waits, it is the newest message that calls: nobody has read its results.
    """
    stop, pending = view.sources.last, view.log.links.pending
    for block in view.blocks:
        if any(item.pin for item in block):
            continue
        entries = [item.sources for item in block if item.sources]
        if any(stop in span or pending in span for span in entries):
            calling = [item.first for item in block if calls_of(item.message)]
            yield block, max(calling, default=block[0].first)
        else:
            yield block, 0


def _block(view: View, item: Item) -> Iterator[Item]:
    return (view.at(place) for place in view.block_at(view.find(item.first)))


def known_of(item: Item) -> Known:
    """
    How the pieces of an item were clipped before, by their names: "result.0", "call.1", "text".
    """
    if not item.stands_in or not item.message.metadata:
        return {}
    known = item.message.metadata.value.get(KEY)

    return known if isinstance(known, dict) else {}


def noted(message: Message, how: Mapping[str, Any]) -> Message:
    """
    The message, which says in its metadata how its pieces were clipped.
    """
    given: dict[str, Any] = message.metadata.value
    known = given.get(KEY)
    clipped = {**(known if isinstance(known, dict) else {}), **how}

    return evolve(message, metadata={**given, KEY: clipped})


def words_clipped(
    parts: Iterable[Part], clip: Callable[[str], tuple[str, Clipping] | None]
) -> tuple[list[Part], Clipping] | None:
    """
    The parts with their words clipped as if they were one text; what is no text stays.

    The words of an item that answers a call, such as what a shell printed, count
    where its provider takes it shortened.

    >>> from unabridged import Image
    >>> parts = [Text("abc"), Image(file="f"), Text("def")]
    >>> words_clipped(parts, lambda text: ("a…f", Clipping(1, 1, 4)))[0][::2]
    [Text(text='a…'), Text(text='f')]
    """
    parts = list(parts)
    held = [[part.text] if isinstance(part, Text) else free_texts(part) for part in parts]
    whole = "".join(itertools.chain.from_iterable(held))
    found = clip(whole)
    if found is None:
        return None
    text, how = found
    made: list[Part] = []
    start = 0
    for part, texts in zip(parts, held, strict=True):
        lefts: list[str] = []
        for each in texts:
            stop = start + len(each)
            left = whole[start : min(stop, how.head)]
            left += middle(text, how) if start <= how.head < stop else ""
            left += whole[max(start, len(whole) - how.tail) : stop]
            lefts.append(left)
            start = stop
        if isinstance(part, Opaque) and texts:
            made.append(with_texts(part, lefts))
        elif not isinstance(part, Text) or not part.text:
            made.append(part)
        elif lefts[0]:
            made.append(evolve(part, text=lefts[0]))

    return made, how


def as_clips(value: Clip | Pipeline | Sequence[Clip]) -> tuple[Clip, ...]:
    """
    A converter: one clip, a chain or a list of them, as a tuple.
    """
    if isinstance(value, Pipeline):
        return value.steps
    if isinstance(value, list | tuple):
        return tuple(value)

    return (value,)  # type: ignore[return-value]  # the validator has the say


def clips_only(instance: object, attribute: Any, value: tuple[object, ...]) -> None:
    """
    A validator: nothing but strategies that clip.
    """
    for step in value:
        if not isinstance(step, Clip):
            msg = (
                f"{type(instance).__name__}: `{attribute.name}` takes ClipToolResults, "
                f"ClipArguments and ClipMessages, got {brief(step)}"
            )
            raise ConfigError(msg)
