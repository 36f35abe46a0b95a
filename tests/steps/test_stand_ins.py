"""
Messages that a function lists where it drops entries: what they stand for, and what is written.
"""

import pytest

from unabridged import (
    Memory,
    Over,
    Repair,
    Sparing,
    Summarize,
    When,
    Window,
    assistant,
    chain,
    custom,
    run,
    system,
    user,
    written_back,
)
from unabridged.contract import Ask
from unabridged.errors import OutcomeError
from unabridged.records import Compacted, Drop, Fold, Insert
from unabridged.results import insert
from unabridged.spans import Span
from unabridged.stores import InMemoryStore
from unabridged.testing import call, replies, result, talk, texts, view_of

RECAP = system("prior summary")


def recapped(view, ctx):
    return [RECAP, *view.rounds[-1].items]


def shown(view):
    """
    Each message of a view beside the entries it stands for.
    """
    return [f"{item.sources}: {item.message.text}" for item in view]


def listing(*wanted):
    """
    A function that lists these: places of items, and messages.
    """

    def function(view, ctx):
        return [view[each] if isinstance(each, int) else each for each in wanted]

    return function


def of(messages, *wanted, pinned=(), **options):
    """
    What is shown once this was listed of these messages.
    """
    step = custom(listing(*wanted), **options)

    return shown(run(step, view_of(messages, pinned=pinned)).view)


class TestWhatAMessageStandsFor:
    def test_is_what_was_dropped_between_its_neighbours(self):
        """
        At the head, in the middle, at the end.
        """
        four = talk(4)

        assert ["1-6: S", "7: q4", "8: a4"] == of(four, system("S"), 6, 7)
        assert ["1: q1", "2-6: S", "7: q4", "8: a4"] == of(four, 0, user("S"), 6, 7)
        assert ["1: q1", "2-6: S", "7: q4", "8: E"] == of(four, 0, user("S"), 6, assistant("E"))

    def test_is_not_what_was_dropped_elsewhere(self):
        """
        That just leaves.
        """
        done = run(listing(2, 3, user("S"), 6, 7), view_of(talk(4)))

        assert (
            Drop(Span.of([1, 2]), step="function"),
            Fold(Span.of([5, 6]), user("S"), step="function"),
        ) == done.changes

    def test_is_shared_by_several(self):
        """
        By blocks, in order: the first stands for all that the others leave it.
        """
        tools = [user("q"), assistant("a"), call("c1"), result("c1"), *talk(1)]

        assert ["1-4: S", "5: T", "6: U", "7: q4", "8: a4"] == of(
            talk(4), system("S"), system("T"), user("U"), 6, 7
        )
        assert ["1-2: S", "3-4: T", "5: q1", "6: a1"] == of(tools, system("S"), user("T"), 4, 5)

    def test_is_nothing_for_more_messages_than_blocks(self):
        """
        What finds nothing left is put in behind.
        """
        done = run(listing(system("S"), system("T"), 1, 2, 3), view_of(talk(2)))

        assert ["1: S", ": T", "2: a1", "3: q2", "4: a2"] == [
            line.removeprefix("nothing") for line in shown(done.view)
        ]
        assert Insert(system("T"), 1, step="function") in done.changes

    def test_is_all_around_what_is_put_back(self):
        """
        A pin parts a gap from nothing, wherever it stands.
        """
        rule = [system("rule"), *talk(4)]

        assert ["1: rule", "2-7: S", "8: q4", "9: a4"] == of(rule, system("S"), 7, 8)
        assert ["1: rule", "2-3, 6-7: S", "4: q2", "5: a2", "8: q4", "9: a4"] == of(
            rule, system("S"), 7, 8, pinned=[4, 5]
        )

    def test_is_nothing_of_a_block_that_is_put_back(self):
        """
        A pair that was parted is whole again, so there is no room between.
        """
        tools = [user("q"), call("c1"), user("wait"), result("c1"), user("z")]
        done = run(listing(0, 1, system("S"), 3, 4), view_of(tools))

        assert Insert(system("S"), 2, step="function") in done.changes
        assert ["q", "", "wait", "found", "S", "z"] == texts(done)

    def test_is_an_earlier_stand_in_as_well(self):
        """
        With all its entries.
        """
        folded = Compacted((Fold(Span.of([1, 2, 5]), system("old"), replace=True),), 6)
        view = view_of(talk(4), decisions=[folded])

        assert ["1-2, 5: old", "3: q2", "4: a2", "6: a3", "7: q4", "8: a4"] == shown(view)
        assert ["1-6: S", "7: q4", "8: a4"] == shown(run(listing(system("S"), 4, 5), view).view)
        assert ["1-2, 5: S", "3: q2", "7: q4"] == shown(run(listing(system("S"), 1, 4), view).view)

    def test_of_one_entry_rewords_it(self):
        """
        It reads as any other, and also an API that takes the prompt apart is sent it.
        """
        done = run(written_back(recapped), view_of([user("a"), user("b")]))
        memory = Memory(strategy=written_back(recapped))
        memory.append(user("a"), user("b"))

        assert (
            Fold(Span.one(1), RECAP, step="written_back(recapped)", replace=True, summary=True),
        ) == done.changes
        assert ["prior summary", "b"] == texts(memory.context(hide_system=True))
        assert ["prior summary", "b"] == texts(memory.context(Window(9), hide_system=True))

    def test_is_put_in_behind_the_item_before_it(self):
        """
        Where nothing is dropped, or it cannot stand in; at the head only where it is first.
        """
        two = [user("a"), assistant("b")]

        assert ["1: a", ": N", "2: b"] == of(two, 0, system("N"), 1)
        assert [": N", "1: a", "2: b"] == of(two, system("N"), 0, 1)
        assert ["1: a", "2: b", ": N"] == of(two, 0, 1, system("N"))

    def test_is_nothing_for_one_that_holds_calls_or_results(self):
        """
        It is put in, which is said: it is never written.
        """
        done = run(listing(call("x1"), result("x1"), 2, 3), view_of(talk(2)))

        assert ["", "found", "q2", "a2"] == texts(done)
        assert (
            "step function: 'assistant: [tool calls: look({})]' holds tool calls or results, so it "
            "does not stand in for entries 1-2, which are dropped there; it is put in and never "
            "written back"
        ) == done.warnings[0]


class TestWritingBack:
    @pytest.mark.parametrize(
        "step",
        [
            written_back(recapped),
            custom(recapped, replace=True, strict=True),
            When(Over(messages=2), written_back(recapped)),
            Sparing(written_back(recapped), first=1),
            chain(Window(6), written_back(recapped)),
        ],
        ids=repr,
    )
    def test_keeps_what_was_put_in(self, step):
        """
        The replaced view is what is next read, turn after turn.
        """
        memory = Memory(strategy=step)
        for number in range(1, 6):
            memory.append(*talk(1, first=number))
            if number == 1:
                continue
            done = memory.context()

            assert shown(memory.view()) == shown(done.view)
            assert ["prior summary", f"q{number}", f"a{number}"] == texts(done)[-3:]

    def test_is_done_by_compact_too(self):
        """
        Whatever can be written is; what was put in where nothing left is not.
        """
        memory = Memory(strategy=recapped)
        memory.append(*talk(1))

        assert ["prior summary", "q1", "a1"] == texts(memory.compact())
        assert ["1: q1", "2: a1"] == shown(memory.view())
        memory.append(*talk(1, first=2))
        memory.context()
        assert 4 == len(memory.view())
        memory.compact()
        assert ["1-2: prior summary", "3: q2", "4: a2"] == shown(memory.view())

    def test_settles(self):
        """
        Once it is written, the same function changes nothing more; a later turn makes it grow.
        """
        memory = Memory(strategy=written_back(recapped))
        memory.append(*talk(3))

        assert memory.context().rec
        assert "prior summary" == memory.summary()
        assert ((), 0) == ((again := memory.context()).changes, again.rec)
        memory.append(*talk(1, first=4))
        memory.context()
        assert ["1-6: prior summary", "7: q4", "8: a4"] == shown(memory.view())
        assert "entry 5 is folded into one message with 1-6" in memory.context().why(5)

    def test_takes_other_words_at_each_turn(self):
        """
        The new message stands for the old one's entries too.
        """

        def counted(view, ctx):
            return [system(f"up to {view[-2].first - 1}"), *view.rounds[-1].items]

        memory = Memory(strategy=written_back(counted))
        memory.append(*talk(2))
        memory.context()
        memory.append(*talk(1, first=3))
        memory.context()

        assert ["1-4: up to 4", "5: q3", "6: a3"] == shown(memory.view())

    def test_is_undone_whole(self):
        """
        The view is as it was, and the step only projects from then on.
        """
        memory = Memory(strategy=written_back(recapped))
        memory.append(*talk(3))
        memory.context()
        memory.revert()

        assert texts(talk(3)) == texts(memory.view())
        assert (["prior summary", "q3", "a3"], 0) == (
            texts(memory.context()),
            memory.context().rec,
        )
        assert texts(talk(3)) == texts(memory.view())

    def test_lets_a_function_ask(self):
        """
        A generator's list is read as any other's.
        """

        def told(view, ctx):
            last = view.rounds[-1].items
            text = yield Ask(tuple(view[: -len(last)]))
            return [system(text), *last]

        memory = Memory(strategy=written_back(told), ask=replies("They met.", "They met."))
        memory.append(*talk(2))
        memory.context()

        assert ["1-2: They met.", "3: q2", "4: a2"] == shown(memory.view())

    def test_grows_only_what_the_step_itself_wrote(self):
        """
        Another's summary, passed on as a message, stands for what it tells of.
        """
        store = InMemoryStore()
        memory = Memory(store, strategy=Summarize(keep_last=2, replace=True), ask=replies("S"))
        memory.append(*talk(3))
        memory.context()
        memory.append(*talk(1, first=4))
        done = memory.context(lambda view, ctx: [view[0].message, *view.messages[-2:]])

        assert ["1-4", "7", "8"] == [str(item.sources) for item in done.view]

    def test_of_a_long_thread_reads_only_its_tail(self):
        """
        A message of a system is looked for among what is always loaded.
        """
        store = InMemoryStore()
        memory = Memory(store, strategy=recapped)
        memory.append(*talk(400))
        entries, read = store.entries, []
        store.entries = lambda thread, span: (read.append(len(span)), entries(thread, span))[1]
        done = memory.thread("default").context(recapped)

        assert ["1-798: prior summary", "799: q400", "800: a400"] == shown(done.view)
        assert sum(read) < 400

    def test_finds_an_equal_message_however_old(self):
        """
        A user's words may be those of an entry that is not loaded.
        """
        memory = Memory(strategy=lambda view, ctx: [user("q1"), *view.rounds[-1].items])
        memory.append(*talk(400))
        fresh = Memory(memory.store)

        done = fresh.context(lambda view, ctx: [user("q1"), *view.rounds[-1].items])

        assert ["1: q1", "799: q400", "800: a400"] == shown(done.view)


class TestRefusals:
    @pytest.mark.parametrize(
        "make", [written_back, lambda f: custom(f, replace=True)], ids=["written_back", "custom"]
    )
    def test_of_a_message_that_stands_for_nothing(self, make):
        """
        Before anything is written; it names what to do.
        """
        memory = Memory(strategy=make(recapped))
        memory.append(*talk(1))

        with pytest.raises(OutcomeError) as caught:
            memory.context()
        assert str(caught.value).removeprefix(f"step {make(recapped)!r}: ") == (
            "'system: prior summary' is put in at the head, where nothing is dropped that "
            "may leave, so there is "
            "nothing to write it back for; give results.fold the items that it stands for, or use "
            "custom(…) without replace=True, which puts it in at each run"
        )
        assert ["q1", "a1"] == texts(memory.view())

    def test_of_a_message_where_the_drops_are_elsewhere(self):
        """
        The place is named by the entry before it.
        """
        with pytest.raises(OutcomeError, match=r"'user: S' is put in after entry 4, where nothing"):
            run(written_back(listing(2, 3, user("S"))), view_of(talk(2)))

    def test_of_more_messages_than_there_is_to_stand_for(self):
        """
        The others are named as what took all.
        """
        step = written_back(listing(system("A"), system("B"), system("C"), 2, 3))
        with pytest.raises(OutcomeError) as caught:
            run(step, view_of(talk(2)))
        assert (
            "'system: C' is put in after entry 2, and others stand for all that is dropped there "
            "(1-2), so there is nothing to write it back for; give results.fold"
        ) in str(caught.value)

    def test_of_calls_and_results(self):
        """
        A stand-in holds none.
        """
        with pytest.raises(OutcomeError) as caught:
            run(written_back(listing(call("x1"), 2, 3)), view_of(talk(2)))
        assert str(caught.value).endswith(
            "'assistant: [tool calls: look({})]', put in at the head, holds tool calls or results, "
            "and a stand-in, as of results.fold, holds none; word them as text, or use custom(…) "
            "without replace=True, which puts it in at each run"
        )


class TestStrategiesThatPutIn:
    def test_go_on_projecting_only(self):
        """
        Made-up results, a date: also under `compact()`.
        """

        def dated(view, ctx):
            return insert(view, system("Monday"), reason="the date")

        memory = Memory(strategy=[Repair(), written_back(dated), Window(4)])
        memory.append(user("q"), call("c1"), assistant("a"), *talk(2))
        done = memory.compact()

        assert "Monday" in texts(done)
        assert "Monday" not in texts(memory.view())
