"""
Pages of PDFs. Each file here is built by hand, as its format says.
"""

import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged.tokens.pdf import MOST_PAGES, MOST_UNPACKED, pages_by_size, pages_in

PAGE = b"<</Type /Page/Parent 2 0 R>>"
OBJECTS = b"<</Type/ObjStm/N 2/First 9/Filter/FlateDecode/Length 99>>"


def packed(*objects, packing=zlib.compress, head=OBJECTS):
    """
    An object that holds others.
    """
    return b"7 0 obj\n" + head + b"\nstream\r\n" + packing(b" ".join(objects)) + b"\nendstream\n"


def tree(count):
    """
    The node that the pages hang on.
    """
    return b"<</Type/Pages/Kids[3 0 R]/Count %d>>" % count


class TestPagesIn:
    @pytest.mark.parametrize(
        ("body", "pages"),
        [
            (PAGE * 3, 3),
            (PAGE * 3 + tree(2), 3),
            (PAGE + tree(40) + tree(20), 40),
            (packed(PAGE, PAGE) + packed(PAGE), 3),
            (packed(tree(7)), 7),
            (PAGE + packed(PAGE) + packed(b"<</Type/Catalog>>"), 2),
            (packed(PAGE, PAGE)[:-15], 2),
            (packed(PAGE, packing=lambda data: data), 1),
            (b"<</Type/Outlines/Count 40>><</Title(a)/Count -9>>" + PAGE, 1),
            (tree(MOST_PAGES + 1) + PAGE, 1),
            (b"<</Type/Pages/Count 4.5>><</Type/Pages/Count 12 0 R>>" + PAGE * 13, 13),
        ],
        ids=[
            *("marks", "fewer-told", "more-told", "packed", "packed-tree", "both", "cut-short"),
            *("unpacked", "outlines", "absurd", "no-count"),
        ],
    )
    def test_finds_them_where_they_stand(self, body, pages):
        """
        As objects of their own or packed, or by what their tree says.
        """
        assert pages == pages_in(b"%PDF-1.7\n" + body)

    @pytest.mark.parametrize(
        "body",
        [
            packed(PAGE, packing=lambda data: bytes(byte ^ 0x55 for byte in zlib.compress(data))),
            packed(PAGE, head=b"<</Length 99>>"),
            b"",
        ],
        ids=["encrypted", "no-objects", "nothing"],
    )
    def test_estimates_what_cannot_be_read(self, body):
        """
        By the size of the file, one page at least.
        """
        assert 1 == pages_in(body)
        assert pages_by_size(len(body) + 95_000) == pages_in(body + bytes(95_000))

    def test_a_bomb_is_unpacked_in_part(self):
        """
        Its pages behind the bound are not found, and it costs no more memory than that.
        """
        bomb = packed(PAGE, bytes(MOST_UNPACKED), PAGE)

        assert 1 == pages_in(bomb) == pages_in(bomb * 2)

    @given(
        pieces=st.lists(
            st.sampled_from([PAGE, packed(PAGE), tree(2), b"stream\n", b"endstream", b"<<", b">>"])
            | st.binary(max_size=40),
            max_size=20,
        )
    )
    def test_never_fails(self, pieces):
        """
        Whatever the bytes are.
        """
        assert 1 <= pages_in(b"".join(pieces)) <= MOST_PAGES

    def test_reads_each_byte_once_or_twice(self):
        """
        Streams without an end, or dictionaries without a stream, are not looked for again.
        """
        noise = random.Random(4).randbytes(1_000)
        for piece in (b"/ObjStm stream\n", b"stream\n", b"/Count 1<<", b"/Type ", noise):
            assert 1 <= pages_in(piece * (4_000_000 // len(piece)))
