"""
Links: what ties an entry to earlier ones, worked out once, when it is appended.

A result belongs to the newest assistant message before it that calls with its
id, and there to the first such call that is still open; else it is an orphan.
Ids may be reused, results may come late, doubled or out of order.

An assistant's message that ends on its reasoning is tied to the assistant's
message after it, and so is one that goes on from it: that starts with a part
which only its provider understands, as a paused turn does. In a tool loop, a
calling message that does not think by itself is tied to the newest one that
does: a provider that signs its thinking wants it back in a running loop.

Nothing here looks at the whole log: what the next entry can link to is the
open calls, and `Links` holds those.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from attrs import frozen

from unabridged.messages import Message, Opaque, Part, Reasoning, ToolCall, ToolResult
from unabridged.spans import NOTHING, Span

__all__ = ["Links", "Marks", "OpenCall", "calls_of", "has_words", "is_bare_result", "joined"]

MOST_OPEN = 1_024  # calls that nobody answered; older ones are taken for given up
_seq = attrgetter("seq")
_NEVER_CALLS = frozenset({"user", "system", "developer", "tool"})


class Marks(NamedTuple):
    """
    What a store keeps beside an entry.

    The first entry of the block it joined, the user message that opened its
    round (0: none), the newest entry with a user's words.
    """

    head: int
    opener: int
    asked: int


class OpenCall(NamedTuple):
    """
    *unanswered* calls with one *id* in entry *seq*, whose block starts at *head*.
    """

    id: str
    seq: int
    unanswered: int
    head: int
    opener: int


@frozen
class Links:
    """
    What the marks of the next entry follow from.

    *asked* and *spoke* are the newest entries with a user's words and with an
    assistant's, each with the first and last entry of its block. *before* and
    *thinker* are the first entry of a block, and its opener: of the newest
    entry, if an assistant's, and of the one whose signed thinking binds the tool
    loop that runs; *thinks* says whether the newest entry ends on reasoning.
    """

    opener: int = 0
    asked: int = 0
    asked_block: tuple[int, int] = (0, 0)
    spoke: int = 0
    spoke_block: tuple[int, int] = (0, 0)
    before: tuple[int, int] = (0, 0)
    thinks: bool = False
    thinker: tuple[int, int] = (0, 0)
    calls: tuple[OpenCall, ...] = ()

    @property
    def pending(self) -> int:
        """
        The entry whose calls wait for their results; 0 if there is none.
        """
        waits = any(call.seq == self.spoke for call in self.calls)
        return self.spoke if waits else 0


def calls_of(message: Message) -> tuple[ToolCall, ...]:
    """
    The calls that results may answer: those of an assistant, whatever its role is called.
    """
    if message.role in _NEVER_CALLS:
        return ()

    return message.tool_calls


def has_words(message: Message) -> bool:
    """
    Whether it is a user's message that holds more than tool results.
    """
    if message.role != "user":
        return False
    parts = message.parts
    if len(parts) == 1:
        return not isinstance(parts[0], ToolResult)

    return not parts or any(not isinstance(part, ToolResult) for part in parts)


def is_bare_result(message: Message) -> bool:
    """
    Whether it holds tool results and nothing else.
    """
    return bool(message.parts) and all(isinstance(part, ToolResult) for part in message.parts)


def joined(links: Links, seq: int, message: Message) -> tuple[Links, Marks, Span]:
    """
    The links after entry *seq*, its marks, and the entries whose calls it answers.
    """
    if len(message.parts) == 1 and message.role == "user" and has_words(message):
        # the commonest entry of all: words that link to nothing
        after = Links(seq, seq, (seq, seq), links.spoke, links.spoke_block, calls=links.calls)
        return after, Marks(seq, seq, seq), NOTHING

    results, calls = message.tool_results, calls_of(message)
    speaks = message.role == "assistant" or bool(calls)
    words = has_words(message)
    still_open, answered = _answer(links.calls, results)

    bonds = [(call.head, call.opener) for call in answered]
    if speaks:
        bonds.extend(_bonds(links, message, calls))
    head, opener = min(bonds, default=(seq, seq if words else links.opener))

    if head < seq:
        still_open = _moved(still_open, head, opener)
    if calls:
        counts = Counter(call.id for call in calls)
        fresh = tuple(OpenCall(id_, seq, n, head, opener) for id_, n in counts.items())
        other = [call for call in still_open if call.id not in counts]
        still_open = (*other[-MOST_OPEN:], *fresh)

    asked = seq if words else links.asked
    thinker = (0, 0) if words else links.thinker
    if (speaks and message.parts and _is_signed(message.parts[0])) or thinker[0] > head:
        thinker = (head, opener)
    after = Links(
        opener=opener,
        asked=asked,
        asked_block=_grown(links.asked_block, asked, links.asked, head, seq),
        spoke=seq if speaks else links.spoke,
        spoke_block=_grown(
            links.spoke_block, seq if speaks else links.spoke, links.spoke, head, seq
        ),
        before=(head, opener) if speaks else (0, 0),
        thinks=speaks and bool(message.parts) and isinstance(message.parts[-1], Reasoning),
        thinker=thinker,
        calls=still_open,
    )
    entries = Span.of(call.seq for call in answered) if answered else NOTHING

    return after, Marks(head, opener, asked), entries


def _bonds(
    links: Links, message: Message, calls: tuple[ToolCall, ...]
) -> Iterator[tuple[int, int]]:
    """
    The blocks that an assistant's message is tied to by more than calls.
    """
    first = message.parts[0] if message.parts else None
    if links.before[0] and (links.thinks or isinstance(first, Opaque)):
        yield links.before
    if calls and links.thinker[0] and not isinstance(first, Reasoning):
        yield links.thinker


def _is_signed(part: Part) -> bool:
    """
    Whether it is thinking that its provider wants back in a running tool loop.

    A reasoning item of the Responses API is tied to what it led to, and no further.
    """
    if not isinstance(part, Reasoning):
        return False

    return bool(part.signature or (part.encrypted and '"openai_responses"' not in part.extra.text))


def _answer(
    calls: tuple[OpenCall, ...], results: tuple[ToolResult, ...]
) -> tuple[tuple[OpenCall, ...], list[OpenCall]]:
    answered: list[OpenCall] = []
    for result in results:
        place = _newest(calls, result.call_id)
        if place < 0:
            continue
        call = calls[place]
        answered.append(call)
        left = call._replace(unanswered=call.unanswered - 1)
        calls = (*calls[:place], *([left] if left.unanswered else []), *calls[place + 1 :])

    return calls, answered


def _newest(calls: tuple[OpenCall, ...], id_: str) -> int:
    """
    The place of the newest open call with this id; -1 if there is none.

    It is nearly always the first that the newest message with open calls has left; else
    all are looked at, from the end. No message has two of one id.
    """
    if not calls:
        return -1
    first = bisect_left(calls, calls[-1].seq, key=_seq)
    if calls[first].id == id_:
        return first

    return next((n for n in range(len(calls) - 1, -1, -1) if calls[n].id == id_), -1)


def _moved(calls: tuple[OpenCall, ...], head: int, opener: int) -> tuple[OpenCall, ...]:
    """
    The open calls, those in the block that starts at *head* now told so.

    A later call is never in an earlier block, so those to be told are the last ones.
    """
    place = len(calls)
    while place and calls[place - 1].head > head:
        place -= 1
    if place == len(calls):
        return calls

    return (*calls[:place], *(call._replace(head=head, opener=opener) for call in calls[place:]))


def _grown(
    block: tuple[int, int], newest: int, before: int, head: int, seq: int
) -> tuple[int, int]:
    """
    The block of the newest such entry, after entry *seq* joined the block that starts at *head*.
    """
    if newest != before:
        return (head, seq)
    if newest and head <= block[1] and head < seq:
        return (min(head, block[0]), seq)

    return block
