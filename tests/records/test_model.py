"""The record that is given and the record that is kept."""

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from memoranda.kernel.errors import InvalidRecord
from memoranda.kernel.json import MAX_INTEGER
from memoranda.records.model import MemoryRecordInput, StoredMemoryRecord
from memoranda.records.store import Capabilities, Capability, MemoryHooks

WIRE = {
    "id": "one",
    "data": {"a": 1},
    "createdAt": 1,
    "updatedAt": 2,
    "tags": ["x", "y"],
    "meta": {"m": None},
}


@pytest.mark.rule("D-MEM-REC")
def test_a_record_that_is_given_has_the_seeds_names_on_the_wire() -> None:
    given = MemoryRecordInput[Any].model_validate(WIRE)

    assert given == MemoryRecordInput[Any](
        id="one",
        data={"a": 1},
        created_at=1,
        updated_at=2,
        tags=["x", "y"],
        meta={"m": None},
    )
    assert given.model_dump(mode="json") == WIRE
    assert MemoryRecordInput[Any].model_validate_json(given.model_dump_json()) == given


@pytest.mark.rule("D-MEM-REC")
def test_everything_but_data_is_optional() -> None:
    given = MemoryRecordInput(data=None)

    assert (given.id, given.created_at, given.updated_at, given.tags, given.meta) == (None,) * 5
    with pytest.raises(InvalidRecord) as caught:
        MemoryRecordInput.model_validate({})
    assert caught.value.where == "$.data"


@pytest.mark.rule("D-MEM-REC")
@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"id": ""}, "$.id"),
        ({"id": "x" * 513}, "$.id"),
        ({"id": "a\x00"}, "$.id"),
        ({"id": "\ud800"}, "$.id"),
        ({"id": 7}, "$.id"),
        ({"createdAt": 1.5}, "$.createdAt"),
        ({"createdAt": "1"}, "$.createdAt"),
        ({"createdAt": True}, "$.createdAt"),
        ({"updatedAt": MAX_INTEGER + 1}, "$.updatedAt"),
        ({"updatedAt": -MAX_INTEGER - 1}, "$.updatedAt"),
        ({"tags": "abc"}, "$.tags"),
        ({"tags": ["x", ""]}, "$.tags[1]"),
        ({"tags": ["x" * 257]}, "$.tags[0]"),
        ({"tags": ["\x00"]}, "$.tags[0]"),
        ({"tags": [None]}, "$.tags[0]"),
        ({"meta": []}, "$.meta"),
        ({"created": 1}, "$.created"),
        ({"version": 1}, "$.version"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_record_of_the_wrong_shape_is_refused_with_its_place(
    wrong: dict[str, Any], where: str
) -> None:
    with pytest.raises(InvalidRecord) as caught:
        MemoryRecordInput.model_validate({"data": None, **wrong})

    assert caught.value.code == "input.record"
    assert caught.value.where == where


@pytest.mark.rule("D-MEM-REC")
def test_the_longest_id_and_tag_are_accepted() -> None:
    given = MemoryRecordInput(data=None, id="글" * 512, tags=["🦜" * 256])

    assert given.id == "글" * 512
    assert given.tags == ("🦜" * 256,)


@pytest.mark.rule("D-MEM-REC")
def test_both_kinds_of_record_are_immutable() -> None:
    given = MemoryRecordInput(data=1, tags=["x"])
    stored = StoredMemoryRecord("one", 1, 1, 1)

    with pytest.raises(ValueError, match="frozen"):
        given.data = 2
    with pytest.raises(FrozenInstanceError):
        stored.data = 2  # type: ignore[misc]
    assert given.tags == ("x",)


@pytest.mark.rule("D-MEM-REC", "MEM-REC-1", "MEM-REC-2")
def test_a_stored_record_has_the_seeds_names_on_the_wire() -> None:
    stored = StoredMemoryRecord("one", {"a": 1}, 1, 2, ("x", "y"), {"m": None})

    assert stored.to_wire() == WIRE
    assert MemoryRecordInput[Any].model_validate(stored.to_wire()).model_dump(mode="json") == WIRE


@pytest.mark.rule("D-MEM-REC")
def test_what_is_absent_is_left_off_the_wire_and_what_is_empty_is_not() -> None:
    assert StoredMemoryRecord("one", None, 1, 2).to_wire() == {
        "id": "one",
        "data": None,
        "createdAt": 1,
        "updatedAt": 2,
    }
    empty = StoredMemoryRecord("one", None, 1, 2, (), {}).to_wire()
    assert (empty["tags"], empty["meta"]) == ([], {})


@pytest.mark.rule("D-MEM-REC")
def test_the_wire_form_of_a_record_is_a_copy() -> None:
    stored = StoredMemoryRecord("one", None, 1, 2, ("x",), {"m": 1})

    wire: dict[str, Any] = stored.to_wire()
    wire["tags"].append("y")
    wire["meta"]["n"] = 2

    assert stored == StoredMemoryRecord("one", None, 1, 2, ("x",), {"m": 1})


@pytest.mark.rule("D-MEM-1")
@pytest.mark.parametrize("kind", [MemoryHooks, StoredMemoryRecord], ids=repr)
def test_a_generic_type_may_be_made_under_its_full_name(kind: Any) -> None:
    members: dict[Any, list[Any]] = {
        MemoryHooks: [],
        StoredMemoryRecord: ["one", 1, 1, 1],
    }

    assert isinstance(kind[int](*members[kind]), kind)


@pytest.mark.rule("D-MEM-1")
def test_capabilities_say_what_is_in_them() -> None:
    capabilities = Capabilities(frozenset({Capability.CRUD}))

    assert Capability.CRUD in capabilities
    assert Capability.CLEAR not in capabilities
    assert capabilities.filter_keys == frozenset()
