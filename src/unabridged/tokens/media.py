"""
What providers charge for pictures, pages, sound and film: formulas, and a table of figures.

None of it depends on how long the base64 is. Figures are those of the
providers' pages, read in November 2026; `source` names the page of each.
"""

from collections.abc import Mapping
from typing import TypeAlias, assert_never

from attrs import field, frozen

from unabridged.tokens.headers import LARGEST, Seen

__all__ = ["MEDIA", "Crops", "Flat", "Images", "Media", "Patches", "Tiles", "image_tokens"]

# What is taken for true where a size is not known.
SIDE = 1_024  # pixels, of a square picture
PAGES = 1
SECONDS = 30


@frozen
class Tiles:
    """
    OpenAI's formula by tiles: *base*, and *tile* for each 512 x 512 of the picture.

    It is first made to fit 2,048 x 2,048, then its short side 768; a small one
    is left as it is. In low detail only the base is paid.

    >>> image_tokens(Tiles(85, 170), 1024, 1024), image_tokens(Tiles(85, 170), 9, 9, "low")
    (765, 85)
    """

    base: int
    tile: int


@frozen
class Patches:
    """
    One token for each patch of *side* x *side* pixels, at most *most*, times *hundredths* / 100.

    A picture whose long side is above *longest* (0: no limit) is scaled first.

    >>> image_tokens(Patches(32, 1_536, 162), 1024, 1024)
    1659
    >>> image_tokens(Patches(28, 1_568, longest=1_568), 3000, 200)
    224
    """

    side: int
    most: int
    hundredths: int = 100
    longest: int = 0


@frozen
class Crops:
    """
    Gemini 2's formula: *each* for a picture of at most 384 x 384, else for each 768 x 768 of it.

    >>> image_tokens(Crops(258), 384, 384), image_tokens(Crops(258), 385, 769)
    (258, 516)
    """

    each: int


@frozen
class Flat:
    """
    The same for every picture.

    >>> image_tokens(Flat(1_120), 10, 10)
    1120
    """

    tokens: int


Images: TypeAlias = Tiles | Patches | Crops | Flat


@frozen
class Media:
    """
    What a family of models charges: pictures, a PDF's *page*, a second of *audio* and of *video*.

    A picture of unknown size is taken for 1,024 x 1,024, a document that is
    elsewhere for one page, sound and film for 30 seconds.

    >>> MEDIA["gpt-4o"].document(3), MEDIA["gemini-2"].audio_tokens(0)
    (6000, 960)
    """

    image: Images
    page: int
    audio: int
    video: int
    source: str = field(eq=False, repr=False)

    def picture(self, width: int = 0, height: int = 0, detail: str = "") -> int:
        """
        The tokens of a picture; one of unknown, or of impossible, size is taken for a usual one.
        """
        known = 0 < width <= LARGEST and 0 < height <= LARGEST
        return image_tokens(self.image, *((width, height) if known else (SIDE, SIDE)), detail)

    def document(self, pages: int = 0) -> int:
        """
        The tokens of a document of so many pages.
        """
        return self.page * (pages or PAGES)

    def audio_tokens(self, seconds: int = 0) -> int:
        """
        The tokens of so many seconds of sound.
        """
        return self.audio * (seconds or SECONDS)

    def of(self, seen: Seen) -> int:
        """
        The tokens of a file whose header was read; what is not known is taken for a picture.
        """
        match seen.kind:
            case "document":
                return self.document(seen.pages)
            case "audio":
                return self.audio_tokens(seen.seconds)
            case "video":
                return self.video * (seen.seconds or SECONDS)
            case _:
                return self.picture(seen.width, seen.height)


def image_tokens(images: Images, width: int, height: int, detail: str = "") -> int:
    """
    The tokens of a picture of *width* x *height* pixels, 1 or more each.

    >>> image_tokens(Tiles(85, 170), 2048, 4096)
    1105
    """
    match images:
        case Tiles(base, tile):
            if detail == "low":
                return base
            scale = min(1, 2_048 / max(width, height), 768 / min(width, height))
            return base + tile * _covered(width, height, scale, 512)
        case Patches(side, most, hundredths, longest):
            scale = min(1, longest / max(width, height)) if longest else 1
            patches = min(most, _covered(width, height, scale, side))
            return -(-patches * hundredths // 100)
        case Crops(each):
            small = max(width, height) <= 384  # noqa: PLR2004  the provider's
            return each if small else each * _covered(width, height, 1, 768)
        case Flat(tokens):
            return tokens
        case _:
            assert_never(images)


def _covered(width: int, height: int, scale: float, side: int) -> int:
    """
    How many squares of a side cover a scaled picture; rounding to whole pixels comes first.
    """
    across, down = (max(1, round(length * scale)) for length in (width, height))
    return -(-across // side) * -(-down // side)


_PAGE = 2_000  # a page's text and its picture; Anthropic says 1,500 to 3,000 for the text alone
_SECOND = 32  # Gemini's, for want of a figure of the others
_FILM = 263  # Gemini's as well: 258 a frame, a frame a second, and a tag

_OPENAI = "platform.openai.com/docs/guides/images-vision, Calculating costs"
_ANTHROPIC = "platform.claude.com/docs/en/build-with-claude/vision, Evaluate image size"
_GEMINI = "ai.google.dev/gemini-api/docs/tokens, Multimodal tokens"
_QWEN = "huggingface.co/Qwen/Qwen2-VL-7B-Instruct, min_pixels and max_pixels"
_GEMINI_3 = "ai.google.dev/gemini-api/docs/media-resolution, Token counts"


def _openai(image: Images) -> Media:
    return Media(image, _PAGE, _SECOND, _FILM, _OPENAI)


MEDIA: Mapping[str, Media] = {
    "gpt-4o": _openai(Tiles(85, 170)),  # also gpt-4.1, gpt-4.5 and what is not named here
    "gpt-4o-mini": _openai(Tiles(2_833, 5_667)),
    "gpt-5": _openai(Tiles(70, 140)),
    "o1": _openai(Tiles(75, 150)),  # and o3
    # Users measured 1.2 for gpt-5-mini and 1.5 for gpt-5-nano; these are the documented figures.
    "mini": _openai(Patches(32, 1_536, 162)),  # gpt-4.1-mini, gpt-5-mini
    "nano": _openai(Patches(32, 1_536, 246)),  # gpt-4.1-nano, gpt-5-nano
    "o4-mini": _openai(Patches(32, 1_536, 172)),
    "claude-4": Media(  # up to Claude 4.6; the page used to say width x height / 750
        Patches(28, 1_568, longest=1_568), _PAGE, _SECOND, _FILM, _ANTHROPIC
    ),
    "claude": Media(Patches(28, 4_784, longest=2_576), _PAGE, _SECOND, _FILM, _ANTHROPIC),
    # a patch is a token, 16,384 at most: model card of Qwen2-VL; Qwen3-VL takes patches of 32
    "qwen": Media(Patches(28, 16_384), _PAGE, _SECOND, _FILM, _QWEN),
    "gemini-2": Media(Crops(258), 258, _SECOND, _FILM, _GEMINI),
    # the default resolution: 1,120 a picture, 560 a page, 70 a frame beside the sound
    "gemini": Media(Flat(1_120), 560, _SECOND, 70 + _SECOND, _GEMINI_3),
}
