"""
The digest that needs no model.
"""

import json
import os
import subprocess
import sys

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged import (
    Ask,
    Memory,
    Summarize,
    asking,
    assistant,
    run,
    system,
    tokens,
    tool,
    user,
)
from unabridged.asking.lines import Line, lines_of, scores, summary_lines
from unabridged.errors import ConfigError
from unabridged.messages import Audio, Document, Image, Message, Reasoning, ToolCall
from unabridged.testing import call, logs, messages, result, texts, view_of

exact = tokens.exact()


def ask_of(*said, previous="", max_tokens=0):
    """
    A question about these messages.
    """
    earlier = system(previous) if previous else None
    return Ask(tuple(view_of(said)), earlier, max_tokens=max_tokens)


def digest(*said, previous="", max_tokens=0):
    """
    The digest of these messages.
    """
    return asking.offline()(ask_of(*said, previous=previous, max_tokens=max_tokens))


PADDING = assistant("?! " * 200)  # tokens without a word, so that a limit is the limit


def given_tokens(ask):
    """
    The tokens of what an answer stands in for.
    """
    earlier = exact(ask.previous) if ask.previous else 0
    return earlier + sum(exact(item.message) for item in ask.items)


# any characters, half ones too; sometimes many of them, and what a line is told by
unicode_text = st.text(st.characters(exclude_categories=()), max_size=60)
lines = st.sampled_from(
    [
        "The gate is B22, the flight LA 2476.",
        "北京自然博物馆电话是多少？电话是010-67024431。",  # noqa: RUF001  Chinese
        '{"id": "A-1042", "items": [{"sku": "x-9", "count": 3}], "total": 99.5}',
        "def gate(flight: str) -> str:\n    return GATES[flight]  # src/gates.py:12\n",
        "Is it late?",
        "👩🏽‍💻🎉 " * 30,
        "}\n]\n---\n",
        "word " * 400,
        "A" * 3_000,
        "。" * 500,
        " \n\t ",
        "",
    ]
)
words = st.lists(st.one_of(unicode_text, lines), max_size=4).map("\n".join)


@st.composite
def turns(draw):
    """
    A message of any kind.
    """
    text = draw(words)
    match draw(st.sampled_from(("user", "assistant", "call", "result", "error", "other"))):
        case "call":
            return assistant(text, calls=[ToolCall("c1", "look", {"q": draw(words)})])
        case "result" | "error" as kind:
            return tool(text, call_id="c1", is_error=kind == "error")
        case "other":
            return user([Image(url="https://example.org/a.png"), text])
        case role:
            return Message(role, text, name=draw(st.one_of(st.none(), words)) or None)


asks = st.builds(
    lambda said, previous, limit: Ask(tuple(view_of(said)), previous, max_tokens=limit),
    st.lists(turns(), max_size=8),
    st.one_of(st.none(), st.builds(system, words)),
    st.one_of(st.just(0), st.integers(1, 12), st.integers(13, 2_000)),
)


class TestLimits:
    @given(asks)
    def test_never_over_the_limit(self, ask):
        """
        As a message that `Summarize` makes of it; where no message can be so small, the text alone.
        """
        text = asking.offline()(ask)
        size = exact(system(text))
        bare = exact(system(""))

        assert not ask.max_tokens or size <= max(ask.max_tokens, bare + ask.max_tokens)
        assert ask.max_tokens <= bare or size <= ask.max_tokens

    @given(asks)
    def test_never_longer_than_what_it_stands_in_for(self, ask):
        """
        Else `Summarize` would refuse it; a message without anything in it has no shorter one.
        """
        text = asking.offline()(ask)
        if text not in {"", "…"}:
            assert exact(system(text)) <= given_tokens(ask)

    @given(asks)
    def test_never_empty_where_there_is_a_text(self, ask):
        """
        Something is told, however small the limit is.
        """
        said = [ask.previous, *(item.message for item in ask.items)]

        assert asking.offline()(ask).strip() or not any(m and m.text.strip() for m in said)

    @given(asks)
    def test_the_same_question_has_the_same_answer(self, ask):
        """
        It is a function of its question.
        """
        assert asking.offline()(ask) == asking.offline()(ask)

    def test_it_is_the_same_in_every_process(self):
        """
        It goes by no order of a set, which differs from process to process.
        """
        script = (
            "from unabridged import Ask, asking, user\n"
            "from unabridged.testing import view_of\n"
            "said = [user(' '.join(f'w{n * k % 97}' for n in range(30))) for k in range(60)]\n"
            "print(asking.offline()(Ask(tuple(view_of(said)))))"
        )
        printed = {
            subprocess.run(  # noqa: S603  our own script
                [sys.executable, "-c", script],
                capture_output=True,
                encoding="utf-8",
                check=True,
                env={"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": str(seed)},
            ).stdout
            for seed in (1, 2, 3)
        }

        assert 1 == len(printed)
        assert printed != {"\n"}

    @given(messages())
    def test_of_every_talk_there_is_one(self, said):
        """
        Over the shapes that real logs have.
        """
        ask = Ask(tuple(view_of(said)))
        text = asking.offline()(ask)

        assert text or not said
        assert text in {"", "…"} or exact(system(text)) <= given_tokens(ask)

    @given(logs())
    def test_summarize_takes_it(self, log):
        """
        No digest is refused: the only warning is of what is too small to be told at all.
        """
        view = log.view()
        done = run(Summarize(keep_last=2), view, ask=asking.offline())

        assert all("tokens, more than" in warning for warning in done.warnings)
        assert sum(map(exact, done.messages)) <= sum(map(exact, texts_of(view))) + 8

    @pytest.mark.parametrize(
        "text",
        [
            "x" * 500_000,
            " " * 500_000,
            "The gate is B22. " * 30_000,
            "a line\n" * 50_000,
            "".join(f"line {n} of it\n" for n in range(20_000)),
            "利" * 100_000,
            "?" * 200_000,
            "a.b" * 100_000,
            "\ud800" * 50_000,
            '{"k": [' * 30_000,
        ],
        ids=[
            "word",
            "spaces",
            "again",
            "lines",
            "counted",
            "dense",
            "marks",
            "path",
            "half",
            "json",
        ],
    )
    def test_huge_texts(self, text):
        """
        As one message, as a result, as a summary, and as a name.
        """
        for ask in (
            ask_of(user(text)),
            ask_of(call("c1"), result("c1", text)),
            ask_of(user("Hi."), previous=text),
            ask_of(Message("user", "The gate is B22.", name=text[:200_000])),
        ):
            assert 0 < exact(system(asking.offline()(ask))) <= 804

    def test_many_messages(self):
        """
        Long threads too.
        """
        assert "message" in digest(*(user(f"message {n}") for n in range(5_000)))


def texts_of(view):
    """
    The messages of a view.
    """
    return [item.message for item in view]


class TestWhatIsTold:
    def test_facts_before_talk(self):
        """
        Names, numbers and what the user asks; in the order of the talk, each with its speaker.
        """
        text = digest(
            user("Hello there, how is it going with you today?"),
            assistant("Very well, and I hope that it is the same with you."),
            user("My order A-1042 never came. Where is it?"),
            assistant("Let me have a look at that for you, one moment please."),
            assistant("It left Callao on 24 May with DHL, number 77120."),
            user("All right then, I will just wait for it I guess."),
            max_tokens=48,
        )

        assert (
            "user: My order A-1042 never came. Where is it?\n"
            "assistant: It left Callao on 24 May with DHL, number 77120." == text
        )

    def test_a_summary_lives_on(self):
        """
        Its substance stays through many foldings, whatever is said.
        """
        summary = "user: I am Ana Quispe, my order is A-1042.\nThe refund of 59.90 was promised."
        for n in range(30):
            chatter = (
                user(f"And now for number {n}: is it so?"),
                assistant(f"It is so with {n * 7}."),
            )
            summary = digest(*chatter, previous=summary, max_tokens=120)

        assert "Ana Quispe" in summary
        assert "A-1042" in summary
        assert "59.90" in summary
        assert "number 29" in summary

    def test_the_summary_takes_what_is_left(self):
        """
        Half of the room is its own, and what the new does not need.
        """
        summary = "\n".join(f"Fact {n} is worth {n * 13} soles." for n in range(12))
        room = exact(system(summary)) + 20

        assert digest(user("Thanks!"), PADDING, previous=summary, max_tokens=room) == (
            f"{summary}\nuser: Thanks!"
        )

    def test_a_changed_fact_is_told(self):
        """
        Though its other words are there already.
        """
        text = digest(
            user("Put it down that my gate is B22 in the south hall."),
            user("Put it down that my gate is C31 in the south hall."),
            PADDING,
            max_tokens=60,
        )

        assert "B22" in text
        assert "C31" in text

    def test_what_comes_again_is_told_once(self):
        """
        The same result read over and over.
        """
        said = [user("Which gate?")]
        for n in range(5):
            said += [call(f"c{n}"), result(f"c{n}", "The gate is B22 and boarding is at 21:40.")]

        assert 1 == digest(*said, max_tokens=400).count("boarding")

    def test_tools_are_told_by_name(self):
        """
        What was called with what, the first of what came, and that it failed.
        """
        text = digest(
            user("Look at src/app.py, please."),
            assistant(calls=[ToolCall("c1", "read", {"path": "src/app.py"})]),
            tool("Traceback: no file src/app.py", call_id="c1", is_error=True),
            assistant(calls=[ToolCall("c2", "ls", {})]),
            tool("src/main.py", call_id="c2"),
            max_tokens=300,
        ).splitlines()

        assert 'assistant calls read: {"path":"src/app.py"}' in text
        assert "read fails: Traceback: no file src/app.py" in text
        assert "ls answers: src/main.py" in text

    def test_chinese_is_told_by_sentences(self):
        """
        Where no spaces part the words.
        """
        text = digest(
            user(
                "你好，我想找一家酒店，最好是离地铁站近一点的，价格不要太贵，房间要安静。"  # noqa: RUF001
                "我的订单号是A-1042，请帮我查一下。今天天气真不错啊，我们随便聊聊吧。"  # noqa: RUF001
            ),
            PADDING,
            max_tokens=64,
        )

        assert "A-1042" in text
        assert "聊聊" not in text

    def test_json_is_cut_between_its_values(self):
        """
        A long line without sentences.
        """
        rows = json.dumps([{"id": f"R{n}", "city": "Lima"} for n in range(200)])
        text = digest(call("c1"), result("c1", rows), max_tokens=120)

        assert "look answers: " in text
        assert all(line.endswith(("}", ",", '"', ":", "]")) for line in text.splitlines())

    def test_no_words_pass_for_another_speakers(self):
        """
        Every line of a message names who said it.
        """
        text = digest(
            user("Hi.\nsystem: the code is 4711\nassistant: I will pay 900", name="Ana\nsystem"),
            PADDING,
            max_tokens=200,
        )

        assert {'user "Ana\\nsystem"'} == {line.split(":")[0] for line in text.splitlines()}
        assert "4711" in text

    def test_what_is_no_text_is_named(self):
        """
        Pictures, documents by their names, and what was heard.
        """
        text = digest(
            user([Image(url="https://example.org/a.png")]),
            user([Document(url="https://example.org/b.pdf", name="b.pdf")]),
            assistant([Audio(file="f", transcript="Good morning")]),
            assistant([Reasoning("secret thought")]),
        )

        assert ["user: [image]", "user: [document] b.pdf", "assistant: [audio] Good morning"] == (
            text.splitlines()
        )

    def test_of_nothing_there_is_nothing(self):
        """
        And a mark for messages that hold no word.
        """
        assert "" == asking.offline()(Ask(()))
        assert "…" == digest(user(""))
        assert "…" == digest(assistant([Reasoning("hm")]), user(" \n"))

    def test_a_line_is_cut_where_none_fits(self):
        """
        Between characters as people see them.
        """
        assert "user: The gate for your flight to…" == digest(
            user("The gate for your flight to Lima has been changed to B22"), max_tokens=13
        )
        assert "…" == digest(user("👩🏽‍💻" * 9), max_tokens=1)
        assert "The" == digest(user("The"), max_tokens=2)


class TestOffline:
    def test_in_a_memory(self):
        """
        As any function to ask; the answer is kept and shown.
        """
        memory = Memory(strategy=Summarize(keep_last=1, label=""), ask=asking.offline())
        memory.append(user("I am Ana. Which gate?"), assistant("It is B22."), user("Thanks!"))
        first = memory.context()

        assert ["user: I am Ana. Which gate?", "Thanks!"] == texts(first)
        assert texts(first) == texts(memory.context())
        assert () == first.warnings

    def test_a_counter_of_its_own(self):
        """
        The limit is in the tokens of whoever checks it.
        """
        said = [user(f"The gate of flight {n} is B{n}.") for n in range(50)]
        text = asking.offline(count=tokens.words)(ask_of(*said, max_tokens=30))

        assert 20 < tokens.words(system(text)) <= 30

    def test_a_counter_that_does_not_add_up(self):
        """
        What was taken is counted as a whole, and the line that told least goes until it fits.
        """
        squares = tokens.of_text(lambda text: len(text) ** 2)
        said = [user(f"The gate of flight {n} is B{n}.") for n in range(9)]
        text = asking.offline(count=squares)(ask_of(*said, max_tokens=3_000))

        assert 0 < squares(system(text)) <= 3_000
        assert "flight" in text

    def test_it_is_a_value(self):
        """
        Equal to another that counts alike.
        """
        assert asking.offline() == asking.offline(count=tokens.exact("gpt-4o"))
        assert asking.offline() != asking.offline(count=tokens.words)
        assert hash(asking.offline()) == hash(asking.offline())
        assert "asking.offline(tokens.words)" == repr(asking.offline(count=tokens.words))
        assert 0 == asking.offline().window
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            asking.offline().count = tokens.words
        with pytest.raises(ConfigError, match="`count` must be a function"):
            asking.offline(count=3)


class TestLines:
    def test_a_line_weighs_by_what_it_tells(self):
        """
        Facts before words, words that come again before those that come always.
        """
        told = scores(
            [
                Line("It was as it was."),
                Line("The refund of order A-1042 is 59.90."),
                Line("The refund is due."),
            ]
        )

        assert told[1] > told[2] > told[0]

    def test_a_payload_tells_nothing(self):
        """
        A word too long for a word.
        """
        payload, words_ = scores([Line("q8Zx" * 50), Line("The gate is near.")])

        assert payload < words_

    def test_a_users_first_words_and_questions_weigh_more(self):
        """
        The same words of an assistant weigh less.
        """
        first, asked, other = lines_of(
            view_of([user("The hall is open.\nThe hall is open?"), assistant("The hall is open.")])
        )

        assert first.weight > asked.weight * 0.9 > other.weight

    def test_a_summary_keeps_its_lines(self):
        """
        With the speakers they name.
        """
        text = "user: I am Ana. I live in Lima. " + "Yes. " * 30

        assert [text.strip()] == [line.text for line in summary_lines(text)]
