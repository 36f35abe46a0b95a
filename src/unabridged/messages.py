"""
Messages: a role, parts, and what a caller wants to keep beside them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import field, fields_dict, frozen

from unabridged.errors import ConfigError
from unabridged.hosted.table import words_in
from unabridged.json_values import Json, joined, json_object, sound_text
from unabridged.parts import (
    NO_JSON,
    Audio,
    Content,
    Document,
    Image,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    as_parts,
    blank,
    kept_extra,
)
from unabridged.text import brief
from unabridged.text.names import named, with_named_init

__all__ = [
    "Audio",
    "Content",
    "Document",
    "Image",
    "Json",
    "Message",
    "Opaque",
    "Part",
    "Reasoning",
    "Text",
    "ToolCall",
    "ToolResult",
    "assistant",
    "quick_message",
    "system",
    "tool",
    "user",
]


_SPOKEN = (Text, ToolResult)


def _maybe_text(value: str | None) -> str | None:
    return None if value is None else sound_text(value, "name or id")


def _metadata(value: Mapping[str, Any] | Json | None) -> Json:
    if type(value) is Json:
        return value
    if value is None:
        return NO_JSON
    if not isinstance(value, Mapping):
        msg = f"metadata: expected a dict, got {type(value).__name__}"
        raise ConfigError(msg)

    return json_object(value, "metadata") if value else NO_JSON


def _message_parts(value: str | Part | Iterable[str | Part]) -> tuple[Part, ...]:
    return as_parts(value, "a message's content")


def _role(value: str) -> str:
    role = sound_text(value, "role")
    if not role.strip():
        msg = f"role: expected a word such as 'user', got {brief(value)}"
        raise ConfigError(msg)

    return role


class Remembered:
    """
    Room for what is worked out from a value once: it goes with the value, and is no part of it.
    """

    __slots__ = ("__weakref__", "_digest", "_made")

    _digest: bytes
    _made: dict[Any, Any]


@with_named_init
@frozen(weakref_slot=False, cache_hash=True)  # of what is said alone, and once
class Message(Remembered):
    """
    One message of a conversation.

    The *role* is any word; system, developer, user, assistant and tool have a
    meaning. *parts* are what it is made of, or a text, *name* is the speaker's.
    An *id* makes a retry safe: the same message is kept once. *metadata* is
    yours: kept, never sent, never counted. *extra* holds a provider's own keys.

    Raises:
        ConfigError: a field holds what JSON cannot; the text names its path.

    >>> str(Message("assistant", (Text("Looking."), ToolCall("c1", "find", '{"q": 1}'))))
    'assistant: Looking. [tool calls: find({"q": 1})]'
    """

    role: str = field(converter=_role)
    parts: tuple[Part, ...] = field(default=(), converter=_message_parts)
    name: str | None = field(default=None, converter=_maybe_text, kw_only=True, hash=False)
    id: str | None = field(default=None, converter=_maybe_text, kw_only=True, hash=False)
    metadata: Json = field(default=NO_JSON, converter=_metadata, kw_only=True, hash=False)
    extra: Json = field(default=NO_JSON, converter=kept_extra, kw_only=True, repr=False, hash=False)

    @property
    def text(self) -> str:
        """
        The words of the message and of the tool results in it.
        """
        return "".join([part.text for part in self.parts if isinstance(part, _SPOKEN)])

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """
        The calls in it.
        """
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """
        The results in it.
        """
        return tuple(part for part in self.parts if isinstance(part, ToolResult))

    @property
    def reasoning(self) -> tuple[Reasoning, ...]:
        """
        The reasoning in it.
        """
        return tuple(part for part in self.parts if isinstance(part, Reasoning))

    def counted_text(self) -> str:
        """
        What a counter of text counts.

        Words and reasoning, then each call as `name(arguments)`, then the ids of
        the calls that are answered, and the words of what only a provider
        understands; one a line, empty ones left out.

        >>> print(tool("sunny", call_id="c1").counted_text())
        sunny
        c1
        """
        lines = [
            self.text,
            *(thought.text for thought in self.reasoning),
            *(f"{call.name}({call.arguments})" for call in self.tool_calls),
            *(result.call_id for result in self.tool_results),
            *_hosted_words(self.parts),
        ]
        return "\n".join(line for line in lines if line)

    def __str__(self) -> str:
        calls = ", ".join(f"{call.name}({call.arguments})" for call in self.tool_calls)
        return f"{self.role}: {self.text}" + (f" [tool calls: {calls}]" if calls else "")


def _hosted_words(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Opaque):
            yield words_in(part)
        elif isinstance(part, ToolResult):
            yield from _hosted_words(part.content)


_blank_message: Any = blank(Message)
# where attrs keeps the hash once it is known has a name of its own
(_hidden,) = {*vars(Message)["__slots__"]} - {*fields_dict(Message)}
_blank_message.known_hash = vars(_blank_message)[_hidden]


def quick_message(  # noqa: PLR0913  the fields
    role: str,
    parts: tuple[Part, ...],
    name: str | None = None,
    id_: str | None = None,
    metadata: Json = NO_JSON,
    extra: Json = NO_JSON,
    /,
) -> Message:
    """
    The message of these fields, at a third of the cost of building it by its class.

    As with `parts.quick_text`, what is given must have been looked at already:
    each is of its type, and the *role* is not blank. Then the message is equal
    in every way to what the class builds.

    >>> quick_message("user", (Text("hi"),)) == user("hi")
    True
    """
    message = _blank_message()
    message.role = role if role.isascii() else joined(role)
    message.parts = parts
    message.name = name if name is None or name.isascii() else joined(name)
    message.id = id_ if id_ is None or id_.isascii() else joined(id_)
    message.metadata = metadata
    message.extra = extra
    message.known_hash = None
    message.__class__ = Message

    return message  # type: ignore[no-any-return]


@named
def system(
    content: str | Part | Iterable[str | Part],
    *,
    name: str | None = None,
    id: str | None = None,  # noqa: A002  the field's name
    metadata: Mapping[str, Any] | Json | None = None,
) -> Message:
    """
    A system message: pinned when it is appended.

    >>> str(system("Be brief."))
    'system: Be brief.'
    """
    return Message("system", content, name=name, id=id, metadata=metadata)


@named
def user(
    content: str | Part | Iterable[str | Part],
    *,
    name: str | None = None,
    id: str | None = None,  # noqa: A002  the field's name
    metadata: Mapping[str, Any] | Json | None = None,
) -> Message:
    """
    A user's message: words, pictures, documents.

    >>> user(["What is this?", Image(url="https://example.org/cat.png")]).text
    'What is this?'
    """
    return Message("user", content, name=name, id=id, metadata=metadata)


@named
def assistant(
    content: str | Part | Iterable[str | Part] = (),
    *,
    calls: ToolCall | Iterable[ToolCall] = (),
    name: str | None = None,
    id: str | None = None,  # noqa: A002  the field's name
    metadata: Mapping[str, Any] | Json | None = None,
) -> Message:
    """
    A model's answer, with the *calls* it makes.

    >>> str(assistant(calls=[ToolCall("c1", "weather", {"city": "Lima"})]))
    'assistant:  [tool calls: weather({"city":"Lima"})]'
    """
    parts = (*_message_parts(content), *as_parts(calls, "calls"))
    return Message("assistant", parts, name=name, id=id, metadata=metadata)


@named
def tool(  # noqa: PLR0913  every one but the first is a keyword
    content: str | Content | Iterable[str | Content] = (),
    *,
    call_id: str,
    is_error: bool = False,
    name: str | None = None,
    id: str | None = None,  # noqa: A002  the field's name
    metadata: Mapping[str, Any] | Json | None = None,
) -> Message:
    """
    A tool's answer to the call *call_id*.

    >>> tool("sunny", call_id="c1").tool_results[0].call_id
    'c1'
    """
    result = ToolResult(call_id, content, is_error=is_error)
    return Message("tool", result, name=name, id=id, metadata=metadata)
