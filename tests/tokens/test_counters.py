"""
Counters. The vocabularies behind `exact` are tested in `test_vocabulary.py`.
"""

import json
import pickle
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unabridged import assistant, tokens, tool, user
from unabridged.errors import ConfigError
from unabridged.messages import (
    Audio,
    Document,
    Image,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from unabridged.tokens import exact, of_text, quarter, rough, words
from unabridged.tokens.estimate import estimate
from unabridged.tokens.vocabulary import encoding

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
SETS = ["tau_airline", "pi_coding", "swe_agent", "crosswoz", "locomo"]
BASE64 = "iVBORw0KGgo" * 1_000

pieces = st.one_of(
    st.text(),
    st.text(st.characters(categories=["Cs"])),
    st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF)),
    st.sampled_from(
        ["<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>", "👩‍👩‍👧", "e\u0301", "\u017f"]
    ),
    st.sampled_from([" ", "\n", "\t", "\x00", "'s", "'S", "{'a': 1}", "12345"]),
)
texts = st.lists(pieces, max_size=8).map("".join)


def counted(text, name="o200k_base"):
    """
    What tiktoken counts in a text.
    """
    return len(encoding(name).encode_ordinary(text))


def of_part(part):
    """
    What one part costs, without its message and role.
    """
    count = exact()
    return count(user([part])) - count(user([]))


def loaded(name):
    """
    The messages of one set of real transcripts.
    """
    path = DATA / f"{name}.jsonl"
    if not path.exists():
        pytest.skip(f"the transcripts are not beside the repository: {path.name}")
    lines = path.read_text("utf-8").splitlines()

    return [message(raw) for line in lines for raw in json.loads(line)["messages"]]


def message(raw):
    """
    A message of the OpenAI chat form, well enough for counting.
    """
    text = raw.get("content") or ""
    calls = [
        ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in raw.get("tool_calls") or ()
    ]
    result = ToolResult(raw.get("tool_call_id") or "", text)
    parts = result if raw["role"] == "tool" else [Text(text), *calls]

    return Message(raw["role"], parts, name=raw.get("name"))


class TestExact:
    @pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
    @given(text=texts)
    @example(text="<|endoftext|>")
    @example(text="\ud83d lone \udc00")
    def test_counts_what_tiktoken_counts(self, name, text):
        """
        A message is 3, its role and its text, whatever the text is made of.
        """
        expected = 3 + counted("user", name) + counted(text, name)

        assert expected == exact(name)(user(text))

    def test_counts_a_lone_surrogate_as_a_replacement(self):
        """
        It goes to the provider as U+FFFD.
        """
        assert exact()(user("a \ufffd b")) == exact()(user("a \ud83d b"))

    @pytest.mark.parametrize("text", [" " * 1_000_000, "\t" * 300_000, "\n" * 300_000])
    def test_survives_a_million_spaces(self, text):
        """
        One piece of this size makes tiktoken panic.
        """
        sliced = [text[at : at + 100_000] for at in range(0, len(text), 100_000)]

        assert exact()(user(text)) == 4 + sum(map(counted, sliced))

    def test_counts_a_name_and_one(self):
        """
        A name costs its tokens and 1.
        """
        assert 3 + 1 + counted("Ann") + 1 + 1 == exact()(user("hi", name="Ann"))

    def test_counts_an_empty_message(self):
        """
        The edge: no parts, 3 and the role.
        """
        assert 3 + counted("assistant") == exact()(assistant())

    def test_counts_each_value_of_calls_and_results(self):
        """
        Ids, names and arguments of calls, ids and content of results.
        """
        call = ToolCall("call_1", "find", '{"q": "x"}')
        result = tool(["sunny", Image(url="https://example.org/a.png")], call_id="call_1")

        assert of_part(call) == counted("call_1") + counted("find") + counted('{"q": "x"}')
        assert exact()(result) == 3 + counted("tool") + counted("call_1") + counted("sunny") + 765

    @pytest.mark.parametrize(
        ("part", "expected"),
        [
            (Image(data=BASE64), 765),
            (Image(url="https://example.org/a.png", detail="low"), 85),
            (Document(data=BASE64, name="a.pdf"), 2_000),
            (Document(text="hello world", name="a"), 3),
            (Document(), 0),
            (Audio(data=BASE64), 960),
            (Audio(transcript="hello world"), 2),
            (Audio(file="audio_1", transcript="hello world"), 962),
            (Reasoning("hello world", signature=BASE64, encrypted=BASE64), 2),
        ],
        ids=[
            "image-1",
            "image-2",
            "document-1",
            "document-2",
            "document-3",
            "audio-1",
            "audio-2",
            "audio-3",
            "reasoning-1",
        ],
    )
    def test_never_counts_base64_as_text(self, part, expected):
        """
        Parts that are not text have a flat figure, and signatures none.
        """
        assert expected == of_part(part)

    def test_counts_what_it_does_not_know_as_json(self):
        """
        A payload in an opaque part counts as an image, words as words.
        """
        known = Opaque("anthropic", {"type": "server_tool_use", "input": {"q": "最近の 天気"}})
        payload = Opaque("anthropic", {"data": BASE64, "more": BASE64})
        wordy = Opaque("anthropic", {"text": "word " * 400})

        assert counted(known.data.text) == of_part(known)
        assert counted('{"data":"","more":""}') + 2 * 765 == of_part(payload)
        assert counted(wordy.data.text) == of_part(wordy)

    def test_ignores_what_is_not_sent(self):
        """
        Metadata and the message's own id cost nothing.
        """
        assert exact()(user("hi")) == exact()(user("hi", id="m1", metadata={"at": "noon"}))

    def test_refuses_an_unknown_encoding(self):
        """
        The message names those there are.
        """
        with pytest.raises(ConfigError) as caught:
            exact("gpt-4o")

        assert str(caught.value) == (
            "exact: encoding 'gpt-4o' is unknown; there are 'o200k_base', 'cl100k_base'"
        )


class TestRough:
    @given(text=texts)
    def test_never_fails(self, text):
        """
        Any text has an estimate of 0 or more, and a text that is not empty costs no less.
        """
        assert 0 <= estimate(text) <= estimate(text + "Word")

    @pytest.mark.parametrize("name", SETS)
    def test_is_within_15_percent_of_real_transcripts(self, name):
        """
        Support, coding, chat in English and in Chinese.
        """
        messages = loaded(name)
        share = sum(map(rough, messages)) / sum(map(exact(), messages))

        assert 0.85 <= share <= 1.15

    def test_is_honest_for_chinese(self):
        """
        No message is estimated at less than 0.6 of what cl100k_base makes of it.
        """
        count = exact("cl100k_base")

        assert 0.6 <= min(rough(message) / count(message) for message in loaded("crosswoz"))

    @pytest.mark.parametrize(
        "text",
        [
            json.dumps([{"id": n, "name": f"user{n}", "active": True} for n in range(50)]),
            " ".join(str(n * 7919) for n in range(200)),
            Path(__file__).read_text("utf-8"),
            "今日はとても良い天気ですね。一緒に公園へ散歩に行きましょう。",
            "오늘은 날씨가 아주 좋네요. 같이 공원에 산책하러 갑시다.",
        ],
        ids=["json", "numbers", "python", "japanese", "korean"],
    )
    def test_is_honest_for_what_is_not_prose(self, text):
        """
        Where a quarter of the characters is far off, the estimate is within a third.
        """
        assert 0.75 <= estimate(text) / counted(text) <= 1.33

    def test_uses_the_formula_of_exact(self):
        """
        Flat figures are the same.
        """
        assert 3 + 1 + 765 == rough(user([Image(data=BASE64)]))


class TestOfText:
    def test_counts_words_calls_and_ids(self):
        """
        It gets the text that `counted_text` gives.
        """
        talk = assistant("hi", calls=[ToolCall("c1", "find", "{}")])

        assert len("hi\nfind({})") == of_text(len)(talk)

    def test_is_shown_with_its_function(self):
        """
        The repr names the function, or what it is.
        """
        assert "of_text(len)" == repr(of_text(len))
        assert "of_text(functools.partial(<class 'int'>, base=2))" == repr(
            of_text(partial(int, base=2))
        )

    def test_refuses_what_is_not_a_function(self):
        """
        The message shows what it was.
        """
        with pytest.raises(ConfigError) as caught:
            of_text(4)

        assert "of_text: expected a function from text to int, got 4" == str(caught.value)


class TestWords:
    @pytest.mark.parametrize(("text", "expected"), [("", 0), ("one", 1), (" two  words\n", 2)])
    def test_counts_words(self, text, expected):
        """
        A word is what white space parts.
        """
        assert expected == words(user(text))


class TestQuarter:
    @pytest.mark.parametrize(("text", "expected"), [("", 1), ("four", 1), ("fives", 2)])
    def test_counts_a_quarter_of_the_characters(self, text, expected):
        """
        Rounded up, and never 0.
        """
        assert expected == quarter(user(text))


class TestCounters:
    @pytest.mark.parametrize(
        ("counter", "shown"),
        [
            (exact(), "exact('o200k_base')"),
            (exact("cl100k_base"), "exact('cl100k_base')"),
            (rough, "tokens.rough"),
            (words, "tokens.words"),
            (quarter, "tokens.quarter"),
            (of_text(len), "of_text(len)"),
        ],
    )
    def test_are_values(self, counter, shown):
        """
        Equal and hashable, also after pickling; the repr evaluates back.
        """
        again = pickle.loads(pickle.dumps(counter))
        names = {"exact": exact, "of_text": of_text, "tokens": tokens}

        assert {counter} == {again}
        assert shown == repr(counter) == repr(again)
        assert counter == eval(shown, names)  # noqa: S307  our own repr

    def test_differ_when_they_count_otherwise(self):
        """
        No two are equal by accident.
        """
        assert 5 == len({exact(), exact("cl100k_base"), rough, words, quarter})

    def test_are_listed(self):
        """
        The public names are sorted, and there.
        """
        assert sorted(tokens.__all__) == tokens.__all__
        assert all(hasattr(tokens, name) for name in tokens.__all__)
