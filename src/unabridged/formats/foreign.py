"""
Messages of other frameworks: they look like an API's form, and are none.

Each is told by what it alone has. What is not sure is not here: a message of a
role and words is everybody's. One framework after another makes the length of
this module.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NoReturn, TypeAlias

from attrs import frozen

from unabridged.errors import FormatError
from unabridged.text import short, word

__all__ = ["foreign", "native", "refuse_elsewhere", "refuse_foreign"]

_Keys: TypeAlias = Mapping[str, Any]

_BUILD = "build them with user(), assistant() and tool()"
_GIVE = "give the dicts of the API that you call"

# keys of a turn that, with words for its content, tell of no framework
_PLAIN = frozenset(
    {"role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal"}
)
_ITEMS = frozenset({"function_call", "function_call_output", "reasoning", "message"})
_CONTENT = frozenset({"role", "parts"})
_SPEAKERS = ("user", "model", None)
_GEMINI = frozenset(
    {"text", "functionCall", "functionResponse", "inlineData", "thought", "thoughtSignature"}
)
_BLOCKS = frozenset({"text", "toolUse", "toolResult", "reasoningContent", "cachePoint"})
_TYPES = frozenset(
    {"text", "tool_use", "tool_result", "thinking", "image_url", "input_text", "output_text"}
)
_LANGCHAIN = frozenset(
    {"human", "ai", "system", "tool", "function", "chat", "generic", "remove"}
    | {f"{kind}MessageChunk" for kind in ("Human", "AI", "System", "Tool", "Function", "Chat")}
)
_MODEL_PARTS = frozenset(
    {"tool-call", "tool-result", "tool-approval-request", "tool-approval-response"}
)
_CAMEL = frozenset({"toolCalls", "toolCallId", "toolInvocations", "experimental_attachments"})
_STEPS = ("tool-call", "tool-response")
_A2A_ROLES = frozenset({"agent", "ROLE_AGENT", "ROLE_USER", "ROLE_UNSPECIFIED"})
_ELSEWHERE = frozenset({"parts", "blocks", "contents", "message", "text"})  # where others say it
_SEVERAL = 3  # keys that an error names
# without one of these keys, a turn that says its words in a text is told by no framework
_TELLING = frozenset(
    {"parts", "kind", "type", "blocks", "contents", "additional_kwargs", "source", "object"}
    | {"content_type", "items", "meta", "lc", "invocation_id", "invocationId", "author", "data"}
    | {"toolCalls", "toolCallId", "from", "images", "tool_name", "thinking", "_role", "_content"}
    | {"toolInvocations", "experimental_attachments"}
)
_MISSING = object()
_READ = (
    *("role", "content", "parts", "kind", "part_kind", "type", "blocks", "block_type", "contents"),
    *("additional_kwargs", "source", "_role", "_content", "meta", "message_id", "messageId"),
    *("items", "content_type", "object", "author", "invocation_id", "data", "text", "value"),
    "mimeType",
)


@frozen
class _Framework:
    """
    Whose messages they are, how they are told, and what to do with them.
    """

    name: str
    is_told: Callable[[_Keys], bool]
    advice: str
    loads: bool = False  # its words are read all the same: only `detect` refuses it


def native(turns: Sequence[object], where: str) -> None:
    """
    Refuse *turns* if one of them is a message of another framework.

    Raises:
        FormatError: one is; the text says whose it looks like and what to do.

    >>> native([{"role": "user", "content": "hi"}], "messages")
    >>> native([{"kind": "request", "parts": []}], "contents")
    Traceback (most recent call last):
    unabridged.errors.FormatError: contents[0]: looks like a message of pydantic-ai, which is \
no API's form; build them with user(), assistant() and tool()
    """
    for at, turn in enumerate(turns):
        found = foreign(turn)
        if found is not None and not found.loads:
            refuse_foreign(found, f"{where}[{at}]")


def refuse_foreign(found: _Framework, where: str) -> NoReturn:
    """
    Raise for a message of another framework.

    >>> refuse_foreign(foreign({"kind": "request", "parts": []}), "messages[3]")
    Traceback (most recent call last):
    unabridged.errors.FormatError: messages[3]: looks like a message of pydantic-ai, which is \
no API's form; build them with user(), assistant() and tool()
    """
    msg = f"{where}: looks like a message of {found.name}, which is no API's form; {found.advice}"
    raise FormatError(msg)


def refuse_elsewhere(keys: _Keys, where: str, wish: str, *, nameless: bool = False) -> None:
    """
    Refuse a message without content that says its words under another key.

    Of one that is *nameless*, without a role, any key is another one.

    >>> refuse_elsewhere({"name": "ann"}, "messages[0].content", "text")
    >>> refuse_elsewhere({"text": "hi"}, "messages[0].content", "text")
    Traceback (most recent call last):
    unabridged.errors.FormatError: messages[0].content: expected text, got nothing, but `text`; \
with that it is the form of another API or framework
    """
    found = [f"`{word(str(key))}`" for key in keys if nameless or key in _ELSEWHERE][:_SEVERAL]
    if not found:
        return
    others = " and ".join(found)
    msg = f"{short(where)}: expected {wish}, got nothing, but {others}"
    msg += "; with that it is the form of another API or framework"
    raise FormatError(msg)


def foreign(turn: object) -> _Framework | None:
    """
    The framework whose message *turn* clearly is, a dict or an object; None for any other.

    >>> foreign({"role": "user", "parts": [{"text": "hi"}]})
    >>> foreign({"type": "human", "content": "hi"}).name
    'LangChain'
    """
    if type(turn) is dict and _is_common(turn):
        return None
    keys = _keys(turn)

    return next((one for one in _FRAMEWORKS if one.is_told(keys)), None)


def _is_common(turn: dict[str, Any]) -> bool:
    """
    Whether the turn is like most that APIs have, and need not be looked at any further.
    """
    keys = turn.keys()
    if type(turn.get("content")) is str and _TELLING.isdisjoint(keys):
        return turn.get("role") not in _STEPS
    if "parts" in keys:
        parts = turn["parts"]
        if type(parts) is not list or not keys <= _CONTENT or turn.get("role") not in _SPEAKERS:
            return False
        return all(type(part) is dict and part.keys() <= _GEMINI for part in parts)
    if keys <= _PLAIN and turn.get("role") not in _STEPS:
        content = turn.get("content")
        if type(content) is list:
            return all(type(block) is dict and _is_block(block) for block in content)
        return content is None or type(content) is str

    kind = turn.get("type")
    return type(kind) is str and kind in _ITEMS and "object" not in keys


def _is_block(block: dict[str, Any]) -> bool:
    kind = block.get("type")
    if kind is None:
        return next(iter(block), "") in _BLOCKS
    if type(kind) is not str or kind not in _TYPES:
        return False

    return kind != "text" or type(block.get("text")) is str


def _keys(value: object) -> _Keys:
    """
    The keys of a dict; of an object, those of its attributes that tell.
    """
    if isinstance(value, dict):
        return value
    if value is None or isinstance(value, str | bytes | int | float | list | tuple):
        return {}
    read = ((name, _attribute(value, name)) for name in _READ)

    return {name: found for name, found in read if found is not _MISSING and not callable(found)}


def _attribute(value: object, name: str) -> object:
    """
    An attribute; one that raises when it is read tells as little as one that is not there.
    """
    try:
        return getattr(value, name, _MISSING)
    except Exception:  # noqa: BLE001  an object of others
        return _MISSING


def _each(value: object) -> Iterable[_Keys]:
    return [_keys(one) for one in value] if isinstance(value, list | tuple) else ()


def _word(value: object) -> str:
    # roles and kinds may be members of an enumeration
    found = value.value if isinstance(value, Enum) else value

    return found if isinstance(found, str) else ""


def _is_pydantic_ai(keys: _Keys) -> bool:
    if "parts" not in keys:
        return False
    told = _word(keys.get("kind")) in ("request", "response")

    return told or any("part_kind" in part for part in _each(keys["parts"]))


def _is_a2a(keys: _Keys) -> bool:
    if "parts" not in keys:
        return False
    told = _word(keys.get("kind")) == "message" or _word(keys.get("role")) in _A2A_ROLES
    has_id = "messageId" in keys or "message_id" in keys

    return told or has_id or any("kind" in part for part in _each(keys["parts"]))


def _is_telemetry(keys: _Keys) -> bool:
    return any(
        "type" in part and "text" not in part and ("content" in part or "arguments" in part)
        for part in _each(keys.get("parts"))
    )


def _is_ui_message(keys: _Keys) -> bool:
    return "role" in keys and any("type" in part for part in _each(keys.get("parts")))


def _is_model_message(keys: _Keys) -> bool:
    return any(
        (_word(part.get("type")) in _MODEL_PARTS and len(part) > 1)
        or (part.get("type") == "image" and "image" in part)
        or (part.get("type") == "file" and ("mediaType" in part or "mimeType" in part))
        for part in _each(keys.get("content"))
    )


def _is_langchain(keys: _Keys) -> bool:
    if "lc" in keys and "kwargs" in keys:
        return True
    if "additional_kwargs" in keys and "content" in keys and "blocks" not in keys:
        return True
    if "role" in keys and keys.get("type") != "chat":
        return False
    has_words = isinstance(keys.get("content"), str | list) or isinstance(keys.get("data"), dict)

    return _word(keys.get("type")) in _LANGCHAIN and has_words


def _is_llama_index(keys: _Keys) -> bool:
    blocks = keys.get("blocks")
    if "role" not in keys or not isinstance(blocks, list):
        return False
    # an object has `content` too, worked out of its blocks
    return "content" not in keys or any("block_type" in block for block in _each(blocks))


def _is_autogen(keys: _Keys) -> bool:
    return isinstance(keys.get("source"), str) and "content" in keys and "role" not in keys


def _is_agent_framework(keys: _Keys) -> bool:
    has_contents = "role" in keys and isinstance(keys.get("contents"), list)

    return has_contents or _word(keys.get("type")) == "chat_message"


def _is_semantic_kernel(keys: _Keys) -> bool:
    return "role" in keys and (
        keys.get("content_type") == "message"
        or any("content_type" in item for item in _each(keys.get("items")))
    )


def _is_haystack(keys: _Keys) -> bool:
    if "_role" in keys and "_content" in keys:
        return True
    blocks = list(_each(keys.get("content")))
    if not blocks or any("type" in block for block in blocks):
        return False
    has_call = any("tool_call_result" in block or "tool_call" in block for block in blocks)

    return has_call or ("role" in keys and isinstance(keys.get("meta"), dict))


def _is_thread_message(keys: _Keys) -> bool:
    if keys.get("object") == "thread.message":
        return True

    return any(
        block.get("type") == "text" and "value" in _keys(block.get("text"))
        for block in _each(keys.get("content"))
    )


def _is_mcp(keys: _Keys) -> bool:
    content = keys.get("content")
    if "role" not in keys or isinstance(content, str):
        return False
    blocks = _each(content) if isinstance(content, list | tuple) else [_keys(content)]

    return any(
        isinstance(block.get("type"), str)
        and (
            not isinstance(content, list | tuple)
            or block["type"] in ("resource", "resource_link")
            or ("mimeType" in block and "data" in block)
        )
        for block in blocks
    )


def _is_adk_event(keys: _Keys) -> bool:
    author = isinstance(keys.get("author"), str)
    told = "invocation_id" in keys or "invocationId" in keys or author

    return told and "parts" in _keys(keys.get("content"))


def _is_export(keys: _Keys) -> bool:
    return isinstance(keys.get("author"), dict) and "content_type" in _keys(keys.get("content"))


def _is_smolagents(keys: _Keys) -> bool:
    return _word(keys.get("role")) in _STEPS and "content" in keys


def _is_realtime(keys: _Keys) -> bool:
    return keys.get("object") == "realtime.item"


def _is_camel_case(keys: _Keys) -> bool:
    return "role" in keys and not _CAMEL.isdisjoint(keys)


def _is_cohere(keys: _Keys) -> bool:
    return "role" in keys and "content" not in keys and isinstance(keys.get("message"), str)


def _is_share_gpt(keys: _Keys) -> bool:
    return "role" not in keys and isinstance(keys.get("from"), str) and "value" in keys


def _is_ollama(keys: _Keys) -> bool:
    if "role" not in keys or not isinstance(keys.get("content", ""), str):
        return False
    has_images = isinstance(keys.get("images"), list)

    return has_images or "tool_name" in keys or isinstance(keys.get("thinking"), str)


_FRAMEWORKS = (
    _Framework("pydantic-ai", _is_pydantic_ai, _BUILD),
    _Framework("the A2A protocol", _is_a2a, _BUILD),
    _Framework("OpenTelemetry's GenAI conventions", _is_telemetry, _BUILD),
    _Framework("a user interface, such as the AI SDK's UIMessage", _is_ui_message, _BUILD),
    _Framework("the AI SDK, a ModelMessage", _is_model_message, _BUILD),
    _Framework("LlamaIndex", _is_llama_index, _BUILD),
    _Framework(
        "LangChain",
        _is_langchain,
        "langchain_core's convert_to_openai_messages(…) makes what openai_chat.load reads",
    ),
    _Framework("AutoGen", _is_autogen, _BUILD),
    _Framework("Microsoft's Agent Framework", _is_agent_framework, _BUILD),
    _Framework(
        "Semantic Kernel",
        _is_semantic_kernel,
        "its to_dict() makes what openai_chat.load reads",
    ),
    _Framework(
        "Haystack",
        _is_haystack,
        "its to_openai_dict_format() makes what openai_chat.load reads",
    ),
    _Framework("a thread of OpenAI's Assistants", _is_thread_message, _BUILD),
    _Framework("OpenAI's Realtime API", _is_realtime, _BUILD),
    _Framework("an export of ChatGPT", _is_export, _BUILD),
    _Framework("smolagents", _is_smolagents, _BUILD),
    _Framework("the Model Context Protocol", _is_mcp, _BUILD),
    _Framework(
        "Google's ADK, an event",
        _is_adk_event,
        "give its content: gemini.load([event.content.model_dump(exclude_none=True)])",
    ),
    _Framework("a JavaScript framework, such as AG-UI", _is_camel_case, _GIVE),
    _Framework("Cohere's first API", _is_cohere, _BUILD),
    _Framework("ShareGPT's data", _is_share_gpt, _BUILD),
    _Framework("Ollama", _is_ollama, "openai_chat.load reads its words and calls", loads=True),
)
