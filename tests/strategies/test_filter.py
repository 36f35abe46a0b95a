"""
Keeping, or dropping, the messages of one kind.
"""

import pytest

from unabridged import (
    Document,
    Filter,
    Image,
    Memory,
    Opaque,
    Reasoning,
    Text,
    ToolResult,
    assistant,
    run,
    system,
    tool,
    user,
)
from unabridged.declared import from_data, register, to_data
from unabridged.errors import ConfigError
from unabridged.messages import Audio, Message
from unabridged.records import Drop
from unabridged.results import TrimResult, unchanged
from unabridged.spans import Span
from unabridged.testing import call, check_strategy, result, talk, texts, view_of


@register("test_filter.short")
def short(item):
    return len(item.message.text) < 3


def seen(strategy, messages, **options):
    """
    The words that are left of these messages.
    """
    return texts(run(strategy, view_of(messages, **options)))


class TestFilter:
    def test_has_nothing_to_do_where_all_matches(self):
        """
        Or none, when it drops; or nothing is there.
        """
        for strategy, messages in (
            (Filter(role=["user", "assistant"]), talk(3)),
            (Filter(role="narrator", matching="drop"), talk(3)),
            (Filter(role="user"), []),
        ):
            view = view_of(messages)

            assert unchanged(view) == run(strategy, view)

    def test_keeps_what_matches(self):
        """
        One drop of the rest, less the question of what is kept; the reason says by what.
        """
        view = view_of([*talk(2), Message("critic", "Hm."), *talk(1, 3)])

        assert TrimResult(
            view,
            (
                Drop(
                    Span.of([1, 2, 4]),
                    reason="does not match role='critic'",
                    step="Filter(role='critic', replace=True)",
                    replace=True,
                ),
            ),
        ) == run(Filter(role="critic", replace=True), view)

    def test_drops_what_matches(self):
        """
        And nothing else.
        """
        view = view_of([*talk(1), Message("critic", "Hm."), *talk(1, 2)])
        step = Filter(role=("critic", "judge"), matching="drop")

        assert (
            Drop(Span.one(3), reason="matches role=('critic', 'judge')", step=repr(step)),
        ) == run(step, view).changes

    def test_takes_all_that_is_given_together(self):
        """
        A message has to meet every one.
        """
        messages = [*talk(2), assistant("a long answer"), *talk(1, 3)]

        assert ["q1", "q2", "a long answer", "q3", "a3"] == seen(
            Filter(role="assistant", where=short, matching="drop"), messages
        )

    def test_keeps_what_any_strategy_keeps(self):
        """
        Pins, what waits, the newest user message, the newest block, the first one's question.
        """
        messages = [system("s"), *talk(3), call("c1"), user("hurry")]

        assert ["s", "q2", "a2", "q3", "", "hurry"] == seen(
            Filter(kind="image"), messages, pinned=[5]
        )
        assert ["q1", "a1", "a2", "q3", "a3"] == seen(Filter(role="user", matching="drop"), talk(3))

    def test_finds_parts_of_a_kind(self):
        """
        Each by its word, in tool results too.
        """
        parts = {
            "text": Text("hi"),
            "image": Image(url="https://example.org/a.png"),
            "document": Document(text="a"),
            "audio": Audio(file="f1"),
            "reasoning": Reasoning("hm"),
            "opaque": Opaque("openai_chat", {"type": "video_url"}),
        }
        view = view_of(
            [
                *(Message("critic", part) for part in parts.values()),
                call("c1"),
                result("c1"),
                *talk(1),
            ]
        )
        left = {
            kind: [i.first for i in run(Filter(kind=kind), view).view if i.first < 9]
            for kind in (*parts, "call", "result")
        }

        assert {
            "text": [1, 7, 8],
            "image": [2],
            "document": [3],
            "audio": [4],
            "reasoning": [5],
            "opaque": [6],
            "call": [7, 8],
            "result": [7, 8],
        } == left
        photo = tool([parts["image"]], call_id="c1")
        assert [1, 2] == [
            item.first
            for item in run(Filter(kind="image"), view_of([call("c1"), photo, *talk(2)])).view
        ][:2]


class TestPairs:
    LOOK = (user("q0"), call("c1", name="peek"), result("c1", "far"))

    def test_stay_whole_when_one_is_kept(self):
        """
        A call comes with its results, a result with its call.
        """
        for strategy in (
            Filter(kind="call"),
            Filter(kind="result"),
            Filter(role="tool"),
            Filter(name="peek"),
        ):
            assert ["q0", "", "far", "q2", "a2"] == seen(strategy, [*self.LOOK, *talk(2)])

    def test_go_whole_or_not_at_all(self):
        """
        A tool's name stands for its results; a batch that calls others too stays.
        """
        batch = [
            assistant(calls=[*call("c1", name="peek").tool_calls, *call("c2").tool_calls]),
            result("c1", "far"),
            result("c2", "near"),
        ]
        drop = Filter(name="peek", matching="drop")

        assert ["q0", "q1", "a1"] == seen(drop, [*self.LOOK, *talk(1)])
        assert ["", "far", "near", "q1", "a1"] == seen(drop, [*batch, *talk(1)])
        assert ["q0", "", "far", "q1", "a1"] == seen(
            Filter(role="tool", matching="drop"), [*self.LOOK, *talk(1)]
        )
        assert ["q0", "q1", "a1"] == seen(
            Filter(kind=("call", "result"), matching="drop"), [*self.LOOK, *talk(1)]
        )

    def test_knows_a_name_by_the_message_too(self):
        """
        A user's, and one that a result carries whose call nobody knows.
        """
        lost = tool("lost", call_id="c9", name="peek")
        ana = user("a", name="Ana")

        assert ["q1", "a1"] == seen(
            Filter(name=("peek", "Ana"), matching="drop"), [ana, lost, *talk(1)]
        )


class TestInALog:
    def test_is_written_only_where_that_is_asked_for(self):
        """
        As any drop is.
        """
        memory = Memory(strategy=Filter(kind="image", matching="drop"))
        memory.append(user([Image(url="https://example.org/a.png")]), assistant("A cat."), *talk(1))

        assert ["A cat.", "q1", "a1"] == texts(memory.context())[-3:]
        assert 4 == len(memory.view())
        memory.context(Filter(role="critic", replace=True))
        assert ["q1", "a1"] == texts(memory.view())


class TestAsAValue:
    @pytest.mark.parametrize(
        ("strategy", "shown", "data"),
        [
            (Filter(role="user"), "Filter(role='user')", {"use": "Filter", "role": "user"}),
            (
                Filter(
                    role=["user", "tool"],
                    name=("a", "b"),
                    kind=("text", "call"),
                    where=short,
                    matching="drop",
                    replace=True,
                ),
                (
                    "Filter(role=('user', 'tool'), name=('a', 'b'), kind=('text', 'call'), "
                    "where=short, matching='drop', replace=True)"
                ),
                {
                    "use": "Filter",
                    "role": ["user", "tool"],
                    "name": ["a", "b"],
                    "kind": ["text", "call"],
                    "where": "test_filter.short",
                    "matching": "drop",
                    "replace": True,
                },
            ),
        ],
        ids=["plain", "all"],
    )
    def test_shows_itself_and_goes_to_data(self, strategy, shown, data):
        """
        A repr evaluates back, data is read back.
        """
        assert (shown, data) == (repr(strategy), to_data(strategy))
        assert strategy == eval(shown, {"Filter": Filter, "short": short})  # noqa: S307  our own
        assert strategy == from_data(data)
        assert hash(strategy) == hash(from_data(data))

    def test_takes_one_in_a_list_for_one(self):
        """
        So equal filters are equal values.
        """
        assert Filter(role="user") == Filter(role=["user"]) == Filter(role=("user",))

    def test_cannot_be_data_with_a_function_that_is_not_registered(self):
        """
        As everywhere: data names functions, it does not hold them.
        """
        with pytest.raises(ConfigError, match="<lambda> is not registered"):
            to_data(Filter(where=lambda item: True))

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({}, "Filter: give at least one of `role`, `name`, `kind`, `where`"),
            (
                {"matching": "drop"},
                "Filter: give at least one of `role`, `name`, `kind`, `where`",
            ),
            (
                {"role": " "},
                "Filter: `role` must be a word, or a list of words, got ' '",
            ),
            (
                {"name": []},
                "Filter: `name` must be a word, or a list of words, got ()",
            ),
            (
                {"role": 3},
                "Filter: `role` must be a word, or a list of words, got 3",
            ),
            (
                {"role": [3]},
                "Filter: `role` must be a word, or a list of words, got 3",
            ),
            (
                {"kind": ["text", "picture"]},
                (
                    "Filter: `kind` must be one or several of 'text', 'image', 'document', "
                    "'audio', 'reasoning', 'call', 'result', 'opaque', got 'picture'"
                ),
            ),
            (
                {"where": "role"},
                "Filter: `where` must be a function, got str 'role'",
            ),
            (
                {"role": "user", "matching": "keeps"},
                "Filter: `matching` must be one of 'keep', 'drop', got 'keeps'",
            ),
        ],
    )
    def test_refuses_what_it_cannot_use(self, options, told):
        """
        The message says what it takes.
        """
        with pytest.raises(ConfigError) as caught:
            Filter(**options)

        assert told == str(caught.value)

    @pytest.mark.parametrize(
        "strategy",
        [
            Filter(role="user"),
            Filter(role="user", matching="drop"),
            Filter(name="look", matching="drop"),
            Filter(where=short),
        ],
        ids=repr,
    )
    def test_keeps_the_laws(self, strategy):
        """
        Every law, on generated logs.
        """
        check_strategy(strategy, examples=30)

    def test_is_called_with_items(self):
        """
        A result is anything that is true or not.
        """
        messages = [user([ToolResult("c9", "x"), "a"]), *talk(2)]

        assert ["q2", "a2"] == seen(Filter(where=lambda item: item.first > 3), messages)
