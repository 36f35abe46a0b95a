"""
The chunks of a Gemini stream, put together into the response they make.
"""

import re
from collections.abc import Iterable
from typing import Any

from unabridged.errors import FormatError
from unabridged.formats.extras import Keys, refuse
from unabridged.formats.gemini_keys import spelled, take
from unabridged.formats.gemini_parts import kind_of

__all__ = ["assembled"]

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]")
_VALUES = ("stringValue", "numberValue", "boolValue", "string_value", "number_value", "bool_value")
_DEEPEST = 200
_ENDS = ("finishReason", "finish_reason")
_MORE = ("willContinue", "will_continue")
_PARTIAL = ("partialArgs", "partial_args")


def assembled(events: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """
    The response that the chunks of a stream make.

    Neighbouring words become one part, and so do neighbouring thoughts. A part
    that is signed, or says anything else, stays as it came.

    Raises:
        FormatError: there is no chunk, one has another form than the API's, or the
            stream broke off: the last chunk of an answer says why it ended.

    >>> def chunk(text, **more):
    ...     content = {"role": "model", "parts": [{"text": text}]}
    ...     return {"candidates": [{"content": content, **more}]}
    >>> chunks = [chunk("Good "), chunk("morning", finishReason="STOP")]
    >>> assembled(chunks)["candidates"][0]["content"]["parts"]
    [{'text': 'Good morning'}]
    """
    whole: dict[str, Any] = {}
    candidates: dict[int, dict[str, Any]] = {}
    count = 0
    for count, event in enumerate(events, 1):
        where = f"response[{count - 1}]"
        for candidate in _dicts(event.get("candidates"), f"{where}.candidates"):
            at = candidate.get("index")
            kept = candidates.setdefault(at if isinstance(at, int) else 0, {})
            _add(kept, candidate, f"{where}.candidates")
        whole |= {
            key: value for key, value in event.items() if key != "candidates" and value is not None
        }
    if not count:
        msg = "response: a stream without any event"
        raise FormatError(msg)
    for candidate in candidates.values():
        if "content" in candidate:
            candidate["content"]["parts"] = _without_blanks(candidate["content"]["parts"])
    if candidates:
        _refuse_a_part(candidates[min(candidates)], count)
        whole["candidates"] = [candidates[at] for at in sorted(candidates)]

    return whole


def _refuse_a_part(candidate: dict[str, Any], count: int) -> None:
    if any(candidate.get(name) for name in _ENDS):
        return
    msg = (
        f"response: the stream broke off, none of its {count} chunks has a finishReason; "
        "pass every chunk once it has ended, or keep what came with assistant(text)"
    )
    raise FormatError(msg)


def _dicts(value: object, where: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list):
        refuse(where, "a list", value)
    for at, one in enumerate(value):
        if not isinstance(one, dict):
            refuse(f"{where}[{at}]", "an object", one)

    return value


def _add(kept: dict[str, Any], candidate: dict[str, Any], where: str) -> None:
    content = candidate.get("content")
    if content is not None and not isinstance(content, dict):
        refuse(f"{where}.content", "an object", content)
    kept |= {
        key: value for key, value in candidate.items() if key != "content" and value is not None
    }
    if not content:
        return
    whole = kept.setdefault("content", {"parts": []})
    whole |= {key: value for key, value in content.items() if key != "parts" and value is not None}
    for part in _dicts(content.get("parts"), f"{where}.content.parts"):
        _join(whole["parts"], part)


def _join(parts: list[dict[str, Any]], part: dict[str, Any]) -> None:
    said = {key: value for key, value in part.items() if value is not None}
    last = parts[-1] if parts else {}
    if (
        _is_plain(said)
        and _is_plain(last)
        and bool(said.get("thought")) == bool(last.get("thought"))
    ):
        parts[-1] = {**last, "text": last["text"] + said["text"]}
    elif kind_of(said) == "functionCall" and _goes_on(last):
        parts[-1] = _continued(last, said)
    else:
        parts.append(_continued({}, said) if _goes_on(said) else said)


def _is_plain(part: Keys) -> bool:
    return isinstance(part.get("text"), str) and part.keys() <= {"text", "thought"}


def _without_blanks(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # a chunk of usage alone comes with an empty text
    filled = [part for part in parts if not (_is_plain(part) and not part["text"])]

    return filled or parts[:1]


def _goes_on(part: Keys) -> bool:
    """
    Whether the call in *part* streams its arguments, and more of them follow.
    """
    call = part.get("functionCall") or part.get("function_call")

    return isinstance(call, dict) and any(call.get(name) for name in _MORE)


def _continued(last: Keys, part: Keys) -> dict[str, Any]:
    """
    The call so far, with what *part* says of its arguments.
    """
    before, after, shape = dict(last), dict(part), dict[str, Any]()
    call = take(before, "functionCall", {}) or {}
    more = take(after, "functionCall", shape)
    if not isinstance(more, dict):
        return {**last, **part}
    said = {key: value for key, value in more.items() if value is not None}
    partial = next((said.pop(name) for name in _PARTIAL if name in said), ())
    whole = {key: value for key, value in call.items() if key not in _MORE} | said
    args = dict(whole.get("args") or {})
    for one in partial if isinstance(partial, list) else ():
        if isinstance(one, dict):
            args = _put(args, one)
    whole["args"] = args

    return {**before, **after, spelled("functionCall", shape): whole}


def _put(args: dict[str, Any], partial: Keys) -> dict[str, Any]:
    """
    The arguments with the value that stands, or goes on, at a JSON path.
    """
    path = partial.get("jsonPath", partial.get("json_path"))
    steps = [
        int(found[2]) if found[2] else found[1] or found[3]
        for found in _STEP.finditer(path if isinstance(path, str) else "")
    ]
    if not steps or not isinstance(steps[0], str) or len(steps) > _DEEPEST:
        return args
    value = next((partial[key] for key in _VALUES if partial.get(key) is not None), None)
    found: dict[str, Any] = _with(args, steps, value)

    return found


def _with(old: Any, steps: list[str | int], value: Any) -> Any:
    if not steps:
        return old + value if isinstance(old, str) and isinstance(value, str) else value
    step, *rest = steps
    if isinstance(step, int):
        items = list(old) if isinstance(old, list) else []
        before = items[step] if step < len(items) else None
        items[step : step + 1] = [_with(before, rest, value)]
        return items
    keys = dict(old) if isinstance(old, dict) else {}
    keys[step] = _with(keys.get(step), rest, value)

    return keys
