"""The one place where the wall clock is read."""

import time
from typing import Protocol


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
