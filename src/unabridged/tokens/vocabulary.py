"""
The vocabularies of tiktoken, shipped with the package: nothing is downloaded.

tiktoken fetches a vocabulary at first use, without a time-out, which fails on
a machine without a network and hangs on one with a bad one. A packed file
holds the tokens in the order of their ranks, each as a byte for its length
and its bytes, compressed with LZMA; `benchmarks/pack_vocabularies.py` writes
it. The pattern that splits a text and the special tokens are those of the
tiktoken that is installed.
"""

import hashlib
import importlib
import lzma
import os
import types
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import TYPE_CHECKING, Any

from attrs import frozen

from unabridged.errors import ConfigError

if TYPE_CHECKING:
    from tiktoken import Encoding

__all__ = ["KNOWN", "Vocabulary", "encoding", "unpack"]

_LOCKS: dict[int, Any] = {}  # by process: a fork may leave one held


@frozen
class Vocabulary:
    """
    What is known of a vocabulary: how many tokens, and what they must hash to.

    *text_sha256* is of tiktoken's own text form, as its source gives it.
    *sha256* is of the tokens as they are packed here, before compression: the
    two forms can be made from each other byte for byte, so either proves both,
    and this one is ten times as fast to take.

    >>> KNOWN["o200k_base"].size
    199998
    """

    size: int
    sha256: str
    text_sha256: str


KNOWN = {
    "o200k_base": Vocabulary(
        199_998,
        "bac143fe7fe950090c6e4ed9a2f80de5412a92495758b52becbbe5a7eea25ecb",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": Vocabulary(
        100_256,
        "6bfd43f7b31b50b645b3228413547e662af1ae4801e9b192b9791680a71d650c",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}


def encoding(name: str) -> "Encoding":
    """
    The `tiktoken.Encoding` called *name*, from the shipped vocabulary.

    It is built at first use, once a process, and never asks the network. That
    takes 100 to 300 ms; every later call under a microsecond.

    Raises:
        ConfigError: the name is unknown, the file is damaged, or the tiktoken
            that is installed wants another vocabulary.

    >>> encoding("o200k_base").encode_ordinary("hello world")
    [24912, 2375]
    """
    with _LOCKS.setdefault(os.getpid(), Lock()):
        return _built(name)


def unpack(data: bytes) -> dict[bytes, int]:
    r"""
    The tokens of an uncompressed vocabulary, each with its rank.

    >>> unpack(b"\x01a\x02bc")
    {b'a': 0, b'bc': 1}
    """
    ranks: dict[bytes, int] = {}
    start, end = 0, len(data)
    while start < end:
        stop = start + 1 + data[start]
        ranks[data[start + 1 : stop]] = len(ranks)
        start = stop

    return ranks


@cache
def _built(name: str) -> "Encoding":
    # Imported here, not above: tiktoken takes 30 ms and much memory, which a
    # program that counts in another way should not pay.
    from tiktoken import Encoding  # noqa: PLC0415

    if name not in KNOWN:
        msg = f"encoding `{name}` is not shipped; there are {', '.join(map(repr, KNOWN))}"
        raise ConfigError(msg)
    ranks = unpack(_verified(name))
    constructor = getattr(importlib.import_module("tiktoken_ext.openai_public"), name)

    def load_tiktoken_bpe(_url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        if expected_hash not in {None, KNOWN[name].text_sha256}:
            msg = (
                f"encoding `{name}`: the installed tiktoken has another vocabulary, {expected_hash}"
            )
            raise ConfigError(msg)
        return ranks

    # The constructor would download; the same code over our loader does not.
    offline = {**constructor.__globals__, "load_tiktoken_bpe": load_tiktoken_bpe}
    arguments: dict[str, Any] = types.FunctionType(constructor.__code__, offline)()

    return Encoding(**arguments)


def _verified(name: str) -> bytes:
    file = files("unabridged.tokens") / "vocabularies" / f"{name}.lzma"
    try:
        data = lzma.decompress(file.read_bytes())
    except (OSError, lzma.LZMAError, EOFError) as error:
        msg = f"vocabulary `{name}` cannot be read ({error}); install unabridged again"
        raise ConfigError(msg) from error
    found = hashlib.sha256(data).hexdigest()
    if found != KNOWN[name].sha256:
        msg = (
            f"vocabulary `{name}` is damaged: SHA-256 {found}, expected {KNOWN[name].sha256}; "
            "install unabridged again"
        )
        raise ConfigError(msg)

    return data
