"""
Rules of calls and results: who answers whom, and where the answers must stand.

Each rule is one function over a conversation as a provider sees it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from unabridged.formats.provider import Provider
from unabridged.formats.turns import Problem, Seen
from unabridged.messages import ToolResult
from unabridged.text import word

__all__ = ["paired", "paired_anywhere", "response_count", "results_first"]


_NEWEST = "Repair() lets the newest stand"


def paired(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    After a turn that calls come its results, all of them, before anything else.

    In the run of tool messages after it (OpenAI's error names the ids without a
    response: "An assistant message with 'tool_calls' must be followed by tool
    messages responding to each 'tool_call_id'"), or in the very next turn
    (https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use,
    https://ai.google.dev/gemini-api/docs/function-calling,
    https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use.html).

    >>> from unabridged.formats import problems
    >>> from unabridged.testing import call, result, user
    >>> for problem in problems([call("c1"), user("wait"), result("c1")], "openai_chat"):
    ...     print(problem.seq, problem.rule)
    1 unanswered call
    3 orphan result
    """
    open_calls: dict[str, list[int]] = {}
    answered: set[str] = set()
    for turn in seen:
        if open_calls and not turn.results:
            yield from _unanswered(open_calls)
            open_calls = {}
        for result, seq in turn.results:
            if _answers(open_calls, result.call_id):
                answered.add(result.call_id)
                continue
            text = f"the result of `{word(result.call_id)}` follows no call with that id"
            if result.call_id in answered:
                text = f"the call `{word(result.call_id)}` has a result already; {_NEWEST}"
            yield Problem("orphan result", seq, text)
        calls = _ids(turn)
        answered -= calls.keys()
        is_next = api.results == "next" and not calls
        if open_calls and (calls or turn.asks or is_next):
            yield from _unanswered(open_calls)
            open_calls = {}
        open_calls = calls or open_calls
    yield from _unanswered(open_calls)


def _ids(turn: Seen) -> dict[str, list[int]]:
    """
    The ids of the calls in a turn, each with the entries that call with it, the last first.
    """
    ids: dict[str, list[int]] = {}
    for call, seq in reversed(turn.calls):
        ids.setdefault(call.id, []).append(seq)

    return ids


def _answers(open_calls: dict[str, list[int]], id_: str) -> bool:
    """
    Whether a call with this id is open; it is so no longer.
    """
    seqs = open_calls.get(id_)
    if not seqs:
        return False
    seqs.pop()

    return True


def _unanswered(open_calls: dict[str, list[int]]) -> Iterator[Problem]:
    for id_, seqs in open_calls.items():
        for seq in seqs:
            text = f"the call `{word(id_)}` is not followed by its result; Repair() closes it"
            yield Problem("unanswered call", seq, text)


def paired_anywhere(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    A result stands somewhere after its call, and every call has one.

    By ids alone: "No tool output found for function call", "No tool call found
    for function call output" (https://platform.openai.com/docs/guides/function-calling).

    >>> from unabridged.formats import problems
    >>> from unabridged.testing import call, result, user
    >>> problems([call("c1"), user("wait"), result("c1")], "openai_responses")
    ()
    """
    open_calls: dict[str, list[int]] = {}
    answered: set[str] = set()
    for turn in seen:
        for result, seq in turn.results:
            if _answers(open_calls, result.call_id):
                answered.add(result.call_id)
                continue
            text = f"the output of `{word(result.call_id)}` has no call with that id before it"
            if result.call_id in answered:
                text = f"the call `{word(result.call_id)}` has an output already; {_NEWEST}"
            yield Problem("orphan result", seq, text)
        answered -= {call.id for call, _ in turn.calls}
        for id_, seqs in _ids(turn).items():
            open_calls[id_] = seqs + open_calls.get(id_, [])
    yield from _unanswered(open_calls)


def results_first(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    In a user's turn the results come before everything else.

    "tool_result blocks must come first in the content array", says
    https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use.

    >>> from unabridged import ToolResult, user
    >>> from unabridged.formats import problems
    >>> from unabridged.testing import call
    >>> late = user(["Here it is:", ToolResult("c1", "sunny")])
    >>> [problem.rule for problem in problems([user("hi"), call("c1"), late], "anthropic")]
    ['result not first']
    """
    for turn in seen:
        if turn.side != "user" or not turn.results:
            continue
        leading = len(turn.results)
        for part, seq in zip(turn.parts[leading:], turn.seqs[leading:], strict=True):
            if isinstance(part, ToolResult):
                text = f"the result of `{word(part.call_id)}` stands behind other parts of its turn"
                yield Problem("result not first", seq, text)


def response_count(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    As many responses as calls, in the turn right after.

    "Please ensure that the number of function response parts is equal to the
    number of function call parts of the function call turn", says the API.

    >>> from unabridged.formats import problems
    >>> from unabridged.testing import call, result, user
    >>> found = problems([user("hi"), call("c1", "c2"), result("c1")], "gemini")
    >>> [problem.rule for problem in found]
    ['response count', 'unanswered call']
    """
    for at, turn in enumerate(seen):
        if not turn.calls or at + 1 == len(seen):
            continue
        responses = Counter(result.call_id for result, _ in seen[at + 1].results)
        if responses.total() in {0, len(turn.calls)}:  # none at all is told as unanswered
            continue
        text = f"{len(turn.calls)} calls, and {responses.total()} responses in the turn after them"
        for call, seq in turn.calls:
            if responses[call.id]:
                responses[call.id] -= 1
            else:
                yield Problem("response count", seq, text)
        if responses.total():
            yield Problem("response count", seen[at + 1].seq, text)
