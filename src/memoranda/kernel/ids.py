"""The one place where ids are made.

Ids are version 7 UUIDs (RFC 9562): time-ordered, so that new rows land at the end of every
index. Random ones cost a batch of inserts ten times as much.
"""

from typing import Final, Protocol

from memoranda.kernel.clock import Clock, SystemClock
from memoranda.kernel.randomness import Randomness

_COUNTER_BITS = 12
_TAIL_BYTES = 8
_VARIANTS = {digit: "89ab"[int(digit, 16) & 0b11] for digit in "0123456789abcdef"}
"""The digit that says the variant in its upper two bits, for a random one: the lower two stay."""

RESERVED: Final = (
    "proposal/", "execution/", "world/", "branches/", "branch/", "open/", "running/", "from/",
    "trace/", "ref/", "cycle/", "cycles/", "subject/",
)  # fmt: skip
"""How names begin that are no ids of records: what is derived from what is told by one name."""


class IdSource(Protocol):
    """Makes ids that were never made before."""

    def new_id(self) -> str:
        """A new id."""
        ...


class TimeOrderedIds:
    """UUIDv7 ids, rising strictly within one source even when the clock stands or goes back."""

    def __init__(self, clock: Clock | None = None, randomness: Randomness | None = None) -> None:
        self._clock = clock or SystemClock()
        self._randomness = randomness or Randomness()
        self._last = 0

    def new_id(self) -> str:
        """A new id, greater than every one before it."""
        # Milliseconds and a 12-bit counter are one number: when more than 4,096 ids fall
        # into one millisecond, the carry borrows the next one.
        stamp = self._clock.now_ms() << _COUNTER_BITS
        self._last = stamp if stamp > self._last else self._last + 1
        time, tail = f"{self._last:015x}", self._randomness.take(_TAIL_BYTES).hex()
        variant = _VARIANTS[tail[0]]
        return f"{time[:8]}-{time[8:12]}-7{time[12:]}-{variant}{tail[1:4]}-{tail[4:]}"


def random_uuid(randomness: Randomness) -> str:
    """A version 4 UUID: where a seed asks for an id that tells no time."""
    drawn = bytearray(randomness.take(16))
    drawn[6] = drawn[6] & 0x0F | 0x40
    drawn[8] = drawn[8] & 0x3F | 0x80
    digits = drawn.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
