"""The one place where randomness is drawn."""

import os
import secrets  # noqa: TID251 - the one place
from collections.abc import Callable
from typing import Final

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
