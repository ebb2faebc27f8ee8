"""The word index under many hands: prepared without a lock, written only where it still fits."""

import asyncio
import gc
from typing import Any

import pytest

import memoranda
from memoranda import Memory
from memoranda.kernel.errors import StoreFailed
from memoranda.recall.question import asked as wanted
from memoranda.recall.ranking import RankingMode
from memoranda.stores import postings as segments
from memoranda.stores.merge import batch, write_batch
from memoranda.stores.postgres import database as postgres_database
from memoranda.stores.postgres.database import PostgresDatabase, journal_number
from memoranda.stores.postings import Chunk, checked
from memoranda.stores.search import JournalWords
from tests.handles import inside
from tests.stores.postgres.catalogue import asked
from tests.stores.postgres.roles import Roles, run
from tests.stores.postgres.test_erasing import tables_with

CANARY = "카나리아"
ALL_CHUNKS = "SELECT token, first, body FROM memoranda.postings ORDER BY token, first"


def index_of(memory: Memory[Any]) -> JournalWords:
    return inside(memory).ledger._ledger.words  # type: ignore[attr-defined, no-any-return]


async def merge_all(memory: Memory[Any]) -> None:
    while await index_of(memory).merge():
        pass


def postings(url: str) -> dict[str, list[int]]:
    """Every posting of the only scope that has any."""
    found: dict[str, list[int]] = {}
    rows: Any = asked(url, ALL_CHUNKS)
    for token, first, body in rows:
        found.setdefault(token, []).extend(checked(Chunk(first, body)).seqs.tolist())
    return found


async def test_what_was_written_together_becomes_one_segment_in_spare_time(
    postgres_url: str,
) -> None:
    async with memoranda.open(postgres_url) as memory:
        await memory.remember_many([f"note {n}" for n in range(600)])

    found = asked(postgres_url, "SELECT first, until FROM memoranda.segments WHERE until > 100")

    assert found == [(0, 601)]


# ------------------------------------------------------------------------- under many hands


async def test_processes_that_merge_and_change_at_once_leave_one_index(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "FANOUT", 2)
    monkeypatch.setattr("memoranda.stores.merge.CHUNKS_AT_ONCE", 16)
    async with memoranda.open(postgres_url) as one, memoranda.open(postgres_url) as other:
        kept = await one.remember_many([f"note {n} of {n % 7}" for n in range(120)])
        assert len(await other.list()) == len(kept)

        async def merges(memory: Memory[Any]) -> None:
            while await index_of(memory).merge(entries=16):
                await index_of(memory).merge_segments()

        async def changes() -> None:
            for n in range(0, 30, 3):
                await other.update(kept[n].id, f"changed {n}")
                await one.erase(kept[n + 1].id, reason="a test")

        await asyncio.gather(merges(one), merges(other), changes(), merges(one), merges(other))
        await merge_all(one)
        while await index_of(other).merge_segments():
            pass

        assert (await one.verify()).report.damages.found == []
        assert len(await one.list(text="note", limit=None)) == 100
        assert len(await other.list(text="changed", limit=None)) == 10


async def test_what_was_prepared_before_an_erasure_is_not_written(postgres_url: str) -> None:
    async with memoranda.open(postgres_url) as memory:
        gone, _ = await memory.remember_many([CANARY, "another note"])
        rows = index_of(memory)._rows
        prepared = await rows.read(lambda: batch(rows.bodies))
        assert prepared is not None
        await memory.erase(gone.id, reason="a test")

        assert not await rows.write(lambda: write_batch(prepared))

        assert tables_with(postgres_url, CANARY.encode()) == set()
        await merge_all(memory)
        assert tables_with(postgres_url, CANARY.encode()) == set()
        assert (await memory.verify()).report.damages.found == []


async def test_what_was_prepared_before_another_merge_is_not_written(postgres_url: str) -> None:
    async with memoranda.open(postgres_url) as memory:
        await memory.remember_many(["one note", "another note"])
        rows = index_of(memory)._rows
        prepared = await rows.read(lambda: batch(rows.bodies))
        assert prepared is not None
        await merge_all(memory)
        before = postings(postgres_url)

        assert not await rows.write(lambda: write_batch(prepared))

        assert postings(postgres_url) == before


# --------------------------------------------------------------------------- segments


async def test_at_every_step_of_a_merge_the_postings_are_the_same(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.stores.merge.CHUNKS_AT_ONCE", 3)
    async with memoranda.open(postgres_url) as memory:
        await memory.remember_many([f"note {n} {n % 5}" for n in range(40)])
        while await index_of(memory).merge(entries=4):
            pass
        before, steps = postings(postgres_url), 0
        while await index_of(memory).merge_segments():
            steps += 1
            assert postings(postgres_url) == before
            assert (await memory.verify()).report.damages.found == []
            assert len(await memory.list(text="note", limit=None)) == 40

        levels = asked(postgres_url, "SELECT level FROM memoranda.segments ORDER BY level")
        assert steps > 3
        assert 0 < len(levels) < segments.FANOUT
        assert levels[-1] != (0,)


async def test_what_is_erased_in_the_middle_of_a_merge_is_gone_from_both_sides(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "FANOUT", 2)
    monkeypatch.setattr("memoranda.stores.merge.CHUNKS_AT_ONCE", 2)
    async with memoranda.open(postgres_url) as memory:
        said = [f"aa {CANARY} zz{CANARY} note {n}" for n in range(20)]
        kept = await memory.remember_many(said)
        while await index_of(memory).merge(entries=10):
            pass
        for n, one in enumerate(kept):
            assert await index_of(memory).merge_segments() or n > 5
            await memory.erase(one.id, reason="a test")
        assert tables_with(postgres_url, CANARY.encode()) == set()
        while await index_of(memory).merge_segments():
            pass
        assert postings(postgres_url) == {}
        assert (await memory.verify()).report.damages.found == []


# ---------------------------------------------------------------------------- rights, damage


async def test_the_app_role_may_do_all_of_it(roles: Roles) -> None:
    async with memoranda.open(roles.app) as memory:
        kept = await memory.remember_many([f"note {n}" for n in range(12)], source="talk:1")
        for n in range(8):
            await memory.update(kept[n].id, f"changed note {n}")
            await index_of(memory).merge(entries=2)
        await memory.erase(kept[9].id, reason="a test")
        await merge_all(memory)
        while await index_of(memory).merge_segments():
            pass
        for mode in RankingMode:
            ranking = await inside(memory).ledger.rank(
                mode, wanted("changed note"), lambda current, _: current.id, limit=20
            )
            assert ranking.hits == 11
            assert len(ranking.made) == 11
        await memory.maintain.reindex()
        assert (await memory.verify()).report.damages.found == []


async def test_a_chunk_that_can_not_be_read_is_said_to_be_damage(postgres_url: str) -> None:
    async with memoranda.open(postgres_url) as memory:
        kept = await memory.remember_many(["one note", "another note"])
        await merge_all(memory)
        run(postgres_url, "UPDATE memoranda.postings SET body = 'x'")

        with pytest.raises(StoreFailed) as caught:
            await memory.list(text="note")
        assert caught.value.code == "store.failed"
        await memory.erase(kept[0].id, reason="what can't be read is no reason to keep it")
        assert len(await memory.list(text="note")) == 1
        assert (await memory.verify()).report.damages.found == []


async def test_of_many_scopes_only_the_recent_and_those_in_use_have_their_indexes(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_database, "RECENT", 2)
    database = await PostgresDatabase.open(postgres_url, 0, create=True)
    held = await database.ledger("held", "origin of held", 0)
    merger = held._merger

    for number in range(5):
        await database.ledger(f"scope-{number}", f"origin of {number}", 0)
    gc.collect()

    names = ("held", "scope-3", "scope-4")
    assert {journal for journal, _ in database._mergers} == set(map(journal_number, names))
    again = await database.existing("held")
    assert again is not None
    assert again._merger is merger, "what is in use is shared, however long ago it was opened"
    await database.close()
