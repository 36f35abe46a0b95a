"""
Records to JSON and back, format versions 1 to 3.

What is written here is read for ever: a new shape gets a new version number,
and `tests/data/format_v….jsonl` hold one record of each kind to prove it. A
record is written in the first version that has its kind, so that an older
library reads all that it can: version 2 added "forked", version 3 that a fold
says whether it is a summary. The text that a store keeps is version 4, whatever
the kind: it ends with a checksum of all that stands before it. Damaged data, or
a version that is not known, is a `CorruptLogError` that says what is wrong.
"""

import json
import zlib
from collections.abc import Mapping
from typing import Any, assert_never

from unabridged.codec_messages import (
    Data,
    message_data,
    message_from_json,
    message_of,
    message_to_json,
)
from unabridged.codec_parts import (
    change_from_json,
    change_of,
    change_to_json,
    note_from_json,
    note_of,
    note_to_json,
    span_from_json,
    span_of,
    span_to_json,
)
from unabridged.damage import DAMAGE, damage, flag, number, words
from unabridged.errors import ConfigError, CorruptLogError
from unabridged.json_values import json_text
from unabridged.records import (
    Appended,
    Body,
    Compacted,
    Forked,
    Noted,
    Pinned,
    Record,
    Reverted,
)
from unabridged.text import brief, cause

__all__ = [
    "VERSION",
    "change_from_json",
    "change_to_json",
    "message_from_json",
    "message_to_json",
    "note_from_json",
    "note_to_json",
    "record_from_json",
    "record_of_text",
    "record_text",
    "record_to_json",
    "span_from_json",
    "span_to_json",
]

VERSION = 4
_SINCE = {"forked": 2, "summary": 3}
_SUMMED, _SUM = 4, ',"sum":'


def record_text(record: Record, beside: bytes = b"") -> str:
    """
    One line of JSON with a checksum: what a store keeps.

    What a store keeps *beside* the text may be covered by the checksum too. Lone
    surrogates and NUL are escaped, so any store of text can hold it.

    >>> from unabridged.records import Record, Reverted
    >>> record_text(Record(2, 0.5, Reverted(1)))
    '{"v":4,"rec":2,"at":0.5,"kind":"reverted","of":1,"sum":4025186013}'
    """
    data = record_to_json(record)
    data["v"] = VERSION
    text = json_text(data)[:-1]

    return f"{text}{_SUM}{_checksum(text, beside)}}}"


def record_of_text(text: str | bytes, beside: bytes = b"") -> Record:
    """
    The record that `record_text` wrote; *beside* is what was given there.

    Raises:
        CorruptLogError: the text is damaged, or written by a later version.

    >>> record_of_text('{"v":1,"rec":2,"at":0.5,"kind":"reverted","of":1}')
    Record(rec=2, at=0.5, body=Reverted(rec=1))
    >>> record_of_text('{"v":1,"rec":2}')
    Traceback (most recent call last):
    unabridged.errors.CorruptLogError: damaged record: 'at' is missing
    """
    try:
        data = json.loads(text)
        if isinstance(data, dict) and data.get("v") == VERSION:
            _verify(text if isinstance(text, str) else text.decode(), beside)
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"damaged record: not JSON, {cause(error)}"
        raise CorruptLogError(msg) from error

    return record_from_json(data)


def _verify(text: str, beside: bytes) -> None:
    start, mark, stop = text.rpartition(_SUM)
    if not mark:
        msg = "damaged record: its checksum is missing"
        raise CorruptLogError(msg)
    if stop != (found := f"{_checksum(start, beside)}}}"):
        msg = f"damaged record: its checksum is {found[:-1]}, not {stop[:-1]:.12} as it says"
        raise CorruptLogError(msg)


def _checksum(text: str, beside: bytes) -> int:
    return zlib.crc32(text.encode(), zlib.crc32(beside))


def record_to_json(record: Record) -> Data:
    """
    The record as a dict that `json.dumps` takes.

    >>> from unabridged.records import Record, Reverted
    >>> record_to_json(Record(2, 0.5, Reverted(1)))
    {'v': 1, 'rec': 2, 'at': 0.5, 'kind': 'reverted', 'of': 1}
    """
    data: Data = {"v": 1, "rec": record.rec, "at": record.at}
    match record.body:
        case Appended(seq, message, pinned):
            data["kind"] = "appended"
            data["seq"] = seq
            data["message"] = message_data(message)
            if pinned:
                data["pinned"] = True
        case Compacted(changes, upto):
            data |= {"kind": "compacted", "upto": upto}
            data["changes"] = [change_to_json(change) for change in changes]
            if any("summary" in change for change in data["changes"]):
                data["v"] = _SINCE["summary"]
        case Noted(notes):
            data |= {"kind": "noted", "notes": [note_to_json(note) for note in notes]}
        case Reverted(rec):
            data |= {"kind": "reverted", "of": rec}
        case Pinned(span, on):
            data |= {"kind": "pinned", "span": span_to_json(span)}
            if not on:
                data["on"] = False
        case Forked(thread, rec):
            data |= {"v": _SINCE["forked"], "kind": "forked", "thread": thread, "upto": rec}
        case _:
            assert_never(record.body)

    return data


def record_from_json(data: Mapping[str, Any]) -> Record:
    """
    The record that `record_to_json` gave.

    Raises:
        CorruptLogError: it is damaged, or written by a later version.

    >>> record_from_json({"v": 1, "rec": 2, "at": 0.5, "kind": "reverted"})
    Traceback (most recent call last):
    unabridged.errors.CorruptLogError: damaged record: 'of' is missing
    """
    if not isinstance(data, Mapping):
        msg = f"damaged record: an object is expected, not a {type(data).__name__}"
        raise CorruptLogError(msg)
    try:
        return _record(data)
    except DAMAGE as error:
        msg = f"damaged record: {damage(error)}"
        raise CorruptLogError(msg) from error


def _record(data: Mapping[str, Any]) -> Record:
    keys = {**data}
    version = _version(keys)
    rec, at, kind = number(keys.pop("rec")), keys.pop("at"), keys.pop("kind")
    if type(at) is not float and type(at) is not int:
        msg = f"'at' is no time but {brief(at)}"
        raise ConfigError(msg)
    body: Body
    match kind:
        case "appended":
            seq, message = number(keys.pop("seq")), message_of(keys.pop("message"))
            body = Appended(seq, message, flag(keys.pop("pinned", False)))
        case "compacted":
            changes = tuple(change_of(change) for change in keys.pop("changes"))
            body = Compacted(changes, number(keys.pop("upto")))
        case "noted":
            body = Noted(tuple(note_of(note) for note in keys.pop("notes")))
        case "reverted":
            body = Reverted(number(keys.pop("of")))
        case "pinned":
            body = Pinned(span_of(keys.pop("span")), flag(keys.pop("on", True)))
        case "forked" if version >= _SINCE["forked"]:
            body = Forked(words(keys.pop("thread")), number(keys.pop("upto")))
        case _:
            msg = f"the kind {brief(kind)} is not known"
            raise ConfigError(msg)
    if keys:
        msg = f"the key {brief(min(keys))} is not known"
        raise ConfigError(msg)

    return Record(rec, at, body)


def _version(keys: Data) -> int:
    version = keys.pop("v")
    if type(version) is not int or not 1 <= version <= VERSION:
        msg = (
            f"format version {brief(version)} is not known here ({VERSION} is); "
            "upgrade `unabridged`"
        )
        raise ConfigError(msg)
    if version >= _SUMMED:
        number(keys.pop("sum"))  # of the text: whoever has that has looked at it

    return version
