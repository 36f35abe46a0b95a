"""
Hypothesis strategies: logs of every shape that real ones have.

Needs the extra `unabridged[test]`.
"""

from collections.abc import Sequence
from typing import Any

from attrs import evolve, frozen

try:
    from hypothesis import strategies as st
except ImportError as error:  # pragma: no cover
    msg = "unabridged.testing.generators generates with hypothesis; pip install 'unabridged[test]'"
    raise ImportError(msg) from error

from unabridged.contract import TrimContext
from unabridged.formats import openai_chat
from unabridged.ledger import in_force
from unabridged.memory import Memory
from unabridged.messages import (
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    tool,
)
from unabridged.pipeline import Strategy
from unabridged.records import Body, Forked, Noted, Pinned
from unabridged.results import TrimResult, drop, fold, rewrite
from unabridged.running import run
from unabridged.stores.in_memory import InMemoryStore
from unabridged.strategies.max_rounds import MaxRounds
from unabridged.strategies.summarize import Summarize
from unabridged.strategies.window import Window
from unabridged.testing.log import THREAD, Log, whole_view
from unabridged.testing.trial import short
from unabridged.tokens import words
from unabridged.views import View

__all__ = ["logs", "messages"]

_TEXTS = (
    "yes",
    "one two three",
    "",
    "你好明天去利马吗",
    "on my way 👩🏽‍💻🎉",
    "a rather longer line of words that fills more of a small budget than others do",
)
_COMPACTED = Opaque("anthropic", {"type": "compaction", "content": "So far."})
_IDS = ("c1", "c2", "c3")
_OWNER = {"anthropic": {"as": "thinking"}}  # a thought that one provider knows as its own
_MARKED = Text("Noted.", extra={"anthropic": {"keys": {"cache_control": {"type": "ephemeral"}}}})
_HOLLOW = (  # loaded with nothing for data
    Opaque("openai_chat", {"type": "image_url", "image_url": {"url": ""}}),
    Opaque("anthropic", {"type": "image", "source": {"type": "url", "url": ""}}),
    Opaque("gemini", {"inlineData": {"mimeType": "image/png", "data": ""}}),
    Opaque("bedrock", {"image": {"format": "png", "source": {"bytes": ""}}}),
)
_LEGACY = (
    {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": ""}},
    {"role": "function", "name": "look", "content": "one two three"},
    {"role": "function", "name": "look", "content": "yes"},
)
_SAID = {
    "user": 5, "assistant": 3, "batch": 6, "call": 1, "answer": 2, "thought": 2, "system": 1,
    "loop": 1, "paused": 1, "compacted": 1,
}  # fmt: skip
_MOVES = tuple(move for move, weight in _SAID.items() for _ in range(weight))
_REFUSED = ("legacy", "legacy", "hollow", "marked", "unsigned", "blank")
_DECISIONS = (
    "cut", "fold", "reword", "drop", "rounds", "summary", "revert", "redo", "retract", "pin",
    "unpin", "rewind", "again", "clear", "fold", "summary", "revert", "redo", "summary", "fork",
)  # fmt: skip
_text = st.sampled_from(_TEXTS)


@st.composite
def messages(draw: st.DrawFn, max_moves: int = 10, *, refused: bool = False) -> tuple[Message, ...]:
    """
    A transcript with all that goes wrong in real ones; up to *max_moves* turns of talk.

    With *refused* also what is loaded as it is, and mended before it is sent.

    >>> messages()
    messages()
    """
    said: list[Message] = []
    with_user = draw(st.integers(0, 9)) > 0
    known = (*_MOVES, "refused") if refused else _MOVES
    moves = draw(st.lists(st.sampled_from(known), min_size=1, max_size=max_moves))
    if with_user and draw(st.integers(0, 3)):
        said.append(Message("user", draw(_text)))
    for move in moves:
        if with_user or move != "user":
            said += _turn(draw, move, with_user=with_user)

    return tuple(said)


def _turn(draw: st.DrawFn, move: str, *, with_user: bool) -> list[Message]:  # noqa: C901, PLR0911
    if move == "compacted":
        return [assistant([_COMPACTED, draw(_text)])]
    match move:
        case "batch":
            return _batch(draw, with_user=with_user)
        case "call":
            return [_calling(draw, draw(st.lists(st.sampled_from(_IDS), min_size=1, max_size=2)))]
        case "answer":
            return [tool(draw(_text), call_id=draw(st.sampled_from((*_IDS, "c9"))))]
        case "thought":
            if draw(st.booleans()):
                return [assistant(Reasoning("let me see")), assistant(draw(_text))]
            return [assistant([Reasoning("so", signature="c2ln", extra=_OWNER), Text(draw(_text))])]
        case "loop":
            return _loop(draw)
        case "paused":
            opaque = Opaque("anthropic", {"type": "web_search_tool_result"})
            return [assistant(["I search.", opaque]), assistant([opaque, draw(_text)])]
        case "refused":
            return _refused(draw, with_user=with_user)
        case "system":
            return [Message(draw(st.sampled_from(("system", "developer", "narrator"))), "Mind.")]
        case role:
            return [Message(role, draw(_text))]


def _refused(draw: st.DrawFn, *, with_user: bool) -> list[Message]:
    """
    What is loaded as it is, and one provider or another refuses: mending puts it right.
    """
    match draw(st.sampled_from(_REFUSED)):
        case "legacy":
            return list(openai_chat.load(_LEGACY[: draw(st.integers(1, len(_LEGACY)))]))
        case "hollow":
            return [Message("user" if with_user else "narrator", ["See.", *_HOLLOW])]
        case "unsigned":
            return [assistant([Reasoning("so", extra=_OWNER), Text(draw(_text))])]
        case "blank":
            return [Message("system", " ")]
        case _:
            point = Opaque("bedrock", {"cachePoint": {"type": "default"}})
            return [assistant([_MARKED, point, *_HOLLOW])]


def _calling(draw: st.DrawFn, ids: Sequence[str]) -> Message:
    thought = (
        [Reasoning("look", signature="c2ln", extra=_OWNER)] if draw(st.integers(0, 4)) == 0 else []
    )
    return assistant([*thought], calls=[ToolCall(id_, "look", {"q": 1}) for id_ in ids])


def _batch(draw: st.DrawFn, *, with_user: bool) -> list[Message]:
    """
    Calls and, mostly, their results: in one message or several, in any order, some twice.
    """
    ids = draw(st.lists(st.sampled_from(_IDS), min_size=1, max_size=3))
    came = draw(st.permutations(ids))[: draw(st.sampled_from((3, 3, 3, 2, 1)))]
    if draw(st.integers(0, 6)) == 0:
        came = [*came, came[0]]
    call = _calling(draw, ids)
    kind = draw(st.integers(0, 9 if with_user else 5))
    if kind > 7:  # noqa: PLR2004  one in five
        results = [ToolResult(id_, draw(_text)) for id_ in came]
        more = [Text(draw(_text))] if kind == 9 else []  # noqa: PLR2004
        return [call, Message("user", [*results, *more])]
    said = [tool(draw(_text), call_id=id_) for id_ in came]
    if kind > 5:  # noqa: PLR2004  one in five
        said.insert(draw(st.integers(0, len(said) - 1)), Message("user", "Wait, hear this."))
    if draw(st.integers(0, 5)) == 0:
        said.insert(draw(st.integers(0, len(said) - 1)), assistant("Still at it."))

    return [call, *said]


def _loop(draw: st.DrawFn) -> list[Message]:
    """
    A tool loop whose first step thinks, and the others as they like.
    """
    said: list[Message] = []
    for step in range(draw(st.integers(2, 3))):
        thinks = step == 0 or draw(st.integers(0, 3)) == 0
        thought = [Reasoning("look", signature="c2ln", extra=_OWNER)] if thinks else []
        id_ = draw(st.sampled_from(_IDS))
        said += [assistant([*thought, ToolCall(id_, "look")]), tool(draw(_text), call_id=id_)]

    return said


@st.composite
def logs(
    draw: st.DrawFn, max_moves: int = 10, *, decided: bool | None = None, decisions: int = 6
) -> Log:
    """
    A log: a transcript, some of it pinned, with write-backs, reverts, retractions and forks.

    *decided* says whether it holds such *decisions* (half as many to so many):
    True, False, or None for some of each.

    >>> logs()
    logs()
    """
    said = draw(messages(max_moves, refused=True))
    if decided is None:
        decided = draw(st.booleans())
    store = InMemoryStore()
    pins = draw(st.sets(st.integers(0, len(said)), max_size=2)) if draw(st.booleans()) else set()
    places = st.lists(st.integers(1, len(said)), min_size=decisions // 2, max_size=decisions)
    turns = sorted(draw(places)) if decided and said else []
    for place, message in enumerate(said, start=1):
        identified = evolve(message, id=f"m{place}") if place % 3 == 0 else message
        _memory(store).append(identified, pin=place in pins)
        for _ in range(turns.count(place)):
            store = _decide(draw, store)

    return Log(record.body for record in store.read(THREAD))


def _memory(store: InMemoryStore) -> Memory:
    return Memory(store, THREAD, count=words, ask=short)


def _decide(  # noqa: C901  one case for each kind
    draw: st.DrawFn, store: InMemoryStore
) -> InMemoryStore:
    """
    Decide something about the thread; the store that holds it then.
    """
    memory = _memory(store)
    kind = draw(st.sampled_from(_DECISIONS))
    state = store.state(THREAD)
    seq = draw(st.integers(1, state.seq))
    match kind:
        case "clear":
            memory.clear()
        case "pin":
            memory.pin(seq)
        case "unpin":
            held = [*(state.hand | state.role)]
            memory.unpin(draw(st.sampled_from(held)) if held else seq)
        case "retract":
            memory.retract(seq)
        case "rewind":
            memory.rewind(seq)
        case "again":
            retracted = [entry.message for entry in store.entries(THREAD, state.retracted)]
            memory.append(*(message for message in retracted[-2:] if message.id))
        case "revert":
            _revert(draw, store, memory)
        case "redo":
            reverted = _revert(draw, store, memory)
            if reverted:
                memory.revert(reverted)
        case "fork":
            rec = max(1, state.rec - draw(st.integers(0, 5)))
            shared = (record.body for record in store.read(THREAD, before=rec + 1))
            return Log([*shared, Forked(THREAD, rec)]).store()
        case _:
            _write_back(store, draw(_writers(kind)))

    return store


def _revert(draw: st.DrawFn, store: InMemoryStore, memory: Memory) -> int:
    """
    Revert one of the records that count; the number of the revert, 0 if there is none to revert.
    """
    decisions = store.read(THREAD, marks=("decided",))
    known = {record.rec: record.body for record in decisions}
    could = [rec for rec in sorted(in_force(decisions)) if not isinstance(known[rec], Pinned)]

    return memory.revert(draw(st.sampled_from(could))).rec if could else 0


def _write_back(store: InMemoryStore, step: Any) -> None:
    result = run(step, whole_view(store), TrimContext(count=words), ask=short)
    bodies: list[Body] = []
    if record := result.record(replace=not isinstance(step, Summarize)):
        bodies.append(record)
    if result.notes:
        bodies.append(Noted(result.notes))
    if bodies:
        store.append(THREAD, bodies, at=0.0)


def _writers(kind: str) -> st.SearchStrategy[Any]:
    few = st.integers(1, 5)
    match kind:
        case "cut":
            opening = st.sampled_from(("question", "question", "next", "anywhere"))
            return st.builds(lambda n, opens: Window(n, opening=opens), few, opening)
        case "rounds":
            return st.builds(MaxRounds, st.integers(1, 3))
        case "summary":
            return st.builds(
                lambda n, replace: Summarize(n, label="", replace=replace), few, st.booleans()
            )
        case _:
            return st.builds(_Run, st.just(kind), st.integers(0, 8), few)


@frozen(repr=False)
class _Run(Strategy):
    """
    Drop, fold or reword a run of the view.
    """

    kind: str
    start: int
    count: int

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        start = self.start % max(1, len(view))
        items = view[start : start + self.count]
        match self.kind:
            case "fold":
                into = Message(("system", "user", "assistant")[self.start % 3], "in short")
                return fold(view, items, into=into, reason="folded", replace=True)
            case "reword":
                said = {item: _shortened(item.message) for item in items if not item.wide}
                own = {item: message for item, message in said.items() if item.sources}
                return rewrite(view, own, reason="reworded", replace=True)
            case _:
                return drop(view, items, reason="dropped", replace=True)


def _shortened(message: Message) -> Message:
    parts = (Text("…") if isinstance(part, Text) else part for part in message.parts)
    return evolve(message, parts=parts)
