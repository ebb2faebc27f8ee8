"""A recall says who asked for what, what was found and why; and it is on record first."""

from typing import Any

import pytest

import memoranda
from memoranda import Memory
from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import (
    CapabilityMissing,
    InvalidFilter,
    RecallFailed,
    StoreClosed,
)
from memoranda.ledger.snapshot import ENTRIES
from memoranda.recall.selector import Chosen
from memoranda.recall.trace import (
    MemoryRef,
    MemoryTrace,
    SelectedMemory,
    VerificationEvidence,
    validate_memory_trace,
)
from memoranda.testkit.strategies import FrozenClock
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.recall.simulators import Failing, Meanwhile, Saying

pytestmark = pytest.mark.anyio


async def remembered(memory: Memory[Any]) -> None:
    await memory.remember("Anna: I would like a refund for the blue shoes", source="ticket/812")
    await memory.remember("Bob: of course, it takes 14 days", source="ticket/812")
    await memory.remember("The customer prefers email", source="ticket/9", tags=["contact"])


async def journaled(memory: Memory[Any], trace_id: str) -> Any:
    """What the journal says of a recall."""
    found = await inside(memory).ledger.marked(f"trace/{trace_id}")
    assert len(found) == 1
    assert found[0].body is not None
    return decode(found[0].body)


# ------------------------------------------------------------------------------ the trace


@pytest.mark.rule("R-2")
async def test_a_selection_is_on_record_with_all_that_was_asked(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    await remembered(memory)

    found = await memory.recall("refund for Anna", top_k=2)

    said = await journaled(memory, found.trace_id)
    assert said["outcome"] == found.outcome == "found"
    trace = said["trace"]
    assert trace["selector"] == {"actorId": "worker", "kind": "agent"}
    assert trace["query"] == "refund for Anna"
    assert trace["selectedAt"] == clock.now_ms()
    assert trace["atWorldId"] == found.trace.at_world_id
    told = [
        (one["ref"], one["reason"], one["confidence"], one["verified"]) for one in trace["selected"]
    ]
    assert told == [(i.ref.to_wire(), i.reason, i.confidence, i.verified) for i in found]
    assert validate_memory_trace(trace).valid
    assert validate_memory_trace(found.trace).valid
    assert said["details"]["selector"] == "context"
    assert said["details"]["topK"] == 2


@pytest.mark.rule("R-2")
async def test_no_trace_no_memory(memory: Memory[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    await remembered(memory)
    size = (await inside(memory).ledger.head()).size

    async def full(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(inside(memory).table, "commit", full)
    with pytest.raises(OSError, match="full"):
        await memory.recall("refund", top_k=2)

    assert (await inside(memory).ledger.head()).size == size


@pytest.mark.rule("R-2")
async def test_a_recall_that_found_nothing_is_on_record_too(memory: Memory[Any]) -> None:
    await remembered(memory)

    found = await memory.recall("submarine", top_k=3)

    assert (found.outcome, found.items) == ("empty", ())
    assert (await journaled(memory, found.trace_id))["outcome"] == "empty"


@pytest.mark.rule("R-2")
async def test_an_error_is_a_recorded_outcome_and_never_an_empty_list(memory: Memory[Any]) -> None:
    await remembered(memory)

    found = await memory.recall("refund", top_k=3, selector=Failing())

    assert found.outcome == "failed"
    with pytest.raises(RecallFailed) as caught:
        _ = found.items
    assert caught.value.code == "world.recall_failed"
    with pytest.raises(RecallFailed):
        list(found)
    said = await journaled(memory, found.trace_id)
    assert said["outcome"] == "failed"
    assert said["details"]["error"] == found.error
    assert "ConnectionError" in str(found.error)
    assert "vector store" not in str(found.error)  # whatever a text repeats, it is not kept


async def test_what_a_selector_could_not_do_makes_the_outcome_degraded(memory: Memory[Any]) -> None:
    found = await memory.recall("x", top_k=3, selector=Saying(notes=["half of it is missing"]))

    assert (found.outcome, found.items) == ("degraded", ())
    assert found.notes == ("half of it is missing",)


@pytest.mark.rule("R-3")
async def test_a_selector_may_be_somebody_else_than_who_asks(memory: Memory[Any]) -> None:
    broker = ActorRef(actor_id="broker", kind="system")

    found = await memory.recall("x", top_k=1, selector=Saying(actor=broker))

    assert found.trace.selector == broker
    stored = (await inside(memory).ledger.marked(f"trace/{found.trace_id}"))[0]
    assert b'"actor":"agent:worker"' in stored.entry


@pytest.mark.parametrize("confidence", [float("nan"), -0.1, 1.1, float("inf")])
async def test_a_confidence_that_is_none_fails_the_recall(
    memory: Memory[Any], confidence: float
) -> None:
    receipt = await memory.remember("a")

    found = await memory.recall(
        "a", top_k=1, selector=Saying([Chosen("so", confidence, receipt.id)])
    )

    assert found.outcome == "failed"


@pytest.mark.parametrize("query", ["", "  ", "a\x00b", "\ud800"])
async def test_what_can_not_be_asked_is_refused_and_nothing_is_written(
    memory: Memory[Any], query: str
) -> None:
    size = (await inside(memory).ledger.head()).size
    with pytest.raises(InvalidFilter):
        await memory.recall(query, top_k=1)
    assert (await inside(memory).ledger.head()).size == size


@pytest.mark.parametrize("top_k", [-1, True, 1.0, "3", None])
async def test_top_k_is_a_whole_number_and_always_said(memory: Memory[Any], top_k: Any) -> None:
    with pytest.raises(InvalidFilter):
        await memory.recall("a", top_k=top_k)
    with pytest.raises(TypeError):
        await memory.recall("a")  # type: ignore[call-arg]


async def test_an_unknown_selector_is_refused(memory: Memory[Any]) -> None:
    with pytest.raises(InvalidFilter):
        await memory.recall("a", top_k=1, selector="psychic")


# ------------------------------------------------------------------------- what is found


async def test_words_of_neighbours_lead_to_the_answer(memory: Memory[Any]) -> None:
    await remembered(memory)

    found = await memory.recall("how long does the refund for Anna take", top_k=3)

    assert [item.data for item in found][:2] == [
        "Anna: I would like a refund for the blue shoes",
        "Bob: of course, it takes 14 days",
    ]
    assert "next to a match, 1 record before" in found.items[1].reason


@pytest.mark.parametrize("selector", ["context", "full-text", "keyword"])
async def test_korean_is_found_with_and_without_particles(
    memory: Memory[Any], selector: str
) -> None:
    await memory.remember("고객이 메모리를 환불해 달라고 했다")
    await memory.remember("배송은 내일 도착합니다")

    for question in ("메모리", "메모리가", "환불"):
        found = await memory.recall(question, top_k=1, selector=selector)
        assert [item.data for item in found] == ["고객이 메모리를 환불해 달라고 했다"]


async def test_the_newest_are_found_whatever_is_asked(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    for number in range(5):
        clock.advance(1000)
        await memory.remember(f"note {number}")

    found = await memory.recall("anything", top_k=2, selector="recent")

    assert [item.data for item in found] == ["note 4", "note 3"]


async def test_what_is_not_current_is_not_found(memory: Memory[Any], clock: FrozenClock) -> None:
    gone = await memory.remember("refund one")
    await memory.forget(gone.id, reason="wrong")
    await memory.remember("refund two", expires=clock.now_ms() + 10)
    await memory.remember("refund three", verdict="False")
    clock.advance(1000)

    for selector in ("context", "recent"):
        assert (await memory.recall("refund", top_k=5, selector=selector)).items == ()


async def test_constraints_are_kept(memory: Memory[Any], clock: FrozenClock) -> None:
    start = clock.now_ms()
    await memory.remember("refund old", tags=["a"], valid_to=start + 500)
    clock.advance(1000)
    await memory.remember("refund new", tags=["a", "b"])

    async def asked(**constraints: Any) -> list[Any]:
        found = await memory.recall("refund", top_k=5, **constraints)
        recent = await memory.recall("refund", top_k=5, selector="recent", **constraints)
        assert sorted(i.data for i in recent) == sorted(i.data for i in found)
        return [item.data for item in found]

    assert await asked() == ["refund new"]
    assert await asked(valid_at=start) == ["refund new", "refund old"]
    assert await asked(valid_at=start, tags=["a", "b"]) == ["refund new"]
    assert await asked(valid_at=start, created_before=start) == ["refund old"]
    assert await asked(valid_at=start, created_after=start + 1) == ["refund new"]
    assert await asked(min_confidence=0.999) == []
    assert await asked(token_budget=0) == []
    assert await asked(valid_at=start, token_budget=4) == ["refund new"]
    counted = await memory.recall("refund", top_k=5, token_budget=1, count_tokens=lambda _: 1)
    assert len(counted) == 1


async def test_what_was_known_then_is_found_as_it_was_then(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    receipt = await memory.remember("the price is 10")
    size = (await inside(memory).ledger.head()).size
    then = clock.now_ms()
    clock.advance(1000)
    await memory.update(receipt.id, "the price is 20")
    await memory.remember("another price")

    now = await memory.recall("price", top_k=5)
    at_entry = await memory.recall("price", top_k=5, at=size - 1)
    at_time = await memory.recall("price", top_k=5, at=format_time(then))

    assert [item.data for item in now] == ["another price", "the price is 20"]
    assert (
        [item.data for item in at_entry] == [item.data for item in at_time] == ["the price is 10"]
    )
    assert [item.version for item in at_entry] == [1]
    assert at_entry.items[0].verified


@pytest.mark.parametrize("selector", ["context", "full-text", "keyword", "recent"])
async def test_as_of_now_finds_what_is_found_now(memory: Memory[Any], selector: str) -> None:
    await remembered(memory)
    for number in range(20):
        await memory.remember(f"Anna: refund {number} {'again ' * (number % 3)}", source="ticket/1")
    size = (await inside(memory).ledger.head()).size

    now = await memory.recall("refund again Anna", top_k=10, selector=selector)
    then = await memory.recall("refund again Anna", top_k=10, selector=selector, at=size - 1)

    assert [(i.id, i.confidence, i.score, i.reason) for i in now] == [
        (i.id, i.confidence, i.score, i.reason) for i in then
    ]


async def test_what_a_selector_names_and_is_not_there_is_left_out_and_said(
    memory: Memory[Any],
) -> None:
    receipt = await memory.remember("a")
    gone = await memory.remember("b")
    await memory.forget(gone.id, reason="wrong")
    picked = [Chosen("so", 0.5, id) for id in (receipt.id, "nowhere", gone.id, receipt.id)]

    found = await memory.recall("a", top_k=9, selector=Saying(picked))

    assert [item.id for item in found] == [receipt.id]
    assert found.outcome == "degraded"
    assert len(found.notes) == 2


async def test_what_a_selector_may_not_find_is_left_out(memory: Memory[Any]) -> None:
    receipt = await memory.remember("a", tags=["x"])

    found = await memory.recall(
        "a", top_k=9, selector=Saying([Chosen("so", 0.5, receipt.id)]), tags=["y"]
    )

    assert found.items == ()


async def test_what_is_erased_while_it_is_selected_is_told_to_nobody(memory: Memory[Any]) -> None:
    receipt = await memory.remember("the secret")
    selector = Meanwhile(
        [Chosen("matched the secret", 0.5, receipt.id)],
        lambda: memory.erase(receipt.id, reason="asked for"),
    )

    found = await memory.recall("secret", top_k=1, selector=selector)

    assert found.selected_items == ()


# ------------------------------------------------------------------------- being erased


async def test_a_trace_goes_with_the_memory_that_it_selected(memory: Memory[Any]) -> None:
    receipt = await memory.remember("the secret")
    found = await memory.recall("secret", top_k=1)

    dry = await memory.erase(receipt.id, reason="asked for", dry_run=True)
    done = await memory.erase(receipt.id, reason="asked for")

    assert dry.counts.traces == done.counts.traces == 1
    why = await memory.why(found.trace_id)
    assert why.known["content"] == "erased"
    assert (await memory.verify()).is_sound


async def test_nothing_of_an_erased_memory_is_left_in_its_trace(memory: Memory[Any]) -> None:
    receipt = await memory.remember("zanzibar")
    await memory.recall("zanzibar", top_k=1)

    await memory.erase(receipt.id, reason="asked for")

    async with inside(memory).ledger.snapshot() as snapshot:
        async for chunk in snapshot.rows(ENTRIES):
            for stored in chunk:
                assert b"zanzibar" not in (stored.body or b"")


# ------------------------------------------------------------------------------- why


async def test_why_tells_a_recall_again(memory: Memory[Any]) -> None:
    await remembered(memory)
    found = await memory.recall("refund for Anna", top_k=1)

    why = await memory.why(found.trace_id)

    assert why.what == "recall"
    assert why.known["query"] == "refund for Anna"
    assert why.known["selected by"] == "agent:worker"
    assert [part.id for part in why.parts] == [item.id for item in found]
    assert why.parts[0].known["reason"] == found.items[0].reason
    assert why.proof is not None
    assert why.proof.holds
    left_out = why.known["below"]
    assert [one["id"] for one in left_out][:1] == [
        (await memory.recall("refund for Anna", top_k=2)).items[1].id
    ]


async def test_a_recall_is_handed_to_machines_whole(memory: Memory[Any]) -> None:
    await remembered(memory)
    found = await memory.recall("refund", top_k=2)

    wire = decode(canonical_bytes(found.to_wire()))

    assert wire["traceId"] == found.trace_id
    assert [one["id"] for one in wire["items"]] == [item.id for item in found]


async def test_a_plain_store_has_no_recall() -> None:
    async with memoranda.open("dict://", scope="a") as memory:
        with pytest.raises(CapabilityMissing):
            await memory.recall("a", top_k=1)


async def test_a_closed_handle_recalls_nothing(opens: Opens) -> None:
    async with opens() as memory:
        pass
    with pytest.raises(StoreClosed):
        await memory.recall("a", top_k=1)
    with pytest.raises(StoreClosed):
        await memory.journal.original("a" * 64)


@pytest.mark.rule("TRACE-SHAPE")
async def test_the_trace_has_the_bytes_that_its_values_have(memory: Memory[Any]) -> None:
    """It is made as JSON: here it is made of the values that say what a trace is."""
    await remembered(memory)
    found = await memory.recall("refund for Anna", top_k=2)

    by = ActorRef(actor_id="worker", kind="agent")
    at, world = found.journaled.selected_at, found.journaled.at_world_id
    evidence = VerificationEvidence(method="inclusion", verified_at=at, verified_by=by)
    selected = [
        SelectedMemory(
            ref=MemoryRef(world_id=item.ref.world_id),
            reason=item.reason,
            confidence=item.confidence,
            verified=True,
            evidence=evidence,
        )
        for item in found.items
    ]
    trace = MemoryTrace(
        selector=by,
        query="refund for Anna",
        selected_at=at,
        at_world_id=world,
        selected=selected,
    )
    said = (await journaled(memory, found.trace_id))["trace"]

    assert canonical_bytes(said) == canonical_bytes(found.traced) == trace.canonical()
    assert found.journaled == trace
    assert [item.selected for item in found.items] == selected
