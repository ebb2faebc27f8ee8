"""Units of work on SQLite journals: those that share a commit share their statements."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import apsw
import orjson

from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.retry import bound
from memoranda.ledger.unit import Committed, Current, Everything, Found, NamedFacts, OfSubject, Unit
from memoranda.stores.attachments import landed
from memoranda.stores.compared import Compared, stand_in
from memoranda.stores.erasing import check_expected, facts_of, names_after
from memoranda.stores.selection import COLUMNS, PLACED, ROW, WITH_ENTRY
from memoranda.stores.shorthand import ENTRY, InShorthand, digest_in
from memoranda.stores.sqlite.append import Appender, LastEntries
from memoranda.stores.sqlite.erase import counting
from memoranda.stores.sqlite.reader import run
from memoranda.stores.sqlite.retries import first_outcome, keep_outcome

PORTION: Final = 1_000
MOST_KNOWN: Final = 64
"""Of how many journals the last entries are kept at most: up to 80 KB each."""
_NOTHING_READ: Final[Sequence[Sequence[Any]]] = ((),)

JOINED: Final = "versions v " + WITH_ENTRY.sqlite
"""Versions with their entries and bodies; where either is missing, that shows."""

NEWEST: Final = (
    f"SELECT {COLUMNS} FROM {JOINED} WHERE v.journal = ? AND v.id = ?"  # noqa: S608 - ours
    " ORDER BY v.number DESC LIMIT 1"
)
_NEWEST_OF_ONE: Final = NEWEST.replace(COLUMNS, PLACED)
_NEWEST_OF_SOME: Final = (
    f"SELECT {PLACED} FROM json_each(?2) n CROSS JOIN {JOINED} WHERE v.journal = ?1"  # noqa: S608 - ours
    " AND v.id = n.value AND v.number ="
    " (SELECT max(w.number) FROM versions w WHERE w.journal = ?1 AND w.id = n.value)"
)
_ROWS_OF_SOME: Final = (
    f"SELECT {ROW} FROM json_each(?2) n CROSS JOIN versions v WHERE v.journal = ?1"  # noqa: S608 - ours
    " AND v.id = n.value AND v.is_newest"
)
_AFTER: Final = (
    f"SELECT {PLACED} FROM {JOINED}"  # noqa: S608 - ours
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


class JournalUnit(NamedTuple):
    """A unit, and the number of the journal that it is for."""

    journal: int
    unit: Unit


class SqliteUnits:
    """Runs the units of work of one database."""

    def __init__(self, bodies: InShorthand, on_written: Callable[[int, int], None]) -> None:
        """`on_written` is called with a journal and how many entries were added to it."""
        self._bodies = bodies
        self._on_written = on_written
        self._last: dict[int, LastEntries] = {}

    def commit(self, connection: apsw.Connection, jobs: Sequence[JournalUnit]) -> list[Committed]:
        """Run units in a transaction, one after the other, each on what those before it left."""
        appenders: dict[int, Appender] = {}
        outcomes = []
        for journal, unit in jobs:
            appender = appenders.get(journal)
            if appender is None:
                last = self._last.get(journal)
                appender = appenders[journal] = Appender(connection, journal, self._bodies, last)
            outcomes.append(self._run(connection, appender, unit))
        if len(self._last) > MOST_KNOWN:
            self._last.clear()
        for journal, appender in appenders.items():
            appender.flush()
            if appender.last is not None:
                self._last[journal] = LastEntries(appender.size, appender.head, appender.last)
            if appender.size > appender.first:
                self._on_written(journal, appender.size - appender.first)
        return outcomes

    def look(self, connection: apsw.Connection, job: JournalUnit) -> Committed:
        journal, unit = job
        return self._run(connection, Appender(connection, journal, self._bodies), unit)

    def _run(self, connection: apsw.Connection, appender: Appender, unit: Unit) -> Committed:
        journal, key = appender.journal, unit.key
        if key is not None:
            appender.flush()  # the first call with this key may be one of this very transaction
            first = first_outcome(connection, journal, key)
            if first is not None:
                return first
        if unit.expects:
            appender.flush()
            run(connection, journal, check_expected(unit.expects))
        if unit.is_erasing:
            unit = counting(connection, self._bodies, journal, unit)
        seq = appender.size
        gone = (
            run(connection, journal, landed(unit.attachments, appender.bodies))
            if unit.attachments
            else None
        )
        committed = Committed([], unit.about, erased_attachments=gone)
        nonce = b""
        for found in _read(connection, appender, unit) if unit.reads else _NOTHING_READ:
            drafts = unit.decide(found)
            if key is not None:
                drafts = bound(key, drafts)
                nonce = nonce or (drafts[0].nonce if drafts else b"")
            committed.places.extend(appender.add(unit, drafts))
        if unit.tokenizer is not None:
            connection.execute(_NAME_TOKENIZER, (unit.tokenizer, journal))
        if key is not None:
            keep_outcome(connection, journal, unit, seq, committed, nonce)
        return committed


def compared(bodies: BodyCodec) -> Compared:
    """What makes the rows of this database into values."""
    return Compared(bodies, digest_in, ENTRY.unpack)


def _read(
    connection: apsw.Connection, appender: Appender, unit: Unit
) -> Iterator[Sequence[Found | None]]:
    """What a unit reads, after what was added before it; everything comes in portions."""
    reads, journal, bodies = unit.reads, appender.journal, appender.bodies
    if isinstance(reads, Everything):
        made = _maker(unit, bodies)
        appender.flush()
        last = ""
        while portion := connection.execute(_PORTIONS[reads], (journal, last, PORTION)).fetchall():
            objects = [made(row) for row in portion]
            last = objects[-1].id
            yield _with_digests(connection, journal, unit, objects, bodies)
            appender.flush()
        if unit.is_erasing:
            yield from _facts(connection, appender)
    elif not unit.is_erasing and not isinstance(reads, OfSubject):
        appender.settle(reads)
        if unit.reads_rows:
            yield _rows_of(connection, journal, reads)
            return
        yield _newest(connection, journal, reads, _maker(unit, bodies))
    else:
        appender.flush()
        ids = _of_subject(connection, journal, reads) if isinstance(reads, OfSubject) else reads
        if unit.is_erasing:
            ids = [*ids, *derived_from(connection, journal, ids)]
        read = _newest(connection, journal, ids, _maker(unit, bodies))
        found = _with_digests(connection, journal, unit, read, bodies)
        named = ids if unit.is_erasing else ()
        facts = run(connection, journal, facts_of(named, compared(bodies)))
        yield [*found, *facts]


def _maker(unit: Unit, bodies: BodyCodec) -> Callable[[Any], Current]:
    makes = compared(bodies)
    if not unit.is_erasing:
        return makes.placed
    return lambda row: makes.erasable(row[1:])._replace(since=row[0])


def _newest(
    connection: apsw.Connection, journal: int, ids: Sequence[str], made: Callable[[Any], Current]
) -> list[Current | None]:
    """The newest version of each object, in one statement; None where there is none."""
    if len(ids) == 1:
        rows: list[Any] = connection.execute(_NEWEST_OF_ONE, (journal, ids[0])).fetchall()
    else:
        asked = orjson.dumps(ids).decode()  # noqa: TID251 - a parameter
        rows = connection.execute(_NEWEST_OF_SOME, (journal, asked)).fetchall()
    found = {current.id: current for current in map(made, rows)}
    return [found.get(id) for id in ids]


def _rows_of(connection: apsw.Connection, journal: int, ids: Sequence[str]) -> list[Current | None]:
    """How each object stands, without its body; None where there is none."""
    asked = orjson.dumps(ids).decode()  # noqa: TID251 - a parameter
    rows: Any = connection.execute(_ROWS_OF_SOME, (journal, asked))
    found = {row[0]: Current(*row, b"") for row in rows}  # type: ignore[call-arg]  # it has ten
    return [found.get(id) for id in ids]


def _facts(connection: apsw.Connection, appender: Appender) -> Iterator[list[NamedFacts]]:
    last, journal, makes = "", appender.journal, compared(appender.bodies)
    while names := run(connection, journal, names_after(last)):
        last = names[-1]
        if found := run(connection, journal, facts_of(names, makes)):
            yield found
            appender.flush()


def _with_digests(
    connection: apsw.Connection,
    journal: int,
    unit: Unit,
    objects: Sequence[Current | None],
    bodies: BodyCodec,
) -> list[Current | None]:
    """The objects; for a unit that erases them, each with the digests of all its versions."""
    if not unit.is_erasing:
        return list(objects)
    return [current and _with_versions(connection, journal, current, bodies) for current in objects]


def _with_versions(
    connection: apsw.Connection, journal: int, current: Current, bodies: BodyCodec
) -> Current:
    rows: Any = connection.execute(_BODIES, (journal, current.id))
    digests, damaged = compared(bodies).versions(rows)
    if not current.body:
        tags, inputs = (
            [name for (name,) in connection.execute(statement, (journal, current.id))]
            for statement in (_TAGS, _INPUTS)
        )
        current = stand_in(current, tags, inputs)
    return current._replace(digests=digests, damaged=damaged)


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
