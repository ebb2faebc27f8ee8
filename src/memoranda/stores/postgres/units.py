"""Units of work on a PostgreSQL journal.

1. A unit that reads nothing is one trip: its entries are chained to the head that this process
   knows, and the database writes them if that is still the head. Those that come together share it.
2. One that reads is two: what it reads, then the same, which refuses if that was replaced
   meanwhile. What this process wrote or read lately need not be read again: the second trip finds
   out if it was replaced. No lock is held while Python decides. Whatever it reads, what a unit
   expects is checked by the statement that writes.
3. If it was, or the head had moved, or if the unit is too large for one statement, or leaves
   something with its entries, it runs in a transaction that locks the head first: it never has
   to give way twice. One that only looks does so at one moment, and locks nothing.
"""

from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from psycopg import sql
from psycopg.types.numeric import Int8

from memoranda.kernel.errors import MarkMoved, RecordExists
from memoranda.ledger.retry import bound, key_digest
from memoranda.ledger.tree import Block, Blocks, leaves
from memoranda.ledger.unit import (
    Committed,
    Current,
    Draft,
    EntryPlace,
    Everything,
    Found,
    OfSubject,
    Unit,
)
from memoranda.stores.attachments import landed
from memoranda.stores.erasing import check_expected
from memoranda.stores.merge import PostingCounts, take_out
from memoranda.stores.postgres.append import (
    APPEND,
    DRAFTS_AT_ONCE,
    JournalEnd,
    Portion,
    portions,
)
from memoranda.stores.postgres.arrays import row_types
from memoranda.stores.postgres.connection import Connection, call, off_the_loop
from memoranda.stores.postgres.group_commit import DecidedUnit, Joiner
from memoranda.stores.postgres.journal import run
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.postgres.recent import Recent
from memoranda.stores.postgres.unit_reads import UnitRead, UnitReader
from memoranda.stores.shorthand import ENTRY, InShorthand
from memoranda.stores.statements import Integers, Texts

_BEGIN: Final = b"BEGIN"
_LOCK: Final = "SELECT size, head, head_at FROM memoranda.lock_journal(%s, %s)"
_HEAD: Final = "SELECT size, head, head_at FROM memoranda.head_of(%s, %s)"
BLOCKS: Final = "SELECT level, number, hashes FROM memoranda.blocks(%s, %s, %s, %s)"
# Both in one trip: two statements without parameters. The origin is quoted by psycopg.
_BEGIN_DRY: Final = sql.SQL(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT memoranda.enter({}, {})"
)
_FORGET_TAGS: Final = "DELETE FROM memoranda.tags t WHERE t.journal = %s AND t.id = ANY (%s)"
_NAME_TOKENIZER: Final = "UPDATE memoranda.journals j SET tokenizer = %s WHERE j.journal = %s"
_REMEMBER: Final = """
INSERT INTO memoranda.retries (journal, key_digest, fingerprint, nonce, about, seq, entries, at)
SELECT j.journal, %s, %s, %s, %s, j.size - %s, %s, %s
FROM memoranda.journals j WHERE j.journal = %s
"""


class _Appended(NamedTuple):
    """What `memoranda.append` says."""

    outcome: str
    about: str
    seq: int
    entries: int


class PostgresUnits:
    """Runs the units of one journal."""

    def __init__(
        self, calls: Pool, journal: int, origin: str, bodies: InShorthand, recent: Recent
    ) -> None:
        self._bodies = bodies
        self._calls = calls
        self._reader = UnitReader(journal, origin, bodies, recent)
        self._journal = journal
        self._origin = origin
        self._named = (Int8(journal), origin)
        self._numbered = Int8(journal)
        self._joiner = Joiner(self._append_jobs)
        self._begin_dry = _BEGIN_DRY.format(journal, origin).as_bytes()
        self._end: JournalEnd | None = None
        """The head as this process knows it: of its last write, or as it was read."""
        self.recent = recent

    async def commit(self, unit: Unit) -> Committed:
        """Run a unit: in one statement if it can be, else in a transaction."""
        self._calls.home.check()
        ids = unit.reads
        if isinstance(ids, Everything | OfSubject) or len(ids) > DRAFTS_AT_ONCE or unit.is_erasing:
            return await self._commit_locked(unit)
        if unit.tokenizer is not None or unit.attachments or unit.is_dry:
            return await self._commit_locked(unit)
        known = self._known(unit, ids)
        found: Sequence[Current | None] = known or ()
        drafts: Sequence[Draft] = ()
        refused: Exception | None = None
        if known is not None:
            try:
                drafts = await _decided(unit, known)
            except Exception as error:  # noqa: BLE001 - raised below, unless it is out of date
                refused = error
        if not drafts:
            found, first = await self._read_now(unit, ids)
            if first is not None:
                return first
            if known is None or _identities(found) != _identities(known):
                drafts = await _decided(unit, found)
            elif refused is not None:
                raise refused
        if not drafts and unit.key is None and not unit.expects:
            return Committed([], unit.about)
        parts = list(portions(drafts))
        if len(parts) > 1 or any(draft.erases for draft in drafts):
            return await self._commit_locked(unit)
        committed = await self._joiner.run(DecidedUnit(unit, drafts, ids, found))
        return committed or await self._commit_locked(unit)

    async def close(self) -> None:
        """Finish what was asked for, and refuse what comes from now on."""
        await self._joiner.close()

    async def _append_jobs(self, jobs: Sequence[DecidedUnit]) -> list[Committed | None] | None:
        end, self._end = self._end, None  # until it is known what became of it
        async with self._calls.connection(writes=True) as connection:
            end = end or await self._read_end(connection, _HEAD)
            portion, appended = await self._append_to(connection, jobs, end)
        if appended.outcome == "behind":
            async with self._calls.transaction(_BEGIN, writes=True) as connection:
                end = await self._read_end(connection, _LOCK)
                portion, appended = await self._append_to(connection, jobs, end)
        if appended.outcome == "done":
            self._land(portion.end)
            for current in portion.newest():
                self.recent.add(self._journal, current)
        else:
            self._land(end)
        if len(jobs) == 1:
            return [await self._committed(jobs[0].unit, appended, portion.places)]
        if appended.outcome != "done":
            return None
        rest = iter(portion.places)
        return [Committed(list(islice(rest, len(job.drafts))), job.unit.about) for job in jobs]

    async def _committed(
        self, unit: Unit, appended: _Appended, made: list[EntryPlace]
    ) -> Committed | None:
        """What appending came to for one unit; None if what it read before is no longer so."""
        match appended.outcome:
            case "done":
                return Committed(made, unit.about)
            case "moved":
                return None
            case "mark_moved":
                raise MarkMoved(appended.about)
            case "exists":
                raise RecordExists(appended.about)
        async with self._calls.connection() as connection:
            return await self._reader.repeated(connection, unit, *appended)

    async def _append_to(
        self, connection: Connection, jobs: Sequence[DecidedUnit], end: JournalEnd
    ) -> tuple[Portion, _Appended]:
        size = sum(len(draft.body) for job in jobs for draft in job.drafts)
        portion = await off_the_loop(size, lambda: self._portion(jobs, end))
        return portion, await self._append(connection, portion)

    def _land(self, end: JournalEnd) -> None:
        if self._end is None or end.size >= self._end.size:
            self._end = end

    def _known(self, unit: Unit, ids: Sequence[str]) -> list[Current | None] | None:
        """What a unit reads, if this process has it; a unit with a key may have been run before."""
        if not ids or unit.key is not None:
            return None
        found = [self.recent.get(self._journal, id) for id in ids]
        return None if None in found else found

    def _portion(self, jobs: Sequence[DecidedUnit], end: JournalEnd) -> Portion:
        portion = Portion(self._bodies, self._journal, end)
        for unit, drafts, ids, found in ((j.unit, j.drafts, j.ids, j.found) for j in jobs):
            portion.add(unit, drafts)
            portion.add_read(ids, found)
            portion.add_expected(unit.expects)
            if unit.key is not None:
                portion.add_key(unit, unit.key, drafts)
        return portion

    # ------------------------------------------------------------------ under the lock

    async def _commit_locked(self, unit: Unit) -> Committed:
        committed, end = await self._run_locked(unit)
        if unit.is_erasing:
            self.recent.clear()
        if end is not None:
            self._land(end)
        return committed

    async def _run_locked(self, unit: Unit) -> tuple[Committed, JournalEnd | None]:
        begin = self._begin_dry if unit.is_dry else _BEGIN
        async with self._calls.transaction(begin, writes=not unit.is_dry) as connection:
            end = None if unit.is_dry else await self._read_end(connection, _LOCK)
            _, first = await self._reader.newest(connection, unit, ())
            if first is not None:
                return first, end
            await run(connection, self._journal, check_expected(unit.expects))
            gone = await run(connection, self._journal, landed(unit.attachments, self._bodies))
            committed = Committed([], unit.about, erased_attachments=gone)
            postings = PostingCounts(self._bodies)
            nonce = b""
            since: dict[tuple[str, int], int] = {}
            async for found in self._reader.portions(connection, unit, postings):
                drafts = await _decided(unit, found)
                nonce = nonce or (drafts[0].nonce if drafts else b"")
                for part in portions(drafts):
                    await self._take_out(connection, part)
                    portion = Portion(self._bodies, self._journal, _there(end), since)
                    portion.add(unit, part)
                    await self._committed(unit, await self._append(connection, portion), [])
                    committed.places.extend(portion.places)
                    end = portion.end
                    for current in portion.newest():
                        self.recent.forget(self._journal, current.id)
            if unit.tokenizer is not None:
                named = (unit.tokenizer, self._numbered)
                await connection.execute(_NAME_TOKENIZER, named, prepare=True)
            await self._remember(connection, unit, nonce, len(committed.places))
            return committed, end

    async def _take_out(self, connection: Connection, drafts: Sequence[Draft]) -> None:
        """Take what these erase out of the index of words, while its words are still there."""
        erased = [draft.replaces for draft in drafts if draft.erases and draft.replaces is not None]
        damaged = [current.id for current in erased if current.damaged]
        if damaged:
            asked = (self._numbered, Texts(damaged))
            await connection.execute(_FORGET_TAGS, asked, prepare=True)
        if erased:
            await run(connection, self._journal, take_out(self._bodies, erased))

    async def _remember(self, connection: Connection, unit: Unit, nonce: bytes, count: int) -> None:
        if unit.key is None:
            return
        noted = (key_digest(unit.key.key), unit.key.fingerprint, nonce, unit.about)
        counted = (Int8(count), Int8(count), Int8(unit.at), self._numbered)
        await connection.execute(_REMEMBER, (*noted, *counted), prepare=True)

    # ---------------------------------------------------------------------- statements

    async def _read_now(self, unit: Unit, ids: Sequence[str]) -> UnitRead:
        if not ids:
            return UnitRead(())
        async with self._calls.connection() as connection:
            return await self._reader.newest(connection, unit, ids)

    async def _append(self, connection: Connection, portion: Portion) -> _Appended:
        types = await row_types(connection)
        needed = portion.blocks()
        blocks = await self._blocks(connection, needed) if needed else {}
        values = portion.parameters(types, blocks)
        ((*appended,),) = await call(connection, APPEND, values)
        return _Appended(*appended)

    async def _read_end(self, connection: Connection, statement: str) -> JournalEnd:
        ((*end,),) = await call(connection, statement, self._named)
        return JournalEnd(*end)

    async def _blocks(self, connection: Connection, blocks: Collection[Block]) -> Blocks:
        levels = Integers(block.level for block in blocks)
        asked = (*self._named, levels, Integers(block.number for block in blocks))
        return blocks_in(await call(connection, BLOCKS, asked))


def blocks_in(rows: Sequence[Sequence[Any]]) -> Blocks:
    """Blocks of the tree from the rows of `BLOCKS`."""
    return {
        Block(level, number): hashes if level else leaves(map(ENTRY.unpack, hashes))
        for level, number, hashes in rows
    }


def _there(end: JournalEnd | None) -> JournalEnd:
    """The head of a journal that is locked; a unit that only looks writes nothing."""
    assert end is not None  # noqa: S101 - see above
    return end


def _identities(found: Sequence[Current | None]) -> list[tuple[str, int, bytes] | None]:
    return [current and (current.id, current.number, current.body) for current in found]


async def _decided(unit: Unit, found: Sequence[Found | None]) -> Sequence[Draft]:
    """What a unit decides; where that takes long, off the event loop."""
    size = sum(len(there.body) for there in found if isinstance(there, Current))
    decided: Any = await off_the_loop(size, lambda: unit.decide(found))
    return list(bound(unit.key, decided))
