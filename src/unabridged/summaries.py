"""
Summaries that there are already, in the notes and in the view, and what they leave to be told.
"""

from attrs import evolve, frozen

from unabridged.items import Item, Unloaded
from unabridged.spans import NOTHING, Span
from unabridged.telling import without_label
from unabridged.trees import Node, nodes_of, text_of
from unabridged.views import View

__all__ = ["Summary", "blocks", "loaded", "newest_told", "nodes", "so_far", "tree_end"]


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
    shown = best
    for note in view.notes:
        covers = note.sources
        if note.key != model or len(covers) < len(best.covers) or not covers <= old:
            continue
        if (text := text_of(note)) is not None:
            written_back = best.written and covers == best.covers
            best = Summary(text, covers, written=written_back)
    if len(best.covers) == 1:
        shown = _reworded(view, best.covers, label)
    if shown.covers == best.covers and _noted(view, shown, model):
        return shown  # also where others answered as well: what is written stands

    return best


def _noted(view: View, shown: Summary, model: str) -> bool:
    """
    Whether the summary in the view is, word for word, one that a model answered with.
    """
    return any(
        note.sources == shown.covers and note.key == model and text_of(note) == shown.text
        for note in view.notes
    )


def newest_told(view: View, model: str) -> Summary:
    """
    The newest answer of this model that the notes hold; one that covers nothing if there is none.
    """
    for note in reversed(view.notes):
        if note.key == model and (text := text_of(note)) is not None:
            return Summary(text, note.sources)

    return Summary()


def tree_end(view: View, model: str) -> int:
    """
    The last entry that any summary of the tree tells of; 0 if there is none.
    """
    return max((node.covers.last for node in nodes_of(view.notes, model)), default=0)


def nodes(view: View, old: Span, model: str, label: str) -> tuple[Node, ...]:
    """
    The summaries of a tree that tell of what is *old*: those of the notes, those in the view.
    """
    found: list[Node] = []
    for item in view.wide:
        about = item.message.metadata.value.get("summary") if item.message.metadata else None
        level = about.get("level") if isinstance(about, dict) else None
        if isinstance(level, int) and item.sources <= old:
            found.append(Node(level, _bare(item, label), item.sources, written=True))
    for node in nodes_of(view.notes, model):
        if node.covers <= old:
            alone = _alone(view, node.covers, node.text, label)
            found.append(evolve(node, written=True) if alone else node)

    return tuple(found)


def _alone(view: View, covers: Span, text: str, label: str) -> bool:
    """
    Whether this summary of a single entry stands in the view, where it is one rewording of many.
    """
    return len(covers) == 1 and _reworded(view, covers, label).text == text


def _reworded(view: View, covers: Span, label: str) -> Summary:
    """
    The summary that stands in the view for a single entry, if it is reworded at all.
    """
    item = view.at(view.find(covers.first))

    return Summary(_bare(item, label), covers, written=True) if item.stands_in else Summary()


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


def _bare(item: Item, label: str) -> str:
    return without_label(item.message.text, label).strip()
