"""The vectors of one scope in SQLite."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

import apsw

from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.unit import Current
from memoranda.recall.vectors import (
    Contents,
    Embedding,
    Near,
    NearestFound,
    Unembedded,
    in_order,
    similarities,
)
from memoranda.stores.selection import COLUMNS
from memoranda.stores.sqlite.connection import SEQ_BITS
from memoranda.stores.sqlite.reader import OpenDatabase
from memoranda.stores.sqlite.units import JOINED
from memoranda.stores.vectors import AT_ONCE, VectorDigest, unembedded_in

R = TypeVar("R")

_ACTIVE: Final = (
    "SELECT count(*) FROM versions WHERE journal = ? AND is_newest AND status = 'active'"
)
_EMBEDDED: Final = "SELECT count(*) FROM vectors WHERE journal = ? AND model = ?"
# Along the index of changes: those without a vector are mostly the last ones.
_MISSING: Final = (
    "SELECT v.id, v.seq, e.entry, b.salt, b.body"  # noqa: S608 - ours
    " FROM versions v INDEXED BY active_by_update"
    f" LEFT JOIN bodies b ON b.place = (v.journal << {SEQ_BITS} | v.seq)"
    f" LEFT JOIN entries e ON e.place = (v.journal << {SEQ_BITS} | v.seq)"
    " WHERE v.journal = ?1 AND v.is_newest AND v.status = 'active' AND NOT EXISTS"
    " (SELECT 1 FROM vectors x WHERE x.journal = ?1 AND x.seq = v.seq AND x.model = ?2)"
    " ORDER BY v.updated_at DESC, v.since DESC LIMIT ?3"
)
_PUT: Final = (
    "INSERT OR IGNORE INTO vectors (journal, seq, model, id, vector)"
    " SELECT v.journal, v.seq, ?2, v.id, ?5 FROM versions v"
    " WHERE v.journal = ?1 AND v.id = ?3 AND v.seq = ?4 AND v.is_newest AND v.status = 'active'"
)
_VECTORS: Final = "SELECT seq, id, vector FROM vectors WHERE journal = ? AND model = ?"
_LOOK_UP: Final = (
    f"SELECT {COLUMNS} FROM {JOINED} WHERE v.journal = ? AND v.id = ? AND v.seq = ?"  # noqa: S608 - ours
    " AND v.is_newest AND v.status = 'active'"
)
_FORGET_OTHERS: Final = "DELETE FROM vectors WHERE journal = ? AND model <> ?"


class SqliteVectors:
    """The vectors of one journal; every statement names it."""

    def __init__(self, database: OpenDatabase, journal: int) -> None:
        self._database = database
        self._journal = journal

    async def count_missing(self, model: str) -> int:
        """How many active objects have no vector of a model."""
        return await self._database.read(lambda connection: self._missing(connection, model))

    async def missing(self, model: str, limit: int) -> list[Unembedded]:
        """Some of them, those that were changed last first."""

        def read(connection: apsw.Connection) -> list[Unembedded]:
            rows: Any = connection.execute(_MISSING, (self._journal, model, limit))
            return list(unembedded_in(self._database.compared, rows))

        return await self._database.read(read)

    async def put(self, model: str, embeddings: Sequence[Embedding]) -> int:
        """Keep the vectors of what is still active and newest; how many."""

        def write(connection: apsw.Connection) -> int:
            kept = 0
            for embedding in embeddings:
                connection.execute(_PUT, (self._journal, model, *embedding))
                kept += connection.changes()
            return kept

        return await self._database.write(write)

    async def nearest(
        self,
        model: str,
        vector: bytes,
        limit: int,
        make: Callable[[Current, Near], R | None],
        damaged: list[EntryDamaged] | None = None,
    ) -> NearestFound:
        """The active objects nearest to a vector, each made into a value where it was read."""

        def read(connection: apsw.Connection) -> NearestFound:
            missing = self._missing(connection, model)
            rows: Any = connection.execute(_VECTORS, (self._journal, model))
            ids: dict[int, str] = {}
            near = list(_compared(rows, vector, ids))
            found = self._looked_up(connection, in_order(near), ids, damaged)
            made = (value for pair in found if (value := make(*pair)) is not None)
            return NearestFound(list(islice(made, limit)), missing)

        return await self._database.read(read)

    async def forget_others(self, model: str) -> int:
        """Remove the vectors of all other models; how many."""

        def write(connection: apsw.Connection) -> int:
            connection.execute(_FORGET_OTHERS, (self._journal, model))
            return connection.changes()

        return await self._database.write(write)

    async def contents(self, model: str) -> Contents:
        def read(connection: apsw.Connection) -> Contents:
            digest = VectorDigest()
            rows: Any = connection.execute(_VECTORS, (self._journal, model))
            for seq, _, vector in rows:
                digest.feed(seq, vector)
            return digest.contents

        return await self._database.read(read)

    def _missing(self, connection: apsw.Connection, model: str) -> int:
        active: Any = connection.execute(_ACTIVE, (self._journal,)).fetchone()
        embedded: Any = connection.execute(_EMBEDDED, (self._journal, model)).fetchone()
        return max(int(active[0] - embedded[0]), 0)

    def _looked_up(
        self,
        connection: apsw.Connection,
        near: Iterable[Near],
        ids: dict[int, str],
        damaged: list[EntryDamaged] | None,
    ) -> Iterator[tuple[Current, Near]]:
        """Each that is what its vector was made of; the triggers see to it that all are."""
        for neighbour in near:
            asked = (self._journal, ids[neighbour.seq], neighbour.seq)
            rows: Any = connection.execute(_LOOK_UP, asked).fetchall()
            for _, current in self._database.compared.currents(rows, damaged):
                yield current, neighbour


def _compared(
    rows: Iterable[tuple[int, str, bytes]], vector: bytes, ids: dict[int, str]
) -> Iterator[tuple[int, float]]:
    """How near each row is; their ids are noted. One of another size is nobody's, and near none."""
    several = (row for row in rows if len(row[2]) == len(vector))
    while portion := list(islice(several, AT_ONCE)):
        ids.update((seq, id) for seq, id, _ in portion)
        found = similarities(vector, [other for _, _, other in portion])
        yield from zip((row[0] for row in portion), found, strict=True)
