"""The event loop that a database was opened in: only there it may be used.

A handle that is used from another thread, or from another loop of the same thread, would meet
connections and locks in the middle of something else. It is refused by name instead.
"""

import asyncio
from typing import Final

from memoranda.kernel.errors import WrongLoop


class Home:
    """Remembers the running loop, and refuses every other one."""

    def __init__(self, database: str) -> None:
        self._database = database
        self.loop: Final = asyncio.get_running_loop()

    def check(self) -> None:
        """Refuse with WrongLoop whoever does not run in the loop that it was made in."""
        if asyncio.get_running_loop() is not self.loop:
            raise WrongLoop(self._database)
