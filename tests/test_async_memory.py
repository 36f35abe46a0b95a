"""
AsyncMemory: the same names, awaited; what is the same is tested in `test_memory.py`.
"""

import asyncio
import inspect

import pytest

from unabridged import (
    AsyncMemory,
    Memory,
    NoCompaction,
    Summarize,
    TokenBudget,
    Window,
    chain,
    system,
    tokens,
    user,
)
from unabridged.contract import Await, Search
from unabridged.errors import (
    ConfigError,
    LogConflictError,
    NeedsAnswerError,
    OutcomeError,
    StoreError,
)
from unabridged.records import Appended
from unabridged.stores import InMemoryStore, InThread
from unabridged.strategies.summarize import LABEL
from unabridged.testing import failing, replies, talk, texts


async def memory_of(*messages, **options):
    """
    A memory that holds these messages.
    """
    memory = AsyncMemory(**options)
    await memory.append(*messages)

    return memory


async def records(memory):
    """
    The bodies of the records, without the appended ones.
    """
    bodies = [record.body for record in await memory._store.read(memory._thread)]

    return [body for body in bodies if not isinstance(body, Appended)]


class Model:
    """
    A model that waits to be let go on, and answers "short".
    """

    def __init__(self):
        self.asked = asyncio.Event()
        self.go_on = asyncio.Event()
        self.count = 0

    async def __call__(self, request):
        self.count += 1
        self.asked.set()
        await self.go_on.wait()

        return "short"


class TestNames:
    def test_are_those_of_a_memory(self):
        """
        Every public name, with the same arguments.
        """

        def names(kind):
            return {name for name in dir(kind) if not name.startswith("_")}

        def arguments(kind, name):
            thing = getattr(kind, name)

            return [*inspect.signature(thing).parameters] if callable(thing) else None

        assert names(Memory) == names(AsyncMemory)
        assert {name: arguments(Memory, name) for name in names(Memory)} == {
            name: arguments(AsyncMemory, name) for name in names(Memory)
        }

    def test_do_what_they_do_in_a_memory(self):
        """
        One after the other, on the same messages; the logs come out equal.
        """

        async def awaited():
            memory = await memory_of(system("rule"), *talk(3), strategy=Window(4))
            results = [
                await memory.append(user("a", id="m1")),
                await memory.append(user("a", id="m1")),
                await memory.entries(before=4, last=2),
                (await memory.context()).messages,
                (await memory.context(Window(2), system="s", hide_system=True)).messages,
                (await memory.compact()).messages,
                await memory.revert(9),
                await memory.pin(2),
                await memory.unpin(2),
                await memory.retract(4),
                await memory.rewind(8),
                await memory.summary(),
                await memory.sources((await memory.view())[0]),
                len(await memory.view(at=3)),
                await memory.clear(),
                await memory.threads(),
                repr(memory).removeprefix("Async"),
            ]

            return results, await memory.to_dict()

        memory = Memory(strategy=Window(4))
        memory.append(system("rule"), *talk(3))
        expected = [
            memory.append(user("a", id="m1")),
            memory.append(user("a", id="m1")),
            memory.entries(before=4, last=2),
            memory.context().messages,
            memory.context(Window(2), system="s", hide_system=True).messages,
            memory.compact().messages,
            memory.revert(9),
            memory.pin(2),
            memory.unpin(2),
            memory.retract(4),
            memory.rewind(8),
            memory.summary(),
            memory.sources(memory.view()[0]),
            len(memory.view(at=3)),
            memory.clear(),
            memory.threads(),
            repr(memory),
        ]
        results, data = asyncio.run(awaited())

        assert timeless(expected) == timeless(results)
        assert timeless(memory.to_dict()) == timeless(data)


def timeless(value):
    """
    The same without the time at which anything was written.
    """
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if key != "at"}
    if isinstance(value, list | tuple) and type(value) in {list, tuple}:
        return [timeless(one) for one in value]
    if hasattr(value, "at"):
        return (value.rec, getattr(value, "body", None) or value.message)
    if hasattr(value, "known"):
        return timeless(value.entries), timeless(value.known)

    return value


class TestAsyncMemory:
    def test_awaits_answers_searches_and_steps(self):
        """
        Each may be async.
        """

        async def answer(request):
            await asyncio.sleep(0)

            return "short"

        async def search(request):
            await asyncio.sleep(0)

            return [(5, 1.0)]

        async def last(view, ctx):
            await asyncio.sleep(0)

            return view.tail(3)

        def recall(view, ctx):
            found = yield Search("x", 1)
            count = yield Await(lambda: asyncio.sleep(0, 4))

            return [item for item in view.tail(count) if item.first >= found[0][0]]

        async def main():
            memory = await memory_of(
                *talk(3), strategy=[last, Summarize(2), recall], ask=answer, search=search
            )

            return texts(await memory.context())

        assert ["q3", "a3"] == asyncio.run(main())

    def test_takes_sync_answers_and_steps_too(self):
        """
        Nothing has to be rewritten.
        """

        async def main():
            memory = await memory_of(
                *talk(3),
                strategy=[Summarize(2, replace=True), lambda view, ctx: list(view)],
                ask=replies("short"),
            )
            first = await memory.context()

            return texts(first), texts(await memory.view()), await memory.summary()

        expected = [LABEL + "\nshort", "q3", "a3"]

        assert (expected, expected, "short") == asyncio.run(main())

    def test_refuses_an_answer_that_is_no_text(self):
        """
        Also one that was awaited.
        """

        async def answer(request):
            await asyncio.sleep(0)

            return {"text": "short"}

        async def main():
            memory = await memory_of(
                *talk(3), strategy=Summarize(2, on_failure="raise"), ask=answer
            )
            await memory.context()

        with pytest.raises(OutcomeError) as caught:
            asyncio.run(main())

        assert str(caught.value) == (
            "step Summarize(2, on_failure='raise'): an answer must be text, got dict; "
            "return the reply's text"
        )

    def test_refuses_a_strategy_that_asks_where_nobody_answers(self):
        """
        When it is made.
        """
        with pytest.raises(NeedsAnswerError):
            AsyncMemory(strategy=Summarize(2))

    def test_says_what_failed(self, caplog):
        """
        Nothing changed, and the next retrieval asks again.
        """

        async def main():
            memory = await memory_of(*talk(3), strategy=Summarize(2), ask=failing())

            return await memory.context(), await records(memory)

        done, written = asyncio.run(main())

        assert (6, []) == (len(done.messages), written)
        assert 1 == len(caplog.records)

    def test_keeps_threads_apart(self):
        """
        One store, the same settings.
        """

        async def main():
            memory = await memory_of(*talk(2), strategy=TokenBudget(2), count=tokens.words)
            other = memory.thread("other")
            await other.append(*talk(2, 5))
            memory.strategy = NoCompaction()

            return (
                texts(await memory.context()),
                texts(await other.context()),
                await other.threads(),
                chain(TokenBudget(2)) == other.strategy,
            )

        assert (
            ["q1", "a1", "q2", "a2"],
            ["q6", "a6"],
            ("default", "other"),
            True,
        ) == asyncio.run(main())

    def test_takes_a_store_that_is_async_already(self):
        """
        As it is.
        """
        store = InThread(InMemoryStore())

        async def main():
            await memory_of(*talk(1), store=store)

            return texts(await AsyncMemory(store).view())

        assert ["q1", "a1"] == asyncio.run(main())

    def test_goes_out_and_comes_back(self):
        """
        As data, to a memory of either kind.
        """

        async def main():
            memory = await memory_of(*talk(2))
            data = await memory.to_dict()
            copy = await AsyncMemory.from_dict(data, thread="other", strategy=Window(2))

            return data, texts(await copy.context()), await copy.threads()

        data, seen, threads = asyncio.run(main())

        assert (["q2", "a2"], ("other",)) == (seen, threads)
        assert ["q1", "a1", "q2", "a2"] == texts(Memory.from_dict(data).view())

    def test_refuses_data_of_another_form(self):
        """
        As a memory does.
        """

        async def main():
            store = InMemoryStore()
            memory = await memory_of(*talk(2), store=store)
            await AsyncMemory.from_dict(await memory.to_dict(), store)

        with pytest.raises(ConfigError, match="holds 4 records already"):
            asyncio.run(main())

    def test_keeps_a_file(self, tmp_path):
        """
        Opened without being awaited, closed by its context.
        """
        path = tmp_path / "chat.db"

        async def main():
            async with AsyncMemory.open(path, strategy=Window(2)) as memory:
                await memory.append(*talk(3))
                await memory.compact()
            with pytest.raises(StoreError):
                await memory.append(user("late"))
            async with AsyncMemory.open(path) as memory:
                return texts(await memory.view())

        assert ["q3", "a3"] == asyncio.run(main())
        with Memory.open(path) as memory:
            assert 6 == len(memory.entries())

    def test_leaves_no_file_open_where_it_is_refused(self, tmp_path):
        """
        The store is closed again.
        """
        with pytest.raises(NeedsAnswerError):
            AsyncMemory.open(tmp_path / "chat.db", strategy=Summarize(2))
        with Memory.open(tmp_path / "chat.db") as memory:
            assert () == memory.entries()


class TestTogether:
    def test_two_tasks_lose_nothing(self, tmp_path):
        """
        On one memory, appending and making contexts at the same time; in memory and in a file.
        """

        async def write(memory, name):
            for n in range(20):
                await memory.append(user(f"{name}{n}"))
                await memory.context()

        async def main(memory):
            async with memory:
                await asyncio.gather(write(memory, "a"), write(memory, "b"))

                return texts(await memory.entries())

        for memory in (
            AsyncMemory(strategy=Window(4, replace=True)),
            AsyncMemory.open(tmp_path / "chat.db", strategy=Window(4, replace=True)),
        ):
            seen = asyncio.run(main(memory))

            assert 40 == len(seen)
            for name in "ab":
                assert [f"{name}{n}" for n in range(20)] == [t for t in seen if t[0] == name]

    def test_one_appends_while_another_waits_for_its_answer(self):
        """
        The lock is free meanwhile; the answer does not cover what came later.
        """

        async def main():
            model = Model()
            memory = await memory_of(*talk(3), strategy=Summarize(2, replace=True), ask=model)
            waiting = asyncio.create_task(memory.context())
            await model.asked.wait()
            await memory.append(user("meanwhile"))
            before = texts(await memory.view())
            model.go_on.set()
            done = await waiting

            return before, texts(done), texts(await memory.view())

        before, done, after = asyncio.run(main())

        assert 7 == len(before)
        assert [LABEL + "\nshort", "q3", "a3"] == done
        assert [LABEL + "\nshort", "q3", "a3", "meanwhile"] == after

    def test_a_fold_in_flight_during_clear_is_discarded(self):
        """
        What was cleared does not come back in a summary.
        """

        async def main():
            model = Model()
            memory = await memory_of(*talk(3), strategy=Summarize(2, replace=True), ask=model)
            waiting = asyncio.create_task(memory.context())
            await model.asked.wait()
            await memory.clear()
            model.go_on.set()
            done = await waiting

            return texts(done), (await memory.view()).notes, await memory.summary()

        assert ([], (), "") == asyncio.run(main())

    def test_two_contexts_at_once_fold_once(self):
        """
        The second to be answered finds the log changed, and is worked out anew.
        """

        async def main():
            model = Model()
            memory = await memory_of(*talk(3), strategy=Summarize(2, replace=True), ask=model)
            first, second = (asyncio.create_task(memory.context()) for _ in range(2))
            await model.asked.wait()
            model.go_on.set()
            results = await asyncio.gather(first, second)
            kinds = [type(body).__name__ for body in await records(memory)]

            return [texts(done) for done in results], kinds, texts(await memory.view())

        results, kinds, seen = asyncio.run(main())

        assert [[LABEL + "\nshort", "q3", "a3"]] * 2 == results
        assert [LABEL + "\nshort", "q3", "a3"] == seen
        assert 1 == kinds.count("Compacted")

    def test_a_conflict_is_told(self):
        """
        As in a memory.
        """

        async def main():
            memory = await memory_of(*talk(1))
            await memory.append(user("x"), expect=99)

        with pytest.raises(LogConflictError):
            asyncio.run(main())


class TestCancelled:
    def test_while_a_model_answers_everything_is_as_it_was(self):
        """
        And the lock is free.
        """

        async def main():
            model = Model()
            memory = await memory_of(*talk(3), strategy=Summarize(2, replace=True), ask=model)
            before = await memory.to_dict()
            waiting = asyncio.create_task(memory.context())
            await model.asked.wait()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            after = await memory.to_dict()
            model.go_on.set()

            return (
                before == after,
                memory._lock.locked(),
                texts(await memory.context()),
                model.count,
            )

        assert (True, False, [LABEL + "\nshort", "q3", "a3"], 2) == asyncio.run(main())

    def test_while_another_holds_the_lock_it_ends_at_once(self):
        """
        Nobody waits for the lock while a model answers, so nothing has to be given back.
        """

        async def main():
            model = Model()
            memory = await memory_of(*talk(3), strategy=Summarize(2), ask=model)
            waiting = asyncio.create_task(memory.context())
            await model.asked.wait()
            await memory._lock.acquire()
            for _ in range(3):
                waiting.cancel()
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            pending = not waiting.done()
            memory._lock.release()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await memory.append(user("after"))

            return pending, memory._lock.locked(), len(await memory.entries())

        assert (False, False, 7) == asyncio.run(main())

    def test_while_it_waits_for_the_lock_nothing_is_written(self):
        """
        It never had it.
        """

        async def main():
            memory = await memory_of(*talk(1))
            await memory._lock.acquire()
            waiting = asyncio.create_task(memory.append(user("x")))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            memory._lock.release()

            return texts(await memory.entries())

        assert ["q1", "a1"] == asyncio.run(main())

    def test_while_a_later_step_runs_the_view_is_as_it_was(self):
        """
        And the lock is free, whatever became of the answer before it.
        """

        async def main():
            reached = asyncio.Event()

            async def stuck(view, ctx):
                reached.set()
                await asyncio.Event().wait()

            steps = [Summarize(2, replace=True), stuck]
            memory = await memory_of(*talk(3), strategy=steps, ask=replies("short"))
            waiting = asyncio.create_task(memory.context())
            await reached.wait()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

            return len(await memory.view()), memory._lock.locked()

        assert (6, False) == asyncio.run(main())


class TestLoops:
    def test_may_follow_one_another(self, tmp_path):
        """
        A script or notebook runs one loop after the other on the same memory.
        """
        memory = AsyncMemory.open(tmp_path / "chat.db")

        async def five():
            await asyncio.gather(*[memory.append(user("x")) for _ in range(5)])
            return len(await memory.entries())

        assert [5, 10] == [asyncio.run(five()), asyncio.run(five())]
        asyncio.run(memory.close())


class TestReportUsage:
    def test_as_a_memory_does(self):
        """
        The same note, the same correction.
        """

        async def main():
            memory = await memory_of(user("one two"), count=tokens.calibrated(tokens.words))
            told = await memory.report_usage(await memory.context(), input_tokens=6)
            return told.usage.input_tokens, (await memory.context()).tokens

        assert (6, 6) == asyncio.run(main())
