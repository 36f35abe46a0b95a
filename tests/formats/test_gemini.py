"""
Gemini: nothing is lost between `load` and `dump`, and the client takes what is dumped.
"""

import base64
import json
from itertools import dropwhile
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from unabridged.errors import ConfigError, FormatError
from unabridged.formats import gemini, openai_chat
from unabridged.formats.gemini import dump, load, reply, request
from unabridged.formats.gemini_parts import is_signed, left_out, with_dummy_signature
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
from unabridged.testing.generators import messages as log_messages

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the shared transcripts are not beside the project"
)

DUMMY = base64.b64encode(b"skip_thought_signature_validator").decode()
CALL = {"functionCall": {"id": "c1", "name": "now", "args": {"tz": 1.5}}}
RESULT = {"functionResponse": {"id": "c1", "name": "now", "response": {"output": "noon"}}}


def own(**hints: Any) -> dict[str, Any]:
    return {"gemini": hints}


def said(*parts: Any, **keys: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts), **keys}


def answered(*parts: Any, **keys: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts), **keys}


def one(turn: Any) -> Message:
    (message,) = load([turn])
    return message


def responding(response: Any, **keys: Any) -> dict[str, Any]:
    return {"functionResponse": {"id": "c1", "name": "now", "response": response, **keys}}


def bodies() -> list[dict[str, Any]]:
    lines = (SHARED / "data" / "api_shapes.jsonl").read_text(encoding="utf-8").splitlines()
    return [body for body in map(json.loads, lines) if body["api"] == "gemini"]


def accepted(contents: list[Any]) -> list[Any]:
    types = pytest.importorskip("google.genai.types", reason="google-genai is not installed")
    return [
        types.Content.model_validate(turn).model_dump(mode="json", by_alias=True, exclude_none=True)
        for turn in contents
    ]


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
texts = st.sampled_from(
    ["", "hi", "c1", "now", "https://x.org/a.png", "data:image/png;base64,aGk="]
)
mime = st.sampled_from(["image/png", "audio/mpeg", "application/pdf", "video/mp4", "text/csv", ""])
BLOB = "mimeType mime_type data fileUri file_uri displayName display_name x"
INNER = "id id name name args response parts x"
PART = (
    "text text thought thoughtSignature thought_signature inlineData inline_data fileData file_data"
    " functionCall functionCall function_call functionResponse functionResponse function_response"
    " executableCode toolCall videoMetadata mediaResolution $bytes x"
)


def value(key: str) -> st.SearchStrategy[Any]:
    known = {
        "role": st.sampled_from(["user", "model", "function", "tool", "system", "assistant", "x"]),
        "parts": st.none() | st.lists(shaped(PART) | typical | st.just("hi"), max_size=3),
        "thought": st.booleans(),
        "thoughtSignature": st.sampled_from(["c2ln", "", b"sig"]),
        "thought_signature": st.sampled_from(["c2ln", "", b"sig"]),
        "data": st.sampled_from(["aGk=", "_-8=", "+/8=", "_+8=", b"hi", "", "?"]),
        "mimeType": mime,
        "mime_type": mime,
        "args": st.none() | st.dictionaries(texts, scalars, max_size=2),
        "response": st.none()
        | st.dictionaries(
            st.sampled_from(["output", "error", "result", "return_value", "x"]),
            texts | scalars,
            max_size=2,
        ),
        "x": texts,
    }
    known |= dict.fromkeys(("inlineData", "inline_data", "fileData", "file_data"), shaped(BLOB))
    calls = ("functionCall", "function_call", "functionResponse", "function_response", "toolCall")
    known |= dict.fromkeys(calls, shaped(INNER))
    ordinary = known.get(key, texts)

    return st.integers(0, 12).flatmap(lambda die: anything if die == 0 else ordinary)


def shaped(keys: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.deferred(
        lambda: st.lists(st.sampled_from(keys.split()), unique=True, max_size=4).flatmap(
            lambda chosen: st.fixed_dictionaries({key: value(key) for key in chosen})
        )
    )


def mutated(part: dict[str, Any], keys: str) -> st.SearchStrategy[dict[str, Any]]:
    """
    The part with keys added, replaced or taken away.
    """
    return st.tuples(shaped(keys), st.none() | st.sampled_from(sorted(part))).map(
        lambda drawn: {key: v for key, v in {**part, **drawn[0]}.items() if key != drawn[1]}
    )


WHOLE = {
    "inlineData": {"mimeType": "image/png", "data": "_-8="},
    "inline_data": {"mime_type": "audio/mpeg", "data": b"hi"},
    "fileData": {"mimeType": "application/pdf", "fileUri": "gs://b/a.pdf"},
    "functionCall": CALL["functionCall"],
    "function_call": CALL["functionCall"],
    "functionResponse": RESULT["functionResponse"],
    "function_response": RESULT["functionResponse"],
}
typical = st.sampled_from(sorted(WHOLE)).flatmap(
    lambda kind: st.tuples(
        mutated(WHOLE[kind], BLOB if kind[-4:].lower() == "data" else INNER),
        shaped("thought thoughtSignature thought_signature x"),
    ).map(lambda drawn: {kind: drawn[0], **drawn[1]})
) | shaped("thoughtSignature thought_signature x").map(
    lambda keys: {"text": "hm", "thought": True, **keys}
)

turns_like = st.lists(
    st.tuples(value("parts"), shaped("role role x")).map(
        lambda drawn: {"parts": drawn[0]} | drawn[1]
    ),
    max_size=3,
)


class TestLoad:
    def test_is_public(self):
        """
        The format's public names are the four that every format has.
        """
        assert ["dump", "load", "reply", "request"] == gemini.__all__

    @pytest.mark.parametrize(
        ("turns", "messages"),
        [
            ([said({"text": "hi"})], (user("hi"),)),
            ([answered({"text": "hi"})], (assistant("hi"),)),
            ([answered({"text": ""})], (assistant(""),)),
            ([said({"text": "a"}, {"text": "b"})], (user(["a", "b"]),)),
            (
                [answered({"text": "Looking."}, CALL), said(RESULT)],
                (
                    assistant("Looking.", calls=[ToolCall("c1", "now", {"tz": 1.5})]),
                    Message("user", ToolResult("c1", "noon")),
                ),
            ),
            (
                [answered(CALL), said(responding({"error": "no clock"}))],
                (
                    assistant(calls=[ToolCall("c1", "now", {"tz": 1.5})]),
                    Message("user", ToolResult("c1", "no clock", is_error=True)),
                ),
            ),
        ],
    )
    def test_an_ordinary_message_equals_one_built_by_hand(
        self, turns: list[Any], messages: tuple[Message, ...]
    ):
        """
        An ordinary message has no extra, and dumps to the dict it came from.
        """
        assert messages == load(turns)
        assert turns == dump(messages)

    @pytest.mark.parametrize(
        ("part", "loaded"),
        [
            (
                {"text": "hm", "thought": True},
                Reasoning("hm", extra=own(**{"as": "thought"})),
            ),
            (
                {"text": "hm", "thought": True, "thoughtSignature": "c2ln=="},
                Reasoning("hm", signature="c2ln==", extra=own(**{"as": "thought"})),
            ),
            (
                {"thought": True, "thought_signature": b"sig"},
                Reasoning(
                    signature="c2ln",
                    extra=own(
                        bytes=["thought_signature"], **{"as": "bare"}, snake=["thought_signature"]
                    ),
                ),
            ),
            (
                {"text": "", "thoughtSignature": "c2ln"},
                Text("", extra=own(keys={"thoughtSignature": "c2ln"})),
            ),
            (
                {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                Image("aGk=", media_type="image/png"),
            ),
            (
                {"inlineData": {"mimeType": "audio/mpeg", "data": "aGk="}},
                Audio("aGk=", media_type="audio/mpeg"),
            ),
            (
                {"inline_data": {"mime_type": "application/pdf", "data": b"hi"}},
                Document(
                    "aGk=",
                    media_type="application/pdf",
                    extra=own(snake=["inline_data", "mime_type"], bytes=["data"]),
                ),
            ),
            (
                {"inlineData": {"mimeType": "image/png", "data": "_-8="}},
                Image("/+8=", media_type="image/png", extra=own(alphabet="urlsafe")),
            ),
            (
                {"inlineData": {"mimeType": "image/png", "data": "_+8="}},
                Image("_+8=", media_type="image/png"),
            ),
            (
                {
                    "inlineData": {"mimeType": "text/csv", "data": "aGk=", "displayName": "a.csv"},
                    "mediaResolution": {"level": "LOW"},
                },
                Document(
                    "aGk=",
                    media_type="text/csv",
                    name="a.csv",
                    extra=own(
                        inner={"displayName": "a.csv"}, keys={"mediaResolution": {"level": "LOW"}}
                    ),
                ),
            ),
            (
                {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://b/a.pdf"}},
                Document(url="gs://b/a.pdf", media_type="application/pdf"),
            ),
            ("hi", Text("hi", extra=own(**{"as": "string"}))),
        ],
    )
    def test_reads_each_part(self, part: Any, loaded: Any):
        """
        A part becomes one part of the message, and comes back as it was.
        """
        (found,) = one(said(part)).parts

        assert loaded == evolve(found, extra=loaded.extra)
        assert loaded.extra.value == found.extra.value
        assert [said(part)] == dump(load([said(part)]))

    @pytest.mark.parametrize(
        "part",
        [
            {"executableCode": {"language": "PYTHON", "code": "1 + 1"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
            {"thoughtSignature": "c2ln", "toolCall": {"id": "t1", "tool_type": "FILE_SEARCH"}},
            {"toolResponse": {"id": "t1"}},
            {"inlineData": {"mimeType": "video/mp4", "data": "aGk="}},
            {"inlineData": {"mimeType": "image/gif", "data": "aGk="}},
            {"inlineData": {"mimeType": "image/png", "data": "aGk="}, "thought": True},
            {"inlineData": {"mimeType": "image/png"}},
            {"inlineData": "aGk="},
            {"fileData": {"fileUri": "https://youtu.be/x"}},
            {
                "fileData": {"fileUri": "gs://b/a", "mimeType": "audio/wav"},
                "videoMetadata": {"fps": 1},
            },
            {"text": 1},
            {"text": "hi", **CALL},
            {"x": 1},
            {},
        ],
    )
    def test_keeps_what_it_does_not_know_in_place(self, part: dict[str, Any]):
        """
        Any other part is kept whole, and stays where it stood.
        """
        turn = answered({"text": "a"}, part, {"text": "b"})

        assert (Text("a"), Opaque("gemini", part), Text("b")) == one(turn).parts
        assert [turn] == dump(load([turn]))

    @pytest.mark.parametrize(
        "part",
        [
            {"inline_data": {"mime_type": "video/mp4", "data": b"hi"}},
            {"x": [{"y": b"hi"}, b""]},
            {"$bytes": [["x"]], "part": {"x": "aGk="}},
            {"$bytes": 1},
        ],
    )
    def test_gives_back_bytes_in_what_it_does_not_know(self, part: dict[str, Any]):
        """
        Bytes of the Python client's dicts come back as bytes also from an opaque part.
        """
        (kept,) = one(said(part)).parts

        assert isinstance(kept, Opaque)
        assert [said(part)] == dump(load([said(part)]))

    @pytest.mark.parametrize(
        ("part", "loaded"),
        [
            (
                {"functionCall": {"name": "now", "args": {}}},
                ToolCall("now", "now", extra=own(lacks=["id"])),
            ),
            (
                {"functionCall": {"name": "now", "id": None}},
                ToolCall("now", "now", extra=own(inner={"id": None}, lacks=["id", "args"])),
            ),
            (
                {"functionCall": {"willContinue": True}},
                ToolCall(
                    "", "", extra=own(inner={"willContinue": True}, lacks=["name", "id", "args"])
                ),
            ),
            (
                {"function_call": CALL["functionCall"], "thought_signature": b"sig"},
                ToolCall(
                    "c1",
                    "now",
                    {"tz": 1.5},
                    extra=own(
                        bytes=["thought_signature"],
                        keys={"thought_signature": "c2ln"},
                        snake=["function_call"],
                    ),
                ),
            ),
            (
                {"functionCall": {"id": "", "name": "now", "args": None, "x": 1}, "y": None},
                ToolCall(
                    "now",
                    "now",
                    extra=own(
                        inner={"id": "", "args": None, "x": 1},
                        keys={"y": None},
                        lacks=["id", "args"],
                    ),
                ),
            ),
        ],
    )
    def test_reads_calls_of_other_shapes(self, part: dict[str, Any], loaded: ToolCall):
        """
        A call without an id goes by its function's name, in either spelling.
        """
        (found,) = one(answered(part)).tool_calls

        assert loaded == evolve(found, extra=loaded.extra)
        assert loaded.extra.value == found.extra.value
        assert [answered(part)] == dump(load([answered(part)]))

    @pytest.mark.parametrize(
        ("response", "text", "is_error", "hint"),
        [
            ({"output": ""}, "", False, None),
            ({"result": "noon"}, "noon", False, "result"),
            ({"return_value": "noon"}, "noon", False, "return_value"),
            ({"time": "noon"}, '{"time":"noon"}', False, "json"),
            ({"output": [{}]}, '{"output":[{}]}', False, "json"),
            ({"error": {"code": 5}}, '{"error":{"code":5}}', True, "json"),
            ({"error": None, "x": 1}, '{"error":null,"x":1}', False, "json"),
            ({}, "", False, "empty"),
            (None, "", False, "null"),
        ],
    )
    def test_reads_every_response(self, response: Any, text: str, is_error: bool, hint: str | None):
        """
        A response's words are those that another provider can read.
        """
        turns = [answered(CALL), said(responding(response))]
        (result,) = load(turns)[1].tool_results

        assert (text, is_error) == (result.text, result.is_error)
        assert ({} if hint is None else own(response=hint)) == result.extra.value
        assert turns == dump(load(turns))

    def test_reads_media_in_a_result(self):
        """
        Pictures and documents of a result are typed; what is not known is kept.
        """
        parts = [
            {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
            {"file_data": {"file_uri": "gs://b/a.pdf", "mime_type": "application/pdf"}},
            {"inline_data": {"mime_type": "video/mp4", "data": b"hi"}},
            "x",
        ]
        turns = [answered(CALL), said(responding({}, parts=parts, scheduling="SILENT"))]
        (result,) = load(turns)[1].tool_results

        assert [Image, Document, Opaque, Opaque] == [type(part) for part in result.content]
        assert turns == dump(load(turns))
        bare = [answered(CALL), said(responding({}, parts=parts[:1]))]
        assert (Message("user", ToolResult("c1", Image("aGk=", media_type="image/png"))),) == load(
            bare
        )[1:]

    @pytest.mark.parametrize(
        "turns",
        [
            [answered({"functionCall": {"x": 1}}, {"functionCall": {"x": 1}})],
            [said({"functionResponse": {"name": "now"}}, {"functionCall": {"name": "now"}})],
            [said({"functionResponse": {"x": 1}}, {"functionResponse": {"x": 1}})],
        ],
    )
    def test_calls_and_results_without_ids_or_names_come_back(self, turns):
        """
        Also beside each other, as the fuzzer found them.
        """
        assert turns == dump(load(turns))

    def test_results_without_ids_find_their_calls_by_name(self):
        """
        Without ids, the name and a number are the id of a call and of its result; neither is sent.
        """
        call = {"functionCall": {"name": "now", "args": {}}}
        response = {"functionResponse": {"name": "now", "response": {"output": "noon"}}}
        turns = [answered(call, call), said(response, response)]
        messages = load(turns)

        assert ["now", "now-2"] == [call.id for call in messages[0].tool_calls]
        assert ["now", "now-2"] == [result.call_id for result in messages[1].tool_results]
        assert own(lacks=["id"]) == messages[1].tool_results[0].extra.value
        assert turns == dump(messages)

    @pytest.mark.parametrize(
        "turns",
        [
            [said(RESULT)],
            [answered(CALL), said(responding({}, name="other"))],
            [said({"functionResponse": {}})],
            [said({"functionResponse": {"id": "c1", "parts": []}})],
            [said({"functionResponse": {"id": "c1", "name": None, "response": {"error": ""}}})],
            [said({"function_response": RESULT["functionResponse"], "thoughtSignature": b""})],
            [{"parts": [{"text": "hi"}]}],
            [{"role": None, "parts": [{"text": "hi"}]}],
            [{"role": "user"}],
            [{"role": "model", "parts": None}],
            [{"role": "model", "parts": []}],
            [{"role": "user", "parts": "hi"}],
            [{"role": "user", "parts": ["hi", {"text": "you"}]}],
            [{"role": "function", "parts": [RESULT]}],
            [{"role": "tool", "parts": [RESULT], "x": {"y": 1}}],
            [{"role": "assistant", "parts": [CALL]}],
            [{"role": "system", "parts": [{"text": "Be brief."}]}, said({"text": "hi"})],
            [{"role": "critic", "parts": [CALL]}, {}],
            [said({"text": "hi", "thought": False, "function_call": None, "inline_data": None})],
            [said({"text": "hm", "thought": True, "thoughtSignature": "", "x": 1})],
            [said({"fileData": {"mimeType": "image/png", "fileUri": "gs://b/a", "data": b"hi"}})],
            [said({"functionCall": None, "function_call": {"name": "now"}})],
        ],
    )
    def test_gives_back_every_shape(self, turns: list[Any]):
        """
        The shapes that servers and clients differ in come back as they were.
        """
        assert turns == dump(load(turns))
        assert load(turns) == load(dump(load(turns)))

    @pytest.mark.parametrize(
        ("turn", "role"),
        [
            ({"parts": []}, "user"),
            ({"role": "function", "parts": []}, "tool"),
            ({"role": "assistant", "parts": []}, "assistant"),
            ({"role": "system", "parts": []}, "system"),
        ],
    )
    def test_reads_old_roles(self, turn: dict[str, Any], role: str):
        """
        A role that today's API does not know has the meaning it had.
        """
        assert role == one(turn).role

    @pytest.mark.parametrize(
        ("turns", "text"),
        [
            ({}, "contents: expected a list, got an object"),
            ("hi", "contents: expected a list, got text"),
            (["hi"], "contents[0]: expected an object, got text"),
            ([{"role": " "}], "contents[0].role: expected a word such as 'user', got text"),
            ([{"role": 1}], "contents[0].role: expected a word such as 'user', got a number"),
            ([said() | {"parts": {}}], "contents[0].parts: expected a list, got an object"),
            ([said(1)], "contents[0].parts[0]: expected an object, got a number"),
            (
                [answered({"functionCall": "now"})],
                "contents[0].parts[0].functionCall: expected an object, got text",
            ),
            (
                [answered({"functionCall": {"name": 1}})],
                "contents[0].parts[0].functionCall.name: expected text, got a number",
            ),
            (
                [answered({"functionCall": {"name": "f", "args": "{}"}})],
                "contents[0].parts[0].functionCall.args: expected an object, got text",
            ),
            (
                [said(responding("noon"))],
                "contents[0].parts[0].functionResponse.response: expected an object, got text",
            ),
            (
                [said({"functionResponse": {"id": []}})],
                "contents[0].parts[0].functionResponse.id: expected text, got a list",
            ),
        ],
    )
    def test_names_the_place_of_a_fault(self, turns: Any, text: str):
        """
        A content of another form is refused with the place, the wish and what was found.
        """
        with pytest.raises(FormatError) as caught:
            load(turns)

        assert text == str(caught.value)

    def test_names_the_key_that_json_cannot_hold(self):
        """
        What JSON cannot hold is refused under the path where the caller wrote it.
        """
        args = {"functionCall": {"name": "f", "args": {"at": {1}}}}
        with pytest.raises(ConfigError) as caught:
            load([answered(args)])

        assert str(caught.value) == (
            "contents[0].parts[0].functionCall.args.at: JSON cannot hold a set; convert it first"
        )

    @pytest.mark.parametrize("key", ["x", "$bytes"])
    def test_refuses_what_contains_itself(self, key: str):
        """
        A part without end is refused, not followed.
        """
        endless: list[Any] = [b"hi"]
        endless.extend([endless, endless])
        with pytest.raises(ConfigError, match="contains itself"):
            load([said({key: endless})])

    def test_points_out_model_dump(self):
        """
        The client's own object is refused with the way to make it a dict.
        """
        types = pytest.importorskip("google.genai.types", reason="google-genai is not installed")
        content = types.UserContent(parts=[types.Part(text="hi")])
        with pytest.raises(FormatError, match=r"pass its \.model_dump\(\)"):
            load([content])

        turn = content.model_dump()
        assert "hi" == one(turn).text
        assert [turn] == dump(load([turn]))

    def test_keeps_nothing_of_the_callers(self):
        """
        Changing a dict after loading it changes no message.
        """
        turn = answered(CALL | {"x": [1]}, {"toolCall": {"y": [1]}}, z=[1])
        before = json.loads(json.dumps(turn))
        messages = load([turn])
        for changed in (turn["parts"], turn["parts"][0]["x"], turn["z"]):
            changed.append(2)
        turn["parts"][1]["toolCall"]["y"].append(2)

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

    @given(anything | value("parts"))
    def test_any_system_loads_or_is_refused(self, prompt: Any):
        """
        Any system instruction comes back as it was, or is refused with an error of ours.
        """
        try:
            messages = load([said({"text": "hi"})], system=prompt)
        except (FormatError, ConfigError):
            return

        assert [said({"text": "hi"})] == dump(messages)
        assert prompt is None or prompt == gemini._instruction(messages[:1])


class TestDump:
    @pytest.mark.parametrize(
        ("part", "written"),
        [
            (Image("aGk="), {"inlineData": {"mimeType": "image/png", "data": "aGk="}}),
            (
                Image(url="data:image/webp;base64,aGk="),
                {"inlineData": {"mimeType": "image/webp", "data": "aGk="}},
            ),
            (
                Image(url="https://x.org/cat.jpg?size=1"),
                {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://x.org/cat.jpg?size=1"}},
            ),
            (Image(url="https://x.org/cat"), {"fileData": {"fileUri": "https://x.org/cat"}}),
            (Audio("aGk="), {"inlineData": {"mimeType": "audio/wav", "data": "aGk="}}),
            (Audio(file="audio_1", transcript="Hello."), {"text": "Hello."}),
            (Document("aGk="), {"inlineData": {"mimeType": "application/pdf", "data": "aGk="}}),
            (
                Document(text="hi", name="a.txt"),
                {"inlineData": {"mimeType": "text/plain", "data": "aGk="}},
            ),
            (
                Document(text="hi", media_type="text/markdown"),
                {"inlineData": {"mimeType": "text/markdown", "data": "aGk="}},
            ),
            (
                Document(url="https://x.org/a.pdf"),
                {"fileData": {"mimeType": "application/pdf", "fileUri": "https://x.org/a.pdf"}},
            ),
            (Text("hi", extra={"anthropic": {"keys": {"cache_control": {}}}}), {"text": "hi"}),
        ],
    )
    def test_gives_other_forms_their_defaults(self, part: Any, written: dict[str, Any]):
        """
        Parts made by hand, or loaded from another API, get the form that Gemini takes.
        """
        assert "" == left_out(part, "user")
        assert [said(written)] == dump([user(part)])
        accepted(dump([user(part)]))

    @pytest.mark.parametrize(
        ("part", "why"),
        [
            (Reasoning("hm", signature="c2ln"), "reasoning of another provider"),
            (Opaque("anthropic", {}), "a part that only anthropic understands"),
            (Image(file="f1"), "an image by file id: Gemini takes data or a URI"),
            (Image(), "an image, empty"),
            (
                Image("aGk=", media_type="image/gif"),
                "an image of the type image/gif: Gemini takes none",
            ),
            (Image(url="https://x.org/a.gif"), "an image of the type image/gif: Gemini takes none"),
            (Image(url="data:image/svg+xml,<svg/>"), "an image in a data URL without base64"),
            (Audio(file="a1"), "audio by file id: Gemini takes data or a URI"),
            (Document(file="f1"), "a document by file id: Gemini takes data or a URI"),
            (
                Document("aGk=", media_type="application/msword"),
                "a document of the type application/msword: Gemini takes none",
            ),
        ],
    )
    def test_leaves_out_what_gemini_cannot_take(self, part: Any, why: str):
        """
        What the API has no form for is left out, and a message of nothing else with it.
        """
        assert why == left_out(part, "user")
        assert [said({"text": "hi"})] == dump([user(part), user([part, "hi"])])
        if not isinstance(part, Reasoning):
            assert [
                said({"functionResponse": {"id": "c1", "name": "c1", "response": {"output": "hi"}}})
            ] == dump([tool(["hi", part], call_id="c1")])

    def test_writes_its_own_parts(self):
        """
        Words, calls, results and what Gemini made itself are never left out.
        """
        parts = one(answered({"text": "hm", "thought": True}, {"toolCall": {}})).parts

        assert [""] * 5 == [
            left_out(part, "assistant")
            for part in (*parts, Text(""), ToolCall("c1", "now"), ToolResult("c1"))
        ]

    def test_names_results_after_their_calls(self):
        """
        A result has the name of the newest call with its id; an orphan its message's, or the id.
        """
        messages = [
            assistant(calls=[ToolCall("c1", "old"), ToolCall("c1", "now")]),
            tool("noon", call_id="c1"),
            tool("x", call_id="c2", name="find"),
            tool("y", call_id="c3"),
        ]

        assert ["now", "find", "c3"] == [
            turn["parts"][0]["functionResponse"]["name"] for turn in dump(messages)[1:]
        ]

    def test_writes_results_of_every_make(self):
        """
        Results in any role, several in one message, with words, media or nothing.
        """
        several = Message("tool", (ToolResult("c1", "a"), ToolResult("c2", ["b", "c"])))
        mixed = Message("user", (ToolResult("c1", is_error=True), Text("go on")))
        picture = tool(["see", Image("aGk="), Audio(file="a", transcript="!")], call_id="c1")
        contents = dump(
            [several, mixed, picture, tool(call_id="c1"), tool(Image("aGk="), call_id="c1")]
        )
        responses = [
            part["functionResponse"]["response"]
            for turn in contents
            for part in turn["parts"]
            if "functionResponse" in part
        ]

        assert {"user"} == {turn["role"] for turn in contents}
        assert {"text": "go on"} == contents[1]["parts"][1]
        assert [
            {"output": "a"},
            {"output": "bc"},
            {"error": ""},
            {"output": "see!"},
            {"output": ""},
            {},
        ] == responses
        accepted(contents)

    @pytest.mark.parametrize("arguments", ["{", "[1]", '{"a": NaN}', '{"a": 1e999}', "[" * 9_999])
    def test_wraps_arguments_that_are_no_object(self, arguments: str):
        """
        Arguments that another model wrote wrong are sent as text.
        """
        (turn,) = dump([assistant(calls=[ToolCall("c1", "now", arguments)])])

        assert {"arguments": arguments} == turn["parts"][0]["functionCall"]["args"]

    def test_sends_data_that_was_changed_to_no_base64(self):
        """
        Bytes that were changed by hand to other text are sent as that text.
        """
        part = {"inline_data": {"mime_type": "image/png", "data": b"hi"}}
        (image,) = one(said(part)).parts

        assert isinstance(image, Image)
        assert "?" == dump([user(evolve(image, data="?"))])[0]["parts"][0]["inline_data"]["data"]

    def test_sends_changed_parts(self):
        """
        A changed result or call is dumped in the shape it was loaded in, with what is new.
        """
        call = {"functionCall": {"name": "now"}}
        turns = [answered(call), said({"functionResponse": {"name": "now", "response": {"x": 1}}})]
        calling, result = load(turns)
        calling = evolve(
            calling, parts=(evolve(calling.tool_calls[0], id="c9", arguments='{"a":1}'),)
        )
        result = evolve(result, parts=(evolve(result.tool_results[0], call_id="c9", content="{…"),))

        assert [
            answered({"functionCall": {"id": "c9", "name": "now", "args": {"a": 1}}}),
            said({"functionResponse": {"id": "c9", "name": "now", "response": {"output": "{…"}}}),
        ] == dump([calling, result])

    @pytest.mark.parametrize(
        ("message", "role"),
        [
            (Message("critic", "x"), "user"),
            (Message("critic", ToolCall("c1", "now")), "model"),
            (Message("developer", "x"), "user"),
            (
                evolve(one({"role": "function", "parts": [{"text": "x"}]}), role="assistant"),
                "model",
            ),
            (evolve(one({"parts": [{"text": "x"}]}), role="assistant"), "model"),
        ],
    )
    def test_chooses_a_role_that_gemini_knows(self, message: Message, role: str):
        """
        Any role is sent as a user's or the model's.
        """
        assert role == dump([user("hi"), message])[1]["role"]

    def test_sends_late_system_messages_as_a_users(self):
        """
        System messages in front are sent apart; later ones as a user's turn.
        """
        assert [said({"text": "hi"}), said({"text": "Be brief."})] == dump(
            [system("a"), Message("developer", "b"), user("hi"), system("Be brief.")]
        )

    def test_does_not_send_what_is_yours(self):
        """
        A name, an id and metadata are never sent.
        """
        assert [said({"text": "hi"})] == dump([user("hi", name="ann", id="m1", metadata={"a": 1})])

    def test_refuses_what_is_no_message(self):
        """
        Only something that is no message is refused.
        """
        with pytest.raises(FormatError, match=r"^messages\[0\]: expected a Message, got an object"):
            dump([{"role": "user"}])  # type: ignore[list-item]

    def test_is_fresh_each_time(self):
        """
        Two dumps share no dict.
        """
        messages = load([answered({"toolCall": {"y": [1]}}, CALL, z=[1])])
        first = dump(messages)
        untouched = json.loads(json.dumps(first))
        first[0]["parts"][0]["toolCall"]["y"].append(2)
        first[0]["parts"][1]["functionCall"]["args"]["tz"] = 2
        first[0]["z"].append(2)

        assert untouched == dump(messages)


class TestSignatures:
    @pytest.mark.parametrize("name", ["thoughtSignature", "thought_signature"])
    @pytest.mark.parametrize("signature", ["c2ln", b"sig"])
    def test_a_signed_call_is_known(self, name: str, signature: Any):
        """
        A signature is known in either spelling, as text or as bytes.
        """
        (call,) = one(answered(CALL | {name: signature})).tool_calls

        assert is_signed(call)
        assert call is with_dummy_signature(call)

    def test_signs_a_call_of_another_model(self):
        """
        A call without a signature gets the documented one, and keeps its other keys.
        """
        call = ToolCall("c1", "now", extra={"openai_responses": {"keys": {"status": "done"}}})
        signed = with_dummy_signature(call)
        contents = dump([assistant(calls=[signed])])

        assert not is_signed(call)
        assert is_signed(signed)
        assert {"status": "done"} == signed.extra.value["openai_responses"]["keys"]
        assert DUMMY == contents[0]["parts"][0]["thoughtSignature"]
        assert DUMMY == accepted(contents)[0]["parts"][0]["thoughtSignature"]

    def test_signs_in_the_calls_own_spelling(self):
        """
        A call of the Python client's spelling is signed in that spelling.
        """
        (call,) = one(answered({"function_call": CALL["functionCall"], "x": 1})).tool_calls
        (turn,) = dump([assistant(calls=[with_dummy_signature(call)])])

        assert {
            "function_call": CALL["functionCall"],
            "thought_signature": DUMMY,
            "x": 1,
        } == turn["parts"][0]


class TestRequest:
    @pytest.mark.parametrize(
        "prompt",
        [
            "Be brief.",
            {"parts": [{"text": "Be brief."}]},
            {"role": "system", "parts": [{"text": "Be brief."}], "x": 1},
            {"role": "user", "parts": "Be brief."},
            {"text": "Be brief."},
            [{"text": "Be"}, {"text": " brief."}],
            ["Be", "brief."],
            [{"text": "Be brief."}],
        ],
    )
    def test_gives_back_the_system_instruction(self, prompt: Any):
        """
        A system instruction of any form comes back the same.
        """
        turns = [said({"text": "hi"})]
        messages = load(turns, system=prompt)

        assert ["system", "user"] == [message.role for message in messages]
        assert turns == dump(messages)
        assert {"contents": turns, "config": {"system_instruction": prompt}} == request(messages)

    def test_has_no_config_without_a_system_prompt(self):
        """
        Without a system message there is no config.
        """
        assert {"contents": [said({"text": "hi"})]} == request([user("hi")])

    @pytest.mark.parametrize(
        ("prompts", "instruction"),
        [
            ([system("a")], "a"),
            ([system("a"), Message("developer", "b")], [{"text": "a"}, {"text": "b"}]),
            ([system(["a", "b"])], [{"text": "a"}, {"text": "b"}]),
            (load([{"role": "system", "parts": [{"text": "a"}]}]), "a"),
        ],
    )
    def test_joins_the_system_messages_in_front(self, prompts: list[Message], instruction: Any):
        """
        The leading system messages become one instruction, of as many parts as there are.
        """
        assert {
            "contents": [said({"text": "hi"})],
            "config": {"system_instruction": instruction},
        } == request([*prompts, user("hi")])

    def test_refuses_a_system_of_another_form(self):
        """
        The system may be text, a content, a part or a list of parts.
        """
        with pytest.raises(FormatError, match=r"^system: expected text, a content or a list of p"):
            load([], 1)  # type: ignore[arg-type]

    def test_puts_old_forms_into_todays(self):
        """
        Strings for parts and old roles, which the client refuses, are sent as it takes them.
        """
        turns = [
            {"parts": "hi"},
            {"role": "assistant", "parts": ["Hello.", CALL]},
            {"role": "function", "parts": [RESULT]},
        ]
        contents = request(load(turns))["contents"]

        assert ["user", "model", "user"] == [turn["role"] for turn in contents]
        assert [{"text": "hi"}] == contents[0]["parts"]
        accepted(contents)

    def test_reports_what_was_mended(self):
        """
        What mending did is added to the report.
        """
        report: list[Any] = []
        request([user("hi"), user("Anyone?"), user(Image(file="f1"))], report)

        assert report

    def test_the_client_takes_it(self):
        """
        The client's own transformation of a request leaves signatures and data alone.
        """
        data = base64.urlsafe_b64encode(bytes(range(256))).decode()
        turns = [
            said({"text": "hi"}, {"inlineData": {"mimeType": "image/png", "data": data}}),
            answered(CALL | {"thoughtSignature": data}),
            said(RESULT),
        ]

        assert turns == accepted(request(load(turns))["contents"])


class TestReply:
    @staticmethod
    def response(*parts: Any, **candidate: Any) -> dict[str, Any]:
        return {
            "candidates": [{"content": {"role": "model", "parts": list(parts)}, **candidate}],
            "usageMetadata": {"totalTokenCount": 9},
            "modelVersion": "gemini-3-pro",
            "responseId": "r12345678",
        }

    def test_reads_a_response(self):
        """
        The first candidate is the message; what came beside it is kept and not sent.
        """
        parts = [
            {"text": "hm", "thought": True},
            {"text": "Hello."},
            CALL | {"thoughtSignature": "c2ln"},
        ]
        (message,) = reply(self.response(*parts, finishReason="STOP", index=0))

        assert ("assistant", "r12345678", "Hello.") == (message.role, message.id, message.text)
        assert {
            "usageMetadata": {"totalTokenCount": 9},
            "modelVersion": "gemini-3-pro",
            "responseId": "r12345678",
            "candidates": [{"finishReason": "STOP", "index": 0}],
        } == message.extra.value["gemini"]["inner"]["received"]
        assert [answered(*parts)] == dump([message])

    def test_reads_the_clients_object(self):
        """
        The client's object, and either of its dicts, give the same parts.
        """
        types = pytest.importorskip("google.genai.types", reason="google-genai is not installed")
        parts = [{"text": "Hello."}, CALL | {"thoughtSignature": "_-8="}]
        sent = self.response(*parts, finishReason="STOP", groundingMetadata={})
        response = types.GenerateContentResponse.model_validate(
            sent | {"createTime": "2026-01-01T00:00:00Z", "modelStatus": {}}
        )
        response.parsed = {"a": 1}
        (message,) = reply(response)
        as_dict = response.model_dump()
        as_dict["candidates"][0]["continuation_token"] = b"hi"
        (python,) = reply(as_dict)

        assert [answered(*parts)] == dump([message])
        assert "parsed" not in message.extra.value["gemini"]["inner"]["received"]
        assert ("r12345678", "Hello.", True) == (
            python.id,
            python.text,
            is_signed(python.tool_calls[0]),
        )
        assert accepted(dump([python])) == dump([message])

    def test_reads_parallel_calls_without_ids(self):
        """
        Each has an id for its result to find, in any order, which is not sent with either.
        """
        call = {"functionCall": {"name": "now", "args": {}}}
        (message,) = reply(self.response(call, call))
        results = [tool("two", call_id="now-2"), tool("one", call_id="now")]
        contents = gemini.request([user("hi"), message, *results])["contents"]

        assert ["now", "now-2"] == [call.id for call in message.tool_calls]
        assert ["two", "one"] == [
            part["functionResponse"]["response"]["output"] for part in contents[2]["parts"]
        ]
        assert not any("id" in part["functionResponse"] for part in contents[2]["parts"])

    def test_needs_no_role_or_id(self):
        """
        The content of a response is the model's, also when it does not say so.
        """
        (message,) = reply({"candidates": [{"content": {"parts": [{"text": "hi"}]}}]})

        assert ("assistant", None) == (message.role, message.id)

    @pytest.mark.parametrize(
        ("response", "text"),
        [
            ({}, "response: no candidates, so there is no answer"),
            (
                {"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "No."}},
                "response: no answer, the prompt was blocked (SAFETY: No.)",
            ),
            (
                {"candidates": [], "prompt_feedback": {"block_reason": "OTHER"}},
                "response: no answer, the prompt was blocked (OTHER)",
            ),
            (
                {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]},
                "response: an answer without parts (MAX_TOKENS)",
            ),
            (
                {"candidates": [{"finishReason": "SAFETY", "finishMessage": "No."}]},
                "response: an answer without parts (SAFETY: No.)",
            ),
            ({"candidates": [{}]}, "response: an answer without parts"),
            ({"error": {"code": 400, "message": "Bad."}}, "response: an error, no answer: Bad."),
            ({"error": "Bad."}, "response: an error, no answer: Bad."),
            ({"candidates": {"a": 1}}, "response.candidates: expected a list, got an object"),
            ({"candidates": [1]}, "response.candidates[0]: expected an object, got a number"),
            (
                {"candidates": [{"content": "hi"}]},
                "response.candidates[0].content: expected an object, got text",
            ),
            (
                {"candidates": [{"content": {"parts": "hi", "role": 1}}]},
                "response.candidates[0].content.role: expected a word such as 'user', got a number",
            ),
            ([], "response: a stream without any event"),
            ([{"candidates": 1}], "response[0].candidates: expected a list, got a number"),
            ([{"candidates": [1]}], "response[0].candidates[0]: expected an object, got a number"),
            (
                [{"candidates": [{"content": 1}]}],
                "response[0].candidates.content: expected an object, got a number",
            ),
            ([{"error": {"message": "Busy."}}], "response: an error, no answer: Busy."),
            (
                5,
                (
                    "response: expected a response of the client, its dict, or the events of a"
                    " stream, got a number"
                ),
            ),
        ],
    )
    def test_says_why_there_is_no_answer(self, response: Any, text: str):
        """
        A response without a message is refused with what it says.
        """
        with pytest.raises(FormatError) as caught:
            reply(response)

        assert text == str(caught.value)

    @given(anything | st.lists(shaped("candidates responseId error"), max_size=2))
    def test_any_json_is_read_or_refused(self, response: Any):
        """
        No response raises anything but our errors.
        """
        try:
            (message,) = reply(response)
        except (FormatError, ConfigError):
            return

        assert message.parts


ENDED = {"candidates": [{"finishReason": "STOP"}]}


class TestStream:
    @staticmethod
    def chunk(*parts: Any, **keys: Any) -> dict[str, Any]:
        return {
            "candidates": [{"content": {"role": "model", "parts": list(parts)}}],
            "responseId": "r12345678",
            **keys,
        }

    def test_joins_words_and_thoughts(self):
        """
        Neighbouring words become one part, neighbouring thoughts another.
        """
        chunks = [
            self.chunk({"text": "let ", "thought": True}),
            self.chunk({"text": "me see", "thought": True}),
            self.chunk({"text": "Good "}),
            self.chunk({"text": "morning"}, CALL | {"thoughtSignature": "c2ln"}, CALL),
            self.chunk({"text": ""}),
            {"usageMetadata": {"totalTokenCount": 9}},
            {"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"totalTokenCount": 10}},
        ]
        (message,) = reply(iter(chunks))

        assert "r12345678" == message.id
        assert [
            answered(
                {"text": "let me see", "thought": True},
                {"text": "Good morning"},
                CALL | {"thoughtSignature": "c2ln"},
                CALL,
            )
        ] == dump([message])
        assert {
            "responseId": "r12345678",
            "usageMetadata": {"totalTokenCount": 10},
            "candidates": [{"finishReason": "STOP"}],
        } == message.extra.value["gemini"]["inner"]["received"]

    def test_keeps_what_is_signed_apart(self):
        """
        A signature keeps its own part, also an empty one at the end.
        """
        chunks = [
            self.chunk({"text": "a"}),
            self.chunk({"text": "b"}),
            self.chunk({"text": "", "thoughtSignature": "c2ln"}),
            self.chunk({"text": "c"}),
            ENDED,
        ]

        assert [
            answered({"text": "ab"}, {"text": "", "thoughtSignature": "c2ln"}, {"text": "c"})
        ] == dump(reply(chunks))

    def test_keeps_an_empty_answer(self):
        """
        A stream of an empty text alone is an empty answer.
        """
        assert [answered({"text": ""})] == dump(reply([self.chunk({"text": ""}), ENDED]))

    def test_says_why_a_stream_has_no_answer(self):
        """
        A stream that was blocked, or cut before its first word, says so.
        """
        with pytest.raises(FormatError, match="MAX_TOKENS"):
            reply([{"candidates": [{"finishReason": "MAX_TOKENS"}]}])
        with pytest.raises(FormatError, match="PROHIBITED_CONTENT"):
            reply([{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}])

    def test_keeps_other_candidates_out_of_the_message(self):
        """
        Only the first candidate is the answer.
        """
        second = {"candidates": [{"index": 1, "content": {"parts": [{"text": "no"}]}}]}
        (message,) = reply([second, self.chunk({"text": "yes"}), ENDED])

        assert "yes" == message.text

    def test_reads_the_clients_chunks(self):
        """
        The client's own chunks are read as their dicts are.
        """
        types = pytest.importorskip("google.genai.types", reason="google-genai is not installed")
        sent = [
            self.chunk({"text": "Good "}),
            self.chunk({"text": "morning"}),
            self.chunk({"executableCode": {"code": "1", "language": "PYTHON"}}),
            self.chunk(CALL | {"thoughtSignature": "_-8="}),
            ENDED,
        ]
        chunks = [types.GenerateContentResponse.model_validate(one) for one in sent]

        assert dump(reply(sent)) == dump(reply(chunks))
        assert "Good morning" == reply(chunks)[0].text

    def test_refuses_a_call_that_goes_on_as_something_else(self):
        """
        A call that is no object is refused also in the middle of a streamed one.
        """
        chunks = [
            self.chunk({"functionCall": {"name": "f", "willContinue": True}}),
            self.chunk({"functionCall": "now"}),
            ENDED,
        ]
        with pytest.raises(FormatError, match="functionCall: expected an object, got text"):
            reply(chunks)

    @pytest.mark.parametrize("snake", [False, True])
    def test_puts_streamed_arguments_together(self, snake: bool):
        """
        A call whose arguments come in pieces is one call with all of them.
        """
        names = ("function_call", "partial_args", "json_path", "string_value", "will_continue")
        camel = ("functionCall", "partialArgs", "jsonPath", "stringValue", "willContinue")
        call, partial, path, text, more = names if snake else camel
        chunks = [
            self.chunk({call: {"name": "f", "id": "c1", more: True}, "thoughtSignature": "c2ln"}),
            self.chunk({call: {partial: [{path: "$.city", text: "Li", more: True}], more: True}}),
            self.chunk({call: {partial: [{path: "$.city", text: "ma"}], more: True}}),
            self.chunk(
                {
                    call: {
                        partial: [
                            {path: "$.days[0].at", "numberValue": 1},
                            {path: "$.days[1]['at']", "boolValue": True},
                            {path: "$.none", "nullValue": "NULL_VALUE"},
                            {path: "$[0]", text: "lost"},
                            {path: 1},
                            1,
                        ],
                        more: True,
                    }
                }
            ),
            self.chunk({call: {}}),
            self.chunk(CALL),
            ENDED,
        ]
        (message,) = reply(chunks)
        first, second = message.tool_calls

        assert ("c1", "f", is_signed(first)) == (first.id, first.name, True)
        assert {"city": "Lima", "days": [{"at": 1}, {"at": True}], "none": None} == json.loads(
            first.arguments
        )
        assert ToolCall("c1", "now", {"tz": 1.5}) == second

    @pytest.mark.parametrize("name", ["finishReason", "finish_reason"])
    def test_refuses_one_that_broke_off(self, name: str):
        """
        The last chunk of an answer says why it ended; usage comes with every chunk.
        """
        chunks = [self.chunk({"text": "Good "}, usageMetadata={"totalTokenCount": 9})] * 2
        other = {"candidates": [{"index": 1, name: "STOP"}]}
        for cut in (chunks, [*chunks, other], [*chunks, {"candidates": [{name: None}]}]):
            with pytest.raises(
                FormatError, match=r"broke off, none of its [23] chunks has a finish"
            ):
                reply(cut)

        assert "Good Good " == reply([*chunks, {"candidates": [{name: "STOP"}]}])[0].text


class TestAcross:
    CHAT = (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, {
            "type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}]},
        {"role": "assistant", "content": "Looking.", "reasoning_content": "hm", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "see", "arguments": '{"n": 1}'}},
            {"id": "c2", "type": "function", "function": {"name": "now", "arguments": ""}},
        ]},
        {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "noon"}]},
        {"role": "assistant", "content": "A cat."},
    )  # fmt: skip

    def test_a_chat_keeps_its_words_calls_and_results(self):
        """
        What the Chat API says is said to Gemini: words, calls, results, pictures.
        """
        messages = openai_chat.load(list(self.CHAT))
        contents = dump(messages)

        assert [
            said(
                {"text": "What is this?"}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
            ),
            answered(
                {"text": "Looking."},
                {"functionCall": {"id": "c1", "name": "see", "args": {"n": 1}}},
                {"functionCall": {"id": "c2", "name": "now", "args": {}}},
            ),
            said(
                {"functionResponse": {"id": "c1", "name": "see", "response": {"output": "a cat"}}}
            ),
            said({"functionResponse": {"id": "c2", "name": "now", "response": {"output": "noon"}}}),
            answered({"text": "A cat."}),
        ] == contents
        accepted(contents)
        assert "Be brief." == request(messages)["config"]["system_instruction"]

    @given(log_messages())
    def test_any_conversation_is_taken_by_the_client(self, messages: tuple[Message, ...]):
        """
        The client takes what any conversation dumps to, with all its calls and results.
        """
        contents = dump(messages)
        again = load(contents)

        accepted(contents)
        accepted(request(messages)["contents"])
        assert contents == dump(again)
        assert [call.id for m in messages for call in m.tool_calls] == [
            call.id for m in again for call in m.tool_calls
        ]
        assert [(r.call_id, r.text) for m in messages for r in m.tool_results] == [
            (r.call_id, r.text) for m in again for r in m.tool_results
        ]

    def test_comes_back_from_the_chat_format(self):
        """
        What Gemini said can be said to the Chat API.
        """
        messages = load([answered(CALL | {"thoughtSignature": "c2ln"}), said(RESULT)])
        call, result = openai_chat.dump(messages)

        assert "now" == call["tool_calls"][0]["function"]["name"]
        assert {"role": "tool", "tool_call_id": "c1", "content": "noon"} == result


@needs_shared
class TestRealTranscripts:
    def test_come_back_as_they_were(self):
        """
        Every real request of the API is lossless, with its system instruction.
        """
        found = bodies()

        assert found
        for body in found:
            messages = load(body["messages"], system=body["system"])

            assert body["messages"] == dump(messages)
            assert messages == load(dump(messages), system=body["system"])
            accepted(dump(messages))
            sent = request(messages)
            accepted(sent["contents"])
            config = sent.get("config", {"system_instruction": None})
            assert body["system"] == config["system_instruction"]

    @pytest.mark.parametrize("name", ["tau_airline", "pi_coding", "api_shapes"])
    def test_chats_keep_their_words_calls_and_results(self, name: str):
        """
        A real conversation of the Chat API keeps all that it says.
        """
        lines = (SHARED / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        for line in lines[:60]:
            body = json.loads(line)
            if body.get("api", "chat") != "chat":
                continue
            messages = openai_chat.load(body["messages"])
            contents = dump(messages)
            again = load(contents)
            spoken = list(dropwhile(lambda m: m.role in {"system", "developer"}, messages))

            accepted(contents)
            assert "".join(m.text for m in spoken) == "".join(m.text for m in again)
            assert [(c.id, c.name) for m in spoken for c in m.tool_calls] == [
                (c.id, c.name) for m in again for c in m.tool_calls
            ]
            assert [r.call_id for m in spoken for r in m.tool_results] == [
                r.call_id for m in again for r in m.tool_results
            ]
