"""
One thread in memory: its lines by record number, its entries by entry number, its state.
"""

from collections.abc import Sequence

from unabridged.links import Marks
from unabridged.records import Appended, Body, Compacted, Entry, Pinned, Record, Reverted
from unabridged.states import ThreadState
from unabridged.stores.writing import advancing, entry_of, expired, without

__all__ = ["Held"]

_EMPTY = ThreadState()


class Held:
    """
    What a thread holds of its own, and for a fork what it reads on in: all of *parent* up to *rec*.

    *seq* is the newest entry of those, *state* what the thread comes to. *forks*
    are the threads that read on in this one, each with its newest entry of it.
    """

    def __init__(self, parent: "Held | None" = None, state: ThreadState = _EMPTY) -> None:
        self.parent = parent
        self.rec = state.rec
        self.seq = state.seq
        self.state = state
        self.forks: dict[str, int] = {}
        self._lines: dict[int, Record] = {}
        self._entries: dict[int, Entry] = {}
        self._ids: dict[str, tuple[int, ...]] = {}
        self._decided: list[Record] = []

    # -- what stores read

    def line(self, rec: int) -> Record | None:
        """
        The record of this number.
        """
        holder: Held | None = self
        while holder is not None and rec <= holder.rec:
            holder = holder.parent

        return holder._lines.get(rec) if holder is not None else None  # noqa: SLF001  its own kind

    def entry(self, seq: int) -> Entry | None:
        """
        The entry of this number.
        """
        return self._beside(seq).get(seq)

    def _beside(self, seq: int) -> dict[int, Entry]:
        """
        The entries among which this one is, if it is there.
        """
        holder: Held | None = self
        while holder is not None and seq <= holder.seq:
            holder = holder.parent

        return holder._entries if holder is not None else {}  # noqa: SLF001

    def find(self, message_id: str) -> Entry | None:
        """
        The newest entry whose message has this id.
        """
        holder: Held | None = self
        newest = self.state.seq
        while holder is not None:
            for seq in reversed(holder._ids.get(message_id, ())):  # noqa: SLF001
                if seq <= newest:
                    return holder._entries[seq]  # noqa: SLF001
            newest, holder = min(newest, holder.seq), holder.parent

        return None

    def decisions(self) -> Sequence[Record]:
        """
        As `states.Log.decisions`.
        """
        if self.parent is None:
            return self._decided
        found: list[list[Record]] = []
        holder: Held | None = self
        newest = self.state.rec
        while holder is not None:
            found.append([one for one in holder._decided if one.rec <= newest])  # noqa: SLF001
            newest, holder = min(newest, holder.rec), holder.parent

        return [record for records in reversed(found) for record in records]

    def marks(self, seq: int) -> Marks:
        """
        As `states.Log.marks`.
        """
        entry = self._beside(seq)[seq]
        return Marks(entry.head, entry.opener, entry.asked)

    def crossed(self, seq: int) -> bool:
        """
        As `states.Log.crossed`.
        """
        later = map(self.entry, range(seq + 1, self.state.seq + 1))
        return any(entry is not None and entry.head <= seq for entry in later)

    # -- what they write

    def take(
        self, bodies: Sequence[Body], at: float
    ) -> tuple[tuple[Record, ...], tuple[Entry, ...]]:
        """
        Number these and keep them.
        """
        records: list[Record] = []
        entries: list[Entry] = []
        state = self.state
        for record, marks, after in advancing(state, bodies, at, self):
            self._lines[record.rec] = record
            match record.body:
                case Appended(seq, message) if marks is not None:
                    entry = self._entries[seq] = entry_of(record, marks)
                    entries.append(entry)
                    if message.id is not None:
                        self._ids[message.id] = (*self._ids.get(message.id, ()), seq)
                case Compacted() | Reverted() | Pinned():
                    self._decided.append(record)
                case _:
                    pass
            records.append(record)
            self.state = after

        return tuple(records), tuple(entries)

    def prune(self, retain: int, *, shared: int) -> None:
        """
        Destroy older blocks of its own until it holds *retain* entries beyond the *shared* ones.
        """
        gone = expired(self.state, retain, lambda seq: self._entries[seq].head, shared=shared)
        if not gone:
            return
        for seq in gone:
            entry = self._entries.pop(seq)
            del self._lines[entry.rec]
            if (id_ := entry.message.id) is not None:
                self._ids[id_] = tuple(one for one in self._ids[id_] if one != seq)
                if not self._ids[id_]:
                    del self._ids[id_]
        self.state = without(self.state, gone)
