"""
What one provider's API takes: which parts, which order, which ids and names.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

from unabridged.formats.turns import LeftOut, Problem, Seen, Turn
from unabridged.messages import Message, ToolCall, ToolResult

__all__ = ["Mend", "Mender", "Provider", "Rule", "plain_id"]


@frozen
class Mend:
    """
    What mending did, or could not carry: *what* in a word or two, the entry, plain words.

    >>> Mend("moved", 4, "the result of call `c1` now stands right after it").what
    'moved'
    """

    what: str
    seq: int
    text: str


def plain_id(id_: str, number: int) -> str:
    """
    An id made of *id_*, in letters that every API takes: as it is for 0, else numbered.

    >>> plain_id("c:1", 0), plain_id("c:1", 2)
    ('c_1', 'c_1_2')
    """
    base = re.sub(r"[^a-zA-Z0-9_-]", "_", id_)

    return f"{base[:30]}_{number}" if number else base[:40] or "call"


def _keeps_none(_: Message) -> bool:
    return False


def _sends_all(_: ToolCall | ToolResult) -> bool:
    return True


@frozen
class Provider:
    """
    The rules of one API as data; `rules` and `menders` are the functions that use them.

    *results*: where they must stand ("anywhere" after their call, in the "run"
    of tool messages after it, in the "next" turn, first). *unique*: no two calls
    of a "turn", or of the "whole", share an id. *joins*: neighbours of one role
    are made one turn, which the API *merges* by itself or else refuses. *prompt*:
    the API takes system text only before everything else; *keeps_system* tells a
    system message that it took in its place. *blank*: "empty" or "white" texts
    are refused, or messages of "nothing". *tells_context*: a document may have
    a context and citations. *sends_id* tells a call, or a result, whose
    id the API has.

    >>> from unabridged.formats.providers import PROVIDERS
    >>> PROVIDERS["anthropic"].results, PROVIDERS["anthropic"].joins
    ('next', True)
    """

    name: str
    title: str
    left_out: LeftOut
    results: str
    rules: "tuple[Rule, ...]"
    menders: "tuple[Mender, ...]"
    call_id: re.Pattern[str]
    tool_name: re.Pattern[str]
    speaker: re.Pattern[str] | None = None
    unique: str = "turn"
    joins: bool = False
    merges: bool = False
    prompt: bool = False
    blank: str = ""
    tells_context: bool = False
    keeps_system: Callable[[Message], bool] = _keeps_none
    fit_id: Callable[[str, int], str] = plain_id
    sends_id: Callable[[ToolCall | ToolResult], bool] = _sends_all


Rule = Callable[[Sequence[Seen], Provider], Iterator[Problem]]
Mender = Callable[[list[Turn], Provider, list[Mend]], list[Turn]]
