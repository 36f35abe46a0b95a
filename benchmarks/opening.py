"""
What opening a thread costs: a SQLite file of 1,000,000 entries against one of 1,000.

    python benchmarks/opening.py [--entries 1_000_000]

Timed is what a process does that takes a chat up again: open the file, make a
memory, make the first context (which reads and counts the tail). The tokenizer
is loaded before, as it costs the same for either. Target, for each shape of
thread: at most 2 times as long. The same for a fork of the first shape's
thread, which shares all of it and holds one message more; and for making one.
"""

import argparse
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from threads import SHAPES, filled

from unabridged import Memory, TokenBudget, Window, user
from unabridged.stores import SqliteStore
from unabridged.tokens import Kept, exact

STRATEGY = Window(40) | TokenBudget(2_000)
SHORT, ROUNDS = 1_000, 15


def milliseconds(path: Path, thread: str = "default") -> float:
    """
    How long it takes to open the file and make a context; no counts are kept from before.
    """
    start = perf_counter()
    with SqliteStore(path) as store:
        memory = Memory(store, thread, STRATEGY, count=Kept(exact()))
        messages = memory.context().messages
        took = (perf_counter() - start) * 1e3
    if len(messages) <= 1:
        msg = f"{path.name}: a context of {len(messages)} messages"
        raise RuntimeError(msg)

    return took


def forking(path: Path, number: int) -> float:
    """
    How long it takes to open the file and fork its thread at the newest record.
    """
    start = perf_counter()
    with SqliteStore(path, synchronous="OFF") as store:
        fork = Memory(store).fork(f"fork {number}")
        took = (perf_counter() - start) * 1e3
        fork.append(user("And in the window?"))

    return took


def main() -> None:
    """
    Print a row for each shape.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=10 * SHORT)
    parser.add_argument("--shapes", nargs="*", choices=SHAPES, default=list(SHAPES))
    asked = parser.parse_args()
    exact()(user("loads the vocabulary"))
    print(f"opening and the first context, {asked.entries:,} entries against {SHORT:,}, ms")
    row = "{:8}{:>8}{:>8}{:>12}".format
    print(row("shape", "short", "long", "long/short"))

    def told(name: str, pairs: list[tuple[float, float]]) -> None:
        low, high = (median(times) for times in zip(*pairs, strict=True))
        print(row(name, f"{low:.2f}", f"{high:.2f}", f"{high / low:.2f}"))

    for shape in asked.shapes:
        with tempfile.TemporaryDirectory() as folder:
            short, long = Path(folder, "short.db"), Path(folder, "long.db")
            for path, entries in ((short, SHORT), (long, asked.entries)):
                with SqliteStore(path, synchronous="OFF") as store:
                    filled(store, shape, entries)
            told(shape, [(milliseconds(short), milliseconds(long)) for _ in range(ROUNDS)])
            if shape != asked.shapes[0]:
                continue
            rounds = range(ROUNDS)
            told("forking", [(forking(short, number), forking(long, number)) for number in rounds])
            forks = [f"fork {number}" for number in rounds]
            told(
                "a fork", [(milliseconds(short, fork), milliseconds(long, fork)) for fork in forks]
            )


if __name__ == "__main__":
    main()
