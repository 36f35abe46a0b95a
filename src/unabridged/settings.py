"""
What a memory is made of, checked when it is made.
"""

import os
from collections.abc import Iterator

import attrs

from unabridged.contract import StrategyLike
from unabridged.errors import ConfigError, NeedsAnswerError, NeedsAsyncError
from unabridged.messages import Message
from unabridged.pipeline import Pipeline, Strategy, chain
from unabridged.results import TrimResult
from unabridged.retrieving import Wish
from unabridged.running import AskFunction, SearchFunction, window_of
from unabridged.steps import is_async
from unabridged.tokens import Budget, Kept, TokenCounter, exact, kept
from unabridged.tokens.calibrated import Calibrated
from unabridged.tokens.from_client import FromClient
from unabridged.usage import Usage

__all__ = ["CALLED_ITSELF", "Settings", "checked_path", "checked_store"]

CALLED_ITSELF = (
    "a step of the strategy called its own memory; a step gets all it may know as "
    "values, so give it what it needs, or call the memory in ask="
)


class Settings:
    """
    What both memories are given, checked.
    """

    def __init__(  # noqa: PLR0913  what a memory is made of
        self,
        thread: str,
        strategy: StrategyLike,
        budget: Budget | int | None,
        count: TokenCounter | None,
        ask: AskFunction | None,
        search: SearchFunction | None,
        retry_after: int | None,
        *,
        sync: bool,
    ) -> None:
        if not isinstance(thread, str) or not thread:
            msg = f"thread= must be a name, got {thread!r}"
            raise ConfigError(msg)
        for name, function in (("ask", ask), ("search", search), ("count", count)):
            if function is not None and not callable(function):
                msg = f"{name}= must be a function, got {type(function).__name__}"
                if name == "count" and isinstance(function, str):
                    msg += f"; tokens.for_model({function!r}) makes the counter of a model"
                if name == "ask" and isinstance(function, str):
                    msg += f"; asking.openai(client, {function!r}) makes one of your client"
                raise ConfigError(msg)
        if not isinstance(budget, int | Budget | None):
            msg = f"budget= must be a number of tokens or a Budget, got {budget!r}"
            raise ConfigError(msg)
        number = isinstance(retry_after, int) and not isinstance(retry_after, bool)
        if retry_after is not None and (not number or retry_after < 0):
            msg = (
                "retry_after= must be a number of retrievals, 0 (ask again at the next one) or "
                f"more, got {retry_after!r}"
            )
            raise ConfigError(msg)
        if count is not None and is_async(count):
            msg = (
                f"count= must be a plain function, got the async {count!r}; "
                "tokens.from_client counts with a provider's endpoint, also an async one"
            )
            raise ConfigError(msg)
        self._thread = thread
        self._retry_after = retry_after
        self._ask = ask
        self._search = search
        self._budget = Budget(budget) if isinstance(budget, int) else budget
        counter = exact() if count is None else count
        self._calibrated = counter if isinstance(counter, Calibrated) else None
        self._count = kept(counter)
        self._sync = sync
        if sync and ask is not None and is_async(ask):
            msg = "Memory: ask= is async; use AsyncMemory, or give a plain function"
            raise NeedsAsyncError(msg)
        self._strategy = self._checked(strategy)
        self._endpoints = self._asked_for_counts(self._strategy)

    def _asked_for_counts(self, steps: Pipeline) -> dict[FromClient, Kept]:
        """
        The endpoints that answer for counters, the memory's own and those of steps.
        """
        found = dict.fromkeys(_endpoints((self._count, steps)))
        for endpoint in found:
            if self._sync and endpoint.is_async:
                msg = (
                    f"Memory: {endpoint!r} asks an async client; use AsyncMemory, "
                    "or give from_client a sync client"
                )
                raise NeedsAsyncError(msg)

        mine = self._count

        return {each: mine if mine.counter == each else kept(each) for each in found}

    def _checked(self, strategy: StrategyLike) -> Pipeline:
        steps = chain(strategy)
        if steps.asks and self._ask is None:
            msg = (
                f"{steps!r} asks a model, and this memory has no ask=; pass a function from the "
                "request to the answer's text, as in Memory(…, ask=lambda ask: model(ask.messages))"
            )
            raise NeedsAnswerError(msg)

        return steps

    def _wish(
        self,
        strategy: StrategyLike | None,
        query: str | None = None,
        replace: bool | None = None,
        system: str | Message | None = None,
        *,
        hide_system: bool = False,
    ) -> Wish:
        steps, asked = self._strategy, self._endpoints
        if strategy is not None:
            steps = self._checked(strategy)
            asked = self._asked_for_counts(steps)

        return Wish(
            steps,
            self._budget,
            self._count,
            query,
            replace,
            system,
            hide_system,
            calibrated=self._calibrated,
            asked=asked,
            window=window_of(self._ask),
            retry_after=self._retry_after,
        )

    def _usage(self, result: object, input_tokens: int, cached_tokens: int | None) -> Usage:
        """
        What was reported of a result, checked.
        """
        if not isinstance(result, TrimResult):
            msg = f"report_usage: expected what context() gave, got {type(result).__name__}"
            raise ConfigError(msg)

        return Usage(result.estimated, input_tokens, cached_tokens)

    @property
    def strategy(self) -> Pipeline:
        """
        The strategy that makes contexts; it may be assigned.
        """
        return self._strategy

    @strategy.setter
    def strategy(self, strategy: StrategyLike) -> None:
        steps = self._checked(strategy)
        self._endpoints = self._asked_for_counts(steps)
        self._strategy = steps


def _endpoints(value: object) -> Iterator[FromClient]:
    """
    Whom to ask for the counts of a counter, of a step, or of a step inside it.
    """
    match value:
        case FromClient():
            yield value
        case Kept() | Calibrated():
            yield from _endpoints(value.counter)
        case tuple():
            for part in value:
                yield from _endpoints(part)
        case Strategy() if attrs.has(type(value)):
            for known in attrs.fields(type(value)):  # type: ignore[arg-type]  # it has attrs
                yield from _endpoints(getattr(value, known.name))
        case _:
            return


def checked_store(store: object) -> None:
    """
    Refuse what is no store, above all a path.
    """
    if not callable(getattr(store, "append", None)) or not callable(getattr(store, "state", None)):
        line = f"Memory.open({store!r}) opens a file" if isinstance(store, str) else "see Store"
        msg = f"store= must be a store, got {type(store).__name__}; {line}"
        raise ConfigError(msg)


def checked_path(path: object) -> None:
    """
    Refuse a path that SQLite would take for a file without a name, gone at the end.
    """
    if not isinstance(path, str | os.PathLike):
        msg = f"Memory.open needs the path of a file, got {type(path).__name__}"
        raise ConfigError(msg)
    if not str(path):
        msg = "Memory.open needs the path of a file, got ''; Memory() keeps a chat in memory"
        raise ConfigError(msg)
