"""The inbox: proposals that wait, those who answer, and decisions that are made once."""

import asyncio
from typing import Any

import pytest

from memoranda.journeys.intent.branches import EMPTY, first_world
from memoranda.kernel.errors import DecisionRefused, InvalidRecord, WorldNotFound
from memoranda.testkit.strategies import FrozenClock
from memoranda.worlds.authority import Custom, IntentType
from memoranda.worlds.composites import AllOf, ForActor, SeparateApprover
from memoranda.worlds.policies import (
    AutoApprove,
    HumanInTheLoop,
    Majority,
    PolicyRule,
    PolicyRules,
    Tribunal,
)
from tests.fixtures import Opens
from tests.journeys.intent.reading import counts, head, said
from tests.patience import PATIENCE

DESK = HumanInTheLoop(["human:alice", "human:bob"], timeout_ms=1_000)


async def test_a_proposal_waits_in_the_inbox_with_what_it_would_do(opens: Opens) -> None:
    async with opens(authority=DESK) as memory:
        used = {
            "selector": {"actorId": "worker", "kind": "agent"},
            "query": "what is due?",
            "selectedAt": 1,
            "atWorldId": first_world(EMPTY, 1).world_id,
            "selected": [],
        }
        trace = {"summary": "due", "context": {"memory": used}}
        proposed = await memory.worlds.propose("add", {"by": 3}, reason=trace, paths=["count"])

        (waiting,) = await memory.inbox.list()
        assert proposed.status == "evaluating"
        assert waiting.proposal.proposal_id == proposed.proposal_id
        assert waiting.proposal.intent.body.input == {"by": 3}
        assert waiting.memory == used
        assert [str(who) for who in waiting.waiting_for] == ["human:alice", "human:bob"]
        assert waiting.until == waiting.proposal.submitted_at + 1_000
        assert waiting.to_wire()["branch"] == "main"
        assert (await counts(memory))["World"] == 1


async def test_who_approves_lets_it_run_once(opens: Opens) -> None:
    async with opens(authority=DESK) as memory, opens(actor="human:alice") as alice:
        proposed = await memory.worlds.propose("add", {"by": 3})
        await alice.inbox.approve(proposed.proposal_id, reason="fine by me")

        assert await memory.inbox.list() == []
        assert (await memory.worlds.standing(proposed.proposal_id)).status == "approved"
        run = await memory.worlds.run(proposed.proposal_id)
        again = await memory.worlds.run(proposed.proposal_id)
        assert run.data["count"] == 3
        assert again == run
        assert (await counts(memory))["ExecutionSealed"] == 1


async def test_whoever_acts_may_wait_for_the_answer(opens: Opens) -> None:
    async with opens(authority=DESK) as memory, opens(actor="human:alice") as alice:
        acting = asyncio.create_task(memory.act("add", {"by": 3}, wait=PATIENCE))
        while not (waiting := await alice.inbox.list()):  # noqa: ASYNC110 - the inbox has no bell
            await asyncio.sleep(0)
        await alice.inbox.approve(waiting[0].proposal.proposal_id, reason="fine")

        assert (await acting).data["count"] == 3


async def test_an_act_that_nobody_answers_is_pending(opens: Opens) -> None:
    async with opens(authority=DESK) as memory:
        run = await memory.act("add", {"by": 3})

    assert run.is_pending
    assert (run.world, run.execution_key, run.data) == (None, None, None)


async def test_who_rejects_ends_it(opens: Opens) -> None:
    async with opens(authority=DESK) as memory, opens(actor="human:bob") as bob:
        proposed = await memory.worlds.propose("add", {"by": 3})
        await bob.inbox.reject(proposed.proposal_id, reason="not now")

        run = await memory.worlds.run(proposed.proposal_id)
        assert run.status == "rejected"
        decision = (await said(memory, "Decision"))[0].document["decision"]
        assert decision["decision"] == {"kind": "rejected", "reason": "not now"}
        assert (await counts(memory))["ExecutionBegun"] == 0


async def test_a_decision_is_bound_to_the_proposal_and_its_base(opens: Opens) -> None:
    async with opens(authority=DESK) as memory, opens(actor="human:alice") as alice:
        proposed = await memory.worlds.propose("add", {"by": 3})
        await alice.inbox.approve(proposed.proposal_id, reason="fine")

        proposal, decision = await said(memory, "Proposal", "Decision")
        assert decision.document["proposalDigest"] == proposal.body_digest
        assert decision.document["baseWorld"] == proposal.document["proposal"]["baseWorld"]
        assert decision.document["decision"]["proposalId"] == proposed.proposal_id


@pytest.mark.parametrize("second", ["approve", "reject", "abstain"])
async def test_a_second_decision_is_refused(opens: Opens, second: str) -> None:
    async with (
        opens(authority=DESK) as memory,
        opens(actor="human:alice") as alice,
        opens(actor="human:bob") as bob,
    ):
        proposed = await memory.worlds.propose("add", {"by": 3})
        await alice.inbox.reject(proposed.proposal_id, reason="no")
        before = await counts(memory)

        with pytest.raises(DecisionRefused):
            await getattr(bob.inbox, second)(proposed.proposal_id, reason="but")

        assert await counts(memory) == before
        assert (await memory.worlds.standing(proposed.proposal_id)).status == "rejected"


async def test_of_many_answers_at_once_one_decides(opens: Opens) -> None:
    async with (
        opens(authority=DESK) as memory,
        opens(actor="human:alice") as alice,
        opens(actor="human:bob") as bob,
    ):
        proposed = await memory.worlds.propose("add", {"by": 3})
        answers = [
            *(who.inbox.approve(proposed.proposal_id, reason="yes") for who in (alice, bob)),
            *(who.inbox.reject(proposed.proposal_id, reason="no") for who in (bob, alice)),
        ]
        results = await asyncio.gather(*answers, return_exceptions=True)

        refused = [one for one in results if isinstance(one, DecisionRefused)]
        assert len(refused) == 3
        assert (await counts(memory))["Decision"] == 1


async def test_inboxes_that_are_read_while_somebody_answers_never_decide_twice(
    opens: Opens, clock: FrozenClock
) -> None:
    async with opens(authority=DESK) as memory, opens(actor="human:alice") as alice:
        for n in range(10):
            proposed = await memory.worlds.propose("add", {"by": 3})
            if n % 2:
                clock.advance(1_000)
            await asyncio.gather(
                memory.inbox.list(),
                alice.inbox.approve(proposed.proposal_id, reason="yes"),
                alice.inbox.list(),
                return_exceptions=True,
            )
            await memory.inbox.list()

        assert (await counts(memory))["Decision"] == 10


async def test_who_is_not_asked_may_not_answer(opens: Opens) -> None:
    async with opens(authority=DESK) as memory, opens(actor="human:mallory") as mallory:
        proposed = await memory.worlds.propose("add", {"by": 3})

        for verb in (
            mallory.inbox.approve,
            mallory.inbox.reject,
            mallory.inbox.abstain,
            memory.inbox.approve,
        ):
            with pytest.raises(DecisionRefused) as caught:
                await verb(proposed.proposal_id, reason="let me")
            assert caught.value.code == "world.decision_refused"
        assert (await counts(memory))["Vote"] == 0


@pytest.mark.parametrize("reason", ["", " ", "\ud800", "x" * 100_000])
async def test_an_answer_has_a_reason(opens: Opens, reason: str) -> None:
    async with opens(authority=DESK) as memory, opens(actor="human:alice") as alice:
        proposed = await memory.worlds.propose("add", {"by": 3})

        for verb in (alice.inbox.approve, alice.inbox.reject, alice.inbox.abstain):
            with pytest.raises(InvalidRecord):
                await verb(proposed.proposal_id, reason=reason)


async def test_an_answer_to_what_was_never_proposed_is_refused(opens: Opens) -> None:
    async with opens(actor="human:alice") as alice:
        with pytest.raises(WorldNotFound):
            await alice.inbox.reject("prop-0", reason="no")


# ---------------------------------------------------------------------------- time


@pytest.mark.parametrize(("outcome", "status"), [("reject", "rejected"), ("approve", "approved")])
async def test_what_nobody_answers_in_time_is_decided_by_its_policy(
    opens: Opens, clock: FrozenClock, outcome: Any, status: str
) -> None:
    policy = HumanInTheLoop(["human:alice"], timeout_ms=1_000, on_timeout=outcome)
    async with opens(authority=policy) as memory:
        proposed = await memory.worlds.propose("add", {"by": 3})
        clock.advance(999)
        assert len(await memory.inbox.list()) == 1
        clock.advance(1)

        assert await memory.inbox.list() == []
        assert (await memory.worlds.standing(proposed.proposal_id)).status == status
        (decision,) = await said(memory, "Decision")
        assert decision.document["decision"]["decision"] == {"kind": "timeout", "action": status}
        assert decision.actor == "system:memoranda"


@pytest.mark.parametrize("verb", ["approve", "reject"])
async def test_a_late_answer_is_refused_and_the_timeout_is_on_record(
    opens: Opens, clock: FrozenClock, verb: str
) -> None:
    async with opens(authority=DESK) as memory, opens(actor="human:alice") as alice:
        proposed = await memory.worlds.propose("add", {"by": 3})
        clock.advance(1_000)

        with pytest.raises(DecisionRefused):
            await getattr(alice.inbox, verb)(proposed.proposal_id, reason="late")

        (decision,) = await said(memory, "Decision")
        assert decision.document["decision"]["decision"]["kind"] == "timeout"
        assert (await memory.worlds.standing(proposed.proposal_id)).status == "rejected"


async def test_what_is_approved_by_its_timeout_is_run_by_resume(
    opens: Opens, clock: FrozenClock
) -> None:
    policy = HumanInTheLoop(["human:alice"], timeout_ms=10, on_timeout="approve")
    async with opens(authority=policy) as memory:
        await memory.worlds.propose("add", {"by": 3})
        clock.advance(10)
        await memory.inbox.list()

        (run,) = await memory.worlds.resume()
        assert run.data["count"] == 3
        assert await memory.worlds.resume() == []


# --------------------------------------------------------------------- many, and others


async def test_a_tribunal_decides_by_its_quorum_and_keeps_the_votes(opens: Opens) -> None:
    members = ["human:alice", "human:bob", "human:carol"]
    async with opens(authority=Tribunal(members, Majority())) as memory:
        proposed = await memory.worlds.propose("add", {"by": 3})
        async with opens(actor="human:alice") as alice, opens(actor="human:bob") as bob:
            await alice.inbox.approve(proposed.proposal_id, reason="yes")
            assert (await memory.worlds.standing(proposed.proposal_id)).status == "evaluating"
            (waiting,) = await memory.inbox.list()
            assert [str(vote.voter) for vote in waiting.votes] == ["human:alice"]
            with pytest.raises(DecisionRefused):
                await alice.inbox.approve(proposed.proposal_id, reason="twice")
            await bob.inbox.approve(proposed.proposal_id, reason="yes")

        decision = (await said(memory, "Decision"))[0].document["decision"]
        assert [vote["voter"]["actorId"] for vote in decision["votes"]] == ["alice", "bob"]
        assert (await memory.worlds.run(proposed.proposal_id)).data["count"] == 3
        assert (await counts(memory))["Vote"] == 2


async def test_whoever_proposed_can_not_approve_where_somebody_else_is_asked_for(
    opens: Opens,
) -> None:
    policy = SeparateApprover(HumanInTheLoop(["human:alice", "human:bob"]))
    async with opens(authority=policy, actor="human:alice") as alice:
        proposed = await alice.worlds.propose("add", {"by": 3})
        with pytest.raises(DecisionRefused):
            await alice.inbox.approve(proposed.proposal_id, reason="mine")
        async with opens(actor="human:bob") as bob:
            await bob.inbox.approve(proposed.proposal_id, reason="not mine")

        assert (await alice.worlds.run(proposed.proposal_id)).data["count"] == 3


async def test_a_later_answer_is_judged_by_the_policy_that_held_when_it_was_proposed(
    opens: Opens,
) -> None:
    async with opens(authority=DESK) as memory:
        proposed = await memory.worlds.propose("add", {"by": 3})
    lenient = HumanInTheLoop(["human:mallory"])
    async with opens(authority=lenient, actor="human:mallory") as mallory:
        with pytest.raises(DecisionRefused):
            await mallory.inbox.approve(proposed.proposal_id, reason="now it is mine")


async def test_rules_decide_and_escalate(opens: Opens) -> None:
    rules = PolicyRules(
        [
            PolicyRule(IntentType(["fail"]), "reject", "it never works"),
            PolicyRule(Custom("is_big", lambda proposal: proposal.intent.body.input["by"] > 9),
                       "escalate"),
        ],
        default="approve",
        escalate_to=DESK,
    )  # fmt: skip
    async with opens(authority=rules) as memory, opens(actor="human:alice") as alice:
        small = await memory.act("add", {"by": 1})
        big = await memory.act("add", {"by": 10})
        never = await memory.act("fail")

        assert (small.status, big.status, never.status) == ("completed", "evaluating", "rejected")
        await alice.inbox.approve(big.proposal_id, reason="once")
        assert (await memory.worlds.run(big.proposal_id)).data["count"] == 11


async def test_policies_combine(opens: Opens) -> None:
    policy = ForActor({"human": AutoApprove()}, AllOf([DESK, HumanInTheLoop("human:carol")]))
    async with opens(authority=policy) as memory:
        async with opens(authority=policy, actor="human:dave") as dave:
            by_human = await dave.act("add", {"by": 1})
        by_agent = await memory.act("add", {"by": 1})
        assert (by_human.status, by_agent.status) == ("completed", "evaluating")
        async with opens(actor="human:alice") as alice, opens(actor="human:carol") as carol:
            await alice.inbox.approve(by_agent.proposal_id, reason="yes")
            assert (await memory.worlds.standing(by_agent.proposal_id)).status == "evaluating"
            await carol.inbox.approve(by_agent.proposal_id, reason="yes")

        assert (await memory.worlds.run(by_agent.proposal_id)).data["count"] == 2


async def test_an_approval_on_a_head_that_moved_ends_as_a_conflict(opens: Opens) -> None:
    async with opens(authority=DESK) as memory, opens(actor="human:alice") as alice:
        first = await memory.worlds.propose("add", {"by": 1})
        second = await memory.worlds.propose("add", {"by": 2})
        for proposed in (first, second):
            await alice.inbox.approve(proposed.proposal_id, reason="both")

        done, conflict = await memory.worlds.resume()
        assert (done.status, conflict.status) == ("completed", "failed")
        assert conflict.error is not None
        assert conflict.error["code"] == "world.conflict"
        assert await head(memory) == done.world
        assert await memory.worlds.resume() == []


async def test_the_scope_that_was_approved_holds(opens: Opens) -> None:
    async with opens() as memory:
        outside = await memory.act("add", {"by": 1}, paths=["notes"])
        inside = await memory.act("add", {"by": 1}, paths=["count"])

        assert outside.error is not None
        assert outside.error["code"] == "scope.violated"
        assert inside.status == "completed"
        for run in (outside, inside):
            assert (await memory.worlds.replay(run.execution_key or "")).is_same
