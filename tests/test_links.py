"""
Links: what ties an entry to earlier ones, also held against a plain quadratic reading of the rules.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged import assistant, system, user
from unabridged.links import (
    Links,
    OpenCall,
    calls_of,
    has_words,
    is_bare_result,
    joined,
)
from unabridged.messages import Image, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from unabridged.testing import call, result, view_of

shapes = st.sampled_from(
    [
        user("words"),
        user(["two", "parts"]),
        user([]),
        user([ToolResult("a", "found"), "and words"]),
        user([ToolResult("b", "found")]),
        assistant("answer"),
        assistant(Reasoning("hm")),
        assistant(["so", Reasoning("hm")]),
        system("rule"),
        assistant([Opaque("anthropic", {"type": "web_search_tool_result"}), "so"]),
        assistant([Reasoning("hm", signature="c2ln"), ToolCall("a", "look")]),
        assistant([Reasoning(encrypted="c2ln"), ToolCall("b", "look")]),
        call("a"),
        call("b"),
        call("a", "b"),
        call("a", "a"),
        Message("model", ToolCall("a", "look")),
        Message("tool", ToolCall("b", "look")),
        result("a"),
        result("b"),
        Message("tool", [ToolResult("a"), ToolResult("b")]),
        Message("tool", [ToolResult("a"), ToolResult("a")]),
        assistant([ToolResult("a"), ToolCall("b", "look")]),
    ]
)
logs = st.lists(shapes, max_size=14)


def read(messages):
    """
    The links after these messages, and the marks of each.
    """
    links, marks = Links(), []
    for seq, message in enumerate(messages, start=1):
        links, mark, _ = joined(links, seq, message)
        marks.append(tuple(mark))

    return links, marks


def ties(messages):
    """
    The pairs of entries that a link joins, found by looking back through the whole log.
    """
    open_calls = {n: [c.id for c in calls_of(m)] for n, m in enumerate(messages, start=1)}
    found = set()
    for seq, message in enumerate(messages, start=1):
        for answer in message.tool_results:
            earlier = range(seq - 1, 0, -1)
            there = (
                n for n in earlier if answer.call_id in {c.id for c in calls_of(messages[n - 1])}
            )
            newest = next(there, 0)
            if newest and answer.call_id in open_calls[newest]:
                open_calls[newest].remove(answer.call_id)
                found.add((newest, seq))
        before = messages[seq - 2] if seq > 1 else user("none")
        first = message.parts[0] if message.parts else None
        if speaks(message) and speaks(before):
            last = before.parts[-1] if before.parts else None
            if isinstance(last, Reasoning) or isinstance(first, Opaque):
                found.add((seq - 1, seq))
        if calls_of(message) and not isinstance(first, Reasoning):
            thinker = loop_thinker(messages[: seq - 1])
            if thinker:
                found.add((thinker, seq))
    pending = {seq for seq, ids in open_calls.items() if ids}

    return found, pending


def loop_thinker(messages):
    """
    The newest entry of an assistant in the running tool loop that starts with signed thinking.
    """
    for seq in range(len(messages), 0, -1):
        message = messages[seq - 1]
        first = message.parts[0] if message.parts else None
        signed = isinstance(first, Reasoning) and (first.signature or first.encrypted)
        if speaks(message) and signed:
            return seq
        if has_words(message):
            return 0

    return 0


def speaks(message):
    return message.role == "assistant" or bool(calls_of(message))


def blocks(messages):
    """
    The runs of entries between gaps that no link crosses.
    """
    found, _ = ties(messages)
    runs = []
    for seq in range(1, len(messages) + 1):
        if runs and any(first < seq <= last for first, last in found):
            runs[-1].append(seq)
        else:
            runs.append([seq])

    return runs


def openers(messages):
    """
    The entry that opened the round of each block.
    """
    opener, found = 0, {}
    for run in blocks(messages):
        if has_words(messages[run[0] - 1]):
            opener = run[0]
        found.update(dict.fromkeys(run, opener))

    return found


class TestJoined:
    def test_a_result_joins_its_call(self):
        """
        It gets the head and the opener of the call's block.
        """
        _, marks = read([user("q"), call("c1"), result("c1"), assistant("a")])

        assert [(1, 1, 1), (2, 1, 1), (2, 1, 1), (4, 1, 1)] == marks

    def test_a_reused_id_means_the_newest_call(self):
        """
        The older call with that id is no longer open, even if it never was answered.
        """
        links, marks = read([call("c1"), call("c1"), result("c1"), result("c1")])

        assert [(1, 0, 0), (2, 0, 0), (2, 0, 0), (4, 0, 0)] == marks
        assert () == links.calls

    def test_a_doubled_result_is_an_orphan(self):
        """
        The second answer to one call ties to nothing.
        """
        _, marks = read([call("c1"), result("c1"), result("c1")])

        assert [(1, 0, 0), (1, 0, 0), (3, 0, 0)] == marks

    def test_one_id_twice_in_a_message_is_two_calls(self):
        """
        So two results find one each.
        """
        links, marks = read([call("c1", "c1"), result("c1"), result("c1")])

        assert [(1, 0, 0)] * 3 == marks
        assert () == links.calls

    def test_parallel_results_may_come_in_any_order(self):
        """
        Both belong to the message that called.
        """
        _, marks = read([call("c1", "c2"), result("c2"), result("c1")])

        assert [(1, 0, 0)] * 3 == marks

    def test_a_user_who_speaks_between_opens_no_round(self):
        """
        The result takes the user's message into the block; what follows belongs to the old round.
        """
        links, marks = read([user("q"), call("c1"), user("wait"), result("c1"), assistant("a")])

        assert [(1, 1, 1), (2, 1, 1), (3, 3, 3), (2, 1, 3), (5, 1, 3)] == marks
        assert (2, 4) == links.asked_block

    def test_reasoning_joins_the_answer_after_it(self):
        """
        A provider refuses one without the other.
        """
        _, marks = read([user("q"), assistant(Reasoning("hm")), assistant("a")])

        assert [(1, 1, 1), (2, 1, 1), (2, 1, 1)] == marks

    def test_reasoning_before_a_user_joins_nothing(self):
        """
        Only what an assistant says next belongs to it.
        """
        _, marks = read([assistant(Reasoning("hm")), user("q"), assistant("a")])

        assert [(1, 0, 0), (2, 2, 2), (3, 2, 2)] == marks

    def test_signed_thinking_binds_a_tool_loop(self):
        """
        The steps after it that do not think by themselves stay with it, until a user speaks.
        """
        thinks = assistant([Reasoning("hm", signature="c2ln"), ToolCall("c1", "look")])
        loop = [user("q"), thinks, result("c1"), call("c2"), result("c2"), assistant("a")]
        _, marks = read([*loop, user("next"), call("c3")])

        assert [1, 2, 2, 2, 2, 6, 7, 8] == [head for head, _, _ in marks]

    def test_a_step_that_thinks_by_itself_is_free(self):
        """
        So a loop of interleaved thinking can be cut between its steps.
        """
        thoughts = [Reasoning("hm", signature="c2ln"), Reasoning(encrypted="YWJj")]
        steps = [
            (assistant([thought, ToolCall(f"c{n}", "look")]), result(f"c{n}"))
            for n, thought in enumerate(thoughts)
        ]
        _, marks = read([user("q"), *steps[0], *steps[1]])

        assert [1, 2, 2, 4, 4] == [head for head, _, _ in marks]

    def test_a_reasoning_item_of_its_own_binds_no_loop(self):
        """
        The Responses API ties it to the item after it alone.
        """
        item = Reasoning(encrypted="YWJj", extra={"openai_responses": {"as": "item"}})
        thinks = assistant([item, ToolCall("c1", "look")])
        _, marks = read([user("q"), thinks, result("c1"), call("c2"), result("c2")])

        assert [1, 2, 2, 4, 4] == [head for head, _, _ in marks]

    def test_a_paused_turn_goes_on_in_the_next_message(self):
        """
        The result of a server's tool may not stand without the message that used it.
        """
        used = assistant(["I search.", Opaque("anthropic", {"type": "server_tool_use"})])
        found = assistant([Opaque("anthropic", {"type": "web_search_tool_result"}), "Here."])
        _, marks = read([user("q"), used, found, assistant("more")])

        assert [1, 2, 2, 4] == [head for head, _, _ in marks]

    def test_a_late_result_joins_all_between(self):
        """
        A call inside the longer block gets its head too.
        """
        links, _ = read([call("c1"), call("c2"), result("c1")])

        assert (OpenCall("c2", 2, 1, 1, 0),) == links.calls

    def test_says_whose_calls_an_entry_answers(self):
        """
        The third value is the entries that called.
        """
        links, _ = read([call("c1"), call("c2")])
        _, _, answered = joined(links, 3, Message("tool", [ToolResult("c1"), ToolResult("c2")]))

        assert [1, 2] == list(answered)

    @given(logs)
    def test_marks_are_those_of_the_whole_log(self, messages):
        """
        Reading entry by entry finds what looking back through everything finds.
        """
        _, marks = read(messages)
        for seq in range(1, len(messages) + 1):
            so_far = messages[:seq]
            (here,) = (run for run in blocks(so_far) if seq in run)
            asked = max((n for n in range(1, seq + 1) if has_words(messages[n - 1])), default=0)

            assert (here[0], openers(so_far)[seq], asked) == marks[seq - 1]

    @given(logs.filter(bool))
    def test_links_hold_the_newest_blocks_and_the_open_calls(self, messages):
        """
        The blocks of the newest words and of the newest assistant, and what is pending.
        """
        links, _ = read(messages)
        everyone = range(1, len(messages) + 1)
        asked = max((n for n in everyone if has_words(messages[n - 1])), default=0)
        spoke = max((n for n in everyone if speaks(messages[n - 1])), default=0)
        ends = {seq: (run[0], run[-1]) for run in blocks(messages) for seq in run}
        _, waiting = ties(messages)

        assert (asked, ends.get(asked, (0, 0))) == (links.asked, links.asked_block)
        assert (spoke, ends.get(spoke, (0, 0))) == (links.spoke, links.spoke_block)
        assert (spoke if spoke in waiting else 0) == links.pending

    @given(logs)
    def test_a_view_has_these_blocks_and_rounds(self, messages):
        """
        Blocks neither overlap nor nest; a round opens where its first block does.
        """
        view = view_of(messages)
        rounds = []
        for run in blocks(messages):
            if not rounds or has_words(messages[run[0] - 1]):
                rounds.append([])
            rounds[-1].append(run)

        assert blocks(messages) == [[item.first for item in block] for block in view.blocks]
        assert rounds == [
            [[item.first for item in block] for block in round_] for round_ in view.rounds
        ]


class TestPending:
    def test_is_the_newest_call_until_it_is_answered(self):
        """
        One answer of two is not enough.
        """
        links, _ = read([user("q"), call("c1", "c2"), result("c1")])
        done, _ = read([user("q"), call("c1", "c2"), result("c1"), result("c2")])

        assert (2, 0) == (links.pending, done.pending)

    def test_is_none_once_an_assistant_follows(self):
        """
        A call that nobody waits for is dangling, and holds up nothing.
        """
        links, _ = read([user("q"), call("c1"), assistant("never mind")])

        assert 0 == links.pending
        assert "c1" == links.calls[0].id

    def test_waits_while_the_user_speaks(self):
        """
        Only an assistant's message ends the wait.
        """
        links, _ = read([user("q"), call("c1"), user("hurry")])

        assert 2 == links.pending


class TestKinds:
    @pytest.mark.parametrize(
        ("message", "expected"),
        [
            (user("hi"), True),
            (user([]), True),
            (user(Image(url="u")), True),
            (user([ToolResult("c1"), "hi"]), True),
            (user(ToolResult("c1")), False),
            (assistant("hi"), False),
        ],
    )
    def test_words_are_a_users_that_are_more_than_results(self, message, expected):
        """
        A picture is words here, an empty message too; a result alone is none.
        """
        assert expected == has_words(message)

    @pytest.mark.parametrize(
        ("message", "expected"),
        [
            (result("c1"), True),
            (user(ToolResult("c1")), True),
            (user([ToolResult("c1"), Text("hi")]), False),
            (user([]), False),
        ],
    )
    def test_a_bare_result_holds_nothing_else(self, message, expected):
        """
        Whatever role carries it.
        """
        assert expected == is_bare_result(message)

    def test_calls_are_an_assistants_whatever_it_is_called(self):
        """
        A call in a user's, system's or tool's message is none.
        """
        part = ToolCall("c1", "look")

        assert (part,) == calls_of(Message("model", part))
        assert [()] * 4 == [
            calls_of(Message(role, part)) for role in ("user", "system", "developer", "tool")
        ]
