"""
Bytes in the blocks of Bedrock Converse, and blocks that are kept whole.

In JSON bytes are base64 text; boto3's dicts hold `bytes`. They are kept as
base64 text, with a hint when they were `bytes`, so that they come back as such.
"""

import base64
import binascii
from functools import reduce
from operator import getitem
from typing import Any

from unabridged.errors import ConfigError
from unabridged.formats.extras import Extras
from unabridged.json_values import json_of
from unabridged.messages import Opaque
from unabridged.text import bounded

__all__ = ["NAME", "as_bytes", "kept", "own", "read_opaque", "to_bytes", "write_opaque"]

NAME = "bedrock"

_ours = Extras(NAME)
kept, own = _ours.kept, _ours.own

_PACKED = {"block", "bytes"}


def as_bytes(text: str) -> bytes:
    """
    The bytes that base64 *text* stands for; those of the text itself if it is no base64.

    >>> as_bytes("aGk="), as_bytes("no base64")
    (b'hi', b'no base64')
    """
    try:
        return base64.b64decode("".join(text.splitlines()), validate=True)
    except (binascii.Error, ValueError):
        return text.encode("utf-8", "replace")


def to_bytes(block: object) -> None:
    """
    Put `bytes` where the block has base64 text: boto3 encodes what it gets.

    >>> block = {"image": {"format": "png", "source": {"bytes": "aGk="}}}
    >>> to_bytes(block)
    >>> block["image"]["source"]
    {'bytes': b'hi'}
    """
    if not isinstance(block, dict):
        return
    for key, inner in block.items():
        match key, inner:
            case "image" | "document" | "audio" | "video", {"source": {"bytes": str(data)}}:
                inner["source"]["bytes"] = as_bytes(data)
            case "reasoningContent", {"redactedContent": str(data)}:
                inner["redactedContent"] = as_bytes(data)
            case "toolResult", {"content": [*blocks]}:
                for each in blocks:
                    to_bytes(each)
            case "guardContent", _:
                to_bytes(inner)


def read_opaque(block: dict[str, Any], where: str) -> Opaque:
    """
    The block kept whole; one with `bytes` stands beside the paths to them.

    >>> read_opaque({"video": b"hi"}, "block").data.text
    '{"block":{"video":"aGk="},"bytes":[["video"]]}'
    """
    paths: list[list[str | int]] = []
    try:
        data = json_of(block, where)
    except ConfigError:
        bounded(block, where)
        block = _packed(block, [], paths)
        data = json_of(block, where)
    if paths or block.keys() == _PACKED:
        data = json_of({"block": block, "bytes": paths}, where)

    return Opaque(NAME, data)


def write_opaque(part: Opaque) -> dict[str, Any]:
    """
    The block that `read_opaque` read, a fresh one.

    >>> write_opaque(read_opaque({"video": b"hi"}, "block"))
    {'video': b'hi'}
    """
    found: dict[str, Any] = part.data.value
    if not isinstance(found, dict) or found.keys() != _PACKED:
        return found
    try:
        for *way, last in found["bytes"]:
            holder: Any = reduce(getitem, way, found["block"])
            holder[last] = as_bytes(holder[last])
    except (LookupError, TypeError, ValueError, AttributeError):  # not ours
        found = part.data.value
    else:
        found = found["block"]

    return found


def _packed(value: Any, way: list[str | int], paths: list[list[str | int]]) -> Any:
    match value:
        case bytes() | bytearray():
            paths.append(way)
            return base64.b64encode(value).decode()
        case dict():
            return {key: _packed(inner, [*way, key], paths) for key, inner in value.items()}
        case list():
            return [_packed(inner, [*way, at], paths) for at, inner in enumerate(value)]
    return value
