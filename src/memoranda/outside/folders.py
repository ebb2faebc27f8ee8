"""The version of a folder: a hash over the names and contents of all its files.

The same files have the same version, wherever the folder lies and whenever they were written. A
link is not followed: where it leads is part of the version, what lies there is not. Something that
is neither a file, a folder nor a link counts by its name alone. A folder ``.git`` is left out: git
writes there when nothing has changed.
"""

import asyncio
import hashlib
import os
from collections.abc import Iterator
from stat import S_ISREG
from typing import Final
from urllib.parse import quote_from_bytes

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.plans.steps.repo_scan import Scan

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
    """Path, kind and content of whatever is below a folder."""
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
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it became something else while it was read", os.fsdecode(path))
        return hashlib.file_digest(file, "sha256").hexdigest()
