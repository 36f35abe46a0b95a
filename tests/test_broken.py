"""
Where a context stopped beginning like the one before, and what did it.
"""

import pytest

from unabridged import (
    Memory,
    NoCompaction,
    Summarize,
    TokenBudget,
    Window,
    assistant,
    chain,
    system,
    tokens,
    user,
)
from unabridged.results import hold, insert
from unabridged.testing import replies, talk


def memory_of(*messages, **settings):
    """
    A memory that counts words.
    """
    memory = Memory(count=tokens.words, **settings)
    memory.append(*messages)

    return memory


def broken(result):
    """
    The line of the explanation that says what broke the prefix; "" if there is none.
    """
    found = [line for line in result.explain().splitlines() if line.startswith("warning: prefix")]
    return found[0].removeprefix("warning: ") if found else ""


class TestBroken:
    def test_says_nothing_while_the_context_goes_on_from_the_one_before(self):
        """
        Also the first time, when it is the same, and when it stops short of the end.
        """
        memory = memory_of(*talk(3))

        assert "" == broken(memory.context())
        assert "" == broken(memory.context())

        memory.append(user("q4"))

        assert "" == broken(memory.context())

        memory.rewind(7)

        assert "" == broken(memory.context())
        assert (6, 7) == (len(memory.context().messages), 7)

    def test_names_the_cut(self):
        """
        Its step and reason, the entry from which on all is new, and how much that is.
        """
        memory = memory_of(system("s"), *talk(3), strategy=chain(NoCompaction(), Window(6)))
        memory.context()
        memory.append(user("q4"), assistant("a4"))

        assert (
            "prefix broken from entry 4 on, by Window(6) (before the last 6 messages): "
            "6 tokens are no longer the beginning of what was sent before"
        ) == broken(memory.context())

    def test_a_standing_cut_breaks_it_once(self):
        """
        Between its two marks a cut leaves the prefix alone.
        """
        memory = memory_of(strategy=TokenBudget(8, down_to=4))
        lines = []
        for number in range(12):
            memory.append(user(f"q{number}"))
            lines.append(broken(memory.context()))
        cuts = [number for number, line in enumerate(lines) if line]

        assert [8] == cuts
        assert "by TokenBudget(8, down_to=4)" in lines[8]

    def test_names_the_summary(self):
        """
        The step whose stand-in now stands there.
        """
        memory = memory_of(*talk(2), strategy=Summarize(2, every=4), ask=replies("so far", "more"))
        memory.context()
        memory.append(*talk(4)[4:])

        line = broken(memory.context())

        assert "from entries 1-" in line
        assert "by Summarize(2, every=4)" in line

    def test_names_what_was_written_back(self):
        """
        A summary or a cut of the log itself, with its record.
        """
        memory = memory_of(*talk(4))
        memory.context()
        rec = memory.compact(Window(4)).rec

        assert "" == broken(memory.context())  # the one that wrote it broke the prefix

        memory.revert(rec)
        memory.context()
        memory.retract(3)

        assert f"memory.retract(3) (record {memory.view().head})" in broken(memory.context())

    def test_names_a_summary_that_somebody_else_wrote_back(self):
        """
        What another process folded is in the log.
        """
        memory = memory_of(*talk(4))
        memory.context()
        other = Memory(memory.store, strategy=Summarize(2, replace=True), ask=replies("so far"))
        other.context()

        line = broken(memory.context())

        assert "from entries 1-6 on, by Summarize(2, replace=True)" in line
        assert ", written back" in line

    def test_names_what_was_put_in(self):
        """
        The step that inserts; a prompt that is not in the log is said to be one.
        """

        def date(view, ctx):
            return insert(view, system(f"It is day {len(view)}."), reason="the date")

        memory = memory_of(*talk(2), strategy=date)
        memory.context()
        memory.append(user("q3"))

        assert "from a message put in on, by date (the date)" in broken(memory.context())

        memory = memory_of(*talk(2))
        memory.context(system="Be brief.")

        assert "by another system prompt" in broken(memory.context(system="Be kind."))

    def test_names_what_came_back(self):
        """
        A recalled message stands before those that were there.
        """

        def recall(view, ctx):
            return hold(view, view[:1], reason="recalled")

        memory = memory_of(*talk(4), strategy=Window(2))
        memory.context()

        line = broken(memory.context(chain(recall, Window(2))))

        assert "from entry 1 on, by recall (recalled)" in line

        memory.context()
        memory.pin(3)

        assert "another strategy, pin or record of the log" in broken(memory.context(Window(2)))

    def test_looks_at_what_is_sent(self):
        """
        A hidden prompt is no part of it.
        """
        memory = memory_of(system("one"), user("q1"))
        memory.context(hide_system=True)
        memory.append(system("two"), user("q2"))

        assert "" == broken(memory.context(hide_system=True))
        assert "from entry 1 on" in broken(memory.context())


@pytest.mark.parametrize("last", [2, 4])
def test_kept_counts_as_the_result_does(last):
    """
    Messages and tokens of the prefix, in the result's tokens.
    """
    memory = memory_of(*talk(4), strategy=Window(last))
    first = memory.context()
    memory.append(*talk(5)[8:])
    second = memory.context(Window(last + 2))

    assert (last, last, last) == (
        second.kept.messages,
        second.kept.out_of,
        second.kept.tokens,
    )
    assert first.messages == second.messages[:last]
