"""
One budget shared among what is pinned, what is recalled, and the rest.
"""

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from unabridged import Budget, Sections, Share, assistant, chain, run, system, user
from unabridged.contract import TrimContext
from unabridged.declared import from_data, to_data
from unabridged.errors import BudgetError, ConfigError
from unabridged.records import Drop
from unabridged.results import hold, unchanged
from unabridged.spans import Span
from unabridged.testing import call, check_strategy, result, talk, texts, view_of
from unabridged.tokens import words
from unabridged.views import apply

WORDS = TrimContext(count=words)


def recalling(*entries):
    """
    A step that holds these entries.
    """

    def recall(view, ctx):
        return hold(view, [view[seq - 1] for seq in entries], reason="recalled")

    return recall


def seen(strategy, messages, *entries, **options):
    """
    The words that are left of these messages, *entries* recalled.
    """
    return texts(run(chain(recalling(*entries), strategy), view_of(messages, **options), WORDS))


class TestSections:
    def test_have_nothing_to_do_where_all_fits(self):
        """
        Exactly as many tokens as the limit, or none.
        """
        for strategy, messages in ((Sections(4), talk(2)), (Sections(1), [])):
            view = view_of(messages)

            assert unchanged(view) == run(strategy, view, WORDS)

    def test_cut_as_a_budget_does_where_nothing_is_recalled(self):
        """
        System messages stay and count.
        """
        messages = [system("be brief"), *talk(3)]

        assert ["be brief", "q3", "a3"] == seen(Sections(5), messages)

    def test_let_go_of_what_is_recalled_before_the_rest_by_priority(self):
        """
        What is held is a wish here; whose priority is higher is served first.
        """
        messages = talk(4)

        assert ["q3", "a3", "q4", "a4"] == seen(
            Sections(4, recent=Share(priority=1)), messages, 1, 2
        )
        assert ["q1", "a1", "q4", "a4"] == seen(
            Sections(4, recalled=Share(priority=1)), messages, 1, 2
        )

    def test_give_each_its_floor_first(self):
        """
        Whatever the priorities; what the floors leave goes by them.
        """
        step = Sections(6, recalled=Share(2), recent=Share(2, priority=1))

        assert ["q2", "a2", "q4", "a4", "q5", "a5"] == seen(step, talk(5), 1, 2, 3, 4)

    def test_give_floors_that_do_not_fit_by_priority(self):
        """
        The first takes its whole floor.
        """
        shares = {"recalled": Share(4), "recent": Share(4)}

        assert ["q4", "a4", "q5", "a5"] == seen(
            Sections(4, **shares | {"recent": Share(4, priority=1)}), talk(5), 1, 2
        )
        assert ["q1", "a1", "q5", "a5"] == seen(
            Sections(4, **shares | {"recalled": Share(4, priority=1)}), talk(5), 1, 2
        )

    def test_leave_no_room_unused(self):
        """
        What one section does not want another gets, and a block that is too long is passed over.
        """
        messages = [user("a"), user("b b b b b"), user("c"), *talk(2)]
        step = Sections(5, recalled=Share(priority=1))

        assert ["a", "c", "q2", "a2"] == seen(step, messages, 1, 2, 3)
        assert ["q1", "a1", "q2", "a2"] == seen(Sections(4, recalled=Share(9)), talk(2))

    def test_keep_the_best_scored_of_what_is_recalled(self):
        """
        Of equal ones the newest.
        """
        messages = talk(4)
        held = run(recalling(1, 2, 3, 4), view_of(messages), WORDS).view
        scored = held.replaced(
            [evolve(item, score=1 / item.first) for item in held], sources=held.sources
        )

        assert ["q1", "a1", "q4", "a4"] == texts(run(Sections(4, recalled=Share(2)), scored, WORDS))

        assert ["q2", "a2", "q4", "a4"] == seen(
            Sections(4, recalled=Share(2)), messages, 1, 2, 3, 4
        )

    def test_bring_the_question_of_what_is_recalled(self):
        """
        It counts as recalled, and where both do not fit neither is kept.
        """
        step = Sections(4, recalled=Share(2))

        assert ["q1", "a1", "q4", "a4"] == seen(step, talk(4), 2)
        assert ["q4", "a4"] == seen(Sections(3, recalled=Share(1)), talk(4), 2)

    def test_keep_a_call_with_its_result(self):
        """
        A block is recalled whole.
        """
        messages = [user("q"), call("c1", text="so"), result("c1"), *talk(3)]
        step = Sections(8, recalled=Share(5))

        assert ["q", "so", "found", "q3", "a3"] == seen(step, messages, 3)

    def test_let_go_of_system_messages_where_that_is_asked_for(self):
        """
        The newest stay that fit; what is pinned by hand stays.
        """
        messages = [system("a a"), system("b b"), user("pinned"), *talk(2)]
        step = Sections(5, system=Share(priority=1), pin_system=False)

        assert ["b b", "pinned", "q2", "a2"] == seen(step, messages, pinned=[3])
        assert ["a a", "b b", "pinned", "q2", "a2"] == seen(Sections(5), messages, pinned=[3])
        newest = [assistant("so"), system("mind")]
        assert ["so", "mind"] == seen(Sections(2, pin_system=False), newest)
        assert ["mind"] == seen(Sections(1, pin_system=False), [*talk(1), *newest])[-1:]

    def test_say_what_is_over(self):
        """
        Where pins and the newest message alone do not fit; nothing that is held stays then.
        """
        messages = [system("one two three"), *talk(3)]
        done = run(chain(recalling(2), Sections(3)), view_of(messages), WORDS)

        assert ["one two three", "q3", "a3"] == texts(done)
        assert (3, 5) == (done.over.limit, done.over.needed)
        assert ("entry 1 (3): pinned by role") in done.over.what
        with pytest.raises(BudgetError, match="5 tokens must stay, 2 over the limit of 3"):
            run(Sections(3, strict=True), view_of(messages), WORDS)

    def test_give_a_reason_for_each_section(self):
        """
        One drop each, of the last step.
        """
        step = Sections(2, replace=True)
        done = run(chain(recalling(1), step), view_of(talk(3)), WORDS)

        assert done.changes[1:] == (
            Drop(
                Span.one(1),
                reason="over the recalled share of a budget of 2 tokens",
                step=repr(step),
                replace=True,
            ),
            Drop(
                Span.between(2, 4),
                reason="over the recent share of a budget of 2 tokens",
                step=repr(step),
                replace=True,
            ),
        )

    def test_share_what_the_budget_leaves_for_the_history(self):
        """
        Where no limit is given; without either the message says what to give.
        """
        context = TrimContext(Budget(9, reply=4, priming=3), words)

        assert ["q3", "a3"] == texts(run(Sections(), view_of(talk(3)), context))
        with pytest.raises(ConfigError) as caught:
            run(Sections(), view_of(talk(1)), WORDS)
        assert str(caught.value) == (
            "step Sections(): give `limit`, or a budget to the memory, as in "
            "Memory(budget=Budget(128_000, reply=4_000))"
        )

    def test_never_let_go_of_the_newest_question(self):
        """
        Nor of what waits for a result, though it is held.
        """
        messages = [*talk(2), user("one two three"), call("c1"), user("so?")]

        assert ["q2", "a2", "one two three", "", "so?"] == seen(Sections(7), messages, 1, 5, 6, 7)


SAID = st.lists(st.sampled_from(("one", "one two", "one two three")), min_size=2, max_size=9)
SHARES = st.builds(Share, st.integers(0, 9), st.integers(0, 2))


class TestShares:
    def test_pass_over_pins_that_have_left(self):
        """
        What is not in the view wants nothing.
        """
        view = apply(view_of(talk(3), pinned=[1]), [Drop(Span.one(1))])

        assert ["q3", "a3"] == texts(run(Sections(2), view, WORDS))

    @given(SAID, st.sets(st.integers(1, 9)), st.integers(3, 20), SHARES, SHARES, SHARES)
    def test_are_kept(self, said, held, limit, pinned, recalled, recent):  # noqa: PLR0913
        """
        Each section gets its floor if the floors fit, and no room is left that one wants.
        """
        messages = [system("be brief"), *map(user, said)]
        entries = {seq + 1 for seq in held if seq < len(said)}  # of the newest none
        view = run(recalling(*entries), view_of(messages), WORDS).view
        step = Sections(limit, system=pinned, recalled=recalled, recent=recent)
        done = run(step, view, WORDS)
        sizes = {item.first: words(item.message) for item in view}
        kept = [item.first for item in done.view]
        total = sum(sizes[seq] for seq in kept)
        out = [seq for seq in sizes if seq not in kept]
        newest = max(sizes)
        must = 2 + sizes[newest]
        if must > limit:
            assert (limit, must, [1, newest]) == (done.over.limit, done.over.needed, kept)
            return

        assert done.over is None
        assert total <= limit
        wants = [seq for seq in out if seq in entries]
        older = [seq for seq in out if seq not in entries][-1:]
        assert [] == [seq for seq in wants + older if total + sizes[seq] <= limit]
        if max(2, pinned.floor) + recalled.floor + max(recent.floor, sizes[newest]) <= limit:
            used = sum(sizes[seq] for seq in kept if seq in entries)
            assert [] == [seq for seq in wants if used + sizes[seq] <= recalled.floor]
            used = sum(sizes[seq] for seq in kept if seq not in entries and seq > 1)
            assert [] == [seq for seq in older if used + sizes[seq] <= recent.floor]

    def test_hold_to_every_law(self):
        """
        With and without floors, with system messages that may leave.
        """
        check_strategy(Sections(12, recalled=Share(4), recent=Share(2, 1)), examples=40)
        check_strategy(
            chain(recalling(), Sections(9, system=Share(4, 1), pin_system=False)), examples=40
        )


class TestAsAValue:
    def test_shows_itself_and_goes_to_data(self):
        """
        With every option; shares are dicts there.
        """
        strategy = Sections(
            8_000,
            system=Share(1_000, priority=2),
            recalled=Share(priority=1),
            recent=Share(2_000),
            count=words,
            pin_system=False,
            strict=True,
            replace=True,
        )

        assert repr(strategy) == (
            "Sections(8_000, system=Share(1_000, priority=2), recalled=Share(priority=1), "
            "recent=Share(2_000), count=tokens.words, pin_system=False, strict=True, replace=True)"
        )
        assert strategy == from_data(to_data(strategy))
        assert {"use": "Share", "floor": 2_000} == to_data(strategy)["recent"]
        assert (Sections(), "Sections()") == (from_data("Sections"), repr(Sections()))

    def test_refuses_what_is_no_share(self):
        """
        The message shows one.
        """
        for given_, told in (
            (
                lambda: Sections(9, recent=3),
                "Sections: `recent` must be a Share, as in Share(2_000), got 3",
            ),
            (lambda: Share(-1), "Share: `floor` must be an int of 0 or more, got -1"),
            (lambda: Share(1.5), "Share: `floor` must be an int of 0 or more, got 1.5"),
            (
                lambda: Share(1, priority="high"),
                "Share: `priority` must be an int, the highest is first, got 'high'",
            ),
            (
                lambda: Sections(0),
                "Sections: `limit` must be an int of 1 or more, or None for no limit, got 0",
            ),
        ):
            with pytest.raises(ConfigError) as caught:
                given_()

            assert told == str(caught.value)
