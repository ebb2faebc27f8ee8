"""Replays: an execution, a branch, or all that a scope ran, run again from what was recorded.

No store, no provider and no network is asked: the base, the frozen input, the effects, the clock
and the seed are all in the journal (MEM-CONTEXT-2). The result is identical, or the first
difference is named. What was erased answers 'erased', never something made up.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, Literal

from memoranda.identity import canonical_bytes, freeze
from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.branches import Runtime
from memoranda.journeys.intent.chronicle import FEW, Chronicle, Kept, Parts
from memoranda.journeys.intent.documents import FoundFact, fact_of_type, made_from
from memoranda.journeys.intent.execution import described
from memoranda.journeys.intent.live import recorded_effects
from memoranda.kernel.ambient import check_reach, reached
from memoranda.kernel.errors import CapabilityMissing, WorldErased, WorldNotFound
from memoranda.kernel.results import Result
from memoranda.worlds.domain import SYSTEM
from memoranda.worlds.host import (
    HostExecutionOptions,
    Surrounded,
)
from memoranda.worlds.proposal import IntentInstance, IntentScope, to_host_intent
from memoranda.worlds.replay import Differs, RunRecording, Same, replayed
from memoranda.worlds.snapshot import Snapshot

EXECUTIONS: Final = names.execution("")

Verdict = Literal["same", "differs", "erased", "not run"]

NOT_BY_THE_HOST: Final = frozenset(
    {"execution.timed_out", "host.raised", "host.invalid_result", "effect.unknown",
     "world.conflict", "memory.erased", "run.changed", "run.ended"}
)  # fmt: skip
"""Errors that the app put on record: the host did not come to an end, or never began."""


@dataclass(frozen=True, slots=True, repr=False)
class Replay(Result):
    """What the replay of one execution came to."""

    execution_key: str
    verdict: Verdict
    world: str | None = None
    action: str | None = None
    why: str | None = None
    """Where it differs, why it was not run, or what was erased."""
    difference: Differs | None = None

    @property
    def is_same(self) -> bool:
        """Whether it led to the identical snapshot."""
        return self.verdict == "same"


class WorldHistory:
    """What one scope's journal says was run; it reads, and has nothing to recall or write with."""

    def __init__(self, chronicle: Chronicle, runtime: Runtime) -> None:
        """CapabilityMissing for a host that can't be put into surroundings."""
        if not isinstance(runtime.host, Surrounded):
            raise CapabilityMissing("replay, because its host can't be put into surroundings")
        self._chronicle = chronicle
        self._host = runtime.host
        self._schema_hash = runtime.schema_hash

    async def size(self) -> int:
        return len(await self._chronicle.named(EXECUTIONS))

    async def replay(self, id: str) -> Replay:
        """Replay one execution, that of a proposal, or the first that reached a world."""
        if await self._chronicle.is_there(names.proposal(id)):
            id = names.execution_key(id)
            if not await self._chronicle.is_there(names.execution(id)):
                raise WorldNotFound("execution that ended", id)
        if await self._chronicle.is_there(names.execution(id)):
            return await self._execution(id)
        return await self._world(id)

    async def whole(self) -> AsyncGenerator[Replay, None]:
        """Replay everything: branch by branch, then what moved no head, such as what failed.

        This is the regression test that users get for free: a change of code that would alter a
        world that was sealed long ago is found before it is in use.
        """
        done = set()
        for name in await self._chronicle.named(names.BRANCHES):
            async for replay in self.branch(name):
                done.add(replay.execution_key)
                yield replay
        for key in await self._chronicle.named(EXECUTIONS):
            if key in done:
                continue
            try:
                yield await self._execution(key)
            except WorldNotFound:
                why = "it has not ended yet: `memoranda worlds resume` goes on"
                yield Replay(key, "not run", why=why)

    async def _execution(self, execution_key: str) -> Replay:
        """Replay one execution; WorldNotFound if there is none that ended."""
        replay, _ = await self._replayed(execution_key, None)
        return replay

    async def _world(self, world_id: str) -> Replay:
        async with aclosing(self._chronicle.each(names.world(world_id), FEW)) as facts:
            async for fact in facts:
                if fact.type == documents.SEALED:
                    return await self._execution(fact.document["executionKey"])
        record = await self._chronicle.world(world_id)
        if record.document["world"]["createdBy"] is None:
            raise WorldNotFound("execution that reached the first world", world_id)
        return Replay("", "erased", world_id, why="every execution that reached it was erased")

    async def branch(self, name: str) -> AsyncGenerator[Replay, None]:
        """Replay every execution that moved the head of a branch, the first one first.

        Only one snapshot is in memory at a time.
        """
        is_known, kept = False, None
        async with aclosing(self._chronicle.each(names.branch(name))) as facts:
            async for fact in facts:
                is_known = True
                if fact.type == documents.SEALED:
                    replay, kept = await self._replayed(fact.document["executionKey"], kept)
                    yield replay
        if not is_known:
            raise WorldNotFound("branch", name)

    async def _replayed(self, key: str, before: Kept | None) -> tuple[Replay, Kept | None]:
        try:
            facts = await self._chronicle.execution(key)
            begun = fact_of_type(facts, documents.BEGUN, key)
            sealed = fact_of_type(facts, documents.SEALED, key)
            recording, kept = await self._recording(facts, begun, sealed, before)
        except WorldErased as erased:
            return Replay(key, "erased", why=str(erased)), None
        reached((names.execution(key),))  # where it differs, it shows the world that was reached
        world, action = sealed.document["world"], recording.intent.type
        error = kept.parts["system"]["lastError"]
        if error is not None and error["code"] in NOT_BY_THE_HOST:
            why = f"{error['code']}: {error['message']}"
            return Replay(key, "not run", world, action, why), kept
        if action.startswith(f"{SYSTEM}."):
            why = "an operation on memory: no action of a domain did it"
            return Replay(key, "not run", world, action, why), kept
        try:
            found = await replayed(self._host, recording)
        except Exception as raised:  # noqa: BLE001 - a host that raises now did not then
            return Replay(key, "differs", world, action, f"host.raised: {described(raised)}"), kept
        match found:
            case Same():
                return Replay(key, "same", world, action), kept
            case Differs() as difference:
                why = str(difference)
                return Replay(key, "differs", world, action, why, difference), kept

    async def _recording(
        self, facts: list[FoundFact], begun: FoundFact, sealed: FoundFact, before: Kept | None
    ) -> tuple[RunRecording, Kept]:
        said = begun.document
        base = before
        if base is None or base.seq != said["parent"]:
            base = await self._chronicle.kept(await self._chronicle.at(said["parent"]))
        kept = await self._chronicle.kept(sealed, before=base)
        asked = await self._chronicle.asked(said["proposalId"])
        intent = IntentInstance.from_wire(asked.proposal["intent"])
        scope = asked.approved_scope
        left = sealed.document.get("input", said["input"])
        recording = RunRecording(
            execution_key=said["executionKey"],
            base=Snapshot.known(self._of_today(base.parts)),
            intent=to_host_intent(intent),
            options=HostExecutionOptions(
                approved_scope=None if scope is None else IntentScope.from_wire(scope)
            ),
            now=said["now"],
            random_seed=said["randomSeed"],
            input=freeze(said["input"]),
            effects=tuple(recorded_effects(facts)),
            terminal=canonical_bytes({**self._of_today(kept.parts), "input": left}),
            outcome=sealed.document["outcome"],
        )
        return recording, kept

    def _of_today(self, parts: Parts) -> Parts:
        """A snapshot as if it had been made under today's schema of its domain.

        A schema changes with every action that is added. What counts is what a run led to: an
        input or a state that today's models refuse is a difference still.
        """
        return {**parts, "meta": {**parts["meta"], "schemaHash": self._schema_hash}}


async def restored_snapshot(chronicle: Chronicle, id: str) -> Snapshot:
    """The snapshot of a world, or of an execution; WorldNotFound, or WorldErased.

    Of a world it is the one that its first execution left, without the input; of an execution
    that run's own, byte for byte, with what was frozen in it.
    """
    check_reach()
    facts = await chronicle.execution(id)
    if not facts:
        keeper = await chronicle.keeper(id)
        kept = await chronicle.kept(keeper)
        reached((made_from(keeper),))
        return Snapshot.known(kept.parts)
    begun = fact_of_type(facts, documents.BEGUN, id)
    sealed = fact_of_type(facts, documents.SEALED, id)
    kept = await chronicle.kept(sealed)
    left = sealed.document.get("input", begun.document["input"])
    reached((made_from(sealed), *begun.document["sources"]))  # what was frozen in it, too
    return Snapshot.known({**kept.parts, "input": left})
