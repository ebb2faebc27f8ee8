"""A trace goes with all memory whose words it may repeat, not only with what it selected."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from recollect import Memory
from recollect.identity import decode
from recollect.kernel.errors import TraceMissing, WorldErased
from recollect.recall.ranking import Mode
from recollect.recall.selector import Chosen, Request, Selection, Sources
from recollect.recall.vectors import text_of
from tests.intent.conftest import Opens

pytestmark = pytest.mark.anyio

WORD = "zanzibar"
CATS = f"cats and dogs and birds of {WORD}"
"""What is asked for: the second record below has most of it, and the first one the last word."""


async def bodies(memory: Memory[Any]) -> list[bytes]:
    """All that the journal still says."""
    found = []
    async with memory._ledger.snapshot() as snapshot:
        async for chunk in snapshot.entries():
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
async def test_a_trace_goes_with_the_neighbours_that_its_reasons_tell_of(
    memory: Memory[Any], *, is_then: bool
) -> None:
    question, answer = await conversation(memory)
    size = (await memory._ledger.head()).size
    async with memory.reasoning() as r:
        found = await r.recall(CATS, top_k=1, **({"at_size": size} if is_then else {}))
        (item,) = found
        assert item.id == answer
        assert WORD in item.reason
        proposed = await r.propose("nothing")

    counts = (await memory.erase(question, reason="asked for")).counts

    assert (counts.traces, counts.proposals) == (1, 1)
    with pytest.raises(WorldErased):
        await memory.standing(proposed.proposal_id)
    assert not await says(memory, WORD)


async def test_a_trace_stays_when_a_record_goes_that_it_does_not_tell_of(
    memory: Memory[Any],
) -> None:
    ids = await conversation(memory, ["one cat", "two cats", "a dog", "nothing at all", "a bird"])
    found = await memory.recall("cats", top_k=2)
    assert {one.id for one in found} == set(ids[:2])

    assert (await memory.erase(ids[4], reason="asked for")).counts.traces == 0

    assert (await memory.why(found.trace_id)).known["query"] == "cats"


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
        found = await sources.ranked(Mode.CONTEXT, request, request.top_k)
        await self._meanwhile()
        return found


async def test_a_neighbour_that_is_erased_meanwhile_takes_along_what_tells_of_it(
    memory: Memory[Any],
) -> None:
    question, answer = await conversation(memory)

    slow = Slow(lambda: memory.erase(question, reason="asked for"))
    found = await memory.recall(CATS, top_k=1, selector=slow)

    assert (found.outcome, len(found)) == ("degraded", 0)
    assert answer in found.notes[0]
    told = [body for body in await bodies(memory) if WORD.encode() in body]
    assert len(told) == 1  # the trace, which has the question in it
    assert told[0].count(WORD.encode()) == 1


async def test_a_neighbour_that_is_forgotten_meanwhile_changes_nothing(
    memory: Memory[Any],
) -> None:
    question, answer = await conversation(memory)

    slow = Slow(lambda: memory.forget(question, reason="wrong"))
    found = await memory.recall(CATS, top_k=1, selector=slow)
    assert (found.outcome, [one.id for one in found]) == ("found", [answer])


async def test_a_neighbour_that_was_told_of_was_not_selected(memory: Memory[Any]) -> None:
    question, _ = await conversation(memory)
    async with memory.reasoning() as r:
        await r.recall(CATS, top_k=1)
        await memory.get(question)
        with pytest.raises(TraceMissing):
            await r.propose("nothing")


async def test_an_execution_goes_with_what_its_memory_told_of(opens: Opens) -> None:
    class Reasons:
        """A provider that hands on why it found what it found."""

        def __init__(self, memory: Memory[Any]) -> None:
            self.memory = memory

        async def recall(self, _query: Any) -> Any:
            found = await self.memory.recall(CATS, top_k=1)
            return [one.reason for one in found]

        async def remember(self, _experience: Any) -> None: ...

    async with opens(provider=Reasons) as memory:
        question, _ = await conversation(memory)
        run = await memory.act("learn")
        assert WORD in str(run.data)

        await memory.erase(question, reason="asked for")

        with pytest.raises(WorldErased):
            await memory.restore(str(run.execution_key))
        assert not await says(memory, WORD)


# ------------------------------------------------------------------- worlds, and others


async def test_a_trace_goes_with_the_run_that_its_reason_tells_of(memory: Memory[Any]) -> None:
    first = await memory.act("nothing", trace="to begin with")
    again = await memory.act("nothing", trace=f"as in {WORD}")
    assert first.world == again.world  # which the first run keeps
    found = await memory.recall(WORD, top_k=1, selector="worlds")
    assert found.goes_with == ("branches/main", f"execution/{again.execution_key}")

    await memory.erase(again.proposal_id, reason="asked for")

    assert not await says(memory, WORD)
    assert (await memory.standing(first.proposal_id)).is_completed


async def test_a_selector_of_ones_own_says_what_its_reasons_tell_of(memory: Memory[Any]) -> None:
    kept = (await memory.remember("a cat")).id
    other = (await memory.remember(f"a dog of {WORD}")).id

    class Comparing:
        name, actor = "comparing", None

        async def select(self, _request: Request, _sources: Sources, /) -> Selection:
            reason = f"it is not of {WORD}"
            return Selection([Chosen(reason, 0.5, kept, tells_of=[other])])

    found = await memory.recall("a cat", top_k=1, selector=Comparing())
    assert found.outcome == "found"

    assert (await memory.erase(other, reason="asked for")).counts.traces == 1
    assert not await says(memory, WORD)


async def test_a_reason_made_of_one_that_was_shown_tells_of_the_same(memory: Memory[Any]) -> None:
    question, answer = await conversation(memory)
    await memory.act("nothing", trace="to begin with")
    again = await memory.act("nothing", trace=f"as in {WORD}")

    class Again:
        """Shows what it was shown, and says nothing of whom that tells of."""

        name, actor = "again", None

        async def select(self, request: Request, sources: Sources, /) -> Selection:
            found = await sources.ranked(Mode.CONTEXT, request, 1)
            chosen = [Chosen(f"again: {one.reason}", 0.5, one.id) for one in found.chosen]
            worlds = [
                Chosen(one.text, 0.5, world=one.world)
                for one in await sources.worlds(10)
                if WORD in one.text
            ]
            return Selection([*chosen, *worlds])

    found = await memory.recall(CATS, top_k=2, selector=Again())
    assert (found.items[0].id, found.items[1].kind) == (answer, "world")
    assert all(WORD in one.reason for one in found)
    assert {question, f"execution/{again.execution_key}"} < set(found.goes_with)

    assert (await memory.erase(question, reason="asked for")).counts.traces == 1
    await memory.erase(again.proposal_id, reason="asked for")

    assert not await says(memory, WORD)


@pytest.mark.parametrize("tells_of", ["a", [1], [""], None])
async def test_what_a_reason_tells_of_is_a_list_of_names(
    memory: Memory[Any], tells_of: Any
) -> None:
    receipt = await memory.remember("a cat")

    class Wrong:
        name, actor = "wrong", None

        async def select(self, _request: Request, _sources: Sources, /) -> Selection:
            return Selection([Chosen("so", 0.5, receipt.id, tells_of=tells_of)])

    assert (await memory.recall("a cat", top_k=1, selector=Wrong())).outcome == "failed"


# ------------------------------------------------------------------------------ errors


@pytest.mark.parametrize("way", ["ranked", "newest", "worlds", "handle"])
async def test_what_a_selector_fails_with_goes_with_what_it_was_shown(
    memory: Memory[Any], way: str
) -> None:
    receipt = await memory.remember(f"a cat of {WORD}")
    run = await memory.act("note", {"text": f"a cat of {WORD}"}, trace="a cat")

    class Choking:
        name, actor = "choking", None

        async def select(self, request: Request, sources: Sources, /) -> Selection:
            if way == "worlds":
                raise KeyError([one.text for one in await sources.worlds(1)])
            if way == "handle":
                raise KeyError(await memory.search("cat"))
            given = {"mode": Mode.FULL_TEXT} if way == "ranked" else {}
            found = await getattr(sources, way)(request=request, limit=1, **given)
            raise KeyError(text_of(decode(found.chosen[0].found.body)))

    found = await memory.recall("cat", top_k=1, selector=Choking())
    assert found.outcome == "failed"
    assert WORD in str(found.error)

    await memory.erase(receipt.id, reason="asked for")
    await memory.erase(run.proposal_id, reason="asked for")

    assert not await says(memory, WORD)


async def test_what_was_erased_while_a_selector_failed_is_not_in_its_error(
    memory: Memory[Any],
) -> None:
    receipt = await memory.remember(f"a cat of {WORD}")

    class Choking:
        name, actor = "choking", None

        async def select(self, request: Request, sources: Sources, /) -> Selection:
            found = await sources.ranked(Mode.FULL_TEXT, request, 1)
            await memory.erase(receipt.id, reason="asked for")
            raise KeyError(text_of(decode(found.chosen[0].found.body)))  # type: ignore[union-attr]

    found = await memory.recall("cat", top_k=1, selector=Choking())

    assert found.outcome == "failed"
    assert not await says(memory, WORD)


async def test_what_counting_fails_with_goes_with_what_was_counted(memory: Memory[Any]) -> None:
    receipt = await memory.remember(f"a cat of {WORD}")

    def choking(text: str) -> int:
        raise KeyError(text)

    found = await memory.recall("cat", top_k=1, token_budget=10, count_tokens=choking)
    assert (found.outcome, WORD in str(found.error)) == ("failed", True)

    await memory.erase(receipt.id, reason="asked for")

    assert not await says(memory, WORD)


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
