"""
A line through what was estimated and what was billed: a factor and an offset.

What a provider bills for a request is, near enough, a factor times what its
messages were estimated at, for the tokenizer, plus an offset that is the same
each time, for what is sent beside them: tools, a prompt, priming.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from statistics import median

from attrs import frozen

__all__ = ["MILLION", "NO_FIT", "Fit", "fitted"]

MILLION = 1_000_000
LEAST, MOST = MILLION // 4, MILLION * 4  # no tokenizer is further off than four times
SPREAD = 1.5  # the largest request over the smallest from which a line is trusted by itself
NARROW = 1.05  # and from which it is trusted when it is far better than a factor alone
BETTER = 0.5
ENOUGH = 3

Pairs = tuple[tuple[int, int], ...]


@frozen
class Fit:
    """
    A *factor*, in millionths, and an *offset* in tokens.

    >>> Fit(1_300_000, 200).of(1_000)
    1500
    """

    factor: int = MILLION
    offset: int = 0

    def scaled(self, tokens: int) -> int:
        """
        The factor times *tokens*, rounded up, so that a sum of these is never below the whole.
        """
        return -(-tokens * self.factor // MILLION)

    def of(self, tokens: int) -> int:
        """
        What a request is expected to cost whose messages were estimated at *tokens*.
        """
        return self.scaled(tokens) + self.offset


NO_FIT = Fit()


@lru_cache(maxsize=256)
def fitted(pairs: Pairs) -> Fit:
    """
    The fit of *pairs* of estimated and billed tokens, each estimate 1 or more.

    The slope is the median of the slopes between any two of them, and the
    offset the median of what is left (Theil 1950, Sen 1968), so up to three in
    ten may be far off without harm. An offset is never below 0, and the factor
    between 1/4 and 4. Where the requests are of nearly one size no slope can be
    told, and the factor alone is the median of the ratios.

    >>> fitted(((100, 330), (400, 720), (1_000, 1_500)))
    Fit(factor=1300000, offset=200)
    >>> fitted(((1_000, 800),))
    Fit(factor=800000, offset=0)
    """
    if not pairs:
        return NO_FIT
    ratio = _bounded(median(billed * MILLION / estimate for estimate, billed in pairs))
    plain = Fit(ratio, max(0, _offset(pairs, ratio)) if ratio == MOST else 0)
    sizes = [estimate for estimate, _ in pairs]
    spread = max(sizes) / min(sizes)
    if spread < NARROW or (spread < SPREAD and len(pairs) < ENOUGH):
        return plain
    slopes = [
        (later - billed) * MILLION / (larger - estimate)
        for (estimate, billed), (larger, later) in combinations(sorted(pairs), 2)
        if larger > estimate
    ]
    slope = _bounded(median(slopes))
    offset = _offset(pairs, slope)
    if offset < 0:
        return plain
    line = Fit(slope, offset)
    if spread < SPREAD and _missed(line, pairs) > BETTER * _missed(plain, pairs):
        return plain

    return line


def _bounded(factor: float) -> int:
    return min(MOST, max(LEAST, round(factor)))


def _offset(pairs: Pairs, factor: int) -> int:
    return round(median(billed - estimate * factor / MILLION for estimate, billed in pairs))


def _missed(fit: Fit, pairs: Sequence[tuple[int, int]]) -> float:
    return median(abs(fit.of(estimate) - billed) for estimate, billed in pairs)
