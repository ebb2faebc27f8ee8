"""What is asked is kept to, to its edges; and what can't be asked is refused first."""

from typing import Any

import pytest
from pydantic import BaseModel

from memoranda import Memory
from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import InvalidFilter, InvalidWorld, WorldErased
from memoranda.ledger.snapshot import ENTRIES
from memoranda.recall.provider import MemoryQuery
from memoranda.recall.selector import Chosen
from memoranda.testkit.strategies import FrozenClock
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.recall.simulators import Saying, writing_untrusted

pytestmark = pytest.mark.anyio

ALL = ("context", "full-text", "keyword", "recent", "worlds")


@pytest.mark.parametrize(
    "constraint",
    [
        {"top_k": 10_001},
        {"top_k": 2**64},
        {"min_confidence": "0.5"},
        {"min_confidence": None},
        {"min_confidence": True},
        {"min_confidence": float("nan")},
        {"verified_only": "yes"},
        {"tags": "abc"},
        {"tags": [1]},
        {"tags": [["a"]]},
        {"tags": ["\ud800"]},
        {"tags": ["a\x00"]},
        {"subject": ""},
        {"subject": "\ud800"},
        {"about": "\u200b"},
        {"thread": "a\x00"},
        {"where": {"data.a": "\ud800"}},
        {"where": {"a": 1}},
        {"offset": -1},
        {"offset": 10_000},
        {"offset": True},
        {"at": -1},
        {"at": "3"},
        {"at": True},
        {"at": 2**70},
        {"token_budget": -1},
        {"token_budget": 1.5},
        {"token_budget": True},
        {"token_budget": 2**70},
    ],
    ids=str,
)
async def test_a_constraint_that_is_none_is_refused_and_nothing_is_written(
    memory: Memory[Any], constraint: dict[str, Any]
) -> None:
    size = (await inside(memory).ledger.head()).size
    for selector in ALL:
        with pytest.raises(InvalidFilter) as caught:
            await memory.recall("a", **{"top_k": 1, "selector": selector, **constraint})
        assert caught.value.code == "input.filter"
    assert (await inside(memory).ledger.head()).size == size


@pytest.mark.parametrize("selector", ["context", "full-text", "keyword", "worlds"])
async def test_a_question_of_too_many_words_says_which_were_asked_for(
    memory: Memory[Any], selector: str
) -> None:
    await memory.remember("needle")
    few, many = (" ".join(f"word{n}" for n in range(number)) for number in (255, 256))

    assert (await memory.recall(f"{few} needle", top_k=1, selector=selector)).notes == ()
    found = await memory.recall(f"{many} needle", top_k=1, selector=selector)

    assert found.outcome == "degraded"
    assert "256" in found.notes[0]


async def test_what_nobody_trusts_takes_no_place_of_what_is_verified(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    await memory.remember("the price is 10, says the list of prices")
    clock.advance(1_000)
    with writing_untrusted(memory):
        await memory.remember_many(["the price"] * 5)

    for selector in ("context", "full-text", "keyword", "recent"):
        asked: dict[str, Any] = {"top_k": 1, "selector": selector}
        assert [one.trust for one in await memory.recall("price", **asked)] == ["untrusted"]
        only = await memory.recall("price", verified_only=True, **asked)
        assert [one.trust for one in only] == ["unreviewed"], selector


async def test_worlds_are_narrowed_too(memory: Memory[Any], clock: FrozenClock) -> None:
    start = clock.now_ms()
    first = await memory.act("add", {"by": 1})
    size = (await inside(memory).ledger.head()).size
    clock.advance(1_000)
    second = await memory.act("add", {"by": 2})

    async def asked(**constraints: Any) -> list[str]:
        found = await memory.recall("add", top_k=9, selector="worlds", **constraints)
        assert found.outcome in ("found", "empty")
        return sorted(item.ref.world_id for item in found)

    assert await asked() == sorted([str(first.world), str(second.world)])
    assert await asked(created_before=start) == [first.world]
    assert await asked(created_after=start + 1) == [second.world]
    assert await asked(at=size - 1) == [first.world]
    assert await asked(at=format_time(start)) == [first.world]
    assert await asked(tags=["a"]) == []
    named = Saying([Chosen("so", 0.5, world=second.world)])
    narrowed: list[dict[str, Any]] = [{"at": size - 1}, {"tags": ["a"]}]
    for constraint in narrowed:
        found = await memory.recall("add", top_k=9, selector=named, **constraint)
        assert (found.outcome, found.items) == ("degraded", ())


async def test_worlds_as_of_then_are_not_hidden_by_what_came_since(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.recall.selectors.WORLDS_LOOKED_AT", 2)
    first = await memory.act("add", {"by": 1})
    size = (await inside(memory).ledger.head()).size
    for _ in range(4):
        await memory.act("add", {"by": 2})

    found = await memory.recall("add", top_k=9, selector="worlds", at=size - 1)

    assert [item.ref.world_id for item in found] == [first.world]


async def test_a_count_of_tokens_that_breaks_is_a_failure_on_record(memory: Memory[Any]) -> None:
    await memory.remember("<|endoftext|>")

    def count(text: str) -> int:
        raise ValueError(f"{text} is not for you")

    found = await memory.recall("endoftext", top_k=1, token_budget=9, count_tokens=count)

    assert found.outcome == "failed"
    with pytest.raises(InvalidFilter):
        await memory.recall("endoftext", top_k=1, token_budget=9, count_tokens=lambda _: -1)


class Price(BaseModel):
    price: int


async def test_what_is_not_of_the_handles_type_is_left_out_and_said(opens: Opens) -> None:
    async with opens() as anything:
        await anything.remember({"price": "ten"})
        await anything.remember({"price": 10, "of": "ten"})
    async with opens(model=Price) as prices:
        found = await prices.recall("ten", top_k=9)

        assert [item.data for item in found] == [Price(price=10)]
        assert found.outcome == "degraded"
        wire = decode(canonical_bytes(found.to_wire()))
        assert wire["items"][0]["data"] == {"price": 10, "of": "ten"}


async def test_a_reference_is_a_text(memory: Memory[Any]) -> None:
    for ref in (None, 3, ""):
        with pytest.raises(InvalidWorld):
            await memory.journal.original(ref)  # type: ignore[arg-type]


# ----------------------------------------------------------------- worlds that are recalled


class Recalling:
    """A provider that recalls past worlds."""

    def __init__(self) -> None:
        self.memory: Memory[Any] | None = None

    async def recall(self, _query: MemoryQuery, /) -> Any:
        if self.memory is None:
            return None
        found = await self.memory.recall("zanzibar", top_k=1, selector="worlds")
        return [item.data for item in found]

    async def remember(self, _experience: Any, /) -> None:
        """Nothing."""


async def test_what_an_execution_recalled_of_a_world_goes_with_it(opens: Opens) -> None:
    provider = Recalling()
    async with opens(provider=provider) as memory:
        start = await memory.act("nothing")
        await memory.worlds.branch("other", at=str(start.world))
        receipt = await memory.remember("zanzibar")
        async with memory.reasoning() as r:
            await r.recall("zanzibar", top_k=1)
            first = await r.act("note", {"text": "zanzibar"})
        provider.memory = memory
        second = await memory.act("learn", branch="other")
        why = await memory.why(str(second.execution_key))
        assert ("execution", first.execution_key) in [(one.what, one.id) for one in why.parts]

        await memory.erase(receipt.id, reason="asked for")

        with pytest.raises(WorldErased):
            await memory.worlds.standing(second.proposal_id)
        async with inside(memory).ledger.snapshot() as snapshot:
            async for chunk in snapshot.rows(ENTRIES):
                for stored in chunk:
                    assert b"zanzibar" not in (stored.body or b"")
        assert (await memory.verify()).is_sound
