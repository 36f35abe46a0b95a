"""
Clipping tool results, arguments and messages that are too long.
"""

import gc
import json
from types import SimpleNamespace

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from unabridged import (
    ClipArguments,
    ClipMessages,
    ClipToolResults,
    Image,
    Memory,
    Opaque,
    Reasoning,
    Sparing,
    Text,
    TokenBudget,
    ToolCall,
    assistant,
    chain,
    run,
    tool,
    user,
)
from unabridged.clips import MADE, Clip
from unabridged.contract import TrimContext
from unabridged.declared import from_data, to_data
from unabridged.errors import ConfigError, CountError
from unabridged.formats import mend, problems
from unabridged.formats.providers import PROVIDERS
from unabridged.messages import ToolResult
from unabridged.results import unchanged
from unabridged.testing import call, check_strategy, result, talk, texts, view_of
from unabridged.tokens import exact, from_client, of_text, quarter, words

WORDS = TrimContext(count=words)
LETTERS = TrimContext(count=of_text(len))
ROWS = " ".join(f"row{n}" for n in range(500))


def spoken(message):
    """
    A counter of words without the ids of calls.
    """
    return len(message.text.split()) + sum(len(c.arguments.split()) for c in message.tool_calls)


SPOKEN = TrimContext(count=spoken)


def seen(strategy, messages, context=SPOKEN, **options):
    """
    The messages that are left.
    """
    return run(strategy, view_of(messages, **options), context).messages


class Heard:
    """
    What a step was asked for.
    """

    def __init__(self) -> None:
        self.said = []


@frozen(repr=False)
class Shout(Clip):
    """
    A clip of one's own, which tells what it was asked for.
    """

    tokens: int
    pins: bool = False
    count: object = None
    replace: bool = False
    leans: object = ()
    heard: object = None

    def leans_on(self, view, item):
        return super().leans_on(view, item) if self.leans is None else self.leans

    def shortened(self, view, item, count, known):
        self.heard.said.append(item.message.text)
        return evolve(item.message, parts=(Text(item.message.text.upper()),)), {}


class TestClipToolResults:
    def test_shares_what_the_marker_leaves(self):
        """
        Both head and tail are there, in their proportion, where not all of both fits.
        """
        rows = " ".join(f"row{n}" for n in range(500))
        view = view_of([user("q"), call("c1"), result("c1", rows)])
        step = ClipToolResults(18, head=14, tail=4, count=words)
        text = run(step, view).messages[2].text

        assert ["row0 row1 row2 row3", "row498 row499"] == [
            line for line in text.split("\n") if "left out" not in line
        ]

    def test_has_nothing_to_do_where_all_results_are_short(self):
        """
        Exactly as long as the limit, shorter, none, or long words that are no result.
        """
        for messages in (
            [user("q"), call("c1"), result("c1", "one two three")],
            [user("q"), call("c1"), result("c1")],
            [user("one two three four"), assistant("one two three four")],
            [],
        ):
            view = view_of(messages)

            assert unchanged(view) == run(ClipToolResults(3), view, SPOKEN)

    def test_keeps_head_and_tail_with_a_marker_between(self):
        """
        The clipped result has as many tokens as it may have, and all else of it stays.
        """
        messages = [user("q"), call("c1"), result("c1", ROWS)]
        done = run(ClipToolResults(20, replace=True), view_of(messages), SPOKEN)
        clipped = done.messages[2]

        assert clipped.text == (
            "row0 row1 row2 row3 row4\n"
            "[… 491 tokens left out; the whole is entry 3 …]\n"
            "row496 row497 row498 row499"
        )
        assert 20 == spoken(clipped)
        assert tuple(messages[:2]) == done.messages[:2]
        assert messages[2] == evolve(
            clipped, parts=messages[2].parts, metadata=messages[2].metadata
        )
        assert ("c1", False) == (clipped.tool_results[0].call_id, clipped.tool_results[0].is_error)
        assert ["clipped to 20 tokens"] == [change.reason for change in done.changes]
        assert [True] == [change.replace for change in done.changes]

    def test_takes_the_shares_that_are_asked_for(self):
        """
        Of the head, of the tail, or both.
        """
        messages = [user("q"), call("c1"), result("c1", ROWS)]

        for step, head, tail in (
            (ClipToolResults(20, head=2), "row0 row1", 7),
            (ClipToolResults(20, tail=2), "row0 row1 row2 row3 row4 row5 row6", 2),
            (ClipToolResults(40, head=2, tail=1), "row0 row1", 1),
            (ClipToolResults(20, head=0), "", 9),
        ):
            first, _, last = ("\n" + seen(step, messages)[2].text).rpartition("\n[…")
            assert head == first.strip()
            assert tail == len(last.partition("…]")[2].split())

    def test_leaves_a_marker_alone_where_no_more_fits(self):
        """
        And nothing at all where a marker would be longer.
        """
        messages = [user("q"), call("c1"), result("c1", ROWS)]

        assert "[… 500 tokens left out; the whole is entry 3 …]" == (
            seen(ClipToolResults(1), messages)[2].text
        )
        assert tuple(talk(1)) == seen(ClipToolResults(1), talk(1))
        short = [user("q"), call("c1"), result("c1", "one two")]
        assert tuple(short) == seen(ClipToolResults(1), short)

    def test_keeps_the_first_line_of_an_error(self):
        """
        What went wrong is said there, and goes before the tail.
        """
        words_ = "ValueError: there is no such table in this database\n" + ROWS
        messages = [user("q"), call("c1"), tool(words_, call_id="c1", is_error=True)]
        text = seen(ClipToolResults(21), messages)[2].text

        assert text.startswith("ValueError: there is no such table in this database\n[…")
        assert seen(ClipToolResults(21, head=1), messages)[2].text.startswith(
            "ValueError: there is no such table in this database\n[…"
        )

    def test_leaves_images_and_what_it_is_not_for(self):
        """
        Pictures stay in their place; texts around them are clipped as one.
        """
        image = Image(file="f1")
        held = ToolResult("c1", [Text(ROWS), image, Text("and " + ROWS)])
        messages = [user("q"), call("c1"), evolve(result("c1"), parts=(held,))]
        content = seen(ClipToolResults(20), messages)[2].tool_results[0].content

        assert [Text, Image, Text] == [type(part) for part in content]
        assert image == content[1]
        assert "row0" in content[0].text
        assert "left out" in content[0].text
        assert content[2].text.endswith("row499")

    def test_clips_each_of_several_results(self):
        """
        Those that are short stay as they are.
        """
        both = evolve(
            result("c1"), role="user", parts=(ToolResult("c1", ROWS), ToolResult("c2", "short"))
        )
        one, two = seen(ClipToolResults(20), [user("q"), call("c1", "c2"), both])[2].tool_results

        assert "left out" in one.text
        assert ToolResult("c2", "short") == two

    def test_spares_what_is_excluded(self):
        """
        By the name of the tool that was called, or of the message.
        """
        messages = [user("q"), call("c1", name="read"), result("c1", ROWS)]
        named = [user("q"), call("c1"), tool(ROWS, call_id="c1", name="read")]
        orphan = [user("q"), result("c9", ROWS)]

        for given_ in (messages, named):
            assert tuple(given_) == seen(ClipToolResults(20, exclude="read"), given_)
            assert tuple(given_) == seen(ClipToolResults(20, exclude=["look", "read"]), given_)
            assert tuple(given_) != seen(ClipToolResults(20, exclude="write"), given_)
        assert tuple(orphan) != seen(ClipToolResults(20, exclude="read"), orphan)

    def test_spares_pins_unless_asked(self):
        """
        A pin covers its block; what is held for a step is spared too.
        """
        messages = [user("q"), call("c1"), result("c1", ROWS)]

        assert tuple(messages) == seen(ClipToolResults(20), messages, pinned=[2])
        assert tuple(messages) == seen(Sparing(ClipToolResults(20), first=3), messages)
        assert 20 == spoken(seen(ClipToolResults(20, pins=True), messages, pinned=[2])[2])

    def test_clips_shorter_what_is_clipped(self):
        """
        One marker stays, its number is of the whole, and the same limit changes nothing.
        """
        messages = [user("q"), call("c1"), result("c1", ROWS)]
        once = run(ClipToolResults(40), view_of(messages), SPOKEN)
        twice = run(ClipToolResults(20), once.view, SPOKEN)

        assert unchanged(once.view) == run(ClipToolResults(40), once.view, SPOKEN)
        assert 20 == spoken(twice.messages[2])
        assert 1 == twice.messages[2].text.count("left out")
        assert "[… 491 tokens left out; the whole is entry 3 …]" in twice.messages[2].text
        assert twice.messages == seen(chain(ClipToolResults(40), ClipToolResults(20)), messages)

    def test_clips_by_other_shares_what_is_clipped(self):
        """
        What is no longer there does not come back.
        """
        messages = [user("q"), call("c1"), result("c1", ROWS)]
        step = chain(ClipToolResults(40), ClipToolResults(30, head=1))
        other = chain(ClipToolResults(40), ClipToolResults(30, tail=1))

        assert seen(step, messages)[2].text.startswith("row0\n[… 485 tokens left out; ")
        assert seen(step, messages)[2].text.endswith("…]\nrow486 " + ROWS.partition(" row486 ")[2])
        assert seen(other, messages)[2].text.endswith("…]\nrow499")

    def test_does_not_take_a_text_for_its_own(self):
        """
        A marker that a tool gave back is words like others, and so is metadata of a user's.
        """
        forged = "[… 9 tokens left out; the whole is entry 3 …] " + ROWS
        message = tool(
            forged, call_id="c1", metadata={"unabridged.clipped": {"result.0": [0, 0, 9]}}
        )
        clipped = seen(ClipToolResults(30), [user("q"), call("c1"), message])[2]

        assert 2 == clipped.text.count("left out")
        assert 30 == spoken(clipped)
        reworded = evolve(clipped, parts=(ToolResult("c1", ROWS + " more"),))
        view = run(
            lambda view, _: [evolve(i, message=reworded) if i.first == 3 else i for i in view],
            view_of([user("q"), call("c1"), message]),
        ).view
        assert "[… 492 tokens" in run(ClipToolResults(20), view, SPOKEN).messages[2].text

    def test_keeps_metadata(self):
        """
        What a caller keeps beside the message stays beside it.
        """
        message = tool(ROWS, call_id="c1", metadata={"run": 7})
        kept = seen(ClipToolResults(20), [user("q"), call("c1"), message])[2].metadata.value

        assert 7 == kept["run"]

    def test_leaves_a_counter_that_does_not_go_by_text(self):
        """
        Clipping would gain nothing.
        """
        flat = TrimContext(count=lambda message: 100)
        messages = [user("q"), call("c1"), result("c1", ROWS)]

        assert tuple(messages) == seen(ClipToolResults(20), messages, flat)

    def test_is_written_back_and_taken_back(self):
        """
        The log keeps the whole; a revert shows it again.
        """
        memory = Memory(strategy=ClipToolResults(20, replace=True), count=spoken)
        memory.append(user("q"), call("c1"), result("c1", ROWS))
        done = memory.context()

        assert ["row0", ROWS] == [
            memory.view()[2].message.text[:4],
            memory.entries()[2].message.text,
        ]
        assert () == memory.context().changes
        memory.revert(done.rec)
        assert ROWS == memory.view()[2].message.text

    def test_is_valid_for_every_provider(self):
        """
        Pairs stay whole, and no text is left empty.
        """
        view = view_of([user("q"), call("c1", "c2"), result("c1", ROWS), result("c2", ROWS)])
        clipped = run(ClipToolResults(5), view, SPOKEN).view

        assert {()} == {problems(mend(clipped, name), name) for name in PROVIDERS}

    def test_keeps_the_laws(self):
        """
        By a counter under which it has much to do.
        """
        check_strategy(ClipToolResults(60), context=LETTERS, examples=30)


class TestClipArguments:
    def test_has_nothing_to_do_where_all_are_short(self):
        """
        Exactly as long as the limit, or of another kind.
        """
        for messages in (
            [user("q"), assistant(calls=[ToolCall("c1", "f", "1 ")]), result("c1", ROWS)],
            [user(ROWS)],
            [],
        ):
            view = view_of(messages)

            assert unchanged(view) == run(ClipArguments(1), view, SPOKEN)

    def test_clips_long_strings_and_keeps_the_rest_as_spelled(self):
        """
        Keys, numbers, short strings, white space and doubled keys stay.
        """
        text = json.dumps(ROWS)
        arguments = f'{{"n": 1.50, "n": 123456789012345678901234567890, {text}: [ {text}, "é"]}}'
        messages = [user("q"), assistant(calls=[ToolCall("c1", "f", arguments)]), result("c1")]
        kept = seen(ClipArguments(530), messages)[1].tool_calls[0].arguments

        assert kept.startswith(
            f'{{"n": 1.50, "n": 123456789012345678901234567890, {text}: [ "row0 row1'
        )
        assert kept.endswith(' row499", "é"]}')
        assert " […" in kept
        assert 530 >= len(kept.split())
        assert json.loads(kept)

    def test_shares_what_there_is_among_long_strings(self):
        """
        The shorter one stays whole as long as it has less than its share.
        """
        short = " ".join(f"word{n}" for n in range(20))
        call_ = ToolCall("c1", "write", {"a": ROWS, "b": short, "c": ROWS})
        kept = seen(ClipArguments(100), [user("q"), assistant(calls=[call_]), result("c1")])
        found = json.loads(kept[1].tool_calls[0].arguments)

        assert short == found["b"]
        assert 80 <= spoken(kept[1]) <= 100
        assert abs(len(found["a"].split()) - len(found["c"].split())) < 3

    def test_leaves_what_is_no_json(self):
        """
        A cut of it could be anything.
        """
        for arguments in (ROWS, '{"a": "' + ROWS, '{"a": ' * 2_000 + ROWS):
            messages = [user("q"), assistant(calls=[ToolCall("c1", "f", arguments)]), result("c1")]

            assert tuple(messages) == seen(ClipArguments(20), messages)

    def test_does_what_it_can(self):
        """
        What is long without long strings stays; else markers are left, and those again.
        """
        numbers = [user("q"), assistant(calls=[ToolCall("c1", "f", {"n": [*range(500)]})])]
        both = ToolCall("c1", "f", {ROWS: ROWS})
        view = view_of([user("q"), assistant(calls=[both]), result("c1")])
        done = run(ClipArguments(20), view, SPOKEN)

        assert tuple(numbers) == seen(ClipArguments(2), numbers, LETTERS)
        assert json.loads(done.messages[1].tool_calls[0].arguments) == {
            ROWS: "[… 499 tokens left out; the whole is entry 2 …]"
        }
        assert unchanged(done.view) == run(ClipArguments(20), done.view, SPOKEN)

    def test_leaves_markers_where_no_more_fits(self):
        """
        But no marker longer than what it stands for.
        """
        some = " ".join(f"word{n}" for n in range(100))
        call_ = ToolCall("c1", "write", {"a": some, "b": some, "c": some, "d": "d" * 99})
        view = view_of([user("q"), assistant(calls=[call_]), result("c1")])
        done = run(ClipArguments(30), view, SPOKEN)
        found = json.loads(done.messages[1].tool_calls[0].arguments)

        assert [11, 11, 11, 1] == [len(text.split()) for text in found.values()]
        assert unchanged(done.view) == run(ClipArguments(30), done.view, SPOKEN)

    def test_clips_shorter_what_is_clipped(self):
        """
        String by string.
        """
        call_ = ToolCall("c1", "write", {"a": ROWS, "b": ROWS})
        messages = [user("q"), assistant(calls=[call_]), result("c1")]
        kept = seen(chain(ClipArguments(100), ClipArguments(40)), messages)[1]

        assert 2 == kept.tool_calls[0].arguments.count("left out")
        assert 40 >= spoken(kept)

    def test_keeps_lone_surrogates_and_special_tokens(self):
        """
        They are text.
        """
        text = "<|endoftext|> \ud800 " * 200
        messages = [user("q"), assistant(calls=[ToolCall("c1", "f", {"a": text})]), result("c1")]
        kept = seen(ClipArguments(60), messages, TrimContext(count=exact()))[1]

        assert json.loads(kept.tool_calls[0].arguments)["a"].startswith("<|endoftext|> \ud800 ")
        assert 60 >= exact()(kept)

    def test_keeps_the_laws(self):
        """
        By a counter under which it has much to do.
        """
        check_strategy(ClipArguments(5), context=LETTERS, examples=30)


class TestClipMessages:
    def test_has_nothing_to_do_where_all_are_short(self):
        """
        Or where what is long is a tool's, the system's, or the newest question.
        """
        for messages in (
            talk(2),
            [user("q"), call("c1"), result("c1", ROWS)],
            [user("q"), assistant("a"), user(ROWS)],
            [],
        ):
            view = view_of(messages)

            assert unchanged(view) == run(ClipMessages(20), view, SPOKEN)

    def test_clips_users_and_assistants(self):
        """
        Their words, not their calls.
        """
        long = assistant(ROWS, calls=[ToolCall("c1", "f", {"a": ROWS})])
        one, two, *_ = seen(ClipMessages(20), [user(ROWS), long, result("c1"), user("Go on.")])

        assert 20 == spoken(one)
        assert 20 == len(two.text.split())
        assert long.tool_calls == two.tool_calls

    def test_clips_the_newest_question_where_that_is_asked_for(self):
        """
        So that a pasted book fits.
        """
        messages = [*talk(1), user([ROWS, Image(file="f")])]
        kept = seen(ClipMessages(20, newest=True), messages)[2]

        assert tuple(messages) == seen(ClipMessages(20), messages)
        assert 20 == len(kept.text.split())
        assert Image(file="f") == kept.parts[-1]

    def test_leaves_no_empty_text(self):
        """
        What lies between head and tail goes, with its part.
        """
        message = user([ROWS, Image(file="f"), ROWS, "", ROWS])
        kept = seen(ClipMessages(20), [message, user("Go on.")])[0]

        assert [Text, Image, Text, Text] == [type(part) for part in kept.parts]
        assert ["", "row499"] == [kept.parts[2].text, kept.parts[3].text[-6:]]

    def test_keeps_the_laws(self):
        """
        By a counter under which it has much to do.
        """
        check_strategy(ClipMessages(60, newest=True), context=LETTERS, examples=30)


class TestSealed:
    @pytest.mark.parametrize(
        "part",
        [
            Reasoning("step one", signature="c2ln=="),
            Reasoning(encrypted="YWJj"),
            Reasoning("local"),
            Opaque("anthropic", {"type": "redacted_thinking", "data": "YWJj"}),
            ToolCall("c2", "f", extra={"gemini": {"thoughtSignature": "c2ln"}}),
        ],
        ids=["signed", "encrypted", "plain", "redacted", "call"],
    )
    def test_messages_are_never_altered(self, part):
        """
        A provider wants them back byte for byte, whichever strategy clips.
        """
        message = assistant([part, Text(ROWS)], calls=[ToolCall("c1", "f", {"a": ROWS})])
        view = view_of([user("q"), message, result("c1"), user("Go on.")])

        for step in (ClipMessages(20), ClipArguments(20), ClipToolResults(20)):
            assert unchanged(view) == run(step, view, SPOKEN)


TEXTS = st.lists(
    st.text(max_size=40)
    | st.sampled_from(
        ("word " * 40, "e\u0301" * 30, "👩🏽‍💻" * 20, "🇩🇪🇫🇷" * 15, "a" * 200, "你好" * 50)
    ),
    max_size=8,
).map("".join)
COUNTERS = st.sampled_from((exact(), words, quarter, of_text(len)))


class TestClipping:
    @given(TEXTS, st.integers(1, 150), COUNTERS)
    def test_fits_and_is_done_once(self, text, tokens, count):
        """
        Head and tail are of the text, the marker is counted, and a second run changes nothing.
        """
        view = view_of([user("q"), call("c1"), result("c1", text)])
        context = TrimContext(count=count)
        done = run(ClipToolResults(tokens), view, context)
        was, now = view[2].message, done.messages[2]

        assert unchanged(done.view) == run(ClipToolResults(tokens), done.view, context)
        if now == was:
            return
        head, tail, _ = now.metadata.value["unabridged.clipped"]["result.0"]
        assert count(now) <= tokens or (0, 0) == (head, tail)
        assert count(now) < count(was)
        assert text[:head] + text[len(text) - tail :] == (
            now.text[:head] + now.text[len(now.text) - tail :]
        )

    def test_counts_the_whole_once_and_pieces_a_few_times(self):
        """
        So it is linear in the text.
        """
        text = "some text of a log, with numbers such as 12, 345 and 6789\n" * 20_000
        view = view_of([user("q"), call("c1"), result("c1", text)])
        counted = []

        def count(message):
            counted.append(len(message.text))
            return exact()(message)

        done = run(ClipToolResults(2_000), view, TrimContext(count=count))

        assert 1_900 <= exact()(done.messages[2]) <= 2_000
        assert 1 == len([size for size in counted if size > 20_000])
        assert 16 > len(counted)


class TestOfYourOwn:
    @pytest.mark.parametrize(("leans", "times"), [((), 1), (None, 2)])
    def test_is_asked_once_where_it_says_what_it_leans_on(self, leans, times):
        """
        What became of a message is remembered by content, but only where all is told.
        """
        step = Shout(2, leans=leans, heard=Heard())
        for _ in range(2):
            done = run(step, view_of([user("one two three"), user("four")]), SPOKEN)
            assert ["ONE TWO THREE", "four"] == texts(done)

        assert times == len(step.heard.said)

    def test_is_asked_again_where_another_thing_counts(self):
        """
        Another entry, another option or another counter may make another text.
        """
        heard, long = Heard(), user("one two three")
        run(Shout(2, heard=heard), view_of([long]), SPOKEN)
        run(Shout(2, heard=heard), view_of([user("zero"), long]), SPOKEN)
        run(Shout(1, heard=heard), view_of([long]), SPOKEN)
        run(Shout(2, heard=heard), view_of([long]), TrimContext(count=quarter))

        assert 4 == len(heard.said)

    def test_is_asked_each_time_where_nothing_can_be_remembered(self):
        """
        An option that cannot be hashed, or an endpoint whose counts are rough for now.
        """
        endpoint = from_client(SimpleNamespace(messages=SimpleNamespace(count_tokens=len)), "m")
        for step, count in (
            (Shout(2, leans=["a list"], heard=Heard()), words),
            (Shout(2, heard=Heard()), endpoint),
        ):
            for _ in range(2):
                run(step, view_of([user("one two three four")]), TrimContext(count=count))

            assert 2 == len(step.heard.said)

    def test_is_remembered_in_a_number_of_ways(self):
        """
        A message clipped in ever new ways keeps the newest ones only.
        """
        heard = Heard()
        view = view_of([user("say one two three")])
        for number in (*range(MADE + 1), 1, 0):
            step = Shout(1, leans=number, heard=heard)
            run(step, view, SPOKEN)
        assert MADE + 2 == len(heard.said)

    def test_is_remembered_as_long_as_anybody_has_it(self):
        """
        An equal message is clipped again, unless somebody has the first one or what became of it.
        """
        step = Shout(1, heard=Heard())
        result = run(step, view_of([user("say one")]), SPOKEN)
        again = run(step, view_of([user("say one")]), SPOKEN)
        assert ["say one"] == step.heard.said
        assert result.messages == again.messages

        del result, again
        gc.collect()
        run(step, view_of([user("say one")]), SPOKEN)
        assert ["say one"] * 2 == step.heard.said


class TestAsValues:
    @pytest.mark.parametrize(
        ("strategy", "shown"),
        [
            (
                ClipToolResults(
                    2_000,
                    head=1_000,
                    tail=500,
                    exclude=["read", "list"],
                    pins=True,
                    count=words,
                    replace=True,
                ),
                (
                    "ClipToolResults(2_000, head=1_000, tail=500, exclude=('read', 'list'), "
                    "pins=True, count=tokens.words, replace=True)"
                ),
            ),
            (ClipArguments(500, replace=True), "ClipArguments(500, replace=True)"),
            (ClipMessages(500, newest=True), "ClipMessages(500, newest=True)"),
            (
                TokenBudget(9_000, clip=ClipToolResults(500) | ClipMessages(200)),
                "TokenBudget(9_000, clip=(ClipToolResults(500), ClipMessages(200)))",
            ),
        ],
        ids=["results", "arguments", "messages", "budget"],
    )
    def test_show_themselves_and_go_to_data(self, strategy, shown):
        """
        With every option.
        """
        assert shown == repr(strategy)
        assert strategy == from_data(json.loads(json.dumps(to_data(strategy))))
        assert hash(strategy) == hash(from_data(to_data(strategy)))

    @pytest.mark.parametrize(
        ("make", "told"),
        [
            (
                lambda: ClipToolResults(0),
                "ClipToolResults: `tokens` must be an int of 1 or more, got 0",
            ),
            (
                lambda: ClipArguments(None),
                "ClipArguments: `tokens` must be an int of 1 or more, got None",
            ),
            (
                lambda: ClipMessages(2.5),
                "ClipMessages: `tokens` must be an int of 1 or more, got 2.5",
            ),
            (
                lambda: ClipToolResults(100, head=90, tail=20),
                "ClipToolResults: `head` (90) and `tail` (20) must fit in `tokens` (100) together",
            ),
            (
                lambda: ClipToolResults(100, exclude=[1]),
                "ClipToolResults: `exclude` must be a name, or a list of names, got (1,)",
            ),
            (
                lambda: ClipToolResults(100, exclude=1),
                "ClipToolResults: `exclude` must be a name, or a list of names, got 1",
            ),
            (
                lambda: TokenBudget(9, clip=TokenBudget(2)),
                (
                    "TokenBudget: `clip` takes ClipToolResults, ClipArguments and ClipMessages, "
                    "got TokenBudget(2)"
                ),
            ),
        ],
    )
    def test_refuse_what_is_wrong(self, make, told):
        """
        When they are made.
        """
        with pytest.raises(ConfigError) as caught:
            make()

        assert told == str(caught.value)

    def test_name_the_step_where_a_counter_fails(self):
        """
        And the message.
        """
        for wrong in (-1, 2.5, None):
            context = TrimContext(count=lambda _, wrong=wrong: wrong)
            with pytest.raises(CountError) as caught:
                seen(ClipToolResults(9), [user("hello")], context)

            assert str(caught.value).startswith("step ClipToolResults(9): counter <function ")
            assert f" returned {wrong!r} for the user message 'hello'" in str(caught.value)

    def test_hold_their_texts_only(self):
        """
        What a chain clips is the last word on each entry.
        """
        view = view_of([user("q"), call("c1"), result("c1", ROWS)])
        done = run(chain(ClipToolResults(40), ClipToolResults(20)), view, SPOKEN)

        assert ["clipped to 40 tokens", "clipped to 20 tokens"] == [c.reason for c in done.changes]
        assert texts(done)[2] == done.changes[-1].into.text
