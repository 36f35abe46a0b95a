"""
What leaves a view where something has to, and what stays.
"""

from unabridged.cutting.summaries_stay import Untold, with_all_summaries, with_summaries

__all__ = ["Untold", "with_all_summaries", "with_summaries"]
