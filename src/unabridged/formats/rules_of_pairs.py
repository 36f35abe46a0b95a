"""
Rules of calls and results: who answers whom, and where the answers must stand.

Each rule is one function over a conversation as a provider sees it.
"""

from collections.abc import Iterator, Sequence

from unabridged.formats.provider import Provider
from unabridged.formats.turns import Problem, Seen

__all__ = ["paired", "paired_anywhere", "response_count", "results_first"]


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
    open_calls: list[tuple[str, int]] = []
    for turn in seen:
        if open_calls and not turn.results:
            yield from _unanswered(open_calls)
            open_calls = []
        for result, seq in turn.results:
            place = _first(open_calls, result.call_id)
            if place is None:
                text = f"the result of `{result.call_id}` follows no call with that id"
                yield Problem("orphan result", seq, text)
            else:
                del open_calls[place]
        calls = [(call.id, seq) for call, seq in turn.calls]
        is_next = api.results == "next" and not calls
        if open_calls and (calls or turn.asks or is_next):
            yield from _unanswered(open_calls)
            open_calls = []
        open_calls = calls or open_calls
    yield from _unanswered(open_calls)


def _first(open_calls: Sequence[tuple[str, int]], id_: str) -> int | None:
    return next((at for at, (open_id, _) in enumerate(open_calls) if open_id == id_), None)


def _unanswered(open_calls: Sequence[tuple[str, int]]) -> Iterator[Problem]:
    for id_, seq in open_calls:
        text = f"the call `{id_}` is not followed by its result; Repair() closes it"
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
    for turn in seen:
        for result, seq in turn.results:
            if not open_calls.get(result.call_id):
                text = f"the output of `{result.call_id}` has no call with that id before it"
                yield Problem("orphan result", seq, text)
            else:
                open_calls[result.call_id].pop(0)
        for call, seq in turn.calls:
            open_calls.setdefault(call.id, []).append(seq)
    for id_, seqs in open_calls.items():
        yield from _unanswered([(id_, seq) for seq in seqs])


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
        behind = turn.parts[len(turn.results) :]
        for result, seq in turn.results:
            if not any(part is result for part in behind):
                continue
            text = f"the result of `{result.call_id}` stands behind other parts of its turn"
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
        responses = [result.call_id for result, _ in seen[at + 1].results]
        if len(responses) == len(turn.calls):
            continue
        text = f"{len(turn.calls)} calls, and {len(responses)} responses in the turn after them"
        for call, seq in turn.calls:
            if call.id in responses:
                responses.remove(call.id)
            else:
                yield Problem("response count", seq, text)
        if responses:
            yield Problem("response count", seen[at + 1].seq, text)
