"""
Rules of legacy calls: a result has the form of its call.

Each rule is one function over a conversation as a provider sees it.
"""

from collections.abc import Iterator, Sequence

from unabridged.formats.chat_functions import is_function, sends_id
from unabridged.formats.provider import Provider
from unabridged.formats.turns import Problem, Seen
from unabridged.text import word

__all__ = ["results_have_the_form"]


def results_have_the_form(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    A result has the form of its call: role "function" and a name, or role "tool" and an id.

    "messages with role 'tool' must be a response to a preceeding message with
    'tool_calls'", says the API, and a `function_call` is none of those
    (https://platform.openai.com/docs/api-reference/chat/create).

    >>> from unabridged.formats import openai_chat, problems
    >>> from unabridged.testing import result, user
    >>> asked = {"role": "assistant", "function_call": {"name": "now", "arguments": "{}"}}
    >>> turns = [user("hi"), *openai_chat.load([asked]), result("now", "noon")]
    >>> [(p.rule, p.seq) for p in problems(turns, "openai_chat")]
    [('result form', 3)]
    """
    legacy: dict[str, bool] = {}
    for turn in seen:
        for result, seq in turn.results:
            known = legacy.get(result.call_id, is_function(result))
            if known != is_function(result) and (known or not sends_id(result)):
                text = f"the result of `{word(result.call_id)}` has another form than its call"
                yield Problem("result form", seq, text)
        legacy |= {call.id: is_function(call) for call, _ in turn.calls}
