"""
Summaries that there are already, in the notes and in the view, and what they leave to be told.
"""

from collections.abc import Iterator

from attrs import frozen

from unabridged.items import Item, Unloaded
from unabridged.records import Note
from unabridged.spans import NOTHING, Span
from unabridged.trees import Node, nodes_of
from unabridged.views import View

__all__ = ["Summary", "blocks", "loaded", "newest_end", "so_far", "tree_end", "written"]


@frozen
class Summary:
    """
    The summary so far: its text without our label, what it covers, whether it is in the log's view.
    """

    text: str = ""
    covers: Span = NOTHING
    written: bool = False


def so_far(view: View, old: Span, model: str, label: str) -> Summary:
    """
    The summary that covers most of what is *old*: one of the notes, or one that was written back.
    """
    best = Summary()
    for item in view.wide:
        if item.sources <= old and len(item.sources) > len(best.covers):
            best = Summary(_bare(item, label), item.sources, written=True)
    for note in view.notes:
        covers = note.sources
        if _is_of(note, model) and covers <= old and len(covers) >= len(best.covers):
            written_back = best.written and covers == best.covers
            best = Summary(str(note.value.value["text"]), covers, written=written_back)

    return best


def newest_end(view: View, model: str) -> int:
    """
    The last entry that the newest answer of this model tells of; 0 if there is none.
    """
    mine = (note for note in reversed(view.notes) if _is_of(note, model))

    return next((note.sources.last for note in mine), 0)


def tree_end(view: View, model: str) -> int:
    """
    The last entry that any summary of the tree tells of; 0 if there is none.
    """
    return max((node.covers.last for node in nodes_of(view.notes, model)), default=0)


def written(view: View, label: str) -> Iterator[Node]:
    """
    The summaries of a tree that stand in the view.
    """
    for item in view.wide:
        about = item.message.metadata.value.get("summary") if item.message.metadata else None
        level = about.get("level") if isinstance(about, dict) else None
        if isinstance(level, int):
            yield Node(level, _bare(item, label), item.sources, written=True)


def blocks(view: View, wanted: Span) -> list[tuple[Item, ...]]:
    """
    The items of the *wanted* entries, in blocks.
    """
    found: dict[int, list[Item]] = {}
    for item in loaded(view, wanted):
        found.setdefault(view.block_at(view.find(item.first)).start, []).append(item)

    return [tuple(block) for block in found.values()]


def loaded(view: View, wanted: Span) -> tuple[Item, ...]:
    """
    The items of the *wanted* entries.

    Raises:
        Unloaded: some are not there yet.
    """
    if missing := wanted & view.hidden:
        raise Unloaded(missing)

    return tuple(item for item in view.loaded if not item.sources.isdisjoint(wanted))


def _is_of(note: Note, model: str) -> bool:
    return note.kind == "summary" and note.key == model


def _bare(item: Item, label: str) -> str:
    return item.message.text.removeprefix(label).strip()
