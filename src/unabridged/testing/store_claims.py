"""
How the contract of stores is checked: claims that hold, or an error that says which does not.
"""

from collections.abc import Callable
from typing import Any

from attrs import frozen

from unabridged.errors import LogConflictError, StoreError
from unabridged.records import Body
from unabridged.stores.protocol import Store

__all__ = ["Claims"]


@frozen
class Claims:
    """
    Says which claim about which store does not hold.

    >>> Claims("MyStore").same("one and one", 2, 3)
    Traceback (most recent call last):
    AssertionError: MyStore: one and one: expected 2, got 3
    """

    store: str

    def same(self, claim: str, expected: Any, actual: Any) -> None:
        """
        The two are equal.
        """
        if expected != actual:
            msg = f"{self.store}: {claim}: expected {expected!r}, got {actual!r}"
            raise AssertionError(msg)

    def conflicts(self, claim: str, store: Store, *bodies: Body, expect: int | None = None) -> None:
        """
        The append is a `LogConflictError` and changes nothing.
        """
        before = store.state("a"), store.read("a")
        try:
            receipt = store.append("a", bodies, expect=expect)
        except LogConflictError:
            self.same(f"{claim}: nothing is written", before, (store.state("a"), store.read("a")))
            return
        msg = f"{self.store}: {claim}: expected a LogConflictError, got {receipt!r}"
        raise AssertionError(msg)

    def refuses(self, claim: str, names: str, act: Callable[[], object]) -> None:
        """
        It is a `StoreError` that names what it should.
        """
        try:
            done = act()
        except StoreError as error:
            missing = [] if names in str(error) else [names]
            self.same(f"{claim}: {error} says all", [], missing)
            return
        msg = f"{self.store}: {claim}: expected a StoreError, got {done!r}"
        raise AssertionError(msg)
