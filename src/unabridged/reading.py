"""
What a memory has loaded of its thread, kept in step with the store.
"""

from unabridged.errors import CorruptLogError
from unabridged.items import Unloaded
from unabridged.records import Entry
from unabridged.spans import Span
from unabridged.states import ThreadState
from unabridged.stores.protocol import Receipt
from unabridged.text import brief
from unabridged.viewing import Loaded
from unabridged.work import Do, Work

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

    def _current(self) -> Work[Loaded]:
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

    def _load(self, loaded: Loaded, signal: Unloaded) -> Work[None]:
        wanted = loaded.wanted_next(signal)
        if not wanted:
            msg = "a view was read past its end; please report this"
            raise RuntimeError(msg) from signal
        loaded.take((yield from self._fetched(loaded.state, wanted)))

    def _fetched(self, state: ThreadState, span: Span) -> Work[tuple[Entry, ...]]:
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
            f"thread {brief(self.thread)}: the store does not give the entries {missing}, "
            "which its "
            f"state says are there (1-{state.seq}); its records are damaged"
        )
        raise CorruptLogError(msg)

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
