"""
A model that answers an `Ask`, sync or async.

A memory tells the two apart by how they are called, so each has its class, and
what they do stands once, in `Endpoint`.
"""

import inspect
from typing import Any

from attrs import frozen

from unabridged.asking.endpoint import Endpoint
from unabridged.contract import Ask
from unabridged.errors import NeedsAsyncError
from unabridged.text import brief

__all__ = ["AsyncModel", "Model"]


@frozen(repr=False)
class Model:
    """
    A model behind a sync client: `asking.openai`, `anthropic` and `litellm` make it.

    >>> from unabridged import asking
    >>> from unabridged.testing import user, view_of
    >>> class Client:
    ...     class messages:
    ...         @staticmethod
    ...         def create(**request):
    ...             return {"content": [{"type": "text", "text": "Ana."}]}
    >>> model = asking.anthropic(Client(), "claude-test")
    >>> model
    asking.anthropic(Client, 'claude-test')
    >>> model(Ask(tuple(view_of([user("I am Ana")]))))
    'Ana.'
    """

    endpoint: Endpoint

    @property
    def window(self) -> int:
        """
        What the model takes in one request beside its thoughts, in tokens; 0 if that is not known.
        """
        return max(0, self.endpoint.window - self.endpoint.reasoning_tokens)

    def __call__(self, ask: Ask, /) -> str:
        """
        The text of the model's answer.

        Raises:
            OutcomeError: it is not whole: cut off, refused, or without words.
            FormatError: the response has another form than the API's.
            NeedsAsyncError: the client is async after all.
        """
        given: Any = self.endpoint.call(ask)
        if inspect.isawaitable(given):
            if inspect.iscoroutine(given):
                given.close()
            msg = f"{brief(self)}: the client's answer is awaitable; give a sync client"
            raise NeedsAsyncError(msg)

        return self.endpoint.text(given)

    def __repr__(self) -> str:
        return repr(self.endpoint)


@frozen(repr=False)
class AsyncModel:
    """
    As `Model`, behind an async client; it needs an `AsyncMemory`, or `arun`.

    >>> import asyncio
    >>> from unabridged import asking
    >>> from unabridged.testing import user, view_of
    >>> class Client:
    ...     class messages:
    ...         @staticmethod
    ...         async def create(**request):
    ...             return {"content": [{"type": "text", "text": "Ana."}]}
    >>> model = asking.anthropic(Client(), "claude-test")
    >>> asyncio.run(model(Ask(tuple(view_of([user("I am Ana")])))))
    'Ana.'
    """

    endpoint: Endpoint

    @property
    def window(self) -> int:
        """
        What the model takes in one request beside its thoughts, in tokens; 0 if that is not known.
        """
        return max(0, self.endpoint.window - self.endpoint.reasoning_tokens)

    async def __call__(self, ask: Ask, /) -> str:
        """
        The text of the model's answer; what is raised is as for `Model`.
        """
        given: Any = self.endpoint.call(ask)

        return self.endpoint.text(await given if inspect.isawaitable(given) else given)

    def __repr__(self) -> str:
        return repr(self.endpoint)
