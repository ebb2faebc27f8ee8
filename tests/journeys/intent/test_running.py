"""What a run writes, which world it leads to, and where the head of its branch is then."""

import asyncio
from typing import Any

import pytest

from memoranda import Memory
from memoranda.identity import sha256_hex
from memoranda.journeys.intent.branches import EMPTY, first_world, of_host
from memoranda.kernel.errors import (
    BranchMoved,
    IdempotencyConflict,
    IllegalMove,
    InvalidIntent,
    NothingToRun,
    WorldNotFound,
)
from memoranda.worlds.action import ActionContext
from memoranda.worlds.domain import Domain
from memoranda.worlds.host import HostExecutionOptions, HostExecutionResult
from memoranda.worlds.policies import HumanInTheLoop
from memoranda.worlds.proposal import Intent
from memoranda.worlds.snapshot import Snapshot, snapshot_hash
from tests.fixtures import Opens
from tests.journeys.intent.counter import COUNTER, OUTSIDE
from tests.journeys.intent.reading import counts, head, said
from tests.journeys.intent.simulators import Provider

CANARY = "canary-9d1f4c2a"


@pytest.mark.rule("MEM-CTX-1")
async def test_no_world_proposal_or_decision_contains_any_of_the_memory(opens: Opens) -> None:
    async with opens(provider=Provider({"note": CANARY})) as memory:
        for action in ("learn", "nothing", "fail"):
            await memory.act(action)

        found = [one for one in await said(memory) if CANARY.encode() in one.body]
        assert {one.document["type"] for one in found} == {"ExecutionBegun", "ExecutionSealed"}
        protocol = [one for one in await said(memory) if one.kind in {"proposal", "decision"}]
        assert len(protocol) == 6


class Seeing:
    """A host that keeps the options it is given."""

    def __init__(self) -> None:
        self.options: list[HostExecutionOptions] = []
        self.bases: list[Snapshot] = []

    async def execute(
        self, key: str, base_snapshot: Snapshot, intent: Intent, options: HostExecutionOptions
    ) -> HostExecutionResult:
        assert (key, intent.type) != ("", "")
        self.options.append(options)
        self.bases.append(base_snapshot)
        wire = base_snapshot.to_wire()
        wire["meta"]["version"] += 1
        return HostExecutionResult(outcome="completed", terminal_snapshot=Snapshot.from_wire(wire))


@pytest.mark.rule("MEM-CTX-2")
async def test_the_options_of_a_host_carry_no_memory(opens: Opens) -> None:
    host = Seeing()
    runtime = of_host(host, "schema-1", {"a": 1})
    async with opens(domain=runtime, provider=Provider(CANARY)) as memory:
        run = await memory.act("anything", {"b": 2}, paths=["a"])

    (options,) = host.options
    assert run.is_completed
    assert options.to_wire() == {"approvedScope": {"allowedPaths": ["a"]}}
    assert host.bases[0].input == {
        "b": 2,
        "$app": {"memoryContext": CANARY, "memoryRecallFailed": False},
    }


class Meddling(Seeing):
    """A host that changes everything it is given."""

    async def execute(
        self, key: str, base_snapshot: Snapshot, intent: Intent, options: HostExecutionOptions
    ) -> HostExecutionResult:
        result = await super().execute(key, base_snapshot, intent, options)
        base_snapshot.data["a"] = "changed"
        base_snapshot.input["$app"]["memoryContext"] = "forged"
        base_snapshot.input["more"] = True
        return result


@pytest.mark.rule("D-MEM-4", "MEM-CONTEXT-1")
async def test_a_host_that_changes_its_base_changes_neither_memory_nor_history(
    opens: Opens,
) -> None:
    runtime = of_host(Meddling(), "schema-1", {"a": 1})
    async with opens(domain=runtime, provider=Provider({"tea": "green"})) as memory:
        first = await memory.act("anything", {"b": 2})
        second = await memory.act("anything", {"b": 3})

        begun = (await said(memory, "ExecutionBegun"))[0].document
        assert begun["input"]["$app"]["memoryContext"] == {"tea": "green"}
        for run in (first, second):
            restored = await memory.worlds.restore(run.execution_key or "")
            assert restored.data == {"a": 1}
            assert restored.input["$app"]["memoryContext"] == {"tea": "green"}


@pytest.mark.rule("MEM-CTX-3", "APP-INPUT-1")
async def test_true_in_an_input_is_not_the_one_that_was_given(opens: Opens) -> None:
    class Truthful(Seeing):
        async def execute(
            self, key: str, base_snapshot: Snapshot, intent: Intent, options: HostExecutionOptions
        ) -> HostExecutionResult:
            result = await super().execute(key, base_snapshot, intent, options)
            wire = result.terminal_snapshot.to_wire()
            wire["input"] = {**wire["input"], "b": True}
            return result.model_copy(update={"terminal_snapshot": Snapshot.from_wire(wire)})

    async with opens(domain=of_host(Truthful(), "schema-1", {})) as memory:
        run = await memory.act("anything", {"b": 1})

        assert (await memory.worlds.restore(run.execution_key or "")).input["b"] is True


class Raising:
    async def execute(self, *_: Any) -> HostExecutionResult:
        raise OSError("\ud800 \x00 gone")


class Silent:
    async def execute(self, *_: Any) -> Any:
        return {"outcome": "completed"}


@pytest.mark.parametrize(
    ("host", "code"), [(Raising(), "host.raised"), (Silent(), "host.invalid_result")]
)
async def test_a_host_that_breaks_makes_a_failed_world(opens: Opens, host: Any, code: str) -> None:
    async with opens(domain=of_host(host, "schema-1", {"a": 1})) as memory:
        run = await memory.act("anything")

        assert run.status == "failed"
        assert run.error is not None
        assert run.error["code"] == code
        assert run.data == {"a": 1}


@pytest.mark.rule("WORLD-ID")
async def test_the_id_of_a_world_follows_from_schema_and_snapshot(memory: Memory[Any]) -> None:
    run = await memory.act("add", {"by": 2})

    snapshot = await memory.worlds.restore(run.world or "")
    expected = sha256_hex(f"{COUNTER.schema_hash}:{snapshot_hash(snapshot)}".encode())
    record = next(
        one.document["world"]
        for one in await said(memory, "World")
        if one.document["world"]["worldId"] == run.world
    )
    assert run.world == expected
    assert record["snapshotHash"] == snapshot_hash(snapshot)
    assert record["createdBy"] == run.proposal_id


@pytest.mark.rule("R-1")
async def test_memory_never_changes_a_world(opens: Opens) -> None:
    worlds = []
    for n, answer in enumerate([None, "tea", {"deep": [1, 2]}, ConnectionError("gone")]):
        async with opens(provider=Provider(answer), scope=f"r1-{n}") as memory:
            worlds.append((await memory.act("nothing")).world)

    assert len(set(worlds)) == 1


@pytest.mark.rule("R-1", "MEM-CONTEXT-1")
async def test_two_executions_with_other_memory_that_reach_one_world_stay_two(
    opens: Opens,
) -> None:
    provider = Provider("first")
    async with opens(provider=provider) as memory:
        one = await memory.act("nothing")
        provider.answer = "second"
        two = await memory.act("nothing")

        assert one.world == two.world
        assert one.execution_key != two.execution_key
        contexts = [
            (await memory.worlds.restore(run.execution_key or "")).input["$app"]["memoryContext"]
            for run in (one, two)
        ]
        assert contexts == ["first", "second"]
        edges = [one.document["edge"] for one in await said(memory, "ExecutionSealed")]
        assert len({edge["edgeId"] for edge in edges}) == 2
        assert (await counts(memory))["World"] == 1  # the first world of the branch is that one


@pytest.mark.rule("R-3")
async def test_who_used_and_who_approved_stay_apart_on_record(opens: Opens) -> None:
    policy = HumanInTheLoop(["human:alice"], authority_id="desk")
    async with opens(authority=policy) as memory, opens(actor="human:alice") as alice:
        made = {
            "selector": {"actorId": "librarian", "kind": "agent"},
            "query": "what is due?",
            "selectedAt": 1,
            "atWorldId": first_world(EMPTY, 1).world_id,
            "selected": [],
        }
        trace = {"summary": "it is due", "context": {"memory": made}}
        proposed = await memory.worlds.propose("add", {"by": 1}, reason=trace)
        await alice.inbox.approve(proposed.proposal_id, reason="fine")
        await memory.worlds.run(proposed.proposal_id)

        proposal = (await said(memory, "Proposal"))[0].document["proposal"]
        decision = (await said(memory, "Decision"))[0].document["decision"]
        selector = proposal["trace"]["context"]["memory"]["selector"]
        assert selector["actorId"] == "librarian"
        assert proposal["actor"]["actorId"] == "worker"
        assert decision["authority"] == {"authorityId": "desk", "kind": "human"}
        assert decision["decidedBy"]["actorId"] == "alice"


# ------------------------------------------------------------------------- the head


async def test_the_head_moves_only_on_completed(memory: Memory[Any]) -> None:
    done = await memory.act("add", {"by": 1})
    failed = await memory.act("fail")

    assert failed.status == "failed"
    assert failed.world not in {None, done.world}
    assert await head(memory) == done.world
    assert (await memory.worlds.restore(failed.world or "")).system.last_error is not None
    again = await memory.act("add", {"by": 1})
    assert again.data["count"] == 2


async def test_of_two_writers_on_one_head_one_wins_and_the_other_is_on_record_as_failed(
    opens: Opens,
) -> None:
    async with opens() as one, opens(actor="agent:other") as other:
        first = await one.worlds.propose("add", {"by": 1})
        second = await other.worlds.propose("add", {"by": 2})
        done = await one.worlds.run(first.proposal_id)

        with pytest.raises(BranchMoved) as caught:
            await other.worlds.run(second.proposal_id)

        assert caught.value.code == "world.branch_moved"
        assert caught.value.head == done.world
        standing = await other.worlds.standing(second.proposal_id)
        assert standing.status == "failed"
        assert standing.error is not None
        assert standing.error["code"] == "world.conflict"
        assert await head(one) == done.world


async def test_many_writers_on_one_head_exactly_one_wins(opens: Opens) -> None:
    async with opens() as one, opens() as two, opens() as three:
        await one.act("nothing")
        before = await head(one)
        handles = [one, two, three]
        proposed = [await handles[n % 3].worlds.propose("add", {"by": n + 1}) for n in range(12)]
        results = await asyncio.gather(
            *(handles[n % 3].worlds.run(it.proposal_id) for n, it in enumerate(proposed)),
            return_exceptions=True,
        )

        won = [one for one in results if not isinstance(one, BaseException)]
        lost = [one for one in results if isinstance(one, BranchMoved)]
        assert (len(won), len(lost)) == (1, 11)
        assert await head(two) == won[0].world != before
        statuses = [(await three.worlds.standing(it.proposal_id)).status for it in proposed]
        assert sorted(statuses) == ["completed", *["failed"] * 11]


async def test_two_handles_that_run_one_proposal_at_once_run_it_once(opens: Opens) -> None:
    async with opens() as one, opens() as other:
        await one.act("nothing")
        OUTSIDE.calls.clear()
        proposed = await one.worlds.propose("work", {"steps": 1})
        results = await asyncio.gather(
            *(each.worlds.run(proposed.proposal_id) for each in (one, other, one, other)),
            return_exceptions=True,
        )

        assert len(OUTSIDE.calls) == 1
        for result in results:
            if isinstance(result, BaseException):
                assert isinstance(result, IllegalMove)
            else:
                assert result.proposal_id == proposed.proposal_id
        assert (await counts(one))["ExecutionSealed"] == 2
        assert (await one.worlds.standing(proposed.proposal_id)).status in {"completed", "failed"}


async def test_two_handles_that_run_one_quiet_proposal_get_the_same_answer(opens: Opens) -> None:
    async with opens() as one, opens() as other:
        await one.act("nothing")
        proposed = await one.worlds.propose("add", {"by": 5})
        results = await asyncio.gather(
            *(each.worlds.run(proposed.proposal_id) for each in (one, other, one, other))
        )

        assert {(run.status, run.world, run.data["count"]) for run in results} == {
            ("completed", results[0].world, 5)
        }
        assert (await counts(one))["ExecutionAbandoned"] == 0


# -------------------------------------------------------------------------- retries


async def test_an_act_with_the_same_key_is_done_once_and_answers_the_same(
    memory: Memory[Any],
) -> None:
    first = await memory.act("add", {"by": 2}, idempotency_key="k")
    again = await memory.act("add", {"by": 2}, idempotency_key="k")

    assert again == first
    assert (await counts(memory))["Proposal"] == 1


async def test_acts_with_one_key_at_the_same_time_are_one(memory: Memory[Any]) -> None:
    OUTSIDE.calls.clear()
    runs = await asyncio.gather(
        *(memory.act("work", {"steps": 2}, idempotency_key="k") for _ in range(8))
    )

    assert {run.status for run in runs} == {"completed"}
    assert {run.world for run in runs} == {runs[0].world}
    assert len(OUTSIDE.calls) == 2


async def test_a_key_stands_for_one_request(memory: Memory[Any]) -> None:
    await memory.act("add", {"by": 2}, idempotency_key="k")

    with pytest.raises(IdempotencyConflict):
        await memory.act("add", {"by": 3}, idempotency_key="k")
    with pytest.raises(IdempotencyConflict):
        await memory.act("add", {"by": 2}, idempotency_key="k", branch="side")


async def test_a_failed_run_is_not_done_again_by_its_key(memory: Memory[Any]) -> None:
    first = await memory.act("fail", idempotency_key="k")
    again = await memory.act("fail", idempotency_key="k")

    assert again == first
    assert again.error is not None


# ------------------------------------------------------------------------- refusals


async def test_what_the_domain_does_not_know_is_refused_and_leaves_nothing(
    memory: Memory[Any],
) -> None:
    for action, given in [
        ("unknown", {}),
        ("add", {"by": "x"}),
        ("add", {"by": 1, "more": 2}),
        ("nothing", {"a": 1}),
        ("system.reset", {}),
        ("add", {"$app": {}}),
    ]:
        with pytest.raises(InvalidIntent):
            await memory.act(action, given)

    assert not await said(memory, "Proposal", "Branch", "World")


async def test_a_handle_without_a_domain_runs_nothing(opens: Opens) -> None:
    async with opens(domain=None) as memory:
        with pytest.raises(NothingToRun):
            await memory.act("add", {"by": 1})


@pytest.mark.parametrize("id", ["nowhere", "", "\ud800", "\x00", "main/", "x" * 10_000])
async def test_what_is_not_there_is_not_found(memory: Memory[Any], id: str) -> None:
    for ask in (
        memory.worlds.run,
        memory.worlds.standing,
        memory.worlds.restore,
        memory.worlds.replay,
    ):
        with pytest.raises(WorldNotFound):
            await ask(id)
    with pytest.raises(WorldNotFound):
        await memory.worlds.branch("side", at=id)


async def test_a_run_of_what_nobody_decided_is_refused(opens: Opens) -> None:
    async with opens(authority=HumanInTheLoop(["human:alice"])) as memory:
        proposed = await memory.worlds.propose("add", {"by": 1})

        with pytest.raises(IllegalMove):
            await memory.worlds.run(proposed.proposal_id)


async def test_a_run_that_takes_too_long_has_failed_and_does_no_more_effects(opens: Opens) -> None:
    slow, called = Domain("slow", "1"), []

    @slow.action
    async def wait(ctx: ActionContext[None]) -> None:
        await asyncio.Event().wait()
        await ctx.effect("late", lambda: called.append("late"))

    async with opens(domain=slow, run_limit=0.05) as memory:
        run = await memory.act("wait")

        assert run.status == "failed"
        assert run.error is not None
        assert run.error["code"] == "execution.timed_out"
        assert called == []
        assert (await memory.worlds.replay(run.execution_key or "")).verdict == "not run"


async def test_what_is_done_to_the_state_that_a_run_gave_back_reaches_no_later_run(
    memory: Memory[Any],
) -> None:
    run = await memory.act("add", {"by": 1})
    run.data["count"] = 100

    assert (await memory.act("add", {"by": 1})).data["count"] == 2
