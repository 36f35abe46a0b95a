"""
A reasoning item, read and written.

Its summary and its content are lists of texts. They are joined to be read, and
how long each was is kept, so that the very lists are given back. A list that
holds anything else stays among the keys.
"""

from typing import Any

from unabridged.formats.extras import Keys
from unabridged.formats.responses_parts import kept, own
from unabridged.messages import Reasoning
from unabridged.parts import quick_reasoning

__all__ = ["read_reasoning", "write_reasoning"]

_KINDS = {"summary": "summary_text", "content": "reasoning_text"}
_NO_SUMMARY: dict[str, list[int]] = {"summary": []}  # as most items are
_BETWEEN = "\n\n"


def read_reasoning(item: Keys, where: str) -> Reasoning:
    """
    The item as a part.

    >>> summary = [{"type": "summary_text", "text": "first, look"}]
    >>> read_reasoning({"type": "reasoning", "id": "rs_1", "summary": summary}, "input[0]").text
    'first, look'
    """
    keys = item.copy()
    del keys["type"]
    sizes: dict[str, list[int]] = {}
    texts: list[str] = []
    for field, kind in _KINDS.items():
        if field not in keys:
            continue
        found = _texts(keys[field], kind)
        if found is not None:
            del keys[field]
            sizes[field] = [len(text) for text in found]
            texts += found
    encrypted = keys.get("encrypted_content")
    if isinstance(encrypted, str) and encrypted:
        del keys["encrypted_content"]
    else:
        encrypted = ""
    shape: dict[str, Any] = {"as": "reasoning"}
    if sizes != _NO_SUMMARY:
        shape["inner"] = sizes

    return quick_reasoning(_BETWEEN.join(texts), "", encrypted, kept(keys, shape, where))


def write_reasoning(part: Reasoning) -> dict[str, Any]:
    """
    The part as an item, a fresh dict; a text that was changed becomes one of its lists.

    >>> write_reasoning(Reasoning("hm", extra={"openai_responses": {"as": "reasoning"}}))
    {'type': 'reasoning', 'summary': [{'type': 'summary_text', 'text': 'hm'}]}
    """
    shape = own(part.extra)
    sizes: dict[str, list[int]] = shape.get("inner", _NO_SUMMARY)
    item: dict[str, Any] = {"type": "reasoning"}
    texts = _cut(part.text, [size for field in sizes.values() for size in field])
    if texts is None:
        taken = next((field for field in sizes if sizes[field]), next(iter(sizes), ""))
        texts = [part.text] if part.text else []
        sizes = {field: [len(text) for text in texts if field == taken] for field in sizes}
    for field, lengths in sizes.items():
        item[field] = [{"type": _KINDS[field], "text": text} for text in texts[: len(lengths)]]
        texts = texts[len(lengths) :]
    if part.encrypted:
        item["encrypted_content"] = part.encrypted

    return {**shape.get("keys", {}), **item}


def _texts(value: object, kind: str) -> list[str] | None:
    """
    The texts of a list that holds nothing else.
    """
    if not isinstance(value, list):
        return None
    texts: list[str] = []
    for part in value:
        if not isinstance(part, dict) or len(part) != 2 or part.get("type") != kind:  # noqa: PLR2004
            return None
        text = part.get("text")
        if not isinstance(text, str):
            return None
        texts.append(text)

    return texts


def _cut(text: str, sizes: list[int]) -> list[str] | None:
    """
    The texts that were joined, None when the text is another one.
    """
    texts: list[str] = []
    at = 0
    for size in sizes:
        texts.append(text[at : at + size])
        at += size + len(_BETWEEN)

    return texts if _BETWEEN.join(texts) == text else None
