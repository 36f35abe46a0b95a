"""
One after the other, until somebody answers.
"""

import asyncio
import functools
import logging
import threading

import attrs
import pytest

from unabridged import Ask, AsyncMemory, Memory, Summarize, asking
from unabridged.errors import (
    ConfigError,
    FormatError,
    NeedsAnswerError,
    NeedsAsyncError,
    OutcomeError,
)
from unabridged.steps import is_async
from unabridged.testing import failing, replies, talk, texts

ASK = Ask(())
SECRET = "sk-secret-0123456789"  # noqa: S105  nobody's


def empty(ask):
    """
    A model that says nothing.
    """
    return " \n"


async def later(ask):
    """
    An async model.
    """
    await asyncio.sleep(0)
    return "later"


async def down(ask):
    """
    An async model that fails.
    """
    await asyncio.sleep(0)
    raise TimeoutError


class Counting:
    """
    A model that counts its questions.
    """

    def __init__(self, window=0):
        self.asked = 0
        self.window = window

    def __call__(self, ask):
        """
        Answer.
        """
        self.asked += 1
        return "counted"


class HTTPError(Exception):
    """
    What a client might raise.
    """

    def __init__(self, status_code, code):
        super().__init__(f"the request was {SECRET}")
        self.status_code = status_code
        self.code = code


def asked(ask, members):
    """
    The answer of a fallback, sync or async.
    """
    tried = asking.fallback(*members)
    return asyncio.run(tried(ask)) if is_async(tried) else tried(ask)


def with_async(members):
    """
    The same members, and one that makes the whole async.
    """
    return (*members, down)


BOTH = pytest.mark.parametrize("made", [tuple, with_async], ids=["sync", "async"])


class TestFallback:
    @BOTH
    def test_the_first_answer_is_taken(self, made):
        """
        Nobody behind it is asked.
        """
        first, second = Counting(), Counting()

        assert "counted" == asked(ASK, made((first, second)))
        assert (1, 0) == (first.asked, second.asked)

    @BOTH
    @pytest.mark.parametrize(
        "bad",
        [failing(TimeoutError()), failing(StopIteration()), empty, lambda ask: None, lambda ask: 3],
        ids=["raises", "stops", "empty", "none", "number"],
    )
    def test_a_failure_goes_on_to_the_next(self, made, bad):
        """
        An error, an empty answer, and what is no text.
        """
        assert "good" == asked(ASK, made((bad, replies("good"))))

    @BOTH
    def test_one_error_tells_of_all(self, made):
        """
        And has each of them as its cause.
        """
        members = made((failing(HTTPError(503, "overloaded")), empty))
        with pytest.raises(OutcomeError) as raised:
            asked(ASK, members)
        told = (
            f"fallback: nobody of {len(members)} answered: "
            "fail: HTTPError (503, overloaded); empty: the answer is empty"
        )

        assert str(raised.value).startswith(told)
        assert len(members) == len(raised.value.__cause__.exceptions)

    @BOTH
    def test_the_log_says_who_failed_and_why(self, made, caplog):
        """
        By name and code, and who is asked now; never by what a repr or an error's text may hold.
        """
        with_key = functools.partial(failing(ValueError(SECRET)), key=SECRET)
        first = failing(HTTPError(401, f"no {SECRET}"))
        with caplog.at_level(logging.WARNING, logger="unabridged"):
            assert "good" == asked(ASK, made((first, with_key, replies("good"))))

        assert [
            "fallback: no answer of fail: HTTPError (401); asking fail",
            "fallback: no answer of fail: TypeError; asking <lambda>",
        ] == [record.getMessage() for record in caplog.records]
        assert {"unabridged"} == {record.name for record in caplog.records}

    def test_our_own_errors_are_told_in_full(self, caplog):
        """
        Their texts hold nothing of an answer.
        """
        wrong = failing(FormatError("response.choices: expected a list, got null"))
        with caplog.at_level(logging.WARNING, logger="unabridged"):
            asked(ASK, (wrong, asking.offline(), later))

        assert "expected a list, got null; asking asking.offline()" in caplog.text

    def test_a_cause_stands_for_a_code(self):
        """
        As of a connection that failed.
        """
        error = ConnectionError("a host")
        error.__cause__ = OSError("a port")
        with pytest.raises(OutcomeError, match=r"fail: ConnectionError \(OSError\)$"):
            asked(ASK, (failing(error),))

    @BOTH
    @pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
    def test_who_stops_the_program_is_heard(self, made, stop):
        """
        It is no failure of a model, and nobody else is asked.
        """
        second = Counting()
        with pytest.raises(stop):
            asked(ASK, made((failing(stop()), second)))

        assert 0 == second.asked

    @BOTH
    @pytest.mark.parametrize("error", [NeedsAsyncError("a"), NeedsAnswerError("b")])
    def test_a_wrong_set_up_is_not_a_failure(self, made, error):
        """
        Nobody was asked, and the next answer would hide that.
        """
        with pytest.raises(type(error)):
            asked(ASK, made((failing(error), replies("good"))))

    def test_it_is_async_if_a_member_is(self):
        """
        A memory sees that as of any function.
        """
        assert not is_async(asking.fallback(empty, asking.offline()))
        assert is_async(asking.fallback(empty, later))
        assert is_async(asking.fallback(empty, functools.partial(later)))
        assert is_async(asking.fallback(empty, asking.fallback(later)))

        with pytest.raises(NeedsAsyncError, match="use AsyncMemory"):
            Memory(strategy=Summarize(keep_last=1), ask=asking.fallback(empty, later))

    def test_a_member_that_gives_an_awaitable(self):
        """
        It is awaited among async ones, and a sync run says what to use.
        """

        def hidden(ask):
            return later(ask)

        assert "later" == asked(ASK, (down, hidden))
        with pytest.raises(NeedsAsyncError, match="use arun or AsyncMemory"):
            asked(ASK, (hidden, replies("good")))

    def test_a_sync_member_holds_up_no_loop(self):
        """
        It is called in a thread: here it waits for what only the loop can do.
        """
        ready = threading.Event()

        def slow(ask):
            assert ready.wait(30)
            return "slow"

        async def main():
            task = asyncio.create_task(asking.fallback(down, slow)(ASK))
            await asyncio.sleep(0)
            ready.set()
            return await task

        assert "slow" == asyncio.run(main())

    def test_cancelling_asks_nobody_else(self):
        """
        A member that is awaited hears of it.
        """
        second = Counting()

        async def main():
            came, heard = asyncio.Event(), []

            async def waits(ask):
                came.set()
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    heard.append(True)
                    raise

            task = asyncio.create_task(asking.fallback(waits, second)(ASK))
            await came.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return heard

        assert [True] == asyncio.run(main())
        assert 0 == second.asked

    def test_in_a_memory(self):
        """
        Sync and async alike.
        """
        tried = (failing(TimeoutError()), replies("They greeted."))
        memory = Memory(strategy=Summarize(keep_last=2, label=""), ask=asking.fallback(*tried))
        memory.append(*talk(3))

        async def main():
            other = AsyncMemory(
                strategy=Summarize(keep_last=2, label=""), ask=asking.fallback(down, *tried)
            )
            await other.append(*talk(3))
            return await other.context()

        for result in (memory.context(), asyncio.run(main())):
            assert ["They greeted.", "q3", "a3"] == texts(result)
            assert () == result.warnings

    def test_its_window_is_the_smallest_that_is_known(self):
        """
        What every model among its members can take.
        """
        members = (Counting(9_000), Counting(), empty, asking.offline(), Counting(4_000))

        assert 4_000 == asking.fallback(*members).window
        assert 4_000 == asking.fallback(asking.fallback(*members), Counting(8_000)).window
        assert 4_000 == asking.fallback(*members, later).window
        assert 0 == asking.fallback(empty, asking.offline()).window

    def test_it_is_a_value(self):
        """
        Equal to another of the same members; frozen; a repr without theirs.
        """
        one = asking.fallback(empty, asking.offline())

        assert one == asking.fallback(empty, asking.offline())
        assert hash(one) == hash(asking.fallback(empty, asking.offline()))
        assert one != asking.fallback(asking.offline(), empty)
        assert "asking.fallback(empty, asking.offline())" == repr(one)
        assert "asking.fallback(Counting, later)" == repr(asking.fallback(Counting(), later))
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            one.members = ()

    @pytest.mark.parametrize("wrong", [(), (None,), (empty, "gpt-4o")])
    def test_what_cannot_be_asked_is_refused(self, wrong):
        """
        When it is made.
        """
        with pytest.raises(ConfigError, match=r"asking\.fallback: "):
            asking.fallback(*wrong)
