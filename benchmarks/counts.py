"""
How often the counter is called: once for each message, however many turns count it again.

    python benchmarks/counts.py [--turns 400]

Target: 1.00 calls a message (a summary is a message too), and twice as many
turns make twice as many calls, where counting anew each turn makes four times
as many. The last column is what counting the whole log each turn would call.
"""

import argparse

from threads import BEYOND, SHAPES

from unabridged import Memory, Message, Summarize, TokenBudget, Window
from unabridged.contract import StrategyLike
from unabridged.tokens import Kept, words

STRATEGIES: dict[str, StrategyLike] = {
    "Window | TokenBudget": Window(40) | TokenBudget(2_000),
    "TokenBudget, low mark": TokenBudget(2_000, down_to=1_000),
    "Summarize, projected": Summarize(keep_tokens=2_000),
    "Summarize, written": Summarize(keep_tokens=2_000, replace=True),
}


def calls(strategy: StrategyLike, turns: int) -> tuple[int, int]:
    """
    How many messages there were, and how often the counter was called.
    """
    counted: list[Message] = []
    asked = 0

    def count(message: Message) -> int:
        counted.append(message)
        return words(message)

    def ask(_: object) -> str:
        nonlocal asked
        asked += 1
        return f"They talked about flights, {asked} times."

    memory = Memory(strategy=strategy, count=Kept(count), ask=ask)
    for turn in range(turns):
        new = (SHAPES["chat"](BEYOND + 2 * turn), SHAPES["chat"](BEYOND + 2 * turn + 1))
        memory.append(*new)
        _ = memory.context().tokens

    # an answer is counted as it came, and as the message that it became
    return 2 * turns + 2 * asked, len(counted)


def main() -> None:
    """
    Print a row for each strategy.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=100)
    turns = parser.parse_args().turns
    row = "{:24}{:>10}{:>10}{:>16}{:>16}{:>12}".format
    print(row("", "messages", "calls", "calls/message", f"{2 * turns}/{turns} turns", "each turn"))
    for name, strategy in STRATEGIES.items():
        messages, short = calls(strategy, turns)
        _, long = calls(strategy, 2 * turns)
        ratios = f"{short / messages:.2f}", f"{long / short:.2f}"
        print(row(name, messages, short, *ratios, turns * (turns + 1)))


if __name__ == "__main__":
    main()
