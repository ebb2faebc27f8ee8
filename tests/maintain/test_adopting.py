"""Records from before there was a journal are in one after the next opening."""

from pathlib import Path

import pytest

import recollect
from recollect import MemoryFilter
from recollect.app.audit import verify_database
from recollect.identity import canonical_bytes
from recollect.stores.postgres.address import parse_address
from recollect.stores.postgres.connection import connect as connect_postgres
from recollect.stores.postgres.schema import MIGRATIONS as ON_POSTGRES
from recollect.stores.postgres.schema import migrate as migrate_postgres
from recollect.stores.sqlite.connection import connect
from recollect.stores.sqlite.schema import MIGRATIONS as ON_SQLITE
from recollect.stores.sqlite.schema import migrate

BODY = canonical_bytes({"data": {"n": 1}, "tags": ["t"], "meta": {"m": 2}})
OLD = 1_600_000_000_000
ROWS: list[tuple[object, ...]] = [
    *(
        ("one", f"id-{number:04}", 3, OLD + number, OLD + 500, BODY, "agent:a", None)
        for number in range(1_200)
    ),
    ("two", "deleted", 2, 1, 2, None, "agent:a", "gone"),
    ("two", "kept", 1, 1, 2, BODY, "human:k", "why"),
]


def old_sqlite(path: Path) -> str:
    connection = connect(str(path))
    migrate(connection, str(path), 0, known=ON_SQLITE[:1])
    connection.executemany(
        "INSERT INTO records (scope, id, version, created_at, updated_at, body, actor, reason)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ROWS,
    )
    connection.execute("INSERT INTO scopes VALUES ('one', 0), ('two', 0)")
    connection.close()
    return f"sqlite:///{path}"


async def old_postgres(url: str) -> str:
    connection = await connect_postgres(parse_address(url))
    await migrate_postgres(connection, "old", 0, known=ON_POSTGRES[:1])
    async with connection.cursor() as cursor:
        await cursor.execute("INSERT INTO recollect.scopes VALUES ('one', 0), ('two', 0)")
        await cursor.executemany(
            "INSERT INTO recollect.records"
            " (scope, id, version, created_at, updated_at, body, actor, reason)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
            ROWS,
        )
    await connection.commit()
    await connection.close()
    return url


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_old_records_are_objects_of_a_journal_after_the_next_opening(
    kind: str, tmp_path: Path, postgres_url: str
) -> None:
    is_file = kind == "sqlite"
    url = old_sqlite(tmp_path / "old.db") if is_file else await old_postgres(postgres_url)

    async with recollect.open(url, scope="one") as memory:
        found = await memory.records.query(MemoryFilter(tags=["t"], limit=2, order="asc"))
        assert [one.id for one in found] == ["id-0000", "id-0001"]
        assert (found[0].data, found[0].meta) == ({"n": 1}, {"m": 2})
        assert (found[0].created_at, found[0].updated_at) == (1_600_000_000_000, 1_600_000_000_500)
        assert len(await memory.records.query(MemoryFilter())) == 1_200
    async with recollect.open(url, scope="two") as memory:
        (step,) = await memory.history("kept")
        assert "by human:k, as version 1: why" in (step.reason or "")
        assert await memory.records.get("deleted") is None
    assert await recollect.scopes(url) == ["one", "two"]
    assert (await verify_database(url)).is_sound
