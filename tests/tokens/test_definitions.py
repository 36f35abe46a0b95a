"""
What tool definitions cost.
"""

import json

import pytest

from unabridged.errors import ConfigError, CountError
from unabridged.messages import system, user
from unabridged.tokens import exact, for_model, kept, rough, tools, words
from unabridged.tokens.vocabulary import encoding

WEATHER = {
    "name": "get_current_weather",
    "description": "Get the current weather in a given location",
    "parameters": {
        "type": "object",
        "properties": {
            "location": {
                "type": "string",
                "description": "The city and state, e.g. San Francisco, CA",
            },
            "unit": {
                "type": "string",
                "description": "The unit of temperature to return",
                "enum": ["celsius", "fahrenheit"],
            },
        },
        "required": ["location"],
    },
}


def counted(text):
    """
    What tiktoken counts in a text.
    """
    return len(encoding("o200k_base").encode_ordinary(text))


def nested(**schema):
    """
    A function of one property, with that schema.
    """
    return {"name": "f", "parameters": {"properties": {"a": schema}}}


class TestTools:
    @pytest.mark.parametrize(
        ("model", "tokens"),
        [("gpt-4o", 101), ("gpt-4o-mini", 101), ("gpt-4", 105), ("gpt-3.5-turbo", 105)],
    )
    def test_agrees_with_the_cookbook(self, model, tokens):
        """
        The example of OpenAI's cookbook, section 7: messages, tools, and the 3 of the reply.
        """
        messages = [
            system("You are a helpful assistant that can answer to questions about the weather."),
            user("What's the weather like in San Francisco?"),
        ]

        assert tokens == sum(map(exact(model), messages)) + tools([WEATHER], model) + 3

    @pytest.mark.parametrize(
        "form",
        [
            {"type": "function", "function": WEATHER},
            {"type": "function", **WEATHER},
            {"type": "custom", **WEATHER, "input_schema": WEATHER["parameters"]},
            {
                "name": WEATHER["name"],
                "description": WEATHER["description"],
                "input_schema": WEATHER["parameters"],
            },
            {"functionDeclarations": [WEATHER]},
            {"function_declarations": [WEATHER]},
            {
                "toolSpec": {
                    "name": WEATHER["name"],
                    "description": WEATHER["description"],
                    "inputSchema": {"json": WEATHER["parameters"]},
                }
            },
        ],
        ids=["chat", "responses", "custom", "anthropic", "gemini", "gemini-snake", "bedrock"],
    )
    def test_reads_every_provider_s_form(self, form):
        """
        The same function costs the same.
        """
        assert tools([WEATHER]) == tools([form])

    def test_counts_the_frame_once(self):
        """
        12 for all of them; none for none.
        """
        assert 0 == tools([])
        assert 2 * tools([WEATHER]) - 12 == tools([WEATHER, WEATHER])

    def test_counts_a_function_without_anything(self):
        """
        The edge: a name.
        """
        assert 12 + 7 + counted("now:") == tools([{"name": "now"}])

    @pytest.mark.parametrize(
        ("schema", "more"),
        [
            ({"properties": {"b": {"type": "string"}}}, 3 + 3 + counted("b:string:")),
            ({"items": {"properties": {"b": {}}}}, 3 + 3 + counted("b::")),
            ({"anyOf": [{"properties": {"b": {}}}, {"type": "null"}]}, 3 + 3 + counted("b::")),
            ({"$defs": {"B": {"properties": {"b": {}}}}}, 3 + 3 + counted("b::")),
            ({"enum": ["x", 1]}, -3 + 3 + counted("x") + 3 + counted("1")),
            ({"properties": {}}, 0),
            ({"properties": 4, "items": True, "enum": "x"}, 0),
        ],
        ids=["object", "array", "union", "defs", "enum", "empty", "not-a-schema"],
    )
    def test_counts_properties_within_properties(self, schema, more):
        """
        Each as an outer one is; what is no schema costs nothing.
        """
        assert tools([nested()]) + more == tools([nested(**schema)])

    def test_counts_a_schema_of_any_depth(self):
        """
        A schema of a hundred levels is no trouble.
        """
        schema = {}
        for _ in range(90):
            schema = {"properties": {"a": schema}}

        assert 12 + 7 + counted("f:") + 90 * (3 + 3 + counted("a::")) == tools(
            [{"name": "f", "parameters": schema}]
        )

    @pytest.mark.parametrize("counter", [for_model("claude-3"), for_model("gemini-2")])
    def test_counts_json_for_other_providers(self, counter):
        """
        Their formula is not known.
        """
        text = json.dumps(WEATHER, separators=(",", ":"))

        assert counted(text) == tools([WEATHER], counter)

    def test_counts_a_server_s_tool_as_json(self):
        """
        What is no function is what it says.
        """
        search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}

        assert counted(json.dumps(search, separators=(",", ":"))) == tools([search])

    def test_takes_any_counter(self):
        """
        A kept counter is that counter; a function gets the JSON in a message.
        """
        assert tools([WEATHER]) == tools([WEATHER], kept(exact()))
        assert 1 == tools([{"name": "now"}], words)
        assert 0.8 <= tools([WEATHER], rough) / tools([WEATHER]) <= 1.25

    @pytest.mark.parametrize("wrong", ["now", b"then", {"name": "now"}, 4, None])
    def test_refuses_what_is_no_list(self, wrong):
        """
        The message shows the type.
        """
        with pytest.raises(ConfigError, match="tools: expected a list of definitions"):
            tools(wrong)

    def test_says_which_definition_is_wrong(self):
        """
        The path leads to it.
        """
        with pytest.raises(ConfigError, match=r"tools\[1\]: expected a definition, .* got str"):
            tools([WEATHER, "now"])
        with pytest.raises(ConfigError, match=r"tools\[0\].at: JSON cannot hold a set"):
            tools([{"at": {1}}])

    def test_refuses_an_unknown_model(self):
        """
        As `for_model` does; and a counter that fails says so.
        """
        with pytest.raises(ConfigError, match="nothing is known of 'my-model'"):
            tools([WEATHER], "my-model")
        with pytest.raises(CountError, match="returned 1"):
            tools([WEATHER], lambda _message: 1.5)
