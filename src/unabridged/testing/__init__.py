"""
Tools to test strategies and stores with: the ones that this library's own tests use.

Call a strategy on plain values: `run(Window(2), view_of([...]))`. Hold one of
your own to every law with `check_strategy`, a store with `check_store`.
"""

from unabridged.messages import assistant, system, tool, user
from unabridged.testing.views import call, failing, replies, result, talk, texts, view_of

__all__ = [
    "assistant",
    "call",
    "failing",
    "replies",
    "result",
    "system",
    "talk",
    "texts",
    "tool",
    "user",
    "view_of",
]
