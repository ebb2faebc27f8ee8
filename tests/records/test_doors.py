"""What is of the wrong type is refused at the door, in our words, and nothing is changed."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import memoranda
from memoranda import HookFailure, MemoryFilter, MemoryHooks, MemoryRecordInput
from memoranda.journeys.records.codec import JsonCodec, ModelCodec
from memoranda.journeys.records.store import Records
from memoranda.kernel.errors import InvalidFilter, InvalidRecord, UnknownFilterKey
from tests.handles import opened


@pytest.fixture(params=["dict://", "sqlite://:memory:"])
async def records(request: pytest.FixtureRequest) -> AsyncIterator[Records[Any]]:
    async with memoranda.open(request.param, scope="s") as memory:
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


async def test_more_tags_than_a_filter_may_name_are_refused() -> None:
    MemoryFilter(tags=["a"] * 32)
    with pytest.raises(InvalidFilter):
        MemoryFilter(tags=["a"] * 33)


@pytest.mark.parametrize("url", ["dict://", "sqlite"])
async def test_a_record_that_no_longer_fits_the_model_can_be_mended_with_hooks_set(
    url: str, tmp_path: Path
) -> None:
    class New(BaseModel):
        need: int

    place = f"sqlite:///{tmp_path}/memory.db" if url == "sqlite" else url
    failures: list[HookFailure] = []
    hooks = MemoryHooks[Any](
        on_updated=lambda *_: None, on_deleted=lambda *_: None, on_failure=failures.append
    )
    async with opened(place, scope="s", model=New, hooks=hooks) as memory:
        memory.records._codec = JsonCodec()
        for id in ("a", "b"):
            await memory.records.create(MemoryRecordInput(id=id, data={"old": 1}))
        memory.records._codec = ModelCodec(New)
        await memory.records.update("a", {"need": 1})
        await memory.records.delete("b")

        mended = await memory.records.get("a")
        assert mended is not None
        assert mended.data == New(need=1)
        assert await memory.records.version("b") is None
    assert [failure.hook for failure in failures] == ["on_updated", "on_deleted"]
