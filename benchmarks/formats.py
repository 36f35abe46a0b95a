"""
What loading and dumping a provider's turns costs, against what JSON alone does.

    python benchmarks/formats.py ../shared/data

For each set and the format it is in: messages, microseconds a message of
`json.loads` of the text of the turns, `load` as a multiple of it, and `dump`
as a multiple of `json.dumps`. Each is the median of several rounds, in which
all four run one after another, so that noise falls on all alike. Target: at
most 2 each. With `--profile NAME` it shows where a set's `load` spends its time.
"""

import argparse
import cProfile
import gc
import importlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from time import process_time
from types import ModuleType
from typing import Any

SETS = ("tau_airline", "pi_coding", "swe_agent", "crosswoz", "locomo")
FORMATS = {
    "chat": "openai_chat",
    "responses": "openai_responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "bedrock": "bedrock",
}
ROUNDS = 15
ENOUGH = 0.02  # seconds of a round, at the least
Bodies = list[list[dict[str, Any]]]


def sets(folder: Path) -> Iterator[tuple[str, str, Bodies]]:
    """
    The name of each set, the format it is in, and its lists of turns.
    """
    for name in SETS:
        yield name, "openai_chat", [body["messages"] for body in lines(folder / f"{name}.jsonl")]
    shapes = defaultdict(list)
    for body in lines(folder / "api_shapes.jsonl"):
        shapes[body["api"]].append(body["messages"])
    for api, bodies in shapes.items():
        yield f"api_shapes {api}", FORMATS[api], bodies


def lines(path: Path) -> list[dict[str, Any]]:
    """
    The objects of a file of JSON lines.
    """
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def seconds(act: Callable[[Any], object], things: Iterable[Any], times: int) -> float:
    """
    How long the processor takes to do this with all things, so many times.
    """
    start = process_time()
    for _ in range(times):
        for thing in things:
            act(thing)

    return process_time() - start


def row(form: ModuleType, bodies: Bodies) -> tuple[int, float, float, float]:
    """
    Messages, microseconds a message of `json.loads`, and the ratios of load and dump.
    """
    texts = [json.dumps(turns, ensure_ascii=False) for turns in bodies]  # as the files are written
    loaded = [form.load(turns) for turns in bodies]
    count = sum(map(len, loaded))
    times = max(1, round(ENOUGH / seconds(json.loads, texts, 1)))
    runs = ((json.loads, texts), (form.load, bodies), (json.dumps, bodies), (form.dump, loaded))
    rounds: list[list[float]] = []
    for _ in range(ROUNDS):
        gc.collect()
        rounds.append([seconds(act, things, times) for act, things in runs])
    alone = median(took[0] for took in rounds) / times / count * 1e6

    return (
        count,
        alone,
        median(took[1] / took[0] for took in rounds),
        median(took[3] / took[2] for took in rounds),
    )


def main() -> None:
    """
    Print one line for each set, or the profile of one.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", default=Path("../shared/data"))
    parser.add_argument("--profile", metavar="NAME")
    asked = parser.parse_args()
    if not asked.folder.is_dir():
        print(f"skipped: the transcripts are not at {asked.folder}")
        return
    print(
        "{:22}{:18}{:>9}{:>10}{:>8}{:>8}".format(
            "set", "format", "messages", "loads µs", "load", "dump"
        )
    )
    for name, module, bodies in sets(asked.folder):
        try:
            form = importlib.import_module(f"unabridged.formats.{module}")
        except ModuleNotFoundError:
            print(f"{name:22}{module:18}skipped: there is no such module yet")
            continue
        if asked.profile == name:
            cProfile.runctx(
                "for turns in bodies * 20: load(turns)",
                {},
                {"bodies": bodies, "load": form.load},
                sort="tottime",
            )
        elif not asked.profile:
            count, alone, load, dump = row(form, bodies)
            print(f"{name:22}{module:18}{count:>9,}{alone:>10.2f}{load:>8.2f}{dump:>8.2f}")


if __name__ == "__main__":
    main()
