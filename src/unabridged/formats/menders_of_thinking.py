"""
Menders of thinking: what has lost its signature is left out where nothing needs it.

A mender is one function: turns in, turns out, and a line in the report for
each thing it did. None of them drops a message.
"""

from unabridged.formats.provider import Mend, Provider
from unabridged.formats.rules_of_reasoning import is_empty_thought, is_unsigned, running_loop
from unabridged.formats.turns import Turn, as_seen, sent
from unabridged.messages import Part, Reasoning

__all__ = ["leave_empty_thoughts", "leave_unsigned"]


def leave_unsigned(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Leave out thinking without a signature, unless in the tool loop that is running.

    The API does not want back what was thought before the newest words of a
    user (https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking).

    >>> from unabridged.formats import anthropic
    >>> thought = {"type": "thinking", "thinking": "first", "signature": ""}
    >>> turns = [
    ...     {"role": "user", "content": "hi"},
    ...     {"role": "assistant", "content": [thought, {"type": "text", "text": "Hello."}]},
    ...     {"role": "user", "content": "bye"},
    ... ]
    >>> anthropic.request(anthropic.load(turns))["messages"][1]
    {'role': 'assistant', 'content': 'Hello.'}
    """
    if not any(is_unsigned(part) for turn in turns for part in turn.message.parts):
        return turns
    start = running_loop(as_seen(turns, api.left_out))
    places = [at for at, turn in enumerate(turns) if sent(turn, api.left_out) or not turn.seqs]
    end = places[start] if start < len(places) else len(turns)

    return [
        turn if at >= end else _left(turn, api, report, "thinking without its signature")
        for at, turn in enumerate(turns)
    ]


def leave_empty_thoughts(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Leave out thinking that holds neither words nor a signature.

    >>> from unabridged.formats import gemini
    >>> turns = [{"role": "user", "parts": [{"text": "hi"}, {"thought": True}]}]
    >>> gemini.request(gemini.load(turns))["contents"]
    [{'role': 'user', 'parts': [{'text': 'hi'}]}]
    """
    return [_left(turn, api, report, "thinking that holds nothing") for turn in turns]


def _left(turn: Turn, api: Provider, report: list[Mend], text: str) -> Turn:
    wrong = is_unsigned if text.endswith("signature") else is_empty_thought
    if not any(map(wrong, turn.message.parts)):
        return turn
    here = sent(turn, api.left_out)
    gone = {place for place in here if wrong(turn.message.parts[place])}
    if not gone:
        return turn
    report.extend(Mend("left out", turn.seqs[place], text) for place in sorted(gone))
    if gone == set(here):  # the message goes with it, as any of which nothing is sent
        parts = [_unowned(part) for part in turn.message.parts]
        return turn.saying(parts)

    return turn.taking(place for place in range(len(turn.seqs)) if place not in gone)


def _unowned(part: Part) -> Part:
    return Reasoning(part.text) if isinstance(part, Reasoning) else part
