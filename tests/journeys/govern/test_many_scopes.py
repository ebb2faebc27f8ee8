"""The checkpoints of many scopes are made together: a few transactions, in portions."""

import asyncio
import logging
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import pytest

import memoranda
from memoranda import Memory
from memoranda.app.audit import verify_database
from memoranda.app.databases import LedgerDatabase, acquire, release
from memoranda.journeys.audit import checkpoints as making
from memoranda.journeys.audit.checkpoints import Checkpointer, Seal
from memoranda.kernel.clock import Randomness
from memoranda.kernel.errors import AnchorFailed, StoreFailed, StoreUnavailable
from memoranda.ledger.anchor import SCOPE as DIRECTORY
from memoranda.ledger.anchor import Anchor, BatchAnchor, ConsistencyProofs, Kept, NewNote, NotedHead
from memoranda.ledger.checkpoint import Checkpoint, parse_checkpoint, scope_origin
from memoranda.ledger.port import Ledger
from memoranda.ledger.signed_note import Signature
from memoranda.ledger.tree import Block, Blocks
from memoranda.ledger.unit import Draft, Unit
from memoranda.outside.anchors import FileAnchor
from memoranda.stores.dictionary import DictDatabase
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.tail import SLICE
from memoranda.testkit.strategies import FrozenClock
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.govern.conftest import Tampers
from tests.patience import PATIENCE

NEVER = Seal(every_entries=1_000_000, every_seconds=100_000)
"""No checkpoint is made before the end."""


@pytest.fixture
async def database(url: str) -> AsyncIterator[LedgerDatabase]:
    opened, lease = await acquire(url, FrozenClock())
    assert not isinstance(opened, DictDatabase)
    yield opened
    await release(lease)


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Every transaction that writes to SQLite; every one at all on PostgreSQL."""
    counted: list[object] = []
    used = Pool.connection

    def connection(pool: Pool, *, writes: bool = False) -> Any:
        counted.append(writes)
        return used(pool, writes=writes)

    def committed() -> bool:
        counted.append(True)
        return False  # which lets it go on

    def hook(opened: apsw.Connection) -> None:
        opened.set_commit_hook(committed)

    monkeypatch.setattr(Pool, "connection", connection)
    apsw.connection_hooks.append(hook)
    yield counted
    apsw.connection_hooks.remove(hook)


def named(scope: str, number: int) -> list[str]:
    return [f"{scope}-{one}" for one in range(number)]


async def written(database: LedgerDatabase, names: Sequence[str]) -> None:
    """An entry in each of these scopes."""

    async def write(name: str) -> None:
        ledger = await database.ledger(name, scope_origin("0193", name), 0)
        draft = Draft("maintenance", b"{}", bytes(16))
        await ledger.commit(Unit("system:test", 1, lambda _: [draft]))

    for start in range(0, len(names), 100):
        await asyncio.gather(*map(write, names[start : start + 100]))


def of(database: Any, seal: Seal = NEVER) -> Checkpointer:
    return Checkpointer(database, seal, FrozenClock(), Randomness())


async def closed(checkpointer: Checkpointer, names: Sequence[str]) -> None:
    """What a checkpointer does for scopes that were written to, at the end."""
    for name in names:
        checkpointer.committed(name, 1)
    await checkpointer.close()


async def noted(database: LedgerDatabase, names: Sequence[str]) -> dict[str, int | None]:
    """The size of the newest checkpoint of each of these."""
    return {one.scope: one.noted for one in await database.heads(names)}


async def newest(memory: Memory[Any]) -> Checkpoint | None:
    notes = await inside(memory).ledger.notes(1)
    return parse_checkpoint(notes[0]).checkpoint if notes else None


# ------------------------------------------------------------------------------ together


async def test_a_thousand_scopes_take_a_few_transactions(
    transactions: list[object], database: LedgerDatabase, scope: str
) -> None:
    names = named(scope, 1_000)
    await written(database, names)
    transactions.clear()

    await closed(of(database), names)

    portions = -(-len(names) // making.PORTION)
    slices = len(names) // SLICE + 1
    assert len(transactions) <= 4 * portions + slices + 16, "with those for the directory's words"
    assert set((await noted(database, names)).values()) == {1}


async def test_the_directory_grows_by_an_entry_for_each_scope_and_has_one_checkpoint(
    database: LedgerDatabase, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "PORTION", 2)
    names = named(scope, 5)
    await written(database, names)
    directory = await database.ledger(DIRECTORY, "memoranda/0193", 0)
    before, notes = (await directory.head()).size, len(await directory.notes())

    await closed(of(database), names)

    assert (await directory.head()).size == before + len(names)
    assert len(await directory.notes()) == notes + 1
    assert await noted(database, [DIRECTORY]) == {DIRECTORY: before + len(names)}


async def test_a_scope_that_did_not_grow_gets_none(database: LedgerDatabase, scope: str) -> None:
    await written(database, [scope])
    await closed(of(database), [scope])
    before = (await database.heads([DIRECTORY]))[0]

    await closed(of(database), [scope, f"{scope} that nobody wrote to"])

    assert (await database.heads([DIRECTORY]))[0] == before


async def test_only_what_is_due_by_its_entries_is_made_before_the_time(
    database: LedgerDatabase, scope: str
) -> None:
    busy, calm = names = named(scope, 2)
    await written(database, names)
    checkpointer = of(database, Seal(every_entries=3, every_seconds=100_000))

    checkpointer.committed(calm, 2)
    checkpointer.committed(busy, 3)
    assert checkpointer._making is not None
    await checkpointer._making

    assert await noted(database, names) == {busy: 1, calm: None}
    await checkpointer.close()
    assert await noted(database, names) == {busy: 1, calm: 1}


# ------------------------------------------------------------------------------- handles


async def test_closing_a_database_makes_the_checkpoints_of_all_its_scopes(
    url: str, scope: str
) -> None:
    async with memoranda.connect(url, seal=NEVER) as database:
        one, other = database.scope(scope), database.scope(f"{scope}-other")
        receipts = [await one.remember("one"), await other.remember("two")]
        assert await newest(one) is None

    async with memoranda.connect(url) as database:
        found = [await newest(database.scope(name)) for name in (scope, f"{scope}-other")]
    assert [one and one.size for one in found] == [receipt.size for receipt in receipts]


async def test_neither_status_nor_closing_reads_old_notes(opens: Opens) -> None:
    async with opens() as memory:
        await memory.remember("one")
    async with opens() as memory:
        asked: list[int | None] = []
        ledger: Any = inside(memory).ledger
        reads = ledger.notes

        async def notes(limit: int | None = None) -> list[str]:
            asked.append(limit)
            found: list[str] = await reads(limit)
            return found

        ledger.notes = notes
        status = await memory.govern.status()
        await memory.remember("two")

    assert status.checkpoint is not None
    assert set(asked) == {1}


# ------------------------------------------------------------------------ what goes wrong


async def test_a_damaged_scope_does_not_keep_others_from_their_checkpoints(
    url: str, scope: str, opens: Opens, tampers: Tampers, caplog: pytest.LogCaptureFixture
) -> None:
    names = named(scope, 5)
    async with AsyncExitStack() as stack:
        for name in names:
            memory = await stack.enter_async_context(opens(scope=name, seal=NEVER))
            await memory.remember("one")
        with tampers() as tables:
            (journal,) = tables.rows("journals", scope=names[2])
            tables.remove("entries", journal=journal["number"], seq=1)

    database, lease = await acquire(url, FrozenClock())
    assert not isinstance(database, DictDatabase)
    sizes = await noted(database, names)
    await release(lease)
    assert [name for name in names if sizes[name] is None] == [names[2]]
    logged = [one.getMessage() for one in caplog.records if one.levelno == logging.ERROR]
    assert any(repr(names[2]) in one for one in logged)


@dataclass
class Unreadable:
    """A database that can't be read where one scope is."""

    database: LedgerDatabase
    scope: str
    error: Exception
    failures: int = 1_000

    async def heads(self, scopes: Collection[str]) -> list[NotedHead]:
        return await self.database.heads(scopes)

    async def hashes(self, blocks: Mapping[str, Collection[Block]]) -> dict[str, Blocks]:
        if self.scope in blocks and self.failures:
            self.failures -= 1
            raise self.error
        return await self.database.hashes(blocks)

    async def keep_notes(self, notes: Sequence[NewNote]) -> None:
        await self.database.keep_notes(notes)

    async def ledger(self, scope: str, origin: str, now: int) -> Ledger:
        return await self.database.ledger(scope, origin, now)


async def test_a_scope_that_can_not_be_read_is_found_among_the_others(
    database: LedgerDatabase, scope: str, caplog: pytest.LogCaptureFixture
) -> None:
    names = named(scope, 7)
    await written(database, names)

    await closed(of(Unreadable(database, names[4], StoreFailed("it", "a test"))), names)

    sizes = await noted(database, names)
    assert [name for name in names if sizes[name] is None] == [names[4]]
    assert any(names[4] in one.getMessage() for one in caplog.records)


async def test_a_portion_that_fails_is_made_with_the_next_batch(
    database: LedgerDatabase, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "PORTION", 2)
    names = named(scope, 4)
    await written(database, names)
    away = Unreadable(database, names[0], StoreUnavailable("it", "a test"), failures=1)
    checkpointer = of(away, Seal(every_entries=1, every_seconds=100_000))

    for name in names:
        checkpointer.committed(name, 1)
    assert checkpointer._making is not None
    await checkpointer._making

    assert list((await noted(database, names)).values()) == [None, None, 1, 1]
    await checkpointer.close()
    assert list((await noted(database, names)).values()) == [1, 1, 1, 1]


async def test_a_checkpoint_of_the_directory_that_fails_is_made_with_the_next_batch(
    database: LedgerDatabase, scope: str
) -> None:
    await written(database, [scope])
    away = Unreadable(database, DIRECTORY, StoreUnavailable("it", "a test"), failures=1)
    checkpointer = of(away, Seal(every_entries=1, every_seconds=100_000))

    checkpointer.committed(scope, 1)
    assert checkpointer._making is not None
    await checkpointer._making

    (before,) = await database.heads([DIRECTORY])
    assert before.size != before.noted
    await checkpointer.close()
    (after,) = await database.heads([DIRECTORY])
    assert after.size == after.noted == before.size


# ------------------------------------------------------------------------------- anchors


@dataclass
class OneByOne:
    """An anchor that keeps a note at a time, and refuses some."""

    refuses: Callable[[str], bool]
    error: Exception = field(default_factory=lambda: AnchorFailed("elsewhere", "it refuses"))
    name: str = "elsewhere"
    asked: list[str] = field(default_factory=list)

    async def publish(
        self, note: str, /, proofs: ConsistencyProofs | None = None
    ) -> tuple[Signature, ...]:
        del proofs
        self.asked.append(note.partition("\n")[0])
        if self.refuses(self.asked[-1]):
            raise self.error
        return ()

    async def read(self, origin: str | None = None, /) -> AsyncIterator[Kept]:
        del origin
        return
        yield


async def test_an_anchor_that_refuses_one_note_gets_the_others(
    database: LedgerDatabase, scope: str
) -> None:
    names = named(scope, 6)
    await written(database, names)
    anchor = OneByOne(lambda origin: origin.endswith(names[1]))
    checkpointer = of(database, Seal(anchors=[anchor]))

    await closed(checkpointer, names)

    assert {one.rpartition("/")[2] for one in anchor.asked} >= set(names)
    assert checkpointer.failures == {}, "the last note was kept"
    assert set((await noted(database, names)).values()) == {1}


@pytest.mark.parametrize("error", [AnchorFailed("elsewhere", "gone"), RuntimeError("gone")])
async def test_an_anchor_that_is_gone_is_asked_a_few_times_and_fails_nobody(
    database: LedgerDatabase, scope: str, error: Exception
) -> None:
    names = named(scope, 50)
    await written(database, names)
    anchor = OneByOne(lambda _: True, error)
    checkpointer = of(database, Seal(anchors=[anchor]))

    await closed(checkpointer, names)

    assert len(anchor.asked) == making._GIVEN_UP_AFTER + 1, "and once for the directory"
    assert list(checkpointer.failures) == ["elsewhere"]
    assert set((await noted(database, names)).values()) == {1}


def test_which_anchors_take_many_notes_at_once(tmp_path: Path) -> None:
    plain: Anchor = OneByOne(lambda _: False)

    assert isinstance(FileAnchor(tmp_path / "anchor"), BatchAnchor)
    assert not isinstance(plain, BatchAnchor)


# --------------------------------------------------------------------------------- kills


class Dying(FileAnchor):
    """Ends the process in the middle of a batch, where notes are already in the directory."""

    portions = 0

    async def publish_all(self, notes: Sequence[str], /) -> Sequence[tuple[Signature, ...]]:
        self.portions += 1
        if self.portions == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().publish_all(notes)


async def remember(url: str, names: Sequence[str], text: str, seal: Seal) -> None:
    async with memoranda.connect(url, seal=seal) as database:
        for name in names:
            await database.scope(name).remember(text)


def write_and_die(url: str, names: Sequence[str], anchor: str) -> None:
    making.PORTION = 2  # type: ignore[misc]
    asyncio.run(remember(url, names, "one", Seal(anchors=[Dying(anchor)], every_seconds=100_000)))


async def test_a_kill_between_portions_loses_no_promise(
    url: str, scope: str, tmp_path: Path
) -> None:
    names, anchor = named(scope, 5), tmp_path / "anchor"
    process = multiprocessing.get_context("spawn").Process(
        target=write_and_die, args=(url, names, str(anchor))
    )
    process.start()
    await asyncio.to_thread(process.join, PATIENCE)
    assert process.exitcode == -signal.SIGKILL
    seal = Seal(anchors=[FileAnchor(anchor)])

    cut_off = await verify_database(url, scopes=names, seal=seal)
    await remember(url, names, "two", seal)
    whole = await verify_database(url, scopes=[*names, DIRECTORY], seal=seal)

    assert cut_off.is_sound
    assert [_agreeing(one, "anchor") for one in cut_off.scopes] == [1, 1, 0, 0, 0]
    assert [_agreeing(one, "the directory") for one in cut_off.scopes] == [1, 1, 1, 1, 0]
    assert whole.is_sound
    assert [_agreeing(one, "anchor") for one in whole.scopes] == [2, 2, 1, 1, 1]


def _agreeing(audit: Any, where: str) -> int:
    """How many checkpoints that were kept there agree with a journal."""
    return sum(where in one.where for one in audit.findings if one.verdict == "agrees")
