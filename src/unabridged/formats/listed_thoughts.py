"""
Reasoning that comes as a list, as one text with its signature, and as the list again.

What can be read is one text, so that it is counted, told and taken out as any
reasoning; signatures and what is encrypted stand in their own fields. The list
is kept with lengths in the places of these, so nothing is held twice.
"""

from typing import Any

from unabridged.messages import Reasoning

__all__ = ["parted", "restored"]

_FIELDS = {"text": "text", "summary": "text", "signature": "signature", "data": "encrypted"}


def parted(entries: list[Any]) -> tuple[list[Any], dict[str, str]] | None:
    """
    The list with lengths in the places of its texts, and the texts by the fields of `Reasoning`.

    None where a number stands in such a place already, or a text is told twice in one entry.

    >>> parted([{"type": "text", "text": "2 + 2"}])
    ([{'type': 'text', 'text': 5}], {'text': '2 + 2', 'signature': '', 'encrypted': ''})
    """
    left: list[Any] = []
    pieces: dict[str, list[str]] = {"text": [], "signature": [], "encrypted": []}
    for entry in entries:
        if not isinstance(entry, dict):
            return None
        made: dict[str, Any] = {}
        for key, value in entry.items():
            if (name := _FIELDS.get(key)) is None or value is None:
                made[key] = value
            elif isinstance(value, str):
                made[key] = len(value)
                pieces[name].append(value)
            else:
                return None
        left.append(made)

    return left, {name: "".join(found) for name, found in pieces.items()}


def restored(entries: list[Any], part: Reasoning, kind: str) -> list[Any]:
    """
    The list that was `parted`; where the text is another by now, the first entry tells it.

    Text of which no entry told gets an entry of the type *kind*.

    >>> restored([{"type": "text", "text": 5}], Reasoning("2 + 2"), "text")
    [{'type': 'text', 'text': '2 + 2'}]
    """
    made = [dict(entry) for entry in entries]
    for name in ("text", "signature", "encrypted"):
        text: str = getattr(part, name)
        places = [
            (entry, key)
            for entry in made
            for key in entry
            if _FIELDS.get(key) == name and entry[key] is not None
        ]
        sizes = [entry[key] for entry, key in places]
        if sum(sizes) != len(text):
            sizes = [len(text), *[0] * (len(sizes) - 1)]
        start = 0
        for (entry, key), size in zip(places, sizes, strict=False):
            entry[key] = text[start : start + size]
            start += size
        if name == "text" and text and not places:
            made.insert(0, {"type": kind, "text": text})

    return made
