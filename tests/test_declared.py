"""
Strategies as data: in TOML, in JSON, and what is refused.
"""

import functools
import json
import tomllib

import pytest
from attrs import field, frozen

from unabridged import (
    ClipArguments,
    ClipMessages,
    ClipToolResults,
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
    TokenBudget,
    When,
    Window,
    chain,
    custom,
    run,
    tokens,
    written_back,
)
from unabridged.declared import from_data, register, to_data
from unabridged.errors import ConfigError
from unabridged.pipeline import Strategy
from unabridged.results import TrimResult, keep
from unabridged.testing import talk, texts, view_of


@register("test_declared.answers")
def answers(view, ctx):
    return [item for item in view if item.message.role == "assistant"]


@register("test_declared.long")
def long(view, ctx):
    return len(view) > 4


@register("test_declared.asked")
def asked(item):
    return item.message.role == "user"


@register("test_declared.letters")
def letters(message):
    return len(message.text)


@register("test_declared.Tail")
@frozen(repr=False)
class Tail(Strategy):
    count: int
    label: str = field(default="", kw_only=True)

    def __call__(self, view, ctx, /) -> TrimResult:
        return keep(view, view.tail(self.count), reason="tail")


EVERYTHING = chain(
    NoCompaction(),
    Window(400, down_to=200, opening="next"),
    MaxRounds(100, at_least=2_000),
    ClipToolResults(2_000, tail=500, exclude="read") | ClipArguments(900) | ClipMessages(900),
    TokenBudget(99_000, clip=(ClipToolResults(500), ClipMessages(200, newest=True))),
    Sections(90_000, recalled=Share(2_000), recent=Share(priority=1)),
    TokenBudget(90_000, count=tokens.exact("cl100k_base")),
    TokenBudget(share=0.5, count=letters),
    HeadAndTail(10, 90, replace=True),
    Repair(replace=True) | DropReasoning(2) | MergeRuns(replace=True),
    Filter(role=("user", "assistant"), kind="call", matching="drop"),
    When(Over(tokens=10, rounds=3), Sparing(Summarize(20, model="words"), first=1, where=asked)),
    When(long, chain(answers, Tail(3, label="tail"))),
    custom(answers, strict=True),
    written_back(answers),
)


def refusal(read, data):
    """
    What is said where *data* is refused.
    """
    with pytest.raises(ConfigError) as caught:
        read(data)

    return str(caught.value)


class TestData:
    def test_holds_every_strategy(self):
        """
        A chain of all of them goes to JSON text and comes back equal.
        """
        text = json.dumps(to_data(EVERYTHING))

        assert EVERYTHING == from_data(json.loads(text))

    def test_holds_what_was_asked_for(self):
        """
        Options left alone are left out; a function is its name, or a dict with its options.
        """
        assert to_data(Window(40) | answers | written_back(answers)) == [
            {"use": "Window", "last": 40},
            "test_declared.answers",
            {"use": "test_declared.answers", "replace": True},
        ]
        assert to_data(TokenBudget(9, count=tokens.rough)) == {
            "use": "TokenBudget",
            "limit": 9,
            "count": "rough",
        }

    def test_takes_lists_for_chains(self):
        """
        Flattened when they are read.
        """
        data = to_data([Window(4), (Window(2), answers)])

        assert [
            {"use": "Window", "last": 4},
            [{"use": "Window", "last": 2}, "test_declared.answers"],
        ] == data
        assert chain(Window(4), Window(2), answers) == from_data(data)
        assert chain() == from_data([])

    def test_of_a_chain_in_a_guard_is_a_list(self):
        """
        So it reads as it is written in Python.
        """
        step = When(Over(messages=9), [Window(4), Window(2)])

        assert [{"use": "Window", "last": 4}, {"use": "Window", "last": 2}] == to_data(step)[
            "strategy"
        ]
        assert step == from_data(to_data(step))


class TestToml:
    def test_describes_a_chain(self):
        """
        As an array of tables, guards nested.
        """
        text = """
            [[steps]]
            use = "When"
            condition = { use = "Over", tokens = 80_000 }
            strategy = { use = "Summarize", keep_last = 20, label = "", replace = true }

            [[steps]]
            use = "TokenBudget"
            limit = 8_000
            count = "words"

            [[steps]]
            use = "test_declared.answers"
            strict = true
        """

        assert from_data(tomllib.loads(text)["steps"]) == chain(
            When(Over(tokens=80_000), Summarize(20, label="", replace=True)),
            TokenBudget(8_000, count=tokens.words),
            custom(answers, strict=True),
        )

    def test_runs_as_what_it_describes(self):
        """
        A name alone is a step.
        """
        steps = from_data(
            tomllib.loads('steps = [{ use = "Window", last = 4 }, "test_declared.answers"]')[
                "steps"
            ]
        )

        assert ["a2", "q3", "a3"] == texts(run(steps, view_of(talk(3))))


class TestRegister:
    def test_leaves_the_thing_as_it_is(self):
        """
        So it stands above a function as a decorator.
        """

        def mine(view, ctx):
            return view

        assert mine is register("test_declared.mine")(mine)
        assert mine is register("test_declared.mine")(mine)
        assert chain(mine) == from_data(["test_declared.mine"])

    def test_takes_partials(self):
        """
        They are equal to themselves.
        """

        def tail(view, ctx, *, count):
            return view.tail(count)

        two = functools.partial(tail, count=2)
        register("test_declared.two")(two)

        assert ["test_declared.two"] == to_data(chain(two))

    def test_takes_strategies_of_your_own(self):
        """
        Their fields are the options.
        """
        assert {"use": "test_declared.Tail", "count": 3} == to_data(Tail(3))
        assert ["q2", "a2"] == texts(
            run(from_data({"use": "test_declared.Tail", "count": 1}), view_of(talk(2)))
        )

    def test_refuses_a_name_that_stands_for_something_else(self):
        """
        Whoever reads the data would get another thing.
        """
        assert refusal(register("Window"), answers) == (
            "declared: the name 'Window' stands for <class 'unabridged.strategies.window.Window'> "
            "already; choose another"
        )
        assert "the name 'words' stands for tokens.words already" in refusal(
            register("words"), letters
        )

    def test_refuses_a_class_without_fields(self):
        """
        Data could give it no options.
        """

        class Plain(Strategy):
            def __call__(self, view, ctx, /):
                return view

        refusal(register("test_declared.Plain"), Plain)


class TestRefused:
    def test_names_that_are_not_registered(self):
        """
        The message lists those that are.
        """
        for data in ("Windows", {"use": "Windows"}, [{"use": "Windows"}]):
            message = refusal(from_data, data)

            assert message.startswith(
                "declared: 'Windows' is not registered; known are ClearToolResults, ClipArguments, "
                "ClipMessages, ClipToolResults, Deduplicate, DropReasoning, Filter, "
            )
            assert message.endswith("; see declared.register")

    def test_text_where_no_name_stands(self):
        """
        The message says of which option it is, for a number in quotes too.
        """
        for data, told in (
            ({"use": "Window", "last": "4"}, "declared: Window cannot take '4' for `last`: text "),
            (
                {"use": "TokenBudget", "limit": 40, "count": "wrds"},
                "declared: TokenBudget cannot take 'wrds' for `count`: text ",
            ),
        ):
            message = refusal(from_data, data)

            assert message.startswith(told)
            assert "one of ClearToolResults, ClipArguments, " in message
            assert message.endswith("; a number has no quotes")

    def test_what_is_no_name(self):
        """
        Data could not write it.
        """
        for name in (3, None, ""):
            assert f"declared.register: expected a name for data to use, got {name!r}" == refusal(
                register, name
            )

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (
                {"last": 2},
                "declared: {'last': 2} does not say what to `use`, as in {'use': 'Window'}",
            ),
            (
                {"use": ["Window"]},
                "declared: {'use': ['Window']} does not say what to `use`, as in {'use': 'Window'}",
            ),
            ({"use": "Window"}, "declared: Window needs `last`"),
            ({"use": "HeadAndTail"}, "declared: HeadAndTail needs `first`, `last`"),
            (
                {"use": "MaxRounds", "last": 2, "opening": "next"},
                (
                    "declared: MaxRounds has no option `opening`; it has last, down_to, "
                    "at_least, pin_system, count_pins, strict, replace"
                ),
            ),
            (
                {"use": "test_declared.answers", "last": 2},
                "declared: test_declared.answers has no option `last`; it has replace, strict",
            ),
            (
                {"use": "Window", "last": 0},
                "Window: `last` must be an int of 1 or more, or None for no limit, got 0",
            ),
            (
                3,
                (
                    "declared: expected a dict with `use`, a list of these, or a registered name, "
                    "got int"
                ),
            ),
            (
                [None],
                (
                    "declared: expected a dict with `use`, a list of these, or a registered name, "
                    "got NoneType"
                ),
            ),
        ],
        ids=str,
    )
    def test_data_of_another_form(self, data, message):
        """
        The message says what is missing, unknown or wrong.
        """
        assert message == refusal(from_data, data)

    def test_functions_that_are_not_registered(self):
        """
        The message shows how it is done.
        """

        def mine(view, ctx):
            return view

        for strategy, name in (
            (mine, "mine"),
            (Window(2) | mine, "mine"),
            (When(mine, Window(2)), "mine"),
            (functools.partial(mine), "mine()"),
            ("Window(2)", "'Window(2)'"),
        ):
            assert refusal(to_data, strategy) == (
                f"declared: {name} is not registered, so data cannot name it; "
                'write @declared.register("a name") above it'
            )

    @pytest.mark.parametrize(
        "data",
        [
            {"use": "TokenBudget", "limit": 9, "count": "wrods"},
            {"use": "Sparing", "strategy": {"use": "Window", "last": 2}, "where": "nobody"},
            {"use": "When", "condition": "never", "strategy": {"use": "Window", "last": 2}},
            {"use": "Summarize", "keep_last": 2, "count": "wrods"},
        ],
        ids=lambda data: data["use"],
    )
    def test_functions_that_are_none(self, data):
        """
        A name with a slip of the pen does not wait for the first run.
        """
        refusal(from_data, data)


class TestStrategy:
    @pytest.mark.parametrize(
        "data",
        ["test_declared.answers", {"use": "test_declared.answers"}, "NoCompaction", [], ["Repair"]],
        ids=str,
    )
    def test_is_what_comes_back(self, data):
        """
        A function's name as well: what comes back composes and goes into a memory.
        """
        step = from_data(data)

        assert isinstance(step, Strategy)
        assert chain(step, Window(2)) == step | Window(2)

    @pytest.mark.parametrize(
        ("data", "name"),
        [
            ("words", "words"),
            ("exact", "exact"),
            ({"use": "for_model", "model": "claude"}, "for_model"),
            ({"use": "Over", "tokens": 8}, "Over"),
            ({"use": "Share", "floor": 8}, "Share"),
            ([{"use": "Window", "last": 2}, "words"], "words"),
            (
                {"use": "When", "condition": {"use": "Over", "tokens": 8}, "strategy": ["words"]},
                "words",
            ),
            ({"use": "Sparing", "first": 1, "strategy": "words"}, "words"),
        ],
        ids=str,
    )
    def test_is_not_a_counter_or_a_condition(self, data, name):
        """
        They stand inside one; as a step they would fail at the first run.
        """
        assert refusal(from_data, data).startswith(
            f"declared: {name} is not a strategy but an option of one, as in "
        )


class TestNames:
    def test_of_strategies_without_options_are_enough(self):
        """
        As a function's name is.
        """
        assert NoCompaction() == from_data("NoCompaction")
        assert chain(NoCompaction(), Window(2)) == from_data(
            ["NoCompaction", {"use": "Window", "last": 2}]
        )
        assert "declared: Window needs `last`" == refusal(from_data, "Window")

    def test_of_the_exact_counter_are_enough(self):
        """
        With its default vocabulary.
        """
        expected = TokenBudget(9, count=tokens.exact())

        assert expected == from_data({"use": "TokenBudget", "limit": 9, "count": "exact"})
        assert expected == from_data({"use": "TokenBudget", "limit": 9, "count": {"use": "exact"}})

    def test_stand_for_themselves_where_text_is_wanted(self):
        """
        A model may be called "words".
        """
        step = Summarize(2, model="words", label="rough")

        assert step == from_data(to_data(step))
