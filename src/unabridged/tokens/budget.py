"""
A budget: how many tokens of a model's window are left for the history.
"""

from attrs import field, fields, frozen

from unabridged.errors import ConfigError

__all__ = ["Budget"]


def _tokens(_instance: object, attribute: object, value: int) -> None:
    name = getattr(attribute, "name", "")
    least = 1 if name == "window" else 0
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        msg = f"Budget: `{name}` must be an int of tokens, {least} or more, got {value!r}"
        raise ConfigError(msg)


@frozen(repr=False)
class Budget:
    """
    A model's *window*, and what of it is spoken for, all in tokens.

    *reply* is kept free for the answer, *tools* for the definitions of the
    tools, *system* for a prompt that is sent beside the messages. The rest is
    for the history, which includes system messages that stand in the log.

    Raises:
        ConfigError: a number is not an int, is too small, or nothing is left.

    >>> budget = Budget(128_000, reply=4_000, tools=1_200)
    >>> budget
    Budget(128_000, reply=4_000, tools=1_200)
    >>> budget.history
    122800
    >>> Budget(4_096, reply=4_096)
    Traceback (most recent call last):
    unabridged.errors.ConfigError: Budget: nothing is left for the history: \
window 4,096 - reply 4,096 - tools 0 - system 0 = 0 tokens; reserve less or take a larger window
    """

    window: int = field(validator=_tokens)
    reply: int = field(default=0, validator=_tokens)
    tools: int = field(default=0, validator=_tokens)
    system: int = field(default=0, validator=_tokens)

    def __attrs_post_init__(self) -> None:
        if self.history <= 0:
            msg = (
                f"Budget: nothing is left for the history: window {self.window:,} - "
                f"reply {self.reply:,} - tools {self.tools:,} - system {self.system:,} = "
                f"{self.history:,} tokens; reserve less or take a larger window"
            )
            raise ConfigError(msg)

    @property
    def history(self) -> int:
        """
        The tokens left for the messages.
        """
        return self.window - self.reply - self.tools - self.system

    def __repr__(self) -> str:
        _, *reserved = ((place.name, getattr(self, place.name)) for place in fields(Budget))
        asked = "".join(f", {name}={value:_}" for name, value in reserved if value)

        return f"Budget({self.window:_}{asked})"
