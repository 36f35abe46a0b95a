"""
Digests of messages.
"""

import copy
import pickle

from hypothesis import given
from hypothesis import strategies as st

from unabridged import (
    Audio,
    Document,
    Image,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    assistant,
    tool,
    user,
)
from unabridged.tokens.digests import digest

UNLIKE = [
    user("a"),
    user(()),
    user("a", name="n"),
    user("a", id="n"),
    user("a", metadata={"n": 1}),
    assistant("a"),
    user(["a", "b"]),
    user("ab"),
    user(["a", Text("b", extra={"x": 1})]),
    user("x" * 600),
    user("x" * 601),
    user("y" * 600),
    user(["x" * 600, ""]),
    tool("a", call_id="1"),
    tool("a", call_id="1", is_error=True),
    tool("a", call_id="2"),
    tool([Image(url="u")], call_id="1"),
    assistant(calls=ToolCall("1", "a", {})),
    assistant(calls=ToolCall("1", "a", {"x": "y" * 900})),
    user(Image(url="u")),
    user(Image(data="u")),
    user(Image(url="u", width=3)),
    user(Document(url="u")),
    user(Audio(url="u")),
    assistant(Reasoning("a")),
    user(Opaque("a", {"b": 1})),
]


class TestDigest:
    def test_differs_where_messages_do(self):
        """
        Each part, role, name, id, metadata and extra is in it, short or long.
        """
        assert len(UNLIKE) == len({digest(message) for message in UNLIKE})

    def test_is_the_same_for_equal_messages(self):
        """
        Of copies, and of what was pickled; these do not carry it along.
        """
        for message in UNLIKE:
            made = digest(message)
            for other in (copy.deepcopy(message), pickle.loads(pickle.dumps(message))):
                assert message == other
                assert not hasattr(other, "_digest")
                assert made == digest(other)

    def test_of_a_text_of_a_class_of_its_own(self):
        """
        A text that marshal does not take has a digest too.
        """

        class Word(str):
            __slots__ = ()

        one, other = Message("user", (Text(Word("hi")),)), Message("user", (Text(Word("ho")),))
        assert digest(one) != digest(other)
        assert digest(one) == digest(Message("user", (Text(Word("hi")),)))

    @given(st.text(), st.text())
    def test_of_any_texts(self, one, other):
        """
        Two texts have the same digest if, and only if, their messages are equal.
        """
        messages = user(one), user(other)

        assert (messages[0] == messages[1]) == (digest(messages[0]) == digest(messages[1]))
