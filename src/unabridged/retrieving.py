"""
Making contexts: how a strategy runs on what is loaded of a thread, and what of it is written.

Nothing of a log that others write meanwhile is lost: if it changed what a
strategy saw, the strategy is run again, with the answers it had.
"""

import logging
from collections.abc import Mapping, Sequence

from attrs import evolve, field, frozen

from unabridged.breakers import Breakers
from unabridged.contract import TrimContext
from unabridged.counting import Counting, reported
from unabridged.errors import LogConflictError, ReadOnlyError, UnabridgedError
from unabridged.items import Unloaded
from unabridged.messages import Message
from unabridged.pipeline import Pipeline
from unabridged.reading import Moved, Reader
from unabridged.records import Body, Compacted, Note, Noted
from unabridged.results import TrimResult
from unabridged.running import flow
from unabridged.states import ThreadState
from unabridged.thread.deletions import TRIES, Attempt
from unabridged.tokens import Budget, Kept
from unabridged.tokens.calibrated import Calibrated, Corrected
from unabridged.tokens.from_client import FromClient
from unabridged.usage import Usage
from unabridged.viewing import headed
from unabridged.work import Work, replayed
from unabridged.writable import fresh_notes, marked, written

__all__ = ["Retriever", "Wish"]

logger = logging.getLogger("unabridged")


@frozen
class Wish:
    """
    How a context is wanted; see `Memory.context`.
    """

    strategy: Pipeline
    budget: Budget | None
    count: Kept
    query: str | None = None
    replace: bool | None = None
    system: str | Message | None = None
    hide_system: bool = False
    calibrated: Calibrated | None = field(default=None, kw_only=True)
    asked: Mapping[FromClient, Kept] = field(factory=dict, kw_only=True)
    window: int = field(default=0, kw_only=True)
    retry_after: int | None = field(default=None, kw_only=True)
    background: bool = field(default=False, kw_only=True)
    previous: str = field(default="", kw_only=True)
    told: str = field(default="", kw_only=True)  # a warning, for the first result that has it

    @property
    def watched(self) -> bool:
        """
        Whether what a model answers is looked at, to leave it alone for a while.
        """
        if self.retry_after is None:
            return self.background or self.strategy.may_ask

        return self.retry_after > 0 or self.background


class Retriever(Reader):
    """
    What is loaded of a thread, and the contexts that are made of it.
    """

    def __init__(self, thread: str, breakers: Breakers | None = None) -> None:
        super().__init__(thread)
        self._previous: tuple[Message, ...] = ()
        self._corrected: tuple[tuple[Note, ...], Corrected] | None = None
        self._told = ""
        self.breakers = breakers or Breakers()
        self._breaker = self.breakers.of(thread)

    def renew(self) -> None:
        """
        Keep nothing that a thread of another process may have been in the middle of.
        """
        self._loaded = None
        self.breakers = Breakers()
        self._breaker = self.breakers.of(self.thread)

    def let_go(self) -> None:
        """
        Hold no messages any longer; they are read again if they are asked for.
        """
        self._loaded, self._previous = None, ()

    @property
    def shown(self) -> frozenset[Message]:
        """
        The messages of the last context.
        """
        return frozenset(self._previous)

    def _met(self, incarnation: str) -> None:
        if self.seen:
            self._previous = ()  # of a thread that is deleted
        super()._met(incarnation)

    def context(self, wish: Wish) -> Work[TrimResult]:
        """
        What a strategy makes of the view; what it wants written is written.
        """
        work = self._context(wish)
        if wish.watched or self._breaker.busy:
            work = self._breaker.watched(work, wish.retry_after, background=wish.background)

        return (yield from work)

    def _context(self, wish: Wish) -> Work[TrimResult]:
        attempt = Attempt(self.thread)
        counting = Counting(wish.asked)
        tries, rec = TRIES, 0
        while True:
            tries -= 1
            asked = len(attempt.answers)
            try:
                result = yield from self._performed(wish, attempt, counting)
            except Moved:
                continue
            if len(attempt.answers) > asked and tries > 0:
                state, log = (yield from self._state()), result.before.log
                if state.decided != log.decided or attempt.left(log, state):
                    continue  # what was folded may have been cleared or deleted meanwhile
            writes = result.replace if wish.replace is None else wish.replace
            if not (writes or result.notes) or not attempt.may_write(result):
                break  # nearly always: it is not written, only shown
            try:
                rec = yield from self._write(result, wish.replace, counting.warnings)
            except LogConflictError:
                if tries <= 0:
                    raise
            else:
                break
        warnings = [*counting.warnings, *attempt.warnings(result)]
        result = self._warned(result, wish, rec, warnings)
        if not wish.background:  # it is sent to nobody
            self._previous = result.messages

        return result

    def _performed(self, wish: Wish, attempt: Attempt, counting: Counting) -> Work[TrimResult]:
        """
        The result of the strategy, which is called again whenever more of the log is loaded.
        """
        while True:
            loaded, own = yield from self._current()
            attempt.look(own.log)
            view = headed(own, wish.system)
            if wish.asked and (yield from counting.counted(view, self._previous)):
                continue  # others may have written meanwhile
            count = wish.count
            if wish.calibrated is not None:
                count = self._correct(wish.calibrated, view.notes)
            context = TrimContext(wish.budget, count, wish.query, self._previous, wish.window)
            walk = flow(wish.strategy, view, context)
            try:
                result = yield from replayed(walk, attempt.answers, attempt.known)
                hidden = result.view.hidden
            except Unloaded as signal:
                yield from self._load(loaded, own, signal)
            except UnabridgedError as error:
                yield from self._keep_answers(error, view.log)
                raise
            else:
                if not hidden:
                    return result
                # what is kept goes to the model, so it is loaded
                yield from self._load(loaded, own, Unloaded(everything=True))

    def _keep_answers(self, error: UnabridgedError, state: ThreadState) -> Work[None]:
        """
        Keep what was answered before a step failed, if it was worked out from the thread as it is.
        """
        kept = [note for note in error.notes if isinstance(note, Note)]
        fresh = fresh_notes(state.notes, kept)
        if not fresh or not state.rec:
            return
        try:
            yield from self._append([Noted(fresh)], incarnation=state.incarnation)
        except (LogConflictError, ReadOnlyError) as refused:
            error.add_note(f"what was answered before it is not kept: {refused}")

    def _correct(self, counter: Calibrated, notes: tuple[Note, ...]) -> Corrected:
        """
        The counter as the notes correct it, worked out when they change.
        """
        known = self._corrected
        if known is None or known[0] is not notes:
            known = self._corrected = notes, counter.corrected(notes)

        return known[1]

    def _write(self, result: TrimResult, replace: bool | None, warnings: list[str]) -> Work[int]:
        bodies: list[Body] = []
        if (replace or (replace is None and result.replace)) and (
            record := result.record(replace=bool(replace))
        ):
            bodies.append(record)
        if notes := fresh_notes(result.before.notes, result.notes):
            bodies.append(Noted(notes))
        if not bodies:
            return 0
        try:
            receipt = yield from self._append(bodies, incarnation=result.before.log.incarnation)
        except ReadOnlyError as error:
            if isinstance(bodies[0], Compacted):
                raise
            warnings.append(f"what was worked out is not kept in the log: {error}")
            return 0

        return receipt.records[0].rec if isinstance(bodies[0], Compacted) else 0

    def _warned(
        self, result: TrimResult, wish: Wish, rec: int, warnings: Sequence[str]
    ) -> TrimResult:
        warnings = [*warnings, *result.warnings]
        if wish.told and wish.told != self._told:
            self._told = wish.told
            warnings.insert(0, wish.told)
        if wish.replace or (wish.replace is None and result.replace):
            _, unwritten = written(result.before, result.changes, everything=bool(wish.replace))
            warnings += unwritten
        for warning in warnings:
            logger.warning("thread %r: %s", self.thread, warning)
        if wish.previous:
            result = evolve(result, earlier=wish.previous)
        if warnings or wish.hide_system or rec:
            wrote = rec and wish.replace
            return evolve(
                result,
                changes=marked(result.before, result.changes) if wrote else result.changes,
                warnings=tuple(warnings),
                hide_system=wish.hide_system,
                rec=rec,
            )

        return result

    def report(
        self, result: TrimResult, usage: Usage, counter: Calibrated | None
    ) -> Work[TrimResult]:
        """
        The result with what the provider reported of it, which corrects a calibrated counter.
        """
        yield from reported(self.thread, result, usage, counter)

        return evolve(result, usage=usage)
