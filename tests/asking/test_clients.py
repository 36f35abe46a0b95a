"""
Models behind the real clients, against a server on this machine that speaks their APIs.
"""

import asyncio
import importlib.util
import logging
import subprocess
import sys

import attrs
import pytest

from unabridged import (
    Ask,
    AsyncMemory,
    Memory,
    Summarize,
    asking,
    assistant,
    system,
    user,
)
from unabridged.asking.endpoint import Endpoint
from unabridged.asking.whole import whole_text
from unabridged.errors import ConfigError, FormatError, NeedsAsyncError, OutcomeError
from unabridged.testing import texts, view_of

KEY = "sk-secret-0123456789"
WORDS = "Ana flies to Lima."
SUMMARY = f"Summary of the earlier conversation:\n{WORDS}"
TALK = [
    user("My name is Ana, and I have a flight to Lima."),
    assistant("So I see, Ana. What can I do for you?"),
    user("Which gate?"),
    assistant("B22."),
]
CUT_OFF = "was cut off.*`max_tokens`"
NOT_WHOLE = [
    ("openai", "cut", f"{CUT_OFF}.*finish_reason 'length'"),
    ("openai", "thought out", CUT_OFF),
    ("openai", "empty", "the answer is empty: there is nothing in it$"),
    ("openai", "silent", "the answer is empty: there is nothing in it$"),
    ("openai", "reasoning", "the answer is empty: there is nothing in it but reasoning"),
    ("openai", "thinking", "the answer is empty: there is nothing in it but reasoning"),
    ("openai", "still thinking", "the answer is empty: there is nothing in it but reasoning"),
    ("openai", "refused", "was refused by the model"),
    ("openai", "filtered", "was stopped by a content filter"),
    ("openai", "calling", "calls a tool"),
    ("openai", "tired", "did not come to its end.*'insufficient_system_resource'"),
    ("openai", "failed", "an error of the server's \\(code '502'\\)"),
    ("anthropic", "cut", f"{CUT_OFF}.*stop_reason 'max_tokens'"),
    ("anthropic", "thought out", CUT_OFF),
    ("anthropic", "empty", "the answer is empty: there is nothing in it$"),
    ("anthropic", "silent", "the answer is empty: there is nothing in it$"),
    ("anthropic", "reasoning", "the answer is empty: there is nothing in it but reasoning"),
    ("anthropic", "refused", "was refused by the model"),
    ("anthropic", "filled", "was cut off where the window ends"),
    ("anthropic", "calling", "calls a tool"),
    ("anthropic", "paused", "did not come to its end.*'pause_turn'"),
]
FORMLESS = [
    ("openai", "none", "choices"),
    ("openai", "formless", "choices"),
    ("openai", "page", "response: expected a response of the client"),
    ("anthropic", "formless", "content"),
    ("anthropic", "page", "response: expected a response of the client"),
]
FAILS = [
    ("broken", "InternalServerError"),
    ("limited", "RateLimitError"),
    ("locked", "AuthenticationError"),
    ("wrong", "BadRequestError"),
]
BOTH = pytest.mark.parametrize("api", ["openai", "anthropic"])


class Asked:
    """
    A model of an API by its name, asked through its client, sync or async.
    """

    def __init__(self, server, packages):
        self.server = server
        self.packages = packages
        self.kind = {"sync": {}, "async": {}}

    def settings(self, api, **given):
        """
        What the clients are made with.
        """
        path = "/v1" if api == "openai" else ""
        return {
            "api_key": KEY,
            "base_url": self.server.url + path,
            "max_retries": 0,
            "timeout": 30,
        } | given

    def sync(self, api, model, ask, client=None, **options):
        """
        The answer of the sync model.
        """
        package = self.packages[api]
        kind = package.OpenAI if api == "openai" else package.Anthropic
        with kind(**self.settings(api, **(client or {}))) as made:
            return getattr(asking, api)(made, model, **options)(ask)

    def awaited(self, api, model, ask, client=None, **options):
        """
        The answer of the async model.
        """
        package = self.packages[api]
        kind = package.AsyncOpenAI if api == "openai" else package.AsyncAnthropic

        async def main():
            async with kind(**self.settings(api, **(client or {}))) as made:
                return await getattr(asking, api)(made, model, **options)(ask)

        return asyncio.run(main())


@pytest.fixture
def asked(server, openai, anthropic):
    """
    Who asks.
    """
    return Asked(server, {"openai": openai, "anthropic": anthropic})


@pytest.fixture(params=["sync", "awaited"])
def answer(asked, request):
    """
    The answer of a model, by its API and name.
    """
    return getattr(asked, request.param)


@pytest.fixture
def client(server, openai):
    """
    A sync client of the server.
    """
    with openai.OpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0, timeout=30) as made:
        yield made


class TestAnswers:
    @BOTH
    @pytest.mark.parametrize("model", ["whole", "spoken", "parts"])
    def test_the_words_of_a_whole_answer(self, answer, ask, api, model):
        """
        Without reasoning, in the reply's own place or before the words, and without outer space.
        """
        assert WORDS == answer(api, model, ask)

    @pytest.mark.parametrize(("api", "model", "told"), NOT_WHOLE)
    def test_what_is_not_whole_is_no_answer(self, answer, ask, api, model, told):
        """
        A summary must lose nothing silently: the error says what came instead.
        """
        with pytest.raises(OutcomeError, match=told):
            answer(api, model, ask)

    # the clients' own classes warn of a shape that is not theirs, and we go by what was sent
    @pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
    @pytest.mark.parametrize(("api", "model", "told"), FORMLESS)
    def test_what_has_no_form_is_no_answer(self, answer, ask, api, model, told):
        """
        JSON of another shape, or a page of a proxy.
        """
        with pytest.raises(FormatError, match=told):
            answer(api, model, ask)

    @BOTH
    def test_broken_json_is_no_answer(self, answer, ask, api):
        """
        The client's own error goes through.
        """
        with pytest.raises(ValueError, match=r"delimiter|column|JSON"):
            answer(api, "garbled", ask)

    @BOTH
    @pytest.mark.parametrize(("model", "name"), FAILS)
    def test_an_error_of_the_client_is_its_own(  # noqa: PLR0913  two of them are one
        self, asked, answer, ask, api, model, name
    ):
        """
        Who knows the client knows its errors.
        """
        with pytest.raises(getattr(asked.packages[api], name)):
            answer(api, model, ask)

    @BOTH
    def test_the_client_waits_as_the_server_says(self, asked, answer, ask, api):
        """
        A rate limit is met by the client's own retries, which heed `retry-after`.
        """
        asked.server.limited = 1

        assert WORDS == answer(api, "limited", ask, client={"max_retries": 1})
        assert 2 == len(asked.server.asked)

    @BOTH
    def test_a_time_out_ends_it(self, asked, answer, ask, api):
        """
        The client's, or the one that is given with the model.
        """
        timed_out = asked.packages[api].APITimeoutError
        with pytest.raises(timed_out):
            answer(api, "slow", ask, client={"timeout": 0.2})
        with pytest.raises(timed_out):
            answer(api, "slow", ask, timeout=0.2)

    @BOTH
    def test_a_cancelled_question_stays_cancelled(self, asked, ask, api):
        """
        Nothing between takes it for a failure.
        """
        server, package = asked.server, asked.packages[api]
        kind = package.AsyncOpenAI if api == "openai" else package.AsyncAnthropic

        async def main():
            async with kind(**asked.settings(api)) as made:
                model = getattr(asking, api)(made, "slow")
                task = asyncio.create_task(asking.fallback(model, asking.offline())(ask))
                await asyncio.to_thread(server.came.wait)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task

        asyncio.run(main())


class TestRequests:
    def test_what_openai_is_sent(self, asked, answer, ask):
        """
        The prompt, the transcript, the limit, and the options as they are.
        """
        limited = attrs.evolve(ask, max_tokens=500)
        answer("openai", "whole", limited, temperature=0, reasoning_effort="low")
        (body,) = asked.server.asked
        first, second = body.pop("messages")

        assert {
            "model": "whole",
            "max_completion_tokens": 1_000,
            "temperature": 0,
            "reasoning_effort": "low",
        } == body
        assert {"role": "system", "content": "Sum up.\nAnswer in at most 500 tokens."} == first
        assert "user" == second["role"]
        assert f"Transcript:\n{ask.transcript}" == second["content"]

    def test_what_anthropic_is_sent(self, asked, answer, ask):
        """
        As OpenAI, but for the prompt, which stands beside the turns, and a limit always.
        """
        earlier = attrs.evolve(ask, previous=system("She is Ana."))
        answer("anthropic", "whole", earlier, stop_sequences=["END"])
        (body,) = asked.server.asked
        (turn,) = body.pop("messages")

        assert {
            "model": "whole",
            "max_tokens": 4_096,
            "system": "Sum up.",
            "stop_sequences": ["END"],
        } == body
        assert turn["content"].startswith('Summary so far:\n"She is Ana."\n\nTranscript:\n')

    def test_the_question_names_the_model(self, asked, answer, ask):
        """
        `Summarize(model=…)` goes before the one that was given here.
        """
        answer("openai", "broken", attrs.evolve(ask, model="whole"))

        assert "whole" == asked.server.asked[0]["model"]

    @pytest.mark.parametrize(
        ("api", "limit", "options", "expected"),
        [
            ("openai", 0, {}, {}),
            ("openai", 0, {"reasoning_tokens": 900}, {}),
            ("openai", 100, {"reasoning_tokens": 900}, {"max_completion_tokens": 1_100}),
            ("openai", 0, {"max_completion_tokens": 70}, {"max_completion_tokens": 70}),
            ("openai", 0, {"max_tokens": 70}, {"max_tokens": 70}),
            ("openai", 100, {"max_tokens": 70}, {"max_tokens": 200}),
            ("anthropic", 0, {"reasoning_tokens": 4}, {"max_tokens": 4_100}),
            ("anthropic", 100, {"reasoning_tokens": 900}, {"max_tokens": 1_100}),
            ("anthropic", 0, {"max_tokens": 70}, {"max_tokens": 70}),
            ("anthropic", 100, {"max_tokens": 70}, {"max_tokens": 200}),
        ],
    )
    def test_how_long_an_answer_may_be(  # noqa: PLR0913  a row of the table
        self, asked, ask, api, limit, options, expected
    ):
        """
        The question's limit, else the option's; reasoning comes on top; one key and no other.
        """
        asked.sync(api, "whole", attrs.evolve(ask, max_tokens=limit), **options)
        (body,) = asked.server.asked

        assert expected == {name: body[name] for name in body if name.startswith("max_")}

    def test_each_server_is_told_in_its_own_key(self, asked, ask):
        """
        Reasoning models refuse `max_tokens`, older servers `max_completion_tokens`.
        """
        limited = attrs.evolve(ask, max_tokens=500)

        assert WORDS == asked.sync("openai", "o3", limited)
        assert WORDS == asked.sync("openai", "old", limited, max_tokens=4_000)

    @BOTH
    def test_no_prompt_is_no_message(self, asked, ask, api):
        """
        A question without a prompt is a user's message alone.
        """
        asked.sync(api, "whole", attrs.evolve(ask, prompt=" \n"))
        (body,) = asked.server.asked

        assert ["user"] == [turn["role"] for turn in body["messages"]]
        assert "system" not in body

    @BOTH
    def test_half_a_character_is_sent_as_its_mark(self, asked, ask, api):
        """
        A lone surrogate, which no client can send.
        """
        broken = Ask(tuple(view_of([user("half \ud83d a face")])))
        asked.sync(api, "whole", broken)

        assert "half \ufffd a face" in asked.server.asked[0]["messages"][0]["content"]


class TestInAMemory:
    def test_a_summary_through_a_client(self, server, client):
        """
        It stands in the context; the next one is not asked for again.
        """
        memory = Memory(
            strategy=Summarize(keep_last=2, max_tokens=300), ask=asking.openai(client, "whole")
        )
        memory.append(*TALK)
        for _ in range(2):
            assert [SUMMARY, "Which gate?", "B22."] == texts(memory.context())
        (body,) = server.asked

        assert 600 == body["max_completion_tokens"]
        assert "My name is Ana" in body["messages"][1]["content"]

    def test_a_failure_changes_nothing_and_is_told(self, server, client):
        """
        What was cut off is not shown, and is asked for again where nothing rests.
        """
        memory = Memory(
            strategy=Summarize(keep_last=2), ask=asking.openai(client, "cut"), retry_after=0
        )
        memory.append(*TALK)
        for count in (1, 2):
            result = memory.context()

            assert texts(TALK) == texts(result)
            assert "the answer was cut off" in result.warnings[0]
            assert count == len(server.asked)

    def test_an_answer_that_is_none_rests(self, server, client):
        """
        It was paid for, and mostly comes again.
        """
        memory = Memory(strategy=Summarize(keep_last=2), ask=asking.openai(client, "cut"))
        memory.append(*TALK)
        for _ in range(3):
            result = memory.context()

        assert "not asked, the last answer was refused (the answer was cut" in result.warnings[0]
        assert 1 == len(server.asked)

    def test_async_models_need_an_async_memory(self, server, openai):
        """
        A sync memory refuses them when it is made; an async one awaits them.
        """

        async def main():
            async with openai.AsyncOpenAI(
                api_key=KEY, base_url=f"{server.url}/v1", max_retries=0
            ) as made:
                ask = asking.openai(made, "whole")
                for each in (ask, asking.fallback(ask, asking.offline())):
                    with pytest.raises(NeedsAsyncError, match="ask= is async; use AsyncMemory"):
                        Memory(strategy=Summarize(keep_last=2), ask=each)
                memory = AsyncMemory(strategy=Summarize(keep_last=2), ask=ask)
                await memory.append(*TALK)
                return await memory.context()

        assert [SUMMARY, "Which gate?", "B22."] == texts(asyncio.run(main()))

    @pytest.mark.parametrize("model", ["broken", "limited", "cut", "reasoning", "garbled", "slow"])
    def test_the_digest_stands_in_for_a_server_that_fails(self, server, client, model, caplog):
        """
        And the log says who failed and why, with nothing of what was sent, nor the key.
        """
        first = asking.openai(client, model, timeout=0.2)
        memory = Memory(
            strategy=Summarize(keep_last=2), ask=asking.fallback(first, asking.offline())
        )
        memory.append(*TALK)
        with caplog.at_level(logging.WARNING, logger="unabridged"):
            result = memory.context()
        told = "\n".join(record.getMessage() for record in caplog.records)

        assert "Ana" in result.messages[0].text
        assert () == result.warnings
        assert "fallback: no answer of asking.openai(OpenAI," in told
        assert told.endswith("; asking asking.offline()")
        assert "Lima" not in told
        assert KEY not in told


class TestWithoutALeak:
    @pytest.mark.parametrize("model", ["broken", "limited", "locked", "wrong"])
    @BOTH
    def test_what_a_server_repeats_is_not_told(self, asked, ask, api, model, caplog):
        """
        Status and code are; the error's text, in which the request may be, stays in the cause.
        """
        package = asked.packages[api]
        kind = package.OpenAI if api == "openai" else package.Anthropic
        with kind(**asked.settings(api)) as made:
            tried = asking.fallback(getattr(asking, api)(made, model))
            with (
                caplog.at_level(logging.WARNING, logger="unabridged"),
                pytest.raises(OutcomeError) as raised,
            ):
                tried(ask)
        told = f"{raised.value} {caplog.text}"

        assert "Error (" in told
        assert "LA 2476" not in told
        assert KEY not in told
        assert "LA 2476" in str(raised.value.__cause__.exceptions[0])

    def test_a_repr_shows_no_text_of_an_option(self, client):
        """
        Among them may be keys; and nothing of the client but its class.
        """
        model = asking.openai(
            client, "m", extra_headers={"X-Key": KEY}, user=KEY, temperature=0.5, window=8_000
        )

        assert (
            "asking.openai(OpenAI, 'm', window=8_000, extra_headers=…, temperature=0.5, user=…)"
            == repr(model)
        )


class TestModel:
    def test_it_is_a_value(self, client, openai):
        """
        Equal to another of the same client, model and options; hashable; frozen.
        """
        one, two = (asking.openai(client, "m", timeout=3, stop=["a"]) for _ in range(2))

        assert one == two
        assert hash(one) == hash(two)
        assert one != asking.openai(client, "n", timeout=3, stop=["a"])
        assert one != asking.openai(client, "m", timeout=3)
        with openai.OpenAI(api_key=KEY) as other:
            assert one != asking.openai(other, "m", timeout=3, stop=["a"])
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            one.endpoint = two.endpoint

    def test_its_window(self, client):
        """
        As given, as the installed table has it, or 0.
        """
        known = importlib.util.find_spec("genai_prices") is not None

        assert 9_000 == asking.openai(client, "gpt-4o", window=9_000).window
        assert (128_000 if known else 0) == asking.openai(client, "gpt-4o").window
        assert 0 == asking.openai(client, "a-model-that-nobody-knows").window

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"model": ""}, "`model` must be the name of a model, got ''"),
            ({"model": None}, "`model` must be the name of a model, got None"),
            ({"window": -1}, "`window` must be an int of tokens, 0 or more, got -1"),
            ({"window": 1.5}, "`window` must be"),
            ({"reasoning_tokens": True}, "`reasoning_tokens` must be"),
            ({"max_tokens": 0}, "`max_tokens` must be an int of tokens, 1 or more, got 0"),
            ({"max_completion_tokens": "9"}, "`max_completion_tokens` must be"),
            ({"max_tokens": 1, "max_completion_tokens": 1}, "give one of max_completion_tokens"),
            ({"messages": []}, "`messages` cannot be given"),
            ({"stream": True}, "`stream` cannot be given"),
        ],
    )
    def test_what_is_off_is_refused_at_once(self, client, options, told):
        """
        Not with the first question.
        """
        with pytest.raises(ConfigError, match=f"asking.openai: {told}"):
            asking.openai(client, **{"model": "m"} | options)

    @BOTH
    def test_no_client_is_refused(self, openai, anthropic, api):
        """
        A key, a class, a client of somebody else; the line names the extra.
        """
        make, other = (
            (asking.openai, anthropic.Anthropic)
            if api == "openai"
            else (asking.anthropic, openai.OpenAI)
        )
        with other(api_key=KEY) as stranger:
            for wrong in (None, KEY, other, openai.OpenAI, anthropic.Anthropic, stranger):
                with pytest.raises(ConfigError, match="pip install 'unabridged\\[clients\\]'"):
                    make(wrong, "m")

    @pytest.mark.parametrize("kind", ["coroutine", "awaitable"])
    def test_an_answer_to_be_awaited_is_refused(self, ask, kind):
        """
        A client that does not look async is found out; a fallback goes no further.
        """

        class Later:
            def __await__(self):
                yield from ()
                return {"content": []}

        async def later():
            return {"content": []}

        class Client:
            class messages:  # noqa: N801  as the client's
                @staticmethod
                def create(**_):
                    return later() if kind == "coroutine" else Later()

        model = asking.anthropic(Client(), "m")
        for each in (model, asking.fallback(model, asking.offline())):
            with pytest.raises(NeedsAsyncError, match="the client's answer is awaitable"):
                each(ask)

    def test_an_async_client_makes_an_async_model(self, openai):
        """
        A value like the sync one.
        """
        client = openai.AsyncOpenAI(api_key=KEY)
        one, two = (asking.openai(client, "m", window=9_000) for _ in range(2))

        assert isinstance(one, asking.AsyncModel)
        assert one == two
        assert "asking.openai(AsyncOpenAI, 'm', window=9_000)" == repr(one)
        assert 9_000 == one.window == asking.fallback(one, asking.offline()).window

    def test_litellm_that_is_not_there_is_told_at_once(self, monkeypatch):
        """
        The line names the extra.
        """
        monkeypatch.setitem(sys.modules, "litellm", None)  # as if it were not installed
        with pytest.raises(ConfigError, match="pip install 'unabridged\\[litellm\\]'"):
            asking.litellm("groq/llama")

    def test_nothing_is_imported_before_it_is_used(self):
        """
        No client, no table of windows, and no event loop.
        """
        script = (
            "import sys, unabridged\n"
            "unabridged.asking.fallback(unabridged.asking.offline())\n"
            "print(sorted({'openai', 'anthropic', 'litellm', 'genai_prices', 'asyncio'}"
            " & set(sys.modules)))"
        )
        done = subprocess.run(  # noqa: S603  our own script
            [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True
        )

        assert "[]\n" == done.stdout


class TestWholeText:
    def test_a_refusal_among_the_parts(self):
        """
        Some servers give the content as a list, with a refusal in it.
        """
        part = {"type": "refusal", "refusal": "no"}
        said = {"message": {"content": [part]}, "finish_reason": "stop"}
        with pytest.raises(OutcomeError, match="refused by the model"):
            whole_text("openai", {"choices": [said]})

    def test_an_error_without_a_code(self):
        """
        Its text is not repeated: the request may be in it.
        """
        with pytest.raises(OutcomeError, match=r"an error of the server's \(code 'unknown'\)"):
            whole_text("openai", {"error": KEY})

    def test_an_endpoint_asks_nobody(self, ask):
        """
        It makes a request; who has it sends it.
        """
        request = Endpoint("anthropic", None, "m").request(ask)

        assert {"model", "system", "messages", "max_tokens"} == set(request)
