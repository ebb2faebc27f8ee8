"""Taking over a journal from another database, in one transaction."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from psycopg.types.numeric import Int8

from memoranda.identity import decode
from memoranda.kernel.errors import InvalidProof, ScopeExists
from memoranda.ledger.beside import Beside
from memoranda.ledger.codec import BodyCodec, subject_of
from memoranda.ledger.derive import inputs_of
from memoranda.ledger.entry import FACT_KINDS, entry_hash, genesis, read_entry
from memoranda.ledger.fact import derivations_of, marks_of, unmarks_of
from memoranda.ledger.rows import tags_of_newest
from memoranda.ledger.tree import BLOCK, STRIDE, leaves, node_of
from memoranda.ledger.unit import Mark, StoredEntry, StoredRow
from memoranda.stores.postgres.arrays import Blobs, Flags, Integers, Texts
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.landing import land
from memoranda.stores.postgres.pool import Pool

_FOUND: Final = "SELECT memoranda.journal_of(%s)"
_OPEN: Final = "SELECT memoranda.open_journal(%s, %s, %s, %s)"
_LOCK: Final = "SELECT memoranda.lock_journal(%s, %s)"
_ENTRIES: Final = """
INSERT INTO memoranda.entries (journal, seq, entry)
SELECT %s, n.seq, n.entry FROM unnest(%s, %s) AS n (seq, entry)
"""
_BODIES: Final = """
INSERT INTO memoranda.bodies (journal, seq, salt, body)
SELECT %s, n.seq, n.salt, n.body FROM unnest(%s, %s, %s) AS n (seq, salt, body)
"""
_NODES: Final = """
INSERT INTO memoranda.nodes (journal, level, number, hash)
SELECT %s, n.level, n.number, n.hash FROM unnest(%s, %s, %s) AS n (level, number, hash)
"""
_HEAD: Final = "UPDATE memoranda.journals SET size = %s, head = %s, head_at = %s WHERE number = %s"
_VERSIONS: Final = """
INSERT INTO memoranda.versions (journal, seq, since, is_newest, id, number, status, created_at,
  updated_at, valid_from, valid_to, expires_at, subject)
SELECT %s, n.* FROM unnest(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) AS n
"""
_TAGS: Final = """
INSERT INTO memoranda.tags (journal, tag, created_at, since, id, whole)
SELECT %s, memoranda.tag_key(n.tag), n.created_at, n.since, n.id,
       CASE WHEN memoranda.tag_key(n.tag) <> n.tag THEN n.tag END
FROM unnest(%s, %s, %s, %s) AS n (tag, created_at, since, id)
"""
_DERIVATIONS: Final = """
INSERT INTO memoranda.derivations (journal, input, output)
SELECT %s, n.input, n.output FROM unnest(%s, %s) AS n (input, output)
ON CONFLICT DO NOTHING
"""
_MARKS: Final = """
INSERT INTO memoranda.marks (journal, name, seq)
SELECT %s, n.name, n.seq FROM unnest(%s, %s) AS n (name, seq)
"""
_UNMARK: Final = "SELECT memoranda.unmark(%s, %s, %s)"
_NOTES: Final = """
INSERT INTO memoranda.checkpoints (journal, size, note, at)
SELECT %s, n.size, n.note, %s FROM unnest(%s, %s) AS n (size, note)
"""


@asynccontextmanager
async def adoption(
    pool: Pool, database: str, scope: str, origin: str, now: int, bodies: BodyCodec
) -> AsyncIterator["PostgresAdoption"]:
    """Takes a journal over; it lands when the block is left without an error."""
    async with pool.transaction(b"BEGIN", writes=True) as connection:
        ((found,),) = await (await connection.execute(_FOUND, (scope,))).fetchall()
        if found is not None:
            raise ScopeExists(database, scope)
        head = bytes.fromhex(genesis(origin))
        opened = await connection.execute(_OPEN, (scope, origin, Int8(now), head))
        ((journal,),) = await opened.fetchall()
        await connection.execute(_LOCK, (scope, Int8(journal)))
        yield PostgresAdoption(connection, journal, head, bodies)


class _Facts:
    """What follows from some entries that are facts.

    What they erased was erased where they come from: it has no body, and nothing follows from it.
    """

    def __init__(self) -> None:
        self.marks: dict[Mark, None] = {}
        self.unmarks: list[Mark] = []
        self.derived: list[tuple[str, str]] = []

    def add(self, seq: int, document: Mapping[str, Any]) -> None:
        """Add the fact of the next entry; a mark that came and went is not written at all."""
        for mark in unmarks_of(document):
            if mark in self.marks:
                del self.marks[mark]
            else:
                self.unmarks.append(mark)
        self.marks.update(dict.fromkeys(marks_of(document, seq)))
        self.derived += derivations_of(document)


def _columns(marks: Iterable[Mark]) -> tuple[Texts, Integers]:
    found = list(marks)
    return Texts(mark.name for mark in found), Integers(mark.seq for mark in found)


class PostgresAdoption:
    """A journal on its way in."""

    def __init__(self, connection: Connection, journal: int, head: bytes, codec: BodyCodec) -> None:
        self._codec = codec
        self._connection = connection
        self._journal = Int8(journal)
        self._size = 0
        self._hash = head
        self._levels: dict[int, list[bytes]] = {}
        self._complete: dict[int, int] = {}

    async def entries(self, stored: Sequence[StoredEntry]) -> None:
        """Take over the next entries, as they are; InvalidProof if they don't follow."""
        seqs, raws = Integers(), Blobs()
        body_seqs, salts, bodies = Integers(), Blobs(), Blobs()
        at = 0
        facts = _Facts()
        for seq, raw, salt, body in stored:
            entry = read_entry(raw)
            if (entry.seq, entry.previous_entry_hash) != (self._size, self._hash.hex()):
                raise InvalidProof(f"entry {seq} does not follow the entry before it")
            seqs.append(seq)
            raws.append(raw)
            if salt is not None and body is not None:
                body_seqs.append(seq)
                salts.append(salt)
                bodies.append(self._codec.pack(body, subject_of(body)))
            if entry.kind in FACT_KINDS and body is not None:
                facts.add(seq, decode(body))
            self._hash, self._size, at = entry_hash(raw), seq + 1, entry.at
        await self._run(_ENTRIES, seqs, raws)
        await self._run(_BODIES, body_seqs, salts, bodies)
        await self._run(_UNMARK, *_columns(facts.unmarks))
        await self._run(_MARKS, *_columns(facts.marks))
        await self._derive(facts.derived)
        await self._run(_NODES, *self._grown(leaves(raw for raw in raws)))
        head = (Int8(self._size), self._hash, Int8(at), self._journal)
        await self._connection.execute(_HEAD, head)

    async def rows(self, rows: Sequence[StoredRow]) -> None:
        """Take over the next rows, when all entries were."""
        columns = [*zip(*(row.version for row in rows), strict=True)]
        id, number, status, created, updated, start, end, expires, subject = columns
        await self._run(
            _VERSIONS,
            Integers(row.seq for row in rows),
            Integers(row.since for row in rows),
            Flags(row.is_newest for row in rows),
            Texts(id),
            Integers(number),
            Texts(status),
            *map(Integers, (created, updated, start, end, expires)),
            Texts(subject),
        )
        tags = list(tags_of_newest(rows))
        await self._run(
            _TAGS,
            Texts(tag.tag for tag in tags),
            Integers(tag.created_at for tag in tags),
            Integers(tag.since for tag in tags),
            Texts(tag.id for tag in tags),
        )
        derived = [(source, row.version.id) for row in rows for source in inputs_of(row.body)]
        await self._derive(derived)

    async def beside(self, beside: Sequence[Beside]) -> None:
        """Take over what had landed beside the entries."""
        await land(self._connection, self._journal, beside, self._codec)

    async def notes(self, notes: Sequence[tuple[int, str]], at: int) -> None:
        """Take over the checkpoints that were kept."""
        sizes, texts = Integers(size for size, _ in notes), Texts(note for _, note in notes)
        await self._run(_NOTES, Int8(at), sizes, texts)

    async def _derive(self, derived: Sequence[tuple[str, str]]) -> None:
        inputs, outputs = Texts(source for source, _ in derived), Texts(name for _, name in derived)
        await self._run(_DERIVATIONS, inputs, outputs)

    async def _run(self, statement: str, *columns: object) -> None:
        await self._connection.execute(statement, (self._journal, *columns))

    def _grown(self, hashes: list[bytes]) -> tuple[Integers, Integers, Blobs]:
        """The nodes that are complete with these leaves, as columns."""
        columns = Integers(), Integers(), Blobs()
        level = 0
        while hashes:
            waiting = self._levels.setdefault(level, [])
            waiting += hashes
            whole = range(0, len(waiting) - len(waiting) % BLOCK, BLOCK)
            hashes = [node_of(waiting[start : start + BLOCK]) for start in whole]
            del waiting[: len(hashes) * BLOCK]
            level += STRIDE
            for node in hashes:
                number = self._complete.get(level, 0)
                self._complete[level] = number + 1
                columns[0].append(level)
                columns[1].append(number)
                columns[2].append(node)
        return columns
