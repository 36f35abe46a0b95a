"""
The mender of orphans: results that no call waits for become words.
"""

from unabridged.formats.provider import Mend, Provider
from unabridged.formats.turns import Turn, calls_in, pairs_of
from unabridged.hosted.table import answer_in, words_in
from unabridged.messages import Image, Message, Opaque, Part, Text, ToolResult
from unabridged.text import short, word

__all__ = ["word_orphans"]

_SHOWN = 80  # letters of an id, in the words that a result becomes


def word_orphans(turns: list[Turn], api: Provider, report: list[Mend]) -> list[Turn]:
    """
    Turn a result whose call is not there, or is answered, into words of a user's message.

    >>> from unabridged.formats import mend
    >>> from unabridged.testing import result
    >>> print(mend([result("c1", "sunny")], "openai_chat").messages[0])
    user: [result of `c1`, a call that is no longer here]
    sunny
    """
    pairs = pairs_of(turns)
    mended: list[Turn] = []
    called: set[str] = set()
    for at, turn in enumerate(turns):
        called.update(call.id for _, call in calls_in(turn))
        orphans = {
            place
            for place, part in enumerate(turn.message.parts)
            if isinstance(part, ToolResult) and (at, place) not in pairs
        }
        if not orphans:
            mended.append(turn)
            continue
        parts: list[Part] = []
        seqs: list[int] = []
        results: list[int] = []
        for place, part in enumerate(turn.message.parts):
            if isinstance(part, ToolResult) and place not in orphans:
                results.append(place)
                continue
            told: tuple[Part, ...] = (part,)
            if isinstance(part, ToolResult):
                again = part.call_id in called
                told = _told(part, again=again)
                why = "which is answered already" if again else "whose call is not there"
                text = f"the result of `{word(part.call_id)}`, {why}, goes as text"
                report.append(Mend("worded", turn.seqs[place], text))
            parts.extend(told)
            seqs.extend([turn.seqs[place]] * len(told))
        if results:
            mended.append(turn.taking(results))
        role = "assistant" if turn.side == "assistant" else "user"
        mended.append(Turn(Message(role, tuple(parts)), turn.seq, tuple(seqs)))

    return mended


def _told(result: ToolResult, *, again: bool) -> tuple[Part, ...]:
    name = short(result.call_id, _SHOWN)
    head = f"[result of `{name}`, a call that is no longer here]"
    if again:
        head = f"[a later result of `{name}`, a call that has an earlier one above]"
    # an item that answers the call would be sent as the orphan that it is
    parts = [_worded(part) if answer_in(part) else part for part in result.content]
    words = "".join(part.text for part in parts if isinstance(part, Text))
    rest = tuple(part for part in parts if not isinstance(part, Text))

    return (Text(f"{head}\n{words}" if words else head), *rest)


def _worded(part: Part) -> Part:
    """
    What there is to read in an item, and the picture where it is one of a screen.
    """
    if not isinstance(part, Opaque):
        return part
    output = part.data.value.get("output")
    if isinstance(output, dict) and output.get("type") == "computer_screenshot":
        url, file = output.get("image_url"), output.get("file_id")
        if isinstance(url, str) and url:
            return Image(url=url)
        if isinstance(file, str) and file:
            return Image(file=file)

    return Text(words_in(part))
