"""
The shipped vocabularies. Counting with them is tested in `test_counters.py`.
"""

import base64
import hashlib
import lzma
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from unabridged.errors import ConfigError
from unabridged.tokens import vocabulary

OFFLINE = """
import socket, sys

def refuse(*_, **__):
    raise SystemExit("a socket was made")

class Refused(socket.socket):
    __init__ = refuse

socket.socket, socket.create_connection, socket.getaddrinfo = Refused, refuse, refuse

import unabridged.tokens
assert "tiktoken" not in sys.modules, "loaded too early"
from unabridged import user
names = "gpt-4o", "cl100k_base"
print([unabridged.tokens.exact(name)(user("hello world")) for name in names])
"""


@pytest.fixture
def shelf(monkeypatch, tmp_path):
    """
    A folder that stands for the installed package, with nothing in it yet.
    """
    monkeypatch.setattr(vocabulary, "files", lambda _: tmp_path)
    (tmp_path / "vocabularies").mkdir()
    vocabulary._built.cache_clear()
    yield tmp_path / "vocabularies"
    vocabulary._built.cache_clear()


class TestEncoding:
    @pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
    def test_holds_what_tiktoken_would_download(self, name):
        """
        The tokens in tiktoken's text form have the hash that its source gives.
        """
        encoding = vocabulary.encoding(name)
        ranks = encoding._mergeable_ranks
        text = b"".join(b"%b %d\n" % (base64.b64encode(token), ranks[token]) for token in ranks)

        assert vocabulary.KNOWN[name].text_sha256 == hashlib.sha256(text).hexdigest()
        assert vocabulary.KNOWN[name].size == len(ranks)
        assert name == encoding.name

    def test_knows_the_special_tokens_of_tiktoken(self):
        """
        Pattern and special tokens are those of the installed tiktoken.
        """
        special = {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}

        assert special == vocabulary.encoding("o200k_base")._special_tokens

    def test_is_built_once(self):
        """
        Threads that ask together get the same one.
        """
        vocabulary._built.cache_clear()
        with ThreadPoolExecutor(4) as pool:
            built = list(pool.map(vocabulary.encoding, ["cl100k_base"] * 4))

        assert {id(built[0])} == {id(encoding) for encoding in built}

    def test_needs_no_network(self):
        """
        A process that cannot make a socket counts; tiktoken is loaded by the first count.
        """
        done = subprocess.run(  # noqa: S603  our own code
            [sys.executable, "-c", OFFLINE],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(vocabulary.__file__).parents[2])},
        )

        assert ("[6, 6]\n", "", 0) == (done.stdout, done.stderr, done.returncode)

    def test_names_what_there_is(self):
        """
        An unknown name is refused with the known ones.
        """
        with pytest.raises(ConfigError) as caught:
            vocabulary.encoding("p50k_base")

        assert str(caught.value) == (
            "encoding `p50k_base` is not shipped; there are 'o200k_base', 'cl100k_base'"
        )

    def test_refuses_another_vocabulary_than_tiktoken_wants(self, monkeypatch):
        """
        A tiktoken that changed its vocabulary is not counted for with the old one.
        """
        known = {
            "cl100k_base": vocabulary.Vocabulary(1, vocabulary.KNOWN["cl100k_base"].sha256, "0")
        }
        monkeypatch.setattr(vocabulary, "KNOWN", known)
        vocabulary._built.cache_clear()

        with pytest.raises(ConfigError, match="the installed tiktoken has another vocabulary"):
            vocabulary.encoding("cl100k_base")

    def test_says_when_a_file_is_missing(self, shelf):
        """
        A package without its files says so, and what to do.
        """
        with pytest.raises(ConfigError, match=r"`cl100k_base` cannot be read .* install"):
            vocabulary.encoding("cl100k_base")

    @pytest.mark.parametrize("data", [b"", b"not lzma", lzma.compress(b"\x01a")[:-4]])
    def test_says_when_a_file_is_cut_short(self, shelf, data):
        """
        What LZMA cannot read is an error of this library.
        """
        (shelf / "cl100k_base.lzma").write_bytes(data)

        with pytest.raises(ConfigError, match="`cl100k_base` cannot be read"):
            vocabulary.encoding("cl100k_base")

    def test_says_when_a_file_is_not_the_one(self, shelf):
        """
        One changed byte is noticed.
        """
        (shelf / "cl100k_base.lzma").write_bytes(lzma.compress(b"\x01a"))

        with pytest.raises(ConfigError, match="`cl100k_base` is damaged: SHA-256"):
            vocabulary.encoding("cl100k_base")


class TestUnpack:
    def test_numbers_the_tokens(self):
        """
        Ranks are places; the longest token has 255 bytes.
        """
        data = b"\x01a\x02bc\xff" + b"z" * 255

        assert {b"a": 0, b"bc": 1, b"z" * 255: 2} == vocabulary.unpack(data)

    def test_finds_nothing_in_nothing(self):
        """
        The edge: no data, no tokens.
        """
        assert {} == vocabulary.unpack(b"")
