"""
Taking out what a model thought.
"""

import json

import pytest
from attrs import evolve

from unabridged import (
    DropReasoning,
    Memory,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    Window,
    assistant,
    run,
    tokens,
    user,
)
from unabridged.declared import from_data, to_data
from unabridged.errors import ConfigError
from unabridged.formats import anthropic, bedrock, gemini, openai_chat, openai_responses
from unabridged.formats.openai_chat import dump, load
from unabridged.messages import Message
from unabridged.records import Drop, Fold
from unabridged.results import TrimResult, unchanged
from unabridged.spans import Span
from unabridged.testing import call, check_strategy, result, talk, texts, view_of
from unabridged.transcripts import line

REASON = "reasoning before the newest user message"


def thought(text="a"):
    """
    An answer with what was thought before it.
    """
    return assistant([Reasoning("hm", signature="c2ln"), Text(text)])


def bare():
    """
    A reasoning message without anything else.
    """
    return assistant(Reasoning("let me see"))


def thinking(seen):
    """
    The entries whose message holds reasoning.
    """
    return [item.first for item in seen.view if item.message.reasoning]


class TestDropReasoning:
    def test_has_nothing_to_do_where_nobody_thought(self):
        """
        Or where all of it is to be kept, or nothing is there.
        """
        for strategy, messages in (
            (DropReasoning(), []),
            (DropReasoning(), talk(3)),
            (DropReasoning(1), [user("q"), thought(), user("bye")]),
            (DropReasoning(9), [user("q"), thought(), thought(), user("bye")]),
        ):
            view = view_of(messages)

            assert unchanged(view) == run(strategy, view)

    def test_takes_it_out_of_the_message(self):
        """
        All else stays as it is: words, calls, what only a provider understands.
        """
        odd = Opaque("anthropic", {"type": "server_tool_use"})
        message = assistant(
            [Reasoning("hm"), "Look:", Reasoning("so"), odd],
            calls=[ToolCall("c1", "look")],
            id="m1",
        )
        view = view_of([user("q"), message, result("c1"), user("bye")])
        left = assistant(["Look:", odd], calls=[ToolCall("c1", "look")], id="m1")

        assert TrimResult(
            view,
            (
                Fold(
                    Span.one(2), left, reason=REASON, step="DropReasoning(replace=True)",
                    replace=True,
                ),
            ),
        ) == run(DropReasoning(replace=True), view)  # fmt: skip

    def test_drops_a_message_of_reasoning_alone(self):
        """
        What it led to stays, word for word, also where that is a call.
        """
        view = view_of(
            [user("q"), bare(), call("c1"), result("c1"), bare(), assistant("a"), user("bye")]
        )
        done = run(DropReasoning(), view)

        assert (Drop(Span.of([2, 5]), reason=REASON, step="DropReasoning()"),) == done.changes
        assert ["q", "", "found", "a", "bye"] == texts(done)
        assert [1, 2, 1, 1] == [len(block) for block in done.view.blocks]

    def test_keeps_the_newest(self):
        """
        The edge: as many thoughts as there are, and one less; a run that led to one answer is one.
        """
        messages = [user("q"), thought(), bare(), bare(), thought(), *talk(1), thought(), user("z")]
        view = view_of(messages)

        assert [2, 3, 4, 5, 8] == thinking(run(DropReasoning(3), view))
        assert [3, 4, 5, 8] == thinking(run(DropReasoning(2), view))
        assert [8] == thinking(run(DropReasoning(1), view))
        assert [] == thinking(run(DropReasoning(), view))
        assert (
            "reasoning before the last 2 thoughts" == run(DropReasoning(2), view).changes[0].reason
        )

    def test_leaves_the_running_tool_loop(self):
        """
        What came after the newest user message counts as kept, and is never touched.
        """
        loop = [assistant([Reasoning("hm")], calls=[ToolCall("c1", "look")]), result("c1")]
        view = view_of([user("q1"), thought(), thought(), user("q2"), *loop, thought()])

        assert [5, 7] == thinking(run(DropReasoning(), view))
        assert [5, 7] == thinking(run(DropReasoning(2), view))
        assert [3, 5, 7] == thinking(run(DropReasoning(3), view))

    def test_leaves_a_loop_into_which_the_user_spoke(self):
        """
        The newest user message stands inside of it: the call before it still thinks.
        """
        loop = [assistant([Reasoning("hm")], calls=[ToolCall("c1", "look")])]
        view = view_of([user("q"), thought(), *loop, user("wait"), result("c1"), assistant("a")])

        assert [3] == thinking(run(DropReasoning(), view))

    def test_leaves_what_waits_and_what_is_pinned(self):
        """
        Their blocks stay as they are.
        """
        waits = [user("q"), bare(), call("c1"), user("hurry")]
        pinned = [user("q"), bare(), assistant("a"), thought(), user("bye")]

        assert unchanged(view_of(waits)) == run(DropReasoning(), view_of(waits))
        assert [2] == thinking(run(DropReasoning(), view_of(pinned, pinned=[3])))

    def test_leaves_a_log_without_user(self):
        """
        All of it may be one loop that runs.
        """
        view = view_of([thought(), bare(), assistant("a")])

        assert unchanged(view) == run(DropReasoning(), view)

    def test_leaves_what_no_assistant_thought(self):
        """
        Notes of other roles are theirs.
        """
        view = view_of([Message("critic", Reasoning("hm")), *talk(1), user("bye")])

        assert unchanged(view) == run(DropReasoning(), view)

    def test_leaves_what_a_cut_left_of_no_thought(self):
        """
        After a cut there is less to look at, and the same to keep.
        """
        messages = [user("q"), thought("a0"), user("q1"), thought("a1"), user("q2")]

        assert ["q1", "a1", "q2"] == texts(run(Window(3) | DropReasoning(), view_of(messages)))
        assert [] == thinking(run(Window(3) | DropReasoning(), view_of(messages)))


class TestIds:
    def test_are_not_sent_without_the_reasoning_before(self):
        """
        A provider that got the id would ask for it; the message keeps it, and other hints.
        """
        turns = [
            {"role": "user", "content": "q", "id": "msg_0"},
            {"role": "assistant", "type": "reasoning", "id": "rs_1", "content": None},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "a"}],
                "id": "msg_1",
                "metadata": {"k": 1},
            },
            {"role": "assistant", "content": "b", "reasoning_content": "hm", "id": "msg_2"},
            {"role": "assistant", "content": "c", "id": "msg_3"},
            {"role": "user", "content": "bye"},
        ]
        done = run(DropReasoning(), view_of(load(turns)))

        assert [
            turns[0],
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "a"}],
                "metadata": {"k": 1},
            },
            {"role": "assistant", "content": "b"},
            *turns[4:],
        ] == dump(done.messages)
        assert ["msg_0", "msg_1", "msg_2", "msg_3", None] == [each.id for each in done.messages]

    def test_of_what_another_format_keeps_stay(self):
        """
        Only the hint that the id was sent goes.
        """
        extra = {"a": {"sent": ["id"], "content": "list"}, "b": {"sent": ["id"]}, "c": {"d": 1}}
        message = Message("assistant", [Reasoning("hm"), Text("a")], id="m1", extra=extra)
        done = run(DropReasoning(), view_of([message, user("bye")]))

        assert {"a": {"content": "list"}, "c": {"d": 1}} == done.messages[0].extra.value


class TestInALog:
    def test_is_written_and_reverted(self):
        """
        The log's view is what was projected; what comes then is cut whole.
        """
        memory = Memory(strategy=DropReasoning(replace=True))
        memory.append(user("q"), bare(), call("c1"), result("c1"), thought(), user("bye"))
        before = memory.view().messages
        done = memory.context()

        assert done.messages == memory.view().messages
        assert ["q", "", "found", "a", "bye"] == texts(memory.view())
        memory.append(assistant("Bye."))
        assert ["", "found", "a", "bye", "Bye."] == texts(
            memory.context(Window(5, opening="anywhere"))
        )
        memory.revert(done.rec)
        assert before == memory.view().messages[:-1]


TEXT = {"type": "reasoning.text", "text": "2 + 2", "signature": "c2ln", "index": 0, "id": None}
SUMMARY = {"type": "reasoning.summary", "summary": "A sum.", "format": "unknown"}
ENCRYPTED = {"type": "reasoning.encrypted", "data": "aGk="}
CHUNK = {"type": "text", "text": "2 + 2"}
REFERENCE = {"type": "reference", "reference_ids": [1]}
ANSWER = {"type": "text", "text": "4"}


def chat(**keys):
    """
    An answer of a chat server.
    """
    return [{"role": "assistant", "content": "4", **keys}]


def blocks(*content, role="assistant", key="content"):
    """
    An answer in parts.
    """
    return [{"role": role, key: list(content)}]


THOUGHTS = [
    (openai_chat, chat(reasoning_content="2 + 2"), "2 + 2"),
    (openai_chat, chat(reasoning="2 + 2"), "2 + 2"),
    (openai_chat, chat(reasoning_details=[TEXT]), "2 + 2"),
    (openai_chat, chat(reasoning_details=[SUMMARY, TEXT]), "A sum.2 + 2"),
    (openai_chat, chat(reasoning_details=[ENCRYPTED]), ""),
    (openai_chat, chat(reasoning_details=[SUMMARY, ENCRYPTED], reasoning="A sum."), "A sum."),
    (openai_chat, chat(reasoning_details=[TEXT], reasoning="2 + 2"), "2 + 2"),
    (openai_chat, chat(reasoning_details=[{"text": "2 + 2"}, {"text": None}]), "2 + 2"),
    (openai_chat, chat(reasoning_details=[{"text": 5}]), ""),
    (openai_chat, chat(reasoning_details=["2 + 2"]), ""),
    (openai_chat, chat(reasoning_details="2 + 2"), ""),
    (openai_chat, chat(thinking_blocks=[{"type": "thinking", "thinking": "2 + 2"}]), ""),
    (openai_chat, blocks({"type": "thinking", "thinking": "2 + 2"}, ANSWER), "2 + 2"),
    (openai_chat, blocks({"type": "thinking", "thinking": [CHUNK]}, ANSWER), "2 + 2"),
    (
        openai_chat,
        blocks({"type": "thinking", "thinking": [CHUNK, REFERENCE, CHUNK], "closed": True}, ANSWER),
        "2 + 22 + 2",
    ),
    (openai_chat, blocks({"type": "thinking", "thinking": []}, ANSWER), ""),
    (openai_chat, blocks({"type": "redacted_thinking", "data": "aGk="}, ANSWER), ""),
    (anthropic, blocks({"type": "thinking", "thinking": "2", "signature": "s"}, ANSWER), "2"),
    (anthropic, blocks({"type": "redacted_thinking", "data": "aGk="}, ANSWER), ""),
    (anthropic, blocks({"type": "thinking", "odd": 1}, ANSWER), ""),
    (
        gemini,
        blocks(
            *({"text": "2 + 2", "thought": True}, {"thought": True, "thoughtSignature": "c2ln"}),
            *({"thought": True, "inlineData": {"mimeType": "image/png", "data": "aGk="}},),
            {"text": "4", "thoughtSignature": "c2ln"},
            role="model",
            key="parts",
        ),
        "2 + 2",
    ),
    (
        bedrock,
        blocks(
            {"reasoningContent": {"reasoningText": {"text": "2 + 2", "signature": "s"}}},
            {"reasoningContent": {"redactedContent": b"hi"}},
            {"reasoningContent": {"odd": 1}},
            {"text": "4"},
        ),
        "2 + 2",
    ),
    (
        openai_responses,
        [
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "2 + 2"}],
                "encrypted_content": "aGk=",
            },
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "4", "annotations": []}],
            },
        ],
        "2 + 2",
    ),
]


class TestEveryForm:
    @pytest.mark.parametrize(("format_", "turns", "text"), THOUGHTS)
    def test_takes_it_and_leaves_the_answer(self, format_, turns, text):
        """
        It comes back as it was until then, and outside the running loop nothing of it is left.
        """
        messages = format_.load(turns)
        seen = run(DropReasoning(), view_of([user("q"), *messages, user("bye")])).messages
        left = str(format_.dump(seen))

        assert turns == format_.dump(messages)
        assert text == "".join(part.text for said in messages for part in said.reasoning)
        assert "4" == seen[1].text
        assert 3 == len(seen)
        for word in ("easoning", "hinking", "thought'", "2 + 2", "A sum", "aGk="):
            assert word not in left

    @pytest.mark.parametrize(("format_", "turns", "text"), THOUGHTS)
    def test_leaves_it_in_the_running_loop(self, format_, turns, text):
        """
        Nobody has spoken since.
        """
        view = view_of([user("q"), *format_.load(turns)])

        assert unchanged(view) == run(DropReasoning(), view)

    def test_what_can_be_read_is_counted_and_told_once(self):
        """
        Also where a server says it under two keys.
        """
        (twice,) = openai_chat.load(chat(reasoning_details=[TEXT], reasoning="2 + 2"))
        (plain,) = openai_chat.load(chat(reasoning="2 + 2"))
        [item] = view_of([twice])

        assert tokens.exact()(plain) == tokens.exact()(twice) > tokens.exact()(assistant("4"))
        assert "2 + 2" == json.loads(line(item))["reasoning"]

    def test_what_has_another_text_by_now_is_written_with_it(self):
        """
        Nothing of the old one comes back out of the list.
        """
        for turns in (
            chat(reasoning_details=[SUMMARY, TEXT]),
            blocks({"type": "thinking", "thinking": [CHUNK, CHUNK]}, ANSWER),
        ):
            (message,) = openai_chat.load(turns)
            parts = [
                evolve(part, text="[removed]") if isinstance(part, Reasoning) else part
                for part in message.parts
            ]
            made = str(openai_chat.dump([evolve(message, parts=parts)]))

            assert "[removed]" in made
            assert "2 + 2" not in made
            assert "A sum" not in made


class TestAsAValue:
    @pytest.mark.parametrize(
        ("strategy", "shown", "data"),
        [
            (DropReasoning(), "DropReasoning()", {"use": "DropReasoning"}),
            (DropReasoning(2), "DropReasoning(2)", {"use": "DropReasoning", "keep_last": 2}),
            (
                DropReasoning(keep_last=1_000, replace=True),
                "DropReasoning(1_000, replace=True)",
                {"use": "DropReasoning", "keep_last": 1000, "replace": True},
            ),
        ],
        ids=["plain", "some", "all"],
    )
    def test_shows_itself_and_goes_to_data(self, strategy, shown, data):
        """
        A repr evaluates back, data is read back.
        """
        assert (shown, data) == (repr(strategy), to_data(strategy))
        assert strategy == eval(shown, {"DropReasoning": DropReasoning})  # noqa: S307  our own
        assert strategy == from_data(data)
        assert hash(strategy) == hash(from_data(data))

    @pytest.mark.parametrize("keep_last", [-1, 1.5, True, None, "4"])
    def test_refuses_a_number_that_is_none(self, keep_last):
        """
        It is an int of 0 or more.
        """
        with pytest.raises(ConfigError) as caught:
            DropReasoning(keep_last)

        assert str(caught.value) == (
            f"DropReasoning: `keep_last` must be an int of 0 or more, got {keep_last!r}"
        )

    @pytest.mark.parametrize("strategy", [DropReasoning(), DropReasoning(1)], ids=repr)
    def test_keeps_the_laws(self, strategy):
        """
        Every law, on generated logs.
        """
        check_strategy(strategy, examples=30)
