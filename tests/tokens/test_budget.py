"""
Budgets: what is left of a window.
"""

import pickle

import pytest

from unabridged.errors import ConfigError
from unabridged.tokens import Budget


class TestBudget:
    def test_leaves_the_window_less_what_is_reserved(self):
        """
        The history gets the window without reply, tools and system prompt.
        """
        budget = Budget(128_000, reply=4_000, tools=1_200, system=800)

        assert 122_000 == budget.history

    def test_reserves_nothing_by_default(self):
        """
        A bare window is all history.
        """
        assert 8_000 == Budget(8_000).history

    def test_may_leave_a_single_token(self):
        """
        The edge: one token is something, none is not.
        """
        assert 1 == Budget(100, reply=99).history

    def test_refuses_to_leave_nothing(self):
        """
        The message holds every number and what to do.
        """
        with pytest.raises(ConfigError) as caught:
            Budget(1_000, reply=600, tools=300, system=200)

        assert str(caught.value) == (
            "Budget: nothing is left for the history: window 1,000 - reply 600 - tools 300 - "
            "system 200 = -100 tokens; reserve less or take a larger window"
        )

    @pytest.mark.parametrize("window", [0, -1, 1.5, True, "8000", None])
    def test_refuses_a_window_that_is_none(self, window):
        """
        A window is an int of 1 or more.
        """
        with pytest.raises(ConfigError) as caught:
            Budget(window)

        assert str(caught.value) == (
            f"Budget: `window` must be an int of tokens, 1 or more, got {window!r}"
        )

    @pytest.mark.parametrize("name", ["reply", "tools", "system"])
    def test_refuses_a_negative_reserve(self, name):
        """
        A reserve is an int of 0 or more; the message names it.
        """
        with pytest.raises(ConfigError) as caught:
            Budget(8_000, **{name: -1})

        assert str(caught.value) == (
            f"Budget: `{name}` must be an int of tokens, 0 or more, got -1"
        )

    def test_shows_what_was_asked_for(self):
        """
        The repr leaves out what is 0, and evaluates back.
        """
        budget = Budget(200_000, tools=1_500)

        assert "Budget(200_000, tools=1_500)" == repr(budget)
        assert budget == Budget(200_000, tools=1_500)

    def test_is_a_value(self):
        """
        Equal, hashable and picklable.
        """
        budget = Budget(200_000, reply=8_000)

        assert {budget} == {Budget(200_000, reply=8_000)}
        assert budget == pickle.loads(pickle.dumps(budget))
