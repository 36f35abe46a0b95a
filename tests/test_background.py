"""
Write-backs that are prepared in the background, while appends and contexts go on.
"""

import asyncio
import logging
import threading

import pytest

from unabridged import AsyncMemory, Memory, Summarize, TokenBudget, Window
from unabridged.errors import NeedsAnswerError, StepError
from unabridged.testing import talk, texts
from unabridged.tokens import words

LABEL = "Summary of the earlier conversation:\n"
PATIENCE = 30  # seconds; nothing waits so long unless it hangs


class Slow:
    """
    A model that answers once it is let, and says when it was asked.
    """

    def __init__(self, answer="They met."):
        self.answer = answer
        self.asked = threading.Event()
        self.may = threading.Event()
        self.calls = 0

    def __call__(self, ask):
        self.calls += 1
        self.asked.set()
        assert self.may.wait(PATIENCE)
        if isinstance(self.answer, Exception):
            raise self.answer

        return self.answer


@pytest.fixture(params=["memory", "sqlite"])
def make(request, tmp_path):
    """
    What makes a memory, in memory and in a file.
    """
    made = []

    def make(**options):
        options = {"strategy": Summarize(2), "count": words, **options}
        if request.param == "memory":
            memory = Memory(**options)
        else:
            memory = Memory.open(tmp_path / "chat.db", **options)
        made.append(memory)

        return memory

    yield make
    for memory in made:
        memory.close()


class TestCompactInTheBackground:
    def test_is_used_once_it_is_there(self, make):
        """
        Appends go on meanwhile, none is refused or lost, and the summary is asked for once.
        """
        model = Slow()
        memory = make(ask=model)
        memory.append(*talk(3))
        future = memory.compact(wait=False)
        assert model.asked.wait(PATIENCE)
        memory.append(*talk(2, 4))
        meanwhile = memory.context()
        model.may.set()
        done = future.result(PATIENCE)

        assert texts(talk(5)) == texts(meanwhile)
        assert "not asked, it is being answered in the background" in meanwhile.warnings[0]
        assert done.rec
        assert [LABEL + "They met.", *texts(talk(3, 3))] == texts(memory.view())
        assert texts(talk(5)) == texts(memory.entries())
        assert 1 == model.calls

    def test_leaves_a_context_of_another_kind_alone(self, make):
        """
        A window, or a budget, is what goes to the model while the summary is being written.
        """
        model = Slow()
        memory = make(ask=model, strategy=Window(4) | TokenBudget(100))
        memory.append(*talk(4))
        future = memory.compact(Summarize(2), wait=False)
        assert model.asked.wait(PATIENCE)
        before = memory.context()
        model.may.set()
        future.result(PATIENCE)

        assert (["q3", "a3", "q4", "a4"], ()) == (texts(before), before.warnings)
        assert [LABEL + "They met.", "q4", "a4"] == texts(memory.context())

    def test_that_fails_changes_nothing(self, make, caplog):
        """
        The future and the logger say so, where failures are raised; else the result does.
        """
        model = Slow(RuntimeError("the model is down"))
        model.may.set()
        memory = make(ask=model, strategy=Summarize(2, on_failure="raise"))
        memory.append(*talk(3))
        before = memory.to_dict()
        with caplog.at_level(logging.WARNING, logger="unabridged"):
            future = memory.compact(wait=False)
            failure = future.exception(PATIENCE)
        kept = memory.compact(Summarize(2), wait=False).result(PATIENCE)

        assert isinstance(failure, StepError)
        assert "the compaction in the background failed, and changed nothing" in caplog.text
        assert before == memory.to_dict()
        assert "RuntimeError: the model is down" in kept.warnings[0]

    def test_asks_once_when_it_is_wanted_twice(self, make):
        """
        The second finds the model busy, and leaves it to the first.
        """
        model = Slow()
        memory = make(ask=model)
        memory.append(*talk(3))
        first = memory.compact(wait=False)
        assert model.asked.wait(PATIENCE)
        second = memory.compact(wait=False).result(PATIENCE)
        model.may.set()

        assert (0, 1) == (second.rec, len(second.warnings))
        assert first.result(PATIENCE).rec
        assert 1 == model.calls

    def test_is_done_again_when_somebody_decided_meanwhile(self, make):
        """
        What was cleared while the model wrote does not come back in its summary.
        """
        model = Slow()
        memory = make(ask=model)
        memory.append(*talk(3))
        future = memory.compact(wait=False)
        assert model.asked.wait(PATIENCE)
        memory.clear()
        model.may.set()
        done = future.result(PATIENCE)

        assert (0, [], []) == (done.rec, texts(done), texts(memory.view()))

    def test_refuses_a_strategy_that_cannot_run_at_once(self):
        """
        In the caller's own thread, before one is made.
        """
        with pytest.raises(NeedsAnswerError):
            Memory().compact(Summarize(2), wait=False)

    def test_does_not_count_as_what_was_sent(self, make):
        """
        The prefix that a result reports is of what went to the model before.
        """
        memory = make(ask=lambda _: "S", strategy=Window(100))
        memory.append(*talk(3))
        memory.context()
        memory.compact(Window(2), wait=False).result(PATIENCE)

        assert 6 == memory.context().kept.out_of


class TestCompactAsATask:
    def test_is_used_once_it_is_there(self):
        """
        As in a thread; the loop goes on.
        """

        async def main():
            may = asyncio.Event()
            asked = asyncio.Event()
            calls = []

            async def model(ask):
                calls.append(ask)
                asked.set()
                await may.wait()
                return "They met."

            memory = AsyncMemory(strategy=Summarize(2), count=words, ask=model)
            await memory.append(*talk(3))
            task = await memory.compact(wait=False)
            await asked.wait()
            await memory.append(*talk(1, 4))
            meanwhile = await memory.context()
            may.set()
            done = await task
            return texts(meanwhile), done.rec > 0, texts(await memory.view()), len(calls)

        meanwhile, wrote, view, calls = asyncio.run(asyncio.wait_for(main(), PATIENCE))
        assert (texts(talk(4)), True, 1) == (meanwhile, wrote, calls)
        assert LABEL + "They met." == view[0]

    def test_that_is_cancelled_changes_nothing(self):
        """
        And the memory goes on.
        """

        async def main():
            asked = asyncio.Event()

            async def model(ask):
                if not asked.is_set():
                    asked.set()
                    await asyncio.Event().wait()
                return "They met."

            memory = AsyncMemory(strategy=Summarize(2), count=words, ask=model)
            await memory.append(*talk(3))
            before = await memory.to_dict()
            task = await memory.compact(wait=False)
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            same = before == await memory.to_dict()
            return same, texts(await memory.context())

        same, seen = asyncio.run(asyncio.wait_for(main(), PATIENCE))
        assert (True, [LABEL + "They met.", "q3", "a3"]) == (same, seen)
