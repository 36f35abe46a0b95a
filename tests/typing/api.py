"""
What the type checkers let through and what they refuse; this file is checked, never run.

Each refusal bears the comment that silences it, for both checkers or for the one that sees it.
Both report a comment that silences nothing, so whatever they stop refusing shows.
"""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from asyncio import Task
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial

from attrs import evolve, frozen

import unabridged
from unabridged import (
    AsyncMemory,
    Budget,
    ClearToolResults,
    ClipMessages,
    ClipToolResults,
    Deduplicate,
    HeadAndTail,
    MaxRounds,
    Memory,
    Message,
    NoCompaction,
    Over,
    Sparing,
    Summarize,
    TokenBudget,
    When,
    Window,
    arun,
    asking,
    assistant,
    chain,
    custom,
    declared,
    formats,
    run,
    system,
    tokens,
    tool,
    tools,
    user,
    written_back,
)
from unabridged.contract import (
    Ask,
    CompactionStrategy,
    Flow,
    Outcome,
    StrategyLike,
    TrimContext,
)
from unabridged.fetching import Excerpt, Findings
from unabridged.items import Block, Item, Round
from unabridged.messages import (
    Audio,
    Document,
    Image,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from unabridged.pipeline import Pipeline, Strategy
from unabridged.records import Note
from unabridged.results import TrimResult, fold, keep, unchanged
from unabridged.testing import view_of
from unabridged.usage import Usage
from unabridged.views import View

# -- answers


def asked(ask: Ask, client: object) -> Memory:
    model = asking.openai(client, "gpt-test", temperature=0)
    tried = asking.fallback(model, lambda ask: ask.transcript, asking.offline())
    text: str = asking.offline()(ask)
    known: int = model.window + tried.window + len(text)

    return Memory(strategy=Summarize(2), ask=tried, budget=known)


# -- results that come now, later, or are awaited

written_now: TrimResult = Memory().compact()
written_later: Future[TrimResult] = Memory().compact(wait=False)


async def compacted(memory: AsyncMemory) -> tuple[TrimResult, Task[TrimResult]]:
    return await memory.compact(), await memory.compact(wait=False)


forked: Memory = Memory().fork("other")
excerpt: Excerpt = Memory().fetch("1", find="words")

# -- trimmers that are right


def newest(view: View, ctx: TrimContext) -> tuple[Item, ...]:
    return view.tail(1)


def without_heartbeats(view: View, ctx: TrimContext) -> list[Item]:
    return [item for item in view if item.message.text != "ping"]


def dated(view: View, ctx: TrimContext) -> list[Item | Message]:
    return [system("It is Monday."), *view]


def louder(view: View, ctx: TrimContext) -> Iterator[Item]:
    for item in view:
        yield evolve(item, message=user(item.message.text.upper()))


def last(view: View, ctx: TrimContext, *, count: int) -> Iterable[Item]:
    return view.tail(count)


async def later(view: View, ctx: TrimContext) -> Sequence[Item]:
    return view.tail(1)


def reasoned(view: View, ctx: TrimContext) -> TrimResult:
    return keep(view, view[2:], reason="because", replace=True)


def summed_up(view: View, ctx: TrimContext) -> Flow:
    text: str = yield Ask(tuple(view[:2]), prompt="Sum up.")
    return fold(view, view[:2], into=system(text), reason="summed up")


def headed(view: View, ctx: TrimContext) -> Generator[Ask, str, list[Item | Message]]:
    text = yield Ask(tuple(view[:2]), prompt="A line.")
    return [system(text), *view[2:]]


@frozen(repr=False)
class Mine(Strategy):
    last: int

    def __call__(self, view: View, ctx: TrimContext, /) -> TrimResult:
        return unchanged(view, warnings=[f"last {self.last}, {ctx.count(view[0].message)}"])


class Plain:
    def __call__(self, view: View, context: TrimContext, /) -> Outcome:
        return unchanged(view)


# -- wherever a strategy may stand

steps: Pipeline = chain(Window(40), newest, partial(last, count=2), [dated, later], Mine(2))
piped: Pipeline = Window(40) | TokenBudget(8_000) | without_heartbeats | [louder, summed_up, headed]
before: Pipeline = newest | Window(40)
strategies: list[CompactionStrategy] = [
    NoCompaction(),
    Window(40, down_to=20, opening="next", by="rounds", straddle="keep"),
    MaxRounds(4),
    TokenBudget(share=0.5, count=tokens.words),
    HeadAndTail(2, 20),
    Summarize(keep_rounds=4, every=8, on_failure="raise"),
    When(Over(tokens=8_000), Window(4)),
    Sparing(Window(4), first=1, where=lambda item: item.pin == "hand"),
    steps,
    reasoned,
    summed_up,
    Plain(),
    Mine(3),
    custom(newest, strict=True),
    written_back(later),
]
likes: list[StrategyLike] = [newest, later, reasoned, [newest, [later]], Window(2), Plain()]


def answer(ask: Ask) -> str:
    return ask.messages[1].text


async def answer_later(ask: Ask) -> str:
    return ask.transcript


def memories(view: View) -> tuple[Message, ...]:
    memory = Memory(strategy=[Window(40), newest], budget=Budget(8_000, reply=1_000), ask=answer)
    memory.strategy = Window(40) | newest
    memory.append(user(["hi", Image(url="u")]), assistant(calls=[ToolCall("c1", "f")]), pin=True)
    memory.append(tool([Text("found")], call_id="c1"))
    done: TrimResult = memory.context(partial(last, count=4), system="Be brief.")
    item: Item = done.view[0]
    items: tuple[Item, ...] = done.view[1:]
    blocks: Sequence[Block] = view.blocks
    rounds: Sequence[Round] = view.rounds
    again: Excerpt = memory.fetch("3.1", start=10, length=20, find="row")
    found: Findings = memory.find("row", last=4, exclude="recall")
    recall: tools.Recall = tools.recall(memory)
    answered: Message = recall.answer(ToolCall("c2", "recall", {"handle": again.handle}))
    told: str = recall(query=found.found[0].text)
    memory.append(answered, user(told))
    text: str = done.text({"user": "Human"}) + done.why(1) + done.explain() + memory.summary()
    result: TrimResult = run(newest, view, TrimContext(count=tokens.rough), ask=answer)

    return (*result.messages, user(f"{item} {items} {blocks} {rounds} {text}"))


async def awaited(view: View) -> TrimResult:
    async with AsyncMemory(strategy=[later, newest], ask=answer_later) as memory:
        await memory.append(user("hi"))
        recall: tools.AsyncRecall = tools.recall(memory)
        await memory.append(await recall.answer(ToolCall("c1", "recall")), user(await recall()))
        done: TrimResult = await memory.context(ClearToolResults(3) | Deduplicate() | later)

    return done.then(await arun(later, view, ask=answer_later))


# -- trimmers that are wrong


def as_text(view: View, ctx: TrimContext) -> str:
    return view[0].message.text


def as_texts(view: View, ctx: TrimContext) -> list[str]:
    return [item.message.text for item in view]


def as_nothing(view: View, ctx: TrimContext) -> None:
    return None


def as_message(view: View, ctx: TrimContext) -> Message:
    return view[0].message


async def as_text_later(view: View, ctx: TrimContext) -> str:
    return view[0].message.text


def of_messages(messages: list[Message], ctx: TrimContext) -> list[Message]:
    return messages


def of_one(view: View) -> list[Item]:
    return list(view)


def of_three(view: View, ctx: TrimContext, count: int) -> list[Item]:
    return list(view.tail(count))


chain(as_text)  # type: ignore[arg-type]
chain(as_texts)  # type: ignore[arg-type]
chain(as_nothing)  # type: ignore[arg-type]
chain(as_message)  # type: ignore[arg-type]
chain(as_text_later)  # type: ignore[arg-type]
chain(of_messages)  # type: ignore[arg-type]
chain(of_one)  # type: ignore[arg-type]
chain(of_three)  # type: ignore[arg-type]
chain([Window(2), as_texts])  # type: ignore[list-item]
chain("Window(2)")  # pyright: ignore[reportArgumentType]
chain(Window)  # type: ignore[arg-type]
chain(3)  # type: ignore[arg-type]
custom(as_text)  # type: ignore[arg-type]
written_back(of_one)  # type: ignore[arg-type]
Memory(strategy=as_texts)  # type: ignore[arg-type]
Memory(strategy="Window(2)")  # pyright: ignore[reportArgumentType]
Memory("chat.db")  # type: ignore[arg-type]
When(as_text, Window(2))  # type: ignore[arg-type]
Window(2) | as_text  # type: ignore[operator]
Window("2")  # type: ignore[arg-type]
Window(2, opening="user")  # type: ignore[arg-type]
Summarize(2, on_failure="ignore")  # type: ignore[arg-type]
TokenBudget(9, count=len)  # type: ignore[arg-type]
Memory().append("hi")  # type: ignore[arg-type]
Memory().compact(wait="no")  # type: ignore[call-overload]
Summarize(2, tree="8")  # type: ignore[arg-type]

# -- strategies of data

described: Strategy = declared.from_data({"use": "Window", "last": 40})
longer: Pipeline = described | TokenBudget(8_000) | [described]
Memory(strategy=described, budget=8_000).context(described)
run(described, run(longer, view_of([user("hi")])).view)

# -- values that are right

Message("user", ["hi", Image(url="u")], metadata={"a": 1}, extra=None)
Message("tool", ToolResult("c1", ["found", Text("it")]), name=None, id="m1")
tenant: str = user("hi", metadata={"tenant": "acme"}).metadata["tenant"]
city: object = ToolCall("c1", "find", {"q": 1}).args["q"]
billed: Usage = formats.usage({"usage": {"prompt_tokens": 3}})
told: TrimResult = Memory().report_usage(Memory().context(previous=None), billed)
told = Memory().report_usage(told, input_tokens=3, cached_tokens=1)
again: TrimResult = Memory().context(previous=told.prefix)
seqs: list[int] = [entry.seq for entry in Memory().append(user("hi")).all]
version: str = unabridged.__version__
Opaque("gemini", [1, "two", None])
Note("fact", "name", {"first": 1})
TokenBudget(share=1, clip=ClipToolResults(500))
TokenBudget(share=0.5, clip=[ClipToolResults(500), ClipMessages(800)])
ClearToolResults(3, exclude="recall")
ClearToolResults(3, exclude=["recall", "find"])

# -- values that are wrong

Memory().count = tokens.words  # type: ignore[attr-defined]
Memory().add(user("hi"))  # type: ignore[attr-defined]
Memory().entries(limit=3)  # type: ignore[call-arg]
Memory().context(previous=told)  # type: ignore[arg-type]
Memory().report_usage(told)  # type: ignore[call-overload]
TokenBudget(max_tokens=8)  # type: ignore[call-arg]
tool("found", tool_call_id="c1")  # type: ignore[call-arg]
ToolCall("c1", "find", args={})  # type: ignore[call-arg]
Memory(max_tokens=8)  # type: ignore[call-arg]
ToolCall(3, "find")  # type: ignore[arg-type]
ToolCall("c1", None)  # type: ignore[arg-type]
ToolCall("c1", "find", 4)  # type: ignore[arg-type]
Message(5)  # type: ignore[arg-type]
Message("user", 7)  # type: ignore[arg-type]
Message("user", [7])  # type: ignore[list-item]
Message("user", "hi", name=7)  # type: ignore[arg-type]
Message("user", "hi", id=7)  # type: ignore[arg-type]
Message("user", "hi", metadata=[7])  # type: ignore[arg-type]
Message("user", "hi", extra="x")  # type: ignore[arg-type]
Text(5)  # type: ignore[arg-type]
Image(5)  # type: ignore[arg-type]
Image(url="u", width="9")  # type: ignore[arg-type]
Document(text=None)  # type: ignore[arg-type]
Audio(data=b"")  # type: ignore[arg-type]
Reasoning(5)  # type: ignore[arg-type]
ToolResult(5)  # type: ignore[arg-type]
ToolResult("c1", [ToolCall("c1", "f")])  # type: ignore[list-item]
ToolResult("c1", is_error="no")  # type: ignore[arg-type]
Opaque(5, {})  # type: ignore[arg-type]
Opaque("gemini", {1, 2})  # type: ignore[arg-type]
Note("fact", "name", object())  # type: ignore[arg-type]
user(5)  # type: ignore[arg-type]
tool("found", call_id=5)  # type: ignore[arg-type]
TokenBudget(share="half")  # type: ignore[arg-type]
TokenBudget(9, clip=Window(2))  # type: ignore[arg-type]
ClearToolResults(3, exclude=5)  # type: ignore[arg-type]
Sparing(5, first=1)  # type: ignore[arg-type]
