"""
Words of other libraries, and slips of the pen: each is told the right one.
"""

import asyncio
import inspect
from abc import ABC, abstractmethod

import attrs
import pytest
from attrs import frozen

import unabridged
from unabridged import (
    AsyncMemory,
    Budget,
    ClearToolResults,
    HeadAndTail,
    Image,
    MaxRounds,
    Memory,
    Message,
    Over,
    Share,
    Sparing,
    Strategy,
    Summarize,
    TokenBudget,
    ToolCall,
    When,
    Window,
    assistant,
    chain,
    custom,
    run,
    system,
    tokens,
    tool,
    tools,
    user,
)
from unabridged.errors import CallError, ConfigError, UnknownNameError
from unabridged.strategies import __all__ as strategies
from unabridged.text.names import named

MEMORY = Memory()
BUILDERS = {
    "assistant": assistant,
    "chain": chain,
    "custom": custom,
    "recall": tools.recall,
    "run": run,
    "system": system,
    "tool": tool,
    "user": user,
    "written_back": unabridged.written_back,
}
VALUES = {
    name: getattr(unabridged, name)
    for name in (
        "Audio",
        "Budget",
        "Document",
        "Image",
        "Message",
        "Opaque",
        "Reasoning",
        "Text",
        "ToolCall",
        "ToolResult",
    )
}
METHODS = {
    name: getattr(MEMORY, name)
    for name in dir(Memory)
    if not name.startswith("_") and name not in {"strategy", "store"}
}
EVERYTHING = {
    **{name: getattr(unabridged, name) for name in strategies},
    **BUILDERS,
    **VALUES,
    **{f"Memory.{name}": method for name, method in METHODS.items()},
    "Memory": Memory,
    "AsyncMemory": AsyncMemory,
}


def refusal(call, error=CallError):
    """
    What is said where a call is refused.
    """
    with pytest.raises(error) as caught:
        call()

    return str(caught.value)


class TestKeywords:
    @pytest.mark.parametrize(
        ("call", "told"),
        [
            (lambda: TokenBudget(max_tokens=8), "TokenBudget: there is no `max_tokens`; limit"),
            (lambda: TokenBudget(8, ratio=0.5), "TokenBudget: there is no `ratio`; share"),
            (lambda: Window(max_messages=8), "Window: there is no `max_messages`; last"),
            (lambda: Window(8, downto=4), "Window: there is no `downto`; down_to"),
            (lambda: MaxRounds(k=5), "MaxRounds: there is no `k`; last"),
            (lambda: MaxRounds(max_turns=5), "MaxRounds: there is no `max_turns`; last"),
            (lambda: HeadAndTail(head=1, last=2), "HeadAndTail: there is no `head`; first"),
            (lambda: Summarize(llm=None), "Summarize: there is no `llm`; model"),
            (lambda: Summarize(keep=20), "Summarize: there is no `keep`; keep_last"),
            (lambda: ClearToolResults(keep=3), "ClearToolResults: there is no `keep`; keep_last"),
            (lambda: Over(n=3), "Over: there is no `n`; messages"),
            (lambda: Share(flor=3), "Share: there is no `flor`; floor"),
            (lambda: Sparing(Window(2), keep_first=1), "Sparing: there is no `keep_first`; first"),
            (lambda: Budget(9, tool=3), "Budget: there is no `tool`; tools"),
            (lambda: Budget(9_000, max_output=30), "Budget: there is no `max_output`; reply"),
            (lambda: tool("x", tool_call_id="c"), "tool: there is no `tool_call_id`; call_id"),
            (lambda: tool("x", tool_use_id="c"), "tool: there is no `tool_use_id`; call_id"),
            (lambda: assistant(tool_calls=[]), "assistant: there is no `tool_calls`; calls"),
            (lambda: user(text="hi"), "user: there is no `text`; content"),
            (lambda: user("hi", message_id="m"), "user: there is no `message_id`; id"),
            (lambda: system("hi", meta={}), "system: there is no `meta`; metadata"),
            (lambda: Message(role="user", content="hi"), "Message: there is no `content`; parts"),
            (lambda: ToolCall("c", "f", args={}), "ToolCall: there is no `args`; arguments"),
            (lambda: Image(base64="x"), "Image: there is no `base64`; data"),
            (lambda: custom(fn=len), "custom: there is no `fn`; function"),
            (lambda: run(Window(2), [], ctx=1), "run: there is no `ctx`; context"),
            (lambda: MEMORY.entries(limit=3), "Memory.entries: there is no `limit`; last"),
            (lambda: MEMORY.entries(after=3), "Memory.entries: there is no `after`; before"),
            (lambda: MEMORY.find("a", k=3), "Memory.find: there is no `k`; last"),
            (lambda: MEMORY.fetch("1", offset=3), "Memory.fetch: there is no `offset`; start"),
            (lambda: MEMORY.context(write=True), "Memory.context: there is no `write`; replace"),
            (lambda: MEMORY.revert(record=3), "Memory.revert: there is no `record`; rec"),
            (lambda: MEMORY.fork("b", rec=3), "Memory.fork: there is no `rec`; at"),
            (
                lambda: MEMORY.thread(session="b"),
                "Memory.thread: there is no `session`; name",
            ),
            (
                lambda: MEMORY.compact(sync=True),
                "Memory.compact: there is no `sync`; wait",
            ),
            (lambda: Memory.open(file="a.db"), "Memory.open: there is no `file`; path"),
            (lambda: Memory.from_dict({}, llm=len), "Memory.from_dict: there is no `llm`; ask"),
            (lambda: Memory(session_id="a"), "Memory: there is no `session_id`; thread"),
            (lambda: Memory(llm=len), "Memory: there is no `llm`; ask"),
            (lambda: Memory(k=5), "Memory: there is no `k`; strategy=Window(…)"),
            (
                lambda: Memory(max_token_limit=5),
                "Memory: there is no `max_token_limit`; strategy=TokenBudget(…)",
            ),
            (
                lambda: MEMORY.context(max_tokens=5),
                "Memory.context: there is no `max_tokens`; strategy=TokenBudget(…)",
            ),
        ],
    )
    def test_of_other_libraries_are_told_ours(self, call, told):
        """
        Or the one that was nearly written.
        """
        wrong, _, right = told.rpartition("; ")

        assert f"{wrong}; write `{right}`" == refusal(call)

    @pytest.mark.parametrize("name", sorted(EVERYTHING))
    def test_that_mean_nothing_are_told_what_there_is(self, name):
        """
        Of every strategy, builder, value and method.
        """
        shown = name.rpartition(".")[2] if name.startswith("Memory.") else name
        told = refusal(lambda: EVERYTHING[name](xyzzy=1))

        assert told.startswith((f"{name}: there is no `xyzzy`; it takes ", f"Memory.{shown}: "))
        for parameter in inspect.signature(EVERYTHING[name]).parameters.values():
            is_named = parameter.kind is not parameter.POSITIONAL_ONLY

            assert is_named == (parameter.name in told.partition("it takes ")[2])

    @pytest.mark.parametrize("name", [n for n in sorted(METHODS) if n not in {"open", "thread"}])
    def test_of_the_async_memory_too(self, name):
        """
        When it is awaited, as any error of it.
        """

        async def call():
            await getattr(AsyncMemory(), name)(xyzzy=1)

        told = refusal(lambda: asyncio.run(call()))

        assert told.startswith(f"AsyncMemory.{name}: there is no `xyzzy`; it takes ")

    def test_are_errors_of_both_kinds(self):
        """
        Whoever catches Python's own still does.
        """
        for kind in (TypeError, ConfigError, ValueError):
            refusal(lambda: TokenBudget(max_tokens=8), kind)

    def test_that_nobody_gave_are_missed(self):
        """
        And too many without a name are counted as they were written.
        """
        assert "Window: missing 1 required positional argument: 'last'" == refusal(Window)
        assert "tool: missing 1 required keyword-only argument: 'call_id'" == refusal(
            lambda: tool("found")
        )
        assert refusal(lambda: MEMORY.entries(5)) == (
            "Memory.entries: it takes before, last, retracted, and none of them without a name; "
            "got 1 so"
        )
        assert refusal(lambda: HeadAndTail(1, 2, 3)).endswith(
            ", and the first 2 of them without a name; got 3 so"
        )

    def test_leave_other_errors_alone(self):
        """
        What a function raises itself is no fault of the call.
        """

        @named
        def fails(value):
            return value + len(value, 1)

        @named
        async def fails_later(value):
            return value + len(value, 1)

        for call in (lambda: fails(3), lambda: asyncio.run(fails_later(3))):
            with pytest.raises(TypeError, match="len") as caught:
                call()

            assert not isinstance(caught.value, CallError)

    def test_are_told_of_strategies_of_your_own(self):
        """
        Attrs wrote their construction; one written by hand keeps its own.
        """

        @frozen(repr=False)
        class Newest(Strategy):
            last: int

            def __call__(self, view, ctx, /):
                return view.tail(self.last)

        @frozen(init=False, repr=False)
        class ByHand(Newest):
            def __init__(self, last):
                super().__init__(last + 1)

        assert "Newest: there is no `limit`; write `last`" == refusal(lambda: Newest(limit=3))
        assert 4 == ByHand(3).last
        assert attrs.evolve(Newest(3), last=4) == Newest(4)

    def test_keep_the_signatures(self):
        """
        For help, for editors, and for whoever asks whether it is awaited.
        """
        assert ["before", "last", "retracted"] == list(inspect.signature(MEMORY.entries).parameters)
        assert "last" in inspect.signature(Window).parameters
        assert inspect.iscoroutinefunction(AsyncMemory.entries)
        assert not inspect.iscoroutinefunction(Memory.entries)
        assert "Memory.entries" == Memory.entries.__qualname__
        assert Memory.entries.__doc__.strip().startswith("The transcript as it was appended")


class TestAttributes:
    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    @pytest.mark.parametrize(
        ("wrong", "right"),
        [
            ("add", "append"),
            ("add_user_message", "append"),
            ("save_context", "append"),
            ("appendd", "append"),
            ("messages", "entries"),
            ("load_memory_variables", "context"),
            ("summarize", "compact"),
            ("search", "find"),
            ("undo", "revert"),
            ("remove", "retract"),
            ("reset", "clear"),
            ("branch", "fork"),
            ("save", "to_dict"),
            ("delete_thread", "store.delete(thread)"),
            ("token_count", "context().tokens"),
        ],
    )
    def test_of_other_libraries_are_told_ours(self, kind, wrong, right):
        """
        Of a memory, and of the class.
        """
        for owner in (kind(), kind):
            told = refusal(lambda owner=owner: getattr(owner, wrong), UnknownNameError)

            assert f"{kind.__name__}: there is no `{wrong}`; write `{right}`" == told

    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    def test_that_mean_nothing_are_attribute_errors(self, kind):
        """
        So `hasattr` and `getattr` with a default work.
        """
        memory = kind()

        assert not hasattr(memory, "xyzzy")
        assert not hasattr(kind, "xyzzy")
        assert 3 == getattr(memory, "xyzzy", 3)
        assert not hasattr(memory, "_xyzzy")
        assert not hasattr(kind, "_xyzzy")
        assert refusal(lambda: memory.xyzzy, AttributeError) == (
            f"{kind.__name__}: there is no `xyzzy`; help({kind.__name__}) lists what there is"
        )

    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    @pytest.mark.parametrize(
        "name", ["store", "thread", "budget", "count", "ask", "search", "retry_after"]
    )
    def test_that_are_given_at_the_start_cannot_be_set(self, kind, name):
        """
        Nobody would read what was set.
        """
        memory = kind()
        told = refusal(lambda: setattr(memory, name, tokens.words), AttributeError)

        assert told == (
            f"{kind.__name__}: `{name}` cannot be set; give it when the memory is made, as in "
            f"{kind.__name__}(…, {name}=…); only `strategy` may be assigned"
        )

    @pytest.mark.parametrize("name", ["budget", "count", "ask", "retry_after"])
    def test_that_are_given_at_the_start_cannot_be_read(self, name):
        """
        No method of a like name is meant.
        """
        told = f"Memory: there is no `{name}`; `{name}=` is given when a memory is made, "

        assert refusal(lambda: getattr(Memory(), name), AttributeError).startswith(told)

    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    def test_that_are_unknown_cannot_be_set(self, kind):
        """
        The nearest that can is told.
        """
        memory = kind()

        assert f"{kind.__name__}: `stratgy` cannot be set; write `strategy`" == refusal(
            lambda: setattr(memory, "stratgy", Window(2)), AttributeError
        )
        assert refusal(lambda: setattr(memory, "tenant", "acme"), AttributeError) == (
            f"{kind.__name__}: `tenant` cannot be set: there is no such attribute, and only "
            "`strategy` may be assigned; a subclass has more if its body names them, as in "
            "`tenant: str`"
        )
        memory.strategy = Window(2)
        assert chain(Window(2)) == memory.strategy

    @pytest.mark.parametrize("kind", [Memory, AsyncMemory])
    def test_of_a_subclass_are_those_that_it_names(self, kind):
        """
        By an annotation, a value, a property or an underscore.
        """

        class Named(ABC):
            @abstractmethod
            def shown(self):
                """
                What a screen calls it.
                """

        class Tenants(kind, Named):
            tenant: str
            region = "eu"

            def __init__(self, tenant):
                super().__init__()
                self.tenant = tenant
                self.region = "us"
                self._hidden = 1

            def shown(self):
                return f"{self.tenant} {self.region} {self._hidden}"

        memory = Tenants("acme")

        assert "acme us 1" == memory.shown()
        assert "Tenants: `plan` cannot be set: " in refusal(
            lambda: setattr(memory, "plan", 1), AttributeError
        )

    def test_of_guards_are_python_s_own(self):
        """
        Values have slots.
        """
        refusal(lambda: setattr(When(Over(tokens=3), Window(2)), "strategy", 3), AttributeError)
