"""
A server on this machine that speaks both APIs; what it answers goes by the model's name.
"""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from unabridged import Ask, assistant, tool, user
from unabridged.messages import ToolCall
from unabridged.testing import view_of

WORDS = "Ana flies to Lima."
LOOK = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def said(content, finish="stop", **keys):
    """
    A completion with this message.
    """
    message = {"role": "assistant", "content": content, **keys}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def blocks(*content, stop="end_turn"):
    """
    A message of the Messages API.
    """
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content),
        "stop_reason": stop,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def text(words):
    """
    A block of text.
    """
    return {"type": "text", "text": words}


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}

OPENAI = {
    "whole": said(WORDS),
    "spoken": said(f"<think>hm</think>\n\n{WORDS}\n", reasoning_content="hm"),
    "parts": said(f" {WORDS} ", finish=None),
    "cut": said("Ana fl", "length"),
    "thought out": said("", "length", reasoning_content="hm"),
    "empty": said(" \n"),
    "silent": said(None),
    "reasoning": said(None, reasoning_content="hm"),
    "thinking": said("<think>hm</think>"),
    "still thinking": said("<think>hm"),
    "refused": said(None, refusal="I cannot help with that."),
    "filtered": said("Ana", "content_filter"),
    "calling": said("Let me look.", "tool_calls", tool_calls=[LOOK]),
    "tired": said("Ana fl", "insufficient_system_resource"),
    "none": said(None) | {"choices": []},
    "formless": said(None) | {"choices": {"a": 1}},
    "failed": {"error": {"message": "upstream", "code": 502}},
}
ANTHROPIC = {
    "whole": blocks(text(WORDS)),
    "spoken": blocks(THOUGHT, text(WORDS)),
    "parts": blocks(text("Ana flies "), text("to Lima."), stop="stop_sequence"),
    "cut": blocks(text("Ana fl"), stop="max_tokens"),
    "thought out": blocks(THOUGHT, stop="max_tokens"),
    "empty": blocks(text(" ")),
    "silent": blocks(),
    "reasoning": blocks(THOUGHT),
    "refused": blocks(text("I cannot"), stop="refusal"),
    "filled": blocks(text("Ana fl"), stop="model_context_window_exceeded"),
    "calling": blocks({"type": "tool_use", "id": "c1", "name": "f", "input": {}}, stop="tool_use"),
    "paused": blocks(text("Ana"), stop="pause_turn"),
    "formless": blocks() | {"content": {"a": 1}},
}
FAILS = {
    "broken": 500,
    "limited": 429,
    "locked": 401,
    "wrong": 400,
}


class Server(ThreadingHTTPServer):
    """
    What was asked, and what to do before an answer.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []
        self.waits = threading.Event()
        self.came = threading.Event()
        self.limited = 1_000
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        """
        A client that hung up is no news.
        """


class Handler(BaseHTTPRequestHandler):
    """
    The two endpoints; each refuses what its API refuses.
    """

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in one piece, or the client waits for the second

    def do_POST(self):
        """
        Answer as the model's name says.
        """
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        status, answer = self.answer(body)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        kind = "text/html" if data.startswith(b"<") else "application/json"
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if status == 429:
            self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(data)

    def answer(self, body):
        """
        The status and the answer.
        """
        name = body["model"]
        wrong = self.refusal(body)
        if wrong:
            return 400, {"error": {"type": "invalid_request_error", "message": wrong}}
        if name == "slow":
            self.server.came.set()
            self.server.waits.wait(30)
        if name == "limited" and self.server.limited == 0:
            name = "whole"
        if name in FAILS:
            self.server.limited -= 1
            # an error that repeats all that was sent, as some servers do
            told = f"{json.dumps(body)} {dict(self.headers)}"
            return FAILS[name], {"error": {"type": f"{name}_error", "code": name, "message": told}}
        if name == "garbled":
            return 200, b'{"choices": [{"message": {"content": "Ana fl'
        if name == "page":
            return 200, b"<html>Please log in.</html>"
        answers = ANTHROPIC if self.path == "/v1/messages" else OPENAI

        return 200, answers.get(name, answers["whole"])

    def refusal(self, body):
        """
        What the API refuses in the request.
        """
        turns = body["messages"]
        if self.path == "/v1/messages":
            if not body.get("max_tokens"):
                return "max_tokens: Field required"
            if any(turn["role"] not in {"user", "assistant"} for turn in turns):
                return "messages: Unexpected role"
            return "" if turns and turns[0]["role"] == "user" else "no user"
        assert self.path == "/v1/chat/completions"
        if body["model"].startswith("o3") and "max_tokens" in body:
            return "Unsupported parameter: 'max_tokens'"
        if body["model"].startswith("old") and "max_completion_tokens" in body:
            return "Extra inputs are not permitted"

        return ""

    def log_message(self, *_):
        """
        Nothing.
        """


@contextmanager
def served():
    """
    A server while it is needed.
    """
    made = Server()
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield made
    finally:
        made.waits.set()
        made.shutdown()
        thread.join()
        made.server_close()


@pytest.fixture
def server():
    """
    A server on this machine, for one test.
    """
    with served() as made:
        yield made


@pytest.fixture(scope="module")
def serving():
    """
    One for a whole module.
    """
    with served() as made:
        yield made


@pytest.fixture
def openai():
    """
    The client's package.
    """
    return pytest.importorskip("openai", reason="the extra `clients` is not installed")


@pytest.fixture
def anthropic():
    """
    The client's package.
    """
    return pytest.importorskip("anthropic", reason="the extra `clients` is not installed")


@pytest.fixture
def ask():
    """
    A question about a short talk.
    """
    talk = [
        user("My name is Ana. Which flight is mine?"),
        assistant(calls=[ToolCall("c1", "find", {"name": "Ana"})]),
        tool("LA 2476 to Lima, gate B22", call_id="c1"),
    ]
    return Ask(tuple(view_of(talk)), prompt="Sum up.")
