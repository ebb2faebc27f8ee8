"""Operations on memory that need approval, made in a reasoning phase: proposals as all others."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from memoranda import Memory
from memoranda.identity import decode
from memoranda.kernel.errors import (
    ApprovalPending,
    DecisionRefused,
    ReasoningClosed,
    TraceMissing,
    WorldErased,
)
from memoranda.ledger.snapshot import ENTRIES
from memoranda.recall.policies import AllowedSelectors
from memoranda.recall.trace import MemoryTrace, traces_in
from memoranda.records.model import MemoryOperation
from memoranda.worlds.composites import AllOf
from memoranda.worlds.policies import AutoApprove, HumanInTheLoop
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.recall.simulators import Waiting

pytestmark = pytest.mark.anyio

HUMAN = "human:chief"


class EveryChange:
    """All of these operations need approval."""

    def __init__(self, *types: str) -> None:
        self.types = types or ("create", "update", "delete", "promote", "demote")

    def requires_authority(self, operation: MemoryOperation, /) -> bool:
        return operation.type in self.types

    def assess_risk(self, _operation: MemoryOperation, /) -> Any:
        return "low"


async def proposed(memory: Memory[Any]) -> list[tuple[MemoryTrace, ...]]:
    """The traces of each proposal on record, the first one first."""
    found = []
    for name, _ in sorted(await inside(memory).ledger.marks("proposal/"), key=lambda mark: mark[1]):
        for stored in await inside(memory).ledger.marked(name, limit=1):
            assert stored.body is not None
            said = decode(stored.body)["proposal"]
            found.append(traces_in(said.get("trace", {}).get("context")))
    return found


@pytest.fixture(params=["at once", "later"])
def authority(request: pytest.FixtureRequest) -> Any:
    """Who decides, and when."""
    return AutoApprove() if request.param == "at once" else HumanInTheLoop(HUMAN)


async def tried(operation: Any) -> None:
    """An operation that may have to wait."""
    with suppress(ApprovalPending):
        await operation


@pytest.mark.rule("M-2", "C-1")
async def test_an_operation_has_all_traces_of_its_phase(opens: Opens, authority: Any) -> None:
    async with opens() as memory:
        await memory.remember_many(["count by three", "never on a Sunday"])
    async with opens(memory_policy=EveryChange(), authority=authority) as memory:
        async with memory.reasoning() as r:
            first = await r.recall("count", top_k=1)
            await tried(memory.remember("she counts by three"))
            second = await r.recall("Sunday", top_k=1)
            await tried(memory.update(second.items[0].id, "never on a Monday"))

        assert await proposed(memory) == [(first.trace,), (first.trace, second.trace)]
        assert (await memory.verify()).is_sound


@pytest.mark.rule("M-2", "C-1")
@pytest.mark.parametrize(
    "verb",
    [
        lambda m, _: m.remember("new"),
        lambda m, _: m.remember_many(["new", "newer"]),
        lambda m, id: m.update(id, "two"),
        lambda m, id: m.records.update(id, "two"),
        lambda m, id: m.forget(id, reason="wrong"),
        lambda m, id: m.govern.archive(id, reason="old"),
        lambda m, id: m.govern.supersede(id, "two", reason="newer"),
    ],
)
async def test_whatever_changes_memory_in_a_phase_has_its_traces(opens: Opens, verb: Any) -> None:
    async with opens() as memory:
        receipt = await memory.remember("count by three")
    async with opens(memory_policy=EveryChange()) as memory:
        async with memory.reasoning() as r:
            found = await r.recall("count", top_k=1)
            await verb(memory, receipt.id)

        assert await proposed(memory) == [(found.trace,)]


@pytest.mark.rule("M-3", "C-4")
async def test_an_operation_leaves_the_phase_as_it_was(opens: Opens) -> None:
    async with opens(memory_policy=EveryChange("delete")) as memory:
        receipt = await memory.remember("count by three")
        await memory.remember("never on a Sunday")
        async with memory.reasoning() as r:
            first = await r.recall("three", top_k=1)
            await memory.forget(receipt.id, reason="wrong")
            second = await r.recall("Sunday", top_k=1)
            await r.propose("add", {"by": 3})
            with pytest.raises(ReasoningClosed):
                await r.recall("three", top_k=1)
            await memory.forget(second.items[0].id, reason="done")

        both = (first.trace, second.trace)
        assert await proposed(memory) == [(first.trace,), both, both]


@pytest.mark.rule("M-4")
async def test_an_authority_judges_an_operation_by_its_traces(opens: Opens) -> None:
    policy = AllOf([AllowedSelectors(["agent:librarian"]), AutoApprove()])
    gated = {"memory_policy": EveryChange(), "authority": policy}
    async with opens() as memory:
        await memory.remember("count by three")
    async with opens(**gated) as memory, memory.reasoning() as r:
        await r.recall("count", top_k=1)
        with pytest.raises(DecisionRefused):
            await memory.remember("new")
    async with opens(**gated, actor="agent:librarian") as librarian, librarian.reasoning() as r:
        await r.recall("count", top_k=1)
        assert (await librarian.remember("new")).version == 1


@pytest.mark.rule("M-2", "C-1")
async def test_an_operation_that_read_memory_past_any_recall_is_refused(
    opens: Opens, authority: Any
) -> None:
    async with opens() as memory:
        receipt = await memory.remember("count by three")
    async with opens(memory_policy=EveryChange(), authority=authority) as memory:
        async with memory.reasoning() as r:
            found = await memory.get(receipt.id)
            assert found is not None
            with pytest.raises(TraceMissing):
                await memory.update(receipt.id, f"{found.data}, or four")
            await r.recall("count", top_k=1)
            await tried(memory.update(receipt.id, f"{found.data}, or four"))

        assert len(await proposed(memory)) == 1


@pytest.mark.rule("M-3", "C-4")
async def test_no_operation_is_proposed_while_a_recall_is_under_way(opens: Opens) -> None:
    selector = Waiting()
    async with opens(memory_policy=EveryChange()) as memory:
        async with memory.reasoning() as r:
            recall = asyncio.ensure_future(r.recall("count", top_k=1, selector=selector))
            await selector.waits.wait()
            with pytest.raises(TraceMissing):
                await memory.remember("new")
            selector.may.set()
            found = await recall
            await memory.remember("new")

        assert await proposed(memory) == [(found.trace,)]


@pytest.mark.rule("M-2", "C-1")
async def test_an_operation_in_an_inner_phase_has_the_traces_of_the_outer_one(
    opens: Opens,
) -> None:
    async with opens() as memory:
        await memory.remember_many(["count by three", "never on a Sunday"])
    async with opens(memory_policy=EveryChange()) as memory:
        async with memory.reasoning() as outer:
            first = await outer.recall("three", top_k=1)
            async with memory.reasoning() as inner:
                second = await inner.recall("Sunday", top_k=1)
                await memory.remember("new")
            with pytest.raises(TraceMissing):  # the inner one has told it, and is over
                await memory.remember("newer")

        assert await proposed(memory) == [(first.trace, second.trace)]


@pytest.mark.rule("M-2", "C-1")
async def test_an_operation_of_a_task_that_outlives_its_phase_has_its_traces(
    opens: Opens,
) -> None:
    over, noted = asyncio.Event(), asyncio.Event()

    async def noting(memory: Memory[Any], text: str) -> None:
        await over.wait()
        await memory.remember(text)
        noted.set()

    async def looking(memory: Memory[Any], id: str) -> None:
        await noted.wait()
        await memory.get(id)
        await memory.remember("what is there")

    async with opens() as memory:
        await memory.remember_many(["count by three", "never on a Sunday"])
    async with opens(memory_policy=EveryChange()) as memory:
        (other,) = await memory.list(text="Sunday")
        async with memory.reasoning() as r:
            found = await r.recall("three", top_k=1)
            note = asyncio.ensure_future(noting(memory, found.items[0].data))
            look = asyncio.ensure_future(looking(memory, other.id))
        over.set()
        await note
        with pytest.raises(TraceMissing):
            await look

        assert await proposed(memory) == [(found.trace,)]


async def test_an_operation_that_needs_no_approval_is_no_proposal(opens: Opens) -> None:
    async with opens(memory_policy=EveryChange("delete")) as memory:
        receipt = await memory.remember("count by three")
        async with memory.reasoning():
            await memory.get(receipt.id)
            await memory.update(receipt.id, "count by four")

        assert await proposed(memory) == []


async def test_what_a_run_leads_to_is_remembered_outside_of_its_phase(opens: Opens) -> None:
    class Noting:
        """A provider that looks before it writes."""

        def __init__(self, memory: Memory[Any]) -> None:
            self.memory = memory

        async def recall(self, _query: Any) -> Any:
            return None

        async def remember(self, experience: Any) -> None:
            await self.memory.list(text="count")
            await self.memory.remember(f"it was {experience.outcome}", id="noted")

    async with opens() as memory:
        await memory.remember_many(["count by three", "count by four"])
    async with opens(memory_policy=EveryChange(), provider=Noting) as memory:
        async with memory.reasoning() as outer:
            async with memory.reasoning() as r:
                run = await r.act("add", {"by": 3})
                await inside(memory).intents.close()  # what is in the background is done
            assert run.is_completed
            await outer.propose("nothing")

        assert await memory.get("noted") is not None
        assert await proposed(memory) == [(), (), ()]


# ----------------------------------------------------------------------------- erasing


async def test_an_operation_goes_with_the_traces_that_it_rests_on(
    opens: Opens, authority: Any
) -> None:
    async with opens() as memory:
        receipt = await memory.remember("zanzibar")
    async with opens(memory_policy=EveryChange(), authority=authority) as memory:
        async with memory.reasoning() as r:
            await r.recall("zanzibar", top_k=1)
            await tried(memory.remember("she has been abroad", id="kept"))

        counts = (await memory.erase(receipt.id, reason="asked for")).counts

        assert (counts.traces, counts.proposals) == (1, 1)
        assert await memory.inbox.list() == []
        async with inside(memory).ledger.snapshot() as snapshot:
            async for chunk in snapshot.rows(ENTRIES):
                assert not any(b"zanzibar" in (stored.body or b"") for stored in chunk)
        kept = await memory.get("kept")  # it says something of its own, and was approved
        assert (kept is not None) is isinstance(authority, AutoApprove)
        assert (await memory.verify()).is_sound


async def test_no_operation_rests_on_a_trace_that_was_erased(opens: Opens, authority: Any) -> None:
    async with opens() as memory:
        receipt = await memory.remember("zanzibar")
    async with opens(memory_policy=EveryChange(), authority=authority) as memory:
        async with memory.reasoning() as r:
            await r.recall("zanzibar", top_k=1)
            await memory.erase(receipt.id, reason="asked for")
            with pytest.raises(WorldErased):
                await memory.remember("she has been abroad")

        assert await memory.list() == []
        assert await proposed(memory) == []


@pytest.mark.rule("M-2", "C-1")
async def test_memory_of_another_scope_is_not_told_in_this_one(
    opens: Opens, scope: str, authority: Any
) -> None:
    async with opens(scope=f"{scope}-other") as other:
        await other.remember("zanzibar")
        async with opens(memory_policy=EveryChange(), authority=authority) as memory:
            async with other.reasoning() as r:
                await r.recall("zanzibar", top_k=1)
                with pytest.raises(TraceMissing):
                    await memory.remember("she has been abroad")
                with pytest.raises(TraceMissing):
                    await memory.worlds.propose("nothing")

            assert await memory.list() == []
            assert await proposed(memory) == []
