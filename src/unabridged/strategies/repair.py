"""
Mending what form cannot mend: calls that nobody answered, results that answer nobody.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from attrs import evolve, frozen

from unabridged.contract import TrimContext
from unabridged.hosted import lone_halves
from unabridged.items import Block, Item
from unabridged.links import has_words, is_bare_result
from unabridged.messages import Message, Text, ToolResult, tool
from unabridged.options import flag
from unabridged.pipeline import Strategy
from unabridged.records import Change, Drop, Fold, Insert
from unabridged.results import TrimResult
from unabridged.spans import Span
from unabridged.text import STEP, brief
from unabridged.tool_loops import MADE_UP, answers
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
    provider takes it otherwise, and its own result takes over when it comes. An
    orphan or doubled result leaves; from a user's message only the words stay.
    Where neither can be, as in a message that answers other calls too, a warning
    tells. Of a tool that the provider ran itself, a call without its result and a
    result without its call leave their message, but for a call that nobody has
    spoken after: the provider may still go on with it. Put it where the provider
    would see the view: after the cuts.

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
        orphans = _spared(view, [orphan for block in view.blocks for orphan in _orphans(block)])
        touched = {o.item for o in orphans if o.leaves or o.reworded is not None}
        changes = (
            *_mended(orphans, replace=self.replace),
            *_whole_again(view, touched, replace=self.replace),
            *self._closed(view),
        )

        return TrimResult(
            view,
            changes,
            warnings=tuple(
                f"step {brief(self, STEP)}: entry {o.item.sources} stays as it is, and its result "
                "of "
                f"{', '.join(o.ids)} answers no call: {o.why}"
                for o in orphans
                if o.why
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


def _spared(view: View, orphans: list[_Orphan]) -> list[_Orphan]:
    """
    The orphans, the newest of them spared where nothing but pins would be left.
    """
    leave = [orphan for orphan in orphans if orphan.leaves]
    if not leave or len(leave) < sum(not item.pin for item in view):
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
