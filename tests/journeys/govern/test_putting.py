"""`put` creates or replaces whole; `forget` says whether something was there."""

from typing import Any

import pytest

from memoranda import Memory, MemoryHooks
from memoranda.kernel.errors import (
    EntryDamaged,
    InvalidObject,
    InvalidRecord,
    JudgementRefused,
    ReasonMissing,
    VersionConflict,
)
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.govern.conftest import Tampers


async def test_put_creates_what_is_not_there_and_replaces_what_is(memory: Memory[Any]) -> None:
    first = await memory.put("a", {"n": 1, "m": 2}, tags=["x"], meta={"k": 1}, subject="kim")
    second = await memory.put("a", {"n": 3})

    assert (first.created, first.version) == (True, 1)
    assert (second.created, second.version) == (False, 2)
    found = await memory.get("a")
    assert found is not None
    assert (found.data, found.tags, dict(found.meta), found.subject) == ({"n": 3}, (), {}, None)
    assert [event.kind for event in await memory.history("a")] == ["create", "create"]


async def test_nothing_that_is_not_said_again_is_left(memory: Memory[Any]) -> None:
    await memory.put(
        "a", "x", source="s", valid_to="2099-01-01T00:00:00Z", expires="2099-01-01T00:00:00Z",
        thread="t", speaker="Kim", said_at=1, jurisdiction="KR", verdict="Inference",
        applicability_scope=None, indexed=False, media_type="text/plain", embed=[],
    )  # fmt: skip

    receipt = await memory.put("a", "x")

    found = await memory.journal.object("a")
    gone = {"expires", "thread", "speaker", "said_at", "jurisdiction", "indexed", "media_type"}
    assert (gone | {"embed"}).isdisjoint(found)
    assert (found["source_refs"], found["valid_to"]) == ([], None)
    assert (found["verdict_type"], found["temporal_scope"]) == ("Unanswered", "unknown")
    assert found["applicability_scope"] == {"scope": memory.scope}
    assert receipt.dropped_sources == 1


async def test_what_is_replaced_is_as_old_as_it_was(memory: Memory[Any], clock: Any) -> None:
    await memory.put("a", "x")
    before = clock.now_ms()
    clock.advance(1_000)
    await memory.put("a", "y")
    found = await memory.get("a")
    assert found is not None
    assert (found.created_at, found.updated_at) == (before, before + 1_000)

    await memory.forget("a", reason="r")
    clock.advance(1_000)
    receipt = await memory.put("a", "z")
    found = await memory.get("a")
    assert found is not None
    assert (receipt.created, receipt.version) == (True, 4)
    assert found.created_at == before + 2_000


async def test_put_is_refused_where_another_version_is_there(memory: Memory[Any]) -> None:
    await memory.put("a", "x", expected_version=0)

    with pytest.raises(VersionConflict):
        await memory.put("a", "y", expected_version=0)
    with pytest.raises(VersionConflict):
        await memory.put("a", "y", expected_version=2)
    await memory.put("a", "y", expected_version=1)

    assert len(await memory.history("a")) == 2


async def test_a_retry_of_put_is_told_what_the_first_one_did(memory: Memory[Any]) -> None:
    first = await memory.put("a", "x", idempotency_key="1")
    second = await memory.put("a", "y", idempotency_key="2")

    assert await memory.put("a", "x", idempotency_key="1") == first
    assert await memory.put("a", "y", idempotency_key="2") == second
    assert (first.created, second.created) == (True, False)
    await memory.forget("a", reason="r")
    again = await memory.put("a", "x", idempotency_key="3")
    assert again.created
    assert await memory.put("a", "x", idempotency_key="3") == again


@pytest.mark.rule("GOV-TYPE")
async def test_what_was_derived_stays_marked_when_it_is_replaced(memory: Memory[Any]) -> None:
    await memory.remember("x", id="a", statement_type="DerivedStatement")

    await memory.put("a", "y")
    assert (await memory.journal.object("a"))["statement_type"] == "DerivedStatement"
    with pytest.raises(InvalidObject):
        await memory.put("a", "z", statement_type="SourceStatement", source="s")


async def test_what_was_approved_is_not_when_it_is_replaced(opens: Opens) -> None:
    async with opens(actor="agent:a") as memory:
        await memory.put("a", "x", source="s")
    async with opens(actor="human:kim") as judge:
        await judge.govern.approve("a", reason="seen", verdict="Factual")
    async with opens(actor="agent:a") as memory:
        await memory.put("a", "x", source="s")

        found = await memory.get("a")
        assert found is not None
        assert (found.trust, found.verdict) == ("unreviewed", "Unanswered")
        with pytest.raises(JudgementRefused):
            await memory.put("a", "x", source="s", verdict="Factual")
        with pytest.raises(JudgementRefused):
            await memory.update("a", "y", source="s", verdict="Factual")


@pytest.mark.parametrize("id", [None, "", 7, "proposal/x"])
async def test_put_needs_an_id_that_a_record_may_have(memory: Memory[Any], id: Any) -> None:
    with pytest.raises(InvalidRecord):
        await memory.put(id, "x")


@pytest.mark.rule("MEM-HOOK-1")
async def test_hooks_hear_whether_something_was_created_or_updated(opens: Opens) -> None:
    heard: list[tuple[str, object]] = []
    hooks = MemoryHooks[Any](
        on_created=lambda record: heard.append(("created", record.data)),
        on_updated=lambda _, before, after: heard.append(("updated", (before, after))),
        on_deleted=lambda _, record: heard.append(("deleted", record.data)),
    )
    async with opens(hooks=hooks) as memory:
        await memory.put("a", "x")
        await memory.put("a", b"y", media_type="text/plain")
        await memory.forget("a", reason="r")
        await memory.forget("a", reason="r")

    assert heard == [("created", "x"), ("updated", ("x", b"y")), ("deleted", b"y")]


# --------------------------------------------------------------------------- forgetting


@pytest.mark.rule("GOV-FORGET")
async def test_forget_says_whether_something_was_there(memory: Memory[Any]) -> None:
    await memory.remember("x", id="a")
    size = (await inside(memory).ledger.head()).size

    assert await memory.forget("nowhere", reason="r") is None
    assert await memory.forget("\udcff", reason="r") is None
    assert (await inside(memory).ledger.head()).size == size
    receipt = await memory.forget("a", reason="r")
    assert receipt is not None
    assert (receipt.id, receipt.version, receipt.created) == ("a", 2, False)
    assert await memory.forget("a", reason="r") is None

    await memory.remember("x", id="b")
    await memory.govern.archive("b", reason="r")
    assert await memory.forget("b", reason="r") is None
    await memory.erase("b", reason="r")
    assert await memory.forget("b", reason="r") is None


async def test_who_expected_a_version_hears_that_it_is_gone(memory: Memory[Any]) -> None:
    await memory.remember("x", id="a")
    await memory.forget("a", reason="r")

    with pytest.raises(VersionConflict):
        await memory.forget("a", reason="r", expected_version=1)


@pytest.mark.parametrize("reason", ["", " ", None])
async def test_a_reason_is_needed_even_where_nothing_is(memory: Memory[Any], reason: Any) -> None:
    with pytest.raises(ReasonMissing):
        await memory.forget("nowhere", reason=reason)


@pytest.mark.rule("R-2")
async def test_what_is_damaged_is_no_nothing(opens: Opens, scope: str, tampers: Tampers) -> None:
    async with opens() as memory:
        receipt = await memory.remember("x", id="a")
    with tampers() as tables:
        (journal,) = tables.rows("journals", scope=scope)
        where = {"journal": journal["number"], "seq": receipt.seq}
        (row,) = tables.rows("bodies", **where)
        tables.change("bodies", where, body=row["body"].replace(b'"x"', b'"y"'))

    async with opens() as memory:
        with pytest.raises(EntryDamaged):
            await memory.forget("a", reason="r")
