"""
Rules of how much: cache marks, pictures and documents, the length of a text or of arguments.

Each rule is one function over a conversation as a provider sees it.
"""

from collections.abc import Iterator, Sequence

from unabridged.formats.marks import marks_of, may_be_marked
from unabridged.formats.provider import Provider
from unabridged.formats.turns import Problem, Seen
from unabridged.messages import Document, Image, Part, Text, ToolResult
from unabridged.text import word

__all__ = [
    "arguments_are_short",
    "few_media",
    "few_pictures",
    "marks_are_few",
    "marks_that_stay",
    "texts_are_short",
]

MOST_MARKS = 4
LONGEST_ARGUMENTS = 1_048_576
LONGEST_TEXT = 10_485_760
_MOST_IN_TURN = {Image: 20, Document: 5}
_MOST_PICTURES = 8


def marks_that_stay(found: Sequence[tuple[str, bool]]) -> list[str]:
    """
    What becomes of the cache marks of a request: the time that each asks for, "" if it goes.

    *found* are theirs, in the order of the prompt, each with whether it may
    stand where it does. Of more than four the oldest go; an hour after five
    minutes becomes five minutes.

    >>> marks_that_stay([("5m", True)] * 5)
    ['', '5m', '5m', '5m', '5m']
    >>> marks_that_stay([("5m", True), ("1h", True), ("5m", False)])
    ['5m', '5m', '']
    """
    sound = [at for at, (_, may_stand) in enumerate(found) if may_stand][-MOST_MARKS:]
    stay = [""] * len(found)
    is_short = False
    for at in sound:
        is_short = is_short or found[at][0] == "5m"
        stay[at] = "5m" if is_short else found[at][0]

    return stay


def marks_are_few(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    No more than four cache marks, none on thinking, and no hour after five minutes.

    "A maximum of 4 blocks with cache_control may be provided", "a ttl='1h'
    cache_control block must not come after a ttl='5m' cache_control block",
    "Thinking blocks cannot be cached directly with cache_control"
    (https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching); four
    cache checkpoints a request
    (https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html).
    Those of the system prompt count; those of tools do too, and are not seen here.

    >>> from unabridged.formats import anthropic, problems
    >>> block = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    >>> messages = anthropic.load([{"role": "user", "content": [block] * 5}])
    >>> [(p.rule, p.seq) for p in problems(messages, "anthropic")]
    [('cache marks', 1)]
    """
    found = [
        (mark, part, seq)
        for turn in seen
        for part, seq in zip(turn.parts, turn.seqs, strict=True)
        for mark in marks_of(part, api.name)
    ]
    stay = marks_that_stay([(mark, may_be_marked(part)) for mark, part, _ in found])
    for (mark, part, seq), kept in zip(found, stay, strict=True):
        if not may_be_marked(part):
            yield Problem("cache marks", seq, "a cache mark on thinking")
        elif not kept:
            text = f"{api.title} takes {MOST_MARKS} cache marks; {len(found)} are there, one here"
            yield Problem("cache marks", seq, text)
        elif kept != mark:
            yield Problem("cache marks", seq, "a cache mark of an hour after one of five minutes")


def arguments_are_short(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    The arguments of a call have at most 1,048,576 characters.

    "Invalid 'input[1].arguments': string too long. Expected a string with maximum
    length 1048576", says OpenAI's API, which puts no such limit on what a model
    writes (https://platform.openai.com/docs/api-reference/responses/create).

    >>> from unabridged import ToolCall, assistant, user
    >>> from unabridged.formats import problems
    >>> turns = [user("hi"), assistant(calls=[ToolCall("c1", "f", {"q": "x" * 1_048_576})])]
    >>> "long arguments" in [found.rule for found in problems(turns, "openai_chat")]
    True
    """
    for turn in seen:
        for call, seq in turn.calls:
            if len(call.arguments) > LONGEST_ARGUMENTS:
                text = (
                    f"the arguments of `{word(call.id)}` have {len(call.arguments):,} characters, "
                    f"{api.title} takes {LONGEST_ARGUMENTS:,}; ClipArguments() shortens them"
                )
                yield Problem("long arguments", seq, text)


def texts_are_short(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    A text, or what a tool gave back, has at most 10,485,760 characters.

    `maxLength` of `InputTextContent.text` and of a call's `output`, in OpenAI's
    description of its API (https://github.com/openai/openai-openapi).

    >>> from unabridged import user
    >>> from unabridged.formats import problems
    >>> [found.rule for found in problems([user("x" * 10_485_761)], "openai_responses")]
    ['long text']
    """
    for turn in seen:
        for part, seq in zip(turn.parts, turn.seqs, strict=True):
            length = _length(part)
            if length > LONGEST_TEXT:
                text = f"{length:,} characters, {api.title} takes {LONGEST_TEXT:,} in one text"
                yield Problem("long text", seq, text)


def _length(part: Part) -> int:
    if isinstance(part, ToolResult):
        return sum([len(inner.text) for inner in part.content if isinstance(inner, Text)])

    return len(part.text) if isinstance(part, Text) else 0


def few_media(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    A turn holds at most 20 images and five documents.

    "You can include up to 20 images", "up to five documents"
    (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html).

    >>> from unabridged import user
    >>> from unabridged.formats import problems
    >>> messages = [user(["Look:", *[Image("aGk=", media_type="image/png")] * 21])]
    >>> [found.rule for found in problems(messages, "bedrock")]
    ['many images']
    """
    for turn in seen:
        for kind, most in _MOST_IN_TURN.items():
            seqs = [seq for part, seq in _media(turn) if isinstance(part, kind)]
            if len(seqs) > most:
                what = f"{kind.__name__.lower()}s"
                text = f"{len(seqs)} {what} in a turn, {api.title} takes {most}"
                yield Problem(f"many {what}", seqs[most], text)


def few_pictures(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    A request holds at most eight images.

    "The maximum number images per request is 8"
    (https://docs.mistral.ai/capabilities/vision/).

    >>> from unabridged import user
    >>> from unabridged.formats import problems
    >>> messages = [user(["Look:", *[Image(url="https://example.org/cat.png")] * 9])]
    >>> [found.rule for found in problems(messages, "mistral")]
    ['many images']
    """
    seqs = [seq for turn in seen for part, seq in _media(turn) if isinstance(part, Image)]
    if len(seqs) > _MOST_PICTURES:
        text = f"{len(seqs)} images, {api.title} takes {_MOST_PICTURES} in a request"
        yield Problem("many images", seqs[_MOST_PICTURES], text)


def _media(turn: Seen) -> Iterator[tuple[Part, int]]:
    for part, seq in zip(turn.parts, turn.seqs, strict=True):
        inside: tuple[Part, ...] = part.content if isinstance(part, ToolResult) else (part,)
        for one in inside:
            yield one, seq
