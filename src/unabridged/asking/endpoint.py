"""
A model behind a client: whom to ask, and what is sent for an `Ask`.

It asks nobody by itself; `Model` and `AsyncModel` do, and share this.
"""

import importlib
from typing import Any, Literal, TypeAlias

from attrs import field, frozen

from unabridged.asking.whole import whole_text
from unabridged.contract import Ask
from unabridged.errors import ConfigError
from unabridged.formats import anthropic, openai_chat
from unabridged.text import brief

__all__ = ["Api", "Endpoint"]

Api: TypeAlias = Literal["openai", "anthropic", "litellm"]

# Under which of its keys an API is told how long an answer may be; a key of these that is given
# among the options is the one that is used.
_LIMITS: dict[Api, tuple[str, ...]] = {
    "openai": ("max_completion_tokens", "max_tokens"),
    "anthropic": ("max_tokens",),
    "litellm": ("max_tokens", "max_completion_tokens"),
}
# The Messages API demands a limit. A summary is shorter, and every model may say as much.
_DEMANDED = 4_096
_OURS = ("messages", "stream", "system")
_SHOWN = (bool, int, float, type(None))


def _named(instance: "Endpoint", _attribute: object, value: str) -> None:
    if not isinstance(value, str) or not value.strip():
        msg = f"asking.{instance.api}: `model` must be the name of a model, got {brief(value)}"
        raise ConfigError(msg)


def _tokens(instance: "Endpoint", attribute: Any, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        msg = (
            f"asking.{instance.api}: `{attribute.name}` must be an int of tokens, 0 or more, "
            f"got {brief(value)}"
        )
        raise ConfigError(msg)


def _options(instance: "Endpoint", _attribute: object, value: tuple[tuple[str, Any], ...]) -> None:
    for name, given in value:
        if name in _OURS:
            msg = f"asking.{instance.api}: `{name}` cannot be given, it is made from the question"
            raise ConfigError(msg)
        sound = isinstance(given, int) and not isinstance(given, bool) and given > 0
        if name in _LIMITS[instance.api] and not sound:
            msg = (
                f"asking.{instance.api}: `{name}` must be an int of tokens, 1 or more, "
                f"got {brief(given)}"
            )
            raise ConfigError(msg)
    if sum(name in _LIMITS[instance.api] for name, _ in value) > 1:
        msg = f"asking.{instance.api}: give one of {' and '.join(_LIMITS[instance.api])}"
        raise ConfigError(msg)


@frozen(repr=False)
class Endpoint:
    """
    A *model* of an *api*, behind a *client*, and what is sent with each question.

    Two are equal if they ask the same client for the same. The repr names the
    client's class and never shows what it holds; of the *options* it shows
    numbers, not texts, among which a key may be.

    >>> from unabridged.testing import user, view_of
    >>> one = Endpoint("litellm", None, "groq/llama", options=(("api_key", "k"), ("timeout", 9)))
    >>> one
    asking.litellm('groq/llama', api_key=…, timeout=9)
    >>> one.request(Ask(tuple(view_of([user("hi")])), max_tokens=500))["max_tokens"]
    1000
    """

    api: Api
    client: Any = field(eq=id)
    model: str = field(validator=_named)
    window: int = field(default=0, kw_only=True, validator=_tokens)
    reasoning_tokens: int = field(default=0, kw_only=True, validator=_tokens)
    options: tuple[tuple[str, Any], ...] = field(
        default=(), kw_only=True, hash=False, validator=_options
    )
    is_async: bool = field(default=False, kw_only=True)

    def request(self, ask: Ask) -> dict[str, Any]:
        """
        The arguments of the client's method; the model that the *ask* names goes before ours.
        """
        # a prompt that says nothing is no message
        messages = ask.messages if ask.prompt.strip() else ask.messages[1:]
        form = anthropic if self.api == "anthropic" else openai_chat

        return {
            **dict(self.options),
            "model": ask.model or self.model,
            **form.request(messages),
            **self._limit(ask),
        }

    def _limit(self, ask: Ask) -> dict[str, int]:
        options, names = dict(self.options), _LIMITS[self.api]
        name = next((name for name in names if name in options), names[0])
        least = _DEMANDED if self.api == "anthropic" else 0
        # an answer that is over its limit is to come whole, since it can be shortened then
        words = 2 * ask.max_tokens or options.get(name, least)

        return {name: words + self.reasoning_tokens} if words else {}

    def call(self, ask: Ask) -> Any:
        """
        What the client gives for the *ask*: a response, or an awaitable of one.
        """
        request = self.request(ask)
        match self.api:
            case "openai":
                return self.client.chat.completions.create(**request)
            case "anthropic":
                return self.client.messages.create(**request)
            case "litellm":
                module = importlib.import_module("litellm")
                call = module.acompletion if self.is_async else module.completion
                return call(**request)

    def text(self, response: object) -> str:
        """
        The text of what came back, if it is whole.
        """
        return whole_text(self.api, response)

    def __repr__(self) -> str:
        client = () if self.api == "litellm" else (type(self.client).__name__,)
        given = [*client, repr(self.model)]
        if self.api == "litellm" and self.is_async:
            given.append("is_async=True")
        numbers = {"window": self.window, "reasoning_tokens": self.reasoning_tokens}
        given += [f"{name}={value:_}" for name, value in numbers.items() if value]
        given += [
            f"{name}={value!r}" if isinstance(value, _SHOWN) else f"{name}=…"
            for name, value in self.options
        ]

        return f"asking.{self.api}({', '.join(given)})"
