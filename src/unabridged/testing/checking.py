"""
Holding a strategy to every law, on generated logs.

Needs the extra `unabridged[test]`.
"""

import logging
from collections.abc import Callable
from typing import TypeAlias

try:
    from hypothesis import HealthCheck, Phase, given, settings
except ImportError as error:  # pragma: no cover
    msg = "unabridged.testing.checking generates with hypothesis; pip install 'unabridged[test]'"
    raise ImportError(msg) from error

from unabridged.contract import StrategyLike, TrimContext
from unabridged.pipeline import chain
from unabridged.running import AskFunction
from unabridged.strategies.window import Window
from unabridged.testing import (
    laws,
    laws_of_cuts,
    laws_of_living,
    laws_of_loading,
    laws_of_memory,
    laws_of_staying,
    laws_of_summaries,
    laws_of_turning_back,
)
from unabridged.testing.generators import logs
from unabridged.testing.log import Log
from unabridged.testing.trial import CONTEXT, short

__all__ = ["LAWS", "Law", "check_strategy"]

Law: TypeAlias = Callable[..., None]


def algebra(
    strategy: "StrategyLike",
    log: Log,
    context: TrimContext = CONTEXT,
    ask: AskFunction = short,
) -> None:
    """
    As `laws.algebra`, of the strategy with others after and before it.
    """
    laws.algebra([strategy, Window(4), strategy], log, context, ask)
    laws.algebra([Window(6), strategy, Window(2)], log, context, ask)


LAWS: tuple[Law, ...] = (
    laws.input_untouched,
    laws.same_result,
    laws.conservation,
    laws.order,
    laws_of_staying.pairs_stay_whole,
    laws_of_staying.hand_pins_stay,
    laws_of_staying.compactions_stay,
    laws_of_staying.pending_calls_stay,
    laws_of_staying.newest_user_stays,
    laws_of_staying.never_empty,
    laws_of_staying.valid,
    laws.sync_equals_async,
    algebra,
    laws_of_cuts.idempotence,
    laws_of_cuts.monotone,
    laws_of_cuts.summaries_leave_last,
    laws_of_cuts.within_the_limit_or_over_says,
    laws_of_cuts.openers_stay,
    laws_of_memory.write_back_shows_projection,
    laws_of_memory.revert_restores,
    laws_of_memory.failure_changes_nothing,
    laws_of_loading.memory_equals_pure,
    laws_of_living.lives_as_fresh,
    laws_of_memory.state_equals_rebuilt,
    laws_of_summaries.coverage,
    laws_of_summaries.within_or_over_says,
    laws_of_summaries.opens_on_next,
    laws_of_turning_back.view_at_is_as_it_was,
    laws_of_turning_back.undo_takes_back,
    laws_of_turning_back.forks_share_and_stay_apart,
)
"""Every law; those that do not apply to a strategy pass."""


def check_strategy(
    strategy: "StrategyLike",
    *,
    ask: AskFunction | None = None,
    context: TrimContext = CONTEXT,
    examples: int = 100,
) -> None:
    """
    Hold a strategy, a chain or a function to every law, on so many generated logs.

    *ask* answers its questions; by default a model that says one word does.
    A strategy that is deterministic is found out the same way each time.

    Raises:
        AssertionError: a law is broken; it names the law and shows the smallest
            log found that breaks it.

    >>> from unabridged import Window
    >>> check_strategy(Window(3), examples=5)
    >>> def fickle(view, ctx):
    ...     raise LookupError("not today")
    >>> check_strategy(fickle)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AssertionError: chain(fickle) breaks the law of input_untouched: ...
    """
    name = repr(chain(strategy))
    answer = short if ask is None else ask
    broken: list[str] = []
    guilty: list[Law] = []

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
        report_multiple_bugs=False,
        print_blob=False,
        phases=(Phase.generate, Phase.shrink),
    )
    @given(logs())
    def holds(log: Log) -> None:
        for law in guilty or LAWS:
            try:
                law(strategy, log, context, answer)
            except Exception as error:
                what = str(error) if isinstance(error, AssertionError) else repr(error)
                broken.append(f"{name} breaks the law of {law.__name__}: {what}\nthe log:\n{log}")
                guilty[:] = [law]  # what is left is to find the smallest log
                raise

    logger = logging.getLogger("unabridged")
    spoke, logger.disabled = logger.disabled, True  # failing models are part of the laws
    try:
        holds()
    except BaseException as error:
        if not broken:
            raise
        raise AssertionError(broken[-1]) from error
    finally:
        logger.disabled = spoke
