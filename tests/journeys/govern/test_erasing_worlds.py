"""What was made from what is erased is erased too, from every byte, and everything else stays."""

import io
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

import memoranda_verify
from memoranda import Memory
from memoranda.app.audit import export_scope
from memoranda.app.databases import file_of
from memoranda.journeys.audit.why import Why
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.kernel.errors import ApprovalPending, WorldErased, WorldError
from memoranda.records.model import MemoryOperation
from memoranda.worlds.policies import HumanInTheLoop
from tests.fixtures import Opens
from tests.journeys.govern.counting import Rows
from tests.journeys.govern.keeping import KEEPER, Recalls
from tests.journeys.intent.reading import said

CANARY = "canary-8d1f-조용한-새"
COUNTED = {
    "Proposal": "proposals",
    "ExecutionBegun": "contexts",
    "EffectFinished": "effects",
    "ExecutionSealed": "snapshots",
    "Branch": "snapshots",
}


class Always:
    """Every change of memory needs approval."""

    def requires_authority(self, operation: MemoryOperation, /) -> bool:
        return operation.type == "update"


class Desk(NamedTuple):
    """One who acts, with memory that is given to each run, and one who has to ask."""

    memory: Memory[Any]
    asking: Memory[Any]
    recalls: Recalls

    async def act(self, action: str, *recalled: str, **options: Any) -> Any:
        """Run an action that remembers these records."""
        self.recalls.ids = list(recalled)
        return await self.memory.act(action, **options)


@pytest.fixture
async def desk(opens: Opens) -> AsyncIterator[Desk]:
    recalls = Recalls()
    policy = HumanInTheLoop(["human:ada"])
    async with (
        opens(actor="agent:worker", domain=KEEPER, provider=recalls) as memory,
        opens(
            actor="agent:asking", domain=KEEPER, authority=policy, memory_policy=Always()
        ) as asking,
    ):
        recalls.memory = memory
        yield Desk(memory, asking, recalls)


class Story(NamedTuple):
    """A record that was used in every way, and runs that have nothing to do with it."""

    id: str
    touched: list[Any]
    untouched: list[Any]
    proposal: str


async def told(desk: Desk) -> Story:
    """Let runs use a record: frozen, in the state, inherited, sent out, raised, proposed."""
    memory = desk.memory
    record = await memory.remember({"likes": CANARY}, source="doc/1", subject="kim", tags=[CANARY])
    other = await memory.remember("somebody likes rice", source="doc/2")
    before = await desk.act("add", other.id)
    touched = [
        await desk.act("learn", record.id, other.id, idempotency_key="k-learn"),
        await desk.act("ask", record.id),
        await desk.act("add"),
    ]
    await memory.worlds.branch("heir", at=touched[-1].world)
    touched += [
        await desk.act("add", branch="heir"),
        await desk.act("fail", record.id, branch="heir"),
    ]
    await memory.worlds.branch("clean", at=before.world)
    untouched = [before, await desk.act("learn", other.id, branch="clean")]
    try:
        await desk.asking.update(record.id, {"likes": f"{CANARY} anew"}, idempotency_key="k-up")
    except ApprovalPending as pending:
        return Story(record.id, touched, untouched, pending.proposal)
    raise AssertionError


async def types(memory: Memory[Any]) -> Counter[str]:
    return Counter(one.document["type"] for one in await said(memory))


async def checked(desk: Desk, url: str, **named: Any) -> Any:
    """Erase after a dry run: the counts are what has gone, and both verifiers find nothing."""
    memory = desk.memory
    before, rows = await types(memory), Rows.of(url, memory.scope)
    dry = await memory.erase(**named, reason="asked", dry_run=True)
    assert (await types(memory), Rows.of(url, memory.scope)) == (before, rows)

    done = await memory.erase(**named, reason="asked")

    after = Rows.of(url, memory.scope)
    assert done.counts == dry.counts
    gone = before - await types(memory)
    for count in set(COUNTED.values()):
        wanted = sum(gone[type_] for type_, name in COUNTED.items() if name == count)
        assert getattr(done.counts, count) == wanted, count
    assert rows.derivations - after.derivations == done.counts.derivations
    assert rows.retries - after.retries == done.counts.retries
    await both_verify(memory, url)
    return done


async def both_verify(memory: Memory[Any], url: str) -> None:
    assert (await memory.verify()).report.damages.found == []
    export = b"".join([line async for line in export_scope(url, memory.scope)])
    report = memoranda_verify.verify(io.BytesIO(export))
    assert list(report.findings) == []
    assert CANARY.encode() not in export


def assert_in_no_byte(url: str, tmp_path: Path) -> None:
    """Neither in the file nor in its log, nor in a backup of it."""
    path = file_of(url)
    if path is None:
        return  # PostgreSQL's old row versions age out: docs/postgres.md
    with apsw.Connection(str(tmp_path / "backup.db")) as backup:
        backup.backup("main", apsw.Connection(path), "main").step()
    for file in [*tmp_path.iterdir()]:
        content = file.read_bytes()
        for form in (CANARY, CANARY.partition("-조")[0]):
            assert form.encode() not in content, file


def erased_in(why: Why) -> bool:
    """Whether an explanation says that something was erased, anywhere."""
    return "erased" in repr(why)


# ---------------------------------------------------------------------------- a record


@pytest.mark.rule("GOV-FORGET")
async def test_a_record_goes_with_every_run_that_used_it_or_came_after_one(
    desk: Desk, url: str, tmp_path: Path
) -> None:
    story = await told(desk)

    done = await checked(desk, url, id=story.id)

    assert (done.counts.objects, done.counts.proposals) == (1, 1)
    assert (done.counts.contexts, done.counts.effects, done.counts.snapshots) == (5, 1, 6)
    assert_in_no_byte(url, tmp_path)
    assert [one.proposal.proposal_id for one in await desk.asking.inbox.list()] == []


async def test_what_was_erased_answers_that_it_was(desk: Desk) -> None:
    story = await told(desk)
    memory = desk.memory
    await memory.erase(story.id, reason="asked")

    for run in story.touched:
        with pytest.raises(WorldErased):
            await memory.worlds.restore(run.execution_key)
        assert (await memory.worlds.replay(run.execution_key)).verdict == "erased"
        assert erased_in(await memory.why(run.execution_key))
    with pytest.raises(WorldErased):
        await memory.worlds.restore(story.touched[0].world)
    with pytest.raises(WorldErased):
        await memory.worlds.standing(story.proposal)
    assert erased_in(await memory.why(story.proposal))


async def test_what_did_not_use_it_stays_byte_for_byte(desk: Desk) -> None:
    story = await told(desk)
    memory = desk.memory
    kept = [await memory.worlds.restore(run.execution_key) for run in story.untouched]
    await memory.erase(story.id, reason="asked")

    assert [await memory.worlds.restore(run.execution_key) for run in story.untouched] == kept
    for run in story.untouched:
        assert (await memory.worlds.replay(run.execution_key)).verdict == "same"
        assert not erased_in(await memory.why(run.execution_key))
    assert {one.name: one.world for one in await memory.worlds.branches()} == {
        "main": story.untouched[0].world,
        "clean": story.untouched[1].world,
        "system": next(one.world for one in await memory.worlds.branches() if one.name == "system"),
    }


async def test_it_goes_on_after_an_erasure(desk: Desk, url: str) -> None:
    story = await told(desk)
    await desk.memory.erase(story.id, reason="asked")

    run = await desk.act("add")

    assert run.data == {"count": 2, "notes": [], "heard": None}
    with pytest.raises(WorldErased):  # the proposal stayed, and what it led to is gone
        await desk.act("learn", idempotency_key="k-learn")
    await both_verify(desk.memory, url)


async def test_the_retries_of_a_record_stay_when_a_branch_of_its_name_goes(desk: Desk) -> None:
    first = await desk.memory.remember("rice", id="heir", idempotency_key="k-heir")
    story = await told(desk)

    await desk.memory.erase(story.id, reason="asked")

    again = await desk.memory.remember("rice", id="heir", idempotency_key="k-heir")
    assert again.entry_hash == first.entry_hash


# -------------------------------------------------------------- by other names


async def test_an_execution_goes_with_what_came_after_it(desk: Desk) -> None:
    story = await told(desk)

    done = await checked_but_for_the_record(desk, id=story.touched[1].execution_key)

    assert done.counts.objects == 0
    assert (done.counts.proposals, done.counts.contexts, done.counts.effects) == (0, 4, 1)
    assert (await desk.memory.worlds.restore(story.touched[0].execution_key)).data["notes"] != []
    with pytest.raises(WorldErased):
        await desk.memory.worlds.restore(story.touched[1].execution_key)


async def test_a_proposal_goes_with_its_execution(desk: Desk, url: str, tmp_path: Path) -> None:
    run = await desk.memory.act("note", {"text": CANARY}, reason=CANARY, idempotency_key="k")

    done = await checked(desk, url, id=run.proposal_id)

    assert (done.counts.proposals, done.counts.contexts, done.counts.snapshots) == (1, 1, 1)
    assert done.counts.retries == 1
    assert_in_no_byte(url, tmp_path)
    with pytest.raises(WorldErased):
        await desk.memory.worlds.standing(run.proposal_id)
    with pytest.raises(WorldErased):
        await desk.memory.worlds.restore(str(run.execution_key))
    assert erased_in(await desk.memory.why(run.proposal_id))


async def test_a_proposal_that_waits_leaves_the_inbox(desk: Desk, url: str) -> None:
    proposed = await desk.asking.worlds.propose("note", {"text": CANARY})

    await checked(desk, url, id=proposed.proposal_id)

    assert await desk.asking.inbox.list() == []


async def test_whoever_erases_a_run_again_gets_the_first_certificate(desk: Desk) -> None:
    run = await desk.act("add")
    certificate = await desk.memory.erase(run.execution_key, reason="asked")

    assert await desk.memory.erase(run.execution_key, reason="asked again") == certificate


async def test_a_person_goes_with_the_runs_that_used_what_is_known_of_them(
    desk: Desk, url: str, tmp_path: Path
) -> None:
    story = await told(desk)

    done = await checked(desk, url, subject="kim")

    assert done.counts.objects == 1
    assert done.counts.contexts == 5
    assert_in_no_byte(url, tmp_path)
    assert (await desk.memory.worlds.replay(story.untouched[1].execution_key)).verdict == "same"


# -------------------------------------------------------------------- a whole scope


@pytest.mark.parametrize("portion", [1000, 2])
async def test_a_whole_scope_goes_and_is_used_again(
    desk: Desk, url: str, tmp_path: Path, portion: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.stores.sqlite.units.PORTION", portion)
    monkeypatch.setattr("memoranda.stores.erasing.NAMES_AT_ONCE", portion)
    story = await told(desk)
    runs = [*story.touched, *story.untouched]

    done = await checked(desk, url, whole_scope=True)

    assert done.counts.objects == 2
    assert set(await types(desk.memory)) == {"Fingerprint", "MemoryObject", "Erasure"}
    assert Rows.of(url, desk.memory.scope).derivations == 0
    assert Rows.of(url, desk.memory.scope).retries == 0
    assert_in_no_byte(url, tmp_path)
    for run in runs:
        with pytest.raises(WorldErased):
            await desk.memory.worlds.restore(run.execution_key)
        with pytest.raises(WorldErased):
            await desk.memory.worlds.restore(run.world)
        with pytest.raises(WorldErased):
            await desk.memory.worlds.standing(run.proposal_id)
    run = await desk.act("add")
    assert run.data["count"] == 1
    assert run.world == story.untouched[0].world
    assert (await desk.memory.worlds.replay(run.world)).verdict == "same"
    await both_verify(desk.memory, url)


async def checked_but_for_the_record(desk: Desk, **named: Any) -> Any:
    """The same, where the record itself stays, and with it its words."""
    done = await desk.memory.erase(**named, reason="asked", dry_run=True)
    assert (await desk.memory.erase(**named, reason="asked")).counts == done.counts
    assert (await desk.memory.verify()).report.damages.found == []
    return done


# ------------------------------------------------------------- while something runs


@pytest.mark.parametrize("action", ["add", "fail", "ask"])
async def test_what_is_erased_while_a_run_goes_on_is_in_no_byte_of_it(
    desk: Desk, url: str, tmp_path: Path, action: str
) -> None:
    """The run began from a state that is gone when it ends: nothing of it is sealed."""
    record = await desk.memory.remember({"likes": CANARY}, source="doc/1")
    await desk.act("learn", record.id)
    desk.recalls.meanwhile = lambda: desk.memory.erase(record.id, reason="asked")

    with suppress(WorldError):
        await desk.act(action)

    await both_verify(desk.memory, url)
    assert_in_no_byte(url, tmp_path)
    assert (await desk.act("add")).data == {"count": 1, "notes": [], "heard": None}
    assert await desk.memory.worlds.resume() == []


@pytest.mark.parametrize("action", ["note", "ask"])
async def test_a_proposal_that_is_erased_while_it_runs_is_in_no_byte(
    desk: Desk, url: str, tmp_path: Path, action: str
) -> None:
    async def erased() -> None:
        proposal = (await said(desk.memory, "Proposal"))[-1].document["proposal"]
        await desk.memory.erase(proposal["proposalId"], reason="asked")

    desk.recalls.meanwhile = erased
    given: dict[str, Any] = {"input": {"text": CANARY}} if action == "note" else {}
    proposed = await desk.memory.worlds.propose(action, reason=CANARY, **given)

    with pytest.raises(WorldErased):
        await desk.memory.worlds.run(proposed.proposal_id)

    await both_verify(desk.memory, url)
    assert_in_no_byte(url, tmp_path)
    assert await desk.memory.worlds.resume() == []


async def test_a_branch_that_is_made_while_its_beginning_is_erased_is_not_made(
    desk: Desk, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = await desk.memory.remember({"likes": CANARY}, source="doc/1")
    run = await desk.act("learn", record.id)
    kept = Chronicle.kept

    async def kept_and_erased(self: Chronicle, *found: Any) -> Any:
        snapshot = await kept(self, *found)
        await desk.memory.erase(record.id, reason="asked")
        return snapshot

    monkeypatch.setattr(Chronicle, "kept", kept_and_erased)
    with pytest.raises(WorldErased):
        await desk.memory.worlds.branch("heir", at=run.world)

    await both_verify(desk.memory, url)
    assert_in_no_byte(url, tmp_path)
    assert [one.name for one in await desk.memory.worlds.branches()] == ["main"]
