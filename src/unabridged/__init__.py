"""
unabridged: keep every message; send only what fits.

A conversation is an append-only log. What goes to the model is a view of it,
made by a chain of small pure strategies:

>>> from unabridged import Memory, TokenBudget, Window, assistant, user
>>> memory = Memory(strategy=Window(40) | TokenBudget(8_000))
>>> _ = memory.append(user("My name is Ana."), assistant("Hello, Ana."))
>>> print(memory.context().text())
user: My name is Ana.
assistant: Hello, Ana.
"""

import importlib
from typing import TYPE_CHECKING, Any

from unabridged.contract import Ask, TrimContext
from unabridged.items import Item
from unabridged.memory import Memory
from unabridged.messages import (
    Audio,
    Document,
    Image,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    system,
    tool,
    user,
)
from unabridged.pipeline import Strategy, chain, custom, written_back
from unabridged.results import TrimResult
from unabridged.running import arun, run
from unabridged.strategies import (
    ClearToolResults,
    ClipArguments,
    ClipMessages,
    ClipToolResults,
    Deduplicate,
    DropReasoning,
    Filter,
    HeadAndTail,
    MaxRounds,
    MergeRuns,
    NoCompaction,
    Over,
    Repair,
    Sections,
    Share,
    Sparing,
    Summarize,
    TokenBudget,
    When,
    Window,
)
from unabridged.tokens import Budget
from unabridged.views import View

if TYPE_CHECKING:
    from unabridged import asking, formats, stores, testing, tokens, tools
    from unabridged import declared as declared
    from unabridged.async_memory import AsyncMemory

__all__ = [
    "Ask",
    "AsyncMemory",
    "Audio",
    "Budget",
    "ClearToolResults",
    "ClipArguments",
    "ClipMessages",
    "ClipToolResults",
    "Deduplicate",
    "Document",
    "DropReasoning",
    "Filter",
    "HeadAndTail",
    "Image",
    "Item",
    "MaxRounds",
    "Memory",
    "MergeRuns",
    "Message",
    "NoCompaction",
    "Opaque",
    "Over",
    "Reasoning",
    "Repair",
    "Sections",
    "Share",
    "Sparing",
    "Strategy",
    "Summarize",
    "Text",
    "TokenBudget",
    "ToolCall",
    "ToolResult",
    "TrimContext",
    "TrimResult",
    "View",
    "When",
    "Window",
    "arun",
    "asking",
    "assistant",
    "chain",
    "custom",
    "declared",
    "formats",
    "run",
    "stores",
    "system",
    "testing",
    "tokens",
    "tool",
    "tools",
    "user",
    "written_back",
]

__version__ = "0.1.0"  # which pyproject.toml reads

_MODULES = frozenset({"asking", "declared", "formats", "stores", "testing", "tokens", "tools"})


def __getattr__(name: str) -> Any:
    if name == "AsyncMemory":  # asyncio loads when it is used
        from unabridged.async_memory import AsyncMemory  # noqa: PLC0415

        return AsyncMemory
    if name in _MODULES:
        return importlib.import_module(f"unabridged.{name}")
    msg = f"module 'unabridged' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return __all__
