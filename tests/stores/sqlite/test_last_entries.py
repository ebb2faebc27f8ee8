"""Whoever wrote the last entries need not read them again, unless somebody else wrote since."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import apsw
import pytest

import memoranda
from memoranda.identity import canonical_bytes
from memoranda.identity.merkle import leaf_hashes, perfect_root
from memoranda.ledger.codec import PLAIN
from memoranda.ledger.tree import BLOCK, STRIDE
from memoranda.ledger.unit import Draft, Unit
from memoranda.stores.shorthand import ENTRY, InShorthand
from memoranda.stores.sqlite.connection import connect
from memoranda.stores.sqlite.units import JournalUnit, SqliteUnits


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[apsw.Connection]:
    path = str(tmp_path / "journal.db")
    async with memoranda.open(path, scope="s") as memory:
        await memory.remember("the first one")
    opened = connect(path)
    yield opened
    opened.close()


def process() -> SqliteUnits:
    """What one process runs units with."""
    return SqliteUnits(InShorthand(PLAIN), lambda _journal, _entries: None)


def write(units: SqliteUnits, connection: apsw.Connection, journal: int, count: int) -> None:
    body = canonical_bytes({"type": "Test"})
    drafts = [Draft("maintenance", body, bytes(16)) for _ in range(count)]
    connection.execute("BEGIN IMMEDIATE")
    units.commit(connection, [JournalUnit(journal, Unit("system:test", 1, lambda _: drafts))])
    connection.execute("COMMIT")


def check_nodes(connection: apsw.Connection, journal: int) -> None:
    entries: Any = connection.execute(
        "SELECT entry FROM entries WHERE place >> 40 = ? ORDER BY place", (journal,)
    )
    raw = [ENTRY.unpack(entry) for (entry,) in entries]
    wanted = [
        perfect_root(leaf_hashes(raw[start : start + BLOCK]))
        for start in range(0, len(raw) // BLOCK * BLOCK, BLOCK)
    ]
    nodes: Any = connection.execute(
        "SELECT hash FROM nodes WHERE journal = ? AND level = ? ORDER BY number", (journal, STRIDE)
    )
    assert [node for (node,) in nodes] == wanted
    assert wanted


def journal_of(connection: apsw.Connection) -> int:
    found: Any = connection.execute("SELECT number FROM journals WHERE scope = 's'").fetchone()
    return int(found[0])


async def test_nodes_are_over_what_is_stored_whoever_wrote_it(connection: apsw.Connection) -> None:
    journal, one, another = journal_of(connection), process(), process()

    for count in (1, 100, 150, 3, 1, 255, 256, 257, 600, 7):
        write(one, connection, journal, count)
        write(another, connection, journal, count % 5)
        write(one, connection, journal, 1)

    check_nodes(connection, journal)


async def test_what_did_not_land_is_not_counted_on(connection: apsw.Connection) -> None:
    journal, units = journal_of(connection), process()
    write(units, connection, journal, 260)
    connection.execute("BEGIN IMMEDIATE")
    drafts = [Draft("maintenance", canonical_bytes({"type": "Gone"}), bytes(16))] * 9
    units.commit(connection, [JournalUnit(journal, Unit("system:test", 1, lambda _: drafts))])
    connection.execute("ROLLBACK")

    write(units, connection, journal, 9)
    write(units, connection, journal, 300)

    check_nodes(connection, journal)


async def test_the_last_entries_are_not_read_again(connection: apsw.Connection) -> None:
    journal, units = journal_of(connection), process()
    write(units, connection, journal, 256)
    asked: list[str] = []

    def noted(_cursor: object, sql: str, _bindings: object) -> bool:
        asked.append(sql)
        return True

    connection.exec_trace = noted

    for _ in range(256):
        write(units, connection, journal, 1)

    connection.exec_trace = None
    assert not [sql for sql in asked if sql.startswith("SELECT entry FROM entries")]
    check_nodes(connection, journal)
