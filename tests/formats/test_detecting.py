"""
Which format a list of messages has is told by what only one of the five has.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged.errors import FormatError
from unabridged.formats import detecting
from unabridged.formats.detecting import detect

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the shared transcripts are not beside the project"
)

HI = {"role": "user", "content": "hi"}
NAMES = {
    "chat": "openai_chat",
    "responses": "openai_responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "bedrock": "bedrock",
}

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "parts", "text", "thinking", "x"]),
            inner | st.sampled_from(["user", "text", "thinking", "image", "reasoning"]),
            max_size=3,
        )
    ),
    max_leaves=8,
)


def said(*blocks: Any, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def typed(kind: str, **keys: Any) -> dict[str, Any]:
    return {"type": kind, **keys}


class TestDetect:
    def test_is_public(self):
        """
        The module has one function.
        """
        assert ["detect"] == detecting.__all__

    @pytest.mark.parametrize(
        ("name", "turn"),
        [
            ("openai_chat", {"role": "tool", "tool_call_id": "c1", "content": "noon"}),
            ("openai_chat", {"role": "assistant", "content": None, "tool_calls": []}),
            ("openai_chat", {"role": "assistant", "content": "4", "reasoning_content": "hm"}),
            ("openai_chat", said(typed("image_url", image_url={"url": "https://x.org"}))),
            ("openai_chat", said(typed("thinking", thinking=[typed("text", text="hm")]))),
            ("openai_chat", {"role": "assistant", "type": "reasoning", "tool_calls": []}),
            ("openai_responses", typed("function_call", call_id="c1", name="f", arguments="{}")),
            ("openai_responses", typed("function_call_output", call_id="c1", output="noon")),
            ("openai_responses", typed("reasoning", id="rs_1", summary=[])),
            ("openai_responses", typed("mcp_approval_response", approval_request_id="a1")),
            ("openai_responses", typed("message", role="user", content="hi")),
            ("openai_responses", said(typed("input_image", image_url="https://x.org"))),
            ("anthropic", said(typed("tool_use", id="c1", name="f", input={}), role="assistant")),
            ("anthropic", said(typed("web_search_tool_result", content=[]), role="assistant")),
            ("anthropic", said(typed("image", source={"type": "url", "url": "https://x.org"}))),
            ("gemini", {"role": "user", "parts": [{"text": "hi"}]}),
            ("gemini", {"parts": []}),
            ("gemini", {"role": "model"}),
            ("bedrock", said({"toolUse": {}}, role="assistant")),
            ("bedrock", said({"image": {"format": "png"}})),
        ],
    )
    def test_is_told_by_one_turn(self, name: str, turn: dict[str, Any]):
        """
        What only one API has tells, wherever it stands, even beside what none has.
        """
        assert name == detect([turn])
        assert name == detect([HI, {"x": 1}, said({"text": "hi"}), turn, HI])

    @pytest.mark.parametrize(
        ("name", "turns"),
        [
            ("openai_chat", []),
            ("openai_chat", [HI]),
            ("openai_chat", [said("hi"), said(typed("text", text="hi")), said()]),
            ("openai_chat", [{"role": "assistant"}, said(typed("refusal", refusal="No."))]),
            ("openai_chat", [said(typed("input_audio", input_audio={}))]),
            ("openai_chat", [{"role": "assistant", "type": "reasoning", "content": "hm"}]),
            ("openai_chat", [HI, said(typed("thinking", thinking="hm"))]),
            ("anthropic", [HI, said(typed("thinking", thinking="hm", signature="c2ln"), "4")]),
            ("anthropic", [said(typed("redacted_thinking", data="c2ln"))]),
            ("bedrock", [HI, said({"text": "hi"})]),
        ],
    )
    def test_takes_the_likeliest(self, name: str, turns: list[Any]):
        """
        What several read the same is Chat Completions, unless something points elsewhere.
        """
        assert name == detect(turns)

    @pytest.mark.parametrize(
        ("turn", "seen"),
        [
            ("hi", "text"),
            ({"x": 1}, "{'x': 1}"),
            ({"role": 1, "content": "hi"}, "{'role': 1, 'content': 'hi'}"),
            ({"role": "user", "content": 1}, "{'role': 'user', 'content': 1}"),
            ({"type": "human", "x": "y" * 99}, "{'type': 'human', 'x': '" + "y" * 59 + "…}"),
            (said({"x": 1}), "{'role': 'user', 'content': [{'x': 1}]}"),
            (said(1), "{'role': 'user', 'content': [1]}"),
            (said(typed("tool-call")), "{'role': 'user', 'content': [{'type': 'tool-call'}]}"),
            (said({"type": None}), "{'role': 'user', 'content': [{'type': None}]}"),
            ({"parts": [typed("text")]}, "{'parts': [{'type': 'text'}]}"),
        ],
    )
    def test_says_what_it_saw(self, turn: Any, seen: str):
        """
        A turn of no known form is refused with its place and with what the five look like.
        """
        with pytest.raises(FormatError) as caught:
            detect([HI, turn, {"y": 1}])

        text = str(caught.value)
        assert text.startswith("messages[1]: expected the form of an API (openai_chat {")
        assert text.endswith(f", got {seen}")
        assert all(name in text for name in NAMES.values())

    def test_refuses_what_is_no_list(self):
        """
        Only a list of turns has a form.
        """
        with pytest.raises(FormatError, match=r"^messages: expected a list, got text$"):
            detect("hi")

    def test_points_out_model_dump(self):
        """
        A client's own object is refused with the way to make it a dict.
        """

        class Answer:
            model_dump = dict

        with pytest.raises(FormatError, match=r"got a Answer; pass its \.model_dump\(\)$"):
            detect([Answer()])

    @given(anything | st.lists(anything, max_size=3))
    def test_any_json_is_named_or_refused(self, turns: Any):
        """
        Any JSON has a name among the five, or an error of ours.
        """
        try:
            name = detect(turns)
        except FormatError:
            return

        assert name in NAMES.values()


@needs_shared
class TestRealTranscripts:
    def test_names_recorded_requests(self):
        """
        Each recorded request is named rightly, or read and written by the named module unchanged.
        """
        lines = (SHARED / "data" / "api_shapes.jsonl").read_text(encoding="utf-8").splitlines()
        assert 234 == len(lines)
        for line in lines:
            body = json.loads(line)
            name = detect(body["messages"])
            if name == NAMES[body["api"]]:
                continue
            module = importlib.import_module(f"unabridged.formats.{name}")

            assert "openai_chat" == name
            assert body["messages"] == module.dump(module.load(body["messages"]))

    @pytest.mark.parametrize(
        "name", ["tau_airline", "pi_coding", "swe_agent", "crosswoz", "locomo"]
    )
    def test_names_chats(self, name: str):
        """
        The transcripts in the form of the Chat API are named so.
        """
        for line in (SHARED / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            assert "openai_chat" == detect(json.loads(line)["messages"])
