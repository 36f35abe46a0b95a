"""
A strategy is tested by calling it on values, without a store, a model or a mock.
"""

from attrs import field, frozen

from unabridged import Strategy, TrimContext, TrimResult, View, Window, run
from unabridged.options import ge
from unabridged.results import drop
from unabridged.testing import call, check_strategy, result, talk, texts, user, view_of


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


for test in (test_drops_a_call_with_its_result, test_keeps_a_pinned_receipt, test_holds_every_law):
    test()
    print(f"{test.__name__}: passed")

# prints:
# test_drops_a_call_with_its_result: passed
# test_keeps_a_pinned_receipt: passed
# test_holds_every_law: passed
