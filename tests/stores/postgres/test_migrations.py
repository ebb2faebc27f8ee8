"""The schema is made whole or not at all, once, and only where it is ours."""

import asyncio
from collections.abc import Sequence

import psycopg
import pytest

from memoranda.identity import sha256_hex
from memoranda.kernel.errors import (
    ForeignDatabase,
    SchemaDamaged,
    SchemaTooNew,
    StoreError,
    StoreUnavailable,
)
from memoranda.stores.migrations import Migration
from memoranda.stores.postgres.connection import connect, parse_address
from memoranda.stores.postgres.database import PostgresDatabase
from memoranda.stores.postgres.schema import MIGRATIONS, migrate
from tests.stores.postgres.catalogue import asked, catalogue
from tests.stores.postgres.roles import run
from tests.stores.postgres.server import PostgresServer


def following(sql: str) -> Migration:
    """A migration after the last one."""
    return Migration(MIGRATIONS[-1].number + 1, "following", sql, sha256_hex(sql.encode()))


FOLLOWING = following("CREATE TABLE memoranda.following (scope text); ANALYZE memoranda.entries")


async def migrated(url: str, known: Sequence[Migration] = MIGRATIONS) -> None:
    connection = await connect(parse_address(url))
    try:
        await migrate(connection, "the database", 7, known=known)
    finally:
        await connection.close()


async def opened(url: str, *, create: bool = True) -> None:
    await (await PostgresDatabase.open(url, 7, create=create)).close()


async def refused(
    kind: type[StoreError], code: str, url: str, *, create: bool = True
) -> StoreError:
    """Opening is refused, and what is there stays as it is."""
    before = catalogue(url)
    with pytest.raises(kind) as caught:
        await opened(url, create=create)
    assert caught.value.code == code
    assert catalogue(url) == before
    return caught.value


@pytest.mark.parametrize("known", [MIGRATIONS, (*MIGRATIONS, FOLLOWING)])
async def test_a_fresh_schema_equals_a_migrated_one(
    postgres_server: PostgresServer, known: Sequence[Migration]
) -> None:
    fresh, old = postgres_server.create_database(), postgres_server.create_database()

    await migrated(fresh, known)
    for count in range(1, len(known) + 1):
        await migrated(old, known[:count])

    assert catalogue(fresh) == catalogue(old)
    history = "SELECT number, name, checksum, applied_at FROM memoranda.migrations ORDER BY number"
    expected = [(each.number, each.name, each.checksum, 7) for each in known]
    assert asked(fresh, history) == asked(old, history) == expected


async def test_a_schema_that_is_up_to_date_is_left_alone(postgres_url: str) -> None:
    await opened(postgres_url)
    before = catalogue(postgres_url), asked(postgres_url, "SELECT xmin FROM memoranda.migrations")

    await opened(postgres_url)

    after = catalogue(postgres_url), asked(postgres_url, "SELECT xmin FROM memoranda.migrations")
    assert before == after


@pytest.mark.parametrize("first", [(), MIGRATIONS])
async def test_a_migration_that_fails_leaves_nothing(
    postgres_url: str, first: Sequence[Migration]
) -> None:
    if first:
        await migrated(postgres_url, first)
    before = catalogue(postgres_url)
    broken = following("CREATE TABLE memoranda.half (x int); SELECT 1 / 0")

    with pytest.raises(psycopg.errors.DivisionByZero):
        await migrated(postgres_url, (*MIGRATIONS, broken))

    assert catalogue(postgres_url) == before


async def test_many_may_open_a_new_database_at_once(postgres_url: str) -> None:
    await asyncio.gather(*(opened(postgres_url) for _ in range(8)))

    assert len(asked(postgres_url, "SELECT * FROM memoranda.migrations")) == len(MIGRATIONS)


async def test_a_newer_schema_is_refused_and_left_untouched(postgres_url: str) -> None:
    await opened(postgres_url)
    run(postgres_url, "INSERT INTO memoranda.migrations VALUES (9999, 'future', 'x', 0)")

    error = await refused(SchemaTooNew, "store.schema_too_new", postgres_url)

    assert isinstance(error, SchemaTooNew)
    assert (error.found, error.known) == (9999, MIGRATIONS[-1].number)


async def test_a_history_that_is_not_ours_is_refused(postgres_url: str) -> None:
    await opened(postgres_url)
    run(postgres_url, "UPDATE memoranda.migrations SET checksum = 'another' WHERE number = 1")

    await refused(SchemaDamaged, "store.schema_damaged", postgres_url)


@pytest.mark.parametrize(
    "theirs",
    [
        "CREATE TABLE memoranda.notes (x int)",
        "CREATE TABLE memoranda.migrations (id int, name text)",
        "CREATE VIEW memoranda.records AS SELECT 1 AS id",
        "CREATE FUNCTION memoranda.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE TYPE memoranda.mood AS ENUM ('good')",
    ],
)
@pytest.mark.parametrize("create", [True, False])
async def test_a_schema_of_something_else_is_left_untouched(
    postgres_url: str, theirs: str, create: bool
) -> None:
    run(postgres_url, f"CREATE SCHEMA memoranda; {theirs}")

    await refused(ForeignDatabase, "store.foreign", postgres_url, create=create)


@pytest.mark.parametrize("made", ["SELECT 1", "CREATE SCHEMA memoranda"])
async def test_looking_at_a_database_makes_no_schema(postgres_url: str, made: str) -> None:
    run(postgres_url, made)

    await refused(StoreUnavailable, "store.unavailable", postgres_url, create=False)


async def test_an_empty_schema_that_someone_made_for_us_is_used(postgres_url: str) -> None:
    run(postgres_url, "CREATE SCHEMA memoranda")

    await opened(postgres_url)
    await opened(postgres_url, create=False)


async def test_tables_of_others_in_the_database_do_not_matter(postgres_url: str) -> None:
    run(postgres_url, "CREATE TABLE records (theirs int); CREATE TABLE migrations (theirs int)")

    await opened(postgres_url)

    assert asked(postgres_url, "SELECT count(*) FROM public.records") == [(0,)]
