"""
The results of a Gemini content, read and written.

A `response` of one text under `output` or `error` is that text. Any other
object is its compact JSON, so that other providers can read it too.
"""

from typing import Any

from unabridged.formats.extras import Keys, refuse
from unabridged.formats.gemini_functions import closed, hints_of, opened, taken_text
from unabridged.formats.gemini_keys import kept, opaque, own
from unabridged.formats.gemini_media import read_media, spoken
from unabridged.formats.gemini_names import Names, is_made
from unabridged.formats.gemini_parts import kind_of, left_out, write
from unabridged.formats.json_texts import object_in
from unabridged.json_values import json_of
from unabridged.messages import Audio, Document, Image, Opaque, Text, ToolResult
from unabridged.parts import quick_result, quick_text

__all__ = ["read_common_result", "read_result", "write_result"]

_WRAPPERS = ("result", "return_value")  # keys that say nothing of the value beside them
_TEXTS = frozenset({"output", "error", *_WRAPPERS})
_CAMEL: dict[str, tuple[str]] = {}
_SNAKE = {"snake": ("function_response",)}
_NOTHING: dict[type, str] = {type(...): "missing", type(None): "null", dict: "empty"}


def read_common_result(part: Keys, names: Names) -> ToolResult | None:
    """
    The commonest of all results, one text for the call of an id; None for any other.

    >>> response = {"id": "c1", "name": "now", "response": {"output": "noon"}}
    >>> read_common_result({"functionResponse": response}, Names({"c1": "now"})).text
    'noon'
    """
    form, spelled = part.get("functionResponse"), _CAMEL
    if form is None:
        form, spelled = part.get("function_response"), _SNAKE
    if len(part) != 1 or type(form) is not dict or len(form) != 3:  # noqa: PLR2004  the three:
        return None
    id_, name, response = form.get("id"), form.get("name"), form.get("response")
    if type(id_) is not str or type(name) is not str or not (id_ and name) or id_ in names.made:
        return None
    if type(response) is not dict or len(response) != 1 or names.get(id_, id_) != name:
        return None
    ((key, text),) = response.items()
    if type(text) is not str or key not in _TEXTS:
        return None
    shape = {**spelled, "response": key} if key in _WRAPPERS else spelled

    return quick_result(id_, (quick_text(text),), key == "error", kept({}, shape, ""))


def read_result(part: Keys, names: Names, where: str) -> ToolResult:
    """
    The result in a `functionResponse` part; *names* are those of the calls before it.

    >>> response = {"id": "c1", "name": "now", "response": {"output": "noon"}}
    >>> read_result({"functionResponse": response}, Names({"c1": "now"}), "part")
    ToolResult(call_id='c1', content=(Text(text='noon'),), is_error=False)
    """
    keys, shape, inner = opened(part, "functionResponse", where)
    where = f"{where}.functionResponse"
    lacks: list[str] = []
    name = taken_text(inner, "name", lacks, where)
    given = taken_text(inner, "id", lacks, where)
    if given in names.made:
        shape["id"] = "sent"  # it looks like one of ours, and is not
    call_id = given or names.id_of_result(name)
    if name != _named(call_id, names, None) and "name" not in lacks:
        inner["name"] = name  # no call before it says so
    words, is_error = _read_response(inner, shape, where)
    media: tuple[Any, ...] = ()
    if isinstance(inner.get("parts"), list) and inner["parts"]:
        found = inner.pop("parts")
        media = tuple(_read_inner(one, f"{where}.parts[{at}]") for at, one in enumerate(found))
    if media and not words and shape.get("response") == "empty":
        del shape["response"]
    hints = shape | hints_of(lacks, inner)

    return quick_result(call_id, (*words, *media), is_error, kept(keys, hints, where))


def write_result(result: ToolResult, names: Names, name: str | None) -> dict[str, Any]:
    """
    The result as Gemini takes it, a fresh dict.

    The function's name is that of the newest call with the result's id; for an
    orphan, the *name* of its message or the id. The id is sent if the call's was.

    >>> write_result(ToolResult("c1", "noon"), Names({"c1": "now"}), None)
    {'functionResponse': {'id': 'c1', 'name': 'now', 'response': {'output': 'noon'}}}
    """
    shape = own(result.extra) if result.extra else {}
    lacks = shape.get("lacks", ())
    called = ""
    if "name" not in lacks:
        called = shape.get("inner", {}).get("name") or _named(result.call_id, names, name)
    form: dict[str, Any] = {}
    made = result.call_id in names.made and shape.get("id") != "sent"
    lacks_id = "id" in lacks and is_made(result.call_id, called)
    if result.call_id and not (lacks_id or made):
        form["id"] = result.call_id
    if "name" not in lacks:
        form["name"] = called
    texts, media = _parted(result)
    response: Any = _response("".join(texts), shape.get("response", ""), result.is_error)
    if not texts and not result.is_error:
        response = _no_words(shape.get("response", ""), has_media=bool(media))
    if response is not ...:
        form["response"] = response
    if media:
        form["parts"] = media
    if not shape:
        return {"functionResponse": form}

    return closed("functionResponse", form, shape)


def _named(call_id: str, names: Names, name: str | None) -> str:
    return names.get(call_id) or name or call_id


def _read_response(inner: Keys, shape: Keys, where: str) -> tuple[tuple[Text, ...], bool]:
    """
    The words of a response, and whether they tell of an error.
    """
    response: Any = inner.pop("response", ...)
    match response:
        case {"output": str(text)} if len(response) == 1:
            return (quick_text(text),), False
        case {"error": str(text)} if len(response) == 1:
            return (quick_text(text),), True
        case {"result": str(text)} | {"return_value": str(text)} if len(response) == 1:
            (shape["response"],) = response
            return (quick_text(text),), False
        case dict() if response:
            shape["response"] = "json"
            is_error = "output" not in response and response.get("error") is not None
            return (quick_text(json_of(response, f"{where}.response").text),), is_error
    if response is not ... and response is not None and response != {}:
        refuse(f"{where}.response", "an object", response)
    shape["response"] = _NOTHING[type(response)]

    return (), False


def _read_inner(part: object, where: str) -> Image | Audio | Document | Opaque:
    if isinstance(part, dict) and (kind := kind_of(part)) in {"inlineData", "fileData"}:
        found = read_media(part, kind, where)
        if found is not None:
            return found

    return opaque(part, where)


def _response(text: str, how: str, is_error: bool) -> Keys:
    found = object_in(text) if how == "json" else None
    if found is not None:
        return found
    if is_error:
        return {"error": text}

    return {how if how in _WRAPPERS else "output": text}


def _no_words(how: str, *, has_media: bool) -> Any:
    match how:
        case "missing":
            return ...
        case "null":
            return None
        case "empty":
            return {}
    return {} if has_media else {"output": ""}


def _parted(result: ToolResult) -> tuple[list[str], list[Any]]:
    """
    The words of a result, and its media as Gemini takes them.
    """
    texts: list[str] = []
    media: list[Any] = []
    for part in result.content:
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, Audio) and (transcript := spoken(part)):
            texts.append(transcript)
        elif not left_out(part, "tool"):
            media.append(write(part))

    return texts, media
