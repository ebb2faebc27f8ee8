"""The word index is brought forward in spare time: never by a caller who waits, never half."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import apsw
import pytest

import memoranda
from memoranda import Memory
from memoranda.app.audit import verify_database
from memoranda.ledger.snapshot import INDEX_FORM, Index
from memoranda.stores import words
from memoranda.stores.sqlite import merger as sqlite_merger
from memoranda.stores.sqlite.ledger import SqliteLedger
from memoranda.stores.words import MERGED_ANYWAY, MERGED_WHEN_IDLE, SHORT_TAIL
from tests.handles import inside
from tests.patience import PATIENCE
from tests.stores.search.conftest import Opens, in_database, merge


async def write_and_wait(memory: Memory[Any], texts: Sequence[str]) -> None:
    """Write, and then nothing, until what was written is merged."""
    ledger, used = await in_database(memory), Event()
    if isinstance(ledger, SqliteLedger):
        merger = ledger._database.merger
        use = merger.use

        def then_tell(connection: apsw.Connection, is_wanted: Callable[[], bool]) -> None:
            use(connection, is_wanted)
            if not merger.is_due:
                used.set()

        merger.use = then_tell  # type: ignore[method-assign]
        await memory.remember_many(texts)
        assert await asyncio.to_thread(used.wait, PATIENCE)
    else:
        await memory.remember_many(texts)
        if (merging_now := ledger._merger._task) is not None:  # or it is done already
            await merging_now


async def test_a_write_brings_nothing_forward(memory: Memory[Any]) -> None:
    for n in range(20):
        await memory.remember(f"note {n}")

    assert await inside(memory).ledger.index() == Index(0, "")
    assert len(await memory.list(text="note", limit=None)) == 20


async def test_closing_many_scopes_merges_the_long_tails_first_and_leaves_short_ones(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "CLOSING_SHORT_S", 0.0)
    async with opens("short") as short, opens("long") as long:
        await short.remember("note")
        await long.remember_many([f"note {n}" for n in range(SHORT_TAIL)])

    async with opens("short") as short, opens("long") as long:
        assert (await inside(short).ledger.index()).indexed == 0
        assert (await inside(long).ledger.index()).indexed == (
            await inside(long).ledger.head()
        ).size
        assert len(await short.list(text="note")) == 1


async def test_what_is_left_is_merged_when_nobody_writes(memory: Memory[Any]) -> None:
    await write_and_wait(memory, [f"note {n}" for n in range(MERGED_WHEN_IDLE + 40)])

    ledger = await in_database(memory)
    index = await ledger.index()
    # PostgreSQL takes more at once, and so takes the rest along.
    is_sqlite = isinstance(ledger, SqliteLedger)
    merged = MERGED_WHEN_IDLE if is_sqlite else (await ledger.head()).size
    assert (index.indexed, index.tokenizer) == (merged, INDEX_FORM)
    assert len(await memory.list(text="note", limit=None)) == MERGED_WHEN_IDLE + 40
    assert (await memory.verify()).report.damages.found == []


async def test_closing_merges_the_rest(opens: Opens) -> None:
    async with opens() as memory:
        await memory.remember("one note")
        size = (await inside(memory).ledger.head()).size
    async with opens() as memory:
        assert (await inside(memory).ledger.index()).indexed >= size
        assert len(await memory.list(text="note")) == 1


async def test_a_search_reads_what_is_not_merged_and_merges_nothing(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("sqlite", "postgres"):
        monkeypatch.setattr(f"memoranda.stores.{module}.merger.MERGED_WHEN_IDLE", 10**9)
    await memory.remember_many([f"note {n}" for n in range(3_000)])

    assert len(await memory.list(text="note", limit=None)) == 3_000
    assert len(await memory.recall("note 2999", top_k=2)) == 2
    assert (await inside(memory).ledger.index()).indexed == 0


async def test_two_who_merge_at_once_merge_once(opens: Opens) -> None:
    async with opens() as memory, opens() as again:
        await memory.remember_many([f"note {n}" for n in range(200)])

        await asyncio.gather(merge(memory), merge(again), merge(memory), merge(again))

        assert len(await memory.list(text="note", limit=None)) == 200
        assert (await memory.verify()).report.damages.found == []


async def test_what_is_erased_while_its_words_are_merged_gets_none(opens: Opens) -> None:
    async with opens() as memory, opens() as again:
        receipts = await memory.remember_many([f"note {n}" for n in range(100)])

        async def erase() -> None:
            for one in receipts[:20]:
                await again.erase(one.id, reason="a test")

        await asyncio.gather(erase(), merge(memory), merge(again), merge(memory))

        assert len(await memory.list(text="note", limit=None)) == 80
        assert (await memory.verify()).report.damages.found == []


async def test_a_tail_that_grows_long_is_merged_between_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_merger, "MERGED_ANYWAY", 512)
    monkeypatch.setattr("memoranda.stores.sqlite.writer.IDLE_S", 600)
    async with memoranda.open(f"sqlite:///{tmp_path}/busy.db") as memory:
        while (await inside(memory).ledger.index()).indexed == 0:
            await memory.remember_many([f"note {n}" for n in range(100)])
            assert (await inside(memory).ledger.head()).size < MERGED_ANYWAY * 4


async def test_a_merge_that_fails_leaves_the_journal_and_the_search_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried = Event()

    def broken(*_: Any, **__: Any) -> int:
        tried.set()
        raise apsw.FullError("no room")

    async with memoranda.open(f"sqlite:///{tmp_path}/full.db") as memory:
        monkeypatch.setattr(sqlite_merger, "merge", broken)
        await memory.remember_many([f"note {n}" for n in range(MERGED_WHEN_IDLE)])
        assert await asyncio.to_thread(tried.wait, PATIENCE)

        await memory.remember("another note")
        assert "spare time" in caplog.text
        assert len(await memory.list(text="note", limit=None)) == MERGED_WHEN_IDLE + 1
        assert (await memory.verify()).report.damages.found == []
        monkeypatch.undo()


async def test_a_database_in_memory_is_searched_too() -> None:
    async with memoranda.open("sqlite://:memory:") as memory:
        await write_and_wait(memory, [f"note {n}" for n in range(MERGED_WHEN_IDLE + 10)])
        (first, *_) = await memory.list(text="note")
        await memory.erase(first.id, reason="a test")

        assert len(await memory.list(text="note", limit=None)) == MERGED_WHEN_IDLE + 9
        assert (await memory.verify()).report.damages.found == []


async def test_entries_without_words_leave_no_tail_behind_an_index_that_has_all(
    tmp_path: Path,
) -> None:
    async with memoranda.open(f"sqlite:///{tmp_path}/facts.db", actor="agent:a") as memory:
        await memory.remember_many([f"note {n}" for n in range(10)])
        await memory.recall("note", top_k=3)
        await merge(memory)
        for _ in range(3):
            await memory.recall("note", top_k=3)
        head, index = await inside(memory).ledger.head(), await inside(memory).ledger.index()
        assert index.indexed == head.size
        assert (await memory.verify()).report.damages.found == []

        await memory.remember("another note")
        await memory.recall("note", top_k=3)
        assert (await inside(memory).ledger.index()).indexed == head.size
        assert len(await memory.list(text="note", limit=None)) == 11
        await merge(memory)
        assert (await memory.verify()).report.damages.found == []


async def test_who_only_reads_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "read.db"
    async with memoranda.open(f"sqlite:///{path}") as memory:
        await memory.remember_many([f"note {n}" for n in range(10)])
    change = apsw.Connection(str(path))
    change.execute(
        "DELETE FROM postings; DELETE FROM segments; DELETE FROM documents; DELETE FROM threads;"
        "UPDATE journals SET indexed = 0, documents = 0, length = 0"
    )
    change.close()
    before = path.read_bytes()

    audit = await verify_database(f"sqlite:///{path}")

    assert audit.is_sound, "an index that is empty, and says so, is whole"
    assert path.read_bytes() == before
