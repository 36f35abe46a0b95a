"""
OpenAI Chat Completions: nothing is lost between `load` and `dump`.
"""

import base64
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from unabridged.errors import ConfigError, FormatError
from unabridged.formats import openai_chat
from unabridged.formats.chat_parts import left_out
from unabridged.formats.openai_chat import dump, load, reply, request
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
    assistant,
    system,
    tool,
    user,
)
from unabridged.testing.generators import messages as generated

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the shared transcripts are not beside the project"
)

RESULTS = {Text, Image, Document, Audio, Opaque}
FORMATS = {
    "chat": "openai_chat",
    "responses": "openai_responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "bedrock": "bedrock",
}


def shapes() -> list[dict[str, Any]]:
    """
    The real request bodies of five APIs.
    """
    lines = (SHARED / "data" / "api_shapes.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


CALL = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": '{"tz": 1.50}'}}


def one(turn: dict[str, Any]) -> Message:
    (message,) = load([turn])
    return message


def said(*parts: Any, **keys: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(parts), **keys}


def calling(*calls: Any, **keys: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **keys}


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


def chat_value(key: str) -> st.SearchStrategy[Any]:
    texts = st.sampled_from(["", "hi", "c1", "https://x.org/a", "data:image/png;base64,aGk="])
    known = {
        "role": st.sampled_from(["user", "assistant", "tool", "system", "function"]),
        "type": st.sampled_from([*TYPES, "reasoning", "function", "custom", "mcp"]),
        "format": st.sampled_from(["mp3", "wav", "mpeg", "audio/wav", "x-wav", ""]),
        "detail": st.sampled_from(["low", ""]),
        "content": texts | st.none() | st.lists(texts | shaped(PART) | typical, max_size=3),
        "tool_calls": st.none() | st.lists(shaped(CALL_KEYS) | calls, max_size=2),
        "function": shaped("name arguments strict"),
        "custom": shaped("name input x"),
        "arguments": texts | st.none() | st.just({"a": [1, 1.5]}),
        "image_url": shaped("url detail x"),
        "input_audio": shaped("data format x"),
        "file": shaped("file_id filename file_data x"),
        "audio": shaped("id data transcript expires_at"),
        "is_error": st.booleans(),
        "thinking": texts | st.lists(shaped("type text x"), max_size=2),
        "reasoning_details": st.lists(shaped("type text summary signature data x"), max_size=3),
        "metadata": st.dictionaries(st.text(max_size=3), scalars, max_size=2),
    }
    ordinary = known.get(key, texts)

    return st.integers(0, 9).flatmap(lambda die: anything if die == 0 else ordinary)


calls = st.deferred(
    lambda: st.sampled_from(["function name arguments", "custom name input"]).flatmap(
        lambda kind: shaped(kind).map(
            lambda inner: {"id": "c1", "type": kind.split()[0], kind.split()[0]: inner}
        )
    )
)
typical = st.deferred(
    lambda: st.sampled_from(["image_url url", "input_audio data", "file file_data"]).flatmap(
        lambda kind: shaped(f"{kind.split()[1]} format detail filename x").map(
            lambda inner: {"type": kind.split()[0], kind.split()[0]: inner}
        )
    )
)


def shaped(keys: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.deferred(
        lambda: st.lists(st.sampled_from(keys.split()), unique=True, max_size=6).flatmap(
            lambda chosen: st.fixed_dictionaries({key: chat_value(key) for key in chosen})
        )
    )


TYPES = ["text", "image_url", "input_audio", "file", "refusal", "thinking", "redacted_thinking"]
PART = "type type text image_url input_audio file refusal thinking signature data cache_control"
CALL_KEYS = "id type function custom index"
TURN = "content name id metadata tool_calls tool_call_id type reasoning_content reasoning"
TURN += " audio function_call refusal is_error encrypted_content"
TURN += " reasoning_details x"

DELTA = "role content tool_calls refusal audio reasoning_content function_call x"

turns_like = st.lists(
    st.tuples(chat_value("role"), shaped(TURN), st.booleans()).map(
        lambda drawn: {"role": drawn[0], **drawn[1]} | ({"tool_call_id": "c1"} if drawn[2] else {})
    ),
    max_size=3,
)


class TestLoad:
    def test_is_public(self):
        """
        A format has the same four public names as every other.
        """
        assert ["dump", "load", "reply", "request"] == openai_chat.__all__

    @pytest.mark.parametrize(
        ("turn", "message"),
        [
            ({"role": "user", "content": "hi"}, user("hi")),
            ({"role": "user", "content": ""}, user("")),
            ({"role": "user", "content": "hi", "name": "ann"}, user("hi", name="ann")),
            ({"role": "user", "content": "hi", "name": ""}, user("hi", name="")),
            ({"role": "system", "content": "Be brief."}, system("Be brief.")),
            ({"role": "developer", "content": "x"}, Message("developer", "x")),
            (calling(CALL), assistant(calls=[ToolCall("c1", "now", '{"tz": 1.50}')])),
            (
                calling(CALL) | {"content": "Looking."},
                assistant("Looking.", calls=[ToolCall("c1", "now", '{"tz": 1.50}')]),
            ),
            (
                {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
                tool("sunny", call_id="c1"),
            ),
            (said({"type": "text", "text": "a"}, {"type": "text", "text": "b"}), user(["a", "b"])),
        ],
    )
    def test_an_ordinary_message_equals_one_built_by_hand(
        self, turn: dict[str, Any], message: Message
    ):
        """
        An ordinary message has no extra, and dumps to the dict it came from.
        """
        assert message == one(turn)
        assert [turn] == dump([message])

    @pytest.mark.parametrize(
        ("part", "loaded"),
        [
            (
                {"type": "image_url", "image_url": {"url": "https://x.org/a", "detail": "low"}},
                Image(url="https://x.org/a", detail="low"),
            ),
            (
                {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,aGk="}},
                Image("aGk=", media_type="image/jpeg"),
            ),
            (
                {"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}},
                Image(url="data:image/svg+xml,<svg/>"),
            ),
            (
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
                Audio("aGk=", media_type="audio/mpeg"),
            ),
            (
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mpeg"}},
                Opaque(
                    "openai_chat",
                    {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mpeg"}},
                ),
            ),
            (
                {"type": "file", "file": {"file_id": "f1"}},
                Document(file="f1", extra={"openai_chat": {"source": "file"}}),
            ),
            (
                {
                    "type": "file",
                    "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="},
                },
                Document("aGk=", name="a.pdf", media_type="application/pdf"),
            ),
            (
                {"type": "file", "file": {"file_data": "https://x.org/a.pdf"}},
                Document(url="https://x.org/a.pdf", extra={"openai_chat": {"given": "so"}}),
            ),
            (
                {"type": "document_url", "document_url": "https://x.org/a", "document_name": "a"},
                Document(
                    url="https://x.org/a", name="a", extra={"openai_chat": {"as": "document_url"}}
                ),
            ),
            (
                {"type": "document_url", "document_url": "data:application/pdf;base64,aGk="},
                Document(
                    "aGk=",
                    media_type="application/pdf",
                    extra={"openai_chat": {"as": "document_url"}},
                ),
            ),
            (
                {"type": "image_url", "image_url": {"url": "gs://b/a.png"}},
                Image(url="gs://b/a.png", extra={"openai_chat": {"given": "so"}}),
            ),
            (
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "ogg"}},
                Audio("aGk=", media_type="audio/ogg", extra={"openai_chat": {"given": "so"}}),
            ),
            (
                {"type": "file", "file": {"file_data": "aGk="}},
                Document("aGk=", extra={"openai_chat": {"data": "bare"}}),
            ),
            (
                {"type": "file", "file": {}},
                Opaque("openai_chat", {"type": "file", "file": {}}),
            ),
            (
                {"type": "refusal", "refusal": "No."},
                Text("No.", extra={"openai_chat": {"as": "refusal"}}),
            ),
            (
                {"type": "thinking", "thinking": "hm\n", "signature": "c2ln=="},
                Reasoning("hm\n", signature="c2ln==", extra={"openai_chat": {"as": "thinking"}}),
            ),
            (
                {"type": "redacted_thinking", "data": "c2ln=="},
                Reasoning(encrypted="c2ln==", extra={"openai_chat": {"as": "redacted_thinking"}}),
            ),
            (
                {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
                Text(
                    "a",
                    extra={"openai_chat": {"keys": {"cache_control": {"type": "ephemeral"}}}},
                ),
            ),
            ("words", Text("words", extra={"openai_chat": {"as": "string"}})),
        ],
    )
    def test_reads_each_part(self, part: Any, loaded: Any):
        """
        A part of the content becomes one part of the message, and comes back as it was.
        """
        assert Message("user", loaded) == one(said(part))
        assert [said(part)] == dump(load([said(part)]))

    @pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
    def test_reads_reasoning_beside_the_words(self, key: str):
        """
        Reasoning beside the content stands before the words.
        """
        turn = {"role": "assistant", "content": "4", key: "2 + 2"}

        assert assistant([Reasoning("2 + 2", extra={"openai_chat": {"as": key}}), "4"]) == one(turn)
        assert [turn] == dump(load([turn]))

    def test_reads_a_bare_reasoning_entry(self):
        """
        An entry of the type reasoning is a message of a single reasoning part.
        """
        turn = {"role": "assistant", "type": "reasoning", "id": "rs_1", "content": None}

        assert (Reasoning(extra={"openai_chat": {"as": "entry"}}),) == one(turn).parts
        assert "rs_1" == one(turn).id
        assert [turn] == dump(load([turn]))

    def test_reads_spoken_answers(self):
        """
        The audio of an assistant is known by its id, and may carry its sound.
        """
        turn = {"role": "assistant", "audio": {"id": "a1", "transcript": "Hi.", "expires_at": 9}}

        hints = {"source": "file", "sent": ["transcript"], "keys": {"expires_at": 9}}
        assert (Audio(file="a1", transcript="Hi.", extra={"openai_chat": hints}),) == one(
            turn
        ).parts
        assert [turn] == dump(load([turn]))
        assert [{"role": "assistant", "content": None, "audio": {"id": "a1"}}] == dump(
            [assistant(Audio(file="a1"))]
        )

    @pytest.mark.parametrize(
        ("call", "loaded"),
        [
            (
                {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": 'SELECT "a"'}},
                ToolCall("c1", "sql", r'"SELECT \"a\""', extra={"openai_chat": {"as": "custom"}}),
            ),
            (
                {"id": "c1", "type": "mcp", "mcp": {"server": "x"}},
                ToolCall(
                    "c1",
                    "mcp",
                    '{"id":"c1","type":"mcp","mcp":{"server":"x"}}',
                    extra={"openai_chat": {"as": "other"}},
                ),
            ),
            (
                {"function": {"name": "now"}},
                ToolCall("", "now", extra={"openai_chat": {"lacks": ["type", "id", "arguments"]}}),
            ),
            (
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}},
                ToolCall("c1", "f", {"a": 1}, extra={"openai_chat": {"arguments": "object"}}),
            ),
        ],
    )
    def test_reads_calls_of_other_kinds(self, call: dict[str, Any], loaded: ToolCall):
        """
        A call of any kind is a `ToolCall` that its result can find.
        """
        assert (loaded,) == one(calling(call)).parts
        assert [calling(call)] == dump(load([calling(call)]))

    @pytest.mark.parametrize(
        "turn",
        [
            {"role": "user"},
            {"role": "user", "content": None},
            {"role": "user", "content": []},
            said({"type": "text", "text": "hi"}),
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "assistant", "content": "", "tool_calls": [CALL]},
            {"role": "assistant", "content": [], "tool_calls": [CALL]},
            {"role": "assistant", "content": "hi", "tool_calls": []},
            {"role": "assistant", "content": "hi", "tool_calls": None, "refusal": None},
            {"role": "assistant", "content": None, "function_call": {"name": "f"}},
            {"role": "assistant", "content": "hi", "audio": None, "name": None},
            {"role": "assistant", "content": "hi", "reasoning": [{"text": "hm"}]},
            calling({**CALL, "index": 0, "function": {**CALL["function"], "strict": True}}),
            calling({**CALL, "id": None}),
            {"role": "tool", "tool_call_id": "c1"},
            {"role": "tool", "tool_call_id": "c1", "content": None, "is_error": True},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "x"}]},
            {
                "role": "tool",
                "tool_call_id": "c1",
                "content": [{"type": "thinking", "thinking": ""}],
            },
            {"role": "user", "content": "hi", "id": "m1", "metadata": {}, "": {"keys": 1}},
            {"role": "user", "content": "hi", "id": 7, "metadata": "x"},
        ],
    )
    def test_keeps_the_shape(self, turn: dict[str, Any]):
        """
        Null, missing, empty and listed content are told apart, and keys without a field kept.
        """
        assert [turn] == dump(load([turn]))
        assert load([turn]) == load(dump(load([turn])))

    def test_keeps_unknown_keys_under_its_own_name(self):
        """
        A key without a field is found in the extra.
        """
        assert {"openai_chat": {"keys": {"seen": True}}} == one(
            {"role": "user", "content": "hi", "seen": True}
        ).extra.value

    def test_puts_the_system_text_first(self):
        """
        A system text, or a list of parts, becomes the first message.
        """
        turns = [{"role": "user", "content": "hi"}]

        assert (system("Be brief."), user("hi")) == load(turns, "Be brief.")
        assert (system(["a", "b"]), user("hi")) == load(
            turns, [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
        )

    @pytest.mark.parametrize(
        ("turns", "text"),
        [
            ({}, "messages: expected a list, got an object"),
            ("hi", "messages: expected a list, got text"),
            ([None], "messages[0]: expected an object, got null"),
            ([{}], "messages[0].role: expected a word such as 'user', got nothing"),
            ([{"role": " "}], "messages[0].role: expected a word such as 'user', got text"),
            (
                [{"role": "user", "content": True}],
                "messages[0].content: expected text, a list of parts or null, got a boolean",
            ),
            ([said("a", 1)], "messages[0].content[1]: expected an object, got a number"),
            (
                [{"role": "user", "content": "", "name": 1}],
                "messages[0].name: expected text, got a number",
            ),
            (
                [{"role": "tool", "tool_call_id": 5, "content": ""}],
                "messages[0].tool_call_id: expected text, got a number",
            ),
            (
                [calling() | {"tool_calls": 1}],
                "messages[0].tool_calls: expected a list, got a number",
            ),
            ([calling(CALL, [])], "messages[0].tool_calls[1]: expected an object, got a list"),
            (
                [calling({"id": "c1", "type": "function", "function": []})],
                "messages[0].tool_calls[0].function: expected an object, got a list",
            ),
            (
                [calling({"function": {"name": None}})],
                "messages[0].tool_calls[0].function.name: expected text, got null",
            ),
            (
                [calling({"id": 1, "function": {"name": "f"}})],
                "messages[0].tool_calls[0].id: expected text, got a number",
            ),
            (
                [calling({"id": "c1", "function": {"name": "f", "arguments": []}})],
                "messages[0].tool_calls[0].function.arguments: expected text, got a list",
            ),
        ],
    )
    def test_names_the_place_of_a_fault(self, turns: Any, text: str):
        """
        A message of another form is refused with the place, the wish and what was found.
        """
        with pytest.raises(FormatError) as caught:
            load(turns)

        assert text == str(caught.value)

    def test_refuses_a_system_that_is_no_text(self):
        """
        The system may be text or a list of parts.
        """
        with pytest.raises(FormatError, match=r"^system: expected text or a list of parts, got a"):
            load([], 1)  # type: ignore[arg-type]

    def test_points_out_model_dump(self):
        """
        A client's own object is refused with the way to make it a dict.
        """

        class Answer:
            model_dump = dict

        with pytest.raises(FormatError, match=r"got a Answer; pass its \.model_dump\(\)"):
            load([Answer()])

    @pytest.mark.parametrize(
        ("keys", "text"),
        [
            (
                {"metadata": {"at": {1}}},
                "messages[0].metadata.at: JSON cannot hold a set; convert it first",
            ),
            ({"at": b""}, "messages[0].at: JSON cannot hold a bytes; convert it first"),
            (
                said({"type": "image_url", "image_url": {"url": "x", "y": {1}}}),
                "messages[0].content[0].y: JSON cannot hold a set; convert it first",
            ),
            ({1: "a"}, "messages[0]: JSON keys are text, got 1; use '1'"),
        ],
    )
    def test_names_the_key_that_json_cannot_hold(self, keys: dict[Any, Any], text: str):
        """
        What JSON cannot hold is refused under the path where the caller wrote it.
        """
        with pytest.raises(ConfigError) as caught:
            load([{"role": "user", "content": "hi", **keys}])

        assert text == str(caught.value)

    def test_keeps_nothing_of_the_callers(self):
        """
        Changing a dict after loading it changes no message.
        """
        turn = said({"type": "x", "y": [1]}, metadata={"a": [1]}, z=[1])
        before = json.loads(json.dumps(turn))
        messages = load([turn])
        for changed in (turn["content"], turn["content"][0]["y"], turn["metadata"]["a"], turn["z"]):
            changed.append(2)

        assert [before] == dump(messages)

    @given(anything | st.lists(anything, max_size=2) | turns_like)
    def test_any_json_loads_or_is_refused(self, turns: Any):
        """
        Any JSON gives messages that dump to it, or an error of ours.
        """
        try:
            messages = load(turns)
        except (FormatError, ConfigError):
            return

        assert turns == dump(messages)
        assert messages == load(dump(messages))

    @given(turns_like)
    def test_what_is_stored_dumps_as_well(self, turns: Any):
        """
        The extra is JSON, whatever was loaded.
        """
        try:
            messages = load(turns)
        except (FormatError, ConfigError):
            return

        assert all(isinstance(json.loads(message.extra.text), dict) for message in messages)


class TestDump:
    def test_does_not_send_what_is_yours(self):
        """
        An id and metadata given by hand are never sent.
        """
        assert [{"role": "user", "content": "hi"}] == dump([user("hi", id="m1", metadata={"a": 1})])

    def test_sends_changed_content(self):
        """
        A changed result is dumped in the shape it was loaded in, with its new words.
        """
        turn = {
            "role": "tool",
            "tool_call_id": "c1",
            "content": [{"type": "text", "text": "long"}],
            "is_error": False,
        }
        (message,) = load([turn])
        clipped = evolve(message, parts=(evolve(message.tool_results[0], content="lo…"),))

        assert [turn | {"content": [{"type": "text", "text": "lo…"}]}] == dump([clipped])

    def test_sends_changed_calls(self):
        """
        Calls changed by hand are sent, also in the shapes of other servers.
        """
        call = {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "a"}}
        other = {"id": "c1", "type": "mcp", "x": 1}
        loose = {"function": {"name": "f"}}
        calls = load([calling(call, other, loose)])[0].tool_calls
        changed = [evolve(part, id="c9", arguments='{"b":1}') for part in calls]

        assert [
            calling(
                {"id": "c9", "type": "custom", "custom": {"name": "sql", "input": '{"b":1}'}},
                {"id": "c9", "b": 1},
                {"id": "c9", "function": {"name": "f", "arguments": '{"b":1}'}},
            )
        ] == dump([assistant(calls=changed)])
        assert [calling({"id": "c1", "type": "mcp"})] == dump(
            [assistant(calls=[evolve(calls[1], arguments="clipped")])]
        )

    def test_fills_an_empty_message(self):
        """
        A message without calls has a text, if an empty one; one with calls has null.
        """
        assert [
            {"role": "assistant", "content": ""},
            {"role": "tool", "tool_call_id": "c1", "content": ""},
        ] == dump([assistant(), tool(call_id="c1")])

    def test_parts_results_from_the_rest(self):
        """
        Each result becomes a message of its own, before the words that came with it.
        """
        message = Message(
            "user", (ToolResult("c1", "a"), Text("go on"), ToolResult("c2", "b")), name="ann"
        )

        assert [
            {"role": "tool", "tool_call_id": "c1", "content": "a"},
            {"role": "tool", "tool_call_id": "c2", "content": "b"},
            {"role": "user", "content": "go on", "name": "ann"},
        ] == dump([message])
        assert ["c1", "c2"] == [
            turn["tool_call_id"] for turn in dump([evolve(message, parts=message.tool_results)])
        ]

    def test_puts_results_behind_the_calls_they_came_with(self):
        """
        A message of calls and results sends the calls first.
        """
        both = Message("assistant", (ToolCall("c1", "now"), ToolResult("c1", "noon")))

        assert ["assistant", "tool"] == [turn["role"] for turn in dump([both])]

    def test_leaves_out_what_another_provider_thought(self):
        """
        Reasoning and opaque parts of other APIs are left out, and a message of nothing else.
        """
        foreign = (Reasoning("hm", signature="x"), Opaque("anthropic", {"type": "x"}))

        assert [{"role": "assistant", "content": "4"}] == dump(
            [Message("assistant", foreign), assistant([*foreign, "4"])]
        )

    def test_leaves_out_an_entry_that_lost_its_reasoning(self):
        """
        A bare reasoning entry without its reasoning is nothing.
        """
        turn = {"role": "assistant", "type": "reasoning", "content": "hm", "encrypted_content": "e"}
        (message,) = load([turn])

        assert [turn] == dump([message])
        assert [] == dump([evolve(message, parts=())])

    def test_gives_other_forms_their_defaults(self):
        """
        Pictures, sound and files made by hand get the form that the API takes.
        """
        parts = [
            Image("aGk="),
            Audio("aGk="),
            Document("aGk="),
            Document(text="words"),
            Document(file="f1"),
        ]

        assert [
            said(
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
                {"type": "file", "file": {"file_data": "data:application/pdf;base64,aGk="}},
                {"type": "text", "text": "words"},
                {"type": "file", "file": {"file_id": "f1"}},
            )
        ] == dump([user(parts)])
        assert [{"role": "user", "content": "words"}] == dump([user(Document(text="words"))])

    def test_refuses_what_is_no_message(self):
        """
        What is no message is named with its place.
        """
        with pytest.raises(FormatError, match=r"^messages\[1\]: expected a Message, got an"):
            dump([user("hi"), {"role": "user"}])  # type: ignore[list-item]

    def test_leaves_out_what_the_api_has_no_form_for(self):
        """
        Such a part is left out, a message of nothing else too; a result stays, without it.
        """
        picture = Image("aGk=")

        assert [{"role": "user", "content": "Look."}] == dump(
            [user(["Look.", Image(file="f1")]), user(Audio(url="https://x.org/a")), system(picture)]
        )
        assert [
            {"role": "tool", "tool_call_id": "c1", "content": "Taken."},
            {"role": "tool", "tool_call_id": "c2", "content": ""},
        ] == dump([tool(["Taken.", picture], call_id="c1"), tool(picture, call_id="c2")])

    def test_sends_only_an_assistants_calls(self):
        """
        A call in anyone else's message is left out; in a role of your own it is sent.
        """
        call = ToolCall("c1", "now")

        assert [{"role": "user", "content": "hi"}] == dump([Message("user", ["hi", call])])
        assert ["critic"] == [turn["role"] for turn in dump([Message("critic", call)])]

    def test_puts_words_beside_results_into_a_users_message(self):
        """
        A tool message is a result and nothing else, whatever stood with it.
        """
        both = Message("tool", (ToolResult("c1", "noon"), Text("go on")), name="now")

        assert [
            {"role": "tool", "tool_call_id": "c1", "content": "noon", "name": "now"},
            {"role": "user", "content": "go on"},
        ] == dump([both])
        assert [{"role": "user", "content": "words"}] == dump([Message("tool", "words")])

    def test_sends_an_answer_that_was_heard_by_its_id(self):
        """
        Sound and transcript are not sent again; a second answer is a message of its own.
        """
        answers = [Audio("aGk=", file="a1", transcript="Hi."), Audio(file="a2")]

        assert [
            {"role": "assistant", "content": None, "audio": {"id": "a2"}},
            {"role": "assistant", "content": "Hm.", "audio": {"id": "a1"}},
        ] == dump([assistant([*answers, "Hm."])])

    @pytest.mark.parametrize("role", ["system", "assistant", "tool"])
    def test_gives_back_what_came_where_the_api_takes_none(self, role: str):
        """
        A picture that was loaded from a message of another role was the caller's wish.
        """
        picture = {"type": "image_url", "image_url": {"url": "https://x.org/a"}}
        turn = {**said(picture), "role": role} | ({"tool_call_id": "c"} if role == "tool" else {})

        assert [turn] == dump(load([turn]))

    def test_keeps_a_refusal_as_words(self):
        """
        A refusal can be read by every provider, and comes back as what it was.
        """
        turn = {"role": "assistant", "content": None, "refusal": "No."}

        assert "No." == one(turn).text
        assert [turn] == dump(load([turn]))

    def test_ignores_the_extra_of_other_formats(self):
        """
        Keys that another format kept are not sent.
        """
        part = Text("hi", extra={"anthropic": {"keys": {"cache_control": {}}}})

        assert [{"role": "user", "content": "hi"}] == dump(
            [Message("user", part, extra={"anthropic": {"keys": {"x": 1}}})]
        )

    @pytest.mark.parametrize("extra", [["no dict"], {"openai_chat": "no dict"}])
    def test_ignores_an_extra_of_no_format(self, extra: Any):
        """
        An extra made by hand of something else is not sent either.
        """
        assert [{"role": "user", "content": "hi"}] == dump([Message("user", "hi", extra=extra)])

    def test_is_fresh_each_time(self):
        """
        Two dumps share no dict.
        """
        messages = load([said({"type": "x", "y": [1]}, metadata={"a": [1]}, z=[1]), calling(CALL)])
        first = dump(messages)
        untouched = json.loads(json.dumps(first))
        first[0]["content"][0]["y"].append(2)
        first[0]["metadata"]["a"].append(2)
        first[0]["z"].append(2)
        first[1]["tool_calls"][0]["function"]["name"] = "other"

        assert untouched == dump(messages)

    def test_keeps_bytes_of_data(self):
        """
        Base64 data comes back byte for byte.
        """
        data = base64.b64encode(bytes(range(256))).decode()
        turn = said({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}})

        assert [turn] == dump(load([turn]))


class TestLeftOut:
    @pytest.mark.parametrize(
        ("part", "role", "why"),
        [
            (Text("a"), "critic", ""),
            (ToolResult("c1"), "user", ""),
            (ToolCall("c1", "f"), "assistant", ""),
            (ToolCall("c1", "f"), "user", "a call: the Chat API takes them from assistants"),
            (Image("aGk="), "user", ""),
            (Image(url="https://x.org/a"), "user", ""),
            (Image(url="file:a"), "user", "an image by URL: the Chat API takes it by data or URL"),
            (Image(url="gs://a"), "user", "an image: a URL that only Gemini can fetch"),
            (Image(file="f1"), "user", "an image by file id: the Chat API takes it by data or URL"),
            (Image(), "user", "an image: the Chat API takes it by data or URL"),
            (Image("aGk="), "tool", "an image: the Chat API takes them from users alone"),
            (Document(text="a"), "system", ""),
            (Document(file="f1"), "user", ""),
            (Document("aGk="), "tool", "a document: the Chat API takes them from users alone"),
            (
                Document(url="https://x.org/a"),
                "user",
                "a document by URL: the Chat API takes it by data or file id",
            ),
            (Audio("aGk=", media_type="audio/wav"), "user", ""),
            (Audio(file="a1"), "assistant", ""),
            (Audio(file="a1"), "user", "audio by file id: the Chat API takes it by data"),
            (
                Audio("aGk=", media_type="audio/ogg"),
                "user",
                "audio: the Chat API takes it as wav or mp3",
            ),
            (Reasoning("hm"), "assistant", "reasoning of another provider"),
            (Reasoning("hm", extra={"openai_chat": {"as": "reasoning"}}), "assistant", ""),
            (Opaque("openai_chat", {"type": "x"}), "user", ""),
            (Opaque("openai_chat", [1]), "user", "an opaque part that is no object"),
            (Opaque("gemini", {"x": 1}), "user", "a part that only gemini understands"),
        ],
    )
    def test_says_why(self, part: Any, role: str, why: str):
        """
        For each part whether the API has a form for it, and `dump` does as it says.
        """
        assert why == left_out(part, role)
        assert bool(why) is not bool(dump([Message(role, part)]))


class TestRequest:
    def test_is_what_the_client_takes(self):
        """
        All in one argument, system messages with them.
        """
        messages = (system("Be brief."), user("hi"), assistant("Hello."))

        assert {"messages": dump(messages)} == request(messages)

    def test_mends_and_says_so(self):
        """
        What the API refuses is mended, what it has no form for left out, both are reported.
        """
        report: list[Any] = []
        messages = [user(["Look.", Image(file="f1")], name="Ana Luz"), tool("late", call_id="c9")]
        sent = request(messages, report)["messages"]

        assert {"role": "user", "content": "Look.", "name": "Ana_Luz"} == sent[0]
        assert "tool" not in [turn["role"] for turn in sent]
        assert {1, 2} == {line.seq for line in report}
        assert "left out" in [line.what for line in report]


def completion(message: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-12345678",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", **message},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        **keys,
    }


def chunk(*deltas: dict[str, Any], finish: str | None = None, **keys: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-12345678",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-5",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish} for delta in deltas],
        **keys,
    }


def delta_call(index: int, text: str, **keys: Any) -> dict[str, Any]:
    name = {"name": keys.pop("name")} if "name" in keys else {}
    return {"tool_calls": [{"index": index, "function": {"arguments": text, **name}, **keys}]}


ANSWERS: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
    ({"content": "Hi."}, [{"role": "assistant", "content": "Hi."}]),
    ({"content": ""}, [{"role": "assistant", "content": ""}]),
    ({"content": None}, [{"role": "assistant", "content": ""}]),
    (
        {"content": "Hi.", "refusal": None, "annotations": [], "audio": None, "tool_calls": []},
        [{"role": "assistant", "content": "Hi."}],
    ),
    (
        {"content": None, "function_call": None, "tool_calls": [CALL, {**CALL, "id": "c2"}]},
        [calling(CALL, {**CALL, "id": "c2"})],
    ),
    (
        {
            "content": "Cited.",
            "annotations": [
                {
                    "type": "url_citation",
                    "url_citation": {
                        "start_index": 0,
                        "end_index": 6,
                        "title": "t",
                        "url": "https://x.org",
                    },
                }
            ],
        },
        [{"role": "assistant", "content": "Cited."}],
    ),
    (
        {"content": None, "refusal": "No."},
        [{"role": "assistant", "content": None, "refusal": "No."}],
    ),
    (
        {"content": "4", "reasoning_content": "2 + 2", "reasoning": None},
        [{"role": "assistant", "content": "4", "reasoning_content": "2 + 2"}],
    ),
    (
        {"content": "4", "reasoning_details": [{"type": "reasoning.text", "text": "2 + 2"}]},
        [
            {
                "role": "assistant",
                "content": "4",
                "reasoning_details": [{"type": "reasoning.text", "text": "2 + 2"}],
            }
        ],
    ),
    (
        {
            "content": None,
            "audio": {"id": "a1", "data": "aGk=", "transcript": "Hi.", "expires_at": 9},
        },
        [{"role": "assistant", "content": None, "audio": {"id": "a1"}}],
    ),
    (
        {
            "content": '{"a":1}',
            "parsed": {"a": 1},
            "tool_calls": [
                {
                    **CALL,
                    "index": 0,
                    "function": {**CALL["function"], "parsed_arguments": {"tz": 1.5}},
                }
            ],
        },
        [{"role": "assistant", "content": '{"a":1}', "tool_calls": [CALL]}],
    ),
]


class TestReply:
    @pytest.mark.parametrize(("message", "turns"), ANSWERS)
    def test_gives_the_message_that_goes_back(
        self, message: dict[str, Any], turns: list[dict[str, Any]]
    ):
        """
        What a request takes is sent with the next one; the rest is kept, and not sent.
        """
        response = completion(message)
        before = json.loads(json.dumps(response))
        (loaded,) = reply(response)
        received = loaded.extra.value["openai_chat"]["inner"]["received"]

        assert turns == dump([loaded])
        assert turns == request([loaded])["messages"]
        assert ("assistant", "chatcmpl-12345678") == (loaded.role, loaded.id)
        assert "gpt-5" == received["model"]
        assert {"index": 0, "finish_reason": "stop", "logprobs": None} == received["choice"]
        assert before == response

    def test_keeps_what_it_does_not_send(self):
        """
        Nothing of the response is lost.
        """
        audio = {"id": "a1", "data": "aGk=", "transcript": "Hi.", "expires_at": 9}
        response = completion({"content": None, "audio": audio, "annotations": [{"type": "x"}]})
        response["choices"].append({"index": 1, "message": {"content": "Hello."}})
        (loaded,) = reply(response)
        received = loaded.extra.value["openai_chat"]["inner"]["received"]

        assert {"audio": {"expires_at": 9}, "annotations": [{"type": "x"}]} == received["message"]
        assert response["choices"][1:] == received["choices"]
        assert [("aGk=", "Hi.")] == [(p.data, p.transcript) for p in loaded.parts]  # type: ignore[union-attr]

    @pytest.mark.parametrize("message", [message for message, _ in ANSWERS])
    def test_reads_the_clients_own_object(self, message: dict[str, Any]):
        """
        The client's object says what its dict says.
        """
        chat = pytest.importorskip("openai.types.chat")
        response = completion(message)

        (from_dict,) = reply(response)
        (from_object,) = reply(chat.ChatCompletion.model_validate(response))

        assert from_dict.extra.value == from_object.extra.value  # keys in another order
        assert evolve(from_dict, extra=None) == evolve(from_object, extra=None)

    @pytest.mark.parametrize(
        ("response", "text"),
        [
            ({"error": {"message": "busy"}}, "response: no message, but an error: {'message'"),
            ({"id": "x"}, "response.choices: expected a list, got nothing"),
            ({"choices": []}, "response.choices[0]: expected an object, got nothing"),
            ({"choices": [{}]}, "response.choices[0].message: expected an object, got nothing"),
            (
                {"choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]},
                "response: no message, the content filter stopped it",
            ),
            (
                {"choices": [{"message": {"content": 1}}]},
                "response.choices[0].message.content: expected text, a list of parts or null, got",
            ),
            ([], "response: no message, none of the events of the stream has a choice"),
            ([{"error": "busy"}], "response: no message, the stream ended with an error: busy"),
            ("hi", "response: expected a response of the client, its dict, or the events of a st"),
            ([1], "response[0]: expected an event of a stream, got a number"),
        ],
    )
    def test_says_why_there_is_no_message(self, response: Any, text: str):
        """
        A response without a message is refused with what it says.
        """
        with pytest.raises(FormatError) as caught:
            reply(response)

        assert str(caught.value).startswith(text)

    @given(st.dictionaries(st.sampled_from(["id", "choices", "error"]), anything) | anything)
    def test_any_json_is_read_or_refused(self, response: Any):
        """
        Whatever comes is a message or an error of ours.
        """
        try:
            messages = reply(response)
        except (FormatError, ConfigError):
            return

        assert isinstance(dump(messages), list)


STREAMS: list[tuple[list[dict[str, Any]], list[dict[str, Any]]]] = [
    (
        [
            chunk({"role": "assistant", "content": "", "refusal": None}, usage=None),
            chunk({"content": "Hel"}, obfuscation="x"),
            chunk({"content": "lo"}),
            chunk({}, finish="stop"),
            chunk(usage={"total_tokens": 2}),
        ],
        [{"role": "assistant", "content": "Hello"}],
    ),
    ([chunk({"role": "assistant"}, finish="stop")], [{"role": "assistant", "content": ""}]),
    (
        [
            chunk({"role": "assistant", "content": None}),
            chunk(delta_call(0, "", id="c1", type="function", name="now")),
            chunk(delta_call(0, '{"tz":')),
            chunk(delta_call(0, " 1.50}")),
            chunk(delta_call(1, "", id="c2", type="function", name="now")),
            chunk(delta_call(1, '{"tz": 1.50}')),
            chunk({}, finish="tool_calls"),
        ],
        [calling(CALL, {**CALL, "id": "c2"})],
    ),
    (
        [
            chunk(delta_call(0, '{"tz": 1.50}', id=id_, type="function", name="now"), finish="stop")
            for id_ in ("c1", "c2")
        ],
        [calling(CALL, {**CALL, "id": "c2"})],
    ),
    (
        [
            chunk({"tool_calls": [{**CALL, "id": "c1"}]}),
            chunk({"tool_calls": [{"function": {"arguments": " "}}]}),
            chunk({"tool_calls": [{**CALL, "id": "c2"}]}, finish="tool_calls"),
        ],
        [
            calling(
                {**CALL, "function": {"name": "now", "arguments": '{"tz": 1.50} '}},
                {**CALL, "id": "c2"},
            )
        ],
    ),
    (
        [
            chunk({"reasoning_content": "2 "}),
            chunk({"reasoning_content": "+ 2", "content": None}),
            chunk({"content": "4"}, finish="stop"),
            chunk({}, finish="stop"),
        ],
        [{"role": "assistant", "content": "4", "reasoning_content": "2 + 2"}],
    ),
    (
        [chunk({"refusal": "No"}), chunk({"refusal": "."}, finish="stop")],
        [{"role": "assistant", "content": None, "refusal": "No."}],
    ),
    (
        [
            chunk({"reasoning_details": [{"text": "a"}]}),
            chunk({"reasoning_details": [{"text": "b"}], "content": "c"}, finish="stop"),
        ],
        [
            {
                "role": "assistant",
                "content": "c",
                "reasoning_details": [{"text": "a"}, {"text": "b"}],
            }
        ],
    ),
]


class TestStream:
    @pytest.mark.parametrize(("events", "turns"), STREAMS)
    def test_gives_the_message_that_its_chunks_make(
        self, events: list[dict[str, Any]], turns: list[dict[str, Any]]
    ):
        """
        Words, calls, reasoning and refusals are joined, and the last chunk has the usage.
        """
        before = json.loads(json.dumps(events))
        (loaded,) = reply(iter(events))

        assert turns == dump([loaded])
        assert "chatcmpl-12345678" == loaded.id
        assert before == events

    @pytest.mark.parametrize("events", [events for events, _ in STREAMS])
    def test_reads_the_clients_own_chunks(self, events: list[dict[str, Any]]):
        """
        The client's objects, and the events of its stream helper, say what their dicts say.
        """
        chat = pytest.importorskip("openai.types.chat")
        made = [chat.ChatCompletionChunk.model_construct(**event) for event in events]
        helper = [{"type": "content.done"}, *({"type": "chunk", "chunk": e} for e in events)]

        assert dump(reply(events)) == dump(reply(made))
        assert reply(events) == reply(helper)

    def test_keeps_the_usage_and_the_reason(self):
        """
        What is said of the answer is kept with it.
        """
        received = reply(STREAMS[0][0])[0].extra.value["openai_chat"]["inner"]["received"]

        assert {"total_tokens": 2} == received["usage"]
        assert "stop" == received["choice"]["finish_reason"]
        assert "obfuscation" not in received

    @given(st.lists(st.lists(shaped(DELTA), max_size=2), max_size=4))
    def test_any_chunks_are_read_or_refused(self, deltas: list[list[dict[str, Any]]]):
        """
        Whatever the deltas are, they make a message or an error of ours.
        """
        try:
            messages = reply([chunk(*given) for given in deltas])
        except (FormatError, ConfigError):
            return

        assert isinstance(dump(messages), list)

    @pytest.mark.parametrize("finish", [None, ""])
    def test_refuses_one_that_broke_off(self, finish: str | None):
        """
        The API's last choice says a finish reason; some servers' chunks say "" until then.
        """
        events = [chunk({"content": text}, finish=finish) for text in ("Hel", "lo")]
        with pytest.raises(FormatError, match="broke off, none of its 2 chunks has a finish_reas"):
            reply(events)
        with pytest.raises(FormatError, match="broke off"):
            reply([chunk(usage=None, prompt_filter_results=[]), *events])

        assert "Hello" == reply([*events, chunk({}, finish="stop")])[0].text

    def test_takes_what_other_servers_end_with(self):
        """
        Usage after the last choice, or chunks that never speak of a finish reason.
        """
        events = [chunk({"content": text}) for text in ("Hel", "lo")]
        silent = [chunk(choices=[{"delta": {"content": text}}]) for text in ("Hel", "lo")]

        assert "Hello" == reply([*events, chunk(usage={"total_tokens": 2})])[0].text
        assert "Hello" == reply(silent)[0].text

    def test_passes_over_what_is_no_chunk(self):
        """
        Other choices, and calls that are no objects, are none of the message.
        """
        other = {"index": 1, "delta": {"content": "other"}}
        calls = {"tool_calls": [None, CALL]}

        assert [calling(CALL)] == dump(
            reply([chunk(choices=[other, None, {"delta": None}, {"delta": calls}])])
        )

    def test_joins_sound(self):
        """
        Pieces of base64 that are padded each are one sound.
        """
        pieces = [base64.b64encode(piece).decode() for piece in (b"a", b"bc", b"def")]
        events = [chunk({"audio": {"id": "a1", "data": piece}}) for piece in pieces]
        events += [chunk({"audio": {"transcript": "Hi"}}), chunk({"audio": {"expires_at": 9}})]
        events.append(chunk({}, finish="stop"))
        (heard,) = reply(events)[0].parts

        data = base64.b64encode(b"abcdef").decode()
        extra = {"openai_chat": {"source": "file"}}
        assert Audio(data, file="a1", transcript="Hi", extra=extra) == heard

    @pytest.mark.parametrize("data", [["aa=", "bb"], ["aGk=", "="]])
    def test_joins_sound_that_is_no_base64_as_it_comes(self, data: list[str]):
        """
        What cannot be decoded is not lost.
        """
        events = [chunk({"audio": {"id": "a1", "data": piece}}, finish="stop") for piece in data]
        (heard,) = reply(events)[0].parts

        assert "".join(data) == heard.data  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def turns_of_the_client():
    chat = pytest.importorskip("openai.types.chat")
    return pytest.importorskip("pydantic").TypeAdapter(list[chat.ChatCompletionMessageParam])


def is_valid(adapter: Any, turns: list[dict[str, Any]]) -> bool:
    """
    Whether the client's types take the turns, to the last item of each iterable.
    """
    try:
        exhaust(adapter.validate_python(turns))
    except ValueError:
        return False

    return True


def exhaust(value: Any) -> None:
    if isinstance(value, dict):
        for inner in value.values():
            exhaust(inner)
    elif not isinstance(value, str | int | float | None):
        for inner in value:
            exhaust(inner)


class TestTheClientsTypes:
    def test_take_what_is_built_by_hand(self, turns_of_the_client: Any):
        """
        Messages of every part are sent in a form that the client knows.
        """
        everything = [
            Text("a"),
            Image("aGk=", media_type="image/png"),
            Image(url="https://x.org/a", detail="low"),
            Image(file="f1"),
            Document("aGk=", name="a.pdf"),
            Document(text="b"),
            Document(url="https://x.org/a"),
            Document(file="f1"),
            Audio("aGk="),
            Audio("aGk=", media_type="audio/ogg"),
            Audio(file="a1"),
            Reasoning("hm", signature="c2ln"),
            Opaque("gemini", {"x": 1}),
            ToolCall("c1", "now"),
        ]
        result = ToolResult("c1", [part for part in everything if type(part) in RESULTS])
        for role in ("system", "developer", "user", "assistant", "tool", "critic"):
            mended = request([user("hi"), Message(role, [*everything, result])])["messages"]

            assert is_valid(turns_of_the_client, mended)

    @given(generated())
    def test_take_generated_transcripts(self, turns_of_the_client: Any, messages: Any):
        """
        Whatever a log holds, its request is in a form that the client knows.
        """
        assert is_valid(turns_of_the_client, request(messages)["messages"])

    @needs_shared
    def test_take_real_conversations_of_every_api(self, turns_of_the_client: Any):
        """
        A real body that is valid stays so, and that of another API becomes so.
        """
        checked = 0
        for body in shapes():
            form = importlib.import_module(f"unabridged.formats.{FORMATS[body['api']]}")
            turns = request(form.load(body["messages"], body["system"]))["messages"]
            if body["api"] == "chat" and not is_valid(turns_of_the_client, body["messages"]):
                continue
            checked += 1

            assert is_valid(turns_of_the_client, turns), (body["api"], turns)
        assert checked > 200


class TestAcross:
    @needs_shared
    @pytest.mark.parametrize("api", ["anthropic", "gemini", "bedrock", "responses"])
    def test_keeps_words_calls_and_results_of_another_api(self, api: str):
        """
        What another API loaded is sent here with all its words, calls and results.
        """
        form = importlib.import_module(f"unabridged.formats.{FORMATS[api]}")
        for body in shapes():
            if body["api"] != api:
                continue
            messages = form.load(body["messages"])
            again = load(dump(messages))

            assert said_in(messages) == said_in(again)


def said_in(messages: Any) -> dict[str, Any]:
    parts = [part for message in messages for part in message.parts]
    return {
        "texts": [part.text for part in parts if isinstance(part, Text) and part.text],
        "calls": [(p.id, p.name, p.arguments) for p in parts if isinstance(p, ToolCall)],
        "results": [(p.call_id, p.text) for p in parts if isinstance(p, ToolResult)],
    }


@needs_shared
class TestRealTranscripts:
    @pytest.mark.parametrize(
        "name", ["tau_airline", "pi_coding", "swe_agent", "crosswoz", "locomo", "api_shapes"]
    )
    def test_come_back_as_they_were(self, name: str):
        """
        Every conversation of the real transcripts is lossless.
        """
        lines = (SHARED / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        for line in lines:
            found = json.loads(line)
            if found.get("api", "chat") != "chat":
                continue
            messages = load(found["messages"])

            assert found["messages"] == dump(messages)
            assert messages == load(dump(messages))
            assert (
                found["messages"]
                == dump(load(found["messages"], found.get("system")))[
                    1 if found.get("system") else 0 :
                ]
            )

    def test_reported_cases_come_back_or_name_the_key(self, monkeypatch: pytest.MonkeyPatch):
        """
        Every case that users reported is lossless, unless JSON cannot hold it.
        """
        monkeypatch.syspath_prepend(str(SHARED / "cases"))
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        import load as cases  # noqa: PLC0415  stands outside the project

        refused = []
        for case in cases.load():
            try:
                assert case["messages"] == dump(load(case["messages"]))
            except ConfigError as error:
                refused.append(str(error))

        assert ["messages[0].metadata.at: JSON cannot hold a datetime; convert it first"] == refused
