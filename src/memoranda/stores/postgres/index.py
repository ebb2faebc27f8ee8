"""Reading the word index of a journal in PostgreSQL, inside a transaction that has entered it."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from psycopg.types.numeric import Int8

from memoranda.kernel.errors import IndexStale
from memoranda.ledger.snapshot import INDEX_FORM, Index
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postings import Chunk
from memoranda.stores.statements import Integers, Texts
from memoranda.stores.tail import NOTHING, Found, Tail, newest, replacing
from memoranda.stores.words import LARGE, WordCache, Words

UNREADABLE: Final = 0
"""Stands for the number of a version that can't be read any more: what it had is not known."""

_BODIES_AT_ONCE: Final = 64

_INDEX: Final = (
    "SELECT indexed, size, tokenizer, documents, length, revision FROM memoranda.index_of(%s, %s)"
)
# Of a large body its salt: to hash all of it for every search takes long.
_KNOWN_BY: Final = f"CASE WHEN octet_length(b.body) > {LARGE} THEN b.salt ELSE sha256(b.body) END"
_DIGESTS: Final = (
    f"SELECT b.seq, {_KNOWN_BY} FROM memoranda.entries b"  # noqa: S608 - ours
    " WHERE b.journal = %s AND b.seq >= %s AND b.seq < %s AND b.body IS NOT NULL ORDER BY b.seq"
)
_BODIES: Final = (
    "SELECT b.seq, b.body, b.salt FROM memoranda.entries b"
    " WHERE b.journal = %s AND b.seq = ANY (%s) AND b.body IS NOT NULL"
)
# The LIMITs of one, and OFFSET 0, make the planner look each up, whatever it believes of tables.
_INDEXED: Final = f"""
SELECT n.id, v.seq, d.digest FROM unnest(%s) AS n (id) CROSS JOIN LATERAL (
  SELECT v.seq, v.status FROM memoranda.versions v
  WHERE v.journal = %s AND v.id = n.id AND v.seq < %s ORDER BY v.number DESC LIMIT 1
) AS v CROSS JOIN LATERAL (
  SELECT {_KNOWN_BY} AS digest FROM memoranda.entries b
  WHERE b.journal = %s AND b.seq = v.seq AND b.body IS NOT NULL LIMIT 1
) AS d
WHERE v.status = 'active'
"""  # noqa: S608 - ours
_CHUNKS: Final = """
SELECT p.token, p.first, p.body
FROM memoranda.segments s CROSS JOIN unnest(%s) AS n (token) CROSS JOIN LATERAL (
  SELECT p.token, p.first, p.body FROM memoranda.postings p
  WHERE p.journal = %s AND p.segment = s.number AND p.token = n.token OFFSET 0
) AS p
WHERE s.journal = %s
"""


class State(NamedTuple):
    """How far an index reaches, whose it is, and what it counts."""

    indexed: int
    size: int
    tokenizer: str
    documents: int
    length: int
    revision: int
    """It is another one whenever the index was changed."""

    @property
    def tail(self) -> int:
        """How many entries are not in the index."""
        return self.size - self.indexed

    def check(self) -> None:
        """IndexStale if its tokens are another tokenizer's."""
        if Index(self.indexed, self.tokenizer).is_stale:
            raise IndexStale(self.tokenizer, INDEX_FORM)


class IndexReader:
    """Reads the index of one journal, and the words of what is not in it yet."""

    def __init__(self, journal: int, origin: str, words: WordCache) -> None:
        self._numbered = Int8(journal)
        self._named = (self._numbered, origin)
        self._words = words

    async def state(self, connection: Connection) -> State:
        ((*state,),) = await rows_of(connection, _INDEX, self._named)
        return State._make(state)

    async def tail(self, connection: Connection, start: int, end: int) -> Tail:
        """What the entries from one to another change in the index that ends where they begin."""
        if start == end:
            return NOTHING
        found = newest(await self._entries(connection, start, end))
        return Tail.of(found, await self.indexed(connection, replacing(found), start))

    async def indexed(self, connection: Connection, ids: Collection[str], end: int) -> Found:
        """The versions of these objects that an index of so many entries has."""
        if not ids or not end:
            return {}
        asked = (Texts(ids), self._numbered, Int8(end), self._numbered)
        rows = await rows_of(connection, _INDEXED, asked)
        words = await self._looked_up(connection, ((seq, digest) for _, seq, digest in rows))
        found: dict[str, tuple[int, Words]] = {}
        for id, seq, _ in rows:
            known = words[seq]
            found[id] = (seq, known or Words(id, UNREADABLE, True, {}, 0, None))
        return found

    async def chunks(
        self, connection: Connection, tokens: Collection[str]
    ) -> list[tuple[str, Chunk]]:
        """The chunks of these tokens, of each by its first entry."""
        asked = (Texts(tokens), self._numbered, self._numbered)
        rows = await rows_of(connection, _CHUNKS, asked)
        return [(token, Chunk(first, body)) for token, first, body in sorted(rows)]

    async def _entries(
        self, connection: Connection, start: int, end: int
    ) -> list[tuple[int, Words | None]]:
        asked = (self._numbered, Int8(start), Int8(end))
        rows = await rows_of(connection, _DIGESTS, asked)
        return sorted((await self._looked_up(connection, rows)).items(), key=_number)

    async def _looked_up(
        self, connection: Connection, digests: Iterable[Sequence[Any]]
    ) -> Mapping[int, Words | None]:
        """The words of bodies, by the number of their entries; only new bodies are fetched."""
        found: dict[int, Words | None] = {}
        unknown: list[int] = []
        for seq, digest in digests:
            known = self._words.known(digest)
            if known is None:
                unknown.append(seq)
            else:
                found[seq] = known.words
        for first in range(0, len(unknown), _BODIES_AT_ONCE):
            seqs = Integers(unknown[first : first + _BODIES_AT_ONCE])
            bodies = await rows_of(connection, _BODIES, (self._numbered, seqs))
            found |= await asyncio.to_thread(self._looked_at, bodies)
        return found

    def _looked_at(self, bodies: Sequence[tuple[int, bytes, bytes]]) -> dict[int, Words | None]:
        return {seq: self._words.of(body, salt) for seq, body, salt in bodies}


async def rows_of(
    connection: Connection, statement: str, values: Sequence[object]
) -> list[tuple[Any, ...]]:
    """The rows of a statement that is prepared once."""
    found = await connection.execute(statement, values, prepare=True, binary=True)
    return await found.fetchall()


def _number(entry: tuple[int, Words | None]) -> int:
    return entry[0]
