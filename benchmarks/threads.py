"""
Threads to measure: three shapes of conversation, of any length, in stores of either kind.

Not a script: the others beside it import this.
"""

import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from unabridged import Message, ToolCall, assistant, tool, user
from unabridged.records import Appended
from unabridged.stores import InMemoryStore, SqliteStore, Store

__all__ = ["BEYOND", "DISTINCT", "SHAPES", "filled", "opened", "words"]

WORDS = ("we", "fly", "from", "Madrid", "to Lima", "on 24 May", "two seats", "by the window")
BATCH, DISTINCT = 10_000, 2_000
BEYOND = 10 * DISTINCT
"""No thread that is filled holds the texts of the messages from here on."""


def words(number: int) -> str:
    """
    A few words or many, the same ones for the same number.
    """
    chosen = random.Random(number)  # noqa: S311  no secret
    return f"{number}: {' '.join(chosen.choices(WORDS, k=chosen.randint(5, 70)))}"


def chat(seq: int) -> Message:
    """
    A user and an assistant in turns.
    """
    return user(words(seq)) if seq % 2 else assistant(words(seq))


def loop(seq: int) -> Message:
    """
    One question, then calls and their results for ever.
    """
    if seq == 1:
        return user("Which flights to Lima are there?")
    if seq % 2:
        return tool(words(seq), call_id=f"call_{seq // 2}")

    return assistant(calls=[ToolCall(f"call_{seq // 2}", "find", {"query": words(seq)})])


SHAPES: dict[str, Callable[[int], Message]] = {"chat": chat, "loop": loop, "pinned": chat}


def filled(store: Store, shape: str, entries: int) -> int:
    """
    Append so many messages, in batches; the texts come back after a while, to save memory.
    """
    made = cache(SHAPES[shape])
    entries |= 1  # so that a loop ends on a result
    for first in range(1, entries + 1, BATCH):
        seqs = range(first, min(first + BATCH, entries + 1))
        places = [seq if seq == 1 else 2 + (seq - 2) % DISTINCT for seq in seqs]
        bodies = [Appended(0, made(p), shape == "pinned" and p == 1) for p in places]
        store.append("default", bodies)

    return entries


@contextmanager
def opened(kind: str, synchronous: str) -> Iterator[Callable[[], Store]]:
    """
    What makes new stores of this kind, for as long as it is open.
    """
    if kind == "memory":
        yield InMemoryStore
        return
    with tempfile.TemporaryDirectory() as folder:
        stores: list[SqliteStore] = []

        def new() -> Store:
            stores.append(SqliteStore(Path(folder) / f"{len(stores)}.db", synchronous=synchronous))
            return stores[-1]

        yield new
        for store in stores:
            store.close()
