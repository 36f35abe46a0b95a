"""
Values that no API sends: they loop, never end, are of odd types, or stand in the wrong place.

In each `load` and `reply` they are refused with one of our own errors, at once
and in few words, or taken.
"""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.formats.test_fuzz import FORMATS, SEEDS, copied, places
from unabridged.errors import ConfigError, FormatError, UnabridgedError
from unabridged.formats import detect

TEXT = {"type": "output_text", "text": "Hello.", "annotations": []}
CALLS = [{"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}]
USE = {"type": "tool_use", "id": "t1", "name": "now", "input": {}}
USAGE = {"input_tokens": 1, "output_tokens": 2}


def chunk(delta: Any, **keys: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-12345678",
        "choices": [{"index": 0, "delta": delta, "finish_reason": None} | keys],
    }


REPLIES: dict[str, list[Any]] = {
    "chat": [
        {
            "id": "chatcmpl-12345678",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": "Hello.",
                        "refusal": None,
                        "reasoning_content": "hm",
                        "audio": {"id": "a1", "data": "aGk=", "transcript": "hi"},
                        "annotations": [],
                        "tool_calls": CALLS,
                    },
                },
            ],
            "usage": {"total_tokens": 3},
        },
        [
            chunk({"role": "assistant", "content": "Hel"}),
            chunk({"content": "lo."}),
            chunk({"audio": {"id": "a1", "data": "aGk=", "transcript": "hi"}}),
            chunk({"tool_calls": [{"index": 0, **CALLS[0]}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
            chunk({}, finish_reason="stop"),
            {"choices": [], "usage": {"total_tokens": 3}},
        ],
    ],
    "responses": [
        {
            "id": "resp_12345678",
            "status": "completed",
            "error": None,
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text"}]},
                {"type": "message", "id": "msg_1", "role": "assistant", "content": [TEXT]},
                {"type": "function_call", "call_id": "c1", "name": "now", "arguments": "{}"},
                {"type": "web_search_call", "id": "ws_1", "action": {"type": "search"}},
                {"type": "shell_call", "call_id": "c2", "action": {"commands": ["ls"]}},
                {"type": "shell_call_output", "call_id": "c2", "output": [{"stdout": "a"}]},
            ],
            "usage": USAGE,
        },
        [
            {"type": "response.created", "response": {"id": "resp_12345678", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": {}},
            {
                "type": "response.output_item.done",
                "output_index": 0,
                "item": {"type": "message", "role": "assistant", "content": [TEXT]},
            },
            {"type": "response.completed", "response": {"id": "resp_12345678", "output": []}},
        ],
    ],
    "anthropic": [
        {
            "id": "msg_12345678",
            "type": "message",
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "text", "text": "Hello.", "citations": [{"type": "char_location"}]},
                {"type": "tool_use", "id": "t1", "name": "now", "input": {"tz": [1.5]}},
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
                {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
            ],
            "stop_reason": "tool_use",
            "usage": USAGE,
        },
        [
            {"type": "message_start", "message": {"id": "msg_12345678", "content": []}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": "Hello."},
            },
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "citations_delta", "citation": {"type": "char_location"}},
            },
            {"type": "content_block_stop", "index": 0},
            {"type": "content_block_start", "index": 1, "content_block": USE},
            {
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": '{"a": 1}'},
            },
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": USAGE},
            {"type": "message_stop"},
        ],
    ],
    "gemini": [
        {
            "responseId": "abcdefgh1234",
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
                            {"functionCall": {"id": "c1", "name": "now", "args": {"tz": [1]}}},
                            {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                            {"executableCode": {"code": "1"}},
                            {"text": "Hello."},
                        ],
                    },
                    "finishReason": "STOP",
                    "index": 0,
                }
            ],
            "usageMetadata": {"totalTokenCount": 3},
        },
        [
            {"candidates": [{"content": {"parts": [{"text": "Hel"}]}, "index": 0}]},
            {"candidates": [{"content": {"parts": [{"text": "lo."}]}, "index": 0}]},
            {
                "candidates": [
                    {
                        "content": {
                            "parts": [
                                {
                                    "functionCall": {
                                        "name": "now",
                                        "willContinue": True,
                                        "partialArgs": [{"jsonPath": "$.a[0]", "stringValue": "x"}],
                                    }
                                },
                                {"functionCall": {"partialArgs": [{"jsonPath": "$.a"}]}},
                            ]
                        },
                        "finishReason": "STOP",
                    }
                ],
                "usageMetadata": {"totalTokenCount": 3},
            },
        ],
    ],
    "bedrock": [
        {
            "ResponseMetadata": {"RequestId": "r12345678"},
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [
                        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c"}}},
                        {"text": "Hello."},
                        {"toolUse": {"toolUseId": "t1", "name": "now", "input": {"tz": [1]}}},
                        {"citationsContent": {"content": [{"text": "x"}], "citations": [{}]}},
                    ],
                }
            },
            "stopReason": "tool_use",
            "usage": {"totalTokens": 3},
        },
        [
            {"messageStart": {"role": "assistant"}},
            {"contentBlockDelta": {"delta": {"text": "Hello."}, "contentBlockIndex": 0}},
            {
                "contentBlockStart": {
                    "start": {"toolUse": {"toolUseId": "t1", "name": "now"}},
                    "contentBlockIndex": 1,
                }
            },
            {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}}, "contentBlockIndex": 1}},
            {
                "contentBlockDelta": {
                    "delta": {"reasoningContent": {"text": "hm"}},
                    "contentBlockIndex": 2,
                }
            },
            {
                "contentBlockDelta": {
                    "delta": {"citation": {"title": "x", "location": {"a": 1}}},
                    "contentBlockIndex": 3,
                }
            },
            {
                "contentBlockDelta": {
                    "delta": {"toolResult": [{"text": "x"}]},
                    "contentBlockIndex": 4,
                }
            },
            {"messageStop": {"stopReason": "end_turn"}},
            {"metadata": {"usage": {"totalTokens": 3}}},
        ],
    ],
}
LONG = 2_000  # characters that no error may have


class Hostile:
    """
    An object that raises whatever is asked of it.
    """

    def __getattr__(self, name: str) -> Any:
        raise OSError(name)

    def __iter__(self) -> Iterator[Any]:
        raise OSError

    def __repr__(self) -> str:
        raise OSError

    __str__ = __repr__


class Silent(dict[str, Any]):
    """
    A dict whose keys cannot be read.
    """

    def __iter__(self) -> Iterator[str]:
        raise OSError

    def items(self) -> Any:
        raise OSError

    keys = values = items


def looping(kind: type) -> Any:
    loop: Any = kind()
    if kind is dict:
        loop["x"] = loop["y"] = loop
    else:
        loop.extend([loop, loop])

    return loop


def shared(kind: type) -> Any:
    """
    Forty lists, or dicts, each of which holds the one before twice: a million million values.
    """
    held: Any = "x"
    for _ in range(40):
        held = [held, held] if kind is list else {"x": held, "y": held}

    return held


def deep(kind: type) -> Any:
    held: Any = "x"
    for _ in range(100_000):
        held = [held] if kind is list else {"x": held}

    return held


ENDLESS = {
    "a loop of dicts": looping(dict),
    "a loop of lists": looping(list),
    "shared dicts": shared(dict),
    "shared lists": shared(list),
    "deep dicts": deep(dict),
    "deep lists": deep(list),
}
ODD = {
    "a huge number": 10**5_000,
    "not a number": float("nan"),
    "infinite": float("-inf"),
    "a set": {1},
    "bytes": b"\xff",
    "keys that are no text": {1: "a", None: "b", ("c",): 1},
    "an object": Hostile(),
    "a silent dict": Silent(a=1),
    "a class": dict,
    "half a character": "\ud83d\x00",
    "a megabyte": "x" * 1_000_000,
    "a megabyte of keys": {"x" * 1_000_000: {"y"}},
    "many lists": [[]] * 1_000,
    "none": None,
    "a number": 5,
    "true": True,
    "a list": [],
    "a list of none": [None],
    "a dict": {},
    "text": "x",
}
ADDED = ("zz", "id", "type", "name", "index", "content", "text", "cache_control", "x" * 5_000)


def with_value(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """
    A copy of *value* with *new* at a path; `...` takes away what is there.
    """
    if not path:
        return new
    made = copied(value)
    inside = made
    for step in path[:-1]:
        inside = inside[step]
    if new is ...:
        del inside[path[-1]]
    else:
        inside[path[-1]] = new

    return made


def spoiled(value: Any, new: Any) -> Iterator[Any]:
    """
    The value with *new* at each of its places in turn, and under other keys in each of its dicts.
    """
    for path in places(value):
        if path or new is not ...:
            yield with_value(value, path, new)
        inside = value
        for step in path:
            inside = inside[step]
        if isinstance(inside, dict) and new is not ...:
            for key in ADDED:
                yield with_value(value, (*path, key), new)


def held(act: Any, *errors: type[Exception]) -> str:
    """
    What *act* is refused with, "" if it is not; anything but *errors* is raised.
    """
    try:
        act()
    except errors as error:
        assert len(str(error)) < LONG  # noqa: PT017  it is short
        return str(error)

    return ""


@pytest.mark.parametrize("api", FORMATS)
class TestLoad:
    @pytest.mark.parametrize("kind", ENDLESS)
    def test_refuses_what_never_ends(self, api: str, kind: str):
        """
        With a FormatError, wherever it stands.
        """
        (turns,) = SEEDS[api]
        for given in spoiled(turns, ENDLESS[kind]):
            with pytest.raises(FormatError) as caught:
                FORMATS[api].load(given)

            assert len(str(caught.value)) < LONG

    @pytest.mark.parametrize("kind", ODD)
    def test_refuses_in_few_words_what_is_odd_or_takes_it(self, api: str, kind: str):
        """
        With one of our own errors.
        """
        (turns,) = SEEDS[api]
        for given in spoiled(turns, ODD[kind]):
            held(lambda given=given: FORMATS[api].load(given), FormatError, ConfigError)
            held(lambda given=given: detect(given), FormatError)

    def test_refuses_an_endless_prompt(self, api: str):
        """
        The system that is given beside the turns.
        """
        (turns,) = SEEDS[api]
        for bad in (*ENDLESS.values(), *ODD.values()):
            for system in (bad, [bad], [{"type": "text", "text": "x", "zz": bad}]):
                held(lambda system=system: FORMATS[api].load(turns, system), UnabridgedError)


@pytest.mark.parametrize("api", FORMATS)
@pytest.mark.parametrize("form", [0, 1], ids=["response", "stream"])
class TestReply:
    def test_takes_the_samples(self, api: str, form: int):
        """
        They are whole, or nothing else here would say much.
        """
        (message,) = FORMATS[api].reply(copied(REPLIES[api][form]))

        assert "Hello." in message.text

    @pytest.mark.parametrize("kind", ENDLESS)
    def test_refuses_what_never_ends(self, api: str, form: int, kind: str):
        """
        With a FormatError, wherever it stands.
        """
        for given in spoiled(REPLIES[api][form], ENDLESS[kind]):
            with pytest.raises(FormatError) as caught:
                FORMATS[api].reply(given)

            assert len(str(caught.value)) < LONG

    @pytest.mark.parametrize("kind", ODD)
    def test_refuses_in_few_words_what_is_odd_or_takes_it(self, api: str, form: int, kind: str):
        """
        With a FormatError.
        """
        for given in spoiled(REPLIES[api][form], ODD[kind]):
            held(lambda given=given: FORMATS[api].reply(given), FormatError)

    def test_takes_a_response_without_a_key_or_says_what_is_missing(self, api: str, form: int):
        """
        Each taken away in turn.
        """
        for given in spoiled(REPLIES[api][form], ...):
            held(lambda given=given: FORMATS[api].reply(given), FormatError)

    def test_takes_an_object_that_gives_it_or_says_what_went_wrong(self, api: str, form: int):
        """
        An object of a client, whose dump may raise, loop, or be none.
        """

        class Model:
            def __init__(self, given: Any) -> None:
                self.given = given

            def model_dump(self, **_: Any) -> Any:
                if isinstance(self.given, Exception):
                    raise self.given
                return self.given

        for bad in (*ENDLESS.values(), *ODD.values(), OSError("x" * LONG), RecursionError()):
            for given in (Model(bad), [Model(bad)]):
                assert held(lambda given=given: FORMATS[api].reply(given), FormatError)
            within = Model(dict.fromkeys(("output", "content", "choices", "candidates"), bad))
            held(lambda within=within: FORMATS[api].reply(within), FormatError)
        for given in (Hostile(), Silent(a=1), iter([Hostile()]), (Silent() for _ in range(2))):
            assert held(lambda given=given: FORMATS[api].reply(given), FormatError)
        assert FORMATS[api].reply(copied(REPLIES[api][form]))


class TestErrors:
    def test_an_error_of_a_server_is_told_in_few_words(self):
        """
        It may repeat all that it was sent.
        """
        for api, key in itertools.product(FORMATS, ("error", "detail", "message", "type")):
            for body in ("x" * 10**6, {"message": "x" * 10**6, "type": "y" * 10**6}, ["x"] * 10**6):
                assert held(lambda: FORMATS[api].reply({key: body}), FormatError)  # noqa: B023

    def test_an_item_without_a_type_is_refused(self):
        """
        With the place, not with a KeyError.
        """
        with pytest.raises(FormatError, match=r"^response\.output\[0\]"):
            FORMATS["responses"].reply({"output": [{"id": "x"}]})

        assert json.dumps(REPLIES)


class TestObjects:
    """
    Objects that raise when they are asked for what tells another framework's messages.
    """

    @pytest.mark.parametrize("name", FORMATS)
    @pytest.mark.parametrize(
        "turn",
        [
            Hostile(),
            {"role": "user", "content": Hostile()},
            {"role": "user", "content": [Hostile()]},
            {"role": "user", "parts": [Hostile()]},
            {"role": "user", "content": {"parts": Hostile()}, "author": "x"},
        ],
        ids=["a turn", "its content", "a block", "a part", "what an event holds"],
    )
    def test_are_refused_as_all_others(self, name: str, turn: Any):
        """
        They are no message of a framework, and no API's form.
        """
        with pytest.raises(FormatError):
            FORMATS[name].load([turn])
        with pytest.raises(UnabridgedError):
            FORMATS[name].request(turn)

    def test_are_not_detected(self):
        """
        `detect` says what it looked for.
        """
        with pytest.raises(FormatError, match=r"messages\[0\]"):
            detect([Hostile()])
