"""What an erasure says that it took is what the tables have lost, and what a dry run foretold."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.journeys.govern.certificate import ErasureCertificate, ErasureCounts
from memoranda.journeys.govern.receipts import Receipt
from memoranda.ledger.holdings import Holdings
from tests.govern.counting import Rows


async def _filled(memory: Memory[Any]) -> tuple[str, str]:
    """Objects with everything that goes with one: the ids of an input and of what it led to."""
    one = await memory.remember(
        "Kim likes tea", source="doc/1", tags=["a", "b"], subject="kim", idempotency_key="k1"
    )
    two = await memory.remember("Kim likes rice", source="doc/2", tags=["a"], subject="kim")
    await memory.update(one.id, "Kim likes some tea", source="doc/1", idempotency_key="k2")
    await memory.update(one.id, "Kim likes green tea", source="doc/1", idempotency_key="k3")
    made = await memory.consolidate(
        [one.id, two.id], "Kim likes green tea and rice", justification="same person"
    )
    assert isinstance(made, Receipt)
    await memory.reindex()
    return one.id, made.id


async def _checked(
    memory: Memory[Any], url: str, **named: Any
) -> tuple[ErasureCertificate, ErasureCounts]:
    """Erase after a dry run, with all counts compared with the rows before and after."""
    before = Rows.of(url, memory.scope)
    dry = await memory.erase(**named, reason="asked", dry_run=True)
    assert Rows.of(url, memory.scope) == before

    done = await memory.erase(**named, reason="asked")

    after, counts = Rows.of(url, memory.scope), done.counts
    assert counts == dry.counts
    assert counts.objects == len(done.tombstones)
    assert before.bodies - after.bodies == counts.versions - len(done.tombstones)
    assert before.tags - after.tags == counts.tags
    assert before.retries - after.retries == counts.retries
    assert before.derivations - after.derivations == counts.derivations
    assert (await memory.verify()).is_sound
    return done, counts


@pytest.mark.rule("GOV-FORGET")
async def test_everything_that_goes_with_an_object_is_counted(
    memory: Memory[Any], url: str
) -> None:
    id, _ = await _filled(memory)
    before = Rows.of(url, memory.scope)

    done, counts = await _checked(memory, url, id=id)

    assert (counts.objects, counts.derived, counts.versions) == (2, 1, 4)
    assert (counts.tags, counts.retries, counts.derivations) == (2, 3, 2)
    assert counts.postings == before.postings - Rows.of(url, memory.scope).postings > 0
    assert done.document["postings"] == counts.postings


@pytest.mark.parametrize("named", [{"subject": "kim"}, {"whole_scope": True}])
async def test_a_person_and_a_scope_are_counted_likewise(
    memory: Memory[Any], url: str, named: dict[str, Any]
) -> None:
    await _filled(memory)
    before = Rows.of(url, memory.scope)

    _, counts = await _checked(memory, url, **named)

    assert counts.objects == 3
    assert counts.postings == before.postings
    assert Rows.of(url, memory.scope).postings == 0


async def test_what_is_not_in_the_index_has_no_postings(memory: Memory[Any], url: str) -> None:
    receipt = await memory.remember("Kim likes tea")
    await memory.forget(receipt.id, reason="old")
    await memory.reindex()

    _, counts = await _checked(memory, url, id=receipt.id)

    assert (counts.versions, counts.postings, counts.retries, counts.derivations) == (2, 0, 0, 0)


async def test_the_words_of_another_tokenizers_index_are_counted_too(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    id, _ = await _filled(memory)
    here = await memory.erase(id, reason="asked", dry_run=True)
    for module in ("holdings", "words"):
        monkeypatch.setattr(f"memoranda.stores.sqlite.{module}.INDEX_FORM", "another/1")

    dry = await memory.erase(whole_scope=True, reason="asked", dry_run=True)
    assert (await memory.erase(id, reason="asked", dry_run=True)).counts == here.counts
    assert (await memory.erase(whole_scope=True, reason="asked")).counts == dry.counts


def test_every_kind_that_a_database_counts_is_in_the_certificate() -> None:
    assert set(Holdings._fields) < set(ErasureCounts.__dataclass_fields__)
