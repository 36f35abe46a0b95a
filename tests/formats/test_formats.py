"""
What holds for every format alike: the same four functions, and the table of what each can carry.
"""

import inspect
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged import (
    Audio,
    Document,
    Image,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    formats,
)
from unabridged.errors import ConfigError, FormatError
from unabridged.formats import anthropic, bedrock, gemini, openai_chat, openai_responses
from unabridged.formats.providers import PROVIDERS
from unabridged.testing.generators import messages as transcripts

MODULES = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
}
SHARED = Path(__file__).resolve().parents[2].parent / "shared"
DATA = "aGk="
PARTS = {
    "`Image`: data": (Image(DATA, media_type="image/png"), "user"),
    "`Image`: https URL": (Image(url="https://example.org/a.png"), "user"),
    "`Image`: file id": (Image(file="f1"), "user"),
    "`Document`: data": (Document(DATA, media_type="application/pdf"), "user"),
    "`Document`: text": (Document(text="a"), "user"),
    "`Document`: https URL": (Document(url="https://example.org/a.pdf"), "user"),
    "`Document`: file id": (Document(file="f1"), "user"),
    "`Audio`: data": (Audio(DATA, media_type="audio/wav"), "user"),
    "`Audio`: https URL": (Audio(url="https://example.org/a.wav"), "user"),
    "`Audio`: file id": (Audio(file="f1"), "user"),
    "`Image` in a result: data": (Image(DATA, media_type="image/png"), "tool"),
    "`Document` in a result: data": (Document(DATA, media_type="application/pdf"), "tool"),
    "`Reasoning` of another API": (Reasoning("hm", signature="c2ln"), "assistant"),
    "`Opaque` of another API": (Opaque("acme", {"type": "x"}), "assistant"),
}
FILES = {  # turns with what only that provider can get at
    "openai_chat": [
        {"role": "user", "content": [{"type": "file", "file": {"file_id": "f1"}}]},
        {"role": "assistant", "content": None, "audio": {"id": "a1"}},
    ],
    "openai_responses": [
        {
            "role": "user",
            "content": [
                {"type": "input_image", "file_id": "f1", "detail": "low"},
                {"type": "input_file", "file_id": "f2"},
            ],
        },
    ],
    "anthropic": [
        {
            "role": "user",
            "content": [
                {"type": "image", "source": {"type": "file", "file_id": "f1"}},
                {"type": "document", "source": {"type": "file", "file_id": "f2"}, "title": "a"},
            ],
        },
    ],
    "gemini": [
        {"role": "user", "parts": [{"fileData": {"fileUri": uri, "mimeType": "image/png"}}]}
        for uri in ("gs://b/a.png", "https://generativelanguage.googleapis.com/v1beta/files/f1")
    ],
    "bedrock": [
        {
            "role": "user",
            "content": [
                {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://b/a.png"}}}}
            ],
        },
    ],
}
OWNERS = {name: name.partition("_")[0] for name in MODULES}  # OpenAI's two share their files
THOUGHTS = {
    "openai_chat": {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}],
    },
    "openai_responses": {"type": "reasoning", "id": "rs_1", "summary": []},
    "anthropic": {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}],
    },
    "gemini": {"role": "model", "parts": [{"text": "hm", "thought": True}]},
    "bedrock": {
        "role": "assistant",
        "content": [{"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}}],
    },
}


def table():
    """
    The rows of the docstring: what is in the first column, and then yes or no for each API.
    """
    lines = [line for line in formats.__doc__.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]

    return {first: [cell == "yes" for cell in rest] for first, *rest in rows}


class TestTable:
    @pytest.mark.parametrize("row", sorted(PARTS))
    def test_says_what_each_api_carries(self, row):
        """
        As the modules themselves decide.
        """
        part, role = PARTS[row]
        carried = [not PROVIDERS[name].left_out(part, role) for name in MODULES]

        assert carried == table()[row]

    def test_has_every_row_tested(self):
        """
        What is not in the list above holds for all, and is tested with each format.
        """
        plain = {
            "`Text`, `ToolCall`, `ToolResult`",
            "`Reasoning` of that API",
            "`Opaque` of that API",
        }

        assert set(table()) == {*PARTS, *plain}
        for name in MODULES:
            opaque = (Opaque(name, {"type": "x"}), "assistant")
            plain_parts = ((Text("a"), "user"), (ToolCall("c", "f"), "assistant"), opaque)
            for part, role in (*plain_parts, (ToolResult("c", "a"), "tool")):
                assert "" == PROVIDERS[name].left_out(part, role)

    @pytest.mark.parametrize("name", sorted(MODULES))
    def test_each_api_takes_its_own_reasoning_back(self, name):
        """
        And no other does.
        """
        (message,) = MODULES[name].load([THOUGHTS[name]])
        (part,) = message.parts
        takes = [other for other in MODULES if not PROVIDERS[other].left_out(part, "assistant")]

        assert [name] == takes
        assert [THOUGHTS[name]] == MODULES[name].dump([message])


class TestFiles:
    @pytest.mark.parametrize("name", sorted(MODULES))
    @pytest.mark.parametrize("other", sorted(MODULES))
    def test_stay_with_the_provider_that_has_them(self, name, other):
        """
        What was loaded is given back; another provider gets none of it, and the report says so.
        """
        messages = MODULES[name].load(FILES[name])
        parts = [(part, message.role) for message in messages for part in message.parts]

        assert FILES[name] == MODULES[name].dump(messages)
        if OWNERS[name] == OWNERS[other]:
            return
        reasons = [PROVIDERS[other].left_out(part, role) for part, role in parts]
        assert all(reasons)
        assert [] == MODULES[other].dump(messages)
        report = []
        MODULES[other].request(messages, report)
        told = [mend.text for mend in report if mend.what == "left out"]
        assert reasons == told

    @pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "anthropic"])
    def test_say_that_an_id_is_of_another_provider(self, name):
        """
        Wherever file ids are taken at all.
        """
        for other in ("openai_chat", "openai_responses", "anthropic"):
            if OWNERS[name] != OWNERS[other]:
                for part in MODULES[other].load(FILES[other])[0].parts:
                    assert "a file id of another provider" in PROVIDERS[name].left_out(part, "user")

    def test_are_shared_by_the_two_apis_of_openai(self):
        """
        A file id that one loaded, the other sends.
        """
        (message,) = openai_chat.load(FILES["openai_chat"][:1])
        sent = {"role": "user", "content": [{"type": "input_file", "file_id": "f1"}]}
        assert [sent] == openai_responses.dump([message])

        (message,) = openai_responses.load(FILES["openai_responses"])
        sent = {"role": "user", "content": [{"type": "file", "file": {"file_id": "f2"}}]}
        assert [sent] == openai_chat.dump([message])

    @pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "anthropic"])
    def test_by_hand_belong_to_whoever_gets_them(self, name):
        """
        A file id without a hint is sent.
        """
        assert "" == PROVIDERS[name].left_out(Document(file="f1"), "user")
        hints = {"acme": {"source": "file"}}
        assert "" == PROVIDERS[name].left_out(Document(file="f1", extra=hints), "user")

    @pytest.mark.parametrize("kind", [Image, Document])
    @pytest.mark.parametrize("name", sorted(MODULES))
    def test_at_a_url_go_only_where_it_can_be_fetched(self, name, kind):
        """
        By whoever loaded or built the part.
        """
        files = "https://generativelanguage.googleapis.com/v1beta/files/f1"
        owners = {
            "gs://b/a": "gemini",
            "GS://b/a": "gemini",
            files: "gemini",
            "s3://b/a": "bedrock",
        }
        for url, owner in owners.items():
            reason = PROVIDERS[name].left_out(kind(url=url), "user")

            assert (reason == "") == (name == owner)
            if name not in ("bedrock", owner):
                assert f"a URL that only {owner.title()} can fetch" in reason

    @pytest.mark.parametrize("name", sorted(MODULES))
    def test_at_a_url_of_another_provider_come_back_as_they_were(self, name):
        """
        What an API would refuse is still given back to it.
        """
        for url in ("gs://b/a.png", "s3://b/a.png"):
            turns = {
                "openai_chat": [{"type": "image_url", "image_url": {"url": url}}],
                "openai_responses": [{"type": "input_image", "image_url": url}],
                "anthropic": [{"type": "image", "source": {"type": "url", "url": url}}],
                "gemini": [{"fileData": {"fileUri": url, "mimeType": "image/png"}}],
                "bedrock": [{"image": {"format": "png", "source": {"s3Location": {"uri": url}}}}],
            }
            key = "parts" if name == "gemini" else "content"
            turn = {"role": "user", key: turns[name]}

            assert [turn] == MODULES[name].dump(MODULES[name].load([turn]))


class TestRequests:
    @pytest.mark.parametrize("name", sorted(MODULES))
    @given(transcripts())
    def test_are_what_their_type_says(self, name, messages):
        """
        The keys that are required are there, no other comes, and each value is of its kind.
        """
        request = MODULES[name].request(messages)
        kind = inspect.get_annotations(MODULES[name].request, eval_str=True)["return"]

        assert kind.__required_keys__ <= request.keys() <= kind.__annotations__.keys()
        assert {"system", "config", "instructions"} >= kind.__optional_keys__
        for key, value in request.items():
            assert (key == "config") == isinstance(value, dict)
            assert type(value) in {dict, list} or key in {"system", "instructions"}

    @pytest.mark.parametrize("name", sorted(MODULES))
    def test_have_a_type_that_the_package_exports(self, name):
        """
        So that a function of yours can name it.
        """
        kind = inspect.get_annotations(MODULES[name].request)["return"]

        assert kind is getattr(formats, kind.__name__)
        assert kind.__name__ in formats.__all__


class TestFour:
    @pytest.mark.parametrize("name", sorted(MODULES))
    def test_each_module_has_the_same_four(self, name):
        """
        With the same signatures.
        """
        module = MODULES[name]

        assert ["dump", "load", "reply", "request"] == sorted(module.__all__)
        assert ["turns", "system"] == list(inspect.signature(module.load).parameters)
        assert ["messages"] == list(inspect.signature(module.dump).parameters)
        assert ["messages", "report"] == list(inspect.signature(module.request).parameters)
        assert ["response"] == list(inspect.signature(module.reply).parameters)

    @pytest.mark.parametrize("name", sorted(MODULES))
    @given(transcripts())
    def test_takes_any_conversation_and_reads_its_own_dump_again(self, name, messages):
        """
        What it dumped comes back the same.
        """
        module = MODULES[name]
        turns = module.dump(messages)

        assert turns == module.dump(module.load(turns))
        json.dumps(turns)

    @pytest.mark.parametrize("name", sorted(MODULES))
    @given(transcripts())
    def test_keeps_words_calls_and_results_on_the_way_to_another(self, name, messages):
        """
        Whatever the conversation was loaded from, each other API gets all that it can express.
        """
        loaded = MODULES[name].load(MODULES[name].dump(messages))
        for module in MODULES.values():
            sent = json.dumps(module.request(loaded), ensure_ascii=False)
            for part in (part for message in loaded for part in message.parts):
                match part:
                    case Text(text=text):
                        assert json.dumps(text.strip(), ensure_ascii=False)[1:-1] in sent
                    case ToolResult():
                        assert json.dumps(part.text, ensure_ascii=False)[1:-1] in sent
                    case ToolCall():
                        assert part.name in sent
            calls = sum(len(message.tool_calls) for message in loaded)
            assert calls == sum(len(m.tool_calls) for m in module.load(turns_in(module, loaded)))

    @pytest.mark.parametrize("name", sorted(MODULES))
    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(max_size=6), inner, max_size=3)
            ),
            max_leaves=12,
        )
    )
    def test_any_json_loads_or_is_refused(self, name, value):
        """
        Never another exception, and never a key that is lost.
        """
        module = MODULES[name]
        try:
            messages = module.load(value)
        except (FormatError, ConfigError):
            return
        if isinstance(value, list):
            assert value == module.dump(messages)


def turns_in(module, messages):
    """
    The turns of a request, under the name that the API has for them.
    """
    body = module.request(messages)

    return next(body[key] for key in ("messages", "input", "contents") if key in body)
