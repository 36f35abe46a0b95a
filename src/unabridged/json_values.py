"""
JSON as an immutable value, and text that can always be stored.

Messages are hashable and go through any store unchanged, so whatever JSON
they carry (metadata, a provider's own keys) is kept as text and checked when
the message is built, not when it is saved.
"""

import json
import json.encoder
import math
import re
from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from typing import Any, TypeAlias

from attrs import field, frozen

from unabridged.errors import ConfigError, JsonError, UnabridgedError
from unabridged.text import DEEPEST, bounded, brief, cause, is_small

__all__ = [
    "Json",
    "JsonValue",
    "joined",
    "json_object",
    "json_of",
    "json_text",
    "object_in",
    "sound_json",
    "sound_text",
    "strict_value",
    "trusted",
]

JsonValue: TypeAlias = Mapping[str, Any] | Sequence[Any] | str | float | None
"""
A value that JSON can hold: what is in it is checked when it runs.
"""

_SURROGATE = re.compile("[\ud800-\udfff]")
PATH = 100  # characters of a path in an error
_KINDS = {list: "a list", str: "text", bool: "a boolean", type(None): "null"}
_decode = json.JSONDecoder().raw_decode
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
    return value if value.isascii() else joined(value)


def joined(text: str) -> str:
    r"""
    *text* with each two surrogates that make one character joined to that character.

    >>> joined("\ud83d\ude00") == "\U0001f600"
    True
    """
    try:
        text.encode()  # several times as fast as to search for surrogates; no other text fails
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    return text


def json_text(value: object) -> str:
    """
    Compact JSON of *value*: key order kept, lone surrogates escaped.
    """
    text = "".join(_pieces(value, 0))

    return text if text.isascii() else _storable(text)


def _storable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)

    return text


def _encoder() -> Callable[[object, int], Iterable[str]]:
    """
    What writes a value in pieces, built once.

    `JSONEncoder.encode` builds its C encoder anew for each value, which takes
    longer than to write a small one. Where an interpreter has none in C, or
    another one, `encode` itself it is.
    """
    plain = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    quote = getattr(json.encoder, "encode_basestring", None)
    try:
        # no markers: what contains itself ends in a RecursionError
        return make(None, plain.default, quote, None, ":", ",", False, False, False)  # type: ignore[no-any-return]  # noqa: FBT003
    except TypeError:
        return lambda value, _: (plain.encode(value),)


_pieces = _encoder()


@frozen
class Json(Mapping[str, Any]):
    """
    A JSON value, kept as compact text, and read as a mapping where it is an object.

    Equality and hash are those of the text: key order and the spelling of
    numbers count. `value` is a fresh Python value at each reading, so nobody
    can change what a message holds; take it once where you read many keys.

    Raises:
        ConfigError: the text is not JSON; or, when a key is read, it is a list,
            a text or a number, which have none.

    >>> Json('{"price": 1.50}').text
    '{"price":1.50}'
    >>> Json('{"price": 1.50}').value
    {'price': 1.5}
    >>> Json('{"price": 1.50}')["price"], Json('{"price": 1.50}').get("name")
    (1.5, None)
    """

    text: str = field(default="{}")

    def __attrs_post_init__(self) -> None:
        text = sound_text(self.text, "Json")
        try:
            json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            told = cause(error)
            msg = f"Json: not JSON text ({told}): {brief(text)}; use json_of(value) for a value"
            raise JsonError(msg) from error
        if text.count("[") + text.count("{") > DEEPEST:
            bounded(json.loads(text), "Json")
        object.__setattr__(self, "text", _compact(text))

    @property
    def value(self) -> Any:
        """
        The value, parsed anew.
        """
        return _decode(self.text)[0]

    def __bool__(self) -> bool:
        return self.text != "{}"

    def __getitem__(self, key: str) -> Any:
        return self._object()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._object())

    def __len__(self) -> int:
        return len(self._object())

    def keys(self) -> KeysView[str]:
        """
        The keys, in the order they were written.
        """
        return self._object().keys()

    def items(self) -> ItemsView[str, Any]:
        """
        The keys, each with its value.
        """
        return self._object().items()

    def values(self) -> ValuesView[Any]:
        """
        The values, in the order of their keys.
        """
        return self._object().values()

    def _object(self) -> dict[str, Any]:
        value = self.value
        if not isinstance(value, dict):
            kind = _KINDS.get(type(value), "a number")
            msg = f"Json: this is {kind}, and only an object has keys; read `.value`"
            raise ConfigError(msg)

        return value


_new, _set_text = object.__new__, vars(Json)["text"].__set__


def trusted(text: str) -> Json:
    """
    `Json(text)` for a *text* that one of our own encoders wrote: compact, sound, not too deep.

    >>> trusted('{"a":1}') == Json('{"a": 1}')
    True
    """
    known = _new(Json)
    _set_text(known, text)

    return known


def json_of(value: object, where: str = "json") -> Json:
    """
    The value as `Json`; a `Json` is taken as it is.

    Raises:
        JsonError: JSON cannot hold it; the message names the key's path.

    >>> json_of({"a": [1, 2]}).text
    '{"a":[1,2]}'
    >>> json_of({"at": {1, 2}}, "metadata")
    Traceback (most recent call last):
    unabridged.errors.JsonError: metadata.at: JSON cannot hold a set; convert it first
    """
    if type(value) is Json:
        return value
    text = sound_json(value)
    if text is not None:
        return trusted(text)
    try:
        bounded(value, where)
        _check(value, [where])
        return trusted(json_text(value))
    except UnabridgedError:
        raise
    except Exception as error:
        msg = f"{where}: JSON cannot hold this ({cause(error)})"
        raise JsonError(msg) from error


def json_object(value: Mapping[Any, Any], where: str) -> Json:
    """
    A mapping of any kind as `Json`.

    Raises:
        JsonError: JSON cannot hold it, or it cannot be read.

    >>> from types import MappingProxyType
    >>> json_object(MappingProxyType({"a": 1}), "metadata").text
    '{"a":1}'
    """
    try:
        plain = dict(value)
    except Exception as error:
        msg = f"{where}: reading it raised {type(error).__name__}: {cause(error)}"
        raise JsonError(msg) from error

    return json_of(plain, where)


def sound_json(value: object) -> str | None:
    """
    The text of a value that is plainly sound, so that no path need be walked; else None.

    For others there is `json_of`, which takes more, or says what is wrong. Few
    lists and dicts cannot be nested deep, and cannot contain themselves.

    >>> sound_json({"a": [1, 2]}), sound_json({"at": {1, 2}})
    ('{"a":[1,2]}', None)
    """
    if not is_small(value):
        return None
    try:
        text = "".join(_pieces(value, 0))
        if not text.isascii():
            text = _storable(text)
    except (TypeError, ValueError, RecursionError, MemoryError):
        return None

    return text


def _check(value: object, path: list[str]) -> None:
    """
    Say where in a value stands what JSON has no form for.
    """
    waiting: list[tuple[tuple[str, ...], object]] = [(tuple(path), value)]
    seen: set[int] = set()
    while waiting:
        at, held = waiting.pop()
        if held is None or isinstance(held, str | int) or id(held) in seen:
            continue
        match held:
            case float():
                if not math.isfinite(held):
                    msg = f"{_path(at)}: JSON cannot hold the float {held}; use None or a string"
                    raise JsonError(msg)
            case dict():
                seen.add(id(held))
                for key in held:
                    if not isinstance(key, str):
                        told = brief(key)
                        use = f"; use {brief(str(key))}" if isinstance(key, int | float) else ""
                        msg = f"{_path(at)}: JSON keys are text, got {told}{use}"
                        raise JsonError(msg)
                waiting += [((*at, f".{key}"), inner) for key, inner in reversed(held.items())]
            case list() | tuple():
                seen.add(id(held))
                inside = [((*at, f"[{number}]"), inner) for number, inner in enumerate(held)]
                waiting += reversed(inside)
            case _:
                msg = f"{_path(at)}: JSON cannot hold a {type(held).__name__}; convert it first"
                raise JsonError(msg)


def strict_value(text: str) -> object:
    """
    The value of a JSON text that an API can be sent; `...` for a text that is none.

    NaN is none, and so is a number past a float's range, which Python reads as infinite.

    >>> strict_value("[1]"), strict_value("NaN"), strict_value("1e999")
    ([1], Ellipsis, Ellipsis)
    """
    try:
        return _strict(text)
    except (ValueError, RecursionError):
        return ...


def object_in(text: str) -> dict[str, Any] | None:
    """
    The object in a JSON text, read as `strict_value` reads; None where there is none.

    >>> object_in('{"city": "Lima"}'), object_in('{"n": NaN}'), object_in("[]")
    ({'city': 'Lima'}, None, None)
    """
    found = strict_value(text)

    return found if isinstance(found, dict) else None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse_constant(text)

    return number


def _path(pieces: Sequence[str]) -> str:
    """
    Where a value stands, in so many characters at most.
    """
    text = ""
    for piece in pieces:
        text += piece[:PATH]
        if len(text) > PATH:
            return f"{text[:PATH]}…"

    return text


def _compact(text: str) -> str:
    return _SPACE_OR_STRING.sub(lambda found: found[0] if found[0][0] == '"' else "", text)


def _refuse_constant(name: str) -> None:
    msg = f"{name} is not JSON"
    raise ValueError(msg)


_strict = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse_constant).decode
