"""
The state of a thread: what its records come to, one record at a time.

`advance(state, record, log)` is the fold of the log. A store runs it inside
the transaction of each append and keeps the outcome, so opening a thread of a
million entries reads the state and the tail, never the history. The state is
also what anybody gets who replays the records from the first.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, assert_never

from attrs import evolve, field, frozen

from unabridged.links import Links, Marks, has_words, is_bare_result, joined
from unabridged.messages import Message
from unabridged.records import (
    Appended,
    Change,
    Compacted,
    Drop,
    Fold,
    Hold,
    Insert,
    Note,
    Noted,
    Pinned,
    Record,
    Reverted,
    by_hand,
)
from unabridged.spans import NOTHING, Span

__all__ = ["Gone", "Late", "Log", "ThreadState", "Undone", "advance", "in_force", "rebuilt"]

PINNED_ROLES = frozenset({"system", "developer"})
KEPT_NOTES = 32


class Log(Protocol):
    """
    What `advance` may have to look up when a decision, not a message, is recorded.
    """

    def marks(self, seq: int) -> Marks:
        """
        The marks kept beside entry *seq*.
        """
        ...

    def decisions(self) -> Iterable[Record]:
        """
        All `Compacted`, `Reverted` and `Pinned` records so far, in order.
        """
        ...


class Late(NamedTuple):
    """
    Entry *seq* answered *calls* after something had been decided since.

    It is *bare* if it holds nothing but results.
    """

    seq: int
    calls: Span
    bare: bool


class Undone(NamedTuple):
    """
    A change that was written and then reverted: its step projects from then on.
    """

    step: str
    sources: Span


@frozen
class Gone:
    """
    Entries that record *rec* took out of the view, and why.
    """

    sources: Span
    rec: int
    step: str = ""
    reason: str = ""


@frozen
class ThreadState:
    """
    What the records of a thread come to.

    *live* entries stand for themselves; *folds* are the stand-ins in force;
    *gone* says what took the rest. *guarded* are all entries of blocks that
    hold a pin. *decided* is the last `Compacted` or `Reverted` record.
    """

    rec: int = 0
    seq: int = 0
    links: Links = field(default=Links())
    live: Span = NOTHING
    folds: tuple[Fold, ...] = ()
    gone: tuple[Gone, ...] = ()
    hand: Span = NOTHING
    role: Span = NOTHING
    guarded: Span = NOTHING
    decided: int = 0
    decided_seq: int = 0
    late: tuple[Late, ...] = ()
    undone: tuple[Undone, ...] = ()
    skipped: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    lost: Span = NOTHING

    @property
    def standing(self) -> Span:
        """
        The entries in the view as themselves, reworded or not.
        """
        reworded = [fold.sources for fold in self.folds if len(fold.sources) == 1]
        return self.live | Span.union(reworded) if reworded else self.live

    @property
    def retracted(self) -> Span:
        """
        The entries that a person took out; their message ids may be used again.
        """
        return Span.union(gone.sources for gone in self.gone if gone.step.startswith("memory."))


def advance(state: ThreadState, record: Record, log: Log) -> tuple[ThreadState, Marks | None]:
    """
    The state after *record*, and the marks of the entry it appends, if it does.
    """
    match record.body:
        case Appended():
            return _append(state, record.rec, record.body)
        case Noted(notes):
            return evolve(state, rec=record.rec, notes=_noted(state.notes, notes)), None
        case Pinned(span, on):
            if on:
                hand, role, guarded = state.hand | span, state.role, state.guarded | span
            else:
                hand, role, guarded = state.hand - span, state.role - span, state.guarded - span
            return evolve(state, rec=record.rec, hand=hand, role=role, guarded=guarded), None
        case Compacted() | Reverted():
            return _decide(state, record, log), None
        case _:
            assert_never(record.body)


def rebuilt(records: Iterable[Record]) -> ThreadState:
    """
    The state that *records* come to, from the first on.
    """
    history = _Replay()
    state = ThreadState()
    for record in records:
        state, marks = advance(state, record, history)
        history.take(record, marks)

    return state


def in_force(decisions: Sequence[Record]) -> frozenset[int]:
    """
    The records, of these decisions, that no `Reverted` in force undoes.
    """
    dead: set[int] = set()
    for record in reversed(decisions):
        if isinstance(record.body, Reverted) and record.rec not in dead:
            dead.add(record.body.rec)

    return frozenset(record.rec for record in decisions if record.rec not in dead)


class _Replay:
    def __init__(self) -> None:
        self._marks: dict[int, Marks] = {}
        self._decisions: list[Record] = []

    def take(self, record: Record, marks: Marks | None) -> None:
        if isinstance(record.body, Appended) and marks is not None:
            self._marks[record.body.seq] = marks
        elif isinstance(record.body, Compacted | Reverted | Pinned):
            self._decisions.append(record)

    def marks(self, seq: int) -> Marks:
        return self._marks[seq]

    def decisions(self) -> Sequence[Record]:
        return self._decisions


def _append(state: ThreadState, rec: int, body: Appended) -> tuple[ThreadState, Marks]:
    seq, message = body.seq, body.message
    links, marks, answered = joined(state.links, seq, message)
    late = bool(answered) and answered.first <= state.decided_seq
    if late and answered.isdisjoint(state.standing):
        links = _untied(links, state.links, seq, message)
    by_role = message.role in PINNED_ROLES
    guarded = state.guarded
    if body.pinned or by_role or (marks.head < seq and guarded):
        block = Span.between(marks.head, seq)
        if body.pinned or by_role or not block.isdisjoint(guarded):
            guarded = guarded | block
    after = ThreadState(  # `evolve` takes four times as long, and this is each append's way
        rec=rec,
        seq=seq,
        links=links,
        live=state.live.extended(seq),
        folds=state.folds,
        gone=state.gone,
        hand=state.hand.extended(seq) if body.pinned else state.hand,
        role=state.role.extended(seq) if by_role else state.role,
        guarded=guarded,
        decided=state.decided,
        decided_seq=state.decided_seq,
        late=state.late,
        undone=state.undone,
        skipped=state.skipped,
        notes=state.notes,
        lost=state.lost,
    )
    if late:
        after = _took_late(after, Late(seq, answered, is_bare_result(message)))

    return after, marks


def _took_late(state: ThreadState, late: Late) -> ThreadState:
    """
    The state once a late entry has gone where the calls it answers went, if it did.
    """
    ledger = _Ledger(state.live, list(state.folds), list(state.gone))
    ledger.take_late(late, state.decided)

    return evolve(
        state,
        late=(*state.late, late),
        live=ledger.live,
        folds=ledger.ordered(),
        gone=tuple(ledger.gone),
    )


def _untied(links: Links, before: Links, seq: int, message: Message) -> Links:
    """
    The links after an entry that answers only calls that have left: nothing ties it.
    """
    words = has_words(message)

    return evolve(
        links,
        opener=seq if words else before.opener,
        asked_block=(seq, seq) if words else before.asked_block,
        spoke_block=before.spoke_block,
    )


def _noted(old: tuple[Note, ...], new: tuple[Note, ...]) -> tuple[Note, ...]:
    """
    The notes a view may lean on: the last cut of each step, the newest answers of each.
    """
    for note in new:
        same = [known for known in old if (known.kind, known.key) == (note.kind, note.key)]
        room = 0 if note.kind == "cut" else KEPT_NOTES - 1
        forgotten = same[: len(same) - room] if len(same) > room else []
        old = (*(known for known in old if known not in forgotten), note)

    return old


def _decide(state: ThreadState, record: Record, log: Log) -> ThreadState:
    ledger = _Ledger(state.live, list(state.folds), list(state.gone))
    undone, skipped = state.undone, state.skipped
    if isinstance(record.body, Compacted):
        ledger.apply(record.rec, record.body.changes)
    else:
        counting, undone, skipped = _in_force([*log.decisions(), record], state.seq)
        ledger = _folded(state.seq, counting)
    for late in state.late:
        ledger.take_late(late, record.rec)
    after = evolve(
        state,
        rec=record.rec,
        decided=record.rec,
        decided_seq=state.seq,
        live=ledger.live - state.lost,
        folds=ledger.ordered(),
        gone=tuple(ledger.gone),
        undone=undone,
        skipped=skipped,
    )

    return evolve(after, links=_relinked(after, log.marks))


def _relinked(state: ThreadState, marks: Callable[[int], Marks]) -> Links:
    """
    Where the next entry's round and the newest words are, now that entries came or went.
    """
    standing = state.standing - state.lost
    retracted = state.retracted
    links = state.links
    asked, opener = _newest(standing, marks, lambda found: found.asked, standing.__contains__), 0
    opener = _newest(standing, marks, lambda found: found.opener, lambda seq: seq not in retracted)
    block = links.asked_block if asked == links.asked else (0, 0)

    return evolve(links, asked=asked, asked_block=block, opener=opener)


def _newest(
    standing: Span,
    marks: Callable[[int], Marks],
    mark: Callable[[Marks], int],
    fits: Callable[[int], bool],
) -> int:
    place = standing.last
    while place:
        found = mark(marks(place))
        if not found or fits(found):
            return found
        place = standing.tail(1, before=found).last

    return 0


class _Ledger:
    """
    Which entries stand for themselves, which have a stand-in, which are gone.
    """

    def __init__(self, live: Span, folds: list[Fold], gone: list[Gone]) -> None:
        self.live = live
        self.folds = folds
        self.gone = gone

    def apply(self, rec: int, changes: tuple[Change, ...]) -> None:
        for change in changes:
            match change:
                case Drop(sources):
                    self._clear(sources)
                    self._drop(sources, rec, change.step, change.reason)
                case Fold(sources):
                    self._clear(sources)
                    self.gone = [
                        evolve(gone, sources=gone.sources - sources)
                        for gone in self.gone
                        if not gone.sources <= sources
                    ]
                    self.folds.append(change)
                case Insert() | Hold():
                    pass
                case _:
                    assert_never(change)

    def take_late(self, late: Late, rec: int) -> None:
        """
        A bare result goes where the calls it answers went.
        """
        if not late.bare or late.seq not in self.live:
            return
        if not late.calls.isdisjoint(self.live):
            return
        taken: Fold | None = None
        for fold in self.folds:
            if fold.sources.isdisjoint(late.calls):
                continue
            if len(fold.sources) == 1:
                return
            taken = fold
        here = Span.one(late.seq)
        self.live = self.live - here
        if taken is not None:
            place = self.folds.index(taken)
            self.folds[place] = evolve(taken, sources=taken.sources | here)
        else:
            took = next(
                (gone for gone in self.gone if not gone.sources.isdisjoint(late.calls)), None
            )
            step = took.step if took else ""
            self._drop(here, took.rec if took else rec, step, "answers a call that left")

    def ordered(self) -> tuple[Fold, ...]:
        return tuple(sorted(self.folds, key=lambda fold: fold.sources.first))

    def _clear(self, sources: Span) -> None:
        self.live = self.live - sources
        if any(not fold.sources.isdisjoint(sources) for fold in self.folds):
            rest = [evolve(fold, sources=fold.sources - sources) for fold in self.folds]
            self.folds = [fold for fold in rest if fold.sources]

    def _drop(self, sources: Span, rec: int, step: str, reason: str) -> None:
        for place, gone in enumerate(self.gone):
            if (gone.step, gone.reason) == (step, reason):
                self.gone[place] = evolve(gone, sources=gone.sources | sources, rec=rec)
                return
        self.gone.append(Gone(sources, rec, step, reason))


def _folded(seq: int, counting: dict[int, tuple[Change, ...]]) -> _Ledger:
    ledger = _Ledger(Span.between(1, seq), [], [])
    for rec in sorted(counting):
        ledger.apply(rec, counting[rec])

    return ledger


def _in_force(
    decisions: Iterable[Record], seq: int
) -> tuple[dict[int, tuple[Change, ...]], tuple[Undone, ...], tuple[str, ...]]:
    """
    The changes that count, the ones that were undone, and what a redo had to leave out.
    """
    bodies: dict[int, Compacted | Reverted] = {}
    active: dict[int, tuple[Change, ...]] = {}
    pins: list[tuple[int, Span, bool]] = []
    undone: dict[int, tuple[Change, ...]] = {}
    skipped: dict[int, list[str]] = {}
    for record in decisions:
        match record.body:
            case Pinned(span, on):
                pins.append((record.rec, span, on))
            case Compacted(changes):
                bodies[record.rec] = record.body
                active[record.rec] = changes
            case Reverted(rec):
                bodies[record.rec] = record.body
                root = rec
                while isinstance(body := bodies[root], Reverted):
                    root = body.rec
                if root in active:
                    undone[root] = active.pop(root)
                    skipped.pop(root, None)
                else:
                    undone.pop(root, None)
                    active[root], skipped[root] = _redone(root, body, active, pins, seq)
            case _:
                pass

    return (
        active,
        tuple(
            Undone(change.step, change.sources)
            for changes in undone.values()
            for change in changes
            if isinstance(change, Drop | Fold) and not by_hand(change)
        ),
        tuple(text for texts in skipped.values() for text in texts),
    )


def _redone(
    rec: int,
    body: Compacted,
    active: dict[int, tuple[Change, ...]],
    pins: list[tuple[int, Span, bool]],
    seq: int,
) -> tuple[tuple[Change, ...], list[str]]:
    pinned = NOTHING
    for at, span, on in pins:
        if at > rec:
            pinned = pinned | span if on else pinned - span
    elsewhere = Span.union(
        fold.sources for fold in _folded(seq, active).folds if len(fold.sources) > 1
    )
    kept: list[Change] = []
    skipped: list[str] = []
    for change in body.changes:
        sources = NOTHING if isinstance(change, Insert) else change.sources
        if held := sources & pinned:
            why = f"entry {held.first} is pinned since"
        elif held := sources & elsewhere:
            why = f"entry {held.first} is part of another stand-in"
        else:
            kept.append(change)
            continue
        skipped.append(f"redoing record {rec} left out {type(change).__name__} of {sources}: {why}")

    return tuple(kept), skipped
