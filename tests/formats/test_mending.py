"""
What form alone can put right: nothing is lost, nothing is done twice, and what is left is named.
"""

from collections import Counter

import pytest
from attrs import evolve
from hypothesis import given

from unabridged import (
    Audio,
    Image,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Window,
    assistant,
    chain,
    run,
    system,
    tool,
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
from unabridged.testing import call, result, view_of
from unabridged.testing.generators import messages as transcripts

PROVIDERS = ("openai_chat", "openai_responses", "anthropic", "gemini", "bedrock", "mistral")
MODULES = (openai_chat, openai_responses, anthropic, gemini, bedrock)
LEFT = {  # what form alone cannot mend
    "last message",
    "no message",
    "reasoning apart",
    "response count",
    "thinking altered",
    "thinking missing",
    "unanswered call",
}
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


def said(messages):
    return [(message.role, message.text) for message in messages]


def told(mended):
    return [(line.what, line.seq) for line in mended.report]


class TestMend:
    @pytest.mark.parametrize("provider", ["anthropic", "openai_chat", "gemini", "bedrock"])
    def test_a_blank_text_beside_results_says_nothing(self, provider):
        """
        Neither where all is in place, nor where a result elsewhere has to be moved.
        """
        beside = Message("user", [ToolResult("c2", "yes"), Text(" ")])
        late = [call("c1"), assistant("Still at it."), result("c1")]
        for before in ([], late):
            mended = mend([user("q"), *before, user("q"), call("c2"), beside], provider)

            assert "(empty)" not in [message.text for message in mended.messages]

    @every_provider
    @given(transcripts())
    def test_leaves_only_what_form_cannot_mend(self, provider, messages):
        """
        Everything else that the provider would refuse is gone.
        """
        assert {found.rule for found in problems(mend(messages, provider), provider)} <= LEFT

    @every_provider
    @given(transcripts())
    def test_loses_no_word(self, provider, messages):
        """
        Every text, call and result that was there is there, whatever it was turned into.
        """
        mended = mend(messages, provider).messages
        there = "\n".join(message.text for message in mended)

        for message in messages:
            for part in message.parts:
                if isinstance(part, Text | ToolResult):
                    assert part.text.strip() in there
        assert Counter(c.name for m in messages for c in m.tool_calls) <= Counter(
            c.name for m in mended for c in m.tool_calls
        )

    @every_provider
    @given(transcripts())
    def test_mends_once(self, provider, messages):
        """
        What is mended stays as it is.
        """
        once = mend(messages, provider)
        twice = mend(once.messages, provider)

        assert once.messages == twice.messages
        assert {line.what for line in twice.report} <= {"left out"}

    @given(transcripts())
    def test_touches_no_chat_that_is_sound(self, messages):
        """
        Without a problem there is nothing to do.
        """
        if not problems(messages, "openai_chat"):
            assert tuple(messages) == mend(messages, "openai_chat").messages

    @given(transcripts())
    def test_requests_hold_what_the_provider_takes(self, messages):
        """
        `request` never fails, and dumps what `mend` gives.
        """
        for module in MODULES:
            report = []
            body = module.request(messages, report)
            provider = module.__name__.rpartition(".")[2]

            assert list(mend(messages, provider).report) == report
            assert body == module.request(view_of(messages))

    def test_takes_a_view_and_reports_its_entries(self):
        """
        The numbers in the report are those of the log.
        """
        view = view_of([user("a"), assistant("b"), user("c"), user(""), assistant("d")])
        mended = mend(run(chain(Window(3)), view).view, "bedrock")

        assert [("filled", 4), ("joined", 4)] == told(mended)


class TestResults:
    def test_move_to_their_call(self):
        """
        What a user said in between comes after them.
        """
        late = [user("q"), call("c1", "c2"), result("c1", "1"), user("wait"), result("c2", "2")]
        mended = mend(late, "openai_chat")

        assert [
            ("user", "q"),
            ("assistant", ""),
            ("tool", "1"),
            ("tool", "2"),
            ("user", "wait"),
        ] == (said(mended.messages))
        assert [("moved", 5)] == told(mended)

    def test_of_calls_that_are_interleaved_go_to_their_own(self):
        """
        Two batches, and the results of the first after the second.
        """
        turns = [user("q"), call("a"), call("b"), result("a", "1"), result("b", "2")]
        mended = mend(turns, "anthropic").messages

        assert [
            ("user", "q"),
            ("assistant", ""),
            ("tool", "1"),
            ("assistant", ""),
            ("tool", "2"),
        ] == (said(mended))

    def test_come_first_in_a_turn_with_words(self):
        """
        The words of the same message stay behind them.
        """
        mixed = user(["Look:", ToolResult("c1", "9")])
        (_, _, turn) = mend([user("q"), call("c1"), mixed], "anthropic").messages

        assert (ToolResult("c1", "9"), Text("Look:")) == turn.parts

    def test_without_a_call_become_words(self):
        """
        With their text, and pictures as they were.
        """
        picture = Image(url="https://example.org/cat.png")
        orphan = tool(["a cat", picture], call_id="c9")
        (message,) = mend([orphan], "openai_chat").messages

        assert "user" == message.role
        assert (
            Text("[result of `c9`, a call that is no longer here]\na cat"),
            picture,
        ) == message.parts

    def test_that_are_doubled_become_words(self):
        """
        The second one, in its place.
        """
        turns = [user("q"), call("c1"), result("c1", "1"), result("c1", "again")]
        mended = mend(turns, "gemini").messages

        assert "again" in mended[-1].text
        assert 1 == len(mended[-1].tool_results)

    def test_of_several_calls_in_one_message_part_with_the_orphans(self):
        """
        What has a call stays a result, what has none is said after it.
        """
        both = Message("tool", [ToolResult("c9", "lost"), ToolResult("c1", "9")])
        mended = mend([user("q"), call("c1"), both], "openai_chat").messages

        assert ["user", "assistant", "tool", "user"] == [message.role for message in mended]

    def test_in_a_user_s_message_go_as_tool_messages_to_mistral(self):
        """
        What came from an API whose results stand in a user's turn, also with words behind them.
        """
        mixed = Message("user", [ToolResult("c1", "9"), Text("Well?")])
        turns = [user("q"), call("c1", "c2"), tool("8", call_id="c2"), mixed]
        mended = mend(turns, "mistral")

        assert ["user", "assistant", "tool", "tool", "assistant", "user"] == [
            message.role for message in mended.messages
        ]
        assert () == problems(mended, "mistral")
        assert mended.messages == mend(mended.messages, "mistral").messages

    def test_thousands_of_them_are_mended_in_one_go(self):
        """
        Ten thousand neighbours, results in falling order, ids with one long start.
        """
        ids = [f"{'x' * 60}{number}" for number in range(5_000)]
        turns = [user("q"), call(*ids), *(result(id_) for id_ in reversed(ids))]

        assert () == problems(mend([*turns, *[user("a")] * 10_000], "bedrock"), "bedrock")

    def test_with_half_a_character_in_the_id_become_words_that_can_be_sent(self):
        """
        Also where the id is one of a call.
        """
        (message,) = mend([result("c\ud800")], "openai_chat").messages
        pair = mend([user("q"), call("c\ud800"), result("c\ud800")], "gemini").messages

        assert "[result of `c\ufffd`, a call that is no longer here]\nfound" == message.text
        assert "c_" == pair[1].tool_calls[0].id == pair[2].tool_results[0].call_id


class TestSystem:
    @pytest.mark.parametrize("provider", ["anthropic", "gemini", "bedrock", "mistral"])
    def test_text_in_the_middle_goes_as_a_user_s(self, provider):
        """
        In its place, marked as what it is; a summary that stands there too.
        """
        turns = [system("a"), user("q"), assistant("b"), system("c"), user("d")]
        mended = mend(turns, provider).messages

        assert ["system", "user", "assistant", "user"] == [message.role for message in mended]
        assert "<system>\nc\n</system>d" == mended[-1].text

    def test_a_summary_at_the_head_joins_the_prompt(self):
        """
        It is system text before the conversation, as the prompt is.
        """
        turns = [system("Be brief."), system("Summary: they met."), user("q")]

        assert [
            {"type": "text", "text": "Be brief."},
            {"type": "text", "text": "Summary: they met."},
        ] == (anthropic.request(turns)["system"])
        assert [{"text": "Be brief."}, {"text": "Summary: they met."}] == (
            bedrock.request(turns)["system"]
        )

    def test_mistral_gets_one(self):
        """
        Its templates know a single system message.
        """
        assert [("system", "ab"), ("user", "q")] == said(
            mend([system("a"), system("b"), user("q")], "mistral").messages
        )


class TestOrder:
    def test_neighbours_are_joined(self):
        """
        Parts of both, in order; a name that differs goes.
        """
        turns = [
            user("a", name="ana"),
            user("b", name="bo"),
            assistant("c"),
            assistant("d"),
            user("e"),
        ]
        mended = mend(turns, "bedrock").messages

        assert [("user", "ab"), ("assistant", "cd"), ("user", "e")] == said(mended)
        assert None is mended[0].name

    def test_neighbours_are_joined_across_what_is_not_sent(self):
        """
        A message of another provider's reasoning alone parts nothing.
        """
        turns = [user("a"), assistant(Reasoning("hm", signature="x")), user("b")]

        assert [{"text": "a"}, {"text": "b"}] == bedrock.request(turns)["messages"][0]["content"]

    def test_a_user_opens(self):
        """
        With words of ours, before an assistant that greets.
        """
        mended = mend([system("s"), assistant("Hello!"), user("hi")], "gemini")

        assert ["system", "user", "assistant", "user"] == [m.role for m in mended.messages]
        assert [("put in", 2)] == told(mended)

    def test_an_assistant_stands_between_results_and_a_user(self):
        """
        For Mistral.
        """
        turns = [user("q"), call("c12345678"), result("c12345678"), user("Well?")]
        mended = mend(turns, "mistral").messages

        assert ["user", "assistant", "tool", "assistant", "user"] == [m.role for m in mended]


class TestContent:
    def test_ids_are_kept_apart(self):
        """
        The second call of one id and its result get another, where ids alone pair.
        """
        turns = [user("q"), call("c1"), result("c1"), call("c1"), result("c1")]
        mended = mend(turns, "openai_responses").messages

        assert tuple(turns) == mend(turns, "openai_chat").messages
        assert ["c1", "c1_1"] == [c.id for m in mended for c in m.tool_calls]
        assert ["c1", "c1_1"] == [r.call_id for m in mended for r in m.tool_results]

    def test_ids_of_turns_that_are_joined_are_kept_apart(self):
        """
        Two calls of one id that no result parts become one turn.
        """
        mended = mend([user("q"), call("c1"), call("c1"), result("c1")], "bedrock").messages

        assert ["c1", "c1_1"] == [c.id for c in mended[1].tool_calls]
        assert "c1_1" == mended[2].tool_results[0].call_id

    def test_mistral_gets_nine_letters(self):
        """
        The same ones for the same id each time.
        """
        turns = [user("q"), call("c1"), result("c1")]
        (id_,) = [c.id for m in mend(turns, "mistral").messages for c in m.tool_calls]

        assert 9 == len(id_)
        assert id_ == mend(turns, "mistral").messages[2].tool_results[0].call_id

    def test_names_of_functions(self):
        """
        Letters that are not allowed become underscores.
        """
        turns = [user("q"), assistant(calls=[ToolCall("c1", "get wéather")]), result("c1")]

        assert "get_w_ather" == mend(turns, "gemini").messages[1].tool_calls[0].name

    def test_arguments_that_are_no_object(self):
        """
        Go in one; what is not JSON goes as text.
        """
        calls = [ToolCall("c1", "f", "[1]"), ToolCall("c2", "f", "{"), ToolCall("c3", "f", "null")]
        turns = [user("q"), assistant(calls=calls), result("c1"), result("c2"), result("c3")]
        mended = mend(turns, "anthropic").messages[1].tool_calls

        assert ['{"arguments":[1]}', '{"arguments":"{"}', '{"arguments":"null"}'] == [
            c.arguments for c in mended
        ]

    def test_blank_texts_beside_others_go(self):
        """
        And what would be empty says so.
        """
        turns = [
            user(["", "a", " "]),
            assistant(""),
            user([]),
            assistant("b"),
            tool("", call_id="c"),
        ]
        mended = mend(turns, "anthropic").messages

        assert [
            ("user", "a"),
            ("assistant", "(empty)"),
            ("user", "(empty)"),
            ("assistant", "b"),
        ] == (said(mended)[:-1])

    def test_a_user_of_whom_nothing_can_be_sent_says_so(self):
        """
        The turn is not lost, since the answer after it was meant for it.
        """
        report = []
        body = anthropic.request([user(Audio(data="aGk=", media_type="audio/wav"))], report)

        assert [{"role": "user", "content": "(empty)"}] == body["messages"]
        assert ["filled", "left out"] == [line.what for line in report]

    def test_speakers(self):
        """
        A name is made to fit where there is a field for it, and named in the report where not.
        """
        turns = [user("hi", name="Ana Luz")]

        assert "Ana_Luz" == mend(turns, "openai_chat").messages[0].name
        assert ["left out"] == [line.what for line in mend(turns, "anthropic").report]

    def test_what_only_another_provider_understands_is_reported(self):
        """
        With its entry, and whose it is.
        """
        turns = [user("q"), assistant(["a", Opaque("acme", {"x": 1})]), user("b")]
        (line,) = mend(turns, "openai_responses").report

        assert ("left out", 2) == (line.what, line.seq)
        assert "acme" in line.text


class TestReasoning:
    def test_an_item_without_its_reasoning_goes_as_a_fresh_one(self):
        """
        Its id is taken off, also of each call of a batch.
        """
        thought = {"type": "reasoning", "id": "rs_1", "summary": []}
        calls = [
            {"type": "function_call", "id": f"fc_{n}", "call_id": f"c{n}", "name": "f"}
            | {"arguments": "{}"}
            for n in (1, 2)
        ]
        answers = [
            {"type": "function_call_output", "call_id": f"c{n}", "output": ""} for n in (1, 2)
        ]
        asked = {"role": "user", "content": "hi"}
        messages = openai_responses.load([asked, thought, *calls, *answers])
        forgetful = [
            evolve(m, parts=tuple(p for p in m.parts if not isinstance(p, Reasoning)))
            for m in messages
        ]

        assert [asked, thought, *calls, *answers] == openai_responses.request(messages)["input"]
        items = openai_responses.request(forgetful)["input"]
        assert ["id" in item for item in items] == [False] * 5

    def test_calls_of_other_models_are_signed_for_gemini(self):
        """
        Only the first of a step, only in the current turn.
        """
        step = [call("a", "b"), result("a"), result("b")]
        contents = gemini.request([user("q"), *step, assistant("x"), user("r"), *step])["contents"]
        signed = [
            "thoughtSignature" in part
            for content in contents
            for part in content["parts"]
            if "functionCall" in part
        ]

        assert [False, False, True, False] == signed
