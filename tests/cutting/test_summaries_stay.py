"""
Summaries leave last, whatever cuts, and what a summary is.
"""

import pytest
from attrs import evolve

from unabridged import (
    Budget,
    ClipMessages,
    MaxRounds,
    Memory,
    MergeRuns,
    Sections,
    Share,
    Summarize,
    TokenBudget,
    Window,
    assistant,
    chain,
    run,
    system,
    user,
)
from unabridged.contract import TrimContext
from unabridged.records import Compacted, Fold
from unabridged.results import fold, rewrite
from unabridged.spans import Span
from unabridged.stores import SqliteStore
from unabridged.testing import replies, talk, texts, view_of
from unabridged.tokens import words

WORDS = TrimContext(count=words)
FIVE = "they met and he asked"


def folded(*folds, rounds=4, messages=()):
    """
    A view in which these stand in for what is old.
    """
    return view_of([*talk(rounds), *messages], decisions=[Compacted(folds, 99)])


def told(first, last, text=FIVE, **options):
    return Fold(Span.between(first, last), user(text), **options)


class TestTokenBudget:
    @pytest.mark.parametrize(
        ("limit", "expected"),
        [
            (11, [FIVE, "q2", "a2", "q3", "a3", "q4", "a4"]),
            (10, [FIVE, "q3", "a3", "q4", "a4"]),
            (9, [FIVE, "q3", "a3", "q4", "a4"]),
            (8, [FIVE, "q4", "a4"]),
            (7, [FIVE, "q4", "a4"]),
            (6, ["q2", "a2", "q3", "a3", "q4", "a4"]),
            (4, ["q3", "a3", "q4", "a4"]),
        ],
    )
    def test_gives_up_messages_before_a_summary(self, limit, expected):
        """
        The oldest first; only where it does not fit beside what must stay does a summary leave.
        """
        assert expected == texts(run(TokenBudget(limit), folded(told(1, 2)), WORDS))

    def test_names_the_entries_that_nothing_tells_of_any_more(self):
        """
        In a warning, with what would have been needed.
        """
        done = run(TokenBudget(6), folded(told(1, 2)), WORDS)

        assert done.over is None
        (why,) = done.warnings
        assert why == (
            "step TokenBudget(6): the summary of entries 1-2 left, and nothing tells of them now: "
            "with what must stay it is 7 tokens, the limit is 6; raise the limit, or let the "
            "summary be shorter"
        )

    @pytest.mark.parametrize(
        "options",
        [
            {"by": "rounds"},
            {"straddle": "keep"},
            {"down_to": 3},
            {"opening": "next"},
            {"opening": "anywhere"},
            {"pin_system": False},
            {"at_least": 1},
            {"clip": ClipMessages(3)},
        ],
        ids=str,
    )
    def test_keeps_it_under_every_option(self, options):
        """
        Whatever else is asked of the cut.
        """
        done = run(TokenBudget(8, **options), folded(told(1, 2)), WORDS)

        assert FIVE == texts(done)[0]
        assert () == done.warnings

    def test_holds_a_share(self):
        """
        A share of the memory's budget is a limit as any other.
        """
        context = evolve(WORDS, budget=Budget(12))

        assert 9 == context.budget.history
        assert [FIVE, "q3", "a3", "q4", "a4"] == texts(
            run(TokenBudget(share=1.0), folded(told(1, 2)), context)
        )

    def test_of_several_keeps_the_newest(self):
        """
        A larger limit never lets go of one that a smaller keeps.
        """
        view = folded(told(1, 2), told(3, 4, "then he left"))
        shown = {limit: texts(run(TokenBudget(limit), view, WORDS)) for limit in (4, 5, 9, 10)}

        assert {
            4: ["q3", "a3", "q4", "a4"],
            5: ["then he left", "q4", "a4"],
            9: ["then he left", "q3", "a3", "q4", "a4"],
            10: [FIVE, "then he left", "q4", "a4"],
        } == shown

    def test_gives_it_up_for_what_must_stay(self):
        """
        A pin and the newest user message come before it.
        """
        view = view_of(
            [system("be kind to all"), *talk(2)], decisions=[Compacted((told(2, 3),), 99)]
        )

        assert ["be kind to all", "q2", "a2"] == texts(run(TokenBudget(10), view, WORDS))
        assert ["be kind to all", FIVE, "q2", "a2"] == texts(run(TokenBudget(11), view, WORDS))

    def test_clips_what_must_stay_before_it_lets_go_of_one(self):
        """
        Where clips make the room that it needs; else nothing is clipped for it.
        """
        long = assistant("word " * 40)
        clipped = TokenBudget(45, clip=ClipMessages(20))
        view, vast = (
            folded(told(1, 2, text), rounds=1, messages=[user("q2"), long])
            for text in (FIVE, "word " * 30)
        )

        assert [FIVE, "q2"] == texts(run(clipped, view, WORDS))[:2]
        assert ["q2", long.text] == texts(run(clipped, vast, WORDS))


class TestOtherCuts:
    def test_a_window_counts_it_as_a_message(self):
        """
        And lets go of it only where what must stay fills the window.
        """
        view = folded(told(1, 2))

        assert [FIVE, "q3", "a3", "q4", "a4"] == texts(run(Window(5), view))
        assert [FIVE, "q4", "a4"] == texts(run(Window(3), view))
        assert ["q4", "a4"] == texts(run(Window(2), view))
        assert "the summary of entries 1-2 left" in run(Window(2), view).warnings[0]

    def test_rounds_do_not_count_it(self):
        """
        It is no round.
        """
        assert [FIVE, "q4", "a4"] == texts(run(MaxRounds(1), folded(told(1, 2))))

    @pytest.mark.parametrize("recent", [Share(), Share(2, 1), Share(9)])
    def test_sections_keep_it_before_messages(self, recent):
        """
        Whatever share the recent rest has.
        """
        view = folded(told(1, 2))
        shown = [texts(run(Sections(n, recent=recent), view, WORDS)) for n in (9, 7, 6)]

        assert [
            [FIVE, "q3", "a3", "q4", "a4"],
            [FIVE, "q4", "a4"],
            ["q2", "a2", "q3", "a3", "q4", "a4"],
        ] == shown
        assert "the summary of entries 1-2 left" in run(Sections(6), view, WORDS).warnings[0]


class TestWhatASummaryIs:
    def test_what_summarize_makes_is_one(self):
        """
        Also where it only projects, stands for one entry, or is one of a tree.
        """
        steps = Summarize(2, label="") | TokenBudget(3)

        assert ["S", "q2", "a2"] == texts(run(steps, view_of(talk(2)), WORDS, replies("S")))
        alone = view_of([system("be kind"), user("q1"), *talk(1, 2)])
        steps = Summarize(2, label="") | TokenBudget(5)
        assert ["be kind", "S", "q2", "a2"] == texts(run(steps, alone, WORDS, replies("S")))

    def test_what_a_custom_fold_makes_is_one(self):
        """
        Unless it says that it is not.
        """

        def short(view, _ctx, summary=None):
            return fold(view, view[:2], into=system("S S"), reason="old", summary=summary)

        def joined(view, ctx):
            return short(view, ctx, summary=False)

        assert ["S S", "q3", "a3"] == texts(
            run(chain(short, TokenBudget(4)), view_of(talk(3)), WORDS)
        )
        assert ["q2", "a2", "q3", "a3"] == texts(
            run(chain(joined, TokenBudget(4)), view_of(talk(3)), WORDS)
        )

    def test_what_merge_runs_joins_is_none(self):
        """
        It holds the messages themselves.
        """
        view = view_of([user("a b"), user("c d"), assistant("e"), *talk(1)])

        assert ["e", "q1", "a1"] == texts(
            run(MergeRuns() | TokenBudget(3, opening="anywhere"), view, WORDS)
        )

    def test_a_reworded_one_still_is(self):
        """
        Whoever rewords it: a step, or a function.
        """
        view = folded(Fold(Span.one(1), user(FIVE), summary=True), rounds=3)

        def shorter(view, _ctx):
            return rewrite(view, {view[0]: user("they met")}, reason="shorter")

        def listed(view, _ctx):
            return [evolve(view[0], message=user("they met")), *view[1:]]

        for step in (shorter, listed):
            assert ["they met", "q3", "a3"] == texts(run(chain(step, TokenBudget(4)), view, WORDS))

    def test_one_in_the_log_is_one_after_a_restart(self, tmp_path):
        """
        Also one that stands for a single entry, and is not among the newest.
        """
        steps = Summarize(2, label="", replace=True)
        with Memory.open(
            tmp_path / "a.db", strategy=steps, count=words, ask=replies("S")
        ) as memory:
            memory.append(user("alone"), *talk(1))
            assert ["S", "q1", "a1"] == texts(memory.context())
            memory.append(*talk(200, 2))
        with Memory.open(tmp_path / "a.db", strategy=TokenBudget(5), count=words) as memory:
            assert ["S", "q200", "a200", "q201", "a201"] == texts(memory.context())

    def test_what_is_left_of_one_still_is(self):
        """
        Where another fold took the rest of it.
        """
        taken = Fold(Span.one(1), user("reworded"), summary=False)
        view = folded(told(1, 2), rounds=3)
        left = run(lambda v, _: fold(v, [], into=user(""), reason=""), view).view
        after = view_of(talk(3), decisions=[Compacted((told(1, 2),), 98), Compacted((taken,), 99)])

        assert left == view
        assert [FIVE] == [item.message.text for item in after.summaries]

    def test_a_store_keeps_what_a_fold_says_of_itself(self, tmp_path):
        """
        In the record and in the state.
        """
        path = tmp_path / "a.db"
        joined = Fold(Span.between(1, 2), user("joined"), replace=True, summary=False)
        with Memory.open(path) as memory:
            memory.append(*talk(2))
            memory.store.append("default", [Compacted((joined,), 4)])
        with SqliteStore(path) as store:
            assert (joined,) == store.state("default").folds
            assert () == Memory(store).view().summaries
