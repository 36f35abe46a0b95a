"""
The contract of stores, as a check that anyone's store can be held to.

A little longer than most modules, because a contract is read as a whole.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from unabridged.messages import assistant, system, tool, user
from unabridged.records import (
    Appended,
    Compacted,
    Drop,
    Forked,
    Note,
    Noted,
    Pinned,
    Reverted,
)
from unabridged.spans import Span
from unabridged.states import ThreadState, rebuilt
from unabridged.stores.protocol import Store
from unabridged.testing.store_claims import Claims
from unabridged.testing.store_forks import (
    forks,
    forks_at_any_record,
    refuses_forks,
    retains_what_forks_share,
)
from unabridged.testing.store_incarnations import forks_of_incarnations, incarnations
from unabridged.testing.store_samples import call, eventful, everything, said, with_id

__all__ = ["check_store"]


def check_store(
    make: Callable[[], Store], *, retaining: Callable[[int], Store] | None = None
) -> None:
    """
    Hold a store to the contract of `stores.Store`.

    *make* gives a new empty store each time. *retaining* gives one that is
    bounded to so many entries, if the store can be.

    Raises:
        AssertionError: the contract is broken; the message says which claim, and
            what was found instead.

    >>> from unabridged.stores import InMemoryStore
    >>> check_store(InMemoryStore, retaining=InMemoryStore)
    """
    for check in _CHECKS:
        _hold(check, make())
    if retaining is not None:
        _hold(_retains, retaining(5))
        _hold(retains_what_forks_share, retaining(5))


def _hold(check: "Callable[[Claims, Store], None]", store: Store) -> None:
    try:
        check(Claims(type(store).__name__), store)
    finally:
        store.close()


def _starts_empty(claims: Claims, store: Store) -> None:
    claims.same("a new store has no threads", (), store.threads())
    claims.same("no thread, an empty state", ThreadState(), store.state("a"))
    claims.same("no thread, no records", (), store.read("a"))
    claims.same("no thread, no entries", (), store.entries("a", Span.between(1, 9)))
    claims.same("no thread, no links", [], list(store.links("a")))
    claims.same("no thread, nothing to find", None, store.find("a", "m1"))
    claims.same("no thread, no note", None, store.note("a", "cut", "k"))
    receipt = store.append("a", [])
    claims.same("an empty append writes nothing", ((), ()), (receipt.records, receipt.entries))
    claims.same("an empty append makes no thread", (), store.threads())
    store.delete("a")


def _numbers(claims: Claims, store: Store) -> None:
    first = store.append("a", said("hi", "there"), at=1.5)
    second = store.append("a", [Noted((Note("cut", "k", 1),)), *said("again")])
    claims.same("entries are numbered from 1", [1, 2], [entry.seq for entry in first.entries])
    claims.same("records are numbered from 1", [1, 2], [record.rec for record in first.records])
    claims.same("`at` is the time of the records", [1.5] * 2, [one.at for one in first.records])
    claims.same("and of the entries", [1.5] * 2, [entry.at for entry in first.entries])
    claims.same("other records leave no gap", [3], [entry.seq for entry in second.entries])
    claims.same("records go on", [3, 4], [record.rec for record in second.records])
    claims.same("a receipt has the state", store.state("a"), second.state)
    claims.same("the state counts", (4, 3), (second.state.rec, second.state.seq))
    written = (*first.records, *second.records)
    claims.same("what was written is read", written, store.read("a"))
    entries = (*first.entries, *second.entries)
    claims.same("entries are found by span", entries, store.entries("a", Span.between(1, 3)))


def _reads(claims: Claims, store: Store) -> None:
    store.append("a", said("1", "2", "3"))
    store.append("a", [Pinned(Span.one(1)), Noted((Note("cut", "k", 1),)), *said("4")])

    def recs(**keys: Any) -> list[int]:
        return [record.rec for record in store.read("a", **keys)]

    claims.same("read gives all, in order", [1, 2, 3, 4, 5, 6], recs())
    claims.same("after= excludes its number", [5, 6], recs(after=4))
    claims.same("before= excludes its number", [1, 2, 3], recs(before=4))
    claims.same("last= gives the newest, in order", [5, 6], recs(last=2))
    claims.same("last=0 gives none", [], recs(last=0))
    claims.same("bounds combine", [3, 4], recs(after=1, before=5, last=2))
    claims.same("marks choose kinds", [1, 2, 3, 6], recs(marks=("appended",)))
    claims.same("decided", [4], recs(marks=("decided",)))
    claims.same("several kinds, in order", [4, 5], recs(marks=("noted", "decided")))
    claims.same("last= counts the chosen", [3, 6], recs(marks=["appended"], last=2))
    claims.same("bounds and kinds combine", [5], recs(marks=("noted", "decided"), after=4))
    span = Span.of([2, (4, 9)])
    found = [entry.seq for entry in store.entries("a", span)]
    claims.same("entries that are not there are left out", [2, 4], found)


def _marks(claims: Claims, store: Store) -> None:
    talk = (user("q"), call("c1"), user("wait"), tool("x", call_id="c1"), assistant("done"))
    entries = store.append("a", [Appended(0, message) for message in talk]).entries
    marks = [(entry.head, entry.opener, entry.asked) for entry in entries]
    expected = [(1, 1, 1), (2, 1, 1), (3, 3, 3), (2, 1, 3), (5, 1, 3)]
    claims.same("the marks of entries", expected, marks)
    claims.same("are kept", entries, store.entries("a", Span.between(1, 5)))
    claims.same("links name what joined a block", [(4, 2)], list(store.links("a")))
    claims.same("links after= an entry", [], list(store.links("a", after=4)))
    pinned = store.append("a", [Appended(0, user("keep"), pinned=True)]).entries[0]
    claims.same("a pinned entry says so", pinned, store.entries("a", Span.one(6))[0])
    claims.same("and so does the state", Span.one(6), store.state("a").hand)


def _ids(claims: Claims, store: Store) -> None:
    hello, same = Appended(0, user("hi", id="m1")), Appended(0, user("hi", id="m1"))
    first = store.append("a", [hello]).entries
    again = store.append("a", [same, Appended(0, user("new", id="m2"))])
    claims.same("an equal message with a known id is known", first, again.known)
    claims.same("the others are appended", ["m2"], [entry.message.id for entry in again.entries])
    claims.same("an entry is found by id", first[0], store.find("a", "m1"))
    claims.same("another thread's is not", None, store.find("b", "m1"))
    twice = store.append("a", [Appended(0, user("x", id="m3"))] * 2)
    claims.same("an id twice in one append is written once", 1, len(twice.entries))
    claims.conflicts("a known id, another message", store, *said("new"), with_id("other", "m1"))
    claims.conflicts("one id, two messages", store, with_id("x", "m9"), with_id("y", "m9"))
    all_known = store.append("a", [hello])
    claims.same("what is known makes no record", (), all_known.records)
    rec = store.state("a").rec
    store.append("a", [Compacted((Drop(Span.one(1), step="memory.retract"),), rec)])
    reused = store.append("a", [with_id("other", "m1")]).entries
    claims.same("a retracted id may be used again", 1, len(reused))
    claims.same("the newest entry is found", reused[0], store.find("a", "m1"))


def _expects(claims: Claims, store: Store) -> None:
    claims.conflicts("expect= on an empty thread", store, *said("x"), expect=1)
    store.append("a", said("1"), expect=0)
    store.append("a", said("2"), expect=1)
    claims.conflicts("expect= a record that is not the last", store, *said("x"), expect=1)
    claims.conflicts("expect= a record to come", store, *said("x"), expect=3)


def _leans(claims: Claims, store: Store) -> None:
    store.append("a", said("1", "2", "3"))
    upto = store.state("a").rec
    store.append("a", said("4"))
    drop = Compacted((Drop(Span.one(1), reason="old", step="s"),), upto)
    store.append("a", [drop])
    claims.same("plain appends since do not matter", Span.between(2, 4), store.state("a").live)
    claims.conflicts("a Compacted on a view that changed since", store, *said("x"), drop)
    store.append("a", [Reverted(store.state("a").decided)])
    claims.same("a revert brings entries back", Span.between(1, 4), store.state("a").live)
    late = Compacted((Drop(Span.one(2)),), store.state("a").rec - 1)
    claims.conflicts("a Compacted on a view that was reverted since", store, late)


def _keeps_everything(claims: Claims, store: Store) -> None:
    messages = everything()
    entries = store.append("a", [Appended(0, message) for message in messages]).entries
    kept = store.entries("a", Span.between(1, len(messages)))
    for message, entry in zip(messages, kept, strict=True):
        claims.same("a message is kept as it was", message, entry.message)
    claims.same("and so are entries", entries, kept)
    odd = "m\x00\ud800é"
    claims.same("an id of odd characters is found", kept[-1], store.find("a", odd))


def _parts_threads(claims: Claims, store: Store) -> None:
    names = ("a", "", "A", "å", "日本", "\U0001f600", "\ud800", "a\x00b", "a b'\"%_")
    for name in names:
        store.append(name, [with_id(f"in {name!r}", "m1"), Noted((Note("cut", "k", name),))])
    claims.same("threads are named, sorted", tuple(sorted(names)), store.threads())
    for name in names:
        (entry,) = store.entries(name, Span.between(1, 9))
        claims.same("a thread has its own entries", f"in {name!r}", entry.message.text)
        claims.same("its own ids", entry, store.find(name, "m1"))
        claims.same("its own notes", Note("cut", "k", name), store.note(name, "cut", "k"))
    store.delete("a")
    claims.same("a deleted thread is gone", tuple(sorted(names[1:])), store.threads())
    claims.same("with its state", ThreadState(), store.state("a"))
    claims.same("and its records", (), store.read("a"))
    again = store.append("a", said("new"))
    claims.same("its name starts anew", 1, again.entries[0].seq)
    claims.same("with nothing of the old", again.records, store.read("a"))


def _notes(claims: Claims, store: Store) -> None:
    store.append("a", said("hi"))
    for number in (1, 2):
        store.append("a", [Noted((Note("cut", "k", number), Note("answer", "k", number)))])
    claims.same("the newest note is given", Note("cut", "k", 2), store.note("a", "cut", "k"))
    claims.same("by its kind", Note("answer", "k", 2), store.note("a", "answer", "k"))
    claims.same("and its key", None, store.note("a", "cut", "other"))


def _folds_its_log(claims: Claims, store: Store) -> None:
    for bodies in eventful():
        state = store.append("a", bodies).state
        claims.same("the state is that of the records", rebuilt(store.read("a")), state)
        claims.same("and is kept", state, store.state("a"))
    store.append("b", [Appended(0, system("Be brief.")), *said("hi")])
    claims.same("also of other threads", rebuilt(store.read("b")), store.state("b"))


def _retains(claims: Claims, store: Store) -> None:
    store.append("a", [Appended(0, system("Be brief.")), *said("1"), Appended(0, call("c1", "c2"))])
    answered = [tool("x", call_id="c1"), assistant("So.")]
    store.append("a", [*(Appended(0, m) for m in answered), *said("2", "3")])
    left = [entry.seq for entry in store.entries("a", Span.between(1, 9))]
    claims.same("older whole blocks go, pins stay", [1, 5, 6, 7], left)
    state = store.state("a")
    claims.same("the state says what is lost", Span.between(2, 4), state.lost)
    claims.same("and what is live", Span.of([1, (5, 7)]), state.live)
    claims.same("records go too", [1, 5, 6, 7], [record.rec for record in store.read("a")])
    claims.same("numbers go on", 8, store.append("a", said("5")).entries[0].seq)
    for text in ("6", "7", "8"):
        store.append("a", said(text))
    late = store.append("a", [Appended(0, tool("late", call_id="c2"))])
    claims.same("a result whose call is lost", 12, late.entries[0].seq)
    for number in range(13, 23):
        store.append("a", [Appended(0, assistant(f"a{number}"))])
    left = [entry.seq for entry in store.entries("a", Span.between(1, 22))]
    claims.same("the newest question stays", [1, 11, 20, 21, 22], left)
    claims.same("what is destroyed is no damage", (), store.verify().damage)


def _verifies(claims: Claims, store: Store) -> None:
    claims.same("an empty store is sound", (0, 0, ()), _seen(store))
    for bodies in eventful():
        store.append("a", bodies)
    records = store.state("a").rec
    store.append("b", [Forked("a", 3)])
    claims.same("a sound one is sound", (2, records + 4, ()), _seen(store))
    steps: list[int] = []
    store.verify(lambda step: steps.append(step.done))
    claims.same("progress goes up to all records", [records, records + 4], steps)


def _seen(store: Store) -> tuple[int, int, tuple[str, ...]]:
    found = store.verify()
    return found.threads, found.records, found.damage


_Check: TypeAlias = Callable[[Claims, Store], None]
_CHECKS: tuple[_Check, ...] = (
    _starts_empty,
    _numbers,
    _reads,
    _marks,
    _ids,
    _expects,
    _leans,
    _keeps_everything,
    _parts_threads,
    _notes,
    _folds_its_log,
    _verifies,
    forks,
    forks_at_any_record,
    refuses_forks,
    incarnations,
    forks_of_incarnations,
)
