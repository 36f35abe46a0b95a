"""
Keeping how a conversation began, and its newest messages.
"""

import itertools

from attrs import evolve, field, frozen

from unabridged.contract import TrimContext
from unabridged.cuts import cut
from unabridged.must import CutRules, Must, Opening, must_stay
from unabridged.options import choice, cut_result, flag, ge, plural
from unabridged.pipeline import Strategy
from unabridged.results import TrimResult, unchanged
from unabridged.spans import Span
from unabridged.views import View

__all__ = ["HeadAndTail"]


@frozen(repr=False)
class HeadAndTail(Strategy):
    """
    Keep the first *first* and the last *last* messages, each in whole blocks.

    For a task that is told once and worked on for long. Pins stay and do not
    count. It reads the whole view: on long threads, put a cut before it.

    Args:
        first: messages to keep of the head.
        last: messages to keep of the tail; None is no limit.
        opening: as for `Window`, and so are *pin_system*, *count_pins*, *strict*
            and *replace*.

    Raises:
        ConfigError: a number is below 1.

    >>> from unabridged import run
    >>> from unabridged.testing import talk, view_of
    >>> view = view_of(talk(3))
    >>> [message.text for message in run(HeadAndTail(1, 2), view).messages]
    ['q1', 'q3', 'a3']
    """

    first: int = field(validator=ge(1, optional=False))
    last: int | None = field(validator=ge(1))
    opening: Opening = choice("question", "next", "anywhere")
    pin_system: bool = flag(default=True)
    count_pins: bool = flag(default=False)
    strict: bool = flag(default=False)
    replace: bool = flag(default=False)

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        if self.last is None:
            return unchanged(view)
        rules = CutRules(
            opening=self.opening, pin_system=self.pin_system, count_pins=self.count_pins
        )
        done = cut(view, self.last, None, "messages", rules)
        head = _head(view, self.first, must_stay(view, rules), count_pins=self.count_pins)
        middle = evolve(done, dropped=done.dropped - head)

        return cut_result(
            view,
            middle,
            self,
            reason=(
                f"between the first {plural(self.first, 'message')} "
                f"and the last {plural(self.last, 'message')}"
            ),
            strict=self.strict,
            marks=False,
            replace=self.replace,
        )


def _head(view: View, first: int, must: Must, *, count_pins: bool) -> Span:
    """
    The entries of the longest prefix of blocks with at most *first* messages that count.
    """
    starts = [*list(view.starts())[::-1], view.size]
    head: list[Span] = []
    room = first
    for start, stop in itertools.pairwise(starts):
        places = range(start, stop)
        room -= sum(count_pins or place not in must.pinned for place in places)
        if room < 0:
            break
        head += [view.at(place).sources for place in places]

    return Span.union(head)
