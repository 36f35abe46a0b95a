"""
What a log's messages mean to the log itself.
"""

from unabridged.log.compactions import is_compaction

__all__ = ["is_compaction"]
