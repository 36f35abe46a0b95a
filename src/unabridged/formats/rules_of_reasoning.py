"""
Rules of reasoning: it stays with what it led to, and comes back as it was.

Each rule is one function over a conversation as a provider sees it.
"""

from collections.abc import Iterator, Sequence

from unabridged.formats.gemini_parts import is_signed
from unabridged.formats.provider import Provider
from unabridged.formats.responses_parts import item_id, was_led
from unabridged.formats.turns import Problem, Seen
from unabridged.messages import Part, Reasoning, ToolCall
from unabridged.text import word

__all__ = [
    "calls_are_signed",
    "first_calls_unsigned",
    "is_empty_thought",
    "is_unsigned",
    "items_are_unique",
    "leads_nowhere",
    "led_without_reasoning",
    "loop_start",
    "reasoning_leads",
    "running_loop",
    "thinking_is_whole",
    "thinking_leads_the_loop",
    "thoughts_hold_something",
]


def loop_start(seen: Sequence[Seen]) -> int:
    """
    Where the running tool loop starts: right after the newest words of a user.

    >>> loop_start([])
    0
    """
    for at in range(len(seen) - 1, -1, -1):
        if seen[at].asks:
            return at + 1

    return 0


def running_loop(seen: Sequence[Seen]) -> int:
    """
    Where the tool loop that is running starts; behind the end where none is.

    >>> running_loop([])
    0
    """
    start = loop_start(seen)

    return start if any(turn.calls for turn in seen[start:]) else len(seen)


def is_unsigned(part: Part) -> bool:
    """
    Whether it is thinking without a signature, and without what was encrypted.

    Thinking without words is sound if it is signed: the API may omit its text.

    >>> is_unsigned(Reasoning("hm")), is_unsigned(Reasoning("", signature="c2ln"))
    (True, False)
    """
    return isinstance(part, Reasoning) and not (part.signature or part.encrypted)


def is_empty_thought(part: Part) -> bool:
    """
    Whether it is thinking that holds nothing at all.

    >>> is_empty_thought(Reasoning("hm")), is_empty_thought(Reasoning())
    (False, True)
    """
    return is_unsigned(part) and isinstance(part, Reasoning) and not part.text


def thoughts_hold_something(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    Thinking has words, a signature, or what was encrypted.

    `text` is required in a ReasoningTextBlock (Bedrock,
    https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ReasoningTextBlock.html);
    "required oneof field 'data' must have one initialized field" (Gemini).

    >>> from unabridged.formats import gemini, problems
    >>> turns = [{"role": "user", "parts": [{"text": "hi"}, {"thought": True}]}]
    >>> [(p.rule, p.seq) for p in problems(gemini.load(turns), "gemini")]
    [('empty thinking', 1)]
    """
    for turn in seen:
        for part, seq in zip(turn.parts, turn.seqs, strict=True):
            if is_empty_thought(part):
                yield Problem("empty thinking", seq, "thinking that holds nothing")


def thinking_leads_the_loop(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    A running tool loop that thinks starts with its thinking.

    "When thinking is enabled, a final assistant message must start with a
    thinking block (preceding the lastmost set of tool_use and tool_result
    blocks)" (https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking).
    It is said of the loop as a whole.

    >>> from unabridged.formats import anthropic
    >>> from unabridged.formats import problems
    >>> call = {"type": "tool_use", "id": "c1", "name": "now", "input": {}}
    >>> thought = {"type": "thinking", "thinking": "first", "signature": "c2ln"}
    >>> turns = [
    ...     {"role": "user", "content": "hi"},
    ...     {"role": "assistant", "content": [call, thought]},
    ...     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1"}]},
    ... ]
    >>> [(p.rule, p.seq) for p in problems(anthropic.load(turns), "anthropic")]
    [('thinking missing', 0)]
    """
    loop = [turn for turn in seen[loop_start(seen) :] if turn.side == "assistant"]
    parts = (part for turn in loop for part in turn.parts)
    marks = [part for part in parts if isinstance(part, Reasoning | ToolCall)]
    if not marks or _thinks(marks[0]):
        return
    if any(_thinks(part) for part in marks):
        text = "the tool loop that is running thinks, and calls before it does"
        yield Problem("thinking missing", 0, text)


def _thinks(part: Part) -> bool:
    return isinstance(part, Reasoning)


def thinking_is_whole(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    Every thinking block has the signature it came with.

    "thinking or redacted_thinking blocks in the latest assistant message cannot
    be modified. These blocks must remain as they were in the original response."

    >>> from unabridged.formats import anthropic
    >>> from unabridged.formats import problems
    >>> thought = {"type": "thinking", "thinking": "first"}
    >>> turns = [
    ...     {"role": "user", "content": "hi"},
    ...     {"role": "assistant", "content": [thought, {"type": "text", "text": "Hello."}]},
    ...     {"role": "user", "content": "bye"},
    ... ]
    >>> [(p.rule, p.seq) for p in problems(anthropic.load(turns), "anthropic")]
    [('thinking altered', 2)]
    """
    for turn in seen:
        for part, seq in zip(turn.parts, turn.seqs, strict=True):
            if is_unsigned(part):
                yield Problem("thinking altered", seq, "a thinking block without its signature")


def reasoning_leads(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    A reasoning item is followed by an item of the model, and that item has its reasoning.

    "Item 'rs_…' of type 'reasoning' was provided without its required following
    item", and "of type 'message' was provided without its required 'reasoning'
    item" (https://platform.openai.com/docs/guides/reasoning).

    >>> from unabridged.formats import openai_responses
    >>> from unabridged.formats import problems
    >>> thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    >>> turns = [thought, {"role": "user", "content": "hi"}]
    >>> [(p.rule, p.seq) for p in problems(openai_responses.load(turns), "openai_responses")]
    [('reasoning apart', 1)]
    """
    for at, turn in enumerate(seen):
        if leads_nowhere(seen, at):
            text = "a reasoning item without the item that followed it"
            yield Problem("reasoning apart", turn.seqs[-1], text)
        for place in led_without_reasoning(seen, at):
            text = "an item with the id it got after a reasoning item, without that item"
            yield Problem("reasoning apart", turn.seqs[place], text)


def leads_nowhere(seen: Sequence[Seen], at: int) -> bool:
    """
    Whether turn *at* ends on reasoning, and no turn of the model goes on from it.

    >>> leads_nowhere([], 0)
    False
    """
    if at >= len(seen) or not any(map(_thinks, seen[at].parts[-1:])):
        return False

    return at + 1 == len(seen) or seen[at + 1].side != "assistant"


def led_without_reasoning(seen: Sequence[Seen], at: int) -> Iterator[int]:
    """
    The places of parts in turn *at* that a reasoning item led to, which is not before them.

    >>> list(led_without_reasoning([], 0))
    []
    """
    thinks = (
        at > 0 and seen[at - 1].side == "assistant" and any(map(_thinks, seen[at - 1].parts[-1:]))
    )
    for place, part in enumerate(seen[at].parts if seen else ()):
        thinks = thinks or _thinks(part)
        if not thinks and was_led(part, seen[at].message):
            yield place


def items_are_unique(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    No two items have one id.

    "Duplicate item found with id msg_…. Remove duplicate items from your input."

    >>> from unabridged.formats import openai_responses
    >>> from unabridged.formats import problems
    >>> item = {"type": "function_call", "id": "fc_1", "name": "f", "arguments": "{}"}
    >>> out = {"type": "function_call_output", "output": ""}
    >>> turns = [item | {"call_id": "1"}, out | {"call_id": "1"}]
    >>> turns += [item | {"call_id": "2"}, out | {"call_id": "2"}]
    >>> [(p.rule, p.seq) for p in problems(openai_responses.load(turns), "openai_responses")]
    [('repeated item', 3)]
    """
    used: set[str] = set()
    for turn in seen:
        for part, seq in zip(turn.parts, turn.seqs, strict=True):
            id_ = item_id(part)
            if id_ in used:
                yield Problem(
                    "repeated item", seq, f"an item before it has the id `{word(id_)}` too"
                )
            if id_:
                used.add(id_)


def calls_are_signed(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    In the current turn the first call of each step has its thought signature.

    Newer models refuse a call without it
    (https://ai.google.dev/gemini-api/docs/thought-signatures); older ones sign
    nothing, so the rule holds where another call of the turn is signed.

    >>> from unabridged.formats import gemini
    >>> from unabridged.formats import problems
    >>> def step(**signed):
    ...     call = {"functionCall": {"id": "c1", "name": "now", "args": {}}, **signed}
    ...     answer = {"functionResponse": {"id": "c1", "name": "now", "response": {"output": "9"}}}
    ...     return [{"role": "model", "parts": [call]}, {"role": "user", "parts": [answer]}]
    >>> asked = {"role": "user", "parts": [{"text": "hi"}]}
    >>> turns = [asked, *step(thoughtSignature="c2ln"), *step()]
    >>> [(p.rule, p.seq) for p in problems(gemini.load(turns), "gemini")]
    [('missing signature', 4)]
    """
    unsigned = first_calls_unsigned(seen)
    calls = [call for turn in seen[loop_start(seen) :] for call, _ in turn.calls]
    if any(is_signed(call) for call in calls):
        for at, place in unsigned:
            text = "the first call of a step in the current turn has no thought signature"
            yield Problem("missing signature", seen[at].seqs[place], text)


def first_calls_unsigned(seen: Sequence[Seen]) -> list[tuple[int, int]]:
    """
    The first calls of the steps of the current turn that are not signed, as (turn, part).

    >>> first_calls_unsigned([])
    []
    """
    found: list[tuple[int, int]] = []
    for at in range(loop_start(seen), len(seen)):
        for call, _ in seen[at].calls[:1]:
            if not is_signed(call):
                found.append((at, next(n for n, part in enumerate(seen[at].parts) if part is call)))

    return found
