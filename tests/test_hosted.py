"""
The table of hosted tools: pairs, and words, of what a provider ran itself.
"""

import importlib
import json
import typing

import pytest

from unabridged import (
    ClearToolResults,
    ClipToolResults,
    Deduplicate,
    Memory,
    Repair,
    assistant,
    formats,
    run,
    tokens,
    user,
)
from unabridged.formats import anthropic, gemini, openai_responses
from unabridged.hosted.table import HOSTED, half_of, lone_halves, words_in
from unabridged.messages import Message, Opaque, ToolResult
from unabridged.originals import original
from unabridged.testing import view_of

RAN = [{"stdout": "the words", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
OUTPUTS = {
    "shell_call_output": {"call_id": "c1", "output": RAN},
    "local_shell_call_output": {"id": "c1", "output": "the words"},
    "apply_patch_call_output": {"call_id": "c1", "status": "failed", "output": "the words"},
    "computer_call_output": {"call_id": "c1", "output": {"message": "the words"}},
    "tool_search_output": {"call_id": "c1", "tools": [{"name": "the words"}]},
    "mcp_approval_response": {"approval_request_id": "c1", "approve": False, "reason": "the words"},
    "function_call_output": {"call_id": "c1", "output": "the words"},
    "custom_tool_call_output": {"call_id": "c1", "output": "the words"},
}
SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "lima"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "s1",
    "content": [
        {
            "type": "web_search_result",
            "title": "Lima today",
            "url": "https://example.org",
            "encrypted_content": "c2VjcmV0",
        }
    ],
}
PATCHED = {
    "type": "bash_code_execution_tool_result",
    "tool_use_id": "s1",
    "content": {"type": "bash_code_execution_result", "stdout": "4 passed", "stderr": "1 warning"},
}
FETCHED = {
    "type": "web_fetch_tool_result",
    "tool_use_id": "s1",
    "content": {
        "type": "web_fetch_result",
        "url": "https://example.org",
        "content": {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "the page"},
        },
    },
}
TEXT = {"type": "text", "text": "It is sunny."}


def hosted(provider, *items):
    """
    An assistant's message of these items.
    """
    return assistant([Opaque(provider, item) for item in items])


def rules(messages, provider):
    """
    What `problems` names, with the entries.
    """
    return [(found.rule, found.seq) for found in formats.problems(messages, provider)]


def _flat(union):
    """
    The classes in a union, whatever it is wrapped in.
    """
    if isinstance(union, type):
        return [union]

    return [
        one
        for inner in typing.get_args(union)
        if isinstance(inner, type) or typing.get_args(inner)
        for one in _flat(inner)
    ]


class TestTable:
    @pytest.mark.parametrize(
        ("module", "union", "provider"),
        [
            (
                "openai.types.responses.response_input_item_param",
                "ResponseInputItemParam",
                "openai_responses",
            ),
            (
                "anthropic.types.beta.beta_content_block_param",
                "BetaContentBlockParam",
                "anthropic",
            ),
            ("anthropic.types.content_block_param", "ContentBlockParam", "anthropic"),
        ],
    )
    def test_has_each_type_of_the_installed_client(self, module, union, provider):
        """
        Each type that the client's union takes is in the table.
        """
        pytest.importorskip(module.partition(".")[0], reason="the client is not installed")
        kinds = set()
        for one in _flat(getattr(importlib.import_module(module), union)):
            model = getattr(one, "model_fields", None)
            hint = model["type"].annotation if model else typing.get_type_hints(one)["type"]
            while typing.get_origin(hint) is not typing.Literal:
                hint = typing.get_args(hint)[0]
            kinds.update(typing.get_args(hint))

        assert set() == kinds - set(HOSTED[provider])

    def test_has_each_tool_part_of_the_installed_client_of_gemini(self):
        """
        Each pair of fields of a part that hosted tools use is in the table, in both spellings.
        """
        types = pytest.importorskip("google.genai.types", reason="the client is not installed")
        fields = {
            name: field.alias
            for name, field in types.Part.model_fields.items()
            if name.startswith(("tool_", "executable_code", "code_execution"))
        }

        assert set(HOSTED["gemini"]) >= set(fields) | set(filter(None, fields.values()))

    def test_knows_both_sides_of_each_pair(self):
        """
        Each side of each format has its other side.
        """
        for provider, kinds in HOSTED.items():
            sides = {kind.side for kind in kinds.values() if kind.side}

            assert sides == {"call", "result"}, provider


class TestWords:
    @pytest.mark.parametrize("kind", OUTPUTS)
    def test_of_each_output_are_read(self, kind):
        """
        Each type of output has its words.
        """
        assert words_in(Opaque("openai_responses", {"type": kind, **OUTPUTS[kind]})) == "the words"

    @pytest.mark.parametrize(
        ("provider", "item", "words"),
        [
            ("anthropic", SEARCH, "lima"),
            ("anthropic", FOUND, "Lima today\nhttps://example.org"),
            ("anthropic", PATCHED, "4 passed\n1 warning"),
            ("anthropic", FETCHED, "https://example.org\nthe page"),
            ("gemini", {"executableCode": {"code": "print(1)", "language": "PYTHON"}}, "print(1)"),
            ("gemini", {"codeExecutionResult": {"output": "1", "outcome": "OUTCOME_OK"}}, "1"),
            (
                "openai_responses",
                {
                    "type": "code_interpreter_call",
                    "id": "ci_1",
                    "code": "f()",
                    "outputs": [{"type": "logs", "logs": "done"}],
                },
                "f()\ndone",
            ),
            (
                "openai_responses",
                {"type": "mcp_call", "name": "ask", "arguments": "{}", "output": "answer"},
                "ask\n{}\nanswer",
            ),
            ("openai_responses", {"type": "compaction", "encrypted_content": "c2VjcmV0"}, ""),
            ("anthropic", {"type": "a_new_one", "title": "New", "secret": "no"}, "New"),
        ],
    )
    def test_of_hosted_tools_are_read(self, provider, item, words):
        """
        What is encrypted is not read, of an unknown type what is called text.
        """
        assert words_in(Opaque(provider, item)) == words

    @pytest.mark.parametrize("kind", OUTPUTS)
    def test_are_in_the_original(self, kind):
        """
        What a handle gives back of a loaded output has its words.
        """
        messages = openai_responses.load([{"type": kind, **OUTPUTS[kind]}])

        assert "the words" in original(messages[0])

    def test_are_found_in_a_memory(self):
        """
        A search of a thread finds what a hosted tool printed.
        """
        memory = Memory()
        memory.append(user("Test it."), hosted("anthropic", SEARCH, PATCHED))

        assert "4 passed" in str(memory.find("4 passed").found)


class TestOrphans:
    @pytest.mark.parametrize("kind", OUTPUTS)
    def test_go_once_as_words(self, kind):
        """
        An output whose call is gone goes as words, and not as the item too.
        """
        messages = openai_responses.load(
            [{"role": "user", "content": "hi"}, {"type": kind, **OUTPUTS[kind]}]
        )
        mended = formats.mend(messages, "openai_responses")
        sent = json.dumps(openai_responses.dump(mended.messages))

        assert rules(messages, "openai_responses") == [("orphan result", 2)]
        assert rules(mended.messages, "openai_responses") == []
        assert sent.count("the words") == 1
        assert kind not in sent

    @pytest.mark.parametrize("kind", [kind for kind in OUTPUTS if kind != "mcp_approval_response"])
    def test_that_stand_bare_are_named(self, kind):
        """
        An output that is a part of its own, and has no call, is no secret.
        """
        item = {"type": kind, **OUTPUTS[kind], "call_id": "c1"}

        assert rules([user("hi"), hosted("openai_responses", item)], "openai_responses") == [
            ("lone server result", 2)
        ]

    def test_keep_the_picture_of_a_screen(self):
        """
        The picture of an orphan goes as one.
        """
        output = {"type": "computer_screenshot", "image_url": "https://example.org/a.png"}
        item = {"type": "computer_call_output", "call_id": "c1", "output": output}
        messages = formats.mend(openai_responses.load([item]), "openai_responses").messages

        assert [part.url for part in messages[0].parts if hasattr(part, "url")] == [
            "https://example.org/a.png"
        ]


class TestLoneHalves:
    def test_of_a_pair_are_none(self):
        """
        A call with its result, in one message or the next, is whole.
        """
        for messages in (
            [user("q"), hosted("anthropic", SEARCH, FOUND, TEXT), user("Well?")],
            [user("q"), hosted("anthropic", SEARCH), hosted("anthropic", FOUND), user("Well?")],
        ):
            assert rules(messages, "anthropic") == []

    def test_may_be_paused_at_the_end(self):
        """
        A call that nobody has spoken after is gone on with, and no problem.
        """
        view = view_of([user("q"), hosted("anthropic", SEARCH)])

        assert "lone server call" not in dict(rules(view, "anthropic"))
        assert run(Repair(), view).changes == ()

    def test_may_wait_for_a_tool_of_the_client(self):
        """
        A result after the answers of the client belongs to the call before them.
        """
        asked = {"type": "tool_use", "id": "c1", "name": "now", "input": {}}
        answer = {"type": "tool_result", "tool_use_id": "c1", "content": "noon"}
        messages = anthropic.load(
            [
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": [SEARCH, asked]},
                {"role": "user", "content": [answer]},
                {"role": "assistant", "content": [FOUND, TEXT]},
                {"role": "user", "content": "Well?"},
            ]
        )

        assert rules(messages, "anthropic") == []
        assert run(Repair(), view_of(messages)).changes == ()

    @pytest.mark.parametrize(
        ("provider", "call", "result"),
        [
            ("anthropic", SEARCH, FOUND),
            ("anthropic", {**SEARCH, "type": "mcp_tool_use"}, {**FOUND, "type": "mcp_tool_result"}),
            (
                "openai_responses",
                {"type": "shell_call", "call_id": "s1", "action": {}},
                {"type": "shell_call_output", "call_id": "s1", "output": RAN},
            ),
            (
                "openai_responses",
                {"type": "program", "call_id": "s1", "code": "f()"},
                {"type": "program_output", "call_id": "s1", "result": "1"},
            ),
            (
                "gemini",
                {"executableCode": {"id": "s1", "code": "1"}},
                {"codeExecutionResult": {"id": "s1", "output": "1"}},
            ),
            (
                "gemini",
                {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB"}},
                {"toolResponse": {"id": "s1", "response": {}}},
            ),
        ],
    )
    def test_are_named_and_taken_out(self, provider, call, result):
        """
        Either half alone is named, and `Repair` leaves the rest of the message.
        """
        for half, rule in ((call, "lone server call"), (result, "lone server result")):
            lone = Message("assistant", (Opaque(provider, half), *assistant("It is.").parts))
            view = view_of([user("q"), lone, user("Well?")])
            done = run(Repair(), view)

            assert rules(view, provider) == [(rule, 2)]
            assert done.messages == (user("q"), assistant("It is."), user("Well?"))
            assert rules(done.messages, provider) == []

    def test_alone_in_a_message_leave_a_note(self):
        """
        A message of nothing else says what it held, so no turn goes missing.
        """
        done = run(Repair(), view_of([user("q"), hosted("anthropic", SEARCH), user("Well?")]))

        assert done.messages[1].text == (
            "[the call of a hosted tool (server_tool_use) was here, without the other half]"
        )

    def test_of_one_id_count(self):
        """
        A second result for one call is lone, and so is the call that was asked twice.
        """
        call, result = Opaque("anthropic", SEARCH), Opaque("anthropic", FOUND)

        assert [at for _, at, _ in lone_halves([(False, [call, result, result])])] == [2]
        assert [at for _, at, _ in lone_halves([(False, [call, call, result]), (True, [])])] == [0]

    def test_are_no_parts_of_other_kinds(self):
        """
        Words, results of the client and unknown types are no halves.
        """
        for part in (
            *user("hi").parts,
            ToolResult("s1", "sunny"),
            Opaque("anthropic", {"type": "a_new_one", "id": "s1"}),
            Opaque("anthropic", ["no", "object"]),
            Opaque("anthropic", {**SEARCH, "id": ""}),
            Opaque("elsewhere", SEARCH),
        ):
            assert half_of(part) is None

    def test_of_gemini_without_ids_are_left(self):
        """
        What has no id pairs with nothing.
        """
        content = {"role": "model", "parts": [{"executableCode": {"code": "1"}}, {"text": "1"}]}
        messages = [user("q"), *gemini.load([content]), user("Well?")]

        assert rules(messages, "gemini") == []


class TestClipping:
    @pytest.mark.parametrize(
        ("call", "output", "keys"),
        [
            ("shell_call", {"output": [{**RAN[0], "stdout": "row " * 900}]}, ["call_id"]),
            ("apply_patch_call", {"status": "failed", "output": "row " * 900}, ["status"]),
            ("local_shell_call", {"output": "row " * 900}, ["type"]),
        ],
    )
    def test_shortens_the_words_and_keeps_the_rest(self, call, output, keys):
        """
        A long output is clipped in its place, once; its type, ids and outcome stay.
        """
        item = {"type": f"{call}_output", "id": "c1", "call_id": "c1", **output}
        asked = {"type": call, "id": "c1", "call_id": "c1"}
        given = [{"role": "user", "content": "q"}, asked, item, {"role": "user", "content": "so?"}]
        done = run(ClipToolResults(40), view_of(openai_responses.load(given)))
        sent = openai_responses.dump(done.messages)[2]

        assert "tokens left out; the whole is entry 3" in json.dumps(sent)
        assert [sent[key] for key in keys] == [item[key] for key in keys]
        assert sent.keys() == item.keys()
        assert run(ClipToolResults(40), done.view).changes == ()
        if call == "shell_call":
            assert sent["output"][0]["outcome"] == RAN[0]["outcome"]


def shell(*ran):
    """
    A transcript in which shell commands said these, each beside its exit code.
    """
    items = [{"role": "user", "content": "q"}]
    for number, (said, code) in enumerate(ran):
        outcome = {"type": "exit", "exit_code": code}
        told = {"stdout": said, "stderr": "", "outcome": outcome}
        items += [
            {"type": "shell_call", "call_id": f"c{number}", "action": {"commands": ["ls"]}},
            {"type": "shell_call_output", "call_id": f"c{number}", "output": [told]},
            {"role": "assistant", "content": "ok"},
        ]
    items.append({"role": "user", "content": "so?"})

    return openai_responses.load(items)


class TestCounting:
    def test_counts_what_was_printed(self):
        """
        Counters of text count it too, so that it is clipped by them.
        """
        messages = shell(("row " * 300, 0))

        assert 300 <= tokens.words(messages[2]) <= 310
        done = run(ClipToolResults(24, count=tokens.words), view_of(messages))

        assert tokens.words(done.messages[2]) < 40


class TestClearing:
    def test_keeps_the_item_and_how_it_went(self):
        """
        A marker stands in place of what a shell printed, beside the exit code that it had.
        """
        done = run(ClearToolResults(1), view_of(shell(("row " * 300, 3), ("row " * 300, 0))))
        first, second = [
            item["output"][0]
            for item in openai_responses.request(done.messages)["input"]
            if item.get("type") == "shell_call_output"
        ]

        assert first["stdout"].startswith("[shell result cleared: ")
        assert first["stdout"].endswith("; the whole is entry 3]")
        assert {"type": "exit", "exit_code": 3} == first["outcome"]
        assert "row " * 300 == second["stdout"]
        assert () == run(ClearToolResults(1), done.view).changes
        assert () == formats.problems(done.view, "openai_responses")

    def test_leaves_a_picture_of_a_screen(self):
        """
        There is no place for a marker in it, and no request without it.
        """
        screen = {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo="}
        given = [{"role": "user", "content": "q"}]
        for number in range(2):
            given += [
                {"type": "computer_call", "id": f"i{number}", "call_id": f"c{number}"},
                {"type": "computer_call_output", "call_id": f"c{number}", "output": screen},
            ]
        view = view_of(openai_responses.load([*given, {"role": "user", "content": "so?"}]))

        assert view.messages == run(ClearToolResults(1), view).messages
        assert view.messages == run(Deduplicate(min_tokens=1), view).messages


class TestDeduplicating:
    def test_takes_what_was_printed_twice(self):
        """
        The ids of two calls are no difference, an exit code is.
        """
        page = " ".join(f"line{number}" for number in range(200))
        done = run(Deduplicate(), view_of(shell((page, 0), (page, 0))))
        item = openai_responses.request(done.messages)["input"][2]

        assert item["output"][0]["stdout"].startswith("[the same ")
        assert {"type": "exit", "exit_code": 0} == item["output"][0]["outcome"]
        assert () == run(Deduplicate(), view_of(shell((page, 1), (page, 0)))).changes
