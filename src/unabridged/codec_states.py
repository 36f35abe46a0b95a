"""
The state of a thread to JSON and back, in parts that change at different times.

A store keeps each part by itself and rewrites those that changed: links move
with every message, the rest only when something is pinned, noted or decided.
`live` is not written: it is all entries but those folded, gone or lost.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from unabridged.codec_messages import Data
from unabridged.codec_parts import (
    change_of,
    change_to_json,
    note_of,
    note_to_json,
    span_of,
    span_to_json,
)
from unabridged.damage import DAMAGE, damage, flag, number, words
from unabridged.errors import ConfigError, CorruptLogError
from unabridged.json_values import json_text
from unabridged.ledger import Gone, Late, Undone
from unabridged.links import Links, OpenCall
from unabridged.records import Fold
from unabridged.spans import NOTHING, Span
from unabridged.states import ThreadState, lasting
from unabridged.text import brief

__all__ = [
    "PARTS",
    "VERSION",
    "changed_parts",
    "links_text",
    "part_to_json",
    "state_from_json",
    "state_to_json",
]

VERSION = 2  # 2 added the id
_READ = (1, VERSION)
PARTS = {
    "pins": ("hand", "role", "guarded", "compactions"),
    "notes": ("notes",),
    "view": (
        *("decided", "decided_seq", "folds", "gone", "late", "undone", "skipped", "lost"),
        *("reopened", "born"),
    ),
    "id": ("id",),
}
_WITHOUT_THINKER = 9  # numbers in the links, before there were more
_FIELDS: dict[str, Callable[[ThreadState], tuple[Any, ...]]] = {
    "pins": attrgetter(*PARTS["pins"]),
    "notes": lambda state: (state.notes,),
    "view": attrgetter(*PARTS["view"]),
    "id": lambda state: (state.id,),
}


def state_to_json(state: ThreadState) -> Data:
    """
    The state as a dict that `json.dumps` takes.

    >>> from unabridged import user
    >>> from unabridged.records import Appended, Record
    >>> from unabridged.states import rebuilt
    >>> state = rebuilt([Record(1, 1.5, Appended(1, user("hi")))])
    >>> state_to_json(state)
    {'v': 2, 'rec': 1, 'seq': 1, 'links': [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0], 'born': 1.5}
    >>> state_from_json(state_to_json(state)) == state
    True
    """
    data: Data = {"v": VERSION, "rec": state.rec, "seq": state.seq, "links": _links(state.links)}
    for part in PARTS:
        data |= part_to_json(state, part)

    return data


def changed_parts(before: ThreadState, after: ThreadState) -> list[str]:
    """
    The parts in which the two differ.

    >>> from attrs import evolve
    >>> changed_parts(ThreadState(), evolve(ThreadState(), hand=Span.one(1)))
    ['pins']
    """
    return [part for part, fields in _FIELDS.items() if fields(before) != fields(after)]


def part_to_json(state: ThreadState, part: str) -> Data:
    """
    One of the `PARTS` of the state, without what is empty.

    >>> part_to_json(ThreadState(hand=Span.one(1)), "pins")
    {'hand': [1]}
    """
    return {name: _WRITERS[name](value) for name in PARTS[part] if (value := getattr(state, name))}


def links_text(links: Links) -> str:
    """
    The links as short JSON text.

    >>> links_text(Links())
    '[0,0,0,0,0,0,0,0,0,0,0,0]'
    """
    return json_text(_links(links))


def _links(links: Links) -> list[Any]:
    return [
        links.opener,
        links.asked,
        *links.asked_block,
        links.spoke,
        *links.spoke_block,
        *links.before,
        int(links.thinks),
        *links.thinker,
        *links.calls,
    ]


def state_from_json(data: Mapping[str, Any]) -> ThreadState:
    """
    The state that `state_to_json` gave.

    Raises:
        CorruptLogError: it is damaged, or written by a later version.

    >>> state_from_json({"v": 1, "rec": 1})
    Traceback (most recent call last):
    unabridged.errors.CorruptLogError: state: 'seq' is missing
    """
    try:
        return _state(data)
    except DAMAGE as error:
        msg = f"state: {damage(error)}"
        raise CorruptLogError(msg) from error


def _state(data: Mapping[str, Any]) -> ThreadState:
    keys = {**data}
    version = keys.pop("v")
    if type(version) is not int or version not in _READ:
        known = f"{VERSION} is the newest"
        msg = f"format version {brief(version)} is not known here ({known}); upgrade `unabridged`"
        raise ConfigError(msg)
    rec, seq, links = number(keys.pop("rec")), number(keys.pop("seq")), _links_of(keys.pop("links"))
    fields = {name: _READERS[name](value) for name, value in keys.items()}
    folds, gone, lost = fields.get("folds", ()), fields.get("gone", ()), fields.get("lost", NOTHING)
    taken = [lost, *(fold.sources for fold in folds), *(one.sources for one in gone)]
    live = Span.between(1, seq) - Span.union(taken)
    if folds and lost:  # earlier versions kept the rewordings of what they destroyed
        fields["folds"] = lasting(folds, lost)

    return ThreadState(rec=rec, seq=seq, links=links, live=live, **fields)


def _links_of(data: list[Any]) -> Links:
    calls = [value for value in data if isinstance(value, list)]
    numbers = [number(value) for value in data[: len(data) - len(calls)]]
    if len(numbers) == _WITHOUT_THINKER:  # as it was written before thinking bound a tool loop
        numbers += [int(numbers[7] > 0), 0, 0]
    opener, asked, asked_first, asked_last, spoke, spoke_first, spoke_last, *rest = numbers
    head, before, thinks, thinker, thinkers = rest

    return Links(
        opener=opener,
        asked=asked,
        asked_block=(asked_first, asked_last),
        spoke=spoke,
        spoke_block=(spoke_first, spoke_last),
        before=(head, before),
        thinks=thinks > 0,
        thinker=(thinker, thinkers),
        calls=tuple(_call(call) for call in calls),
    )


def _call(data: list[Any]) -> OpenCall:
    name, seq, count, head, opener = data
    return OpenCall(words(name), number(seq), number(count), number(head), number(opener))


def _folds(data: list[Any]) -> tuple[Fold, ...]:
    changes = tuple(change_of(change) for change in data)
    folds = tuple(change for change in changes if isinstance(change, Fold))
    if len(folds) < len(changes):
        msg = "a stand-in is no fold"
        raise ConfigError(msg)

    return folds


def _gone_data(gone: tuple[Gone, ...]) -> list[Any]:
    return [[span_to_json(one.sources), one.rec, one.step, one.reason] for one in gone]


def _gone(data: list[Any]) -> tuple[Gone, ...]:
    return tuple(
        Gone(span_of(sources), number(rec), words(step), words(reason))
        for sources, rec, step, reason in data
    )


def _late_data(late: tuple[Late, ...]) -> list[Any]:
    return [[one.seq, span_to_json(one.calls), one.bare] for one in late]


def _late(data: list[Any]) -> tuple[Late, ...]:
    return tuple(Late(number(seq), span_of(calls), flag(bare)) for seq, calls, bare in data)


def _undone_data(undone: tuple[Undone, ...]) -> list[Any]:
    return [[one.step, span_to_json(one.sources)] for one in undone]


def _undone(data: list[Any]) -> tuple[Undone, ...]:
    return tuple(Undone(words(step), span_of(sources)) for step, sources in data)


_WRITERS: dict[str, Any] = {
    "hand": span_to_json,
    "role": span_to_json,
    "guarded": span_to_json,
    "lost": span_to_json,
    "compactions": span_to_json,
    "decided": int,
    "decided_seq": int,
    "folds": lambda folds: [change_to_json(fold) for fold in folds],
    "gone": _gone_data,
    "late": _late_data,
    "undone": _undone_data,
    "skipped": list,
    "reopened": lambda pairs: [list(pair) for pair in pairs],
    "born": float,
    "id": str,
    "notes": lambda notes: [note_to_json(note) for note in notes],
}
_READERS: dict[str, Any] = {
    "hand": span_of,
    "role": span_of,
    "guarded": span_of,
    "lost": span_of,
    "compactions": span_of,
    "decided": number,
    "decided_seq": number,
    "folds": _folds,
    "gone": _gone,
    "late": _late,
    "undone": _undone,
    "skipped": lambda texts: tuple(words(text) for text in texts),
    "born": float,
    "id": words,
    "reopened": lambda pairs: tuple((number(last), number(opener)) for last, opener in pairs),
    "notes": lambda notes: tuple(note_of(note) for note in notes),
}
