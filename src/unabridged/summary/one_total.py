"""
One total for all that is sent: what a summary and what is kept beside it come to.
"""

from collections.abc import Callable

from attrs import evolve

from unabridged.items import Item
from unabridged.messages import Message
from unabridged.overrun import Overrun
from unabridged.results import TrimResult

__all__ = ["within_total"]

_NAMED = 8


def within_total(result: TrimResult, limit: int, count: Callable[[Message], int]) -> TrimResult:
    """
    The result, which says in `over` where its view is over the *limit*, and what is largest in it.

    >>> from unabridged.results import unchanged
    >>> from unabridged.testing import talk, view_of
    >>> result = within_total(unchanged(view_of(talk(1))), 3, lambda message: 2)
    >>> result.over.needed, result.over.what
    (4, ('entry 1 (2)', 'entry 2 (2)'))
    """
    sizes = [(count(item.message), item) for item in result.view]
    needed = sum(size for size, _ in sizes)
    if needed <= limit:
        return result
    largest = sorted(sizes, key=lambda pair: (-pair[0], pair[1].first))[:_NAMED]
    what = tuple(f"{_called(item)} ({size})" for size, item in largest if size)

    return evolve(result, over=Overrun(limit, needed, "tokens", what))


def _called(item: Item) -> str:
    if not item.sources:
        return "a message put in"
    entries = f"entr{'ies' if item.wide else 'y'} {item.sources}"

    return f"the summary of {entries}" if item.summary else entries
