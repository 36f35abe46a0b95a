"""
What a format keeps beside the fields of a part or message, in its `extra`.

Each format has a name there: `{"anthropic": {"keys": {…}, "content": "list"}}`.
*keys* are the API's own that have no field here; the rest are hints of the
shape that a value came in, so that `dump` gives it back in that shape.
"""

import marshal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from json.encoder import encode_basestring
from typing import Any, NoReturn, TypeAlias

from attrs import frozen

from unabridged.errors import ConfigError, FormatError, UnabridgedError
from unabridged.json_values import (
    Json,
    json_of,
    json_text,
    sound_json,
    trusted,
)
from unabridged.messages import Message
from unabridged.parts import NO_JSON
from unabridged.text import DEEPEST, cause, is_small, short

__all__ = [
    "FILE",
    "FOREIGN_FILE",
    "Extras",
    "Keys",
    "checked",
    "each",
    "item_json",
    "read_id",
    "reading",
    "refuse",
    "taken",
    "write_id",
]

Keys: TypeAlias = dict[Any, Any]

FILE = {"source": "file"}  # the hint of a part with a file id: it says whose file it is
FOREIGN_FILE = "a file id of another provider"
_OPENAI = frozenset({"openai_chat", "openai_responses"})  # they share their files
_NAMES = _OPENAI | {"anthropic", "gemini", "bedrock"}
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
_LETTERS = bytes({*range(ord(" "), ord("~") + 1)} - {*b'"\\'})  # that JSON writes as they are
_FLAT = frozenset({str, int, bool, type(None), float})
_LONG = 1_000  # letters
_SHORT = 200  # bytes of keys and hints, or letters of an extra, that are worth remembering


def refuse(where: str, wish: str, value: object) -> NoReturn:
    """
    Raise for a *value* that stands where a *wish* should; `...` is a missing one.

    >>> refuse("messages[3].role", "text", ["user"])
    Traceback (most recent call last):
    unabridged.errors.FormatError: messages[3].role: expected text, got a list
    """
    kind = type(value)
    found = _WORDS.get(kind) or f"a {kind.__name__}"
    hint = "; pass its .model_dump()" if hasattr(kind, "model_dump") else ""
    msg = f"{short(where)}: expected {wish}, got {found}{hint}"
    raise FormatError(msg)


@contextmanager
def reading(where: str) -> Iterator[None]:
    """
    While what others hand in is read: an object of theirs that raises is refused.

    >>> with reading("messages"):
    ...     raise OSError("no such key")
    Traceback (most recent call last):
    unabridged.errors.FormatError: messages: reading it raised OSError: no such key
    """
    try:
        yield
    except UnabridgedError:
        raise
    except Exception as error:
        msg = f"{short(where)}: reading it raised {type(error).__name__}: {cause(error)}"
        raise FormatError(msg) from error


def checked(messages: Iterable[object]) -> Iterator[Message]:
    """
    The *messages* one by one, each checked to be one.

    >>> list(checked(["hi"]))
    Traceback (most recent call last):
    unabridged.errors.FormatError: messages[0]: expected a Message, got text
    """
    if not isinstance(messages, Iterable):
        refuse("messages", "messages", messages)
    known = messages if type(messages) in (tuple, list) else each(messages)
    for at, message in enumerate(known):
        if not isinstance(message, Message):
            refuse(f"messages[{at}]", "a Message", message)
        yield message


def each(messages: Iterable[object]) -> Iterator[object]:
    """
    The *messages* one by one, whatever iterating raises.

    >>> list(each(["hi"]))
    ['hi']
    """
    with reading("messages"):
        yield from messages


def taken(keys: Keys, key: str) -> str:
    """
    The text under *key*, taken out of *keys*; empty, and all stays, where none is.

    >>> keys = {"name": "cat", "detail": None}
    >>> taken(keys, "name"), taken(keys, "detail"), keys
    ('cat', '', {'detail': None})
    """
    return keys.pop(key) if isinstance(keys.get(key), str) and keys[key] else ""


def read_id(block: Keys, key: str, where: str, shape: Keys) -> str:
    """
    The id under *key*; where none is, it is empty and the *shape* says how that was written.

    An API demands it, but logs hold calls and results without: such a result is
    an orphan, or answers a call that has none either.

    >>> shape = {}
    >>> read_id({"id": None}, "id", "messages[0]", shape), shape
    ('', {'no_id': 'null'})
    """
    found = block.get(key, ...)
    if isinstance(found, str):
        return found
    if found is not None and found is not ...:
        refuse(f"{where}.{key}", "text", found)
    shape["no_id"] = "missing" if found is ... else "null"

    return ""


def write_id(block: dict[str, Any], key: str, id_: str, shape: Keys) -> None:
    """
    Put an id back under *key*, or none where none was.

    >>> block = {"id": ""}
    >>> write_id(block, "id", "", {"no_id": "missing"}), block
    (None, {})
    >>> write_id(block, "id", "c1", {"no_id": "missing"}), block
    (None, {'id': 'c1'})
    """
    form = "" if id_ else shape.get("no_id", "")
    block[key] = None if form == "null" else id_
    if form == "missing":
        del block[key]


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
        try:
            if "inner" in shape:
                return _with_inner(self.name, keys, shape)
            if not keys:
                return _hints(self.name, **shape) if shape else NO_JSON
            if type(next(iter(keys.values()))) is str and (texts := _texts(keys)):
                return _framed(self.name, shape, f'"keys":{texts}')
            # marshal follows a loop for ever, and knows no end of what is held twice
            is_safe = _FLAT.issuperset(map(type, keys.values())) or is_small(keys)
            seen = marshal.dumps((keys, shape), 0) if is_safe else b""
            if 0 < len(seen) <= _SHORT:
                return _written(self.name, seen)
        except ValueError:
            pass  # what JSON cannot hold either is refused below, where its place is known
        try:
            return json_of(_extra(self.name, keys, shape), where)
        except ConfigError as error:
            msg = str(error)
            for ours in (f"{where}.{self.name}.keys", f"{where}.{self.name}.inner"):
                msg = msg.replace(ours, where, 1)
            raise type(error)(msg) from error

    def own(self, extra: Json) -> dict[str, Any]:
        """
        What `kept` put into *extra*; nothing when another format made it.

        Look, do not touch: hints of shape are shared between calls.
        """
        text = extra.text
        if len(text) > _SHORT:
            return _found(extra, self.name)
        found = _read(text, self.name)

        return found if isinstance(found, dict) else marshal.loads(found)  # noqa: S302  our own

    def is_foreign(self, extra: Json) -> bool:
        """
        Whether formats of other providers made *extra*, and none of this one's did.

        A file id in such a part is theirs. One built by hand is nobody's yet.

        >>> extra = Extras("anthropic").kept({}, FILE, "messages[0]")
        >>> Extras("openai_chat").is_foreign(extra), Extras("anthropic").is_foreign(extra)
        (True, False)
        """
        value = extra.value if extra else {}
        makers = _NAMES.intersection(value if isinstance(value, dict) else ())
        ours = _OPENAI if self.name in _OPENAI else {self.name}

        return bool(makers) and makers.isdisjoint(ours)


def item_json(item: Keys, where: str) -> Json:
    """
    `json_of` an item, at less cost where it holds a long text such as an encrypted payload.

    >>> item_json({"type": "compaction", "encrypted_content": "gAAA"}, "input[0]").text
    '{"type":"compaction","encrypted_content":"gAAA"}'
    """
    for value in item.values():
        if type(value) is str and len(value) > _LONG:
            texts = _pieces(item)
            if texts:
                return trusted(f"{{{','.join(texts)}}}")
            break

    return json_of(item, where)


def _pieces(item: Keys) -> list[str]:
    """
    The JSON of each key and its value; none where only the whole can be judged.
    """
    texts: list[str] = []
    for key, value in item.items():
        if type(value) is str:
            text: str | None = _quoted(value)
        else:
            text = sound_json(value)
            if text is None or text.count("[") + text.count("{") >= DEEPEST:
                return []
        if type(key) is not str:
            return []
        texts.append(f"{_quoted(key)}:{text}")

    return texts


@cache
def _hints(name: str, **shape: str | tuple[str, ...]) -> Json:
    return json_of({name: shape})


def _framed(name: str, hints: Keys, texts: str) -> Json:
    opening = f"{_hints(name, **hints).text[:-2]}," if hints else f'{{"{name}":{{'

    return trusted(f"{opening}{texts}}}}}")


def _with_inner(name: str, keys: Keys, shape: Keys) -> Json:
    hints = {hint: word for hint, word in shape.items() if hint != "inner"}
    texts = f'"inner":{_texts(shape["inner"]) or _short(shape["inner"])}'
    if keys:
        texts = f'{texts},"keys":{_texts(keys) or _short(keys)}'

    return _framed(name, hints, texts)


def _texts(keys: Keys) -> str:
    """
    The JSON of keys that all hold texts, such as ids and signatures; empty for others.

    No two are alike, so there is nothing to remember, and a text needs no walk.
    """
    texts: list[str] = []
    for key, value in keys.items():
        if type(value) is not str or type(key) is not str:
            return ""
        texts.append(f"{_quoted(key)}:{_quoted(value)}")

    return f"{{{','.join(texts)}}}"


def _quoted(text: str) -> str:
    if not text.isascii():
        return json_text(text)
    # a signature has thousands of letters: to look whether any needs an escape is several
    # times as fast as the encoder, which asks each of them
    if len(text) > _SHORT and not text.encode().translate(None, _LETTERS):
        return f'"{text}"'

    return encode_basestring(text)


# One message after another has the same short keys and hints. They are remembered by what
# marshal makes of them, which tells apart all that JSON does: 1 and True, the order of keys.


@lru_cache(maxsize=4_096)
def _written(name: str, seen: bytes) -> Json:
    keys, shape = marshal.loads(seen)  # noqa: S302  our own

    return json_of(_extra(name, keys, shape))


def _short(value: Keys) -> str:
    """
    The JSON of what is short, and may come again.

    Raises:
        ValueError: it is long, or JSON cannot hold it.
    """
    seen = marshal.dumps(value, 0) if is_small(value) else b""
    if not 0 < len(seen) <= _SHORT:
        raise ValueError

    return _remembered(seen)


@lru_cache(maxsize=4_096)
def _remembered(seen: bytes) -> str:
    return json_of(marshal.loads(seen)).text  # noqa: S302  our own


@lru_cache(maxsize=4_096)
def _read(text: str, name: str) -> dict[str, Any] | bytes:
    found = _found(Json(text), name)
    if "keys" in found or "inner" in found:
        return marshal.dumps(found, 0)  # to be handed out, so each time a fresh one

    return found


def _extra(name: str, keys: Keys, shape: Keys) -> dict[str, Any]:
    return {name: {**shape, "keys": keys} if keys else shape}


def _found(extra: Json, name: str) -> dict[str, Any]:
    value = extra.value
    found = value.get(name) if isinstance(value, dict) else None

    return found if isinstance(found, dict) else {}
