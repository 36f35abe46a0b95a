"""
Models behind the clients that people have: OpenAI's, Anthropic's, and LiteLLM.
"""

import inspect
from importlib.util import find_spec
from typing import Any

from unabridged.asking.endpoint import Api, Endpoint
from unabridged.asking.models import AsyncModel, Model
from unabridged.errors import ConfigError
from unabridged.tokens.windows import window_of

__all__ = ["anthropic", "litellm", "openai"]


def openai(
    client: Any,
    model: str,
    *,
    window: int | None = None,
    reasoning_tokens: int = 0,
    **options: Any,
) -> Model | AsyncModel:
    """
    Ask a model through OpenAI's client, or another with its `chat.completions.create`.

    An async client, such as `AsyncOpenAI`, gives an `AsyncModel`. The client's
    own time-out and retries hold. What is not a whole text is an error, never
    an answer: cut off, refused, filtered, or reasoning alone.

    Args:
        client: `OpenAI()`, `AzureOpenAI()`, or one of a server that speaks alike.
        model: its name; one that `Summarize(model=…)` names goes before it.
        window: what the model takes in one request, in tokens. By default what
            the installed genai-prices (the extra `prices`) knows, else 0.
        reasoning_tokens: what the model may spend on reasoning, which its API
            counts as part of the answer: added to the limit of each answer.
        options: sent with each request, such as `temperature=0`, `timeout=20`
            or `reasoning_effort="low"`. An answer's limit, the `max_tokens` of
            `Summarize`, is sent as `max_completion_tokens`. For a server that
            does not know that key give `max_tokens=…`: the limit goes under
            this name, and the number holds where there is no limit.

    Raises:
        ConfigError: that is no such client, or an argument is off.

    >>> class Client:
    ...     class chat:
    ...         class completions:
    ...             @staticmethod
    ...             async def create(**request): ...
    >>> openai(Client(), "gpt-test", window=8_192, temperature=0)
    asking.openai(Client, 'gpt-test', window=8_192, temperature=0)
    >>> type(openai(Client(), "gpt-test")).__name__
    'AsyncModel'
    >>> openai("sk-…", "gpt-test")
    Traceback (most recent call last):
    unabridged.errors.ConfigError: asking.openai: expected a client with \
chat.completions.create, got str; pip install 'unabridged[clients]' brings one
    """
    found = _method("openai", client, ("chat", "completions", "create"))

    return _model("openai", client, model, window, reasoning_tokens, options, _is_async(found))


def anthropic(
    client: Any,
    model: str,
    *,
    window: int | None = None,
    reasoning_tokens: int = 0,
    **options: Any,
) -> Model | AsyncModel:
    """
    Ask a model through Anthropic's client: `Anthropic`, `AnthropicBedrock`, their async ones.

    As `openai`, but for the limit of an answer, which this API demands: where
    neither `Summarize` nor *options* gives `max_tokens`, it is 4,096. With
    `thinking={…}` give its budget as *reasoning_tokens*, too.

    Raises:
        ConfigError: that is no such client, or an argument is off.

    >>> class Client:
    ...     class messages:
    ...         @staticmethod
    ...         def create(**request): ...
    >>> anthropic(Client(), "claude-test", window=200_000)
    asking.anthropic(Client, 'claude-test', window=200_000)
    """
    found = _method("anthropic", client, ("messages", "create"))

    return _model("anthropic", client, model, window, reasoning_tokens, options, _is_async(found))


def litellm(
    model: str,
    *,
    is_async: bool = False,
    window: int | None = None,
    reasoning_tokens: int = 0,
    **options: Any,
) -> Model | AsyncModel:
    """
    Ask a model through LiteLLM (the extra `litellm`), by its name there: "groq/llama-3.1-8b".

    As `openai`, but for the client, which is imported with the first question,
    and for *is_async*, which takes `litellm.acompletion`. The limit of an
    answer is sent as `max_tokens`, which LiteLLM translates.

    Raises:
        ConfigError: LiteLLM is not installed, or an argument is off.

    >>> litellm("")
    Traceback (most recent call last):
    unabridged.errors.ConfigError: asking.litellm: `model` must be the name of a model, got ''
    """
    made = _model("litellm", None, model, window, reasoning_tokens, options, is_async)
    if find_spec("litellm") is None:
        msg = "asking.litellm: LiteLLM is not installed; pip install 'unabridged[litellm]'"
        raise ConfigError(msg)

    return made


def _model(  # noqa: PLR0913  what the three are given
    api: Api,
    client: Any,
    model: str,
    window: int | None,
    reasoning_tokens: int,
    options: dict[str, Any],
    is_async: bool,
) -> Model | AsyncModel:
    endpoint = Endpoint(
        api,
        client,
        model,
        window=_known_window(model) if window is None else window,
        reasoning_tokens=reasoning_tokens,
        options=tuple(sorted(options.items())),
        is_async=is_async,
    )

    return AsyncModel(endpoint) if is_async else Model(endpoint)


def _method(api: Api, client: Any, path: tuple[str, ...]) -> Any:
    found = None if isinstance(client, type) else client
    for name in path:
        found = getattr(found, name, None)
    if not callable(found):
        given = (
            f"the class {client.__name__}" if isinstance(client, type) else type(client).__name__
        )
        msg = (
            f"asking.{api}: expected a client with {'.'.join(path)}, got {given}; "
            "pip install 'unabridged[clients]' brings one"
        )
        raise ConfigError(msg)

    return found


def _is_async(method: Any) -> bool:
    # both clients check arguments in a plain function around the coroutine function
    return inspect.iscoroutinefunction(inspect.unwrap(method))


def _known_window(model: str) -> int:
    if not isinstance(model, str):
        return 0  # it is refused
    try:
        return window_of(model)
    except ConfigError:
        return 0
