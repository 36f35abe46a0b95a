"""
What a turn costs: `append` of two messages plus `context()`, against the least it could cost.

    python benchmarks/turn.py                                  # in memory, up to 1,000 entries
    python benchmarks/turn.py --entries 1_000_000 --store sqlite --synchronous OFF

The least is measured in the same run, turn by turn beside ours: count the two
new messages with the same counter, append them to the same kind of store, scan
kept counts from the tail until the budget is full, build the list of messages.
Targets, for each shape of thread: at most 3 times the least, and at most 1.2
times slower on 1,000,000 entries than on 1,000. SQLite's default, FULL, waits
for the disk, which hides what we cost; so look at OFF too.
"""

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter

from threads import BEYOND, SHAPES, filled, opened

from unabridged import Memory, Message, TokenBudget, Window
from unabridged.records import Appended
from unabridged.stores import Store
from unabridged.tokens import Kept, exact

Turn = Callable[[list[Message]], object]
BUDGET = 2_000
STRATEGY = Window(40) | TokenBudget(BUDGET)
SHORT, WARM = 1_000, 60


def ours(store: Store) -> Turn:
    """
    A turn as a user of the library makes it.
    """
    memory = Memory(store, strategy=STRATEGY, count=Kept(exact()))  # no counts of another run

    def turn(new: list[Message]) -> object:
        memory.append(*new)
        return memory.context().messages

    return turn


def least(store: Store) -> Turn:
    """
    A turn that does only what every turn has to do.
    """
    count = exact()
    known: list[tuple[Message, int]] = []

    def turn(new: list[Message]) -> object:
        known.extend([(message, count(message)) for message in new])
        store.append("default", [Appended(0, message) for message in new])
        left, place = BUDGET, len(known)
        while place and (left := left - known[place - 1][1]) >= 0:
            place -= 1
        return [message for message, _ in known[place:]]

    return turn


def medians(runs: dict[str, Turn], shape: str, turns: int) -> dict[str, float]:
    """
    Microseconds a turn of each, taken in turns so that noise falls on all alike.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(WARM + turns):
        seqs = (BEYOND + 2 * turn, BEYOND + 2 * turn + 1)
        order = list(runs) if turn % 2 else list(runs)[::-1]
        for name in order:
            new = [SHAPES[shape](seq) for seq in seqs]
            start = perf_counter()
            runs[name](new)
            times[name].append(perf_counter() - start)

    return {name: median(taken[WARM:]) * 1e6 for name, taken in times.items()}


def main() -> None:
    """
    Print a row for each shape.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=SHORT)
    parser.add_argument("--store", choices=("memory", "sqlite"), default="memory")
    parser.add_argument("--synchronous", default="FULL")
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument("--shapes", nargs="*", choices=SHAPES, default=list(SHAPES))
    asked = parser.parse_args()
    print(f"{asked.store}, {asked.entries:,} entries against {SHORT:,}, {asked.turns} turns, µs")
    row = "{:8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>12}".format
    print(row("shape", "least", "short", "ratio", "long", "ratio", "long/short"))
    for shape in asked.shapes:
        with opened(asked.store, asked.synchronous) as new:
            stores = {"least": new(), "short": new(), "long": new()}
            for name, store in stores.items():
                filled(store, shape, asked.entries if name == "long" else SHORT)
            runs = {n: (least if n == "least" else ours)(store) for n, store in stores.items()}
            took = medians(runs, shape, asked.turns)
        low, short, long = (round(took[name]) for name in stores)
        ratios = [
            f"{over / under:.2f}" for over, under in ((short, low), (long, low), (long, short))
        ]
        print(row(shape, low, short, ratios[0], long, *ratios[1:]))


if __name__ == "__main__":
    main()
