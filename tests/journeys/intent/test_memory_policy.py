"""Operations on memory that need approval: proposed, decided, and then done, or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.errors import (
    ApprovalPending,
    CapabilityMissing,
    DecisionRefused,
    InvalidOption,
    RecordNotFound,
)
from memoranda.ledger.snapshot import ENTRIES
from memoranda.records.model import MemoryOperation, MemoryRecordInput
from memoranda.records.store import MemoryHooks
from memoranda.worlds.policies import AutoApprove, HumanInTheLoop, PolicyRules
from tests.fixtures import Opens
from tests.handles import inside, opened

HUMAN = "human:chief"


@dataclass
class Needs:
    """Asks for approval of some operations, and remembers what it was asked."""

    types: Sequence[str]
    risk: str = "medium"
    asked: list[MemoryOperation] = field(default_factory=list)

    def requires_authority(self, operation: MemoryOperation, /) -> bool:
        self.asked.append(operation)
        return operation.type in self.types

    def assess_risk(self, _operation: MemoryOperation, /) -> Any:
        return self.risk


async def kinds(memory: Memory[Any]) -> list[str]:
    """The kinds of all entries of the journal."""
    found = []
    async with inside(memory).ledger.snapshot() as snapshot:
        async for chunk in snapshot.rows(ENTRIES):
            found += [
                one.entry.decode().partition('"kind":"')[2].partition('"')[0] for one in chunk
            ]
    return found


async def refused(pending: Any) -> str:
    """The id of the proposal that an operation became."""
    with pytest.raises(ApprovalPending) as caught:
        await pending
    return caught.value.proposal


@pytest.mark.rule("MEM-AUTH-4")
async def test_an_operation_that_needs_no_approval_makes_no_world(opens: Opens) -> None:
    async with opens(memory_policy=Needs(types=[])) as memory:
        await memory.remember("one", id="a")
        await memory.update("a", "two")
        await memory.govern.archive("a", reason="old")
        await memory.govern.reinstate("a", reason="needed")
        await memory.forget("a", reason="wrong")
        await memory.records.create_many([])

        assert set(await kinds(memory)) <= {"create", "archive", "invalidate", "maintenance"}
        assert await memory.worlds.branches() == []


@pytest.mark.rule("MEM-AUTH-2")
@pytest.mark.rule("D-MEM-5")
async def test_an_operation_that_needs_approval_takes_effect_when_it_is_approved(
    opens: Opens,
) -> None:
    policy = Needs(types=["update"])
    async with opens(memory_policy=policy, authority=HumanInTheLoop(HUMAN)) as memory:
        await memory.remember({"city": "Seoul"}, id="a")

        proposal = await refused(memory.update("a", {"city": "서울"}))

        before = await memory.get("a")
        assert before is not None
        assert before.data == {"city": "Seoul"}
        async with opens(actor=HUMAN) as human:
            (waiting,) = await human.inbox.list()
            assert waiting.proposal.proposal_id == proposal
            assert waiting.risk == "medium"
            change = waiting.proposal.intent.body.input["changes"][0]
            assert change["object"]["statement"] == '{"city":"서울"}'
            await human.inbox.approve(proposal, reason="it is so")
        after = await memory.get("a")
        assert after is not None
        assert (after.data, after.version) == ({"city": "서울"}, 2)
        assert (await memory.worlds.standing(proposal)).is_completed
        assert [event.actor for event in await memory.history("a")] == ["agent:worker"] * 2
        assert (await memory.verify()).report.is_sound


@pytest.mark.rule("MEM-AUTH-2")
async def test_what_is_rejected_changes_nothing_and_makes_no_world(opens: Opens) -> None:
    policy = Needs(types=["delete"])
    async with opens(memory_policy=policy, authority=HumanInTheLoop(HUMAN)) as memory:
        await memory.remember("one", id="a")
        proposal = await refused(memory.records.delete("a"))
        worlds = (await kinds(memory)).count("world")

        async with opens(actor=HUMAN) as human:
            await human.inbox.reject(proposal, reason="keep it")

        assert await memory.get("a") is not None
        assert (await memory.worlds.standing(proposal)).status == "rejected"
        assert (await kinds(memory)).count("world") == worlds


@pytest.mark.rule("MEM-AUTH-2")
async def test_object_decision_and_world_are_one_transaction(opens: Opens) -> None:
    policy = Needs(types=["create"])
    async with opens(memory_policy=policy, authority=AutoApprove()) as memory:
        receipt = await memory.remember("one", id="a")

        after = (await kinds(memory))[receipt.seq :]
        assert after[0] == "create"
        assert after[1:] == ["proposal", "decision", "execution", "world", "execution"]
        assert (await memory.verify()).report.is_sound


@pytest.mark.rule("MEM-AUTH-2")
async def test_rules_that_reject_are_told_to_the_caller(opens: Opens) -> None:
    policy = Needs(types=["create"])
    async with opens(memory_policy=policy, authority=PolicyRules(default="reject")) as memory:
        with pytest.raises(DecisionRefused):
            await memory.remember("one", id="a")

        assert await memory.get("a") is None


@pytest.mark.rule("D-MEM-5")
@pytest.mark.parametrize(
    ("verb", "type_"),
    [
        (lambda m: m.remember("new"), "create"),
        (lambda m: m.remember_many(["new", "newer"]), "create"),
        (lambda m: m.update("a", "two"), "update"),
        (lambda m: m.records.update("a", "two"), "update"),
        (lambda m: m.records.annotate("a", tags=["x"]), "update"),
        (lambda m: m.forget("a", reason="wrong"), "delete"),
        (lambda m: m.records.delete("a"), "delete"),
        (lambda m: m.govern.archive("a", reason="old"), "demote"),
        (lambda m: m.govern.reinstate("gone", reason="needed"), "promote"),
        (lambda m: m.govern.supersede("a", "two", reason="newer"), "delete"),
    ],
)
async def test_every_verb_that_changes_memory_asks_the_policy(
    opens: Opens, verb: Any, type_: str
) -> None:
    async with opens() as memory:
        await memory.remember("one", id="a")
        await memory.remember("gone", id="gone")
        await memory.govern.archive("gone", reason="old")
    policy = Needs(types=["create", "update", "delete", "promote", "demote"], risk="high")
    async with opens(memory_policy=policy, authority=HumanInTheLoop(HUMAN)) as memory:
        await refused(verb(memory))

        assert policy.asked[0].type == type_
        assert policy.asked[0].actor_id == "worker"
        assert policy.asked[0].record is not None
        (waiting,) = await memory.inbox.list()
        assert waiting.proposal.intent.body.type == f"system.memory.{type_}"
        assert waiting.risk == "high"
        async with opens(actor=HUMAN) as human:
            await human.inbox.approve(waiting.proposal.proposal_id, reason="fine")
        assert (await memory.worlds.standing(waiting.proposal.proposal_id)).is_completed
        assert (await memory.verify()).report.is_sound


async def test_what_was_changed_meanwhile_ends_as_failed(opens: Opens) -> None:
    policy = Needs(types=["update"])
    async with opens(memory_policy=policy, authority=HumanInTheLoop(HUMAN)) as memory:
        await memory.remember("one", id="a")
        first = await refused(memory.update("a", "two"))
        second = await refused(memory.update("a", "three"))
        async with opens(actor=HUMAN) as human:
            await human.inbox.approve(first, reason="yes")
            await human.inbox.approve(second, reason="yes")

        found = await memory.get("a")
        assert found is not None
        assert found.data == "two"
        assert (await memory.worlds.standing(first)).is_completed
        assert (await memory.worlds.standing(second)).status == "failed"


async def test_two_operations_on_two_records_do_not_stand_in_each_others_way(
    opens: Opens,
) -> None:
    policy = Needs(types=["update"])
    async with opens(memory_policy=policy, authority=HumanInTheLoop(HUMAN)) as memory:
        await memory.remember_many(["one", "two"])
        ids = [one.id for one in await memory.list()]
        proposals = [await refused(memory.update(id, "new")) for id in ids]
        async with opens(actor=HUMAN) as human:
            for proposal in reversed(proposals):
                await human.inbox.approve(proposal, reason="yes")

        assert [one.data for one in await memory.list()] == ["new", "new"]


async def test_whoever_proposed_stays_the_contributor_and_may_not_raise_its_trust(
    opens: Opens,
) -> None:
    policy = Needs(types=["create"])
    async with opens(memory_policy=policy, authority=HumanInTheLoop(HUMAN)) as memory:
        proposal = await refused(memory.remember("one", id="a"))
        async with opens(actor=HUMAN) as human:
            await human.inbox.approve(proposal, reason="yes")
            await human.govern.approve("a", reason="I read it")
        found = await memory.get("a")
        assert found is not None
        assert found.trust == "approved"


async def test_a_retry_with_a_key_is_the_same_proposal(opens: Opens) -> None:
    policy = Needs(types=["create"])
    async with opens(memory_policy=policy, authority=HumanInTheLoop(HUMAN)) as memory:
        first = await refused(memory.remember("one", id="a", idempotency_key="k"))
        second = await refused(memory.remember("one", id="a", idempotency_key="k"))
        assert first == second
        async with opens(actor=HUMAN) as human:
            await human.inbox.approve(first, reason="yes")
        again = await memory.remember("one", id="a", idempotency_key="k")
        assert (again.id, again.version) == ("a", 1)


async def test_erasing_a_record_erases_the_proposals_that_hold_it(opens: Opens) -> None:
    policy = Needs(types=["update"])
    async with opens(memory_policy=policy, authority=HumanInTheLoop(HUMAN)) as memory:
        await memory.remember("one", id="a")
        proposal = await refused(memory.update("a", "a CANARY"))

        certificate = await memory.erase("a", reason="asked for")

        assert certificate.counts.proposals == 1
        with pytest.raises(Exception, match="erased"):
            await memory.worlds.standing(proposal)
        assert await memory.inbox.list() == []
        with pytest.raises(RecordNotFound):
            await memory.update("a", "two")
        assert (await memory.verify()).report.is_sound


# ---------------------------------------------------------------------- what a policy sees


@pytest.mark.rule("D-MEM-5", "MEM-AUTH-1")
async def test_a_create_under_the_id_of_a_deleted_record_is_a_create(opens: Opens) -> None:
    policy = Needs(types=["create"])
    async with opens() as memory:
        for id in ("forgotten", "archived"):
            await memory.remember("refunds above 100 need a ticket", id=id)
        await memory.forget("forgotten", reason="old")
        await memory.govern.archive("archived", reason="old")
    async with opens(memory_policy=policy, authority=HumanInTheLoop(HUMAN)) as memory:
        for id in ("forgotten", "archived"):
            said = "refunds above 100 need no ticket"
            given = MemoryRecordInput(id=id, data=said)
            await refused(memory.remember(said, id=id))
            await refused(memory.records.create(given))
            assert await memory.get(id) is None

    assert [one.type for one in policy.asked] == ["create"] * 4
    for asked in policy.asked:
        assert asked.before is None
        assert asked.record == asked.after
        assert asked.record is not None
        assert asked.record.data == "refunds above 100 need no ticket"


@pytest.mark.rule("D-MEM-5", "MEM-AUTH-1")
async def test_a_policy_sees_the_record_before_and_after(opens: Opens) -> None:
    policy = Needs(types=[])
    async with opens(memory_policy=policy) as memory:
        await memory.remember("one", id="a", tags=["old"])
        await memory.update("a", "two")
        await memory.govern.archive("a", reason="old")
        await memory.govern.reinstate("a", reason="needed")
        await memory.forget("a", reason="wrong")

    def data(record: Any) -> Any:
        return None if record is None else record.data

    assert [(one.type, data(one.before), data(one.after)) for one in policy.asked] == [
        ("create", None, "one"),
        ("update", "one", "two"),
        ("demote", "two", None),
        ("promote", "two", "two"),
        ("delete", "two", None),
    ]
    assert [data(one.record) for one in policy.asked] == ["one", "two", "two", "two", "two"]
    assert all(one.record is not None and one.record.tags == ("old",) for one in policy.asked)


@pytest.mark.rule("D-MEM-5", "MEM-AUTH-1")
async def test_a_policy_judges_an_update_by_what_it_becomes(opens: Opens) -> None:
    class NoSecrets:
        def requires_authority(self, operation: MemoryOperation, /) -> bool:
            return operation.record is not None and "secret" in operation.record.data

    gated = {"memory_policy": NoSecrets(), "authority": HumanInTheLoop(HUMAN)}
    async with opens(**gated) as memory:
        await memory.remember("plain", id="a")
        await memory.update("a", "plainer")
        await refused(memory.update("a", "a secret"))
        assert (await memory.records.get("a")).data == "plainer"  # type: ignore[union-attr]


@pytest.mark.rule("D-MEM-5", "MEM-AUTH-3")
async def test_a_risk_that_is_none_is_refused_and_nothing_is_written(opens: Opens) -> None:
    async with opens(memory_policy=Needs(types=["create"], risk="catastrophic")) as memory:
        with pytest.raises(InvalidOption) as caught:
            await memory.remember("one", id="a")

        assert caught.value.code == "input.option"
        assert await memory.get("a") is None
        assert await memory.inbox.list() == []


@pytest.mark.rule("D-MEM-5")
async def test_a_store_that_keeps_no_policy_refuses_one() -> None:
    with pytest.raises(CapabilityMissing):
        async with opened("dict://", memory_policy=Needs(types=["create"])):
            pass


# ----------------------------------------------------------------------------------- hooks


@pytest.mark.rule("MEM-HOOK-1")
async def test_hooks_hear_of_an_operation_that_is_approved_later(opens: Opens) -> None:
    heard: list[Any] = []
    hooks: MemoryHooks[Any] = MemoryHooks(
        on_created=lambda record: heard.append(("created", record.id, record.data)),
        on_updated=lambda id, before, after: heard.append(("updated", id, before, after)),
        on_deleted=lambda id, record: heard.append(("deleted", id, record.data)),
    )
    gated = {"memory_policy": Needs(types=["create", "update", "delete"])}
    async with opens(**gated, authority=HumanInTheLoop(HUMAN), hooks=hooks) as memory:
        waiting = await refused(memory.remember("one", id="a"))
        assert heard == []
        async with opens(actor=HUMAN, hooks=hooks) as human:
            await human.inbox.approve(waiting, reason="fine")
            await human.inbox.approve(await refused(memory.update("a", "two")), reason="fine")
            await human.inbox.reject(await refused(memory.update("a", "three")), reason="no")
            await human.inbox.approve(await refused(memory.records.delete("a")), reason="fine")

    assert heard == [
        ("created", "a", "one"),
        ("updated", "a", "one", "two"),
        ("deleted", "a", "two"),
    ]


@pytest.mark.rule("MEM-HOOK-1")
@pytest.mark.parametrize("policy", [None, Needs(types=["create", "update", "delete", "promote"])])
async def test_hooks_hear_of_every_verb_of_a_handle(opens: Opens, policy: Any) -> None:
    heard: list[Any] = []

    async def created(record: Any) -> None:
        heard.append(("created", record.id, record.data))

    hooks: MemoryHooks[Any] = MemoryHooks(
        on_created=created,
        on_updated=lambda id, before, after: heard.append(("updated", id, before, after)),
        on_deleted=lambda id, record: heard.append(("deleted", id, record.data)),
    )
    async with opens(hooks=hooks, memory_policy=policy) as memory:
        await memory.remember("one", id="a", idempotency_key="once")
        await memory.remember("one", id="a", idempotency_key="once")
        await memory.update("a", "two")
        await memory.govern.archive("a", reason="old")
        await memory.govern.reinstate("a", reason="needed")
        await memory.forget("a", reason="wrong")
        await memory.remember("three", id="a")
        old, new = await memory.govern.supersede("a", "four", reason="newer", source="t/1")
        (many,) = await memory.remember_many(["five"], source="t/2")
        summary = await memory.govern.consolidate(
            [new.id, many.id], "four and five", justification="so"
        )
        await memory.erase(many.id, reason="asked for")

    assert heard[:9] == [
        ("created", "a", "one"),
        ("updated", "a", "one", "two"),
        ("deleted", "a", "two"),
        ("created", "a", "two"),
        ("deleted", "a", "two"),
        ("created", "a", "three"),
        ("deleted", old.id, "three"),
        ("created", new.id, "four"),
        ("created", many.id, "five"),
    ]
    assert heard[9] == ("created", summary.id, "four and five")  # type: ignore[union-attr]
    erased = [("deleted", many.id, "five"), ("deleted", summary.id, "four and five")]  # type: ignore[union-attr]
    assert sorted(heard[10:]) == sorted(erased)


async def test_a_key_that_was_used_through_a_gate_is_known_without_it(opens: Opens) -> None:
    async with opens(memory_policy=Needs(types=["create"])) as gated, opens() as plain:
        first = await gated.remember("one", id="a", idempotency_key="k")
        again = await plain.remember("one", id="a", idempotency_key="k")

        assert (again.id, again.version, again.entry_hash) == ("a", 1, first.entry_hash)
