"""
Clearing old tool results: markers stand for them, and name where the whole is.
"""

from attrs import evolve, field, frozen

from unabridged.clearing import Clearing, cleared
from unabridged.contract import TrimContext
from unabridged.json_values import json_of
from unabridged.options import (
    as_names,
    at_least_option,
    flag,
    function,
    ge,
    last_cut,
    names_only,
)
from unabridged.pipeline import Strategy
from unabridged.records import Note
from unabridged.results import TrimResult, rewrite
from unabridged.tokens import TokenCounter, kept
from unabridged.views import View

__all__ = ["ClearToolResults"]


@frozen(repr=False)
class ClearToolResults(Strategy):
    """
    Let a short marker stand for each old tool result: its tool, its tokens, its handle.

    `Memory.fetch` and `tools.recall` give the whole back by the handle. Calls
    stay, and so do the newest results, those of pins, of calls that wait, of
    the newest block, and each that is shorter than its marker. Images and
    documents go too, named in the marker; an error keeps its first line. A
    message with reasoning or a signature is left alone. It reads the whole
    view: put it after a cut, and after what summarizes, which is told the whole then.

    Without *at_least*, each new result has an older one cleared, and the prefix
    that a provider has cached ends there on every turn. With it, all that was
    cleared stays as it is until that many tokens more can go at once; the place
    is kept as a note in the log.

    Args:
        keep_last: the newest results to keep, by number; None: none by number.
        keep_tokens: keep also the newest that have so many tokens together.
        at_least: tokens that clearing must gain, or nothing more is cleared.
        exclude: names of tools whose results stay whole, and do not count.
        inputs: whether the arguments of the calls, as a file that was written,
            become a marker too: freeform input a text, all else a JSON object.
        count: a counter of its own; the memory's by default.
        replace: write what is cleared back to the log's view; entries stay whole.

    Raises:
        ConfigError: a number is too small, or *exclude* holds no names.

    >>> from unabridged import run, tokens
    >>> from unabridged.testing import call, result, user, view_of
    >>> said = [user("q"), call("c1"), result("c1", "row " * 500), call("c2"), result("c2", "ok")]
    >>> print(run(ClearToolResults(keep_last=1, count=tokens.words), view_of(said)).text())
    user: q
    assistant:  [tool calls: look({})]
    tool: [look result cleared: 500 tokens; the whole is entry 3]
    assistant:  [tool calls: look({})]
    tool: ok
    """

    keep_last: int | None = field(default=3, validator=ge(0))
    keep_tokens: int | None = field(default=None, kw_only=True, validator=ge(0))
    at_least: int | None = at_least_option()
    exclude: tuple[str, ...] = field(
        default=(), kw_only=True, converter=as_names, validator=names_only
    )
    inputs: bool = flag(default=False)
    count: TokenCounter | None = field(default=None, kw_only=True, validator=function)
    replace: bool = flag(default=False)

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        count = ctx.count if self.count is None else kept(self.count)
        clearing = Clearing.of(view, count, self.exclude, inputs=self.inputs)
        number, edge = clearing.edge(self.keep_last, self.keep_tokens)
        stood, notes = edge, tuple[Note, ...]()
        if self.at_least is not None:  # newer results may have shrunk since, and take less room
            stood = _standing(view, last_cut(view, self), number, edge)
        markers = clearing.markers(max(edge, stood))
        if self.at_least is not None:
            if sum(marker.gain for marker in markers if marker.seq >= stood) < self.at_least:
                edge = stood
            else:
                notes = (Note("cut", repr(self), json_of({"first": edge})),)
        result = rewrite(
            view,
            cleared(markers, edge),
            reason="an old tool result is cleared",
            replace=self.replace,
        )

        return evolve(result, notes=notes)


def _standing(view: View, noted: int, number: int, edge: int) -> int:
    """
    The place of the note as it still counts: never beyond what stays by number now.

    Where its entry has left, as after a rewind, nor beyond what stays by tokens.
    """
    return min(noted, number if view.find(noted) >= 0 else edge)
