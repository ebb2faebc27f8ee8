"""A journal arrives in another database as it was: the same hashes, the same proofs."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import Memory
from memoranda.app.audit import export_scope, verify_database
from memoranda.app.maintain import backup, copy_scopes
from memoranda.journeys.audit.verify import Progress, nobody
from memoranda.journeys.govern.objects import Receipt
from memoranda.kernel.errors import (
    CapabilityMissing,
    ScopeExists,
    ScopeNotFound,
    StoreFailed,
    StoreUnavailable,
)
from memoranda.stores.sqlite.connection import connect
from tests.stores.postgres.roles import make_roles
from tests.stores.postgres.server import PostgresServer


@pytest.fixture
def postgres(postgres_server: PostgresServer, postgres_url: str) -> str:
    return asyncio.run(make_roles(postgres_server, postgres_url)).app


@pytest.fixture
def file(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/memory.db"


async def fill(url: str, scope: str = "one") -> None:
    """A bit of everything, across a block of the tree."""
    async with memoranda.open(url, scope=scope, actor="agent:a") as memory:
        many = await memory.remember_many([f"{scope} {n}" for n in range(300)], source="doc/1")
        await memory.update(many[0].id, "changed")
        await memory.forget(many[1].id, reason="wrong")
        made = await memory.govern.consolidate(
            [many[2].id, many[3].id], "both", justification="j", tags=["x", "y" * 250]
        )
        assert isinstance(made, Receipt)
        await memory.remember("secret", id="gone", subject="kim")
        await memory.erase("gone", reason="asked")
        await memory.remember("한국어", tags=["태그"])


async def exported(url: str, scope: str = "one") -> list[bytes]:
    return [line async for line in export_scope(url, scope)]


async def shown(memory: Memory[Any]) -> list[Any]:
    return [(one.id, one.data, one.tags, one.hash) for one in await memory.list()]


@pytest.mark.backend("sqlite")
@pytest.mark.backend("postgres")
async def test_a_scope_travels_there_and_back_without_losing_a_byte(
    file: str, postgres: str, tmp_path: Path
) -> None:
    await fill(file)

    there = await copy_scopes(file, postgres)
    back = await copy_scopes(postgres, f"sqlite:///{tmp_path}/back.db")

    assert there.is_sound
    assert back.is_sound
    assert await exported(file) == await exported(postgres)
    assert await exported(file) == await exported(f"sqlite:///{tmp_path}/back.db")
    async with (
        memoranda.open(file, scope="one") as one,
        memoranda.open(postgres, scope="one") as other,
    ):
        assert await shown(one) == await shown(other)


async def test_what_was_copied_goes_on_growing(file: str, postgres: str) -> None:
    await fill(file)
    await copy_scopes(file, postgres)

    async with memoranda.open(postgres, scope="one") as memory:
        receipt = await memory.remember("more")
        await memory.erase(receipt.id, reason="asked")
        assert (await memory.verify()).is_sound
        assert (await memory.govern.status()).breaks == {}


async def test_only_the_scopes_that_are_named_are_copied(file: str, tmp_path: Path) -> None:
    await fill(file, "one")
    await fill(file, "two")
    target = f"sqlite:///{tmp_path}/target.db"

    await copy_scopes(file, target, scopes=["two"])

    assert await memoranda.scopes(target) == ["two"]
    with pytest.raises(ScopeNotFound):
        await copy_scopes(file, target, scopes=["three"])


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_scope_that_is_there_already_is_left_alone(
    file: str, postgres: str, tmp_path: Path, kind: str
) -> None:
    target = postgres if kind == "postgres" else f"sqlite:///{tmp_path}/target.db"
    await fill(file)
    async with memoranda.open(target, scope="one") as memory:
        await memory.remember("mine")

    with pytest.raises(ScopeExists):
        await copy_scopes(file, target)

    async with memoranda.open(target, scope="one") as memory:
        assert [one.data for one in await memory.list()] == ["mine"]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_damaged_journal_is_not_copied(
    file: str, postgres: str, tmp_path: Path, kind: str
) -> None:
    await fill(file)
    connection = connect(file.removeprefix("sqlite:///"))
    connection.execute("DROP TRIGGER bodies_stay; UPDATE bodies SET salt = zeroblob(16)").fetchall()
    connection.close()
    target = postgres if kind == "postgres" else f"sqlite:///{tmp_path}/target.db"

    with pytest.raises(StoreFailed):
        await copy_scopes(file, target)

    assert await memoranda.scopes(target) == []


async def test_a_backup_is_taken_while_writing_goes_on(file: str, tmp_path: Path) -> None:
    await fill(file)
    async with memoranda.open(file, scope="one") as memory:
        stop = asyncio.Event()

        async def write() -> int:
            written = 0
            while not stop.is_set():
                await memory.remember(f"more {written}")
                written += 1
            return written

        writing = asyncio.create_task(write())
        audit = await backup(file, tmp_path / "backup.db")
        stop.set()
        assert await writing > 0
    assert audit.is_sound
    assert (await verify_database(f"sqlite:///{tmp_path}/backup.db")).is_sound


async def test_a_backup_does_not_overwrite_what_came_meanwhile(file: str, tmp_path: Path) -> None:
    await fill(file)
    mine = tmp_path / "backup.db"

    def somebody_else_is_faster(_scope: str) -> Progress:
        mine.write_text("mine")
        return nobody

    with pytest.raises(StoreUnavailable):
        await backup(file, mine, progress=somebody_else_is_faster)

    assert mine.read_text() == "mine"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["backup.db", "memory.db"]


async def test_a_backup_overwrites_nothing_and_needs_a_journal(file: str, tmp_path: Path) -> None:
    await fill(file)
    with pytest.raises(StoreUnavailable):
        await backup(file, tmp_path / "memory.db")
    with pytest.raises(CapabilityMissing):
        await backup("dict://", tmp_path / "backup.db")
    with pytest.raises(StoreUnavailable):
        await copy_scopes(f"sqlite:///{tmp_path}/nowhere.db", file)
