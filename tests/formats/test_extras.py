"""
What a format keeps beside the fields of a value comes back as it was.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged.errors import ConfigError
from unabridged.formats.extras import Extras, item_json
from unabridged.json_values import Json, json_of

OURS = Extras("openai_chat")

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    scalars | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
keys_like = st.dictionaries(st.text(max_size=6), values, max_size=4)
hints = st.dictionaries(st.sampled_from(["as", "content"]), st.sampled_from(["list", "null"]))

letters = st.text(st.characters(), max_size=6).flatmap(
    lambda some: st.sampled_from([some, "c2ln" * 300, "c2ln" * 300 + some, some * 300])
)


class TestExtras:
    @given(keys_like, hints, keys_like)
    def test_gives_back_what_it_kept(
        self, keys: dict[str, Any], shape: dict[str, Any], inner: dict[str, Any]
    ):
        """
        Keys, hints and what stands under "inner" come back, in their order and type.
        """
        shape = shape | ({"inner": inner} if inner else {})
        extra = OURS.kept(keys, shape, "messages[0]")
        found = shape | ({"keys": keys} if keys else {})

        assert json.dumps(found) == json.dumps(OURS.own(extra))
        assert extra == (json_of({"openai_chat": found}) if found else Json())
        assert {} == Extras("gemini").own(extra)

    @given(
        st.dictionaries(st.text(st.characters(), max_size=6), letters, max_size=3),
        hints,
        st.dictionaries(st.text(st.characters(), max_size=6), letters, max_size=2),
    )
    def test_writes_texts_as_the_encoder_does(
        self, keys: dict[str, str], shape: dict[str, Any], inner: dict[str, str]
    ):
        """
        Long or short, with what needs an escape or without, they are what `json_of` makes of them.
        """
        shape = shape | ({"inner": inner} if inner else {})
        found = shape | ({"keys": keys} if keys else {})
        extra = OURS.kept(keys, shape, "messages[0]")

        assert extra == (json_of({"openai_chat": found}) if found else Json())
        assert extra == Json(extra.text)

    def test_tells_values_apart_that_are_equal(self):
        """
        1, 1.0 and True are three keys' values, also right after another; so are orders of keys.
        """
        seen = [{"a": 1}, {"a": True}, {"a": 1.0}, {"a": 0.0}, {"a": -0.0}]
        seen += [{"a": 1, "b": 2}, {"b": 2, "a": 1}]
        texts = [OURS.kept(keys, {}, "x").text for keys in seen]

        assert [json_of({"openai_chat": {"keys": keys}}).text for keys in seen] == texts

    @pytest.mark.parametrize("keys", [{"a": [1]}, {"a": {"b": [1] * 300}}, {"a": "x" * 300}])
    def test_gives_out_fresh_keys(self, keys: dict[str, Any]):
        """
        Whoever changes the keys that are given out changes nothing else.
        """
        extra = OURS.kept(keys, {"as": "x"}, "x")
        OURS.own(extra)["keys"].clear()

        assert keys == OURS.own(extra)["keys"]

    @pytest.mark.parametrize(
        ("keys", "shape", "text"),
        [
            ({"a": {1}}, {}, "messages[0].a: JSON cannot hold a set; convert it first"),
            ({"a": b""}, {}, "messages[0].a: JSON cannot hold a bytes; convert it first"),
            ({"a": object()}, {}, "messages[0].a: JSON cannot hold a object; convert it first"),
            ({1: "a"}, {}, "messages[0]: JSON keys are text, got 1; use '1'"),
            ({}, {"inner": {"a": {1}}}, "messages[0].a: JSON cannot hold a set; convert it first"),
        ],
    )
    def test_names_the_place_of_what_json_cannot_hold(
        self, keys: dict[Any, Any], shape: dict[str, Any], text: str
    ):
        """
        The place is where the caller wrote it, the first time and the next.
        """
        for _ in range(2):
            with pytest.raises(ConfigError) as caught:
                OURS.kept(keys, shape, "messages[0]")

            assert text == str(caught.value)

    def test_refuses_keys_that_could_not_be_read_back(self):
        """
        With what it puts around them they are no deeper than JSON may be.
        """
        deep: list[Any] = []
        for _ in range(198):
            deep = [deep]

        with pytest.raises(ConfigError, match="nested over 200 deep"):
            OURS.kept({"a": deep}, {}, "x")
        kept = OURS.kept({"a": deep[0][0]}, {}, "x")
        assert kept == Json(kept.text)

    @pytest.mark.parametrize("value", [["no dict"], {"openai_chat": "no dict"}, "text", 1])
    def test_reads_nothing_from_an_extra_of_something_else(self, value: Any):
        """
        An extra made by hand has nothing of ours in it.
        """
        assert {} == OURS.own(json_of(value))

    @pytest.mark.parametrize(
        ("value", "name", "is_foreign"),
        [
            ({}, "anthropic", False),
            ({"anthropic": {}}, "anthropic", False),
            ({"gemini": {}}, "anthropic", True),
            ({"gemini": {}, "anthropic": {}}, "anthropic", False),
            ({"openai_chat": {}}, "openai_responses", False),
            ({"openai_responses": {}}, "openai_chat", False),
            ({"openai_chat": {}}, "bedrock", True),
            ({"acme": {}}, "anthropic", False),
            (["gemini"], "anthropic", False),
            ("gemini", "anthropic", False),
        ],
    )
    def test_says_what_another_provider_made(self, value: Any, name: str, is_foreign: bool):
        """
        What nobody we know made is nobody's, and OpenAI's two formats are one provider's.
        """
        assert is_foreign == Extras(name).is_foreign(json_of(value))


class TestItemJson:
    @given(st.dictionaries(st.text(st.characters(), max_size=6), values | letters, max_size=4))
    def test_is_what_json_of_makes(self, item: dict[str, Any]):
        """
        Also with long texts, which are written apart.
        """
        assert json_of(item) == item_json(item, "item")

    @pytest.mark.parametrize("value", [{1: "a"}, {"a": {1}}, {1}, b""])
    def test_names_the_place_of_what_json_cannot_hold(self, value: Any):
        """
        As `json_of` does.
        """
        with pytest.raises(ConfigError) as wished:
            json_of({"long": "x" * 2_000, "b": value}, "item")
        with pytest.raises(ConfigError) as caught:
            item_json({"long": "x" * 2_000, "b": value}, "item")

        assert str(wished.value) == str(caught.value)

    def test_is_never_deeper_than_json_may_be(self):
        """
        An object around what is as deep as may be is one too many.
        """
        deep: list[Any] = []
        for _ in range(200):
            deep = [deep]

        with pytest.raises(ConfigError, match="nested over 200 deep"):
            item_json({"long": "x" * 2_000, "deep": deep}, "item")
        kept = item_json({"long": "x" * 2_000, "deep": deep[0]}, "item")
        assert kept == Json(kept.text)
