"""
OpenAI Responses: nothing is lost between `load` and `dump`, and what a response gave is sent back.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from unabridged.errors import ConfigError, FormatError
from unabridged.formats import openai_chat, openai_responses
from unabridged.formats.openai_responses import dump, load, reply, request
from unabridged.formats.responses_parts import item_id, left_out, was_led, without_id
from unabridged.formats.responses_stream import assembled
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

NAME = "openai_responses"
SHARED = Path(__file__).resolve().parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the shared transcripts are not beside the project"
)

CALL = {"type": "function_call", "call_id": "c1", "name": "now", "arguments": '{"tz": 1.50}'}
THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "first, look"}],
    "encrypted_content": "gAAA==",
}
SAID = {"type": "output_text", "text": "Hello.", "annotations": []}
REFUSED = {"type": "refusal", "refusal": "No."}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
SHELL = {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}}
CONTAINER = {"type": "container_reference", "container_id": "x"}
SCREEN = {"type": "computer_screenshot", "image_url": "https://x.org/a.png"}


def said(*parts: Any, **keys: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(parts), **keys}


def answer(*parts: Any, **keys: Any) -> dict[str, Any]:
    item = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant"}
    return item | {"content": list(parts)} | keys


def out(output: Any = "noon", **keys: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": "c1", "output": output, **keys}


def own(**shape: Any) -> dict[str, Any]:
    return {NAME: shape}


def one(*items: Any) -> Message:
    (message,) = load(items)
    return message


def back(*items: Any) -> bool:
    messages = load(list(items))
    return list(items) == dump(messages) and messages == load(dump(messages))


def response(*output: Any, **keys: Any) -> dict[str, Any]:
    return {
        "id": "resp_12345678",
        "object": "response",
        "created_at": 1.0,
        "model": "gpt-5",
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "completed",
        **keys,
    }


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
texts = st.sampled_from(["", "hi", "c1", "https://x.org/a", "data:image/png;base64,aGk=", "aGk="])

CONTENT_TYPES = "input_text input_text output_text output_text input_image input_file input_audio"
CONTENT_TYPES += " refusal text summary_text reasoning_text output_new thing"
ITEM_TYPES = "message message reasoning reasoning function_call function_call_output"
ITEM_TYPES += " custom_tool_call custom_tool_call_output computer_call computer_call_output"
ITEM_TYPES += " tool_search_call tool_search_output shell_call shell_call_output web_search_call"
ITEM_TYPES += " local_shell_call local_shell_call_output mcp_approval_request mcp_approval_response"
ITEM_TYPES += " mcp_call compaction item_reference additional_tools program_output input_text new"
PART = "type type text text image_url file_id file_url file_data filename detail input_audio"
PART += " refusal annotations logprobs prompt_cache_breakpoint"
ITEM = "id status phase namespace content content role call_id name arguments input output summary"
ITEM += " encrypted_content execution environment approval_request_id approve action x"


def value_of(key: str) -> st.SearchStrategy[Any]:
    listed = st.lists(texts | shaped(PART, CONTENT_TYPES) | typical, max_size=3)
    known: dict[str, st.SearchStrategy[Any]] = {
        "role": st.sampled_from(["user", "assistant", "system", "developer", "tool", "critic"]),
        "detail": st.sampled_from(["low", "auto", ""]),
        "content": texts | st.none() | listed,
        "output": texts | st.none() | listed,
        "summary": st.none() | listed,
        "arguments": texts | st.just({"a": [1, 1.5]}),
        "execution": st.sampled_from(["client", "server"]),
        "environment": st.sampled_from([None, {"type": "local"}, CONTAINER]),
        "input_audio": st.sampled_from(
            [{"data": "aGk=", "format": "mp3"}, {"data": "aGk=", "x": 1}, {"format": "wav"}]
        ),
        "annotations": st.just([]),
        "approve": st.booleans(),
    }
    ordinary = known.get(key, texts)

    return st.integers(0, 9).flatmap(lambda die: anything if die == 0 else ordinary)


def shaped(keys: str, types: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.deferred(
        lambda: st.tuples(
            st.sampled_from(types.split()),
            st.lists(st.sampled_from(keys.split()), unique=True, max_size=6).flatmap(
                lambda chosen: st.fixed_dictionaries({key: value_of(key) for key in chosen})
            ),
        ).map(lambda drawn: {"type": drawn[0], **drawn[1]})
    )


typical = st.sampled_from(
    [
        {"type": "input_text", "text": "hi"},
        SAID,
        REFUSED,
        {"type": "summary_text", "text": "hm"},
        {"type": "reasoning_text", "text": "hm"},
        {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "low"},
        {"type": "input_file", "file_data": "data:application/pdf;base64,aGk=", "filename": "a"},
    ]
)
needed = st.fixed_dictionaries(
    {"call_id": texts, "name": texts, "arguments": texts, "input": texts, "output": texts}
)
easy = st.tuples(value_of("role"), value_of("content"), st.booleans()).map(
    lambda drawn: {"role": drawn[0], "content": drawn[1]} | ({"id": "m1"} if drawn[2] else {})
)
items_like = st.lists(
    easy
    | shaped(ITEM, ITEM_TYPES)
    | st.tuples(needed, shaped(ITEM, ITEM_TYPES)).map(lambda both: both[0] | both[1])
    | st.sampled_from([CALL, THOUGHT, answer(SAID), answer(SAID, REFUSED), SEARCH, SHELL, out()]),
    max_size=5,
)

media = st.sampled_from(
    [
        Image("aGk="),
        Image(url="https://x.org/a.png", detail="low"),
        Image(file="f1"),
        Image(),
        Document("aGk=", name="a.pdf"),
        Document("aGk=", media_type="text/plain"),
        Document(url="https://x.org/a.pdf", name="a.pdf"),
        Document(file="f1"),
        Document(text="words"),
        Document(),
        Audio("aGk=", media_type="audio/wav"),
        Audio(file="a1"),
    ]
)
foreign = st.sampled_from(
    [Opaque("anthropic", {"type": "x"}), Reasoning("hm", signature="c2ln"), Opaque(NAME, "text")]
)
words = st.builds(Text, st.sampled_from(["hi", "", "你好"]))
results = st.builds(
    ToolResult,
    st.sampled_from(["c1", "c2"]),
    st.lists(words | media | st.just(Opaque("gemini", {"a": 1})), max_size=2),
    is_error=st.booleans(),
)
calls = st.builds(ToolCall, st.sampled_from(["c1", "c2"]), st.just("now"))
built = st.lists(
    st.builds(
        Message,
        st.sampled_from(["user", "assistant", "system", "developer", "tool", "critic"]),
        st.lists(words | media | foreign | results | calls, max_size=4),
        name=st.none() | st.just("ann"),
    ),
    max_size=4,
)


@pytest.fixture(scope="module")
def accepts() -> Any:
    """
    Whether the client's own types take an input; raises where they do not.
    """
    types = pytest.importorskip("openai.types.responses")
    adapter = pytest.importorskip("pydantic").TypeAdapter(types.ResponseInputParam)
    return adapter.validate_python


class TestLoad:
    def test_is_public(self):
        """
        The format's public names are the four of every format.
        """
        assert ["dump", "load", "reply", "request"] == openai_responses.__all__

    @pytest.mark.parametrize(
        ("items", "message"),
        [
            ([{"role": "user", "content": "hi"}], user("hi")),
            ([{"role": "user", "content": ""}], user("")),
            ([{"role": "system", "content": "Be brief."}], system("Be brief.")),
            ([{"role": "developer", "content": "x"}], Message("developer", "x")),
            ([{"role": "assistant", "content": "Hello."}], assistant("Hello.")),
            ([CALL], assistant(calls=[ToolCall("c1", "now", '{"tz": 1.50}')])),
            (
                [{"role": "assistant", "content": "Looking."}, CALL, CALL | {"call_id": "c2"}],
                assistant(
                    "Looking.", calls=[ToolCall(id_, "now", '{"tz": 1.50}') for id_ in ("c1", "c2")]
                ),
            ),
            ([out("noon")], tool("noon", call_id="c1")),
            (
                [said({"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"})],
                user(["a", "b"]),
            ),
            (
                [
                    said(
                        {
                            "type": "input_image",
                            "image_url": "https://x.org/a",
                            "detail": "low",
                        }
                    )
                ],
                user(Image(url="https://x.org/a", detail="low")),
            ),
        ],
    )
    def test_an_ordinary_message_equals_one_built_by_hand(
        self, items: list[dict[str, Any]], message: Message
    ):
        """
        Ordinary items have no extra, and a message made by hand dumps to them.
        """
        assert (message,) == load(items)
        assert not any(part.extra for part in load(items)[0].parts)  # type: ignore[union-attr]
        assert items == dump([message])

    @pytest.mark.parametrize(
        ("part", "loaded"),
        [
            (
                {"type": "input_image", "image_url": "https://x.org/a"},
                Image(url="https://x.org/a", extra=own(detail="missing")),
            ),
            (
                {
                    "type": "input_image",
                    "image_url": "data:image/jpeg;base64,aGk=",
                    "detail": "auto",
                    "file_id": None,
                },
                Image(
                    "aGk=",
                    media_type="image/jpeg",
                    detail="auto",
                    extra=own(keys={"file_id": None}),
                ),
            ),
            (
                {"type": "input_image", "image_url": "https://x.org/a", "file_id": "f1"},
                Opaque(
                    NAME, {"type": "input_image", "image_url": "https://x.org/a", "file_id": "f1"}
                ),
            ),
            (
                {
                    "type": "input_file",
                    "file_data": "data:application/pdf;base64,aGk=",
                    "filename": "a.pdf",
                },
                Document("aGk=", name="a.pdf", media_type="application/pdf"),
            ),
            (
                {"type": "input_file", "file_data": "data:application/pdf;base64,aGk="},
                Document("aGk=", media_type="application/pdf", extra=own(filename="missing")),
            ),
            (
                {"type": "input_file", "file_data": "aGk=", "filename": "a.txt"},
                Document("aGk=", name="a.txt", extra=own(data="bare")),
            ),
            (
                {"type": "input_file", "file_id": "f1"},
                Document(file="f1", extra=own(source="file")),
            ),
            (
                {"type": "input_image", "file_id": "f1", "detail": "low"},
                Image(file="f1", detail="low", extra=own(source="file")),
            ),
            (
                {"type": "input_file", "file_url": "https://x.org/a.pdf"},
                Document(url="https://x.org/a.pdf"),
            ),
            (
                {"type": "input_file", "file_url": "https://x.org/a", "filename": "a"},
                Document(url="https://x.org/a", name="a", extra=own(filename="sent")),
            ),
            ({"type": "input_file"}, Opaque(NAME, {"type": "input_file"})),
            (
                {"type": "input_image", "detail": "low", "file_id": {"x": 1}},
                Opaque(NAME, {"type": "input_image", "detail": "low", "file_id": {"x": 1}}),
            ),
            (
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
                Audio("aGk=", media_type="audio/mpeg", extra=own(**{"as": "input_audio"})),
            ),
            (
                {"type": "input_audio", "input_audio": {"data": "aGk=", "rate": 8}},
                Audio("aGk=", extra=own(**{"as": "input_audio", "inner": {"rate": 8}})),
            ),
            (
                {"type": "input_text", "text": "a", "prompt_cache_breakpoint": {"mode": "x"}},
                Text("a", extra=own(keys={"prompt_cache_breakpoint": {"mode": "x"}})),
            ),
            (SAID, Opaque(NAME, SAID)),
        ],
    )
    def test_reads_each_part_of_a_users_message(self, part: dict[str, Any], loaded: Part):
        """
        A part of the content becomes one part of the message, and comes back as it was.
        """
        assert Message("user", loaded) == one(said(part))
        assert back(said(part))
        assert back(out([part]))

    @pytest.mark.parametrize(
        ("item", "loaded"),
        [
            (
                answer(SAID),
                Text(
                    "Hello.",
                    extra=own(
                        **{
                            "as": "output_text",
                            "inner": {"type": "message", "id": "msg_1", "status": "completed"},
                            "keys": {"annotations": []},
                        }
                    ),
                ),
            ),
            (
                {"role": "assistant", "content": "hi", "phase": "commentary"},
                Text("hi", extra=own(**{"as": "easy", "inner": {"phase": "commentary"}})),
            ),
            (
                THOUGHT,
                Reasoning(
                    "first, look",
                    encrypted="gAAA==",
                    extra=own(
                        **{"as": "reasoning", "inner": {"summary": [11]}, "keys": {"id": "rs_1"}}
                    ),
                ),
            ),
            (
                CALL | {"id": "fc_1", "namespace": "n"},
                ToolCall(
                    "c1",
                    "now",
                    '{"tz": 1.50}',
                    extra=own(keys={"id": "fc_1", "namespace": "n"}),
                ),
            ),
            (
                {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": 'a "b"'},
                ToolCall("c1", "sql", r'"a \"b\""', extra=own(**{"as": "custom"})),
            ),
            (
                SHELL,
                ToolCall(
                    "c1",
                    "shell",
                    '{"type":"shell_call","call_id":"c1","action":{"commands":["ls"]}}',
                    extra=own(**{"as": "item"}),
                ),
            ),
            (
                {"type": "mcp_approval_request", "id": "a1", "name": "f"},
                ToolCall(
                    "a1",
                    "mcp_approval_request",
                    '{"type":"mcp_approval_request","id":"a1","name":"f"}',
                    extra=own(**{"as": "item"}),
                ),
            ),
            (SEARCH, Opaque(NAME, SEARCH)),
            (SHELL | {"environment": CONTAINER}, Opaque(NAME, SHELL | {"environment": CONTAINER})),
            (
                {"type": "tool_search_call", "execution": "server", "call_id": "c1"},
                Opaque(NAME, {"type": "tool_search_call", "execution": "server", "call_id": "c1"}),
            ),
            (answer(), Opaque(NAME, answer())),
            (answer(SAID, {"type": "new"}), Opaque(NAME, answer(SAID, {"type": "new"}))),
            ({"role": "assistant"}, Opaque(NAME, {"role": "assistant"})),
            ({"type": "compaction", "id": "x"}, Opaque(NAME, {"type": "compaction", "id": "x"})),
            ({"id": "msg_1"}, Opaque(NAME, {"id": "msg_1"})),
        ],
    )
    def test_reads_each_item_of_the_model(self, item: dict[str, Any], loaded: Part):
        """
        An item of the model becomes a part of an assistant's message, and comes back as it was.
        """
        message = one(item)

        assert Message("assistant", loaded) == message
        assert back(item)

    def test_reads_several_contents_of_one_item(self):
        """
        The parts of one message item know that they belong together.
        """
        new = {"type": "output_new"}
        item = answer(SAID, REFUSED, new)
        first, refusal, last = one(item).parts

        assert ("No.", Opaque(NAME, new)) == (refusal.text, last)  # type: ignore[union-attr]
        assert ("msg_1", "", "") == (item_id(first), item_id(refusal), item_id(last))
        assert back(item)

    @pytest.mark.parametrize(
        ("item", "text"),
        [
            ({"type": "reasoning", "id": "r", "summary": []}, ""),
            ({"type": "reasoning", "id": "r"}, ""),
            (THOUGHT | {"summary": THOUGHT["summary"] * 2}, "first, look\n\nfirst, look"),
            (
                THOUGHT | {"content": [{"type": "reasoning_text", "text": "hm\n\n"}]},
                "first, look\n\nhm\n\n",
            ),
            (THOUGHT | {"content": None, "encrypted_content": None}, "first, look"),
            (THOUGHT | {"summary": [{"type": "summary_text", "text": "x", "y": 1}]}, ""),
            (THOUGHT | {"summary": "short", "encrypted_content": ""}, ""),
        ],
    )
    def test_reads_reasoning(self, item: dict[str, Any], text: str):
        """
        The texts of a reasoning item are joined to be read, and its lists given back as they were.
        """
        assert text == one(item).reasoning[0].text
        assert back(item)

    @pytest.mark.parametrize(
        ("item", "loaded"),
        [
            (
                out("noon", id="fco_1", status=None),
                ToolResult("c1", "noon", extra=own(keys={"id": "fco_1", "status": None})),
            ),
            (
                out([{"type": "input_text", "text": "a"}]),
                ToolResult("c1", "a", extra=own(output="list")),
            ),
            (out([]), ToolResult("c1", extra=own(output="list"))),
            (out(None), ToolResult("c1", extra=own(output="null"))),
            (
                {"type": "function_call_output", "call_id": "c1"},
                ToolResult("c1", extra=own(output="missing")),
            ),
            (
                {"type": "custom_tool_call_output", "call_id": "c1", "output": "1"},
                ToolResult("c1", "1", extra=own(**{"as": "custom_tool_call_output"})),
            ),
            (
                {"type": "computer_call_output", "call_id": "c1", "output": SCREEN},
                ToolResult(
                    "c1",
                    Opaque(
                        NAME, {"type": "computer_call_output", "call_id": "c1", "output": SCREEN}
                    ),
                    extra=own(**{"as": "computer_call_output"}),
                ),
            ),
            (
                {"type": "local_shell_call_output", "id": "c1", "output": "a"},
                ToolResult(
                    "c1",
                    Opaque(NAME, {"type": "local_shell_call_output", "id": "c1", "output": "a"}),
                    extra=own(**{"as": "local_shell_call_output"}),
                ),
            ),
            (
                {"type": "mcp_approval_response", "approval_request_id": "a1", "approve": True},
                ToolResult(
                    "a1",
                    Opaque(
                        NAME,
                        {
                            "type": "mcp_approval_response",
                            "approval_request_id": "a1",
                            "approve": True,
                        },
                    ),
                    extra=own(**{"as": "mcp_approval_response"}),
                ),
            ),
            (out(call_id=None), ToolResult("", "noon", extra=own(no_id="null"))),
            (out(call_id=5), Opaque(NAME, out(call_id=5))),
        ],
    )
    def test_reads_each_answer_to_a_call(self, item: dict[str, Any], loaded: Part):
        """
        An output is a message of the tool, whose result finds its call.
        """
        assert Message("tool", loaded) == one(item)
        assert back(item)

    def test_keeps_the_type_of_an_answer_that_its_call_does_not_want(self):
        """
        A function's output after a custom call stays one, also when the call's id comes again.
        """
        custom = {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "a"}

        assert back(custom, out())
        assert back(custom, CALL, out())
        assert back(CALL, custom, out())
        assert {} == load([custom, CALL, out()])[1].tool_results[0].extra.value

    @pytest.mark.parametrize(
        ("items", "groups"),
        [
            ([THOUGHT, CALL, CALL], ["assistant 3"]),
            ([THOUGHT, answer(SAID), CALL], ["assistant 3"]),
            ([SEARCH, THOUGHT, SEARCH, answer(SAID)], ["assistant 4"]),
            ([answer(SAID), answer(SAID)], ["assistant 1", "assistant 1"]),
            ([answer(SAID), THOUGHT, CALL], ["assistant 1", "assistant 2"]),
            ([CALL, answer(SAID)], ["assistant 2"]),
            ([CALL, THOUGHT], ["assistant 2"]),
            ([CALL, out(), CALL], ["assistant 1", "tool 1", "assistant 1"]),
            ([CALL, {"role": "user", "content": "?"}], ["assistant 1", "user 1"]),
            ([SEARCH, {"type": "item_reference", "id": "x"}, SEARCH], ["assistant 1"] * 3),
            ([SEARCH, {"id": "x"}, SEARCH], ["assistant 1"] * 3),
            (
                [CALL, {"type": "additional_tools", "role": "developer", "tools": []}],
                ["assistant 1", "developer 1"],
            ),
            (
                [
                    {"type": "tool_search_call", "execution": "server", "call_id": "c1"},
                    {"type": "tool_search_output", "execution": "server", "call_id": "c1"},
                    CALL,
                ],
                ["assistant 3"],
            ),
            (
                [
                    SHELL | {"environment": CONTAINER},
                    {"type": "shell_call_output", "call_id": "c1", "output": []},
                ],
                ["assistant 2"],
            ),
            (
                [SHELL, {"type": "shell_call_output", "call_id": "c1", "output": []}],
                ["assistant 1", "tool 1"],
            ),
            ([{"type": "program", "call_id": "p"}, {"type": "program_output"}], ["assistant 2"]),
        ],
    )
    def test_puts_the_items_of_one_response_into_one_message(
        self, items: list[dict[str, Any]], groups: list[str]
    ):
        """
        The model's items stay together until somebody else speaks, or another response starts.
        """
        assert groups == [f"{message.role} {len(message.parts)}" for message in load(items)]
        assert back(*items)

    @pytest.mark.parametrize(
        "item",
        [
            {"role": "user"},
            {"role": "user", "content": None},
            {"role": "user", "content": []},
            {"role": "user", "content": "hi", "type": "message", "id": "m1", "status": "completed"},
            {"role": "user", "content": "hi", "name": "ann", "type": None},
            said({"type": "input_text", "text": "hi"}),
            said({"type": "thing"}),
            said({"type": "message", "content": []}),
            {"role": "tool", "content": "x"},
            {"role": "critic", "content": "x", "id": "m1"},
            {"role": "assistant", "content": [{"type": "input_text", "text": "x"}]},
            {"role": "assistant", "content": "x", "type": "message"},
            {"role": "developer", "type": "additional_tools", "tools": []},
            {"role": "assistant", "type": "additional_tools", "tools": []},
            {"role": "user", "type": "input_text", "text": "x"},
            {"role": "developer", "type": "output_new", "text": "x"},
            {"type": "input_text", "text": "x"},
            {"type": "refusal"},
            *({"type": kind} for kind in ("client", "answer", "alone", "other", "output_output")),
            {"type": "tool_search_call", "execution": "server", "call_id": {}},
            {"type": "tool_search_output", "execution": "server", "call_id": []},
            {"type": "configuration_update", "reasoning": {"effort": "low"}},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "", "role": "x"},
            {"role": "user", "content": "hi", "": {"keys": 1}},
        ],
    )
    def test_keeps_the_shape(self, item: dict[str, Any]):
        """
        Null, missing, empty and listed content are told apart, and keys without a field kept.
        """
        assert back(item)
        assert back(SEARCH, item, CALL)

    def test_takes_the_short_form(self):
        """
        A text is one message of a user.
        """
        assert (user("hi"),) == load("hi")

    def test_puts_the_instructions_first(self):
        """
        Instructions are a system message that only `request` gives back.
        """
        turns = [{"role": "system", "content": "a"}, {"role": "user", "content": "hi"}]
        told, *rest = load(turns, "Be brief.")

        assert ("system", "Be brief.") == (told.role, told.text)
        assert tuple(rest) == load(turns)
        assert turns == dump([told, *rest])

    @pytest.mark.parametrize(
        ("turns", "text"),
        [
            ({}, "input: expected text or a list of items, got an object"),
            ([None], "input[0]: expected an object, got null"),
            ([{}], "input[0].role: expected a word such as 'user', got nothing"),
            ([{"content": "hi"}], "input[0].role: expected a word such as 'user', got nothing"),
            (
                [{"type": "message", "role": None}],
                "input[0].role: expected a word such as 'user', got null",
            ),
            (
                [{"role": " ", "content": ""}],
                "input[0].role: expected a word such as 'user', got text",
            ),
            ([{"role": ["user"]}], "input[0].role: expected a word such as 'user', got a list"),
            ([{"type": 1}], "input[0].type: expected text, got a number"),
            (
                [{"role": "user", "content": True}],
                "input[0].content: expected text or a list of parts, got a boolean",
            ),
            (
                [{"role": "assistant", "content": {}}],
                "input[0].content: expected text or a list of parts, got an object",
            ),
            ([said(SAID, "a")], "input[0].content[1]: expected an object, got text"),
            ([answer("a")], "input[0].content[0]: expected an object, got text"),
            ([out([1])], "input[0].output[0]: expected an object, got a number"),
            ([out({})], "input[0].output: expected text or a list of parts, got an object"),
            ([CALL | {"call_id": 5}], "input[0].call_id: expected text, got a number"),
            ([CALL | {"name": 1}], "input[0].name: expected text, got a number"),
            (
                [{"type": "custom_tool_call", "call_id": "", "name": ""}],
                "input[0].input: expected text, got nothing",
            ),
        ],
    )
    def test_names_the_place_of_a_fault(self, turns: Any, text: str):
        """
        An item of another form is refused with the place, the wish and what was found.
        """
        with pytest.raises(FormatError) as caught:
            load(turns)

        assert text == str(caught.value)

    def test_refuses_instructions_that_are_no_text(self):
        """
        The API's instructions are text.
        """
        with pytest.raises(FormatError, match=r"^system: expected text, got a list"):
            load([], ["Be brief."])  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("item", "text"),
        [
            (
                {"role": "user", "content": "", "at": {1}},
                "input[0].at: JSON cannot hold a set; convert it first",
            ),
            (
                answer(SAID | {"annotations": [b""]}),
                "input[0].content[0].annotations[0]: JSON cannot hold a bytes; convert it first",
            ),
            (
                {"role": "assistant", "content": "", "x": {1}},
                "input[0].x: JSON cannot hold a set; convert it first",
            ),
            (CALL | {"id": b""}, "input[0].id: JSON cannot hold a bytes; convert it first"),
            (SEARCH | {1: ""}, "input[0]: JSON keys are text, got 1; use '1'"),
        ],
    )
    def test_names_the_key_that_json_cannot_hold(self, item: dict[Any, Any], text: str):
        """
        What JSON cannot hold is refused under the path where the caller wrote it.
        """
        with pytest.raises(ConfigError) as caught:
            load([item])

        assert text == str(caught.value)

    def test_keeps_nothing_of_the_callers(self):
        """
        Changing an item after loading it changes no message.
        """
        items = [said({"type": "x", "y": [1]}, z=[1]), answer(SAID), SEARCH | {"y": [1]}]
        items = json.loads(json.dumps(items))
        before = json.loads(json.dumps(items))
        messages = load(items)
        for changed in (
            items[0]["content"],
            items[0]["content"][0]["y"],
            items[0]["z"],
            items[1]["content"][0]["annotations"],
            items[2]["y"],
        ):
            changed.append(2)

        assert before == dump(messages)

    @given(anything | st.lists(anything, max_size=2) | items_like)
    def test_any_json_loads_or_is_refused(self, turns: Any):
        """
        Any JSON gives messages that dump to it, or an error of ours.
        """
        try:
            messages = load(turns)
        except (FormatError, ConfigError):
            return
        if isinstance(turns, str):
            turns = [{"role": "user", "content": turns}]

        assert turns == dump(messages)
        assert messages == load(dump(messages))

    @given(items_like)
    def test_a_part_without_its_id_stays_a_part(self, turns: Any):
        """
        Taking the ids away loses nothing else, and doing it twice changes nothing more.
        """
        try:
            messages = load(turns)
        except (FormatError, ConfigError):
            return
        for message in messages:
            for part in message.parts:
                fresh = without_id(part)
                assert fresh == without_id(fresh)
                assert not was_led(fresh, message)
            freed = evolve(message, parts=tuple(map(without_id, message.parts)))
            assert len(dump([message])) == len(dump([freed]))


class TestDump:
    def test_does_not_send_what_is_yours(self):
        """
        A name, an id and metadata given by hand are never sent: the API has none of them.
        """
        assert [{"role": "user", "content": "hi"}] == dump(
            [user("hi", name="ann", id="m1", metadata={"a": 1})]
        )

    def test_keeps_the_order_of_the_parts(self):
        """
        Items come in the order of the parts; words between results become messages.
        """
        message = user([ToolResult("c1", "a"), "go", "on", ToolResult("c2", "b"), "!"])

        assert [
            out("a"),
            said({"type": "input_text", "text": "go"}, {"type": "input_text", "text": "on"}),
            out("b", call_id="c2"),
            {"role": "user", "content": "!"},
        ] == dump([message])
        assert [out("a"), out("b", call_id="c2")] == dump(
            [Message("tool", (ToolResult("c1", "a"), ToolResult("c2", "b")))]
        )
        assert [
            CALL,
            {"role": "assistant", "content": "a"},
            {"role": "assistant", "content": "b"},
        ] == dump([assistant([ToolCall("c1", "now", '{"tz": 1.50}'), "a", "b"])])

    @pytest.mark.parametrize(
        ("message", "items"),
        [
            (Message("critic", "no"), [{"role": "user", "content": "no"}]),
            (Message("tool", "note"), [{"role": "user", "content": "note"}]),
            (
                Message("critic", ("no", Image(file="f1"), ToolCall("c1", "now"))),
                [
                    {"role": "assistant", "content": "no"},
                    said({"type": "input_image", "file_id": "f1", "detail": "auto"}),
                    CALL | {"arguments": "{}"},
                ],
            ),
            (user(Opaque(NAME, {"type": "compaction"})), [{"type": "compaction"}]),
            (
                assistant([Opaque(NAME, REFUSED), Opaque(NAME, REFUSED)]),
                [{"type": "message", "role": "assistant", "content": [REFUSED, REFUSED]}],
            ),
            (
                user(Opaque(NAME, {"type": "input_new"})),
                [said({"type": "input_new"})],
            ),
            (
                tool([Image(file="f1"), "a"], call_id="c1"),
                [
                    out(
                        [
                            {"type": "input_image", "file_id": "f1", "detail": "auto"},
                            {"type": "input_text", "text": "a"},
                        ]
                    )
                ],
            ),
            (tool(call_id="c1"), [out("")]),
            (tool(Audio("aGk="), call_id="c1"), [out("")]),
            (user(Document(text="words")), [{"role": "user", "content": "words"}]),
            (assistant(Document(text="words")), [{"role": "assistant", "content": "words"}]),
            (user(()), []),
            (assistant(), []),
        ],
    )
    def test_gives_hand_built_messages_their_form(
        self, message: Message, items: list[dict[str, Any]]
    ):
        """
        Any message has a form; an unknown role is the model's if it calls, else a user's.
        """
        assert items == dump([message])

    def test_gives_media_their_form(self):
        """
        Pictures and files made by hand get the form that the API takes; a file of bytes has a name.
        """
        parts = [
            Image("aGk="),
            Image(url="https://x.org/a.png", detail="low"),
            Document("aGk="),
            Document("aGk=", media_type="text/csv"),
            Document("aGk=", name="a.pdf"),
            Document(url="https://x.org/a.pdf", name="a.pdf"),
            Document(file="f1"),
            Document(text="words"),
        ]
        pdf = "data:application/pdf;base64,aGk="

        assert [
            said(
                {
                    "type": "input_image",
                    "image_url": "data:image/png;base64,aGk=",
                    "detail": "auto",
                },
                {"type": "input_image", "image_url": "https://x.org/a.png", "detail": "low"},
                {"type": "input_file", "file_data": pdf, "filename": "document.pdf"},
                {
                    "type": "input_file",
                    "file_data": "data:text/csv;base64,aGk=",
                    "filename": "document.csv",
                },
                {"type": "input_file", "file_data": pdf, "filename": "a.pdf"},
                {"type": "input_file", "file_url": "https://x.org/a.pdf"},
                {"type": "input_file", "file_id": "f1"},
                {"type": "input_text", "text": "words"},
            )
        ] == dump([user(parts)])

    def test_answers_a_custom_call_as_one(self):
        """
        A result made by hand takes the form that its call wants, also for a custom call of Chat.
        """
        custom = {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "a"}
        chat = ToolCall("c1", "sql", '"a"', extra={"openai_chat": {"as": "custom"}})
        output = {"type": "custom_tool_call_output", "call_id": "c1", "output": "1"}

        assert [custom, output] == dump([*load([custom]), tool("1", call_id="c1")])
        assert [custom, output] == dump([assistant(chat), tool("1", call_id="c1")])
        assert [custom, CALL, out("1")] == dump([*load([custom, CALL]), tool("1", call_id="c1")])

    @pytest.mark.parametrize(
        ("call", "result", "keys"),
        [
            (
                {"type": "local_shell_call", "call_id": "c1"},
                tool("a", call_id="c1"),
                {"type": "local_shell_call_output", "id": "c1", "output": "a"},
            ),
            (
                SHELL,
                tool("a", call_id="c1", is_error=True),
                {
                    "type": "shell_call_output",
                    "output": [
                        {"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}
                    ],
                },
            ),
            (
                {"type": "apply_patch_call", "call_id": "c1"},
                tool("a", call_id="c1"),
                {"type": "apply_patch_call_output", "status": "completed", "output": "a"},
            ),
            (
                {"type": "computer_call", "call_id": "c1"},
                tool(["a", Image(url=SCREEN["image_url"])], call_id="c1"),
                {"type": "computer_call_output", "output": SCREEN},
            ),
            (
                {"type": "computer_call", "call_id": "c1"},
                tool("a", call_id="c1"),
                {"type": "computer_call_output", "output": {"type": "computer_screenshot"}},
            ),
            (
                {"type": "computer_call", "call_id": "c1"},
                tool(Opaque(NAME, {"type": "computer_call_output", "output": 1}), call_id="c1"),
                {"type": "computer_call_output", "output": 1},
            ),
            (
                {"type": "tool_search_call", "call_id": "c1"},
                tool('[{"name": "f"}]', call_id="c1"),
                {
                    "type": "tool_search_output",
                    "execution": "client",
                    "status": "completed",
                    "tools": [{"name": "f"}],
                },
            ),
            (
                {"type": "tool_search_call", "call_id": "c1"},
                tool("none", call_id="c1"),
                {
                    "type": "tool_search_output",
                    "execution": "client",
                    "status": "completed",
                    "tools": [],
                },
            ),
            (
                {"type": "new_call", "call_id": "c1"},
                tool('{"seen": true}', call_id="c1"),
                {"type": "new_call_output", "seen": True},
            ),
        ],
    )
    def test_answers_other_calls_in_their_form(
        self, call: dict[str, Any], result: Message, keys: dict[str, Any]
    ):
        """
        A result made by hand for a special call is an item of its kind; a JSON object is its keys.
        """
        assert [call, keys | {"call_id": "c1"}] == dump([*load([call]), result])

    @pytest.mark.parametrize(
        ("text", "keys"),
        [
            ("true", {"approve": True}),
            ('{"approve": true}', {"approve": True}),
            ("fine", {"approve": False, "reason": "fine"}),
        ],
    )
    def test_approves_only_with_a_plain_yes(self, text: str, keys: dict[str, Any]):
        """
        An answer to a request for approval that is not clearly a yes is a no.
        """
        asked = {"type": "mcp_approval_request", "id": "a1", "name": "f"}
        given = {"type": "mcp_approval_response", "approval_request_id": "a1"}

        assert [asked, given | keys] == dump([*load([asked]), tool(text, call_id="a1")])

    def test_sends_changed_content(self):
        """
        Words, reasoning and results changed by hand are sent in the shape they were loaded in.
        """
        items = [
            THOUGHT | {"summary": THOUGHT["summary"] * 2},
            answer(SAID),
            out([{"type": "input_text", "text": "long"}]),
        ]
        said_, result = load(items)
        thought, text = said_.parts
        parts = (evolve(thought, text="hm"), evolve(text, text="Bye."))
        clipped = evolve(result.tool_results[0], content="lo…")

        assert [
            THOUGHT | {"summary": [{"type": "summary_text", "text": "hm"}]},
            answer(SAID | {"text": "Bye."}),
            out([{"type": "input_text", "text": "lo…"}]),
        ] == dump([evolve(said_, parts=parts), evolve(result, parts=(clipped,))])
        assert [THOUGHT | {"summary": []}] == dump(
            [evolve(said_, parts=(evolve(thought, text=""),))]
        )

    def test_sends_changed_calls(self):
        """
        Calls and answers changed by hand are sent, also those that are kept whole.
        """
        custom = {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "a"}
        asked = {"type": "mcp_approval_request", "id": "c1", "name": "f"}
        calls = load([custom, SHELL, asked])[0].tool_calls
        screen = {"type": "computer_call_output", "call_id": "c1", "output": SCREEN}
        (result,) = load([screen])[0].tool_results

        assert [
            custom | {"call_id": "c9", "input": '{"b":1}'},
            {"type": "shell_call", "call_id": "c9", "b": 1},
            {"type": "mcp_approval_request", "id": "c9", "b": 1},
        ] == dump([assistant(calls=[evolve(c, id="c9", arguments='{"b":1}') for c in calls])])
        assert [{"type": "shell_call", "call_id": "c1"}] == dump(
            [assistant(evolve(calls[1], arguments="clipped"))]
        )
        assert [screen | {"call_id": "c9"}] == dump([Message("tool", evolve(result, call_id="c9"))])
        for content in ("clipped", Opaque(NAME, {"type": "other"})):
            assert [screen | {"output": {"type": "computer_screenshot"}}] == dump(
                [Message("tool", evolve(result, content=content))]
            )

    def test_sends_the_models_words_in_another_role(self):
        """
        What belongs to a message item of the model is nothing for a user's message.
        """
        (message,) = load([answer(SAID)])
        (easy_,) = load([{"role": "assistant", "content": "hi", "phase": "commentary"}])

        assert [{"role": "user", "content": "Hello."}, {"role": "user", "content": "hi"}] == dump(
            [evolve(message, role="user"), evolve(easy_, role="user")]
        )
        assert [said(*[{"type": "input_text", "text": "Hello."}] * 2)] == dump(
            [user([*message.parts, "Hello."])]
        )

    def test_gives_the_rest_of_an_item_an_item(self):
        """
        When the first text of a message item is gone, the others stand in one of their own.
        """
        message = one(answer(SAID, SAID | {"text": "b"}, REFUSED))

        assert [
            {
                "type": "message",
                "role": "assistant",
                "content": [SAID | {"text": "b"}, REFUSED],
            }
        ] == dump([evolve(message, parts=message.parts[1:])])

    def test_leaves_out_what_the_api_has_no_form_for(self):
        """
        What is left out gives no turn, and never stops the rest.
        """
        parts = [
            Reasoning("hm", signature="x"),
            Opaque("anthropic", {"type": "x"}),
            Opaque(NAME, ["x"]),
            Audio("aGk="),
            Image(),
        ]

        assert [{"role": "user", "content": "4"}] == dump(
            [user(parts), assistant(parts), user([*parts, "4"])]
        )

    def test_ignores_the_extra_of_other_formats(self):
        """
        Keys that another format kept are not sent.
        """
        part = Text("hi", extra={"anthropic": {"keys": {"cache_control": {}}}})

        assert [{"role": role, "content": "hi"} for role in ("user", "assistant")] == dump(
            [
                Message(role, part, extra={"anthropic": {"keys": {"x": 1}}})
                for role in ("user", "assistant")
            ]
        )

    def test_refuses_what_is_no_message(self):
        """
        A dict is refused with its place.
        """
        with pytest.raises(FormatError, match=r"^messages\[0\]: expected a Message, got an object"):
            dump([{"role": "user"}])  # type: ignore[list-item]

    def test_is_fresh_each_time(self):
        """
        Two dumps share nothing.
        """
        messages = load([said({"type": "x", "y": [1]}, z=[1]), THOUGHT, answer(SAID), SHELL])
        first = dump(messages)
        untouched = json.loads(json.dumps(first))
        for changed in (
            first[0]["content"][0]["y"],
            first[0]["z"],
            first[1]["summary"],
            first[2]["content"],
            first[2]["content"][0]["annotations"],
            first[3]["action"]["commands"],
        ):
            changed.append(2)

        assert untouched == dump(messages)

    @given(built)
    def test_any_message_dumps_as_json(self, messages: list[Message]):
        """
        Whatever is built by hand dumps to JSON that loads again to the same dump.
        """
        items = dump(messages)

        assert items == json.loads(json.dumps(items)) == dump(load(items))

    @given(built)
    def test_drops_only_what_left_out_names(self, messages: list[Message]):
        """
        Every text, call and result that `left_out` does not name is in the dump.
        """
        dumped = json.dumps(dump(messages), ensure_ascii=False)
        for message in messages:
            for part in message.parts:
                if isinstance(part, ToolCall | ToolResult | Text):
                    assert not left_out(part, message.role)
        calls_ = sum(len(message.tool_calls) for message in messages)
        results_ = sum(len(message.tool_results) for message in messages)

        assert calls_ == dumped.count('"function_call"')
        assert results_ == dumped.count('"function_call_output"')


class TestRequest:
    def test_gives_input_and_instructions(self):
        """
        The keyword arguments for the client, without instructions where there are none.
        """
        turns = [{"role": "user", "content": "hi"}, {"role": "developer", "content": "x"}]

        assert {"input": turns, "instructions": "Be brief."} == request(load(turns, "Be brief."))
        assert {"input": turns} == request(load(turns))
        assert {"input": turns, "instructions": ""} == request(load(turns, ""))

    def test_joins_several_instructions(self):
        """
        Instructions that were loaded twice are all told.
        """
        messages = [*load([], "a"), user("hi"), *load([], "b")]

        assert "a\n\nb" == request(messages)["instructions"]

    def test_reports_what_was_mended(self):
        """
        What the API cannot carry is in the report.
        """
        report: list[Any] = []
        body = request([user(["hi", Audio("aGk=")])], report)

        assert {"input": [{"role": "user", "content": "hi"}]} == body
        assert any("audio: OpenAI Responses takes none" in line.text for line in report)


class TestLeftOut:
    @pytest.mark.parametrize(
        ("part", "role", "text"),
        [
            (Text("hi"), "user", ""),
            (Image("aGk="), "user", ""),
            (Image("aGk="), "tool", ""),
            (Image("aGk="), "assistant", "an image: OpenAI Responses takes none from an assistant"),
            (Image(), "user", "an image without data, url or file id"),
            (Document(file="f1"), "developer", ""),
            (Document(text="x"), "assistant", ""),
            (
                Document(file="f1"),
                "assistant",
                "a document: OpenAI Responses takes none from an assistant",
            ),
            (Document(), "user", "a document without data, url or file id"),
            (Audio("aGk="), "user", "audio: OpenAI Responses takes none"),
            (Reasoning("hm"), "assistant", "reasoning of another provider"),
            (Reasoning("hm", extra=own(**{"as": "reasoning"})), "assistant", ""),
            (ToolCall("c1", "now"), "assistant", ""),
            (ToolResult("c1", "noon"), "tool", ""),
            (Opaque(NAME, SEARCH), "assistant", ""),
            (Opaque(NAME, 1), "assistant", "an opaque part that is no object"),
            (Opaque("gemini", {}), "user", "what only gemini understands"),
        ],
    )
    def test_says_why(self, part: Part, role: str, text: str):
        """
        Each part that `dump` does not write has a reason, and only those.
        """
        assert text == left_out(part, role)
        assert bool(text) == ([] == dump([Message(role, part)]))

    def test_takes_sound_that_was_loaded(self):
        """
        Sound that a user's message had goes back, since its API took it.
        """
        part = {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}}
        (loaded,) = one(said(part)).parts

        assert ["", "audio: OpenAI Responses takes none"] == [
            left_out(loaded, role) for role in ("user", "assistant")
        ]


class TestIds:
    def test_knows_what_reasoning_led_to(self):
        """
        An item after a reasoning item was led to by it, if it has an id to be known by.
        """
        custom = {"type": "custom_tool_call", "call_id": "c1", "name": "f", "input": ""}
        for item in (
            answer(SAID, SAID),
            CALL | {"id": "fc_1"},
            custom | {"id": "ctc_1"},
            SHELL | {"id": "sh_1"},
            SEARCH,
            answer(REFUSED),
            answer(),
            {"role": "assistant", "content": "hi", "id": "msg_1"},
        ):
            message = one(THOUGHT, item, CALL)

            assert [1] == [at for at, part in enumerate(message.parts) if was_led(part, message)], (
                item
            )
            assert back(THOUGHT, item, CALL)
        for items in ([THOUGHT, CALL], [SEARCH, THOUGHT, SHELL], [THOUGHT, THOUGHT]):
            message = one(*items)

            assert not any(was_led(part, message) for part in message.parts)
        message = one(THOUGHT, CALL | {"id": "fc_1"}, CALL | {"id": "fc_2"}, SEARCH)

        assert [False, True, True, True] == [was_led(part, message) for part in message.parts]
        messages = load([THOUGHT, CALL, out(), CALL | {"id": "fc_1"}])

        assert not was_led(messages[2].parts[0], messages[2])

    def test_a_response_knows_it_too(self):
        """
        So does the message of a reply.
        """
        (message,) = reply(response(THOUGHT, SEARCH, THOUGHT | {"id": "rs_2"}, answer(SAID)))

        assert [1, 3] == [at for at, part in enumerate(message.parts) if was_led(part, message)]

    def test_an_opaque_part_needs_its_message(self):
        """
        It has nowhere to keep what it was led by.
        """
        message = one(THOUGHT, SEARCH)

        assert [False, True] == [was_led(message.parts[1]), was_led(message.parts[1], message)]
        assert not was_led(message.parts[1], user("hi"))

    @pytest.mark.parametrize(
        ("item", "id_", "fresh"),
        [
            (CALL | {"id": "fc_1"}, "fc_1", CALL),
            (CALL | {"id": "fc_1", "status": "x"}, "fc_1", CALL | {"status": "x"}),
            (SHELL | {"id": "sh_1"}, "sh_1", SHELL),
            (SEARCH, "ws_1", {"type": "web_search_call", "status": "completed"}),
            (THOUGHT, "rs_1", {key: value for key, value in THOUGHT.items() if key != "id"}),
            (
                answer(SAID, REFUSED),
                "msg_1",
                {
                    "type": "message",
                    "status": "completed",
                    "role": "assistant",
                    "content": [SAID, REFUSED],
                },
            ),
            (
                {"role": "assistant", "content": "hi", "id": "m"},
                "m",
                {"role": "assistant", "content": "hi"},
            ),
            (out(id="fco_1"), "fco_1", out()),
            ({"id": "msg_1"}, "msg_1", {"id": "msg_1"}),
            (
                {"type": "mcp_approval_request", "id": "a1"},
                "a1",
                {"type": "mcp_approval_request", "id": "a1"},
            ),
            (CALL, "", CALL),
            (SEARCH | {"id": 1}, "", SEARCH | {"id": 1}),
        ],
    )
    def test_takes_an_items_id_away(self, item: dict[str, Any], id_: str, fresh: dict[str, Any]):
        """
        Without its id an item is a fresh one, and else as it was.
        """
        message = one(item)

        assert id_ == item_id(message.parts[0])
        freed = evolve(message, parts=tuple(map(without_id, message.parts)))
        assert [fresh] == dump([freed])
        (led,) = load([THOUGHT, item])[:1]
        freed = evolve(led, parts=tuple(map(without_id, led.parts[1:])))
        if len(led.parts) > 1:
            assert [fresh] == dump([freed])
            assert not was_led(freed.parts[0], freed)

    def test_a_call_without_its_id_has_no_extra(self):
        """
        It equals one made by hand; what other formats kept stays.
        """
        led = load([THOUGHT, CALL | {"id": "fc_1"}])[0].tool_calls[0]
        both = evolve(led, extra={**led.extra.value, "gemini": {"x": 1}})

        assert ToolCall("c1", "now", '{"tz": 1.50}') == without_id(led)
        assert {"gemini": {"x": 1}} == without_id(both).extra.value  # type: ignore[union-attr]

    @pytest.mark.parametrize(
        "part",
        [
            Text("hi"),
            Image(file="f1"),
            Opaque("gemini", {"id": "x"}),
            Opaque(NAME, [1]),
            ToolCall("c1", "f", "clipped", extra=own(**{"as": "item"})),
        ],
    )
    def test_leaves_a_part_that_has_none(self, part: Part):
        """
        Nothing to take away, nothing changed.
        """
        assert ("", part) == (item_id(part), without_id(part))


class TestReply:
    def test_gives_one_message_with_all_items(self):
        """
        One response is one assistant message: reasoning, words and parallel calls, sent back as is.
        """
        output = [
            THOUGHT,
            answer(SAID),
            CALL | {"id": "fc_1"},
            CALL | {"call_id": "c2"},
            SEARCH,
            answer(REFUSED),
            answer(SAID),
        ]
        (message,) = reply(response(*output))

        assert ("assistant", "resp_12345678", "Hello.No.Hello.") == (
            message.role,
            message.id,
            message.text,
        )
        assert ["c1", "c2"] == [call.id for call in message.tool_calls]
        assert output == dump([message])

    def test_reads_the_clients_object(self):
        """
        The object of the client holds what was sent, and nothing more goes back.
        """
        types = pytest.importorskip("openai.types.responses")
        output = [THOUGHT, answer(SAID), CALL | {"id": "fc_1", "status": "completed"}, SEARCH]
        usage = {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        }
        found = types.Response.construct(**response(*output, usage=usage))

        assert output == dump(reply(found))
        assert ("resp_12345678", 4) == (reply(found)[0].id, len(reply(found)[0].parts))
        strict = types.Response.model_validate(response(answer(SAID), CALL))
        assert [answer(SAID), CALL] == dump(reply(strict))

    def test_drops_what_the_client_parsed(self):
        """
        Parsed output and arguments are the client's own, and never sent.
        """
        parsed = pytest.importorskip("openai.types.responses.parsed_response")
        output = [answer(SAID | {"parsed": {"a": 1}}), CALL | {"parsed_arguments": {"tz": 1.5}}]
        found = parsed.ParsedResponse.construct(**response(*output))
        sent = [answer(SAID), CALL]

        assert sent == dump(reply(response(*output)))
        assert sent == dump(reply(found))

    def test_keeps_what_the_server_ran_as_it_is(self):
        """
        A call that comes with its answer, or a message that is not the model's, is no open call.
        """
        output = [
            SHELL,
            {"type": "shell_call_output", "call_id": "c1", "output": []},
            {"type": "additional_tools", "role": "developer", "tools": []},
            CALL | {"call_id": "c2"},
        ]
        (message,) = reply(response(*output))

        assert ["c2"] == [call.id for call in message.tool_calls]
        assert output == dump([message])

    def test_an_empty_answer_is_an_empty_message(self):
        """
        A complete response without items is a message without parts, which is not sent.
        """
        (message,) = reply(response())

        assert assistant((), id="resp_12345678") == message
        assert [] == dump([message])

    def test_needs_no_id(self):
        """
        Servers that give no id give a message without one.
        """
        assert (assistant("hi"),) == reply({"output": [{"role": "assistant", "content": "hi"}]})

    @pytest.mark.parametrize(
        ("given", "text"),
        [
            (
                response(status="failed", error={"code": "server_error", "message": "Sorry."}),
                "response: the API says: Sorry. (server_error)",
            ),
            (
                response(status="cancelled"),
                "response: expected one that is complete, this one is cancelled",
            ),
            (
                response(status="incomplete", incomplete_details={"reason": "content_filter"}),
                "response: it is incomplete (content_filter), and empty",
            ),
            (
                response(status="incomplete", incomplete_details=None),
                "response: it is incomplete (no reason), and empty",
            ),
            ({"id": "x"}, "response.output: expected a list, got nothing"),
            (response("x"), "response.output[0]: expected an object, got text"),
            (response({"type": 1}), "response.output[0].type: expected text, got a number"),
            (
                response(answer(1)),
                "response.output[0].content[0]: expected an object, got a number",
            ),
            (
                None,
                (
                    "response: expected a response of the client, its dict, or the events of "
                    "a stream, got null"
                ),
            ),
            ([1], "response[0]: expected an event of a stream, got a number"),
            ([], "response: expected the events of a stream that has ended, got a list"),
        ],
    )
    def test_refuses_what_has_no_message(self, given: Any, text: str):
        """
        A response that failed says what the API says.
        """
        with pytest.raises(FormatError) as caught:
            reply(given)

        assert text == str(caught.value)

    def test_an_incomplete_answer_is_one(self):
        """
        What there is of it is kept.
        """
        assert "Hello." == reply(response(answer(SAID), status="incomplete"))[0].text

    @given(st.lists(items_like, max_size=1) | anything)
    def test_any_output_is_read_or_refused(self, output: Any):
        """
        Whatever stands in an output is read or refused with an error of ours.
        """
        output = output[0] if isinstance(output, list) and output else output
        try:
            (message,) = reply({"output": output})
        except (FormatError, ConfigError):
            return

        assert "assistant" == message.role
        assert json.loads(json.dumps(dump([message]))) == dump([message])


def event(kind: str, **keys: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "sequence_number": 0, **keys}


def done(item: dict[str, Any], at: int) -> dict[str, Any]:
    return event("output_item.done", output_index=at, item=item)


class TestStream:
    output = (THOUGHT, answer(SAID), CALL, CALL | {"call_id": "c2"})

    def test_takes_the_response_of_the_last_event(self):
        """
        The last event holds the whole response; deltas before it say nothing more.
        """
        events = [
            event("created", response=response(status="in_progress")),
            event("output_text.delta", delta="Hel", item_id="msg_1"),
            done(answer(SAID), 1),
            event("completed", response=response(*self.output)),
        ]

        assert reply(response(*self.output)) == reply(events) == reply(iter(events))
        assert reply(response(*self.output)) == reply(events[-1])

    def test_reads_the_clients_events(self):
        """
        Events as the client gives them.
        """
        types = pytest.importorskip("openai.types.responses")
        adapter = pytest.importorskip("pydantic").TypeAdapter(types.ResponseStreamEvent)
        events = [
            event("created", response=response(status="in_progress")),
            event("in_progress", response=response(status="in_progress")),
            event("output_item.added", output_index=0, item=THOUGHT | {"encrypted_content": "g"}),
            *(done(item, at) for at, item in enumerate(self.output)),
            event("completed", response=response(*self.output)),
        ]
        found = [adapter.validate_python(given) for given in events]

        assert list(self.output) == dump(reply(found))
        assert list(self.output) == dump(reply(found[:-1]))

    def test_puts_the_items_that_were_done_together(self):
        """
        Without a last event, or with an empty one, the items that were done make the response.
        """
        items = [done(item, at) for at, item in enumerate(self.output)]
        events = [event("created", response=response(status="in_progress")), *reversed(items)]
        empty = event("completed", response=response())

        assert reply(response(*self.output)) == reply(events) == reply([*events, empty])

    def test_refuses_one_that_broke_off(self):
        """
        An item that was begun and never done is half an answer.
        """
        events = [
            event("created", response=response(status="in_progress")),
            event("output_item.added", output_index=0, item=THOUGHT),
            done(THOUGHT, 0),
            event("output_item.added", output_index=1, item=answer(SAID)),
            event("output_text.delta", delta="Hel", output_index=1),
        ]
        with pytest.raises(FormatError, match="broke off, 1 of its items were begun and not done"):
            reply(events)

        assert [THOUGHT, answer(SAID)] == dump(reply([*events, done(answer(SAID), 1)]))

    def test_takes_an_incomplete_one(self):
        """
        A response that was cut short is kept as far as it goes.
        """
        cut = response(answer(SAID), status="incomplete")

        assert "Hello." == reply([event("incomplete", response=cut)])[0].text

    @pytest.mark.parametrize(
        ("events", "text"),
        [
            (
                [event("failed", response=response(error={"message": "Sorry."}, status="failed"))],
                "response: the API says: Sorry.",
            ),
            (
                [done(CALL, 0), {"type": "error", "code": "x", "message": "Sorry."}],
                "response: the API says: Sorry. (x)",
            ),
            (
                [{"type": "error", "error": {"code": None}}],
                "response: the API says: no reason",
            ),
            (
                [event("created", response=response())],
                "response: expected the events of a stream that has ended, got a list",
            ),
        ],
    )
    def test_says_what_went_wrong(self, events: list[dict[str, Any]], text: str):
        """
        A stream that failed, or has not ended, is refused.
        """
        with pytest.raises(FormatError) as caught:
            reply(events)

        assert text == str(caught.value)

    def test_takes_indexes_of_any_kind(self):
        """
        Servers that number nothing, or with text, still give their items in order.
        """
        events = [{"type": "response.output_item.done", "item": item} for item in self.output]
        for index in ("{}", [0]):
            named = [
                given | {"output_index": f"{at}" if index == "{}" else index}
                for at, given in enumerate(events)
            ]

            assert list(self.output) == assembled(events)["output"] == assembled(named)["output"]


class TestAcross:
    CHAT = (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}]},
        {
            "role": "assistant",
            "content": "Looking.",
            "reasoning_content": "hm",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "noon"},
    )

    def test_takes_a_chat(self):
        """
        A conversation of the Chat API keeps its texts, calls and results here.
        """
        assert [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is this?"},
            {"role": "assistant", "content": "Looking."},
            CALL | {"arguments": "{}"},
            out("noon"),
        ] == dump(openai_chat.load(self.CHAT))

    @needs_shared
    @pytest.mark.parametrize("name", ["tau_airline", "pi_coding", "swe_agent", "crosswoz"])
    def test_real_chats_keep_all_they_say(self, name: str, accepts: Any):
        """
        No text, call or result of a real chat is lost, and the client's types take them all.
        """
        lines = (SHARED / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        for line in lines[:40]:
            messages = openai_chat.load(json.loads(line)["messages"])
            items = dump(messages)
            loaded = load(items)

            assert [text for m in messages if (text := m.text)] == [
                text for m in loaded if (text := m.text)
            ]
            assert [m.tool_calls for m in messages if m.tool_calls] == [
                m.tool_calls for m in loaded if m.tool_calls
            ]
            assert [r.call_id for m in messages for r in m.tool_results] == [
                r.call_id for m in loaded for r in m.tool_results
            ]
            accepts(items)


class TestTypesOfTheClient:
    @given(messages=built)
    def test_take_what_is_built_by_hand(self, accepts: Any, messages: list[Message]):
        """
        Whatever is built by hand dumps to what the client's types allow.
        """
        accepts(dump(messages))

    def test_take_answers_to_every_kind_of_call(self, accepts: Any):
        """
        So do results made by hand for special calls.
        """
        kinds = ["local_shell", "shell", "apply_patch", "computer", "tool_search", "custom_tool"]
        for kind in kinds:
            item = {"type": f"{kind}_call", "call_id": "c1", "name": "f", "input": ""}
            _, result = dump([*load([item]), tool("a", call_id="c1")])
            accepts([result])


@needs_shared
class TestRealRequests:
    def bodies(self) -> list[dict[str, Any]]:
        lines = (SHARED / "data" / "api_shapes.jsonl").read_text(encoding="utf-8").splitlines()
        return [body for line in lines if (body := json.loads(line))["api"] == "responses"]

    def test_come_back_as_they_were(self):
        """
        Every real request of this API is lossless, its instructions through `request`.
        """
        bodies = self.bodies()
        for body in bodies:
            messages = load(body["messages"], body["system"])
            told = {} if body["system"] is None else {"instructions": body["system"]}

            assert body["messages"] == dump(messages)
            assert messages[bool(told) :] == load(dump(messages))
            assert {"input": body["messages"], **told} == request(messages)
        assert bodies

    def test_come_back_from_a_reply(self):
        """
        The model's items of a real request, had they come in a response, go back as they were.
        """
        for body in self.bodies():
            for message in load(body["messages"]):
                if message.role == "assistant":
                    output = dump([message])

                    assert output == dump(reply(response(*output)))

    def test_come_back_when_changed(self):
        """
        Real requests with keys taken away, doubled or changed load and come back, or are refused.
        """
        chance = random.Random(3)
        for body in self.bodies() * 20:
            items = json.loads(json.dumps(body["messages"]))
            for _ in range(chance.randint(1, 3)):
                spoil(items, chance)
            try:
                messages = load(items)
            except (FormatError, ConfigError):
                continue

            assert items == dump(messages)


def spoil(value: Any, chance: Any) -> None:
    places = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not places:
        return
    place = chance.choice(places)
    if isinstance(value[place], dict | list) and chance.random() < 0.8:
        spoil(value[place], chance)
    elif chance.random() < 0.4:
        del value[place]
    else:
        value[place] = chance.choice([None, "", "hi", 1, [], {}, [{}], {"type": "x"}, "assistant"])
