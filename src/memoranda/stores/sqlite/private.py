"""What ``sqlite://:memory:`` opens: a file that nobody else finds, gone when it is closed.

A database in SQLite's own memory has one connection, so reads wait behind writes, and no snapshot
can be taken beside them. A file has all that any other file has.
"""

import logging
import os
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Final
from weakref import finalize

from memoranda.kernel.errors import StoreUnavailable

MEMORY: Final = ":memory:"
"""What stands in a URL where other databases have their path."""

NAME: Final = "sqlite://:memory:"
"""What messages call such a database: its path would say nothing to whoever opened it."""

log = logging.getLogger("memoranda.sqlite")


class PrivateFile:
    """A file in a folder of its own, which only its owner can enter.

    The folder goes with `remove`, and at the latest when the process ends. A process that is
    killed leaves it behind.
    """

    def __init__(self) -> None:
        # In the system's folder for temporary files and not in /dev/shm: a container gives that
        # one 64 MB, and fills up. Nothing waits for the disk here (`connect`), so that a file that
        # lives briefly hardly reaches it. Whoever wants it in memory for certain sets TMPDIR.
        try:
            folder = mkdtemp(prefix="memoranda-")
        except OSError as failed:
            why = f"no temporary folder can be made ({failed.strerror}); check TMPDIR"
            raise StoreUnavailable(NAME, why) from failed
        self.path: Final = str(Path(folder, "memory.db"))
        self.remove: Final = finalize(self, _remove, folder, os.getpid())


def _remove(folder: str, owner: int) -> None:
    if os.getpid() != owner:
        return  # a forked process ends; whoever made the folder still uses it
    try:
        with suppress(FileNotFoundError):  # it may have been cleaned up from outside
            shutil.rmtree(folder)
    except OSError as failed:
        log.warning("could not remove %s: %s", folder, failed)
