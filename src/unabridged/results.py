"""
The functions that make a result: keep, drop, fold, rewrite, hold, insert, unchanged.

They take care of blocks, pins and the newest user message, so that a strategy
of a few lines is right.
"""

import json
from collections.abc import Iterable, Mapping

from unabridged.cuts import closed
from unabridged.cutting.openings import opened
from unabridged.errors import OutcomeError
from unabridged.items import Item
from unabridged.messages import Message
from unabridged.must import CutRules, Opening, must_stay
from unabridged.overrun import Overrun
from unabridged.records import Change, Drop, Fold, Hold, Insert
from unabridged.spans import Span
from unabridged.text import brief
from unabridged.trim_result import Prefix, TrimResult
from unabridged.views import View

__all__ = [
    "Overrun",
    "Prefix",
    "TrimResult",
    "drop",
    "fold",
    "hold",
    "insert",
    "keep",
    "rewrite",
    "same_ties",
    "unchanged",
]


def unchanged(view: View, *, warnings: Iterable[str] = ()) -> TrimResult:
    """
    Nothing to do.

    >>> from unabridged.testing import user, view_of
    >>> unchanged(view_of([user("a")])).changes
    ()
    """
    return TrimResult(view, warnings=tuple(warnings))


def keep(  # noqa: PLR0913  every one is a keyword
    view: View,
    items: Iterable[Item],
    *,
    reason: str,
    replace: bool = False,
    opening: Opening = "question",
    pin_system: bool = True,
) -> TrimResult:
    """
    Keep these items and drop the rest.

    Whole blocks are kept, and with them pins, pending calls, the newest user
    message, and the user message that opened the round of the first of them
    (with another *opening* that is not brought).

    >>> from unabridged.testing import assistant, user, view_of
    >>> view = view_of([user("a"), assistant("b"), user("c"), assistant("d")])
    >>> len(keep(view, view[-1:], reason="old").view)
    2
    """
    rules = CutRules(opening=opening, pin_system=pin_system)
    places = closed(view, _places(view, items), rules)
    kept = Span.union(view.at(place).sources for place in places)
    dropped = view.sources - kept
    if not dropped:
        return unchanged(view)

    return TrimResult(view, (Drop(dropped, reason=reason, replace=replace),))


def drop(
    view: View,
    items: Iterable[Item],
    *,
    reason: str,
    replace: bool = False,
    opening: Opening = "question",
) -> TrimResult:
    """
    Drop these items where whole blocks of them may go.

    The user message that opened the round of what is then first stays, so that no
    view starts on an assistant or a tool; under `opening="next"` the rest of that
    round leaves too, under "anywhere" just these items do.

    >>> from unabridged.testing import assistant, user, view_of
    >>> view = view_of([user("a"), assistant("b"), user("c")])
    >>> [m.text for m in drop(view, view[:2], reason="old").messages]
    ['c']
    """
    sources = _free(view, items, opening, lead=True)
    if not sources:
        return unchanged(view)

    return TrimResult(view, (Drop(sources, reason=reason, replace=replace),))


def fold(  # noqa: PLR0913  every one is a keyword
    view: View,
    items: Iterable[Item],
    *,
    into: Message,
    reason: str,
    replace: bool = False,
    opening: Opening = "question",
    summary: bool | None = None,
) -> TrimResult:
    """
    Let the message *into* stand in for these items, where whole blocks of them may go.

    It also stands in for the question of what follows it, if that is among them.
    Under `opening="next"` it takes in what an assistant or a tool says next, so
    that a user's message follows it, if one comes. A *summary* is the last thing
    that a cut gives up; by default one that stands for several entries is one.

    >>> from unabridged.testing import assistant, system, user, view_of
    >>> view = view_of([user("a"), assistant("b"), user("c")])
    >>> [m.text for m in fold(view, view[:2], into=system("hi"), reason="old").messages]
    ['hi', 'c']
    """
    if into.tool_calls or into.tool_results:
        msg = "fold: a stand-in for several entries holds no tool calls or results; word them"
        raise OutcomeError(msg)
    sources = _free(view, items, opening, lead=opening == "next")
    if not sources:
        return unchanged(view)

    change = Fold(sources, into, reason=reason, replace=replace, summary=summary)

    return TrimResult(view, (change,))


def rewrite(
    view: View, messages: Mapping[Item, Message], *, reason: str, replace: bool = False
) -> TrimResult:
    """
    Reword items, each by the message beside it; calls, results and ids stay.

    >>> from attrs import evolve
    >>> from unabridged.testing import user, view_of
    >>> view = view_of([user("a secret")])
    >>> rewrite(view, {view[0]: user("a …")}, reason="hidden").messages[0].text
    'a …'
    """
    _places(view, messages)
    changes: list[Change] = []
    for item, message in messages.items():
        same_ties(item, message, "rewrite")
        if message != item.message:
            told = item.summary or None  # what rewords a summary is one
            changes.append(
                Fold(item.sources, message, reason=reason, replace=replace, summary=told)
            )

    return TrimResult(view, tuple(changes))


def hold(view: View, items: Iterable[Item], *, reason: str) -> TrimResult:
    """
    Pin these items for one projection.

    >>> from unabridged.testing import user, view_of
    >>> view = view_of([user("a"), user("b")])
    >>> hold(view, view[:1], reason="recalled").view[0].pin
    'held'
    """
    sources = Span.union(view.at(place).sources for place in _places(view, items))
    if not sources:
        return unchanged(view)

    return TrimResult(view, (Hold(sources, reason=reason),))


def insert(view: View, message: Message, *, after: int = 0, reason: str) -> TrimResult:
    """
    Put a message in after the block of entry *after* (0: at the head).

    >>> from unabridged.testing import system, user, view_of
    >>> len(insert(view_of([user("a")]), system("It is Monday."), reason="the date").view)
    2
    """
    if after and after not in view.sources:
        msg = f"insert: entry {after} is not in the view; give one of {view.sources}, or 0"
        raise OutcomeError(msg)

    return TrimResult(view, (Insert(message, after, reason=reason),))


def _places(view: View, items: Iterable[Item]) -> list[int]:
    places: list[int] = []
    for item in items:
        if not item.sources:
            continue
        place = view.find(item.first)
        if place < 0:
            msg = f"entry {item.sources} was never in the view; return items of the view"
            raise OutcomeError(msg)
        places.append(place)

    return places


def _free(view: View, items: Iterable[Item], opening: Opening, *, lead: bool) -> Span:
    """
    The entries of those blocks among *items* that are whole and need not stay.

    With *lead* less or more of them, so that the view opens as it should.
    """
    chosen = set(_places(view, items))
    must = must_stay(view, CutRules(opening=opening)).places
    free = {
        place
        for place in chosen
        if all(
            mate not in must and (mate in chosen or not view.at(mate).sources)
            for mate in view.block_at(place)
        )
    }
    if lead:
        free = opened(view, free, must, opening)

    return Span.union(view.at(place).sources for place in free)


def same_ties(item: Item, message: Message, who: str) -> None:
    """
    Refuse a rewording that would part calls from results.

    Raises:
        OutcomeError: calls or results are missing or added, arguments are no
            longer JSON, or the item stands for several entries.
    """
    if item.wide:
        msg = f"{who}: the item of entries {item.sources} stands for several; use fold"
        raise OutcomeError(msg)
    old, new = item.message, message
    if [(c.id, c.name) for c in old.tool_calls] != [(c.id, c.name) for c in new.tool_calls]:
        msg = f"{who}: entry {item.sources} must keep its tool calls (ids and names)"
        raise OutcomeError(msg)
    for was, call in zip(old.tool_calls, new.tool_calls, strict=True):
        if call.arguments != was.arguments and not _is_json(call.arguments):
            msg = (
                f"{who}: the arguments of call {brief(call.id)} in entry {item.sources} are not "
                "JSON"
            )
            raise OutcomeError(msg)
    kept = [r.call_id for r in old.tool_results] == [r.call_id for r in new.tool_results]
    orphan = item.head in {0, item.first} and message.role == "user" and not new.tool_results
    if not kept and not orphan:
        msg = f"{who}: entry {item.sources} must keep its tool results"
        raise OutcomeError(msg)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False

    return True
