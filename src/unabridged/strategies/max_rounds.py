"""
Keeping the newest rounds.
"""

from attrs import field, frozen

from unabridged.contract import TrimContext
from unabridged.cuts import cut_rounds
from unabridged.gains import worth
from unabridged.must import CutRules
from unabridged.options import (
    at_least_option,
    cut_result,
    down_to_option,
    flag,
    ge,
    last_cut,
    plural,
)
from unabridged.pipeline import Strategy
from unabridged.results import TrimResult, unchanged
from unabridged.views import View

__all__ = ["MaxRounds"]


@frozen(repr=False)
class MaxRounds(Strategy):
    """
    Keep the last *last* rounds.

    A round is a user message and everything up to the next one, so tool calls
    always stay with their results. A round of pins alone counts as none
    (`count_pins=True`: as one).

    Args:
        last: rounds to keep; None is no limit.
        down_to: the low mark, in rounds; see `Window`.
        at_least: tokens that a cut must gain; see `Window`.
        pin_system: as for `Window`, and so are *strict* and *replace*.

    Raises:
        ConfigError: *last* is below 1, or *down_to* is not below *last*.

    >>> from unabridged import run
    >>> from unabridged.testing import assistant, user, view_of
    >>> view = view_of([user("a"), assistant("b"), user("c"), assistant("d")])
    >>> print(run(MaxRounds(1), view).text())
    user: c
    assistant: d
    """

    last: int | None = field(validator=ge(1))
    down_to: int | None = down_to_option("last")
    at_least: int | None = at_least_option()
    pin_system: bool = flag(default=True)
    count_pins: bool = flag(default=False)
    strict: bool = flag(default=False)
    replace: bool = flag(default=False)

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        if self.last is None:
            return unchanged(view)
        marks = self.down_to is not None or self.at_least is not None
        rules = CutRules(
            pin_system=self.pin_system,
            count_pins=self.count_pins,
            down_to=self.down_to,
            start=last_cut(view, self) if marks else 0,
        )
        done = cut_rounds(view, self.last, rules)

        return cut_result(
            view,
            worth(view, done, self.at_least, ctx.count, rules, self.last, "rounds"),
            self,
            reason=f"before the last {plural(self.down_to or self.last, 'round')}",
            strict=self.strict,
            marks=marks,
            replace=self.replace,
        )
