"""
Menders of legacy calls: those kept by earlier versions, and for servers that know none.

A mender is one function: turns in, turns out, and a line in the report for
each thing it did. None of them drops a message.
"""

from attrs import evolve

from unabridged.formats.chat_functions import (
    Functions,
    as_function_result,
    as_tool,
    is_function,
    sends_id,
)
from unabridged.formats.chat_parts import own
from unabridged.formats.chat_read import read_turn
from unabridged.formats.chat_write import write_message
from unabridged.formats.provider import Mend, Provider
from unabridged.formats.turns import Turn, pairs_of
from unabridged.messages import Message, Part, ToolCall, ToolResult
from unabridged.text import word

__all__ = ["match_functions", "modern_calls", "stored_functions"]


def stored_functions(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Read legacy calls and results that an earlier version kept as keys and as words.

    >>> from unabridged.formats import mend
    >>> kept = {"openai_chat": {"keys": {"function_call": {"name": "now", "arguments": "{}"}}}}
    >>> turns = [Message("assistant", (), extra=kept), Message("function", "noon", name="now")]
    >>> mended = mend([Message("user", "hi"), *turns], "anthropic").messages
    >>> mended[1].tool_calls[0].id, mended[2].tool_results[0].call_id
    ('now', 'now')
    """
    if not any(_is_stored(turn.message) for turn in turns):
        return turns
    functions = Functions()
    mended: list[Turn] = []
    for turn in turns:
        functions.given(turn.message.tool_calls)
        if not _is_stored(turn.message):
            mended.append(turn)
            continue
        written = write_message(turn.message)
        read = read_turn(written[0], f"messages[{turn.seq}]", functions)
        message = evolve(turn.message, role=read.role, parts=read.parts, extra=read.extra)
        mended.append(Turn(message, turn.seq, (turn.seq,) * len(read.parts)))
        text = "a legacy call or result, kept by an earlier version, goes as what it is"
        report.append(Mend("read", turn.seq, text))

    return mended


def _is_stored(message: Message) -> bool:
    if message.role == "function":
        return not message.tool_results
    if "function_call" not in message.extra.text or message.tool_calls or message.tool_results:
        return False

    return isinstance(own(message.extra).get("keys", {}).get("function_call"), dict)


def modern_calls(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Make today's calls and results of legacy ones.

    >>> from unabridged.formats import mend, openai_chat
    >>> legacy = {"role": "assistant", "function_call": {"name": "now", "arguments": "{}"}}
    >>> mended = mend(openai_chat.load([{"role": "user", "content": "hi"}, legacy]), "mistral")
    >>> sorted(openai_chat.dump(mended.messages)[1])
    ['role', 'tool_calls']
    """
    mended: list[Turn] = []
    for turn in turns:
        parts = tuple([as_tool(part) for part in turn.message.parts])
        if all(part is was for part, was in zip(parts, turn.message.parts, strict=True)):
            mended.append(turn)
            continue
        told = turn.saying(parts)
        is_result = any(isinstance(part, ToolResult) for part in parts)
        # the name of a legacy result is that of its function, not of a speaker
        message = evolve(told.message, name=None) if is_result else told.message
        mended.append(evolve(told, message=message))
        text = f"a legacy call or result goes as one with an id; {api.title} takes no other"
        report.append(Mend("worded", turn.seq, text))

    return mended


def match_functions(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Give a result the form of its call: the legacy one, or that with an id.

    A result that was built by hand, or by `Repair`, has an id, and so would be
    sent as one of a call that has it too.

    >>> from unabridged.formats import mend, openai_chat
    >>> from unabridged.testing import result, user
    >>> asked = {"role": "assistant", "function_call": {"name": "now", "arguments": "{}"}}
    >>> turns = [user("hi"), *openai_chat.load([asked]), result("now", "noon")]
    >>> openai_chat.dump(mend(turns, "openai_chat").messages)[2]
    {'role': 'function', 'name': 'now', 'content': 'noon'}
    """
    if not any(_is_legacy(part) for turn in turns for part in turn.message.parts):
        return turns
    mended = list(turns)
    for (at, place), (caller, called) in pairs_of(turns).items():
        parts = list(mended[at].message.parts)
        result, call = parts[place], turns[caller].message.parts[called]
        if not (isinstance(result, ToolResult) and isinstance(call, ToolCall)):
            continue
        if is_function(call) == is_function(result) or (is_function(result) and sends_id(result)):
            continue
        told = as_function_result(result, call.name) if is_function(call) else as_tool(result)
        parts[place] = told
        mended[at] = mended[at].saying(parts)
        text = f"the result of `{word(call.id)}` takes the form of its call"
        report.append(Mend("worded", turns[at].seqs[place], text))

    return mended


def _is_legacy(part: Part) -> bool:
    return isinstance(part, ToolCall | ToolResult) and is_function(part)
