"""Memory is selected before a proposal is submitted, and the proposal says what it used."""

import asyncio
from typing import Any

import pytest

from memoranda import Memory
from memoranda.identity import decode
from memoranda.kernel.errors import (
    InvalidIntent,
    InvalidWorld,
    MemoryOutOfReach,
    ReasoningClosed,
    TraceMissing,
    WorldErased,
)
from memoranda.ledger.snapshot import ENTRIES
from memoranda.recall.policies import (
    AllowedSelectors,
    RequiresVerified,
    SelectorDiffersFromActor,
)
from memoranda.recall.selector import Chosen
from memoranda.recall.trace import MemoryTrace, traces_in, validate_memory_trace
from memoranda.worlds.composites import AllOf
from memoranda.worlds.policies import AutoApprove, HumanInTheLoop
from memoranda.worlds.proposal import Projection, ProjectionEvent
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.recall.simulators import Saying, Waiting

pytestmark = pytest.mark.anyio


async def context_of(memory: Memory[Any], proposal_id: str) -> Any:
    """What a proposal says of the memory that it used."""
    stored = await inside(memory).ledger.marked(f"proposal/{proposal_id}")
    assert stored[0].body is not None
    return decode(stored[0].body)["proposal"].get("trace", {}).get("context")


# --------------------------------------------------------------------------- M-2 and C-1


@pytest.mark.rule("M-2", "C-1")
async def test_a_proposal_has_the_trace_of_what_it_used(memory: Memory[Any]) -> None:
    await memory.remember("count by three")

    async with memory.reasoning() as r:
        found = await r.recall("count", top_k=1)
        proposed = await r.propose("add", {"by": 3})

    context = await context_of(memory, proposed.proposal_id)
    assert validate_memory_trace(context["memory"]).valid
    assert MemoryTrace.from_wire(context["memory"]) == found.trace
    assert proposed.status == "approved"


@pytest.mark.rule("M-2", "C-1")
async def test_several_recalls_are_all_attached(memory: Memory[Any]) -> None:
    await memory.remember("count by three")
    await memory.remember("never count on a Sunday")

    async with memory.reasoning() as r:
        first = await r.recall("three", top_k=1)
        second = await r.recall("Sunday", top_k=1)
        nothing = await r.recall("submarine", top_k=1)
        run = await r.act("add", {"by": 3}, reason="as I was told")

    assert run.is_completed
    traces = traces_in(await context_of(memory, run.proposal_id))
    assert traces == (first.trace, second.trace, nothing.trace)
    why = await memory.why(run.proposal_id)
    assert [part.id for part in why.parts if part.what == "recall"] == [
        first.trace_id,
        second.trace_id,
        nothing.trace_id,
    ]


@pytest.mark.rule("M-2", "C-1")
async def test_a_proposal_past_the_phase_that_used_memory_is_refused(memory: Memory[Any]) -> None:
    await memory.remember("count by three")
    async with memory.reasoning() as r:
        await r.recall("count", top_k=1)
        for way in (memory.worlds.propose, memory.act):
            with pytest.raises(TraceMissing) as caught:
                await way("add", {"by": 3})
            assert caught.value.code == "world.trace_missing"
        with pytest.raises(TraceMissing):
            await memory.worlds.project(
                Projection("any", lambda *_: None), ProjectionEvent(kind="ui", event_id="1")
            )
    assert await memory.inbox.list() == []
    assert not (await inside(memory).ledger.marks("proposal/"))


@pytest.mark.rule("M-2", "C-1")
async def test_memory_that_was_read_past_any_recall_is_noticed(memory: Memory[Any]) -> None:
    receipt = await memory.remember("count by three")
    other = await memory.remember("something else")

    async with memory.reasoning() as r:
        await r.recall("count", top_k=1)
        await memory.get(other.id)
        with pytest.raises(TraceMissing):
            await r.propose("add", {"by": 3})
        await memory.get(receipt.id)

    async with memory.reasoning() as r:
        await memory.list(text="something")
        with pytest.raises(TraceMissing):
            await r.propose("add", {"by": 3})
        with pytest.raises(TraceMissing):
            await memory.worlds.propose("add", {"by": 3})


@pytest.mark.rule("M-2", "C-1")
async def test_what_was_recalled_may_be_read_again(memory: Memory[Any]) -> None:
    await memory.remember("count by three")

    async with memory.reasoning() as r:
        found = await r.recall("count", top_k=1)
        original = await r.original(found.items[0])
        await memory.get(found.items[0].id)
        proposed = await r.propose("add", {"by": 3})

    assert original.verified
    assert proposed.status == "approved"


async def test_a_phase_without_memory_proposes_as_usual(memory: Memory[Any]) -> None:
    async with memory.reasoning() as r:
        proposed = await r.propose("add", {"by": 3}, reason="just so")
    assert await context_of(memory, proposed.proposal_id) is None


async def test_two_phases_at_once_know_their_own(memory: Memory[Any]) -> None:
    await memory.remember("one")
    await memory.remember("two")

    async def reason(query: str) -> tuple[str, str]:
        async with memory.reasoning() as r:
            found = await r.recall(query, top_k=1)
            await asyncio.sleep(0)
            return found.trace.query, (await r.propose("nothing")).proposal_id

    for query, proposal_id in await asyncio.gather(reason("one"), reason("two")):
        context = await context_of(memory, proposal_id)
        assert context["memory"]["query"] == query


async def test_a_hand_made_trace_must_be_one(memory: Memory[Any]) -> None:
    made = {"summary": "so", "context": {"memory": {"query": "x"}}}
    with pytest.raises(InvalidWorld):
        await memory.worlds.propose("nothing", reason=made)

    async with memory.reasoning() as r:
        with pytest.raises(InvalidWorld):
            await r.propose("nothing", reason={"summary": "so", "context": {"memory": {}}})


@pytest.mark.rule("R-3")
async def test_a_handle_has_one_actor_and_another_is_another_handle(opens: Opens) -> None:
    async with opens() as memory, opens(actor="agent:guest") as guest:
        with pytest.raises(TypeError):
            memory.reasoning(actor="human:boss")  # type: ignore[call-arg]
        for change in (memory.records.create, memory.records.update, memory.records.delete):
            with pytest.raises(TypeError):
                await change(None, actor="human:boss")  # type: ignore[call-arg, arg-type]
        await memory.remember("count by three")

        async with guest.reasoning() as r:
            found = await r.recall("count", top_k=1)
            proposed = await r.propose("add", {"by": 1})

        assert str(found.trace.selector) == "agent:guest"
        why = await memory.why(proposed.proposal_id)
        assert why.known["used by"] == "agent:guest"


# --------------------------------------------------------------------------- M-3 and C-4


@pytest.mark.rule("M-3", "C-4")
async def test_selection_after_submission_is_refused(memory: Memory[Any]) -> None:
    await memory.remember("count by three")
    async with memory.reasoning() as r:
        await r.recall("count", top_k=1)
        await r.propose("add", {"by": 3})
        size = (await inside(memory).ledger.head()).size

        with pytest.raises(ReasoningClosed) as caught:
            await r.recall("count", top_k=1)
        with pytest.raises(ReasoningClosed):
            await r.propose("add", {"by": 3})

    assert caught.value.code == "world.reasoning_closed"
    assert (await inside(memory).ledger.head()).size == size


@pytest.mark.rule("M-3", "C-4")
async def test_a_phase_that_is_over_selects_nothing(memory: Memory[Any]) -> None:
    async with memory.reasoning() as r:
        pass
    with pytest.raises(ReasoningClosed):
        await r.recall("count", top_k=1)
    with pytest.raises(ReasoningClosed):
        await r.propose("nothing")


@pytest.mark.rule("M-3", "C-4")
async def test_no_proposal_is_submitted_while_a_recall_is_under_way(memory: Memory[Any]) -> None:
    selector = Waiting()
    async with memory.reasoning() as r:
        recall = asyncio.ensure_future(r.recall("count", top_k=1, selector=selector))
        await selector.waits.wait()

        with pytest.raises(TraceMissing):
            await r.propose("add", {"by": 3})

        selector.may.set()
        found = await recall
        proposed = await r.propose("add", {"by": 3})
    context = await context_of(memory, proposed.proposal_id)
    assert context["memory"]["selectedAt"] == found.trace.selected_at


async def test_a_proposal_that_is_refused_leaves_the_phase_open(memory: Memory[Any]) -> None:
    await memory.remember("count by three")
    async with memory.reasoning() as r:
        await r.recall("count", top_k=1)
        with pytest.raises(InvalidIntent):
            await r.propose("no such action")
        await r.recall("three", top_k=1)
        proposed = await r.propose("add", {"by": 3})
    assert len(traces_in(await context_of(memory, proposed.proposal_id))) == 2


# ------------------------------------------------------------------------------- M-4, C-5


@pytest.mark.rule("M-4")
async def test_an_authority_that_selects_gets_an_error(opens: Opens) -> None:
    tried: list[MemoryOutOfReach] = []

    class Selecting(AutoApprove):
        def judge(self, asked: Any, /) -> Any:
            recall = handle.recall("x", top_k=1)
            try:
                recall.send(None)
            except MemoryOutOfReach as refused:
                tried.append(refused)
            finally:
                recall.close()
            return super().judge(asked)

    async with opens(authority=Selecting()) as handle:
        await handle.act("nothing")
    assert [one.code for one in tried] == ["input.memory_out_of_reach"]


@pytest.mark.rule("R-3")
async def test_who_selected_who_used_and_who_approved_are_all_on_record(opens: Opens) -> None:
    policy = HumanInTheLoop("human:ann")
    async with opens(authority=policy) as memory:
        await memory.remember("count by three")
        async with memory.reasoning() as r:
            broker = Saying(actor=memory.actor.model_copy(update={"actor_id": "broker"}))
            await r.recall("count", top_k=1, selector=broker)
            proposed = await r.propose("add", {"by": 3})
    async with opens(actor="human:ann") as ann:
        await ann.inbox.approve(proposed.proposal_id, reason="fine")
        why = await ann.why(proposed.proposal_id)

    assert why.known["used by"] == "agent:worker"
    assert why.known["selected by"] == "agent:broker"
    decision = next(part for part in why.parts if part.what == "decision")
    assert decision.known["decided by"] == "human:ann"


async def test_an_authority_judges_by_proofs_without_a_store(opens: Opens) -> None:
    policy = AllOf([RequiresVerified(), AllowedSelectors("agent:worker"), AutoApprove()])
    async with opens(authority=policy) as memory:
        receipt = await memory.remember("count by three")
        await memory.act("nothing")
        for selector in ("context", "worlds"):
            async with memory.reasoning() as r:
                found = await r.recall("count nothing", top_k=1, selector=selector)
                assert len(found) == 1
                assert (await r.propose("add", {"by": 3})).status == "approved"
        await memory.forget(receipt.id, reason="wrong")
        size = (await inside(memory).ledger.head()).size
        async with memory.reasoning() as r:
            then = await r.recall("count", top_k=1, at=size - 2)
            assert [one.verified for one in then] == [False]
            assert (await r.propose("add", {"by": 3})).status == "rejected"


async def test_who_proposes_may_have_to_be_another_than_who_selected(opens: Opens) -> None:
    async with opens(authority=AllOf([SelectorDiffersFromActor(), AutoApprove()])) as memory:
        receipt = await memory.remember("count by three")
        broker = Saying(
            [Chosen("so", 0.5, receipt.id)], actor=memory.actor.model_copy(update={"actor_id": "b"})
        )
        async with memory.reasoning() as r:
            await r.recall("count", top_k=1)
            assert (await r.propose("nothing")).status == "rejected"
        async with memory.reasoning() as r:
            await r.recall("count", top_k=1, selector=broker)
            assert (await r.propose("nothing")).status == "approved"


# ----------------------------------------------------------------------------- erasing


async def test_what_rests_on_an_erased_memory_goes_with_it(memory: Memory[Any]) -> None:
    receipt = await memory.remember("zanzibar")
    async with memory.reasoning() as r:
        await r.recall("zanzibar", top_k=1)
        run = await r.act("note", {"text": "zanzibar"})

    await memory.erase(receipt.id, reason="asked for")

    with pytest.raises(WorldErased):
        await memory.worlds.standing(run.proposal_id)
    async with inside(memory).ledger.snapshot() as snapshot:
        async for chunk in snapshot.rows(ENTRIES):
            for stored in chunk:
                assert b"zanzibar" not in (stored.body or b"")
    assert (await memory.verify()).is_sound


async def test_a_proposal_can_not_rest_on_a_trace_that_was_erased(memory: Memory[Any]) -> None:
    receipt = await memory.remember("zanzibar")
    async with memory.reasoning() as r:
        await r.recall("zanzibar", top_k=1)
        await memory.erase(receipt.id, reason="asked for")
        with pytest.raises(WorldErased):
            await r.propose("note", {"text": "zanzibar"})
    assert not (await inside(memory).ledger.marks("proposal/"))
