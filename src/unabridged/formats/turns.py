"""
Messages on their way to a provider: each part still knows the entry it came from.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from attrs import evolve, frozen

from unabridged.errors import ConfigError
from unabridged.formats.extras import each
from unabridged.items import Item
from unabridged.messages import Message, Part, ToolCall, ToolResult
from unabridged.tool_loops import is_made_up

__all__ = [
    "LeftOut",
    "Problem",
    "Seen",
    "Turn",
    "as_joined",
    "as_seen",
    "calls_in",
    "pairs_of",
    "turns_of",
]

LeftOut = Callable[[Part, str], str]  # why an API cannot carry a part in a role; "" if it can

_SIDES = {"system": "system", "developer": "system", "assistant": "assistant", "tool": "tool"}
_NEVER_CALL = frozenset({"system", "user", "tool"})


@frozen
class Problem:
    """
    What a provider would refuse: the *rule*, the entry *seq*, and plain words.

    *seq* is the entry's number in a view, and the place from 1 in a list of
    messages; 0 stands for the whole, or for a message that was put in.

    >>> Problem("blank text", 3, "the text is blank").seq
    3
    """

    rule: str
    seq: int
    text: str


@frozen
class Turn:
    """
    A message, and the entry that each of its parts came from.

    >>> from unabridged.messages import user
    >>> turns_of([user("hi")])[0].seqs
    (1,)
    """

    message: Message
    seq: int
    seqs: tuple[int, ...]

    @property
    def side(self) -> str:
        """
        Who speaks, as all APIs have it: system, user, assistant, or a tool.
        """
        role = self.message.role
        if role in _SIDES:
            return _SIDES[role]

        return "assistant" if role != "user" and self.message.tool_calls else "user"

    def taking(self, places: Iterable[int]) -> "Turn":
        """
        The turn with only the parts at these places, in this order.
        """
        chosen = tuple(places)
        parts = tuple(self.message.parts[place] for place in chosen)

        return self.saying(parts, tuple(self.seqs[place] for place in chosen))

    def saying(self, parts: Sequence[Part], seqs: Sequence[int] = ()) -> "Turn":
        """
        The turn with other parts, each of the entry that stood there unless *seqs* says else.
        """
        message = evolve(self.message, parts=tuple(parts))

        return evolve(self, message=message, seqs=tuple(seqs) or self.seqs)


class Seen(NamedTuple):
    """
    A turn as a provider sees it: without the parts that its API cannot carry.

    >>> from unabridged.messages import user
    >>> as_seen(turns_of([user("hi")]), lambda part, role: "")[0].asks
    True
    """

    side: str
    parts: tuple[Part, ...]
    seqs: tuple[int, ...]
    seq: int
    message: Message

    @property
    def calls(self) -> tuple[tuple[ToolCall, int], ...]:
        """
        The calls in it, each with its entry; nobody but an assistant calls.
        """
        if self.side != "assistant":
            return ()
        both = zip(self.parts, self.seqs, strict=True)

        return tuple((part, seq) for part, seq in both if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[tuple[ToolResult, int], ...]:
        """
        The results in it, each with its entry.
        """
        both = zip(self.parts, self.seqs, strict=True)

        return tuple((part, seq) for part, seq in both if isinstance(part, ToolResult))

    @property
    def asks(self) -> bool:
        """
        Whether a user says something in it, beside results.
        """
        if self.side != "user":
            return False

        return not self.parts or any(not isinstance(part, ToolResult) for part in self.parts)


def turns_of(messages: Iterable[Message | Item]) -> tuple[Turn, ...]:
    """
    The messages, or the items of a view, as turns.

    Raises:
        ConfigError: something in it is neither.

    >>> turns_of(["hi"])
    Traceback (most recent call last):
    unabridged.errors.ConfigError: messages[0]: expected a Message or an item of a view, got str
    """
    turns: list[Turn] = []
    if not isinstance(messages, Iterable):
        hint = "; give the result's .view or .messages" if hasattr(type(messages), "view") else ""
        msg = f"messages: expected messages or a view, got {type(messages).__name__}{hint}"
        raise ConfigError(msg)
    known = messages if isinstance(messages, tuple | list) else each(messages)
    for at, given in enumerate(known):
        match given:
            case Message():
                message, seq = given, at + 1
            case Item():
                message, seq = given.message, given.first
            case _:
                wrong = type(given).__name__
                msg = f"messages[{at}]: expected a Message or an item of a view, got {wrong}"
                raise ConfigError(msg)
        turns.append(Turn(message, seq, (seq,) * len(message.parts)))

    return tuple(turns)


def as_seen(turns: Iterable[Turn], left_out: LeftOut) -> list[Seen]:
    """
    What of the turns a provider sees; a turn of which it sees nothing is not there.

    >>> [turn.side for turn in as_seen(turns_of([Message("critic", "no")]), lambda part, role: "")]
    ['user']
    """
    seen: list[Seen] = []
    for turn in turns:
        kept = sent(turn, left_out)
        if len(kept) == len(turn.seqs):
            seen.append(Seen(turn.side, turn.message.parts, turn.seqs, turn.seq, turn.message))
        elif kept:
            parts = tuple(turn.message.parts[place] for place in kept)
            seqs = tuple(turn.seqs[place] for place in kept)
            seen.append(Seen(turn.side, parts, seqs, turn.seq, turn.message))

    return seen


def sent(turn: Turn, left_out: LeftOut) -> list[int]:
    """
    The places of the parts that a provider sees.

    >>> sent(turns_of([Message("user", "hi")])[0], lambda part, role: "")
    [0]
    """
    role = turn.message.role

    return [at for at, part in enumerate(turn.message.parts) if not left_out(part, role)]


def as_joined(seen: Iterable[Seen], *, tools_only: bool = False) -> list[Seen]:
    """
    What a provider makes of turns that it joins by itself: neighbours of one role.

    With *tools_only* it joins tool messages alone, which are no turns of its own.

    >>> from unabridged.messages import user
    >>> turns = as_joined(as_seen(turns_of([user("a"), user("b")]), lambda part, role: ""))
    >>> [(turn.seq, len(turn.parts)) for turn in turns]
    [(1, 2)]
    """
    groups: list[list[Seen]] = []
    for turn in seen:
        before = groups[-1][-1] if groups else turn
        tools = turn.side == before.side == "tool"
        one = groups and before.parts and turn.parts and _same(before, turn)
        if one and (tools or not tools_only):
            groups[-1].append(turn)
        else:
            groups.append([turn])

    return [group[0] if len(group) == 1 else _as_one(group) for group in groups]


def _as_one(group: Sequence[Seen]) -> Seen:
    first = group[0]
    parts = tuple(part for turn in group for part in turn.parts)
    seqs = tuple(seq for turn in group for seq in turn.seqs)

    return Seen(
        "user" if first.side == "tool" else first.side, parts, seqs, first.seq, first.message
    )


def _same(before: Seen, turn: Seen) -> bool:
    sides = {"user" if each.side == "tool" else each.side for each in (before, turn)}

    return len(sides) == 1 and sides != {"system"}


def calls_in(turn: Turn) -> Iterator[tuple[int, ToolCall]]:
    """
    The calls in a turn that results may answer, each with its place among the parts.

    >>> from unabridged.testing import call
    >>> [place for place, _ in calls_in(turns_of([call("c1", "c2")])[0])]
    [0, 1]
    """
    if turn.side in _NEVER_CALL:
        return
    for place, part in enumerate(turn.message.parts):
        if isinstance(part, ToolCall):
            yield place, part


def pairs_of(turns: Sequence[Turn]) -> dict[tuple[int, int], tuple[int, int]]:
    """
    Which call each result answers: (turn, part) of the result to (turn, part) of the call.

    The rule of `unabridged.links`: the newest turn before it that calls with its
    id, and there the first call that is still open. A result without one is an
    orphan, and not in it. One that was made up stands behind all calls that are
    tied together, where an id may have been reused: it takes the oldest open one.

    >>> from unabridged.testing import call, result, user
    >>> pairs_of(turns_of([call("c1"), user("wait"), result("c1"), result("c1")]))
    {(2, 0): (0, 0)}
    """
    pairs: dict[tuple[int, int], tuple[int, int]] = {}
    newest: dict[str, list[tuple[int, int]]] = {}
    older: dict[str, list[tuple[int, int]]] = {}
    for at, turn in enumerate(turns):
        for place, part in enumerate(turn.message.parts):
            if not isinstance(part, ToolResult):
                continue
            if older.get(part.call_id) and is_made_up(turn.message):
                pairs[at, place] = older[part.call_id].pop(0)
            elif newest.get(part.call_id):
                pairs[at, place] = newest[part.call_id].pop()
        fresh: dict[str, list[tuple[int, int]]] = {}
        for place, call in calls_in(turn):
            fresh.setdefault(call.id, []).append((at, place))
        for id_ in fresh.keys() & newest.keys():
            older.setdefault(id_, []).extend(newest[id_][::-1])
        newest |= {id_: places[::-1] for id_, places in fresh.items()}

    return pairs
