"""
What can go wrong, as one tree.

```
UnabridgedError
├── LogError              something is wrong with the log or its store
│   ├── StoreError            the store refused or could not be reached
│   │   └── ReadOnlyError         the store can be read, but not written
│   ├── LogConflictError      somebody else wrote what this write leaned on
│   └── CorruptLogError       a record cannot be read
├── StrategyError         something is wrong with a step of a chain
│   ├── StepError             a step raised
│   ├── OutcomeError          a step returned what is no outcome, or a model what is no answer
│   ├── PairingError          a step parted a call from its result
│   ├── BudgetError           what must stay does not fit, under `strict`
│   ├── CountError            a counter raised, or gave what is not a count
│   ├── NeedsAnswerError      a step asks a model and nobody answers
│   └── NeedsAsyncError       an async step or answer in a sync run
├── FormatError           a provider's message has another form than its API's
└── ConfigError           a value was built from what it cannot hold (a `ValueError`)
    ├── CallError             a call gave arguments that are not taken (a `TypeError`)
    ├── UnknownNameError      there is no attribute of that name (an `AttributeError`)
    └── JsonError             a value was built from what JSON cannot hold (a `FormatError` too)
```

Every message says which step, what was wrong, which numbers, and what to do.
"""

from typing import Self

__all__ = [
    "BudgetError",
    "CallError",
    "ConfigError",
    "CorruptLogError",
    "CountError",
    "FormatError",
    "JsonError",
    "LogConflictError",
    "LogError",
    "NeedsAnswerError",
    "NeedsAsyncError",
    "OutcomeError",
    "PairingError",
    "ReadOnlyError",
    "StepError",
    "StoreError",
    "StrategyError",
    "UnabridgedError",
    "UnknownNameError",
]


class UnabridgedError(Exception):
    """
    The root: `except UnabridgedError` catches everything this library raises.

    *notes* are what the steps before the failing one worked out: answers that
    were paid for, which a memory keeps.
    """

    notes: tuple[object, ...] = ()


class LogError(UnabridgedError):
    """
    Something is wrong with the log or its store.
    """


class StoreError(LogError):
    """
    The store refused, is closed, or could not be reached.
    """


class ReadOnlyError(StoreError):
    """
    The store can be read, but not written: its file, folder or disk says so.
    """


class LogConflictError(LogError):
    """
    Somebody else wrote what this write leaned on; nothing was written.
    """


class CorruptLogError(LogError):
    """
    A record cannot be read; the message names its thread and number.
    """


class StrategyError(UnabridgedError):
    """
    Something is wrong with a step of a chain; nothing was written.
    """


class StepError(StrategyError):
    """
    A step raised; the cause is chained.
    """


class OutcomeError(StrategyError):
    """
    A step returned something that is not an outcome, or a model what is no answer.

    An answer that was cut off, refused, or has no words is none. *answered* says
    that a model did answer: then it is not asked the same again at once.
    """

    answered = False

    @classmethod
    def of_answer(cls, why: str) -> Self:
        """
        The error about an answer that a model gave.
        """
        error = cls(why)
        error.answered = True

        return error


class PairingError(StrategyError):
    """
    A step under `strict=True` parted a call from its result.
    """


class BudgetError(StrategyError):
    """
    What must stay does not fit, and the step is strict.
    """


class CountError(StrategyError):
    """
    A counter raised, or gave something that is not a count.
    """


class NeedsAnswerError(StrategyError):
    """
    A step asks a model, and the run has no `ask=`.
    """


class NeedsAsyncError(StrategyError):
    """
    A step or an answer is async, and the run is not.
    """


class FormatError(UnabridgedError):
    """
    A provider's message has another form than its API documents.
    """


class ConfigError(UnabridgedError, ValueError):
    """
    A value was built from what it cannot hold.
    """


class CallError(ConfigError, TypeError):
    """
    A call gave arguments that are not taken; the message names the right ones.
    """


class UnknownNameError(ConfigError, AttributeError):
    """
    There is no attribute of that name, or it cannot be set; the message says what to do.
    """


class JsonError(FormatError, ConfigError):
    """
    JSON cannot hold a value: it contains itself, is nested too deep, or is of another kind.

    Whoever loads a provider's messages and whoever builds their own may meet one, so it
    is both a `FormatError` and a `ConfigError`.
    """
