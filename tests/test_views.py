"""
Views: sequences of items, their blocks and rounds, what changes make of them, and how they load.
"""

import itertools
from collections.abc import Sequence

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from unabridged import assistant, system, user
from unabridged.items import Block, Item, Round, Unloaded
from unabridged.messages import Message, Reasoning, ToolResult
from unabridged.records import Appended, Compacted, Drop, Fold, Hold, Insert, Note, Noted, Pinned
from unabridged.spans import NOTHING, Span
from unabridged.stores import InMemoryStore
from unabridged.testing import call, result, talk, texts, view_of
from unabridged.viewing import FIRST, ROOM, Loaded
from unabridged.views import View, apply

TOOLS = [user("q1"), call("c1"), result("c1"), assistant("a1"), user("q2"), assistant("a2")]

logs = st.lists(
    st.sampled_from(
        [
            user("words"),
            assistant("answer"),
            assistant(Reasoning("hm")),
            system("rule"),
            call("a"),
            call("a", "b"),
            result("a"),
            result("b"),
            user([ToolResult("a"), "and words"]),
        ]
    ),
    min_size=1,
    max_size=16,
)
slices = st.builds(
    slice,
    st.none() | st.integers(-6, 6),
    st.none() | st.integers(-6, 6),
    st.sampled_from([None, 1, 2, -1, -2]),
)


def stored(messages, *decisions):
    """
    A store whose one thread, "t", holds this.
    """
    store = InMemoryStore()
    store.append("t", [Appended(0, message) for message in messages])
    for decision in decisions:
        store.append("t", [decision])

    return store


def opened(store, depth=FIRST):
    """
    What a memory loads before the first view.
    """
    loaded = Loaded(store.state("t"), depth)
    loaded.take(store.entries("t", loaded.wanted_first()))

    return loaded


def driven(store, depth, read):
    """
    What *read* finds in a view that loads more whenever it asks, and how often it was called.
    """
    loaded, calls = opened(store, depth), 1
    while True:
        try:
            return read(loaded.view()), calls
        except Unloaded as signal:
            wanted = loaded.wanted_next(signal)
            assert wanted
            loaded.take(store.entries("t", wanted))
            calls += 1


def firsts(view):
    return [item.first for item in view]


def outline(view):
    """
    The words of each item with the entries it stands for.
    """
    return [(item.message.text, str(item.sources)) for item in view]


class TestView:
    def test_is_a_sequence_of_items(self):
        """
        Length, indices, slices, membership, both directions.
        """
        view = view_of(talk(2))
        items = list(view)

        assert isinstance(view, Sequence)
        assert 4 == len(view)
        assert (items[0], items[-1]) == (view[0], view[-1])
        assert tuple(items[1:3]) == view[1:3]
        assert items[::-1] == list(reversed(view))
        assert items[2] in view
        assert 2 == view.index(items[2])

    def test_refuses_an_index_beyond_it(self):
        """
        As any sequence.
        """
        with pytest.raises(IndexError):
            view_of(talk(1))[2]

    def test_is_a_value(self):
        """
        Views with the same items and notes are equal; other things are not views.
        """
        noted = view_of(talk(2), decisions=[Noted((Note("cut", "x", {}),))])

        assert view_of(talk(2)) == view_of(talk(2)) != view_of(talk(3))
        assert hash(view_of(talk(2))) == hash(view_of(talk(2)))
        assert view_of(talk(2)) != noted
        assert view_of(talk(1)) != list(view_of(talk(1)))

    def test_may_be_empty(self):
        """
        An empty log has no messages, blocks, rounds, tail or sources.
        """
        view = view_of([])

        assert View() == view
        assert ((), (), NOTHING, 0) == (view.messages, view.tail(3), view.sources, view.head)
        assert ([], []) == (list(view.blocks), list(view.rounds))

    def test_gives_messages_sources_notes_and_head(self):
        """
        What strategies read beside the items.
        """
        note = Note("cut", "x", {"first": 1})
        view = view_of(talk(2), decisions=[Noted((note,))])

        assert tuple(talk(2)) == view.messages
        assert (Span.between(1, 4), (note,), 5) == (view.sources, view.notes, view.head)

    def test_may_be_made_of_items(self):
        """
        Sources and stand-ins are worked out from the items.
        """
        items = (
            Item(system("s"), Span.of([1, 2]), stands_in=True),
            Item(user("q"), Span.one(3), head=3),
        )
        view = View(items)

        assert (items, Span.between(1, 3), items[:1]) == (view.loaded, view.sources, view.wide)
        assert View(items) == View(iter(items))

    def test_shows_its_items(self):
        """
        The repr names every item.
        """
        view = view_of([user("a")])

        assert f"View([{view[0]!r}])" == repr(view)

    def test_marks_pins(self):
        """
        By role or by hand; a message beside them has none.
        """
        view = view_of([system("s"), user("a"), user("b")], pinned=[2])

        assert ["role", "hand", ""] == [item.pin for item in view]


class TestTail:
    def test_gives_the_newest_items_in_whole_blocks(self):
        """
        A block that does not fit whole is left out.
        """
        view = view_of(TOOLS)

        assert ["a1", "q2", "a2"] == texts(item.message for item in view.tail(3))
        assert ["a1", "q2", "a2"] == texts(item.message for item in view.tail(4))
        assert ["", "found", "a1", "q2", "a2"] == texts(item.message for item in view.tail(5))

    def test_gives_at_least_the_newest_block(self):
        """
        However few items are asked for.
        """
        view = view_of([user("q"), call("c1", "c2"), result("c1"), result("c2")])

        assert [2, 3, 4] == firsts(view.tail(1)) == firsts(view.tail(0))

    def test_gives_everything_if_there_is_no_more(self):
        """
        The edge: exactly all, and more than all.
        """
        view = view_of(talk(2))

        assert tuple(view) == view.tail(4) == view.tail(9)


class TestBlocks:
    def test_hold_what_may_not_be_parted(self):
        """
        A call with its results; every other message alone.
        """
        view = view_of(TOOLS)

        assert [[1], [2, 3], [4], [5], [6]] == [firsts(block) for block in view.blocks]
        assert 5 == len(view.blocks)
        assert isinstance(view.blocks[1], Block)
        assert repr(list(view.blocks)) == repr(view.blocks)

    @given(logs, st.integers(-6, 6), slices)
    def test_index_and_slice_as_a_list(self, messages, place, cut):
        """
        From both ends, with steps, and out of range.
        """
        blocks = view_of(messages).blocks

        assert tuple(list(blocks)[cut]) == tuple(blocks[cut])
        if -len(blocks) <= place < len(blocks):
            assert list(blocks)[place] == blocks[place]
        else:
            with pytest.raises(IndexError):
                blocks[place]

    def test_say_how_many_there_are_where_an_index_is_beyond_them(self):
        """
        The message holds both numbers.
        """
        with pytest.raises(IndexError, match="index -7 out of range: there are 5"):
            view_of(TOOLS).blocks[-7]


class TestRounds:
    def test_are_opened_by_a_users_words(self):
        """
        What stands before the first is a round without opener.
        """
        view = view_of([assistant("Hello."), *TOOLS])

        assert [[1], [2, 3, 4, 5], [6, 7]] == [firsts(each.items) for each in view.rounds]
        assert [False, True, True] == [each.opened for each in view.rounds]
        assert 3 == len(view.rounds)
        assert isinstance(view.rounds[0], Round)
        assert repr(list(view.rounds)) == repr(view.rounds)

    def test_are_not_opened_inside_a_block(self):
        """
        A user who speaks between a call and its result goes on with the round.
        """
        view = view_of([user("q"), call("c1"), user("wait"), result("c1"), assistant("a")])

        assert [[1, 2, 3, 4, 5]] == [firsts(each.items) for each in view.rounds]

    def test_are_not_opened_by_a_stand_in(self):
        """
        A summary worded as a user's message belongs to the round before it.
        """
        view = apply(view_of(talk(3)), [Fold(Span.of([3, 4]), user("summary"))])

        assert [["q1", "a1", "summary"], ["q3", "a3"]] == [
            texts(item.message for item in each.items) for each in view.rounds
        ]

    @given(logs, slices)
    def test_slice_as_a_list(self, messages, cut):
        """
        From both ends, with steps, and out of range.
        """
        rounds = view_of(messages).rounds

        assert tuple(list(rounds)[cut]) == tuple(rounds[cut])


class TestApply:
    def test_of_nothing_is_the_view(self):
        """
        No change, no new view.
        """
        view = view_of(talk(1))

        assert apply(view, []) is view

    def test_never_changes_the_view_it_is_given(self):
        """
        Each change makes another view.
        """
        view = view_of(talk(2))
        apply(
            view,
            [
                Hold(Span.one(1)),
                Drop(Span.one(2)),
                Insert(user("x"), 1),
                Fold(Span.of([1, 3]), system("s")),
            ],
        )

        assert view_of(talk(2)) == view


class TestDrop:
    def test_of_a_caller_leaves_its_result_a_block_of_its_own(self):
        """
        A view of which only the end of a block is left still has blocks.
        """
        view = apply(view_of([call("c1"), result("c1")]), [Drop(Span.one(1))])

        assert [[2]] == [[item.first for item in block] for block in view.blocks]

    def test_of_the_head_of_a_stand_in_puts_what_is_left_where_it_stood(self):
        """
        Also where a message was put in, which stays behind what it stands behind.
        """
        changes = [
            Insert(user("x"), 3),
            Fold(Span.of([1, 4]), system("s")),
            Drop(Span.one(1)),
        ]
        view = apply(view_of([*talk(2), user("q")]), changes)

        assert ["a1", "q2", "x", "s", "q"] == texts(view)

    def test_takes_items_out(self):
        """
        From both ends and from between; entries that are not there count for nothing.
        """
        view = apply(view_of(talk(3)), [Drop(Span.of([1, 3, 4, 6, 99]))])

        assert ([2, 5], Span.of([2, 5])) == (firsts(view), view.sources)

    def test_leaves_the_rest_of_a_stand_in(self):
        """
        It stands for less, and stands where the oldest of that stood.
        """
        folded = apply(view_of(talk(3)), [Fold(Span.of([1, 4]), system("s"))])

        assert [("s", "1, 4"), ("a1", "2"), ("q2", "3"), ("q3", "5"), ("a3", "6")] == outline(
            folded
        )
        assert [("a1", "2"), ("q2", "3"), ("s", "4"), ("q3", "5"), ("a3", "6")] == outline(
            apply(folded, [Drop(Span.one(1))])
        )
        assert [2, 3, 5, 6] == firsts(apply(folded, [Drop(Span.of([1, 4]))]))

    def test_takes_what_was_put_in_after_an_entry(self):
        """
        An insert goes with its anchor, and stays where the anchor is one of several.
        """
        view = apply(view_of(talk(2)), [Insert(user("x"), 2), Insert(user("head"), 0)])

        assert ["head", "q1", "q2", "a2"] == texts(apply(view, [Drop(Span.one(2))]))
        assert ["head", "a1", "x", "q2", "a2"] == texts(apply(view, [Drop(Span.one(1))]))

    def test_leaves_what_was_put_in_at_the_head(self):
        """
        The head is always there.
        """
        view = apply(view_of(talk(1)), [Insert(user("head"), 0), Drop(Span.of([1, 2]))])

        assert ["head"] == texts(view)


class TestFold:
    def test_stands_where_its_oldest_entry_stood(self):
        """
        What lies between comes after it; the sources are all of them.
        """
        view = apply(view_of(talk(3)), [Fold(Span.of([2, 5]), system("s"))])

        assert [("q1", "1"), ("s", "2, 5"), ("q2", "3"), ("a2", "4"), ("a3", "6")] == outline(view)
        assert Item(system("s"), Span.of([2, 5]), stands_in=True) == view[1]
        assert [0, 1, 2, 3, 1, 4] == [view.find(seq) for seq in range(1, 7)]

    def test_of_the_newest_stands_at_the_end(self):
        """
        There is nothing after it.
        """
        view = apply(view_of(talk(1)), [Fold(Span.of([1, 2]), system("s"))])

        assert [("s", "1-2")] == outline(view)

    def test_of_one_entry_is_a_rewording(self):
        """
        It keeps the pin, the block and the round.
        """
        view = apply(view_of(TOOLS, pinned=[1]), [Fold(Span.one(1), user("Q1"))])

        assert evolve(view_of(TOOLS, pinned=[1])[0], message=user("Q1"), stands_in=True) == view[0]
        assert view[0].opens

    def test_takes_back_what_left_before(self):
        """
        The last change that names an entry owns it.
        """
        view = apply(view_of(talk(2)), [Drop(Span.of([1, 2])), Fold(Span.of([1, 2]), system("s"))])

        assert [("s", "1-2"), ("q2", "3"), ("a2", "4")] == outline(view)

    def test_of_one_entry_out_of_a_stand_in_parts_them(self):
        """
        The entry has a stand-in of its own, the older one keeps the rest.
        """
        folded = apply(view_of(talk(2)), [Fold(Span.of([1, 2, 3]), system("s"))])
        view = apply(folded, [Fold(Span.one(2), system("t"))])

        assert [("s", "1, 3"), ("t", "2"), ("a2", "4")] == outline(view)

    def test_takes_what_was_put_in_after_any_of_them(self):
        """
        An insert goes with its anchor; one at the head stays.
        """
        view = apply(view_of(talk(2)), [Insert(user("x"), 2), Insert(user("head"), 0)])

        assert ["head", "s", "q2", "a2"] == texts(apply(view, [Fold(Span.of([1, 2]), system("s"))]))
        assert ["head", "q1", "A1", "x", "q2", "a2"] == texts(
            apply(view, [Fold(Span.one(2), assistant("A1"))])
        )

    @given(
        messages=logs,
        cuts=st.sets(st.integers(1, 16), max_size=6),
        order=st.randoms(use_true_random=False),
        put_in=st.booleans(),
    )
    def test_comes_to_the_same_in_any_order(self, messages, cuts, order, put_in):
        """
        Folds that do not meet may come in any order, all at once or one by one.
        """
        view = view_of(messages)
        if put_in:
            view = apply(view, [Insert(user("put in"), after=len(messages) // 2)])
        edges = sorted({1, *(cut for cut in cuts if cut <= len(messages)), len(messages) + 1})
        folds = [
            Fold(Span.between(first, stop - 1), system(f"from {first}"))
            for first, stop in itertools.pairwise(edges)
        ]
        order.shuffle(folds)
        one_by_one = view
        for fold in folds:
            one_by_one = apply(one_by_one, [fold])

        assert one_by_one == apply(view, folds)


class TestInsert:
    def test_stands_after_the_block_of_its_anchor(self):
        """
        It never parts a call from its result.
        """
        view = apply(view_of(TOOLS), [Insert(user("x"), 2)])

        assert ["q1", "", "found", "x", "a1", "q2", "a2"] == texts(view)
        assert Item(user("x"), NOTHING, after=2) == view[3]
        assert [1, 3, 1, 1, 1] == [len(block) for block in view.blocks]

    def test_before_a_tool_block_belongs_to_the_block_of_its_anchor(self):
        """
        The call and its result after it stay one.
        """
        view = apply(view_of(TOOLS), [Insert(user("x"), 1)])

        assert [[1, 0], [2, 3], [4], [5], [6]] == [firsts(block) for block in view.blocks]

    def test_stands_at_the_head_in_the_order_of_insertion(self):
        """
        The second stands behind the first.
        """
        view = apply(view_of(talk(1)), [Insert(user("x"), 0), Insert(user("y"), 0)])

        assert ["x", "y", "q1", "a1"] == texts(view)
        assert ["x"] == texts(apply(view_of([]), [Insert(user("x"), 0)]))
        assert [1, 1, 1, 1] == [len(block) for block in view.blocks]

    def test_after_what_is_not_there_is_nothing(self):
        """
        Its anchor has left, and it with it.
        """
        assert ["q1", "a1"] == texts(apply(view_of(talk(1)), [Insert(user("x"), 9)]))

    def test_does_not_move_what_is_found(self):
        """
        Entries are found by their number with inserts among them.
        """
        view = apply(view_of(talk(2)), [Insert(user("x"), 1), Insert(user("y"), 1)])

        assert [0, 3, 4, 5] == [view.find(seq) for seq in (1, 2, 3, 4)]
        assert -1 == view.find(9)


class TestHold:
    def test_pins_for_one_projection(self):
        """
        An item that is pinned already keeps its own pin.
        """
        view = apply(view_of([system("s"), *talk(1)]), [Hold(Span.of([1, 2, 99]))])

        assert ["role", "held", ""] == [item.pin for item in view]
        assert [1, 2] == list(view.pins)


class TestLoaded:
    def test_of_an_empty_thread_is_an_empty_view(self):
        """
        There is nothing to load.
        """
        loaded = opened(InMemoryStore())

        assert (NOTHING, View()) == (loaded.wanted_first(), loaded.view())

    def test_wants_a_tail_the_pins_and_the_newest_words(self):
        """
        Whatever a cut has to look at.
        """
        store = stored([system("s"), user("q"), *[assistant("a")] * 9])
        view = opened(store, depth=2).view()

        assert [1, 2, 10, 11] == [item.first for item in view.loaded]
        assert (11, 4, list(range(3, 10))) == (len(view), view.size, list(view.hidden))
        assert repr(view).endswith(", 7 not loaded)")

    def test_raises_a_signal_where_it_is_read_past_what_is_loaded(self):
        """
        Iterating wants everything, reading from the end wants more, finding wants one entry.
        """
        view = opened(stored(talk(9)), depth=2).view()
        signals = []
        for read in (list, view.__class__.blocks.fget, lambda v: v.find(3), lambda v: v[0]):
            with pytest.raises(Unloaded) as caught:
                list(found) if not isinstance(found := read(view), int) else None
            signals.append((list(caught.value.wanted), caught.value.everything))

        assert [([], True), ([], False), ([3], False), ([], True)] == signals

    def test_knows_no_block_that_is_not_loaded_whole(self):
        """
        One of an entry by itself, one that begins before what is loaded; but those of pins it has.
        """
        store = stored([system("s"), *talk(3), call("c1"), result("c1"), user("q"), assistant("a")])
        loaded = opened(store, depth=3)
        view = loaded.view()

        assert [range(1), range(2, 3)] == [view.block_at(view.find(seq)) for seq in (1, 10)]
        with pytest.raises(Unloaded):
            view.block_at(view.find(9))
        loaded.take(store.entries("t", Span.one(3)))
        with pytest.raises(Unloaded):
            loaded.view().block_at(loaded.view().find(3))

    def test_does_not_take_half_a_block_for_a_whole_one(self):
        """
        What is loaded first begins with a result whose call is not.
        """
        answers = [assistant(f"a{n}") for n in range(3)]
        store = stored([*talk(3), call("c1"), result("c1"), *answers])

        assert [7, 8] == firsts(driven(store, 4, lambda view: view.blocks[-4])[0])
        assert [7, 8] == firsts(driven(store, 4, lambda view: view.blocks[-4:])[0][0])
        assert [[7, 8], [9]] == [
            firsts(block) for block in driven(store, 4, lambda view: view.rounds[-1])[0][2:4]
        ]

    def test_reads_no_more_from_the_end_than_it_is_asked(self):
        """
        Indices and slices from the tail, blocks, rounds and `tail` touch what they give.
        """
        view = opened(stored(talk(50)), depth=6).view()

        assert [99, 100] == firsts(view[-2:])
        assert 100 == view[-1].first
        assert [98] == firsts(view[-3:-2])
        assert [[99, 100]] == [firsts(each.items) for each in view.rounds[-1:]]
        assert [99] == firsts(view.blocks[-2])
        assert [97, 98, 99, 100] == firsts(view.tail(4))

    def test_loads_twice_as_much_each_time(self):
        """
        So a thread of n entries is read in about log n steps.
        """
        view, calls = driven(stored(talk(512)), 2, lambda view: [*reversed(view)][-1])

        assert (1, 10) == (view.first, calls)

    @settings(max_examples=500)
    @given(
        logs,
        st.integers(1, 4),
        slices,
        st.integers(1, 16),
        st.integers(0, 9),
    )
    def test_shows_what_the_whole_view_shows(self, messages, depth, cut, seq, count):
        """
        Whatever is read, in whatever order it is loaded.
        """
        head = [item for block in view_of(messages).blocks[:2] for item in block]
        fold = Fold(Span.of(item.first for item in head), system("s"))
        store = stored(messages, Compacted((fold,), 0))
        whole = Loaded(store.state("t"))
        whole.take(store.entries("t", whole.state.standing))
        for read in (
            list,
            lambda view: list(reversed(view)),
            lambda view: view[cut],
            lambda view: tuple(view.blocks[cut]),
            lambda view: tuple(view.rounds[cut]),
            len,
            lambda view: view.tail(count),
            lambda view: view.messages,
            lambda view: place(view, seq),
            lambda view: list(apply(view, [Drop(Span.one(seq))])),
            lambda view: list(apply(view, [Hold(Span.one(seq))])),
        ):
            found, _ = driven(store, depth, read)

            assert read(whole.view()) == found

    def test_shows_stand_ins_and_rewordings(self):
        """
        As the log has them, wherever they stand.
        """
        changes = (Fold(Span.of([1, 2, 3]), system("s")), Fold(Span.one(4), assistant("A2")))
        view = opened(stored(talk(3), Compacted(changes, 0))).view()

        assert [("s", "1-3"), ("A2", "4"), ("q3", "5"), ("a3", "6")] == outline(view)
        assert [True, True, False, False] == [item.stands_in for item in view]

    def test_frees_a_late_result_whose_call_has_left(self):
        """
        With words of its own it stays, and opens a round.
        """
        store = stored([user("q"), call("c1"), user("x")], Compacted((Drop(Span.of([1, 2])),), 0))
        store.append("t", [Appended(0, user([ToolResult("c1"), "go on"]))])
        view = opened(store).view()

        assert [[3], [4]] == [firsts(block) for block in view.blocks]
        assert [[3], [4]] == [firsts(each.items) for each in view.rounds]

    def test_goes_on_with_what_is_appended(self):
        """
        The items it has are kept; only the new ones are made. A view made before does not grow.
        """
        store = stored(talk(3))
        loaded = opened(store)
        before = loaded.view()
        receipt = store.append("t", [Appended(0, user("q4"), pinned=True)])

        assert loaded.append(receipt.entries, receipt.state)
        assert (6, 7) == (len(before), len(loaded.view()))
        assert loaded.view()[0] is before[0]
        assert opened(store).view() == loaded.view()
        assert tuple(before) == before.loaded

    @pytest.mark.parametrize(
        "body",
        [
            Compacted((Drop(Span.one(1)),), 0),
            Pinned(Span.one(1)),
            Pinned(Span.one(1), on=False),
        ],
        ids=["compacted", "pinned", "unpinned"],
    )
    def test_begins_anew_after_a_decision(self, body):
        """
        What is loaded no longer shows the log.
        """
        store = stored([system("s"), *talk(3)])
        loaded = opened(store)
        receipt = store.append("t", [body])

        assert not loaded.append(receipt.entries, receipt.state)

    def test_lets_go_of_a_tail_that_grew(self):
        """
        However many messages are appended, what is held is bounded; pins and stand-ins stay.
        """
        store = stored([system("s"), *talk(2)], Compacted((Fold(Span.one(3), assistant("A1")),), 0))
        loaded = opened(store, depth=8)
        sizes = []
        for n in range(3, 703):
            receipt = store.append("t", [Appended(0, message) for message in talk(1, n)])
            assert loaded.append(receipt.entries, receipt.state)
            sizes.append(loaded.view().size)

        assert max(sizes) <= 2 * 8 + ROOM + 4
        assert ["s", "A1"] == texts(item.message for item in loaded.view().loaded[:2])
        whole, _ = driven(store, 10_000, list)
        found, _ = driven(store, 8, list)
        assert whole == found
        assert 1_405 == len(loaded.view())


def place(view, seq):
    """
    Which item stands for the entry, and with which others in its block.
    """
    where = view.find(seq)
    if where < 0:
        return None

    return view.at(where), [view.at(mate) for mate in view.block_at(where)]


class TestItem:
    def test_says_what_it_stands_for(self):
        """
        One entry, several, or none.
        """
        one = Item(user("a"), Span.one(3))
        wide = Item(system("s"), Span.of([1, 4]), stands_in=True)
        put_in = Item(user("x"), NOTHING, after=3)

        assert [(3, False), (1, True), (0, False)] == [
            (item.first, item.wide) for item in (one, wide, put_in)
        ]

    def test_opens_a_round_where_the_log_says_so(self):
        """
        Its own entry is head and opener.
        """
        assert [True, False] == [item.opens for item in view_of(talk(1))]

    def test_knows_no_role_but_its_messages(self):
        """
        Any role is a message like another.
        """
        assert [False] == [item.opens for item in view_of([Message("critic", "a")])]
