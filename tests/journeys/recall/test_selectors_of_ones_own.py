"""Whatever a selector says, a recall comes to an outcome, and nothing wrong is handed out."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest

from memoranda import Memory
from memoranda.identity import decode
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidFilter, StoreClosed
from memoranda.recall.ranking import RankingMode
from memoranda.recall.selector import Below, Chosen, Constraints, Request, Selection, Sources
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.recall.simulators import Saying

pytestmark = pytest.mark.anyio


@dataclass
class Answering:
    """A selector that answers whatever it was told to."""

    answer: Any
    name: Any = "answering"
    actor: Any = None

    async def select(self, _request: Request, _sources: Sources, /) -> Any:
        return self.answer


@dataclass
class Looking:
    """A selector that looks for itself."""

    look: Callable[[Request, Sources], Awaitable[Selection]]
    name: str = "looking"
    actor: ActorRef | None = None

    async def select(self, request: Request, sources: Sources, /) -> Selection:
        return await self.look(request, sources)


async def size_of(memory: Memory[Any]) -> int:
    return (await inside(memory).ledger.head()).size


def chosen(**said: Any) -> Chosen:
    return Chosen(**{"reason": "so", "confidence": 0.5, "id": "some", **said})


WRONG: Sequence[Any] = (
    None,
    [chosen()],
    "abc",
    Selection(None),  # type: ignore[arg-type]
    Selection([None]),  # type: ignore[list-item]
    Selection([("so", 0.5, "some")]),  # type: ignore[list-item]
    Selection([chosen(id=3)]),
    Selection([chosen(id=["some"])]),
    Selection([chosen(id="\ud800")]),
    Selection([chosen(id="a\x00")]),
    Selection([chosen(id="i" * 100_000)]),
    Selection([chosen(id=None)]),
    Selection([chosen(world="a" * 64)]),
    Selection([chosen(id=None, world=3)]),
    Selection([chosen(id=None, world="\ud800")]),
    Selection([chosen(id=None, world="w" * 100_000)]),
    Selection([chosen(reason=3)]),
    Selection([chosen(reason="")]),
    Selection([chosen(reason="  ")]),
    Selection([chosen(reason="a\x00b")]),
    Selection([chosen(reason="x\ud800")]),
    Selection([chosen(reason="x" * 100_000)]),
    Selection([chosen(confidence=True)]),
    Selection([chosen(confidence="0.5")]),
    Selection([chosen(confidence=Decimal("0.5"))]),
    Selection([chosen(score=float("nan"))]),
    Selection([chosen(score=float("inf"))]),
    Selection([chosen(score="high")]),
    Selection([chosen()] * 10_001),
    Selection([], None),  # type: ignore[arg-type]
    Selection([], [object()]),  # type: ignore[list-item]
    Selection([], [Below("some", float("nan"))]),
    Selection([], [Below(3, 0.5)]),  # type: ignore[arg-type]
    Selection([], (), None),  # type: ignore[arg-type]
    Selection([], (), "a note"),
    Selection([], (), [3]),  # type: ignore[list-item]
    Selection([], (), ["\ud800"]),
    Selection([], (), ["x" * 100_000]),
)


@pytest.mark.rule("R-2")
async def test_what_is_no_selection_is_a_failure_on_record(memory: Memory[Any]) -> None:
    await memory.recall("a", top_k=0)  # the first one also seals a genesis
    for answer in WRONG:
        size = await size_of(memory)

        found = await memory.recall("a", top_k=9, selector=Answering(answer))

        assert found.outcome == "failed", answer
        assert found.selected_items == ()
        assert await size_of(memory) == size + 1
    assert (await memory.verify()).is_sound


async def test_a_selection_may_be_made_as_it_is_read(memory: Memory[Any]) -> None:
    receipts = [await memory.remember("a"), await memory.remember("b")]
    lazily: Any = (Chosen("so", 1, one.id) for one in receipts)

    found = await memory.recall("a", top_k=9, selector=Answering(Selection(lazily)))

    assert [item.data for item in found] == ["a", "b"]


@pytest.mark.parametrize("error", [InvalidFilter("a", "b"), StoreClosed(), TimeoutError()])
async def test_whatever_a_selector_raises_is_a_failure_on_record(
    memory: Memory[Any], error: Exception
) -> None:
    async def fail(_request: Request, _sources: Sources) -> Selection:
        raise error

    found = await memory.recall("a", top_k=9, selector=Looking(fail))

    assert found.outcome == "failed"


@pytest.mark.parametrize(
    "selector",
    [
        None,
        3,
        Answering,
        Answering(Selection(()), name=3),
        Answering(Selection(()), name=""),
        Answering(Selection(()), name="\ud800"),
        Answering(Selection(()), actor="agent:x"),
        Answering(Selection(()), actor=ActorRef(actor_id="x", kind="agent", meta={"a": object()})),
    ],
)
async def test_what_is_no_selector_is_refused_before_anything_is_written(
    memory: Memory[Any], selector: Any
) -> None:
    size = await size_of(memory)

    with pytest.raises(InvalidFilter) as caught:
        await memory.recall("a", top_k=1, selector=selector)

    assert caught.value.code == "input.filter"
    assert await size_of(memory) == size


# ------------------------------------------------------------------ what it has not just read


async def test_a_version_of_another_scope_is_not_handed_out(opens: Opens) -> None:
    taken: list[Chosen] = []

    async def take(request: Request, sources: Sources) -> Selection:
        found = await sources.ranked(RankingMode.FULL_TEXT, request, 1)
        taken.extend(found.chosen)
        return found

    async with opens(scope="elsewhere") as other:
        await other.remember("their secret")
        await other.recall("secret", top_k=1, selector=Looking(take))
    async with opens() as memory:
        await memory.remember("our secret")

        found = await memory.recall("secret", top_k=9, selector=Saying(taken))

        assert len(taken) == 1
        assert (found.outcome, found.items) == ("degraded", ())


async def test_what_a_selector_kept_from_before_is_looked_up_again(memory: Memory[Any]) -> None:
    receipt = await memory.remember("the price is 10")
    gone = await memory.remember("the price was 5")
    kept: list[Chosen] = []

    async def keep(request: Request, sources: Sources) -> Selection:
        if not kept:
            kept.extend((await sources.ranked(RankingMode.FULL_TEXT, request, 2)).chosen)
        return Selection(kept)

    await memory.recall("price", top_k=2, selector=Looking(keep))
    await memory.update(receipt.id, "the price is 20")
    await memory.forget(gone.id, reason="wrong")

    found = await memory.recall("price", top_k=2, selector=Looking(keep))

    assert [(item.data, item.version) for item in found] == [("the price is 20", 2)]
    assert found.outcome == "degraded"
    assert (await memory.journal.original(found.items[0])).data == "the price is 20"


async def test_an_entry_that_a_selector_made_up_leads_nobody_astray(memory: Memory[Any]) -> None:
    await memory.remember("another")
    receipt = await memory.remember("the price is 10")

    async def lie(request: Request, sources: Sources) -> Selection:
        found = await sources.ranked(RankingMode.FULL_TEXT, request, 1)
        return Selection([one._replace(seq=0) for one in found.chosen])

    found = await memory.recall("price", top_k=1, selector=Looking(lie))

    assert [(item.id, item.verified) for item in found] == [(receipt.id, True)]
    assert (await memory.journal.original(found.items[0].ref)).verified


async def test_a_selector_does_not_widen_what_was_asked_for(memory: Memory[Any]) -> None:
    await memory.remember("the price is 10", tags=["old"])
    await memory.remember("the price is 20", tags=["new"])

    async def widen(request: Request, sources: Sources) -> Selection:
        wide = replace(request, constraints=Constraints(), accepts=lambda _: True)
        return await sources.ranked(RankingMode.FULL_TEXT, wide, 9)

    found = await memory.recall("price", top_k=9, selector=Looking(widen), tags=["new"])

    assert [item.data for item in found] == ["the price is 20"]
    assert found.outcome == "degraded"


@pytest.mark.rule("M-1")
async def test_what_is_forgotten_while_it_is_selected_is_not_verified(
    memory: Memory[Any],
) -> None:
    receipt = await memory.remember("the price is 10")
    await memory.remember("the price is 20")
    looked = inside(memory).recaller.verifying.looked

    async def forget_first(*given: Any, **more: Any) -> Any:
        inside(memory).recaller.verifying.looked = looked  # type: ignore[method-assign]
        found = await looked(*given, **more)
        await memory.forget(receipt.id, reason="wrong")
        return found

    inside(memory).recaller.verifying.looked = forget_first  # type: ignore[method-assign]
    found = await memory.recall("price", top_k=2)

    assert [item.data for item in found] == ["the price is 20"]


async def test_what_many_names_lead_nowhere_is_said_in_few_words(memory: Memory[Any]) -> None:
    picked = [Chosen("so", 0.5, f"nowhere-{n}") for n in range(3_000)]

    found = await memory.recall("a", top_k=9, selector=Saying(picked))

    assert found.outcome == "degraded"
    assert len(found.notes) < 30
    assert "nowhere-0" in found.notes[0]
    assert "2,9" in found.notes[-1]


async def test_what_is_gone_before_it_is_told_is_not_selected_anew(memory: Memory[Any]) -> None:
    first, second = await memory.remember("the secret"), await memory.remember("another secret")
    asked: list[str] = []

    async def look(request: Request, sources: Sources) -> Selection:
        asked.append(request.query)
        found = await sources.ranked(RankingMode.FULL_TEXT, request, 2)
        await memory.erase(first.id, reason="asked for")
        await memory.forget(second.id, reason="wrong")
        return found

    found = await memory.recall("secret", top_k=1, selector=Looking(look))

    assert (found.outcome, found.items, asked) == ("degraded", (), ["secret"])
    stored = await inside(memory).ledger.marked(f"trace/{found.trace_id}")
    assert stored[0].body is not None
    assert decode(stored[0].body)["trace"]["selected"] == []
