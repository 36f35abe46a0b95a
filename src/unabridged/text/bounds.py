"""
Bounds of values that others hand in: how deep they are nested, and how large they are.

A value may contain itself, or hold the same list twice, forty levels deep:
whoever walks or writes it out never comes to an end. So it is measured first.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unabridged.errors import JsonError
from unabridged.text.brief import brief, cause

__all__ = ["DEEPEST", "TOO_LARGE", "bounded", "got", "is_small"]

DEEPEST = 200  # what any stack can still read
MOST = 10_000_000  # values, each counted wherever it stands
TOO_LARGE = 2**63  # for any number of tokens, entries or records, and for SQLite
LONGEST = 1_000_000_000  # characters; SQLite stores no longer text
_PLAIN = frozenset({str, int, bool, type(None), float})
_NOT_HELD = frozenset({range, memoryview})


def is_small(value: object) -> bool:
    """
    Whether a value has only plain types and keys, in so few lists and dicts that any may walk it.

    >>> loop = {}
    >>> loop["x"] = loop["y"] = loop
    >>> is_small({"a": [1, 2]}), is_small(loop), is_small({1: 2}), is_small([[]] * 1_000)
    (True, False, False, False)
    """
    nested: list[Any] = [value]
    for outer in nested:
        kind = type(outer)
        if kind is dict:
            for key, inner in outer.items():
                if type(key) is not str:
                    return False
                if type(inner) not in _PLAIN:
                    nested.append(inner)
        elif kind is list or kind is tuple:
            nested += [inner for inner in outer if type(inner) not in _PLAIN]
        elif kind in _PLAIN:
            continue
        else:
            return False
        if len(nested) > DEEPEST or (len(outer) > DEEPEST and _is_long(outer)):
            return False

    return True


def _is_long(outer: Any) -> bool:
    """
    Whether one text stands in it many times over, perhaps.
    """
    held = outer.values() if type(outer) is dict else outer

    return sum(len(inner) for inner in held if type(inner) is str) > MOST


def got(value: object) -> str:
    """
    The value in an error about a number: of one that no number may reach, that it is too large.

    >>> got("3"), got(2**63)
    ("got '3'", 'got 9223372036854775808, which is too large')
    """
    large = isinstance(value, int) and value >= TOO_LARGE

    return f"got {brief(value)}{', which is too large' if large else ''}"


def bounded(value: object, where: str, most: int = MOST) -> None:
    """
    Refuse a value that contains itself, or is nested too deep, or too large, to be walked.

    What is held twice counts twice, since it is written twice; but it is looked
    at once, so a list of two lists of two lists … takes no longer than it has lists.
    Of what other types hold nothing is known.

    Raises:
        JsonError: it is one of these, or cannot be read.

    >>> loop = {}
    >>> loop["x"] = loop["y"] = loop
    >>> bounded({"a": loop}, "metadata")
    Traceback (most recent call last):
    unabridged.errors.JsonError: metadata…: nested over 200 deep, or it contains itself; flatten it
    """
    try:
        _, values, characters = _measured(value, 0, {})
    except RecursionError as error:
        msg = f"{where}…: nested over {DEEPEST} deep, or it contains itself; flatten it"
        raise JsonError(msg) from error
    except Exception as error:
        msg = f"{where}: reading it raised {type(error).__name__}: {cause(error)}"
        raise JsonError(msg) from error
    if values > most or characters > LONGEST:
        msg = (
            f"{where}: too large, {values:.3g} values and {characters:.3g} characters once all "
            f"is written out (at most {most:,} and {LONGEST:,}); what is held twice counts twice"
        )
        raise JsonError(msg)


_Measure = tuple[int, float, float]


def _measured(value: Any, depth: int, known: dict[int, _Measure]) -> _Measure:
    """
    How deep a value is nested, and how many values and characters it holds.
    """
    if isinstance(value, str | bytes | bytearray):
        return 0, 1.0, float(len(value))
    if not isinstance(value, dict | list | tuple | Mapping | Sequence) or type(value) in _NOT_HELD:
        return 0, 1.0, 1.0
    height, values, characters = known.get(id(value), (-1, 1.0, 1.0))
    if height < 0:
        if depth > DEEPEST:
            raise RecursionError
        held: Iterable[Any] = value
        if isinstance(value, Mapping):
            items = tuple(value.items())
            held = [inner for _, inner in items]
            characters += sum(len(key) if isinstance(key, str) else 1 for key, _ in items)
        for inner in held:
            if type(inner) is str:
                below, more, longer = 0, 1.0, float(len(inner))
            elif type(inner) in _PLAIN:
                below, more, longer = 0, 1.0, 1.0
            else:
                below, more, longer = _measured(inner, depth + 1, known)
            height, values, characters = max(height, below), values + more, characters + longer
        height += 1
        known[id(value)] = height, values, characters
    if depth + height > DEEPEST:
        raise RecursionError

    return height, values, characters
