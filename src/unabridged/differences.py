"""
Two views side by side: what is only in one, what is worded or folded differently.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter, itemgetter
from typing import Literal, TypeAlias

from attrs import frozen

from unabridged.errors import ConfigError
from unabridged.explained import one_line
from unabridged.items import Item
from unabridged.spans import NOTHING, Span
from unabridged.text import brief
from unabridged.trim_result import TrimResult
from unabridged.views import View

__all__ = ["Diff", "Difference", "Seen", "difference"]

_first = itemgetter(0)
Seen: TypeAlias = int | View | TrimResult
Kind: TypeAlias = Literal["only in a", "only in b", "reworded", "folded"]


@frozen
class Difference:
    """
    Entries that two views show differently, and the items of each that stand for them.

    *kind* is "only in a", "only in b", "reworded" (one message each, with other
    words) or "folded" (one message stands in for several, in one of the views
    or in both with other words or for others). *entries* are empty for a message
    that was put in.

    >>> from unabridged import Window, run
    >>> from unabridged.testing import user, view_of
    >>> result = run(Window(1), view_of([user("a"), user("b")]))
    >>> for each in difference(result.before, result).differences:
    ...     print(each)
    - entry 1: user: a
    """

    kind: Kind
    entries: Span
    a: tuple[Item, ...] = ()
    b: tuple[Item, ...] = ()

    def __str__(self) -> str:
        match self.kind:
            case "only in a":
                return f"- {_line(self.entries, self.a[0])}"
            case "only in b":
                return f"+ {_line(self.entries, self.b[0])}"
            case _:
                sides = [("-", item) for item in self.a] + [("+", item) for item in self.b]
                told = (f"    {sign} {_line(item.sources, item)}" for sign, item in sides)
                return "\n".join((f"~ {_named(self.entries)}: {self.kind}", *told))


@frozen
class Diff:
    """
    What two views, *a* and *b*, show differently, in the order of the log.

    An entry is in at most one of the *differences*, but for one that is another
    message in each, as in threads that went different ways. Where there are
    none, the views show the same messages. `print` it to read it.

    >>> from unabridged import Memory, Window, user
    >>> memory = Memory(strategy=Window(1))
    >>> _ = memory.append(user("a"), user("b"))
    >>> _ = memory.compact()
    >>> diff = memory.diff(2)
    >>> print(diff)
    a: record 2, 2 messages
    b: record 3, 1 message
    - entry 1: user: a
    >>> diff.only_in_a, diff.only_in_b, diff.reworded, diff.folded
    (Span.of([1]), Span(), Span(), Span())
    """

    a: str
    b: str
    differences: tuple[Difference, ...] = ()

    @property
    def only_in_a(self) -> Span:
        """
        The entries that *a* shows in some way and *b* does not.
        """
        return self._of("only in a")

    @property
    def only_in_b(self) -> Span:
        """
        The entries that *b* shows in some way and *a* does not.
        """
        return self._of("only in b")

    @property
    def reworded(self) -> Span:
        """
        The entries that both show by one message each, with other words.
        """
        return self._of("reworded")

    @property
    def folded(self) -> Span:
        """
        The entries that both show, one of them by a message that stands in for several.
        """
        return self._of("folded")

    def _of(self, kind: Kind) -> Span:
        return Span.union(each.entries for each in self.differences if each.kind == kind)

    def __str__(self) -> str:
        told = map(str, self.differences) if self.differences else ["no difference"]
        return "\n".join((f"a: {self.a}", f"b: {self.b}", *told))


def difference(a: View | TrimResult, b: View | TrimResult) -> Diff:
    """
    What two views or results show differently; linear in the two.

    Raises:
        ConfigError: it is no view, or a view of which not all is loaded.

    >>> from unabridged.testing import user, view_of
    >>> view = view_of([user("a")])
    >>> print(difference(view, view))
    a: record 1, 1 message
    b: record 1, 1 message
    no difference
    """
    left, right = _items(a, "a"), _items(b, "b")
    found = [*_put_in(left, right), *_compared(_Side(left), _Side(right))]
    found.sort(key=lambda each: each.entries.first)

    return Diff(_title(a, left), _title(b, right), tuple(found))


def _items(shown: object, name: str) -> Sequence[Item]:
    if isinstance(shown, TrimResult):
        return shown.sent
    if not isinstance(shown, View):
        msg = f"diff: {name} must be a record's number, a View or a TrimResult, got {brief(shown)}"
        raise ConfigError(msg)
    if shown.hidden:
        msg = (
            f"diff: {name} is a view of which the entries {shown.hidden} are not loaded; "
            "give the record's number, or memory.view()"
        )
        raise ConfigError(msg)

    return tuple(shown)


def _title(shown: View | TrimResult, items: Sequence[Item]) -> str:
    count = f"{len(items)} message{'' if len(items) == 1 else 's'}"
    if isinstance(shown, TrimResult):
        return f"a context of record {shown.before.head}, {count}"

    return f"record {shown.head}, {count}"


class _Side:
    """
    The items of a view, found by the entries they stand for.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self.items = [item for item in items if item.sources]
        self.sources = Span.union(item.sources for item in self.items)
        self.alone = {item.first: item for item in self.items if not item.wide}
        self.wide = [item for item in self.items if item.wide]
        self._runs = sorted(
            (first, last, place)
            for place, item in enumerate(self.wide)
            for first, last in item.sources.ranges
        )

    def meeting(self, sources: Span) -> Iterator[Item]:
        """
        The stand-ins for several entries that stand for any of these, some of them twice.
        """
        for first, last in sources.ranges:
            yield from self._wide_between(first, last)

    def _wide_between(self, first: int, last: int) -> Iterator[Item]:
        place = max(bisect_right(self._runs, first, key=_first) - 1, 0)
        for low, high, number in self._runs[place:]:
            if low > last:
                return
            if high >= first:
                yield self.wide[number]


def _compared(a: _Side, b: _Side) -> Iterator[Difference]:
    for item in a.items:
        if only := item.sources - b.sources:
            yield Difference("only in a", only, (item,))
    for item in b.items:
        if only := item.sources - a.sources:
            yield Difference("only in b", only, (), (item,))
    for seq, item in a.alone.items():
        other = b.alone.get(seq)
        if other is None or item.message == other.message:
            continue
        if item.stands_in or other.stands_in:
            yield Difference("reworded", item.sources, (item,), (other,))
        else:  # two threads that went different ways
            yield Difference("only in a", item.sources, (item,))
            yield Difference("only in b", other.sources, (), (other,))
    yield from _folded(a, b)


def _folded(a: _Side, b: _Side) -> Iterator[Difference]:
    """
    Where one side or both have a stand-in for several: all items that overlap, together.
    """
    for group in _joined(_overlaps(a, b)):
        ours, theirs = (
            tuple(sorted((item for side, item in group if side == one), key=attrgetter("first")))
            for one in "ab"
        )
        both = Span.union(item.sources for item in ours)
        yield Difference("folded", both & Span.union(item.sources for item in theirs), ours, theirs)


def _overlaps(a: _Side, b: _Side) -> Iterator[tuple[Item, Item]]:
    """
    The items that stand for some of the same entries, where one of them stands for several.
    """
    for item in a.items:
        for other in b.meeting(item.sources):
            if (item.sources, item.message) != (other.sources, other.message):
                yield item, other
    for other in b.alone.values():
        for item in a.meeting(other.sources):
            yield item, other


def _joined(pairs: Iterable[tuple[Item, Item]]) -> Iterable[list[tuple[str, Item]]]:
    """
    The items of each side that hang together by these pairs.
    """
    groups: dict[tuple[str, int], list[tuple[str, Item]]] = {}
    for one, other in pairs:
        mine = groups.setdefault(("a", one.first), [("a", one)])
        yours = groups.setdefault(("b", other.first), [("b", other)])
        if mine is not yours:
            small, large = sorted((mine, yours), key=len)
            large += small
            groups |= {(side, item.first): large for side, item in small}

    return {id(group): group for group in groups.values()}.values()


def _put_in(left: Iterable[Item], right: Iterable[Item]) -> Iterator[Difference]:
    """
    The messages that stand for no entry, as often as one side has them more than the other.
    """
    mine, yours = _counted(left), _counted(right)
    for item in (mine - yours).elements():
        yield Difference("only in a", NOTHING, (item,))
    for item in (yours - mine).elements():
        yield Difference("only in b", NOTHING, (), (item,))


def _counted(items: Iterable[Item]) -> Counter[Item]:
    return Counter(item for item in items if not item.sources)


def _named(entries: Span) -> str:
    if not entries:
        return "put in"

    return f"{'entry' if len(entries) == 1 else 'entries'} {entries}"


def _line(entries: Span, item: Item) -> str:
    return f"{_named(entries)}: {one_line(str(item.message))}"
