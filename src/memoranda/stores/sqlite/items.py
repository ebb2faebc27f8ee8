"""Finding the items of a session in SQLite, by a few look-ups that all see the same moment.

What a search costs is mostly the question for each beginning in the query whether any keyword has
it: eighty for a short sentence, and nearly all for nothing. So which ones are there, and which are
not, is noted for the next search, as long as nobody changes the database.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Any, Final, NamedTuple

import apsw
import orjson

from memoranda.kernel.errors import ItemDamaged
from memoranda.kernel.json import MAX_INTEGER
from memoranda.plans.items import (
    RetrievedItem,
    is_at_boundaries,
)
from memoranda.stores.items import (
    Occurring,
    StoredItems,
    askable,
    beginnings,
    best,
    item_id,
)
from memoranda.stores.sqlite.file import SqliteFile, SqliteRows
from memoranda.stores.sqlite.reader import Notes
from memoranda.text import fold

LONG: Final = 4_096
"""Characters of a query from which on it is not even read on the event loop's thread."""

_MOST_NOTED: Final = 4_000
"""Beginnings that are noted of a session before it is noted anew: those of all sessions that are
noted come to some tens of megabytes then."""

_MORE: Final = 4
"""How many times as many items are read when those before said the same as others."""

THERE: Final = """
SELECT n.value FROM json_each(?3) n WHERE EXISTS (
  SELECT 1 FROM item_keywords k WHERE k.journal = ?1 AND k.session = ?2 AND k.gram = n.value
)
"""
OCCURRING: Final = """
SELECT folded, number FROM item_keywords
WHERE journal = ? AND session = ? AND gram = ? AND instr(?, folded) > 0
"""
NEWEST: Final = """
SELECT id FROM item_postings WHERE keyword = ? ORDER BY at DESC, id LIMIT ? OFFSET ?
"""
POSTED: Final = "SELECT -at, id FROM item_postings WHERE keyword = ? ORDER BY at DESC"
BODIES: Final = "SELECT id, body FROM memories WHERE journal = ? AND session = ? AND id = ?"


class _Noted(NamedTuple):
    """Beginnings that were asked for in a session, and those of them that some keyword has."""

    asked: set[str]
    there: set[str]


@dataclass(frozen=True, slots=True)
class SqliteItemSearch:
    """A search in one session: called with a cursor, it gives the best items and their bodies."""

    journal: int
    session: str
    query: str
    top_k: int
    read: Callable[[bytes, bytes], RetrievedItem]
    """The item of an id and a body as they are stored."""

    def __call__(self, cursor: apsw.Cursor, notes: Notes) -> list[Any]:
        """The best items, best first; ItemDamaged for one that only its keywords are left of.

        1. those beginnings in the query that keywords of this session have
        2. the keywords with these beginnings that occur in the query
        3. the items that have them: of a single keyword the newest, else all of them, ranked
        4. what the best of them say; of those that say the same, only the first
        """
        folded = fold(self.query)
        asked = askable(folded)
        # 1.
        grams = self._there(cursor, beginnings(asked), notes)
        # 2.
        of_session = (self.journal, self.session)
        sought = [(*of_session, gram, asked) for gram in grams]
        occurring: Any = cursor.executemany(OCCURRING, sought).fetchall()
        # 3.
        ids = self._best(cursor, folded, occurring)
        # 4.
        found: dict[str, tuple[RetrievedItem, bytes]] = {}
        most = min(self.top_k, MAX_INTEGER)
        while len(found) < most and (some := list(islice(ids, most - len(found)))):
            for id, body in self._bodies(cursor, some):
                item = self.read(id, body)
                found.setdefault(item.summary, (item, body))
        return list(found.values())

    def _bodies(self, cursor: apsw.Cursor, ids: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        sought = [(self.journal, self.session, id) for id in ids]
        rows: Any = cursor.executemany(BODIES, sought).fetchall()
        if len(rows) < len(ids):
            kept = {id for id, _ in rows}
            gone = next(id for id in ids if id not in kept)
            raise ItemDamaged(item_id(gone), "its keywords are there, and it is not")
        return list(rows)

    def _there(self, cursor: apsw.Cursor, grams: set[str], notes: Notes) -> set[str]:
        noted = notes.get((self.journal, self.session))
        if noted is None or len(noted.asked) > _MOST_NOTED:
            noted = notes[self.journal, self.session] = _Noted(set(), set())
        unknown = grams - noted.asked
        if unknown:
            listed = orjson.dumps(list(unknown)).decode()  # noqa: TID251 - a parameter
            rows: Any = cursor.execute(THERE, (self.journal, self.session, listed)).fetchall()
            noted.there.update(gram for (gram,) in rows)
            noted.asked.update(unknown)
        return grams & noted.there

    def _best(
        self, cursor: apsw.Cursor, folded: str, occurring: Sequence[tuple[str, int]]
    ) -> Iterator[bytes]:
        if len(occurring) == 1:
            ((_, number),) = occurring
            return self._newest(cursor, number)
        found = []
        for keyword, number in occurring:
            rows: Any = cursor.execute(POSTED, (number,)).fetchall()
            found.append(Occurring(is_at_boundaries(keyword, folded), rows))
        return best(found)

    def _newest(self, cursor: apsw.Cursor, number: int) -> Iterator[bytes]:
        """The items of a keyword, newest first; mostly no more are read than are asked for."""
        size, before = min(self.top_k, MAX_INTEGER), 0
        while True:
            rows: Any = cursor.execute(NEWEST, (number, size, before)).fetchall()
            for (id,) in rows:
                yield id
            if len(rows) < size:
                return
            before, size = before + size, size * _MORE


class SqliteItems(StoredItems):
    """The items of one session."""

    def __init__(self, database: SqliteFile, journal: int, session_ref: str) -> None:
        super().__init__(SqliteRows(database, journal), session_ref)
        self._database = database
        self._journal = journal

    async def _found(self, query: str, top_k: int) -> list[RetrievedItem]:
        look = SqliteItemSearch(self._journal, self._session_ref, query, top_k, self._retrieved)
        if len(query) <= LONG:
            return await self._database.glance(look, itemgetter(0))
        return await self._database.read(lambda c: [item for item, _ in look(c.cursor(), {})])
