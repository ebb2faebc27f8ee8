"""Taking over a journal from another database, in one transaction."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from psycopg.types.numeric import Int8

from memoranda.identity import decode
from memoranda.kernel.errors import InvalidProof, ScopeExists
from memoranda.ledger.attachments import Attachment
from memoranda.ledger.codec import BodyCodec, subject_of
from memoranda.ledger.derive import inputs_of
from memoranda.ledger.entry import FACT_KINDS, entry_hash, genesis, read_entry
from memoranda.ledger.fact import derivations_of, marks_of, unmarks_of
from memoranda.ledger.rows import tags_of_newest
from memoranda.ledger.snapshot import StoredRow
from memoranda.ledger.tree import BLOCK, STRIDE, leaves, node_of
from memoranda.ledger.unit import Mark, StoredEntry
from memoranda.stores.attachments import landed
from memoranda.stores.postgres.arrays import (
    DERIVATION,
    MARK,
    NODE,
    PackedRows,
    RowForm,
    RowTypes,
    entry_row,
    packed_rows,
    row_types,
    rows_of_table,
    tag_row,
    version_row,
)
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.journal import run
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.shorthand import ENTRY, packed
from memoranda.stores.statements import Integers, Texts

_FOUND: Final = "SELECT scope FROM memoranda.journal_of(%s)"
_OPEN: Final = "SELECT memoranda.open_journal(%s, %s, %s, %s, %s)"
_LOCK: Final = "SELECT memoranda.lock_journal(%s, %s)"
_ROWS: Final = "INSERT INTO memoranda.{0} SELECT * FROM unnest(%s::memoranda.{0}[])"
_NEW_ROWS: Final = _ROWS + " ON CONFLICT DO NOTHING"
_HEAD: Final = "UPDATE memoranda.journals SET size = %s, head = %s, head_at = %s WHERE journal = %s"
_UNMARK: Final = "SELECT memoranda.unmark(%s, %s)"
_NOTES: Final = """
INSERT INTO memoranda.checkpoints (journal, size, note, at)
SELECT %s, n.size, n.note, %s FROM unnest(%s, %s) AS n (size, note)
"""


@asynccontextmanager
async def adoption(
    pool: Pool, database: str, journal: int, scope: str, origin: str, now: int, bodies: BodyCodec
) -> AsyncIterator["PostgresAdoption"]:
    """Takes a journal over; it lands when the block is left without an error."""
    async with pool.transaction(b"BEGIN", writes=True) as connection:
        numbered = Int8(journal)
        if await (await connection.execute(_FOUND, (numbered,))).fetchall():
            raise ScopeExists(database, scope)
        head = bytes.fromhex(genesis(origin))
        await connection.execute(_OPEN, (numbered, scope, origin, Int8(now), head))
        await connection.execute(_LOCK, (numbered, origin))
        yield PostgresAdoption(connection, journal, head, bodies, await row_types(connection))


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


class PostgresAdoption:
    """A journal on its way in."""

    def __init__(
        self,
        connection: Connection,
        journal: int,
        head: bytes,
        codec: BodyCodec,
        types: RowTypes,
    ) -> None:
        self._codec = codec
        self._connection = connection
        self._journal = Int8(journal)
        self._types = types
        self._size = 0
        self._hash = head
        self._levels: dict[int, list[bytes]] = {}
        self._complete: dict[int, int] = {}

    async def entries(self, stored: Sequence[StoredEntry]) -> None:
        """Take over the next entries, as they are; InvalidProof if they don't follow."""
        raws: list[bytes] = []
        rows: list[bytes] = []
        at = 0
        facts = _Facts()
        for seq, raw, salt, body in stored:
            entry = read_entry(raw)
            if (entry.seq, entry.previous_entry_hash) != (self._size, self._hash.hex()):
                raise InvalidProof(f"entry {seq} does not follow the entry before it")
            raws.append(raw)
            kept = self._codec.pack(body, subject_of(body)) if body is not None else None
            rows.append(entry_row(self._journal, seq, packed(raw, ENTRY), salt, kept))
            if entry.kind in FACT_KINDS and body is not None:
                facts.add(seq, decode(body))
            self._hash, self._size, at = entry_hash(raw), seq + 1, entry.at
        await self._insert("entries", packed_rows(self._types, "entries", rows))
        if facts.unmarks:
            gone = rows_of_table(self._types, MARK, ((self._journal, *m) for m in facts.unmarks))
            await self._connection.execute(_UNMARK, (self._journal, gone))
        await self._insert_rows(MARK, facts.marks)
        await self._insert_rows(DERIVATION, facts.derived)
        await self._insert_rows(NODE, self._grown(leaves(raws)))
        head = (Int8(self._size), self._hash, Int8(at), self._journal)
        await self._connection.execute(_HEAD, head)

    async def rows(self, rows: Sequence[StoredRow]) -> None:
        """Take over the next rows, when all entries were."""
        journal = self._journal
        versions = [
            version_row(journal, row.version, row.seq, row.since, is_newest=row.is_newest)
            for row in rows
        ]
        await self._insert("versions", packed_rows(self._types, "versions", versions))
        tags = [
            tag_row(journal, each.tag, each.created_at, each.since, each.id)
            for each in tags_of_newest(rows)
        ]
        await self._insert("tags", packed_rows(self._types, "tags", tags))
        derived = [(source, row.version.id) for row in rows for source in inputs_of(row.body)]
        await self._insert_rows(DERIVATION, derived)

    async def attachments(self, attachments: Sequence[Attachment]) -> None:
        await run(self._connection, self._journal, landed(attachments, self._codec))

    async def notes(self, notes: Sequence[tuple[int, str]], at: int) -> None:
        sizes, texts = Integers(size for size, _ in notes), Texts(note for _, note in notes)
        await self._connection.execute(_NOTES, (self._journal, Int8(at), sizes, texts))

    async def _insert_rows(self, form: RowForm, rows: Iterable[Sequence[object]]) -> None:
        given = rows_of_table(self._types, form, ((self._journal, *row) for row in rows))
        await self._insert(form.table, given)

    async def _insert(self, table: str, rows: PackedRows | None) -> None:
        if rows is not None:
            statement = _NEW_ROWS if table == DERIVATION.table else _ROWS
            await self._connection.execute(statement.format(table).encode(), (rows,))

    def _grown(self, hashes: list[bytes]) -> list[tuple[int, int, bytes]]:
        nodes = []
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
                nodes.append((level, number, node))
        return nodes
