"""The one place where ids are made.

Ids are version 7 UUIDs (RFC 9562): time-ordered, so that new rows land at the end of every
index. Random ones cost a batch of inserts ten times as much.
"""

import os
import secrets  # noqa: TID251 - the one place
from collections.abc import Callable
from typing import Protocol

from recollect.kernel.clock import Clock, SystemClock

_COUNTER_BITS = 12
_TAIL_BYTES = 8
_TAILS_AT_ONCE = 64


class IdSource(Protocol):
    """Makes ids that were never made before."""

    def new_id(self) -> str:
        """A new id."""
        ...


class TimeOrderedIds:
    """UUIDv7 ids, rising strictly within one source even when the clock stands or goes back."""

    def __init__(
        self, clock: Clock | None = None, random_bytes: Callable[[int], bytes] = secrets.token_bytes
    ) -> None:
        self._clock = clock or SystemClock()
        self._random_bytes = random_bytes
        self._last = 0
        self._tails: list[int] = []
        self._process = os.getpid()

    def new_id(self) -> str:
        """A new id, greater than every one before it."""
        # Milliseconds and a 12-bit counter are one number: when more than 4,096 ids fall
        # into one millisecond, the carry borrows the next one.
        stamp = self._clock.now_ms() << _COUNTER_BITS
        self._last = stamp if stamp > self._last else self._last + 1
        milliseconds, counter = self._last >> _COUNTER_BITS, self._last & 0xFFF
        number = milliseconds << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | self._tail()
        text = f"{number:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def _tail(self) -> int:
        # Drawn for many ids at once: each draw is a system call, during which Python lets other
        # threads run, and getting its turn back costs more than everything else here. A forked
        # process must not go on with its parent's.
        if not self._tails or self._process != os.getpid():
            drawn = self._random_bytes(_TAIL_BYTES * _TAILS_AT_ONCE)
            starts = range(0, len(drawn), _TAIL_BYTES)
            self._tails = [int.from_bytes(drawn[at : at + _TAIL_BYTES]) for at in starts]
            self._process = os.getpid()
        return self._tails.pop() & 0x3FFF_FFFF_FFFF_FFFF
