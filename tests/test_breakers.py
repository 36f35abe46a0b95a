"""
A model that failed is left alone for as many retrievals as the memory says.
"""

import asyncio

import pytest

from unabridged import AsyncMemory, Memory, Summarize, Window, run
from unabridged.contract import Ask, TrimContext
from unabridged.errors import ConfigError, OutcomeError
from unabridged.results import unchanged
from unabridged.testing import failing, replies, talk, texts, view_of
from unabridged.tokens import words

LABEL = "Summary of the earlier conversation:\n"


class Model:
    """
    A model that answers with each of these in turn, raises those that are errors, and counts.
    """

    def __init__(self, *answers):
        self.answers = list(answers)
        self.calls = 0

    def __call__(self, ask):
        self.calls += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer

        return answer


def memory_of(model, retry_after=2, strategy=None):
    memory = Memory(
        strategy=strategy or Summarize(2), count=words, ask=model, retry_after=retry_after
    )
    memory.append(*talk(3))

    return memory


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("failure", "told"),
        [
            (RuntimeError("the model is down"), "RuntimeError: the model is down"),
            (TimeoutError("too slow"), "TimeoutError: too slow"),
            ("", "the answer is empty"),
            ("far too long a text", "the answer has 5 tokens, more than the 4"),
        ],
        ids=["error", "time-out", "empty", "long"],
    )
    def test_answers_with_the_last_failure_for_so_many_retrievals(self, failure, told):
        """
        Nothing else changes meanwhile, and the warning tells when it is tried again.
        """
        model = Model(failure, "They met.")
        memory = memory_of(model)
        seen = [memory.context() for _ in range(4)]

        assert [1, "They met."] == [len(seen[3].changes), memory.summary()]
        assert [texts(talk(3))] * 3 == [texts(each) for each in seen[:3]]
        assert 2 == model.calls
        assert told in seen[0].warnings[0]
        assert all(told in each.warnings[0] for each in seen[1:3])
        assert [True, True, False] == [
            "tried again after 1 retrieval more" in seen[1].warnings[0],
            "tried again at the next retrieval" in seen[2].warnings[0],
            "not asked" in seen[0].warnings[0],
        ]

    def test_of_none_asks_again_at_the_very_next(self):
        """
        After an error and after a refused answer.
        """
        model = Model(RuntimeError(), "", "They met.")
        memory = memory_of(model, retry_after=0)

        assert [6, 6, 3] == [len(memory.context().messages) for _ in range(3)]

    def test_leaves_other_models_alone(self):
        """
        They are told apart by name and purpose.
        """
        strategy = [Summarize(4, model="a"), Summarize(2, model="b")]
        asked = []

        def model(ask):
            asked.append(ask.model)
            if ask.model == "a":
                raise TimeoutError
            return "S"

        memory = memory_of(model, strategy=strategy)
        memory.context()
        memory.append(*talk(1, 4))
        memory.context()

        assert ["a", "b", "b"] == asked

    def test_begins_anew_with_each_failure(self):
        """
        As long as a model is down it is asked once in so many retrievals.
        """
        model = Model(*[RuntimeError("down")] * 9)
        memory = memory_of(model, retry_after=3)
        for _ in range(12):
            memory.context()

        assert 3 == model.calls

    def test_raises_the_last_failure_where_failures_are_raised(self):
        """
        With its cause.
        """
        memory = memory_of(failing(), strategy=Summarize(2, on_failure="raise"))
        causes = []
        for _ in range(2):
            with pytest.raises(Exception, match="the model is down") as caught:
                memory.context()
            causes.append(type(caught.value.__cause__ or caught.value))

        assert RuntimeError is causes[0]
        assert OutcomeError is causes[1]

    def test_counts_what_a_step_of_your_own_raises(self):
        """
        Whatever asks a model is held back.
        """
        calls = []

        def facts(view, ctx):
            try:
                yield Ask(tuple(view[:1]), purpose="facts")
            except OutcomeError as error:
                return unchanged(view, warnings=[str(error)])
            except RuntimeError:
                return unchanged(view, warnings=["down"])

        def model(ask):
            calls.append(ask.purpose)
            raise RuntimeError

        memory = Memory(strategy=facts, ask=model, retry_after=1)
        memory.append(*talk(1))
        told = [memory.context().warnings[0] for _ in range(3)]

        assert ["facts", "facts"] == calls
        assert ("down", "down") == (told[0], told[2])

    def test_of_an_async_memory_does_the_same(self):
        """
        One logic for both.
        """

        async def main():
            model = Model(RuntimeError("down"), "They met.")

            async def ask(request):
                return model(request)

            memory = AsyncMemory(strategy=Summarize(2), count=words, ask=ask, retry_after=1)
            await memory.append(*talk(3))
            return [texts(await memory.context()) for _ in range(3)], model.calls

        assert ([texts(talk(3))] * 2 + [[LABEL + "They met.", "q3", "a3"]], 2) == asyncio.run(
            main()
        )

    @pytest.mark.parametrize("retry_after", [-1, 1.5, True, "2"])
    def test_refuses_what_is_no_number_of_retrievals(self, retry_after):
        """
        When the memory is made.
        """
        with pytest.raises(ConfigError, match="retry_after= must be a number of retrievals"):
            Memory(retry_after=retry_after)

    def test_goes_along_to_other_threads_of_the_store(self):
        """
        As every setting does.
        """
        model = Model(RuntimeError("down"), "They met.")
        other = memory_of(model).thread("other")
        other.append(*talk(3))
        for _ in range(3):
            other.context()

        assert 1 == model.calls


class TestRefused:
    def test_is_nothing_to_a_plain_run(self):
        """
        Who drives a strategy without a memory need not know of it.
        """
        done = run(
            Summarize(2) | Window(2), view_of(talk(3)), TrimContext(count=words), replies("")
        )

        assert ["q3", "a3"] == texts(done)
