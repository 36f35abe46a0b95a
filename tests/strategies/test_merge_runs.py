"""
One message of neighbours of one role.
"""

import pytest

from unabridged import (
    Image,
    Memory,
    MergeRuns,
    Opaque,
    Reasoning,
    Repair,
    Summarize,
    Text,
    Window,
    assistant,
    run,
    system,
    user,
)
from unabridged.declared import from_data, to_data
from unabridged.messages import Message
from unabridged.records import Fold
from unabridged.results import TrimResult, rewrite, unchanged
from unabridged.spans import Span
from unabridged.testing import call, check_strategy, replies, result, talk, texts, view_of


def seen(messages, **options):
    """
    The words that are left of these messages.
    """
    return texts(run(MergeRuns(), view_of(messages, **options)))


class TestMergeRuns:
    def test_has_nothing_to_do_where_roles_alternate(self):
        """
        Or where there is nothing.
        """
        for messages in ([], talk(3), [user("q")], [user("q1"), user("q2")]):
            view = view_of(messages)

            assert unchanged(view) == run(MergeRuns(), view)

    def test_makes_one_of_neighbours(self):
        """
        A fold of their entries, with all texts, a blank line between.
        """
        view = view_of([user("a"), user("b"), user("c"), assistant("d"), assistant("e"), user("f")])
        step = "MergeRuns(replace=True)"

        assert TrimResult(
            view,
            tuple(
                Fold(
                    Span.between(first, last),
                    Message(role, text, metadata={"merged": {"entries": f"{first}-{last}"}}),
                    reason="neighbours of one role",
                    step=step,
                    replace=True,
                )
                for first, last, role, text in (
                    (1, 3, "user", "a\n\nb\n\nc"),
                    (4, 5, "assistant", "d\n\ne"),
                )
            ),
        ) == run(MergeRuns(replace=True), view)

    def test_keeps_all_parts_in_order(self):
        """
        Texts are joined where they meet, empty ones without a gap, and none that a format marked.
        """
        image = Image(url="https://example.org/cat.png")
        marked = Text("c", extra={"anthropic": {"keys": {"cache_control": {}}}})
        view = view_of(
            [user(["a", image]), user("b"), user(""), user(marked), user([]), user("d"), *talk(1)]
        )

        assert (Text("a"), image, Text("b"), marked, Text("d")) == run(MergeRuns(), view).messages[
            0
        ].parts

    def test_leaves_the_newest_user_message(self):
        """
        A run that ends on it is merged up to it.
        """
        assert ["a1\n\na2", "q1\n\nq2", "q3"] == seen(
            [assistant("a1"), assistant("a2"), user("q1"), user("q2"), user("q3")]
        )
        assert ["q1", "q2", "a1\n\na2"] == seen(
            [user("q1"), user("q2"), assistant("a1"), assistant("a2")]
        )

    def test_leaves_messages_of_other_names(self):
        """
        Two people are two.
        """
        ana, ben = user("a", name="Ana"), user("b", name="Ben")
        done = run(MergeRuns(), view_of([ana, ana, ben, user("c"), *talk(1)]))

        assert ["a\n\na", "b", "c", "q1", "a1"] == texts(done)
        assert "Ana" == done.messages[0].name

    def test_leaves_calls_results_reasoning_and_what_nobody_knows(self):
        """
        They stay as they are, and part the run.
        """
        messages = [
            user("q"),
            assistant("a"),
            call("c1", text="b"),
            result("c1"),
            assistant("c"),
            assistant([Reasoning("hm"), Text("d")]),
            assistant(Reasoning("hm")),
            assistant("e"),
            assistant("f"),
            Message("assistant", "g", extra={"openai_chat": {"keys": {"refusal": "No."}}}),
            user("bye"),
        ]
        view = view_of(messages)
        odd = Message("user", Opaque("openai_chat", {"type": "video_url"}))

        assert unchanged(view) == run(MergeRuns(), view)
        assert ["a", "", "b", "q1", "a1"] == seen([user("a"), odd, user("b"), *talk(1)])

    def test_takes_what_a_format_knows_of_the_shape_alone(self):
        """
        An empty key of an API, or the form the content came in, is nothing that would be lost.
        """
        extra = {"openai_chat": {"keys": {"refusal": None}, "content": "list", "sent": ["id"]}}
        plain = Message("assistant", "a", id="m1", extra=extra)

        assert ["q", "a\n\nb", "bye"] == seen([user("q"), plain, assistant("b"), user("bye")])

    def test_leaves_what_stands_in_a_block(self):
        """
        A user who spoke twice between a call and its result.
        """
        block = [call("c1"), user("wait"), user("hurry"), result("c1")]

        assert ["q", "", "wait", "hurry", "found", "a"] == seen([user("q"), *block, assistant("a")])

    def test_leaves_pins(self):
        """
        By role and by hand.
        """
        assert ["s1", "s2", "q1", "q2", "a\n\nb", "bye"] == seen(
            [
                system("s1"),
                system("s2"),
                user("q1"),
                user("q2"),
                assistant("a"),
                assistant("b"),
                user("bye"),
            ],
            pinned=[3],
        )

    def test_leaves_summaries_and_what_was_put_in(self):
        """
        Also what a message was put in after, which would leave with it.
        """
        summary = Summarize(keep_last=3, label="", role="assistant") | MergeRuns()
        messages = [*talk(1), assistant("b"), user("c"), assistant("d")]
        folded = run(summary, view_of(messages), ask=replies("so"))
        mended = run(Repair() | MergeRuns(), view_of([user("q"), call("c1"), *talk(1)]))

        assert ["so", "b", "c", "d"] == texts(folded)
        assert 5 == len(mended.messages)

    def test_takes_what_was_reworded(self):
        """
        One message stands in for one, so two of these are neighbours too.
        """

        def shouted(view, ctx):
            said = {item: Message(item.message.role, item.message.text.upper()) for item in view}
            return rewrite(view, said, reason="loud")

        view = view_of([user("a"), user("b"), user("c")])

        assert ["A\n\nB", "C"] == texts(run([shouted, MergeRuns()], view))

    def test_does_it_once(self):
        """
        A second run finds no neighbours; a cut brings what was merged as the question.
        """
        view = view_of([user("a"), user("b"), assistant("c"), assistant("d"), assistant("e")])
        done = run(MergeRuns(), view_of([*view.messages, user("f")]))

        assert unchanged(done.view) == run(MergeRuns(), done.view)
        assert ["a\n\nb", "c\n\nd\n\ne"] == texts(done)[:2]


class TestInALog:
    def test_leaves_the_originals(self):
        """
        Projected, they are one; the log and its view are as they were.
        """
        memory = Memory(strategy=MergeRuns())
        memory.append(user("a"), user("b"), assistant("c"))
        memory.append(user("d"))

        assert ["a\n\nb", "c", "d"] == texts(memory.context())
        assert ["a", "b", "c", "d"] == texts(memory.view()) == texts(memory.entries())

    def test_goes_on_with_what_it_wrote(self):
        """
        What was the newest user message then joins the run that stood before it.
        """
        memory = Memory(strategy=MergeRuns(replace=True))
        memory.append(user("a"), user("b"), user("c"))
        first = memory.context()
        memory.append(assistant("d"), user("e"))
        second = memory.context()

        assert (["a\n\nb", "c"], ["a\n\nb\n\nc", "d", "e"]) == (texts(first), texts(second))
        assert {"merged": {"entries": "1-3"}} == second.messages[0].metadata.value
        memory.revert(second.rec)
        assert ["a\n\nb", "c", "d", "e"] == texts(memory.view())

    def test_is_the_question_of_its_round(self):
        """
        A cut brings the whole of it.
        """
        messages = [user("a"), user("b"), assistant("c"), assistant("d", name="n"), user("e")]

        assert ["a\n\nb", "d", "e"] == texts(run(MergeRuns() | Window(3), view_of(messages)))


class TestAsAValue:
    @pytest.mark.parametrize(
        ("strategy", "shown", "data"),
        [
            (MergeRuns(), "MergeRuns()", {"use": "MergeRuns"}),
            (
                MergeRuns(replace=True),
                "MergeRuns(replace=True)",
                {"use": "MergeRuns", "replace": True},
            ),
        ],
        ids=["plain", "all"],
    )
    def test_shows_itself_and_goes_to_data(self, strategy, shown, data):
        """
        A repr evaluates back, data is read back.
        """
        assert (shown, data) == (repr(strategy), to_data(strategy))
        assert strategy == eval(shown, {"MergeRuns": MergeRuns})  # noqa: S307  our own repr
        assert strategy == from_data(data)
        assert hash(strategy) == hash(from_data(data))

    def test_keeps_the_laws(self):
        """
        Every law, on generated logs.
        """
        check_strategy(MergeRuns(replace=True), examples=30)
