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

from collections.abc import AsyncIterator, Collection, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from psycopg import sql
from psycopg.types.numeric import Int8

from memoranda.kernel.errors import EntryDamaged, IdempotencyConflict, MarkMoved, RecordExists
from memoranda.ledger.retry import bound, key_digest
from memoranda.ledger.tree import Block, Blocks
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
from memoranda.stores.compared import stand_in
from memoranda.stores.erasing import check_expected, facts_of, holdings_of, names_after
from memoranda.stores.postgres.append import (
    APPEND,
    DRAFTS_AT_ONCE,
    JournalEnd,
    Portion,
    hashes_in,
    places,
    portions,
)
from memoranda.stores.postgres.arrays import row_types
from memoranda.stores.postgres.connection import Connection, call, off_the_loop
from memoranda.stores.postgres.erase import retries_of
from memoranda.stores.postgres.group_commit import DecidedUnit, Joiner
from memoranda.stores.postgres.journal import compared, run
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.postgres.recent import Recent
from memoranda.stores.postgres.segments import Leaving
from memoranda.stores.selection import PLACED, WITH_ENTRY
from memoranda.stores.shorthand import InShorthand
from memoranda.stores.statements import Integers, Texts

PORTION: Final = 1_000

JOINED: Final = "memoranda.versions v " + WITH_ENTRY.postgres
"""Versions with their entries and bodies; where either is missing, that shows."""
LOOKED_UP: Final = (
    "unnest(?) AS n (key) CROSS JOIN LATERAL (SELECT w.* FROM memoranda.versions w"  # noqa: S608 - ours
    " WHERE w.journal = %s AND w.{column} = n.key OFFSET 0) AS v " + WITH_ENTRY.postgres
)
"""The same for the values of a column, one by one: of a list that the planner knows nothing of it
would rather go through the whole journal and compare each row with all of the list."""

_BEGIN: Final = b"BEGIN"
_LOCK: Final = "SELECT size, head, head_at FROM memoranda.lock_journal(%s, %s)"
_HEAD: Final = "SELECT size, head, head_at FROM memoranda.head_of(%s, %s)"
BLOCKS: Final = "SELECT level, number, hashes FROM memoranda.blocks(%s, %s, %s, %s)"
# Both in one trip: two statements without parameters. The origin is quoted by psycopg.
_BEGIN_DRY: Final = sql.SQL(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT memoranda.enter({}, {})"
)
_READ: Final = "SELECT * FROM memoranda.read_for_unit(%s, %s, %s, %s, %s)"
_AFTER: Final = (
    f"SELECT {PLACED} FROM {JOINED}"  # noqa: S608 - ours
    " WHERE v.journal = %s AND v.id > %s AND v.is_newest AND v.status {status}"
    " ORDER BY v.id LIMIT %s"
)
_PORTIONS: Final = {
    Everything.ACTIVE: _AFTER.replace("{status}", "= 'active'"),
    Everything.KEPT: _AFTER.replace("{status}", "<> 'erased'"),
}
_OF_SUBJECT: Final = (
    "SELECT DISTINCT v.id FROM memoranda.versions v"
    " WHERE v.journal = %s AND v.subject = %s ORDER BY v.id"
)
# OFFSET 0 keeps the lookup of each input apart: joined, it might be looked for among all of them.
_DERIVED: Final = """
WITH RECURSIVE derived (id) AS (
  SELECT n.id COLLATE "C" FROM unnest(%s) AS n (id)
  UNION
  SELECT o.output FROM derived f CROSS JOIN LATERAL (
    SELECT d.output FROM memoranda.derivations d
    WHERE d.journal = %s AND d.input = f.id OFFSET 0
  ) AS o
)
SELECT f.id FROM derived f WHERE f.id <> ALL (%s) ORDER BY f.id
"""
_BODIES: Final = (
    f"SELECT v.id, v.number, v.seq, e.entry, b.salt, b.body FROM {JOINED}"  # noqa: S608 - ours
    " WHERE v.journal = %s AND v.id = ANY (%s) AND (b.body IS NOT NULL OR v.status <> 'erased')"
    " ORDER BY v.id, v.number"
)
_TAGS: Final = (
    "SELECT DISTINCT coalesce(t.whole, t.tag) FROM memoranda.tags t"
    " WHERE t.journal = %s AND t.id = %s ORDER BY 1"
)
_INPUTS: Final = (
    "SELECT d.input FROM memoranda.derivations d"
    " WHERE d.journal = %s AND d.output = %s ORDER BY d.input"
)
_NAME_TOKENIZER: Final = "UPDATE memoranda.journals j SET tokenizer = %s WHERE j.journal = %s"
_REMEMBER: Final = """
INSERT INTO memoranda.retries (journal, key_digest, fingerprint, nonce, about, seq, entries, at)
SELECT j.journal, %s, %s, %s, %s, j.size - %s, %s, %s
FROM memoranda.journals j WHERE j.journal = %s
"""


class _UnitRead(NamedTuple):
    """What a unit reads, or what it came to when it was run before."""

    found: Sequence[Current | None]
    first: Committed | None = None


class _Appended(NamedTuple):
    """What `memoranda.append` says."""

    outcome: str
    about: str
    seq: int
    hashes: bytes


class PostgresUnits:
    """Runs the units of one journal."""

    def __init__(
        self, calls: Pool, journal: int, origin: str, bodies: InShorthand, recent: Recent
    ) -> None:
        self._bodies = bodies
        self._compared = compared(bodies)
        self._calls = calls
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
            return [_committed(jobs[0].unit, appended, portion.places)]
        if appended.outcome != "done":
            return None
        rest = iter(portion.places)
        return [Committed(list(islice(rest, len(job.drafts))), job.unit.about) for job in jobs]

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
            _, first = await self._read(connection, unit, ())
            if first is not None:
                return first, end
            await run(connection, self._journal, check_expected(unit.expects))
            gone = await run(connection, self._journal, landed(unit.attachments, self._bodies))
            committed = Committed([], unit.about, erased_attachments=gone)
            leaving = Leaving(self._journal, self._origin, self._bodies)
            nonce = b""
            since: dict[tuple[str, int], int] = {}
            async for found in self._found(connection, unit, leaving):
                drafts = await _decided(unit, found)
                nonce = nonce or (drafts[0].nonce if drafts else b"")
                for part in portions(drafts):
                    await leaving.take_out(connection, part)
                    portion = Portion(self._bodies, self._journal, _there(end), since)
                    portion.add(unit, part)
                    _committed(unit, await self._append(connection, portion), [])
                    committed.places.extend(portion.places)
                    end = portion.end
                    for current in portion.newest():
                        self.recent.forget(self._journal, current.id)
            if unit.tokenizer is not None:
                named = (unit.tokenizer, self._numbered)
                await connection.execute(_NAME_TOKENIZER, named, prepare=True)
            await self._remember(connection, unit, nonce, len(committed.places))
            return committed, end

    async def _found(
        self, connection: Connection, unit: Unit, leaving: Leaving
    ) -> AsyncIterator[Sequence[Found | None]]:
        """What a unit reads; everything comes in portions, each after the one before."""
        reads = unit.reads
        if isinstance(reads, Everything):
            last = ""
            while rows := await self._after(connection, _PORTIONS[reads], last):
                last = rows[-1][1]
                portion = [self._made(unit, row) for row in rows]
                yield await self._told(connection, unit, portion, leaving)
            last = ""
            while unit.is_erasing and (
                names := await run(connection, self._journal, names_after(last))
            ):
                last = names[-1]
                if facts := await run(connection, self._journal, facts_of(names, self._compared)):
                    yield await self._told(connection, unit, facts, leaving)
            return
        ids = await self._of(connection, reads) if isinstance(reads, OfSubject) else reads
        if unit.is_erasing:
            ids = [*ids, *await self._derived_from(connection, ids)]
        found, _ = await self._read(connection, unit, ids)
        if unit.is_erasing:
            named = await run(connection, self._journal, facts_of(ids, self._compared))
            yield await self._told(connection, unit, [*found, *named], leaving)
        else:
            yield found

    async def _after(self, connection: Connection, statement: str, last: str) -> list[Any]:
        asked = (self._numbered, last, Int8(PORTION))
        return await call(connection, statement, asked)

    def _made(self, unit: Unit, row: Sequence[Any]) -> Current:
        """What a unit reads; one that erases gets an object whatever became of its body."""
        if not unit.is_erasing:
            return self._compared.placed(row)
        return self._compared.erasable(row[1:])._replace(since=row[0])

    async def _of(self, connection: Connection, reads: OfSubject) -> list[str]:
        asked = (self._numbered, reads.subject)
        rows = await call(connection, _OF_SUBJECT, asked)
        return list(dict.fromkeys([*(id for (id,) in rows), *reads.others, reads.name]))

    async def _derived_from(self, connection: Connection, ids: Sequence[str]) -> list[str]:
        """What was made from these objects, however indirectly, and is none of them; by id."""
        asked = (Texts(ids), self._numbered, Texts(ids))
        return [id for (id,) in await call(connection, _DERIVED, asked)]

    async def _told(
        self,
        connection: Connection,
        unit: Unit,
        found: Sequence[Found | None],
        leaving: Leaving,
    ) -> Sequence[Found | None]:
        """What a unit reads of objects: for one that erases, all that goes with them."""
        if not unit.is_erasing:
            return found
        there = [each for each in found if each is not None]
        asked = (self._numbered, Texts(each.id for each in there))
        bodies: dict[str, list[Sequence[Any]]] = {}
        for id, *row in await call(connection, _BODIES, asked):
            bodies.setdefault(id, []).append(row)
        values = [
            await self._with_versions(connection, each, bodies.get(each.id, ()))
            if isinstance(each, Current)
            else each
            for each in found
        ]
        objects = [each for each in values if isinstance(each, Current)]
        postings = await leaving.postings(connection, objects)
        keys = await retries_of(connection, self._numbered, unit, there)
        counted = holdings_of(unit, there, keys, postings)
        holdings = iter(await run(connection, self._journal, counted))
        return [each and each._replace(holdings=next(holdings)) for each in values]

    async def _with_versions(
        self, connection: Connection, current: Current, bodies: Sequence[Sequence[Any]]
    ) -> Current:
        """An object with what there is of its versions; its rows stand in for a damaged body."""
        digests, damaged = self._compared.versions(bodies)
        if not current.body:
            tags, inputs = [
                [name for (name,) in await call(connection, sql, (self._numbered, current.id))]
                for sql in (_TAGS, _INPUTS)
            ]
            current = stand_in(current, tags, inputs)
        return current._replace(digests=digests, damaged=damaged)

    async def _remember(self, connection: Connection, unit: Unit, nonce: bytes, count: int) -> None:
        if unit.key is None:
            return
        noted = (key_digest(unit.key.key), unit.key.fingerprint, nonce, unit.about)
        counted = (Int8(count), Int8(count), Int8(unit.at), self._numbered)
        await connection.execute(_REMEMBER, (*noted, *counted), prepare=True)

    # ---------------------------------------------------------------------- statements

    async def _read_now(self, unit: Unit, ids: Sequence[str]) -> _UnitRead:
        if not ids:
            return _UnitRead(())
        async with self._calls.connection() as connection:
            return await self._read(connection, unit, ids)

    async def _read(self, connection: Connection, unit: Unit, ids: Sequence[str]) -> _UnitRead:
        """The newest version of each id, or None; or what the unit came to before."""
        if not ids and unit.key is None:
            return _UnitRead(())
        key = unit.key
        pair = (None, None) if key is None else (key_digest(key.key), key.fingerprint)
        asked = (*self._named, Texts(ids), *pair)
        found: list[Current | None] = [None] * len(ids)
        rows = await call(connection, _READ, asked)
        if rows and rows[-1][0] is not None:
            outcome, _, _, about, seq, *_, hashes = rows[-1]  # where id, number and body stand
            return _UnitRead((), _repeated(unit, outcome, about, seq, hashes))
        for _, place, *row in rows:
            found[place - 1] = current = self._made(unit, row)
            if not unit.is_erasing:
                self.recent.add(self._journal, current)
        return _UnitRead(found)

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
    return {Block(level, number): hashes_in(hashes or b"") for level, number, hashes in rows}


def _there(end: JournalEnd | None) -> JournalEnd:
    """The head of a journal that is locked; a unit that only looks writes nothing."""
    assert end is not None  # noqa: S101 - see above
    return end


def _committed(unit: Unit, appended: _Appended, made: list[EntryPlace]) -> Committed | None:
    """What appending came to for one unit; None if what it read before is no longer so."""
    outcome, about, seq, hashes = appended
    match outcome:
        case "done":
            return Committed(made, unit.about)
        case "moved":
            return None
        case "mark_moved":
            raise MarkMoved(about)
        case "exists":
            raise RecordExists(about)
        case _:
            return _repeated(unit, outcome, about, seq, hashes)


def _repeated(unit: Unit, outcome: str, about: str, seq: int, hashes: bytes) -> Committed:
    """What a unit came to the first time.

    IdempotencyConflict if its key stood for another one, EntryDamaged if it was led to another.
    """
    if outcome == "key_used" and unit.key is not None:
        raise IdempotencyConflict(unit.key.key)
    if outcome == "damaged":
        raise EntryDamaged(seq, "retry", "a retry is answered with it that is not its own")
    return Committed(places(seq, hashes), about, fresh=False)


def _identities(found: Sequence[Current | None]) -> list[tuple[str, int, bytes] | None]:
    return [current and (current.id, current.number, current.body) for current in found]


async def _decided(unit: Unit, found: Sequence[Found | None]) -> Sequence[Draft]:
    """What a unit decides; where that takes long, off the event loop."""
    size = sum(len(there.body) for there in found if isinstance(there, Current))
    decided: Any = await off_the_loop(size, lambda: unit.decide(found))
    return list(bound(unit.key, decided))
