"""
Real transcripts: they go in and come out equal, and no view of them has a problem of its own.

The transcripts are those of ../shared/data, where it is. All model calls under
all strategies are `pytest -m exhaustive tests/test_real.py`; a seeded sample
runs always.
"""

import importlib.util
import json
import multiprocessing
import os
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from unabridged import (
    ClearToolResults,
    Deduplicate,
    HeadAndTail,
    MaxRounds,
    Memory,
    Message,
    NoCompaction,
    Over,
    Sparing,
    Summarize,
    TokenBudget,
    When,
    Window,
    chain,
    run,
    tokens,
)
from unabridged.contract import Ask, TrimContext
from unabridged.formats import (
    anthropic,
    bedrock,
    gemini,
    mend,
    openai_chat,
    openai_responses,
    problems,
)
from unabridged.formats.openai_chat import dump, load
from unabridged.items import Item
from unabridged.links import has_words
from unabridged.pipeline import Pipeline
from unabridged.records import Drop
from unabridged.results import TrimResult
from unabridged.spans import Span
from unabridged.views import View

SHARED = Path(__file__).resolve().parents[1].parent / "shared"
FILES = ("tau_airline", "pi_coding", "swe_agent", "crosswoz", "locomo")
FORMATS = {
    "chat": openai_chat,
    "responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
}
SEED = 20_250_601

pytestmark = pytest.mark.skipif(
    not (SHARED / "data").is_dir(), reason="real transcripts are in ../shared/data, not here"
)

Turns = list[dict[str, Any]]
Refused = tuple[str, str, int]  # provider, rule, entry
PROVIDERS = tuple(module.__name__.rpartition(".")[2] for module in FORMATS.values())


def opened(last: int, **options: Any) -> Iterator[Any]:
    """
    The window and the budget in words of this size, with each opening.
    """
    for opening in ("question", "next", "anywhere"):
        yield Window(last, opening=opening, **options)
        yield TokenBudget(40 * last + last % 2, opening=opening, **options)


PROJECTED = tuple(
    map(
        chain,
        [
            NoCompaction(),
            *(strategy for last in (*range(1, 61), 101) for strategy in opened(last)),
            *(strategy for last in range(1, 11) for strategy in opened(last, straddle="keep")),
            *(strategy for last in range(1, 11) for strategy in opened(last, by="rounds")),
            *(strategy for last in range(1, 8) for strategy in opened(last, pin_system=False)),
            *(Window(last, count_pins=True) for last in range(1, 6)),
            *(MaxRounds(last) for last in range(1, 9)),
            *(MaxRounds(last, count_pins=True) for last in (1, 2)),
            *(HeadAndTail(first, last) for first in (1, 2, 3, 6, 9) for last in (1, 2, 5, 10, 21)),
            *(Summarize(keep_last=last) for last in (*range(1, 13), 20, 21)),
            *(Summarize(keep_rounds=last) for last in range(1, 6)),
            *(Summarize(keep_tokens=limit) for limit in (1, 50, 151, 401, 900, 2_000)),
            When(Over(messages=15), Window(7)),
            When(Over(tokens=900), TokenBudget(301)),
            Sparing(Window(5), first=2),
            Sparing(Summarize(keep_last=4), first=3),
            Window(20) | TokenBudget(300),
            TokenBudget(1_001) | MaxRounds(2) | Window(6),
            Summarize(keep_last=9) | TokenBudget(500),
            HeadAndTail(3, 9) | Window(5),
            ClearToolResults(1),
            ClearToolResults(2, inputs=True) | Window(20),
            ClearToolResults(keep_last=None, keep_tokens=300) | TokenBudget(500),
            Deduplicate(min_tokens=10),
            Deduplicate(min_tokens=20) | ClearToolResults(3) | Summarize(keep_last=8),
        ],
    )
)
MARKED = tuple(
    map(
        chain,
        [
            Window(12, down_to=5),
            Window(7, down_to=4, opening="next"),
            Window(9, down_to=2, opening="anywhere"),
            TokenBudget(601, down_to=250),
            TokenBudget(300, down_to=99, opening="anywhere"),
            MaxRounds(3, down_to=1),
            Summarize(keep_last=8, every=4),
            Summarize(keep_last=11, down_to=4),
            Summarize(keep_rounds=4, down_to=2),
            Summarize(keep_last=7, tree=2),
            Summarize(keep_last=9, down_to=3, tree=3, window=2_000),
            ClearToolResults(1, at_least=100),
        ],
    )
)
WRITTEN = tuple(
    map(
        chain,
        [
            Window(7, replace=True),
            Window(4, opening="next", replace=True),
            Window(5, opening="anywhere", replace=True),
            TokenBudget(400, replace=True),
            MaxRounds(2, replace=True),
            HeadAndTail(2, 9, replace=True),
            Summarize(keep_last=6, replace=True),
            Summarize(keep_tokens=300, replace=True) | TokenBudget(400),
            Window(11, down_to=4, replace=True) | Summarize(keep_last=3, replace=True),
            Summarize(keep_last=5, tree=2, replace=True),
            ClearToolResults(2, inputs=True, replace=True),
            Deduplicate(min_tokens=10, replace=True) | Window(15, replace=True),
        ],
    )
)


@cache
def checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("real_cases", SHARED / "cases" / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def conversations(name: str) -> dict[str, Turns]:
    with (SHARED / "data" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return {row["id"]: row["messages"] for row in map(json.loads, lines)}


def model_calls(turns: Turns) -> list[int]:
    """
    The lengths of the log at each of its model calls.
    """
    return [at for at, turn in enumerate(turns) if turn["role"] == "assistant" and at]


def digest(ask: Ask) -> str:
    return "S"


class Log:
    """
    A conversation on its way into a memory, and the verdict on views of it.
    """

    def __init__(self, turns: Turns, messages: Sequence[Message] = ()) -> None:
        self.turns = turns
        self.messages = messages or load(turns)
        self._is_chat = not messages
        self.memory = self.fresh(NoCompaction())
        self.context = TrimContext(count=tokens.kept(tokens.words))
        self._at = 0
        self._known: frozenset[int] = frozenset()
        self._refused: frozenset[Refused] = frozenset()
        self._question = 0
        self._judged: dict[tuple[int, ...], list[str]] = {}

    @staticmethod
    def fresh(strategy: Any) -> Memory:
        return Memory(strategy=strategy, count=tokens.words, ask=digest)

    def go_on(self, stop: int) -> None:
        """
        Append up to *stop*, and see what problems the log has by itself.
        """
        self.memory.append(*self.messages[self._at : stop])
        self._at = stop
        if self._is_chat:
            self._known = at_entries(theirs(self.turns[:stop]), range(1, stop + 1))
        self._refused = refused(self.memory.view())
        asked = (at for at, message in enumerate(self.messages[:stop], 1) if has_words(message))
        users = list(asked)
        self._question = users[-1] if users else 0
        self._judged = {}

    def faults(self, strategy: Pipeline, result: TrimResult) -> list[str]:
        """
        What is wrong with the view that *strategy* made, as lines to read.
        """
        view = result.view
        firsts = tuple([-item.first if item.stands_in else item.first for item in view])
        found = self._judged.get(firsts)
        if found is None:
            found = self._judged[firsts] = self._judge(view, firsts)
        lost = "anywhere" not in repr(strategy) and self._question not in firsts
        if self._question and lost:
            found = [*found, "the newest user message is not there"]
        if result.over is None and self._beyond(strategy, view):
            found = [*found, "it is over the limit, and nothing says so"]

        return [f"entries 1-{self._at}, {strategy!r}: {fault}" for fault in found]

    def _beyond(self, strategy: Pipeline, view: View) -> bool:
        match strategy.steps:
            case (Window(last=int(limit)) as step,):
                return limit < sum(
                    item.pin != "role" or step.count_pins or not step.pin_system for item in view
                )
            case (TokenBudget(limit=int(limit)),):
                return limit < sum(self.context.count(message) for message in view.messages)
            case _:
                return False

    def _judge(self, view: View, firsts: Sequence[int]) -> list[str]:
        altered = [
            item.first
            for item in view
            if not item.stands_in and item.message != self.messages[item.first - 1]
        ]
        seqs = [abs(first) for first in firsts]
        new: frozenset[int] = frozenset()
        if self._is_chat:
            turns = [
                dump([item.message])[0] if item.stands_in else self.turns[item.first - 1]
                for item in view
            ]
            new = at_entries(theirs(turns), seqs) - self._known
        more = refused(view) - self._refused
        faults = [
            (not view, "it is empty"),
            (seqs != sorted(set(seqs)), "out of order, or twice"),
            (altered, f"entries {altered} were altered"),
            (new, f"new problems at {sorted(new)}"),
            (more, f"refused, and was not before: {sorted(more)[:5]}"),
        ]
        return [text for wrong, text in faults if wrong]


def theirs(turns: Turns) -> list[int]:
    return [place for place, _ in checker().problems(turns)]


def refused(items: Iterable[Item]) -> frozenset[Refused]:
    """
    What the five providers refuse of these items when they are mended.
    """
    view = tuple(items)

    return frozenset(
        (provider, found.rule, found.seq)
        for provider in PROVIDERS
        for found in problems(mend(view, provider), provider)
    )


def at_entries(places: Iterable[int], seqs: Sequence[int]) -> frozenset[int]:
    """
    The entries that problems stand at, given the entry at each place.
    """
    return frozenset(seqs[place] for place in places)


class Tally(NamedTuple):
    """
    How many views were made, and the first things that were wrong with them.
    """

    views: int
    faults: list[str]


def projections(turns: Turns, stops: Sequence[int], messages: Sequence[Message] = ()) -> Tally:
    """
    Every strategy, at each of these lengths of the log.
    """
    log, faults, views = Log(turns, messages), [], 0
    for stop in stops:
        log.go_on(stop)
        here = log.memory.view()
        for strategy in PROJECTED:
            faults += log.faults(strategy, run(strategy, here, log.context, ask=digest))
        for strategy in MARKED:
            faults += log.faults(strategy, log.memory.context(strategy))
        views += len(PROJECTED) + len(MARKED)

    return Tally(views, faults)


def write_backs(turns: Turns, stops: Sequence[int]) -> Tally:
    """
    Every strategy that writes back, at each of these lengths, each in a memory of its own.
    """
    faults: list[str] = []
    for strategy in WRITTEN:
        log = Log(turns)
        log.memory.strategy = strategy
        for stop in stops:
            log.go_on(stop)
            result = log.memory.context()
            written = TrimResult(log.memory.view(), over=result.over)
            faults += log.faults(strategy, result) + log.faults(strategy, written)

    return Tally(2 * len(WRITTEN) * len(stops), faults)


class Shard(NamedTuple):
    """
    A part of the work: some of the model calls of one conversation.
    """

    file: str
    conversation: str
    part: int = 0
    parts: int = 1

    def work(self) -> Tally:
        turns = conversations(self.file)[self.conversation]
        stops = model_calls(turns)
        done = projections(turns, stops[self.part :: self.parts])
        if self.part:
            return done
        more = write_backs(turns, stops)

        return Tally(done.views + more.views, done.faults + more.faults)


def shards() -> list[Shard]:
    """
    All the work, the largest first.
    """
    found: list[Shard] = []
    for file in FILES:
        for conversation, turns in conversations(file).items():
            parts = 1 + len(model_calls(turns)) // 50
            found += [Shard(file, conversation, part, parts) for part in range(parts)]

    return sorted(found, key=lambda shard: (shard.parts, shard.part == 0), reverse=True)


def bodies() -> dict[str, tuple[Message, ...]]:
    """
    The requests of five APIs, each read by its own format.
    """
    found: dict[str, tuple[Message, ...]] = {}
    with (SHARED / "data" / "api_shapes.jsonl").open(encoding="utf-8") as lines:
        for number, row in enumerate(map(json.loads, lines)):
            module = FORMATS[row["api"]]
            found[f"{row['api']} {number}"] = module.load(row["messages"], system=row["system"])

    return found


class Body(NamedTuple):
    """
    A part of the work: one of the requests.
    """

    conversation: str
    messages: tuple[Message, ...]
    parts: int = 0
    part: int = 0

    def work(self) -> Tally:
        turns = [{"role": message.role} for message in self.messages]

        return projections(turns, [*model_calls(turns), len(turns)], self.messages)


def working(shard: Shard | Body) -> Tally:
    return shard.work()


def each_conversation() -> Iterator[Turns]:
    for file in FILES:
        yield from conversations(file).values()


class TestMemory:
    def test_gives_back_every_conversation_equal(self):
        """
        What is loaded, appended, read as entries and dumped is what there was, key for key.
        """
        for turns in each_conversation():
            memory = Memory()
            memory.append(*load(turns))

            assert turns == dump(entry.message for entry in memory.entries())
            assert turns == dump(memory.context().messages)

    def test_gives_back_every_conversation_equal_after_a_restart(self, tmp_path):
        """
        A SQLite file that was closed and opened again gives back what went in, as text equal too.
        """
        for file in FILES:
            path = tmp_path / f"{file}.db"
            known = conversations(file)
            with Memory.open(path) as memory:
                for thread, turns in known.items():
                    memory.thread(thread).append(*load(turns))
            with Memory.open(path) as memory:
                assert tuple(sorted(known)) == memory.threads()
                for thread, turns in known.items():
                    again = memory.thread(thread)
                    stored = dump(entry.message for entry in again.entries())
                    assert turns == stored
                    assert turns == dump(again.context().messages)
                    assert [sorted(turn.items(), key=repr) for turn in turns] == [
                        sorted(turn.items(), key=repr) for turn in stored
                    ]

    def test_goes_on_after_a_restart_at_every_turn(self, tmp_path):
        """
        A memory closed and opened again at each model call makes the views of one left open.
        """
        turns = next(turns for turns in conversations("tau_airline").values() if len(turns) > 40)
        messages = load(turns)
        strategy = Window(9, down_to=4) | TokenBudget(400)
        steady = Memory(strategy=strategy, count=tokens.words)
        start = 0
        for stop in model_calls(turns):
            steady.append(*messages[start:stop])
            with Memory.open(tmp_path / "chat.db", strategy=strategy, count=tokens.words) as memory:
                memory.append(*messages[start:stop])
                assert steady.context().messages == memory.context().messages
            start = stop


class TestStrategies:
    def test_give_views_without_a_problem_of_their_own_in_a_sample(self):
        """
        Some model calls of each file, drawn by a fixed seed: every strategy, also written back.
        """
        draw = random.Random(SEED)
        faults: list[str] = []
        views = 0
        for file, logs, calls in zip(FILES, (10, 1, 3, 6, 1), (3, 8, 2, 2, 2), strict=True):
            for conversation in draw.sample(sorted(conversations(file)), logs):
                turns = conversations(file)[conversation]
                stops = model_calls(turns)
                some = sorted(draw.sample(stops, min(calls, len(stops))))
                for work in (projections(turns, some), write_backs(turns, some)):
                    views += work.views
                    faults += [f"{conversation}, {fault}" for fault in work.faults]

        for name, messages in draw.sample(sorted(bodies().items()), 30):
            work = Body(name, messages).work()
            views += work.views
            faults += [f"{name}, {fault}" for fault in work.faults]

        assert views > 30_000
        assert [] == faults[:10]

    def test_would_be_found_out(self):
        """
        The same check finds fault with windows that are cut without regard to calls and questions.

        Mending words what such a cut orphans, so only the unmended view shows it.
        """
        turns = max(conversations("tau_airline").values(), key=len)
        log, found = Log(turns), set[str]()
        for stop in model_calls(turns):
            log.go_on(stop)
            here = log.memory.view()
            for last in (4, 5):
                old = Span.between(1, max(0, stop - last))
                naive = TrimResult(here, (Drop(old),) if old else ())
                found |= {fault.split(": ")[1] for fault in log.faults(chain(Window(last)), naive)}

        assert {"new problems", "the newest user message is not there"} <= {
            " ".join(fault.split()[:2]) if fault.startswith("new") else fault for fault in found
        }

    @pytest.mark.exhaustive
    def test_give_views_without_a_problem_of_their_own_at_every_model_call(self, request, capsys):
        """
        Every model call of every transcript, every strategy at sizes odd and even.
        """
        if "exhaustive" not in (request.config.getoption("-m") or ""):
            pytest.skip("the whole takes minutes; run it with -m exhaustive")
        began = time.monotonic()
        work = [*shards(), *(Body(name, messages) for name, messages in bodies().items())]
        with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
            done = pool.map(working, work, chunksize=1)
        faults = [
            f"{shard.conversation}, {fault}"
            for shard, tally in zip(work, done, strict=True)
            for fault in tally.faults
        ]
        calls = sum(len(model_calls(turns)) for turns in each_conversation())
        with capsys.disabled():
            print(  # noqa: T201  the report
                f"\n{sum(tally.views for tally in done):,} views at {calls:,} model calls under "
                f"{len(PROJECTED + MARKED + WRITTEN)} strategies: {len(faults)} faults, "
                f"{time.monotonic() - began:.0f} s"
            )

        assert [] == faults[:20]
