"""
Which summaries of a tree stand for what is old, and when there are enough for one more.
"""

from unabridged.records import Note
from unabridged.spans import Span
from unabridged.trees import Node, due, key_of, newest_text, nodes_of, standing


def node(level, first, last, text="", *, written=False):
    return Node(level, text or f"{first}-{last}", Span.between(first, last), written)


def note(level, first, last, model=""):
    value = {"text": f"{first}-{last}", "level": level}

    return Note("summary", key_of(model, level), value, Span.between(first, last))


class TestNodesOf:
    def test_are_those_of_a_model(self):
        """
        Other notes, and those of a summary without a tree, are none of them.
        """
        other = [
            Note("summary", "", {"text": "rolling"}, Span.one(1)),
            Note("cut", "Window(4)", {"first": 3}),
            Note("summary", "", "text alone", Span.one(1)),
            note(0, 1, 2, "large"),
        ]

        assert [node(0, 1, 2), node(1, 1, 4)] == list(
            nodes_of([*other, note(0, 1, 2), note(1, 1, 4)], "")
        )


class TestStanding:
    def test_are_the_highest_in_order(self):
        """
        What a higher one tells of needs none below it.
        """
        nodes = [node(0, 5, 6), node(0, 1, 2), node(0, 3, 4), node(1, 1, 4)]

        assert (node(1, 1, 4), node(0, 5, 6)) == standing(nodes, Span.between(1, 9))

    def test_leaves_out_what_tells_of_anything_else(self):
        """
        Then those below it stand.
        """
        nodes = [node(0, 1, 2), node(0, 3, 4), node(1, 1, 4)]

        assert (node(0, 1, 2),) == standing(nodes, Span.between(1, 3))

    def test_prefers_the_one_in_the_view_and_then_the_newest(self):
        """
        Of two that tell of the same entries.
        """
        old, new = node(0, 1, 2, "old"), node(0, 1, 2, "new")
        written = node(0, 1, 2, "old", written=True)

        assert (new,) == standing([old, new], Span.between(1, 9))
        assert (written,) == standing([written, new], Span.between(1, 9))


class TestDue:
    def test_is_the_oldest_run_of_one_level(self):
        """
        Others in between end a run.
        """
        nodes = [node(1, 1, 4), node(0, 5, 6), node(0, 7, 8), node(0, 9, 10)]

        assert tuple(nodes[1:3]) == due(nodes, 2)
        assert () == due([nodes[1], node(1, 7, 8), nodes[3]], 2)
        assert () == due(nodes, 4)


class TestNewestText:
    def test_joins_the_summaries_of_a_tree(self):
        """
        In the order of their entries; or it is the newest one alone.
        """
        there = Span.between(1, 9)
        rolling = Note("summary", "", {"text": "rolling"}, Span.one(1))

        assert "1-4\n\n5-6" == newest_text([note(0, 1, 2), note(1, 1, 4), note(0, 5, 6)], there)
        assert "rolling" == newest_text([note(0, 1, 2), rolling], there)
        assert "" == newest_text([note(0, 1, 2)], Span.one(1))

    def test_passes_over_what_is_no_summary_of_ours(self):
        """
        A strategy of somebody else may keep notes of this kind too.
        """
        odd = [Note("summary", "", value, Span.one(1)) for value in ("text", 3, None, {"text": 1})]
        ours = Note("summary", "", {"text": "ours"}, Span.one(1))

        assert "ours" == newest_text([ours, *odd], Span.between(1, 9))
