"""
The built-in strategies, one idea a file.
"""

from unabridged.strategies.guards import Over, Sparing, When
from unabridged.strategies.head_and_tail import HeadAndTail
from unabridged.strategies.max_rounds import MaxRounds
from unabridged.strategies.no_compaction import NoCompaction
from unabridged.strategies.summarize import Summarize
from unabridged.strategies.token_budget import TokenBudget
from unabridged.strategies.window import Window

__all__ = [
    "HeadAndTail",
    "MaxRounds",
    "NoCompaction",
    "Over",
    "Sparing",
    "Summarize",
    "TokenBudget",
    "When",
    "Window",
]
