"""
Records: the lines of a log, and the changes they hold.

A record appends a message or decides something about earlier ones. Nothing in
a log is ever edited: what a strategy drops is still there, and a record that
reverts another one is one more record.
"""

from typing import TypeAlias

from attrs import evolve, field, frozen

from unabridged.json_values import Json, JsonValue, json_of
from unabridged.messages import Message
from unabridged.spans import NOTHING, Span

__all__ = [
    "Appended",
    "Body",
    "Change",
    "Compacted",
    "Drop",
    "Entry",
    "Fold",
    "Forked",
    "Hold",
    "Insert",
    "Note",
    "Noted",
    "Pinned",
    "Record",
    "Reverted",
    "stepped",
]


@frozen
class Drop:
    """
    These entries leave the view.

    >>> Drop(Span.between(1, 4), reason="before the last 2 messages", step="Window(2)").step
    'Window(2)'
    """

    sources: Span
    reason: str = field(default="", kw_only=True)
    step: str = field(default="", kw_only=True)
    replace: bool = field(default=False, kw_only=True)


@frozen
class Fold:
    """
    One message stands in for these entries.

    *summary* says whether it is a summary, which is the last thing that a cut
    gives up. By default one that stands for several entries is, unless it only
    joins them, as `MergeRuns` does.

    >>> from unabridged import system
    >>> fold = Fold(Span.between(1, 4), system("They said hello."))
    >>> fold.into.text, fold.summarizes
    ('They said hello.', True)
    """

    sources: Span
    into: Message
    reason: str = field(default="", kw_only=True)
    step: str = field(default="", kw_only=True)
    replace: bool = field(default=False, kw_only=True)
    summary: bool | None = field(default=None, kw_only=True)

    @property
    def summarizes(self) -> bool:
        """
        Whether it is a summary, as *summary* says or by default.
        """
        if self.summary is not None:
            return self.summary
        about = self.into.metadata.value if self.into.metadata else {}

        return "summary" in about or (len(self.sources) > 1 and "merged" not in about)


@frozen
class Insert:
    """
    A message is put in after the block of the entry *after* (0: at the head).

    >>> from unabridged import system
    >>> Insert(system("It is Monday."), after=0).after
    0
    """

    into: Message
    after: int = 0
    reason: str = field(default="", kw_only=True)
    step: str = field(default="", kw_only=True)
    replace: bool = field(default=False, kw_only=True)


@frozen
class Hold:
    """
    These entries are pinned for one projection.

    >>> Hold(Span.one(3), reason="recalled").reason
    'recalled'
    """

    sources: Span
    reason: str = field(default="", kw_only=True)
    step: str = field(default="", kw_only=True)
    replace: bool = field(default=False, kw_only=True)


Change: TypeAlias = Drop | Fold | Insert | Hold


def _note_value(value: JsonValue | Json) -> Json:
    return json_of(value)


@frozen
class Note:
    """
    A derived fact kept beside the messages: a model's answer, the place of a cut.

    It never alters the transcript.

    >>> Note("cut", "Window(40)", {"first": 21}).value.value
    {'first': 21}
    """

    kind: str
    key: str
    value: Json = field(converter=_note_value)
    sources: Span = NOTHING


@frozen
class Appended:
    """
    A message joins the thread as entry *seq* (0 until a store numbers it).

    >>> from unabridged import user
    >>> Appended(0, user("hi"), pinned=True).pinned
    True
    """

    seq: int
    message: Message
    pinned: bool = False


@frozen
class Compacted:
    """
    Changes are written back; they were worked out from the log up to record *upto*.

    >>> Compacted((Drop(Span.between(1, 4), reason="old", replace=True),), upto=9).upto
    9
    """

    changes: tuple[Change, ...]
    upto: int


@frozen
class Noted:
    """
    Notes are kept.

    >>> Noted((Note("cut", "Window(40)", {"first": 21}),)).notes[0].kind
    'cut'
    """

    notes: tuple[Note, ...]


@frozen
class Reverted:
    """
    Record *rec*, a `Compacted` or a `Reverted`, no longer counts.

    >>> Reverted(9).rec
    9
    """

    rec: int


@frozen
class Pinned:
    """
    These entries are pinned, or no longer.

    >>> Pinned(Span.one(1), on=False).on
    False
    """

    span: Span
    on: bool = True


@frozen
class Forked:
    """
    The thread goes on from another one: all of *thread* up to its record *rec* is before this.

    Always the first record that a thread has of its own; it is numbered after *rec*.

    >>> Forked("main", 9).thread
    'main'
    """

    thread: str
    rec: int


Body: TypeAlias = Appended | Compacted | Noted | Reverted | Pinned | Forked


@frozen
class Record:
    """
    One line of a log: its number, when it was written (seconds since 1970), what it says.

    >>> Record(10, 1_800_000_000.0, Reverted(9)).body
    Reverted(rec=9)
    """

    rec: int
    at: float
    body: Body


@frozen
class Entry:
    """
    An appended message as the log holds it.

    *seq* numbers the entries of a thread from 1, *rec* its records. The last
    three fields are marks that follow from the log: the first entry of the
    block that this one joined when it came, the user message that opened its
    round (0: none), and the newest entry up to here with a user's words.

    >>> from unabridged import Memory, user
    >>> entry = Memory().append(user("hi")).entries[0]
    >>> entry.seq, entry.message.text
    (1, 'hi')
    """

    seq: int
    rec: int
    at: float
    message: Message
    pinned: bool = False
    head: int = field(default=0, kw_only=True, repr=False)
    opener: int = field(default=0, kw_only=True, repr=False)
    asked: int = field(default=0, kw_only=True, repr=False)


def stepped(change: Change, step: str) -> Change:
    """
    The change under the name of its *step*.
    """
    if isinstance(change, Drop):  # the commonest by far, and `evolve` takes four times as long
        return Drop(change.sources, reason=change.reason, step=step, replace=change.replace)

    return evolve(change, step=step)
