"""
The text of a model's reply, if it is whole: nothing that was cut off or refused passes for it.
"""

from typing import Any

from unabridged.errors import OutcomeError
from unabridged.formats import anthropic, openai_chat
from unabridged.formats.extras import refuse
from unabridged.formats.replies import plain
from unabridged.telling import without_thoughts
from unabridged.text import brief

__all__ = ["whole_text"]

# How the APIs, and servers that speak like them, say that a model came to its end.
_ENDED = frozenset(
    {"", "complete", "completed", "end_turn", "eos", "eos_token", "stop", "stop_sequence"}
)
_LONGER = "allow a longer one (`max_tokens`), or `reasoning_tokens=` for a model that thinks first"
_WHY = {
    "length": f"was cut off; {_LONGER}",
    "max_tokens": f"was cut off; {_LONGER}",
    "model_length": "was cut off where the model's window ends; ask about less at once",
    "model_context_window_exceeded": "was cut off where the window ends; ask about less at once",
    "content_filter": "was stopped by a content filter",
    "refusal": "was refused by the model",
    "tool_calls": "calls a tool and is no text",
    "function_call": "calls a tool and is no text",
    "tool_use": "calls a tool and is no text",
}


def whole_text(api: str, response: object) -> str:
    """
    The text of a *response* of the Messages API ("anthropic") or of Chat Completions (any other).

    Reasoning is no part of it, nor is a block such as `<think>` that a server left in
    front of the words.

    Raises:
        OutcomeError: the model did not come to its end (a limit, a filter, a
            tool), refused, or said nothing; or the server tells of an error.
        FormatError: the response has another form than the API's.

    >>> choice = {"message": {"content": "Ana wants a window s"}, "finish_reason": "length"}
    >>> whole_text("openai", {"choices": [choice]})
    Traceback (most recent call last):
    unabridged.errors.OutcomeError: the answer was cut off; allow a longer one (`max_tokens`), \
or `reasoning_tokens=` for a model that thinks first (finish_reason 'length')
    """
    found = plain(response)
    if found is None:
        refuse("response", "a response of the client, or its dict", response)
    if error := found.get("error"):
        known = error if isinstance(error, dict) else {}
        code = str(known.get("code") or known.get("type") or "unknown")
        msg = f"there is no answer but an error of the server's (code {brief(code)})"
        raise OutcomeError(msg)
    _ended(api, found)
    form = anthropic if api == "anthropic" else openai_chat
    (message,) = form.reply(found)
    text = without_thoughts(message.text)
    if not text:
        only = " but reasoning" if message.reasoning or message.text.strip() else ""
        msg = f"the answer is empty: there is nothing in it{only}"
        raise OutcomeError.of_answer(msg)

    return text


def _ended(api: str, found: dict[str, Any]) -> None:
    """
    Refuse what is not whole, by the reason that is given for its end.
    """
    name, held = "stop_reason", found
    if api != "anthropic":
        name, held = "finish_reason", _first(found.get("choices"))
        said = held.get("message")
        if isinstance(said, dict) and _is_refusal(said):
            msg = "the answer was refused by the model"
            raise OutcomeError.of_answer(msg)
    reason = str(held.get(name) or "")
    if reason.lower() not in _ENDED:
        why = _WHY.get(reason.lower(), "did not come to its end")
        msg = f"the answer {why} ({name} {brief(reason)})"
        raise OutcomeError.of_answer(msg)


def _first(choices: object) -> dict[str, Any]:
    first = choices[0] if isinstance(choices, list) and choices else None

    return first if isinstance(first, dict) else {}


def _is_refusal(said: dict[str, Any]) -> bool:
    content = said.get("content")
    parts = content if isinstance(content, list) else ()

    return bool(said.get("refusal")) or any(
        isinstance(part, dict) and part.get("type") == "refusal" for part in parts
    )
