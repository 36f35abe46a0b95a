"""
What a memory is made of, checked when it is made.
"""

from collections.abc import Generator, Iterator
from typing import Any

import attrs
from attrs import evolve

from unabridged.contract import StrategyLike
from unabridged.errors import ConfigError, NeedsAnswerError, NeedsAsyncError
from unabridged.messages import Message
from unabridged.pipeline import Pipeline, Strategy, chain
from unabridged.results import TrimResult
from unabridged.retrieving import Wish
from unabridged.running import AskFunction, Request, SearchFunction, window_of
from unabridged.steps import is_async
from unabridged.stores.paths import path_of
from unabridged.text import STEP, TOO_LARGE, brief, got
from unabridged.text.digests import digests
from unabridged.thread.attributes import Attributes
from unabridged.thread.budgets import refuse_shares, unheld
from unabridged.thread.deletions import unguarded
from unabridged.tokens import Budget, Kept, TokenCounter, exact, kept
from unabridged.tokens.calibrated import Calibrated
from unabridged.tokens.from_client import FromClient
from unabridged.usage import Usage
from unabridged.work import Do, T

__all__ = ["CALLED_ITSELF", "Settings", "checked_path", "checked_store"]

CALLED_ITSELF = (
    "a step of the strategy called its own memory; a step gets all it may know as "
    "values, so give it what it needs, or call the memory in ask="
)


class Settings(Attributes):
    """
    What both memories are given, checked.
    """

    _guards: bool  # whether the store's calls can be told an incarnation

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
            msg = f"thread= must be a name, got {brief(thread)}"
            raise ConfigError(msg)
        for name, function in (("ask", ask), ("search", search), ("count", count)):
            if function is not None and not callable(function):
                msg = f"{name}= must be a function, got {type(function).__name__}"
                if name == "count" and isinstance(function, str):
                    msg += f"; tokens.for_model({brief(function)}) makes the counter of a model"
                if name == "ask" and isinstance(function, str):
                    msg += f"; asking.openai(client, {brief(function)}) makes one of your client"
                raise ConfigError(msg)
        if not isinstance(budget, int | Budget | None):
            msg = f"budget= must be a number of tokens or a Budget, got {brief(budget)}"
            raise ConfigError(msg)
        number = isinstance(retry_after, int) and not isinstance(retry_after, bool)
        if retry_after is not None and not (number and 0 <= retry_after < TOO_LARGE):
            msg = (
                "retry_after= must be a number of retrievals, 0 (ask again at the next one) or "
                f"more, {got(retry_after)}"
            )
            raise ConfigError(msg)
        if count is not None and is_async(count):
            msg = (
                f"count= must be a plain function, got the async {brief(count)}; "
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
        self._unheld = unheld(self._strategy, self._budget)
        self._endpoints = self._asked_for_counts(self._strategy)

    def _guarded(self, work: Generator[Request, Any, T]) -> Generator[Request | Do, Any, T]:
        """
        The work, on a store that may know nothing of incarnations.
        """
        return work if self._guards else unguarded(work)

    def _asked_for_counts(self, steps: Pipeline) -> dict[FromClient, Kept]:
        """
        The endpoints that answer for counters, the memory's own and those of steps.
        """
        found = dict.fromkeys(_endpoints((self._count, steps)))
        for endpoint in found:
            if self._sync and endpoint.is_async:
                msg = (
                    f"Memory: {brief(endpoint)} asks an async client; use AsyncMemory, "
                    "or give from_client a sync client"
                )
                raise NeedsAsyncError(msg)

        mine = self._count

        return {each: mine if mine.counter == each else kept(each) for each in found}

    def _checked(self, strategy: StrategyLike) -> Pipeline:
        steps = chain(strategy)
        if steps.asks and self._ask is None:
            msg = (
                f"{brief(steps, STEP)} asks a model, and this memory has no ask=; pass a function "
                "from the request to the answer's text, as in Memory(…, ask=lambda ask: "
                "model(ask.messages))"
            )
            raise NeedsAnswerError(msg)
        refuse_shares(steps, self._budget)

        return steps

    def _wish(  # noqa: PLR0913  how a context is wanted
        self,
        strategy: StrategyLike | None,
        query: str | None = None,
        replace: bool | None = None,
        system: str | Message | None = None,
        *,
        hide_system: bool = False,
        previous: str | None = None,
    ) -> Wish:
        if previous is not None:
            digests(previous, "context: `previous` takes the `prefix` of a result, or None")
        steps, asked, told = self._strategy, self._endpoints, self._unheld
        if strategy is not None:
            steps = self._checked(strategy)
            asked = self._asked_for_counts(steps)
            told = told if unheld(steps, self._budget) else ""

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
            previous=previous or "",
            told=told,
        )

    def _usage(
        self,
        result: object,
        usage: Usage | None,
        input_tokens: int | None,
        cached_tokens: int | None,
    ) -> Usage:
        """
        What was reported of a result, checked.
        """
        if not isinstance(result, TrimResult):
            msg = f"report_usage: expected what context() gave, got {type(result).__name__}"
            raise ConfigError(msg)
        if usage is None:
            return Usage(result.estimated, input_tokens, cached_tokens)  # type: ignore[arg-type]  # it refuses None
        if not isinstance(usage, Usage):
            msg = (
                f"report_usage: `usage` must be a Usage, got {type(usage).__name__}; "
                "formats.usage(response) makes one of a response"
            )
            raise ConfigError(msg)
        if input_tokens is not None or cached_tokens is not None:
            msg = "report_usage: give `usage`, or `input_tokens` and `cached_tokens`, not both"
            raise ConfigError(msg)

        return evolve(usage, estimated=result.estimated)

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
        self._unheld = unheld(steps, self._budget)


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
    try:
        sound = callable(store.append) and callable(store.state)  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001  whatever it is, it is no store
        sound = False
    if not sound:
        line = (
            f"Memory.open({brief(store)}) opens a file" if isinstance(store, str) else "see Store"
        )
        msg = f"store= must be a store, got {type(store).__name__}; {line}"
        raise ConfigError(msg)


def checked_path(path: object) -> None:
    """
    Refuse a path that SQLite would take for a file without a name, gone at the end.
    """
    name = path_of(path, "Memory.open")
    if not name:
        msg = "Memory.open needs the path of a file, got ''; Memory() keeps a chat in memory"
        raise ConfigError(msg)
