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

from recollect.ledger.codec import BodyCodec
from recollect.ledger.unit import Current
from recollect.recall.similarity import Near, in_order, similarities
from recollect.recall.vectors import Contents, Embedding, Found, Unembedded, unembedded
from recollect.stores.postgres.arrays import Blobs, Integers, Texts
from recollect.stores.postgres.beside import beside_the_loop
from recollect.stores.postgres.connection import Connection
from recollect.stores.postgres.pool import Pool
from recollect.stores.postgres.units import current
from recollect.stores.selection import COLUMNS
from recollect.stores.vectors import AT_ONCE, VectorDigest

R = TypeVar("R")

LOOKED_UP_AT_ONCE: Final = 64

_BEGIN: Final = sql.SQL(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT recollect.enter({}, {})"
)
_COUNT: Final = "SELECT active, embedded FROM recollect.count_vectors(%s, %s, %s)"
_MISSING: Final = "SELECT id, seq, body FROM recollect.without_vector(%s, %s, %s, %s)"
_PUT: Final = "SELECT recollect.put_vectors(%s, %s, %s, %s, %s, %s)"
_FORGET_OTHERS: Final = "SELECT recollect.drop_other_vectors(%s, %s, %s)"
_VECTORS: Final = (
    "SELECT x.seq, x.id, x.vector FROM recollect.vectors x WHERE x.journal = %s AND x.model = %s"
)
# The LIMITs of one make the planner look each up, whatever it believes of the tables.
_LOOK_UP: Final = (
    f"SELECT n.place, {COLUMNS} FROM unnest(%s, %s) WITH ORDINALITY AS n (id, seq, place)"  # noqa: S608 - ours
    " CROSS JOIN LATERAL (SELECT * FROM recollect.versions v WHERE v.journal = %s AND v.id = n.id"
    " ORDER BY v.number DESC LIMIT 1) AS v"
    " CROSS JOIN LATERAL (SELECT b.body FROM recollect.bodies b"
    " WHERE b.journal = %s AND b.seq = v.seq LIMIT 1) AS b"
    " WHERE v.seq = n.seq AND v.is_newest AND v.status = 'active' ORDER BY n.place"
)


class PostgresVectors:
    """The vectors of one journal. Every statement names it, and the database checks it again."""

    def __init__(self, calls: Pool, scope: str, journal: int, bodies: BodyCodec) -> None:
        self._calls = calls
        self._bodies = bodies
        self._numbered = Int8(journal)
        self._named = (scope, self._numbered)
        self._begin = _BEGIN.format(scope, journal).as_bytes()

    async def count_missing(self, model: str) -> int:
        """How many active objects have no vector of a model."""
        async with self._calls.connection() as connection:
            return await self._missing(connection, model)

    async def missing(self, model: str, limit: int) -> list[Unembedded]:
        """Some of them, those that were changed last first."""
        rows = await self._call(_MISSING, model, Int8(limit))
        size = sum(len(body) for _, _, body in rows)
        return await beside_the_loop(
            size,
            lambda: [unembedded(id, seq, self._bodies.unpack(body)) for id, seq, body in rows],
        )

    async def put(self, model: str, embeddings: Sequence[Embedding]) -> int:
        """Keep the vectors of what is still active and newest; how many."""
        ids = Texts(one.id for one in embeddings)
        seqs = Integers(one.seq for one in embeddings)
        vectors = Blobs(one.vector for one in embeddings)
        ((kept,),) = await self._call(_PUT, model, ids, seqs, vectors, writes=True)
        return int(kept)

    async def nearest(
        self, model: str, vector: bytes, limit: int, make: Callable[[Current, Near], R | None]
    ) -> Found:
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
                for current, one in await self._looked_up(connection, several, ids):
                    value = make(current, one) if len(made) < limit else None
                    if value is not None:
                        made.append(value)
        return Found(made, missing)

    async def forget_others(self, model: str) -> int:
        """Remove the vectors of all other models; how many."""
        ((gone,),) = await self._call(_FORGET_OTHERS, model, writes=True)
        return int(gone)

    async def contents(self, model: str) -> Contents:
        """What there is of a model."""
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
        async with connection.cursor("recollect_vectors") as cursor:
            await cursor.execute(_VECTORS.encode(), (self._numbered, model), binary=True)
            while rows := await cursor.fetchmany(AT_ONCE):
                yield rows

    async def _looked_up(
        self, connection: Connection, several: Sequence[Near], ids: dict[int, str]
    ) -> list[tuple[Current, Near]]:
        """Each that is what its vector was made of; the triggers see to it that all are."""
        asked = (
            Texts(ids[one.seq] for one in several),
            Integers(one.seq for one in several),
            *(self._numbered, self._numbered),
        )
        found = await connection.execute(_LOOK_UP, asked, prepare=True, binary=True)
        rows = await found.fetchall()
        return [(current(self._bodies, row), several[place - 1]) for place, *row in rows]


def _compared(rows: Sequence[tuple[int, str, bytes]], vector: bytes) -> list[tuple[int, float]]:
    """How near each row is. One of another size is nobody's, and near none."""
    fitting = [row for row in rows if len(row[2]) == len(vector)]
    found = similarities(vector, [other for _, _, other in fitting])
    return list(zip((row[0] for row in fitting), found, strict=True))
