"""The calls by which files are changed, one by one: where a process may die, it dies between two.

Whoever must outlive that is handed these calls, and is tested with others that fail on purpose.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from recollect.outside.files import sync_folder

_MODE = 0o600
_FOLDER_MODE = 0o700


class FileCalls(Protocol):
    """What is done to files and folders. All raise OSError when they can't."""

    def may_write(self, folder: Path) -> bool:
        """Whether files could be made in a folder; nothing is made to find out."""
        ...

    def make_folder(self, folder: Path) -> None:
        """Make a folder, and those above it, unless it is there."""
        ...

    def names(self, folder: Path) -> Sequence[str]:
        """What lies in a folder; nothing if there is no such folder."""
        ...

    def read(self, path: Path) -> bytes | None:
        """A file's content; None if there is no such file."""
        ...

    def write_new(self, path: Path, content: bytes) -> None:
        """Write a file that was not there. It need not outlive a power cut yet."""
        ...

    def sync(self, path: Path) -> None:
        """Make a file's content outlive a power cut."""
        ...

    def sync_folder(self, folder: Path) -> None:
        """Make the names in a folder outlive a power cut."""
        ...

    def move(self, path: Path, target: Path) -> None:
        """Give a file another name; whatever had it is gone in the same moment."""
        ...

    def remove(self, path: Path) -> None:
        """Remove a file, if it is there."""
        ...


class SystemCalls:
    """The operating system's own."""

    def may_write(self, folder: Path) -> bool:
        """Whether files could be made in a folder, or in the nearest above it that is there."""
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        return folder.is_dir() and os.access(folder, os.R_OK | os.W_OK | os.X_OK)

    def make_folder(self, folder: Path) -> None:
        """Make a folder, and those above it, each name on disk when it returns."""
        if folder.is_dir():
            return
        self.make_folder(folder.parent)
        folder.mkdir(_FOLDER_MODE, exist_ok=True)
        sync_folder(folder.parent)

    def names(self, folder: Path) -> Sequence[str]:
        """What lies in a folder."""
        try:
            return sorted(path.name for path in folder.iterdir())
        except FileNotFoundError:
            return ()

    def read(self, path: Path) -> bytes | None:
        """A file's content."""
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None

    def write_new(self, path: Path, content: bytes) -> None:
        """Write a file that was not there."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, _MODE), "wb") as file:
            file.write(content)

    def sync(self, path: Path) -> None:
        """Make a file's content outlive a power cut."""
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def sync_folder(self, folder: Path) -> None:
        """Make the names in a folder outlive a power cut."""
        sync_folder(folder)

    def move(self, path: Path, target: Path) -> None:
        """Give a file another name."""
        path.replace(target)

    def remove(self, path: Path) -> None:
        """Remove a file, if it is there."""
        path.unlink(missing_ok=True)
