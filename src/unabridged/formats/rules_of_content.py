"""
Rules of what stands in a message: texts, names, ids, arguments.

Each rule is one function over a conversation as a provider sees it.
"""

import json
import re
from collections.abc import Iterator, Sequence

from unabridged.formats.extras import Extras
from unabridged.formats.provider import Provider
from unabridged.formats.turns import Problem, Seen
from unabridged.json_values import json_of
from unabridged.messages import Document, Message, Part, Text, ToolResult
from unabridged.text import brief, word

__all__ = [
    "ROLES",
    "arguments_are_objects",
    "documents_have_words",
    "ids_are_unique",
    "ids_fit",
    "is_blank",
    "is_halved",
    "is_object",
    "loaded",
    "names_fit",
    "names_function",
    "no_blank_text",
    "no_empty_message",
    "roles_are_known",
    "speakers_fit",
    "texts_are_sound",
]

_HALF = re.compile("[\ud800-\udfff]")
ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


def is_blank(part: Part, api: Provider) -> bool:
    """
    Whether it is a text that *api* refuses as blank; one that carries keys of its own is not.

    >>> from unabridged import Text
    >>> from unabridged.formats.providers import PROVIDERS
    >>> is_blank(Text(" "), PROVIDERS["anthropic"]), is_blank(Text(" "), PROVIDERS["gemini"])
    (True, False)
    """
    if not api.blank or not isinstance(part, Text):
        return False
    if api.blank == "nothing":  # an empty text is taken, an empty message is not
        return False
    if api.blank == "empty":
        return not part.text and not Extras(api.name).own(part.extra)

    return not part.text.strip()


def no_blank_text(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    No text is empty; nor white space alone, where that is refused too.

    "text content blocks must be non-empty" and "must contain non-whitespace
    text" (Anthropic, https://docs.anthropic.com/en/api/messages); "The text field
    in the ContentBlock object is blank" (Bedrock); empty parts (Gemini).

    >>> from unabridged import user
    >>> from unabridged.formats import problems
    >>> problems([user("  ")], "bedrock")[0].rule
    'blank text'
    """
    for turn in seen:
        for part, seq in zip(turn.parts, turn.seqs, strict=True):
            if is_blank(part, api):
                yield Problem("blank text", seq, "a text without words")
            elif isinstance(part, ToolResult) and any(is_blank(p, api) for p in part.content):
                text = f"the result of `{word(part.call_id)}` has a text without words"
                yield Problem("blank text", seq, text)


def no_empty_message(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    Every message holds something.

    "all messages must have non-empty content except for the optional final
    assistant message" (https://docs.anthropic.com/en/api/messages); Bedrock and
    Gemini refuse a content without blocks or parts.

    >>> from unabridged import user
    >>> from unabridged.formats import problems
    >>> problems([user([])], "gemini")[0].rule
    'empty message'
    """
    for turn in seen:
        if not turn.parts and turn.side != "system":
            yield Problem("empty message", turn.seq, "the message holds nothing")


def documents_have_words(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    A turn with a document has a text beside it.

    "If you include a ContentBlock with a document field in the array, you must
    also include a ContentBlock with a text field", says
    https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html.

    >>> from unabridged import user
    >>> from unabridged.formats import problems
    >>> [p.rule for p in problems([user(Document(text="Be kind."))], "bedrock")]
    ['document without text']
    """
    for turn in seen:
        kinds = {type(part) for part in turn.parts}
        if Document in kinds and Text not in kinds:
            place = next(n for n, part in enumerate(turn.parts) if isinstance(part, Document))
            yield Problem("document without text", turn.seqs[place], "no text stands beside it")


def ids_are_unique(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    No two calls have one id: in a turn, or in the whole where ids alone pair.

    "messages.1.content.1: tool_use ids must be unique" (Anthropic, by users'
    reports over the whole conversation); "The toolUse blocks at
    messages.2.content contain duplicate Ids" (Bedrock). Where results find their
    calls by id alone (Responses), twice the same id is ambiguous.

    >>> from unabridged.formats import problems
    >>> from unabridged.testing import call, result, user
    >>> again = [user("hi"), call("c1"), result("c1"), call("c1"), result("c1")]
    >>> [(p.rule, p.seq) for p in problems(again, "openai_responses")]
    [('repeated id', 4)]
    >>> problems(again, "openai_chat")
    ()
    """
    used: set[str] = set()
    for turn in seen:
        if api.unique == "turn":
            used = set()
        for call, seq in turn.calls:
            if call.id in used and api.sends_id(call):
                yield Problem(
                    "repeated id", seq, f"a call before it has the id `{word(call.id)}` too"
                )
            used.add(call.id)


def ids_fit(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    An id has the characters and the length that the API takes.

    Anthropic: `^[a-zA-Z0-9_-]+$`, as its error says; Bedrock: see ToolUseBlock,
    https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html;
    Mistral: exactly nine letters or digits; OpenAI: at most 64 characters (40 in
    chat), and some.

    >>> from unabridged.formats import problems
    >>> from unabridged.testing import call, result, user
    >>> [p.rule for p in problems([user("hi"), call("c:1"), result("c:1")], "anthropic")]
    ['bad id', 'bad id']
    """
    for turn in seen:
        ids = [(call.id, seq) for call, seq in turn.calls if api.sends_id(call)]
        ids += [(result.call_id, seq) for result, seq in turn.results if api.sends_id(result)]
        for id_, seq in ids:
            if not api.call_id.fullmatch(id_):
                wrong = f"{brief(id_)} is not of the form {api.call_id.pattern}"
                text = f"the id {wrong}" if id_ else "the id is missing, or empty"
                yield Problem("bad id", seq, text)


def names_fit(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    A function's name has the characters and the length that the API takes.

    `[a-zA-Z0-9_-]{1,64}` (OpenAI's errors, https://platform.openai.com/docs/api-reference/chat;
    Bedrock's ToolUseBlock), up to 128 for Anthropic, dots and colons too for
    Gemini (https://ai.google.dev/api/caching#FunctionDeclaration).

    >>> from unabridged import ToolCall, assistant, user
    >>> from unabridged.formats import problems
    >>> turns = [user("hi"), assistant(calls=[ToolCall("c1", "get weather")])]
    >>> "bad name" in [p.rule for p in problems(turns, "openai_chat")]
    True
    """
    for turn in seen:
        for call, seq in turn.calls:
            if not api.tool_name.fullmatch(call.name):
                text = f"the name {brief(call.name)} is not of the form {api.tool_name.pattern}"
                yield Problem("bad name", seq, text)
        name = turn.message.name
        if name is None or api.tool_name.fullmatch(name):
            continue
        if names_function(turn.message, api):
            text = f"the name {brief(name)} is not of the form {api.tool_name.pattern}"
            yield Problem("bad name", turn.seq, text)


def names_function(message: Message, api: Provider) -> bool:
    """
    Whether the message's name is that of a function whose result it holds, sent without an id.

    >>> from unabridged import user
    >>> from unabridged.formats.providers import PROVIDERS
    >>> names_function(user("hi", name="ann"), PROVIDERS["openai_chat"])
    False
    """
    return any(not api.sends_id(result) for result in message.tool_results)


def speakers_fit(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    r"""
    A speaker's name has the characters and the length that the API takes.

    OpenAI: "string does not match pattern: '^[^\s<|\\/>]+$'", at most 64 characters.

    >>> from unabridged import user
    >>> from unabridged.formats import problems
    >>> [p.rule for p in problems([user("hi", name="Ana Luz")], "openai_chat")]
    ['bad speaker']
    """
    for turn in seen:
        name = turn.message.name
        if api.speaker is None or name is None or names_function(turn.message, api):
            continue
        if not api.speaker.fullmatch(name):
            text = f"the name {brief(name)} is not of the form {api.speaker.pattern}"
            yield Problem("bad speaker", turn.seq, text)


def arguments_are_objects(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    The arguments of a call are a JSON object, where they are sent as one.

    `input` (Anthropic, Bedrock) and `args` (Gemini) are objects by their schemas.

    >>> from unabridged import ToolCall, assistant, user
    >>> from unabridged.formats import problems
    >>> turns = [user("hi"), assistant(calls=[ToolCall("c1", "now", "[1]")])]
    >>> "bad arguments" in [p.rule for p in problems(turns, "anthropic")]
    True
    """
    for turn in seen:
        for call, seq in turn.calls:
            if not is_object(call.arguments):
                given = brief(call.arguments)
                text = f"the arguments of `{word(call.id)}` are no JSON object: {given}"
                yield Problem("bad arguments", seq, text)


def is_object(text: str) -> bool:
    """
    Whether it is the JSON text of an object.

    >>> is_object("{}"), is_object("[]")
    (True, False)
    """
    return isinstance(loaded(text), dict)


def loaded(text: str) -> object:
    """
    What a JSON text says; None for null, and for what no API reads as JSON.

    >>> loaded("[1]"), loaded("NaN")
    ([1], None)
    """
    try:
        return json_of(json.loads(text)).value
    except (ValueError, RecursionError):
        return None


def texts_are_sound(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    r"""
    No text holds half of a character, a lone surrogate.

    It has no form in UTF-8, in which every client writes its request.

    >>> from unabridged import user
    >>> from unabridged.formats import problems
    >>> [found.rule for found in problems([user("\ud83d")], "openai_chat")]
    ['half a character']
    """
    for turn in seen:
        for part, seq in zip(turn.parts, turn.seqs, strict=True):
            if is_halved(part):
                yield Problem("half a character", seq, "a lone surrogate, which UTF-8 cannot hold")


def is_halved(part: Part) -> bool:
    r"""
    Whether a text, or one of a result's, holds a lone surrogate.

    >>> is_halved(Text("\ud83d")), is_halved(Text("hi"))
    (True, False)
    """
    if isinstance(part, ToolResult):
        return any(is_halved(inner) for inner in part.content)
    text = part.text if isinstance(part, Text) else ""

    return not text.isascii() and _HALF.search(text) is not None


def roles_are_known(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    A role is one of system, developer, user, assistant and tool.

    Every API names the roles that it takes and refuses others.

    >>> from unabridged import Message
    >>> from unabridged.formats import problems
    >>> problems([Message("critic", "Too long.")], "openai_chat")[0].rule
    'unknown role'
    """
    for turn in seen:
        if turn.message.role not in ROLES:
            text = f"no API knows the role {brief(turn.message.role)}"
            yield Problem("unknown role", turn.seq, text)
