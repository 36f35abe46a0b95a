"""
Messages as lines of JSON, and in halves.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged import (
    Audio,
    Document,
    Image,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    user,
)
from unabridged.items import Item
from unabridged.spans import Span
from unabridged.transcripts import halves, line, words_of

words = st.text(max_size=40)
anything = st.builds(
    Message,
    st.sampled_from(("user", "assistant", "tool")),
    st.lists(
        st.builds(Text, words)
        | st.builds(Reasoning, words)
        | st.builds(ToolCall, st.just("c1"), st.just("save"), words)
        | st.builds(ToolResult, st.just("c1"), st.lists(st.builds(Text, words), max_size=2))
        | st.builds(Document, text=words)
        | st.builds(Audio, transcript=words)
        | st.builds(Image, url=st.just("https://example.org/a.png"))
        | st.builds(Opaque, st.just("x"), st.dictionaries(words, words, max_size=2)),
        max_size=5,
    ),
)


def item_of(message):
    return Item(message, Span.one(1))


def told(message):
    return json.loads(line(item_of(message)))


class TestLine:
    @given(anything)
    def test_is_one_line_whatever_is_in_it(self, message):
        """
        Whatever splits text into lines finds one.
        """
        assert 1 == len(line(item_of(message)).splitlines())
        assert message.role == told(message)["role"]

    def test_tells_everything_a_model_can_read(self):
        """
        Words, reasoning, calls and results whole; the rest by its kind and name.
        """
        message = Message(
            "assistant",
            [
                Text("See "),
                Text("here."),
                Reasoning("Look first.", signature="c2ln"),
                ToolCall("c1", "look", {"at": 1}),
                ToolResult(
                    "c0",
                    [Text("no"), Image(data="QUJD" * 9, media_type="image/png")],
                    is_error=True,
                ),
                Image(url="https://example.org/cat.png", width=640, height=480),
                Document(name="a.pdf", data="JVBERi0" * 99, media_type="application/pdf"),
                Audio(data="UklGRg" * 9, transcript="Good morning"),
                Opaque("anthropic", {"type": "server_tool_use", "blob": "A" * 2_000}),
            ],
            name="Ana",
        )

        assert {
            "entry": "1",
            "role": "assistant",
            "name": "Ana",
            "text": "See here.",
            "reasoning": "Look first.",
            "calls": [{"id": "c1", "name": "look", "arguments": '{"at":1}'}],
            "results": [
                {"call": "c0", "text": "no", "error": True, "holds": ["image (image/png)"]}
            ],
            "holds": [
                "image (640x480 pixels) https://example.org/cat.png",
                'document "a.pdf" (application/pdf)',
                "audio Good morning",
                'anthropic {"type":"server_tool_use","blob":"<2000 characters>"}',
            ],
        } == told(message)

    def test_never_holds_the_data_of_a_file(self):
        """
        Neither as base64 nor in a data URL.
        """
        data = "QUJD" * 9
        parts = [Image(data=data), Image(url=f"data:image/png;base64,{data}"), Document(data=data)]

        assert data not in line(item_of(user([*parts, Audio(data=data)])))


class TestHalves:
    @given(anything)
    def test_hold_all_words_in_order(self, message):
        """
        And every part that has none; again and again, down to what cannot be cut.
        """
        waiting, pieces = [item_of(message)], []
        while waiting:
            item = waiting.pop()
            cut = halves(item)
            if cut is None:
                pieces.append(item)
            else:
                assert all(len(words_of(half)) < len(words_of(item)) for half in cut)
                waiting += reversed(cut)

        assert words_of(item_of(message)) == "".join(map(words_of, pieces))
        kinds = [Image]
        assert [part for part in message.parts if type(part) in kinds] == [
            part for piece in pieces for part in piece.message.parts if type(part) in kinds
        ]

    @pytest.mark.parametrize(
        ("text", "left"),
        [
            ("one two three four", "one two "),
            ("one two\nthree four five", "one two\n"),
            ("FACT-1 and FACT-2", "FACT-1 "),
            ("0123456789", "01234"),
        ],
    )
    def test_end_at_a_line_or_a_word_near_the_middle(self, text, left):
        """
        So that no name or number is torn, if there is a place.
        """
        first, second = halves(item_of(user(text)))

        assert (left, text) == (first.message.text, first.message.text + second.message.text)

    def test_leave_what_a_result_holds_beside_words_to_the_first(self):
        """
        It is named once.
        """
        result = ToolResult("c1", [Text("one two"), Image(file="f")])
        first, second = halves(item_of(Message("tool", [result])))

        assert ["image f"] == json.loads(line(first))["results"][0]["holds"]
        assert "holds" not in json.loads(line(second))["results"][0]

    def test_of_what_has_no_words_are_none(self):
        """
        Nor of a single letter.
        """
        assert (None, None) == (
            halves(item_of(user([Image(file="f")]))),
            halves(item_of(user("a"))),
        )
