"""What is read is what was written: a body that somebody edited is named, and never handed out."""

from collections.abc import Awaitable
from functools import partial
from typing import Any

import pytest

from memoranda.kernel.errors import EntryDamaged, InvalidProof
from memoranda.ledger.object import integrity_digest
from memoranda.recall.proof import record_address
from memoranda.recall.provider import MemoryExperience, MemoryQuery
from memoranda.recall.selectors import MostRecent
from memoranda.records.filter import MemoryFilter
from memoranda.worlds.policies import HumanInTheLoop
from tests.campaigns.tampering.attacked import Attacked
from tests.handles import inside
from tests.journeys.intent.counter import COUNTER
from tests.journeys.intent.reading import counts, said

pytestmark = pytest.mark.anyio

BOSS = "human:boss"
NOTHING = "5e9415e15a562965dfab6f84cc1ca435290b5fe232fff20d4a9c4bbb1fdf461c"
"""The first world of the empty domain, the same everywhere."""


class Remembers:
    """A provider that hands over what is stored."""

    async def recall(self, query: MemoryQuery) -> Any:
        """Always the same."""
        return {"limit": 100, "for": query.actor_id}

    async def remember(self, experience: MemoryExperience) -> None:
        """Nothing."""


async def refused(seq: int, reading: Awaitable[Any]) -> None:
    """It raises, and names the entry."""
    with pytest.raises(EntryDamaged) as caught:
        await reading
    assert caught.value.code == "store.entry_damaged"
    assert caught.value.entry == seq


def _more(document: Any) -> None:
    document["statement"] = document["statement"].replace("100", "900")


def _as_before(before: Any, document: Any) -> None:
    document.update(before)


async def _each(stream: Any) -> list[Any]:
    return [one async for one in stream]


# ------------------------------------------------------------------------------- records


@pytest.mark.rule("R-2")
@pytest.mark.parametrize("way", ["edited", "removed"])
async def test_a_record_that_was_edited_is_named_and_never_returned(
    attacked: Attacked, way: str
) -> None:
    async with attacked.opened() as memory:
        seq = (await memory.remember("the limit is 100 euro", id="limit")).seq
        await memory.remember("the door is blue", id="door")
    if way == "edited":
        attacked.edit(seq, _more)
    else:
        attacked.remove_body(seq)

    async with attacked.opened() as memory:
        await refused(seq, memory.get("limit"))
        await refused(seq, memory.list())
        await refused(seq, memory.list(text="limit"))
        await refused(seq, memory.history("limit"))
        await refused(seq, memory.records.get("limit"))
        await refused(seq, memory.records.query(MemoryFilter()))
        await refused(seq, memory.why("limit"))
        await refused(seq, memory.update("limit", "the limit is 50 euro"))
        await refused(seq, memory.forget("limit", reason="wrong"))
        door = await memory.get("door")
        report = await memory.verify()

    assert door is not None
    assert door.data == "the door is blue"
    assert not report.is_sound


@pytest.mark.rule("R-2")
@pytest.mark.rule("M-1")
async def test_a_recall_leaves_out_what_is_damaged_and_names_it(attacked: Attacked) -> None:
    async with attacked.opened() as memory:
        seq = (await memory.remember("the limit is 100 euro", id="limit")).seq
        await memory.remember("the limit of the card is 20 euro", id="card")
        size = (await inside(memory).ledger.head()).size
    attacked.edit(seq, _more)

    async with attacked.opened() as memory:
        for asked in ("limit", "limit euro"):
            found = await memory.recall(asked, top_k=5)

            assert found.outcome == "degraded"
            assert [item.id for item in found] == ["card"]
            assert any(f"entry {seq}" in note for note in found.notes)
        then = await memory.recall("limit", top_k=5, at=size - 1)
        newest = await memory.recall("limit", top_k=5, selector=MostRecent())

    for found in (then, newest):
        assert (found.outcome, [item.id for item in found]) == ("degraded", ["card"])


@pytest.mark.rule("R-2")
@pytest.mark.rule("M-1")
async def test_a_recall_of_then_tells_what_lost_its_body_from_what_was_erased(
    attacked: Attacked,
) -> None:
    async with attacked.opened() as memory:
        seq = (await memory.remember("the limit is 100 euro", id="limit")).seq
        await memory.remember("the limit of the card is 20 euro", id="card")
        await memory.remember("the limit of the shop is 30 euro", id="shop")
        size = (await inside(memory).ledger.head()).size
        await memory.erase("shop", reason="asked for")
        erased = await memory.recall("limit", top_k=5, at=size - 1)
    attacked.remove_body(seq)

    async with attacked.opened() as memory:
        before = await memory.recall("limit", top_k=5, at=seq - 1)
        found = await memory.recall("limit", top_k=5, at=size - 1)
        newest = await memory.recall("limit", top_k=5, at=size - 1, selector=MostRecent())

    assert erased.outcome == "found"
    for one in (found, newest):
        assert (one.outcome, [item.id for item in one]) == ("degraded", ["card"])
        assert any(f"entry {seq}" in note for note in one.notes)
    assert before.outcome == "empty"


# ------------------------------------------------------------------------------ originals


@pytest.mark.rule("M-1")
@pytest.mark.parametrize("is_recalled", [False, True], ids=["never recalled", "recalled before"])
@pytest.mark.parametrize("others", [0, 300], ids=["few entries", "a whole block of the tree"])
async def test_an_original_is_handed_out_unverified_where_another_entry_is_lost(
    attacked: Attacked, is_recalled: bool, others: int
) -> None:
    async with attacked.opened() as memory:
        lost = (await memory.remember("the door is blue", id="door")).seq
        kept = await memory.remember("the limit is 100 euro", id="limit")
        await memory.remember_many([f"number {n}" for n in range(others)])
        if is_recalled:
            await memory.recall("limit", top_k=1)
        (version,) = await inside(memory).ledger.versions("limit")
        ref = record_address(integrity_digest(version.body or b""))
    attacked.remove_entry(lost)

    async with attacked.opened() as memory:
        found = await memory.journal.original(ref)
        (item,) = await memory.recall("limit", top_k=1)
        same = await memory.journal.original(item)

    for one in (found, same):
        assert (one.data, one.source) == ("the limit is 100 euro", kept.id)
        assert (one.verified, one.evidence) == (False, None)
        assert one.why_not


@pytest.mark.rule("M-1")
async def test_an_original_is_unverified_where_another_version_or_its_selection_is_damaged(
    attacked: Attacked,
) -> None:
    async with attacked.opened() as memory:
        await memory.remember("the limit is 100 euro", id="limit")
        (item,) = await memory.recall("limit", top_k=1)
        (trace,) = await said(memory, "Trace")
        newer = (await memory.update("limit", "the limit is 200 euro")).seq
    attacked.overwrite(trace.seq, b"[1]")
    attacked.edit(newer, lambda document: document.update(statement="forged"))

    async with attacked.opened() as memory:
        found = await memory.journal.original(item.ref)

    assert (found.data, found.verified) == ("the limit is 100 euro", False)
    assert f"entry {newer}" in str(found.why_not)


@pytest.mark.rule("M-1")
async def test_an_original_that_is_damaged_itself_is_never_handed_out(attacked: Attacked) -> None:
    async with attacked.opened() as memory:
        lost = (await memory.remember("the door is blue", id="door")).seq
        seq = (await memory.remember("the limit is 100 euro", id="limit")).seq
        (item,) = await memory.recall("limit", top_k=1)
    attacked.remove_entry(lost)
    attacked.edit(seq, _more, is_rehashed=True)

    async with attacked.opened() as memory:
        with pytest.raises(InvalidProof) as caught:
            await memory.journal.original(item)

    assert caught.value.code == "input.proof"


# ---------------------------------------------------------------------------------- facts


@pytest.mark.rule("MEM-CONTEXT-2")
@pytest.mark.rule("R-2")
@pytest.mark.parametrize("is_rehashed", [False, True], ids=["body", "with its entry"])
async def test_a_frozen_context_that_was_edited_is_neither_shown_nor_replayed(
    attacked: Attacked, is_rehashed: bool
) -> None:
    async with attacked.opened(domain=COUNTER, provider=Remembers()) as memory:
        run = await memory.act("add", {"by": 2})
        (begun,) = await said(memory, "ExecutionBegun")

    def forged(document: Any) -> None:
        document["input"]["$app"]["memoryContext"]["limit"] = 900

    attacked.edit(begun.seq, forged, is_rehashed=is_rehashed)

    async with attacked.opened(domain=COUNTER) as memory:
        await refused(begun.seq, memory.worlds.restore(str(run.execution_key)))
        await refused(begun.seq, memory.worlds.replay(str(run.execution_key)))
        await refused(begun.seq, memory.why(run.proposal_id))
        await refused(begun.seq, _each(memory.worlds.replay_branch("main")))


@pytest.mark.rule("M-4")
@pytest.mark.rule("R-3")
@pytest.mark.parametrize("is_rehashed", [False, True], ids=["body", "with its entry"])
async def test_an_approved_proposal_that_was_edited_is_not_run(
    attacked: Attacked, is_rehashed: bool
) -> None:
    options = {"domain": COUNTER, "authority": HumanInTheLoop(BOSS)}
    async with attacked.opened(**options) as memory:
        asked = await memory.worlds.propose("add", {"by": 12})
        (proposal,) = await said(memory, "Proposal")
    async with attacked.opened(**options, actor=BOSS) as boss:
        await boss.inbox.approve(asked.proposal_id, reason="it is due")
        size = (await inside(boss).ledger.head()).size

    def forged(document: Any) -> None:
        document["proposal"]["intent"]["body"]["input"]["by"] = 99

    attacked.edit(proposal.seq, forged, is_rehashed=is_rehashed)

    async with attacked.opened(**options) as memory:
        await refused(proposal.seq, memory.worlds.run(asked.proposal_id))
        await refused(proposal.seq, memory.worlds.resume())
        if not is_rehashed:
            await refused(proposal.seq, memory.why(asked.proposal_id))
        (broken,) = (await inside(memory).scoped.conformance.rulebook.logged()).standing.values()
        assert broken.damages == {f"entry/{proposal.seq}"}
        assert (await inside(memory).ledger.head()).size == size + 1, (
            "the break, once, and nothing else"
        )


@pytest.mark.rule("R-3")
async def test_what_waits_for_a_decision_and_was_edited_is_not_shown(attacked: Attacked) -> None:
    options = {"domain": COUNTER, "authority": HumanInTheLoop(BOSS)}
    async with attacked.opened(**options) as memory:
        asked = await memory.worlds.propose("add", {"by": 12})
        (proposal,) = await said(memory, "Proposal")

    def forged(document: Any) -> None:
        document["proposal"]["intent"]["body"]["input"]["by"] = 99

    attacked.edit(proposal.seq, forged)

    async with attacked.opened(**options) as memory:
        await refused(proposal.seq, memory.inbox.list())
    async with attacked.opened(**options, actor=BOSS) as boss:
        await refused(proposal.seq, boss.inbox.approve(asked.proposal_id, reason="it is due"))


@pytest.mark.rule("R-3")
@pytest.mark.rule("R-2")
async def test_a_decision_or_a_trace_that_was_edited_is_not_shown(attacked: Attacked) -> None:
    async with attacked.opened(domain=COUNTER) as memory:
        await memory.remember("add two")
        async with memory.reasoning() as reasoning:
            await reasoning.recall("two", top_k=1)
            asked = await reasoning.propose("add", {"by": 2})
        (trace,) = await said(memory, "Trace")
        (decision,) = await said(memory, "Decision")

    def other_query(document: Any) -> None:
        document["trace"]["query"] = "nine"

    def other_authority(document: Any) -> None:
        document["decision"]["authority"]["authorityId"] = "the board"

    for seq, change, back in (
        (trace.seq, other_query, partial(_as_before, trace.document)),
        (decision.seq, other_authority, partial(_as_before, decision.document)),
    ):
        attacked.edit(seq, change)
        async with attacked.opened(domain=COUNTER) as memory:
            await refused(seq, memory.why(asked.proposal_id))
        attacked.edit(seq, back)
    async with attacked.opened(domain=COUNTER) as memory:
        assert (await memory.why(asked.proposal_id)).id == asked.proposal_id


async def test_a_database_opens_whose_policies_and_breaks_are_damaged(attacked: Attacked) -> None:
    async with attacked.opened() as memory:
        await memory.remember("one", id="one")
        (notice,) = await said(memory, "Fingerprint")
    attacked.edit(notice.seq, lambda document: document.update(tokenizer="forged"))

    async with attacked.opened() as memory:
        assert (await memory.govern.status()).breaks
        assert (await memory.get("one")) is not None


# -------------------------------------------------------------------------------- genesis


@pytest.mark.rule("MEM-AUTH-4")
@pytest.mark.rule("R-1")
async def test_a_recall_seals_no_world(attacked: Attacked) -> None:
    async with attacked.opened(domain=COUNTER) as memory:
        await memory.remember("the door is blue")
        first = await memory.recall("door", top_k=1)

        told = await counts(memory)
        assert (told["World"], told["Branch"], told["Trace"]) == (0, 0, 1)
        assert await memory.worlds.branches() == []
        assert first.trace.at_world_id == NOTHING

        run = await memory.act("add", {"by": 1})
        then = await memory.recall("door", top_k=1)

    assert then.trace.at_world_id == run.world
