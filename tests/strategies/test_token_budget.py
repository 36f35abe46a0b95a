"""
Keeping the newest messages that fit a number of tokens.
"""

import pytest
from attrs import evolve
from hypothesis import given, settings

from unabridged import (
    Budget,
    ClipMessages,
    ClipToolResults,
    Memory,
    TokenBudget,
    Window,
    assistant,
    run,
    system,
    user,
)
from unabridged.contract import TrimContext
from unabridged.declared import from_data, to_data
from unabridged.errors import BudgetError, ConfigError, CountError
from unabridged.records import Drop, Fold, Note, Noted
from unabridged.results import TrimResult, unchanged
from unabridged.spans import Span
from unabridged.testing import (
    LAWS,
    call,
    check_strategy,
    logs,
    result,
    talk,
    texts,
    view_of,
)
from unabridged.tokens import exact, of_text, quarter, words

WORDS = TrimContext(count=words)
LETTERS = of_text(len)


def seen(strategy, messages, context=WORDS, **options):
    """
    The words that are left of these messages.
    """
    return texts(run(strategy, view_of(messages, **options), context))


class TestTokenBudget:
    def test_has_nothing_to_do_where_all_fits(self):
        """
        Exactly as many tokens as the limit, fewer, none, or no limit.
        """
        for strategy, messages in (
            (TokenBudget(4), talk(2)),
            (TokenBudget(9), talk(2)),
            (TokenBudget(1), []),
            (TokenBudget(None), talk(9)),
            (TokenBudget(), talk(9)),
        ):
            view = view_of(messages)

            assert unchanged(view) == run(strategy, view, WORDS)

    def test_keeps_the_newest_that_fit(self):
        """
        One drop, with a reason that holds the number.
        """
        view = view_of([user("one two three"), assistant("four"), *talk(1)])

        assert TrimResult(
            view,
            (
                Drop(
                    Span.between(1, 2),
                    reason="over the budget of 2 tokens",
                    step="TokenBudget(2, replace=True)",
                    replace=True,
                ),
            ),
        ) == run(TokenBudget(2, replace=True), view, WORDS)

    def test_stops_at_the_first_block_that_does_not_fit(self):
        """
        A short one before it would fit, and is not taken: what is kept has no hole.
        """
        messages = [user("a"), assistant("b"), assistant("long long long"), *talk(1)]

        assert ["q1", "a1"] == seen(TokenBudget(4), messages)

    def test_counts_to_the_token(self):
        """
        The edge: one token less loses a round.
        """
        messages = [user("one two"), assistant("three"), user("four five"), assistant("six")]

        assert 4 == len(seen(TokenBudget(6), messages))
        assert ["four five", "six"] == seen(TokenBudget(5), messages)

    def test_counts_the_question_that_is_brought(self):
        """
        The answer alone would fit; the question with it does not.
        """
        messages = [user("a long long question"), assistant("one"), assistant("two"), *talk(1)]

        assert ["q1", "a1"] == seen(TokenBudget(4), messages)
        assert ["a long long question", "two", "q1", "a1"] == seen(TokenBudget(7), messages)

    def test_keeps_a_call_with_its_result(self):
        """
        Together they fit or they go.
        """
        messages = [user("q"), call("c1", text="so"), result("c1", "it is found"), assistant("a")]
        count = TrimContext(count=lambda message: len(message.text.split()))

        assert ["q", "a"] == seen(TokenBudget(5, opening="question"), messages, count)
        assert 4 == len(seen(TokenBudget(6), messages, count))

    def test_counts_pins(self):
        """
        A provider bills them like any other message.
        """
        messages = [system("one two"), *talk(2)]

        assert ["one two", "q1", "a1", "q2", "a2"] == seen(TokenBudget(6), messages)
        assert ["one two", "q2", "a2"] == seen(TokenBudget(5), messages)
        assert ["q2", "a2"] == seen(TokenBudget(3, pin_system=False), messages)

    def test_keeps_a_pin_with_its_question(self):
        """
        Both count.
        """
        assert ["q1", "a1", "q3", "a3"] == seen(TokenBudget(5), talk(3), pinned=[2])

    def test_says_what_is_over(self):
        """
        What must stay, by size; what is free of charge is not named.
        """
        messages = [system("one two"), user("three four five"), call("c1"), result("c1", "")]
        count = TrimContext(count=lambda message: len(message.text.split()))
        done = run(TokenBudget(1), view_of(messages), count)

        assert 4 == len(texts(done))
        assert str(done.over) == (
            "5 tokens must stay, 4 over the limit of 1: entry 2 (3): the newest user message; "
            "entry 1 (2): pinned by role"
        )

    def test_refuses_what_is_over_under_strict(self):
        """
        With every number.
        """
        with pytest.raises(BudgetError) as caught:
            run(TokenBudget(1, strict=True), view_of(talk(1)), WORDS)

        assert str(caught.value) == (
            "step TokenBudget(1, strict=True): 2 tokens must stay, 1 over the limit of 1: "
            "entry 2 (1): the newest block; entry 1 (1): the newest user message; "
            "raise the limit, unpin, or clip what is long"
        )

    def test_counts_with_a_counter_of_its_own(self):
        """
        Whatever the memory counts with.
        """
        messages = [user("aaaa bbbb"), assistant("cccc"), user("dddd"), assistant("eeee")]

        assert ["dddd", "eeee"] == seen(TokenBudget(8, count=LETTERS), messages)
        assert 4 == len(seen(TokenBudget(8), messages))

    def test_moves_on_or_is_plain_where_that_is_asked_for(self):
        """
        As a window.
        """
        assert ["q3", "a3"] == seen(TokenBudget(3, opening="next"), talk(3))
        assert ["a2", "q3", "a3"] == seen(TokenBudget(3, opening="anywhere"), talk(3))

    def test_cuts_by_rounds_where_that_is_asked_for(self):
        """
        Half a round is not kept.
        """
        messages = [*talk(1), user("q2"), assistant("b"), assistant("c"), *talk(1, 3)]

        assert ["q2", "c", "q3", "a3"] == seen(TokenBudget(4), messages)
        assert ["q3", "a3"] == seen(TokenBudget(4, by="rounds"), messages)

    def test_widens_over_a_block_where_that_is_asked_for(self):
        """
        And says by how much.
        """
        messages = [*talk(1), user("q2"), call("c1", text="so"), result("c1"), *talk(1, 3)]
        count = TrimContext(count=of_text(lambda text: 1 if text else 0))
        done = run(TokenBudget(3, straddle="keep"), view_of(messages), count)

        assert ["q2", "so", "found", "q3", "a3"] == texts(done)
        assert 2 == done.over.by

    def test_cuts_to_the_low_mark_and_stands_there(self):
        """
        Until the high mark is passed again.
        """
        step = TokenBudget(6, down_to=2)
        done = run(step, view_of(talk(4)), WORDS)
        note = Noted(done.notes)

        assert (["q4", "a4"], (Note("cut", repr(step), {"first": 7}),)) == (
            texts(done),
            done.notes,
        )
        assert "over the budget of 6 tokens, down to 2" == done.changes[0].reason
        assert 6 == len(run(step, view_of(talk(6), decisions=[note]), WORDS).messages)
        assert ["q7", "a7"] == texts(run(step, view_of(talk(7), decisions=[note]), WORDS))


ROWS = " ".join(f"row{n}" for n in range(500))


def spoken(message):
    """
    A counter of words without the ids of calls.
    """
    return len(message.text.split())


SPOKEN = TrimContext(count=spoken)
HUGE = [*talk(2), user("q"), call("c1"), result("c1", ROWS)]


class TestClip:
    def test_is_not_used_where_what_must_stay_fits(self):
        """
        An old result leaves whole, as without it.
        """
        messages = [user("q"), call("c1"), result("c1", ROWS), *talk(2)]
        plain = run(TokenBudget(9), view_of(messages), SPOKEN)
        done = run(TokenBudget(9, clip=ClipToolResults(20)), view_of(messages), SPOKEN)

        assert texts(plain) == texts(done)
        assert [Drop] == [type(change) for change in done.changes]

    def test_shortens_what_must_stay(self):
        """
        Then the cut is as usual; each change says what it is for.
        """
        step = TokenBudget(25, clip=(ClipToolResults(20),))
        done = run(step, view_of(HUGE), SPOKEN)

        assert 25 == done.tokens == sum(map(spoken, done.messages))
        assert done.over is None
        assert ["q1", "a1", "q2", "a2", "q"] == texts(done)[:5]
        assert ["clipped by ClipToolResults(20), over the budget of 25 tokens"] == [
            change.reason for change in done.changes
        ]
        assert (repr(step), Span.one(7)) == (done.changes[0].step, done.changes[0].sources)

    def test_is_used_in_order_until_it_fits(self):
        """
        And no further.
        """
        clips = (ClipToolResults(60), ClipToolResults(30), ClipToolResults(20))
        done = run(TokenBudget(40, clip=clips), view_of(HUGE), SPOKEN)

        assert 30 == spoken(done.messages[-1])
        assert [59, 30] == [spoken(change.into) for change in done.changes]
        assert "entry 7 is reworded by TokenBudget(40, " in done.why(7)

    def test_cuts_too(self):
        """
        Both are in the one result.
        """
        done = run(TokenBudget(22, clip=ClipToolResults(20)), view_of(HUGE), SPOKEN)

        assert [Fold, Drop] == [type(change) for change in done.changes]
        assert "over the budget of 22 tokens" == done.changes[1].reason
        assert (21, 3) == (done.tokens, len(done.messages))

    def test_says_what_is_over_where_it_is_not_enough(self):
        """
        A question is not clipped unless that is asked for.
        """
        messages = [*talk(1), user(ROWS)]
        plain = run(TokenBudget(30, clip=ClipMessages(20)), view_of(messages), SPOKEN)
        newest = run(TokenBudget(30, clip=ClipMessages(20, newest=True)), view_of(messages), SPOKEN)

        assert (500, ()) == (plain.over.needed, plain.changes[1:])
        assert (None, 22) == (newest.over, newest.tokens)
        with pytest.raises(BudgetError, match="470 over the limit of 30"):
            run(TokenBudget(30, strict=True, clip=ClipMessages(20)), view_of(messages), SPOKEN)

    def test_is_written_back(self):
        """
        With the budget's `replace`, or with its own.
        """
        for step in (
            TokenBudget(22, clip=ClipToolResults(20), replace=True),
            TokenBudget(22, clip=ClipToolResults(20, replace=True)),
        ):
            memory = Memory(strategy=step, count=spoken)
            memory.append(*HUGE)
            done = memory.context()

            assert done.messages[-1] == memory.view()[-1].message
            assert ROWS == memory.entries()[-1].message.text

    def test_keeps_the_place_of_a_cut(self):
        """
        A result that is too long comes, is clipped, and what was sent before stays.
        """
        memory = Memory(
            strategy=TokenBudget(40, down_to=10, clip=ClipToolResults(20)), count=spoken
        )
        memory.append(*talk(21))
        before = memory.context()
        memory.append(user("q"), call("c1"), result("c1", ROWS))
        after = memory.context()

        assert before.messages == after.messages[: len(before.messages)]
        assert before.tokens + 21 == after.tokens
        assert (10, 31) == (before.tokens, after.tokens)

    def test_stays_while_a_tool_loop_goes_on(self):
        """
        What was clipped need not stay any more, and still is where it was, as short.
        """
        step = TokenBudget(34, clip=(ClipToolResults(25), ClipToolResults(20)))
        memory = Memory(strategy=step, count=spoken)
        memory.append(*HUGE)
        sent = memory.context().messages
        for n in range(3):
            memory.append(call(f"d{n}"), result(f"d{n}"))
            fresh = Memory.from_dict(memory.to_dict(), strategy=step, count=spoken).context()
            done = memory.context()
            assert fresh.messages == done.messages
            assert sent == done.messages[: len(sent)]
            assert done.kept.messages == len(sent)
            sent = done.messages

        assert ["clipped by ClipToolResults(25), over the budget of 34 tokens"] == [
            change.reason for change in done.changes
        ]

    def test_is_noted_with_the_clips_that_were_used(self):
        """
        As a derived fact: the entries, and how many of the clips.
        """
        step = TokenBudget(22, clip=(ClipToolResults(30), ClipToolResults(20)))
        done = run(step, view_of(HUGE), SPOKEN)
        again = run(step, view_of(HUGE, decisions=[Noted(done.notes)]), SPOKEN)

        assert (Note("clip", repr(step), {"clips": 2}, Span.one(7)),) == done.notes
        assert (done.messages, ()) == (again.messages, again.notes)
        later = view_of([*HUGE, *talk(1, 3)], decisions=[Noted(done.notes)])
        assert ["q3", "a3"] == texts(run(step, later, SPOKEN))
        assert [Drop] == [type(change) for change in run(step, later, SPOKEN).changes]

    def test_keeps_the_laws(self):
        """
        But one: with a smaller limit it may clip, and so keep more messages.
        """
        for law in LAWS:
            if law.__name__ not in {"monotone", "algebra"}:
                step = TokenBudget(99, clip=(ClipToolResults(60), ClipMessages(60, newest=True)))
                hold_to(law, step)


def hold_to(law, step):
    """
    Hold the step to a law, by a counter of letters.
    """

    @settings(max_examples=15)
    @given(logs())
    def holds(log):
        law(step, log, TrimContext(Budget(99), LETTERS))

    holds()


class TestAtLeast:
    def test_makes_no_cut_that_gains_less(self):
        """
        `over` says why the limit is passed.
        """
        done = run(TokenBudget(4, at_least=4), view_of(talk(3)), WORDS)

        assert (6, ()) == (len(done.messages), done.changes)
        assert str(done.over) == (
            "6 tokens must stay, 2 over the limit of 4: a cut would gain 2 tokens, at_least is 4"
        )
        assert ["q3", "a3", "q4", "a4"] == texts(
            run(TokenBudget(4, at_least=4), view_of(talk(4)), WORDS)
        )

    def test_weighs_a_cut_against_the_one_that_stands(self):
        """
        Its note says where it was; what it let go of is no gain.
        """
        step = TokenBudget(4, at_least=4)
        noted = Noted(run(step, view_of(talk(4)), WORDS).notes)

        assert ["q3", "a3", "q4", "a4", "q5", "a5"] == texts(
            run(step, view_of(talk(5), decisions=[noted]), WORDS)
        )
        assert ["q5", "a5", "q6", "a6"] == texts(
            run(step, view_of(talk(6), decisions=[noted]), WORDS)
        )

    def test_goes_with_a_low_mark(self):
        """
        The place of a cut follows from the log, also in another process.
        """
        step = TokenBudget(8, down_to=4, at_least=3)
        memory = Memory(strategy=step, count=words)
        sizes, firsts = [], []
        for message in talk(12):
            memory.append(message)
            fresh = Memory.from_dict(memory.to_dict(), strategy=step, count=words).context()
            done = memory.context()
            assert fresh.messages == done.messages
            sizes.append(len(done.messages))
            firsts.append(done.messages[0].text)

        assert 8 == max(sizes)
        assert ["q1", "q4", "q7", "q10"][: len(set(firsts))] == list(dict.fromkeys(firsts))

    def test_counts_what_clips_gain(self):
        """
        All or nothing.
        """
        step = TokenBudget(25, at_least=400, clip=ClipToolResults(20))
        more = evolve(step, at_least=500)

        assert 25 == run(step, view_of(HUGE), SPOKEN).tokens
        assert () == run(more, view_of(HUGE), SPOKEN).changes
        assert "a cut would gain 480 tokens, at_least is 500" in str(
            run(more, view_of(HUGE), SPOKEN).over
        )

    def test_is_at_least_one_token(self):
        """
        As any number of tokens to be gained.
        """
        with pytest.raises(ConfigError) as caught:
            TokenBudget(9, at_least=0)

        assert str(caught.value) == (
            "TokenBudget: `at_least` must be an int of 1 or more, or None for no limit, got 0"
        )

    def test_keeps_the_laws(self):
        """
        With a low mark and without.
        """
        check_strategy(TokenBudget(12, at_least=5), examples=40)
        check_strategy(TokenBudget(12, down_to=6, at_least=5), examples=40)


class TestCounter:
    @pytest.mark.parametrize("wrong", [-1, 2.5, None, True, "3"])
    def test_that_gives_no_count_is_named_with_the_step_and_the_message(self, wrong):
        """
        Nothing is written, and the next run with another counter is as if it had not been.
        """
        memory = Memory(strategy=TokenBudget(9, count=lambda _: wrong, replace=True), count=words)
        memory.append(*talk(9))
        before = memory.to_dict()
        with pytest.raises(CountError) as caught:
            memory.context()

        assert str(caught.value).startswith("step TokenBudget(9, count=<lambda>, replace=True): ")
        assert f" returned {wrong!r} for the user message 'q9'" in str(caught.value)
        assert before == memory.to_dict()

    def test_that_raises_is_named_with_the_step_and_the_message(self):
        """
        Its error is the cause of the cause.
        """

        def broken(message):
            raise LookupError(message.text)

        with pytest.raises(CountError) as caught:
            run(Window(1, at_least=2), view_of(talk(2)), TrimContext(count=broken))

        assert "step Window(1, at_least=2): counter " in str(caught.value)
        assert " raised LookupError('a1') for the assistant message 'a1'" in str(caught.value)
        assert isinstance(caught.value.__cause__.__cause__, LookupError)


class TestShare:
    def test_is_of_what_the_budget_leaves_for_the_history(self):
        """
        Half of ten: of seventeen, less what is kept free and what opens the reply.
        """
        context = TrimContext(Budget(17, reply=4), words)

        assert 4 == len(run(TokenBudget(share=0.5), view_of(talk(2)), context).messages)
        assert ["q2", "a2", "q3", "a3"] == texts(
            run(TokenBudget(share=0.5), view_of(talk(3)), context)
        )

    def test_is_at_least_one_token(self):
        """
        A small share of a small budget is not none.
        """
        done = run(TokenBudget(share=0.01), view_of(talk(2)), TrimContext(Budget(9), words))

        assert 1 == done.over.limit

    def test_needs_a_budget(self):
        """
        The message says how to give one.
        """
        with pytest.raises(ConfigError) as caught:
            run(TokenBudget(share=0.5), view_of(talk(1)))

        assert str(caught.value) == (
            "step TokenBudget(share=0.5): a share needs the memory's budget; pass budget= to the "
            "memory, as in Memory(budget=Budget(128_000, reply=4_000))"
        )

    def test_refuses_a_low_mark_above_the_share(self):
        """
        Which is known at a run: a mark that is never below would never be used.
        """
        step = TokenBudget(share=0.5, down_to=50)
        context = TrimContext(Budget(103), words)
        with pytest.raises(ConfigError) as caught:
            run(step, view_of(talk(1)), context)

        assert str(caught.value) == (
            "step TokenBudget(share=0.5, down_to=50): `down_to` (50) must be below the share, "
            "which is 50 of the 100 tokens that Budget(103) leaves"
        )
        assert 2 == len(run(step, view_of(talk(1)), TrimContext(Budget(105), words)).messages)

    @pytest.mark.parametrize("share", [0.0, -0.5, 1.5, True, "half"])
    def test_refuses_what_is_no_share(self, share):
        """
        A share is above 0 and at most 1.
        """
        with pytest.raises(ConfigError) as caught:
            TokenBudget(share=share)

        assert str(caught.value) == (
            f"TokenBudget: `share` must be above 0 and at most 1, got {share!r}"
        )

    def test_stands_instead_of_a_limit(self):
        """
        Not beside one.
        """
        with pytest.raises(ConfigError) as caught:
            TokenBudget(100, share=0.5)

        assert "TokenBudget: give `limit` (100) or `share` (0.5), not both" == str(caught.value)

    def test_takes_a_low_mark(self):
        """
        What is over the share is cut down to it.
        """
        context = TrimContext(Budget(9), words)

        assert ["q4", "a4"] == texts(
            run(TokenBudget(share=1, down_to=2), view_of(talk(4)), context)
        )


class TestAsAValue:
    def test_shows_itself_and_goes_to_data(self):
        """
        With every option.
        """
        strategy = TokenBudget(
            8_000,
            clip=ClipToolResults(2_000),
            down_to=4_000,
            at_least=1_000,
            count=words,
            opening="anywhere",
            by="rounds",
            straddle="keep",
            pin_system=False,
            strict=True,
            replace=True,
        )

        assert repr(strategy) == (
            "TokenBudget(8_000, clip=(ClipToolResults(2_000),), down_to=4_000, at_least=1_000, "
            "count=tokens.words, opening='anywhere', by='rounds', straddle='keep', "
            "pin_system=False, strict=True, replace=True)"
        )
        assert strategy == from_data(to_data(strategy))
        assert "words" == to_data(strategy)["count"]

    @pytest.mark.parametrize(
        ("strategy", "data"),
        [
            (TokenBudget(8_000), {"use": "TokenBudget", "limit": 8_000}),
            (TokenBudget(share=0.5), {"use": "TokenBudget", "share": 0.5}),
            (
                TokenBudget(9, count=quarter),
                {"use": "TokenBudget", "limit": 9, "count": "quarter"},
            ),
            (
                TokenBudget(9, count=exact("cl100k_base")),
                {
                    "use": "TokenBudget",
                    "limit": 9,
                    "count": {"use": "exact", "encoding": "cl100k_base"},
                },
            ),
        ],
        ids=["limit", "share", "counter", "exact"],
    )
    def test_goes_to_data_with_its_counter(self, strategy, data):
        """
        A counter of this library has a name there.
        """
        assert data == to_data(strategy)
        assert strategy == from_data(data)

    @pytest.mark.parametrize("limit", [0, 2.5, True])
    def test_refuses_a_limit_that_is_none(self, limit):
        """
        A limit is an int of 1 or more.
        """
        with pytest.raises(ConfigError) as caught:
            TokenBudget(limit)

        assert str(caught.value) == (
            f"TokenBudget: `limit` must be an int of 1 or more, or None for no limit, got {limit!r}"
        )

    def test_refuses_a_counter_that_is_no_function(self):
        """
        A name has to be looked up first.
        """
        with pytest.raises(ConfigError) as caught:
            TokenBudget(9, count="words")

        assert "TokenBudget: `count` must be a function, got str 'words'" == str(caught.value)

    def test_refuses_a_low_mark_that_is_not_below(self):
        """
        The message explains what it is for.
        """
        with pytest.raises(ConfigError) as caught:
            TokenBudget(1_000, down_to=2_000)

        assert str(caught.value) == (
            "TokenBudget: `down_to` (2_000) must be below `limit` (1_000): "
            "it is what a cut cuts down to once `limit` is passed"
        )


class TestNewestWhole:
    def test_keeps_the_newest_round_and_says_what_is_over(self):
        """
        A budget that it does not fit is no reason to halve it; where it fits, older rounds join.
        """
        view = view_of([*talk(2), user("one two"), assistant("three four five")])

        def kept(limit, **options):
            step = TokenBudget(limit, count=words, by="rounds", newest="whole", **options)
            return run(step, view)

        assert ["one two", "three four five"] == texts(kept(4))
        assert (4, 5) == (kept(4).over.limit, kept(4).over.needed)
        assert (["one two", "three four five"], None) == (texts(kept(5)), kept(5).over)
        assert ["q2", "a2"] == texts(kept(7))[:2]
        assert 6 == len(kept(9, down_to=4).messages)
        assert ["one two", "three four five"] == texts(kept(8, down_to=4))
        assert ["one two", "three four five"] == texts(kept(4, opening="anywhere"))
