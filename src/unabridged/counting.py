"""
What a thread has counted elsewhere: by an endpoint before a context, by a bill after it.
"""

from collections.abc import Mapping, Sequence

from unabridged.endpoints import Count, Counted
from unabridged.errors import ConfigError
from unabridged.messages import Message
from unabridged.records import Noted
from unabridged.stores.protocol import Receipt
from unabridged.text import brief
from unabridged.tokens import Kept
from unabridged.tokens.calibrated import Calibrated
from unabridged.tokens.from_client import FromClient
from unabridged.trim_result import TrimResult
from unabridged.usage import Usage
from unabridged.views import View
from unabridged.work import Do, Work

__all__ = ["Counting", "reported"]


class Counting:
    """
    The asking of endpoints for one context: what was tried, what went wrong.
    """

    def __init__(self, asked: Mapping[FromClient, Kept]) -> None:
        self.warnings: list[str] = []
        self._asked = dict(asked)
        self._tried: set[tuple[FromClient, Message]] = set()

    def counted(self, view: View, previous: Sequence[Message]) -> Work[bool]:
        """
        Have counted what is loaded of the view and is not yet; False if there was nothing to ask.

        A strategy may have made some of the *previous* context's messages, which
        counted roughly in it; they are most likely met again.
        """
        messages = [*previous, *(item.message for item in view.loaded)]
        asked = False
        for endpoint, count in tuple(self._asked.items()):
            missing = tuple(
                message
                for message in messages
                if not count.knows(message) and (endpoint, message) not in self._tried
            )
            if not missing:
                continue
            asked = True
            self._tried.update((endpoint, message) for message in missing)
            came: Counted = yield Count(endpoint, count, missing)
            if came.warning:
                self.warnings.append(came.warning)
            if came.down:
                del self._asked[endpoint]

        return asked


def reported(
    thread: str, result: TrimResult, usage: Usage, counter: Calibrated | None
) -> Work[Receipt | None]:
    """
    Keep a note of what was billed for a result, if a calibrated counter leans on it.

    Raises:
        ConfigError: the result is of another thread.
    """
    state = yield Do("state", (thread,))
    born = result.before.log.born
    if born and born != state.born:
        msg = (
            f"report_usage: the result is of another thread than {brief(thread)}, or that was "
            "deleted since; report to the memory that made it"
        )
        raise ConfigError(msg)
    if counter is None or not (estimated := counter.counts.total(result.messages)):
        return None
    note = counter.note(estimated=estimated, billed=usage.input_tokens)
    receipt: Receipt = yield Do("append", (thread, [Noted((note,))]))

    return receipt
