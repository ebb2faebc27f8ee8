"""What varies from run to run: the time, randomness and ids. The one place where each is drawn.

Also how a time is written.
"""

import os
import secrets  # noqa: TID251 - the one place
import time
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from typing import Final, Protocol

from memoranda.kernel.errors import InvalidTime

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


_EPOCH: Final = date(1970, 1, 1).toordinal()
_SECONDS_A_DAY: Final = 86_400


@lru_cache(maxsize=1024)  # those of a batch are the same
def format_time(ms: int) -> str:
    """Milliseconds since 1970 as ``2026-02-15T10:22:31.000Z``; years 1 to 9999."""
    second, rest = divmod(ms, 1000)
    return f"{_second(second)}.{rest:03d}Z"


@lru_cache(maxsize=256)  # neighbouring writes fall into the same second
def _second(second: int) -> str:
    day, rest = divmod(second, _SECONDS_A_DAY)
    try:
        shown = date.fromordinal(day + _EPOCH).isoformat()
    except (OverflowError, ValueError):
        raise InvalidTime(second * 1000, "it is outside the years 1 to 9999") from None
    return f"{shown}T{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"


# ------------------------------------------------------------------------------------------------
# The one place where randomness is drawn.

_DRAWN_AT_ONCE: Final = 4096
_forks = 0
"""How often the process that this is was forked; asking the system who it is takes longer."""


def _forked() -> None:
    global _forks  # noqa: PLW0603 - it is a property of the process
    _forks += 1


if hasattr(os, "register_at_fork"):  # Windows never forks
    os.register_at_fork(after_in_child=_forked)


class Randomness:
    """Random bytes that nobody can guess, drawn from the system for many uses at once.

    Each draw is a system call, during which Python lets other threads run, and getting its turn
    back costs more than everything else here. A forked process must not go on with its parent's.
    """

    def __init__(self, draw: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._draw = draw
        self._drawn = b""
        self._used = 0
        self._forks = _forks

    def take(self, count: int) -> bytes:
        """Bytes that were never taken before."""
        start, end = self._used, self._used + count
        if end > len(self._drawn) or self._forks != _forks:
            self._drawn = self._draw(max(_DRAWN_AT_ONCE, count))
            self._forks = _forks
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
    "trace/", "ref/", "cycle/", "cycles/", "subject/", "job/",
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
        self._last = last = stamp if stamp > self._last else self._last + 1
        time, tail = f"{last:015x}", self._randomness.take(_TAIL_BYTES).hex()
        variant = _VARIANTS[tail[0]]
        return f"{time[:8]}-{time[8:12]}-7{time[12:]}-{variant}{tail[1:4]}-{tail[4:]}"


def random_uuid(randomness: Randomness) -> str:
    """A version 4 UUID: for a seed that asks for an id without a time in it."""
    drawn = bytearray(randomness.take(16))
    drawn[6] = drawn[6] & 0x0F | 0x40
    drawn[8] = drawn[8] & 0x3F | 0x80
    digits = drawn.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
