"""
Steps that are plain functions: what they return is checked and becomes changes.

A function gets the view and the context and gives the items to keep. It need
not know about tool calls or pins: what it parts or forgets is put back, with a
warning, or refused under `strict`.
"""

import functools
import inspect
import types
from collections.abc import Iterable, Iterator

from unabridged.errors import OutcomeError, PairingError
from unabridged.items import Item
from unabridged.messages import Message
from unabridged.must import CutRules, must_stay
from unabridged.records import Change, Drop, Fold, Insert
from unabridged.results import TrimResult, same_ties
from unabridged.spans import Span
from unabridged.views import View

__all__ = ["is_async", "label", "settled"]


_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)


def label(step: object) -> str:
    """
    What a step is called in results and errors: its repr, or a function's name.
    """
    if isinstance(step, functools.partial):
        given = [*map(repr, step.args), *(f"{k}={v!r}" for k, v in step.keywords.items())]
        return f"{label(step.func)}({', '.join(given)})"
    if inspect.isroutine(step):
        return getattr(step, "__name__", repr(step))

    return repr(step)


def is_async(step: object) -> bool:
    """
    Whether calling it makes a coroutine.
    """
    while isinstance(step, functools.partial):
        step = step.func
    if isinstance(step, _FUNCTIONS):
        return inspect.iscoroutinefunction(step)

    return _is_called_async(type(step))  # type: ignore[arg-type]  # a class is hashable


@functools.lru_cache(maxsize=256)
def _is_called_async(kind: type) -> bool:
    return inspect.iscoroutinefunction(getattr(kind, "__call__", None))  # noqa: B004  looked at


def settled(
    view: View, outcome: Iterable[object], step: str, *, replace: bool, strict: bool
) -> TrimResult:
    """
    The result of a function that gave *outcome*: the items to keep, and messages to put in.

    Raises:
        OutcomeError: it gave what never was in the view or is no item or message, or under
            *strict* left out what must stay.
        PairingError: under *strict*, it parted a call from its result.
    """
    kept, rewritten, put_in = _read(view, outcome, step)
    warnings = [f"step {step}: {told}" for told in _taken_apart(view, kept, put_in)]
    for place, why in _forgotten(view, kept):
        error = PairingError if why.startswith("parted") else OutcomeError
        text = f"step {step}: {why}, entry {view.at(place).sources}"
        if strict:
            msg = f"{text}; keep it, or leave strict=True out and it is put back"
            raise error(msg)
        warnings.append(f"{text}, is put back")
        kept.add(place)
    changes: list[Change] = []
    dropped = view.sources - Span.union(view.at(place).sources for place in kept)
    if dropped:
        changes.append(Drop(dropped, replace=replace))
    for place, message in rewritten:
        item = view.at(place)
        told = item.summary or None  # what rewords a summary is one
        changes.append(Fold(item.sources, message, replace=replace, summary=told))
    changes += [Insert(message, after) for message, after in put_in]

    return TrimResult(view, tuple(changes), warnings=tuple(warnings))


def _read(
    view: View, outcome: Iterable[object], step: str
) -> tuple[set[int], list[tuple[int, Message]], list[tuple[Message, int]]]:
    kept: set[int] = set()
    rewritten: list[tuple[int, Message]] = []
    put_in: list[tuple[Message, int]] = []
    anchor = 0
    for given in outcome:
        if isinstance(given, Message):
            put_in.append((given, anchor))
            continue
        if not isinstance(given, Item):
            msg = (
                f"step {step}: expected items of the view or messages, got "
                f"{type(given).__name__}; return [item for item in view if …]"
            )
            raise OutcomeError(msg)
        if not given.sources:
            continue
        place = view.find(given.first)
        if place < 0 or view.at(place).sources != given.sources:
            msg = f"step {step}: entry {given.sources} was never in the view; return its items"
            raise OutcomeError(msg)
        item = view.at(place)
        if place not in kept and given.message != item.message:
            same_ties(item, given.message, f"step {step}")
            rewritten.append((place, given.message))
        kept.add(place)
        anchor = given.first

    return kept, rewritten, put_in


def _taken_apart(
    view: View, kept: set[int], put_in: Iterable[tuple[Message, int]]
) -> Iterator[str]:
    """
    Word that messages of items were given instead of the items, which is hardly ever meant.
    """
    given = {id(message) for message, _ in put_in}
    if not given:
        return
    apart = Span.union(
        item.sources
        for place, item in enumerate(view.loaded)
        if place not in kept and id(item.message) in given
    )
    if apart:
        yield (
            f"left out the items of {apart} and put their messages in anew, as of no entry; "
            "return the items to keep them"
        )


def _forgotten(view: View, kept: set[int]) -> list[tuple[int, str]]:
    """
    The places that have to be kept too, and why.
    """
    if len(kept) == view.size and not view.hidden:
        return []
    forgotten: list[tuple[int, str]] = []
    must = must_stay(view, CutRules(opening="next"))
    for place, why in must.places.items():
        if place in kept or not view.at(place).sources:
            continue
        if place in must.pinned or _matters(view, why, kept):
            forgotten.append((place, f"left out {why}"))
    have = kept | {place for place, _ in forgotten}
    for place in sorted(have):
        for mate in view.block_at(place):
            if mate not in have and view.at(mate).sources:
                forgotten.append((mate, "parted a block: left out its mate"))
                have.add(mate)

    return forgotten


def _matters(view: View, why: str, kept: set[int]) -> bool:
    """
    Whether what must stay under a cut must stay under a function too, which may drop the rest.
    """
    if why.startswith("opened"):
        return False
    if why == "the newest block":
        return not any(not view.at(other).pin for other in kept)

    return True
