"""
Counts of texts are tiktoken's, whoever counts.
"""

import os
import random
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged.tokens import texts
from unabridged.tokens.texts import BLOCK, RUN, fast, measure_of, pieces
from unabridged.tokens.vocabulary import encoding

NAMES = ["o200k_base", "cl100k_base"]
SAMPLE = 20_000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 2_000

LETTERS = "'sStTrReEvVmMlLdD\u017f\u212a aB1 \n"
SPACES = " \t\n\r\x0b\x0c\x1c\x85\xa0\u2028\u3000\u200b a.!/"
DIGITS = "0123456789٣४²½Ⅷ一a,."
MARKS = ["e", "\u0301", "\u0489", "A", "ǅ", "ʰ", "ª", "文", "ก", "็", "\u200d", "👩", "🏽", "\ufe0f"]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|endofprompt|>", "<|fim_prefix|>", "<|", "x", " "]
CODE = ["{", "}", '"', ":", "//", "/*", "\n\n", "  ", "\t", "_", "x1", "camelCase", "!!\n/", "…"]
WORDS = [
    "the",
    "Lima",
    "don't",
    "HTTPServer",
    "naïve",
    "straße",
    "Москва",
    "مرحبا",
    "नमस्ते",
    "今日は",
]
WORDS += ["你好", "안녕", "🎉", "1,024.5"]
KINDS = [LETTERS, SPACES, DIGITS, MARKS, SPECIAL, CODE, WORDS]


def counted(text, name):
    """
    What tiktoken counts in a text.
    """
    return len(encoding(name).encode_ordinary(text))


def varied(size, *, seed):
    """
    Texts of many kinds: scripts, code, runs, base64, any characters at all, lone surrogates.
    """
    chance = random.Random(seed)
    for _ in range(size):
        length = chance.randrange(1, 60)
        kind = chance.randrange(len(KINDS) + 5)
        if kind < len(KINDS):
            yield ("" if kind < 6 else " ").join(chance.choices(KINDS[kind], k=length))
        elif kind == len(KINDS):
            yield "".join(chr(chance.randrange(0x110000)) for _ in range(length))
        elif kind == len(KINDS) + 1:
            yield "".join(chr(chance.randrange(0x3000)) for _ in range(length))
        elif kind == len(KINDS) + 2:
            yield chance.choice("aA=1文 é\u0301\n/") * (length * chance.choice([1, 7, 50]))
        elif kind == len(KINDS) + 3:
            yield "".join(chance.choices("ABCDEFabcdef0123456789+/=", k=length * 10))
        else:
            yield "".join(chr(chance.randrange(0x20, 0x7F)) for _ in range(length))


def quick(name):
    """
    The count of toktok-rs.
    """
    measure = fast(name)
    if measure is None:
        pytest.skip("the extra `fast` (toktok-rs) is not installed")

    return measure


class TestMeasureOf:
    @pytest.mark.parametrize("name", NAMES)
    def test_counts_what_tiktoken_counts(self, name):
        """
        Over 20,000 varied strings in the thorough profile, a tenth of that always.
        """
        count = measure_of(name)
        wrong = [text for text in varied(SAMPLE, seed=7) if count(text) != counted(text, name)]

        assert [] == wrong

    @pytest.mark.parametrize(
        "unit",
        ["a", "1", "=", "文", "e\u0301\u0301", "👩‍👩‍👧", "iVBORw0KGgo+x/9", "Aa", "\n/", "hello "],
    )
    @pytest.mark.parametrize("name", NAMES)
    def test_counts_a_megabyte_exactly(self, name, unit):
        """
        One letter, digits, signs, base64, marks: as tiktoken does with the whole of it.
        """
        text = unit * (300_000 // len(unit))

        assert counted(text, name) == measure_of(name)(text)

    @pytest.mark.parametrize("unit", [" ", "\t", "\n", "\r\n", " \n", "    \n", " \t\xa0\u3000"])
    @pytest.mark.parametrize("name", NAMES)
    def test_counts_a_long_run_of_white_space_nearly(self, name, unit):
        """
        Within 4 tokens for each block, in front of anything and behind it.
        """
        for before, after in (("", ""), ("a!", "b"), ("\n", "3")):
            text = before + unit * (250_000 // len(unit)) + after

            assert abs(measure_of(name)(text) - counted(text, name)) <= 4 * 2

    def test_survives_what_tiktoken_does_not(self):
        """
        A run of several million spaces is counted, 128 a token.
        """
        assert 3_000_000 // 128 + 1 == measure_of("o200k_base")(" " * 3_000_000)


class TestPieces:
    @given(
        st.lists(
            st.tuples(st.sampled_from([" ", "\n", "a", "ab c"]), st.integers(0, 250_000)),
            max_size=4,
        )
    )
    def test_lose_nothing(self, runs):
        """
        Together they are the text, and none holds a run that is too long.
        """
        text = "".join(unit * (size // len(unit)) for unit, size in runs)
        found = list(pieces(text))

        assert text == "".join(found)
        assert all(len(run) <= RUN for piece in found for run in re.findall(r"\s+", piece))

    @pytest.mark.parametrize("size", [RUN, RUN + 1])
    def test_cut_only_what_is_too_long(self, size):
        """
        The edge: 100,000 are left, one more is not.
        """
        expected = [size + 2] if size == RUN else [BLOCK + 1, size - BLOCK + 1]

        assert expected == [len(piece) for piece in pieces("a" + " " * size + "b")]

    def test_are_one_for_a_text_without_a_run(self):
        """
        However long it is.
        """
        text = "word " * 100_000

        assert [text] == list(pieces(text))


class TestFast:
    @pytest.mark.parametrize("name", NAMES)
    def test_counts_what_tiktoken_counts(self, name):
        """
        The same strings, other ones.
        """
        count = quick(name)
        wrong = [text for text in varied(SAMPLE, seed=11) if count(text) != counted(text, name)]

        assert [] == wrong

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize(
        "text", ["it'\u017f ok", "IT'\u017f", "\ua7d2_o", "\u1adc&Wua", "\U00032e86+W", "\ud83d a"]
    )
    def test_counts_what_it_would_not_know(self, name, text):
        """
        A long s that ends a contraction, letters of Unicode 17, a lone surrogate.
        """
        assert counted(text, name) == quick(name)(text)

    @pytest.mark.parametrize("name", NAMES)
    def test_sorts_characters_as_tiktoken_does(self, name):
        """
        Letter, mark, digit or sign: some of all characters here, all in the thorough profile.
        """
        count, step = quick(name), 1 if SAMPLE == 20_000 else 37
        wrong = [
            hex(place)
            for place in range(0x80, 0x110000, step)
            if not 0xD800 <= place < 0xE000
            for text in (f"{chr(place)}_o", f"{chr(place)}&Wua {chr(place)}1")
            if count(text) != counted(text, name)
        ]

        assert [] == wrong

    def test_is_used_where_it_is_installed(self):
        """
        Then tiktoken's vocabulary is not even loaded.
        """
        assert quick("o200k_base")("hello world") == measure_of("o200k_base")("hello world")

    @pytest.mark.parametrize("module", [None, object()])
    def test_is_not_missed(self, monkeypatch, module):
        """
        Without it, or with another package of that name, tiktoken counts.
        """
        monkeypatch.setitem(sys.modules, "toktok", module)
        texts.measure_of.cache_clear()

        assert fast("o200k_base") is None
        assert 2 == measure_of("o200k_base")("hello world")
        texts.measure_of.cache_clear()

    def test_knows_no_other_vocabulary(self):
        """
        What is not shipped is not counted by it either.
        """
        assert fast("qwen3.5") is None
