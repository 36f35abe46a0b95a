"""
Reading JSON that a model or a tool wrote: it may be anything, and nothing is raised.
"""

import json
import math
from typing import Any, NoReturn

__all__ = ["loaded_json", "object_in", "strict_value"]


def loaded_json(text: str) -> object:
    """
    The value of a JSON text as Python reads it, NaN with it; `...` for a text that is none.

    >>> loaded_json('{"a": 1}'), loaded_json("{")
    ({'a': 1}, Ellipsis)
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return ...


def strict_value(text: str) -> object:
    """
    The value of a JSON text that an API can be sent; `...` for a text that is none.

    NaN is none, and so is a number past a float's range, which Python reads as infinite.

    >>> strict_value("[1]"), strict_value("NaN"), strict_value("1e999")
    ([1], Ellipsis, Ellipsis)
    """
    try:
        return _strict(text)
    except (ValueError, RecursionError):
        return ...


def object_in(text: str) -> dict[str, Any] | None:
    """
    The object in a JSON text, read as `strict_value` reads; None where there is none.

    >>> object_in('{"city": "Lima"}'), object_in('{"n": NaN}'), object_in("[]")
    ({'city': 'Lima'}, None, None)
    """
    found = strict_value(text)

    return found if isinstance(found, dict) else None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse(text)

    return number


def _refuse(text: str) -> NoReturn:
    msg = f"{text} is no number in JSON"
    raise ValueError(msg)


_strict = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse).decode
