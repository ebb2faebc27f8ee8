"""Whoever looks changes nothing: no scope, no entry; a journal begins with the first write."""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import memoranda
from memoranda import Memory, MemoryRecordInput
from memoranda.app.databases import acquire, release
from memoranda.journeys.audit.export import export_objects
from memoranda.kernel.clock import SystemClock
from memoranda.kernel.errors import (
    ImportRefused,
    InvalidScope,
    MemorandaError,
    ScopeNotFound,
    StoreReadOnly,
)
from memoranda.stores.dictionary import DictDatabase
from tests.fixtures import Opens
from tests.handles import inside


async def sizes(url: str) -> dict[str, int]:
    """How many entries each journal has, that of the directory among them."""
    database, lease = await acquire(url, SystemClock())
    assert not isinstance(database, DictDatabase)
    found = {}
    for scope in await database.journals():
        ledger = await database.existing(scope)
        assert ledger is not None
        found[scope] = (await ledger.head()).size
    await release(lease)
    return found


async def test_a_scope_that_is_not_there_reads_as_empty_and_is_not_made(
    url: str, scope: str, opens: Opens
) -> None:
    async with memoranda.open(url, scope=f"{scope}-other") as other:
        await other.remember("something")
    before = await sizes(url)

    async with opens() as memory:
        assert await memory.list() == []
        assert await memory.list(text="something") == []
        assert await memory.records.get("nowhere") is None
        assert [one async for one in memory.records.stream(memoranda.MemoryFilter())] == []
        assert await memory.inbox.list() == []
        assert (await memory.verify()).is_sound
        assert (await memory.govern.status()).size == 0

    assert await sizes(url) == before
    assert scope not in await memoranda.scopes(url)
    assert not await memoranda.exists(scope, url)


async def test_opening_a_scope_that_is_there_writes_nothing(
    url: str, scope: str, opens: Opens
) -> None:
    async with opens() as memory:
        await memory.remember("something")
    before = await sizes(url)

    async with opens(models={"chat": "another"}) as memory:
        assert (await memory.govern.status()).breaks == {}
        assert len(await memory.list()) == 1

    assert await sizes(url) == before
    assert await memoranda.exists(scope, url)


async def test_a_journal_begins_with_the_first_write(url: str, scope: str, opens: Opens) -> None:
    async with opens() as memory:
        assert not await memoranda.exists(scope, url)
        await memory.remember("something")
        assert await memoranda.exists(scope, url)
        assert [one.data for one in await memory.list()] == ["something"]
        assert (await memory.verify()).is_sound


async def test_a_recall_is_a_write(url: str, scope: str, opens: Opens) -> None:
    async with opens() as memory:
        found = await memory.recall("anything", top_k=3)

        assert (found.outcome, list(found.items)) == ("empty", [])
        assert await memoranda.exists(scope, url)
        assert (await memory.why(found.trace_id)).id == found.trace_id


async def test_what_another_handle_began_is_seen(opens: Opens) -> None:
    async with opens() as reader, opens() as writer:
        assert await reader.list() == []
        await writer.remember("something")

        assert [one.data for one in await reader.list()] == ["something"]
        await reader.remember("more")
        assert len(await writer.list()) == 2


async def test_first_writes_at_once_begin_one_journal(opens: Opens) -> None:
    async with opens() as one, opens() as two:
        both = [memory.remember(f"{n}") for n in range(8) for memory in (one, two)]
        await asyncio.gather(*both)

        assert len(await one.list()) == len(await two.list()) == 16
        report = await one.verify()
    assert report.is_sound


async def test_a_break_stands_when_it_is_found_and_is_logged_with_the_first_write(
    opens: Opens, scope: str, url: str
) -> None:
    async with opens(models={"chat": "one"}) as memory:
        await memory.remember("something")
    size = (await sizes(url))[scope]

    async with opens(models={"chat": "two"}) as memory:
        assert len((await memory.govern.status()).breaks) == 1
        assert (await sizes(url))[scope] == size
        await memory.remember("more")
        assert len((await memory.govern.status()).breaks) == 1

    async with opens(models={"chat": "two"}) as memory:
        assert len((await memory.govern.status()).breaks) == 1


# ------------------------------------------------------------------------- read_only


async def test_a_handle_that_only_reads_finds_what_is_there(opens: Opens) -> None:
    async with opens() as memory:
        kept = await memory.remember("something", tags=["x"])

    async with opens(read_only=True) as memory:
        assert [one.data for one in await memory.list()] == ["something"]
        assert [one.id for one in await memory.list(text="something")] == [kept.id]
        assert (found := await memory.get(kept.id)) is not None
        assert found.data == "something"
        assert len(await memory.history(kept.id)) == 1
        assert (await memory.why(kept.id)).id == kept.id
        assert (await memory.verify()).is_sound
        assert (await memory.govern.status()).breaks == {}


async def audited(memory: Memory[Any]) -> None:
    await memory.govern.record_audit("a/1", report=await memory.verify(), reason="a test")


WRITES: dict[str, Callable[[Memory[Any], str], Awaitable[Any]]] = {
    "remember": lambda memory, _: memory.remember("more"),
    "update": lambda memory, id: memory.update(id, "other"),
    "forget": lambda memory, id: memory.forget(id, reason="a test"),
    "erase": lambda memory, id: memory.erase(id, reason="a test"),
    "create": lambda memory, _: memory.records.create(MemoryRecordInput(data=1)),
    "delete": lambda memory, id: memory.records.delete(id),
    "recall": lambda memory, _: memory.recall("something", top_k=1),
    "reindex": lambda memory, _: memory.maintain.reindex(),
    "scrub": lambda memory, _: memory.maintain.scrub(),
    "record_audit": lambda memory, _: audited(memory),
}


@pytest.mark.parametrize("write", WRITES)
async def test_a_handle_that_only_reads_refuses_every_write(
    opens: Opens, url: str, write: str
) -> None:
    async with opens() as memory:
        kept = await memory.remember("something")
    before = await sizes(url)

    async with opens(read_only=True, models={"chat": "another"}) as memory:
        if write == "scrub" and url.startswith("postgresql"):
            return  # there is nothing to scrub without a rewrite
        with pytest.raises(StoreReadOnly) as caught:
            await WRITES[write](memory, kept.id)

    assert caught.value.code == "store.read_only"
    assert "recall" in str(caught.value)
    assert await sizes(url) == before


async def test_a_scope_that_is_not_there_is_refused_to_whoever_only_reads(
    url: str, scope: str, opens: Opens
) -> None:
    async with memoranda.open(url, scope=f"{scope}-other") as other:
        await other.remember("something")

    for options in ({"read_only": True}, {"create": False}):
        with pytest.raises(ScopeNotFound) as caught:
            async with opens(**options):
                pass
        assert (caught.value.code, caught.value.scope) == ("store.scope_not_found", scope)
        assert re.search("memoranda scopes", str(caught.value))
    assert not await memoranda.exists(scope, url)


async def test_a_scope_that_can_not_be_is_no_question(url: str) -> None:
    with pytest.raises(InvalidScope):
        await memoranda.exists("", url)


async def test_a_break_is_told_by_a_handle_that_only_reads_and_not_logged(
    opens: Opens, url: str
) -> None:
    async with opens(models={"chat": "one"}) as memory:
        await memory.remember("something")
    before = await sizes(url)

    async with opens(models={"chat": "two"}, read_only=True) as memory:
        assert len((await memory.govern.status()).breaks) == 1

    assert await sizes(url) == before


REFUSED: dict[str, Callable[[Memory[Any]], Awaitable[Any]]] = {
    "forget": lambda memory: memory.forget("nowhere", reason="a test"),
    "update": lambda memory: memory.update("nowhere", "other"),
    "revise": lambda memory: memory.govern.revise("nowhere", subject="kim", reason="a test"),
    "supersede": lambda memory: memory.govern.supersede("nowhere", "other", reason="a test"),
    "erase": lambda memory: memory.erase("nowhere", reason="a test"),
    "erase dry": lambda memory: memory.erase(whole_scope=True, reason="a test", dry_run=True),
    "erase subject": lambda memory: memory.erase(subject="kim", reason="a test", dry_run=True),
    "delete": lambda memory: memory.records.delete("nowhere"),
    "clear": lambda memory: memory.records.clear(),
    "import": lambda memory: memory.journal.import_objects(b"{}"),
}


@pytest.mark.parametrize("act", REFUSED)
async def test_what_changes_nothing_begins_no_journal(opens: Opens, url: str, act: str) -> None:
    async with opens() as memory:
        with contextlib.suppress(MemorandaError):
            await REFUSED[act](memory)

        assert not await memoranda.exists(memory.scope, url)
        await memory.remember("and now it begins")
        assert await memoranda.exists(memory.scope, url)
        assert (await memory.verify()).is_sound


async def test_the_dry_run_of_an_erasure_is_a_read(opens: Opens, url: str) -> None:
    async with opens() as memory:
        kept = await memory.remember("something", subject="kim", tags=["x"])
        await memory.recall("something", top_k=1, subject="kim")
    before = await sizes(url)
    named: list[dict[str, Any]] = [{"id": kept.id}, {"subject": "kim"}, {"whole_scope": True}]

    async with opens(read_only=True) as reader:
        dry = [await reader.erase(**one, reason="asked", dry_run=True) for one in named]
        for one in named:
            with pytest.raises(StoreReadOnly):
                await reader.erase(**one, reason="asked")

    assert [(one.counts.objects, one.counts.traces) for one in dry] == [(1, 1)] * 3
    assert await sizes(url) == before


async def test_the_dry_run_of_an_import_is_a_read(opens: Opens, scope: str, url: str) -> None:
    async with opens() as memory, opens(scope=f"{scope}-other") as other:
        await memory.remember("something", id="a")
        await other.remember("another", id="b")
        lines = b"".join([line async for line in export_objects(inside(memory).ledger)])
    before = await sizes(url)

    async with opens(scope=f"{scope}-other", read_only=True) as reader:
        report = await reader.journal.import_objects(lines, dry_run=True)
        with pytest.raises(StoreReadOnly):
            await reader.journal.import_objects(lines)
    async with opens(read_only=True) as reader:
        with pytest.raises(ImportRefused):
            await reader.journal.import_objects(lines, dry_run=True)

    assert (report.versions, report.is_dry_run, list(report.receipts)) == (1, True, [])
    assert await sizes(url) == before


async def test_a_dry_run_logs_nothing_that_the_handle_found(opens: Opens, url: str) -> None:
    async with opens(models={"chat": "one"}) as memory:
        kept = await memory.remember("something")
    before = await sizes(url)

    async with opens(models={"chat": "two"}) as memory:
        await memory.erase(kept.id, reason="asked", dry_run=True)
        assert await sizes(url) == before
