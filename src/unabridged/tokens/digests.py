"""
Digests of messages: by these, counts are kept without the messages.

A digest is of all that makes two messages equal. It is worked out once for a
message and stays with it. Long texts go into it by their length and by the hash
that Python keeps with a text, keyed anew in each process: a message that is
reworded on each turn is not read through on each turn.
"""

import marshal
import os
from hashlib import blake2b
from operator import attrgetter
from typing import Any

import attrs

from unabridged.json_values import Json
from unabridged.messages import Message, Text

__all__ = ["digest", "made"]

_LONG = 512
_SIZE = 16
_KEY = os.urandom(16)
_FIELDS: dict[type, Any] = {}


def digest(message: Message) -> bytes:
    """
    16 bytes, the same for equal messages in this process, and for no others.

    >>> from unabridged.messages import user
    >>> digest(user("hi")) == digest(user("hi")), digest(user("hi")) == digest(user("ho"))
    (True, False)
    """
    try:
        return message._digest  # noqa: SLF001  a place of ours
    except AttributeError:
        return made(message)


def made(message: Message) -> bytes:
    """
    The digest of a message that has none yet.

    >>> from unabridged.messages import user
    >>> made(user("hi")) == digest(user("hi"))
    True
    """
    shape = (
        _text(message.role),
        message.name,
        message.id,
        _text(message.metadata.text),
        _text(message.extra.text),
        tuple([_shape(part) for part in message.parts]),
    )
    try:
        data = marshal.dumps(shape, 2)
    except ValueError:  # a text of a class of its own
        data = repr(shape).encode("utf-8", "surrogatepass")
    found = blake2b(data, digest_size=_SIZE, key=_KEY).digest()
    object.__setattr__(message, "_digest", found)

    return found


def _text(text: str) -> Any:
    return text if len(text) < _LONG else (hash(text), len(text))


def _shape(value: Any) -> Any:
    """
    The value as marshal takes it.
    """
    if type(value) is Text:
        return _text(value.text), _text(value.extra.text)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Json):
        return _text(value.text)
    if isinstance(value, tuple):
        return tuple([_shape(one) for one in value])
    if not attrs.has(kind := type(value)):
        return value
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = attrgetter(*[one.name for one in attrs.fields(kind)])

    return kind.__name__, *map(_shape, fields(value))
