"""
The contract between strategies and those who drive them.

A strategy is called with a view and a context. It returns a result, or it is
a generator that *yields* what it needs answered (`Ask`, `Search`, `Await`) and
is sent the answer, so one strategy serves sync and async alike and holds no
client.
"""

from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

from attrs import field, frozen

from unabridged.items import Item
from unabridged.messages import Message, system, user
from unabridged.results import TrimResult
from unabridged.tokens import Budget, TokenCounter, exact, kept
from unabridged.transcripts import line, quoted
from unabridged.views import View

__all__ = [
    "Ask",
    "Asking",
    "Await",
    "CompactionStrategy",
    "Flow",
    "Kept",
    "Outcome",
    "Refused",
    "Search",
    "StrategyLike",
    "TrimContext",
    "Trimmer",
    "Yielded",
]


@frozen
class TrimContext:
    """
    What a strategy may know beside the view.

    *budget* is the memory's, in tokens; *count* gives the tokens of a message;
    *query* is what the user asks now; *previous* are the messages that this
    memory object projected last, to report how much of their prefix was kept;
    *window* is what whoever answers takes in one request, in tokens, the reply
    included (0: not known).

    >>> from unabridged import user
    >>> from unabridged.tokens import words
    >>> TrimContext(count=words).count(user("one two three"))
    3
    """

    budget: Budget | None = None
    count: TokenCounter = field(default=exact(), converter=kept, repr=False)
    query: str | None = None
    previous: tuple[Message, ...] = field(default=(), repr=False)
    window: int = 0


@frozen
class Ask:
    """
    A question for a model: tell what *items* hold, given the *previous* summary.

    `messages` is a request ready to be sent; an answer is the text of the
    model's reply. *purpose* says in a word what it is for, *model* which model
    was wished for ("": any), *prompt* what to tell it. *max_tokens* is how long the
    answer may be (let the model write twice as much, so that what is too long
    comes whole and can be shortened), and *window* what the model takes in one
    request with its reply, both in tokens (0: no limit).

    >>> from unabridged.testing import user, view_of
    >>> ask = Ask(tuple(view_of([user("I am Ana")])))
    >>> print(ask.transcript)
    {"entry": "1", "role": "user", "text": "I am Ana"}
    """

    items: tuple[Item, ...]
    previous: Message | None = None
    purpose: str = "summary"
    model: str = ""
    max_tokens: int = 0
    prompt: str = ""
    window: int = 0

    @property
    def transcript(self) -> str:
        """
        The items, one JSON object a line, so that no text can pass for another speaker's line.
        """
        return "\n".join(map(line, self.items))

    @property
    def messages(self) -> tuple[Message, ...]:
        """
        The request: the prompt, the previous summary if there is one, then the transcript.

        All but the prompt and our headings is JSON, so nothing in it can pass for a heading.
        """
        earlier = f"Summary so far:\n{quoted(self.previous.text)}\n\n" if self.previous else ""
        limit = f"\nAnswer in at most {self.max_tokens} tokens." if self.max_tokens else ""
        return (
            system(f"{self.prompt}{limit}"),
            user(f"{earlier}Transcript:\n{self.transcript}"),
        )


@frozen
class Search:
    """
    A search of the thread for *query*: answered with up to *k* pairs of entry and score.

    >>> Search("what is her name", 4).k
    4
    """

    query: str
    k: int


@frozen
class Await:
    """
    Something to be awaited: *call* gives an awaitable. Only an async run can answer it.

    >>> import asyncio
    >>> from unabridged import arun
    >>> from unabridged.testing import talk, texts, view_of
    >>> async def how_many():
    ...     return 1
    >>> def as_many(view, ctx):
    ...     count = yield Await(how_many)
    ...     return list(view.tail(count))
    >>> texts(asyncio.run(arun(as_many, view_of(talk(2)))))
    ['q2', 'a2']
    """

    call: Callable[[], Awaitable[Any]]


@frozen
class Refused:
    """
    Word to whoever answers that the answer to *ask* was of no use, and *why*; nothing is sent back.

    A memory lets such a request rest, or with `retry_after=` the model.

    >>> Refused(Ask(()), "the answer is empty").why
    'the answer is empty'
    """

    ask: Ask
    why: str


Yielded: TypeAlias = Ask | Search | Await | Refused
Flow: TypeAlias = Generator[Yielded, Any, TrimResult]
Outcome: TypeAlias = TrimResult | Flow


class CompactionStrategy(Protocol):
    """
    A step of a chain: a view and a context in, a result or a flow out.

    The changes of a result are taken as they are. `results.keep`, `drop`, `fold` and
    `rewrite` make ones that part nothing and leave pins alone; of a raw
    `TrimResult(view, changes)` the strategy itself answers for that, and
    `testing.check_strategy` tells whether it does.
    """

    def __call__(self, view: View, context: TrimContext, /) -> Outcome:
        """
        Work out the changes.
        """
        ...


Kept: TypeAlias = Iterable[Item | Message]
Asking: TypeAlias = Generator[Yielded, Any, TrimResult | Kept]
Trimmer: TypeAlias = Callable[
    [View, TrimContext], Outcome | Kept | Asking | Awaitable[Outcome | Kept]
]
StrategyLike: TypeAlias = Trimmer | Sequence["StrategyLike"]
