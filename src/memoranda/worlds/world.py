"""Worlds, the edges between them, and the branches that point at them.

A World record holds no snapshot, parent, intent or memory (MEM-CTX-1): its id is the hash of what
it is (WORLD-ID). Several runs may reach one world; each has its own edge.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from memoranda.kernel.errors import InvalidWorld
from memoranda.worlds.snapshot import (
    Id,
    Milliseconds,
    Name,
    Snapshot,
    WorldModel,
    snapshot_hash,
    world_id,
)

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
            raise InvalidWorld("$.worlds", "an entry is stored under an id that is not its own")
        if any(name != edge.edge_id for name, edge in self.edges.items()):
            raise InvalidWorld("$.edges", "an entry is stored under an id that is not its own")
        ends = {end for edge in self.edges.values() for end in (edge.from_world, edge.to_world)}
        if not ends <= self.worlds.keys():
            raise InvalidWorld("$.edges", "one ends at a world that is not among the worlds")
        return self


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


# ------------------------------------------------------------------------- lineage

# How worlds come of each other: pure questions about their edges.
#
# A world may have several parents, be its own, or be reached again from what came of it: content is
# identity, so runs that lead back to a state lead back to its world. Every answer is total, stable
# in the order of the edges, and ends.


class Lineage:
    """The worlds of some edges, to be asked about; worlds without an edge are simply alone."""

    def __init__(self, genesis: str, edges: Iterable[WorldEdge]) -> None:
        self.genesis = genesis
        self._parents: dict[str, dict[str, None]] = {}
        self._children: dict[str, dict[str, None]] = {}
        for edge in edges:
            self._parents.setdefault(edge.to_world, {})[edge.from_world] = None
            self._children.setdefault(edge.from_world, {})[edge.to_world] = None

    @classmethod
    def of(cls, lineage: WorldLineage) -> Self:
        """The same of a lineage that was written down."""
        return cls(lineage.genesis, lineage.edges.values())

    def parents(self, world: str) -> list[str]:
        """The worlds from which a run led here, each once; itself, where a run changed nothing."""
        return [*self._parents.get(world, ())]

    def children(self, world: str) -> list[str]:
        """The worlds to which a run led from here, each once."""
        return [*self._children.get(world, ())]

    def ancestors(self, world: str) -> list[str]:
        """All worlds that led here, the nearest first; never the world itself."""
        return [found for found, _ in _nearest_first(world, self._parents)][1:]

    def descendants(self, world: str) -> list[str]:
        """All worlds that came of this one, the nearest first; never the world itself."""
        return [found for found, _ in _nearest_first(world, self._children)][1:]

    def is_leaf(self, world: str) -> bool:
        """Whether no run led from here to another world."""
        return all(child == world for child in self._children.get(world, ()))

    def depth(self, world: str) -> int | None:
        """How many runs it takes from the genesis, at the least; None where none lead here."""
        return next(
            (
                steps
                for found, steps in _nearest_first(self.genesis, self._children)
                if found == world
            ),
            None,
        )

    def path(self, start: str, end: str) -> list[str] | None:
        """A shortest way along the runs, both ends included; None where there is none."""
        came_from: dict[str, str | None] = {start: None}
        waiting = deque([start])
        while waiting and end not in came_from:
            at = waiting.popleft()
            for child in self._children.get(at, ()):
                if child not in came_from:
                    came_from[child] = at
                    waiting.append(child)
        if end not in came_from:
            return None
        way: list[str] = []
        step: str | None = end
        while step is not None:
            way.append(step)
            step = came_from[step]
        return way[::-1]

    def common_ancestor(self, text: str, other: str) -> str | None:
        """The world nearest to both that led to both, or is one of them; ties by id."""
        from_one = dict(_nearest_first(text, self._parents))
        shared = [
            (from_one[found] + steps, found)
            for found, steps in _nearest_first(other, self._parents)
            if found in from_one
        ]
        return min(shared)[1] if shared else None


def _nearest_first(start: str, ways: Mapping[str, Mapping[str, None]]) -> Iterator[tuple[str, int]]:
    """A world and all that can be reached from it, with the steps it takes, each once."""
    seen = {start}
    waiting = deque([(start, 0)])
    while waiting:
        at, steps = waiting.popleft()
        yield at, steps
        for found in ways.get(at, ()):
            if found not in seen:
                seen.add(found)
                waiting.append((found, steps + 1))
