"""
A counter corrected by what the provider bills.
"""

import pickle
import random
from fractions import Fraction
from functools import partial
from types import FunctionType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged import Memory, NoCompaction, TokenBudget, TrimContext, Window, assistant, run, user
from unabridged.errors import ConfigError, CountError
from unabridged.records import Note
from unabridged.testing import view_of
from unabridged.tokens import Kept, calibrated, exact, kept, of_text, rough, words
from unabridged.tokens.calibrated import Corrected
from unabridged.tokens.fit import MILLION, NO_FIT, Fit, fitted

TEXTS = (
    "yes",
    "What is the weather in Lima, and what will it be tomorrow?",
    "It is mild all year round. " * 12,
    'Here is the code: {"city": "Lima", "country": "PE", "count": 12345}',
    "",
)


class Tally:
    """
    A counter that remembers what it was asked.
    """

    def __init__(self):
        self.asked = []

    def __call__(self, message):
        """
        Ten tokens and one a word.
        """
        self.asked.append(message)
        return 10 + words(message)


class Nameless(Tally):
    """
    A counter that has no hash.
    """

    __hash__ = None


def length(message):
    """
    A token a character.
    """
    return len(message.text)


def talked(memory, turns, bill, counter, first=0):
    """
    Talk for so many turns, each reported; the estimate and the bill of each.
    """
    seeded = random.Random(first)
    told = []
    for turn in range(first, first + turns):
        text = seeded.choice(TEXTS)
        memory.append(user(f"{turn}: {text}"))
        result = memory.context()
        billed = bill(sum(map(counter, result.messages)))
        told.append((result.estimated, billed))
        memory.report_usage(result, input_tokens=billed)
        memory.append(assistant(f"{text} ({turn})"))

    return told


class TestCalibrated:
    @pytest.mark.parametrize(
        "counter", [words, rough, exact(), length], ids=["words", "rough", "exact", "length"]
    )
    @pytest.mark.parametrize("offset", [0, 1, 300, 900])
    @pytest.mark.parametrize("factor", ["0.5", "0.8", "1", "1.3", "2.4"])
    @pytest.mark.parametrize(
        "strategy",
        [NoCompaction(), Window(6), TokenBudget(300, down_to=150), TokenBudget(400)],
        ids=repr,
    )
    def test_is_within_two_percent_after_twenty_turns(self, counter, offset, factor, strategy):
        """
        Whatever the provider's factor, whatever it adds to each request, wherever a cut falls.
        """

        def bill(estimate):
            return max(1, round(Fraction(factor) * estimate) + offset)

        memory = Memory(count=calibrated(counter), strategy=strategy)
        talked(memory, 20, bill, counter)
        for estimated, billed in talked(memory, 10, bill, counter, first=20):
            assert abs(estimated - billed) <= max(2, 0.02 * billed)  # two of rounding

    def test_says_how_far_off_it_was(self):
        """
        Before the first report it is as far off as its counter is, after some it is not.
        """
        told = talked(Memory(count=calibrated(words)), 20, lambda n: round(1.3 * n) + 400, words)
        wrong = [abs(estimated - billed) / billed for estimated, billed in told]

        assert wrong[0] > 0.9
        assert max(wrong[5:]) < 0.02

    def test_three_in_ten_reports_may_be_wrong(self):
        """
        A report with a tenth of the tokens, as when the cached ones were forgotten, does no harm.
        """
        turns = iter(range(1_000))

        def bill(estimate):
            return max(1, round(1.3 * estimate) // (10 if next(turns) % 4 == 1 else 1))

        memory = Memory(count=calibrated(rough))
        talked(memory, 20, bill, rough)
        memory.append(user("and now?"))
        result = memory.context()

        assert 1.3 * sum(map(rough, result.messages)) == pytest.approx(result.estimated, rel=0.02)

    def test_the_correction_is_in_the_log(self, tmp_path):
        """
        It outlives the process and moves with the records; another thread has its own.
        """
        path = tmp_path / "chat.db"
        with Memory.open(path, count=calibrated(words)) as memory:
            talked(memory, 20, lambda n: round(1.3 * n), words)
            expected = memory.context().tokens
        with Memory.open(path, count=calibrated(words)) as memory:
            memory.append(user("more words than before"))

            assert round(1.3 * sum(map(words, memory.context().messages))) == pytest.approx(
                memory.context().tokens, abs=1
            )
            assert expected < memory.context().tokens

            copy = Memory.from_dict(memory.to_dict(), count=calibrated(words))

            assert memory.context().tokens == copy.context().tokens

            other = memory.thread("other")
            other.append(user("one two three"))

            assert 3 == other.context().tokens

    def test_a_function_is_known_again(self):
        """
        By its name: where it lies in memory is not the same in another process.
        """
        counter = calibrated(length)

        assert " at 0x" not in counter.key
        assert length.__qualname__ in counter.key
        assert calibrated(words, model="m").key != calibrated(words).key

    @pytest.mark.parametrize(
        "counter",
        [
            lambda message: len(message.text),
            of_text(lambda text: len(text)),  # noqa: PLW0108  what this is about
            Tally(),
            Tally().__call__,
            partial(lambda factor, message: factor, 2),
        ],
        ids=["lambda", "of_text", "object", "method", "partial"],
    )
    def test_a_counter_without_a_name_needs_a_model(self, counter):
        """
        Two lambdas have one name, and would correct each other.
        """
        with pytest.raises(ConfigError, match=r"has no name by which .* name the model"):
            calibrated(counter)
        named = calibrated(counter, model="a model")

        assert named.key.startswith("a model: ")
        assert " at 0x" not in named.key

    def test_functions_of_two_modules_are_apart(self):
        """
        Also where they share a name; arguments that are bound tell them apart as well.
        """
        other = FunctionType(length.__code__, {"__name__": "another_module"}, "length")

        assert calibrated(length).key != calibrated(other).key
        assert calibrated(partial(length)).key != calibrated(length).key

    def test_models_are_apart(self):
        """
        One thread sent to two models has notes for each.
        """
        store = Memory().store
        one = Memory(store, count=calibrated(words, model="one"))
        two = Memory(store, count=calibrated(words, model="two"))
        one.append(user("a b c d e f g h i j"))
        one.report_usage(one.context(), input_tokens=20)
        two.report_usage(two.context(), input_tokens=12)

        assert [20, 12] == [memory.context().tokens for memory in (one, two)]

    def test_the_notes_are_bounded(self):
        """
        The newest 32 count; a change of the provider's tokenizer is followed.
        """
        memory = Memory(count=calibrated(words))
        talked(memory, 40, lambda n: 2 * n, words)
        talked(memory, 40, lambda n: 3 * n, words, first=40)
        notes = [note for note in memory.view().notes if note.kind == "usage"]

        assert 32 == len(notes)
        assert 3 * sum(map(words, memory.context().messages)) == memory.context().tokens

    def test_only_notes_are_written(self):
        """
        A report changes no message and no view.
        """
        memory = Memory(count=calibrated(words))
        memory.append(user("one two"))
        before = memory.view()
        memory.report_usage(memory.context(), input_tokens=7)

        assert before.messages == memory.view().messages
        assert before.sources == memory.view().sources
        assert 1 == len(memory.entries())

    @pytest.mark.parametrize("kind", [Tally, Nameless])
    def test_each_message_is_counted_once(self, kind):
        """
        Kept counts stay when the correction changes; also of a counter that has no hash.
        """
        tally = kind()
        memory = Memory(count=calibrated(tally, model="m"))
        talked(memory, 20, lambda n: round(1.3 * n), lambda message: 10 + words(message))

        assert 40 - 1 <= len(tally.asked) == len(set(tally.asked)) <= 40

    def test_a_budget_is_of_corrected_tokens(self):
        """
        The counts a strategy adds up are never below what the result says together.
        """
        memory = Memory(count=calibrated(words), strategy=TokenBudget(100))
        talked(memory, 20, lambda n: round(1.3 * n), words)
        result = memory.context()
        added = sum(map(result.count, result.messages))

        assert result.tokens <= added <= 100 or result.over
        assert 1.3 * sum(map(words, result.messages)) == pytest.approx(result.tokens, abs=1)

    def test_the_same_view_gives_the_same_result(self):
        """
        The correction comes from the view's notes, so a run without a memory has it too.
        """
        counter = calibrated(words)
        memory = Memory(count=counter, strategy=TokenBudget(60))
        talked(memory, 20, lambda n: round(1.7 * n) + 9, words)
        view = memory.view()
        context = TrimContext(count=counter.corrected(view.notes))
        results = [run(TokenBudget(60), view, context) for _ in range(2)]

        assert results[0] == results[1]
        assert memory.context().messages == results[0].messages
        assert memory.context().tokens == results[0].tokens

    def test_outside_a_memory_and_as_a_steps_own_it_is_the_plain_counter(self):
        """
        There are no notes there.
        """
        counter = calibrated(words)
        view = view_of([user("one two"), user("three four five")])

        assert 2 == counter(user("one two"))
        assert kept(words) is kept(counter)
        assert "user: three four five" == run(TokenBudget(3, count=counter), view).text()

    def test_is_a_value(self):
        """
        Equal, hashable, to be pickled; a wrong one is refused.
        """
        assert calibrated(words) == calibrated(kept(words))
        assert calibrated(words) != calibrated(words, model="m")
        assert {calibrated(words)} == {calibrated(words)}
        assert "calibrated(exact('o200k_base'))" == repr(calibrated(exact()))
        assert "calibrated(tokens.words, model='m')" == repr(calibrated(words, model="m"))
        assert "estimate" == calibrated(exact()).bound
        assert calibrated(words, model="m") == pickle.loads(
            pickle.dumps(calibrated(words, model="m"))
        )
        for wrong in (None, 3, calibrated(words)):
            with pytest.raises(ConfigError, match="calibrated: expected a counter"):
                calibrated(wrong)
        with pytest.raises(ConfigError, match="`model` must be text"):
            calibrated(words, model=None)

    def test_a_bad_counter_is_named(self):
        """
        With the step and the message, as without a correction.
        """
        memory = Memory(count=calibrated(lambda message: -1, model="m"), strategy=TokenBudget(10))
        memory.append(user("hi"))
        with pytest.raises(
            CountError, match=r"step TokenBudget\(10\): .* for the user message 'hi'"
        ):
            memory.context()

    def test_somebody_elses_notes_are_left_alone(self):
        """
        A note of the same kind and key with another value is no report.
        """
        counter = calibrated(words)
        notes = [Note("usage", counter.key, value) for value in ({}, {"tokens": [0, 3]}, {"x": 1})]

        assert NO_FIT == counter.corrected(notes).fit


class TestCorrected:
    def test_is_a_value(self):
        """
        Equal to another of the same counter and fit.
        """
        one = Corrected(kept(words), Fit(1_500_000, 7))

        assert one == Corrected(kept(words), Fit(1_500_000, 7))
        assert hash(one) == hash(Corrected(kept(words), Fit(1_500_000, 7)))
        assert one != Corrected(kept(words))
        assert one != kept(words)
        assert one == pickle.loads(pickle.dumps(one))
        assert "Corrected(tokens.words, Fit(factor=1500000, offset=7))" == repr(one)
        assert len(one) == len(kept(words))
        assert one != 1

    def test_keeps_what_is_learnt_with_the_counter(self):
        """
        Not corrected: the factor comes on top.
        """
        inner = Kept(words)
        one = Corrected(inner, Fit(2_000_000))

        assert not one.knows(user("hi"))

        one.learn(user("hi"), 5)

        assert one.knows(user("hi"))
        assert (5, 10) == (inner(user("hi")), one(user("hi")))

    @given(st.lists(st.integers(0, 10_000)), st.integers(1, 4 * MILLION))
    def test_a_sum_is_never_below_the_whole(self, counts, factor):
        """
        Each count is rounded up, the whole once: a budget that adds up counts holds.
        """
        fit = Fit(factor)

        assert fit.scaled(sum(counts)) <= sum(map(fit.scaled, counts))


class TestFit:
    @given(
        st.lists(st.integers(20, 100_000), min_size=3, max_size=32),
        st.integers(300, 3_500),
        st.integers(0, 30_000),
    )
    def test_finds_a_line(self, sizes, thousandths, offset):
        """
        Any factor and offset, from sizes that are apart.
        """
        sizes = [*sizes, min(sizes) * 3]
        pairs = tuple((size, round(size * thousandths / 1_000) + offset) for size in sizes)
        fit = fitted(pairs)
        for size, billed in pairs:
            assert abs(fit.of(size) - billed) <= max(3, 0.02 * billed)

    @given(st.lists(st.tuples(st.integers(1, 10**7), st.integers(1, 10**7)), max_size=32))
    def test_is_within_its_bounds(self, pairs):
        """
        Whatever was reported: a factor between a quarter and four, an offset of 0 or more.
        """
        fit = fitted(tuple(pairs))

        assert MILLION // 4 <= fit.factor <= 4 * MILLION
        assert fit.offset >= 0

    def test_one_report_is_a_ratio_or_an_offset(self):
        """
        What no tokenizer can be off by is sent beside the messages.
        """
        assert Fit(1_300_000) == fitted(((1_000, 1_300),))
        assert 20_005 == fitted(((5, 20_005),)).of(5)
        assert 20_101 == pytest.approx(fitted(((5, 20_005), (100, 20_100))).of(101), abs=2)

    def test_sizes_that_are_close_tell_no_slope(self):
        """
        A factor alone, where a line is no better: a slope through noise would go anywhere.
        """
        noisy = ((1_000, 1_290), (1_010, 1_340), (1_020, 1_310), (1_030, 1_345), (1_040, 1_330))

        assert 0 == fitted(noisy).offset
        assert 1_300_000 == pytest.approx(fitted(noisy).factor, rel=0.02)

    def test_a_line_that_is_better_is_taken_where_sizes_are_close(self):
        """
        As when a long thread is billed with a large prompt beside it.
        """
        pairs = tuple((size, 13 * size // 10 + 500) for size in range(2_000, 2_600, 50))

        assert Fit(1_300_000, 500) == fitted(pairs)

    def test_noise_in_such_sizes_makes_no_line(self):
        """
        A slope has to be far better than the ratio.
        """
        off = (40, -30, 10, 35, -45)
        pairs = tuple(
            (size, 13 * size // 10 + noise)
            for size, noise in zip(range(1_000, 1_500, 100), off, strict=True)
        )

        assert 0 == fitted(pairs).offset
        assert 1_300_000 == pytest.approx(fitted(pairs).factor, rel=0.03)

    def test_an_offset_below_nothing_is_none(self):
        """
        A provider adds to a request and takes nothing off.
        """
        fit = fitted(((100, 90), (200, 200), (400, 430)))

        assert (1_000_000, 0) == (fit.factor, fit.offset)
