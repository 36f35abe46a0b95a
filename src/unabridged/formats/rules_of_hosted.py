"""
Rules of hosted tools: the call that a provider ran itself, and its result, come together.

Each rule is one function over a conversation as a provider sees it.
"""

from collections.abc import Iterator, Sequence

from unabridged.formats.provider import Provider
from unabridged.formats.turns import Problem, Seen
from unabridged.hosted.table import lone_halves

__all__ = ["hosted_are_paired"]


def hosted_are_paired(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    A hosted tool's call has its result, and a result its call.

    A call that nobody has spoken after may still be gone on with, as after
    Anthropic's `pause_turn`, and is no problem.

    >>> from unabridged import Opaque, assistant, user
    >>> from unabridged.formats import problems
    >>> searched = assistant(Opaque("anthropic", {"type": "server_tool_use", "id": "s1"}))
    >>> [(p.rule, p.seq) for p in problems([user("q"), searched, user("Well?")], "anthropic")]
    [('lone server call', 2)]
    """
    turns = [(turn.asks, turn.parts) for turn in seen]
    for at, place, half in lone_halves(turns):
        has = "has no result" if half.side == "call" else "has no call before it"
        text = f"the {half.kind} `{half.id}` {has}; Repair() takes it out"
        yield Problem(f"lone server {half.side}", seen[at].seqs[place], text)
