"""
A digest without a model: the lines that tell most, in their order and word for word.
"""

import bisect
from collections.abc import Callable, Sequence
from typing import TypeAlias

from attrs import field, frozen

from unabridged.asking.lines import Line, is_fact, lines_of, scores, summary_lines, terms
from unabridged.contract import Ask
from unabridged.errors import ConfigError
from unabridged.graphemes import cut_before
from unabridged.messages import system
from unabridged.text import brief
from unabridged.tokens import TokenCounter, exact, kept
from unabridged.transcripts import quoted

__all__ = ["Offline", "offline"]

MOST = 800  # tokens, where the question sets no limit
LEAST = 48  # tokens that are worth no shortening
SHARE = 3  # what is new is told in a third of its tokens
SAME = 0.7  # the share of a line's terms that others had already: it says nothing new
MISSES = 64  # lines in a row that do not fit: those after them tell less and less
TINY = 8  # tokens that are too few to say who speaks
NOTHING = "…"
Size: TypeAlias = Callable[[str], int]


def offline(*, count: TokenCounter | None = None) -> "Offline":
    """
    Answer without a model: with the lines of the conversation that tell most.

    For tests and demos, and as the last of a `fallback`: it never fails. It
    tells no more than a page of code can find: which lines hold what the user
    asks, names, numbers, and words that come again. The previous summary keeps
    up to half of the room, or what is new leaves it. Same question, same
    answer; time is linear in the text.

    The answer has at most the tokens that the question allows, or 800, and
    never more than what it stands in for, counted as a system message with
    *count*, `tokens.exact()` by default; give the memory's own counter if it
    has another. A limit that such a message without words would pass by itself
    is taken for one of the text alone.

    Raises:
        ConfigError: *count* is no function.

    >>> from unabridged.testing import assistant, user, view_of
    >>> talk = [user("Hm. My order A-1042 is late."), assistant("I am sorry to hear that.")]
    >>> offline()(Ask(tuple(view_of(talk)), max_tokens=20))
    'user: Hm. My order A-1042 is late.'
    """
    return Offline(exact() if count is None else count)


def _counter(_instance: object, _attribute: object, value: TokenCounter) -> None:
    if not callable(value):
        msg = f"asking.offline: `count` must be a function from message to int, got {brief(value)}"
        raise ConfigError(msg)


@frozen(repr=False)
class Offline:
    """
    What `offline` makes: equal to another that counts alike.

    >>> offline() == offline(), offline(), offline().window
    (True, asking.offline(), 0)
    """

    count: TokenCounter = field(validator=_counter)

    @property
    def window(self) -> int:
        """
        0: it takes whatever it is given.
        """
        return 0

    def __call__(self, ask: Ask, /) -> str:
        """
        The digest; "" only where there is neither a message nor a summary.
        """
        earlier = summary_lines(ask.previous.text) if ask.previous else []
        new = lines_of(ask.items)
        if not earlier and not new:
            return NOTHING if ask.items or ask.previous else ""

        return _digest(earlier, new, self._room(ask), self._size)

    def _size(self, text: str) -> int:
        return max(0, self.count(system(text)) - self._bare())

    def _bare(self) -> int:
        return self.count(system(""))

    def _room(self, ask: Ask) -> int:
        """
        The tokens that the text may have.
        """
        counted = kept(self.count)
        before = counted(ask.previous) if ask.previous else 0
        new = counted.total(item.message for item in ask.items)
        limit = ask.max_tokens or min(MOST, before + max(LEAST, new // SHARE))
        bare = self._bare()
        if limit <= bare:
            return max(1, min(limit, before + new - bare))

        return max(1, min(limit, before + new) - bare)

    def __repr__(self) -> str:
        return "asking.offline()" if self.count == exact() else f"asking.offline({self.count!r})"


def _digest(earlier: Sequence[Line], new: Sequence[Line], room: int, size: Size) -> str:
    first = len(earlier)  # of the new ones, each of which is told once
    lines = [*earlier, *{line.text: line for line in new}.values()]
    told = scores(lines)
    order = sorted(range(len(lines)), key=lambda place: -told[place])
    old = [place for place in order if place < first]
    fresh = [place for place in order if place >= first]
    taken: dict[int, int] = {}
    known: set[str] = set()
    for places, share in ((old, room // 2 if new else room), (fresh, room), (old, room)):
        _fill(taken, known, lines, places, share, size)
    while taken:
        text = "\n".join(lines[place].text for place in sorted(taken))
        if size(text) <= room:
            return text
        taken.popitem()  # the line that told least

    return _cut(lines[order[0]], room, size)


def _fill(  # noqa: PLR0913  what is known while lines are picked
    taken: dict[int, int],
    known: set[str],
    lines: Sequence[Line],
    order: Sequence[int],
    room: int,
    size: Size,
) -> None:
    """
    Take lines, the best first, each with its tokens, until *room* is used.
    """
    used = sum(taken.values()) - 1  # one line end less than lines
    for least in (2, 1):
        misses = 0
        for place in order:
            if used >= room or misses == MISSES:
                break
            found = terms(lines[place].words)
            if place in taken or (taken and _news(found, known) < least):
                continue
            cost = size(lines[place].text) + 1
            misses = misses + 1 if used + cost > room else 0
            if not misses:
                used += cost
                taken[place] = cost
                known.update(found)


def _news(found: Sequence[str], known: set[str]) -> int:
    """
    2 for a line of new terms, 1 for a new fact among known ones, 0 for nothing new.
    """
    new = [(place, term) for place, term in enumerate(found) if term not in known]
    if len(new) > (1 - SAME) * len(found):
        return 2

    return 1 if any(is_fact(term, place) for place, term in new) else 0


def _cut(line: Line, room: int, size: Size) -> str:
    """
    As much of a line as fits, without who says it where there is no room for that.
    """
    alone = quoted(line.words) if ":" in line.words else line.words  # it names no other speaker
    if line.words and size(alone) <= room:
        return alone
    text = line.text if room > TINY else alone
    most = bisect.bisect_right(
        range(1, len(text)), room, key=lambda end: size(text[:end] + NOTHING)
    )
    for end in range(most, 0, -1):
        begins = text[: cut_before(text, end)].rstrip()
        if begins and size(begins + NOTHING) <= room:
            return begins + NOTHING

    return NOTHING
