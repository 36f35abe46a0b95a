"""
What a memory has loaded of its thread, kept in step with the store.
"""

from collections.abc import Sequence
from typing import Any

from unabridged.errors import CorruptLogError
from unabridged.items import Unloaded
from unabridged.records import Body, Entry
from unabridged.spans import Span
from unabridged.states import ThreadState
from unabridged.stores.protocol import Receipt
from unabridged.text import brief
from unabridged.viewing import Loaded
from unabridged.views import View
from unabridged.work import Calls, Do, Locked, Work

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
        self._loaded: Loaded | None = None

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
        state = yield Do("state", (self.thread,))
        loaded = self._loaded
        if loaded is not None and loaded.state.born == state.born:
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
        if len(entries) == len(span):
            return entries
        now = yield Do("state", (self.thread,))
        if (now.born, now.rec, now.lost) != (state.born, state.rec, state.lost):
            self._loaded = None
            raise Moved
        missing = span - Span.of(entry.seq for entry in entries)
        msg = (
            f"thread {brief(self.thread)}: the store does not give the entries {missing}, which "
            f"its state says are there (1-{state.seq}); its records are damaged"
        )
        raise CorruptLogError(msg)

    def _append(self, bodies: Sequence[Body], expect: int | None = None) -> Work[Receipt]:
        """
        Append, and keep what is loaded in step.
        """
        options = {} if expect is None else {"expect": expect}
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
        loaded = self._loaded
        if loaded is None or not receipt.records:
            return
        if receipt.records[0].rec != loaded.state.rec + 1 or not loaded.append(
            receipt.entries, receipt.state
        ):
            return


def _called(call: Do) -> Calls[Any]:
    return (yield call)
