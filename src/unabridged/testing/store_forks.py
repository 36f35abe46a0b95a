"""
The part of the contract of stores that is about forks.
"""

from functools import partial

from unabridged.messages import system, tool
from unabridged.records import Appended, Compacted, Drop, Forked, Note, Noted, Reverted
from unabridged.spans import Span
from unabridged.states import rebuilt
from unabridged.stores.protocol import Store
from unabridged.testing.store_claims import Claims
from unabridged.testing.store_samples import call, eventful, said, with_id

__all__ = ["forks", "forks_at_any_record", "refuses_forks", "retains_what_forks_share"]


def forks(claims: Claims, store: Store) -> None:
    """
    A fork has all that was before it, and neither thread sees what comes to the other.
    """
    store.append("a", [Appended(0, system("Be brief."), pinned=True), with_id("q1", "m1")])
    store.append("a", [Appended(0, call("c1")), Noted((Note("cut", "k", 1),))])
    store.append("a", [Compacted((Drop(Span.one(2), reason="old", step="s"),), 4)])
    inherited, before = store.read("a"), store.state("a")
    receipt = store.append("b", [Forked("a", 5)], expect=0, at=2.5)
    claims.same("a fork is one record", 1, len(receipt.records))
    claims.same("numbered on", (6, 2.5), (receipt.records[0].rec, receipt.records[0].at))
    claims.same("without an entry", ((), 3), (receipt.entries, receipt.state.seq))
    claims.same("its state is kept", receipt.state, store.state("b"))
    claims.same("the other's does not change", before, store.state("a"))
    store.append("a", [with_id("elsewhere", "m2"), Noted((Note("cut", "k", 2),)), Reverted(5)])
    beyond = store.state("a")
    own = store.append("b", [Appended(0, tool("x", call_id="c1")), *said("here")])
    claims.same("entries are numbered on", [4, 5], [entry.seq for entry in own.entries])
    records = (*inherited, *receipt.records, *own.records)
    claims.same("what was before is read, then its own", records, store.read("b"))
    claims.same("the newest across the fork", records[-5:], store.read("b", last=5))
    claims.same("bounds across the fork", records[3:7], store.read("b", after=3, before=8))
    claims.same("kinds across the fork", records[4:5], store.read("b", marks=("decided",)))
    claims.same("the fork is a kind", receipt.records, store.read("b", marks=("forked",)))
    both = ("appended", "forked")
    chosen = (*records[:3], *records[5:])
    claims.same("two kinds across it", chosen, store.read("b", marks=both))
    span = Span.between(2, 9)
    claims.same("entries across the fork", [2, 3, 4, 5], [e.seq for e in store.entries("b", span)])
    claims.same("are its own beyond it", own.entries, store.entries("b", Span.between(4, 5)))
    claims.same("a result is tied to a call before the fork", [(4, 3)], list(store.links("b")))
    claims.same("links after= across the fork", [(4, 3)], list(store.links("b", after=3)))
    claims.same("a note of before", Note("cut", "k", 1), store.note("b", "cut", "k"))
    claims.same("an id of before is found", 2, getattr(store.find("b", "m1"), "seq", None))
    claims.same("one that came later is not", None, store.find("b", "m2"))
    known = store.append("b", [with_id("q1", "m1")])
    claims.same("a message of before is known", [2], [entry.seq for entry in known.known])
    undone = store.append("b", [Reverted(5)])
    claims.same("a decision of before is reverted", Span.between(1, 5), undone.state.live)
    claims.same("the state is that of the records", rebuilt(store.read("b")), store.state("b"))
    claims.same("the other thread never changed", beyond, store.state("a"))
    claims.same("nor did its records", rebuilt(store.read("a")), store.state("a"))
    claims.same("both are threads", ("a", "b"), store.threads())


def forks_at_any_record(claims: Claims, store: Store) -> None:
    """
    A fork, and a fork of it, comes to what the records up to there come to.
    """
    for bodies in eventful():
        store.append("a", bodies)
    records, whole = store.read("a"), store.state("a")
    for rec in range(1, whole.rec + 1):
        fork, again = f"at {rec}", f"again {rec}"
        state = store.append(fork, [Forked("a", rec)], at=0.5).state
        read = store.read(fork)
        claims.same("a fork has the records up to there", records[:rec], read[:-1])
        claims.same("and what they come to", rebuilt(read), state)
        state = store.append(again, [Forked(fork, max(rec - 3, 1))], at=0.5).state
        claims.same("a fork of a fork too", records[: max(rec - 3, 1)], store.read(again)[:-1])
        state = store.append(again, said("on")).state
        claims.same("and it goes on", rebuilt(store.read(again)), state)
    claims.same(
        "the first thread never changed", (records, whole), (store.read("a"), store.state("a"))
    )


def refuses_forks(claims: Claims, store: Store) -> None:
    """
    What cannot be forked is refused, and a thread with forks is not deleted.
    """
    store.append("a", said("1", "2"))
    for claim, names, bodies in (
        ("a fork of no thread", "'none'", [Forked("none", 1)]),
        ("a fork before all records", "record 0", [Forked("a", 0)]),
        ("a fork past the last record", "1-2", [Forked("a", 3)]),
        ("a fork that is not alone", "alone", [Forked("a", 1), *said("x")]),
        ("a fork that is not first", "alone", [*said("x"), Forked("a", 1)]),
        ("a fork of itself", "another", [Forked("b", 1)]),
    ):
        claims.refuses(claim, names, partial(store.append, "b", bodies))
        claims.same(f"{claim}: makes no thread", ("a",), store.threads())
    claims.refuses("a name that is taken", "2 records", lambda: store.append("a", [Forked("b", 1)]))
    claims.conflicts("expect= of a fork", store, Forked("b", 1), expect=1)
    store.append("b", [Forked("a", 1)])
    store.append("c", [Forked("a", 2)])
    store.append("d", [Forked("c", 3)])
    claims.refuses("deleting what forks share", "'b', 'c'", lambda: store.delete("a"))
    claims.same("destroys nothing", ["1", "2"], _texts(store, "a"))
    store.delete("b")
    claims.refuses("also for one that is left", "'c'", lambda: store.delete("a"))
    claims.same("and forks read on", ["1", "2"], _texts(store, "d"))
    for name in ("d", "c", "a"):
        store.delete(name)
    claims.same("forks first, then the thread", (), store.threads())


def retains_what_forks_share(claims: Claims, store: Store) -> None:
    """
    A bound destroys nothing that forks share.
    """
    store.append("a", [*said("1", "2", "3"), Appended(0, call("c1"))])
    store.append("b", [Forked("a", 4)])
    for number in range(5, 15):
        store.append("a", said(f"a{number}"))
        result = [Appended(0, tool("x", call_id="c1"))] if number == 5 else []  # noqa: PLR2004
        store.append("b", [*result, *said(f"b{number}")])
    shared = ["1", "2", "3", ""]
    left = [*shared, "a10", "a11", "a12", "a13", "a14"]
    claims.same("what forks share stays, and is not counted", left, _texts(store, "a"))
    left = [*shared, "x", "b11", "b12", "b13", "b14"]
    claims.same("a fork keeps so many of its own", left, _texts(store, "b"))
    claims.refuses(
        "a fork of what was deleted", "retain=", lambda: store.append("c", [Forked("a", 4)])
    )
    store.delete("b")
    store.append("a", said("a15"))
    claims.same("once no fork shares them, they go", 5, len(_texts(store, "a")))


def _texts(store: Store, thread: str) -> list[str]:
    state = store.state(thread)
    return [entry.message.text for entry in store.entries(thread, Span.between(1, state.seq))]
