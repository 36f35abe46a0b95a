"""
Menders of order: results go home, instructions and roles become what an API takes.

A mender is one function: turns in, turns out, and a line in the report for
each thing it did. None of them drops a message.
"""

from collections.abc import Sequence

from attrs import evolve

from unabridged.formats.provider import Mend, Provider
from unabridged.formats.rules_of_content import ROLES, is_blank
from unabridged.formats.rules_of_order import spoken_from
from unabridged.formats.turns import Turn, as_seen, pairs_of, sent
from unabridged.messages import Message, Part, Text, ToolResult, user
from unabridged.text import brief, word

__all__ = [
    "bridge_results",
    "home_results",
    "join_neighbours",
    "known_roles",
    "open_on_user",
    "results_to_tools",
    "trim_the_end",
    "word_system",
]

BRIDGE = "(Results noted.)"
OPENING = "(The assistant speaks first.)"


def known_roles(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Turn a role that no API knows into an assistant's, if it calls, or a user's.

    >>> from unabridged.formats import mend
    >>> mend([Message("critic", "Too long.")], "openai_chat").messages[0].role
    'user'
    """
    mended: list[Turn] = []
    for turn in turns:
        if turn.message.role in ROLES:
            mended.append(turn)
            continue
        message = evolve(turn.message, role=turn.side)
        mended.append(evolve(turn, message=message))
        text = f"the role {brief(turn.message.role)} goes as {turn.side!r}"
        report.append(Mend("role", turn.seq, text))

    return mended


def home_results(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Move results right after the turn that called, and before what else stands there.

    >>> from unabridged.formats import mend
    >>> from unabridged.testing import call, result
    >>> late = [user("hi"), call("c1"), user("Wait!"), result("c1", "sunny")]
    >>> [message.role for message in mend(late, "openai_chat").messages]
    ['user', 'assistant', 'tool', 'user']
    """
    guests: dict[int, dict[int, list[int]]] = {}  # caller, turn, places of its results in it
    for (at, place), (caller, _) in pairs_of(turns).items():
        guests.setdefault(caller, {}).setdefault(at, []).append(place)
    moved = _moved(turns, guests, api)
    if not moved:
        return turns

    away: dict[int, set[int]] = {}
    for there in guests.values():
        for at, places in there.items():
            away.setdefault(at, set()).update(places)
    mended: list[Turn] = []
    for at, turn in enumerate(turns):
        stay = [place for place in range(len(turn.seqs)) if place not in away.get(at, ())]
        if len(stay) == len(turn.seqs):
            mended.append(turn)
        elif all(is_blank(turn.message.parts[place], api) for place in stay):
            report.extend(
                Mend("filled", turn.seqs[place], "a text without words") for place in stay
            )
        else:
            mended.append(turn.taking(stay))
        mended.extend(
            _as_results(turns[there].taking(places))
            for there, places in sorted(guests.get(at, {}).items())
        )
    for id_, seq in moved:
        report.append(Mend("moved", seq, f"the result of `{word(id_)}` goes right after its call"))

    return mended


def _moved(
    turns: list[Turn], guests: dict[int, dict[int, list[int]]], api: Provider
) -> list[tuple[str, int]]:
    """
    The results that do not stand in the front of the turns right after their caller.
    """
    unseen = {  # a user's of which nothing can be sent will say so
        at
        for at, turn in enumerate(turns)
        if turn.side == "assistant" and turn.seqs and not sent(turn, api.left_out)
    }
    found: list[tuple[str, int]] = []
    for caller, there in guests.items():
        home = caller + 1
        for at, places in sorted(there.items()):
            while home in unseen:
                home += 1
            if at == home and places == list(range(len(places))) and turns[at].side != "assistant":
                home += 1 if len(places) == len(turns[at].seqs) else 0
                continue
            for place in places:
                result = turns[at].message.parts[place]
                if isinstance(result, ToolResult):
                    found.append((result.call_id, turns[at].seqs[place]))

    return sorted(found, key=lambda moved: moved[1])


def _as_results(turn: Turn) -> Turn:
    if turn.side != "assistant":
        return turn

    return evolve(turn, message=Message("tool", turn.message.parts))


def word_system(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Turn instructions in the middle into a user's message that marks them as such.

    They stay where they were said, so that what came before them keeps its
    meaning, and its place in the provider's cache.

    >>> from unabridged.formats import mend
    >>> from unabridged.messages import system
    >>> turns = [user("hi"), system("Be brief."), user("Well?")]
    >>> print(mend(turns, "mistral").messages[0].parts[1].text)
    <system>
    Be brief.
    </system>
    """
    start = spoken_from([(turn.side, api.keeps_system(turn.message)) for turn in turns])
    mended = turns[:start]
    for turn in turns[start:]:
        if turn.side != "system" or api.keeps_system(turn.message):
            mended.append(turn)
            continue
        words = [part for part in turn.message.parts if not _is_white(part)]
        if not words:
            report.append(Mend("left out", turn.seq, "system text in the middle without words"))
            continue
        turn = turn.taking(  # noqa: PLW2901
            at for at, part in enumerate(turn.message.parts) if not _is_white(part)
        )
        parts = tuple(
            Text(f"<system>\n{part.text}\n</system>") if isinstance(part, Text) else part
            for part in turn.message.parts
        )
        mended.append(Turn(Message("user", parts), turn.seq, turn.seqs))
        report.append(Mend("worded", turn.seq, "system text in the middle goes as a user's"))

    return mended


def _is_white(part: Part) -> bool:
    return isinstance(part, Text) and not part.text.strip()


def join_neighbours(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Make neighbours of one role one turn, with the results in it first.

    >>> from unabridged.formats import mend
    >>> [m.text for m in mend([user("a"), user("b")], "bedrock").messages]
    ['ab']
    """
    groups: list[list[Turn]] = []  # of turns that become one
    newest = -1  # the place of the newest group that the provider sees
    for turn in turns:
        if turn.seqs and not sent(turn, api.left_out):
            groups.append([turn])
            continue
        before = groups[newest][-1] if newest >= 0 else None
        if before is None or not _joins(before, turn, api):
            newest = len(groups)
            groups.append([turn])
            continue
        groups[newest].append(turn)
        if turn.seq:
            text = f"joined with the {before.side}'s turn before it"
            report.append(Mend("joined", turn.seq, text))

    return [group[0] if len(group) == 1 else _joined(group) for group in groups]


def _joins(before: Turn, turn: Turn, api: Provider) -> bool:
    if api.results == "run":  # tool messages are messages of their own
        return before.side == turn.side != "tool"
    sides = {before.side, turn.side}

    return sides in ({"assistant"}, {"user"}, {"tool"}, {"user", "tool"})


def _joined(group: Sequence[Turn]) -> Turn:
    """
    The turns as one; a user's has its results first.
    """
    first, side = group[0], group[-1].side
    parts = [part for turn in group for part in turn.message.parts]
    seqs = [seq for turn in group for seq in turn.seqs]
    order = list(range(len(parts)))
    role = side if side in {"assistant", "system"} else "user"
    if role == "user":
        order.sort(key=lambda place: not isinstance(parts[place], ToolResult))
    names = {turn.message.name for turn in group}
    message = evolve(
        first.message,
        role=role,
        parts=tuple([parts[place] for place in order]),
        name=first.message.name if len(names) == 1 else None,
    )

    return Turn(message, first.seq, tuple([seqs[place] for place in order]))


def results_to_tools(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Make tool messages of the results in a user's message, before what else it holds.

    >>> from unabridged.formats import mend
    >>> from unabridged.testing import call
    >>> turns = [user("hi"), call("c1"), user([ToolResult("c1", "9"), "Well?"])]
    >>> [message.role for message in mend(turns, "mistral").messages]
    ['user', 'assistant', 'tool', 'assistant', 'user']
    """
    mended: list[Turn] = []
    for turn in turns:
        parts = turn.message.parts
        results = [at for at, part in enumerate(parts) if isinstance(part, ToolResult)]
        if turn.side != "user" or not results:
            mended.append(turn)
            continue
        told = turn.taking(results)
        mended.append(evolve(told, message=Message("tool", told.message.parts)))
        if rest := [at for at in range(len(parts)) if at not in set(results)]:
            mended.append(turn.taking(rest))

    return mended


def bridge_results(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Put an assistant's words between results and a user who speaks right after them.

    >>> from unabridged.formats import mend
    >>> from unabridged.testing import call, result
    >>> turns = [user("hi"), call("c1"), result("c1"), user("Well?")]
    >>> [message.role for message in mend(turns, "mistral").messages]
    ['user', 'assistant', 'tool', 'assistant', 'user']
    """
    mended: list[Turn] = []
    newest = ""  # the side of the newest turn that the provider sees
    for turn in turns:
        side = turn.side if as_seen([turn], api.left_out) else newest
        if newest == "tool" and side == "user":
            mended.append(Turn(Message("assistant", BRIDGE), 0, (0,)))
            report.append(Mend("put in", turn.seq, f"the assistant speaks after results: {BRIDGE}"))
        mended.append(turn)
        newest = side

    return mended


def open_on_user(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Put a user's words before an assistant that speaks first, or is asked to by a prompt alone.

    >>> from unabridged.formats import mend
    >>> from unabridged.messages import assistant
    >>> [message.role for message in mend([assistant("Hello!")], "anthropic").messages]
    ['user', 'assistant']
    """
    start = spoken_from([(turn.side, api.keeps_system(turn.message)) for turn in turns])
    spoken = as_seen(turns[start:], api.left_out)
    if not turns or (spoken and spoken[0].side in {"user", "tool"}):
        return turns
    seq = spoken[0].seq if spoken else 0
    report.append(Mend("put in", seq, f"a user speaks first: {OPENING}"))

    return [*turns[:start], Turn(user(OPENING), 0, (0,)), *turns[start:]]


def trim_the_end(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Take white space off the end of an assistant's last words.

    >>> from unabridged.formats import mend
    >>> from unabridged.messages import assistant
    >>> mend([user("hi"), assistant("It is ")], "anthropic").messages[-1].text
    'It is'
    """
    for at in range(len(turns) - 1, -1, -1):
        turn = turns[at]
        if not as_seen([turn], api.left_out):
            continue
        parts = turn.message.parts
        if turn.side != "assistant" or not parts or not isinstance(parts[-1], Text):
            break
        last = parts[-1]
        if last.text != last.text.rstrip():
            shorter = turn.saying((*parts[:-1], evolve(last, text=last.text.rstrip())))
            report.append(Mend("trimmed", turn.seqs[-1], "white space at the very end"))
            return [*turns[:at], shorter, *turns[at + 1 :]]
        break

    return turns
