"""
Cache marks: where a request tells its provider to keep what stands before.

Anthropic's stand on a block, as `cache_control`; Bedrock's are blocks of their
own, `cachePoint`. Those of tools are no part of a conversation.
"""

from typing import cast

from attrs import evolve

from unabridged.formats.extras import Extras
from unabridged.json_values import Json, json_of
from unabridged.messages import Opaque, Part, Reasoning, Text, ToolResult
from unabridged.parts import NO_JSON, Content

__all__ = ["less", "marks_of", "may_be_marked", "with_marks"]

_MARK, _POINT = "cache_control", "cachePoint"


def marks_of(part: Part, provider: str) -> tuple[str, ...]:
    """
    The marks of a part, each as the time it asks for, in the order of the prompt.

    >>> point = Opaque("bedrock", {"cachePoint": {"type": "default"}})
    >>> marks_of(point, "bedrock"), marks_of(point, "anthropic")
    (('5m',), ())
    """
    inner: tuple[str, ...] = ()
    if type(part) is Text and not part.extra:
        return inner
    if isinstance(part, ToolResult):
        inner = tuple([mark for one in part.content for mark in marks_of(one, provider)])
    mark = _mark(part, provider)

    return (*inner, mark) if mark else inner


def with_marks(part: Part, provider: str, marks: list[str]) -> Part | None:
    """
    The part with these *marks*, "" for one that goes; None where the part was but a mark.

    Takes as many from the front of the list as the part has.

    >>> point = Opaque("bedrock", {"cachePoint": {"type": "default"}})
    >>> with_marks(point, "bedrock", [""]) is None
    True
    """
    if isinstance(part, ToolResult):
        found = [with_marks(one, provider, marks) for one in part.content]
        content = cast("tuple[Content, ...]", tuple([one for one in found if one is not None]))
        if len(content) < len(found) or any(
            one is not was for one, was in zip(content, part.content, strict=True)
        ):
            part = evolve(part, content=content)
    mark = _mark(part, provider)
    if not mark:
        return part
    wanted = marks.pop(0)
    if wanted == mark:
        return part

    return _marked(part, provider, wanted)


def _mark(part: Part, provider: str) -> str:
    if provider == "anthropic":
        if isinstance(part, Opaque):
            is_ours = part.provider == provider and _MARK in part.data.text
            keys = part.data.value if is_ours else {}
        else:
            is_ours = _MARK in part.extra.text
            keys = Extras(provider).own(part.extra).get("keys", {}) if is_ours else {}
        mark = keys.get(_MARK) if isinstance(keys, dict) else None
    else:
        is_ours = isinstance(part, Opaque) and part.provider == provider
        keys = part.data.value if is_ours and _POINT in part.data.text else {}  # type: ignore[union-attr]
        mark = keys.get(_POINT) if isinstance(keys, dict) else None
    if not mark:
        return ""

    return "1h" if isinstance(mark, dict) and mark.get("ttl") == "1h" else "5m"


def _marked(part: Part, provider: str, wanted: str) -> Part | None:
    key = _MARK if provider == "anthropic" else _POINT
    if isinstance(part, Opaque):
        value = part.data.value
        if not wanted:
            return None if key == _POINT else Opaque(provider, _without(value, key))
        return Opaque(provider, {**value, key: _shorter(value[key])})
    if not wanted:
        return evolve(part, extra=less(part.extra, provider, "keys", key))
    value = part.extra.value
    keys = value[provider]["keys"]
    shorter = {**value[provider], "keys": {**keys, key: _shorter(keys[key])}}

    return evolve(part, extra=json_of({**value, provider: shorter}))


def _shorter(mark: object) -> object:
    return _without(mark, "ttl") if isinstance(mark, dict) else mark


def less(extra: Json, provider: str, *way: str) -> Json:
    """
    The *extra* without what stands at the end of the *way* under the provider's name.

    >>> less(json_of({"bedrock": {"as": "text", "keys": {"x": 1}}}), "bedrock", "keys", "x").text
    '{"bedrock":{"as":"text"}}'
    """
    value = extra.value
    if not isinstance(value, dict):
        return extra
    found = _along(value, (provider, *way))

    return json_of(found) if found else NO_JSON


def _along(value: dict[str, object], way: tuple[str, ...]) -> dict[str, object]:
    first, *rest = way
    inner = value.get(first)
    if not rest or not isinstance(inner, dict):
        return _without(value, first) if not rest else value
    left = _along(inner, tuple(rest))

    return {**value, first: left} if left else _without(value, first)


def _without(value: dict[str, object], key: str) -> dict[str, object]:
    return {name: inner for name, inner in value.items() if name != key}


def may_be_marked(part: Part) -> bool:
    """
    Whether a mark may stand on it: thinking cannot be marked.

    >>> may_be_marked(Reasoning("hm"))
    False
    """
    return not isinstance(part, Reasoning)
