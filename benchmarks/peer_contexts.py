"""
Chats as other libraries keep and cut them, each behind the same two functions.

Not a script: `peers.py` imports this. A peer is imported when it is made, so one
that is not installed is only left out. All that count tokens count with the same
tokenizer, and each is set up as its documentation shows for a chat that has to fit.
"""

from collections.abc import Callable, Coroutine, Iterable
from functools import cache
from typing import Any, NamedTuple

from unabridged.tokens.vocabulary import encoding

__all__ = ["BUDGET", "PEERS", "Chat", "Peer", "Said"]

BUDGET, WINDOW = 2_000, 40
Said = tuple[str, str]  # a role, "user" or "assistant", and a text


class Chat(NamedTuple):
    """
    A chat in some library: *say* makes a message, *turn* takes new ones and gives the context.
    """

    say: Callable[[str, str], Any]
    turn: Callable[[list[Any]], object]


class Peer(NamedTuple):
    """
    A library's way: whether it holds a token budget, and whether what it cut is still there.
    """

    name: str
    make: Callable[[Iterable[Said]], Chat]
    budget: bool
    keeps: bool


@cache
def encode() -> Callable[[str], list[int]]:
    """
    The tokenizer of all, from the vocabulary that we bring along.
    """
    return encoding("o200k_base").encode_ordinary


def tokens(text: str) -> int:
    """
    The tokens of a text.
    """
    return len(encode()(text))


def done(work: Coroutine[Any, Any, Any]) -> Any:
    """
    The outcome of an async function that waits for nothing, without a loop's cost.
    """
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    msg = "it waits for something"
    raise RuntimeError(msg)


def trim_messages(past: Iterable[Said], *, approximate: bool) -> Chat:
    """
    langchain-core: a list, trimmed on each turn.
    """
    from langchain_core.messages import (  # noqa: PLC0415  if installed
        AIMessage,
        BaseMessage,
        HumanMessage,
        trim_messages,
    )
    from langchain_core.messages.utils import count_tokens_approximately  # noqa: PLC0415

    @cache
    def say(role: str, text: str) -> BaseMessage:
        return HumanMessage(text) if role == "user" else AIMessage(text)

    def count(messages: list[BaseMessage]) -> int:
        return sum(3 + tokens(message.text) for message in messages)

    history = [say(*said) for said in past]
    options = {"max_tokens": BUDGET, "strategy": "last", "start_on": "human"}
    counter = count_tokens_approximately if approximate else count

    def turn(new: list[BaseMessage]) -> object:
        history.extend(new)
        return trim_messages(history, token_counter=counter, **options)

    return Chat(say, turn)


def llama_index(past: Iterable[Said]) -> Chat:
    """
    LlamaIndex: a buffer over a chat store.
    """
    from llama_index.core.llms import ChatMessage  # noqa: PLC0415  if installed
    from llama_index.core.memory import ChatMemoryBuffer  # noqa: PLC0415

    @cache
    def say(role: str, text: str) -> ChatMessage:
        return ChatMessage(role=role, content=text)

    memory = ChatMemoryBuffer.from_defaults(
        chat_history=[say(*said) for said in past], token_limit=BUDGET, tokenizer_fn=encode()
    )

    def turn(new: list[ChatMessage]) -> object:
        for message in new:
            memory.put(message)
        return memory.get()

    return Chat(say, turn)


def agent_framework(past: Iterable[Said], *, budget: bool) -> Chat:
    """
    agent-framework: a list whose messages are marked, all of it, and then picked.
    """
    from agent_framework import Message  # noqa: PLC0415  if installed
    from agent_framework._compaction import (  # noqa: PLC0415
        SlidingWindowStrategy,
        TruncationStrategy,
        apply_compaction,
    )

    class Tokens:
        def count_tokens(self, text: str) -> int:
            return tokens(text)

    def say(role: str, text: str) -> Message:
        return Message(role, [text])

    tokenizer = Tokens() if budget else None
    window = SlidingWindowStrategy(keep_last_groups=WINDOW)
    limit = TruncationStrategy(max_n=BUDGET, compact_to=BUDGET, tokenizer=tokenizer)
    strategy = limit if budget else window
    history = [say(*said) for said in past]

    def turn(new: list[Message]) -> object:
        history.extend(new)
        return done(apply_compaction(history, strategy=strategy, tokenizer=tokenizer))

    return Chat(say, turn)


def autogen(past: Iterable[Said], *, budget: bool) -> Chat:
    """
    AutoGen: a context that a model client counts for, or one of the last messages.
    """
    from autogen_core.model_context import (  # noqa: PLC0415  if installed
        BufferedChatCompletionContext,
        TokenLimitedChatCompletionContext,
    )
    from autogen_core.models import AssistantMessage, UserMessage  # noqa: PLC0415

    class Client:
        def count_tokens(self, messages: list[Any], tools: object = ()) -> int:
            return sum(3 + tokens(message.content) for message in messages)

    @cache
    def say(role: str, text: str) -> UserMessage | AssistantMessage:
        if role == "user":
            return UserMessage(content=text, source="user")
        return AssistantMessage(content=text, source="assistant")

    history = [say(*said) for said in past]
    context: Any
    if budget:
        client: Any = Client()
        context = TokenLimitedChatCompletionContext(
            client, token_limit=BUDGET, initial_messages=history
        )
    else:
        context = BufferedChatCompletionContext(WINDOW, initial_messages=history)

    def turn(new: list[Any]) -> object:
        for message in new:
            done(context.add_message(message))
        return done(context.get_messages())

    return Chat(say, turn)


def pydantic_ai(past: Iterable[Said]) -> Chat:
    """
    pydantic-ai's harness: what is over the limit is cut, and the list written over.
    """
    from pydantic_ai.messages import (  # noqa: PLC0415  if installed
        ModelRequest,
        ModelResponse,
        TextPart,
        UserPromptPart,
    )
    from pydantic_ai.models.test import TestModel  # noqa: PLC0415
    from pydantic_ai_harness.compaction import (  # noqa: PLC0415
        SlidingWindowCompaction,
        compact_now,
        estimate_context_tokens,
    )

    def say(role: str, text: str) -> ModelRequest | ModelResponse:
        if role == "user":
            return ModelRequest(parts=[UserPromptPart(text)])
        return ModelResponse(parts=[TextPart(text)])

    strategy = SlidingWindowCompaction(
        max_tokens=BUDGET, keep_tokens=BUDGET, tokenizer=tokens, preserve_first_user_message=False
    )
    model = TestModel()
    history: list[Any] = [say(*said) for said in past]

    def turn(new: list[Any]) -> object:
        history.extend(new)
        if estimate_context_tokens(history, tokens) > BUDGET:
            history[:] = done(compact_now(strategy, history, model=model, tokenizer=tokens))
        return list(history)

    return Chat(say, turn)


def rollmem(past: Iterable[Said]) -> Chat:
    """
    rollmem: what no longer fits is let go of as it is added.
    """
    from rollmem import RollingMemory  # noqa: PLC0415  if installed

    memory = RollingMemory(max_tokens=BUDGET, token_counter=tokens)

    def say(role: str, text: str) -> Said:
        return role, text

    def turn(new: list[Said]) -> object:
        for role, text in new:
            memory.add_message(role, text)
        return memory.get_messages()

    turn(list(past)[-WINDOW:])  # what came before these, it would have let go of

    return Chat(say, turn)


PEERS = (
    Peer(
        "langchain-core `trim_messages`, tiktoken",
        lambda past: trim_messages(past, approximate=False),
        budget=True,
        keeps=True,
    ),
    Peer(
        "langchain-core `trim_messages`, approximate",
        lambda past: trim_messages(past, approximate=True),
        budget=True,
        keeps=True,
    ),
    Peer("LlamaIndex `ChatMemoryBuffer`", llama_index, budget=True, keeps=True),
    Peer(
        "agent-framework `TruncationStrategy`",
        lambda past: agent_framework(past, budget=True),
        budget=True,
        keeps=True,
    ),
    Peer(
        "AutoGen `TokenLimited…Context`",
        lambda past: autogen(past, budget=True),
        budget=True,
        keeps=True,
    ),
    Peer("pydantic-ai-harness `SlidingWindowCompaction`", pydantic_ai, budget=True, keeps=False),
    Peer("rollmem `RollingMemory`", rollmem, budget=True, keeps=False),
    Peer(
        "agent-framework `SlidingWindowStrategy`",
        lambda past: agent_framework(past, budget=False),
        budget=False,
        keeps=True,
    ),
    Peer(
        "AutoGen `Buffered…Context`",
        lambda past: autogen(past, budget=False),
        budget=False,
        keeps=True,
    ),
)
