"""
Counts that are kept.
"""

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from unabridged import assistant, user
from unabridged.errors import ConfigError, CountError
from unabridged.tokens import Kept, exact, kept, of_text, words


class Tally:
    """
    A counter that remembers what it was asked; not hashable.
    """

    __hash__ = None

    def __init__(self):
        self.asked = []

    def __eq__(self, other):
        return self is other

    def __call__(self, message):
        """
        One token a character.
        """
        self.asked.append(message.text)
        return len(message.text)


def fails(_text):
    """
    A measure that raises.
    """
    msg = "no endpoint"
    raise OSError(msg)


class TestKept:
    def test_counts_a_message_once(self):
        """
        An equal message is not counted again.
        """
        tally = Tally()
        count = Kept(tally)

        assert [2, 2, 3] == [count(user(text)) for text in ("hi", "hi", "hey")]
        assert ["hi", "hey"] == tally.asked

    def test_forgets_the_older_half_when_it_is_full(self):
        """
        The newest counts stay; a forgotten one is counted again.
        """
        tally = Tally()
        count = Kept(tally, limit=4)
        for text in ("a", "b", "c", "d", "e", "d", "a"):
            count(user(text))

        assert ["a", "b", "c", "d", "e", "a"] == tally.asked
        assert 4 == len(count)

    @pytest.mark.parametrize("limit", [1, 2, 3])
    def test_stays_within_a_small_limit(self, limit):
        """
        No limit is too small to keep the newest.
        """
        count = Kept(words, limit=limit)
        for number in range(9):
            count(user(str(number)))

            assert 1 <= len(count) <= limit

    @pytest.mark.parametrize("wrong", [-1, 2.0, True, None, "3"])
    def test_refuses_what_is_not_a_count(self, wrong):
        """
        The error names the counter, what it returned and the message; nothing is kept.
        """
        count = Kept(of_text(lambda _: wrong))

        with pytest.raises(CountError) as caught:
            count(assistant("word " * 20))

        assert str(caught.value) == (
            f"counter {count.counter!r} returned {wrong!r} for the assistant message "
            "'word word word word word word word word '; "
            "a counter returns an int of tokens, 0 or more"
        )
        assert 0 == len(count)

    def test_says_which_counter_raised(self):
        """
        The cause is chained.
        """
        with pytest.raises(CountError) as caught:
            Kept(of_text(fails))(user("hi"))

        assert isinstance(caught.value.__cause__, OSError)
        assert str(caught.value) == (
            "counter of_text(fails) raised OSError('no endpoint') for the user message 'hi'"
        )

    def test_allows_nothing(self):
        """
        The edge: 0 is a count.
        """
        assert 0 == Kept(words)(user(""))

    def test_refuses_what_cannot_count(self):
        """
        A counter is a function, and there is room for one message at least.
        """
        with pytest.raises(ConfigError, match="Kept: expected a function"):
            Kept("o200k_base")
        with pytest.raises(ConfigError, match="`limit` must be 1 message or more, got 0"):
            Kept(words, limit=0)

    def test_is_as_good_a_value_as_its_counter(self):
        """
        Equal, hashable and shown as its counter is; always true, also when empty.
        """
        assert {Kept(words)} == {Kept(words)}
        assert Kept(words) != Kept(exact())
        assert Kept(words) != words
        assert "Kept(exact('o200k_base'))" == repr(Kept(exact()))
        assert Kept(words)

    def test_survives_threads(self):
        """
        Many threads over a small limit get right counts.
        """
        count = Kept(words, limit=8)
        messages = [user("w " * number) for number in range(40)] * 20
        with ThreadPoolExecutor(8) as pool:
            counts = list(pool.map(count, messages))

        assert [*range(40)] * 20 == counts


class TestKeptFunction:
    def test_gives_one_for_equal_counters(self):
        """
        Everyone who counts alike shares the counts.
        """
        assert kept(exact("cl100k_base")) is kept(exact("cl100k_base"))
        assert kept(words) is not kept(exact())

    def test_leaves_what_is_kept(self):
        """
        Keeping twice is keeping once.
        """
        count = Kept(words)

        assert kept(count) is count

    def test_gives_a_new_one_for_a_counter_without_a_hash(self):
        """
        A counter that is not hashable works, unshared.
        """
        tally = Tally()

        assert kept(tally) is not kept(tally)
        assert 2 == kept(tally)(user("hi"))

    def test_remembers_a_limited_number_of_counters(self):
        """
        A program that makes counters without end does not fill the memory.
        """
        first = of_text(partial(int, base=2))
        known = kept(first)
        for _ in range(64):
            kept(of_text(partial(int, base=2)))

        assert kept(first) is not known

    def test_pickles_to_the_one_of_the_process(self):
        """
        The counts stay behind, the counter goes along.
        """
        assert pickle.loads(pickle.dumps(kept(words))) is kept(words)
