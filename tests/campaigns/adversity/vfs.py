"""File systems for SQLite that can be watched, broken and cut off.

Each is registered as the default in the process that wants it: memoranda itself knows nothing of
it. They hand everything on to the system's own, which also keeps the shared memory of the WAL.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import apsw

SYSTEM = "unix"

Name = Literal[
    "open", "delete", "access", "read", "write", "sync", "truncate", "size", "lock", "close"
]


class Operation(NamedTuple):
    """A call of SQLite's, before it is made."""

    name: Name
    file: str
    data: bytes = b""
    place: int = 0


Watch = Callable[[Operation], Any]


class WatchingVfs(apsw.VFS):
    """The system's own, with somebody who is told of each call, and may raise instead.

    Without `syncs`, files are not brought to the disk: nobody here pulls a real plug.
    """

    def __init__(self, name: str, watch: Watch, *, syncs: bool = True) -> None:
        self.vfs_name = name
        self.watch = watch
        self.syncs = syncs
        super().__init__(name, SYSTEM)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> "WatchingFile":  # noqa: N802
        file = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        self.watch(Operation("open", file))
        return WatchingFile(self, file, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self.watch(Operation("delete", filename, place=int(syncdir)))
        super().xDelete(filename, syncdir)

    def xAccess(self, pathname: str, flags: int) -> bool:  # noqa: N802
        self.watch(Operation("access", pathname))
        return super().xAccess(pathname, flags)


class WatchingFile(apsw.VFSFile):
    """A file of it."""

    def __init__(
        self,
        vfs: WatchingVfs,
        file: str,
        name: str | apsw.URIFilename | None,
        flags: list[int],
    ) -> None:
        self._vfs = vfs
        self._file = file
        super().__init__(SYSTEM, name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self._vfs.watch(Operation("read", self._file, place=offset))
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._vfs.watch(Operation("write", self._file, bytes(data), offset))
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._vfs.watch(Operation("sync", self._file))
        if self._vfs.syncs:
            super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._vfs.watch(Operation("truncate", self._file, place=newsize))
        super().xTruncate(newsize)

    def xFileSize(self) -> int:  # noqa: N802
        self._vfs.watch(Operation("size", self._file))
        return super().xFileSize()

    def xLock(self, level: int) -> None:  # noqa: N802
        self._vfs.watch(Operation("lock", self._file, place=level))
        super().xLock(level)


@contextmanager
def as_default(vfs: WatchingVfs) -> Iterator[WatchingVfs]:
    """Every connection of this process that is opened meanwhile uses this file system."""
    apsw.set_default_vfs(vfs.vfs_name)
    try:
        yield vfs
    finally:
        apsw.set_default_vfs(SYSTEM)
        vfs.unregister()


def files_in(folder: Path) -> dict[str, bytes]:
    """What is in a folder."""
    return {str(path): path.read_bytes() for path in folder.iterdir() if path.is_file()}
