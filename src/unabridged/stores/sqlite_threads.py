"""
The state of each thread, kept beside its records in an SQLite store and in this process.

What this process keeps is used as long as nobody else wrote to the file since,
or the thread's last record is still the same.
"""

import json

from attrs import define

from unabridged.codec_states import (
    VERSION,
    changed_parts,
    links_text,
    part_to_json,
    state_from_json,
)
from unabridged.errors import CorruptLogError
from unabridged.json_values import json_text
from unabridged.states import ThreadState
from unabridged.stores.sqlite_file import SqliteFile
from unabridged.stores.sqlite_rows import stored
from unabridged.text import brief

__all__ = ["Kept", "KeptThreads"]

_EMPTY = ThreadState()
_MOST, _LETTERS = 512, 32 * 2**20
_STATE = """
SELECT id, rec, seq, links, incarnation, part, body FROM threads
LEFT JOIN states ON states.thread = threads.id WHERE name = ?
"""
_PART = """
INSERT INTO states VALUES (?, ?, ?) ON CONFLICT (thread, part) DO UPDATE SET body = excluded.body
"""
_ID = "UPDATE threads SET incarnation = ? WHERE id = ?"


@define
class Kept:
    """
    A thread's number in the file and its state, as they were at a *version* of the file.
    """

    number: int
    state: ThreadState
    version: tuple[int, int]
    heads: dict[int, int] | None = None
    letters: int = 0


class KeptThreads:
    """
    Loads and saves the states of threads; at most 512 of them are kept, of 32 MB of text.
    """

    def __init__(self, file: SqliteFile) -> None:
        self._file = file
        self._kept: dict[str, Kept] = {}
        self._letters = 0

    def load(self, thread: str) -> Kept:
        """
        The thread as it is now; what is kept is used if nobody else wrote to it.
        """
        version = self._file.version()
        kept = self._kept.get(thread)
        if kept is not None and kept.version == version:
            return kept
        name = stored(thread)
        if kept is not None:
            rows = self._file.rows("SELECT id, rec FROM threads WHERE name = ?", (name,))
            if rows == [(kept.number, kept.state.rec)]:
                kept.version = version
                return kept
        rows = self._file.rows(_STATE, (name,))
        if not rows:
            return Kept(0, _EMPTY, version)
        number, rec, seq, links, incarnation, _, _ = rows[0]
        try:
            data = {"v": VERSION, "rec": rec, "seq": seq, "links": json.loads(links)}
            for row in rows:
                data = {**data, **json.loads(row[6] or "{}")}
            data["id"] = str(number) if incarnation is None else incarnation
            kept = Kept(number, state_from_json(data), version)
        except (CorruptLogError, TypeError, ValueError) as error:
            msg = (
                f"{self._file.path}: thread {brief(thread)}, the state kept beside record {rec}: "
                f"{error}"
            )
            raise CorruptLogError(msg) from error
        self._keep(thread, kept, sum(len(row[6] or "") for row in rows))

        return kept

    def add(self, thread: str, origin: tuple[int, int, int] | None = None) -> int:
        """
        Make room for a new thread; its number.

        *origin* is the number of the thread it reads on in, up to which record and entry.
        """
        statement = "INSERT INTO threads (name, rec, seq, links) VALUES (?, 0, 0, '[]')"
        number = self._file.run(statement, (stored(thread),))
        if origin is not None:
            self._file.run("INSERT INTO forks VALUES (?, ?, ?, ?)", (number, *origin))

        return number

    def save(self, thread: str, kept: Kept, state: ThreadState) -> None:
        """
        Write what changed between the thread as it was kept and *state*.
        """
        self._file.run(
            "UPDATE threads SET rec = ?, seq = ?, links = ? WHERE id = ?",
            (state.rec, state.seq, links_text(state.links), kept.number),
        )
        letters = kept.letters
        for part in changed_parts(kept.state, state):
            if part == "id":
                self._file.run(_ID, (state.id, kept.number))
                continue
            text = json_text(part_to_json(state, part))
            self._file.run(_PART, (kept.number, part, text))
            letters = max(letters, len(text))
        kept.state = state
        self._keep(thread, kept, letters)

    def forget(self) -> None:
        """
        Keep nothing: what was kept may not be in the file.
        """
        self._kept.clear()
        self._letters = 0

    def _keep(self, thread: str, kept: Kept, letters: int) -> None:
        """
        Keep the newest; *letters* is about how long the text of its state is.
        """
        if (known := self._kept.pop(thread, None)) is not None:
            self._letters -= known.letters
        kept.letters = letters
        self._kept[thread] = kept
        self._letters += letters
        while len(self._kept) > 1 and (len(self._kept) > _MOST or self._letters > _LETTERS):
            self._letters -= self._kept.pop(next(iter(self._kept))).letters
