"""
What the contract of stores is checked with: odd messages, and a log in which all happens.
"""

from unabridged.json_values import Json
from unabridged.messages import (
    Audio,
    Document,
    Image,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    system,
    tool,
    user,
)
from unabridged.records import (
    Appended,
    Body,
    Compacted,
    Drop,
    Fold,
    Hold,
    Insert,
    Note,
    Noted,
    Pinned,
    Reverted,
)
from unabridged.spans import Span

__all__ = ["call", "eventful", "everything", "said", "with_id"]

ODD = 'caf\u00e9 \u65e5\u672c \U0001f600 \ud800 \udc00\ud800 \x00 \x7f \u2028 "quotes" \\ \r\n\t'


def said(*texts: str) -> list[Body]:
    """
    Appends of user messages.

    >>> said("hi")[0].message.text
    'hi'
    """
    return [Appended(0, user(text)) for text in texts]


def with_id(text: str, message_id: str) -> Body:
    """
    The append of a user message with an id.

    >>> with_id("hi", "m1").message.id
    'm1'
    """
    return Appended(0, user(text, id=message_id))


def call(*ids: str) -> Message:
    """
    An assistant's message with calls of these ids.

    >>> call("c1").tool_calls[0].id
    'c1'
    """
    return assistant(calls=[ToolCall(id_, "look") for id_ in ids])


def everything() -> tuple[Message, ...]:
    """
    A message of each kind, each part kind, with characters that stores stumble over.

    >>> len(everything())
    8
    """
    extra = Json('{"b": 1.50, "a": 10000000000000000000000, "c": "\\ud800\\u0000", "d": 1E+2}')
    inner = (
        Text(ODD),
        Image(url="https://example.org/a.png", extra=extra),
        Document(text=ODD, name="a.txt"),
        Audio(file="f1"),
        Opaque("p", [1, None]),
    )
    return (
        Message("user"),
        Message(
            "narrator", (Text(ODD, extra=extra), Text("")), name=ODD, metadata={ODD: [ODD, 0.1]}
        ),
        user(
            [
                Image("aGk=", media_type="image/png", detail="low", width=640, height=480),
                Document("aGk=", "https://example.org", file="f", media_type="application/pdf"),
                Audio("aGk=", "https://example.org", media_type="audio/wav", transcript=ODD),
            ]
        ),
        assistant(
            [
                Reasoning(ODD, signature="c2ln==", encrypted="ZW5j", extra=extra),
                ToolCall("c1", "look", '{"q": 1.50}', extra=extra),
                ToolCall("c2", "look"),
            ]
        ),
        Message("tool", ToolResult("c1", inner, is_error=True, extra=extra)),
        tool(call_id="c2"),
        Message("assistant", Opaque("provider", {"type": ODD, "n": [1, {"x": None}]}), extra=extra),
        user("x" * 100_000, id="m\x00\ud800\u00e9"),
    )


def eventful() -> tuple[list[Body], ...]:
    """
    Appends after each of which the state has something new to be right about.

    >>> len(eventful())
    17
    """
    return (
        [Appended(0, system("Be brief.")), *said("q1")],
        [Appended(0, call("c1", "c2")), Appended(0, tool("x", call_id="c2"))],
        said("interjection"),
        [Appended(0, assistant("a1")), Appended(0, user("keep", id="m1"), pinned=True)],
        [Noted((Note("cut", "Window(2)", {"first": 3}), Note("answer", "s", "old")))],
        [Compacted((Drop(Span.between(3, 4), reason="old", step="Window(2)"),), 8)],
        [Appended(0, tool("late", call_id="c1"))],
        said("q2", "q3"),
        [
            Compacted(
                (
                    Fold(Span.of([2, (5, 6)]), system("They talked."), step="Summarize()"),
                    Fold(Span.one(9), user("q2, reworded"), reason="shorter"),
                    Hold(Span.one(1), reason="recalled"),
                    Insert(system("It is Monday."), after=2),
                ),
                12,
            )
        ],
        [Appended(0, Message("assistant", Reasoning("hm"))), Appended(0, call("c1"))],
        [Pinned(Span.between(11, 12)), Appended(0, tool("x", call_id="c1"))],
        [Reverted(9)],
        [Reverted(18)],
        [Pinned(Span.one(7), on=False), Noted((Note("cut", "Window(2)", {"first": 5}),))],
        [Compacted((Drop(Span.of([10]), reason="by hand", step="memory.retract"),), 21)],
        [Reverted(13), *said("q4")],
        [Reverted(22), Appended(0, assistant("done", metadata={"n": 1}))],
    )
