"""
Whether the steps of a memory and its budget go together.

A budget cuts nothing by itself, so a memory with one that no step holds says
so; and a step that takes a share of it cannot run without one. What a function
or a strategy of your own does with a budget cannot be known: it may hold it.
"""

from collections.abc import Iterator
from typing import Any

import attrs

from unabridged.errors import ConfigError
from unabridged.pipeline import Custom, Strategy
from unabridged.tokens import Budget

__all__ = ["refuse_shares", "unheld"]

_TOTALS = ("limit", "within")  # fields in tokens that bound all of a view
_COUNTED = ("TokenBudget", "Sections", "Summarize")


def refuse_shares(steps: Strategy, budget: Budget | None) -> None:
    """
    Refuse a step that takes its limit from a *budget* that is not there.

    Raises:
        ConfigError: there is such a step; the text names it.

    >>> from unabridged import TokenBudget, chain
    >>> refuse_shares(chain(TokenBudget(share=0.5)), None)
    Traceback (most recent call last):
    unabridged.errors.ConfigError: step TokenBudget(share=0.5): its limit comes from the memory's \
budget, and there is none; pass budget=, as in Memory(…, budget=Budget(128_000, reply=4_000))
    """
    if budget is not None:
        return
    for step in _steps(steps):
        if step.needs_budget:
            msg = (
                f"step {step!r}: its limit comes from the memory's budget, and there is none; "
                "pass budget=, as in Memory(…, budget=Budget(128_000, reply=4_000))"
            )
            raise ConfigError(msg)


def unheld(steps: Strategy, budget: Budget | None) -> str:
    """
    What to tell of a *budget* that no step holds; "" where one does, or may.

    >>> from unabridged import Budget, TokenBudget, Window, chain
    >>> unheld(chain(Window(40)), Budget(8_003))
    'budget= leaves 8_000 tokens for the history, and no step of chain(Window(40)) holds it, so \
nothing is cut to fit: add TokenBudget(share=1.0) to the strategy'
    >>> unheld(Window(40) | TokenBudget(share=1.0), Budget(8_003))
    ''
    """
    if budget is None or any(_may_hold(step, budget) for step in _steps(steps)):
        return ""

    return (
        f"budget= leaves {budget.history:_} tokens for the history, and no step of {steps!r} "
        "holds it, so nothing is cut to fit: add TokenBudget(share=1.0) to the strategy"
    )


def _may_hold(step: Strategy, budget: Budget) -> bool:
    if step.needs_budget or isinstance(step, Custom) or not _is_ours(step):
        return True
    condition = getattr(step, "condition", None)
    if condition is not None and not _is_ours(condition):
        return True
    if type(step).__name__ not in _COUNTED:
        return False
    totals = (getattr(step, name, None) for name in _TOTALS)

    return any(total is not None and total <= budget.history for total in totals)


def _is_ours(value: object) -> bool:
    return type(value).__module__.partition(".")[0] == "unabridged"


def _steps(value: Any) -> Iterator[Strategy]:
    """
    The step and those inside it, as far as it is known what it does with them.
    """
    match value:
        case tuple():
            for part in value:
                yield from _steps(part)
        case Strategy():
            yield value
            if _is_ours(value) and attrs.has(type(value)):
                for known in attrs.fields(type(value)):  # type: ignore[arg-type]  # it has attrs
                    yield from _steps(getattr(value, known.name))
        case _:
            return
