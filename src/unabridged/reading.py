"""
What a memory has loaded of its thread, kept in step with the store.
"""

from collections.abc import Callable, Sequence
from typing import Any

from unabridged.errors import CorruptLogError
from unabridged.items import Unloaded
from unabridged.records import Body, Entry
from unabridged.spans import Span
from unabridged.states import ThreadState
from unabridged.stores.protocol import Receipt
from unabridged.text import brief
from unabridged.thread.deletions import steadily
from unabridged.viewing import Loaded
from unabridged.views import View
from unabridged.work import Calls, Do, Locked, T, Work

__all__ = ["Moved", "Reader"]


class Moved(Exception):  # noqa: N818  a signal, not an error
    """
    Somebody deleted or pruned what was about to be read: it is read anew.
    """


class Reader:
    """
    The part of a thread that is loaded, and how more of it is.
    """

    def __init__(self, thread: str) -> None:
        self.thread = thread
        self.seen = ""  # the incarnation that was read last
        self._loaded: Loaded | None = None

    def _state(self) -> Calls[ThreadState]:
        state: ThreadState = yield Do("state", (self.thread,))
        if state.incarnation != self.seen:
            self._met(state.incarnation)

        return state

    def _met(self, incarnation: str) -> None:
        """
        The thread is another one than that which was read last.
        """
        self.seen = incarnation

    def _of_one(self, reads: Callable[[], Work[T]]) -> Work[T]:
        """
        What the reads come to, all of one incarnation.
        """
        return (yield from steadily(self._state, reads))

    def _current(self) -> Work[tuple[Loaded, View]]:
        """
        What is loaded, in step with the store, and the view of it, which nothing changes later.
        """
        current: tuple[Loaded, View] = yield Locked(self._brought_up())

        return current

    def _brought_up(self) -> Calls[tuple[Loaded, View]]:
        loaded = yield from self._in_step()

        return loaded, loaded.view()

    def _in_step(self) -> Calls[Loaded]:
        state = yield from self._state()
        loaded = self._loaded
        if loaded is not None and loaded.state.incarnation == state.incarnation:
            known = loaded.state
            if state is known:
                return loaded
            if state.rec == known.rec and state.seq == known.seq and state.lost == known.lost:
                return loaded
            if state.seq >= known.seq and state.rec > known.rec:
                span = Span.between(known.seq + 1, state.seq)
                new = (yield from self._fetched(state, span - state.lost)) if span else ()
                if loaded.append(new, state):
                    return loaded
        loaded = Loaded(state) if loaded is None else Loaded(state, loaded.depth)
        if wanted := loaded.wanted_first():
            loaded.take((yield from self._fetched(state, wanted)))
        self._loaded = loaded

        return loaded

    def _load(self, loaded: Loaded, view: View, signal: Unloaded) -> Work[None]:
        """
        Load what *signal* wants, which was raised by who read the *view*.
        """
        yield Locked(self._more(loaded, view, signal))

    def _more(self, loaded: Loaded, view: View, signal: Unloaded) -> Calls[None]:
        if loaded.hidden != view.hidden:
            return  # somebody else loaded meanwhile: it is read anew
        wanted = loaded.wanted_next(signal)
        if not wanted:
            msg = "a view was read past its end; please report this"
            raise RuntimeError(msg) from signal
        loaded.take((yield from self._fetched(loaded.state, wanted)))

    def _fetched(self, state: ThreadState, span: Span) -> Calls[tuple[Entry, ...]]:
        """
        These entries, all of which stand in the log as of *state*.
        """
        entries: tuple[Entry, ...] = yield Do("entries", (self.thread, span))
        now = yield from self._state()
        if now.incarnation != state.incarnation:  # these are entries of another thread
            self._loaded = None
            raise Moved
        if len(entries) == len(span):
            return entries
        if (now.rec, now.lost) != (state.rec, state.lost):
            self._loaded = None
            raise Moved
        missing = span - Span.of(entry.seq for entry in entries)
        msg = (
            f"thread {brief(self.thread)}: the store does not give the entries {missing}, which "
            f"its state says are there (1-{state.seq}); its records are damaged"
        )
        raise CorruptLogError(msg)

    def _append(
        self,
        bodies: Sequence[Body],
        expect: int | None = None,
        incarnation: str | None = None,
    ) -> Work[Receipt]:
        """
        Append, only to that *incarnation* if one is given, and keep what is loaded in step.
        """
        options: dict[str, Any] = {} if expect is None else {"expect": expect}
        if incarnation is not None:
            options["incarnation"] = incarnation
        receipt: Receipt = yield Locked(
            self._taking(_called(Do("append", (self.thread, bodies), options)))
        )

        return receipt

    def _taking(self, work: Calls[Any]) -> Calls[Any]:
        """
        Do a work that writes, and keep what is loaded in step with its receipt.
        """
        receipt = yield from work
        if receipt is not None:
            self._took(receipt)

        return receipt

    def _took(self, receipt: Receipt) -> None:
        """
        Keep what is loaded in step with what was just written, if that is all that changed.
        """
        incarnation = receipt.state.incarnation
        if incarnation != self.seen:
            self._met(incarnation)
        loaded = self._loaded
        if loaded is None or not receipt.records:
            return
        if loaded.state.rec and loaded.state.incarnation != incarnation:
            return
        if receipt.records[0].rec != loaded.state.rec + 1 or not loaded.append(
            receipt.entries, receipt.state
        ):
            return


def _called(call: Do) -> Calls[Any]:
    return (yield call)
