"""
Handles: the short strings under which what left a view can be fetched again.

A handle is the number of an entry, "12", or names one call or result of it
where it holds several, "12.2". Entries are never renumbered and a rewording
keeps its calls and results, so a handle stays good through summaries,
write-backs, restarts and forks. A summarizer's transcript names entries alike.
"""

import re

from attrs import frozen

from unabridged.messages import Message, ToolCall, ToolResult
from unabridged.text import TOO_LARGE

__all__ = ["NEWER", "Handle", "handle_at", "newer_of", "pieces_of"]

NEWER = "unabridged.newer"
"""The key of the metadata that names the newer results that a result stands for, by its number."""

# no number that a store could not hold; what a model may write around it is let through
_FORM = re.compile(
    r"(?:entry\s*)?#?([1-9][0-9]{0,17})(?:\.([1-9][0-9]{0,5}))?", re.ASCII | re.IGNORECASE
)


@frozen
class Handle:
    """
    Entry *seq*, or its call or result number *part*, counted from 1 (0: the whole entry).

    >>> str(Handle(12)), str(Handle(12, 2))
    ('12', '12.2')
    """

    seq: int
    part: int = 0

    def __str__(self) -> str:
        return f"{self.seq}.{self.part}" if self.part else str(self.seq)

    @classmethod
    def read(cls, text: object) -> "Handle | None":
        """
        The handle that *text*, or the number of an entry, names; None if it is none.

        >>> Handle.read("12.2"), Handle.read(" entry 12"), Handle.read("twelve")
        (Handle(seq=12, part=2), Handle(seq=12, part=0), None)
        """
        if isinstance(text, int) and not isinstance(text, bool):
            text = str(text) if abs(text) < TOO_LARGE else ""
        found = _FORM.fullmatch(text.strip()) if isinstance(text, str) else None

        return None if found is None else cls(int(found[1]), int(found[2] or 0))


def pieces_of(message: Message) -> list[int]:
    """
    Where the calls and results of a message stand among its parts.

    >>> from unabridged.testing import call
    >>> pieces_of(call("c1", "c2", text="I look."))
    [1, 2]
    """
    kinds = (ToolCall, ToolResult)

    return [place for place, part in enumerate(message.parts) if isinstance(part, kinds)]


def handle_at(message: Message, seq: int, place: int) -> str:
    """
    The handle of the part at *place* of the message of entry *seq*.

    >>> from unabridged.testing import call
    >>> handle_at(call("c1"), 12, 0), handle_at(call("c1", "c2"), 12, 1)
    ('12', '12.2')
    """
    if newer := newer_of(message, place):
        return str(newer[-1])
    pieces = pieces_of(message)
    several = len(pieces) > 1 and place in pieces

    return str(Handle(seq, pieces.index(place) + 1 if several else 0))


def newer_of(message: Message, place: int) -> tuple[Handle, ...]:
    """
    The newer results of the same call that the result at *place* stands for, the newest last.

    Its words are those of the newest.

    >>> from unabridged.messages import tool
    >>> said = tool("done", call_id="c1", metadata={NEWER: {"result.0": ["7"]}})
    >>> newer_of(said, 0), handle_at(said, 3, 0)
    ((Handle(seq=7, part=0),), '7')
    """
    if not message.metadata or NEWER not in message.metadata.text:
        return ()
    known = message.metadata.value.get(NEWER)
    if not isinstance(known, dict) or not isinstance(message.parts[place], ToolResult):
        return ()
    number = sum(isinstance(part, ToolResult) for part in message.parts[:place])
    named = known.get(f"result.{number}")
    handles = map(Handle.read, named if isinstance(named, list) else ())

    return tuple(handle for handle in handles if handle is not None)
