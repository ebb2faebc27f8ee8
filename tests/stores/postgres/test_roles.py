"""The roles of docs/postgres.md: the app role can do its work, and nothing else."""

import asyncio
import logging
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

import memoranda
from memoranda import MemoryFilter, MemoryRecordInput, MemoryUpdate
from memoranda.kernel.errors import InvalidOption, StoreUnavailable
from memoranda.stores.postgres.connection import connect, parse_address
from memoranda.stores.postgres.database import PostgresDatabase, journal_number
from memoranda.stores.postgres.grants import grants
from memoranda.stores.postgres.schema import MIGRATIONS, migrate
from tests.stores.postgres.catalogue import catalogue
from tests.stores.postgres.roles import Roles, block, make_roles, run
from tests.stores.postgres.server import PostgresServer
from tests.stores.postgres.test_migrations import FOLLOWING


async def opened(url: str) -> None:
    await (await PostgresDatabase.open(url, 7, create=True)).close()


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        each.getMessage()
        for each in caplog.records
        if (each.name, each.levelno) == ("memoranda.postgres", logging.WARNING)
    ]


@pytest.mark.parametrize(
    ("title", "role", "reads_only"),
    [("-- grants", "memoranda_app", False), ("-- reading", "memoranda_reader", True)],
)
def test_the_page_has_what_the_command_prints(title: str, role: str, reads_only: bool) -> None:
    printed = grants(role, reads_only=reads_only)

    assert block(title).removeprefix(title).split() == printed.split()


@pytest.mark.parametrize("role", ["", "a" * 64, "a\x00"])
def test_a_name_that_no_role_can_have_is_refused(role: str) -> None:
    with pytest.raises(InvalidOption):
        grants(role)


async def test_a_role_of_any_name_is_let_in(postgres_url: str) -> None:
    name = 'an "App" of ' + urlsplit(postgres_url).path[1:]
    quoted = '"' + name.replace('"', '""') + '"'
    await opened(postgres_url)
    run(postgres_url, f"CREATE ROLE {quoted}; {grants(name)}")
    try:
        run(postgres_url, f"SET ROLE {quoted}; TABLE memoranda.migrations")
    finally:
        run(postgres_url, f"DROP OWNED BY {quoted}; DROP ROLE {quoted}")


async def test_the_app_role_can_do_all_of_its_work(roles: Roles) -> None:
    async with memoranda.open(roles.app, scope="s") as memory:
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
        "CREATE TABLE memoranda.more (x int)",
        "ALTER TABLE memoranda.entries DISABLE ROW LEVEL SECURITY",
        "DROP POLICY one_journal ON memoranda.entries",
        "UPDATE memoranda.entries SET entry = ''",
        "DELETE FROM memoranda.entries",
        "TRUNCATE memoranda.entries",
        "UPDATE memoranda.entries SET seq = seq + 1",
        "UPDATE memoranda.nodes SET hash = ''",
        "DELETE FROM memoranda.nodes",
        "DELETE FROM memoranda.versions",
        "DELETE FROM memoranda.journals",
        "UPDATE memoranda.journals SET scope = 'x'",
        "UPDATE memoranda.journals SET origin = 'x'",
        "UPDATE memoranda.retries SET fingerprint = ''",
        "UPDATE memoranda.tags SET tag = ''",
        "UPDATE memoranda.derivations SET input = ''",
        "UPDATE memoranda.marks SET name = ''",
        "UPDATE memoranda.checkpoints SET size = 0",
        "DELETE FROM memoranda.checkpoints",
        "INSERT INTO memoranda.migrations VALUES (9, 'x', 'x', 0)",
    ],
)
async def test_the_app_role_can_do_nothing_else(roles: Roles, statement: str) -> None:
    with (
        psycopg.connect(roles.app) as connection,
        pytest.raises(InsufficientPrivilege),
    ):
        connection.execute(statement.encode())


@pytest.mark.parametrize("who", ["app", "owner"])
async def test_a_body_can_be_erased_and_never_be_changed(roles: Roles, who: str) -> None:
    async with memoranda.open(roles.app, scope="s") as memory:
        await memory.records.create(MemoryRecordInput(data=1))

    with psycopg.connect(getattr(roles, who)) as connection:
        connection.execute("SELECT memoranda.enter(%s, NULL)", (journal_number("s"),))
        with pytest.raises(InsufficientPrivilege), connection.transaction():
            connection.execute("UPDATE memoranda.entries SET body = ''")
        with pytest.raises(InsufficientPrivilege), connection.transaction():
            connection.execute("UPDATE memoranda.entries SET body = NULL")
        erased = connection.execute("UPDATE memoranda.entries SET body = NULL, salt = NULL")
        assert erased.rowcount == 2


async def test_not_even_the_owner_deletes_an_entry(roles: Roles) -> None:
    async with memoranda.open(roles.app, scope="s") as memory:
        await memory.records.create(MemoryRecordInput(data=1))

    with psycopg.connect(roles.owner) as connection:
        connection.execute("SELECT memoranda.enter(%s, NULL)", (journal_number("s"),))
        assert connection.execute("DELETE FROM memoranda.entries").rowcount == 0


def test_the_roles_of_the_page_can_be_made(postgres_url: str) -> None:
    text = block("-- roles").replace("ROLE memoranda_", "ROLE memoranda_page_")
    text = text.replace("AUTHORIZATION memoranda_", "AUTHORIZATION memoranda_page_")
    with psycopg.connect(postgres_url) as connection:
        connection.execute(text.encode())
        connection.rollback()  # roles belong to the whole server


async def test_the_program_of_the_page_makes_the_schema(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    roles = await make_roles(postgres_server, postgres_url, migrated=False)
    program = block("import asyncio", "python")
    shown = "postgresql://memoranda_owner@db.example.org/notes"
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
    run(roles.superuser, roles.named("ALTER ROLE memoranda_app BYPASSRLS"))
    caplog.clear()

    await opened(getattr(roles, who))

    (warning,) = warnings(caplog)
    assert power in warning
    assert "docs/postgres.md" in warning
