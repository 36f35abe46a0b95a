"""
What goes with a document beside itself: a context for the model, and whether it is to be cited.

Anthropic and Bedrock have the same two keys, so each takes them from the other's form.
"""

from typing import Any

from unabridged.formats.extras import Extras
from unabridged.messages import Document

__all__ = ["beside", "is_cited"]

_HELD = {"anthropic": "keys", "bedrock": "inner"}
_FORMS = {name: Extras(name) for name in _HELD}


def beside(document: Document, api: str = "") -> dict[str, Any]:
    """
    The `context` and `citations` of a document that another API than *api* loaded.

    >>> extra = {"anthropic": {"keys": {"context": "From 2019.", "citations": {"enabled": True}}}}
    >>> beside(Document("aGk=", extra=extra), "bedrock")
    {'context': 'From 2019.', 'citations': {'enabled': True}}
    >>> beside(Document("aGk=", extra=extra), "anthropic")
    {}
    """
    found: dict[str, Any] = {}
    if not document.extra:
        return found
    for name, held in _HELD.items():
        keys = _FORMS[name].own(document.extra).get(held, {}) if name != api else {}
        if not isinstance(keys, dict):
            continue
        if isinstance(keys.get("context"), str) and keys["context"]:
            found["context"] = keys["context"]
        match keys.get("citations"):
            case {"enabled": bool(enabled)}:
                found["citations"] = {"enabled": enabled}

    return found


def is_cited(document: Document) -> bool:
    """
    Whether its API is asked for citations of the document.

    >>> is_cited(Document("aGk="))
    False
    """
    return bool(beside(document).get("citations", {}).get("enabled"))
