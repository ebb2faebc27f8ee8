"""A trace goes with what it selected and with whom it is about, and repeats nothing of others."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from memoranda import Memory
from memoranda.identity import decode
from memoranda.kernel.errors import (
    InvalidFilter,
    StoreUnavailable,
    TraceMissing,
    WorldErased,
)
from memoranda.ledger.fields import text_of
from memoranda.ledger.snapshot import ENTRIES
from memoranda.recall.ranking import RankingMode
from memoranda.recall.selector import Request, Selection, Sources
from tests.fixtures import Opens
from tests.handles import inside

pytestmark = pytest.mark.anyio

WORD = "zanzibar"
CATS = f"cats and dogs and birds of {WORD}"
"""What is asked for: the second record below has most of it, and the first one the last word."""


async def bodies(memory: Memory[Any]) -> list[bytes]:
    """All that the journal still says."""
    found = []
    async with inside(memory).ledger.snapshot() as snapshot:
        async for chunk in snapshot.rows(ENTRIES):
            found += [stored.body for stored in chunk if stored.body is not None]
    return found


async def says(memory: Memory[Any], text: str) -> bool:
    """Whether any entry of the journal still has a text in it, and whether all is sound."""
    assert (await memory.verify()).is_sound
    return any(text.encode() in body for body in await bodies(memory))


async def conversation(
    memory: Memory[Any],
    said: Sequence[str] = (f"so how was it in {WORD}, and what was there?", "cats, dogs, birds"),
) -> list[str]:
    """Records of one source, each after the one before."""
    return [(await memory.remember(one, source="chat/1")).id for one in said]


# ------------------------------------------------------------------------- neighbours


@pytest.mark.parametrize("is_then", [False, True], ids=["now", "as it was"])
async def test_a_reason_says_of_a_neighbour_only_that_it_is_a_match(
    memory: Memory[Any], *, is_then: bool
) -> None:
    question, answer = await conversation(memory)
    size = (await inside(memory).ledger.head()).size
    found = await memory.recall(CATS, top_k=1, at=size - 1 if is_then else None)
    (item,) = found
    assert item.id == answer
    assert "next to a match, 1 record before" in item.reason
    assert WORD not in item.reason

    assert (await memory.erase(question, reason="asked for")).counts.traces == 0

    left = [body for body in await bodies(memory) if WORD.encode() in body]
    assert [body.count(WORD.encode()) for body in left] == [1]  # the question, as it was asked
    assert (await memory.erase(answer, reason="asked for")).counts.traces == 1
    assert not await says(memory, WORD)


async def test_what_is_left_out_below_the_line_is_told_by_its_number_alone(
    memory: Memory[Any],
) -> None:
    ids = await conversation(memory, [f"a cat of {WORD} {number}" for number in range(4)])
    found = await memory.recall("cat", top_k=1)
    below = found.details["below"]
    assert [set(one) for one in below] == [{"id", "score"}] * 3
    left_out = [id for id in ids if id != found.items[0].id]

    for id in left_out:
        await memory.erase(id, reason="asked for")

    assert (await memory.why(found.trace_id)).known["below"] == below
    await memory.erase(found.items[0].id, reason="asked for")
    assert not await says(memory, WORD)


class Slow:
    """Selects in context; before it answers, something happens."""

    name, actor = "slow", None

    def __init__(self, meanwhile: Callable[[], Awaitable[object]]) -> None:
        self._meanwhile = meanwhile

    async def select(self, request: Request, sources: Sources, /) -> Selection:
        found = await sources.ranked(RankingMode.CONTEXT, request, request.top_k)
        await self._meanwhile()
        return found


async def test_a_neighbour_that_is_erased_meanwhile_changes_nothing(memory: Memory[Any]) -> None:
    question, answer = await conversation(memory)

    slow = Slow(lambda: memory.erase(question, reason="asked for"))
    found = await memory.recall(CATS, top_k=1, selector=slow)

    assert (found.outcome, [one.id for one in found]) == ("found", [answer])


async def test_what_was_selected_and_erased_meanwhile_is_left_out(memory: Memory[Any]) -> None:
    _, answer = await conversation(memory)

    slow = Slow(lambda: memory.erase(answer, reason="asked for"))
    found = await memory.recall(CATS, top_k=1, selector=slow)

    assert (found.outcome, len(found)) == ("degraded", 0)
    assert answer in found.notes[0]


async def test_a_neighbour_that_is_forgotten_meanwhile_changes_nothing(
    memory: Memory[Any],
) -> None:
    question, answer = await conversation(memory)

    slow = Slow(lambda: memory.forget(question, reason="wrong"))
    found = await memory.recall(CATS, top_k=1, selector=slow)
    assert (found.outcome, [one.id for one in found]) == ("found", [answer])


async def test_a_neighbour_was_not_selected(memory: Memory[Any]) -> None:
    question, _ = await conversation(memory)
    async with memory.reasoning() as r:
        await r.recall(CATS, top_k=1)
        await memory.get(question)
        with pytest.raises(TraceMissing):
            await r.propose("nothing")


# ------------------------------------------------------------------------------ errors


@pytest.mark.parametrize("way", ["ranked", "newest", "worlds", "handle"])
async def test_what_a_selector_fails_with_is_named_and_not_quoted(
    memory: Memory[Any], way: str
) -> None:
    receipt = await memory.remember(f"a cat of {WORD}")
    run = await memory.act("note", {"text": f"a cat of {WORD}"}, reason="a cat")

    class Choking:
        name, actor = "choking", None

        async def select(self, request: Request, sources: Sources, /) -> Selection:
            if way == "worlds":
                raise KeyError([one.text for one in await sources.worlds(1)])
            if way == "handle":
                raise KeyError(await memory.list(text="cat"))
            given = {"mode": RankingMode.FULL_TEXT} if way == "ranked" else {}
            found = await getattr(sources, way)(request=request, limit=1, **given)
            raise KeyError(text_of(decode(found.chosen[0].found.body)))

    found = await memory.recall("cat", top_k=1, selector=Choking())
    assert found.outcome == "failed"
    assert "KeyError" in str(found.error)
    assert WORD not in str(found.error)

    await memory.erase(receipt.id, reason="asked for")
    await memory.erase(run.proposal_id, reason="asked for")

    assert not await says(memory, WORD)


async def test_what_our_own_code_fails_with_is_on_record(memory: Memory[Any]) -> None:
    class Lost:
        name, actor = "lost", None

        async def select(self, _request: Request, _sources: Sources, /) -> Selection:
            raise StoreUnavailable("elsewhere", "it is being moved")

    found = await memory.recall("cat", top_k=1, selector=Lost())

    assert (found.outcome, "it is being moved" in str(found.error)) == ("failed", True)


async def test_what_counting_fails_with_is_named_and_not_quoted(memory: Memory[Any]) -> None:
    receipt = await memory.remember(f"a cat of {WORD}")

    def choking(text: str) -> int:
        raise KeyError(text)

    found = await memory.recall("cat", top_k=1, token_budget=10, count_tokens=choking)
    assert (found.outcome, WORD in str(found.error)) == ("failed", False)

    await memory.erase(receipt.id, reason="asked for")

    assert not await says(memory, WORD)


# ------------------------------------------------------------------ questions themselves


@pytest.mark.rule("GOV-FORGET")
async def test_a_question_about_a_person_goes_with_the_person(memory: Memory[Any]) -> None:
    await memory.remember("the cat of another one")
    empty = await memory.recall(f"{WORD} {WORD}", top_k=3, about="kim")
    async with memory.reasoning() as r:
        found = await r.recall(f"the cat of {WORD}", top_k=3, about="kim")
        proposed = await r.propose("nothing")
    others = await memory.recall("the cat", top_k=3, about="lee")
    assert (empty.outcome, len(found)) == ("empty", 1)
    assert (await memory.why(empty.trace_id)).known["subject"] == "kim"

    certificate = await memory.erase(subject="kim", reason="asked for")

    assert (certificate.counts.traces, certificate.counts.proposals) == (2, 1)
    assert not await says(memory, WORD)
    assert not await says(memory, "kim")
    with pytest.raises(WorldErased):
        await memory.worlds.standing(proposed.proposal_id)
    assert (await memory.why(others.trace_id)).known["query"] == "the cat"
    assert len(await memory.list()) == 1


@pytest.mark.rule("GOV-FORGET")
async def test_a_question_is_erased_by_its_own_id(memory: Memory[Any]) -> None:
    empty = await memory.recall(f"the tax number of {WORD}", top_k=3)
    assert empty.outcome == "empty"

    certificate = await memory.erase(empty.trace_id, reason="asked for")

    assert (certificate.counts.traces, certificate.counts.objects) == (1, 0)
    assert not await says(memory, WORD)
    assert (await memory.why(empty.trace_id)).known["reason"] == "asked for"
    assert await memory.erase(empty.trace_id, reason="again") == certificate


@pytest.mark.parametrize("subject", ["", " ", "a" * 513, 7, "\ud800"])
async def test_whom_a_question_is_about_is_a_name(memory: Memory[Any], subject: Any) -> None:
    with pytest.raises(InvalidFilter) as caught:
        await memory.recall("a cat", top_k=1, about=subject)

    assert caught.value.where == "about"


async def test_a_record_that_is_left_out_is_not_quoted(opens: Opens) -> None:
    class Short(BaseModel):
        text: str

        @field_validator("text")
        @classmethod
        def short(cls, text: str) -> str:
            if len(text) > 10:
                raise ValueError(f"too long: {text}")
            return text

    async with opens() as memory:
        receipt = await memory.remember({"text": f"a cat of {WORD}"})
    async with opens(model=Short) as memory:
        found = await memory.recall("cat", top_k=1)
        assert found.outcome == "degraded"
        assert receipt.id in found.notes[0]
    async with opens() as memory:
        await memory.erase(receipt.id, reason="asked for")
        assert not await says(memory, WORD)
