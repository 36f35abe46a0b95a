"""
OpenAI Chat Completions: nothing is lost between `load` and `dump`.
"""

import base64
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
from unabridged.formats.openai_chat import dump, load
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

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the shared transcripts are not beside the project"
)

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
TURN += " audio function_call refusal is_error encrypted_content x"

turns_like = st.lists(
    st.tuples(chat_value("role"), shaped(TURN), st.booleans()).map(
        lambda drawn: {"role": drawn[0], **drawn[1]} | ({"tool_call_id": "c1"} if drawn[2] else {})
    ),
    max_size=3,
)


class TestLoad:
    def test_is_public(self):
        """
        The format's public names are `dump` and `load`.
        """
        assert ["dump", "load"] == openai_chat.__all__

    @pytest.mark.parametrize(
        ("turn", "message"),
        [
            ({"role": "user", "content": "hi"}, user("hi")),
            ({"role": "user", "content": ""}, user("")),
            ({"role": "user", "content": "hi", "name": "ann"}, user("hi", name="ann")),
            ({"role": "user", "content": "hi", "name": ""}, user("hi", name="")),
            ({"role": "system", "content": "Be brief."}, system("Be brief.")),
            ({"role": "developer", "content": "x"}, Message("developer", "x")),
            ({"role": "function", "name": "f", "content": "x"}, Message("function", "x", name="f")),
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
            ({"type": "file", "file": {"file_id": "f1"}}, Document(file="f1")),
            (
                {
                    "type": "file",
                    "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="},
                },
                Document("aGk=", name="a.pdf", media_type="application/pdf"),
            ),
            (
                {"type": "file", "file": {"file_data": "https://x.org/a.pdf"}},
                Document(url="https://x.org/a.pdf"),
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
                Opaque("openai_chat", {"type": "refusal", "refusal": "No."}),
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

        assert (
            Audio(file="a1", transcript="Hi.", extra={"openai_chat": {"keys": {"expires_at": 9}}}),
        ) == one(turn).parts
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
                [{"role": "tool", "content": ""}],
                "messages[0].tool_call_id: expected text, got nothing",
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
            Document(url="https://x.org/a.pdf", name="a.pdf"),
        ]

        assert [
            said(
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
                {"type": "file", "file": {"file_data": "data:application/pdf;base64,aGk="}},
                {"type": "text", "text": "words"},
                {
                    "type": "file",
                    "file": {"filename": "a.pdf", "file_data": "https://x.org/a.pdf"},
                },
            )
        ] == dump([user(parts)])
        assert [{"role": "user", "content": "words"}] == dump([user(Document(text="words"))])

    @pytest.mark.parametrize(
        ("message", "text"),
        [
            (user(Image(file="f1")), "messages[0]: the Chat API takes an Image by data or url"),
            (user(Audio(url="https://x.org")), "messages[0]: the Chat API takes Audio by data"),
            (user(Document()), "messages[0]: a Document without text, data, url or file id"),
            (
                assistant([Audio(file="a1"), Audio(file="a2")]),
                "messages[0]: the Chat API takes one Audio in a message",
            ),
            ({"role": "user"}, "messages[0]: expected a Message, got an object"),
        ],
    )
    def test_refuses_what_the_api_has_no_form_for(self, message: Any, text: str):
        """
        A part that cannot be sent is refused with its place, never left out in silence.
        """
        with pytest.raises(FormatError) as caught:
            dump([message])

        assert str(caught.value).startswith(text)

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
