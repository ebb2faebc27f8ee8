"""Callers that give up, in short form."""

import asyncio
import gc
from pathlib import Path
from threading import Event
from typing import Any

import apsw
import pytest

import memoranda
from memoranda.ledger.codec import PLAIN
from memoranda.stores.sqlite.connection import connect
from memoranda.stores.sqlite.snapshot import SqliteSnapshot
from tests.campaigns.adversity.cancels import Cancels
from tests.campaigns.adversity.chance import Random
from tests.patience import PATIENCE


@pytest.mark.parametrize("seed", [1, 2])
async def test_callers_that_give_up_strand_no_transaction_and_split_no_write(
    tmp_path: Path, seed: int
) -> None:
    counts = await Cancels(f"sqlite:///{tmp_path}/cancels.db", Random(seed)).run_async(300)

    assert counts.broken == {}, counts.texts
    assert counts["cancellations"] > 50
    assert counts["timeouts"] > 50
    assert counts["unheard"] > 0, "some of them gave up on a write that landed"


# Cancelled while it closes a cursor, psycopg forgets that it has; its connection is closed anyway.
@pytest.mark.filterwarnings("ignore:.*AsyncServerCursor:ResourceWarning")
async def test_callers_that_give_up_on_postgresql_split_no_write(postgres_url: str) -> None:
    counts = await Cancels(postgres_url, Random(1)).run_async(100)
    gc.collect()  # here, where it is expected

    assert counts.broken == {}, counts.texts
    assert counts["cancellations"] + counts["timeouts"] >= 100


async def test_a_snapshot_whose_opening_was_cancelled_pins_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "snapshot.db")
    begun, go = Event(), Event()

    def slowly() -> apsw.Connection:
        begun.set()
        go.wait()
        return connect(path)

    async with memoranda.open(f"sqlite:///{path}") as memory:
        await memory.remember("one")
        snapshot = SqliteSnapshot(slowly, 1, path, PLAIN)
        opening = asyncio.ensure_future(snapshot.__aenter__())
        await asyncio.to_thread(begun.wait)
        opening.cancel()
        await asyncio.sleep(0)
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await opening
        await memory.remember("two")

        other = connect(path, busy_ms=int(PATIENCE * 1_000))
        checkpointed: Any = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        other.close()

    assert checkpointed == [(0, 0, 0)], "nobody reads the past any more"
