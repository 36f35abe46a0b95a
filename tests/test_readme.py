"""
The README's lines that no doctest runs, run against the providers' own clients.
"""

import ast
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from unabridged import Memory, formats, system, user

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
BLOCK = (
    README.partition("So a turn is one of these lines")[2].split("```")[1].removeprefix("python")
)
LINES = {
    re.search(r"formats\.(\w+)\.request", line)[1]: line
    for line in map(ast.unparse, ast.parse(BLOCK).body)
}
SAID = "Hello, Ana."
TEXT = {"type": "output_text", "text": SAID, "annotations": []}
ITEM = {
    "type": "message",
    "id": "m1",
    "role": "assistant",
    "status": "completed",
    "content": [TEXT],
}
ANSWERS = {
    "/chat/completions": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": SAID},
            }
        ],
    },
    "/responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": [ITEM],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    },
    "/v1/messages": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": SAID}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    ":generateContent": {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": SAID}]}, "finishReason": "STOP"}
        ]
    },
    "/converse": {
        "output": {"message": {"role": "assistant", "content": [{"text": SAID}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    },
}
NEEDED = {"/v1/messages": {"model", "max_tokens", "messages"}}


class Handler(BaseHTTPRequestHandler):
    """
    The five APIs; what one of them requires is required.
    """

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_POST(self):
        """
        Answer as the path says.
        """
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        end = next(end for end in ANSWERS if self.path.split("?")[0].endswith(end))
        missing = NEEDED.get(end, set()) - body.keys()
        answer = {"error": {"message": f"missing: {missing}"}} if missing else ANSWERS[end]
        data = json.dumps(answer).encode()
        self.send_response(400 if missing else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """
        Nothing.
        """


@pytest.fixture(scope="module")
def url():
    """
    The address of a server on this machine.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def made(name, url):
    """
    The client that speaks the format's API, pointed at *url*.
    """
    reason = "the extra `clients` is not installed"
    match name:
        case "openai_chat" | "openai_responses":
            openai = pytest.importorskip("openai", reason=reason)
            return openai.OpenAI(api_key="none", base_url=url, max_retries=0)
        case "anthropic":
            anthropic = pytest.importorskip("anthropic", reason=reason)
            return anthropic.Anthropic(api_key="none", base_url=url, max_retries=0)
        case "gemini":
            genai = pytest.importorskip("google.genai", reason=reason)
            return genai.Client(api_key="none", http_options={"base_url": url})
        case _:
            session = pytest.importorskip("botocore.session", reason=reason)
            return session.get_session().create_client(
                "bedrock-runtime",
                region_name="us-east-1",
                endpoint_url=url,
                aws_access_key_id="none",
                aws_secret_access_key="none",  # noqa: S106  the server here asks for none
            )


class TestTurnLines:
    def test_there_is_one_for_each_format(self):
        """
        Whatever the provider, its line can be copied.
        """
        expected = {"anthropic", "bedrock", "gemini", "openai_chat", "openai_responses"}

        assert expected == set(LINES)

    @pytest.mark.parametrize("name", sorted(LINES))
    def test_run_with_the_real_client(self, name, url):
        """
        Word for word; the answer goes into the memory as the next sentence says.
        """
        memory = Memory()
        memory.append(system("Be brief."), user("I am Ana."))
        names = {
            "client": made(name, url),
            "formats": formats,
            "messages": memory.context().messages,
            "model": "m",
        }

        exec(LINES[name], names)  # noqa: S102  the README's own line
        memory.append(*getattr(formats, name).reply(names["response"]))
        if close := getattr(names["client"], "close", None):
            close()

        assert f"assistant: {SAID}" == str(memory.context().messages[-1])
