"""
What the first bytes of a picture, a sound, a film or a PDF say of its size.

Base64 is decoded a few bytes at a time, where a header stands; nothing is
decoded whole but a PDF, whose pages are counted. A file that is not understood
is no error: its size is unknown.
"""

import binascii
import re
import struct
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from unabridged.tokens.pdf import pages_in

__all__ = ["UNKNOWN", "Seen", "decoded", "look"]

STEPS = 2_000  # headers that are read before a file is given up
LARGEST = 100_000  # pixels; a larger side is a broken header
LONGEST = 1_000_000  # seconds, as well

_BREAKS = ("\n", "\r", "\t", " ", "\\")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*+=*+")
_URL_SAFE = str.maketrans("-_", "+/")
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # JPEG: what holds the size
_MARK = 0xFF  # JPEG: what begins each marker
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})  # JPEG: markers without a length
_SYNC = 0x7FF  # MP3: the first bits of a frame
_ATOM = 8  # MP4: the size and the name that begin each atom
_RATES = {  # MP3, layer 3: kilobits a second by version and index
    3: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
    0: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
}


class Seen(NamedTuple):
    """
    What a file is, as far as its header tells: its *kind*, and its size (0 where unknown).

    >>> look("R0lGODlhQAEgAQ==")
    Seen(kind='image', width=320, height=288, seconds=0, pages=0)
    """

    kind: str = ""
    width: int = 0
    height: int = 0
    seconds: int = 0
    pages: int = 0


UNKNOWN = Seen()


def look(data: str) -> Seen:
    """
    What the base64 *data*, or a data URL, holds, read from its header alone.

    Knows PNG, JPEG, GIF, WebP, WAV, MP3, MP4 and PDF. Seconds are rounded up; the
    pages of a PDF that cannot be read are estimated by its size.

    >>> look("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAoAAAAHg")
    Seen(kind='image', width=640, height=480, seconds=0, pages=0)
    >>> look("not base64 at all")
    Seen(kind='', width=0, height=0, seconds=0, pages=0)
    """
    file = _File(data)
    head = file.at(0, 16)
    try:
        seen = _read(file, head)
    except (struct.error, LookupError, ArithmeticError, ValueError):  # cut short, or broken
        return UNKNOWN
    # a header may say anything: what no file of this length holds is not believed
    bytes_ = max(1, len(data) * 3 // 4)
    if max(seen.width, seen.height) > LARGEST or seen.seconds > min(LONGEST, bytes_):
        return Seen(seen.kind)

    return seen


def decoded(data: str) -> bytes | None:
    r"""
    The bytes that *data* holds: base64 in any of its spellings, or a data URL; None if neither.

    >>> decoded("aGVs\nbG8"), decoded("data:text/plain,a%20b"), decoded("hello, world")
    (b'hello', b'a b', None)
    """
    if data.startswith("data:"):
        head, _, rest = data.partition(",")
        if not head.lower().endswith(";base64"):
            return unquote_to_bytes(rest.encode("utf-8", "replace"))
    file = _File(data)
    if not _BASE64.fullmatch(file.data) or len(file.data.rstrip("=")) % 4 == 1:
        return None

    return file.at(0, file.size)


class _File:
    """
    Base64 read as bytes, in places.
    """

    def __init__(self, data: str) -> None:
        if data.startswith("data:"):
            data = data[data.find(",") + 1 :]
        if any(mark in data for mark in _BREAKS):
            data = "".join(data.replace("\\n", "").replace("\\r", "").replace("\\/", "/").split())
        self.data = data
        self.size = len(data.rstrip("=")) * 3 // 4

    def at(self, start: int, count: int) -> bytes:
        first, last = start // 3 * 4, -(-(start + count) // 3) * 4
        text = self.data[first:last].rstrip("=").translate(_URL_SAFE)
        try:
            found = binascii.a2b_base64(text + "=" * (-len(text) % 4))
        except ValueError:  # not base64
            return b""

        return found[start % 3 :][:count]

    def numbers(self, form: str, start: int) -> tuple[int, ...]:
        return struct.unpack(form, self.at(start, struct.calcsize(form)))


def _read(file: _File, head: bytes) -> Seen:  # noqa: PLR0911  one a format
    match head:
        case _ if head.startswith(b"\x89PNG\r\n\x1a\n"):
            return Seen("image", *file.numbers(">II", 16))
        case _ if head.startswith((b"GIF87a", b"GIF89a")):
            return Seen("image", *file.numbers("<HH", 6))
        case _ if head.startswith(b"\xff\xd8"):
            return _jpeg(file)
        case _ if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
            return _webp(file, head[12:16])
        case _ if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
            return _wav(file)
        case _ if head[4:8] == b"ftyp":
            return Seen("audio" if head[8:12] == b"M4A " else "video", seconds=_mp4(file))
        case _ if head.startswith(b"%PDF"):
            return Seen("document", pages=pages_in(file.at(0, file.size)))
        case _ if head.startswith(
            (b"ID3", b"\xff\xe3", b"\xff\xf2", b"\xff\xf3", b"\xff\xfa", b"\xff\xfb")
        ):
            return _mp3(file, head)

    return UNKNOWN


def _jpeg(file: _File) -> Seen:
    place = 2
    for _ in range(STEPS):
        mark, kind = file.numbers(">BB", place)
        if mark != _MARK:
            break
        if kind in _FRAMES:
            height, width = file.numbers(">HH", place + 5)
            return Seen("image", width, height)
        if kind == _MARK:
            place += 1
        elif kind in _BARE:
            place += 2
        else:
            place += 2 + max(2, *file.numbers(">H", place + 2))

    return Seen("image")


def _webp(file: _File, kind: bytes) -> Seen:
    if kind == b"VP8 ":
        width, height = file.numbers("<HH", 26)
        return Seen("image", width & 0x3FFF, height & 0x3FFF)
    if kind == b"VP8L":
        (bits,) = file.numbers("<I", 21)
        return Seen("image", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    low, high, lower, higher = file.numbers("<HBHB", 24)

    return Seen("image", (high << 16 | low) + 1, (higher << 16 | lower) + 1)


def _wav(file: _File) -> Seen:
    place, rate = 12, 0
    for _ in range(STEPS):
        name, size = file.at(place, 4), *file.numbers("<I", place + 4)
        if name == b"fmt ":
            (rate,) = file.numbers("<I", place + 16)
        if name == b"data":
            return Seen("audio", seconds=-(-min(size, file.size - place - 8) // rate))
        place += 8 + size + size % 2

    return Seen("audio")


def _mp3(file: _File, head: bytes) -> Seen:
    place = 0
    if head.startswith(b"ID3"):
        a, b, c, d = file.numbers(">4B", 6)
        place = 10 + (a << 21 | b << 14 | c << 7 | d)
    (frame,) = file.numbers(">I", place)
    rate = _RATES[frame >> 19 & 3][frame >> 12 & 15] if frame >> 21 == _SYNC else 0

    return Seen("audio", seconds=-(-(file.size - place) // (rate * 125)))


def _mp4(file: _File) -> int:
    place, end = 0, file.size
    for _ in range(STEPS):
        if place >= end:
            break
        size, name = *file.numbers(">I", place), file.at(place + 4, 4)
        if name == b"moov":
            place += 8
            continue
        if name == b"mvhd":
            wide = file.at(place + 8, 1) == b"\x01"
            scale, length = file.numbers(">IQ" if wide else ">II", place + (28 if wide else 20))
            return -(-length // scale)
        if size == 1:
            (size,) = file.numbers(">Q", place + 8)
        place += size if size >= _ATOM else end

    return 0
