"""
What the Messages format keeps of a block beside its part's fields, and what it demands of one.
"""

from collections.abc import Collection
from typing import Any, Literal

from unabridged.formats.extras import Extras, Keys, refuse

__all__ = ["NAME", "is_foreign", "kept", "named", "own", "required", "without"]

NAME = "anthropic"

_ours = Extras(NAME)
kept, own, is_foreign = _ours.kept, _ours.own, _ours.is_foreign


def named(shape: Keys, name: Literal["keys", "inner"]) -> dict[str, Any]:
    """
    The object *name* in what was kept; an empty one when there is none.

    >>> named({"keys": {"title": None}}, "keys")
    {'title': None}
    """
    found = shape.get(name)

    return found if isinstance(found, dict) else {}


def without(block: Keys, known: Collection[str]) -> dict[str, Any]:
    """
    The keys of a block that have no field.

    >>> without({"type": "text", "text": "hi", "citations": None}, ("type", "text"))
    {'citations': None}
    """
    return {key: value for key, value in block.items() if key not in known}


def required(block: Keys, key: str, where: str) -> str:
    """
    The text under *key*.

    Raises:
        FormatError: there is none.

    >>> required({"type": "tool_use"}, "id", "messages[0].content[0]")
    Traceback (most recent call last):
    unabridged.errors.FormatError: messages[0].content[0].id: expected text, got nothing
    """
    found = block.get(key, ...)
    if not isinstance(found, str):
        refuse(f"{where}.{key}", "text", found)

    return found
