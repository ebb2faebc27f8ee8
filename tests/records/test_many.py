"""Batches of records: with a reason, and safe to repeat."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import MemoryFilter, MemoryHooks, MemoryRecordInput, MemoryUpdate
from memoranda.journeys.records.store import Records
from memoranda.kernel.errors import IdempotencyConflict, InvalidRecord, VersionConflict
from tests.handles import opened


@pytest.fixture
def heard() -> list[str]:
    """What the hooks were told."""
    return []


@pytest.fixture(params=["dict", "sqlite", "postgres"])
async def records(
    request: pytest.FixtureRequest, tmp_path: Path, heard: list[str]
) -> AsyncIterator[Records[Any]]:
    urls = {"dict": "dict://", "sqlite": f"sqlite:///{tmp_path}/many.db"}
    url = urls.get(request.param) or request.getfixturevalue("postgres_url")
    hooks = MemoryHooks[Any](
        on_created=lambda record: heard.append(f"+{record.id}"),
        on_updated=lambda id, before, after: heard.append(f"{id} {before} {after}"),
        on_deleted=lambda id, _: heard.append(f"-{id}"),
    )
    async with opened(url, scope="many", hooks=hooks) as memory:
        yield memory.records


async def test_a_retry_of_creating_many_is_told_the_first_ids(
    records: Records[Any], heard: list[str]
) -> None:
    given = [MemoryRecordInput(data=1), MemoryRecordInput(id="mine", data=2)]
    ids = await records.create_many(given, idempotency_key="k", reason="r")

    assert await records.create_many(given, idempotency_key="k") == ids
    assert heard == [f"+{ids[0]}", "+mine"]
    assert len(await records.query(MemoryFilter())) == 2
    with pytest.raises(IdempotencyConflict):
        await records.create_many(given[:1], idempotency_key="k")


async def test_a_retry_of_updating_many_changes_nothing(
    records: Records[Any], heard: list[str]
) -> None:
    await records.create(MemoryRecordInput(id="a", data=0))
    updates = [MemoryUpdate("a", 1, expected_version=1), MemoryUpdate("a", 2)]

    for _ in range(2):
        await records.update_many(updates, idempotency_key="k", reason="r")

    assert heard == ["+a", "a 0 1", "a 1 2"]
    assert await records.version("a") == 3
    with pytest.raises(IdempotencyConflict):
        await records.update_many(updates[1:], idempotency_key="k")


async def test_of_many_updates_each_may_expect_a_version(records: Records[Any]) -> None:
    await records.create_many([MemoryRecordInput(id=id, data=0) for id in "ab"])

    with pytest.raises(VersionConflict):
        await records.update_many([MemoryUpdate("a", 1), MemoryUpdate("b", 1, expected_version=2)])
    with pytest.raises(InvalidRecord):
        await records.update_many([MemoryUpdate("a", 1, expected_version="1")])  # type: ignore[arg-type]

    assert await records.version("a") == 1


async def test_a_retry_of_deleting_many_deletes_nothing(
    records: Records[Any], heard: list[str]
) -> None:
    await records.create_many([MemoryRecordInput(id=id, data=0) for id in "ab"])
    heard.clear()

    await records.delete_many(["a", "nowhere", "b"], idempotency_key="k", reason="r")
    await records.create(MemoryRecordInput(id="a", data=1))
    await records.delete_many(["a", "nowhere", "b"], idempotency_key="k")

    assert heard == ["-a", "-b", "+a"]
    assert await records.version("a") is not None


@pytest.mark.parametrize("given", [1, "ab", b"ab", {"a": 1}, None])
async def test_many_are_a_list(records: Records[Any], given: Any) -> None:
    for verb in (records.create_many, records.update_many, records.delete_many):
        with pytest.raises(InvalidRecord):
            await verb(given)


async def test_reasons_of_many_are_in_the_history(tmp_path: Path) -> None:
    async with memoranda.open(f"sqlite:///{tmp_path}/why.db", scope="s") as memory:
        await memory.records.create_many([MemoryRecordInput(id="a", data=1)], reason="one")
        await memory.records.update_many([MemoryUpdate("a", 2)], reason="two")
        await memory.records.delete_many(["a"], reason="three")

        assert [event.reason for event in await memory.history("a")] == ["one", "two", "three"]
