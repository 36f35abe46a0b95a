"""
Running sums: a budget that is looked up keeps what one that is scanned keeps.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged import Memory, TokenBudget, Window, assistant, run, user
from unabridged.contract import TrimContext
from unabridged.messages import Message
from unabridged.stores import InMemoryStore
from unabridged.suffixes import FEW
from unabridged.sums import COUNTERS, Sums, Tally
from unabridged.testing import call, result, view_of
from unabridged.testing.log import whole_view
from unabridged.tokens import Kept, calibrated, kept, words

ITEMS = view_of([user("a"), user("b c d"), user("e f"), user("g")]).loaded


def told(size: int, number: int) -> Message:
    """
    A message of so many words, which no other one says.
    """
    text = " ".join([f"w{number}", *["more"] * size])
    return user(text) if number % 3 else assistant(text)


class TestSums:
    def test_know_nothing_until_they_begin(self):
        """
        Nothing is weighed before somebody asks for it.
        """
        assert Sums(ITEMS, words).known(4) is None

    def test_go_on_with_the_items(self):
        """
        Items that came since are added, each counted once.
        """
        asked: list[Message] = []

        def count(message: Message) -> int:
            asked.append(message)
            return words(message)

        sums = Sums(ITEMS, count)
        sums.begin(1, 2)

        assert (1, [0, 3, 5, 6]) == sums.known(4) == sums.known(4)
        assert [item.message for item in ITEMS[1:]] == asked

    def test_serve_an_older_view_too(self):
        """
        A view with fewer items finds its own among them.
        """
        sums = Sums(ITEMS, words)
        sums.begin(0, 4)
        first, known = sums.known(2) or (0, [])

        assert 4 == known[2 - first]


class TestTally:
    def test_holds_few_counters(self):
        """
        A calibrated counter is a new one after each report; the old ones are let go of.
        """
        tally = Tally(ITEMS)
        counts = [Kept(lambda message, n=n: n + len(message.text)) for n in range(COUNTERS + 1)]
        made = [tally.sums(count, count) for count in counts]

        assert made[-1] is tally.sums(counts[-1], counts[-1])
        assert made[0] is not tally.sums(counts[0], counts[0])


class TestBudgets:
    @pytest.mark.parametrize(
        "strategy",
        [
            TokenBudget(20),
            TokenBudget(20, down_to=9),
            TokenBudget(20, opening="anywhere"),
            TokenBudget(20, by="rounds"),
            Window(6) | TokenBudget(20),
            Window(50) | TokenBudget(90),
            TokenBudget(40) | TokenBudget(20, straddle="keep"),
        ],
        ids=repr,
    )
    @given(
        sizes=st.lists(st.integers(0, 12), min_size=1, max_size=20),
        pins=st.sets(st.integers(0, 9), max_size=2),
    )
    def test_are_looked_up_as_they_are_scanned(self, strategy, sizes, pins):
        """
        Turn by turn, a memory keeps what the strategy makes of the whole view, worked out anew.
        """
        store = InMemoryStore()
        memory = Memory(store, strategy=strategy, count=words)
        memory.append(*(told(number % 4, number) for number in range(FEW)))
        for number, size in enumerate(sizes, start=FEW):
            if size == 12:
                memory.append(call(f"c{number}"), result(f"c{number}", "one two"))
            memory.append(told(size, number), pin=number - FEW in pins)
            anew = run(strategy, whole_view(store, "default"), TrimContext(count=words))
            assert memory.context().messages == anew.messages

    def test_follow_a_counter_that_is_corrected(self):
        """
        After each report other counts hold, and none of the sums of before.
        """
        memory = Memory(strategy=TokenBudget(60), count=calibrated(words))
        memory.append(*(told(number % 7, number) for number in range(FEW)))
        for number in range(FEW, FEW + 30):
            memory.append(told(number % 7, number))
            made = memory.context()
            assert made.tokens <= 60
            memory.report_usage(made, input_tokens=made.tokens * 2 + number)

    def test_count_each_message_once(self):
        """
        A message is counted when it comes, and those that the budget does not reach are not.
        """
        asked: list[str] = []

        def count(message: Message) -> int:
            asked.append(message.text)
            return words(message)

        memory = Memory(strategy=TokenBudget(6), count=count)
        memory.append(*(user(f"old {n}") for n in range(500)))
        memory.context()
        assert len(asked) == 4
        for number in range(40):
            memory.append(user(f"new {number}"))
            memory.context()

        assert len(asked) == 44
        assert kept(count)(user("new 1")) == 2
