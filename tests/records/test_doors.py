"""What is of the wrong type is refused at the door, in our words, and nothing is changed."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

import recollect
from recollect import MemoryFilter, MemoryRecordInput
from recollect.kernel.errors import InvalidFilter, InvalidRecord, UnknownFilterKey
from recollect.stores.records import Records


@pytest.fixture(params=["dict://", "sqlite://:memory:"])
async def records(request: pytest.FixtureRequest) -> AsyncIterator[Records[Any]]:
    async with recollect.open(request.param, scope="s") as memory:
        await memory.records.create(MemoryRecordInput(id="a", data={"n": 1}))
        yield memory.records


@pytest.mark.parametrize("given", [{"data": 1}, "hello", None, 5])
async def test_a_record_that_is_no_record_is_refused(records: Records[Any], given: Any) -> None:
    with pytest.raises(InvalidRecord):
        await records.create(given)
    with pytest.raises(InvalidRecord) as caught:
        await records.create_many([MemoryRecordInput(data=1), given])

    assert caught.value.where == "$[1]"
    assert len(await records.query(MemoryFilter())) == 1


@pytest.mark.parametrize("given", [{"tags": ["a"]}, None, "a"])
async def test_a_filter_that_is_no_filter_is_refused(records: Records[Any], given: Any) -> None:
    with pytest.raises(InvalidFilter):
        await records.query(given)
    with pytest.raises(InvalidFilter):
        async for _ in records.stream(given):
            pass


async def test_a_key_that_is_nearly_one_of_ours_is_told_so(records: Records[Any]) -> None:
    with pytest.raises(UnknownFilterKey) as caught:
        await records.query(MemoryFilter(tag="a"))  # type: ignore[call-arg]

    assert "tags" in caught.value.why


@pytest.mark.parametrize("version", ["1", True, 1.0, -1, 2**70])
async def test_a_version_that_is_no_version_is_refused(records: Records[Any], version: Any) -> None:
    with pytest.raises(InvalidRecord):
        await records.update("a", {"n": 2}, expected_version=version)
    with pytest.raises(InvalidRecord):
        await records.annotate("a", tags=["x"], expected_version=version)
    with pytest.raises(InvalidRecord):
        await records.delete("a", expected_version=version)

    assert await records.version("a") == 1


async def test_an_update_that_is_no_update_is_refused(records: Records[Any]) -> None:
    with pytest.raises(InvalidRecord):
        await records.update_many([{"id": "a", "patch": {}}])  # type: ignore[list-item]


async def test_one_string_is_not_a_list_of_ids(records: Records[Any]) -> None:
    with pytest.raises(InvalidRecord):
        await records.delete_many("a")

    assert await records.get("a") is not None
