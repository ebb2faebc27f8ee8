"""From a cycle to what it left, in SQLite: the salt of its digests, and its items."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeVar

import apsw
import orjson

from recollect.kernel.errors import RecordExists
from recollect.ledger.beside import CYCLE, CycleSalt, ItemOrigin, OriginOf
from recollect.stores.item_ids import id_bytes
from recollect.stores.sqlite.reader import Parameters

R = TypeVar("R")

_SALT: Final = "SELECT salt FROM cycle_salts WHERE journal = ? AND cycle = ?"
_ORIGINS: Final = """
SELECT (SELECT max(m.seq) FROM marks m WHERE m.journal = ?1 AND m.name = ?4 || o.cycle),
  count(*), o.cycle
FROM json_each(?3) n
CROSS JOIN item_origins o ON o.journal = ?1 AND o.session = ?2 AND o.id = unhex(n.value)
GROUP BY o.cycle ORDER BY o.cycle
"""
_KEEP_SALT: Final = """
INSERT INTO cycle_salts (journal, cycle, salt) VALUES (?, ?, ?) ON CONFLICT DO NOTHING
"""
_KEEP_ORIGIN: Final = """
INSERT INTO item_origins (journal, session, id, cycle) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_ITEMS: Final = "SELECT session, id FROM item_origins WHERE journal = ? AND cycle = ?"
# What leads from an item to its postings are its keywords; but an item that can't be read any more
# goes too, so all of its session's are looked at.
_FORGET_POSTINGS: Final = """
DELETE FROM item_postings WHERE id = ? AND keyword IN (
  SELECT number FROM item_keywords WHERE journal = ? AND session = ?
)
"""
_FORGET_KEYWORDS: Final = """
DELETE FROM item_keywords WHERE journal = ? AND session = ? AND NOT EXISTS (
  SELECT 1 FROM item_postings p WHERE p.keyword = item_keywords.number
)
"""
_FORGET_ITEM: Final = "DELETE FROM items WHERE journal = ? AND session = ? AND id = ?"
_FORGET_ORIGINS: Final = "DELETE FROM item_origins WHERE journal = ? AND cycle = ?"
_FORGET_SALT: Final = "DELETE FROM cycle_salts WHERE journal = ? AND cycle = ?"
_FORGET_ALL: Final = (
    "DELETE FROM item_origins WHERE journal = ?",
    "DELETE FROM cycle_salts WHERE journal = ?",
)


def keep_salt(connection: apsw.Connection, journal: int, kept: CycleSalt) -> None:
    """Keep the salt of a cycle, in a transaction; RecordExists if it has one."""
    connection.execute(_KEEP_SALT, (journal, *kept))
    if not connection.changes():
        raise RecordExists(kept.cycle)


def keep_origin(connection: apsw.Connection, journal: int, origin: ItemOrigin) -> None:
    """Note which cycle stored an item, in a transaction; RecordExists if another one did."""
    session, id, cycle = origin
    connection.execute(_KEEP_ORIGIN, (journal, session, id_bytes(id), cycle))
    if not connection.changes():
        raise RecordExists(id)


def forget_cycle(connection: apsw.Connection, journal: int, cycle: str) -> None:
    """Remove the items that a cycle stored, and its salt, in a transaction.

    The keywords that no other item of their session has go as well.
    """
    items: Any = connection.execute(_ITEMS, (journal, cycle)).fetchall()
    for session, id in items:
        connection.execute(_FORGET_POSTINGS, (id, journal, session))
        connection.execute(_FORGET_KEYWORDS, (journal, session))
        connection.execute(_FORGET_ITEM, (journal, session, id))
    connection.execute(_FORGET_ORIGINS, (journal, cycle))
    connection.execute(_FORGET_SALT, (journal, cycle))


def forget_origins(connection: apsw.Connection, journal: int) -> None:
    """Remove all origins and salts of a journal, in a transaction."""
    for statement in _FORGET_ALL:
        connection.execute(statement, (journal,))


# ---------------------------------------------------------------------------- reading


class Database(Protocol):
    """What is needed of a database."""

    async def rows(self, sql: str, parameters: Parameters, make: Callable[[Any], R]) -> list[R]:
        """The rows of a SELECT, each made into a value."""
        ...


class SqliteOrigins:
    """The salts of the cycles of one journal, and which items they stored."""

    def __init__(self, database: Database, journal: int) -> None:
        self._database = database
        self._journal = journal

    async def salt(self, cycle: str) -> bytes | None:
        """What the digests in the fact of a cycle are salted with."""
        found = await self._database.rows(_SALT, (self._journal, cycle), tuple[bytes])
        return found[0][0] if found else None

    async def of(self, session_ref: str, ids: Sequence[str]) -> list[OriginOf]:
        """The cycles that stored these items of a session, each once, in their order."""
        asked = orjson.dumps([id.replace("-", "") for id in ids]).decode()  # noqa: TID251 - a parameter
        parameters = (self._journal, session_ref, asked, CYCLE)
        return await self._database.rows(_ORIGINS, parameters, _origin)


def _origin(row: Any) -> OriginOf:
    seq, items, cycle = row
    return OriginOf(cycle, seq, items)
