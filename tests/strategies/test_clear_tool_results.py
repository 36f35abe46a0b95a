"""
Clearing old tool results, and the arguments of their calls.
"""

import json

import pytest
from attrs import evolve

from unabridged import (
    ClearToolResults,
    ClipArguments,
    ClipToolResults,
    Deduplicate,
    Document,
    Image,
    Memory,
    Opaque,
    Reasoning,
    Summarize,
    Text,
    ToolCall,
    Window,
    assistant,
    chain,
    run,
    tool,
    user,
)
from unabridged.contract import TrimContext
from unabridged.declared import from_data, to_data
from unabridged.errors import ConfigError
from unabridged.formats import mend, openai_responses, problems
from unabridged.formats.providers import PROVIDERS
from unabridged.messages import ToolResult
from unabridged.results import unchanged
from unabridged.testing import call, check_strategy, replies, result, talk, view_of
from unabridged.tokens import of_text, words

LETTERS = TrimContext(count=of_text(len))
ROWS = " ".join(f"row{n}" for n in range(500))


def spoken(message):
    """
    A counter of words without the ids of calls.
    """
    return len(message.text.split()) + sum(len(c.arguments.split()) for c in message.tool_calls)


SPOKEN = TrimContext(count=spoken)
CLEARED = "[look result cleared: 500 tokens; the whole is entry {}]"


def loop(steps, text=ROWS, **options):
    """
    A question and so many calls, each with a long result.
    """
    said = [user("q")]
    for number in range(1, steps + 1):
        said += [call(f"c{number}", **options), result(f"c{number}", text)]

    return said


def seen(strategy, messages, context=SPOKEN, **options):
    """
    The messages that are left.
    """
    return run(strategy, view_of(messages, **options), context).messages


def cleared(messages):
    """
    The entries whose results are markers.
    """
    return [seq for seq, each in enumerate(messages, start=1) if "the whole is" in each.text]


class TestClearToolResults:
    def test_has_nothing_to_do_where_there_are_few_results_or_short_ones(self):
        """
        As many as it keeps, fewer, none, or old ones that are shorter than a marker.
        """
        for messages in ([], talk(3), loop(3), loop(1), loop(5, "one two")):
            view = view_of(messages)

            assert unchanged(view) == run(ClearToolResults(), view, SPOKEN)

    def test_lets_a_marker_stand_for_the_older_results(self):
        """
        It names tool, tokens and entry; the newest, the calls and all else stay.
        """
        messages = loop(5)
        done = run(ClearToolResults(3, replace=True), view_of(messages), SPOKEN)
        first = done.messages[2]

        assert [CLEARED.format(3), CLEARED.format(5), *[ROWS] * 3] == [
            message.text for message in done.messages if message.role == "tool"
        ]
        assert messages[2] == evolve(first, parts=messages[2].parts, metadata={})
        assert ("c1", False) == (first.tool_results[0].call_id, first.tool_results[0].is_error)
        assert [messages[n] for n in (0, 1, 3, 5)] == [done.messages[n] for n in (0, 1, 3, 5)]
        assert {"an old tool result is cleared"} == {change.reason for change in done.changes}
        assert {True} == {change.replace for change in done.changes}

    def test_keeps_the_newest_by_number_and_by_tokens(self):
        """
        Whichever keeps more; None and 0 keep none by number.
        """
        messages = [*loop(5), user("and?")]

        for step, kept in (
            (ClearToolResults(2), 2),
            (ClearToolResults(None), 0),
            (ClearToolResults(0), 0),
            (ClearToolResults(None, keep_tokens=1_000), 2),
            (ClearToolResults(None, keep_tokens=999), 1),
            (ClearToolResults(None, keep_tokens=0), 0),
            (ClearToolResults(1, keep_tokens=1_500), 3),
            (ClearToolResults(4, keep_tokens=1_500), 4),
            (ClearToolResults(9, keep_tokens=1), 5),
        ):
            assert [3, 5, 7, 9, 11][: 5 - kept] == cleared(seen(step, messages))

    def test_never_touches_the_newest_block(self):
        """
        Nobody has read its results, of several calls too.
        """
        messages = [*loop(1), call("a", "b"), result("a", ROWS), result("b", ROWS)]

        assert [3] == cleared(seen(ClearToolResults(0), messages))

    def test_never_touches_pins_nor_the_block_of_a_call_that_waits(self):
        """
        A pin covers its block; results that came beside a pending call stay too.
        """
        waits = [*loop(1), call("a", "b"), result("a", ROWS), user("Hurry."), user("Please.")]

        assert [5, 7] == cleared(seen(ClearToolResults(0), [*loop(3), user("x")], pinned=[2]))
        assert [3] == cleared(seen(ClearToolResults(0), waits))

    def test_never_touches_the_newest_user_message(self):
        """
        Also where it holds results beside words.
        """
        both = user([ToolResult("c2", ROWS), Text("and now?")])
        messages = [*loop(1), call("c2"), both, assistant("Hm."), assistant("Well.")]

        assert [3] == cleared(seen(ClearToolResults(0), messages))

    def test_clears_within_a_loop_that_signed_thinking_binds(self):
        """
        Such a loop is one block: of it only what was not read yet stays.
        """
        messages = [
            user("q"),
            assistant([Reasoning("so", signature="c2ln"), ToolCall("c1", "look")]),
            *loop(3)[2:],
        ]
        view = view_of(messages)

        assert 2 == len(view.blocks)
        assert [3, 5] == cleared(run(ClearToolResults(0), view, SPOKEN).messages)

    def test_needs_to_gain_enough(self):
        """
        Exactly as much is enough.
        """
        view = view_of(loop(5))
        gain = 2 * (500 - len(CLEARED.split()))

        assert unchanged(view) == run(ClearToolResults(at_least=gain + 1), view, SPOKEN)
        assert [3, 5] == cleared(run(ClearToolResults(at_least=gain), view, SPOKEN).messages)

    def test_spares_what_is_excluded(self):
        """
        By the name of the tool that was called or of the message; that is not counted either.
        """
        read = loop(1, name="read")
        messages = [*read, *loop(3)[1:]]
        named = [user("q"), call("c1"), tool(ROWS, call_id="c1", name="read"), user("and?")]

        assert [5] == cleared(seen(ClearToolResults(2, exclude="read"), messages))
        assert [] == cleared(seen(ClearToolResults(2, exclude=["look"]), messages))
        assert [] == cleared(seen(ClearToolResults(0, exclude=["read"]), named))

    def test_clears_arguments_too_where_asked(self):
        """
        They are a JSON object with a marker; a short result and a short call stay.
        """
        wrote = assistant("I write.", calls=[ToolCall("c1", "write", {"path": "a", "text": ROWS})])
        text = assistant(calls=[ToolCall("c2", "patch", '{"t": 1}')])
        several = assistant(calls=[ToolCall("a", "write", "[1]"), ToolCall("b", "w", {"t": ROWS})])
        messages = [
            *(user("q"), wrote, result("c1", "ok"), text, result("c2", "ok"), several),
            *(result("b", "ok"), result("a", "ok"), *talk(1)),
        ]
        made = seen(ClearToolResults(0, inputs=True), messages)

        assert tuple(messages) == seen(ClearToolResults(0), messages)
        assert {"cleared": "500 tokens; the whole is entry 2"} == json.loads(
            made[1].tool_calls[0].arguments
        )
        assert "I write." == made[1].text
        assert [text, messages[2]] == [made[3], made[2]]
        assert {"cleared": "500 tokens; the whole is entry 6.2"} == json.loads(
            made[5].tool_calls[1].arguments
        )
        assert several.tool_calls[0] == made[5].tool_calls[0]

    @pytest.mark.parametrize(
        ("arguments", "marker"),
        [
            (json.dumps(ROWS), "[patch input cleared: 500 tokens; the whole is entry 2]"),
            (json.dumps([ROWS]), {"cleared": "500 tokens; the whole is entry 2"}),
            (json.dumps([ROWS], indent=1), {"cleared": "502 tokens; the whole is entry 2"}),
            (ROWS, {"cleared": "500 tokens; the whole is entry 2"}),
            ('{"text": "' + ROWS, {"cleared": "501 tokens; the whole is entry 2"}),
            ("1 " * 500, {"cleared": "500 tokens; the whole is entry 2"}),
        ],
    )
    def test_clears_arguments_of_every_form(self, arguments, marker):
        """
        Freeform input stays a text; a list, numbers and what is no JSON become an object.
        """
        messages = [
            *(user("q"), assistant(calls=[ToolCall("c1", "patch", arguments)])),
            *(result("c1", "ok"), *talk(1)),
        ]
        made = seen(ClearToolResults(0, inputs=True), messages)

        assert marker == json.loads(made[1].tool_calls[0].arguments)
        assert tuple(messages) == seen(ClearToolResults(0), messages)

    def test_clears_freeform_input_of_a_custom_call(self):
        """
        It is sent as the words of the marker, under the same id and name.
        """
        called = {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": ROWS}
        answer = {"type": "custom_tool_call_output", "call_id": "c1", "output": "ok"}
        talked = [{"role": "user", "content": "q"}, called, answer]
        messages = openai_responses.load([*talked, {"role": "user", "content": "and?"}])
        made = openai_responses.dump(seen(ClearToolResults(0, inputs=True), messages))

        marker = "[patch input cleared: 500 tokens; the whole is entry 2]"
        assert called | {"input": marker} == made[1]
        assert answer == made[2]

    def test_leaves_a_call_whose_arguments_are_its_whole_item(self):
        """
        A format writes the item of a hosted tool from them.
        """
        item = {"type": "local_shell_call", "call_id": "c1", "id": "lsh_1", "status": "completed"}
        item["action"] = {"type": "exec", "command": ["echo", ROWS], "env": {}}
        answer = {"type": "local_shell_call_output", "call_id": "c1", "id": "o", "output": "ok"}
        talked = [{"role": "user", "content": "q"}, item, answer, {"role": "user", "content": "?"}]
        messages = openai_responses.load(talked)

        assert messages == seen(ClearToolResults(0, inputs=True), messages)

    def test_keeps_the_first_line_of_an_error(self):
        """
        What went wrong is said there: a line, as long as a line is.
        """
        for text, line in (
            (f"ValueError: no such table\n{ROWS}", "ValueError: no such table"),
            (f"\n\n  Not found.  \n{ROWS}", "Not found."),
            ("é" * 900 + ROWS, "é" * 500 + "…"),
        ):
            error = tool(text, call_id="c1", is_error=True)
            message = seen(ClearToolResults(0), [user("q"), call("c1"), error, *talk(1)])[2]

            assert [line, "[look result cleared"] == [
                part[:501] if part == line else part[:20] for part in message.text.split("\n")
            ]
            assert message.tool_results[0].is_error
        empty = tool([Image(data="aGk=" * 99)], call_id="c1", is_error=True)
        made = seen(ClearToolResults(0), [user("q"), call("c1"), empty, *talk(1)], LETTERS)
        assert "[look result cleared" in made[2].text or made[2] == empty

    def test_names_images_and_documents(self):
        """
        By their kind and what is known of them, never their data; many are counted.
        """
        image = Image(data="aGk=", media_type="image/png", width=64, height=32)
        many = [Text(ROWS), image, Document(data="aGk=", name='a"]\n.pdf'), image, image, image]
        shot = [user("q"), call("c1", name="shoot"), tool(many, call_id="c1"), *talk(1)]

        assert (
            "[shoot result cleared: 500 tokens, image (image/png, 64x32 pixels), "
            'document "a .pdf", image (image/png, 64x32 pixels), 2 more; the whole is entry 3]'
        ) == seen(ClearToolResults(0), shot)[2].text
        assert 1 == len(seen(ClearToolResults(0), shot)[2].tool_results[0].content)

    def test_names_the_part_where_a_message_holds_several_results(self):
        """
        By its number, counted from 1.
        """
        both = user([ToolResult("c1", ROWS), ToolResult("c2", "short"), ToolResult("c3", ROWS)])
        messages = [user("q"), call("c1", "c2", "c3"), both, *talk(1)]
        made = seen(ClearToolResults(0), messages)[2].tool_results

        assert [CLEARED.format("3.1"), "short", CLEARED.format("3.3")] == [r.text for r in made]

    def test_names_the_tool_of_an_orphan_as_far_as_known(self):
        """
        A result that answers no call is cleared as any other.
        """
        messages = [user("q"), result("c9", ROWS), tool(ROWS, call_id="c8", name="ls"), *talk(1)]

        assert ["[tool result", "[ls result"] == [
            message.text.partition(" cleared")[0]
            for message in seen(ClearToolResults(0), messages)[1:3]
        ]

    def test_leaves_what_is_sealed(self):
        """
        A message with a signature is sent as it was, or not at all.
        """
        opaque = Opaque("gemini", {"thoughtSignature": "c2ln"})
        signed = tool(ROWS, call_id="c1")
        signed = evolve(signed, parts=(*signed.parts, opaque))
        thought = assistant([Reasoning("hm")], calls=[ToolCall("c1", "write", {"text": ROWS})])

        for messages in (
            [user("q"), call("c1"), signed, *talk(1)],
            [user("q"), thought, result("c1", "ok"), *talk(1)],
        ):
            assert tuple(messages) == seen(ClearToolResults(0, inputs=True), messages)

    def test_clears_what_is_clipped_and_says_what_the_whole_had(self):
        """
        And clipping leaves markers alone.
        """
        wrote = assistant(calls=[ToolCall("c1", "write", {"text": ROWS})])
        messages = [user("q"), wrote, result("c1", ROWS), *talk(1)]
        clip = ClipToolResults(40) | ClipArguments(40)
        clear = ClearToolResults(0, inputs=True)
        made = seen(clip | clear, messages)

        assert "[write result cleared: 500 tokens; the whole is entry 3]" == made[2].text
        said = json.loads(made[1].tool_calls[0].arguments)["cleared"]
        assert 1 >= abs(500 - int(said.split()[0]))  # of a string, its quotes are a word of these
        shorter = chain(clear, ClipToolResults(1), ClipArguments(1))
        assert seen(clear, messages) == seen(shorter, messages)

    def test_is_written_back_fetched_and_taken_back(self):
        """
        The log keeps the whole; a revert shows it again.
        """
        memory = Memory(strategy=ClearToolResults(1, replace=True), count=spoken)
        memory.append(*loop(2))
        done = memory.context()

        assert CLEARED.format(3) == memory.view()[2].message.text
        assert () == memory.context().changes
        assert ROWS == memory.fetch("3").text
        memory.revert(done.rec)
        assert ROWS == memory.view()[2].message.text

    def test_is_valid_for_every_provider(self):
        """
        Pairs stay whole, arguments stay objects, and no text is left empty.
        """
        wrote = assistant(calls=[ToolCall("c9", "write", {"text": ROWS})])
        view = view_of([*loop(3), wrote, result("c9"), user("and?")])
        made = run(ClearToolResults(0, inputs=True), view, SPOKEN).view

        assert {()} == {problems(mend(made, name), name) for name in PROVIDERS}

    def test_keeps_the_laws(self):
        """
        By a counter under which it has much to do.
        """
        check_strategy(ClearToolResults(1, inputs=True), context=LETTERS, examples=30)
        step = ClearToolResults(None, keep_tokens=20, at_least=5, replace=True)
        check_strategy(step, context=LETTERS, examples=30)


class TestStablePrefixes:
    def test_clears_nothing_more_until_that_gains_enough(self):
        """
        Without `at_least` each new result breaks the prefix, with it one in many.
        """

        def breaks(step):
            memory = Memory(strategy=step, count=spoken)
            memory.append(user("q"))
            found = []
            for number in range(1, 31):
                memory.append(call(f"c{number}"), result(f"c{number}", ROWS))
                kept = memory.context().kept
                found.append(kept.messages < kept.out_of)
            return sum(found), len(cleared(memory.context().messages))

        assert (27, 27) == breaks(ClearToolResults(3))
        assert (3, 24) == breaks(ClearToolResults(3, at_least=3_900))

    def test_holds_where_newer_results_shrink(self):
        """
        They take less room then, and what was cleared for their sake stays cleared.
        """
        clear = ClearToolResults(None, keep_tokens=550, at_least=1, exclude="again")
        page = " ".join(f"line{n}" for n in range(90))
        memory = Memory(strategy=Deduplicate() | clear, count=words)
        memory.append(user("q"), call("c1"), result("c1", ROWS), call("c2"), result("c2", page))
        before = memory.context()
        memory.append(call("c3", name="again"), result("c3", page))
        after = memory.context()

        assert CLEARED.format(3) == before.messages[2].text == after.messages[2].text
        assert page not in after.messages[4].text

    def test_holds_in_another_process(self):
        """
        The place is a note in the log, so what was cleared is cleared there too.
        """
        step = ClearToolResults(1, at_least=900)
        memory = Memory(strategy=step, count=spoken)
        memory.append(*loop(3))
        first = memory.context()
        memory.append(*loop(1)[1:])
        again = Memory.from_dict(memory.to_dict(), strategy=step, count=spoken).context()

        assert [3, 5] == cleared(first.messages)
        assert first.messages == again.messages[:7]
        assert [{"first": 7}] == [note.value.value for note in again.before.notes]

    def test_keeps_the_newest_also_after_a_rewind(self):
        """
        The place of the note lies beyond them then.
        """
        for at, left in ((6, [3]), (4, [])):
            memory = Memory(strategy=ClearToolResults(1, at_least=400), count=spoken)
            memory.append(*loop(5))
            assert [3, 5, 7, 9] == cleared(memory.context().messages)
            memory.rewind(at)
            memory.append(user("Once more."))

            assert left == cleared(memory.context().messages)

    def test_keeps_by_number_after_a_retraction(self):
        """
        Also where the note's own entry is there.
        """
        memory = Memory(strategy=ClearToolResults(2, at_least=400), count=spoken)
        memory.append(*loop(5))
        assert [3, 5, 7] == cleared(memory.context().messages)
        memory.retract(10)

        assert [3, 5] == cleared(memory.context().messages)

    def test_goes_with_cuts_and_summaries(self):
        """
        What is cut or folded after it is cut and folded as ever.
        """
        chain_ = ClearToolResults(1) | Summarize(6) | Window(8)
        done = run(chain_, view_of([*loop(4), user("and?")]), SPOKEN, replies("We looked."))

        assert "We looked." in done.text()
        assert "the whole is entry 7" in done.text()


class TestAsValue:
    def test_shows_itself_and_goes_to_data(self):
        """
        With every option.
        """
        step = ClearToolResults(
            5,
            keep_tokens=9_000,
            at_least=500,
            exclude=["read", "ls"],
            inputs=True,
            count=words,
            replace=True,
        )

        assert "ClearToolResults()" == repr(ClearToolResults())
        assert (
            "ClearToolResults(5, keep_tokens=9_000, at_least=500, exclude=('read', 'ls'), "
            "inputs=True, count=tokens.words, replace=True)"
        ) == repr(step)
        assert step == from_data(json.loads(json.dumps(to_data(step))))

    @pytest.mark.parametrize(
        "options",
        [
            {"keep_last": -1},
            {"keep_last": 2.5},
            {"keep_tokens": -1},
            {"at_least": 0},
            {"exclude": [1]},
            {"count": "words"},
        ],
        ids=str,
    )
    def test_refuses_what_is_wrong(self, options):
        """
        When it is made.
        """
        with pytest.raises(ConfigError, match=r"^ClearToolResults: `"):
            ClearToolResults(**options)
