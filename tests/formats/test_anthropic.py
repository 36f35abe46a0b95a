"""
Anthropic Messages: nothing is lost between `load` and `dump`, and what is dumped is sendable.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from unabridged.errors import ConfigError, FormatError
from unabridged.formats import anthropic, openai_chat
from unabridged.formats.anthropic import dump, load, reply, request
from unabridged.formats.anthropic_blocks import left_out
from unabridged.messages import (
    Audio,
    Document,
    Image,
    Message,
    Opaque,
    Part,
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

CACHED = {"cache_control": {"type": "ephemeral"}}
WORDS = {"type": "text", "text": "Looking."}
USE = {"type": "tool_use", "id": "c1", "name": "now", "input": {"tz": 1.5}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "noon"}
THOUGHT = {"type": "thinking", "thinking": "hm\n", "signature": "c2ln=="}
SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}


def ours(**hints: Any) -> dict[str, Any]:
    return {"anthropic": hints}


def one(turn: dict[str, Any]) -> Message:
    (message,) = load([turn])
    return message


def said(*blocks: Any, role: str = "user", **keys: Any) -> dict[str, Any]:
    return {"role": role, "content": list(blocks), **keys}


def source(kind: str, source_type: str, **keys: Any) -> dict[str, Any]:
    return {"type": kind, "source": {"type": source_type, **keys}}


def received(message: Message) -> Any:
    return message.extra.value["anthropic"]["inner"]["received"]


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
TYPES = """text image document thinking redacted_thinking tool_use tool_result search_result
    server_tool_use web_search_tool_result compaction container_upload tool_addition"""
BLOCK = """type text source title context citations cache_control thinking signature data id
    name input tool_use_id content is_error file_id"""
SHAPES = {
    "text": "text citations",
    "image": "source cache_control",
    "document": "source title context citations",
    "thinking": "thinking signature",
    "redacted_thinking": "data",
    "tool_use": "input caller",
    "tool_result": "content is_error cache_control",
}
ALWAYS = {"tool_use": {"id": "c1", "name": "now"}, "tool_result": {"tool_use_id": "c1"}}


def value(key: str) -> st.SearchStrategy[Any]:
    texts = st.sampled_from(["", "hi", "c1", "https://x.org/a", "data:image/png;base64,aGk="])
    known = {
        "role": st.sampled_from(["user", "assistant", "system", "tool", "developer", "critic"]),
        "type": st.sampled_from([*TYPES.split(), "base64", "url", "file", "content"]),
        "media_type": st.sampled_from(["image/png", "image/jpg", "application/pdf", "text/plain"]),
        "source": sources | shaped("type media_type data url file_id content x"),
        "input": anything | st.just({"a": [1, 1.5]}),
        "is_error": st.booleans() | st.none(),
        "citations": st.none() | st.just({"enabled": True}) | st.just([{"type": "char_location"}]),
        "cache_control": st.just({"type": "ephemeral"}) | st.none(),
        "content": texts | st.none() | st.lists(blocks | shaped(BLOCK), max_size=3),
    }
    ordinary = known.get(key, texts)

    return st.integers(0, 9).flatmap(lambda die: anything if die == 0 else ordinary)


def shaped(keys: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.deferred(
        lambda: st.lists(st.sampled_from(keys.split()), unique=True, max_size=6).flatmap(
            lambda chosen: st.fixed_dictionaries({key: value(key) for key in chosen})
        )
    )


sources = st.deferred(
    lambda: st.sampled_from(
        ["base64 media_type data", "url url", "file file_id", "text media_type data"]
    ).flatmap(
        lambda kind: st.fixed_dictionaries(
            {"type": st.just(kind.split()[0]), **{key: value(key) for key in kind.split()[1:]}}
        )
    )
)
blocks = st.deferred(
    lambda: st.sampled_from(sorted(SHAPES)).flatmap(
        lambda kind: shaped(f"{SHAPES[kind]} x").map(
            lambda drawn: {"type": kind, **ALWAYS.get(kind, {}), **drawn}
        )
    )
)
turns_like = st.lists(
    st.tuples(value("role"), shaped("content id name x"), value("content")).map(
        lambda drawn: {"role": drawn[0], "content": drawn[2], **drawn[1]}
    ),
    max_size=3,
)


class TestLoad:
    def test_is_public(self):
        """
        The format's public names are those of every format.
        """
        assert ["dump", "load", "reply", "request"] == anthropic.__all__

    @pytest.mark.parametrize(
        ("turn", "message"),
        [
            ({"role": "user", "content": "hi"}, user("hi")),
            ({"role": "assistant", "content": ""}, assistant("")),
            ({"role": "user", "content": []}, user(())),
            (said(WORDS, {"type": "text", "text": "b"}), user(["Looking.", "b"])),
            (
                said(WORDS, USE, role="assistant"),
                assistant("Looking.", calls=[ToolCall("c1", "now", '{"tz":1.5}')]),
            ),
            (said(RESULT), user(ToolResult("c1", "noon"))),
            (said(RESULT | {"is_error": True}), user(ToolResult("c1", "noon", is_error=True))),
            (said({"type": "tool_result", "tool_use_id": "c1"}), user(ToolResult("c1"))),
            (
                said(RESULT | {"content": [WORDS, source("image", "url", url="https://x.org/a")]}),
                user(ToolResult("c1", ["Looking.", Image(url="https://x.org/a")])),
            ),
            (
                said(source("document", "url", url="https://x.org/a") | {"title": "A"}),
                user(Document(url="https://x.org/a", name="A")),
            ),
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
        ("block", "part"),
        [
            (WORDS | CACHED, Text("Looking.", extra=ours(keys=CACHED))),
            (
                source("image", "base64", media_type="image/jpeg", data="aGk="),
                Image("aGk=", media_type="image/jpeg"),
            ),
            (
                source("image", "url", url="https://x.org/a", ttl=1) | CACHED,
                Image(url="https://x.org/a", extra=ours(inner={"ttl": 1}, keys=CACHED)),
            ),
            (
                source("document", "base64", media_type="application/pdf", data="aGk="),
                Document("aGk=", media_type="application/pdf"),
            ),
            (
                source("image", "file", file_id="f1"),
                Image(file="f1", extra=ours(source="file")),
            ),
            (
                source("document", "file", file_id="f1", ttl=1) | {"title": "A"},
                Document(file="f1", name="A", extra=ours(source="file", inner={"ttl": 1})),
            ),
            (
                source("document", "text", media_type="text/plain", data="Be kind.")
                | {"context": "rules", "citations": {"enabled": True}},
                Document(
                    text="Be kind.",
                    media_type="text/plain",
                    extra=ours(keys={"context": "rules", "citations": {"enabled": True}}),
                ),
            ),
            (THOUGHT, Reasoning("hm\n", signature="c2ln==", extra=ours(**{"as": "thinking"}))),
            (
                {"type": "thinking", "thinking": "hm", "signature": ""},
                Reasoning("hm", extra=ours(**{"as": "thinking", "keys": {"signature": ""}})),
            ),
            (
                {"type": "redacted_thinking", "data": "c2ln=="},
                Reasoning(encrypted="c2ln==", extra=ours(**{"as": "redacted_thinking"})),
            ),
            (
                USE | {"caller": {"type": "direct"}},
                ToolCall(
                    "c1", "now", '{"tz":1.5}', extra=ours(keys={"caller": {"type": "direct"}})
                ),
            ),
            (USE | {"input": None}, ToolCall("c1", "now", "null", extra=ours(input="bare"))),
            (USE | {"input": "{"}, ToolCall("c1", "now", '"{"', extra=ours(input="bare"))),
            (
                {"type": "tool_use", "id": "c1", "name": "now"},
                ToolCall("c1", "now", extra=ours(input="missing")),
            ),
            (
                RESULT | {"content": [WORDS], "is_error": False},
                ToolResult("c1", "Looking.", extra=ours(content="list", is_error="false")),
            ),
            (RESULT | {"content": None}, ToolResult("c1", extra=ours(content="null"))),
            (RESULT | {"content": []}, ToolResult("c1", extra=ours(content="empty"))),
            (
                RESULT | {"is_error": None} | CACHED,
                ToolResult("c1", "noon", extra=ours(keys={"is_error": None, **CACHED})),
            ),
        ],
    )
    def test_reads_each_block(self, block: dict[str, Any], part: Part):
        """
        A block becomes one part of the message, and comes back as it was.
        """
        role = "user" if isinstance(part, Image | Document) else "assistant"

        assert (part,) == one(said(block, role=role)).parts
        assert [said(block, role=role)] == dump([Message(role, part)])

    def test_keeps_a_picture_of_an_assistant_whole(self):
        """
        The API takes none from it, so it is nothing that another provider could get from here.
        """
        picture = {"type": "image", "source": {"type": "file", "file_id": "f1"}}
        turn = said(picture, role="assistant")

        assert isinstance(one(turn).parts[0], Opaque)
        assert [turn] == dump([one(turn)])
        assert "image: Anthropic takes none from an assistant" == (
            left_out(Image(file="f1"), "assistant")
        )

    @pytest.mark.parametrize(
        "block",
        [
            SEARCH,
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
            {"type": "search_result", "source": "https://x.org", "title": "A", "content": []},
            {"type": "compaction", "content": "Summary.", "signature": "c2ln=="},
            {"type": "container_upload", "file_id": "f1"},
            {"type": ["text"], "text": "hi"},
            {"text": "hi"},
            {"type": "text", "text": 1},
            {"type": "thinking", "signature": "c2ln"},
            {"type": "redacted_thinking"},
            source("document", "content", content=[WORDS]),
            source("document", "base64", media_type="text/csv", data="YSxi"),
            source("image", "base64", media_type="image/jpg", data="aGk="),
            source("image", "base64", media_type="image/png", data=""),
            source("image", "url", url="data:image/png;base64,aGk="),
            source("image", "text", media_type="text/plain", data="cat"),
        ],
    )
    def test_keeps_any_other_block_whole(self, block: dict[str, Any]):
        """
        A block that no part can give back exactly is opaque, in its place.
        """
        turn = said(WORDS, block, USE, role="assistant")

        assert Opaque("anthropic", block) == one(turn).parts[1]
        assert [turn] == dump(load([turn]))

    @pytest.mark.parametrize(
        ("role", "block"), [("user", USE), ("user", THOUGHT), ("system", RESULT), ("tool", USE)]
    )
    def test_keeps_a_block_whole_where_its_role_has_none(self, role: str, block: dict[str, Any]):
        """
        A call that a user makes is no call of the conversation, but it comes back.
        """
        assert (Opaque("anthropic", block),) == one(said(block, role=role)).parts
        assert [said(block, role=role)] == dump(load([said(block, role=role)]))

    @pytest.mark.parametrize(
        "block",
        [
            {"type": "tool_reference", "tool_name": "now"},
            {"type": "search_result", "source": "x", "title": "A", "content": [WORDS]},
            USE,
            THOUGHT,
        ],
    )
    def test_keeps_other_blocks_in_a_result_whole(self, block: dict[str, Any]):
        """
        In a result only words, pictures and documents are parts.
        """
        turn = said(RESULT | {"content": [WORDS, block]})

        assert (Text("Looking."), Opaque("anthropic", block)) == one(turn).tool_results[0].content
        assert [turn] == dump(load([turn]))

    @pytest.mark.parametrize(
        "turn",
        [
            {"role": "user"},
            {"role": "user", "content": None},
            said(WORDS),
            {"role": "assistant", "content": "hi", "id": "msg_12345678", "type": "message"},
            {"role": "tool", "content": "noon"},
            {"role": "developer", "content": "Be brief."},
            {"role": "critic", "content": "No.", "name": "ann"},
            {"role": "system", "content": "Be brief."},
            said({"type": "tool_addition", "tool": {"type": "tool_reference"}}, role="system"),
        ],
    )
    def test_other_forms_come_back_as_they_were(self, turn: dict[str, Any]):
        """
        Roles, forms of the content and keys that the API does not know are kept too.
        """
        assert [turn] == dump(load([turn]))

    @pytest.mark.parametrize(
        ("prompt", "message"),
        [
            ("Be brief.", system("Be brief.")),
            ([WORDS, WORDS], system(["Looking.", "Looking."])),
            ([WORDS], Message("system", "Looking.", extra=ours(content="list"))),
            ([WORDS | CACHED], system(Text("Looking.", extra=ours(keys=CACHED)))),
        ],
    )
    def test_puts_the_prompt_first(self, prompt: Any, message: Message):
        """
        The prompt is the first message; `dump` has it not, and `request` as it was.
        """
        turns = [{"role": "user", "content": "hi"}]

        assert (message, user("hi")) == load(turns, prompt)
        assert turns == dump(load(turns, prompt))
        assert {"system": prompt, "messages": turns} == request(load(turns, prompt))

    @pytest.mark.parametrize("prompt", ["", [{"type": "text", "text": ""}]])
    def test_an_empty_prompt_is_a_message_too(self, prompt: Any):
        """
        A prompt without words is kept; `request` fills it, as all that the API wants filled.
        """
        (message,) = load([], prompt)

        assert ("system", "") == (message.role, message.text)
        assert request([message, user("hi")])["system"]

    def test_a_prompt_of_nothing_stays_nothing(self):
        """
        The API takes an empty list.
        """
        (message,) = load([], [])

        assert [] == request([message, user("hi")])["system"]

    @pytest.mark.parametrize(
        ("turns", "text"),
        [
            ({}, "messages: expected a list, got an object"),
            ([None], "messages[0]: expected an object, got null"),
            ([{}], "messages[0].role: expected a word such as 'user', got nothing"),
            ([{"role": " "}], "messages[0].role: expected a word such as 'user', got text"),
            (
                [{"role": "user", "content": 1}],
                "messages[0].content: expected text or a list of blocks, got a number",
            ),
            ([said("hi")], "messages[0].content[0]: expected an object, got text"),
            (
                [said({"type": "image"})],
                "messages[0].content[0].source: expected an object, got nothing",
            ),
            ([said(USE | {"id": 1})], "messages[0].content[0].id: expected text, got a number"),
            (
                [said({"type": "tool_use", "id": "c1"}, role="assistant")],
                "messages[0].content[0].name: expected text, got nothing",
            ),
            (
                [said(RESULT, RESULT | {"tool_use_id": 5})],
                "messages[0].content[1].tool_use_id: expected text, got a number",
            ),
            (
                [said(RESULT | {"content": [[]]})],
                "messages[0].content[0].content[0]: expected an object, got a list",
            ),
            (
                [said(RESULT | {"content": {}})],
                "messages[0].content[0].content: expected text or a list of blocks, got an object",
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
        The system may be text or a list of blocks.
        """
        with pytest.raises(FormatError, match=r"^system: expected text or a list of blocks, got a"):
            load([], 1)  # type: ignore[arg-type]
        with pytest.raises(FormatError, match=r"^system\[1\]: expected an object, got text"):
            load([], [WORDS, "hi"])

    @pytest.mark.parametrize(
        ("turn", "text"),
        [
            (
                {"role": "user", "content": "hi", "at": {1}},
                "messages[0].at: JSON cannot hold a set; convert it first",
            ),
            (
                said(USE | {"input": {"at": b""}}, role="assistant"),
                "messages[0].content[0].input.at: JSON cannot hold a bytes; convert it first",
            ),
            (
                said(SEARCH | {"input": float("nan")}),
                (
                    "messages[0].content[0].input: JSON cannot hold the float nan; use None or a "
                    "string"
                ),
            ),
        ],
    )
    def test_names_the_key_that_json_cannot_hold(self, turn: dict[str, Any], text: str):
        """
        What JSON cannot hold is refused under the path where the caller wrote it.
        """
        with pytest.raises(ConfigError) as caught:
            load([turn])

        assert text == str(caught.value)

    def test_keeps_nothing_of_the_callers(self):
        """
        Changing a dict after loading it changes no message.
        """
        turn = said(SEARCH | {"y": [1]}, USE | {"input": {"a": [1]}}, role="assistant", z=[1])
        before = json.loads(json.dumps(turn))
        messages = load([turn])
        for changed in (
            turn["content"],
            turn["content"][0]["y"],
            turn["content"][1]["input"]["a"],
            turn["z"],
        ):
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

    @given(value("content") | anything)
    def test_any_prompt_loads_or_is_refused(self, prompt: Any):
        """
        Any prompt gives a message that is no turn, or an error of ours.
        """
        try:
            messages = load([], prompt)
        except (FormatError, ConfigError):
            return

        assert [] == dump(messages)


class TestDump:
    @pytest.mark.parametrize(
        ("part", "block"),
        [
            (Text("hi", extra={"openai_chat": {"keys": {"x": 1}}}), {"type": "text", "text": "hi"}),
            (
                Image("aGk=", detail="low", width=9),
                source("image", "base64", media_type="image/png", data="aGk="),
            ),
            (
                Image("aGk=", media_type="image/jpg"),
                source("image", "base64", media_type="image/jpeg", data="aGk="),
            ),
            (
                Image(url="data:image/gif;base64,aGk="),
                source("image", "base64", media_type="image/gif", data="aGk="),
            ),
            (
                Image(url="https://x.org/a", media_type="image/webp"),
                source("image", "url", url="https://x.org/a"),
            ),
            (Image(file="f1"), source("image", "file", file_id="f1")),
            (
                Document("aGk=", name="a.pdf"),
                source("document", "base64", media_type="application/pdf", data="aGk=")
                | {"title": "a.pdf"},
            ),
            (
                Document("w6QsYg==", media_type="text/csv"),
                source("document", "text", media_type="text/plain", data="ä,b"),
            ),
            (
                Document(text="Be kind."),
                source("document", "text", media_type="text/plain", data="Be kind."),
            ),
            (Document(url="https://x.org/a"), source("document", "url", url="https://x.org/a")),
            (Document(file="f1"), source("document", "file", file_id="f1")),
        ],
    )
    def test_gives_parts_made_by_hand_their_form(self, part: Part, block: dict[str, Any]):
        """
        Pictures and files made by hand get the form that the API takes, in results too.
        """
        words = {"type": "text", "text": "see"}

        assert [said(words, block)] == dump([user(["see", part])])
        assert [said({**RESULT, "content": [words, block]})] == dump(
            [tool(["see", part], call_id="c1")]
        )

    @pytest.mark.parametrize(
        ("arguments", "given"),
        [
            ('{"q": 1.50}', {"q": 1.5}),
            ("", {}),
            ('{"q": ', {"arguments": '{"q": '}),
            ("[1]", {"arguments": "[1]"}),
            ('{"q": NaN}', {"arguments": '{"q": NaN}'}),
            ('{"q": 1e999}', {"arguments": '{"q": 1e999}'}),
            ("[" * 100_000, {"arguments": "[" * 100_000}),
        ],
        ids=range(7),
    )
    def test_sends_arguments_as_an_object(self, arguments: str, given: dict[str, Any]):
        """
        Arguments that say an object are sent as that, others inside of one.
        """
        call = ToolCall("c1", "now", arguments)

        assert [said(USE | {"input": given}, role="assistant")] == dump([assistant(calls=[call])])

    def test_sends_changed_calls_and_results(self):
        """
        What was changed by hand is sent, also where it was loaded from another shape.
        """
        bare, missing = load(
            [
                said(USE | {"input": "x"}, role="assistant"),
                said({"type": "tool_use", "id": "c1", "name": "now"}, role="assistant"),
            ]
        )
        calls = [evolve(message.tool_calls[0], arguments='{"a":1}') for message in (bare, missing)]
        failed = evolve(one(said(RESULT | {"is_error": False})).tool_results[0], is_error=True)

        assert [said(USE | {"input": {"a": 1}}, USE | {"input": {"a": 1}}, role="assistant")] == (
            dump([assistant(calls=calls)])
        )
        assert [said(RESULT | {"is_error": True})] == dump([user(failed)])

    @pytest.mark.parametrize(
        ("message", "turns"),
        [
            (tool("noon", call_id="c1"), [said(RESULT)]),
            (tool(call_id="c1"), [said({"type": "tool_result", "tool_use_id": "c1"})]),
            (
                Message("tool", (ToolResult("c1", "noon"), ToolResult("c2", "one"))),
                [said(RESULT, {"type": "tool_result", "tool_use_id": "c2", "content": "one"})],
            ),
            (
                user([ToolResult("c1", "noon"), Text("Go on.")], name="ann"),
                [said(RESULT, {"type": "text", "text": "Go on."})],
            ),
            (Message("critic", "No."), [{"role": "user", "content": "No."}]),
            (
                Message("critic", ToolCall("c1", "now", {"tz": 1.5})),
                [said(USE, role="assistant")],
            ),
            (user("hi", id="m1", metadata={"a": 1}), [{"role": "user", "content": "hi"}]),
            (assistant(), [{"role": "assistant", "content": []}]),
            (assistant(Reasoning("hm", signature="x")), []),
            (user([Audio("aGk="), "hear"]), [{"role": "user", "content": "hear"}]),
            (
                tool(Audio("aGk="), call_id="c1"),
                [said({"type": "tool_result", "tool_use_id": "c1"})],
            ),
        ],
    )
    def test_writes_messages_made_by_hand(self, message: Message, turns: list[dict[str, Any]]):
        """
        Each role has a turn of the API; a message of nothing that it can carry has none.
        """
        assert turns == dump([message])

    def test_leaves_out_the_prompt_and_nothing_else_of_the_system(self):
        """
        System messages before all others are the prompt, later ones are turns.
        """
        late = {"role": "system", "content": "Be kind."}
        talk = [
            system("Be brief."),
            Message("developer", "Rhyme."),
            user("hi"),
            Message("developer", "Be kind."),
        ]

        assert [{"role": "user", "content": "hi"}, late] == dump(talk)
        assert [late] == dump(load([late]))

    def test_refuses_what_is_no_message(self):
        """
        Something else among the messages is refused with its place.
        """
        with pytest.raises(FormatError, match=r"^messages\[1\]: expected a Message, got an object"):
            dump([user("hi"), {"role": "user"}])  # type: ignore[list-item]

    @pytest.mark.parametrize("extra", [["no dict"], ours(keys=1, inner=1), {"anthropic": "no"}])
    def test_ignores_an_extra_of_no_format(self, extra: Any):
        """
        An extra made by hand of something else is not sent.
        """
        parts = [Text("hi", extra=extra), Image(file="f1", extra=extra)]

        assert [said({"type": "text", "text": "hi"}, source("image", "file", file_id="f1"))] == (
            dump([Message("user", parts, extra=extra)])
        )

    def test_is_fresh_each_time(self):
        """
        Two dumps share no dict.
        """
        messages = load(
            [said(SEARCH, USE | {"x": [1]}, source("image", "url", url="https://x.org", y=[1]))]
        )
        first = dump(messages)
        untouched = json.loads(json.dumps(first))
        for changed in first[0]["content"]:
            changed["x"] = [*changed.pop("x", []), 2]
        first[0]["content"][2]["source"]["y"].append(2)

        assert untouched == dump(messages)

    @given(generated())
    def test_any_messages_dump(self, messages: tuple[Message, ...]):
        """
        Whatever was built by hand has turns, and these load and dump to themselves.
        """
        turns = dump(messages)

        assert turns == dump(load(turns))


class TestLeftOut:
    @pytest.mark.parametrize(
        ("part", "role", "reason"),
        [
            (Text(""), "system", ""),
            (Audio("aGk="), "user", "audio: Anthropic takes none"),
            (Image(file="f1"), "user", ""),
            (
                Image("aGk=", media_type="image/bmp"),
                "user",
                "image: Anthropic takes JPEG, PNG, GIF and WebP, not image/bmp",
            ),
            (
                Image(url="file:cats/1.png"),
                "user",
                "image: Anthropic takes data, an https URL or a file id, and it has none",
            ),
            (
                Document(),
                "tool",
                "document: Anthropic takes data, an https URL or a file id, and it has none",
            ),
            (
                Document("gICA", media_type="text/csv"),
                "user",
                "document: Anthropic takes PDF and plain text, not text/csv",
            ),
            (
                Document(url="https://x.org/a.docx", media_type="application/msword"),
                "user",
                "document: Anthropic takes PDF and plain text, not application/msword",
            ),
            (Image(file="f1"), "system", "image: Anthropic takes only text in a system message"),
            (
                ToolResult("c1"),
                "developer",
                "tool result: Anthropic takes only text in a system message",
            ),
            (
                ToolCall("c1", "now"),
                "system",
                "tool call: Anthropic takes only text in a system message",
            ),
            (ToolCall("c1", "now"), "user", "tool call: only an assistant calls"),
            (ToolCall("c1", "now"), "critic", ""),
            (ToolResult("c1"), "assistant", ""),
            (Reasoning("hm", signature="x"), "assistant", "reasoning of another provider"),
            (Reasoning("hm", extra=ours(**{"as": "thinking"})), "assistant", ""),
            (
                Reasoning("hm", extra=ours(**{"as": "thinking"})),
                "user",
                "reasoning: only an assistant thinks",
            ),
            (Opaque("anthropic", SEARCH), "assistant", ""),
            (Opaque("anthropic", [SEARCH]), "assistant", "an opaque part that is no object"),
            (Opaque("gemini", {}), "assistant", "a part that only gemini understands"),
        ],
    )
    def test_says_why(self, part: Part, role: str, reason: str):
        """
        What `dump` leaves out has a reason, and what it writes has none.
        """
        assert reason == left_out(part, role)
        assert bool(reason) == (not dump([user("hi"), Message(role, part)])[1:])


def final(*content: Any, **keys: Any) -> dict[str, Any]:
    return {
        "id": "msg_12345678",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": list(content),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 9},
        **keys,
    }


CITED = {
    "type": "text",
    "text": "Noon.",
    "citations": [
        {
            "type": "char_location",
            "cited_text": "noon",
            "document_index": 0,
            "document_title": None,
            "start_char_index": 0,
            "end_char_index": 4,
            "file_id": None,
        }
    ],
}
REDACTED = {"type": "redacted_thinking", "data": "c2ln=="}
ANSWER = (
    THOUGHT,
    REDACTED,
    WORDS,
    USE | {"input": {"city": "Lima"}},
    USE | {"id": "c2", "input": {}},
    SEARCH,
    CITED,
)


def delta(index: int, kind: str, **keys: Any) -> dict[str, Any]:
    return {
        "type": "content_block_delta",
        "index": index,
        "delta": {"type": f"{kind}_delta", **keys},
    }


def streamed() -> Iterator[dict[str, Any]]:
    """
    The events of a stream that says ANSWER.
    """
    begun = final(stop_reason=None, usage={"input_tokens": 3, "output_tokens": 1})
    yield {"type": "message_start", "message": begun}
    yield {"type": "ping"}
    told: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                delta(0, "thinking", thinking="h"),
                delta(0, "thinking", thinking="m\n"),
                delta(0, "signature", signature="c2ln=="),
            ],
        ),
        (REDACTED, []),
        (WORDS | {"text": ""}, [delta(2, "text", text="Look"), delta(2, "text", text="ing.")]),
        (
            USE | {"input": {}},
            [
                delta(3, "input_json", partial_json=""),
                delta(3, "input_json", partial_json='{"city": "L'),
                delta(3, "input_json", partial_json='ima"}'),
            ],
        ),
        (USE | {"id": "c2", "input": {}}, [delta(4, "input_json", partial_json="")]),
        (SEARCH | {"input": {}}, [delta(5, "input_json", partial_json='{"query": "q"}')]),
        (
            {"type": "text", "text": "", "citations": []},
            [
                delta(6, "text", text="Noon."),
                delta(6, "citations", citation=CITED["citations"][0]),  # type: ignore[index]
            ],
        ),
    ]
    for index, (block, deltas) in enumerate(told):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield from deltas
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 9, "input_tokens": None},
    }
    yield {"type": "message_stop"}


class TestReply:
    def test_is_the_assistants_message(self):
        """
        A response is one message; what a request does not take back is kept, not sent.
        """
        (message,) = reply(final(*ANSWER))

        assert [said(*ANSWER, role="assistant")] == dump([message])
        assert ("assistant", "msg_12345678") == (message.role, message.id)
        assert ["c1", "c2"] == [call.id for call in message.tool_calls]
        assert {
            "type": "message",
            "model": "claude",
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 3, "output_tokens": 9},
        } == received(message)

    def test_puts_a_stream_together(self):
        """
        The events of a stream make the message that the response would have made.
        """
        assert reply(final(*ANSWER)) == reply(streamed())

    def test_drops_what_only_the_client_says(self):
        """
        Output that the client parsed is not kept in the block.
        """
        (message,) = reply(final(WORDS | {"parsed_output": {"a": 1}}))

        assert [said(WORDS, role="assistant")] == dump([message])

    @pytest.mark.parametrize("stop", ["pause_turn", "max_tokens", "refusal"])
    def test_takes_an_answer_that_stopped_early(self, stop: str):
        """
        A turn that pauses or was cut is a message like any other.
        """
        (message,) = reply(final(SEARCH, stop_reason=stop))

        assert [said(SEARCH, role="assistant")] == dump([message])
        assert stop == received(message)["stop_reason"]

    def test_takes_an_empty_answer(self):
        """
        An answer without a block is an empty message.
        """
        (message,) = reply(final())

        assert () == message.parts
        assert [message] == list(reply([*streamed_nothing()]))

    def test_takes_the_least_there_may_be(self):
        """
        A dict with nothing but a content is enough.
        """
        assert (assistant(["a", "b"]),) == reply(
            {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
        )

    def test_keeps_arguments_that_were_cut_short(self):
        """
        Arguments that broke off in a stream are kept as text, inside an object.
        """
        events = [event for event in streamed() if "ima" not in json.dumps(event)]
        (message,) = reply(events)

        assert {"arguments": '{"city": "L'} == json.loads(message.tool_calls[0].arguments)

    def test_takes_a_streamed_compaction(self):
        """
        A compaction comes in one delta.
        """
        first, *_, last = streamed_nothing()
        block = {"type": "compaction", "content": None}
        summed = {"content": "Summary.", "encrypted_content": "c2ln"}
        (message,) = reply(
            [
                first,
                {"type": "content_block_start", "index": 0, "content_block": block},
                delta(0, "compaction", **summed),
                last,
            ]
        )

        assert (Opaque("anthropic", block | summed),) == message.parts

    @pytest.mark.parametrize(
        ("response", "text"),
        [
            (
                {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
                "response: no message, but overloaded_error: Overloaded",
            ),
            ({"type": "error"}, "response: no message, but an error: None"),
            (
                final(stop_reason="refusal", stop_details={"category": "cyber"}),
                "response: no message, the model refused: {'category': 'cyber'}",
            ),
            ({}, "response.content: expected a list of blocks, got nothing"),
            (final("hi"), "response.content[0]: expected an object, got text"),
            (
                1,
                (
                    "response: expected a response of the client, its dict, "
                    "or the events of a stream, got a number"
                ),
            ),
            (
                [],
                (
                    "response: the stream has no message_start among its 0 events; "
                    "pass every event once it has ended, or stream.get_final_message()"
                ),
            ),
            (
                list(streamed())[:4],
                (
                    "response: the stream has no message_stop among its 4 events; "
                    "pass every event once it has ended, or stream.get_final_message()"
                ),
            ),
            (
                [
                    {"type": "ping"},
                    {"type": "error", "error": {"type": "api_error", "message": "No."}},
                ],
                "response: no message, but api_error: No.",
            ),
            (
                [*streamed(), *streamed()],
                "response[30]: a second message_start; pass the events of one response",
            ),
            (
                [{"type": "message_start"}],
                "response[0].message: expected an object, got nothing",
            ),
            (
                [{"type": "content_block_start", "content_block": {}}],
                "response[0].index: expected a number, got nothing",
            ),
            (
                [delta(7, "text", text="a")],
                "response[0].index: expected a block that has started, got 7",
            ),
            (
                [*list(streamed())[:3], delta(0, "text", text=None)],
                "response[3].delta.text: expected text, got null",
            ),
            (
                [*list(streamed())[:3], delta(0, "smell", smell="a")],
                (
                    "response[3].delta: 'smell_delta' is a delta not known here; "
                    "pass stream.get_final_message() instead of the events"
                ),
            ),
        ],
    )
    def test_refuses_a_response_without_a_message(self, response: Any, text: str):
        """
        An error, an empty refusal or a stream that broke off says what it says.
        """
        with pytest.raises(FormatError) as caught:
            reply(response)

        assert text == str(caught.value)

    @given(
        st.lists(
            st.fixed_dictionaries(
                {"type": st.sampled_from(["message_start", "message_delta", "message_stop"])},
                optional={
                    "message": anything | st.just({"content": [], "usage": {}}),
                    "delta": anything | shaped("type text stop_reason"),
                    "usage": anything,
                },
            )
            | st.fixed_dictionaries(
                {
                    "type": st.sampled_from(["content_block_start", "content_block_delta"]),
                    "index": st.integers(0, 1),
                },
                optional={
                    "content_block": blocks,
                    "delta": st.sampled_from(
                        [
                            delta(0, kind, **keys)["delta"]
                            for kind, keys in {
                                "text": {"text": "a"},
                                "input_json": {"partial_json": "["},
                                "citations": {"citation": {}},
                                "signature": {"signature": "x"},
                                "thinking": {"thinking": "y"},
                            }.items()
                        ]
                    ),
                },
            ),
            max_size=5,
        ).map(
            lambda events: [
                {"type": "message_start", "message": {}},
                *events,
                {"type": "message_stop"},
            ]
        )
        | st.fixed_dictionaries({"content": value("content")})
        | anything
    )
    def test_any_json_is_a_message_or_refused(self, response: Any):
        """
        Whatever came back gives a message that can be sent, or an error of ours.
        """
        try:
            messages = reply(response)
        except (FormatError, ConfigError):
            return

        assert dump(messages) == dump(load(dump(messages)))


def streamed_nothing() -> Iterator[dict[str, Any]]:
    first, *_, almost, last = streamed()
    yield from (first, almost, last)


@needs_shared
class TestRealTranscripts:
    def test_come_back_as_they_were(self):
        """
        Every real request is lossless, its system through `request`.
        """
        for found in bodies("anthropic"):
            messages = load(found["messages"], found.get("system"))

            assert found["messages"] == dump(messages)
            assert found.get("system") == request(messages).get("system")

    def test_of_the_chat_api_lose_nothing_here(self):
        """
        A chat's words, calls and results are all in what is sent.
        """
        for found in bodies("chat"):
            messages = openai_chat.load(found["messages"])
            sent = load(dump(messages))
            rest = messages[next((at for at, m in enumerate(messages) if not is_system(m)), 0) :]

            assert [words(message) for message in rest if words(message)] == [
                words(message) for message in sent if words(message)
            ]
            assert calls_and_results(rest) == calls_and_results(sent)


def bodies(api: str) -> list[dict[str, Any]]:
    lines = (SHARED / "data" / "api_shapes.jsonl").read_text(encoding="utf-8").splitlines()
    return [body for body in map(json.loads, lines) if body["api"] == api]


def is_system(message: Message) -> bool:
    return message.role in ("system", "developer")


def words(message: Message) -> list[str]:
    texts = [part.text for part in message.parts if isinstance(part, Text | Document)]

    return [text for text in texts if text]  # a file of OpenAI's is left out


def calls_and_results(messages: Any) -> list[Any]:
    return [
        *(
            (call.id, call.name, json.loads(call.arguments))
            for m in messages
            for call in m.tool_calls
        ),
        *((result.call_id, result.text) for m in messages for result in m.tool_results),
    ]


class TestTheClient:
    """
    What is sent and what comes back, held against the types of the installed client.
    """

    @pytest.fixture
    def types(self) -> Any:
        return pytest.importorskip("anthropic.types.beta")

    def test_takes_each_block(self):
        """
        Each kind of block made here is one of the client's.
        """
        accepts(
            dump(
                [
                    user(["see", Image("aGk="), Image(url="https://x.org/a"), Image(file="f1")]),
                    assistant(["Looking.", *reply(final(THOUGHT, REDACTED))[0].parts]),
                    assistant(calls=[ToolCall("c1", "now"), ToolCall("c2", "now", "x")]),
                    Message("tool", (ToolResult("c1", ["a", Image("aGk=")]), ToolResult("c2"))),
                    user([Document("aGk=", name="a"), Document(text="x"), Document(file="f1")]),
                    system("Be kind."),
                ]
            )
        )

    def test_refuses_garbage(self):
        """
        The check is one: blocks of another form do not pass.
        """
        with pytest.raises(ValueError, match="validation error"):
            accepts([said({"type": "image", "source": {"type": "smell"}})])

    @given(generated())
    def test_takes_what_was_built_by_hand(self, messages: tuple[Message, ...]):
        """
        Any conversation, of whatever provider, is sent in the client's types.
        """
        bare = [evolve(message, parts=without_opaque(message.parts)) for message in messages]
        accepts(dump(bare))

    @needs_shared
    @pytest.mark.parametrize("api", ["anthropic", "chat"])
    def test_takes_real_conversations(self, api: str):
        """
        The real requests pass, and so do those of the Chat API.
        """
        for found in bodies(api):
            is_own = api == "anthropic"
            accepts(
                dump(load(found["messages"]) if is_own else openai_chat.load(found["messages"]))
            )

    def test_gives_objects_that_are_read(self, types: Any):
        """
        The client's own response, and the objects of its stream, give the same message.
        """
        response = types.BetaMessage.model_validate(final(*ANSWER))
        event_type = pytest.importorskip("pydantic").TypeAdapter(types.BetaRawMessageStreamEvent)
        events = [
            event_type.validate_python(event) for event in streamed() if event["type"] != "ping"
        ]

        assert as_sent(reply(final(*ANSWER))) == as_sent(reply(response)) == as_sent(reply(events))

    def test_streams_through_its_helper(self):
        """
        The helper's own events beside the raw ones change nothing, and its message is read.
        """
        client = pytest.importorskip("anthropic")
        httpx = pytest.importorskip("httpx2")
        body = "".join(
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in streamed()
        )

        def answered(_request: Any) -> Any:
            return httpx.Response(200, headers={"content-type": "text/event-stream"}, text=body)

        with (
            client.Anthropic(
                api_key="none", http_client=httpx.Client(transport=httpx.MockTransport(answered))
            ) as api,
            api.messages.stream(
                model="claude", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
            ) as stream,
        ):
            events = list(stream)
            last = stream.get_final_message()

        assert {"text", "input_json"} < {event.type for event in events}
        assert as_sent(reply(final(*ANSWER))) == as_sent(reply(events))
        assert dump(reply(final(*ANSWER))) == dump(reply(last))


@cache
def client_types() -> Any:
    types = pytest.importorskip("anthropic.types.beta")
    return pytest.importorskip("pydantic").TypeAdapter(list[types.BetaMessageParam])


def accepts(turns: list[dict[str, Any]]) -> None:
    """
    Raise for turns that are none of the client's types.
    """
    consumed(client_types().validate_python(turns))


def without_opaque(parts: Any) -> list[Part]:
    return [part for part in parts if not isinstance(part, Opaque)]


def as_sent(messages: Any) -> Any:
    """
    What is sent and kept; the client's objects say it in another order of keys.
    """
    return dump(messages), [message.id for message in messages], received(messages[0])


def consumed(checked: Any) -> None:
    """
    Walk it all: the client's types check what is iterable only when it is read.
    """
    if isinstance(checked, Mapping):
        for inner in checked.values():
            consumed(inner)
    elif hasattr(checked, "__iter__") and not isinstance(checked, str | bytes):
        for inner in checked:
            consumed(inner)


class TestRequest:
    def test_puts_the_prompt_apart(self):
        """
        Several system messages are a list of blocks, a plain one is text.
        """
        hi = [{"role": "user", "content": "hi"}]

        assert {"messages": hi} == request([user("hi")])
        assert {"system": "Be brief.", "messages": hi} == request([system("Be brief."), user("hi")])
        assert {
            "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Rhyme."}],
            "messages": hi,
        } == request([system("Be brief."), Message("developer", "Rhyme."), user("hi")])

    def test_mends_and_reports(self):
        """
        What was mended, and what cannot be carried, is in the report.
        """
        report: list[Any] = []
        made = request([user("hi"), user(["hear", Audio("aGk=")])], report)

        assert [said({"type": "text", "text": "hi"}, {"type": "text", "text": "hear"})] == (
            made["messages"]
        )
        assert any("audio: Anthropic takes none" in mend.text for mend in report)
