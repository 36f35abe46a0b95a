"""
How far off the estimate is, and what a count costs.

    python benchmarks/counting.py ../shared/data

For each set: messages, tokens of `exact()`, `rough` as a share of them, and
microseconds a message for tiktoken on the bare text, `exact()`, `rough` and
`kept`. Bare tiktoken counts the same values, one call for each. `exact()` is
toktok-rs where the extra `fast` is installed.

Where quicktok-v1 is installed, which holds the vocabularies of Llama 3 and
Qwen 3, a second table: what `for_model`, `exact()` and `rough` make of these
models' own tokens, message by message with the frame of their chat templates.
Claude and Gemini are not in it: their vocabularies are not public, and the
transcripts record no usage.

The last table: texts of a million characters, in seconds.
"""

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from unabridged import formats
from unabridged.messages import Message, Text, ToolCall, ToolResult
from unabridged.tokens import Kept, exact, for_model, rough
from unabridged.tokens.formula import Costs, total
from unabridged.tokens.texts import fast, measure_of
from unabridged.tokens.vocabulary import encoding

SETS = ("tau_airline", "pi_coding", "swe_agent", "crosswoz", "locomo")
FORMATS = {
    "anthropic": formats.anthropic,
    "bedrock": formats.bedrock,
    "chat": formats.openai_chat,
    "gemini": formats.gemini,
    "responses": formats.openai_responses,
}
ROUNDS = 3


def loaded(raw: dict[str, Any]) -> Message:
    """
    A message of the OpenAI chat form, well enough for counting.
    """
    text = raw.get("content") or ""
    if raw["role"] == "tool":
        return Message("tool", ToolResult(raw.get("tool_call_id") or "", text))
    calls = [
        ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in raw.get("tool_calls") or ()
    ]
    words = [Text(text)] if text else []

    return Message(raw["role"], [*words, *calls], name=raw.get("name"))


def values(message: Message) -> Iterator[str]:
    """
    The texts of a message that `exact` counts, without its role.
    """
    for part in message.parts:
        match part:
            case Text():
                yield part.text
            case ToolCall():
                yield from (part.id, part.name, part.arguments)
            case ToolResult():
                yield from (part.call_id, part.text)


def cost(count: Callable[[Any], object], things: list[Any]) -> float:
    """
    Microseconds a thing, the best of three rounds.
    """
    best = float("inf")
    for _ in range(ROUNDS):
        start = perf_counter()
        for thing in things:
            count(thing)
        best = min(best, perf_counter() - start)

    return best / len(things) * 1e6


def transcripts(folder: Path) -> Iterator[tuple[str, list[Message]]]:
    """
    The messages of each set, by its name; the request bodies of five APIs are one set.
    """
    shapes = [json.loads(line) for line in (folder / "api_shapes.jsonl").open(encoding="utf-8")]
    held = [FORMATS[shape["api"]].load(shape["messages"]) for shape in shapes]
    yield "api_shapes", [message for messages in held for message in messages]
    for name in SETS:
        lines = (folder / f"{name}.jsonl").read_text("utf-8").splitlines()
        yield name, [loaded(raw) for line in lines for raw in json.loads(line)["messages"]]


def speed(folder: Path) -> None:
    """
    Print the first table.
    """
    encode, count = encoding("o200k_base").encode_ordinary, exact()
    print(f"exact() is {'toktok-rs' if fast('o200k_base') else 'tiktoken'}")
    titles = ("set", "messages", "tokens", "rough", "bare", "exact", "rough µs", "kept")
    print("{:12}{:>10}{:>10}{:>8}{:>9}{:>9}{:>10}{:>8}".format(*titles))
    for name, messages in transcripts(folder):
        texts = [list(values(message)) for message in messages]
        tokens = sum(map(count, messages))
        share = sum(map(rough, messages)) / tokens
        bare = cost(lambda held: sum([len(encode(text)) for text in held]), texts)
        costs = [cost(counter, messages) for counter in (count, rough, Kept(count))]
        row = f"{name:12}{len(messages):>10,}{tokens:>10,}{share:>8.3f}{bare:>9.2f}"
        print(row + "{:>9.2f}{:>10.2f}{:>8.2f}".format(*costs))


def others(folder: Path) -> None:
    """
    Print the second table, if there is what it needs.
    """
    try:
        quicktok = importlib.import_module("quicktok")
    except ImportError:
        print("\nLlama 3 and Qwen 3: not measured, quicktok-v1 is not installed")
        return
    print("\nshare of the model's own tokens")
    print(f"{'set':12}{'model':>8}{'tokens':>10}{'for_model':>11}{'exact':>8}{'rough':>8}")
    for model, vocabulary in (("llama", "llama3"), ("qwen", "qwen3")):
        encode = quicktok.get_encoding(vocabulary).encode_ordinary
        own = Costs(lambda text: len(encode(text)), lambda text: len(encode(text)), message=4)  # noqa: B023  used at once
        for name, messages in transcripts(folder):
            true = sum(total(message, own) for message in messages)
            counters = (for_model(model), exact(), rough)
            shares = [sum(map(counter, messages)) / true for counter in counters]
            print(f"{name:12}{model:>8}{true:>10,}" + "{:>11.3f}{:>8.3f}{:>8.3f}".format(*shares))


def large() -> None:
    """
    Print the third table: time is to grow as the text does.
    """
    kinds = {"one letter": "a", "spaces": " ", "line ends": "\n", "signs": "=", "Chinese": "文"}
    kinds |= {"marks": "e\u0301\u0301\u0301", "emoji": "👩‍👩‍👧", "base64": "iVBORw0KGgo+x/9"}
    print(f"\n{'text':12}{'tokens':>10}{'1 MB s':>9}{'4 MB s':>9}")
    count = measure_of("o200k_base")
    for name, unit in kinds.items():
        texts = [unit * (size // len(unit)) for size in (1_000_000, 4_000_000)]
        taken = [cost(count, [text]) / 1e6 for text in texts]
        print(f"{name:12}{count(texts[0]):>10,}" + "{:>9.2f}{:>9.2f}".format(*taken))


def main() -> None:
    """
    Print the tables for the sets in the folder.
    """
    folder = Path(sys.argv[1])
    speed(folder)
    others(folder)
    large()


if __name__ == "__main__":
    main()
