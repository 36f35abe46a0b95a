"""
Rules of media: what a picture, a document or a sound has to hold.

Each rule is one function over a conversation as a provider sees it.
"""

from collections.abc import Iterator, Sequence

from unabridged.formats.media_data import fault_of
from unabridged.formats.provider import Provider
from unabridged.formats.turns import Problem, Seen
from unabridged.messages import Part, ToolResult

__all__ = ["FORMS", "media_hold_data"]

FORMS = {"mistral": "openai_chat"}  # whose parts an API without a format of its own takes


def media_hold_data(seen: Sequence[Seen], api: Provider) -> Iterator[Problem]:
    """
    Every picture, document and sound holds data, and base64 where it says so.

    `ImageSourceBytesBlob` has a minimum of 1 (Bedrock,
    https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageSource.html);
    "image cannot be empty" and the four types of pictures (Anthropic,
    https://docs.anthropic.com/en/docs/build-with-claude/vision); "Invalid
    'messages[0].content[0].image_url.url'" (OpenAI); "required oneof field 'data'
    must have one initialized field" (Gemini).

    >>> from unabridged.formats import openai_chat, problems
    >>> empty = {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}
    >>> turns = [{"role": "user", "content": [{"type": "text", "text": "Look:"}, empty]}]
    >>> [(p.rule, p.seq) for p in problems(openai_chat.load(turns), "openai_chat")]
    [('empty media', 1)]
    """
    name = FORMS.get(api.name, api.name)
    for turn in seen:
        for part, seq in zip(turn.parts, turn.seqs, strict=True):
            inside: tuple[Part, ...] = part.content if isinstance(part, ToolResult) else (part,)
            role = "tool" if isinstance(part, ToolResult) else turn.message.role
            for one in inside:
                if not api.left_out(one, role) and (fault := fault_of(one, name)):
                    yield Problem("empty media", seq, fault)
