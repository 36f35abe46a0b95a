"""
Counting tokens: counters, counts that are kept, and budgets.

`exact()` counts what tiktoken counts, offline; `rough` estimates it without a
vocabulary; `words` and `quarter` are crude on purpose; `of_text` makes a
counter of any function of text. Loading this package does not load tiktoken.

>>> from unabridged import tokens
>>> from unabridged.messages import user
>>> message = user("Book two seats to Lima on 24 May.")
>>> tokens.exact()(message), tokens.rough(message)
(14, 13)
>>> tokens.words(message), tokens.quarter(message)
(8, 9)
"""

from unabridged.tokens.budget import Budget
from unabridged.tokens.counters import TokenCounter, exact, of_text, quarter, rough, words
from unabridged.tokens.kept import Kept, kept

__all__ = [
    "Budget",
    "Kept",
    "TokenCounter",
    "exact",
    "kept",
    "of_text",
    "quarter",
    "rough",
    "words",
]
