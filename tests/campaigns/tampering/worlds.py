"""A scope in which worlds are made: runs, forks, proposals that wait, memory under a policy."""

from contextlib import AsyncExitStack, nullcontext, suppress
from typing import Any

from memoranda import Memory, MemoryFilter
from memoranda.kernel.errors import (
    ApprovalPending,
    RecordNotFound,
    StoreUnavailable,
    WorldErased,
)
from memoranda.recall.provider import MemoryExperience, MemoryQuery
from memoranda.records.model import MemoryOperation
from memoranda.worlds.policies import HumanInTheLoop
from tests.campaigns.adversity.chance import Random
from tests.handles import opened as handle_on
from tests.journeys.intent.counter import COUNTER

WORLDS = "worlds"
"""The scope; nothing is done in it to the objects alone."""

BRANCHES = ("main", "what-if", "다른")


class Recalls:
    """Reads some records for each run, so that the run was made from them."""

    memory: Memory[Any]

    async def recall(self, query: MemoryQuery) -> Any:
        """The newest few."""
        del query
        found = await self.memory.records.query(MemoryFilter(limit=2))
        return [[record.id, record.data] for record in found]

    async def remember(self, experience: MemoryExperience) -> None:
        """It learns nothing."""


class Cautious:
    """Whoever wants something forgotten has to ask."""

    def requires_authority(self, operation: MemoryOperation, /) -> bool:
        return operation.type == "delete"


class WorldsAtWork:
    """Three who share the scope: one who just acts, one who must ask, and one who answers."""

    def __init__(self, acting: Memory[Any], asking: Memory[Any], ada: Memory[Any]) -> None:
        self.acting = acting
        self.asking = asking
        self.ada = ada
        self.records: list[str] = []
        self.runs: list[Any] = []
        self.waiting: list[str] = []

    async def remember(self, chance: Random) -> str:
        text = f"Kim said {chance.randrange(10**9)}"
        made = await self.acting.remember(text, source="doc/1", tags=["said"])
        self.records.append(made.id)
        return made.id

    async def act(self, chance: Random, action: str | None = None, branch: str = "") -> None:
        given: dict[str, Any] = {
            "add": {"by": chance.randrange(1, 9)},
            "note": {"text": {"n": chance.random(), "글": "x" * chance.randrange(300)}},
            "work": {"steps": chance.randrange(1, 4)},
            "ask": {"text": "what"},
        }
        action = action or chance.choice((*given, "learn", "learn", "nothing", "fail", "dice"))
        branch = branch or chance.choice((*BRANCHES, "main", "main"))
        arguments = (given[action],) if action in given else ()
        key = f"act-{chance.random()}" if chance.random() < 0.3 else None
        run = await self.acting.act(action, *arguments, branch=branch, idempotency_key=key)
        self.runs.append(run)

    async def fork(self, chance: Random) -> None:
        """A new branch, unless what it would start from was erased."""
        if not self.runs:
            return
        with suppress(WorldErased):
            run = chance.choice(self.runs)
            await self.acting.worlds.branch(f"fork-{chance.randrange(10**9)}", at=run.world)

    async def ask(self, chance: Random) -> None:
        """A proposal that waits, for a while or for ever."""
        proposed = await self.asking.worlds.propose("add", {"by": 1}, reason="it is due")
        if chance.random() < 0.3:
            self.waiting.append(proposed.proposal_id)
        elif chance.random() < 0.3:
            await self.ada.inbox.reject(proposed.proposal_id, reason="not now")
        else:
            await self.ada.inbox.approve(proposed.proposal_id, reason="fine")
            if chance.random() < 0.8:
                self.runs.append(await self.asking.worlds.run(proposed.proposal_id))

    async def forget(self, chance: Random) -> None:
        """An operation on memory that needs approval, at once or later."""
        if not self.records:
            return
        id = self.records.pop(chance.randrange(len(self.records)))
        if chance.random() < 0.5:
            await self.acting.forget(id, reason="no longer so")
            return
        with suppress(ApprovalPending):
            await self.asking.forget(id, reason="no longer so")
        if chance.random() < 0.5:
            waiting = (await self.ada.inbox.list())[-1]
            await self.ada.inbox.approve(waiting.proposal.proposal_id, reason="fine")

    async def erase(self, chance: Random) -> None:
        """A record, an execution or a proposal, with whatever was made from it."""
        some = [*self.records, *(run.execution_key for run in self.runs), *self.waiting]
        if not some:
            return
        with suppress(RecordNotFound, WorldErased):
            await self.acting.erase(chance.choice(some), reason="asked for")
        self.records = [id for id in self.records if await self.acting.get(id) is not None]
        self.waiting.clear()
        self.runs = [run for run in self.runs if await self._is_there(run)]

    async def _is_there(self, run: Any) -> bool:
        try:
            await self.acting.worlds.restore(run.execution_key)
        except WorldErased:
            return False
        return True


async def work_in_worlds(
    url: str, chance: Random, turns: int, *, beside_readers: bool = False, **options: Any
) -> None:
    """What happens in the scope, one after the other, as chance has it."""
    provider = Recalls()
    given = {"scope": WORLDS, "domain": COUNTER, "memory_policy": Cautious(), **options}
    async with AsyncExitStack() as stack:

        async def opened(actor: str, **more: Any) -> Memory[Any]:
            return await stack.enter_async_context(handle_on(url, actor=actor, **given, **more))

        provider.memory = await opened("agent:acting", provider=provider)
        desk = HumanInTheLoop(["human:ada"])
        asking = await opened("agent:asking", authority=desk)
        at_work = WorldsAtWork(provider.memory, asking, await opened("human:ada"))
        await at_work.remember(chance)
        await at_work.act(chance, "add", "main")
        with suppress(StoreUnavailable) if beside_readers else nullcontext():
            for waiting in (await asking.inbox.list())[-1:]:  # from an earlier time
                await asking.erase(waiting.proposal.proposal_id, reason="asked for")
            for _ in range(turns):
                await _turn(at_work, chance)
            if chance.random() < 0.1:
                await provider.memory.erase(whole_scope=True, reason="all of it")
                at_work.records.clear()
                at_work.runs.clear()
            # However chance had it: some facts were erased, and others came after them.
            await at_work.remember(chance)
            await at_work.act(chance, "learn", "main")
            await at_work.act(chance, "ask", "main")
            await provider.memory.erase(at_work.records.pop(), reason="asked for")
        for action in ("add", "work", "note", "learn", "add"):
            await at_work.act(chance, action, "main")
        await asking.worlds.propose("add", {"by": 2})
        await at_work.act(chance, "add", "main")


async def _turn(at_work: WorldsAtWork, chance: Random) -> None:
    does = chance.choices(
        (at_work.act, at_work.remember, at_work.ask, at_work.fork, at_work.forget, at_work.erase),
        (60, 15, 10, 5, 6, 4),
    )
    await does[0](chance)
