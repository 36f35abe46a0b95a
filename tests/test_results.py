"""
Results: what a strategy worked out, in every form, and the functions that make one.
"""

import pytest
from attrs import evolve

from unabridged import Memory, Summarize, Window, assistant, run, system, user
from unabridged.contract import TrimContext
from unabridged.errors import ConfigError, OutcomeError
from unabridged.messages import Message, ToolCall
from unabridged.overrun import Overrun
from unabridged.records import Compacted, Drop, Fold, Hold, Insert, Note, Reverted
from unabridged.results import (
    Prefix,
    TrimResult,
    drop,
    fold,
    hold,
    insert,
    keep,
    rewrite,
    unchanged,
)
from unabridged.spans import Span
from unabridged.stores import InMemoryStore
from unabridged.testing import call, replies, result, talk, texts, view_of
from unabridged.tokens import exact, words

TOOLS = [user("q1"), call("c1"), result("c1"), assistant("a1"), user("q2"), assistant("a2")]


def of(view, *changes, **more):
    """
    A result with these changes, counted in words.
    """
    return TrimResult(view, changes, count=words, **more)


def dropped(*entries, **more):
    return Drop(Span.of(entries), **more)


class TestTrimResult:
    def test_gives_the_view_after_the_changes(self):
        """
        The view before stays as it was.
        """
        view = view_of(talk(2))
        done = of(view, dropped(1, 2))

        assert (["q2", "a2"], 4) == (texts(done), len(view))
        assert done.view is done.view

    def test_shows_itself_in_a_line(self):
        """
        However long the log is; what is out of the ordinary is in it.
        """
        view = view_of(talk(2))
        over = Overrun(3, 9, "tokens")

        assert "TrimResult(2 of 4 messages)" == repr(of(view, dropped(1, 2)))
        assert f"TrimResult(4 of 4 messages, rec=7, over={over!r}, warnings=('late',))" == repr(
            of(view, rec=7, over=over, warnings=("late",))
        )

    def test_hides_the_prompt_for_apis_that_take_it_apart(self):
        """
        System and developer messages are left out, a summary is not.
        """
        view = view_of([system("rule"), Message("developer", "d"), *talk(2)])
        change = Fold(Span.of([3, 4]), system("summary"))

        assert ["summary", "q2", "a2"] == texts(of(view, change, hide_system=True))

    def test_hides_a_prompt_that_was_reworded(self):
        """
        It is still the prompt.
        """
        view = view_of([system("rule"), *talk(1)])
        change = Fold(Span.one(1), system("RULE"))

        assert ["q1", "a1"] == texts(of(view, change, hide_system=True))

    def test_counts_its_messages(self):
        """
        By the context's counter, or exactly where there is none.
        """
        view = view_of([system("be brief"), user("one two three")])

        assert 5 == of(view).tokens
        assert 3 == of(view, hide_system=True).tokens
        assert sum(map(exact(), view.messages)) == unchanged(view).tokens

    def test_says_how_much_of_the_prefix_was_kept(self):
        """
        Up to the first message that differs.
        """
        view = view_of([user("a b"), assistant("c"), user("d")])

        assert Prefix(0, 0, 0) == of(view).kept
        assert Prefix(2, 3, 3) == of(view, previous=(*view.messages[:2], user("x"))).kept
        assert Prefix(3, 4, 3) == of(view, previous=view.messages).kept
        assert Prefix(0, 0, 1) == of(view, previous=(user("x"),)).kept

    def test_reads_as_text(self):
        """
        A line a message, roles worded as asked for.
        """
        done = of(view_of([user("hi"), call("c1", text="so"), result("c1")]))

        assert "user: hi\nassistant: so [tool calls: look({})]\ntool: found" == done.text()
        assert "Human: hi\nAI: so [tool calls: look({})]\ntool: found" == done.text(
            {"user": "Human", "assistant": "AI"}
        )

    def test_says_whether_it_asks_to_be_written(self):
        """
        One marked change is enough.
        """
        view = view_of(talk(2))

        assert not of(view, dropped(1)).replace
        assert of(view, dropped(1), dropped(2, replace=True)).replace

    def test_is_a_value(self):
        """
        Its counter and what was sent before do not make it another.
        """
        view = view_of(talk(1))

        assert unchanged(view) == of(view) == of(view, previous=view.messages)
        assert of(view) != of(view, dropped(1))


class TestThen:
    def test_puts_one_result_behind_another(self):
        """
        Changes, notes and warnings of both, in order; what is over is the last that was.
        """
        view = view_of(talk(3))
        over, note = Overrun(1, 2, "tokens"), Note("cut", "x", {})
        first = of(view, dropped(1), notes=(note,), warnings=("one",), over=over)
        second = of(first.view, dropped(2), notes=(note,), warnings=("two",))

        both = first.then(second)

        assert (
            of(
                view,
                dropped(1),
                dropped(2),
                notes=(note, note),
                warnings=("one", "two"),
                over=over,
            )
            == both
        )
        assert second.view == both.view

    def test_is_what_a_chain_does(self):
        """
        The algebra's law on one example; the rest is in the laws.
        """
        view = view_of(talk(4))
        first = run(Window(6), view)

        assert run(Window(6) | Window(2), view) == first.then(run(Window(2), first.view))


class TestWhy:
    def test_tells_each_change_in_order(self):
        """
        The last one decided.
        """
        view = view_of(talk(3))
        done = of(
            view,
            Fold(Span.one(1), user("Q1"), reason="shorter", step="Short()"),
            Fold(Span.of([1, 2]), system("s"), reason="summarized", step="Summarize(4)"),
            dropped(1, 2, 3, reason="old", step="Window(3)"),
        )

        assert done.why(1).splitlines() == [
            "entry 1 is reworded by Short(): shorter",
            "entry 1 is folded into one message with 1-2 by Summarize(4): summarized",
            "entry 1 left by Window(3): old",
        ]
        assert "entry 3 left by Window(3): old" == done.why(3)
        assert "entry 4 is in the view as it was appended" == done.why(4)

    def test_tells_what_pins_it(self):
        """
        By role, by hand, or held for once.
        """
        view = view_of([system("s"), user("q"), assistant("a")], pinned=[2])
        done = of(view, Hold(Span.one(3), reason="recalled", step="Recall(1)"))

        assert ["entry 1 stays: pinned by role", "entry 2 stays: pinned by hand"] == [
            done.why(1),
            done.why(2),
        ]
        assert done.why(3).splitlines() == [
            "entry 3 is held by Recall(1): recalled",
            "entry 3 stays: pinned",
        ]

    def test_tells_what_the_log_holds(self):
        """
        What was written back before, by record; an unnamed step has no name.
        """
        view = view_of(
            talk(4),
            decisions=[
                Compacted((dropped(1, step="Window(7)", reason="old"), dropped(2)), 9),
                Compacted((Fold(Span.of([3, 4]), system("s"), step="Summarize(4)"),), 9),
            ],
        )
        done = of(view)

        assert "entry 1 left the log's view by Window(7) (record 9): old" == done.why(1)
        assert "entry 2 left the log's view (record 9)" == done.why(2)
        assert "entry 3 is folded into one message with 3-4 by Summarize(4), written back" == (
            done.why(3)
        )

    def test_tells_of_entries_that_a_store_deleted(self):
        """
        With `retain=`, the log is no longer whole.
        """
        memory = Memory(InMemoryStore(retain=2))
        memory.append(*talk(2))

        assert "entry 1 was deleted: the store keeps a limited number (retain=)" == (
            memory.context().why(1)
        )

    def test_says_what_is_no_entry(self):
        """
        The message holds the number of the last one.
        """
        done = of(view_of(talk(1)))

        assert "entry 3: the log has no such entry, it ends at 2" == done.why(3)
        assert "entry 0: the log has no such entry, it ends at 2" == done.why(0)
        with pytest.raises(
            ConfigError, match=r"why: expected the number of an entry \(int\), got '1'"
        ):
            done.why("1")

    def test_passes_over_what_was_put_in(self):
        """
        An insert names no entry.
        """
        done = of(view_of(talk(1)), Insert(user("x"), 1))

        assert "entry 1 is in the view as it was appended" == done.why(1)


class TestExplain:
    def test_of_nothing_is_one_line(self):
        """
        How many messages, how many tokens.
        """
        assert "4 of 4 messages, 4 tokens" == of(view_of(talk(2))).explain()

    def test_tells_every_kind_of_change(self):
        """
        A line each, then pins, the prefix, what is over, and warnings.
        """
        view = view_of([system("rule"), *talk(4)], pinned=[9])
        long = "a summary that goes on and on, and on, far beyond the width of a line of text"
        done = of(
            view,
            dropped(2, reason="old", step="Window(6)"),
            dropped(3, 4),
            Fold(Span.one(5), assistant("A2"), reason="shorter", step="Short()", replace=True),
            Fold(Span.of([6, 7]), system(long), step="Summarize(2)", replace=True),
            Insert(user("now"), 0, reason="the date", step="date"),
            Insert(user("then"), 8, step="date"),
            Hold(Span.one(8), reason="recalled", step="Recall(1)"),
            previous=(user("now"), user("x")),
            over=Overrun(3, 9, "tokens", ("entry 9 (1): the newest user message",)),
            warnings=("it is late",),
        )

        assert done.explain() == (
            "7 of 9 messages, 24 tokens\n"
            "Window(6): entry 2 left: old\n"
            "a step: 2 entries (3-4) left\n"
            "Short(): entry 5 reworded, to be written back: shorter\n"
            "Summarize(2): 2 entries (6-7) folded into 'a summary that goes on and on, and on, "
            "far beyond the width…', to be written back\n"
            "date: put in at the head: user: now: the date\n"
            "date: put in after entry 8: user: then\n"
            "Recall(1): entry 8 held: recalled\n"
            "pinned: 1, 8, 9\n"
            "prefix: 1 of the 2 messages sent before are its beginning (1 tokens)\n"
            "over: 9 tokens must stay, 6 over the limit of 3: entry 9 (1): the newest user "
            "message\n"
            "warning: prefix broken from entry 1 on, by another strategy, pin or record of the log "
            "than before: 23 tokens are no longer the beginning of what was sent before\n"
            "warning: it is late"
        )

    def test_tells_at_once_what_is_reworded_for_one_reason(self):
        """
        By one step, one after the other: an agent's thousand cleared results are a line.
        """
        view = view_of(talk(4))
        shorter = [
            Fold(Span.one(seq), user("…"), reason=reason, step=step, replace=seq == 6)
            for seq, reason, step in (
                (1, "long", "Clip()"),
                (2, "long", "Clip()"),
                (4, "long", "Clip()"),
                (5, "old", "Clip()"),
                (6, "old", "Clip()"),
                (7, "old", "Clear()"),
            )
        ]

        assert of(view, *shorter).explain().splitlines()[1:] == [
            "Clip(): 3 entries (1-2, 4) reworded: long",
            "Clip(): entry 5 reworded: old",
            "Clip(): entry 6 reworded, to be written back: old",
            "Clear(): entry 7 reworded: old",
        ]

    def test_shortens_a_long_list_of_entries(self):
        """
        `why` still knows each of them.
        """
        view = view_of(talk(13))
        odd = dropped(*range(1, 26, 2), step="Odd()")

        assert (
            "Odd(): 13 entries (1, 3, 5, 7, 9, 11, 13, 15, 17, …, 25) left"
            in of(view, odd).explain()
        )
        assert (
            "12 entries (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23) left"
            in of(view, dropped(*range(1, 24, 2))).explain()
        )

    def test_tells_what_a_chain_did(self):
        """
        Step by step, as a user sees it.
        """
        view = view_of([system("rule"), *talk(5)])
        steps = Window(4) | Summarize(keep_last=2, replace=True)
        done = run(steps, view, TrimContext(count=words), ask=replies("short"))

        assert done.explain() == (
            "4 of 11 messages, 9 tokens\n"
            "Window(4): 6 entries (2-7) left: before the last 4 messages\n"
            "Summarize(2, replace=True): 2 entries (8-9) folded into 'Summary of the earlier "
            "conversation: short', to be written back: before the last 2 messages\n"
            "pinned: 1"
        )


class TestOverrun:
    def test_says_what_could_not_go(self):
        """
        The first four, and how many more.
        """
        one = Overrun(10, 12, "messages", ("a",))
        many = Overrun(10, 12, "tokens", tuple("abcdef"))

        assert "12 messages must stay, 2 over the limit of 10: a" == str(one)
        assert "12 tokens must stay, 2 over the limit of 10: a; b; c; d; … and 2 more" == str(many)
        assert 2 == one.by


class TestRecord:
    def test_of_nothing_marked_is_none(self):
        """
        What only projects is not written.
        """
        assert of(view_of(talk(2)), dropped(1)).record() is None

    def test_holds_the_marked_changes(self):
        """
        With the record up to which the log was read.
        """
        view = view_of(talk(2))
        marked = dropped(1, step="a", replace=True)

        assert Compacted((marked,), 4) == of(view, marked, dropped(2, step="b")).record()

    def test_holds_the_drops_of_earlier_steps(self):
        """
        Or old messages would come back in place of newer ones. Other projections stay out.
        """
        view = view_of(talk(4))
        done = of(
            view,
            dropped(1, step="a"),
            Fold(Span.one(2), assistant("A1"), step="b"),
            dropped(3, step="c", replace=True),
            dropped(4, step="d"),
        )

        assert Compacted(
            (dropped(1, step="a", replace=True), dropped(3, step="c", replace=True)), 8
        ) == (done.record())

    def test_holds_all_that_can_be_written_where_that_is_asked_for(self):
        """
        Holds and inserts never are.
        """
        view = view_of(talk(4))
        folded = Fold(Span.of([1, 2]), system("s"), step="b")
        done = of(view, folded, Insert(user("x"), 0), Hold(Span.one(5)), dropped(3, step="c"))

        assert Compacted(
            (evolve(folded, replace=True), dropped(3, step="c", replace=True)), 8
        ) == done.record(replace=True)
        assert of(view, Insert(user("x"), 0), Hold(Span.one(5))).record(replace=True) is None

    def test_leaves_out_a_fold_over_a_stand_in_that_only_projects(self):
        """
        The log would hold a summary of a summary that nobody can read.
        """
        view = view_of(talk(4))
        projected = Fold(Span.of([1, 2]), system("s"), step="a")
        over = Fold(Span.of([1, 2, 3, 4]), system("t"), step="b", replace=True)

        assert of(view, projected, over).record() is None
        assert Compacted((evolve(projected, replace=True), over), 8) == (
            of(view, projected, over).record(replace=True)
        )

    def test_takes_a_fold_over_what_a_rewording_or_another_fold_left(self):
        """
        Only a projected stand-in for several of the same entries stands in the way.
        """
        view = view_of(talk(4))
        over = Fold(Span.of([1, 2]), system("t"), step="c", replace=True)
        reworded = Fold(Span.one(1), user("Q1"), step="a")
        elsewhere = Fold(Span.of([3, 4]), system("s"), step="b")

        assert Compacted((over,), 8) == of(view, reworded, elsewhere, over).record()

    def test_leaves_out_what_was_written_and_reverted(self):
        """
        The step projects it from then on, with the drops before it, until the revert is reverted.
        """
        change = dropped(1, 2, step="Window(4)", replace=True)
        undone = view_of(talk(3), decisions=[Compacted((change,), 0), Reverted(7)])
        redone = view_of(talk(4), decisions=[Compacted((change,), 0), Reverted(9), Reverted(10)])
        again = dropped(3, step="Window(4)", replace=True)

        assert of(undone, change).record() is None
        assert of(undone, evolve(change, step="Window(9)")).record() is not None
        assert Compacted((again,), 11) == of(redone, again).record()


class TestKeep:
    def test_drops_the_rest(self):
        """
        With the reason it is given.
        """
        view = view_of(talk(3))

        assert TrimResult(view, (dropped(1, 2, reason="old", replace=True),)) == keep(
            view, view[2:], reason="old", replace=True
        )

    def test_of_everything_is_nothing_to_do(self):
        """
        No change at all.
        """
        view = view_of(talk(3))

        assert unchanged(view) == keep(view, view, reason="old")

    def test_keeps_whole_blocks_pins_and_the_question(self):
        """
        A call with its result, what is pinned, the newest words, and what opened the first round.
        """
        view = view_of([system("s"), *TOOLS, user("q3"), assistant("a3")])

        assert ["s", "q1", "", "found", "q3", "a3"] == texts(keep(view, [view[3]], reason="old"))

    def test_brings_only_the_question_of_the_first(self):
        """
        Later ones stand on their own; with another opening none is brought.
        """
        view = view_of(talk(4))

        assert ["q1", "a1", "a2", "q4", "a4"] == texts(keep(view, [view[1], view[3]], reason="old"))
        assert ["a1", "q4", "a4"] == texts(keep(view, [view[1]], reason="old", opening="next"))
        assert ["a1", "a4"] == texts(keep(view, [view[1]], reason="old", opening="anywhere"))

    def test_keeps_a_block_of_which_two_are_chosen_once(self):
        """
        Whichever of its items are named.
        """
        view = view_of([*TOOLS, *talk(1, 3)])

        assert ["q1", "", "found", "q3", "a3"] == texts(keep(view, view[1:3], reason="old"))

    def test_lets_go_of_role_pins_where_that_is_asked_for(self):
        """
        Hand pins stay.
        """
        view = view_of([system("s"), user("q1"), *talk(1)], pinned=[2])

        assert ["q1", "q1", "a1"] == texts(keep(view, view[2:], reason="old", pin_system=False))

    def test_refuses_an_item_that_was_never_in_the_view(self):
        """
        The message names its entries.
        """
        with pytest.raises(OutcomeError) as caught:
            keep(view_of(talk(1)), view_of(talk(4))[5:6], reason="old")

        assert "entry 6 was never in the view; return items of the view" == str(caught.value)

    def test_passes_over_what_was_put_in(self):
        """
        It goes where its anchor goes.
        """
        view = insert(view_of(talk(2)), user("x"), after=1, reason="x").view

        assert ["q2", "a2"] == texts(keep(view, [view[1], *view[3:]], reason="old"))


class TestDropFunction:
    def test_takes_whole_blocks_that_may_go(self):
        """
        Half a block stays, and so do pins and the newest words.
        """
        view = view_of([system("s"), *TOOLS])

        assert unchanged(view) == drop(view, [view[0], view[2], view[5]], reason="old")
        assert ["s", "q1", "a1", "q2", "a2"] == texts(drop(view, view[2:4], reason="old"))
        assert drop(view, view[2:4], reason="old", replace=True).replace


class TestFoldFunction:
    def test_lets_a_message_stand_in(self):
        """
        For what may go of the items.
        """
        view = view_of([system("s"), *TOOLS])

        assert TrimResult(
            view, (Fold(Span.of([2, 3, 4, 5]), system("sum"), reason="old", replace=True),)
        ) == fold(view, view[:6], into=system("sum"), reason="old", replace=True)

    def test_of_what_has_to_stay_is_nothing_to_do(self):
        """
        No summary of nothing.
        """
        view = view_of([system("s"), user("q")])

        assert unchanged(view) == fold(view, view, into=system("sum"), reason="old")

    @pytest.mark.parametrize("into", [call("c1"), result("c1")], ids=["call", "result"])
    def test_refuses_a_stand_in_with_calls_or_results(self, into):
        """
        They would be parted from what they belong to.
        """
        view = view_of(talk(2))
        with pytest.raises(OutcomeError) as caught:
            fold(view, view[:2], into=into, reason="old")

        assert str(caught.value) == (
            "fold: a stand-in for several entries holds no tool calls or results; word them"
        )


class TestRewrite:
    def test_rewords_items(self):
        """
        What is the same is no change.
        """
        view = view_of(talk(2))
        messages = {view[0]: user("Q1"), view[1]: view[1].message}

        assert TrimResult(view, (Fold(Span.one(1), user("Q1"), reason="loud", replace=True),)) == (
            rewrite(view, messages, reason="loud", replace=True)
        )

    def test_may_shorten_arguments(self):
        """
        The call keeps its id and name.
        """
        view = view_of(TOOLS)
        short = assistant(calls=[ToolCall("c1", "look", '{"q":"…"}')])

        assert short == rewrite(view, {view[1]: short}, reason="long").messages[1]

    @pytest.mark.parametrize(
        ("place", "message", "problem"),
        [
            (1, call("c2"), "entry 2 must keep its tool calls (ids and names)"),
            (1, call("c1", name="seek"), "entry 2 must keep its tool calls (ids and names)"),
            (1, assistant("words"), "entry 2 must keep its tool calls (ids and names)"),
            (2, result("c2"), "entry 3 must keep its tool results"),
            (2, user("found"), "entry 3 must keep its tool results"),
        ],
        ids=["id", "name", "call", "result's id", "result"],
    )
    def test_refuses_to_part_calls_from_results(self, place, message, problem):
        """
        The message names the entry.
        """
        view = view_of(TOOLS)
        with pytest.raises(OutcomeError) as caught:
            rewrite(view, {view[place]: message}, reason="r")

        assert f"rewrite: {problem}" == str(caught.value)

    def test_refuses_arguments_that_are_no_json(self):
        """
        A provider would refuse the whole request.
        """
        view = view_of(TOOLS)
        broken = assistant(calls=[ToolCall("c1", "look", '{"q":')])
        with pytest.raises(OutcomeError):
            rewrite(view, {view[1]: broken}, reason="r")

    def test_may_word_an_orphan_or_doubled_result(self):
        """
        It answers nothing, so nothing is parted.
        """
        view = view_of([*TOOLS[:3], result("c1", "again"), result("c9", "lost")])
        done = rewrite(view, {view[3]: user("again"), view[4]: user("lost")}, reason="worded")

        assert (user("again"), user("lost")) == done.messages[3:]

    def test_refuses_a_stand_in_for_several(self):
        """
        That is a fold.
        """
        view = fold(view_of(talk(2)), view_of(talk(2))[:2], into=system("s"), reason="old").view
        with pytest.raises(OutcomeError) as caught:
            rewrite(view, {view[0]: system("t")}, reason="r")

        assert str(caught.value) == (
            "rewrite: the item of entries 1-2 stands for several; use fold"
        )

    def test_refuses_an_item_that_was_never_in_the_view(self):
        """
        As every function here.
        """
        with pytest.raises(OutcomeError):
            rewrite(view_of(talk(1)), {view_of(talk(2))[3]: assistant("x")}, reason="r")


class TestHoldFunction:
    def test_pins_for_one_projection(self):
        """
        Never to be written back.
        """
        view = view_of(talk(2))

        assert TrimResult(view, (Hold(Span.of([1, 2]), reason="recalled"),)) == hold(
            view, view[:2], reason="recalled"
        )
        assert unchanged(view) == hold(view, [], reason="recalled")


class TestInsertFunction:
    def test_puts_a_message_in(self):
        """
        After the block of an entry, or at the head.
        """
        view = view_of(TOOLS)

        assert ["q1", "", "found", "x", "a1", "q2", "a2"] == texts(
            insert(view, user("x"), after=2, reason="why")
        )
        assert TrimResult(view, (Insert(user("x"), 0, reason="why"),)) == insert(
            view, user("x"), reason="why"
        )

    def test_refuses_an_entry_that_is_not_there(self):
        """
        The message holds those that are.
        """
        with pytest.raises(OutcomeError) as caught:
            insert(view_of(talk(2)), user("x"), after=9, reason="why")

        assert "insert: entry 9 is not in the view; give one of 1-4, or 0" == str(caught.value)


class TestUnchanged:
    def test_is_a_result_without_changes(self):
        """
        It may warn.
        """
        view = view_of(talk(1))

        assert TrimResult(view, warnings=("careful",)) == unchanged(view, warnings=["careful"])


class TestOpeningOfDropAndFold:
    def test_drop_brings_the_question_of_what_is_then_first(self):
        """
        So no view starts on an assistant; another opening drops the rest, or just these.
        """
        view = view_of(talk(3))

        assert unchanged(view) == drop(view, view[:1], reason="old")
        assert ["q2", "a2", "q3", "a3"] == texts(drop(view, view[:3], reason="old"))
        assert ["q2", "a2", "q3", "a3"] == texts(drop(view, view[:1], reason="old", opening="next"))
        assert ["q3", "a3"] == texts(drop(view, view[:3], reason="old", opening="next"))
        assert ["a2", "q3", "a3"] == texts(drop(view, view[:3], reason="old", opening="anywhere"))

    def test_drop_leaves_a_later_answer_without_its_question(self):
        """
        Only how the view opens matters; one that opened on an assistant goes on to.
        """
        view = view_of([assistant("hello"), *talk(2)])

        assert ["hello", "q1", "a1", "a2"] != texts(drop(view, [view[3]], reason="old"))
        for opening in ("question", "next"):
            done = drop(view, [view[1]], reason="old", opening=opening)
            assert ["hello", "a1", "q2", "a2"] == texts(done)

    def test_drop_looks_past_instructions(self):
        """
        After one that is not pinned any more comes what the view opens on.
        """
        memory = Memory()
        memory.append(user("q1"), system("s"), assistant("a1"), user("q2"))
        memory.unpin(2)
        view = memory.view()

        assert ["q1", "s", "a1", "q2"] == texts(drop(view, view[:1], reason="old"))
        assert ["q1", "s", "a1", "q2"] == texts(keep(view, view[1:], reason="old"))
        assert ["q2"] == texts(drop(view, view[:1], reason="old", opening="next"))

    def test_drop_keeps_what_must_stay_under_its_opening(self):
        """
        The newest user message may leave only under "anywhere".
        """
        view = view_of([*talk(1), user("q2"), assistant("a2"), assistant("a3")])

        assert ["q2", "a3"] == texts(drop(view, view, reason="old"))
        assert ["a3"] == texts(drop(view, view, reason="old", opening="anywhere"))

    def test_drop_keeps_a_lone_answer_where_no_head_comes(self):
        """
        Under "next" the plain drop is made where nothing comes to open on.
        """
        view = view_of([user("q"), assistant("a"), assistant("b"), assistant("c")])

        assert ["q", "b", "c"] == texts(drop(view, view[:2], reason="old", opening="next"))

    def test_fold_takes_in_what_would_follow_it(self):
        """
        The stand-in is the opener; under "next" a user's message follows it.
        """
        view = view_of(talk(3))
        into = system("s")

        assert ["s", "a1", "q2", "a2", "q3", "a3"] == texts(
            fold(view, view[:1], into=into, reason="old")
        )
        assert ["s", "q2", "a2", "q3", "a3"] == texts(
            fold(view, view[:1], into=into, reason="old", opening="next")
        )
        assert ["q1", "a1", "s", "a2", "q3", "a3"] == texts(
            fold(view, view[2:3], into=into, reason="old", opening="next")
        )

    def test_work_on_a_long_thread_as_on_a_short_one(self):
        """
        Where what comes first is not loaded it stays; else all is loaded.
        """
        memory = Memory()
        memory.append(*talk(200))
        fresh = Memory(memory.store)

        def old(view, ctx):
            return drop(view, view[:1], reason="old")

        def late(view, ctx):
            return drop(view, view[-3:-2], reason="late")

        assert 400 == len(fresh.context(old).messages)
        assert 399 == len(fresh.context(late).messages)
