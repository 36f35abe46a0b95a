"""
A counter that a provider's own endpoint answers for.

The value says whom to ask and for which model; it asks nobody itself, so a
strategy that holds it stays pure. A memory asks, before its strategies run,
and keeps the answers.
"""

import inspect
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from unabridged.errors import ConfigError
from unabridged.messages import Message
from unabridged.text import brief
from unabridged.tokens.counters import Bound, rough

__all__ = ["Api", "FromClient", "from_client"]

Api: TypeAlias = Literal["anthropic", "gemini"]


class FromClient:
    """
    The counter that `from_client` makes: equal to another of the same client and model.

    >>> class Messages:
    ...     def count_tokens(self, **request): ...
    >>> class Client:
    ...     messages = Messages()
    >>> client = Client()
    >>> FromClient(client, "claude-test") == FromClient(client, "claude-test")
    True
    >>> FromClient(client, "claude-test")
    from_client(Client, 'claude-test')
    """

    __slots__ = ("api", "call", "client", "frames", "is_async", "model")

    def __init__(self, client: Any, model: str) -> None:
        found = _recognised(client)
        self.api: Api = found[0]
        self.call = found[1]
        if not isinstance(model, str) or not model.strip():
            msg = f"from_client: `model` must be the name of a model, got {brief(model)}"
            raise ConfigError(msg)
        self.client = client
        self.model = model
        self.is_async = inspect.iscoroutinefunction(self.call)
        self.frames: dict[Any, int] = {}  # what a message is sent in, counted once

    @property
    def bound(self) -> Bound:
        """
        An estimate: the providers call their counts that, though they are near what is billed.
        """
        return "estimate"

    def __call__(self, message: Message, /) -> int:
        """
        The rough count, which stands in until the endpoint has answered.
        """
        return rough(message)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FromClient):
            return NotImplemented

        return self.client is other.client and self.model == other.model

    def __hash__(self) -> int:
        return hash((FromClient, id(self.client), self.model))

    def __repr__(self) -> str:
        return f"from_client({type(self.client).__name__}, {self.model!r})"


def from_client(client: Any, model: str) -> FromClient:
    """
    Count with a provider's own endpoint, through the *client* you have, for one *model*.

    For Claude, whose tokenizer is not public, and for Gemini. A memory asks for
    what is new before its strategies run, each message once a process, and
    keeps the answers; where the endpoint fails the rough count stands in, the
    result warns, and the next context asks again. A message that a strategy
    makes (a summary, a marker) counts roughly until then, too. Outside a memory
    nothing is asked: called by itself the counter gives the rough count.

    While the client answers, other threads and tasks append freely; one that
    wants a context waits. The client itself may append too, but a context of
    the memory that asks it is refused with a `ConfigError`, for that would wait
    for the client's own answer.

    *client* is anthropic's `Anthropic` or `AsyncAnthropic`, or google-genai's
    `Client` or its `client.aio`; an async one needs an `AsyncMemory`. Its own
    time-out and retries hold, so give it short ones.

    The tokens of a message are what the endpoint counts for it in the smallest
    request that the API takes, less what is counted for the rest of that
    request: an opening user's turn, and for a call its result, for a result its
    call. They add up to what a whole conversation costs but for a fixed part,
    which belongs to the `Budget`. Each kind of request is counted once more for
    that, when it is first needed.

    Raises:
        ConfigError: the client has no endpoint that counts, or *model* is empty.

    >>> from_client("claude", "claude-test")
    Traceback (most recent call last):
    unabridged.errors.ConfigError: from_client: expected a client of anthropic (with \
messages.count_tokens) or google-genai (with models.count_tokens), got str; \
pip install 'unabridged[clients]' brings both
    """
    return FromClient(client, model)


def _recognised(client: Any) -> tuple[Api, Callable[..., Any]]:
    if not isinstance(client, type):
        call = getattr(getattr(client, "messages", None), "count_tokens", None)
        if callable(call):
            return "anthropic", call
        call = getattr(getattr(client, "models", None), "count_tokens", None)
        if callable(call):
            return "gemini", call
    given = f"the class {client.__name__}" if isinstance(client, type) else type(client).__name__
    msg = (
        "from_client: expected a client of anthropic (with messages.count_tokens) or google-genai "
        f"(with models.count_tokens), got {given}; pip install 'unabridged[clients]' brings both"
    )
    raise ConfigError(msg)
