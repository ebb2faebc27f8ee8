"""What was read lately of the objects of a database, so that a change need not read it again.

Whoever changes an object rests on its newest version. Mostly this process has just read it. It may
have been replaced since, by anybody: the statement that writes compares the number of the version,
and refuses then (`memoranda.append`).
"""

from collections import OrderedDict
from typing import Final

from memoranda.ledger.unit import Current

MOST_BYTES: Final = 16 * 1024 * 1024
LARGE: Final = 64 * 1024
_OVERHEAD: Final = 512


class Recent:
    """The newest versions of some objects, those that were asked for last."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[int, str], Current] = OrderedDict()
        self._bytes = 0

    def get(self, journal: int, id: str) -> Current | None:
        """One of them; it goes: whoever asks is about to replace it."""
        found = self._found.pop((journal, id), None)
        if found is not None:
            self._bytes -= _size(found)
        return found

    def add(self, journal: int, current: Current) -> None:
        """Keep one, unless it is large."""
        self.forget(journal, current.id)
        if len(current.body) > LARGE:
            return
        self._found[journal, current.id] = current
        self._bytes += _size(current)
        while self._bytes > MOST_BYTES:
            _, gone = self._found.popitem(last=False)
            self._bytes -= _size(gone)

    def forget(self, journal: int, id: str) -> None:
        self.get(journal, id)

    def clear(self) -> None:
        """Nothing is kept of what may have been erased."""
        self._found.clear()
        self._bytes = 0


def _size(current: Current) -> int:
    return len(current.body) + _OVERHEAD
