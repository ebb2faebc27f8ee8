"""Units of work on a PostgreSQL journal.

1. A unit that reads nothing is one trip: the database locks the head, chains and writes. Those
   that come together share it.
2. One that reads is two: what it reads, then the same, which refuses if that was replaced
   meanwhile. No lock is held while Python decides. Whatever it reads, what a unit expects is
   checked by the statement that writes.
3. If it was, or if the unit is too large for one statement, or leaves something beside its
   entries, it runs in a transaction that locks the head first: it never has to give way twice.
   One that only looks does so at one moment, and locks nothing.
"""

from collections.abc import AsyncIterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from psycopg import sql
from psycopg.types.numeric import Int8

from memoranda.kernel.errors import EntryDamaged, IdempotencyConflict, MarkMoved, RecordExists
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.entry import entry_digest
from memoranda.ledger.retry import bound, key_digest
from memoranda.ledger.unit import (
    ENTRIES,
    Committed,
    Current,
    Draft,
    Everything,
    OfSubject,
    Unit,
)
from memoranda.stores.compared import Compared, stand_in
from memoranda.stores.postgres.appending import (
    APPEND,
    DRAFTS_AT_ONCE,
    Portion,
    places,
    portions,
)
from memoranda.stores.postgres.arrays import Texts
from memoranda.stores.postgres.beside import beside_the_loop
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.erasing import held_beside
from memoranda.stores.postgres.joining import Job, Joiner
from memoranda.stores.postgres.landing import land
from memoranda.stores.postgres.leaving import Leaving
from memoranda.stores.postgres.marks import all_entries, check_expected, entries_of
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.selection import COLUMNS

PORTION: Final = 1_000

JOINED: Final = (
    "memoranda.versions v"
    " LEFT JOIN memoranda.bodies b ON b.journal = v.journal AND b.seq = v.seq"
    " LEFT JOIN memoranda.entries e ON e.journal = v.journal AND e.seq = v.seq"
)
"""Versions with their entries and bodies; where either is missing, that shows."""

# Both in one trip: two statements without parameters. The scope is quoted by psycopg.
_BEGIN: Final = sql.SQL("BEGIN; SELECT memoranda.lock_journal({}, {})")
_BEGIN_DRY: Final = sql.SQL(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT memoranda.enter({}, {})"
)
_READ: Final = "SELECT * FROM memoranda.read_for_unit(%s, %s, %s, %s, %s)"
_AFTER: Final = (
    f"SELECT {COLUMNS} FROM {JOINED}"  # noqa: S608 - ours
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
_NAME_TOKENIZER: Final = "UPDATE memoranda.journals j SET tokenizer = %s WHERE j.number = %s"
_REMEMBER: Final = """
INSERT INTO memoranda.retries (journal, key_digest, fingerprint, nonce, about, seq, entries, at)
SELECT j.number, %s, %s, %s, %s, j.size - %s, %s, %s FROM memoranda.journals j WHERE j.number = %s
"""


class _Read(NamedTuple):
    """What a unit reads, or what it came to when it was run before."""

    found: Sequence[Current | None]
    first: Committed | None = None


class _Appended(NamedTuple):
    """What `memoranda.append` says."""

    outcome: str
    about: str
    seq: int
    hashes: bytes


class Units:
    """Runs the units of one journal."""

    def __init__(self, calls: Pool, scope: str, journal: int, bodies: BodyCodec) -> None:
        self._bodies = bodies
        self._compared = compared(bodies)
        self._calls = calls
        self._scope = scope
        self._journal = journal
        self._numbered = Int8(journal)
        self._joiner = Joiner(self._append_jobs)
        self._begin = _BEGIN.format(scope, journal).as_bytes()
        self._begin_dry = _BEGIN_DRY.format(scope, journal).as_bytes()

    async def commit(self, unit: Unit) -> Committed:
        """Run a unit: in one statement if it can be, else in a transaction."""
        self._calls.home.check()
        ids = unit.reads
        if isinstance(ids, Everything | OfSubject) or len(ids) > DRAFTS_AT_ONCE or unit.is_erasing:
            return await self._commit_locked(unit)
        if unit.tokenizer is not None or unit.beside or unit.is_dry:
            return await self._commit_locked(unit)
        found: Sequence[Current | None] = ()
        if ids:
            async with self._calls.connection() as connection:
                found, first = await self._read(connection, unit, ids)
            if first is not None:
                return first
        drafts = await _decided(unit, found)
        if not drafts and unit.key is None and not unit.expects:
            return Committed([], unit.about)
        parts = list(portions(drafts))
        if len(parts) > 1 or any(draft.erases for draft in drafts):
            return await self._commit_locked(unit)
        committed = await self._joiner.run(Job(unit, drafts, ids, found))
        return committed or await self._commit_locked(unit)

    async def close(self) -> None:
        """Finish what was asked for, and refuse what comes from now on."""
        await self._joiner.close()

    async def _append_jobs(self, jobs: Sequence[Job]) -> list[Committed | None] | None:
        size = sum(len(draft.body) for job in jobs for draft in job.drafts)
        portion = await beside_the_loop(size, lambda: self._portion(jobs))
        async with self._calls.connection(writes=True) as connection:
            appended = await self._append(connection, portion)
        if len(jobs) == 1:
            return [_committed(jobs[0].unit, appended)]
        if appended.outcome != "done":
            return None
        rest = iter(places(appended.seq, appended.hashes))
        return [Committed(list(islice(rest, len(job.drafts))), job.unit.about) for job in jobs]

    def _portion(self, jobs: Sequence[Job]) -> Portion:
        portion = Portion(self._bodies)
        for unit, drafts, ids, found in ((j.unit, j.drafts, j.ids, j.found) for j in jobs):
            portion.add(unit, drafts)
            portion.add_read(ids, found)
            portion.add_expected(unit.expects)
            if unit.key is not None:
                portion.add_key(unit, unit.key, drafts)
        return portion

    # ------------------------------------------------------------------ under the lock

    async def _commit_locked(self, unit: Unit) -> Committed:
        begin = self._begin_dry if unit.is_dry else self._begin
        async with self._calls.transaction(begin, writes=not unit.is_dry) as connection:
            _, first = await self._read(connection, unit, ())
            if first is not None:
                return first
            await check_expected(connection, self._journal, unit.expects)
            gone = await land(connection, self._journal, unit.beside, self._bodies)
            committed = Committed([], unit.about, erased_beside=gone)
            leaving = Leaving(self._scope, self._journal, self._bodies)
            nonce = b""
            async for found in self._found(connection, unit, leaving):
                drafts = await _decided(unit, found)
                nonce = nonce or (drafts[0].nonce if drafts else b"")
                for part in portions(drafts):
                    await leaving.take_out(connection, part)
                    portion = Portion(self._bodies)
                    portion.add(unit, part)
                    appended = _committed(unit, await self._append(connection, portion))
                    committed.places.extend(appended.places if appended else ())
            if unit.tokenizer is not None:
                named = (unit.tokenizer, self._numbered)
                await connection.execute(_NAME_TOKENIZER, named, prepare=True)
            await self._remember(connection, unit, nonce, len(committed.places))
            return committed

    async def _found(
        self, connection: Connection, unit: Unit, leaving: Leaving
    ) -> AsyncIterator[Sequence[Current | None]]:
        """What a unit reads; everything comes in portions, each after the one before."""
        reads = unit.reads
        if isinstance(reads, Everything):
            last = ""
            while rows := await self._after(connection, _PORTIONS[reads], last):
                last = rows[-1][0]
                portion = [self._made(unit, row) for row in rows]
                yield await self._told(connection, unit, portion, leaving)
            if unit.is_erasing:
                async for facts in all_entries(connection, self._journal, self._bodies):
                    yield await self._told(connection, unit, facts, leaving)
            return
        ids = await self._of(connection, reads) if isinstance(reads, OfSubject) else reads
        if unit.is_erasing:
            ids = [*ids, *await self._derived_from(connection, ids)]
        found, _ = await self._read(connection, unit, ids)
        if unit.is_erasing:
            facts = await entries_of(connection, self._journal, ids, self._bodies)
            found = [*found, *facts]
        yield await self._told(connection, unit, found, leaving)

    async def _after(self, connection: Connection, statement: str, last: str) -> list[Any]:
        asked = (self._numbered, last, Int8(PORTION))
        return await self._rows(connection, statement, asked)

    def _made(self, unit: Unit, row: Sequence[Any]) -> Current:
        """What a unit reads; one that erases is told of an object whatever became of its body."""
        return self._compared.erasable(row) if unit.is_erasing else self._compared.current(row)

    async def _of(self, connection: Connection, reads: OfSubject) -> list[str]:
        asked = (self._numbered, reads.subject)
        rows = await self._rows(connection, _OF_SUBJECT, asked)
        return list(dict.fromkeys([*(id for (id,) in rows), *reads.others, reads.name]))

    async def _derived_from(self, connection: Connection, ids: Sequence[str]) -> list[str]:
        """What was made from these objects, however indirectly, and is none of them; by id."""
        asked = (Texts(ids), self._numbered, Texts(ids))
        return [id for (id,) in await self._rows(connection, _DERIVED, asked)]

    async def _told(
        self,
        connection: Connection,
        unit: Unit,
        found: Sequence[Current | None],
        leaving: Leaving,
    ) -> Sequence[Current | None]:
        """What a unit is told of objects: for one that erases, all that goes with them."""
        if not unit.is_erasing:
            return found
        there = [each for each in found if each is not None]
        asked = (self._numbered, Texts(each.id for each in there))
        bodies: dict[str, list[Sequence[Any]]] = {}
        for id, *row in await self._rows(connection, _BODIES, asked):
            bodies.setdefault(id, []).append(row)
        told = [
            each and await self._with_versions(connection, each, bodies.get(each.id, ()))
            for each in found
        ]
        postings = await leaving.postings(connection, [each for each in told if each is not None])
        beside = iter(await held_beside(connection, self._journal, unit, there, postings))
        return [each and each._replace(beside=next(beside)) for each in told]

    async def _with_versions(
        self, connection: Connection, one: Current, bodies: Sequence[Sequence[Any]]
    ) -> Current:
        """An object with what there is of its versions; its rows stand in for a damaged body."""
        if one.status == ENTRIES:
            return one
        digests, damaged = self._compared.versions(bodies)
        if not one.body:
            tags, inputs = [
                [name for (name,) in await self._rows(connection, sql, (self._numbered, one.id))]
                for sql in (_TAGS, _INPUTS)
            ]
            one = stand_in(one, tags, inputs)
        return one._replace(digests=digests, damaged=damaged)

    async def _remember(self, connection: Connection, unit: Unit, nonce: bytes, count: int) -> None:
        if unit.key is None:
            return
        noted = (key_digest(unit.key.key), unit.key.fingerprint, nonce, unit.about)
        counted = (Int8(count), Int8(count), Int8(unit.at), self._numbered)
        await connection.execute(_REMEMBER, (*noted, *counted), prepare=True)

    # ---------------------------------------------------------------------- statements

    async def _read(self, connection: Connection, unit: Unit, ids: Sequence[str]) -> _Read:
        """The newest version of each id, or None; or what the unit came to before."""
        if not ids and unit.key is None:
            return _Read(())
        key = unit.key
        pair = (None, None) if key is None else (key_digest(key.key), key.fingerprint)
        asked = (self._scope, self._numbered, Texts(ids), *pair)
        found: list[Current | None] = [None] * len(ids)
        rows = await self._rows(connection, _READ, asked)
        if rows and rows[-1][0] is not None:
            outcome, _, about, seq, *_, hashes = rows[-1]  # where id, number and body would stand
            return _Read((), _repeated(unit, outcome, about, seq, hashes))
        for _, place, *row in rows:
            found[place - 1] = self._made(unit, row)
        return _Read(found)

    async def _rows(
        self, connection: Connection, statement: str, values: Sequence[object]
    ) -> list[tuple[Any, ...]]:
        found = await connection.execute(statement, values, prepare=True, binary=True)
        return await found.fetchall()

    async def _append(self, connection: Connection, portion: Portion) -> _Appended:
        values = portion.parameters(self._scope, self._journal)
        ((*appended,),) = await self._rows(connection, APPEND, values)
        return _Appended(*appended)


def compared(bodies: BodyCodec) -> Compared:
    """What makes the rows of this database into values: entries are stored as they are."""
    return Compared(bodies, entry_digest, bytes)


def _committed(unit: Unit, appended: _Appended) -> Committed | None:
    """What appending came to for one unit; None if what it read before is no longer so."""
    outcome, about, seq, hashes = appended
    match outcome:
        case "done":
            return Committed(places(seq, hashes), unit.about)
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


async def _decided(unit: Unit, found: Sequence[Current | None]) -> Sequence[Draft]:
    """What a unit decides; where that takes long, beside the event loop."""
    size = sum(len(current.body) for current in found if current is not None)
    decided: Any = await beside_the_loop(size, lambda: unit.decide(found))
    return list(bound(unit.key, decided))
