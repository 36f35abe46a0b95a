"""
The keys of Gemini's JSON: two spellings, and the bytes of the Python client.

REST writes `functionCall`, the client's dicts `function_call`, and there data
and signatures may be `bytes`. All of it is read; hints in the `extra` say which
it was: *snake* names the keys spelled so, *bytes* those that held bytes.
"""

import base64
import binascii
from typing import Any

from unabridged.errors import ConfigError
from unabridged.formats.extras import Extras, Keys, item_json
from unabridged.json_values import json_of
from unabridged.messages import Opaque
from unabridged.parts import quick_opaque
from unabridged.text import bounded

__all__ = [
    "NAME",
    "SIGNATURES",
    "kept",
    "opaque",
    "own",
    "put_bytes",
    "spelled",
    "take",
    "take_bytes",
    "whole",
]

NAME = "gemini"
SIGNATURES = ("thoughtSignature", "thought_signature")

_ours = Extras(NAME)
kept, own = _ours.kept, _ours.own

_SNAKE = {
    "displayName": "display_name",
    "fileData": "file_data",
    "fileUri": "file_uri",
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "mimeType": "mime_type",
    "thoughtSignature": "thought_signature",
}
_BYTES = "$bytes"  # marks the data of an Opaque that held bytes: it has no extra


def take(keys: Keys, camel: str, shape: Keys) -> Any:
    """
    The value that *keys* holds under either spelling, taken out; None for none.

    >>> shape = {}
    >>> take({"mime_type": "image/png"}, "mimeType", shape), shape
    ('image/png', {'snake': ('mime_type',)})
    """
    if keys.get(camel) is not None:
        return keys.pop(camel)
    snake = _SNAKE[camel]
    if keys.get(snake) is None:
        return None
    shape["snake"] = (*shape.get("snake", ()), snake)

    return keys.pop(snake)


def spelled(camel: str, shape: Keys) -> str:
    """
    The key as it was spelled.

    >>> spelled("mimeType", {"snake": ["mime_type"]}), spelled("mimeType", {})
    ('mime_type', 'mimeType')
    """
    snake = _SNAKE[camel]

    return snake if snake in shape.get("snake", ()) else camel


def take_bytes(keys: Keys, shape: Keys, *names: str) -> None:
    """
    Turn the bytes under *names* into base64 text.

    >>> keys, shape = {"data": b"hi"}, {}
    >>> take_bytes(keys, shape, "data")
    >>> keys, shape
    ({'data': 'aGk='}, {'bytes': ('data',)})
    """
    for name in names:
        value = keys.get(name)
        if isinstance(value, bytes):
            keys[name] = base64.b64encode(value).decode()
            shape["bytes"] = (*shape.get("bytes", ()), name)


def put_bytes(form: Keys, shape: Keys) -> Keys:
    """
    *form* with the bytes that `take_bytes` took.

    >>> put_bytes({"data": "aGk="}, {"bytes": ["data"]})
    {'data': b'hi'}
    """
    for name in shape.get("bytes", ()):
        if isinstance(form.get(name), str):
            form[name] = _decoded(form[name])

    return form


def opaque(value: object, where: str) -> Opaque:
    """
    What we do not know, kept whole; bytes in it become base64 text.

    Raises:
        ConfigError: it holds what JSON cannot; the text names its path.

    >>> opaque({"toolCall": {}}, "part").data.value
    {'toolCall': {}}
    >>> whole(opaque({"x": [b"hi"]}, "part"))
    {'x': [b'hi']}
    """
    if not (isinstance(value, dict) and _BYTES in value):
        try:
            return quick_opaque(
                NAME, item_json(value, where) if isinstance(value, dict) else json_of(value, where)
            )
        except ConfigError:
            bounded(value, where)
            if not _byte_paths(value):
                raise
    bounded(value, where)
    paths = _byte_paths(value)

    return Opaque(NAME, json_of({_BYTES: paths, "part": _replaced(value)}, where))


def whole(part: Opaque) -> Any:
    """
    What `opaque` kept, a fresh value.

    >>> whole(opaque({"toolCall": {}}, "part"))
    {'toolCall': {}}
    """
    value = part.data.value
    match value:
        case {"$bytes": list(paths), "part": inner, **others} if not others:
            for path in paths:
                inner = _restored(inner, path)
            return inner
    return value


def _decoded(text: str) -> str | bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:  # changed by hand: it is not ours to refuse
        return text


def _byte_paths(value: object) -> list[list[str | int]]:
    if isinstance(value, bytes):
        return [[]]
    inner: list[tuple[Any, object]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list | tuple):
        inner = list(enumerate(value))

    return [[key, *path] for key, found in inner for path in _byte_paths(found)]


def _replaced(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {key: _replaced(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(inner) for inner in value]

    return value


def _restored(value: Any, path: list[str | int]) -> Any:
    if not path:
        return _decoded(value)
    value[path[0]] = _restored(value[path[0]], path[1:])

    return value
