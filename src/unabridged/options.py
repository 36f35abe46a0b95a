"""
Options of strategies: how they are checked, and the ones that several share.
"""

from collections.abc import Callable, Sequence
from typing import Any

from attrs import field

from unabridged.cuts import Cut
from unabridged.errors import BudgetError, ConfigError
from unabridged.json_values import json_of
from unabridged.records import Drop, Note
from unabridged.results import TrimResult
from unabridged.text import STEP, TOO_LARGE, brief, got
from unabridged.views import View

__all__ = [
    "as_names",
    "as_share",
    "at_least_option",
    "between",
    "choice",
    "cut_result",
    "down_to_option",
    "flag",
    "function",
    "ge",
    "last_cut",
    "names_only",
    "newest_option",
    "one_of",
    "part_of_one",
    "plural",
    "role_name",
    "share_of",
    "words_only",
]


def ge(least: int, *, optional: bool = True) -> Callable[[Any, Any, Any], None]:
    """
    A validator: an int of *least* or more, or, where that is *optional*, None for no limit.

    >>> from attrs import frozen
    >>> @frozen
    ... class Newest:
    ...     last: int | None = field(validator=ge(1))
    >>> Newest(0)
    Traceback (most recent call last):
    unabridged.errors.ConfigError: Newest: `last` must be an int of 1 or more, or None for no \
limit, got 0
    """

    def check(instance: object, attribute: Any, value: object) -> None:
        if value is None and optional:
            return
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value < TOO_LARGE:
            none = ", or None for no limit" if optional else ""
            msg = (
                f"{type(instance).__name__}: `{attribute.name}` must be an int of {least} or "
                f"more{none}, {got(value)}"
            )
            raise ConfigError(msg)

    return check


def role_name(instance: object, attribute: Any, value: object) -> None:
    """
    A validator: a word that may be the role of a message.
    """
    if not isinstance(value, str) or not value.strip():
        msg = (
            f"{type(instance).__name__}: `{attribute.name}` must be a word such as 'system', "
            f"got {brief(value)}"
        )
        raise ConfigError(msg)


def function(instance: object, attribute: Any, value: object) -> None:
    """
    A validator: a function, or None where that is the default.
    """
    if value is None and attribute.default is None:
        return
    if not callable(value):
        msg = (
            f"{type(instance).__name__}: `{attribute.name}` must be a function, "
            f"got {type(value).__name__} {brief(value)}"
        )
        raise ConfigError(msg)


def as_share(value: float | None) -> float | None:
    """
    A converter: a whole number given for a share is the same share.
    """
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and value == 1 else value


def share_of(instance: object, attribute: Any, value: object) -> None:
    """
    A validator: a number above 0 and up to 1, or None.
    """
    if value is None:
        return
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        msg = (
            f"{type(instance).__name__}: `{attribute.name}` must be above 0 and at most 1, "
            f"got {brief(value)}"
        )
        raise ConfigError(msg)


def part_of_one(instance: object, attribute: Any, value: object) -> None:
    """
    A validator: a number from 0 up to, not with, 1.
    """
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1:
        msg = (
            f"{type(instance).__name__}: `{attribute.name}` must be 0 or more and below 1, "
            f"got {brief(value)}"
        )
        raise ConfigError(msg)


def between(least: int, most: int) -> Callable[[Any, Any, Any], None]:
    """
    A validator: an int from *least* to *most*, or None.
    """

    def check(instance: object, attribute: Any, value: object) -> None:
        if value is None:
            return
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            msg = (
                f"{type(instance).__name__}: `{attribute.name}` must be an int from {least} to "
                f"{most}, or None, got {brief(value)}"
            )
            raise ConfigError(msg)

    return check


def words_only(instance: object, attribute: Any, value: object) -> None:
    """
    A validator: text.
    """
    if not isinstance(value, str):
        msg = f"{type(instance).__name__}: `{attribute.name}` must be text, got {brief(value)}"
        raise ConfigError(msg)


def choice(*allowed: str) -> Any:
    """
    A keyword that is one of these words, the first by default.
    """
    return field(default=allowed[0], kw_only=True, validator=one_of(*allowed))


def one_of(*allowed: str) -> Callable[[Any, Any, Any], None]:
    """
    A validator: one of these words.
    """

    def check(instance: object, attribute: Any, value: object) -> None:
        if value not in allowed:
            msg = (
                f"{type(instance).__name__}: `{attribute.name}` must be one of "
                f"{', '.join(map(repr, allowed))}, got {brief(value)}"
            )
            raise ConfigError(msg)

    return check


def below(limit: str) -> Callable[[Any, Any, Any], None]:
    """
    A validator: an int of 1 or more and below the field *limit*, or None.
    """

    def check(instance: object, attribute: Any, value: Any) -> None:
        ge(1)(instance, attribute, value)
        high = getattr(instance, limit)
        if value is not None and high is not None and value >= high:
            msg = (
                f"{type(instance).__name__}: `{attribute.name}` ({value:_}) must be below "
                f"`{limit}` ({high:_}): it is what a cut cuts down to once `{limit}` is passed"
            )
            raise ConfigError(msg)

    return check


def as_names(value: str | Sequence[str]) -> tuple[str, ...]:
    """
    A converter: one name, or several, as a tuple.
    """
    if isinstance(value, str):
        return (value,)

    return tuple(value) if isinstance(value, list) else value  # type: ignore[return-value]  # the validator has the say


def names_only(instance: object, attribute: Any, value: Any) -> None:
    """
    A validator: a tuple of words.
    """
    sound = isinstance(value, tuple) and all(isinstance(w, str) and w.strip() for w in value)
    if not sound:
        msg = (
            f"{type(instance).__name__}: `{attribute.name}` must be a name, or a list of names, "
            f"got {brief(value)}"
        )
        raise ConfigError(msg)


def flag(*, default: bool) -> Any:
    """
    A keyword that is on or off.
    """
    return field(default=default, kw_only=True, validator=_on_or_off)


def _on_or_off(instance: object, attribute: Any, value: object) -> None:
    if not isinstance(value, bool):
        name = f"{type(instance).__name__}: `{attribute.name}`"
        msg = f"{name} must be True or False, got {brief(value)}"
        raise ConfigError(msg)


def down_to_option(limit: str) -> Any:
    """
    The keyword `down_to`: the low mark, below the field *limit*.
    """
    return field(default=None, kw_only=True, validator=below(limit))


def newest_option() -> Any:
    """
    The keyword `newest`: whether a newest round that does not fit is cut by blocks or kept whole.
    """

    def check(instance: Any, attribute: Any, value: object) -> None:
        one_of("blocks", "whole")(instance, attribute, value)
        if value == "whole" and instance.by != "rounds":
            msg = f"{type(instance).__name__}: `newest='whole'` goes with `by='rounds'`; give both"
            raise ConfigError(msg)

    return field(default="blocks", kw_only=True, validator=check)


def at_least_option() -> Any:
    """
    The keyword `at_least`: the tokens that a cut has to gain, or it is not made.
    """
    return field(default=None, kw_only=True, validator=ge(1))


def plural(count: int, noun: str, many: str = "") -> str:
    """
    A number with its noun: "1 message", "40 messages"; *many* is its plural if it takes no "s".
    """
    return f"{count:_} {noun if count == 1 else many or f'{noun}s'}"


def last_cut(view: View, step: object) -> int:
    """
    The first entry that the last cut of this step kept; 0 if none is noted.
    """
    key = repr(step)
    for note in view.notes:
        if note.kind == "cut" and note.key == key:
            return int(note.value.value["first"])

    return 0


def cut_result(  # noqa: PLR0913  the options that every cut has
    view: View, done: Cut, step: object, *, reason: str, strict: bool, marks: bool, replace: bool
) -> TrimResult:
    """
    The result of a cut: what leaves, its note if the step has a low mark, what is over.

    Raises:
        BudgetError: something is over, and the step is strict.
    """
    if strict and done.over is not None:
        msg = f"step {brief(step, STEP)}: {done.over}; raise the limit, unpin, or clip what is long"
        raise BudgetError(msg)
    if not done.dropped and done.over is None:
        return TrimResult(view)
    changes = (Drop(done.dropped, reason=reason, replace=replace),) if done.dropped else ()
    warnings = () if done.untold is None else (f"step {step!r}: {done.untold}",)
    notes: tuple[Note, ...] = ()
    if marks and done.moved and done.first:
        notes = (Note("cut", repr(step), json_of({"first": done.first})),)

    return TrimResult(view, changes, notes, done.over, warnings)
