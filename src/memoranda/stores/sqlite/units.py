"""Units of work on SQLite journals: those that share a commit share their statements."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import apsw

from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.retry import bound
from memoranda.ledger.unit import Committed, Current, Everything, OfSubject, Unit
from memoranda.stores.compared import Compared, stand_in
from memoranda.stores.selection import COLUMNS
from memoranda.stores.shorthand import ENTRY, digest_in
from memoranda.stores.sqlite.appending import Appender
from memoranda.stores.sqlite.landing import land
from memoranda.stores.sqlite.marks import check_expected, entries_of, names_after
from memoranda.stores.sqlite.places import SEQ_BITS
from memoranda.stores.sqlite.retries import first_outcome, remember

PORTION: Final = 1_000

JOINED: Final = (
    f"versions v LEFT JOIN bodies b ON b.place = (v.journal << {SEQ_BITS} | v.seq)"
    f" LEFT JOIN entries e ON e.place = (v.journal << {SEQ_BITS} | v.seq)"
)
"""Versions with their entries and bodies; where either is missing, that shows."""

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
    f"SELECT v.number, v.seq, e.entry, b.salt, b.body FROM {JOINED}"  # noqa: S608 - ours
    " WHERE v.journal = ? AND v.id = ? AND (b.body IS NOT NULL OR v.status <> 'erased')"
    " ORDER BY v.number"
)
_TAGS: Final = "SELECT DISTINCT tag FROM tags WHERE journal = ? AND id = ? ORDER BY tag"
_INPUTS: Final = "SELECT input FROM derivations WHERE journal = ? AND output = ? ORDER BY input"
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


def compared(bodies: BodyCodec) -> Compared:
    """What makes the rows of this database into values."""
    return Compared(bodies, digest_in, ENTRY.unpack)


def _commit(connection: apsw.Connection, appender: Appender, unit: Unit) -> Committed:
    first = first_outcome(connection, appender, unit)
    if first is not None:
        return first
    if unit.expects:
        appender.flush()
        check_expected(connection, appender.journal, unit.expects)
    seq = appender.size
    gone = land(connection, appender.journal, unit.beside, appender.bodies)
    committed = Committed([], unit.about, erased_beside=gone)
    nonce = b""
    for found in _read(connection, appender, unit):
        drafts = bound(unit.key, unit.decide(found))
        nonce = nonce or (drafts[0].nonce if drafts else b"")
        committed.places.extend(appender.add(unit, drafts))
    if unit.tokenizer is not None:
        connection.execute(_NAME_TOKENIZER, (unit.tokenizer, appender.journal))
    remember(connection, appender.journal, unit, seq, committed, nonce)
    return committed


def _read(
    connection: apsw.Connection, appender: Appender, unit: Unit
) -> Iterator[Sequence[Current | None]]:
    """What a unit reads, after what was added before it; everything comes in portions."""
    reads, journal, bodies = unit.reads, appender.journal, appender.bodies
    made = compared(bodies).erasable if unit.is_erasing else compared(bodies).current
    if isinstance(reads, Everything):
        appender.flush()
        last = ""
        while portion := _after(connection, _PORTIONS[reads], journal, last):
            last = portion[-1][0]
            objects = map(made, portion)
            yield [_told(connection, journal, unit, one, bodies) for one in objects]
            appender.flush()
        if unit.is_erasing:
            yield from _facts(connection, appender)
    elif reads:
        appender.flush()
        ids = _of_subject(connection, journal, reads) if isinstance(reads, OfSubject) else reads
        if unit.is_erasing:
            ids = [*ids, *derived_from(connection, journal, ids)]
        newest = [connection.execute(NEWEST, (journal, id)).fetchall() for id in ids]
        read = [made(rows[0]) if rows else None for rows in newest]
        found = [one and _told(connection, journal, unit, one, bodies) for one in read]
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
    """What a unit is told of an object: for one that erases, of all its versions."""
    if not unit.is_erasing:
        return one
    rows: Any = connection.execute(_BODIES, (journal, one.id))
    digests, damaged = compared(bodies).versions(rows)
    if not one.body:
        tags, inputs = (
            [name for (name,) in connection.execute(statement, (journal, one.id))]
            for statement in (_TAGS, _INPUTS)
        )
        one = stand_in(one, tags, inputs)
    return one._replace(digests=digests, damaged=damaged)


def _after(connection: apsw.Connection, sql: str, journal: int, last: str) -> list[Any]:
    return connection.execute(sql, (journal, last, PORTION)).fetchall()


def _of_subject(connection: apsw.Connection, journal: int, reads: OfSubject) -> list[str]:
    rows: Any = connection.execute(_OF_SUBJECT, (journal, reads.subject))
    return list(dict.fromkeys([*(id for (id,) in rows), *reads.others, reads.name]))


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
