"""Two walls between scopes: each one holds when the other is taken away (ADR 8)."""

import re
from typing import Any, cast

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

import recollect
from recollect import MemoryFilter, MemoryRecordInput
from recollect.kernel.errors import RecordExists, RecordNotFound
from recollect.stores.postgres import batches, records
from recollect.stores.postgres.schema import MIGRATIONS
from recollect.stores.selection import Selection, selection
from recollect.testkit.records import isolation
from recollect.testkit.records.isolation import *  # noqa: F403
from recollect.testkit.records.opening import (  # noqa: F401
    OpenStore,
    Store,
    anyio_backend,
    scope,
    store,
    stranger,
    twin,
)
from tests.contract.opening import at
from tests.postgres.server import PostgresServer
from tests.postgres_store.roles import Roles, make_roles, run

CONDITIONS_ONLY, SECURITY_ONLY = "conditions only", "row-level security only"
WALLS = ["both walls", CONDITIONS_ONLY, SECURITY_ONLY]
TABLES = ["records", "record_tags", "idempotency_keys"]
FUNCTION = re.compile(r"^CREATE FUNCTION.*?^(?:END )?\$\$;", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
async def roles(postgres_server: PostgresServer) -> Roles:
    """One database for all tests with both walls."""
    return await make_roles(postgres_server, postgres_server.create_database())


@pytest.fixture(scope="module", params=WALLS)
async def walls(
    request: pytest.FixtureRequest, postgres_server: PostgresServer
) -> tuple[str, Roles]:
    """Which walls stand in a database of their own."""
    roles = await make_roles(postgres_server, postgres_server.create_database())
    if request.param == CONDITIONS_ONLY:
        without_row_level_security(roles)
    if request.param == SECURITY_ONLY:
        without_conditions(roles)
    return request.param, roles


@pytest.fixture
def open_store(walls: tuple[str, Roles], monkeypatch: pytest.MonkeyPatch) -> OpenStore:
    """The isolation contract runs for the app role with both walls, and with either alone."""
    standing, roles = walls
    if standing == SECURITY_ONLY:
        without_conditions_in_queries(monkeypatch)
    return at(roles.app)


def without_row_level_security(roles: Roles) -> None:
    for table in TABLES:
        roles.as_owner(f"ALTER TABLE recollect.{table} DISABLE ROW LEVEL SECURITY")


def without_conditions(roles: Roles) -> None:
    """Every function as if someone had forgotten the scope in its WHERE."""
    found = [text for migration in MIGRATIONS for text in FUNCTION.findall(migration.sql)]
    assert len(found) == sum(migration.sql.count("CREATE FUNCTION") for migration in MIGRATIONS)
    conditions = 0
    for text in found:
        forgetful, count = re.subn(r"\b\w+\.scope = p_scope\b", "true", text)
        conditions += count
        run(roles.owner, forgetful.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"))
    assert conditions > 10


def without_conditions_in_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other statement as if someone had forgotten it as well."""

    def forgetful_selection(*asked: Any) -> Selection | None:
        chosen = selection(*asked)
        if chosen is None:
            return None
        sql = re.sub(r"\b[rt]\.scope = \?", "?::text IS NOT NULL", chosen.sql)
        assert sql != chosen.sql
        return Selection(sql, chosen.parameters)

    monkeypatch.setattr(records, "selection", forgetful_selection)
    for name in ("_LOCK", "_EDIT", "_REMOVE", "_UNTAG"):
        statement = getattr(batches, name)
        forgetful = re.sub(r"\b[rt]\.scope = %s", "%s::text IS NOT NULL", statement)
        assert forgetful != statement
        monkeypatch.setattr(batches, name, forgetful)


def test_the_whole_isolation_contract_is_run_here() -> None:
    contract = {name for name in vars(isolation) if name.startswith("test_")}
    assert contract <= globals().keys()


# ------------------------------------------------------------------- the second wall, by hand


async def two_scopes(url: str) -> None:
    for name in ("mine", "theirs"):
        async with recollect.open(url, scope=name) as memory:
            await memory.records.create(
                MemoryRecordInput(id="one", data=name, tags=("x",)), idempotency_key="k"
            )


def rows(url: str, query: str, named: str | None) -> list[Any]:
    with psycopg.connect(url) as connection:
        if named is not None:
            connection.execute("SELECT set_config('recollect.scope', %s, true)", (named,))
        return [row[0] for row in connection.execute(query.encode())]


@pytest.mark.parametrize("table", TABLES)
async def test_a_query_that_forgets_the_scope_sees_one_scope_only(roles: Roles, table: str) -> None:
    await two_scopes(roles.app)
    query = f"SELECT scope FROM recollect.{table}"  # noqa: S608 - our own table

    assert rows(roles.app, query, "mine") == ["mine"]
    assert rows(roles.app, query, "theirs") == ["theirs"]
    assert rows(roles.app, query, "nobody's") == []
    assert rows(roles.owner, query, "mine") == ["mine"], "forced: the owner is bound as well"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("named", [None, ""])
async def test_without_a_scope_there_are_no_rows(
    roles: Roles, table: str, named: str | None
) -> None:
    await two_scopes(roles.app)

    query = f"SELECT scope FROM recollect.{table}"  # noqa: S608 - our own table
    assert rows(roles.app, query, named) == []


async def test_a_scope_ends_with_its_transaction(roles: Roles) -> None:
    await two_scopes(roles.app)

    with psycopg.connect(roles.app, autocommit=True) as connection:
        assert connection.execute("SELECT * FROM recollect.get_record('mine', 'one')").fetchall()
        assert connection.execute("SELECT * FROM recollect.records").fetchall() == []


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO recollect.records VALUES ('theirs', 'new', 1, 0, 0, '', 'a', NULL)",
        "INSERT INTO recollect.record_tags VALUES ('theirs', 'new', 0, 'one')",
        "INSERT INTO recollect.idempotency_keys VALUES ('theirs', 'new', '', 'one', 0)",
        "INSERT INTO recollect.scopes VALUES ('new', 0)",
        "UPDATE recollect.records SET scope = 'theirs' WHERE id = 'one'",
    ],
)
async def test_a_row_can_not_be_written_into_another_scope(roles: Roles, statement: str) -> None:
    await two_scopes(roles.app)

    with psycopg.connect(roles.app) as connection:
        connection.execute("SELECT set_config('recollect.scope', 'mine', true)")
        with pytest.raises(InsufficientPrivilege):
            connection.execute(statement.encode())


async def test_every_table_with_a_scope_is_bound(roles: Roles) -> None:
    query = """
        SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'scope'
        WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind = 'r'
    """
    with psycopg.connect(roles.app) as connection:
        found = connection.execute(query).fetchall()

    assert sorted(found) == [(table, True) for table in sorted([*TABLES, "scopes"])]


# ------------------------------------------------------- what the contract does not reach


async def test_one_id_and_one_key_serve_both_scopes_with_either_wall_alone(
    open_store: OpenStore,
) -> None:
    async with open_store("mine") as first, open_store("theirs") as second:
        mine, theirs = cast("Store", first), cast("Store", second)
        for store in (mine, theirs):
            await store.create(
                MemoryRecordInput(id="one", data={}, tags=("x",)), idempotency_key="k"
            )
            with pytest.raises(RecordExists):
                await store.create(MemoryRecordInput(id="one", data={}))
        await mine.delete("one", idempotency_key="d")

        with pytest.raises(RecordNotFound):
            await mine.update("one", {"a": 1})
        await theirs.update("one", {"a": 1})
        assert [found.data for found in await theirs.query(MemoryFilter(tags=("x",), limit=9))] == [
            {"a": 1}
        ]
        assert await mine.query(MemoryFilter(limit=9)) == []
