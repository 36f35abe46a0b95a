"""
A budget: how many tokens of a model's window are left for the history.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from attrs import field, fields, frozen

from unabridged.errors import ConfigError
from unabridged.messages import Message, Text
from unabridged.text import TOO_LARGE, brief, got
from unabridged.text.names import with_named_init
from unabridged.tokens.counters import TokenCounter
from unabridged.tokens.definitions import tools as tools_tokens
from unabridged.tokens.kept import kept
from unabridged.tokens.offline import exact, for_model
from unabridged.tokens.windows import window_of

__all__ = ["Budget", "Tools"]

Tools: TypeAlias = int | Iterable[Mapping[str, Any]]
"""
Tool definitions as a provider takes them, or the tokens they cost.
"""

PRIMING = 3  # every reply is opened by 3 tokens: OpenAI cookbook, as in `exact`


def _tokens(_instance: object, attribute: object, value: int) -> None:
    name = getattr(attribute, "name", "")
    least = 1 if name == "window" else 0
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < TOO_LARGE:
        text = "the prompt's text or " if name == "system" else ""
        msg = f"Budget: `{name}` must be {text}an int of tokens, {least} or more, {got(value)}"
        raise ConfigError(msg)


@with_named_init
@frozen(repr=False, init=False)
class Budget:
    """
    A model's *window*, and what of it is spoken for, all in tokens.

    *reply* is kept free for the answer, *tools* for the definitions of the
    tools, *system* for a prompt that is sent beside the messages, and *priming*
    for what opens the reply: 3 by OpenAI's formula, which is in no message. The
    rest is for the history, which includes system messages that stand in the
    log. *tools* may be the definitions themselves and *system* the text: they
    are counted at once with *count* (`tokens.exact()` by default), and the
    budget holds the numbers. A prompt given to `Memory.context(system=…)` is
    counted there already, so leave it out here.

    Raises:
        ConfigError: a number is not an int, is too small, or nothing is left;
            *tools* or *system* is neither a number nor what can be counted.

    >>> budget = Budget(128_000, reply=4_000, tools=1_200)
    >>> budget
    Budget(128_000, reply=4_000, tools=1_200)
    >>> budget.history
    122797
    >>> Budget(128_000, tools=[{"name": "now", "description": "The time"}], system="Be brief.")
    Budget(128_000, tools=22, system=7)
    >>> Budget(4_096, reply=4_096)
    Traceback (most recent call last):
    unabridged.errors.ConfigError: Budget: nothing is left for the history: \
window 4,096 - reply 4,096 - tools 0 - system 0 - priming 3 = -3 tokens; \
reserve less or take a larger window
    """

    window: int = field(validator=_tokens)
    reply: int = field(validator=_tokens)
    tools: int = field(validator=_tokens)
    system: int = field(validator=_tokens)
    priming: int = field(validator=_tokens)

    def __init__(  # noqa: PLR0913  what a window is shared by
        self,
        window: int,
        reply: int = 0,
        tools: Tools = 0,
        system: int | str = 0,
        priming: int = PRIMING,
        *,
        count: TokenCounter | None = None,
    ) -> None:
        counter = exact() if count is None else count
        if not callable(counter):
            msg = f"Budget: `count` must be a function from message to int, got {brief(count)}"
            raise ConfigError(msg)
        counted = tools if isinstance(tools, int | float) else tools_tokens(tools, counter)
        if isinstance(system, str):
            system = kept(counter)(Message("system", (Text(system),))) if system else 0
        self.__attrs_init__(  # pyright: ignore[reportAttributeAccessIssue]  attrs makes it
            window, reply, counted, system, priming
        )
        if self.history <= 0:
            msg = (
                f"Budget: nothing is left for the history: window {self.window:,} - "
                f"reply {self.reply:,} - tools {self.tools:,} - system {self.system:,} - "
                f"priming {self.priming:,} = {self.history:,} tokens; "
                "reserve less or take a larger window"
            )
            raise ConfigError(msg)

    @classmethod
    def for_model(  # noqa: PLR0913  as the class
        cls,
        model: str,
        *,
        window: int | None = None,
        reply: int = 0,
        tools: Tools = 0,
        system: int | str = 0,
        count: TokenCounter | None = None,
    ) -> "Budget":
        """
        The budget of a model by its name, as in `Budget.for_model("gpt-4o", reply=4_000)`.

        Its window is looked up in the data of the installed genai-prices (the
        extra `prices`), unless *window* is given, in tokens. *tools* and
        *system* are counted with `tokens.for_model(model)` unless *count* is
        given.

        Raises:
            ConfigError: the window is not known, or the extra is not there;
                nothing is known of the model and *tools* or *system* must be
                counted; and as the class.

        >>> Budget.for_model("gpt-4o", window=128_000, system="Be brief.")
        Budget(128_000, system=7)
        """
        if not isinstance(model, str) or not model.strip():
            msg = f"Budget.for_model: expected the name of a model, got {brief(model)}"
            raise ConfigError(msg)
        size = window_of(model) if window is None else window
        if count is None and not (isinstance(tools, int) and isinstance(system, int)):
            count = for_model(model)

        return cls(size, reply, tools, system, count=count)

    @property
    def history(self) -> int:
        """
        The tokens left for the messages.
        """
        return self.window - self.reply - self.tools - self.system - self.priming

    def __repr__(self) -> str:
        _, *reserved, _ = ((place.name, getattr(self, place.name)) for place in fields(Budget))
        asked = "".join(f", {name}={value:_}" for name, value in reserved if value)
        asked += f", priming={self.priming:_}" if self.priming != PRIMING else ""

        return f"Budget({self.window:_}{asked})"
