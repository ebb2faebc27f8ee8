"""Who may say that something is Factual, and when nobody may."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.errors import ApprovalRefused, ConformanceBroken, JudgementRefused
from memoranda.ledger.consolidate import Refusal
from memoranda.ledger.object import sealed, unsealed
from memoranda.ledger.policy import Policy
from memoranda.ledger.validate_events import validate_log
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.govern.judging import audited, fact
from tests.journeys.govern.reading import log_lines, objects

pytestmark = pytest.mark.rule("GOV-BREAK")

MAKERS_JUDGE = Policy("oversight", 2, {"maker_may_judge": True, "agents_may_audit": False})


async def test_a_maker_s_own_verdict_is_refused_and_somebody_else_s_taken(
    opens: Opens, memory: Memory[Any]
) -> None:
    head = await inside(memory).ledger.head()
    with pytest.raises(JudgementRefused) as caught:
        await memory.remember("the limit is 100", source="doc/1", verdict="Factual")
    assert caught.value.code == "record.judgement_refused"
    assert await inside(memory).ledger.head() == head

    made = await memory.remember("the limit is 100", source="doc/1")
    with pytest.raises(ApprovalRefused):
        await memory.govern.approve(made.id, reason="I know", verdict="Factual")
    async with opens(actor="human:judge") as judge:
        await judge.govern.approve(made.id, reason="looked it up", verdict="Factual")

    found = await memory.get(made.id, factual=True)
    assert found is not None
    assert (found.verdict, found.trust) == ("Factual", "approved")


async def test_a_revision_judges_by_the_same_rule(opens: Opens, memory: Memory[Any]) -> None:
    made = await memory.remember("the limit is 100", source="doc/1")
    head = await inside(memory).ledger.head()
    with pytest.raises(JudgementRefused):
        await memory.govern.revise(made.id, reason="I know", verdict="Factual")
    with pytest.raises(JudgementRefused):
        await memory.govern.supersede(
            made.id, "the limit is 200", reason="it is", source="doc/1", verdict="Factual"
        )
    with pytest.raises(JudgementRefused):
        await memory.remember_many(["the limit is 200"], source="doc/1", verdict="Factual")
    assert await inside(memory).ledger.head() == head

    async with opens(actor="human:judge") as judge:
        await judge.govern.revise(made.id, reason="looked it up", verdict="Factual")
        found = await judge.get(made.id, factual=True)
        assert found is not None
        assert (found.verdict, found.trust) == ("Factual", "unreviewed")
        # Who has judged has a part in it by now, and so has whoever made what it was made from.
        with pytest.raises(JudgementRefused):
            await judge.govern.revise(
                made.id, reason="and again", verdict="Factual", source="doc/2"
            )


@pytest.mark.parametrize("verb", ["update", "revise"])
async def test_what_was_judged_by_other_sources_is_not_judged(
    opens: Opens, memory: Memory[Any], verb: str
) -> None:
    one = await fact(opens, memory, "the limit is 100")

    if verb == "update":
        await memory.update(one, "the limit is 100", source="doc/2")
    else:
        await memory.govern.revise(one, reason="found another", source="doc/2")

    found = await memory.get(one)
    assert found is not None
    assert (found.verdict, [each["uri"] for each in found.sources]) == ("Unanswered", ["doc/2"])


async def test_what_has_no_source_is_not_judged_factual(opens: Opens, memory: Memory[Any]) -> None:
    bare = await memory.remember("somebody said so")

    async with opens(actor="human:judge") as judge:
        with pytest.raises(ApprovalRefused):
            await judge.govern.approve(bare.id, reason="sounds right", verdict="Factual")
        await judge.govern.approve(bare.id, reason="no, it is not", verdict="False")

    assert await memory.get(bare.id) is None


async def test_a_policy_lets_makers_judge(opens: Opens, memory: Memory[Any]) -> None:
    async with opens(actor="human:boss") as boss:
        await boss.govern.change_policy(MAKERS_JUDGE, reason="one person, one desk")

    made = await memory.remember("the limit is 100", source="doc/1", verdict="Factual")

    assert await memory.get(made.id, factual=True) is not None


async def test_while_a_break_stands_nothing_becomes_factual(opens: Opens) -> None:
    async with opens(models={"chat": "1"}) as memory:
        await memory.govern.change_policy(MAKERS_JUDGE, reason="one person, one desk")
        await memory.remember("the limit is 100 euro", id="a", source="doc/1", verdict="Factual")
        await memory.remember("the price is 20 euro", id="b", source="doc/2", verdict="Factual")
        await memory.remember("the day is a Monday", id="c", source="doc/3", verdict="Factual")
        await memory.remember("it may be so", id="d", source="doc/4")
        await memory.govern.archive("a", reason="not now")
    async with opens(models={"chat": "2"}, actor="human:judge") as memory:
        await memory.remember("what was found is logged with the first write")
        head = await inside(memory).ledger.head()
        with pytest.raises(ConformanceBroken):
            await memory.remember("x", source="doc/1", verdict="Factual")
        with pytest.raises(ConformanceBroken):
            await memory.govern.approve("d", reason="looked it up", verdict="Factual")
        with pytest.raises(ConformanceBroken):
            await memory.govern.revise("d", reason="looked it up", verdict="Factual")
        with pytest.raises(ConformanceBroken):
            await memory.govern.supersede("d", "x", reason="so", source="doc/1", verdict="Factual")
        again = {**unsealed(await memory.journal.object("b")), "id": "e"}
        with pytest.raises(ConformanceBroken):
            await memory.journal.import_objects([sealed(again)])
        with pytest.raises(ConformanceBroken):
            await memory.govern.reinstate("a", reason="needed after all")
        with pytest.raises(ConformanceBroken):
            await memory.govern.consolidate(
                ["b", "c"],
                "the price is 20 euro. the day is a Monday",
                justification="both",
                verdict="Factual",
            )
        assert await inside(memory).ledger.head() == head
        await memory.remember("what nobody judged goes on", source="doc/5")


async def test_our_own_validator_never_condemns_our_own_log_for_a_break(opens: Opens) -> None:
    async with opens(models={"chat": "1"}) as memory:
        one = await fact(opens, memory, {"limit": 100})
        other = await fact(opens, memory, {"price": 20})
        third = await fact(opens, memory, {"day": "Monday"})
    async with opens(models={"chat": "2"}) as memory:
        with pytest.raises(ConformanceBroken):
            await fact(opens, memory, "and one more")
        await memory.records.annotate(one, tags=["kept"])
        await memory.govern.revise(one, reason="it is theirs", subject="kim")
        await memory.update(other, {"price": 30})
        await memory.forget(third, reason="wrong day", cause="correction")
        await memory.govern.archive(one, reason="not now")
        assert validate_log(await log_lines(memory), objects=await objects(memory)) == []
        await audited(memory)
        await fact(opens, memory, "and one more")
        assert validate_log(await log_lines(memory), objects=await objects(memory)) == []


@pytest.mark.rule("GOV-CONS-1")
async def test_a_factual_consolidation_says_only_what_stands_in_its_inputs(
    opens: Opens, memory: Memory[Any]
) -> None:
    one = await fact(opens, memory, "The customer prefers to be called by phone.")
    other = await fact(opens, memory, "The customer lives in the city of Ulm.")

    async def said(statement: str, verdict: Any = "Factual") -> bool:
        made = await memory.govern.consolidate(
            [one, other], statement, justification="one person", verdict=verdict
        )
        return not isinstance(made, Refusal)

    assert not await said("The moon is made of green cheese.")
    assert not await said("The customer prefers to be called by phone, but never on Mondays.")
    assert await said("The moon is made of green cheese.", "Inference")
    assert await said(
        "The customer prefers to be called by phone. The customer lives in the city of Ulm."
    )
