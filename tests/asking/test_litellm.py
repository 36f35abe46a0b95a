"""
LiteLLM against a server on this machine.

It runs in an interpreter of its own, once: it takes seconds to load, sets up
logging and warns of what other packages do, which is none of our tests'.
"""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("litellm") is None, reason="the extra `litellm` is not installed"
)

WORDS = "Ana flies to Lima."
SCRIPT = """
import asyncio, json, logging, sys
from unabridged import Ask, AsyncMemory, Memory, Summarize, asking, assistant, user
from unabridged.testing import view_of

url, key = sys.argv[1:]
before = set(sys.modules)
said = [user("My name is Ana."), assistant("Your flight is LA 2476."), user("Thanks!")]
ask = Ask(tuple(view_of(said)), prompt="Sum up.", max_tokens=500)
options = dict(api_base=url + "/v1", api_key=key, num_retries=0, max_retries=0, timeout=30)

def tried(call):
    try:
        return ["text", call()]
    except Exception as error:
        return [type(error).__name__, str(error)[:300]]

def model(name, **more):
    return asking.litellm("openai/" + name, **{**options, **more})

told = []
class Keep(logging.Handler):
    def emit(self, record):
        told.append(record.getMessage())
logger = logging.getLogger("unabridged")
logger.addHandler(Keep())
logger.propagate = False

found = {"loaded early": "litellm" in sys.modules}
model("whole")
found["loaded by the factory"] = "litellm" in sys.modules
names = json.loads(sys.stdin.readline())
found["sync"] = {name: tried(lambda: model(name)(ask)) for name in names}
found["slow"] = tried(lambda: model("slow", timeout=0.2)(ask))

async def main():
    ready = {}
    for name in names:
        try:
            ready[name] = ["text", await model(name, is_async=True)(ask)]
        except Exception as error:
            ready[name] = [type(error).__name__, str(error)[:300]]
    memory = AsyncMemory(
        strategy=Summarize(keep_last=1, label=""), ask=model("whole", is_async=True)
    )
    await memory.append(*said)
    return ready, [message.text for message in (await memory.context()).messages]

found["async"], found["async memory"] = asyncio.run(main())
memory = Memory(
    strategy=Summarize(keep_last=1, label=""),
    ask=asking.fallback(model("wrong"), asking.offline()),
)
memory.append(*said)
found["memory"] = [message.text for message in memory.context().messages]
found["log"] = told
found["repr"] = repr(model("m", is_async=True, timeout=5))
print("FOUND" + json.dumps(found))
"""
WHOLE = ("whole", "spoken")
CUT = ("cut", "thought out", "empty", "silent", "reasoning", "filtered", "calling")
FAILS = {
    "broken": "InternalServerError",
    "limited": "RateLimitError",
    "locked": "AuthenticationError",
    "wrong": "BadRequestError",
}
KEY = "sk-secret-0123456789"


@pytest.fixture(scope="module")
def found(serving):
    """
    What came of it all, and what the server was asked.
    """
    done = subprocess.run(  # noqa: S603  our own script
        [sys.executable, "-c", SCRIPT, serving.url, KEY],
        input=json.dumps([*WHOLE, *CUT, *FAILS]) + "\n",
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it asks the network when it loads
        },
    )
    assert 0 == done.returncode, done.stderr[-2_000:]
    return json.loads(done.stdout.rpartition("FOUND")[2]) | {"asked": serving.asked}


class TestLiteLLM:
    def test_it_loads_with_the_first_question(self, found):
        """
        Neither with the library nor when the model is named.
        """
        assert not found["loaded early"]
        assert not found["loaded by the factory"]

    @pytest.mark.parametrize("how", ["sync", "async"])
    def test_whole_answers(self, found, how):
        """
        Without reasoning.
        """
        assert {name: ["text", WORDS] for name in WHOLE} == {n: found[how][n] for n in WHOLE}

    @pytest.mark.parametrize("how", ["sync", "async"])
    @pytest.mark.parametrize("name", CUT)
    def test_what_is_not_whole_is_no_answer(self, found, how, name):
        """
        As behind the provider's own client.
        """
        kind, told = found[how][name]

        assert "OutcomeError" == kind
        assert told.startswith("the answer ")

    @pytest.mark.parametrize("how", ["sync", "async"])
    @pytest.mark.parametrize("name", FAILS)
    def test_an_error_of_the_client_is_its_own(self, found, how, name):
        """
        LiteLLM's names for it.
        """
        assert FAILS[name] == found[how][name][0]

    def test_a_time_out_ends_it(self, found):
        """
        The one that is given as an option.
        """
        assert "Timeout" == found["slow"][0]

    def test_what_is_sent(self, found):
        """
        The prompt, the transcript and the limit.
        """
        body = found["asked"][0]

        assert ("whole", 1_000) == (body["model"], body["max_tokens"])
        assert ["system", "user"] == [turn["role"] for turn in body["messages"]]
        assert "LA 2476" in body["messages"][1]["content"]

    def test_in_memories(self, found):
        """
        An async one, and a sync one whose digest stands in for a server that fails.
        """
        assert [WORDS, "Thanks!"] == found["async memory"]
        assert "Thanks!" == found["memory"][1]
        assert "Ana" in found["memory"][0] or "LA 2476" in found["memory"][0]

    def test_nothing_leaks(self, found):
        """
        Neither a key nor what was sent is in the log or a repr.
        """
        (line,) = found["log"]

        assert "asking.litellm('openai/wrong'" in line
        assert "BadRequestError (400" in line
        assert KEY not in line
        assert "LA 2476" not in line
        assert (
            "asking.litellm('openai/m', is_async=True, api_base=…, api_key=…, max_retries=0, "
            "num_retries=0, timeout=5)" == found["repr"]
        )
