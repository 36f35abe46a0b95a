"""
Keeping everything.
"""

from attrs import frozen

from unabridged.contract import TrimContext
from unabridged.pipeline import Strategy
from unabridged.results import TrimResult, unchanged
from unabridged.views import View

__all__ = ["NoCompaction"]


@frozen(repr=False)
class NoCompaction(Strategy):
    """
    Keep every message.

    >>> from unabridged import run
    >>> from unabridged.testing import user, view_of
    >>> len(run(NoCompaction(), view_of([user("a"), user("b")])).messages)
    2
    """

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        return unchanged(view)
