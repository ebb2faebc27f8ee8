"""The seed's types around recall have the seed's members, and no others."""

from typing import Any

import pytest

from memoranda.kernel.errors import InvalidWorld
from memoranda.recall.provider import (
    AppExecutionContext,
    AppInputNamespace,
    MemoryExperience,
    MemoryProvider,
    MemoryQuery,
)
from memoranda.worlds.proposal import Intent

INTENT = {"type": "orders.add", "input": {"n": 1}, "intentId": "intent-1"}
QUERY = {"actorId": "helper", "intent": INTENT, "baseWorld": "w-0", "timestamp": 1}
EXPERIENCE = {**QUERY, "outcome": "completed", "resultWorld": "w-1"}


@pytest.mark.rule("EXT-TYPES")
def test_a_query_has_the_seeds_members() -> None:
    assert MemoryQuery.from_wire(QUERY).to_wire() == QUERY
    hinted = {**QUERY, "hints": {"limit": 3}}
    assert MemoryQuery.from_wire(hinted).to_wire() == hinted
    assert MemoryQuery.from_wire(QUERY).intent == Intent.from_wire(INTENT)


@pytest.mark.rule("EXT-TYPES")
@pytest.mark.parametrize("outcome", ["completed", "failed"])
def test_an_experience_was_completed_or_failed(outcome: str) -> None:
    wire = {**EXPERIENCE, "outcome": outcome}

    assert MemoryExperience.from_wire(wire).to_wire() == wire


@pytest.mark.rule("EXT-TYPES")
def test_an_experience_without_data_and_one_with_null_differ() -> None:
    absent = MemoryExperience.from_wire(EXPERIENCE)
    null = MemoryExperience.from_wire({**EXPERIENCE, "data": None})

    assert "data" not in absent.to_wire()
    assert null.to_wire()["data"] is None
    assert absent != null


@pytest.mark.rule("EXT-TYPES")
@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (MemoryQuery, {**QUERY, "memory": 1}),
        (MemoryQuery, {**QUERY, "timestamp": "now"}),
        (MemoryQuery, {**QUERY, "actorId": ""}),
        (MemoryQuery, {key: QUERY[key] for key in QUERY if key != "baseWorld"}),
        (MemoryQuery, {**QUERY, "hints": []}),
        (MemoryExperience, {**EXPERIENCE, "outcome": "rejected"}),
        (MemoryExperience, {key: EXPERIENCE[key] for key in EXPERIENCE if key != "resultWorld"}),
        (AppExecutionContext, {"memoryContext": 1, "other": 1}),
        (AppExecutionContext, {"memoryRecallFailed": "yes"}),
        (AppInputNamespace, {"other": {1}}),
    ],
)
def test_what_does_not_fit_is_refused(kind: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidWorld) as caught:
        kind.from_wire(wrong)

    assert caught.value.code == "input.world"


@pytest.mark.rule("EXT-TYPES")
@pytest.mark.parametrize(
    "wire",
    [
        {},
        {"memoryContext": None},
        {"memoryContext": {"a": 1}, "memoryRecallFailed": False},
        {"memoryContext": None, "memoryRecallFailed": True},
    ],
)
def test_the_two_memory_members_are_optional(wire: dict[str, Any]) -> None:
    assert AppExecutionContext.from_wire(wire).to_wire() == wire
    assert AppInputNamespace.from_wire(wire).to_wire() == wire


@pytest.mark.rule("EXT-TYPES")
def test_the_namespace_keeps_members_of_the_apps_own() -> None:
    given: dict[str, Any] = {"memoryContext": [], "trace": {"tags": ["a"]}}

    kept = AppInputNamespace.from_wire(given)
    given["trace"]["tags"].append("b")

    assert kept.to_wire() == {"memoryContext": [], "trace": {"tags": ["a"]}}


@pytest.mark.rule("D-MEM-3")
async def test_a_provider_is_whatever_recalls_and_remembers() -> None:
    class Notes:
        def __init__(self) -> None:
            self.seen: list[str] = []

        async def recall(self, query: MemoryQuery) -> list[str]:
            return [*self.seen, query.intent.type]

        async def remember(self, experience: MemoryExperience) -> None:
            self.seen.append(experience.outcome)

    provider = Notes()
    _: MemoryProvider[list[str]] = provider

    await provider.remember(MemoryExperience.from_wire(EXPERIENCE))

    assert await provider.recall(MemoryQuery.from_wire(QUERY)) == ["completed", "orders.add"]
