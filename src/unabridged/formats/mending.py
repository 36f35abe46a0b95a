"""
Mending: what form alone can put right before a request.
"""

from collections.abc import Iterable

from attrs import field, frozen

from unabridged.formats.provider import Mend
from unabridged.formats.providers import provider_of
from unabridged.formats.turns import Turn, turns_of
from unabridged.items import Item
from unabridged.messages import Message

__all__ = ["Mend", "Mended", "mend", "sendable"]


@frozen
class Mended:
    """
    Messages as a provider takes them, and a *report* of what was done for that.

    *turns* are the same messages with the entries that each part came from.

    >>> from unabridged import user
    >>> mend([user("a"), user("b")], "bedrock").turns[0].seqs
    (1, 2)
    """

    turns: tuple[Turn, ...] = field(repr=False)
    report: tuple[Mend, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """
        The messages, ready for `dump`.
        """
        return tuple(turn.message for turn in self.turns)


def mend(messages: Iterable[Message | Item], provider: str) -> Mended:
    """
    The messages with all put right that form alone can, always the same way.

    Results move to their calls, or become words where the call is gone;
    neighbours of one role are joined and system text in the middle goes as a
    user's, where the API wants that; ids, names and empty texts become such as
    it takes. No message with words is dropped. What the API has no form for is in the
    report, and left out by `dump`. What form cannot mend, such as a call
    without a result, is what `problems` still says of it; `Repair()` helps.

    Raises:
        ConfigError: no such provider, or something that is no message.

    >>> from unabridged import assistant, user
    >>> mended = mend([user("hi"), user("Anyone?"), assistant("Hello.")], "anthropic")
    >>> [message.role for message in mended.messages]
    ['user', 'assistant']
    >>> print(mended.report[0].text)
    joined with the user's turn before it
    """
    api = provider_of(provider)
    turns, report = list(turns_of(messages)), list[Mend]()
    for mender in api.menders:
        turns = mender(turns, api, report)

    return Mended(tuple(turns), tuple(report))


def sendable(
    messages: Iterable[Message | Item], provider: str, report: list[Mend] | None
) -> tuple[Message, ...]:
    """
    The messages as a request of the provider sends them; what was mended goes into *report*.

    >>> from unabridged import user
    >>> report = []
    >>> len(sendable([user("a"), user("b")], "bedrock", report)), len(report)
    (1, 1)
    """
    mended = mend(messages, provider)
    if report is not None:
        report.extend(mended.report)

    return mended.messages
