"""Every member of a MemoryObject that a caller may decide has a way in, with strict checks."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.journeys.audit.export import export_log
from memoranda.journeys.govern.objects import Receipt
from memoranda.kernel.errors import (
    IdempotencyConflict,
    InvalidObject,
    InvalidRecord,
    InvalidTime,
    RecordNotFound,
    VersionConflict,
)
from memoranda.ledger.consolidate import Refusal
from memoranda.ledger.log import read_log
from memoranda.ledger.validate import validate_object
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.govern.judging import fact

pytestmark = pytest.mark.anyio


async def saved(memory: Memory[Any], id: str) -> dict[str, Any]:
    """The object under an id, which is valid."""
    found = await memory.journal.object(id)
    assert validate_object(found) == []
    return found


@pytest.mark.rule("GOV-TYPE", "GOV-TIME-2")
async def test_a_statement_says_of_what_type_it_is_where_and_when_it_holds(
    memory: Memory[Any],
) -> None:
    said: dict[str, Any] = {
        "source": "law/1",
        "statement_type": "SourceStatement",
        "applicability_scope": {"country": "DE"},
        "valid_from": 1_000,
        "temporal_scope": "unbounded",
    }
    one = await memory.remember("The law says X", **said)
    (many,) = await memory.remember_many(["The law says Y"], **said)
    derived = await memory.remember("so Z", statement_type="DerivedStatement",
                                    applicability_scope=None)  # fmt: skip

    for id in (one.id, many.id):
        found = await saved(memory, id)
        assert found["statement_type"] == "SourceStatement"
        assert found["applicability_scope"] == {"country": "DE"}
        assert (found["temporal_scope"], found["valid_to"]) == ("unbounded", None)
    found = await saved(memory, derived.id)
    assert (found["statement_type"], found["applicability_scope"]) == ("DerivedStatement", None)
    ordinary = await saved(memory, (await memory.remember("x")).id)
    assert ordinary["applicability_scope"] == {"scope": memory.scope}
    again = await memory.update(one.id, "The law: X", source="law/2", valid_from=2_000,
                                statement_type="SourceStatement")  # fmt: skip
    found = await saved(memory, again.id)
    assert (found["statement_type"], found["temporal_scope"]) == ("SourceStatement", "unbounded")
    assert found["applicability_scope"] == {"country": "DE"}
    _, heir = await memory.govern.supersede(one.id, "The law: X and Y", reason="amended")
    found = await saved(memory, heir.id)
    assert (found["applicability_scope"], found["temporal_scope"]) == (
        {"country": "DE"},
        "unbounded",
    )
    assert (await memory.verify()).is_sound


WRONG: list[tuple[type[Exception], dict[str, Any]]] = [
    (InvalidObject, {"statement_type": "SourceStatement"}),
    (InvalidObject, {"statement_type": "ConsolidatedStatement"}),
    (InvalidObject, {"statement_type": "Rumour"}),
    (InvalidObject, {"applicability_scope": "everywhere"}),
    (InvalidObject, {"applicability_scope": {"a": float("nan")}}),
    (InvalidTime, {"temporal_scope": "unbounded"}),
    (InvalidTime, {"temporal_scope": "bounded", "valid_from": 1}),
    (InvalidTime, {"temporal_scope": "unbounded", "valid_from": 1, "valid_to": 2}),
    (InvalidObject, {"temporal_scope": "always", "valid_from": 1}),
]


@pytest.mark.parametrize(("error", "said"), WRONG)
async def test_what_can_not_be_said_is_refused(
    memory: Memory[Any], error: type[Exception], said: dict[str, Any]
) -> None:
    one = (await memory.remember("x")).id
    size = (await inside(memory).ledger.head()).size

    for call in (
        lambda: memory.remember("y", **said),
        lambda: memory.remember_many(["y"], **said),
        lambda: memory.update(one, "y", **said),
        lambda: memory.govern.supersede(one, "y", reason="r", **said),
        lambda: memory.govern.revise(one, reason="r", **said),
    ):
        with pytest.raises(error):
            await call()

    assert (await inside(memory).ledger.head()).size == size


async def test_what_was_derived_stays_marked_so(memory: Memory[Any]) -> None:
    one = await memory.remember("so Z", statement_type="DerivedStatement")

    with pytest.raises(InvalidObject):
        await memory.govern.revise(one.id, reason="r", statement_type="SourceStatement", source="a")


@pytest.mark.rule("GOV-CONS-5")
async def test_a_consolidation_that_is_restated_without_sources_is_derived(
    memory: Memory[Any],
) -> None:
    ids = [(await memory.remember(f"Kim {n}", source=f"doc/{n}")).id for n in range(2)]
    made = await memory.govern.consolidate(ids, "Kim twice", justification="both")
    assert isinstance(made, Receipt)

    await memory.update(made.id, "Kim three times")

    assert (await saved(memory, made.id))["statement_type"] == "DerivedStatement"


@pytest.mark.rule("GOV-TIME-3")
async def test_a_justified_widening_can_be_written(memory: Memory[Any]) -> None:
    ids = [
        (await memory.remember(f"Kim {n}", source=f"doc/{n}", valid_from=1_000, valid_to=2_000)).id
        for n in range(2)
    ]
    wide: dict[str, Any] = {"justification": "both", "valid_from": 1_000, "valid_to": 9_000}

    refused = await memory.govern.consolidate(ids, "Kim", **wide)
    made = await memory.govern.consolidate(ids, "Kim", **wide, widening="the lease was renewed")
    endless = await memory.govern.consolidate(
        ids, "Kim", justification="both", valid_from=1_000, temporal_scope="unbounded",
        widening="it never ends",
    )  # fmt: skip

    assert isinstance(refused, Refusal)
    assert refused.gates == ("C",)
    assert isinstance(made, Receipt)
    assert isinstance(endless, Receipt)
    found = await saved(memory, made.id)
    assert found["reconstruction"]["widening"] == "the lease was renewed"
    assert found["valid_to"] == "1970-01-01T00:00:09.000Z"
    assert (await saved(memory, endless.id))["temporal_scope"] == "unbounded"


# ---------------------------------------------------------------------------- revising


@pytest.mark.rule("GOV-LOG")
async def test_a_statement_is_revised_as_its_next_version(
    opens: Opens, memory: Memory[Any]
) -> None:
    one = await memory.remember("The law says X", source="law/1", tags=["a"], meta={"m": 1})
    before = await saved(memory, one.id)

    async with opens(actor="human:judge") as judge:
        receipt = await judge.govern.revise(
            one.id, reason="looked up", verdict="Factual", source=["law/1", "law/2"],
            subject="kim", jurisdiction="DE", valid_from=1_000, valid_to=2_000_000_000_000,
            expires=2_000_000_000_000,
        )  # fmt: skip

    after = await saved(memory, one.id)
    assert (receipt.version, receipt.dropped_sources) == (2, 0)
    assert after["statement"] == before["statement"]
    assert after["statement_type"] == before["statement_type"]
    assert (after["tags"], after["meta"]) == (["a"], {"m": 1})
    assert (after["verdict_type"], after["subject"], after["jurisdiction"]) == (
        "Factual",
        "kim",
        "DE",
    )
    assert [source["uri"] for source in after["source_refs"]] == ["law/1", "law/2"]
    assert after["supersedes"] == f"sha256:{before['integrity_hash']['digest']}"
    log = b"".join([line async for line in export_log(inside(memory).ledger)])
    event = read_log(log).documents[-1]
    assert (event["event_type"], event["prev_hash"]) == ("create", None)
    assert (event["supersedes"], event["reason"]) == (after["supersedes"], "looked up")
    assert (await memory.verify()).is_sound


async def test_a_fact_becomes_false_and_is_no_longer_returned(
    opens: Opens, memory: Memory[Any]
) -> None:
    one = await fact(opens, memory, "The earth is flat")

    await memory.govern.revise(one, reason="seen from above", verdict="False")

    assert await memory.get(one) is None
    assert (await memory.get(one, include=["false"])).verdict == "False"  # type: ignore[union-attr]
    assert len(await memory.recall("earth", top_k=1)) == 0


async def test_other_sources_or_another_verdict_end_an_approval(opens: Opens) -> None:
    async with opens(actor="agent:a") as memory, opens(actor="human:b") as human:
        one = (await memory.remember("x", source="a")).id
        await human.govern.approve(one, reason="looked at")
        await memory.govern.revise(one, reason="r", subject="kim")
        assert (await memory.get(one)).trust == "approved"  # type: ignore[union-attr]

        await memory.govern.revise(one, reason="r", verdict="Inference")

        assert (await memory.get(one)).trust == "unreviewed"  # type: ignore[union-attr]


async def test_a_revision_has_a_reason_something_to_say_and_an_object(
    opens: Opens, memory: Memory[Any]
) -> None:
    one = await fact(opens, memory, "x")

    with pytest.raises(InvalidRecord):
        await memory.govern.revise(one, reason=" ", subject="k")
    with pytest.raises(InvalidRecord):
        await memory.govern.revise(one, reason="r")
    with pytest.raises(InvalidObject):
        await memory.govern.revise(one, reason="r", source=[""])
    with pytest.raises(InvalidObject):
        await memory.govern.revise(one, reason="r", verdict="True")  # type: ignore[arg-type]
    with pytest.raises(RecordNotFound):
        await memory.govern.revise("nowhere", reason="r", subject="k")
    with pytest.raises(VersionConflict):
        await memory.govern.revise(one, reason="r", subject="k", expected_version=3)
    first = await memory.govern.revise(one, reason="r", subject="k", idempotency_key="i")
    assert await memory.govern.revise(one, reason="r", subject="k", idempotency_key="i") == first
    with pytest.raises(IdempotencyConflict):
        await memory.govern.revise(one, reason="r", subject="l", idempotency_key="i")
    assert first.version == 3


# ------------------------------------------------------------------------------ actors


@pytest.mark.rule("GOV-LOG")
@pytest.mark.parametrize(
    ("actor", "logged"),
    [("human:a", "human"), ("agent:a", "system"), ("system:a", "system"),
     ("policy:retention", "policy-engine")],
)  # fmt: skip
async def test_who_acts_is_logged_in_the_three_words_of_the_log(
    opens: Opens, actor: str, logged: str
) -> None:
    async with opens(actor=actor) as memory:
        one = await memory.remember("x")
        await memory.forget(one.id, reason="too old", cause="policy")

        log = b"".join([line async for line in export_log(inside(memory).ledger)])
        assert {event["actor"] for event in read_log(log).documents} == {logged}
        assert {event.actor for event in await memory.history(one.id)} == {actor}
        assert (await memory.verify()).is_sound
