"""
What a step is called, and whether it has to be awaited.
"""

import functools
import inspect
import types

__all__ = ["is_async", "label"]

_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)


def label(step: object) -> str:
    """
    What a step is called in results and errors: its repr, or a function's name.
    """
    if isinstance(step, functools.partial):
        given = [*map(repr, step.args), *(f"{k}={v!r}" for k, v in step.keywords.items())]
        return f"{label(step.func)}({', '.join(given)})"
    if inspect.isroutine(step):
        return getattr(step, "__name__", repr(step))

    return repr(step)


def is_async(step: object) -> bool:
    """
    Whether calling it makes a coroutine.
    """
    while isinstance(step, functools.partial):
        step = step.func
    if isinstance(step, _FUNCTIONS):
        return inspect.iscoroutinefunction(step)

    return _is_called_async(type(step))  # type: ignore[arg-type]  # a class is hashable


@functools.lru_cache(maxsize=256)
def _is_called_async(kind: type) -> bool:
    return inspect.iscoroutinefunction(getattr(kind, "__call__", None))  # noqa: B004  looked at
