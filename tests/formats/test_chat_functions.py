"""
Legacy calls of Chat Completions: `function_call`, and results of role "function".
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged import (
    ClearToolResults,
    ClipToolResults,
    Memory,
    Message,
    Repair,
    ToolCall,
    ToolResult,
    Window,
    assistant,
    run,
    user,
)
from unabridged.formats import (
    anthropic,
    bedrock,
    gemini,
    mend,
    openai_chat,
    openai_responses,
    problems,
)
from unabridged.stores import InMemoryStore
from unabridged.testing import call, result, view_of
from unabridged.tokens import Budget, words
from unabridged.transcripts import line

PROVIDERS = ("openai_chat", "openai_responses", "anthropic", "gemini", "bedrock", "mistral")


def asks(name: str = "now", arguments: Any = "{}", **keys: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "function_call": {"name": name, "arguments": arguments},
        **keys,
    }


def gave(content: Any = "noon", name: str = "now", **keys: Any) -> dict[str, Any]:
    return {"role": "function", "name": name, "content": content, **keys}


def said(text: str = "hi") -> dict[str, Any]:
    return {"role": "user", "content": text}


def ids(turns: list[dict[str, Any]]) -> list[list[str]]:
    return [
        [call.id for call in message.tool_calls] + [told.call_id for told in message.tool_results]
        for message in openai_chat.load(turns)
    ]


class TestLoad:
    def test_reads_a_call_and_its_result(self):
        """
        The call has the id that its result names, and the result is a tool's.
        """
        asked, told = openai_chat.load([asks(arguments='{"tz": 1}'), gave()])

        assert (ToolCall("now", "now", '{"tz": 1}'),) == tuple(
            ToolCall(each.id, each.name, each.arguments) for each in asked.tool_calls
        )
        assert ("tool", "now", "now", "noon") == (
            told.role,
            told.name,
            told.tool_results[0].call_id,
            told.text,
        )

    @pytest.mark.parametrize(
        ("turns", "made"),
        [
            ([asks(), gave(), asks(), gave()], [["now"], ["now"], ["now"], ["now"]]),
            ([asks(), asks(), gave(), gave()], [["now"], ["now-2"], ["now-2"], ["now"]]),
            ([asks(), asks("see"), gave(), gave()], [["now"], ["see"], ["now"], ["now"]]),
            ([asks(), gave(), gave()], [["now"], ["now"], ["now"]]),
            ([gave(), asks()], [["now"], ["now"]]),
        ],
    )
    def test_a_result_answers_the_newest_open_call_of_its_name(
        self, turns: list[dict[str, Any]], made: list[list[str]]
    ):
        """
        A call that waits keeps its id; the next of its name gets another.
        """
        assert made == ids(turns)

    def test_makes_no_id_that_the_api_gave(self):
        """
        A tool call whose id is the name of a legacy function keeps it for itself.
        """
        modern = {"id": "now", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        turns = [asks(tool_calls=[modern]), gave()]

        assert [["now", "now-2"], ["now-2"]] == ids(turns)
        assert turns == openai_chat.dump(openai_chat.load(turns))

    def test_one_message_at_a_time_is_the_same(self):
        """
        A loop that appends what comes gets the ids that the whole has.
        """
        turns = [said(), asks(), gave(), asks("see"), gave(name="see"), asks(), gave()]
        one_by_one = [message for turn in turns for message in openai_chat.load([turn])]

        assert list(openai_chat.load(turns)) == one_by_one

    @pytest.mark.parametrize(
        "turn",
        [
            {"role": "function", "content": "x"},
            {"role": "function", "name": None, "content": None},
            {"role": "function", "name": "f"},
            {"role": "function", "name": "f-2", "content": [{"type": "text", "text": "a"}]},
            {"role": "function", "content": "x", "tool_call_id": "c1"},
            gave(tool_call_id="c1", id="m1", metadata={"a": 1}),
            gave([{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]),
            asks(content="I look."),
            asks(content=[]),
            asks(arguments={"a": 1}, name="f", refusal=None),
            {"role": "assistant", "function_call": {"name": "f"}},
            {"role": "assistant", "content": "", "function_call": {"name": "f", "x": [1]}},
            {"role": "assistant", "content": "hi", "function_call": None},
            {"role": "assistant", "content": "hi", "function_call": "auto"},
            {"role": "assistant", "content": "hi", "function_call": {"arguments": "{}"}},
            {"role": "user", "content": "hi", "function_call": {"name": "f", "arguments": "{}"}},
        ],
    )
    def test_gives_every_shape_back(self, turn: dict[str, Any]):
        """
        What was loaded is dumped key for key, as it is.
        """
        assert [turn] == openai_chat.dump(openai_chat.load([turn]))

    def test_a_call_that_a_server_says_twice_is_one(self):
        """
        Where `tool_calls` says the same, `function_call` is a key and no second call.
        """
        form = {"name": "now", "arguments": "{}"}
        turn = asks(tool_calls=[{"id": "c1", "type": "function", "function": form}])

        assert [["c1"]] == ids([turn])
        assert [turn] == openai_chat.dump(openai_chat.load([turn]))

    @given(
        st.lists(
            st.sampled_from(
                [asks(), asks("now-2"), asks("see"), gave(), gave(name="see"), gave(name="now-2")]
            ),
            max_size=8,
        )
    )
    def test_every_order_is_given_back(self, turns: list[dict[str, Any]]):
        """
        Whatever calls what in whatever order: nothing is lost, and no made id is sent.
        """
        assert turns == openai_chat.dump(openai_chat.load(turns))


class TestReply:
    def test_reads_a_legacy_call(self):
        """
        A response of the legacy form, with its nulls, is a call that goes back as it came.
        """
        message = {**asks(arguments='{"a": 1}'), "tool_calls": None, "refusal": None}
        (answer,) = openai_chat.reply({"choices": [{"message": message}]})

        assert [asks(arguments='{"a": 1}')] == openai_chat.dump([answer])
        assert ["now"] == [each.id for each in answer.tool_calls]

    def test_joins_the_deltas_of_a_stream(self):
        """
        The pieces of the arguments make one call.
        """
        pieces = [{"name": "now", "arguments": ""}, {"arguments": '{"a"'}, {"arguments": ": 1}"}]
        chunks = [{"choices": [{"index": 0, "delta": {"function_call": one}}]} for one in pieces]
        chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "function_call"}]}]

        (answer,) = openai_chat.reply(chunks)
        assert [asks(arguments='{"a": 1}')] == openai_chat.dump([answer])


class TestInTheCore:
    def test_their_words_are_counted(self):
        """
        A result of 2,000 words counts them, and so do the arguments of a call.
        """
        _, asked, told = openai_chat.load(
            [said(), asks(arguments=json.dumps({"q": "word " * 500})), gave("word " * 2_000)]
        )

        assert words(told) >= 2_000
        assert words(asked) >= 500

    def test_a_cut_keeps_them_together(self):
        """
        A cut that would fall between a legacy call and its result moves past the result.
        """
        turns = [said("a"), asks(), gave(), {"role": "assistant", "content": "done"}, said("b")]
        view = run(Window(3, opening="anywhere"), view_of(openai_chat.load(turns))).view

        assert turns[3:] == openai_chat.dump(view.messages)

    def test_a_result_is_clipped_and_cleared(self):
        """
        What shortens results shortens these, and they stay of role "function".
        """
        turns = [said("a"), asks(), gave("word " * 200)]
        turns += [{"role": "assistant", "content": "done"}, said("b")]
        view = view_of(openai_chat.load(turns))
        clipped = run(ClipToolResults(20, count=words), view).messages
        cleared = run(ClearToolResults(keep_last=0, count=words), view).messages

        for shorter in (clipped, cleared):
            told = openai_chat.dump(shorter)[2]
            assert ("function", "now") == (told["role"], told["name"])
            assert len(told["content"]) < 1_000

    def test_summarizers_are_shown_them(self):
        """
        The transcript for a model has the call and what came back.
        """
        _, asked, told = map(line, view_of(openai_chat.load([said(), asks(), gave()])))

        assert [{"id": "now", "name": "now", "arguments": "{}"}] == json.loads(asked)["calls"]
        assert [{"call": "now", "text": "noon"}] == json.loads(told)["results"]

    def test_a_memory_keeps_them(self):
        """
        What a memory shows is what was loaded, after it was written and read.
        """
        turns = [said(), asks(), gave(), {"role": "assistant", "content": "Noon."}]
        memory = Memory(InMemoryStore(), budget=Budget(10_000))
        memory.append(*openai_chat.load(turns))

        assert turns == openai_chat.request(memory.context().view)["messages"]


class TestRequest:
    TURNS = (said(), asks(arguments='{"tz": 1}'), gave(), asks(), gave("one"), said("bye"))

    def test_goes_as_it_came_to_chat(self):
        """
        Legacy calls are sent as they are, and nothing is mended.
        """
        report: list[Any] = []
        messages = openai_chat.load(self.TURNS)

        assert list(self.TURNS) == openai_chat.request(messages, report)["messages"]
        assert [] == report
        assert () == problems(messages, "openai_chat")

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_is_mended_for_every_api(self, provider: str):
        """
        Mended, the calls and results have no problem anywhere.
        """
        messages = openai_chat.load(self.TURNS)

        assert () == problems(mend(messages, provider), provider)

    def test_goes_as_calls_and_results_to_the_others(self):
        """
        Each other API gets a call with its arguments, and the result that answers it.
        """
        messages = openai_chat.load(self.TURNS[:3])

        asked, told = openai_responses.request(messages)["input"][1:]
        assert ("function_call", "now", '{"tz": 1}') == (
            asked["type"],
            asked["name"],
            asked["arguments"],
        )
        assert (asked["call_id"], "noon") == (told["call_id"], told["output"])

        asked, told = (one["content"][0] for one in anthropic.request(messages)["messages"][1:])
        assert ("tool_use", {"tz": 1}) == (asked["type"], asked["input"])
        assert (asked["id"], "noon") == (told["tool_use_id"], told["content"])

        asked, told = (one["parts"][0] for one in gemini.request(messages)["contents"][1:])
        assert ("now", {"tz": 1}) == (asked["functionCall"]["name"], asked["functionCall"]["args"])
        assert {"output": "noon"} == told["functionResponse"]["response"]

        asked, told = (one["content"][0] for one in bedrock.request(messages)["messages"][1:])
        assert {"tz": 1} == asked["toolUse"]["input"]
        assert asked["toolUse"]["toolUseId"] == told["toolResult"]["toolUseId"]

    def test_goes_as_calls_with_ids_to_mistral(self):
        """
        Mistral knows no legacy form: it gets calls of today, with ids it takes.
        """
        turns = openai_chat.dump(mend(openai_chat.load(self.TURNS), "mistral").messages)
        (asked,) = turns[1]["tool_calls"]

        assert (9, "tool", asked["id"]) == (
            len(asked["id"]),
            turns[2]["role"],
            turns[2]["tool_call_id"],
        )
        assert "name" not in turns[2]

    def test_an_orphan_goes_as_words(self):
        """
        A function's result whose call is not there becomes words of a user.
        """
        turns = openai_chat.request(openai_chat.load([said(), gave(), said("bye")]))["messages"]

        assert ["user", "user", "user"] == [turn["role"] for turn in turns]
        assert turns[1]["content"].endswith("\nnoon")

    def test_a_result_takes_the_form_of_its_call(self):
        """
        What a program answers to a legacy call by its id goes as a function's result.
        """
        (asked,) = openai_chat.load([asks()])
        messages = [user("hi"), asked, result(asked.tool_calls[0].id, "noon")]

        assert "result form" in [found.rule for found in problems(messages, "openai_chat")]
        assert [said(), asks(), gave()] == openai_chat.request(messages)["messages"]

    def test_a_legacy_result_of_a_call_with_an_id_gets_it(self):
        """
        A result of role "function" for a tool call of that id goes as the tool's.
        """
        (told,) = openai_chat.load([gave()])
        turns = openai_chat.request([user("hi"), call("now"), told])["messages"]

        assert ("tool", "now") == (turns[2]["role"], turns[2]["tool_call_id"])

    def test_repair_closes_a_call(self):
        """
        The result that `Repair` puts in is one of role "function" too.
        """
        turns = [said(), asks(), {"role": "assistant", "content": "Well?"}, said("bye")]
        view = run(Repair(), view_of(openai_chat.load(turns))).view
        sent = openai_chat.request(view)["messages"]

        assert ("function", "now") == (sent[2]["role"], sent[2]["name"])

    @pytest.mark.parametrize("name", ["get weather", "a.b", "f" * 100])
    def test_a_name_is_fitted_on_both_sides(self, name: str):
        """
        A function's name in letters that are refused is changed in its result as well.
        """
        messages = openai_chat.load([said(), asks(name), gave(name=name)])
        turns = openai_chat.request(messages)["messages"]

        assert ["bad name", "bad name"] == [p.rule for p in problems(messages, "openai_chat")]
        assert turns[1]["function_call"]["name"] == turns[2]["name"]
        assert () == problems(mend(messages, "openai_chat"), "openai_chat")

    def test_a_long_name_makes_no_id_that_is_too_long(self):
        """
        An id that is not sent has no limit: a name of 64 letters is fine.
        """
        messages = openai_chat.load([said(), asks("f" * 64), gave(name="f" * 64), said()])

        assert () == problems(messages, "openai_chat")


class TestKeptByEarlierVersions:
    """
    Logs in which such a call is a key without a field, and its result words of a role.
    """

    CALL = Message(
        "assistant",
        (),
        extra={
            "openai_chat": {
                "content": "null",
                "keys": {"function_call": {"name": "now", "arguments": '{"tz": 1}'}},
            }
        },
    )
    RESULT = Message("function", "noon", name="now")

    def test_are_dumped_as_before(self):
        """
        They come back as the dicts that they were.
        """
        assert [asks(arguments='{"tz": 1}'), gave()] == openai_chat.dump([self.CALL, self.RESULT])

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_are_sent_as_calls_and_results(self, provider: str):
        """
        A request has them as what they are, with the entries they came from.
        """
        view = view_of([user("hi"), self.CALL, self.RESULT])
        mended = mend(view, provider)

        assert () == problems(mended, provider)
        assert [(), ("now",), ()] == [
            tuple(each.name for each in message.tool_calls) for message in mended.messages
        ]
        assert (1, 2, 3) == tuple(turn.seq for turn in mended.turns)

    def test_go_to_chat_as_they_came(self):
        """
        Chat Completions gets the same dicts as the earlier version loaded.
        """
        turns = openai_chat.request([user("hi"), self.CALL, self.RESULT])["messages"]

        assert [said(), asks(arguments='{"tz": 1}'), gave()] == turns

    def test_a_result_beside_words_stays(self):
        """
        A message that has calls or results of today is left alone.
        """
        both = Message("function", ToolResult("c1", "noon"), name="now")
        messages = [user("hi"), assistant(calls=[ToolCall("c1", "now")]), both]

        assert ["noon"] == [
            r.text for m in mend(messages, "anthropic").messages for r in m.tool_results
        ]
