"""What the two persisting steps are handed: a place to put what the cycle is to store at its end.

To stage is not to write. Whoever runs the cycle commits what was staged, all of it in one unit and
only after the last step has succeeded; a cycle that fails is dropped with it (ING-PERSIST).
"""

from typing import Protocol

from memoranda.plans.items import MemoryItem


class Staging(Protocol):
    """What one cycle is to store. Nobody sees it before the commit, and nothing reads it back."""

    def stage_item(self, item: MemoryItem) -> None:
        """An item is to be stored."""
        ...

    def stage_session(self, session_ref: str, repo_scan_version: str | None) -> None:
        """The session is to be stored; with the version of the folder that this cycle scanned."""
        ...
