"""
Which notes a view may lean on: of each step the last cut, of each kind the newest answers.
"""

from unabridged.records import Note

__all__ = ["KEPT_NOTES", "noted"]

KEPT_NOTES = 32  # of one kind and key


def noted(old: tuple[Note, ...], new: tuple[Note, ...]) -> tuple[Note, ...]:
    """
    The notes that are kept once these *new* ones have come.

    >>> from unabridged.records import Note
    >>> cuts = [Note("cut", "Window(40)", {"first": first}) for first in (1, 21)]
    >>> [note.value.value for note in noted((cuts[0],), (cuts[1],))]
    [{'first': 21}]
    """
    for note in new:
        same = [known for known in old if (known.kind, known.key) == (note.kind, note.key)]
        room = 0 if note.kind == "cut" else KEPT_NOTES - 1
        forgotten = same[: len(same) - room] if len(same) > room else []
        old = (*(known for known in old if known not in forgotten), note)

    return old
