"""Hash inputs and ids: equal to the vectors, blind to what is no part of identity."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.kernel.errors import InvalidJson, InvalidWorld
from memoranda.worlds.snapshot import Snapshot, hash_input, snapshot_hash, world_id
from tests.worlds.making import (
    SCHEMA,
    error,
    json_objects,
    json_values,
    keys,
    requirement,
    snapshot,
    system,
    vectors,
)

VECTORS = vectors("snapshot-hash")["vectors"]


def shuffled(value: Any) -> Any:
    """The same value with the members of every object in the opposite order."""
    if isinstance(value, dict):
        return {name: shuffled(value[name]) for name in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@pytest.mark.rule("WORLD-ID")
@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["name"]))
def test_hashes_and_ids_are_those_of_the_vectors(vector: dict[str, Any]) -> None:
    given_snapshot = vector["snapshot"]

    assert canonical_bytes(hash_input(given_snapshot)).decode() == vector["hashed"]
    assert snapshot_hash(given_snapshot) == vector["snapshotHash"]
    assert snapshot_hash(Snapshot.from_wire(given_snapshot)) == vector["snapshotHash"]
    assert world_id(vector["schemaHash"], vector["snapshotHash"]) == vector["worldId"]


@pytest.mark.rule("WORLD-ID")
@given(keys, keys)
def test_a_world_id_is_the_hash_of_schema_and_snapshot_with_a_colon(schema: str, of: str) -> None:
    assert world_id(schema, of) == sha256_hex(f"{schema}:{of}".encode())


@given(json_objects, json_values, json_objects, json_values)
def test_input_meta_computed_and_platform_members_change_nothing(
    data: dict[str, Any], given_input: Any, computed: dict[str, Any], platform: Any
) -> None:
    plain = snapshot_hash(snapshot(data=data))
    meta = {"version": 9, "timestamp": 1, "randomSeed": "z", "schemaHash": "other"}

    assert snapshot_hash(snapshot(data=data, input=given_input)) == plain
    assert snapshot_hash(snapshot(data=data, meta=meta)) == plain
    assert snapshot_hash(snapshot(data=data, computed=computed)) == plain
    assert snapshot_hash(snapshot(data={**data, "$app": platform, "$host": 1})) == plain


@given(json_objects, st.lists(st.sampled_from("abc"), max_size=4))
def test_the_order_of_members_errors_and_requirements_changes_nothing(
    data: dict[str, Any], codes: list[str]
) -> None:
    state = system(
        errors=[error(code) for code in codes], pendingRequirements=[*map(requirement, codes)]
    )
    other = {
        **state,
        "errors": state["errors"][::-1],
        "pendingRequirements": state["pendingRequirements"][::-1],
    }
    whole = snapshot(data=data, system=state)

    assert snapshot_hash(shuffled(whole)) == snapshot_hash(whole)
    assert snapshot_hash(snapshot(data=data, system=other)) == snapshot_hash(whole)


@given(json_objects, json_objects)
def test_other_data_has_another_hash(one: dict[str, Any], other: dict[str, Any]) -> None:
    def own(data: dict[str, Any]) -> bytes:
        return canonical_bytes({k: v for k, v in data.items() if not k.startswith("$")})

    same = snapshot_hash(snapshot(data=one)) == snapshot_hash(snapshot(data=other))

    assert same == (own(one) == own(other))


@pytest.mark.parametrize(
    "state",
    [
        system(lastError=error()),
        system(errors=[error()]),
        system(errors=[error(), error()]),
        system(errors=[error(code="b")]),
        system(errors=[error(action="b")]),
        system(pendingRequirements=[requirement("r-1")]),
        system(pendingRequirements=[requirement("r-2")]),
    ],
)
def test_errors_and_what_is_pending_change_the_hash(state: dict[str, Any]) -> None:
    others = [system(), system(lastError=error(), errors=[error(), error(), error()])]

    assert snapshot_hash(snapshot(system=state)) not in [
        snapshot_hash(snapshot(system=other)) for other in others
    ]


def test_an_errors_message_time_and_context_change_nothing() -> None:
    told = [error(message="other", timestamp=1, context={"a": 1})]

    assert snapshot_hash(snapshot(system=system(errors=told))) == snapshot_hash(
        snapshot(system=system(errors=[error()]))
    )


def test_what_is_pending_is_ordered_as_keys_are_in_canonical_json() -> None:
    emoji, tilde = "\U0001f600", "\uff5e"  # by code points, the other way round
    state = system(pendingRequirements=[requirement(tilde), requirement(emoji)])

    digest = sha256_hex(canonical_bytes({"pendingIds": [emoji, tilde]}))

    assert hash_input(snapshot(system=state))["system"]["pendingDigest"] == digest


def test_platform_members_deeper_down_belong_to_the_data() -> None:
    assert snapshot_hash(snapshot(data={"a": {"$app": 1}})) != snapshot_hash(
        snapshot(data={"a": {}})
    )


def test_null_data_and_absent_data_hash_as_an_empty_object() -> None:
    absent = snapshot()
    del absent["data"]

    assert (
        snapshot_hash(snapshot(data=None))
        == snapshot_hash(absent)
        == snapshot_hash(snapshot(data={}))
    )


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ([], "$"),
        ({"data": {}}, "$.system"),
        (snapshot(system={}), "$.system.lastError"),
        (snapshot(system=system(errors=None)), "$.system.errors"),
        (snapshot(system=system(errors=[{"code": "a"}])), "$.system.errors[0]"),
        (snapshot(system=system(errors=[None])), "$.system.errors[0]"),
        (
            snapshot(system=system(pendingRequirements=[{"id": 1}])),
            "$.system.pendingRequirements[0]",
        ),
    ],
)
def test_what_is_no_snapshot_has_no_hash(wrong: Any, where: str) -> None:
    with pytest.raises(InvalidWorld) as caught:
        snapshot_hash(wrong)

    assert caught.value.where == where


def test_data_that_is_not_json_has_no_hash() -> None:
    with pytest.raises(InvalidJson):
        snapshot_hash(snapshot(data={"a": float("nan")}))


def test_the_schema_is_part_of_the_id_and_not_of_the_hash() -> None:
    content = snapshot_hash(snapshot())

    assert world_id(SCHEMA, content) != world_id("other", content)
