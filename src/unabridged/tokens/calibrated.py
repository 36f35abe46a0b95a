"""
A counter that is corrected by what the provider bills.

The reports are notes in the log, so a correction outlives the process and all
who share the thread have it, and a strategy's result still follows from its
view and context alone.
"""

import re
from collections.abc import Iterable, Iterator
from inspect import isfunction

from attrs import field, frozen

from unabridged.errors import ConfigError
from unabridged.messages import Message
from unabridged.records import Note
from unabridged.text import brief
from unabridged.tokens.counters import Bound, TokenCounter
from unabridged.tokens.fit import NO_FIT, Fit, fitted
from unabridged.tokens.kept import Kept, kept

__all__ = ["KIND", "Calibrated", "Corrected", "calibrated"]

KIND = "usage"
_FUNCTION = re.compile(r"<function ([\w.]+) at 0x[0-9A-Fa-f]+>")
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_NAMELESS = re.compile(r"<lambda>|<locals>|" + _ADDRESS.pattern)


def _counts(value: TokenCounter) -> Kept:
    if not callable(value) or isinstance(value, Calibrated):
        msg = f"calibrated: expected a counter, from message to int, got {brief(value)}"
        raise ConfigError(msg)

    return kept(value)


def _name(_instance: object, _attribute: object, value: object) -> None:
    if not isinstance(value, str):
        msg = f"calibrated: `model` must be text, got {brief(value)}"
        raise ConfigError(msg)


@frozen(repr=False)
class Calibrated:
    """
    The counter that `calibrated` makes; called by itself it counts as *counter* does.

    >>> from unabridged.tokens import words
    >>> Calibrated(words, model="a-model")
    calibrated(tokens.words, model='a-model')
    """

    counts: Kept = field(converter=_counts)
    model: str = field(default="", validator=_name, kw_only=True)

    def __attrs_post_init__(self) -> None:
        name = _called(self.counter)
        if not self.model and (found := _NAMELESS.search(name)):
            what = "an object without a repr" if found[0].startswith(" at") else found[0]
            msg = (
                f"calibrated: the counter {name} has no name by which its notes in a log are told "
                f"from those of another ({what}); name the model it counts for, as in "
                "calibrated(counter, model='…'), or give a function of a module"
            )
            raise ConfigError(msg)

    def __call__(self, message: Message, /) -> int:
        """
        The tokens of the message, not corrected: that takes the notes of a thread.
        """
        return self.counts(message)

    @property
    def bound(self) -> Bound:
        """
        An estimate, whatever the counter that is corrected promises.
        """
        return "estimate"

    @property
    def counter(self) -> TokenCounter:
        """
        The counter that is corrected.
        """
        return self.counts.counter

    @property
    def key(self) -> str:
        """
        The key of its notes in the log.
        """
        name = _called(self.counter)
        if self.model:
            return f"{self.model}: {_ADDRESS.sub('', name)}"  # another process has it elsewhere

        return name

    def corrected(self, notes: Iterable[Note]) -> "Corrected":
        """
        The counter as the *notes* of a thread correct it: `view.notes`, for a run without a memory.

        >>> from unabridged.messages import user
        >>> from unabridged.tokens import words
        >>> counter = calibrated(words)
        >>> notes = [counter.note(estimated=100, billed=130)]
        >>> counter.corrected(notes)(user("one two three four five six seven eight nine ten"))
        13
        """
        key = self.key
        mine = (note for note in notes if note.kind == KIND and note.key == key)

        return Corrected(self.counts, fitted(tuple(_pairs(mine))))

    def note(self, *, estimated: int, billed: int) -> Note:
        """
        What is kept of a report: what the messages were estimated at, and what was billed.
        """
        return Note(KIND, self.key, {"tokens": [estimated, billed]})

    def __repr__(self) -> str:
        model = f", model={self.model!r}" if self.model else ""
        return f"calibrated({self.counter!r}{model})"


def _called(counter: TokenCounter) -> str:
    """
    What a counter is called in every process: functions by their names.
    """
    module = counter.__module__ if isfunction(counter) else ""
    name = _FUNCTION.sub(r"\1", repr(counter))

    return f"{module}.{name}" if module and not name.startswith("<") else name


def _pairs(notes: Iterable[Note]) -> Iterator[tuple[int, int]]:
    for note in notes:
        match note.value.value:
            case {"tokens": [int(estimated), int(billed)]} if estimated > 0:
                yield estimated, billed
            case _:
                continue  # somebody else's note of the same name


def calibrated(counter: TokenCounter, *, model: str = "") -> Calibrated:
    """
    Let what the provider reports (`Memory.report_usage`) correct a *counter* from then on.

    For a model whose tokenizer you have not got: the estimate follows what is
    billed within a few turns. Each report is a note in the log, of which the
    newest 32 count, so the correction outlives the process; kept counts stay.

    The notes are fitted by a factor, which every count is multiplied by and
    rounded up, and an offset for what is sent beside the messages (tools, a
    prompt, priming), which the count of a message must not carry; see
    `unabridged.tokens.fit`. `result.tokens` is corrected as a whole, rounded
    once, and never above the sum of the counts; `result.explain()` says the
    offset, which belongs in the `Budget`. Until the first report, and outside a
    memory, it counts as *counter* does. As a strategy's own `count=` it is not
    corrected: give it to the memory.

    Notes go by the counter's name, so that another process knows them. Name the
    *model* where one thread is sent to several, for then each has its own, and
    for a counter that has no name: a lambda, a function made in a function, an
    object without a repr of its own.

    Raises:
        ConfigError: *counter* is no function, is calibrated already, or has no
            name and no *model*.

    >>> from unabridged import Memory, tokens, user
    >>> memory = Memory(count=tokens.calibrated(tokens.words))
    >>> _ = memory.append(user("one two three four five six seven eight nine ten"))
    >>> _ = memory.report_usage(memory.context(), input_tokens=13)
    >>> memory.context().tokens
    13
    """
    return Calibrated(counter, model=model)


class Corrected(Kept):
    """
    The kept counts of a counter times a factor.

    >>> from unabridged.messages import user
    >>> from unabridged.tokens import words
    >>> count = Corrected(kept(words), Fit(1_500_000))
    >>> count(user("hi")), count.total([user("hi"), user("ho")])
    (2, 3)
    """

    __slots__ = ("fit", "inner")

    def __init__(self, inner: Kept, fit: Fit = NO_FIT) -> None:
        super().__init__(inner.counter)
        self.inner = inner
        self.fit = fit
        self.count_of = self.__call__

    def __call__(self, message: Message, /) -> int:
        """
        The tokens of the message, corrected and rounded up.
        """
        return self.fit.scaled(self.inner(message))

    def total(self, messages: Iterable[Message]) -> int:
        """
        The tokens of messages together, corrected as a whole.
        """
        return self.fit.scaled(self.inner.total(messages))

    def knows(self, message: Message) -> bool:
        """
        Whether the count of the message is kept.
        """
        return self.inner.knows(message)

    def learn(self, message: Message, count: int) -> None:
        """
        Keep a count that was worked out elsewhere.
        """
        self.inner.learn(message, count)

    def __len__(self) -> int:
        return len(self.inner)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kept):
            return NotImplemented
        fit = other.fit if isinstance(other, Corrected) else None

        return (self.counter, self.fit) == (other.counter, fit)

    def __hash__(self) -> int:
        return hash((Corrected, self.counter, self.fit))

    def __repr__(self) -> str:
        return f"Corrected({self.counter!r}, {self.fit!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return Corrected, (self.inner, self.fit)
