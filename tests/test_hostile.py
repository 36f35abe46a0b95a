"""
Values that nobody means to give: refused in few words, with our own errors, by all that takes any.

What loops or never ends is refused at once, wherever it stands; what provider's
formats do with it is told in `tests/formats/test_hostile.py`.
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from tests.formats.test_hostile import ENDLESS, LONG, ODD, Hostile
from unabridged import (
    AsyncMemory,
    Audio,
    Budget,
    Document,
    Image,
    Memory,
    Message,
    NoCompaction,
    Opaque,
    Over,
    Reasoning,
    Share,
    Summarize,
    Text,
    TokenBudget,
    ToolCall,
    ToolResult,
    Window,
    asking,
    assistant,
    chain,
    declared,
    run,
    system,
    tokens,
    tool,
    user,
)
from unabridged.contract import TrimContext
from unabridged.declared import from_data, to_data
from unabridged.errors import ConfigError, FormatError, UnabridgedError
from unabridged.formats import detect, mend, openai_chat, problems
from unabridged.json_values import Json, json_of
from unabridged.records import Note
from unabridged.stores import InMemoryStore, SqliteStore
from unabridged.testing import talk, view_of
from unabridged.tools import recall

Act = Callable[[Any], Any]


def record(**keys: Any) -> dict[str, Any]:
    message = {"role": "user", "parts": ["hi"]}
    body = {"v": 1, "rec": 1, "at": 0.5, "kind": "appended", "seq": 1, "message": message} | keys

    return {"version": 1, "thread": "t", "records": [body]}


def chat() -> Memory:
    memory = Memory()
    memory.append(*talk(2))

    return memory


VALUES: dict[str, Act] = {
    "metadata": lambda bad: user("hi", metadata={"a": bad}),
    "a system's metadata": lambda bad: system("hi", metadata={"a": [bad]}),
    "an assistant's metadata": lambda bad: assistant("hi", metadata={"a": {"b": bad}}),
    "a tool's metadata": lambda bad: tool("hi", call_id="c", metadata={"a": bad}),
    "arguments": lambda bad: ToolCall("c", "f", {"a": bad}),
    "extra of a text": lambda bad: Text("hi", extra={"a": bad}),
    "extra of a message": lambda bad: Message("user", "hi", extra={"a": bad}),
    "an opaque part": lambda bad: Opaque("acme", {"a": bad}),
    "json": lambda bad: json_of({"a": bad}),
    "a note": lambda bad: Note("fact", "k", {"a": bad}),
    "a tool's definition": lambda bad: tokens.tools([{"name": "f", "input_schema": {"a": bad}}]),
    "a budget's tools": lambda bad: tokens.Budget(1_000, tools=[{"name": "f", "parameters": bad}]),
}
STRATEGIES: dict[str, Act] = {
    "data": from_data,
    "a list of data": lambda bad: from_data([bad]),
    "a name": lambda bad: from_data({"use": bad}),
    "an option": lambda bad: from_data({"use": "Window", "last": bad}),
    "a step within": lambda bad: from_data({"use": "When", "over": 5, "strategy": bad}),
    "a strategy as data": to_data,
    "strategies as data": lambda bad: to_data([bad]),
    "a step": chain,
    "a list of steps": lambda bad: chain([bad]),
    "a memory's strategy": lambda bad: Memory(strategy=bad),
    "a strategy for once": lambda bad: chat().context(bad),
    "a run": lambda bad: run(bad, view_of(talk(1))),
}
OTHERS: dict[str, Act] = {
    "content": user,
    "a list of content": lambda bad: assistant([bad]),
    "calls": lambda bad: assistant(calls=bad),
    "a name of a speaker": lambda bad: user("hi", name=bad),
    "an id": lambda bad: user("hi", id=bad),
    "all metadata": lambda bad: user("hi", metadata=bad),
    "a role": lambda bad: Message(bad, "hi"),
    "a text": Text,
    "an image": lambda bad: Image(bad, width=bad),
    "a width": lambda bad: Image(width=bad),
    "a document": lambda bad: Document(text=bad),
    "a sound": lambda bad: Audio(transcript=bad),
    "reasoning": Reasoning,
    "a call": lambda bad: ToolCall(bad, bad),
    "all arguments": lambda bad: ToolCall("c", "f", bad),
    "a result": lambda bad: ToolResult("c", [bad]),
    "a result's error": lambda bad: ToolResult("c", "hi", is_error=bad),
    "a tool's call": lambda bad: tool("hi", call_id=bad),
    "an opaque part's provider": lambda bad: Opaque(bad, {}),
    "JSON text": Json,
    "a note's key": lambda bad: Note(bad, bad, {}),
    "a thread": lambda bad: Memory(thread=bad),
    "a budget": lambda bad: Memory(budget=bad),
    "a counter": lambda bad: Memory(count=bad),
    "an answerer": lambda bad: Memory(ask=bad),
    "a searcher": lambda bad: Memory(search=bad),
    "a number of retrievals": lambda bad: Memory(retry_after=bad),
    "a store": Memory,
    "an append": lambda bad: chat().append(bad),
    "a pin": lambda bad: chat().append(user("hi"), pin=bad),
    "a last record": lambda bad: chat().append(user("hi"), expect=bad),
    "an entry's number": lambda bad: chat().entries(before=bad),
    "so many entries": lambda bad: chat().entries(last=bad),
    "a handle": lambda bad: chat().fetch(bad),
    "a start": lambda bad: chat().fetch("1", start=bad),
    "a length": lambda bad: chat().fetch("1", length=bad),
    "words in an entry": lambda bad: chat().fetch("1", find=bad),
    "words": lambda bad: chat().find(bad),
    "so many hits": lambda bad: chat().find("q1", last=bad),
    "hits before": lambda bad: chat().find("q1", before=bad),
    "tools passed over": lambda bad: chat().find("q1", exclude=bad),
    "a record": lambda bad: chat().view(at=bad),
    "a difference": lambda bad: chat().diff(bad, bad),
    "a query": lambda bad: chat().context(query=bad),
    "a prompt": lambda bad: chat().context(system=bad),
    "a revert": lambda bad: chat().revert(bad),
    "an entry to pin": lambda bad: chat().pin(bad),
    "an entry to let go": lambda bad: chat().unpin(bad),
    "an entry to retract": lambda bad: chat().retract(bad),
    "an entry to rewind to": lambda bad: chat().rewind(bad),
    "a fork": lambda bad: chat().fork(bad),
    "a fork's record": lambda bad: chat().fork("f", at=bad),
    "so much history": lambda bad: chat().history(last=bad),
    "history before": lambda bad: chat().history(before=bad),
    "an item": lambda bad: chat().sources(bad),
    "why": lambda bad: chat().context().why(bad),
    "another thread": lambda bad: chat().thread(bad),
    "a report of": lambda bad: chat().report_usage(bad, input_tokens=1),
    "a bill": lambda bad: (m := chat()).report_usage(m.context(), input_tokens=bad),
    "a bill's cache": lambda bad: (m := chat()).report_usage(
        m.context(), input_tokens=9, cached_tokens=bad
    ),
    "a window": tokens.Budget,
    "a reply": lambda bad: tokens.Budget(1_000, reply=bad),
    "all tools": lambda bad: tokens.Budget(1_000, tools=bad),
    "a system's tokens": lambda bad: tokens.Budget(1_000, system=bad),
    "a budget's counter": lambda bad: tokens.Budget(1_000, count=bad),
    "a model's budget": lambda bad: tokens.Budget.for_model(bad, window=1_000),
    "a model": tokens.for_model,
    "an encoding": tokens.exact,
    "definitions": tokens.tools,
    "a definition": lambda bad: tokens.tools([bad]),
    "a view": lambda bad: run(Window(2), bad),
    "whom to ask": lambda bad: run(Window(2), view_of(talk(1)), ask=bad),
    "a digest's counter": lambda bad: asking.offline(count=bad),
    "whom to fall back on": asking.fallback,
    "messages": openai_chat.dump,
    "a message": lambda bad: openai_chat.dump([bad]),
    "a request": openai_chat.request,
    "a provider": lambda bad: problems([], bad),
    "problems": lambda bad: problems(bad, "gemini"),
    "what to mend": lambda bad: mend(bad, "gemini"),
    "whose it is": detect,
    "how many to retain": InMemoryStore,
    "how long to wait": lambda bad: SqliteStore(":memory:", timeout=bad),
    "how surely": lambda bad: SqliteStore(":memory:", synchronous=bad),
    "a recall's memory": recall,
    "a recall's name": lambda bad: recall(chat(), name=bad),
    "a recall's length": lambda bad: recall(chat(), max_tokens=bad),
    "a dict": Memory.from_dict,
    "a version": lambda bad: Memory.from_dict({"version": bad, "records": []}),
    "records": lambda bad: Memory.from_dict({"version": 1, "records": bad}),
    "a record in a dict": lambda bad: Memory.from_dict({"version": 1, "records": [bad]}),
    "a dict's thread": lambda bad: Memory.from_dict({"version": 1, "thread": bad, "records": []}),
    "a record's key": lambda bad: Memory.from_dict(record(zz=bad)),
    "a record's number": lambda bad: Memory.from_dict(record(rec=bad, seq=bad)),
    "a record's time": lambda bad: Memory.from_dict(record(at=bad)),
    "a record's kind": lambda bad: Memory.from_dict(record(kind=bad)),
    "a record's message": lambda bad: Memory.from_dict(record(message=bad)),
    "a record's role": lambda bad: Memory.from_dict(record(message={"role": bad})),
    "a record's parts": lambda bad: Memory.from_dict(
        record(message={"role": "user", "parts": bad})
    ),
    "a record's part": lambda bad: Memory.from_dict(
        record(message={"role": "user", "parts": [{"type": "text", "text": bad, "extra": bad}]})
    ),
    "a counter's answer": lambda bad: Memory(count=lambda _: bad, strategy=[tokens_of]).append(
        user("hi")
    ),
}
NEEDED = {
    "tokens": 30,
    "first": 3,
    "last": 3,
    "keep_last": 3,
    "encoding": "gpt-4o",
    "model": "claude",
    "condition": Over(messages=3),
    "strategy": Window(3),
}
OPTIONS = [
    (strategy, field.name)
    for strategy in declared._CLASSES.values()  # all there are, less those of other tests
    for field in attrs.fields(strategy)
    if field.init and strategy.__module__.startswith("unabridged.")
]


def tokens_of(view: Any, ctx: TrimContext) -> Any:
    """
    A step that counts.
    """
    return [item for item in view if ctx.count(item.message) >= 0]


def built(strategy: Any, name: str, bad: Any) -> Any:
    """
    The strategy with *bad* for one option, and something that will do for the others.
    """
    needed = {field.name for field in attrs.fields(strategy) if field.default is attrs.NOTHING}
    if strategy is Summarize and not name.startswith("keep"):
        needed.add("keep_last")
    made = strategy(**{key: NEEDED[key] for key in needed} | {name: bad})
    assert repr(made)


def refused(act: Act, bad: Any) -> UnabridgedError | None:
    """
    What an act is refused with, None if it is taken; whatever else is raised is raised.
    """
    try:
        act(bad)
    except UnabridgedError as error:
        assert len(str(error)) < LONG  # noqa: PT017  it is short
        return error

    return None


@pytest.mark.parametrize("kind", ENDLESS)
class TestWhatNeverEnds:
    @pytest.mark.parametrize("name", VALUES)
    def test_is_no_value(self, name: str, kind: str):
        """
        Refused as a value that JSON cannot hold, whoever asks.
        """
        error = refused(VALUES[name], ENDLESS[kind])

        assert isinstance(error, FormatError)
        assert isinstance(error, ConfigError)

    @pytest.mark.parametrize("name", STRATEGIES)
    def test_is_no_strategy(self, name: str, kind: str):
        """
        Nor a description of one.
        """
        assert isinstance(refused(STRATEGIES[name], ENDLESS[kind]), ConfigError)

    def test_is_refused_or_passed_over_elsewhere(self, kind: str):
        """
        In few words.
        """
        for act in OTHERS.values():
            refused(act, ENDLESS[kind])

    def test_is_no_option(self, kind: str):
        """
        Of any strategy.
        """
        for strategy, name in OPTIONS:
            refused(lambda bad, s=strategy, n=name: built(s, n, bad), ENDLESS[kind])


@pytest.mark.parametrize("kind", ODD)
class TestWhatIsOdd:
    def test_is_refused_or_taken(self, kind: str):
        """
        Whatever else is raised would be a surprise.
        """
        for acts in (VALUES, STRATEGIES, OTHERS):
            for act in acts.values():
                refused(act, ODD[kind])

    def test_is_no_option_or_one_that_can_be_shown(self, kind: str):
        """
        What is taken has a repr.
        """
        for strategy, name in OPTIONS:
            refused(lambda bad, s=strategy, n=name: built(s, n, bad), ODD[kind])


class TestRecall:
    @pytest.mark.parametrize("name", ["handle", "start", "length", "find", "query", "before", "zz"])
    def test_tells_a_model_what_is_odd(self, name: str):
        """
        In few words, and never raises.
        """
        again = recall(chat())
        for bad in (*ENDLESS.values(), *ODD.values()):
            for given in ({name: bad}, {"handle": "1", name: bad}, {"query": "q1", name: bad}):
                assert len(again(**given)) < LONG

    @pytest.mark.parametrize(
        "arguments",
        ["[" * 10**6, '{"a":' * 10**6, "1" * 10**6, '{"query": ' + "9" * 10**5 + "}", "{"],
    )
    def test_tells_a_model_that_its_arguments_are_no_object(self, arguments: str):
        """
        However deep or long.
        """
        answer = recall(chat()).answer(ToolCall("c", "recall", arguments)).text

        assert answer.startswith('{"error":')
        assert len(answer) < LONG

    def test_tells_a_model_of_a_name_that_is_a_megabyte(self):
        """
        The beginning of it.
        """
        assert len(recall(chat()).answer(ToolCall("c", "x" * 10**6, "{}")).text) < LONG


class TestContexts:
    @pytest.mark.parametrize("bad", [*ENDLESS.values(), *ODD.values()], ids=[*ENDLESS, *ODD])
    def test_refuse_a_prefix_and_names_that_are_none(self, bad: Any):
        """
        What is taken is a result's `prefix`, and a dict of roles.
        """
        refused(lambda bad: chat().context(previous=bad), bad)
        refused(lambda bad: chat().context().text(names=bad), bad)

    @pytest.mark.parametrize("bad", [*ENDLESS.values(), *ODD.values()], ids=[*ENDLESS, *ODD])
    def test_recall_answers_calls_alone(self, bad: Any):
        """
        A provider's own dict is none.
        """
        assert isinstance(refused(recall(chat()).answer, bad), ConfigError)


class TestNumbers:
    @pytest.mark.parametrize("number", [2**63, 10**5_000], ids=["just", "far"])
    def test_are_said_to_be_too_large(self, number: int):
        """
        "An int of 1 or more" would be wrong: it is one.
        """
        memory = chat()
        acts: list[Act] = [
            Window,
            TokenBudget,
            lambda bad: Share(0, priority=bad),
            Budget,
            lambda bad: Memory(retry_after=bad),
            lambda bad: memory.entries(before=bad),
            lambda bad: memory.view(at=bad),
            lambda bad: memory.fetch("1", start=bad),
            lambda bad: memory.fetch("1", length=bad),
            lambda bad: memory.context().why(bad),
        ]
        for act in acts:
            assert str(refused(act, number)).endswith(", which is too large")

    def test_of_one_character(self):
        """
        In the singular.
        """
        memory = Memory()
        memory.append(user("a"))

        with pytest.raises(ConfigError, match="has 1 character, so `start` cannot be 2"):
            memory.fetch("1", start=2)


class TestModels:
    def test_an_error_shows_the_beginning_of_a_megabyte(self):
        """
        Whatever looks a model up.
        """
        for act in (tokens.for_model, tokens.exact, tokens.Budget.for_model):
            assert refused(act, "x" * 10**6)

    def test_an_error_of_a_step_or_a_counter_is_told_in_few_words(self):
        """
        Which may repeat all that it was given.
        """

        def failing(*_: Any) -> Any:
            raise ValueError("x" * 10**6)

        counting = Memory(strategy=[tokens_of], count=failing)
        counting.append(user("hi"))

        assert refused(chat().context, [failing])
        assert refused(lambda _: counting.context(), None)


class Path(os.PathLike[str]):
    def __init__(self, given: Any) -> None:
        self.given = given

    def __fspath__(self) -> str:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given  # type: ignore[no-any-return]


class TestOpen:
    @pytest.mark.parametrize(
        "path",
        [
            "a\0b",
            Path("a\0b"),
            Path(OSError("no")),
            Path(5),
            Path(b"x"),
            "x" * 100_000,
            "a/" * 50_000,
            "x\ud800",
            5,
            b"x",
            None,
            Hostile(),
        ],
        ids=range(12),
    )
    def test_refuses_what_is_no_path(self, path: Any, tmp_path: Any, monkeypatch: Any):
        """
        Also of an AsyncMemory, and of a store by itself.
        """
        monkeypatch.chdir(tmp_path)

        assert refused(Memory.open, path)
        assert refused(SqliteStore, path)
        assert refused(lambda path: asyncio.run(AsyncMemory.open(path).append(user("hi"))), path)

    def test_refuses_a_file_in_a_folder_that_cannot_be_entered(self, tmp_path: Any):
        """
        A file stands where a folder should.
        """
        (tmp_path / "file").write_text("x")

        assert refused(Memory.open, tmp_path / "file" / "chat.db")
        assert refused(Memory.open, tmp_path / "nothing" / "chat.db")
        assert refused(Memory.open, tmp_path / ("x" * 300))

    @pytest.mark.parametrize("version", [-5, 0, 2**62])
    def test_refuses_a_schema_that_never_was(self, tmp_path: Any, version: Any):
        """
        A number that no version of ours wrote.
        """
        path = tmp_path / "chat.db"
        Memory.open(path).close()
        with sqlite3.connect(path) as connection:
            connection.execute("DELETE FROM unabridged")
            connection.execute("INSERT INTO unabridged VALUES (?)", (version,))
        connection.close()

        assert refused(Memory.open, path)


def test_the_strategies_are_all_there():
    """
    The options that are tried are those of each class that data can name.
    """
    assert {Window, NoCompaction} <= {*declared._CLASSES.values()}
    assert len(OPTIONS) > 100
