"""
JSON as an immutable value, and text that can always be stored.

Messages are hashable and go through any store unchanged, so whatever JSON
they carry (metadata, a provider's own keys) is kept as text and checked when
the message is built, not when it is saved.
"""

import json
import math
import re
from typing import Any

from attrs import field, frozen

from unabridged.errors import ConfigError

__all__ = ["Json", "json_of", "json_text", "sound_text"]

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_SURROGATE = re.compile("[\ud800-\udfff]")
DEEPEST = 200  # what any stack can still read
_PLAIN = frozenset({str, int, bool, type(None)})
_encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_SPACE_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\s+')


def sound_text(value: object, where: str) -> str:
    """
    The text as every store can keep it.

    Lone surrogates and NUL are kept as they are. Two surrogates that make one
    character become that character, as JSON would read them.

    Raises:
        ConfigError: *value* is not a `str`; *where* names the field.
    """
    if not isinstance(value, str):
        msg = f"{where}: expected text (str), got {type(value).__name__}"
        raise ConfigError(msg)
    if value.isascii() or not _SURROGATE.search(value):
        return value

    return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def json_text(value: object) -> str:
    """
    Compact JSON of *value*: key order kept, lone surrogates escaped.
    """
    text = _encode(value)
    if text.isascii():
        return text

    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


@frozen
class Json:
    """
    A JSON value, kept as compact text.

    Equality and hash are those of the text: key order and the spelling of
    numbers count. `value` is a fresh Python value at each reading, so nobody
    can change what a message holds.

    >>> Json('{"price": 1.50}').text
    '{"price":1.50}'
    >>> Json('{"price": 1.50}').value
    {'price': 1.5}
    """

    text: str = field(default="{}")

    def __attrs_post_init__(self) -> None:
        text = sound_text(self.text, "Json")
        try:
            json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            msg = f"Json: not JSON text ({error}): {text[:80]!r}; use json_of(value) for a value"
            raise ConfigError(msg) from error
        if text.count("[") + text.count("{") > DEEPEST:
            _check(json.loads(text), "Json")
        object.__setattr__(self, "text", _compact(text))

    @property
    def value(self) -> Any:
        """
        The value, parsed anew.
        """
        return json.loads(self.text)

    def __bool__(self) -> bool:
        return self.text != "{}"


def json_of(value: object, where: str = "json") -> Json:
    """
    The value as `Json`; a `Json` is taken as it is.

    Raises:
        ConfigError: JSON cannot hold it; the message names the key's path.

    >>> json_of({"a": [1, 2]}).text
    '{"a":[1,2]}'
    >>> json_of({"at": {1, 2}}, "metadata")
    Traceback (most recent call last):
    unabridged.errors.ConfigError: metadata.at: JSON cannot hold a set; convert it first
    """
    if isinstance(value, Json):
        return value
    try:
        _check(value, where)
        text = json_text(value)
    except RecursionError as error:
        msg = f"{where}: nested too deep for JSON, or it contains itself"
        raise ConfigError(msg) from error
    except ValueError as error:
        msg = f"{where}: JSON cannot hold this ({error})"
        raise error if isinstance(error, ConfigError) else ConfigError(msg) from error

    return _trusted(text)


def _trusted(text: str) -> Json:
    known = Json.__new__(Json)
    object.__setattr__(known, "text", text)
    return known


def _check(value: object, path: str, depth: int = 0) -> None:
    if depth > DEEPEST:
        msg = f"{path[:80]}…: nested over {DEEPEST} deep, or it contains itself; flatten it"
        raise ConfigError(msg)
    if type(value) in _PLAIN or isinstance(value, str | int):
        return
    match value:
        case float():
            if not math.isfinite(value):
                msg = f"{path}: JSON cannot hold the float {value}; use None or a string"
                raise ConfigError(msg)
        case dict():
            for key, inner in value.items():
                if not isinstance(key, str):
                    msg = f"{path}: JSON keys are text, got {key!r}; use {str(key)!r}"
                    raise ConfigError(msg)
                _check(inner, f"{path}.{key}", depth + 1)
        case list() | tuple():
            for number, inner in enumerate(value):
                _check(inner, f"{path}[{number}]", depth + 1)
        case _:
            msg = f"{path}: JSON cannot hold a {type(value).__name__}; convert it first"
            raise ConfigError(msg)


def _compact(text: str) -> str:
    return _SPACE_OR_STRING.sub(lambda found: found[0] if found[0][0] == '"' else "", text)


def _refuse_constant(name: str) -> None:
    msg = f"{name} is not JSON"
    raise ValueError(msg)
