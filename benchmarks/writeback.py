"""
What a write-back on a long thread writes: a record of ranges, not of numbers.

    python benchmarks/writeback.py [--entries 1_000_000]

Each row compacts a thread in a SQLite file for the first time and gives the
bytes of the record, and the time from the call to its return (which makes the
context as well), over the same on 1,000 entries. Target: neither grows with
the thread.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from threads import SHAPES, filled

from unabridged import Memory, Summarize, TokenBudget, Window, user
from unabridged.codec import record_to_json
from unabridged.contract import StrategyLike
from unabridged.json_values import json_of, json_text
from unabridged.stores import SqliteStore
from unabridged.tokens import exact

SHORT = 1_000
STRATEGIES: dict[str, StrategyLike] = {
    "Window": Window(40),
    "TokenBudget": TokenBudget(2_000),
    "cut, then Summarize": Window(400) | Summarize(40),
}
Size = Callable[[StrategyLike, str, int], "Cost"]


class Cost(NamedTuple):
    """
    Bytes of the record, and milliseconds.
    """

    size: int
    time: float


def cost(strategy: StrategyLike, shape: str, entries: int) -> Cost:
    """
    What the first write-back on a new thread costs.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        SqliteStore(Path(folder, "chat.db"), synchronous="OFF") as store,
    ):
        filled(store, shape, entries)
        memory = Memory(store, strategy=strategy, ask=lambda _: "They talked about flights.")
        memory.context(replace=False)  # loads and counts, which is not what is measured
        start = perf_counter()
        memory.compact()
        took = perf_counter() - start
        (record,) = store.read("default", marks=("decided",))

    return Cost(len(json_text(json_of(record_to_json(record)).value)), took * 1e3)


def main() -> None:
    """
    Print a row for each shape and strategy.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=10 * SHORT)
    parser.add_argument("--shapes", nargs="*", choices=SHAPES, default=list(SHAPES))
    asked = parser.parse_args()
    exact()(user("loads the vocabulary"))
    print(f"the first write-back, {asked.entries:,} entries against {SHORT:,}")
    row = "{:8}{:22}{:>8}{:>8}{:>9}{:>8}{:>8}{:>9}".format
    print(row("shape", "strategy", "bytes", "bytes", "ratio", "ms", "ms", "ratio"))
    for shape in asked.shapes:
        for name, strategy in STRATEGIES.items():
            short, long = (cost(strategy, shape, n) for n in (SHORT, asked.entries))
            sizes = short.size, long.size, f"{long.size / short.size:.2f}"
            times = f"{short.time:.2f}", f"{long.time:.2f}", f"{long.time / short.time:.2f}"
            print(row(shape, name, *sizes, *times))


if __name__ == "__main__":
    main()
