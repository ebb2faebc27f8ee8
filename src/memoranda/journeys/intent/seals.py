"""Sealing: what an execution came to becomes a world, in one transaction.

World, edge, snapshot, execution and status land together, or none of them does. The head of the
branch moves only when the run was completed, and only from the world that the run started from.
What several runs reach is one world; each of them has its own execution and edge.
"""

from collections.abc import Mapping
from typing import NamedTuple

from memoranda.identity import canonical_bytes
from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.chronicle import Chronicle, Kept, Parts, kept_as, parts_of
from memoranda.journeys.intent.documents import LoggedHead
from memoranda.journeys.intent.execution import Live, with_app_input
from memoranda.kernel.clock import IdSource
from memoranda.kernel.errors import MarkMoved, WorldErased
from memoranda.kernel.json import JsonValue
from memoranda.ledger.fact import Fact
from memoranda.ledger.unit import Expected, Mark
from memoranda.worlds.host import HostExecutionResult, derive_outcome
from memoranda.worlds.proposal import Proposal
from memoranda.worlds.snapshot import Snapshot, snapshot_hash, world_id
from memoranda.worlds.values import Outcome


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
    world: documents.Document
    fact: Fact
    parts: Parts
    canonical: bytes
    terminal: Snapshot

    def facts(self, *, is_known: bool, approved_at: int | None) -> list[Fact]:
        """What is to be written: the world only where it is new.

        `approved_at` is the entry of the approval, which waits no longer for its run.
        """
        fact = self.fact
        if approved_at is not None:
            waits = names.running(fact.says["executionKey"])
            fact = fact._replace(unmarks=[Mark(waits, approved_at)])
        return [fact] if is_known else [documents.sealed_world(self.world), fact]

    def ended(self, seq: int) -> Ending:
        on = tuple(self.fact.says["snapshot"].get("on", ()))
        kept = Kept(self.parts, self.canonical, seq, on)
        return Ending(self.outcome, self.world["worldId"], seq, kept, self.terminal)


class Sealer:
    """Seals the executions of one scope under one schema."""

    def __init__(self, chronicle: Chronicle, schema_hash: str, ids: IdSource) -> None:
        self._chronicle = chronicle
        self._schema_hash = schema_hash
        self._ids = ids

    def sealing(
        self,
        proposal: Proposal,
        head: LoggedHead,
        base: Kept | None,
        frozen: Mapping[str, JsonValue],
        result: HostExecutionResult,
        *,
        decision_id: str,
        at: int,
    ) -> Sealing:
        """How an execution ends.

        1. what was frozen stands in the terminal snapshot's input, whatever the host left there
        2. the id of the world follows from the schema and the snapshot
        3. the snapshot is kept by what changed
        """
        # 1.
        terminal = result.terminal_snapshot
        wire = terminal.to_wire()
        left = wire.get("input")
        if left is not frozen:
            left = wire["input"] = with_app_input(left, frozen["$app"])
            terminal = Snapshot.known(wire)
        # 2.
        outcome = derive_outcome(terminal)
        parts = parts_of(wire)
        hash_ = snapshot_hash(parts)
        world: documents.Document = {
            "worldId": world_id(self._schema_hash, hash_),
            "schemaHash": self._schema_hash,
            "snapshotHash": hash_,
            "createdAt": at,
            "createdBy": proposal.proposal_id,
        }
        # 3.
        canonical = canonical_bytes(parts)
        edge: documents.Document = {
            "edgeId": f"edge-{self._ids.new_id()}",
            "from": head.world,
            "to": world["worldId"],
            "proposalId": proposal.proposal_id,
            "decisionId": decision_id,
            "createdAt": at,
        }
        fact = documents.sealed(
            execution_key=proposal.execution_key,
            proposal_id=proposal.proposal_id,
            branch=head.branch,
            outcome=outcome,
            schema_hash=self._schema_hash,
            edge=edge,
            snapshot=kept_as(parts, canonical, base),
            completed_at=at,
            input=None if _is_same(left, frozen) else left,
            trace_ref=None if result.trace_ref is None else result.trace_ref.to_wire(),
        )
        return Sealing(outcome, world, fact, parts, canonical, terminal)

    async def seal(
        self,
        sealing: Sealing,
        head: LoggedHead,
        live: Live,
        *,
        actor: str,
        at: int,
    ) -> Ending:
        """Write how it ended; MarkMoved if the branch's head is not where it started any more.

        1. its world is taken for a new one, unless it is the one that the run started from
        2. where it is not, what is known of it is read, and it is tried again
        3. a proposal that could not be written with the run is written by itself
        """
        world = sealing.world["worldId"]
        # 1.
        expected, is_known = Expected(names.world(world), None), False
        if world == head.world:
            expected, is_known = await self._chronicle.expected(world)
        while True:
            expects = [*live.expects, expected]
            facts = sealing.facts(is_known=is_known, approved_at=live.approved_at)
            if sealing.outcome == "completed":
                expects.append(Expected(names.branch(head.branch), head.fact.seq))
            try:
                committed = await self._chronicle.commit(
                    [*live.unwritten(), *self._chronicle.drafts(facts)],
                    actor=actor,
                    at=at,
                    expects=expects,
                    sources=live.sources,
                )
            except (MarkMoved, WorldErased) as refused:
                if isinstance(refused, MarkMoved) and refused.name == expected.name:
                    expected, is_known = await self._chronicle.expected(world)  # 2.
                elif live.submission is None:
                    raise
                else:
                    await live.submit()  # 3.
            else:
                if live.submission is not None:
                    live.submission.is_written = True
                ending = sealing.ended(committed.places[-1].seq)
                self._chronicle.sealed(ending.kept)
                return ending


def _is_same(left: Mapping[str, JsonValue], frozen: Mapping[str, JsonValue]) -> bool:
    """Whether two inputs are the same JSON, in which true is not 1."""
    return left is frozen or canonical_bytes(left) == canonical_bytes(frozen)
