"""
Rules of order: who speaks first, who after whom, who last, and where instructions stand.

Each rule is one function over a conversation as a provider sees it.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from unabridged.formats.provider import Provider
from unabridged.formats.turns import Problem, Seen
from unabridged.messages import ToolCall

__all__ = [
    "alternates",
    "assistant_after_tools",
    "calls_after_user",
    "ends_on_user",
    "no_trailing_space",
    "somebody_speaks",
    "spoken_from",
    "starts_on_user",
    "system_comes_first",
]


def spoken_from(sides: Iterable[tuple[str, bool]]) -> int:
    """
    Where the conversation starts, after the system prompt.

    *sides* says of each turn whose it is, and whether the API keeps it in its place.

    >>> spoken_from([("system", False), ("user", False), ("system", False)])
    1
    """
    start = 0
    for side, kept in sides:
        if side != "system" or kept:
            break
        start += 1

    return start


def _spoken(seen: Sequence[Seen], api: Provider) -> Sequence[Seen]:
    """
    The turns after the system prompt, where the API takes that apart.
    """
    if not api.prompt:
        return [turn for turn in seen if turn.side != "system"]

    return seen[spoken_from((turn.side, api.keeps_system(turn.message)) for turn in seen) :]


def _sides(turn: Seen) -> str:
    return "user" if turn.side == "tool" else turn.side


def somebody_speaks(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    There is a message beside the system prompt.

    "messages: at least one message is required", says Anthropic's API; the others
    refuse an empty list as well.

    >>> from unabridged import system
    >>> from unabridged.formats import problems
    >>> [problem.rule for problem in problems([system("Be brief.")], "gemini")]
    ['no message']
    """
    if not (_spoken(seen, api) if api.prompt else seen):
        yield Problem("no message", 0, f"{api.title} needs a message beside the system prompt")


def starts_on_user(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    A user speaks first.

    "first message must use the "user" role"
    (https://docs.anthropic.com/en/api/messages); "A conversation must start with
    a user message" (Bedrock,
    https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html);
    Gemini wants a call turn "immediately after a user turn or after a function
    response turn".

    >>> from unabridged import assistant
    >>> from unabridged.formats import problems
    >>> [found.rule for found in problems([assistant("Hello!")], "anthropic")]
    ['last message', 'first message']
    """
    spoken = _spoken(seen, api)
    if spoken and _sides(spoken[0]) != "user":
        text = f"{api.title} wants a user's message first, this is the {spoken[0].side}'s"
        yield Problem("first message", spoken[0].seq, text)


def alternates(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    No two turns of one role stand side by side.

    "roles must alternate between "user" and "assistant"" (Bedrock Converse, and
    the chat templates of Mistral and many local models). Tool messages after a
    call may stand side by side where they are messages of their own.

    >>> from unabridged import user
    >>> from unabridged.formats import problems
    >>> [(p.rule, p.seq) for p in problems([user("a"), user("b")], "bedrock")]
    [('alternation', 2)]
    """
    turns = _spoken(seen, api)
    for before, turn in itertools.pairwise(turns):
        own_tools = api.results == "run" and turn.side == "tool"
        same = before.side if api.results == "run" else _sides(before)
        if not own_tools and same == (turn.side if api.results == "run" else _sides(turn)):
            text = f"two turns of the {turn.side} in a row; {api.title} wants them to alternate"
            yield Problem("alternation", turn.seq, text)


def assistant_after_tools(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    After results the assistant speaks, not a user.

    "Unexpected role 'user' after role 'tool'", says Mistral's API.

    >>> from unabridged import user
    >>> from unabridged.formats import problems
    >>> from unabridged.testing import call, result
    >>> turns = [user("hi"), call("c12345678"), result("c12345678"), user("Well?")]
    >>> [(p.rule, p.seq) for p in problems(turns, "mistral")]
    [('user after results', 4)]
    """
    for before, turn in itertools.pairwise(seen):
        if before.side == "tool" and turn.side == "user":
            text = f"a user speaks right after results; {api.title} wants the assistant to"
            yield Problem("user after results", turn.seq, text)


def calls_after_user(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    A turn that calls comes right after a user's turn or a turn of responses.

    "function call turn comes immediately after a user turn or after a function
    response turn", says Gemini's API.

    >>> from unabridged import assistant, user
    >>> from unabridged.formats import problems
    >>> from unabridged.testing import call, result
    >>> turns = [user("hi"), assistant("I look."), call("c1"), result("c1")]
    >>> [(p.rule, p.seq) for p in problems(turns, "gemini")]
    [('call turn', 3)]
    """
    turns = _spoken(seen, api)
    for before, turn in itertools.pairwise(turns):
        if turn.calls and before.side == "assistant":
            text = "a turn that calls comes right after a user's, or after responses"
            yield Problem("call turn", turn.calls[0][1], text)


def system_comes_first(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    Instructions stand before the conversation, not in the middle.

    The system prompt is a parameter of its own (Anthropic, Gemini, Bedrock), or
    the first message (Mistral's templates). Where a newer API takes system turns,
    those that it sent or took itself are left alone.

    >>> from unabridged import system, user
    >>> from unabridged.formats import problems
    >>> [(p.rule, p.seq) for p in problems([user("hi"), system("Be brief.")], "gemini")]
    [('system in the middle', 2)]
    """
    started = False
    for turn in seen:
        if turn.side != "system" or api.keeps_system(turn.message):
            started = True
        elif started:
            text = f"{api.title} takes system text only before the conversation"
            yield Problem("system in the middle", turn.seq, text)


def ends_on_user(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    An assistant's turn is not the last one.

    An answer is asked for, and a prefilled one is refused: by Claude models from
    4.6 on ("Prefilling assistant messages is not supported"), by most models
    behind Bedrock ("conversation must end with a user message"), by Gemini, and
    by Mistral without `prefix` ("Expected last role User or Tool"). It is said of
    the whole, not of an entry.

    >>> from unabridged import assistant, user
    >>> from unabridged.formats import problems
    >>> problems([user("hi"), assistant("The answer is")], "anthropic")[0].rule
    'last message'
    """
    if not seen or seen[-1].side != "assistant":
        return
    if not seen[-1].calls or not isinstance(seen[-1].parts[-1], ToolCall):
        text = f"the assistant speaks last; most models of {api.title} answer only to a user"
        yield Problem("last message", 0, text)


def no_trailing_space(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    The last message, an assistant's, does not end on white space.

    "final assistant content cannot end with trailing whitespace"
    (https://docs.anthropic.com/en/api/messages).

    >>> from unabridged import assistant, user
    >>> from unabridged.formats import problems
    >>> [p.rule for p in problems([user("hi"), assistant("It is ")], "anthropic")]
    ['last message', 'trailing space']
    """
    if not seen or seen[-1].side != "assistant" or not seen[-1].parts:
        return
    text = getattr(seen[-1].parts[-1], "text", "")
    if text != text.rstrip():
        yield Problem("trailing space", seen[-1].seqs[-1], "the last text ends on white space")
