"""
The lines of the README's table *Coming from*, word for word, with callbacks of each system's shape.

A row of the table that no test here runs fails.
"""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

import unabridged
from unabridged import Memory, Window, assistant, run, system, tokens, user
from unabridged.testing import call, result, talk, texts, view_of

README = Path(__file__).parent.parent / "README.md"
HUMAN = {"user": "Human", "assistant": "AI"}


class Row(NamedTuple):
    """
    What somebody uses, and the code to write.
    """

    used: str
    code: tuple[str, ...]


def section() -> str:
    text = README.read_text(encoding="utf-8")
    return text[text.index("## Coming from") : text.index("## What it costs")]


def rows() -> list[Row]:
    found = []
    for line in section().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 2 and not cells[0].startswith(("---", "you use")):
            code = re.findall(r"`([^`]+)`", cells[1].replace(r"\|", "|"))
            found.append(Row(cells[0], tuple(code)))

    return found


def block() -> str:
    return section().split("```python\n")[1].split("```")[0]


def evaluated(code: str, **names: Any) -> Any:
    """
    What a line gives, where these names stand for the user's own.
    """
    known = {name: getattr(unabridged, name) for name in unabridged.__all__}

    return eval(code, known | {"SimpleNamespace": SimpleNamespace} | names)  # noqa: S307  README's


CHECKS: dict[str, Callable[..., None]] = {}


def of(used: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def register(check: Callable[..., None]) -> Callable[..., None]:
        CHECKS[used] = check
        return check

    return register


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.used)
def test_the_line_does_what_is_promised(row):
    """
    Each line with the callbacks and the examples of the system that it comes from.
    """
    CHECKS[row.used](*row.code)


def test_every_check_has_a_row():
    """
    What the README no longer says is not checked either.
    """
    assert set(CHECKS) == {row.used for row in rows()}


# -- rollmem


@of("rollmem `RollingMemory(max_tokens=2000, summarize_fn=f)`")
def rolling(line):
    said = []

    def summarize(existing: str, messages: Any) -> str:
        said.append((existing, [(m.role, m.content) for m in messages]))
        return " ".join([existing, *(m.content for m in messages)]).strip()

    memory = evaluated(line.replace("2000", "4"), f=summarize)
    memory.append(user("one two"), assistant("three four"), user("five six"))
    first = memory.context()

    assert [("", [("user", "one two"), ("assistant", "three four")])] == said
    assert ["one two three four", "five six"] == texts(first)
    memory.append(assistant("seven eight"), user("nine ten"))

    assert ["one two three four five six seven eight", "nine ten"] == texts(memory.context())
    assert ("one two three four", [("user", "five six"), ("assistant", "seven eight")]) == said[-1]

    def fails(existing: str, messages: Any) -> str:
        raise ConnectionError

    memory = evaluated(line.replace("2000", "4"), f=fails)
    memory.append(user("one two"), assistant("three four"), user("five six"))

    assert ["one two", "three four", "five six"] == texts(memory.context())


@of("rollmem `BufferMemory()`, techrevati `NoCompaction()`")
def buffer(line):
    memory = evaluated(line)
    memory.append(*talk(3))

    assert tuple(talk(3)) == memory.context().messages


@of("rollmem's alignment of what is kept")
def aligned(line):
    strategy = evaluated(line.replace("2000", "10"))
    memory = Memory(strategy=strategy, count=lambda message: len(message.text))
    memory.append(user("aaaa"), assistant("bbbb"), user("cccc"))

    assert ["cccc"] == texts(memory.context())


# -- molo


@of("molo `WindowMemory::new(8000).with_max_rounds(10)`")
def rounds(line):
    memory = evaluated(line.replace("8_000", "3"))
    memory = Memory(strategy=memory.strategy, count=tokens.words)
    memory.append(system("s"), user("u1"), assistant("a1"), user("u2"), assistant("a2"))

    assert ["u2", "a2"] == texts(memory.context())
    memory.append(user("a question of several words"), call("c1"), result("c1"), assistant("a3"))
    over = memory.context()

    assert ["a question of several words", "", "found", "a3"] == texts(over)
    assert over.over

    few = evaluated(line.replace("MaxRounds(10", "MaxRounds(1"))
    few.append(*talk(3))

    assert ["q3", "a3"] == texts(few.context())


@of("molo `SummarizeStrategy` with a reserve")
def reserve(line):
    class Provider:
        def __init__(self, *answers: str) -> None:
            self.answers, self.asked = list(answers), 0

        def chat(self, request: Any) -> SimpleNamespace:
            self.asked += 1
            if not self.answers:
                raise ConnectionError
            return SimpleNamespace(message=SimpleNamespace(content=self.answers.pop(0)))

    def memory_of(limit: int, reserve: int, provider: Provider) -> Memory:
        return Memory(
            strategy=evaluated(line, limit=limit, reserve=reserve),
            count=tokens.words,
            ask=lambda ask: provider.chat(ask.messages).message.content,
        )

    provider = Provider("they greeted", "they went on")
    memory = memory_of(20, 9, provider)
    memory.append(user("one two three four five"), assistant("six seven eight nine ten"))
    memory.append(user("a b c d e"), assistant("f g h i j"))

    assert 4 == len(memory.context().messages)  # within the limit nobody is asked
    assert 0 == provider.asked
    memory.append(user("k l"), assistant("m n"))

    assert ["Summary of prior context:\nthey greeted", "k l", "m n"] == texts(memory.context())
    assert 3 == len(memory.view())  # it is written back

    failing = memory_of(20, 9, Provider())
    failing.append(user("one two three four five"), assistant("six seven eight nine ten"))
    failing.append(user("a b c d e"), assistant("f g h i j"), user("k l"), assistant("m n"))

    assert ["a b c d e", "f g h i j", "k l", "m n"] == texts(failing.context())  # WindowDrop
    assert 6 == len(failing.view())  # and nothing of it is written

    narrow = memory_of(4, 1_024, Provider("hi"))  # a reserve that is not below the limit
    narrow.append(user("one two three"), assistant("four five"), user("six"), assistant("seven"))

    assert ["six", "seven"] == texts(narrow.context())[-2:]


@of("molo's strategy of your own, with `replace: true`")
def own(line):
    def recapped(view, ctx):
        return [system("prior summary"), *view.rounds[-1].items]

    strategy = evaluated(line, limit=7, f=recapped)
    memory = Memory(strategy=strategy, count=tokens.words)
    for number in range(1, 5):
        memory.append(user(f"u{number}"), assistant(f"a{number}"))

    assert ["prior summary", "u4", "a4"] == texts(memory.context())
    assert ["prior summary", "u4", "a4"] == texts(memory.view())
    memory.append(user("u5"))

    assert ["prior summary", "u4", "a4", "u5"] == texts(memory.context())


@of("molo `record_protected(m)`")
def protected(line):
    memory = Memory(strategy=Window(1))
    evaluated(line, memory=memory, m=user("I am allergic to nuts."))
    memory.append(*talk(3))

    assert "I am allergic to nuts." == texts(memory.context())[0]


# -- windlass


@of("windlass `BufferMemory(max_stored=1000)`")
def stored(line):
    memory = evaluated(line.replace("1000", "2"))
    memory.append(*talk(3))

    assert ["q3", "a3"] == [entry.message.text for entry in memory.entries()]


@of("windlass `WindowMemory(window=20)`")
def window(line, context, _):
    memory = Memory(strategy=evaluated(line.replace("20", "2")))
    memory.append(system("Be brief."), user("one"), user("two"), user("three"))

    assert ["two", "three"] == texts(evaluated(context, memory=memory))
    memory.append(call("c1"), result("c1"), assistant("done"))

    assert ["", "found", "done"] == texts(evaluated(context, memory=memory))  # it widens


@of("windlass `SummaryMemory(llm, window=10, summarize_every=6)`")
def summary(line):
    class Model:
        def __init__(self, *, works: bool) -> None:
            self.works, self.asked = works, []

        async def acomplete(self, prompt: str, *, max_tokens: int) -> SimpleNamespace:
            self.asked.append((prompt, max_tokens))
            if not self.works:
                raise ConnectionError
            return SimpleNamespace(content="They greeted twice.")

    names: dict[str, Any] = {}
    exec(block(), names)  # noqa: S102  README's
    messages = [user(f"message {number}") for number in range(30)]

    async def told(llm: Model) -> list[str]:
        memory = evaluated(line, llm=llm, completed=names["completed"])
        await memory.append(*messages)
        return texts(await memory.context())

    works, fails = Model(works=True), Model(works=False)
    said = asyncio.run(told(works))

    assert ["Summary of the earlier conversation:\nThey greeted twice.", "message 20"] == said[:2]
    assert 11 == len(said)
    assert [400] == [number for _, number in works.asked]
    assert "message 19" in works.asked[0][0]
    assert [f"message {number}" for number in range(14, 30)] == asyncio.run(told(fails))


# -- techrevati


@of("techrevati `WindowCompaction(20)`")
def compacted(line):
    memory = Memory(strategy=evaluated(line.replace("20", "3")))
    memory.append(system("Be brief."), *talk(3))

    assert ["Be brief.", "q3", "a3"] == texts(memory.context())


@of("techrevati `TokenBudgetCompaction(8000)`")
def budget(line, then):
    memory = evaluated(line.replace("8_000", "12"))
    memory.append(system("You are a loan assistant."))
    for message in (user("x" * 20), assistant("y" * 20), user("z" * 8)):
        memory.append(message)
        evaluated(then, memory=memory)

    assert ["You are a loan assistant.", "z" * 8] == texts(memory.view())


# -- LangChain


@of("LangChain `ConversationBufferMemory`")
def text(line):
    memory = Memory()
    memory.append(*talk(2))

    assert "Human: q1\nAI: a1\nHuman: q2\nAI: a2" == evaluated(line, memory=memory)


@of("LangChain `ConversationBufferWindowMemory(k=5)`")
def turns(line):
    strategy = evaluated(line.replace("5", "1"))

    assert ["q3", "a3"] == texts(run(strategy, view_of(talk(3))))


@of("LangChain `ConversationTokenBufferMemory(max_token_limit=2000)`")
def token_buffer(line, _):
    strategy = evaluated(line.replace("2_000", "3"))
    memory = Memory(strategy=strategy, count=lambda message: 1)
    memory.append(*talk(3))

    assert ["q2", "a2", "q3", "a3"][2:] == texts(memory.context())[-2:]
    assert memory.context().tokens <= 3

    strict = Memory(strategy=strategy, count=tokens.words)
    strict.append(user("a newest turn that is far too long"))
    over = strict.context()

    assert ["a newest turn that is far too long"] == texts(over)
    assert (3, 8) == (over.over.limit, over.over.needed)


@of("LangChain `ConversationSummaryBufferMemory(llm=llm, max_token_limit=2000)`")
def summary_buffer(line):
    class Llm:
        def __init__(self, *, works: bool) -> None:
            self.works = works

        def invoke(self, prompt: str) -> SimpleNamespace:
            if not self.works:
                raise ConnectionError
            assert "hello there number 1" in prompt
            return SimpleNamespace(content="They said hello.")

    def told(llm: Llm) -> tuple[list[str], Memory]:
        memory = evaluated(line.replace("2_000", "60").replace("4_000", "120"), llm=llm)
        for number in range(1, 10):
            memory.append(user(f"hello there number {number}"), assistant(f"hello {number}"))
        return texts(memory.context()), memory

    said, memory = told(Llm(works=True))

    assert "Summary of the earlier conversation:\nThey said hello." == said[0]
    assert "hello 9" == said[-1]
    said, memory = told(Llm(works=False))

    assert 120 >= memory.context().tokens
    assert 18 == len(memory.view())  # a failing model loses no turn
    assert "hello 9" == said[-1]
