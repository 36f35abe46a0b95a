"""
Bedrock Converse: nothing is lost between `load` and `dump`, and botocore takes what we send.
"""

import base64
import json
from functools import cache
from itertools import dropwhile
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from unabridged.errors import ConfigError, FormatError
from unabridged.formats import bedrock, openai_chat
from unabridged.formats.bedrock import dump, load, reply, request
from unabridged.formats.bedrock_blocks import left_out, read, write
from unabridged.formats.bedrock_bytes import to_bytes
from unabridged.formats.bedrock_media import Names
from unabridged.formats.bedrock_stream import assembled
from unabridged.json_values import DEEPEST
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

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the shared transcripts are not beside the project"
)

USE = {"toolUseId": "c1", "name": "now", "input": {"tz": 1.5}}
S3 = {"s3Location": {"uri": "s3://bucket/kiwi.jpg"}}


def said(*blocks: Any, role: str = "user", **keys: Any) -> dict[str, Any]:
    return {"role": role, "content": list(blocks), **keys}


def one(turn: dict[str, Any]) -> Message:
    (message,) = load([turn])
    return message


def pictured(source: Any, form: str = "png", **keys: Any) -> dict[str, Any]:
    return {"image": {"format": form, "source": source, **keys}}


def filed(source: Any, **keys: Any) -> dict[str, Any]:
    return {"document": {"format": "pdf", "name": "a", "source": source, **keys}}


def answered(*content: Any, **keys: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": "c1", "content": list(content), **keys}}


@cache
def converse() -> Any:
    """
    Botocore's model of the operation.
    """
    session = pytest.importorskip("botocore.session").get_session()
    return session.get_service_model("bedrock-runtime").operation_model("Converse")


def faults(turns: Any, prompt: Any = None) -> str:
    """
    What botocore says against a request, "" if nothing.
    """
    shape, validate = converse().input_shape, pytest.importorskip("botocore.validate")
    body = {"modelId": "m", "messages": turns} | ({} if prompt is None else {"system": prompt})
    report: str = validate.ParamValidator().validate(body, shape).generate_report()
    return report


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
anything = st.recursive(
    scalars | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
SHAPES = {
    "block": "text image document audio video toolUse toolResult reasoningContent cachePoint"
    " guardContent citationsContent searchResult json x",
    "image": "format source error",
    "document": "format name source context citations",
    "audio": "format source error",
    "video": "format source",
    "source": "bytes s3Location text content",
    "s3Location": "uri bucketOwner",
    "toolUse": "toolUseId name input type x",
    "toolResult": "toolUseId content status type",
    "reasoningContent": "reasoningText redactedContent x",
    "reasoningText": "text signature x",
    "guardContent": "text image",
    "citationsContent": "content citations",
    "searchResult": "source title content",
}
REQUIRED = {
    "image": "format source",
    "document": "name source",
    "toolUse": "toolUseId name",
    "toolResult": "toolUseId content",
    "audio": "format source",
    "reasoningText": "text",
    "s3Location": "uri",
}
WORDS = ["", "hi", "c1", "aGk=", "s3://bucket/a.pdf", "png", "pdf", "jpg", "success", "missing"]
VALUES: dict[str, list[Any]] = {
    "format": ["png", "pdf", "mp3", "jpg", "bmp", "missing"],
    "uri": ["s3://bucket/a.pdf", "https://x.org"],
    "status": ["success", "error", "other", None],
    "type": ["server_tool_use", "nova_code_interpreter_result"],
    "bytes": ["aGk=", "aGk", b"hi", b"", ""],
    "redactedContent": ["aGk=", b"\xff", ""],
}


def value_of(key: str) -> st.SearchStrategy[Any]:
    if key in SHAPES:
        ordinary: st.SearchStrategy[Any] = shaped(key)
    elif key == "content":
        ordinary = st.lists(shaped("block"), max_size=2)
    elif key in ("input", "json"):
        ordinary = anything
    else:
        ordinary = st.sampled_from(VALUES.get(key, WORDS))

    return st.integers(0, 14).flatmap(lambda die: anything if die == 0 else ordinary)


def shaped(name: str) -> st.SearchStrategy[dict[str, Any]]:
    keys, needed = SHAPES[name].split(), REQUIRED.get(name, "").split()
    most = 1 if name in ("block", "source", "reasoningContent", "guardContent") else 5
    drawn = st.lists(st.sampled_from(keys), unique=True, max_size=most, min_size=most == 1)
    return st.deferred(
        lambda: st.tuples(drawn, st.integers(0, 9), st.booleans()).flatmap(
            lambda pick: st.fixed_dictionaries(
                {
                    key: value_of(key)
                    for key in {*pick[0], *(needed if pick[1] else ()), *(["x"][: pick[1] == 9])}
                }
            )
        )
    )


roles = st.sampled_from(["user", "assistant", "user", "assistant", "system", "tool", "critic", ""])
turns_like = st.lists(
    st.fixed_dictionaries(
        {"role": roles, "content": st.lists(shaped("block"), max_size=3)},
        optional={"x": anything},
    ),
    max_size=3,
)

words = st.sampled_from(["", "hi", "a long one", "日本", "😀"])
extras = st.sampled_from([{}, {"anthropic": {"as": "thinking"}}, {"openai_chat": {"as": "entry"}}])
media = st.one_of(
    st.builds(
        Image,
        st.sampled_from(["", "aGk="]),
        st.sampled_from(
            ["", "https://x.org/a.png", "s3://bucket/a.jpg", "data:image/gif;base64,a"]
        ),
        file=st.sampled_from(["", "f1"]),
        media_type=st.sampled_from(["", "image/png", "image/bmp", "IMAGE/JPEG; q=1"]),
    ),
    st.builds(
        Document,
        st.sampled_from(["", "aGk="]),
        st.sampled_from(["", "https://x.org/a", "s3://bucket/a.csv"]),
        text=words,
        name=st.sampled_from(["", "a.pdf", "Report (2)", "document", "x" * 201]),
        media_type=st.sampled_from(["", "application/pdf", "text/markdown", "application/zip"]),
    ),
    st.builds(
        Audio,
        st.sampled_from(["", "aGk="]),
        file=st.sampled_from(["", "a1"]),
        media_type=st.sampled_from(["", "audio/mpeg", "audio/pcm", "audio/L16"]),
    ),
)
parts = st.one_of(
    st.builds(Text, words, extra=extras),
    media,
    st.builds(Reasoning, words, signature=words, extra=extras),
    st.builds(
        ToolCall,
        st.sampled_from(["c1", "c2"]),
        st.just("now"),
        st.sampled_from(["{}", '{"a":1}', "[1]", "no json", '{"a":NaN}', '{"a":1e999}', ""]),
    ),
    st.builds(
        ToolResult,
        st.sampled_from(["c1", "c2"]),
        st.lists(st.builds(Text, words) | media, max_size=2),
        is_error=st.booleans(),
    ),
    st.builds(Opaque, st.sampled_from(["anthropic", "gemini"]), st.just({"type": "x"})),
    st.just(Opaque("bedrock", {"cachePoint": {"type": "default"}})),
)
messages_like = st.lists(
    st.builds(
        Message,
        st.sampled_from(["user", "assistant", "tool", "system", "developer", "critic"]),
        st.lists(parts, max_size=4),
        name=st.none() | st.just("ann"),
    ),
    max_size=4,
)


class TestLoad:
    def test_is_public(self):
        """
        The format has the four functions of every format.
        """
        assert ["dump", "load", "reply", "request"] == bedrock.__all__

    @pytest.mark.parametrize(
        ("turn", "message"),
        [
            (said({"text": "hi"}), user("hi")),
            (said({"text": ""}), user("")),
            (said({"text": "a"}, {"text": "b"}), user(["a", "b"])),
            (said(role="assistant"), assistant()),
            (
                said({"text": "Looking."}, {"toolUse": USE}, role="assistant"),
                assistant("Looking.", calls=[ToolCall("c1", "now", '{"tz":1.5}')]),
            ),
            (
                said(answered({"text": "noon"}), {"text": "go on"}),
                user([ToolResult("c1", "noon"), "go on"]),
            ),
            (
                said(answered({"text": "no clock"}, status="error")),
                user(ToolResult("c1", "no clock", is_error=True)),
            ),
            (said(pictured({"bytes": "aGk="})), user(Image("aGk=", media_type="image/png"))),
            (
                said(pictured(S3, "jpeg")),
                user(Image(url="s3://bucket/kiwi.jpg", media_type="image/jpeg")),
            ),
            (
                said({"audio": {"format": "mp3", "source": {"bytes": "aGk="}}}),
                user(Audio("aGk=", media_type="audio/mpeg")),
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
        ("block", "loaded"),
        [
            (
                {"reasoningContent": {"reasoningText": {"text": "hm\n", "signature": "c2ln=="}}},
                Reasoning("hm\n", signature="c2ln==", extra={"bedrock": {"as": "text"}}),
            ),
            (
                {"reasoningContent": {"redactedContent": "c2ln=="}},
                Reasoning(encrypted="c2ln==", extra={"bedrock": {"as": "redacted"}}),
            ),
            (
                {"reasoningContent": {"redactedContent": b"hi"}},
                Reasoning(encrypted="aGk=", extra={"bedrock": {"as": "redacted", "bytes": "raw"}}),
            ),
            (
                filed({"bytes": b"hi"}),
                Document(
                    "aGk=",
                    name="a",
                    media_type="application/pdf",
                    extra={"bedrock": {"as": "document", "bytes": "raw"}},
                ),
            ),
            (
                {"document": {"name": "a.txt", "source": {"text": "words"}}},
                Document(
                    text="words",
                    name="a.txt",
                    extra={"bedrock": {"as": "document", "source": "text", "format": "missing"}},
                ),
            ),
            (
                filed({"s3Location": {"uri": "s3://b/a", "bucketOwner": "1"}}, context="c"),
                Document(
                    url="s3://b/a",
                    name="a",
                    media_type="application/pdf",
                    extra={
                        "bedrock": {
                            "as": "document",
                            "inner": {
                                "context": "c",
                                "source": {"s3Location": {"bucketOwner": "1"}},
                            },
                        }
                    },
                ),
            ),
            (
                pictured({"bytes": "aGk="}, "bmp"),
                Image("aGk=", media_type="image/bmp", extra={"bedrock": {"format": "bmp"}}),
            ),
            (
                {"text": "a", "x": {"y": 1}},
                Text("a", extra={"bedrock": {"keys": {"x": {"y": 1}}}}),
            ),
            (
                {"guardContent": {"text": {"text": "hi", "qualifiers": ["query"]}}},
                Text(
                    "hi",
                    extra={
                        "bedrock": {
                            "as": "block",
                            "inner": {
                                "guardContent": {"text": {"text": "hi", "qualifiers": ["query"]}}
                            },
                        }
                    },
                ),
            ),
            (
                {"toolUse": {**USE, "input": [1]}},
                ToolCall("c1", "now", "[1]", extra={"bedrock": {"input": "any"}}),
            ),
            (
                {"toolUse": {"toolUseId": "c1", "name": "now"}},
                ToolCall("c1", "now", extra={"bedrock": {"input": "missing"}}),
            ),
            (
                answered({"json": {"a": [1.0]}}, status="success"),
                ToolResult(
                    "c1",
                    Text('{"a":[1.0]}', extra={"bedrock": {"as": "json"}}),
                    extra={"bedrock": {"status": "success"}},
                ),
            ),
            (
                {"cachePoint": {"type": "default"}},
                Opaque("bedrock", {"cachePoint": {"type": "default"}}),
            ),
            (
                {"video": {"format": "mp4", "source": {"bytes": b"hi"}}},
                Opaque(
                    "bedrock",
                    {
                        "block": {"video": {"format": "mp4", "source": {"bytes": "aGk="}}},
                        "bytes": [["video", "source", "bytes"]],
                    },
                ),
            ),
        ],
    )
    def test_reads_each_block(self, block: dict[str, Any], loaded: Part):
        """
        A block of the content becomes one part of the message, and comes back as it was.
        """
        assert Message("user", loaded) == one(said(block))
        assert [said(block)] == dump(load([said(block)]))

    @pytest.mark.parametrize(
        "block",
        [
            {"toolUse": {**USE, "type": "server_tool_use"}},
            answered({"json": {"exitCode": 0}}, type="nova_code_interpreter_result"),
        ],
    )
    def test_leaves_server_tools_whole(self, block: dict[str, Any]):
        """
        What the server's own tools did in an assistant's message is opaque.
        """
        assert (Opaque("bedrock", block),) == one(said(block, role="assistant")).parts

    @pytest.mark.parametrize(
        "block",
        [
            {},
            {"block": 1, "bytes": []},
            {"block": {"a": b"hi"}, "bytes": [b"x", "y"]},
            {"image": []},
            {"image": {"format": "png"}},
            {"image": {"format": 1, "source": {"bytes": "aGk="}}},
            {"image": {"source": {"bytes": "aGk="}}},
            pictured({"bytes": ""}),
            pictured({"bytes": b""}),
            pictured({"bytes": "aGk=", "x": 1}),
            pictured({"s3Location": {"uri": "https://x.org"}}),
            pictured({"bytes": "aGk="}, error={"message": "too big"}),
            {**pictured({"bytes": "aGk="}), "x": 1},
            {"document": {"format": "", "source": {"bytes": "aGk="}, "name": ""}},
            filed({"content": [{"text": "a"}]}),
            filed({"bytes": "aGk="}, citations={"enabled": True}),
            {"audio": {"format": "x-aac", "source": {"bytes": bytearray(b"hi")}}},
            {"reasoningContent": {"reasoningText": {"signature": "c2ln"}}},
            {"reasoningContent": {"reasoningText": {"text": "", "signature": "", "x": 1}}},
            {"reasoningContent": {"reasoningText": {"text": ""}, "redactedContent": "a"}},
            {"reasoningContent": None},
            {"guardContent": {"image": {"format": "png", "source": {"bytes": b"hi"}}}},
            {"guardContent": {"text": {"text": ""}}},
            {"citationsContent": {"content": [{"text": "a"}, 1, {"x": 1}], "citations": []}},
            {"searchResult": {"source": "s", "title": "t", "content": [{"text": "a"}]}},
            {"toolUse": {**USE, "x": 1, "input": None}, "y": 1},
            {"toolUse": {**USE, "x": 1}},
            answered({"json": {"bytes": "aGk="}, "x": 1}, {"json": 1, "text": "a"}, status=None),
            answered({"audio": {"format": "mp3", "source": {"bytes": "aGk="}}}, type="t"),
            {"toolResult": {"toolUseId": "c1"}, "x": 1},
            answered(pictured({"bytes": b"hi"}), filed(S3), {"video": {"format": "mp4"}}),
        ],
    )
    @pytest.mark.parametrize("role", ["user", "assistant", "system", "tool", "critic"])
    def test_keeps_the_shape(self, block: dict[str, Any], role: str):
        """
        Whatever form a block has, it comes back in it, in every role.
        """
        turn = said(block, role=role, x=[1])

        assert [turn] == dump(load([turn]))
        assert load([turn]) == load(dump(load([turn])))

    def test_puts_the_system_prompt_first(self):
        """
        The blocks of a system prompt, or its text, become the first message.
        """
        prompt = [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}]
        turns = [said({"text": "hi"})]

        assert (
            system(["Be brief.", Opaque("bedrock", prompt[1])]),
            user("hi"),
        ) == load(turns, prompt)
        assert (system("Be brief."), user("hi")) == load(turns, "Be brief.")
        assert turns == dump(load(turns, prompt))

    def test_tells_a_system_turn_from_the_prompt(self):
        """
        A message of the role system among the turns stays there.
        """
        turns = [said({"text": "Be brief."}, role="system"), said({"text": "hi"})]

        assert turns == dump(load(turns, "You are a pirate."))

    @pytest.mark.parametrize(
        ("turns", "text"),
        [
            ({}, "messages: expected a list, got an object"),
            ([None], "messages[0]: expected an object, got null"),
            ([{"content": []}], "messages[0].role: expected a word such as 'user', got nothing"),
            ([{"role": " "}], "messages[0].role: expected a word such as 'user', got text"),
            ([{"role": "user"}], "messages[0].content: expected a list of blocks, got nothing"),
            ([said("hi")], "messages[0].content[0]: expected an object, got text"),
            (
                [said({"toolUse": 1})],
                "messages[0].content[0].toolUse: expected an object, got a number",
            ),
            (
                [said({"toolUse": {"name": "f", "toolUseId": 5}})],
                "messages[0].content[0].toolUse.toolUseId: expected text, got a number",
            ),
            (
                [said({"toolUse": {"toolUseId": "c1", "name": None}})],
                "messages[0].content[0].toolUse.name: expected text, got null",
            ),
            (
                [said({"toolResult": []})],
                "messages[0].content[0].toolResult: expected an object, got a list",
            ),
            (
                [said({"toolResult": {"toolUseId": [], "content": []}})],
                "messages[0].content[0].toolResult.toolUseId: expected text, got a list",
            ),
            (
                [said({"toolResult": {"toolUseId": "c1", "content": "noon"}})],
                "messages[0].content[0].toolResult.content: expected a list, got text",
            ),
            (
                [said(answered("noon"))],
                "messages[0].content[0].toolResult.content[0]: expected an object, got text",
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

    @pytest.mark.parametrize(
        ("turn", "text"),
        [
            (said(at={1}), "messages[0].at: JSON cannot hold a set; convert it first"),
            (
                said({"toolUse": {**USE, "input": {"a": {1}}}}),
                "messages[0].content[0].toolUse.input.a: JSON cannot hold a set; convert it first",
            ),
            (
                said(filed(S3, z=b"hi")),
                "messages[0].content[0].document.z: JSON cannot hold a bytes; convert it first",
            ),
            (
                said({"x": b"hi", "y": {1}}),
                "messages[0].content[0].y: JSON cannot hold a set; convert it first",
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

    def test_refuses_what_contains_itself(self):
        """
        Bytes in a block that has no end are not looked for without end.
        """
        endless: list[Any] = [b"hi"]
        endless += [endless, endless]
        deep: Any = b"hi"
        for _ in range(DEEPEST * 20):
            deep = [deep]

        for block in ({"x": endless}, {"x": deep}):
            with pytest.raises(ConfigError):
                load([said(block)])

    def test_keeps_nothing_of_the_callers(self):
        """
        Changing a dict after loading it changes no message.
        """
        turn = said({"x": {"y": [1]}}, filed({"bytes": "aGk="}, z=[1]), w=[1])
        before = json.loads(json.dumps(turn))
        messages = load([turn])
        for changed in (turn["content"][0]["x"]["y"], turn["content"][1]["document"]["z"]):
            changed.append(2)
        turn["w"].append(2)

        assert [before] == dump(messages)

    @given(anything | st.lists(anything, max_size=2) | turns_like)
    def test_any_json_loads_or_is_refused(self, turns: Any):
        """
        Any JSON, also with bytes in it, gives messages that dump to it, or an error of ours.
        """
        try:
            messages = load(turns)
        except (FormatError, ConfigError):
            return

        assert turns == dump(messages)
        assert messages == load(dump(messages))

    @given(turns_like, st.lists(shaped("block"), max_size=3))
    def test_any_system_comes_back(self, turns: Any, prompt: Any):
        """
        The blocks of a system prompt leave the turns as they are, and are written as they were.
        """
        try:
            first, *rest = load(turns, prompt)
        except (FormatError, ConfigError):
            return

        assert turns == dump([first, *rest])
        assert prompt == [write(part, Names([])) for part in first.parts]
        assert not any(left_out(part, "system") for part in first.parts)


class TestDump:
    def test_refuses_what_is_no_message(self):
        """
        Only messages are dumped.
        """
        with pytest.raises(FormatError, match=r"^messages\[0\]: expected a Message, got an object"):
            dump([{"role": "user"}])  # type: ignore[list-item]

    def test_does_not_send_what_is_yours(self):
        """
        Name, id and metadata are never sent: the API has no field for them.
        """
        assert [said({"text": "hi"})] == dump([user("hi", name="ann", id="m1", metadata={"a": 1})])

    def test_speaks_in_two_roles(self):
        """
        Results go as a user's, unknown roles as an assistant's when they call.
        """
        messages = [
            tool("noon", call_id="c1"),
            Message("critic", "no"),
            Message("critic", ToolCall("c1", "now")),
            system("Be brief."),
            Message("developer", "Be kind."),
        ]

        assert ["user", "user", "assistant", "user", "user"] == [
            turn["role"] for turn in dump(messages)
        ]

    def test_keeps_the_order_of_results_and_words(self):
        """
        One message is one turn, with its parts in their order.
        """
        message = Message("tool", (ToolResult("c1", "a"), ToolResult("c2"), Text("go on")))

        assert [
            said(
                answered({"text": "a"}),
                {"toolResult": {"toolUseId": "c2", "content": []}},
                {"text": "go on"},
            )
        ] == dump([message])

    def test_leaves_out_the_system_prompt(self):
        """
        The system messages that come first belong beside the turns.
        """
        assert [said({"text": "hi"})] == dump([system("a"), Message("developer", "b"), user("hi")])
        assert [] == dump([system("a")])

    def test_leaves_out_what_it_cannot_carry(self):
        """
        A message that holds nothing the API takes is left out with it.
        """
        foreign = (Reasoning("hm", signature="x"), Opaque("anthropic", {"type": "x"}))

        assert [said({"text": "4"}, role="assistant")] == dump(
            [assistant(foreign), assistant([*foreign, "4"])]
        )

    def test_gives_media_their_forms(self):
        """
        Pictures, documents and sound made by hand get the forms that the API takes.
        """
        made = [
            Image("aGk="),
            Image(url="data:image/gif;base64,aGk="),
            Image(url="s3://b/a.JPG"),
            Document("aGk=", name="q3.csv"),
            Document("aGk=", media_type="text/plain; charset=utf-8", name="Report (2)"),
            Document(text="hi"),
            Document(text="hi", url="https://x.org", media_type="text/markdown"),
            Audio("aGk=", media_type="audio/x-wav"),
            Audio("aGk="),
        ]

        assert [
            said(
                pictured({"bytes": "aGk="}),
                pictured({"bytes": "aGk="}, "gif"),
                pictured({"s3Location": {"uri": "s3://b/a.JPG"}}, "jpeg"),
                filed({"bytes": "aGk="}, format="csv", name="document"),
                filed({"bytes": "aGk="}, format="txt", name="Report (2)"),
                filed({"bytes": "aGk="}, format="txt", name="document-2"),
                filed({"bytes": "aGk="}, format="md", name="document-3"),
                {"audio": {"format": "wav", "source": {"bytes": "aGk="}}},
                {"audio": {"format": "wav", "source": {"bytes": "aGk="}}},
            )
        ] == dump([user(made)])

    def test_gives_no_name_twice(self):
        """
        A made name is none that a loaded document has, also in a later tool result.
        """
        loaded = load([said(answered(filed({"bytes": "aGk="}, name="Document")))])
        made = [Document("aGk=", name="Report"), Document("aGk=", name="report"), Document("aGk=")]
        (turn, _) = dump([user(made), *loaded])

        assert ["Report", "document-2", "document-3"] == [
            block["document"]["name"] for block in turn["content"]
        ]

    def test_wraps_arguments_that_are_no_object(self):
        """
        The API takes objects alone; other arguments go in one.
        """
        texts = ["[1]", "no json", '{"a":NaN}', '{"a":1e999}', '{"a":[-1e999]}']
        calls = [ToolCall("c1", "now", text) for text in texts]

        assert [{"arguments": text} for text in texts] == [
            block["toolUse"]["input"] for block in dump([assistant(calls=calls)])[0]["content"]
        ]

    def test_sends_changed_content(self):
        """
        Changed words are sent, in the shape they were loaded in where that still holds them.
        """
        turn = said(
            answered({"json": {"a": 1}}, {"json": {"a": 1}}, status="success"),
            {"guardContent": {"text": {"text": "hi"}}},
            {"toolUse": {"toolUseId": "c1", "name": "now"}},
        )
        result, guarded, call = one(turn).parts
        assert isinstance(result, ToolResult)
        assert isinstance(guarded, Text)
        assert isinstance(call, ToolCall)
        first, second = result.content
        assert isinstance(first, Text)
        assert isinstance(second, Text)
        clipped = [evolve(first, text='{"a'), evolve(second, text="[2]")]
        changed = [
            evolve(result, content=clipped, is_error=True),
            evolve(guarded, text="ho"),
            evolve(call, arguments='{"a":1}'),
            first,
        ]

        assert [
            said(
                answered({"text": '{"a'}, {"json": [2]}, status="error"),
                {"text": "ho"},
                {"toolUse": {"toolUseId": "c1", "name": "now", "input": {"a": 1}}},
                {"text": '{"a":1}'},
            )
        ] == dump([user(changed)])

    def test_ignores_the_extra_of_other_formats(self):
        """
        Keys that another format kept are not sent.
        """
        part = Text("hi", extra={"anthropic": {"keys": {"cache_control": {}}}})

        assert [said({"text": "hi"})] == dump(
            [Message("user", part, extra={"anthropic": {"keys": {"x": 1}}})]
        )

    @pytest.mark.parametrize(
        "data",
        [
            {"block": {"a": 1}, "bytes": [["b"]]},
            {"block": {"a": 1}, "bytes": [["a"]]},
            {"block": 1, "bytes": [[]]},
            {"block": 1, "bytes": 1},
        ],
    )
    def test_takes_an_opaque_made_by_hand(self, data: dict[str, Any]):
        """
        An opaque part that only looks as if it had bytes is sent as it is.
        """
        assert [said(data)] == dump([user(Opaque("bedrock", data))])

    def test_is_fresh_each_time(self):
        """
        Two dumps share no dict.
        """
        messages = load([said({"x": [1]}, answered({"json": [1]}, y=[1]), filed(S3, z=[1]), w=[1])])
        first = dump(messages)
        untouched = json.loads(json.dumps(first))
        (turn,) = first
        turn["w"].append(2)
        turn["content"][0]["x"].append(2)
        turn["content"][1]["toolResult"]["y"].append(2)
        turn["content"][1]["toolResult"]["content"][0]["json"].append(2)
        turn["content"][2]["document"]["z"].append(2)

        assert untouched == dump(messages)

    @given(messages_like)
    def test_any_message_is_taken_by_botocore(self, messages: list[Message]):
        """
        Whatever is dumped has the form of the API, and comes back from a second load.
        """
        turns = dump(messages)

        assert not faults(turns)
        assert turns == dump(load(turns))


class TestLeftOut:
    @pytest.mark.parametrize(
        ("part", "role", "text"),
        [
            (Text("hi"), "system", ""),
            (ToolCall("c1", "now"), "assistant", ""),
            (ToolResult("c1"), "user", ""),
            (Opaque("bedrock", {"x": 1}), "user", ""),
            (Opaque("bedrock", [1]), "user", "a part that only another provider takes"),
            (Opaque("gemini", {}), "user", "a part that only another provider takes"),
            (Reasoning("hm"), "assistant", "reasoning of another provider"),
            (Reasoning("hm", extra={"bedrock": {"as": "text"}}), "assistant", ""),
            (Image("aGk="), "user", ""),
            (Image("aGk="), "tool", ""),
            (Image("aGk="), "assistant", "an image of an assistant: Bedrock takes none"),
            (Document("aGk="), "system", "a document in a system prompt: Bedrock takes text"),
            (ToolCall("c1", "now"), "developer", "a call in a system prompt: Bedrock takes text"),
            (Image(file="f"), "user", "an image by file id: Bedrock takes data or an s3:// url"),
            (Document(), "user", "a document without data: Bedrock takes data or an s3:// url"),
            (
                Document(url="https://x.org"),
                "user",
                "a document by url: Bedrock takes data or an s3:// url",
            ),
            (Audio("aGk="), "tool", "audio in a tool's result: Bedrock takes none"),
            (
                Image("aGk=", media_type="image/bmp"),
                "user",
                "image/bmp: Bedrock takes png, jpeg, gif, webp",
            ),
        ],
    )
    def test_says_why(self, part: Part, role: str, text: str):
        """
        A part that is not sent has a reason.
        """
        assert text == left_out(part, role)

    @given(messages_like)
    def test_says_what_dump_does(self, messages: list[Message]):
        """
        A dumped message has one block for each part that is not left out.
        """
        for message in messages:
            kept = [part for part in message.parts if not left_out(part, message.role)]
            turns = dump([user("hi"), message])[1:]

            assert len(kept) == sum(len(turn["content"]) for turn in turns)


class TestBytes:
    def test_puts_bytes_where_boto3_wants_them(self):
        """
        Base64 text becomes bytes everywhere but in a tool's own JSON.
        """
        source = {"bytes": "aGk="}
        turn = said(
            pictured(source),
            filed(source),
            {"audio": {"format": "mp3", "source": source}},
            {"video": {"format": "mp4", "source": source}},
            {"guardContent": pictured(source)},
            {"reasoningContent": {"redactedContent": "aGk="}},
            answered(pictured(source), {"json": {"image": {"source": source}}}, {"text": "hi"}),
            {"toolUse": {**USE, "input": {"image": {"source": source}}}},
            {"image": {"source": {"bytes": "no base64!"}}},
        )
        blocks = dump(load([turn]))[0]["content"]
        for block in blocks:
            to_bytes(block)

        raw = {"bytes": b"hi"}
        assert [
            pictured(raw),
            filed(raw),
            {"audio": {"format": "mp3", "source": raw}},
            {"video": {"format": "mp4", "source": raw}},
            {"guardContent": pictured(raw)},
            {"reasoningContent": {"redactedContent": b"hi"}},
            answered(pictured(raw), {"json": {"image": {"source": source}}}, {"text": "hi"}),
            {"toolUse": {**USE, "input": {"image": {"source": source}}}},
            {"image": {"source": {"bytes": b"no base64!"}}},
        ] == blocks

    def test_leaves_other_values_alone(self):
        """
        What is no block has no bytes.
        """
        to_bytes("hi")


class TestRequest:
    def test_gives_bytes_and_the_system_prompt(self):
        """
        The arguments are those of boto3's client: bytes, and the prompt apart.
        """
        prompt = [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}]
        turns = [said({"text": "See:"}, pictured({"bytes": "aGk="}))]

        assert {
            "system": prompt,
            "messages": [said({"text": "See:"}, pictured({"bytes": b"hi"}))],
        } == request(load(turns, prompt))
        assert {"messages": [said({"text": "hi"})]} == request([user("hi")])
        assert [] == request(load(turns, []))["system"]
        assert [{"text": "Be brief."}] == request(load(turns, "Be brief."))["system"]

    def test_joins_several_system_messages(self):
        """
        All that comes first is the prompt, but for what it cannot hold.
        """
        messages = [system(["a", Image("aGk=")]), Message("developer", "b"), user("hi")]

        assert [{"text": "a"}, {"text": "b"}] == request(messages)["system"]

    def test_reports(self):
        """
        What the API cannot carry is in the report.
        """
        report: list[Any] = []
        request([user(["Listen:", Image(file="f1")])], report)

        assert ["an image by file id: Bedrock takes data or an s3:// url"] == [
            mend.text for mend in report
        ]

    def test_is_encoded_once(self):
        """
        On the wire are the base64 texts that were loaded.
        """
        botocore = pytest.importorskip("botocore.serialize")
        data = base64.b64encode(bytes(range(256))).decode()
        turns = [
            said({"text": "See:"}, pictured({"bytes": data}), filed({"bytes": data})),
            said(
                {"reasoningContent": {"redactedContent": data}},
                {"toolUse": USE},
                role="assistant",
            ),
            said(answered(pictured({"bytes": data}), {"json": {"a": [1]}})),
        ]
        wire = botocore.create_serializer("rest-json").serialize_to_request(
            {"modelId": "m", **request(load(turns, [{"text": "Be brief."}]))},
            converse(),
        )

        body = json.loads(wire["body"])
        assert turns == body["messages"]
        assert [{"text": "Be brief."}] == body["system"]


RESPONSE = {
    "ResponseMetadata": {"RequestId": "r12345678", "HTTPStatusCode": 200},
    "output": {
        "message": said(
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}},
            {"reasoningContent": {"redactedContent": b"hi"}},
            {"text": "Looking."},
            {"toolUse": USE},
            {"toolUse": {"toolUseId": "c2", "name": "now", "input": {}}},
            role="assistant",
        )
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3},
    "metrics": {"latencyMs": 4},
}


def piece(at: int, **delta: Any) -> dict[str, Any]:
    return {"contentBlockDelta": {"delta": delta, "contentBlockIndex": at}}


def begun(at: int, **start: Any) -> dict[str, Any]:
    return {"contentBlockStart": {"start": start, "contentBlockIndex": at}}


EVENTS = [
    {"messageStart": {"role": "assistant"}},
    piece(0, reasoningContent={"text": "h"}),
    piece(0, reasoningContent={"text": "m"}),
    piece(0, reasoningContent={"signature": "c2ln"}),
    {"contentBlockStop": {"contentBlockIndex": 0}},
    piece(1, reasoningContent={"redactedContent": b"h"}),
    piece(1, reasoningContent={"redactedContent": b"i"}),
    piece(2, text="Look"),
    piece(2, text="ing."),
    begun(3, toolUse={"toolUseId": "c1", "name": "now"}),
    begun(4, toolUse={"toolUseId": "c2", "name": "now"}),
    piece(3, toolUse={"input": '{"tz"'}),
    piece(3, toolUse={"input": ": 1.5}"}),
    piece(4, toolUse={"input": ""}),
    {"contentBlockStop": {"contentBlockIndex": 4}},
    {"messageStop": {"stopReason": "tool_use"}},
    {
        "metadata": {
            "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3},
            "metrics": {"latencyMs": 4},
        }
    },
]


def streamed(*events: Any) -> Any:
    ends = [{"messageStop": {"stopReason": "end_turn"}}]
    return assembled([EVENTS[0], *events, *ends])["output"]["message"]["content"]


class TestReply:
    def test_reads_a_response(self):
        """
        The message of a response has its id, and what is not sent back is kept beside it.
        """
        (message,) = reply(RESPONSE)

        received = {key: RESPONSE[key] for key in ("stopReason", "usage", "metrics")}
        assert "r12345678" == message.id
        assert {"bedrock": {"inner": {"received": received}}} == message.extra.value
        assert [RESPONSE["output"]["message"]] == dump([message])
        assert ["c1", "c2"] == [call.id for call in message.tool_calls]

    @pytest.mark.parametrize("text", ['{"a":1e999}', '{"a":NaN}', '{"a":'])
    def test_keeps_streamed_input_that_is_no_json_as_text(self, text: str):
        """
        As in an answer that was cut short; no number in it becomes infinite.
        """
        start = {"toolUse": {"toolUseId": "c1", "name": "now"}}
        events = [
            {"messageStart": {"role": "assistant"}},
            {"contentBlockStart": {"start": start, "contentBlockIndex": 0}},
            {"contentBlockDelta": {"delta": {"toolUse": {"input": text}}, "contentBlockIndex": 0}},
            {"messageStop": {"stopReason": "tool_use"}},
        ]
        (message,) = reply(events)

        assert {"arguments": text} == json.loads(message.tool_calls[0].arguments)

    @pytest.mark.parametrize("text", ["", "Hello."])
    def test_reads_what_botocore_parses(self, text: str):
        """
        A recorded answer, parsed by the client itself, is read.
        """
        parsers = pytest.importorskip("botocore.parsers")
        content = [{"text": text}] if text else []
        body = RESPONSE | {"output": {"message": said(*content, role="assistant")}}
        body = {key: value for key, value in body.items() if key != "ResponseMetadata"}
        parsed = parsers.create_parser("rest-json").parse(
            {
                "status_code": 200,
                "headers": {"x-amzn-requestid": "r98765432"},
                "body": json.dumps(body).encode(),
            },
            converse().output_shape,
        )
        (message,) = reply(parsed)

        assert ("r98765432", text) == (message.id, message.text)
        assert [said(*content, role="assistant")] == dump([message])

    def test_keeps_keys_beside_what_was_received(self):
        """
        A key of the message that is not known is sent back.
        """
        turn = said({"text": "hi"}, role="assistant", x=1)

        assert [turn] == dump(reply({"output": {"message": turn}, "stopReason": "end_turn"}))
        assert load([turn]) == reply({"output": {"message": turn}})

    def test_reads_a_stream(self):
        """
        The dict of a stream, and its events, give what the whole response gives.
        """
        whole = {"ResponseMetadata": RESPONSE["ResponseMetadata"], "stream": iter(EVENTS)}

        assert reply(RESPONSE) == reply(whole)
        assert [evolve(reply(RESPONSE)[0], id=None)] == [*reply(EVENTS)]

    def test_does_not_touch_the_events(self):
        """
        Reading events, or a response, twice gives the same.
        """
        before = repr((EVENTS, RESPONSE))

        assert reply(EVENTS) == reply(EVENTS)
        assert reply(RESPONSE) == reply(RESPONSE)
        assert before == repr((EVENTS, RESPONSE))

    @pytest.mark.parametrize(
        ("events", "content"),
        [
            ([], []),
            ([{"contentBlockStop": {"contentBlockIndex": 0}}, {"unheard": {}}], []),
            ([piece(1, text="b"), piece(0, text="a")], [{"text": "a"}, {"text": "b"}]),
            (
                [piece(0, reasoningContent={"signature": "c2ln"})],
                [{"reasoningContent": {"reasoningText": {"text": "", "signature": "c2ln"}}}],
            ),
            (
                [
                    begun(0, toolUse={"toolUseId": "c1", "name": "f"}),
                    piece(0, toolUse={"input": '{"a'}),
                ],
                [{"toolUse": {"toolUseId": "c1", "name": "f", "input": {"arguments": '{"a'}}}],
            ),
            (
                [
                    begun(0, toolResult={"toolUseId": "c1", "status": "success"}),
                    piece(0, toolResult=[{"json": {"a": 1}}]),
                    piece(0, toolResult=[{"text": "a"}]),
                    begun(1, toolResult={"toolUseId": "c2"}),
                ],
                [
                    answered({"json": {"a": 1}}, {"text": "a"}, status="success"),
                    {"toolResult": {"toolUseId": "c2", "content": []}},
                ],
            ),
            (
                [
                    piece(0, text="a"),
                    piece(0, citation={"title": "t"}),
                    piece(0, text="b"),
                    piece(0, citation={"title": "u"}),
                ],
                [
                    {
                        "citationsContent": {
                            "content": [{"text": "ab"}],
                            "citations": [{"title": "t"}, {"title": "u"}],
                        }
                    }
                ],
            ),
            (
                [begun(0, image={"format": "png"}), piece(0, image={"source": {"bytes": b"hi"}})],
                [pictured({"bytes": b"hi"})],
            ),
            ([begun(0, new={"level": 1}), piece(0, new={"level": 2})], [{"new": {"level": 2}}]),
        ],
    )
    def test_puts_events_together(self, events: list[Any], content: list[Any]):
        """
        The pieces of each block add up to the block of a whole response.
        """
        assert content == streamed(*events)

    @pytest.mark.parametrize(
        ("response", "text"),
        [
            (1, "response: expected a response of the client, its dict, or the events of a stream"),
            ({"Error": {"Code": "Slow"}}, "response: no message in it, but {'Error': {'Code'"),
            ({"output": {}, "stopReason": "x"}, "response: no message in it, but {'stopReason'"),
            (
                [EVENTS[0], {"throttlingException": {"message": "Slow down."}}],
                "response[1].throttlingException: the stream broke off: Slow down.",
            ),
            ([], "response: the stream holds no whole message, messageStart is missing"),
            (EVENTS[-1:], "response: the stream holds no whole message, messageStart is missing"),
            (EVENTS[:5], "response: the stream holds no whole message, messageStop is missing"),
            ([{"messageStart": 1}], "response[0].messageStart: expected an object, got a number"),
            (
                [{"contentBlockDelta": {"delta": {}}}],
                "response[0].contentBlockDelta.contentBlockIndex: expected a number, got nothing",
            ),
            (
                [{"contentBlockStart": {"contentBlockIndex": 0}}],
                "response[0].contentBlockStart.start: expected an object, got null",
            ),
            (
                [piece(0, text="a"), piece(0, text={})],
                "response[1].contentBlockDelta.delta.text: expected more of the same, got an",
            ),
            (
                [piece(0, text={}), piece(0, text="a")],
                "response[1].contentBlockDelta.delta.text: expected more of the same, got text",
            ),
        ],
    )
    def test_says_why_there_is_no_message(self, response: Any, text: str):
        """
        A response without a message is refused with what it says.
        """
        with pytest.raises(FormatError) as caught:
            reply(response)

        assert str(caught.value).startswith(text)


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "See:"}, PICTURE]},
    {
        "role": "assistant",
        "content": "Looking.",
        "reasoning_content": "hm",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
            {"id": "c2", "type": "function", "function": {"name": "f", "arguments": ""}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "one"},
    {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "two"}]},
    {"role": "assistant", "content": "Done."},
]


class TestAcross:
    def test_keeps_words_calls_and_results(self):
        """
        A conversation of the Chat API goes over with all that this API can express.
        """
        assert [
            said({"text": "See:"}, pictured({"bytes": "aGk="})),
            said(
                {"text": "Looking."},
                {"toolUse": {"toolUseId": "c1", "name": "f", "input": {"a": 1}}},
                {"toolUse": {"toolUseId": "c2", "name": "f", "input": {}}},
                role="assistant",
            ),
            said(answered({"text": "one"})),
            said({"toolResult": {"toolUseId": "c2", "content": [{"text": "two"}]}}),
            said({"text": "Done."}, role="assistant"),
        ] == dump(openai_chat.load(CHAT))

    def test_is_mended_to_turns_that_alternate(self):
        """
        A request has the results of parallel calls in one turn.
        """
        body = request(openai_chat.load(CHAT))

        assert not faults(body["messages"], body["system"])
        assert ["user", "assistant", "user", "assistant"] == [
            turn["role"] for turn in body["messages"]
        ][:4]


@needs_shared
class TestRealTranscripts:
    def test_come_back_as_they_were(self):
        """
        Every recorded Converse request is lossless, its system prompt too.
        """
        lines = (SHARED / "data" / "api_shapes.jsonl").read_text(encoding="utf-8").splitlines()
        bodies = [found for line in lines if (found := json.loads(line))["api"] == "bedrock"]
        assert 30 == len(bodies)
        for body in bodies:
            turns, prompt = body["messages"], body["system"]
            messages = load(turns, prompt)

            assert turns == dump(messages)
            assert messages[1:] == load(dump(messages))
            assert prompt == request(messages)["system"]
            assert not faults(dump(messages), prompt)

    @pytest.mark.parametrize("name", ["tau_airline", "pi_coding", "swe_agent", "api_shapes"])
    def test_chats_go_over(self, name: str):
        """
        What the Chat API's transcripts hold is dumped here, and botocore takes it.
        """
        for line in (SHARED / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            found = json.loads(line)
            if found.get("api", "chat") != "chat":
                continue
            messages = openai_chat.load(found["messages"])
            turns = dump(messages)
            after = load(turns)

            assert not faults(turns)
            heard = dropwhile(lambda m: m.role in ("system", "developer"), messages)
            assert "".join(m.text for m in heard) == "".join(m.text for m in after)
            assert [c.id for m in messages for c in m.tool_calls] == [
                c.id for m in after for c in m.tool_calls
            ]


def test_reads_one_block_at_a_time():
    """
    A block is read on its own, as the parts of a message are.
    """
    assert Text("hi") == read({"text": "hi"}, "user", "block")
