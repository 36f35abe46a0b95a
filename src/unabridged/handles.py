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

__all__ = ["Handle", "handle_at", "pieces_of"]

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
    pieces = pieces_of(message)
    several = len(pieces) > 1 and place in pieces

    return str(Handle(seq, pieces.index(place) + 1 if several else 0))
