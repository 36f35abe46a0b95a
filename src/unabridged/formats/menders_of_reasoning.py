"""
Menders of reasoning: ids that lost their reasoning item, calls that lost their signature.

A mender is one function: turns in, turns out, and a line in the report for
each thing it did. None of them drops a message.
"""

from collections.abc import Callable

from unabridged.formats.gemini_parts import with_dummy_signature
from unabridged.formats.provider import Mend, Provider
from unabridged.formats.responses_parts import item_id, without_id
from unabridged.formats.rules_of_openai import is_item_id
from unabridged.formats.rules_of_reasoning import (
    first_calls_unsigned,
    leads_nowhere,
    led_without_reasoning,
)
from unabridged.formats.turns import Turn, as_seen, sent
from unabridged.messages import Part, Reasoning, ToolCall
from unabridged.text import word

__all__ = ["free_items", "sign_calls"]


def free_items(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Take the ids off items that lost the reasoning item they followed, stand twice, or do not fit.

    Without an id an item is a fresh one, and needs no other. A reasoning item
    that nothing followed, as when an answer was cut off, is left out.

    >>> from unabridged import Message
    >>> from unabridged.formats import openai_responses
    >>> from unabridged.formats import mend
    >>> thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    >>> text = {"type": "output_text", "text": "Hello.", "annotations": []}
    >>> said = {"type": "message", "id": "m1", "role": "assistant", "content": [text]}
    >>> _, answer = openai_responses.load([{"role": "user", "content": "hi"}, thought, said])
    >>> answer = Message("assistant", answer.parts[1:])
    >>> "id" in openai_responses.dump(mend([answer], "openai_responses").messages)[0]
    False
    """
    seen = as_seen(turns, api.left_out)
    loose = {(at, place) for at in range(len(seen)) for place in led_without_reasoning(seen, at)}
    used: set[str] = set()
    for at, turn in enumerate(seen):
        for place, part in enumerate(turn.parts):
            id_ = item_id(part)
            is_taken = id_ in used or bool(id_ and not is_item_id(id_))
            if is_taken and not isinstance(part, Reasoning):
                loose.add((at, place))
            if id_:
                used.add(id_)
    loose = {(at, n) for at, n in loose if without_id(seen[at].parts[n]) != seen[at].parts[n]}
    for at, place in sorted(loose):
        text = f"the item `{word(item_id(seen[at].parts[place]))}` goes without its id"
        report.append(Mend("freed", seen[at].seqs[place], text))

    mended = _with(turns, loose, api, without_id)
    trailing = {
        (at, len(turn.parts) - 1) for at, turn in enumerate(seen) if leads_nowhere(seen, at)
    }
    for at, place in sorted(trailing):
        text = "a reasoning item that nothing followed"
        report.append(Mend("left out", seen[at].seqs[place], text))

    return _with(mended, trailing, api, _unowned)


def _unowned(part: Part) -> Part:
    """
    Reasoning that no API knows as its own, so that none is sent it.
    """
    return Reasoning(part.text) if isinstance(part, Reasoning) else part


def sign_calls(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Sign the first calls of the current turn's steps as calls that no model of Gemini made.

    With the value that its documentation gives for calls of other models
    (https://ai.google.dev/gemini-api/docs/thought-signatures).

    >>> from unabridged.formats import gemini
    >>> from unabridged.testing import call, result, user
    >>> contents = gemini.request([user("hi"), call("c1"), result("c1")])["contents"]
    >>> sorted(contents[1]["parts"][0])
    ['functionCall', 'thoughtSignature']
    """
    seen = as_seen(turns, api.left_out)
    unsigned = set(first_calls_unsigned(seen))
    for at, place in sorted(unsigned):
        text = "a call without a thought signature is marked as one of another model"
        report.append(Mend("signed", seen[at].seqs[place], text))

    return _with(turns, unsigned, api, _signed)


def _signed(part: Part) -> Part:
    return with_dummy_signature(part) if isinstance(part, ToolCall) else part


def _with(
    turns: list[Turn], places: set[tuple[int, int]], api: Provider, change: Callable[[Part], Part]
) -> list[Turn]:
    """
    The turns with the parts changed that the provider sees at these places.
    """
    if not places:
        return turns
    mended = list(turns)
    there = [at for at, turn in enumerate(turns) if sent(turn, api.left_out) or not turn.seqs]
    for at, place in places:
        turn = mended[there[at]]
        parts = list(turn.message.parts)
        here = sent(turn, api.left_out)[place]
        parts[here] = change(parts[here])
        mended[there[at]] = turn.saying(parts)

    return mended
