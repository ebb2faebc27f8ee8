"""Chance that comes back: everything random here is drawn from a seed."""

from random import Random  # noqa: TID251 - seeded, so that a failure comes back

from memoranda.kernel.clock import Randomness

__all__ = ["CountedClock", "Random", "seeded_randomness"]

_START = 1_750_000_000_000


class CountedClock:
    """A clock that goes on by one millisecond each time that it is read."""

    def __init__(self, start: int = _START) -> None:
        self._now = start

    def now_ms(self) -> int:
        """The time now."""
        self._now += 1
        return self._now


def seeded_randomness(chance: Random) -> Randomness:
    """Salts and nonces that are the same in every run with this seed."""
    return Randomness(chance.randbytes)
