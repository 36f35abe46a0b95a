"""
What a format keeps beside the fields of a part or message, in its `extra`.

Each format has a name there: `{"anthropic": {"keys": {…}, "content": "list"}}`.
*keys* are the API's own that have no field here; the rest are hints of the
shape that a value came in, so that `dump` gives it back in that shape.
"""

from functools import cache, lru_cache
from typing import Any, NoReturn, TypeAlias

from attrs import frozen

from unabridged.errors import ConfigError, FormatError
from unabridged.json_values import Json, json_of

__all__ = ["Extras", "Keys", "refuse"]

Keys: TypeAlias = dict[Any, Any]

_WORDS: dict[type, str] = {
    type(...): "nothing",
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}
_SHORT = 80  # hints of shape alone are no longer


def refuse(where: str, wish: str, value: object) -> NoReturn:
    """
    Raise for a *value* that stands where a *wish* should; `...` is a missing one.

    >>> refuse("messages[3].role", "text", ["user"])
    Traceback (most recent call last):
    unabridged.errors.FormatError: messages[3].role: expected text, got a list
    """
    kind = type(value)
    found = _WORDS.get(kind) or f"a {kind.__name__}"
    hint = "; pass its .model_dump()" if hasattr(value, "model_dump") else ""
    msg = f"{where}: expected {wish}, got {found}{hint}"
    raise FormatError(msg)


@frozen
class Extras:
    """
    Writes and reads what the format *name* keeps in an `extra`.

    >>> ours = Extras("anthropic")
    >>> extra = ours.kept({"cache_control": {"type": "ephemeral"}}, {}, "messages[0]")
    >>> ours.own(extra)
    {'keys': {'cache_control': {'type': 'ephemeral'}}}
    >>> Extras("gemini").own(extra)
    {}
    """

    name: str

    def kept(self, keys: Keys, shape: Keys, where: str) -> Json:
        """
        The `extra` for *keys* without a field and hints of *shape*, empty for neither.

        Hints are words, or tuples of them; what else a shape has to keep stands
        under "inner".

        Raises:
            ConfigError: a key holds what JSON cannot; the text names its path.
        """
        if not keys and "inner" not in shape:
            return _hints(self.name, **shape)
        try:
            return json_of({self.name: {**shape, "keys": keys} if keys else shape}, where)
        except ConfigError as error:
            msg = str(error)
            for ours in (f"{where}.{self.name}.keys", f"{where}.{self.name}.inner"):
                msg = msg.replace(ours, where, 1)
            raise ConfigError(msg) from error

    def own(self, extra: Json) -> dict[str, Any]:
        """
        What `kept` put into *extra*; nothing when another format made it.

        Look, do not touch: hints of shape are shared between calls.
        """
        text = extra.text
        if len(text) > _SHORT or '"keys"' in text or '"inner"' in text:
            return _found(extra, self.name)

        return _shape(text, self.name)


@cache
def _hints(name: str, **shape: str | tuple[str, ...]) -> Json:
    return json_of({name: shape} if shape else {})


@lru_cache(maxsize=1_024)
def _shape(text: str, name: str) -> dict[str, Any]:
    return _found(Json(text), name)


def _found(extra: Json, name: str) -> dict[str, Any]:
    value = extra.value
    found = value.get(name) if isinstance(value, dict) else None

    return found if isinstance(found, dict) else {}
