"""
Damage in stored data: small checks, and what is wrong in words.
"""

from typing import Any

from unabridged.errors import ConfigError
from unabridged.text import brief, cause, short

__all__ = ["DAMAGE", "damage", "flag", "number", "words"]

DAMAGE = (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)


def number(value: Any) -> int:
    """
    The value, if it is a whole number.
    """
    if type(value) is not int:
        msg = f"expected a whole number, got {brief(value)}"
        raise ConfigError(msg)

    return value


def flag(value: Any) -> bool:
    """
    The value, if it is true or false.
    """
    if type(value) is not bool:
        msg = f"expected true or false, got {brief(value)}"
        raise ConfigError(msg)

    return value


def words(value: Any) -> str:
    """
    The value, if it is text.
    """
    if type(value) is not str:
        msg = f"expected text, got {brief(value)}"
        raise ConfigError(msg)

    return value


def damage(error: Exception) -> str:
    """
    What is wrong, in words.
    """
    if isinstance(error, KeyError):
        return f"{short(str(error))} is missing"

    return cause(error)
