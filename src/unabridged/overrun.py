"""
What is over a limit, and by how much.
"""

from attrs import frozen

__all__ = ["Overrun"]

SHOWN = 4


@frozen
class Overrun:
    """
    What must stay is more than the limit: *needed*, *limit*, and *what* could not go.

    >>> Overrun(10, 35, "tokens", ("entry 2 (30): the newest user message",)).by
    25
    """

    limit: int
    needed: int
    unit: str
    what: tuple[str, ...] = ()

    @property
    def by(self) -> int:
        """
        By how much.
        """
        return self.needed - self.limit

    def __str__(self) -> str:
        more = f"; … and {len(self.what) - SHOWN} more" if len(self.what) > SHOWN else ""
        listed = "; ".join(self.what[:SHOWN])
        return (
            f"{self.needed} {self.unit} must stay, {self.by} over the limit of {self.limit}: "
            f"{listed}{more}"
        )
