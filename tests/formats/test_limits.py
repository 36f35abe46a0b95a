"""
Limits that a provider enforces: each is named, and what form can mend is mended.
"""

import importlib
from typing import Any, ClassVar

import pytest
from hypothesis import given

from unabridged import Document, Image, Text, ToolCall, ToolResult, assistant, system, user
from unabridged.formats import (
    anthropic,
    bedrock,
    gemini,
    mend,
    openai_chat,
    openai_responses,
    problems,
)
from unabridged.formats.providers import PROVIDERS
from unabridged.testing import call, result
from unabridged.testing.generators import messages as transcripts
from unabridged.tokens import rough

PROMPTED = ("anthropic", "bedrock", "gemini", "mistral")  # take system text in front alone


def named(messages: Any, provider: str) -> list[tuple[str, int]]:
    return [(found.rule, found.seq) for found in problems(messages, provider)]


def told(messages: Any, provider: str) -> list[tuple[str, int]]:
    return [(done.what, done.seq) for done in mend(messages, provider).report]


def module_of(provider: str) -> Any:
    name = "openai_chat" if provider == "mistral" else provider
    return importlib.import_module(f"unabridged.formats.{name}")


class TestRules:
    @pytest.mark.parametrize("api", PROVIDERS.values(), ids=list(PROVIDERS))
    def test_each_says_what_and_where_from(self, api: Any):
        """
        Every rule has a docstring with its source: an address, or the words of an API.
        """
        for rule in api.rules:
            text = rule.__doc__ or ""
            assert "https://" in text or '"' in text or "Every API" in text or "UTF-8" in text, rule

    @pytest.mark.parametrize("provider", PROVIDERS)
    @given(transcripts(refused=True))
    def test_what_form_can_mend_is_mended(self, provider: str, messages: Any):
        """
        After mending, nothing of these kinds is left, but for thinking in the running loop.
        """
        left = {rule for rule, _ in named(mend(messages, provider), provider)}

        assert not left & {
            *("cache marks", "empty media", "empty key", "no content", "blank text"),
            *("empty thinking", "bad arguments", "system in the middle", "result form"),
        }


class TestCacheMarks:
    MARK: ClassVar[dict[str, Any]] = {"cache_control": {"type": "ephemeral"}}
    HOUR: ClassVar[dict[str, Any]] = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}

    def text(self, words: str, **keys: Any) -> dict[str, Any]:
        return {"type": "text", "text": words, **keys}

    def test_the_oldest_beyond_four_go(self):
        """
        Five marks in five turns: the first is named, and taken off; the others stay.
        """
        turns = [
            {"role": role, "content": [self.text(str(n), **self.MARK)]}
            for n, role in enumerate(["user", "assistant"] * 2 + ["user"])
        ]
        messages = anthropic.load(turns)

        assert [("cache marks", 1)] == named(messages, "anthropic")
        assert [("unmarked", 1)] == told(messages, "anthropic")
        sent = anthropic.request(messages)["messages"]
        assert [{"role": "user", "content": "0"}, *turns[1:]] == [
            {**turn, "content": turn["content"]} for turn in sent
        ]

    def test_four_are_left_alone(self):
        """
        As many as the API takes are sent as they came.
        """
        turns = [{"role": "user", "content": [self.text("a", **self.MARK)] * 4}]
        messages = anthropic.load(turns)

        assert [] == named(messages, "anthropic")
        assert turns == anthropic.request(messages)["messages"]

    def test_those_of_every_kind_of_block_count(self):
        """
        The system's, a call's, a result's and what stands in it, a picture's, an unknown block's.
        """
        picture = {"type": "url", "url": "https://example.org/cat.png"}
        turns = [
            {"role": "user", "content": [self.text("hi"), {"type": "image", "source": picture}]},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": [self.text("noon", **self.MARK)],
                        **self.MARK,
                    },
                    {"type": "odd", **self.MARK},
                ],
            },
        ]
        turns[0]["content"][1] |= self.MARK
        turns[1]["content"][0] |= self.MARK
        prompt = [self.text("Be brief.", **self.MARK)]
        messages = anthropic.load(turns, prompt)

        assert [("cache marks", 1), ("cache marks", 2)] == named(messages, "anthropic")
        sent = anthropic.request(messages)
        assert "cache_control" not in str(sent["system"])
        assert 4 == str(sent["messages"]).count("cache_control")

    def test_none_stands_on_thinking(self):
        """
        Thinking cannot be marked: the mark goes, the thinking stays as it is.
        """
        thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
        turns = [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [thought | self.MARK, self.text("Hello.")]},
            {"role": "user", "content": "bye"},
        ]
        messages = anthropic.load(turns)

        assert [("cache marks", 2)] == named(messages, "anthropic")
        assert thought == anthropic.request(messages)["messages"][1]["content"][0]

    def test_an_hour_does_not_follow_five_minutes(self):
        """
        A longer mark after a shorter one becomes a short one too.
        """
        blocks = [self.text("a", **self.MARK), self.text("b", **self.HOUR)]
        messages = anthropic.load([{"role": "user", "content": blocks}])

        assert [("cache marks", 1)] == named(messages, "anthropic")
        assert [self.MARK["cache_control"]] * 2 == [
            block["cache_control"]
            for block in anthropic.request(messages)["messages"][0]["content"]
        ]
        assert [] == named(anthropic.load([{"role": "user", "content": blocks[::-1]}]), "anthropic")

    def test_a_null_is_no_mark(self):
        """
        A key that is null asks for nothing.
        """
        blocks = [self.text("a", cache_control=None)] * 5
        messages = anthropic.load([{"role": "user", "content": blocks}])

        assert [] == named(messages, "anthropic")

    def test_the_cache_points_of_bedrock_go_as_blocks(self):
        """
        The oldest beyond four are no longer there; a system's counts.
        """
        point = {"cachePoint": {"type": "default"}}
        turns = [{"role": "user", "content": [{"text": "a"}, point, {"text": "b"}, *[point] * 4]}]
        messages = bedrock.load(turns, [{"text": "Be brief."}, point])

        assert [("cache marks", 1), ("cache marks", 2)] == named(messages, "bedrock")
        sent = bedrock.request(messages)
        assert [{"text": "Be brief."}] == sent["system"]
        assert [{"text": "a"}, {"text": "b"}, *[point] * 4] == sent["messages"][0]["content"]

    def test_a_message_that_was_but_a_mark_is_filled(self):
        """
        Where the mark was all there was, the turn says that it is empty.
        """
        point = {"cachePoint": {"type": "default"}}
        turns = [
            {"role": "user", "content": [point]},
            {"role": "assistant", "content": [{"text": "Hello."}]},
            {"role": "user", "content": [{"text": "hi"}, *[point] * 4]},
        ]
        messages = bedrock.load(turns)

        assert [{"text": "(empty)"}] == bedrock.request(messages)["messages"][0]["content"]
        assert [] == named(mend(messages, "bedrock"), "bedrock")

    def test_are_no_matter_to_others(self):
        """
        Another API is not sent the marks, and takes the words.
        """
        messages = anthropic.load([{"role": "user", "content": [self.text("a", **self.MARK)] * 9}])

        for provider in set(PROVIDERS) - {"anthropic"}:
            assert [] == named(mend(messages, provider), provider)


class TestThinking:
    def turns(self, thought: dict[str, Any]) -> list[dict[str, Any]]:
        used = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
        answer = {"type": "tool_result", "tool_use_id": "c1", "content": "noon"}
        return [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [thought, used]},
            {"role": "user", "content": [answer]},
        ]

    @pytest.mark.parametrize(
        "thought",
        [
            {"type": "thinking", "thinking": "hm"},
            {"type": "thinking", "thinking": "hm", "signature": ""},
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "redacted_thinking", "data": ""},
        ],
    )
    def test_without_its_signature_is_left_out_where_no_loop_needs_it(self, thought: Any):
        """
        In an earlier turn it goes, and the report says so; in the running loop it is named.
        """
        running = anthropic.load(self.turns(thought))
        over = anthropic.load(
            [
                *self.turns(thought),
                {"role": "assistant", "content": "Noon."},
                {"role": "user", "content": "bye"},
            ]
        )

        assert [("thinking altered", 2)] == named(mend(running, "anthropic"), "anthropic")
        assert [("thinking altered", 2)] == named(over, "anthropic")
        assert [] == named(mend(over, "anthropic"), "anthropic")
        assert [("left out", 2)] == told(over, "anthropic")
        assert ["tool_use"] == [
            block["type"] for block in anthropic.request(over)["messages"][1]["content"]
        ]

    @pytest.mark.parametrize(
        "thought",
        [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "thinking", "thinking": "", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "c2ln"},
        ],
    )
    def test_that_is_signed_stays(self, thought: Any):
        """
        Thinking whose words the API omitted is whole by its signature.
        """
        messages = anthropic.load(self.turns(thought))

        assert [] == named(messages, "anthropic")
        assert thought == anthropic.request(messages)["messages"][1]["content"][0]

    def test_of_an_answer_without_calls_is_in_no_loop(self):
        """
        After the newest words of a user, an answer that calls nothing runs no loop.
        """
        thought = {"type": "thinking", "thinking": "hm"}
        turns = [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [thought, {"type": "text", "text": "Hello."}]},
        ]

        assert [("last message", 0)] == named(mend(anthropic.load(turns), "anthropic"), "anthropic")

    def test_that_was_all_of_a_message_takes_it_along(self):
        """
        A turn of thinking alone is not sent, and its neighbours are joined.
        """
        turns = [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]},
            {"role": "user", "content": "bye"},
        ]

        assert ["user"] == [
            turn["role"] for turn in anthropic.request(anthropic.load(turns))["messages"]
        ]

    def test_that_is_empty_is_left_out_for_gemini_and_bedrock(self):
        """
        A thought without words or signature is no part that an API takes.
        """
        thought = {"reasoningContent": {"reasoningText": {"text": ""}}}
        turns = [
            {"role": "user", "content": [{"text": "hi"}]},
            {"role": "assistant", "content": [thought, {"text": "Hello."}]},
            {"role": "user", "content": [{"text": "bye"}]},
        ]
        messages = bedrock.load(turns)

        assert [("empty thinking", 2)] == named(messages, "bedrock")
        assert [{"text": "Hello."}] == bedrock.request(messages)["messages"][1]["content"]


PNG = "image/png"
EMPTY = [
    ("anthropic", {"type": "image", "source": {"type": "base64", "media_type": PNG, "data": " "}}),
    ("gemini", {"inlineData": {"mimeType": PNG, "data": "\n"}}),
    ("openai_chat", {"type": "image_url", "image_url": {"url": " "}}),
    ("anthropic", {"type": "image", "source": {"type": "base64", "media_type": PNG, "data": ""}}),
    ("anthropic", {"type": "image", "source": {"type": "url", "url": ""}}),
    ("anthropic", {"type": "image", "source": {"type": "file", "file_id": ""}}),
    ("anthropic", {"type": "image", "source": {}}),
    (
        "anthropic",
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": ""}},
    ),
    ("anthropic", {"type": "document", "source": {"type": "content", "content": []}}),
    (
        "anthropic",
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/bmp", "data": "aGk=" * 900},
        },
    ),
    ("openai_chat", {"type": "image_url", "image_url": {"url": ""}}),
    ("openai_chat", {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}),
    ("openai_chat", {"type": "image_url", "image_url": {"url": "data:image/png;base64,?!"}}),
    ("openai_chat", {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}),
    ("openai_chat", {"type": "file", "file": {"file_data": "", "filename": "a.pdf"}}),
    ("openai_chat", {"type": "file", "file": {"file_data": "data:application/pdf;base64,"}}),
    ("openai_chat", {"type": "file", "file": {}}),
    ("openai_responses", {"type": "input_image", "image_url": ""}),
    ("openai_responses", {"type": "input_image", "image_url": "data:image/png;base64,"}),
    ("openai_responses", {"type": "input_image", "detail": "auto"}),
    ("openai_responses", {"type": "input_file", "file_data": "", "filename": "a.pdf"}),
    ("openai_responses", {"type": "input_file", "file_id": ""}),
    ("gemini", {"inlineData": {"mimeType": PNG, "data": ""}}),
    ("gemini", {"inline_data": {"mime_type": "audio/wav", "data": b""}}),
    ("gemini", {"inlineData": {"mimeType": "video/mp4"}}),
    ("gemini", {"fileData": {"fileUri": "", "mimeType": PNG}}),
    ("gemini", {}),
    ("bedrock", {"image": {"format": "png", "source": {"bytes": b""}}}),
    ("bedrock", {"image": {"format": "png", "source": {"bytes": ""}}}),
    ("bedrock", {"image": {"format": "png", "source": {}}}),
    ("bedrock", {"image": {"format": "png", "source": {"s3Location": {"uri": ""}}}}),
    ("bedrock", {"document": {"format": "txt", "name": "a", "source": {"text": ""}}}),
    ("bedrock", {"audio": {"format": "wav", "source": {"bytes": b""}}}),
    ("bedrock", {"video": {"format": "mp4", "source": {"bytes": b""}}}),
]
WORDS = {
    "anthropic": {"type": "text", "text": "See:"},
    "openai_chat": {"type": "text", "text": "See:"},
    "openai_responses": {"type": "input_text", "text": "See:"},
    "gemini": {"text": "See:"},
    "bedrock": {"text": "See:"},
}


class TestMedia:
    @pytest.mark.parametrize(("provider", "part"), EMPTY)
    def test_that_hold_nothing_are_left_out(self, provider: str, part: dict[str, Any]):
        """
        A picture, document or sound without data is named, and goes; the words stay.
        """
        content = "parts" if provider == "gemini" else "content"
        module = module_of(provider)
        turns = [{"role": "user", content: [WORDS[provider], part]}]
        messages = module.load(turns)

        assert turns == module.dump(messages)
        assert [("empty media", 1)] == named(messages, provider)
        assert [("left out", 1)] == told(messages, provider)
        mended = mend(messages, provider)
        assert ["See:"] == [message.text for message in mended.messages]
        assert [] == named(mended, provider)

    @pytest.mark.parametrize(("provider", "part"), EMPTY)
    def test_that_were_all_leave_words_in_their_place(self, provider: str, part: dict[str, Any]):
        """
        A message of nothing else is still one that the API takes.
        """
        content = "parts" if provider == "gemini" else "content"
        messages = module_of(provider).load([{"role": "user", content: [part]}])

        assert [] == named(mend(messages, provider), provider)

    def test_in_a_result_go_too(self):
        """
        The result stays, without them.
        """
        picture = {"type": "image", "source": {"type": "url", "url": ""}}
        answer = {"type": "tool_result", "tool_use_id": "c1", "content": [picture]}
        used = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
        turns = [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [used]},
            {"role": "user", "content": [answer]},
        ]
        messages = anthropic.load(turns)

        assert [("empty media", 3)] == named(messages, "anthropic")
        mended = mend(messages, "anthropic")
        assert [] == named(mended, "anthropic")
        assert () == mended.messages[2].tool_results[0].content

    def test_are_counted_for_bedrock_and_mistral(self):
        """
        Too many pictures or documents are named: which may go is no matter of form.
        """
        pictures = [Image("aGk=", media_type=PNG)] * 21
        papers = [Document(text="Be kind.")] * 6

        assert [("many images", 1)] == named([user(["a", *pictures])], "bedrock")
        assert [] == named([user(["a", *pictures[:20]])], "bedrock")
        assert [("many documents", 1)] == named([user(["a", *papers])], "bedrock")
        links = [Image(url="https://example.org/a.png")] * 9
        assert [("many images", 1)] == named([user(["a", *links])], "mistral")


class TestChat:
    HI: ClassVar[dict[str, Any]] = {"role": "user", "content": "hi"}

    @pytest.mark.parametrize(
        ("turn", "rules", "sent"),
        [
            (
                {"content": "x", "tool_calls": []},
                [("empty key", 2)],
                {"content": "x"},
            ),
            (
                {"content": None, "tool_calls": []},
                [("empty key", 2), ("no content", 2)],
                {"content": ""},
            ),
            ({"content": None}, [("no content", 2)], {"content": ""}),
            ({"content": []}, [("no content", 2)], {"content": ""}),
            ({}, [("no content", 2)], {"content": ""}),
            ({"content": None, "refusal": "No."}, [], {"content": None, "refusal": "No."}),
            (
                {"content": None, "audio": {"id": "a1"}},
                [],
                {"content": None, "audio": {"id": "a1"}},
            ),
            ({"content": ""}, [], {"content": ""}),
        ],
    )
    def test_content_is_there_where_nothing_is_called(self, turn: Any, rules: Any, sent: Any):
        """
        Null, an empty list and none become an empty text; an empty list of calls goes.
        """
        messages = openai_chat.load([self.HI, {"role": "assistant", **turn}, self.HI])

        assert rules == named(messages, "openai_chat")
        assert {"role": "assistant", **sent} == openai_chat.request(messages)["messages"][1]
        assert [] == named(mend(messages, "openai_chat"), "openai_chat")

    @pytest.mark.parametrize("content", [None, []])
    def test_of_users_and_tools_too(self, content: Any):
        """
        A user's message and a tool's have content, whoever wrote null.
        """
        form = {"name": "f", "arguments": "{}"}
        asked = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": form}],
        }
        told_ = {"role": "tool", "tool_call_id": "c1", "content": content}
        messages = openai_chat.load([{"role": "user", "content": content}, asked, told_])

        assert [("no content", 1), ("no content", 3)] == named(messages, "openai_chat")
        assert ["", None, ""] == [
            turn["content"] for turn in openai_chat.request(messages)["messages"]
        ]

    def test_a_call_needs_no_content(self):
        """
        Null beside calls, of today or legacy, is what the API itself sends.
        """
        form = {"name": "f", "arguments": "{}"}
        for calling in (
            {"tool_calls": [{"id": "c1", "type": "function", "function": form}]},
            {"function_call": form},
        ):
            messages = openai_chat.load(
                [self.HI, {"role": "assistant", "content": None, **calling}]
            )

            assert ["unanswered call"] == [rule for rule, _ in named(messages, "openai_chat")]


class TestItems:
    CALL: ClassVar[dict[str, Any]] = {
        "type": "function_call",
        "call_id": "c1",
        "name": "f",
        "arguments": "{}",
    }
    OUTPUT: ClassVar[dict[str, Any]] = {"type": "function_call_output", "call_id": "c1"}

    @pytest.mark.parametrize("output", [{"output": None}, {}])
    def test_have_an_output(self, output: dict[str, Any]):
        """
        One that is null, or not there, becomes an empty text.
        """
        turns = [{"role": "user", "content": "hi"}, self.CALL, self.OUTPUT | output]
        messages = openai_responses.load(turns)

        assert turns == openai_responses.dump(messages)
        assert [("no content", 3)] == named(messages, "openai_responses")
        assert "" == openai_responses.request(messages)["input"][2]["output"]

    @pytest.mark.parametrize("id_", ["fc_" + "1" * 64, "fc 1", "fc:1"])
    def test_have_ids_that_the_api_takes(self, id_: str):
        """
        An item whose id is too long, or of other letters, goes as a fresh one.
        """
        turns = [self.CALL | {"id": id_}, self.OUTPUT | {"output": "noon"}]
        messages = openai_responses.load(turns)

        assert [("bad item id", 1)] == named(messages, "openai_responses")
        assert self.CALL == openai_responses.request(messages)["input"][0]


class TestArguments:
    @pytest.mark.parametrize("provider", ["openai_chat", "openai_responses"])
    def test_may_be_too_long(self, provider: str):
        """
        One character more than the API takes is named, with the step that shortens them.
        """
        fits = "x" * (1_048_576 - len('{"q":""}'))
        turns = [
            [user("hi"), assistant(calls=[ToolCall("c1", "f", {"q": text})]), result("c1")]
            for text in (fits, f"{fits}x")
        ]

        assert [] == named(turns[0], provider)
        (found,) = problems(turns[1], provider)
        assert ("long arguments", 2) == (found.rule, found.seq)
        assert "ClipArguments()" in found.text

    @pytest.mark.parametrize("arguments", ["", " \n"])
    def test_that_are_empty_are_an_empty_object(self, arguments: str):
        """
        A call without arguments goes with none, and with no text under a key.
        """
        messages = [user("hi"), assistant(calls=[ToolCall("c1", "f", arguments)]), result("c1")]

        for provider in ("anthropic", "gemini", "bedrock"):
            assert "{}" == mend(messages, provider).messages[1].tool_calls[0].arguments
        assert {} == anthropic.dump(messages)[1]["content"][0]["input"]
        assert {} == gemini.dump(messages)[1]["parts"][0]["functionCall"]["args"]
        assert {} == bedrock.dump(messages)[1]["content"][0]["toolUse"]["input"]


class TestDocuments:
    BLOCK: ClassVar[dict[str, Any]] = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "Be kind."},
        "title": "Rules",
        "context": "word " * 2_000,
        "citations": {"enabled": True},
    }

    def loaded(self, **keys: Any) -> Any:
        block = {**self.BLOCK, **keys}
        return anthropic.load([{"role": "user", "content": [WORDS["anthropic"], block]}])

    def test_their_context_is_counted(self):
        """
        What is told beside a document costs what it says.
        """
        without = rough(self.loaded(context="")[0])

        assert 1_500 < rough(self.loaded()[0]) - without < 4_000

    def test_keep_context_citations_and_name_with_bedrock(self):
        """
        Both APIs have them, so nothing of it is lost on the way there or back.
        """
        messages = self.loaded()
        report: list[Any] = []
        sent = bedrock.request(messages, report)["messages"][0]["content"][1]["document"]

        assert {
            "format": "txt",
            "name": "Rules",
            "source": {"text": "Be kind."},
            "context": self.BLOCK["context"],
            "citations": {"enabled": True},
        } == sent
        assert [] == report
        back = bedrock.load(bedrock.dump(messages))
        assert self.BLOCK == anthropic.request(back)["messages"][0]["content"][1]

    def test_are_bytes_where_nothing_is_cited(self):
        """
        A source of text is for citations alone.
        """
        (turn,) = bedrock.dump(self.loaded(citations={"enabled": False}))

        assert "bytes" in turn["content"][1]["document"]["source"]
        assert {"enabled": False} == turn["content"][1]["document"]["citations"]

    @pytest.mark.parametrize("provider", ["openai_chat", "openai_responses", "gemini"])
    def test_say_what_another_api_has_no_field_for(self, provider: str):
        """
        The report names the context that is not sent.
        """
        (done,) = mend(self.loaded(), provider).report

        assert "left out" == done.what
        assert done.text.startswith("a document's context and citations: ")


class TestSystem:
    @pytest.mark.parametrize("provider", PROMPTED)
    @pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0"])
    def test_blank_text_in_the_middle_is_left_out(self, provider: str, text: str):
        """
        Instructions without words are no turn of a user's.
        """
        messages = [user("a"), system(text), user("b")]

        assert "system in the middle" in [rule for rule, _ in named(messages, provider)]
        mended = mend(messages, provider)
        assert ["ab"] == [message.text for message in mended.messages]
        assert ("left out", 2) in [(done.what, done.seq) for done in mended.report]

    def test_a_blank_text_beside_words_goes_alone(self):
        """
        What is blank of a system message goes, and the rest is worded.
        """
        messages = [user("a"), system([Text(" "), Text("Be brief.")]), user("b")]

        assert ["a<system>\nBe brief.\n</system>b"] == [
            message.text for message in mend(messages, "anthropic").messages
        ]

    def test_between_a_call_and_its_result_it_parts_nothing(self):
        """
        The pair stands together, as if the blank message had not been.
        """
        messages = [user("a"), call("c1"), system(" "), result("c1", "noon")]

        for provider in PROMPTED:
            assert [] == named(mend(messages, provider), provider)


class TestLongTexts:
    def test_are_named_by_openai_alone(self):
        """
        Ten million characters are the most of a text, or of what a tool gave back.
        """
        long = "x" * 10_485_761
        messages = [user("hi"), call("c1"), user([ToolResult("c1", long)])]

        assert [("long text", 3)] == named(messages, "openai_responses")
        assert [] == named(messages, "anthropic")
        assert [("long text", 1)] == named([user(long)], "openai_chat")
        assert [] == named(openai_responses.load(long[1:]), "openai_responses")
