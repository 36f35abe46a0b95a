"""
Ready tools for agents: `recall` gives back what left the context.

A tool is a definition in the form that each API takes, and a function that
answers a model's call with text. What a model gets wrong is told to it, never
raised. Each answer is one JSON object, so no text of the log can pass for a
line of the tool's, and is bounded: it says where to go on.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, overload

from attrs import field, frozen

from unabridged.async_memory import AsyncMemory
from unabridged.errors import ConfigError
from unabridged.fetching import Excerpt, Findings
from unabridged.memory import Memory
from unabridged.messages import Message, ToolCall, tool
from unabridged.originals import plain
from unabridged.recalling import ERROR, told, told_error
from unabridged.text import brief
from unabridged.text.names import named
from unabridged.tokens import TokenCounter, exact

__all__ = ["AsyncRecall", "Recall", "recall"]

HITS = 8
LEAST = 400
TOO_LARGE = 10**15

DESCRIPTION = (
    "Read again what is no longer in this conversation in full: tool results that were cleared, "
    "texts that were shortened, older messages that were summarized or left out. A marker names "
    "the entry that holds the whole, as in 'the whole is entry 12': give \"12\" as `handle`. "
    "Or look for earlier messages by the words in them with `query`."
)
_OPTIONS = {
    "handle": (
        "string",
        'The entry that a marker or a search names: "12" or "12.2"; null to search.',
    ),
    "start": ("integer", "Where to read a `handle` from: a character, such as `next`; null for 0."),
    "length": ("integer", "The most characters of a `handle` to read; null for as many as fit."),
    "find": ("string", "Words: only the places where a `handle` holds them; null to read it."),
    "query": ("string", "Words to look for in earlier messages; null to read a `handle`."),
    "before": ("integer", "Search only before this entry, such as `next`; null for all."),
}
_WHOLE = re.compile(r"-?[0-9]{1,15}", re.ASCII)


class _Mistake(Exception):  # noqa: N818  told to the model, never raised to a caller
    """
    What a model got wrong, in words for it.
    """


@frozen
class _Asked:
    """
    What a model wants, as a call of the memory: *fetch* or *find*, of *what*, with *options*.
    """

    method: str
    what: str
    options: dict[str, Any]


@frozen
class _Tool:
    """
    What both recalls are: the definitions, and how an answer is made.
    """

    name: str
    max_tokens: int
    count: TokenCounter = field(eq=False, repr=False)

    @property
    def json_schema(self) -> dict[str, Any]:
        """
        The arguments as JSON schema; all are required and may be null, as strict modes want it.
        """
        return {
            "type": "object",
            "properties": {
                name: {"type": [kind, "null"], "description": told}
                for name, (kind, told) in _OPTIONS.items()
            },
            "required": list(_OPTIONS),
            "additionalProperties": False,
        }

    @property
    def openai(self) -> Any:
        """
        The definition for OpenAI's Chat Completions, and for all that speak as it does.

        It is a dict. To type checkers it is anything, since each client has types
        of its own for definitions of tools; so are the next two.
        """
        return {"type": "function", "function": {**self._described, **self._strict}}

    @property
    def responses(self) -> Any:
        """
        The definition for OpenAI's Responses.
        """
        return {"type": "function", **self._described, **self._strict}

    @property
    def anthropic(self) -> Any:
        """
        The definition for Anthropic's Messages.
        """
        return {**self._described, "input_schema": self.json_schema}

    @property
    def _described(self) -> dict[str, Any]:
        return {"name": self.name, "description": DESCRIPTION}

    @property
    def _strict(self) -> dict[str, Any]:
        return {"parameters": self.json_schema, "strict": True}

    def _asked(self, arguments: Mapping[str, Any]) -> _Asked:
        """
        What the arguments of a call ask for.
        """
        if unknown := [name for name in arguments if name not in _OPTIONS]:
            msg = f"no argument `{plain(unknown[0])}`; there are {', '.join(_OPTIONS)}"
            raise _Mistake(msg)
        handle = _words(arguments, "handle")
        find, query = _words(arguments, "find"), _words(arguments, "query")
        if handle:
            options = {"start": _number(arguments, "start") or 0, "find": find or query or None}
            length = _number(arguments, "length") or None  # none of it is what nobody asks for
            return _Asked("fetch", handle, {**options, "length": length})
        if not (query or find):
            msg = "give `handle` (the entry that a marker names) or `query` (words to look for)"
            raise _Mistake(msg)
        options = {"last": HITS, "before": _number(arguments, "before")}

        return _Asked("find", query or find, {**options, "exclude": self.name, "left_out": True})

    def _told(self, asked: _Asked, found: Excerpt | Findings) -> str:
        """
        What was found, as much of it as the tokens of an answer hold.
        """
        places = bool(asked.options.get("find"))

        return told(found, self.max_tokens, self.count, places=places)

    def _message(self, call: ToolCall, text: str) -> Message:
        return tool(text, call_id=call.id, is_error=text.startswith(ERROR))

    def _arguments(self, call: ToolCall) -> dict[str, Any]:
        """
        The arguments of a call as a model wrote them.
        """
        if not isinstance(call, ToolCall):
            msg = (
                f"{self.name}.answer: expected a ToolCall, got {type(call).__name__}; "
                "`formats.*.reply` makes messages of a response, and these have `calls`"
            )
            raise ConfigError(msg)
        if call.name != self.name:
            msg = f"there is no tool `{plain(call.name)}` here; this one is `{self.name}`"
            raise _Mistake(msg)
        try:
            arguments = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            msg = f"the arguments are no JSON object; give {', '.join(_OPTIONS)} in one"
            raise _Mistake(msg)

        return arguments


@frozen
class Recall(_Tool):
    """
    The tool that `recall` makes for a `Memory`: call it with a model's arguments.

    >>> from unabridged import user
    >>> memory = Memory()
    >>> _ = memory.append(user("My name is Ana."))
    >>> Recall("recall", 2_000, exact(), memory)(query="name")
    '{"found":[{"handle":"1","start":0,"length":15,"hits":1,"text":"My name is Ana."}],"next":null}'
    """

    memory: Memory = field(repr=False)

    def __call__(self, /, **arguments: Any) -> str:
        """
        The answer to a call with these arguments.
        """
        try:
            asked = self._asked(arguments)
            found = getattr(self.memory, asked.method)(asked.what, **asked.options)
        except (_Mistake, ConfigError) as error:
            return told_error(error)

        return self._told(asked, found)

    def answer(self, call: ToolCall) -> Message:
        """
        The message that answers a model's call.
        """
        try:
            text = self(**self._arguments(call))
        except _Mistake as error:
            text = told_error(error)

        return self._message(call, text)


@frozen
class AsyncRecall(_Tool):
    """
    The tool that `recall` makes for an `AsyncMemory`: as `Recall`, awaited.

    >>> import asyncio
    >>> from unabridged import user
    >>> async def main():
    ...     memory = AsyncMemory()
    ...     await memory.append(user("My name is Ana."))
    ...     return await recall(memory)(handle="1", find="ana")
    >>> asyncio.run(main())
    '{"handle":"1","length":15,"hits":1,"found":[{"start":0,"text":"My name is Ana."}],"next":null}'
    """

    memory: AsyncMemory = field(repr=False)

    async def __call__(self, /, **arguments: Any) -> str:
        """
        As `Recall.__call__`.
        """
        try:
            asked = self._asked(arguments)
            found = await getattr(self.memory, asked.method)(asked.what, **asked.options)
        except (_Mistake, ConfigError) as error:
            return told_error(error)

        return self._told(asked, found)

    async def answer(self, call: ToolCall) -> Message:
        """
        As `Recall.answer`.
        """
        try:
            text = await self(**self._arguments(call))
        except _Mistake as error:
            text = told_error(error)

        return self._message(call, text)


@overload
def recall(
    memory: Memory, *, name: str = ..., max_tokens: int = ..., count: TokenCounter | None = ...
) -> Recall: ...
@overload
def recall(
    memory: AsyncMemory,
    *,
    name: str = ...,
    max_tokens: int = ...,
    count: TokenCounter | None = ...,
) -> AsyncRecall: ...
@named
def recall(
    memory: Memory | AsyncMemory,
    *,
    name: str = "recall",
    max_tokens: int = 2_000,
    count: TokenCounter | None = None,
) -> Recall | AsyncRecall:
    r"""
    A tool by which an agent reads again what left its context, and looks for words in it.

    Give `openai`, `responses` or `anthropic` of it to the model, and what the model
    calls it with to the tool itself: `tool(**arguments)` gives text, `tool.answer(call)`
    the message to append; with an `AsyncMemory` both are awaited. What a person
    retracted, rewound or cleared is neither read nor found.

    Args:
        memory: whose log is read.
        name: what the model calls it.
        max_tokens: the most tokens of an answer, 400 or more.
        count: the counter of these; `tokens.exact()` by default.

    Raises:
        ConfigError: *memory* is none, or an option is wrong.

    >>> from unabridged import Memory, ToolCall, tool
    >>> memory = Memory()
    >>> _ = memory.append(tool("All 40 rows are fine.", call_id="c1"))
    >>> again = recall(memory)
    >>> again(handle="1")
    '{"handle":"1","start":0,"stop":21,"length":21,"text":"All 40 rows are fine.","next":null}'
    >>> again.answer(ToolCall("c2", "recall", {"handle": "9"})).text
    '{"error":"fetch: thread \'default\' has no entry 9; they are 1 to 1"}'
    """
    if not isinstance(name, str) or not name.strip():
        msg = f"recall: `name` must be the name of a tool, got {brief(name)}"
        raise ConfigError(msg)
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < LEAST:
        msg = f"recall: `max_tokens` must be an int of {LEAST} or more, got {brief(max_tokens)}"
        raise ConfigError(msg)
    counter = exact() if count is None else count
    if isinstance(memory, Memory):
        return Recall(name, max_tokens, counter, memory)
    if isinstance(memory, AsyncMemory):
        return AsyncRecall(name, max_tokens, counter, memory)
    msg = f"recall: expected a Memory or an AsyncMemory, got {type(memory).__name__}"
    raise ConfigError(msg)


def _words(arguments: Mapping[str, Any], name: str) -> str:
    """
    An argument that is words; a number of a handle is taken as such.
    """
    value = arguments.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool) and name == "handle":
        value = _spelled(value)
    if value is None:
        return ""
    if not isinstance(value, str):
        msg = f"`{name}` takes text or null, got {plain(_spelled(value))}"
        raise _Mistake(msg)

    return value.strip()


def _number(arguments: Mapping[str, Any], name: str) -> int | None:
    """
    An argument that is a whole number, however it is spelled.
    """
    value = arguments.get(name)
    if value is None or value == "":
        return None
    text = _spelled(value)
    if isinstance(value, bool) or not _WHOLE.fullmatch(text):
        msg = f"`{name}` takes a whole number or null, got {plain(text)}"
        raise _Mistake(msg)

    return int(text)


def _spelled(value: object) -> str:
    """
    A number as text, whether a model wrote 12, 12.0 or "12"; any other value, as far as it can be.
    """
    if isinstance(value, int | float) and abs(value) >= TOO_LARGE:
        return "a number that is too large"
    if isinstance(value, str | int | float):
        return str(value).strip().removesuffix(".0")

    return brief(value)  # of lists and dicts nobody knows how large they are
