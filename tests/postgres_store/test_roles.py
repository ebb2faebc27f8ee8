"""The roles of docs/postgres.md: the app role can do its work, and nothing else."""

import asyncio
import logging

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege, RestrictViolation

import recollect
from recollect import MemoryFilter, MemoryRecordInput, MemoryUpdate
from recollect.kernel.errors import StoreUnavailable
from recollect.stores.postgres.address import parse_address
from recollect.stores.postgres.connection import connect
from recollect.stores.postgres.database import PostgresDatabase
from recollect.stores.postgres.schema import MIGRATIONS, migrate
from tests.postgres.server import PostgresServer
from tests.postgres_store.catalogue import catalogue
from tests.postgres_store.roles import Roles, block, make_roles, run
from tests.postgres_store.test_migrations import FOLLOWING


async def opened(url: str) -> None:
    await (await PostgresDatabase.open(url, 7, create=True)).close()


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        each.getMessage()
        for each in caplog.records
        if (each.name, each.levelno) == ("recollect.postgres", logging.WARNING)
    ]


async def test_the_app_role_can_do_all_of_its_work(roles: Roles) -> None:
    async with recollect.open(roles.app, scope="s") as memory:
        records = memory.records
        await records.create(MemoryRecordInput(id="a", data={}, tags=("x",)), idempotency_key="c")
        await records.create_many([MemoryRecordInput(id=id, data={}) for id in ("b", "c", "d")])
        await records.update("a", {"n": 1}, idempotency_key="u")
        await records.annotate("a", tags=("y", "z"))
        await records.update_many([MemoryUpdate("a", {"n": 2}), MemoryUpdate("b", {"n": 2})])
        await records.delete("c", idempotency_key="d")
        await records.delete_many(["b", "d"])
        assert [found.id for found in await records.query(MemoryFilter(tags=("y", "z")))] == ["a"]
        assert [found.id async for found in records.stream(MemoryFilter())] == ["a"]
        await records.clear()
        assert await records.query(MemoryFilter()) == []


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE recollect.more (x int)",
        "ALTER TABLE recollect.entries DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE recollect.entries DISABLE TRIGGER ALL",
        "DROP POLICY one_journal ON recollect.entries",
        "UPDATE recollect.entries SET entry = ''",
        "DELETE FROM recollect.entries",
        "TRUNCATE recollect.entries",
        "UPDATE recollect.bodies SET body = ''",
        "TRUNCATE recollect.bodies",
        "UPDATE recollect.nodes SET hash = ''",
        "DELETE FROM recollect.nodes",
        "DELETE FROM recollect.notices",
        "DELETE FROM recollect.versions",
        "DELETE FROM recollect.journals",
        "UPDATE recollect.journals SET scope = 'x'",
        "UPDATE recollect.journals SET origin = 'x'",
        "UPDATE recollect.retries SET fingerprint = ''",
        "UPDATE recollect.tags SET tag = ''",
        "UPDATE recollect.derivations SET input = ''",
        "UPDATE recollect.marks SET name = ''",
        "UPDATE recollect.checkpoints SET size = 0",
        "DELETE FROM recollect.checkpoints",
        "SELECT * FROM recollect.plain_records",
        "INSERT INTO recollect.migrations VALUES (9, 'x', 'x', 0)",
    ],
)
async def test_the_app_role_can_do_nothing_else(roles: Roles, statement: str) -> None:
    with (
        psycopg.connect(roles.app) as connection,
        pytest.raises(InsufficientPrivilege),
    ):
        connection.execute(statement.encode())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE recollect.entries SET entry = ''",
        "UPDATE recollect.entries SET seq = seq + 1",
        "DELETE FROM recollect.entries",
        "TRUNCATE recollect.entries",
        "UPDATE recollect.bodies SET body = ''",
        "TRUNCATE recollect.bodies",
    ],
)
async def test_what_stands_in_a_journal_is_not_even_changed_by_a_superuser(
    roles: Roles, statement: str
) -> None:
    async with recollect.open(roles.app, scope="s") as memory:
        await memory.records.create(MemoryRecordInput(data=1))

    with psycopg.connect(roles.superuser) as connection, pytest.raises(RestrictViolation):
        connection.execute(statement.encode())


def test_the_roles_of_the_page_can_be_made(postgres_url: str) -> None:
    text = block("-- roles").replace("ROLE recollect_", "ROLE recollect_page_")
    text = text.replace("AUTHORIZATION recollect_", "AUTHORIZATION recollect_page_")
    with psycopg.connect(postgres_url) as connection:
        connection.execute(text.encode())
        connection.rollback()  # roles belong to the whole server


async def test_the_program_of_the_page_makes_the_schema(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    roles = await make_roles(postgres_server, postgres_url, migrated=False)
    program = block("import asyncio", "python")
    shown = "postgresql://recollect_owner@db.example.org/notes"
    assert shown in program

    await asyncio.to_thread(exec, program.replace(shown, roles.owner), {})
    roles.as_owner(block("-- grants"))

    await opened(roles.app)


async def test_without_a_schema_the_app_role_is_told_what_to_do(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    app = postgres_server.create_app_role(postgres_url)

    with pytest.raises(StoreUnavailable) as caught:
        await opened(app)

    assert "docs/postgres.md" in caught.value.why
    assert catalogue(postgres_url) == []


async def test_with_an_older_schema_the_app_role_is_told_what_to_do(roles: Roles) -> None:
    connection = await connect(parse_address(roles.app))
    before = catalogue(roles.owner)

    with pytest.raises(StoreUnavailable) as caught:
        await migrate(connection, "the database", 7, known=(*MIGRATIONS, FOLLOWING))

    await connection.close()
    assert "docs/postgres.md" in caught.value.why
    assert catalogue(roles.owner) == before


async def test_without_grants_the_app_role_is_told_what_to_do(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    await opened(postgres_url)

    with pytest.raises(StoreUnavailable) as caught:
        await opened(postgres_server.create_app_role(postgres_url))

    assert "docs/postgres.md" in caught.value.why


async def test_the_app_role_is_not_warned_about(
    roles: Roles, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    await opened(roles.app)

    assert warnings(caplog) == []


@pytest.mark.parametrize(
    ("who", "power"), [("superuser", "a superuser"), ("owner", "its owner"), ("app", "BYPASSRLS")]
)
async def test_a_role_that_row_level_security_can_not_hold_is_warned_about(
    roles: Roles, caplog: pytest.LogCaptureFixture, who: str, power: str
) -> None:
    run(roles.superuser, roles.named("ALTER ROLE recollect_app BYPASSRLS"))
    caplog.clear()

    await opened(getattr(roles, who))

    (warning,) = warnings(caplog)
    assert power in warning
    assert "docs/postgres.md" in warning
