"""`T` goes in and `T` comes out, when the user names a model (D-MEM-1)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from math import nan
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from memoranda import MemoryFilter, MemoryHooks, MemoryRecordInput
from memoranda.journeys.records.store import Records
from memoranda.kernel.errors import InvalidJson, InvalidPatch, InvalidRecord
from tests.handles import opened


class Address(BaseModel):
    city: str
    zip: str | None = None


class Customer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    visits: int = 0
    address: Address | None = None


class Visit(BaseModel):
    """Strict, with types that JSON has not."""

    model_config = ConfigDict(strict=True, extra="forbid")

    at: datetime
    day: date
    price: Decimal
    seen: set[int] = set()
    raw: bytes = b""


class Renamed(BaseModel):
    """Other names on the wire."""

    model_config = ConfigDict(extra="forbid", validate_by_name=True, validate_by_alias=True)

    display_name: str = Field(alias="displayName")
    count: int = Field(default=0, alias="n")


class OneWay(BaseModel):
    """Written under a name that it is not read by."""

    inside: int = Field(serialization_alias="outside")


class Point(TypedDict):
    x: int
    y: int


@dataclass(frozen=True)
class Pair:
    left: int
    right: datetime


VISIT = Visit(
    at=datetime(2026, 11, 15, 23, 0, tzinfo=UTC),
    day=date(2026, 11, 15),
    price=Decimal("12.50"),
    seen={3, 1},
    raw=b"raw",
)


@asynccontextmanager
async def records_of(model: Any, hooks: Any = None) -> AsyncIterator[Records[Any]]:
    async with opened("dict://", model=model, hooks=hooks) as memory:
        yield memory.records


async def kept(records: Records[Any], id: str) -> Any:
    found = await records.get(id)
    assert found is not None
    return found.data


# ------------------------------------------------------------------------ in and out


@pytest.mark.rule("D-MEM-1")
@pytest.mark.parametrize(
    ("model", "data"),
    [
        (Customer, Customer(name="Mina", address=Address(city="서울"))),
        (Visit, VISIT),
        (Renamed, Renamed(displayName="x", n=3)),
        (Pair, Pair(1, datetime(2026, 1, 1, tzinfo=UTC))),
        (Point, {"x": 1, "y": 2}),
        (list[int], [1, 2, 3]),
        (list[Customer], [Customer(name="Mina"), Customer(name="Minji")]),
        (Customer | Visit, VISIT),
        (dict[str, datetime], {"a": datetime(2026, 1, 1, tzinfo=UTC)}),
        (int, 7),
        (str, "text"),
    ],
    ids=[
        "model",
        "strict_model",
        "model_with_aliases",
        "dataclass",
        "typed_dict",
        "list",
        "list_of_models",
        "union_of_models",
        "dict_of_times",
        "int",
        "str",
    ],
)
async def test_a_model_goes_in_and_comes_out(model: Any, data: Any) -> None:
    async with records_of(model) as records:
        id = await records.create(MemoryRecordInput(data=data))

        found = await kept(records, id)
        [queried] = await records.query(MemoryFilter())
        [streamed] = [record async for record in records.stream(MemoryFilter())]

    assert found == queried.data == streamed.data == data
    assert type(found) is type(data)


@pytest.mark.rule("D-MEM-1")
async def test_a_mapping_is_accepted_as_the_model_that_it_describes() -> None:
    async with records_of(Customer) as records:
        given: Any = {"name": "Mina", "address": {"city": "서울"}}
        id = await records.create(MemoryRecordInput(data=given))

        assert await kept(records, id) == Customer(name="Mina", address=Address(city="서울"))


async def test_a_mapping_may_name_fields_by_alias_or_by_name() -> None:
    async with records_of(Renamed) as records:
        first = await records.create(MemoryRecordInput(data={"displayName": "x", "n": 1}))
        second = await records.create(MemoryRecordInput(data={"display_name": "x", "count": 1}))

        assert await kept(records, first) == await kept(records, second)


@pytest.mark.rule("D-MEM-1")
@pytest.mark.parametrize(
    ("data", "where"),
    [
        ({}, "$.data.name"),
        ({"name": 7}, "$.data.name"),
        ({"name": "Mina", "address": {}}, "$.data.address.city"),
        ({"name": "Mina", "age": 3}, "$.data.age"),
        (Address(city="서울"), "$.data"),
        ("text", "$.data"),
        (None, "$.data"),
    ],
    ids=repr,
)
async def test_what_is_no_such_model_is_refused(data: Any, where: str) -> None:
    async with records_of(Customer) as records:
        with pytest.raises((InvalidRecord, InvalidJson)) as caught:
            await records.create(MemoryRecordInput(data=data))

        assert vars(caught.value)["where"] == where
        assert await records.query(MemoryFilter()) == []


@pytest.mark.rule("D-MEM-1")
async def test_a_mapping_with_a_value_outside_json_is_refused_with_its_path() -> None:
    async with records_of(Customer) as records:
        with pytest.raises(InvalidJson) as caught:
            await records.create(MemoryRecordInput(data={"name": "Mina", "visits": [nan]}))

    assert caught.value.where == "$.data.visits[0]"


@pytest.mark.rule("D-MEM-1")
async def test_a_model_that_could_not_be_read_back_is_refused_when_it_is_written() -> None:
    async with records_of(OneWay) as records:
        with pytest.raises(InvalidRecord):
            await records.create(MemoryRecordInput(data=OneWay(inside=1)))

        assert await records.query(MemoryFilter()) == []


# ----------------------------------------------------------------------------- patches


@pytest.mark.rule("D-MEM-1", "MEM-PATCH-1")
async def test_a_patch_may_be_a_mapping_or_a_model() -> None:
    async with records_of(Customer) as records:
        id = await records.create(MemoryRecordInput(data=Customer(name="Mina", visits=3)))

        await records.update(id, {"address": {"city": "서울"}})
        await records.update(id, Customer(name="Minji"))  # visits was not set: it stays

        assert await kept(records, id) == Customer(
            name="Minji", visits=3, address=Address(city="서울")
        )


@pytest.mark.rule("MEM-PATCH-1")
@pytest.mark.parametrize(
    "patch",
    [{"visits": "many"}, {"name": None}, {"age": 3}, {"address": {}}, "text", None, [1]],
    ids=repr,
)
async def test_a_patch_after_which_it_is_no_such_model_changes_nothing(patch: Any) -> None:
    async with records_of(Customer) as records:
        id = await records.create(MemoryRecordInput(data=Customer(name="Mina", visits=3)))

        with pytest.raises(InvalidPatch) as caught:
            await records.update(id, patch)

        assert caught.value.id == id
        assert await kept(records, id) == Customer(name="Mina", visits=3)
        assert await records.version(id) == 1


async def test_a_patch_of_a_strict_model_is_read_as_json() -> None:
    async with records_of(Visit) as records:
        id = await records.create(MemoryRecordInput(data=VISIT))

        await records.update(id, {"at": "2027-01-01T00:00:00Z", "price": "1.5"})

        changed = {"at": datetime(2027, 1, 1, tzinfo=UTC), "price": Decimal("1.5")}
        assert await kept(records, id) == VISIT.model_copy(update=changed)


@pytest.mark.rule("MEM-PATCH-1")
@pytest.mark.parametrize(
    "patch", [{"displayName": "new"}, {"display_name": "new"}, Renamed(displayName="new")], ids=repr
)
async def test_a_patch_by_alias_or_by_name_is_never_lost(patch: Any) -> None:
    async with records_of(Renamed) as records:
        id = await records.create(MemoryRecordInput(data=Renamed(displayName="old", n=3)))

        await records.update(id, patch)

        assert await kept(records, id) == Renamed(displayName="new", n=3)


# ------------------------------------------------------------------------------- hooks


@pytest.mark.rule("MEM-HOOK-1")
async def test_hooks_hear_models() -> None:
    heard: list[Any] = []
    hooks: MemoryHooks[Customer] = MemoryHooks(
        on_created=lambda record: heard.append(record.data),
        on_updated=lambda _id, before, after: heard.append((before, after)),
        on_queried=lambda _filter, found: heard.append([record.data for record in found]),
        on_deleted=lambda _id, record: heard.append(record.data),
    )
    before, after = Customer(name="Mina"), Customer(name="Mina", visits=1)

    async with records_of(Customer, hooks) as records:
        id = await records.create(MemoryRecordInput(data=before))
        await records.update(id, {"visits": 1})
        await records.query(MemoryFilter())
        await records.delete(id)

    assert heard == [before, (before, after), [after], after]
