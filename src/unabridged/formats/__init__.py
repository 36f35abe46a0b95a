"""
The message forms of providers: load one, mend what needs it, send it to another.

Each module has the same four functions. `load(turns, system=None)` reads what an
API takes; `dump(messages)` gives it back, key for key; `request(messages)` gives
keyword arguments for that API's client, mended and typed; `reply(response)` reads what the
client gives back. `problems(messages, provider)` says what a provider would
refuse, `mend(messages, provider)` puts right what form alone can, `usage(response)`
says what any of them billed, and `detect` names an unknown form. What a module
does not know it keeps: a part as `Opaque`, a key in `extra` under the name of the format.

Which API can carry what (`left_out` in each format's module of parts decides,
and a test holds this table to it). What is left out is in the report of
`request` and `mend`, and stays in the log.

| part, as it is given            | Chat | Responses | Anthropic | Gemini | Bedrock |
| ------------------------------- | ---- | --------- | --------- | ------ | ------- |
| `Text`, `ToolCall`, `ToolResult`| yes  | yes       | yes       | yes    | yes     |
| `Image`: data                   | yes  | yes       | yes       | yes    | yes     |
| `Image`: https URL              | yes  | yes       | yes       | yes    | -       |
| `Image`: file id                | -    | yes       | yes       | -      | -       |
| `Document`: data                | yes  | yes       | yes       | yes    | yes     |
| `Document`: text                | yes  | yes       | yes       | yes    | yes     |
| `Document`: https URL           | -    | yes       | yes       | yes    | -       |
| `Document`: file id             | yes  | yes       | yes       | -      | -       |
| `Audio`: data                   | yes  | -         | -         | yes    | yes     |
| `Audio`: https URL              | -    | -         | -         | yes    | -       |
| `Audio`: file id                | -    | -         | -         | -      | -       |
| `Image` in a result: data       | -    | yes       | yes       | yes    | yes     |
| `Document` in a result: data    | -    | yes       | yes       | yes    | yes     |
| `Reasoning` of that API         | yes  | yes       | yes       | yes    | yes     |
| `Reasoning` of another API      | -    | -         | -         | -      | -       |
| `Opaque` of that API            | yes  | yes       | yes       | yes    | yes     |
| `Opaque` of another API         | -    | -         | -         | -      | -       |

Of other fields: a message's `name` is sent by Chat alone; `is_error` by Anthropic,
Gemini and Bedrock; a document's context and citations by Anthropic and Bedrock. The
legacy `function_call` and role "function" of Chat are calls and results everywhere.

A file id is one provider's: one that another format loaded is left out, and so is
a URL that only one provider can fetch: `s3://` but for Bedrock, `gs://` and Gemini's
Files API but for Gemini. Anthropic, Bedrock and OpenAI take pictures from users and
tools, not from an assistant.
"""

from unabridged.formats import anthropic, bedrock, gemini, openai_chat, openai_responses
from unabridged.formats.billing import usage
from unabridged.formats.detecting import detect
from unabridged.formats.mending import Mend, Mended, mend
from unabridged.formats.refusals import problems
from unabridged.formats.requests import (
    AnthropicRequest,
    BedrockRequest,
    ChatRequest,
    GeminiRequest,
    ResponsesRequest,
)
from unabridged.formats.turns import Problem

__all__ = [
    "AnthropicRequest",
    "BedrockRequest",
    "ChatRequest",
    "GeminiRequest",
    "Mend",
    "Mended",
    "Problem",
    "ResponsesRequest",
    "anthropic",
    "bedrock",
    "detect",
    "gemini",
    "mend",
    "openai_chat",
    "openai_responses",
    "problems",
    "usage",
]
