"""
What a response says of the tokens that were billed, whichever API it is of.

```
Chat Completions   usage.prompt_tokens, all of the input, with the cached ones
Responses          usage.input_tokens, all of the input, with the cached ones
Anthropic          usage.input_tokens; what the cache read and wrote comes on top
Gemini             usageMetadata.promptTokenCount, all of what was sent, with the cached ones
Bedrock            usage.inputTokens; what the cache read and wrote comes on top
```

Servers that speak Chat Completions name their cached tokens in several ways; each is read.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from unabridged.errors import ConfigError, FormatError
from unabridged.formats.replies import plain, plain_events
from unabridged.usage import Usage

__all__ = ["usage"]


class _Api(NamedTuple):
    """
    Where an API says the tokens of the input, and those of the cache that it counts apart.
    """

    input: str
    apart: tuple[str, ...]
    cached: tuple[str, ...]


_APIS = (
    _Api(
        "prompt_tokens",
        (),
        (
            "prompt_tokens_details.cached_tokens",
            "prompt_cache_hit_tokens",
            "cache_read_input_tokens",
            "cached_tokens",
        ),
    ),
    _Api(
        "input_tokens",
        ("cache_read_input_tokens", "cache_creation_input_tokens"),
        ("cache_read_input_tokens", "input_tokens_details.cached_tokens"),
    ),
    _Api("promptTokenCount", (), ("cachedContentTokenCount",)),
    _Api("prompt_token_count", (), ("cached_content_token_count",)),
    _Api(
        "inputTokens",
        ("cacheReadInputTokens", "cacheWriteInputTokens"),
        ("cacheReadInputTokens",),
    ),
)
_NAMES = ("usage", "usageMetadata", "usage_metadata")
_INSIDE = ("message", "response", "metadata", "chunk", "x_groq")  # of an event of a stream


def usage(response: object) -> Usage:
    """
    What a provider billed for a request: give it to `Memory.report_usage`.

    *response* is what any of the five clients gave back, its dict, or the events
    of a stream that has ended, as for `reply`. Of Chat Completions a stream says
    it only if asked: `stream_options={"include_usage": True}`.

    Raises:
        FormatError: it says nothing of tokens, or what cannot be.

    >>> billed = {"input_tokens": 50, "cache_read_input_tokens": 950, "output_tokens": 8}
    >>> usage({"type": "message", "content": [], "usage": billed})
    Usage(estimated=None, input_tokens=1000, cached_tokens=950)
    >>> from unabridged import Memory, tokens, user
    >>> memory = Memory(count=tokens.words)
    >>> _ = memory.append(user("hello there"))
    >>> response = {"usage": {"prompt_tokens": 4}, "choices": []}
    >>> print(memory.report_usage(memory.context(), usage(response)).usage)
    4 input tokens reported, 2 estimated (50.0% too low)
    """
    found: dict[str, Any] = {}
    for told in _told(response):
        _merge(found, told)
    api = next((api for api in _APIS if _whole(found.get(api.input))), None)
    if api is None:
        msg = (
            "response: it says nothing of the tokens of its input; a stream of Chat Completions "
            'does with stream_options={"include_usage": True}, and every event has to be passed'
        )
        raise FormatError(msg)
    cached = next((n for path in api.cached if (n := _at(found, path)) is not None), None)
    try:
        return Usage(None, found[api.input] + _beside(api, found), cached)
    except ConfigError as error:
        msg = f"response: its usage cannot be: {str(error).removeprefix('report_usage: ')}"
        raise FormatError(msg) from error


def _told(response: object) -> Iterator[Mapping[str, Any]]:
    """
    Whatever is said of tokens, in the order it comes.
    """
    whole = plain(response)
    if whole is None:
        events: Iterable[dict[str, Any]] = plain_events(response)
    elif "stream" in whole and "usage" not in whole:  # boto3's, whose events come with the dict
        events = plain_events(whole["stream"])
    else:
        events = (whole,)
    for event in events:
        for place in (event, *(event.get(name) for name in _INSIDE)):
            inner = plain(place) or {}
            for name in _NAMES:
                if told := plain(inner.get(name)):
                    yield told


def _merge(found: dict[str, Any], told: Mapping[str, Any]) -> None:
    # what a stream says grows from event to event, and some servers begin or end with zeros
    for key, value in told.items():
        before = found.get(key)
        if inner := plain(value):
            found[key] = dict(before) if isinstance(before, dict) else {}
            _merge(found[key], inner)
        elif _whole(value):
            found[key] = max(value, before) if _whole(before) else value


def _beside(api: _Api, found: Mapping[str, Any]) -> int:
    """
    The tokens of the cache where they are not in the input's own number.
    """
    if "input_tokens_details" in found:  # the Responses API, also where a proxy adds more keys
        return 0
    if found.get("totalTokens") == found[api.input] + (_at(found, "outputTokens") or 0):
        return 0  # Bedrock's total says whether its input has them

    return sum(found[key] for key in api.apart if _whole(found.get(key)))


def _at(found: Mapping[str, Any], path: str) -> int | None:
    value: Any = found
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None

    return value if _whole(value) else None


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
