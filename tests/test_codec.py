"""
Format versions 1 to 3: what is written once loads for ever.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged.codec import (
    change_from_json,
    change_to_json,
    message_from_json,
    message_to_json,
    note_from_json,
    note_to_json,
    record_from_json,
    record_of_text,
    record_text,
    record_to_json,
    span_from_json,
    span_to_json,
)
from unabridged.codec_states import PARTS, changed_parts, state_from_json, state_to_json
from unabridged.errors import CorruptLogError
from unabridged.json_values import Json, json_text
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
    assistant,
    system,
    user,
)
from unabridged.records import (
    Appended,
    Compacted,
    Drop,
    Fold,
    Forked,
    Hold,
    Insert,
    Note,
    Noted,
    Pinned,
    Record,
    Reverted,
)
from unabridged.spans import NOTHING, Span
from unabridged.states import ThreadState, rebuilt
from unabridged.stores import InMemoryStore
from unabridged.testing.store_samples import eventful, everything

SAMPLE = Path(__file__).parent / "data" / "format_v1.jsonl"
SAMPLE_V2 = Path(__file__).parent / "data" / "format_v2.jsonl"
SAMPLE_V3 = Path(__file__).parent / "data" / "format_v3.jsonl"
SAMPLE_V4 = Path(__file__).parent / "data" / "format_v4.jsonl"

ODD = 'café 日本 \U0001f600 \ud800 \udc00\ud800 \x00 \x7f \u2028 "quotes" \\ \r\n\t'
EXTRA = Json('{"b": 1.50, "a": 10000000000000000000000, "c": "\\ud800\\u0000", "d": 1E+2}')


def sample() -> list[Record]:
    """
    The records in `tests/data/format_v1.jsonl`; never change one, append new ones.
    """
    result = ToolResult(
        "c1",
        (
            Text(ODD),
            Image(url="https://example.org/a.png", extra=EXTRA),
            Document(text=ODD, name="a.txt"),
            Audio(file="f1"),
            Opaque("p", [1, None]),
        ),
        is_error=True,
        extra=EXTRA,
    )
    bodies = [
        Appended(1, system("Be brief.")),
        Appended(2, Message("user"), pinned=True),
        Appended(3, user(ODD, id=ODD, name=ODD, metadata={ODD: [ODD, 0.1, {"x": None}]})),
        Appended(4, Message("narrator", (Text(ODD, extra=EXTRA), Text("")), extra=EXTRA)),
        Appended(
            5,
            user(
                [
                    Image("aGk=", media_type="image/png", detail="low", width=640, height=480),
                    Image(file="f0", extra=EXTRA),
                    Document("aGk=", "https://example.org", file="f", media_type="text/plain"),
                    Document(text=ODD, name="a", extra=EXTRA),
                    Audio("aGk=", "https://example.org", media_type="audio/wav", transcript=ODD),
                    Audio(file="f1", extra=EXTRA),
                ]
            ),
        ),
        Appended(
            6,
            assistant(
                [
                    Reasoning(ODD, signature="c2ln==", encrypted="ZW5j", extra=EXTRA),
                    "Looking.",
                    ToolCall("c1", "look", '{"q": 1.50}', extra=EXTRA),
                    ToolCall("c2", "look"),
                ]
            ),
        ),
        Appended(7, Message("tool", result)),
        Appended(8, Message("tool", ToolResult("c2"))),
        Appended(9, Message("assistant", Opaque("provider", {"type": ODD, "n": [1.0, 1]}))),
        Noted(
            (
                Note("cut", "Window(2)", {"first": 21}),
                Note("answer", ODD, ODD, Span.of([1, (3, 4)])),
            )
        ),
        Compacted(
            (
                Drop(Span.of([1, (3, 4)]), reason=ODD, step="Window(2)", replace=True),
                Drop(Span.one(2)),
                Fold(Span.between(5, 6), system(ODD), reason="old", step="s", replace=True),
                Fold(Span.one(7), user("short")),
                Insert(system("It is Monday."), 6, reason="r", step="s", replace=True),
                Insert(user("first")),
                Hold(Span.one(8), reason="recalled", step="s", replace=True),
                Hold(NOTHING),
            ),
            10,
        ),
        Compacted((), 0),
        Noted(()),
        Reverted(11),
        Pinned(Span.of([1, (3, 4)])),
        Pinned(Span.one(2), on=False),
    ]
    times = [0.0, 1764495555.123456, 1e-9, 5]

    return [Record(rec, times[rec % len(times)], body) for rec, body in enumerate(bodies, start=1)]


def sample_v2() -> list[Record]:
    """
    The records in `tests/data/format_v2.jsonl`: the kind that version 2 added.
    """
    return [Record(21, 1764495555.123456, Forked("main", 20)), Record(22, 5, Forked(ODD, 21))]


def sample_v3() -> list[Record]:
    """
    The records in `tests/data/format_v3_folds.jsonl`: folds that say whether they are summaries.
    """
    told = Fold(Span.one(3), system("He asked."), reason="told", replace=True, summary=True)
    joined = Fold(Span.between(4, 6), user("a\n\nb"), step="joined", replace=True, summary=False)

    return [Record(31, 5, Compacted((told, joined), 30))]


EVERY = [*sample(), *sample_v2(), *sample_v3()]


class TestFormatV1:
    def test_loads_the_frozen_sample(self):
        """
        Each line of the sample loads into the value it was written from.
        """
        lines = SAMPLE.read_text(encoding="utf-8").split("\n")[:-1]

        assert sample() == [record_of_text(line) for line in lines]

    def test_saves_the_frozen_sample(self):
        """
        Each value is written as the line of the sample.
        """
        text = "".join(json_text(record_to_json(record)) + "\n" for record in sample())

        assert SAMPLE.read_text(encoding="utf-8") == text


class TestFormatV3:
    def test_loads_the_frozen_sample(self):
        """
        Each line of the sample loads into the value it was written from.
        """
        lines = SAMPLE_V3.read_text(encoding="utf-8").split("\n")[:-1]

        assert sample_v3() == [record_of_text(line) for line in lines]

    def test_saves_the_frozen_sample(self):
        """
        Each value is written as the line of the sample.
        """
        text = "".join(json_text(record_to_json(record)) + "\n" for record in sample_v3())

        assert SAMPLE_V3.read_text(encoding="utf-8") == text

    def test_is_written_only_where_it_is_needed(self):
        """
        A fold that does not say it stays readable for a library that knows version 1.
        """
        assert {3} == {record_to_json(record)["v"] for record in sample_v3()}
        assert {1} == {record_to_json(record)["v"] for record in sample()}


class TestFormatV2:
    def test_loads_the_frozen_sample(self):
        """
        Each line of the sample loads into the value it was written from.
        """
        lines = SAMPLE_V2.read_text(encoding="utf-8").split("\n")[:-1]

        assert sample_v2() == [record_of_text(line) for line in lines]

    def test_saves_the_frozen_sample(self):
        """
        Each value is written as the line of the sample.
        """
        text = "".join(json_text(record_to_json(record)) + "\n" for record in sample_v2())

        assert SAMPLE_V2.read_text(encoding="utf-8") == text

    def test_is_written_only_where_it_is_needed(self):
        """
        All other kinds stay readable for a library that knows version 1.
        """
        assert {1} == {record_to_json(record)["v"] for record in sample()}
        assert {2} == {record_to_json(record)["v"] for record in sample_v2()}

    def test_holds_all_of_version_1(self):
        """
        The kinds of before may be written as version 2 too.
        """
        for record in sample():
            assert record == record_from_json({**record_to_json(record), "v": 2})


text = st.text(st.characters() | st.sampled_from("\ud800\udc00\x00"), max_size=8)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(text, values, max_size=3)
simple_parts = st.one_of(
    st.builds(Text, text, extra=objects),
    st.builds(Image, text, text, width=st.integers(0, 9), extra=objects),
    st.builds(Document, text, text, name=text, extra=objects),
    st.builds(Audio, text, text, transcript=text, extra=objects),
    st.builds(Opaque, text, values),
)
parts = st.one_of(
    simple_parts,
    st.builds(Reasoning, text, signature=text, encrypted=text, extra=objects),
    st.builds(ToolCall, text, text, text, extra=objects),
    st.builds(
        ToolResult, text, st.lists(simple_parts, max_size=3), is_error=st.booleans(), extra=objects
    ),
)
messages = st.builds(
    Message,
    st.sampled_from(["user", "assistant", "tool", "odd"]),
    st.lists(parts, max_size=3),
    name=st.none() | text,
    id=st.none() | text,
    metadata=objects,
    extra=objects,
)


class TestMessages:
    @given(messages)
    def test_go_to_json_and_back(self, message):
        """
        Any message is the same after JSON, in a store of UTF-8 too.
        """
        line = record_text(Record(1, 0.0, Appended(1, message)))

        assert Record(1, 0.0, Appended(1, message)) == record_of_text(line.encode())
        assert message == message_from_json(json.loads(json.dumps(message_to_json(message))))

    def test_are_short(self):
        """
        Defaults are left out and plain words are bare.
        """
        assert {"role": "user", "parts": ["hi"]} == message_to_json(user("hi"))

    def test_json_keeps_its_text(self):
        """
        Key order and the spelling of numbers survive.
        """
        message = Message("user", metadata=EXTRA)

        assert EXTRA.text == message_from_json(message_to_json(message)).metadata.text

    def test_input_is_untouched(self):
        """
        Reading takes nothing out of the data.
        """
        data = message_to_json(user([Text("hi", extra=EXTRA)], metadata=EXTRA))
        copy = json.loads(json.dumps(data))
        message_from_json(data)

        assert copy == data


class TestChanges:
    def test_go_to_json_and_back(self):
        """
        Each kind of change, note and span is the same after JSON.
        """
        for record in sample():
            match record.body:
                case Compacted(changes):
                    for change in changes:
                        assert change == change_from_json(change_to_json(change))
                case Noted(notes):
                    for note in notes:
                        assert note == note_from_json(note_to_json(note))
                case Pinned(span):
                    assert span == span_from_json(span_to_json(span))


class TestFormatV4:
    def test_loads_the_frozen_sample(self):
        """
        Each line of the sample loads into the value it was written from.
        """
        lines = SAMPLE_V4.read_text(encoding="utf-8").split("\n")[:-1]

        assert EVERY == [record_of_text(line) for line in lines]

    def test_saves_the_frozen_sample(self):
        """
        Each value is written as the line of the sample.
        """
        text = "".join(record_text(record) + "\n" for record in EVERY)

        assert SAMPLE_V4.read_text(encoding="utf-8") == text

    @pytest.mark.parametrize("record", EVERY, ids=lambda record: str(record.rec))
    def test_any_flipped_bit_is_corrupt(self, record):
        """
        Each bit of the line, one after another: never the same record, never another.
        """
        line = record_text(record).encode()
        for place in range(len(line)):
            for bit in range(8):
                damaged = bytearray(line)
                damaged[place] ^= 1 << bit
                with pytest.raises(CorruptLogError):
                    record_of_text(bytes(damaged))

    def test_covers_what_is_kept_beside(self):
        """
        A line beside other things than those it was written with is corrupt.
        """
        line = record_text(EVERY[0], b"row 1")

        assert EVERY[0] == record_of_text(line, b"row 1")
        for beside in (b"row 2", b""):
            with pytest.raises(CorruptLogError, match="its checksum is"):
                record_of_text(line, beside)


class TestDamage:
    @pytest.mark.parametrize("record", EVERY, ids=lambda record: str(record.rec))
    def test_a_cut_line_is_corrupt(self, record):
        """
        A line cut anywhere is a `CorruptLogError`, never another record.
        """
        line = record_text(record)

        for end in range(0, len(line), 1 + len(line) // 60):
            with pytest.raises(CorruptLogError):
                record_of_text(line[:end])

    @pytest.mark.parametrize("record", EVERY, ids=lambda record: str(record.rec))
    @pytest.mark.parametrize("wrong", [None, [[]], {"x": 1}, 1.5], ids=repr)
    def test_a_wrong_value_is_corrupt(self, record, wrong):
        """
        A value of a wrong type anywhere is a `CorruptLogError`, or reads as a record.
        """
        for damaged in with_each_value(record_to_json(record), wrong):
            try:
                assert isinstance(record_from_json(damaged), Record)
            except CorruptLogError:
                continue

    @pytest.mark.parametrize("record", EVERY, ids=lambda record: str(record.rec))
    def test_an_unknown_key_is_corrupt(self, record):
        """
        A key that this version does not know is not dropped.
        """
        for damaged in with_each_key(record_to_json(record), "surprise"):
            with pytest.raises(CorruptLogError, match="surprise"):
                record_from_json(damaged)

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            ('{"v":5,"rec":1}', "format version 5 is not known here"),
            ('{"v":4,"rec":1}', "its checksum is missing"),
            (
                '{"v":4,"rec":2,"at":0.5,"kind":"reverted","of":1,"sum":7}',
                "its checksum is 4025186013, not 7 as it says",
            ),
            ('{"v":true,"rec":1}', "format version True is not known here"),
            (
                '{"v":1,"rec":2,"at":1,"kind":"forked","thread":"a","upto":1}',
                "'forked' is not known",
            ),
            ('{"v":2,"rec":2,"at":1,"kind":"forked","thread":1,"upto":1}', "expected text, got 1"),
            ('{"rec":1}', "'v' is missing"),
            ("[1]", "an object is expected, not a list"),
            ("1" * 5000, "not JSON"),
            ("[" * 100_000, "not JSON"),
            ('{"v":1,"rec":1,"at":"noon","kind":"noted","notes":[]}', "'at' is no time"),
            ('{"v":1,"rec":true,"at":1,"kind":"noted","notes":[]}', "whole number, got True"),
            ('{"v":1,"rec":1,"at":1,"kind":"lost"}', "the kind 'lost' is not known"),
            ('{"v":1,"rec":1,"at":1,"kind":"pinned","span":[2,1]}', "ordered and apart"),
            ('{"v":1,"rec":1,"at":1,"kind":"pinned","span":[1],"on":0}', "true or false"),
        ],
    )
    def test_says_what_is_wrong(self, line, why):
        """
        The message names the damage.
        """
        with pytest.raises(CorruptLogError, match=why):
            record_of_text(line)

    @pytest.mark.parametrize(
        ("part", "why"),
        [
            ({"type": "smell"}, "unknown type 'smell'"),
            ({"type": "image", "width": "wide"}, "whole numbers"),
            ({"type": "result", "call_id": "c", "content": "text"}, "a list of parts is a str"),
            ({"text": "no type"}, "'type' is missing"),
        ],
    )
    def test_in_a_message(self, part, why):
        """
        A damaged part is named.
        """
        with pytest.raises(CorruptLogError, match=f"message: .*{why}"):
            message_from_json({"role": "user", "parts": [part]})

    @pytest.mark.parametrize(
        ("read", "data"),
        [
            (change_from_json, {"type": "swap", "sources": [1]}),
            (note_from_json, {"kind": 5, "key": "k", "value": "1"}),
            (span_from_json, [[1, 2, 3]]),
            (state_from_json, {"v": 2}),
            (state_from_json, {"v": 1, "rec": 1, "seq": 1, "links": [1]}),
            (
                state_from_json,
                {"v": 1, "rec": 1, "seq": 1, "links": [0] * 9}
                | {"folds": [change_to_json(Drop(Span.one(1)))]},
            ),
        ],
    )
    def test_in_other_values(self, read, data):
        """
        So it is with changes, notes, spans and states.
        """
        with pytest.raises(CorruptLogError):
            read(data)


class TestState:
    def test_goes_to_json_and_back(self):
        """
        After each append of an eventful log the state is the same after JSON.
        """
        store = InMemoryStore()
        for bodies in eventful():
            state = store.append("a", bodies).state

            assert state == state_from_json(json.loads(json.dumps(state_to_json(state))))

    def test_holds_odd_messages(self):
        """
        Ids and stand-ins of odd characters are the same after JSON.
        """
        bodies = [Appended(0, message) for message in everything()]
        changes = tuple(Fold(Span.one(n), one) for n, one in enumerate(everything(), start=1))
        store = InMemoryStore()
        store.append("a", [*bodies, Appended(0, assistant(calls=[ToolCall(ODD, "f")]))])
        state = store.append("a", [Compacted(changes, 9)]).state

        assert state == state_from_json(json.loads(json.dumps(state_to_json(state))))

    def test_parts_cover_all_fields(self):
        """
        Each field is in a part, or in the row that every append writes.
        """
        names = [name for part in PARTS.values() for name in part]
        fields = {field.name for field in ThreadState.__attrs_attrs__}

        assert fields == {"rec", "seq", "links", "live", *names}

    def test_a_message_changes_no_part(self):
        """
        An append of words rewrites nothing but the links.
        """
        before = rebuilt([Record(1, 0.0, Appended(1, system("Be brief.")))])
        after = rebuilt(
            [
                Record(1, 0.0, Appended(1, system("Be brief."))),
                Record(2, 0.0, Appended(2, user("hi"))),
            ]
        )

        assert [] == changed_parts(before, after)
        assert ["pins"] == changed_parts(ThreadState(), before)


def with_each_value(data: Any, wrong: Any) -> list[Any]:
    """
    Copies of the data, each with one value in it replaced.
    """
    if isinstance(data, dict):
        return [
            {**data, key: other}
            for key, value in data.items()
            for other in [wrong, *with_each_value(value, wrong)]
        ]
    if isinstance(data, list):
        return [
            [*data[:place], other, *data[place + 1 :]]
            for place, value in enumerate(data)
            for other in [wrong, *with_each_value(value, wrong)]
        ]

    return []


def with_each_key(data: Any, key: str) -> list[Any]:
    """
    Copies of the data, each with a key more in one of its objects.
    """
    more = [{**data, key: 1}] if isinstance(data, dict) else []
    if isinstance(data, dict):
        inner = [{**data, k: other} for k, v in data.items() for other in with_each_key(v, key)]
    elif isinstance(data, list):
        inner = [
            [*data[:place], other, *data[place + 1 :]]
            for place, value in enumerate(data)
            for other in with_each_key(value, key)
        ]
    else:
        inner = []

    return [*more, *inner]
