"""
Spans, held against Python's sets.
"""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged.errors import ConfigError
from unabridged.spans import NOTHING, Span

sets = st.frozensets(st.integers(1, 40), max_size=25)
pairs = st.tuples(st.integers(1, 40), st.integers(1, 40))


class TestSpan:
    @given(sets)
    def test_is_the_set_of_its_numbers(self, numbers):
        """
        Iterating, counting, asking and its ends are those of the set.
        """
        span = Span.of(numbers)

        assert sorted(numbers) == list(span)
        assert sorted(numbers, reverse=True) == list(reversed(span))
        assert (len(numbers), bool(numbers)) == (len(span), bool(span))
        assert numbers == {n for n in range(45) if n in span}
        assert (min(numbers, default=0), max(numbers, default=0)) == (span.first, span.last)

    @given(sets)
    def test_has_one_form(self, numbers):
        """
        Equal sets are equal spans with equal hashes, however they were made, and a repr makes one.
        """
        span = Span.of(numbers)

        assert span == Span.of(sorted(numbers, reverse=True)) == Span(span.ranges)
        assert hash(span) == hash(Span(span.ranges))
        assert span == Span.union(map(Span.one, numbers))
        assert span == eval(repr(span), {"Span": Span})  # noqa: S307  our own repr
        assert span == pickle.loads(pickle.dumps(span))

    @given(sets, sets)
    def test_combines_as_sets_do(self, a, b):
        """
        Union, intersection, difference, subset and disjointness.
        """
        left, right = Span.of(a), Span.of(b)

        assert Span.of(a | b) == left | right == Span.union([left, right])
        assert Span.of(a & b) == left & right
        assert Span.of(a - b) == left - right
        assert (a <= b) == (left <= right)
        assert a.isdisjoint(b) == left.isdisjoint(right)

    @given(st.lists(st.integers(1, 40) | pairs, max_size=8))
    def test_takes_numbers_and_ranges_in_any_order(self, given_):
        """
        Ranges include both ends; one that is backwards is empty.
        """
        expected = set()
        for one in given_:
            expected.update(range(one[0], one[1] + 1) if isinstance(one, tuple) else [one])

        assert Span.of(expected) == Span.of(given_)

    @given(st.integers(1, 40), st.integers(1, 40))
    def test_between_includes_both_ends(self, first, last):
        """
        And is empty when they are the wrong way round.
        """
        assert Span.of(range(first, last + 1)) == Span.between(first, last)

    @given(sets, st.integers(-1, 30), st.none() | st.integers(0, 45))
    def test_tail_is_the_largest_numbers(self, numbers, count, before):
        """
        So many of them, of those below *before*.
        """
        below = sorted(n for n in numbers if before is None or n < before)
        expected = below[-count:] if count > 0 else []

        assert Span.of(expected) == Span.of(numbers).tail(count, before)

    @given(sets, st.integers(0, 45))
    def test_before_is_what_lies_below(self, numbers, number):
        """
        The number itself not among them.
        """
        assert Span.of({n for n in numbers if n < number}) == Span.of(numbers).before(number)

    @given(sets)
    def test_extended_adds_a_number_above_all_others(self, numbers):
        """
        Next to the last one, or further on.
        """
        span = Span.of(numbers)
        for number in (span.last + 1, span.last + 5):
            assert Span.of({*numbers, number}) == span.extended(number)

    def test_holds_numbers_only(self):
        """
        Anything else is not in it.
        """
        assert "1" not in Span.one(1)

    def test_keeps_a_million_numbers_as_one_range(self):
        """
        What is written to a log is short.
        """
        span = Span.between(1, 1_000_000) - Span.one(500)

        assert ((1, 499), (501, 1_000_000)) == span.ranges
        assert "1-499, 501-1000000" == str(span)

    def test_shows_ranges(self):
        """
        For people as a list of ranges, for Python as what makes it.
        """
        assert ("1-3, 7", "Span.of([(1, 3), 7])") == (
            str(Span.of([1, 2, 3, 7])),
            repr(Span.of([1, 2, 3, 7])),
        )
        assert ("", "Span()") == (str(NOTHING), repr(NOTHING))

    @pytest.mark.parametrize("ranges", [((0, 1),), ((3, 2),), ((1, 2), (3, 4)), ((5, 6), (1, 2))])
    def test_refuses_ranges_out_of_form(self, ranges):
        """
        Ranges are positive, ordered and apart, or two equal sets could differ.
        """
        with pytest.raises(ConfigError) as caught:
            Span(ranges)

        assert str(caught.value) == (
            f"Span: ranges must be positive, ordered and apart, got {ranges}"
        )

    @pytest.mark.parametrize("numbers", [[0], [-3], [(0, 2)]])
    def test_refuses_numbers_below_one(self, numbers):
        """
        Entries are numbered from 1, so whatever else is a mistake.
        """
        with pytest.raises(ConfigError):
            Span.of(numbers)
