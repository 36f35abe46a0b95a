"""
Digests of texts, as one short text: to tell how far two lists begin alike.
"""

import base64
import hashlib
import re
from collections.abc import Iterable

from unabridged.errors import ConfigError
from unabridged.text.brief import brief

__all__ = ["digest", "digests", "written_digests"]

_MARK = "1:"  # the version, before all others
_BYTES, _LETTERS = 6, 8  # two texts that differ look alike once in 280 million million
_FORM = re.compile(f"(?:[A-Za-z0-9_-]{{{_LETTERS}}})*")


def digest(text: str) -> str:
    """
    Eight letters that tell a text from all others.

    >>> len(digest("hello")), digest("hello") == digest("hello ")
    (8, False)
    """
    whole = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_BYTES)

    return base64.urlsafe_b64encode(whole.digest()).decode()


def written_digests(texts: Iterable[str]) -> str:
    """
    The digests of texts in a row.

    >>> len(written_digests(["a", "b"]))
    18
    """
    return _MARK + "".join(map(digest, texts))


def digests(value: object, where: str) -> tuple[str, ...]:
    """
    The digests in what `written_digests` gave.

    Raises:
        ConfigError: *value* is something else; *where* says what was to be given.

    >>> digests(written_digests(["a", "b"]), "previous=") == (digest("a"), digest("b"))
    True
    >>> digests("a", "previous= takes a result's `prefix`")
    Traceback (most recent call last):
    unabridged.errors.ConfigError: previous= takes a result's `prefix`, got 'a'
    """
    if isinstance(value, str) and value.startswith(_MARK):
        letters = value.removeprefix(_MARK)
        if _FORM.fullmatch(letters):
            starts = range(0, len(letters), _LETTERS)
            return tuple([letters[start : start + _LETTERS] for start in starts])
    msg = f"{where}, got {brief(value)}"
    raise ConfigError(msg)
