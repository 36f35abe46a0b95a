"""
The chunks of a Chat Completions stream, put together to the response they make.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

from unabridged.errors import FormatError
from unabridged.text import said

__all__ = ["assembled"]

# come whole, and from some servers each time
_ONCE = frozenset({"finish_reason", "id", "index", "role", "type"})
_PADDING = frozenset({"choices", "obfuscation"})


def assembled(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """
    The response that the chunks of a stream are; of its choices the first.

    Texts are joined, calls by their index, and the usage is that of the last
    chunk, which has no choices. The events of the client's own stream helper
    hold these chunks, and do as well.

    A stream that has ended says a finish reason, or at least gives its usage.
    Of a server whose chunks never speak of one, that cannot be asked.

    Raises:
        FormatError: there is no message in them: an error, or no choice; or the
            stream broke off.

    >>> chunks = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in ("Hel", "lo")]
    >>> assembled(chunks)["choices"][0]["message"]
    {'role': 'assistant', 'content': 'Hello'}
    """
    response: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant", "content": None}
    count = 0
    is_whole = False
    for event in events:
        chunk = event["chunk"] if isinstance(event.get("chunk"), Mapping) else event
        if chunk.get("error"):
            msg = f"response: no message, the stream ended with an error: {said(chunk['error'])}"
            raise FormatError(msg)
        if not isinstance(chunk.get("choices"), list):
            continue
        count += 1
        is_whole = is_whole or bool(choice and not chunk["choices"] and chunk.get("usage"))
        response |= {k: v for k, v in chunk.items() if k not in _PADDING and v is not None}
        for given in chunk["choices"]:
            if isinstance(given, Mapping) and given.get("index", 0) == 0:
                delta = given.get("delta")
                _merge(choice, {"index": 0} | {k: v for k, v in given.items() if k != "delta"})
                _merge(message, delta if isinstance(delta, Mapping) else {})
    if not choice:
        msg = "response: no message, none of the events of the stream has a choice"
        raise FormatError(msg)
    if "finish_reason" in choice and not choice["finish_reason"] and not is_whole:
        msg = (
            f"response: the stream broke off, none of its {count} chunks has a finish_reason; "
            "pass every chunk once it has ended, or keep what came with assistant(text)"
        )
        raise FormatError(msg)
    response["object"] = "chat.completion"

    return response | {"choices": [choice | {"message": message}]}


def _merge(into: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for key, new in delta.items():
        old = into.get(key)
        if key == "tool_calls" and isinstance(new, list):
            into[key] = _with_calls(old if isinstance(old, list) else [], new)
        elif old is None:
            into[key] = _fresh(new)
        elif new is None or (key in _ONCE and old != ""):
            continue
        else:
            into[key] = _joined(key, old, new)


def _joined(key: str, old: Any, new: Any) -> Any:
    match old, new:
        case str(), str() if key == "data":
            return _joined_data(old, new)
        case str(), str():
            return old if key == "name" and old == new else old + new
        case dict(), Mapping():
            _merge(old, new)
            return old
        case list(), list():
            return [*old, *new]
        case _:
            return new


def _fresh(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _fresh(inner) for key, inner in value.items()}

    return list(value) if isinstance(value, list) else value


def _with_calls(calls: list[Any], deltas: list[Any]) -> list[Any]:
    """
    A delta goes to the newest call of its index; with another id and a name it is another call.
    """
    for delta in deltas:
        if not isinstance(delta, Mapping):
            continue
        index, id_ = delta.get("index"), delta.get("id")
        if index is None and not id_ and calls:
            index = calls[-1].get("index")
        same = [call for call in calls if call.get("index") == index]
        is_other = same and id_ and id_ != same[-1].get("id") and _name(delta)
        if same and not is_other:
            _merge(same[-1], {key: value for key, value in delta.items() if key != "index"})
        else:
            calls.append(_fresh(delta))

    return calls


def _name(call: Mapping[str, Any]) -> str:
    form = call.get("function") or call.get("custom")

    return (form.get("name") or "") if isinstance(form, Mapping) else ""


def _joined_data(old: str, new: str) -> str:
    # pieces of base64 may each be padded
    if not old.endswith("="):
        return old + new
    try:
        whole = base64.b64decode(old, validate=True) + base64.b64decode(new, validate=True)
    except (binascii.Error, ValueError):
        return old + new

    return base64.b64encode(whole).decode()
