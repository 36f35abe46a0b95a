"""
A provider's compaction items: the newest stays, whoever cuts.
"""

import pytest

from unabridged import (
    ClearToolResults,
    Filter,
    HeadAndTail,
    MaxRounds,
    Memory,
    MergeRuns,
    Opaque,
    Sections,
    Sparing,
    Summarize,
    TokenBudget,
    Window,
    assistant,
    custom,
    user,
    written_back,
)
from unabridged.codec_states import state_from_json, state_to_json
from unabridged.formats import anthropic, mend, openai_responses, problems
from unabridged.log import is_compaction
from unabridged.records import Drop
from unabridged.results import TrimResult, drop, fold, keep
from unabridged.spans import Span
from unabridged.states import rebuilt
from unabridged.steps import label
from unabridged.stores import InMemoryStore, SqliteStore
from unabridged.testing import replies, talk, texts
from unabridged.tokens import words

ANTHROPIC = Opaque("anthropic", {"type": "compaction", "content": "So far."})
OPENAI = Opaque("openai_responses", {"type": "compaction", "id": "c", "encrypted_content": "gA"})


def thread(part=ANTHROPIC, store=None, rounds=40):
    """
    A memory whose sixth entry is such an item, long before its end.
    """
    memory = Memory(store, count=words, ask=replies("told", "told", "told"))
    memory.append(*talk(2), user("q"), assistant([part, "on"]), *talk(rounds, first=3))

    return memory


def firsts(view):
    return [item.first for item in view]


def kept(view, ctx):
    return keep(view, view.tail(2), reason="old")


def dropped(view, ctx):
    return drop(view, view[:-2], reason="old")


def folded(view, ctx):
    return fold(view, view[:-2], into=user("told"), reason="old")


class TestIsCompaction:
    @pytest.mark.parametrize(
        ("part", "is_one"),
        [
            (ANTHROPIC, True),
            (OPENAI, True),
            (Opaque("anthropic", {"type": "compaction", "content": None}), False),
            (Opaque("anthropic", {"type": "compaction", "encrypted_content": "x"}), False),
            (Opaque("openai_responses", {"type": "compaction_trigger"}), False),
            (Opaque("openai_responses", {"type": "web_search_call", "q": "compaction"}), False),
            (Opaque("gemini", {"type": "compaction", "content": "x"}), False),
            (Opaque("anthropic", ["compaction"]), False),
        ],
    )
    def test_knows_what_stands_for_a_conversation(self, part, is_one):
        """
        A block that failed is a no-op, and other providers have none.
        """
        assert is_one == is_compaction(assistant([part, "text"]))

    def test_knows_what_the_formats_load(self):
        """
        As the providers' clients give them.
        """
        block = {"type": "compaction", "content": "So far.", "signature": "s"}
        item = {"type": "compaction", "id": "c", "encrypted_content": "gA"}

        (loaded,) = anthropic.load([{"role": "assistant", "content": [block]}])
        assert is_compaction(loaded)
        assert any(map(is_compaction, openai_responses.load([user_item(), item])))


class TestRequests:
    def test_that_open_on_one_are_mended(self):
        """
        The provider reads nothing before it, yet may want a user first.
        """
        memory = thread(rounds=3)
        memory.append(user("q"))
        view = memory.context(Window(1)).view

        assert ["assistant", "user"] == [item.message.role for item in view]
        sent = anthropic.request(view.messages)["messages"]
        assert ["user", "assistant", "user"] == [each["role"] for each in sent]
        assert {"type": "compaction", "content": "So far."} == sent[1]["content"][0]
        assert () == problems(mend(view, "anthropic"), "anthropic")


def user_item():
    return {"type": "message", "role": "user", "content": "hi"}


class TestTheNewest:
    @pytest.mark.parametrize(
        "strategy",
        [
            Window(2),
            Window(2, opening="next"),
            Window(2, opening="anywhere"),
            Window(4, by="rounds"),
            TokenBudget(6),
            MaxRounds(1),
            HeadAndTail(1, 2),
            Sections(6),
            Sparing(Sections(6), first=1),
            Filter(role="user"),
            Filter(kind="opaque", matching="drop"),
            Summarize(keep_last=2),
            MergeRuns(),
            ClearToolResults(0),
            kept,
            dropped,
            folded,
        ],
        ids=label,
    )
    @pytest.mark.parametrize("part", [ANTHROPIC, OPENAI], ids=["anthropic", "openai"])
    def test_stays_whoever_cuts(self, part, strategy):
        """
        Every built-in strategy, and what `results` makes; where little is loaded, and where all is.
        """
        memory = thread(part)
        fresh = Memory(memory.store, count=words, ask=replies("told"))
        for each in (memory, fresh):
            done = each.context(strategy)
            found = [item for item in done.view if is_compaction(item.message)]

            assert ([6], ()) == (firsts(found), done.warnings)
        assert "entry 6 stays: it holds a provider's compaction item" in done.why(6)

    def test_stays_at_the_next_turns_too(self):
        """
        Projected or written back, in this memory and in one opened later.
        """
        for strategy in (Window(2), Window(2, replace=True), Summarize(keep_last=2, replace=True)):
            memory = thread()
            for number in range(50, 53):
                memory.append(*talk(1, first=number))
                assert 6 in firsts(memory.context(strategy).view)
            assert 6 in firsts(memory.view())

    def test_supersedes_the_one_before(self):
        """
        That may leave as anything else.
        """
        memory = thread()
        memory.context(Window(2))
        memory.append(assistant([OPENAI, "on"]), *talk(2))

        for each in (memory, Memory(memory.store)):
            assert [85, 86, 87, 90, 91] == firsts(each.context(Window(2)).view)

    @pytest.mark.parametrize(
        "strategy",
        [
            Window(2),
            Window(2, opening="next"),
            Window(3, count_pins=True),
            Window(2, replace=True),
            MaxRounds(1),
            kept,
        ],
        ids=label,
    )
    @pytest.mark.parametrize("part", [ANTHROPIC, OPENAI], ids=["anthropic", "openai"])
    def test_brings_no_question_and_takes_no_room(self, part, strategy):
        """
        It stands for its question too, so a cut that keeps it is not over for that.
        """
        memory = thread(part)
        for each in (memory, Memory(memory.store, count=words)):
            done = each.context(strategy)

            assert [6, 85, 86] == firsts(done.view)
            assert done.over is None

    def test_leaves_a_window_that_reaches_back_to_it_without_a_gap(self):
        """
        Its question would take the place of the first message after it.
        """
        memory = thread(rounds=3)

        assert list(range(6, 13)) == firsts(memory.context(Window(6)).view)
        assert list(range(5, 13)) == firsts(memory.context(Window(7)).view)

    @pytest.mark.parametrize(
        "strategy",
        [Window(86), MaxRounds(43), TokenBudget(10_000), Summarize(keep_last=86), MergeRuns()],
        ids=label,
    )
    def test_changes_nothing_where_nothing_is_cut(self, strategy):
        """
        What it stands for is still there.
        """
        memory = thread()

        assert memory.view().items == memory.context(strategy).view.items

    def test_that_is_taken_out_by_hand_leaves(self):
        """
        The one before it is the newest again; undoing brings it back.
        """
        memory = thread()
        memory.append(assistant([OPENAI, "on"]), *talk(2))
        memory.retract(87)

        assert [6, 90, 91] == firsts(memory.context(Window(2)).view)
        memory.retract(6)
        assert [90, 91] == firsts(memory.context(Window(2)).view)
        memory.revert()
        memory.revert()
        assert 87 in firsts(memory.context(Window(2)).view)
        memory.rewind(6)
        assert not any(is_compaction(m) for m in memory.context(Window(2)).messages)
        memory.clear()
        assert () == memory.context(Window(2)).messages

    def test_that_begins_a_log_stands_for_nothing(self):
        """
        There is nothing that was cut.
        """
        memory = Memory()
        memory.append(assistant([ANTHROPIC, "on"]), *talk(3))

        assert ["q3", "a3"] == texts(memory.context(Window(2)))

    def test_is_unpinned_by_nobody(self):
        """
        Letting go of pins lets go of those by hand and by role.
        """
        memory = thread()
        memory.unpin(6)

        assert 6 in firsts(memory.context(Window(2)).view)
        assert 6 in firsts(Memory(memory.store).context(Window(2)).view)


class TestCustomSteps:
    @pytest.mark.parametrize(
        "step",
        [
            lambda view, ctx: view.tail(2),
            lambda view, ctx: view.messages[-2:],
            custom(lambda view, ctx: view.tail(2), strict=True),
            written_back(lambda view, ctx: view.tail(2)),
            written_back(lambda view, ctx: [user("recap"), *view.tail(2)]),
            lambda view, ctx: TrimResult(view, (Drop(Span.between(1, 84)),)),
        ],
        ids=["items", "messages", "strict", "written", "stood in for", "a result"],
    )
    def test_may_leave_it_out_and_are_told(self, step):
        """
        As a warning, whatever way they have to do so.
        """
        done = thread().context(step)

        assert not any(map(is_compaction, done.messages))
        (told,) = done.warnings
        assert told.endswith(
            ": a provider's compaction item left, entry 6; the model sees nothing more of what it "
            "stands for"
        )

    def test_are_not_told_where_it_stays_or_is_gone_already(self):
        """
        Once is enough.
        """
        memory = thread()

        assert () == memory.context(lambda view, ctx: [view[5], *view[-2:]]).warnings
        memory.context(written_back(lambda view, ctx: view.tail(2)))
        assert () == memory.context(lambda view, ctx: view.tail(2)).warnings


class TestState:
    @pytest.mark.parametrize("make", [InMemoryStore, lambda: SqliteStore(":memory:")])
    def test_is_what_the_records_come_to(self, make):
        """
        Kept beside the log, to JSON and back.
        """
        store = make()
        memory = thread(store=store)
        state = store.state("default")

        assert Span.one(6) == state.compactions
        assert 6 == state.compaction
        assert state == rebuilt(store.read("default")) == state_from_json(state_to_json(state))
        memory.context(written_back(lambda view, ctx: view.tail(2)))
        assert 0 == store.state("default").compaction

    def test_written_before_there_were_any_loads(self):
        """
        Its items are known from the next one on.
        """
        data = state_to_json(thread().store.state("default"))
        del data["compactions"]

        assert (0, 86) == ((old := state_from_json(data)).compaction, old.seq)
