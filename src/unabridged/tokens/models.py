"""
Models by name: whose vocabulary counts their text, and whose formula their pictures.

An OpenAI model's vocabulary comes from tiktoken's own table. Of the others
none can be counted exactly without their vocabulary or their endpoint; the
table below says which of tiktoken's comes nearest, and by what factor.
"""

import importlib
import re
from collections.abc import Mapping
from functools import lru_cache

from attrs import frozen

from unabridged.errors import ConfigError
from unabridged.text import brief
from unabridged.tokens.media import MEDIA, Media
from unabridged.tokens.vocabulary import KNOWN

__all__ = ["FAMILIES", "PICTURES", "Model", "family", "openai_model"]

HARMONY = "o200k_harmony"  # o200k_base with other special tokens, and those are text here


@frozen
class Model:
    """
    How a model's messages are counted: two names of equal models count alike.

    *images* is a key of `MEDIA`, *percent* what the vocabulary's count is
    multiplied by, *message* what each message costs beside its values, and
    *function* each tool's definition (0: that is counted as JSON).

    >>> openai_model("gpt-4o-2024-08-06") == openai_model("o200k_base")
    True
    """

    encoding: str = "o200k_base"
    images: str = "gpt-4o"
    percent: int = 100
    message: int = 3
    function: int = 7

    @property
    def media(self) -> Media:
        """
        What it charges for what is not text.
        """
        return MEDIA[self.images]


# Which models look at pictures in which way, by the start of their names; the first row that
# fits decides.
PICTURES: tuple[tuple[str, str], ...] = (
    (r"gpt-4o-mini", "gpt-4o-mini"),
    (r"(gpt-4\.1|gpt-5)-mini", "mini"),
    (r"(gpt-4\.1|gpt-5)-nano", "nano"),
    (r"o4-mini", "o4-mini"),
    (r"gpt-5", "gpt-5"),
    (r"o[13]\b", "o1"),
    (r"", "gpt-4o"),
)

# Models of other providers, by a part of their names, under a name that is one itself; the first
# row that fits decides. Measured over the transcripts beside the repository by
# benchmarks/counting.py; Claude and Gemini are unmeasured. A message of Llama 3 and Qwen 3 costs
# its role and 4 more, by their chat templates.
FAMILIES: Mapping[str, tuple[str, Model]] = {
    # up to Claude 4.6 by version; every other name is taken for a newer one, which costs more
    "claude-4": (
        r"claude-(?:[a-z]+-)?(?:[1-3]|4(?:[-.][0-6](?!\d))?(?![-.]?\d(?!\d)))(?!\d)",
        Model(images="claude-4", function=0),
    ),
    "claude": (r"claude|anthropic", Model(images="claude", function=0)),
    "gemini-2": (r"gemini-[12]", Model(images="gemini-2", function=0)),
    "gemini": (r"gemini|gemma", Model(images="gemini", function=0)),
    "llama": (r"llama", Model(percent=102, message=4, function=0)),
    "qwen": (r"qwen|qwq", Model(images="qwen", percent=106, message=4, function=0)),
}


@lru_cache(maxsize=256)
def openai_model(name: str) -> Model:
    """
    How an OpenAI model is counted, by its name or that of its vocabulary.

    tiktoken's table is asked at the first name of a model, which loads
    tiktoken (50 ms), and no vocabulary.

    Raises:
        ConfigError: tiktoken does not know the name, or its vocabulary is not
            shipped with this package.

    >>> openai_model("gpt-4").encoding
    'cl100k_base'
    >>> openai_model("text-davinci-003")
    Traceback (most recent call last):
    unabridged.errors.ConfigError: exact: 'text-davinci-003' needs the vocabulary `p50k_base`, \
which is not shipped; there are 'o200k_base', 'cl100k_base'
    """
    if name in KNOWN:
        return Model(name, function=_function(name))
    encoding = _encoding_of(name)
    if encoding not in KNOWN and encoding != HARMONY:
        msg = (
            f"exact: {brief(name)} needs the vocabulary `{encoding}`, which is not shipped; "
            f"there are {_shipped()}"
        )
        raise ConfigError(msg)
    plain = name.removeprefix("ft:")
    pictures = next(known for start, known in PICTURES if re.match(start, plain))

    shipped = "o200k_base" if encoding == HARMONY else encoding

    return Model(shipped, pictures, function=_function(shipped))


@lru_cache(maxsize=256)
def family(name: str) -> str:
    """
    The row of `FAMILIES` for a model of another provider; empty where nothing is known of it.

    >>> family("us.anthropic.claude-sonnet-4-5-20250929-v1:0"), family("claude-opus-4-7")
    ('claude-4', 'claude')
    >>> family("meta-llama/Llama-3.1-8B-Instruct"), family("gpt-4o")
    ('llama', '')
    """
    plain = name.lower()

    return next((row for row, (part, _) in FAMILIES.items() if re.search(part, plain)), "")


def _function(encoding: str) -> int:
    return 10 if encoding == "cl100k_base" else 7  # gpt-4 and gpt-3.5-turbo; gpt-4o and later


def _encoding_of(name: str) -> str:
    table = importlib.import_module("tiktoken.model")
    try:
        found: str = table.encoding_name_for_model(name)
    except KeyError as error:
        version = importlib.import_module("importlib.metadata").version("tiktoken")
        msg = (
            f"exact: tiktoken {version} knows no model {brief(name)}; name one that it knows, "
            f"such as 'gpt-4o', or a vocabulary: {_shipped()}; tokens.for_model counts for other "
            "providers"
        )
        raise ConfigError(msg) from error

    return found


def _shipped() -> str:
    return ", ".join(map(repr, KNOWN))
