"""
Keeping the newest messages.
"""

from functools import cached_property
from typing import Literal

from attrs import evolve, field, frozen

from unabridged.contract import TrimContext
from unabridged.cuts import cut
from unabridged.gains import worth
from unabridged.must import CutRules, Opening
from unabridged.options import (
    at_least_option,
    choice,
    cut_result,
    down_to_option,
    flag,
    ge,
    last_cut,
    newest_option,
    plural,
)
from unabridged.pipeline import Strategy
from unabridged.results import TrimResult, unchanged
from unabridged.views import View

__all__ = ["Window"]


@frozen(repr=False)
class Window(Strategy):
    """
    Keep the last *last* messages, in whole blocks.

    The user message that opened the round of the first kept block is brought
    along and counts. Pins stay and do not count (`count_pins=True`: they do).
    With `down_to` it cuts that far down once *last* is passed, and then lets the
    view grow, so that the prefix a provider has cached stays the same.

    Args:
        last: messages to keep; None is no limit.
        down_to: the low mark, in messages.
        at_least: tokens that a cut must gain over the one before; one that gains
            less is not made, and `over` says so.
        opening: what a view opens on after a cut: "question" brings the user
            message of its round, "next" moves on to the next message that is
            neither an assistant's nor a tool's, "anywhere" is the plain cut.
        by: cut between "blocks", or between "rounds", save within a newest round that
            does not fit by itself, which is cut by blocks.
        straddle: "keep" widens over the block in which the cut falls.
        newest: with `by="rounds"`, "whole" keeps such a newest round as it is, and
            `over` says by how much it is over.
        pin_system: False treats system and developer messages as any other.
        count_pins: whether pinned messages count against *last*.
        strict: raise `BudgetError` where what must stay is over *last*.
        replace: write what leaves back to the log.

    Raises:
        ConfigError: *last* is below 1, *down_to* is not below *last*, or *newest* is
            "whole" where *by* is not "rounds".

    >>> from unabridged import run
    >>> from unabridged.testing import assistant, user, view_of
    >>> view = view_of([user("a"), assistant("b"), user("c"), assistant("d")])
    >>> print(run(Window(2), view).text())
    user: c
    assistant: d
    """

    last: int | None = field(validator=ge(1))
    down_to: int | None = down_to_option("last")
    at_least: int | None = at_least_option()
    opening: Opening = choice("question", "next", "anywhere")
    by: Literal["blocks", "rounds"] = choice("blocks", "rounds")
    straddle: Literal["drop", "keep"] = choice("drop", "keep")
    newest: Literal["blocks", "whole"] = newest_option()
    pin_system: bool = flag(default=True)
    count_pins: bool = flag(default=False)
    strict: bool = flag(default=False)
    replace: bool = flag(default=False)

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        if self.last is None:
            return unchanged(view)
        marks = self.down_to is not None or self.at_least is not None
        rules = evolve(self._rules, start=last_cut(view, self)) if marks else self._rules
        done = cut(view, self.last, None, "messages", rules)
        done = worth(view, done, self.at_least, ctx.count, rules, self.last, "messages")

        return cut_result(
            view,
            done,
            self,
            reason=f"before the last {plural(self.down_to or self.last, 'message')}",
            strict=self.strict,
            marks=marks,
            replace=self.replace,
        )

    @cached_property
    def _rules(self) -> CutRules:
        return CutRules(
            opening=self.opening,
            by=self.by,
            straddle=self.straddle,
            newest=self.newest,
            pin_system=self.pin_system,
            count_pins=self.count_pins,
            down_to=self.down_to,
        )
