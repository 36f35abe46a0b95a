"""
What a client gives back from a call, as plain values.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from unabridged.errors import FormatError
from unabridged.formats.extras import refuse
from unabridged.text import bounded, cause

__all__ = ["plain", "plain_events", "unique_id"]

_TELLING = 8
_WISH = "a response of the client, its dict, or the events of a stream"


def plain(response: object) -> dict[str, Any] | None:
    """
    A response as the dict that the API sent: what it did not send is not in it.

    None for what is no response, such as the events of a stream.

    Raises:
        FormatError: it cannot be read.
        JsonError: it contains itself, or is nested too deep.

    >>> plain({"id": "r1"})
    {'id': 'r1'}
    >>> plain([{"id": "r1"}]) is None
    True
    """
    try:
        found = _as_dict(response)
    except Exception as error:
        msg = f"response: reading it raised {type(error).__name__}: {cause(error)}"
        raise FormatError(msg) from error
    if found is not None:
        bounded(found, "response")

    return found


def _as_dict(response: object) -> dict[str, Any] | None:
    if isinstance(response, Mapping):
        return dict(response)
    # openai's and anthropic's objects know what was sent; pydantic's others leave out nulls
    if to_dict := getattr(response, "to_dict", None):
        found = _without_warnings(to_dict)
    elif model_dump := getattr(response, "model_dump", None):
        found = _without_warnings(model_dump, mode="json", by_alias=True, exclude_none=True)
    else:
        return None

    return dict(found) if isinstance(found, Mapping) else None


def _without_warnings(dump: Callable[..., object], **options: object) -> object:
    """
    What *dump* gives; pydantic's does not warn that a value is not of the type it declared.

    Clients build their objects unchecked, so nearly every stream has such values.
    """
    try:
        return dump(**options, warnings=False)
    except TypeError:  # somebody else's, which knows no such option
        return dump(**options)


def plain_events(events: object) -> tuple[dict[str, Any], ...]:
    """
    The events of a stream that has ended, each as a dict.

    Raises:
        FormatError: *events* is no iterable of events, or one of them cannot be read.

    >>> plain_events([{"type": "message_stop"}])
    ({'type': 'message_stop'},)
    """
    if hasattr(events, "__aiter__"):
        msg = (
            "response: an asynchronous stream; collect it first: [event async for event in stream]"
        )
        raise FormatError(msg)
    if not isinstance(events, Iterable) or isinstance(events, str | bytes):
        refuse("response", _WISH, events)
    found: list[dict[str, Any]] = []
    for at, event in enumerate(_read(events)):
        as_dict = plain(event)
        if as_dict is None:
            refuse(f"response[{at}]", "an event of a stream", event)
        found.append(as_dict)

    return tuple(found)


def _read(events: Iterable[object]) -> Iterator[object]:
    try:
        yield from events
    except Exception as error:
        msg = f"response: reading its events raised {type(error).__name__}: {cause(error)}"
        raise FormatError(msg) from error


def unique_id(value: object) -> str | None:
    """
    The id of a response, if it tells the response from all others; else None.

    A message with an id is kept once, so an id must not come again. Some servers
    number their responses, or draw from a few hundred numbers: what follows the
    prefix has to be eight letters or more.

    >>> unique_id("msg_01XFDUDYJgAACzvnptvVoYEL"), unique_id("chatcmpl-123"), unique_id("")
    ('msg_01XFDUDYJgAACzvnptvVoYEL', None, None)
    """
    if not isinstance(value, str) or len(re.split("[-_]", value)[-1]) < _TELLING:
        return None

    return value
