"""Time that stands still and ids that count: what makes a test say the same thing twice."""

from dataclasses import dataclass


@dataclass(slots=True)
class FrozenClock:
    """A clock that moves only when it is told to."""

    at: int = 1_700_000_000_000

    def now_ms(self) -> int:
        """The time that was set."""
        return self.at

    def advance(self, milliseconds: int) -> None:
        """Let this much time pass."""
        self.at += milliseconds


@dataclass(slots=True)
class CountedIds:
    """Ids that count from 1, padded, so that they rise as texts as well."""

    prefix: str = "id-"
    made: int = 0

    def new_id(self) -> str:
        """The next id."""
        self.made += 1
        return f"{self.prefix}{self.made:06}"
