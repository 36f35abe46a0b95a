"""
What summaries cost: the calls of the model, the tokens it reads and writes, and what each gains.

    python benchmarks/summaries.py ../shared/data [--sets pi_coding tau_airline] [--runs 100]

Replays recorded agent sessions model call by model call, under several marks.
The summarizer is a fake that always writes as much as it may (`max_tokens`, or
half of what it reads where that is less), and every tenth time half as much
again, so that it has to be asked to shorten it: what a fold gains is so about
the least it can. For each setting: folds, parts (requests that show something),
calls, those of them to shorten, tokens read and written by the summarizer for
each token of the transcript, tokens sent to the agent's model for each that
sending all of the history would, and the least and the median share of the
view's tokens that a fold gained.

Targets: never more than one call for each part of a fold and one to shorten
it, and, with `min_gain=0.1`, never a fold that gains less than a tenth. It ends
with what was broken, if anything was. The first row of each set has no mark at
all, and is there to compare with.
"""

import argparse
import itertools
from pathlib import Path
from statistics import median

from attrs import define, field
from caching import SESSIONS, chats

from unabridged import Ask, Memory, Message, Summarize
from unabridged.telling import SHORTEN
from unabridged.tokens import exact, kept

LEAST = 0.1
SETTINGS: dict[str, tuple[Summarize, ...]] = {
    "pi_coding": (
        Summarize(keep_tokens=64_000, max_tokens=1_000),
        Summarize(keep_tokens=64_000, min_gain=0.1, max_tokens=1_000),
        Summarize(keep_tokens=64_000, down_to=32_000, min_gain=0.1, max_tokens=1_000),
        Summarize(
            keep_tokens=64_000, down_to=32_000, min_gain=0.1, max_tokens=1_000, window=16_000
        ),
        Summarize(keep_tokens=64_000, down_to=48_000, min_gain=0.1, max_tokens=1_000, tree=4),
        Summarize(keep_last=200, min_gain=0.1, max_tokens=1_000),
        Summarize(keep_last=200, down_to=100, min_gain=0.1, max_tokens=1_000),
        Summarize(keep_last=200, down_to=100, min_gain=0.1, max_tokens=1_000, tree=4),
        Summarize(keep_rounds=8, every=40, min_gain=0.1, max_tokens=1_000),
    ),
    "tau_airline": (
        Summarize(keep_tokens=3_000, max_tokens=200),
        Summarize(keep_tokens=3_000, min_gain=0.1, max_tokens=200),
        Summarize(keep_tokens=3_000, down_to=1_500, min_gain=0.1, max_tokens=200),
        Summarize(keep_tokens=3_000, down_to=1_500, min_gain=0.1, max_tokens=200, window=3_000),
        Summarize(keep_tokens=3_000, down_to=1_500, min_gain=0.1, max_tokens=200, tree=2),
        Summarize(keep_last=20, min_gain=0.1, max_tokens=200),
        Summarize(keep_last=20, down_to=10, min_gain=0.1, max_tokens=200),
        Summarize(keep_rounds=4, every=10, min_gain=0.1, max_tokens=200),
    ),
}


@define
class Model:
    """
    The fake, and what it was asked since it was last looked at.
    """

    limit: int
    calls: int = 0
    shortened: int = 0
    read: int = 0
    wrote: int = 0
    seen: set[str] = field(factory=set)
    again: int = 0
    turns: "itertools.count[int]" = field(factory=itertools.count)

    def __call__(self, ask: Ask) -> str:
        """
        As long an answer as is allowed.
        """
        self.calls += 1
        self.read += sum(map(COUNT, ask.messages))
        shorten = ask.prompt == SHORTEN
        self.shortened += shorten
        shown = ask.messages[1].text
        self.again += not shorten and shown in self.seen
        self.seen.add(shown)
        given = sum(COUNT(item.message) for item in ask.items)
        given += COUNT(ask.previous) if ask.previous else 0
        room = min(self.limit, given // 2) - 8  # what a message costs beside its words
        words = room if shorten or next(self.turns) % 10 else room * 3 // 2
        words = max(1, words)
        self.wrote += words

        return "word" + " word" * (words - 1)


COUNT = kept(exact())


@define
class Spent:
    """
    What a setting cost over all sessions.
    """

    model: Model
    folds: int = 0
    parts: int = 0
    told: int = 0
    sent: int = 0
    whole: int = 0
    gains: list[float] = field(factory=list)

    def replay(self, strategy: Summarize, messages: tuple[Message, ...]) -> None:
        """
        One session.
        """
        memory = Memory(strategy=strategy, ask=self.model, count=COUNT)
        self.model.seen.clear()
        size = before = 0
        for message in messages:
            if message.role == "assistant":
                calls, shortened = self.model.calls, self.model.shortened
                result = memory.context()
                self.sent, self.whole = self.sent + result.tokens, self.whole + size
                if result.notes:
                    self.folds += 1
                    self.gains.append(1 - result.tokens / before)
                self.parts += self.model.calls - calls - (self.model.shortened - shortened)
                before = result.tokens
            memory.append(message)
            size, before = size + COUNT(message), before + COUNT(message)
        self.told += size


def main() -> None:
    """
    Print a table for each set of sessions.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", default=Path("../shared/data"))
    parser.add_argument("--sets", nargs="*", choices=SESSIONS, default=list(SESSIONS))
    parser.add_argument("--runs", type=int, default=100)
    asked = parser.parse_args()
    row = "{:88}{:>6}{:>6}{:>6}{:>8}{:>7}{:>7}{:>8}{:>8}{:>8}".format
    broken = []
    for name in asked.sets:
        path = asked.folder / f"{name}.jsonl"
        if not path.is_file():
            print(f"skipped: there is no {path}")
            continue
        sessions = list(itertools.islice(chats(path), asked.runs))
        print(f"{name}: {SESSIONS[name]}, {sum(map(len, sessions)):,} messages")
        head = "folds", "parts", "calls", "shorten", "read", "wrote", "sent", "least", "median"
        print(row("", *head))
        for strategy in SETTINGS[name]:
            spent = Spent(Model(strategy.max_tokens or 0))
            for messages in sessions:
                spent.replay(strategy, messages)
            model, gains = spent.model, spent.gains or [0.0]
            shares = (model.read / spent.told, model.wrote / spent.told, spent.sent / spent.whole)
            print(
                row(
                    repr(strategy),
                    spent.folds,
                    spent.parts,
                    model.calls,
                    model.shortened,
                    *(f"{share:.2f}" for share in shares),
                    f"{min(gains):.1%}",
                    f"{median(gains):.1%}",
                )
            )
            if model.again:
                broken.append(f"{strategy!r}: {model.again} parts were asked for twice")
            if min(gains) < LEAST and strategy.min_gain:
                broken.append(f"{strategy!r}: a fold gained {min(gains):.1%}")
    print("\n".join(broken) or "every fold kept to its calls, and gained what it had to")


if __name__ == "__main__":
    main()
