"""
What a recall tool says to a model: one JSON object, no longer than it may be.

So no text of the log can pass for a line of the tool's own. What does not fit
is left for the next call, and `next` says where that goes on.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from unabridged.fetching import Excerpt, Findings
from unabridged.graphemes import cut_before
from unabridged.json_values import json_text
from unabridged.messages import tool
from unabridged.tokens import TokenCounter, kept
from unabridged.transcripts import LINE_ENDS

__all__ = ["ERROR", "told", "told_error"]

ERROR = '{"error":'
_Cut: TypeAlias = Callable[[int], str]


def told(
    found: Excerpt | Findings, max_tokens: int, count: TokenCounter, *, places: bool = False
) -> str:
    """
    What was read or found, as much of it as *max_tokens* hold; of an excerpt its text or *places*.

    >>> from unabridged.tokens import words
    >>> told(Excerpt("1", "one two", 0, 7, 7), 400, words)
    '{"handle":"1","start":0,"stop":7,"length":7,"text":"one two","next":null}'
    """
    if isinstance(found, Findings):
        size, cut = len(found.found), _search_of(found)
    elif places:
        size, cut = len(found.found), _places_of(found)
    else:
        size, cut = min(len(found.text), 8 * max_tokens), _reading_of(found)
    weigh = kept(count)
    while True:
        text = cut(size)
        used = weigh(tool(text, call_id="call"))
        if used <= max_tokens or not size:
            return text
        size = min(size - 1, size * max_tokens // used * 19 // 20)


def told_error(error: Exception) -> str:
    """
    What went wrong, in the same form.

    >>> told_error(ValueError("no such entry"))
    '{"error":"no such entry"}'
    """
    return _said({"error": str(error)})


def _reading_of(found: Excerpt) -> _Cut:
    """
    A part of an entry, by its characters.
    """

    def cut(size: int) -> str:
        size = size if size >= len(found.text) else cut_before(found.text, size) or size
        stop = found.start + size
        answer = {"handle": found.handle, "start": found.start, "stop": stop}
        answer |= {"length": found.length, "text": found.text[:size]}

        return _said({**answer, "next": stop if stop < found.length else None})

    return cut


def _places_of(found: Excerpt) -> _Cut:
    """
    Where words stand in an entry, by the number of places.
    """

    def cut(size: int) -> str:
        shown = found.found[: max(1, size)]
        places = [{"start": place.start, "text": place.text if size else ""} for place in shown]
        more = found.hits > sum(place.hits for place in shown)
        answer = {"handle": found.handle, "length": found.length, "hits": found.hits}

        behind = shown[-1].stop if more else found.more or None

        return _said({**answer, "found": places, "next": behind})

    return cut


def _search_of(found: Findings) -> _Cut:
    """
    The entries that hold words, by their number.
    """

    def cut(size: int) -> str:
        shown = found.found[: max(1, size)]
        hits = [
            {
                "handle": hit.handle,
                "start": hit.start,
                "length": hit.length,
                "hits": hit.hits,
                "text": hit.text if size else "",
            }
            for hit in shown
        ]
        more = found.more if len(shown) == len(found.found) else int(shown[-1].handle)
        answer: dict[str, Any] = {"found": hits, "next": more or None}
        if not found.found and more:
            answer["note"] = "nothing found yet; go on with `before` as `next` says"
        elif not found.found:
            answer["note"] = "nothing holds these words; try others, or fewer"
        elif not found.every:
            answer["note"] = "no entry holds all of these words; these hold some of them"

        return _said(answer)

    return cut


def _said(answer: dict[str, Any]) -> str:
    return json_text(answer).translate(LINE_ENDS)
