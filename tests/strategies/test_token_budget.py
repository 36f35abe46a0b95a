"""
Keeping the newest messages that fit a number of tokens.
"""

import pytest

from unabridged import Budget, TokenBudget, assistant, run, system, user
from unabridged.contract import TrimContext
from unabridged.declared import from_data, to_data
from unabridged.errors import BudgetError, ConfigError
from unabridged.records import Drop, Note, Noted
from unabridged.results import TrimResult, unchanged
from unabridged.spans import Span
from unabridged.testing import call, result, talk, texts, view_of
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
        assert "over the budget of 2 tokens" == done.changes[0].reason
        assert 6 == len(run(step, view_of(talk(6), decisions=[note]), WORDS).messages)
        assert ["q7", "a7"] == texts(run(step, view_of(talk(7), decisions=[note]), WORDS))


class TestShare:
    def test_is_of_what_the_budget_leaves_for_the_history(self):
        """
        Half of ten, less what is kept free.
        """
        context = TrimContext(Budget(14, reply=4), words)

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
        context = TrimContext(Budget(6), words)

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
            down_to=4_000,
            count=words,
            opening="anywhere",
            by="rounds",
            straddle="keep",
            pin_system=False,
            strict=True,
            replace=True,
        )

        assert repr(strategy) == (
            "TokenBudget(8_000, down_to=4_000, count=tokens.words, opening='anywhere', "
            "by='rounds', straddle='keep', pin_system=False, strict=True, replace=True)"
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
