"""
Clipping text, and where a text may be cut.
"""

import pytest

from unabridged.clipping import Clipping, Limits, clip, mark
from unabridged.graphemes import cut_after, cut_before

WHOLE = {
    "an accent": "e\u0301",
    "an emoji of several": "👩🏽‍💻",
    "a flag": "🇫🇷",
    "a flag of tags": "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "letters of Hangul": "\u1112\u1161\u11ab",
    "a letter and a syllable of Hangul": "\u1100\uac00",
    "a syllable of Devanagari": "क्षि",
    "a keycap": "1\ufe0f\u20e3",
    "half-width kana": "\uff76\uff9e",
    "a line end": "\r\n",
    "two surrogates": "\ud83d\ude00",
}


class TestCuts:
    @pytest.mark.parametrize("whole", WHOLE.values(), ids=WHOLE)
    def test_part_nothing_that_people_see_as_one(self, whole):
        """
        They move before it, or after it.
        """
        text = f"a{whole}b"
        inside = range(2, len(whole) + 1)

        assert [1] * len(inside) == [cut_before(text, place) for place in inside]
        assert [len(whole) + 1] * len(inside) == [cut_after(text, place) for place in inside]
        assert (1, len(whole) + 1) == (cut_before(text, 1), cut_after(text, len(whole) + 1))

    def test_part_flags_two_by_two(self):
        """
        Four letters are two flags.
        """
        text = "🇩🇪🇫🇷🇵🇪"

        assert [0, 0, 2, 2, 4, 4, 6] == [cut_before(text, place) for place in range(7)]
        assert [0, 2, 2, 4, 4, 6, 6] == [cut_after(text, place) for place in range(7)]

    def test_part_a_mark_from_a_line_end(self):
        """
        It belongs to nothing there.
        """
        assert 1 == cut_before("\n\u0301a", 1)


class TestClip:
    def test_parts_no_words_where_one_ends_near(self):
        """
        Half a number is a wrong one.
        """
        text, how = clip("1234567 " * 60, Limits(100), len, "3")
        words = text.replace(mark(how.left, "3"), "").split()

        assert {"1234567"} == {*words}
        assert 4 <= len(words)

    def test_is_known_again_only_as_it_was(self):
        """
        Other numbers, or other words between, are none of ours.
        """
        text, how = clip("word " * 99, Limits(120), len, "3")
        again, _ = clip(text, Limits(90), len, "3", how)
        wrong = [
            clip(text, Limits(90), len, "3", other)
            for other in (None, Clipping(0, 0, how.left), Clipping(999, 0, 1))
        ]

        assert 1 == again.count("left out")
        assert wrong[0] == wrong[1] == wrong[2]
        assert wrong[0] != again

    def test_gets_shorter_until_it_fits(self):
        """
        Also by a counter to which a join costs more than its pieces.
        """

        def dear(text):
            return len(text) + (60 if "left out" in text and len(text) > 80 else 0)

        text, how = clip("a" * 999, Limits(130), dear, "3")

        assert 130 >= dear(text)
        assert how.head + how.tail > 10

    def test_is_halved_where_it_will_not_fit(self):
        """
        A counter may be as odd as it likes.
        """

        def odd(text):
            return 131 if "left out" in text and len(text) > 70 else len(text)

        text, how = clip("a" * 999, Limits(130), odd, "3")

        assert 70 >= odd(text)
        assert how.head

    def test_of_what_starts_too_dear_keeps_its_tail(self):
        """
        And nothing of its head.
        """

        def size(text):
            return sum(500 if letter == "x" else 1 for letter in text)

        _, how = clip("x" + "a" * 9_000, Limits(300), size, "3")

        assert 0 == how.head < 90 < how.tail

    def test_of_what_gets_dearer_is_tried_a_few_times_only(self):
        """
        Then what is left of it is halved.
        """

        def size(text):
            return len(text) + (900 if text.count("a") > 9 else 0)

        _, how = clip("a" * 9_000, Limits(100), size, "3")

        assert 0 < how.head + how.tail < 10

    def test_of_what_is_dense_at_its_ends_fits(self):
        """
        The measured ratio is wrong there.
        """

        def size(text):
            return sum(10 if letter == "x" else 1 for letter in text)

        text, how = clip("x" * 500 + "a" * 9_000 + "x" * 500, Limits(300), size, "3")

        assert 300 >= size(text) > 200
        assert how.head

    @pytest.mark.parametrize(
        "numbers", [None, {}, [1, 2], [1, 2, -3], [1, 2, True], ["a", "b", "c"]]
    )
    def test_numbers_that_are_none_are_none(self, numbers):
        """
        A caller may keep anything in metadata.
        """
        assert None is Clipping.of(numbers)
