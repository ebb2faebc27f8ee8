"""Units of work on SQLite journals: those that share a commit share their statements."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import apsw

from recollect.ledger.codec import BodyCodec
from recollect.ledger.object import integrity_digest
from recollect.ledger.unit import Committed, Current, Everything, OfSubject, Unit
from recollect.stores.selection import COLUMNS
from recollect.stores.sqlite.appending import Appender
from recollect.stores.sqlite.landing import land
from recollect.stores.sqlite.marks import check_expected, entries_of, names_after
from recollect.stores.sqlite.places import SEQ_BITS
from recollect.stores.sqlite.retries import first_outcome, remember

PORTION: Final = 1_000

JOINED: Final = f"versions v CROSS JOIN bodies b ON b.place = (v.journal << {SEQ_BITS} | v.seq)"
NEWEST: Final = (
    f"SELECT {COLUMNS} FROM {JOINED} WHERE v.journal = ? AND v.id = ?"  # noqa: S608 - ours
    " ORDER BY v.number DESC LIMIT 1"
)
_AFTER: Final = (
    f"SELECT {COLUMNS} FROM {JOINED}"  # noqa: S608 - ours
    " WHERE v.journal = ? AND v.id > ? AND v.is_newest AND v.status {status} ORDER BY v.id LIMIT ?"
)
_PORTIONS: Final = {
    Everything.ACTIVE: _AFTER.format(status="= 'active'"),
    Everything.KEPT: _AFTER.format(status="<> 'erased'"),
}
_OF_SUBJECT: Final = (
    "SELECT DISTINCT id FROM versions WHERE journal = ? AND subject = ? ORDER BY id"
)
_BODIES: Final = (
    f"SELECT v.number, b.body FROM {JOINED} WHERE v.journal = ? AND v.id = ? ORDER BY v.number"  # noqa: S608 - ours
)
_NAME_TOKENIZER: Final = "UPDATE journals SET tokenizer = ? WHERE number = ?"
_OUTPUTS: Final = "SELECT output FROM derivations WHERE journal = ? AND input = ?"


class Job(NamedTuple):
    """A unit, and the number of the journal that it is for."""

    journal: int
    unit: Unit


def commit_units(
    connection: apsw.Connection, jobs: Sequence[Job], bodies: BodyCodec
) -> list[Committed]:
    """Run units one after the other, each on what those before it left, inside a transaction."""
    appenders: dict[int, Appender] = {}
    outcomes = []
    for journal, unit in jobs:
        appender = appenders.get(journal)
        if appender is None:
            appender = appenders[journal] = Appender(connection, journal, bodies)
        outcomes.append(_commit(connection, appender, unit))
    for appender in appenders.values():
        appender.flush()
    return outcomes


def current(bodies: BodyCodec, row: Any) -> Current:
    """The version that a row of `COLUMNS` is."""
    return Current(*row[:-1], bodies.unpack(row[-1]))  # type: ignore[call-arg]  # it has ten


def _commit(connection: apsw.Connection, appender: Appender, unit: Unit) -> Committed:
    first = first_outcome(connection, appender.journal, unit)
    if first is not None:
        return first
    if unit.expects:
        appender.flush()
        check_expected(connection, appender.journal, unit.expects)
    seq = appender.size
    gone = land(connection, appender.journal, unit.beside, appender.bodies)
    committed = Committed([], unit.about, erased_beside=gone)
    for found in _read(connection, appender, unit):
        committed.places.extend(appender.add(unit, unit.decide(found)))
    if unit.tokenizer is not None:
        connection.execute(_NAME_TOKENIZER, (unit.tokenizer, appender.journal))
    remember(connection, appender.journal, unit, seq, committed)
    return committed


def _read(
    connection: apsw.Connection, appender: Appender, unit: Unit
) -> Iterator[Sequence[Current | None]]:
    """What a unit reads, after what was added before it; everything comes in portions."""
    reads, journal, bodies = unit.reads, appender.journal, appender.bodies
    if isinstance(reads, Everything):
        appender.flush()
        last = ""
        while portion := _after(connection, _PORTIONS[reads], journal, last, bodies):
            last = portion[-1].id
            yield [_told(connection, journal, unit, one, bodies) for one in portion]
            appender.flush()
        if unit.is_erasing:
            yield from _facts(connection, appender)
    elif reads:
        appender.flush()
        ids = _of_subject(connection, journal, reads) if isinstance(reads, OfSubject) else reads
        if unit.is_erasing:
            ids = [*ids, *derived_from(connection, journal, ids)]
        objects = [_newest(connection, journal, id, bodies) for id in ids]
        found = [one and _told(connection, journal, unit, one, bodies) for one in objects]
        if unit.is_erasing:
            named = (entries_of(connection, journal, id, bodies) for id in ids)
            found += [one for one in named if one is not None]
        yield found
    else:
        yield ()


def _facts(connection: apsw.Connection, appender: Appender) -> Iterator[Sequence[Current | None]]:
    """Everything else of a scope that is erased whole: what stands under each name."""
    last = ""
    while names := names_after(connection, appender.journal, last, PORTION):
        last = names[-1]
        named = (entries_of(connection, appender.journal, n, appender.bodies) for n in names)
        if found := [one for one in named if one is not None]:
            yield found
            appender.flush()


def _told(
    connection: apsw.Connection, journal: int, unit: Unit, one: Current, bodies: BodyCodec
) -> Current:
    """What a unit is told of an object: for one that erases, the digests of its versions."""
    if not unit.is_erasing:
        return one
    rows: Any = connection.execute(_BODIES, (journal, one.id))
    digests = [(number, integrity_digest(bodies.unpack(body))) for number, body in rows]
    return one._replace(digests=digests)


def _newest(
    connection: apsw.Connection, journal: int, id: str, bodies: BodyCodec
) -> Current | None:
    found = connection.execute(NEWEST, (journal, id)).fetchall()
    return current(bodies, found[0]) if found else None


def _after(
    connection: apsw.Connection, sql: str, journal: int, last: str, bodies: BodyCodec
) -> list[Current]:
    rows = connection.execute(sql, (journal, last, PORTION)).fetchall()
    return [current(bodies, row) for row in rows]


def _of_subject(connection: apsw.Connection, journal: int, reads: OfSubject) -> list[str]:
    rows: Any = connection.execute(_OF_SUBJECT, (journal, reads.subject))
    return [id for (id,) in rows]


def derived_from(connection: apsw.Connection, journal: int, ids: Sequence[str]) -> list[str]:
    """What was made from these objects, however indirectly, and is none of them; by id."""
    found: set[str] = set()
    ahead = list(ids)
    while ahead:
        rows: Any = connection.execute(_OUTPUTS, (journal, ahead.pop()))
        new = {output for (output,) in rows} - found - set(ids)
        found |= new
        ahead += sorted(new)
    return sorted(found)
