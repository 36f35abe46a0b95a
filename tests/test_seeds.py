"""
What the systems we were asked to replace promise, and the line that keeps each promise here.

One class a system, one test a promise; a docstring says the promise in our
words and, where we differ on purpose, how. Their worked examples stand first
in each class, restated in our API.
"""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from unabridged import (
    AsyncMemory,
    Image,
    MaxRounds,
    Memory,
    Message,
    NoCompaction,
    Over,
    Reasoning,
    Summarize,
    Text,
    TokenBudget,
    ToolCall,
    When,
    Window,
    assistant,
    chain,
    declared,
    run,
    system,
    tokens,
    tool,
    user,
    written_back,
)
from unabridged.contract import Ask, TrimContext
from unabridged.errors import (
    ConfigError,
    CorruptLogError,
    CountError,
    NeedsAnswerError,
    NeedsAsyncError,
    StepError,
)
from unabridged.stores.in_memory import InMemoryStore
from unabridged.stores.sqlite import SqliteStore
from unabridged.testing import call, failing, replies, result, talk, texts, view_of
from unabridged.views import View

HUMAN = {"user": "Human", "assistant": "AI", "system": "System", "tool": "Tool"}


def one_each(message: Message) -> int:
    """
    A counter of one token a message.
    """
    return 1


class Model:
    """
    A model that keeps what it was asked, and answers in order.
    """

    def __init__(self, *answers: str) -> None:
        self.asked: list[Ask] = []
        self._answer = replies(*answers)

    def __call__(self, ask: Ask) -> str:
        self.asked.append(ask)
        return self._answer(ask)

    @property
    def given(self) -> list[tuple[str, list[str]]]:
        """
        For each question the previous summary and the words of what was to be folded.
        """
        return [
            (ask.previous.text if ask.previous else "", [i.message.text for i in ask.items])
            for ask in self.asked
        ]


def in_turn(*models: Callable[[Ask], str]) -> Callable[[Ask], str]:
    """
    These models, each for one question.
    """
    waiting = list(models)

    def answer(ask: Ask) -> str:
        return waiting.pop(0)(ask)

    return answer


def joined(ask: Ask) -> str:
    """
    The summarizer of rollmem's pages: the old summary and the new turns in one line.
    """
    earlier = [ask.previous.text] if ask.previous else []
    return " ".join([*earlier, *(item.message.text for item in ask.items)])


class TestRollmem:
    def test_its_example_of_a_trip(self):
        """
        The page's first example: within the budget everything is there, as text and as messages.
        """
        memory = Memory(strategy=Summarize(keep_tokens=2_000), count=tokens.words, ask=joined)
        memory.append(user("Hi, I'm planning a trip to Korea."))
        memory.append(assistant("Great! When are you going?"))
        seen = memory.context()

        assert (
            "user: Hi, I'm planning a trip to Korea.\nassistant: Great! When are you going?"
        ) == seen.text()
        assert (
            user("Hi, I'm planning a trip to Korea."),
            assistant("Great! When are you going?"),
        ) == seen.messages

    def test_its_example_of_a_tool_call(self):
        """
        A call and its result go in as messages and stay together.
        """
        asked = assistant(calls=[ToolCall("c1", "get_weather", '{"city": "Seoul"}')])
        memory = Memory(strategy=TokenBudget(4, count=tokens.words, opening="anywhere"))
        memory.append(user("How is the weather?"), asked, tool("sunny, 23C", call_id="c1"))

        assert (asked, tool("sunny, 23C", call_id="c1")) == memory.context().messages

    def test_its_example_of_async_memory(self):
        """
        The same with an async summarizer, awaited.
        """

        async def summarize(ask: Ask) -> str:
            await asyncio.sleep(0)
            return joined(ask)

        async def main() -> str:
            memory = AsyncMemory(strategy=Summarize(keep_tokens=2_000), ask=summarize)
            await memory.append(user("Hi, I'm planning a trip to Korea."))
            return (await memory.context()).text()

        assert "user: Hi, I'm planning a trip to Korea." == asyncio.run(main())

    def test_its_example_of_a_buffer(self):
        """
        Without a strategy the whole history is there, verbatim.
        """
        memory = Memory()
        memory.append(*talk(30))

        assert tuple(talk(30)) == memory.context().messages

    def test_its_example_of_persistence(self):
        """
        State goes through JSON and back; the strategy and the model are given again.
        """
        strategy = Summarize(keep_tokens=4, guard_size=False)
        memory = Memory(strategy=strategy, count=tokens.words, ask=joined)
        memory.append(*talk(4))
        before = memory.context()
        restored = Memory.from_dict(
            json.loads(json.dumps(memory.to_dict())),
            strategy=strategy,
            count=tokens.words,
            ask=failing(),
        )

        assert before.messages == restored.context().messages
        assert memory.summary() == restored.summary() == "q1 a1 q2 a2"

    def test_its_windows_and_summaries_of_later_versions(self):
        """
        `WindowMemory(max_messages)` is `Window`; `SummaryMemory` keeps a summary alone.

        Here the newest message stays beside the summary, or there would be no
        question to answer.
        """
        memory = Memory(strategy=Window(2), ask=joined)
        memory.append(*talk(2))
        summary = Summarize(keep_last=1, label="", guard_size=False)

        assert ["q2", "a2"] == texts(memory.context())
        assert ["q1 a1", "q2", "a2"] == texts(memory.context(summary))

    @pytest.mark.parametrize("limit", [0, -1])
    def test_1_limits_are_positive(self, limit):
        """
        A limit of zero or less is a `ValueError`.
        """
        with pytest.raises(ValueError, match="must be an int of 1 or more"):
            TokenBudget(limit)
        with pytest.raises(ValueError, match="must be an int of 1 or more"):
            Summarize(keep_tokens=limit)

    def test_2_counts_words(self):
        """
        Its default counter is the number of words: `tokens.words`. Ours is exact.
        """
        assert 3 == tokens.words(user("one  two\nthree"))

    def test_3_counts_text_calls_and_links(self):
        """
        A counter of text gets the content, each call as `name(args)`, the answered id, on lines.
        """
        got: list[str] = []

        def measure(text: str) -> int:
            got.append(text)
            return len(text)

        count = tokens.of_text(measure)
        calls = [ToolCall("c1", "f", '{"a": 1}'), ToolCall("c2", "g", "{}")]
        count(assistant("hi", calls=calls, metadata={"never": "counted"}))
        count(assistant(calls=calls[1:]))
        count(tool("done", call_id="c1"))
        count(tool("", call_id="c1"))

        assert ['hi\nf({"a": 1})\ng({})', "g({})", "done\nc1", "c1"] == got

    def test_4_prints_a_message_as_role_and_content(self):
        """
        `str(message)` is `role: content`, with the tool calls behind it.
        """
        calls = [ToolCall("c1", "f", '{"a": 1}'), ToolCall("c2", "g")]

        assert "user: hi" == str(user("hi"))
        assert 'assistant: hi [tool calls: f({"a": 1}), g({})]' == str(assistant("hi", calls=calls))

    def test_5_keeps_units_whole(self):
        """
        A unit is a call up to its last result, with what was said between; others are alone.

        Here it is a block. An overlap of two is one block.
        """
        messages = [
            user("q"),
            call("c1", "c2"),
            result("c2"),
            user("wait"),
            result("c1"),
            call("d1"),
            call("d2"),
            result("d1"),
            result("d2"),
            result("nobody's"),
            assistant("done"),
            call("pending"),
        ]

        assert [1, 4, 4, 1, 1, 1] == [len(block) for block in view_of(messages).blocks]

    def test_6_evicts_the_oldest_units_until_the_rest_fits(self):
        """
        Whole units leave from the oldest on while the total is over; the newest always stays.
        """
        view = view_of([user("a b c"), call("c1"), result("c1", "d e"), user("f")])
        plain = [
            texts(run(TokenBudget(limit, count=tokens.words, opening="anywhere"), view))
            for limit in (8, 7, 5, 4, 1)
        ]
        huge = run(TokenBudget(1, count=tokens.words), view_of([user("a"), user("b c d")]))

        assert [
            ["a b c", "", "d e", "f"],
            ["", "d e", "f"],
            ["", "d e", "f"],
            ["f"],
            ["f"],
        ] == plain
        assert ["b c d"] == texts(huge)

    def test_7_opens_on_a_valid_head_after_an_eviction(self):
        """
        After an eviction the cut moves on to a head that is no answer, if there is one.

        That is `opening="next"`; roles of your own and, unpinned, system
        messages are valid heads. Our default brings the question instead.
        """
        narrow = TokenBudget(3, count=one_each, opening="next", pin_system=False)
        shown = [
            texts(run(narrow, view_of(messages)))
            for messages in (
                [user("a"), assistant("b"), assistant("c"), user("d"), assistant("e")],
                [user("a"), assistant("b"), assistant("c"), system("d"), user("e")],
                [user("a"), assistant("b"), Message("critic", "c"), user("d"), assistant("e")],
                [assistant("b"), assistant("c"), assistant("d"), assistant("e")],
            )
        ]
        ours = run(
            TokenBudget(3, count=one_each),
            view_of([user("a"), assistant("b"), assistant("c"), assistant("d")]),
        )

        assert [["d", "e"], ["d", "e"], ["c", "d", "e"], ["c", "d", "e"]] == shown
        assert ["a", "c", "d"] == texts(ours)

    def test_8_leaves_alone_what_fits(self):
        """
        Within the budget nothing is touched, whatever it opens on.
        """
        view = view_of([result("nobody's"), assistant("b"), user("c")])

        for opening in ("question", "next", "anywhere"):
            assert () == run(TokenBudget(3, count=one_each, opening=opening), view).changes

    def test_9_asks_once_a_prune_and_changes_nothing_when_that_fails(self):
        """
        The summarizer gets the summary so far and what is evicted, once; its error propagates.

        Here an error propagates with `on_failure="raise"`; by default it is a warning.
        """
        strict = Summarize(keep_last=2, on_failure="raise", guard_size=False, replace=True)
        model = Model("S1", "S2")
        memory = Memory(strategy=strict, ask=model)
        memory.append(*talk(3))
        memory.context()
        memory.append(*talk(2, first=4))
        memory.context()
        broken = Memory.from_dict(memory.to_dict(), strategy=strict, ask=failing(TimeoutError()))
        broken.append(*talk(1, first=6))
        before = broken.to_dict()

        assert [("", ["q1", "a1", "q2", "a2"]), ("S1", ["q3", "a3", "q4", "a4"])] == model.given
        with pytest.raises(StepError, match="TimeoutError"):
            broken.context()
        assert before == broken.to_dict()
        assert "S2" == broken.summary()
        assert ["q5", "a5", "q6", "a6"] == texts(broken.view())[1:]

    def test_10_drops_without_a_summarizer(self):
        """
        Who wants no summary lets the oldest go: another strategy here, not a missing function.
        """
        memory = Memory(strategy=TokenBudget(2, count=tokens.words, replace=True))
        memory.append(*talk(3))
        memory.context()

        assert ["q3", "a3"] == texts(memory.view())
        assert "" == memory.summary()

    def test_11_refuses_an_async_summarizer_in_a_sync_memory(self):
        """
        A coroutine function is refused when the memory is made, an awaitable answer when it comes.

        The coroutine is closed and nothing changes. It is `NeedsAsyncError`,
        where rollmem raises `TypeError`, and an object whose `__call__` is
        async is refused as early.
        """

        async def summarize(ask: Ask) -> str:
            return "S"

        class Summarizer:
            async def __call__(self, ask: Ask) -> str:
                return "S"

        strategy = Summarize(keep_last=1)
        for model in (summarize, Summarizer()):
            with pytest.raises(NeedsAsyncError):
                Memory(strategy=strategy, ask=model)
        memory = Memory(strategy=strategy, ask=lambda ask: summarize(ask))  # noqa: PLW0108
        memory.append(*talk(2))
        before = memory.to_dict()
        with pytest.raises(NeedsAsyncError):
            memory.context()

        assert before == memory.to_dict()

    def test_12_puts_the_summary_first(self):
        """
        The messages are the summary, as a system message, and the buffer; the text is their lines.
        """
        strategy = Summarize(keep_last=2, label="")
        memory = Memory(strategy=strategy, count=tokens.words, ask=replies("A greeting."))
        memory.append(*talk(2))
        seen = memory.context()

        assert (system("A greeting.").text, *talk(1, first=2)) == (
            seen.messages[0].text,
            *seen.messages[1:],
        )
        assert "system: A greeting.\nuser: q2\nassistant: a2" == seen.text()
        assert seen.text() == "\n".join(map(str, seen.messages))

    def test_13_restores_without_trimming_or_asking(self):
        """
        Reading state back neither prunes nor asks; the budget applies at the next retrieval.

        The dict holds the records of the log, so nothing is lost by having been
        summarized; a version that is not ours is `CorruptLogError`.
        """
        memory = Memory()
        memory.append(*talk(3))
        data = memory.to_dict()
        strategy = Summarize(keep_last=2, guard_size=False)
        model = Model("S")
        restored = Memory.from_dict(data, strategy=strategy, ask=model)

        assert ["version", "thread", "records"] == list(data)
        assert texts(talk(3)) == texts(restored.view())
        assert [] == model.asked
        assert "S" in restored.context().text()
        assert 1 == len(model.asked)
        with pytest.raises(CorruptLogError, match="version"):
            Memory.from_dict({"version": 99, "records": []})

    def test_14_shares_state_between_all_strategies(self):
        """
        What one memory saved another one reads; without a strategy it shows a written summary.
        """
        strategy = Summarize(keep_last=2, label="", guard_size=False, replace=True)
        memory = Memory(strategy=strategy, ask=replies("S"))
        memory.append(*talk(3))
        memory.context()
        others = [NoCompaction(), Window(50), TokenBudget(1_000), MaxRounds(9)]

        for other in others:
            restored = Memory.from_dict(memory.to_dict(), strategy=other)
            assert ["S", "q3", "a3"] == texts(restored.context())
            assert "S" == restored.summary()

    def test_15_messages_are_values(self):
        """
        Calls in a list become a tuple; messages are hashable and compare by all their fields.

        Metadata is in the hash here as well, which makes no difference to a set.
        """
        calls = [ToolCall("c1", "f"), ToolCall("c2", "g")]
        plain, noted = assistant(calls=calls), assistant(calls=calls, metadata={"n": 1})

        assert tuple(calls) == plain.tool_calls
        assert {plain, assistant(calls=calls)} == {plain}
        assert plain != noted
        assert noted == assistant(calls=tuple(calls), metadata={"n": 1})

    def test_16_async_appends_during_a_summary_survive(self):
        """
        Messages appended while the summarizer works are kept, and seen by the next retrieval.
        """

        async def main() -> list[str]:
            working, done = asyncio.Event(), asyncio.Event()

            async def summarize(ask: Ask) -> str:
                working.set()
                await done.wait()
                return "S"

            memory = folding(summarize)
            await memory.append(*talk(2))
            retrieval = asyncio.create_task(memory.context())
            await working.wait()
            await memory.append(*talk(1, first=3))
            done.set()
            await retrieval
            return texts((await memory.context(NoCompaction())).messages)

        assert ["S", "q2", "a2", "q3", "a3"] == asyncio.run(main())

    def test_16_async_clear_during_a_summary_discards_it(self):
        """
        What was cleared while the summarizer worked does not come back as a summary.
        """

        async def main() -> tuple[list[str], str]:
            working, done = asyncio.Event(), asyncio.Event()

            async def summarize(ask: Ask) -> str:
                working.set()
                await done.wait()
                return "S"

            memory = folding(summarize)
            await memory.append(*talk(2))
            retrieval = asyncio.create_task(memory.context())
            await working.wait()
            await memory.clear()
            done.set()
            await retrieval
            return texts((await memory.context()).messages), await memory.summary()

        assert ([], "") == asyncio.run(main())

    def test_16_async_retrievals_at_once_fold_a_message_once(self):
        """
        Two tasks that both find it too long lose nothing and show no message in two summaries.
        """

        async def main() -> tuple[list[str], list[str]]:
            async def summarize(ask: Ask) -> str:
                await asyncio.sleep(0)
                return "S"

            memory = folding(summarize)
            await memory.append(*talk(3))
            await asyncio.gather(*(memory.context() for _ in range(4)))
            return texts(await memory.view()), texts(await memory.entries())

        assert (["S", "q3", "a3"], texts(talk(3))) == asyncio.run(main())

    def test_16_async_failure_and_cancellation_change_nothing(self):
        """
        A summarizer that fails, or is cancelled, leaves everything as it was; the next one works.
        """

        async def main() -> list[list[str]]:
            working, never = asyncio.Event(), asyncio.Event()
            turns = iter(["fail", "hang", "answer"])

            async def summarize(ask: Ask) -> str:
                match next(turns):
                    case "fail":
                        raise TimeoutError
                    case "hang":
                        working.set()
                        await never.wait()
                return "S"

            memory = folding(summarize)
            await memory.append(*talk(2))
            seen = [texts((await memory.context()).messages)]
            retrieval = asyncio.create_task(memory.context())
            await working.wait()
            retrieval.cancel()
            with pytest.raises(asyncio.CancelledError):
                await retrieval
            seen.append(texts(await memory.view()))
            seen.append(texts((await memory.context()).messages))
            return seen

        assert [texts(talk(2)), texts(talk(2)), ["S", "q2", "a2"]] == asyncio.run(main())

    def test_16_async_takes_a_plain_function_too(self):
        """
        The summarizer of an async memory may be a plain function.
        """

        async def main() -> list[str]:
            memory = folding(replies("S"))
            await memory.append(*talk(2))
            return texts((await memory.context()).messages)

        assert ["S", "q2", "a2"] == asyncio.run(main())

    def test_17_clear_resets_messages_and_summary(self):
        """
        After `clear` there is no message and no summary in any view. The transcript stays.
        """
        strategy = Summarize(keep_last=2, guard_size=False, replace=True)
        memory = Memory(strategy=strategy, ask=replies("S"))
        memory.append(*talk(2))
        memory.context()
        memory.clear()

        assert ((), "") == (memory.context().messages, memory.summary())
        assert texts(talk(2)) == texts(memory.entries())


def folding(ask: Callable[[Ask], Any]) -> AsyncMemory:
    strategy = Summarize(keep_last=2, label="", guard_size=False, replace=True)
    return AsyncMemory(strategy=strategy, ask=ask)


def chinese_characters(text: str) -> int:
    """
    Molo's counter: one for each Chinese character, a quarter for each other one.
    """
    blocks = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F))
    chinese = sum(any(first <= ord(c) <= last for first, last in blocks) for c in text)
    return chinese + -(-(len(text) - chinese) // 4)


def molo_weight(message: Message) -> int:
    """
    Molo's weight: words, reasoning and the arguments of calls; no names, ids or images.
    """
    words = [message.text, *(t.text for t in message.reasoning)]
    return sum(map(chinese_characters, [*words, *(c.arguments for c in message.tool_calls)]))


class TestMolo:
    def test_its_example_within_budget(self):
        """
        One short message under a budget of 100 is there.
        """
        memory = Memory(strategy=TokenBudget(100, by="rounds"))
        memory.append(user("hello"))

        assert 1 == len(memory.context().messages)

    def test_its_example_over_budget(self):
        """
        Four tokens over a budget of three: the earliest round leaves.
        """
        memory = Memory(
            strategy=TokenBudget(3, by="rounds"), count=tokens.of_text(chinese_characters)
        )
        memory.append(user("u1"), assistant("a1"), user("u2"), assistant("a2"))

        assert (user("u2"), assistant("a2")) == memory.context().messages

    def test_its_example_of_a_strategy_that_summarizes(self):
        """
        A strategy of the user's own replaces all but the newest round, and is written back.
        """

        def summarize(view: View, ctx: TrimContext) -> list[Any]:
            return [system("prior summary"), *view.rounds[-1].items]

        memory = Memory(
            strategy=When(Over(tokens=7), written_back(summarize)),
            count=tokens.of_text(chinese_characters),
        )
        for n in range(1, 5):
            memory.append(user(f"u{n}"))
            memory.append(assistant(f"a{n}"))
        seen = memory.context()

        assert ["prior summary", "u4", "a4"] == texts(seen)
        assert "system" == seen.messages[0].role

    def test_1_counts_chinese_characters(self):
        """
        Its counter as a function of text: a Chinese character is one, four others are one.
        """
        count = tokens.of_text(chinese_characters)
        counted = ["hello", "abcd", "morning", "你好", "你好abcde", "かな", "한글", ""]

        assert [2, 1, 2, 2, 4, 1, 1, 0] == [count(user(text)) for text in counted]

    def test_2_weighs_words_reasoning_and_arguments(self):
        """
        What counts is a counter's choice: its weights leave out names, ids and images.

        `tokens.of_text` has names and ids in, since they are sent too.
        """
        image = Image(url="https://example.org/cat.png")
        thinking = assistant(
            [Reasoning("abcd"), Text("efgh")], calls=[ToolCall("c1", "f", "[1,2]")]
        )
        messages = [system("abcd"), user(["abcd", image, "efgh"]), thinking, result("c1", "abcd")]

        assert [1, 2, 4, 1] == [molo_weight(message) for message in messages]
        assert [1, 2, 5, 2] == [tokens.of_text(chinese_characters)(m) for m in messages]
        assert (
            8
            == Memory.from_dict(remembered(messages).to_dict(), count=molo_weight).context().tokens
        )

    def test_3_rounds_are_what_is_between_user_messages(self):
        """
        A round goes from a user message to the next; a view is over by tokens or by rounds.
        """
        messages = [user("u1"), call("c1"), result("c1"), assistant("a1"), *talk(2, first=2)]
        view = view_of(messages)
        both = MaxRounds(2) | TokenBudget(5, by="rounds", count=one_each)

        assert [4, 2, 2] == [len(r.items) for r in view.rounds]
        assert ["q2", "a2", "q3", "a3"] == texts(run(MaxRounds(2), view))
        assert ["q2", "a2", "q3", "a3"] == texts(run(both, view))
        assert ["q3", "a3"] == texts(
            run(MaxRounds(2) | TokenBudget(3, by="rounds", count=one_each), view)
        )

    def test_4_does_not_call_a_strategy_within_the_budget(self):
        """
        Within the budget the strategy is not called: `When(Over(...), strategy)`.
        """
        called: list[int] = []

        def trim(view: View, ctx: TrimContext) -> tuple[Any, ...]:
            called.append(len(view))
            return view.tail(1)

        guarded = When(Over(tokens=4, rounds=3), trim)

        assert texts(talk(2)) == texts(run(guarded, view_of(talk(2)), counting(one_each)))
        assert [] == called
        assert ["a3"] == texts(run(guarded, view_of(talk(3)), counting(one_each)))[-1:]
        assert [6] == called

    def test_5_keeps_the_newest_round_and_older_ones_that_fit(self):
        """
        The newest round stays, then older ones within the budget, at most so many of them.

        A newest round that does not fit by itself is cut by blocks here and keeps
        its question; a limit of 0 rounds is an error where molo takes it for 1.
        """
        view = view_of([*talk(3), user("q4"), assistant("a4"), assistant("b4"), assistant("c4")])

        def kept(strategy: Any) -> list[str]:
            seen = run(strategy, view, counting(one_each))
            assert not seen.replace
            return texts(seen)

        assert ["q4", "a4", "b4", "c4"] == kept(TokenBudget(4, by="rounds"))
        assert ["q3", "a3", "q4", "a4", "b4", "c4"] == kept(TokenBudget(7, by="rounds"))
        assert ["q3", "a3", "q4", "a4", "b4", "c4"] == kept(
            TokenBudget(100, by="rounds") | MaxRounds(2)
        )
        assert ["q4", "b4", "c4"] == kept(TokenBudget(3, by="rounds"))
        with pytest.raises(ConfigError):
            MaxRounds(0)

    def test_6_system_messages_are_ordinary(self):
        """
        Its system messages are trimmed as any other: `pin_system=False`.
        """
        view = view_of([system("s"), *talk(2)])
        ordinary = TokenBudget(3, by="rounds", count=one_each, pin_system=False)

        assert ["q2", "a2"] == texts(run(ordinary, view))
        assert ["s", "q2", "a2"] == texts(run(TokenBudget(3, by="rounds", count=one_each), view))

    def test_7_a_call_and_its_result_share_a_round(self):
        """
        Whatever the limit, a round is not parted between a call and its result.
        """
        view = view_of([*talk(1), user("q2"), call("c1"), result("c1"), assistant("a2")])

        assert [
            [""] * len(texts(run(strategy, view))) for strategy in (MaxRounds(1), MaxRounds(2))
        ] == [[""] * 4, [""] * 6]

    def test_8_raising_a_limit_brings_messages_back(self):
        """
        Limits may be changed at run time, and what only left a projection is back.

        Here also after a write-back, by reverting it.
        """
        memory = Memory(strategy=MaxRounds(1))
        memory.append(*talk(3))
        shown = [texts(memory.context())]
        for strategy in (MaxRounds(2), MaxRounds(None), TokenBudget(None)):
            memory.strategy = strategy
            shown.append(texts(memory.context()))
        memory.compact(MaxRounds(1))
        shown.append(texts(memory.view()))
        memory.revert(7)
        shown.append(texts(memory.view()))

        everything = texts(talk(3))
        assert [
            ["q3", "a3"],
            ["q2", "a2", "q3", "a3"],
            everything,
            everything,
            ["q3", "a3"],
            everything,
        ] == shown

    def test_9_writes_back_and_goes_on_from_there(self):
        """
        With `replace=True` what a strategy did is kept: it starts from there the next time.
        """
        called: list[list[str]] = []

        @written_back
        def trim(view: View, ctx: TrimContext) -> tuple[Any, ...]:
            called.append(texts(view))
            return view.tail(2)

        memory = Memory(strategy=When(Over(messages=4), trim))
        memory.append(*talk(3))
        memory.context()
        memory.append(*talk(1, first=4))
        memory.context()
        memory.append(*talk(1, first=5))
        memory.context()

        assert [texts(talk(3)), ["q3", "a3", "q4", "a4", "q5", "a5"]] == called
        assert ["q5", "a5"] == texts(memory.view())

    def test_10_protects_a_message_with_its_round(self):
        """
        A protected message is not removed, and its question is there with it.

        Here it is a pin: it covers its block and brings its opener, and it stays
        in its place, where molo puts the whole round first.
        """
        memory = Memory(strategy=MaxRounds(1))
        memory.append(*talk(1))
        memory.append(user("q2"), call("c1"), result("c1"))
        memory.append(assistant("a2"), pin=True)
        memory.append(*talk(1, first=3))

        assert ["q2", "a2", "q3", "a3"] == texts(memory.context())

    def test_11_counts_once_and_again_with_another_counter(self):
        """
        Counts are kept; another counter counts anew; a counter's error propagates.

        It is `CountError` and comes from the retrieval, since appending does not count.
        """
        counted: list[str] = []

        def first(message: Message) -> int:
            counted.append(message.text)
            return 1

        def second(message: Message) -> int:
            counted.append(message.text.upper())
            return 1

        def broken(message: Message) -> int:
            raise RuntimeError

        memory = Memory(strategy=TokenBudget(100), count=first)
        for message in talk(2):
            memory.append(message)
            memory.context()
        memory.context(TokenBudget(100, count=second))
        memory.context(TokenBudget(100, count=second))
        again = Memory.from_dict(memory.to_dict(), strategy=TokenBudget(100), count=broken)
        again.append(user("q3"))

        assert sorted(["q1", "a1", "q2", "a2", "Q1", "A1", "Q2", "A2"]) == sorted(counted)
        with pytest.raises(CountError, match="RuntimeError"):
            again.context()

    def test_12_a_context_is_a_value(self):
        """
        What is handed out cannot be changed, so it needs no copying.
        """
        memory = remembered(talk(2))
        seen = memory.context().messages

        assert isinstance(seen, tuple)
        assert hash(seen) == hash(memory.context().messages)

    def test_12_a_memory_prints_its_strategy(self):
        """
        What a memory does can be read from its repr.
        """
        assert "Memory(thread='default', strategy=Window(40) | TokenBudget(8_000))" == repr(
            Memory(strategy=Window(40) | TokenBudget(8_000))
        )

    def test_13_does_not_stumble_over_a_log_without_a_user(self):
        """
        Without a user message nothing breaks; here it is cut by blocks, the newest stays.
        """
        view = view_of([assistant("a"), assistant("b"), assistant("c")])

        assert ["b", "c"] == texts(run(TokenBudget(2, by="rounds", count=one_each), view))
        assert ["c"] == texts(run(MaxRounds(1), view))
        assert () == run(MaxRounds(1), view_of([])).messages

    def test_14_summarizes_what_does_not_fit_beside_the_reserve(self):
        """
        Rounds within the budget less a reserve are kept, the rest is one summary within it.

        `Summarize(keep_tokens=limit - reserve, max_tokens=reserve)`; what is to be
        folded is shown to the model as JSON lines, which no text can forge.
        """
        strategy = Summarize(
            keep_tokens=4,
            max_tokens=2,
            label="Summary of prior context:",
            prompt="Sum it up.",
            guard_size=False,
            replace=True,
        )
        model = Model("  S1 \n", "S2")
        memory = Memory(strategy=strategy, count=tokens.words, ask=model)
        memory.append(*talk(2))
        within = memory.context()
        memory.append(*talk(2, first=3))
        first = memory.context()
        memory.append(*talk(1, first=5))
        second = memory.context()
        request = model.asked[1].messages

        assert (texts(talk(2)), False) == (texts(within), within.replace)
        assert [("", ["q1", "a1", "q2", "a2"]), ("S1", ["q3", "a3"])] == model.given
        assert ["Summary of prior context:\nS1", *texts(talk(2, first=3))] == texts(first)
        assert ["Summary of prior context:\nS2", *texts(talk(2, first=4))] == texts(second)
        assert (first.replace, second.replace) == (True, True)
        assert ["system", "user"] == [message.role for message in request]
        assert "Sum it up.\nAnswer in at most 2 tokens." == request[0].text
        assert "S1" in request[1].text
        assert '"role": "user", "text": "q3"' in request[1].text
        assert [2, 2] == [ask.max_tokens for ask in model.asked]

    @pytest.mark.parametrize(
        "models",
        [[failing()], [replies("")], [replies("far too long a text")] * 2],
        ids=["error", "", "long"],
    )
    def test_14_falls_back_to_a_window_when_that_fails(self, models):
        """
        A failed or refused summary costs nothing.

        The rest of the chain trims, the log is intact, and the next read asks again. One
        that is too long is asked once to be shortened.
        """
        answer = in_turn(*models, replies("S"))
        strategy = Summarize(
            keep_tokens=2, max_tokens=2, guard_size=False, label="", replace=True
        ) | TokenBudget(3, by="rounds")
        memory = Memory(strategy=strategy, count=tokens.words, ask=answer, retry_after=0)
        memory.append(*talk(3))
        before = memory.to_dict()
        failed = memory.context()

        assert ["q3", "a3"] == texts(failed)
        assert 1 == len(failed.warnings)
        assert before == memory.to_dict()
        assert ["S", "q3", "a3"] == texts(memory.context())


def counting(count: Callable[[Message], int]) -> TrimContext:
    return TrimContext(count=count)


def remembered(messages: list[Message], strategy: Any = NoCompaction()) -> Memory:  # noqa: B008
    memory = Memory(strategy=strategy)
    memory.append(*messages)
    return memory


class TestWindlass:
    def test_its_example_of_a_window(self):
        """
        A window of two of three messages.
        """
        memory = remembered([user("one"), user("two"), user("three")], Window(2))

        assert ["two", "three"] == texts(memory.context())

    def test_its_example_of_threads(self):
        """
        What is added to one thread is not in another.
        """
        memory = Memory(thread="a")
        memory.append(user("hi"))

        assert "hi" == memory.context().messages[0].text
        assert () == memory.thread("b").context().messages

    def test_its_example_of_the_narrowest_window(self):
        """
        A window of one of two messages.
        """
        assert ["b"] == texts(remembered([user("a"), user("b")], Window(1)).context())

    def test_its_example_of_a_summary(self):
        """
        Six messages beyond a window of two: the context opens on the summary.
        """
        strategy = Summarize(keep_last=2, every=2)
        memory = Memory(strategy=strategy, count=tokens.words, ask=replies("User greeted twice."))
        memory.append(*(user(f"msg {i}") for i in range(6)))
        recalled = memory.context().messages

        assert "system" == recalled[0].role
        assert [
            "Summary of the earlier conversation:\nUser greeted twice.",
            "msg 4",
            "msg 5",
        ] == texts(recalled)

    def test_threads_are_isolated_and_sorted(self):
        """
        Threads know nothing of each other; their names come sorted; adding nothing makes none.
        """
        memory = Memory()
        for name in ("b", "a", "c"):
            memory.thread(name).append(user(name))
        memory.thread("d").append()

        assert ("a", "b", "c") == memory.threads()
        assert [["a"], ["b"], ["c"]] == [
            texts(memory.thread(name).context()) for name in memory.threads()
        ]

    def test_clears_one_thread_or_all(self):
        """
        One thread is cleared or, by going through `threads()`, all. A store can also destroy one.
        """
        store = InMemoryStore()
        memory = Memory(store)
        for name in ("a", "b"):
            memory.thread(name).append(user(name))
        memory.thread("a").clear()

        assert ["", "b"] == [memory.thread(name).context().text()[6:] for name in ("a", "b")]
        for name in memory.threads():
            memory.thread(name).clear()
        assert [(), ()] == [memory.thread(name).context().messages for name in ("a", "b")]
        store.delete("a")
        assert ("b",) == memory.threads()

    @pytest.mark.parametrize("place", ["in memory", "sqlite"])
    def test_bounds_what_is_stored(self, place, tmp_path):
        """
        `max_stored` is `retain=N` on the store, off by default, by whole blocks and never pins.
        """
        path = tmp_path / "chat.db"
        store = InMemoryStore(retain=3) if place == "in memory" else SqliteStore(path, retain=3)
        memory = Memory(store)
        memory.append(user("pinned"), pin=True)
        memory.append(user("q"), call("c1"), result("c1", "r"), assistant("a"))
        memory.append(user("q2"))
        left = [entry.message.text for entry in memory.entries()]
        store.close()

        assert ["pinned", "a", "q2"] == left

    def test_hides_system_messages(self):
        """
        System messages are left out unless asked for: `hide_system=True`, after the chain.

        They are in by default here. A summary stays, though it is a system message.
        """
        memory = Memory(strategy=Summarize(keep_last=2, guard_size=False), ask=replies("S"))
        memory.append(system("s"), *talk(2))

        assert ["s", "Summary of the earlier conversation:\nS", "q2", "a2"] == texts(
            memory.context()
        )
        assert ["Summary of the earlier conversation:\nS", "q2", "a2"] == texts(
            memory.context(hide_system=True)
        )
        assert ["q2", "a2"] == texts(memory.context(Window(2), hide_system=True))

    def test_windows_count_messages_and_are_positive(self):
        """
        A window counts messages, system messages aside; zero or less is a `ValueError`.
        """
        view = view_of([system("s"), *talk(3)])

        assert ["s", "q3", "a3"] == texts(run(Window(2), view))
        for last in (0, -3):
            with pytest.raises(ValueError, match="`last` must be an int of 1 or more"):
                Window(last)

    def test_widens_a_window_that_starts_on_a_result(self):
        """
        A window that would start on a result grows back to its call: `straddle="keep"`.

        By default it shrinks. Here it also works where the results are not alone
        between the call and the cut.
        """
        view = view_of(
            [user("q"), call("c1", "c2"), result("c1", "r1"), result("c2", "r2"), assistant("a")]
        )
        wide = Window(2, straddle="keep", opening="anywhere")

        assert ["", "r1", "r2", "a"] == texts(run(wide, view))
        assert ["a"] == texts(run(Window(2, opening="anywhere"), view))
        assert run(wide, view).over is not None

    def test_summarizes_once_enough_waits(self):
        """
        What falls out of the window is folded once so many wait, by one call of limited length.

        Until then it stays verbatim here; windlass shows it nowhere.
        """
        model = Model("S1", "S2")
        strategy = Summarize(keep_last=2, every=4, max_tokens=400, guard_size=False)
        memory = Memory(strategy=strategy, ask=model)
        shown: list[list[str]] = []
        for n in range(1, 7):
            memory.append(*talk(1, first=n))
            shown.append(texts(memory.context()))
        label = "Summary of the earlier conversation:\n"

        assert [
            texts(talk(1)),
            texts(talk(2)),
            [f"{label}S1", *texts(talk(1, first=3))],
            [f"{label}S1", *texts(talk(2, first=3))],
            [f"{label}S2", *texts(talk(1, first=5))],
            [f"{label}S2", *texts(talk(2, first=5))],
        ] == shown
        assert [("", ["q1", "a1", "q2", "a2"]), ("S1", ["q3", "a3", "q4", "a4"])] == model.given
        assert [400, 400] == [ask.max_tokens for ask in model.asked]
        assert "S2" == memory.summary()

    @pytest.mark.parametrize("model", [failing(), replies(" ")], ids=["error", "empty"])
    def test_degrades_to_a_window_when_the_summary_fails(self, model):
        """
        A failed or empty summary never breaks the conversation, and is asked for again.

        `Summarize(...) | Window(...)` shows a plain window then; without the
        second step all messages are shown, since none is lost.
        """
        strategy = Summarize(keep_last=2, label="", guard_size=False)
        memory = Memory(strategy=strategy, ask=in_turn(model, model, replies("S")), retry_after=0)
        memory.append(*talk(3))

        assert texts(talk(3)) == texts(memory.context())
        assert ["q3", "a3"] == texts(memory.context(strategy | Window(2)))
        assert ["S", "q3", "a3"] == texts(memory.context())

    def test_never_leaves_a_result_without_its_call_beside_a_summary(self):
        """
        The part that is kept does not start on a result: pairs are folded or kept whole.
        """
        messages = [
            *talk(1),
            user("q2"),
            call("c1"),
            result("c1", "r"),
            assistant("a2"),
            user("q3"),
        ]
        strategy = Summarize(keep_last=3, label="", guard_size=False)
        seen = run(strategy, view_of(messages), ask=replies("S"))

        assert ["S", "a2", "q3"] == texts(seen)

    def test_needs_a_model(self):
        """
        A memory that summarizes without a model is refused when it is made.
        """
        with pytest.raises(NeedsAnswerError, match="ask="):
            Memory(strategy=Summarize(keep_last=10, every=6))

    def test_clear_forgets_the_summary(self):
        """
        Clearing drops the summary with the messages it covers.
        """
        memory = Memory(strategy=Summarize(keep_last=2, guard_size=False), ask=replies("S"))
        memory.append(*talk(3))
        memory.context()
        memory.clear()
        memory.append(*talk(1, first=4))

        assert ("", ["q4", "a4"]) == (memory.summary(), texts(memory.context()))

    def test_takes_a_limit_for_one_read(self):
        """
        A limit for one read is a strategy for one read; a query changes nothing by recency.
        """
        memory = remembered(talk(3), Window(4))

        assert ["q3", "a3"] == texts(memory.context(Window(2)))
        assert texts(talk(3)) == texts(memory.context(Window(None)))
        assert texts(talk(2, first=2)) == texts(memory.context(query="q1"))

    def test_sessions_may_share_a_memory(self):
        """
        Threads of execution that append and read at once lose nothing and double nothing.
        """
        memory = Memory(strategy=Window(3, down_to=1))
        said = [[user(f"{worker} {n}") for n in range(25)] for worker in range(4)]

        def work(messages: list[Message]) -> None:
            for message in messages:
                memory.append(message)
                assert memory.context().messages

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, said))
        stored = [entry.message for entry in memory.entries()]

        assert said == [[m for m in stored if m in messages] for messages in said]
        assert 100 == len(stored)

    def test_names_its_strategies(self):
        """
        Strategies are built by name from plain data, as from its registry.
        """
        named = [
            ({"use": "NoCompaction"}, NoCompaction()),
            ({"use": "Window", "last": 20}, Window(20)),
            (
                {"use": "Summarize", "keep_last": 10, "every": 6, "max_tokens": 400},
                Summarize(keep_last=10, every=6, max_tokens=400),
            ),
        ]

        assert [made for _, made in named] == [declared.from_data(data) for data, _ in named]
        assert [data for data, _ in named] == [declared.to_data(made) for _, made in named]

    def test_has_the_same_methods_awaited(self):
        """
        Every method has its awaited twin, on `AsyncMemory`.
        """

        async def main() -> tuple[list[str], tuple[str, ...], list[str]]:
            memory = AsyncMemory(thread="a", strategy=Window(1))
            await memory.append(user("one"), user("two"))
            await memory.thread("b").append(user("three"))
            shown, threads = texts((await memory.context()).messages), await memory.threads()
            await memory.clear()
            return shown, threads, texts((await memory.context()).messages)

        assert (["two"], ("a", "b"), []) == asyncio.run(main())


class TestTechrevati:
    def test_its_example_of_a_loan_assistant(self):
        """
        A system message, a question, a call with what the memory holds, its reply.
        """
        sent: list[list[dict[str, str]]] = []

        def call_model(messages: tuple[Message, ...]) -> str:
            sent.append([{"role": m.role, "content": m.text} for m in messages])
            return "It depends."

        memory = Memory(strategy=TokenBudget(8_000))
        memory.append(system("You are a loan assistant."))
        memory.append(user("What is the rate?"))
        reply = call_model(memory.context().messages)
        memory.append(assistant(reply))

        assert [
            [
                {"role": "system", "content": "You are a loan assistant."},
                {"role": "user", "content": "What is the rate?"},
            ]
        ] == sent
        assert "It depends." == memory.context().messages[-1].text

    @pytest.mark.parametrize("role", ["", "  "])
    def test_refuses_a_blank_role(self, role):
        """
        A blank role is a `ValueError`.
        """
        with pytest.raises(ValueError, match="role"):
            Message(role, "hi")

    @pytest.mark.parametrize("content", [None, 3, b"hi", {"text": "hi"}])
    def test_refuses_content_that_is_no_text(self, content):
        """
        Content that is neither text nor parts is refused, as `ConfigError` and not `TypeError`.
        """
        with pytest.raises(ConfigError):
            user(content)

    @pytest.mark.parametrize("message", ["hi", {"role": "user", "content": "hi"}, None])
    def test_refuses_to_append_what_is_no_message(self, message):
        """
        Only messages are appended; it is `ConfigError`, which says how one is made.
        """
        with pytest.raises(ConfigError, match="build one with user"):
            Memory().append(message)

    @pytest.mark.parametrize("limit", [0, -1])
    def test_limits_are_positive(self, limit):
        """
        A limit of zero or less is a `ValueError`.
        """
        for strategy in (Window, TokenBudget, MaxRounds):
            with pytest.raises(ValueError, match="must be an int of 1 or more"):
                strategy(limit)

    def test_messages_go_to_dicts_and_back(self):
        """
        Messages with metadata go through plain data, with the log that holds them.
        """
        memory = remembered([user("hi", metadata={"at": 1.5}), assistant("hello")])
        data = json.loads(json.dumps(memory.to_dict()))

        assert [e.message for e in memory.entries()] == [
            e.message for e in Memory.from_dict(data).entries()
        ]

    def test_compacts_after_each_append(self):
        """
        Who wants it compacted after each append says so; nothing is destroyed by it.
        """
        memory = Memory(strategy=Window(2))
        for message in talk(3):
            memory.append(message)
            memory.compact()

        assert ["q3", "a3"] == texts(memory.view())
        assert texts(talk(3)) == texts(memory.entries())

    def test_keeps_everything_without_a_strategy(self):
        """
        `NoCompaction` is the default and keeps every message.
        """
        memory = remembered(talk(20))

        assert chain(NoCompaction()) == memory.strategy
        assert texts(talk(20)) == texts(memory.context())

    def test_a_window_keeps_system_messages_first(self):
        """
        A window keeps system messages and fills the rest with the newest, in their order.

        Its limit has the system messages in it: `count_pins=True`. They keep
        their places here, and the newest message stays even when they fill the limit.
        """
        view = view_of([system("s"), *talk(2), system("t"), user("q3")])
        strict = Window(3, count_pins=True, opening="anywhere")

        assert ["s", "t", "q3"] == texts(run(strict, view))
        assert ["s", "a2", "t", "q3"] == texts(
            run(Window(4, count_pins=True, opening="anywhere"), view)
        )
        assert ["s", "q2", "a2", "t", "q3"] == texts(run(Window(3), view))
        assert ["s", "t", "q3"] == texts(run(Window(1, count_pins=True, opening="anywhere"), view))

    def test_a_window_may_let_go_of_system_messages(self):
        """
        `keep_system=False` is `pin_system=False`.
        """
        view = view_of([system("s"), *talk(2)])

        assert ["q2", "a2"] == texts(run(Window(2, pin_system=False), view))

    def test_a_budget_keeps_system_messages_even_over_it(self):
        """
        System messages stay though they alone are over the budget.

        There nothing else is left then; here the newest question is, and `over` says by how much.
        """
        view = view_of([system("s s s s"), *talk(2)])
        seen = run(TokenBudget(2, count=tokens.words, opening="anywhere"), view)

        assert ["s s s s", "a2"] == texts(seen)
        assert seen.over is not None
        assert (2, 5) == (seen.over.limit, seen.over.needed)

    def test_a_budget_stops_at_the_first_that_does_not_fit(self):
        """
        The newest are kept while they fit; an older, shorter one is not taken over a gap.
        """
        view = view_of([user("a"), user("b b b b"), user("c"), user("d")])

        assert ["c", "d"] == texts(run(TokenBudget(4, count=tokens.words), view))

    def test_the_newest_message_is_never_lost(self):
        """
        A newest message over the budget empties its memory; here it stays, and `over` says so.
        """
        seen = run(TokenBudget(2, count=tokens.words), view_of([user("a"), user("b b b b")]))

        assert ["b b b b"] == texts(seen)
        assert seen.over is not None
        assert 2 == seen.over.by

    def test_estimates_a_quarter_of_the_characters(self):
        """
        Its default estimate is `tokens.quarter`.
        """
        assert [1, 1, 1, 2, 2] == [tokens.quarter(user("x" * n)) for n in (0, 1, 4, 5, 8)]

    def test_strategies_are_pure(self):
        """
        A strategy changes nothing it was given, and gives the same again.
        """
        view = view_of(talk(3))
        before = tuple(view)

        for strategy in (NoCompaction(), Window(2), TokenBudget(2, count=tokens.words)):
            assert run(strategy, view) == run(strategy, view)
            assert before == tuple(view)

    def test_takes_a_strategy_of_ones_own(self):
        """
        Anything called with a view and a context may be one: there is no class to inherit.
        """

        class EveryOther:
            def __call__(self, view: View, ctx: TrimContext) -> list[Any]:
                return list(view)[::2]

        memory = remembered([user(name) for name in "abcde"], EveryOther())

        assert ["a", "c", "e"] == texts(memory.context())

    def test_starts_from_messages_and_knows_its_length(self):
        """
        A memory starts from messages by appending them, and tells how many there are.
        """
        memory = Memory(strategy=Window(2, replace=True))
        memory.append(*talk(3))
        memory.context()

        assert (2, 6) == (len(memory.view()), len(memory.entries()))


class TestLangchain:
    def test_its_trace_of_a_summary_buffer(self):
        """
        Over the limit the oldest are popped and folded by one call; the summary opens the context.

        Three turns under a limit of three, a token a message: two calls, and the
        same text. The summary is beside the limit, as it is there.
        """
        model = Model("S1", "S2")
        strategy = Summarize(keep_tokens=3, label="", guard_size=False)
        memory = Memory(strategy=strategy, count=one_each, ask=model)
        shown: list[str] = []
        for n in range(3):
            memory.append(*talk(1, first=n))
            shown.append(memory.context().text(HUMAN))

        assert [
            "Human: q0\nAI: a0",
            "System: S1\nAI: a0\nHuman: q1\nAI: a1",
            "System: S2\nAI: a1\nHuman: q2\nAI: a2",
        ] == shown
        assert [("", ["q0"]), ("S1", ["a0", "q1"])] == model.given

    def test_saves_a_turn_as_two_messages(self):
        """
        `save_context` is an append of a question and an answer; tool calls are kept as well.
        """
        memory = Memory()
        memory.append(user("q0"), assistant("a0"))

        assert (user("q0"), assistant("a0")) == memory.context().messages
        memory.clear()
        assert () == memory.context().messages

    def test_1_a_buffer_is_text_or_messages(self):
        """
        A buffer gives all of it, as text with its own names for the roles, or as messages.

        The messages are a value there is nothing to change in; langchain hands out its own list.
        """
        memory = Memory()
        empty = memory.context()
        memory.append(*talk(2))
        seen = memory.context()

        assert ("", ()) == (empty.text(HUMAN), empty.messages)
        assert "Human: q1\nAI: a1\nHuman: q2\nAI: a2" == seen.text(HUMAN)
        assert seen.text({"user": "Client", "assistant": "Bot"}).startswith("Client: q1\nBot: a1\n")
        assert isinstance(seen.messages, tuple)

    def test_1_a_buffer_names_the_other_roles_too(self):
        """
        System and tool messages have their names in the text; calls stand behind the words.
        """
        memory = remembered([system("s"), user("q"), call("c1", text="t"), result("c1", "r")])

        assert (
            "System: s\nHuman: q\nAI: t [tool calls: look({})]\nTool: r"
        ) == memory.context().text(HUMAN)

    def test_2_a_string_buffer_is_the_text(self):
        """
        A string buffer is the same text, here without the line break it starts with.
        """
        assert "Human: q1\nAI: a1" == remembered(talk(1)).context().text(HUMAN)

    def test_3_a_window_keeps_turns_and_stores_everything(self):
        """
        The last k turns are shown, everything is stored: `MaxRounds(k)`.

        A turn with tool calls is whole here, where langchain's is cut by
        messages; k of zero or less is a `ValueError` and not an empty context.
        """
        memory = remembered(talk(3), MaxRounds(1))
        loop = [system("s"), user("q"), call("c1"), result("c1", "r"), assistant("a")]

        assert "Human: q3\nAI: a3" == memory.context().text(HUMAN)
        assert 6 == len(memory.entries())
        assert texts(loop) == texts(run(MaxRounds(1), view_of(loop)))
        with pytest.raises(ValueError, match="1 or more"):
            MaxRounds(0)

    def test_4_a_token_buffer_keeps_the_newest_within_the_limit(self):
        """
        The oldest messages leave until the rest fits: `TokenBudget(n, opening="anywhere")`.

        By default the context opens on a question instead. Nothing is destroyed.
        """
        memory = Memory(strategy=TokenBudget(3, opening="anywhere"), count=one_each)
        memory.append(*talk(3))

        assert "AI: a2\nHuman: q3\nAI: a3" == memory.context().text(HUMAN)
        assert "Human: q3\nAI: a3" == memory.context(TokenBudget(3)).text(HUMAN)
        assert 6 == len(memory.entries())

    def test_4_a_token_buffer_is_never_emptied(self):
        """
        A newest turn over the limit stays, with `over`; an empty log under any counter is empty.
        """
        memory = Memory(strategy=TokenBudget(2), count=tokens.words)
        empty = memory.context()
        memory.append(user("a b c"), assistant("d e f"))
        seen = memory.context()

        assert () == empty.messages
        assert ["a b c", "d e f"] == texts(seen)
        assert seen.over is not None

    def test_4_a_token_buffer_trims_awaited_and_stored_alike(self, tmp_path):
        """
        Sync and async, in memory and in a file, the same messages are shown.
        """

        async def awaited() -> list[str]:
            memory = AsyncMemory(strategy=TokenBudget(3), count=one_each)
            await memory.append(*talk(3))
            return texts((await memory.context()).messages)

        with Memory.open(tmp_path / "chat.db", strategy=TokenBudget(3), count=one_each) as memory:
            memory.append(*talk(3))

            assert ["q3", "a3"] == texts(memory.context()) == asyncio.run(awaited())

    def test_5_a_summary_memory_folds_each_turn_into_the_summary(self):
        """
        Every turn, one call merges what came before into the summary.

        The newest round stays verbatim here: `Summarize(keep_rounds=1)`. The
        full log is kept too.
        """
        model = Model("S1", "S2")
        strategy = Summarize(keep_rounds=1, label="", guard_size=False)
        memory = Memory(strategy=strategy, ask=model)
        summaries: list[str] = []
        for n in range(3):
            memory.append(*talk(1, first=n))
            memory.context()
            summaries.append(memory.summary())

        assert ["", "S1", "S2"] == summaries
        assert [("", ["q0", "a0"]), ("S1", ["q1", "a1"])] == model.given
        assert 6 == len(memory.entries())

    def test_5_a_summary_memory_starts_from_messages(self):
        """
        A history that is there already is summarized at the first retrieval, in one call.

        There it is one call for each two messages.
        """
        model = Model("S")
        memory = Memory(strategy=Summarize(keep_rounds=1, guard_size=False), ask=model)
        memory.append(*talk(5))
        memory.context()

        assert [("", texts(talk(4)))] == model.given
        assert "S" == memory.summary()

    def test_5_a_failed_turn_is_summarized_later(self):
        """
        When the model fails the turn is not forgotten: the next call covers it too.
        """
        model = Model("S")
        strategy = Summarize(keep_rounds=1, guard_size=False)
        memory = Memory(strategy=strategy, ask=in_turn(failing(), model))
        memory.append(*talk(2))
        memory.context()
        memory.append(*talk(1, first=3))
        memory.context()

        assert [("", texts(talk(2)))] == model.given

    def test_5_clear_forgets_the_summary_awaited_too(self):
        """
        Clearing forgets the summary, sync and async; the async memory summarizes as the sync one.
        """

        async def main() -> tuple[str, str]:
            strategy = Summarize(keep_rounds=1, guard_size=False)
            memory = AsyncMemory(strategy=strategy, ask=replies("S"))
            await memory.append(*talk(2))
            await memory.context()
            before = await memory.summary()
            await memory.clear()
            return before, await memory.summary()

        assert ("S", "") == asyncio.run(main())

    def test_5_its_prompt_is_the_callers(self):
        """
        The prompt may be any text, braces included; the old summary and the new lines go with it.
        """
        strategy = Summarize(keep_rounds=1, prompt="Merge {these}:", guard_size=False)
        model = Model("S1", "S2")
        memory = Memory(strategy=strategy, ask=model)
        for n in range(3):
            memory.append(*talk(1, first=n))
            memory.context()
        instruction, request = model.asked[1].messages

        assert "Merge {these}:" == instruction.text
        assert ("S1" in request.text, "q1" in request.text) == (True, True)

    def test_6_a_summary_buffer_loses_nothing_when_the_model_fails(self):
        """
        A failing model loses no turn: the state stays over the limit, and it is logged.

        That is what the page promises; the code there has popped the turns already.
        """
        strategy = Summarize(keep_tokens=3, label="", guard_size=False)
        memory = Memory(strategy=strategy, count=one_each, ask=failing())
        memory.append(*talk(2))
        seen = memory.context()

        assert texts(talk(2)) == texts(seen)
        assert 1 == len(seen.warnings)

    def test_6_a_summary_is_beside_the_limit_unless_a_budget_covers_it(self):
        """
        The summary does not count against what is kept; a `TokenBudget` behind it counts both.
        """
        long = " ".join(["word"] * 50)
        strategy = Summarize(keep_tokens=3, label="", guard_size=False)
        memory = Memory(strategy=strategy, count=tokens.words, ask=replies(long))
        memory.append(*talk(3))

        assert 53 == memory.context().tokens
        assert 2 == memory.context(strategy | TokenBudget(3)).tokens

    def test_6_a_stored_summary_buffer_does_not_start_over(self, tmp_path):
        """
        With a history in a file each message is summarized once, also across restarts.
        """
        model = Model("S1", "S2", "S3")
        strategy = Summarize(keep_last=2, label="", guard_size=False)
        for n in range(4):
            with Memory.open(tmp_path / "chat.db", strategy=strategy, ask=model) as memory:
                memory.append(*talk(1, first=n))
                shown = texts(memory.context())

        assert ["S3", "q3", "a3"] == shown
        assert [("", ["q0", "a0"]), ("S1", ["q1", "a1"]), ("S2", ["q2", "a2"])] == model.given
