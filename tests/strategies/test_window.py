"""
Keeping the newest messages.
"""

import pytest
from attrs import evolve

from unabridged import Memory, Window, assistant, chain, run, system, user
from unabridged.contract import TrimContext
from unabridged.declared import from_data, to_data
from unabridged.errors import BudgetError, ConfigError
from unabridged.messages import ToolResult
from unabridged.overrun import Overrun
from unabridged.records import Drop, Note, Noted
from unabridged.results import TrimResult, insert, unchanged
from unabridged.spans import Span
from unabridged.testing import call, result, talk, texts, view_of
from unabridged.tokens import words

LOOP = [user("q"), call("c1"), result("c1"), call("c2"), result("c2"), assistant("a")]


def seen(strategy, messages, **options):
    """
    The words that are left of these messages.
    """
    return texts(run(strategy, view_of(messages, **options)))


def insert_first(view, ctx):
    """
    A step that puts a message in at the head.
    """
    return insert(view, system("put in"), reason="first")


class TestWindow:
    @pytest.mark.parametrize("straddle", ["drop", "keep"])
    @pytest.mark.parametrize("opening", ["question", "next", "anywhere"])
    def test_a_pin_whose_question_was_retracted_brings_the_one_before(self, opening, straddle):
        """
        Its block fell to that round; a view would start on the assistant else.
        """
        memory = Memory(strategy=Window(3, opening=opening, straddle=straddle))
        memory.append(*talk(1), user("one"), user("two"))
        memory.append(assistant("pinned"), pin=True)
        memory.append(*talk(2))
        memory.retract(4)
        memory.retract(3)

        assert ["q1", "pinned", "q2", "a2"] == texts(memory.context())

    def test_what_is_kept_of_a_round_without_its_question_brings_the_one_before(self):
        """
        Also where nothing is pinned; stand-ins and what opened it itself bring none.
        """
        memory = Memory()
        memory.append(*talk(1), user("gone"), assistant("half"), *talk(1))
        memory.retract(3)

        assert ["q1", "half", "q1", "a1"] == texts(memory.context(Window(4)))
        assert ["q1", "a1"] == texts(memory.context(Window(3)))

    @pytest.mark.parametrize("name", ["pin_system", "count_pins", "strict", "replace"])
    @pytest.mark.parametrize("given", ["no", 0, None])
    def test_refuses_a_switch_that_is_not_one(self, name, given):
        """
        As a "false" out of a file, which would count as true.
        """
        with pytest.raises(ConfigError, match=f"Window: `{name}` must be True or False, got"):
            Window(3, **{name: given})

    def test_has_nothing_to_do_where_all_fits(self):
        """
        Exactly as many as the limit, fewer, none, or no limit.
        """
        for strategy, messages in (
            (Window(4), talk(2)),
            (Window(9), talk(2)),
            (Window(1), []),
            (Window(None), talk(9)),
        ):
            view = view_of(messages)

            assert unchanged(view) == run(strategy, view)

    def test_keeps_the_newest(self):
        """
        One drop, with a reason that holds the number.
        """
        view = view_of(talk(3))

        assert TrimResult(
            view,
            (
                Drop(
                    Span.between(1, 4),
                    reason="before the last 2 messages",
                    step="Window(2, replace=True)",
                    replace=True,
                ),
            ),
        ) == run(Window(2, replace=True), view)
        assert "before the last 1 message" == run(Window(1), view_of(talk(2))).changes[0].reason

    def test_cuts_where_one_is_too_many(self):
        """
        The edge: five messages and a limit of four lose one, and with it its answer's round.
        """
        messages = [assistant("a0"), *talk(2)]

        assert ["q1", "a1", "q2", "a2"] == seen(Window(4), messages)

    def test_brings_the_question_and_counts_it(self):
        """
        A kept block never stands without the user message of its round, and both fit.
        """
        assert ["q", "", "found", "a"] == seen(Window(4), LOOP)
        assert ["q", "a"] == seen(Window(3), LOOP)
        assert ["q", "a"] == seen(Window(2), LOOP)

    def test_keeps_a_call_with_its_result(self):
        """
        A cut that would fall between a call and its result moves past the result.
        """
        assert ["hi", "done"] == seen(
            Window(2), [user("hi"), call("c1"), result("c1"), assistant("done")]
        )
        assert ["q2", "", "one", "two"] == seen(
            Window(4),
            [*talk(1), user("q2"), call("c1", "c2"), result("c1", "one"), result("c2", "two")],
        )

    def test_keeps_what_waits_for_its_result(self):
        """
        A pending call stays, with its question, however long the user goes on.
        """
        done = run(Window(1), view_of([*talk(2), user("q3"), call("c1"), user("hurry")]))

        assert ["q3", "", "hurry"] == texts(done)
        assert (
            Overrun(
                1,
                3,
                "messages",
                (
                    "entry 7 (1): the newest user message",
                    "entry 6 (1): a call that waits for its result",
                    "entry 5 (1): opened the round of what stays",
                ),
            )
            == done.over
        )

    def test_lets_a_dangling_call_go(self):
        """
        Once an assistant has spoken nobody waits any more.
        """
        assert ["q2", "a2"] == seen(
            Window(2), [user("q1"), call("c1"), assistant("a1"), *talk(1, 2)]
        )

    def test_keeps_the_newest_user_message(self):
        """
        Also where it stands inside a block.
        """
        inside = [*talk(1), user("q2"), call("c1"), user("wait"), result("c1"), assistant("a2")]

        assert ["q", "a2"] == seen(Window(1), [user("q"), assistant("a1"), assistant("a2")])
        assert ["q2", "", "wait", "found", "a2"] == seen(Window(1), inside)

    def test_keeps_the_newest_block_of_a_view_without_user(self):
        """
        A log of one voice is cut by blocks.
        """
        assert ["a3"] == seen(Window(1), [assistant(f"a{n}") for n in (1, 2, 3)])

    def test_does_not_count_pins(self):
        """
        System messages and pins by hand stay beside the window, a hand pin with its question.
        """
        messages = [system("s"), *talk(3)]

        assert ["s", "q1", "a1", "q3", "a3"] == seen(Window(2), messages, pinned=[3])

    def test_counts_pins_where_that_is_asked_for(self):
        """
        Then they take the place of others.
        """
        messages = [system("s"), *talk(3)]

        assert ["s", "q2", "a2", "q3", "a3"] == seen(Window(4), messages)
        assert ["s", "q3", "a3"] == seen(Window(4, count_pins=True), messages)
        assert ["s", "q2", "a2", "q3", "a3"] == seen(Window(5, count_pins=True), messages)

    def test_lets_go_of_system_messages_where_that_is_asked_for(self):
        """
        Pins by hand stay.
        """
        messages = [system("s"), system("t"), *talk(2)]

        assert ["t", "q2", "a2"] == seen(Window(2, pin_system=False), messages, pinned=[2])

    def test_keeps_a_newest_system_message_that_is_not_pinned(self):
        """
        It is the newest block, and brings no question along.
        """
        messages = [*talk(2), system("s")]

        assert ["q2", "s"] == seen(Window(1, pin_system=False), messages)
        assert ["s"] == seen(Window(1, pin_system=False, opening="anywhere"), messages)

    def test_names_what_was_put_in(self):
        """
        A message at the head that alone is over the limit is no pin of the log.
        """
        step = insert_first | Window(1, count_pins=True)

        assert str(run(step, view_of(talk(1))).over) == (
            "3 messages must stay, 2 over the limit of 1: entry 2 (1): the newest block; "
            "entry 1 (1): the newest user message; a message put in (1): put in at the head"
        )

    def test_says_what_is_over(self):
        """
        By how much, and what could not go.
        """
        done = run(Window(1), view_of(talk(2)))

        assert ["q2", "a2"] == texts(done)
        assert str(done.over) == (
            "2 messages must stay, 1 over the limit of 1: "
            "entry 4 (1): the newest block; entry 3 (1): the newest user message"
        )

    def test_refuses_what_is_over_under_strict(self):
        """
        The message holds every number.
        """
        with pytest.raises(BudgetError) as caught:
            run(Window(1, strict=True), view_of(talk(2)))

        assert str(caught.value) == (
            "step Window(1, strict=True): 2 messages must stay, 1 over the limit of 1: "
            "entry 4 (1): the newest block; entry 3 (1): the newest user message; "
            "raise the limit, unpin, or clip what is long"
        )
        assert ["q2", "a2"] == seen(Window(2, strict=True), talk(2))


class TestOpening:
    def test_next_moves_on_to_the_next_head(self):
        """
        The view opens on a message that is neither an assistant's nor a tool's.
        """
        assert ["q3", "a3"] == seen(Window(3, opening="next"), talk(3))
        assert ["q2", "a2", "q3", "a3"] == seen(Window(4, opening="next"), talk(3))

    def test_next_passes_a_user_who_only_carries_results(self):
        """
        Some providers put results into a user's message; a transcript does not open on one.
        """
        carried = [user("q1"), call("c1"), user(ToolResult("c9", "lost")), *talk(1, 2)]

        assert ["q2", "a2"] == seen(Window(3, opening="next"), carried)

    def test_next_is_the_plain_cut_where_there_is_no_other_head(self):
        """
        In one long round the newest block stays, and the question with it.
        """
        assert ["q", "", "found", "a"] == seen(Window(4, opening="next"), LOOP)
        assert ["q", "a"] == seen(Window(2, opening="next"), LOOP)

    def test_anywhere_is_the_plain_cut(self):
        """
        Only the newest block has to stay.
        """
        assert ["a3"] == seen(Window(1, opening="anywhere"), talk(3))
        assert ["a2", "q3", "a3"] == seen(Window(3, opening="anywhere"), talk(3))
        assert ["", "found", "a"] == seen(Window(3, opening="anywhere"), LOOP)

    def test_anywhere_keeps_the_newest_block_whole(self):
        """
        A limit of one does not part it.
        """
        messages = [user("q"), call("c1"), result("c1")]

        assert ["", "found"] == seen(Window(1, opening="anywhere"), messages)

    @pytest.mark.parametrize("opening", ["question", "next", "anywhere"])
    def test_leaves_a_view_as_it_is_that_drops_nothing(self, opening):
        """
        Even one that opens on an assistant.
        """
        view = view_of([assistant("Hello."), *talk(1)])

        assert unchanged(view) == run(Window(3, opening=opening), view)

    def test_is_one_of_three_words(self):
        """
        The message lists them.
        """
        with pytest.raises(ConfigError) as caught:
            Window(2, opening="user")

        assert str(caught.value) == (
            "Window: `opening` must be one of 'question', 'next', 'anywhere', got 'user'"
        )


class TestBy:
    def test_rounds_cuts_only_between_rounds(self):
        """
        At the first that does not fit.
        """
        assert ["q3", "a3"] == seen(Window(3, by="rounds"), talk(3))
        assert ["q2", "a2", "q3", "a3"] == seen(Window(4, by="rounds"), talk(3))

    def test_rounds_cuts_a_newest_round_that_does_not_fit_by_blocks(self):
        """
        As if blocks had been asked for.
        """
        assert ["q", "", "found", "a"] == seen(Window(5, by="rounds"), [*talk(2), *LOOP])

    def test_rounds_keeps_a_newest_round_whole_where_asked(self):
        """
        However long it is; `over` says by how much, and what of it could not go.
        """
        whole = {"by": "rounds", "newest": "whole"}
        long = run(Window(2, **whole), view_of([*talk(2), *LOOP]))

        assert [m.text for m in LOOP] == [m.text for m in long.messages]
        assert (2, len(LOOP), "messages") == (long.over.limit, long.over.needed, long.over.unit)
        assert any(": of the newest round" in what for what in long.over.what)
        assert ["q2", "a2"] == seen(Window(2, **whole), talk(2))
        assert ["q1", "a1", "q2", "a2"] == seen(Window(4, **whole), talk(2))
        assert ["q2", "a2"] == seen(Window(3, down_to=1, **whole), talk(2))
        with pytest.raises(BudgetError):
            run(Window(2, strict=True, **whole), view_of([*talk(2), *LOOP]))

    def test_whole_goes_with_rounds(self):
        """
        A cut by blocks has no rounds to keep.
        """
        with pytest.raises(ConfigError) as caught:
            Window(2, newest="whole")
        assert "Window: `newest='whole'` goes with `by='rounds'`; give both" == str(caught.value)
        with pytest.raises(ConfigError, match="`newest` must be one of 'blocks', 'whole', got 'x'"):
            Window(2, by="rounds", newest="x")

    def test_rounds_is_by_blocks_in_a_view_without_user(self):
        """
        There are no rounds to cut between.
        """
        assert ["a2", "a3"] == seen(Window(2, by="rounds"), [assistant(f"a{n}") for n in (1, 2, 3)])

    def test_rounds_has_nothing_to_do_where_all_fits(self):
        """
        With a preamble or without.
        """
        view = view_of([assistant("Hello."), *talk(2)])

        assert unchanged(view) == run(Window(5, by="rounds"), view)

    def test_is_blocks_or_rounds(self):
        """
        The message lists them.
        """
        with pytest.raises(
            ConfigError, match="`by` must be one of 'blocks', 'rounds', got 'turns'"
        ):
            Window(2, by="turns")


class TestStraddle:
    MESSAGES = (*talk(1), user("q2"), call("c1"), result("c1"), *talk(1, 3))

    def test_drop_leaves_out_a_block_in_which_the_cut_falls(self):
        """
        The default.
        """
        assert ["q3", "a3"] == seen(Window(4), self.MESSAGES)

    def test_keep_widens_over_it(self):
        """
        So the view has more than was asked for, which is said.
        """
        done = run(Window(3, straddle="keep"), view_of(self.MESSAGES))

        assert ["q2", "", "found", "q3", "a3"] == texts(done)
        assert (3, 5) == (done.over.limit, done.over.needed)

    def test_keep_does_not_widen_where_the_cut_falls_between_blocks(self):
        """
        The edge: nothing is cut through.
        """
        assert ["q3", "a3"] == seen(Window(2, straddle="keep"), self.MESSAGES)

    def test_is_drop_or_keep(self):
        """
        The message lists them.
        """
        with pytest.raises(ConfigError, match="`straddle` must be one of 'drop', 'keep', got 'x'"):
            Window(2, straddle="x")


class TestDownTo:
    def test_cuts_to_the_low_mark_and_notes_it(self):
        """
        So that the next turns can let the view grow.
        """
        step = Window(4, down_to=2)
        done = run(step, view_of(talk(3)))

        assert ["q3", "a3"] == texts(done)
        assert "before the last 2 messages" == done.changes[0].reason
        assert (Note("cut", repr(step), {"first": 5}),) == done.notes

    def test_stands_at_its_cut_until_the_high_mark_is_passed(self):
        """
        The same first message, so a provider's cache holds.
        """
        step = Window(4, down_to=2)
        note = Noted((Note("cut", repr(step), {"first": 5}),))
        stands = run(step, view_of(talk(4), decisions=[note]))
        moves = run(step, view_of(talk(5), decisions=[note]))

        assert (["q3", "a3", "q4", "a4"], ()) == (texts(stands), stands.notes)
        assert (["q5", "a5"], (Note("cut", repr(step), {"first": 9}),)) == (
            texts(moves),
            moves.notes,
        )

    def test_passes_over_a_cut_that_is_not_its_own(self):
        """
        Or whose entry has left.
        """
        step = Window(4, down_to=2)
        other = Noted((Note("cut", "Window(9)", {"first": 3}), Note("x", repr(step), {})))
        gone = Noted((Note("cut", repr(step), {"first": 99}),))

        for note in (other, gone):
            assert ["q3", "a3"] == texts(run(step, view_of(talk(3), decisions=[note])))

    def test_has_nothing_to_do_below_the_high_mark(self):
        """
        Nothing is noted either.
        """
        view = view_of(talk(2))

        assert unchanged(view) == run(Window(4, down_to=2), view)

    def test_stands_by_rounds_too(self):
        """
        The options go together.
        """
        done = run(Window(6, down_to=3, by="rounds"), view_of(talk(4)))

        assert ["q4", "a4"] == texts(done)

    @pytest.mark.parametrize("down_to", [4, 9])
    def test_must_be_below_the_limit(self, down_to):
        """
        The message explains what it is for.
        """
        with pytest.raises(ConfigError) as caught:
            Window(4, down_to=down_to)

        assert str(caught.value) == (
            f"Window: `down_to` ({down_to}) must be below `last` (4): "
            "it is what a cut cuts down to once `last` is passed"
        )

    def test_of_no_limit_is_never_used(self):
        """
        A limit of None is none.
        """
        view = view_of(talk(5))

        assert unchanged(view) == run(Window(None, down_to=2), view)


class TestAtLeast:
    def test_makes_no_cut_that_gains_less(self):
        """
        In tokens, by the context's counter; `over` says why the limit is passed.
        """
        context = TrimContext(count=words)
        messages = [user("one two"), assistant("three"), *talk(2)]
        done = run(Window(4, at_least=4), view_of(messages), context)

        assert (6, ()) == (len(done.messages), done.changes)
        assert done.over == Overrun(4, 6, "messages", ("a cut would gain 3 tokens, at_least is 4",))
        assert ["q1", "a1", "q2", "a2"] == texts(
            run(Window(4, at_least=3), view_of(messages), context)
        )

    def test_counts_no_pins(self):
        """
        As the limit does.
        """
        context = TrimContext(count=words)
        done = run(Window(4, at_least=9), view_of([system("be brief"), *talk(3)]), context)

        assert 6 == done.over.needed
        counted = Window(4, at_least=9, count_pins=True)
        assert 7 == run(counted, view_of([system("be brief"), *talk(3)]), context).over.needed

    def test_weighs_a_cut_against_the_one_that_stands(self):
        """
        Its note says where it was.
        """
        context = TrimContext(count=words)
        step = Window(4, at_least=4)
        noted = Noted(run(step, view_of(talk(4)), context).notes)

        assert ["q3", "a3", "q4", "a4", "q5", "a5"] == texts(
            run(step, view_of(talk(5), decisions=[noted]), context)
        )
        assert ["q5", "a5", "q6", "a6"] == texts(
            run(step, view_of(talk(6), decisions=[noted]), context)
        )

    def test_stands_with_the_question_that_was_brought(self):
        """
        Also where a loop goes on for long.
        """
        context = TrimContext(count=words)
        step = Window(3, at_least=3)
        loop = [user("q"), *(assistant(f"s{n}") for n in range(6))]
        noted = Noted(run(step, view_of(loop), context).notes)
        longer = [*loop, assistant("s6"), assistant("s7")]

        assert ["q", "s4", "s5", "s6", "s7"] == texts(
            run(step, view_of(longer, decisions=[noted]), context)
        )
        plain = evolve(step, opening="anywhere")
        noted = Noted(run(plain, view_of(loop), context).notes)
        assert ["s3", "s4", "s5", "s6", "s7"] == texts(
            run(plain, view_of(longer, decisions=[noted]), context)
        )

    def test_counts_what_was_put_in(self):
        """
        After an entry, as any message; at the head, as a pin.
        """

        def dated(view, _):
            return [system("head"), view[0], system("dated"), *view[1:]]

        done = run(chain(dated, Window(4, at_least=9)), view_of(talk(3)), TrimContext(count=words))

        assert (8, 7) == (len(done.messages), done.over.needed)

    def test_reads_no_more_of_a_long_thread_than_it_needs(self):
        """
        What it would gain is known long before all is read.
        """
        memory = Memory(strategy=Window(4, at_least=9), count=words)
        memory.append(*talk(2_000))
        fresh = Memory.from_dict(memory.to_dict(), strategy=Window(4, at_least=9), count=words)
        done = fresh.context()

        assert 4 == len(done.messages)
        assert 100 > done.before.size

    def test_is_strict_where_that_is_asked_for(self):
        """
        What is over the limit is over it.
        """
        with pytest.raises(BudgetError, match="a cut would gain 2 tokens, at_least is 9"):
            run(Window(4, at_least=9, strict=True), view_of(talk(3)), TrimContext(count=words))


class TestAsAValue:
    @pytest.mark.parametrize(
        ("strategy", "shown", "data"),
        [
            (Window(40), "Window(40)", {"use": "Window", "last": 40}),
            (Window(4_000), "Window(4_000)", {"use": "Window", "last": 4_000}),
            (Window(None), "Window(None)", {"use": "Window", "last": None}),
            (
                Window(
                    40,
                    down_to=20,
                    at_least=9_000,
                    opening="next",
                    by="rounds",
                    straddle="keep",
                    pin_system=False,
                    count_pins=True,
                    strict=True,
                    replace=True,
                ),
                (
                    "Window(40, down_to=20, at_least=9_000, opening='next', by='rounds', "
                    "straddle='keep', pin_system=False, count_pins=True, strict=True, replace=True)"
                ),
                {
                    "use": "Window",
                    "last": 40,
                    "down_to": 20,
                    "at_least": 9_000,
                    "opening": "next",
                    "by": "rounds",
                    "straddle": "keep",
                    "pin_system": False,
                    "count_pins": True,
                    "strict": True,
                    "replace": True,
                },
            ),
        ],
        ids=["plain", "grouped", "none", "all"],
    )
    def test_shows_itself_and_goes_to_data(self, strategy, shown, data):
        """
        A repr evaluates back, data is read back.
        """
        assert (shown, data) == (repr(strategy), to_data(strategy))
        assert strategy == eval(shown, {"Window": Window})  # noqa: S307  our own repr
        assert strategy == from_data(data)
        assert hash(strategy) == hash(from_data(data))

    @pytest.mark.parametrize("last", [0, -1, 1.5, True, "4"])
    def test_refuses_a_limit_that_is_none(self, last):
        """
        A limit is an int of 1 or more.
        """
        with pytest.raises(ConfigError) as caught:
            Window(last)

        assert str(caught.value) == (
            f"Window: `last` must be an int of 1 or more, or None for no limit, got {last!r}"
        )
