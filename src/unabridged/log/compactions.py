"""
Compaction items: a provider's own summary of all that came before, made on its servers.

The model sees what came before only through the newest of them, so a view keeps
that one as it keeps a pin. Chat Completions, Gemini and Bedrock have none.
"""

from collections.abc import Callable, Mapping
from typing import Any

from unabridged.messages import Message, Opaque

__all__ = ["is_compaction"]


def _summarizes(data: Mapping[str, Any]) -> bool:
    """
    Whether a `compaction` block of the Messages API holds a summary; one that failed is a no-op.

    See `anthropic.types.beta.BetaCompactionBlock`.
    """
    return data.get("content") is not None


def _always(_data: Mapping[str, Any]) -> bool:
    """
    A `compaction` item of the Responses API is encrypted: `ResponseCompactionItem`.
    """
    return True


_KNOWN: dict[tuple[str, str], Callable[[Mapping[str, Any]], bool]] = {
    ("anthropic", "compaction"): _summarizes,
    ("openai_responses", "compaction"): _always,
}


def is_compaction(message: Message) -> bool:
    """
    Whether it holds a provider's compaction item.

    >>> from unabridged import assistant
    >>> from unabridged.messages import Opaque
    >>> is_compaction(assistant(Opaque("anthropic", {"type": "compaction", "content": "So far."})))
    True
    >>> is_compaction(assistant("So far."))
    False
    """
    for part in message.parts:
        if not isinstance(part, Opaque) or '"compaction"' not in part.data.text:
            continue
        data = part.data.value
        if not isinstance(data, Mapping):
            continue
        known = _KNOWN.get((part.provider, str(data.get("type"))))
        if known is not None and known(data):
            return True

    return False
