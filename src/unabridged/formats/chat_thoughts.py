"""
The `reasoning_details` of a chat message, as OpenRouter and others send them: one `Reasoning`.
"""

from typing import Any

from unabridged.formats.chat_parts import DETAILS, kept, own
from unabridged.formats.listed_thoughts import parted, restored
from unabridged.messages import Reasoning

__all__ = ["read_details", "write_details"]

_SAME = "same"


def read_details(keys: dict[str, Any], where: str, texts: tuple[str, ...]) -> Reasoning | None:
    """
    The reasoning in `reasoning_details`, which is taken out of *keys*; None if there is none.

    Many servers say its text a second time, under one of the keys *texts*: that
    one is taken out too, and written again. A list of another form stays.

    >>> keys = {"reasoning_details": [{"type": "reasoning.text", "text": "2 + 2"}]}
    >>> read_details(keys, "messages[0]", ("reasoning",)).text, keys
    ('2 + 2', {})
    """
    details = keys.get(DETAILS)
    if not isinstance(details, list) or not details:
        return None
    found = parted(details)
    if found is None:
        return None
    entries, fields = found
    text = fields["text"]
    same = [key for key in texts if text and keys.get(key) == text]
    inner = {DETAILS: entries, **({_SAME: same} if same else {})}
    extra = kept({}, {"as": DETAILS, "inner": inner}, where)
    made = Reasoning(**fields, extra=extra)
    if write_details(made)[DETAILS] != details:
        return None
    for key in (DETAILS, *same):
        del keys[key]

    return made


def write_details(part: Reasoning) -> dict[str, Any]:
    """
    The keys of a message that the reasoning came in.

    >>> keys = {"reasoning_details": [{"type": "reasoning.text", "text": "2 + 2"}]}
    >>> write_details(read_details(keys, "messages[0]", ()))
    {'reasoning_details': [{'type': 'reasoning.text', 'text': '2 + 2'}]}
    """
    inner = own(part.extra).get("inner", {})
    same = dict.fromkeys(inner.get(_SAME, ()), part.text)

    return {DETAILS: restored(inner.get(DETAILS, []), part, "reasoning.text"), **same}
