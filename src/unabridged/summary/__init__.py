"""
Summaries: what they come to with what is kept, and which are not asked for again at once.
"""

from unabridged.summary.one_total import within_total
from unabridged.summary.refused import RefusedAnswers

__all__ = ["RefusedAnswers", "within_total"]
