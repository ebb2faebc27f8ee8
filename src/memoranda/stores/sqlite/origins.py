"""From a cycle to what it left, in SQLite: the salt of its digests, and its items."""

from collections.abc import Sequence
from typing import Any, Final, TypeVar

import apsw
import orjson

from memoranda.kernel.errors import RecordExists
from memoranda.ledger.attachments import CYCLE, CycleSalt, ItemOrigin, OriginOf, StoredItem
from memoranda.stores.items import id_bytes, id_of
from memoranda.stores.sqlite.reader import OpenDatabase

R = TypeVar("R")

_SALT: Final = "SELECT salt FROM cycle_salts WHERE journal = ? AND cycle = ?"
_ITEMS: Final = "SELECT id FROM item_origins WHERE journal = ? AND cycle = ? ORDER BY id"
_ORIGINS: Final = """
SELECT (SELECT max(m.seq) FROM marks m WHERE m.journal = ?1 AND m.name = ?4 || o.cycle),
  count(*), o.cycle
FROM json_each(?3) n
CROSS JOIN item_origins o ON o.journal = ?1 AND o.session = ?2 AND o.id = unhex(n.value)
GROUP BY o.cycle ORDER BY o.cycle
"""
_WHOLE: Final = """
SELECT (SELECT coalesce(sum(terms), 0) FROM item_origins WHERE journal = ?1 AND session = ?2) = (
  SELECT count(*) FROM item_keywords k JOIN item_postings p ON p.keyword = k.number
  WHERE k.journal = ?1 AND k.session = ?2
), ''
"""
_STORED: Final = """
SELECT o.session, i.id, o.cycle, s.salt, i.body FROM json_each(?3) n
CROSS JOIN memories i ON i.journal = ?1 AND i.session = ?2 AND i.id = unhex(n.value)
LEFT JOIN item_origins o ON o.journal = ?1 AND o.session = ?2 AND o.id = i.id
LEFT JOIN cycle_salts s ON s.journal = ?1 AND s.cycle = o.cycle
"""
_KEEP_SALT: Final = """
INSERT INTO cycle_salts (journal, cycle, salt) VALUES (?, ?, ?) ON CONFLICT DO NOTHING
"""
_KEEP_ORIGIN: Final = """
INSERT INTO item_origins (journal, session, id, cycle, terms) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
"""
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
_FORGET: Final = (
    f"DELETE FROM item_origins WHERE journal = ?1 AND {_OF_CYCLES}",  # noqa: S608 - ours
    f"DELETE FROM cycle_salts WHERE journal = ?1 AND {_OF_CYCLES}",  # noqa: S608 - ours
    f"DELETE FROM recordings WHERE journal = ?1 AND {_OF_CYCLES}",  # noqa: S608 - ours
)
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
    session, id, cycle, terms = origin
    connection.execute(_KEEP_ORIGIN, (journal, session, id_bytes(id), cycle, terms))
    if not connection.changes():
        raise RecordExists(id)


def forget_cycles(connection: apsw.Connection, journal: int, cycles: Sequence[str]) -> None:
    """Remove the items that cycles stored, their recordings and their salts, in a transaction.

    The keywords that no other item of their session has go as well.
    """
    named = (journal, orjson.dumps(cycles).decode())  # noqa: TID251 - a parameter
    sessions: Any = connection.execute(_SESSIONS, named).fetchall()
    for (session,) in sessions:
        for statement in _FORGET_OF_SESSION:
            connection.execute(statement, (*named, session))
    for statement in _FORGET:
        connection.execute(statement, named)


def forget_origins(connection: apsw.Connection, journal: int) -> None:
    """Remove all origins and salts of a journal, in a transaction."""
    for statement in _FORGET_ALL:
        connection.execute(statement, (journal,))


# ---------------------------------------------------------------------------- reading


class SqliteOrigins:
    """The salts of the cycles of one journal, and which items they stored."""

    def __init__(self, database: OpenDatabase, journal: int) -> None:
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

    async def items(self, cycle: str) -> list[str]:
        """The ids of the items that a cycle stored and that are still there, in order."""
        return await self._database.rows(_ITEMS, (self._journal, cycle), lambda row: id_of(row[0]))

    async def is_index_whole(self, session_ref: str) -> bool:
        """Whether the index of a session has as many keywords as its cycles stored."""
        asked = (self._journal, session_ref)
        return bool((await self._database.rows(_WHOLE, asked, tuple[int, str]))[0][0])

    async def stored(self, session_ref: str, ids: Sequence[str]) -> list[StoredItem]:
        """These items of a session as they are stored; those that are not there are left out."""
        asked = orjson.dumps([id.replace("-", "") for id in ids]).decode()  # noqa: TID251 - a parameter
        bodies = self._database.bodies

        def make(row: Any) -> StoredItem:
            _, id, cycle, salt, body = row
            return StoredItem(session_ref, id_of(id), bodies.unpack(body), cycle, salt)

        return await self._database.rows(_STORED, (self._journal, session_ref, asked), make)


def _origin(row: Any) -> OriginOf:
    seq, items, cycle = row
    return OriginOf(cycle, seq, items)
