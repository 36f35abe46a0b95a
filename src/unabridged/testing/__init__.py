"""
Tools to test strategies and stores with: the ones that this library's own tests use.

Call a strategy on plain values: `run(Window(2), view_of([...]))`. Hold one of
your own to every law with `check_strategy`, a store with `check_store`.

What generates needs the extra `unabridged[test]`; it loads on first access.
"""

import importlib.util
from typing import TYPE_CHECKING, Any

from unabridged.messages import assistant, system, tool, user
from unabridged.testing.views import call, failing, replies, result, talk, texts, view_of

if TYPE_CHECKING:
    from unabridged.testing import (
        laws,
        laws_of_cuts,
        laws_of_living,
        laws_of_loading,
        laws_of_memory,
        laws_of_staying,
        laws_of_summaries,
        laws_of_turning_back,
    )
    from unabridged.testing.checking import LAWS, check_strategy
    from unabridged.testing.generators import logs, messages
    from unabridged.testing.log import Log
    from unabridged.testing.log_shapes import SHAPES, shapes
    from unabridged.testing.stores import check_store

__all__ = [
    "LAWS",
    "SHAPES",
    "Log",
    "assistant",
    "call",
    "check_store",
    "check_strategy",
    "failing",
    "laws",
    "laws_of_cuts",
    "laws_of_living",
    "laws_of_loading",
    "laws_of_memory",
    "laws_of_staying",
    "laws_of_summaries",
    "laws_of_turning_back",
    "logs",
    "messages",
    "replies",
    "result",
    "shapes",
    "system",
    "talk",
    "texts",
    "tool",
    "user",
    "view_of",
]

_LATER = {
    "LAWS": "checking",
    "Log": "log",
    "SHAPES": "log_shapes",
    "check_store": "stores",
    "check_strategy": "checking",
    "logs": "generators",
    "messages": "generators",
    "shapes": "log_shapes",
}
_MODULES = frozenset(
    {
        "laws",
        "laws_of_cuts",
        "laws_of_living",
        "laws_of_loading",
        "laws_of_memory",
        "laws_of_staying",
        "laws_of_summaries",
        "laws_of_turning_back",
    }
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _LATER:
        return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    if importlib.util.find_spec("hypothesis"):
        return __all__

    return [name for name in __all__ if name not in _MODULES | {*_LATER}]  # so `help` can be read
