"""
Taking out what a model thought before it answered.
"""

from collections.abc import Collection, Iterator
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from unabridged.contract import TrimContext
from unabridged.items import Block, Item
from unabridged.json_values import Json, json_of
from unabridged.links import calls_of
from unabridged.messages import Message, Opaque, Part, Reasoning
from unabridged.options import flag, ge, plural
from unabridged.pipeline import Strategy
from unabridged.records import Drop
from unabridged.results import TrimResult, rewrite
from unabridged.spans import Span
from unabridged.views import View

__all__ = ["DropReasoning"]

# what no format reads as reasoning, or none did when it was stored: keys of a message, and parts
_KEYS = frozenset(
    {
        *("reasoning", "reasoning_content", "reasoning_details", "reasoning_text"),
        *("thinking", "thinking_blocks", "encrypted_content"),
    }
)
_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content"})
_HINTS = ("hinking", "easoning", '"thought"')

Thought: TypeAlias = tuple[Item, ...]


@frozen(repr=False)
class DropReasoning(Strategy):
    """
    Take the reasoning out of all but the newest *keep_last* messages that have any.

    That is all that it thought, in whatever form: text, summaries, what is signed,
    encrypted or redacted, also where only its provider understands it.
    Nothing is taken from the running tool loop, that is, after the newest user
    message or in its block, nor from what is pinned or waits for a result. A
    message of reasoning alone leaves, and what it led to stays, without the id
    by which a provider would ask for it. It reads the whole view: put it after
    a cut.

    Args:
        keep_last: how many thoughts to keep; a reasoning message and what it
            led to are one.
        replace: write what leaves and what is reworded back to the log.

    Raises:
        ConfigError: *keep_last* is below 0.

    >>> from unabridged import Reasoning, assistant, run, user
    >>> from unabridged.testing import view_of
    >>> thought = assistant([Reasoning("A greeting. I greet back."), "Hello."])
    >>> result = run(DropReasoning(), view_of([user("hi"), thought, user("bye")]))
    >>> result.messages[1] == assistant("Hello.")
    True
    """

    keep_last: int = field(default=0, validator=ge(0, optional=False))
    replace: bool = flag(default=False)

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        old = [item for thought in self._old(view) for item in thought]
        bare = Span.union(item.sources for item in old if _is_bare(item.message))
        reworded = {item: _thoughtless(item.message) for item in old if not _is_bare(item.message)}
        reason = f"before the last {plural(self.keep_last, 'thought')}"
        if not self.keep_last:
            reason = "before the newest user message"
        dropped = (Drop(bare, reason=f"reasoning {reason}", replace=self.replace),) if bare else ()
        done = rewrite(view, reworded, reason=f"reasoning {reason}", replace=self.replace)

        return evolve(done, changes=(*dropped, *done.changes))

    def _old(self, view: View) -> list[Thought]:
        links = view.log.links
        stays = {seq for seq in (links.asked, links.pending) if seq}
        thoughts: list[tuple[Thought, bool]] = []
        for block in view.blocks:
            free = not any(item.pin or not stays.isdisjoint(item.sources) for item in block)
            thoughts += [(thought, free) for thought in _thoughts(block)]
        older = thoughts[: len(thoughts) - self.keep_last] if self.keep_last else thoughts

        return [thought for thought, free in older if free and thought[0].first < links.asked]


def _thoughts(block: Block) -> Iterator[Thought]:
    """
    The messages that think, each with those that its reasoning led to.
    """
    thought: list[Item] = []
    for item in block:
        if not (thought and _leads_to(thought[-1], item)):
            if any(map(_thinks, thought)):
                yield tuple(thought)
            thought = []
        thought.append(item)
    if any(map(_thinks, thought)):
        yield tuple(thought)


def _thinks(item: Item) -> bool:
    answers = item.message.role == "assistant" and item.sources and not item.wide
    return bool(answers and (any(map(_is_thought, item.message.parts)) or _aside(item.message)))


def _is_thought(part: Part) -> bool:
    """
    Whether the part is reasoning, also where only its provider can read it.
    """
    if not isinstance(part, Opaque):
        return isinstance(part, Reasoning)
    text = part.data.text
    if not any(hint in text for hint in _HINTS):
        return False
    data = part.data.value
    if not isinstance(data, dict):
        return False

    return data.get("type") in _TYPES or "reasoningContent" in data or data.get("thought") is True


def _aside(message: Message) -> bool:
    """
    Whether reasoning stands in keys beside the parts.
    """
    text = message.extra.text
    if "easoning" not in text and "hinking" not in text and "encrypted_content" not in text:
        return False

    return _without_hints(message.extra) != message.extra


def _leads_to(item: Item, after: Item) -> bool:
    """
    Whether the links of the log tie it to the item after it by the reasoning on which it ends.
    """
    said = after.message
    speaks = said.role == "assistant" or bool(calls_of(said))
    follows = after.sources and not after.wide and after.first == item.first + 1

    return bool(
        _thinks(item) and isinstance(item.message.parts[-1], Reasoning) and speaks and follows
    )


def _is_bare(message: Message) -> bool:
    return bool(message.parts) and all(map(_is_thought, message.parts))


def _thoughtless(message: Message) -> Message:
    """
    The message without reasoning, and without sending the id that it got with it.
    """
    parts = [part for part in message.parts if not _is_thought(part)]
    return evolve(message, parts=parts, extra=_without_hints(message.extra, "id"))


def _without_hints(extra: Json, *sent_no_more: str) -> Json:
    """
    What a format keeps beside the fields, less the reasoning in it.

    Keys in *sent_no_more* count as not sent to us.
    """
    if not extra:
        return extra
    formats: dict[str, Any] = extra.value
    left: dict[str, Any] = {}
    for name, hints in formats.items():
        if isinstance(hints, dict):
            hints = _less(hints, "sent", sent_no_more)  # noqa: PLW2901  rebuilt
            hints = _less(hints, "keys", _KEYS)  # noqa: PLW2901
        if hints:
            left[name] = hints

    return json_of(left)


def _less(hints: dict[str, Any], place: str, names: Collection[str]) -> dict[str, Any]:
    """
    The hints without what has one of the *names*, in the list or the object at *place*.
    """
    found = hints.get(place, ())
    if not any(name in found for name in names):
        return hints
    kept = (
        {key: value for key, value in found.items() if key not in names}
        if isinstance(found, dict)
        else [key for key in found if key not in names]
    )
    rest = {key: value for key, value in hints.items() if key != place}

    return rest | ({place: kept} if kept else {})
