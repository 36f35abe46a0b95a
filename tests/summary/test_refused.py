"""
A request whose answer was refused rests, while an error is asked again at once.
"""

import asyncio

import pytest

from unabridged import AsyncMemory, Memory, Summarize, asking, user
from unabridged.testing import talk, texts
from unabridged.tokens import words


class Model:
    """
    A model that answers with *answer*, or raises it, and counts.
    """

    def __init__(self, answer):
        self.answer = answer
        self.calls = 0

    def __call__(self, ask):
        self.calls += 1
        if isinstance(self.answer, Exception):
            raise self.answer

        return self.answer


def memory_of(model, strategy=None, rounds=3, **options):
    memory = Memory(strategy=strategy or Summarize(2), count=words, ask=model, **options)
    memory.append(*talk(rounds))

    return memory


class TestRests:
    @pytest.mark.parametrize("answer", ["", " ", "<think>so", "one two three four five", None, 5])
    def test_the_same_request_for_ten_retrievals(self, answer):
        """
        Whatever was wrong with the answer; then it is asked again, and rests again.
        """
        model = Model(answer)
        memory = memory_of(model)
        calls = []
        for _ in range(23):
            assert texts(talk(3)) == texts(memory.context())
            calls.append(model.calls)

        assert [1] * 11 + [2] * 11 + [3] == calls

    def test_and_each_result_says_so(self):
        """
        With why, and with what is left.
        """
        memory = memory_of(Model(""))
        told = [memory.context().warnings for _ in range(12)]

        assert told[0] == told[11]
        (why,) = told[1]
        assert why == (
            f"step {Summarize(2)!r}: no summary of entries 1-4: not asked, the last answer was "
            "refused (the answer is empty); tried again after 9 retrievals more of the same, or "
            "once it is to tell of 6 entries (4 now)"
        )
        assert "tried again after 1 retrieval more" in told[9][0]
        assert "tried again at the next retrieval" in told[10][0]

    def test_a_changed_one_until_it_has_grown_by_half(self):
        """
        However many retrievals that takes.
        """
        model = Model("")
        memory = memory_of(model, Summarize(1), rounds=10)
        asked_at = []
        for _ in range(30):
            memory.append(user("more"))
            before = model.calls
            memory.context()
            if model.calls > before:
                asked_at.append(len(memory.entries()) - 1)

        assert [20, 30, 45] == asked_at

    def test_not_after_an_error(self):
        """
        What was raised may be over.
        """
        model = Model(TimeoutError("slow"))
        memory = memory_of(model)
        for _ in range(3):
            memory.context()

        assert 3 == model.calls

    def test_not_with_retry_after_0(self):
        """
        Then it is asked at each retrieval.
        """
        model = Model("")
        memory = memory_of(model, retry_after=0)
        for _ in range(3):
            memory.context()

        assert 3 == model.calls

    def test_not_where_it_is_asked_for_in_another_way(self):
        """
        Another prompt, model or limit may be answered.
        """
        model = Model("")
        memory = memory_of(model)
        memory.context()
        model.answer = "They met."
        for other in ("prompt", "model", "max_tokens"):
            strategy = Summarize(2, **{other: 9 if other == "max_tokens" else "other"})

            assert 3 == len(memory.context(strategy).messages)

    def test_not_what_tells_of_other_entries(self):
        """
        What comes after a clear is another matter.
        """
        model = Model("")
        memory = memory_of(model)
        memory.context()
        memory.clear()
        memory.append(*talk(3, 4))
        memory.context()

        assert 2 == model.calls

    def test_in_each_memory_of_the_thread_that_thread_gives(self):
        """
        As a server makes one for each request; another thread is another conversation.
        """
        model = Model("")
        memory = memory_of(model)
        memory.context()
        for _ in range(3):
            memory.thread("default").context()
        assert 1 == model.calls
        other = memory.thread("other")
        other.append(*talk(3))
        other.context()
        assert 2 == model.calls

    def test_each_part_of_a_tree(self):
        """
        What is told already stays, and only the rest rests.
        """
        model = Model("S")
        memory = memory_of(model, Summarize(2, tree=4))
        memory.context()
        model.answer = ""
        memory.append(*talk(2, 4))
        for _ in range(5):
            seen = memory.context()

        assert 2 == model.calls
        assert "S" in texts(seen)[0]

    def test_in_the_background_too(self):
        """
        A compaction that nobody waits for asks no more often.
        """
        model = Model("")
        memory = memory_of(model)
        for _ in range(3):
            memory.compact(wait=False).result()
        memory.context()

        assert 1 == model.calls

    def test_in_an_async_memory(self):
        """
        One logic for both.
        """

        async def main():
            model = Model("")

            async def ask(request):
                return model(request)

            memory = AsyncMemory(strategy=Summarize(2), count=words, ask=ask)
            await memory.append(*talk(3))
            for _ in range(12):
                await memory.context()
                await memory.thread("default").context()
            return model.calls

        assert 3 == asyncio.run(main())

    def test_behind_a_fallback(self):
        """
        What one of several models answered is an answer.
        """
        model = Model("")
        memory = memory_of(asking.fallback(model))
        for _ in range(3):
            memory.context()

        assert 1 == model.calls
