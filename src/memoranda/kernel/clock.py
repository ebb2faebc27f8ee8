"""What varies from run to run: the time, randomness and ids. The one place where each is drawn."""

import os
import secrets  # noqa: TID251 - the one place
import time
from collections.abc import Callable
from typing import Final, Protocol

# ------------------------------------------------------------------------------------------------
# The one place where the wall clock is read.


class Clock(Protocol):
    """Tells the time in milliseconds since 1970, as the wire does (MEM-CRUD-5)."""

    def now_ms(self) -> int:
        """The time now."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now_ms(self) -> int:
        """The time now."""
        return time.time_ns() // 1_000_000  # noqa: TID251 - the one place


# ------------------------------------------------------------------------------------------------
# The one place where randomness is drawn.

_DRAWN_AT_ONCE: Final = 4096


class Randomness:
    """Random bytes that nobody can guess, drawn from the system for many uses at once.

    Each draw is a system call, during which Python lets other threads run, and getting its turn
    back costs more than everything else here. A forked process must not go on with its parent's.
    """

    def __init__(self, draw: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._draw = draw
        self._drawn = b""
        self._used = 0
        self._process = os.getpid()

    def take(self, count: int) -> bytes:
        """Bytes that were never taken before."""
        start, end = self._used, self._used + count
        if end > len(self._drawn) or self._process != os.getpid():
            self._drawn = self._draw(max(_DRAWN_AT_ONCE, count))
            self._process = os.getpid()
            start, end = 0, count
        self._used = end
        return self._drawn[start:end]


# ------------------------------------------------------------------------------------------------
# The one place where ids are made.
#
# Ids are version 7 UUIDs (RFC 9562): time-ordered, so that new rows land at the end of every index.
# Random ones cost a batch of inserts ten times as much.

_COUNTER_BITS = 12
_TAIL_BYTES = 8
_VARIANTS = {digit: "89ab"[int(digit, 16) & 0b11] for digit in "0123456789abcdef"}
"""The digit that says the variant in its upper two bits, for a random one: the lower two stay."""

RESERVED: Final = (
    "proposal/", "execution/", "world/", "branches/", "branch/", "open/", "running/", "from/",
    "trace/", "ref/", "cycle/", "cycles/", "subject/",
)  # fmt: skip
"""How the names of facts begin; no record may have an id that begins so."""


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
    """A version 4 UUID: for a seed that asks for an id without a time in it."""
    drawn = bytearray(randomness.take(16))
    drawn[6] = drawn[6] & 0x0F | 0x40
    drawn[8] = drawn[8] & 0x3F | 0x80
    digits = drawn.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
