"""
States: what the records of a thread come to, one decision after another.
"""

from attrs import evolve

from unabridged import assistant, system, user
from unabridged.ledger import Gone, Late, Undone, in_force
from unabridged.links import Marks
from unabridged.messages import Message, ToolResult
from unabridged.records import (
    Appended,
    Compacted,
    Drop,
    Fold,
    Hold,
    Insert,
    Note,
    Noted,
    Pinned,
    Record,
    Reverted,
)
from unabridged.spans import NOTHING, Span
from unabridged.states import ThreadState, advance, rebuilt
from unabridged.testing import call, result

SUMMARY = system("summary")


def log(*lines):
    """
    Records of these lines, numbered; a message is one that appends it.
    """
    records, seq = [], 0
    for rec, line in enumerate(lines, start=1):
        body = Appended(0, line) if isinstance(line, Message) else line
        if isinstance(body, Appended):
            seq += 1
            body = evolve(body, seq=seq)
        records.append(Record(rec, float(rec), body))

    return records


def state_of(*lines):
    return rebuilt(log(*lines))


def drop(*entries, step="Window(2)", reason="old"):
    return Drop(Span.of(entries), step=step, reason=reason)


def fold(*entries, into=SUMMARY, step="Summarize(2)"):
    return Fold(Span.of(entries), into, step=step)


def wrote(*changes):
    return Compacted(changes, 0)


def seen(state):
    """
    The entries that stand for themselves, those of each stand-in, and those that left.
    """
    return (
        list(state.live),
        [list(fold.sources) for fold in state.folds],
        [list(gone.sources) for gone in state.gone],
    )


CHAT = (user("q1"), assistant("a1"), user("q2"), assistant("a2"))


class TestAppended:
    def test_counts_records_and_entries(self):
        """
        Every record has a number, every message another.
        """
        state = state_of(*CHAT, Noted(()), user("q3"))

        assert (6, 5, [1, 2, 3, 4, 5]) == (state.rec, state.seq, list(state.live))

    def test_pins_by_role_and_by_hand(self):
        """
        System and developer messages by their role; a pin guards its block.
        """
        state = state_of(
            system("rule"), Message("developer", "d"), Appended(0, user("q"), pinned=True)
        )

        assert ([1, 2], [3], [1, 2, 3]) == (
            list(state.role),
            list(state.hand),
            list(state.guarded),
        )

    def test_a_result_joins_the_guarded_block_of_its_call(self):
        """
        A pinned call guards the results that come later, and what stands between.
        """
        pinned = Appended(0, call("c1"), pinned=True)

        assert [2, 3] == list(state_of(user("q"), pinned, result("c1")).guarded)

    def test_a_block_of_its_own_is_not_guarded(self):
        """
        A pin elsewhere guards nothing here.
        """
        pinned = Appended(0, user("q"), pinned=True)

        assert [1] == list(state_of(pinned, call("c1"), result("c1")).guarded)


class TestCompacted:
    def test_drops_leave(self):
        """
        One line for each step and reason tells what left.
        """
        state = state_of(*CHAT, wrote(drop(1)), wrote(drop(2), drop(3, step="other")))

        assert ([4], [], [[1, 2], [3]]) == seen(state)
        assert (
            Gone(Span.of([1, 2]), 6, "Window(2)", "old"),
            Gone(Span.of([3]), 6, "other", "old"),
        ) == state.gone

    def test_a_fold_takes_its_entries_from_everything_else(self):
        """
        From the live ones, from an older stand-in, from those that left: the last one owns them.
        """
        state = state_of(*CHAT, wrote(drop(1)), wrote(fold(2, 3)), wrote(fold(1, 2, 3)))

        assert ([4], [[1, 2, 3]], []) == seen(state)

    def test_an_older_stand_in_keeps_the_rest(self):
        """
        What a later change does not name stays with the earlier one.
        """
        state = state_of(*CHAT, wrote(fold(1, 2, 3)), wrote(drop(2)))

        assert ([4], [[1, 3]], [[2]]) == seen(state)

    def test_stand_ins_are_in_the_order_of_their_oldest_entry(self):
        """
        Whatever the order in which they were made.
        """
        state = state_of(*CHAT, wrote(fold(3, 4), fold(1, 2)))

        assert [[1, 2], [3, 4]] == seen(state)[1]

    def test_holds_and_inserts_only_project(self):
        """
        Even in a record they come to nothing.
        """
        changes = wrote(Hold(Span.one(1)), Insert(user("x")))

        assert seen(state_of(*CHAT)) == seen(state_of(*CHAT, changes))

    def test_a_reworded_entry_still_stands(self):
        """
        A stand-in for one entry is that entry, in other words.
        """
        state = state_of(*CHAT, wrote(fold(2, into=assistant("short"))))

        assert ([1, 3, 4], [1, 2, 3, 4]) == (list(state.live), list(state.standing))

    def test_moves_the_newest_words_to_what_stands(self):
        """
        With the newest question gone, the one before is the newest, and what follows belongs to it.
        """
        state = state_of(*CHAT, wrote(drop(3, 4, step="memory.rewind(3)")))

        assert (1, 1) == (state.links.asked, state.links.opener)

    def test_has_no_newest_words_when_none_stand(self):
        """
        As in a new thread.
        """
        state = state_of(*CHAT, wrote(drop(1, 2, 3, 4, step="memory.clear()")))

        assert (0, (0, 0), 0) == (state.links.asked, state.links.asked_block, state.links.opener)


class TestPinned:
    def test_pins_and_lets_go(self):
        """
        Letting go undoes a role's pin too.
        """
        state = state_of(system("rule"), user("q"), Pinned(Span.one(2)))
        after = state_of(
            system("rule"), user("q"), Pinned(Span.one(2)), Pinned(Span.of([1, 2]), on=False)
        )

        assert ([2], [1], [1, 2]) == tuple(map(list, (state.hand, state.role, state.guarded)))
        assert ([], [], []) == tuple(map(list, (after.hand, after.role, after.guarded)))


class TestReverted:
    def test_brings_everything_back(self):
        """
        The view is as it was, and the change is remembered as undone.
        """
        state = state_of(*CHAT, wrote(drop(1, 2)), Reverted(5))

        assert ([1, 2, 3, 4], [], []) == seen(state)
        assert (Undone("Window(2)", Span.of([1, 2])),) == state.undone

    def test_reverting_a_revert_redoes(self):
        """
        And nothing is undone any more; any number of times.
        """
        once = state_of(*CHAT, wrote(drop(1, 2)), Reverted(5), Reverted(6))
        twice = state_of(*CHAT, wrote(drop(1, 2)), Reverted(5), Reverted(6), Reverted(7))

        assert ([3, 4], [], [[1, 2]]) == seen(once)
        assert () == once.undone
        assert ([1, 2, 3, 4], [], []) == seen(twice)
        assert (Undone("Window(2)", Span.of([1, 2])),) == twice.undone

    def test_later_changes_stay(self):
        """
        The log is read again without that record, and with all others.
        """
        state = state_of(*CHAT, wrote(drop(1)), wrote(fold(1, 2, 3)), Reverted(6))

        assert ([2, 3, 4], [], [[1]]) == seen(state)

    def test_what_was_taken_by_hand_is_undone_too(self):
        """
        Under its own name, which no step has.
        """
        state = state_of(*CHAT, wrote(drop(1, step="memory.retract(1)")), Reverted(5))

        assert (Undone("memory.retract(1)", Span.one(1)),) == state.undone

    def test_a_redo_leaves_out_what_is_pinned_since(self):
        """
        And says so.
        """
        state = state_of(
            *CHAT,
            wrote(drop(1), drop(2, step="other")),
            Reverted(5),
            Pinned(Span.one(1)),
            Reverted(6),
        )

        assert ([1, 3, 4], [], [[2]]) == seen(state)
        assert ("redoing record 5 left out Drop of 1: entry 1 is pinned since",) == state.skipped

    def test_a_redo_takes_what_was_pinned_before(self):
        """
        What takes pins may take them again.
        """
        clear = drop(1, step="memory.clear()")
        state = state_of(*CHAT, Pinned(Span.one(1)), wrote(clear), Reverted(6), Reverted(7))

        assert ([2, 3, 4], ()) == (list(state.live), state.skipped)

    def test_a_redo_takes_what_was_unpinned_again(self):
        """
        Only the pins that are there now count.
        """
        state = state_of(
            *CHAT,
            wrote(drop(1)),
            Reverted(5),
            Pinned(Span.one(1)),
            Pinned(Span.one(1), on=False),
            Reverted(6),
        )

        assert ([2, 3, 4], ()) == (list(state.live), state.skipped)

    def test_a_redo_leaves_out_what_is_part_of_another_stand_in(self):
        """
        The newer stand-in keeps its entries whole.
        """
        state = state_of(*CHAT, wrote(drop(1, 2)), Reverted(5), wrote(fold(2, 3)), Reverted(6))

        assert ([1, 4], [[2, 3]], []) == seen(state)
        assert (
            "redoing record 5 left out Drop of 1-2: entry 2 is part of another stand-in",
        ) == state.skipped

    def test_an_insert_is_never_left_out(self):
        """
        It names no entry.
        """
        state = state_of(*CHAT, wrote(Insert(user("x")), drop(1)), Reverted(5), Reverted(6))

        assert ([2, 3, 4], ()) == (list(state.live), state.skipped)

    def test_undoing_a_redo_forgets_what_it_left_out(self):
        """
        There is nothing left to say.
        """
        state = state_of(
            *CHAT, wrote(drop(1)), Reverted(5), Pinned(Span.one(1)), Reverted(6), Reverted(8)
        )

        assert () == state.skipped

    def test_in_force_are_those_that_nothing_undoes(self):
        """
        A revert of a revert lets the first one count again.
        """
        decisions = log(wrote(drop(1)), wrote(drop(2)), Reverted(1), Reverted(2), Reverted(3))

        assert {1, 4, 5} == in_force(decisions)


class TestLate:
    def test_a_bare_result_goes_where_its_call_went(self):
        """
        A dropped call takes the result along, under the call's record.
        """
        state = state_of(user("q"), call("c1"), user("x"), wrote(drop(1, 2)), result("c1"))

        assert ([3], [], [[1, 2], [4]]) == seen(state)
        assert Gone(Span.one(4), 4, "Window(2)", "answers a call that left") == state.gone[-1]
        assert (Late(4, Span.one(2), bare=True),) == state.late

    def test_a_bare_result_joins_the_stand_in_of_its_call(self):
        """
        The summary then stands for the result too.
        """
        state = state_of(user("q"), call("c1"), user("x"), wrote(fold(1, 2)), result("c1"))

        assert ([3], [[1, 2, 4]], []) == seen(state)

    def test_a_rewording_takes_nothing(self):
        """
        The call is still there, in other words.
        """
        short = call("c1", text="short")
        state = state_of(user("q"), call("c1"), wrote(fold(2, into=short)), result("c1"))

        assert ([1, 3], [[2]], []) == seen(state)

    def test_a_result_stays_while_a_call_that_it_answers_does(self):
        """
        Only when all of them left does it leave.
        """
        both = Message("tool", [ToolResult("c1"), ToolResult("c2")])
        state = state_of(user("q"), call("c1"), call("c2"), wrote(drop(2)), both)

        assert ([1, 3, 4], [], [[2]]) == seen(state)

    def test_words_beside_the_result_keep_it(self):
        """
        What a user says is never lost to a decision made before.
        """
        mixed = user([ToolResult("c1"), "and go on"])
        state = state_of(user("q"), call("c1"), wrote(drop(1, 2)), mixed)

        assert ([3], [], [[1, 2]]) == seen(state)
        assert (Late(3, Span.one(2), bare=False),) == state.late

    def test_a_redo_takes_it_along(self):
        """
        It came while the drop of its call was undone.
        """
        lines = (user("q"), call("c1"), user("x"), wrote(drop(1, 2)), Reverted(4), result("c1"))

        assert ([1, 2, 3, 4], [], []) == seen(state_of(*lines))
        assert ([3], [], [[1, 2], [4]]) == seen(state_of(*lines, Reverted(5)))
        assert ([1, 2, 3, 4], [], []) == seen(state_of(*lines, Reverted(5), Reverted(7)))

    def test_one_that_left_by_itself_is_not_taken_again(self):
        """
        It is gone already, for its own reason.
        """
        lines = (user("q"), call("c1"), user("x"), wrote(drop(1, 2)), Reverted(4), result("c1"))
        state = state_of(*lines, wrote(drop(4, reason="long")), Reverted(5))

        assert ([3], [], [[1, 2], [4]]) == seen(state)
        assert ["old", "long"] == [gone.reason for gone in state.gone]

    def test_stays_with_a_call_that_is_reworded_again(self):
        """
        The drop of the reworded call was undone.
        """
        short = call("c1", text="short")
        lines = (user("q"), call("c1"), wrote(fold(2, into=short)), wrote(drop(2)), Reverted(4))
        state = state_of(*lines, result("c1"))

        assert ([1, 3], [[2]], []) == seen(state)
        assert (Late(3, Span.one(2), bare=True),) == state.late

    def test_came_in_time_where_its_call_still_stood(self):
        """
        Nothing is kept about it.
        """
        state = state_of(user("q"), call("c1"), user("x"), wrote(drop(1)), result("c1"))

        assert ([2, 3, 4], ()) == (list(state.live), state.late)

    def test_what_follows_belongs_to_the_round_in_the_view(self):
        """
        The message that opened the call's round has left; the user's words between open one now.
        """
        lines = (user("q"), call("c1"), user("x"), wrote(drop(1, 2)), result("c1"))
        redone = state_of(*lines, Reverted(4), Reverted(6))

        assert (3, 3) == (redone.links.opener, state_of(*lines).links.opener)


class TestNotes:
    def test_the_last_cut_of_a_step_is_kept(self):
        """
        The one before it is forgotten; other steps' cuts stay.
        """
        old, other, new = (
            Note("cut", "Window(4)", {"first": 3}),
            Note("cut", "Window(9)", {"first": 1}),
            Note("cut", "Window(4)", {"first": 7}),
        )

        assert (other, new) == state_of(Noted((old, other)), Noted((new,))).notes

    def test_the_newest_answers_of_a_kind_are_kept(self):
        """
        Thirty-two of each kind and key, so a state stays small.
        """
        notes = [Note("summary", "", {"text": str(n)}, Span.one(n)) for n in range(1, 41)]
        state = state_of(*(Noted((note,)) for note in notes))

        assert tuple(notes[-32:]) == state.notes


class TestAdvance:
    def test_replaying_is_advancing(self):
        """
        The state of all records is the one that each of them led to, given the marks beside them.
        """
        records = log(*CHAT, wrote(drop(1)), Reverted(5), Pinned(Span.one(2)), Noted(()))
        marks = {1: Marks(1, 1, 1), 2: Marks(2, 1, 1), 3: Marks(3, 3, 3), 4: Marks(4, 3, 3)}

        class Beside:
            def marks(self, seq):
                return marks[seq]

            def crossed(self, seq):
                return any(later > seq and mark.head <= seq for later, mark in marks.items())

            def decisions(self):
                return [record for record in records[4:7] if record.rec <= state.rec]

        state = ThreadState()
        for record in records:
            state, mark = advance(state, record, Beside())
            assert (mark is not None) == isinstance(record.body, Appended)
            assert rebuilt(records[: record.rec]).live == state.live

        assert rebuilt(records) == state

    def test_an_empty_log_is_an_empty_state(self):
        """
        Nothing was appended, nothing stands.
        """
        assert ThreadState() == rebuilt([])
        assert NOTHING == ThreadState().retracted == ThreadState().standing

    def test_retracted_are_those_a_person_took(self):
        """
        Their ids may be used again; what a step dropped may not.
        """
        state = state_of(*CHAT, wrote(drop(1), drop(2, step="memory.retract(2)")))

        assert [2] == list(state.retracted)
