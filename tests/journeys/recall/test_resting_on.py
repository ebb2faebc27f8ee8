"""What a proposal rests on: what is named, or what was recalled here; and what its run gets."""

import asyncio
from typing import Any

import pytest

import memoranda
from memoranda import Memory
from memoranda.kernel.errors import (
    InvalidWorld,
    TraceMissing,
    WorldErased,
    WorldNotFound,
)
from memoranda.recall.policies import AllowedSelectors, RequiresVerified
from memoranda.recall.selector import Chosen
from memoranda.recall.trace import MemoryTrace, traces_in, validate_memory_trace
from memoranda.testkit.strategies import FrozenClock
from memoranda.worlds.composites import AllOf
from memoranda.worlds.policies import AutoApprove, HumanInTheLoop
from memoranda.worlds.proposal import IntentBody, ProjectionEvent, projection
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.intent.counter import COUNTER
from tests.journeys.intent.simulators import Provider
from tests.journeys.recall.simulators import Saying
from tests.journeys.recall.test_reasoning import context_of

pytestmark = pytest.mark.anyio

MINUTE = 60_000


async def queries_of(memory: Memory[Any], proposal_id: str) -> list[str]:
    """What was asked by the recalls that a proposal rests on."""
    return [one.query for one in traces_in(await context_of(memory, proposal_id))]


def bare(trace: MemoryTrace) -> MemoryTrace:
    """A trace without its proofs, which are made in the tree as it is then."""
    selected = tuple(one.model_copy(update={"evidence": None}) for one in trace.selected)
    return trace.model_copy(update={"selected": selected})


# -------------------------------------------------------------------------- named memory


@pytest.mark.rule("M-2", "C-1")
@pytest.mark.parametrize("by_id", [False, True])
async def test_a_proposal_rests_on_the_recalls_that_it_names(
    memory: Memory[Any], by_id: bool
) -> None:
    await memory.remember("count by three")
    first = await memory.recall("three", top_k=1)
    await memory.recall("something else", top_k=1)
    third = await memory.recall("count", top_k=1)
    named = [one.trace_id if by_id else one for one in (first, third)]

    run = await memory.act("add", {"by": 3}, memory=named)

    attached = traces_in(await context_of(memory, run.proposal_id))
    assert [one.query for one in attached] == ["three", "count"]
    assert [bare(one) for one in attached] == [bare(one.trace) for one in (first, third)]
    assert all(one.evidence is not None for trace in attached for one in trace.selected)
    why = await memory.why(run.proposal_id)
    told = [part.id for part in why.parts if part.what == "recall"]
    assert told == [first.trace_id, third.trace_id]


@pytest.mark.rule("M-2", "C-1")
async def test_one_recall_is_named_by_itself_and_none_by_an_empty_list(
    memory: Memory[Any],
) -> None:
    found = await memory.recall("count", top_k=1)

    one = await memory.worlds.propose("add", {"by": 3}, memory=found)
    none = await memory.worlds.propose("add", {"by": 3}, memory=())

    assert await queries_of(memory, one.proposal_id) == ["count"]
    assert await context_of(memory, none.proposal_id) is None


@pytest.mark.rule("M-4")
async def test_a_trace_named_by_its_id_has_its_proofs_again(opens: Opens) -> None:
    async with opens(authority=AllOf([RequiresVerified(), AutoApprove()])) as memory:
        receipt = await memory.remember("count by three")
        found = await memory.recall("count", top_k=1)
        proved = await memory.worlds.propose("add", {"by": 3}, memory=found.trace_id)
        await memory.forget(receipt.id, reason="wrong")
        late = await memory.worlds.propose("add", {"by": 3}, memory=found.trace_id)

    assert (proved.status, late.status) == ("approved", "rejected")


async def test_what_is_no_memory_is_refused_and_nothing_is_proposed(opens: Opens) -> None:
    async with opens() as memory, opens(scope="another-scope") as other:
        receipt = await memory.remember("count by three")
        found = await memory.recall("count", top_k=1)
        elsewhere = await other.recall("count", top_k=1)
        given: list[tuple[Any, type[Exception]]] = [
            (5, InvalidWorld),
            ([None], InvalidWorld),
            ("trace-of-nothing", WorldNotFound),
            (elsewhere, TraceMissing),
            (elsewhere.trace_id, WorldNotFound),
        ]
        for wrong, error in given:
            with pytest.raises(error):
                await memory.worlds.propose("nothing", memory=wrong)
        await memory.erase(receipt.id, reason="asked for")
        for gone in (found, found.trace_id):
            with pytest.raises(WorldErased):
                await memory.worlds.propose("nothing", memory=gone)
        assert not (await inside(memory).ledger.marks("proposal/"))


async def test_a_retry_is_the_same_whatever_was_recalled_since(memory: Memory[Any]) -> None:
    await memory.recall("count", top_k=1)
    first = await memory.act("add", {"by": 3}, idempotency_key="once")
    again = await memory.act("add", {"by": 3}, idempotency_key="once")
    await memory.recall("count", top_k=1)
    once_more = await memory.act("add", {"by": 3}, idempotency_key="once")
    other = await memory.act("add", {"by": 3})

    assert first.proposal_id == again.proposal_id == once_more.proposal_id
    assert await queries_of(memory, other.proposal_id) == ["count"]  # no retry has used it up


# --------------------------------------------------------------------------------- the net


@pytest.mark.rule("M-2", "C-1")
async def test_what_was_recalled_here_is_attached_where_nothing_is_said(
    memory: Memory[Any],
) -> None:
    await memory.remember("count by three")
    found = await memory.recall("count", top_k=1)

    run = await memory.act("add", {"by": 3})
    after = await memory.act("add", {"by": 3})

    assert run.is_completed
    assert traces_in(await context_of(memory, run.proposal_id)) == (found.trace,)
    assert await context_of(memory, after.proposal_id) is None  # it is in a proposal already


@pytest.mark.rule("M-2", "C-1")
async def test_tasks_tell_those_that_started_them_what_they_recalled(opens: Opens) -> None:
    async with opens() as memory:
        await asyncio.gather(memory.recall("one", top_k=1), memory.recall("two", top_k=1))
        run = await memory.act("nothing")
        assert sorted(await queries_of(memory, run.proposal_id)) == ["one", "two"]


@pytest.mark.rule("M-2", "C-1")
async def test_a_task_rests_on_what_was_recalled_before_it_was_started(opens: Opens) -> None:
    async with opens() as memory:
        await memory.recall("before", top_k=1)
        run = await asyncio.create_task(memory.act("nothing"))
        assert await queries_of(memory, run.proposal_id) == ["before"]


@pytest.mark.rule("M-2", "C-1")
async def test_tasks_side_by_side_rest_each_on_their_own(opens: Opens) -> None:
    async with opens() as memory:

        async def reason(query: str) -> list[str]:
            await memory.recall(query, top_k=1)
            await asyncio.sleep(0)
            return await queries_of(memory, (await memory.worlds.propose("nothing")).proposal_id)

        found = await asyncio.gather(reason("one"), reason("two"), reason("three"))
        last = await memory.worlds.propose("nothing")

        assert list(found) == [["one"], ["two"], ["three"]]
        assert await context_of(memory, last.proposal_id) is None


async def test_what_another_handle_recalled_is_not_attached(opens: Opens) -> None:
    async with opens() as memory, opens(actor="agent:other") as other:
        await other.recall("count", top_k=1)
        run = await memory.act("nothing")
        assert await context_of(memory, run.proposal_id) is None


async def test_what_was_recalled_long_ago_must_be_named(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    await memory.recall("old", top_k=1)
    clock.advance(10 * MINUTE)
    await memory.recall("new", top_k=1)
    in_time = await memory.worlds.propose("nothing")
    older = await memory.recall("older", top_k=1)
    clock.advance(10 * MINUTE + 1)
    await memory.recall("newer", top_k=1)

    with pytest.raises(TraceMissing) as refused:
        await memory.worlds.propose("nothing")

    assert "memory=" in str(refused.value)
    late = await memory.worlds.propose("nothing", memory=[older.trace_id])
    after = await memory.worlds.propose("nothing")
    assert await queries_of(memory, in_time.proposal_id) == ["old", "new"]
    assert await queries_of(memory, late.proposal_id) == ["older"]
    assert await context_of(memory, after.proposal_id) is None


@pytest.mark.rule("M-2", "C-1")
async def test_who_recalled_long_ago_may_say_that_nothing_rests_on_it(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    await memory.recall("old", top_k=1)
    clock.advance(10 * MINUTE + 1)

    run = await memory.act("nothing", memory=())

    assert await context_of(memory, run.proposal_id) is None


@pytest.mark.rule("M-2", "C-1")
async def test_more_than_anybody_can_have_meant_must_be_named(memory: Memory[Any]) -> None:
    found = [await memory.recall("count", top_k=0) for _ in range(17)]

    with pytest.raises(TraceMissing) as refused:
        await memory.act("nothing")

    assert "memory=" in str(refused.value)
    run = await memory.act("nothing", memory=found[:2])
    assert len(await queries_of(memory, run.proposal_id)) == 2
    for _ in range(16):
        await memory.recall("count", top_k=0)
    assert len(await queries_of(memory, (await memory.act("nothing")).proposal_id)) == 16


async def test_what_is_refused_is_attached_the_next_time(memory: Memory[Any]) -> None:
    await memory.recall("count", top_k=1)
    with pytest.raises(InvalidWorld):
        await memory.worlds.propose("nothing", branch="system")
    proposed = await memory.worlds.propose("nothing")
    assert await queries_of(memory, proposed.proposal_id) == ["count"]


@pytest.mark.rule("M-2", "C-1")
async def test_who_rests_on_what_was_erased_since_has_to_say_so(memory: Memory[Any]) -> None:
    receipt = await memory.remember("zanzibar")
    await memory.recall("zanzibar", top_k=1)
    await memory.erase(receipt.id, reason="asked for")

    with pytest.raises(TraceMissing) as refused:
        await memory.act("nothing")

    assert "memory=" in str(refused.value)
    assert (await memory.act("nothing", memory=())).is_completed


async def test_what_a_provider_or_a_selector_recalls_is_no_reasoning(opens: Opens) -> None:
    async def recall(_query: Any) -> str:
        return (await memory.recall("by the provider", top_k=1)).outcome

    class Asking(Saying):
        async def select(self, request: Any, sources: Any) -> Any:
            await memory.recall("by the selector", top_k=1)
            return await super().select(request, sources)

    async with opens(provider=Provider(recall)) as memory:
        await memory.act("nothing")
        await memory.recall("count", top_k=1, selector=Asking())
        proposed = await memory.worlds.propose("nothing")

        assert await queries_of(memory, proposed.proposal_id) == ["count"]


@pytest.mark.rule("C-5")
async def test_a_projection_rests_on_no_memory(memory: Memory[Any]) -> None:
    @projection("counting")
    def counting(_data: Any, _actor: Any, _event: Any) -> IntentBody:
        return IntentBody(type="nothing")

    await memory.recall("count", top_k=1)
    projected = await memory.worlds.project(counting, ProjectionEvent(kind="ui", event_id="1"))
    proposed = await memory.worlds.propose("nothing")

    assert projected is not None
    assert await context_of(memory, projected.proposal_id) is None
    assert await queries_of(memory, proposed.proposal_id) == ["count"]


# ----------------------------------------------------------------------- several selectors


@pytest.mark.rule("R-3")
async def test_of_several_selectors_each_is_named_for_what_it_selected(opens: Opens) -> None:
    async with opens() as memory:
        ids = [(await memory.remember(text)).id for text in ("one", "two")]
        alice, bob = (
            memory.actor.model_copy(update={"actor_id": name}) for name in ("alice", "bob")
        )
        found = [
            await memory.recall("x", top_k=1, selector=Saying([Chosen("so", 0.5, id)], actor=who))
            for id, who in zip(ids, (alice, bob), strict=True)
        ]

        run = await memory.act("nothing", memory=found)

        said = (await context_of(memory, run.proposal_id))["memory"]
        assert validate_memory_trace(said).valid
        assert said["selector"]["actorId"] == "worker"  # who took the two together
        assert [one["selector"]["actorId"] for one in said["selected"]] == ["alice", "bob"]
        why = await memory.why(run.proposal_id)
        assert why.known["selected by"] == "agent:alice, agent:bob"


@pytest.mark.rule("M-4")
async def test_an_authority_judges_each_of_several_selectors(opens: Opens) -> None:
    policy = AllOf([AllowedSelectors(["agent:alice", "agent:worker"]), AutoApprove()])
    async with opens(authority=policy) as memory:
        bob = memory.actor.model_copy(update={"actor_id": "bob"})
        fine = await memory.recall("x", top_k=1)
        other = await memory.recall("x", top_k=1, selector=Saying(actor=bob))

        assert (await memory.worlds.propose("nothing", memory=[fine])).status == "approved"
        assert (await memory.worlds.propose("nothing", memory=[fine, other])).status == "rejected"


# -------------------------------------------------------------------------- traces by hand


async def by_hand(memory: Memory[Any], **changed: Any) -> dict[str, Any]:
    """A trace as somebody else would make it of what is here."""
    await memory.remember("count by three", id="three")
    found = await memory.recall("count", top_k=1, selector="keyword")
    wire = found.journaled.to_wire()
    selected = {"ref": wire["selected"][0]["ref"], "reason": "so", "confidence": 0.5}
    wire["selected"] = [{**selected, "verified": True}]
    return {**wire, **changed}


@pytest.mark.rule("C-3", "C-4")
async def test_a_trace_made_by_hand_is_confirmed_and_written_as_we_know_it(opens: Opens) -> None:
    async with opens(authority=AllOf([RequiresVerified(), AutoApprove()])) as memory:
        made = await by_hand(memory, extra=1)
        made["selected"][0]["note"] = "mine"
        made["selector"] = {"actorId": "broker", "kind": "agent", "mood": "good"}

        run = await memory.act("add", reason={"summary": "so", "context": {"memory": made}})

        assert run.is_completed
        said = (await context_of(memory, run.proposal_id))["memory"]
        assert said.keys() == {"selector", "query", "selectedAt", "atWorldId", "selected"}
        assert said["selector"] == {"actorId": "broker", "kind": "agent"}
        assert "note" not in said["selected"][0]
        assert said["selected"][0]["evidence"]["verifiedBy"]["actorId"] == "worker"
        await memory.erase("three", reason="asked for")
        with pytest.raises(WorldErased):
            await memory.worlds.standing(run.proposal_id)


@pytest.mark.rule("C-3", "C-4")
async def test_a_trace_made_by_hand_that_can_not_be_confirmed_is_refused(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    made = await by_hand(memory)
    selected = made["selected"][0]
    unknown = {**selected, "ref": {"worldId": "world-100"}}
    wrong = [
        ({**made, "selectedAt": clock.at + 1}, ".selectedAt"),
        ({**made, "atWorldId": "world-456"}, ".atWorldId"),
        ({**made, "selected": [unknown]}, ".selected[0].ref.worldId"),
        ({**made, "selected": [{**unknown, "verified": False}]}, ".selected[0].ref.worldId"),
        (made, ".selected[0].verified"),
    ]
    await memory.forget("three", reason="wrong")
    for trace, where in wrong:
        with pytest.raises(InvalidWorld) as refused:
            await memory.worlds.propose(
                "nothing", reason={"summary": "so", "context": {"memory": trace}}
            )
        assert refused.value.where == f"$.trace.context.memory{where}"
        assert validate_memory_trace(trace).valid  # of its shape
    made["selected"] = [{**selected, "verified": False}]
    fine = await memory.worlds.propose(
        "nothing", reason={"summary": "so", "context": {"memory": made}}
    )
    assert fine.status == "approved"
    assert len(await inside(memory).ledger.marks("proposal/")) == 1


async def test_a_trace_made_by_hand_and_memory_that_is_named_do_not_go_together(
    memory: Memory[Any],
) -> None:
    made = {"summary": "so", "context": {"memory": await by_hand(memory)}}
    for named in ((), await memory.recall("count", top_k=1)):
        with pytest.raises(InvalidWorld):
            await memory.worlds.propose("nothing", reason=made, memory=named)


# -------------------------------------------------------------------------------- branches


@pytest.mark.rule("R-2")
async def test_a_trace_names_the_head_of_the_branch_that_the_work_is_for(
    memory: Memory[Any],
) -> None:
    first = await memory.act("add", {"by": 1})
    await memory.worlds.branch("side", at=str(first.world))
    second = await memory.act("add", {"by": 1})

    main = await memory.recall("count", top_k=1)
    side = await memory.recall("count", top_k=1, branch="side")
    async with memory.reasoning(branch="side") as r:
        inside = await r.recall("count", top_k=1)
        proposed = await r.propose("add", {"by": 5})

    assert main.trace.at_world_id == second.world
    assert side.trace.at_world_id == inside.trace.at_world_id == first.world
    ran = await memory.worlds.run(proposed.proposal_id)
    assert ran.data["count"] == 6


@pytest.mark.parametrize("name", ["system", "", " ", "x" * 2_000, 5])
async def test_what_can_be_no_branch_of_theirs_is_refused(memory: Memory[Any], name: Any) -> None:
    with pytest.raises(InvalidWorld):
        await memory.recall("count", top_k=1, branch=name)
    with pytest.raises(InvalidWorld):
        await memory.worlds.propose("nothing", branch=name)
    with pytest.raises(InvalidWorld):
        async with memory.reasoning(branch=name):
            pass


async def test_a_proposal_on_another_branch_keeps_the_trace_as_it_was_made(
    memory: Memory[Any],
) -> None:
    first = await memory.act("add", {"by": 1})
    await memory.worlds.branch("side", at=str(first.world))
    second = await memory.act("add", {"by": 1})
    found = await memory.recall("count", top_k=1)

    run = await memory.act("add", {"by": 5}, branch="side", memory=found)

    said = (await context_of(memory, run.proposal_id))["memory"]
    assert (run.data["count"], said["atWorldId"]) == (6, second.world)


# -------------------------------------------------------------------- what a run is given


def given_to(run: Any) -> Any:
    """What the action was given to remember, and whether that had failed."""
    return run.data["notes"][-1]


@pytest.mark.rule("D-MEM-3", "MEM-CONTEXT-1")
async def test_an_action_gets_what_was_selected_for_its_proposal(memory: Memory[Any]) -> None:
    receipt = await memory.remember({"says": "count by three"}, id="rule")
    async with memory.reasoning() as r:
        found = await r.recall("three", top_k=1)
        await r.recall("count", top_k=1)
        run = await r.act("learn")

    context, is_failed = given_to(run)
    assert (run.recall, is_failed) == ("answered", False)
    assert context["leftOut"] == []
    (item,) = context["items"]
    assert item["data"] == {"says": "count by three"}
    assert (item["id"], item["version"], item["verified"]) == (receipt.id, 1, True)
    assert item["ref"] == found.items[0].ref.to_wire()
    assert (await memory.worlds.replay(str(run.execution_key))).verdict == "same"
    why = await memory.why(str(run.execution_key))
    assert [part.id for part in why.parts if part.what == "memory"] == [receipt.id]


@pytest.mark.rule("D-MEM-3", "MEM-CONTEXT-1")
async def test_an_action_gets_the_version_that_was_selected_verified_again(opens: Opens) -> None:
    async with opens(authority=HumanInTheLoop("human:ann")) as memory:
        await memory.remember("by three", id="rule")
        await memory.remember("by four", id="other")
        found = await memory.recall("by", top_k=2)
        proposed = await memory.worlds.propose("learn", memory=found)
        await memory.update("rule", "by nine")
        await memory.forget("other", reason="wrong")
        async with opens(actor="human:ann") as ann:
            await ann.inbox.approve(proposed.proposal_id, reason="fine")
        run = await memory.worlds.run(proposed.proposal_id)

    items = {one["id"]: one for one in given_to(run)[0]["items"]}
    assert (items["rule"]["data"], items["rule"]["verified"]) == ("by three", True)
    assert (items["other"]["data"], items["other"]["verified"]) == ("by four", False)
    assert "invalidated" in items["other"]["whyNotVerified"]


@pytest.mark.rule("D-MEM-3")
async def test_an_action_gets_the_world_that_was_selected(memory: Memory[Any]) -> None:
    first = await memory.act("add", {"by": 7})
    found = await memory.recall("add", top_k=1, selector="worlds")
    run = await memory.act("learn", memory=found)

    (item,) = given_to(run)[0]["items"]
    assert (item["kind"], item["id"]) == ("world", first.execution_key)
    assert item["data"]["count"] == 7


@pytest.mark.rule("MEM-CTX-3", "APP-INPUT-1")
async def test_an_action_without_any_memory_gets_none_and_that_is_no_failure(
    memory: Memory[Any],
) -> None:
    run = await memory.act("learn")
    nothing = await memory.act("learn", memory=await memory.recall("submarine", top_k=1))

    assert (given_to(run), run.recall) == ([None, False], "none")
    assert given_to(nothing) == [{"items": [], "leftOut": []}, False]


@pytest.mark.rule("D-MEM-3")
async def test_a_provider_is_asked_in_the_place_of_the_default_one(opens: Opens) -> None:
    async with opens(provider=Provider("mine")) as memory:
        await memory.remember("count by three")
        run = await memory.act("learn", memory=await memory.recall("count", top_k=1))
        assert given_to(run) == ["mine", False]


async def test_what_can_not_be_had_any_more_is_left_out_and_marked(opens: Opens) -> None:
    """An erasure takes the proposal along; what is lost beside it is told to the run."""
    async with opens() as memory:
        receipt = await memory.remember("one")
        await memory.remember("two")
        found = await memory.recall("one two", top_k=2)
        lost = next(one for one in found if one.id == receipt.id)
        await memory.erase(receipt.id, reason="asked for")

        given = await inside(memory).intents.selections.provider([found.trace]).recall(None)  # type: ignore[arg-type]

        assert [one["data"] for one in given["items"]] == ["two"]
        assert given["leftOut"] == [{"ref": lost.ref.to_wire(), "why": "it was erased"}]


@pytest.mark.rule("M-2")
async def test_what_another_handle_of_the_same_actor_recalled_is_attached(
    url: str, scope: str
) -> None:
    app = memoranda.App(domain=COUNTER)
    async with memoranda.connect(url) as database:
        await database.scope(scope, actor="agent:a").remember("count by three")
        found = await database.scope(scope, actor="agent:a").recall("count", top_k=1)
        run = await database.scope(scope, actor="agent:a", app=app).act("add", {"by": 3})
        other = await database.scope(scope, actor="agent:b", app=app).act("add", {"by": 3})

        why = await database.scope(scope).why(run.proposal_id)
        assert found.trace_id in str(why.to_wire())
        unrelated = await database.scope(scope).why(other.proposal_id)
        assert found.trace_id not in str(unrelated.to_wire())
