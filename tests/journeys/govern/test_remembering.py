"""What is remembered is an object with everything explicit, and has a receipt."""

import hashlib
from typing import Any

import pytest

from memoranda import Memory
from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import (
    InvalidJson,
    InvalidObject,
    InvalidRecord,
    InvalidTime,
    RecordExists,
    RecordNotFound,
)
from memoranda.ledger.entry import entry_hash
from memoranda.ledger.validate import validate_object
from memoranda.testkit.strategies import FrozenClock
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.govern.reading import objects


@pytest.mark.rule("GOV-OBJECT", "GOV-TIME-2")
async def test_every_default_of_an_object_is_written(memory: Memory[Any]) -> None:
    await memory.remember("The customer prefers email")

    (document,) = await objects(memory)

    assert document["statement"] == "The customer prefers email"
    assert document["statement_type"] == "SystemGeneratedStatement"
    assert document["verdict_type"] == "Unanswered"
    assert document["source_refs"] == []
    assert (document["valid_from"], document["valid_to"]) == (None, None)
    assert document["temporal_scope"] == "unknown"
    assert document["applicability_scope"] == {"scope": memory.scope}
    assert document["version"] == "1"
    assert document["trust"] == "unreviewed"
    assert document["timestamp"] == "2025-11-13T02:13:20.000Z"


@pytest.mark.rule("GOV-OBJECT")
async def test_the_integrity_hash_is_over_the_object_without_it(memory: Memory[Any]) -> None:
    receipt = await memory.remember({"a": 1.5, "b": ["ㅎ", None]})

    (document,) = await objects(memory)
    stated = document.pop("integrity_hash")
    found = await memory.get(receipt.id)

    assert stated["digest"] == hashlib.sha256(canonical_bytes(document)).hexdigest()
    assert found is not None
    assert found.hash == f"sha256:{stated['digest']}"


@pytest.mark.rule("GOV-OBJECT")
async def test_every_object_that_is_written_is_valid(memory: Memory[Any]) -> None:
    receipt = await memory.remember(
        {"plan": "gold"},
        source={"uri": "ticket/812", "anchor": "#2"},
        valid_from="2026-01-01T00:00:00Z",
        valid_to="2026-12-31T23:59:59Z",
        expires=1_900_000_000_000,
        subject="customer/7",
        jurisdiction="KR",
        verdict="Inference",
        tags=["plan"],
        meta={"by": "web"},
    )
    await memory.update(receipt.id, {"plan": "silver"}, reason="downgraded")
    await memory.govern.archive(receipt.id, reason="left", cause="obsolescence")
    await memory.erase(receipt.id, reason="asked")
    await memory.remember({"text": ""})

    for document in await objects(memory):
        assert validate_object(document) == []


@pytest.mark.rule("GOV-TYPE")
@pytest.mark.parametrize(
    ("actor", "statement_type"),
    [
        ("human:kim", "UserProvidedStatement"),
        ("agent:support", "SystemGeneratedStatement"),
        ("system:import", "SystemGeneratedStatement"),
    ],
)
async def test_who_writes_decides_the_statement_type(
    opens: Opens, actor: str, statement_type: str
) -> None:
    async with opens(actor=actor) as memory:
        receipt = await memory.remember("x", source="ticket/1")
        found = await memory.get(receipt.id)

    assert found is not None
    assert found.statement_type == statement_type


async def test_a_receipt_names_the_entry_and_the_size_of_the_journal(memory: Memory[Any]) -> None:
    first = await memory.remember("one")
    second = await memory.update(first.id, "two")

    stored = await inside(memory).ledger.bytes_at([second.seq])
    head = await inside(memory).ledger.head()

    assert (first.version, second.version) == (1, 2)
    assert second.size == first.size + 1 == head.size
    assert entry_hash(stored[second.seq]).hex() == second.entry_hash == head.entry_hash.hex()


async def test_many_are_remembered_together_or_not_at_all(memory: Memory[Any]) -> None:
    receipts = await memory.remember_many(["a", "b", "c"], source="doc/1", tags=["t"])
    found = [await memory.get(receipt.id) for receipt in receipts]

    assert [one and one.data for one in found] == ["a", "b", "c"]
    assert await memory.remember_many([]) == []
    head = await inside(memory).ledger.head()
    with pytest.raises(InvalidJson) as caught:
        await memory.remember_many(["d", float("nan")])
    assert caught.value.where == "$[1].data"
    with pytest.raises(InvalidRecord):
        await memory.remember_many("one text")
    assert await inside(memory).ledger.head() == head


async def test_a_retry_returns_the_first_receipt(memory: Memory[Any]) -> None:
    first = await memory.remember("once", idempotency_key="k")
    await memory.remember("in between")

    assert await memory.remember("once", idempotency_key="k") == first
    assert len(await memory.list()) == 2


async def test_an_id_that_is_in_use_is_refused(memory: Memory[Any]) -> None:
    await memory.remember("x", id="mine")

    with pytest.raises(RecordExists):
        await memory.remember("y", id="mine")
    with pytest.raises(RecordNotFound):
        await memory.update("nowhere", "y")


@pytest.mark.parametrize(
    "wrong",
    [
        {"source": ""},
        {"source": {"anchor": "#1"}},
        {"subject": " "},
        {"verdict": "Maybe"},
        {"verdict": "Factual"},
    ],
)
async def test_a_fact_that_is_none_is_refused_and_nothing_is_written(
    memory: Memory[Any], wrong: dict[str, Any]
) -> None:
    head = await inside(memory).ledger.head()

    with pytest.raises(InvalidObject):
        await memory.remember("x", **wrong)

    assert await inside(memory).ledger.head() == head


@pytest.mark.rule("GOV-TIME-1")
@pytest.mark.parametrize(
    "wrong",
    [
        {"valid_to": "tomorrow"},
        {"valid_to": 1.5},
        {"valid_from": "2026-02-01T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"},
    ],
)
async def test_a_time_that_is_none_is_refused(memory: Memory[Any], wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidTime):
        await memory.remember("x", **wrong)


async def test_the_time_in_a_journal_never_goes_back(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    first = await memory.remember("x")
    clock.advance(-60_000)
    second = await memory.remember("y")

    history = [(await memory.history(one.id))[0].at for one in (first, second)]

    assert history == [clock.at + 60_000] * 2
    assert (await memory.verify()).is_sound
