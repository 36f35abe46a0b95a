"""
Over the whole life of a thread: each message is told once at each level, and no fact is lost.
"""

import re

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from unabridged import Ask, Memory, Summarize, assistant, system, user
from unabridged.messages import Message
from unabridged.records import Noted
from unabridged.results import fold
from unabridged.testing import Log, call, replies, result, talk
from unabridged.testing.laws_of_summaries import coverage, covered_once
from unabridged.tokens import words
from unabridged.transcripts import PIECE, halves

FACT = re.compile(r"FACT-\d+")


class Numbered:
    """
    A model whose answers tell them apart; some fail, some are empty, as *faults* say in turn.
    """

    def __init__(self, faults=()):
        self.asked = {}
        self.meanwhile = None
        self.faults = list(faults)
        self.calls = 0

    def __call__(self, ask):
        self.calls += 1
        fault = self.faults[self.calls % len(self.faults)] if self.faults else ""
        if fault == "fails":
            raise TimeoutError
        if fault == "empty":
            return "  "
        if fault == "slow" and self.meanwhile:
            self.meanwhile()
        if fault == "long":
            return f"s{self.calls} " * 1_000
        self.asked[f"s{self.calls}"] = ask

        return f"s{self.calls}"


def echo(ask):
    """
    A model that says all facts it saw, and nothing else.
    """
    seen = f"{ask.previous.text if ask.previous else ''}\n{ask.transcript}"

    return " ".join(dict.fromkeys(FACT.findall(seen))) or "none"


def notes_of(memory):
    records = memory.store.read("default", marks=("noted",))

    return [
        note for record in records if isinstance(record.body, Noted) for note in record.body.notes
    ]


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=12),
    st.fixed_dictionaries(
        {
            "tree": st.sampled_from((None, 2, 3)),
            "every": st.integers(1, 4),
            "replace": st.booleans(),
            "window": st.sampled_from((None, 90)),
        }
    ),
    st.lists(st.sampled_from(("", "slow", "fails", "empty", "long")), max_size=3),
)
def test_each_message_is_told_once_at_each_level(rounds, options, faults):
    """
    Whatever failed in between, over all retrievals, while others append and summaries are written.
    """
    model = Numbered(faults)
    strategy = Summarize(3, prompt="Sum.", guard_size=False, max_tokens=9, **options)
    memory = Memory(strategy=strategy, count=words, ask=model)
    model.meanwhile = lambda: memory.append(user("are you there?"))
    number = 1
    for many in rounds:
        memory.append(*talk(many, number))
        number += many
        memory.context()
    view = memory.context(replace=False).view
    made = {note.value.value["text"]: note for note in notes_of(memory)}
    for item in view:
        for seq in item.sources if item.stands_in else ():
            times = [
                model.asked[text]
                for text, note in made.items()
                if any(seq in shown.sources for shown in model.asked[text].items)
                and seq in note.sources
            ]
            level = item.message.metadata.value["summary"].get("level", 0)
            assert level + 1 == len(times), (seq, times)


@pytest.mark.parametrize("tree", [2, 8, 32])
def test_what_the_log_keeps_no_note_of_is_not_told(tree):
    """
    Where the higher summaries fail, and fail again, no message is shown twice meanwhile.
    """
    shown = []
    fails = True

    def model(ask):
        if fails and any(item.wide for item in ask.items):
            raise TimeoutError
        shown.extend(item.first for item in ask.items if not item.wide)
        return "s"

    memory = Memory(strategy=Summarize(2, tree=tree, guard_size=False), count=words, ask=model)
    for number in range(80):
        memory.append(*talk(1, number))
        memory.context()
    fails = False
    last = memory.context()

    assert list(range(1, 159)) == shown
    assert ((), True) == (last.warnings, len(last.view) < 2 + 2 * tree)


SESSIONS = {
    "rolling": Summarize(keep_last=6),
    "in tokens": Summarize(keep_tokens=60, down_to=30),
    "every": Summarize(keep_rounds=3, every=5),
    "written back": Summarize(keep_last=6, replace=True),
    "in parts": Summarize(keep_last=6, down_to=2, window=150, prompt="Sum."),
    "in pieces": Summarize(keep_last=6, window=90, prompt="Sum."),
    "tree": Summarize(keep_last=6, tree=3),
    "tree, written back": Summarize(keep_last=6, tree=3, replace=True),
    "tree, in parts": Summarize(keep_last=40, down_to=4, tree=3, window=150, prompt="Sum."),
}


def session():
    """
    60 rounds with facts at the start, in the middle, at the end, in results, arguments and words.
    """
    yield from (system("Be brief."), user("FACT-0 opens."), assistant("Noted."))
    for number in range(1, 61):
        yield user(f"Round {number}." + (f" FACT-{number}" if number % 7 == 0 else ""))
        if number % 5 == 0:
            yield call(f"c{number}")
            long = "row " * (80 if number % 20 == 0 else 3)
            yield result(f"c{number}", f"{long} FACT-{100 + number} {long}")
        yield assistant(f"Done {number}." + (f" FACT-{200 + number}" if number % 11 == 0 else ""))


@pytest.mark.parametrize("strategy", SESSIONS.values(), ids=SESSIONS)
def test_planted_facts_reach_the_model_at_every_fold(strategy):
    """
    Each fact of what is folded is in the request, and so in the summary, after every turn.
    """
    asked = []

    def model(ask):
        asked.append(ask)
        return echo(ask)

    memory = Memory(strategy=strategy, count=words, ask=model)
    there = []
    for message in session():
        memory.append(message)
        there += FACT.findall(f"{message.text} {message.counted_text()}")
        if message.role != "assistant" or message.tool_calls:
            continue
        shown = memory.context()
        seen = set(FACT.findall("\n".join(m.counted_text() + m.text for m in shown.messages)))

        assert set(there) == seen
        assert () == shown.warnings
    covered_once(asked, memory.context(Summarize(1_000), replace=False).view)

    assert len(asked) > 3


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        (lambda old: [old[:-1]], "entry 4 was shown 0 times"),
        (lambda old: [old, old[:1]], "entry 1 was shown 2 times"),
        (lambda old: [old[:3], pieces(old[3])[:1]], "entry 4 was shown as 'a', it is 'a2'"),
    ],
    ids=["one less", "one twice", "a piece lost"],
)
def test_the_law_objects_to_what_was_not_shown_whole_once(shown, told):
    """
    To a step that folds all it should, and shows the model something else.
    """

    def careless(view, _):
        old = view[:-2]
        for items in shown(old):
            yield Ask(tuple(items))
        into = Message("system", "S", metadata={"summary": {}})

        return fold(view, old, into=into, reason="old")

    with pytest.raises(AssertionError, match=re.escape(told)):
        coverage(careless, Log.of(talk(3)))


def pieces(item):
    """
    The halves of an item, marked as the pieces that they are.
    """
    return [
        evolve(half, message=evolve(half.message, metadata={PIECE: str(number)}))
        for number, half in enumerate(halves(item))
    ]


def test_a_fact_of_an_earlier_summary_reaches_the_next():
    """
    Also one that another model, or a person, wrote into the log.
    """
    memory = Memory(strategy=Summarize(2, replace=True), count=words, ask=replies("FACT-1"))
    memory.append(user("FACT-1 and more"), assistant("Noted."), *talk(1))
    memory.context()
    memory.append(*talk(2, 2))
    seen = []

    def model(ask):
        seen.append(ask.messages[1].text)
        return echo(ask)

    second = Memory(memory.store, strategy=Summarize(2, model="another"), count=words, ask=model)
    second.context()

    assert seen[0].startswith('Summary so far:\n"FACT-1"\n')
    assert "FACT-1" == second.summary()
