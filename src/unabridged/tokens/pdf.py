"""
How many pages a PDF has, without a library for PDFs.

Each page is an object of type Page, and each node of the tree that holds them
says how many are below it. Since PDF 1.5 such objects may be packed in streams,
which the standard library unpacks; the output is bounded, so that a file made to
blow up costs no more than another. What can be read of neither (an encrypted
file, another packing) is estimated by the size of the file.
"""

import re
import zlib
from collections.abc import Iterator

__all__ = ["MOST_PAGES", "PAGE_BYTES", "pages_by_size", "pages_in"]

MOST_PAGES = 5_000  # no provider takes so many; more are marks in a broken file
PAGE_BYTES = 10_000  # a rule of thumb: a page of words is a few thousand, a scanned one far more
MOST_UNPACKED = 32_000_000  # bytes of a file, all its streams together
_BEFORE = 1_000  # bytes of a stream's dictionary that are looked at

_PAGE = re.compile(rb"/Type\s*+/Page(?![A-Za-z])")
_TREE = re.compile(rb"/Type\s*+/Pages(?![A-Za-z])")
_COUNT = re.compile(rb"/Count\s++(\d{1,9})(?![\d.])")
_STREAM = re.compile(rb"(?<!end)stream\r?\n")


def pages_in(file: bytes) -> int:
    """
    The pages of a PDF, 1 or more: the marks of pages or what their tree says, whichever is more.

    A file that was changed and saved by appending may hold old pages beside the
    new; they count too.

    >>> pages_in(b"%PDF-1.4 <</Type/Page>> <</Type /Page>> <</Type/Pages/Count 3>>")
    3
    >>> pages_in(b"%PDF-1.7 encrypted") == pages_by_size(100)
    True
    """
    marks = told = 0
    for text in (file, *_unpacked(file)):
        marks += sum(1 for _ in _PAGE.finditer(text))
        told = max(told, *_told(text), 0)
    found = max(number for number in (marks, told, 0) if number <= MOST_PAGES)

    return found or pages_by_size(len(file))


def pages_by_size(size: int) -> int:
    """
    The pages of a file of so many bytes, if nothing else is known: one for each 10,000 begun.

    About right for a file of words, too many for one of pictures.

    >>> pages_by_size(0), pages_by_size(10_001)
    (1, 2)
    """
    return min(MOST_PAGES, max(1, -(-size // PAGE_BYTES)))


def _told(text: bytes) -> Iterator[int]:
    """
    The numbers of pages that nodes of the tree of pages say.
    """
    for piece in text.split(b">>"):
        inner = piece[piece.rfind(b"<<") + 2 :] if b"<<" in piece else piece
        if _TREE.search(inner) and (count := _COUNT.search(inner)):
            number = int(count[1])
            if number <= MOST_PAGES:
                yield number


def _unpacked(file: bytes) -> Iterator[bytes]:
    """
    What stands in the streams of objects, as far as it can be unpacked.
    """
    left, at = MOST_UNPACKED, 0
    while left > 0 and (found := _STREAM.search(file, at)):
        if b"/ObjStm" not in file[max(at, found.start() - _BEFORE) : found.start()]:
            at = found.end()
            continue
        end = file.find(b"endstream", found.end())
        at = len(file) if end < 0 else end
        try:
            text = zlib.decompressobj().decompress(file[found.end() : at], left)
        except zlib.error:
            continue  # encrypted, or packed in another way
        left -= len(text)
        yield text
