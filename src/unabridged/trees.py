"""
Trees of summaries: the lowest tell of messages, each higher one of so many below it.

Which summaries stand for a run of entries follows from the notes alone, so it
is the same in every process, and after write-backs.
"""

from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve, frozen

from unabridged.records import Fold, Note
from unabridged.spans import NOTHING, Span

__all__ = ["Node", "due", "key_of", "newest_text", "nodes_of", "note_of", "standing", "text_of"]


@frozen
class Node:
    """
    A summary in a tree: its level (0 tells of messages), its text, the entries it tells of.

    *written* says that it is in the log's view already.
    """

    level: int
    text: str
    covers: Span
    written: bool = False


def key_of(model: str, level: int) -> str:
    """
    The key of the notes of a level.

    >>> key_of("small", 1)
    'small, level 1'
    """
    return f"{model}, level {level}"


def note_of(node: Node, model: str) -> Note:
    """
    The note that keeps a summary.

    >>> note_of(Node(1, "They met.", Span.between(1, 4)), "small").key
    'small, level 1'
    """
    value = {"text": node.text, "level": node.level}

    return Note("summary", key_of(model, node.level), value, node.covers)


def nodes_of(notes: Iterable[Note], model: str) -> Iterator[Node]:
    """
    The summaries that notes hold for this model, in the order in which they were made.
    """
    for note in notes:
        text, level = _held(note)
        if level >= 0 and text is not None and note.key == key_of(model, level):
            yield Node(level, text, note.sources)


def text_of(note: Note) -> str | None:
    """
    The text of a note that holds a summary; None of any other.

    >>> text_of(Note("summary", "", {"text": "They met."}))
    'They met.'
    """
    return _held(note)[0]


def _held(note: Note) -> tuple[str | None, int]:
    """
    The text that a note of a summary holds, and its level: None and -1 where there is none.
    """
    held = note.value.value if note.kind == "summary" else None  # parsed at each reading
    if not isinstance(held, dict):
        return None, -1
    text, level = held.get("text"), held.get("level")

    return text if isinstance(text, str) else None, level if isinstance(level, int) else -1


def newest_text(notes: Sequence[Note], there: Span, folds: Sequence[Fold] = ()) -> str:
    """
    The summary that the newest of the notes is, or is part of, if it tells of what is *there*.

    Of several that tell of the same entries the one that a stand-in in force, one of
    the *folds*, shows goes before newer ones.

    >>> newest_text([Note("summary", "", {"text": "They met."}, Span.one(1))], Span.one(1))
    'They met.'
    """
    for note in reversed(notes):
        text, level = _held(note) if note.sources <= there else (None, -1)
        if text is None:
            continue
        if level < 0:
            same = [n for n in notes if (n.key, n.sources) == (note.key, note.sources)]
            shown = [told for n in same if (told := text_of(n)) and _shows(folds, told, n.sources)]
            return max(shown, key=len, default=text)
        model = note.key.removesuffix(key_of("", level))
        known = [
            evolve(node, written=_shows(folds, node.text, node.covers))
            for node in nodes_of(notes, model)
        ]

        return "\n\n".join(node.text for node in standing(known, there))

    return ""


def _shows(folds: Sequence[Fold], text: str, covers: Span) -> bool:
    """
    Whether a stand-in for these entries says this, perhaps below a label.
    """
    return any(
        fold.sources == covers and f"\n{fold.into.text}".endswith(f"\n{text}") for fold in folds
    )


def standing(nodes: Iterable[Node], old: Span) -> tuple[Node, ...]:
    """
    The summaries that stand for what is *old*: the highest ones, in the order of their entries.

    One that tells of anything else is left out, and then those below it stand.
    """
    chosen: list[Node] = []
    taken = NOTHING
    newest_first = reversed(tuple(nodes))
    for node in sorted(newest_first, key=lambda node: (-len(node.covers), not node.written)):
        if node.covers and node.covers <= old and node.covers.isdisjoint(taken):
            chosen.append(node)
            taken = taken | node.covers

    return tuple(sorted(chosen, key=lambda node: node.covers.first))


def due(nodes: Sequence[Node], width: int) -> tuple[Node, ...]:
    """
    The oldest *width* neighbours of one level, which get a summary of their own; () if none do.
    """
    run: list[Node] = []
    for node in nodes:
        if run and node.level != run[-1].level:
            run = []
        run.append(node)
        if len(run) == width:
            return tuple(run)

    return ()
