"""Worlds, the edges between them, and the branches that point at them.

A World record holds no snapshot, parent, intent or memory (MEM-CTX-1): its id is the hash of what
it is (WORLD-ID). Several runs may reach one world; each has its own edge.
"""

from collections.abc import Iterable
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from memoranda.kernel.errors import InvalidWorld
from memoranda.worlds.hashing import snapshot_hash, world_id
from memoranda.worlds.snapshot import Snapshot
from memoranda.worlds.values import Id, Milliseconds, Name, WorldModel

MAIN: Final = "main"
"""The branch that is meant where none is named."""


class ArtifactRef(WorldModel):
    """Where something lies, and its hash; opaque to us."""

    uri: Name
    hash: Name


class World(WorldModel):
    """A sealed state, by its hashes; ``createdBy`` is null for a genesis only."""

    world_id: Id
    schema_hash: Id
    snapshot_hash: Id
    created_at: Milliseconds
    created_by: Id | None
    execution_trace_ref: ArtifactRef | None = None

    @model_validator(mode="after")
    def _is_named_by_its_hashes(self) -> Self:
        if self.world_id != world_id(self.schema_hash, self.snapshot_hash):
            raise InvalidWorld("$.worldId", "it is not the hash of schemaHash:snapshotHash")
        return self


class WorldEdge(WorldModel):
    """One run from one world to another; to the same one where it changed nothing."""

    edge_id: Id
    from_world: Annotated[Id, Field(alias="from")]
    to_world: Annotated[Id, Field(alias="to")]
    proposal_id: Id
    decision_id: Id
    created_at: Milliseconds


class WorldLineage(WorldModel):
    """All worlds that come of one genesis, and the runs between them, each under its id."""

    genesis: Id
    worlds: dict[str, World]
    edges: dict[str, WorldEdge]

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.genesis not in self.worlds:
            raise InvalidWorld("$.genesis", "it is not among the worlds")
        if any(name != world.world_id for name, world in self.worlds.items()):
            raise InvalidWorld("$.worlds", "one stands under another id than its own")
        if any(name != edge.edge_id for name, edge in self.edges.items()):
            raise InvalidWorld("$.edges", "one stands under another id than its own")
        ends = {end for edge in self.edges.values() for end in (edge.from_world, edge.to_world)}
        if not ends <= self.worlds.keys():
            raise InvalidWorld("$.edges", "one ends at a world that is not among the worlds")
        return self


class Branch(WorldModel):
    """A name for a sequence of runs; its head moves on completed ones only."""

    id: Id
    name: Name
    head: Id
    schema_hash: Id
    created_at: Milliseconds
    parent_branch: Id | None = None


class WorldHead(WorldModel):
    """The world that a branch points at."""

    world_id: Id
    branch_id: Id
    branch_name: Name
    created_at: Milliseconds
    schema_hash: Id


def sealed(
    snapshot: Snapshot,
    *,
    created_at: int,
    created_by: str | None,
    execution_trace_ref: ArtifactRef | None = None,
) -> World:
    """The World record of a terminal snapshot, in the domain that its meta names (WORLD-ID)."""
    schema, content = snapshot.meta.schema_hash, snapshot_hash(snapshot)
    return World(
        world_id=world_id(schema, content),
        schema_hash=schema,
        snapshot_hash=content,
        created_at=created_at,
        created_by=created_by,
        execution_trace_ref=execution_trace_ref,
    )


def in_order(heads: Iterable[WorldHead]) -> list[WorldHead]:
    """Heads as they are listed: the newest first, ties by world, then by branch."""
    return sorted(heads, key=lambda head: (-head.created_at, head.world_id, head.branch_id))
