"""
Keeping one of several equal texts.
"""

import json
import re

import pytest

from unabridged import (
    Audio,
    ClearToolResults,
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
    run,
    system,
    tool,
    user,
)
from unabridged.contract import TrimContext
from unabridged.declared import from_data, to_data
from unabridged.errors import ConfigError
from unabridged.formats import anthropic, mend, problems
from unabridged.formats.providers import PROVIDERS
from unabridged.messages import ToolResult
from unabridged.results import unchanged
from unabridged.testing import call, check_strategy, replies, result, talk, texts, view_of
from unabridged.tokens import of_text, words
from unabridged.tools import recall

WORDS = TrimContext(count=words)
PAGE = " ".join(f"line{n}" for n in range(90))
OTHER = " ".join(f"item{n}" for n in range(90))


def again(entry):
    """
    The marker of an entry whose text comes again.
    """
    return f"[the same 90 tokens again further down; the whole is entry {entry}]"


def seen(messages, step=Deduplicate(), **options):  # noqa: B008  a frozen value
    """
    The texts that are left.
    """
    return texts(run(step, view_of(messages, **options), WORDS))


def read(number, text=PAGE):
    """
    A file that is read.
    """
    return [call(f"c{number}"), result(f"c{number}", text)]


class TestDeduplicate:
    def test_has_nothing_to_do_where_all_differ_or_are_short(self):
        """
        Or where there is nothing.
        """
        for messages in (
            [],
            talk(3),
            [user("q"), *read(1), *read(2, OTHER)],
            [user("q"), *read(1, "one two"), *read(2, "one two")],
        ):
            view = view_of(messages)

            assert unchanged(view) == run(Deduplicate(), view, WORDS)

    def test_keeps_the_newest_and_names_the_others(self):
        """
        Results that were given again; each marker names its own entry, and never changes again.
        """
        twice = [user("q"), *read(1), *read(2, OTHER), *read(3)]
        once_more = [*twice, *read(4)]

        assert ["q", "", again(3), "", OTHER, "", PAGE] == seen(twice)
        assert ["q", "", again(3), "", OTHER, "", again(7), "", PAGE] == seen(once_more)

    def test_takes_words_and_results_alike(self):
        """
        What a user pastes and a tool reads again.
        """
        messages = [user([Text(PAGE), Text(" See?")]), assistant(PAGE), *read(1), *talk(1)]

        assert [f"{again(1)} See?", again(2), "", PAGE, "q1", "a1"] == seen(messages)

    def test_takes_as_long_texts_as_it_is_asked_to(self):
        """
        Exactly so many tokens, and only where a marker is shorter.
        """
        messages = [user("q"), *read(1), *read(2), *talk(1)]
        nine = [user("q"), *read(1, "a " * 9), *read(2, "a " * 9), *talk(1)]

        assert again(3) == seen(messages, Deduplicate(min_tokens=90))[2]
        assert PAGE == seen(messages, Deduplicate(min_tokens=91))[2]
        assert "a " * 9 == seen(nine, Deduplicate(min_tokens=1))[2]

    def test_names_the_part_where_a_message_holds_several(self):
        """
        Also of two equal results in one message.
        """
        both = user([ToolResult("a", PAGE), ToolResult("b", PAGE)])
        view = view_of([user("q"), call("a", "b"), both, *read(1), *talk(1)])
        made = run(Deduplicate(), view, WORDS).messages[2].tool_results

        assert [again("3.1"), again("3.2")] == [result.text for result in made]

    def test_leaves_equal_words_in_one_message(self):
        """
        One handle names them both.
        """
        messages = [user([Text(PAGE), Text(PAGE)]), *talk(1)]

        assert PAGE * 2 == seen(messages)[0]

    def test_never_touches_what_stays(self):
        """
        Pins, the newest block, the newest user message, what is signed, and stand-ins.
        """
        signed = assistant([Reasoning("hm"), Text(PAGE)])
        waits = assistant(PAGE, calls=[ToolCall("c1", "look")])
        for messages, options in (
            ([user("q"), *read(1), *read(2), *talk(1)], {"pinned": [2]}),
            ([system(PAGE), user("q"), *read(1), *talk(1)], {}),
            ([user("q"), call("a", "b"), result("a", PAGE), result("b", PAGE)], {}),
            ([user(PAGE), assistant(PAGE), assistant("done")], {}),
            ([user("q"), signed, *read(1), *talk(1)], {}),
            ([user("q"), waits, user("Hurry."), user(PAGE)], {}),
        ):
            view = view_of(messages, **options)

            assert unchanged(view) == run(Deduplicate(), view, WORDS)

    def test_passes_over_what_is_no_entry_or_stands_for_several(self):
        """
        A prompt that is not in the log and a summary are no copies: no handle names them.
        """
        memory = Memory(count=words, ask=replies(PAGE))
        memory.append(*talk(2), *read(1), *talk(2))
        memory.compact(Summarize(6, label="", guard_size=False))
        step = Deduplicate() | Window(20)

        assert [PAGE, PAGE] == texts(memory.context(step, system=PAGE))[:2]
        assert () == memory.context(step, system=PAGE).changes

    @pytest.mark.parametrize(
        ("part", "named"),
        [
            (Image("aGk=", media_type="image/png"), "image (image/png)"),
            (Image(url="https://example.org/a.png"), "image"),
            (Image(file="file_1"), "image"),
            (Document("aGk=", name="a.pdf", media_type="application/pdf"), "document"),
            (Document(text=PAGE, name="a.txt"), "document"),
            (Document(url="https://example.org/a.pdf"), "document"),
            (Audio(url="https://example.org/a.wav", transcript=PAGE), "audio"),
            (Opaque("anthropic", {"type": "search_result", "title": PAGE}), "search_result"),
        ],
    )
    def test_takes_every_kind_of_part(self, part, named):
        """
        In results alone or with others, and beside them; the marker names what was there.
        """
        step = Deduplicate(min_tokens=1)
        for content in ([part], ["See:", part], [part, part]):
            shots = [tool(content, call_id=f"c{n}") for n in (1, 2)]
            said = [user("q"), call("c1"), shots[0], call("c2"), shots[1], *talk(1)]
            made = run(step, view_of(said)).messages

            assert made[2].text.startswith("[the same ")
            assert f", {named}" in made[2].text
            assert made[2].text.endswith(" again further down; the whole is entry 3]")
            assert shots[1] == made[4]
        shown = [user([part]), *talk(1), user([part]), *talk(1, 2)]
        made = run(step, view_of(shown)).messages
        assert [Text] == [type(part) for part in made[0].parts]
        assert f", {named}" in made[0].text
        assert tuple(shown[1:]) == made[1:]

    def test_a_mark_of_what_is_cached_is_no_difference(self):
        """
        It moves with the end of the conversation.
        """
        for kind in ("image", "search_result"):
            source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
            block = {"type": kind, "title": PAGE} if kind != "image" else {"type": kind}
            block |= {"source": source if kind == "image" else "a", "content": []}
            if kind == "image":
                del block["content"]
            marked = block | {"cache_control": {"type": "ephemeral"}}
            turns = [{"role": "user", "content": [block]}, {"role": "assistant", "content": "a"}]
            turns += [{"role": "user", "content": [marked]}, {"role": "assistant", "content": "b"}]
            said = [*anthropic.load(turns), *talk(1)]
            made = run(Deduplicate(min_tokens=1), view_of(said)).messages

            assert made[0].text.startswith("[the same ")
            assert said[2] == made[2]

    def test_leaves_halves_of_pairs_that_a_provider_made(self):
        """
        What has an id belongs to another part.
        """
        halves = [
            Opaque("anthropic", {"type": "server_tool_use", "id": "s1", "input": {"q": PAGE}}),
            Opaque("anthropic", {"type": "x_tool_result", "tool_use_id": "s1", "content": PAGE}),
        ]
        view = view_of([user("q"), assistant(halves), user("q"), assistant(halves), *talk(1)])

        assert unchanged(view) == run(Deduplicate(min_tokens=1), view, WORDS)

    def test_is_sent_to_every_provider(self):
        """
        With markers in the places of pictures.
        """
        shot = Image("aGk=", media_type="image/png")
        said = [user(["See", shot]), call("c1"), tool([shot], call_id="c1"), call("c2")]
        said += [tool([shot], call_id="c2"), assistant("I see."), user("and?")]
        made = run(Deduplicate(min_tokens=1), view_of(said)).view

        assert {()} == {problems(mend(made, name), name) for name in PROVIDERS}

    def test_leaves_results_with_other_pictures(self):
        """
        The words of two may be the same, and the pictures not.
        """
        shots = [
            tool([Text(PAGE), Image(file=name)], call_id=f"c{n}")
            for n, name in ((1, "a"), (2, "b"))
        ]
        view = view_of([user("q"), call("c1"), shots[0], call("c2"), shots[1], *talk(1)])

        assert unchanged(view) == run(Deduplicate(), view, WORDS)

    def test_changes_a_prefix_only_at_the_copy_before(self):
        """
        What stands before it, markers too, stays as it was.
        """
        memory = Memory(strategy=Deduplicate(), count=words)
        memory.append(user("q"))
        stays = []
        for number in range(1, 6):
            memory.append(*read(number))
            stays.append(memory.context().kept.messages)

        assert [0, 2, 4, 6, 8] == stays

    def test_goes_before_what_clips(self):
        """
        The newest is clipped, the others have markers, and each handle gives the whole.
        """
        step = Deduplicate() | ClipToolResults(40)
        memory = Memory(strategy=step, count=words)
        memory.append(user("q"), *read(1), *read(2), *talk(1))
        shown = texts(memory.context())

        assert again(3) == shown[2]
        assert "the whole is entry 5" in shown[4]
        assert PAGE == memory.fetch("3").text == memory.fetch("5").text

    def test_is_written_back_and_taken_back(self):
        """
        A copy that comes later finds the newest, and older markers as they were.
        """
        memory = Memory(strategy=Deduplicate(replace=True), count=words)
        memory.append(user("q"), *read(1), *read(2), *talk(1))
        done = memory.context()
        memory.append(*read(3), *talk(1))

        assert again(3) == memory.view()[2].message.text
        assert [again(3), again(5)] == texts(memory.context())[2:5:2]
        memory.revert(done.rec)
        assert PAGE == memory.view()[2].message.text

    def test_names_what_can_be_read_also_once_the_newest_was_taken_out(self):
        """
        By hand, after the markers were written back: the text is in the log, and read by them.
        """
        for how in (lambda memory: memory.retract(5), lambda memory: memory.rewind(4)):
            memory = Memory(strategy=Deduplicate(replace=True), count=words)
            memory.append(user("q"), *read(1), *read(2), *talk(1))
            memory.context()
            how(memory)
            (named,) = re.findall(r"entry ([0-9.]+)", memory.context().messages[2].text)

            assert PAGE == json.loads(recall(memory)(handle=named))["text"]

    def test_is_not_cleared_again(self):
        """
        Nothing is left to clear of a marker, though that of a cleared result is shorter.
        """
        messages = [user("q"), *read(1), *read(2), *talk(1)]
        shown = seen(messages, Deduplicate() | ClearToolResults(0))

        assert [again(3), "[look result cleared: 90 tokens; the whole is entry 5]"] == shown[2:5:2]

    def test_is_valid_for_every_provider(self):
        """
        Pairs stay whole.
        """
        view = view_of([user("q"), *read(1), *read(2), user("and?")])
        made = run(Deduplicate(), view, WORDS).view

        assert {()} == {problems(mend(made, name), name) for name in PROVIDERS}

    def test_keeps_the_laws(self):
        """
        By a counter under which it has much to do.
        """
        step = Deduplicate(min_tokens=1)
        check_strategy(step, context=TrimContext(count=of_text(len)), examples=30)

    def test_shows_itself_and_goes_to_data(self):
        """
        With every option.
        """
        step = Deduplicate(min_tokens=500, count=words, replace=True)

        assert "Deduplicate()" == repr(Deduplicate())
        assert "Deduplicate(min_tokens=500, count=tokens.words, replace=True)" == repr(step)
        assert step == from_data(json.loads(json.dumps(to_data(step))))

    def test_refuses_what_is_wrong(self):
        """
        When it is made.
        """
        for options in ({"min_tokens": 0}, {"min_tokens": None}, {"count": 3}):
            with pytest.raises(ConfigError, match=r"^Deduplicate: `"):
                Deduplicate(**options)
