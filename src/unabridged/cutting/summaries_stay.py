"""
Summaries leave last: a message that may leave does so before a summary does.

A summary is all that tells of the entries it stands for, so a cut keeps it like
what must stay, as long as the two fit; of several the newest that fit.
"""

from collections.abc import Callable

from attrs import evolve, frozen

from unabridged.must import Must
from unabridged.spans import Span
from unabridged.view import View

__all__ = ["Untold", "with_all_summaries", "with_summaries"]

_WHY = "a summary"


@frozen
class Untold:
    """
    The *entries* of summaries that had to leave, and what one more of them *needed*.

    >>> print(Untold(Span.between(1, 8), 120, 100, "tokens"))
    the summary of entries 1-8 left, and nothing tells of them now: with what must stay it is \
120 tokens, the limit is 100; raise the limit, or let the summary be shorter
    """

    entries: Span
    needed: int
    limit: int
    unit: str

    def __str__(self) -> str:
        what = f"entr{'y' if len(self.entries) == 1 else 'ies'} {self.entries}"

        return (
            f"the summary of {what} left, and nothing tells of them now: with what must stay it "
            f"is {self.needed:_} {self.unit}, the limit is {self.limit:_}; raise the limit, or "
            "let the summary be shorter"
        )


def with_summaries(
    view: View, must: Must, limit: int, weigh: Callable[[int], int], unit: str
) -> tuple[Must, Untold | None]:
    """
    What must stay, with the newest summaries that fit *limit* beside it, and those that do not.
    """
    places = {**must.places}
    total = sum(map(weigh, places))
    untold: Untold | None = None
    for item in reversed(view.summaries):
        place = view.find(item.first)
        if place in places:
            continue
        if untold is not None:  # none older stays, or a larger limit might keep another one
            untold = evolve(untold, entries=untold.entries | item.sources)
            continue
        needed = total + weigh(place)
        if needed > limit:
            untold = Untold(item.sources, needed, limit, unit)
        else:
            places[place] = _WHY
            total = needed

    return Must(places, must.pinned), untold


def with_all_summaries(view: View, must: Must) -> tuple[Must, frozenset[int]]:
    """
    What must stay with all summaries, and where these stand.
    """
    told = frozenset([view.find(item.first) for item in view.summaries])

    return Must({**dict.fromkeys(told, _WHY), **must.places}, must.pinned), told
