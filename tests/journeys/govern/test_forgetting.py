"""Forgetting is an act with a reason, and nothing is lost by it but what is erased."""

import asyncio
from typing import Any

import pytest

from memoranda import Memory, MemoryRecordInput
from memoranda.journeys.govern.objects import Receipt
from memoranda.kernel.errors import (
    IdempotencyConflict,
    IllegalTransition,
    InvalidRecord,
    ReasonMissing,
    RecordNotFound,
    VersionConflict,
)
from memoranda.ledger.unit import Committed, Unit
from tests.fixtures import Opens
from tests.handles import inside
from tests.handles import verb as verb_of
from tests.journeys.govern.reading import events, raw


@pytest.mark.rule("GOV-FORGET")
async def test_what_is_forgotten_is_not_returned_and_history_has_it(memory: Memory[Any]) -> None:
    receipt = await memory.remember("wrong", tags=["t"])

    await memory.forget(receipt.id, reason="they were mistaken", cause="correction")

    assert await memory.get(receipt.id) is None
    assert await memory.get(receipt.id, at=receipt.size) is None
    assert await memory.get(receipt.id, include=["archived"]) is None
    assert await memory.records.get(receipt.id) is None
    assert await memory.records.version(receipt.id) is None
    assert await memory.list() == []
    assert await memory.list(include=["archived"]) == []
    created, forgotten = await memory.history(receipt.id)
    assert created.remembered is not None
    assert created.remembered.data == "wrong"
    assert (forgotten.kind, forgotten.reason) == ("invalidate", "they were mistaken")
    kept = await memory.get(receipt.id, include=["invalidated"])
    assert kept is not None
    assert (kept.data, kept.status, kept.version) == ("wrong", "invalidated", 2)


@pytest.mark.rule("GOV-FORGET")
@pytest.mark.parametrize("verb", ["forget", "archive", "reinstate"])
@pytest.mark.parametrize("reason", ["", "  ", "\n"])
async def test_forgetting_without_a_reason_is_refused(
    memory: Memory[Any], verb: str, reason: str
) -> None:
    receipt = await memory.remember("x")
    if verb == "reinstate":
        await memory.govern.archive(receipt.id, reason="old")
    head = await inside(memory).ledger.head()

    with pytest.raises(ReasonMissing):
        await verb_of(memory, verb)(receipt.id, reason=reason)

    assert await inside(memory).ledger.head() == head


@pytest.mark.rule("GOV-FORGET")
async def test_a_cause_is_one_of_the_named_ones(memory: Memory[Any]) -> None:
    receipt = await memory.remember("x")

    with pytest.raises(ReasonMissing):
        await memory.forget(receipt.id, reason="because", cause="boredom")  # type: ignore[arg-type]


@pytest.mark.rule("GOV-FORGET", "GOV-LOG")
async def test_a_deletion_of_a_record_is_an_invalidation_with_a_reason(
    memory: Memory[Any],
) -> None:
    one = await memory.records.create(MemoryRecordInput(data="a"))
    two = await memory.records.create(MemoryRecordInput(data="b"))
    await memory.records.delete(one, reason="asked")
    await memory.records.delete(two)
    await memory.records.create(MemoryRecordInput(data="c"))
    await memory.records.clear()

    told = [(event["event_type"], event["reason"]) for event in await events(memory)]

    assert told == [
        ("create", None),
        ("create", None),
        ("invalidate", "asked"),
        ("invalidate", "deleted by caller"),
        ("create", None),
        ("invalidate", "deleted by caller"),
    ]
    assert b"deleted by caller" in await raw(memory)


@pytest.mark.rule("GOV-FORGET")
async def test_what_is_archived_comes_back_as_its_next_version(memory: Memory[Any]) -> None:
    receipt = await memory.remember("x", tags=["t"], source="doc/1")
    await memory.govern.archive(receipt.id, reason="old")
    assert await memory.list() == []

    again = await memory.govern.reinstate(receipt.id, reason="needed again")

    found = await memory.get(receipt.id)
    assert found is not None
    assert (found.data, found.version, found.tags) == ("x", again.version, ("t",))
    assert again.version == 3
    with pytest.raises(IllegalTransition):
        await memory.govern.reinstate(receipt.id, reason="twice")


@pytest.mark.rule("GOV-FORGET", "GOV-LOG")
async def test_what_supersedes_names_what_it_replaces(memory: Memory[Any]) -> None:
    receipt = await memory.remember("old")

    gone, new = await memory.govern.supersede(receipt.id, "new", reason="newer")

    assert await memory.get(receipt.id) is None
    found = await memory.get(new.id)
    assert found is not None
    assert found.data == "new"
    create, invalidate, created = await events(memory)
    assert invalidate["superseded_by"] == new.id
    assert created["supersedes"] == invalidate["prev_hash"] == create["new_hash"]
    assert gone.version == 2


async def test_only_the_version_that_was_seen_is_forgotten(memory: Memory[Any]) -> None:
    receipt = await memory.remember("x")
    await memory.update(receipt.id, "y")

    with pytest.raises(VersionConflict):
        await memory.forget(receipt.id, reason="r", expected_version=1)
    assert await memory.forget("nowhere", reason="r") is None


async def test_a_retry_of_forgetting_is_told_the_first_receipt(memory: Memory[Any]) -> None:
    receipt = await memory.remember("x")
    first = await memory.forget(receipt.id, reason="r", idempotency_key="k")

    assert await memory.forget(receipt.id, reason="r", idempotency_key="k") == first


# ---------------------------------------------------------------------------- erasing


@pytest.mark.rule("GOV-FORGET")
async def test_what_is_erased_leaves_its_proof_and_no_content(memory: Memory[Any]) -> None:
    receipt = await memory.remember(
        "CANARY-1", tags=["CANARY-2"], meta={"m": "CANARY-3"}, subject="CANARY-4"
    )
    await memory.update(receipt.id, "CANARY-5", idempotency_key="k")
    other = await memory.remember("other")

    certificate = await memory.erase(receipt.id, reason="asked by the customer")

    assert b"CANARY" not in await raw(memory)
    assert (certificate.counts.objects, certificate.counts.versions) == (1, 2)
    (tombstone,) = certificate.tombstones
    assert (tombstone.id, tombstone.version) == (receipt.id, 3)
    history = await memory.history(receipt.id)
    assert [step.remembered for step in history] == [None, None, None]
    assert history[-1].reason == "asked by the customer"
    assert await memory.get(receipt.id, include=["invalidated", "archived"]) is None
    audit = await memory.verify()
    assert audit.is_sound
    assert audit.report.erased == 2
    kept = await memory.get(other.id)
    assert kept is not None
    assert kept.data == "other"


@pytest.mark.rule("GOV-LOG")
async def test_the_log_still_has_the_events_of_what_was_erased(memory: Memory[Any]) -> None:
    receipt = await memory.remember("x")
    await memory.forget(receipt.id, reason="secret reason")
    before = await events(memory)

    await memory.erase(receipt.id, reason="asked")

    after = await events(memory)
    assert [event["memory_object_id"] for event in after] == [receipt.id] * 3
    assert [event["new_hash"] for event in after[:2]] == [event["new_hash"] for event in before]
    assert after[1]["prev_hash"] == before[1]["prev_hash"]
    assert after[2]["erasure"] is True
    assert "secret reason" not in str(after)


async def test_a_data_subject_is_erased_whole(memory: Memory[Any]) -> None:
    mine = [await memory.remember(f"m{n}", subject="kim") for n in range(3)]
    await memory.forget(mine[0].id, reason="r")
    other = await memory.remember("o", subject="lee")

    dry = await memory.erase(subject="kim", reason="asked", dry_run=True)
    assert (dry.is_dry_run, dry.counts.objects, dry.counts.versions) == (True, 3, 4)
    assert await memory.get(mine[1].id) is not None
    done = await memory.erase(subject="kim", reason="asked")

    assert done.counts == dry.counts
    assert [await memory.get(one.id) for one in mine] == [None] * 3
    assert await memory.get(other.id) is not None
    assert (await memory.erase(subject="kim", reason="again")).counts.objects == 0
    assert (await memory.verify()).is_sound


async def test_a_whole_scope_is_erased_and_no_other(memory: Memory[Any], opens: Opens) -> None:
    await memory.remember_many([f"CANARY {n}" for n in range(1_100)])
    async with opens(scope=memory.scope + "-other") as other:
        kept = await other.remember("CANARY")
        certificate = await memory.erase(whole_scope=True, reason="the customer left")
        assert await other.get(kept.id) is not None

    assert certificate.counts.objects == len(certificate.tombstones) == 1_100
    assert b"CANARY" not in await raw(memory)
    assert (await memory.verify()).is_sound


async def test_what_was_made_from_it_is_erased_with_it(memory: Memory[Any]) -> None:
    one = await memory.remember("Kim likes tea", source="doc/1")
    two = await memory.remember("Kim likes rice", source="doc/2")
    made = await memory.govern.consolidate(
        [one.id, two.id], "Kim likes tea and rice", justification="same person"
    )
    assert isinstance(made, Receipt)
    again = await memory.govern.consolidate(
        [made.id, two.id], "Kim likes tea and rice, again", justification="once more"
    )
    assert isinstance(again, Receipt)

    certificate = await memory.erase(one.id, reason="asked")

    assert certificate.counts.derived == 2
    assert await memory.get(made.id) is None
    assert await memory.get(again.id) is None
    assert await memory.get(two.id) is not None
    assert b"tea" not in await raw(memory)
    assert (await memory.verify()).is_sound


@pytest.mark.parametrize(
    "named", [{}, {"id": "a", "subject": "b"}, {"subject": "b", "whole_scope": True}]
)
async def test_an_erasure_says_what_it_is_about(memory: Memory[Any], named: dict[str, Any]) -> None:
    with pytest.raises(InvalidRecord):
        await memory.erase(reason="r", **named)


async def test_an_erasure_needs_a_reason_and_something_to_erase(memory: Memory[Any]) -> None:
    receipt = await memory.remember("x")
    with pytest.raises(InvalidRecord):
        await memory.erase(receipt.id, reason=" ")
    with pytest.raises(RecordNotFound):
        await memory.erase("nowhere", reason="r")
    await memory.erase(receipt.id, reason="r")
    assert await memory.get(receipt.id) is None


async def test_an_erased_id_may_be_used_again(memory: Memory[Any]) -> None:
    await memory.remember("x", id="one")
    await memory.erase("one", reason="r")

    again = await memory.remember("y", id="one")

    assert again.version == 3
    assert (await memory.verify()).is_sound


async def test_many_may_be_erased_at_once(memory: Memory[Any]) -> None:
    receipts = await memory.remember_many([f"note {number}" for number in range(12)])

    await asyncio.gather(*(memory.erase(one.id, reason="asked") for one in receipts))

    assert await memory.list() == []
    assert (await memory.verify()).is_sound


class RunsTwice:
    """A ledger on which every unit runs a second time, as when a neighbour's failure rolls back.

    The first run is on a whole scope in portions of two.
    """

    def __init__(self, ledger: Any) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    async def commit(self, unit: Unit) -> Committed:
        found = [one async for one in self._ledger.as_of((await self._ledger.head()).size)]
        for start in range(0, len(found), 2):
            unit.decide(found[start : start + 2])
        committed: Committed = await self._ledger.commit(unit)
        return committed


async def test_an_erasure_that_runs_twice_is_told_once(memory: Memory[Any]) -> None:
    await memory.remember_many([f"note {number}" for number in range(5)])
    inside(memory).table.ledger = RunsTwice(inside(memory).ledger)

    certificate = await memory.erase(whole_scope=True, reason="the customer left")

    assert certificate.counts.objects == len(certificate.tombstones) == 5
    assert (await memory.verify()).is_sound


async def test_a_key_stands_for_the_cause_as_well(memory: Memory[Any]) -> None:
    receipt = await memory.remember("x")
    await memory.forget(receipt.id, reason="r", cause="correction", idempotency_key="k")

    with pytest.raises(IdempotencyConflict):
        await memory.forget(receipt.id, reason="r", cause="conflict", idempotency_key="k")
