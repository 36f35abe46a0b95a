"""
What leaves a view where something has to, what stays, and what the view opens on then.
"""

from unabridged.cutting.openings import opened
from unabridged.cutting.summaries_stay import Untold, with_all_summaries, with_summaries

__all__ = ["Untold", "opened", "with_all_summaries", "with_summaries"]
