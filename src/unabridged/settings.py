"""
What a memory is made of, checked when it is made.
"""

from unabridged.contract import StrategyLike
from unabridged.errors import ConfigError, NeedsAnswerError, NeedsAsyncError
from unabridged.keeping import Wish
from unabridged.messages import Message
from unabridged.pipeline import Pipeline, chain
from unabridged.running import AskFunction, SearchFunction
from unabridged.steps import is_async
from unabridged.tokens import Budget, TokenCounter, exact, kept

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
        *,
        sync: bool,
    ) -> None:
        if not isinstance(thread, str) or not thread:
            msg = f"thread= must be a name, got {thread!r}"
            raise ConfigError(msg)
        for name, function in (("ask", ask), ("search", search)):
            if function is not None and not callable(function):
                msg = f"{name}= must be a function, got {type(function).__name__}"
                raise ConfigError(msg)
        if not isinstance(budget, int | Budget | None):
            msg = f"budget= must be a number of tokens or a Budget, got {budget!r}"
            raise ConfigError(msg)
        self._thread = thread
        self._ask = ask
        self._search = search
        self._budget = Budget(budget) if isinstance(budget, int) else budget
        self._count = kept(exact() if count is None else count)
        if sync and ask is not None and is_async(ask):
            msg = "Memory: ask= is async; use AsyncMemory, or give a plain function"
            raise NeedsAsyncError(msg)
        self._strategy = self._checked(strategy)

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
        query: str | None,
        replace: bool | None,
        system: str | Message | None,
        hide_system: bool,
    ) -> Wish:
        steps = self._strategy if strategy is None else self._checked(strategy)

        return Wish(steps, self._budget, self._count, query, replace, system, hide_system)

    @property
    def strategy(self) -> Pipeline:
        """
        The strategy that makes contexts; it may be assigned.
        """
        return self._strategy

    @strategy.setter
    def strategy(self, strategy: StrategyLike) -> None:
        self._strategy = self._checked(strategy)


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
    if not str(path):
        msg = "Memory.open needs the path of a file, got ''; Memory() keeps a chat in memory"
        raise ConfigError(msg)
