"""
A streamed response, put together from its events once it is complete.
"""

from collections.abc import Sequence
from typing import Any

from unabridged.errors import FormatError
from unabridged.formats.extras import refuse
from unabridged.text import said

__all__ = ["assembled", "fault"]

_LAST = ("response.completed", "response.incomplete", "response.failed")
_WISH = "the events of a stream that has ended"


def assembled(events: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """
    The response of a stream.

    The last event holds it; where it does not, the items that were done make it.

    Raises:
        FormatError: the stream says that it failed, ended before it gave anything,
            or broke off in the middle of an item.

    >>> item = {"type": "message", "role": "assistant", "content": []}
    >>> done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    >>> assembled([done])["output"] == [item]
    True
    """
    response: dict[str, Any] = {}
    done: dict[int | str, Any] = {}
    begun: set[int | str] = set()
    is_over = False
    for at, event in enumerate(events):
        if event.get("type") == "error":
            found = event.get("error")
            msg = f"response: the API says: {fault(found if isinstance(found, dict) else event)}"
            raise FormatError(msg)
        index = event.get("output_index")
        if event.get("type") == "response.output_item.added" and isinstance(index, int | str):
            begun.add(index)
        if event.get("type") == "response.output_item.done":
            done[index if isinstance(index, int | str) else at] = event.get("item")
        if isinstance(event.get("response"), dict):
            response = event["response"]
        is_over = is_over or event.get("type") in _LAST
    if not is_over and not done:
        refuse("response", _WISH, list(events))
    if not is_over and (missing := begun - done.keys()):
        msg = (
            f"response: the stream broke off, {len(missing)} of its items were begun and not done; "
            "pass every event once it has ended"
        )
        raise FormatError(msg)
    items = [done[index] for index in sorted(done, key=str if _mixed(done) else None)]
    if not response.get("output"):
        response = {**response, "output": items}
    if not is_over:
        response = {**response, "status": "completed"}

    return response


def fault(error: dict[str, Any]) -> str:
    """
    What an error of the API says, with its code.

    >>> fault({"code": "server_error", "message": "Try again."})
    'Try again. (server_error)'
    """
    code = error.get("code")
    text = said(error.get("message") or "no reason")

    return f"{text} ({said(code)})" if code else text


def _mixed(done: dict[int | str, Any]) -> bool:
    return not all(isinstance(index, int) for index in done)
