"""
A message in a request of its own, for an endpoint that counts only whole requests.

An API refuses a result without its call, or an answer that opens a
conversation. So a message is sent in the smallest request that has what it
needs, and what is counted for the rest is taken off again: counted once for
each kind of rest, and shared evenly between a call and its result.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from attrs import evolve, frozen

from unabridged.messages import Message, ToolCall, assistant, tool, user
from unabridged.tokens.from_client import Api

__all__ = ["ONE", "THREE", "TOOLS", "Framed", "Request", "framed", "needed"]


class Request(NamedTuple):
    """
    What is sent to be counted: messages, and a tool's definition where the API wants one.
    """

    messages: tuple[Message, ...]
    tools: bool = False


ONE = Request((user("."),))
THREE = Request((user("."), assistant("."), user(".")))

TOOLS = ({"name": "f", "description": "f", "input_schema": {"type": "object"}},)
"""What Anthropic has to be told when there are calls among the messages."""

_PROMPTS = frozenset({"system", "developer"})


@frozen
class Framed:
    """
    A message in the smallest request that the API takes, and what the rest of that costs.

    *turns* is how many turns are beside it (the message's own counts as its
    own, so a user's message alone has -1 of the opening turn), *pairs* how many
    calls or results were put in to go with its own, *late* that it is the
    results that are its own.
    """

    request: Request
    turns: int = 0
    pairs: int = 0
    late: bool = False

    def rest(self, frames: Mapping[Request, int]) -> int:
        """
        The tokens of the request beside the message's own.
        """
        if not self.pairs:
            return frames[ONE] + self.turns * ((frames[THREE] - frames[ONE]) // 2)
        base = frames[_base(self.request.tools)]
        both = frames[_pairs(self.pairs, self.request.tools)] - base

        return base + (both - both // 2 if self.late else both // 2)


def needed(framed: Iterable[Framed]) -> tuple[Request, ...]:
    """
    The requests without a message of ours that have to be counted to tell what the rest costs.
    """
    found = [ONE, THREE]
    for each in framed:
        if each.pairs:
            tools = each.request.tools
            found += [_base(tools), _pairs(each.pairs, tools)]

    return tuple(dict.fromkeys(found))


def framed(message: Message, api: Api) -> Framed:
    """
    The message in the smallest request that the API takes.
    """
    if api == "gemini" and message.role in _PROMPTS:
        message = evolve(message, role="user")  # its endpoint takes no instruction
    tools = api == "anthropic"
    if message.role in _PROMPTS:
        return Framed(Request((message, *ONE.messages)))
    if calls := message.tool_calls:
        answers = (tool(".", call_id=call.id) for call in calls)
        request = Request((*ONE.messages, message, *answers), tools)
        return Framed(request, pairs=len(calls))
    if results := message.tool_results:
        ids = dict.fromkeys(result.call_id for result in results)
        request = Request((*ONE.messages, _calling(ids), message), tools)
        return Framed(request, pairs=len(ids), late=True)
    if message.role == "assistant":
        return Framed(Request((*ONE.messages, message, *ONE.messages)), turns=1)

    return Framed(Request((message,)), turns=-1)


def _base(tools: bool) -> Request:
    return Request(ONE.messages, tools)


def _pairs(number: int, tools: bool) -> Request:
    ids = [f"c{place}" for place in range(number)]
    answers = (tool(".", call_id=id_) for id_ in ids)

    return Request((*ONE.messages, _calling(ids), *answers), tools)


def _calling(ids: Iterable[str]) -> Message:
    return assistant(calls=[ToolCall(id_, "f", "{}") for id_ in ids])
