"""A role that may only read is enough for whoever only reads."""

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege, ReadOnlySqlTransaction

import memoranda
from memoranda.app.audit import export_scope, verify_database
from memoranda.kernel.errors import StoreReadOnly
from memoranda.stores.postgres.connection import connect, parse_address
from tests.stores.postgres.catalogue import asked
from tests.stores.postgres.roles import Roles, block, make_roles, run
from tests.stores.postgres.server import PostgresServer

pytestmark = pytest.mark.backend("postgres")


@pytest.fixture
async def reader(postgres_server: PostgresServer, postgres_url: str) -> str:
    """The URL of a role as the page makes it, on a database with something in it."""
    roles: Roles = await make_roles(postgres_server, postgres_url)
    async with memoranda.open(roles.app, scope="s") as memory:
        await memory.remember("something", id="one")
        await memory.update("one", "something else")
        await memory.recall("something", top_k=1)
    url = postgres_server.create_app_role(postgres_url)
    name = psycopg.conninfo.conninfo_to_dict(url)["user"]
    run(roles.owner, block("-- reading").replace("memoranda_reader", str(name)))
    return url


async def test_a_role_that_may_only_read_reads_everything(reader: str) -> None:
    async with memoranda.open(reader, scope="s", read_only=True) as memory:
        assert [one.data for one in await memory.list()] == ["something else"]
        assert [one.id for one in await memory.list(text="something")] == ["one"]
        assert len(await memory.history("one")) == 2
        assert (await memory.why("one")).id == "one"
        assert await memory.inbox.list() == []
        assert (await memory.verify()).is_sound
        with pytest.raises(StoreReadOnly):
            await memory.remember("more")
        with pytest.raises(StoreReadOnly):
            await memory.recall("something", top_k=1)
    assert await memoranda.scopes(reader) == ["s"]
    assert (await verify_database(reader)).is_sound
    assert [line async for line in export_scope(reader, "s")]


async def test_a_function_that_writes_is_of_no_use_to_it(reader: str, postgres_url: str) -> None:
    with psycopg.connect(reader) as connection, pytest.raises(InsufficientPrivilege):
        connection.execute("SELECT memoranda.open_journal(7, 'typo', 'origin', 0, '')")

    assert asked(postgres_url, "SELECT scope FROM memoranda.journals WHERE scope = 'typo'") == []


async def test_every_transaction_of_a_reader_is_read_only(postgres_url: str) -> None:
    """Whatever the role may do: here it is the superuser."""
    async with memoranda.open(postgres_url, scope="s") as memory:
        await memory.remember("something")
    connection = await connect(parse_address(postgres_url), read_only=True)

    with pytest.raises(ReadOnlySqlTransaction):
        await connection.execute("DELETE FROM memoranda.versions")
    await connection.close()
