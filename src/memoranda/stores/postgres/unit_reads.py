"""What a unit of work reads in a PostgreSQL journal, before it decides.

Mostly the newest versions of some objects. A unit under the lock may also read everything, in
portions, or all that names a subject; and one that erases reads what was made from it, and all that
goes with it.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, NamedTuple

from psycopg.types.numeric import Int8

from memoranda.kernel.errors import EntryDamaged, IdempotencyConflict
from memoranda.ledger.entry import entry_hash
from memoranda.ledger.retry import key_digest
from memoranda.ledger.unit import (
    Committed,
    Current,
    EntryPlace,
    Everything,
    Found,
    OfSubject,
    Unit,
)
from memoranda.stores.compared import stand_in
from memoranda.stores.erasing import facts_of, holdings_of, names_after
from memoranda.stores.merge import PostingCounts
from memoranda.stores.postgres.connection import Connection, call
from memoranda.stores.postgres.erase import retries_of
from memoranda.stores.postgres.journal import compared, run
from memoranda.stores.postgres.recent import Recent
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

_READ: Final = "SELECT * FROM memoranda.read_for_unit(%s, %s, %s, %s, %s)"
_BYTES_AT: Final = "SELECT seq, entry FROM memoranda.bytes_at(%s, %s, %s)"
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


class UnitRead(NamedTuple):
    """What a unit reads, or what it came to when it was run before."""

    found: Sequence[Current | None]
    first: Committed | None = None


class UnitReader:
    """Reads for the units of one journal, on the connection that each runs on."""

    def __init__(self, journal: int, origin: str, bodies: InShorthand, recent: Recent) -> None:
        self._journal = journal
        self._origin = origin
        self._numbered = Int8(journal)
        self._bodies = bodies
        self._compared = compared(bodies)
        self._recent = recent

    async def newest(self, connection: Connection, unit: Unit, ids: Sequence[str]) -> UnitRead:
        """The newest version of each id, or None; or what the unit came to before."""
        if not ids and unit.key is None:
            return UnitRead(())
        key = unit.key
        pair = (None, None) if key is None else (key_digest(key.key), key.fingerprint)
        asked = (self._numbered, self._origin, Texts(ids), *pair)
        found: list[Current | None] = [None] * len(ids)
        rows = await call(connection, _READ, asked)
        if rows and rows[-1][0] is not None:
            outcome, _, entries, about, seq, *_ = rows[-1]  # as since, id and number
            return UnitRead((), await self.repeated(connection, unit, outcome, about, seq, entries))
        for _, place, *row in rows:
            found[place - 1] = current = self._made(unit, row)
            if not unit.is_erasing:
                self._recent.add(self._journal, current)
        return UnitRead(found)

    async def repeated(
        self, connection: Connection, unit: Unit, outcome: str, about: str, seq: int, entries: int
    ) -> Committed:
        """What a unit came to the first time.

        IdempotencyConflict if its key stood for another one, EntryDamaged if it was led to another.
        """
        if outcome == "key_used" and unit.key is not None:
            raise IdempotencyConflict(unit.key.key)
        if outcome == "damaged":
            raise EntryDamaged(seq, "retry", "a retry is answered with it that is not its own")
        asked = (self._numbered, self._origin, Integers(range(seq, seq + entries)))
        rows = map(self._compared.numbered, await call(connection, _BYTES_AT, asked))
        places = [EntryPlace(number, entry_hash(entry)) for number, entry in rows]
        return Committed(places, about, fresh=False)

    async def portions(
        self, connection: Connection, unit: Unit, postings: PostingCounts
    ) -> AsyncIterator[Sequence[Found | None]]:
        """All that a unit reads; everything comes in portions, each after the one before."""
        reads = unit.reads
        if isinstance(reads, Everything):
            last = ""
            while rows := await self._after(connection, _PORTIONS[reads], last):
                last = rows[-1][1]
                portion = [self._made(unit, row) for row in rows]
                yield await self._with_all(connection, unit, portion, postings)
            last = ""
            while unit.is_erasing and (
                names := await run(connection, self._journal, names_after(last))
            ):
                last = names[-1]
                if facts := await run(connection, self._journal, facts_of(names, self._compared)):
                    yield await self._with_all(connection, unit, facts, postings)
            return
        ids = await self._of(connection, reads) if isinstance(reads, OfSubject) else reads
        if unit.is_erasing:
            ids = [*ids, *await self._derived_from(connection, ids)]
        found, _ = await self.newest(connection, unit, ids)
        if unit.is_erasing:
            named = await run(connection, self._journal, facts_of(ids, self._compared))
            yield await self._with_all(connection, unit, [*found, *named], postings)
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

    async def _with_all(
        self,
        connection: Connection,
        unit: Unit,
        found: Sequence[Found | None],
        postings: PostingCounts,
    ) -> Sequence[Found | None]:
        """What a unit reads of objects: for one that erases, with all that goes with them."""
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
        counts = await run(connection, self._journal, postings.of(objects))
        keys = await retries_of(connection, self._numbered, unit, there)
        counted = holdings_of(unit, there, keys, counts)
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
