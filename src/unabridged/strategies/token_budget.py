"""
Keeping the newest messages that fit a number of tokens.
"""

from functools import cached_property
from typing import Literal

from attrs import evolve, field, frozen

from unabridged.clips import Clip, as_clips, clips_only
from unabridged.contract import TrimContext
from unabridged.cuts import Cut, cut
from unabridged.errors import ConfigError
from unabridged.fitting import Clips, Fitted, fit
from unabridged.gains import worth
from unabridged.must import CutRules, Opening
from unabridged.options import (
    as_share,
    at_least_option,
    choice,
    cut_result,
    down_to_option,
    flag,
    function,
    ge,
    last_cut,
    newest_option,
    plural,
    share_of,
)
from unabridged.pipeline import Strategy
from unabridged.results import TrimResult, unchanged
from unabridged.text import STEP, brief
from unabridged.tokens import TokenCounter, kept
from unabridged.views import View

__all__ = ["TokenBudget"]


@frozen(repr=False)
class TokenBudget(Strategy):
    """
    Keep the newest messages that fit *limit* tokens, in whole blocks.

    Pins, pending calls and the newest user message stay and count; where they
    alone are over the limit, *clip* says how they are shortened, and if that is
    not enough, the result's `over` by how much and names them.

    Args:
        limit: tokens; None is no limit.
        share: instead of *limit*, a share (above 0, at most 1) of what the
            memory's `budget=` leaves for the history.
        clip: strategies that shorten what must stay, one after the other until it
            fits, and are used only then: `clip=(ClipToolResults(2_000), …)`. What
            was clipped stays so while it is in the view; a note says what.
        down_to: the low mark, in tokens; see `Window`.
        at_least: tokens that a cut must gain; see `Window`.
        count: a counter of its own; the memory's by default.
        opening: as for `Window`, and so are *by*, *straddle*, *newest*,
            *pin_system*, *strict* and *replace*.

    Raises:
        ConfigError: *limit* is below 1, *down_to* is not below it (with a *share*:
            at a run), both or a wrong *share* is given.

    >>> from unabridged import run, tokens
    >>> from unabridged.testing import assistant, user, view_of
    >>> view = view_of([user("one two"), assistant("three"), user("four five")])
    >>> print(run(TokenBudget(3, count=tokens.words), view).text())
    user: four five
    """

    limit: int | None = field(default=None, validator=ge(1))
    share: float | None = field(default=None, kw_only=True, converter=as_share, validator=share_of)
    clip: tuple[Clip, ...] = field(
        default=(), kw_only=True, converter=as_clips, validator=clips_only
    )
    down_to: int | None = down_to_option("limit")
    at_least: int | None = at_least_option()
    count: TokenCounter | None = field(default=None, kw_only=True, validator=function)
    opening: Opening = choice("question", "next", "anywhere")
    by: Literal["blocks", "rounds"] = choice("blocks", "rounds")
    straddle: Literal["drop", "keep"] = choice("drop", "keep")
    newest: Literal["blocks", "whole"] = newest_option()
    pin_system: bool = flag(default=True)
    strict: bool = flag(default=False)
    replace: bool = flag(default=False)

    def __attrs_post_init__(self) -> None:
        if self.limit is not None and self.share is not None:
            msg = f"TokenBudget: give `limit` ({self.limit}) or `share` ({self.share}), not both"
            raise ConfigError(msg)

    @property
    def needs_budget(self) -> bool:  # type: ignore[override]  # of a share alone
        """
        Whether it takes a share of the memory's budget.
        """
        return self.share is not None

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        limit = self._limit(ctx)
        if limit is None:
            return unchanged(view)
        count = ctx.count if self.count is None else kept(self.count)
        marks = self.down_to is not None or self.at_least is not None
        rules = evolve(self._rules, start=last_cut(view, self)) if marks else self._rules
        if self.clip or self.at_least is not None:
            fitted = self._fitted(view, limit, count, rules)
        else:
            fitted = Fitted(cut(view, limit, count, "tokens", rules))
        result = cut_result(
            view,
            fitted.done,
            self,
            reason=_reason(limit, self.down_to),
            strict=self.strict,
            marks=marks,
            replace=self.replace,
        )
        if not fitted.folds:
            return result

        return evolve(
            result,
            changes=(*fitted.folds, *result.changes),
            notes=(*fitted.notes, *result.notes),
        )

    def _fitted(self, view: View, limit: int, count: TokenCounter, rules: CutRules) -> Fitted:
        """
        The cut with its clips, if it gains enough.
        """
        clips = Clips(repr(self), self.clip, count, _reason(limit), self.replace)

        def cut_of(view: View) -> Cut:
            return cut(view, limit, count, "tokens", rules)

        def accept(view: View, done: Cut, gain: int) -> Cut:
            return worth(view, done, self.at_least, count, rules, limit, "tokens", gain)

        return fit(view, clips, cut_of, accept)

    def _limit(self, ctx: TrimContext) -> int | None:
        if self.share is None:
            return self.limit
        if ctx.budget is None:
            msg = (
                f"step {brief(self, STEP)}: a share needs the memory's budget; pass budget= to "
                "the memory, as in Memory(budget=Budget(128_000, reply=4_000))"
            )
            raise ConfigError(msg)

        limit = max(1, int(self.share * ctx.budget.history))
        if self.down_to is not None and self.down_to >= limit:
            msg = (
                f"step {brief(self, STEP)}: `down_to` ({self.down_to:_}) must be below the share, "
                f"which is {limit:_} of the {ctx.budget.history:_} tokens that "
                f"{brief(ctx.budget)} leaves"
            )
            raise ConfigError(msg)

        return limit

    @cached_property
    def _rules(self) -> CutRules:
        return CutRules(
            opening=self.opening,
            by=self.by,
            straddle=self.straddle,
            newest=self.newest,
            pin_system=self.pin_system,
            count_pins=True,
            down_to=self.down_to,
        )


def _reason(limit: int, down_to: int | None = None) -> str:
    mark = f", down to {down_to:_}" if down_to else ""

    return f"over the budget of {plural(limit, 'token')}{mark}"
