"""The vectors of one scope in PostgreSQL.

Without an extension of the server: vectors are read and compared here, a portion at a time, beside
the event loop.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from itertools import islice
from typing import Any, Final, TypeVar

from psycopg import sql
from psycopg.types.numeric import Int8

from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.codec import BodyCodec
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
from memoranda.stores.postgres.arrays import Blobs, Integers, Texts
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.off_loop import off_the_loop
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.postgres.units import compared
from memoranda.stores.selection import COLUMNS
from memoranda.stores.vectors import AT_ONCE, VectorDigest, unembedded_in

R = TypeVar("R")

LOOKED_UP_AT_ONCE: Final = 64

_BEGIN: Final = sql.SQL(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT memoranda.enter({}, {})"
)
_COUNT: Final = "SELECT active, embedded FROM memoranda.count_vectors(%s, %s, %s)"
_MISSING: Final = "SELECT * FROM memoranda.without_vector(%s, %s, %s, %s)"
_PUT: Final = "SELECT memoranda.put_vectors(%s, %s, %s, %s, %s, %s)"
_FORGET_OTHERS: Final = "SELECT memoranda.drop_other_vectors(%s, %s, %s)"
_VECTORS: Final = (
    "SELECT x.seq, x.id, x.vector FROM memoranda.vectors x WHERE x.journal = %s AND x.model = %s"
)
# The LIMITs of one make the planner look each up, whatever it believes of the tables.
_LOOK_UP: Final = (
    f"SELECT {COLUMNS} FROM unnest(%s, %s) WITH ORDINALITY AS n (id, seq, place)"  # noqa: S608 - ours
    " CROSS JOIN LATERAL (SELECT * FROM memoranda.versions v WHERE v.journal = %s AND v.id = n.id"
    " ORDER BY v.number DESC LIMIT 1) AS v"
    " LEFT JOIN LATERAL (SELECT b.salt, b.body FROM memoranda.entries b"
    " WHERE b.journal = %s AND b.seq = v.seq LIMIT 1) AS b ON true"
    " LEFT JOIN LATERAL (SELECT e.entry FROM memoranda.entries e"
    " WHERE e.journal = %s AND e.seq = v.seq LIMIT 1) AS e ON true"
    " WHERE v.seq = n.seq AND v.is_newest AND v.status = 'active' ORDER BY n.place"
)


class PostgresVectors:
    """The vectors of one journal. Every statement names it, and the database checks it again."""

    def __init__(self, calls: Pool, journal: int, origin: str, bodies: BodyCodec) -> None:
        self._calls = calls
        self._compared = compared(bodies)
        self._numbered = Int8(journal)
        self._named = (self._numbered, origin)
        self._begin = _BEGIN.format(journal, origin).as_bytes()

    async def count_missing(self, model: str) -> int:
        """How many active objects have no vector of a model."""
        async with self._calls.connection() as connection:
            return await self._missing(connection, model)

    async def missing(self, model: str, limit: int) -> list[Unembedded]:
        """Some of them, those that were changed last first."""
        rows = await self._call(_MISSING, model, Int8(limit))
        size = sum(len(row[-1] or b"") for row in rows)
        return await off_the_loop(size, lambda: list(unembedded_in(self._compared, rows)))

    async def put(self, model: str, embeddings: Sequence[Embedding]) -> int:
        """Keep the vectors of what is still active and newest; how many."""
        ids = Texts(embedding.id for embedding in embeddings)
        seqs = Integers(embedding.seq for embedding in embeddings)
        vectors = Blobs(embedding.vector for embedding in embeddings)
        ((kept,),) = await self._call(_PUT, model, ids, seqs, vectors, writes=True)
        return int(kept)

    async def nearest(
        self,
        model: str,
        vector: bytes,
        limit: int,
        make: Callable[[Current, Near], R | None],
        damaged: list[EntryDamaged] | None = None,
    ) -> NearestFound:
        """The active objects nearest to a vector, each made into a value."""
        async with self._calls.transaction(self._begin) as connection:
            missing = await self._missing(connection, model)
            near: list[tuple[int, float]] = []
            ids: dict[int, str] = {}
            async with aclosing(self._vectors(connection, model)) as portions:
                async for rows in portions:
                    near += await asyncio.to_thread(_compared, rows, vector)
                    ids.update((seq, id) for seq, id, _ in rows)
            made: list[object] = []
            best = in_order(near)
            while len(made) < limit and (several := list(islice(best, LOOKED_UP_AT_ONCE))):
                for current, neighbour in await self._looked_up(connection, several, ids, damaged):
                    value = make(current, neighbour) if len(made) < limit else None
                    if value is not None:
                        made.append(value)
        return NearestFound(made, missing)

    async def forget_others(self, model: str) -> int:
        """Remove the vectors of all other models; how many."""
        ((gone,),) = await self._call(_FORGET_OTHERS, model, writes=True)
        return int(gone)

    async def contents(self, model: str) -> Contents:
        digest = VectorDigest()
        async with (
            self._calls.transaction(self._begin) as connection,
            aclosing(self._vectors(connection, model)) as portions,
        ):
            async for rows in portions:
                for seq, _, vector in rows:
                    digest.feed(seq, vector)
        return digest.contents

    # --------------------------------------------------------------------- statements

    async def _call(
        self, statement: str, *values: object, writes: bool = False
    ) -> list[tuple[Any, ...]]:
        async with self._calls.connection(writes=writes) as connection:
            asked = (*self._named, *values)
            found = await connection.execute(statement, asked, prepare=True, binary=True)
            return await found.fetchall()

    async def _missing(self, connection: Connection, model: str) -> int:
        asked = (*self._named, model)
        found = await connection.execute(_COUNT, asked, prepare=True, binary=True)
        ((active, embedded),) = await found.fetchall()
        return max(int(active - embedded), 0)

    async def _vectors(
        self, connection: Connection, model: str
    ) -> AsyncGenerator[list[tuple[int, str, bytes]], None]:
        async with connection.cursor("memoranda_vectors") as cursor:
            await cursor.execute(_VECTORS.encode(), (self._numbered, model), binary=True)
            while rows := await cursor.fetchmany(AT_ONCE):
                yield rows

    async def _looked_up(
        self,
        connection: Connection,
        several: Sequence[Near],
        ids: dict[int, str],
        damaged: list[EntryDamaged] | None,
    ) -> list[tuple[Current, Near]]:
        """Each that is what its vector was made of; one that is replaced takes its own away."""
        asked = (
            Texts(ids[neighbour.seq] for neighbour in several),
            Integers(neighbour.seq for neighbour in several),
            *(self._numbered, self._numbered, self._numbered),
        )
        found = await connection.execute(_LOOK_UP, asked, prepare=True, binary=True)
        rows = await found.fetchall()
        near = {neighbour.seq: neighbour for neighbour in several}
        return [(current, near[seq]) for seq, current in self._compared.currents(rows, damaged)]


def _compared(rows: Sequence[tuple[int, str, bytes]], vector: bytes) -> list[tuple[int, float]]:
    fitting = [row for row in rows if len(row[2]) == len(vector)]
    found = similarities(vector, [other for _, _, other in fitting])
    return list(zip((row[0] for row in fitting), found, strict=True))
