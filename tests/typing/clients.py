"""
What each provider's real client makes of `request`: its arguments and answers keep their types.

Checked as strictly as the checkers can, never run; it needs the extra `clients`.
"""
# pyright: strict
# pyright: reportUnnecessaryTypeIgnoreComment=true
# pyright: reportUnknownMemberType=false
# (google-genai names PIL's and mcp's types, which are not installed)

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, assert_type

from anthropic import Anthropic, AsyncAnthropic, AsyncStream
from anthropic import Stream as AnthropicStream
from anthropic.types import Message as AnthropicMessage
from anthropic.types import RawMessageStreamEvent
from google import genai
from google.genai.types import GenerateContentResponse
from openai import AsyncOpenAI, OpenAI
from openai import AsyncStream as OpenAIAsyncStream
from openai import Stream as OpenAIStream
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent

from unabridged import AsyncMemory, Memory, formats, tools
from unabridged.formats import (
    AnthropicRequest,
    BedrockRequest,
    ChatRequest,
    GeminiRequest,
    ResponsesRequest,
)
from unabridged.messages import Message

Messages = tuple[Message, ...]


def chat(client: OpenAI, memory: Memory) -> None:
    request = formats.openai_chat.request(memory.context().messages)
    assert_type(request, ChatRequest)
    response = client.chat.completions.create(model="m", **request)
    assert_type(response, ChatCompletion)
    memory.append(*formats.openai_chat.reply(response))
    events = client.chat.completions.create(model="m", stream=True, temperature=0, **request)
    assert_type(events, OpenAIStream[ChatCompletionChunk])
    memory.append(*formats.openai_chat.reply(list(events)))
    client.chat.completions.create(model="m", tools=[], n=1, **request)
    with client.chat.completions.stream(model="m", **request) as stream:
        memory.append(*formats.openai_chat.reply(list(stream)))
    first: str = request["messages"][0]["role"]
    request["messages"].append({"role": "user", "content": first})


def responses(client: OpenAI, memory: Memory) -> None:
    request = formats.openai_responses.request(memory.context().view)
    assert_type(request, ResponsesRequest)
    response = client.responses.create(model="m", **request)
    assert_type(response, Response)
    memory.append(*formats.openai_responses.reply(response))
    events = client.responses.create(model="m", stream=True, store=False, **request)
    assert_type(events, OpenAIStream[ResponseStreamEvent])
    memory.append(*formats.openai_responses.reply(list(events)))
    with client.responses.stream(model="m", tools=[], **request) as stream:
        memory.append(*formats.openai_responses.reply(list(stream)))
    told: str = request.get("instructions", "")
    request["instructions"] = told + "Be brief."


def messages(client: Anthropic, memory: Memory) -> None:
    request = formats.anthropic.request(memory.context().messages)
    assert_type(request, AnthropicRequest)
    response = client.messages.create(model="m", max_tokens=9, **request)
    assert_type(response, AnthropicMessage)
    memory.append(*formats.anthropic.reply(response))
    events = client.messages.create(model="m", max_tokens=9, stream=True, tools=[], **request)
    assert_type(events, AnthropicStream[RawMessageStreamEvent])
    memory.append(*formats.anthropic.reply(list(events)))
    with client.messages.stream(model="m", max_tokens=9, **request) as stream:
        memory.append(*formats.anthropic.reply(list(stream)))
    assert_type(client.messages.count_tokens(model="m", **request).input_tokens, int)


def contents(client: genai.Client, memory: Memory) -> None:
    request = formats.gemini.request(memory.context().messages)
    assert_type(request, GeminiRequest)
    response = client.models.generate_content(model="m", **request)
    assert_type(response, GenerateContentResponse)
    memory.append(*formats.gemini.reply(response))
    stream = client.models.generate_content_stream(model="m", **request)
    memory.append(*formats.gemini.reply(list(stream)))
    request.setdefault("config", {})["tools"] = []
    client.models.generate_content(model="m", **request)
    client.models.generate_content(
        model="m", contents=request["contents"], config={"temperature": 0}
    )


class Bedrock(Protocol):
    """
    boto3's client, which has no types of its own; those of types-boto3 take the same.
    """

    def converse(
        self,
        *,
        modelId: str,  # noqa: N803  boto3's name
        messages: Sequence[Mapping[str, Any]] = ...,
        system: Sequence[Mapping[str, Any]] = ...,
        inferenceConfig: Mapping[str, Any] = ...,  # noqa: N803
    ) -> dict[str, Any]: ...


def converse(client: Bedrock, memory: Memory) -> None:
    request = formats.bedrock.request(memory.context().messages)
    assert_type(request, BedrockRequest)
    response = client.converse(modelId="m", inferenceConfig={"maxTokens": 9}, **request)
    memory.append(*formats.bedrock.reply(response))


def recalling(openai: OpenAI, anthropic: Anthropic, memory: Memory) -> None:
    recall = tools.recall(memory)
    asked = formats.openai_chat.request(memory.context().messages)
    response = openai.chat.completions.create(model="m", tools=[recall.openai], **asked)
    assert_type(response, ChatCompletion)
    items = formats.openai_responses.request(memory.context().messages)
    given = openai.responses.create(model="m", tools=[recall.responses], **items)
    assert_type(given, Response)
    turns = formats.anthropic.request(memory.context().messages)
    said = anthropic.messages.create(model="m", max_tokens=9, tools=[recall.anthropic], **turns)
    assert_type(said, AnthropicMessage)


async def awaited(
    openai: AsyncOpenAI, anthropic: AsyncAnthropic, google: genai.Client, memory: AsyncMemory
) -> None:
    told: Messages = (await memory.context()).messages
    spoken = formats.openai_chat.request(told)
    assert_type(await openai.chat.completions.create(model="m", **spoken), ChatCompletion)
    chunks = await openai.chat.completions.create(model="m", stream=True, **spoken)
    assert_type(chunks, OpenAIAsyncStream[ChatCompletionChunk])
    items = formats.openai_responses.request(told)
    assert_type(await openai.responses.create(model="m", **items), Response)
    events = await openai.responses.create(model="m", stream=True, **items)
    assert_type(events, OpenAIAsyncStream[ResponseStreamEvent])
    turns = formats.anthropic.request(told)
    said = await anthropic.messages.create(model="m", max_tokens=9, **turns)
    assert_type(said, AnthropicMessage)
    stream = await anthropic.messages.create(model="m", max_tokens=9, stream=True, **turns)
    assert_type(stream, AsyncStream[RawMessageStreamEvent])
    await memory.append(*formats.anthropic.reply([event async for event in stream]))
    parts = formats.gemini.request(told)
    given = await google.aio.models.generate_content(model="m", **parts)
    assert_type(given, GenerateContentResponse)


def wrong(client: OpenAI, memory: Memory) -> None:
    request = formats.openai_chat.request(memory.context().messages)
    client.chat.completions.create(model=5, **request)  # type: ignore[call-overload]
    client.chat.completions.create(**request)  # type: ignore[call-overload]
    request["turns"] = []  # type: ignore[typeddict-unknown-key]
    formats.openai_chat.request("hi")  # type: ignore[arg-type]
