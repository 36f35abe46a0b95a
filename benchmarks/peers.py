"""
What a turn costs here and with what people use today: one run, one table.

    pip install --group bench -e .
    python benchmarks/peers.py [--sizes 1_000 10_000 100_000 1_000_000]

A turn is two new messages and the context after them: `Window(40) |
TokenBudget(2_000)` here, a budget of 2,000 tokens or a window of 40 messages
there, on chats of so many messages; and a whole session of 1,000 turns. The
limit counts the two messages, appends them, scans kept counts from the tail
and builds the list. Each cell is the median of as many turns as fit in three
seconds, in processor time; what takes over 30 s for one turn, or for the
session, is shown as such and left out at larger sizes. In memory, one thread.
The time-outs need a system with `signal.setitimer`.

Targets: within 3 times the limit; at 10,000 messages 1,000 times faster than
`trim_messages` with tiktoken and 100 times faster than the fastest peer that
holds a budget and keeps its history; at most 1.2 times slower on the longest
chat than on the shortest; a session counts at most 1.3 times its messages.
"""

import argparse
import itertools
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from time import thread_time
from typing import NamedTuple

from counts import calls
from peer_contexts import PEERS, Chat, Said
from threads import BEYOND, DISTINCT, SHAPES, filled, words
from turn import STRATEGY, WARM, least, medians, ours

from unabridged import user
from unabridged.stores import InMemoryStore
from unabridged.tokens import exact

PATIENCE, ENOUGH, SESSION, COMPARED = 30, 3.0, 1_000, 10_000
OVER, ABSENT, SKIPPED = float("inf"), -1.0, -2.0
FULL = "budget, history"


class Row(NamedTuple):
    """
    A line of the table: seconds a turn for each size, and of a session.
    """

    name: str
    holds: str
    times: list[float]
    session: float


class TooLongError(Exception):
    """
    It took longer than anybody would wait.
    """


@contextmanager
def patience() -> Iterator[None]:
    """
    Give up after 30 s of processor time.
    """

    def stop(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def said(seq: int) -> Said:
    """
    What is said at this place of a chat, as in `threads`.
    """
    return ("user" if seq % 2 else "assistant"), words(seq)


def past(size: int) -> list[Said]:
    """
    The chat so far; its texts come back after a while, to save memory.
    """
    known = [said(seq) for seq in range(1, DISTINCT + 1)]

    return [known[seq % DISTINCT] for seq in range(size)]


def a_turn(make: Callable[[list[Said]], Chat], size: int) -> float:
    """
    Seconds of a turn on a chat of this size.
    """
    try:
        chat = make(past(size))
    except ImportError:
        return ABSENT
    times: list[float] = []
    began = thread_time()
    try:
        while len(times) < 2 * WARM and (len(times) < 1 or thread_time() - began < ENOUGH):
            seqs = (BEYOND + 2 * len(times) + 1, BEYOND + 2 * len(times) + 2)
            new = [chat.say(*said(seq)) for seq in seqs]
            with patience():
                start = thread_time()
                chat.turn(new)
                times.append(thread_time() - start)
    except TooLongError:
        return OVER

    return median(times[len(times) // 3 :])


def a_session(make: Callable[[list[Said]], Chat]) -> float:
    """
    Seconds of a whole session.
    """
    try:
        chat = make([])
    except ImportError:
        return ABSENT
    pairs = [
        [chat.say(*said(BEYOND + 2 * turn + place)) for place in (1, 2)] for turn in range(SESSION)
    ]
    try:
        with patience():
            start = thread_time()
            for new in pairs:
                chat.turn(new)
    except TooLongError:
        return OVER

    return thread_time() - start


def theirs(sizes: list[int]) -> Iterator[Row]:
    """
    A row for each peer.
    """
    for peer in PEERS:
        times: list[float] = []
        for size in sizes:
            known = times[-1] if times else 0.0
            times.append(SKIPPED if known in {OVER, SKIPPED} else a_turn(peer.make, size))
        holds = f"{'budget' if peer.budget else 'window'}{', history' if peer.keeps else ''}"
        yield Row(peer.name, holds, times, a_session(peer.make))


def own(sizes: list[int]) -> tuple[Row, Row]:
    """
    The limit and ours, turn by turn side by side.
    """
    costs: list[dict[str, float]] = []
    for size in sizes:
        runs = {}
        for name, make in (("limit", least), ("ours", ours)):
            store = InMemoryStore()
            filled(store, "chat", size)
            runs[name] = make(store)
        costs.append(medians(runs, "chat", 400))
    sessions: dict[str, float] = {}
    for name, make in (("limit", least), ("ours", ours)):
        turn = make(InMemoryStore())
        pairs = [[SHAPES["chat"](BEYOND + 2 * t + i) for i in (1, 2)] for t in range(SESSION)]
        start = thread_time()
        for new in pairs:
            turn(new)
        sessions[name] = thread_time() - start
    names = {"limit": "the limit: a scan over kept counts", "ours": "**unabridged**"}

    limit, mine = (
        Row(title, FULL, [cost[name] / 1e6 for cost in costs], sessions[name])
        for name, title in names.items()
    )

    return limit, mine


def counting() -> float:
    """
    Seconds to count each message of a session once.
    """
    count = exact()
    count(user("loads the vocabulary"))
    messages = [SHAPES["chat"](BEYOND + seq) for seq in range(2 * SESSION)]
    start = thread_time()
    for message in messages:
        count(message)

    return thread_time() - start


def told(seconds: float) -> str:
    """
    A time as people read it.
    """
    special = {OVER: f"> {PATIENCE} s", ABSENT: "not installed", SKIPPED: "-"}
    if seconds in special:
        return special[seconds]
    units = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
    unit, scale = next((unit for unit in units if seconds >= unit[1]), units[-1])
    digits = max(0, 2 - len(str(int(seconds / scale))))

    return f"{seconds / scale:,.{digits}f} {unit}"


def verdicts(sizes: list[int], limit: Row, mine: Row, others: list[Row]) -> None:
    """
    Print what came of each target.
    """
    pairs = zip(mine.times, limit.times, strict=True)
    once, (messages, counted) = counting(), calls(STRATEGY, SESSION)
    print(f"\nof the limit: {', '.join(f'{us / low:.2f}' for us, low in pairs)} times")
    if COMPARED in sizes:
        at = sizes.index(COMPARED)
        full = [row for row in others if row.holds == FULL and 0 < row.times[at] < OVER]
        for title, rows in (("trim_messages", others[:1]), ("the fastest with both", full)):
            if rows and (best := min(rows, key=lambda row: row.times[at])).times[at] > 0:
                ratio = best.times[at] / mine.times[at]
                print(f"at {COMPARED:,} faster than {title} ({best.name}): {ratio:,.0f} times")
    print(f"longest chat over shortest: {mine.times[-1] / mine.times[0]:.2f}")
    print(f"session: {counted:,} counts of {messages:,} messages, {counted / messages:.2f} times;")
    print(
        f"in time {mine.session / once:.1f} times counting alone (limit {limit.session / once:.1f})"
    )


def main() -> None:
    """
    Print the table, and then the targets.
    """
    parser = argparse.ArgumentParser()
    sizes = [1_000, 10_000, 100_000, 1_000_000]
    parser.add_argument("--sizes", type=int, nargs="*", default=sizes)
    sizes = parser.parse_args().sizes
    titles = [f"{size:,}" for size in sizes]
    print(f"| a turn on a chat of | holds | {' | '.join(titles)} | {SESSION:,} turns |")
    print("| --- | --- |" + " ---: |" * (len(sizes) + 1))
    limit, mine = own(sizes)
    others: list[Row] = []
    for place, row in enumerate(itertools.chain((mine, limit), theirs(sizes))):
        others += [row] if place > 1 else []
        cells = [*map(told, row.times), told(row.session)]
        print(f"| {row.name} | {row.holds} | {' | '.join(cells)} |", flush=True)
    verdicts(sizes, limit, mine, others)


if __name__ == "__main__":
    main()
