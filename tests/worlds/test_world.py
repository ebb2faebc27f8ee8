"""Worlds are named by what they are, and hold nothing else."""

from typing import Any

import pytest

from memoranda.kernel.errors import InvalidWorld
from memoranda.worlds.snapshot import Snapshot, snapshot_hash, world_id
from memoranda.worlds.world import (
    ArtifactRef,
    World,
    WorldEdge,
    WorldLineage,
    sealed,
)
from tests.worlds.making import SCHEMA, T0, snapshot

SNAPSHOT = Snapshot.from_wire(snapshot())


def world(count: int = 1) -> World:
    of = Snapshot.from_wire(snapshot(data={"count": count}))
    return sealed(of, created_at=T0, created_by="prop-1")


def edge(number: int, start: World, end: World) -> WorldEdge:
    return WorldEdge(
        edge_id=f"edge-{number}",
        from_world=start.world_id,
        to_world=end.world_id,
        proposal_id="prop-1",
        decision_id="dec-1",
        created_at=T0,
    )


@pytest.mark.rule("WORLD-ID")
def test_a_sealed_snapshot_is_named_by_its_hashes() -> None:
    ref = ArtifactRef(uri="trace:1", hash="h")

    made = sealed(SNAPSHOT, created_at=T0, created_by=None, execution_trace_ref=ref)

    content = snapshot_hash(SNAPSHOT)
    assert made.to_wire() == {
        "worldId": world_id(SCHEMA, content),
        "schemaHash": SCHEMA,
        "snapshotHash": content,
        "createdAt": T0,
        "createdBy": None,
        "executionTraceRef": {"uri": "trace:1", "hash": "h"},
    }
    assert World.from_wire(made.to_wire()) == made


@pytest.mark.rule("WORLD-ID")
def test_a_world_under_another_id_than_its_own_is_refused() -> None:
    with pytest.raises(InvalidWorld):
        World.from_wire({**world().to_wire(), "worldId": "0" * 64})


@pytest.mark.rule("MEM-CTX-1")
@pytest.mark.parametrize("member", ["memoryContext", "input", "snapshot", "parent", "executionKey"])
def test_a_world_record_has_no_room_for_memory_or_input(member: str) -> None:
    with pytest.raises(InvalidWorld):
        World.from_wire({**world().to_wire(), member: None})


@pytest.mark.rule("MEM-CTX-1")
def test_the_memory_that_a_run_used_is_not_in_its_world() -> None:
    remembered = {"$app": {"memoryContext": {"secret": 1}, "memoryRecallFailed": False}}
    other = Snapshot.from_wire(snapshot(input=remembered))

    assert sealed(other, created_at=T0, created_by="p") == sealed(
        SNAPSHOT, created_at=T0, created_by="p"
    )


def test_an_edge_says_from_where_to_where() -> None:
    one, two = world(1), world(2)

    wire = edge(1, one, two).to_wire()

    assert wire == {
        "edgeId": "edge-1",
        "from": one.world_id,
        "to": two.world_id,
        "proposalId": "prop-1",
        "decisionId": "dec-1",
        "createdAt": T0,
    }
    assert WorldEdge.from_wire(wire) == edge(1, one, two)
    assert edge(2, one, one).from_world == edge(2, one, one).to_world


def test_a_lineage_is_whole_or_refused() -> None:
    one, two = world(1), world(2)
    wire: dict[str, Any] = {
        "genesis": one.world_id,
        "worlds": {each.world_id: each.to_wire() for each in (one, two)},
        "edges": {"edge-1": edge(1, one, two).to_wire()},
    }

    assert WorldLineage.from_wire(wire).to_wire() == wire
    for wrong in (
        {"genesis": "nowhere"},
        {"worlds": {one.world_id: one.to_wire()}},
        {"worlds": {one.world_id: one.to_wire(), "other": two.to_wire()}},
        {"edges": {"other": edge(1, one, two).to_wire()}},
    ):
        with pytest.raises(InvalidWorld):
            WorldLineage.from_wire({**wire, **wrong})
