"""
Clipping the arguments of tool calls.
"""

import json
import re
from collections.abc import Hashable
from typing import Any

from attrs import evolve, field, frozen

from unabridged.clipping import Clipping, Limits, Size, clip
from unabridged.clips import CLEARED, Clip, Known
from unabridged.handles import handle_at
from unabridged.items import Item
from unabridged.json_values import json_text
from unabridged.messages import Message, ToolCall
from unabridged.options import flag, function, ge
from unabridged.tokens import TokenCounter
from unabridged.views import View

__all__ = ["ClipArguments"]

SHORT = 64  # characters; a marker has about as many
TRIES = 4

# possessive, so that a string of a megabyte is read once; what a colon follows is a key
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"(?P<key>\s*+:)?', re.DOTALL)


@frozen(repr=False)
class ClipArguments(Clip):
    """
    Clip the arguments of each call of more than *tokens* tokens, as the file that a tool wrote.

    They are still valid JSON: only long strings in them are clipped, head and
    tail kept, a marker between; keys, numbers and all else stay as spelled. So
    arguments of numbers, or of many short strings, may stay longer than that.
    Arguments that are no JSON stay, and so does a message with reasoning or a
    signature. It reads the whole view: put it after a cut, or into
    `TokenBudget(clip=…)`.

    Args:
        tokens: the most a call may have: a message of it alone, markers included.
        pins: whether pinned messages are clipped too.
        count: a counter of its own; the memory's by default.
        replace: write what is clipped back to the log's view.

    Raises:
        ConfigError: *tokens* is below 1.

    >>> from unabridged import ToolCall, assistant, run, tokens
    >>> from unabridged.testing import result, user, view_of
    >>> rows = " ".join(f"row{n}" for n in range(99))
    >>> wrote = assistant(calls=[ToolCall("c1", "write", {"path": "a.txt", "text": rows})])
    >>> view = view_of([user("q"), wrote, result("c1")])
    >>> seen = run(ClipArguments(17, count=tokens.words), view)
    >>> print(seen.messages[1].tool_calls[0].arguments)
    {"path":"a.txt","text":"row0 row1 [… 96 tokens left out; the whole is entry 2 …] row97 row98"}
    """

    tokens: int = field(validator=ge(1, optional=False))
    pins: bool = flag(default=False)
    count: TokenCounter | None = field(default=None, kw_only=True, validator=function)
    replace: bool = flag(default=False)

    def leans_on(self, view: View, item: Item) -> Hashable:
        """
        Nothing.
        """
        return ()

    def shortened(
        self, view: View, item: Item, count: TokenCounter, known: Known
    ) -> tuple[Message, dict[str, Any]]:
        """
        The message with the arguments of its calls clipped.
        """
        parts = list(item.message.parts)
        how: dict[str, Any] = {}
        number = 0
        for place, call in enumerate(parts):
            if not isinstance(call, ToolCall):
                continue
            key = f"call.{number}"
            number += 1
            if known.get(key) == CLEARED:
                continue

            def size(text: str, call: ToolCall = call) -> int:
                return count(evolve(item.message, parts=(evolve(call, arguments=text),)))

            handle = handle_at(item.message, item.first, place)
            arguments = _Arguments(call.arguments, size, handle, known.get(key))
            if arguments.clip(self.tokens):
                parts[place] = evolve(call, arguments=arguments.text)
                how[key] = arguments.how

        return evolve(item.message, parts=parts), how


class _Arguments:
    """
    The text of a call's arguments, and where the long strings in it stand.
    """

    def __init__(self, text: str, size: Size, handle: str, known: object) -> None:
        self.text = text
        self.how: dict[str, list[int]] = dict(known) if isinstance(known, dict) else {}
        self._size = size
        self._handle = handle

    def clip(self, tokens: int) -> bool:
        """
        Clip the strings until the arguments fit; whether that made them shorter.
        """
        whole = self._size(self.text)
        if whole <= tokens or not _is_json(self.text):
            return False
        strings = [found for found in _STRING.finditer(self.text) if not found["key"]]
        long = {n: found for n, found in enumerate(strings) if len(found[0]) > SHORT}
        bare = self._size("")
        weights = {n: max(0, self._size(found[0]) - bare) for n, found in long.items()}
        most = _most(weights.values(), tokens - whole + sum(weights.values()))
        turn = 0
        while True:
            text, how = self._clipped(long, weights, most, bare)
            size = self._size(text)
            if size <= tokens or not most:
                break
            turn += 1
            most = min(most - 1, most * tokens // size) if turn < TRIES else most // 2
        if size >= whole:
            return False
        self.text, self.how = text, how

        return True

    def _clipped(
        self, long: dict[int, re.Match[str]], weights: dict[int, int], most: int, bare: int
    ) -> tuple[str, dict[str, list[int]]]:
        """
        The arguments with at most *most* tokens in each long string.
        """

        def size(text: str) -> int:
            return max(0, self._size(json_text(text)) - bare)

        pieces: list[str] = []
        how = dict(self.how)
        end = 0
        for number, found in long.items():
            if weights[number] <= most:
                continue
            before = Clipping.of(self.how.get(str(number)))
            done = clip(json.loads(found[0]), Limits(most), size, self._handle, before, glue=" ")
            if done is not None:
                pieces += [self.text[end : found.start()], json_text(done[0])]
                end = found.end()
                how[str(number)] = done[1].numbers

        return "".join([*pieces, self.text[end:]]), how


def _most(weights: Any, room: int) -> int:
    """
    The most that each may weigh, so that all of them fit in *room* together.

    >>> _most([10, 200, 300], 210)
    100
    """
    ordered = sorted(weights)
    for number, weight in enumerate(ordered):
        share = max(0, room) // (len(ordered) - number)
        if weight > share:
            return share
        room -= weight

    return ordered[-1] if ordered else 0


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False

    return True
