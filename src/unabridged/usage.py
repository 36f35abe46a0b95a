"""
What a provider reported of a request, beside what was estimated for it.
"""

from typing import Any

from attrs import field, frozen

from unabridged.errors import ConfigError
from unabridged.text import brief

__all__ = ["Usage"]

MOST = 10**12  # tokens of one request that are taken for a mistake beyond


def _whole(_instance: object, attribute: object, value: Any) -> None:
    name = getattr(attribute, "name", "")
    if name != "input_tokens" and value is None:
        return
    least = 1 if name == "input_tokens" else 0
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST:
        bound = (
            f"at most {MOST:_}" if isinstance(value, int) and value > MOST else f"{least} or more"
        )
        msg = f"report_usage: `{name}` must be an int of tokens, {bound}, got {brief(value)}"
        raise ConfigError(msg)


@frozen
class Usage:
    """
    The tokens of a request: *estimated* before it was sent, and what the provider billed.

    *input_tokens* are all of the input, *cached_tokens* those of them that were
    read from its cache (None: not said). What `formats.usage` reads from a
    response has no estimate yet: `Memory.report_usage` sets it beside one.

    Raises:
        ConfigError: a number is no int or too small, or more is cached than was sent.

    >>> print(Usage(1_000, 1_250, cached_tokens=1_000))
    1_250 input tokens reported, 1_000 estimated (20.0% too low), 80% of them cached
    """

    estimated: int | None = field(validator=_whole)
    input_tokens: int = field(validator=_whole)
    cached_tokens: int | None = field(default=None, validator=_whole)

    def __attrs_post_init__(self) -> None:
        if self.cached_tokens is not None and self.cached_tokens > self.input_tokens:
            msg = (
                f"report_usage: `cached_tokens` ({self.cached_tokens:_}) is more than "
                f"`input_tokens` ({self.input_tokens:_}), which counts the cached ones too; for "
                "Anthropic add cache_read_input_tokens and cache_creation_input_tokens to it"
            )
            raise ConfigError(msg)

    @property
    def error(self) -> float | None:
        """
        How far off the estimate was, as a share of what was billed: below 0 if it was too low.

        None where nothing was estimated.
        """
        if self.estimated is None:
            return None

        return (self.estimated - self.input_tokens) / self.input_tokens

    def __str__(self) -> str:
        line = f"{self.input_tokens:_} input tokens reported"
        if self.estimated is not None and (error := self.error) is not None:
            off = f"{abs(error):.1%} too {'low' if error < 0 else 'high'}"
            line += f", {self.estimated:_} estimated ({off if error else 'exactly'})"
        if self.cached_tokens is None:
            return line

        return f"{line}, {self.cached_tokens / self.input_tokens:.0%} of them cached"
