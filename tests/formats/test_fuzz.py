"""
Requests with something wrong in them: they load, or say where not, and never lose a key.

A second of it runs always; `FUZZ_SECONDS=3600 pytest -m exhaustive tests/formats/test_fuzz.py`
runs an hour, one process a core.
"""

import contextlib
import json
import multiprocessing
import os
import random
import time
from pathlib import Path

import pytest

from unabridged.errors import ConfigError, FormatError
from unabridged.formats import (
    anthropic,
    bedrock,
    detect,
    gemini,
    mend,
    openai_chat,
    openai_responses,
    problems,
)

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
FORMATS = {
    "chat": openai_chat,
    "responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
}
CALL = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": '{"tz": 1.50}'}}
TEXT = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
PNG = {"type": "base64", "media_type": "image/png", "data": "aGk="}
SEEDS = {
    "chat": [
        [
            {"role": "system", "content": "Be brief.", "name": "rules"},
            {
                "role": "user",
                "content": [
                    TEXT,
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                    {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
                    {"type": "file", "file": {"file_id": "f1", "filename": "a.pdf"}},
                ],
            },
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "hm",
                "refusal": None,
                "tool_calls": [
                    CALL,
                    {"id": "c2", "type": "custom", "custom": {"name": "sh", "input": "ls"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "9"}]},
            {"role": "tool", "tool_call_id": "c2", "content": "", "is_error": True},
            {"role": "assistant", "content": "Nine.", "audio": {"id": "a1"}, "id": "m1"},
        ]
    ],
    "responses": [
        [
            {"role": "developer", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "hi"},
                    {"type": "input_image", "image_url": "https://e.org/a.png", "detail": "low"},
                    {"type": "input_file", "file_data": "data:application/pdf;base64,aGk="},
                ],
            },
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "c1",
                "name": "now",
                "arguments": "{}",
            },
            {"type": "custom_tool_call", "call_id": "c2", "name": "sh", "input": "ls"},
            {"type": "function_call_output", "call_id": "c1", "output": "9"},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": [TEXT]},
            {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}},
            {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"},
            {"type": "computer_call", "id": "cu_1", "call_id": "c3", "action": {}},
            {"type": "computer_call_output", "call_id": "c3", "output": {"type": "x"}},
        ]
    ],
    "anthropic": [
        [
            {"role": "user", "content": [TEXT, {"type": "image", "source": PNG}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                    {"type": "redacted_thinking", "data": "YWJj"},
                    {"type": "text", "text": "I look.", "citations": None},
                    {"type": "tool_use", "id": "t1", "name": "now", "input": {"tz": 1.5}},
                    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
                    {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [TEXT]},
                    {"type": "document", "source": {"type": "url", "url": "https://e.org/a.pdf"}},
                ],
            },
            {"role": "assistant", "content": [{"type": "compaction", "content": "in short"}]},
            {"role": "system", "content": "From now on."},
            {"role": "user", "content": "bye"},
        ]
    ],
    "gemini": [
        [
            {"role": "user", "parts": [{"text": "hi"}, {"inlineData": {"data": "aGk="}}]},
            {
                "role": "model",
                "parts": [
                    {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
                    {
                        "functionCall": {"id": "c1", "name": "now", "args": {"tz": 1.5}},
                        "thoughtSignature": "c2ln",
                    },
                    {"function_call": {"name": "now", "args": {}}, "thought_signature": "c2ln"},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "c1", "name": "now", "response": {"output": "9"}}},
                    {"function_response": {"name": "now", "response": {"error": "no"}}},
                ],
            },
            {"role": "model", "parts": [{"executableCode": {"code": "1"}}, {"text": ""}]},
            {"parts": [{"fileData": {"fileUri": "gs://b/a.pdf", "mimeType": "application/pdf"}}]},
        ]
    ],
    "bedrock": [
        [
            {
                "role": "user",
                "content": [
                    {"text": "hi"},
                    {"image": {"format": "png", "source": {"bytes": "aGk="}}},
                    {"document": {"format": "pdf", "name": "a", "source": {"bytes": "aGk="}}},
                    {"cachePoint": {"type": "default"}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}},
                    {"reasoningContent": {"redactedContent": "YWJj"}},
                    {"toolUse": {"toolUseId": "t1", "name": "now", "input": {"tz": 1.5}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "toolResult": {
                            "toolUseId": "t1",
                            "content": [{"json": {"a": [1]}}, {"text": "9"}],
                            "status": "success",
                        }
                    }
                ],
            },
        ]
    ],
}
VALUES = (
    *(None, True, 0, -1, 1.5, 10**30, "", " ", "x", "é\ud800", "\x00", "c1", "user", "tool"),
    *([], {}, [[]], [None], {"type": "text"}, {"": ""}, {"id": 7}, {"a": {"b": [1, {"c": None}]}}),
)


def copied(value):
    return json.loads(json.dumps(value))


def places(value, path=()):
    """
    The paths to everything in a JSON value.
    """
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from places(inner, (*path, at))


def mutated(draw, value):
    """
    The value with one to three things removed, replaced, doubled, added or moved.
    """
    value = copied(value)
    for _ in range(draw.randint(1, 3)):
        *path, last = draw.choice([path for path in places(value) if path] or [(0,)])
        inside = value
        for step in path:
            inside = inside[step]
        if not inside:
            continue
        others = [key for key in places(value) if key]
        moved = value
        for step in draw.choice(others):
            moved = moved[step]
        match draw.randint(0, 5):
            case 0:
                del inside[last]
            case 1:
                inside[last] = copied(draw.choice(VALUES))
            case 2 if isinstance(inside, list):
                inside.insert(draw.randint(0, len(inside)), copied(draw.choice(VALUES)))
            case 3 if isinstance(inside, list):
                inside.insert(last, copied(inside[last]))
            case 4 if isinstance(inside, dict):
                key = draw.choice(["type", "id", "x", "name", "role", "content", "parts"])
                inside[key] = copied(draw.choice(VALUES))
            case _:
                inside[last] = copied(moved)

    return value


def judged(api, turns):
    """
    Hold one request to what is promised; whether it was taken.
    """
    module = FORMATS[api]
    try:
        messages = module.load(turns)
    except (FormatError, ConfigError) as error:
        assert str(error)  # noqa: PT017  the text names the place
        return False
    assert turns == module.dump(messages)
    for other in FORMATS.values():
        provider = other.__name__.rpartition(".")[2]
        body = other.request(messages)
        problems(mend(messages, provider), provider)
        if other is not bedrock:
            json.dumps(body)
        again = mend(mend(messages, provider).messages, provider)
        assert {line.what for line in again.report} <= {"left out"}, (provider, again.report)
    with contextlib.suppress(FormatError):
        assert detect(turns)

    return True


def samples(api):
    found = list(SEEDS[api])
    path = SHARED / "data" / "api_shapes.jsonl"
    if path.is_file():
        with path.open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        found += [row["messages"] for row in rows if row["api"] == api]
    small = [turns for turns in found if len(json.dumps(turns)) < 20_000]

    return small, found


def hunt(api, seed, seconds):
    """
    Judge mutated requests for so many seconds: how many, how many were taken, and the finds.
    """
    draw = random.Random(f"{api} {seed}")
    small, _ = samples(api)
    end, tried, taken, finds = time.monotonic() + seconds, 0, 0, []
    while time.monotonic() < end and len(finds) < 20:
        turns = mutated(draw, draw.choice(small))
        tried += 1
        try:
            taken += judged(api, turns)
        except Exception as error:  # noqa: BLE001  whatever it is, it is a find
            finds.append((f"{type(error).__name__}: {error}"[:300], json.dumps(turns)))

    return tried, taken, finds


def hunting(work):
    return hunt(*work)


class TestFuzz:
    @pytest.mark.parametrize("api", sorted(FORMATS))
    def test_seeds_are_sound(self, api):
        """
        Ours and the real ones come back as they were.
        """
        _, found = samples(api)

        assert all(judged(api, turns) for turns in found)

    @pytest.mark.parametrize("api", sorted(FORMATS))
    def test_a_request_with_something_wrong_loads_or_says_where(self, api):
        """
        A few hundred of them, the same each time.
        """
        draw = random.Random(api)
        taken = [judged(api, mutated(draw, draw.choice(SEEDS[api]))) for _ in range(300)]

        assert {True, False} == set(taken)

    @pytest.mark.exhaustive
    def test_for_as_long_as_is_asked_for(self, request, capsys):
        """
        `FUZZ_SECONDS` long, over all five formats.
        """
        if "exhaustive" not in (request.config.getoption("-m") or ""):
            pytest.skip("as long as FUZZ_SECONDS says; run it with -m exhaustive")
        cores = os.cpu_count() or 1
        seconds = int(os.environ.get("FUZZ_SECONDS", "60")) * cores / len(FORMATS)
        seed = os.environ.get("FUZZ_SEED", "1")
        work = [(api, f"{seed}", seconds) for api in FORMATS]
        with multiprocessing.get_context("fork").Pool(cores) as pool:
            done = pool.map(hunting, work, chunksize=1)
        finds = [
            (api, *find)
            for (api, *_), (_, _, found) in zip(work, done, strict=True)
            for find in found
        ]
        with capsys.disabled():
            for (api, *_), (tried, taken, found) in zip(work, done, strict=True):
                print(f"\n{api}: {tried:,} requests, {taken:,} taken, {len(found)} finds", end="")  # noqa: T201

        assert [] == finds
