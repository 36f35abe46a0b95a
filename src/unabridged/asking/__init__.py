"""
Answers to `Ask`: what stands behind a memory's `ask=`.

`openai`, `anthropic` and `litellm` ask a model through a client of yours;
`offline` makes a digest without any; `fallback` tries one after the other. Each
is a function from an `Ask` to text, as any function of yours may be, and has a
`window`: what the model takes in one request, in tokens, or 0 if that is not
known. No client is imported before it is used.

>>> from unabridged import Memory, Summarize, asking, assistant, user
>>> memory = Memory(strategy=Summarize(keep_last=1), ask=asking.offline())
>>> _ = memory.append(user("I am Ana. Which gate?"), assistant("B22."), user("Thanks!"))
>>> print(memory.context().text())
system: Summary of the earlier conversation:
user: I am Ana. Which gate?
user: Thanks!
"""

from unabridged.asking.clients import anthropic, litellm, openai
from unabridged.asking.digest import Offline, offline
from unabridged.asking.in_turn import AsyncFallback, Fallback, fallback
from unabridged.asking.models import AsyncModel, Model

__all__ = [
    "AsyncFallback",
    "AsyncModel",
    "Fallback",
    "Model",
    "Offline",
    "anthropic",
    "fallback",
    "litellm",
    "offline",
    "openai",
]
