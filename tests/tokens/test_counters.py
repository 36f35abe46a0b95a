"""
Counters. The vocabularies behind `exact` are tested in `test_vocabulary.py`.
"""

import base64
import json
import pickle
import struct
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unabridged import assistant, formats, tokens, tool, user
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
from unabridged.tokens import exact, for_model, kept, of_text, quarter, rough, words
from unabridged.tokens.estimate import estimate
from unabridged.tokens.vocabulary import encoding

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
SETS = ["tau_airline", "pi_coding", "swe_agent", "crosswoz", "locomo"]
APIS = {
    "anthropic": formats.anthropic,
    "bedrock": formats.bedrock,
    "chat": formats.openai_chat,
    "gemini": formats.gemini,
    "responses": formats.openai_responses,
}
BASE64 = "iVBORw0KGgo" * 1_000


def base64_of(data):
    """
    Bytes as they stand in a part.
    """
    return base64.b64encode(data).decode()


PNG = base64_of(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480) + bytes(7))
PDF = base64_of(b"%PDF-1.7\n" + b"<< /Type /Page >>\n" * 3 + b"<< /Type /Pages /Count 3 >>  ")
WAV = base64_of(
    b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0" + struct.pack("<HHIIHH", 1, 1, 800, 800, 1, 8)
    + b"data" + struct.pack("<I", 1_500) + bytes(1_500)
)  # fmt: skip
MP4 = base64_of(
    b"\0\0\0\x10ftypisom\0\0\0\0\0\0\0\x24moov\0\0\0\x1cmvhd" + bytes(12)
    + struct.pack(">II", 1_000, 9_500)
)  # fmt: skip

NOT_SHIPPED = ", which is not shipped; there are 'o200k_base', 'cl100k_base'"

# "How to count tokens with tiktoken", section 6.
COOKBOOK = [
    Message("system", "You are a helpful, pattern-following assistant that translates corporate "
        "jargon into plain English."),
    Message("system", "New synergies will help drive top-line growth.", name="example_user"),
    Message("system", "Things working well together will increase revenue.",
        name="example_assistant"),
    Message("system", "Let's circle back when we have more bandwidth to touch base on "
        "opportunities for increased leverage.", name="example_user"),
    Message("system", "Let's talk later when we're less busy about how to do better.",
        name="example_assistant"),
    Message("user", "This late pivot means we don't have time to boil the ocean for the client "
        "deliverable."),
]  # fmt: skip

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

    def test_survives_a_million_spaces(self):
        """
        One piece of this size makes tiktoken panic; 128 spaces are one token.
        """
        assert 4 + 1_000_000 // 128 + 1 == exact()(user(" " * 1_000_000))

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
            (Image(url="https://example.org/a.png", width=2_048, height=4_096), 1_105),
            (Image(data=PNG + BASE64), 85 + 170 * 2),
            (Image(url="data:image/png;base64," + PNG + BASE64), 85 + 170 * 2),
            (Image(data=PNG, width=10, height=10), 85 + 170),
            (Document(data="JVBERi0xLjcK" * 200, name="a.pdf"), 2_000),
            (Document(data=PDF), 3 * 2_000),
            (Document(data="aGVsbG8gd29ybGQ=", media_type="text/plain"), 2),
            (Document(data="aGVsbG8gd29ybGQ", media_type="text/plain"), 2),
            (Document(data="aGVs\r\nbG8gd29y\nbGQ=", media_type="text/plain"), 2),
            (Document(data="data:text/plain;base64,aGVsbG8gd29ybGQ="), 2),
            (Document(url="data:text/plain;base64,aGVsbG8gd29ybGQ"), 2),
            (Document(url="data:text/plain,hello%20world"), 2),
            (Document(data="hello, world", media_type="text/plain"), 3),
            (Document(data="UEsDBBQA" * 10_000, media_type="application/x-docx"), 6 * 2_000),
            (Document(url="https://example.org/a.pdf"), 2_000),
            (Document(text="hello world", name="a"), 3),
            (Document(), 0),
            (Audio(data="T2dnUwAC" * 500), 960),
            (Audio(data=WAV), 2 * 32),
            (Audio(transcript="hello world"), 2),
            (Audio(file="audio_1", transcript="hello world"), 962),
            (Reasoning("hello world", signature=BASE64, encrypted=BASE64), 2),
        ],
        ids=str,
    )
    def test_never_counts_base64_as_text(self, part, expected):
        """
        Parts that are not text go by the size in their header, or a flat figure; signatures cost 0.
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

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (PNG + BASE64, 85 + 170 * 2),
            ("data:image/png;base64," + PNG + BASE64, 85 + 170 * 2),
            (PNG + "\r\n".join([BASE64[:76]] * 30), 85 + 170 * 2),
            (WAV, 2 * 32),
            (PDF + BASE64, 3 * 2_000),
        ],
        ids=["image", "data-url", "lines", "audio", "document"],
    )
    def test_reads_the_headers_of_payloads(self, text, expected):
        """
        A file within an opaque part goes by its header, as in a part of its own.
        """
        part = Opaque("gemini", {"inlineData": {"data": text}})

        assert counted('{"inlineData":{"data":""}}') + expected == of_part(part)

    def test_counts_chinese_in_an_opaque_part(self):
        """
        Long prose without a space is no payload.
        """
        part = Opaque("anthropic", {"text": "今天天气很好" * 500})

        assert counted(part.data.text) == of_part(part)

    def test_ignores_what_is_not_sent(self):
        """
        Metadata and the message's own id cost nothing.
        """
        assert exact()(user("hi")) == exact()(user("hi", id="m1", metadata={"at": "noon"}))

    @pytest.mark.parametrize(
        ("name", "same"),
        [
            ("gpt-4o", "o200k_base"),
            ("gpt-4.1-2025-04-14", "o200k_base"),
            ("ft:gpt-4o:me:mine:1", "o200k_base"),
            ("gpt-oss-20b", "o200k_base"),
            ("gpt-4", "cl100k_base"),
            ("gpt-3.5-turbo-0125", "cl100k_base"),
            ("text-embedding-3-small", "cl100k_base"),
        ],
    )
    def test_takes_the_name_of_a_model(self, name, same):
        """
        The table is tiktoken's own, and says which vocabulary it needs.
        """
        assert exact(same) == exact(name)
        assert hash(exact(same)) == hash(exact(name))
        assert kept(exact(same)) is kept(exact(name))

    @pytest.mark.parametrize(
        ("name", "tokens"),
        [
            ("gpt-4o", 765),
            ("gpt-4o-mini", 2_833 + 4 * 5_667),
            ("gpt-5", 70 + 4 * 140),
            ("gpt-5-mini", 1_659),
            ("gpt-4.1-nano-2025-04-14", 2_520),
            ("o4-mini", 1_762),
            ("o1-2024-12-17", 75 + 4 * 150),
            ("o3", 75 + 4 * 150),
        ],
    )
    def test_looks_at_pictures_as_the_model_does(self, name, tokens):
        """
        1,024 x 1,024 in high detail, by the formulas of OpenAI's page.
        """
        image = user([Image(url="https://example.org/a.png", width=1_024, height=1_024)])

        assert tokens == exact(name)(image) - exact(name)(user([]))

    @pytest.mark.parametrize(
        ("name", "tokens"), [("gpt-4o", 124), ("gpt-4", 129), ("gpt-3.5-turbo", 129)]
    )
    def test_agrees_with_the_cookbook(self, name, tokens):
        """
        The example of OpenAI's cookbook, with the 3 that open the reply.
        """
        assert tokens == sum(map(exact(name), COOKBOOK)) + 3

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            (
                "text-davinci-003",
                "exact: 'text-davinci-003' needs the vocabulary `p50k_base`" + NOT_SHIPPED,
            ),
            (
                "gpt2",
                "exact: 'gpt2' needs the vocabulary `gpt2`" + NOT_SHIPPED,
            ),
            (4, "exact: expected the name of a model or an encoding, got 4"),
        ],
    )
    def test_refuses_what_it_cannot_count(self, asked, message):
        """
        The message says which vocabulary it would take.
        """
        with pytest.raises(ConfigError) as caught:
            exact(asked)

        assert message == str(caught.value)

    def test_refuses_an_unknown_name(self):
        """
        The message says who does not know it, and names what there is.
        """
        with pytest.raises(ConfigError, match=r"tiktoken .* knows no model 'gpt-9'.*'cl100k_base'"):
            exact("gpt-9")

    def test_refuses_unknown_images(self):
        """
        The message names the families.
        """
        with pytest.raises(ConfigError, match=r"`images` must be one of 'gpt-4o', .* got 'dall-e'"):
            exact(images="dall-e")


class TestForModel:
    @pytest.mark.parametrize("name", ["gpt-4o", "openai/gpt-4o", "azure/openai/gpt-4o"])
    def test_counts_openai_exactly(self, name):
        """
        Also under a provider's prefix.
        """
        assert exact("gpt-4o") == for_model(name)

    @pytest.mark.parametrize(
        ("name", "row"),
        [
            ("claude-3-5-sonnet-20241022", "claude-4"),
            ("claude-instant-1.2", "claude-4"),
            ("claude-sonnet-4-20250514", "claude-4"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-4"),
            ("anthropic/claude-opus-4.6", "claude-4"),
            ("claude-haiku-4-5@20251001", "claude-4"),
            ("claude-opus-4-7", "claude"),
            ("claude-opus-4-8-20260601", "claude"),
            ("claude-sonnet-5", "claude"),
            ("gemini-2.5-pro", "gemini-2"),
            ("models/gemini-3-pro-preview", "gemini"),
            ("meta-llama/Llama-3.1-8B-Instruct", "llama"),
            ("Qwen/Qwen3-32B", "qwen"),
        ],
    )
    def test_knows_other_families(self, name, row):
        """
        The counter is that of the family, and its repr evaluates back.
        """
        counter = for_model(name)

        assert f"for_model('{row}')" == repr(counter)
        assert counter == for_model(row)
        assert "estimate" == counter.bound

    @pytest.mark.parametrize(
        ("name", "size", "tokens"),
        [
            ("claude-sonnet-4-5", (1_000, 1_000), 36 * 36),
            ("claude-sonnet-4-5", (8_000, 8_000), 1_568),
            ("claude-opus-4-7", (8_000, 8_000), 4_784),
            ("claude-opus-4-7", (2_000, 100), 72 * 4),
            ("gemini-2.5-pro", (384, 384), 258),
            ("gemini-2.5-pro", (1_000, 700), 2 * 258),
            ("gemini-3-pro", (100, 100), 1_120),
            ("qwen2.5-vl", (280, 280), 100),
        ],
    )
    def test_looks_at_pictures_as_the_model_does(self, name, size, tokens):
        """
        By the formulas of the providers' pages; a factor is for text alone.
        """
        image = Image(url="https://example.org/a.png", width=size[0], height=size[1])

        assert tokens == for_model(name)(user([image])) - for_model(name)(user([]))

    def test_counts_a_page_and_a_second_as_gemini_does(self):
        """
        A PDF's page 258, a second of sound 32, a film 263.
        """
        count = for_model("gemini-2.5-flash")
        film = Opaque("gemini", {"data": MP4 + "A" * 1_000})
        rest = Opaque("gemini", {"data": ""})

        assert 258 * 3 == count(user([Document(data=PDF)])) - count(user([]))
        assert 32 * 2 == count(user([Audio(data=WAV)])) - count(user([]))
        assert 263 * 10 == count(user([film])) - count(user([rest]))

    def test_scales_text_for_llama_and_qwen(self):
        """
        By the factor that was measured, and a token more a message.
        """
        text = "The weather in Lima is mild. " * 100

        assert 4 + 1 + round(counted(text) * 1.02) == for_model("llama-3")(user(text))
        assert 4 + 1 + round(counted(text) * 1.06) == for_model("qwen3")(user(text))

    @pytest.mark.parametrize("asked", ["mistral-large", "", 4, None])
    def test_refuses_what_it_does_not_know(self, asked):
        """
        A guess would be worse than an error.
        """
        with pytest.raises(ConfigError, match="for_model: "):
            for_model(asked)

    def test_says_which_vocabulary_is_missing(self):
        """
        An OpenAI model whose vocabulary is not shipped is known all the same.
        """
        with pytest.raises(ConfigError, match="p50k_base"):
            for_model("text-davinci-003")


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

    @pytest.mark.parametrize("api", APIS)
    def test_is_within_15_percent_of_real_requests(self, api):
        """
        The request bodies of five APIs, with what each has of its own.
        """
        path = DATA / "api_shapes.jsonl"
        if not path.exists():
            pytest.skip("the requests are not beside the repository: api_shapes.jsonl")
        shapes = map(json.loads, path.read_text("utf-8").splitlines())
        held = [APIS[api].load(shape["messages"]) for shape in shapes if shape["api"] == api]
        messages = [message for each in held for message in each]
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
            (exact("gpt-4o"), "exact('o200k_base')"),
            (exact("gpt-5-mini"), "exact('o200k_base', images='mini')"),
            (for_model("claude-opus-4-7"), "for_model('claude')"),
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
        names = {"exact": exact, "for_model": for_model, "of_text": of_text, "tokens": tokens}

        assert {counter} == {again}
        assert shown == repr(counter) == repr(again)
        assert counter == eval(shown, names)  # noqa: S307  our own repr

    def test_differ_when_they_count_otherwise(self):
        """
        No two are equal by accident.
        """
        others = {for_model("claude-3"), for_model("gemini-2"), exact("gpt-4o-mini")}

        assert 8 == len({exact(), exact("cl100k_base"), rough, words, quarter} | others)

    @pytest.mark.parametrize(
        ("counter", "bound"),
        [
            (exact(), "exact"),
            (exact("gpt-4o-mini"), "exact"),
            (for_model("gemini"), "estimate"),
            (rough, "estimate"),
            (words, "estimate"),
            (of_text(len), "estimate"),
        ],
    )
    def test_say_what_their_counts_promise(self, counter, bound):
        """
        Exact, no less than the truth, or about it.
        """
        assert bound == counter.bound

    def test_are_listed(self):
        """
        The public names are sorted, and there.
        """
        assert sorted(tokens.__all__) == tokens.__all__
        assert all(hasattr(tokens, name) for name in tokens.__all__)
