"""A run in the journal: how it began, its effects, and how it ended.

An effect commits before it starts, with its name and its arguments' digest, and again with its
result. The result that the action gets is the one that was written, by value: a replay gets the
same. A run that is taken up again gets the results that were written before it died.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from memoranda.identity import canonical_bytes, freeze
from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.chronicle import Chronicle, Kept, Parts, kept_as, parts_of
from memoranda.journeys.intent.documents import FoundFact, LoggedHead, ProposalState
from memoranda.journeys.intent.execution import RecallResult
from memoranda.journeys.intent.proposals import Submission
from memoranda.kernel.clock import Clock, IdSource
from memoranda.kernel.errors import MarkMoved, WorldErased
from memoranda.kernel.json import JsonValue
from memoranda.ledger.fact import Fact
from memoranda.ledger.unit import Draft, Expected, Mark
from memoranda.worlds.host import (
    EffectError,
    EffectFailed,
    EffectRecord,
    HostExecutionResult,
    RecordedSurroundings,
    Stopped,
    arguments_digest,
    derive_outcome,
)
from memoranda.worlds.proposal import Proposal
from memoranda.worlds.snapshot import Outcome, Snapshot, snapshot_hash, world_id


class Beginning(NamedTuple):
    """How an execution begins, whether it was written already or not."""

    head: LoggedHead
    base: Kept
    now: int
    random_seed: str
    snapshot: Snapshot
    """The base with the input, and with what was recalled in it: what the host gets."""
    recall: RecallResult
    effects: Sequence[EffectRecord] = ()
    is_written: bool = False

    @property
    def is_unsure(self) -> bool:
        """Whether an effect was started and has no result."""
        return any(effect.result is None and effect.error is None for effect in self.effects)


class Live:
    """One execution's surroundings; what it has to commit goes through here, one by one.

    How it began is written with its first effect, if it is not written yet. `submission` is its
    proposal, if that is not written either: it is written before any effect, or else together with
    the seal. What it was made from must be there when its beginning is written; from then on it is
    erased with that.
    """

    def __init__(
        self,
        chronicle: Chronicle,
        clock: Clock,
        actor: str,
        schema_hash: str,
        standing: ProposalState,
        beginning: Beginning,
        submission: Submission | None,
    ) -> None:
        proposal_id, head = standing.proposal.proposal_id, beginning.head
        self.now = beginning.now
        self.random_seed = beginning.random_seed
        self.broken: Exception | None = None
        """Why an effect could not be journaled, if one could not: then nothing is sealed."""
        self.approved_at = standing.decision.seq if standing.decision else None
        """The entry of the approval, which waits for the seal; None while it is not written."""
        self.submission = submission
        self._chronicle = chronicle
        self._clock = clock
        self._actor = actor
        self._key = names.execution_key(proposal_id)
        self._begun: Draft | None = None
        if not beginning.is_written:
            fact = documents.begun(
                proposal_id,
                head,
                schema_hash=schema_hash,
                now=beginning.now,
                random_seed=beginning.random_seed,
                input=beginning.snapshot.input,
                recall=beginning.recall.to_wire(),
                sources=beginning.recall.sources,
            )
            (self._begun,) = chronicle.drafts([fact])
        self._last = standing.execution[-1].seq if standing.execution else None
        """The newest entry of this execution: when another one came, it was erased."""
        self._sources = beginning.recall.sources
        self._rests_on = [Expected(head.made_from, head.fact.seq)]
        if submission is None:
            self._rests_on.append(Expected(names.proposal(proposal_id), standing.newest))
        self._recorded = RecordedSurroundings(
            now=self.now, random_seed=self.random_seed, effects=beginning.effects
        )
        self._count = len(beginning.effects)
        self._lock = asyncio.Lock()
        self._landing: asyncio.Future[None] | None = None
        self._is_closed = False

    async def effect(
        self, name: str, arguments: JsonValue, call: Callable[[], Awaitable[JsonValue]]
    ) -> JsonValue:
        """Perform an effect, once and for all; what it raises is written and raised again."""
        self._check_open(name)
        digest = arguments_digest(name, arguments)
        known = self._recorded.take(name, digest)
        if known is not None:
            return known.answer()
        self._count += 1
        number = self._count
        await self._write(documents.effect_started(self._key, number, name, digest))
        try:
            result = freeze(await call())
        except EffectFailed as failed:
            said = {"error": {"type": failed.type, "message": failed.message}}
            await self._write(documents.effect_finished(self._key, number, name, said))
            raise
        said = {"result": result.thaw()}
        await self._write(documents.effect_finished(self._key, number, name, said))
        return result.thaw()

    @property
    def expects(self) -> list[Expected]:
        """What must be so when more is written: nothing came in between, nothing was erased."""
        newest = Expected(names.execution(self._key), self._last)
        if self.has_begun:
            return [newest]
        if self.submission is not None:  # nobody else knows of it
            return [*self._rests_on, *self.submission.request.rests_on]
        return [newest, *self._rests_on]

    @property
    def sources(self) -> Sequence[str]:
        """The memory that must still be there when more is written."""
        if self.has_begun:
            return ()
        requested = () if self.submission is None else self.submission.request.sources
        return (*self._sources, *requested)

    @property
    def has_begun(self) -> bool:
        return self._begun is None

    @property
    def unasked(self) -> str | None:
        """The first effect that was recorded before, and that the run did not ask for."""
        return next((effect.name for effect in self._recorded.left), None)

    def unwritten(self) -> list[Draft]:
        """The proposal, and how the execution began, as far as they are not written."""
        proposed = [] if self.submission is None else self.submission.drafts()
        return proposed if self._begun is None else [*proposed, self._begun]

    async def submit(self) -> None:
        """Put the proposal on record by itself, if it is not yet."""
        if self.submission is None:
            return
        standing = await self.submission.written()
        proposal_id = standing.proposal.proposal_id
        self._rests_on.append(Expected(names.proposal(proposal_id), standing.newest))
        self.approved_at = None if standing.decision is None else standing.decision.seq
        self.submission = None

    async def close(self) -> None:
        """The run is over: what is still under way does no more effects.

        What is being written is written when this returns, also for an effect that was given up:
        only then it is known what the seal comes after.
        """
        self._is_closed = True
        await self._landed()

    async def _write(self, fact: Fact) -> None:
        """Commit a fact; whoever gives up waiting for it does not undo it."""
        async with self._lock:
            await self._landed()
            self._check_open(fact.says["name"])
            self._landing = asyncio.ensure_future(self._land(fact))
            await asyncio.shield(self._landing)

    def _check_open(self, effect: str) -> None:
        if self._is_closed:
            raise Stopped("run.ended", f"the run has ended: the effect {effect!r} comes too late")

    async def _landed(self) -> None:
        if self._landing is not None:
            await asyncio.wait([self._landing])

    async def _land(self, fact: Fact) -> None:
        try:
            await self.submit()
            committed = await self._chronicle.commit(
                [*self.unwritten(), *self._chronicle.drafts([fact])],
                actor=self._actor,
                at=self._clock.now_ms(),
                expects=self.expects,
                sources=self.sources,
            )
        except Exception as error:
            self.broken = self.broken or error
            self._is_closed = True
            raise
        self._begun, self._last = None, committed.places[-1].seq


def recorded_effects(execution: Iterable[FoundFact]) -> list[EffectRecord]:
    """The effects of an execution as they are written, in the order of start."""
    records: dict[int, EffectRecord] = {}
    for fact in execution:
        said = fact.document
        if fact.type == documents.EFFECT_STARTED:
            number = said["number"]
            records[number] = EffectRecord(number, said["name"], said["argumentsDigest"])
        elif fact.type == documents.EFFECT_FINISHED:
            started = records[said["number"]]
            records[started.number] = _finished(started, said)
    return [records[number] for number in sorted(records)]


def _finished(started: EffectRecord, said: documents.Document) -> EffectRecord:
    number, name, digest = started.number, started.name, started.arguments_digest
    if "error" in said:
        error = EffectError(said["error"]["type"], said["error"]["message"])
        return EffectRecord(number, name, digest, error=error)
    return EffectRecord(number, name, digest, result=freeze(said["result"]))


# ------------------------------------------------------------------------- sealing

# Sealing: what an execution came to becomes a world, in one transaction.
#
# World, edge, snapshot, execution and status land together, or none of them does. The head of the
# branch moves only when the run was completed, and only from the world that the run started from.
# What several runs reach is one world; each of them has its own execution and edge.


class Sealing(NamedTuple):
    """How an execution ends: what is written of it."""

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
            left = {**(left if isinstance(left, dict) else {}), "$app": dict(frozen["$app"])}
            wire["input"] = left
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
    ) -> None:
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
                on = tuple(sealing.fact.says["snapshot"].get("on", ()))
                seq = committed.places[-1].seq
                self._chronicle.sealed(Kept(sealing.parts, sealing.canonical, seq, on))
                return


def _is_same(left: Mapping[str, JsonValue], frozen: Mapping[str, JsonValue]) -> bool:
    """Whether two inputs are the same JSON, in which true is not 1."""
    return left is frozen or canonical_bytes(left) == canonical_bytes(frozen)
