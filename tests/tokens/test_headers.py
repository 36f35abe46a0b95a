"""
What the header of a file says. Each file here is built by hand, as its format says.
"""

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unabridged.tokens.headers import UNKNOWN, Seen, decoded, look
from unabridged.tokens.pdf import pages_by_size


def encoded(data):
    """
    Bytes as base64.
    """
    return base64.b64encode(data).decode()


def segment(kind, size):
    """
    A part of a JPEG.
    """
    return bytes([0xFF, kind]) + struct.pack(">H", size + 2) + bytes(size)


def jpeg(*before, kind=0xC0):
    """
    A JPEG of 320 x 200 after some other segments.
    """
    frame = bytes([0xFF, kind]) + struct.pack(">HBHH", 17, 8, 200, 320) + bytes(10)
    return b"\xff\xd8" + b"".join(before) + frame


def webp(kind, *, body):
    """
    A WebP with one chunk.
    """
    return b"RIFF\0\0\0\0WEBP" + kind + struct.pack("<I", len(body)) + body


def wav(rate, *, size, before=b""):
    """
    A WAV of *size* bytes at *rate* bytes a second.
    """
    form = b"fmt \x10\0\0\0" + struct.pack("<HHIIHH", 1, 1, rate, rate, 1, 8)
    return b"RIFF\0\0\0\0WAVE" + before + form + b"data" + struct.pack("<I", size)


def atom(name, *, body=b""):
    """
    A box of an MP4.
    """
    return struct.pack(">I", len(body) + 8) + name + body


def movie(*, wide=False):
    """
    The box that says how long a film is: 12.5 seconds.
    """
    if wide:
        return atom(b"mvhd", body=b"\x01" + bytes(19) + struct.pack(">IQ", 600, 7_500))
    return atom(b"mvhd", body=bytes(12) + struct.pack(">II", 600, 7_500))


IMAGES = {
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480), (640, 480)),
    "gif87": (b"GIF87a" + struct.pack("<HH", 10, 20), (10, 20)),
    "gif89": (b"GIF89a" + struct.pack("<HH", 10, 20), (10, 20)),
    "jpeg": (jpeg(), (320, 200)),
    "jpeg-exif": (jpeg(segment(0xE1, 65_000), segment(0xC4, 30), segment(0xDB, 65)), (320, 200)),
    "jpeg-fill": (jpeg(b"\xff\xff", b"\xff\x01", segment(0xE0, 14)), (320, 200)),
    "jpeg-progressive": (jpeg(kind=0xC2), (320, 200)),
    "webp": (webp(b"VP8 ", body=bytes(6) + struct.pack("<HH", 100, 50 | 0x4000)), (100, 50)),
    "webp-lossless": (webp(b"VP8L", body=b"\x2f" + struct.pack("<I", 99 | 49 << 14)), (100, 50)),
    "webp-extended": (webp(b"VP8X", body=bytes(4) + b"\x63\0\0\x31\0\0"), (100, 50)),
}
WEB = "data:image/webp;base64,"


class TestLook:
    @pytest.mark.parametrize(("data", "size"), IMAGES.values(), ids=IMAGES)
    @pytest.mark.parametrize("more", [0, 1, 2, 3])
    def test_reads_the_size_of_an_image(self, data, size, more):
        """
        Wherever the base64 ends after the header.
        """
        assert Seen("image", *size) == look(encoded(data + bytes(more)))

    @pytest.mark.parametrize(("data", "size"), IMAGES.values(), ids=IMAGES)
    def test_reads_every_spelling_of_base64(self, data, size):
        """
        A data URL, the alphabet of URLs, no padding, line breaks, and those as JSON escapes them.
        """
        text = encoded(data)
        lines = [text[at : at + 76] for at in range(0, len(text), 76)]
        spelled = [
            WEB + text,
            text.replace("+", "-").replace("/", "_"),
            text.rstrip("="),
            "\n".join(lines),
            "\\r\\n".join(lines),
            text.replace("/", "\\/"),
        ]

        assert {Seen("image", *size)} == set(map(look, spelled))

    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            (wav(8_000, size=12_000) + bytes(12_000), Seen("audio", seconds=2)),
            (wav(8_000, size=0xFFFFFFFF) + bytes(8_001), Seen("audio", seconds=2)),
            (wav(99, size=99, before=b"LIST\x03\0\0\0abc\0") + bytes(99), None),
            (b"\xff\xfb\x90\x00" + bytes(31_996), Seen("audio", seconds=2)),
            (b"ID3\x04\0\0\0\0\x01\x00" + bytes(128) + b"\xff\xf3\x80\0" + bytes(7_996), None),
            (atom(b"ftyp", body=b"isom\0\0\0\0") + atom(b"moov", body=movie()), "film"),
            (
                atom(b"ftyp", body=b"isom\0\0\0\0")
                + b"\0\0\0\x01mdat"
                + struct.pack(">Q", 1_016)
                + bytes(1_000)
                + atom(b"moov", body=atom(b"free") + movie(wide=True)),
                "film",
            ),
            (atom(b"ftyp", body=b"M4A \0\0\0\0") + atom(b"moov", body=movie()), "song"),
            (atom(b"ftyp", body=b"isom\0\0\0\0") + b"\0\0\0\0mdat" + bytes(99), Seen("video")),
            (b"%PDF-1.4 <</Type/Page>> <</Type /Page\n>> <</Type/Pages>>", "pages"),
            (b"%PDF-1.7 packed away", Seen("document", pages=1)),
        ],
        ids=[
            "wav",
            "stream",
            "odd",
            "mp3",
            "tagged",
            "mp4",
            "last",
            "m4a",
            "no-moov",
            "pdf",
            "packed",
        ],
    )
    def test_reads_sound_film_and_pages(self, data, expected):
        """
        Seconds are rounded up; what cannot be found is 0.
        """
        known = {
            "film": Seen("video", seconds=13),
            "song": Seen("audio", seconds=13),
            "pages": Seen("document", pages=2),
            None: Seen("audio", seconds=1),
        }

        assert known.get(expected, expected) == look(encoded(data))

    @pytest.mark.parametrize(
        "data", ["", "a", "=", "not base64", "aGVsbG8gd29ybGQ=", "文" * 20, "data:,", "data:"]
    )
    def test_says_nothing_of_what_it_does_not_know(self, data):
        """
        No error: the caller has a flat figure.
        """
        assert UNKNOWN == look(data)

    @pytest.mark.parametrize(("data", "_"), IMAGES.values(), ids=IMAGES)
    def test_says_nothing_of_half_a_header(self, data, _):
        """
        Wherever the file was cut.
        """
        for end in range(len(data) - 1):
            if end < 60 or end % 997 == 0:
                seen = look(encoded(data[:end]))

                assert seen[1:3] in {(0, 0), (320, 200), (100, 50)}

    def test_gives_up_on_a_header_without_an_end(self):
        """
        A file of nothing but fill bytes is not read for ever.
        """
        assert Seen("image") == look(encoded(b"\xff\xd8" + b"\xff" * 300_000))

    @pytest.mark.parametrize("side", [100_001, 2**32 - 1])
    def test_believes_no_absurd_size(self, side):
        """
        A header can say anything; a formula without a cap would follow it.
        """
        data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", side, 1)

        assert Seen("image") == look(encoded(data))

    @given(
        head=st.sampled_from(
            [data[:12] for data, _ in IMAGES.values()] + [b"\0\0\0\0ftyp", b"ID3"]
        ),
        rest=st.binary(max_size=200),
    )
    def test_never_fails(self, head, rest):
        """
        Broken files have a size or none.
        """
        seen = look(encoded(head + rest))

        assert all(number >= 0 for number in seen[1:])


class TestDecoded:
    @pytest.mark.parametrize("data", ["++//8A==", "--__8A", "+-\n/_\r\n8A=", "data:;base64,++//8A"])
    def test_reads_every_spelling(self, data):
        """
        Line breaks, the alphabet of URLs, no padding, a data URL.
        """
        assert b"\xfb\xef\xff\xf0" == decoded(data)

    @pytest.mark.parametrize("data", ["hello world!", "aGVsb", "aGVs=bG8=", "文", "a"])
    def test_says_where_it_is_none(self, data):
        """
        The caller then takes it for what it looks like: text.
        """
        assert decoded(data) is None

    def test_half_a_character_is_none_of_base64s(self):
        """
        In a data URL it stands for itself, as a question mark.
        """
        assert decoded("\ud800") is None
        assert b"?a" == decoded("data:text/plain,\ud800%61")

    def test_nothing_is_nothing(self):
        """
        Also behind the head of a data URL.
        """
        assert [b"", b"", b""] == [decoded(data) for data in ("", "data:,", "data:;base64,")]


class TestBrokenFiles:
    def test_a_reserved_version_is_a_sound_of_unknown_length(self):
        """
        An upload of one may not stop a thread.
        """
        odd = base64.b64encode(b"ID3\4\0\0\0\0\0\0" + b"\xff\xea\x90\x64" + bytes(40)).decode()

        assert 0 == look(odd).seconds

    def test_more_than_a_file_can_hold_is_not_believed(self):
        """
        Pages of a few bytes, seconds of less than one.
        """
        pages = base64.b64encode(b"%PDF-1.4\n" + b"/Type/Page " * 10_000).decode()

        assert pages_by_size(110_009) == look(pages).pages == 12
