"""Memory is not truth: the original behind a reference is loaded, and verified (M-1)."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.kernel.errors import InvalidWorld, RecordNotFound, WorldErased
from memoranda.outside.keys import Ed25519Signer, Ed25519Verifier
from memoranda.recall.policies import RequireSigned, signed_by_one_of
from memoranda.recall.proof import proof_in
from memoranda.recall.proof_check import check_proof, check_signed
from memoranda.worlds.composites import AllOf
from memoranda.worlds.policies import AutoApprove
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.recall.simulators import writing_untrusted

pytestmark = pytest.mark.anyio

SIGNER = Ed25519Signer("example.org/memory", bytes(range(32)))
KNOWN = signed_by_one_of([Ed25519Verifier(SIGNER.key)])


@pytest.mark.rule("M-1")
async def test_an_item_leads_to_its_original(memory: Memory[Any]) -> None:
    receipt = await memory.remember("the price is 10", source="ticket/1")
    found = (await memory.recall("price", top_k=1)).items[0]
    await memory.update(receipt.id, "the price is 20")

    for ref in (found, found.ref, found.ref.world_id):
        original = await memory.journal.original(ref)
        assert original.record is not None
        assert (original.record.data, original.record.version) == ("the price is 10", 1)
        assert original.data == "the price is 10"
        assert original.verified
        assert original.evidence is not None
        check_proof(proof_in(original.evidence), ref=found.ref)


@pytest.mark.rule("M-1")
async def test_an_original_that_no_recall_ever_selected_is_found_too(memory: Memory[Any]) -> None:
    await memory.remember("one")
    receipt = await memory.remember("two")
    address = (await memory.recall("two", top_k=1)).items[0].ref.world_id
    await memory.erase((await memory.remember("three")).id, reason="so")
    await memory.remember_many([f"more {n}" for n in range(20)])

    original = await memory.journal.original(address)

    assert original.record is not None
    assert original.record.id == receipt.id


@pytest.mark.rule("M-1")
async def test_a_world_leads_to_its_snapshot(memory: Memory[Any]) -> None:
    run = await memory.act("add", {"by": 3})
    await memory.act("add", {"by": 4})
    found = (await memory.recall("add 3", top_k=5, selector="worlds")).items

    assert run.world is not None
    original = await memory.journal.original(run.world)

    assert original.snapshot == await memory.worlds.restore(run.world)
    assert (original.kind, original.verified, original.data["count"]) == ("world", True, 3)
    assert [item.data["count"] for item in found] == [3, 7]
    assert all(item.verified for item in found)
    assert (await memory.journal.original(found[0])).data == found[0].data


@pytest.mark.rule("M-1")
async def test_what_was_forgotten_since_is_not_verified_any_more(memory: Memory[Any]) -> None:
    receipt = await memory.remember("the price is 10")
    found = (await memory.recall("price", top_k=1)).items[0]
    await memory.forget(receipt.id, reason="wrong")

    original = await memory.journal.original(found)

    assert not original.verified
    assert original.why_not == "it is invalidated by now"
    assert original.data == "the price is 10"


@pytest.mark.rule("M-1")
async def test_what_was_erased_says_so(memory: Memory[Any]) -> None:
    receipt = await memory.remember("the price is 10")
    found = (await memory.recall("price", top_k=1)).items[0]
    await memory.erase(receipt.id, reason="asked for")

    for ref in (found, found.ref):
        with pytest.raises(WorldErased):
            await memory.journal.original(ref)


@pytest.mark.rule("M-1")
@pytest.mark.parametrize("ref", ["a" * 64, "nowhere", "x\x00", "\ud800"])
async def test_a_reference_to_nothing_leads_nowhere(memory: Memory[Any], ref: str) -> None:
    await memory.remember("one")
    with pytest.raises((RecordNotFound, InvalidWorld)) as caught:
        await memory.journal.original(ref)
    assert caught.value.code in ("record.not_found", "input.world")


@pytest.mark.rule("M-1")
async def test_nothing_is_verified_while_a_break_stands(opens: Opens) -> None:
    async with opens(models={"llm": "one"}) as memory:
        await memory.remember("the price is 10")
        assert (await memory.recall("price", top_k=1)).items[0].verified
    async with opens(models={"llm": "two"}) as memory:
        found = await memory.recall("price", top_k=1)
        only = await memory.recall("price", top_k=1, verified_only=True)
        assert (found.outcome, found.items[0].verified) == ("degraded", False)
        assert (only.outcome, only.items) == ("degraded", ())
        assert not (await memory.journal.original(found.items[0])).verified
        async with opens(actor="human:auditor") as auditor:
            report = await auditor.verify()
            await auditor.govern.record_audit("audit/1", report=report, reason="looked at it")
        assert (await memory.recall("price", top_k=1)).items[0].verified


@pytest.mark.rule("M-1")
async def test_an_entry_that_was_changed_is_not_verified(memory: Memory[Any]) -> None:
    await memory.remember("the price is 10")
    await memory.remember("the price is 20")
    recaller = inside(memory).recaller
    ledger = recaller._ledger

    class Tampered:
        """A ledger whose entries were changed by somebody."""

        def __getattr__(self, name: str) -> Any:
            return getattr(ledger, name)

        async def rank(self, *given: Any, **more: Any) -> Any:
            found = await ledger.rank(*given, **more)
            changed = {
                seq: one._replace(entry=one.entry.replace(b"agent:worker", b"agent:liar"))
                for seq, one in found.stored.items()
            }
            assert changed
            return found._replace(stored=changed)

    recaller._ledger = Tampered()
    found = await memory.recall("price", top_k=2)

    assert [item.verified for item in found] == [False, False]
    assert all(item.evidence is None for item in found)


async def test_a_signed_checkpoint_covers_what_came_before_it(opens: Opens) -> None:
    seal = Seal([SIGNER], every_entries=1_000, every_seconds=3_600)
    policy = AllOf([RequireSigned("signed", KNOWN), AutoApprove()])
    async with opens(seal=seal, authority=policy) as memory:
        await memory.remember("the price is 10")
        async with memory.reasoning() as r:
            found = await r.recall("price", top_k=1)
            assert (await r.propose("nothing")).status == "rejected"
        assert found.items[0].evidence is not None
        assert found.items[0].evidence.checkpoint is None
    async with opens(seal=seal, authority=policy) as memory:
        await memory.remember("something else")
        async with memory.reasoning() as r:
            found = await r.recall("price", top_k=1)
            proposed = await r.propose("nothing")
        evidence = found.items[0].evidence
        assert evidence is not None
        check_signed(evidence, KNOWN)
        assert proposed.status == "approved"


async def test_untrusted_memory_is_left_out_where_only_verified_may_be(
    memory: Memory[Any],
) -> None:
    await memory.remember("the price is 10")
    with writing_untrusted(memory):
        await memory.remember("the price is 20")

    every = await memory.recall("price", top_k=2)
    only = await memory.recall("price", top_k=2, verified_only=True)

    assert {item.data: item.trust for item in every} == {
        "the price is 10": "unreviewed",
        "the price is 20": "untrusted",
    }
    assert "UNTRUSTED" in every.framed
    assert [item.data for item in only] == ["the price is 10"]
