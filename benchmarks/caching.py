"""
What a cut does to a provider's prompt cache, and what that costs.

    python benchmarks/caching.py ../shared/data [--prices 2.00 0.50]

Replays recorded agent sessions model call by model call: before each message
of the assistant a context is made, as an agent would. For each strategy: the
calls, the tokens sent, the share of them that are an unchanged prefix of the
call before, how often that prefix broke, what a summarizer was sent besides,
and the money under each price list. The summarizer is a fake that answers at
once. Money is for input alone, as if all of an unchanged prefix were cached
and nothing else; a summarizer's input never is. Target: on the coding session
`TokenBudget(64_000, down_to=32_000)` sends at least 95% unchanged.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from unabridged import (
    Ask,
    ClearToolResults,
    Deduplicate,
    MaxRounds,
    Memory,
    Message,
    NoCompaction,
    Summarize,
    TokenBudget,
    Window,
    chain,
)
from unabridged.contract import StrategyLike
from unabridged.formats import openai_chat
from unabridged.tokens import exact, kept


class Price(NamedTuple):
    """
    Dollars for a million tokens of input: *fresh*, and those read from the cache.
    """

    model: str
    fresh: float
    cached: float


# from genai-prices 0.2.3 (github.com/pydantic/genai-prices), read in November 2026;
# what is fresh is written to the cache, which Anthropic bills at 3.75 instead of 3.00
PRICES = (
    Price("gpt-5", 1.25, 0.125),
    Price("gpt-4.1", 2.00, 0.50),
    Price("sonnet-4.5", 3.75, 0.30),
)

SESSIONS = {"pi_coding": "a coding agent", "tau_airline": "a support agent"}
STRATEGIES: dict[str, tuple[StrategyLike, ...]] = {
    "pi_coding": (
        NoCompaction(),
        Window(40),
        Window(40, down_to=20),
        MaxRounds(10),
        MaxRounds(10, down_to=5),
        TokenBudget(64_000),
        TokenBudget(64_000, down_to=32_000),
        Window(400) | TokenBudget(64_000),
        Window(400, down_to=200) | TokenBudget(64_000, down_to=32_000),
        Summarize(keep_tokens=64_000),
        Summarize(keep_tokens=64_000, down_to=32_000),
        ClearToolResults(10),
        ClearToolResults(10, at_least=20_000),
        ClearToolResults(10, at_least=20_000, inputs=True),
        Deduplicate(),
        chain(
            ClearToolResults(10, at_least=20_000, inputs=True),
            TokenBudget(64_000, down_to=32_000),
        ),
    ),
    "tau_airline": (
        NoCompaction(),
        Window(10),
        Window(10, down_to=5),
        MaxRounds(4),
        MaxRounds(4, down_to=2),
        TokenBudget(3_000),
        TokenBudget(3_000, down_to=1_500),
        Window(20, down_to=10) | TokenBudget(3_000, down_to=1_500),
        Summarize(keep_tokens=3_000),
        Summarize(keep_tokens=3_000, down_to=1_500),
        ClearToolResults(),
        ClearToolResults(at_least=1_000),
    ),
}
SUMMARY = "They tried it, and noted what is open."


class Spent(NamedTuple):
    """
    What a replay sent, in tokens, over so many calls.
    """

    calls: int
    sent: int
    same: int
    broken: int
    asked: int

    @property
    def share(self) -> float:
        """
        The part of what was sent that was the beginning of the call before.
        """
        return self.same / self.sent

    def dollars(self, price: Price) -> float:
        """
        What the input costs.
        """
        fresh = self.sent - self.same + self.asked

        return (fresh * price.fresh + self.same * price.cached) / 1e6


def chats(path: Path) -> Iterator[tuple[Message, ...]]:
    """
    The recorded sessions of a file.
    """
    for line in path.read_text("utf-8").splitlines():
        yield openai_chat.load(json.loads(line)["messages"])


def replay(strategy: StrategyLike, sessions: list[tuple[Message, ...]]) -> Spent:
    """
    What the strategy sends in these sessions.
    """
    count = kept(exact())
    calls = sent = same = broken = asked = 0

    def ask(question: Ask) -> str:
        nonlocal asked
        asked += sum(map(count, question.messages))
        return SUMMARY

    for messages in sessions:
        memory = Memory(strategy=strategy, ask=ask, count=count)
        for message in messages:
            if message.role == "assistant":
                result = memory.context()
                calls, sent, same = calls + 1, sent + result.tokens, same + result.kept.tokens
                broken += result.kept.messages < result.kept.out_of
            memory.append(message)

    return Spent(calls, sent, same, broken, asked)


def main() -> None:
    """
    Print a table for each set of sessions.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", default=Path("../shared/data"))
    parser.add_argument("--prices", type=float, nargs=2, metavar=("FRESH", "CACHED"))
    parser.add_argument("--sets", nargs="*", choices=SESSIONS, default=list(SESSIONS))
    asked = parser.parse_args()
    prices = (Price("given", *asked.prices),) if asked.prices else PRICES
    row = ("{:62}{:>7}{:>13}{:>8}{:>8}{:>11}" + "{:>12}" * len(prices)).format
    for name in asked.sets:
        path = asked.folder / f"{name}.jsonl"
        if not path.is_file():
            print(f"skipped: there is no {path}")
            continue
        sessions = list(chats(path))
        print(f"{name}: {SESSIONS[name]}, {sum(map(len, sessions)):,} messages; dollars of input")
        print(
            row("", "calls", "tokens sent", "same", "breaks", "asked", *(p.model for p in prices))
        )
        for strategy in STRATEGIES[name]:
            spent = replay(strategy, sessions)
            told = f"{spent.sent:,}", f"{spent.share:.1%}", spent.broken, f"{spent.asked:,}"
            costs = [f"{spent.dollars(price):.2f}" for price in prices]
            print(row(repr(strategy), spent.calls, *told, *costs))


if __name__ == "__main__":
    main()
