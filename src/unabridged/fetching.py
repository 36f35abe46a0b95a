"""
Fetching what an entry held, whole or in part, and finding words in the transcript.

Both read the log, never a view: what was cleared, folded or dropped is there.
What a person took out is not given, unless that is asked for.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from attrs import field, frozen

from unabridged.errors import ConfigError
from unabridged.finding import EFFORT, Found, around, folded, occurrences, words_of
from unabridged.handles import Handle, pieces_of
from unabridged.messages import Message
from unabridged.originals import original
from unabridged.records import Entry
from unabridged.spans import Span
from unabridged.states import ThreadState
from unabridged.text import TOO_LARGE, brief, got
from unabridged.work import Do, Work

__all__ = ["Excerpt", "Findings", "fetch", "find"]

PLACES = 20  # of a text that are shown; how many there are is said
MARGIN = 80  # characters on each side of one
SLICE = 256  # entries that are read at once, at most
FEWEST = 16  # which are read first: nobody knows how long they are
FAR = 8  # slices behind which the call of a result is looked for no more
EACH = 100  # characters that an entry costs beside its text
MOST_HITS = 100
MOST_WORDS = 32  # each is looked for in each entry
MOST_LETTERS = 5_000


@frozen
class Excerpt:
    """
    A part of what an entry held: *text* from *start* to before *stop*, of *length* characters.

    *found* are the places where words were found in it, at most 20 of them, each
    with some characters around; *hits* says how many there are. Of a text that takes
    long to search a part is searched: *more* is the character where the search goes
    on, 0 if it came to the end.

    >>> from unabridged import Memory, user
    >>> memory = Memory()
    >>> _ = memory.append(user("My name is Ana."))
    >>> memory.fetch("1", start=3, length=4)
    Excerpt(handle='1', text='name', start=3, stop=7, length=15, found=(), hits=0, more=0)
    """

    handle: str
    text: str
    start: int
    stop: int
    length: int
    found: "tuple[Excerpt, ...]" = ()
    hits: int = 0
    more: int = field(default=0, kw_only=True)


@frozen
class Findings:
    """
    Where words were found in a transcript, newest entry first.

    *every* says whether each of the entries holds all of the words; where none
    does, those that hold some are given. One call reads a few million characters:
    *more* is the entry before which the search goes on, also where nothing is found
    yet; 0 if it is at its end.

    >>> Findings().found
    ()
    """

    found: tuple[Excerpt, ...] = ()
    every: bool = field(default=True, kw_only=True)
    more: int = field(default=0, kw_only=True)


def fetch(  # noqa: PLR0913  what is wanted of it
    thread: str,
    handle: str | int,
    start: int,
    length: int | None,
    find: str | None,
    *,
    retracted: bool,
) -> Work[Excerpt]:
    """
    What the handle stands for, from character *start* on.

    Raises:
        ConfigError: it is no handle, there is no such entry or part, a person
            took it out, or it has no such characters.
    """
    known = Handle.read(handle)
    if known is None:
        msg = (
            f"fetch: {brief(handle)} is no handle; one is the number of an entry, such as '12', or "
            "'12.2' for the second of several calls or results in it"
        )
        raise ConfigError(msg)
    for name, number in (("start", start), ("length", 0 if length is None else length)):
        _number(f"fetch: `{name}`", number)
    if find is not None:
        _words(find, "fetch: `find`")
    entry = yield from _entry(thread, known, retracted=retracted)
    pieces = len(pieces_of(entry.message))
    if known.part > pieces:
        several = f"it has '{known.seq}.1' to '{known.seq}.{pieces}', and " if pieces else ""
        msg = f"fetch: there is no part '{known}'; {several}'{known.seq}' is the whole entry"
        raise ConfigError(msg)
    text = original(entry.message, known.part)
    if start > len(text):
        told = "1 character" if len(text) == 1 else f"{len(text)} characters"
        msg = f"fetch: '{known}' has {told}, so `start` cannot be {start}"
        raise ConfigError(msg)
    stop = len(text) if length is None else min(len(text), start + length)
    found = Found([], 0, stop, 0) if find is None else occurrences(text, find, start, stop)

    return Excerpt(
        str(known),
        text[start:stop],
        start,
        stop,
        len(text),
        tuple(_excerpts(str(known), text, found.places)),
        found.hits,
        more=found.stop if found.stop < stop else 0,
    )


def _entry(thread: str, handle: Handle, *, retracted: bool) -> Work[Entry]:
    """
    The entry of a handle.
    """
    state: ThreadState = yield Do("state", (thread,))
    seq = handle.seq
    if seq > state.seq:
        there = f"they are 1 to {state.seq}" if state.seq else "it holds none"
        msg = f"fetch: thread {brief(thread)} has no entry {seq}; {there}"
        raise ConfigError(msg)
    if not retracted and seq in state.retracted:
        msg = (
            f"fetch: entry {seq} was taken out of thread {brief(thread)} by hand (retract, rewind "
            "or clear); only people read it, by retracted=True"
        )
        raise ConfigError(msg)
    found = yield Do("entries", (thread, Span.one(seq)))
    if not found:
        msg = (
            f"fetch: entry {seq} of thread {brief(thread)} was deleted; its store keeps only the "
            "newest"
        )
        raise ConfigError(msg)
    entry: Entry = found[0]

    return entry


def find(  # noqa: PLR0913  what is wanted of it
    thread: str,
    query: str,
    last: int,
    before: int | None,
    seen: frozenset[Message],
    exclude: str | Iterable[str],
    *,
    retracted: bool,
) -> Work[Findings]:
    """
    The newest *last* entries before *before* that hold all words of *query*.

    Messages in *seen* are passed over, and what tools of names in *exclude* were asked and gave.

    The log is read in slices, from the end, for as long as the effort of a call lasts; an
    entry is read to its end. Where no entry holds all, the newest that hold some.

    Raises:
        ConfigError: there are no words, or a number is wrong.
    """
    words = _words(query, "find: `query`")
    names = _names(exclude)
    _number("find: `last`", last, least=1, most=MOST_HITS)
    if before is not None:
        _number("find: `before`", before, least=1)
    state: ThreadState = yield Do("state", (thread,))
    stop = state.seq if before is None else min(state.seq, before - 1)
    left = Span.between(1, stop) - state.lost
    left = left if retracted else left - state.retracted
    search = _Search(query, words, last, names, seen)
    at, size = 0, FEWEST
    while left and not search.done:
        entries, left = yield from _newest(thread, left, size, with_calls=bool(names))
        letters = search.read(entries)
        size = min(SLICE, 2 * size) if letters < EFFORT // 8 else max(1, size // 4)
        at = search.at
    found = search.every or search.some
    more = int(found[-1].handle) if len(found) == last else at if search.done or left else 0

    return Findings(
        tuple(found), every=bool(search.every) or not search.some, more=more if more > 1 else 0
    )


class _Search:
    """
    What was found so far, *at* which entry it is, and whether it has done enough.
    """

    def __init__(
        self,
        query: str,
        words: tuple[str, ...],
        last: int,
        names: tuple[str, ...],
        seen: frozenset[Message],
    ) -> None:
        self.every: list[Excerpt] = []
        self.some: list[Excerpt] = []
        self.at = 0
        self._query, self._last, self._names, self._seen = query, last, names, seen
        self._words = tuple(dict.fromkeys(map(folded, words)))
        self._effort = EFFORT

    @property
    def done(self) -> bool:
        """
        Whether the call has found or read enough.
        """
        return len(self.every) == self._last or self._effort <= 0

    def read(self, entries: list[Entry]) -> int:
        """
        Look through entries, the newest first; how many letters were read.
        """
        passed = _of_tools(entries, self._names) if self._names else frozenset[int]()
        letters = 0
        for entry in reversed(entries):
            if self.done:
                break
            self.at = entry.seq
            out = entry.seq in passed or entry.message in self._seen
            text = "" if out else original(entry.message)
            letters += len(text)
            self._effort -= len(text) * (len(self._words) + 1) + EACH
            if text:
                self._look(entry.seq, text)

        return letters

    def _look(self, seq: int, text: str) -> None:
        plain = folded(text)
        places = [at for word in self._words if (at := plain.find(word)) >= 0]
        if len(places) == len(self._words):
            self.every.append(self._hit(seq, text, min(places)))
        elif places and not self.every and len(self.some) < self._last:
            self.some.append(self._hit(seq, text, min(places)))

    def _hit(self, seq: int, text: str, first: int) -> Excerpt:
        """
        The part of an entry's text where the words stand first, together if they do.
        """
        effort = max(EFFORT // 8, self._effort)
        found = occurrences(text, self._query, most=1, effort=effort)
        if not found.places:  # they stand behind all that was searched
            found = occurrences(text, self._query, first, most=1, effort=effort)
        self._effort -= found.effort
        place = around(text, found.places[0], MARGIN)
        part = text[place.start : place.stop]

        return Excerpt(str(Handle(seq)), part, place.start, place.stop, len(text), hits=found.hits)


def _newest(
    thread: str, left: Span, size: int, *, with_calls: bool
) -> Work[tuple[list[Entry], Span]]:
    """
    The newest of the entries *left*, back to the calls of results among them, and which then are.
    """
    slices: list[tuple[Entry, ...]] = []
    while left:
        newest = left.tail(size)
        slices.append((yield Do("entries", (thread, newest))))
        left = left - newest
        size = SLICE
        if not with_calls or len(slices) > FAR:
            break
        if not _lacks_calls([entry for each in reversed(slices) for entry in each]):
            break

    return [entry for each in reversed(slices) for entry in each], left


def _lacks_calls(entries: Iterable[Entry]) -> bool:
    """
    Whether the call of a result among these stands before the first of them.
    """
    first = 0
    called: set[str] = set()
    for entry in entries:
        first = first or entry.seq
        results = entry.message.tool_results
        if entry.head < first and any(result.call_id not in called for result in results):
            return True
        called |= {call.id for call in entry.message.tool_calls}

    return False


def _of_tools(entries: Iterable[Entry], names: tuple[str, ...]) -> frozenset[int]:
    """
    The entries, of a run of them, that call tools of these names, or hold what those gave.
    """
    called: dict[str, str] = {}
    found: set[int] = set()
    for entry in entries:
        message = entry.message
        used = [called.get(result.call_id) for result in message.tool_results]
        for call in message.tool_calls:
            called[call.id] = call.name
            used.append(call.name)
        if any(name in names for name in used):
            found.add(entry.seq)

    return frozenset(found)


def _excerpts(handle: str, text: str, places: list[range]) -> Iterator[Excerpt]:
    """
    The places with the text around them, the first twenty that no other shows.
    """
    shown: list[tuple[range, int]] = []
    for place in places:
        if shown and place.stop <= shown[-1][0].stop:
            shown[-1] = shown[-1][0], shown[-1][1] + 1
        elif len(shown) == PLACES:
            break
        else:
            shown.append((around(text, place, MARGIN), 1))
    for wide, hits in shown:
        part = text[wide.start : wide.stop]
        yield Excerpt(handle, part, wide.start, wide.stop, len(text), hits=hits)


def _words(query: object, name: str) -> tuple[str, ...]:
    """
    The words to look for, so few that looking for them takes no long time.
    """
    words = words_of(query) if isinstance(query, str) else ()
    if not words:
        msg = f"{name} takes words to look for, got {brief(query)}"
        raise ConfigError(msg)
    letters = len("".join(query.split())) if isinstance(query, str) else 0
    if len(words) > MOST_WORDS or letters > MOST_LETTERS:
        msg = (
            f"{name} takes up to {MOST_WORDS} words of {MOST_LETTERS:,} characters together, got "
            f"{len(words):,} of {letters:,}; give those that are rare"
        )
        raise ConfigError(msg)

    return words


def _names(exclude: object) -> tuple[str, ...]:
    names: tuple[Any, ...]
    try:
        names = (exclude,) if isinstance(exclude, str) else tuple(exclude)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001  whatever it is, it is no names
        names = (None,)
    if not all(isinstance(name, str) for name in names):
        msg = f"find: `exclude` takes the name of a tool, or several, got {brief(exclude)}"
        raise ConfigError(msg)

    return tuple(names)


def _number(name: str, number: object, *, least: int = 0, most: int | None = None) -> None:
    sound = isinstance(number, int) and not isinstance(number, bool)
    if not sound or not least <= number <= (TOO_LARGE - 1 if most is None else most):  # type: ignore[operator]
        much = "or more" if most is None else f"to {most}"
        msg = f"{name} takes an int of {least} {much}, {got(number)}"
        raise ConfigError(msg)
