"""
Recall as a tool: its definitions, what it answers, and what a model gets wrong.
"""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged import (
    AsyncMemory,
    ClearToolResults,
    Memory,
    ToolCall,
    Window,
    assistant,
    tool,
    tools,
    user,
)
from unabridged.errors import ConfigError
from unabridged.testing import call, result, talk
from unabridged.tokens import exact, of_text

ROWS = " ".join(f"row{n}" for n in range(5_000))
NAMES = ["handle", "start", "length", "find", "query", "before"]


def recalled(*messages, **options):
    """
    The tool of a memory that holds these messages.
    """
    memory = Memory()
    memory.append(*messages)

    return tools.recall(memory, **options)


def answer(recall, **arguments):
    """
    What the tool says, read.
    """
    return json.loads(recall(**arguments))


class TestDefinitions:
    def test_say_the_same_in_each_form(self):
        """
        The name, what it is for, and the arguments.
        """
        recall = recalled(name="look_back")
        chat, responses, anthropic = recall.openai, recall.responses, recall.anthropic

        assert {"type": "function", "function": {**chat["function"]}} == chat
        assert {"type": "function", **chat["function"]} == responses
        assert ["look_back"] * 3 == [chat["function"]["name"], responses["name"], anthropic["name"]]
        assert recall.json_schema == chat["function"]["parameters"] == anthropic["input_schema"]
        assert {"name", "description", "input_schema"} == anthropic.keys()
        assert json.dumps(chat)

    def test_satisfy_strict_schemas(self):
        """
        All arguments are required, may be null, and there are no others.
        """
        schema = recalled().json_schema

        assert recalled().openai["function"]["strict"] is True
        assert NAMES == list(schema["properties"]) == schema["required"]
        assert schema["additionalProperties"] is False
        assert {"type", "properties", "required", "additionalProperties"} == schema.keys()
        for option in schema["properties"].values():
            assert {"type", "description"} == option.keys()
            assert option["type"] in (["string", "null"], ["integer", "null"])


class TestRecall:
    def test_reads_what_was_cleared(self):
        """
        By the handle of the marker, and goes on where it stopped.
        """
        memory = Memory(strategy=ClearToolResults(0))
        memory.append(user("q"), call("c1"), result("c1", ROWS), user("and?"))
        recall = tools.recall(memory)
        assert "the whole is entry 3]" in memory.context().text()
        pieces, start = [], 0
        while start is not None:
            said = answer(recall, handle="3", start=start)
            pieces.append(said["text"])
            assert (start, len(ROWS)) == (said["start"], said["length"])
            start = said["next"]

        assert ROWS == "".join(pieces)
        assert 5 < len(pieces) < 20
        assert "row1 row" == answer(recall, handle="3", start=5, length=8)["text"]

    def test_is_bounded_whatever_is_read(self):
        """
        By any counter, also of text that takes many tokens, or many more as JSON.
        """
        for text in (
            ROWS,
            "你好" * 9_000,
            "👩🏽‍💻" * 900,
            "\x00" * 9_000,
            '"\\' * 9_000,
            "e\u0301" * 9_000,
        ):
            for most, count in ((400, exact()), (2_000, exact()), (700, of_text(len))):
                recall = recalled(user(text), max_tokens=most, count=count)
                for arguments in (
                    {"handle": "1"},
                    {"query": text[:9]},
                    {"handle": "1", "find": text[0]},
                ):
                    said = recall(**arguments)

                    assert count(tool(said, call_id="c")) <= most
                    assert json.loads(said)["next"] != 0
                    assert "error" not in json.loads(said)

    def test_finds_words_in_an_entry(self):
        """
        The places, and where to go on.
        """
        recall = recalled(user("x"), result("c1", f"hit{'.' * 400}" * 50))
        said = answer(recall, handle="2", find="HIT")
        places = list(said["found"])
        while said["next"] is not None:
            said = answer(recall, handle="2", find="hit", start=said["next"])
            places += said["found"]

        assert [403 * n for n in range(50)] == [
            place["start"] + place["text"].index("hit") for place in places
        ]
        assert [] == answer(recall, handle="2", find="miss")["found"]

    def test_searches_what_the_context_left_out(self):
        """
        Newest first, each with its handle, and where to go on; not its own calls.
        """
        memory = Memory(strategy=Window(1))
        memory.append(*talk(20), user("q again"))
        recall = tools.recall(memory)
        memory.context()
        said = answer(recall, query="q")
        memory.append(assistant(calls=[ToolCall("c9", "recall", {"query": "q1"})]))
        memory.append(recall.answer(ToolCall("c9", "recall", {"query": "q1"})))
        then = answer(recall, query="Q1")

        assert [str(39 - 2 * n) for n in range(8)] == [hit["handle"] for hit in said["found"]]
        assert {"handle": "39", "start": 0, "length": 3, "hits": 1, "text": "q20"} == said["found"][
            0
        ]
        assert ["23", "21"] == [
            hit["handle"] for hit in answer(recall, query="q", before=said["next"])["found"]
        ][:2]
        assert "41" not in [hit["handle"] for hit in said["found"]]
        assert ["37", "35"] == [hit["handle"] for hit in then["found"]][:2]

    def test_says_where_not_all_words_were_found(self):
        """
        Or none.
        """
        recall = recalled(user("a red door"))

        assert (
            "no entry holds all of these words; these hold some of them"
            == (answer(recall, query="red car")["note"])
        )
        assert {
            "found": [],
            "next": None,
            "note": "nothing holds these words; try others, or fewer",
        } == answer(recall, query="car")

    def test_takes_what_models_write_for_null(self):
        """
        And numbers however they are spelled; words to find without a handle are a search.
        """
        recall = recalled(user("q"), result("c1", "one two three"))
        nothing = dict.fromkeys(NAMES)

        for given_ in (
            {**nothing, "handle": "2"},
            {"handle": 2, "start": "", "length": "100", "query": "", "find": ""},
            {"handle": 2.0, "start": 0.0, "before": None},
            {"handle": "entry 2", "start": "0"},
            {"handle": "2", "start": 0, "length": 0, "find": "", "query": "", "before": 0},
        ):
            assert "one two three" == answer(recall, **given_)["text"]
        assert ["2"] == [hit["handle"] for hit in answer(recall, find="two")["found"]]
        assert [0] == [place["start"] for place in answer(recall, handle="2", query="two")["found"]]

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            ({}, "give `handle` (the entry that a marker names) or `query` (words to look for)"),
            ({"handle": "9"}, "fetch: thread 'default' has no entry 9; they are 1 to 1"),
            ({"handle": ["1"]}, "`handle` takes text or null, got 1"),
            ({"handle": True}, "`handle` takes text or null, got True"),
            ({"handle": 10**400}, "fetch: 'a number that is too large' is no handle; one is the"),
            ({"handle": "1", "start": "two"}, "`start` takes a whole number or null, got two"),
            ({"handle": "1", "start": True}, "`start` takes a whole number or null, got True"),
            ({"handle": "1", "start": 99}, "fetch: '1' has 5 characters, so `start` cannot be 99"),
            ({"handle": "1", "length": -1}, "fetch: `length` takes an int of 0 or more, got -1"),
            ({"query": "a", "before": 0}, "find: `before` takes an int of 1 or more, got 0"),
            ({"query": {"a": 1}}, "`query` takes text or null, got { a : 1}"),
            ({"path": "a"}, "no argument `path`; there are handle, start, length, find, query,"),
            ({"self": 1}, "no argument `self`; there are handle, start, length, find, query,"),
        ],
        ids=str,
    )
    def test_tells_a_model_what_it_got_wrong(self, arguments, told):
        """
        In words that it can act on.
        """
        said = answer(recalled(user("hello")), **arguments)

        assert ["error"] == list(said)
        assert said["error"].startswith(told)

    @pytest.mark.parametrize("name", NAMES)
    def test_says_so_of_what_cannot_be_spelled(self, name):
        """
        A number of too many digits, alone or within, or lists in lists without end.
        """
        deep = []
        for _ in range(10_000):
            deep = [deep]

        for wrong in (10**5_000, -(10**5_000), [10**5_000], {"a": 10**5_000}, deep):
            said = answer(recalled(user("hello")), **{"handle": "1", name: wrong})

            assert "text" in said or len(said["error"]) <= 200

    def test_does_not_read_what_a_person_took_out(self):
        """
        Neither by its handle nor by its words.
        """
        memory = Memory()
        memory.append(user("a secret"), user("b"))
        memory.retract(1)
        recall = tools.recall(memory)

        assert "taken out" in answer(recall, handle="1")["error"]
        assert [] == answer(recall, query="secret")["found"]

    @given(st.text(st.characters(), max_size=60))
    def test_no_text_can_pass_for_the_tools_own(self, text):
        """
        Each answer is one line of JSON, and gives the text back to the letter.
        """
        recall = recalled(user(f'x"}}\n{{"error": "{text}\u2028'))
        said = recall(handle="1")

        assert 1 == len(said.splitlines())
        assert f'x"}}\n{{"error": "{text}\u2028' == json.loads(said)["text"]
        assert said.encode()

    def test_answers_a_call(self):
        """
        With a message of the call's id; a mistake is marked as an error.
        """
        recall = recalled(user("hello"))
        good = recall.answer(ToolCall("c7", "recall", {"handle": "1"}))

        assert tool(recall(handle="1"), call_id="c7") == good
        for wrong, told in (
            (ToolCall("c7", "recall", '{"handle": '), "the arguments are no JSON object"),
            (ToolCall("c7", "recall", "[1]"), "the arguments are no JSON object"),
            (ToolCall("c7", "recall", ""), "give `handle`"),
            (ToolCall("c7", "search", {"handle": "1"}), "there is no tool `search` here"),
        ):
            message = recall.answer(wrong)

            assert ("c7", True) == (
                message.tool_results[0].call_id,
                message.tool_results[0].is_error,
            )
            assert told in json.loads(message.text)["error"]

    def test_is_the_same_awaited(self):
        """
        With an `AsyncMemory`.
        """

        async def main():
            memory = AsyncMemory()
            await memory.append(user("hello"))
            recall = tools.recall(memory)
            calls = [{"handle": "1"}, {"query": "hello"}, {"handle": "2"}, {"x": 1}]
            said = [await recall(**arguments) for arguments in calls]
            messages = [
                await recall.answer(ToolCall("c1", name, {"handle": "1"}))
                for name in ("recall", "other")
            ]
            return calls, said, messages, recall.openai

        calls, said, messages, definition = asyncio.run(main())
        recall = recalled(user("hello"))

        assert [recall(**arguments) for arguments in calls] == said
        assert messages == [
            recall.answer(ToolCall("c1", name, {"handle": "1"})) for name in ("recall", "other")
        ]
        assert recall.openai == definition

    def test_refuses_what_is_wrong(self):
        """
        When it is made.
        """
        for make, told in (
            (
                lambda: tools.recall("memory"),
                "recall: expected a Memory or an AsyncMemory, got str",
            ),
            (lambda: recalled(name=" "), "recall: `name` must be the name of a tool, got ' '"),
            (
                lambda: recalled(max_tokens=399),
                "recall: `max_tokens` must be an int of 400 or more, got 399",
            ),
        ):
            with pytest.raises(ConfigError) as caught:
                make()

            assert told == str(caught.value)
