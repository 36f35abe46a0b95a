"""
Messages and the JSON they carry: what they hold, what they refuse and where they say so.
"""

import copy
import json
import math
import pickle
from collections.abc import Mapping
from types import MappingProxyType

import pytest
from attrs import astuple, evolve
from attrs.exceptions import FrozenInstanceError
from hypothesis import given
from hypothesis import strategies as st

from unabridged import assistant, system, tool, user
from unabridged.errors import ConfigError, FormatError
from unabridged.json_values import Json, _encoder, json_of, json_text, sound_text, trusted
from unabridged.messages import (
    Audio,
    Document,
    Image,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    quick_message,
)
from unabridged.parts import (
    quick_call,
    quick_opaque,
    quick_reasoning,
    quick_result,
    quick_text,
)

LONE = "\ud83d"
PAIR = "\ud83d\ude00"

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


def refusal(build):
    """
    What is said where *build* is refused.
    """
    with pytest.raises(ConfigError) as caught:
        build()

    return str(caught.value)


class TestSoundText:
    def test_keeps_plain_text(self):
        """
        ASCII and other text come back as they went in.
        """
        assert ("plain", "Grüße 你好") == (sound_text("plain", "x"), sound_text("Grüße 你好", "x"))

    def test_keeps_lone_surrogates_and_nul(self):
        """
        What some databases refuse is kept as it is.
        """
        assert f"a{LONE}b\x00" == sound_text(f"a{LONE}b\x00", "x")

    def test_joins_two_surrogates_that_make_a_character(self):
        """
        As reading them back from JSON would.
        """
        assert "😀" == sound_text(PAIR, "x")

    def test_refuses_what_is_no_text(self):
        """
        The message names the field and the type.
        """
        assert "role: expected text (str), got bytes" == refusal(lambda: sound_text(b"a", "role"))


class TestJson:
    def test_is_equal_by_its_text(self):
        """
        Space does not count; key order and the spelling of numbers do.
        """
        assert Json('{"a": [1, 2]}') == Json('{ "a":[1,2] }')
        assert Json('{"a":1,"b":2}') != Json('{"b":2,"a":1}')
        assert Json("1.0") != Json("1.00")

    def test_keeps_space_inside_text(self):
        """
        Only space between tokens is taken out, also beside escaped quotes.
        """
        assert r'{"a b":"c \" d\\"}' == Json(r'{ "a b" : "c \" d\\" }').text

    def test_gives_a_fresh_value_each_time(self):
        """
        Nobody can change what it holds.
        """
        held = Json('{"a": [1]}')
        held.value["a"].append(2)

        assert {"a": [1]} == held.value

    def test_reads_as_a_mapping(self):
        """
        Whatever a dict is read with.
        """
        value = {"a": 1, "b": {"c": [2]}}
        read = json_of(value)

        assert isinstance(read, Mapping)
        assert (1, {"c": [2]}) == (read["a"], read["b"])
        assert (1, None, 7) == (read.get("a"), read.get("x"), read.get("x", 7))
        assert (True, False) == ("a" in read, "x" in read)
        assert (2, ["a", "b"]) == (len(read), list(read))
        assert (list(value), list(value.items())) == (list(read.keys()), list(read.items()))
        assert [1, {"c": [2]}] == list(read.values())
        assert value == dict(read) == {**read}
        with pytest.raises(KeyError, match="x"):
            _ = read["x"]

    def test_gives_nothing_that_could_change_it(self):
        """
        A value read by its key is as fresh as the whole.
        """
        read = json_of({"a": [1]})
        read["a"].append(2)

        assert [1] == read["a"]
        assert not hasattr(read, "__setitem__")

    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("[1]", "a list"),
            ('"a"', "text"),
            ("5", "a number"),
            ("1.5", "a number"),
            ("true", "a boolean"),
            ("null", "null"),
        ],
    )
    def test_has_no_keys_unless_it_is_an_object(self, text, kind):
        """
        And says what it is instead.
        """
        read = Json(text)
        for use in (len, list, dict, lambda json: json["a"], lambda json: json.get("a")):
            with pytest.raises(ConfigError) as caught:
                use(read)

            assert f"Json: this is {kind}, and only an object has keys; read `.value`" == str(
                caught.value
            )

    def test_is_not_equal_to_the_dict_that_it_reads_as(self):
        """
        It is its text; so two that differ in the order of keys are two.
        """
        assert json_of({"a": 1}) != {"a": 1}
        assert json_of({"a": 1, "b": 2}) != json_of({"b": 2, "a": 1})
        assert hash(Json('{"a": 1}')) == hash(json_of({"a": 1}))

    def test_is_what_a_message_holds(self):
        """
        Its metadata is read by key, and goes on to another message.
        """
        message = user("hi", metadata={"tenant": "acme"})

        assert "acme" == message.metadata["tenant"]
        assert message.metadata == user("ho", metadata=message.metadata).metadata
        assert {"tenant": "acme", "n": 1} == (
            user("ho", metadata={**message.metadata, "n": 1}).metadata.value
        )

    def test_is_false_when_it_is_an_empty_object(self):
        """
        So `if message.metadata` asks whether there is any.
        """
        assert not Json()
        assert Json("[]")

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("{", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
            ("[NaN]", "NaN is not JSON"),
            ("", "Expecting value: line 1 column 1 (char 0)"),
        ],
    )
    def test_refuses_what_is_no_json(self, text, problem):
        """
        The message holds the problem, the text and what to do.
        """
        assert refusal(lambda: Json(text)) == (
            f"Json: not JSON text ({problem}): {text!r}; use json_of(value) for a value"
        )

    def test_refuses_text_nested_too_deep(self):
        """
        Python cannot read it back, so it is refused at once.
        """
        assert refusal(lambda: Json("[" * 100_000)).startswith("Json: not JSON text (")

    def test_refuses_a_value(self):
        """
        It takes text; `json_of` takes values.
        """
        assert "Json: expected text (str), got dict" == refusal(lambda: Json({"a": 1}))


class TestJsonOf:
    @given(values)
    def test_gives_every_value_back(self, value):
        """
        The value read is the value written, and reading its text again changes nothing.
        """
        kept = json_of(value)

        assert json.loads(json.dumps(value)) == kept.value
        assert kept == Json(kept.text)

    def test_takes_json_as_it_is(self):
        """
        A `Json` is not wrapped again.
        """
        held = Json("[1]")

        assert json_of(held) is held

    def test_escapes_lone_surrogates(self):
        """
        Its text can be encoded, and the value is as it was.
        """
        held = json_of({LONE: f"é{LONE}"})

        assert r'{"\ud83d":"é\ud83d"}' == held.text
        assert {LONE: f"é{LONE}"} == held.value

    @pytest.mark.parametrize(
        ("value", "problem"),
        [
            ({"at": {1, 2}}, "meta.at: JSON cannot hold a set; convert it first"),
            ({"a": [{"b": b""}]}, "meta.a[0].b: JSON cannot hold a bytes; convert it first"),
            (math.inf, "meta: JSON cannot hold the float inf; use None or a string"),
            ({"a": (math.nan,)}, "meta.a[0]: JSON cannot hold the float nan; use None or a string"),
            ({"a": {1: "b"}}, "meta.a: JSON keys are text, got 1; use '1'"),
        ],
    )
    def test_names_the_path_of_what_json_cannot_hold(self, value, problem):
        """
        Sets, bytes, numbers that are none and keys that are no text are refused at their path.
        """
        assert problem == refusal(lambda: json_of(value, "meta"))

    def test_refuses_what_contains_itself(self):
        """
        A list in itself has no end.
        """
        loop = []
        loop.append(loop)

        assert refusal(lambda: json_of(loop, "meta")).endswith(
            "…: nested over 200 deep, or it contains itself; flatten it"
        )

    def test_refuses_what_another_stack_could_not_read(self):
        """
        Deep nesting is refused when it comes, as a value and as text, not when it is read back.
        """
        deep = "[" * 300 + "]" * 300

        for act in (lambda: json_of(json.loads(deep), "meta"), lambda: Json(deep)):
            assert "nested over 200 deep" in refusal(act)

    def test_refuses_a_number_too_long_to_write(self):
        """
        Python writes no more than 4,300 digits.
        """
        assert refusal(lambda: json_of(10**5_000, "meta")).startswith(
            "meta: JSON cannot hold this (Exceeds the limit"
        )

    def test_refuses_a_mapping_that_is_no_dict(self):
        """
        JSON would not write it.
        """
        assert "meta.a: JSON cannot hold a mappingproxy; convert it first" == refusal(
            lambda: json_of({"a": MappingProxyType({})}, "meta")
        )

    @pytest.mark.parametrize(
        "value",
        [{"a": "[" * 300}, {"a": {"b": [{"c": 1}]}}, [[1.5, True], (None, "é")], "{", 1, None],
    )
    def test_takes_what_only_looks_deep(self, value):
        """
        Brackets inside of text nest nothing.
        """
        assert json.loads(json.dumps(value)) == json_of(value).value

    @pytest.mark.parametrize(
        "value", [{"a": [{1: "b"}]}, [{"a": {None: 1}}], ({"a": ({True: 1},)},)]
    )
    def test_refuses_keys_that_are_no_text_at_any_depth(self, value):
        """
        They would be read back as text.
        """
        assert "JSON keys are text, got" in refusal(lambda: json_of(value))

    def test_takes_values_of_your_own_types_as_json_does(self):
        """
        A kind of text, number, list or dict is written as what it is.
        """

        class Word(str):
            __slots__ = ()

        class Some(dict):
            pass

        assert '{"a":"b","c":[1]}' == json_of(Some({Word("a"): Word("b"), "c": (1,)})).text

    @given(values)
    def test_writes_what_the_encoder_of_the_library_writes(self, value):
        """
        Also where an interpreter has no encoder in C.
        """
        plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
        by_hand = "".join(plain.encode(value))
        escaped = "".join(
            f"\\u{ord(letter):04x}" if "\ud800" <= letter <= "\udfff" else letter
            for letter in by_hand
        )

        assert escaped == json_text(value) == json_of(value).text

    def test_needs_no_encoder_in_c(self, monkeypatch):
        """
        An interpreter without one writes the same.
        """
        monkeypatch.setattr(json.encoder, "c_make_encoder", None)

        assert '{"a":[1,"é"]}' == "".join(_encoder()({"a": [1, "é"]}, 0))

    def test_json_text_keeps_the_order_of_keys(self):
        """
        Nothing is sorted and nothing is spaced.
        """
        assert '{"b":1,"a":[true,null,1.5]}' == json_text({"b": 1, "a": [True, None, 1.5]})


class TestParts:
    @pytest.mark.parametrize(
        ("part", "shown"),
        [
            (Text("hi"), "Text(text='hi')"),
            (
                Image("abcd", media_type="image/png", width=3, height=4),
                (
                    "Image(data=<4 characters>, url='', file='', media_type='image/png', "
                    "detail='', width=3, height=4)"
                ),
            ),
            (
                Document("abc", name="a.pdf"),
                (
                    "Document(data=<3 characters>, url='', file='', text='', media_type='', "
                    "name='a.pdf')"
                ),
            ),
            (
                Audio("abcde"),
                "Audio(data=<5 characters>, url='', file='', media_type='', transcript='')",
            ),
            (Reasoning("hm"), "Reasoning(text='hm', signature='', encrypted='')"),
            (ToolCall("c1", "f"), "ToolCall(id='c1', name='f', arguments='{}')"),
            (
                ToolResult("c1", "ok"),
                "ToolResult(call_id='c1', content=(Text(text='ok'),), is_error=False)",
            ),
            (Opaque("x", [1]), "Opaque(provider='x', data=Json(text='[1]'))"),
        ],
    )
    def test_are_values(self, part, shown):
        """
        Equal, hashable, picklable; a repr never spills a payload.
        """
        assert {part} == {evolve(part)}
        assert part == pickle.loads(pickle.dumps(part))
        assert shown == repr(part)

    def test_keep_what_has_no_field(self):
        """
        A provider's own keys are kept, and they count for equality.
        """
        part = Text("hi", extra={"cache_control": {"type": "ephemeral"}})

        assert {"cache_control": {"type": "ephemeral"}} == part.extra.value
        assert part != Text("hi")
        assert Text("hi") == Text("hi", extra=None)
        assert part == Text("hi", extra=part.extra)

    def test_refuse_extra_that_json_cannot_hold(self):
        """
        The path begins with the field.
        """
        assert refusal(lambda: Text("hi", extra={"a": object()})) == (
            "extra.a: JSON cannot hold a object; convert it first"
        )

    @pytest.mark.parametrize(
        "build",
        [
            lambda: Image(width="3"),
            lambda: Image(height=1.5),
            lambda: ToolResult("c1", "ok", is_error="no"),
            lambda: ToolCall(3, None, 4),
            lambda: ToolCall("c1", None),
            lambda: Message(5, 7),
            lambda: Message("user", 7),
        ],
        ids=[
            "width",
            "height",
            "is_error",
            "all of a call",
            "name of a call",
            "all of a message",
            "content",
        ],
    )
    def test_refuse_fields_of_another_type(self, build):
        """
        A field that would fail at saving fails when it is built.
        """
        with pytest.raises(ConfigError):
            build()


HELD = Json('{"openai_chat":{"keys":{"a":1}}}')
TEXTS = ("", "plain", "Grüße 你好", LONE, PAIR, f"a{PAIR}\x00")


def same_in_every_way(quick, built):
    """
    Whether two values cannot be told apart, nor what is made of them.
    """
    return (
        (type(quick), quick, hash(quick), repr(quick), astuple(quick))
        == (type(built), built, hash(built), repr(built), astuple(built))
        and pickle.dumps(quick) == pickle.dumps(built)
        and pickle.loads(pickle.dumps(quick)) == built
        and evolve(quick) == evolve(built) == copy.deepcopy(quick)
        and {quick} == {built}
    )


class TestQuick:
    @pytest.mark.parametrize("text", TEXTS)
    def test_values_are_those_of_the_classes(self, text):
        """
        Equal, as hashable, as picklable; two surrogates of a character are joined as well.
        """
        parts = (quick_text(text), quick_call(text, text, text))

        for quick, built in (
            (quick_text(text), Text(text)),
            (quick_text(text, HELD), Text(text, extra=HELD)),
            (quick_call(text, text, text), ToolCall(text, text, text)),
            (quick_call("c", "f", "{}", HELD), ToolCall("c", "f", extra=HELD)),
            (quick_reasoning(text, text, text), Reasoning(text, signature=text, encrypted=text)),
            (quick_reasoning("a", "", "", HELD), Reasoning("a", extra=HELD)),
            (quick_opaque(text, HELD), Opaque(text, HELD)),
            (quick_result(text, ()), ToolResult(text)),
            (
                quick_result("c", parts[:1], True, HELD),  # noqa: FBT003
                ToolResult("c", text, is_error=True, extra=HELD),
            ),
            (quick_message("user", parts), Message("user", parts)),
            (quick_message(f"x{text}", ()), Message(f"x{text}")),
            (
                quick_message("user", parts, text, text, HELD, HELD),
                Message("user", parts, name=text, id=text, metadata=HELD, extra=HELD),
            ),
        ):
            assert same_in_every_way(quick, built)

    def test_values_cannot_be_changed(self):
        """
        They are frozen as soon as they are there.
        """
        for value, name in ((quick_text("a"), "text"), (quick_message("user", ()), "role")):
            with pytest.raises(FrozenInstanceError):
                setattr(value, name, "b")

    def test_trusted_json_is_json(self):
        """
        Text that we wrote is kept without reading it.
        """
        assert same_in_every_way(trusted('{"a":1}'), Json('{"a": 1}'))


class TestToolCall:
    def test_keeps_arguments_as_the_provider_wrote_them(self):
        """
        Text is not reformatted, even where it is no JSON.
        """
        assert '{"a": 1.50' == ToolCall("c1", "f", '{"a": 1.50').arguments

    def test_writes_a_dict_of_arguments_as_json(self):
        """
        A dict becomes compact text, in its order.
        """
        assert '{"b":1,"a":"é"}' == ToolCall("c1", "f", {"b": 1, "a": "é"}).arguments

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('{"city": "Lima", "days": [1, 2.5]}', {"city": "Lima", "days": [1, 2.5]}),
            ("{}", {}),
            ("", {}),
            (" \n", {}),
        ],
    )
    def test_parses_its_arguments(self, text, expected):
        """
        A fresh dict each time; where a model wrote nothing it is empty.
        """
        call = ToolCall("c1", "weather", text)
        call.args["more"] = 1

        assert expected == call.args

    @pytest.mark.parametrize(
        "text",
        [
            "[1]",
            "null",
            '"Lima"',
            "5",
            '{"city": ',
            "{'city': 1}",
            '{"n": NaN}',
            '{"n": 1e999}',
            "{} {}",
            "ls -la",
            "[" * 100_000,
            '{"n": ' + "9" * 10_000 + "}",
        ],
        ids=lambda text: text[:20],
    )
    def test_names_the_call_whose_arguments_are_not_an_object(self, text):
        """
        In a few words, however long they are.
        """
        with pytest.raises(FormatError) as caught:
            _ = ToolCall("c1", "weather", text).args

        assert str(caught.value).startswith(
            "call `c1` of `weather`: its arguments are not a JSON object, but "
        )
        assert len(str(caught.value)) < 300

    def test_names_a_call_of_any_size_in_short(self):
        """
        A provider's mistake does not fill a log.
        """
        with pytest.raises(FormatError) as caught:
            _ = ToolCall("c" * 10_000, "n" * 10_000, "x" * 10_000).args

        assert len(str(caught.value)) < 400

    def test_refuses_arguments_that_are_neither(self):
        """
        The message names the field.
        """
        assert "arguments: expected text (str), got list" == refusal(
            lambda: ToolCall("c1", "f", [1])
        )


class TestToolResult:
    def test_text_is_that_of_its_text_parts(self):
        """
        Pictures between words are passed over.
        """
        assert "ab" == ToolResult("c1", ["a", Image(url="u"), Text("b")]).text

    def test_refuses_calls_reasoning_and_results(self):
        """
        A result holds content, nothing that is tied to something else.
        """
        assert "a tool result cannot hold a ToolCall" == refusal(
            lambda: ToolResult("c1", ToolCall("c2", "f"))
        )


class TestMessage:
    def test_takes_text_parts_and_any_mix_of_them(self):
        """
        A string, a part, a tuple of parts, a generator of either: all become parts.
        """
        picture = Image(url="u")

        assert (Text("a"),) == Message("user", "a").parts
        assert (picture,) == Message("user", picture).parts
        assert (Text("a"), picture) == Message("user", (Text("a"), picture)).parts
        assert (Text("a"), picture) == Message("user", (p for p in ("a", picture))).parts
        assert () == Message("user").parts

    @pytest.mark.parametrize(
        ("content", "kind"),
        [(b"a", "bytes"), ({"type": "text"}, "dict"), (3, "int"), (["a", {"b": 1}], "dict")],
    )
    def test_refuses_content_that_is_no_part(self, content, kind):
        """
        The message says what reads a provider's dicts.
        """
        assert refusal(lambda: Message("user", content)) == (
            "a message's content: expected text or parts (Text, Image, ToolCall, …), "
            f"got {kind}; formats.*.load reads a provider's dicts"
        )

    def test_takes_any_role_but_none(self):
        """
        A role is a word of your own choice; it is not left out.
        """
        assert "critic" == Message("critic", "a").role
        assert "role: expected a word such as 'user', got ' '" == refusal(lambda: Message(" ", "a"))
        assert "role: expected text (str), got NoneType" == refusal(lambda: Message(None, "a"))

    @pytest.mark.parametrize("name", ["name", "id"])
    def test_refuses_a_name_or_id_that_is_no_text(self, name):
        """
        Both are text or None.
        """
        assert "name or id: expected text (str), got int" == refusal(
            lambda: Message("user", "a", **{name: 3})
        )

    def test_keeps_metadata(self):
        """
        A dict in, `Json` kept; None and an empty dict are none.
        """
        assert {"a": 1} == user("a", metadata={"a": 1}).metadata.value
        assert user("a") == user("a", metadata={}) == user("a", metadata=None)
        assert user("a", metadata={"a": 1}) == user("a", metadata=Json('{"a":1}'))

    def test_refuses_metadata_by_its_path(self):
        """
        What is no dict, and what JSON cannot hold, is refused when the message is built.
        """
        assert "metadata: expected a dict, got list" == refusal(lambda: user("a", metadata=[1]))
        assert "metadata.a[1]: JSON cannot hold a set; convert it first" == refusal(
            lambda: user("a", metadata={"a": [1, {2}]})
        )

    def test_gives_its_parts_by_kind(self):
        """
        Words, calls, results and reasoning, each in their order.
        """
        call, result, thought = ToolCall("c1", "f"), ToolResult("c0", "ok"), Reasoning("hm")
        message = Message("assistant", ["a", thought, result, call, "b"])

        assert ("aokb", (call,), (result,), (thought,)) == (
            message.text,
            message.tool_calls,
            message.tool_results,
            message.reasoning,
        )

    def test_counted_text_holds_a_line_for_each_kind(self):
        """
        Words, reasoning, calls with their arguments, ids of results; empty ones are left out.
        """
        message = Message(
            "assistant",
            ["words", Reasoning("hm"), Reasoning(""), ToolCall("c1", "f", "{}"), ToolResult("c0")],
        )

        assert "words\nhm\nf({})\nc0" == message.counted_text()
        assert "" == assistant().counted_text()

    def test_reads_as_role_and_content(self):
        """
        Calls stand behind, so a trace can be read.
        """
        message = assistant("Looking.", calls=[ToolCall("c1", "f", "{}"), ToolCall("c2", "g")])

        assert "assistant: Looking. [tool calls: f({}), g({})]" == str(message)
        assert "user: hi" == str(user("hi"))

    def test_is_a_value(self):
        """
        Equal, hashable and picklable, also with a lone surrogate in it.
        """
        message = user(f"a{LONE}\x00", name="Ana", id="m1", metadata={"k": LONE})

        assert {message} == {evolve(message)}
        assert message == pickle.loads(pickle.dumps(message))


class TestBuilders:
    def test_build_what_the_class_builds(self):
        """
        Each is its role's message, with the same keywords.
        """
        options = {"name": "n", "id": "m1", "metadata": {"a": 1}}

        assert Message("system", "a", **options) == system("a", **options)
        assert Message("user", "a", **options) == user("a", **options)
        assert Message("assistant", "a", **options) == assistant("a", **options)
        assert Message("tool", ToolResult("c1", "a", is_error=True), **options) == tool(
            "a", call_id="c1", is_error=True, **options
        )

    def test_assistant_puts_its_calls_behind_its_words(self):
        """
        As every provider has them.
        """
        message = assistant(["a", Reasoning("hm")], calls=[ToolCall("c1", "f")])

        assert (Text("a"), Reasoning("hm"), ToolCall("c1", "f")) == message.parts

    def test_assistant_takes_one_call_as_it_is(self):
        """
        As content takes one part; what is no call is named.
        """
        assert assistant(calls=[ToolCall("c1", "f")]) == assistant(calls=ToolCall("c1", "f"))
        with pytest.raises(ConfigError, match=r"calls: expected text or parts .*, got int"):
            assistant(calls=[3])

    def test_tool_takes_an_empty_answer(self):
        """
        A tool may have nothing to say.
        """
        assert ToolResult("c1") == tool(call_id="c1").tool_results[0]
