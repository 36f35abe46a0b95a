"""
Making contexts: how a strategy runs on what is loaded of a thread, and what of it is written.

Nothing of a log that others write meanwhile is lost: if it changed what a
strategy saw, the strategy is run again, with the answers it had.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from unabridged.breakers import Breakers
from unabridged.contract import TrimContext
from unabridged.counting import Counting, reported
from unabridged.errors import LogConflictError, UnabridgedError
from unabridged.items import Unloaded
from unabridged.messages import Message
from unabridged.pipeline import Pipeline
from unabridged.reading import Moved, Reader
from unabridged.records import Body, Compacted, Note, Noted
from unabridged.results import TrimResult
from unabridged.running import flow
from unabridged.stores.protocol import Receipt
from unabridged.tokens import Budget, Kept
from unabridged.tokens.calibrated import Calibrated, Corrected
from unabridged.tokens.from_client import FromClient
from unabridged.usage import Usage
from unabridged.viewing import headed
from unabridged.work import Do, Outcome, Work, replayed
from unabridged.writable import fresh_notes, marked, written

__all__ = ["Retriever", "Wish"]

TRIES = 16
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
        self.breakers = breakers or Breakers()
        self._breaker = self.breakers.of(thread)

    @property
    def shown(self) -> frozenset[Message]:
        """
        The messages of the last context.
        """
        return frozenset(self._previous)

    def context(self, wish: Wish) -> Work[TrimResult]:
        """
        What a strategy makes of the view; what it wants written is written.
        """
        work = self._context(wish)
        if wish.watched or self._breaker.busy:
            work = self._breaker.watched(work, wish.retry_after, background=wish.background)

        return (yield from work)

    def _context(self, wish: Wish) -> Work[TrimResult]:
        answers: list[tuple[Any, Outcome]] = []
        counting = Counting(wish.asked)
        tries = TRIES
        while True:
            tries -= 1
            asked = len(answers)
            try:
                result = yield from self._performed(wish, answers, counting)
            except Moved:
                continue
            if len(answers) > asked and tries:
                state = yield Do("state", (self.thread,))
                if state.decided != result.before.log.decided:
                    continue  # what was folded may have been cleared meanwhile
            writes = result.replace if wish.replace is None else wish.replace
            if not writes and not result.notes:  # nearly always: it is not written, only shown
                rec = 0
                break
            try:
                rec = yield from self._write(result, wish.replace)
            except LogConflictError:
                if not tries:
                    raise
            else:
                break
        result = self._warned(result, wish, rec, counting.warnings)
        if not wish.background:  # it is sent to nobody
            self._previous = result.messages

        return result

    def _performed(
        self, wish: Wish, answers: list[tuple[Any, Outcome]], counting: Counting
    ) -> Work[TrimResult]:
        """
        The result of the strategy, which is called again whenever more of the log is loaded.
        """
        while True:
            loaded = yield from self._current()
            view = headed(loaded.view(), wish.system)
            if wish.asked and (yield from counting.counted(view, self._previous)):
                continue  # others may have written meanwhile
            count = wish.count
            if wish.calibrated is not None:
                count = self._correct(wish.calibrated, view.notes)
            context = TrimContext(wish.budget, count, wish.query, self._previous, wish.window)
            walk = flow(wish.strategy, view, context)
            try:
                result = yield from replayed(walk, answers)
                hidden = result.view.hidden
            except Unloaded as signal:
                yield from self._load(loaded, signal)
            except UnabridgedError as error:
                kept = [note for note in error.notes if isinstance(note, Note)]
                if fresh := fresh_notes(loaded.state.notes, kept):
                    self._took((yield Do("append", (self.thread, [Noted(fresh)]))))
                raise
            else:
                if not hidden:
                    return result
                # what is kept goes to the model, so it is loaded
                yield from self._load(loaded, Unloaded(everything=True))

    def _correct(self, counter: Calibrated, notes: tuple[Note, ...]) -> Corrected:
        """
        The counter as the notes correct it, worked out when they change.
        """
        known = self._corrected
        if known is None or known[0] is not notes:
            known = self._corrected = notes, counter.corrected(notes)

        return known[1]

    def _write(self, result: TrimResult, replace: bool | None) -> Work[int]:
        bodies: list[Body] = []
        if (replace or (replace is None and result.replace)) and (
            record := result.record(replace=bool(replace))
        ):
            bodies.append(record)
        if notes := fresh_notes(result.before.notes, result.notes):
            bodies.append(Noted(notes))
        if not bodies:
            return 0
        receipt: Receipt = yield Do("append", (self.thread, bodies))
        self._took(receipt)

        return receipt.records[0].rec if isinstance(bodies[0], Compacted) else 0

    def _warned(
        self, result: TrimResult, wish: Wish, rec: int, warnings: Sequence[str]
    ) -> TrimResult:
        warnings = [*warnings, *result.warnings]
        if wish.replace or (wish.replace is None and result.replace):
            _, unwritten = written(result.before, result.changes, everything=bool(wish.replace))
            warnings += unwritten
        for warning in warnings:
            logger.warning("thread %r: %s", self.thread, warning)
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
        if receipt := (yield from reported(self.thread, result, usage, counter)):
            self._took(receipt)

        return evolve(result, usage=usage)
