"""A snapshot is strict, closed, taken by value, and knows absent from null."""

from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import InvalidWorld
from memoranda.worlds.snapshot import (
    ErrorValue,
    Requirement,
    Snapshot,
    SnapshotMeta,
    initial_snapshot,
)
from tests.worlds.making import SCHEMA, T0, error, json_values, requirement, snapshot, system


@pytest.mark.rule("APP-INPUT-3")
def test_meta_has_exactly_four_members() -> None:
    meta = snapshot()["meta"]

    assert set(SnapshotMeta.from_wire(meta).to_wire()) == {
        "version",
        "timestamp",
        "randomSeed",
        "schemaHash",
    }
    with pytest.raises(InvalidWorld) as caught:
        Snapshot.from_wire(snapshot(meta={**meta, "memoryRecallFailed": True}))
    assert caught.value.code == "input.world"
    assert caught.value.where == "$.memoryRecallFailed"


@pytest.mark.parametrize("member", ["version", "timestamp", "randomSeed", "schemaHash"])
def test_no_member_of_meta_may_be_left_out(member: str) -> None:
    meta = snapshot()["meta"]
    del meta[member]

    with pytest.raises(InvalidWorld):
        Snapshot.from_wire(snapshot(meta=meta))


@given(json_values, json_values)
def test_what_is_written_reads_back_as_the_same(data: Any, given_input: Any) -> None:
    failed = system(
        status="error",
        lastError=error(context={"a": [1]}),
        errors=[error(), error(code="b")],
        pendingRequirements=[requirement("r-1")],
    )
    wire = snapshot(data=data, input=given_input, system=failed)

    read = Snapshot.from_wire(wire)

    assert canonical_bytes(read.to_wire()) == canonical_bytes(wire) == read.canonical()
    assert Snapshot.from_wire(read.to_wire()) == read
    assert hash(Snapshot.from_wire(read.to_wire())) == hash(read)


def test_an_absent_input_and_a_null_input_are_two_snapshots() -> None:
    absent, null = Snapshot.from_wire(snapshot()), Snapshot.from_wire(snapshot(input=None))

    assert "input" not in absent.to_wire()
    assert null.to_wire()["input"] is None
    assert absent != null
    assert absent.canonical() != null.canonical()


def test_what_may_be_null_stays_and_what_is_optional_is_left_out() -> None:
    wire = Snapshot.from_wire(snapshot(system=system(errors=[error()]))).to_wire()

    assert wire["system"]["lastError"] is None
    assert wire["system"]["currentAction"] is None
    assert "context" not in wire["system"]["errors"][0]


def test_true_and_one_are_two_snapshots() -> None:
    assert Snapshot.from_wire(snapshot(data=1)) != Snapshot.from_wire(snapshot(data=True))
    assert Snapshot.from_wire(snapshot(data=1)) == Snapshot.from_wire(snapshot(data=1.0))
    assert Snapshot.from_wire(snapshot()) != snapshot()


def test_what_its_giver_does_later_never_reaches_it() -> None:
    given_data: dict[str, Any] = {"tags": ["a"]}
    taken = Snapshot.from_wire(snapshot(data=given_data, input=given_data))

    given_data["tags"].append("b")

    assert taken.data == taken.input == {"tags": ["a"]}


def test_nothing_can_be_assigned_to_it() -> None:
    with pytest.raises(ValidationError):
        Snapshot.from_wire(snapshot()).data = {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"data": {"a": float("nan")}},
        {"data": {"a": {1, 2}}},
        {"computed": []},
        {"memory": {}},
        {"system": system(status="busy")},
        {"system": system(lastError="no")},
        {"system": system(extra=1)},
        {"meta": {"version": "3", "timestamp": 1, "randomSeed": "", "schemaHash": "h"}},
        {"meta": {"version": -1, "timestamp": 1, "randomSeed": "", "schemaHash": "h"}},
        {"meta": {"version": 3, "timestamp": 1, "random_seed": "", "schemaHash": "h"}},
    ],
)
def test_what_is_no_snapshot_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidWorld) as caught:
        Snapshot.from_wire(snapshot(**wrong))

    assert caught.value.code == "input.world"


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(InvalidWorld):
        Snapshot.from_wire([])  # type: ignore[arg-type]


def test_errors_and_requirements_have_the_documents_members() -> None:
    assert ErrorValue.from_wire(error()).to_wire() == error()
    assert Requirement.from_wire(requirement("r")).to_wire() == requirement("r")


def test_the_first_snapshot_has_version_0_and_no_input() -> None:
    first = initial_snapshot({"a": 1}, SCHEMA, now=T0, random_seed="s")

    meta = {"version": 0, "timestamp": T0, "randomSeed": "s", "schemaHash": SCHEMA}
    assert first.to_wire() == {"data": {"a": 1}, "computed": {}, "system": system(), "meta": meta}
