"""
The lines that a digest may be made of, and how much each of them tells.

A line tells much if it holds words that come again in the conversation but not
in all of it, and facts: numbers, names, paths, identifiers. What a user says
and asks counts more, and so does what a text begins with.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen

from unabridged.items import Item
from unabridged.messages import Audio, Document, Message, Reasoning, Text, ToolCall, ToolResult
from unabridged.transcripts import quoted

__all__ = ["Line", "is_fact", "lines_of", "scores", "summary_lines", "terms"]

LONG = 120  # characters of a line beyond which its sentences are lines of their own
DENSE = 60  # the same where a character is more than a letter
LONGEST = 240
NAMED = 64  # characters of a name
SHOWN = 160  # characters shown of a call
FACT = 3.0  # what a fact is worth, where a long word that is met once is worth 1
WORD = 6  # characters of a long word
PAYLOAD = 64  # characters beyond which a word is none

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f\uff1b])")
_STRETCH = re.compile(rf".{{1,{LONGEST}}}(?:[\s,;\u3001\uff0c]|$)|.{{1,{LONGEST}}}", re.DOTALL)
_DENSE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
# A run of characters that are words by themselves, or a word, path, number or identifier.
_TERM = re.compile(rf"[{_DENSE}]+|[^\W_{_DENSE}]+(?:[-_'./:@][^\W_{_DENSE}]+)*+")
_FIRST_DENSE = re.compile(rf"[{_DENSE}]")
_NAME = re.compile(rf"[\w./-]{{1,{NAMED}}}")
_ASKS = ("?", "\uff1f", "\u061f")


@frozen
class Line:
    """
    A line: its *words*, who says them, and a *weight* for what it is.

    >>> Line("Which gate?", "user").text
    'user: Which gate?'
    """

    words: str
    speaker: str = ""
    weight: float = 1.0

    @property
    def text(self) -> str:
        """
        The line with who says it, so that no words can pass for another speaker's.
        """
        return f"{self.speaker}: {self.words}" if self.speaker else self.words


def summary_lines(text: str) -> list[Line]:
    r"""
    The lines of a summary that is there already; they keep the speakers that they name.

    >>> [line.words for line in summary_lines("user: I am Ana. Hi.\n\nassistant: Hello")]
    ['user: I am Ana. Hi.', 'assistant: Hello']
    """
    return [
        Line(words, weight=2.0 if words.startswith("user") else 1.3)
        for words in _pieces(text, LONGEST, LONGEST)
    ]


def lines_of(items: Iterable[Item]) -> list[Line]:
    """
    The lines of a conversation, in its order.

    >>> from unabridged.testing import call, result, user, view_of
    >>> for line in lines_of(view_of([user("Look!"), call("c1"), result("c1")])):
    ...     print(line.text)
    user: Look!
    assistant calls look: {}
    look answers: found
    """
    names: dict[str, str] = {}
    found: list[Line] = []
    for item in items:
        message = item.message
        names |= {call.id: call.name for call in message.tool_calls}
        found += _of_message(message, names)

    return found


def _of_message(message: Message, names: dict[str, str]) -> Iterator[Line]:
    speaker = _called(message.role)
    if message.name:
        speaker = f"{speaker} {quoted(message.name[:NAMED])}"
    words = "".join(part.text for part in message.parts if isinstance(part, Text))
    yield from _weighed(words, speaker, 1.5 if message.role == "user" else 1.0, 1.3)
    for part in message.parts:
        match part:
            case ToolCall():
                told = (
                    f"{part.arguments[:SHOWN]}…" if len(part.arguments) > SHOWN else part.arguments
                )
                yield Line(" ".join(told.split()), f"{speaker} calls {_called(part.name)}", 0.8)
            case ToolResult():
                name = _called(names.get(part.call_id, "tool"))
                does, weight = ("fails", 1.0) if part.is_error else ("answers", 0.8)
                yield from _weighed(part.text, f"{name} {does}", weight, 1.6)
            case Text() | Reasoning():
                continue
            case _:
                kind = f"[{type(part).__name__.lower()}]"
                heard = part.transcript if isinstance(part, Audio) else ""
                named = part.name if isinstance(part, Document) else ""
                yield Line(" ".join(f"{kind} {heard}{named}".split())[:LONGEST], speaker, 0.5)


def _called(name: str) -> str:
    """
    A role or the name of a tool: as it stands where it is one word, else quoted.
    """
    return name if _NAME.fullmatch(name) else quoted(name[:NAMED])


def _weighed(text: str, speaker: str, weight: float, first: float) -> Iterator[Line]:
    for place, words in enumerate(_pieces(text, LONG, DENSE)):
        begins = first if place == 0 else 1.0
        asks = 1.3 if words.endswith(_ASKS) else 1.0
        yield Line(words, speaker, weight * begins * asks)


def _pieces(text: str, long: int, dense: int) -> Iterator[str]:
    """
    The lines of a text, and of a long line its sentences, and of a long sentence its stretches.
    """
    for raw in text.splitlines():
        line = " ".join(raw.split())
        if len(line) <= (long if line.isascii() else dense):
            pieces: Sequence[str] = (line,)
        else:
            pieces = _SENTENCE.split(line)
        for piece in pieces:
            stretches = (piece,) if len(piece) <= LONGEST else _STRETCH.findall(piece)
            yield from (words for each in stretches if (words := each.strip()))


def terms(words: str) -> list[str]:
    """
    The terms of a line, each once, as they stand first.

    >>> terms("The file src/app.py, THE file"), terms("天気は晴れ")
    (['The', 'file', 'src/app.py', 'THE'], ['天気', '気は', 'は晴', '晴れ'])
    """
    found: dict[str, None] = {}
    for term in _TERM.findall(words):
        if not _FIRST_DENSE.match(term) or len(term) == 1:
            found[term] = None
            continue
        found |= dict.fromkeys(term[at : at + 2] for at in range(len(term) - 1))

    return list(found)


def is_fact(term: str, place: int) -> bool:
    """
    Whether the term at a *place* in its line is a number, a name, a path or an identifier.

    >>> [is_fact(term, place) for place, term in enumerate(["The", "gate", "B22", "Lima", "it's"])]
    [False, False, True, True, False]
    """
    if any(map(str.isdigit, term)):
        return True
    if not term.isalpha():
        return not term.replace("'", "").isalpha()

    return place > 0 and term[0].isupper()


def scores(lines: Sequence[Line]) -> list[float]:
    """
    How much each line tells, in time linear in their text.

    >>> told = scores([Line("The gate is B22."), Line("It is so."), Line("Is it the gate?")])
    >>> told[0] > told[2] > told[1]
    True
    """
    met: Counter[str] = Counter()
    for line in lines:
        met.update(_folded(line.words).keys())

    return [line.weight * _tells(line.words, met, len(lines)) for line in lines]


def _tells(words: str, met: Counter[str], lines: int) -> float:
    total = many = 0.0
    for place, (term, written) in enumerate(_folded(words).items()):
        often = met[term]
        # a long word tells more than a short one, whatever the language
        much = min(len(term), WORD) / WORD if len(term) <= PAYLOAD else 0.0
        many += much
        total += much * math.log2(1 + often) * math.log2((1 + lines) / often)
        if much and len(term) > 1 and is_fact(written, place):
            total += FACT * math.log2(1 + lines)

    return float(total / (many + 2) ** 0.8)


def _folded(words: str) -> dict[str, str]:
    """
    The terms without their case, each with how it stands first.
    """
    found: dict[str, str] = {}
    for term in terms(words):
        found.setdefault(term.casefold(), term)

    return found
