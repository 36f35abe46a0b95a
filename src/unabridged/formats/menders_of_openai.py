"""
Menders of OpenAI's messages and items: empty keys go, and content that has to be there is.

A mender is one function: turns in, turns out, and a line in the report for
each thing it did. None of them drops a message.
"""

from attrs import evolve

from unabridged.formats.chat_parts import NAME
from unabridged.formats.marks import less
from unabridged.formats.provider import Mend, Provider
from unabridged.formats.rules_of_openai import (
    calls_nothing,
    content_is_there,
    has_no_output,
    says_how,
)
from unabridged.formats.turns import Turn, as_seen
from unabridged.messages import Part, ToolResult

__all__ = ["fill_content", "fill_keys", "fill_outputs"]


def fill_keys(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Take off a list of calls that is empty.

    >>> from unabridged.formats import openai_chat
    >>> turns = [{"role": "assistant", "content": "Hello!", "tool_calls": []}]
    >>> openai_chat.request(openai_chat.load(turns))["messages"]
    [{'role': 'assistant', 'content': 'Hello!'}]
    """
    mended: list[Turn] = []
    for turn in turns:
        if not calls_nothing(turn.message):
            mended.append(turn)
            continue
        extra = less(turn.message.extra, NAME, "keys", "tool_calls")
        mended.append(evolve(turn, message=evolve(turn.message, extra=extra)))
        report.append(Mend("left out", turn.seq, "`tool_calls`, which holds nothing"))

    return mended


def fill_content(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Write the content that is null, an empty list or not there as an empty text.

    >>> from unabridged.formats import openai_chat
    >>> openai_chat.request(openai_chat.load([{"role": "user", "content": []}]))["messages"]
    [{'role': 'user', 'content': ''}]
    """
    mended: list[Turn] = []
    for turn in turns:
        if not says_how(turn.message) or not any(
            content_is_there(as_seen([turn], api.left_out), api)
        ):
            mended.append(turn)
            continue
        parts: tuple[Part, ...] = tuple(
            [
                evolve(part, extra=less(part.extra, NAME, "content"))
                if isinstance(part, ToolResult) and not part.text
                else part
                for part in turn.message.parts
            ]
        )
        extra = less(turn.message.extra, NAME, "content")
        message = evolve(turn.message, parts=parts, extra=extra)
        mended.append(evolve(turn, message=message))
        report.append(Mend("filled", turn.seq, "content that was null or empty is written as text"))

    return mended


def fill_outputs(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Write the output of a call that is null as an empty text.

    >>> from unabridged.formats import openai_responses
    >>> call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    >>> output = {"type": "function_call_output", "call_id": "c1", "output": None}
    >>> openai_responses.request(openai_responses.load([call, output]))["input"][1]["output"]
    ''
    """
    mended: list[Turn] = []
    for turn in turns:
        empty = [at for at, part in enumerate(turn.message.parts) if has_no_output(part)]
        if not empty:
            mended.append(turn)
            continue
        parts = list(turn.message.parts)
        for at in empty:
            result = parts[at]
            if isinstance(result, ToolResult):
                parts[at] = evolve(result, extra=less(result.extra, api.name, "output"))
            report.append(Mend("filled", turn.seqs[at], "the output of a call is an empty text"))
        mended.append(turn.saying(parts))

    return mended
