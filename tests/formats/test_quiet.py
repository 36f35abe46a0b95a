"""
Objects of the clients are read without a word on the terminal, whatever they hold.
"""

import warnings

import pytest

from unabridged import formats

MESSAGE = {
    "type": "message",
    "id": "m1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "hi", "annotations": []}],
}


def noisy(value):
    """
    The object, which pydantic would warn of: the claim would be empty without.
    """
    dump = getattr(value, "to_dict", value.model_dump)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dump()

    assert "Pydantic serializer warnings" in str(caught[0].message)

    return value


class TestReply:
    def test_reads_a_stream_of_responses(self):
        """
        The client builds its events unchecked, and parses their texts to types of yours.
        """
        pytest.importorskip("openai", reason="the extra `clients` is not installed")
        from openai.types import responses  # noqa: PLC0415  an optional dependency

        whole = responses.Response.construct(
            id="r1", status="completed", output=[MESSAGE], tools="none", model=5
        )
        event = responses.ResponseCompletedEvent.construct(
            type="response.completed", response=whole, sequence_number="first"
        )

        assert "hi" == formats.openai_responses.reply([noisy(event)])[0].text
        assert "hi" == formats.openai_responses.reply(noisy(whole))[0].text

    def test_reads_chunks_of_chat_completions(self):
        """
        Whole answers, too.
        """
        pytest.importorskip("openai", reason="the extra `clients` is not installed")
        from openai.types import chat  # noqa: PLC0415  an optional dependency

        said = {"index": 0, "finish_reason": "stop"}
        chunk = chat.ChatCompletionChunk.construct(
            id=5, choices=[{**said, "delta": {"role": "assistant", "content": "hi"}}]
        )
        whole = chat.ChatCompletion.construct(
            id=5, choices=[{**said, "message": {"role": "assistant", "content": "hi"}}]
        )

        assert "hi" == formats.openai_chat.reply([noisy(chunk)])[0].text
        assert "hi" == formats.openai_chat.reply(noisy(whole))[0].text

    def test_reads_messages_of_anthropic(self):
        """
        And what they bill.
        """
        pytest.importorskip("anthropic", reason="the extra `clients` is not installed")
        from anthropic import types  # noqa: PLC0415  an optional dependency

        whole = types.Message.construct(
            id=5, role="assistant", content=[{"type": "text", "text": "hi"}], usage="5"
        )

        assert "hi" == formats.anthropic.reply(noisy(whole))[0].text

    def test_reads_responses_of_gemini(self):
        """
        Its client checks what it builds; one built by hand may hold anything.
        """
        pytest.importorskip("google.genai", reason="the extra `clients` is not installed")
        from google.genai import types  # noqa: PLC0415  an optional dependency

        part = types.Part.model_construct(text="hi")
        content = types.Content.model_construct(role="model", parts=[part])
        candidate = types.Candidate.model_construct(
            content=content, index="first", finish_reason="STOP"
        )
        whole = types.GenerateContentResponse.model_construct(candidates=[candidate])

        assert "hi" == formats.gemini.reply(noisy(whole))[0].text
        assert "hi" == formats.gemini.reply([noisy(whole)])[0].text

    def test_reads_what_has_no_such_option(self):
        """
        Objects of other libraries with a `to_dict` or `model_dump` of their own.
        """

        class Plain:
            def to_dict(self):
                return {"content": [{"type": "text", "text": "hi"}]}

        class Dumped:
            def model_dump(self, *, mode, by_alias, exclude_none):
                return {"content": [{"type": "text", "text": "hi"}]}

        for response in (Plain(), Dumped()):
            assert "hi" == formats.anthropic.reply(response)[0].text
