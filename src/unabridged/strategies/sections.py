"""
One budget shared among the parts of a view: what is pinned, what is recalled, the rest.
"""

from typing import Any

from attrs import evolve, field, frozen

from unabridged.contract import TrimContext
from unabridged.errors import ConfigError
from unabridged.options import cut_result, flag, function, ge, plural
from unabridged.pipeline import Strategy
from unabridged.records import Drop
from unabridged.results import TrimResult
from unabridged.sharing import RECALLED, RECENT, SYSTEM, Sharing
from unabridged.spans import Span
from unabridged.text import STEP, TOO_LARGE, brief, got
from unabridged.text.names import with_named_init
from unabridged.tokens import TokenCounter, kept
from unabridged.views import View

__all__ = ["Sections", "Share"]


def _is_whole(_instance: object, attribute: Any, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= TOO_LARGE:
        msg = f"Share: `{attribute.name}` must be an int, the highest is first, {got(value)}"
        raise ConfigError(msg)


@with_named_init
@frozen(repr=False)
class Share:
    """
    What a section of a view gets: *floor* tokens if it wants them, then more by *priority*.

    For `Sections`. The section of the highest priority takes first of what the
    floors leave, and of the floors themselves where not all of them fit.

    Raises:
        ConfigError: *floor* is below 0, or *priority* is no int.

    >>> Share(2_000, priority=1)
    Share(2_000, priority=1)
    """

    floor: int = field(default=0, validator=ge(0, optional=False))
    priority: int = field(default=0, validator=_is_whole)

    def __repr__(self) -> str:
        floor = f"{self.floor:_}" if self.floor else ""
        priority = f"priority={self.priority:_}" if self.priority else ""

        return f"Share({', '.join(filter(None, (floor, priority)))})"


def _is_share(_instance: object, attribute: Any, value: object) -> None:
    if not isinstance(value, Share):
        msg = (
            f"Sections: `{attribute.name}` must be a Share, as in Share(2_000), got {brief(value)}"
        )
        raise ConfigError(msg)


@frozen(repr=False)
class Sections(Strategy):
    """
    Share one budget among what is pinned, what is recalled (held), and the recent rest.

    Each section gets its floor where the floors fit; what they leave is given
    by priority, and no room stays unused while a section wants it. Of the
    recalled the best scored blocks stay, each with its question, of the rest
    the newest. Pins stay and count as the section `system`: those by hand
    always, system messages unless `pin_system=False`, where the newest stay
    that fit. What is held is here a wish and no pin. Where pins and the newest
    messages alone are over the limit, `over` says by how much.

    Args:
        limit: tokens; None is what the memory's `budget=` leaves for the history.
        system: the share of what is pinned, by its role or by hand.
        recalled: the share of what is held.
        recent: the share of all else.
        count: a counter of its own; the memory's by default.
        pin_system: False lets go of system messages that find no room.
        strict: raise `BudgetError` where what must stay is over the limit.
        replace: write what leaves back to the log's view.

    Raises:
        ConfigError: *limit* is below 1, or at a run there is neither it nor a budget.

    >>> from unabridged import chain, run, tokens
    >>> from unabridged.results import hold
    >>> from unabridged.testing import talk, texts, view_of
    >>> def recall(view, ctx):
    ...     return hold(view, view[:2], reason="recalled")
    >>> for recalled in (Share(), Share(2)):
    ...     shared = Sections(4, recalled=recalled, recent=Share(2, 1), count=tokens.words)
    ...     texts(run(chain(recall, shared), view_of(talk(4))))
    ['q3', 'a3', 'q4', 'a4']
    ['q1', 'a1', 'q4', 'a4']
    """

    limit: int | None = field(default=None, validator=ge(1))
    system: Share = field(default=Share(), kw_only=True, validator=_is_share)
    recalled: Share = field(default=Share(), kw_only=True, validator=_is_share)
    recent: Share = field(default=Share(), kw_only=True, validator=_is_share)
    count: TokenCounter | None = field(default=None, kw_only=True, validator=function)
    pin_system: bool = flag(default=True)
    strict: bool = flag(default=False)
    replace: bool = flag(default=False)

    @property
    def needs_budget(self) -> bool:  # type: ignore[override]  # without a limit alone
        """
        Whether it shares what the memory's budget leaves.
        """
        return self.limit is None

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        limit = self._limit(ctx)
        count = ctx.count if self.count is None else kept(self.count)
        shares = {SYSTEM: self.system, RECALLED: self.recalled, RECENT: self.recent}
        order = sorted(shares, key=lambda name: -shares[name].priority)
        sharing = Sharing(view, limit, count, pin_system=self.pin_system)
        done = sharing.cut(order, {name: share.floor for name, share in shares.items()})
        of = f"of a budget of {plural(limit, 'token')}"
        drops = [
            Drop(left, reason=f"over the {name} share {of}", replace=self.replace)
            for name, blocks in sharing.loose.items()
            if (left := Span.union(blocks) & done.dropped)
        ]
        rest = done.dropped - Span.union(drop.sources for drop in drops)
        result = cut_result(
            view,
            evolve(done, dropped=rest),
            self,
            reason=f"over the {RECENT} share {of}",
            strict=self.strict,
            marks=False,
            replace=self.replace,
        )

        return evolve(result, changes=(*drops, *result.changes))

    def _limit(self, ctx: TrimContext) -> int:
        if self.limit is not None:
            return self.limit
        if ctx.budget is None:
            msg = (
                f"step {brief(self, STEP)}: give `limit`, or a budget to the memory, as in "
                "Memory(budget=Budget(128_000, reply=4_000))"
            )
            raise ConfigError(msg)

        return ctx.budget.history
