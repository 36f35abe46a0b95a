"""
Texts: the few words that an error shows of a value, and what is too large to be written out.
"""

from unabridged.text.bounds import DEEPEST, TOO_LARGE, bounded, is_small
from unabridged.text.brief import STEP, brief, cause, said, short

__all__ = ["DEEPEST", "STEP", "TOO_LARGE", "bounded", "brief", "cause", "is_small", "said", "short"]
