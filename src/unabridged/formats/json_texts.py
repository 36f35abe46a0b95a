"""
Reading JSON that a model or a tool wrote: it may be anything, and nothing is raised.
"""

import json

from unabridged.json_values import object_in, strict_value

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
