"""
Memory: one thread of a store, and the contexts made of it.
"""

import contextlib
import json
import logging
import sqlite3
import tempfile
import threading
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from unabridged import (
    AsyncMemory,
    Budget,
    HeadAndTail,
    Memory,
    NoCompaction,
    Over,
    Sparing,
    Summarize,
    TokenBudget,
    When,
    Window,
    assistant,
    chain,
    custom,
    run,
    system,
    tokens,
    user,
    written_back,
)
from unabridged.contract import Ask, Search
from unabridged.errors import (
    ConfigError,
    CorruptLogError,
    CountError,
    LogConflictError,
    NeedsAnswerError,
    NeedsAsyncError,
    OutcomeError,
    StepError,
    StoreError,
)
from unabridged.keeping import Appends
from unabridged.messages import Message, ToolResult
from unabridged.records import (
    Appended,
    Compacted,
    Drop,
    Fold,
    Note,
    Noted,
    Pinned,
    Record,
    Reverted,
)
from unabridged.results import TrimResult, unchanged
from unabridged.spans import Span
from unabridged.stores import InMemoryStore, SqliteStore
from unabridged.strategies.summarize import LABEL
from unabridged.testing import call, failing, replies, result, talk, texts, view_of
from unabridged.usage import Usage

TOOLS = [user("q1"), call("c1"), result("c1"), assistant("a1"), user("q2"), assistant("a2")]


def memory_of(*messages, **options):
    """
    A memory that holds these messages.
    """
    memory = Memory(**options)
    memory.append(*messages)

    return memory


def refusal(kind, act):
    """
    What is said where *act* is refused with an error of this very kind.
    """
    with pytest.raises(kind) as caught:
        act()
    assert kind is type(caught.value)

    return str(caught.value)


def records(memory):
    """
    The bodies of the records, without the appended ones.
    """
    bodies = [record.body for record in memory._store.read(memory._thread)]

    return [body for body in bodies if not isinstance(body, Appended)]


def together(*acts):
    """
    Run these at the same time, each in a thread, and give back what they raised.
    """
    failures = []
    barrier = threading.Barrier(len(acts))

    def started(act):
        barrier.wait()
        try:
            act()
        except Exception as error:  # noqa: BLE001  asserted by the test
            failures.append(error)

    threads = [threading.Thread(target=started, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    return failures


class TestAppend:
    def test_numbers_entries_from_one(self):
        """
        Without gaps, whatever stands between.
        """
        memory = memory_of(user("a"))
        memory.pin(1)
        done = memory.append(assistant("b"), user("c"))

        assert [2, 3] == [entry.seq for entry in done.entries]
        assert [3, 4] == [entry.rec for entry in done.entries]
        assert () == done.known
        assert done.entries == done.all

    @pytest.mark.parametrize("kind", ["memory", "file"])
    @given(data=st.data())
    def test_gives_the_entry_of_each_message_in_order(self, kind, data):
        """
        Written, known before, retracted since, or twice in the call.
        """
        ids = st.sampled_from([None, "m1", "m2", "m3"])
        with tempfile.TemporaryDirectory() as folder:
            store = InMemoryStore() if kind == "memory" else SqliteStore(Path(folder) / "a.db")
            memory = Memory(store)
            for _ in range(3):
                batch = [user(f"{id_}", id=id_) for id_ in data.draw(st.lists(ids, max_size=5))]
                done = memory.append(*batch)

                assert batch == [entry.message for entry in done.all]
                assert {*done.all} == {*done.entries, *done.known}
                if batch and data.draw(st.booleans()):
                    memory.retract(done.all[0].seq)
            store.close()

    def test_of_nothing_writes_nothing(self):
        """
        No record, no thread.
        """
        memory = Memory()

        assert Appends() == memory.append()
        assert () == memory.threads()

    def test_keeps_a_message_with_an_id_once(self):
        """
        A retry gives back the old entry; the others of the batch are appended.
        """
        memory = Memory()
        (first,) = memory.append(user("a", id="m1")).entries
        again = memory.append(user("a", id="m1"), user("b"))

        assert ((first,), ["b"]) == (again.known, texts(again.entries))
        assert ["a", "b"] == texts(memory.entries())

    def test_keeps_equal_messages_of_one_batch_once(self):
        """
        If they have an id; without one they are two.
        """
        memory = Memory()
        memory.append(user("a", id="m1"), user("a", id="m1"), user("b"), user("b"))

        assert ["a", "b", "b"] == texts(memory.entries())

    def test_refuses_an_id_that_belongs_to_another_message(self):
        """
        And writes nothing of the batch.
        """
        memory = memory_of(user("a", id="m1"))

        assert refusal(LogConflictError, lambda: memory.append(user("x"), user("b", id="m1"))) == (
            "thread 'default': message id 'm1' belongs to entry 1, which says something else; "
            "give the new message an id of its own, or none"
        )
        assert ["a"] == texts(memory.entries())

    def test_takes_a_retracted_id_again(self):
        """
        With other words, too; a dropped one stays known.
        """
        memory = memory_of(user("a", id="m1"), user("b", id="m2"), user("c"), user("d"))
        memory.retract(2)
        memory.compact(Window(1))

        assert ["B"] == texts(memory.append(user("B", id="m2")).entries)
        assert 1 == memory.append(user("a", id="m1")).known[0].seq

    def test_refuses_where_the_log_has_grown(self):
        """
        *expect* is the last record that the caller has seen.
        """
        memory = memory_of(user("a"))
        memory.append(user("b"), expect=1)

        assert refusal(LogConflictError, lambda: memory.append(user("c"), expect=1)) == (
            "thread 'default': expected record 1 to be the last, it is 2; read again, then append"
        )

    @pytest.mark.parametrize(
        ("thing", "kind", "do"),
        [
            ("hi", "str", "build one with user(…), or load a provider's dicts"),
            ({"role": "user"}, "dict", "build one with user(…), or load a provider's dicts"),
            ([user("a")], "list", "give them one by one, as in append(*messages)"),
        ],
    )
    def test_refuses_what_is_no_message(self, thing, kind, do):
        """
        The message says what makes one.
        """
        assert refusal(ConfigError, lambda: Memory().append(thing)) == (
            f"append: expected messages, got {kind}; {do}"
        )

    def test_refuses_options_of_another_kind(self):
        """
        Nothing is kept then.
        """
        memory = Memory()

        assert "append: `pin` must be True or False, got 'yes'" == refusal(
            ConfigError, lambda: memory.append(user("a"), pin="yes")
        )
        assert refusal(ConfigError, lambda: memory.append(user("a"), expect="0")) == (
            "append: expect: expected the number of an entry or record (int), got '0'"
        )
        assert () == memory.entries()

    def test_pins_what_it_is_told_to(self):
        """
        All messages of the batch.
        """
        memory = Memory(strategy=Window(2))
        memory.append(user("rule"), pin=True)
        memory.append(*talk(3))

        assert ["rule", "q3", "a3"] == texts(memory.context())

    def test_warns_of_a_result_that_came_too_late(self, caplog):
        """
        It went with its call, and can be brought back with it.
        """
        memory = memory_of(user("q1"), call("c1"), user("x"), user("y"))
        memory.retract(2)
        memory.append(result("c1"))

        assert ["q1", "x", "y"] == texts(memory.view())
        assert [
            (
                "thread 'default': entry 5 answers a call that left the view, and went with it; "
                "revert what took the call to see both"
            )
        ] == [record.getMessage() for record in caplog.records]

    def test_does_not_warn_of_what_a_store_let_go_of(self, caplog):
        """
        A bounded store forgets the oldest; no call left.
        """
        memory = Memory(InMemoryStore(retain=2))
        memory.append(*talk(3))

        assert [] == caplog.records


class TestEntries:
    def test_are_the_whole_transcript(self):
        """
        Whatever a write-back or a retraction did.
        """
        memory = memory_of(*talk(3))
        memory.compact(Window(2))
        memory.retract(5)

        assert talk(3) == [entry.message for entry in memory.entries()]

    def test_come_in_pages(self):
        """
        The newest so many, those before an entry; out of range is empty.
        """
        memory = memory_of(*talk(3))

        assert ["q3", "a3"] == texts(memory.entries(last=2))
        assert ["q2", "a2"] == texts(memory.entries(before=5, last=2))
        assert ["q1", "a1"] == texts(memory.entries(before=3))
        assert [] == texts(memory.entries(before=1)) == texts(memory.entries(last=0))
        assert 6 == len(memory.entries(last=99)) == len(memory.entries(before=99))

    def test_of_a_new_memory_are_none(self):
        """
        There is no thread yet.
        """
        assert () == Memory().entries()


class TestView:
    def test_is_the_logs_own(self):
        """
        Before any strategy, after all that was written.
        """
        memory = memory_of(*talk(100), strategy=Window(2))

        assert 200 == len(list(memory.view()))
        memory.compact()
        assert ["q100", "a100"] == texts(memory.view())

    def test_of_another_time(self):
        """
        As it was after any record.
        """
        memory = memory_of(*talk(2))
        memory.compact(Window(2))
        memory.append(user("q3"))

        assert [[], ["q1", "a1"], ["q1", "a1", "q2", "a2"], ["q2", "a2"], ["q2", "a2", "q3"]] == [
            texts(memory.view(at=rec)) for rec in (0, 2, 4, 5, 99)
        ]

    def test_sources_are_what_an_item_stands_for(self):
        """
        The entries behind a summary, as they were appended.
        """
        memory = memory_of(*talk(3), strategy=Summarize(2, replace=True), ask=replies("short"))
        done = memory.context()

        assert ["q1", "a1", "q2", "a2"] == texts(memory.sources(done.view[0]))
        assert ["q3"] == texts(memory.sources(done.view[1]))
        assert ["short"] == [memory.summary()]

    def test_refuse_what_is_no_item(self):
        """
        The number of an entry, say, which `fetch` takes.
        """
        assert "sources: expected an item of a view, got int" == refusal(
            ConfigError, lambda: Memory().sources(3)
        )


class TestContext:
    def test_is_what_the_strategy_makes(self):
        """
        As a run on the view.
        """
        memory = memory_of(*talk(4), strategy=Window(4) | Window(2))

        assert run(Window(4) | Window(2), memory.view()) == memory.context()

    @pytest.mark.parametrize(
        "strategy",
        [
            NoCompaction(),
            Window(None),
            When(Over(messages=10_000), Window(2)),
            lambda view, ctx: list(view),
        ],
        ids=["nothing", "no limit", "guard", "function"],
    )
    def test_may_be_everything(self, strategy):
        """
        A long thread, of which only a part is loaded at first.
        """
        memory = memory_of(*talk(200), strategy=strategy)
        done = memory.context()

        assert tuple(talk(200)) == done.messages
        assert "400 of 400 messages" in done.explain()
        assert "entry 3 is in the view as it was appended" == done.why(3)

    def test_reads_as_far_back_as_a_step_does(self):
        """
        However deep, each step gets what it asks for.
        """
        memory = memory_of(*talk(300))
        for strategy, expected in (
            (lambda view, ctx: [view[0], *view.tail(2)], ["q1", "q300", "a300"]),
            (Sparing(Window(2), first=1), ["q1", "q300", "a300"]),
            (lambda view, ctx: view.tail(400)[:1], ["q101", "q300"]),
        ):
            assert expected == texts(memory.context(strategy))

    def test_takes_a_strategy_for_once(self):
        """
        The memory's own stays.
        """
        memory = memory_of(*talk(3), strategy=Window(4))

        assert ["q3", "a3"] == texts(memory.context(Window(2)))
        assert ["q2", "a2", "q3", "a3"] == texts(memory.context())

    def test_gives_the_query_to_the_strategy(self):
        """
        For those that recall.
        """
        memory = memory_of(*talk(3))

        def find(view, ctx):
            return [item for item in view if item.message.text == ctx.query]

        assert ["a1", "q3"] == texts(memory.context(find, query="a1"))

    def test_searches_with_what_the_memory_was_given(self):
        """
        And says so where it was given nothing.
        """

        def recall(view, ctx):
            found = yield Search("x", 1)

            return [item for item in view if item.first == found[0][0]]

        memory = memory_of(*talk(3), search=lambda search: [(2, 1.0)])

        assert ["a1", "q3"] == texts(memory.context(recall))
        assert refusal(NeedsAnswerError, lambda: memory_of(*talk(3)).context(recall)) == (
            "step recall: a step searches for 'x' and nobody answers; pass search="
        )

    def test_puts_a_prompt_at_the_head(self):
        """
        As text or as a message; it is not in the log, and counts against tokens, not messages.
        """
        memory = memory_of(*talk(3), count=tokens.words)
        done = memory.context(Window(2), system="be brief")

        assert (["be brief", "q3", "a3"], None) == (texts(done), done.over)
        assert 4 == done.tokens
        assert ["d", "q3", "a3"] == texts(
            memory.context(Window(2), system=Message("developer", "d"))
        )
        assert ["be brief", "q3", "a3"] == texts(memory.context(TokenBudget(5), system="be brief"))
        assert 6 == len(memory.view())

    def test_writes_back_with_a_prompt_at_the_head(self):
        """
        The prompt itself is not written.
        """
        memory = memory_of(*talk(3))
        memory.context(Window(2), system="be brief", replace=True)

        assert ["q3", "a3"] == texts(memory.view())

    def test_hides_the_prompt(self):
        """
        After the chain, for APIs that take it apart: it was counted, and stand-ins stay.
        """
        memory = memory_of(system("rule"), *talk(3), count=tokens.words, ask=replies("short"))

        assert ["q2", "a2", "q3", "a3"] == texts(
            memory.context(TokenBudget(6), system="s", hide_system=True)
        )
        assert [LABEL + "\nshort", "q3", "a3"] == texts(
            memory.context(Summarize(2), hide_system=True)
        )

    def test_says_how_much_of_the_prefix_was_kept(self):
        """
        Of the context that was made before.
        """
        memory = memory_of(*talk(2), count=tokens.words)
        memory.context()
        memory.append(*talk(1, 3))
        grown = memory.context()
        cut = memory.context(Window(2))

        assert (4, 4) == (grown.kept.messages, grown.kept.out_of)
        assert (0, 6) == (cut.kept.messages, cut.kept.out_of)
        assert "prefix: 4 of the 4 messages sent before are its beginning (4 tokens)" in (
            grown.explain()
        )

    def test_takes_the_budget_for_a_share(self):
        """
        As a number or a `Budget`.
        """
        for budget in (11, Budget(13, reply=2)):  # 3 of them open the reply
            memory = memory_of(
                *talk(4), strategy=TokenBudget(share=0.5), budget=budget, count=tokens.words
            )

            assert ["q3", "a3", "q4", "a4"] == texts(memory.context())

    def test_counts_each_message_once(self):
        """
        Over any number of turns, and whatever the chain does.
        """
        counted = []

        def count(message):
            counted.append(message.text)

            return 1

        memory = Memory(strategy=Window(12) | TokenBudget(6), count=count)
        for turn in range(30):
            memory.append(*talk(1, turn))
            memory.context()

        assert (60, 60) == (len(counted), len(set(counted)))


class TestWriteBack:
    def test_shows_in_every_view_from_then_on(self):
        """
        The transcript is as it was.
        """
        memory = memory_of(*talk(3), strategy=Window(2, replace=True))
        done = memory.context()

        assert ["q3", "a3"] == texts(done) == texts(memory.view())
        assert 6 == len(memory.entries())
        assert [Compacted(done.changes, 6)] == records(memory)

    def test_is_not_repeated(self):
        """
        What is written is not there to be dropped again.
        """
        memory = memory_of(*talk(3), strategy=Window(2, replace=True))
        memory.context()
        memory.context()

        assert 1 == len(records(memory))

    def test_may_be_asked_for_or_kept_from(self):
        """
        Once, whatever the strategy marks.
        """
        marked = memory_of(*talk(3), strategy=Window(2, replace=True))
        plain = memory_of(*talk(3), strategy=Window(2))
        marked.context(replace=False)
        plain.context(replace=True)

        assert (6, 2) == (len(marked.view()), len(plain.view()))

    def test_compact_writes_all_that_can_be_written(self):
        """
        With the memory's strategy or another.
        """
        memory = memory_of(*talk(4), strategy=Window(6))

        assert ["q2", "a2", "q3", "a3", "q4", "a4"] == texts(memory.compact())
        assert ["q4", "a4"] == texts(memory.compact(Window(2)))
        assert ["q4", "a4"] == texts(memory.view())

    def test_rewords_for_good(self):
        """
        A function's rewording, written back.
        """

        def hide(view, ctx):
            return [
                evolve(item, message=user("…")) if item.message.text == "q1" else item
                for item in view
            ]

        memory = memory_of(*talk(2), strategy=written_back(hide))
        memory.context()

        assert ["…", "a1", "q2", "a2"] == texts(memory.view()) == texts(memory.context())
        assert "q1" == memory.entries()[0].message.text

    def test_warns_of_what_cannot_be_written(self, caplog):
        """
        A fold over a stand-in that only projects.
        """
        memory = memory_of(
            *talk(4), strategy=Summarize(4) | Summarize(2, replace=True), ask=replies("x")
        )
        done = memory.context()
        warning = (
            "Summarize(2, replace=True): not written, it folds a stand-in that only projects "
            "(entries 1-6); give the step before it replace=True too"
        )

        assert ((warning,), 8) == (done.warnings, len(memory.view()))
        assert [f"thread 'default': {warning}"] == [r.getMessage() for r in caplog.records]
        assert ["unabridged"] == [r.name for r in caplog.records]
        assert [logging.WARNING] == [r.levelno for r in caplog.records]

    def test_is_worked_out_anew_where_somebody_else_wrote(self):
        """
        A write-back that was made while the model answered.
        """
        store = InMemoryStore()
        other = Memory(store)

        def ask(request):
            if not other.view(at=99).log.decided:
                other.retract(1)
            return "short"

        memory = Memory(store, strategy=Summarize(2, replace=True), ask=ask)
        memory.append(*talk(3))
        done = memory.context()

        assert [LABEL + "\nshort", "q3", "a3"] == texts(done)
        assert "2-4" == str(done.view[0].sources)
        assert "entry 1 left the log's view by memory.retract(1) (record 7): retracted" == (
            done.why(1)
        )

    def test_gives_up_where_somebody_else_always_wrote(self):
        """
        Then nothing of it is written, and the message says what happened.
        """
        store = InMemoryStore()
        other = Memory(store)

        def ask(request):
            other.retract(request.items[0].first)

            return "short"

        def greedy(view, ctx):
            yield Ask(tuple(view))

            return TrimResult(view, (Drop(Span.one(view[0].first), replace=True),))

        memory = Memory(store, strategy=greedy, ask=ask)
        memory.append(*talk(9))

        message = refusal(LogConflictError, memory.context)

        assert message.startswith("thread 'default': the changes lean on record ")
        assert all(
            isinstance(body, Compacted) and body.changes[0].step.startswith("memory.retract")
            for body in records(memory)
        )

    def test_leaves_plain_appends_alone(self):
        """
        What is appended while the model answers does not conflict, and is there the next time.
        """
        memory = Memory(
            strategy=Summarize(2, replace=True),
            ask=lambda request: (memory.append(user("meanwhile")), "short")[1],
        )
        memory.append(*talk(3))

        assert [LABEL + "\nshort", "q3", "a3"] == texts(memory.context())
        assert [LABEL + "\nshort", "q3", "a3", "meanwhile"] == texts(memory.view())


class TestAnswers:
    def test_are_paid_for_once(self):
        """
        A projected summary costs one call, however often and wherever it is retrieved.
        """
        store, asked = InMemoryStore(), []

        def ask(request):
            asked.append(request)

            return "short"

        memory = Memory(store, strategy=Summarize(2), ask=ask)
        memory.append(*talk(3))
        texts_ = [texts(memory.context()) for _ in range(3)]
        elsewhere = Memory(store, strategy=Summarize(2), ask=ask)

        assert [[LABEL + "\nshort", "q3", "a3"]] * 3 == texts_
        assert texts_[0] == texts(elsewhere.context())
        assert 1 == len(asked)
        assert [Noted((Note("summary", "", {"text": "short"}, Span.between(1, 4)),))] == (
            records(memory)
        )

    def test_are_kept_when_a_later_step_fails(self):
        """
        Every message, view and summary is as it was; the answer is there for the next time.
        """
        asked = []

        def ask(request):
            asked.append(request)

            return "short"

        def broken(view, ctx):
            raise ZeroDivisionError

        memory = memory_of(*talk(3), strategy=Summarize(2, replace=True) | broken, ask=ask)

        assert refusal(StepError, memory.context) == "step broken: raised ZeroDivisionError: "
        assert (6, 1) == (len(memory.view()), len(records(memory)))
        refusal(StepError, memory.context)
        memory.strategy = Summarize(2)
        assert [LABEL + "\nshort", "q3", "a3"] == texts(memory.context())
        assert 1 == len(asked)

    def test_are_kept_when_a_later_step_is_not_answered(self):
        """
        It searches, and nobody does.
        """

        def searching(view, ctx):
            yield Search("x", 1)

        async def later(view, ctx):
            return view

        for step, kind in ((searching, NeedsAnswerError), (later, NeedsAsyncError)):
            memory = memory_of(*talk(3), strategy=chain(Summarize(2), step), ask=replies("short"))
            refusal(kind, memory.context)

            assert [Noted((Note("summary", "", {"text": "short"}, Span.between(1, 4)),))] == (
                records(memory)
            )

    def test_that_failed_change_nothing(self, caplog):
        """
        The warning is in the result and on the logger; the next retrieval asks again.
        """
        memory = memory_of(*talk(3), strategy=Summarize(2, replace=True), ask=failing())
        done = memory.context()
        warning = (
            "step Summarize(2, replace=True): no summary of entries 1-4: "
            "RuntimeError: the model is down"
        )

        assert ((warning,), 6, []) == (done.warnings, len(done.messages), records(memory))
        assert [f"thread 'default': {warning}"] == [r.getMessage() for r in caplog.records]
        assert 2 == len((memory.context(), caplog.records)[1])

    def test_are_asked_for_without_the_lock(self):
        """
        Who answers may read and write the memory itself.
        """
        seen = []

        def ask(request):
            seen.append((len(memory.view()), memory.summary(), memory.context(Window(2)).text()))

            return "short"

        memory = memory_of(*talk(3), strategy=Summarize(2), ask=ask)
        memory.context()

        assert [(6, "", "user: q3\nassistant: a3")] == seen

    def test_that_are_interrupted_leave_everything_as_it_was(self):
        """
        And the lock is free.
        """

        def ask(request):
            raise KeyboardInterrupt

        memory = memory_of(*talk(3), strategy=Summarize(2, replace=True), ask=ask)
        with pytest.raises(KeyboardInterrupt):
            memory.context()
        memory.append(user("after"))

        assert (7, []) == (len(memory.view()), records(memory))

    def test_in_flight_during_clear_are_discarded(self):
        """
        What was cleared does not come back in a summary.
        """

        def ask(request):
            memory.clear()

            return "short"

        for replace in (False, True):
            memory = memory_of(*talk(3), strategy=Summarize(2, replace=replace), ask=ask)
            done = memory.context()

            assert ([], (), "") == (texts(done), memory.view().notes, memory.summary())

    def test_are_reused_while_more_of_a_thread_is_loaded(self):
        """
        A step after the summary reads on; the model is asked once.
        """
        asked = []

        def ask(request):
            asked.append(request)

            return "short"

        def first(view, ctx):
            return [view[0], *view.tail(2)]

        memory = memory_of(*talk(300), strategy=chain(Summarize(2, every=2), first), ask=ask)
        done = memory.context()

        assert ([LABEL + "\nshort", "q300", "a300"], 1) == (texts(done), len(asked))

    def test_are_not_asked_for_again_when_a_step_reads_on(self):
        """
        A step that has its answer, and then reads further back, is called again and given it.
        """
        asked = []

        def ask(request):
            asked.append(request)

            return "short"

        def step(view, ctx):
            text = yield Ask(tuple(view[-2:]))

            return [user(text), view[0], *view[-2:]]

        memory = memory_of(*talk(300), strategy=step, ask=ask)

        assert ["short", "q1", "q300", "a300"] == texts(memory.context())
        assert 1 == len(asked)


class TestSummary:
    def test_is_the_newest_that_counts(self):
        """
        Whether it is written back or only kept as a note.
        """
        memory = memory_of(*talk(3), ask=replies("first", "second"))

        assert "" == memory.summary()
        memory.context(Summarize(2))
        assert "first" == memory.summary()
        memory.append(*talk(1, 4))
        memory.context(Summarize(2, replace=True))
        assert "second" == memory.summary()

    def test_may_be_any_stand_in(self):
        """
        One that a custom step wrote back, without a note.
        """

        def fold(view, ctx):
            return TrimResult(view, (Fold(Span.of([1, 2]), system("old")),))

        memory = memory_of(*talk(3))
        memory.compact(fold)

        assert "old" == memory.summary()

    def test_of_what_was_cleared_is_none(self):
        """
        It tells what nobody is to see.
        """
        memory = memory_of(*talk(3), strategy=Summarize(2, replace=True), ask=replies("short"))
        memory.context()
        memory.clear()

        assert "" == memory.summary()


class TestRevert:
    def test_knows_the_newest_words_again_behind_a_late_result(self):
        """
        A result that came while its call was taken back goes with it, and comes back with it.
        """
        memory = Memory()
        memory.append(user("q"), call("c1"))
        taken = memory.rewind(1)
        memory.append(result("c1"))
        memory.revert(taken.rec)
        memory.append(result("c1"))

        assert "q" in texts(memory.context(Window(2, opening="next")).view)

    def test_brings_back_what_was_written(self):
        """
        From then on the step projects it.
        """
        memory = memory_of(*talk(3), strategy=Window(2, replace=True))
        memory.context()
        record = memory.revert(7)

        assert Record(8, record.at, Reverted(7)) == record
        assert 6 == len(memory.view())
        assert ["q3", "a3"] == texts(memory.context())
        assert 6 == len(memory.view())

    def test_of_the_newest_needs_no_number(self):
        """
        One after the other, until nothing counts any more.
        """
        memory = memory_of(*talk(4))
        memory.compact(Window(6))
        memory.compact(Window(2))
        memory.pin(7)
        memory.revert()
        assert 6 == len(memory.view())
        assert Reverted(9) == memory.revert().body
        assert 8 == len(memory.view())
        assert refusal(ConfigError, memory.revert) == (
            "revert: thread 'default' has no write-back or retraction in force"
        )

    def test_of_a_revert_redoes(self):
        """
        Any number of times.
        """
        memory = memory_of(*talk(3), strategy=Window(2, replace=True))
        memory.context()
        memory.revert(7)
        memory.revert(8)
        assert ["q3", "a3"] == texts(memory.view())
        memory.revert(9)
        assert 6 == len(memory.view())

    def test_brings_back_what_a_person_took_out(self):
        """
        A retraction, a rewinding, a clearing.
        """
        memory = memory_of(*talk(2))
        for act in (lambda: memory.retract(1), lambda: memory.rewind(3), memory.clear):
            record = act()
            assert 4 > len(memory.view())
            memory.revert(record.rec)
            assert ["q1", "a1", "q2", "a2"] == texts(memory.view())

    def test_says_what_a_redo_left_out(self, caplog):
        """
        Because it is pinned since.
        """
        memory = memory_of(*talk(3), strategy=Window(2, replace=True))
        memory.context()
        memory.revert(7)
        memory.pin(1)
        memory.revert(8)

        assert ["q1", "a1", "q2", "a2", "q3", "a3"] == texts(memory.view())
        assert [
            "thread 'default': redoing record 7 left out Drop of 1-4: entry 1 is pinned since"
        ] == [record.getMessage() for record in caplog.records]

    def test_of_a_stand_in_that_held_up_a_redo_lets_it_go_on(self, caplog):
        """
        The log without it: the redo leaves out what another stand-in has, as long as that counts.
        """
        memory = memory_of(*talk(2), ask=replies("short"))
        taken = memory.retract(2)
        undone = memory.revert(taken.rec)
        folded = memory.compact(Summarize(2, label=""))
        memory.revert(undone.rec)
        assert ["short", "q2", "a2"] == texts(memory.view())
        assert "part of another stand-in" in caplog.text
        again = memory.revert(folded.rec)
        assert ["q1", "q2", "a2"] == texts(memory.view())
        memory.revert(again.rec)
        assert ["short", "q2", "a2"] == texts(memory.view())

    def test_refuses_a_record_that_is_no_decision(self):
        """
        The message lists those that are.
        """
        memory = memory_of(*talk(3))
        memory.pin(1)

        assert refusal(ConfigError, lambda: memory.revert(3)) == (
            "revert: record 3 of thread 'default' is no write-back, retraction or revert; "
            "those are none"
        )
        memory.compact(Window(2))
        assert refusal(ConfigError, lambda: memory.revert(7)) == (
            "revert: record 7 of thread 'default' is no write-back, retraction or revert; "
            "those are [8]"
        )

    def test_refuses_what_is_reverted_already(self):
        """
        The message says what brings it back.
        """
        memory = memory_of(*talk(3))
        memory.compact(Window(2))
        memory.revert(7)

        assert refusal(ConfigError, lambda: memory.revert(7)) == (
            "revert: record 7 is reverted already; revert(8) brings it back"
        )


class TestTakingOut:
    def test_retract_takes_a_block(self):
        """
        A call goes with its result, and the other way round; the record says what did it.
        """
        memory = memory_of(*TOOLS)
        record = memory.retract(3)

        assert ["q1", "a1", "q2", "a2"] == texts(memory.view())
        assert (
            Compacted(
                (
                    Drop(
                        Span.of([2, 3]), reason="retracted", step="memory.retract(3)", replace=True
                    ),
                ),
                6,
            )
            == record.body
        )

    def test_retract_finds_the_whole_block(self):
        """
        Parallel calls, their results, and what stands between.
        """
        memory = memory_of(
            user("q"), call("c1", "c2"), user("wait"), result("c2"), result("c1"), assistant("a")
        )
        memory.retract(4)

        assert ["q", "a"] == texts(memory.view())

    def test_rewind_takes_all_from_an_entry_on(self):
        """
        With its block; what comes after goes on from there.
        """
        memory = memory_of(*TOOLS)
        memory.rewind(3)
        memory.append(assistant("other"))

        assert ["q1", "other"] == texts(memory.view())
        assert ["q1", "other"] == texts(memory.context(Window(2)))

    def test_clear_takes_everything(self):
        """
        Pins too; the transcript stays, and numbers go on.
        """
        memory = memory_of(system("rule"), *talk(2))
        memory.pin(2)
        memory.clear()
        (entry,) = memory.append(user("new")).entries

        assert (["new"], 6, 6) == (texts(memory.view()), entry.seq, len(memory.entries()))

    def test_of_what_is_out_already_does_nothing(self):
        """
        No record, None.
        """
        memory = memory_of(*talk(2))
        memory.retract(1)

        assert memory.retract(1) is None
        assert memory.clear() is not None
        assert memory.clear() is None is memory.rewind(1)
        assert Memory().clear() is None

    def test_of_what_was_folded_lets_go_of_the_stand_in(self):
        """
        What is left of a summary stands again, and is summarized anew.

        It would go on telling what was taken out.
        """
        asked = []

        def model(ask):
            asked.append(texts(item.message for item in ask.items))
            return "short"

        memory = memory_of(*talk(3), strategy=Summarize(2, replace=True), ask=model)
        memory.context()
        memory.retract(2)

        assert ["q1", "q2", "a2", "q3", "a3"] == texts(memory.view())
        memory.context()
        assert [["q1", "a1", "q2", "a2"], ["q1", "q2", "a2"]] == asked

    def test_of_what_was_folded_can_be_taken_back(self):
        """
        Then the summary stands again, as it was.
        """
        memory = memory_of(*talk(3), strategy=Summarize(2, replace=True), ask=replies("short"))
        memory.context()
        before = memory.view().loaded
        memory.rewind(3)
        assert ["q1", "a1"] == texts(memory.view())
        memory.revert()

        assert before == memory.view().loaded

    def test_refuses_what_is_no_entry(self):
        """
        The message holds the number of the last one.
        """
        memory = memory_of(*talk(2))
        for act in (memory.retract, memory.rewind, memory.pin, memory.unpin):
            for seq in (0, -1, 9):
                assert refusal(ConfigError, lambda act=act, seq=seq: act(seq)) == (
                    f"{act.__name__}: thread 'default' has no entry {seq}; its last one is 4"
                )
        assert "pin: thread 'none' has no entry 1; it holds none" == refusal(
            ConfigError, lambda: memory.thread("none").pin(1)
        )


class TestPin:
    def test_keeps_a_block_with_its_question(self):
        """
        Until it is let go of.
        """
        memory = memory_of(*TOOLS, *talk(2, 3), strategy=Window(2))
        record = memory.pin(3)

        assert Pinned(Span.of([2, 3])) == record.body
        assert ["q1", "", "found", "q4", "a4"] == texts(memory.context())
        assert Pinned(Span.of([2, 3]), on=False) == memory.unpin(2).body
        assert ["q4", "a4"] == texts(memory.context())

    def test_unpin_lets_go_of_a_role(self):
        """
        A system message that has served its purpose.
        """
        memory = memory_of(system("rule"), *talk(2), strategy=Window(2))
        memory.unpin(1)

        assert ["q2", "a2"] == texts(memory.context())


class TestThreads:
    def test_are_apart(self):
        """
        One store, the same settings, other messages.
        """
        memory = memory_of(*talk(2), strategy=Window(1), budget=9, count=tokens.words)
        other = memory.thread("other")
        other.append(user("x"), user("y"))

        assert (["q2", "a2"], ["y"]) == (texts(memory.context()), texts(other.context()))
        assert ("default", "other") == memory.threads() == other.threads()
        assert "Memory(thread='other', strategy=chain(Window(1)))" == repr(other)

    def test_have_a_name(self):
        """
        An empty one is refused.
        """
        for name in ("", None, 3):
            assert f"thread= must be a name, got {name!r}" == refusal(
                ConfigError, lambda name=name: Memory(thread=name)
            )

    def test_of_one_process_share_a_memory(self):
        """
        Two of them append and make contexts at the same time; nothing is lost.
        """
        memory = Memory(strategy=Window(4, replace=True))

        def write(name):
            for n in range(50):
                memory.append(user(f"{name}{n}"))
                memory.context()

        assert [] == together(lambda: write("a"), lambda: write("b"))
        for name in "ab":
            assert [f"{name}{n}" for n in range(50)] == [
                text for text in texts(memory.entries()) if text[0] == name
            ]
        assert [*range(1, 101)] == [entry.seq for entry in memory.entries()]

    def test_of_one_process_may_have_memories_of_their_own(self):
        """
        Two on one store: no append is lost, a write-back that never gets its turn is refused.
        """
        store = InMemoryStore()

        def write(name):
            memory = Memory(store, strategy=Window(4, replace=True))
            for n in range(50):
                memory.append(user(f"{name}{n}"))
                with contextlib.suppress(LogConflictError):
                    assert 1 <= len(memory.context().messages) <= 4

        assert [] == together(lambda: write("a"), lambda: write("b"))
        memory = Memory(store)
        for name in "ab":
            assert [f"{name}{n}" for n in range(50)] == [
                text for text in texts(memory.entries()) if text[0] == name
            ]
        assert texts(memory.entries())[-len(memory.view()) :] == texts(memory.view())

    def test_see_what_another_memory_wrote(self):
        """
        Appends, write-backs, pins, notes.
        """
        store = InMemoryStore()
        one, two = Memory(store), Memory(store)
        one.append(*talk(3))
        assert 6 == len(two.view())
        one.compact(Window(4))
        assert 4 == len(two.view())
        one.pin(3)
        assert ["q2", "q3", "a3"] == texts(two.context(Window(2)))
        one.append(*talk(1, 4))
        assert ["q2", "q4", "a4"] == texts(two.context(Window(2)))
        store.delete("default")
        assert [] == texts(two.view())
        one.append(user("new"))
        assert ["new"] == texts(two.view())


class Busy(InMemoryStore):
    """
    A store to which somebody else appends before each decision, so many times.
    """

    def __init__(self, times):
        super().__init__()
        self.times = times

    def append(self, thread, bodies, *, expect=None, at=None):
        if expect is not None and self.times:
            self.times -= 1
            super().append(thread, [Appended(0, user("meanwhile"))])

        return super().append(thread, bodies, expect=expect, at=at)


class TestDecisions:
    def test_are_made_anew_where_somebody_else_wrote(self):
        """
        On the log as it is by then.
        """
        for act, left in (
            (lambda memory: memory.clear(), []),
            (lambda memory: memory.rewind(3), ["q1", "a1"]),
            (lambda memory: memory.retract(1), ["a1", "q2", "a2", "meanwhile", "meanwhile"]),
        ):
            memory = memory_of(*talk(2), store=Busy(2))
            act(memory)

            assert left == texts(memory.view())

    def test_are_given_up_where_somebody_else_always_wrote(self):
        """
        After four tries; nothing was decided.
        """
        memory = memory_of(*talk(2), store=Busy(99))

        assert refusal(LogConflictError, lambda: memory.pin(1)) == (
            "thread 'default': expected record 19 to be the last, it is 20; read again, then append"
        )
        assert [] == records(memory)


class TestStrategy:
    def test_may_be_assigned(self):
        """
        A function or a list becomes a chain.
        """
        memory = memory_of(*talk(3))
        memory.strategy = [Window(4), Window(2)]

        assert Window(4) | Window(2) == memory.strategy
        assert ["q3", "a3"] == texts(memory.context())

    def test_that_asks_is_refused_where_nobody_answers(self):
        """
        When the memory is made, when it is assigned, for once; with the line to write.
        """
        message = (
            "chain(Summarize(2)) asks a model, and this memory has no ask=; pass a function from "
            "the request to the answer's text, as in Memory(…, ask=lambda ask: model(ask.messages))"
        )
        memory = memory_of(*talk(3))

        def assign():
            memory.strategy = Summarize(2)

        for act in (
            lambda: Memory(strategy=Summarize(2)),
            assign,
            lambda: memory.context(Summarize(2)),
            lambda: memory.compact(Summarize(2)),
        ):
            assert message == refusal(NeedsAnswerError, act)
        assert chain(NoCompaction()) == memory.strategy

    def test_that_is_none_is_refused(self):
        """
        A text above all.
        """
        assert refusal(ConfigError, lambda: Memory(strategy="Window(2)")) == (
            "a chain takes strategies and functions, got the text 'Window(2)'"
        )

    def test_that_is_async_is_refused_in_a_sync_memory(self):
        """
        Before anything is written.
        """

        async def later(view, ctx):
            return view

        memory = memory_of(*talk(3))

        assert refusal(NeedsAsyncError, lambda: memory.context(later)) == (
            "step later: a step is async and the run is not; use arun or AsyncMemory"
        )

    def test_that_is_strict_refuses_and_changes_nothing(self):
        """
        A failing step leaves the log as it was.
        """
        memory = memory_of(*TOOLS)
        half = custom(lambda view, ctx: [*view[:2], *view[3:]], strict=True, replace=True)
        with pytest.raises(Exception, match="parted a block"):
            memory.context(half)

        assert (6, []) == (len(memory.view()), records(memory))


class TestSettings:
    def test_refuse_an_async_ask(self):
        """
        When the memory is made.
        """

        async def answer(request):
            return "short"

        assert refusal(NeedsAsyncError, lambda: Memory(ask=answer)) == (
            "Memory: ask= is async; use AsyncMemory, or give a plain function"
        )

    @pytest.mark.parametrize(
        "options",
        [
            {"store": "chat.db"},
            {"ask": "model"},
            {"search": 3},
            {"budget": "8000"},
            {"budget": 0},
            {"count": "words"},
        ],
        ids=str,
    )
    def test_refuse_what_cannot_work(self, options):
        """
        When the memory is made, not at its first use.
        """
        refusal(ConfigError, lambda: Memory(**options))

    def test_are_shown(self):
        """
        The thread and the strategy.
        """
        assert "Memory(thread='a', strategy=Window(4) | Window(2))" == repr(
            Memory(thread="a", strategy=Window(4) | Window(2))
        )


class TestData:
    def test_goes_out_and_comes_back(self):
        """
        Every record, by way of JSON text: views, notes, pins, reverts, ids.
        """
        memory = memory_of(
            system("rule"), *TOOLS, user("m", id="m1"), strategy=Summarize(2), ask=replies("short")
        )
        memory.context(replace=True)
        memory.pin(2)
        memory.append(*talk(2))
        memory.compact(Window(2))
        memory.revert(16)
        text = json.dumps(memory.to_dict())
        copy = Memory.from_dict(json.loads(text), InMemoryStore(), ask=replies("short"))

        assert memory.to_dict() == copy.to_dict()
        assert memory.view() == copy.view()
        assert memory.entries() == copy.entries()
        assert ("short", "default") == (copy.summary(), copy._thread)

    def test_goes_into_another_thread(self):
        """
        With settings of its own.
        """
        data = memory_of(*talk(2)).to_dict()
        copy = Memory.from_dict(
            data, thread="other", strategy=TokenBudget(2), budget=99, count=tokens.words
        )

        assert (("other",), ["q2", "a2"]) == (copy.threads(), texts(copy.context()))

    def test_does_not_go_out_of_a_bounded_store(self):
        """
        Its records are no longer whole; nor is there a view of another time.
        """
        memory = Memory(InMemoryStore(retain=4))
        memory.append(*talk(3))
        message = (
            "thread 'default': the store deleted the entries 1-2 (retain=), so its records cannot "
            "be replayed; keep all, or copy the messages"
        )

        assert message == refusal(StoreError, memory.to_dict)
        assert message == refusal(StoreError, lambda: memory.view(at=1))

    def test_is_refused_where_the_thread_holds_something(self):
        """
        The message says what to do.
        """
        store = InMemoryStore()
        Memory(store).append(user("a"))

        assert refusal(
            ConfigError, lambda: Memory.from_dict(memory_of(*talk(1)).to_dict(), store)
        ) == (
            "from_dict: thread 'default' holds 1 records already; "
            "give another thread= or delete it first"
        )

    @pytest.mark.parametrize(
        ("data", "shown"), [({"version": 2}, "2"), ({}, "None"), ([1], "'list'"), ("x", "'str'")]
    )
    def test_of_another_form_is_refused(self, data, shown):
        """
        The message names the version.
        """
        assert refusal(CorruptLogError, lambda: Memory.from_dict(data)) == (
            f"from_dict: expected what to_dict gave, version 1, got {shown}"
        )

    def test_that_is_damaged_leaves_nothing_behind(self):
        """
        All or none.
        """
        data, store = memory_of(*talk(2)).to_dict(), InMemoryStore()
        data["records"][2] = {"v": 1}

        refusal(CorruptLogError, lambda: Memory.from_dict(data, store))
        assert () == store.threads()

    def test_without_records_is_refused(self):
        """
        It is not what `to_dict` gave.
        """
        for damaged in (3, "abc", [3]):
            refusal(
                CorruptLogError,
                lambda damaged=damaged: Memory.from_dict({"version": 1, "records": damaged}),
            )


class TestOpen:
    def test_refuses_what_is_no_path(self):
        """
        SQLite would take an empty one for a file that is gone at the end.
        """
        for wrong, told in ((3, "got int"), (None, "got NoneType"), ("", "got ''; Memory() keeps")):
            message = refusal(ConfigError, lambda wrong=wrong: Memory.open(wrong))

            assert message.startswith(f"Memory.open needs the path of a file, {told}")

    def test_keeps_a_file(self, tmp_path):
        """
        What was said is there again.
        """
        path = tmp_path / "chat.db"
        with Memory.open(path, strategy=Window(2)) as memory:
            memory.append(*talk(3))
            memory.compact()
        with Memory.open(str(path), thread="default") as memory:
            assert (["q3", "a3"], 6) == (texts(memory.view()), len(memory.entries()))

    def test_closes_the_file(self, tmp_path):
        """
        What is closed is refused.
        """
        memory = Memory.open(tmp_path / "chat.db")
        memory.close()

        with pytest.raises(StoreError):
            memory.append(user("a"))

    def test_leaves_no_file_open_where_it_is_refused(self, tmp_path):
        """
        The store is closed again, and the file can be opened by others.
        """
        refusal(NeedsAnswerError, lambda: Memory.open(tmp_path / "chat.db", strategy=Summarize(2)))
        with Memory.open(tmp_path / "chat.db") as memory:
            assert () == memory.entries()

    def test_of_a_store_in_memory_is_a_context_manager_too(self):
        """
        So programs can change where they keep things.
        """
        with memory_of(user("a")) as memory:
            assert 1 == len(memory.view())


class TestOddLogs:
    def test_with_words_beside_late_results(self):
        """
        The words stay though the call has left, and open a round.
        """
        memory = memory_of(user("q1"), call("c1"), user("x"), assistant("y"))
        memory.retract(2)
        memory.append(user([ToolResult("c1", "late"), "and words"]), assistant("z"))

        assert ["q1", "x", "y", "lateand words", "z"] == texts(memory.view())
        assert ["lateand words", "z"] == texts(memory.context(Window(2)))

    def test_that_are_one_long_tool_loop(self):
        """
        The question stays in front.
        """
        loop = [m for n in range(300) for m in (call(f"c{n}"), result(f"c{n}"))]
        memory = memory_of(user("q"), *loop, strategy=Window(5))

        assert ["q", "", "found", "", "found"] == texts(memory.context())

    def test_that_are_empty(self):
        """
        Nothing to send.
        """
        memory = Memory(strategy=Window(2) | TokenBudget(9), ask=replies("x"))

        assert unchanged(view_of([])) == memory.context()
        assert ["s"] == texts(memory.context(Summarize(2), system="s"))


class TestOtherHands:
    def test_begin_a_thread_anew(self):
        """
        A memory that is open shows nothing of a thread that was deleted, whoever did it.
        """
        store = InMemoryStore()
        memory = Memory(store, strategy=Window(2))
        memory.append(*talk(3))
        memory.context()
        store.delete("default")
        Memory(store).append(*[user(f"n{n}") for n in range(6)])

        assert ["n4", "n5"] == texts(memory.context())
        assert "n0" == memory.view()[0].message.text

    def test_fork_while_a_thread_is_in_the_memory(self):
        """
        The child gets a lock that nobody holds.
        """
        memory = Memory()
        memory._lock.acquire()
        memory._process = -1

        assert 1 == memory.append(user("hi")).entries[0].seq

    def test_give_back_half_a_thread(self):
        """
        What cannot be restored whole leaves nothing behind.
        """
        data = memory_of(*talk(2)).to_dict()
        memory = memory_of(*talk(2), strategy=Window(1, replace=True))
        memory.context()
        bad = {**data, "records": [data["records"][0], memory.to_dict()["records"][-1]]}
        store = InMemoryStore()
        with pytest.raises(StoreError):
            Memory.from_dict(bad, store)

        assert () == store.threads()

    def test_give_a_result_of_another_view(self):
        """
        A step answers for the view that it was given.
        """
        memory = memory_of(*talk(1))
        with pytest.raises(OutcomeError, match="the result is of another view"):
            memory.context(lambda view, ctx: run(NoCompaction(), view_of([user("q")])))


class TestSteps:
    def test_may_not_call_their_own_memory(self):
        """
        They would wait for themselves; the error says what to do, and the memory works on.
        """
        memory = memory_of(*talk(1))

        def nosy(view, ctx):
            return memory.entries() and view.tail(1)

        with pytest.raises(ConfigError, match="a step of the strategy called its own memory"):
            memory.context(nosy)
        assert ["q1", "a1"] == texts(memory.context())

    def test_have_models_that_may(self):
        """
        Nothing is locked while a model answers.
        """
        memory = Memory(
            strategy=Summarize(2, guard_size=False),
            ask=lambda ask: f"{len(memory.append(user('more')).entries)} more",
        )
        memory.append(*talk(2))

        assert "1 more" in memory.context().text()
        assert 5 == len(memory.entries())


class TestTranscript:
    def test_without_what_was_taken_out(self):
        """
        What a chat screen shows after an answer was made anew: what is folded, not what is gone.
        """
        memory = memory_of(*talk(3), strategy=Summarize(1, replace=True), ask=replies("s"))
        memory.context()
        memory.rewind(6)
        memory.append(assistant("better"))

        assert ["q1", "a1", "q2", "a2", "q3", "better"] == texts(memory.entries(retracted=False))
        assert ["q3", "better"] == texts(memory.entries(last=2, retracted=False))
        assert 7 == len(memory.entries())


class TestClosing:
    def test_of_another_thread_leaves_the_store_open(self, tmp_path):
        """
        The memory that was opened closes it.
        """
        with Memory.open(tmp_path / "chat.db") as memory:
            with memory.thread("other") as other:
                other.append(user("hi"))

            assert 1 == memory.append(user("hi")).entries[0].seq
            assert ("default", "other") == memory.store.threads()


class TestNewestWriteBack:
    def test_is_what_revert_takes_back(self):
        """
        One after the other; a revert itself is no write-back.
        """
        memory = memory_of(*talk(3), strategy=Window(4, replace=True))
        first = memory.context().rec
        second = memory.context(Window(2, replace=True)).rec

        assert [second, first] == [memory.revert().body.rec, memory.revert().body.rec]
        with pytest.raises(ConfigError, match="has no write-back or retraction in force"):
            memory.revert()


class TestDamage:
    def test_of_a_lost_row_is_told(self, tmp_path):
        """
        Whoever reads it; never silence, never an endless search.
        """
        path = tmp_path / "chat.db"
        with Memory.open(path) as memory:
            memory.append(*talk(3))
        with contextlib.closing(sqlite3.connect(path)) as file, file:
            file.execute("DELETE FROM records WHERE rec = 2")
        with Memory.open(path) as memory:
            for read in (memory.entries, memory.view, lambda: memory.context(HeadAndTail(1, 1))):
                with pytest.raises(CorruptLogError, match="does not give the entries 2, which"):
                    read()

    def test_is_not_what_a_deletion_between_two_reads_is(self):
        """
        What was about to be read is gone, so the thread is read anew.
        """

        class Deleting(InMemoryStore):
            def entries(self, thread, span):
                if not hasattr(self, "done"):
                    self.done = True
                    self.delete(thread)
                    self.append(thread, [Appended(0, user("new"))])
                return super().entries(thread, span)

        store = Deleting()
        store.append("default", [Appended(0, message) for message in talk(3)])

        assert ["new"] == texts(Memory(store).context())


class TestReportUsage:
    def test_is_in_the_result_that_comes_back(self):
        """
        Beside the estimate; the explanation prints it.
        """
        memory = memory_of(user("one two three four"), count=tokens.words)
        result = memory.context()
        told = memory.report_usage(result, input_tokens=5, cached_tokens=3)

        assert Usage(4, 5, 3) == told.usage
        assert result == told
        assert result.usage is None
        assert (
            "usage: 5 input tokens reported, 4 estimated (20.0% too low), 60% of them cached"
        ) in told.explain()
        assert "usage: 4 input tokens reported, 4 estimated (exactly)" in (
            memory.report_usage(result, input_tokens=4).explain()
        )
        assert "4 estimated (100.0% too high)" in (
            memory.report_usage(result, input_tokens=2).explain()
        )

    def test_writes_a_note_only_for_a_calibrated_counter(self):
        """
        Others lean on none.
        """
        memory = memory_of(user("one two"), count=tokens.words)
        head = memory.view().head
        memory.report_usage(memory.context(), input_tokens=5)

        assert head == memory.view().head

        memory = memory_of(user("one two"), count=tokens.calibrated(tokens.words))
        memory.report_usage(memory.context(), input_tokens=5)

        assert head + 1 == memory.view().head

    def test_says_what_is_billed_beside_the_messages(self):
        """
        The offset is estimated, and is no part of the messages' tokens.
        """
        memory = memory_of(count=tokens.calibrated(tokens.words))
        for number in range(1, 9):
            memory.append(user("word " * 10 * number))
            result = memory.context()
            words = 10 * number * (number + 1) // 2
            memory.report_usage(result, input_tokens=2 * words + 100)
        result = memory.context()

        assert (720, 820) == (result.tokens, result.estimated)
        assert "8 of 8 messages, 720 tokens, and 100 billed each time beside them" in (
            result.explain()
        )

    @pytest.mark.parametrize(
        ("numbers", "said"),
        [
            ({"input_tokens": 0}, "`input_tokens` must be an int of tokens, 1 or more, got 0"),
            ({"input_tokens": -3}, "got -3"),
            ({"input_tokens": 1.5}, "got 1.5"),
            ({"input_tokens": True}, "got True"),
            ({"input_tokens": None}, "got None"),
            ({"input_tokens": "12"}, "got '12'"),
            ({"input_tokens": 10**13}, "at most 1_000_000_000_000, got 10000000000000"),
            ({"input_tokens": 4, "cached_tokens": -1}, "`cached_tokens` must be an int of tokens"),
            ({"input_tokens": 4, "cached_tokens": 0.5}, "0 or more, got 0.5"),
            ({"input_tokens": 4, "cached_tokens": 9}, "for Anthropic add cache_read_input_tokens"),
        ],
    )
    def test_refuses_bad_numbers(self, numbers, said):
        """
        Nothing is written.
        """
        memory = memory_of(user("hi"), count=tokens.calibrated(tokens.words))
        head = memory.view().head
        with pytest.raises(ConfigError, match=said):
            memory.report_usage(memory.context(), **numbers)

        assert head == memory.view().head

    def test_refuses_what_is_no_result_of_this_thread(self):
        """
        A report to the wrong memory would correct the wrong counts.
        """
        memory = memory_of(user("hi"), count=tokens.calibrated(tokens.words))
        with pytest.raises(ConfigError, match=r"expected what context\(\) gave, got str"):
            memory.report_usage("hi", input_tokens=3)
        elsewhere = memory_of(user("hi"))
        with pytest.raises(ConfigError, match="the result is of another thread than 'default'"):
            memory.report_usage(elsewhere.context(), input_tokens=3)

    def test_of_nothing_corrects_nothing(self):
        """
        A request without messages has no ratio.
        """
        memory = Memory(count=tokens.calibrated(tokens.words))

        assert 9 == memory.report_usage(memory.context(), input_tokens=9).usage.input_tokens
        assert () == memory.view().notes


class TestBadCounters:
    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    def test_are_refused_when_a_memory_is_made(self, kind):
        """
        Where a name was meant to be a counter, the line that makes one is in the error.
        """

        async def count(message):
            return 1

        with pytest.raises(ConfigError, match=r"count= must be a function.*for_model\('gpt-5'\)"):
            kind(count="gpt-5")
        with pytest.raises(ConfigError, match=r"ask= must be .*asking\.openai\(client, 'gpt-5'\)"):
            Memory(ask="gpt-5")
        with pytest.raises(ConfigError, match=r"count= must be a function, got int"):
            kind(count=5)
        with pytest.raises(ConfigError, match=r"plain function, got the async .*from_client"):
            kind(count=count)

    @pytest.mark.parametrize("counter", [tokens.exact(), tokens.rough, tokens.for_model("claude")])
    @pytest.mark.parametrize("given", ["hello", {"role": "user", "content": "hello"}, None])
    def test_a_counter_says_what_it_takes(self, counter, given):
        """
        A text or a provider's dict is no message; the error says what to do.
        """
        with pytest.raises(ConfigError, match=r"takes a message, got .*; build one"):
            counter(given)

    @pytest.mark.parametrize("given", [-1, 1.5, None, "3", True, OSError("no")])
    @pytest.mark.parametrize("calibrate", [False, True])
    def test_name_the_step_and_the_message(self, given, calibrate):
        """
        Nothing is lost and nothing written; the memory works on with another strategy.
        """

        def count(message):
            if isinstance(given, Exception):
                raise given
            return given

        counter = tokens.calibrated(count, model="m") if calibrate else count
        memory = memory_of(user("hello"), count=counter, strategy=Window(3) | TokenBudget(5))
        head = memory.view().head
        said = r"step TokenBudget\(5\): counter .*(returned|raised) .* the user message 'hello'"
        with pytest.raises(CountError, match=said):
            memory.context()

        assert head == memory.view().head
        assert ["hello"] == texts(memory.context(Window(3)))
