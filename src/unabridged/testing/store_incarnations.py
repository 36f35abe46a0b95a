"""
The part of the contract of stores that is about threads which are deleted and begun anew.
"""

from collections.abc import Sequence

from unabridged.errors import LogConflictError
from unabridged.records import (
    Appended,
    Body,
    Compacted,
    Drop,
    Forked,
    Note,
    Noted,
    Pinned,
    Reverted,
)
from unabridged.spans import Span
from unabridged.stores.incarnations import takes_incarnation
from unabridged.stores.protocol import Store
from unabridged.testing.store_claims import Claims
from unabridged.testing.store_samples import call, eventful, said, with_id

__all__ = ["forks_of_incarnations", "incarnations"]


def incarnations(claims: Claims, store: Store) -> None:
    """
    A thread is told from one of its name that was deleted, and what was meant for that is refused.
    """
    takes = ("append", "delete") if takes_incarnation(store) else ()
    claims.same("what takes `incarnation=`", ("append", "delete"), takes)
    claims.same("no thread, no incarnation", "", store.state("a").incarnation)
    start, *rest = eventful()
    first = store.append("a", start, at=1.5).state.incarnation
    for bodies in rest:
        kept = store.append("a", bodies, at=1.5, incarnation=first).state.incarnation
        claims.same("it stays the same", first, kept)
        claims.same("and is kept", first, store.state("a").incarnation)
    other = store.append("b", said("1"), at=1.5, incarnation="").state.incarnation
    claims.same("each thread has one", 3, len({"", first, other}))
    for wrong in ("", other, "never"):
        _refuses(claims, store, wrong)
    store.delete("a", incarnation=other)
    claims.same("deleting another leaves it", first, store.state("a").incarnation)
    known = [with_id("hi", "m7")]
    store.append("a", known, at=1.5)
    store.delete("a", incarnation=first)
    claims.same("deleting this one does not", ("b",), store.threads())
    _refuses(claims, store, first)
    claims.same("no thread is made of what was refused", ("b",), store.threads())
    again = store.append("a", [*said("1"), *known], at=1.5)
    claims.same("begun anew it is another", 4, len({"", first, other, again.state.incarnation}))
    claims.same("which knows no message of before", 2, len(again.entries))
    _refuses(claims, store, first)


def forks_of_incarnations(claims: Claims, store: Store) -> None:
    """
    A fork is an incarnation of its own, made only of the one that is meant.
    """
    first = store.append("a", [*said("1"), Appended(0, call("c1"))], at=1.5).state.incarnation
    made = [
        store.append(name, [Forked(parent, 2)], at=1.5, incarnation=meant).state.incarnation
        for name, parent, meant in (("b", "a", first), ("c", "a", None))
    ]
    claims.same("each fork has its own", 3, len({first, *made}))
    claims.same("and keeps it", made, [store.state(name).incarnation for name in "bc"])
    gone = store.append("c", said("on"), at=1.5, incarnation=made[1]).state.incarnation
    claims.same("also as it goes on", made[1], gone)
    claims.same("its parent keeps its own", first, store.state("a").incarnation)
    store.delete("c")
    again = store.append("c", [Forked("a", 1)], at=1.5).state.incarnation
    claims.same("a fork made anew is another", 4, len({first, *made, again}))
    for name in "bca":
        store.delete(name)
    fork = [Forked("a", 1)]
    _conflict(claims, store, "b", fork, first)
    store.append("a", said("1", "2"), at=1.5)
    _conflict(claims, store, "b", fork, first)
    claims.same("a fork of a deleted thread is not made", ("a",), store.threads())


def _refuses(claims: Claims, store: Store, wrong: str) -> None:
    """
    Whatever is meant for the *wrong* incarnation changes nothing.
    """
    rec = store.state("a").rec
    for body in (
        *said("x"),
        Noted((Note("answer", "k", "x"),)),
        Compacted((Drop(Span.one(1), step="s"),), rec),
        Reverted(7),
        Pinned(Span.one(1)),
    ):
        _conflict(claims, store, "a", [body], wrong)
    _conflict(claims, store, "a", said("x"), wrong, expect=rec)


def _conflict(  # noqa: PLR0913  all of an append
    claims: Claims,
    store: Store,
    thread: str,
    bodies: Sequence[Body],
    wrong: str,
    expect: int | None = None,
) -> None:
    before = store.state(thread), store.read(thread), store.threads()
    claim = f"{type(bodies[0]).__name__} for incarnation {wrong!r}"
    try:
        receipt = store.append(thread, bodies, incarnation=wrong, expect=expect)
    except LogConflictError:
        now = store.state(thread), store.read(thread), store.threads()
        claims.same(f"{claim}: nothing is written", before, now)
        return
    msg = f"{claims.store}: {claim}: expected a LogConflictError, got {receipt!r}"
    raise AssertionError(msg)
