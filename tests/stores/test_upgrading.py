"""A schema is made up to date by a write or on purpose, and never because somebody looked."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest

import memoranda
from memoranda.app.maintain import copy_scopes, upgrade
from memoranda.identity import sha256_hex
from memoranda.kernel.errors import SchemaTooOld, StoreReadOnly
from memoranda.stores.migrations import Migration
from memoranda.stores.postgres import schema as of_postgres
from memoranda.stores.postgres.database import PostgresDatabase
from memoranda.stores.sqlite import connection as of_sqlite
from memoranda.stores.sqlite.database import SqliteDatabase
from tests.handles import opened
from tests.stores.postgres.catalogue import asked

APPLIED = "0002_following"


def following(sql: str) -> Migration:
    return Migration(2, "following", sql, sha256_hex(sql.encode()))


SQLITE = (*of_sqlite.MIGRATIONS, following("CREATE TABLE following (x TEXT) STRICT"))
POSTGRES = (*of_postgres.MIGRATIONS, following("CREATE TABLE memoranda.following (x text)"))

History = Callable[[], Sequence[Any]]


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.backend("sqlite")),
        pytest.param("postgres", marks=pytest.mark.backend("postgres")),
    ]
)
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of today's schema with one record in it."""
    url = f"sqlite:///{tmp_path}/memory.db"
    if request.param == "postgres":
        url = str(request.getfixturevalue("postgres_url"))
    async with memoranda.open(url, scope="s") as memory:
        await memory.remember("something", id="one")
    return url


@pytest.fixture
def newer(url: str, monkeypatch: pytest.MonkeyPatch) -> History:
    """A newer memoranda, which knows one more migration; tells which a database has had."""
    monkeypatch.setattr(of_sqlite, "MIGRATIONS", SQLITE)
    monkeypatch.setattr(of_postgres, "MIGRATIONS", POSTGRES)

    def history() -> Sequence[Any]:
        if not url.startswith("sqlite"):
            numbers = asked(url, "SELECT number FROM memoranda.migrations ORDER BY number")
            return [number for (number,) in numbers]
        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        found = connection.execute("SELECT number FROM migrations ORDER BY number").fetchall()
        connection.close()
        return [number for (number,) in found]

    return history


async def test_reading_an_older_database_leaves_it_as_it_is(url: str, newer: History) -> None:
    for options in ({}, {"read_only": True}):
        async with opened(url, scope="s", **options) as memory:  # type: ignore[arg-type]
            assert [one.data for one in await memory.list()] == ["something"]
            assert [one.data for one in await memory.list(text="something")] == ["something"]
            assert (await memory.verify()).is_sound
    assert await memoranda.scopes(url) == ["s"]

    assert newer() == [1]


async def test_the_first_write_upgrades_it_and_says_so(
    url: str, newer: History, caplog: pytest.LogCaptureFixture
) -> None:
    async with memoranda.open(url, scope="s") as memory:
        assert newer() == [1]
        await memory.remember("more")
        assert newer() == [1, 2]
        await memory.remember("and more")
        assert len(await memory.list()) == 3
        assert (await memory.verify()).is_sound

    told = [one for one in caplog.records if APPLIED in one.getMessage()]
    assert [(one.levelno, one.name.partition(".")[0]) for one in told] == [
        (logging.WARNING, "memoranda")
    ]


async def test_a_first_write_to_a_new_scope_upgrades_it(url: str, newer: History) -> None:
    async with memoranda.open(url, scope="new") as memory:
        assert await memory.list() == []
        assert newer() == [1]
        await memory.recall("anything", top_k=1)

    assert newer() == [1, 2]


async def test_it_is_upgraded_on_purpose(url: str, newer: History) -> None:
    assert list(await upgrade(url)) == [APPLIED]
    assert newer() == [1, 2]
    assert list(await upgrade(url)) == []


async def test_a_copy_into_it_is_a_write(url: str, newer: History, tmp_path: Path) -> None:
    other = f"sqlite:///{tmp_path}/other.db"
    async with memoranda.open(other, scope="travels") as memory:
        await memory.remember("something")

    await copy_scopes(other, url, scopes=["travels"])

    assert newer() == [1, 2]


@pytest.mark.backend("sqlite")
async def test_a_reader_of_a_file_never_upgrades(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    await (await SqliteDatabase.open(path, 0, create=True)).close()
    database = await SqliteDatabase.open(path, 0, create=False, read_only=True, known=SQLITE)

    with pytest.raises(StoreReadOnly):
        await database.upgrade()
    await database.close()


@pytest.mark.backend("postgres")
async def test_a_reader_of_a_server_never_upgrades(postgres_url: str) -> None:
    await (await PostgresDatabase.open(postgres_url, 0, create=True)).close()
    database = await PostgresDatabase.open(
        postgres_url, 0, create=False, read_only=True, known=POSTGRES
    )

    with pytest.raises(StoreReadOnly):
        await database.upgrade()
    await database.close()


async def test_what_an_older_schema_lacks_is_refused_in_words(url: str) -> None:
    """As a newer memoranda would ask for a table that only its migration makes."""
    if url.startswith("sqlite"):
        path = url.removeprefix("sqlite:///")
        file = await SqliteDatabase.open(path, 0, create=False, read_only=True, known=SQLITE)
        with pytest.raises(SchemaTooOld) as caught:
            await file.rows("SELECT x, '' FROM following", (), tuple)
        await file.close()
    else:
        server = await PostgresDatabase.open(url, 0, create=False, read_only=True, known=POSTGRES)
        with pytest.raises(SchemaTooOld) as caught:
            async with server._calls.connection() as connection:
                await connection.execute("SELECT x FROM memoranda.following")
        await server.close()

    assert caught.value.code == "store.schema_too_old"
    assert "memoranda upgrade" in str(caught.value)
