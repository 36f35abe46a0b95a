"""
The functions that were called so far, and ids for calls to which the API gave none.

Older models, and Vertex, send calls and results without ids and pair them by
name and order. Here every call has an id for its result to find, so one is
made of the function's name, and of a number where a turn calls it again. Such
an id is not sent: neither with the call nor with its result. The legacy calls
of Chat Completions get theirs in the same way, in `chat_functions`.
"""

__all__ = ["Names", "is_made", "made_id"]


class Names(dict[str, str]):
    """
    The function's name by the id of its newest call.

    >>> names = Names()
    >>> names.start()
    >>> names.id_of_call("now"), names.id_of_call("now"), names["now-2"]
    ('now', 'now-2', 'now')
    >>> names.start()
    >>> names.id_of_result("now"), names.id_of_result("now")
    ('now', 'now-2')
    """

    def __init__(self, *known: dict[str, str]) -> None:
        super().__init__(*known)
        self.made: set[str] = set()  # ids that the API does not have
        self._waiting: dict[str, list[str]] = {}  # calls without an id, by their name
        self._calls: dict[str, int] = {}
        self._results: dict[str, int] = {}

    def start(self) -> None:
        """
        Begin a turn: numbers count from its first call, or first result, of each name.
        """
        self._calls, self._results = {}, {}

    def id_of_call(self, name: str) -> str:
        """
        The id for the next call of this name in the turn.
        """
        if name not in self._calls:
            self._waiting[name] = []
        id_ = _next(name, self._calls)
        self._waiting[name].append(id_)
        self[id_] = name
        self.made.add(id_)

        return id_

    def id_of_result(self, name: str) -> str:
        """
        The id of the call of this name that waits longest, or would, if its turn is not known.
        """
        waiting = self._waiting.get(name)

        return waiting.pop(0) if waiting else _next(name, self._results)

    def sent(self, id_: str, *, on: bool) -> None:
        """
        Note whether the newest call with this id has it from the API.
        """
        (self.made.discard if on else self.made.add)(id_)


def _next(name: str, numbers: dict[str, int]) -> str:
    number = numbers[name] = numbers.get(name, 0) + 1

    return made_id(name, number)


def made_id(name: str, number: int) -> str:
    """
    The id for call *number* of a function, counted from 1.

    >>> made_id("now", 1), made_id("now", 2)
    ('now', 'now-2')
    """
    return name if number == 1 else f"{name}-{number}"


def is_made(id_: str, name: str) -> bool:
    """
    Whether it is an id that `Names` makes for a function of this name.

    >>> is_made("now-2", "now"), is_made("c1", "now")
    (True, False)
    """
    number = id_.removeprefix(f"{name}-")

    return id_ == name or (number != id_ and number.isdecimal())
