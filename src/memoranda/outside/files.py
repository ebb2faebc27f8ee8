"""Files that must outlive a crash, and must not lie in the folder of the database."""

import asyncio
import errno
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from typing import Final
from urllib.parse import quote_from_bytes

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.plans.steps.context import Scan

try:
    import fcntl
except ModuleNotFoundError:  # Windows has none
    fcntl = None  # type: ignore[assignment]

LOCK_SECONDS: Final = 10.0
LOOK_AGAIN_SECONDS: Final = 0.01
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def is_in_folder_of(path: Path, database: Path) -> bool:
    """Whether a file lies in the folder of a database, or below it, once links are followed.

    Who copies that folder, or may write it, must get neither the key nor the anchor with it.
    """
    return path.resolve().is_relative_to(database.resolve().parent)


def sync_folder(folder: Path) -> None:
    """Make a name that was added to a folder outlive a power cut; Windows offers no way to."""
    if not hasattr(os, "O_DIRECTORY"):
        return
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
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, mode)
        with os.fdopen(descriptor, "wb") as file:
            if hasattr(os, "fchmod"):
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
    """Hold the lock of an open file or folder; TimeoutError when another process keeps it.

    OSError where the system has no such locks: keys, anchors and witnesses need them.
    """
    if fcntl is None:
        raise OSError(errno.ENOSYS, "this system has no locks of files as POSIX has them")
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


# ------------------------------------------------------------------------------------------------
# The version of a folder: a hash over the names and contents of all its files.
#
# The same files have the same version, wherever the folder lies and whenever they were written. A
# link is not followed: where it leads is part of the version, what lies there is not. Something
# that is neither a file, a folder nor a link counts by its name alone. A folder ``.git`` is left
# out: git writes there when nothing has changed.

_LEFT_OUT: Final = b".git"
_FILE: Final = "file"


class FolderScanner:
    """Reads folders of this machine, in a thread; OSError if any file of one can't be read."""

    async def scan(self, path: str) -> Scan:
        """The version of the files below a path, and how many there are."""
        return await asyncio.to_thread(_scan, path)


def _scan(path: str) -> Scan:
    """Read a folder.

    1. every entry below it, by the bytes of its path in it
    2. the version is the hash of all paths, kinds and contents, sorted by path
    """
    # 1.
    root = os.fsencode(path)
    entries = sorted(_entries(root, b""))
    # 2.
    listed = [[quote_from_bytes(name), kind, content] for name, kind, content in entries]
    count = sum(kind == _FILE for _, kind, _ in entries)
    return Scan(sha256_hex(canonical_bytes(listed)), count)


def _entries(folder: bytes, below: bytes) -> Iterator[tuple[bytes, str, str]]:
    with os.scandir(folder) as found:
        inside = list(found)
    for entry in inside:
        name = below + entry.name
        if entry.is_symlink():
            yield name, "link", hashlib.sha256(_target(entry.path)).hexdigest()
        elif entry.is_dir(follow_symlinks=False):
            if entry.name != _LEFT_OUT:
                yield from _entries(entry.path, name + b"/")
        elif entry.is_file(follow_symlinks=False):
            yield name, _FILE, _content(entry.path)
        else:
            yield name, "other", ""


def _target(link: bytes) -> bytes:
    return os.readlink(link)  # noqa: PTH115 - as bytes: a name need not be UTF-8


def _content(path: bytes) -> str:
    # Another process may put a link or a pipe in its place: neither is followed or waited for.
    descriptor = os.open(path, os.O_RDONLY | _NO_LINK | _NO_WAIT)
    with os.fdopen(descriptor, "rb") as file:
        if not S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it became something else while it was read", os.fsdecode(path))
        return hashlib.file_digest(file, "sha256").hexdigest()
