"""
Budgets: what is left of a window.
"""

import pickle
import sys

import pytest
from attrs import evolve

from unabridged.errors import ConfigError, CountError
from unabridged.messages import system
from unabridged.tokens import Budget, exact, tools, words
from unabridged.tokens.windows import window_of

PROMPT = system("Be brief.")
WEATHER = {
    "name": "get_weather",
    "description": "Get the weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}


class TestBudget:
    def test_leaves_the_window_less_what_is_reserved(self):
        """
        The history gets the window without reply, tools, system prompt and priming.
        """
        budget = Budget(128_000, reply=4_000, tools=1_200, system=800)

        assert 122_000 - 3 == budget.history

    def test_reserves_nothing_by_default(self):
        """
        A bare window is all history, but for what opens the reply.
        """
        assert 8_000 - 3 == Budget(8_000).history
        assert 8_000 == Budget(8_000, priming=0).history

    def test_may_leave_a_single_token(self):
        """
        The edge: one token is something, none is not.
        """
        assert 1 == Budget(100, reply=96).history

    def test_refuses_to_leave_nothing(self):
        """
        The message holds every number and what to do.
        """
        with pytest.raises(ConfigError) as caught:
            Budget(1_000, reply=600, tools=300, system=200)

        assert str(caught.value) == (
            "Budget: nothing is left for the history: window 1,000 - reply 600 - tools 300 - "
            "system 200 - priming 3 = -103 tokens; reserve less or take a larger window"
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

    @pytest.mark.parametrize("name", ["reply", "tools", "system", "priming"])
    def test_refuses_a_negative_reserve(self, name):
        """
        A reserve is an int of 0 or more; the message names it.
        """
        with pytest.raises(ConfigError) as caught:
            Budget(8_000, **{name: -1})

        kind = "the prompt's text or an int" if name == "system" else "an int"
        said = f"Budget: `{name}` must be {kind} of tokens, 0 or more, got -1"

        assert said == str(caught.value)

    def test_shows_what_was_asked_for(self):
        """
        The repr leaves out what is 0, and evaluates back.
        """
        budget = Budget(200_000, tools=1_500)

        assert "Budget(200_000, tools=1_500)" == repr(budget)
        assert budget == Budget(200_000, tools=1_500)
        assert "Budget(9_000, priming=0)" == repr(Budget(9_000, priming=0))

    def test_is_a_value(self):
        """
        Equal, hashable and picklable.
        """
        budget = Budget(200_000, reply=8_000)

        assert {budget} == {Budget(200_000, reply=8_000)}
        assert budget == pickle.loads(pickle.dumps(budget))
        assert Budget(200_000, reply=9_000) == evolve(budget, reply=9_000)

    def test_counts_definitions_and_a_prompt(self):
        """
        What is sent beside the messages may be given as it is; the budget holds the numbers.
        """
        count = exact("gpt-4")
        budget = Budget(8_000, tools=[WEATHER], system="Be brief.", count=count)

        assert Budget(8_000, tools=tools([WEATHER], count), system=count(PROMPT)) == budget

    def test_counts_with_any_function(self):
        """
        A function from message to int gets the prompt, and the definitions as JSON, in a message.
        """
        budget = Budget(8_000, tools=[{"name": "now"}], system="two words", count=words)

        assert Budget(8_000, tools=1, system=2) == budget

    def test_counts_nothing_for_nothing(self):
        """
        The edge: no tools and an empty prompt cost 0, not a frame.
        """
        assert Budget(8_000) == Budget(8_000, tools=[], system="")

    @pytest.mark.parametrize("wrong", ["now", {"name": "now"}, None, [4], [{"at": {1}}]])
    def test_refuses_what_are_no_definitions(self, wrong):
        """
        The message says what was expected, or where JSON fails.
        """
        with pytest.raises(ConfigError, match="tools"):
            Budget(8_000, tools=wrong)

    def test_refuses_a_wrong_share_of_a_token(self):
        """
        A float is no number of tokens.
        """
        with pytest.raises(ConfigError, match="`tools` must be an int of tokens"):
            Budget(8_000, tools=1.5)

    def test_says_when_the_counter_fails(self):
        """
        The error is that of the counter, and names it.
        """
        with pytest.raises(CountError, match="returned -1"):
            Budget(8_000, system="Be brief.", count=lambda _message: -1)
        with pytest.raises(ConfigError, match="`count` must be a function"):
            Budget(8_000, count=4)


class TestForModel:
    def test_takes_a_window(self):
        """
        A number needs no table, and no model that is known.
        """
        assert Budget(9_000, reply=10) == Budget.for_model("my-model", window=9_000, reply=10)

    def test_counts_as_the_model_does(self):
        """
        Tools and prompt go by the model's own counter, unless one is given.
        """
        asked = {"window": 9_000, "tools": [WEATHER], "system": "Be brief."}
        expected = Budget(9_000, tools=[WEATHER], system="Be brief.", count=exact("gpt-4"))

        assert expected == Budget.for_model("gpt-4", **asked)
        assert expected == Budget.for_model("my-model", count=exact("gpt-4"), **asked)
        with pytest.raises(ConfigError, match="nothing is known of 'my-model'"):
            Budget.for_model("my-model", **asked)

    @pytest.mark.parametrize(
        ("name", "window"), [("gpt-4o", 128_000), ("openai/gpt-4o", 128_000), ("o3", 200_000)]
    )
    def test_looks_windows_up(self, name, window):
        """
        In the data of genai-prices, without a network.
        """
        pytest.importorskip("genai_prices", reason="the extra `prices` is not installed")

        assert Budget(window, reply=4_000) == Budget.for_model(name, reply=4_000)

    @pytest.mark.parametrize("name", ["no-such-model", "unknown/no-such-model"])
    def test_says_when_a_window_is_not_known(self, name):
        """
        The message says what to pass.
        """
        pytest.importorskip("genai_prices", reason="the extra `prices` is not installed")

        with pytest.raises(ConfigError, match=f"'{name}'.* does not know its window; pass window="):
            Budget.for_model(name)

    def test_knows_every_model_of_the_table(self):
        """
        No name in it makes the package raise something else.
        """
        data = pytest.importorskip("genai_prices.data", reason="`prices` is not installed")
        names = [model.id for provider in data.providers for model in provider.models]

        for name in names[::7]:
            try:
                assert window_of(name) > 0
            except ConfigError as error:
                assert "pass window=" in str(error)  # noqa: PT017  either is right

    def test_names_the_extra(self, monkeypatch):
        """
        Without the package the message says what to install.
        """
        monkeypatch.setitem(sys.modules, "genai_prices", None)

        with pytest.raises(
            ConfigError, match=r"pip install 'unabridged\[prices\]', or pass window="
        ):
            Budget.for_model("gpt-4o")

    @pytest.mark.parametrize("wrong", ["", "  ", None, 4])
    def test_refuses_what_is_no_name(self, wrong):
        """
        Also with a window.
        """
        with pytest.raises(ConfigError, match=r"Budget.for_model: expected the name of a model"):
            Budget.for_model(wrong, window=8_000)
