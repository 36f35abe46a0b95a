"""
Cutting: what a view opens on once entries have left it.
"""

from unabridged.cutting.openings import opened

__all__ = ["opened"]
