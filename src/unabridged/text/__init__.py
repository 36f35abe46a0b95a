"""
Words and texts, and nothing that knows of messages: names, what an error shows of a value.
"""

from unabridged.text.bounds import DEEPEST, TOO_LARGE, bounded, got, is_small
from unabridged.text.brief import STEP, brief, cause, said, short, word

__all__ = [
    "DEEPEST",
    "STEP",
    "TOO_LARGE",
    "bounded",
    "brief",
    "cause",
    "got",
    "is_small",
    "said",
    "short",
    "word",
]
