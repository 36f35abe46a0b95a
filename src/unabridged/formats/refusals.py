"""
What a provider would refuse of a conversation, and where.
"""

from collections.abc import Iterable

from unabridged.formats.mending import Mended
from unabridged.formats.providers import provider_of
from unabridged.formats.turns import Problem, as_joined, as_seen, turns_of
from unabridged.items import Item
from unabridged.messages import Message

__all__ = ["problems"]


def problems(messages: Iterable[Message | Item] | Mended, provider: str) -> tuple[Problem, ...]:
    """
    What *provider* would refuse of these messages, by entry.

    A *provider* is the name of a format's module, or "mistral". Tool messages in a
    row are one turn where the API has none of its own, as `request` makes it. Give a view for
    the numbers of its entries, or what `mend` gave for what is left after it.

    Raises:
        ConfigError: no such provider, or something that is no message.

    >>> from unabridged.testing import call, user
    >>> for problem in problems([call("c1"), user("Are you there?")], "anthropic"):
    ...     print(f"{problem.seq} {problem.rule}: {problem.text}")
    1 first message: Anthropic wants a user's message first, this is the assistant's
    1 unanswered call: the call `c1` is not followed by its result; Repair() closes it
    """
    api = provider_of(provider)
    turns = messages.turns if isinstance(messages, Mended) else turns_of(messages)
    seen = as_seen(turns, api.left_out)
    if api.results == "next":
        seen = as_joined(seen, tools_only=not api.merges)
    found = [problem for rule in api.rules for problem in rule(seen, api)]

    return tuple(sorted(found, key=lambda problem: (problem.seq, problem.rule, problem.text)))
