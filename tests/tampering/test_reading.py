"""What is read is what was written: a body that somebody edited is named, and never handed out."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import memoranda
from memoranda import Memory
from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.entry import Entry, body_digest, entry_bytes, read_entry
from memoranda.recall.provider import MemoryExperience, MemoryQuery
from memoranda.recall.selectors import MostRecent
from memoranda.records.filter import MemoryFilter
from memoranda.worlds.policies import HumanInTheLoop
from tests.intent.counter import COUNTER
from tests.intent.reading import counts, said
from tests.tampering.tables import PostgresTables, SqliteTables, Tables

pytestmark = pytest.mark.anyio

SCOPE = "read"
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


class Attacked(NamedTuple):
    """A database, and its tables as whoever owns it sees them."""

    url: str
    tables: Callable[[], Tables]

    def opened(self, **options: Any) -> AbstractAsyncContextManager[Memory[Any]]:
        return memoranda.open(self.url, scope=SCOPE, **{"actor": "agent:clerk", **options})

    def edit(self, seq: int, change: Callable[[Any], Any], *, is_rehashed: bool = False) -> None:
        """Have a body say something else; with its entry's digest made anew, if wanted."""
        with self.tables() as tables:
            (journal,) = tables.rows("journals", scope=SCOPE)
            where = {"journal": journal["number"], "seq": seq}
            (row,) = tables.rows("bodies", **where)
            document = decode(row["body"])
            change(document)
            body = canonical_bytes(document)
            tables.change("bodies", where, body=body)
            if is_rehashed:
                (stored,) = tables.rows("entries", **where)
                digest = body_digest(row["salt"], body)
                forged = Entry._replace(read_entry(stored["entry"]), body_digest=digest)
                tables.change("entries", where, entry=entry_bytes(forged))

    def remove_body(self, seq: int) -> None:
        with self.tables() as tables:
            (journal,) = tables.rows("journals", scope=SCOPE)
            tables.remove("bodies", journal=journal["number"], seq=seq)


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.backend("sqlite")),
        pytest.param("postgres", marks=pytest.mark.backend("postgres")),
    ]
)
def attacked(request: pytest.FixtureRequest, tmp_path: Path) -> Attacked:
    if request.param == "sqlite":
        path = f"{tmp_path}/memory.db"
        return Attacked(f"sqlite:///{path}", lambda: SqliteTables(path))
    url = str(request.getfixturevalue("postgres_url"))
    return Attacked(url, lambda: PostgresTables(url))


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
        await refused(seq, memory.search("limit"))
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
        size = (await memory._ledger.head()).size
    attacked.edit(seq, _more)

    async with attacked.opened() as memory:
        for asked in ("limit", "limit euro"):
            found = await memory.recall(asked, top_k=5)

            assert found.outcome == "degraded"
            assert [item.id for item in found] == ["card"]
            assert any(f"entry {seq}" in note for note in found.notes)
        then = await memory.recall("limit", top_k=5, at_size=size)
        newest = await memory.recall("limit", top_k=5, selector=MostRecent())

    for found in (then, newest):
        assert (found.outcome, [item.id for item in found]) == ("degraded", ["card"])


async def test_what_is_damaged_can_be_erased(attacked: Attacked) -> None:
    async with attacked.opened() as memory:
        seq = (await memory.remember("the limit is 100 euro", id="limit")).seq
    attacked.edit(seq, _more)

    async with attacked.opened() as memory:
        await memory.erase("limit", reason="asked for")

        assert await memory.get("limit") is None
        assert "limit is 900" not in str(await memory.history("limit"))


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
        await refused(begun.seq, memory.restore(str(run.execution_key)))
        await refused(begun.seq, memory.replay(str(run.execution_key)))
        await refused(begun.seq, memory.why(run.proposal_id))
        await refused(begun.seq, _each(memory.replay_branch("main")))


@pytest.mark.rule("M-4")
@pytest.mark.rule("R-3")
@pytest.mark.parametrize("is_rehashed", [False, True], ids=["body", "with its entry"])
async def test_an_approved_proposal_that_was_edited_is_not_run(
    attacked: Attacked, is_rehashed: bool
) -> None:
    options = {"domain": COUNTER, "authority": HumanInTheLoop(BOSS)}
    async with attacked.opened(**options) as memory:
        asked = await memory.propose("add", {"by": 12})
        (proposal,) = await said(memory, "Proposal")
    async with attacked.opened(**options, actor=BOSS) as boss:
        await boss.approve(asked.proposal_id, reason="it is due")
        size = (await boss._ledger.head()).size

    def forged(document: Any) -> None:
        document["proposal"]["intent"]["body"]["input"]["by"] = 99

    attacked.edit(proposal.seq, forged, is_rehashed=is_rehashed)

    async with attacked.opened(**options) as memory:
        await refused(proposal.seq, memory.run(asked.proposal_id))
        await refused(proposal.seq, memory.resume())
        if not is_rehashed:
            await refused(proposal.seq, memory.why(asked.proposal_id))
        (broken,) = (await memory._conformance.logged()).standing.values()
        assert broken.damages == {f"entry/{proposal.seq}"}
        assert (await memory._ledger.head()).size == size + 1, "the break, once, and nothing else"


@pytest.mark.rule("R-3")
async def test_what_waits_for_a_decision_and_was_edited_is_not_shown(attacked: Attacked) -> None:
    options = {"domain": COUNTER, "authority": HumanInTheLoop(BOSS)}
    async with attacked.opened(**options) as memory:
        asked = await memory.propose("add", {"by": 12})
        (proposal,) = await said(memory, "Proposal")

    def forged(document: Any) -> None:
        document["proposal"]["intent"]["body"]["input"]["by"] = 99

    attacked.edit(proposal.seq, forged)

    async with attacked.opened(**options) as memory:
        await refused(proposal.seq, memory.inbox())
    async with attacked.opened(**options, actor=BOSS) as boss:
        await refused(proposal.seq, boss.approve(asked.proposal_id, reason="it is due"))


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
        assert (await memory.status()).breaks
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
        assert await memory.branches() == []
        assert first.trace.at_world_id == NOTHING

        run = await memory.act("add", {"by": 1})
        then = await memory.recall("door", top_k=1)

    assert then.trace.at_world_id == run.world


@pytest.mark.rule("GOV-FORGET")
@pytest.mark.parametrize("named", [{"id": "limit"}, {"subject": "kim"}, {"whole_scope": True}])
async def test_what_lost_its_body_is_never_said_to_be_erased(
    attacked: Attacked, named: dict[str, Any]
) -> None:
    async with attacked.opened() as memory:
        kept = await memory.remember("the limit is 100 euro", id="limit", subject="kim")
    with attacked.tables() as tables:
        (journal,) = tables.rows("journals", scope=memory.scope)
        tables.remove("bodies", journal=journal["number"], seq=kept.seq)

    async with attacked.opened() as memory:
        with pytest.raises(EntryDamaged) as caught:
            await memory.erase(**named, reason="asked for")

    assert caught.value.entry == kept.seq
