"""
What calls and results of Gemini have in common: the object inside the part.
"""

from typing import Any

from unabridged.formats.extras import Keys, refuse
from unabridged.formats.gemini_keys import SIGNATURES, put_bytes, spelled, take, take_bytes

__all__ = ["closed", "hints_of", "opened", "taken_text"]


def opened(part: Keys, key: str, where: str) -> tuple[Keys, Keys, Keys]:
    """
    The keys beside a call or result, the shape so far, and the keys inside it.

    >>> opened({"function_call": {"name": "now"}}, "functionCall", "part")
    ({}, {'snake': ('function_call',)}, {'name': 'now'})
    """
    keys, shape = part.copy(), dict[str, Any]()
    inner = take(keys, key, shape)
    if not isinstance(inner, dict):
        refuse(f"{where}.{key}", "an object", inner)
    take_bytes(keys, shape, *SIGNATURES)

    return keys, shape, inner.copy()


def taken_text(inner: Keys, key: str, lacks: list[str], where: str) -> str:
    """
    The id or name, taken out of *inner*; an absent one is empty, and noted in *lacks*.

    >>> lacks = []
    >>> taken_text({"id": None}, "id", lacks, "part"), lacks
    ('', ['id'])
    """
    value = inner.get(key)
    if value is not None and not isinstance(value, str):
        refuse(f"{where}.{key}", "text", value)
    if not value:
        lacks.append(key)
        return ""
    del inner[key]

    return value


def hints_of(lacks: list[str], inner: Keys) -> dict[str, Any]:
    """
    The hints for what was absent, and for keys without a field.

    >>> hints_of(["id"], {})
    {'lacks': ('id',)}
    """
    return ({"lacks": tuple(lacks)} if lacks else {}) | ({"inner": inner} if inner else {})


def closed(key: str, form: Keys, shape: Keys) -> dict[str, Any]:
    """
    The part of a call or result again, from the *form* that our fields make.

    >>> closed("functionCall", {"name": "now"}, {"snake": ["function_call"]})
    {'function_call': {'name': 'now'}}
    """
    inner = {**shape.get("inner", {}), **form}

    return {spelled(key, shape): inner, **put_bytes(dict(shape.get("keys", {})), shape)}
