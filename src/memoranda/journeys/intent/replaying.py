"""Replaying: an execution, or a whole branch, run again from what was recorded.

No store, no provider and no network is asked: the base, the frozen input, the effects, the clock
and the seed are all in the journal (MEM-CONTEXT-2). The result is identical, or the first
difference is told. What was erased answers 'erased', never something made up.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, Literal

from memoranda.identity import canonical_bytes, freeze
from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.chronicle import FEW, Chronicle, Found, the
from memoranda.journeys.intent.recalling import described
from memoranda.journeys.intent.snapshots import Kept
from memoranda.journeys.intent.surroundings import recorded_effects
from memoranda.kernel.errors import WorldErased, WorldNotFound
from memoranda.kernel.reach import reached
from memoranda.kernel.results import Result
from memoranda.worlds.domain import SYSTEM
from memoranda.worlds.host import HostExecutionOptions, Surrounded
from memoranda.worlds.intent import IntentInstance, IntentScope, to_host_intent
from memoranda.worlds.replay import Differs, Recording, Same, replayed
from memoranda.worlds.snapshot import Snapshot

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


class Replayer:
    """Replays what one scope's journal holds; it has nothing to recall with."""

    def __init__(self, chronicle: Chronicle, host: Surrounded) -> None:
        self._chronicle = chronicle
        self._host = host

    async def execution(self, execution_key: str) -> Replay:
        """Replay one execution; WorldNotFound if there is none that ended."""
        replay, _ = await self._replayed(execution_key, None)
        return replay

    async def world(self, world_id: str) -> Replay:
        """Replay the first execution that reached a world."""
        async with aclosing(self._chronicle.each(names.world(world_id), FEW)) as facts:
            async for fact in facts:
                if fact.type == documents.SEALED:
                    return await self.execution(fact.document["executionKey"])
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
            begun = the(facts, documents.BEGUN, key)
            sealed = the(facts, documents.SEALED, key)
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
        self, facts: list[Found], begun: Found, sealed: Found, before: Kept | None
    ) -> tuple[Recording, Kept]:
        said = begun.document
        base = before
        if base is None or base.seq != said["parent"]:
            base = await self._chronicle.kept(await self._chronicle.at(said["parent"]))
        kept = await self._chronicle.kept(sealed, before=base)
        asked = await self._chronicle.asked(said["proposalId"])
        intent = IntentInstance.from_wire(asked.proposal["intent"])
        scope = asked.approved_scope
        meta = {**base.parts["meta"], "schemaHash": said["schemaHash"]}
        left = sealed.document.get("input", said["input"])
        recording = Recording(
            execution_key=said["executionKey"],
            base=Snapshot.known({**base.parts, "meta": meta}),
            intent=to_host_intent(intent),
            options=HostExecutionOptions(
                approved_scope=None if scope is None else IntentScope.from_wire(scope)
            ),
            now=said["now"],
            random_seed=said["randomSeed"],
            input=freeze(said["input"]),
            effects=tuple(recorded_effects(facts)),
            terminal=canonical_bytes({**kept.parts, "input": left}),
            outcome=sealed.document["outcome"],
        )
        return recording, kept
