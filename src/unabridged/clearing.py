"""
Clearing: old tool results, and the arguments of their calls, become short markers.

A marker names the tool, the tokens that were there, media by their kinds, and
the handle under which the whole is fetched. What is cleared says so in the
metadata of its message, as what is clipped does, so it is known again.
"""

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from attrs import evolve, field, frozen

from unabridged.clipping import Clipping, mark, middle
from unabridged.clips import CLEARED, free_blocks, known_of, may_change, noted
from unabridged.graphemes import cut_before
from unabridged.handles import handle_at
from unabridged.hosted.table import answer_in, marked_item
from unabridged.items import Block, Item
from unabridged.json_values import json_text
from unabridged.messages import (
    Message,
    Opaque,
    Part,
    Text,
    ToolCall,
    ToolResult,
    quick_message,
)
from unabridged.originals import named, plain
from unabridged.tokens import TokenCounter
from unabridged.tool_loops import answers
from unabridged.views import View

__all__ = ["Clearing", "Marker", "cleared", "marked_result", "media_in", "said"]

FIRST_LINE = 500  # characters of an error's first line; some servers say all in one
MOST_NAMED = 3  # media in a marker
SHORT = 40  # characters; a marker of arguments has more
_ITEMS = frozenset({"item", "other"})  # how formats call a call whose arguments are its whole item

T = TypeVar("T")


class _Piece(NamedTuple):
    """
    A call or a result, its item, its place among the parts there, and its key in the metadata.
    """

    item: Item
    place: int
    key: str
    part: ToolCall | ToolResult


class _Pair(NamedTuple):
    """
    A result, the call it answers, and whether they may change; *spared* are they by their tool.
    """

    result: _Piece
    call: ToolCall | None
    called: _Piece | None
    free: bool
    spared: bool


class Marker(NamedTuple):
    """
    The *part* that stands for a piece of an item, and the tokens it gains.

    *seq* is the entry of the result that it is of.

    >>> Marker._fields
    ('seq', 'item', 'place', 'key', 'part', 'gain')
    """

    seq: int
    item: Item
    place: int
    key: str
    part: Part
    gain: int


@frozen
class Clearing:
    """
    The results of a view, and how they are cleared.

    >>> from unabridged.testing import call, result, user, view_of
    >>> from unabridged.tokens import words
    >>> view = view_of([user("q"), call("c1"), result("c1", "row " * 50), user("and?")])
    >>> Clearing.of(view, words).markers(4)[0].part.text
    '[look result cleared: 50 tokens; the whole is entry 3]'
    """

    count: TokenCounter = field(eq=False, repr=False)
    end: int
    pairs: tuple[_Pair, ...] = field(repr=False)

    @classmethod
    def of(
        cls,
        view: View,
        count: TokenCounter,
        exclude: tuple[str, ...] = (),
        *,
        inputs: bool = False,
    ) -> "Clearing":
        """
        What may be cleared: nothing of tools in *exclude*, arguments too where *inputs* says so.
        """
        asked = view.log.links.asked
        pairs: list[_Pair] = []
        for block, limit in free_blocks(view):
            for pair in _pairs(block, exclude):
                seq = pair.result.item.first
                free = seq != asked and (not limit or seq < limit)
                pairs.append(pair._replace(free=free, called=pair.called if inputs else None))

        return cls(count, view.log.seq + 1, tuple(pairs))

    def edge(self, last: int | None, tokens: int | None) -> tuple[int, int]:
        """
        The first entry of the results that stay: by number alone, and by number and tokens.

        The newest messages with *last* results stay, and those of *tokens* tokens together.
        """
        by_number = by_tokens = self.end
        results = used = 0
        newest = (pair.result.item for pair in reversed(self.pairs) if not pair.spared)
        for _, group in itertools.groupby(newest, key=id):
            item, *others = group
            used += self.count(item.message)
            if last is not None and results < last:
                by_number = item.first
            elif tokens is None or used > tokens:
                break
            if tokens is not None and used <= tokens:
                by_tokens = item.first
            results += 1 + len(others)

        return by_number, min(by_number, by_tokens)

    def markers(self, before: int) -> tuple[Marker, ...]:
        """
        What stands for the results before entry *before*, and for their calls.
        """
        free = (pair for pair in self.pairs if pair.free and not pair.spared)
        due = itertools.takewhile(lambda pair: pair.result.item.first < before, free)
        made = (
            self._marker(pair.result.item.first, piece, pair.call)
            for pair in due
            for piece in (pair.result, pair.called)
            if piece is not None
        )

        return tuple(marker for marker in made if marker is not None and marker.gain > 0)

    def _marker(self, seq: int, piece: _Piece, call: ToolCall | None) -> Marker | None:
        """
        The marker of a piece; None where there is none, and of what is cleared already.
        """
        item, place, key, part = piece
        known = known_of(item).get(key)
        if known == CLEARED or not may_change(item):
            return None
        made: Part | None
        if isinstance(part, ToolCall):
            made = self._arguments(piece, part, known)
        else:
            made = self._result(piece, part, known, call)
        if made is None:
            return None
        gain = self._size(item, part) - self._size(item, made)

        return Marker(seq, item, place, key, made, gain)

    def _arguments(self, piece: _Piece, call: ToolCall, known: object) -> ToolCall | None:
        """
        A call with nothing but a marker in its arguments; None of what is short.

        Freeform input, which stands there as a JSON string, stays one; all else, even
        what is no JSON, becomes an object. Where the arguments are the whole item of a
        hosted tool they stay: a format writes it from them.
        """
        if len(call.arguments) < SHORT or _is_item(call):
            return None
        item, handle = piece.item, handle_at(piece.item.message, piece.item.first, piece.place)
        bare = self._size(item, evolve(call, arguments=""))
        left = self._size(item, call) - bare
        for how in _clippings(known):
            marker = json_text([mark(how.left, handle)])
            left += how.left - self._size(item, evolve(call, arguments=marker)) + bare
        text = f"{said(left)}; the whole is entry {handle}"
        if call.arguments.lstrip().startswith('"'):
            name = plain(call.name) or "tool"
            return evolve(call, arguments=json_text(f"[{name} input {CLEARED}: {text}]"))

        return evolve(call, arguments=json_text({CLEARED: text}))

    def _result(
        self, piece: _Piece, result: ToolResult, known: object, call: ToolCall | None
    ) -> ToolResult | None:
        """
        A result with nothing but its marker, and what went wrong.

        None of a hosted tool's item in which there is no place for one.
        """
        item, handle = piece.item, handle_at(piece.item.message, piece.item.first, piece.place)
        bare = self._size(item, evolve(result, content=()))
        left = self._size(item, result) - bare
        if (how := Clipping.of(known)) is not None:
            marker = evolve(result, content=(Text(middle(result.text, how)),))
            left += how.left - self._size(item, marker) + bare
        name = plain(call.name if call is not None else item.message.name or "") or "tool"
        what = ", ".join([said(left), *media_in(result.content)])
        text = f"[{name} result cleared: {what}; the whole is entry {handle}]"

        return marked_result(result, f"{_first_line(result)}{text}")

    def _size(self, item: Item, part: Part) -> int:
        """
        The tokens of a message of this part alone.
        """
        said = item.message
        if len(said.parts) == 1 and said.parts[0] is part:
            return self.count(said)

        return self.count(  # at a third of the cost of `evolve`: it is done for each, each time
            quick_message(said.role, (part,), said.name, said.id, said.metadata, said.extra)
        )


def marked_result(result: ToolResult, text: str) -> ToolResult | None:
    """
    The result with nothing but this *text*; what is else in a hosted tool's item stays.

    None of such an item in which there is no place for a text, as of a picture of a screen.

    >>> marked_result(ToolResult("c1", "a long text"), "cleared").text
    'cleared'
    """
    if not any(map(answer_in, result.content)):
        return evolve(result, content=(Text(text),))
    content = [
        marked_item(part, text) if isinstance(part, Opaque) and answer_in(part) else part
        for part in result.content
    ]
    made = [part for part in content if part is not None]

    return evolve(result, content=made) if len(made) == len(content) else None


def cleared(markers: Iterable[Marker], before: int) -> dict[Item, Message]:
    """
    The messages with the markers of results before entry *before*, in the order of the view.

    >>> cleared([], 4)
    {}
    """
    made: dict[Item, Message] = {}
    of_items = sorted(
        (marker for marker in markers if marker.seq < before),
        key=lambda marker: (marker.item.first, marker.place),
    )
    for item, group in itertools.groupby(of_items, key=lambda marker: marker.item):
        parts = list(item.message.parts)
        how: dict[str, str] = {}
        for marker in group:
            parts[marker.place], how[marker.key] = marker.part, CLEARED
        made[item] = noted(evolve(item.message, parts=parts), how)

    return made


def media_in(parts: Iterable[Part]) -> list[str]:
    """
    What is no text among the parts, as markers name it: the first few, and how many more.

    >>> from unabridged import Image
    >>> media_in([Text("See:"), *[Image(file="f")] * 5])
    ['image', 'image', 'image', '2 more']
    """
    found = [named(part) for part in parts if not isinstance(part, Text)]
    more = len(found) - MOST_NAMED

    return found if more <= 0 else [*found[:MOST_NAMED], f"{more} more"]


def said(tokens: int) -> str:
    """
    A number of tokens as markers say it: at least one.

    >>> said(4_310), said(0)
    ('4,310 tokens', '1 token')
    """
    return f"{tokens:,} tokens" if tokens > 1 else "1 token"


def _pairs(block: Block, exclude: tuple[str, ...]) -> Iterator[_Pair]:
    if not any(item.message.tool_results for item in block):
        return
    called: dict[int, _Piece] = {}
    for item in block:
        for number, (place, made) in enumerate(_places(item.message, ToolCall)):
            called[id(made)] = _Piece(item, place, f"call.{number}", made)
    for item, calls in answers(block).given:
        held = _places(item.message, ToolResult)
        for number, ((place, part), call) in enumerate(zip(held, calls, strict=True)):
            spared = item.message.name in exclude or (call is not None and call.name in exclude)
            result = _Piece(item, place, f"result.{number}", part)
            yield _Pair(result, call, called.get(id(call)), free=True, spared=spared)


def _places(message: Message, kind: type[T]) -> list[tuple[int, T]]:
    return [(place, part) for place, part in enumerate(message.parts) if isinstance(part, kind)]


def _is_item(call: ToolCall) -> bool:
    hints = call.extra.value.values() if '"as"' in call.extra.text else ()

    return any(isinstance(hint, dict) and hint.get("as") in _ITEMS for hint in hints)


def _clippings(known: object) -> list[Clipping]:
    """
    How the strings of a call were clipped.
    """
    found = map(Clipping.of, known.values() if isinstance(known, dict) else ())

    return [how for how in found if how is not None]


def _first_line(result: ToolResult) -> str:
    """
    What went wrong, where something did: a line of its own before the marker.
    """
    if not result.is_error:
        return ""
    line = result.text.lstrip().partition("\n")[0].rstrip()
    if len(line) > FIRST_LINE:
        line = f"{line[: cut_before(line, FIRST_LINE)]}…"

    return f"{line}\n" if line else ""
