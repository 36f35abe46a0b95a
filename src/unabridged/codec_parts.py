"""
Changes, notes and spans to JSON and back; `codec` is the door to it.
"""

from collections.abc import Mapping
from typing import Any, assert_never

from unabridged.codec_messages import Data, message_data, message_of
from unabridged.damage import DAMAGE, damage, flag, number, words
from unabridged.errors import ConfigError, CorruptLogError
from unabridged.json_values import Json
from unabridged.records import Change, Drop, Fold, Hold, Insert, Note
from unabridged.spans import NOTHING, Span
from unabridged.text import brief

__all__ = [
    "change_from_json",
    "change_of",
    "change_to_json",
    "note_from_json",
    "note_of",
    "note_to_json",
    "span_from_json",
    "span_of",
    "span_to_json",
]


def change_to_json(change: Change) -> Data:
    """
    The change as a dict that `json.dumps` takes.

    >>> from unabridged.records import Drop
    >>> change_to_json(Drop(Span.between(1, 4), step="Window(2)"))
    {'type': 'drop', 'sources': [[1, 4]], 'step': 'Window(2)'}
    """
    data: Data
    match change:
        case Drop(sources):
            data = {"type": "drop", "sources": span_to_json(sources)}
        case Fold(sources, into):
            data = {"type": "fold", "sources": span_to_json(sources), "into": message_data(into)}
        case Insert(into, after):
            data = {"type": "insert", "into": message_data(into)}
            if after:
                data["after"] = after
        case Hold(sources):
            data = {"type": "hold", "sources": span_to_json(sources)}
        case _:
            assert_never(change)
    if change.reason:
        data["reason"] = change.reason
    if change.step:
        data["step"] = change.step
    if change.replace:
        data["replace"] = True
    if isinstance(change, Fold) and change.summary is not None:
        data["summary"] = change.summary

    return data


def change_from_json(data: Mapping[str, Any]) -> Change:
    """
    The change that `change_to_json` gave.

    Raises:
        CorruptLogError: it is damaged.

    >>> change_from_json({"type": "hold", "sources": [3], "reason": "recalled"})
    Hold(sources=Span.of([3]), reason='recalled', step='', replace=False)
    """
    try:
        return change_of(data)
    except DAMAGE as error:
        msg = f"change: {damage(error)}"
        raise CorruptLogError(msg) from error


def change_of(data: Mapping[str, Any]) -> Change:
    """
    As `change_from_json`; damage raises whatever it leads to.
    """
    keys = {**data}
    kind = keys.pop("type")
    if "sources" in keys:
        keys["sources"] = span_of(keys["sources"])
    if "into" in keys:
        keys["into"] = message_of(keys["into"])
    number(keys.get("after", 0))
    flag(keys.get("replace", False))
    flag(keys.get("summary", False))
    words(keys.get("reason", ""))
    words(keys.get("step", ""))
    match kind:
        case "drop":
            return Drop(**keys)
        case "fold":
            return Fold(**keys)
        case "insert":
            return Insert(**keys)
        case "hold":
            return Hold(**keys)
        case _:
            msg = f"a change is of the unknown type {brief(kind)}"
            raise ConfigError(msg)


def note_to_json(note: Note) -> Data:
    """
    The note as a dict that `json.dumps` takes.

    >>> from unabridged.records import Note
    >>> note_to_json(Note("cut", "Window(40)", {"first": 21}))
    {'kind': 'cut', 'key': 'Window(40)', 'value': '{"first":21}'}
    """
    data: Data = {"kind": note.kind, "key": note.key, "value": note.value.text}
    if note.sources:
        data["sources"] = span_to_json(note.sources)

    return data


def note_from_json(data: Mapping[str, Any]) -> Note:
    """
    The note that `note_to_json` gave.

    Raises:
        CorruptLogError: it is damaged.

    >>> note_from_json({"kind": "cut", "key": "Window(40)", "value": "21"}).value.value
    21
    """
    try:
        return note_of(data)
    except DAMAGE as error:
        msg = f"note: {damage(error)}"
        raise CorruptLogError(msg) from error


def note_of(data: Mapping[str, Any]) -> Note:
    """
    As `note_from_json`; damage raises whatever it leads to.
    """
    keys = {**data}
    sources = span_of(keys.pop("sources")) if "sources" in keys else NOTHING
    words(keys["kind"])
    words(keys["key"])
    value = Json(words(keys.pop("value")))

    return Note(value=value, sources=sources, **keys)


def span_to_json(span: Span) -> list[Any]:
    """
    The numbers and ranges of the set.

    >>> span_to_json(Span.of([1, 2, 3, 7]))
    [[1, 3], 7]
    """
    return [first if first == last else [first, last] for first, last in span.ranges]


def span_from_json(data: list[Any]) -> Span:
    """
    The set that `span_to_json` gave.

    Raises:
        CorruptLogError: it is damaged.

    >>> span_from_json([[1, 3], 7])
    Span.of([(1, 3), 7])
    """
    try:
        return span_of(data)
    except DAMAGE as error:
        msg = f"span: {damage(error)}"
        raise CorruptLogError(msg) from error


def span_of(data: list[Any]) -> Span:
    """
    As `span_from_json`; damage raises whatever it leads to.
    """
    pairs = [(item, item) if type(item) is int else item for item in data]
    return Span(tuple((number(first), number(last)) for first, last in pairs))
