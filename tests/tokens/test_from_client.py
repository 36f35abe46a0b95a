"""
Counting with a provider's endpoint: the real clients against a server on this machine.

The server speaks the APIs' counting endpoints and refuses what they refuse. It
counts a word as a token, and adds for each turn, call and result, and once a request.
"""

import asyncio
import json
import logging
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from types import SimpleNamespace

import pytest

from unabridged import (
    AsyncMemory,
    Memory,
    NoCompaction,
    Summarize,
    TokenBudget,
    TrimContext,
    When,
    Window,
    assistant,
    run,
    system,
    tokens,
    tool,
    user,
)
from unabridged.errors import ConfigError, NeedsAsyncError
from unabridged.messages import Image, ToolCall
from unabridged.strategies.guards import Over
from unabridged.testing import view_of
from unabridged.tokens import Kept, kept

MODEL = "a-model"
ONCE, TURN, CALL, RESULT = 7, 3, 11, 5


def words(value):
    """
    The words of all texts in a request's part.
    """
    match value:
        case str():
            return len(value.split())
        case dict():
            return sum(words(inner) for key, inner in value.items() if key not in {"type", "id"})
        case list():
            return sum(map(words, value))
        case _:
            return 0


class Server(ThreadingHTTPServer):
    """
    What was asked, and what to do before an answer, or instead of one.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []
        self.instead = lambda number: None
        self.before = lambda number: None
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        """
        A client that hung up is no news.
        """


class Handler(BaseHTTPRequestHandler):
    """
    The counting endpoints of both APIs.
    """

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in one piece, or the client waits for the second

    def do_POST(self):
        """
        Count, or do what the test wants instead.
        """
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        number = len(self.server.asked)
        self.server.before(number)
        status, answer = self.server.instead(number) or self.answer(body)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def answer(self, body):
        """
        The count, or a refusal.
        """
        if self.path.startswith("/v1/messages/count_tokens"):
            wrong = refusal_of(body["messages"], body.get("tools"))
            if wrong:
                return 400, {"type": "error", "error": {"type": "x", "message": wrong}}
            return 200, {"input_tokens": claude(body)}
        assert self.path.endswith(f"/models/{MODEL}:countTokens")
        return 200, {"totalTokens": gemini(body)}

    def log_message(self, *_):
        """
        Nothing.
        """


def refusal_of(turns, definitions):
    """
    What Anthropic's API refuses in these turns.
    """
    if not turns or turns[0]["role"] != "user":
        return "the first message must be the user's"
    previous = set()
    for turn in turns:
        content = turn["content"] if isinstance(turn["content"], list) else []
        results = {each["tool_use_id"] for each in content if each["type"] == "tool_result"}
        if results != previous:
            return "results without calls, or the reverse"
        previous = {each["id"] for each in content if each["type"] == "tool_use"}
        if previous and not definitions:
            return "calls must come with tools"
    if any(a["role"] == b["role"] for a, b in pairwise(turns)):
        return "roles must alternate"

    return "results are missing" if previous else ""


def claude(body):
    """
    What the server counts for a request to Claude.
    """
    total = ONCE + words(body.get("system", "")) + 350 * bool(body.get("tools"))
    for turn in body["messages"]:
        total += TURN
        blocks = turn["content"]
        for block in [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks:
            match block["type"]:
                case "tool_use":
                    total += CALL + words(block["name"]) + words(block["input"])
                case "tool_result":
                    total += RESULT + words(block["content"])
                case "image":
                    total += 1_000
                case _:
                    total += words(block["text"])

    return total


def gemini(body):
    """
    What the server counts for a request to Gemini.
    """
    total = ONCE
    for turn in body["contents"]:
        total += TURN
        for part in turn["parts"]:
            match part:
                case {"functionCall": call}:
                    total += CALL + words(call["name"]) + words(call["args"])
                case {"functionResponse": response}:
                    total += RESULT + words(response["response"])
                case {"text": text}:
                    total += words(text)

    return total


@pytest.fixture
def server():
    """
    A server on this machine, for one test.
    """
    served = Server()
    thread = threading.Thread(target=served.serve_forever, args=(0.01,))
    thread.start()
    yield served
    served.shutdown()
    thread.join()
    served.server_close()


@pytest.fixture
def anthropic():
    """
    The client's package.
    """
    return pytest.importorskip("anthropic", reason="the extra `clients` is not installed")


@pytest.fixture
def claude_client(server, anthropic):
    """
    A sync client of the server.
    """
    with anthropic.Anthropic(
        api_key="none", base_url=server.url, max_retries=0, timeout=10
    ) as client:
        yield client


def async_claude(server, anthropic):
    """
    An async client of the server.
    """
    return anthropic.AsyncAnthropic(api_key="none", base_url=server.url, max_retries=0, timeout=10)


@pytest.fixture
def gemini_client(server):
    """
    A client of the server, whose `aio` is the async one.
    """
    genai = pytest.importorskip("google.genai", reason="the extra `clients` is not installed")
    client = genai.Client(
        api_key="none", vertexai=False, http_options={"base_url": server.url, "timeout": 10_000}
    )
    yield client
    client.close()


TALK = (
    system("You are terse and you are kind."),
    user("What is the weather in Lima and in Quito?"),
    assistant(
        "I will look at both.",
        calls=[ToolCall("c1", "weather", {"city": "Lima now"}), ToolCall("c2", "weather", {})],
    ),
    tool("mild with some fog", call_id="c1"),
    tool("cool", call_id="c2"),
    assistant("Mild there, cool here."),
    user("And the time?"),
    assistant(calls=[ToolCall("c3", "now", {"zone": "UTC minus five"})]),
    tool("half past nine", call_id="c3"),
    assistant("Half past nine."),
)


class TestCounts:
    def test_they_add_up_to_the_whole_conversation(self, server, claude_client):
        """
        The counts of messages and what a request costs once are what the endpoint counts for all.

        Two results in a row are one turn to the API, so a turn more is counted for them.
        """
        memory = Memory(count=tokens.from_client(claude_client, MODEL))
        memory.append(*TALK)
        counted = memory.context().tokens
        whole = claude_client.messages.count_tokens(
            model=MODEL, **_request(TALK), tools=[{"name": "f", "input_schema": {}}]
        ).input_tokens

        assert ONCE + 350 == whole + TURN - counted

    def test_gemini_counts_too(self, server, gemini_client):
        """
        As Anthropic's; an instruction, which its endpoint does not take, is counted as a turn.
        """
        memory = Memory(count=tokens.from_client(gemini_client, MODEL))
        memory.append(*TALK[1:])
        counted = memory.context().tokens
        whole = sum(TURN + words_of(message) for message in TALK[1:])

        assert whole == counted

        memory.append(TALK[0])

        assert counted + TURN + 7 == memory.context().tokens

    def test_each_message_is_asked_for_once(self, server, claude_client):
        """
        Whatever number of contexts, memories and strategies; the frames are asked for once, too.
        """
        count = tokens.from_client(claude_client, MODEL)
        memory = Memory(count=count, strategy=TokenBudget(60))
        for message in TALK:
            memory.append(message)
            memory.context()
        frames = ("one turn", "three turns", "one with tools", "a call", "two calls")

        assert len(TALK) + len(frames) == len(server.asked)
        assert {1} == set(Counter(json.dumps(body) for body in server.asked).values())

        other = Memory(count=tokens.from_client(claude_client, MODEL))
        other.append(*TALK)
        other.context(Window(3))

        assert len(TALK) + len(frames) == len(server.asked)

    def test_a_long_thread_is_counted_as_far_as_it_is_read(self, server, claude_client):
        """
        Opening a long thread counts what is loaded, not the history.
        """
        store = Memory().store
        Memory(store).append(*(user(f"number {n}") for n in range(1_000)))
        memory = Memory(store, count=tokens.from_client(claude_client, MODEL))

        assert 20 == len(memory.context(Window(20)).messages)
        assert len(server.asked) < 100

        result = memory.context(TokenBudget(100 * (TURN + 2)))

        assert 100 == len(result.messages)
        assert 100 * (TURN + 2) == result.tokens
        assert len(server.asked) < 200

    def test_a_strategy_sees_exact_counts(self, server, claude_client):
        """
        What a step is given is what the endpoint said, for the prompt beside the log, too.
        """
        seen = []

        def look(view, ctx):
            seen.extend(ctx.count(item.message) for item in view)
            return view

        memory = Memory(count=tokens.from_client(claude_client, MODEL), strategy=look)
        memory.append(user("one two three"), assistant("four five"))
        result = memory.context(system="be brief now")

        assert [3, TURN + 3, TURN + 2] == seen
        assert sum(seen) == result.tokens

    def test_a_strategys_own_counter_is_asked_too(self, server, claude_client):
        """
        Also that of a step within a step.
        """
        own = tokens.from_client(claude_client, MODEL)
        memory = Memory(
            count=tokens.words, strategy=When(Over(tokens=1), TokenBudget(9, count=own))
        )
        memory.append(user("one two three"), assistant("four five"), user("six"))

        assert "user: six" == memory.context().text().splitlines()[-1]
        assert kept(own).knows(user("one two three"))

    def test_an_image_is_sent_and_counted(self, server, claude_client):
        """
        By the endpoint, not by a formula.
        """
        memory = Memory(count=tokens.from_client(claude_client, MODEL))
        memory.append(user([Image(data="iVBORw0KGgo=", media_type="image/png"), "what is it"]))

        assert TURN + 1_003 == memory.context().tokens

    def test_a_made_message_counts_roughly_until_the_next_context(self, server, claude_client):
        """
        A summary is counted before the run after the one that made it, and then once.
        """
        memory = Memory(
            count=tokens.from_client(claude_client, MODEL),
            strategy=Summarize(1),
            ask=lambda ask: "they spoke",
        )
        memory.append(user("one " * 40), assistant("two " * 40), user("three"))
        first = memory.context()
        summary = first.messages[0]
        before = len(server.asked)

        assert tokens.rough(summary) == kept(memory_count(memory))(summary)

        memory.context()

        assert before + 1 == len(server.asked)
        assert kept(memory_count(memory)).knows(summary)

        memory.context()

        assert before + 1 == len(server.asked)


class TestFailures:
    @pytest.mark.parametrize(
        ("status", "answer", "said"),
        [
            (500, {"error": {"message": "overloaded"}}, "InternalServerError"),
            (429, {"error": {"message": "slow down"}}, "RateLimitError"),
            (401, {"error": {"message": "who are you"}}, "AuthenticationError"),
            (200, {"input_tokens": "many"}, "no number of tokens"),
            (200, {"input_tokens": -3}, "no number of tokens"),
            (200, {"input_tokens": 12.5}, "no number of tokens"),
            (200, {"tokens": 12}, "no number of tokens"),
            (200, b"[", "JSON"),
        ],
    )
    def test_the_rough_count_stands_in(  # noqa: PLR0913  the cases' columns
        self, server, claude_client, caplog, status, answer, said
    ):
        """
        One question is asked, not one a message; the result and the log say so; then asked again.
        """
        server.instead = lambda number: (status, answer)
        memory = Memory(count=tokens.from_client(claude_client, MODEL))
        memory.append(*TALK)
        with caplog.at_level(logging.WARNING, "unabridged"):
            result = memory.context()

        assert 1 == len(server.asked)
        assert sum(map(tokens.rough, TALK)) == result.tokens
        (warning,) = result.warnings
        assert "count from_client(Anthropic, 'a-model'): 10 messages count roughly" in warning
        assert said in warning
        assert "warning: count from_client" in result.explain()
        assert warning in caplog.text

        server.instead = lambda number: None
        again = memory.context()

        assert () == again.warnings
        assert sum(map(tokens.rough, TALK)) != again.tokens

    def test_a_time_out_ends_the_asking(self, server, anthropic):
        """
        A server that does not answer is waited for once.
        """
        release = threading.Event()
        server.before = lambda number: release.wait(30)
        client = anthropic.Anthropic(
            api_key="none", base_url=server.url, max_retries=0, timeout=0.1
        )
        memory = Memory(count=tokens.from_client(client, MODEL))
        memory.append(*TALK)
        result = memory.context()
        release.set()
        client.close()

        assert "APITimeoutError" in result.warnings[0]
        assert 1 == len(server.asked)

    def test_a_message_that_is_refused_does_not_stop_the_others(self, server, claude_client):
        """
        What the API says of one message (400) is no reason to ask for no other.
        """
        server.instead = lambda number: (
            (400, {"error": {"message": "no"}}) if "bad" in json.dumps(server.asked[-1]) else None
        )
        memory = Memory(count=tokens.from_client(claude_client, MODEL))
        memory.append(user("one two"), user("bad"), user("three"))
        result = memory.context()

        assert "1 message counts roughly" in result.warnings[0]
        assert TURN + 2 + TURN + 1 + tokens.rough(user("bad")) == result.tokens

    def test_what_was_counted_before_a_failure_is_kept(self, server, claude_client):
        """
        The next context asks for the rest alone.
        """
        server.instead = lambda number: None if number <= 4 else (500, {})
        memory = Memory(count=tokens.from_client(claude_client, MODEL))
        memory.append(user("one"), user("two"), user("three"), user("four"))

        assert "2 messages count roughly" in memory.context().warnings[0]
        assert 5 == len(server.asked)

        server.instead = lambda number: None

        assert () == memory.context().warnings
        assert 7 == len(server.asked)

    @pytest.mark.parametrize("answers", [[5, 5], [0], [9, 3]])
    def test_counts_that_cannot_be_are_refused(self, server, claude_client, answers):
        """
        An endpoint that counts the same for anything would make every message free.
        """
        server.instead = lambda number: (200, {"input_tokens": answers[number - 1]})
        memory = Memory(count=tokens.from_client(claude_client, MODEL))
        memory.append(user("one two"))
        result = memory.context()

        assert tokens.rough(user("one two")) == result.tokens
        assert "1 message counts roughly" in result.warnings[0]

    def test_a_count_below_the_smallest_request_is_refused(self, server, claude_client):
        """
        It ends the asking: whoever counts so counts nothing right.
        """
        answers = [11, 19, 2]
        server.instead = lambda number: (200, {"input_tokens": answers[number - 1]})
        memory = Memory(count=tokens.from_client(claude_client, MODEL))
        memory.append(user("one two"), user("three"))

        assert "counted 2 for a message and 11 for a single point" in memory.context().warnings[0]

    def test_gemini_fails_alike(self, server, gemini_client):
        """
        Its client's errors are met as Anthropic's are.
        """
        server.instead = lambda number: (503, {"error": {"code": 503, "message": "busy"}})
        memory = Memory(count=tokens.from_client(gemini_client, MODEL))
        memory.append(*TALK)

        assert "10 messages count roughly" in memory.context().warnings[0]
        assert "503" in memory.context().warnings[0]


class TestInAMemory:
    def test_an_async_client_is_refused_when_the_memory_is_made(self, server, anthropic):
        """
        Not at the first context; the line says what to do, for a step's counter as well.
        """
        client = async_claude(server, anthropic)
        count = tokens.from_client(client, MODEL)
        with pytest.raises(NeedsAsyncError, match="use AsyncMemory, or give from_client a sync"):
            Memory(count=count)
        with pytest.raises(NeedsAsyncError, match="from_client\\(AsyncAnthropic, 'a-model'\\)"):
            Memory(strategy=TokenBudget(10, count=count))
        memory = Memory()
        with pytest.raises(NeedsAsyncError):
            memory.context(TokenBudget(10, count=count))
        with pytest.raises(NeedsAsyncError):
            memory.strategy = TokenBudget(10, count=count)

        assert Memory().strategy == memory.strategy

    def test_the_lock_is_free_while_the_endpoint_answers(self, server, claude_client):
        """
        Who appends meanwhile is not held up, and what came counts and is in the context.
        """
        memory = Memory(count=tokens.from_client(claude_client, MODEL))
        memory.append(user("one two"))
        server.before = lambda number: number == 2 and memory.append(user("three"))
        result = memory.context()

        assert ["one two", "three"] == [message.text for message in result.messages]
        assert TURN + 2 + TURN + 1 == result.tokens

    def test_two_at_once_ask_once(self, server, claude_client):
        """
        The second context waits for the first one's answers and finds them kept.
        """
        memory = Memory(count=tokens.from_client(claude_client, MODEL))
        memory.append(*TALK)
        results = []
        second = threading.Thread(target=lambda: results.append(memory.context()))
        server.before = lambda number: number == 1 and second.start()
        results.append(memory.context())
        second.join()

        assert results[0].tokens == results[1].tokens
        assert {1} == set(Counter(json.dumps(body) for body in server.asked).values())

    def test_a_cleared_thread_is_not_shown(self, server, claude_client):
        """
        What was taken out while the endpoint answered is not in the context.
        """
        memory = Memory(count=tokens.from_client(claude_client, MODEL))
        memory.append(user("one two"))
        server.before = lambda number: number == 1 and memory.clear()

        assert () == memory.context().messages

    def test_another_thread_of_the_memory_counts_alike(self, server, claude_client):
        """
        `thread()` hands the counter on.
        """
        memory = Memory(count=tokens.calibrated(tokens.from_client(claude_client, MODEL)))
        other = memory.thread("other")
        other.append(user("one two"))

        assert TURN + 2 == other.context().tokens


class Asking:
    """
    A client that does something first: it counts a word as a token, and 7 beside.
    """

    def __init__(self, first):
        self.messages = self
        self.first = first
        self.calls = 0

    def count_tokens(self, **request):
        """
        As the API's.
        """
        self.calls += 1
        self.first()
        return SimpleNamespace(input_tokens=7 + words(request["messages"]))


class Awaiting(Asking):
    """
    The same, to be awaited.
    """

    async def count_tokens(self, **request):
        """
        As the API's.
        """
        self.calls += 1
        await self.first()
        return SimpleNamespace(input_tokens=7 + words(request["messages"]))


class TestCallingBack:
    def test_a_context_of_the_memory_that_asks_is_refused(self):
        """
        Waiting for itself would have no end; the client hears it, and the result tells.
        """
        client = Asking(lambda: memory.context())  # noqa: PLW0108  it is made below
        memory = Memory(count=tokens.from_client(client, MODEL))
        memory.append(user("one two"), assistant("three"))
        result = memory.context()

        assert ["one two", "three"] == [message.text for message in result.messages]
        assert "2 messages count roughly" in result.warnings[0]
        assert "called the memory that asked it for counts" in result.warnings[0]
        assert 1 == client.calls  # it would do it again

    def test_the_client_may_catch_it_and_may_append(self):
        """
        Then it has answered, and what it appended counts as well.
        """
        refused = []

        def first():
            if not refused:
                memory.append(user("three"))
                with pytest.raises(ConfigError, match="without that memory's contexts") as told:
                    memory.context()
                refused.append(told)

        memory = Memory(count=tokens.from_client(Asking(first), MODEL))
        memory.append(user("one two"))
        result = memory.context()

        assert () == result.warnings
        assert ["one two", "three"] == [message.text for message in result.messages]

    def test_a_way_round_through_another_memory_is_found(self):
        """
        One memory's client asks another memory, whose client asks the first.
        """
        one = Memory(count=tokens.from_client(Asking(lambda: two.context()), MODEL))  # noqa: PLW0108  it is made below
        two = Memory(count=tokens.from_client(Asking(lambda: one.context()), MODEL))  # noqa: PLW0108  it is made below
        one.append(user("one"))
        two.append(user("two"))
        result = one.context()

        assert () == result.warnings  # the second memory warns: its client failed
        assert ["one"] == [message.text for message in result.messages]

    @pytest.mark.parametrize("kind", [Asking, Awaiting])
    def test_an_async_memory_refuses_alike(self, kind):
        """
        The client is asked in tasks or threads of its own, and is known there.
        """

        async def main():
            loop = asyncio.get_running_loop()

            def from_a_thread():
                return asyncio.run_coroutine_threadsafe(memory.context(), loop).result(30)

            client = kind(from_a_thread if kind is Asking else lambda: memory.context())  # noqa: PLW0108  it is made below
            memory = AsyncMemory(count=tokens.from_client(client, MODEL))
            await memory.append(user("one two"))
            result = await asyncio.wait_for(memory.context(), 30)
            return result.warnings

        assert "called the memory that asked it for counts" in asyncio.run(main())[0]

    def test_another_task_waits(self):
        """
        One that the client did not start finds the counts kept.
        """

        async def main():
            came, goes = asyncio.Event(), asyncio.Event()

            async def first():
                came.set()
                await goes.wait()

            client = Awaiting(first)
            memory = AsyncMemory(count=tokens.from_client(client, MODEL))
            await memory.append(user("one two"))
            one = asyncio.create_task(memory.context())
            await came.wait()
            two = asyncio.create_task(memory.context())
            await asyncio.sleep(0)
            goes.set()
            warnings = [(await task).warnings for task in (one, two)]
            calls = client.calls
            await memory.context()
            return warnings, client.calls - calls, calls

        warnings, later, calls = asyncio.run(main())

        assert [(), ()] == warnings
        assert (0, 3) == (later, calls)  # the message, and twice what it is sent in


class TestAsync:
    def test_a_few_are_asked_for_at_once(self, server, anthropic):
        """
        At most four, and more than one: the server lets none go before another has come.
        """
        going, most, lock = [0], [0], threading.Lock()
        both = threading.Barrier(2, timeout=30)

        def before(number):
            with lock:
                going[0] += 1
                most[0] = max(most[0], going[0])
            both.wait()
            with lock:
                going[0] -= 1

        server.before = before

        async def main():
            async with async_claude(server, anthropic) as client:
                memory = AsyncMemory(count=tokens.from_client(client, MODEL))
                await memory.append(*(user(f"number {n}") for n in range(8)))
                return (await memory.context()).tokens

        assert 8 * (TURN + 2) == asyncio.run(main())
        assert 2 <= most[0] <= 4

    def test_sync_equals_async(self, server, anthropic, claude_client):
        """
        The same counts, whatever the client; a sync one is asked from threads.
        """
        memory = Memory(count=tokens.from_client(claude_client, MODEL))
        memory.append(*TALK)
        expected = memory.context(TokenBudget(60))

        async def main(client):
            other = AsyncMemory(count=tokens.from_client(client, MODEL))
            await other.append(*TALK)
            return await other.context(TokenBudget(60))

        async def own():
            async with async_claude(server, anthropic) as client:
                return await main(client)

        for result in (asyncio.run(main(claude_client)), asyncio.run(own())):
            assert (expected.messages, expected.tokens) == (result.messages, result.tokens)

    def test_gemini_is_awaited(self, server, gemini_client):
        """
        With `client.aio`.
        """

        async def main():
            memory = AsyncMemory(count=tokens.from_client(gemini_client.aio, MODEL))
            await memory.append(user("one two"))
            tokens_ = (await memory.context()).tokens
            await gemini_client.aio.aclose()
            return tokens_

        assert TURN + 2 == asyncio.run(main())

    def test_a_failure_is_met_alike(self, server, anthropic):
        """
        One warning, and the next context asks again.
        """
        server.instead = lambda number: (529, {"error": {"message": "overloaded"}})

        async def main():
            async with async_claude(server, anthropic) as client:
                memory = AsyncMemory(count=tokens.from_client(client, MODEL))
                await memory.append(*TALK)
                first = await memory.context()
                server.instead = lambda number: None
                return first, await memory.context()

        first, second = asyncio.run(main())

        assert "10 messages count roughly" in first.warnings[0]
        assert () == second.warnings

    def test_the_lock_is_free_and_two_at_once_ask_once(self, server, anthropic):
        """
        While the endpoint answers, others append; a second context waits for the first's counts.
        """
        release, came = threading.Event(), threading.Event()

        def before(number):
            came.set()
            release.wait(30)

        server.before = before

        async def main():
            async with async_claude(server, anthropic) as client:
                memory = AsyncMemory(count=tokens.from_client(client, MODEL))
                await memory.append(*TALK)
                tasks = [asyncio.create_task(memory.context()) for _ in range(2)]
                await asyncio.to_thread(came.wait)
                await memory.append(user("meanwhile"))
                release.set()
                return await asyncio.gather(*tasks)

        first, second = asyncio.run(main())

        assert len(TALK) + 1 == len(first.messages) == len(second.messages)
        assert first.tokens == second.tokens
        assert {1} == set(Counter(json.dumps(body) for body in server.asked).values())

    def test_cancelling_leaves_the_memory_whole(self, server, anthropic):
        """
        A cancelled context gives the lock back; the next one goes on.
        """
        release, came = threading.Event(), threading.Event()

        def before(number):
            came.set()
            release.wait(30)

        server.before = before

        async def main():
            async with async_claude(server, anthropic) as client:
                memory = AsyncMemory(count=tokens.from_client(client, MODEL))
                await memory.append(user("one two"))
                task = asyncio.create_task(memory.context())
                await asyncio.to_thread(came.wait)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                release.set()
                return (await memory.context()).tokens

        assert TURN + 2 == asyncio.run(main())


class TestFromClient:
    def test_outside_a_memory_it_counts_roughly(self, server, claude_client):
        """
        A strategy asks no network.
        """
        count = tokens.from_client(claude_client, MODEL)
        view = view_of([user("one two"), user("three")])
        result = run(NoCompaction(), view, TrimContext(count=count))

        assert tokens.rough(user("one two")) + tokens.rough(user("three")) == result.tokens
        assert tokens.rough(user("one two")) == count(user("one two"))
        assert [] == server.asked

    def test_what_cannot_count_is_refused(self, claude_client):
        """
        The line names the extra.
        """
        for wrong in (None, "claude", object(), type(claude_client)):
            with pytest.raises(ConfigError, match="pip install 'unabridged\\[clients\\]'"):
                tokens.from_client(wrong, MODEL)
        for name in ("", "  ", None, 3):
            with pytest.raises(ConfigError, match="`model` must be the name of a model"):
                tokens.from_client(claude_client, name)

    def test_it_is_a_value(self, server, anthropic, claude_client):
        """
        Equal to another of the same client and model, hashable, with a repr that tells no key.
        """
        one, two = (tokens.from_client(claude_client, MODEL) for _ in range(2))

        assert one == two
        assert hash(one) == hash(two)
        assert kept(one) is kept(two)
        assert one != tokens.from_client(claude_client, "another")
        assert one != 1
        assert "from_client(Anthropic, 'a-model')" == repr(one)

    def test_an_answer_to_be_awaited_is_refused_in_a_sync_run(self):
        """
        A client whose method does not look async is found out by its answer, and is awaited.
        """

        class Response:
            def __init__(self, number):
                self.input_tokens = number

        class Later:
            def __init__(self, number):
                self.number = number

            def __await__(self):
                yield from ()
                return Response(self.number)

        async def later(number):
            return Response(number)

        class Messages:
            def __init__(self, answer):
                self.answer = answer

            def count_tokens(self, messages, **request):
                return self.answer(7 + 3 * len(messages))

        class Client:
            def __init__(self, answer):
                self.messages = Messages(answer)

        async def main(count):
            memory = AsyncMemory(count=count)
            await memory.append(user("hi"))
            return (await memory.context()).tokens

        for answer in (later, Later):
            count = tokens.from_client(Client(answer), MODEL)
            memory = Memory(count=count)
            memory.append(user("hi"))

            assert "use AsyncMemory" in memory.context().warnings[0]
            assert 3 == asyncio.run(main(count))

    def test_a_private_store_of_counts_is_filled(self, server, claude_client):
        """
        A `Kept` of one's own is the memory's, whatever others share.
        """
        count = Kept(tokens.from_client(claude_client, MODEL))
        memory = Memory(count=count)
        memory.append(user("one two"))

        assert TURN + 2 == memory.context().tokens
        assert TURN + 2 == memory.context(Window(1)).tokens
        assert 1 == len(count)

    def test_says_that_it_is_an_estimate(self, claude_client):
        """
        As the providers do.
        """
        assert "estimate" == tokens.from_client(claude_client, MODEL).bound


def memory_count(memory):
    """
    The counter of a memory.
    """
    return memory._count


def words_of(message):
    """
    What the server counts for a message of TALK beside its turn.
    """
    calls = sum(CALL + 1 + words(json.loads(call.arguments)) for call in message.tool_calls)
    return words(message.text) + calls + RESULT * len(message.tool_results)


def _request(messages):
    from unabridged.formats import anthropic as form  # noqa: PLC0415  named as the fixture

    return form.request(messages)
