"""
Faults that users reported of other systems, one test each, named for the kind of fault.

The messages are those of ../shared/cases, read through its own loader; what
must hold is said there too. Where a case leaves two answers open, the one
asserted here is DESIGN.md's. A plain cut is `opening="anywhere"`; the rule
that a view opens on a user message is our default, `opening="question"`.
"""

import copy
import importlib.util
import json
import logging
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from unabridged import (
    ClearToolResults,
    ClipArguments,
    ClipMessages,
    ClipToolResults,
    Deduplicate,
    DropReasoning,
    HeadAndTail,
    MaxRounds,
    Memory,
    MergeRuns,
    Message,
    NoCompaction,
    Over,
    Repair,
    Sparing,
    Summarize,
    TokenBudget,
    When,
    Window,
    assistant,
    chain,
    run,
    tokens,
    tool,
    user,
)
from unabridged.contract import Ask, TrimContext
from unabridged.errors import BudgetError, ConfigError, LogConflictError, StepError, StoreError
from unabridged.formats import mend, problems
from unabridged.formats.openai_chat import dump, load
from unabridged.formats.providers import PROVIDERS
from unabridged.records import Body, Compacted
from unabridged.results import TrimResult
from unabridged.stores.in_memory import InMemoryStore
from unabridged.stores.protocol import Receipt, Store
from unabridged.stores.sqlite import SqliteStore
from unabridged.testing import (
    call,
    failing,
    replies,
    result,
    texts,
    view_of,
)

CASES = Path(__file__).resolve().parents[1].parent / "shared" / "cases"

pytestmark = pytest.mark.skipif(
    not CASES.is_dir(), reason="the reported faults are in ../shared/cases, which is not here"
)

Turns = list[dict[str, Any]]

SUMMARY = "summary"


@cache
def loader() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reported_cases", CASES / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def reported() -> dict[str, Turns]:
    return {case["id"]: case["messages"] for case in loader().load()}


def case(number: str) -> Turns:
    return copy.deepcopy(reported()[number])


def words(message: Message) -> int:
    """
    The counter of the cases: words of the text, and of each call's name and arguments.
    """
    calls = (f"{made.name} {made.arguments}" for made in message.tool_calls)
    return len(message.text.split()) + sum(len(text.split()) for text in calls)


def trimmed(strategy: Any, turns: Turns, ask: Callable[[Ask], Any] | None = None) -> TrimResult:
    return run(strategy, view_of(load(turns)), TrimContext(count=words), ask=ask)


def shown(seen: TrimResult, turns: Turns) -> list[int | str]:
    """
    The places of the messages kept, each equal to what came in key for key; summaries by name.
    """
    places: list[int | str] = []
    for item in seen.view:
        if item.stands_in:
            places.append(SUMMARY)
            continue
        place = item.first - 1
        assert [turns[place]] == dump([item.message])
        places.append(place)

    return places


def remembered(turns: Turns, strategy: Any = NoCompaction(), **options: Any) -> Memory:  # noqa: B008
    memory = Memory(strategy=strategy, count=words, **options)
    memory.append(*load(turns))
    return memory


def as_long_as_given(ask: Ask) -> str:
    given = sum(words(item.message) for item in ask.items)
    return " ".join(["z"] * (given + (words(ask.previous) if ask.previous else 0)))


EVERY = (
    NoCompaction(),
    Window(2),
    Window(3, opening="anywhere"),
    Window(4, down_to=2),
    MaxRounds(1),
    MaxRounds(2, down_to=1),
    TokenBudget(20),
    TokenBudget(60, down_to=30),
    HeadAndTail(1, 2),
    Summarize(keep_last=2),
    Summarize(keep_rounds=1),
    Summarize(keep_tokens=20),
    When(Over(messages=3), Window(1)),
    Sparing(Window(2), first=1),
)
EACH = pytest.mark.parametrize("strategy", EVERY, ids=repr)


@pytest.fixture(params=["in memory", "sqlite"])
def workers(request, tmp_path) -> Iterator[Callable[[], Store]]:
    """
    What opens the same log again, as another worker would.
    """
    if request.param == "in memory":
        only = InMemoryStore()
        yield lambda: only
        return
    opened: list[SqliteStore] = []

    def another() -> Store:
        opened.append(SqliteStore(tmp_path / "chat.db"))
        return opened[-1]

    yield another
    for store in opened:
        store.close()


class TestTheCases:
    def test_go_in_and_out_unchanged(self):
        """
        What `load` reads of a case, `dump` gives back; the one that JSON cannot hold aside.
        """
        fine = {number: turns for number, turns in reported().items() if number != "BC68"}

        assert fine == {number: dump(load(turns)) for number, turns in fine.items()}

    def test_are_counted_as_their_own_loader_counts(self):
        """
        The word counter of this file agrees with the cases' own.
        """
        turns = [
            turn
            for number, case_turns in reported().items()
            if number not in {"BC57", "BC68"}
            for turn in case_turns
        ]

        assert [loader().words(turn) for turn in turns] == [words(m) for m in load(turns)]


class TestWindow:
    def test_orphan_tool_result_when_the_cut_falls_behind_a_call(self):
        """
        BC01: a cut between a call and its result moves past the result; nothing is altered.
        """
        turns = case("BC01")
        memory = remembered(turns, Window(5, opening="anywhere"))

        assert [3, 4, 5, 6] == shown(memory.context(), turns)
        assert [3, 4, 5, 6] == shown(memory.context(Window(5)), turns)
        assert case("BC01") == turns == dump(entry.message for entry in memory.entries())

    def test_orphan_tool_result_and_system_dropped(self):
        """
        BC05: the system message stays beside the window; a result is known by its role and id.
        """
        turns = case("BC05")

        assert [0, 4, 5] == shown(trimmed(Window(3, opening="anywhere"), turns), turns)

    def test_system_dropped(self):
        """
        BC06: the system message stays, whether it counts or not.

        With a limit of 1 that counts it, the case allows `[system]` or an
        error. A result of ours is never empty of what is not pinned: the newest
        message stays as well, `over` says so, and `strict` raises.
        """
        turns = case("BC06")
        inside = Window(1, opening="anywhere", count_pins=True)
        squeezed = trimmed(inside, turns)

        assert [0, 3, 4] == shown(trimmed(Window(2), turns), turns)
        assert [0, 4] == shown(
            trimmed(Window(2, opening="anywhere", count_pins=True), turns), turns
        )
        assert [0, 4] == shown(squeezed, turns)
        assert squeezed.over is not None
        assert (1, 2, 1) == (squeezed.over.limit, squeezed.over.needed, squeezed.over.by)
        with pytest.raises(BudgetError, match="2 messages must stay, 1 over the limit of 1"):
            trimmed(Window(1, opening="anywhere", count_pins=True, strict=True), turns)

    def test_no_valid_cut_in_one_long_tool_loop(self):
        """
        BC09: a loop of calls is cut by whole exchanges, and keeps its question.

        The case expects `[m0, m5..m8]` of a window of 4 with the user rule; with
        us the limit counts what is brought, so one exchange less fits, and a
        window of 5 gives that answer.
        """
        turns = case("BC09")

        assert [5, 6, 7, 8] == shown(trimmed(Window(4, opening="anywhere"), turns), turns)
        assert [0, 7, 8] == shown(trimmed(Window(4), turns), turns)
        assert [0, 5, 6, 7, 8] == shown(trimmed(Window(5), turns), turns)

    def test_first_not_user(self):
        """
        BC10: an odd cut opens on a user message, also where a call waits at the end.
        """
        turns = case("BC10")
        waiting = [*turns, *dump([call("c1")])]
        narrow = trimmed(Window(1), waiting)

        assert [2, 3, 4] == shown(trimmed(Window(4), turns), turns)
        assert [4, 5] == shown(narrow, waiting)
        assert narrow.over is not None
        assert 1 == narrow.over.by

    def test_orphan_tool_result_inside_the_tool_loop(self):
        """
        BC19: a window of one message, between a result and the next call, keeps the whole pair.
        """
        turns = case("BC19")

        assert [0, 2, 3] == shown(trimmed(Window(1, opening="anywhere"), turns), turns)
        assert [0, 1, 2, 3] == shown(trimmed(Window(1), turns), turns)

    def test_parallel_split_by_results_out_of_order(self):
        """
        BC22: results need not stand in the order of their calls to belong together.
        """
        turns = case("BC22")

        assert [4] == shown(trimmed(Window(2, opening="anywhere"), turns), turns)
        assert [0, 4] == shown(trimmed(Window(2), turns), turns)
        assert [1, 2, 3, 4] == shown(trimmed(Window(4, opening="anywhere"), turns), turns)

    def test_reasoning_split(self):
        """
        BC56: a reasoning entry and the entry after it are kept or dropped together.
        """
        turns = case("BC56")
        folded = trimmed(Summarize(keep_last=7), turns, replies("A."))

        assert [7, 8, 9] == shown(trimmed(Window(5, opening="anywhere"), turns), turns)
        assert [3, 7, 8, 9] == shown(trimmed(Window(5), turns), turns)
        assert [SUMMARY, 3, 4, 5, 6, 7, 8, 9] == shown(folded, turns)

    def test_reasoning_that_is_dropped_on_purpose(self):
        """
        BC56: what it led to stays, and its id is sent no more; the loop that runs is left alone.
        """
        turns = case("BC56")
        dropped = trimmed(DropReasoning(), turns)
        thought = {"role": "assistant", "content": None, "type": "reasoning", "id": "rs_4"}
        running = [*case("BC56"), thought, {"role": "assistant", "content": "Yes.", "id": "msg_4"}]
        led = [turns[place] for place in (2, 5, 8)]
        for turn in led:
            del turn["id"]

        assert [turns[place] for place in (0, 2, 3, 5, 6, 8, 9)] == dump(dropped.messages)
        assert "Sure?" == dropped.messages[-1].text
        assert ["msg_1", "fc_2", "msg_3"] == [m.id for m in dropped.messages if m.id]
        assert [1, 4, 7] == [seq - 1 for seq in (2, 5, 8) if "left" in dropped.why(seq)]
        assert running[10:] == dump(trimmed(DropReasoning(), running).messages[7:])
        assert turns[7:] == dump(trimmed(DropReasoning(1), turns).messages[5:])

    def test_reused_call_id(self):
        """
        DC01: a result belongs to the nearest earlier call of its id that has no result yet.
        """
        turns = case("DC01")
        folded = trimmed(Summarize(keep_last=4), turns, replies("Ana was found."))

        assert [7] == shown(trimmed(Window(2, opening="anywhere"), turns), turns)
        assert [5, 6, 7] == shown(trimmed(Window(3, opening="anywhere"), turns), turns)
        assert [4, 7] == shown(trimmed(Window(2), turns), turns)
        assert [4, 5, 6, 7] == shown(trimmed(MaxRounds(1), turns), turns)
        assert [SUMMARY, 4, 5, 6, 7] == shown(folded, turns)
        assert [1, 2, 1, 1, 2, 1] == [len(block) for block in view_of(load(turns)).blocks]

    def test_cache_busting(self):
        """
        BC70: with a low mark the prefix stays the same for many turns, where a sliding one changes.

        The cut is a note in the log, so it does not depend on the process that
        projects, nor on how often. It does depend on there having been a
        projection: a log that never had one is cut to the low mark (DESIGN.md,
        decision 14).
        """
        messages = load(case("BC70"))
        slack = Window(30, down_to=20, opening="anywhere")
        memory = Memory(strategy=slack)
        seen: list[tuple[Message, ...]] = []
        sliding: list[str] = []
        for message in messages:
            if message.role == "assistant":
                seen.append(memory.context().messages)
                again = Memory.from_dict(memory.to_dict(), strategy=slack)
                assert seen[-1] == memory.context().messages == again.context().messages
                sliding.append(texts(memory.context(Window(20)))[1])
            memory.append(message)
        firsts = [messages[1].text for messages in seen]
        moved = [at for at in range(1, 60) if firsts[at] != firsts[at - 1]]

        assert 51 == len(set(sliding))
        assert [15, 21, 27, 33, 39, 45, 51, 57] == moved
        assert [20, 22, 24, 26, 28, 30] * 7 == [len(each) - 1 for each in seen[15:57]]
        assert [at for at in range(1, 60) if seen[at][: len(seen[at - 1])] != seen[at - 1]] == moved


class TestTokenBudget:
    def test_orphan_tool_result_when_the_newest_round_does_not_fit(self):
        """
        BC02: what must stay is kept whole and flagged; `strict` raises with both numbers.
        """
        turns = case("BC02")
        squeezed = trimmed(TokenBudget(10), turns)
        memory = remembered(turns, TokenBudget(10, strict=True))

        assert [0, 1, 2, 3] == shown(squeezed, turns)
        assert [0, 2, 3] == shown(trimmed(TokenBudget(10, opening="anywhere"), turns), turns)
        assert squeezed.over is not None
        assert (10, 41, 31) == (squeezed.over.limit, squeezed.over.needed, squeezed.over.by)
        with pytest.raises(BudgetError, match="41 tokens must stay, 31 over the limit of 10"):
            memory.context()
        assert turns == dump(memory.view().messages)

    def test_needless_drop_of_results_at_the_end(self):
        """
        BC03: far below the limit nothing is touched, and the result says so.
        """
        turns = case("BC03")
        seen = trimmed(TokenBudget(10_000), turns)

        assert [0, 1, 2, 3] == shown(seen, turns)
        assert ((), (), None, ()) == (seen.changes, seen.notes, seen.over, seen.warnings)

    def test_needless_drop_by_a_hidden_limit(self):
        """
        BC34: no strategy applies a limit that nobody set.
        """
        turns = case("BC34")

        assert list(range(21)) == shown(trimmed(TokenBudget(100_000), turns), turns)

    def test_budget_too_small(self):
        """
        BC40: a system prompt over the budget stays, with the newest question, and `over` says it.
        """
        turns = case("BC40")
        squeezed = trimmed(TokenBudget(100), turns)

        assert [0, 3] == shown(squeezed, turns)
        assert squeezed.over is not None
        assert (100, 201) == (squeezed.over.limit, squeezed.over.needed)
        assert ("entry 1 (200): pinned by role", "entry 4 (1): the newest user message") == (
            squeezed.over.what
        )
        with pytest.raises(BudgetError, match=r"201 tokens .* limit of 100: entry 1 \(200\)"):
            trimmed(TokenBudget(100, strict=True), turns)

    def test_performance(self):
        """
        BC41: over 1,000 turns each message is counted once, and a projection reads what it keeps.
        """
        asked: list[str] = []

        def counted(message: Message) -> int:
            asked.append(message.text)
            return words(message)

        messages = [user(f"{n} {m.text}") for n, m in enumerate(load(case("BC41")))]
        memory = Memory(strategy=TokenBudget(16_000), count=counted)
        for message in messages:
            memory.append(message)
            seen = memory.context()
        counts = len(asked)
        fresh = Memory.from_dict(memory.to_dict(), strategy=TokenBudget(16_000), count=counted)

        assert texts(messages) == asked[:1_000]
        assert 1_000 == counts
        assert 73 == len(seen.messages)
        assert 128 >= fresh.context().before.size


class TestCounting:
    def test_token_undercount_of_arguments(self):
        """
        BC37: the arguments of a call count, and content that is null counts nothing.
        """
        turns = case("BC37")
        folded = trimmed(Summarize(keep_tokens=1_000), turns, replies("The report is saved."))

        assert 8_001 == words(load(turns)[1])
        assert 7_000 < tokens.exact()(load(turns)[1])
        assert 7_000 < tokens.words(load(turns)[1])
        assert [3] == shown(trimmed(TokenBudget(1_000), turns), turns)
        assert [SUMMARY, 3] == shown(folded, turns)

    def test_token_undercount_of_chinese_japanese_and_korean(self):
        """
        BC39: the estimate is no less than 0.6 of a tokenizer's count in any script.
        """
        turns = case("BC39")
        exact = tokens.exact("cl100k_base")
        messages = load(turns)
        seen = trimmed(TokenBudget(300, count=exact), turns)

        assert [] == [m for m in messages if tokens.rough(m) < 0.6 * exact(m)]
        assert 300 >= sum(map(exact, seen.messages))
        assert [] == [message for message in seen.messages if message not in messages]


class TestClips:
    def test_counted_and_sent(self):
        """
        BC08: what is counted is what is sent: the result is shorter there, and whole in the log.
        """
        turns = case("BC08")
        memory = remembered(turns, TokenBudget(1_000, clip=ClipToolResults(200)))
        seen = memory.context()
        sent = dump(seen.messages)

        assert turns[:2] == sent[:2]
        assert {**turns[2], "content": ""} == {**sent[2], "content": ""}
        assert "tokens left out; the whole is entry 3 …]" in sent[2]["content"]
        assert 200 >= words(seen.messages[2])
        assert 1_000 >= sum(map(words, load(sent))) == seen.tokens
        assert turns == dump(e.message for e in memory.entries()) == dump(memory.view().messages)

    def test_wrong_target(self):
        """
        BC12: whichever result is too long is shortened, the newest too; nothing is dropped.
        """
        turns = case("BC12")
        seen = trimmed(ClipToolResults(200) | TokenBudget(300), turns)
        sent = dump(seen.messages)

        assert [turns[n] for n in (0, 1, 2, 3, 4, 6)] == [sent[n] for n in (0, 1, 2, 3, 4, 6)]
        assert "left out" in sent[5]["content"]
        assert (len(turns), None) == (len(sent), seen.over)
        assert 300 >= sum(map(words, seen.messages))

    def test_single_huge_message(self):
        """
        BC13: one result over the limit is shortened where that is allowed, by any chain.
        """
        turns = case("BC13")
        asked = replies("nothing to be asked")
        clip = ClipToolResults(300)

        for strategy in (
            TokenBudget(500, clip=clip),
            Summarize(keep_tokens=500) | TokenBudget(500, clip=clip),
            clip | Summarize(keep_tokens=500),
        ):
            seen = trimmed(strategy, turns, asked)
            assert None is seen.over or strategy.steps[0] == Summarize(keep_tokens=500)
            assert 500 >= sum(map(words, seen.messages))
            assert turns[:2] == dump(seen.messages)[:2]

    def test_thinking_altered(self):
        """
        BC57: what thinks is never shortened, whatever else is.
        """
        turns = case("BC57")
        clips = (ClipToolResults(50), ClipMessages(1), ClipArguments(1))
        seen = trimmed(chain(clips), turns)
        sent = dump(seen.messages)

        assert json.dumps([turns[1], turns[3]]) == json.dumps([sent[1], sent[3]])
        assert 50 >= words(seen.messages[2])
        assert 100 >= sum(map(words, seen.messages))


class TestRoom:
    def test_counted_and_sent_of_what_is_cleared(self):
        """
        BC08: the result is a marker in what is counted and sent, and whole in the log.
        """
        turns = [*case("BC08"), {"role": "user", "content": "And?"}]
        memory = remembered(turns, ClearToolResults(0))
        seen = memory.context()
        sent = dump(seen.messages)

        assert [turns[n] for n in (0, 1, 3)] == [sent[n] for n in (0, 1, 3)]
        assert {**turns[2], "content": ""} == {**sent[2], "content": ""}
        assert "[http_get result cleared: 5,000 tokens; the whole is entry 3]" == sent[2]["content"]
        assert sum(map(words, load(sent))) == seen.tokens < 30
        assert turns == dump(e.message for e in memory.entries())
        assert turns[2]["content"] == memory.fetch("3").text

    def test_wrong_target_of_clearing(self):
        """
        BC12: a result that is small stays, one that is huge goes, the older or the newer.
        """
        turns = case("BC12")
        seen = trimmed(ClearToolResults(0) | TokenBudget(300), turns)
        sent = dump(seen.messages)

        assert [turns[n] for n in (0, 1, 2, 3, 4, 6)] == [sent[n] for n in (0, 1, 2, 3, 4, 6)]
        assert "[cat result cleared: 1,000 tokens; the whole is entry 6]" == sent[5]["content"]
        assert None is seen.over

    def test_single_huge_result_that_nobody_has_read(self):
        """
        BC13: it is not cleared before the model has seen it; what clips is for that.
        """
        turns = case("BC13")

        assert () == trimmed(ClearToolResults(0), turns).changes
        seen = trimmed(ClearToolResults(0) | TokenBudget(500, clip=ClipToolResults(300)), turns)
        assert "the whole is entry 3" in seen.messages[2].text

    def test_results_of_a_reused_id(self):
        """
        DC01: each marker names the tool of its own call.
        """
        turns = case("DC01")
        for turn in turns:
            if turn["role"] == "tool":
                turn["content"] = "a lot of words " * 50
        seen = trimmed(ClearToolResults(0), [*turns, {"role": "user", "content": "And?"}])

        assert [
            "[get_user result cleared: 200 tokens; the whole is entry 3]",
            "[add result cleared: 200 tokens; the whole is entry 7]",
        ] == [message.text for message in seen.messages if message.tool_results]

    def test_empty_results(self):
        """
        DC02: an empty result stays: it is shorter than a marker, and no copy of another.
        """
        turns = case("DC02")

        for strategy in (ClearToolResults(0), Deduplicate(min_tokens=1)):
            assert list(range(len(turns))) == shown(trimmed(strategy, turns), turns)

    def test_thinking_altered_by_clearing(self):
        """
        BC57: a message that thinks keeps its arguments; its result goes.
        """
        turns = [*case("BC57"), {"role": "user", "content": "And?"}]
        seen = trimmed(ClearToolResults(0, inputs=True) | Deduplicate(min_tokens=1), turns)
        sent = dump(seen.messages)

        assert json.dumps([turns[1], turns[3]]) == json.dumps([sent[1], sent[3]])
        assert "the whole is entry 3]" in seen.messages[2].text

    def test_endless_loop_of_clearing(self):
        """
        BC52: what changes nothing writes nothing, however often it is called.
        """
        turns = case("BC52")
        step = ClearToolResults(at_least=1, replace=True) | Deduplicate(replace=True)
        memory = remembered(turns, step)
        results = [memory.context() for _ in range(10)]

        assert {()} == {result.changes for result in results}
        assert len(turns) == memory.store.state("default").rec


class TestSummarize:
    def test_single_huge_message(self):
        """
        BC13: one result over the limit is named with its size; an empty range is not summarized.
        """
        turns = case("BC13")
        strategy = When(Over(tokens=500), Summarize(keep_last=4)) | TokenBudget(500)
        memory = remembered(turns, strategy, ask=failing())
        seen = memory.context()

        assert [0, 1, 2] == shown(seen, turns)
        assert ((), ()) == (seen.changes, seen.warnings)
        assert seen.over is not None
        assert "entry 3 (5000)" in str(seen.over)
        with pytest.raises(BudgetError, match=r"entry 3 \(5000\)"):
            memory.context(TokenBudget(500, strict=True))
        assert turns == dump(memory.view().messages)

    def test_endless_loop_without_progress(self):
        """
        BC14: what does not get shorter is not asked for again; `over` says that it does not fit.
        """
        turns = case("BC14")
        asked: list[Ask] = []

        def model(ask: Ask) -> str:
            asked.append(ask)
            return as_long_as_given(ask)

        strategy = When(Over(tokens=400), Summarize(keep_last=3)) | TokenBudget(400)
        memory = remembered(turns, strategy, ask=model)
        seen = [memory.context() for _ in range(10)]

        assert 1 == len(asked)
        assert {True} == {each.over is not None for each in seen}
        assert 1 == len({each.messages for each in seen})
        assert turns == dump(entry.message for entry in memory.entries())
        assert turns == dump(memory.view().messages)

    def test_parallel_split(self):
        """
        BC15: parallel calls and all their results are folded, or kept, together.
        """
        turns = case("BC15")
        asked: list[Ask] = []

        def model(ask: Ask) -> str:
            asked.append(ask)
            return "Both logs were read."

        seen = trimmed(Summarize(keep_tokens=9), turns, model)
        (change,) = seen.changes

        assert [SUMMARY, 4, 5] == shown(seen, turns)
        assert [1, 2, 3, 4] == list(change.sources)
        assert [[1, 2, 3, 4]] == [[item.first for item in ask.items] for ask in asked]

    @pytest.mark.parametrize("replace", [False, True])
    def test_summarizer_overflow(self, replace):
        """
        BC51: what is too much for one request is told in several; else the failure is said.
        """
        turns = case("BC51")

        def small(ask: Ask) -> str:
            given = " ".join(message.text for message in ask.messages)
            if len(given.split()) > 500:
                msg = "the prompt is too long"
                raise ValueError(msg)
            return f"{len(ask.items)} messages of text."

        strategy = Summarize(keep_last=5, window=500, max_tokens=50, replace=replace)
        seen = trimmed(strategy, turns, small)
        memory = remembered(turns, Summarize(keep_last=5, replace=replace), ask=small)
        failed = memory.context()

        assert [SUMMARY, *range(25, 30)] == shown(seen, turns)
        assert list(range(1, 26)) == list(seen.changes[0].sources)
        assert "ValueError: the prompt is too long" in failed.warnings[0]
        assert turns == dump(failed.messages) == dump(memory.view().messages)

    def test_last_user_lost(self):
        """
        BC17: the newest question stays word for word, with the pair that follows it.
        """
        turns = case("BC17")
        strategy = When(Over(tokens=200), Summarize(keep_tokens=100))
        seen = trimmed(strategy, turns, replies("An old topic."))

        assert [0, SUMMARY, 3, 4, 5] == shown(seen, turns)
        assert seen.over is not None

    def test_orphan_tool_result_at_a_share_of_characters(self):
        """
        BC20: the boundary is never between a call and its result, whatever it is measured in.
        """
        turns = case("BC20")
        characters = tokens.of_text(len)
        share = sum(map(characters, load(turns))) * 3 // 10
        strategy = Summarize(keep_tokens=share, count=characters)
        seen = trimmed(strategy, turns, replies("The sources were read."))

        assert [SUMMARY, 3, 4, 5, 6, 7, 8] == shown(seen, turns)
        assert [] == loader().problems(dump(seen.messages))

    def test_summarizer_fails(self):
        """
        BC42: a failing model changes nothing and is told; the next attempt works.
        """
        turns = case("BC42")
        memory = remembered(
            turns, Summarize(keep_last=1, replace=True), ask=failing(TimeoutError("too slow"))
        )
        before = memory.to_dict()
        unharmed = memory.context()

        assert [0, 1, 2, 3, 4] == shown(unharmed, turns)
        assert ["TimeoutError: too slow"] == [w[-22:] for w in unharmed.warnings]
        with pytest.raises(StepError, match="TimeoutError: too slow") as raised:
            memory.context(Summarize(keep_last=1, replace=True, on_failure="raise"))
        assert isinstance(raised.value.__cause__, TimeoutError)
        assert before == memory.to_dict()

        works = Memory.from_dict(
            before, strategy=memory.strategy, count=words, ask=replies("Order 4711.")
        )

        assert [SUMMARY, 4] == shown(works.context(), turns)

    @pytest.mark.parametrize("answer", ["", None, "  \n", [], [{"type": "reasoning"}]], ids=repr)
    def test_empty_summary(self, answer):
        """
        BC44: an answer without text is a failure; the log and the earlier summary stay as they are.
        """
        turns = case("BC44")
        answers = iter(["Tea.", answer, "Much tea."])
        memory = remembered(
            turns[:4],
            Summarize(keep_last=1, replace=True),
            ask=lambda _: next(answers),
            retry_after=0,
        )
        memory.context()
        memory.append(*load(turns[4:]))
        before = memory.to_dict()
        failed = memory.context()

        assert [0, SUMMARY, 3, 4, 5] == shown(failed, turns)
        assert 1 == len(failed.warnings)
        assert before == memory.to_dict()
        assert "Tea." == memory.summary()
        assert "" not in texts(failed)

        assert [0, SUMMARY, 5] == shown(memory.context(), turns)
        assert "Much tea." == memory.summary()

    def test_summary_grows(self):
        """
        BC45: a summary over its own limit is refused and said to be; the budget always holds.
        """
        turns = case("BC45")
        strategy = Summarize(keep_tokens=150, max_tokens=50) | TokenBudget(200)

        def growing(ask: Ask) -> str:
            earlier = f"{ask.previous.text} " if ask.previous else ""
            return earlier + " ".join(item.message.text for item in ask.items)

        memory = Memory(strategy=strategy, count=words, ask=growing)
        told: list[bool] = []
        for start in range(0, 80, 8):
            memory.append(*load(turns[start : start + 8]))
            seen = memory.context()
            told.append("max_tokens is 50" in "".join(seen.warnings))
            summaries = [item for item in seen.view if item.stands_in]

            assert 200 >= sum(map(words, seen.messages))
            assert 1 >= len(summaries)
            assert [] == [item for item in summaries if words(item.message) > 50 + 5]
        assert [False] * 6 + [True] * 4 == told

    def test_summary_stale(self):
        """
        BC46: each summary is made from the one before and what came since; there is one at a time.
        """
        turns = case("BC46")
        asked: list[tuple[str, list[int]]] = []

        def indices(ask: Ask) -> str:
            earlier = ask.previous.text if ask.previous else ""
            given = [seq - 1 for item in ask.items for seq in item.sources]
            asked.append((earlier, given))
            return f"{earlier} to {given[-1]}".strip()

        memory = Memory(strategy=Summarize(keep_last=6), count=words, ask=indices)
        shown_at: list[list[int | str]] = []
        covered: list[list[int]] = []
        for stop in (20, 40, 60):
            memory.append(*load(turns[stop - 20 : stop]))
            seen = memory.context()
            shown_at.append(shown(seen, turns))
            covered.append([seq - 1 for seq in seen.view[0].sources])

        assert [
            ("", list(range(14))),
            ("to 13", list(range(14, 34))),
            ("to 13 to 33", list(range(34, 54))),
        ] == asked
        assert [[SUMMARY, *range(stop - 6, stop)] for stop in (20, 40, 60)] == shown_at
        assert [list(range(stop - 6)) for stop in (20, 40, 60)] == covered

    def test_old_request_revived(self):
        """
        BC48: the summary is no user's message, says what it covers, and the newest request is last.
        """
        turns = case("BC48")
        seen = trimmed(Summarize(keep_last=2), turns, replies("Branch temp-1 was deleted."))
        summary = seen.messages[0]

        assert [SUMMARY, 4, 5] == shown(seen, turns)
        assert [turns[4]] == [turn for turn in dump(seen.messages) if turn["role"] == "user"]
        assert ("system", {"summary": {"entries": "1-4"}}) == (
            summary.role,
            summary.metadata.value,
        )

    def test_consecutive_roles(self):
        """
        BC49: the role of a summary is the caller's choice, and nothing is merged in the log.

        Joining neighbours of one role for an API that demands it is not the
        strategy's work and comes with the other formats.
        """
        turns = case("BC49")
        roles = ("system", "developer", "user", "assistant")
        seen = [
            trimmed(Summarize(keep_last=2, role=role), turns, replies("Nobody knows."))
            for role in roles
        ]

        assert [[SUMMARY, 2, 3]] * 4 == [shown(each, turns) for each in seen]
        assert list(roles) == [each.messages[0].role for each in seen]
        assert ["assistant", "user", "assistant"] == [m.role for m in seen[3].messages]

    def test_consecutive_roles_of_two_who_spoke(self):
        """
        BC49: neighbours of one role are joined in the projection alone; a summary is not one.
        """
        who, nobody, when, then = case("BC49")
        turns = [who, when, nobody, then, when, then]
        strategy = Summarize(keep_last=3, role="assistant", label="") | MergeRuns()
        memory = remembered(turns, strategy, ask=replies("Nobody knows."))
        alone = memory.context(MergeRuns())

        assert ["user", "assistant"] * 2 == [m.role for m in alone.messages]
        assert ["Who wrote it?\n\nWhen?", "Nobody knows.\n\nIn 1790."] == texts(alone)[:2]
        assert [SUMMARY, 3, 4, 5] == shown(memory.context(), turns)
        assert turns == dump(memory.view().messages)

    def test_instructions_lost(self):
        """
        BC54: instructions stay word for word and in place, and no summarizer is given them.
        """
        turns = case("BC54")
        asked: list[Ask] = []

        def model(ask: Ask) -> str:
            asked.append(ask)
            return "Started."

        folded = trimmed(Summarize(keep_last=2), turns, model)
        roles = {item.message.role for ask in asked for item in ask.items}

        assert [0, SUMMARY, 3, 5, 6] == shown(folded, turns)
        assert {"user", "assistant"} == roles
        assert [0, 3, 6] == shown(trimmed(Window(2), turns), turns)
        assert [0, 3, 5, 6] == shown(trimmed(Window(2, opening="anywhere"), turns), turns)
        assert [0, 3, 6] == shown(trimmed(MaxRounds(1), turns), turns)

    def test_partial_materialise(self, tmp_path):
        """
        BC58: a summary and what it stands for are written in one piece, or not at all.
        """
        turns = case("BC58")
        strategy = Summarize(keep_last=1, replace=True)
        left: list[list[str]] = []
        for when in ("never", "before", "after"):
            path = tmp_path / f"{when}.db"
            with PowerCut(path, when) as store:
                memory = Memory(store, strategy=strategy, ask=replies("It was 42."))
                memory.append(*load(turns))
                try:
                    memory.context()
                except ConnectionError:
                    assert when != "never"
            with Memory.open(path) as reopened:
                left.append(texts(reopened.view()))
                assert turns == dump(entry.message for entry in reopened.entries())
        new = ["Summary of the earlier conversation:\nIt was 42.", "c"]

        assert [new, ["a", "", "important 42", "b", "c"], new] == left


class PowerCut(SqliteStore):
    """
    A store whose process dies just before, or just after, a write-back is written.
    """

    def __init__(self, path: Path, when: str) -> None:
        super().__init__(path)
        self._when = when

    def append(self, thread: str, bodies: Sequence[Body], **options: Any) -> Receipt:
        """
        As the store's, or not at all.
        """
        if not any(isinstance(body, Compacted) for body in bodies) or self._when == "never":
            return super().append(thread, bodies, **options)
        if self._when == "after":
            super().append(thread, bodies, **options)
        raise ConnectionError


class TestCalls:
    @pytest.mark.parametrize(
        "strategy", [Window(2, replace=True), Summarize(keep_last=2, replace=True)], ids=repr
    )
    def test_pending_call_that_somebody_answers_late(self, strategy, caplog):
        """
        BC24: a late answer is never accepted and then left out without a word.

        The case wants the call to survive. After another answer of the
        assistant a call without its result is dangling and holds up nothing
        (DESIGN.md, decision 7); the late answer goes with its call, the logger
        says so, and both are back after a revert. A pinned call does survive.
        """
        turns = case("BC24")
        approved = tool("approved", call_id="c1")
        memory = remembered(turns, strategy, ask=replies("Nothing yet."))
        memory.context()
        with caplog.at_level(logging.WARNING, "unabridged"):
            late = memory.append(approved).entries[0]

        assert [f"entry {late.seq} answers a call that left the view"] == [
            record.getMessage().split(": ")[1].split(",")[0] for record in caplog.records
        ]
        assert late.message not in memory.view().messages
        decided = max(r["rec"] for r in memory.to_dict()["records"] if "compacted" in json.dumps(r))
        memory.revert(decided)
        assert [*turns, *dump([approved])] == dump(memory.view().messages)

        kept = remembered(turns, strategy, ask=replies("Nothing yet."))
        kept.pin(2)
        kept.context()
        kept.append(approved)
        seen = kept.context()

        assert {2, 9} <= set(seen.view.sources)
        assert ["c1"] == [r.call_id for m in seen.messages for r in m.tool_results]

    @pytest.mark.parametrize(
        "strategy",
        [TokenBudget(60), Window(10), When(Over(tokens=100), Summarize(keep_last=10))],
        ids=repr,
    )
    def test_dangling_call(self, strategy):
        """
        BC26: a call that never gets its result holds up no compaction, and `why` says it left.
        """
        turns = case("BC26")
        memory = remembered(turns, strategy, ask=replies("Thirty questions were answered."))
        first = memory.context()
        memory.append(*load(turns[2:32]))
        second = memory.context()

        assert len(first.messages) <= 12
        assert len(second.messages) <= 12
        assert 2 not in {item.first for item in second.view if not item.stands_in}
        assert f"by {strategy!r}" in second.why(2)

    def test_dangling_call_at_an_interrupted_run(self):
        """
        BC27: nothing is lost, nothing invented; what waits stays whole and flagged as over.
        """
        turns = case("BC27")
        narrow = trimmed(Window(2), turns)

        assert [0, 1, 2, 3] == shown(trimmed(NoCompaction(), turns), turns)
        assert [0, 1, 2, 3] == shown(narrow, turns)
        assert narrow.over is not None
        assert 2 == narrow.over.by
        assert 2 == str(narrow.over).count("a call that waits for its result")
        assert [("unanswered call", 2)] == [
            (found.rule, found.seq) for found in problems(narrow.view, "openai_chat")
        ]

    def test_dangling_call_that_is_repaired(self):
        """
        BC27: a made-up result says that it is, stands where it has to, and is never written.
        """
        turns = case("BC27")
        waits = trimmed(Repair(), turns[:3])
        memory = remembered(turns, Repair())
        mended = memory.context()

        assert [0, 1, 2] == shown(waits, turns)
        assert turns == dump(m for m in mended.messages if m.metadata.value == {})
        assert ["one", "No result yet: the call still waits for it."] == texts(mended)[2:4]
        assert {"made_up": True} == mended.messages[3].metadata.value
        assert () == problems(mended.view, "openai_chat")
        assert {()} == {problems(mend(mended.view, name), name) for name in PROVIDERS}
        assert "waits for its result" in mended.explain()
        assert turns == dump(e.message for e in memory.entries()) == dump(memory.view().messages)

    def test_thinking_altered(self, tmp_path):
        """
        BC57: signed thinking is kept byte for byte or leaves with its message whole.
        """
        turns = case("BC57")
        with Memory.open(tmp_path / "chat.db") as memory:
            memory.append(*load(turns))
        with Memory.open(tmp_path / "chat.db") as memory:
            stored = dump(entry.message for entry in memory.entries())
            read_back = memory.context().messages
        folded = trimmed(Summarize(keep_last=2), turns, replies("It was looked at."))

        assert json.dumps(turns) == json.dumps(stored)
        assert load(turns) == read_back
        assert [3, 4] == shown(trimmed(Window(3, opening="anywhere"), turns), turns)
        assert [0, 3, 4] == shown(trimmed(Window(3), turns), turns)
        assert [0, 3, 4] == shown(trimmed(TokenBudget(100), turns), turns)
        assert [SUMMARY, 3, 4] == shown(folded, turns)

    def test_thinking_dropped(self):
        """
        BC57: a message is kept with its thinking byte for byte, or has none; words never change.
        """
        turns = case("BC57")
        one = trimmed(DropReasoning(keep_last=1), turns)
        none = trimmed(DropReasoning() | MergeRuns(), turns)

        assert [turns[0], turns[2], turns[3], turns[4]] == [
            turn for place, turn in enumerate(dump(one.messages)) if place != 1
        ]
        assert texts(load(turns)) == texts(one) == texts(none)
        assert [1, 0, 0] == [
            sum(bool(m.reasoning) for m in seen.messages)
            for seen in (one, none, trimmed(DropReasoning(), turns))
        ]
        assert one.messages[1].tool_calls == load(turns)[1].tool_calls

    @EACH
    def test_empty_tool_result(self, strategy):
        """
        DC02: an empty result answers its call like any other; the newest exchange is kept.
        """
        turns = case("DC02")
        seen = trimmed(strategy, turns, replies("It was transferred."))

        assert turns == dump(load(turns))
        assert [] == loader().problems(dump(seen.messages))
        assert [5, 6] == shown(seen, turns)[-2:]


class TestLog:
    def test_ordering(self, tmp_path):
        """
        BC29: the order is that of appending, whatever timestamps and ids say, also after a restart.
        """
        turns = case("BC29")
        with Memory.open(tmp_path / "chat.db") as memory:
            memory.append(*load(turns))
        with Memory.open(tmp_path / "chat.db") as memory:
            assert turns == dump(memory.context(NoCompaction()).messages)

    def test_duplicated(self, workers):
        """
        BC30: the same batch again, with the same ids, is appended once and comes back as known.
        """
        turns = case("BC30")
        memory = Memory(workers())
        entries = memory.append(*load(turns)).entries
        again = Memory(workers()).append(*load(turns))

        assert ((), entries) == (again.entries, again.known)
        assert turns == dump(memory.context().messages)

    def test_storage_growth(self, tmp_path):
        """
        BC32: projecting writes nothing, and a file grows with what is appended.
        """
        turns = case("BC32")
        sizes: list[int] = []
        for count in (10, 50):
            folder = tmp_path / str(count)
            folder.mkdir()
            with Memory.open(folder / "chat.db", strategy=Window(10)) as memory:
                for at in range(0, 2 * count, 2):
                    memory.context()
                    memory.append(*load(turns[at : at + 2]))
                records = memory.to_dict()["records"]
            sizes.append(sum(file.stat().st_size for file in folder.iterdir()))
            assert 2 * count == len(records)

        assert sizes[1] < 1.5 * 5 * sizes[0]

    def test_state_leak(self):
        """
        BC33: a chain used on one log, another, and the first again holds nothing between them.
        """
        turns = case("BC33")
        other = [
            {"role": "system", "content": "You are agent two."},
            {"role": "user", "content": "Task two."},
        ]
        strategy = Summarize(keep_last=1) | Window(3, down_to=2) | TokenBudget(1_000)
        first, second, third = (
            trimmed(strategy, log, replies("One.")) for log in (turns, other, turns)
        )

        assert other == dump(second.messages)
        assert first == third

    @EACH
    def test_empty_input(self, strategy):
        """
        BC35: an empty log stays empty, one of a system message alone keeps it; no model is asked.
        """
        alone = [{"role": "system", "content": "Be brief."}]
        everything = chain(strategy, *EVERY)

        for steps in (strategy, everything):
            assert () == trimmed(steps, case("BC35"), failing()).messages
            assert alone == dump(trimmed(steps, alone, failing()).messages)
        memory = Memory(strategy=everything, ask=failing())
        assert () == memory.compact().messages
        assert [] == memory.to_dict()["records"]

    @pytest.mark.parametrize(
        "strategy",
        [
            NoCompaction(),
            Window(4, replace=True),
            Window(6, down_to=4, replace=True),
            MaxRounds(2, replace=True),
            TokenBudget(100, replace=True),
            HeadAndTail(1, 4, replace=True),
            Summarize(keep_last=4, replace=True),
        ],
        ids=repr,
    )
    def test_endless_loop_of_compactions_that_change_nothing(self, strategy):
        """
        BC52: where there is nothing to do nothing is written, however often it is asked for.
        """
        turns = case("BC52")
        memory = remembered(turns, strategy, ask=failing())
        before = memory.to_dict()
        seen = [memory.compact() for _ in range(10)]

        assert [()] * 10 == [each.changes for each in seen]
        assert before == memory.to_dict()
        assert {tuple(range(5))} == {tuple(shown(each, turns)) for each in seen}

    @EACH
    def test_mutation(self, strategy):
        """
        BC59: what a caller still holds is untouched, and what is handed out changes nothing.
        """
        turns = case("BC59")
        before = json.dumps(turns)
        memory = remembered(turns, strategy, ask=replies("It went on."))
        first = memory.context()
        for turn in dump(first.messages):
            turn["content"] = "changed"
            turn.setdefault("metadata", {})["source"] = "changed"
        second = memory.context()

        assert before == json.dumps(turns)
        assert first.messages == second.messages
        assert before == json.dumps(dump(entry.message for entry in memory.entries()))

    def test_config_lost(self, tmp_path):
        """
        BC61: pins are in the log, so a projection is the same after a restart.
        """
        turns = case("BC61")
        with Memory.open(tmp_path / "chat.db", strategy=Window(4)) as memory:
            memory.append(*load(turns[:2]), pin=True)
            memory.append(*load(turns[2:]))
            before = memory.context()
        with Memory.open(tmp_path / "chat.db", strategy=Window(4)) as memory:
            after = memory.context()

        assert [0, 1, 4, 5, 6, 7] == shown(before, turns) == shown(after, turns)
        assert before.messages == after.messages

    def test_concurrent_writers_who_expect_a_version(self, workers):
        """
        BC63: who expects a record that is no longer the last is refused, with nothing written.
        """
        a, b = Memory(workers()), Memory(workers())
        a.append(*load(case("BC63")))
        version = b.view().head
        first = a.append(call("cA"), expect=version)
        with pytest.raises(LogConflictError):
            b.append(call("cB"), expect=version)
        a.append(result("cA", "done"), expect=first.entries[-1].rec)

        assert [*load(case("BC63")), call("cA"), result("cA", "done")] == list(b.view().messages)

    def test_concurrent_writers_who_do_not(self, workers):
        """
        BC63: interleaved calls and results are still paired, each result with its own call.
        """
        a, b = Memory(workers()), Memory(workers())
        a.append(*load(case("BC63")))
        a.append(call("cA"))
        b.append(call("cB"))
        a.append(result("cA", "for A"))
        b.append(result("cB", "for B"))
        b.append(user("one"), assistant("two"))
        view = a.view()

        assert [["Order a taxi."], ["", "", "for A", "for B"], ["one"], ["two"]] == [
            [item.message.text for item in block] for block in view.blocks
        ]
        assert ["one", "two"] == texts(run(Window(5, opening="anywhere"), view))

    def test_database_locked_by_many_first_writers(self, tmp_path):
        """
        BC65: eight processes make and fill one file at the same moment, five times over.
        """
        writers = [
            subprocess.Popen(  # noqa: S603  our own script
                [sys.executable, "-c", WRITER, str(number)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for number in range(8)
        ]
        for turn in range(5):
            path = tmp_path / f"{turn}.db"
            for writer in writers:
                assert writer.stdin is not None
                writer.stdin.write(f"{json.dumps(str(path))}\n")
                writer.stdin.flush()
            for writer in writers:
                assert writer.stdout is not None
                assert "done\n" == writer.stdout.readline()
            with Memory.open(path) as memory:
                assert sorted(f"{w} {n}" for w in range(8) for n in range(10)) == sorted(
                    texts(memory.entries())
                )
        assert [("", "")] * 8 == [writer.communicate() for writer in writers]

    def test_database_locked_by_one_who_holds_it(self, tmp_path):
        """
        BC65: a writer that holds the file delays the others; past their wait nothing is written.
        """
        path = tmp_path / "chat.db"
        with Memory.open(path) as memory:
            memory.append(user("hello"))
            holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            holder.execute("BEGIN IMMEDIATE")
            with SqliteStore(path, timeout=0.05) as hasty, pytest.raises(StoreError):
                Memory(hasty).append(user("never written"))
            release = threading.Timer(0.5, holder.rollback)
            release.start()
            memory.append(user("delayed"))
            release.join()
            holder.close()

            assert ["hello", "delayed"] == texts(memory.entries())

    def test_lone_surrogate(self, tmp_path):
        """
        BC67: a lone surrogate is kept as it came, and can be counted, projected and summarized.
        """
        turns = case("BC67")
        with Memory.open(tmp_path / "chat.db", ask=replies("ok")) as memory:
            memory.append(*load(turns))
            assert 0 < memory.context().tokens
        with Memory.open(tmp_path / "chat.db", ask=replies("caf\udce9")) as memory:
            assert turns == dump(memory.context().messages)
            folded = memory.context(Summarize(keep_last=1, replace=True, guard_size=False))
            assert 0 < folded.tokens
        with Memory.open(tmp_path / "chat.db") as memory:
            assert ["Summary of the earlier conversation:\ncaf\udce9", turns[2]["content"]] == (
                texts(memory.view())
            )

    def test_not_serialisable(self, workers):
        """
        BC68: what JSON cannot hold is refused before it is appended, naming the key's path.
        """
        turns = case("BC68")
        bad = turns[0]["metadata"]
        memory = Memory(workers())
        memory.append(user("before"))

        for key, kind in (("at", "datetime"), ("raw", "bytes"), ("tags", "set"), ("n", "float")):
            with pytest.raises(ConfigError, match=rf"metadata\.{key}: JSON cannot hold .*{kind}"):
                load([{"role": "user", "content": "hi", "metadata": {key: bad[key]}}])
            with pytest.raises(ConfigError, match=rf"^metadata\.{key}: "):
                user("hi", metadata={key: bad[key]})
        with pytest.raises(ConfigError, match=r"messages\[0\]\.metadata\.at"):
            load(turns)
        assert ["before"] == texts(Memory(workers()).entries())


WRITER = """
import json, sys
from unabridged import Memory, user

for line in sys.stdin:
    with Memory.open(json.loads(line)) as memory:
        for number in range(10):
            memory.append(user(f"{sys.argv[1]} {number}"))
    print("done", flush=True)
"""
