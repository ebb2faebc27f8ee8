"""Taking content out of a SQLite file, so that no byte of it is left.

Deleted cells are overwritten (`secure_delete`, set on every connection), the write-ahead log is
folded in and truncated, and what is left of moved cells is overwritten (`gaps`). What others still
read can't be taken from them: that is an error, in words, and `scrub` is called again later.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final

import apsw
import orjson

from memoranda.kernel.errors import StoreUnavailable
from memoranda.ledger.attachments import CYCLE, Holdings
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.unit import Current, Draft, Found, Mark, NamedFacts, Unit, takes_all
from memoranda.stores.compared import ERASED
from memoranda.stores.erasing import holdings_of
from memoranda.stores.merge import PostingCounts, take_out
from memoranda.stores.sqlite.connection import SEQ_BITS, Inserts, place, plain_errors
from memoranda.stores.sqlite.reader import run
from memoranda.stores.sqlite.retries import forget_retries, retries_of_entries, retries_of_object

# ------------------------------------------------------------------------------------------------
# Bytes of a page that no cell uses, and that SQLite leaves as they were.
#
# `secure_delete` overwrites a cell that is deleted. But when SQLite moves cells to a page beside,
# to keep the tree in balance, it may leave the old copies in the gap between a page's list of cells
# and its content, where nothing reads them: of a thousand records that were erased, the words of
# some three could be seen there. A gap has no meaning, so it is overwritten in the file itself:
#
# 1. nobody writes, and all is in the file: the write lock is held, and the log is empty
# 2. the gap of every page of a tree is filled with zeros
# 3. a change is committed, so that no other connection goes on with pages as it remembers them
#
# Whoever reads meanwhile sees the same cells as before, and so does everybody after a crash.

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


_FORGET_BODIES: Final = f"""
DELETE FROM bodies WHERE place IN (
  SELECT (journal << {SEQ_BITS} | seq) FROM versions WHERE journal = ? AND id = ?
)
"""  # noqa: S608 - ours
_FORGET_ROWS: Final = """
UPDATE versions SET
  is_newest = 0, since = seq, status = 'erased', created_at = 0, updated_at = 0,
  valid_from = NULL, valid_to = NULL, expires_at = NULL, subject = NULL
WHERE journal = ? AND id = ?
"""
_FORGET_DERIVATIONS: Final = "DELETE FROM derivations WHERE journal = ? AND output = ?"
_FORGET_TAGS: Final = "DELETE FROM tags WHERE journal = ? AND id = ?"

_TRIES: Final = 2
"""How often the log is folded in: somebody may write just then. Each waits for those who read."""

_one_at_a_time: Final = Lock()
"""Two that truncate one log at once take each other for readers."""


def erase_content(
    connection: apsw.Connection, journal: int, erased: Current, bodies: BodyCodec
) -> None:
    """Remove the content of every version of an object, inside a transaction.

    Where a body is not what was written, it does not lead to what was made of it: then all tags
    of the object go, and the index of words goes as a whole, to be made anew.
    """
    if erased.damaged:
        connection.execute(_FORGET_TAGS, (journal, erased.id))
    run(connection, journal, take_out(bodies, [erased]))
    forget_retries(connection, journal, retries_of_object(connection, journal, erased.id))
    for statement in (_FORGET_BODIES, _FORGET_ROWS, _FORGET_DERIVATIONS):
        connection.execute(statement, (journal, erased.id))


def scrub(connect: Callable[[], apsw.Connection], name: str, *, rewrite: bool) -> None:
    """Fold the write-ahead log in and truncate it, and overwrite what pages have beside cells.

    With `rewrite`, the whole file is written anew before.
    """
    with _one_at_a_time, plain_errors(name):
        connection = connect()
        try:
            if rewrite:
                connection.execute("VACUUM").fetchall()
            is_clean = any(_is_folded(connection) and clean_gaps(connection) for _ in range(_TRIES))
            connection.set_busy_timeout(0)
            _is_folded(connection)  # what was written since has nothing that was erased
        finally:
            connection.close()
    if not is_clean:
        why = (
            "what was erased is still in its write-ahead log, because another process or an open"
            " stream reads what was before; end that, then run `memoranda maintain scrub`"
        )
        raise StoreUnavailable(name, why)


def _is_folded(connection: apsw.Connection) -> bool:
    """Fold the log into the file; whether nothing is left in it."""
    outcome: Any = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return not (outcome and outcome[0][0])


# ------------------------------------------------------------------------------------------------
# Facts that are erased, with what they left.

MARK_ROWS: Final = Inserts("marks", "journal", "name", "seq")
_UNMARK: Final = "DELETE FROM marks WHERE journal = ? AND name = ? AND seq = ?"
_FORGET_BODY: Final = "DELETE FROM bodies WHERE place = ?"
_FORGET_MARKS: Final = "DELETE FROM marks WHERE journal = ? AND seq = ?"
_OF_CYCLES: Final = "cycle IN (SELECT value FROM json_each(?2))"
_SESSIONS: Final = f"SELECT DISTINCT session FROM item_origins WHERE journal = ?1 AND {_OF_CYCLES}"  # noqa: S608 - ours
_IDS: Final = f"SELECT id FROM item_origins WHERE journal = ?1 AND session = ?3 AND {_OF_CYCLES}"  # noqa: S608 - ours
# What leads from an item to its postings are its keywords; but an item that can't be read any more
# goes too, so all of its session's are looked at: once, however many cycles go.
_FORGET_OF_SESSION: Final = (
    f"""
    DELETE FROM item_postings WHERE keyword IN (
      SELECT number FROM item_keywords WHERE journal = ?1 AND session = ?3
    ) AND id IN ({_IDS})
    """,  # noqa: S608 - ours
    """
    DELETE FROM item_keywords WHERE journal = ?1 AND session = ?3 AND NOT EXISTS (
      SELECT 1 FROM item_postings p WHERE p.keyword = item_keywords.number
    )
    """,
    f"DELETE FROM memories WHERE journal = ?1 AND session = ?3 AND id IN ({_IDS})",  # noqa: S608 - ours
)
_FORGET_CYCLES: Final = (
    f"DELETE FROM item_origins WHERE journal = ?1 AND {_OF_CYCLES}",  # noqa: S608 - ours
    f"DELETE FROM cycle_salts WHERE journal = ?1 AND {_OF_CYCLES}",  # noqa: S608 - ours
    f"DELETE FROM recordings WHERE journal = ?1 AND {_OF_CYCLES}",  # noqa: S608 - ours
)


def unmark(connection: apsw.Connection, journal: int, marks: Sequence[Mark]) -> None:
    for name, seq in marks:
        connection.execute(_UNMARK, (journal, name, seq))


def erase_entries(
    connection: apsw.Connection, journal: int, seqs: Sequence[int], names: Sequence[str]
) -> None:
    """Remove the bodies, marks and retries of entries, and what led to the names that they had."""
    forget_retries(connection, journal, retries_of_entries(connection, journal, seqs))
    for seq in seqs:
        connection.execute(_FORGET_BODY, (place(journal, seq),))
        connection.execute(_FORGET_MARKS, (journal, seq))
    for name in names:
        connection.execute(_FORGET_DERIVATIONS, (journal, name))
    if cycles := [name.removeprefix(CYCLE) for name in names if name.startswith(CYCLE)]:
        forget_cycles(connection, journal, cycles)


def forget_cycles(connection: apsw.Connection, journal: int, cycles: Sequence[str]) -> None:
    """Remove the items that cycles stored, their recordings and their salts, in a transaction.

    The keywords that no other item of their session has go as well.
    """
    named = (journal, orjson.dumps(cycles).decode())  # noqa: TID251 - a parameter
    sessions: Any = connection.execute(_SESSIONS, named).fetchall()
    for (session,) in sessions:
        for statement in _FORGET_OF_SESSION:
            connection.execute(statement, (*named, session))
    for statement in _FORGET_CYCLES:
        connection.execute(statement, named)


# ------------------------------------------------------------------------------------------------
# What SQLite holds of objects besides their versions, counted for a unit that erases them.


def counting(connection: apsw.Connection, bodies: BodyCodec, journal: int, unit: Unit) -> Unit:
    """The unit; with each object that it erases it is given what goes with that, counted."""
    counts = _Counts(connection, bodies, journal, unit)

    def decide(found: Sequence[Found | None]) -> Sequence[Draft]:
        return unit.decide(counts.with_holdings(found))

    return unit._replace(decide=decide)


class _Counts:
    """Counts for one unit, portion by portion."""

    def __init__(
        self, connection: apsw.Connection, bodies: BodyCodec, journal: int, unit: Unit
    ) -> None:
        self._connection = connection
        self._journal, self._unit = journal, unit
        self._postings = PostingCounts(bodies)

    def with_holdings(self, found: Sequence[Found | None]) -> list[Found | None]:
        """What was found, each with what else is held of it."""
        holdings = iter(self._holdings([each for each in found if each is not None]))
        return [each and each._replace(holdings=next(holdings)) for each in found]

    def _holdings(self, there: Sequence[Found]) -> list[Holdings]:
        objects = [each for each in there if isinstance(each, Current)]
        postings = run(self._connection, self._journal, self._postings.of(objects))
        counted = holdings_of(self._unit, there, list(map(self._retries, there)), postings)
        return run(self._connection, self._journal, counted)

    def _retries(self, found: Found) -> set[bytes]:
        """The keys that go with it; none where all go, which are counted as a whole."""
        if takes_all(self._unit):
            return set()
        if isinstance(found, NamedFacts):
            seqs = [entry.seq for entry in found.entries]
            return retries_of_entries(self._connection, self._journal, seqs)
        if found.status == ERASED:
            return set()
        return retries_of_object(self._connection, self._journal, found.id)
