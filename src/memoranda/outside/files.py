"""Files that must outlive a crash, and must not lie beside the database."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

LOCK_SECONDS: Final = 10.0
LOOK_AGAIN_SECONDS: Final = 0.01


def lies_beside(path: Path, database: Path) -> bool:
    """Whether a file lies in the folder of a database, or below it, once links are followed.

    Who copies that folder, or may write it, must get neither the key nor the anchor with it.
    """
    return path.resolve().is_relative_to(database.resolve().parent)


def sync_folder(folder: Path) -> None:
    """Make a name that was added to a folder outlive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, text: str, mode: int, *, replace: bool) -> None:
    """Write a file whole or not at all; FileExistsError if it must be new and is not.

    Callers hold a lock: two at once would share one draft.
    """
    draft = path.with_name(f".{path.name}.draft")
    with suppress(FileNotFoundError):
        draft.unlink()  # of a process that was killed here
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.write(text.encode())
            file.flush()
            os.fsync(descriptor)
        if replace:
            draft.replace(path)
        else:
            os.link(draft, path)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
    sync_folder(path.parent)


@contextmanager
def locked(descriptor: int, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock of an open file or folder; TimeoutError when another process keeps it."""
    kind = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, kind)
            break
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"another process has locked it for {LOCK_SECONDS:g} s"
                ) from None
            time.sleep(LOOK_AGAIN_SECONDS)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
