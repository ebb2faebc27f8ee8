"""What stands where a part of a handle is not there: whatever is asked of it is refused."""

from collections.abc import Callable
from typing import Any

from memoranda.kernel.errors import MemorandaError


class Absent:
    """Refuses every call with one error."""

    def __init__(self, error: Callable[[], MemorandaError]) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        raise self._error()


def absent(error: Callable[[], MemorandaError]) -> Any:
    """An `Absent`, for wherever the part that is missing was declared."""
    return Absent(error)
