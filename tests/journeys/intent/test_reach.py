"""Nobody who runs, judges or projects reaches memory: it is frozen, or it was selected before."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import memoranda
from memoranda import Memory
from memoranda.kernel.errors import InvalidWorld, MemoryOutOfReach
from memoranda.records.filter import MemoryFilter
from memoranda.records.model import MemoryRecordInput
from memoranda.worlds.action import ActionContext, Patch, Set
from memoranda.worlds.authority import Approved, Asked, Pending, Verdict
from memoranda.worlds.domain import Domain
from memoranda.worlds.host import EffectFailed
from memoranda.worlds.proposal import AuthorityRef, IntentBody, ProjectionEvent, projection
from tests.fixtures import Opens
from tests.journeys.intent.reading import counts, said
from tests.journeys.intent.simulators import Provider, read_now

Reads = Callable[[Memory[Any]], Any]


async def streamed(memory: Memory[Any]) -> list[Any]:
    """Everything, as a stream."""
    return [one async for one in memory.records.stream(MemoryFilter())]


READS: dict[str, Reads] = {
    "get": lambda memory: memory.get("tea"),
    "list": lambda memory: memory.list(),
    "search": lambda memory: memory.list(text="tea"),
    "history": lambda memory: memory.history("tea"),
    "memory_object": lambda memory: memory.journal.object("tea"),
    "records.get": lambda memory: memory.records.get("tea"),
    "records.version": lambda memory: memory.records.version("tea"),
    "records.query": lambda memory: memory.records.query(MemoryFilter()),
    "records.stream": streamed,
    "why": lambda memory: memory.why("tea"),
    "restore": lambda memory: memory.worlds.restore("tea"),
    "replay": lambda memory: memory.worlds.replay("tea"),
    "inbox": lambda memory: memory.inbox.list(),
}
reads = pytest.mark.parametrize("read", READS.values(), ids=READS)


class Holder:
    """The handle that misbehaving code got hold of."""

    memory: Memory[Any]


HELD = Holder()
domain = Domain("prying", "1")


@domain.action
async def peek(_: ActionContext[None]) -> Patch:
    """An action that reads memory by itself."""
    return Set("found", str(await READING(HELD.memory)))


@domain.action
async def ask(ctx: ActionContext[None]) -> Patch:
    """An action that lets an effect read memory."""

    async def read() -> str:
        return str(await READING(HELD.memory))

    try:
        found = await ctx.effect("read", read)
    except EffectFailed as failed:
        found = failed.type
    return Set("found", found)


@domain.action
async def act_again(_: ActionContext[None]) -> Patch:
    """An action that runs another one, for the sake of what that is given to remember."""
    run = await HELD.memory.act("show", branch="side")
    return Set("found", run.data)


@domain.action
async def show(ctx: ActionContext[None]) -> Patch:
    return Set("found", ctx.memory)


def READING(memory: Memory[Any]) -> Any:  # noqa: N802 - it stands for one of READS
    """What is tried."""
    return TRIED[0](memory)


TRIED: list[Reads] = [READS["get"]]


@pytest.fixture
def tried(read: Reads) -> None:
    TRIED[0] = read


@pytest.mark.rule("C-5", "MEM-CONTEXT-2")
@pytest.mark.usefixtures("tried")
@reads
async def test_an_action_can_not_read_memory(opens: Opens, read: Reads) -> None:
    assert [read] == TRIED
    async with opens(domain=domain) as memory:
        HELD.memory = memory
        await memory.remember("tea is green", id="tea")
        run = await memory.act("peek")

        assert run.status == "failed"
        assert run.error is not None
        assert run.error["code"] == "action.raised"
        assert "an action" in str(run.error["message"])
        assert (await memory.worlds.replay(run.execution_key or "")).is_same


@pytest.mark.rule("C-5", "MEM-CONTEXT-2")
@pytest.mark.usefixtures("tried")
@reads
async def test_an_effect_can_not_read_memory(opens: Opens, read: Reads) -> None:
    assert [read] == TRIED
    async with opens(domain=domain) as memory:
        HELD.memory = memory
        await memory.remember("tea is green", id="tea")
        run = await memory.act("ask")

        assert run.data == {"found": "MemoryOutOfReach"}
        assert (await memory.worlds.replay(run.execution_key or "")).is_same


@pytest.mark.rule("C-5")
async def test_a_handle_that_is_opened_in_an_action_reaches_nothing_either(
    opens: Opens, url: str, scope: str
) -> None:
    own = Domain("opening", "1")

    @own.action
    async def reopen(_: ActionContext[None]) -> Patch:
        async with memoranda.open(url, scope=scope, create=False) as memory:
            return Set("found", await memory.records.get("tea"))

    async with opens(domain=own) as memory:
        await memory.remember("tea is green", id="tea")
        run = await memory.act("reopen")

        assert run.error is not None
        assert "can't be reached" in str(run.error["message"])


@pytest.mark.rule("C-5", "MEM-CONTEXT-2")
async def test_a_run_within_a_run_is_given_nothing_to_remember(opens: Opens) -> None:
    async with opens(domain=domain, provider=Provider("a secret")) as memory:
        HELD.memory = memory
        run = await memory.act("act_again")

        assert run.data == {"found": {"found": None}}
        inner = (await said(memory, "ExecutionSealed"))[0].document
        assert inner["branch"] == "side"
        begun = {
            one.document["branch"]: one.document for one in await said(memory, "ExecutionBegun")
        }
        assert begun["side"]["recall"]["outcome"] == "failed"
        assert begun["main"]["recall"]["outcome"] == "answered"


@pytest.mark.rule("C-5")
@reads
async def test_a_projection_can_not_select_memory(opens: Opens, read: Reads) -> None:
    async with opens() as memory:
        await memory.remember("tea is green", id="tea")

        @projection("prying")
        def prying(*_: Any) -> IntentBody:
            return IntentBody(type="note", input={"text": str(read_now(lambda: read(memory)))})

        with pytest.raises(MemoryOutOfReach) as caught:
            await memory.worlds.project(prying, ProjectionEvent(kind="ui", event_id="e1"))

        assert caught.value.who == "a projection"
        assert (await counts(memory))["Proposal"] == 0


async def test_a_projection_makes_a_proposal_that_names_it(memory: Memory[Any]) -> None:
    @projection("clicks")
    def clicks(seen: Any, actor: Any, event: Any) -> IntentBody:
        assert actor.actor_id == "worker"
        return IntentBody(type="add", input={"by": event.payload["by"] + seen.data["count"]})

    await memory.act("add", {"by": 1})
    event = ProjectionEvent(kind="ui", event_id="e1", payload={"by": 4})
    proposed = await memory.worlds.project(clicks, event)

    assert proposed is not None
    run = await memory.worlds.run(proposed.proposal_id)
    assert run.data["count"] == 6
    origin = (await said(memory, "Proposal"))[-1].document["proposal"]["intent"]["meta"]["origin"]
    assert origin["projectionId"] == "clicks"
    assert origin["source"] == {"kind": "ui", "eventId": "e1"}


@dataclass
class PryingPolicy:
    """An authority that reads memory before it judges."""

    read: Callable[[], Any]
    authority = AuthorityRef(authority_id="prying", kind="policy")

    def judge(self, _asked: Asked, /) -> Verdict:
        return Approved(str(read_now(self.read)), None, self.authority)

    def may_vote(self, _asked: Asked, _actor: Any, /) -> str | None:
        return "nobody votes"

    def to_wire(self) -> dict[str, Any]:
        return {"mode": "prying"}


@pytest.mark.rule("M-4")
@reads
async def test_an_authority_can_not_select_again(opens: Opens, read: Reads) -> None:
    async with opens() as library:
        await library.remember("tea is green", id="tea")
        policy = PryingPolicy(lambda: read(library))
        async with opens(authority=policy) as memory:
            with pytest.raises(MemoryOutOfReach) as caught:
                await memory.act("add", {"by": 1})

            assert caught.value.who == "an authority"
            assert (await counts(memory))["Proposal"] == 0


@dataclass
class MeddlingPolicy(PryingPolicy):
    """An authority that changes what it is asked about."""

    def judge(self, asked: Asked, /) -> Verdict:
        asked.proposal.intent.body.input["by"] = 1_000
        return Approved("more is better", None, self.authority)


@pytest.mark.rule("M-4")
async def test_an_authority_can_not_change_what_it_approves(opens: Opens) -> None:
    async with opens(authority=MeddlingPolicy(lambda: None)) as memory:
        run = await memory.act("add", {"by": 1})

        assert run.data["count"] == 1
        body = (await said(memory, "Proposal"))[0].document["proposal"]["intent"]["body"]
        assert body["input"] == {"by": 1}


@dataclass
class WaitingPolicy(PryingPolicy):
    """An authority of somebody's own that wants to hear more, and can't be read back."""

    def judge(self, _asked: Asked, /) -> Verdict:
        return Pending(())


@pytest.mark.rule("M-4")
async def test_a_policy_that_nobody_could_judge_by_later_is_refused_at_once(
    opens: Opens,
) -> None:
    async with opens(authority=WaitingPolicy(lambda: None)) as memory:
        with pytest.raises(InvalidWorld):
            await memory.worlds.propose("add", {"by": 1})

        assert await memory.inbox.list() == []
        assert (await counts(memory))["Proposal"] == 0


@pytest.mark.rule("MEM-INT-3")
async def test_a_provider_and_whoever_acts_may_read_memory(opens: Opens) -> None:
    provider = Provider()
    async with opens(provider=provider) as memory:
        await memory.records.create(MemoryRecordInput(id="tea", data="green"))

        async def recalled(_: Any) -> Any:
            found = await memory.records.get("tea")
            return found and found.data

        provider.answer = recalled
        run = await memory.act("learn")

        assert run.data["notes"] == [["green", False]]
        assert await memory.records.get("tea") is not None
