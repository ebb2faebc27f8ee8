"""Consolidation passes every gate, or is refused with all that failed; approval is by others."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.identity import Frozen, canonical_bytes
from memoranda.kernel.errors import ApprovalRefused, RecordNotFound
from memoranda.ledger.consolidate import Refusal, rebuild
from memoranda.ledger.object import unsealed
from memoranda.ledger.validate import validate_object
from memoranda.testkit.strategies import FrozenClock
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.govern.reading import events, objects


async def two(memory: Memory[Any], **facts: Any) -> tuple[str, str]:
    one = await memory.remember("Kim likes tea", source="doc/1", verdict="Inference", **facts)
    other = await memory.remember("Kim likes rice", source="doc/2", verdict="Inference")
    return one.id, other.id


@pytest.mark.rule("GOV-CONS-1", "GOV-CONS-2", "GOV-CONS-3")
async def test_a_consolidation_keeps_its_inputs_and_names_all_sources(
    memory: Memory[Any],
) -> None:
    one, other = await two(memory)

    receipt = await memory.govern.consolidate(
        [one, other], "Kim likes tea and rice", justification="one person", verdict="Inference"
    )

    assert not isinstance(receipt, Refusal)
    found = await memory.get(receipt.id)
    assert found is not None
    assert found.statement_type == "ConsolidatedStatement"
    assert [source["uri"] for source in found.sources] == ["doc/1", "doc/2"]
    document = (await objects(memory))[-1]
    assert validate_object(document) == []
    assert [(ref["id"], ref["statement_type"]) for ref in document["inputs"]] == [
        (one, "SystemGeneratedStatement"),
        (other, "SystemGeneratedStatement"),
    ]
    assert await memory.get(one) is not None
    assert await memory.get(other) is not None


@pytest.mark.rule("GOV-CONS-4")
async def test_the_event_of_a_consolidation_rebuilds_it(memory: Memory[Any]) -> None:
    one, other = await two(memory)
    await memory.govern.consolidate(
        [one, other], "Kim likes tea and rice", justification="one person"
    )

    event = (await events(memory))[-1]
    first, second, output = await objects(memory)

    assert event["event_type"] == "consolidate"
    assert event["input_ids"] == [one, other]
    assert event["output_id"] == output["id"]
    assert event["justification"] == "one person"
    inputs = [Frozen(canonical_bytes(unsealed(document))) for document in (first, second)]
    assert rebuild(event, inputs) == canonical_bytes(unsealed(output))


@pytest.mark.rule("GOV-CONS-5")
async def test_an_input_without_a_source_is_refused_and_nothing_is_written(
    memory: Memory[Any],
) -> None:
    one, _ = await two(memory)
    bare = await memory.remember("no source", verdict="Inference")
    head = await inside(memory).ledger.head()

    refused = await memory.govern.consolidate([one, bare.id], "both", justification="j")

    assert isinstance(refused, Refusal)
    assert "GOV-CONS-5" in {failure.rule for failure in refused.failures}
    assert await inside(memory).ledger.head() == head


@pytest.mark.rule("GOV-CONS-5")
async def test_every_gate_that_fails_is_named(memory: Memory[Any]) -> None:
    bare = await memory.remember("no source")

    refused = await memory.govern.consolidate([bare.id], "x", justification=" ", verdict="Factual")

    assert isinstance(refused, Refusal)
    assert refused.gates == ("A", "B", "E")


@pytest.mark.rule("GOV-TIME-3")
async def test_a_consolidation_holds_only_while_all_of_its_inputs_do(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    one, other = await two(memory, valid_from=clock.at, valid_to=clock.at + 1_000)

    receipt = await memory.govern.consolidate([one, other], "both", justification="j")

    assert not isinstance(receipt, Refusal)
    found = await memory.get(receipt.id)
    assert found is not None
    assert found.valid_to == clock.at + 1_000


async def test_what_is_not_there_can_not_be_consolidated(memory: Memory[Any]) -> None:
    one, _ = await two(memory)

    with pytest.raises(RecordNotFound):
        await memory.govern.consolidate([one, "nowhere"], "x", justification="j")


# -------------------------------------------------------------------------- approval


async def test_only_somebody_who_contributed_nothing_may_approve(opens: Opens) -> None:
    async with opens(actor="agent:a") as writer:
        one, other = await two(writer)
    async with opens(actor="human:editor") as editor:
        made = await editor.govern.consolidate([one, other], "both", justification="j")
        assert not isinstance(made, Refusal)
        with pytest.raises(ApprovalRefused):
            await editor.govern.approve(made.id, reason="looks right")
    async with opens(actor="agent:a") as writer:
        with pytest.raises(ApprovalRefused):
            await writer.govern.approve(made.id, reason="looks right")
    async with opens(actor="human:boss") as boss:
        await boss.govern.approve(made.id, reason="checked with Kim")
        found = await boss.get(made.id)

    assert found is not None
    assert (found.trust, found.data) == ("approved", "both")


async def test_a_summary_of_something_untrusted_stays_so(opens: Opens) -> None:
    async with opens(actor="agent:a") as writer:
        one, other = await two(writer)
    async with opens(actor="human:boss") as boss:
        await boss.govern.approve(one, reason="checked")
        made = await boss.govern.consolidate([one, other], "both", justification="j")
        assert not isinstance(made, Refusal)
        found = await boss.get(made.id)

    assert found is not None
    assert found.trust == "unreviewed"


@pytest.mark.rule("GOV-TYPE")
async def test_a_consolidation_that_is_changed_stays_marked(memory: Memory[Any]) -> None:
    one, other = await two(memory)
    made = await memory.govern.consolidate([one, other], "both", justification="j")
    assert not isinstance(made, Refusal)

    await memory.update(made.id, "both, reworded", keep_sources=True, reason="a typing error")

    found = await memory.get(made.id)
    assert found is not None
    assert found.statement_type == "ConsolidatedStatement"
    await memory.update(made.id, "both, without the sources of the inputs")
    found = await memory.get(made.id)
    assert found is not None
    assert found.statement_type == "DerivedStatement"
