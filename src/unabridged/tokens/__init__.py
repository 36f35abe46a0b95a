"""
Counting tokens: counters, counts that are kept, and budgets.

`exact("gpt-4o")` counts what the model counts, offline; `for_model` gives the
best offline counter of any model; `rough` estimates without a vocabulary;
`words` and `quarter` are crude on purpose; `of_text` makes a counter of any
function of text; `from_client` asks a provider's endpoint; `calibrated`
corrects a counter by what is billed; `tools` counts tool definitions. Loading
this package does not load tiktoken.

>>> from unabridged import tokens
>>> from unabridged.messages import user
>>> message = user("Book two seats to Lima on 24 May.")
>>> tokens.exact()(message), tokens.rough(message)
(14, 13)
>>> tokens.words(message), tokens.quarter(message)
(8, 9)
"""

from unabridged.tokens.budget import Budget
from unabridged.tokens.calibrated import Calibrated, calibrated
from unabridged.tokens.counters import (
    Bound,
    Counter,
    TokenCounter,
    of_text,
    quarter,
    rough,
    words,
)
from unabridged.tokens.definitions import tools
from unabridged.tokens.from_client import FromClient, from_client
from unabridged.tokens.kept import Kept, kept
from unabridged.tokens.offline import exact, for_model

__all__ = [
    "Bound",
    "Budget",
    "Calibrated",
    "Counter",
    "FromClient",
    "Kept",
    "TokenCounter",
    "calibrated",
    "exact",
    "for_model",
    "from_client",
    "kept",
    "of_text",
    "quarter",
    "rough",
    "tools",
    "words",
]
