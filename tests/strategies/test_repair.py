"""
Mending what form cannot mend.
"""

import pytest
from attrs import evolve

from unabridged import (
    ClearToolResults,
    ClipToolResults,
    HeadAndTail,
    Image,
    Memory,
    Repair,
    Sparing,
    Text,
    ToolCall,
    ToolResult,
    Window,
    assistant,
    formats,
    run,
    system,
    tool,
    user,
)
from unabridged.declared import from_data, to_data
from unabridged.formats.providers import PROVIDERS
from unabridged.messages import Message, Reasoning
from unabridged.records import Compacted, Drop, Fold, Insert
from unabridged.results import TrimResult, unchanged
from unabridged.spans import Span
from unabridged.testing import call, check_strategy, result, talk, texts, view_of

MADE_UP = "No result: the call was never answered."
WAITING = "No result yet: the call still waits for it."
ORPHAN = "answers no call that is open"
WORDS = "its results answer no call that is open; the words stay"


def made_up(call_id):
    """
    What stands for a result that never came.
    """
    return tool(MADE_UP, call_id=call_id, is_error=True, metadata={"made_up": True})


def seen(strategy, messages, **options):
    """
    The words that are left of these messages.
    """
    return texts(run(strategy, view_of(messages, **options)))


class TestCalls:
    def test_has_nothing_to_do_where_all_is_answered(self):
        """
        Results out of order, reused ids and a user in between are fine as they are.
        """
        for messages in (
            [],
            talk(2),
            [user("q"), call("c1", "c2"), result("c2"), user("wait"), result("c1"), *talk(1)],
            [call("c1"), result("c1"), call("c1"), result("c1"), assistant("a")],
        ):
            view = view_of(messages)

            assert unchanged(view) == run(Repair(), view)

    def test_closes_a_call_that_was_never_answered(self):
        """
        With a result that says what it is, put in after the call and never written.
        """
        view = view_of([user("q"), call("c1"), *talk(1)])
        done = run(Repair(replace=True), view)
        reason = "call c1 (look) was never answered"

        assert (
            Insert(made_up("c1"), 2, reason=reason, step="Repair(replace=True)"),
        ) == done.changes
        assert (*view.messages[:2], made_up("c1"), *view.messages[2:]) == done.messages
        assert done.record(replace=True) is None
        assert f"put in after entry 2: tool: {MADE_UP}: {reason}" in done.explain()

    def test_closes_each_of_several_with_its_own(self):
        """
        After the block that holds them, in the order of the calls.
        """
        messages = [user("q"), call("c1", "c2", "c3"), result("c2"), *talk(1)]
        done = run(Repair(), view_of(messages))

        assert ["c2", "c1", "c3"] == [
            each.call_id for message in done.messages for each in message.tool_results
        ]
        assert ["q", "", "found", MADE_UP, MADE_UP, "q1", "a1"] == texts(done)

    def test_knows_what_a_reused_id_belongs_to(self):
        """
        The older call dangles, the newer is answered, in one block or two.
        """
        apart = [call("c1"), call("c1"), result("c1"), assistant("a")]
        together = [call("c1", "c2"), call("c1"), result("c2"), result("c1"), assistant("a")]

        assert ["", MADE_UP, "", "found", "a"] == seen(Repair(), apart)
        assert ["", "", "found", "found", MADE_UP, "a"] == seen(Repair(), together)

    def test_leaves_a_call_that_was_just_made(self):
        """
        Nobody has spoken since: its result is on the way.
        """
        for messages in ([user("q"), call("c1")], [user("q"), call("c1", "c2"), result("c1")]):
            view = view_of(messages)

            assert unchanged(view) == run(Repair(), view)

    def test_tells_a_call_that_waits_to_wait_once_a_user_has_spoken(self):
        """
        No error, since it may be answered yet; then its own result takes over.
        """
        waits = [user("q"), call("c1", "c2"), result("c1"), user("hurry")]
        done = run(Repair(), view_of(waits))

        assert ["q", "", "found", WAITING, "hurry"] == texts(done)
        assert not done.messages[3].tool_results[0].is_error
        assert "call c2 (look) waits for its result" in done.explain()
        assert [] == [m for m in seen(Repair(), [*waits, result("c2")]) if m == WAITING]

    def test_makes_nothing_up_twice(self):
        """
        A second run finds the results of the first, of reused ids too.
        """
        messages = [call("c1", "c2"), call("c1"), result("c2"), result("c1"), assistant("a")]
        done = run(Repair(), view_of(messages))

        assert unchanged(done.view) == run(Repair(), done.view)

    @pytest.mark.parametrize("given", [[], [result("c1")], [user("hurry")]])
    @pytest.mark.parametrize("provider", sorted(PROVIDERS))
    def test_closes_calls_of_one_id_that_thinking_ties(self, provider, given):
        """
        What was made up stands behind both; each goes to a call of its own when it is sent.
        """
        thinks = assistant([Reasoning("hm", signature="c2ln")], calls=[ToolCall("c1", "look")])
        view = view_of([user("q"), thinks, call("c1"), *given, user("go on")])
        mended = formats.mend(run(Repair(), view).view, provider)

        assert () == formats.problems(mended, provider)
        assert 2 == sum(len(message.tool_results) for message in mended.messages)

    def test_sees_what_a_cut_left(self):
        """
        Only what is in the view has to be whole; the made-up result leaves with its call.
        """
        messages = [user("q"), call("c1"), *talk(2)]

        assert ["q2", "a2"] == seen(Window(2) | Repair(), messages)
        assert ["q2", "a2"] == seen(Repair() | Window(2), messages)


class TestResults:
    def test_drops_results_that_answer_no_call(self):
        """
        In one drop that can be written.
        """
        view = view_of(
            [user("q"), result("c9"), call("c1"), result("c1"), result("c8"), assistant("a")]
        )

        assert TrimResult(
            view,
            (
                Drop(
                    Span.of([2, 5]),
                    reason=ORPHAN,
                    step="Repair(replace=True)",
                    replace=True,
                ),
            ),
        ) == run(Repair(replace=True), view)
        assert ["q", "", "found", "a"] == seen(Repair(), view.messages)

    def test_drops_it_from_between_a_call_and_its_result(self):
        """
        It only stands there; nothing ties it to them.
        """
        messages = [user("q"), call("c1", "c2"), result("c1"), result("c9"), result("c2")]

        assert ["q", "", "found", "found"] == seen(Repair(), [*messages, *talk(0)])

    def test_keeps_the_words_of_a_user(self):
        """
        What else is in the message stays, as a message of the user.
        """
        message = user([ToolResult("c9", "lost"), "Any news?"], id="m1", metadata={"a": 1})
        view = view_of([user("q"), assistant("a"), message])
        words = user("Any news?", id="m1", metadata={"a": 1})

        assert (Fold(Span.one(3), words, reason=WORDS, step="Repair()"),) == run(
            Repair(), view
        ).changes
        assert words == run(Repair(), view).messages[-1]

    def test_leaves_a_message_that_answers_other_calls_too(self):
        """
        And says so: a rewording keeps results that are answered, all or none.
        """
        mixed = Message("tool", [ToolResult("c1", "yes"), ToolResult("c9", "lost")])
        done = run(Repair(), view_of([user("q"), call("c1"), mixed, assistant("a")]))

        assert () == done.changes
        assert [
            (
                "step Repair(): entry 3 stays as it is, and its result of c9 answers no call: "
                "it holds results of other calls too"
            )
        ] == list(done.warnings)

    def test_leaves_results_that_an_assistant_carries(self):
        """
        Only of a user's message is it known that its words stand without them.
        """
        odd = assistant([Text("Looked."), ToolResult("c9", "lost")])
        done = run(Repair(), view_of([user("q"), odd]))

        assert () == done.changes
        assert done.warnings[0].endswith("it holds more, and is no user's but of role assistant")

    def test_leaves_pins(self):
        """
        A pin covers its block; one that is reworded keeps its place all the same.
        """
        block = [call("c1", "c2"), result("c1"), result("c1"), result("c2"), assistant("a")]
        done = run(Repair(), view_of([user("q"), *block], pinned=[2]))
        words = [user([ToolResult("c9"), "hi"]), assistant("a"), user("bye")]

        assert ((), 1) == (done.changes, len(done.warnings))
        assert done.warnings[0].endswith("its block is pinned")
        assert ["hi", "a", "bye"] == seen(Repair(), words, pinned=[1])

    def test_leaves_the_last_message_that_is_not_pinned(self):
        """
        A view is never empty.
        """
        view = view_of([system("s"), result("c8"), result("c9")])
        done = run(Repair(), view)

        assert [2] == [change.sources.first for change in done.changes]
        assert done.warnings[0].endswith("nothing else would be left")
        assert () == run(Repair(), done.view).changes

    def test_leaves_what_is_spared(self):
        """
        As any step does under `Sparing`.
        """
        messages = [result("c9"), *talk(1)]

        assert ["found", "q1", "a1"] == seen(Sparing(Repair(), first=1), messages)

    def test_words_a_result_whose_call_was_taken_out(self):
        """
        The call was retracted before its results came, with words: the words stay.
        """
        memory = Memory()
        memory.append(user("q"), call("c1"))
        memory.retract(2)
        memory.append(user([ToolResult("c1", "late"), "There."]))

        assert ["q", "lateThere."] == texts(memory.view())
        assert ["q", "There."] == texts(memory.context(Repair()))


class TestDoubledResults:
    """
    A slow tool says "pending" first and what it found later: the newest result counts.
    """

    def test_the_newest_stands_in_the_place_of_the_first(self):
        """
        Nothing moves: the first is reworded, the newer leaves, and each says of the other.
        """
        messages = [user("q"), call("c1"), result("c1", "pending"), result("c1", "done")]
        made = run(Repair(), view_of([*messages, assistant("a")]))
        dropped, folded = made.changes

        assert ["q", "", "done", "a"] == texts(made)
        assert (Span.of([4]), Span.of([3])) == (dropped.sources, folded.sources)
        assert "a newer result of call c1, told in entry 3" == dropped.reason
        assert "the newer result of call c1, entry 4, stands here" == folded.reason
        told = (
            "step Repair(): call c1 has several results, entries 3 and 4; "
            "the newest, of entry 4, stands in entry 3"
        )
        assert (told,) == made.warnings

    def test_of_three_the_last_counts(self):
        """
        And those between leave too, each with why.
        """
        results = [result("c1", words) for words in ("pending", "half", "done")]
        made = run(Repair(), view_of([user("q"), call("c1"), *results, *talk(1)]))

        assert ["q", "", "done", "q1", "a1"] == texts(made)
        assert [
            (Span.of([4]), "a result of call c1 before its newest, entry 5"),
            (Span.of([5]), "a newer result of call c1, told in entry 3"),
            (Span.of([3]), "the newer result of call c1, entry 5, stands here"),
        ] == [(change.sources, change.reason) for change in made.changes]

    def test_an_error_and_a_picture_count_like_words(self):
        """
        Whether it went wrong comes with the words, and so does all else that it holds.
        """
        picture = tool([Text("see"), Image(url="https://example.org/a.png")], call_id="c1")
        for first, last in (
            (tool("no route", call_id="c1", is_error=True), result("c1", "done")),
            (result("c1", "pending"), tool("no route", call_id="c1", is_error=True)),
            (result("c1", "pending"), picture),
            (picture, result("c1", "done")),
        ):
            made = run(Repair(), view_of([user("q"), call("c1"), first, last, *talk(1)]))

            assert last.parts == made.messages[2].parts
            assert 5 == len(made.messages)

    def test_what_is_equal_or_blank_leaves_the_first_as_it_is(self):
        """
        Nothing is reworded then, and the further one still leaves, with a warning.
        """
        for further in ("done", "", " \n"):
            messages = [user("q"), call("c1"), result("c1", "done"), result("c1", further)]
            made = run(Repair(), view_of([*messages, *talk(1)]))

            assert ["q", "", "done", "q1", "a1"] == texts(made)
            assert [Span.of([4])] == [change.sources for change in made.changes]
            assert 1 == len(made.warnings)

    def test_only_the_doubled_part_leaves_a_message(self):
        """
        Results of other calls and the words of a user stay in it.
        """
        other = Message("user", [ToolResult("c1", "done"), ToolResult("c2", "two"), Text("So?")])
        messages = [user("q"), call("c1", "c2"), result("c1", "pending"), other]
        made = run(Repair(), view_of([*messages, assistant("a")]))

        assert ["q", "", "done", "twoSo?", "a"] == texts(made)
        assert other.parts[1:] == made.messages[3].parts

    def test_what_answers_nothing_beside_it_leaves_too(self):
        """
        At once, so that a second time has nothing left to do.
        """
        done, odd = ToolResult("c1", "done"), ToolResult("c9", "odd")
        asked = [user("q"), call("c1", "c2"), result("c1", "pending"), result("c2", "two")]
        for parts, words in (([done, odd], []), ([done, odd, Text("So?")], ["So?"])):
            made = run(Repair(), view_of([*asked, Message("user", parts), assistant("a")]))

            assert ["q", "", "done", "two", *words, "a"] == texts(made)
            assert unchanged(made.view) == run(Repair(), made.view)

        mixed = Message("user", [ToolResult("c2", "two"), done, odd])
        made = run(Repair(), view_of([*asked[:3], mixed, assistant("a")]))
        assert (mixed.parts[0], odd) == made.messages[3].parts
        told = "step Repair(): entry 4 keeps its result of c9, which answers no call"
        assert told in made.warnings

    def test_both_in_one_message_become_one(self):
        """
        As where a client collects what came for a turn.
        """
        both = Message("user", [ToolResult("c1", "pending"), ToolResult("c1", "done")])
        made = run(Repair(), view_of([user("q"), call("c1"), both, assistant("a")]))

        assert (ToolResult("c1", "done"),) == made.messages[2].parts
        same = ToolResult("c1", "done")
        made = run(Repair(), view_of([user("q"), call("c1"), user([same, same]), assistant("a")]))
        assert (same,) == made.messages[2].parts

    def test_a_late_one_counts_after_the_user_spoke(self):
        """
        It goes home to its call, and the words between stay where they are.
        """
        messages = [user("q"), call("c1"), result("c1", "pending"), *talk(1), result("c1", "done")]

        assert ["q", "", "done", "q1", "a1", "so"] == seen(Repair(), [*messages, assistant("so")])

    def test_results_of_a_reused_id_keep_their_own_calls(self):
        """
        Only what comes twice for one call is doubled.
        """
        once = [user("q"), call("c1"), result("c1", "one"), call("c1"), result("c1", "two")]
        parallel = [user("q"), call("c1", "c1"), result("c1", "one"), result("c1", "two")]
        for messages in ([*once, assistant("a")], [*parallel, assistant("a")]):
            assert unchanged(view_of(messages)) == run(Repair(), view_of(messages))

        twice = [*once, result("c1", "three"), assistant("a")]
        assert ["q", "", "one", "", "three", "a"] == seen(Repair(), twice)

    def test_of_parallel_calls_only_the_doubled_one_changes(self):
        """
        The result of the other stays where it stood.
        """
        results = [result("c1", "pending"), result("c2", "two"), result("c1", "done")]

        assert ["q", "", "done", "two", "a"] == seen(
            Repair(), [user("q"), call("c1", "c2"), *results, assistant("a")]
        )

    def test_a_pinned_further_one_stays_and_is_told(self):
        """
        What is pinned does not leave.
        """
        messages = [user("q"), call("c1"), result("c1", "pending"), result("c1", "done"), *talk(1)]
        made = run(Repair(), view_of(messages, pinned=[4]))

        assert ["q", "", "pending", "done", "q1", "a1"] == texts(made)
        told = (
            "step Repair(): entry 4 stays as it is, and its result of c1 answers no call: "
            "its block is pinned"
        )
        assert (told,) == made.warnings

    def test_a_pinned_call_or_first_result_stays_in_its_place(self):
        """
        With the newest words in it.
        """
        messages = [user("q"), call("c1"), result("c1", "pending"), result("c1", "done"), *talk(1)]
        for pin in (2, 3):
            made = run(Repair(), view_of(messages, pinned=[pin]))

            assert ["q", "", "done", "q1", "a1"] == texts(made)

    def test_is_written_back_once_and_counts_on(self):
        """
        After a write-back a still newer result counts in the same place.
        """
        memory = Memory(strategy=Repair(replace=True))
        memory.append(user("q"), call("c1"), result("c1", "pending"), result("c1", "done"))
        memory.append(*talk(1))
        memory.context()

        assert ["q", "", "done", "q1", "a1"] == [item.message.text for item in memory.view()]
        assert () == memory.context().changes
        memory.append(result("c1", "corrected"), *talk(1))
        assert ["q", "", "corrected", "q1", "a1", "q1", "a1"] == texts(memory.context())
        assert "done" == memory.fetch("4").text
        assert ["q", "", "corrected"] == texts(memory.context())[:3]

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_goes_to_every_provider_as_one_pair(self, provider):
        """
        With the newest words next to the call, and without a fault.
        """
        memory = Memory(strategy=Repair())
        memory.append(user("q"), call("c1"), result("c1", "pending"))
        memory.append(*talk(1), result("c1", "done"), user("and?"))
        made = formats.mend(memory.context().messages, provider)

        assert () == formats.problems(made.messages, provider)
        results = [given for message in made.messages for given in message.tool_results]
        assert ["done"] == [given.text for given in results]
        assert "pending" not in "".join(message.text for message in made.messages)

    @pytest.mark.parametrize(
        "format_",
        [
            *(formats.openai_chat, formats.openai_responses, formats.anthropic),
            *(formats.gemini, formats.bedrock),
        ],
    )
    def test_what_a_format_loads_is_one_pair_in_its_request(self, format_):
        """
        In each of the five: nothing says "pending", and the API has nothing against it.
        """
        said = [user("q"), call("c1", "c2"), result("c1", "pending"), result("c2", "two")]
        said += [result("c1", "done"), assistant("so"), user("and?")]
        memory = Memory(strategy=Repair())
        memory.append(*format_.load(format_.dump(said)))
        seen = memory.context()
        sent = str(format_.request(seen.messages))

        name = format_.__name__.rpartition(".")[2]
        assert () == formats.problems(formats.mend(seen.messages, name).messages, name)
        assert "pending" not in sent
        assert 1 == sent.count("done")
        assert 1 == sent.count("two")
        assert 1 == len(seen.warnings)

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_without_it_the_words_say_that_the_call_has_an_earlier_one(self, provider):
        """
        The call is there, so nothing says that it is gone.
        """
        messages = [user("q"), call("c1"), result("c1", "pending"), result("c1", "done"), user("?")]
        made = formats.mend(messages, provider)
        words = "\n".join(message.text for message in made.messages)

        assert "[a later result of `c1`, a call that has an earlier one above]\ndone" in words
        assert "no longer here" not in words
        assert () == formats.problems(made.messages, provider)

    def test_names_the_entry_of_its_words_when_it_is_clipped(self):
        """
        What is fetched by the handle of a marker is the newest result, not the first.
        """
        rows = "row " * 300
        memory = Memory(strategy=Repair() | ClipToolResults(24))
        memory.append(user("q"), call("c1"), result("c1", "pending"), assistant("a"), user("so?"))
        memory.append(result("c1", rows), assistant("b"), user("thanks"))
        said = memory.context().messages[2].text

        assert "the whole is entry 6" in said
        assert rows == memory.fetch("6").text

    def test_is_clipped_anew_where_the_first_was_cleared(self):
        """
        Also where that was written back.
        """
        memory = Memory(strategy=ClearToolResults(1, replace=True))
        memory.append(user("q"), call("c1"), result("c1", "pending " * 99), call("c2"))
        memory.append(result("c2", "found"), assistant("a"), user("so?"))
        memory.context()
        memory.append(result("c1", "row " * 300), assistant("b"), user("thanks"))
        done = memory.context(Repair() | ClearToolResults(1))

        assert "the whole is entry 8" in done.messages[2].text

    def test_leaves_both_where_a_newer_call_of_the_id_may_have_left(self):
        """
        After a cut in the middle a result may be that of a call which is no longer there.
        """
        messages = [user("q"), call("c1"), result("c1", "first"), assistant("a")]
        messages += [user("more"), call("c1"), result("c1", "pending"), assistant("b")]
        messages += [user("so?"), result("c1", "second"), assistant("c"), user("thanks")]
        done = run(HeadAndTail(4, 4) | Repair(), view_of(messages))

        assert ["first", "second"] == [m.text for m in done.messages if m.role == "tool"]
        assert "entries 5-8 between them, which may hold another call" in done.warnings[0]
        assert ["first", "second"] == [
            m.text for m in run(Repair(), view_of(messages)).messages if m.role == "tool"
        ]

    def test_ends_a_call_that_went_on(self):
        """
        What only the newest result says of itself goes with its words.
        """
        response = {"id": "c1", "name": "job", "response": {"output": "pending"}}
        final = {"id": "c1", "name": "job", "response": {"output": "done"}}
        turns = [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "job", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {**response, "willContinue": True}}]},
            {"role": "model", "parts": [{"text": "wait"}]},
            {"role": "user", "parts": [{"functionResponse": final}]},
            {"role": "user", "parts": [{"text": "so?"}]},
        ]
        done = run(Repair(), view_of(formats.gemini.load(turns)))

        assert {"functionResponse": final} == formats.gemini.dump(done.messages)[2]["parts"][0]


class TestInALog:
    def test_is_never_written_unless_asked(self):
        """
        The log is what it was; a second turn makes the same up again.
        """
        memory = Memory(strategy=Repair())
        memory.append(user("q"), call("c1"), assistant("a"), result("c9"), user("bye"))
        first = memory.context()

        assert ["q", "", MADE_UP, "a", "bye"] == texts(first) == texts(memory.context())
        assert ["q", "", "a", "found", "bye"] == texts(memory.view())
        assert 5 == memory.view().head

    def test_writes_what_leaves_and_not_what_it_made_up(self):
        """
        And reverts it.
        """
        memory = Memory(strategy=Repair(replace=True))
        memory.append(user("q"), call("c1"), assistant("a"), result("c9"), user("bye"))
        done = memory.context()

        assert ["q", "", "a", "bye"] == texts(memory.view())
        assert ["q", "", MADE_UP, "a", "bye"] == texts(memory.context())
        memory.revert(done.rec)
        assert ["q", "", "a", "found", "bye"] == texts(memory.view())

    def test_takes_a_view_that_was_written_back(self):
        """
        What is left of it is mended like any other.
        """
        gone = Compacted((Drop(Span.of([1, 2]), replace=True),), upto=6)
        messages = [*talk(1), user("q2"), call("c1"), assistant("a2"), result("c1")]

        assert ["q2", "", "found"] == seen(
            Repair(), [*talk(1), *messages[2:4], result("c1")], decisions=[evolve(gone, upto=5)]
        )
        assert ["q2", "", MADE_UP, "a2"] == seen(
            Repair(), [*messages[:5], result("c9")], decisions=[gone]
        )


class TestAsAValue:
    @pytest.mark.parametrize(
        ("strategy", "shown", "data"),
        [
            (Repair(), "Repair()", {"use": "Repair"}),
            (
                Repair(replace=True),
                "Repair(replace=True)",
                {"use": "Repair", "replace": True},
            ),
        ],
        ids=["plain", "all"],
    )
    def test_shows_itself_and_goes_to_data(self, strategy, shown, data):
        """
        A repr evaluates back, data is read back.
        """
        assert (shown, data) == (repr(strategy), to_data(strategy))
        assert strategy == eval(shown, {"Repair": Repair})  # noqa: S307  our own repr
        assert strategy == from_data(data)
        assert hash(strategy) == hash(from_data(data))

    @pytest.mark.parametrize("strategy", [Repair(), Repair(replace=True)], ids=repr)
    def test_keeps_the_laws(self, strategy):
        """
        Every law, on generated logs.
        """
        check_strategy(strategy, examples=30)
