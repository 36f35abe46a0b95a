"""
Counters with a vocabulary: what a model counts, or the nearest to it, without a network.
"""

from functools import cache, lru_cache

from attrs import evolve, field, frozen

from unabridged.errors import ConfigError
from unabridged.messages import Message
from unabridged.text import brief
from unabridged.tokens.counters import Bound, Counter
from unabridged.tokens.formula import Costs, total
from unabridged.tokens.media import MEDIA
from unabridged.tokens.models import FAMILIES, Model, family, openai_model
from unabridged.tokens.texts import measure_of

__all__ = ["exact", "for_model"]


def exact(encoding: str = "o200k_base", *, images: str = "") -> Counter:
    """
    Count in an OpenAI model's own tokens, without a network.

    *encoding* is the name of a model, as in `exact("gpt-4o")`, or of one of
    tiktoken's vocabularies, `o200k_base` or `cl100k_base`. Both ship with the
    package; the first count of a process loads one, in 100 to 300 ms, or
    toktok-rs, if the extra `fast` is installed: ten times as fast, with the
    same numbers. Text of special tokens is text, and a lone surrogate counts
    as U+FFFD. `bound` is "exact", for texts of any length, in time linear in
    it; the one exception is a run of more than 100,000 white space characters,
    which comes out within 4 tokens for each 100,000.

    A message costs 3, the tokens of each of its values, and 1 if it has a
    name. That is OpenAI's formula for chats (cookbook, "How to count tokens
    with tiktoken"); the 3 tokens that open the reply come once a request and
    are in no message: see `Budget`. Its values are the role, the name, text,
    reasoning, the id, name and arguments of each call, the id each result
    answers, the text and name of a plain text document, and the transcript of
    audio. Ids are in because a count too high is safer than one too low.

    Other parts go by the model's formula, never by the length of their base64:
    an image by its width, height and detail, which are read from its header if
    they are not given (1,024 x 1,024 if there is none: 765 for gpt-4o); a PDF
    2,000 a page, audio 32 a second. Pages that cannot be counted, those of a
    Word file or an encrypted PDF, are estimated at one for each 10,000 bytes; a
    file that is elsewhere counts as one page. An opaque part counts its JSON text, where
    a string of more than 1,000 characters of base64 is taken for a file.
    Signatures, encrypted reasoning, metadata and `extra` are not counted.

    The counter is its vocabulary and the family whose formula for images it
    goes by (*images*, the model's own if it is not given), so two are equal if
    they count alike: `exact("gpt-4o") == exact("gpt-4.1") == exact()`, and their
    counts are shared, while `exact("gpt-4o-mini")` counts images otherwise. Its
    repr shows both, and not the model that was asked for.

    Raises:
        ConfigError: tiktoken's table, which is asked at once, knows no such
            model, or its vocabulary is not shipped; the message names it.

    >>> from unabridged.messages import user
    >>> exact()(user("hello world"))
    6
    >>> exact("gpt-4o") == exact(), exact("gpt-4") == exact("cl100k_base")
    (True, True)
    >>> exact("gpt-4o-mini")
    exact('o200k_base', images='gpt-4o-mini')
    """
    return _Exact(encoding, images=images)


def for_model(model: str) -> Counter:
    """
    The best counter there is for a model without a network.

    An OpenAI model is counted by `exact`, also under a provider's prefix, as
    in `openai/gpt-4o`. Claude, Gemini, Llama and Qwen models are estimated
    from o200k_base, with their own formula for images. How wrong that is, as
    a share of the model's own tokens over the transcripts that
    `benchmarks/counting.py` reads: Llama 3 between 0.97 and 1.02; Qwen 3
    between 0.97 and 1.07, in Chinese 1.12. Claude and Gemini are unmeasured:
    no usage is recorded there. Others report that Claude takes 1.1 to 1.35
    times as many tokens as OpenAI's models, so leave room, or count with the
    provider's endpoint.

    Raises:
        ConfigError: nothing is known of the model.

    >>> from unabridged.messages import user
    >>> for_model("openai/gpt-4o") == exact("gpt-4o")
    True
    >>> counter = for_model("claude-sonnet-4-5")
    >>> counter(user("hello world")), counter.bound
    (6, 'estimate')
    >>> for_model("meta-llama/Llama-3.1-8B"), counter
    (for_model('llama'), for_model('claude-4'))
    """
    if not isinstance(model, str):
        msg = f"for_model: expected a model's name, got {brief(model)}"
        raise ConfigError(msg)
    if family(model):
        return _Modelled(model)
    plain = model.rsplit("/", 1)[-1]
    try:
        return _Exact(plain)
    except ConfigError as error:
        if "knows no model" not in str(error):
            raise
        msg = (
            f"for_model: nothing is known of {brief(model)}; OpenAI's models that tiktoken lists, "
            "Claude, Gemini, Llama and Qwen are; estimate with tokens.exact() or tokens.rough"
        )
        raise ConfigError(msg) from error


def _family(value: str) -> str:
    known = family(value) if isinstance(value, str) else ""
    if not known:
        msg = (
            f"for_model: no family of {brief(value)}; there are {', '.join(FAMILIES)}; see `exact`"
        )
        raise ConfigError(msg)

    return known


@frozen(repr=False)
class _Exact:
    encoding: str
    images: str = field(default="", kw_only=True)  # empty for that of most models

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.encoding, str):
            msg = f"exact: expected the name of a model or an encoding, got {brief(self.encoding)}"
            raise ConfigError(msg)
        model = openai_model(self.encoding)
        images = self.images or model.images
        if not isinstance(images, str) or images not in MEDIA:
            msg = (
                f"exact: `images` must be one of {', '.join(map(repr, MEDIA))}, got {brief(images)}"
            )
            raise ConfigError(msg)
        object.__setattr__(self, "encoding", model.encoding)
        object.__setattr__(self, "images", "" if images == Model().images else images)

    @property
    def bound(self) -> Bound:
        return "exact"

    @property
    def costs(self) -> Costs:
        return _exact_costs(self.encoding, self.images)

    def __call__(self, message: Message, /) -> int:
        return total(message, _exact_costs(self.encoding, self.images))

    def __repr__(self) -> str:
        images = f", images={self.images!r}" if self.images else ""
        return f"exact({self.encoding!r}{images})"


@frozen(repr=False)
class _Modelled:
    model: str = field(converter=_family)

    @property
    def bound(self) -> Bound:
        return "estimate"

    @property
    def costs(self) -> Costs:
        return _family_costs(self.model)

    def __call__(self, message: Message, /) -> int:
        return total(message, _family_costs(self.model))

    def __repr__(self) -> str:
        return f"for_model({self.model!r})"


@cache
def _exact_costs(encoding: str, images: str) -> Costs:
    return _costs(evolve(openai_model(encoding), images=images or Model().images))


@cache
def _family_costs(name: str) -> Costs:
    return _costs(FAMILIES[name][1])


def _costs(model: Model) -> Costs:
    """
    What a model charges; the tokens of roles and names are remembered.
    """
    count = measure_of(model.encoding)

    def scaled(text: str) -> int:
        return (count(text) * model.percent + 50) // 100

    measure = count if model.percent == 100 else scaled  # noqa: PLR2004

    label = lru_cache(maxsize=1_024)(measure)

    return Costs(measure, label, model.media, model.message, model.function)
