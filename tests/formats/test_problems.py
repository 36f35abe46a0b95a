"""
What a provider would refuse, by entry: each rule where it holds, and no other.
"""

import importlib.util
import json
from pathlib import Path

import pytest
from hypothesis import given

from unabridged import (
    Document,
    Image,
    Memory,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Window,
    assistant,
    system,
    tool,
    user,
)
from unabridged.errors import ConfigError
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

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the shared transcripts are not beside the project"
)
PROVIDERS = ("openai_chat", "openai_responses", "anthropic", "gemini", "bedrock", "mistral")


FORMATS = {
    "chat": openai_chat,
    "responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
}

TAKEN = {
    "anthropic": {"first message", "repeated id"},
    "bedrock": {"first message"},
    "chat": {"empty key"},  # by Mistral
    "gemini": {"blank text", "call turn", "orphan result", "response count", "unanswered call"},
}


def rules(messages, provider):
    return [(found.rule, found.seq) for found in problems(messages, provider)]


class TestProblems:
    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_finds_none_in_a_sound_tool_loop(self, provider):
        """
        What every provider takes has no problem for any of them.
        """
        turns = [
            system("Be brief."),
            user("Weather?"),
            call("c00000001"),
            result("c00000001"),
            assistant("Sunny."),
            user("Thanks."),
        ]

        assert [] == rules(turns, provider)

    def test_takes_a_view_and_names_its_entries(self):
        """
        The numbers are those of the log, whatever was cut before them.
        """
        memory = Memory(strategy=Window(2))
        memory.append(user("a"), assistant("b"), user("c"), assistant(""))

        assert [("last message", 0), ("blank text", 4)] == rules(memory.context().view, "anthropic")

    def test_tells_where_in_plain_words(self):
        """
        A reader sees the id, and what would help.
        """
        (found,) = problems([user("hi"), call("c1"), user("Well?")], "openai_chat")

        assert "the call `c1` is not followed by its result; Repair() closes it" == found.text

    def test_refuses_an_unknown_provider(self):
        """
        The error lists those that are known.
        """
        known = "anthropic, bedrock, gemini, mistral, openai_chat, openai_responses"
        with pytest.raises(ConfigError, match=f"expected one of {known}, got 'acme'"):
            problems([], "acme")

    def test_refuses_what_is_no_message(self):
        """
        The place is in the error.
        """
        with pytest.raises(ConfigError, match=r"messages\[1\]: expected a Message"):
            problems([user("hi"), {"role": "user"}], "gemini")


class TestPairing:
    @pytest.mark.parametrize("provider", ["openai_chat", "gemini", "bedrock", "mistral"])
    def test_results_must_follow_their_call(self, provider):
        """
        A user between the two parts them, by position.
        """
        found = rules([user("hi"), call("c1"), user("wait"), result("c1")], provider)

        assert {("unanswered call", 2), ("orphan result", 4)} <= set(found)

    def test_anthropic_joins_before_it_judges(self):
        """
        The words and the result are one turn of the user's, in the wrong order.
        """
        turns = [user("hi"), call("c1"), user("wait"), result("c1")]

        assert [("result not first", 4)] == rules(turns, "anthropic")

    def test_responses_pairs_by_id_alone(self):
        """
        An output may come anywhere after its call.
        """
        assert [] == rules([call("c1"), user("wait"), result("c1")], "openai_responses")
        assert [("orphan result", 1), ("unanswered call", 2)] == rules(
            [result("c1"), call("c1")], "openai_responses"
        )

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_each_call_of_a_batch_needs_its_result(self, provider):
        """
        One answer of two leaves the other call open.
        """
        found = rules([user("hi"), call("c1", "c2"), result("c1")], provider)

        assert ("unanswered call", 2) in found

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_a_doubled_result_is_an_orphan(self, provider):
        """
        The second answer to one call has no call.
        """
        found = rules([user("hi"), call("c1"), result("c1"), result("c1")], provider)

        assert ("orphan result", 4) in found

    def test_results_may_come_in_any_order_and_in_several_messages(self):
        """
        Two tool messages after a batch are one turn of Anthropic's, which joins them.
        """
        turns = [user("hi"), call("c1", "c2"), result("c2"), result("c1")]

        assert [] == rules(turns, "openai_chat")
        assert [] == rules(turns, "anthropic")

    def test_gemini_counts_the_responses_of_the_next_turn(self):
        """
        Two contents of one response each are not one of two; tool messages are no contents yet.
        """
        tools = [user("hi"), call("c1", "c2"), result("c2"), result("c1")]
        turns = [*tools[:2], *(Message("user", message.parts) for message in tools[2:])]

        assert [] == rules(tools, "gemini")
        assert ("response count", 2) in rules(turns, "gemini")
        assert [] == rules(mend(turns, "gemini"), "gemini")

    def test_results_stand_first_in_their_turn(self):
        """
        Words before a result are refused, words after it are not.
        """
        first = Message("user", [ToolResult("c1", "9"), Text("and now?")])
        last = Message("user", [Text("and now?"), ToolResult("c1", "9")])

        assert [] == rules([user("hi"), call("c1"), first], "bedrock")
        assert [("result not first", 3)] == rules([user("hi"), call("c1"), last], "bedrock")

    @given(transcripts())
    @needs_shared
    def test_agrees_with_the_checker_of_the_cases(self, messages):
        """
        On chat form the calls and results it names are those that the shared checker names.
        """
        spec = importlib.util.spec_from_file_location("cases", SHARED / "cases" / "load.py")
        cases = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cases)
        turns = openai_chat.dump(messages)
        theirs = {
            (at + 1, kind.split()[0])
            for at, kind in cases.problems(turns)
            if not kind.startswith("reasoning")
        }
        ours = {
            (found.seq, found.rule.split()[0])
            for found in problems(openai_chat.load(turns), "openai_chat")
            if found.rule in {"orphan result", "unanswered call"}
        }

        assert theirs == ours


class TestOrder:
    @pytest.mark.parametrize("provider", ["anthropic", "gemini", "bedrock", "mistral"])
    def test_a_user_speaks_first(self, provider):
        """
        After the system prompt, that is.
        """
        turns = [system("Be brief."), assistant("Hello!"), user("hi")]

        assert ("first message", 2) in rules(turns, provider)
        assert [] == rules(turns, "openai_chat")

    @pytest.mark.parametrize("provider", ["bedrock", "mistral"])
    def test_roles_alternate_where_they_must(self, provider):
        """
        Two users in a row are refused there, and joined by the others.
        """
        turns = [user("a"), user("b")]

        assert [("alternation", 2)] == rules(turns, provider)
        assert [] == rules(turns, "anthropic")

    @pytest.mark.parametrize("provider", ["anthropic", "gemini", "bedrock", "mistral"])
    def test_an_assistant_may_not_speak_last(self, provider):
        """
        That is a prefilled answer, and said of the whole.
        """
        assert [("last message", 0)] == rules([user("hi"), assistant("It is")], provider)

    def test_a_prefill_may_not_end_on_white_space(self):
        """
        Not even where prefill is allowed.
        """
        found = rules([user("hi"), assistant("It is ")], "anthropic")

        assert [("last message", 0), ("trailing space", 2)] == found

    @pytest.mark.parametrize("provider", ["anthropic", "gemini", "bedrock", "mistral"])
    def test_instructions_stand_first(self, provider):
        """
        A second one at the head is fine, one in the middle is not.
        """
        turns = [system("a"), Message("developer", "b"), user("hi"), system("c"), user("?")]

        assert ("system in the middle", 4) in rules(turns, provider)
        assert ("system in the middle", 2) not in rules(turns, provider)
        assert [] == rules(turns, "openai_responses")

    def test_a_system_turn_that_anthropic_took_stays(self):
        """
        Newer models take one after a user's turn; what came from there is not named.
        """
        turns = [
            {"role": "user", "content": "hi"},
            {"role": "system", "content": "From now on, be brief."},
            {"role": "user", "content": "Well?"},
        ]

        assert [] == rules(anthropic.load(turns), "anthropic")

    def test_gemini_wants_calls_after_a_user_or_responses(self):
        """
        A model's words and then its call, in two turns, are refused.
        """
        turns = [user("hi"), assistant("I look."), call("c1"), result("c1")]

        assert [("call turn", 3)] == rules(turns, "gemini")

    def test_mistral_wants_the_assistant_after_results(self):
        """
        A user may not speak right after a tool.
        """
        turns = [user("hi"), call("c12345678"), result("c12345678"), user("Well?")]

        assert [("user after results", 4)] == rules(turns, "mistral")

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_somebody_has_to_speak(self, provider):
        """
        Nothing at all is refused everywhere.
        """
        assert [("no message", 0)] == rules([], provider)


class TestContent:
    @pytest.mark.parametrize("text", ["", " \n"])
    def test_blank_texts(self, text):
        """
        Anthropic and Bedrock refuse white space too, Gemini and Mistral the empty text.
        """
        turns = [user(text)]
        found = {provider: rules(turns, provider) for provider in PROVIDERS}
        blank = [("blank text", 1)]

        assert blank == found["anthropic"] == found["bedrock"]
        assert (found["gemini"] == blank) == (found["mistral"] == blank) == (not text)
        assert [] == found["openai_chat"] == found["openai_responses"]

    def test_a_blank_text_in_a_result(self):
        """
        An empty output of a tool is the commonest of them.
        """
        turns = [user("hi"), call("c1"), tool("", call_id="c1")]

        assert [("blank text", 3)] == rules(turns, "anthropic")

    def test_a_signature_on_an_empty_text_is_no_blank(self):
        """
        Gemini sends it so, and wants it back.
        """
        signed = {"role": "model", "parts": [{"text": "", "thoughtSignature": "c2ln"}]}
        turns = gemini.load(
            [{"role": "user", "parts": [{"text": "a"}]}, signed, {"parts": [{"text": "b"}]}]
        )

        assert [] == rules(turns, "gemini")

    @pytest.mark.parametrize(
        ("provider", "id_"),
        [("anthropic", "c:1"), ("bedrock", "c 1"), ("mistral", "c1"), ("openai_chat", "c" * 41)],
    )
    def test_ids(self, provider, id_):
        """
        Both the call and the result that carries a bad id are named.
        """
        found = rules([user("hi"), call(id_), result(id_)], provider)

        assert [("bad id", 2), ("bad id", 3)] == found

    def test_ids_are_not_used_again_where_they_alone_pair(self):
        """
        A result could find the wrong call; Anthropic is reported to refuse it too.
        """
        turns = [user("a"), call("c1"), result("c1"), call("c1"), result("c1")]

        assert [("repeated id", 4)] == rules(turns, "openai_responses")
        assert [("repeated id", 4)] == rules(turns, "anthropic")
        assert [] == rules(turns, "bedrock")

    def test_neighbours_that_are_one_turn_share_no_id(self):
        """
        Bedrock gets two assistants in a row as one turn, and then the ids would meet.
        """
        both = [user("a"), call("c1"), call("c1"), result("c1")]
        mended = mend(both, "bedrock").messages

        assert ["c1", "c1_1"] == [each.id for each in mended[1].tool_calls]

    def test_one_id_twice_in_a_turn_is_refused_everywhere(self):
        """
        Two calls, two results, one id.
        """
        turns = [user("a"), call("c1", "c1"), result("c1"), result("c1")]

        assert ("repeated id", 2) in rules(turns, "openai_chat")

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_half_a_character(self, provider):
        """
        No client can write it; mending puts U+FFFD in its place.
        """
        turns = [user("so \ud83d")]

        assert ("half a character", 1) in rules(turns, provider)
        assert "so \ufffd" == mend(turns, provider).messages[0].text

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_names_of_functions(self, provider):
        """
        A space is nowhere allowed.
        """
        calls = [ToolCall("c00000001", "get weather")]
        found = rules([user("a"), assistant(calls=calls), result("c00000001")], provider)

        assert ("bad name", 2) in found

    @pytest.mark.parametrize("arguments", ["[1]", "not json", "null", '{"a": NaN}'])
    def test_arguments_are_an_object(self, arguments):
        """
        Where they are sent as one.
        """
        calls = [ToolCall("c1", "now", arguments)]
        turns = [user("a"), assistant(calls=calls), result("c1")]

        assert [("bad arguments", 2)] == rules(turns, "anthropic")
        assert [] == rules(turns, "openai_chat")

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_roles(self, provider):
        """
        An invented role is named.
        """
        assert ("unknown role", 1) in rules([Message("critic", "Too long.")], provider)

    def test_an_empty_message(self):
        """
        No parts at all.
        """
        assert [("empty message", 1)] == rules([user([])], "bedrock")

    def test_what_an_api_cannot_carry_is_not_judged(self):
        """
        Another provider's reasoning is left out, so a message of it alone is not there.
        """
        turns = [user("hi"), assistant(Reasoning("hm", signature="c2ln")), user("Well?")]

        assert [("alternation", 3)] == rules(turns, "bedrock")


class TestReasoning:
    def test_a_reasoning_item_needs_what_followed_it(self):
        """
        At the end of the input it is refused.
        """
        items = [
            {"role": "user", "content": "hi"},
            {"type": "reasoning", "id": "rs_1", "summary": []},
        ]

        assert [("reasoning apart", 2)] == rules(openai_responses.load(items), "openai_responses")

    def test_an_item_needs_the_reasoning_it_followed(self):
        """
        Its id is refused without; also for the second call of a batch.
        """
        calls = [
            {"type": "function_call", "id": f"fc_{n}", "call_id": f"c{n}", "name": "f"}
            | {"arguments": "{}"}
            for n in (1, 2)
        ]
        outputs = [
            {"type": "function_call_output", "call_id": f"c{n}", "output": "9"} for n in (1, 2)
        ]
        thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
        messages = openai_responses.load(
            [{"role": "user", "content": "hi"}, thought, *calls, *outputs]
        )
        batch = messages[1]
        first, *rest = batch.parts
        parted = Message("assistant", tuple(rest))
        turns = [messages[0], parted, *messages[2:]]

        assert [] == rules(messages, "openai_responses")
        assert isinstance(first, Reasoning)
        assert [("reasoning apart", 2), ("reasoning apart", 2)] == rules(turns, "openai_responses")

    def test_a_running_loop_starts_with_its_thinking(self):
        """
        A finished one need not.
        """
        thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
        use = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
        answer = {"type": "tool_result", "tool_use_id": "c1", "content": "9"}
        asked = {"role": "user", "content": "hi"}
        loop = [
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [answer]},
            {"role": "assistant", "content": [thought, {"type": "text", "text": "nine"}]},
        ]

        assert [("last message", 0), ("thinking missing", 0)] == rules(
            anthropic.load([asked, *loop]), "anthropic"
        )
        assert [] == rules(anthropic.load([asked, *loop, asked]), "anthropic")

    def test_a_compaction_block_is_no_thinking(self):
        """
        What only the provider understands is left where it stands.
        """
        block = {"type": "compaction", "content": "They said hello."}
        turns = [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [block, {"type": "text", "text": "Hello."}]},
            {"role": "user", "content": "bye"},
        ]

        assert [] == rules(anthropic.load(turns), "anthropic")


@needs_shared
class TestRealBodies:
    """
    Requests that the providers took: what is named in them is known and few.
    """

    @pytest.mark.parametrize("api", sorted(FORMATS))
    def test_what_a_provider_took_is_not_refused(self, api):
        """
        But for a few that newer models take: older ones refused them, and mending costs nothing.
        """
        module = FORMATS[api]
        provider = module.__name__.rpartition(".")[2]
        named = {}
        lines = (SHARED / "data" / "api_shapes.jsonl").read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            body = json.loads(line)
            if body["api"] != api:
                continue
            messages = module.load(body["messages"], system=body["system"])
            for found in problems(messages, provider):
                named.setdefault(found.rule, []).append((number, found.text))

        assert TAKEN.get(api, set()) == set(named)


class TestSizes:
    def test_reads_a_long_conversation_once(self):
        """
        Ten thousand turns are judged in one go, without recursion or search.
        """
        turn = [user("a"), call("c1"), result("c1"), assistant("b")]

        assert () == problems([*turn * 2_500, user("end")], "openai_chat")

    def test_media_are_judged_by_what_the_api_takes(self):
        """
        A picture by file id is left out of a chat, and a message of it alone is not there.
        """
        turns = [user(Image(file="f1")), user(Document(text="words")), user(Opaque("acme", {}))]

        assert [] == rules(turns, "openai_chat")
        assert len(view_of(turns)) == 3


HUGE = "a b\n" * 50_000
LONG = [
    [user("hi"), call(HUGE), result(HUGE)],
    [user("hi"), assistant(calls=[ToolCall("c1", HUGE)]), result("c1")],
    [user("hi"), assistant(calls=[ToolCall(HUGE, HUGE, "[]")]), user("Well?")],
    [user("hi"), call(HUGE, HUGE), result(HUGE), result(HUGE)],
    [user("hi"), result(HUGE)],
    [user("hi"), call("c1"), Message("tool", (ToolResult("c1", "x"),), name=HUGE)],
    [Message(HUGE, "hi"), Message("user", "hi", name=HUGE)],
    [Message("user", (Image("aGk=", media_type=HUGE), Image(HUGE), Image(url=HUGE)))],
    [Message("user", (Document("aGk=", media_type=HUGE, name=HUGE), Document(file=HUGE)))],
    [Message("user", (Opaque(HUGE, {"type": HUGE}), Text("hi")))],
]


class TestLongNames:
    @pytest.mark.parametrize("provider", PROVIDERS)
    @pytest.mark.parametrize("messages", LONG)
    def test_are_shown_in_few_words(self, messages: list[Message], provider: str):
        """
        What is refused, mended or left out says so on a line, however long an id or a name is.
        """
        mended = mend(messages, provider)
        told = [*mended.report, *problems(messages, provider), *problems(mended, provider)]

        assert all(len(line.text) < 250 and "\n" not in line.text for line in told)

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_can_be_printed(self, provider: str):
        """
        Half a character, in an id or in what an API takes, is escaped: no text fails to encode.
        """
        half = "\ud800"
        messages = [
            *(user("hi"), call(half), call("c1", half), result("c1"), result(half), result("")),
            *(Message(half, "hi"), Message("user", "hi", name=half), user(Image(url=half))),
            user(Opaque(half, {})),
        ]
        mended = mend(messages, provider)
        told = [*mended.report, *problems(messages, provider), *problems(mended, provider)]

        assert "".join(line.text for line in told).encode()
        assert "the id is missing, or empty" in [line.text for line in told]
