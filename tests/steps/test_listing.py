"""
Functions that list messages: each is the item that it came from, or is put in.
"""

import asyncio

import pytest
from attrs import evolve

from unabridged import arun, assistant, chain, custom, run, system, tool, user
from unabridged.contract import Ask
from unabridged.errors import OutcomeError
from unabridged.messages import Message, ToolCall
from unabridged.records import Fold, Insert
from unabridged.results import insert
from unabridged.spans import Span
from unabridged.testing import call, replies, result, talk, texts, view_of

TWICE = [user("c"), assistant("x"), user("c"), assistant("y"), user("z")]


def kept(function, messages, **options):
    """
    The entries that stay where this function is run on these messages, and what was put in.
    """
    done = run(function, view_of(messages), **options)

    return [item.first or item.message.text for item in done.view]


def kept_texts(listed, messages):
    return texts(run(lambda view, ctx: listed, view_of(messages)))


class TestMessagesOfItems:
    def test_are_their_items(self):
        """
        As the function of a first hour gives them: nothing is sent twice.
        """
        newest = custom(lambda view, ctx: [item.message for item in view][-1:])
        done = run(newest, view_of([user("a"), assistant("b"), user("c")]))

        assert (["c"], ()) == (texts(done), done.warnings)
        assert "entry 1 left by <lambda>" == done.why(1)

    def test_are_the_newest_of_equal_ones(self):
        """
        Each item once, so two of them are two items.
        """
        assert [3, 5] == kept(lambda view, ctx: [user("c"), view[-1]], TWICE)
        assert [1, 3, 5] == kept(lambda view, ctx: [user("c"), user("c"), view[-1]], TWICE)
        assert [1, 2, 3, 4, 5] == kept(lambda view, ctx: view.messages, TWICE)
        assert [2, 3, 4, 5] == kept(lambda view, ctx: view.messages[-4:], TWICE)

    @pytest.mark.parametrize("replace", [False, True])
    def test_reword_items_of_their_roles_that_they_stand_for(self, replace):
        """
        One for one, as a function that shortens all texts does: the newest is not sent twice.
        """
        louder = custom(
            lambda view, ctx: [Message(m.role, m.text.upper()) for m in view.messages],
            replace=replace,
        )
        done = run(louder, view_of([*talk(1), user("c")]))

        assert (["Q1", "A1", "C"], ()) == (texts(done), done.warnings)
        assert [1, 2, 3] == [item.first for item in done.view]

    def test_of_other_roles_or_more_of_them_reword_nothing(self):
        """
        What must stay is put back beside them, and so is what is pinned.
        """
        view = [system("s"), *talk(1), user("c")]

        assert ["s", "t", "c"] == kept_texts([system("t")], view)
        assert ["t", "s", "q1", "a1", "c"] == kept_texts([system("t"), *view[1:]], view)
        assert ["s", "q1", "a1", "d", "c"] == kept_texts([*view[:3], assistant("d")], view)
        assert ["s", "q1", "a1", "d", "e", "c"] == kept_texts(
            [*view[:3], user("d"), user("e")], view
        )

    def test_beyond_the_items_there_are_is_put_in(self):
        """
        An equal message further on is one more.
        """
        view = [system("stay"), *talk(1)]

        assert [1, 2, 3, "stay"] == kept(lambda view, ctx: [*view, system("stay")], view)
        assert ["stay", 1, 2, 3] == kept(lambda view, ctx: [system("stay"), *view], view)
        assert [1, 2, "q1", 3] == kept(
            lambda view, ctx: [*view.messages[:2], user("q1"), *view.messages[2:]], view
        )

    def test_stand_where_they_stood(self):
        """
        No item moves, in whatever order they are given.
        """
        assert [1, 2, 3, 4] == kept(lambda view, ctx: view.messages[::-1], talk(2))
        assert [1, 3, 4] == kept(
            lambda view, ctx: [view[3].message, view[0], view[2].message], talk(2)
        )

    def test_come_with_items(self):
        """
        An item that the list holds is taken already.
        """
        both = kept(lambda view, ctx: [view[2], user("c"), *view[3:]], TWICE)

        assert [1, 3, 4, 5] == both

    def test_of_calls_keep_their_results(self):
        """
        Whole blocks, as where items are given.
        """
        messages = [user("q"), call("c1"), result("c1"), assistant("a"), user("z")]
        done = run(lambda view, ctx: [view[1].message, view[4].message], view_of(messages))

        assert [2, 3, 5] == [item.first for item in done.view]
        assert (
            "step <lambda>: parted a block: left out its mate, entry 3, is put back",
        ) == done.warnings

    def test_that_was_put_in_before_is_not_put_in_again(self):
        """
        It stays where its anchor does.
        """
        view = insert(view_of(talk(1)), system("Monday"), reason="date").view

        assert ["Monday", "q1", "a1"] == texts(run(lambda view, ctx: view.messages, view))
        assert ["Monday", "Monday", "q1", "a1"] == texts(
            run(lambda view, ctx: [*view, system("Monday")][::-1], view)
        )

    def test_may_be_given_in_any_way(self):
        """
        By generators, generators that ask, and `async def` functions.
        """

        def yielding(view, ctx):
            yield from view.messages[-2:]

        def asking(view, ctx):
            count = yield Ask(())
            return list(view.messages[-int(count) :])

        async def awaited(view, ctx):
            return view.messages[-2:]

        assert [3, 4] == kept(yielding, talk(2))
        assert [3, 4] == kept(asking, talk(2), ask=replies("2"))
        done = asyncio.run(arun(chain(awaited), view_of(talk(2))))
        assert [3, 4] == [item.first for item in done.view]

    def test_are_written_as_items_are(self):
        """
        Under `replace=True` too: what is left of the list is dropped, and nothing put in.
        """
        newest = custom(lambda view, ctx: view.messages[-2:], replace=True, strict=True)

        assert [3, 4] == kept(newest, talk(2))


class TestReworded:
    def test_with_its_calls_is_its_item(self):
        """
        So a function may shorten messages, and give these.
        """
        messages = [user("q"), call("c1", text="long"), result("c1", "long"), user("z")]

        def shorter(view, ctx):
            return [
                view[0].message,
                call("c1", text="so"),
                tool("ok", call_id="c1"),
                view[3].message,
            ]

        done = run(shorter, view_of(messages))

        assert [1, 2, 3, 4] == [item.first for item in done.view]
        assert ["q", "so", "ok", "z"] == [m.text or m.tool_results[0].text for m in done.messages]

    def test_of_ids_that_are_used_again_are_each_its_own(self):
        """
        From the newest back, so each stays in its place.
        """
        twice = [call("c1"), result("c1", "one"), call("c1"), result("c1", "two"), user("z")]

        def louder(view, ctx):
            return [
                tool(m.text.upper(), call_id="c1") if m.role == "tool" else m for m in view.messages
            ]

        done = run(louder, view_of(twice))

        assert ["", "ONE", "", "TWO", "z"] == texts(done)
        assert [1, 2, 3, 4, 5] == [item.first for item in done.view]

    def test_of_words_stands_in_for_its_entry(self):
        """
        Where one is dropped and one is given.
        """

        def louder(view, ctx):
            return [evolve(view[0].message, parts=user("Q1").parts), *view.messages[1:]]

        done = run(louder, view_of(talk(2)))

        assert (Fold(Span.one(1), user("Q1"), step="louder"),) == done.changes

    def test_to_other_calls_is_put_in(self):
        """
        Calls that the view has not are an example, say.
        """
        example = [call("x1"), result("x1")]
        done = run(lambda view, ctx: [*example, *view], view_of(talk(1)))

        assert (
            Insert(example[0], 0, step="<lambda>"),
            Insert(example[1], 0, step="<lambda>"),
        ) == done.changes

    def test_to_arguments_that_are_no_json_is_refused(self):
        """
        As for an item.
        """
        broken = assistant(calls=[ToolCall("c1", "look", "{")])
        messages = [call("c1"), result("c1")]
        with pytest.raises(OutcomeError, match="the arguments of call 'c1' in entry 1 are not"):
            run(lambda view, ctx: [broken, view[1]], view_of(messages))
