"""
Strategies as plain data and back, so that they can stand in TOML, YAML or JSON.

A strategy is `{"use": "Window", "last": 40}`, a chain is a list of these. Names
are looked up in a registry, never imported or evaluated; functions and
strategies of your own are in it once they are registered.

>>> from unabridged import TokenBudget, Window
>>> to_data(Window(40) | TokenBudget(8_000))
[{'use': 'Window', 'last': 40}, {'use': 'TokenBudget', 'limit': 8000}]
>>> from_data([{"use": "Window", "last": 40}, {"use": "TokenBudget", "limit": 8000}])
Window(40) | TokenBudget(8_000)
"""

from collections.abc import Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

import attrs

from unabridged import tokens
from unabridged.errors import ConfigError
from unabridged.pipeline import Custom, Pipeline, Strategy, chain, custom, step_of
from unabridged.steps import label
from unabridged.strategies import (
    ClearToolResults,
    ClipArguments,
    ClipMessages,
    ClipToolResults,
    Deduplicate,
    DropReasoning,
    Filter,
    HeadAndTail,
    MaxRounds,
    MergeRuns,
    NoCompaction,
    Over,
    Repair,
    Sections,
    Share,
    Sparing,
    Summarize,
    TokenBudget,
    When,
    Window,
)
from unabridged.text import bounded, brief, short

__all__ = ["from_data", "register", "to_data"]

Thing = TypeVar("Thing", bound=Callable[..., Any])

NAMES = 1_000  # characters of the names that an error lists
VALUES = 100_000  # in the description of a strategy

_CLASSES: dict[str, Any] = {
    known.__name__: known
    for known in (
        ClearToolResults,
        ClipArguments,
        ClipMessages,
        ClipToolResults,
        Deduplicate,
        DropReasoning,
        Filter,
        HeadAndTail,
        MaxRounds,
        MergeRuns,
        NoCompaction,
        Over,
        Repair,
        Sections,
        Share,
        Sparing,
        Summarize,
        TokenBudget,
        When,
        Window,
    )
}
_EXACT: Any = tokens.exact()
_CLASSES["exact"] = type(_EXACT)
_FOR_MODEL: Any = tokens.for_model("claude")
_CLASSES["for_model"] = type(_FOR_MODEL)
_FUNCTIONS: dict[str, Any] = {
    "quarter": tokens.quarter,
    "rough": tokens.rough,
    "words": tokens.words,
}
_COUNTERS = tuple(_FUNCTIONS.values())
_PARTS = (Over, Share, type(_EXACT), type(_FOR_MODEL))


def register(name: str) -> Callable[[Thing], Thing]:
    """
    Let data name a function, a counter or a strategy class of your own.

    Raises:
        ConfigError: it is no name, or stands for something else.

    >>> @register("newest")
    ... def newest(view, ctx):
    ...     return view.tail(1)
    >>> from_data(["newest"])
    chain(newest)
    """
    if not isinstance(name, str) or not name:
        msg = f"declared.register: expected a name for data to use, got {brief(name)}"
        raise ConfigError(msg)

    def keep(thing: Thing) -> Thing:
        taken = _CLASSES.get(name, _FUNCTIONS.get(name, thing))
        if taken != thing:
            msg = (
                f"declared: the name {brief(name)} stands for {brief(taken)} already; choose "
                "another"
            )
            raise ConfigError(msg)
        if isinstance(cast("Any", thing), type) and not attrs.has(cast("Any", thing)):
            msg = f"declared: the class {thing.__name__} is no attrs class, so it has no options"
            raise ConfigError(msg)
        table = _CLASSES if isinstance(cast("Any", thing), type) else _FUNCTIONS
        table[name] = thing

        return thing

    return keep


def to_data(strategy: Any) -> Any:
    """
    The strategy as lists, dicts, text and numbers.

    Raises:
        ConfigError: it holds a function that is not registered.
    """
    if isinstance(strategy, Sequence):
        bounded(strategy, "declared", VALUES)

    return _plain(strategy)


def _plain(strategy: Any) -> Any:
    match strategy:
        case Pipeline(steps):
            return [_plain(step) for step in steps]
        case Custom(function):
            options = {k: True for k in ("replace", "strict") if getattr(strategy, k)}
            name = _name_of(function)
            return {"use": name, **options} if options else name
        case Sequence() if not isinstance(strategy, str):
            return [_plain(step) for step in strategy]
        case _ if type(strategy) in _CLASSES.values():
            return {"use": _class_name(type(strategy)), **_options(strategy)}
        case _:
            return _name_of(strategy)


def from_data(data: Any) -> Strategy:
    """
    The strategy that *data* describes; a function's name gives the function as a step.

    Raises:
        ConfigError: a name is unknown or is not a strategy's, an option is missing,
            unknown or wrong, or the data contain themselves or are nested too deep.

    >>> from_data({"use": "Window", "latest": 4})
    Traceback (most recent call last):
    unabridged.errors.ConfigError: declared: Window has no option `latest`; it has last, \
down_to, at_least, opening, by, straddle, newest, pin_system, count_pins, strict, replace
    """
    bounded(data, "declared", VALUES)
    found = _read(data)
    if isinstance(found, Strategy):
        return found
    if type(found) in _PARTS or any(found is counter for counter in _COUNTERS):
        name = data if isinstance(data, str) else data["use"]
        msg = (
            f"declared: {brief(name)} is not a strategy but an option of one, as in "
            "{'use': 'When', 'condition': {'use': 'Over', 'tokens': 8000}, …}"
        )
        raise ConfigError(msg)

    return step_of(found)


def _read(data: Any) -> Any:
    """
    What *data* describes: a strategy, or what an option of one may be.
    """
    match data:
        case str():
            known = _known(data)
            return _built({"use": data}) if isinstance(known, type) else known
        case Mapping():
            return _built(data)
        case Sequence():
            return chain(*(_read(step) for step in data))
        case _:
            msg = (
                f"declared: expected a dict with `use`, a list of these, or a registered name, "
                f"got {type(data).__name__}"
            )
            raise ConfigError(msg)


def _built(data: Mapping[str, Any]) -> Any:
    options = {name: value for name, value in data.items() if name != "use"}
    name = data.get("use")
    if not isinstance(name, str):
        msg = f"declared: {brief(dict(data))} does not say what to `use`, as in {{'use': 'Window'}}"
        raise ConfigError(msg)
    if name in _FUNCTIONS:
        _only(name, options, ("replace", "strict"))
        return custom(_FUNCTIONS[name], **options)
    known = _known(name)
    fields = {field.name: field for field in attrs.fields(known) if field.init}
    _only(name, options, tuple(fields))
    if known is type(_EXACT):
        options.setdefault("encoding", _EXACT.encoding)
    missing = [f for f in fields if f not in options and fields[f].default is attrs.NOTHING]
    if missing:
        msg = f"declared: {name} needs `{'`, `'.join(missing)}`"
        raise ConfigError(msg)

    return known(**{key: _value(name, value, fields[key]) for key, value in options.items()})


def _value(name: str, value: Any, field: Any) -> Any:
    """
    An option's value: nested data is built, a registered name is looked up, the rest is itself.
    """
    if _is_words(field.type):
        return value
    if field.type is Strategy and isinstance(value, str) and value in _FUNCTIONS:
        return from_data(value)  # a counter is refused here, too
    if isinstance(value, str) and value not in {*_CLASSES, *_FUNCTIONS}:
        msg = (
            f"declared: {name} cannot take {brief(value)} for `{field.name}`: text in its place "
            f"is a registered name, one of {_names()}; a number has no quotes"
        )
        raise ConfigError(msg)
    if isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, str)):
        return _read(value)
    if isinstance(value, str):
        return _read(value)

    return value


def _is_words(kind: Any) -> bool:
    """
    Whether an option of this type holds words, and so never a strategy's or function's name.
    """
    if get_origin(kind) in {UnionType, tuple}:
        return all(part in {NoneType, ...} or _is_words(part) for part in get_args(kind))

    return kind is str or get_origin(kind) is Literal


def _only(name: str, options: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    for option in options:
        if option not in allowed:
            told = short(option) if isinstance(option, str) else brief(option)
            msg = f"declared: {name} has no option `{told}`; it has {', '.join(allowed)}"
            raise ConfigError(msg)


def _known(name: str) -> Any:
    known = _CLASSES.get(name) or _FUNCTIONS.get(name)
    if known is None:
        msg = (
            f"declared: {brief(name)} is not registered; known are {_names()}; see "
            "declared.register"
        )
        raise ConfigError(msg)

    return known


def _names() -> str:
    return short(", ".join(sorted([*_CLASSES, *_FUNCTIONS])), NAMES)


def _options(strategy: Any) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for field in attrs.fields(type(strategy)):
        value = getattr(strategy, field.name)
        if value == field.default and type(value) is type(field.default):
            continue
        plain = value is None or isinstance(value, str | int | float | bool)
        if isinstance(value, tuple) and _is_words(field.type):
            options[field.name] = list(value)
        else:
            options[field.name] = value if plain else _plain(value)

    return options


def _class_name(known: type[Any]) -> str:
    return next(name for name, registered in _CLASSES.items() if registered is known)


def _name_of(function: Any) -> str:
    for name, known in _FUNCTIONS.items():
        if known is function or known == function:
            return name
    told = short(label(function)) if callable(function) else brief(function)
    msg = (
        f"declared: {told} is not registered, so data cannot name it; "
        'write @declared.register("a name") above it'
    )
    raise ConfigError(msg)
