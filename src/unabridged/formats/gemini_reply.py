"""
What Gemini answered, and what came beside the answer.
"""

import base64
from enum import Enum
from typing import Any, NoReturn

from unabridged.errors import FormatError
from unabridged.formats.extras import refuse
from unabridged.formats.gemini_stream import assembled
from unabridged.formats.replies import plain, plain_events, unique_id
from unabridged.text import cause, said

__all__ = ["answered"]

# the client's own, which the API never sent
_OURS = (
    "sdkHttpResponse",
    "sdk_http_response",
    "parsed",
    "automaticFunctionCallingHistory",
    "automatic_function_calling_history",
)


def answered(response: object) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """
    The content of the first candidate, what came beside it, and the response's id.

    Raises:
        FormatError: there is no content; the text says why.

    >>> answered({"candidates": [{"finishReason": "MAX_TOKENS", "content": {"role": "model"}}]})
    Traceback (most recent call last):
    unabridged.errors.FormatError: response: an answer without parts (MAX_TOKENS)
    """
    whole = plain(response)
    if whole is None:
        whole = assembled(plain_events(response))
    received = {
        key: value for key, value in whole.items() if value is not None and key not in _OURS
    }
    candidates = received.pop("candidates", None) or []
    if not isinstance(candidates, list):
        refuse("response.candidates", "a list", candidates)
    if not candidates:
        _refuse_empty(received)
    first = candidates[0]
    if not isinstance(first, dict):
        refuse("response.candidates[0]", "an object", first)
    beside = {key: value for key, value in first.items() if value is not None}
    content = beside.pop("content", None) or {}
    if not isinstance(content, dict):
        refuse("response.candidates[0].content", "an object", content)
    content = {key: value for key, value in content.items() if value is not None}
    if not content.get("parts"):
        _refuse_blank(beside)
    received["candidates"] = [beside, *candidates[1:]]
    id_ = unique_id(received.get("responseId", received.get("response_id")))

    return content, _storable(received), id_


def _refuse_empty(received: dict[str, Any]) -> NoReturn:
    error = received.get("error")
    feedback = received.get("promptFeedback", received.get("prompt_feedback"))
    if error is not None:
        found = error.get("message") if isinstance(error, dict) else error
        msg = f"response: an error, no answer: {said(found)}"
        raise FormatError(msg)
    told = _said(feedback, "block")
    if told:
        msg = f"response: no answer, the prompt was blocked ({told})"
    else:
        msg = "response: no candidates, so there is no answer"
    raise FormatError(msg)


def _refuse_blank(candidate: dict[str, Any]) -> NoReturn:
    told = _said(candidate, "finish")
    msg = "response: an answer without parts" + (f" ({told})" if told else "")
    raise FormatError(msg)


def _said(value: object, about: str) -> str:
    """
    The reason and the message, as far as they are given.
    """
    if not isinstance(value, dict):
        return ""
    names = ("Reason", "_reason", "ReasonMessage", "_reason_message", "Message", "_message")
    found = [value[f"{about}{name}"] for name in names if value.get(f"{about}{name}")]

    return ": ".join(said(one.value if isinstance(one, Enum) else one) for one in found)


def _storable(value: Any) -> Any:
    # the client's dicts hold times and bytes
    match value:
        case dict():
            return {_worded(key): _storable(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_storable(inner) for inner in value]
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return base64.b64encode(value).decode()
        case _:
            return _worded(value)


def _worded(value: object) -> str:
    try:
        return str(value)
    except Exception as error:
        msg = f"response: a {type(value).__name__} in it cannot be written as text ({cause(error)})"
        raise FormatError(msg) from error
