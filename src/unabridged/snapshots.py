"""
A thread as one value that JSON can hold, and back.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import evolve

from unabridged.codec import record_from_json, record_to_json
from unabridged.errors import CorruptLogError, JsonError, UnabridgedError
from unabridged.records import Forked, Noted, Record
from unabridged.text import bounded, brief, cause

__all__ = ["restored", "snapshot"]

VERSION = 1


def snapshot(thread: str, records: Iterable[Record]) -> dict[str, Any]:
    """
    All records of a thread as data.

    Those that a fork inherited are among them, with their numbers. What stands
    where it was forked then says nothing, so the data needs no other thread.

    >>> snapshot("ana", ())
    {'version': 1, 'thread': 'ana', 'records': []}
    """
    return {
        "version": VERSION,
        "thread": thread,
        "records": [record_to_json(_by_itself(record)) for record in records],
    }


def _by_itself(record: Record) -> Record:
    return evolve(record, body=Noted(())) if isinstance(record.body, Forked) else record


def restored(data: object) -> tuple[Record, ...]:
    """
    The records in what `snapshot` gave.

    Raises:
        CorruptLogError: it is something else, or a record is damaged.

    >>> restored({"version": 1, "thread": "ana", "records": []})
    ()
    """
    try:
        return _restored(data)
    except UnabridgedError:
        raise
    except Exception as error:
        msg = f"from_dict: reading it raised {type(error).__name__}: {cause(error)}"
        raise CorruptLogError(msg) from error


def _restored(data: object) -> tuple[Record, ...]:
    version = data.get("version") if isinstance(data, Mapping) else type(data).__name__
    if not isinstance(data, Mapping) or version != VERSION:
        msg = f"from_dict: expected what to_dict gave, version {VERSION}, got {brief(version)}"
        raise CorruptLogError(msg)
    records = data.get("records")
    if not isinstance(records, Sequence) or isinstance(records, str):
        msg = f"from_dict: `records` must be a list, got {type(records).__name__}"
        raise CorruptLogError(msg)

    thread = data.get("thread")
    if thread is not None and not isinstance(thread, str):
        msg = f"from_dict: `thread` must be text, got {type(thread).__name__}"
        raise CorruptLogError(msg)
    for at, record in enumerate(records):
        try:
            bounded(record, f"from_dict: records[{at}]")
        except JsonError as error:
            raise CorruptLogError(str(error)) from error

    return tuple(record_from_json(record) for record in records)
