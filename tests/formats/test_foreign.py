"""
Messages of other frameworks are told apart from the five forms, and refused by name.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st

from unabridged.errors import ConfigError, FormatError
from unabridged.formats import detect
from unabridged.formats.foreign import foreign

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the shared transcripts are not beside the project"
)

HI = {"role": "user", "content": "hi"}
LOADS = ("openai_chat", "openai_responses", "anthropic", "gemini", "bedrock")

PYDANTIC_AI = [
    {
        "parts": [
            {"content": "Be brief.", "part_kind": "system-prompt", "timestamp": "2025-01-01"},
            {"content": "hi", "part_kind": "user-prompt", "timestamp": "2025-01-01"},
        ],
        "instructions": None,
        "kind": "request",
    },
    {
        "parts": [{"tool_name": "now", "args": "{}", "part_kind": "tool-call"}],
        "model_name": "m",
        "kind": "response",
    },
]
A2A = [
    {
        "kind": "message",
        "messageId": "m1",
        "role": "user",
        "parts": [{"kind": "text", "text": "hi"}],
    },
    {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}]},
    {"role": "agent", "parts": [{"text": "hi"}]},
    {"role": "user", "parts": [{"kind": "data", "data": {"a": 1}}]},
]
UI_MESSAGES = [
    {"id": "1", "role": "user", "parts": [{"type": "text", "text": "hi"}]},
    {"role": "assistant", "parts": [{"type": "step-start"}, {"type": "text", "text": "hi"}]},
    {
        "id": "2",
        "role": "assistant",
        "parts": [{"type": "tool-now", "toolCallId": "c1", "state": "output-available"}],
    },
]
MODEL_MESSAGES = [
    {
        "role": "assistant",
        "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": {}}],
    },
    {
        "role": "tool",
        "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "f", "output": {}}],
    },
    {"role": "user", "content": [{"type": "file", "data": "aGk=", "mediaType": "text/plain"}]},
]
LANGCHAIN = [
    {"type": "human", "content": "hi", "additional_kwargs": {}, "response_metadata": {}},
    {"type": "ai", "content": [{"type": "text", "text": "hi"}], "tool_calls": []},
    {"type": "tool", "content": "noon", "tool_call_id": "c1", "status": "success"},
    {"type": "system", "data": {"content": "Be brief.", "type": "system"}},
    {"lc": 1, "type": "constructor", "id": ["langchain", "schema"], "kwargs": {"content": "hi"}},
]
LLAMA_INDEX = [
    {
        "role": "user",
        "additional_kwargs": {},
        "blocks": [{"block_type": "text", "text": "hi"}],
    },
    {"role": "tool", "blocks": [{"block_type": "text", "text": "noon"}]},
]
AUTOGEN = [
    {"content": "hi", "source": "user", "type": "UserMessage"},
    {"source": "bot", "models_usage": None, "content": "hi", "type": "TextMessage"},
    {"content": [{"id": "c1", "arguments": "{}", "name": "f"}], "source": "bot"},
]
AGENT_FRAMEWORK = [
    {
        "type": "chat_message",
        "role": {"type": "role", "value": "user"},
        "contents": [{"type": "text", "text": "hi"}],
    },
    {"role": "user", "contents": [{"type": "text", "text": "hi"}], "message_id": None},
]
SEMANTIC_KERNEL = [
    {
        "content_type": "message",
        "role": "user",
        "items": [{"content_type": "text", "text": "hi"}],
    },
]
HAYSTACK = [
    {"role": "user", "meta": {}, "name": None, "content": [{"text": "hi"}]},
    {"_role": "user", "_content": [{"text": "hi"}], "_meta": {}, "_name": None},
    {
        "role": "assistant",
        "meta": {},
        "name": None,
        "content": [{"tool_call": {"tool_name": "f", "arguments": {}, "id": "c1"}}],
    },
    {"role": "tool", "content": [{"tool_call_result": {"result": "noon", "error": False}}]},
]
THREADS = [
    {
        "id": "msg_1",
        "object": "thread.message",
        "thread_id": "thread_1",
        "role": "user",
        "content": [{"type": "text", "text": {"value": "hi", "annotations": []}}],
    },
    {"role": "user", "content": [{"type": "text", "text": {"value": "hi"}}]},
]
MCP = [
    {"role": "user", "content": {"type": "text", "text": "hi"}},
    {"role": "user", "content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]},
    {"role": "user", "content": {"type": "resource", "resource": {"uri": "file:///a"}}},
]
ADK = [
    {
        "content": {"role": "user", "parts": [{"text": "hi"}]},
        "author": "user",
        "invocationId": "e1",
    },
]
EXPORTED = [
    {
        "id": "1",
        "author": {"role": "user", "name": None},
        "content": {"content_type": "text", "parts": ["hi"]},
    },
]
REALTIME = [
    {
        "object": "realtime.item",
        "type": "message",
        "role": "user",
        "content": [{"type": "input_audio", "transcript": "hi"}],
    },
]
SMOLAGENTS = [
    {"role": "tool-call", "content": [{"type": "text", "text": "Calling tools: []"}]},
    {"role": "tool-response", "content": "noon"},
]
TELEMETRY = [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]
OTHERS = [
    {"id": "1", "role": "assistant", "toolCalls": []},
    {"id": "2", "role": "tool", "content": "noon", "toolCallId": "c1"},
    {"id": "3", "role": "assistant", "content": "", "toolInvocations": [{"state": "call"}]},
    {"role": "USER", "message": "hi"},
    {"from": "human", "value": "hi"},
]
OLLAMA = [
    {"role": "user", "content": "hi", "images": ["aGk="]},
    {"role": "assistant", "content": "", "thinking": "hm"},
    {"role": "tool", "tool_name": "now", "content": "noon"},
]

NAMED = [
    *(("pydantic-ai", turn) for turn in PYDANTIC_AI),
    *(("A2A", turn) for turn in A2A),
    *(("UIMessage", turn) for turn in UI_MESSAGES),
    *(("ModelMessage", turn) for turn in MODEL_MESSAGES),
    *(("LangChain", turn) for turn in LANGCHAIN),
    *(("LlamaIndex", turn) for turn in LLAMA_INDEX),
    *(("AutoGen", turn) for turn in AUTOGEN),
    *(("Agent Framework", turn) for turn in AGENT_FRAMEWORK),
    *(("Semantic Kernel", turn) for turn in SEMANTIC_KERNEL),
    *(("Haystack", turn) for turn in HAYSTACK),
    *(("Assistants", turn) for turn in THREADS),
    *(("Model Context Protocol", turn) for turn in MCP),
    *(("ADK", turn) for turn in ADK),
    *(("OpenTelemetry", turn) for turn in TELEMETRY),
    *(("an export of ChatGPT", turn) for turn in EXPORTED),
    *(("Realtime API", turn) for turn in REALTIME),
    *(("smolagents", turn) for turn in SMOLAGENTS),
]

OBJECTS = [
    *(("pydantic-ai", turn) for turn in PYDANTIC_AI),
    ("A2A", A2A[0]),
    *(("LangChain", turn) for turn in LANGCHAIN[:3]),
    *(("LlamaIndex", turn) for turn in LLAMA_INDEX),
    *(("AutoGen", turn) for turn in AUTOGEN),
    ("Agent Framework", AGENT_FRAMEWORK[1]),
    ("Semantic Kernel", SEMANTIC_KERNEL[0]),
    ("Haystack", HAYSTACK[1]),
    *(("Assistants", turn) for turn in THREADS),
    *(("Model Context Protocol", turn) for turn in MCP),
    ("ADK", ADK[0]),
]


@define
class Thing:
    """
    An object with these attributes, as frameworks have them.
    """

    keys: dict[str, Any] = field(repr=False)

    def __getattr__(self, name: str) -> Any:
        try:
            return as_objects(self.keys[name])
        except KeyError:
            raise AttributeError(name) from None

    def model_dump(self) -> dict[str, Any]:
        return self.keys


class Raising:
    def __getattr__(self, name: str) -> Any:
        raise OSError(name)


def as_objects(value: Any) -> Any:
    if isinstance(value, dict):
        return Thing(value)

    return [as_objects(one) for one in value] if isinstance(value, list) else value


def loaded(name: str, turns: Any) -> Any:
    return importlib.import_module(f"unabridged.formats.{name}").load(turns)


class TestDetect:
    @pytest.mark.parametrize(("name", "turn"), NAMED)
    def test_names_the_framework(self, name: str, turn: dict[str, Any]):
        """
        What is clearly a framework's message is refused by its name, wherever it stands.
        """
        with pytest.raises(FormatError, match=rf"^messages\[1\]: looks like a message of .*{name}"):
            detect([HI, turn])

    @pytest.mark.parametrize("turn", [*OTHERS, *OLLAMA])
    def test_refuses_what_is_not_clearly_ours(self, turn: dict[str, Any]):
        """
        Keys that no API has, for what a message says, make it unknown.
        """
        with pytest.raises(FormatError):
            detect([turn])

    @pytest.mark.parametrize(
        "turn",
        [
            {"parts": [{"content": "hi"}]},
            {"role": "user", "parts": [{"body": "hi"}]},
            {"role": "bot", "parts": [{"text": "hi"}]},
            {"role": "user", "parts": [{"text": "hi"}], "createdAt": "2025-01-01"},
            {"role": "user", "parts": "hi"},
            {"role": "user", "text": "hi"},
            {"role": "user", "input": "hi"},
        ],
    )
    def test_takes_nothing_for_gemini_that_has_no_part_of_it(self, turn: dict[str, Any]):
        """
        Parts alone make no content of Gemini: each is one of its kinds, in a role it has.
        """
        with pytest.raises(FormatError, match=r"expected the form of an API"):
            detect([turn])

    @pytest.mark.parametrize(
        ("name", "turn"),
        [
            ("openai_chat", HI),
            ("openai_chat", {"role": "assistant", "content": None, "refusal": "No."}),
            ("openai_chat", {"role": "user", "content": "hi", "name": "ann", "x": 1}),
            ("gemini", {"role": "user", "parts": [{"text": "hi"}]}),
            ("gemini", {"parts": ["hi"], "role": "user"}),
            ("gemini", {"role": "model", "parts": [{"text": "hi", "thought": True}], "id": "1"}),
            ("gemini", {"role": "user", "parts": [{"function_response": {"name": "f"}}]}),
            ("gemini", {"role": "user", "parts": [{"inlineData": {"data": "aGk="}}], "id": "1"}),
            ("bedrock", {"role": "user", "content": [{"text": "hi"}]}),
            ("anthropic", {"role": "user", "content": [{"type": "search_result", "source": "a"}]}),
        ],
    )
    def test_still_names_ours(self, name: str, turn: dict[str, Any]):
        """
        An ordinary message of one of the five is what it was.
        """
        assert name == detect([turn])


class TestLoad:
    @pytest.mark.parametrize("api", LOADS)
    @pytest.mark.parametrize(("name", "turn"), NAMED)
    def test_names_the_framework(self, api: str, name: str, turn: dict[str, Any]):
        """
        No module reads it into an empty message: the place, whose it is, and what to do.
        """
        with pytest.raises(FormatError, match=rf"\[1\]: looks like a message of .*{name}") as told:
            loaded(api, [{"role": "user", "content": "hi"}, turn])

        assert "; " in str(told.value)
        assert len(str(told.value)) < 250

    @pytest.mark.parametrize("api", LOADS)
    @pytest.mark.parametrize(("name", "turn"), OBJECTS)
    def test_names_it_of_objects_too(self, api: str, name: str, turn: dict[str, Any]):
        """
        The framework's own object is told by its attributes, as is what it dumps.
        """
        with pytest.raises(FormatError, match=rf"\[0\]: looks like a message of .*{name}"):
            loaded(api, [as_objects(turn)])
        with pytest.raises(FormatError, match=rf"\[0\]: looks like a message of .*{name}"):
            detect([as_objects(turn)])

    @pytest.mark.parametrize("api", LOADS)
    @pytest.mark.parametrize(
        "turn",
        [
            {"role": "user", "text": "hi"},
            {"role": "assistant", "message": "hi"},
            {"role": "user", "blocks": []},
            {"user": "ann", "text": "hi"},
            {"prompt": "hi"},
        ],
    )
    def test_wants_the_words_where_the_api_has_them(self, api: str, turn: dict[str, Any]):
        """
        A message that says its words under another key is not taken for an empty one.
        """
        with pytest.raises(FormatError, match=r"\[0\]"):
            loaded(api, [turn])

    @pytest.mark.parametrize("api", [name for name in LOADS if name != "gemini"])
    def test_refuses_the_parts_of_gemini(self, api: str):
        """
        A content of Gemini among another API's messages is not an empty one of them.
        """
        turns = [{"role": "user", "content": [{"text": "hi"}] if api == "bedrock" else "hi"}]
        with pytest.raises(FormatError, match=r"\[1\]"):
            loaded(api, [*turns, {"role": "model", "parts": [{"text": "hi"}]}])

    @pytest.mark.parametrize("api", LOADS)
    def test_refuses_an_object_that_raises(self, api: str):
        """
        Looking at an object of others raises none of its errors.
        """
        turn = {"author": "ann", "content": Raising(), "parts": Raising()}

        for role in ({}, {"role": Raising()}):
            with pytest.raises(FormatError):
                loaded(api, [turn | role])

    @pytest.mark.parametrize("turn", OLLAMA[:2])
    def test_reads_the_words_of_ollama(self, turn: dict[str, Any]):
        """
        A server of chats with keys of its own gets back what it said.
        """
        messages = loaded("openai_chat", [turn])

        assert [turn] == importlib.import_module("unabridged.formats.openai_chat").dump(messages)

    def test_hints_at_model_dump_for_a_client_s_own_object(self):
        """
        An object that looks like no framework's is still one to dump.
        """
        answer = as_objects({"role": "assistant", "content": "hi", "tool_calls": None})

        with pytest.raises(FormatError, match=r"pass its \.model_dump\(\)$"):
            loaded("openai_chat", [answer])

    @given(
        st.dictionaries(
            st.sampled_from(
                "role content parts type kind source meta lc items blocks contents object".split()  # noqa: SIM905
            ),
            st.recursive(
                st.none() | st.sampled_from(["user", "text", "human", "request"]) | st.integers(),
                lambda inner: (
                    st.lists(inner, max_size=2)
                    | st.dictionaries(st.sampled_from(["type", "kind", "text"]), inner, max_size=2)
                ),
                max_leaves=5,
            ),
            max_size=4,
        )
    )
    def test_whatever_it_is_the_error_is_ours(self, turn: dict[str, Any]):
        """
        Any keys with any values are loaded, or refused by an error of ours.
        """
        for api in LOADS:
            try:
                loaded(api, [turn])
            except (FormatError, ConfigError):
                continue


@needs_shared
class TestRealBodies:
    def test_none_is_taken_for_another_framework_s(self):
        """
        No turn of the recorded requests of five APIs looks foreign.
        """
        lines = (SHARED / "data" / "api_shapes.jsonl").read_text(encoding="utf-8").splitlines()
        turns = [turn for line in lines for turn in json.loads(line)["messages"]]

        assert len(turns) > 100
        assert [] == [turn for turn in turns if foreign(turn)]
