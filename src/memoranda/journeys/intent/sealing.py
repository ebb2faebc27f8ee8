"""Sealing: what an execution came to becomes a world, in one transaction.

World, edge, snapshot, execution and status land together, or none of them does. The head of the
branch moves only when the run was completed, and only from the world that the run started from.
What several runs reach is one world; each of them has its own execution and edge.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memoranda.identity import canonical_bytes
from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.chronicle import Chronicle, Head
from memoranda.journeys.intent.executing import with_app_input
from memoranda.journeys.intent.snapshots import Kept, Parts, kept_as, parts_of
from memoranda.journeys.intent.surroundings import Live
from memoranda.kernel.errors import MarkMoved
from memoranda.kernel.ids import IdSource
from memoranda.kernel.json import JsonValue
from memoranda.ledger.fact import Fact
from memoranda.ledger.unit import Expected
from memoranda.worlds.hashing import snapshot_hash, world_id
from memoranda.worlds.host import HostExecutionResult, derive_outcome
from memoranda.worlds.proposal import Proposal
from memoranda.worlds.snapshot import Snapshot
from memoranda.worlds.values import Outcome
from memoranda.worlds.world import World, WorldEdge


class Ending(NamedTuple):
    """How an execution ended, as it is written."""

    outcome: Outcome
    world: str
    seq: int
    kept: Kept
    terminal: Snapshot


class Sealing(NamedTuple):
    """How an execution ends, before it is written."""

    outcome: Outcome
    world: World
    fact: Fact
    parts: Parts
    canonical: bytes
    terminal: Snapshot

    def facts(self, *, is_known: bool) -> list[Fact]:
        """What is to be written: the world only where it is new."""
        return [self.fact] if is_known else [documents.sealed_world(self.world), self.fact]

    def ended(self, seq: int) -> Ending:
        """The same, written as this entry."""
        on = tuple(self.fact.says["snapshot"].get("on", ()))
        kept = Kept(self.parts, self.canonical, seq, on)
        return Ending(self.outcome, self.world.world_id, seq, kept, self.terminal)


class Sealer:
    """Seals the executions of one scope under one schema."""

    def __init__(self, chronicle: Chronicle, schema_hash: str, ids: IdSource) -> None:
        self._chronicle = chronicle
        self._schema_hash = schema_hash
        self._ids = ids

    def sealing(
        self,
        proposal: Proposal,
        head: Head,
        base: Kept | None,
        frozen: Mapping[str, JsonValue],
        result: HostExecutionResult,
        *,
        decision_id: str,
        approved_at: int | None,
        at: int,
    ) -> Sealing:
        """How an execution ends.

        1. what was frozen stands in the terminal snapshot's input, whatever the host left there
        2. the id of the world follows from the schema and the snapshot
        3. the snapshot is kept by what changed
        """
        # 1.
        wire = result.terminal_snapshot.to_wire()
        given = wire.get("input")
        left = wire["input"] = frozen if given is frozen else with_app_input(given, frozen["$app"])
        # 2.
        outcome = derive_outcome(result.terminal_snapshot)
        parts = parts_of(wire)
        hash_ = snapshot_hash(parts)
        world = World(
            world_id=world_id(self._schema_hash, hash_),
            schema_hash=self._schema_hash,
            snapshot_hash=hash_,
            created_at=at,
            created_by=proposal.proposal_id,
        )
        # 3.
        canonical = canonical_bytes(parts)
        edge = WorldEdge(
            edge_id=f"edge-{self._ids.new_id()}",
            from_world=head.world,
            to_world=world.world_id,
            proposal_id=proposal.proposal_id,
            decision_id=decision_id,
            created_at=at,
        )
        fact = documents.sealed(
            execution_key=proposal.execution_key,
            proposal_id=proposal.proposal_id,
            branch=head.branch,
            outcome=outcome,
            schema_hash=self._schema_hash,
            edge=edge,
            snapshot=kept_as(parts, canonical, base),
            approved_at=approved_at,
            completed_at=at,
            input=None if _is_same(left, frozen) else left,
            trace_ref=None if result.trace_ref is None else result.trace_ref.to_wire(),
        )
        return Sealing(outcome, world, fact, parts, canonical, Snapshot.known(wire))

    async def seal(
        self,
        sealing: Sealing,
        head: Head,
        live: Live,
        *,
        actor: str,
        at: int,
        sources: Sequence[str],
    ) -> Ending:
        """Write how it ended; MarkMoved if the branch's head is not where it started any more."""
        while True:
            expected, is_known = await self._chronicle.expected(sealing.world.world_id)
            expects = [*live.expects, expected]
            if sealing.outcome == "completed":
                expects.append(Expected(names.branch(head.branch), head.fact.seq))
            try:
                committed = await self._chronicle.commit(
                    [*live.unwritten(), *self._chronicle.drafts(sealing.facts(is_known=is_known))],
                    actor=actor,
                    at=at,
                    expects=expects,
                    sources=() if live.has_begun else sources,
                )
            except MarkMoved as moved:
                if moved.name != expected.name:
                    raise
            else:
                ending = sealing.ended(committed.places[-1].seq)
                self._chronicle.sealed(ending.kept)
                return ending


def _is_same(left: Mapping[str, JsonValue], frozen: Mapping[str, JsonValue]) -> bool:
    """Whether two inputs are the same JSON, in which true is not 1."""
    return left is frozen or canonical_bytes(left) == canonical_bytes(frozen)
