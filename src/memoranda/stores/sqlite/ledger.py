"""The ledger of one scope in SQLite."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any, Final, TypeVar

from memoranda.ledger.port import Compacted
from memoranda.ledger.snapshot import LedgerSnapshot
from memoranda.ledger.tree import Block, Blocks
from memoranda.ledger.unit import Committed, Current, Unit
from memoranda.records.filter import MemoryFilter
from memoranda.stores.attachments import StoredOrigins
from memoranda.stores.leases import StoredLeases
from memoranda.stores.reading import JournalReader
from memoranda.stores.search import JournalWords
from memoranda.stores.selection import PLACED, selection
from memoranda.stores.sessions import StoredAttachments
from memoranda.stores.sqlite.compact import compact
from memoranda.stores.sqlite.erase import scrub
from memoranda.stores.sqlite.file import SqliteFile, SqliteRows
from memoranda.stores.sqlite.heads import block_read
from memoranda.stores.sqlite.select import DIALECT, SqliteSelecting
from memoranda.stores.sqlite.snapshot import SqliteSnapshot
from memoranda.stores.sqlite.units import JOINED, NEWEST, JournalUnit
from memoranda.stores.statements import PlainStatement, Procedure
from memoranda.stores.vectors import StoredVectors

A = TypeVar("A")
R = TypeVar("R")

_STATUS: Final = Current._fields.index("status")
_AS_OF: Final = (
    f"SELECT {PLACED} FROM {JOINED} WHERE v.journal = ?1 AND v.seq < ?2 AND v.number ="  # noqa: S608 - ours
    " (SELECT max(w.number) FROM versions w WHERE w.journal = ?1 AND w.id = v.id AND w.seq < ?2)"
    " AND (v.status <> 'erased' OR b.body IS NOT NULL) ORDER BY v.since"
)


class SqliteLedger(SqliteSelecting, JournalReader):
    """The journal of one scope and what follows from it; every statement names it."""

    def __init__(self, database: SqliteFile, journal: int) -> None:
        super().__init__(database, journal)
        self._database = database
        self._reads = SqliteRows(database, journal)
        self.words = JournalWords(journal, self._reads, database.known, self._select)
        self.find, self.rank = self.words.find, self.words.rank
        self.index, self.reindex, self.tidy = self.words.index, self.words.reindex, self.words.tidy
        self.vectors = StoredVectors(self._reads)
        self.attachments = StoredAttachments(self._reads)
        self.origins = StoredOrigins(self._reads)
        self.leases = StoredLeases(self._reads)

    def commit(self, unit: Unit) -> Coroutine[Any, Any, Committed]:
        """Run a unit in one transaction, which other units may share."""
        database, job = self._database, JournalUnit(self._journal, unit)
        units = database.units
        if unit.is_dry:
            return database.read(lambda connection: units.look(connection, job))
        if asyncio.get_running_loop() is not database.home.loop:
            database.home.check()
        if database.is_current and database.writer is not None:
            return database.writer.join(units.commit, job, is_short=unit.is_short)
        return database.write_upgraded(units.commit, job)

    # ------------------------------------------------------------------------ objects

    async def current(self, id: str, make: Callable[[Current], R]) -> R | None:
        """The newest version of an object, if it is active, made into a value."""
        versions = await self._database.rows(NEWEST, (self._journal, id), self._active)
        return make(versions[0]) if versions and versions[0] is not None else None

    def _active(self, row: Any) -> Current | None:
        return self._compared.current(row) if row[_STATUS] == "active" else None

    async def as_of(self, size: int) -> AsyncGenerator[Current, None]:
        """The objects as they were when the journal had this many entries, in its order."""
        async with aclosing(self._database.stream(_AS_OF, (self._journal, size))) as rows:
            async for row in rows:
                yield self._compared.placed(row)

    def _select(self, filter: MemoryFilter, columns: str) -> PlainStatement | None:
        chosen = selection(filter, self._journal, DIALECT, columns=columns)
        return None if chosen is None else PlainStatement(chosen.sql, chosen.parameters)

    # ------------------------------------------------------------------------ journal

    def read_blocks(self, blocks: Collection[Block]) -> Procedure[Blocks]:
        """Blocks of the tree, as they are stored or as they follow from the entries."""
        found = {}
        for block in blocks:
            sql, values, made = block_read(self._journal, block)
            found[block] = [made(row) for row in (yield PlainStatement(sql, values))]
        return found

    async def scrub(self, *, rewrite: bool = False) -> None:
        """See that what was erased is in no byte of the file."""
        database = self._database
        database.check_writable()
        database.known.forget()
        await asyncio.to_thread(scrub, database.connect, database.name, rewrite=rewrite)

    async def compact(self, after: int, *, dry_run: bool = False) -> Compacted:
        """Store some long bodies of executions in fewer bytes."""
        database = self._database
        run, bodies = database.read if dry_run else database.write, database.bodies
        return await run(lambda c: compact(c, self._journal, after, bodies, dry_run=dry_run))

    def snapshot(self) -> AbstractAsyncContextManager[LedgerSnapshot]:
        database = self._database
        return SqliteSnapshot(database.connect, self._journal, database.name, database.bodies)
