"""
Showing a value in an error: always short, whatever it is, and nothing is raised.

The `repr` of a value may be megabytes, may never end (lists that hold the same
list twice, forty levels deep), or may raise. An error is read by a person and
sent to logs, so it shows the beginning.
"""

from collections.abc import Collection
from itertools import islice
from typing import Any

__all__ = ["STEP", "brief", "cause", "said", "short", "word"]

LONGEST = 80  # characters
STEP = 300  # characters of a step, whose repr names it
SEVERAL = 4  # of a list or dict
LEVELS = 2  # of lists in lists that are shown
BITS = 256  # of a number that is shown
_FORMS: dict[type, str] = {
    dict: "{{{}}}",
    list: "[{}]",
    tuple: "({})",
    set: "{{{}}}",
    frozenset: "frozenset({{{}}})",
}


def brief(value: object, most: int = LONGEST) -> str:
    """
    The value as Python writes it, cut after *most* characters.

    >>> brief("a" * 1_000, 9), brief([1, 2, 3, 4, 5]), brief(10**5_000)
    ("'aaaaaaaa…", '[1, 2, 3, 4, …]', 'an int of 16610 bits')
    >>> loop = {}
    >>> loop["x"] = loop["y"] = loop
    >>> brief(loop)
    "{'x': {'x': …, 'y': …}, 'y': {'x': …, 'y': …}}"
    """
    try:
        text = _text(value, most, LEVELS)
    except Exception:  # noqa: BLE001  an object of others, which cannot even say what it is
        text = f"a {type(value).__name__}"

    return short(text, most)


def short(text: str, most: int = STEP) -> str:
    """
    The text, cut after *most* characters.

    >>> short("a long story", 6)
    'a long…'
    """
    return text if len(text) <= most else f"{text[:most]}…"


def said(value: object, most: int = STEP) -> str:
    r"""
    A text as it stands, on one line; any other value as `brief` shows it.

    Half a character is escaped: a text that holds one cannot be printed.

    >>> said("Try\nagain."), said({"code": 1})
    ('Try again.', "{'code': 1}")
    """
    if not isinstance(value, str):
        return brief(value, most)
    text = " ".join(str.__getitem__(value, slice(0, 2 * most)).split())

    return short(text.encode(errors="backslashreplace").decode(), most)


def word(value: str) -> str:
    """
    An id, a name or a type as it stands, on one line and cut: it may be as long as anything.

    >>> word("call_1"), len(word("c" * 1_000_000))
    ('call_1', 81)
    """
    return said(value, LONGEST)


def cause(error: BaseException, *, empty: str | None = None) -> str:
    r"""
    What an error says, on one line, and not all of a long one; *empty*, or its name, if nothing.

    >>> cause(ValueError("no\nsuch thing")), cause(TimeoutError())
    ('no such thing', 'TimeoutError')
    """
    try:
        text = said(str(error))
    except Exception:  # noqa: BLE001  as above
        text = ""

    return text or (type(error).__name__ if empty is None else empty)


def _text(value: Any, most: int, levels: int) -> str:
    match value:
        case str():
            return repr(str.__getitem__(value, slice(0, most + 1)))
        case bytes() | bytearray():
            return repr(bytes(value[: most + 1]))
        case int() if value.bit_length() > BITS:
            return f"an int of {value.bit_length()} bits"
        case dict() | list() | tuple() | set() | frozenset() if type(value) in _FORMS:
            return _held(value, most, levels)
        case _ if _is_foreign(value):
            return f"a {type(value).__name__}"
        case _:
            return repr(value)


def _held(value: Any, most: int, levels: int) -> str:
    """
    What a dict or a list holds, the first of it.
    """
    if not value:
        return repr(value)
    if not levels:
        return "…"
    first = list(islice(value.items() if type(value) is dict else value, SEVERAL))
    if type(value) is dict:
        inner = [f"{_text(k, most, levels - 1)}: {_text(v, most, levels - 1)}" for k, v in first]
    else:
        inner = [_text(each, most, levels - 1) for each in first]
    if len(value) > SEVERAL:
        inner.append("…")
    comma = "," if type(value) is tuple and len(value) == 1 else ""

    return _FORMS[type(value)].format(f"{', '.join(inner)}{comma}")


def _is_foreign(value: object) -> bool:
    """
    Whether the value holds others and is no type of ours, so that its `repr` may never end.
    """
    kind = type(value)
    if kind.__module__.partition(".")[0] == "unabridged":
        return False

    return (
        isinstance(value, Collection)
        or hasattr(kind, "__dataclass_fields__")
        or hasattr(kind, "__attrs_attrs__")
    )
