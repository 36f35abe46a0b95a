"""
The state of a thread: what its records come to, one record at a time.

`advance(state, record, log)` is the fold of the log. A store runs it inside
the transaction of each append and keeps the outcome, so opening a thread of a
million entries reads the state and the tail, never the history. The state is
also what anybody gets who replays the records from the first. One fold that is
read from top to bottom makes the length of this module.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, assert_never

from attrs import evolve, field, frozen

from unabridged.ledger import BY_HAND, Gone, Late, Ledger, Undone, counting, folded
from unabridged.links import Links, Marks, has_words, is_bare_result, joined
from unabridged.log.compactions import is_compaction
from unabridged.log.kept_notes import noted
from unabridged.messages import Message
from unabridged.records import (
    Appended,
    Compacted,
    Fold,
    Forked,
    Note,
    Noted,
    Pinned,
    Record,
    Reverted,
)
from unabridged.spans import NOTHING, Span

__all__ = ["PINNED_ROLES", "Log", "Replay", "ThreadState", "advance", "lasting", "rebuilt"]

PINNED_ROLES = frozenset({"system", "developer"})


class Log(Protocol):
    """
    What `advance` may have to look up when a decision, not a message, is recorded.
    """

    def marks(self, seq: int) -> Marks:
        """
        The marks kept beside entry *seq*.
        """
        ...

    def crossed(self, seq: int) -> bool:
        """
        Whether an entry after *seq* is tied to one before that, or to it.
        """
        ...

    def decisions(self) -> Iterable[Record]:
        """
        All `Compacted`, `Reverted` and `Pinned` records so far, in order.
        """
        ...


@frozen
class ThreadState:
    """
    What the records of a thread come to.

    *id* is what its store gave the thread when it began; it is no part of what
    the records come to, so states that differ only in it are equal. *born* is
    when its first record was written. *live* entries stand for themselves;
    *folds* are the stand-ins in force; *gone* says what took the rest.
    *guarded* are all entries of blocks that hold a pin or a provider's compaction
    item, *compactions* those that hold such an item and follow another. *decided* is the last
    `Compacted` or `Reverted` record. *reopened* are entries that came back,
    each with the opener of what follows, which did not know of it when it was
    appended.
    """

    rec: int = 0
    seq: int = 0
    born: float = 0.0
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
    reopened: tuple[tuple[int, int], ...] = ()
    notes: tuple[Note, ...] = ()
    lost: Span = NOTHING
    id: str = field(default="", eq=False)
    compactions: Span = NOTHING

    @property
    def incarnation(self) -> str:
        """
        Tells the thread from others of its name; "" if it holds no record.

        Where there is no *id*, as in states of before, it is the time of the first record.
        """
        return (self.id or f"born {self.born!r}") if self.rec else ""

    @property
    def compaction(self) -> int:
        """
        The newest entry in the view that holds a provider's compaction item; 0 if none does.
        """
        return (self.compactions & self.standing).last if self.compactions else 0

    @property
    def in_view(self) -> Span:
        """
        The entries in the view as themselves or as part of a stand-in.
        """
        return self.live | Span.union(fold.sources for fold in self.folds)

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
        return Span.union(gone.sources for gone in self.gone if gone.step.startswith(BY_HAND))


def advance(state: ThreadState, record: Record, log: Log) -> tuple[ThreadState, Marks | None]:
    """
    The state after *record*, and the marks of the entry it appends, if it does.
    """
    if not state.rec:
        state = evolve(state, born=record.at)
    match record.body:
        case Appended():
            return _append(state, record.rec, record.body)
        case Noted(notes):
            return evolve(state, rec=record.rec, notes=noted(state.notes, notes)), None
        case Pinned(span, on):
            if on:
                hand, role, guarded = state.hand | span, state.role, state.guarded | span
            else:
                hand, role, guarded = state.hand - span, state.role - span, state.guarded - span
            return evolve(state, rec=record.rec, hand=hand, role=role, guarded=guarded), None
        case Compacted() | Reverted():
            return _decide(state, record, log), None
        case Forked():  # *state* is what the other thread came to there
            return evolve(state, rec=record.rec, born=record.at, id=""), None
        case _:
            assert_never(record.body)


def rebuilt(records: Iterable[Record]) -> ThreadState:
    """
    The state that *records* come to, from the first on.
    """
    replay = Replay()
    for record in records:
        replay.push(record)

    return replay.state


def lasting(folds: Iterable[Fold], lost: Span) -> tuple[Fold, ...]:
    """
    The stand-ins that outlive the destroyed entries *lost*: a rewording goes with its entry.

    >>> from unabridged.testing import user
    >>> folds = [Fold(Span.one(1), user("a")), Fold(Span.between(2, 3), user("b"))]
    >>> lasting(folds, Span.between(1, 2)) == (folds[1],)
    True
    """
    return tuple(fold for fold in folds if len(fold.sources) > 1 or fold.sources.isdisjoint(lost))


class Replay:
    """
    The state that records come to, one after another, and the marks of their entries.
    """

    def __init__(self) -> None:
        self.state = ThreadState()
        self._marks: dict[int, Marks] = {}
        self._decisions: list[Record] = []

    def push(self, record: Record) -> None:
        """Take the next record."""
        self.state, marks = advance(self.state, record, self)
        if isinstance(record.body, Appended) and marks is not None:
            self._marks[record.body.seq] = marks
        elif isinstance(record.body, Compacted | Reverted | Pinned):
            self._decisions.append(record)

    def marks(self, seq: int) -> Marks:
        """As `Log.marks`."""
        return self._marks[seq]

    def crossed(self, seq: int) -> bool:
        """As `Log.crossed`."""
        return any(later > seq and marks.head <= seq for later, marks in self._marks.items())

    def decisions(self) -> Sequence[Record]:
        """As `Log.decisions`."""
        return self._decisions


def _append(state: ThreadState, rec: int, body: Appended) -> tuple[ThreadState, Marks]:
    seq, message = body.seq, body.message
    links, marks, answered = joined(state.links, seq, message)
    late = bool(answered) and _is_late(state, answered)
    if late and answered.isdisjoint(state.standing):
        links = _untied(links, state.links, seq, message)
    by_role = message.role in PINNED_ROLES
    guarded, compactions = state.guarded, state.compactions
    compacts = seq > 1 and is_compaction(message)
    if compacts:
        compactions = compactions.extended(seq)
    if body.pinned or by_role or compacts or (marks.head < seq and guarded):
        block = Span.between(marks.head, seq)
        if body.pinned or by_role or compacts or not block.isdisjoint(guarded):
            guarded = guarded | block
    after = ThreadState(  # `evolve` takes four times as long, and this is each append's way
        rec=rec,
        seq=seq,
        born=state.born,
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
        reopened=state.reopened,
        notes=state.notes,
        lost=state.lost,
        id=state.id,
        compactions=compactions,
    )
    if late:
        after = _took_late(after, Late(seq, answered, is_bare_result(message)))

    return after, marks


def _is_late(state: ThreadState, calls: Span) -> bool:
    """
    Whether a decision, or one that a redo may bring back, took any of these calls.
    """
    if not calls <= state.live and not calls <= state.standing:
        return True

    return any(not undone.sources.isdisjoint(calls) for undone in state.undone)


def _took_late(state: ThreadState, late: Late) -> ThreadState:
    """
    The state once a late entry has gone where the calls it answers went, if it did.
    """
    ledger = Ledger(state.live, list(state.folds), list(state.gone))
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
    old = {(call.id, call.seq): call for call in before.calls}
    calls = tuple(
        call._replace(head=known.head, opener=known.opener)
        if (known := old.get((call.id, call.seq)))
        else call._replace(head=seq, opener=before.opener)
        for call in links.calls
    )

    return evolve(
        links,
        calls=calls,
        opener=seq if words else before.opener,
        asked_block=(seq, seq) if words else before.asked_block,
        spoke_block=before.spoke_block,
    )


def _decide(state: ThreadState, record: Record, log: Log) -> ThreadState:
    ledger = Ledger(state.live, list(state.folds), list(state.gone))
    undone, skipped = state.undone, state.skipped
    if isinstance(record.body, Compacted):
        ledger.apply(record.rec, record.body.changes)
    else:
        active, undone, skipped = counting([*log.decisions(), record], state.seq)
        ledger = folded(state.seq, active)
    for late in state.late:
        ledger.take_late(late, record.rec)
    after = evolve(
        state,
        rec=record.rec,
        decided=record.rec,
        decided_seq=state.seq,
        live=ledger.live - state.lost,
        folds=lasting(ledger.ordered(), state.lost),
        gone=tuple(ledger.gone),
        undone=undone,
        skipped=skipped,
    )

    undoes = isinstance(record.body, Reverted)
    links = _relinked(state, after, log, anew=undoes)
    if undoes:  # what came back may reach further than was known
        links = evolve(links, asked_block=(0, 0), spoke_block=(0, 0))
        after = evolve(after, reopened=_reopened(state, after, log))

    return evolve(after, links=links)


def _relinked(before: ThreadState, state: ThreadState, log: Log, *, anew: bool) -> Links:
    """
    Where the next entry's round and the newest words are, now that entries came or went.

    The marks of an entry tell what stood before it when it came. Entries that
    came back stood beside later ones that do not know of them, so the end of
    each run of these is asked too; and a late result that came back with its
    call was appended when that was gone.
    """
    standing, retracted = state.standing - state.lost, state.retracted
    links = state.links
    asked, opener = links.asked, links.opener
    came = standing - before.standing
    back = [last for _, last in came.ranges]
    back += [standing.tail(1, before=late.seq).last for late in state.late if late.seq in came]
    if anew or asked not in standing:
        asked = max(
            _newest(end, standing, log, _asked, standing.__contains__)
            for end in (standing.last, *back)
        )
    if anew or opener in retracted:
        opener = max(
            _newest(end, standing, log, _opener, lambda seq: seq not in retracted)
            for end in (standing.last, *(end for end in back if not log.crossed(end)))
        )
    block = links.asked_block if asked == links.asked else (0, 0)

    return evolve(links, asked=asked, asked_block=block, opener=opener)


def _reopened(before: ThreadState, state: ThreadState, log: Log) -> tuple[tuple[int, int], ...]:
    """
    For each run of entries that came back, its end and the opener of what follows.

    What a block swallowed, as when a call before it was answered after it, opens nothing.
    """
    standing, retracted = state.standing - state.lost, state.retracted
    known = dict(before.reopened)
    for _, last in (standing - before.standing).ranges:
        if last < standing.last and not log.crossed(last):
            known[last] = _newest(last, standing, log, _opener, lambda seq: seq not in retracted)

    return tuple(known.items())


def _asked(marks: Marks) -> int:
    return marks.asked


def _opener(marks: Marks) -> int:
    return marks.opener


def _newest(
    place: int,
    standing: Span,
    log: Log,
    mark: Callable[[Marks], int],
    fits: Callable[[int], bool],
) -> int:
    """
    The entry that a mark names, from *place* on back, that still *fits*.
    """
    while place:
        found = mark(log.marks(place))
        if not found or fits(found):
            return found
        place = standing.tail(1, before=found).last

    return 0
