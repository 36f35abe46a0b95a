"""
The result of a strategy: the view before and the changes; all else follows from these.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import cast

from attrs import evolve, field, frozen

from unabridged.codec_messages import message_data
from unabridged.errors import ConfigError
from unabridged.explained import explanation, reason_lines
from unabridged.items import Item
from unabridged.json_values import json_text
from unabridged.messages import Message
from unabridged.overrun import Overrun
from unabridged.records import Change, Compacted, Note
from unabridged.states import PINNED_ROLES
from unabridged.text import brief
from unabridged.text.digests import digest, digests, written_digests
from unabridged.tokens import exact, kept
from unabridged.usage import Usage
from unabridged.views import View, apply
from unabridged.writable import written

__all__ = ["Prefix", "TrimResult"]


@frozen
class Prefix:
    """
    How much of the projection before is still the beginning of this one.

    *messages* and *tokens* of it, *out_of* so many messages. The projection
    before is the last one that this memory object made, or the one whose
    `TrimResult.prefix` was given to `Memory.context(previous=…)`: by that a web
    server that makes a memory for each request knows it too.

    >>> from unabridged import Memory, tokens, user
    >>> memory = Memory(count=tokens.words)
    >>> for text in ("hello there", "hello again"):
    ...     _ = memory.append(user(text))
    ...     result = memory.context()
    >>> result.kept
    Prefix(messages=1, tokens=2, out_of=1)
    >>> again = Memory(memory.store, count=tokens.words)
    >>> again.context(previous=result.prefix).kept
    Prefix(messages=2, tokens=4, out_of=2)
    """

    messages: int
    tokens: int
    out_of: int


@frozen(repr=False)
class TrimResult:
    """
    What a strategy or chain worked out: the view *before*, and the *changes* to it.

    *notes* are what it wants kept beside the messages, such as a model's answer;
    with *hide_system* the prompts are not among the `messages`. *over* says by
    how much what must stay is over a limit; *warnings* say what did not go as
    asked (that a prefix broke is told by `explain()` alone). *rec*
    is the record by which a memory wrote the changes back (0: none), *usage*
    what the provider reported (`Memory.report_usage`). *count* and *previous*
    are those of the context, *earlier* is a `prefix` that was given in place of
    *previous*; *ended* is the last step's result, whose view is the one after
    these changes.

    >>> from unabridged import Window, run
    >>> from unabridged.testing import user, view_of
    >>> result = run(Window(1), view_of([user("a"), user("b")]))
    >>> print(result.text())
    user: b
    >>> result.why(1)
    'entry 1 left by Window(1): before the last 1 message'
    >>> result
    TrimResult(1 of 2 messages)
    """

    before: View
    changes: tuple[Change, ...] = ()
    notes: tuple[Note, ...] = ()
    over: Overrun | None = None
    warnings: tuple[str, ...] = ()
    hide_system: bool = field(default=False, kw_only=True)
    rec: int = field(default=0, eq=False, kw_only=True)
    usage: Usage | None = field(default=None, eq=False, kw_only=True)
    count: Callable[[Message], int] | None = field(default=None, eq=False, repr=False, kw_only=True)
    previous: tuple[Message, ...] = field(default=(), eq=False, repr=False, kw_only=True)
    earlier: str = field(default="", eq=False, repr=False, kw_only=True)
    ended: "tuple[View, tuple[Change, ...], TrimResult] | None" = field(
        default=None, eq=False, repr=False, kw_only=True
    )
    # each context reads these two, and a cached property of a slotted class is found at a detour
    _view: View | None = field(default=None, init=False, eq=False, repr=False)
    _messages: tuple[Message, ...] | None = field(default=None, init=False, eq=False, repr=False)
    # and so is its docstring
    _tokens: int | None = field(default=None, init=False, eq=False, repr=False)
    _kept: Prefix | None = field(default=None, init=False, eq=False, repr=False)

    @property
    def view(self) -> View:
        """
        The view after the changes.
        """
        view = self._view
        if view is None:
            view = self._worked_out()
            object.__setattr__(self, "_view", view)

        return view

    def _worked_out(self) -> View:
        if self.ended is not None:
            before, changes, last = self.ended
            if before is self.before and changes is self.changes:
                return last.view

        return apply(self.before, self.changes)

    @property
    def messages(self) -> tuple[Message, ...]:
        """
        What goes to the model.
        """
        messages = self._messages
        if messages is None:
            hides = self.hide_system
            messages = tuple([i.message for i in self.sent]) if hides else self.view.messages
            object.__setattr__(self, "_messages", messages)

        return messages

    @property
    def sent(self) -> tuple[Item, ...]:
        """
        The items whose messages go to the model: those of the view, less the prompts it hides.
        """
        if not self.hide_system:
            return tuple(self.view)

        return tuple(item for item in self.view if not _is_prompt(item))

    @property
    def replace(self) -> bool:
        """
        Whether a change asks to be written back.
        """
        return any(change.replace for change in self.changes)

    @property
    def tokens(self) -> int:
        """
        The tokens of the messages, by the context's counter.
        """
        tokens = self._tokens
        if tokens is None:
            tokens = self._total(self.messages)
            object.__setattr__(self, "_tokens", tokens)

        return tokens

    @property
    def estimated(self) -> int:
        """
        The tokens that the provider is expected to bill for the request.

        Those of the messages, and with `tokens.calibrated` what it was found to
        bill each time for what is sent beside them.
        """
        fit = getattr(self.count, "fit", None)

        return self.tokens + (0 if fit is None else fit.offset)

    @property
    def kept(self) -> Prefix:
        """
        How much of the projection before is still the beginning of this one.
        """
        if self._kept is None:
            object.__setattr__(self, "_kept", self._compared())

        return cast("Prefix", self._kept)

    def _compared(self) -> Prefix:
        messages = self.messages
        before = len(self._earlier if self.earlier else self.previous)
        most = min(len(messages), before)
        same = next((n for n in range(most) if not self.stood_before(n, messages[n])), most)

        return Prefix(same, self._total(messages[:same]), before)

    @property
    def prefix(self) -> str:
        """
        What was sent, in a few letters a message, for `Memory.context(previous=…)` of next time.

        A text that any session, cookie or column can hold. It is no secret, and
        nobody can read a message out of it; the log keeps nothing of it.

        >>> from unabridged import Memory, user
        >>> memory = Memory()
        >>> _ = memory.append(user("a"), user("b"))
        >>> len(memory.context().prefix)
        18
        """
        return written_digests(map(_whole_text, self.messages))

    def stood_before(self, place: int, message: Message) -> bool:
        """
        Whether the projection before had this message at that place.
        """
        if self.earlier:
            return self._earlier[place] == digest(_whole_text(message))

        return self.previous[place] == message

    @cached_property
    def _earlier(self) -> tuple[str, ...]:
        return digests(self.earlier, "earlier= takes a result's `prefix`") if self.earlier else ()

    def text(self, names: Mapping[str, str] | None = None) -> str:
        """
        The messages as lines of text; *names* words the roles, as in `{"user": "Human"}`.
        """
        if names is not None and not isinstance(names, Mapping):
            msg = f"text: `names` is a dict of roles, as in {{'user': 'Human'}}, got {brief(names)}"
            raise ConfigError(msg)
        names = names or {}
        return "\n".join(
            names.get(message.role, message.role) + str(message).removeprefix(message.role)
            for message in self.messages
        )

    def then(self, other: "TrimResult") -> "TrimResult":
        """
        The result followed by one that was worked out from its view.
        """
        return evolve(
            self,
            changes=self.changes + other.changes,
            notes=self.notes + other.notes,
            over=other.over or self.over,
            warnings=self.warnings + other.warnings,
        )

    def why(self, seq: int) -> str:
        """
        Why entry *seq* is or is not in the view: a line for each change that names it, in order.
        """
        return "\n".join(reason_lines(self.before, self.changes, self.view, seq))

    def explain(self) -> str:
        """
        What left and why, step by step, for people to read.
        """
        return explanation(self)

    def record(self, *, replace: bool = False) -> Compacted | None:
        """
        What writes the changes back: those marked `replace`, or with *replace* all that can be.

        None if there is nothing to write. The drops of earlier steps are written
        with a marked change, or old messages would come back in place of newer
        ones. What holds or inserts only ever projects.
        """
        changes, _ = written(self.before, self.changes, everything=replace)
        return Compacted(changes, self.before.head) if changes else None

    def __repr__(self) -> str:
        given = {name: getattr(self, name) for name in ("rec", "over", "warnings", "usage")}
        told = [f", {name}={value!r}" for name, value in given.items() if value]

        return f"TrimResult({len(self.view)} of {len(self.before)} messages{''.join(told)})"

    def _total(self, messages: Iterable[Message]) -> int:
        return kept(exact() if self.count is None else self.count).total(messages)


def _is_prompt(item: Item) -> bool:
    """
    Whether it is a prompt, reworded or not; a summary is none, also of a single entry.
    """
    if item.message.role not in PINNED_ROLES or item.wide:
        return False

    return bool(item.pin) or (bool(item.sources) and not item.stands_in)


def _whole_text(message: Message) -> str:
    return json_text(message_data(message))
