"""
Every law, as a property of every built-in strategy, of chains of them, and of functions.
"""

import itertools

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from unabridged import (
    ClearToolResults,
    ClipArguments,
    ClipMessages,
    ClipToolResults,
    Deduplicate,
    DropReasoning,
    Filter,
    HeadAndTail,
    MaxRounds,
    MergeRuns,
    NoCompaction,
    Over,
    Repair,
    Sections,
    Share,
    Sparing,
    Summarize,
    Text,
    TokenBudget,
    When,
    Window,
    system,
    user,
    written_back,
)
from unabridged.results import hold
from unabridged.testing import (
    LAWS,
    laws,
    laws_of_cuts,
    laws_of_living,
    laws_of_loading,
    laws_of_memory,
    laws_of_staying,
    laws_of_summaries,
    laws_of_turning_back,
    logs,
)
from unabridged.tokens import of_text


def answers_in_turn(answers):
    """
    A model that answers so, again and again; None is a failure.
    """
    given_ = itertools.cycle(answers)

    def answer(_):
        text = next(given_)
        if text is None:
            raise TimeoutError
        return text

    return answer


models = st.lists(
    st.sampled_from((None, "", "<think>no", "S", "one two", "far too many words " * 9)),
    min_size=1,
    max_size=4,
).map(answers_in_turn)
LETTERS = of_text(len)
flag = st.booleans()
opening = st.sampled_from(("question", "next", "anywhere"))
by = st.sampled_from(("blocks", "rounds", "whole"))
straddle = st.sampled_from(("drop", "keep"))
low = st.none() | st.integers(1, 6)


def by_rounds(given):
    """
    The options, where "whole" says that the cut is by rounds and keeps the newest whole.
    """
    if given.get("by") != "whole":
        return given

    return {**given, "by": "rounds", "newest": "whole"}


def marked(make, limits, *, down_to=low, **options):
    """
    A strategy with a limit and, below it, perhaps a low mark.
    """

    def built(limit, mark, given):
        return make(limit, down_to=mark if mark and mark < limit else None, **by_rounds(given))

    return st.builds(built, limits, down_to, st.fixed_dictionaries(options))


window_options = {
    "opening": opening,
    "by": by,
    "straddle": straddle,
    "pin_system": flag,
    "count_pins": flag,
    "replace": flag,
    "at_least": st.none() | st.integers(1, 9),
}
budget_options = {key: window_options[key] for key in window_options if key != "count_pins"}
rounds_options = {
    key: window_options[key] for key in ("pin_system", "count_pins", "replace", "at_least")
}
clip_options = {"pins": flag, "replace": flag}
clip_tokens = st.integers(1, 10) | st.integers(11, 16)  # a marker has 11 words and more
clips = (
    st.builds(
        lambda tokens, head, tail, given: ClipToolResults(
            tokens,
            head=head if head is None else min(head, tokens),
            tail=tail if tail is None else min(tail, max(0, tokens - (head or 0))),
            **given,
        ),
        clip_tokens,
        st.none() | st.integers(0, 9),
        st.none() | st.integers(0, 9),
        st.fixed_dictionaries({**clip_options, "exclude": st.sampled_from(((), ("look",)))}),
    )
    | st.builds(ClipArguments, clip_tokens, **clip_options)
    | st.builds(ClipMessages, clip_tokens, newest=flag, **clip_options)
)


some_clips = st.lists(clips, max_size=3)


def cuts(down_to=low, clip=some_clips):
    return (
        marked(Window, st.integers(1, 10), down_to=down_to, **window_options)
        | marked(TokenBudget, st.integers(1, 40), down_to=down_to, clip=clip, **budget_options)
        | marked(MaxRounds, st.integers(1, 5), down_to=down_to, **rounds_options)
        | st.builds(
            lambda share, given: TokenBudget(share=share, **by_rounds(given)),
            st.sampled_from((0.1, 0.5, 1)),
            st.fixed_dictionaries(budget_options),
        )
    )


head_and_tail = st.builds(
    HeadAndTail,
    st.integers(1, 4),
    st.integers(1, 6),
    opening=opening,
    pin_system=flag,
    count_pins=flag,
    replace=flag,
)
summary_options = {
    "every": st.integers(1, 3),
    "tree": st.none() | st.integers(2, 3),
    "min_gain": st.sampled_from((0.0, 0.2)),
    "window": st.none() | st.integers(20, 60),  # words; a line of a short message has 6
    "max_tokens": st.none() | st.integers(1, 3),
    "prompt": st.just("Sum."),
    "guard_size": flag,
    "label": st.sampled_from(("", "So far:")),
    "pin_system": flag,
    "replace": flag,
    "role": st.sampled_from(("system", "user", "assistant")),
    "opening": st.sampled_from(("question", "next")),
    "by": st.sampled_from(("blocks", "rounds")),
}
total_options = {
    **summary_options,
    "tree": st.none(),
    "max_tokens": st.none() | st.just(1),
}
summaries = (
    marked(Summarize, st.integers(1, 6), **summary_options)
    | marked(
        lambda limit, **given: Summarize(keep_rounds=limit, **given),
        st.integers(1, 3),
        **summary_options,
    )
    | marked(
        lambda limit, **given: Summarize(keep_tokens=limit, **given),
        st.integers(1, 30),
        **summary_options,
    )
    | marked(
        lambda limit, **given: Summarize(within=limit, **given),
        st.integers(8, 40),
        down_to=st.none() | st.integers(11, 20),
        **total_options,
    )
)


clearing = st.builds(
    ClearToolResults,
    st.none() | st.integers(0, 3),
    keep_tokens=st.none() | st.integers(0, 40),
    at_least=st.none() | st.integers(1, 9),
    exclude=st.sampled_from(((), (), ("look",))),
    inputs=flag,
    replace=flag,
    count=st.none() | st.just(LETTERS),  # a marker has fewer words than only the longest texts
) | st.builds(
    Deduplicate,
    min_tokens=st.integers(1, 20),
    replace=flag,
    count=st.none() | st.just(LETTERS),
)


def is_long(item):
    return len(item.message.text) > 12


def is_answer(item):
    return item.message.role in {"assistant", "tool"} and "yes" in item.message.text


mending = (
    st.builds(Repair, replace=flag)
    | st.builds(DropReasoning, st.integers(0, 2), replace=flag)
    | st.builds(MergeRuns, replace=flag)
)
kinds = ("text", "reasoning", "call", "result")
conditions = (
    st.fixed_dictionaries({"role": st.sampled_from(("user", "assistant", ("tool", "system")))})
    | st.fixed_dictionaries({"kind": st.sampled_from(kinds)})
    | st.fixed_dictionaries({"kind": st.sampled_from(kinds), "where": st.just(is_long)})
    | st.just({"name": "look"})
)
filters = st.builds(
    lambda given, matching, replace: Filter(**given, matching=matching, replace=replace),
    conditions,
    st.sampled_from(("keep", "drop")),
    flag,
)
shares = st.builds(Share, st.integers(0, 12), st.integers(0, 2))
sections = st.builds(
    Sections,
    st.none() | st.integers(1, 40),
    system=shares,
    recalled=shares,
    recent=shares,
    pin_system=flag,
    replace=flag,
)
others = head_and_tail | summaries | mending | filters | sections | st.just(NoCompaction())
plain = cuts() | clips | clearing | others
crowded = (
    st.builds(lambda n: Over(messages=n), st.integers(1, 8))
    | st.builds(lambda n: Over(tokens=n), st.integers(1, 30))
    | st.builds(lambda n: Over(rounds=n), st.integers(1, 3))
)
guarded = (
    st.builds(When, crowded, plain)
    | st.builds(lambda step, n: Sparing(step, first=n), plain, st.integers(1, 3))
    | st.builds(
        lambda step, where: Sparing(step, where=where),
        plain,
        st.sampled_from((is_long, is_answer, is_answer)),
    )
)


shortening = cuts() | sections | head_and_tail
tight = st.builds(Sections, st.integers(1, 6), pin_system=flag)
tight_or_other = st.sampled_from((tight, shortening)).flatmap(lambda steps: steps)
spared = st.builds(
    lambda step, where: Sparing(step, where=where),
    tight_or_other,
    st.sampled_from((is_long, is_answer, is_answer)),
) | st.builds(lambda step, n: Sparing(step, first=n), tight_or_other, st.integers(1, 3))
opened = shortening | spared | st.builds(When, crowded, shortening | spared)
"""What brings along the question of what it keeps."""


def without_empty(view, _):
    return [item for item in view if item.message.text]


def last_three(view, _):
    return view.tail(3)


def nothing(_, __):
    return []


def dated(view, _):
    return [system("It is Monday."), *view]


def remarked(view, _):
    for item in view:
        yield item
        if item.message.tool_calls:
            yield system("It calls.")


def recalled(view, _):
    return hold(view, [item for item in view if "one" in item.message.text], reason="recalled")


def clipped(view, _):
    return [evolve(item, message=clip(item)) for item in view]


def clip(item):
    if len(item.sources) != 1:
        return item.message
    parts = [
        Text(part.text[:20]) if isinstance(part, Text) else part for part in item.message.parts
    ]

    return evolve(item.message, parts=parts)


def recapped(view, _):
    return [system("prior summary"), *view.rounds[-1].items] if len(view) else []


def retold(view, _):
    """
    Some items, and words for what lies between.
    """
    for place, item in enumerate(view):
        if place % 4 == 1:
            yield user("and so on")
        if place % 4 == 3:
            yield item


def as_messages(view, _):
    return [item.message for item in view][-3:]


def half_as_messages(view, _):
    return [item.message if place % 2 else item for place, item in enumerate(view)]


functions = st.sampled_from(
    (
        *(without_empty, last_three, nothing, dated, remarked, recalled, clipped),
        *(recapped, retold, as_messages, half_as_messages),
        *(written_back(without_empty), written_back(as_messages)),
    )
)
single = plain | guarded | functions
chains = (
    st.lists(single, min_size=2, max_size=4)
    | st.lists(cuts(), min_size=2, max_size=4)
    | st.tuples(st.just(recalled), sections).map(list)
)
strategies = single | chains
"""A strategy, a function or a chain, with any options."""

telling = (
    summaries
    | st.tuples(single, summaries).map(list)
    | st.tuples(summaries, single).map(list)
    | st.builds(When, crowded, summaries)
)
"""Those that ask a model, of which there are few among all the others."""


deep = logs(16, decided=True, decisions=24)
"""Logs in which much more is decided, taken back, and decided again."""


class TestDeepHistories:
    @given(single, deep)
    def test_undo_takes_back(self, strategy, log):
        """
        Also under many later write-backs, reverts, retractions, rewinds and forks.
        """
        laws_of_turning_back.undo_takes_back(strategy, log)

    @given(single, deep)
    def test_view_at_is_as_it_was(self, strategy, log):
        """
        However often the view changed since.
        """
        laws_of_turning_back.view_at_is_as_it_was(strategy, log)

    @given(single, deep)
    def test_revert_restores(self, strategy, log):
        """
        What is projected after so much is written, reverted and redone.
        """
        laws_of_memory.revert_restores(strategy, log)


class TestLaws:
    def test_all_are_tested(self):
        """
        No law is left out here.
        """
        tested = {name.removeprefix("test_") for name in dir(type(self)) if "test_" in name}

        assert {law.__name__ for law in LAWS} <= tested

    @given(strategies, logs())
    def test_conservation(self, strategy, log):
        """
        Every entry is after in exactly one item, one stand-in, or dropped.
        """
        laws.conservation(strategy, log)

    @given(strategies, logs())
    def test_order(self, strategy, log):
        """
        A view is in the order of appending.
        """
        laws.order(strategy, log)

    @given(strategies, logs())
    def test_pairs_stay_whole(self, strategy, log):
        """
        Calls, results and whole blocks share one fate, also in the log's own view.
        """
        laws_of_staying.pairs_stay_whole(strategy, log)

    @given(strategies, logs())
    def test_hand_pins_stay(self, strategy, log):
        """
        Pins stay with their blocks.
        """
        laws_of_staying.hand_pins_stay(strategy, log)

    @given(strategies, logs())
    def test_compactions_stay(self, strategy, log):
        """
        What a provider summarized stays told.
        """
        laws_of_staying.compactions_stay(strategy, log)

    @given(st.builds(Window, st.integers(1, 2), opening=opening) | tight, logs())
    def test_compactions_stay_where_nearly_all_leaves(self, strategy, log):
        """
        Also in the shortest views.
        """
        laws_of_staying.compactions_stay(strategy, log)

    @given(strategies, logs())
    def test_pending_calls_stay(self, strategy, log):
        """
        A call that waits for its result stays.
        """
        laws_of_staying.pending_calls_stay(strategy, log)

    @given(strategies, logs())
    def test_newest_user_stays(self, strategy, log):
        """
        The newest user message stays, except where any cut is allowed.
        """
        laws_of_staying.newest_user_stays(strategy, log)

    @given(strategies, logs())
    def test_input_untouched(self, strategy, log):
        """
        The view that is given is as it was.
        """
        laws.input_untouched(strategy, log)

    @given(strategies, logs())
    def test_same_result(self, strategy, log):
        """
        The same view and context give the same result.
        """
        laws.same_result(strategy, log)

    @given(strategies, logs())
    def test_never_empty(self, strategy, log):
        """
        No view is trimmed to nothing.
        """
        laws_of_staying.never_empty(strategy, log)

    @given(strategies, logs())
    def test_valid(self, strategy, log):
        """
        Trimming adds no pairing problem.
        """
        laws_of_staying.valid(strategy, log)

    @given(strategies, logs())
    def test_sync_equals_async(self, strategy, log):
        """
        Both drivers give the same result.
        """
        laws.sync_equals_async(strategy, log)

    @given(single | st.lists(cuts(), min_size=2, max_size=4), logs())
    def test_idempotence(self, strategy, log):
        """
        A second run changes nothing.
        """
        laws_of_cuts.idempotence(strategy, log)

    @given(cuts(), logs())
    def test_within_the_limit_or_over_says(self, strategy, log):
        """
        A cut is within its limit, or says by how much it is not.
        """
        laws_of_cuts.within_the_limit_or_over_says(strategy, log)

    @given(cuts() | st.lists(opened, min_size=1, max_size=4), logs())
    def test_openers_stay(self, strategy, log):
        """
        What is kept brings the question that opened its round.
        """
        laws_of_cuts.openers_stay(strategy, log)

    @given(spared, logs())
    def test_openers_stay_in_guards(self, strategy, log):
        """
        What is spared brings its question as what is pinned does.
        """
        laws_of_cuts.openers_stay(strategy, log)
        laws_of_staying.valid(strategy, log)

    @given(strategies, logs())
    def test_write_back_shows_projection(self, strategy, log):
        """
        The log's own view is what was projected, once that is written.
        """
        laws_of_memory.write_back_shows_projection(strategy, log)

    @given(strategies, logs())
    def test_revert_restores(self, strategy, log):
        """
        A reverted write-back is as if it had not been.
        """
        laws_of_memory.revert_restores(strategy, log)

    @given(summaries, logs(), models)
    def test_write_back_shows_projection_whatever_a_model_does(self, strategy, log, ask):
        """
        Also where some of its answers fail, are empty, or too long.
        """
        laws_of_memory.write_back_shows_projection(strategy, log, ask=ask)

    @given(summaries, logs(), models)
    def test_revert_restores_whatever_a_model_does(self, strategy, log, ask):
        """
        The same of undoing.
        """
        laws_of_memory.revert_restores(strategy, log, ask=ask)

    @given(summaries, logs())
    def test_failure_changes_nothing(self, strategy, log):
        """
        A model that fails changes nothing.
        """
        laws_of_memory.failure_changes_nothing(strategy, log)

    @given(strategies, logs())
    def test_memory_equals_pure(self, strategy, log):
        """
        What is loaded little by little gives what the whole view gives.
        """
        laws_of_loading.memory_equals_pure(strategy, log)

    @given(strategies, logs())
    def test_lives_as_fresh(self, strategy, log):
        """
        A memory that lived through everything shows what a fresh one shows.
        """
        laws_of_living.lives_as_fresh(strategy, log)

    @given(cuts(down_to=st.integers(1, 6)) | summaries, logs(decided=True, decisions=12))
    def test_lives_as_fresh_with_notes(self, strategy, log):
        """
        Also where much is decided beside low marks and answers.
        """
        laws_of_living.lives_as_fresh(strategy, log)

    @given(strategies, logs())
    def test_state_equals_rebuilt(self, strategy, log):
        """
        A store's state is what its records come to.
        """
        laws_of_memory.state_equals_rebuilt(strategy, log)

    @given(strategies, logs(), models)
    def test_coverage(self, strategy, log, ask):
        """
        Each message is kept, told after it was shown whole once, or named as dropped.
        """
        laws_of_summaries.coverage(strategy, log, ask=ask)

    @given(telling, logs(), models | st.just(answers_in_turn(["S"])))
    def test_coverage_of_what_tells(self, strategy, log, ask):
        """
        The same where there is always a summary, alone or beside another step.
        """
        laws_of_summaries.coverage(strategy, log, ask=ask)

    @given(strategies, logs())
    def test_view_at_is_as_it_was(self, strategy, log):
        """
        Time travel shows what was shown then.
        """
        laws_of_turning_back.view_at_is_as_it_was(strategy, log)

    @given(strategies, logs())
    def test_undo_takes_back(self, strategy, log):
        """
        Any decision can be reverted at any depth, and that too.
        """
        laws_of_turning_back.undo_takes_back(strategy, log)

    @given(strategies, logs())
    def test_forks_share_and_stay_apart(self, strategy, log):
        """
        A fork has all that was, and nothing that comes.
        """
        laws_of_turning_back.forks_share_and_stay_apart(strategy, log)

    @given(cuts(down_to=st.none(), clip=st.just(())), logs(), st.integers(1, 6))
    def test_monotone(self, strategy, log, more):
        """
        A larger limit keeps all that a smaller one keeps; with clips, a smaller may keep more.
        """
        laws_of_cuts.monotone(strategy, log, more=more)

    @given(summaries, logs(), models)
    def test_within_or_over_says(self, strategy, log, ask):
        """
        One total for pins, summary and what is kept.
        """
        laws_of_summaries.within_or_over_says(strategy, log, ask=ask)

    @given(summaries, logs())
    def test_opens_on_next(self, strategy, log):
        """
        After a summary a question comes first, where that is asked for and there is one.
        """
        laws_of_summaries.opens_on_next(strategy, log)

    @given(cuts(down_to=st.none()), logs())
    def test_summaries_leave_last(self, strategy, log):
        """
        A summary that fits beside what must stay does; one that left is named.
        """
        laws_of_cuts.summaries_leave_last(strategy, log)

    @given(st.lists(single, min_size=3, max_size=3), logs())
    def test_algebra(self, steps, log):
        """
        However a chain is written, it is the same value and gives the same result.
        """
        laws.algebra(steps, log)
