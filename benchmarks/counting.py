"""
How far off the estimate is, and what a count costs.

    python benchmarks/counting.py ../shared/data

For each set: messages, tokens of `exact()`, `rough` as a share of them, and
microseconds a message for tiktoken on the bare text, `exact()`, `rough` and
`kept`. Bare tiktoken counts the same values, one call for each.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from unabridged.messages import Message, Text, ToolCall, ToolResult
from unabridged.tokens import Kept, exact, rough
from unabridged.tokens.vocabulary import encoding

SETS = ("tau_airline", "pi_coding", "swe_agent", "crosswoz", "locomo")
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


def main() -> None:
    """
    Print one line for each set found in the folder.
    """
    folder = Path(sys.argv[1])
    encode, count = encoding("o200k_base").encode_ordinary, exact()
    titles = ("set", "messages", "tokens", "rough", "bare", "exact", "rough µs", "kept")
    sys.stdout.write("{:12}{:>10}{:>10}{:>8}{:>9}{:>9}{:>10}{:>8}\n".format(*titles))
    for name in SETS:
        lines = (folder / f"{name}.jsonl").read_text("utf-8").splitlines()
        messages = [loaded(raw) for line in lines for raw in json.loads(line)["messages"]]
        texts = [list(values(message)) for message in messages]
        total = sum(map(count, messages))
        share = sum(map(rough, messages)) / total
        bare = cost(lambda held: sum([len(encode(text)) for text in held]), texts)
        costs = [cost(counter, messages) for counter in (count, rough, Kept(count))]
        row = f"{name:12}{len(messages):>10,}{total:>10,}{share:>8.3f}{bare:>9.2f}"
        sys.stdout.write(row + "{:>9.2f}{:>10.2f}{:>8.2f}\n".format(*costs))


if __name__ == "__main__":
    main()
