"""
Keeping, or dropping, the messages of one kind.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from attrs import field, frozen

from unabridged.contract import TrimContext
from unabridged.errors import ConfigError
from unabridged.items import Item
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
from unabridged.options import choice, flag, function
from unabridged.pipeline import Strategy
from unabridged.results import TrimResult, keep
from unabridged.steps import label
from unabridged.text import brief
from unabridged.tool_loops import answers
from unabridged.views import View

__all__ = ["Filter"]

_KINDS: dict[str, type[Part]] = {
    "text": Text,
    "image": Image,
    "document": Document,
    "audio": Audio,
    "reasoning": Reasoning,
    "call": ToolCall,
    "result": ToolResult,
    "opaque": Opaque,
}


def _words(value: str | Sequence[str] | None) -> str | tuple[str, ...] | None:
    """
    One word as itself, several as a tuple, so that equal filters are equal values.
    """
    if not isinstance(value, list | tuple):
        return value  # type: ignore[return-value]  # the validator has the say

    return value[0] if len(value) == 1 else tuple(value)


def _several(words: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else words or ()


def _named(instance: object, attribute: Any, value: Any) -> None:
    """
    A validator: None, a word, or several.
    """
    if value is None:
        return
    words = _several(value) if isinstance(value, str | tuple) else ()
    if not words or not all(isinstance(word, str) and word.strip() for word in words):
        msg = (
            f"{type(instance).__name__}: `{attribute.name}` must be a word, or a list of words, "
            f"got {brief(value)}"
        )
        raise ConfigError(msg)


def _known(instance: object, attribute: Any, value: Any) -> None:
    """
    A validator: None, a kind of part, or several.
    """
    _named(instance, attribute, value)
    wrong = [kind for kind in _several(value) if kind not in _KINDS]
    if wrong:
        msg = (
            f"{type(instance).__name__}: `{attribute.name}` must be one or several of "
            f"{', '.join(map(repr, _KINDS))}, got {brief(wrong[0])}"
        )
        raise ConfigError(msg)


@frozen(repr=False)
class Filter(Strategy):
    """
    Keep the messages to which all that is given applies, or drop them.

    Blocks go whole. Under "keep" a block stays if one message in it matches;
    under "drop" it goes if every message in it does. What any strategy keeps
    stays here too: pins, calls that wait, the newest user message, the newest
    block, and the question of the first message kept. It reads the whole view:
    on long threads, put a cut before it.

    Args:
        role: the role, or several.
        name: the message's name, or the name of a tool that it calls or answers
            for; or several.
        kind: what it holds, in its tool results too: "text", "image",
            "document", "audio", "reasoning", "call", "result", "opaque"; or several.
        where: a function `item -> bool`.
        matching: what becomes of the messages that match: "keep" or "drop".
        replace: write what leaves back to the log.

    Raises:
        ConfigError: none of the four is given, or a kind is unknown.

    >>> from unabridged import run
    >>> from unabridged.testing import call, result, talk, texts, user, view_of
    >>> view = view_of([user("q0"), call("c1", name="peek"), result("c1"), *talk(2)])
    >>> texts(run(Filter(name="peek", matching="drop"), view))
    ['q0', 'q1', 'a1', 'q2', 'a2']
    """

    role: str | tuple[str, ...] | None = field(
        default=None, kw_only=True, converter=_words, validator=_named
    )
    name: str | tuple[str, ...] | None = field(
        default=None, kw_only=True, converter=_words, validator=_named
    )
    kind: str | tuple[str, ...] | None = field(
        default=None, kw_only=True, converter=_words, validator=_known
    )
    where: Callable[[Item], bool] | None = field(default=None, kw_only=True, validator=function)
    matching: Literal["keep", "drop"] = choice("keep", "drop")
    replace: bool = flag(default=False)

    def __attrs_post_init__(self) -> None:
        if not self._given():
            msg = "Filter: give at least one of `role`, `name`, `kind`, `where`"
            raise ConfigError(msg)

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        answered = _answered(view) if self.name is not None else {}
        wanted = [
            item
            for item in view
            if self._matches(item, answered.get(item.first, ())) == (self.matching == "keep")
        ]
        verb = "does not match" if self.matching == "keep" else "matches"

        return keep(view, wanted, reason=f"{verb} {self._given()}", replace=self.replace)

    def _given(self) -> str:
        asked = [(name, getattr(self, name)) for name in ("role", "name", "kind", "where")]
        return ", ".join(f"{name}={label(value)}" for name, value in asked if value is not None)

    def _matches(self, item: Item, answered: Sequence[str]) -> bool:
        message = item.message
        kinds = tuple(_KINDS[kind] for kind in _several(self.kind))
        return (
            (self.role is None or message.role in _several(self.role))
            and (
                self.name is None
                or not {*_several(self.name)}.isdisjoint({*_names(message), *answered})
            )
            and (self.kind is None or any(isinstance(part, kinds) for part in _parts(message)))
            and (self.where is None or bool(self.where(item)))
        )


def _answered(view: View) -> dict[int, tuple[str, ...]]:
    """
    The names of the tools for which an entry answers.
    """
    return {
        item.first: tuple(call.name for call in calls if call is not None)
        for block in view.blocks
        for item, calls in answers(block).given
    }


def _names(message: Message) -> Iterator[str]:
    if message.name is not None:
        yield message.name
    for call in message.tool_calls:
        yield call.name


def _parts(message: Message) -> Iterator[Part]:
    for part in message.parts:
        yield part
        if isinstance(part, ToolResult):
            yield from part.content
