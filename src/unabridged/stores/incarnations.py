"""
Incarnations: a thread that is deleted and begun anew is another one, of the same name.

Each gets a random id when it begins. An append that leans on what was read may
say which one it means, and a store refuses it on any other.
"""

import inspect
import os
from typing import Any

__all__ = ["new_id", "takes_incarnation"]


def new_id() -> str:
    """
    An id that no thread has had.

    >>> len(new_id()), new_id() == new_id()
    (16, False)
    """
    return os.urandom(8).hex()


def takes_incarnation(store: Any) -> bool:
    """
    Whether the store's `append` and `delete` can be told which incarnation is meant.

    Those of stores that were written before there were incarnations cannot.

    >>> from unabridged.stores import InMemoryStore
    >>> class Older(InMemoryStore):
    ...     def append(self, thread, bodies, *, expect=None, at=None):
    ...         return super().append(thread, bodies, expect=expect, at=at)
    >>> takes_incarnation(InMemoryStore()), takes_incarnation(Older())
    (True, False)
    """
    inner = getattr(store, "guards", None)  # one that only passes on what another store does
    if isinstance(inner, bool):
        return inner

    return all(_takes(getattr(store, name, None)) for name in ("append", "delete"))


def _takes(method: Any) -> bool:
    try:
        parameters = inspect.signature(method).parameters
    except (TypeError, ValueError):
        return False

    return "incarnation" in parameters or any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    )
