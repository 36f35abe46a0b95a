"""
How large a model's context window is, from a table that others keep.
"""

import importlib

from unabridged.errors import ConfigError
from unabridged.text import brief

__all__ = ["window_of"]


def window_of(model: str) -> int:
    """
    The tokens of a model's context window, by the data in the genai-prices package.

    The data are those of the installed version; nothing is downloaded.

    Raises:
        ConfigError: the extra `prices` is not installed, or its data do not
            know the model or its window; the message says to pass `window=`.
    """
    try:
        prices = importlib.import_module("genai_prices")
    except ImportError as error:
        msg = (
            f"Budget.for_model({brief(model)}): windows of models are in the extra `prices`; "
            "pip install 'unabridged[prices]', or pass window=, a number of tokens"
        )
        raise ConfigError(msg) from error
    window = _found(prices, model) or (_found(prices, model.rpartition("/")[2]))
    if not window:
        msg = (
            f"Budget.for_model({brief(model)}): genai-prices {prices.__version__} does not know "
            "its window; pass window=, a number of tokens"
        )
        raise ConfigError(msg)

    return window


def _found(prices: object, model: str) -> int:
    calc_price, usage = prices.calc_price, prices.Usage  # type: ignore[attr-defined]
    try:
        return calc_price(usage(), model).model.context_window or 0
    except LookupError:
        return 0
