"""Worlds of operations on memory: each approved operation leads to one, on a branch of its own.

The branch ``system`` has a schema of its own; its state says which operation was the last.
"""

from collections.abc import Sequence
from typing import Final

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.branching import SYSTEM
from memoranda.journeys.intent.chronicle import Chronicle, Head
from memoranda.journeys.intent.executing import failed
from memoranda.journeys.intent.recalling import NOTHING, Recalled
from memoranda.journeys.intent.runtime import Genesis
from memoranda.journeys.intent.sealing import Sealer
from memoranda.kernel.clock import Clock
from memoranda.kernel.ids import IdSource
from memoranda.kernel.json import JsonValue
from memoranda.ledger.fact import Fact
from memoranda.ledger.unit import Draft, Expected
from memoranda.recall.freeze import freeze_memory_context
from memoranda.worlds.host import HostExecutionResult
from memoranda.worlds.intent import to_host_intent
from memoranda.worlds.proposal import Proposal
from memoranda.worlds.snapshot import Snapshot

BRANCH: Final = SYSTEM
SCHEMA_HASH: Final = sha256_hex(canonical_bytes({"form": "memoranda/memory-operations/1"}))
GENESIS: Final = Genesis(SCHEMA_HASH, {"last": None}, {})
"""What the branch begins with; nothing is executed on it but operations that were approved."""
_CHANGED: Final = "memory.changed"


class OperationSealer:
    """Says what an approved operation came to, as facts of one scope's worlds."""

    def __init__(self, chronicle: Chronicle, clock: Clock, ids: IdSource) -> None:
        self._chronicle = chronicle
        self._clock = clock
        self._sealer = Sealer(chronicle, SCHEMA_HASH, ids)

    async def sealed(
        self,
        proposal: Proposal,
        head: Head,
        ids: Sequence[str],
        *,
        decision_id: str,
        approved_at: int | None = None,
        failure: str | None = None,
    ) -> tuple[list[Draft], Expected]:
        """The execution and its world, and what must still hold of that world to write them.

        `ids` are the records that it changed; `failure` says why it changed none. `approved_at` is
        the entry by which it was waiting to be carried out, if it was.
        """
        at = self._clock.now_ms()
        base = await self._chronicle.kept(head.fact)
        intent = to_host_intent(proposal.intent)
        before = Snapshot.known({**base.parts, "input": {}})
        frozen = freeze_memory_context(before, NOTHING)
        if failure is None:
            last = {
                "operation": intent.type,
                "ids": sorted(set(ids)),
                "proposalId": proposal.proposal_id,
            }
            result = _done(frozen, {"last": last}, at, intent.intent_id)
        else:
            result = failed(frozen, intent, _CHANGED, failure, now=at, schema_hash=SCHEMA_HASH)
        begun = _begun(proposal, head, frozen, at)
        sealing = self._sealer.sealing(
            proposal,
            head,
            None,  # whole, and so independent of other operations, which may be erased
            frozen.input,
            result,
            decision_id=decision_id,
            approved_at=approved_at,
            at=at,
        )
        expected, is_known = await self._chronicle.expected(sealing.world.world_id)
        facts = self._chronicle.drafts([begun, *sealing.facts(is_known=is_known)])
        return facts, expected


def _begun(proposal: Proposal, head: Head, frozen: Snapshot, at: int) -> Fact:
    return documents.begun(
        execution_key=proposal.execution_key,
        proposal_id=proposal.proposal_id,
        branch=BRANCH,
        base=head.world,
        parent=head.fact.seq,
        schema_hash=SCHEMA_HASH,
        now=at,
        random_seed=proposal.intent.intent_id,
        input=frozen.input,
        recall=Recalled("none", NOTHING).to_wire(),
        sources=(),
        made_from=names.branches(BRANCH),
    )


def _done(frozen: Snapshot, data: JsonValue, at: int, seed: str) -> HostExecutionResult:
    wire = frozen.to_wire()
    wire["data"] = data
    meta = frozen.meta
    wire["meta"] = {**meta.to_wire(), "version": meta.version + 1, "timestamp": at,
                    "randomSeed": seed}  # fmt: skip
    return HostExecutionResult(outcome="completed", terminal_snapshot=Snapshot.from_wire(wire))
