"""
Menders of content: ids, names, arguments and texts that an API takes.

A mender is one function: turns in, turns out, and a line in the report for
each thing it did. None of them drops a message.
"""

import re
from collections.abc import Callable
from typing import cast

from attrs import evolve

from unabridged.formats.document_context import beside
from unabridged.formats.provider import Mend, Provider
from unabridged.formats.rules_of_content import (
    is_blank,
    is_halved,
    is_object,
    loaded,
    names_function,
)
from unabridged.formats.turns import Turn, as_seen, calls_in, pairs_of, sent
from unabridged.messages import Content, Document, Part, Text, ToolCall, ToolResult
from unabridged.text import brief, word

__all__ = [
    "fill_blanks",
    "fill_unsent",
    "fit_ids",
    "fit_names",
    "fit_speakers",
    "mend_letters",
    "tell_left_out",
    "word_documents",
    "wrap_arguments",
]

_BASE = 30  # letters of an id that a numbered one keeps
EMPTY = "(empty)"
SEE = "(See the document.)"


def fit_ids(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Give a call another id where the API refuses its own; its result gets the same.

    >>> from unabridged.formats import mend
    >>> from unabridged.testing import call, result, user
    >>> mended = mend([user("hi"), call("c:1"), result("c:1")], "anthropic").messages
    >>> mended[1].tool_calls[0].id, mended[2].tool_results[0].call_id
    ('c_1', 'c_1')
    """
    fresh = _fresh_ids(turns, api)
    if not fresh:
        return turns
    for (at, place), id_ in fresh.items():
        old = turns[at].message.parts[place]
        if isinstance(old, ToolCall):
            text = f"the call `{word(old.id)}` goes as `{word(id_)}`, and so does its result"
            report.append(Mend("renamed", turns[at].seqs[place], text))
    fresh |= {result: fresh[call] for result, call in pairs_of(turns).items() if call in fresh}

    mended = list(turns)
    for at in sorted({at for at, _ in fresh}):
        parts = list(turns[at].message.parts)
        for place, part in enumerate(parts):
            id_ = fresh.get((at, place), "")
            match part:
                case ToolCall() if id_:
                    parts[place] = evolve(part, id=id_)
                case ToolResult() if id_:
                    parts[place] = evolve(part, call_id=id_)
        mended[at] = turns[at].saying(parts)

    return mended


def _fresh_ids(turns: list[Turn], api: Provider) -> dict[tuple[int, int], str]:
    """
    The ids of the calls that need another one.
    """
    used: set[str] = set()
    numbers: dict[str, int] = {}
    fresh: dict[tuple[int, int], str] = {}
    for at, turn in enumerate(turns):
        if api.unique == "turn" and not (turn.side == "assistant" and api.joins):
            used = used if api.joins and not as_seen([turn], api.left_out) else set()
        for place, call in calls_in(turn):
            if not api.sends_id(call):
                continue
            base = api.fit_id(call.id, 0)[:_BASE]
            id_, number = call.id, numbers.get(base, 0)
            while id_ in used or not api.call_id.fullmatch(id_):
                id_ = api.fit_id(call.id, number)
                number += 1
            used.add(id_)
            if id_ != call.id:
                numbers[base] = number
                fresh[at, place] = id_

    return fresh


def fit_names(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Put the name of a function into letters that the API takes.

    >>> from unabridged import assistant
    >>> from unabridged.formats import mend
    >>> calls = [ToolCall("c1", "get weather")]
    >>> mend([assistant(calls=calls)], "openai_chat").messages[0].tool_calls[0].name
    'get_weather'
    """

    def fitted(call: ToolCall, seq: int) -> ToolCall:
        if api.tool_name.fullmatch(call.name):
            return call
        name = _fit_name(call.name, api)
        report.append(Mend("renamed", seq, f"the function {brief(call.name)} goes as {name!r}"))
        return evolve(call, name=name)

    mended = [_with_calls(turn, fitted) for turn in turns]

    return [_with_name(turn, api) if turn.message.name else turn for turn in mended]


def _fit_name(name: str, api: Provider) -> str:
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "tool"

    return name if api.tool_name.fullmatch(name) else f"_{name}"[:64]


def _with_name(turn: Turn, api: Provider) -> Turn:
    """
    The turn, its name fitted too if it is that of the function whose result it holds.
    """
    name = turn.message.name or ""
    if api.tool_name.fullmatch(name) or not names_function(turn.message, api):
        return turn

    return evolve(turn, message=evolve(turn.message, name=_fit_name(name, api)))


def wrap_arguments(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Put arguments that are no JSON object into one.

    >>> from unabridged import assistant
    >>> from unabridged.formats import mend
    >>> calls = [ToolCall("c1", "now", "[1]")]
    >>> mend([assistant(calls=calls)], "bedrock").messages[1].tool_calls[0].arguments
    '{"arguments":[1]}'
    """

    def wrapped(call: ToolCall, seq: int) -> ToolCall:
        if is_object(call.arguments):
            return call
        found = loaded(call.arguments)
        if not call.arguments.strip():
            report.append(Mend("filled", seq, f"the call `{word(call.id)}` has no arguments: {{}}"))
            return evolve(call, arguments="{}")
        report.append(Mend("wrapped", seq, f"the arguments of `{word(call.id)}` go in an object"))
        return evolve(call, arguments={"arguments": call.arguments if found is None else found})

    return [_with_calls(turn, wrapped) for turn in turns]


def _with_calls(turn: Turn, change: Callable[[ToolCall, int], ToolCall]) -> Turn:
    places = dict(calls_in(turn))
    if not places:
        return turn
    parts = list(turn.message.parts)
    for place, call in places.items():
        parts[place] = change(call, turn.seqs[place])
    same = all(part is was for part, was in zip(parts, turn.message.parts, strict=True))

    return turn if same else turn.saying(parts)


def fit_speakers(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Put the name of a speaker into letters that the API takes.

    >>> from unabridged import user
    >>> from unabridged.formats import mend
    >>> mend([user("hi", name="Ana Luz")], "openai_chat").messages[0].name
    'Ana_Luz'
    """
    mended: list[Turn] = []
    for turn in turns:
        name = turn.message.name
        if api.speaker is None or name is None or api.speaker.fullmatch(name):
            mended.append(turn)
            continue
        fitted = re.sub(r"[\s<|\\/>]", "_", name)[:64] or None
        report.append(Mend("renamed", turn.seq, f"the speaker {brief(name)} goes as {fitted!r}"))
        mended.append(evolve(turn, message=evolve(turn.message, name=fitted)))

    return mended


def mend_letters(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    r"""
    Put U+FFFD in the place of half a character.

    >>> from unabridged import user
    >>> from unabridged.formats import mend
    >>> mend([user("so \ud83d")], "gemini").messages[0].text
    'so �'
    """
    mended: list[Turn] = []
    for turn in turns:
        halved = [at for at, part in enumerate(turn.message.parts) if is_halved(part)]
        if not halved:
            mended.append(turn)
            continue
        mended.append(turn.saying([_whole(part) for part in turn.message.parts]))
        report.extend(
            Mend("replaced", turn.seqs[at], "half a character goes as U+FFFD") for at in halved
        )

    return mended


def _whole(part: Part) -> Part:
    match part:
        case Text(text=text) if is_halved(part):
            return evolve(
                part, text=text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            )
        case ToolResult() if is_halved(part):
            inner = [_whole(inner) for inner in part.content]
            return evolve(part, content=cast("list[Content]", inner))
        case _:
            return part


def fill_unsent(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Let a message of which nothing can be sent say so, unless it is an assistant's.

    The turn is not lost then, and what was answered to it stands behind it.

    >>> from unabridged import Audio, user
    >>> from unabridged.formats import mend
    >>> mend([user(Audio(data="aGk="))], "anthropic").messages[0].text
    '(empty)'
    """
    mended: list[Turn] = []
    for turn in turns:
        if not turn.seqs or turn.side == "assistant" or sent(turn, api.left_out):
            mended.append(turn)
            continue
        role = "user" if turn.side == "tool" else turn.message.role
        parts = (*turn.message.parts, Text(EMPTY))
        message = evolve(turn.message, role=role, parts=parts)
        mended.append(Turn(message, turn.seq, (*turn.seqs, turn.seq)))
        report.append(Mend("filled", turn.seq, f"nothing is left of the message: it says {EMPTY}"))

    return mended


def fill_blanks(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Fill what may not be empty, and take out blank texts beside other parts.

    >>> from unabridged import user
    >>> from unabridged.formats import mend
    >>> [message.text for message in mend([user(" ")], "anthropic").messages]
    ['(empty)']
    """
    return [_filled(turn, api, report) for turn in turns]


def _filled(turn: Turn, api: Provider, report: list[Mend]) -> Turn:
    message = turn.message
    if not message.parts:
        if not api.blank or turn.side == "system":
            return turn
        report.append(Mend("filled", turn.seq, f"an empty message says {EMPTY}"))
        return turn.saying((Text(EMPTY),), (turn.seq,))

    parts = [_filled_result(part, api) for part in message.parts]
    blank = [place for place, part in enumerate(parts) if is_blank(part, api)]
    seen = sent(turn, api.left_out)
    if set(seen) <= set(blank) and seen:
        parts[seen[0]] = Text(EMPTY)
        del blank[blank.index(seen[0])]
    changed = [at for at, part in enumerate(message.parts) if parts[at] is not part or at in blank]
    if not changed:
        return turn
    report.extend(Mend("filled", turn.seqs[at], "a text without words") for at in changed)

    return turn.saying(parts).taking(at for at in range(len(parts)) if at not in blank)


def _filled_result(part: Part, api: Provider) -> Part:
    if not isinstance(part, ToolResult) or not any(is_blank(p, api) for p in part.content):
        return part
    content = tuple(inner for inner in part.content if not is_blank(inner, api))

    return evolve(part, content=content or (Text(EMPTY),))


def word_documents(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Put a text beside a document that stands without one.

    >>> from unabridged import user
    >>> from unabridged.formats import mend
    >>> mend([user(Document(text="Be kind."))], "bedrock").messages[0].text
    '(See the document.)'
    """
    mended: list[Turn] = []
    for turn in turns:
        seen = sent(turn, api.left_out)
        kinds = {type(turn.message.parts[place]) for place in seen}
        if Document not in kinds or Text in kinds:
            mended.append(turn)
            continue
        parts = (*turn.message.parts, Text(SEE))
        mended.append(turn.saying(parts, (*turn.seqs, turn.seqs[seen[0]])))
        report.append(Mend("filled", turn.seqs[seen[0]], f"a document has a text beside it: {SEE}"))

    return mended


def tell_left_out(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Report each part that the API cannot carry; the turns stay as they are.

    >>> from unabridged import Audio, user
    >>> from unabridged.formats import mend
    >>> mend([user(["Listen:", Audio(data="aGk=")])], "anthropic").report[0].what
    'left out'
    """
    for turn in turns:
        for part, seq in zip(turn.message.parts, turn.seqs, strict=True):
            reasons = [api.left_out(part, turn.message.role)]
            if isinstance(part, ToolResult):
                reasons += [api.left_out(inner, "tool") for inner in part.content]
            report.extend(Mend("left out", seq, reason) for reason in reasons if reason)
            if isinstance(part, Document) and not reasons[0] and not api.tells_context:
                lost = " and ".join(beside(part))
                text = f"a document's {lost}: {api.title} has no field for it"
                report.extend([Mend("left out", seq, text)] if lost else [])
        name = turn.message.name
        if name and turn.side != "tool" and api.speaker is None:
            text = f"the speaker's name {brief(name)}: {api.title} has no field for it"
            report.append(Mend("left out", turn.seq, text))

    return turns
