"""
A strategy is tested by calling it on values, without a store, a model or a mock.
"""

from attrs import field, frozen

from unabridged import Ask, Strategy, TrimContext, TrimResult, View, Window, run, system
from unabridged.contract import Flow
from unabridged.options import ge
from unabridged.results import drop, fold, unchanged
from unabridged.testing import (
    call,
    check_strategy,
    failing,
    replies,
    result,
    talk,
    texts,
    user,
    view_of,
)


@frozen(repr=False)
class DropReceipts(Strategy):
    """
    Drop tool calls and their results, but for those among the last *recent* messages.
    """

    recent: int = field(default=4, validator=ge(1))

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        """Read what is old from the front, so a cut belongs before it."""
        old = [item for item in view[: -self.recent] if "pay" in str(item.message)]
        return drop(view, old, reason="an old receipt")


def in_a_line(view: View, ctx: TrimContext) -> Flow:
    """
    Let a model tell in a line what is older than the last four messages.

    What it fails with is raised where the question stands. With `replace=True`
    the answer is written to the log, so a memory pays it once.
    """
    old = view[:-4]
    if all(item.stands_in for item in old):
        return unchanged(view)
    try:
        line = yield Ask(old, prompt="Tell this in one line.", max_tokens=60)
    except Exception as error:  # noqa: BLE001  a model that is down does not stop a chat
        return unchanged(view, warnings=[f"in_a_line: {error!r}"])

    return fold(view, old, into=system(line), reason="told in a line", replace=True)


booking = [user("Book it."), call("c1", name="pay"), result("c1", "pay: 640 EUR"), *talk(2)]


def test_drops_a_call_with_its_result() -> None:
    """Old receipts leave, and what was said stays."""
    assert texts(run(DropReceipts(), view_of(booking))) == ["Book it.", "q1", "a1", "q2", "a2"]


def test_keeps_a_pinned_receipt() -> None:
    """A pin covers the call as well."""
    assert len(run(DropReceipts(), view_of(booking, pinned=[3])).messages) == len(booking)


def test_holds_every_law() -> None:
    """Nothing is lost, parted or reordered, on generated logs with every odd shape."""
    check_strategy(DropReceipts(2) | Window(40))


def test_asks_and_can_do_without_an_answer() -> None:
    """A model is a function: one that replies, one that fails."""
    view = view_of(talk(3))
    told = run(in_a_line, view, ask=replies("They met."))
    assert texts(told) == ["They met.", "q2", "a2", "q3", "a3"]
    down = run(in_a_line, view, ask=failing(TimeoutError()))
    assert (down.messages, down.warnings) == (view.messages, ("in_a_line: TimeoutError()",))
    check_strategy(in_a_line)


for test in (
    test_drops_a_call_with_its_result,
    test_keeps_a_pinned_receipt,
    test_holds_every_law,
    test_asks_and_can_do_without_an_answer,
):
    test()
    print(f"{test.__name__}: passed")

# prints:
# test_drops_a_call_with_its_result: passed
# test_keeps_a_pinned_receipt: passed
# test_holds_every_law: passed
# test_asks_and_can_do_without_an_answer: passed
