"""What goes wrong is said in plain words, soon, and never with a password."""

import asyncio
import socket
import traceback
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

import memoranda
from memoranda import MemoryRecordInput
from memoranda.kernel.errors import (
    InvalidUrl,
    MemorandaError,
    StoreReadOnly,
    StoreUnavailable,
)
from memoranda.stores.postgres import connection as connection_module
from memoranda.stores.postgres.database import PostgresDatabase
from tests.patience import PATIENCE
from tests.stores.postgres.catalogue import asked
from tests.stores.postgres.roles import run
from tests.stores.postgres.server import PostgresServer, running_server

SECRET = "s3cretword"  # noqa: S105 - to look for in messages


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server on loopback that wants a password of the role `guarded`."""
    with running_server(own=True, tcp=True) as started:
        url = started.url()
        run(url, f"CREATE ROLE guarded LOGIN PASSWORD '{SECRET}'")
        ((hba,),) = asked(url, "SHOW hba_file")
        rules = Path(str(hba))
        rules.write_text("host all guarded all scram-sha-256\n" + rules.read_text())
        run(url, "SELECT pg_reload_conf()")
        yield started


async def refused(url: str) -> MemorandaError:
    """The error of an opening: not a hang, with nothing of the secret and no task left."""
    tasks = asyncio.all_tasks()
    with pytest.raises(MemorandaError) as caught:
        async with asyncio.timeout(PATIENCE):
            await PostgresDatabase.open(url, 0, create=True)
    assert asyncio.all_tasks() == tasks
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert SECRET not in shown
    assert "s3cret" not in shown
    return caught.value


def guarded(server: PostgresServer, password: str = "", database: str = "postgres") -> str:
    where = urlsplit(server.url(tcp=True)).netloc.rpartition("@")[2]
    return f"postgresql://guarded{':' + password if password else ''}@{where}/{database}"


@pytest.fixture
def closed_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_server_that_is_down_is_named(closed_port: int) -> None:
    error = await refused(f"postgresql://me:{SECRET}@127.0.0.1:{closed_port}/notes")

    assert isinstance(error, StoreUnavailable)
    assert error.code == "store.unavailable"
    assert error.database == "notes at 127.0.0.1"
    assert "start it" in error.why


@pytest.mark.parametrize(
    ("rest", "advice"),
    [
        ("nowhere.invalid/notes", "no such host"),
        ("/notes?host=/nowhere", "start it"),
    ],
)
async def test_a_place_without_a_server_is_named(rest: str, advice: str) -> None:
    error = await refused(f"postgresql://me:{SECRET}@{rest}")

    assert isinstance(error, StoreUnavailable)
    assert advice in error.why


async def test_a_server_that_hangs_up_is_told_in_whole_words() -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        told = await refused(f"postgresql://someone@127.0.0.1:{port}/x?sslmode=disable")

    assert isinstance(told, StoreUnavailable)
    assert "the server closed the connection; see its log" in str(told)


async def test_a_server_that_never_answers_is_given_up(closed_port: int) -> None:
    with socket.create_server(("127.0.0.1", closed_port)):
        url = f"postgresql://me:{SECRET}@127.0.0.1:{closed_port}/notes?connect_timeout=2"
        error = await refused(url)

    assert isinstance(error, StoreUnavailable)
    assert "no answer" in error.why


@pytest.mark.parametrize(
    ("password", "database", "advice"),
    [
        ("wrong-" + SECRET, "postgres", "password is wrong"),
        ("", "postgres", "wants a password"),
        (SECRET, "nowhere", "createdb"),
        (SECRET, "postgres?sslmode=require", "TLS"),
        (SECRET, "postgres", "docs/postgres.md"),  # let in, but may make nothing
    ],
)
async def test_whoever_is_not_let_in_is_told_why(
    server: PostgresServer, password: str, database: str, advice: str
) -> None:
    error = await refused(guarded(server, password, database))

    assert isinstance(error, StoreUnavailable)
    assert advice in error.why


async def test_an_unknown_role_is_told_so(server: PostgresServer) -> None:
    url = server.url(user="nobody_known", tcp=True)

    error = await refused(url)

    assert isinstance(error, StoreUnavailable)
    assert "no such role" in error.why


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:p@{SECRET}@host/notes",
        f"postgresql://me:p/{SECRET}@host/notes",
        f"postgresql://me:12/{SECRET}@host/notes",
        f"postgresql://me:p?{SECRET}@{SECRET}@host/notes",
        f"postgresql://me:%zz{SECRET}@host/notes",
        f"postgresql://me:{SECRET}",
        f"postgresql://me:{SECRET}@host/notes?pool_size=3",
        f"postgresql://me:{SECRET}@host:port/notes",
    ],
)
async def test_a_url_that_can_not_be_read_is_not_repeated(url: str) -> None:
    error = await refused(url)

    assert isinstance(error, InvalidUrl)
    assert error.code == "input.url"


# ----------------------------------------------------------------- while it is open


async def test_a_read_only_server_is_read_and_not_written(postgres_url: str) -> None:
    async with memoranda.open(postgres_url, scope="s") as memory:
        await memory.records.create(MemoryRecordInput(id="one", data={}))
    name = psycopg.conninfo.conninfo_to_dict(postgres_url)["dbname"]
    run(postgres_url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")

    async with memoranda.open(postgres_url, scope="s") as memory:
        assert await memory.records.get("one") is not None
        with pytest.raises(StoreReadOnly) as caught:
            await memory.records.create(MemoryRecordInput(data={}))
        assert caught.value.code == "store.read_only"
        with pytest.raises(StoreReadOnly):
            await memory.records.update("one", {"a": 1})
    async with memoranda.open(postgres_url, scope="another") as memory:
        assert await memory.list() == []
        with pytest.raises(StoreReadOnly):
            await memory.remember("its journal would begin with this")


@pytest.mark.parametrize("limit", ["lock_timeout", "statement_timeout"])
async def test_whoever_waits_too_long_for_another_is_told_to_retry(
    postgres_url: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "_SETTINGS", f"SET {limit} = '100ms'")
    async with memoranda.open(postgres_url, scope="s") as memory:
        await memory.records.create(MemoryRecordInput(id="one", data={}))
        with psycopg.connect(postgres_url) as another:
            another.execute("SELECT * FROM memoranda.journals FOR UPDATE")
            for call in (
                memory.records.create(MemoryRecordInput(data={})),
                memory.records.update("one", {"a": 1}),
                memory.records.delete("one"),
                memory.records.delete_many(["one", "two"]),
            ):
                with pytest.raises(StoreUnavailable) as caught:
                    await call
                assert caught.value.code == "store.unavailable"
        await memory.records.update("one", {"a": 1})


async def test_our_promises_do_not_rest_on_the_defaults_of_the_database(postgres_url: str) -> None:
    name = psycopg.conninfo.conninfo_to_dict(postgres_url)["dbname"]
    for setting in (
        "synchronous_commit = off",
        "default_transaction_isolation = 'serializable'",
        "search_path = 'theirs'",
    ):
        run(postgres_url, f"ALTER DATABASE {name} SET {setting}")

    database = await PostgresDatabase.open(postgres_url, 0, create=True)
    async with database._calls.connection() as connection:
        found = []
        for setting in ("synchronous_commit", "transaction_isolation", "search_path"):
            shown = await connection.execute(f"SHOW {setting}")
            found += await shown.fetchall()
    await database.close()

    assert found == [("on",), ("read committed",), ("",)]
