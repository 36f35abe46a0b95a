"""
Fetching by a handle what an entry held, and finding words in the transcript.
"""

import asyncio
import re

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from unabridged import (
    AsyncMemory,
    Audio,
    ClearToolResults,
    ClipArguments,
    ClipMessages,
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
    tool,
    user,
)
from unabridged.errors import ConfigError
from unabridged.fetching import Excerpt, Findings
from unabridged.handles import Handle, handle_at
from unabridged.messages import ToolResult
from unabridged.originals import named, original
from unabridged.stores.in_memory import InMemoryStore
from unabridged.stores.sqlite import SqliteStore
from unabridged.testing import call, messages, replies, result, talk
from unabridged.tokens import of_text, words

ROWS = " ".join(f"row{n}" for n in range(500))


def remembered(*messages, **options):
    """
    A memory of these messages.
    """
    memory = Memory(count=words, **options)
    memory.append(*messages)

    return memory


def handles(found):
    """
    The handles of what was found.
    """
    return [hit.handle for hit in found.found]


class TestHandle:
    @pytest.mark.parametrize("text", ["12", " 12 ", "entry 12", "Entry 12", "#12", 12], ids=repr)
    def test_reads_what_names_an_entry(self, text):
        """
        And what a model may write around it.
        """
        assert Handle(12) == Handle.read(text)

    @pytest.mark.parametrize(
        "text",
        ["", "0", "-1", "012", "12.", "12.0", "1.2.3", "3-5", "٣", "x", None, True, 1.5],
        ids=repr,
    )
    def test_reads_nothing_else(self, text):
        """
        Nor numbers of other scripts, nor ones that no store holds.
        """
        assert Handle.read(text) is None
        assert Handle.read("9" * 30) is None

    def test_comes_back_as_it_is_written(self):
        """
        Whatever it names.
        """
        for handle in (Handle(1), Handle(12, 1), Handle(10**17, 99_999)):
            assert handle == Handle.read(str(handle))

    def test_names_a_part_only_where_there_are_several(self):
        """
        Calls and results are counted together; what is neither is the whole entry's.
        """
        both = user([Text("see"), ToolResult("a", "x"), Image(file="f"), ToolResult("b", "y")])

        assert ["3", "3.1", "3", "3.2"] == [handle_at(both, 3, place) for place in range(4)]
        assert "3" == handle_at(result("a"), 3, 0)


class TestOriginal:
    def test_joins_words_and_puts_the_rest_on_lines(self):
        """
        Media are named, what was thought is left out.
        """
        message = assistant(
            [
                *(Reasoning("hm"), Text("It is "), Text("this:"), Image(file="f"), Text("and")),
                *(Text(""), Document(name="a.txt", text="inside"), Audio(transcript="Hello")),
                Document(url="https://example.org/a.pdf", media_type="application/pdf"),
                Opaque("anthropic", {"type": "web_search_tool_result"}),
                Opaque("gemini", [1]),
            ],
            calls=[ToolCall("c1", "look", {"q": 1})],
        )

        assert original(message) == (
            'It is this:\n[image]\nand\n[document "a.txt"]\ninside\n[audio]\nHello\n'
            "[document (application/pdf)]\n[web_search_tool_result of anthropic]\n"
            '[part of gemini]\nlook({"q":1})'
        )
        assert "text" == named(Text("x"))
        assert "" == original(assistant()) == original(user(""))

    def test_gives_what_a_providers_own_part_has_to_read(self):
        """
        As what a search found; not what is encrypted, nor what is empty.
        """
        found = {
            "type": "search_result",
            "source": "https://example.org",
            "title": "",
            "content": [{"type": "text", "text": "It rains."}, {"encrypted_content": "YWJj"}, 7],
        }
        held = tool([Opaque("anthropic", found), "So it is."], call_id="c1")

        assert original(held) == (
            "[search_result of anthropic]\nhttps://example.org\nIt rains.\nSo it is."
        )

    def test_gives_one_call_or_result(self):
        """
        By its number.
        """
        assert "look({})" == original(call("a", "b", text="I look."), 2)
        assert "[image]\nfound" == original(tool([Image(file="f"), "found"], call_id="a"), 1)


class TestFetch:
    def test_gives_the_whole_or_a_part(self):
        """
        From a character on, so many of them or to the end.
        """
        memory = remembered(user("q"), result("c1", ROWS))
        whole = memory.fetch("2")

        assert Excerpt("2", ROWS, 0, len(ROWS), len(ROWS)) == whole
        assert Excerpt("2", "row1", 5, 9, len(ROWS)) == memory.fetch("2", start=5, length=4)
        assert ROWS[-6:] == memory.fetch(2, start=len(ROWS) - 6, length=99).text
        assert "" == memory.fetch("2", start=len(ROWS)).text == memory.fetch("2", length=0).text
        assert ROWS == memory.fetch(" entry 2 ").text

    def test_gives_a_part_of_an_entry_by_its_number(self):
        """
        As markers name it.
        """
        both = user([ToolResult("a", ROWS), ToolResult("b", "short")])
        memory = remembered(user("q"), call("a", "b"), both, *talk(1))
        shown = memory.context(ClearToolResults(0)).text()

        assert "the whole is entry 3.1]" in shown
        assert [ROWS, "short"] == [memory.fetch(handle).text for handle in ("3.1", "3.2")]
        assert f"{ROWS}\nshort" == memory.fetch("3").text
        assert ROWS == remembered(result("a", ROWS)).fetch("1.1").text

    def test_gives_the_places_of_words(self):
        """
        Together if they stand together somewhere, else any of them; each with its surroundings.
        """
        text = f"{'x' * 200} Time\n out {'y' * 300} time {'z' * 300} out"
        memory = remembered(user("q"), result("c1", text))
        together = memory.fetch("2", find="TIME out")
        single = memory.fetch("2", find="out TIME none")

        assert [(1, "Time\n out")] == [
            (place.hits, place.text.strip("xy ")) for place in together.found
        ]
        assert (text, 1) == (together.text, together.hits)
        assert text[together.found[0].start : together.found[0].stop] == together.found[0].text
        assert 80 + len("Time") + 80 == len(memory.fetch("2", find="Time").found[0].text)
        assert (3, [2, 1, 1]) == (len(single.found), [place.hits for place in single.found])
        assert () == memory.fetch("2", find="nowhere").found

    def test_finds_words_of_any_script_and_parts_no_character(self):
        """
        Chinese stands without spaces; an emoji is several code points.
        """
        text = "👩🏽‍💻" * 40 + "明天去利马吗" + "👩🏽‍💻" * 40
        [place] = remembered(user(text)).fetch("1", find="去利马").found

        assert "去利马" in place.text
        assert set() == set(place.text.replace("👩🏽‍💻", "")) - set("明天去利马吗")

    def test_shows_twenty_places_and_says_how_many_there_are(self):
        """
        Also of a word that is everywhere; the search can go on behind the last.
        """
        text = f"hit{'.' * 400}" * 50
        memory = remembered(user(text))
        first = memory.fetch("1", find="hit")
        then = memory.fetch("1", find="hit", start=first.found[-1].stop)

        assert (20, 50) == (len(first.found), first.hits)
        assert 30 == then.hits
        assert 1_000_000 == remembered(user("a" * 1_000_000)).fetch("1", find="a").hits

    def test_gives_what_was_folded_dropped_and_cleared_by_a_step(self):
        """
        Also after a restart.
        """
        memory = remembered(user("q"), call("c1"), result("c1", ROWS), *talk(3))
        memory.compact(ClearToolResults(0))
        again = Memory.from_dict(memory.to_dict(), ask=replies("They talked."))
        again.compact(Summarize(3))
        again.compact(Window(1))

        assert ["q3"] == [item.message.text for item in again.view()][:1]
        assert ROWS == again.fetch("3").text

    def test_gives_what_a_person_took_out_only_where_that_is_asked_for(self):
        """
        Retracted, rewound or cleared; a revert brings it back.
        """
        for take_out in (
            lambda memory: memory.retract(1),
            lambda memory: memory.rewind(1),
            lambda memory: memory.clear(),
        ):
            memory = remembered(user("a secret"), user("b"))
            undo = take_out(memory)
            with pytest.raises(ConfigError) as caught:
                memory.fetch("1")

            assert str(caught.value) == (
                "fetch: entry 1 was taken out of thread 'default' by hand (retract, rewind or "
                "clear); only people read it, by retracted=True"
            )
            assert "a secret" == memory.fetch("1", retracted=True).text
            memory.revert(undo.rec)
            assert "a secret" == memory.fetch("1").text

    def test_says_what_is_possible(self):
        """
        Where there is no such handle, entry, part or character.
        """
        memory = remembered(user("hello"), call("a", "b"))
        for wrong, told in (
            (
                lambda: memory.fetch("the file"),
                (
                    "fetch: 'the file' is no handle; one is the number of an entry, such as '12', "
                    "or '12.2' for the second of several calls or results in it"
                ),
            ),
            (lambda: memory.fetch("3"), "fetch: thread 'default' has no entry 3; they are 1 to 2"),
            (
                lambda: Memory().fetch("1"),
                "fetch: thread 'default' has no entry 1; it holds none",
            ),
            (
                lambda: memory.fetch("2.3"),
                (
                    "fetch: there is no part '2.3'; it has '2.1' to '2.2', "
                    "and '2' is the whole entry"
                ),
            ),
            (
                lambda: memory.fetch("1.1"),
                "fetch: there is no part '1.1'; '1' is the whole entry",
            ),
            (
                lambda: memory.fetch("1", start=6),
                "fetch: '1' has 5 characters, so `start` cannot be 6",
            ),
            (
                lambda: memory.fetch("1", start=-1),
                "fetch: `start` takes an int of 0 or more, got -1",
            ),
            (
                lambda: memory.fetch("1", length=True),
                "fetch: `length` takes an int of 0 or more, got True",
            ),
            (lambda: memory.fetch("1", find=" "), "fetch: `find` takes words to look for, got ' '"),
            (
                lambda: memory.find("hello", exclude=3),
                "find: `exclude` takes the name of a tool, or several, got 3",
            ),
            (
                lambda: memory.find("hello", exclude=["read", None]),
                "find: `exclude` takes the name of a tool, or several, got ['read', None]",
            ),
        ):
            with pytest.raises(ConfigError) as caught:
                wrong()

            assert told == str(caught.value)

    def test_says_where_a_store_has_deleted_it(self):
        """
        One with `retain=` keeps only the newest.
        """
        memory = Memory(InMemoryStore(retain=2))
        memory.append(*talk(3))

        with pytest.raises(ConfigError, match=r"entry 1 of thread 'default' was deleted"):
            memory.fetch("1")

    def test_is_the_same_awaited(self, tmp_path):
        """
        And in a file.
        """

        async def main():
            async with AsyncMemory(SqliteStore(tmp_path / "chat.db")) as memory:
                await memory.append(user("q"), result("c1", ROWS))
                return await memory.fetch("2", find="row7"), await memory.find("row7 row8")

        fetched, found = asyncio.run(main())
        memory = remembered(user("q"), result("c1", ROWS))

        assert memory.fetch("2", find="row7") == fetched
        assert memory.find("row7 row8") == found


MARKED = (
    ClearToolResults(0, inputs=True),
    Deduplicate(min_tokens=1),
    ClipToolResults(56),
    ClipMessages(56),
    ClipArguments(56),
)


class TestMarkers:
    @given(messages(), st.sampled_from(MARKED), st.integers(1, 9))
    def test_each_names_what_it_stands_for(self, said, strategy, many):
        """
        Whatever is fetched by the handle in a marker holds the whole of what the marker replaced.
        """
        memory = Memory(count=of_text(len))
        memory.append(*(longer(message, many) for message in said), user("and?"))
        before = memory.view()
        for change in memory.context(strategy).changes:
            was = before[before.find(change.sources.first)].message
            for old, new in zip(was.parts, change.into.parts, strict=False):
                if old != new:
                    handle = re.findall(r"entry ([0-9.]+)", told(new))[-1]
                    assert told(old) in memory.fetch(handle).text

    def test_are_the_same_in_all_strategies(self):
        """
        The entry, and the part where a message holds several.
        """
        both = user([ToolResult("a", ROWS), ToolResult("b", ROWS)])
        wrote = assistant(calls=[ToolCall(id_, "write", {"t": ROWS}) for id_ in "ab"])
        memory = remembered(user(ROWS), wrote, both, user("and?"))
        for step, found in (
            (ClearToolResults(0, inputs=True), ["2.1", "2.2", "3.1", "3.2"]),
            (ClipToolResults(40), ["3.1", "3.2"]),
            (ClipArguments(40), ["2.1", "2.2"]),
            (ClipMessages(40), ["1"]),
            (Deduplicate(), ["1", "3.1"]),
        ):
            shown = memory.context(step).text()
            assert found == re.findall(r"entry ([0-9.]+)", shown)


def longer(message, many):
    """
    The message with longer words, results and arguments.
    """
    parts = []
    for part in message.parts:
        match part:
            case Text(text):
                parts.append(Text(f"{text} " * many))
            case ToolResult(id_, content):
                words_ = [f"{held.text} " * many for held in content if isinstance(held, Text)]
                parts.append(ToolResult(id_, words_))
            case ToolCall(id_, name):
                parts.append(ToolCall(id_, name, {"text": "written " * many * 9}))
            case _:
                parts.append(part)

    return evolve(message, parts=parts)


def told(part):
    """
    What a part says.
    """
    return part.arguments if isinstance(part, ToolCall) else part.text


class TestFind:
    def test_gives_the_newest_entries_with_all_words(self):
        """
        In any order and case, in words, calls and results.
        """
        memory = remembered(
            user("The door is RED."),
            user("a red car"),
            assistant(calls=[ToolCall("c1", "paint", {"door": "red"})]),
            tool("door painted red", call_id="c1"),
            user("a blue door"),
        )

        assert ["4", "3", "1"] == handles(memory.find("door red"))
        assert ["4", "3"] == handles(memory.find("door red", last=2))
        assert memory.find("door red").every

    def test_gives_those_with_some_words_where_none_has_all(self):
        """
        And says so.
        """
        memory = remembered(user("a red door"), user("a car"), user("nothing"))
        found = memory.find("door green car")

        assert (["2", "1"], False) == (handles(found), found.every)
        assert ["2"] == handles(memory.find("door green car", last=1))
        assert Findings() == memory.find("green")

    def test_goes_on_where_it_stopped(self):
        """
        By the entry that it names, to the end.
        """
        memory = remembered(*talk(600))
        found = memory.find("q", last=100)
        seen = handles(found)
        while found.more:
            found = memory.find("q", last=100, before=found.more)
            seen += handles(found)

        assert [str(seq) for seq in range(1_199, 0, -2)] == seen

    def test_shows_the_text_around_the_first_place(self):
        """
        Bounded, whatever stands there.
        """
        [hit] = remembered(user(f"{'x' * 500} needle {'y' * 500} needle")).find("Needle").found
        [long] = remembered(user("z" * 5_000)).find("z" * 4_000).found

        assert 80 + len("needle") + 80 == len(hit.text)
        assert (2, 501 - 80) == (hit.hits, hit.start)
        assert 320 >= len(long.text)

    def test_passes_over_what_is_asked_to_be(self):
        """
        What the last context shows as it was, what given tools were asked and gave.
        """
        memory = remembered(
            user("first door"),
            call("c1", text="door?", name="recall"),
            result("c1", "door"),
            call("c1"),
            result("c1", "the door"),
            user("last door"),
        )
        memory.context(Window(1))

        assert ["6", "5", "3", "2", "1"] == handles(memory.find("door"))
        assert ["5", "3", "2", "1"] == handles(memory.find("door", left_out=True))
        assert ["6", "5", "1"] == handles(memory.find("door", exclude="recall"))
        assert ["6", "1"] == handles(memory.find("door", exclude=["recall", "look"]))

    @pytest.mark.parametrize("later", [0, 253, 254, 255, 256, 257, 600])
    def test_passes_over_a_tool_wherever_its_call_stands(self, later):
        """
        Also before the slice of the log in which its result is, far before it, or nowhere.
        """
        memory = remembered(
            result("c0", "an orphan's door"),
            user("first door"),
            call("c1", "c2", name="recall"),
            result("c1", "door"),
            *(user(f"q{number}") for number in range(later)),
            result("c2", "late door"),
            *(user(f"q{number}") for number in range(later)),
        )

        assert ["2", "1"] == handles(memory.find("door", exclude="recall"))

    def test_does_not_give_what_a_person_took_out(self):
        """
        Unless that is asked for.
        """
        memory = remembered(user("a secret"), user("no secret"))
        memory.retract(1)

        assert ["2"] == handles(memory.find("secret"))
        assert ["2", "1"] == handles(memory.find("secret", retracted=True))

    def test_reads_slices_from_the_end(self):
        """
        What is found near the end does not read the whole log, nor many long entries at once.
        """
        read = []

        class Watched(InMemoryStore):
            def entries(self, thread, span):
                read.append(len(span))
                return super().entries(thread, span)

        memory = Memory(Watched())
        memory.append(*talk(2_000))
        assert ["3999"] == handles(memory.find("q", last=1))

        assert [16] == read

    def test_says_what_is_possible(self):
        """
        Where there are no words, or a number is wrong.
        """
        memory = remembered(user("a"))
        for wrong, told in (
            (lambda: memory.find(""), "find: `query` takes words to look for, got ''"),
            (lambda: memory.find(None), "find: `query` takes words to look for, got None"),
            (
                lambda: memory.find(" ".join(map(str, range(33)))),
                (
                    "find: `query` takes up to 32 words of 5,000 characters together, "
                    "got 33 of 56; give those that are rare"
                ),
            ),
            (lambda: memory.find("a", last=0), "find: `last` takes an int of 1 to 100, got 0"),
            (lambda: memory.find("a", last=101), "find: `last` takes an int of 1 to 100, got 101"),
            (
                lambda: memory.find("a", before=0),
                "find: `before` takes an int of 1 or more, got 0",
            ),
        ):
            with pytest.raises(ConfigError) as caught:
                wrong()

            assert told == str(caught.value)
