"""
Which provider's form a list of messages has, by what only one of them has.
"""

from collections.abc import Sequence
from enum import IntEnum
from operator import itemgetter
from typing import Any, NoReturn, TypeAlias

from unabridged.errors import FormatError
from unabridged.formats.extras import Keys, reading, refuse
from unabridged.formats.foreign import foreign, refuse_foreign
from unabridged.text import brief

__all__ = ["detect"]

_LOOKS = {
    "openai_chat": '{"role": …, "content": "hi" or [{"type": "text"}], "tool_calls": […]}',
    "openai_responses": '{"type": "function_call", …}, {"content": [{"type": "input_text"}]}',
    "anthropic": '{"role": …, "content": [{"type": "tool_use"}]}',
    "gemini": '{"role": "model", "parts": [{"text": "hi"}]}',
    "bedrock": '{"role": …, "content": [{"text": "hi"}]}',
}
_SOME, _SHORT = 6, 60  # of a strange turn, how much an error shows

_CHAT_KEYS = ("tool_calls", "tool_call_id", "function_call", "reasoning_content", "prefix")
_ROLES = {"model": "gemini", "tool": "openai_chat", "function": "openai_chat"}
_ITEMS = ("message", "reasoning", "item_reference", "compaction", "additional_tools")
_TYPES = {
    "openai_chat": ("image_url", "file", "document_url", "video_url", "audio_url"),
    "openai_responses": (
        *("input_text", "input_image", "input_file", "output_text"),
        *("reasoning_text", "summary_text"),
    ),
    "anthropic": (
        *("tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "container_upload"),
        *("search_result", "compaction", "tool_addition", "tool_removal"),
    ),
}
_OF_TYPE = {type_: name for name, types in _TYPES.items() for type_ in types}
_SHARED = ("text", "refusal", "input_audio", "thinking")
_BLOCKS = frozenset(
    (
        *("toolUse", "toolResult", "reasoningContent", "cachePoint", "guardContent"),
        *("citationsContent", "searchResult", "image", "document", "video", "audio"),
        *("toolAddition", "toolRemoval"),
    )
)


_SPEAKERS = (None, "user", "model", "function", "tool", "system", "developer", "assistant")
_PARTS = frozenset(
    (
        *("text", "inlineData", "fileData", "functionCall", "functionResponse", "thought"),
        *("executableCode", "codeExecutionResult", "toolCall", "toolResponse"),
        *("inline_data", "file_data", "function_call", "function_response"),
        *("executable_code", "code_execution_result", "tool_call", "tool_response"),
        *("thoughtSignature", "thought_signature"),
    )
)
_WORDLESS = frozenset({"role", "name", "id", "refusal", "audio", "metadata"})


class _Sign(IntEnum):
    STRANGE = 0  # no API has this form
    SHARED = 1  # several have it
    LIKELY = 2
    SURE = 3


_Told: TypeAlias = tuple[_Sign, str]

_STRANGE: _Told = (_Sign.STRANGE, "")
_EITHER: _Told = (_Sign.SHARED, "openai_chat")


def detect(turns: Sequence[object]) -> str:
    """
    The name of the module in `formats` that reads these turns.

    Looks at one turn after the other until something tells. What several read
    the same, such as words alone, is "openai_chat".

    Raises:
        FormatError: a turn has no API's form; the text says what the five look like,
            or whose message it is if another framework's.

    >>> detect([{"role": "user", "content": "hi"}])
    'openai_chat'
    >>> detect([{"role": "user", "parts": [{"text": "hi"}]}])
    'gemini'
    """
    if not isinstance(turns, list | tuple):
        refuse("messages", "a list", turns)
    for at, turn in enumerate(turns):
        if (found := foreign(turn)) is not None:
            refuse_foreign(found, f"messages[{at}]")
    best, strange = _EITHER, -1
    for at, turn in enumerate(turns):
        with reading(f"messages[{at}]"):
            told = _of_turn(turn)
        if told[0] is _Sign.SURE:
            return told[1]
        if told[0] is _Sign.STRANGE and strange < 0:
            strange = at
        if told[0] > best[0]:
            best = told
    if strange >= 0:
        _refuse(turns[strange], f"messages[{strange}]")

    return best[1]


def _of_turn(turn: object) -> _Told:
    return _of_keys(turn) if isinstance(turn, dict) else _STRANGE


def _of_keys(turn: Keys) -> _Told:
    match turn:
        case {"parts": parts} if "content" not in turn:
            told = _of_parts(parts, turn)
        case {"type": str(kind)} if _is_item(kind, has_role="role" in turn):
            told = _Sign.SURE, "openai_responses"
        case {"role": str(role)} if role in _ROLES:
            told = _Sign.SURE, _ROLES[role]
        case {"role": str()} if any(key in turn for key in _CHAT_KEYS):
            told = _Sign.SURE, "openai_chat"
        case {"role": str(), "content": [*blocks]}:
            told = _of_blocks(blocks)
        case {"role": str(), "content": str() | None}:
            told = _EITHER
        case {"role": str()} if "content" not in turn and turn.keys() <= _WORDLESS:
            told = _EITHER
        case _:
            told = _STRANGE

    return told


def _of_parts(parts: object, turn: Keys) -> _Told:
    if not isinstance(parts, list) or turn.get("role") not in _SPEAKERS:
        return _STRANGE
    kinds = {_kind_of_part(part) for part in parts}
    if not kinds <= _PARTS:
        return _STRANGE
    # parts of words are what others have too: these have other keys beside them
    is_telling = bool(kinds - {"text"}) or turn.get("role") == "model"
    if is_telling or turn.keys() <= {"role", "parts"}:
        return _Sign.SURE, "gemini"

    return _STRANGE


def _kind_of_part(part: object) -> str:
    """
    The key that tells what kind of part of Gemini's it is; empty for none of its parts.
    """
    if isinstance(part, str):
        return "text"

    return next((key for key in part if key in _PARTS), "") if isinstance(part, dict) else ""


def _is_item(kind: str, *, has_role: bool) -> bool:
    if has_role:  # chats hold reasoning with a role
        return kind in _ITEMS and kind != "reasoning"

    return kind in _ITEMS or kind.startswith("mcp_") or kind.endswith(("_call", "_output"))


def _of_blocks(blocks: list[Any]) -> _Told:
    told = [_EITHER, *(_of_block(block) for block in blocks)]
    best = max(told, key=itemgetter(0))
    if best[0] is _Sign.SURE:
        return best

    return _STRANGE if _STRANGE in told else best


def _of_block(block: object) -> _Told:
    if isinstance(block, dict):
        return _of_inner(block)

    return _EITHER if isinstance(block, str) else _STRANGE


def _of_inner(block: Keys) -> _Told:
    match block:
        case {"type": str(kind)}:
            told = _of_type(kind, block)
        case {"type": _}:
            told = _STRANGE
        case _ if not _BLOCKS.isdisjoint(block):
            told = _Sign.SURE, "bedrock"
        case {"text": str()}:
            told = _Sign.LIKELY, "bedrock"
        case _:
            told = _STRANGE

    return told


def _of_type(kind: str, block: Keys) -> _Told:
    name = _OF_TYPE.get(kind, "")
    if kind.endswith("_tool_result") or (kind in ("image", "document") and "source" in block):
        name = "anthropic"
    if kind == "thinking" and isinstance(block.get("thinking"), list):
        name = "openai_chat"  # Mistral's
    if name:
        return _Sign.SURE, name
    # a server that speaks another API may write these too: a later turn may say otherwise
    if kind == "redacted_thinking" or (kind == "thinking" and "signature" in block):
        return _Sign.LIKELY, "anthropic"

    return _EITHER if kind in _SHARED else _STRANGE


def _refuse(turn: object, where: str) -> NoReturn:
    looks = "; ".join(f"{name} {look}" for name, look in _LOOKS.items())
    wish = f"the form of an API ({looks})"
    if not isinstance(turn, dict):
        refuse(where, wish, turn)
    with reading(where):
        shown = list(turn.items())[:_SOME]
    seen = ", ".join(f"{brief(key)}: {brief(value, _SHORT)}" for key, value in shown)
    msg = f"{where}: expected {wish}, got {{{seen}}}"
    raise FormatError(msg)
