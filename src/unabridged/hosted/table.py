"""
The table of hosted tools: what a provider's own item types pair with, and where their words are.

A hosted tool is run by the provider, so its call and its result are no
`ToolCall` and `ToolResult`: each is kept whole, as an `Opaque` part. What a
client answers, such as a shell's call, has a result that holds the item whole.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from unabridged.parts import Opaque, Part

__all__ = [
    "HOSTED",
    "READABLE",
    "Half",
    "Kind",
    "answer_in",
    "free_texts",
    "half_of",
    "lone_halves",
    "marked_item",
    "with_texts",
    "words_in",
]

READABLE = frozenset({"title", "url", "source", "text"})
"""Where the words of any type are, one that is not in the table too."""


class Kind(NamedTuple):
    """
    One item type: whether it is the "call" or the "result" of a pair, or "" for neither.

    *key* has the id that the two share, *words* are the keys with text to read,
    *shortens* those whose text the provider takes shortened too.

    >>> HOSTED["anthropic"]["web_search_tool_result"].key
    'tool_use_id'
    """

    side: str = ""
    key: str = ""
    words: frozenset[str] = frozenset()
    shortens: frozenset[str] = frozenset()


class Half(NamedTuple):
    """
    A call or a result of a hosted tool: which *side*, the *id* they share, and the item's type.

    >>> Half("call", "s1", "server_tool_use").side
    'call'
    """

    side: str
    id: str
    kind: str


def _kind(words: str = "", side: str = "", key: str = "", *, shortens: str = "") -> Kind:
    return Kind(side, key, READABLE | frozenset(words.split()), frozenset(shortens.split()))


_QUERIES = "query queries command commands code input pattern path"
_OUT = "stdout stderr output error error_code error_message"

HOSTED: dict[str, dict[str, Kind]] = {
    "openai_responses": {
        "shell_call": _kind("commands", "call", "call_id"),
        "shell_call_output": _kind(_OUT, "result", "call_id", shortens="stdout stderr"),
        "local_shell_call": _kind("command working_directory", "call", "call_id"),
        "local_shell_call_output": _kind(_OUT, "result", "call_id", shortens="output"),
        "apply_patch_call": _kind("diff path", "call", "call_id"),
        "apply_patch_call_output": _kind(_OUT, "result", "call_id", shortens="output"),
        "computer_call": _kind("keys", "call", "call_id"),
        "computer_call_output": _kind("code message", "result", "call_id"),
        "function_call": _kind("name arguments", "call", "call_id"),
        "function_call_output": _kind("output", "result", "call_id"),
        "custom_tool_call": _kind("name input", "call", "call_id"),
        "custom_tool_call_output": _kind("output", "result", "call_id"),
        "tool_search_call": _kind("arguments query", "call", "call_id"),
        "tool_search_output": _kind("name description", "result", "call_id"),
        "program": _kind("code", "call", "call_id"),
        "program_output": _kind("result", "result", "call_id"),
        "mcp_approval_request": _kind("name arguments server_label"),
        "mcp_approval_response": _kind("reason"),
        # these hold their results themselves
        "mcp_call": _kind("name arguments server_label output error message"),
        "mcp_list_tools": _kind("server_label name description error"),
        "code_interpreter_call": _kind("code logs"),
        "file_search_call": _kind("queries filename"),
        "web_search_call": _kind("query queries pattern"),
        "image_generation_call": _kind("revised_prompt error"),
        "message": _kind("refusal"),
        "reasoning": _kind(),
        "compaction": _kind(),
        "compaction_trigger": _kind(),
        "configuration_update": _kind(),
        "additional_tools": _kind("name description"),
        "item_reference": _kind(),
    },
    "anthropic": {
        "server_tool_use": _kind(f"{_QUERIES} file_text old_str new_str", "call", "id"),
        "mcp_tool_use": _kind(f"{_QUERIES} name server_name", "call", "id"),
        **{
            kind: _kind(f"{_OUT} content lines tool_name", "result", "tool_use_id")
            for kind in (
                "web_search_tool_result",
                "web_fetch_tool_result",
                "advisor_tool_result",
                "code_execution_tool_result",
                "bash_code_execution_tool_result",
                "text_editor_code_execution_tool_result",
                "tool_search_tool_result",
                "mcp_tool_result",
            )
        },
        "tool_use": _kind("name"),
        "tool_result": _kind("content"),
        "mcp_tool_listing": _kind("mcp_server_name name description"),
        "search_result": _kind(),
        "document": _kind("context"),
        "compaction": _kind("content"),
        **{
            kind: _kind()
            for kind in (
                *("text", "image", "thinking", "redacted_thinking", "container_upload"),
                *("tool_addition", "tool_removal", "fallback"),
            )
        },
    },
    # told by the key that holds the part
    "gemini": {
        "executableCode": _kind("code", "call", "id"),
        "executable_code": _kind("code", "call", "id"),
        "codeExecutionResult": _kind("output", "result", "id"),
        "code_execution_result": _kind("output", "result", "id"),
        "toolCall": _kind(f"{_QUERIES} queries", "call", "id"),
        "tool_call": _kind(f"{_QUERIES} queries", "call", "id"),
        "toolResponse": _kind(f"{_OUT} content result snippet", "result", "id"),
        "tool_response": _kind(f"{_OUT} content result snippet", "result", "id"),
    },
}


def _known(part: Opaque) -> tuple[str, Kind, dict[str, Any]] | None:
    """
    The type of a part that is in the table, what is known of it, and the keys of its item.
    """
    kinds = HOSTED.get(part.provider)
    if kinds is None:
        return None
    data = json.loads(part.data.text)
    if not isinstance(data, dict):
        return None
    name = data.get("type")
    if isinstance(name, str) and name in kinds:
        return name, kinds[name], data
    for name in data:
        if part.provider == "gemini" and name in kinds and isinstance(data[name], dict):
            return name, kinds[name], data[name]

    return None


def half_of(part: Part) -> Half | None:
    """
    The half of a hosted tool's pair that a part is; None for any other part.

    >>> half_of(Opaque("anthropic", {"type": "server_tool_use", "id": "s1", "name": "web_search"}))
    Half(side='call', id='s1', kind='server_tool_use')
    """
    if not isinstance(part, Opaque):
        return None
    known = _known(part)
    if known is None:
        return None
    name, kind, keys = known
    id_ = keys.get(kind.key)

    return Half(kind.side, id_, name) if isinstance(id_, str) and id_ and kind.side else None


def answer_in(part: Part) -> bool:
    """
    Whether the part is an item that answers a call, of a hosted tool or of one a client runs.

    >>> answer_in(Opaque("openai_responses", {"type": "mcp_approval_response", "approve": True}))
    True
    """
    if not isinstance(part, Opaque):
        return False
    known = _known(part)

    return known is not None and (known[1].side == "result" or known[0] == "mcp_approval_response")


def marked_item(part: Opaque, text: str) -> Opaque | None:
    """
    The answer with this *text* in place of its own; None where none of it may be shortened.

    All else of it stays, such as an exit code: it says how it went.

    >>> ran = {"type": "local_shell_call_output", "id": "c1", "output": "a b c"}
    >>> marked_item(Opaque("openai_responses", ran), "cleared").data.value["output"]
    'cleared'
    """
    texts = free_texts(part)

    return with_texts(part, [text, *[""] * (len(texts) - 1)]) if any(texts) else None


def lone_halves(turns: Iterable[tuple[bool, Iterable[Part]]]) -> list[tuple[int, int, Half]]:
    """
    The halves of hosted tools whose other half is not there: turn, place in it, and which.

    *turns* are parts, each with whether they are of a user who says something. A call is lone
    once a user has spoken after it: until then the provider may go on with it,
    as after Anthropic's `pause_turn`.

    >>> call = Opaque("anthropic", {"type": "server_tool_use", "id": "s1"})
    >>> lone_halves([(False, [call])])
    []
    >>> lone_halves([(False, [call]), (True, [])])
    [(0, 0, Half(side='call', id='s1', kind='server_tool_use'))]
    """
    waiting: dict[str, list[tuple[int, int, Half]]] = {}
    lone: list[tuple[int, int, Half]] = []
    for at, (asks, parts) in enumerate(turns):
        if asks:
            lone.extend(found for calls in waiting.values() for found in calls)
            waiting = {}
        for place, part in enumerate(parts):
            half = half_of(part)
            if half is None:
                continue
            if half.side == "call":
                waiting.setdefault(half.id, []).append((at, place, half))
            elif waiting.get(half.id):
                waiting[half.id].pop()
            else:
                lone.append((at, place, half))

    return sorted(lone, key=lambda found: found[:2])


def words_in(part: Opaque) -> str:
    r"""
    What there is to read in a part, a line for each text; what is encrypted or a file is not.

    >>> ran = {"type": "shell_call_output", "call_id": "c1", "output": [{"stdout": "ok"}]}
    >>> words_in(Opaque("openai_responses", ran))
    'ok'
    """
    known = _known(part)
    keys = known[1].words if known is not None else READABLE

    return "\n".join(_texts(json.loads(part.data.text), keys))


def _texts(data: object, keys: frozenset[str]) -> Iterator[str]:
    if isinstance(data, list):
        for value in data:
            yield from _texts(value, keys)
    if not isinstance(data, dict):
        return
    is_text = data.get("type") == "text"  # the source of a page that is plain text
    for key in data:
        value = data[key]
        if key in keys or (key == "data" and is_text):
            if isinstance(value, str) and value and not value.startswith("data:"):
                yield value
            if isinstance(value, list):
                yield from (text for text in value if isinstance(text, str) and text)
        yield from _texts(value, keys)


def free_texts(part: Part) -> list[str]:
    """
    The texts in an answer that may be shortened, in their order; none where its type is not known.

    >>> ran = {"type": "shell_call_output", "call_id": "c1", "output": [{"stdout": "ok"}]}
    >>> free_texts(Opaque("openai_responses", ran))
    ['ok']
    """
    if not isinstance(part, Opaque):
        return []
    known = _known(part)
    if known is None or not known[1].shortens:
        return []
    found: list[str] = []

    def take(text: str) -> str:
        found.append(text)
        return text

    _rewritten(known[2], known[1].shortens, take)

    return found


def with_texts(part: Opaque, texts: Iterable[str]) -> Opaque:
    """
    The part with these *texts* for its `free_texts`; all else of it stays, such as an exit code.

    >>> ran = {"type": "local_shell_call_output", "id": "c1", "output": "a b c"}
    >>> with_texts(Opaque("openai_responses", ran), ["a …"]).data.value["output"]
    'a …'
    """
    known = _known(part)
    if known is None:
        return part
    left = iter(texts)

    return Opaque(part.provider, _rewritten(known[2], known[1].shortens, lambda _: next(left)))


def _rewritten(data: Any, keys: frozenset[str], rewrite: Callable[[str], str]) -> Any:
    if isinstance(data, list):
        return [_rewritten(value, keys, rewrite) for value in data]
    if not isinstance(data, dict):
        return data

    return {
        key: rewrite(value)
        if key in keys and isinstance(value, str)
        else _rewritten(value, keys, rewrite)
        for key, value in data.items()
    }
