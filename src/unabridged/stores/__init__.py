"""
Stores: where threads of records live.
"""

from typing import TYPE_CHECKING, Any

from unabridged.stores.in_memory import InMemoryStore
from unabridged.stores.protocol import AsyncStore, Receipt, Store
from unabridged.stores.verifying import Verified, Verifying

if TYPE_CHECKING:
    from unabridged.stores.in_thread import InThread
    from unabridged.stores.sqlite import SqliteStore

__all__ = [
    "AsyncStore",
    "InMemoryStore",
    "InThread",
    "Receipt",
    "SqliteStore",
    "Store",
    "Verified",
    "Verifying",
]


def __getattr__(name: str) -> Any:
    if name == "SqliteStore":  # sqlite3 loads when it is used
        from unabridged.stores.sqlite import SqliteStore  # noqa: PLC0415

        return SqliteStore
    if name == "InThread":
        from unabridged.stores.in_thread import InThread  # noqa: PLC0415

        return InThread
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return __all__
