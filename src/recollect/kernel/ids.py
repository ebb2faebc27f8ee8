"""The one place where ids are made.

Ids are version 7 UUIDs (RFC 9562): time-ordered, so that new rows land at the end of every
index. Random ones cost a batch of inserts ten times as much.
"""

from typing import Protocol

from recollect.kernel.clock import Clock, SystemClock
from recollect.kernel.randomness import Randomness

_COUNTER_BITS = 12
_TAIL_BYTES = 8


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
        milliseconds, counter = self._last >> _COUNTER_BITS, self._last & 0xFFF
        tail = int.from_bytes(self._randomness.take(_TAIL_BYTES)) & 0x3FFF_FFFF_FFFF_FFFF
        number = milliseconds << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | tail
        text = f"{number:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
