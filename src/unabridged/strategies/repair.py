"""
Mending what form cannot mend: calls that nobody answered, results that answer nobody.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from attrs import evolve, frozen

from unabridged.clips import KEY as CLIPPED
from unabridged.contract import TrimContext
from unabridged.handles import NEWER, handle_at
from unabridged.hosted.table import lone_halves
from unabridged.items import Block, Item
from unabridged.links import has_words, is_bare_result
from unabridged.messages import Message, Part, Text, ToolResult, tool
from unabridged.options import flag
from unabridged.pipeline import Strategy
from unabridged.records import Change, Drop, Fold, Insert
from unabridged.results import TrimResult
from unabridged.spans import NOTHING, Span
from unabridged.text import STEP, brief
from unabridged.tool_loops import MADE_UP, Doubled, answers, doubled
from unabridged.views import View

__all__ = ["Repair"]

NEVER = "No result: the call was never answered."
WAITING = "No result yet: the call still waits for it."


class _Orphan(NamedTuple):
    """
    An item with results that answer no call: it leaves, is reworded, or stays, and *why*.
    """

    item: Item
    ids: tuple[str, ...]
    leaves: bool = False
    reworded: Message | None = None
    why: str = ""


@frozen(repr=False)
class Repair(Strategy):
    """
    Close calls that were never answered, and take out results that answer no call.

    A made-up result says that it is one, in its words and in its metadata
    (`made_up`), and is never written to the log. A call that still waits, for a
    human or a slow tool, is told to wait once a user has spoken since: no
    provider takes it otherwise, and its own result takes over when it comes.

    Of several results of one call, as when a slow tool says "pending" and answers
    later, the newest that is not blank counts: the first one, which stands where
    the provider wants it, is reworded with its words, the others leave, and a
    warning names them. A result that answers no call leaves; from a user's message
    only the words stay. Where neither can be, as where a message answers other
    calls too, a warning tells. Of a tool that the provider ran itself, a call without
    its result and a result without its call leave their message, but for a call
    that nobody has spoken after: the provider may still go on with it. Put it where
    the provider would see the view: after the cuts.

    Args:
        replace: write to the log what leaves and what is reworded.

    >>> from unabridged import run
    >>> from unabridged.testing import call, talk, user, view_of
    >>> view = view_of([user("Is it raining?"), call("c1"), *talk(1)])
    >>> print(run(Repair(), view).text())
    user: Is it raining?
    assistant:  [tool calls: look({})]
    tool: No result: the call was never answered.
    user: q1
    assistant: a1
    """

    replace: bool = flag(default=False)

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        newest = _newest_results(view)
        orphans = [
            orphan
            for block in view.blocks
            for orphan in _orphans(block)
            if orphan.item.sources.isdisjoint(newest.touched)
        ]
        orphans = _spared(view, orphans, newest.left)
        touched = {o.item for o in orphans if o.leaves or o.reworded is not None}
        touched.update(newest.reworded, newest.leaving)
        changes = (
            *newest.changes(replace=self.replace),
            *_mended(orphans, replace=self.replace),
            *_whole_again(view, touched, replace=self.replace),
            *self._closed(view),
        )

        return TrimResult(
            view,
            changes,
            warnings=(
                *(f"step {brief(self, STEP)}: {told}" for told in newest.warnings),
                *(
                    f"step {brief(self, STEP)}: entry {o.item.sources} stays as it is, and its "
                    f"result of {', '.join(o.ids)} answers no call: {o.why}"
                    for o in orphans
                    if o.why
                ),
            ),
        )

    def _closed(self, view: View) -> Iterator[Insert]:
        """
        A made-up result for each call that has none, but not while nobody spoke since.
        """
        links = view.log.links
        for block in view.blocks:
            for item, call in answers(block).unanswered:
                waits = item.first == links.pending
                if waits and links.asked < links.pending:
                    continue
                verb = "waits for its result" if waits else "was never answered"
                reason = f"call {call.id} ({call.name}) {verb}"
                yield Insert(_made_up(call.id, waits=waits), item.first, reason=reason)


class _Newest(NamedTuple):
    """
    Of calls with several results the newest: who is reworded, and who leaves, each with the reason.
    """

    reworded: dict[Item, tuple[Message, str]]
    leaving: dict[Item, str]
    unsure: Span
    warnings: tuple[str, ...]

    @property
    def touched(self) -> Span:
        changed = (item.sources for item in (*self.reworded, *self.leaving))
        return self.unsure | Span.union(changed)

    @property
    def left(self) -> Span:
        return Span.union(item.sources for item in self.leaving)

    def changes(self, *, replace: bool) -> Iterator[Change]:
        for item, reason in self.leaving.items():
            yield Drop(item.sources, reason=reason, replace=replace)
        for item, (message, reason) in self.reworded.items():
            yield Fold(item.sources, message, reason=reason, replace=replace)


def _newest_results(view: View) -> _Newest:
    parts: dict[Item, list[Part | None]] = {}
    reasons: dict[Item, list[str]] = {}
    newest: dict[Item, dict[str, str]] = {}
    warnings: list[str] = []
    unsure = NOTHING
    pinned = {item: any(mate.pin for mate in block) for block in view.blocks for item in block}
    for again in doubled(view):
        (first, number), newer = again.first, again.newer
        if first.wide or any(not _may_leave(item, pinned=pinned[item]) for item, _ in newer):
            continue  # it is told with those that answer no call
        entries = Span.union(item.sources for item, _ in newer)
        if away := _left_between(view, first.first, newer[-1][0].first):
            unsure = unsure | entries
            warnings.append(
                f"call {again.call_id} has several results, entries {first.sources} and {entries}, "
                f"and entries {away} between them, which may hold another call of that id, left "
                "the view; the results stay as they are"
            )
            continue
        told = [pair for pair in newer if not _is_blank(_result(*pair))]
        last, which = told[-1] if told else newer[-1]
        if told and _words(_result(first, number)) != _words(_result(last, which)):
            _put(parts, first, number, _result(last, which))
            newest.setdefault(first, {})[f"result.{number}"] = _handle(last, which)
            why = f"the newer result of call {again.call_id}, entry {last.sources}, stands here"
            reasons.setdefault(first, []).append(why)
        for item, place in newer:
            _put(parts, item, place, None)
            reasons.setdefault(item, []).append(_why_it_leaves(again, item, last))
        warnings.append(
            f"call {again.call_id} has several results, entries {first.sources} and {entries}; "
            f"the newest, of entry {last.sources}, stands in entry {first.sources}"
        )
    odd = _beside(view, parts)
    reworded: dict[Item, tuple[Message, str]] = {}
    leaving: dict[Item, str] = {}
    for item, made in parts.items():
        if others := [place for place in odd.get(item, ()) if made[place] is not None]:
            held = (item.message.parts[place] for place in others)
            ids = ", ".join(part.call_id for part in held if isinstance(part, ToolResult))
            rest = [None if place in others else part for place, part in enumerate(made)]
            if pinned[item] or any(isinstance(part, ToolResult) for part in rest):
                kept = f"entry {item.sources} keeps its result of {ids}, which answers no call"
                warnings.append(kept)
            else:
                made = rest  # noqa: PLW2901  less of it
                reasons[item].append(f"its result of {ids} answers no call that is open")
        why = "; ".join(dict.fromkeys(reasons[item]))
        if left := [part for part in made if part is not None]:
            reworded[item] = _standing_for(evolve(item.message, parts=left), newest.get(item)), why
        else:
            leaving[item] = why

    return _Newest(reworded, leaving, unsure, tuple(warnings))


def _why_it_leaves(again: Doubled, item: Item, last: Item) -> str:
    if item is not last:
        return f"a result of call {again.call_id} before its newest, entry {last.sources}"

    return f"a newer result of call {again.call_id}, told in entry {again.first[0].sources}"


def _left_between(view: View, first: int, last: int) -> Span:
    """
    The entries between two that left the view, but for results that `Repair` took out of it.
    """
    here = (item.sources for item in view if not item.wide and first <= item.first <= last)
    repaired = (gone.sources for gone in view.log.gone if gone.step.startswith("Repair("))

    return Span.between(first, last) - Span.union(here) - Span.union(repaired)


def _handle(item: Item, number: int) -> str:
    """
    Where the whole of one of the item's results is.
    """
    return handle_at(item.message, item.first, _places(item.message)[number])


def _standing_for(message: Message, newest: Mapping[str, str] | None) -> Message:
    """
    The message, which names the entries whose words its results have, and is clipped anew there.
    """
    if not newest:
        return message
    given: dict[str, Any] = message.metadata.value
    clipped, named = given.get(CLIPPED), given.get(NEWER)
    metadata = {key: value for key, value in given.items() if key not in {CLIPPED, NEWER}}
    if isinstance(clipped, dict) and (
        left := {k: v for k, v in clipped.items() if k not in newest}
    ):
        metadata[CLIPPED] = left
    handles = {**named} if isinstance(named, dict) else {}
    handles |= {key: [handle] for key, handle in newest.items()}

    return evolve(message, metadata={**metadata, NEWER: handles})


def _beside(view: View, parts: Collection[Item]) -> dict[Item, list[int]]:
    """
    Where results stand that answer no open call, among the parts of these items.
    """
    found: dict[Item, list[int]] = {}
    for block in view.blocks if parts else ():
        for item, calls in answers(block).given:
            if item in parts:
                places = zip(_places(item.message), calls, strict=True)
                found[item] = [place for place, call in places if call is None]

    return found


def _places(message: Message) -> list[int]:
    return [place for place, part in enumerate(message.parts) if isinstance(part, ToolResult)]


def _may_leave(item: Item, *, pinned: bool) -> bool:
    """
    Whether a result may be taken from the item: what is pinned stays, unless it is reworded.
    """
    return not item.wide and not (pinned and is_bare_result(item.message))


def _result(item: Item, number: int) -> ToolResult:
    return item.message.tool_results[number]


def _words(result: ToolResult) -> object:
    return result.content, result.is_error


def _is_blank(result: ToolResult) -> bool:
    return all(isinstance(part, Text) and not part.text.strip() for part in result.content)


def _put(
    parts: dict[Item, list[Part | None]], item: Item, number: int, made: ToolResult | None
) -> None:
    """
    Put another result, or none, in the place of one of the item's results.
    """
    known = parts.setdefault(item, list(item.message.parts))
    known[_places(item.message)[number]] = made


def _made_up(call_id: str, *, waits: bool) -> Message:
    words = WAITING if waits else NEVER
    return tool(words, call_id=call_id, is_error=not waits, metadata={MADE_UP: True})


def _orphans(block: Block) -> Iterator[_Orphan]:
    pinned = any(item.pin for item in block)
    for item, calls in answers(block).given:
        results = zip(item.message.tool_results, calls, strict=True)
        ids = tuple(result.call_id for result, call in results if call is None)
        if ids:
            yield _judged(item, ids, mixed=len(ids) < len(calls), pinned=pinned)


def _judged(item: Item, ids: tuple[str, ...], *, mixed: bool, pinned: bool) -> _Orphan:
    message = item.message
    if mixed:
        return _Orphan(item, ids, why="it holds results of other calls too")
    if has_words(message):
        if item.head not in {0, item.first}:
            return _Orphan(item, ids, why="it is tied to a call that left")
        words = [part for part in message.parts if not isinstance(part, ToolResult)]
        return _Orphan(item, ids, reworded=evolve(message, parts=words))
    if not is_bare_result(message):
        return _Orphan(item, ids, why=f"it holds more, and is no user's but of role {message.role}")
    if pinned:
        return _Orphan(item, ids, why="its block is pinned")

    return _Orphan(item, ids, leaves=True)


def _spared(view: View, orphans: list[_Orphan], left: Span) -> list[_Orphan]:
    """
    The orphans, the newest of them spared where nothing but pins would be left.
    """
    leave = [orphan for orphan in orphans if orphan.leaves]
    if not leave or len(leave) < sum(not item.pin for item in view) - len(left):
        return orphans
    last = leave[-1]
    spared = last._replace(leaves=False, why="nothing else would be left")

    return [spared if orphan is last else orphan for orphan in orphans]


def _whole_again(view: View, touched: set[Item], *, replace: bool) -> Iterator[Fold]:
    """
    The messages without the halves of hosted tools whose other half is not there.

    One that holds nothing else says what it held, so what is tied to it stays so.
    """
    items = list(view)
    turns = [(has_words(item.message), item.message.parts) for item in items]
    lone: dict[int, dict[int, str]] = {}
    for at, place, half in lone_halves(turns):
        lone.setdefault(at, {})[place] = f"the {half.side} of a hosted tool ({half.kind})"
    for at, held in lone.items():
        item = items[at]
        if item in touched or not item.sources:
            continue
        kept = [part for place, part in enumerate(item.message.parts) if place not in held]
        names = ", ".join(held.values())
        into = evolve(
            item.message, parts=kept or [Text(f"[{names} was here, without the other half]")]
        )
        reason = f"{names} stood without the other half"
        yield Fold(item.sources, into, reason=reason, replace=replace)


def _mended(orphans: Iterable[_Orphan], *, replace: bool) -> Iterator[Change]:
    gone = Span.union(orphan.item.sources for orphan in orphans if orphan.leaves)
    if gone:
        yield Drop(gone, reason="answers no call that is open", replace=replace)
    for item, _, _, reworded, _ in orphans:
        if reworded is not None:
            reason = "its results answer no call that is open; the words stay"
            yield Fold(item.sources, reworded, reason=reason, replace=replace)
