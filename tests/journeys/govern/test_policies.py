"""Policies are obeyed: what they rule out is refused, and what nobody would read is no policy."""

from typing import Any

import pytest

from memoranda import MemoryFilter
from memoranda.kernel.errors import InvalidPolicy, PolicyRefused
from memoranda.ledger.consolidate import Refusal
from memoranda.ledger.policy import DEFAULTS, POLICY_KINDS, Policy, PolicyKind
from tests.fixtures import Opens
from tests.handles import inside


def changed(kind: PolicyKind, **rules: Any) -> Policy:
    return Policy(kind, 2, {**DEFAULTS[kind].rules, **rules})


async def refused(call: Any) -> PolicyRefused:
    with pytest.raises(PolicyRefused) as caught:
        await call
    assert caught.value.code == "record.policy_refused"
    return caught.value


@pytest.mark.rule("GOV-FORGET", "GOV-BREAK")
async def test_only_the_causes_of_the_forgetting_policy_count(opens: Opens) -> None:
    async with opens() as memory:
        await memory.remember("x", id="x")
        await memory.govern.change_policy(
            changed("forgetting", causes=["policy"]), reason="the law"
        )
        head = await inside(memory).ledger.head()

        await refused(memory.forget("x", reason="asked", cause="user_request"))
        await refused(memory.govern.archive("x", reason="old", cause="obsolescence"))
        await refused(memory.govern.supersede("x", "y", reason="newer"))
        await refused(memory.erase("x", reason="asked"))
        await refused(memory.records.delete("x"))
        await refused(memory.records.clear())

        assert await inside(memory).ledger.head() == head
        await memory.forget("x", reason="the law says so", cause="policy")
        assert await memory.get("x") is None


@pytest.mark.rule("GOV-FORGET", "GOV-BREAK")
async def test_a_policy_that_another_wrote_is_obeyed_by_who_knows_the_one_before(
    opens: Opens,
) -> None:
    forbidden, allowed = (changed("forgetting", by=kinds) for kinds in (["human"], ["agent"]))
    async with opens(actor="agent:a") as agent, opens(actor="human:boss") as boss:
        for id in ("a", "b", "c", "d"):
            await agent.remember(id, id=id)
        await agent.records.delete("a")  # it knows the policy now

        await boss.govern.change_policy(forbidden, reason="the law")
        await refused(agent.records.delete("b"))
        await refused(agent.records.delete_many(["b", "unknown"]))
        await refused(agent.records.delete("unknown"))
        await refused(agent.forget("b", reason="wrong", cause="correction"))
        assert await agent.get("b") is not None

        version = Policy("forgetting", 3, allowed.rules)
        await boss.govern.change_policy(version, reason="a better law")
        await agent.records.delete_many(["b", "c"])
        await agent.remember("e", id="e")
        await agent.forget("d", reason="wrong", cause="correction")
        assert [record.id for record in await agent.records.query(MemoryFilter())] == ["e"]


@pytest.mark.rule("GOV-FORGET", "GOV-BREAK")
async def test_only_those_forget_and_erase_whom_the_policy_names(opens: Opens) -> None:
    async with opens(actor="human:boss") as boss:
        await boss.remember("x", id="x")
        await boss.govern.change_policy(
            changed("forgetting", by=["human", "agent"], erase_by=["human"]), reason="the law"
        )
        async with opens(actor="agent:a") as agent:
            why = await refused(agent.erase("x", reason="asked"))
            assert why.policy == "forgetting"
            await agent.forget("x", reason="wrong", cause="correction")
        async with opens(actor="system:cron") as cron:
            await refused(cron.forget("x", reason="old"))
        await boss.erase("x", reason="asked")


@pytest.mark.rule("GOV-CONS-1", "GOV-BREAK")
async def test_the_consolidation_policy_says_who_and_what_may_be_asked(opens: Opens) -> None:
    async with opens(actor="human:boss") as boss:
        one = await boss.remember({"price": 1}, source="doc/1")
        other = await boss.remember({"price": 2}, source="doc/2")
        ids = [one.id, other.id]
        await boss.govern.change_policy(
            changed("consolidation", by=["human"], on_conflict=["refuse"]), reason="the law"
        )
        async with opens(actor="agent:a") as agent:
            await refused(agent.govern.consolidate(ids, "x", justification="j"))
        await refused(boss.govern.consolidate(ids, "x", justification="j", on_conflict="record"))


@pytest.mark.rule("GOV-CONS-1", "GOV-BREAK")
async def test_the_gates_that_the_policy_leaves_out_are_not_applied(opens: Opens) -> None:
    async with opens(actor="human:boss") as boss:
        one = await boss.remember("in Ulm", source="doc/1", jurisdiction="DE")
        other = await boss.remember("in Seoul", source="doc/2", jurisdiction="KR")
        ids = [one.id, other.id]
        assert isinstance(await boss.govern.consolidate(ids, "x", justification="j"), Refusal)

        await boss.govern.change_policy(
            changed("consolidation", gates=["A", "B", "C", "E"]), reason="places don't matter"
        )

        assert not isinstance(await boss.govern.consolidate(ids, "x", justification="j"), Refusal)
        with pytest.raises(InvalidPolicy):
            changed("consolidation", gates=[])


@pytest.mark.parametrize("kind", POLICY_KINDS)
def test_a_rule_that_nobody_would_read_is_refused(kind: PolicyKind) -> None:
    rules = dict(DEFAULTS[kind].rules)
    with pytest.raises(InvalidPolicy) as caught:
        Policy(kind, 2, {**rules, "forbid": True})
    assert caught.value.code == "input.policy"
    rules.popitem()
    with pytest.raises(InvalidPolicy):
        Policy(kind, 2, rules)


@pytest.mark.parametrize(
    ("kind", "rules"),
    [
        ("forgetting", {"causes": ["mood"]}),
        ("forgetting", {"by": ["robot"]}),
        ("forgetting", {"by": "human"}),
        ("forgetting", {"reason": "optional"}),
        ("consolidation", {"gates": ["A", "B", "C", "D", "E", "E"]}),
        ("consolidation", {"on_conflict": []}),
        ("consolidation", {"conflicts": "default/2"}),
        ("source_hierarchy", {"order": [""]}),
        ("models", {"roles": {"embedder": []}}),
        ("models", {"roles": {"": ["x"]}}),
        ("oversight", {"maker_may_judge": "yes"}),
    ],
)
def test_rules_that_can_t_be_obeyed_are_no_policy(kind: PolicyKind, rules: dict[str, Any]) -> None:
    with pytest.raises(InvalidPolicy):
        changed(kind, **rules)
