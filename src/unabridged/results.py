"""
Results: what a strategy worked out, and the functions that make one.

A result is the view before and the changes; all else follows from these: the
view after, the messages, why an entry is or is not among them, the record
that writes the changes back.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

from attrs import evolve, field, frozen

from unabridged.cuts import CutRules, Opening, Overrun, closed, must_stay
from unabridged.errors import OutcomeError
from unabridged.explained import explanation, reason_lines
from unabridged.items import Item
from unabridged.messages import Message
from unabridged.records import Change, Compacted, Drop, Fold, Hold, Insert, Note, stepped
from unabridged.spans import Span
from unabridged.views import View, apply
from unabridged.writable import written

__all__ = [
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

INSTRUCTS = frozenset({"system", "developer"})


@frozen
class Prefix:
    """
    How much of the projection before is still the beginning of this one.

    *messages* and *tokens* of it, *out_of* so many messages.
    """

    messages: int
    tokens: int
    out_of: int


@frozen
class TrimResult:
    """
    What a strategy or chain worked out.

    *over* says by how much what must stay is over a limit; *warnings* say what
    did not go as asked. *count* and *previous* are those of the context.

    >>> from unabridged import Window, run
    >>> from unabridged.testing import user, view_of
    >>> result = run(Window(1), view_of([user("a"), user("b")]))
    >>> print(result.text())
    user: b
    >>> result.why(1)
    'entry 1 left by Window(1): before the last 1 message'
    """

    before: View
    changes: tuple[Change, ...] = ()
    notes: tuple[Note, ...] = ()
    over: Overrun | None = None
    warnings: tuple[str, ...] = ()
    hide_system: bool = field(default=False, kw_only=True)
    count: Callable[[Message], int] | None = field(default=None, eq=False, repr=False, kw_only=True)
    previous: tuple[Message, ...] = field(default=(), eq=False, repr=False, kw_only=True)
    _last: "TrimResult | None" = field(default=None, eq=False, repr=False, kw_only=True)

    @cached_property
    def view(self) -> View:
        """
        The view after the changes.
        """
        if self._last is not None:
            return self._last.view

        return apply(self.before, self.changes)

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """
        What goes to the model.
        """
        if not self.hide_system:
            return self.view.messages

        return tuple(
            item.message
            for item in self.view
            if item.message.role not in INSTRUCTS or item.wide or not (item.sources or item.pin)
        )

    @property
    def replace(self) -> bool:
        """
        Whether a change asks to be written back.
        """
        return any(change.replace for change in self.changes)

    @cached_property
    def tokens(self) -> int:
        """
        The tokens of the messages, by the context's counter.
        """
        return sum(map(self._count, self.messages))

    @cached_property
    def kept(self) -> Prefix:
        """
        How much of the projection before is still the beginning of this one.
        """
        messages = self.messages
        same = 0
        while (
            same < min(len(messages), len(self.previous)) and messages[same] == self.previous[same]
        ):
            same += 1

        return Prefix(same, sum(map(self._count, messages[:same])), len(self.previous))

    def text(self, names: Mapping[str, str] | None = None) -> str:
        """
        The messages as lines of text; *names* words the roles, as in `{"user": "Human"}`.
        """
        names = names or {}
        return "\n".join(
            names.get(message.role, message.role) + str(message).removeprefix(message.role)
            for message in self.messages
        )

    def then(self, other: "TrimResult") -> "TrimResult":
        """
        The result followed by one that was worked out from its view.
        """
        return TrimResult(
            self.before,
            self.changes + other.changes,
            self.notes + other.notes,
            other.over or self.over,
            self.warnings + other.warnings,
            hide_system=self.hide_system,
            count=self.count,
            previous=self.previous,
            last=other,  # its view is this one's too
        )

    def labelled(self, step: str) -> "TrimResult":
        """
        The result with the name of the *step* on each change that has none.
        """
        if all(change.step for change in self.changes):
            return self
        changes = tuple(c if c.step else stepped(c, step) for c in self.changes)

        return TrimResult(self.before, changes, self.notes, self.over, self.warnings)

    def seen_in(
        self, count: Callable[[Message], int], previous: tuple[Message, ...]
    ) -> "TrimResult":
        """
        The result with the counter and the previous messages of its context.
        """
        return TrimResult(
            self.before,
            self.changes,
            self.notes,
            self.over,
            self.warnings,
            hide_system=self.hide_system,
            count=count,
            previous=previous,
            last=self._last,
        )

    def why(self, seq: int) -> str:
        """
        Why entry *seq* is or is not in the view: a line for each change that names it, in order.
        """
        return "\n".join(reason_lines(self.before, self.changes, self.view, seq))

    def explain(self) -> str:
        """
        What left and why, step by step, for people to read.
        """
        return explanation(self)

    def record(self, *, replace: bool = False) -> Compacted | None:
        """
        What writes the changes back: those marked `replace`, or with *replace* all that can be.

        None if there is nothing to write. The drops of earlier steps are written
        with a marked change, or old messages would come back in place of newer
        ones. What holds or inserts only ever projects.
        """
        changes, _ = written(self.before, self.changes, everything=replace)
        return Compacted(changes, self.before.head) if changes else None

    def _count(self, message: Message) -> int:
        if self.count is None:
            from unabridged.tokens import exact, kept  # noqa: PLC0415  loads no vocabulary before

            return kept(exact())(message)

        return self.count(message)


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
    message, and the user message that opened the round of the first of them.

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


def drop(view: View, items: Iterable[Item], *, reason: str, replace: bool = False) -> TrimResult:
    """
    Drop these items where whole blocks of them may go.

    >>> from unabridged.testing import assistant, user, view_of
    >>> view = view_of([user("a"), assistant("b"), user("c")])
    >>> [m.text for m in drop(view, view[:2], reason="old").messages]
    ['c']
    """
    sources = _free(view, items)
    if not sources:
        return unchanged(view)

    return TrimResult(view, (Drop(sources, reason=reason, replace=replace),))


def fold(
    view: View, items: Iterable[Item], *, into: Message, reason: str, replace: bool = False
) -> TrimResult:
    """
    Let the message *into* stand in for these items, where whole blocks of them may go.

    >>> from unabridged.testing import assistant, system, user, view_of
    >>> view = view_of([user("a"), assistant("b"), user("c")])
    >>> [m.text for m in fold(view, view[:2], into=system("hi"), reason="old").messages]
    ['hi', 'c']
    """
    if into.tool_calls or into.tool_results:
        msg = "fold: a stand-in for several entries holds no tool calls or results; word them"
        raise OutcomeError(msg)
    sources = _free(view, items)
    if not sources:
        return unchanged(view)

    return TrimResult(view, (Fold(sources, into, reason=reason, replace=replace),))


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
            changes.append(Fold(item.sources, message, reason=reason, replace=replace))

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


def _free(view: View, items: Iterable[Item]) -> Span:
    """
    The entries of those blocks among *items* that are whole and need not stay.
    """
    chosen = set(_places(view, items))
    must = must_stay(view, CutRules(opening="question")).places
    free = {
        place
        for place in chosen
        if all(
            mate not in must and (mate in chosen or not view.at(mate).sources)
            for mate in view.block_at(place)
        )
    }

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
            msg = f"{who}: the arguments of call {call.id!r} in entry {item.sources} are not JSON"
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
