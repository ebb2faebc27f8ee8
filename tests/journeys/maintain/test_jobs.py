"""What the other jobs do: the index, checkpoints, vectors, snapshots, bytes of what was erased."""

from pathlib import Path
from typing import Any

import apsw
import pytest
from pydantic import BaseModel

from memoranda import Domain, Memory, Set
from memoranda.kernel.errors import StoreUnavailable
from memoranda.testkit.strategies import FrozenClock
from memoranda.types import Seal
from memoranda.worlds.action import ActionContext
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.embeddings.toy import ToyEmbedder
from tests.journeys.maintain.conftest import counted, keeping, said


class Number(BaseModel):
    number: int


@pytest.fixture
def world() -> Domain:
    """A domain whose states are large, and differ altogether from each other."""
    domain = Domain("growing", "1")

    @domain.action(input=Number)
    def replace(ctx: ActionContext[Number]) -> Set:
        number = ctx.input.number
        rows = [{"number": number, "text": f"row {n} of {number}"} for n in range(200)]
        return Set("rows", rows)

    return domain


async def test_whole_snapshots_take_less_room_and_are_restored_byte_for_byte(
    opens: Opens, world: Domain, url: str
) -> None:
    async with opens(domain=world) as memory:
        runs = [await memory.act("replace", {"number": n}) for n in range(12)]
        keys = [run.execution_key or "" for run in runs]
        before = [(await memory.worlds.restore(key)).to_wire() for key in keys]
        exported = [line async for line in memory.journal.export()]
        is_file = url.startswith("sqlite")
        stored = _stored_bytes(url) if is_file else 0

        wanted = await counted(memory, "snapshots", dry_run=True)
        did = await counted(memory, "snapshots")

        assert did == wanted
        assert [(await memory.worlds.restore(key)).to_wire() for key in keys] == before
        assert [r.verdict async for r in memory.worlds.replay_branch()] == ["same"] * 12
        again = [line async for line in memory.journal.export()]
        assert again[1 : len(exported) - 1] == exported[1:-1]  # the entries as they were
        assert (await memory.verify()).report.damages.found == []
        if is_file:
            assert did["bodies"] == 12
            assert _stored_bytes(url) < stored / 2  # of all bodies, which are not all long
            assert await counted(memory, "snapshots") == {}
        else:
            assert did == {}  # the server has compressed them when they were written
    async with opens(domain=world) as memory:
        assert [(await memory.worlds.restore(key)).to_wire() for key in keys] == before


def _stored_bytes(url: str) -> int:
    connection = apsw.Connection(url.removeprefix("sqlite:///"))
    try:
        found: Any = connection.execute("SELECT sum(length(body)) FROM bodies").fetchall()
        return int(found[0][0])
    finally:
        connection.close()


async def test_the_index_is_brought_forward_and_made_anew_where_it_is_stale(
    memory: Memory[Any],
) -> None:
    ledger = inside(memory).ledger
    await memory.remember_many([f"fact number {n}" for n in range(100)])
    tail = (await ledger.head()).size - (await ledger.index()).indexed

    assert await counted(memory, "index", dry_run=True) == {"merged": tail}
    assert await counted(memory, "index") == {"merged": tail}
    assert await counted(memory, "index") == {}
    assert (await memory.recall("fact number 7", top_k=1)).items

    await ledger.reindex()  # it is nobody's until that is logged

    assert await counted(memory, "index") == {"rebuilt": 1}
    assert (await ledger.index()).is_stale is False
    assert (await memory.verify()).report.damages.found == []


async def test_a_journal_that_a_dead_process_left_gets_its_checkpoint(
    memory: Memory[Any],
) -> None:
    await memory.remember("a fact")
    assert await counted(memory, "checkpoint", dry_run=True) == {"checkpoints": 1}
    size = (await memory.journal.head()).size

    assert await counted(memory, "checkpoint") == {"checkpoints": 1}

    note = (await memory.govern.status()).checkpoint
    assert note is not None
    assert f"\n{size}\n" in note
    assert await counted(memory, "checkpoint") == {}
    assert await said(memory, "job") == []  # it stands in the directory, as all checkpoints do


async def test_everything_gets_a_vector_and_the_entry_of_the_run_says_of_which_model(
    opens: Opens,
) -> None:
    async with opens(embedder=ToyEmbedder()) as memory:
        await memory.remember_many(["one", "two"])

        assert await counted(memory, "embed", dry_run=True) == {"embedded": 2}
        assert await counted(memory, "embed") == {"embedded": 2}

        (run,) = await said(memory, "job")
        assert run["vectors"] == 2
        assert run["model"].startswith(ToyEmbedder().identity)
        assert await counted(memory, "embed") == {}


async def test_a_job_that_this_process_can_t_do_fails_by_name_and_is_left_out_otherwise(
    memory: Memory[Any],
) -> None:
    runs = await memory.maintain.run("embed", "own_store")

    assert [run.outcome for run in runs] == ["failed", "failed"]
    codes = ("store.embedder_missing", "store.capability_missing")
    assert all(code in (run.error or "") for code, run in zip(codes, runs, strict=True))
    assert {run.job for run in await memory.maintain.run()}.isdisjoint({"embed", "own_store"})


async def test_an_erasure_that_could_not_finish_leaves_a_job_that_does(
    memory: Memory[Any], clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.remember("a secret", id="secret")
    ledger = inside(memory).ledger
    scrub = ledger.scrub

    async def held_up(**_: bool) -> None:
        raise StoreUnavailable("db", "somebody reads what was before")

    monkeypatch.setattr(ledger, "scrub", held_up)
    certificate = await memory.erase("secret", reason="asked")
    assert not certificate.is_scrubbed
    (owed,) = [job for job in (await memory.maintain.status()).jobs if job.due_at is not None]
    assert owed.job == "scrub"

    (run,) = await memory.maintain.run("scrub")
    assert (run.outcome, run.due_at) == ("failed", clock.now_ms() + 10_000)

    monkeypatch.setattr(ledger, "scrub", scrub)
    assert await counted(memory, "scrub") == {"scrubbed": 1}
    assert all(job.due_at is None for job in (await memory.maintain.status()).jobs)


async def test_a_seal_signs_what_a_job_makes(opens: Opens, tmp_path: Path) -> None:
    from memoranda.formats import create_key, signers_from_file  # noqa: PLC0415 - an extra

    create_key(tmp_path / "key", tmp_path / "ring", name="example.org/worker")
    seal = Seal(signers_from_file(tmp_path / "key"))
    async with opens(seal=seal) as memory:
        await memory.remember("a fact")
        await memory.maintain.configure(keeping(), reason="signed by the worker")
        await memory.maintain.run("checkpoint")

        note = (await memory.govern.status()).checkpoint or ""
        assert "example.org/worker" in note
