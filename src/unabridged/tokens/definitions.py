"""
What tool definitions cost: they are sent with every request, and stand in no message.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from unabridged.errors import ConfigError
from unabridged.json_values import json_object
from unabridged.messages import Message, Text
from unabridged.text import cause
from unabridged.tokens.counters import TokenCounter, costs_of
from unabridged.tokens.formula import Costs
from unabridged.tokens.kept import Kept, kept
from unabridged.tokens.offline import for_model

__all__ = ["tools"]

# OpenAI's figures (cookbook, "How to count tokens with tiktoken", tool calls).
PROPERTIES = 3
PROPERTY = 3
ENUM = -3
ENUM_ITEM = 3
ONCE = 12

_SCHEMA = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
_SEVERAL = ("function_declarations", "functionDeclarations")
# Where a schema holds others: one, a list of them, or some by name.
_ONE_OR_MORE = ("items", "prefixItems", "anyOf", "oneOf", "allOf", "not", "additionalProperties")
_BY_NAME = ("properties", "patternProperties", "$defs", "definitions")


def tools(definitions: Iterable[Mapping[str, Any]], model: str | TokenCounter = "gpt-4o") -> int:
    """
    The tokens of tool definitions, as they are sent with a request.

    *definitions* are in the form of any provider; *model* is a name that
    `for_model` knows, or a counter. By OpenAI's formula (cookbook, "How to
    count tokens with tiktoken"): 12 once; each function 7 (10 for gpt-4 and
    gpt-3.5-turbo) and the tokens of `name:description`; 3 if it has properties,
    and 3 and the tokens of `name:type:description` for each; an enum -3, and 3
    and its tokens for each item. Properties within properties, which the
    formula leaves out, are counted as the outer ones are. For a model of
    another provider, or a counter of your own, and for tools that are no
    functions, it is the tokens of the definition's JSON, which is what chat
    templates send.

    Raises:
        ConfigError: *definitions* are not dicts that JSON can hold, or nothing
            is known of the model.
        CountError: a counter of your own failed.

    >>> weather = {
    ...     "name": "get_weather",
    ...     "description": "Get the weather of a city.",
    ...     "parameters": {
    ...         "type": "object",
    ...         "properties": {"city": {"type": "string", "description": "The city"}},
    ...     },
    ... }
    >>> tools([weather]), tools([{"type": "function", "function": weather}], model="gpt-4")
    (37, 40)
    >>> tools([])
    0
    """
    counter = for_model(model) if isinstance(model, str) else model
    counter = counter.counter if isinstance(counter, Kept) else counter
    each = list(_each(definitions))
    costs = costs_of(counter)
    if costs is None or not costs.function:
        return sum(_as_json(definition, counter) for definition in each)
    functions = [found for definition in each if (found := _function(definition)) is not None]
    others = [definition for definition in each if _function(definition) is None]
    tokens = sum(costs.function + _tokens(function, costs) for function in functions)

    return tokens + (ONCE if functions else 0) + sum(_as_json(one, counter) for one in others)


def _each(definitions: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    wrong = isinstance(definitions, str | bytes | Mapping) or not isinstance(definitions, Iterable)
    if wrong:
        msg = (
            "tools: expected a list of definitions, as the provider takes them, "
            f"got {type(definitions).__name__}"
        )
        raise ConfigError(msg)
    try:
        given = list(definitions)
    except Exception as error:
        msg = f"tools: reading them raised {type(error).__name__}: {cause(error)}"
        raise ConfigError(msg) from error
    for place, definition in enumerate(given):
        if not isinstance(definition, Mapping):
            msg = (
                f"tools[{place}]: expected a definition, a dict as the provider takes it, "
                f"got {type(definition).__name__}"
            )
            raise ConfigError(msg)
        plain: dict[str, Any] = json_object(definition, f"tools[{place}]").value
        lists = [plain.pop(key) for key in _SEVERAL if isinstance(plain.get(key), list)]
        yield from (one for several in lists for one in several if isinstance(one, dict))
        beside = {key: value for key, value in plain.items() if value is not None}
        if beside or not (lists or plain):
            yield beside


def _function(definition: dict[str, Any]) -> dict[str, Any] | None:
    """
    The name, description and schema in a provider's form; None for a tool that is no function.
    """
    match definition:
        case {"function": dict(inner)} | {"toolSpec": dict(inner)}:
            return _function(inner)
        case {"name": str(name)} if _is_function(definition):
            schema: Any = next((definition[key] for key in _SCHEMA if key in definition), {})
            if isinstance(schema, dict) and isinstance(schema.get("json"), dict):
                schema = schema["json"]
            return {"name": name, "description": definition.get("description"), "schema": schema}
        case _:
            return None


def _is_function(definition: dict[str, Any]) -> bool:
    kind = definition.get("type")
    return kind in {None, "function"} or (kind == "custom" and "input_schema" in definition)


def _tokens(function: dict[str, Any], costs: Costs) -> int:
    words = f"{function['name']}:{_sentence(function['description'])}"
    waiting, tokens = [function["schema"]], costs.text(words)
    while waiting:
        schema = waiting.pop()
        if not isinstance(schema, dict):
            continue
        properties = schema.get("properties")
        if isinstance(properties, dict) and properties:
            tokens += PROPERTIES + sum(
                _property(name, held, costs) for name, held in properties.items()
            )
        for key in _ONE_OR_MORE:
            held = schema.get(key)
            waiting.extend(held if isinstance(held, list) else [held])
        for key in _BY_NAME:
            held = schema.get(key)
            waiting.extend(held.values() if isinstance(held, dict) else ())

    return tokens


def _property(name: str, schema: Any, costs: Costs) -> int:
    held = schema if isinstance(schema, dict) else {}
    kind = held.get("type", "")
    words = f"{name}:{kind if isinstance(kind, str) else _json(kind)}:"
    tokens = PROPERTY + costs.text(words + _sentence(held.get("description")))
    items = held.get("enum")
    if isinstance(items, list):
        plain = (item if isinstance(item, str) else _json(item) for item in items)
        tokens += ENUM + sum(ENUM_ITEM + costs.text(item) for item in plain)

    return tokens


def _sentence(value: object) -> str:
    return value.removesuffix(".") if isinstance(value, str) else ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _as_json(definition: dict[str, Any], counter: TokenCounter) -> int:
    text = _json(definition)
    costs = costs_of(counter)

    return costs.text(text) if costs else kept(counter)(Message("system", (Text(text),)))
