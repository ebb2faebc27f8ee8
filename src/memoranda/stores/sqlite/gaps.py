"""Bytes of a page that no cell uses, and that SQLite leaves as they were.

`secure_delete` overwrites a cell that is deleted. But when SQLite moves cells to a page beside, to
keep the tree in balance, it may leave the old copies in the gap between a page's list of cells and
its content, where nothing reads them: of a thousand records that were erased, the words of some
three could be seen there. A gap has no meaning, so it is overwritten in the file itself:

1. nobody writes, and all is in the file: the write lock is held, and the log is empty
2. the gap of every page of a tree is filled with zeros
3. a change is committed, so that no other connection goes on with pages as it remembers them

Whoever reads meanwhile sees the same cells as before, and so does everybody after a crash.
"""

from pathlib import Path
from typing import Final

import apsw

_AT_ONCE: Final = 256
"""Pages that are read at once."""

_HEADER_OF_FILE: Final = 100
_CELLS: Final = {0x0D: 8, 0x0A: 8, 0x05: 12, 0x02: 12}
"""Where the list of cells begins, by the first byte of a tree's page: leaves, then others."""

_LARGEST_PAGE: Final = 65_536  # its size does not fit into two bytes, and is written as 0
_MOST_PAGES: Final = 0x0200_0000
"""Up to here, the first byte of a page that is no tree's is 0: it begins with a page's number."""


def clean_gaps(connection: apsw.Connection) -> bool:
    """Overwrite all gaps of a file; False if somebody wrote meanwhile, and it is to be done again.

    The connection has no transaction open, and its log was just truncated.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        log = Path(connection.filename_wal)  # 1.
        is_alone = not log.exists() or log.stat().st_size == 0
        if is_alone:
            _overwrite(connection.filename, int(connection.pragma("page_size")))  # 2.
            version = int(connection.pragma("user_version"))  # 3.
            connection.pragma("user_version", (version + 1) % 2**31)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return is_alone


def _overwrite(path: str, page_size: int) -> None:
    # By SQLite's own functions for files: whoever opens and closes a file otherwise takes away the
    # locks that this process has on it (POSIX).
    flags = [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0]
    file = apsw.VFSFile("", path, flags)
    try:
        pages = file.xFileSize() // page_size
        if pages >= _MOST_PAGES:
            raise apsw.TooBigError(f"{pages} pages")
        for first in range(0, pages, _AT_ONCE):
            size = min(_AT_ONCE, pages - first)
            chunk = file.xRead(size * page_size, first * page_size)
            for number in range(size):
                start, end = _gap(chunk, number * page_size, is_first=first + number == 0)
                if chunk.count(0, start, end) < end - start:
                    file.xWrite(bytes(end - start), first * page_size + start)
        file.xSync(apsw.SQLITE_SYNC_FULL)
    finally:
        file.xClose()


def _gap(chunk: bytes, page: int, *, is_first: bool) -> tuple[int, int]:
    """From where to where in a chunk the gap of a page is; it is empty if no tree has the page."""
    header = page + (_HEADER_OF_FILE if is_first else 0)
    cells = _CELLS.get(chunk[header])
    if cells is None:
        return page, page
    count = int.from_bytes(chunk[header + 3 : header + 5])
    content = int.from_bytes(chunk[header + 5 : header + 7]) or _LARGEST_PAGE
    return header + cells + 2 * count, page + content
