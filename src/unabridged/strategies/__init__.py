"""
The built-in strategies, one idea a file.
"""

from unabridged.strategies.clear_tool_results import ClearToolResults
from unabridged.strategies.clip_arguments import ClipArguments
from unabridged.strategies.clip_messages import ClipMessages
from unabridged.strategies.clip_tool_results import ClipToolResults
from unabridged.strategies.deduplicate import Deduplicate
from unabridged.strategies.drop_reasoning import DropReasoning
from unabridged.strategies.filter import Filter
from unabridged.strategies.guards import Over, Sparing, When
from unabridged.strategies.head_and_tail import HeadAndTail
from unabridged.strategies.max_rounds import MaxRounds
from unabridged.strategies.merge_runs import MergeRuns
from unabridged.strategies.no_compaction import NoCompaction
from unabridged.strategies.repair import Repair
from unabridged.strategies.sections import Sections, Share
from unabridged.strategies.summarize import Summarize
from unabridged.strategies.token_budget import TokenBudget
from unabridged.strategies.window import Window

__all__ = [
    "ClearToolResults",
    "ClipArguments",
    "ClipMessages",
    "ClipToolResults",
    "Deduplicate",
    "DropReasoning",
    "Filter",
    "HeadAndTail",
    "MaxRounds",
    "MergeRuns",
    "NoCompaction",
    "Over",
    "Repair",
    "Sections",
    "Share",
    "Sparing",
    "Summarize",
    "TokenBudget",
    "When",
    "Window",
]
