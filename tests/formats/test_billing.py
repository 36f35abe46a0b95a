"""
What was billed, read from the responses and streams of all five APIs, as dicts and as objects.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged import Memory, formats, tokens, user
from unabridged.errors import ConfigError, FormatError, UnabridgedError
from unabridged.usage import Usage

CHAT = {
    "prompt_tokens": 1_000,
    "completion_tokens": 9,
    "total_tokens": 1_009,
    "prompt_tokens_details": {"cached_tokens": 950},
}
RESPONSES = {
    "input_tokens": 1_000,
    "input_tokens_details": {"cached_tokens": 950},
    "output_tokens": 9,
    "output_tokens_details": {"reasoning_tokens": 4},
    "total_tokens": 1_009,
}
ANTHROPIC = {
    "input_tokens": 20,
    "cache_creation_input_tokens": 30,
    "cache_read_input_tokens": 950,
    "output_tokens": 9,
}
GEMINI = {
    "promptTokenCount": 1_000,
    "cachedContentTokenCount": 950,
    "toolUsePromptTokenCount": 7,
    "thoughtsTokenCount": 4,
    "candidatesTokenCount": 5,
    "totalTokenCount": 1_016,
}
BEDROCK = {
    "inputTokens": 20,
    "cacheWriteInputTokens": 30,
    "cacheReadInputTokens": 950,
    "outputTokens": 9,
    "totalTokens": 1_009,
}
WHOLE = {
    "openai_chat": {"object": "chat.completion", "choices": [], "usage": CHAT},
    "openai_responses": {"object": "response", "output": [], "usage": RESPONSES},
    "anthropic": {"type": "message", "content": [], "usage": ANTHROPIC},
    "gemini": {"candidates": [], "usageMetadata": GEMINI},
    "bedrock": {"output": {"message": {}}, "usage": BEDROCK},
}
STREAMS = {
    "openai_chat": [
        {"choices": [{"index": 0, "delta": {"content": "hi"}}], "usage": None},
        {"choices": [], "usage": CHAT},
    ],
    "openai_responses": [
        {"type": "response.created", "response": {"output": [], "usage": None}},
        {"type": "response.completed", "response": {"output": [], "usage": RESPONSES}},
    ],
    "anthropic": [
        {
            "type": "message_start",
            "message": {"content": [], "usage": {**ANTHROPIC, "output_tokens": 1}},
        },
        {"type": "ping"},
        {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ],
    "gemini": [
        {"candidates": [], "usageMetadata": {"promptTokenCount": 1_000, "totalTokenCount": 1_000}},
        {"candidates": [], "usageMetadata": GEMINI},
    ],
    "bedrock": [
        {"messageStart": {"role": "assistant"}},
        {"messageStop": {"stopReason": "end_turn"}},
        {"metadata": {"usage": BEDROCK, "metrics": {"latencyMs": 1}}},
    ],
}
EXPECTED = Usage(None, 1_000, 950)
NAMES = [
    "usage",
    "message",
    "prompt_tokens",
    "input_tokens",
    "prompt_tokens_details",
    "inputTokens",
]
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**14) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


def refusal(response):
    """
    What is said where a response is refused.
    """
    with pytest.raises(FormatError) as caught:
        formats.usage(response)

    return str(caught.value)


class TestUsage:
    @pytest.mark.parametrize("name", sorted(WHOLE))
    def test_counts_all_of_the_input(self, name):
        """
        Cached tokens are in it, also where an API counts them apart.
        """
        assert EXPECTED == formats.usage(WHOLE[name])

    @pytest.mark.parametrize("name", sorted(STREAMS))
    def test_reads_the_events_of_a_stream(self, name):
        """
        A list of them, or whatever else gives them.
        """
        assert EXPECTED == formats.usage(STREAMS[name])
        assert EXPECTED == formats.usage(iter(STREAMS[name]))

    def test_reads_the_dict_of_a_bedrock_stream(self):
        """
        Its events come beside what boto3 says of the request.
        """
        response = {"ResponseMetadata": {"RequestId": "r"}, "stream": iter(STREAMS["bedrock"])}

        assert EXPECTED == formats.usage(response)

    def test_reads_objects_of_openai(self):
        """
        Whole answers, chunks and events.
        """
        pytest.importorskip("openai", reason="the extra `clients` is not installed")
        from openai.types import chat, responses  # noqa: PLC0415  an optional dependency

        completion = chat.ChatCompletion.model_validate(
            {
                "id": "c",
                "created": 1,
                "model": "m",
                **WHOLE["openai_chat"],
            }
        )
        chunk = {"id": "c", "created": 1, "model": "m", "object": "chat.completion.chunk"}
        chunks = [
            chat.ChatCompletionChunk.model_validate(chunk | event)
            for event in STREAMS["openai_chat"]
        ]
        event = responses.ResponseCompletedEvent.model_construct(
            type="response.completed",
            response=responses.Response.model_construct(**WHOLE["openai_responses"]),
        )

        assert EXPECTED == formats.usage(completion)
        assert EXPECTED == formats.usage(chunks)
        assert EXPECTED == formats.usage([event])

    def test_reads_objects_of_anthropic(self):
        """
        Its counts of what the cache read and wrote are added.
        """
        pytest.importorskip("anthropic", reason="the extra `clients` is not installed")
        from anthropic import types  # noqa: PLC0415  an optional dependency

        message = types.Message.model_validate(
            {
                "id": "m",
                "model": "m",
                "role": "assistant",
                "stop_reason": "end_turn",
                **WHOLE["anthropic"],
            }
        )
        start = types.RawMessageStartEvent(type="message_start", message=message)

        assert EXPECTED == formats.usage(message)
        assert EXPECTED == formats.usage([start, {"type": "message_stop"}])

    def test_reads_objects_of_gemini(self):
        """
        And dicts in the spelling of its Python client.
        """
        pytest.importorskip("google.genai", reason="the extra `clients` is not installed")
        from google.genai import types  # noqa: PLC0415  an optional dependency

        response = types.GenerateContentResponse.model_validate(WHOLE["gemini"])

        assert EXPECTED == formats.usage(response)
        assert EXPECTED == formats.usage([response])
        assert EXPECTED == formats.usage(response.model_dump())

    @pytest.mark.parametrize(
        ("told", "expected"),
        [
            ({"prompt_tokens": 8}, Usage(None, 8)),
            ({"prompt_tokens": 8, "prompt_tokens_details": None}, Usage(None, 8)),
            ({"prompt_tokens": 8, "prompt_cache_hit_tokens": 6}, Usage(None, 8, 6)),
            ({"prompt_tokens": 8, "cached_tokens": 6}, Usage(None, 8, 6)),
            ({"prompt_tokens": 8, "cache_read_input_tokens": 6}, Usage(None, 8, 6)),
            ({"input_tokens": 8}, Usage(None, 8)),
            ({"input_tokens": 8, "cache_read_input_tokens": None}, Usage(None, 8)),
            ({"input_tokens": 8, "cache_read_input_tokens": 0}, Usage(None, 8, 0)),
            ({"input_tokens": 8, "cache_creation_input_tokens": 5}, Usage(None, 13)),
            ({"inputTokens": 8, "outputTokens": 1, "totalTokens": 9}, Usage(None, 8)),
            (
                {
                    "inputTokens": 8,
                    "cacheReadInputTokens": 6,
                    "outputTokens": 1,
                    "totalTokens": 9,
                },
                Usage(None, 8, 6),
            ),
        ],
        ids=str,
    )
    def test_reads_what_servers_and_models_vary_in(self, told, expected):
        """
        What is not said of the cache is None, and not 0.
        """
        assert expected == formats.usage({"usage": told})

    def test_takes_the_last_word_of_a_stream_that_counts_on(self):
        """
        Zeros before and after it are no count: some servers open or close with them.
        """
        events = [
            {"type": "message_start", "message": {"usage": {"input_tokens": 0}}},
            {"type": "message_delta", "usage": {"input_tokens": 25, "output_tokens": 2}},
            {"type": "message_delta", "usage": {"input_tokens": 0, "output_tokens": 5}},
        ]

        assert Usage(None, 25) == formats.usage(events)

    @pytest.mark.parametrize(
        "response",
        [
            {},
            {"choices": []},
            {"usage": None},
            {"usage": {}},
            {"usage": {"prompt_tokens": "8"}},
            {"usage": {"prompt_tokens": True}},
            {"usage": [8]},
            [],
            [{"choices": []}],
        ],
        ids=str,
    )
    def test_says_where_nothing_is_said(self, response):
        """
        And what a stream of Chat Completions has to be asked for.
        """
        assert refusal(response) == (
            "response: it says nothing of the tokens of its input; a stream of Chat Completions "
            'does with stream_options={"include_usage": True}, and every event has to be passed'
        )

    def test_refuses_what_cannot_be(self):
        """
        As `report_usage` does.
        """
        assert refusal({"usage": {"prompt_tokens": 0}}) == (
            "response: its usage cannot be: `input_tokens` must be an int of tokens, 1 or more, "
            "got 0"
        )
        assert "`cached_tokens` (9) is more than `input_tokens` (8)" in refusal(
            {"usage": {"prompt_tokens": 8, "cached_tokens": 9}}
        )

    @pytest.mark.parametrize("response", [None, 5, "hi", b"hi", [None], ["hi"], [[]]], ids=repr)
    def test_refuses_what_is_no_response(self, response):
        """
        By an error of ours.
        """
        refusal(response)

    @given(values)
    def test_reads_or_refuses_any_json(self, value):
        """
        Nothing else is raised.
        """
        try:
            assert isinstance(formats.usage(value), Usage)
            assert isinstance(formats.usage({"usage": value}), Usage)
        except UnabridgedError:
            pass


class TestReporting:
    @pytest.mark.parametrize("name", sorted(WHOLE))
    def test_corrects_a_counter(self, name):
        """
        What a response says goes into the memory as it is.
        """
        memory = Memory(count=tokens.calibrated(tokens.words))
        memory.append(user("word " * 800))
        told = memory.report_usage(memory.context(), formats.usage(WHOLE[name]))

        assert Usage(800, 1_000, 950) == told.usage
        assert 1_000 == memory.context().tokens

    def test_has_no_error_before(self):
        """
        Nothing was estimated.
        """
        usage = formats.usage(WHOLE["gemini"])

        assert usage.error is None
        assert "1_000 input tokens reported, 95% of them cached" == str(usage)

    def test_refuses_a_response_in_its_place(self):
        """
        With the line that makes a usage of it.
        """
        memory = Memory()
        memory.append(user("hi"))
        with pytest.raises(ConfigError, match=r"formats\.usage\(response\) makes one"):
            memory.report_usage(memory.context(), WHOLE["gemini"])

    def test_refuses_numbers_beside_it(self):
        """
        They would contradict each other.
        """
        memory = Memory()
        memory.append(user("hi"))
        for numbers in ({"input_tokens": 3}, {"cached_tokens": 3}):
            with pytest.raises(ConfigError, match="not both"):
                memory.report_usage(memory.context(), EXPECTED, **numbers)
