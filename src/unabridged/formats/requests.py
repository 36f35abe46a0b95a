"""
What `request` of each format gives: the keyword arguments of its provider's client, typed.

A type checker sees through `create(model=…, **request)`, for sync and async
clients, whole answers and streams. No client is imported for it.
"""

from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

__all__ = [
    "AnthropicRequest",
    "BedrockRequest",
    "ChatRequest",
    "GeminiRequest",
    "ResponsesRequest",
    "Turns",
]

if TYPE_CHECKING:

    class Turns(list[Any]):
        """
        A list of dicts as an API takes them; when it runs it is a plain list.

        A class of its own for type checkers alone: where a `list[Any]` stands
        beside other arguments, mypy no longer tells a stream from a whole answer.
        """

else:
    Turns = list


class ChatRequest(TypedDict):
    """
    Keyword arguments of `client.chat.completions.create`.

    >>> from unabridged import formats, user
    >>> request: ChatRequest = formats.openai_chat.request([user("hi")])
    >>> list(request)
    ['messages']
    """

    messages: Turns


class ResponsesRequest(TypedDict):
    """
    Keyword arguments of `client.responses.create`; *instructions* where some were loaded.

    >>> from unabridged import formats, user
    >>> request: ResponsesRequest = formats.openai_responses.request([user("hi")])
    >>> list(request)
    ['input']
    """

    input: Turns
    instructions: NotRequired[str]


class AnthropicRequest(TypedDict):
    """
    Keyword arguments of `client.messages.create`, which wants `max_tokens` as well.

    *system* is there where the messages begin with one.

    >>> from unabridged import formats, system, user
    >>> request: AnthropicRequest = formats.anthropic.request([system("Be brief."), user("hi")])
    >>> sorted(request)
    ['messages', 'system']
    """

    messages: Turns
    system: NotRequired[str | Turns]


class GeminiRequest(TypedDict):
    """
    Keyword arguments of `client.models.generate_content`.

    *config*, a dict with the `system_instruction`, is there where the messages
    begin with one; add tools and settings to it.

    >>> from unabridged import formats, system, user
    >>> request: GeminiRequest = formats.gemini.request([system("Be brief."), user("hi")])
    >>> request["config"]
    {'system_instruction': 'Be brief.'}
    """

    contents: Turns
    config: NotRequired[Any]  # the client's own dicts want every key of theirs


class BedrockRequest(TypedDict):
    """
    Keyword arguments of boto3's `client.converse` and `converse_stream`.

    *system* is there where the messages begin with one.

    >>> from unabridged import formats, system, user
    >>> request: BedrockRequest = formats.bedrock.request([system("Be brief."), user("hi")])
    >>> request["system"]
    [{'text': 'Be brief.'}]
    """

    messages: Turns
    system: NotRequired[Turns]
